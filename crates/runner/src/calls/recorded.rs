//! The recorded values of a task, one row for each activation.

use super::set_compute_get::Calls;
use crate::run_state::RunState;
use crate::text::Text;
use crate::thread_host::PartitionHost;
use vecud_base::time::Instant;
use vecud_description::bytes;
use vecud_plan::{BatchItem, Mode, RecordedClock, SignalId, UnitId};
use vecud_record::samples::{NewRecord, SampleRing};

/// Where the recorded variables of a task go.
pub struct Recorded {
    ring: SampleRing<'static>,
    /// The number of recorded values before those that callbacks read.
    own_columns: usize,
    presence_words: usize,
    /// For each batch, inputs first: all its elements are recorded, and are numbers.
    whole: Vec<bool>,
}

impl Recorded {
    /// The recorded variables of a task; `None`: there are none.
    pub fn of(run: &RunState, unit: UnitId) -> Option<Recorded> {
        let (ring, plan) = (run.board.samples(unit)?, &run.plan.units[unit.0]);
        let (own_columns, presence_words) = (plan.recorded().count(), run.plan.presence_words(plan));
        let is_number = |signal: &SignalId| run.plan.column(*signal).capacity.is_none();
        let all_recorded = |item: &BatchItem| item.signals.len() == item.elements && item.signals.iter().all(is_number);
        let whole = plan.set.iter().chain(&plan.get).map(|batch| batch.items.iter().all(all_recorded)).collect();
        Some(Recorded { ring, own_columns, presence_words, whole })
    }

    /// Appends the inputs and outputs of the last activation, valid from `time` on, and the values that callbacks read through
    /// `host`. `false`: there was no room. In virtual time nothing is lost: it waits for the supervisor to read.
    #[inline(never)] // most tasks of a rig are not recorded
    pub fn append(&self, calls: &Calls, run: &RunState, host: &PartitionHost, order: u64, time: Instant) -> bool {
        let plan = &run.plan.units[calls.unit.0];
        let resizable = calls.beside.as_ref().and_then(|beside| beside.resizable.as_ref());
        let planned = plan.set.iter().chain(&plan.get);
        let batches = calls.set.iter().map(|(values, _)| values).chain(calls.get.iter().map(|(values, _)| values));
        let state = &run.tasks[calls.unit.0];
        if run.plan.mode == Mode::Virtual {
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
                        variable.signals.first().is_some_and(|signal| run.plan.column(*signal).capacity.is_some());
                    match places {
                        _ if is_initial || (places.is_none() && get.is_none() && !values.is_enabled(item)) => {
                            variable.signals.iter().for_each(|signal| put_initial(run, *signal, record));
                        }
                        _ if is_text && !planned.ticked.is_empty() && !state.has_one_ticked(&planned.ticked) => {
                            // Was not read in this activation. An earlier value is recorded, or noted, already.
                            for signal in &variable.signals {
                                record.put_bytes(run.plan.column(*signal).capacity.unwrap_or(0), None);
                            }
                        }
                        _ if is_text => {
                            for (element, signal) in variable.signals.iter().enumerate() {
                                let place = places.map_or(Some(first + element), |places| {
                                    places[element].map(|place| place as usize)
                                });
                                let text = Text { unit: calls.unit, time, variable, signal: *signal };
                                text.put(run, values, place, record);
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
                on_ticks.put(run, calls.unit, time, record);
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

/// Puts the initial value of a column, from before any activation.
fn put_initial(run: &RunState, signal: SignalId, record: &mut NewRecord) {
    let planned = run.plan.column(signal);
    match (run.board.initial(signal), &planned.start) {
        (Some(initial), _) => record.put_in(planned.words(), initial),
        (None, Some(start)) => record.put_in(planned.words(), start.iter().copied()),
        (None, None) => record.put_in(planned.words(), [if planned.capacity.is_some() { bytes::NOTHING } else { 0 }]),
    }
}
