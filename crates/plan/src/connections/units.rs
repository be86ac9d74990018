//! The units of two connected variables, and whether they convert (FMI 3.0, 2.4.3).
//!
//! Equal base units convert, different ones do not connect, unless the rig lets values pass unchanged.

use crate::described::DescribedFmu;
use crate::model::conversion::UnitConversion;
use crate::rig::UnitsOfConnection;
use vecud_description::{BaseUnit, Variable, VariableType};

/// The relation of the units of two connected variables.
#[derive(Debug, PartialEq)]
pub enum UnitRelation {
    /// Values pass as they are.
    Same,
    /// Values pass unchanged; the text tells the part that could not be checked.
    Unknown(String),
    /// Values are multiplied and shifted.
    Convert(UnitConversion),
    /// The text completes "from … to …".
    Incompatible(String),
}

/// The place of `rad` among the exponents.
const RAD: usize = 7;

/// Compares them; `from` and `to` name the variables in messages.
pub fn compare(
    a: (&DescribedFmu, &Variable),
    b: (&DescribedFmu, &Variable),
    from: &str,
    to: &str,
    wanted: UnitsOfConnection,
) -> UnitRelation {
    if wanted == UnitsOfConnection::AsIs {
        return as_is(a, b, from, to);
    }
    let (Some(a_name), Some(b_name)) = (&a.1.unit, &b.1.unit) else {
        let message = match (&a.1.unit, &b.1.unit) {
            (Some(unit), None) => {
                format!("{from} is in \"{unit}\", but {to} does not say its unit: values pass as they are")
            }
            (None, Some(unit)) => {
                format!("{to} is in \"{unit}\", but {from} does not say its unit: values pass as they are")
            }
            _ => return UnitRelation::Same,
        };
        return UnitRelation::Unknown(message);
    };
    let (Some(a_base), Some(b_base)) = (base(a.0, a_name), base(b.0, b_name)) else {
        if a_name == b_name {
            return UnitRelation::Same;
        }
        return UnitRelation::Unknown(format!(
            "{from} is in \"{a_name}\" and {to} in \"{b_name}\", of which not both are defined: values pass as they are"
        ));
    };
    if a_base.exponents != b_base.exponents {
        let (a_plain, b_plain) = (without_angle(a_base), without_angle(b_base));
        let what = if a_plain == b_plain {
            "one is of angles and the other is not (the exponents of rad differ)"
        } else {
            "these units measure different things"
        };
        return UnitRelation::Incompatible(format!(
            "{from} is in \"{a_name}\", but {to} is in \"{b_name}\": {what}; connect variables of one unit, or with units = \"as_is\" in \
             this [[connect]] the number passes as it is, unconverted"
        ));
    }
    if a.1.relative_quantity != b.1.relative_quantity {
        let (difference, absolute) = if a.1.relative_quantity { (from, to) } else { (to, from) };
        return UnitRelation::Incompatible(format!(
            "{difference} is a difference of values (relativeQuantity), but {absolute} is not"
        ));
    }
    let offset = if a.1.relative_quantity { 0.0 } else { a_base.offset - b_base.offset };
    if a_base.factor == b_base.factor && offset == 0.0 {
        return UnitRelation::Same;
    }
    UnitRelation::Convert(UnitConversion {
        factor: a_base.factor,
        offset,
        divisor: b_base.factor,
        float32: b.1.variable_type == VariableType::Float32,
    })
}

/// The exponents without that of `rad`.
fn without_angle(unit: &BaseUnit) -> Vec<i32> {
    [&unit.exponents[..RAD], &unit.exponents[RAD + 1..]].concat()
}

/// The relation where the rig lets values pass unchanged: units are not compared, but a mismatch is noted.
fn as_is(a: (&DescribedFmu, &Variable), b: (&DescribedFmu, &Variable), from: &str, to: &str) -> UnitRelation {
    match (&a.1.unit, &b.1.unit) {
        (Some(a_name), Some(b_name)) if compare(a, b, from, to, UnitsOfConnection::Convert) != UnitRelation::Same => {
            UnitRelation::Unknown(format!(
                "{from} is in \"{a_name}\" and {to} in \"{b_name}\": values pass as they are (units = \"as_is\")"
            ))
        }
        _ => UnitRelation::Same,
    }
}

fn base<'a>(unit: &DescribedFmu<'a>, name: &str) -> Option<&'a BaseUnit> {
    unit.input.description.units.iter().find(|unit| unit.name == name).and_then(|unit| unit.base.as_ref())
}
