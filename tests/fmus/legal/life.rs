//! The life of an instance, its log, its callbacks: 2.2.1, 2.2.4, 2.3.1, 5.1.2, 5.2.2.

use crate::legal::case::{End, Legal};
use crate::legal::clocks::{BASE, EVERY_20_MS};

const OUT: &str = "<Clock name='out' valueReference='3' causality='output' intervalVariability='triggered' clocks='1'/>\
                   <Clock name='second' valueReference='2' causality='input' priority='9' \
                   intervalVariability='triggered'/>";
const COUNTDOWN: &str = "<Clock name='countdown' valueReference='4' causality='input' priority='9' \
                         intervalVariability='countdown'/>";
const TRIGGER: &str = "[[trigger]]\nclock = 'a.second'\nfrom = 'a.out'\n";

fn legal(hook: &str) -> Legal {
    Legal::new(BASE, hook).at(1, &EVERY_20_MS)
}

fn ticking(hook: &str) -> Legal {
    Legal::new(&(BASE.to_owned() + OUT + COUNTDOWN), hook)
        .tables(TRIGGER)
        .at(1, &EVERY_20_MS)
        .at(2, &EVERY_20_MS)
        .at(4, &EVERY_20_MS)
}

// ---- Instances ----

#[test]
fn three_instances_of_one_fmu() {
    legal("").instances(&["a", "b", "c"]).runs();
}

#[test]
fn an_fmu_that_can_be_there_only_once() {
    legal("").interface("canBeInstantiatedOnlyOncePerProcess='true'").runs();
}

/// The flag informs (2.4.2); this FMU works without its tool.
#[test]
fn an_fmu_that_says_that_it_needs_a_tool() {
    legal("").interface("needsExecutionTool='true'").root("generationTool='a tool'").runs();
}

/// 2.6: a later minor version is for those who know it.
#[test]
fn an_fmu_of_a_later_minor_version() {
    legal("").root("fmiVersion='3.1'").runs();
}

/// 2.2.7.4: what may be called if a flag is true need not be.
#[test]
fn an_fmu_whose_states_nobody_wants() {
    legal("").with_states().runs();
}

/// 5.2.1: no partition is active while its state is taken; the base refuses it otherwise.
#[test]
fn a_state_is_taken_while_nothing_runs() {
    legal("").saved().runs();
}

/// 2.3.1: the path of the resources is absolute and ends with a separator.
#[test]
fn resources_are_read_by_appending_a_name_to_their_path() {
    let hook = "AT(INSTANTIATED_NOW) { char path[4096]; snprintf(path, sizeof path, \"%sword.txt\", resources(m)); \
                FILE *file = fopen(path, \"r\"); EXPECT(file && fgetc(file) == 'w'); if (file) fclose(file); }";
    legal(hook).with_resources().runs();
}

#[test]
fn names_of_any_length_and_script() {
    let long = "n".repeat(3000);
    let variables = format!(
        "<Clock name='{long}' valueReference='1' causality='input' priority='5' intervalVariability='constant' \
         intervalDecimal='0.02'/><Float64 name='&apos;Größe &lt; &quot;x&quot;&apos; [µ]' valueReference='4294967295' \
         causality='output' variability='discrete' clocks='1'/>"
    );
    Legal::new(&variables, "").model(&"m".repeat(150)).at(1, &EVERY_20_MS).runs();
}

/// 2.3.1: fmi3Reset leads back to Instantiated, where variables have their start values and clocks have not been asked: the
/// rig's start values are set again, structural ones in Configuration Mode, and clocks are told and asked again.
#[test]
fn three_runs_of_an_instance_that_is_reset() {
    let variables = "<Clock name='told' valueReference='2' causality='input' priority='9' intervalVariability='fixed' \
        intervalDecimal='0.01'/>\
        <Clock name='asked' valueReference='3' causality='input' priority='10' intervalVariability='changing'/>\
        <UInt64 name='size' valueReference='9' causality='structuralParameter' variability='fixed' start='3'/>\
        <Float64 name='p' valueReference='10' causality='parameter' variability='fixed' start='1'/>\
        <Float64 name='u' valueReference='11' causality='input' variability='discrete' clocks='1' start='1'/>\
        <Float64 name='y' valueReference='12' causality='output' variability='discrete' clocks='1'>\
        <Dimension valueReference='9'/></Float64>";
    let hook = "AT(INITIALIZATION_BEGINS) { EXPECT(VALUE(10) == 2 && elements(m, 12) == 4); NEXT(3, 0.03); } \
                AT(INITIALIZATION_ENDS) EXPECT(VALUE(11) == 5 && told_interval(m, 2) == 0.04); \
                ON(1) { EXPECT(n == 1 || VALUE(12) == n - 1); PUT(12, n); PUT(11, 7); }";
    Legal::new(&(BASE.to_owned() + variables), hook)
        .keys("start = { size = 4, p = 2.0, u = 5.0 }\nclock.told = { interval = 0.04 }")
        .tables("[record]\nsignals = ['*']\n")
        .repeated(3)
        .at(1, &EVERY_20_MS)
        .at(2, &[0.0, 0.04, 0.08])
        .at(3, &[0.03, 0.06, 0.09])
        .runs();
}

// ---- Errors (2.2.4, 2.3.1, 5.2) ----

/// Base fails in its third activation; at that instant the less urgent partition is not activated any more.
fn failing(hook: &str) -> Legal {
    let variables = "<Clock name='second' valueReference='2' causality='input' priority='9' intervalVariability='constant' \
        intervalDecimal='0.02'/>\
        <Clock name='out' valueReference='3' causality='output' intervalVariability='triggered' clocks='1'/>\
        <Float64 name='y' valueReference='10' causality='output' variability='discrete' clocks='1'/>\
        <Float64 name='u' valueReference='11' causality='input' variability='discrete' start='0'/>";
    Legal::new(&(BASE.to_owned() + variables), hook)
        .tables("[record]\nsignals = ['*']\n")
        .fails(End::Error)
        .at(1, &EVERY_20_MS[..3])
        .at(2, &EVERY_20_MS[..2])
}

/// 2.3.1: an error leads to Terminated: nothing is activated, set or terminated any more, only freed.
#[test]
fn after_an_error_nothing_is_activated() {
    failing("ON(1) if (n == 3) return fmi3Error;").runs();
}

/// 5.2: in Scheduled Execution Discard is an error.
#[test]
fn after_a_discard_nothing_is_activated() {
    failing("ON(1) if (n == 3) return fmi3Discard;").runs();
}

#[test]
fn after_an_error_of_reading_a_value_nothing_is_activated() {
    failing("ON(1) PUT(10, n); AT(VALUE_IS_READ) if (VALUE(10) == 3) return fmi3Error;").runs();
}

/// The input belongs to no clock, so the less urgent partition is the first that it is set for, at the second instant.
#[test]
fn after_an_error_of_setting_a_value_nothing_is_activated() {
    for status in ["fmi3Error", "fmi3Discard"] {
        let hook = format!("ON(1) PUT(10, n); AT(VALUE_IS_SET) if (vr == 11 && VALUE(11) == 2) return {status};");
        failing(&hook)
            .tables("[[connect]]\nfrom = 'a.y'\nto = 'a.u'\n[record]\nsignals = ['*']\n")
            .at(1, &EVERY_20_MS[..2])
            .at(2, &EVERY_20_MS[..1])
            .runs();
    }
}

#[test]
fn after_a_discard_of_reading_a_value_nothing_is_activated() {
    failing("ON(1) PUT(10, n); AT(VALUE_IS_READ) if (VALUE(10) == 3) return fmi3Discard;").runs();
}

#[test]
fn after_an_error_in_a_clock_update_nothing_is_activated() {
    let hook = "static int reads; ON(1) { TICK(3); UPDATE(); } AT(CLOCK_IS_READ) if (++reads == 3) return fmi3Error;";
    failing(hook).runs();
}

/// 2.2.4: not even fmi3FreeInstance.
#[test]
fn after_a_fatal_error_nothing_is_called() {
    failing("ON(1) if (n == 3) return fmi3Fatal;").fails(End::Fatal).runs();
}

// ---- Log ----

/// 2.3.1: without categories there are none to name, and messages have none.
#[test]
fn an_fmu_without_log_categories() {
    legal("LOG(fmi3OK, NULL, \"from everywhere\");").elements("").runs();
}

/// 2.2.1: the log may be called from inside every call, also under the lock and in the callback.
#[test]
fn an_fmu_that_logs_from_everywhere() {
    let hook = "LOG(fmi3OK, \"logStatusError\", \"#1# is a clock, ##1 is none\\nsecond line\"); \
                ON(1) { LOCK(); LOG(fmi3OK, \"logStatusError\", \"\"); UNLOCK(); TICK(3); NEXT(4, 0.0); UPDATE(); }";
    ticking(hook).runs();
}

#[test]
fn an_fmu_that_has_a_warning_for_every_call() {
    ticking("ON(1) { TICK(3); NEXT(4, 0.0); UPDATE(); }").warns().may_be_found_odd().runs();
}

/// 2.2.4: where the rig says so, warnings are not even worth a line.
#[test]
fn warnings_may_be_ignored() {
    legal("").warns().keys("on_warning = 'ignore'").may_be_found_odd().runs();
}

// ---- Preemption lock (5.1.2) ----

#[test]
fn locks_in_instantiation_initialisation_and_the_end() {
    legal("if (event != ACTIVATED) { LOCK(); UNLOCK(); }").runs();
}

/// The standard's own example locks in fmi3GetClock and fmi3GetInterval (5.3), which run inside of the callback.
#[test]
fn locks_while_clocks_and_intervals_are_read() {
    let hook = "if (event == CLOCK_IS_READ || event == INTERVAL_IS_READ) { LOCK(); UNLOCK(); } \
                ON(1) { TICK(3); NEXT(4, 0.0); UPDATE(); }";
    ticking(hook).runs();
}

#[test]
fn locks_inside_of_locks() {
    legal("ON(1) { LOCK(); LOCK(); LOCK(); UNLOCK(); UNLOCK(); LOCK(); UNLOCK(); UNLOCK(); }").runs();
}

#[test]
fn a_clock_update_inside_of_a_lock() {
    ticking("ON(1) { LOCK(); TICK(3); NEXT(4, 0.0); UPDATE(); UNLOCK(); }").runs();
}

#[test]
fn locks_while_values_are_set_and_read() {
    let variables = "<Float64 name='y' valueReference='10' causality='output' variability='discrete' clocks='1'/>\
                     <Float64 name='u' valueReference='11' causality='input' variability='discrete' start='0'/>";
    Legal::new(&(BASE.to_owned() + variables), "if (event >= VALUE_IS_SET) { LOCK(); UNLOCK(); }")
        .instances(&["a", "b"])
        .tables("[[connect]]\nfrom = 'a.y'\nto = 'b.u'\n[record]\nsignals = ['*']\n")
        .at(1, &EVERY_20_MS)
        .runs();
}

// ---- Clock updates (5.2.2) ----

/// Each for what has changed since the last one.
#[test]
fn a_clock_update_for_each_of_two_changes() {
    ticking("ON(1) { TICK(3); UPDATE(); NEXT(4, 0.0); UPDATE(); }").runs();
}

#[test]
fn clock_updates_of_every_partition() {
    ticking("ON(1) { TICK(3); NEXT(4, 0.0); } AT(ACTIVATED) UPDATE();").runs();
}
