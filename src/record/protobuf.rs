//! Messages in the binary form of protobuf, with their schema: module `recording::protobuf` says what is in them.

use super::messages::{Encoding, Topic};
use super::signals::Change;
use super::texts::Texts;
use crate::plan::{Plan, SignalId};
use crate::recording::protobuf::{self as wire, Field, Kind, Wire};
use crate::time::Instant;
use std::collections::BTreeSet;

/// How values of columns are written.
pub(super) struct Protobuf {
    columns: Vec<Column>,
    /// What columns are called in messages.
    keys: Vec<String>,
    texts: Texts,
}

struct Column {
    /// What stands before its values, and how long that is.
    tag: [u8; 4],
    length: usize,
    kind: Kind,
}

impl Protobuf {
    /// For the columns of a plan, which have these names in messages.
    pub(super) fn new(plan: &Plan, keys: Vec<String>, texts: &Texts) -> Protobuf {
        let column = |(place, signal): (usize, &crate::plan::SignalPlan)| {
            let kind = Kind::of(signal.variable_type);
            let mut bytes = Vec::new();
            wire::put_varint(&mut bytes, wire::tag(number(SignalId(place)), kind.wire()));
            let mut tag = [0; 4];
            tag[..bytes.len()].copy_from_slice(&bytes);
            Column { tag, length: bytes.len(), kind }
        };
        Protobuf { columns: plan.signals.iter().enumerate().map(column).collect(), keys, texts: texts.clone() }
    }
}

/// The field of a column. There are at most 4096.
fn number(SignalId(column): SignalId) -> u32 {
    wire::FIRST_COLUMN + column as u32
}

impl Encoding for Protobuf {
    fn names(&self) -> [&'static str; 2] {
        ["protobuf", "protobuf"]
    }

    fn is_compressed(&self) -> bool {
        true
    }

    fn schema(&self, topic: &Topic) -> (String, Vec<u8>) {
        let time = Field {
            number: wire::TIME,
            name: "time".to_owned(),
            json_name: "time".to_owned(),
            kind: Kind::Double,
            repeated: false,
        };
        let mut fields = vec![time];
        let keys: BTreeSet<&str> = topic.columns.iter().map(|column| self.keys[column.0].as_str()).collect();
        let mut names = BTreeSet::from(["time".to_owned()]);
        if topic.partial {
            let name = unique("absent", |name| keys.contains(name));
            names.insert(name.clone());
            let json_name = name.clone();
            fields.push(Field { number: wire::ABSENT, name, json_name, kind: Kind::Uint32, repeated: true });
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
    fn message(&self, out: &mut Vec<u8>, time: Instant, values: &[Change]) {
        out.push(wire::tag(wire::TIME, Wire::Eight) as u8);
        out.extend_from_slice(&time.seconds().to_bits().to_le_bytes());
        let mut absent = 0;
        for &(SignalId(column), value) in values {
            let Column { tag, length, kind } = &self.columns[column];
            let Some(value) = value else {
                absent += 1;
                continue;
            };
            // As many bytes as there can be, then without those that are too many: copying a number of bytes that the compiler
            // does not know takes longer.
            out.extend_from_slice(tag);
            out.truncate(out.len() - tag.len() + length);
            match kind {
                Kind::Double => out.extend_from_slice(&value.to_le_bytes()),
                Kind::Float => out.extend_from_slice(&(value as u32).to_le_bytes()),
                Kind::Sint32 | Kind::Sint64 => wire::put_varint(out, value << 1 ^ ((value as i64) >> 63) as u64),
                Kind::Uint32 | Kind::Uint64 | Kind::Bool => wire::put_varint(out, value),
                Kind::String | Kind::Bytes => {
                    let value = self.texts.value(value);
                    wire::put_varint(out, value.len() as u64);
                    out.extend_from_slice(&value);
                }
            }
        }
        if absent > 0 {
            let mut numbers = Vec::new();
            let without = values.iter().filter(|(_, value)| value.is_none());
            without.for_each(|(column, _)| wire::put_varint(&mut numbers, number(*column).into()));
            wire::put_bytes(out, wire::ABSENT, &numbers);
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
