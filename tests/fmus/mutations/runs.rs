//! Runs that went well, for their results to be mutated.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::mutations::{MOST_MEMORY, trial};

/// A folder with the results of two runs of the same rig; gone with it.
pub struct Runs {
    folder: tempfile::TempDir,
}

/// Two tracers, one of which is connected to, triggered by and fed by nearly everything that a rig may have.
pub fn rig(mode: &str) -> String {
    let tracer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
    let tracer = tracer.display();
    format!(
        "[rig]\nname = 'test'\nmode = '{mode}'\nstop_time = 0.05\noverrun = 'queue'\ncall_timeout = 0.3\n\
         [fmu.a]\npath = '{tracer}'\nstart = {{ count_up = true }}\n[fmu.b]\npath = '{tracer}'\n\
         [[connect]]\nfrom = 'a.out_f64'\nto = 'b.in_f64'\ntiming = 'delayed'\n\
         [[connect]]\nfrom = 'a.out_binary'\nto = 'b.in_binary'\n\
         [[connect]]\nfrom = 'b.out_i32'\nto = 'a.in_i32'\ntiming = 'delayed'\n\
         [[trigger]]\nclock = 'b.high'\nfrom = 'a.out_high'\n[[trigger]]\nclock = 'b.low'\nat = [0.0, 0.01, 0.045, 0.06]\n\
         [record]\nsignals = ['a.out_*', 'b.in_f64', 'b.count_*']\nformat = ['csv', 'mcap']\n"
    )
}

impl Runs {
    /// Runs them: `virtual` in virtual time, with a saved state, and `realtime` as its name says.
    pub fn new() -> Runs {
        let folder = crate::program::tempdir().unwrap();
        for mode in ["virtual", "realtime"] {
            let own = folder.path().join(mode);
            fs::create_dir(&own).unwrap();
            fs::write(own.join("rig.toml"), rig(mode)).unwrap();
            let save = if mode == "virtual" { "--save-state out/state" } else { "" };
            fs::create_dir(own.join("out")).unwrap();
            let words = trial::words(&format!("run rig.toml --out out --quiet {save}"));
            let outcome = trial::run(&own, &words, Duration::from_secs(100), 4 * MOST_MEMORY).unwrap();
            assert!(outcome.status.success(), "{outcome:?}");
        }
        Runs { folder }
    }

    /// The output folder of one of them.
    pub fn out(&self, mode: &str) -> PathBuf {
        self.folder.path().join(mode).join("out")
    }

    /// A file of one of them.
    pub fn file(&self, mode: &str, name: &str) -> Vec<u8> {
        trial::content(&self.out(mode).join(name))
    }

    /// The same as text.
    pub fn text(&self, mode: &str, name: &str) -> String {
        String::from_utf8(self.file(mode, name)).unwrap()
    }
}
