//! Memory that only grows.

use crate::format::plural;
use crate::{MemoryOverTime, Run};

/// Less is no evidence, KiB.
const GROWTH: u64 = 1024;
/// Fewer intervals are no course.
const FEWEST: usize = 20;
/// Parts into which the run is cut behind its first quarter, in which FMUs set up their memory.
const PARTS: usize = 4;

/// Memory of the process of the FMUs that grows from each part of the run to the next one, none by less than a third of the mean: what is
/// set up late comes once.
pub(super) fn growth(run: &Run) -> Option<String> {
    let MemoryOverTime { interval_s, resident_kib: kib } = run.host.memory_over_time.as_ref()?;
    let later = &kib[kib.len() / 4..];
    if kib.len() < FEWEST {
        return None;
    }
    let ends: Vec<u64> = (0..=PARTS).map(|part| later[(later.len() - 1) * part / PARTS]).collect();
    let (first, last) = (ends[0], ends[PARTS]);
    let steady =
        ends.windows(2).all(|pair| pair[1].saturating_sub(pair[0]) * PARTS as u64 * 3 >= last.saturating_sub(first));
    if last.saturating_sub(first) < GROWTH || !steady {
        return None;
    }
    let seconds = (later.len() - 1) as f64 * interval_s;
    let mib = |kib: u64| kib as f64 / 1024.0;
    let whose = match run.fmus.as_slice() {
        [one] => format!("fmu `{}`", one.name),
        several => format!("the {}", plural(several.len() as u64, "FMU")),
    };
    Some(format!(
        "the process of {whose} grows: from {:.1} to {:.1} MiB in the last {seconds:.1} s, {:.3} MiB each second: its code asks for memory and \
         gives none back, which comes to an end some time, and in real time takes page faults meanwhile",
        mib(first),
        mib(last),
        mib(last - first) / seconds
    ))
}
