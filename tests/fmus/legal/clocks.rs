//! Kinds of clocks: when they tick, and what the importer asks and tells (2.2.8.2 to 2.2.8.4).
//!
//! Runs end before 0.1 s unless a case says otherwise.

use crate::legal::case::Legal;

/// Reference 1, every 20 ms: 0, 0.02, 0.04, 0.06, 0.08.
pub const BASE: &str = "<Clock name='base' valueReference='1' causality='input' priority='5' \
                        intervalVariability='constant' intervalDecimal='0.02'/>";
pub const EVERY_20_MS: [f64; 5] = [0.0, 0.02, 0.04, 0.06, 0.08];

/// An input clock with reference 2, less urgent than [`BASE`].
fn second(attributes: &str) -> String {
    format!("<Clock name='second' valueReference='2' causality='input' priority='9' {attributes}/>")
}

fn with_base(attributes: &str, hook: &str) -> Legal {
    Legal::new(&(BASE.to_owned() + &second(attributes)), hook).at(1, &EVERY_20_MS)
}

fn alone(attributes: &str, hook: &str) -> Legal {
    Legal::new(&second(attributes), hook)
}

// ---- Constant ----

#[test]
fn a_constant_clock_ticks_at_the_start_and_each_interval_later() {
    Legal::new(BASE, "").at(1, &EVERY_20_MS).runs();
}

#[test]
fn a_shift_delays_the_first_tick_and_all_others_with_it() {
    alone("intervalVariability='constant' intervalDecimal='0.02' shiftDecimal='0.005'", "")
        .at(2, &[0.005, 0.025, 0.045, 0.065, 0.085])
        .runs();
}

/// Three thirtieths are 0.1, the end.
#[test]
fn a_fraction_is_exact_where_its_decimal_is_not() {
    let interval = "intervalVariability='constant' intervalDecimal='0.0333' supportsFraction='true' resolution='30' \
                    intervalCounter='1'";
    alone(interval, "").at(2, &[0.0, 1.0 / 30.0, 2.0 / 30.0]).runs();
}

#[test]
fn a_shift_may_be_a_fraction_too() {
    let interval = "intervalVariability='constant' intervalDecimal='0.033' supportsFraction='true' resolution='60' \
                    intervalCounter='2' shiftDecimal='0.017' shiftCounter='1'";
    alone(interval, "").at(2, &[1.0 / 60.0, 3.0 / 60.0, 5.0 / 60.0]).runs();
}

#[test]
fn an_interval_that_is_longer_than_the_run_makes_one_tick() {
    alone("intervalVariability='constant' intervalDecimal='1e9'", "").at(2, &[0.0]).runs();
}

#[test]
fn a_shift_beyond_the_end_makes_none() {
    with_base("intervalVariability='constant' intervalDecimal='0.01' shiftDecimal='0.1'", "").at(2, &[]).runs();
}

/// 2.3.2: the start time is where the independent variable begins; shifts and first intervals count from there.
#[test]
fn clocks_begin_at_the_start_time() {
    let changing = "<Clock name='changing' valueReference='3' causality='input' priority='9' \
                    intervalVariability='changing'/>";
    let shifted = second("intervalVariability='constant' intervalDecimal='0.04' shiftDecimal='0.03'");
    Legal::new(&(BASE.to_owned() + &shifted + changing), "AT(INITIALIZATION_BEGINS) NEXT(3, 0.03);")
        .rig("start_time = -0.05\nstop_time = 0.05")
        .at(1, &[-0.05, -0.03, -0.01, 0.01, 0.03])
        .at(2, &[-0.02, 0.02])
        .at(3, &[-0.02, 0.01, 0.04])
        .runs();
}

// ---- Fixed and tunable ----

/// Set in Initialization Mode although nothing changes: the base refuses to leave it otherwise.
#[test]
fn a_fixed_clock_with_an_interval_is_told_it() {
    let hook = "AT(INITIALIZATION_ENDS) EXPECT(told_interval(m, 2) == 0.03);";
    alone("intervalVariability='fixed' intervalDecimal='0.03'", hook).at(2, &[0.0, 0.03, 0.06, 0.09]).runs();
}

#[test]
fn a_fixed_clock_is_told_what_the_rig_wants() {
    let hook = "AT(INITIALIZATION_ENDS) EXPECT(told_interval(m, 2) == 0.04 && told_shift(m, 2) == 0.01);";
    alone("intervalVariability='fixed' intervalDecimal='0.03'", hook)
        .keys("clock.second = { interval = 0.04, shift = 0.01 }")
        .at(2, &[0.01, 0.05, 0.09])
        .runs();
}

#[test]
fn a_fixed_clock_that_supports_fractions_is_told_one() {
    let hook = "AT(INITIALIZATION_ENDS) EXPECT(told_interval(m, 2) == 1.0 / 40);";
    let interval = "intervalVariability='fixed' intervalDecimal='0.025' supportsFraction='true' resolution='40' \
                    intervalCounter='1'";
    alone(interval, hook).every(2, 4, 0.0, 0.025, 3).runs();
}

#[test]
fn a_fixed_clock_without_an_interval_is_asked_for_interval_and_shift() {
    let hook = "AT(INITIALIZATION_BEGINS) { NEXT(2, 0.03); SHIFT(2, 0.01); }";
    alone("intervalVariability='fixed'", hook).at(2, &[0.01, 0.04, 0.07]).runs();
}

#[test]
fn a_fixed_clock_is_asked_for_fractions_where_it_supports_them() {
    let hook = "AT(INITIALIZATION_BEGINS) { NEXT_FRACTION(2, 1, 40); SHIFT_FRACTION(2, 1, 80); }";
    alone("intervalVariability='fixed' supportsFraction='true'", hook)
        .at(2, &[1.0 / 80.0, 3.0 / 80.0, 5.0 / 80.0, 7.0 / 80.0])
        .runs();
}

/// The interval may depend on fixed parameters, so these are set before it is asked for.
#[test]
fn an_interval_that_depends_on_a_parameter_is_asked_for_after_the_parameter_was_set() {
    let period = "<Float64 name='period' valueReference='10' causality='parameter' variability='fixed' start='1'/>";
    Legal::new(&(second("intervalVariability='fixed'") + period), "AT(INTERVAL_IS_READ) NEXT(2, VALUE(10));")
        .keys("start = { period = 0.04 }")
        .at(2, &[0.0, 0.04, 0.08])
        .runs();
}

#[test]
fn a_tunable_clock_with_an_interval_is_told_it() {
    let hook = "AT(INITIALIZATION_ENDS) EXPECT(told_interval(m, 2) == 0.03);";
    alone("intervalVariability='tunable' intervalDecimal='0.03'", hook).at(2, &[0.0, 0.03, 0.06, 0.09]).runs();
}

/// And not again while no tunable parameter changes: the base refuses that.
#[test]
fn a_tunable_clock_without_an_interval_is_asked_once() {
    let hook = "AT(INITIALIZATION_BEGINS) { NEXT(2, 0.03); SHIFT(2, 0.02); }";
    alone("intervalVariability='tunable'", hook).at(2, &[0.02, 0.05, 0.08]).runs();
}

/// 2.2.8.2 has Get for them where it has Set with `intervalDecimal`, so no rig can decide it.
#[test]
fn what_an_fmu_says_itself_is_refused_to_the_rig() {
    for (kind, key) in [("fixed", "interval"), ("fixed", "shift"), ("tunable", "interval"), ("tunable", "shift")] {
        alone(&format!("intervalVariability='{kind}'"), "")
            .keys(&format!("clock.second = {{ {key} = 0.04 }}"))
            .ends_refused(&format!(
                "the {key} of a.second cannot be set to 0.04 s: its description has no intervalDecimal"
            ));
    }
}

// ---- Changing ----

/// t0 = start + T0, and after the n-th tick 10 ms · n: 0, 0.01, 0.03, 0.06, 0.1.
#[test]
fn a_changing_clock_may_tick_at_once_and_then_as_it_says_after_each_tick() {
    let hook = "AT(INITIALIZATION_BEGINS) NEXT(2, 0.0); ON(2) NEXT(2, 0.01 * n);";
    alone("intervalVariability='changing'", hook).at(2, &[0.0, 0.01, 0.03, 0.06]).runs();
}

#[test]
fn a_changing_clock_may_speak_in_fractions() {
    let hook = "AT(INITIALIZATION_BEGINS) NEXT_FRACTION(2, 1, 64); ON(2) NEXT_FRACTION(2, n, 64);";
    alone("intervalVariability='changing' supportsFraction='true'", hook)
        .at(2, &[1.0 / 64.0, 2.0 / 64.0, 4.0 / 64.0])
        .runs();
}

#[test]
fn a_changing_clock_is_asked_by_nobody_elses_tick() {
    let hook = "AT(INITIALIZATION_BEGINS) NEXT(2, 0.05); ON(1) NEXT(2, 0.001); ON(2) NEXT(2, 0.025);";
    with_base("intervalVariability='changing'", hook).at(2, &[0.05, 0.075]).runs();
}

// ---- Countdown ----

#[test]
fn a_countdown_that_is_known_before_the_start_ticks_once() {
    with_base("intervalVariability='countdown'", "AT(INITIALIZATION_BEGINS) NEXT(2, 0.03);").at(2, &[0.03]).runs();
}

#[test]
fn a_countdown_of_nothing_before_the_start_ticks_at_the_start() {
    alone("intervalVariability='countdown'", "AT(INITIALIZATION_BEGINS) NEXT(2, 0.0);").at(2, &[0.0]).runs();
}

#[test]
fn a_countdown_counts_from_the_activation_that_arms_it() {
    with_base("intervalVariability='countdown'", "ON(1) { NEXT(2, 0.005); UPDATE(); }")
        .at(2, &[0.005, 0.025, 0.045, 0.065, 0.085])
        .runs();
}

#[test]
fn a_countdown_of_nothing_ticks_at_the_time_of_its_activation() {
    with_base("intervalVariability='countdown'", "ON(1) { NEXT(2, 0.0); UPDATE(); }").at(2, &EVERY_20_MS).runs();
}

#[test]
fn a_countdown_may_be_a_fraction() {
    let hook = "ON(1) if (n == 1) { NEXT_FRACTION(2, 1, 30); UPDATE(); }";
    with_base("intervalVariability='countdown' supportsFraction='true'", hook).at(2, &[1.0 / 30.0]).runs();
}

/// Armed with 30 ms at 0, 0.02, ..., 0.08, it is never due.
#[test]
fn a_countdown_that_is_armed_again_is_scheduled_anew() {
    with_base("intervalVariability='countdown'", "ON(1) { NEXT(2, 0.03); UPDATE(); }").at(2, &[]).runs();
}

/// Armed at 0, 0.04 and 0.08 only; at 0.02 and 0.06 the answer is "unchanged".
#[test]
fn a_clock_update_in_which_nothing_changed_leaves_a_countdown_as_it_is() {
    with_base("intervalVariability='countdown'", "ON(1) { if (n % 2 == 1) NEXT(2, 0.03); UPDATE(); }")
        .at(2, &[0.03, 0.07])
        .runs();
}

#[test]
fn a_countdown_may_arm_itself() {
    let hook = "AT(INITIALIZATION_BEGINS) NEXT(2, 0.01); ON(2) { NEXT(2, 0.025); UPDATE(); }";
    alone("intervalVariability='countdown'", hook).at(2, &[0.01, 0.035, 0.06, 0.085]).runs();
}

/// `clocks` of an input clock: it is due only by what base does (2.4.7.4).
#[test]
fn a_countdown_may_itself_be_clocked() {
    with_base("intervalVariability='countdown' clocks='1'", "ON(1) { NEXT(2, 0.0); UPDATE(); }")
        .at(2, &EVERY_20_MS)
        .runs();
}

#[test]
fn a_countdown_that_nobody_arms_never_ticks() {
    with_base("intervalVariability='countdown'", "ON(1) UPDATE();").at(2, &[]).runs();
}

/// The base clock, which is more urgent, arms it anew for the instant at which it is due: that instant was reached.
#[test]
fn a_countdown_that_is_due_and_armed_again_at_one_time_ticks() {
    with_base("intervalVariability='countdown'", "ON(1) { NEXT(2, 0.02); UPDATE(); }")
        .at(2, &[0.02, 0.04, 0.06, 0.08])
        .runs();
}

// ---- Triggered ----

const OUT: &str =
    "<Clock name='out' valueReference='3' causality='output' intervalVariability='triggered' clocks='1'/>";
const TRIGGER: &str = "[[trigger]]\nclock = 'a.second'\nfrom = 'a.out'\n";

fn ticking(hook: &str) -> Legal {
    Legal::new(&(BASE.to_owned() + OUT + &second("intervalVariability='triggered'")), hook)
        .tables(TRIGGER)
        .at(1, &EVERY_20_MS)
}

#[test]
fn an_output_clock_that_ticks_always() {
    ticking("ON(1) { TICK(3); UPDATE(); }").at(2, &EVERY_20_MS).runs();
}

#[test]
fn an_output_clock_that_ticks_now_and_then() {
    ticking("ON(1) { if (n % 2 == 0) TICK(3); UPDATE(); }").at(2, &[0.02, 0.06]).runs();
}

#[test]
fn an_output_clock_that_never_ticks() {
    ticking("").at(2, &[]).runs();
}

#[test]
fn clock_updates_with_nothing_to_read_activate_nobody() {
    ticking("ON(1) { UPDATE(); UPDATE(); }").at(2, &[]).runs();
}

/// 5.2.1: an activation of the same clock and time happens once, however often it is asked for.
#[test]
fn two_ticks_of_one_time_are_one_activation() {
    ticking("ON(1) { TICK(3); UPDATE(); TICK(3); UPDATE(); }").at(2, &EVERY_20_MS).runs();
}

#[test]
fn an_output_clock_without_a_connection_is_read_all_the_same() {
    Legal::new(&(BASE.to_owned() + OUT), "ON(1) { TICK(3); UPDATE(); }").at(1, &EVERY_20_MS).runs();
}

/// base → out → second → back → third, all at one time.
#[test]
fn ticks_may_lead_to_ticks() {
    let more = "<Clock name='back' valueReference='4' causality='output' intervalVariability='triggered' clocks='2'/>\
                <Clock name='third' valueReference='5' causality='input' priority='1' intervalVariability='triggered'/>";
    Legal::new(
        &(BASE.to_owned() + OUT + &second("intervalVariability='triggered'") + more),
        "ON(1) { TICK(3); UPDATE(); } ON(2) { TICK(4); UPDATE(); }",
    )
    .tables(&(TRIGGER.to_owned() + "[[trigger]]\nclock = 'a.third'\nfrom = 'a.back'\n"))
    .at(1, &EVERY_20_MS)
    .at(2, &EVERY_20_MS)
    .at(5, &EVERY_20_MS)
    .runs();
}

/// 2.2.8.2: the importer is the source of a triggered input clock's ticks, here of a list of times.
#[test]
fn an_fmu_of_triggered_clocks_alone() {
    alone("intervalVariability='triggered'", "")
        .tables("[[trigger]]\nclock = 'a.second'\nat = [0.0, 0.0123, 0.05, 0.0999]\n")
        .at(2, &[0.0, 0.0123, 0.05, 0.0999])
        .runs();
}

/// 2.2.8.3: one partition of two ticks; the other one, which ticks too, is not asked which of them it was.
#[test]
fn an_output_clock_of_two_partitions() {
    let out = OUT.replace("clocks='1'", "clocks='1 6'");
    let other = "<Clock name='other' valueReference='6' causality='input' priority='6' intervalVariability='constant' \
                 intervalDecimal='0.05' shiftDecimal='0.01'/>";
    Legal::new(
        &(BASE.to_owned() + &out + other + &second("intervalVariability='triggered'")),
        "ON(1) if (n == 3) { TICK(3); UPDATE(); } ON(6) { TICK(3); UPDATE(); }",
    )
    .tables(TRIGGER)
    .at(1, &EVERY_20_MS)
    .at(6, &[0.01, 0.06])
    .at(2, &[0.01, 0.04, 0.06])
    .runs();
}

/// What a preempted partition has ticked is read in the clock update of the one that has interrupted it, which the importer
/// cannot tell from a tick of its own: the tick is that of the clocks that the description names, at their time, and what
/// belongs to it is read after their activation. `slow` waits for such an update, at most 50 ms.
#[test]
fn a_tick_that_surfaces_in_the_update_of_another_partition() {
    let variables = "<Clock name='slow' valueReference='2' causality='input' priority='9' intervalVariability='constant' \
        intervalDecimal='0.05'/>\
        <Clock name='out' valueReference='3' causality='output' intervalVariability='triggered' clocks='2'/>\
        <Clock name='second' valueReference='4' causality='input' priority='1' intervalVariability='triggered'/>\
        <Float64 name='y' valueReference='10' causality='output' variability='discrete' clocks='3'/>";
    let hook = "static _Atomic int updates; static _Atomic bool pending, surfaced; \
        ON(1) { if (pending) surfaced = true; UPDATE(); updates++; } \
        ON(2) { int before = updates; PUT(10, n); TICK(3); pending = true; \
                struct timespec now, begin; clock_gettime(CLOCK_MONOTONIC, &begin); \
                do clock_gettime(CLOCK_MONOTONIC, &now); \
                while (updates == before && (now.tv_sec - begin.tv_sec) * 1e9 + now.tv_nsec - begin.tv_nsec < 5e7); \
                pending = false; UPDATE(); } \
        AT(TERMINATED_NOW) if (surfaced) remark(m, \"surfaced\");";
    Legal::new(&(BASE.to_owned() + variables), hook)
        .tables("[[trigger]]\nclock = 'a.second'\nfrom = 'a.out'\n[record]\nsignals = ['*']\n")
        .remarks("surfaced")
        .at(1, &EVERY_20_MS)
        .at(2, &[0.0, 0.05])
        .at(4, &[0.0, 0.05])
        .runs();
}

/// 2.2.8.3: a clock that belongs to others is accessed only when one of these is active. The rig decides when a triggered
/// one ticks, and may have its reasons: a note.
#[test]
fn a_clock_that_ticks_without_the_clock_that_it_belongs_to_is_noted() {
    with_base("intervalVariability='triggered' clocks='1'", "")
        .tables("[[trigger]]\nclock = 'a.second'\nat = [0.02, 0.05]\n")
        .noted("a.second belongs to base (attribute clocks), without which it must not be activated")
        .at(2, &[0.02, 0.05])
        .runs();
}

/// The output clock belongs to the same clock, so that both are active.
#[test]
fn a_clock_that_ticks_with_the_clock_that_it_belongs_to_is_not_noted() {
    let second = second("intervalVariability='triggered' clocks='1'");
    Legal::new(&(BASE.to_owned() + OUT + &second), "ON(1) { if (n % 2 == 0) TICK(3); UPDATE(); }")
        .tables(TRIGGER)
        .at(1, &EVERY_20_MS)
        .at(2, &[0.02, 0.06])
        .runs();
}

// ---- Priorities (2.4.4, 5.1.1) ----

fn of_priority(name: &str, vr: u32, priority: u32) -> String {
    format!(
        "<Clock name='{name}' valueReference='{vr}' causality='input' priority='{priority}' \
         intervalVariability='constant' intervalDecimal='0.02'/>"
    )
}

/// Smaller is more urgent, whatever the distance: at each time 1 runs first, 3 last.
#[test]
fn priorities_with_gaps_up_to_the_largest() {
    let clocks = of_priority("last", 3, u32::MAX) + &of_priority("first", 1, 0) + &of_priority("middle", 2, 7);
    let hook = "static uint64_t done[4]; AT(ACTIVATED) { EXPECT(vr == 1 || done[vr - 1] == n); done[vr] = n; }";
    Legal::new(&clocks, hook).at(1, &EVERY_20_MS).at(2, &EVERY_20_MS).at(3, &EVERY_20_MS).runs();
}

/// 5.1.2: they do not interrupt each other, which the base checks, and their order is the importer's.
#[test]
fn clocks_of_equal_priority() {
    let clocks = of_priority("x", 1, 4) + &of_priority("y", 2, 4) + &of_priority("z", 3, 4);
    Legal::new(&clocks, "for (volatile int i = 0; event == ACTIVATED && i < 100000; i++) continue;")
        .at(1, &EVERY_20_MS)
        .at(2, &EVERY_20_MS)
        .at(3, &EVERY_20_MS)
        .runs();
}

/// Any number of different ones: in real time more than there are FIFO priorities.
#[test]
fn more_priorities_than_an_operating_system_has() {
    let clocks: String = (1..=130).map(|vr| of_priority(&format!("c{vr}"), vr, vr * 3)).collect();
    let legal = Legal::new(&clocks.replace("0.02", "0.05"), "").may_be_found_odd();
    (1..=130).fold(legal, |legal, vr| legal.at(vr, &[0.0, 0.05])).runs();
}

// ---- The unit of time (2.2.8.4, 2.4.4) ----

/// An FMU that counts milliseconds: intervals and activation times are in them.
fn in_milliseconds(clock: &str, hook: &str) -> Legal {
    let time = "<Float64 name='t' valueReference='0' causality='independent' variability='continuous' unit='ms'/>";
    Legal::new(&(time.to_owned() + clock), hook).own_time().elements(
        "<UnitDefinitions><Unit name='ms'><BaseUnit s='1' factor='0.001'/></Unit></UnitDefinitions>\
         <LogCategories><Category name='logStatusError'/></LogCategories>",
    )
}

#[test]
fn an_interval_in_milliseconds() {
    let clock = second("intervalVariability='constant' intervalDecimal='20' shiftDecimal='5'");
    in_milliseconds(&clock, "").at(2, &[5.0, 25.0, 45.0, 65.0, 85.0]).runs();
}

#[test]
fn a_fixed_clock_is_told_milliseconds() {
    let clock = second("intervalVariability='fixed' intervalDecimal='20'");
    in_milliseconds(&clock, "AT(INITIALIZATION_ENDS) EXPECT(told_interval(m, 2) == 40);")
        .keys("clock.second = { interval = 0.04 }")
        .at(2, &[0.0, 40.0, 80.0])
        .runs();
}

#[test]
fn a_changing_clock_and_a_countdown_answer_in_milliseconds() {
    let clocks = second("intervalVariability='changing'")
        + "<Clock name='countdown' valueReference='3' causality='input' priority='10' intervalVariability='countdown'/>";
    let hook = "AT(INITIALIZATION_BEGINS) NEXT(2, 10); ON(2) { NEXT(2, 30); NEXT(3, 5); UPDATE(); }";
    in_milliseconds(&clocks, hook).at(2, &[10.0, 40.0, 70.0]).at(3, &[15.0, 45.0, 75.0]).runs();
}

// ---- The standard's own example ----

/// The description of 5.4.1 with what 5.3 says of it: the 10 ms clock arms the aperiodic one, at once, in every second
/// of its activations.
#[test]
fn the_example_of_the_standard() {
    let variables = "<Float64 name='AIn1' valueReference='10' causality='input' variability='discrete' clocks='5' start='0'/>\
        <Float64 name='AIn2' valueReference='11' causality='input' variability='discrete' clocks='5' start='0'/>\
        <Float64 name='AOut' valueReference='2' causality='output' variability='discrete' clocks='5'/>\
        <Float64 name='BIn' valueReference='3' causality='input' variability='discrete' clocks='6' start='0'/>\
        <Float64 name='BOut' valueReference='4' causality='output' variability='discrete' clocks='6'/>\
        <Clock name='10msClock' valueReference='5' causality='input' intervalVariability='constant' priority='1' \
        intervalDecimal='0.01'/>\
        <Clock name='AperiodicClock' valueReference='6' causality='input' intervalVariability='countdown' priority='2' \
        clocks='5'/>\
        <Clock name='OutputClock' valueReference='7' causality='output' intervalVariability='triggered' clocks='5'/>\
        <Clock name='50msClock' valueReference='8' causality='input' intervalVariability='constant' priority='3' \
        intervalDecimal='0.05'/>";
    let hook = "ON(5) { if (n % 2 == 0) { NEXT(6, 0.0); TICK(7); UPDATE(); } PUT(2, VALUE(10) + VALUE(11)); }";
    Legal::new(variables, hook)
        .tables("[record]\nsignals = ['*']\n")
        .every(5, 10, 0.0, 0.01, 2)
        .at(6, &[0.01, 0.03, 0.05, 0.07, 0.09])
        .at(8, &[0.0, 0.05])
        .runs();
}
