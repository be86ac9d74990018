//! What a run tells nobody need read.

use super::program::{Rig, send, shared_core, wait_until};
use super::rows;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal::SIGTERM;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};

/// A standard error that is full, and its other end.
fn full() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    loop {
        match writer.write(b".") {
            Ok(_) => (),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    (reader, writer)
}

/// Starts this rig, which has a message, and waits until its report is there. Nobody has read anything by then.
fn unread(rig: &Rig) -> (Child, std::io::PipeReader) {
    // For the message, at the start of the run: these folders have to go.
    rig.run_with(&["--repeat", "2", "--mode", "virtual"]).exits(0);
    let (reader, writer) = full();
    let child = rig.command().stderr(writer).stdout(Stdio::null()).spawn().unwrap();
    wait_until("there is a report, while nobody reads", || rig.out().join("report.html").exists());
    (child, reader)
}

/// A terminal that stands still, or a pipe to a program that does not read: the recording and the report are complete before
/// anybody has read a message, and the message is there for who comes to read it.
#[test]
fn a_standard_error_that_nobody_reads_costs_nothing_of_the_recording() {
    shared_core(|| {
        let rig =
            Rig::new("stop_time = 0.6").tracer("a", "count_up = true").more("[record]\nsignals = ['a.count_fast']\n");
        let (mut child, mut reader) = unread(&rig);
        assert!(child.try_wait().unwrap().is_none(), "it has not waited for a reader");
        let recorded = rows(&rig.out().join("signals.csv")).1.len() as u64;
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert!(text.contains("is kept in"), "{}", text.trim_start_matches('.'));
        let run = rig.finish(child).exits(0);
        assert_eq!(
            (run.report()["samples_dropped"].as_u64(), run.count("a", "fast", "activations")),
            (Some(0), recorded)
        );
    });
}

/// When everything is written and nobody comes to read the messages, the program can be ended as any other.
#[test]
fn who_waits_for_a_reader_that_never_comes_can_be_ended() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.1").tracer("a", "");
        let (mut child, reader) = unread(&rig);
        // From a second after the end of the run on; before that it may still be read.
        wait_until("it is ended", || {
            send(child.id() as i32, SIGTERM);
            child.try_wait().unwrap().is_some()
        });
        assert_eq!(child.wait().unwrap().signal(), Some(SIGTERM as i32));
        drop(reader);
    });
}
