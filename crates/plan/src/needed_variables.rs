//! The variables of each FMU that the rig needs.

use super::connections::links::Links;
use super::described::DescribedFmu;
use super::inputs::start_values::Starts;
use super::inputs::stimuli::Stimuli;
use super::record::RecordedColumns;
use super::sizes::is_resizable;
use std::collections::BTreeSet;

/// The variables of one FMU that the rig needs, by index.
#[derive(Clone, Default)]
pub struct NeededVariables {
    /// Outputs that feed connections, and recorded variables.
    pub read: BTreeSet<usize>,
    /// Inputs that are fed.
    pub written: BTreeSet<usize>,
    /// The variables that are fed or given a start value, behind the [place](DescribedFmu::place) of each.
    given: BTreeSet<(usize, usize)>,
}

impl NeededVariables {
    /// Whether the recording has the set values of this variable, and not the read ones. For arrays of variable size the size of
    /// set values is not followed. An array that the rig has resized starts with the FMU's values, which are read before the run
    /// where it belongs to no clock.
    pub fn is_recorded_when_set(&self, described: &DescribedFmu, variable: usize) -> bool {
        let v = &described.variables()[variable];
        let has_start = v.clocks.is_empty() || !described.is_resized(v);
        self.written.contains(&variable) && !is_resizable(described, v) && has_start
    }

    /// Whether the recording has the read values of this input: of a fed one that is not recorded when it is set, and of one that
    /// nothing feeds where only the FMU has the value.
    pub fn is_input_read(&self, described: &DescribedFmu, variable: usize) -> bool {
        match self.written.contains(&variable) {
            true => !self.is_recorded_when_set(described, variable),
            false => {
                described.is_resized(&described.variables()[variable])
                    || self.is_given_by_another_name(described, variable)
            }
        }
    }

    /// Whether a value of this variable goes to the FMU under another name, an alias of FMI 2.0 or 1.0.
    pub fn is_given_by_another_name(&self, described: &DescribedFmu, variable: usize) -> bool {
        let place = described.place(variable);
        self.given.range((place, 0)..=(place, usize::MAX)).any(|(_, given)| *given != variable)
    }
}

/// The variables of each FMU that the rig needs.
pub fn needed_variables(
    fmus: &[DescribedFmu],
    starts: &[Starts],
    links: &Links,
    columns: &RecordedColumns,
    stimuli: &Stimuli,
) -> Vec<NeededVariables> {
    let mut all = vec![NeededVariables::default(); fmus.len()];
    for link in links.iter() {
        all[link.source.0].read.insert(link.source.1);
        all[link.target.0].written.insert(link.target.1);
    }
    for &(fmu, variable) in columns.of.keys() {
        all[fmu].read.insert(variable);
    }
    for &(fmu, variable) in stimuli.fed().keys() {
        all[fmu].written.insert(variable);
    }
    for ((needed, described), starts) in all.iter_mut().zip(fmus).zip(starts) {
        needed.given = needed.written.iter().chain(starts.keys()).map(|i| (described.place(*i), *i)).collect();
    }
    all
}
