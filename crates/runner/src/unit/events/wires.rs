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
    /// The connection that it is.
    pub connection: ConnectionId,
    /// The numbers of its FMUs in the unit.
    pub from: usize,
    pub to: usize,
    source: Port,
    target: Port,
    conversion: Option<Conversion>,
    words: Vec<u64>,
    /// As many, as they come from its FMU.
    remembered: Vec<u64>,
    /// The values that its FMU had before they jumped in an event of its own.
    before_jump: Vec<u64>,
    /// They have jumped at another communication point than that of the FMU that the wire leads to, which takes the jump at its own.
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
    /// Where a connection is among the batches of a task.
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

    /// The variable that it comes from, if it carries that as a whole.
    pub fn source(&self) -> Option<(ValueReference, usize)> {
        self.source.variable
    }

    /// The variable that it leads to, if it carries that as a whole.
    pub fn target(&self) -> Option<(ValueReference, usize)> {
        self.target.variable
    }

    /// Converts a derivative of the source to one of the target.
    pub fn derivative(&self, derivative: f64) -> f64 {
        self.conversion.map_or(derivative, |conversion| conversion.derivative(derivative))
    }

    /// How many values it carries that are numbers.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Takes up the values that its source has read last.
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

    /// Remembers the numbers that its FMU has read last.
    pub fn remember(&mut self, calls: &Calls) {
        let values = calls.got(self.source.call);
        let elements = self.source.elements(values);
        self.remembered.iter_mut().zip(elements).for_each(|(word, element)| *word = values.word(element));
    }

    /// Whether they are others now.
    pub fn has_changed(&self, calls: &Calls) -> bool {
        let values = calls.got(self.source.call);
        let mut pairs = self.remembered.iter().zip(self.source.elements(values));
        pairs.any(|(word, element)| values.word(element) != *word)
    }

    /// They are others now, in an event at a communication point at which the FMU that it leads to is not.
    pub fn note_jump(&mut self) {
        if !std::mem::replace(&mut self.has_jumped, true) {
            self.before_jump.copy_from_slice(&self.remembered);
        }
    }

    /// Takes up the values that its FMU had before they jumped.
    pub fn load_before_jump(&mut self) {
        for (word, left) in self.words.iter_mut().zip(&self.before_jump) {
            *word = self.conversion.map_or(*left, |conversion| conversion.apply(*left));
        }
    }

    /// The values that it has taken up, as numbers.
    pub fn doubles(&self) -> impl Iterator<Item = f64> {
        self.words.iter().map(|word| f64::from_bits(*word))
    }

    /// As if it had taken up these.
    pub fn take(&mut self, doubles: &[f64]) {
        self.words.iter_mut().zip(doubles).for_each(|(word, double)| *word = double.to_bits());
    }

    /// Copies the values to the inputs that its target sets next.
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
