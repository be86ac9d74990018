//! The example: the loop of engine and control unit closes, and a control unit that has seen impossible teeth recovers.

use crate::program::{Outcome, Rig};
use std::path::Path;
use std::sync::{Arc, Mutex};
use vecud::ffi::{Batch, ForeignCall, Function, InstanceHost, Library, Partition, Status, ThreadHost, set_thread_host};
use vecud::fmu::archive::{Cache, Unpacked};
use vecud::fmu::description::{Abi, Interface, ValueReference, VariableType};

fn run(idle_speed: f64) -> Outcome {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(manifest.join("examples/engine.toml")).unwrap();
    let folder = crate::program::tempdir().unwrap();
    let changed = text
        .replace("idle_speed = 850.0", &format!("idle_speed = {idle_speed:?}"))
        .replace("../fmus", manifest.join("fmus").to_str().unwrap());
    assert!(idle_speed == 850.0 || changed.contains(&format!("idle_speed = {idle_speed:?}")), "{text}");
    let file = folder.path().join("engine.toml");
    std::fs::write(&file, changed).unwrap();
    let rig = Rig::of_file(file.to_str().unwrap());
    let mut command = rig.command();
    command.args(["--mode", "virtual", "--stop-time", "10"]);
    rig.finish(rig.start(command)).exits(0)
}

/// Smallest and largest value of a signal in [from, to) seconds.
fn range(run: &Outcome, signal: &str, from: f64, to: f64) -> (f64, f64) {
    let text = run.file("signals.csv");
    let mut lines = text.lines();
    let column = lines.next().unwrap().split(',').position(|name| name == signal).unwrap();
    let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let wanted = rows.filter(|row| (from..to).contains(&row[0].parse::<f64>().unwrap()));
    let values = wanted.map(|row| row[column].parse::<f64>().unwrap());
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}

#[test]
fn the_engine_settles_at_the_idle_speed_of_the_rig_and_recovers_from_the_load_step() {
    for idle in [850.0, 1000.0] {
        let run = run(idle);
        let near = |(low, high): (f64, f64)| low > idle - 15.0 && high < idle + 15.0;
        let speed = |from, to| range(&run, "plant.speed", from, to);
        assert!(near(speed(3.0, 4.0)), "settled at {idle}: {:?}", speed(3.0, 4.0));
        assert!(speed(4.0, 5.0).0 < idle - 30.0, "the load step is felt: {:?}", speed(4.0, 5.0));
        assert!(near(speed(6.0, 7.0)), "recovered under load at {idle}: {:?}", speed(6.0, 7.0));
        assert!(near(speed(9.0, 10.0)), "settled again at {idle}: {:?}", speed(9.0, 10.0));
        // The control unit reads the true speed from its teeth.
        assert!(near(range(&run, "ecu.engine_speed", 9.0, 10.0)));
    }
}

struct Ear(Mutex<Vec<String>>);
impl InstanceHost for Ear {
    fn log(&self, _: Status, _: Option<&[u8]>, message: &[u8]) {
        self.0.lock().unwrap().push(String::from_utf8_lossy(message).into_owned());
    }
    fn foreign_call(&self, what: ForeignCall) {
        panic!("{what:?}");
    }
}

struct Quiet;
impl ThreadHost for Quiet {
    fn clock_update(&self, _: Option<f64>) {}
    fn lock_preemption(&self) {}
    fn unlock_preemption(&self) {}
    fn warned(&self, _: Function) {}
}

const CRANK_ISR: ValueReference = ValueReference(1);
const ENGINE_SPEED: ValueReference = ValueReference(20);
const PERIOD: f64 = 60.0 / 850.0 / 36.0;

/// Passes a tooth and returns the speed that the control unit makes of it.
fn tooth(partition: &mut Partition, time: f64) -> f64 {
    let mut speed = Batch::new(VariableType::Float64, vec![(ENGINE_SPEED, 1)]);
    let mut getting = partition.begin().activate(time).unwrap();
    let _ok = getting.get(&mut speed).unwrap();
    f64::from_bits(speed.word(0))
}

/// Revolutions of the wheel (36 positions, the last one missing) at 850 rpm; returns time and last speed.
fn revolutions(partition: &mut Partition, mut time: f64, count: usize) -> (f64, f64) {
    let mut speed = 0.0;
    for position in (0..36).cycle().take(36 * count) {
        time += PERIOD;
        if position < 35 {
            speed = tooth(partition, time);
        }
    }
    (time, speed)
}

#[test]
fn impossible_teeth_do_not_spoil_the_speed_for_ever() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    let unpacked = Unpacked::open(&manifest.join("fmus/engine_ecu"), &cache).unwrap();
    let library = Arc::new(
        Library::load(&unpacked.library("engine_ecu", &cache).unwrap(), Abi::Fmi3, Interface::ScheduledExecution)
            .unwrap(),
    );
    let ear = Arc::new(Ear(Mutex::new(Vec::new())));
    set_thread_host(Some(&Quiet));
    let instance =
        library.instantiate_scheduled_execution("ecu", "{vecud-engine-ecu-1}", None, true, ear.clone()).unwrap();
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap().exit_initialization_mode().unwrap();
    let (control, mut partitions) = instance.into_parts(&[CRANK_ISR]);
    let partition = &mut partitions[0];
    let near = |speed: f64| (speed - 850.0).abs() < 1.0;
    let (time, speed) = revolutions(partition, 0.0, 3);
    assert!(near(speed), "{speed}");
    // A burst that no crankshaft can make: three teeth within nanoseconds.
    for late in [1e-9, 2e-9, 3e-9] {
        let speed = tooth(partition, time + late);
        assert!(near(speed), "{speed} rpm in the burst");
    }
    let (time, speed) = revolutions(partition, time, 2);
    assert!(near(speed), "{speed} rpm two revolutions after the burst");
    // Teeth that are lost: half a revolution.
    let (_, speed) = revolutions(partition, time + 18.0 * PERIOD, 2);
    assert!(near(speed), "{speed} rpm two revolutions after lost teeth");
    let _ok = control.terminate(partitions).unwrap();
    assert!(ear.0.lock().unwrap().is_empty());
}
