//! `trends.html`: figures of many runs, one figure for each clock and metric. Made like `report.html`, and as self-contained.

use super::figure::{Drawing, captioned, entry, legend};
use super::names::{breakable, name};
use super::page::{header, page, verdict};
use super::table::{Table, cells, html};
use crate::Statistics;
use crate::chart::{Axis, AxisTick, Chart, Frame, Path};
use crate::format::{count, duration, plural, short_duration};
use crate::trends::{TrendClock, TrendPoint, TrendRun, Trends};

/// Clocks that are drawn; all have their figures in the JSON.
const DRAWN: usize = 60;
/// With more runs, only the longest value of each line has a mark.
const MARKED: usize = 30;

/// A line of a figure.
type Line = (&'static str, fn(&Statistics) -> u64);
/// The lines of each figure.
const LINES: [Line; 4] =
    [("p50", |own| own.p50), ("p99", |own| own.p99), ("p99.9", |own| own.p99_9), ("max", |own| own.max)];

/// A metric of the figures: its title, its explanation, its figures in a run, and the limit on its maximum.
struct Metric {
    title: &'static str,
    sentence: &'static str,
    figures: fn(&TrendPoint) -> Option<Statistics>,
    limit: fn(&TrendPoint) -> Option<u64>,
}

const METRICS: [Metric; 3] = [
    Metric {
        title: "Start latency",
        sentence: "From the release to the first call into the FMU; red dashes are the limit of the rig.",
        figures: |point| point.start_latency,
        limit: |point| point.max_latency,
    },
    Metric {
        title: "Response",
        sentence: "From the release to the last result.",
        figures: |point| point.response,
        limit: |_| None,
    },
    Metric {
        title: "Execution",
        sentence: "From the first call to the last result, less the time in which other partitions ran.",
        figures: |point| point.execution,
        limit: |_| None,
    },
];

/// The trends as a page.
pub fn trends_html(trends: &Trends) -> String {
    let rig = trends.runs.first().map_or("", |run| run.rig.as_str());
    let number = plural(trends.runs.len() as u64, "run");
    let clocks = plural(trends.clocks.len() as u64, "clock");
    let mut body = header("Trends", rig, &[format!("{number} · {clocks}")]);
    body += &outcome(&trends.runs);
    let sections: String = trends.clocks.iter().take(DRAWN).map(|clock| section(clock, &trends.runs)).collect();
    if sections.is_empty() {
        body += "<p class=\"note\">There is nothing to be drawn: these runs have measured no times, as in virtual time.</p>\n";
    }
    body += &sections;
    if trends.clocks.len() > DRAWN {
        let more = plural((trends.clocks.len() - DRAWN) as u64, "more clock");
        body += &format!("<p class=\"note\">{more}: <code>vecud report --json</code> has all of them.</p>\n");
    }
    body += &table(&trends.runs);
    page(&format!("{rig} – vecud trends"), &body, env!("CARGO_PKG_VERSION"))
}

fn outcome(runs: &[TrendRun]) -> String {
    let failed = runs.iter().filter(|run| !run.passed()).count() as u64;
    let all = plural(runs.len() as u64, "run");
    match failed {
        0 => verdict("pass", "✓", "All passed", "No run failed or exceeded a limit of its rig."),
        _ => {
            let sentence = format!("{} of {all} failed; the figures mark them.", count(failed));
            verdict("fail", "✕", "Not all passed", &sentence)
        }
    }
}

fn section(clock: &TrendClock, runs: &[TrendRun]) -> String {
    let missing = clock.points.iter().filter(|point| point.is_none()).count() as u64;
    let missing = match missing {
        0 => String::new(),
        _ => format!("<p class=\"note\">Not in {}.</p>\n", plural(missing, "run")),
    };
    let figures: String = METRICS.iter().filter_map(|metric| figure(metric, clock, runs)).collect();
    if figures.is_empty() {
        return String::new();
    }
    format!(
        "<section>\n<h2>{}</h2>\n{missing}<div class=\"quad\">\n{figures}</div>\n</section>\n",
        name(&clock.fmu, &clock.clock)
    )
}

/// The figure of a metric; `None`: no run has measured it.
fn figure(metric: &Metric, clock: &TrendClock, runs: &[TrendRun]) -> Option<String> {
    let points: Vec<Option<Statistics>> =
        clock.points.iter().map(|point| point.as_ref().and_then(metric.figures)).collect();
    let last = points.iter().flatten().last()?;
    let limits: Vec<Option<u64>> = clock.points.iter().map(|point| point.as_ref().and_then(metric.limit)).collect();
    let drawing = draw(&points, &limits, runs, Frame::MEDIUM.with_two_lines());
    let entries = LINES.iter().enumerate().map(|(style, (name, value))| {
        let last = format!("last {}", duration(value(last)));
        entry(style, name, Some(last))
    });
    Some(captioned(metric.title, metric.sentence, &drawing, &legend(entries)))
}

/// Draws the lines: a run after the other to the right, gaps where a run has nothing.
fn draw(points: &[Option<Statistics>], limits: &[Option<u64>], runs: &[TrendRun], frame: Frame) -> Drawing {
    let highest = limits.iter().flatten().copied().max().unwrap_or(0) as f64;
    let max = points.iter().flatten().map(|own| own.max).max().unwrap_or(0).max(1000) as f64;
    let mut medians: Vec<u64> = points.iter().flatten().map(|own| own.p50).collect();
    medians.sort_unstable();
    let usual = medians.get(medians.len() / 2).copied().unwrap_or(0) as f64;
    // A limit is part of the picture, unless all of it would lie at the bottom then. The words on a limit have room above it.
    let linear = 1.15 * if highest < max * 2.5 { max.max(highest) } else { max };
    let least = medians.first().copied().unwrap_or(1);
    let upwards = Axis::latencies([max.max(highest), usual], [linear, 2.0 * max.max(highest)], least, [5, 9]);
    let title = if upwards.is_log() { "logarithmic" } else { "" };
    let every = runs.len().div_ceil(frame.labels).max(1);
    let numbers = (0..runs.len()).step_by(every);
    let ticks =
        numbers.map(|run| AxisTick { at: run as f64, label: (run + 1).to_string(), below: day(&runs[run]) }).collect();
    // Half a step of room at both ends.
    let to_the_right = Axis { ticks, ..Axis::bare(-0.5, runs.len().max(1) as f64 - 0.5) };
    let mut chart = Chart::new(frame, &to_the_right, &upwards.titled(title));
    for (run, failed) in runs.iter().enumerate().filter(|(_, run)| !run.passed()) {
        let title = format!("run {} failed: {}", run + 1, failed.name);
        let (x, top, bottom) = (chart.x(run as f64), frame.y(1.0), frame.y(0.0));
        chart.path("failed", format_args!("M{x:.1} {top:.1}V{bottom:.1}"), &title);
        chart.text("mid limit-label", x, top - 3.0, "✕");
    }
    let is_drawn = |limit: &u64| chart.is_within(*limit as f64);
    let drawn: Vec<Option<u64>> = limits.iter().map(|limit| limit.filter(is_drawn)).collect();
    let mut before = None;
    for (run, limit) in drawn.iter().enumerate() {
        if let Some(limit) = *limit {
            let (from, to, y) = (chart.x(run as f64 - 0.5), chart.x(run as f64 + 0.5), chart.y(limit as f64));
            chart.path("limit", format_args!("M{from:.1} {y:.1}H{to:.1}"), "");
            if before != Some(limit) {
                chart.text("limit-label", from + 4.0, y - 5.0, &format!("limit {}", short_duration(limit)));
            }
        }
        // A run without the clock does not change the limit.
        before = limits[run].or(before);
    }
    for (style, (name, value)) in LINES.iter().enumerate() {
        let mut path = Path::default();
        for (run, own) in points.iter().enumerate() {
            match own {
                Some(own) => path.to(chart.x(run as f64), chart.y(value(own) as f64)),
                None => path.lift(),
            }
        }
        chart.line(style, &path, name);
        let there = || points.iter().enumerate().filter_map(|(run, own)| Some((run, value(own.as_ref()?))));
        let longest = there().max_by_key(|(_, value)| *value);
        for (run, value) in there().filter(|own| points.len() <= MARKED || Some(*own) == longest) {
            chart.mark(style, run as f64, value as f64);
        }
    }
    let note = format!("The limit lies above this axis: {}.", short_duration(highest as u64));
    let notes = if chart.is_within(highest) { Vec::new() } else { vec![note] };
    let label = format!("p50, p99, p99.9 and maximum of {}", plural(points.len() as u64, "run"));
    Drawing { svg: chart.svg(&label), notes }
}

/// Month, day and time at which a run started: `03-01 09:30`.
fn day(run: &TrendRun) -> String {
    run.started.get(5..16).map(|time| time.replace('T', " ")).unwrap_or_default()
}

/// The table of all runs.
fn table(runs: &[TrendRun]) -> String {
    let row = |(number, run): (usize, &TrendRun)| {
        let verdict = match (run.passed(), run.ended) {
            (true, _) => html("passed".to_owned()),
            (false, "finished") => html("<em class=\"bad\">failed</em>".to_owned()),
            (false, _) => html("<em class=\"bad\">not ended</em>".to_owned()),
        };
        let problems = match run.problems.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            [first, others @ ..] => format!("{first} (and {} more)", count(others.len() as u64)),
        };
        let time = if run.mode == "virtual" { "virtual" } else { "real" };
        let [name, rig] = [&run.name, &run.rig].map(|name| html(breakable(name)));
        cells![number + 1, name, rig, run.started.as_str(), time, verdict, problems]
    };
    format!(
        "<section>\n<h2>The runs</h2>\n<p>In the order in which they were given. Latencies belong to a machine as much as to a program: \
         compare those of the same machine.</p>\n{}</section>\n",
        Table::new("Run|Name|Rig|Started|Time|Verdict|Problems").rows(runs.iter().enumerate().map(row))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Problem, ReportFile, Severity, json, sample, trends};

    fn of(change: impl Fn(usize, &mut crate::Run), runs: usize) -> String {
        let runs: Vec<(String, ReportFile)> = (0..runs)
            .map(|number| {
                let mut run = sample(number as u64);
                change(number, &mut run);
                (format!("nightly/{number}"), ReportFile::parse(&json(&run)).unwrap())
            })
            .collect();
        trends_html(&trends(&runs))
    }

    #[test]
    fn each_clock_has_its_figures_and_failed_runs_are_marked() {
        let page = of(
            |number, run| {
                run.clocks[0].max_latency = Some(30_000);
                if number == 2 {
                    run.problems = vec![Problem::other(Severity::Failure, "it <crashed>")];
                    run.clocks.remove(0);
                }
            },
            5,
        );
        assert_eq!(page.matches("<figure>").count(), 7 * 3);
        assert_eq!(page.matches("class=\"failed\"").count(), 7 * 3, "one run in each figure");
        assert!(page.contains("run 3 failed: nightly/2") && page.contains("it &lt;crashed&gt;"), "named and escaped");
        assert_eq!(page.matches("limit 30 µs").count(), 1, "a limit that stays has one word");
        assert_eq!(page.matches("Not in 1 run.").count(), 1);
        assert!(page.contains("1 of 5 runs failed") && !page.contains("NaN"));
    }

    #[test]
    fn a_gap_is_no_line() {
        let figures = |max| Some(Statistics { count: 1, p50: max, p99: max, p99_9: max, max, ..Statistics::default() });
        let runs = of(|_, _| {}, 1);
        assert!(runs.contains("1 run ·"), "one run is drawn, too");
        let run = TrendRun {
            name: "a".into(),
            rig: "a".into(),
            version: String::new(),
            started: String::new(),
            mode: "realtime",
            verdict: "pass",
            ended: "finished",
            problems: vec![],
        };
        let runs = vec![run; 4];
        let svg = draw(&[figures(1000), None, figures(2000), figures(3000)], &[None; 4], &runs, Frame::MEDIUM).svg;
        let line = svg.split("class=\"line s0\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 1), "{line}");
    }
}
