//! The service manager, and the messages to it.

use super::notify::{self, Notify};
use super::pulse::{Pulse, Pulses};
use super::watchdog::{ServiceWatchdog, Sign, Who};
use crate::log::DaemonLog;
use crate::rigs::Rigs;
use crate::status::{RigState, RigStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use vecud_linux::wake::monotonic_now;

/// Time between two messages to the service manager about changes and that all goes on, unless its watchdog wants them more often.
const PERIOD: Duration = Duration::from_secs(1);

/// The service manager that has started the daemon, or nobody.
#[derive(Clone, Debug)]
pub struct ServiceManager {
    notify: Arc<Notify>,
    log: DaemonLog,
    /// A notification failed, and that was reported.
    is_deaf: Arc<AtomicBool>,
    /// The daemon ends.
    ends: Arc<AtomicBool>,
}

impl ServiceManager {
    /// The one that the environment names.
    pub fn new(log: DaemonLog) -> ServiceManager {
        let notify = Arc::new(Notify::of_the_environment());
        ServiceManager { notify, log, is_deaf: Arc::default(), ends: Arc::default() }
    }

    fn tell(&self, message: &str) {
        if let Err(error) = self.notify.send(message)
            && !self.is_deaf.swap(true, SeqCst)
        {
            self.log
                .say(&format!("the service manager ($NOTIFY_SOCKET) cannot be told how the daemon gets on: {error}"));
        }
    }

    /// Requests are answered from here on.
    pub fn is_ready(&self) {
        self.tell("READY=1");
    }

    /// The daemon ends.
    pub fn is_stopping(&self) {
        self.ends.store(true, SeqCst);
        self.tell("STOPPING=1");
    }

    /// Tells the service manager that files are read again, until the result is dropped.
    pub fn reloads(&self) -> Reload<'_> {
        // Since 253 systemd wants to know when that was.
        self.tell_unless_it_ends(&format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_now() / 1000));
        Reload(self)
    }

    /// Sends a message unless the daemon is ending: then it has said so, and is not ready again.
    fn tell_unless_it_ends(&self, message: &str) {
        if !self.ends.load(SeqCst) {
            self.tell(message);
        }
    }

    /// From here on a thread tells the service manager the state of the rigs and the daemon, until the result is dropped.
    pub fn attend(&self, rigs: Arc<Rigs>, pulses: Pulses) -> Attendance {
        let (over, is_over) = channel::<()>();
        let manager = self.clone();
        let limit = notify::watchdog();
        let attend = move || {
            let mut watchdog = limit.map(ServiceWatchdog::new);
            let period = watchdog.as_ref().map_or(PERIOD, |watchdog| watchdog.period().min(PERIOD));
            let mut told = String::new();
            loop {
                let status = manager.status(&rigs);
                if status != told {
                    manager.tell(&format!("STATUS={status}"));
                    told = status;
                }
                if let Some(watchdog) = &mut watchdog {
                    let look = watchdog.look(Instant::now(), signs(&rigs, &pulses));
                    look.remarks.iter().for_each(|remark| manager.log.warn(remark));
                    if look.all_go_on {
                        manager.tell("WATCHDOG=1");
                    }
                }
                if is_over.recv_timeout(period) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        let started = thread::Builder::new().name("vecud.service".to_owned()).spawn(attend);
        if let Err(error) = &started {
            self.log
                .warn(&format!("there is no thread that tells the service manager how the daemon gets on: {error}"));
        }
        Attendance { over: Some(over), thread: started.ok() }
    }

    /// The state of the rigs, in a line.
    fn status(&self, rigs: &Rigs) -> String {
        let all: Vec<RigStatus> = rigs.list().iter().map(|rig| rig.status()).collect();
        line(&all, self.ends.load(SeqCst))
    }
}

/// While this exists, files are read again.
#[must_use]
pub struct Reload<'a>(&'a ServiceManager);

impl Drop for Reload<'_> {
    fn drop(&mut self) {
        self.0.tell_unless_it_ends("READY=1");
    }
}

/// While this is there the service manager is told how the daemon gets on.
#[must_use]
pub struct Attendance {
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Attendance {
    fn drop(&mut self) {
        drop(self.over.take());
        let _panicked = self.thread.take().map(JoinHandle::join);
    }
}

/// The state of rigs, in a line.
fn line(all: &[RigStatus], ends: bool) -> String {
    let named = |is_one: fn(&RigStatus) -> bool| {
        let names: Vec<&str> = all.iter().filter(|status| is_one(status)).map(|status| status.name.as_str()).collect();
        (names.len(), names.join(", "))
    };
    let (busy, busy_names) = named(RigStatus::is_busy);
    let (failed, failed_names) = named(|status| status.state == RigState::Failed && !status.is_busy());
    let first = match (ends, busy) {
        (true, 0) => "ends".to_owned(),
        (true, _) => format!("ends; waits for {busy_names}"),
        (false, 0) => format!("none of {} rigs runs", all.len()),
        (false, _) => format!("{busy} of {} rigs run: {busy_names}", all.len()),
    };
    if failed == 0 { first } else { format!("{first}; failed: {failed_names}") }
}

/// Collects the signs of life.
fn signs(rigs: &Rigs, pulses: &Pulses) -> Vec<Sign> {
    let of = |who, pulse: &Pulse| Sign { who, count: pulse.count(), waits_for_disk: false };
    let sessions = rigs.list().into_iter().filter_map(|rig| {
        let looks = rig.running()?.handle?.looks()?;
        let who = Who::Session(rig.name().clone());
        Some(Sign { who, count: looks.count, waits_for_disk: looks.waits_for_disk })
    });
    [of(Who::MainLoop, &pulses.main), of(Who::Requests, &pulses.requests)].into_iter().chain(sessions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::RigName;

    fn status(name: &str, state: RigState) -> RigStatus {
        RigStatus { state, ..RigStatus::new(RigName::new(name).unwrap()) }
    }

    #[test]
    fn the_line_names_who_runs_and_who_has_failed() {
        assert_eq!(line(&[], false), "none of 0 rigs runs");
        let all = [status("a", RigState::Running), status("b", RigState::Failed), status("c", RigState::Preparing)];
        assert_eq!(line(&all, false), "2 of 3 rigs run: a, c; failed: b");
        assert_eq!(line(&all, true), "ends; waits for a, c; failed: b");
        assert_eq!(line(&all[1..2], true), "ends; failed: b");
    }
}
