//! `report.json` and `histograms.hlog` → the [`Run`] that they were written of.
//!
//! `report.json` alone has every figure and the summary of each histogram: enough to compare runs. The histograms
//! themselves, from which figures are drawn, are in the log; both must be of the same run. A run that was written and read
//! back gives the same page, byte for byte.
//!
//! A field that is missing is an error that says which version wrote the file; so is a format that is newer than this program.

mod error;
mod log;
mod report_file;

pub use error::ReadError;
#[cfg(test)]
pub(super) use log::base64;
pub use report_file::ReportFile;

#[cfg(test)]
mod tests;
