//! Many runs of a rig: how the figures of each clock go from run to run (nightly builds, a machine that is changed step by step).
//!
//! Runs have the order in which they are given; clocks that of the first run that has them. What a run has not measured (a clock that it
//! lacks, latencies in virtual time) is a gap, never a zero.

use super::words::Word;
use super::{ClockResult, Distribution, ReportFile, Run, Statistics, passed};
use serde::Serialize;

/// The version of the format of `vecud report A B C --json`; see [`super::FORMAT_VERSION`].
const FORMAT_VERSION: u64 = 1;

/// Runs in their order, and the clocks that any run has.
#[derive(Clone, Debug, Serialize)]
pub struct Trends {
    format_version: u64,
    /// The runs.
    pub runs: Vec<TrendRun>,
    /// The clocks.
    pub clocks: Vec<TrendClock>,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct TrendRun {
    /// The name that the user gave.
    pub name: String,
    /// Name of its rig.
    pub rig: String,
    /// Version of vecud.
    pub version: String,
    /// Start of the run: RFC 3339, UTC; empty: it never started.
    pub started: String,
    /// Mode of the run, as in `report.json`.
    pub mode: &'static str,
    /// `pass` or `fail`.
    pub verdict: &'static str,
    /// Whether it has ended, as in `report.json`.
    pub ended: &'static str,
    /// Problems, most important first.
    pub problems: Vec<String>,
}

impl TrendRun {
    /// Whether it did what it should.
    pub fn passed(&self) -> bool {
        self.verdict == "pass"
    }
}

/// A clock in all runs.
#[derive(Clone, Debug, Serialize)]
pub struct TrendClock {
    /// Name of the instance in the rig.
    pub fmu: String,
    /// Name of the clock.
    pub clock: String,
    /// The clock's values in each run, in the order of the runs; `None`: the run has no such clock.
    pub points: Vec<Option<TrendPoint>>,
}

/// A clock in one run; times in ns. `None`: nothing was measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TrendPoint {
    /// Activations that ran.
    pub activations: u64,
    /// Releases or ticks that found the clock still busy.
    pub overruns: u64,
    /// Limit of the rig on the start latency.
    pub max_latency: Option<u64>,
    /// Release → first FMI call.
    pub start_latency: Option<Statistics>,
    /// First FMI call → last get done, less preemption.
    pub execution: Option<Statistics>,
    /// Release → last get done.
    pub response: Option<Statistics>,
}

/// Puts runs, each with the name that its user gave it, beside each other.
pub fn trends(runs: &[(String, ReportFile)]) -> Trends {
    let mut clocks: Vec<TrendClock> = Vec::new();
    for (place, (_, ReportFile { run, .. })) in runs.iter().enumerate() {
        for own in &run.clocks {
            let known = clocks.iter().position(|clock| clock.fmu == own.fmu && clock.clock == own.clock);
            let known = known.unwrap_or_else(|| {
                let points = vec![None; runs.len()];
                clocks.push(TrendClock { fmu: own.fmu.clone(), clock: own.clock.clone(), points });
                clocks.len() - 1
            });
            clocks[known].points[place] = Some(point(own));
        }
    }
    let runs = runs.iter().map(|(name, ReportFile { run, .. })| of(name, run)).collect();
    Trends { format_version: FORMAT_VERSION, runs, clocks }
}

fn of(name: &str, run: &Run) -> TrendRun {
    TrendRun {
        name: name.to_owned(),
        rig: run.rig.clone(),
        version: run.version.clone(),
        started: run.started.clone(),
        mode: run.mode.word(),
        verdict: if passed(run) { "pass" } else { "fail" },
        ended: run.ended.word(),
        problems: run.problems.iter().map(super::Problem::message).collect(),
    }
}

fn point(clock: &ClockResult) -> TrendPoint {
    let figures = |values: &Distribution| (!values.is_empty()).then_some(values.figures);
    TrendPoint {
        activations: clock.activations,
        overruns: clock.overruns,
        max_latency: clock.max_latency,
        start_latency: figures(&clock.start_latency),
        execution: figures(&clock.execution),
        response: figures(&clock.response),
    }
}

/// The trends as JSON, pretty-printed.
pub fn trends_json(trends: &Trends) -> String {
    serde_json::to_string_pretty(trends).expect("strings, numbers and lists") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::{Severity, json, sample};
    use super::*;
    use vecud_plan::Mode;

    #[test]
    fn a_clock_is_the_same_in_all_runs_and_what_a_run_lacks_is_a_gap() {
        let (one, mut two, mut three) = (sample(1), sample(2), sample(3));
        two.clocks.remove(0);
        two.problems = vec![super::super::Problem::other(Severity::Limit, "late")];
        three.clocks.reverse();
        three.clocks[0].fmu = "new".into();
        three.mode = Mode::Virtual;
        three.clocks[1].start_latency = Distribution::default();
        let max = three.clocks[6].response.max();
        let runs = [one, two, three].map(|run| ("r".to_owned(), ReportFile::parse(&json(&run)).unwrap()));
        let trends = trends(&runs);
        assert_eq!(trends.runs.iter().map(TrendRun::passed).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!((trends.runs[1].problems.len(), trends.runs[2].mode), (1, "virtual"));
        assert_eq!(trends.clocks.len(), 8);
        let there = |clock: usize| trends.clocks[clock].points.iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!([there(0), there(6), there(7)], [[true, false, true], [true, true, false], [false, false, true]]);
        assert_eq!(trends.clocks[0].points[2].unwrap().response.unwrap().max, max);
        assert!(trends.clocks[5].points[2].unwrap().start_latency.is_none(), "nothing measured is no zero");
    }
}
