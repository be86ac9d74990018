//! The layout of `report.json`: its lines, and the fields that are left out.

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// Lists can be long, so each of their entries is a line of `report.json`.
pub(super) fn lines<T: Serialize, E: serde::ser::Error>(list: &[T]) -> Result<Vec<Box<RawValue>>, E> {
    list.iter().map(|entry| to_raw_value(entry).map_err(E::custom)).collect()
}

pub(super) fn a_line_each<T: Serialize, S: Serializer>(list: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    lines::<T, S::Error>(list)?.serialize(serializer)
}

/// Whether a value is the default and is left out.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Hundreds of numbers.
pub(super) fn on_one_line<T: Serialize, S: Serializer>(points: &[Option<T>], serializer: S) -> Result<S::Ok, S::Error> {
    to_raw_value(points).map_err(serde::ser::Error::custom)?.serialize(serializer)
}
