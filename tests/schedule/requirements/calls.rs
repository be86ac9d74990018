//! Which functions are called at all.

use super::program::{Rig, shared_core};
use super::tracer;

/// What belongs to other interface types, and to Event Mode, ends the process.
#[test]
fn no_function_of_event_mode_or_of_other_interface_types_is_ever_called() {
    let folder = crate::program::tempdir().unwrap();
    let names = "static bool forbidden(const char *function)
{
    static const char *const names[] = {\"fmi3SetClock\", \"fmi3EnterEventMode\", \"fmi3EnterStepMode\", \"fmi3DoStep\",
                                        \"fmi3UpdateDiscreteStates\", \"fmi3EvaluateDiscreteStates\", \"fmi3SetTime\",
                                        \"fmi3EnterContinuousTimeMode\", \"fmi3CompletedIntegratorStep\"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(function, names[i]) == 0) return true;
    return false;
}

static fmi3Status unsupported(fmi3Instance instance, const char *function)
{
    if (forbidden(function)) abort();
";
    let before = "static fmi3Status unsupported(fmi3Instance instance, const char *function)\n{\n";
    let path = tracer(folder.path(), &[("fmi3_base.c", before, names)]);
    let rig = || {
        Rig::new("stop_time = 0.1")
            .fmu("a", path.clone(), "fast_tick_high_every = 2", "")
            .trigger("a.out_high", "a.high")
    };
    shared_core(|| {
        for run in [rig().run_virtual().exits(0), rig().run().exits(0)] {
            assert_eq!(run.trace("a").count("free", "begin"), 1);
            assert!(run.count("a", "high", "activations") > 10);
        }
    });
}
