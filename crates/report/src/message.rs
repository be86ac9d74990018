//! The words of a problem: the one place where its kind and figures become a sentence.

use super::format::{duration, short_duration, some};
use super::problem::{Broken, FailureKey, Kind, Problem};

impl Problem {
    /// One sentence with culprit, place and way out; further lines are indented.
    pub fn message(&self) -> String {
        let who = &self.subject;
        // Exact: what is only just beyond a limit must not look like it.
        let micros = |nanos: u64| nanos as f64 / 1e3;
        match &self.kind {
            Kind::LatencyLimit { reached, limit } => format!(
                "{who}: start latency reached {} µs, the limit is {} µs (max_latency_us)",
                micros(*reached),
                micros(*limit)
            ),
            Kind::OverrunLimit { count, limit } => {
                format!("{who}: {count} overruns, the limit is {limit} (max_overruns)")
            }
            Kind::ExecutionLimit { longest, limit, demoted, running } => {
                let action = if *demoted { "; it was demoted to an ordinary thread" } else { "" };
                if let Some(running) = running {
                    let (limit, running) = (short_duration(*limit), duration(*running));
                    return format!(
                        "{who}: ran for more than {limit} (max_execution_us), still running after {running}{action}"
                    );
                }
                format!(
                    "{who}: ran for longer than {} µs (max_execution_us), at most {} µs{action}",
                    micros(*limit),
                    micros(*longest)
                )
            }
            Kind::Hung { function, time_s, since_s, running, over, timeout_s, recorded_s } => {
                let asked = match over {
                    Some(limit) => format!("it was over {}", limit.key()),
                    None => "the end of the run".to_owned(),
                };
                let recordings = match recorded_s {
                    Some(from) => format!("; recordings waited for it from {from} s on"),
                    None => String::new(),
                };
                format!(
                    "{who} was in {function} at {time_s} s, running since {since_s:.6} s, for {}, and did not return within \
                     {timeout_s} s after {asked} (rig: shutdown_timeout); the FMU's code hangs{recordings}",
                    duration(*running)
                )
            }
            Kind::Lasts { function, time_s, running, found, recorded_s } => {
                let releases = match found {
                    0 => String::new(),
                    found => format!("; {} of this clock found it still running", some(*found, "release")),
                };
                let recordings = match recorded_s {
                    Some(from) => format!("; recordings wait for it since {from} s"),
                    None => String::new(),
                };
                let running = duration(*running);
                format!("{who} has been in {function} at {time_s} s for {running}{releases}{recordings}")
            }
            Kind::StoppedByOverrun { due_s, late, queues } => {
                let what = match queues {
                    false => "found the activation before it still running",
                    true => "found 16 ticks waiting",
                };
                format!(
                    "{who}: what was due at {due_s} s {what} and was {} late, which ends the run (rig: overrun = \"stop\")",
                    duration(*late)
                )
            }
            Kind::Overruns { count, queues } => {
                let cause = match queues {
                    false => "the activation before had not ended when the next was due",
                    true => "16 ticks waited already",
                };
                format!("{who}: {} ({cause})", some(*count, "overrun"))
            }
            Kind::Retimed { count } => {
                format!("{who}: {} came too late for their own time and got a later one", some(*count, "tick"))
            }
            Kind::RateLimited { count, address, max_rate } => {
                let datagrams = some(*count, "datagram");
                format!("{who}: {datagrams} at {address} dropped: more than {max_rate} per second (max_rate)")
            }
            Kind::KernelDropped { count, address } => format!(
                "{who}: {} at {address} dropped by the kernel: they came faster than they were taken in",
                some(*count, "datagram")
            ),
            Kind::LockUnprotected { count } => format!(
                "{who}: the kernel refused to raise the priority in {}: other partitions may have gone on inside of them",
                some(*count, "locked section")
            ),
            Kind::OtherCore { count, planned } => {
                format!("{who}: {} on another core than {planned}", some(*count, "activation"))
            }
            Kind::Warnings { count, status, in_run_log } => {
                let said = if *in_run_log { " (see run.log)" } else { ", as it has logged" };
                format!("{who}: {} returned {status}{said}", some(*count, "call"))
            }
            Kind::CallFailed { function, outcome, keys, last_words } => {
                let mut message = format!("{who}: {function} {outcome}");
                for key in keys {
                    message += match key {
                        FailureKey::Log => continue,
                        FailureKey::GetIntervals => {
                            " when it was asked for the interval of an output clock that had ticked; if it has none, set \
                             get_intervals = false in its table of the rig"
                        }
                        FailureKey::RetrySteps => {
                            "; with retry_steps = true in its table of the rig it is tried in parts, from a state that is taken before each step"
                        }
                        FailureKey::TakesStates => {
                            ", though its description says that it can; with retry_steps = false in its table of a rig, or `vecud simulate --retry-steps false`, it is not asked for one"
                        }
                        FailureKey::OnWarning => ", and the rig says on_warning = \"error\"",
                    };
                }
                message += match last_words.is_empty() {
                    true if keys.contains(&FailureKey::Log) => {
                        "; it logged nothing, and was not asked to (`vecud run --log`, or log = true in its table of the rig)"
                    }
                    true => "; it logged nothing",
                    false => "; its last words:",
                };
                last_words.iter().for_each(|line| message += &format!("\n    {line}"));
                message
            }
            Kind::Unfinished { goes_on: true, after_s } => {
                format!("{who} has not ended: this is what was known of it after {after_s:.1} s")
            }
            Kind::Unfinished { goes_on: false, after_s } => format!(
                "{who} was cut off (vecud was killed, or the machine lost power): this is what was known of it after \
                 {after_s:.1} s (checkpoint.json); recordings may go further"
            ),
            Kind::StimulusNan { words, count: 1 } => words.clone(),
            Kind::StimulusNan { words, count } => format!("{words}; {count} cells are like that"),
            Kind::StimulusBroken { words, effect } => match effect {
                Broken::Ended => words.clone(),
                Broken::EndedTheRun => format!("{words}; the run ended where it would have needed that row"),
                Broken::NotNeeded => format!("{words}; the run was over before it needed that row"),
            },
            Kind::Starved { count, clock, first_s } => format!(
                "{who}: {} came before the file was read that far and got older values, first clock {clock} at {first_s} s: \
                 this run need not repeat; a faster disk or a shorter file helps",
                some(*count, "activation")
            ),
            Kind::Missed { count, consumer, producer, visible_s } => format!(
                "{who}: {} not there yet when {consumer} was to see it; first one of {producer} that was to be visible at \
                 {visible_s} s",
                if *count == 1 { "1 value was".to_owned() } else { format!("{count} values were") }
            ),
            Kind::Overwritten { count, consumer, first_s } => format!(
                "{who}: {consumer} came {} too late for the value of its time, which was overwritten; first at {first_s} s",
                if *count == 1 { "once".to_owned() } else { format!("{count} times") }
            ),
            Kind::MayDiffer { columns, from_s, cause, .. } => {
                let from = from_s.map_or_else(String::new, |time| format!(" from {time} s on"));
                format!(
                    "{} may differ from virtual time{from}, and otherwise would not (vecud check): the cause is {cause}",
                    some(*columns as u64, "column")
                )
            }
            Kind::ForeignCalls { count } => format!(
                "{} had no effect: log messages or clock updates without the instance environment, or locks on threads that \
                 FMU code has made",
                some(*count, "call")
            ),
            Kind::Panicked => "a callback of vecud panicked; please report this".to_owned(),
            Kind::LogDropped { count } => format!("{} came too fast to be kept", some(*count, "log message")),
            Kind::SamplesDropped { count } => {
                format!("{} could not be recorded: the recording has gaps", some(*count, "sample"))
            }
            Kind::SamplesLate { count } => {
                format!("{} came after the row was written; please report this", some(*count, "sample"))
            }
            Kind::MemoryShort { most_mib, limit_mib, refused } => format!(
                "memory was short: the runner had {most_mib} MiB at most, may have {limit_mib} MiB (RLIMIT_DATA; rig: \
                 memory_limit in [host]), and {}",
                if *refused { "an allocation was refused before the crash" } else { "was close to that" }
            ),
            Kind::LogCut { limit_mib } => {
                format!(
                    "run.log was cut off, since it and run-earlier.log may have {limit_mib} MiB (rig: log_limit in [host]): what \
                     came faster than it could be begun anew is missing"
                )
            }
            Kind::Unaccounted { releases, activations, skipped, discarded } => format!(
                "{who} had {}, but its counters make another sum ({activations} activations, {skipped} skipped, {discarded} discarded): do \
                 not use them; this is a bug in vecud, please report it",
                some(*releases, "release")
            ),
            Kind::MemoryOverwritten { names } => {
                const NAMED: usize = 8;
                let named = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = match names.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(
                    "shared memory was overwritten, by FMU code (a stray pointer, an index out of bounds): {named}{more} cannot \
                     be what was measured and is missing; what else was overwritten cannot be told, so rely on no figure of \
                     this run"
                )
            }
            Kind::TraceIncomplete { reason } => format!("the trace is incomplete: {reason}"),
            Kind::NoFurtherRun { reason } => format!("there is no further run: {reason}"),
            Kind::Offence { text, .. }
            | Kind::Died { text, .. }
            | Kind::FileIncomplete { text }
            | Kind::TraceShortened { text }
            | Kind::StimulusChanged { text }
            | Kind::StateNotSaved { text }
            | Kind::ReportIncomplete { text }
            | Kind::SharedPriorities { text }
            | Kind::NotRealTime { text }
            | Kind::MemoryNotLocked { text }
            | Kind::ClockNotSet { text }
            | Kind::Unprotected { text }
            | Kind::NotStarted { text }
            | Kind::LoggingRefused { text }
            | Kind::Other { text, .. } => text.clone(),
        }
    }
}
