//! The engine example while `stress-ng` keeps all cores busy, beside a bare thread that sleeps with the same priority on
//! the same core until instants half a period away: overruns of the 1 ms task that the bare thread would not have had too.

use super::Bench;
use super::bare::{Bare, Place};
use super::results::Results;
use super::rig::Rig;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SECONDS: u32 = 60;
/// The task, and its period in ns.
const TASK: (&str, &str) = ("ecu", "task_1ms");
const PERIOD: i64 = 1_000_000;

pub fn measure(bench: &Bench, results: &mut Results) -> Result<(), String> {
    let name = format!("the engine with stress-ng, {SECONDS} s");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/engine.toml");
    let rig = Rig::of(bench.folder, example);
    // Where the plan puts the task.
    let short = rig.run_for(0.1)?;
    let place = |key: &str| short.clock(TASK.0, TASK.1).and_then(|clock| clock[key].as_u64());
    let (cpu, priority) = place("cpu").zip(place("fifo_priority")).ok_or("the engine has no 1 ms task")?;
    let place = Place { cpu: cpu as usize, priority: priority as u8 };
    let mut stress = match Stress::start() {
        Ok(stress) => stress,
        Err(why) => {
            results.skipped(&name, &why);
            return Ok(());
        }
    };
    let bare = Bare::sleeper(place, PERIOD, PERIOD / 2)?;
    let run = rig.run_for(f64::from(SECONDS));
    let missed = bare.missed();
    bare.finish()?;
    let run = run?;
    if let Some(status) = stress.0.try_wait().map_err(|error| error.to_string())? {
        return Err(format!("stress-ng ended before the run: {status}"));
    }
    let overruns = run.clock(TASK.0, TASK.1).and_then(|clock| clock["overruns"].as_u64()).ok_or("no overruns")?;
    let beyond = overruns.saturating_sub(missed);
    results.limited(&format!("{name}: overruns of the 1 ms task that a bare thread has not"), beyond as f64, "", 0.0);
    results.figure("  all of its overruns", overruns as f64, "");
    results.figure("  releases that the bare thread missed", missed as f64, "");
    Ok(())
}

/// A running stress-ng; killed when it is dropped, with all of its workers.
struct Stress(Child);

impl Stress {
    fn start() -> Result<Stress, String> {
        let mut command = Command::new("stress-ng");
        // Processor time, memory and system calls on every core; an end of its own if this program is killed.
        command.args(["--cpu", "0", "--vm", "1", "--vm-bytes", "128m", "--switch", "1", "--timer", "1"]);
        command.args(["--timeout", &format!("{}s", 2 * SECONDS), "--quiet"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child.map(Stress).map_err(|error| format!("stress-ng (package stress-ng): {error}"))
    }
}

impl Drop for Stress {
    fn drop(&mut self) {
        // On SIGTERM it ends its workers; nobody else has waited for it, so the number is its own still.
        let _gone_already = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
        let _ = self.0.wait();
    }
}
