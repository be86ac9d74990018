//! Memory and the log have limits; what comes to them is named.

use crate::program::{Outcome, Rig, the_core};
use crate::tracer_with;
use std::path::Path;

const CODE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void misbehave(void)
{
    const char *what = getenv("HOSTILE");
    if (!strcmp(what, "one block")) memset(malloc((size_t)1 << 30), 1, 1 << 30);
    if (!strcmp(what, "many blocks"))
        for (void *block; (block = malloc(1 << 20)) || (abort(), 0);) memset(block, 1, 1 << 20);
    if (!strcmp(what, "print"))
        for (int i = 0; i < 100; i++) printf("%0*d\n", 9999, i), fflush(stdout);
}
"#;

fn run(folder: &Path, what: &str, host: &str, arguments: &[&str]) -> Outcome {
    let fmu = folder.join("hostile");
    let rig = Rig::new("stop_time = 0.5").fmu("a", fmu, "", "").more(&format!("[host]\n{host}"));
    let mut command = rig.command();
    command.args(arguments).env("HOSTILE", what);
    rig.finish(rig.start(command), std::time::Duration::from_secs(30))
}

/// However it comes to its limit, the report names the limit with the crash.
#[test]
fn memory_that_fmu_code_may_not_have_is_named() {
    let folder = tempfile::tempdir().unwrap();
    tracer_with(folder.path(), CODE, "if (clockReference == 1 && activationTime >= 0.03) misbehave();");
    the_core(|| {
        for mode in ["realtime", "virtual"] {
            for what in ["one block", "many blocks"] {
                let run = run(folder.path(), what, "memory_limit = 600", &["--mode", mode]).exits(1);
                run.problem(&["fmu `a` crashed", "clock a.fast"]);
                run.problem(&["memory was short", "may have 600 MiB", "memory_limit", "refused before the crash"]);
            }
        }
    });
}

/// What FMU code prints beyond the limit is left out, with a warning; the run goes on to its end.
#[test]
fn a_log_that_is_too_long_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    tracer_with(folder.path(), CODE, "if (clockReference == 1) misbehave();");
    the_core(|| {
        let run = run(folder.path(), "print", "log_limit = 3", &["--mode", "virtual"]).exits(0);
        assert_eq!(run.count("a", "fast", "activations"), 500);
        run.problem(&["run.log was cut off at 3 MiB", "log_limit"]);
        let log = run.file("run.log");
        assert!(log.contains("(cut off here: log_limit)"));
        // What the supervisor writes comes behind it.
        assert!(log.len() < (3 << 20) + 100_000, "{} bytes", log.len());
        assert!(log.starts_with('0'), "its beginning stays");
    });
}
