//! A parameter study: one simulation for each point of a grid of start values, and one table of all rows.
//!
//! Several runners share the work, each with a process of its own, so that the FMU need not support several instances.
//! A runner loads the library once and makes a new instance for each of its points. Rows are in the order of the grid,
//! whichever process computes them.

use super::run::{RowSink, Simulated, Watching};
use super::text::CsvText;
use super::wanted::{SimulationOptions, prepare};
use crate::feeder::Feeder;
use crate::shared::SharedRig;
use crate::{Error, EventSink, Options, Prepared, SessionEvent};
use crossbeam::channel::{Receiver, Sender, bounded};
use std::fs::File;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::Arc;
use std::thread;
use vecud_base::plain::Plain;
use vecud_description::{Values, Variable, VariableType};
use vecud_linux::stop::StopToken;
use vecud_plan::StartValue;
use vecud_record::csv;
use vecud_record::signals::SignalWriter;
use vecud_report::{End, Problem};

/// Greatest number of points of a sweep.
const POINTS: usize = 1_000_000;
/// Number of simulations after which a process is replaced: leaks of instances do not accumulate.
const OF_A_PROCESS: usize = 256;
/// Number of simulations whose rows may wait for those of others.
const WAITING: usize = 2;

/// `NAME=from:to:by`, or `NAME=value,value`: a start value that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepAxis {
    name: String,
    /// The values as written on the command line.
    values: Vec<String>,
    /// The values form a range, so all are valid if the first and the last one are.
    is_range: bool,
}

impl FromStr for SweepAxis {
    type Err = String;

    fn from_str(text: &str) -> Result<SweepAxis, String> {
        let parts = text.split_once('=').map(|(name, values)| (name.trim(), values.trim()));
        let Some((name, values)) = parts.filter(|(name, values)| !name.is_empty() && !values.is_empty()) else {
            return Err("must be NAME=from:to:by, or NAME=value,value".to_owned());
        };
        let (values, is_range) = match values.split(':').collect::<Vec<_>>().as_slice() {
            [from, to, by] => (range(from.trim(), to.trim(), by.trim())?, true),
            [_] => (values.split(',').map(|value| value.trim().to_owned()).collect(), false),
            _ => return Err(format!("\"{values}\" is no range: write from:to:by")),
        };
        Ok(SweepAxis { name: name.to_owned(), values, is_range })
    }
}

/// The numbers from one to another, both included, with as many decimals as the start and the increment have.
fn range(from: &str, to: &str, by: &str) -> Result<Vec<String>, String> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let parsed = (number(from), number(to), number(by));
    let (Some(first), Some(last), Some(step)) = parsed else {
        return Err(format!("\"{from}:{to}:{by}\" is no range of numbers: write from:to:by"));
    };
    let steps = (last - first) / step;
    if step == 0.0 || !steps.is_finite() || steps < -1e-9 {
        return Err(format!("from {from} one does not come to {to} in steps of {by}"));
    }
    // Tolerates rounding in the number of steps.
    let count = (steps + 1e-9).floor();
    if count >= POINTS as f64 {
        return Err(format!("{from}:{to}:{by} has more than {POINTS} values"));
    }
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_plain = |text: &str| !text.contains(['e', 'E']);
    let value = |place: usize| {
        let value = first + step * place as f64;
        match is_plain(from) && is_plain(by) {
            true => format!("{value:.*}", decimals(from).max(decimals(by))),
            false => value.to_string(),
        }
    };
    Ok((0..=count as usize).map(value).collect())
}

/// Result of a sweep.
pub struct Swept {
    /// Number of completed points.
    pub points: usize,
    /// Number of completed points that were not cut short by the user.
    pub whole: usize,
    /// Number of points of the study.
    pub all: usize,
    /// Number of failed points.
    pub failed: usize,
    /// Exit code of the worst point.
    pub exit_code: u8,
    /// The error that stopped the writing of rows, if there was one.
    pub unwritten: Option<io::Error>,
}

/// The grid of points.
struct Grid {
    /// The values of each axis, as cells and as start values.
    axes: Vec<Vec<(String, StartValue)>>,
}

impl Grid {
    fn points(&self) -> usize {
        self.axes.iter().map(Vec::len).product()
    }

    /// The values of a point: the last axis varies fastest.
    fn of(&self, point: usize) -> impl Iterator<Item = &(String, StartValue)> {
        let mut stride = self.points();
        self.axes.iter().map(move |axis| {
            stride /= axis.len();
            &axis[point / stride % axis.len()]
        })
    }

    /// The first cells of each row of a point.
    fn cells(&self, point: usize) -> String {
        self.of(point).map(|(text, _)| csv::cell(text) + ",").collect()
    }

    fn starts(&self, point: usize) -> Vec<StartValue> {
        self.of(point).map(|(_, start)| start.clone()).collect()
    }
}

/// Simulates all points of a grid with `jobs` processes, and writes one table to `rows`, which are opened when the FMU
/// and its grid are known to be valid. An error means that there was no run.
pub fn sweep(
    wanted: &SimulationOptions,
    axes: &[SweepAxis],
    jobs: usize,
    options: &Options,
    rows: impl FnOnce() -> Result<RowSink, Error>,
    events: &EventSink,
) -> Result<Swept, Error> {
    let points = axes.iter().try_fold(1_usize, |points, axis| points.checked_mul(axis.values.len()));
    if points.is_none_or(|points| points > POINTS) {
        return Err(Error::Command(format!("--sweep: there are more than {POINTS} points")));
    }
    let at = |values: &[&String]| {
        let mut one = wanted.clone();
        let varied = axes.iter().zip(values).map(|(axis, value)| format!("{}={value}", axis.name));
        one.varied.extend(varied);
        one
    };
    let first: Vec<&String> = axes.iter().map(|axis| &axis.values[0]).collect();
    let prepared = prepare(&at(&first), options, events)?;
    let mut grid = Grid { axes: Vec::new() };
    for (place, axis) in axes.iter().enumerate() {
        let variable = swept(&prepared, axis)?;
        let own = |prepared: &Prepared| {
            let starts = &prepared.plan.fmus[0].start_values;
            starts.iter().find(|start| start.reference == variable.value_reference).cloned().ok_or_else(|| {
                let name = &axis.name;
                let what = "it is a structural parameter, and changes what there is to be computed";
                Error::Command(format!("--sweep {name}: {what}"))
            })
        };
        let begin = own(&prepared)?;
        let mut values = Vec::new();
        for (number, text) in axis.values.iter().enumerate() {
            let between = axis.is_range && number + 1 < axis.values.len();
            let known = if between || number == 0 { between_ends(&begin, text) } else { None };
            let start = match known {
                Some(start) => start,
                None => {
                    let mut point = first.clone();
                    point[place] = text;
                    own(&prepare(&at(&point), options, events)?)?
                }
            };
            values.push((text.clone(), start));
        }
        grid.axes.push(values);
    }
    prepared.plan.notes.iter().for_each(|note| events.say(format!("note: {}", Plain(note))));
    let (jobs, rows) = (jobs.clamp(1, grid.points()), rows()?);
    events.tell(SessionEvent::Begun(format!("{} simulations", grid.points())));
    let names = axes.iter().map(|axis| axis.name.as_str()).collect();
    let swept = Sweep { prepared: &prepared, names, grid: &grid, events, over: StopToken::default() }.by(jobs, rows);
    events.tell(SessionEvent::Over);
    swept
}

/// The variable of an axis, a scalar.
fn swept<'p>(prepared: &'p Prepared, axis: &SweepAxis) -> Result<&'p Variable, Error> {
    let named = |variable: &&Variable| variable.names().any(|name| name == axis.name);
    let found = prepared.descriptions[0].variables.iter().find(named).filter(|variable| variable.dimensions.is_empty());
    found.ok_or_else(|| Error::Command(format!("--sweep {}: what is varied has to be one scalar variable", axis.name)))
}

/// Parses a number as a start value of the same kind as a known one.
fn between_ends(known: &StartValue, text: &str) -> Option<StartValue> {
    let values = match known.variable_type {
        VariableType::Float64 => Values::Float64(vec![text.parse().ok()?]),
        VariableType::Float32 => Values::Float32(vec![text.parse().ok()?]),
        VariableType::Int8 => Values::Int8(vec![text.parse().ok()?]),
        VariableType::Int16 => Values::Int16(vec![text.parse().ok()?]),
        VariableType::Int32 => Values::Int32(vec![text.parse().ok()?]),
        VariableType::Int64 => Values::Int64(vec![text.parse().ok()?]),
        VariableType::UInt8 => Values::UInt8(vec![text.parse().ok()?]),
        VariableType::UInt16 => Values::UInt16(vec![text.parse().ok()?]),
        VariableType::UInt32 => Values::UInt32(vec![text.parse().ok()?]),
        VariableType::UInt64 => Values::UInt64(vec![text.parse().ok()?]),
        _ => return None,
    };
    Some(StartValue { values, ..known.clone() })
}

/// A completed simulation of one point.
struct Point {
    rows: Vec<u8>,
    simulated: Simulated,
}

/// Destinations of output and messages of FMU code: all processes share these files.
struct Said {
    printed: File,
    /// Destination of log messages; `None`: events.
    log: Option<File>,
}

impl Said {
    fn to(printed: &File, log: Option<&File>) -> Result<Said, Error> {
        let copy = |file: &File| file.try_clone().map_err(|error| Error::System(error.to_string()));
        Ok(Said { printed: copy(printed)?, log: log.map(copy).transpose()? })
    }
}

struct Sweep<'a> {
    prepared: &'a Prepared,
    names: Vec<&'a str>,
    grid: &'a Grid,
    events: &'a EventSink,
    /// Requested when nobody wants further points.
    over: StopToken,
}

impl Sweep<'_> {
    fn by(&self, jobs: usize, rows: RowSink) -> Result<Swept, Error> {
        let RowSink { mut out, printed, log, logging_on, .. } = rows;
        thread::scope(|scope| {
            let start = |worker| {
                let (sender, receiver) = bounded(WAITING);
                let said = Said::to(&printed, log.as_ref())?;
                let body = move || self.work(worker, jobs, &said, logging_on, &sender);
                let name = format!("vecud.sweep-{worker}");
                thread::Builder::new()
                    .name(name)
                    .spawn_scoped(scope, body)
                    .map_err(|error| Error::System(format!("cannot start a thread: {error}")))?;
                Ok(receiver)
            };
            let workers: Result<Vec<_>, Error> = (0..jobs).map(start).collect();
            let swept = workers.and_then(|workers| self.collect(&workers, &mut *out));
            // After an early return the channels are closed, and the workers end amid their points.
            self.over.ask();
            swept
        })
    }

    /// Writes the rows of all points in their order.
    fn collect(&self, workers: &[Receiver<Result<Point, Error>>], out: &mut dyn Write) -> Result<Swept, Error> {
        let mut swept =
            Swept { points: 0, whole: 0, all: self.grid.points(), failed: 0, exit_code: 0, unwritten: None };
        let signals = self.prepared.plan.signals.iter().map(|signal| signal.name.as_str());
        let names = self.names.iter().copied().chain(["time"]).chain(signals);
        let mut written = out.write_all(csv::header(names).as_bytes());
        for point in 0..self.grid.points() {
            if written.is_err() {
                break;
            }
            // A worker that was asked to end leaves before its last point.
            let Ok(done) = workers[point % workers.len()].recv() else { break };
            let Point { rows, simulated } = done?;
            written = out.write_all(&rows);
            let code = vecud_report::exit_code(&simulated.run);
            swept.points += 1;
            swept.whole += usize::from(simulated.run.end != End::Signal);
            swept.failed += usize::from(code == 1);
            swept.exit_code = if swept.exit_code == 1 { 1 } else { code.max(swept.exit_code) };
            self.tell(point, &simulated.run.problems);
        }
        swept.unwritten = written.and_then(|()| out.flush()).err();
        Ok(swept)
    }

    fn tell(&self, point: usize, problems: &[Problem]) {
        let values = self.names.iter().zip(self.grid.of(point)).map(|(name, (text, _))| format!("{name}={text}"));
        let at = values.collect::<Vec<_>>().join(" ");
        for problem in problems {
            self.events.say(format!("{}: {at}: {}", problem.severity.prefix(), Plain(&problem.message())));
        }
    }

    /// Simulates the points of one worker: every `jobs`-th point.
    fn work(&self, worker: usize, jobs: usize, said: &Said, logging_on: bool, done: &Sender<Result<Point, Error>>) {
        let points: Vec<usize> = (worker..self.grid.points()).step_by(jobs).collect();
        let mut rest = points.as_slice();
        while !rest.is_empty() && !self.prepared.options.stop.is_asked() && !self.over.is_asked() {
            let some = &rest[..rest.len().min(OF_A_PROCESS)];
            match Said::to(&said.printed, said.log.as_ref())
                .and_then(|said| self.with_one_process(some, said, logging_on, done))
            {
                Ok(Some(simulated)) => rest = &rest[simulated..],
                Ok(None) => return,
                Err(error) => {
                    let _nobody_wants_it = done.send(Err(error));
                    return;
                }
            }
        }
    }

    /// Simulates points until all are done or the process has ended, and returns their number. `None`: the receiver is
    /// gone.
    fn with_one_process(
        &self,
        points: &[usize],
        Said { printed, log }: Said,
        logging_on: bool,
        done: &Sender<Result<Point, Error>>,
    ) -> Result<Option<usize>, Error> {
        let shared = Arc::new(SharedRig::create(self.prepared.clone())?);
        let variants: Vec<Vec<StartValue>> = points.iter().map(|point| self.grid.starts(*point)).collect();
        let mut feeder = Feeder::new(&shared);
        let mut watching =
            Watching::start(&shared, printed, &variants, self.events)?.logging_to(log).until(self.over.clone());
        for (number, point) in points.iter().enumerate() {
            let text = CsvText::default();
            let signals =
                SignalWriter::to_stream(shared.plan(), Box::new(text.clone())).into_part(self.grid.cells(*point));
            let run = watching.run(signals, feeder, logging_on);
            let (simulated, goes_on) = watching.finish(run)?;
            if done.send(Ok(Point { rows: text.take(), simulated })).is_err() {
                watching.stop();
                return Ok(None);
            }
            if !goes_on {
                return Ok(Some(number + 1));
            }
            feeder = watching.next_run();
        }
        Ok(Some(points.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Vec<String>, String> {
        text.parse().map(|axis: SweepAxis| axis.values)
    }

    #[test]
    fn a_range_has_both_ends_and_values_as_they_would_be_written() {
        assert_eq!(values("k=0:1:0.25").unwrap(), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(values("k=0:0.3:0.1").unwrap(), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(values("n=3:-3:-2").unwrap(), ["3", "1", "-1", "-3"]);
        assert_eq!(values("k=1:1.9:0.5").unwrap(), ["1.0", "1.5"]);
        assert_eq!(values("mode=a, b").unwrap(), ["a", "b"]);
    }

    #[test]
    fn what_is_no_axis_says_why() {
        for (text, why) in [
            ("k", "must be NAME=from:to:by"),
            ("=1", "must be NAME=from:to:by"),
            ("k=", "must be NAME=from:to:by"),
            ("k=1:2", "is no range: write from:to:by"),
            ("k=a:b:c", "is no range of numbers"),
            ("k=0:1:0", "does not come to 1 in steps of 0"),
            ("k=0:1:-1", "does not come to 1 in steps of -1"),
            ("k=0:1e9:1", "has more than 1000000 values"),
        ] {
            let error = values(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_last_axis_is_the_fastest() {
        let start = |text: &str| {
            let own = StartValue {
                reference: vecud_description::ValueReference(1),
                name: "k".to_owned(),
                variable_type: VariableType::Float64,
                values: Values::Float64(vec![0.0]),
                in_initialization_mode: false,
            };
            (text.to_owned(), own)
        };
        let grid = Grid { axes: vec![vec![start("1"), start("2")], vec![start("a"), start("b,c"), start("d")]] };
        let cells: Vec<String> = (0..grid.points()).map(|point| grid.cells(point)).collect();
        assert_eq!(cells, ["1,a,", "1,\"b,c\",", "1,d,", "2,a,", "2,\"b,c\",", "2,d,"]);
    }
}
