//! `trends.html`: figures of many runs, one figure for each clock and metric. Made like `report.html`, and as self-contained.

use super::figure::{Drawing, captioned, key};
use super::svg::{Frame, Scale, class, duration_ticks, log_duration_ticks, marker};
use super::{breakable, escape, name, page};
use crate::Statistics;
use crate::format::{count, duration, plural, short_duration};
use crate::trends::{TrendClock, TrendPoint, TrendRun, Trends};
use std::fmt::Write;

/// Beyond this ratio of the longest to the usual value, the y axis is logarithmic.
const STEEP: f64 = 12.0;
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
    let mut body = format!("<header id=\"top\">\n<p class=\"eyebrow\">Trends</p>\n<h1>{}</h1>\n", escape(rig));
    let clocks = plural(trends.clocks.len() as u64, "clock");
    body += &format!("<p class=\"lead\">{number} · {clocks}</p>\n</header>\n");
    body += &verdict(&trends.runs);
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

fn verdict(runs: &[TrendRun]) -> String {
    let failed = runs.iter().filter(|run| !run.passed()).count() as u64;
    let (class, mark, word, sentence) = match failed {
        0 => ("pass", "✓", "All passed", "No run failed or exceeded a limit of its rig.".to_owned()),
        _ => {
            let sentence =
                format!("{} of {} failed; the figures mark them.", count(failed), plural(runs.len() as u64, "run"));
            ("fail", "✕", "Not all passed", sentence)
        }
    };
    format!(
        "<section class=\"verdict {class}\">\n<span class=\"badge\" aria-hidden=\"true\">{mark}</span>\n\
         <div><h2>{word}</h2><p>{sentence}</p></div>\n</section>\n"
    )
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
    let item = |(style, (name, value)): (usize, &Line)| {
        format!("<li class=\"k{style}\">{}<span>{name}</span><b>last {}</b></li>\n", key(style), duration(value(last)))
    };
    let items: String = LINES.iter().enumerate().map(item).collect();
    let legend = format!("<ul class=\"legend\">\n{items}</ul>\n");
    Some(captioned(metric.title, metric.sentence, &drawing, &legend))
}

/// Draws the lines: a run after the other to the right, gaps where a run has nothing.
fn draw(points: &[Option<Statistics>], limits: &[Option<u64>], runs: &[TrendRun], frame: Frame) -> Drawing {
    let highest = limits.iter().flatten().copied().max().unwrap_or(0);
    let max = points.iter().flatten().map(|own| own.max).max().unwrap_or(0).max(1000) as f64;
    let mut medians: Vec<u64> = points.iter().flatten().map(|own| own.p50).collect();
    medians.sort_unstable();
    let usual = medians.get(medians.len() / 2).copied().unwrap_or(0).max(1) as f64;
    let is_log = max.max(highest as f64) > usual * STEEP;
    // A limit is part of the picture, unless all of it would lie at the bottom then.
    let top = if is_log || (highest as f64) < max * 2.5 { max.max(highest as f64) } else { max };
    // The words on a limit have room above it.
    let top = if is_log { top * 2.0 } else { top * 1.15 };
    let (ys, y_ticks, title) = if is_log {
        let least = medians.first().copied().unwrap_or(1).max(100) as f64;
        let bottom = 10f64.powf(least.log10().floor());
        (Scale::Log { min: bottom, max: top }, log_duration_ticks(bottom, top, 9), "logarithmic")
    } else {
        let scale = Scale::Linear { max: top };
        (scale, duration_ticks(top, 5, scale), "")
    };
    // Half a step of room at both ends.
    let share = |run: usize| (run as f64 + 0.5) / runs.len().max(1) as f64;
    let every = runs.len().div_ceil(frame.labels).max(1);
    let ticks: Vec<_> =
        (0..runs.len()).step_by(every).map(|run| (share(run), (run + 1).to_string(), day(&runs[run]))).collect();
    let mut out = frame.x_axis(&ticks);
    out += &frame.y_axis(&y_ticks, title);
    for (run, _) in runs.iter().enumerate().filter(|(_, run)| !run.passed()) {
        let (x, top, bottom) = (frame.x(share(run)), frame.y(1.0), frame.y(0.0));
        let title = escape(&format!("run {} failed: {}", run + 1, runs[run].name));
        let _ =
            writeln!(out, "<path class=\"failed\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"><title>{title}</title></path>");
        let _ = writeln!(out, "<text class=\"mid limit-label\" x=\"{x:.1}\" y=\"{:.1}\">✕</text>", top - 3.0);
    }
    let half = 0.5 / runs.len().max(1) as f64;
    let mut before = None;
    for (run, limit) in limits.iter().enumerate() {
        if let Some(limit) = limit.filter(|limit| *limit as f64 <= top) {
            let (from, to) = (frame.x(share(run) - half), frame.x(share(run) + half));
            let y = frame.y(ys.share(limit as f64));
            let _ = writeln!(out, "<path class=\"limit\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>");
            if before != Some(limit) {
                let (x, y, text) = (from + 4.0, y - 5.0, short_duration(limit));
                let _ = writeln!(out, "<text class=\"limit-label\" x=\"{x:.1}\" y=\"{y:.1}\">limit {text}</text>");
            }
        }
        // A run without the clock does not change the limit.
        before = limit.or(before);
    }
    for (style, (name, value)) in LINES.iter().enumerate() {
        let at = |run: usize, own: &Statistics| (frame.x(share(run)), frame.y(ys.share(value(own) as f64)));
        let (mut path, mut marks, mut connected) = (String::new(), String::new(), false);
        for (run, own) in points.iter().enumerate() {
            if let Some(own) = own {
                let (x, y) = at(run, own);
                let _ = write!(path, "{}{x:.1} {y:.1}", if connected { 'L' } else { 'M' });
                if points.len() <= MARKED {
                    marks += &marker(style, x, y);
                }
            }
            connected = own.is_some();
        }
        let longest = points.iter().enumerate().filter_map(|(run, own)| Some((run, own.as_ref()?)));
        if let Some((run, own)) = longest.max_by_key(|(_, own)| value(own)).filter(|_| points.len() > MARKED) {
            let (x, y) = at(run, own);
            marks += &marker(style, x, y);
        }
        let _ =
            writeln!(out, "<path class=\"line {}\" d=\"{path}\"><title>{name}</title></path>\n{marks}", class(style));
    }
    let notes = match highest as f64 > top {
        true => vec![format!("The limit lies above this axis: {}.", short_duration(highest))],
        false => Vec::new(),
    };
    let label = format!("p50, p99, p99.9 and maximum of {}", plural(points.len() as u64, "run"));
    Drawing { svg: frame.svg(&label, &out), notes }
}

/// Month, day and time at which a run started: `03-01 09:30`.
fn day(run: &TrendRun) -> String {
    run.started.get(5..16).map(|time| escape(&time.replace('T', " "))).unwrap_or_default()
}

/// All runs.
fn table(runs: &[TrendRun]) -> String {
    let row = |(number, run): (usize, &TrendRun)| {
        let verdict = match (run.passed(), run.ended) {
            (true, _) => "passed",
            (false, "finished") => "<em class=\"bad\">failed</em>",
            (false, _) => "<em class=\"bad\">not ended</em>",
        };
        let problems = match run.problems.as_slice() {
            [] => String::new(),
            [one] => escape(one),
            [first, others @ ..] => format!("{} (and {} more)", escape(first), count(others.len() as u64)),
        };
        let time = if run.mode == "virtual" { "virtual" } else { "real" };
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{time}</td><td>{verdict}</td><td>{problems}</td></tr>\n",
            number + 1,
            breakable(&run.name),
            breakable(&run.rig),
            escape(&run.started)
        )
    };
    let rows: String = runs.iter().enumerate().map(row).collect();
    format!(
        "<section>\n<h2>The runs</h2>\n<p>In the order in which they were given. Latencies belong to a machine as much as to a program: \
         compare those of the same machine.</p>\n<div class=\"scroll\"><table>\n<thead><tr><th>Run</th><th>Name</th><th>Rig</th>\
         <th>Started</th><th>Time</th><th>Verdict</th><th>Problems</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n\
         </section>\n"
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
                    run.problems = vec![Problem::told(Severity::Failure, "it <crashed>", &[], &[])];
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
