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

use super::assemble::{Activated, Inside, Item, Section};
use crate::fmu::description::Dialect;
use crate::plan::{Mode, Plan, Release, TaskId};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{self, Write};

/// Arrows whose heads have not come.
const ARROWS: usize = 1 << 16;

/// Writes a trace.
pub struct ChromeWriter<'p, W: Write> {
    plan: &'p Plan,
    out: W,
    /// What was made of the items at hand; goes out as a whole, so that a killed process leaves whole lines.
    text: String,
    written: u64,
    arrows: HashSet<u64>,
}

/// Microseconds.
fn us(ns: i64) -> Value {
    json!(ns as f64 / 1e3)
}

/// Seconds.
fn seconds(ns: i64) -> Value {
    json!(ns as f64 / 1e9)
}

impl<'p, W: Write> ChromeWriter<'p, W> {
    /// Begins a file: names and order of the tracks.
    pub fn new(plan: &'p Plan, out: W) -> io::Result<Self> {
        let mut writer = ChromeWriter { plan, out, text: String::from("["), written: 0, arrows: HashSet::new() };
        for (fmu, planned) in plan.fmus.iter().enumerate() {
            let about = |name: &str, args: Value| json!({"ph": "M", "name": name, "pid": fmu + 1, "args": args});
            writer.event(&about("process_name", json!({"name": planned.name})));
            writer.event(&about("process_sort_index", json!({"sort_index": fmu})));
        }
        for (task, planned) in plan.tasks.iter().enumerate() {
            let (pid, tid) = (planned.fmu.0 + 1, task + 1);
            let about =
                |name: &str, args: Value| json!({"ph": "M", "name": name, "pid": pid, "tid": tid, "args": args});
            writer.event(&about("thread_name", json!({"name": planned.clock})));
            writer.event(&about("thread_sort_index", json!({"sort_index": task})));
        }
        writer.flush()?;
        Ok(writer)
    }

    /// Bytes so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    fn event(&mut self, event: &Value) {
        self.text += if self.written == 0 && self.text.len() == 1 { "\n" } else { ",\n" };
        self.text += &event.to_string();
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
        self.event(&json!({"ph": "i", "s": "g", "name": text, "pid": 1, "tid": 0, "ts": us(at)}));
        self.flush()
    }

    /// Appends items; everything is in the file when this returns.
    pub fn write<'i>(&mut self, items: impl IntoIterator<Item = &'i Item>) -> io::Result<()> {
        const PIECE: usize = 1 << 20;
        for item in items {
            self.item(item);
            if self.text.len() > PIECE {
                self.flush()?;
            }
        }
        self.flush()
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.text += "\n]\n";
        self.flush()
    }

    fn clock(&self, task: TaskId) -> String {
        let planned = &self.plan.tasks[task.0];
        format!("{}.{}", self.plan.fmus[planned.fmu.0].name, planned.clock)
    }

    /// An event on the track of a task.
    fn on_track(&mut self, task: TaskId, kind: &str, name: &str, at: i64, more: &[(&str, Value)]) {
        let pid = self.plan.tasks[task.0].fmu.0 + 1;
        let mut event = json!({"ph": kind, "name": name, "pid": pid, "tid": task.0 + 1, "ts": us(at)});
        for (key, value) in more {
            event[*key] = value.clone();
        }
        self.event(&event);
    }

    fn instant(&mut self, task: TaskId, name: &str, at: i64, args: Value) {
        self.on_track(task, "i", name, at, &[("s", json!("t")), ("args", args)]);
    }

    fn slice(&mut self, task: TaskId, name: &str, (from, to): (i64, i64), args: Value) {
        self.on_track(task, "X", name, from, &[("dur", us(to - from)), ("args", args)]);
    }

    fn arrow(&mut self, task: TaskId, kind: &str, at: i64, number: u64) {
        let mut more = vec![("cat", json!("tick")), ("id", json!(number))];
        // To the slice that it points at, not to the next one that begins.
        more.extend((kind == "f").then_some(("bp", json!("e"))));
        self.on_track(task, kind, "tick", at, &more);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Activated(activated) => self.activated(activated),
            Item::Ticked { task, output, target, taken, time, at, flow } => {
                let fmu = &self.plan.fmus[self.plan.tasks[task.0].fmu.0];
                let name = fmu.output_clocks.get(*output as usize).map_or("?", |clock| clock.name.as_str());
                let args = json!({"target": self.clock(*target), "time_s": seconds(*time), "taken": taken});
                self.instant(*task, &format!("tick {name}"), *at, args);
                self.begin_arrow(*task, *at, *flow);
            }
            Item::Armed { task, target, time, at, flow } => {
                let args = json!({"time_s": seconds(*time)});
                self.instant(*task, &format!("arm {}", self.plan.tasks[target.0].clock), *at, args);
                self.begin_arrow(*task, *at, *flow);
            }
            Item::Skipped { task, time, release, at } => {
                let args = json!({"time_s": seconds(*time), "left_out_after_us": us(at - release)});
                self.instant(*task, "skipped", *release, args);
            }
        }
    }

    fn begin_arrow(&mut self, task: TaskId, at: i64, number: u64) {
        if number == 0 {
            return;
        }
        if self.arrows.len() > ARROWS {
            self.arrows.clear(); // of deadlines that were replaced
        }
        self.arrows.insert(number);
        self.arrow(task, "s", at, number);
    }

    fn activated(&mut self, activated: &Activated) {
        let Activated { task, start, end, release, .. } = *activated;
        let planned = &self.plan.tasks[task.0];
        let (name, draft) = (planned.clock.clone(), self.plan.fmus[planned.fmu.0].dialect == Dialect::Draft);
        if !matches!(planned.release, Release::Never) {
            self.instant(task, "release", release, json!({"time_s": seconds(activated.time)}));
        }
        let mut args = json!({"time_s": seconds(activated.time)});
        if self.plan.mode == Mode::RealTime {
            args["release_us"] = us(release);
            args["wakeup_latency_us"] = us(activated.woken - release);
            args["start_latency_us"] = us(start - release);
            args["execution_us"] = us(activated.execution);
        }
        for (key, set) in [("retimed", activated.retimed), ("unfinished", activated.unfinished)] {
            if set {
                args[key] = json!(true);
            }
        }
        self.slice(task, &name, (start, end), args);
        for Inside { section, from, to } in &activated.inside {
            let (name, args) = match section {
                Section::Updated => (if draft { "intermediate update" } else { "clock update" }, json!({})),
                Section::Locked { waited, nested, leaked } => {
                    ("locked", json!({"waited_us": us(*waited), "nested": nested, "leaked": leaked}))
                }
            };
            self.slice(task, name, (*from, *to), args);
        }
        for other in &activated.preempted {
            let args = json!({"by": self.clock(other.by)});
            self.slice(task, "preempted", (other.from, other.to), args);
        }
        // Without its tail, which was before the file's begin, an arrow is none.
        if let Some(number) = activated.flow.filter(|number| self.arrows.remove(number)) {
            self.arrow(task, "f", start, number);
        }
    }
}
