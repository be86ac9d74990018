//! Cores and other items of a list, in words.

use vecud_report::format;

/// Cores in the notation of the kernel: `2-3,5`.
pub(super) fn list(cpus: &[usize]) -> String {
    format::cores(cpus).replace(", ", ",")
}

/// Cores for people: `core 2`, `cores 2-3, 5`.
pub(in crate::doctor) fn named(cpus: &[usize]) -> String {
    format!("core{} {}", if cpus.len() == 1 { "" } else { "s" }, format::cores(cpus))
}

/// The first few of a list, and how many more there are.
pub(super) fn few(items: &[String], most: usize) -> String {
    let shown = items[..items.len().min(most)].join(", ");
    match items.len() {
        count if count > most => format!("{shown} and {} more", count - most),
        _ => shown,
    }
}
