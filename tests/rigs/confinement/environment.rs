//! Variables of the environment that a rig gives its FMUs.

use super::tracer_with;
use crate::program::Rig;

/// When it is loaded, prints what it finds.
const CODE: &str = r#"
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void look(void)
{
    const char *const names[] = {"LIC_FILE", "SHARED", "LD_LIBRARY_PATH", "VECUD_TEST_OF_SHELL"};
    for (int i = 0; i < 4; i++) {
        const char *value = getenv(names[i]);
        printf("found %s=%s\n", names[i], value ? value : "(nothing)");
    }
    fflush(stdout);
}
"#;

/// They are there before the library is loaded, of all FMUs for all, beside those that vecud was started with; nothing of that is taken
/// for a change that FMU code has made, and those that come too late for the loader are told.
#[test]
fn an_fmu_finds_the_variables_of_its_rig_when_it_is_loaded() {
    let folder = crate::program::tempdir().unwrap();
    let fmu = tracer_with(folder.path(), CODE, "");
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.05")
        .fmu("a", fmu, "", "env = { LIC_FILE = '/opt/a licence=1', SHARED = 'one', LD_LIBRARY_PATH = '/nowhere' }")
        .tracer_with("b", "", "env = { SHARED = 'one' }");
    let mut command = rig.command();
    command.env("VECUD_TEST_OF_SHELL", "kept").env("LIC_FILE", "that of the shell").env_remove("LD_LIBRARY_PATH");
    let run = rig.finish(rig.start(command)).exits(0);
    let log = run.file("run.log");
    for line in ["LIC_FILE=/opt/a licence=1", "SHARED=one", "LD_LIBRARY_PATH=/nowhere", "VECUD_TEST_OF_SHELL=kept"] {
        assert!(log.contains(&format!("found {line}\n")), "{line}: {log}");
    }
    let note = "fmu `a`: LD_LIBRARY_PATH in env has no effect, as it is read when a process begins";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    assert!(run.problems().is_empty(), "{:#?}", run.problems());

    let rig = Rig::new("mode = 'virtual'").tracer_with("a", "", "env = { A = '1' }").tracer_with(
        "b",
        "",
        "env = { A = '2' }",
    );
    let refused = rig.run().exits(2);
    assert!(refused.stderr.contains("env of `b` has another value of A than that of `a`"), "{}", refused.stderr);
}
