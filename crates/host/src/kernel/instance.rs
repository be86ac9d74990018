//! An instance of the kernel's tracing of its own, in tracefs: buffers, events and a clock that no other user of tracing shares.
//!
//! Guarantees: other tracing in the kernel is not touched. The instance is removed with the value, also on an error.
//! When this process is killed, the kernel ends the tracing and frees the buffers (`free_buffer`, `disable_on_free`);
//! the empty instance is removed by [`remove_stale`].

use crate::doctor::Tree;
use crate::doctor::facts::{SESSIONS, TRACEFS, instance_name, left_traces};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Buffer for each core without partitions, KiB: it only receives marks.
const OTHERS_KIB: u64 = 64;

/// The events to trace, where the kernel has them: switches and wake-ups of threads, and interrupts.
const EVENTS: [&str; 18] = [
    "sched/sched_switch",
    "sched/sched_wakeup",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "irq_vectors/local_timer_entry",
    "irq_vectors/local_timer_exit",
    "irq_vectors/reschedule_entry",
    "irq_vectors/reschedule_exit",
    "irq_vectors/call_function_entry",
    "irq_vectors/call_function_exit",
    "irq_vectors/call_function_single_entry",
    "irq_vectors/call_function_single_exit",
    "irq_vectors/irq_work_entry",
    "irq_vectors/irq_work_exit",
    "irq_vectors/thermal_apic_entry",
    "irq_vectors/thermal_apic_exit",
];
/// Event without which a trace does not show the owner of a core.
const NEEDED: &str = EVENTS[0];

/// A trace instance that records.
#[derive(Debug)]
pub(super) struct TraceInstance {
    path: PathBuf,
    /// Open until the instance is removed.
    files: Option<Files>,
}

#[derive(Debug)]
struct Files {
    marker: File,
    on: File,
    /// Frees the buffers when it is closed, even by the kernel.
    _free: File,
}

impl TraceInstance {
    /// Makes an instance that traces these cores into rings of `kib` KiB each. The error names the missing prerequisite
    /// and how to get it.
    pub(super) fn new(cores: &[usize], kib: u64) -> Result<TraceInstance, String> {
        let root = TRACEFS.iter().map(Path::new).find(|place| place.join("instances").exists());
        let instances = match root {
            Some(root) => root.join("instances"),
            None => return Err(unreachable(&TRACEFS.map(Path::new))),
        };
        TraceInstance::within(&instances, cores, kib)
    }

    fn within(instances: &Path, cores: &[usize], kib: u64) -> Result<TraceInstance, String> {
        let path = make(instances).map_err(|error| refusal(instances, &error))?;
        // From here on the instance is removed on every path.
        let mut instance = TraceInstance { path, files: None };
        instance.set_up(cores, kib)?;
        Ok(instance)
    }

    fn set_up(&mut self, cores: &[usize], kib: u64) -> Result<(), String> {
        self.write("tracing_on", "0")?;
        // The clock of the partitions' time stamps.
        self.write("trace_clock", "mono")?;
        self.write("options/disable_on_free", "1")?;
        self.write("buffer_size_kb", &OTHERS_KIB.to_string())?;
        for core in cores {
            self.write(&format!("per_cpu/cpu{core}/buffer_size_kb"), &kib.to_string())?;
        }
        // `tracing_cpumask` would suppress marks as well, which are written on other cores.
        let mut filter = String::new();
        for core in cores {
            let or = if filter.is_empty() { "" } else { " || " };
            let _ = write!(filter, "{or}CPU == {core}");
        }
        for event in EVENTS {
            if self.path.join("events").join(event).is_dir() {
                self.write(&format!("events/{event}/filter"), &filter)?;
                self.write(&format!("events/{event}/enable"), "1")?;
            } else if event == NEEDED {
                return Err(format!("this kernel has no event {event} (CONFIG_TRACING, CONFIG_EVENT_TRACING)"));
            }
        }
        let open = |name| open(&self.path, name);
        self.files =
            Some(Files { marker: open("trace_marker")?, on: open("tracing_on")?, _free: open("free_buffer")? });
        self.write("tracing_on", "1")
    }

    fn write(&self, name: &str, value: &str) -> Result<(), String> {
        let written = open(&self.path, name)?.write_all(value.as_bytes());
        written.map_err(|error| format!("{}: {value}: {error}", self.path.join(name).display()))
    }

    /// Writes a mark into the trace while it runs.
    pub(super) fn mark(&mut self, words: &str) {
        if let Some(files) = &mut self.files {
            let _there_is_none_when_it_is_stopped = files.marker.write_all(format!("vecud: {words}\n").as_bytes());
        }
    }

    /// Stops the trace and keeps its content.
    pub(super) fn stop(&mut self) -> io::Result<()> {
        self.files.as_mut().map_or(Ok(()), |files| files.on.write_all(b"0"))
    }

    /// The trace as text.
    pub(super) fn text(&self) -> io::Result<impl Read + use<>> {
        File::open(self.path.join("trace"))
    }
}

impl Drop for TraceInstance {
    fn drop(&mut self) {
        let _ = self.stop();
        self.files = None;
        // A reader of the trace delays its removal.
        for _ in 0..20 {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
    }
}

fn open(folder: &Path, name: &str) -> Result<File, String> {
    let path = folder.join(name);
    File::options().write(true).open(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Makes an instance: a folder with a name that no other session uses.
fn make(instances: &Path) -> io::Result<PathBuf> {
    for session in 1..SESSIONS {
        let path = instances.join(instance_name(std::process::id(), session));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
            made => return made.map(|()| path),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Explains why no place offers instances, and the remedy.
fn unreachable(places: &[&Path]) -> String {
    let hidden =
        |place: &&&Path| matches!(fs::read_dir(place), Err(error) if error.kind() == ErrorKind::PermissionDenied);
    match places.iter().find(hidden) {
        Some(place) => refusal(place, &ErrorKind::PermissionDenied.into()),
        None => {
            let place = places[0].display();
            format!("tracefs is not mounted at {place}; as root: mount -t tracefs tracefs {place}")
        }
    }
}

fn refusal(place: &Path, error: &io::Error) -> String {
    let way_out = match error.kind() {
        ErrorKind::PermissionDenied => {
            "; tracing is for root (or CAP_DAC_OVERRIDE), and a kernel in lockdown refuses it to all"
        }
        _ => "",
    };
    format!("{}: {error}{way_out}", place.display())
}

/// Removes instances that killed runs have left. Returns their folders. Failures are silent: such an instance belongs
/// to another user, or is in use by a process that has another number in this container.
pub(crate) fn remove_stale() -> Vec<String> {
    let mut left = left_traces(&Tree::of_this_machine());
    left.retain(|folder| fs::remove_dir(folder).is_ok());
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_the_way_to_get_it() {
        let folder = tempfile::tempdir().unwrap();
        let none = unreachable(&[&folder.path().join("none")]);
        assert!(none.contains("tracefs is not mounted") && none.contains("mount -t tracefs"), "{none}");
        let refused = refusal(folder.path(), &ErrorKind::PermissionDenied.into());
        assert!(refused.contains("is for root"), "{refused}");
    }

    /// A folder that is no tracefs: what was made in it is gone again.
    #[test]
    fn an_instance_that_cannot_be_set_up_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let error = TraceInstance::within(folder.path(), &[0], 64).unwrap_err();
        assert!(error.contains("tracing_on"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
