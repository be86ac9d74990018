//! `vecud doctor --files`: an installed program brings the files that its advice names.

use super::{Desk, repository};
use std::process::Command;

#[test]
fn the_files_are_those_of_the_repository_and_install_from_there() {
    let desk = Desk::new();
    let told = desk.does("doctor --files files");
    assert!(told.ends_with("next: cd files && sh rt-config/install --dry-run --cores LIST\n"), "{told}");
    for folder in ["rt-config", "systemd"] {
        let same = Command::new("diff").arg("-r").arg(repository(folder)).arg(desk.path("files").join(folder)).output();
        let same = same.unwrap();
        assert!(same.status.success(), "{}", String::from_utf8_lossy(&same.stdout));
    }
    let script = desk.path("files/rt-config/install");
    // Executed itself: it may be.
    let planned = Command::new(script).args(["--dry-run", "limits", "sysctl"]).output().unwrap();
    let planned = String::from_utf8(planned.stdout).unwrap();
    assert!(planned.contains("would install /etc/security/limits.d/vecud.conf"), "{planned}");
    desk.refuses("doctor --files files", "files: is there already, and is not overwritten: choose another name\n");
    desk.refuses("doctor --files other --fix", "cannot be used with");
}
