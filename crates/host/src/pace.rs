//! The time until the supervisor's next look: in virtual time the runner is as fast as it can be, and waits when a ring is full.

use std::time::Duration;
use vecud_plan::{Mode, Plan};
use vecud_record::log;

/// Between two looks at a run that needs no more.
const LOOK: Duration = Duration::from_millis(20);
/// Between two looks at rings that would be full before that.
const SHORT: Duration = Duration::from_micros(200);
/// Looks for which it goes on like this when a ring was not full any more: the runner, which has found it full, sleeps for a
/// while before it looks again.
const AFTERWARDS: u32 = 16;

/// The pause until the next look, from the contents of the rings at the last one.
#[derive(Clone, Copy, Debug)]
pub struct PollInterval {
    is_virtual: bool,
    pause: Duration,
    /// Looks that are still to come soon, whatever the rings hold.
    soon: u32,
}

impl PollInterval {
    /// The usual pause.
    pub fn new(plan: &Plan) -> PollInterval {
        PollInterval { is_virtual: plan.mode == Mode::Virtual, pause: LOOK, soon: 0 }
    }

    /// A look begins.
    pub fn begin(&mut self) {
        self.pause = if self.soon > 0 { SHORT } else { LOOK };
        self.soon = self.soon.saturating_sub(1);
    }

    /// Takes the content and the size of a ring. If it is more than half full, the runner may be waiting already.
    pub fn saw(&mut self, (waiting, room): (usize, usize)) {
        if self.is_virtual && 8 * waiting > room {
            let pause = if 2 * waiting > room { Duration::ZERO } else { SHORT };
            self.pause = self.pause.min(pause);
            self.soon = AFTERWARDS;
        }
    }

    /// Takes the number of lines that were read from the log: if nothing else is in a hurry, their FMU may be waiting.
    pub fn saw_log(&mut self, lines: usize) {
        if 8 * lines > log::SLOTS {
            self.pause = self.pause.min(SHORT);
            self.soon = AFTERWARDS;
        }
    }

    /// The time until the next look, also by another pace.
    pub fn pause(self, other: PollInterval) -> Duration {
        self.pause.min(other.pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_in_virtual_time_is_looked_at_at_once() {
        let of = |is_virtual, rings: &[(usize, usize)]| {
            let mut pace = PollInterval { is_virtual, pause: LOOK, soon: 0 };
            rings.iter().for_each(|ring| pace.saw(*ring));
            pace.pause
        };
        assert_eq!(of(true, &[(0, 64), (8, 64), (0, 0)]), LOOK);
        assert_eq!(of(true, &[(9, 64), (1, 64)]), SHORT);
        assert_eq!(of(true, &[(9, 64), (33, 64), (1, 64)]), Duration::ZERO);
        assert_eq!(of(false, &[(64, 64)]), LOOK, "in real time nobody waits");
    }

    /// The runner sleeps when it finds a ring full. If that is read meanwhile, the next look finds nothing, and the one after
    /// it must not come a whole pause later: such a run would go from pause to pause.
    #[test]
    fn a_ring_that_has_just_been_full_is_looked_at_again_soon() {
        let mut pace = PollInterval { is_virtual: true, pause: LOOK, soon: 0 };
        let mut look = |waiting| {
            pace.begin();
            pace.saw((waiting, 64));
            pace.pause
        };
        assert_eq!(look(64), Duration::ZERO);
        let pauses: Vec<Duration> = (0..=AFTERWARDS).map(|_| look(0)).collect();
        assert!(pauses.iter().take(AFTERWARDS as usize).all(|pause| *pause == SHORT), "{pauses:?}");
        assert_eq!(pauses.last(), Some(&LOOK), "nobody is at work any more");
    }
}
