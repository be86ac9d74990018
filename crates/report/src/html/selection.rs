//! Selects the clocks that have a line in a figure, with their styles: those that reach furthest, so that a figure of a
//! thousand clocks is as readable, and as small, as one of eight.

use super::figure::{Series, styles};
use crate::chart::COLOURS;
use crate::format::{duration, plural};
use crate::{ClockResult, Run};
use vecud_record::histogram::Histogram;

/// Clocks that have lines, with their styles, and a sentence on the others.
pub struct Selection<'a> {
    pub clocks: Vec<(&'a ClockResult, usize)>,
    left_out: Vec<&'a ClockResult>,
}

impl<'a> Selection<'a> {
    /// The `most` of these clocks that reach furthest, at most [`COLOURS`]. A clock of a small rig has the same style in all
    /// figures of the page.
    pub fn of(run: &'a Run, clocks: &[&'a ClockResult], most: usize) -> Selection<'a> {
        let reach = |clock: &ClockResult| clock.start_latency.max();
        let mut order: Vec<usize> = (0..clocks.len()).collect();
        order.sort_by_key(|&clock| std::cmp::Reverse(reach(clocks[clock])));
        let (shown, left_out) = order.split_at(order.len().min(most).min(COLOURS));
        let mut shown = shown.to_vec();
        shown.sort_unstable();
        let whole = styles(&run.clocks.iter().map(reach).collect::<Vec<_>>());
        let style = |place: usize, clock: &ClockResult| match run.clocks.len() <= COLOURS {
            true => run.clocks.iter().position(|own| std::ptr::eq(own, clock)).map_or(place, |own| whole[own]),
            false => place,
        };
        Selection {
            clocks: shown.iter().enumerate().map(|(place, &own)| (clocks[own], style(place, clocks[own]))).collect(),
            left_out: left_out.iter().map(|&clock| clocks[clock]).collect(),
        }
    }

    /// A line for each clock that has values.
    pub fn series(
        &self,
        histogram: impl Fn(&'a ClockResult) -> &'a Histogram,
        limit: impl Fn(&'a ClockResult) -> Option<u64>,
        with_fmu: bool,
    ) -> Vec<Series<'a>> {
        let clocks = self.clocks.iter().filter(|(clock, _)| histogram(clock).count() > 0);
        let line = |&(clock, style): &(&'a ClockResult, usize)| {
            let name = if with_fmu { format!("{}.{}", clock.fmu, clock.clock) } else { clock.clock.clone() };
            Series { name, style, histogram: histogram(clock), limit: limit(clock) }
        };
        clocks.map(line).collect()
    }

    /// The clocks that satisfy a condition, in the same styles.
    pub fn retain(&self, is: impl Fn(&ClockResult) -> bool) -> Selection<'a> {
        let clocks = self.clocks.iter().copied().filter(|(clock, _)| is(clock)).collect();
        Selection { clocks, left_out: Vec::new() }
    }

    /// Note on the clocks that are not drawn.
    pub fn note(&self, histogram: impl Fn(&ClockResult) -> &Histogram) -> Option<String> {
        // Those that have never run are not missing.
        let left_out = || self.left_out.iter().map(|clock| histogram(clock)).filter(|histogram| histogram.count() > 0);
        let max = left_out().map(Histogram::max).max()?;
        let (shown, others) = (self.clocks.len(), plural(left_out().count() as u64, "further clock"));
        Some(format!(
            "Drawn: the {shown} with the longest start latencies. Not drawn: {others}, max {}.",
            duration(max)
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::html::html;
    use crate::html::tests::all;
    use crate::{Distribution, sample};

    #[test]
    fn clocks_that_have_never_run_are_not_missing_from_a_figure() {
        let mut run = sample(1);
        let ran = run.clocks.iter().find(|clock| clock.start_latency.count() > 0).unwrap().clone();
        let mut never = ran.clone();
        all(&mut never, &Distribution::default());
        run.clocks = (0..20).map(|i| if i < 9 { ran.clone() } else { never.clone() }).collect();
        let page = html(&run);
        assert!(page.contains("Drawn: the 8 with the longest start latencies. Not drawn: 1 further clock, max "));
        assert!(!page.contains("max 0 ns"), "of those that have none");
    }
}
