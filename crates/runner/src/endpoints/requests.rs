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

use super::intake::{Fate, TickProducer};
use crate::exchange::TickStamp;
use crate::run_state::RunState;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::schedule::Agenda;
use vecud_record::control::{CommandOutcome, CommandReply, CommandRing};

/// The ring of requests, and the clocks that they tick.
pub struct Requests {
    ring: CommandRing<'static>,
    clocks: Vec<TickProducer>,
}

impl Requests {
    /// The requests for clocks of the plan; `None`: there is none that ticks on request.
    pub fn of(run: &RunState) -> Option<Requests> {
        let ring = run.board.requests()?;
        Some(Requests { ring, clocks: run.plan.requests.iter().map(|own| TickProducer::of(own.target)).collect() })
    }

    /// Hands waiting requests on. In virtual time to the `agenda`, where they wait until it has a next instant. In real time to threads;
    /// holds of the run are the caller's, so none begins or ends meanwhile.
    pub fn hand_on(&mut self, run: &RunState, mut agenda: Option<&mut Agenda>, is_held: bool) {
        while let Some(request) = self.ring.next() {
            // FMU code can write anywhere, also here.
            let Some(clock) = self.clocks.get_mut(request.id() as usize) else {
                self.ring.finish(CommandReply { verdict: CommandOutcome::Refused, time: run.begin });
                continue;
            };
            let (time, dispatched) = match &mut agenda {
                Some(agenda) => {
                    let Some(time) = agenda.peek() else { return };
                    (time, run.wall(time))
                }
                None => {
                    let now = Nanos(run.now());
                    // Releases at the time at which the run is held come before.
                    let held = is_held.then(|| Nanos(run.held_at()).plus(Nanos(1)));
                    let found = held.unwrap_or_else(|| run.simulation(now).max(run.begin).nanos());
                    (Instant::from_nanos(clock.next_time(found)), now)
                }
            };
            let fate = if run.plan.stop.is_some_and(|stop| time >= stop) {
                clock.discard(run);
                Fate::Refused
            } else {
                clock.hand_over(run, TickStamp { time, dispatched, root: None }, agenda.as_deref_mut())
            };
            if fate == Fate::Taken && agenda.is_none() {
                clock.last = time.nanos();
                clock.wake(run);
            }
            let verdict = match fate {
                Fate::Taken if is_held => CommandOutcome::Held,
                Fate::Taken => CommandOutcome::Applied,
                Fate::Refused => CommandOutcome::Refused,
                Fate::Full => CommandOutcome::Full,
            };
            self.ring.finish(CommandReply { verdict, time });
        }
    }
}
