//! FMUs that do harm, runs that are interrupted, and machines that refuse what is asked for: whatever happens, `vecud` ends in
//! time, with an exit code of docs/runs.md and no panic, what was measured is in a report that reads back, and nothing is left
//! behind: no process, no temporary file.
//!
//! The choices are drawn with fixed seeds. `VECUD_CAMPAIGN=all` makes every one of them, which takes an hour.

mod harms;
mod judge;
mod limits;
use crate::program;
mod signals;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The hostile FMU's folder.
static FMU: LazyLock<PathBuf> = LazyLock::new(|| fmu_in(&format!("hostile-{}", std::process::id())));

/// The same FMU with so much more code that a compiler needs seconds for it.
static SLOWLY_BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = fmu_in(&format!("hostile-slowly-built-{}", std::process::id()));
    let function = |i: u32| {
        format!("double unused_{i}(double x) {{ for (int i = 0; i < {i}; i++) x = x * x + {i}; return x; }}\n")
    };
    let source = folder.join("sources/fmi3_base.c");
    let code = std::fs::read_to_string(&source).unwrap() + &(0..2000).map(function).collect::<String>();
    std::fs::write(source, code).unwrap();
    folder
});

/// Makes the hostile FMU in a folder of this name: its own files, and those that all small FMUs share.
fn fmu_in(name: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(folder.join("sources")).unwrap();
    let own = package.join("tests/rigs/hostile/fmu");
    let shared = package.join("fmus/mixer/sources");
    let shared = ["fmi3_base.c", "fmi3_base.h", "fmi3_model.c", "fmi3_model.h"].map(|name| shared.join(name));
    let files = std::fs::read_dir(own.join("sources")).unwrap().map(|entry| entry.unwrap().path());
    for file in files.chain(shared) {
        std::fs::copy(&file, folder.join("sources").join(file.file_name().unwrap())).unwrap();
    }
    std::fs::copy(own.join("modelDescription.xml"), folder.join("modelDescription.xml")).unwrap();
    folder
}

/// Whether every choice is to be made, and not a part of them.
fn all() -> bool {
    std::env::var("VECUD_CAMPAIGN").is_ok_and(|value| value == "all")
}

/// A rig of two instances, `bad` and `good`, that are connected and run for 50 ms.
fn rig(mode: &str) -> program::Rig {
    rig_of(&FMU, mode)
}

/// The same of this FMU.
fn rig_of(fmu: &Path, mode: &str) -> program::Rig {
    let fmu = fmu.display();
    program::Rig::of_text(&format!(
        "[rig]\nname = 'hostile'\nmode = '{mode}'\nstop_time = 0.05\nshutdown_timeout = 0.3\ncall_timeout = 1.0\n\
         [fmu.bad]\npath = '{fmu}'\nstart = {{ gain = 2.0 }}\n[fmu.good]\npath = '{fmu}'\n\
         [[connect]]\nfrom = 'bad.out'\nto = 'good.in'\n[[connect]]\nfrom = 'good.out'\nto = 'bad.in'\n\
         [[trigger]]\nclock = 'good.hit'\nfrom = 'bad.ticks'\n[[trigger]]\nclock = 'bad.hit'\nfrom = 'good.ticks'\n\
         [record]\nsignals = ['*']\n"
    ))
}
