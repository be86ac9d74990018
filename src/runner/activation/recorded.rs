//! What is recorded of a task, one row for each activation.

use super::Calls;
use crate::plan::{BatchItem, SignalId, TaskId};
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
    /// For each batch, those that are set first, whether all its elements are recorded.
    whole: Vec<bool>,
}

impl Recorded {
    /// The recorded variables of a task; `None`: there are none.
    pub fn of(world: &World, task: TaskId) -> Option<Recorded> {
        let (ring, plan) = (world.board.samples(task), &world.plan.tasks[task.0]);
        let (own_columns, presence_words) = (plan.recorded().count(), world.plan.presence_words(plan));
        let all_recorded = |item: &BatchItem| item.signals.len() == item.elements;
        let whole = plan.set.iter().chain(&plan.get).map(|batch| batch.items.iter().all(all_recorded)).collect();
        (!ring.is_unused()).then_some(Recorded { ring, own_columns, presence_words, whole })
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
        let state = &world.tasks[calls.task.0];
        self.ring.push(order, time, |record| {
            for (number, (planned, values)) in planned.zip(batches).enumerate() {
                let get = number.checked_sub(calls.set.len());
                let places = get.and_then(|get| resizable?.places(get));
                if self.whole[number] && places.is_none() && values.is_complete() {
                    values.words(0..values.len(), record.places(values.len()));
                    continue;
                }
                for (item, variable) in planned.items.iter().enumerate() {
                    let (first, columns) = (values.elements(item).start, variable.signals.len());
                    match places {
                        None if get.is_some() || values.is_enabled(item) => {
                            values.words(first..first + columns, record.places(columns));
                        }
                        // Nobody has had a value for it yet.
                        None => record.put_all(variable.signals.iter().map(|signal| initial(*signal))),
                        Some(places) => {
                            let word = |place: &Option<u32>| place.map_or(0, |place| values.word(place as usize));
                            record.put_all(places[..columns].iter().map(word));
                        }
                    }
                }
            }
            host.with_on_ticks(|on_ticks| {
                record.put_all(on_ticks.words());
                record.put_all((0..self.presence_words).map(|word| {
                    let own = resizable.map_or(u64::MAX, |resizable| resizable.presence(word));
                    let unread = plan
                        .recorded_when_ticked()
                        .filter(|(column, clocks)| column / 64 == word && !state.has_one_ticked(clocks));
                    let unread = unread.fold(0, |bits, (column, _)| bits | 1 << (column % 64));
                    own & !unread & !on_ticks.absent(self.own_columns, word)
                }));
            });
        })
    }
}
