//! What feeds the inputs of a simulation: a file whose columns have the names of variables. Inputs that are continuous are on the line
//! between two rows, all others keep the value of the row before. Where two rows have one time, and where something discrete
//! changes, is an event. Columns of triggered clocks tick them.

use crate::fmu::description::{Causality, ModelDescription, Variability, Variable, VariableType};
use crate::rig::{self, At, Endpoint, Interpolation, Place, Rig, RigStimulus};
use crate::supervisor::Error;
use crate::supervisor::stimuli::{Source, refuse};
use crate::time::Instant;
use std::path::Path;

/// Has a file feed the only FMU of a rig, which starts at `start` with the values there. Gives the times of its events.
pub fn feed(rig: &mut Rig, description: &ModelDescription, file: &Path, start: Instant) -> Result<Vec<Instant>, Error> {
    let place = rig.add_option(format!("--input-file {}", file.display()));
    let whole = stimulus(file, place, Interpolation::Hold, None);
    let source = Source::open(&whole).map_err(Error::Command)?;
    let header = source.header().map_err(refuse)?;
    let fmu = rig.fmus[0].name.value.clone();
    let column = |column: &At<String>| {
        let endpoint = Endpoint { fmu: fmu.clone(), variable: column.value.clone() };
        (At { value: endpoint, place }, column.clone())
    };
    let (continuous, discrete): (Vec<_>, Vec<_>) =
        header.columns.iter().partition(|column| is_continuous(description, &column.value));
    for (columns, interpolation) in [(continuous, Interpolation::Linear), (discrete, Interpolation::Hold)] {
        if !columns.is_empty() {
            let columns = columns.into_iter().map(column).collect();
            rig.stimuli.push(stimulus(file, place, interpolation, Some(columns)));
        }
    }
    // A clock that ticks has an event of its own.
    let is_discrete = |column: &str| !is_continuous(description, column) && !is_clock(description, column);
    let course = source.course(start, is_discrete).map_err(refuse)?;
    let values = course.start.iter().filter_map(|(name, value)| start_value(rig, description, name, value));
    let values: Vec<String> = values.collect();
    rig::set_of_only_fmu(rig, "--input-file", &values).map_err(Error::Rig)?;
    Ok(course.events.into_iter().filter_map(Instant::from_f64).collect())
}

/// What an input has already when the FMU is initialised, unless its start value was given otherwise.
fn start_value(rig: &Rig, description: &ModelDescription, name: &str, value: &str) -> Option<String> {
    let variable = description.variables.iter().find(|variable| variable.names().any(|known| known == name))?;
    let is_given = rig.fmus[0].start.iter().any(|(given, _)| variable.names().any(|known| known == given.value));
    let is_meant = variable.causality == Causality::Input
        && variable.variable_type != VariableType::Clock
        && variable.clocks.is_empty()
        && variable.dimensions.is_empty();
    let value = match (variable.variable_type, value) {
        (VariableType::Boolean, "0") => "false",
        (VariableType::Boolean, "1") => "true",
        _ => value,
    };
    (is_meant && !is_given).then(|| format!("{name}={value}"))
}

fn stimulus(
    file: &Path,
    place: Place,
    interpolation: Interpolation,
    columns: Option<Vec<(At<Endpoint>, At<String>)>>,
) -> RigStimulus {
    let file = At { value: file.to_owned(), place };
    RigStimulus { file, recording: false, jumps: true, interpolation, columns }
}

/// Whether a column is one of a variable, or of an element of an array, whose values are on a line.
fn is_continuous(description: &ModelDescription, column: &str) -> bool {
    named(description, column).is_some_and(|variable| {
        let is_float = matches!(variable.variable_type, VariableType::Float32 | VariableType::Float64);
        is_float && variable.variability == Variability::Continuous
    })
}

/// Whether a column ticks a clock.
fn is_clock(description: &ModelDescription, column: &str) -> bool {
    named(description, column).is_some_and(|variable| variable.variable_type == VariableType::Clock)
}

/// The variable of a column that has its name, or that of one of its elements.
fn named<'d>(description: &'d ModelDescription, column: &str) -> Option<&'d Variable> {
    let array = column.split_once('[').map(|(array, _)| array);
    let is_named = |variable: &&Variable| variable.names().any(|name| name == column || Some(name) == array);
    description.variables.iter().find(is_named)
}
