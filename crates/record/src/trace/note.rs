//! A note of a partition, as eight words at most.
//!
//! Instants are nanoseconds of CLOCK_MONOTONIC where whoever notes has just read that clock anyway; *stamps* are raw time
//! stamps, cheaper to take, that the supervisor converts. In virtual time, where nothing looks at a clock, both are numbers
//! that count up with everything that is noted.

use vecud_plan::UnitId;

/// Words of a note at most.
pub const WIDTH: usize = 8;

/// Something that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// An activation of the ring's task.
    Activated {
        /// Activation time, ns of simulation time.
        time: i64,
        /// The instants at which it should have started, and at which it woke (in virtual time those of the start).
        release: i64,
        /// (continued)
        woken: i64,
        /// First FMI call, and last get done; instants.
        start: i64,
        /// (continued)
        end: i64,
        /// Execution without that of others on the core meanwhile, ns.
        execution: i64,
        /// The number of a tick, as in [`Note::Ticked`]; 0: nothing ticked it.
        flow: u64,
        /// The tick came too late for its own time and has that of its dispatch.
        retimed: bool,
    },
    /// The FMU has given back its lock: part of the next activation that is noted.
    Locked {
        /// Stamps of having it and of giving it back.
        since: u64,
        /// (continued)
        until: u64,
        /// Duration of the wait for the lock, in stamps; 0: it was free.
        waited: u64,
        /// Number of locks by a holder that had the lock already.
        nested: u32,
        /// The lock was not given back, but taken away at the end.
        leaked: bool,
    },
    /// A clock update has returned to the FMU: part of the next activation that is noted.
    Updated {
        /// Stamps of its begin and its end.
        since: u64,
        /// (continued)
        until: u64,
    },
    /// An output clock has ticked and activates a task, in a clock update of the ring's task.
    Ticked {
        /// Index into the FMU's output clocks.
        output: u32,
        /// Whom.
        target: UnitId,
        /// The task will be activated by this very tick, as far as is known then: its queue has taken it.
        taken: bool,
        /// Time of the tick, ns of simulation time.
        time: i64,
        /// An instant.
        at: i64,
        /// Together with the target says which activation it brings about.
        flow: u64,
    },
    /// A countdown clock was armed, in a clock update of the ring's task.
    Armed {
        /// The task that is armed.
        target: UnitId,
        /// The time at which it is to tick, ns of simulation time.
        time: i64,
        /// An instant.
        at: i64,
        /// The number of a tick, as in [`Note::Ticked`].
        flow: u64,
    },
    /// A release of the ring's task was left out.
    Skipped {
        /// Activation time that it would have had.
        time: i64,
        /// Instants of the release, and of leaving it out.
        release: i64,
        /// (continued)
        at: i64,
    },
    /// Right after [`Note::Activated`] in real time: the parts of that activation, ns. Not for the trace but for histograms.
    Spent {
        /// Change of start intervals against release intervals; `None`: it was the first.
        jitter: Option<i64>,
        /// The part of it in which other partitions ran.
        preempted: i64,
        /// Waiting for the preemption lock.
        blocked: i64,
        /// Setting and getting.
        set_get: i64,
        /// The host's own time of the activation *before* it, which was known when its thread went to sleep.
        host: Option<i64>,
        /// The wake-up without the time in which partitions of the rig that are at least as urgent had the core.
        machine: i64,
    },
}

const FLAG: u64 = 1 << 8;

impl Note {
    /// The words of the note, and their number.
    #[inline]
    pub fn to_words(self) -> ([u64; WIDTH], usize) {
        let flag = |set: bool| if set { FLAG } else { 0 };
        let high = |word: u32| u64::from(word) << 32;
        match self {
            Note::Activated { time, release, woken, start, end, execution, flow, retimed } => {
                let [time, release, woken, start, end, execution] =
                    [time, release, woken, start, end, execution].map(|ns| ns as u64);
                ([1 | flag(retimed), time, release, woken, start, end, execution, flow], 8)
            }
            Note::Locked { since, until, waited, nested, leaked } => {
                ([2 | flag(leaked) | high(nested), since, until, waited, 0, 0, 0, 0], 4)
            }
            Note::Updated { since, until } => ([3, since, until, 0, 0, 0, 0, 0], 3),
            Note::Ticked { output, target, taken, time, at, flow } => {
                ([4 | flag(taken) | high(output), target.0 as u64, time as u64, at as u64, flow, 0, 0, 0], 5)
            }
            Note::Armed { target, time, at, flow } => ([5, target.0 as u64, time as u64, at as u64, flow, 0, 0, 0], 5),
            Note::Skipped { time, release, at } => ([6, time as u64, release as u64, at as u64, 0, 0, 0, 0], 4),
            Note::Spent { jitter, preempted, blocked, set_get, host, machine } => {
                let [known, other] = [jitter, host].map(|part| flag(part.is_some()));
                let [jitter, host] = [jitter, host].map(|part| part.unwrap_or(0) as u64);
                let [preempted, blocked, set_get, machine] = [preempted, blocked, set_get, machine].map(|ns| ns as u64);
                ([7 | known | other << 1, jitter, preempted, blocked, set_get, host, machine, 0], 7)
            }
        }
    }

    /// The note with instants that count from `start`; stamps stay unchanged.
    pub fn since(mut self, start: i64) -> Note {
        let instants: &mut [&mut i64] = match &mut self {
            Note::Activated { release, woken, start, end, .. } => &mut [release, woken, start, end],
            Note::Ticked { at, .. } | Note::Armed { at, .. } => &mut [at],
            Note::Skipped { release, at, .. } => &mut [release, at],
            Note::Locked { .. } | Note::Updated { .. } | Note::Spent { .. } => &mut [],
        };
        instants.iter_mut().for_each(|instant| **instant -= start);
        self
    }

    /// The inverse of [`Note::to_words`]; `None` when these are no note's.
    pub fn from_words(words: [u64; WIDTH]) -> Option<Note> {
        let [head, a, b, c, d, e, f, g] = words;
        let (flag, high, target) = (head & FLAG != 0, (head >> 32) as u32, UnitId(a as usize));
        let [at, bt, ct, dt, et, ft] = [a, b, c, d, e, f].map(|word| word as i64);
        Some(match head & 0xff {
            1 => Note::Activated {
                time: at,
                release: bt,
                woken: ct,
                start: dt,
                end: et,
                execution: ft,
                flow: g,
                retimed: flag,
            },
            2 => Note::Locked { since: a, until: b, waited: c, nested: high, leaked: flag },
            3 => Note::Updated { since: a, until: b },
            4 => Note::Ticked { output: high, target, taken: flag, time: bt, at: ct, flow: d },
            5 => Note::Armed { target, time: bt, at: ct, flow: d },
            6 => Note::Skipped { time: at, release: bt, at: ct },
            7 => Note::Spent {
                jitter: flag.then_some(at),
                preempted: bt,
                blocked: ct,
                set_get: dt,
                host: (head & FLAG << 1 != 0).then_some(et),
                machine: ft,
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_read_back_as_they_were() {
        let all = [
            Note::Activated {
                time: -1,
                release: 2,
                woken: 3,
                start: 4,
                end: 5,
                execution: 6,
                flow: u64::MAX,
                retimed: true,
            },
            Note::Locked { since: 1, until: 2, waited: 3, nested: u32::MAX, leaked: false },
            Note::Updated { since: u64::MAX, until: 2 },
            Note::Ticked { output: 9, target: UnitId(7), taken: true, time: -5, at: 4, flow: 3 },
            Note::Armed { target: UnitId(7), time: 5, at: -4, flow: 3 },
            Note::Skipped { time: 1, release: -2, at: 3 },
            Note::Spent { jitter: Some(1), preempted: 2, blocked: 3, set_get: 4, host: None, machine: 5 },
            Note::Spent { jitter: None, preempted: 2, blocked: 3, set_get: 4, host: Some(i64::MAX), machine: i64::MIN },
        ];
        for note in all {
            let (words, length) = note.to_words();
            assert!(words[length..].iter().all(|word| *word == 0));
            assert_eq!(Note::from_words(words), Some(note));
        }
        assert_eq!(Note::from_words([0; WIDTH]), None);
    }
}
