//! A ring of commands, and one of their outcomes: the writer of one is the reader of the other.
//!
//! The reader of commands answers each with its outcome, in the order in which they were sent. The writer never has more
//! than [`OUTSTANDING`] commands whose outcome it has not taken, so that each outcome finds room.

use crate::items::{self, Item};
use crate::ring::{Ring, RingPlace};
use std::sync::atomic::AtomicU64;
use vecud_base::time::Instant;

/// Commands whose outcomes find room.
pub const OUTSTANDING: usize = 64;

/// Words of an outcome.
const OUTCOME: usize = 4;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The command was carried out.
    Applied,
    /// A call failed; the instance is at its end. Status and function as [`crate::board`] has them.
    Failed {
        /// 1 warning that the rig calls an error, 2 discard, 3 error, 4 fatal.
        status: u8,
        /// Which function.
        function: u8,
    },
    /// Nothing was called: the variable's number of elements has changed.
    Resized,
    /// A tick was not taken: the instance has failed, or the stop time has come.
    Refused,
    /// A tick was not taken: as many of its clock as there may be wait already.
    Full,
    /// A tick was taken, and waits until the run, which is held, goes on.
    Held,
}

impl CommandOutcome {
    fn to_word(self) -> u64 {
        match self {
            CommandOutcome::Applied => 0,
            CommandOutcome::Failed { status, function } => 1 | u64::from(status) << 8 | u64::from(function) << 16,
            CommandOutcome::Resized => 2,
            CommandOutcome::Refused => 3,
            CommandOutcome::Full => 4,
            CommandOutcome::Held => 5,
        }
    }

    fn from_word(word: u64) -> CommandOutcome {
        match word & 0xff {
            0 => CommandOutcome::Applied,
            1 => CommandOutcome::Failed { status: (word >> 8) as u8, function: (word >> 16) as u8 },
            2 => CommandOutcome::Resized,
            4 => CommandOutcome::Full,
            5 => CommandOutcome::Held,
            _ => CommandOutcome::Refused,
        }
    }
}

/// Outcome of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommandReply {
    /// Success, or the kind of failure.
    pub verdict: CommandOutcome,
    /// Activation time of the activation before which it was executed; for a reconfiguration the simulation time.
    pub time: Instant,
}

/// The place of the rings of commands and outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandPlace {
    commands: RingPlace,
    outcomes: RingPlace,
}

impl CommandPlace {
    /// The place of a ring from `next` on, for commands of this number of words, together or alone, each with one more for its
    /// length; moves `next` behind it.
    pub fn after(next: &mut usize, capacity: usize) -> CommandPlace {
        let commands = RingPlace::after(next, capacity, capacity - 1);
        CommandPlace { commands, outcomes: RingPlace::after(next, OUTSTANDING * (1 + OUTCOME), OUTCOME) }
    }

    /// The rings that lie here in `words`, zero at first.
    pub fn ring(self, words: &[AtomicU64]) -> CommandRing<'_> {
        CommandRing { commands: self.commands.ring(words), outcomes: self.outcomes.ring(words) }
    }
}

/// Commands and their outcomes.
#[derive(Clone, Copy)]
pub struct CommandRing<'a> {
    /// The commands. The reader takes them out by [`CommandRing::finish`] alone.
    pub commands: Ring<'a>,
    outcomes: Ring<'a>,
}

impl<'a> CommandRing<'a> {
    /// Writer: takes the outcome of the oldest command without a taken outcome, once that command is finished.
    pub fn take_outcome(&self) -> Option<CommandReply> {
        let mut taken = self.outcomes.take();
        let outcome = taken.next().filter(|outcome| !outcome.is_empty())?;
        let [verdict, a, b, c] = std::array::from_fn(|place| outcome.word(place));
        Some(CommandReply { verdict: CommandOutcome::from_word(verdict), time: Instant::from_words([a, b, c]) })
    }

    /// Reader: the oldest command that is not finished.
    #[inline]
    pub fn next(&self) -> Option<Item<'a>> {
        items::peek(self.commands)
    }

    /// Reader: [`CommandRing::next`] is finished.
    pub fn finish(&self, outcome: CommandReply) {
        let [a, b, c] = outcome.time.to_words();
        if self.commands.take().next().is_some() {
            self.outcomes.push(&[outcome.verdict.to_word(), a, b, c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_finished_by_its_outcome() {
        let mut end = 0;
        let place = CommandPlace::after(&mut end, 9);
        let words: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
        let ring = place.ring(&words);
        assert_eq!(ring.commands.longest(), 8);
        for round in 0..100 {
            let outcome = |verdict| CommandReply { verdict, time: Instant::from_f64(f64::from(round)).unwrap() };
            assert!(ring.commands.push(&[1]) && ring.commands.push(&[2]));
            let failed = CommandOutcome::Failed { status: 3, function: 77 };
            for (command, verdict) in [(1, CommandOutcome::Resized), (2, failed)] {
                assert_eq!((ring.next().unwrap().id(), ring.take_outcome()), (command, None));
                ring.finish(outcome(verdict));
                assert_eq!(ring.take_outcome(), Some(outcome(verdict)));
            }
            assert!(ring.next().is_none());
        }
    }

    #[test]
    fn there_is_room_for_all_outcomes() {
        let mut end = 0;
        let place = CommandPlace::after(&mut end, 2 * OUTSTANDING);
        let words: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
        let ring = place.ring(&words);
        for _ in 0..3 {
            (0..OUTSTANDING as u64).for_each(|command| assert!(ring.commands.push(&[command])));
            let reply = CommandReply { verdict: CommandOutcome::Held, time: Instant::ZERO };
            (0..OUTSTANDING).for_each(|_| ring.finish(reply));
            assert_eq!(std::iter::from_fn(|| ring.take_outcome()).count(), OUTSTANDING);
        }
    }
}
