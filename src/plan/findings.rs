//! What `build` finds on its way, and the FMUs it looks at.

use super::{FmuInput, StartValue};
use crate::fmu::description::{Abi, Dimension, ValueReference, Values, Variable};
use crate::rig::{Place, Problem, Rig, RigFmu, suggestion};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Problems and notes so far. Problems do not stop the search for further ones.
pub(super) struct Findings<'a> {
    rig: &'a Rig,
    pub(super) problems: Vec<Problem>,
    pub(super) notes: Vec<String>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(rig: &'a Rig) -> Findings<'a> {
        Findings { rig, problems: Vec::new(), notes: Vec::new() }
    }

    /// Whether this is what stands in the place of a rig file: an FMU that runs by itself.
    pub(super) fn is_rig(&self, path: &Path) -> bool {
        self.rig.file == path
    }

    /// A problem that the rig file has.
    pub(super) fn rig(&mut self, place: Place, message: impl Into<String>) {
        self.problems.push(Problem::new(&self.rig.file, place, message));
    }

    /// A problem that a model description has.
    pub(super) fn xml(&mut self, unit: &Unit, variable: &Variable, message: impl Into<String>) {
        let file = unit.input.path.join("modelDescription.xml");
        let place = Place { line: variable.line, column: variable.column };
        self.problems.push(Problem::new(&file, place, message));
    }

    /// Something to know although nothing is wrong.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Elements that an array may have which is connected or given a start value: 8 MiB of doubles.
pub(super) const ELEMENTS: usize = 1 << 20;

/// One FMU of the rig with what its description says, indexed.
pub(super) struct Unit<'a> {
    pub(super) rig: &'a RigFmu,
    pub(super) input: &'a FmuInput<'a>,
    /// Whether values are set while the run goes on.
    pub(super) rig_controlled: bool,
    /// Structural parameters whose values the rig gives.
    pub(super) structure: BTreeMap<usize, StartValue>,
    by_name: HashMap<&'a str, usize>,
    by_reference: HashMap<ValueReference, usize>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(rig: &'a RigFmu, input: &'a FmuInput<'a>) -> Unit<'a> {
        let variables = &input.description.variables;
        let mut by_name = HashMap::with_capacity(variables.len());
        let mut by_reference = HashMap::with_capacity(variables.len());
        for (i, variable) in variables.iter().enumerate() {
            by_name.insert(variable.name.as_str(), i);
            by_reference.insert(variable.value_reference, i);
            for alias in &variable.aliases {
                by_name.entry(alias.name.as_str()).or_insert(i);
            }
        }
        Unit { rig, input, rig_controlled: false, structure: BTreeMap::new(), by_name, by_reference }
    }

    /// Its name in the rig.
    pub(super) fn name(&self) -> &'a str {
        &self.rig.name.value
    }

    pub(super) fn abi(&self) -> Abi {
        self.input.description.abi
    }

    pub(super) fn variables(&self) -> &'a [Variable] {
        &self.input.description.variables
    }

    /// Index of the variable with this name or alias.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Index of the variable with this value reference.
    pub(super) fn find_reference(&self, reference: ValueReference) -> Option<usize> {
        self.by_reference.get(&reference).copied()
    }

    /// Number of elements at the start, with the rig's values of structural parameters; 1 for a scalar.
    pub(super) fn elements(&self, variable: &Variable) -> usize {
        self.shape(variable).iter().try_fold(1usize, |product, &n| product.checked_mul(n)).unwrap_or(usize::MAX)
    }

    /// Length of each dimension; empty for a scalar.
    pub(super) fn shape(&self, variable: &Variable) -> Vec<usize> {
        let length = |dimension: &Dimension| match dimension {
            Dimension::Fixed(n) => *n,
            Dimension::Structural(reference) => self.size_of(*reference),
        };
        variable.dimensions.iter().map(|dimension| usize::try_from(length(dimension)).unwrap_or(usize::MAX)).collect()
    }

    /// The value at the start of a structural parameter or constant that arrays take their size from.
    pub(super) fn size_of(&self, reference: ValueReference) -> u64 {
        let Some(index) = self.find_reference(reference) else { return 0 };
        let given = self.structure.get(&index).map(|start| &start.values);
        match given.or(self.variables()[index].start.as_ref()) {
            Some(Values::UInt64(v)) => v.first().copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// The description's start value, if it is valid.
    pub(super) fn start_of(&self, variable: &Variable) -> Option<&'a Values> {
        let index = self.find_reference(variable.value_reference)?;
        self.variables()[index].start.as_ref().filter(|_| !self.is_resized(variable))
    }

    /// Whether the rig gives the variable another size than its description, which makes the description's start value
    /// invalid (FMI 3.0, 2.4.7.5.1).
    pub(super) fn is_resized(&self, variable: &Variable) -> bool {
        variable.dimensions.iter().any(|dimension| match dimension {
            Dimension::Structural(reference) => {
                let index = self.find_reference(*reference);
                index.is_some_and(|i| {
                    self.structure
                        .get(&i)
                        .is_some_and(|start| Some(&start.values) != self.variables()[i].start.as_ref())
                })
            }
            Dimension::Fixed(_) => false,
        })
    }

    /// "did you mean" among the variables (and aliases) that fit.
    pub(super) fn suggest(&self, written: &str, fits: impl Fn(&Variable) -> bool) -> String {
        let names = self.variables().iter().filter(|v| fits(v)).flat_map(|variable| {
            std::iter::once(variable.name.as_str()).chain(variable.aliases.iter().map(|alias| alias.name.as_str()))
        });
        suggestion(written, names)
    }
}
