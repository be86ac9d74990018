//! Input clocks that belong to clocks (attribute `clocks`): such a clock may be activated only when one of its clocks is
//! active (FMI 3.0.2, 2.2.8.3: "this also holds for clocked variables of type Clock").
//!
//! Guarantees: a clock is noted unless the rig and the descriptions show that it never ticks without one of its clocks. They
//! show it if one of its clocks triggers it, if an output clock triggers it that never ticks without them, or if all its
//! times lie on the grid of one of them. Countdown clocks are not examined, since only the FMU arms them, nor are FMUs of
//! the draft, which has no such rule.

use super::ClockNetwork;
use super::candidates::Candidate;
use crate::Release;
use crate::described::DescribedFmu;
use crate::timetable::Timetable;
use std::collections::HashSet;
use vecud_base::time::{Fraction, Instant};
use vecud_description::{Abi, ValueReference};

/// A note for each clock that may be activated when none of its clocks is active.
pub fn notes(fmus: &[DescribedFmu], clocks: &ClockNetwork, times: &Timetable) -> Vec<String> {
    let mut notes = Vec::new();
    for candidate in &clocks.candidates {
        let described = &fmus[candidate.fmu];
        let own = candidate.variable(described).map_or(&[][..], |clock| &clock.clocks);
        let released = described.abi() == Abi::Fmi3;
        if !released || own.is_empty() || ticks_only_with(own, candidate, fmus, clocks, times.start) {
            continue;
        }
        let names: Vec<&str> = own
            .iter()
            .filter_map(|&clock| Some(described.variables()[described.find_reference(clock)?].name.as_str()))
            .collect();
        notes.push(format!(
            "{}.{} belongs to {} (attribute clocks), without which it must not be activated (FMI 3.0.2, 2.2.8.3), and may be \
             activated all the same: let one of these trigger it, or an output clock that belongs to them, or keep it on their \
             grid",
            described.name(),
            candidate.name(described),
            names.join(", ")
        ));
    }
    notes
}

/// Whether a candidate is released only at instants of a clock of `own`.
fn ticks_only_with(
    own: &[ValueReference],
    candidate: &Candidate,
    fmus: &[DescribedFmu],
    ClockNetwork { candidates, tick_sources, .. }: &ClockNetwork,
    start: Instant,
) -> bool {
    let mut grids = candidates.iter().filter(|other| {
        other.fmu == candidate.fmu
            && other.variable(&fmus[other.fmu]).is_some_and(|clock| own.contains(&clock.value_reference))
    });
    match &candidate.release {
        Release::Never | Release::Request | Release::Countdown => true,
        Release::Triggered { fmu, output_clock } => {
            let source = tick_sources[fmu.0][*output_clock].variable;
            fmu.0 == candidate.fmu && belongs_to(&fmus[candidate.fmu], source, own)
        }
        Release::Periodic { shift, interval } => {
            grids.any(|grid| has(grid, start, start.after(*shift), Some(*interval)))
        }
        Release::At(list) => grids.any(|grid| list.iter().all(|&time| has(grid, start, time, None))),
        Release::Asked | Release::Changing | Release::Endpoint { .. } | Release::Stimulus { .. } => false,
    }
}

/// Whether a clock, given by its index, is one of `own`, or belongs to nothing but these, directly or through others.
fn belongs_to(described: &DescribedFmu, clock: usize, own: &[ValueReference]) -> bool {
    let mut open = vec![clock];
    let mut seen = HashSet::new();
    while let Some(clock) = open.pop() {
        let v = &described.variables()[clock];
        if own.contains(&v.value_reference) || !seen.insert(clock) {
            continue;
        }
        if v.clocks.is_empty() {
            return false;
        }
        open.extend(v.clocks.iter().filter_map(|&above| described.find_reference(above)));
    }
    true
}

/// Whether a clock ticks at `first`, and each `interval` later.
fn has(clock: &Candidate, start: Instant, first: Instant, interval: Option<Fraction>) -> bool {
    match &clock.release {
        Release::Periodic { shift, interval: step } => {
            let behind = first.minus(start.after(*shift));
            behind.is_some_and(|behind| behind.is_multiple_of(*step))
                && interval.is_none_or(|interval| interval.is_multiple_of(*step))
        }
        Release::At(list) => interval.is_none() && list.contains(&first),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{description, host, try_build};

    /// A clock of 10 ms from 2 ms on, one of 30 ms, and output clocks: of the first, of the second, of both, of nothing, of
    /// `late`, which belongs to the first.
    const CLOCKS: &str = r#"
<Clock name="base" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="0.01" shiftDecimal="0.002" priority="1"/>
<Clock name="other" valueReference="2" causality="input" intervalVariability="constant" intervalDecimal="0.03" priority="2"/>
<Clock name="out" valueReference="11" causality="output" intervalVariability="triggered" clocks="1"/>
<Clock name="out_other" valueReference="12" causality="output" intervalVariability="triggered" clocks="2"/>
<Clock name="out_both" valueReference="13" causality="output" intervalVariability="triggered" clocks="1 2"/>
<Clock name="out_any" valueReference="14" causality="output" intervalVariability="triggered"/>
<Clock name="late" valueReference="3" causality="input" intervalVariability="countdown" clocks="1" priority="3"/>
<Clock name="out_late" valueReference="15" causality="output" intervalVariability="triggered" clocks="3"/>
"#;

    /// The notes about `inner`, a clock with these attributes, in a rig of `a` and `b` with these tables.
    #[track_caller]
    fn notes(attributes: &str, tables: &str) -> Vec<String> {
        let inner =
            format!("<Clock name=\"inner\" valueReference=\"4\" causality=\"input\" priority=\"9\" {attributes}/>");
        let both = [description(&format!("{CLOCKS}{inner}")), description(CLOCKS)];
        let text = format!("[fmu.a]\npath = \"a\"\n[fmu.b]\npath = \"b\"\n{tables}");
        let plan = try_build(&text, &both, &host()).unwrap();
        plan.notes.into_iter().filter(|note| note.contains("attribute clocks")).collect()
    }

    fn triggered(clocks: &str, source: &str) -> usize {
        let attributes = format!("intervalVariability=\"triggered\" clocks=\"{clocks}\"");
        notes(&attributes, &format!("[[trigger]]\nclock = \"a.inner\"\n{source}\n")).len()
    }

    fn constant(clocks: &str, interval: &str, shift: &str) -> usize {
        let attributes = format!(
            "intervalVariability=\"constant\" intervalDecimal=\"{interval}\" shiftDecimal=\"{shift}\" clocks=\"{clocks}\""
        );
        notes(&attributes, "").len()
    }

    #[test]
    fn who_is_triggered_by_a_clock_of_its_own_is_not_noted() {
        assert_eq!(triggered("11", "from = \"a.out\""), 0);
        assert_eq!(triggered("1 14", "from = \"a.out_any\""), 0);
    }

    #[test]
    fn an_output_clock_ticks_with_its_clocks_and_with_theirs() {
        assert_eq!(triggered("1", "from = \"a.out\""), 0);
        assert_eq!(triggered("1 2", "from = \"a.out\""), 0);
        assert_eq!(triggered("1 2", "from = \"a.out_both\""), 0);
        assert_eq!(triggered("1", "from = \"a.out_late\""), 0, "by way of late");
    }

    #[test]
    fn an_output_clock_that_may_tick_without_them_is_noted() {
        assert_eq!(triggered("1", "from = \"a.out_other\""), 1);
        assert_eq!(triggered("1", "from = \"a.out_both\""), 1, "with the other one, too");
        assert_eq!(triggered("1", "from = \"a.out_any\""), 1);
        assert_eq!(triggered("1", "from = \"b.out\""), 1, "that belongs to the clock of b");
    }

    #[test]
    fn listed_times_lie_on_a_grid_or_do_not() {
        assert_eq!(triggered("1", "at = [0.002, 0.032, 10000000.002]"), 0);
        assert_eq!(triggered("1", "at = [0.0]"), 1, "before its first tick");
        assert_eq!(triggered("1", "at = [0.002, 0.013]"), 1);
        assert_eq!(triggered("1 2", "at = [0.0, 0.06]"), 0);
        assert_eq!(triggered("1 2", "at = [0.0, 0.002]"), 1, "each time on another one's: not on one grid");
    }

    #[test]
    fn what_comes_from_outside_is_noted() {
        assert_eq!(triggered("1", "udp = \"127.0.0.1:5005\""), 1);
    }

    #[test]
    fn a_grid_lies_on_another_one_or_does_not() {
        assert_eq!(constant("1", "0.01", "0.002"), 0);
        assert_eq!(constant("1", "0.03", "0.012"), 0);
        assert_eq!(constant("1", "0.03", "0"), 1, "its first tick is not among them");
        assert_eq!(constant("1", "0.015", "0.002"), 1);
        assert_eq!(constant("1", "0.001", "0.002"), 1, "finer");
        assert_eq!(constant("2", "0.06", "0"), 0);
        assert_eq!(constant("3", "0.01", "0.002"), 1, "a countdown has no grid");
    }

    #[test]
    fn intervals_that_only_the_fmu_knows_are_noted() {
        for kind in ["changing", "fixed", "tunable"] {
            assert_eq!(notes(&format!("intervalVariability=\"{kind}\" clocks=\"1\""), "").len(), 1, "{kind}");
        }
    }

    #[test]
    fn countdowns_and_clocks_that_never_tick_or_have_no_clocks_are_not_noted() {
        assert_eq!(notes("intervalVariability=\"countdown\" clocks=\"1\"", ""), [""; 0]);
        assert_eq!(notes("intervalVariability=\"triggered\" clocks=\"1\"", ""), [""; 0]);
        assert_eq!(notes("intervalVariability=\"constant\" intervalDecimal=\"0.007\"", ""), [""; 0]);
    }

    #[test]
    fn the_start_of_the_run_moves_both_grids() {
        let rig = "[rig]\nstart_time = 0.005\n";
        let on = "intervalVariability=\"constant\" intervalDecimal=\"0.02\" shiftDecimal=\"0.012\" clocks=\"1\"";
        assert_eq!(notes(on, rig).len(), 0);
        let at = |time: &str| format!("{rig}[[trigger]]\nclock = \"a.inner\"\nat = [{time}]\n");
        assert_eq!(notes("intervalVariability=\"triggered\" clocks=\"1\"", &at("0.007")).len(), 0);
        assert_eq!(notes("intervalVariability=\"triggered\" clocks=\"1\"", &at("0.012")).len(), 1);
    }

    #[test]
    fn the_note_names_the_clock_and_what_it_belongs_to() {
        let note = &notes("intervalVariability=\"changing\" clocks=\"1 2\"", "")[0];
        assert!(note.starts_with("a.inner belongs to base, other (attribute clocks), without which"), "{note}");
    }
}
