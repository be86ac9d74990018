//! Conditions over signals: `ecu.speed > 900 and rising(ecu.key)`. Pure.
//!
//! ```text
//! condition   = conjunction { "or" conjunction }
//! conjunction = negation { "and" negation }
//! negation    = [ "not" ] comparison
//! comparison  = operand [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) operand ]
//! operand     = number | "true" | "false" | signal | "rising" "(" condition ")" | "(" condition ")"
//! ```
//!
//! A signal is called as its column, `ecu.speed` or `ecu.map[2,1]`; what is called otherwise is written in double quotes. Numbers are
//! compared with numbers, exactly, whatever their types; of booleans it can be said whether they are the same. `rising(x)` holds in a
//! row in which `x` holds, where it did not in the row before.
//!
//! If a signal has no value, a comparison with it is neither true nor false, nor is its `not`; `and` and `or` have a value if one of
//! their sides decides. A condition that is neither true nor false does not hold.

mod error;
mod evaluate;
mod parse;
mod text;

pub use error::ConditionError;
pub use evaluate::{Condition, ConditionColumn};
