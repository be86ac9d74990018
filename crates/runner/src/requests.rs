//! Ticks that whoever controls the run asks for, of clocks that nothing else ticks (semantics S3, S9).
//!
//! They come one by one in a ring of the shared memory, and are taken out of it by a thread that is no partition's: in real time the
//! main one, as often as it looks around, in virtual time the only one, between two activations. It is the only producer of these
//! clocks' queues. Each is acknowledged with the activation time that it was given, or as refused, which is counted: none is lost.
//! So it is while the run pauses: a tick is given a time after that at which the run is held, waits as what is released there, and has
//! its place in the queue, or is refused. Nothing here waits or allocates.
//!
//! In real time a tick has the time at which it was found, later than the tick of its clock before. Whoever says up to when a run is
//! complete does so on the same thread, and never beyond the simulation time of its look, nor beyond that at which the run is held: no
//! tick comes too late.
//! In virtual time it has that of the instant that comes next.

use super::world::World;
use crate::exchange::TickStamp;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::schedule::{Agenda, Tick};
use vecud_plan::{RequestedClock, UnitId};
use vecud_record::board::TaskWord;
use vecud_record::control::{CommandOutcome, CommandReply, CommandRing};

/// The ring of requests, and what was made of them.
pub struct Requests {
    ring: CommandRing<'static>,
    /// Per clock: the time of its last tick.
    last: Box<[Nanos]>,
}

impl Requests {
    /// The requests for clocks of the plan; `None`: there is none that ticks on request.
    pub fn of(world: &World) -> Option<Requests> {
        let ring = world.board.requests()?;
        Some(Requests { ring, last: world.plan.requests.iter().map(|_| Nanos(i64::MIN)).collect() })
    }

    /// Hands on what there is, in real time. Holds of the run are the caller's, so none begins or ends meanwhile.
    pub fn hand_on(&mut self, world: &World) {
        let held_at = Nanos(world.held_at());
        let taken = if held_at.0 == i64::MAX { CommandOutcome::Applied } else { CommandOutcome::Held };
        while let Some(record) = self.ring.next() {
            let number = record.word(0) as usize;
            let now = Nanos(world.now());
            let found = match taken {
                // What is released at that time itself takes place before.
                CommandOutcome::Held => held_at.plus(Nanos(1)),
                _ => world.simulation(now).max(world.begin).nanos(),
            };
            let time = self.last.get(number).map_or(found, |last| found.max(last.plus(Nanos(1))));
            let stamp = TickStamp { time: Instant::from_nanos(time), dispatched: now, root: None };
            let verdict = self.tick(world, number, stamp, taken, |task| {
                let queued = world.tick(task, stamp);
                if queued {
                    world.tasks[task.0].wake.wake_marked();
                }
                queued
            });
            self.ring.finish(CommandReply { verdict, time: stamp.time });
        }
    }

    /// Hands on what there is, in virtual time, where `agenda` says what comes next. As long as nothing does, they wait. `taken`: what
    /// is answered for a tick that is taken.
    pub fn hand_to(&mut self, world: &World, agenda: &mut Agenda, taken: CommandOutcome) {
        while let Some(record) = self.ring.next() {
            let Some(time) = agenda.peek() else { return };
            let stamp = TickStamp { time, dispatched: world.wall(time), root: None };
            let verdict = self.tick(world, record.word(0) as usize, stamp, taken, |task| {
                let outcome = agenda.tick(world.task_of[task.0], time, None);
                world.count(task, stamp, outcome);
                // Of two ticks at one time the clock makes one.
                matches!(outcome, Tick::Queued | Tick::Coalesced)
            });
            self.ring.finish(CommandReply { verdict, time });
        }
    }

    /// A tick of the clock with this number; `queue` hands it to a task, and says whether it was taken, which is answered by `taken`.
    fn tick(
        &mut self,
        world: &World,
        number: usize,
        stamp: TickStamp,
        taken: CommandOutcome,
        queue: impl FnOnce(UnitId) -> bool,
    ) -> CommandOutcome {
        // FMU code can write anywhere, also here.
        let Some(RequestedClock { task, clock, .. }) = world.plan.requests.get(number) else {
            return CommandOutcome::Refused;
        };
        if world.plan.stop.is_some_and(|stop| stamp.time >= stop) {
            match clock {
                None => world.board.task(*task).count_shared(TaskWord::Discarded, 1),
                Some(_) => world.discard_ticks(*task, 1),
            }
            return CommandOutcome::Refused;
        }
        let is_taken = match clock {
            None => queue(*task),
            // The next communication point looks for it.
            Some(clock) => world.tick_between_steps(*clock, stamp),
        };
        if is_taken {
            self.last[number] = stamp.time.nanos();
            return taken;
        }
        match world.instances[world.plan.units[task.0].fmu.0].failed.load(SeqCst) {
            true => CommandOutcome::Refused,
            false => CommandOutcome::Full,
        }
    }
}
