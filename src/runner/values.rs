//! Values between the batches of a task and the cells of the connections: what an activation fetches before it sets, and
//! publishes after it has read (design S10, S11).
//!
//! All memory is taken when a run is prepared. Numbers are converted by the producer, so that a cell holds what the
//! consumer sets; strings and binaries lie in their cells as `exchange::bytes` says.

use crate::exchange::{Latest, bytes, word};
use crate::ffi::Batch;
use crate::fmu::description::{ValueReference, Values, VariableType};
use crate::plan::conversion::Conversion;
use crate::plan::{self, ConnectionId, ConnectionPlan, Plan};
use std::ops::Range;

/// The cell of a connection.
pub fn cell(connection: &ConnectionPlan) -> Latest {
    Latest::new(connection.elements * room(connection))
}

/// Words that an element takes.
fn room(connection: &ConnectionPlan) -> usize {
    match connection.variable_type {
        VariableType::String | VariableType::Binary => bytes::words(connection.capacity),
        _ => 1,
    }
}

/// Where elements of a batch are in a cell.
struct Route {
    cell: usize,
    /// Elements of the batch, in the order in which the cell has them.
    runs: Vec<Range<usize>>,
    /// Words of an element in the cell.
    room: usize,
    /// Bytes of an element; `None` for numbers.
    capacity: Option<usize>,
}

impl Route {
    fn new(plan: &Plan, connection: ConnectionId, runs: &[Range<usize>], first: usize) -> Route {
        let connected = &plan.connections[connection.0];
        let is_bytes = matches!(connected.variable_type, VariableType::String | VariableType::Binary);
        Route {
            cell: connection.0,
            runs: runs.iter().map(|run| first + run.start..first + run.end).collect(),
            room: room(connected),
            capacity: is_bytes.then_some(connected.capacity),
        }
    }

    /// The elements of the batch with their first words in the cell.
    fn elements(&self) -> impl Iterator<Item = (usize, usize)> {
        self.runs.iter().cloned().flatten().zip((0..).step_by(self.room))
    }
}

/// What feeds an item of a batch that is set.
pub struct Input {
    item: usize,
    route: Route,
    /// The version that the batch has.
    seen: u64,
}

impl Input {
    /// Brings the newest version into the batch, and the item among those that are set as soon as there is one.
    #[inline]
    pub fn fetch(&mut self, cells: &[Latest], values: &mut Batch) {
        let cell = &cells[self.route.cell];
        if cell.version() == self.seen {
            return;
        }
        let route = &self.route;
        self.seen = cell.read_with(|words| match route.capacity {
            None => route.elements().for_each(|(element, at)| values.set_word(element, words.get(at))),
            Some(capacity) => {
                for (element, at) in route.elements() {
                    values.fill_bytes(element, |room| {
                        let room = room.get_mut(..capacity).unwrap_or_default();
                        bytes::unpack(|i| words.get(at + i), room)
                    });
                }
            }
        });
        values.enable(self.item);
    }
}

/// Where a variable of a batch that is read goes.
pub struct Output {
    /// The variable.
    pub reference: ValueReference,
    deliveries: Vec<(Route, Conversion)>,
}

impl Output {
    /// Publishes it to all its consumers. A string or binary that is too long for one of them is not passed on there;
    /// the answer is the size of such a one.
    #[inline]
    pub fn publish(&self, cells: &[Latest], values: &Batch) -> Option<usize> {
        let mut refused = None;
        for (route, conversion) in &self.deliveries {
            let cell = &cells[route.cell];
            let Some(capacity) = route.capacity else {
                cell.write_with(|words| {
                    route.elements().for_each(|(element, at)| words.set(at, conversion.apply(values.word(element))));
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
            cell.write_with(|words| {
                for (element, at) in route.elements() {
                    bytes::pack(values.bytes(element).unwrap_or_default(), |i, word| words.set(at + i, word));
                }
            });
        }
        refused
    }
}

/// The batch for variables of a plan, none of them enabled.
fn batch(planned: &plan::Batch) -> Batch {
    match planned.variable_type {
        VariableType::String | VariableType::Binary => {
            let variables = planned.items.iter().map(|item| (item.reference, item.elements, item.capacity));
            Batch::awaiting_bytes(planned.variable_type, &variables.collect::<Vec<_>>())
        }
        other => Batch::awaiting(other, planned.items.iter().map(|item| (item.reference, item.elements)).collect()),
    }
}

/// A batch to be set: its items join when their values come. Elements that no connection feeds have their start values.
pub fn set(plan: &Plan, planned: &plan::Batch) -> (Batch, Vec<Input>) {
    let mut values = batch(planned);
    let mut inputs = Vec::new();
    for (item, variable) in planned.items.iter().enumerate() {
        if let Some(start) = &variable.start {
            store(&mut values, item, start);
        }
        let first = values.elements(item).start;
        inputs.extend(variable.connections.iter().map(|&connection| {
            let route = Route::new(plan, connection, &plan.connections[connection.0].to_elements, first);
            Input { item, route, seen: 0 }
        }));
    }
    (values, inputs)
}

/// A batch to be read, and where what it reads goes.
pub fn get(plan: &Plan, planned: &plan::Batch) -> (Batch, Vec<Output>) {
    let values = batch(planned).all_enabled();
    let feeding = planned.items.iter().enumerate().filter(|(_, variable)| !variable.connections.is_empty());
    let outputs = feeding.map(|(item, variable)| output(plan, variable, values.elements(item).start)).collect();
    (values, outputs)
}

fn output(plan: &Plan, variable: &plan::BatchItem, first: usize) -> Output {
    let delivery = |&connection: &ConnectionId| {
        let connected = &plan.connections[connection.0];
        (Route::new(plan, connection, &connected.from_elements, first), connected.conversion)
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
