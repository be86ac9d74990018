//! One reader for each text of the standard; the root element tells the text.

mod dependencies;
mod document;
mod draft;
mod fmi1;
mod fmi2;
mod fmi3;
mod scalars;
mod sections;
mod shared;
mod written_clock;

pub(super) use self::document::{errors, read};
