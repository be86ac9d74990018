//! Values between partitions.

pub mod word;
