//! Messages in the binary form of protobuf, with their schema: module `recording::protobuf` describes both.

use super::encoding::{Encoding, MessageChannel};
use super::sample_sink::Sample;
use super::texts::Texts;
use crate::recording::protobuf::{self as wire, Field, FieldType, WireType};
use std::collections::BTreeSet;
use vecud_base::time::Instant;
use vecud_plan::{Plan, SignalId, UnitPlan};

/// The form of the columns' values.
pub(super) struct Protobuf {
    columns: Vec<Column>,
    /// By task; `None`: the lengths of its values differ from message to message.
    templates: Vec<Option<Template>>,
    /// The names of columns in messages.
    keys: Vec<String>,
    texts: Texts,
}

struct Column {
    /// The tag before the column's values, and its length.
    tag: [u8; 4],
    length: usize,
    kind: FieldType,
}

/// A message with all columns of a task, in which each value has a fixed place.
struct Template {
    message: Vec<u8>,
    /// The places in the order of the columns.
    places: Vec<Place>,
}

/// The place of a value in a message.
#[derive(Clone, Copy)]
enum Place {
    Double(usize),
    Float(usize),
    Bool(usize),
}

/// Place of a message's time, after its tag of one byte.
const TIME: std::ops::Range<usize> = 1..9;

impl Template {
    /// Template for a task, if all of its values always have the same length.
    fn of(plan: &Plan, task: &UnitPlan, columns: &[Column]) -> Option<Template> {
        let mut template = Template { message: vec![wire::tag(wire::TIME, WireType::Eight) as u8], places: Vec::new() };
        template.message.resize(TIME.end, 0);
        for SignalId(column) in plan.written(task) {
            let Column { tag, length, kind } = &columns[column];
            template.message.extend_from_slice(&tag[..*length]);
            let at = template.message.len();
            let (place, room) = match kind {
                FieldType::Double => (Place::Double(at), 8),
                FieldType::Float => (Place::Float(at), 4),
                FieldType::Bool => (Place::Bool(at), 1),
                _ => return None,
            };
            template.places.push(place);
            template.message.resize(at + room, 0);
        }
        Some(template)
    }

    /// Appends the message with these values.
    #[inline]
    fn fill(&self, out: &mut Vec<u8>, time: Instant, words: &[u64]) {
        let begin = out.len();
        out.extend_from_slice(&self.message);
        let message = &mut out[begin..];
        message[TIME].copy_from_slice(&time.seconds().to_bits().to_le_bytes());
        for (place, word) in self.places.iter().zip(words) {
            match *place {
                Place::Double(at) => message[at..at + 8].copy_from_slice(&word.to_le_bytes()),
                Place::Float(at) => message[at..at + 4].copy_from_slice(&(*word as u32).to_le_bytes()),
                Place::Bool(at) => message[at] = u8::from(*word != 0),
            }
        }
    }
}

impl Protobuf {
    /// For the columns of a plan, which have these names in messages.
    pub(super) fn new(plan: &Plan, keys: Vec<String>, texts: &Texts) -> Protobuf {
        let column = |(place, signal): (usize, &vecud_plan::SignalPlan)| {
            let kind = FieldType::of(signal.variable_type);
            let mut bytes = Vec::new();
            wire::put_varint(&mut bytes, wire::tag(number(SignalId(place)), kind.wire()));
            let mut tag = [0; 4];
            tag[..bytes.len()].copy_from_slice(&bytes);
            Column { tag, length: bytes.len(), kind }
        };
        let columns: Vec<Column> = plan.signals.iter().enumerate().map(column).collect();
        let templates = plan.units.iter().map(|task| Template::of(plan, task, &columns)).collect();
        Protobuf { columns, templates, keys, texts: texts.clone() }
    }
}

/// The field of a column. There are at most 2^20.
fn number(SignalId(column): SignalId) -> u32 {
    let number = wire::FIRST_COLUMN + column as u32;
    if number < wire::RESERVED.start { number } else { number + wire::RESERVED.len() as u32 }
}

impl Encoding for Protobuf {
    fn names(&self) -> [&'static str; 2] {
        ["protobuf", "protobuf"]
    }

    fn is_compressed(&self) -> bool {
        true
    }

    fn schema(&self, topic: &MessageChannel) -> (String, Vec<u8>) {
        let time = Field {
            number: wire::TIME,
            name: "time".to_owned(),
            json_name: "time".to_owned(),
            kind: FieldType::Double,
            repeated: false,
        };
        let mut fields = vec![time];
        let keys: BTreeSet<&str> = topic.columns.iter().map(|column| self.keys[column.0].as_str()).collect();
        let mut names = BTreeSet::from(["time".to_owned()]);
        if topic.partial {
            let name = unique("absent", |name| keys.contains(name));
            names.insert(name.clone());
            let json_name = name.clone();
            fields.push(Field { number: wire::ABSENT, name, json_name, kind: FieldType::Uint32, repeated: true });
        }
        for column in &topic.columns {
            let key = &self.keys[column.0];
            let name = unique(&identifier(key), |name| names.contains(name));
            names.insert(name.clone());
            let (number, kind) = (number(*column), self.columns[column.0].kind);
            fields.push(Field { number, name, json_name: key.clone(), kind, repeated: false });
        }
        let (package, message) = topic.topic[1..].split_once('/').unwrap_or(("", &topic.topic[1..]));
        let (package, message) =
            (if package.is_empty() { "".to_owned() } else { identifier(package) }, identifier(message));
        let schema = wire::schema(&package, &message, &fields);
        let full = if package.is_empty() { message } else { format!("{package}.{message}") };
        (full, schema)
    }

    #[inline]
    fn message(&self, out: &mut Vec<u8>, source: usize, time: Instant, values: Sample) {
        if let (Sample::All(_, words), Some(Some(template))) = (values, self.templates.get(source)) {
            return template.fill(out, time, words);
        }
        out.push(wire::tag(wire::TIME, WireType::Eight) as u8);
        out.extend_from_slice(&time.seconds().to_bits().to_le_bytes());
        let mut absent = Vec::new();
        for (SignalId(column), value) in values.changes() {
            let Column { tag, length, kind } = &self.columns[column];
            let Some(value) = value else {
                wire::put_varint(&mut absent, number(SignalId(column)).into());
                continue;
            };
            // As many bytes as there can be, then without those that are too many: copying a number of bytes that the compiler
            // does not know takes longer.
            out.extend_from_slice(tag);
            out.truncate(out.len() - tag.len() + length);
            match kind {
                FieldType::Double => out.extend_from_slice(&value.to_le_bytes()),
                FieldType::Float => out.extend_from_slice(&(value as u32).to_le_bytes()),
                FieldType::Sint32 | FieldType::Sint64 => {
                    wire::put_varint(out, value << 1 ^ ((value as i64) >> 63) as u64)
                }
                FieldType::Uint32 | FieldType::Uint64 | FieldType::Bool => wire::put_varint(out, value),
                FieldType::String | FieldType::Bytes => {
                    let value = self.texts.value(value);
                    wire::put_varint(out, value.len() as u64);
                    out.extend_from_slice(&value);
                }
            }
        }
        if !absent.is_empty() {
            wire::put_bytes(out, wire::ABSENT, &absent);
        }
    }
}

/// The text with an underscore for each character that no identifier has.
fn identifier(text: &str) -> String {
    let plain = text.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' });
    let begin = if text.starts_with(|first: char| first.is_ascii_digit()) || text.is_empty() { "_" } else { "" };
    begin.chars().chain(plain).collect()
}

/// The name, with a number behind it if it is taken.
fn unique(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let others = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(others).find(|name| !taken(name)).expect("there are more than can be taken")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_different() {
        for (text, expected) in
            [("map[3]", "map_3_"), ("der(x)", "der_x_"), ("2nd", "_2nd"), ("größe", "gr__e"), ("", "_")]
        {
            assert_eq!(identifier(text), expected);
        }
        assert_eq!(unique("a", |name| ["a", "a_2"].contains(&name)), "a_3");
    }
}
