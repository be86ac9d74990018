//! Slaves of FMI 2.0 that can be asked how far they step, by a function beside the standard's (`fmi2GetMaxStepSize`); by the counts of
//! the FMU (`fmus/foretelling`).

use super::{last, rig, run, succeeds};
use crate::program::Outcome;
use crate::program::shared_core;

/// Two that can be asked, of which one is fed by the other, over steps of 1/4 s; `a` has the `lie`.
fn group(algorithm: &str, recorded: &str, lie: u32) -> String {
    format!(
        "[rig]\nstop_time = 2\n[record]\nsignals = [{recorded}]\n\
         [fmu.a]\npath = '@foretelling'\nstart = {{ lie = {lie} }}\n\
         [fmu.b]\npath = '@foretelling'\nstart = {{ first = 0.0625, every = 0.4375, u = 1 }}\n\
         [master.g]\nfmus = ['a', 'b']\nstep = '1/4'\nalgorithm = '{algorithm}'\n\
         [[connect]]\nfrom = 'b.y'\nto = 'a.u'\n"
    )
}

const VALUES: &str = "'*.y', '*.u', '*.steps', '*.events'";
const COUNTS: &str = "'*.asked', '*.discarded', '*.restored', '*.steps', '*.events'";

fn counts(outcome: &Outcome, fmu: &str) -> [f64; 5] {
    ["asked", "discarded", "restored", "steps", "events"].map(|name| last(outcome, &format!("{fmu}.{name}")))
}

/// Asking before comes to the same bytes as taking back afterwards, with nothing taken back.
#[test]
fn who_is_asked_is_not_taken_back() {
    let rollback = succeeds(&group("rollback", VALUES, 0)).file("signals.csv");
    assert_eq!(rollback.lines().count(), 1 + 9, "{rollback}");
    assert_eq!(succeeds(&group("predictable", VALUES, 0)).file("signals.csv"), rollback);

    let outcome = succeeds(&group("predictable", COUNTS, 0));
    // a at 0.375, 0.6875, 1, 1.3125, 1.625, 1.9375; b at 0.0625, 0.5, 0.9375, 1.375, 1.8125; 0.5 and 1 are on the grid.
    let steps = 8.0 + 6.0 + 5.0 - 2.0;
    assert_eq!(counts(&outcome, "a"), [steps, 0.0, 0.0, steps, 6.0]);
    assert_eq!(counts(&outcome, "b"), [steps, 0.0, 0.0, steps, 5.0]);
    assert_eq!(outcome.count("a", "g", "taken_back"), 0);
    let said = &outcome.stderr;
    assert!(said.contains("a is predictable (its largest step is known from fmi2GetMaxStepSize)"), "{said}");

    let outcome = succeeds(&group("rollback", COUNTS, 0));
    let [asked, discarded, restored, ..] = counts(&outcome, "a");
    assert!(asked == 0.0 && discarded > 0.0 && restored > 0.0, "{asked} {discarded} {restored}");
}

/// Beside one that is taken back, too, and beside a legacy one: the one that can be asked is never farther than the others.
#[test]
fn who_is_asked_steps_last() {
    let text = |algorithm: &str, more: &str, names: &str| {
        format!(
            "[rig]\nstop_time = 2\n[record]\nsignals = ['a.y', 'a.u', 'a.steps', 'r.y', 'r.steps']\n\
             [fmu.a]\npath = '@foretelling'\n\
             [fmu.r]\npath = '@rejecting'\nstart = {{ first = 0.28125, every = 0.5, u = 1 }}\n{more}\
             [master.g]\nfmus = ['a', 'r'{names}]\nstep = '1/4'\nalgorithm = '{algorithm}'\n\
             [[connect]]\nfrom = 'r.y'\nto = 'a.u'\n"
        )
    };
    let rollback = succeeds(&text("rollback", "", "")).file("signals.csv");
    assert_eq!(succeeds(&text("predictable", "", "")).file("signals.csv"), rollback);
    let legacy = "[fmu.l]\npath = '@legacy'\nstart = { first = 0.8125, every = 10 }\n";
    let outcome = succeeds(&text("predictable", legacy, ", 'l'"));
    let alone = succeeds(&text("predictable", "", ""));
    assert_eq!(
        last(&outcome, "a.steps"),
        last(&alone, "a.steps") + 1.0,
        "one more, to where the legacy one has stopped"
    );
}

/// Infinity is no limit, and a Warning is one as of every other call.
#[test]
fn a_largest_step_may_be_infinite_and_the_answer_a_warning() {
    let outcome = succeeds(&group("predictable", COUNTS, 7));
    let steps = 8.0 + 4.0;
    assert_eq!(counts(&outcome, "a"), [steps, 0.0, 0.0, steps, 0.0], "the grid, and the events of b beside it");
    let outcome = succeeds(&group("predictable", COUNTS, 6));
    let asked = last(&outcome, "a.asked");
    assert!(outcome.stdout.contains(&format!("fmu `a`: {asked} calls returned fmi2Warning")), "{}", outcome.stdout);
    let report = outcome.report();
    let fmu = report["fmus"].as_array().unwrap().iter().find(|fmu| fmu["name"] == "a").unwrap();
    let calls = fmu["calls"].as_array().unwrap();
    let counted = calls.iter().find(|call| call["function"] == "fmi2GetMaxStepSize").unwrap();
    assert_eq!(counted["calls"].as_f64(), Some(asked), "{fmu}");
}

/// No step, or none that can be told, ends the run in the name of the FMU and of the function.
#[test]
fn no_largest_step_is_an_error_of_the_fmu() {
    for (lie, words) in [
        (1, "0 as its largest step, which has to be above 0"),
        (2, "-0.25 as its largest step"),
        (3, "NaN as its largest step"),
        (4, "fmi2Error"),
    ] {
        let outcome = run(&rig(&group("predictable", VALUES, lie)), "virtual");
        assert_eq!(outcome.code, 1, "{lie}: {}", outcome.stderr);
        let is_it = |line: &&str| line.contains(words) && line.contains("fmi2GetMaxStepSize");
        let said = outcome.stdout.lines().find(is_it).unwrap_or_else(|| panic!("{lie}: {}", outcome.stdout));
        assert!(said.contains("`a`"), "{said}");
    }
}

/// A slave that makes less of a step than it has said it would breaks A4, which says so.
#[test]
fn who_steps_less_than_it_has_told_is_named() {
    let outcome = run(&rig(&group("predictable", VALUES, 5)), "virtual");
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let said = outcome.stdout.lines().find(|line| line.contains("(A4)"));
    let said = said.unwrap_or_else(|| panic!("{} {}", outcome.stdout, outcome.stderr));
    assert!(said.contains("`a`") && said.contains("fmi2DoStep") && said.contains("0.05625"), "{said}");
}

/// A group in real time asks as one in virtual time does.
#[test]
fn real_time_asks_as_well() {
    shared_core(|| {
        let expected = succeeds(&group("predictable", VALUES, 0)).file("signals.csv");
        let outcome = run(&rig(&group("predictable", VALUES, 0)), "realtime");
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let seen = outcome.file("signals.csv");
        let strange = seen.lines().find(|line| !expected.lines().any(|own| own == *line));
        assert_eq!(strange, None);
    });
}

/// Events at products, k · 0.1 and k · 0.3, and so beside each other and beside the ends of steps by a unit in the last place: each is at one
/// communication point, to which the FMUs step as far as they say, to the bit.
#[test]
fn a_largest_step_that_ends_beside_something_by_rounding_ends_there() {
    let text = "[rig]\nstop_time = 2\n[record]\n[fmu.a]\npath = '@foretelling'\nstart = { lie = 8, first = 0.1, every = 0.1 }\n\
                [fmu.b]\npath = '@foretelling'\nstart = { lie = 8, first = 0.3, every = 0.3 }\n\
                [master.g]\nfmus = ['a', 'b']\nstep = 'STEP'\nalgorithm = 'predictable'\n";
    for step in ["1/10", "1/5"] {
        let outcome = succeeds(&text.replace("STEP", step));
        assert_eq!(counts(&outcome, "a")[1..], [0.0, 0.0, 20.0, 20.0], "{step}");
        assert_eq!(counts(&outcome, "b")[1..], [0.0, 0.0, 20.0, 6.0], "{step}");
    }
}
