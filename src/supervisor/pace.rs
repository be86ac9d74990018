//! How long the supervisor may look away: in virtual time the runner is as fast as it can be, and waits when a ring is full.

use crate::plan::{Mode, Plan};
use std::time::Duration;

/// Between two looks at a run that needs no more.
const LOOK: Duration = Duration::from_millis(20);
/// Between two looks at rings that would be full before that.
const SHORT: Duration = Duration::from_micros(200);

/// The pause until the next look, by what the rings held at the last one.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    is_virtual: bool,
    pause: Duration,
}

impl Pace {
    /// The usual pause.
    pub fn new(plan: &Plan) -> Pace {
        Pace { is_virtual: plan.mode == Mode::Virtual, pause: LOOK }
    }

    /// A look begins.
    pub fn begin(&mut self) {
        self.pause = LOOK;
    }

    /// A ring with this much room had so much in it. More than half of it: the runner may be waiting already.
    pub fn saw(&mut self, (waiting, room): (usize, usize)) {
        if self.is_virtual && 8 * waiting > room {
            let pause = if 2 * waiting > room { Duration::ZERO } else { SHORT };
            self.pause = self.pause.min(pause);
        }
    }

    /// How long until the next look, also by another pace.
    pub fn pause(self, other: Pace) -> Duration {
        self.pause.min(other.pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_in_virtual_time_is_looked_at_at_once() {
        let of = |is_virtual, rings: &[(usize, usize)]| {
            let mut pace = Pace { is_virtual, pause: LOOK };
            rings.iter().for_each(|ring| pace.saw(*ring));
            pace.pause
        };
        assert_eq!(of(true, &[(0, 64), (8, 64), (0, 0)]), LOOK);
        assert_eq!(of(true, &[(9, 64), (1, 64)]), SHORT);
        assert_eq!(of(true, &[(9, 64), (33, 64), (1, 64)]), Duration::ZERO);
        assert_eq!(of(false, &[(64, 64)]), LOOK, "in real time nobody waits");
    }
}
