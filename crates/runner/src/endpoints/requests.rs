//! Ticks that a controller of the run requests, of clocks that nothing else ticks (semantics S3, S9).
//!
//! They come one by one in a ring of the shared memory. A thread without partitions takes them out: in real time the main one,
//! whenever it looks around, in virtual time the only one, between two activations. It is the only producer of these clocks'
//! queues. Each is acknowledged with its activation time, or as refused, and refusals are counted. That holds in a pause too: a
//! tick gets a time after the one at which the run is held, and waits in the queue like a release of that time, or is refused.
//! Nothing here waits or allocates.
//!
//! In real time a tick has the time at which it was found, later than the tick of its clock before. The same thread reports up to
//! when a run is complete, never beyond the simulation time of its look, nor beyond that at which the run is held: no tick comes
//! too late. In virtual time a tick has the time of the next instant.

use super::intake::{Fate, OutsideTick, discard};
use crate::exchange::TickStamp;
use crate::run_state::RunState;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::schedule::Agenda;
use vecud_record::control::{CommandOutcome, CommandReply, CommandRing};

/// The ring of requests, and the fate of each.
pub struct Requests {
    ring: CommandRing<'static>,
    /// Per clock: the time of its last tick.
    last: Box<[Nanos]>,
}

impl Requests {
    /// The requests for clocks of the plan; `None`: there is none that ticks on request.
    pub fn of(run: &RunState) -> Option<Requests> {
        let ring = run.board.requests()?;
        Some(Requests { ring, last: run.plan.requests.iter().map(|_| Nanos(i64::MIN)).collect() })
    }

    /// Hands waiting requests on, in real time. Holds of the run are the caller's, so none begins or ends meanwhile.
    pub fn hand_on(&mut self, run: &RunState) {
        let held_at = Nanos(run.held_at());
        let taken = if held_at.0 == i64::MAX { CommandOutcome::Applied } else { CommandOutcome::Held };
        while let Some(item) = self.ring.next() {
            let number = item.id() as usize;
            let now = Nanos(run.now());
            let found = match taken {
                // Releases at that time itself come before.
                CommandOutcome::Held => held_at.plus(Nanos(1)),
                _ => run.simulation(now).max(run.begin).nanos(),
            };
            let time = self.last.get(number).map_or(found, |last| found.max(last.plus(Nanos(1))));
            let stamp = TickStamp { time: Instant::from_nanos(time), dispatched: now, root: None };
            let verdict = self.tick(run, number, stamp, taken, None);
            self.ring.finish(CommandReply { verdict, time: stamp.time });
        }
    }

    /// Hands waiting requests on, in virtual time, where `agenda` has the next instant; they wait until there is one. `taken`:
    /// the reply to a tick that is taken.
    pub fn hand_to(&mut self, run: &RunState, agenda: &mut Agenda, taken: CommandOutcome) {
        while let Some(item) = self.ring.next() {
            let Some(time) = agenda.peek() else { return };
            let stamp = TickStamp { time, dispatched: run.wall(time), root: None };
            let verdict = self.tick(run, item.id() as usize, stamp, taken, Some(&mut *agenda));
            self.ring.finish(CommandReply { verdict, time });
        }
    }

    /// Ticks the clock of this number. `taken` answers a tick that its target takes.
    fn tick(
        &mut self,
        run: &RunState,
        number: usize,
        stamp: TickStamp,
        taken: CommandOutcome,
        agenda: Option<&mut Agenda>,
    ) -> CommandOutcome {
        // FMU code can write anywhere, also here.
        let Some(clock) = run.plan.requests.get(number) else { return CommandOutcome::Refused };
        if run.plan.stop.is_some_and(|stop| stamp.time >= stop) {
            discard(run, clock.target);
            return CommandOutcome::Refused;
        }
        let (item, is_awaited) = (OutsideTick { target: clock.target, stamp }, agenda.is_none());
        match item.hand_over(run, agenda) {
            Fate::Taken => {
                if is_awaited {
                    item.wake(run);
                }
                self.last[number] = stamp.time.nanos();
                taken
            }
            Fate::Refused => CommandOutcome::Refused,
            Fate::Full => CommandOutcome::Full,
        }
    }
}
