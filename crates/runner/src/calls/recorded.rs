//! What is recorded of a task, one row for each activation.

use super::Calls;
use crate::text::Text;
use crate::thread_host::PartitionHost;
use crate::world::World;
use vecud_base::time::Instant;
use vecud_description::bytes;
use vecud_plan::{BatchItem, Mode, RecordedClock, SignalId, UnitId};
use vecud_record::samples::{NewRecord, SampleRing};

/// Where the recorded variables of a task go.
pub struct Recorded {
    ring: SampleRing<'static>,
    /// Recorded values before those that callbacks read.
    own_columns: usize,
    presence_words: usize,
    /// For each batch, those that are set first, whether all its elements are recorded, and numbers.
    whole: Vec<bool>,
}

impl Recorded {
    /// The recorded variables of a task; `None`: there are none.
    pub fn of(world: &World, task: UnitId) -> Option<Recorded> {
        let (ring, plan) = (world.board.samples(task)?, &world.plan.units[task.0]);
        let (own_columns, presence_words) = (plan.recorded().count(), world.plan.presence_words(plan));
        let is_number = |signal: &SignalId| world.plan.column(*signal).capacity.is_none();
        let all_recorded = |item: &BatchItem| item.signals.len() == item.elements && item.signals.iter().all(is_number);
        let whole = plan.set.iter().chain(&plan.get).map(|batch| batch.items.iter().all(all_recorded)).collect();
        Some(Recorded { ring, own_columns, presence_words, whole })
    }

    /// Appends what the last activation has set and read, which is valid from `time` on, and what `host` has read in callbacks
    /// meanwhile. `false`: there was no room. In virtual time nothing is lost: waits for the supervisor to read.
    #[inline(never)] // most tasks of a rig are not recorded
    pub fn append(&self, calls: &Calls, world: &World, host: &PartitionHost, order: u64, time: Instant) -> bool {
        let plan = &world.plan.units[calls.task.0];
        let resizable = calls.beside.as_ref().and_then(|beside| beside.resizable.as_ref());
        let planned = plan.set.iter().chain(&plan.get);
        let batches = calls.set.iter().map(|(values, _)| values).chain(calls.get.iter().map(|(values, _)| values));
        let state = &world.tasks[calls.task.0];
        if world.plan.mode == Mode::Virtual {
            self.ring.ring.wait_for_room(self.ring.length);
        }
        self.ring.push(order, time, |record| {
            for (number, (planned, values)) in planned.zip(batches).enumerate() {
                let get = number.checked_sub(calls.set.len());
                let places = get.and_then(|get| resizable?.places(get));
                let is_initial = get.is_some() && !calls.has_read;
                if self.whole[number] && places.is_none() && values.is_complete() && !is_initial {
                    values.words(0..values.len(), record.places(values.len()));
                    continue;
                }
                for (item, variable) in planned.items.iter().enumerate() {
                    let (first, columns) = (values.elements(item).start, variable.signals.len());
                    let is_text =
                        variable.signals.first().is_some_and(|signal| world.plan.column(*signal).capacity.is_some());
                    match places {
                        _ if is_initial || (places.is_none() && get.is_none() && !values.is_enabled(item)) => {
                            variable.signals.iter().for_each(|signal| put_initial(world, *signal, record));
                        }
                        _ if is_text && !planned.ticked.is_empty() && !state.has_one_ticked(&planned.ticked) => {
                            // Not read now. What was read before is recorded, or noted, already.
                            for signal in &variable.signals {
                                record.put_bytes(world.plan.column(*signal).capacity.unwrap_or(0), None);
                            }
                        }
                        _ if is_text => {
                            for (element, signal) in variable.signals.iter().enumerate() {
                                let place = places.map_or(Some(first + element), |places| {
                                    places[element].map(|place| place as usize)
                                });
                                let text = Text { task: calls.task, time, variable, signal: *signal };
                                text.put(world, values, place, record);
                            }
                        }
                        None => values.words(first..first + columns, record.places(columns)),
                        Some(places) => {
                            let word = |place: &Option<u32>| place.map_or(0, |place| values.word(place as usize));
                            record.put_all(places[..columns].iter().map(word));
                        }
                    }
                }
            }
            host.with_on_ticks(|on_ticks| {
                on_ticks.put(world, calls.task, time, record);
                let ticks = |clock: &RecordedClock| clock.output.is_none_or(|output| state.has_one_ticked(&[output]));
                record.put_all(plan.ticks.iter().map(|clock| u64::from(ticks(clock))));
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

/// Puts what a column shows before anybody has had a value for it.
fn put_initial(world: &World, signal: SignalId, record: &mut NewRecord) {
    let planned = world.plan.column(signal);
    match (world.board.initial(signal), &planned.start) {
        (Some(initial), _) => record.put_in(planned.words(), initial),
        (None, Some(start)) => record.put_in(planned.words(), start.iter().copied()),
        (None, None) => record.put_in(planned.words(), [if planned.capacity.is_some() { bytes::NOTHING } else { 0 }]),
    }
}
