//! Timelines of the trace: intervals drawn like the figures of papers on scheduling.
//!
//! A lane for each partition, most urgent first. An upward arrow is a release, a block is execution, a pale part of it
//! preemption by a more urgent partition, a line before it the wait; an arrow from lane to lane is a tick.

use super::figure::{Drawing, key, styles, wide_and_narrow};
use crate::chart::{Axis, Chart, Frame, class};
use crate::ellipsis::cut;
use crate::format::{duration, plural, seconds, short_duration};
use crate::markup::escape;
use crate::{ClockResult, KernelTrace, Picture, Run, TraceFile};
use std::fmt::Write;
use vecud_plan::{Mode, TraceMode, UnitId};
use vecud_record::trace::{Activated, InnerSpan, SectionKind, TraceItem};

/// Lanes that fit on a page.
const LANES: usize = 20;
/// Height of a lane, and the additional height if its name stands above it.
const LANE: f64 = 46.0;
const ABOVE: f64 = 18.0;
const BLOCK: f64 = 22.0;
/// Room for the names of the lanes.
const LEFT: f64 = 168.0;
/// Nearer to each other than this, releases are ticks without heads.
const APART: f64 = 12.0;

/// The section on the trace; nothing when nothing was traced.
pub fn section(run: &Run) -> String {
    let trace = &run.trace;
    if trace.pictures.is_empty() && trace.files.is_empty() && trace.kernel.is_none() {
        return String::new();
    }
    let mut out = String::from("<section id=\"trace\">\n<h2>Who ran when</h2>\n");
    if !trace.files.is_empty() {
        let what = match trace.mode {
            Some(TraceMode::All) => "The trace",
            _ => "The last seconds, and those around incidents",
        };
        out += &format!("<p>{what}, to be opened in ui.perfetto.dev:</p>\n<ul class=\"files\">\n");
        trace.files.iter().for_each(|one| out += &file(one));
        out += "</ul>\n";
    }
    out += &trace.kernel.as_ref().map_or(String::new(), |trace| kernel(run, trace));
    for picture in &trace.pictures {
        out += &figure(run, picture);
    }
    out + "</section>\n"
}

/// Describes the kernel's trace.
fn kernel(run: &Run, trace: &KernelTrace) -> String {
    let why = escape(&trace.why);
    let Some(name) = &trace.file else { return format!("<p>The kernel’s own trace: {why}.</p>\n") };
    let instant = |at: i64| format!("{}.{:06}", at / 1_000_000_000, at % 1_000_000_000 / 1000);
    let from_start = |at: i64| seconds((at - run.start_monotonic_ns) as f64 / 1e9);
    let incident = trace.incident_monotonic_ns.map_or(String::new(), |at| {
        format!(", which was at {} by its clock, {} after the start of the run", instant(at), from_start(at))
    });
    let lost = match trace.lost {
        0 => String::new(),
        lost => format!("; {} are missing", plural(lost, "event")),
    };
    format!("<p>The kernel’s own trace is in {}: {why}{incident}{lost}.</p>\n", super::page::file(name))
}

fn file(file: &TraceFile) -> String {
    let seconds = |ns: i64| seconds(ns as f64 / 1e9);
    let (shown, more) = if file.why.len() > 2 { (1, ", and more") } else { (2, "") };
    let why = escape(&file.why.iter().take(shown).cloned().collect::<Vec<_>>().join("; "));
    let (from, to) = (seconds(file.from), seconds(file.to));
    let activations = plural(file.activations, "activation");
    let name = super::page::file(&file.name);
    format!("<li>{name}: {why}{more}; {activations} from {from} to {to}</li>\n")
}

/// A picture with everything that is needed to draw it.
struct Lanes<'r> {
    run: &'r Run,
    picture: &'r Picture,
    /// The units that have lanes, from the top.
    units: &'r [usize],
    styles: &'r [usize],
    /// In virtual time: the factor by which order is drawn wider than in the trace.
    spread: f64,
}

fn figure(run: &Run, picture: &Picture) -> String {
    let clocks: Vec<usize> = (0..run.clocks.len()).filter(|unit| has_something(picture, *unit)).collect();
    let units = &clocks[..clocks.len().min(LANES)];
    if units.is_empty() || picture.to <= picture.from {
        return String::new();
    }
    let wide = Frame { width: 960.0, height: 0.0, left: LEFT, right: 16.0, top: 20.0, bottom: 30.0, labels: 10 };
    let narrow = Frame { width: 340.0, left: 6.0, labels: 4, ..wide };
    let furthest: Vec<u64> = run.clocks.iter().map(|clock| clock.start_latency.max()).collect();
    let spread = if run.mode == Mode::Virtual { spread(picture) } else { 1.0 };
    let lanes = Lanes { run, picture, units, styles: &styles(&furthest), spread };
    let drawing = wide_and_narrow(wide, narrow, |frame| {
        let svg = lanes.draw(frame.with_rows(units.len(), lane_height(&frame)));
        Drawing { svg, notes: Vec::new() }
    });
    let (title, sentence) = lanes.words();
    let left_out = match clocks.len() - units.len() {
        0 => String::new(),
        n => format!("<p class=\"note\">{} less urgent are not shown.</p>\n", plural(n as u64, "clock")),
    };
    format!(
        "<figure>\n<figcaption><h4>{title}</h4><p>{sentence}</p></figcaption>\n<div class=\"plot\">{}</div>\n{left_out}{}</figure>\n",
        drawing.svg,
        lanes.legend()
    )
}

fn lane_height(frame: &Frame) -> f64 {
    LANE + if frame.is_narrow() { ABOVE } else { 0.0 }
}

/// The line on which a lane stands.
fn base(chart: &Chart, lane: usize) -> f64 {
    chart.frame.top + lane_height(&chart.frame) * (lane as f64 + 1.0) - 8.0
}

fn task_of(item: &TraceItem) -> usize {
    match item {
        TraceItem::Activated(activated) => activated.unit.0,
        TraceItem::Ticked { unit, .. } | TraceItem::Armed { unit, .. } | TraceItem::Skipped { unit, .. } => unit.0,
    }
}

fn has_something(picture: &Picture, unit: usize) -> bool {
    picture
        .items
        .iter()
        .any(|item| task_of(item) == unit && !matches!(item, TraceItem::Ticked { .. } | TraceItem::Armed { .. }))
}

fn activations(picture: &Picture) -> impl Iterator<Item = &Activated> {
    picture.items.iter().filter_map(|item| match item {
        TraceItem::Activated(activated) => Some(activated),
        _ => None,
    })
}

/// Factor by which an instant of virtual time is widened, so that its events take at most three fifths of the distance
/// to the next one.
fn spread(picture: &Picture) -> f64 {
    let mut instants: Vec<(i64, i64)> = Vec::new();
    for activated in activations(picture) {
        match instants.last_mut() {
            Some((instant, end)) if *instant == activated.release => *end = activated.end,
            _ => instants.push((activated.release, activated.end)),
        }
    }
    let next = instants.iter().skip(1).map(|(instant, _)| *instant).chain([picture.to]);
    let each = instants
        .iter()
        .zip(next)
        .map(|((instant, end), next)| 0.6 * (next - instant).max(1) as f64 / (end - instant).max(1) as f64);
    each.fold(f64::MAX, f64::min).clamp(1.0, 1e9)
}

/// A time of the run for people, to a tenth of a microsecond at most.
fn time_text(ns: i64) -> String {
    if ns == 0 { "0".to_owned() } else { short_duration(ns.unsigned_abs()) }
}

impl Lanes<'_> {
    fn clock(&self, unit: usize) -> &ClockResult {
        &self.run.clocks[unit]
    }

    fn x(&self, chart: &Chart, at: i64) -> f64 {
        chart.x((at - self.picture.from) as f64)
    }

    /// The place of something that belongs to an instant: in virtual time beside it, by its order.
    fn beside(&self, chart: &Chart, at: i64, instant: i64) -> f64 {
        self.x(chart, instant + ((at - instant) as f64 * self.spread) as i64)
    }

    fn words(&self) -> (String, String) {
        let Picture { from, to, why, .. } = self.picture;
        let length = short_duration((to - from).max(0) as u64);
        let title = match why {
            None => format!("The first {length}"),
            Some(why) => format!("Around an incident: {}", escape(why)),
        };
        let steps = if self.run.has_steps() { ", and for each FMU that makes steps" } else { "" };
        let mut sentence = format!("A lane for each model partition{steps}, the most urgent on top. ");
        sentence += match self.run.mode {
            Mode::RealTime => "A number in a block is the activation time, however late the block begins.",
            Mode::Virtual => {
                "In virtual time activations take no time; what happens at one instant is drawn in its order."
            }
        };
        if *from > 0 {
            sentence += &format!(" 0 is {:.6} s after the start of the run.", *from as f64 / 1e9);
        }
        (title, sentence)
    }

    fn draw(&self, frame: Frame) -> String {
        let times = Axis::durations((self.picture.to - self.picture.from) as f64, frame.labels);
        let mut chart = Chart::new(frame, &times, &Axis::bare(0.0, 1.0));
        for (lane, unit) in self.units.iter().enumerate() {
            self.lane(&mut chart, *unit, lane);
        }
        // Arrows over everything that they cross, and names over the arrows.
        for activated in activations(self.picture) {
            self.arrow(&mut chart, activated);
        }
        for (lane, unit) in self.units.iter().enumerate() {
            self.label(&mut chart, *unit, lane);
        }
        chart.svg(&format!("{} activations on {} lanes", activations(self.picture).count(), self.run.clocks.len()))
    }

    fn lane(&self, chart: &mut Chart, unit: usize, lane: usize) {
        let (base, left, right) = (base(chart, lane), chart.frame.x(0.0), chart.frame.x(1.0));
        chart.path("axis", format_args!("M{left:.1} {base:.1}H{right:.1}"), "");
        let own = || self.picture.items.iter().filter(|item| task_of(item) == unit);
        for item in own() {
            if let TraceItem::Activated(activated) = item {
                self.block(chart, activated, base);
            }
        }
        let mut last = f64::MIN;
        for item in own() {
            match item {
                // The arrow of its tick shows its release.
                TraceItem::Activated(activated) if self.tail(activated).is_none() => {
                    let x = self.x(chart, activated.release);
                    if (left..=right).contains(&x) && self.picture.from <= activated.release {
                        release(chart, x, base, x - last >= APART || last == f64::MIN);
                    }
                    last = x;
                }
                TraceItem::Skipped { release, time, .. } if *release >= self.picture.from => {
                    let (x, y) = (self.x(chart, *release) - 4.5, base - 15.5);
                    let title = format!("release at {} left out", time_text(*time));
                    chart.path("skip", format_args!("M{x:.1} {y:.1}l9 9m0-9l-9 9"), &title);
                }
                _ => (),
            }
        }
    }

    /// The name of a lane, and the source of its clock's activations.
    fn label(&self, chart: &mut Chart, unit: usize, lane: usize) {
        let (base, clock, left) = (base(chart, lane), self.clock(unit), chart.frame.x(0.0));
        let one = self.run.clocks.iter().all(|other| other.fmu == clock.fmu);
        let full = if one { clock.clock.clone() } else { format!("{}.{}", clock.fmu, clock.clock) };
        let below = match clock.interval_s {
            Some(interval) => format!("every {}", short_duration((interval * 1e9) as u64)),
            None => format!("by {}", clock.activated_by),
        };
        let cores = self.run.clocks.iter().any(|other| other.cpu != clock.cpu) && self.run.mode == Mode::RealTime;
        let core = if cores { format!(", core {}", clock.cpu) } else { String::new() };
        let (name, below) = (cut(&full, 23), below + &core);
        if chart.frame.is_narrow() {
            let (y, room) = (base - BLOCK - 14.0, 46 - name.chars().count());
            chart.text("strong over", left, y, &name);
            chart.text("end over", chart.frame.x(1.0), y, &cut(&below, room));
        } else {
            chart.text("end strong", left - 12.0, base - 14.0, &name);
            chart.text("end dim", left - 12.0, base - 1.0, &cut(&below, 27));
        }
    }

    fn block(&self, chart: &mut Chart, activated: &Activated, base: f64) {
        let colour = class(self.styles[activated.unit.0]);
        let is_virtual = self.spread > 1.0;
        let place = |chart: &Chart, at: i64| self.beside(chart, at, if is_virtual { activated.release } else { at });
        let (start, end) = (place(chart, activated.start), place(chart, activated.end));
        let waits = self.x(chart, activated.release.max(self.picture.from));
        let mut widest = (0.0, 0.0);
        chart.group(&self.title(activated), |chart| {
            let bar = |chart: &mut Chart, class: &str, from: f64, to: f64, height: f64, up: f64| {
                chart.bar(class, [from, base - up - height, (to - from).max(0.9), height], "");
            };
            if self.run.mode == Mode::RealTime && start - waits > 0.5 {
                bar(chart, &format!("bar wait {colour}"), waits, start, 4.0, 0.0);
            }
            // What ran lies between what ran instead.
            let mut from = activated.start;
            let gaps = activated.preempted.iter().map(|other| (other.from, other.to));
            for (gap_from, gap_to) in gaps.chain([(activated.end, activated.end)]) {
                let (a, b) = (place(chart, from), place(chart, gap_from));
                // Between two that ran instead there is only the change from one to the other.
                let changes = from > activated.start && gap_to > gap_from && b - a < 2.0;
                bar(chart, &format!("bar {}{colour}", if changes { "off " } else { "" }), a, b, BLOCK, 0.0);
                if b - a > widest.1 - widest.0 {
                    widest = (a, b);
                }
                if gap_to > gap_from {
                    let to = place(chart, gap_to);
                    bar(chart, &format!("bar off {colour}"), b, to, BLOCK, 0.0);
                }
                from = gap_to;
            }
            for InnerSpan { section, from, to } in &activated.inside {
                let (from, to) = (place(chart, *from), place(chart, *to));
                match section {
                    SectionKind::Locked { .. } => bar(chart, "locked", from, to, 5.0, 0.0),
                    SectionKind::Updated => bar(chart, "updated", from, to, 5.0, BLOCK - 5.0),
                }
            }
        });
        let text = if activated.unfinished { "?".to_owned() } else { time_text(activated.time) };
        let (from, to) = widest;
        if to - from > 7.5 * text.chars().count() as f64 + 6.0 && end <= chart.frame.x(1.0) {
            chart.text("mid inside", f64::midpoint(from, to), base - BLOCK / 2.0 + 4.0, &text);
        }
    }

    fn title(&self, activated: &Activated) -> String {
        let clock = self.clock(activated.unit.0);
        let mut title = format!("{}.{} at {}", clock.fmu, clock.clock, time_text(activated.time));
        if self.run.mode == Mode::RealTime {
            let late = (activated.start - activated.release).max(0) as u64;
            let _ =
                write!(title, ": began {} late, ran {}", duration(late), duration(activated.execution.max(0) as u64));
        }
        for other in &activated.preempted {
            let by = self.clock(other.by.0);
            let _ = write!(title, ", {} for {}.{}", duration((other.to - other.from) as u64), by.fmu, by.clock);
        }
        if activated.unfinished {
            title += "; it did not return";
        }
        title
    }

    /// The task that ticked or armed the clock of an activation, and the time.
    fn tail(&self, activated: &Activated) -> Option<(UnitId, i64)> {
        let number = activated.flow?;
        self.picture.items.iter().find_map(|item| match item {
            TraceItem::Ticked { unit, at, flow, .. } | TraceItem::Armed { unit, at, flow, .. } if *flow == number => {
                Some((*unit, *at))
            }
            _ => None,
        })
    }

    fn arrow(&self, chart: &mut Chart, activated: &Activated) {
        let Some((from, at)) = self.tail(activated) else { return };
        let lane = |unit: usize| self.units.iter().position(|own| *own == unit);
        let (Some(from_lane), Some(to_lane)) = (lane(from.0), lane(activated.unit.0)) else { return };
        let is_virtual = self.spread > 1.0;
        // In virtual time to its begin, since everything else is at one instant.
        let source = activations(self.picture)
            .find(|source| source.unit == from && (source.start..=source.end).contains(&at))
            .filter(|_| is_virtual);
        let tail = self.beside(chart, at, source.map_or(at, |source| source.release));
        let start = if is_virtual { activated.start } else { activated.release };
        let head = self.beside(chart, start, activated.release);
        let down = to_lane > from_lane;
        let begin = base(chart, from_lane) - if down { 0.0 } else { BLOCK };
        let end = base(chart, to_lane) - if down { BLOCK } else { 0.0 };
        let middle = f64::midpoint(begin, end);
        let path = match (head - tail).abs() < 1.0 {
            true => format!("M{tail:.1} {begin:.1}V{end:.1}"),
            false => format!("M{tail:.1} {begin:.1}C{tail:.1} {middle:.1} {head:.1} {middle:.1} {head:.1} {end:.1}"),
        };
        chart.path("arrow", path, "");
        let back = if down { -7.0 } else { 7.0 };
        chart.path("head", format_args!("M{head:.1} {end:.1}l-3.6 {back:.1}h7.2Z"), "");
        // A dot where it begins.
        let x = tail - 2.6;
        chart.path("head", format_args!("M{x:.1} {begin:.1}a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0"), "");
    }

    fn legend(&self) -> String {
        let any = |test: &dyn Fn(&TraceItem) -> bool| self.picture.items.iter().any(test);
        let active = |test: &dyn Fn(&Activated) -> bool| activations(self.picture).any(test);
        let inside = |locked: bool| {
            active(&|a| a.inside.iter().any(|i| matches!(i.section, SectionKind::Locked { .. }) == locked))
        };
        let key = |drawing: &str, text: &str| format!("<li>{}<span>{text}</span></li>\n", key(drawing));
        let bar = |class: &str, y: u32, height: u32| {
            format!("<rect class=\"{class}\" x=\"0\" y=\"{y}\" width=\"28\" height=\"{height}\"/>")
        };
        let real_time = self.run.mode == Mode::RealTime;
        let arrow_up = "<path class=\"release\" d=\"M14 12V1\"/><path class=\"release-head\" d=\"M14 -1l-3 6h6Z\"/>";
        let tick = "<path class=\"arrow\" d=\"M2 6H22\"/><path class=\"head\" d=\"M28 6l-7 -3.6v7.2Z\"/>\
                    <circle class=\"head\" cx=\"2\" cy=\"6\" r=\"2.6\"/>";
        let mut out = String::from("<ul class=\"legend gantt\">\n");
        out += &key(arrow_up, "release");
        if real_time {
            out += &key(&bar("bar wait s0", 8, 4), "waits");
        }
        out += &key(&bar("bar s0", 0, 12), "runs");
        for (shown, drawing, text) in [
            (active(&|a| !a.preempted.is_empty()), bar("bar off s0", 0, 12), "is preempted"),
            (inside(true), bar("bar s0", 0, 12) + &bar("locked", 7, 5), "holds the preemption lock"),
            (inside(false), bar("bar s0", 0, 12) + &bar("updated", 0, 5), "clock update"),
            (active(&|a| self.tail(a).is_some()), tick.to_owned(), "tick, and what it triggers"),
            (
                any(&|item| matches!(item, TraceItem::Skipped { .. })),
                "<path class=\"skip\" d=\"M9 1l10 10m0-10l-10 10\"/>".to_owned(),
                "release left out",
            ),
        ] {
            if shown {
                out += &key(&drawing, text);
            }
        }
        out + "</ul>\n"
    }
}

/// An upward arrow, or where there are many only its shaft.
fn release(chart: &mut Chart, x: f64, base: f64, head: bool) {
    let top = base - BLOCK - 8.0;
    chart.path("release", format_args!("M{x:.1} {base:.1}V{:.1}", top + if head { 5.0 } else { 4.0 }), "");
    if head {
        chart.path("release-head", format_args!("M{x:.1} {top:.1}l-3 6h6Z"), "");
    }
}
