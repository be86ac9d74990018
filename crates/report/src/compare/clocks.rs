//! The clocks of two runs: figures and their ratios.
//!
//! Only figures that mean something in both runs are compared: in virtual time nothing is late, so against it only the
//! execution is. p50 and p99 of the latencies and of the response are judged; not the jitter, whose median is mostly noise,
//! nor the maximum, which a single disturbance decides. p99 counts from [`ENOUGH`] values on.

use crate::{ClockResult, Distribution, ReportFile, Run};
use vecud_plan::Mode;

/// With fewer values, p99 is the maximum.
const ENOUGH: u64 = 100;

/// A clock of both runs.
#[derive(Clone, Debug)]
pub struct ClockComparison {
    /// Name of the instance in the rig.
    pub fmu: String,
    /// Name of the clock.
    pub clock: String,
    /// Counts: name, and the numbers of both runs.
    pub counts: Vec<(&'static str, [u64; 2])>,
    /// Metrics that both runs have.
    pub metrics: Vec<ComparedMetric>,
}

/// One metric of a clock in both runs.
#[derive(Clone, Debug)]
pub struct ComparedMetric {
    /// For people.
    pub name: &'static str,
    /// p50, p99, p99.9 and max of both, ns.
    pub figures: [[u64; 2]; 4],
    counts: [u64; 2],
    judged: bool,
}

/// The names of [`ComparedMetric::figures`].
pub const FIGURES: [&str; 4] = ["p50", "p99", "p99.9", "max"];

impl ComparedMetric {
    /// The first over the second; `None`: both are 0.
    pub fn ratio(&self, figure: usize) -> Option<f64> {
        let [a, b] = self.figures[figure].map(|value| value as f64);
        (a > 0.0 || b > 0.0).then_some(a / b)
    }

    /// The figures that a limit on ratios applies to.
    fn judged(&self) -> impl Iterator<Item = usize> {
        let enough = self.counts.iter().all(|count| *count >= ENOUGH);
        (0..2).filter(move |figure| self.judged && (*figure == 0 || enough))
    }
}

/// The clocks of two runs.
#[derive(Clone, Debug)]
pub struct ClocksComparison {
    /// The clocks that both runs have, in the order of the run.
    pub common: Vec<ClockComparison>,
    /// The clocks that only one of the runs has, as `<fmu>.<clock>`.
    pub only: [Vec<String>; 2],
    /// Whether one of the runs was in virtual time.
    pub no_latencies: bool,
}

/// Compares the clocks.
pub fn clocks(ReportFile { run: a, .. }: &ReportFile, ReportFile { run: b, .. }: &ReportFile) -> ClocksComparison {
    let virtual_time = |run: &Run| run.mode == Mode::Virtual;
    let no_latencies = virtual_time(a) || virtual_time(b);
    let same = |clock: &ClockResult, other: &ClockResult| clock.fmu == other.fmu && clock.clock == other.clock;
    let partner = |clock: &ClockResult, run: &'_ Run| run.clocks.iter().position(|other| same(clock, other));
    let name = |clock: &ClockResult| format!("{}.{}", clock.fmu, clock.clock);
    let only = |run: &Run, other: &Run| -> Vec<String> {
        run.clocks.iter().filter(|clock| partner(clock, other).is_none()).map(name).collect()
    };
    let common = a.clocks.iter().filter_map(|clock| Some(pair(clock, &b.clocks[partner(clock, b)?], no_latencies)));
    ClocksComparison { common: common.collect(), only: [only(a, b), only(b, a)], no_latencies }
}

fn pair(a: &ClockResult, b: &ClockResult, no_latencies: bool) -> ClockComparison {
    let metric = |name, judged, a: &Distribution, b: &Distribution| {
        let (a, b) = (a.figures, b.figures);
        let figures = [[a.p50, b.p50], [a.p99, b.p99], [a.p99_9, b.p99_9], [a.max, b.max]];
        ComparedMetric { name, figures, counts: [a.count, b.count], judged }
    };
    let mut metrics = vec![metric("execution", false, &a.execution, &b.execution)];
    if !no_latencies {
        metrics.push(metric("response", true, &a.response, &b.response));
        let latencies = [
            metric("wake-up latency", true, &a.wakeup_latency, &b.wakeup_latency),
            metric("start latency", true, &a.start_latency, &b.start_latency),
            metric("start jitter", false, &a.start_jitter, &b.start_jitter),
        ];
        metrics.splice(0..0, latencies);
        if let (Some(a), Some(b)) = (&a.arrival_latency, &b.arrival_latency) {
            metrics.insert(0, metric("arrival latency", true, a, b));
        }
    }
    metrics.retain(|metric| metric.counts.iter().all(|count| *count > 0));
    let counts = vec![
        ("activations", [a.activations, b.activations]),
        ("overruns", [a.overruns, b.overruns]),
        ("skipped", [a.skipped, b.skipped]),
        ("coalesced", [a.coalesced, b.coalesced]),
        ("retimed", [a.retimed, b.retimed]),
        ("discarded", [a.discarded, b.discarded]),
    ];
    ClockComparison { fmu: a.fmu.clone(), clock: a.clock.clone(), counts, metrics }
}

impl ClocksComparison {
    /// Whether there is anything that a limit on ratios is about.
    pub fn can_be_judged(&self) -> bool {
        self.common.iter().flat_map(|clock| &clock.metrics).any(|metric| metric.judged().next().is_some())
    }

    /// Every figure whose ratio is beyond `limit`, the largest first: clock, metric, figure.
    pub fn beyond(&self, limit: f64) -> Vec<(&ClockComparison, &ComparedMetric, usize)> {
        let all = self.common.iter().flat_map(|clock| clock.metrics.iter().map(move |metric| (clock, metric)));
        let figures = all.flat_map(|(clock, metric)| metric.judged().map(move |figure| (clock, metric, figure)));
        let ratio =
            |(_, metric, figure): &(&ClockComparison, &ComparedMetric, usize)| metric.ratio(*figure).unwrap_or(1.0);
        let mut beyond: Vec<_> = figures.filter(|figure| ratio(figure) > limit).collect();
        beyond.sort_by(|one, other| ratio(other).total_cmp(&ratio(one)));
        beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use crate::{Run, json, sample};

    fn of(a: &Run, b: &Run) -> ClocksComparison {
        let read = |run| ReportFile::parse(&json(run)).unwrap();
        clocks(&read(a), &read(b))
    }

    #[test]
    fn a_run_has_the_ratio_1_to_itself() {
        let own = of(&sample(1), &sample(1));
        assert_eq!((own.common.len(), own.only.clone()), (7, [vec![], vec![]]));
        let metrics: Vec<&ComparedMetric> = own.common.iter().flat_map(|clock| &clock.metrics).collect();
        assert_eq!(metrics.len(), 35);
        assert!(metrics.iter().all(|metric| (0..4).all(|figure| metric.ratio(figure).is_none_or(|r| r == 1.0))));
        assert!(own.can_be_judged() && own.beyond(1.0).is_empty());
    }

    #[test]
    fn latencies_beyond_the_limit_are_named_worst_first() {
        let (mut a, mut b) = (sample(1), sample(1));
        b.clocks[3].start_latency = Distribution::of(vec![10_000; 1000]);
        a.clocks[3].start_latency = Distribution::of((0..1000).map(|i| if i < 900 { 15_000 } else { 40_000 }));
        // Of 50 values p99 is the maximum; jitter and execution are not judged.
        b.clocks[4].response = Distribution::of(vec![10_000; 50]);
        a.clocks[4].response = Distribution::of((0..50).map(|i| if i < 49 { 10_000 } else { 90_000 }));
        (a.clocks[5].execution, a.clocks[5].start_jitter) = (Distribution::of([1 << 40]), Distribution::of([1 << 40]));
        let comparison = of(&a, &b);
        let beyond: Vec<_> = comparison
            .beyond(1.2)
            .into_iter()
            .map(|(clock, metric, figure)| (&*clock.clock, metric.name, figure))
            .collect();
        assert_eq!(beyond, [("step", "start latency", 1), ("step", "start latency", 0)]);
        assert!(comparison.beyond(4.1).is_empty());
    }

    #[test]
    fn against_virtual_time_only_the_execution_counts() {
        let mut b = sample(1);
        b.mode = Mode::Virtual;
        b.clocks.remove(0);
        b.clocks[0].clock = "new".into();
        let comparison = of(&sample(1), &b);
        assert!(comparison.no_latencies && !comparison.can_be_judged());
        assert!(comparison.common.iter().all(|clock| clock.metrics.len() == 1 && clock.metrics[0].name == "execution"));
        assert_eq!(comparison.only, [vec!["ecu.crank_isr".to_owned(), "ecu.injection".into()], vec!["ecu.new".into()]]);
    }
}
