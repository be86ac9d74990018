//! What FMU code may do to the machine and to vecud itself: hostile code in a library's constructor and in activations, as
//! root and as somebody without privileges.

mod environment;
mod limits;
mod privileges;
mod processes;
use crate::program;
mod threads;

use program::{Outcome, Rig, copied_tracer, jail, user};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A tracer that has this C code besides its own, and this at the beginning of each activation (of the clock
/// `clockReference` at `activationTime`), in a folder that everybody may read.
fn tracer_with(folder: &Path, code: &str, activation: &str) -> PathBuf {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let fmu = copied_tracer(&folder.join("hostile"));
    let file = fmu.join("sources/fmu.c");
    let text = fs::read_to_string(&file).unwrap();
    let begin = "    trace_begin(fmu, TRACE_ACTIVATE,";
    assert!(text.contains(begin));
    let text = text.replacen(begin, &format!("    {activation}\n{begin}"), 1);
    fs::write(&file, format!("#define _GNU_SOURCE\n{code}\n{text}\n")).unwrap();
    fmu
}

/// Runs a rig as somebody without any privilege, with these variables in its environment.
fn run_as_nobody(rig: &Rig, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let mut command = rig.command();
    if user::is_root() {
        // The folder is that user's, and so is the cache: one where others may write is not used.
        std::os::unix::fs::chown(rig.folder(), Some(user::NOBODY), Some(user::NOBODY)).unwrap();
        fs::set_permissions(rig.folder(), fs::Permissions::from_mode(0o755)).unwrap();
        command = rig.command_of(&jail::public().join("vecud"));
        command.env("VECUD_CACHE", jail::public().join("nobodys_cache")).env("TMPDIR", rig.folder());
        jail::become_nobody(&mut command, None);
    }
    command.args(arguments).envs(variables.iter().copied());
    rig.finish(rig.start(command))
}
