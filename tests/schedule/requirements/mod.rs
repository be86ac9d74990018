//! Requirements of docs/conformance.md that no other test program is about: through the whole program, with tracers that
//! are changed where the one in fmus/ does not do what is asked about.

mod calls;
mod exchange;
mod locks;
use crate::program;
mod ticks;
mod times;

use program::{Trace, changed_tracer};
use std::path::{Path, PathBuf};

/// A tracer with changed text in several files of `sources` (`../modelDescription.xml` is one, too).
fn tracer(folder: &Path, changes: &[(&str, &str, &str)]) -> PathBuf {
    let to = changed_tracer(folder, "fmu.c", &[]);
    for (file, before, after) in changes {
        let path = to.join("sources").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(before), "{file} has no {before}");
        std::fs::write(&path, text.replace(before, after)).unwrap();
    }
    to
}

/// From where to where in a trace each activation of a clock reaches, and its activation time.
fn spans(trace: &Trace, clock: u32) -> Vec<(usize, usize, f64)> {
    let begins = trace.events.iter().enumerate().filter(|(_, e)| e.is("activate", "begin") && e.clock == clock);
    begins
        .filter_map(|(begin, event)| {
            let ends = |e: &program::Event| e.is("activate", "end") && e.clock == clock;
            Some((begin, begin + trace.events[begin..].iter().position(ends)?, event.time))
        })
        .collect()
}
