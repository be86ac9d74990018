//! Whether derivatives of an output can travel with its value, so that the consumer extrapolates its input between two values
//! (semantics S20).

use crate::described::DescribedFmu;
use crate::rig::{Extrapolation, Timing};
use vecud_description::{Variability, Variable, VariableType};

/// Whether a connection with this timing can be extrapolated like this; else why not. `names` are those of both ends.
pub(super) fn check(
    (timing, extrapolation): (Timing, Extrapolation),
    (from, output): (&DescribedFmu, &Variable),
    (to, input): (&DescribedFmu, &Variable),
    (from_name, to_name): (&str, &str),
) -> Result<(), String> {
    for (described, variable, name) in [(from, output, from_name), (to, input, to_name)] {
        if variable.variable_type != VariableType::Float64 || variable.variability != Variability::Continuous {
            return Err(format!("{name} is no continuous Float64"));
        }
        if described.steps().is_none() {
            return Err(format!("{} makes no steps (Co-Simulation)", described.name()));
        }
    }
    if timing != Timing::Delayed {
        return Err("it is for timing = \"delayed\": a value that is there at once is not extrapolated".to_owned());
    }
    let orders = extrapolation.orders();
    match from.co_simulation().map_or(0, |own| own.max_output_derivative_order) {
        0 => return Err(format!("{} has no output derivatives (maxOutputDerivativeOrder)", from.name())),
        known if (known as usize) < orders => {
            return Err(format!(
                "{} has output derivatives up to order {known} (maxOutputDerivativeOrder)",
                from.name()
            ));
        }
        _ => (),
    }
    if !to.abi().has_input_derivatives() && !to.may_be_used_in_steps(input) {
        return Err(format!(
            "{} does not ask for {to_name} in the midst of a step (providesIntermediateUpdate, and intermediateUpdate of the input)",
            to.name()
        ));
    }
    if to.abi().has_input_derivatives() && to.co_simulation().is_none_or(|own| !own.can_interpolate_inputs) {
        return Err(format!("{} does not interpolate its inputs (canInterpolateInputs)", to.name()));
    }
    Ok(())
}
