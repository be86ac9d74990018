//! Values between the FMUs of a group: whose outputs were read since they have changed, and whose inputs wait to be set
//! (semantics S24).
//!
//! An FMU for Co-Simulation computes outputs in its steps alone, so that they are read before its inputs are set. Those of an FMU that is
//! integrated follow its inputs at once, and are read after these are set. Algebraic loops among such FMUs are solved.
//!
//! Order of calls. Outside of events: `begin`; then, in the order of the plan, `carry` for a connection and `solve` for a loop; `set` and
//! `read` for each member; `has_computed` after each step. At an event: `carry_to_event` and `has_jump` for each member say whether
//! there is one. Then each iteration makes `evaluate`; for each member `carry_to_event`, `carry_jumps`, `set_in_event`, and
//! `has_computed` after its calls; then `remember`, the FMUs' updates, `have_computed`, and `has_news` says whether another iteration follows.

mod algebraic_loop;
mod events;
mod solve;
mod values;

pub use solve::is_discard;
pub use values::Exchange;
