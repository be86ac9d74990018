//! The schema of the file, and the columns of a batch.

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use arrow_schema::{DataType, Field, Schema};
use serde_json::json;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use vecud_description::VariableType;
use vecud_plan::{Mode, Plan};

/// The columns, and the metadata of them and of the run.
pub(super) fn schema(plan: &Plan) -> Schema {
    let time = Field::new("time", DataType::Float64, false).with_metadata([("unit", "s")]);
    let columns = plan.signals.iter().map(|signal| {
        let unit = Some(("unit", signal.unit.as_str())).filter(|(_, unit)| !unit.is_empty());
        let fmi_type = ("fmi_type", signal.variable_type.name());
        let metadata: Vec<(&str, &str)> = unit.into_iter().chain([fmi_type]).collect();
        let metadata: arrow_schema::Metadata = metadata.into_iter().collect();
        Field::new(&signal.name, data_type(signal.variable_type), true).with_metadata(metadata)
    });
    let mode = match plan.mode {
        Mode::RealTime => "realtime",
        Mode::Virtual => "virtual",
    };
    let fmus: Vec<_> = plan
        .fmus
        .iter()
        .map(|fmu| {
            json!({
                "name": fmu.name,
                "path": fmu.path.display().to_string(),
                "instantiationToken": fmu.token,
                "dialect": fmu.abi.dialect(),
                "interface": fmu.interface_type(),
            })
        })
        .collect();
    let start = plan.start.seconds().to_string();
    let fmus = json!(fmus).to_string();
    let fields: Vec<Field> = std::iter::once(time).chain(columns).collect();
    Schema::new(fields).with_metadata([
        ("rig", plan.rig.as_str()),
        ("mode", mode),
        ("version", env!("CARGO_PKG_VERSION")),
        ("start_time", &start),
        ("fmus", &fmus),
    ])
}

/// The type of a column with values of this type.
fn data_type(variable_type: VariableType) -> DataType {
    match variable_type {
        VariableType::Float32 => DataType::Float32,
        VariableType::Float64 => DataType::Float64,
        VariableType::Int8 => DataType::Int8,
        VariableType::UInt8 => DataType::UInt8,
        VariableType::Int16 => DataType::Int16,
        VariableType::UInt16 => DataType::UInt16,
        VariableType::Int32 => DataType::Int32,
        VariableType::UInt32 => DataType::UInt32,
        VariableType::Int64 | VariableType::Enumeration => DataType::Int64,
        VariableType::UInt64 => DataType::UInt64,
        VariableType::Boolean | VariableType::Clock => DataType::Boolean,
        VariableType::String => DataType::Utf8,
        VariableType::Binary => DataType::Binary,
    }
}

/// The column of these words; the word of a string or binary is its number in `texts`.
pub(super) fn column(
    cells: impl Iterator<Item = Option<u64>>,
    variable_type: VariableType,
    texts: &HashMap<u64, Rc<[u8]>>,
) -> ArrayRef {
    fn of<T: ArrowPrimitiveType>(
        cells: impl Iterator<Item = Option<u64>>,
        value: impl Fn(u64) -> T::Native,
    ) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter(cells.map(|cell| cell.map(&value))))
    }
    let bytes = |number: u64| texts.get(&number).map_or(&[][..], |bytes| bytes);
    match variable_type {
        VariableType::Float32 => of::<Float32Type>(cells, |word| f32::from_bits(word as u32)),
        VariableType::Float64 => of::<Float64Type>(cells, f64::from_bits),
        VariableType::Int8 => of::<Int8Type>(cells, |word| word as i8),
        VariableType::UInt8 => of::<UInt8Type>(cells, |word| word as u8),
        VariableType::Int16 => of::<Int16Type>(cells, |word| word as i16),
        VariableType::UInt16 => of::<UInt16Type>(cells, |word| word as u16),
        VariableType::Int32 => of::<Int32Type>(cells, |word| word as i32),
        VariableType::UInt32 => of::<UInt32Type>(cells, |word| word as u32),
        VariableType::Int64 | VariableType::Enumeration => of::<Int64Type>(cells, |word| word as i64),
        VariableType::UInt64 => of::<UInt64Type>(cells, |word| word),
        VariableType::Boolean | VariableType::Clock => {
            Arc::new(BooleanArray::from_iter(cells.map(|cell| cell.map(|word| word != 0))))
        }
        VariableType::String => Arc::new(StringArray::from_iter(
            cells.map(|cell| cell.map(|number| String::from_utf8_lossy(bytes(number)))),
        )),
        VariableType::Binary => Arc::new(BinaryArray::from_iter(cells.map(|cell| cell.map(bytes)))),
    }
}
