//! What all crates of vecud have in common: types that refuse wrong arithmetic ([`time`], [`priority`]), places in texts
//! ([`places`]), tables as text and foreign texts as people see them ([`columns`], [`plain`]), orders of what depends on each
//! other ([`graph`]).
//!
//! It guarantees that nothing here touches the operating system: all of it is a function of its arguments.

#![forbid(unsafe_code)]

pub mod columns;
pub mod graph;
pub mod places;
pub mod plain;
pub mod priority;
pub mod time;
