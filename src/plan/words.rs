//! The standard's words for messages and tables.

use crate::fmu::description::{Abi, Causality, IntervalVariability, VariableType};

/// As the element is called.
pub(crate) fn type_name(variable_type: VariableType) -> &'static str {
    match variable_type {
        VariableType::Float32 => "Float32",
        VariableType::Float64 => "Float64",
        VariableType::Int8 => "Int8",
        VariableType::UInt8 => "UInt8",
        VariableType::Int16 => "Int16",
        VariableType::UInt16 => "UInt16",
        VariableType::Int32 => "Int32",
        VariableType::UInt32 => "UInt32",
        VariableType::Int64 => "Int64",
        VariableType::UInt64 => "UInt64",
        VariableType::Boolean => "Boolean",
        VariableType::String => "String",
        VariableType::Binary => "Binary",
        VariableType::Enumeration => "Enumeration",
        VariableType::Clock => "Clock",
    }
}

/// `Float64`, `Int8[3,2]`.
pub(crate) fn type_and_shape(variable_type: VariableType, shape: &[usize]) -> String {
    format!("{}{}", type_name(variable_type), shape_text(shape))
}

/// As the attribute's value is written.
pub(crate) fn causality_name(causality: Causality) -> &'static str {
    match causality {
        Causality::StructuralParameter => "structuralParameter",
        Causality::Parameter => "parameter",
        Causality::CalculatedParameter => "calculatedParameter",
        Causality::Input => "input",
        Causality::Output => "output",
        Causality::Local => "local",
        Causality::Independent => "independent",
    }
}

/// `an input`, `a parameter`.
pub(crate) fn causality_with_article(causality: Causality) -> String {
    let name = causality_name(causality);
    let article = if name.starts_with(['i', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// `[3,2]`, or nothing for a scalar.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    if shape.is_empty() {
        return String::new();
    }
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", lengths.join(","))
}

/// The kind of a clock in the words of its dialect.
pub(crate) fn kind_in(abi: Abi, kind: IntervalVariability) -> &'static str {
    match (abi, kind) {
        (Abi::Draft, IntervalVariability::Constant) => "strictly periodic",
        (Abi::Draft, IntervalVariability::Fixed) => "periodic",
        (Abi::Draft, IntervalVariability::Triggered) => "aperiodic",
        _ => kind_name(kind),
    }
}

/// The kind of a clock.
pub(crate) fn kind_name(kind: IntervalVariability) -> &'static str {
    match kind {
        IntervalVariability::Constant => "constant",
        IntervalVariability::Fixed => "fixed",
        IntervalVariability::Tunable => "tunable",
        IntervalVariability::Changing => "changing",
        IntervalVariability::Countdown => "countdown",
        IntervalVariability::Triggered => "triggered",
    }
}
