//! The time of planning grows with the size of a rig, not with its square.

use super::*;
use crate::{StimulusInput, table};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write as _;
use std::hint::black_box;

/// How much larger the larger one of two rigs is.
const LARGER: usize = 8;

/// Processor time of this thread, ns.
fn processor_time(work: impl FnOnce()) -> i64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    };
    let from = now();
    work();
    now() - from
}

/// A rig that is [`LARGER`] takes no more than twice as many times the time: its square would be 64 times.
pub fn grows_with_the_size<T>(size: usize, of_size: impl Fn(usize) -> T, work: impl Fn(&T)) {
    let [small, large] = [size, LARGER * size].map(|size| {
        let given = of_size(size);
        // What disturbs one measurement hardly disturbs all of them.
        (0..3).map(|_| processor_time(|| work(&given))).min().unwrap()
    });
    assert!(large < 2 * LARGER as i64 * small, "{size} take {small} ns, {LARGER} times as many {large} ns");
}

/// Text for each of these numbers.
fn each(size: usize, text: impl Fn(usize) -> String) -> String {
    (0..size).fold(String::new(), |mut all, number| {
        write!(all, "{}", text(number)).unwrap();
        all
    })
}

fn plan_of(text: &str, descriptions: &[ModelDescription]) -> Plan {
    try_build(text, descriptions, &host()).unwrap()
}

const STEP: &str = "<Clock name=\"step\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" \
                    intervalDecimal=\"0.001\" priority=\"1\"/>";

fn variables(size: usize, causality: &str) -> String {
    let start = if causality == "input" { " start=\"0\"" } else { "" };
    let of = |number: usize| {
        format!(
            "<Float64 name=\"v{number}\" valueReference=\"{}\" causality=\"{causality}\" variability=\"discrete\" \
             clocks=\"1\"{start}/>",
            number + 10
        )
    };
    format!("{STEP}{}", each(size, of))
}

/// A simulation names each output.
#[test]
fn with_the_variables_that_are_recorded_by_their_names() {
    let rig = |size: usize| {
        let names = each(size, |number| format!("\"a.v{number}\", "));
        (format!("[fmu.a]\npath = \"a\"\n[record]\nsignals = [{names}]\n"), description(&variables(size, "output")))
    };
    grows_with_the_size(1000, rig, |(text, fmu)| {
        let plan = plan_of(text, std::slice::from_ref(fmu));
        assert!(plan.signals.len() >= 1000);
    });
}

#[test]
fn with_the_connections() {
    let rig = |size: usize| {
        let connect = |v: usize| format!("[[connect]]\nfrom = \"a.v{v}\"\nto = \"b.v{v}\"\n");
        let text = format!("[fmu.a]\npath = \"a\"\n[fmu.b]\npath = \"b\"\n{}", each(size, connect));
        (text, [description(&variables(size, "output")), description(&variables(size, "input"))])
    };
    grows_with_the_size(500, rig, |(text, fmus)| drop(black_box(table::render(&plan_of(text, fmus)))));
}

/// Columns of a recording that fit nothing are passed over.
#[test]
fn with_the_columns_of_stimuli() {
    let rig = |size: usize| {
        let text = "[fmu.a]\npath = \"a\"\n[[stimulus]]\nrecording = \"out\"\n";
        let rig = rig::parse(text, Path::new("rig.toml")).unwrap();
        let column = |value: String| rig::At { value, place: rig::Place::default() };
        let columns = (0..size).flat_map(|v| [column(format!("a.v{v}")), column(format!("a.w{v}"))]).collect();
        let opened = StimulusInput { file: "f.csv".into(), columns, rate: 1.0, start: Vec::new() };
        (rig, opened, description(&variables(size, "input")))
    };
    grows_with_the_size(500, rig, |(rig, opened, fmu)| {
        let inputs = inputs(rig, std::slice::from_ref(fmu));
        drop(black_box(build(rig, &inputs, std::slice::from_ref(opened), &host()).unwrap()));
    });
}

/// Partitions in a chain: the first connection is immediate, so that virtual time's promise covers none of them, one after the other.
#[test]
fn with_the_partitions_that_follow_an_uncovered_one() {
    let fmu = |size: usize| {
        description(&each(size, |number| {
            let clock = 1 + number;
            format!(
                "<Clock name=\"c{number}\" valueReference=\"{clock}\" causality=\"input\" intervalVariability=\"constant\" \
                 intervalDecimal=\"0.001\" priority=\"1\"/><Float64 name=\"u{number}\" valueReference=\"{}\" causality=\"input\" \
                 start=\"0\" variability=\"discrete\" clocks=\"{clock}\"/><Float64 name=\"y{number}\" valueReference=\"{}\" \
                 causality=\"output\" variability=\"discrete\" clocks=\"{clock}\"/>",
                100_000 + number,
                200_000 + number
            )
        }))
    };
    let rig = |size: usize| {
        let connect = |v: usize| {
            let (from, timing) = if v == 0 { (1, "immediate") } else { (v - 1, "delayed") };
            format!("[[connect]]\nfrom = \"a.y{from}\"\nto = \"a.u{v}\"\ntiming = \"{timing}\"\n")
        };
        let text = format!("[fmu.a]\npath = \"a\"\n{}[record]\nsignals = [\"*\"]\n", each(size, connect));
        plan_of(&text, &[fmu(size)])
    };
    grows_with_the_size(30, rig, |plan| drop(black_box(crate::promise::Promise::of(plan))));
}
