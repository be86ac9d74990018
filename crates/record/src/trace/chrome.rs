//! The file: Chrome's trace event format in its array form, which ui.perfetto.dev and chrome://tracing open.
//!
//! A process for each FMU, a track for each partition. Every event is a line; the closing bracket may be missing, as the
//! format allows, so a file is good up to the last line that was written.
//!
//! | what | as | arguments |
//! |---|---|---|
//! | activation | slice (`X`) with the clock's name | activation time (s); in real time release, latencies, execution (µs) |
//! | `preempted`, `locked`, `clock update` | slices inside of it | by whom; wait, nesting |
//! | release, skipped release | instants (`i`) on the track | activation time |
//! | tick, arming of a countdown | instant on the track of who ticked | which clock, for when |
//! | tick → activation | arrow (`s`, `f`) | |
//! | why the file was written | instant across all tracks | |

use super::assemble::{Activated, InnerSpan, SectionKind, TraceItem};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Seek, Write};
use vecud_description::Abi;
use vecud_plan::{Mode, Plan, Release, UnitId};

/// Arrows whose heads have not come.
const ARROWS: usize = 1 << 16;

/// Writes a trace.
pub struct ChromeWriter<'p, W: Write> {
    plan: &'p Plan,
    out: W,
    /// Text of the present items; written as a whole, so that a killed process leaves whole lines.
    text: String,
    written: u64,
    arrows: HashSet<u64>,
    /// Per task, as JSON strings: the clock, and `fmu.clock`.
    names: Vec<[String; 2]>,
    /// Per FMU and output clock, as JSON strings: `tick NAME`.
    ticks: Vec<Vec<String>>,
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Nanoseconds as microseconds.
struct Us(i64);

impl std::fmt::Display for Us {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sign, ns) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        write!(f, "{sign}{}.{:03}", ns / 1000, ns % 1000)
    }
}

/// Nanoseconds as seconds.
struct Seconds(i64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sign, ns) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        write!(f, "{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    }
}

impl<'p, W: Write> ChromeWriter<'p, W> {
    /// Begins a file: names and order of the tracks.
    pub fn new(plan: &'p Plan, out: W) -> io::Result<Self> {
        let name = |unit: &vecud_plan::UnitPlan| {
            let full = plan.full_name(unit);
            [quoted(&unit.name), quoted(&full)]
        };
        let ticks = |fmu: &vecud_plan::FmuPlan| {
            fmu.output_clocks.iter().map(|clock| quoted(&format!("tick {}", clock.name))).collect()
        };
        let mut writer = ChromeWriter {
            plan,
            out,
            text: String::from("["),
            written: 0,
            arrows: HashSet::new(),
            names: plan.units.iter().map(name).collect(),
            ticks: plan.fmus.iter().map(ticks).collect(),
        };
        for (fmu, planned) in plan.fmus.iter().enumerate() {
            let (pid, name) = (fmu + 1, quoted(&planned.name));
            writer.event(format_args!(r#""ph":"M","pid":{pid},"name":"process_name","args":{{"name":{name}}}"#));
            writer.event(format_args!(
                r#""ph":"M","pid":{pid},"name":"process_sort_index","args":{{"sort_index":{fmu}}}"#
            ));
        }
        for (unit, planned) in plan.units.iter().enumerate() {
            let (pid, tid, name) = (planned.fmu.0 + 1, unit + 1, writer.names[unit][0].clone());
            writer.event(format_args!(
                r#""ph":"M","pid":{pid},"tid":{tid},"name":"thread_name","args":{{"name":{name}}}"#
            ));
            writer.event(format_args!(
                r#""ph":"M","pid":{pid},"tid":{tid},"name":"thread_sort_index","args":{{"sort_index":{unit}}}"#
            ));
        }
        writer.flush()?;
        Ok(writer)
    }

    /// Bytes so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// An event with these members. Writing to a text cannot fail.
    fn event(&mut self, members: std::fmt::Arguments) {
        let comma = if self.written == 0 && self.text.len() == 1 { "" } else { "," };
        let _ = write!(self.text, "{comma}\n{{{members}}}");
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.text.as_bytes())?;
        self.out.flush()?;
        self.written += self.text.len() as u64;
        self.text.clear();
        Ok(())
    }

    /// Says something about an instant of the whole run.
    pub fn remark(&mut self, at: i64, text: &str) -> io::Result<()> {
        let (ts, name) = (Us(at), quoted(text));
        self.event(format_args!(r#""ph":"i","s":"g","pid":1,"tid":0,"ts":{ts},"name":{name}"#));
        self.flush()
    }

    /// Appends items; everything is in the file when this returns.
    pub fn write<'i>(&mut self, items: impl IntoIterator<Item = &'i TraceItem>) -> io::Result<()> {
        const PIECE: usize = 1 << 20;
        for item in items {
            self.item(item);
            if self.text.len() > PIECE {
                self.flush()?;
            }
        }
        self.flush()
    }

    /// Ends the file, and gives it back with its length.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        self.text += "\n]\n";
        self.flush()?;
        Ok((self.out, self.written))
    }

    /// An event on the track of a task; `name` is JSON already.
    fn on_track(&mut self, unit: UnitId, kind: &str, name: &str, at: i64, more: std::fmt::Arguments) {
        let (pid, tid, ts) = (self.plan.units[unit.0].fmu.0 + 1, unit.0 + 1, Us(at));
        self.event(format_args!(r#""ph":"{kind}","pid":{pid},"tid":{tid},"ts":{ts},"name":{name}{more}"#));
    }

    fn instant(&mut self, unit: UnitId, name: &str, at: i64, args: std::fmt::Arguments) {
        self.on_track(unit, "i", name, at, format_args!(r#","s":"t","args":{{{args}}}"#));
    }

    fn slice(&mut self, unit: UnitId, name: &str, (from, to): (i64, i64), args: std::fmt::Arguments) {
        let dur = Us(to - from);
        self.on_track(unit, "X", name, from, format_args!(r#","dur":{dur},"args":{{{args}}}"#));
    }

    fn arrow(&mut self, unit: UnitId, kind: &str, at: i64, number: u64) {
        // To the slice that it points at, not to the next one that begins.
        let to = if kind == "f" { r#","bp":"e""# } else { "" };
        self.on_track(unit, kind, r#""tick""#, at, format_args!(r#","cat":"tick","id":{number}{to}"#));
    }

    fn item(&mut self, item: &TraceItem) {
        match item {
            TraceItem::Activated(activated) => self.activated(activated),
            TraceItem::Ticked { unit, output, target, taken, time, at, flow } => {
                let fmu = self.plan.units[unit.0].fmu.0;
                let name = self.ticks[fmu].get(*output as usize).map_or_else(|| r#""tick""#.to_owned(), String::clone);
                let (target, time) = (self.names[target.0][1].clone(), Seconds(*time));
                self.instant(*unit, &name, *at, format_args!(r#""target":{target},"time_s":{time},"taken":{taken}"#));
                self.begin_arrow(*unit, *at, *flow);
            }
            TraceItem::Armed { unit, target, time, at, flow } => {
                let name = quoted(&format!("arm {}", self.plan.units[target.0].name));
                self.instant(*unit, &name, *at, format_args!(r#""time_s":{}"#, Seconds(*time)));
                self.begin_arrow(*unit, *at, *flow);
            }
            TraceItem::Skipped { unit, time, release, at } => {
                let (time, late) = (Seconds(*time), Us(at - release));
                let args = format_args!(r#""time_s":{time},"left_out_after_us":{late}"#);
                self.instant(*unit, r#""skipped""#, *release, args);
            }
        }
    }

    fn begin_arrow(&mut self, unit: UnitId, at: i64, number: u64) {
        if number == 0 {
            return;
        }
        if self.arrows.len() > ARROWS {
            self.arrows.clear(); // of deadlines that were replaced
        }
        self.arrows.insert(number);
        self.arrow(unit, "s", at, number);
    }

    fn activated(&mut self, activated: &Activated) {
        let Activated { unit, start, end, release, .. } = *activated;
        let planned = &self.plan.units[unit.0];
        let draft = self.plan.fmus[planned.fmu.0].abi == Abi::Draft;
        let time = Seconds(activated.time);
        let name = std::mem::take(&mut self.names[unit.0][0]);
        let retimed = if activated.retimed { r#","retimed":true"# } else { "" };
        let unfinished = if activated.unfinished { r#","unfinished":true"# } else { "" };
        match self.plan.mode {
            Mode::Virtual => {
                let args = format_args!(r#""time_s":{time}{retimed}{unfinished}"#);
                self.slice(unit, &name, (start, end), args);
            }
            Mode::RealTime => {
                let (wakeup, late) = (Us(activated.woken - release), Us(start - release));
                let (release, execution) = (Us(release), Us(activated.execution));
                let args = format_args!(
                    r#""time_s":{time},"release_us":{release},"wakeup_latency_us":{wakeup},"start_latency_us":{late},"execution_us":{execution}{retimed}{unfinished}"#
                );
                self.slice(unit, &name, (start, end), args);
            }
        }
        self.names[unit.0][0] = name;
        // Without its tail, which was before the file's begin, an arrow is none. It points at what began last: at the
        // activation, and so before its release, which may be at the same instant.
        if let Some(number) = activated.flow.filter(|number| self.arrows.remove(number)) {
            self.arrow(unit, "f", start, number);
        }
        if !matches!(planned.release, Release::Never) {
            self.instant(unit, r#""release""#, activated.release, format_args!(r#""time_s":{time}"#));
        }
        for InnerSpan { section, from, to } in &activated.inside {
            match section {
                SectionKind::Updated => {
                    let name = if draft { r#""intermediate update""# } else { r#""clock update""# };
                    self.slice(unit, name, (*from, *to), format_args!(""));
                }
                SectionKind::Locked { waited, nested, leaked } => {
                    let waited = Us(*waited);
                    let args = format_args!(r#""waited_us":{waited},"nested":{nested},"leaked":{leaked}"#);
                    self.slice(unit, r#""locked""#, (*from, *to), args);
                }
            }
        }
        for other in &activated.preempted {
            let by = std::mem::take(&mut self.names[other.by.0][1]);
            self.slice(unit, r#""preempted""#, (other.from, other.to), format_args!(r#""by":{by}"#));
            self.names[other.by.0][1] = by;
        }
    }
}

impl ChromeWriter<'_, File> {
    /// Ends a file that has become full in the middle of an event: with the last one that [`ChromeWriter::write`] has written
    /// before that. Where there is not even room for the bracket, it may be missing.
    pub fn cut(mut self) {
        let cut = self.out.set_len(self.written).and_then(|()| self.out.seek(io::SeekFrom::End(0)));
        let _ = cut.and_then(|_| self.out.write_all(b"\n]\n"));
    }
}
