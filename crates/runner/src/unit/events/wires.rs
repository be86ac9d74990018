//! Wires: they carry values from one FMU of a group to another within a release, at once, and unseen by other tasks (semantics
//! S24).

use crate::calls::Calls;
use std::ops::Range;
use vecud_description::{ValueReference, VariableType};
use vecud_fmi::Batch;
use vecud_plan::conversion::Conversion;
use vecud_plan::{ConnectionId, Plan, UnitId, WirePlan};

/// One connection inside of a group. All memory is taken when it is made.
pub struct Wire {
    /// The wire's connection.
    pub connection: ConnectionId,
    /// Number in the group of the FMU that the values come from.
    pub from: usize,
    /// Number in the group of the FMU that the values go to.
    pub to: usize,
    source: Port,
    target: Port,
    conversion: Option<Conversion>,
    /// The values that the target gets next, one word each.
    words: Vec<u64>,
    /// The values that the source had last, before conversion.
    remembered: Vec<u64>,
    /// The values that the source had before an event of its own changed them.
    before_jump: Vec<u64>,
    /// The values have jumped at a communication point that is none of the target's, which takes the jump at its own next one.
    pub has_jumped: bool,
    /// For strings and binaries: the bytes of each element, and their number; `None`: longer than the buffer.
    texts: Vec<(Vec<u8>, Option<usize>)>,
}

/// Where a wire meets a call.
struct Port {
    call: usize,
    /// The item of the call's batch.
    item: usize,
    /// The variable and its elements, if it is there as a whole.
    variable: Option<(ValueReference, usize)>,
    /// Elements of the variable, in the order of the connection.
    runs: Vec<Range<usize>>,
}

impl Port {
    /// The place of a connection among the batches of a unit.
    fn of(batches: &[vecud_plan::BatchPlan], connection: ConnectionId, runs: &[Range<usize>]) -> Port {
        let in_batch =
            |batch: &vecud_plan::BatchPlan| batch.items.iter().position(|item| item.connections.contains(&connection));
        let found = batches.iter().enumerate().find_map(|(call, batch)| Some((call, in_batch(batch)?)));
        let (call, item) = found.expect("both tasks of a connection read and set it");
        let own = &batches[call].items[item];
        let is_whole = matches!(runs, [all] if *all == (0..own.elements));
        Port { call, item, variable: is_whole.then_some((own.reference, own.elements)), runs: runs.to_vec() }
    }

    /// The elements of the port in the batch.
    fn elements(&self, batch: &Batch) -> impl Iterator<Item = usize> + use<'_> {
        let first = batch.elements(self.item).start;
        self.runs.iter().cloned().flatten().map(move |element| first + element)
    }
}

impl Wire {
    /// A wire between tasks; `number` gives their numbers in the unit.
    pub fn new(plan: &Plan, wire: &WirePlan, number: impl Fn(UnitId) -> usize) -> Wire {
        let connection = &plan.connections[wire.connection.0];
        let (from, to) = (&plan.units[wire.from.0], &plan.units[wire.to.0]);
        let is_text = matches!(connection.variable_type, VariableType::String | VariableType::Binary);
        let elements = connection.elements;
        let text = || (vec![0; connection.capacity], None);
        Wire {
            connection: wire.connection,
            from: number(wire.from),
            to: number(wire.to),
            source: Port::of(&from.get, wire.connection, &connection.from_elements),
            target: Port::of(&to.set, wire.connection, &connection.to_elements),
            conversion: Some(connection.conversion).filter(|conversion| *conversion != Conversion::NONE),
            words: vec![0; if is_text { 0 } else { elements }],
            remembered: vec![0; if is_text { 0 } else { elements }],
            before_jump: vec![0; if is_text { 0 } else { elements }],
            has_jumped: false,
            texts: (0..if is_text { elements } else { 0 }).map(|_| text()).collect(),
        }
    }

    /// The source's variable, if the wire carries all of its elements.
    pub fn source(&self) -> Option<(ValueReference, usize)> {
        self.source.variable
    }

    /// The target's variable, if the wire sets all of its elements.
    pub fn target(&self) -> Option<(ValueReference, usize)> {
        self.target.variable
    }

    /// Converts a derivative of the source to one of the target.
    pub fn derivative(&self, derivative: f64) -> f64 {
        self.conversion.map_or(derivative, |conversion| conversion.derivative(derivative))
    }

    /// The number of values that are numbers.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Loads the values that the source has read last.
    pub fn load(&mut self, calls: &Calls) {
        let values = calls.got(self.source.call);
        let mut elements = self.source.elements(values);
        for (word, element) in self.words.iter_mut().zip(&mut elements) {
            let value = values.word(element);
            *word = self.conversion.map_or(value, |conversion| conversion.apply(value));
        }
        for ((text, length), element) in self.texts.iter_mut().zip(elements) {
            *length = values.bytes(element).ok().and_then(|bytes| {
                text.get_mut(..bytes.len())?.copy_from_slice(bytes);
                Some(bytes.len())
            });
        }
    }

    /// Remembers the numbers that the source has read last.
    pub fn remember(&mut self, calls: &Calls) {
        let values = calls.got(self.source.call);
        let elements = self.source.elements(values);
        self.remembered.iter_mut().zip(elements).for_each(|(word, element)| *word = values.word(element));
    }

    /// Whether the source's numbers differ from the remembered ones.
    pub fn has_changed(&self, calls: &Calls) -> bool {
        let values = calls.got(self.source.call);
        let mut pairs = self.remembered.iter().zip(self.source.elements(values));
        pairs.any(|(word, element)| values.word(element) != *word)
    }

    /// Notes that an event changed the source's numbers at a communication point that is none of the target's.
    pub fn note_jump(&mut self) {
        if !std::mem::replace(&mut self.has_jumped, true) {
            self.before_jump.copy_from_slice(&self.remembered);
        }
    }

    /// Loads the values that the source had before they jumped.
    pub fn load_before_jump(&mut self) {
        for (word, left) in self.words.iter_mut().zip(&self.before_jump) {
            *word = self.conversion.map_or(*left, |conversion| conversion.apply(*left));
        }
    }

    /// The loaded values, as numbers.
    pub fn doubles(&self) -> impl Iterator<Item = f64> {
        self.words.iter().map(|word| f64::from_bits(*word))
    }

    /// Loads these values instead of the source's.
    pub fn set(&mut self, doubles: &[f64]) {
        self.words.iter_mut().zip(doubles).for_each(|(word, double)| *word = double.to_bits());
    }

    /// Copies the loaded values to the inputs that the target sets next.
    pub fn hand_over(&self, calls: &mut Calls) {
        let values = calls.wanted(self.target.call);
        let mut elements = self.target.elements(values);
        for (word, element) in self.words.iter().zip(&mut elements) {
            values.set_word(element, *word);
        }
        for ((text, length), element) in self.texts.iter().zip(elements) {
            if let Some(text) = length.and_then(|length| text.get(..length)) {
                values.set_bytes(element, text);
            }
        }
        values.enable(self.target.item);
    }
}
