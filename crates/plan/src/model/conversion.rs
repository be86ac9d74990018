//! The conversion of a number on its way from an output to an input (semantics S11; FMI 3.0, 2.4.3 for units).
//!
//! A conversion allocates nothing: the producer's partition converts while it publishes.

use serde::{Deserialize, Serialize};
use vecud_description::VariableType;

/// The function from the producer's word to the consumer's (words: see `vecud_description::word`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversion {
    /// The change of type, without loss.
    pub widening: Widening,
    /// The change of unit, after that of the type.
    pub unit: Option<UnitConversion>,
}

/// A change of type that keeps every value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Widening {
    /// The word is the same: equal types, or integers with more bits on the consumer's side.
    None,
    /// An integer of at most 16 bits becomes a `Float32`.
    IntegerToFloat32,
    /// An integer of at most 32 bits becomes a `Float64`.
    IntegerToFloat64,
    /// A `Float32` becomes a `Float64`.
    Float32ToFloat64,
}

/// `v2 = (factor · v1 + offset) / divisor`, in the consumer's type: with the producer's factor and offset `f1` and `o1`
/// and the consumer's `f2` and `o2`, `factor` is `f1`, `offset` is `o1 - o2` and `divisor` is `f2`. Kept apart so that a
/// conversion is as exact as doubles are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitConversion {
    /// `f1`.
    pub factor: f64,
    /// `o1 - o2`; 0 for differences (`relativeQuantity`).
    pub offset: f64,
    /// `f2`, never 0.
    pub divisor: f64,
    /// The consumer's variable is a `Float32`.
    pub float32: bool,
}

impl Conversion {
    /// Leaves everything as it is.
    pub const NONE: Conversion = Conversion { widening: Widening::None, unit: None };

    /// The consumer's word.
    #[inline]
    pub fn apply(&self, word: u64) -> u64 {
        // Signed words are sign-extended, and unsigned ones of at most 32 bits are not negative as signed ones.
        let word = match self.widening {
            Widening::None => word,
            Widening::IntegerToFloat32 => u64::from((word as i64 as f32).to_bits()),
            Widening::IntegerToFloat64 => (word as i64 as f64).to_bits(),
            Widening::Float32ToFloat64 => f64::from(f32::from_bits(word as u32)).to_bits(),
        };
        let Some(unit) = self.unit else { return word };
        match unit.float32 {
            true => u64::from((unit.apply(f64::from(f32::from_bits(word as u32))) as f32).to_bits()),
            false => unit.apply(f64::from_bits(word)).to_bits(),
        }
    }
}

impl Conversion {
    /// Converts a derivative with respect to time, of any order, of a `Float64`.
    #[inline]
    pub fn derivative(&self, derivative: f64) -> f64 {
        self.unit.map_or(derivative, |unit| derivative * unit.factor / unit.divisor)
    }
}

impl UnitConversion {
    fn apply(&self, value: f64) -> f64 {
        (self.factor * value + self.offset) / self.divisor
    }
}

/// The lossless conversion between two types, if there is one. Enumerations become `Int64`, which they are in C, but not the
/// other way round: not every number is an item.
pub fn widening(from: VariableType, to: VariableType) -> Option<Widening> {
    use VariableType::{Enumeration, Float32, Float64, Int64};
    if from == to {
        return Some(Widening::None);
    }
    match (integer(from), integer(to)) {
        (Some((_, bits)), None) if to == Float32 && bits <= 16 => Some(Widening::IntegerToFloat32),
        (Some((_, bits)), None) if to == Float64 && bits <= 32 => Some(Widening::IntegerToFloat64),
        (Some((from_signed, from_bits)), Some((to_signed, to_bits))) => {
            (to_bits > from_bits && (to_signed || !from_signed)).then_some(Widening::None)
        }
        _ if (from, to) == (Float32, Float64) => Some(Widening::Float32ToFloat64),
        _ if (from, to) == (Enumeration, Int64) => Some(Widening::None),
        _ => None,
    }
}

/// Whether an integer type is signed, and how many bits it has; `None`: it is no integer type.
pub(crate) fn integer(variable_type: VariableType) -> Option<(bool, u32)> {
    Some(match variable_type {
        VariableType::Int8 => (true, 8),
        VariableType::Int16 => (true, 16),
        VariableType::Int32 => (true, 32),
        VariableType::Int64 => (true, 64),
        VariableType::UInt8 => (false, 8),
        VariableType::UInt16 => (false, 16),
        VariableType::UInt32 => (false, 32),
        VariableType::UInt64 => (false, 64),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use VariableType::*;

    /// The exact range of a type as integers, and whether it holds all integers in it.
    fn integers_of(variable_type: VariableType) -> Option<(i128, i128)> {
        match variable_type {
            Float32 => Some((-(1 << 24), 1 << 24)),
            Float64 => Some((-(1 << 53), 1 << 53)),
            other => {
                let (signed, bits) = integer(other)?;
                Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
            }
        }
    }

    #[test]
    fn a_type_widens_exactly_where_every_value_fits() {
        for from in VariableType::ALL {
            for to in VariableType::ALL {
                let whole = |variable_type| integer(variable_type).is_some();
                let expected = match (integers_of(from), integers_of(to)) {
                    _ if from == to => true,
                    (Some(a), Some(b)) if whole(from) => a.0 >= b.0 && a.1 <= b.1,
                    _ => (from, to) == (Float32, Float64) || (from, to) == (Enumeration, Int64),
                };
                assert_eq!(widening(from, to).is_some(), expected, "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn the_smallest_and_the_largest_value_arrive() {
        use vecud_description::word;
        for from in VariableType::ALL.into_iter().filter(|&from| integer(from).is_some()) {
            for to in VariableType::ALL {
                let Some(widening) = widening(from, to) else { continue };
                let (low, high) = integers_of(from).unwrap();
                for value in [low, high, 0, 1] {
                    let arrived = Conversion { widening, unit: None }.apply(value as u64);
                    let shown = word::text(arrived, to);
                    let shown = shown.strip_suffix(".0").unwrap_or(&shown).to_owned();
                    let as_decimal: f64 = shown.parse().unwrap();
                    assert_eq!(as_decimal, value as f64, "{value} from {from:?} to {to:?} is {shown}");
                }
            }
        }
        let tenth = u64::from(0.1f32.to_bits());
        let widened = Conversion { widening: Widening::Float32ToFloat64, unit: None }.apply(tenth);
        assert_eq!(f64::from_bits(widened), f64::from(0.1f32));
    }

    #[test]
    fn units_convert_in_both_precisions_and_after_the_widening() {
        let bar_to_pa = UnitConversion { factor: 1e5, offset: 0.0, divisor: 1.0, float32: false };
        let convert = |unit, word| Conversion { widening: Widening::None, unit: Some(unit) }.apply(word);
        assert_eq!(f64::from_bits(convert(bar_to_pa, 1.5f64.to_bits())), 1.5e5);
        let pa_to_bar = UnitConversion { factor: 1.0, offset: 0.0, divisor: 1e5, float32: false };
        assert_eq!(f64::from_bits(convert(pa_to_bar, 3e4f64.to_bits())), 0.3, "exact, not 0.30000000000000004");
        let single = UnitConversion { float32: true, ..bar_to_pa };
        assert_eq!(f32::from_bits(convert(single, u64::from(0.5f32.to_bits())) as u32), 5e4);
        let celsius = UnitConversion { factor: 1.0, offset: 273.15, divisor: 1.0, float32: false };
        let both = Conversion { widening: Widening::Float32ToFloat64, unit: Some(celsius) };
        assert_eq!(f64::from_bits(both.apply(u64::from(20f32.to_bits()))), 293.15);
    }
}
