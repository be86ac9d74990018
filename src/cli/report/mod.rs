//! `vecud report`: the report of a run anew from its recording, a run beside another one, or many runs in one page.

mod against;
mod arguments;
mod command;
pub(super) mod drawn;
mod page;
mod rebuild;
mod side;
mod trends;

pub use arguments::Arguments;
pub use command::run;
pub(super) use page::{OUT, check_place, write};
pub(super) use side::{ComparisonInput, RunFolder};
