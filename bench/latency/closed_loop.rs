//! A control unit of clocks and a plant in a closed loop of 1 kHz, on one core and on two. The plant makes steps itself
//! (`fmus/engine_cs`), or is integrated, with state events (`fmus/suspension`). Whether real time records the bytes of virtual time, the
//! overruns that a bare thread of the same core and priority would not have had too, half a period away, how much an integrated plant
//! computes in a release at most, and what the host takes for a step beside what it takes for a partition.

use super::bare::{Bare, Place};
use super::results::Results;
use super::rig::{Rig, Run};
use super::{Bench, PRIORITY};
use std::path::Path;

const SECONDS: f64 = 60.0;
/// Of the step and of the fastest partition, ns.
const PERIOD: i64 = 1_000_000;

/// An example: `plant` makes steps, `control` has clocks.
struct Example {
    title: &'static str,
    file: &'static str,
    /// The fastest clock of `control`.
    fastest: &'static str,
}

const STEPS: Example = Example { title: "the closed loop", file: "examples/engine_cs.toml", fastest: "fuel" };
const EQUATIONS: Example =
    Example { title: "the closed loop with Model Exchange", file: "examples/suspension.toml", fastest: "damper" };

pub fn measure(bench: &Bench, results: &mut Results) -> Result<(), String> {
    for example in [STEPS, EQUATIONS] {
        on(bench, &example, "one core", [bench.cpu, bench.cpu], results)?;
        match bench.other_cpu {
            Some(other) => on(bench, &example, "two cores", [bench.cpu, other], results)?,
            None => results.skipped(&format!("{} on two cores", example.title), "there is one"),
        }
    }
    beside_a_partition(bench, results)
}

/// The loop with the plant and the control unit on these cores.
fn on(
    bench: &Bench,
    example: &Example,
    place: &str,
    [plant, control]: [usize; 2],
    results: &mut Results,
) -> Result<(), String> {
    let name = format!("{} on {place}, {SECONDS} s", example.title);
    let rig = Rig::new(bench.folder, "loop", &text(example, plant, control)?)?;
    rig.run_for_in_virtual_time(SECONDS)?;
    let expected = rig.result("signals.csv")?;
    // One on each core, as urgent as the step and the fastest partition, which nothing is above.
    let sleeper = |cpu| Bare::sleeper(Place { cpu, priority: PRIORITY }, PERIOD, PERIOD / 2);
    let bare = [sleeper(plant)?, sleeper(control)?];
    let run = rig.run_for(SECONDS);
    let missed = bare.each_ref().map(Bare::missed);
    bare.into_iter().try_for_each(|bare| bare.finish().map(|_| ()))?;
    let run = run?;
    let of = |fmu: &str, clock: &str| {
        run.clock(fmu, clock).and_then(|clock| clock["overruns"].as_u64()).ok_or("no overruns")
    };
    let overruns = [of("plant", "step")?, of("control", example.fastest)?];
    let promise = &run.report["promise"];
    let until = promise["until_s"].as_f64().filter(|_| promise["holds"] != true);
    let rows = differing_rows(&expected, &rig.result("signals.csv")?, until);
    results.limited(&format!("{name}: rows that differ from virtual time"), rows as f64, "", 0.0);
    results.figure("  up to, of what was promised", until.unwrap_or(SECONDS), "s");
    let beyond: u64 = overruns.iter().zip(missed).map(|(own, bare)| own.saturating_sub(bare)).sum();
    results.limited(&format!("{name}: overruns that a bare thread has not"), beyond as f64, "", 0.0);
    for (who, own, bare) in [("the step", overruns[0], missed[0]), ("the fastest partition", overruns[1], missed[1])] {
        results.figure(&format!("  overruns of {who}"), own as f64, "");
        results.figure("  releases that the bare thread of that core missed", bare as f64, "");
    }
    let plant = run.clock("plant", "step").ok_or("no plant")?;
    if let Some(most) = plant["integration"]["most_right_hand_sides"].as_f64() {
        results.figure("  right-hand sides in a release, at most", most, "");
        results.figure("  state events", plant["integration"]["state_events"].as_f64().unwrap_or(0.0), "");
        results.figure("  execution of a step, p50", plant["execution"]["p50"].as_f64().unwrap_or(0.0), "ns");
    }
    host_times(&run, [("plant", "step"), ("control", example.fastest)], results)
}

/// The example, with the FMUs on these cores.
fn text(example: &Example, plant: usize, control: usize) -> Result<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join(example.file)).map_err(|error| error.to_string())?;
    let placed = |name: &str, cpu: usize| (format!("[fmu.{name}]\n"), format!("[fmu.{name}]\ncpu = {cpu}\n"));
    let mut text = text.replace("../fmus", &root.join("fmus").display().to_string());
    for (before, after) in [placed("plant", plant), placed("control", control)] {
        text = text.replace(&before, &after);
    }
    // What is late for a few milliseconds is made up one after the other, with the same bytes.
    let text = text.replace("[rig]\n", "[rig]\noverrun = \"queue\"\n");
    Ok(format!("{text}\n[host]\nfifo_priorities = [{}, {PRIORITY}]\n", PRIORITY - 9))
}

/// In how many rows before `until` (s) two recordings differ, or one of them has more.
fn differing_rows(expected: &str, recorded: &str, until: Option<f64>) -> usize {
    let early = |line: &&str| {
        let time = line.split(',').next().and_then(|time| time.parse::<f64>().ok());
        until.is_none_or(|until| time.is_none_or(|time| time < until))
    };
    let (a, b): (Vec<&str>, Vec<&str>) =
        (expected.lines().filter(early).collect(), recorded.lines().filter(early).collect());
    a.iter().zip(&b).filter(|(a, b)| a != b).count() + a.len().abs_diff(b.len())
}

/// The same values in and out, once as the steps of `fmus/stepper` and once as the partition of `fmus/mixer`, by turns on one core.
fn beside_a_partition(bench: &Bench, results: &mut Results) -> Result<(), String> {
    let fmus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus");
    let mut text =
        format!("[rig]\nstop_time = 10\n[host]\nfifo_priorities = [{PRIORITY}, {PRIORITY}]\ncpus = [{}]\n", bench.cpu);
    text += &format!(
        "[fmu.stepper]\npath = '{0}/stepper'\nstep = '1/1000'\n[fmu.mixer]\npath = '{0}/mixer'\n",
        fmus.display()
    );
    text += "[fmu.mixer.clock.step]\ninterval = '1/1000'\nshift = '1/2000'\n";
    for own in ["stepper", "mixer"] {
        for input in ["a", "b", "c"] {
            text += &format!("[[connect]]\nfrom = '{own}.x'\nto = '{own}.{input}'\ntiming = 'delayed'\n");
        }
    }
    let run = Rig::new(bench.folder, "beside", &text)?.run()?;
    results.figure("three signals in and one out, 1 kHz, all delayed", 10.0, "s");
    host_times(&run, [("stepper", "step"), ("mixer", "step")], results)
}

fn host_times(run: &Run, [step, partition]: [(&str, &str); 2], results: &mut Results) -> Result<(), String> {
    for percentile in ["p50", "p99"] {
        let of = |(fmu, clock): (&str, &str)| {
            run.clock(fmu, clock).and_then(|clock| clock["parts"]["host"][percentile].as_f64()).ok_or("no host time")
        };
        results.figure(&format!("  host time of a step, {percentile}"), of(step)?, "ns");
        results.figure(&format!("  host time of a partition, {percentile}"), of(partition)?, "ns");
    }
    Ok(())
}
