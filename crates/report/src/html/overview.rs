//! The whole run on one page: a few numbers, all clocks in a table, the latency that the machine gave, the machine.

use super::clocks::{cells, share_of_interval};
use super::figure::{Series, figure, wide_and_narrow};
use super::histogram::histogram;
use super::names::{breakable, name};
use super::selection::Selection;
use super::table::{Table, html, number};
use super::{machine, tiles};
use crate::chart::{BASELINE, Frame};
use crate::format::{cores, count};
use crate::steps::tasks;
use crate::{ClockResult, ProbeResult, Run};
use vecud_plan::Mode;

/// More clocks than that make no table that anybody reads.
const ROWS: usize = 100;

/// The section.
pub fn overview(run: &Run) -> String {
    let mut out = String::from("<section id=\"overview\">\n<h2>Overview</h2>\n");
    out += &tiles::tiles(run);
    out += &table(run);
    out += &latency(run);
    out += "</section>\n";
    out + &machine::machine(run)
}

/// The table of all clocks, or of those with the most problems.
fn table(run: &Run) -> String {
    if run.clocks.is_empty() {
        return "<p>No clock was activated.</p>\n".to_owned();
    }
    let real_time = run.mode == Mode::RealTime;
    let mut clocks: Vec<&ClockResult> = run.clocks.iter().collect();
    let steps = if run.has_steps() { ", and per FMU that makes steps" } else { "" };
    let mut sentence = format!("One line per input clock{steps}, the most urgent first.");
    if clocks.len() > ROWS {
        clocks.sort_by_key(|clock| std::cmp::Reverse((clock.overruns, clock.start_latency.max(), clock.activations)));
        clocks.truncate(ROWS);
        let all = tasks(&run.clocks);
        sentence = format!(
            "Of {all} the {ROWS} with the most overruns and the longest start latencies, these first. The pages of the FMUs \
             have all."
        );
    }
    if real_time {
        sentence += " Times in µs: wake-up says how late the machine woke it, without the time in which more urgent partitions of \
                     the rig had the core; start latency how late it began, that time included; execution how long its code took, response \
                     when its results were there. Beyond 100 % of its interval the next activation was already due.";
    }
    let (groups, figures): (&[(&str, usize)], _) = match real_time {
        true => (
            &[("", 3), ("Number of", 2), ("Wake-up", 2), ("Start", 2), ("Execution", 2), ("Response", 2)],
            "|>p99|#max".repeat(3) + "|>max|#of interval",
        ),
        false => (&[], String::new()),
    };
    let columns = format!("Clock|Activated by|#Core|>activations|#overruns{figures}");
    let table = Table::grouped("clocks", groups, &columns).rows(clocks.iter().map(|clock| {
        let mut row = vec![html(name(&clock.fmu, &clock.clock)), html(breakable(&clock.activated_by))];
        row.extend([clock.cpu.into(), clock.activations.into(), number(clock.overruns, "alarm")]);
        if real_time {
            row.extend(cells(clock.wakeup_machine(), &[0.99], None));
            row.extend(cells(&clock.start_latency, &[0.99], clock.max_latency));
            row.extend(cells(&clock.execution, &[0.99], None));
            row.extend(cells(&clock.response, &[], None));
            row.push(share_of_interval(clock));
        }
        row
    }));
    let mut out = format!("<h3>Clocks</h3>\n<p>{sentence}</p>\n{table}");
    let discarded: u64 = run.clocks.iter().map(|clock| clock.discarded).sum();
    if discarded > 0 {
        let number =
            if discarded == 1 { "1 release or tick" } else { &format!("{} releases and ticks", count(discarded)) };
        out += &format!("<p class=\"note\">When the run ended, {number} had not begun or not returned.</p>\n");
    }
    out
}

/// The latencies of the machine for all clocks.
fn latency(run: &Run) -> String {
    if run.mode == Mode::Virtual {
        return "<h3>Latency</h3>\n<p>There are no latencies: in virtual time nothing waits for a clock on the wall. \
                Activations follow one another as fast as the machine allows, each at exactly its nominal time. Run the rig \
                with <code>--mode realtime</code> to measure latencies.</p>\n"
            .to_owned();
    }
    let all: Vec<&ClockResult> = run.clocks.iter().collect();
    let selection = Selection::of(run, &all, usize::MAX);
    let mut series = selection.series(|clock| clock.wakeup_machine(), |_| None, true);
    if series.is_empty() {
        return "<p>No latency was measured: no clock was activated.</p>\n".to_owned();
    }
    let probe = run.host.doctor.as_ref().and_then(|doctor| doctor.probe.as_ref());
    series.extend(probe.map(baseline));
    let dotted = match probe {
        Some(probe) => format!(
            " The dotted line is the machine without any FMU, as <code>vecud doctor</code> measured it last on {}.",
            named(&probe.cpus)
        ),
        None => String::new(),
    };
    let mut drawing = wide_and_narrow(Frame::LARGE, Frame::NARROW, |frame| histogram(&series, frame));
    drawing.notes.extend(selection.note(|clock| clock.wakeup_machine()));
    let sentence =
        "How late the kernel woke each thread, without the time in which more urgent partitions of the rig had its core: to the right the latency, upwards how often (each grid line is ten times more). \
         Read the right end of each line: the mark there is the worst case, which the legend names. This is what cyclictest \
         measures."
            .to_owned();
    figure("Wake-up latency, the machine’s part", &(sentence + &dotted), &drawing, &series)
}

/// The machine alone.
fn baseline(probe: &ProbeResult) -> Series<'_> {
    let day = probe.measured.get(..10).unwrap_or(&probe.measured);
    let thread = probe.fifo_priority.map_or("ordinary threads".to_owned(), |priority| format!("FIFO {priority}"));
    let name = format!("doctor’s probe, {day}, {thread}");
    Series { name, style: BASELINE, histogram: &probe.latency, limit: None }
}

/// `core 2`, `cores 2, 3`
fn named(cpus: &[usize]) -> String {
    format!("core{} {}", if cpus.len() == 1 { "" } else { "s" }, cores(cpus))
}
