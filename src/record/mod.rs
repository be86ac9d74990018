//! What a run leaves behind while it runs: histograms, counters, log lines and samples in memory that the runner and the
//! supervisor share, and the files made of them.

pub mod histogram;
