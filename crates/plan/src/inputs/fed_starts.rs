//! Start values of inputs that a file feeds: the file's values of the start time, unless the rig gives a start value.

use super::start_values::{self, Starts, start_of};
use super::stimuli::{FedInput, Stimuli};
use crate::StimulusInput;
use crate::described::DescribedFmu;
use crate::elements::{expanded, replaced};
use crate::findings::Findings;
use crate::rig::{Diagnostic, RigValue};
use vecud_description::{Values, Variable, VariableType};

/// Adds the files' values for inputs to the start values of each FMU. An input that belongs to a clock gets its value with a
/// tick.
pub fn add(
    stimuli: &Stimuli,
    opened: &[StimulusInput],
    fmus: &[DescribedFmu],
    starts: &mut [Starts],
    findings: &mut Findings,
) {
    for (&(fmu, index), inputs) in stimuli.fed() {
        let (described, v) = (&fmus[fmu], &fmus[fmu].variables()[index]);
        if v.clocks.is_empty() && !starts[fmu].contains_key(&index) {
            let mut own = Vec::new();
            for input in inputs {
                match element(stimuli, opened, (described, v), input) {
                    Some(Ok(value)) => own.push((input.element, value)),
                    Some(Err(problem)) => findings.problems.push(problem),
                    None => {}
                }
            }
            if let Some(values) = together(&own, start_of(described, index, &starts[fmu]), described.elements(v)) {
                starts[fmu].insert(index, start_values::start(described, v, values));
            }
        }
    }
}

/// The values of a variable: these elements, and its other start values; `None`: no file has any, or the others are unknown.
fn together(own: &[(usize, Values)], others: Option<Values>, elements: usize) -> Option<Values> {
    let (_, first) = own.first()?;
    let all = others.or_else(|| (own.len() == elements).then(|| expanded(first, elements)))?;
    let put = |all, (element, value): &(usize, Values)| {
        let run = *element..element + 1;
        replaced(all, std::slice::from_ref(&run), value)
    };
    Some(own.iter().fold(all, put))
}

/// A file's value for an element at the start time. `None`: there is none, or it fits no variable of that type, which is reported
/// where its row is read.
fn element(
    stimuli: &Stimuli,
    opened: &[StimulusInput],
    (described, v): (&DescribedFmu, &Variable),
    input: &FedInput,
) -> Option<Result<Values, Diagnostic>> {
    let (file, column) = (&opened[input.stimulus], stimuli.column(input));
    let cell = file.start.get(column)?.as_ref()?;
    let fits = start_values::fitting(v, described.items(v), &value(v.variable_type, &cell.value)?)?;
    Some(fits.map_err(|reason| {
        let (number, name) = (column + 2, &file.columns[column].value);
        let words =
            format!("column {number} (\"{name}\"): the start value of {}.{} {reason}", described.name(), v.name);
        Diagnostic::new(&file.file, cell.place, words)
    }))
}

/// A cell as a rig has it.
fn value(variable_type: VariableType, cell: &str) -> Option<RigValue> {
    let float = || cell.parse::<f64>().ok().map(RigValue::Float);
    Some(match variable_type {
        VariableType::String => RigValue::String(cell.to_owned()),
        VariableType::Binary => {
            let digits = cell.strip_prefix("0x").or_else(|| cell.strip_prefix("0X")).unwrap_or(cell);
            RigValue::String(format!("0x{digits}"))
        }
        VariableType::Boolean => match cell.to_ascii_lowercase().as_str() {
            "1" | "true" => RigValue::Boolean(true),
            "0" | "false" => RigValue::Boolean(false),
            _ => return None,
        },
        VariableType::Float64 | VariableType::Float32 => float()?,
        // The name of an item, or more digits than TOML's integers have.
        _ => cell
            .parse()
            .ok()
            .map(RigValue::Integer)
            .or_else(|| float().filter(|_| cell.contains(['.', 'e', 'E'])))
            .unwrap_or_else(|| RigValue::String(cell.to_owned())),
    })
}
