//! Rigs of very many FMUs.

use crate::program::{cache, tempdir};
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Instances of one FMU are looked at once: a compiler is asked for its version as often for many as for one.
#[test]
fn many_instances_of_an_fmu_are_opened_once() {
    let folder = tempdir().unwrap();
    let (compiler, asked) = (folder.path().join("compiler"), folder.path().join("asked"));
    std::fs::write(&compiler, format!("#!/bin/sh\necho >> {}\nexec cc \"$@\"\n", asked.display())).unwrap();
    std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).unwrap();
    let stepper = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/stepper");
    let check = |instances: usize| {
        let mut rig = "[rig]\nmode = 'virtual'\nstop_time = 1\n[fmu]\n".to_owned();
        (0..instances).for_each(|number| writeln!(rig, "a{number}.path = '{}'", stepper.display()).unwrap());
        let file = folder.path().join("rig.toml");
        std::fs::write(&file, rig).unwrap();
        std::fs::write(&asked, "").unwrap();
        let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
        let output = vecud.arg("check").arg(file).env("CC", &compiler).env("VECUD_CACHE", cache()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(&asked).unwrap().lines().count()
    };
    // It is built.
    check(1);
    let one = check(1);
    assert!(one > 0 && check(100) == one);
}
