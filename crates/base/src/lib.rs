//! Types and functions that all crates of vecud use: types that refuse wrong arithmetic ([`time`], [`priority`]),
//! places in texts ([`places`]), tables as text and safe display of foreign texts ([`columns`], [`plain`]), orders by
//! dependencies ([`graph`]).
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! Guarantees that nothing here touches the operating system: every function depends on its arguments alone.

#![forbid(unsafe_code)]

pub mod columns;
pub mod graph;
pub mod places;
pub mod plain;
pub mod priority;
pub mod time;
