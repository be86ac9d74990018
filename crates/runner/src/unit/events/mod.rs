//! The steps of FMUs with Event Mode, for Co-Simulation and for Model Exchange: of one, or of several whose clocks are connected,
//! which make their steps together (semantics S19 to S25).
//!
//! A release at a communication point handles the events there, sets continuous inputs, records, and makes one step to the next
//! communication point: the next instant of the grid, or the time of an announced event, or an early return. Ticks that come in
//! between wait for that point. A communication point of one member is one of all.

mod clocks;
mod continuous;
mod coupled_system;
mod engine;
mod event_limit;
mod event_unit;
mod exchange;
mod group;
mod master;
mod member;
mod release;
mod slopes;
mod wires;

pub use self::engine::Engine;
pub use self::event_unit::EventUnit;
pub use self::group::GroupMember;
pub use self::member::Member;
