//! The inputs of a simulation: a file whose columns have the names of variables. Continuous inputs follow the line between two rows,
//! all others keep the value of the row before. Two rows of one time are an event, and so is a change of something discrete. Columns
//! of triggered clocks tick them.

use crate::Error;
use crate::stimuli::{StimulusSource, refuse};
use std::path::Path;
use vecud_base::time::Instant;
use vecud_description::{ModelDescription, Variability, Variable, VariableType};
use vecud_linux::rights::Rights;
use vecud_plan::rig::{At, Diagnostic, Interpolation, Place, Rig, RigStimulus, VariableName};
use vecud_record::stimulus::Column;

/// The option that names the file.
const OPTION: &str = "--input-file";

/// Has a file feed the only FMU of a rig, which starts at `start`. Gives the times of its events, s.
pub fn feed(rig: &mut Rig, description: &ModelDescription, file: &Path, start: Instant) -> Result<Vec<f64>, Error> {
    let place = rig.add_option(format!("{OPTION} {}", file.display()));
    let whole = stimulus(file, place, Interpolation::Hold, None);
    let source = StimulusSource::open(&whole, &Rights::default()).map_err(Error::Command)?;
    let header = source.header().map_err(refuse)?;
    let fmu = rig.fmus[0].name.value.clone();
    let column = |column: &At<String>| {
        let endpoint = VariableName { fmu: fmu.clone(), variable: column.value.clone() };
        (At { value: endpoint, place }, column.clone())
    };
    for (index, column) in header.columns.iter().enumerate() {
        if let Some(first) = header.columns[..index].iter().position(|earlier| earlier.value == column.value) {
            let words =
                format!("columns {} and {} are both \"{}\": nobody knows which", first + 2, index + 2, column.value);
            return Err(refuse(Diagnostic::new(file, column.place, words)));
        }
    }
    let course = source.course(start, |name| kind(description, name)).map_err(refuse)?;
    let (continuous, discrete): (Vec<_>, Vec<_>) =
        header.columns.iter().partition(|column| kind(description, &column.value) == Column::Line);
    let texts = discrete.iter().any(|column| is_text(description, &column.value));
    // The file says how much room they need.
    let max_size = texts.then_some(At { value: course.longest.max(1), place });
    for (columns, interpolation, max_size) in
        [(continuous, Interpolation::Linear, None), (discrete, Interpolation::Hold, max_size)]
    {
        if !columns.is_empty() {
            let columns = columns.into_iter().map(column).collect();
            rig.stimuli.push(RigStimulus { max_size, ..stimulus(file, place, interpolation, Some(columns)) });
        }
    }
    Ok(course.events)
}

fn stimulus(
    file: &Path,
    place: Place,
    interpolation: Interpolation,
    columns: Option<Vec<(At<VariableName>, At<String>)>>,
) -> RigStimulus {
    let file = At { value: file.to_owned(), place };
    RigStimulus { file, recording: false, jumps: true, interpolation, max_size: None, columns }
}

/// The interpolation of the column of a variable, or of an element of an array.
fn kind(description: &ModelDescription, column: &str) -> Column {
    let Some(variable) = named(description, column) else { return Column::Held };
    match variable.variable_type {
        VariableType::Float32 | VariableType::Float64 if variable.variability == Variability::Continuous => {
            Column::Line
        }
        VariableType::Clock => Column::Ticks,
        VariableType::String => Column::Text,
        _ => Column::Held,
    }
}

/// Whether a column feeds a string or binary.
fn is_text(description: &ModelDescription, column: &str) -> bool {
    named(description, column)
        .is_some_and(|variable| matches!(variable.variable_type, VariableType::String | VariableType::Binary))
}

/// The variable of a column that has its name, or that of one of its elements.
fn named<'d>(description: &'d ModelDescription, column: &str) -> Option<&'d Variable> {
    let array = column.split_once('[').map(|(array, _)| array);
    let is_named = |variable: &&Variable| variable.names().any(|name| name == column || Some(name) == array);
    description.variables.iter().find(is_named)
}
