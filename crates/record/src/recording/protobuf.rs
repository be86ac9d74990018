//! Messages in the binary form of protobuf, and their schema, as far as recordings have them.
//!
//! * A message has one field for its time, and one for each column: [`FIRST_COLUMN`] and on, in the order of the recording,
//!   without the [`RESERVED`] numbers. A column whose field is not in a message was neither set nor read. Field [`ABSENT`] has the
//!   numbers of fields whose column has no value any more.
//! * The schema is a `FileDescriptorSet` with one message type of `proto2`. A field's JSON name is the column's name in
//!   messages; its own name is that with an underscore for each character that no identifier has.
//!
//! <https://protobuf.dev/programming-guides/encoding>

use super::text;
use std::ops::Range;
use vecud_description::VariableType;
use vecud_description::word;

/// The field with the time of a message, s.
pub const TIME: u32 = 1;
/// The field with the numbers of fields that have no value.
pub const ABSENT: u32 = 2;
/// The field of the first column.
pub const FIRST_COLUMN: u32 = 3;
/// The fields that protobuf keeps for itself: columns pass over them.
pub const RESERVED: Range<u32> = 19_000..20_000;

/// A field of a message type, as its schema has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Number of the field in messages.
    pub number: u32,
    /// Name of the field, an identifier.
    pub name: String,
    /// Name of the field in JSON; for the field of a column, the column's name.
    pub json_name: String,
    /// Type of the field's values.
    pub kind: FieldType,
    /// Whether the field is a list of such values.
    pub repeated: bool,
}

/// Types of fields: those of `FieldDescriptorProto.Type` that recordings have, with their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are called as in protobuf")]
pub enum FieldType {
    Double = 1,
    Float = 2,
    Uint64 = 4,
    Bool = 8,
    String = 9,
    Bytes = 12,
    Uint32 = 13,
    Sint32 = 17,
    Sint64 = 18,
}

impl FieldType {
    const ALL: [FieldType; 9] = [
        FieldType::Double,
        FieldType::Float,
        FieldType::Uint64,
        FieldType::Bool,
        FieldType::String,
        FieldType::Bytes,
        FieldType::Uint32,
        FieldType::Sint32,
        FieldType::Sint64,
    ];

    /// The type of a column's field.
    pub fn of(variable_type: VariableType) -> FieldType {
        match variable_type {
            VariableType::Float64 => FieldType::Double,
            VariableType::Float32 => FieldType::Float,
            VariableType::Int8 | VariableType::Int16 | VariableType::Int32 => FieldType::Sint32,
            VariableType::Int64 | VariableType::Enumeration => FieldType::Sint64,
            VariableType::UInt8 | VariableType::UInt16 | VariableType::UInt32 => FieldType::Uint32,
            VariableType::UInt64 => FieldType::Uint64,
            VariableType::Boolean | VariableType::Clock => FieldType::Bool,
            VariableType::String => FieldType::String,
            VariableType::Binary => FieldType::Bytes,
        }
    }

    /// Encoding of the type's values in messages.
    pub fn wire(self) -> WireType {
        match self {
            FieldType::Double => WireType::Eight,
            FieldType::Float => WireType::Four,
            FieldType::Uint64 | FieldType::Bool | FieldType::Uint32 | FieldType::Sint32 | FieldType::Sint64 => {
                WireType::Varint
            }
            FieldType::String | FieldType::Bytes => WireType::Bytes,
        }
    }

    /// A value of a message as a word, with the type whose values have the same text; `None`: the value is of another type, or no number.
    fn word(self, value: Value) -> Option<(VariableType, u64)> {
        Some(match (self, value) {
            (FieldType::Double, Value::Eight(bits)) => (VariableType::Float64, bits),
            (FieldType::Float, Value::Four(bits)) => (VariableType::Float32, bits.into()),
            (FieldType::Uint64 | FieldType::Uint32, Value::Varint(number)) => (VariableType::UInt64, number),
            (FieldType::Bool, Value::Varint(number)) => (VariableType::Boolean, number),
            (FieldType::Sint32 | FieldType::Sint64, Value::Varint(number)) => {
                (VariableType::Int64, (number >> 1) ^ (number & 1).wrapping_neg())
            }
            _ => return None,
        })
    }
}

impl Field {
    /// Appends a value of the field in the form of `signals.csv`; `None`: the value is of another type.
    pub fn write(&self, out: &mut String, value: Value) -> Option<()> {
        match (self.kind, value) {
            (FieldType::String, Value::Bytes(bytes)) => text::write_string(out, std::str::from_utf8(bytes).ok()?),
            (FieldType::Bytes, Value::Bytes(bytes)) => text::write_binary(out, bytes),
            (kind, value) => {
                let (variable_type, word) = kind.word(value)?;
                word::write(out, word, variable_type).ok()?;
            }
        }
        Some(())
    }
}

/// Encoding of a value in a message, by its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    /// Seven bits in each byte, the least first.
    Varint = 0,
    /// Eight bytes.
    Eight = 1,
    /// A varint with the length, and as many bytes.
    Bytes = 2,
    /// Four bytes.
    Four = 5,
}

impl WireType {
    /// `None`: no kind that recordings have.
    fn of_tag(tag: u64) -> Option<WireType> {
        [WireType::Varint, WireType::Eight, WireType::Bytes, WireType::Four]
            .into_iter()
            .find(|own| *own as u64 == tag & 7)
    }
}

/// A value in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// [`WireType::Varint`].
    Varint(u64),
    /// [`WireType::Eight`].
    Eight(u64),
    /// [`WireType::Bytes`].
    Bytes(&'a [u8]),
    /// [`WireType::Four`].
    Four(u32),
}

/// Tag in front of a value: its field, and its encoding.
pub fn tag(number: u32, wire: WireType) -> u64 {
    u64::from(number) << 3 | wire as u64
}

/// Appends a number as a varint: seven bits a byte.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_number(out: &mut Vec<u8>, field: u32, number: u64) {
    put_varint(out, tag(field, WireType::Varint));
    put_varint(out, number);
}

/// Appends a field of bytes.
pub fn put_bytes(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    put_varint(out, tag(field, WireType::Bytes));
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// The fields of a message, one after the other; an error: the rest is no field.
pub struct Fields<'a>(pub &'a [u8]);

/// The bytes are no field: they break off, or have a kind of value that recordings do not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoField;

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), NoField>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.field().ok_or(NoField))
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u32, Value<'a>)> {
        let tag = take_varint(&mut self.0)?;
        let value = match WireType::of_tag(tag)? {
            WireType::Varint => Value::Varint(take_varint(&mut self.0)?),
            WireType::Eight => Value::Eight(u64::from_le_bytes(self.array()?)),
            WireType::Bytes => {
                let length = usize::try_from(take_varint(&mut self.0)?).ok()?;
                Value::Bytes(self.0.split_off(..length)?)
            }
            WireType::Four => Value::Four(u32::from_le_bytes(self.array()?)),
        };
        Some((u32::try_from(tag >> 3).ok()?, value))
    }

    fn array<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }
}

/// Takes a varint off the beginning.
pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Numbers of the fields of `descriptor.proto`, by their messages, as far as schemas of recordings have them.
mod descriptor {
    /// Fields of `FileDescriptorSet`.
    pub mod set {
        pub const FILE: u32 = 1;
    }
    /// Fields of `FileDescriptorProto`.
    pub mod file {
        pub const NAME: u32 = 1;
        pub const PACKAGE: u32 = 2;
        pub const MESSAGE_TYPE: u32 = 4;
        pub const SYNTAX: u32 = 12;
    }
    /// Fields of `DescriptorProto`.
    pub mod message {
        pub const NAME: u32 = 1;
        pub const FIELD: u32 = 2;
    }
    /// Fields of `FieldDescriptorProto`, and values of its label.
    pub mod field {
        pub const NAME: u32 = 1;
        pub const NUMBER: u32 = 3;
        pub const LABEL: u32 = 4;
        pub const TYPE: u32 = 5;
        pub const OPTIONS: u32 = 8;
        pub const JSON_NAME: u32 = 10;
        pub const LABEL_OPTIONAL: u64 = 1;
        pub const LABEL_REPEATED: u64 = 3;
    }
    /// Fields of `FieldOptions`.
    pub mod options {
        pub const PACKED: u32 = 2;
    }
}
use descriptor::{field, file, message, options, set};

/// The schema of a message type: a `FileDescriptorSet`.
pub fn schema(package: &str, name: &str, fields: &[Field]) -> Vec<u8> {
    let mut message = Vec::new();
    put_bytes(&mut message, message::NAME, name.as_bytes());
    for own in fields {
        let mut field = Vec::new();
        put_bytes(&mut field, field::NAME, own.name.as_bytes());
        put_number(&mut field, field::NUMBER, own.number.into());
        put_number(&mut field, field::LABEL, if own.repeated { field::LABEL_REPEATED } else { field::LABEL_OPTIONAL });
        put_number(&mut field, field::TYPE, own.kind as u64);
        if own.repeated {
            let mut packed = Vec::new();
            put_number(&mut packed, options::PACKED, 1);
            put_bytes(&mut field, field::OPTIONS, &packed);
        }
        put_bytes(&mut field, field::JSON_NAME, own.json_name.as_bytes());
        put_bytes(&mut message, message::FIELD, &field);
    }
    let mut file = Vec::new();
    put_bytes(&mut file, file::NAME, format!("{package}/{name}.proto").as_bytes());
    if !package.is_empty() {
        put_bytes(&mut file, file::PACKAGE, package.as_bytes());
    }
    put_bytes(&mut file, file::MESSAGE_TYPE, &message);
    put_bytes(&mut file, file::SYNTAX, b"proto2");
    let mut set = Vec::new();
    put_bytes(&mut set, set::FILE, &file);
    set
}

/// The fields of the one message type of such a schema.
///
/// # Errors
/// The schema is invalid, or has a form that recordings do not use.
pub fn read_schema(set: &[u8]) -> Result<Vec<Field>, NoField> {
    let file = bytes_of(set, set::FILE)?.next().ok_or(NoField)?;
    let message = bytes_of(file, file::MESSAGE_TYPE)?.next().ok_or(NoField)?;
    bytes_of(message, message::FIELD)?.map(read_field).collect()
}

/// The contents of all fields of bytes with this number.
fn bytes_of(message: &[u8], number: u32) -> Result<std::vec::IntoIter<&[u8]>, NoField> {
    let mut all = Vec::new();
    for field in Fields(message) {
        if let (own, Value::Bytes(bytes)) = field?
            && own == number
        {
            all.push(bytes);
        }
    }
    Ok(all.into_iter())
}

fn read_field(descriptor: &[u8]) -> Result<Field, NoField> {
    let mut field =
        Field { number: 0, name: String::new(), json_name: String::new(), kind: FieldType::Double, repeated: false };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| NoField);
    for part in Fields(descriptor) {
        match part? {
            (field::NAME, Value::Bytes(bytes)) => field.name = text(bytes)?,
            (field::NUMBER, Value::Varint(number)) => field.number = u32::try_from(number).map_err(|_| NoField)?,
            (field::LABEL, Value::Varint(label)) => field.repeated = label == field::LABEL_REPEATED,
            (field::TYPE, Value::Varint(number)) => {
                let kind = FieldType::ALL.into_iter().find(|kind| *kind as u64 == number);
                field.kind = kind.ok_or(NoField)?;
            }
            (field::JSON_NAME, Value::Bytes(bytes)) => field.json_name = text(bytes)?,
            _ => (),
        }
    }
    Ok(field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_those_of_the_description_of_the_format() {
        let mut bytes = Vec::new();
        put_number(&mut bytes, 1, 150);
        assert_eq!(bytes, [0x08, 0x96, 0x01]);
        assert_eq!(Fields(&bytes).collect::<Vec<_>>(), [Ok((1, Value::Varint(150)))]);
        for (number, word) in [(0, 0), (1, -1i64), (2, 1), (3, -2), (u64::MAX, i64::MIN), (u64::MAX - 1, i64::MAX)] {
            assert_eq!(FieldType::Sint64.word(Value::Varint(number)), Some((VariableType::Int64, word as u64)));
        }
        assert_eq!(FieldType::Double.word(Value::Four(1)), None);
    }

    #[test]
    fn a_schema_says_what_was_put_into_it() {
        let field = |number, name: &str, json_name: &str, kind, repeated| Field {
            number,
            name: name.to_owned(),
            json_name: json_name.to_owned(),
            kind,
            repeated,
        };
        let fields = [
            field(TIME, "time", "time", FieldType::Double, false),
            field(ABSENT, "absent", "absent", FieldType::Uint32, true),
            field(700, "map_3_", "map[3]", FieldType::Sint32, false),
        ];
        let set = schema("ecu", "fast", &fields);
        assert_eq!(read_schema(&set).unwrap(), fields);
        for length in 1..set.len() {
            assert_eq!(read_schema(&set[..length]), Err(NoField), "{length}");
        }
    }

    proptest! {
        #[test]
        fn varints_come_out_as_they_went_in(number in any::<u64>(), shift in 0u32..64) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, number >> shift);
            prop_assert_eq!(take_varint(&mut bytes.as_slice()), Some(number >> shift));
            prop_assert_eq!(take_varint(&mut &bytes[..bytes.len() - 1]), None);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = read_schema(&bytes);
            let _ = Fields(&bytes).take(200).count();
        }
    }
}
