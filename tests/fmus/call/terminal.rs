//! A prompt, on a terminal.

use super::{command, example};
use crate::program::{PATIENCE, wait_until};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// A terminal with a prompt in it.
struct Prompt {
    child: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Prompt {
    fn new(name: &str, options: &[&str]) -> Prompt {
        let (mut main, mut other) = (-1, -1);
        let nothing = std::ptr::null_mut();
        // SAFETY: both numbers can be written to; without a name, attributes and a size it takes the usual ones.
        let opened = unsafe { libc::openpty(&mut main, &mut other, nothing, nothing.cast(), nothing.cast()) };
        assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
        for number in [main, other] {
            // Or the program would keep its own terminal open.
            // SAFETY: fcntl(F_SETFD) changes a flag of an open descriptor.
            assert_eq!(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) }, 0);
        }
        // SAFETY: just opened, so nothing else owns them.
        let [main, other] = [main, other].map(|number| unsafe { OwnedFd::from_raw_fd(number) });
        let mut command = command(&example(name), options);
        let stdio = || Stdio::from(other.try_clone().unwrap());
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        let own = || {
            // SAFETY: both take numbers alone and are async-signal-safe.
            match unsafe { libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 } {
                true => Err(std::io::Error::last_os_error()),
                false => Ok(()),
            }
        };
        // SAFETY: the closure makes async-signal-safe system calls and builds no more than an error code.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, own) };
        let child = command.spawn().unwrap();
        drop(command);
        let (keys, mut shown) = (File::from(main.try_clone().unwrap()), File::from(main));
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal without a program is an error.
            while let Ok(length @ 1..) = shown.read(&mut bytes) {
                if sender.send(bytes[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Prompt { child, keys, screen, seen: String::new() }
    }

    /// Types, then waits for this to be shown.
    #[track_caller]
    fn types(&mut self, keys: &str, wanted: &str) {
        self.seen.clear();
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.shows(wanted);
    }

    #[track_caller]
    fn shows(&mut self, wanted: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.seen.contains(wanted) {
            match self.screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("no {wanted:?} there:\n{}", self.seen),
            }
        }
    }

    #[track_caller]
    fn exits(mut self, code: i32) {
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{}", self.seen);
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        // One that has ended already is not there to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

#[test]
fn a_prompt_shows_where_the_instance_is_and_takes_mistakes() {
    let mut prompt = Prompt::new("linear", &[]);
    prompt.shows("linear (FMI 3.0, Model Exchange). `help` lists what can be called; Ctrl-D ends.");
    prompt.types("\n", "no instance> ");
    prompt.types("SetTme 1\n", "did you mean \"fmi3SetTime\"");
    prompt.types("Instantiate\n", "Instantiated 0.0> ");
    prompt.types("help\n", "fmi3EnterInitializationMode [START [STOP [TOLERANCE]]]");
    prompt.types("EnterInitializationMode 0.5\n", "Initialization Mode 0.5> ");
    prompt.types(CTRL_D, "\n");
    // What was wrong on the way somebody has seen.
    prompt.exits(0);
}

#[test]
fn ctrl_c_gives_up_a_line_at_the_prompt_and_an_fmu_that_hangs() {
    let mut prompt = Prompt::new("tracer", &["--timeout", "600"]);
    prompt.shows("no instance> ");
    prompt.types("half a line", "half a line");
    prompt.types(CTRL_C, "no instance> ");
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.csv");
    let file = format!("set trace_file {}", trace.display());
    for line in
        ["Instantiate", &file, "set fail_kind 4", "set fail_clock 1", "set fail_at 1", "EnterInitializationMode"]
    {
        prompt.types(&format!("{line}\n"), "0.0> ");
    }
    prompt.types("ExitInitializationMode\n", "Clock Activation Mode 0.0> ");
    prompt.types("activate fast 0\n", "activate fast 0\r\n");
    wait_until("it hangs", || trace.exists());
    prompt.types(CTRL_C, "the FMU was ended in fmi3ActivateModelPartition, as somebody has asked for it");
    prompt.shows("no instance> ");
    prompt.types("Instantiate\n", "Instantiated 0.0> ");
    prompt.types("quit\n", "quit\r\n");
    prompt.exits(0);
}
