//! Programs and interrupts that had the core while the worst activations waited or ran.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use vecud_base::plain::plain;
use vecud_record::trace::kernel::{CoreSpan, WhatRan};
use vecud_report::{ActivationResult, KernelWork, Run};

/// Greatest length of a thread's name in the kernel, bytes.
const COMM: usize = 15;
/// Number of threads and interrupts that the report names for one interval.
const TOLD: usize = 6;

/// Adds to each of the worst activations covered by the file the threads and interrupts that ran while it waited or
/// ran.
pub(super) fn tell(run: &mut Run, file: &Path, length: u64, from: i64, to: i64) -> io::Result<()> {
    let threads: Vec<String> = run.clocks.iter().map(|clock| clock.thread.clone()).collect();
    let of_rig = |what: &str| {
        let name = what.strip_prefix("thread ")?;
        threads.iter().find(|thread| comm(thread) == name)
    };
    let mut moments: Vec<(CoreSpan, &mut ActivationResult)> = Vec::new();
    for clock in &mut run.clocks {
        let cpu = clock.cpu;
        let causes = &mut clock.causes;
        let wakeups = causes.worst_wakeups.iter_mut().map(|moment| (moment.wakeup, moment));
        let responses = causes.worst_responses.iter_mut().map(|moment| (moment.response, moment));
        for (length, moment) in wakeups.chain(responses) {
            let begin = moment.release_monotonic_ns;
            let end = begin.saturating_add(i64::try_from(length).unwrap_or(i64::MAX));
            if from <= begin && end <= to {
                moments.push((CoreSpan { cpu, from: begin, to: end }, moment));
            }
        }
    }
    let stretches: Vec<CoreSpan> = moments.iter().map(|(stretch, _)| *stretch).collect();
    let mut what = WhatRan::new(&stretches);
    let mut text = BufReader::new(File::open(file)?.take(length));
    let mut line = Vec::new();
    while text.by_ref().take(1 << 16).read_until(b'\n', &mut line)? > 0 {
        what.line(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    for ((_, moment), ran) in moments.into_iter().zip(what.finish()) {
        let mut all: Vec<KernelWork> = ran
            .into_iter()
            .map(|(what, ns)| match of_rig(&what) {
                // The full name of the thread.
                Some(thread) => KernelWork { what: format!("thread {thread}"), ns, rig: true },
                None => KernelWork { what: plain(&what), ns, rig: false },
            })
            .collect();
        all.sort_by_key(|work| std::cmp::Reverse(work.ns));
        all.truncate(TOLD);
        moment.kernel = all;
    }
    Ok(())
}

/// Name of a thread as the kernel truncates it.
fn comm(name: &str) -> &str {
    let end = (0..=COMM.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    &name[..end]
}
