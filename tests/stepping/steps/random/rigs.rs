//! Random rigs of step tracers and tracers, each of them legal. The same seed gives the same rig.

use super::super::program::clock::FAST;
use super::super::program::{Random, Rig, behaviour};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// So many microseconds; all times of these rigs are whole ones, or thirds of them.
const SECOND: u64 = 3_000_000;

/// A step tracer.
pub struct Own {
    pub name: String,
    /// Parts of [`SECOND`].
    pub step: u64,
    /// The FMU can make steps of any size.
    pub varies: bool,
    pub queue: bool,
    /// The FMU has communication points of its own.
    pub has_more_points: bool,
    pub has_event_mode: bool,
}

/// Where an input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `reached` of a step tracer.
    Step(usize),
    /// `time_fast` of the tracer.
    Partition,
}

/// Where a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An input of a step tracer, by its value reference.
    Step(usize, u32),
    /// `in_f64` of the tracer.
    Partition,
}

#[derive(Clone, Copy, Debug)]
pub struct Connection {
    pub from: Source,
    pub to: Target,
    pub delayed: bool,
}

/// A rig, and what is known of it.
pub struct Drawn {
    pub rig: Rig,
    pub own: Vec<Own>,
    pub connections: Vec<Connection>,
    /// s
    pub start: f64,
    pub stop: f64,
    /// From start to stop, parts of [`SECOND`].
    length: u64,
    /// Of start.
    start_parts: i64,
}

/// How often the tracer's partition `fast` is activated, parts of [`SECOND`].
const FAST_PERIOD: u64 = SECOND / 1000;

/// The name of the only tracer.
pub const TRACER: &str = "partitions";

impl Drawn {
    pub fn new(seed: u64, is_virtual: bool) -> Drawn {
        let random = &mut Random(seed);
        let start = random.of(&[0, 0, 0, 1_500_000, -250_000, 1_000_000]) * 3;
        // Of FMUs whose steps cannot vary all steps have to end at the stop time.
        let is_round = random.one_in(2);
        let length = match (is_virtual, is_round) {
            (true, true) => 60_000 * (1 + random.below(8)),
            (true, false) => 3 * (20_000 + random.below(200_000)),
            (false, true) => 900_000,
            (false, false) => 3 * (250_000 + random.below(100_000)),
        };
        let (begin, end) = (seconds(start), seconds(start + length as i64));
        let mut rig = Rig::new(&format!("start_time = {begin}\nstop_time = {end}"));
        let cpus: Vec<usize> = vecud::sys::affinity::allowed_cpus().unwrap().into_iter().collect();
        let own: Vec<Own> = (0..1 + random.below(3)).map(|number| Own::draw(random, number, is_round)).collect();
        for fmu in &own {
            let path = fmu.copy(rig.folder());
            let cpu = random.of(&cpus);
            rig = fmu.add(rig, path, random, cpu, is_virtual, begin.parse().unwrap());
        }
        let has_partitions = random.one_in(2);
        if has_partitions {
            let behaviour = behaviour(random, if is_virtual { 16 } else { 80 }, 0);
            rig = rig.tracer_with(TRACER, &behaviour, &format!("cpu = {}", random.of(&cpus)));
        }
        let connections = connect(random, &own, has_partitions);
        for connection in &connections {
            rig = rig.more(&connection.table(&own));
        }
        Drawn {
            rig,
            own,
            connections,
            start: begin.parse().unwrap(),
            stop: end.parse().unwrap(),
            length,
            start_parts: start,
        }
    }

    /// The instants of the grid of a step tracer before the stop time, as doubles.
    pub fn grid(&self, fmu: usize) -> Vec<f64> {
        (0..)
            .map(|k| k * self.own[fmu].step)
            .take_while(|part| *part < self.length)
            .map(|part| self.time(part))
            .collect()
    }

    /// The double of a time that is so many parts after the start.
    fn time(&self, parts: u64) -> f64 {
        seconds_of(self.start_parts + parts as i64)
    }

    /// Whether the source of a connection depends on its target, as far as anybody knows while they are initialised.
    pub fn is_in_loop(&self, connection: &Connection) -> bool {
        let fmu = |to: Target| match to {
            Target::Step(fmu, _) => Source::Step(fmu),
            Target::Partition => Source::Partition,
        };
        let mut reached = vec![fmu(connection.to)];
        let mut next = 0;
        while let Some(from) = reached.get(next).copied() {
            next += 1;
            let onward = self.connections.iter().filter(|own| own.from == from).map(|own| fmu(own.to));
            let new: Vec<Source> = onward.filter(|to| !reached.contains(to)).collect();
            reached.extend(new);
        }
        reached.contains(&connection.from)
    }

    /// What a delayed connection from the partition shows at a time, if nothing is late: what was computed at an activation
    /// shows at the next one.
    pub fn visible_of_partition(&self, time: f64) -> f64 {
        let parts = ((time - self.start) * SECOND as f64 + 1e-3).floor() as u64;
        if parts < FAST_PERIOD { 0.0 } else { self.time(parts - parts % FAST_PERIOD - FAST_PERIOD) }
    }
}

impl Own {
    /// Its step, s.
    pub fn seconds(&self) -> f64 {
        seconds_of(self.step as i64)
    }

    fn draw(random: &mut Random, number: u64, is_round: bool) -> Own {
        let varies = !is_round || random.one_in(2);
        let round = [SECOND / 1000, SECOND / 500, SECOND / 200, SECOND / 100];
        let any = [SECOND / 1000, SECOND / 300, 3 * SECOND / 1000, 7 * SECOND / 2000, SECOND / 96, SECOND / 3000];
        let step = if varies { random.of(&any) } else { random.of(&round) };
        Own {
            name: format!("s{number}"),
            step,
            varies,
            queue: random.one_in(2),
            has_more_points: varies && random.one_in(2),
            has_event_mode: random.one_in(2),
        }
    }

    /// A copy of the FMU whose description says what it can.
    fn copy(&self, folder: &Path) -> PathBuf {
        copied_step_tracer(&folder.join(format!("fmu_{}", self.name)), self.varies, self.has_event_mode)
    }

    /// The rig with this FMU.
    fn add(&self, rig: Rig, path: PathBuf, random: &mut Random, cpu: usize, is_virtual: bool, start: f64) -> Rig {
        let mut values = format!("varies = {}, iterations = {}", self.varies, 1 + random.below(3));
        if self.has_event_mode {
            write!(values, ", event_every = {}", random.of(&[0, 1, 3, 7])).unwrap();
        }
        if self.has_more_points {
            let interval = random.of(&["0.0", "0.0031", "0.005", "0.0017"]);
            write!(values, ", early_every = {}, event_interval = {interval}", random.of(&[2, 5])).unwrap();
        }
        if !is_virtual {
            write!(values, ", burn_us = {}", random.below(200)).unwrap();
            if random.one_in(2) {
                write!(values, ", late_at = {:?}, late_us = {}", start + 0.1, 5000 + random.below(10_000)).unwrap();
            }
        }
        let overrun = if self.queue { "queue" } else { "skip" };
        rig.fmu(
            &self.name,
            path,
            &values,
            &format!("cpu = {cpu}\nstep = '{}/{SECOND}'\noverrun = '{overrun}'", self.step),
        )
    }
}

impl Connection {
    /// Its table in the rig.
    fn table(&self, own: &[Own]) -> String {
        let from = match self.from {
            Source::Step(fmu) => format!("{}.reached", own[fmu].name),
            Source::Partition => format!("{TRACER}.time_fast"),
        };
        let to = match self.to {
            Target::Step(fmu, input) => format!("{}.{}", own[fmu].name, ["a", "b", "c", "d"][input as usize - 10]),
            Target::Partition => format!("{TRACER}.in_f64"),
        };
        let timing = if self.delayed { "delayed" } else { "immediate" };
        format!("[[connect]]\nfrom = '{from}'\nto = '{to}'\ntiming = '{timing}'")
    }
}

fn connect(random: &mut Random, own: &[Own], has_partitions: bool) -> Vec<Connection> {
    // In half of the rigs everything is promised.
    let all_delayed = random.one_in(2);
    let mut all = Vec::new();
    let mut add = |random: &mut Random, to: Target| {
        let from = match random.below(own.len() as u64 + 1) as usize {
            fmu if fmu < own.len() => Source::Step(fmu),
            _ if has_partitions && to != Target::Partition => Source::Partition,
            _ => return,
        };
        let is_itself = matches!((from, to), (Source::Step(a), Target::Step(b, _)) if a == b);
        all.push(Connection { from, to, delayed: all_delayed || is_itself || random.one_in(2) });
    };
    for fmu in 0..own.len() {
        (10..14).for_each(|input| add(random, Target::Step(fmu, input)));
    }
    if has_partitions {
        add(random, Target::Partition);
    }
    all
}

/// A copy of `fmus/step_tracer` at `to`, whose description says whether its steps can vary and whether it has Event Mode.
pub fn copied_step_tracer(to: &Path, varies: bool, has_event_mode: bool) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/step_tracer");
    fs::create_dir_all(to.join("sources")).unwrap();
    for file in fs::read_dir(from.join("sources")).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join("sources").join(file.file_name())).unwrap();
    }
    let mut text = fs::read_to_string(from.join("modelDescription.xml")).unwrap();
    let varies = ("canHandleVariableCommunicationStepSize=\"true\" ", varies);
    for (flag, has) in [varies, ("hasEventMode=\"true\" ", has_event_mode)] {
        assert!(text.contains(flag));
        text = if has { text } else { text.replace(flag, "") };
    }
    fs::write(to.join("modelDescription.xml"), text).unwrap();
    to.to_path_buf()
}

/// A number of parts as the rig has it: a decimal.
fn seconds(parts: i64) -> String {
    assert!(parts % 3 == 0, "whole microseconds");
    let micros = parts / 3;
    let sign = if micros < 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", micros.abs() / 1_000_000, micros.abs() % 1_000_000)
}

/// The nearest double: both are exact, and a division is rounded once.
fn seconds_of(parts: i64) -> f64 {
    parts as f64 / SECOND as f64
}

/// `fast` is the partition of the tracer that [`FAST_PERIOD`] is about.
const _: () = assert!(FAST == 1);
