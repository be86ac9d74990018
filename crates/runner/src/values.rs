//! Values between the batches of a task and the cells of the connections: what an activation fetches before it sets, and
//! publishes after it has read (semantics S10, S11).
//!
//! All memory is taken when a run is prepared. Numbers are converted by the producer, so that a cell holds what the
//! consumer sets; the layout of strings and binaries in cells is in `vecud_description::bytes`.

use super::cells::{element_words, orders, words};
use super::run_state::RunState;
use super::slopes::{CarriedDerivatives, Extrapolated};
use crate::exchange::versions::Missed;
use crate::exchange::{Latest, NewWords, Read, Reader, Stamp, Words};
use std::cell::Cell;
use std::ops::Range;
use vecud_base::time::{Fraction, Instant};
use vecud_description::bytes;
use vecud_description::word;
use vecud_description::{ValueReference, Values, VariableType};
use vecud_fmi::Batch;
use vecud_plan::conversion::Conversion;
use vecud_plan::{ConnectionId, Plan, Timing, UnitId};

/// The time of the last jump where there was none, ns.
const NO_JUMP: i64 = i64::MIN;

/// Where elements of a batch are in a cell.
struct Route {
    cell: usize,
    /// Elements of the batch, in the order in which the cell has them.
    runs: Vec<Range<usize>>,
    /// Words of an element in the cell.
    element_words: usize,
    /// Bytes of an element; `None` for numbers.
    capacity: Option<usize>,
    /// The word with the time of the last jump, ns; `None`: jumps are not reported.
    jump: Option<usize>,
}

impl Route {
    fn new(plan: &Plan, connection: ConnectionId, runs: &[Range<usize>], first: usize) -> Route {
        let connected = &plan.connections[connection.0];
        let is_bytes = matches!(connected.variable_type, VariableType::String | VariableType::Binary);
        Route {
            cell: connection.0,
            runs: runs.iter().map(|run| first + run.start..first + run.end).collect(),
            element_words: element_words(connected),
            capacity: is_bytes.then_some(connected.capacity),
            jump: connected.tells_jumps.then(|| words(connected) - 1),
        }
    }

    /// Copies a version into the batch.
    #[inline]
    fn copy(&self, words: Words, values: &mut Batch) {
        match self.capacity {
            None => self.elements().for_each(|(element, at)| values.set_word(element, words.get(at))),
            Some(capacity) => {
                for (element, at) in self.elements() {
                    values.fill_bytes(element, |buffer| {
                        let buffer = buffer.get_mut(..capacity).unwrap_or_default();
                        bytes::unpack(|i| words.get(at + i), buffer)
                    });
                }
            }
        }
    }

    /// When the source of a version has jumped last, ns.
    #[inline]
    fn jumped_at(&self, words: Words) -> i64 {
        self.jump.map_or(NO_JUMP, |word| words.get(word).cast_signed())
    }

    /// Copies the values of the curve at `time` into the batch.
    #[cold]
    fn follow(
        &self,
        curve: &Extrapolated,
        time: Instant,
        values: &mut Batch,
        mut slopes: Option<&mut CarriedDerivatives>,
    ) {
        let Some(elements) = curve.at(time) else { return };
        for (element, (value, derivatives)) in self.runs.iter().cloned().flatten().zip(elements) {
            values.set_word(element, value.to_bits());
            if let Some(slopes) = &mut slopes {
                slopes.set_per_second(element, derivatives);
            }
        }
    }

    /// The elements of the batch with their first words in the cell.
    fn elements(&self) -> impl Iterator<Item = (usize, usize)> {
        self.runs.iter().cloned().flatten().zip((0..).step_by(self.element_words))
    }
}

/// The source of an item of an input batch.
pub struct Input {
    item: usize,
    route: Route,
    /// The version that the batch has.
    seen: u64,
    /// How activations look at a delayed connection; `None` in Initialization Mode and for an immediate one.
    delayed: Option<Delayed>,
    /// Values and derivatives, where derivatives travel with the values.
    curve: Option<Extrapolated>,
    /// When the source had jumped last as it was fetched last, ns.
    jumped_at: i64,
}

/// A task's look at a delayed connection.
struct Delayed {
    reader: Reader,
    /// The task, by its place among the connection's consumers.
    consumer: usize,
}

impl Input {
    /// The connection.
    pub fn connection(&self) -> ConnectionId {
        ConnectionId(self.route.cell)
    }

    /// The time of the source's last jump, as of the last fetch, ns; `None`: jumps are not reported.
    pub fn jump(&self) -> Option<(ConnectionId, i64)> {
        self.route.jump.map(|_| (self.connection(), self.jumped_at))
    }

    /// A run goes on that has seen these [`Input::jump`].
    pub fn put_back(&mut self, jumps: &[(ConnectionId, i64)]) {
        let own = jumps.iter().find(|(connection, _)| *connection == self.connection());
        self.jumped_at = own.map_or(self.jumped_at, |(_, jumped_at)| *jumped_at);
    }

    /// Copies the newest version into the batch, of a delayed connection the one that is visible at `time`, and enables the item
    /// as soon as it has a value. A version that was missing at its time is noted. Returns whether its source has jumped since.
    #[inline]
    pub fn fetch(
        &mut self,
        run: &RunState,
        time: Instant,
        values: &mut Batch,
        slopes: Option<&mut CarriedDerivatives>,
    ) -> bool {
        let before = self.jumped_at;
        if self.delayed.is_none() {
            self.fetch_initial(&run.cells, values);
            return self.jumped_at > before;
        }
        let (Some(delayed), Some(versions)) = (&mut self.delayed, &run.versions[self.route.cell]) else {
            return false;
        };
        let (route, curve, jumped_at) = (&self.route, &mut self.curve, &mut self.jumped_at);
        let cells = || run.board.reading(ConnectionId(route.cell), delayed.consumer);
        let read = versions.read_with(time, &mut delayed.reader, |words| {
            *jumped_at = before.max(route.jumped_at(words));
            match curve {
                Some(curve) => curve.take(|word| words.get(word)),
                None => route.copy(words, values),
            }
        });
        if let Some(Missed { visible, lane }) = versions.missed_before(&delayed.reader) {
            cells().missed(visible, lane);
        }
        let (is_new, is_lost) = (matches!(read, Read::New | Read::Lost), read == Read::Lost);
        if is_lost {
            cells().lost(time);
        }
        if is_new {
            values.enable(self.item);
        }
        if let Some(curve) = curve {
            if is_new {
                curve.is_since(delayed.reader.visible());
            }
            // The curve moves on without a new version.
            route.follow(curve, time, values, slopes);
        }
        self.jumped_at > before
    }

    /// Copies the newest version into the batch, and enables the item as soon as it has a value.
    #[inline]
    pub fn fetch_initial(&mut self, cells: &[Latest], values: &mut Batch) {
        let cell = &cells[self.route.cell];
        if cell.version() == self.seen {
            return;
        }
        let (route, jumped_at) = (&self.route, &mut self.jumped_at);
        let before = *jumped_at;
        self.seen = cell.read_with(|words| {
            *jumped_at = before.max(route.jumped_at(words));
            route.copy(words, values);
        });
        values.enable(self.item);
    }

    /// From now on the activations of `unit` set it. The batch has the initial value of a delayed connection already, in case
    /// another connection has the whole array set; alone it enables nothing.
    pub fn follow_delay(&mut self, run: &RunState, unit: UnitId, values: &mut Batch) {
        let connection = &run.plan.connections[self.route.cell];
        let (Some(delay), Some(versions)) = (&connection.delay, &run.versions[self.route.cell]) else { return };
        let consumer = delay.consumers.iter().position(|consumer| *consumer == unit).unwrap_or_default();
        self.delayed = Some(Delayed { reader: versions.reader(consumer), consumer });
        if run.cells[self.route.cell].version() > 0 {
            run.cells[self.route.cell].read_with(|words| self.route.copy(words, values));
        }
    }

    /// The run is over: notes a version that should have been visible at the last look and was finished only after it.
    pub fn note_missed(&self, run: &RunState) {
        let Some(delayed) = &self.delayed else { return };
        let Some(versions) = &run.versions[self.route.cell] else { return };
        if let Some(Missed { visible, lane }) = versions.missed(&delayed.reader) {
            run.board.reading(ConnectionId(self.route.cell), delayed.consumer).missed(visible, lane);
        }
    }
}

/// Where a variable of a batch that is read goes.
pub struct Output {
    /// The variable.
    pub reference: ValueReference,
    deliveries: Vec<Delivery>,
}

struct Delivery {
    route: Route,
    conversion: Conversion,
    delayed: bool,
    /// Number of derivatives that travel with each value.
    orders: usize,
    /// When the source has jumped last, ns.
    jumped_at: Cell<i64>,
}

/// The activation that publishes values; `None` in its place stands for Initialization Mode.
#[derive(Clone, Copy)]
pub struct Publishing {
    /// The unit.
    pub unit: UnitId,
    /// Its activation time.
    pub time: Instant,
    /// From when on delayed connections show it; `None`: never.
    pub stamp: Option<Stamp>,
    /// The values were read in Event Mode: tasks that the event ticks see them at its very time, all others a nanosecond later.
    pub in_event: bool,
}

impl Publishing {
    /// The time from which on the published values are valid.
    pub fn valid_from(&self) -> Instant {
        self.stamp.map_or(self.time, |stamp| stamp.visible)
    }
}

/// Hands new words of a connection to `fill`, wherever they belong.
#[inline]
fn write(run: &RunState, delivery: &Delivery, now: Option<Publishing>, fill: impl FnOnce(NewWords)) {
    let connection = delivery.route.cell;
    let Some(Publishing { unit, stamp, in_event, .. }) = now.filter(|_| delivery.delayed) else {
        run.cells[connection].write_with(fill);
        return;
    };
    let (Some(versions), Some(stamp)) = (&run.versions[connection], stamp) else { return };
    let with_tick = run.plan.connections[connection].delay.as_ref().is_some_and(|delay| delay.with_tick);
    let stamp = match in_event && !with_tick {
        true => Stamp { visible: stamp.visible.after(Fraction::NANOSECOND), ..stamp },
        false => stamp,
    };
    let producers = run.plan.connections[connection].delay.iter().flat_map(|delay| &delay.producers);
    if let Some(lane) = producers.into_iter().position(|producer| producer.unit == unit) {
        versions.write_with(lane, stamp, fill);
    }
}

impl Output {
    /// The deliveries outside of signal bundles; `None`: there are none.
    pub fn without_bundles(mut self, run: &RunState) -> Option<Output> {
        self.deliveries.retain(|delivery| !run.bundles.has(ConnectionId(delivery.route.cell)));
        (!self.deliveries.is_empty()).then_some(self)
    }

    /// Whether a delayed connection begins here.
    pub fn is_delayed(&self) -> bool {
        self.deliveries.iter().any(|delivery| delivery.delayed)
    }

    /// Whether jumps are reported to a consumer.
    pub fn tells_jumps(&self) -> bool {
        self.deliveries.iter().any(|delivery| delivery.route.jump.is_some())
    }

    /// The times of the last jumps that were reported to consumers, ns.
    pub fn jumps(&self) -> impl Iterator<Item = (ConnectionId, i64)> {
        let told = self.deliveries.iter().filter(|delivery| delivery.route.jump.is_some());
        told.map(|delivery| (ConnectionId(delivery.route.cell), delivery.jumped_at.get()))
    }

    /// Restores the reported jumps of the saved run: [`Output::jumps`].
    pub fn put_back(&self, jumps: &[(ConnectionId, i64)]) {
        for Delivery { route, jumped_at, .. } in &self.deliveries {
            let own = jumps.iter().find(|(connection, _)| connection.0 == route.cell);
            own.into_iter().for_each(|(_, time)| jumped_at.set(*time));
        }
    }

    /// Publishes it to all its consumers, with the `slopes` of the batch; `has_jumped`: whether an event has changed an element. A string or binary that is too long for one of them is not passed on there;
    /// the answer is the size of such a one.
    #[inline]
    pub fn publish(
        &self,
        run: &RunState,
        now: Option<Publishing>,
        values: &Batch,
        slopes: Option<&CarriedDerivatives>,
        has_jumped: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut refused = None;
        for delivery in &self.deliveries {
            let Delivery { route, conversion, .. } = delivery;
            if route.jump.is_some()
                && let Some(now) = now.filter(|now| now.in_event)
                && route.elements().any(|(element, _)| has_jumped(element))
            {
                delivery.jumped_at.set(now.valid_from().nanos().0);
            }
            let Some(capacity) = route.capacity else {
                write(run, delivery, now, |words| {
                    route.elements().for_each(|(element, at)| words.set(at, conversion.apply(values.word(element))));
                    for order in 1..=delivery.orders {
                        let of = |element| slopes.map_or(0.0, |slopes| slopes.per_second(element, order));
                        route.elements().for_each(|(element, at)| {
                            words.set(at + order, conversion.derivative(of(element)).to_bits());
                        });
                    }
                    if let Some(word) = route.jump {
                        words.set(word, delivery.jumped_at.get().cast_unsigned());
                    }
                });
                continue;
            };
            let too_long = |element| match values.bytes(element) {
                Ok(value) if value.len() <= capacity => None,
                Ok(value) => Some(value.len()),
                Err(size) => Some(size),
            };
            if let Some(size) = route.elements().find_map(|(element, _)| too_long(element)) {
                refused = Some(size);
                continue;
            }
            write(run, delivery, now, |words| {
                for (element, at) in route.elements() {
                    bytes::pack(values.bytes(element).unwrap_or_default(), |i, word| words.set(at + i, word));
                }
            });
        }
        refused
    }
}

/// The batch for variables of a plan, none of them enabled.
fn batch(planned: &vecud_plan::BatchPlan) -> Batch {
    match planned.variable_type {
        VariableType::String | VariableType::Binary => {
            let variables = planned.items.iter().map(|item| (item.reference, item.elements, item.capacity));
            Batch::awaiting_bytes(planned.variable_type, &variables.collect::<Vec<_>>())
        }
        other => Batch::awaiting(other, planned.items.iter().map(|item| (item.reference, item.elements)).collect()),
    }
}

/// A batch to be set: its items join when their values come. Elements that no connection feeds have their start values.
pub fn set(plan: &Plan, planned: &vecud_plan::BatchPlan) -> (Batch, Vec<Input>) {
    let mut values = batch(planned);
    let mut inputs = Vec::new();
    for (item, variable) in planned.items.iter().enumerate() {
        if let Some(start) = &variable.start {
            store(&mut values, item, start);
        }
        let first = values.elements(item).start;
        inputs.extend(variable.connections.iter().map(|&connection| {
            let route = Route::new(plan, connection, &plan.connections[connection.0].to_elements, first);
            let connected = &plan.connections[connection.0];
            let curve = (orders(connected) > 0).then(|| Extrapolated::new(connected.elements, orders(connected)));
            Input { item, route, seen: 0, delayed: None, curve, jumped_at: NO_JUMP }
        }));
    }
    (values, inputs)
}

/// A batch to be read, and the destinations of its values.
pub fn get(plan: &Plan, planned: &vecud_plan::BatchPlan) -> (Batch, Vec<Output>) {
    let values = batch(planned).all_enabled();
    let feeding = planned.items.iter().enumerate().filter(|(_, variable)| !variable.connections.is_empty());
    let outputs = feeding.map(|(item, variable)| output(plan, variable, values.elements(item).start)).collect();
    (values, outputs)
}

fn output(plan: &Plan, variable: &vecud_plan::BatchItem, first: usize) -> Output {
    let delivery = |&connection: &ConnectionId| {
        let connected = &plan.connections[connection.0];
        let route = Route::new(plan, connection, &connected.from_elements, first);
        let (conversion, delayed) = (connected.conversion, connected.timing == Timing::Delayed);
        Delivery { route, conversion, delayed, orders: orders(connected), jumped_at: Cell::new(NO_JUMP) }
    };
    Output { reference: variable.reference, deliveries: variable.connections.iter().map(delivery).collect() }
}

/// Puts values into an item of a batch. Not for the hot path: allocates.
pub fn store(batch: &mut Batch, item: usize, values: &Values) {
    let elements = batch.elements(item);
    match values {
        Values::String(all) => elements.zip(all).for_each(|(element, v)| batch.set_bytes(element, v.as_bytes())),
        Values::Binary(all) => elements.zip(all).for_each(|(element, v)| batch.set_bytes(element, v)),
        numbers => {
            let words = word::words(numbers).unwrap_or_default();
            elements.zip(words).for_each(|(element, word)| batch.set_word(element, word));
        }
    }
}

/// The values of an item of a batch; `None` for clocks. Not for the hot path: allocates.
pub fn load(batch: &Batch, item: usize) -> Option<Values> {
    let bytes = |element| batch.bytes(element).unwrap_or_default();
    let elements = batch.elements(item);
    match batch.variable_type() {
        VariableType::String => {
            let text = |element| String::from_utf8_lossy(bytes(element)).into_owned();
            Some(Values::String(elements.map(text).collect()))
        }
        VariableType::Binary => Some(Values::Binary(elements.map(|element| bytes(element).to_vec()).collect())),
        other => word::values(&elements.map(|element| batch.word(element)).collect::<Vec<_>>(), other),
    }
}
