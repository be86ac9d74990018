//! What is recorded of a task, one row for each activation.

use super::Calls;
use crate::plan::{SignalId, TaskId};
use crate::record::samples::SampleRing;
use crate::runner::thread_host::PartitionHost;
use crate::runner::world::World;
use crate::time::Instant;

/// Where the recorded variables of a task go.
pub struct Recorded {
    ring: SampleRing<'static>,
    /// Recorded values before those that callbacks read.
    own_columns: usize,
    presence_words: usize,
}

impl Recorded {
    /// The recorded variables of a task; `None`: there are none.
    pub fn of(world: &World, task: TaskId) -> Option<Recorded> {
        let (ring, plan) = (world.board.samples(task), &world.plan.tasks[task.0]);
        let (own_columns, presence_words) = (plan.recorded().count(), world.plan.presence_words(plan));
        (!ring.is_unused()).then_some(Recorded { ring, own_columns, presence_words })
    }

    /// Appends what the last activation has set and read, which is valid from `time` on, and what `host` has read in callbacks
    /// meanwhile. `false`: there was no room.
    #[inline(never)] // most tasks of a rig are not recorded
    pub fn append(&self, calls: &Calls, world: &World, host: &PartitionHost, order: u64, time: Instant) -> bool {
        let plan = &world.plan.tasks[calls.task.0];
        let resizable = calls.beside.as_ref().and_then(|beside| beside.resizable.as_ref());
        let planned = plan.set.iter().chain(&plan.get);
        let batches = calls.set.iter().map(|(values, _)| values).chain(calls.get.iter().map(|(values, _)| values));
        let initial =
            |signal: SignalId| world.board.initial(signal).or(world.plan.signals[signal.0].start).unwrap_or(0);
        let own = planned.zip(batches).enumerate().flat_map(|(number, (planned, values))| {
            let get = number.checked_sub(calls.set.len());
            let places = get.and_then(|get| resizable?.places(get));
            planned.items.iter().enumerate().flat_map(move |(item, variable)| {
                let (first, is_set) = (values.elements(item).start, get.is_some() || values.is_enabled(item));
                (0..variable.signals.len()).map(move |element| match places {
                    None if is_set => values.word(first + element),
                    // Nobody has had a value for it yet.
                    None => initial(variable.signals[element]),
                    Some(places) => places[element].map_or(0, |place| values.word(place as usize)),
                })
            })
        });
        let state = &world.tasks[calls.task.0];
        host.with_on_ticks(|on_ticks| {
            let presence = (0..self.presence_words).map(|word| {
                let own = resizable.map_or(u64::MAX, |resizable| resizable.presence(word));
                let unread = plan
                    .recorded_when_ticked()
                    .filter(|(column, clocks)| column / 64 == word && !state.has_one_ticked(clocks));
                let unread = unread.fold(0, |bits, (column, _)| bits | 1 << (column % 64));
                own & !unread & !on_ticks.absent(self.own_columns, word)
            });
            self.ring.push(order, time, own.chain(on_ticks.words()).chain(presence))
        })
    }
}
