//! A newcomer who does everything wrong: whole-program tests of what `vecud` says to bad input.
//!
//! Every refusal is exit code 2, one message on stderr that names file, place, culprit and way out, nothing on stdout, and
//! nothing left behind: no output folder, no temporaries in the cache, no process.

mod bench;
mod clocks;
mod each_output;
mod files;
mod fmus;
mod machine;
mod names;
mod output;
#[path = "../../fmus/archive/raw_zip.rs"]
#[allow(dead_code)]
mod raw_zip;
mod report;
mod rigs;
mod usage;
