//! Random rigs of one to three tracers, each of them legal: clocks, what partitions do, triggers, connections, start and
//! stop, and at most one instance that fails. The same seed gives the same rig.

use super::clock::{DELAYED, HIGH, INPUTS, LOW, NAMES, OUT_HIGH, OUT_LOW};
use super::clocks::{Clocks, Decimal, Grid};
use super::{Rig, copied_tracer};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    /// From 0 on, below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    /// With both ends.
    pub fn between(&mut self, low: i128, high: i128) -> i128 {
        low + i128::from(self.below((high - low + 1) as u64))
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// Seconds, of `from` to `to`.
    fn seconds(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}

/// The seeds to run: so many, or those that the environment names.
pub fn seeds(number: u64) -> Vec<u64> {
    let Ok(given) = std::env::var("VECUD_SEED") else { return (1..=number).collect() };
    let parse = |text: &str| text.parse::<u64>().expect("VECUD_SEED is a number, or two with .. in between");
    match given.split_once("..") {
        Some((first, end)) => (parse(first)..parse(end)).collect(),
        None => vec![parse(&given)],
    }
}

/// Start values of a tracer: what its partitions do, for at most so long, and how long they sleep at most (0: they do not).
pub fn behaviour(random: &mut Random, burn_us: u64, sleep_us: u64) -> String {
    let mut start = format!("arm_every = {}, lock_in_get_clock = {}", 1 + random.below(3), random.one_in(2));
    let interval = random.of(&[0.001, 0.0025, 0.0031, 0.01]);
    write!(start, ", arm_interval = {interval}").unwrap();
    for clock in ["fast", "equal_a", "equal_b", "slow", "high", "low", "delayed"] {
        let mut set = |what: &str, value: u64| write!(start, ", {clock}_{what} = {value}").unwrap();
        set("burn_us", random.below(if clock == "fast" { burn_us / 4 } else { burn_us }));
        set("lock_every", random.below(3));
        set("lock_us", random.below(burn_us / 4));
        if sleep_us > 0 {
            set("sleep_every", random.below(4));
            set("sleep_us", random.below(sleep_us));
        }
        if clock != "high" {
            set("tick_high_every", random.below(4));
        }
        if clock == "fast" || clock == "equal_a" {
            set("tick_low_every", 3 + random.below(5));
        }
        write!(start, ", {clock}_lock_nested = {}", random.one_in(2)).unwrap();
        if clock != "high" {
            write!(start, ", {clock}_tick_in_lock = {}", random.one_in(2)).unwrap();
        }
    }
    start
}

/// What ticks a clock.
#[derive(Clone, Debug)]
pub enum Source {
    /// An output clock of an instance.
    Output(usize, u32),
    /// So many times before the stop time.
    Times(u64),
}

/// What an instance does wrong.
#[derive(Clone, Copy, Debug)]
pub struct Misdeed {
    pub fmu: usize,
    /// As the tracer numbers them in failures.c.
    pub kind: u64,
    pub function: u64,
}

pub const ERROR: u64 = 1;
pub const DISCARD: u64 = 2;
pub const FATAL: u64 = 3;
const LEAK_LOCK: u64 = 7;
const UNLOCK_UNLOCKED: u64 = 8;
const WARNING: u64 = 9;
const FLOATING_POINT_MODE: u64 = 12;

/// A rig, and what is known of it.
pub struct Drawn {
    pub rig: Rig,
    pub names: Vec<&'static str>,
    /// By instance.
    pub clocks: Vec<Clocks>,
    pub sleeps: Vec<bool>,
    pub stop: Decimal,
    /// What ticks triggered clocks that tick at all: instance, clock, source.
    pub triggers: Vec<(usize, u32, Source)>,
    pub misdeed: Option<Misdeed>,
    /// When the run is stopped by a signal, ms.
    pub signal_ms: Option<u64>,
}

const INSTANCES: [&str; 3] = ["a", "b", "c"];

/// Draws a rig for virtual or for real time.
pub fn draw(seed: u64, is_virtual: bool) -> Drawn {
    let random = &mut Random(seed);
    let names = INSTANCES[..1 + random.below(3) as usize].to_vec();
    // In virtual time nothing takes time, so that an hour may be a second.
    let scale = if is_virtual { random.of(&[1.0, 1.0, 1.0, 1e-3, 1e3, 1e6]) } else { 1.0 };
    let (start, stop) = span(random, is_virtual, scale);
    let misdeed = misdeed(random, names.len());
    let mut rig = format!("start_time = {}\nstop_time = {}\nshutdown_timeout = 5", start.text, stop.text);
    let on_error = if random.one_in(5) { "stop" } else { "continue" };
    write!(rig, "\non_error = '{on_error}'\nmode = '{}'", if is_virtual { "virtual" } else { "realtime" }).unwrap();
    let mut rig = Rig::new(&rig);
    let (mut all_clocks, mut all_sleep) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate() {
        let mut description = Description::draw(random, is_virtual, scale, &start);
        let sleeps = !is_virtual && random.one_in(3);
        let (burn_us, sleep_us) = if is_virtual { (16, 0) } else { (100, if sleeps { 150 } else { 0 }) };
        let mut behaviour = behaviour(random, burn_us, sleep_us);
        if scale != 1.0 {
            let (before, interval) = behaviour.split_once("arm_interval = ").unwrap();
            let (interval, after) = interval.split_once(',').unwrap();
            let interval = interval.parse::<f64>().unwrap() * scale;
            behaviour = format!("{before}arm_interval = {interval:?},{after}");
        }
        write!(behaviour, ", count_up = {}, log_every = {}", random.one_in(2), random.below(3)).unwrap();
        write!(behaviour, ", {}", description.start).unwrap();
        if let Some(Misdeed { kind, function, .. }) = misdeed.filter(|misdeed| misdeed.fmu == index) {
            let (clock, at) = (1 + random.below(7), 1 + random.below(12));
            write!(behaviour, ", fail_kind = {kind}, fail_function = {function}, fail_clock = {clock}, fail_at = {at}")
                .unwrap();
        }
        let cpus: Vec<usize> = vecud::sys::affinity::allowed_cpus().unwrap().into_iter().collect();
        write!(description.keys, "cpu = {}\non_warning = '{}'\n", random.of(&cpus), random.of(&["log", "ignore"]))
            .unwrap();
        let path = description.write(&rig.folder().join(format!("tracer_{name}")));
        rig = rig.fmu(name, path, &behaviour, &description.keys);
        all_clocks.push(description.clocks);
        all_sleep.push(sleeps);
    }
    let (rig, triggers) = triggers(random, rig, &names, &start, &stop);
    for (index, clocks) in all_clocks.iter_mut().enumerate() {
        let own = |(fmu, clock, source): &(usize, u32, Source)| {
            (*fmu, *clock) == (index, HIGH) && matches!(source, Source::Output(from, OUT_HIGH) if *from == index)
        };
        clocks.high_follows = triggers.iter().any(own);
    }
    let rig = connections(random, rig, &names);
    let initialises = misdeed.is_none_or(|misdeed| !(2..=5).contains(&misdeed.function));
    let signal_ms = (!is_virtual && initialises && random.one_in(4)).then(|| 50 + random.below(350));
    Drawn { rig, names, clocks: all_clocks, sleeps: all_sleep, stop, triggers, misdeed, signal_ms }
}

/// Start and stop: negative, fractional, huge.
fn span(random: &mut Random, is_virtual: bool, scale: f64) -> (Decimal, Decimal) {
    let length = if is_virtual { random.seconds(0.02, 0.12) * scale } else { 0.5 };
    let start = match random.below(8) {
        0..4 => 0.0,
        4 => -random.seconds(0.0, 1.0),
        5 => random.seconds(0.0, 1e3),
        // Doubles are half a microsecond apart there.
        6 if scale >= 1.0 => random.of(&[-3_999_999_999.5, 3_999_000_000.25, 1_700_000_000.123]),
        _ => -1.0 / 3.0,
    };
    // With more digits there is no common denominator of start and intervals in 64 bits, and the host rounds to 1e-18 s.
    let start = (start * 1e6).round() / 1e6;
    (Decimal::nearest(start), Decimal::nearest(start + length))
}

fn misdeed(random: &mut Random, fmus: usize) -> Option<Misdeed> {
    let kind =
        random.of(&[0, 0, 0, 0, ERROR, DISCARD, FATAL, WARNING, LEAK_LOCK, UNLOCK_UNLOCKED, FLOATING_POINT_MODE]);
    let returns = [ERROR, DISCARD, FATAL, WARNING].contains(&kind);
    let function = if returns { random.of(&[0, 0, 0, 0, 2, 3, 4, 5, 6, 7, 8]) } else { 0 };
    (kind > 0).then(|| Misdeed { fmu: random.below(fmus as u64) as usize, kind, function })
}

/// A modelDescription.xml of the tracer, and the start values and keys of the rig that go with it.
struct Description {
    clocks: Clocks,
    elements: Vec<String>,
    start: String,
    keys: String,
}

impl Description {
    fn draw(random: &mut Random, is_virtual: bool, scale: f64, start: &Decimal) -> Description {
        let mut own = Description {
            clocks: Clocks { start: start.clone(), ..Clocks::usual() },
            elements: Vec::new(),
            start: String::new(),
            keys: String::new(),
        };
        // Few levels: equal priorities are the rule. `high` is above all others in every second one.
        let levels = 1 + random.below(7);
        let high_is_highest = random.one_in(2);
        for clock in INPUTS {
            let name = NAMES[clock as usize];
            let priority = if clock == HIGH && high_is_highest { 0 } else { 1 + random.below(levels) };
            own.clocks.priority[clock as usize] = priority as i64;
            let comma = if own.start.is_empty() { "" } else { ", " };
            write!(own.start, "{comma}{name}_priority = {priority}").unwrap();
            let kind = match clock {
                HIGH | LOW => "intervalVariability=\"triggered\"".to_owned(),
                DELAYED => "clocks=\"4\" intervalVariability=\"countdown\"".to_owned(),
                _ => own.periodic(random, clock, is_virtual, scale),
            };
            let vr = format!("name=\"{name}\" valueReference=\"{clock}\"");
            own.elements.push(format!("<Clock {vr} causality=\"input\" priority=\"{priority}\" {kind}/>"));
        }
        own
    }

    /// The attributes of a periodic clock.
    fn periodic(&mut self, random: &mut Random, clock: u32, is_virtual: bool, scale: f64) -> String {
        let shortest = if is_virtual { 0.0004 } else { 0.001 };
        let longest = if clock == 1 { 0.005 } else { 0.04 };
        let interval = random.seconds(shortest, longest) * scale;
        let shift = if random.one_in(2) { 0.0 } else { random.seconds(0.0, 0.01) * scale };
        let adjustable = random.one_in(3);
        // How the interval is written where it counts.
        let as_decimal = random.one_in(2);
        let resolution: i128 = match as_decimal {
            true => 10_i128.pow(7 + 3 * u32::from(scale < 1.0)),
            false => {
                i128::from(random.of(&[48_000_u64, 44_100, 7_919, 65_536, 1_000_000_007]))
                    * (1.0 / scale).max(1.0) as i128
            }
        };
        let counter = ((interval * resolution as f64) as i128).max(1);
        let grid = |shift: i128| Grid { shift, counter, resolution };
        let decimal = |ticks: i128| Decimal::nearest(ticks as f64 / resolution as f64);
        let fractions = if random.one_in(2) { "true" } else { "false" };
        let (kind, grid) = if adjustable {
            // The rig says the interval; the shift is a decimal of its own.
            let kind = random.of(&["fixed", "tunable"]);
            let of = if scale < 1.0 { 1_000_000 } else { 1000 };
            let parts = (shift * of as f64) as i128;
            let shift = Decimal::nearest(parts as f64 / of as f64).text;
            let supports = match fractions {
                "true" => format!(" supportsFraction=\"true\" resolution=\"{resolution}\""),
                _ => String::new(),
            };
            let key = format!("clock.{} = {{ interval = \"{counter}/{resolution}\" }}\n", NAMES[clock as usize]);
            self.keys += &key;
            let written =
                format!("intervalVariability=\"{kind}\" intervalDecimal=\"0.5\" shiftDecimal=\"{shift}\"{supports}");
            (written, Grid { shift: parts * resolution, counter: counter * of, resolution: resolution * of })
        } else if as_decimal {
            let grid = grid((shift * resolution as f64) as i128);
            let (interval, shift) = (decimal(counter).text, decimal(grid.shift).text);
            (format!("intervalVariability=\"constant\" intervalDecimal=\"{interval}\" shiftDecimal=\"{shift}\""), grid)
        } else {
            let grid = grid((shift * resolution as f64) as i128);
            let numbers =
                format!("resolution=\"{resolution}\" intervalCounter=\"{counter}\" shiftCounter=\"{}\"", grid.shift);
            (format!("intervalVariability=\"constant\" supportsFraction=\"{fractions}\" {numbers}"), grid)
        };
        let name = NAMES[clock as usize];
        let Grid { shift, counter, resolution } = grid;
        write!(self.start, ", {name}_counter = {counter}, {name}_resolution = {resolution}, {name}_shift = {shift}")
            .unwrap();
        write!(self.start, ", {name}_adjustable = {adjustable}").unwrap();
        self.clocks.grid[clock as usize] = Some(grid);
        kind
    }

    fn write(&self, folder: &Path) -> PathBuf {
        let path = copied_tracer(folder);
        let file = path.join("modelDescription.xml");
        let text = std::fs::read_to_string(&file).unwrap();
        let is_input_clock = |line: &&str| line.contains("<Clock ") && line.contains("causality=\"input\"");
        assert_eq!(text.lines().filter(is_input_clock).count(), self.elements.len());
        let mut elements = self.elements.iter();
        let lines = text.lines().map(|line| if is_input_clock(&line) { elements.next().unwrap() } else { line });
        std::fs::write(file, lines.collect::<Vec<&str>>().join("\n")).unwrap();
        path
    }
}

type Triggers = Vec<(usize, u32, Source)>;

fn triggers(random: &mut Random, mut rig: Rig, names: &[&str], start: &Decimal, stop: &Decimal) -> (Rig, Triggers) {
    let mut triggers = Vec::new();
    for (fmu, name) in names.iter().enumerate() {
        for clock in [HIGH, LOW] {
            let target = format!("{name}.{}", NAMES[clock as usize]);
            match random.below(8) {
                0 => {} // never ticks
                1 => {
                    let (first, last) = (start.value(), stop.value() + (stop.value() - start.value()) * 0.2);
                    let mut times: Vec<f64> = (0..random.below(20)).map(|_| random.seconds(first, last)).collect();
                    times.push(first);
                    times.sort_by(f64::total_cmp);
                    times.dedup();
                    let before = times.iter().filter(|time| **time < stop.value()).count();
                    triggers.push((fmu, clock, Source::Times(before as u64)));
                    let times: Vec<String> = times.iter().map(|time| Decimal::nearest(*time).text).collect();
                    rig = rig.more(&format!("[[trigger]]\nclock = '{target}'\nat = [{}]", times.join(", ")));
                }
                own => {
                    let output = if own % 2 == 0 { OUT_HIGH } else { OUT_LOW };
                    // Its own, or anybody's.
                    let from = if own < 4 { fmu } else { random.below(names.len() as u64) as usize };
                    triggers.push((fmu, clock, Source::Output(from, output)));
                    rig = rig.trigger(&format!("{}.{}", names[from], NAMES[output as usize]), &target);
                }
            }
        }
    }
    (rig, triggers)
}

/// Types by name, and the types whose values they hold.
const HOLDS: [(&str, &[&str]); 14] = [
    ("f64", &["f64", "f32", "i8", "u8", "i16", "u16", "i32", "u32", "array[3]"]),
    ("f32", &["f32", "i8", "u8", "i16", "u16"]),
    ("i8", &["i8"]),
    ("u8", &["u8"]),
    ("i16", &["i16", "i8", "u8"]),
    ("u16", &["u16", "u8"]),
    ("i32", &["i32", "i8", "u8", "i16", "u16"]),
    ("u32", &["u32", "u8", "u16"]),
    ("i64", &["i64", "i32", "u32", "enum"]),
    ("u64", &["u64", "u8", "u16", "u32"]),
    ("bool", &["bool"]),
    ("enum", &["enum"]),
    ("string", &["string"]),
    ("binary", &["binary"]),
];

fn connections(random: &mut Random, mut rig: Rig, names: &[&str]) -> Rig {
    for to in names {
        for (input, outputs) in HOLDS {
            if random.one_in(2) {
                rig = rig
                    .connect(&format!("{}.out_{}", random.of(names), random.of(outputs)), &format!("{to}.in_{input}"));
            }
        }
        for (element, output) in [("array[2:4]", "array[1:3]"), ("array[9]", "f64"), ("array[64]", "i16")] {
            if random.one_in(2) {
                rig = rig.connect(&format!("{}.out_{output}", random.of(names)), &format!("{to}.in_{element}"));
            }
        }
    }
    rig
}
