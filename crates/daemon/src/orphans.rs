//! Processes that FMU code leaves behind: their orphans become children of the daemon.
//!
//! Each session ends those of its own runner when that is over, and its report names them. To take note of their end, and of the end of
//! those that do so by themselves meanwhile, is for the daemon: a thread does that.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use vecud_host::Options;
use vecud_linux::offspring;

/// Interval between two checks for orphans.
const LOOK: Duration = Duration::from_millis(100);

/// Adopts orphans until it is dropped.
pub struct Orphans {
    /// Reason why the daemon cannot adopt them.
    refused: Option<String>,
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Orphans {
    /// From here on this process adopts orphans of FMU code, and removes them from the table of processes when they have ended.
    pub fn adopt() -> Orphans {
        if let Err(error) = offspring::adopt() {
            return Orphans { refused: Some(error.to_string()), over: None, thread: None };
        }
        let (over, is_over) = channel::<()>();
        let reap = move || {
            while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                offspring::reap_orphans();
            }
        };
        let thread = thread::Builder::new().name("vecud.orphans".to_owned()).spawn(reap);
        let refused = thread.as_ref().err().map(|error| format!("a thread for orphans: {error}"));
        Orphans { refused, over: Some(over), thread: thread.ok() }
    }

    /// Options of a session in this process.
    pub fn with(&self, mut options: Options) -> Options {
        options.adopts = self.refused.is_none();
        let outlive = |why| format!("PROCESSES THAT FMU CODE STARTS MAY OUTLIVE THE RUN: {why}");
        options.warnings.extend(self.refused.as_ref().map(outlive));
        options
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        self.over = None;
        if let Some(thread) = self.thread.take() {
            let _it_does_not_panic = thread.join();
        }
    }
}
