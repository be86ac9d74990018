//! A plan as text, for `vecud check`.
//!
//! Pure: the same plan gives the same text, in which names are as `Plain` writes them.

use super::connections::timing;
use super::elements::shape_text;
use super::{
    EndpointPlan, Format, Interpolation, OnError, Overrun, Plan, Release, Rotation, Rule, TaskKind, Timing, UnitId,
    UnitPlan, promise, tasks,
};
use crate::rig::Mode;
use bytesize::ByteSize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use vecud_base::columns::indented;
use vecud_base::plain::Plain;

pub use super::interval::interval_text;

/// The whole plan.
pub fn render(plan: &Plan) -> String {
    let mut out = String::new();
    let mode = match plan.mode {
        Mode::RealTime => "real time",
        Mode::Virtual => "virtual time",
    };
    let stop = plan.stop.map_or("until stopped".to_owned(), |stop| format!("to {} s", stop.seconds()));
    let on_error = match plan.on_error {
        OnError::Stop => "an error stops the run",
        OnError::Continue => "after an error the other FMUs go on",
    };
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "rig {}: {mode}, from {} s {stop}; {on_error}", Plain(&plan.rig), plan.start.seconds());
    section(&mut out, "Tasks, most urgent first", tasks(plan));
    section(&mut out, "Cores", cores(plan));
    section(&mut out, "Turns", list(&tasks::serial::lines(plan)));
    section(&mut out, "Connections", connections(plan));
    section(&mut out, "Triggers", triggers(plan));
    section(&mut out, "Stimuli", stimuli(plan));
    section(&mut out, "Recorded", recorded(plan));
    let (inside, outside) = promise::lines(plan);
    section(&mut out, "Recorded with the same bytes in real and in virtual time", list(&inside));
    section(&mut out, "May differ from run to run in real time", list(&outside));
    section(&mut out, "Notes", list(&plan.notes));
    out
}

fn section(out: &mut String, title: &str, body: String) {
    if !body.is_empty() {
        let _ = write!(out, "\n{title}\n{body}");
    }
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  {}\n", Plain(line))).collect()
}

fn cells(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn tasks(plan: &Plan) -> String {
    let head = ["FMU", "clock", "kind", "activated", "FMI priority", "level", "FIFO", "core", "thread", "limits"];
    let mut rows = vec![cells(&head)];
    rows.extend(plan.units.iter().enumerate().map(|(index, unit)| {
        let task = &plan.tasks[unit.task.0];
        vec![
            plan.fmus[unit.fmu.0].name.clone(),
            unit.name.clone(),
            match unit.kind() {
                TaskKind::Clock(kind) => kind.name_in(plan.fmus[unit.fmu.0].abi).to_owned(),
                TaskKind::Step => "step".to_owned(),
                TaskKind::Group => "group".to_owned(),
            },
            release(plan, &unit.release),
            unit.urgency.map_or_else(String::new, |urgency| urgency.0.to_string()),
            unit.level.to_string(),
            task.fifo.get().to_string(),
            task.cpu.to_string(),
            task.thread.clone(),
            limits(plan, UnitId(index)),
        ]
    }));
    indented(rows.iter(), &[4, 5, 6, 7])
}

/// The source of a task's releases, as text.
pub fn release(plan: &Plan, release: &Release) -> String {
    match release {
        Release::Periodic { shift, interval } if shift.is_zero() => format!("every {}", interval_text(*interval)),
        Release::Periodic { shift, interval } => {
            format!("every {} after {}", interval_text(*interval), interval_text(*shift))
        }
        Release::Asked => "as the FMU says".to_owned(),
        Release::Changing => "by its last interval".to_owned(),
        Release::Triggered { fmu, output_clock } => {
            let fmu = &plan.fmus[fmu.0];
            format!("by {}.{}", fmu.name, fmu.output_clocks[*output_clock].name)
        }
        Release::At(times) => match times.as_slice() {
            [one] => format!("at {} s", one.seconds()),
            [first, .., last] => format!("{} times, {} s to {} s", times.len(), first.seconds(), last.seconds()),
            [] => "never".to_owned(),
        },
        Release::Endpoint { endpoint } => format!("by {}", plan.endpoints[*endpoint].source),
        Release::Stimulus { stimulus, tick } => {
            let own = &plan.stimuli[*stimulus];
            let file = Path::new(&own.file).file_name().map_or(own.file.as_str().into(), |name| name.to_string_lossy());
            format!("by {} of {file}", own.ticks[*tick].column)
        }
        Release::Countdown => "by its countdown".to_owned(),
        Release::Request => "on request".to_owned(),
        Release::Never => "never".to_owned(),
    }
}

fn limits(plan: &Plan, unit: UnitId) -> String {
    let limits = plan.limits(unit);
    let micros = |name: &str, nanos: vecud_base::time::Nanos| format!("{name} {} µs", nanos.0 as f64 / 1e3);
    let all = [
        limits.max_latency.map(|limit| micros("latency", limit)),
        limits.max_execution.map(|limit| micros("execution", limit)),
        limits.max_overruns.map(|limit| format!("overruns {limit}")),
        match plan.shown_overrun(unit) {
            Overrun::Skip => None,
            Overrun::Queue => Some("overrun queues".to_owned()),
            Overrun::Stop => Some("overrun stops".to_owned()),
        },
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The tasks and FMUs of each core. How loaded the cores are is part of the schedulability.
fn cores(plan: &Plan) -> String {
    let cpus = BTreeSet::from_iter(plan.cores());
    let line = |cpu: usize| {
        let here: Vec<&UnitPlan> = plan.units.iter().filter(|unit| plan.tasks[unit.task.0].cpu == cpu).collect();
        let fmus: BTreeSet<usize> = here.iter().map(|unit| unit.fmu.0).collect();
        let fmus: Vec<&str> = fmus.into_iter().map(|fmu| plan.fmus[fmu].name.as_str()).collect();
        let tasks = format!("{} task{}", here.len(), if here.len() == 1 { "" } else { "s" });
        vec![format!("core {cpu}"), tasks, fmus.join(", ")]
    };
    indented(cpus.into_iter().map(line).collect::<Vec<_>>().iter(), &[1])
}

fn connections(plan: &Plan) -> String {
    let row = |(connection, words): (&super::ConnectionPlan, String)| {
        let timing = match connection.timing {
            Timing::Immediate => "immediate",
            Timing::Delayed => "delayed",
        };
        let shape = if connection.elements == 1 { Vec::new() } else { vec![connection.elements] };
        let (from, to) = (connection.from_type, connection.variable_type);
        let mut kind = match from == to {
            true => format!("{}{}", to.name(), shape_text(&shape)),
            false => format!("{} → {}{}", from.name(), to.name(), shape_text(&shape)),
        };
        if connection.capacity > 0 {
            let _ = write!(kind, ", up to {} bytes", connection.capacity);
        }
        vec![
            connection.from.clone(),
            "→".to_owned(),
            connection.to.clone(),
            kind,
            format!("{timing}: {words}"),
            units(connection),
        ]
    };
    let rows: Vec<Vec<String>> = plan.connections.iter().zip(timing::words(plan)).map(row).collect();
    indented(rows.iter(), &[])
}

/// `bar → Pa: v · 100000`; nothing where units do not convert.
fn units(connection: &super::ConnectionPlan) -> String {
    let (Some(unit), Some((from, to))) = (connection.conversion.unit, &connection.units) else { return String::new() };
    let (factor, offset) = (unit.factor / unit.divisor, unit.offset / unit.divisor);
    let factor = if factor == 1.0 { String::new() } else { format!(" · {factor}") };
    let offset = match offset {
        0.0 => String::new(),
        offset if offset < 0.0 => format!(" - {}", -offset),
        offset => format!(" + {offset}"),
    };
    format!("{from} → {to}: v{factor}{offset}")
}

fn triggers(plan: &Plan) -> String {
    let name = |id: &super::UnitId| plan.full_name(&plan.units[id.0]);
    let mut rows = Vec::new();
    for fmu in &plan.fmus {
        for clock in &fmu.output_clocks {
            let units = clock.targets.iter().map(name);
            let targets: Vec<String> = units.chain(clock.clocks.iter().map(|clock| plan.clock_name(*clock))).collect();
            let by: Vec<String> = clock.ticked_by.iter().map(name).collect();
            let when = match &clock.input {
                Some(input) => format!("{}, ", release(plan, &input.release)),
                None => String::new(),
            };
            rows.push(vec![
                format!("{}.{}", fmu.name, clock.name),
                "→".to_owned(),
                if targets.is_empty() { "nothing".to_owned() } else { targets.join(", ") },
                if by.is_empty() {
                    "ticks in any partition".to_owned()
                } else {
                    format!("{when}ticks in {}", by.join(", "))
                },
            ]);
        }
    }
    for EndpointPlan { source, target, max_rate } in &plan.endpoints {
        let receiver = match plan.receiver {
            Some(receiver) => format!("received on core {} at FIFO {}", receiver.cpu, receiver.fifo.get()),
            None => "not received in virtual time".to_owned(),
        };
        let rate = format!("at most {max_rate} events per second; {receiver}");
        let target = target.clock.map_or_else(|| name(&target.unit), |clock| plan.clock_name(clock));
        rows.push(vec![source.to_string(), "→".to_owned(), target, rate]);
    }
    indented(rows.iter(), &[])
}

fn stimuli(plan: &Plan) -> String {
    let mut rows = Vec::new();
    for stimulus in &plan.stimuli {
        let between = match stimulus.interpolation {
            Interpolation::Hold => "held until the next row",
            Interpolation::Linear => "linear between rows",
        };
        let mut columns: Vec<(usize, Vec<String>)> = Vec::new();
        for value in &stimulus.values {
            let what = format!("{}, {between}", value.variable_type.name());
            columns.push((value.cell, cells(&[&stimulus.file, &value.column, "→", &value.to, &what])));
        }
        for tick in &stimulus.ticks {
            let to = tick
                .target
                .clock
                .map_or_else(|| plan.full_name(&plan.units[tick.target.unit.0]), |clock| plan.clock_name(clock));
            columns.push((tick.cell, cells(&[&stimulus.file, &tick.column, "→", &to, "ticks"])));
        }
        columns.sort();
        rows.extend(columns.into_iter().map(|(_, row)| row));
    }
    indented(rows.iter(), &[])
}

fn recorded(plan: &Plan) -> String {
    let columns = match plan.signals.len() {
        0 => return String::new(),
        1 => format!("  1 column: {}", Plain(&plan.signals[0].name)),
        n => format!("  {n} columns, {} to {}", Plain(&plan.signals[0].name), Plain(&plan.signals[n - 1].name)),
    };
    let thinned = plan.signals.iter().filter(|signal| signal.rule != Rule::ALL).count();
    let thinned = if thinned > 0 { format!("; not every value of {thinned} of them") } else { String::new() };
    let files: Vec<String> = plan.formats.iter().map(|format| format!("signals.{}", format.extension())).collect();
    let files = match &files[..] {
        _ if plan.formats == [Format::Csv] => String::new(),
        [before @ .., last] if !before.is_empty() => format!(", in {} and {last}", before.join(", ")),
        _ => format!(", in {}", files.join(", ")),
    };
    format!("{columns}{files}{thinned}{}\n", rotated(plan.rotation))
}

/// The rotation of a recording, in words.
fn rotated(Rotation { every, max_size, keep }: Rotation) -> String {
    let after = every.map(|every| format!("{} s of simulation time", every.seconds()));
    let size = max_size.map(|size| ByteSize(size).to_string());
    let ends: Vec<String> = after.into_iter().chain(size).collect();
    let kept = match keep {
        None => "all are kept".to_owned(),
        Some(1) => "the newest one is kept".to_owned(),
        Some(n) => format!("the newest {n} are kept"),
    };
    if ends.is_empty() { String::new() } else { format!("; in a further file after {}, {kept}", ends.join(" or ")) }
}
