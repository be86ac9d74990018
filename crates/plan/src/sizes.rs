//! Sizes of arrays that may change while a rig runs, and the parameters that they depend on.

use super::described::DescribedFmu;
use super::{Length, SizePlan};
use vecud_description::{Causality, Dimension, ValueReference, Variability, Variable, VariableType};

/// Tunable structural parameters that sizes of arrays may depend on.
pub(crate) fn sizes(described: &DescribedFmu) -> Vec<SizePlan> {
    let sizes = described.variables().iter().filter(|v| is_size(described, v));
    sizes.map(|v| SizePlan { reference: v.value_reference, start: described.size_of(v.value_reference) }).collect()
}

fn is_size(described: &DescribedFmu, v: &Variable) -> bool {
    described.controlled
        && v.causality == Causality::StructuralParameter
        && v.variability == Variability::Tunable
        && v.variable_type == VariableType::UInt64
        && v.dimensions.is_empty()
}

/// The length of each dimension; lengths of a tunable structural parameter are given by its place among [`sizes`].
pub(crate) fn lengths(described: &DescribedFmu, v: &Variable) -> Vec<Length> {
    if v.dimensions.is_empty() {
        return Vec::new();
    }
    let sizes: Vec<ValueReference> = sizes(described).iter().map(|size| size.reference).collect();
    let by_size = |dimension: &Dimension| match dimension {
        Dimension::Structural(reference) => sizes.iter().position(|size| size == reference),
        Dimension::Fixed(_) => None,
    };
    let length =
        |(dimension, length): (&Dimension, usize)| by_size(dimension).map_or(Length::Fixed(length), Length::By);
    v.dimensions.iter().zip(described.shape(v)).map(length).collect()
}

/// Whether the variable can get another size while the instance runs.
pub(crate) fn is_resizable(described: &DescribedFmu, v: &Variable) -> bool {
    lengths(described, v).iter().any(|length| matches!(length, Length::By(_)))
}
