//! The check of the archive.

use super::subject::ExaminedFmu;
use crate::Error;
use vecud_fmu::archive::{Oddity, Unpacked, extent};
use vecud_report::{Check, Remark};

/// Number and size of an FMU's files, in words.
pub(super) fn seen_of(unpacked: &Unpacked) -> String {
    let Ok((files, bytes)) = extent(&unpacked.root) else { return String::new() };
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    match bytes {
        0..1024 => format!("{files}, {bytes} bytes"),
        1024..1_048_576 => format!("{files}, {:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{files}, {:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

pub(super) fn archive(subject: &ExaminedFmu) -> Result<Check, Error> {
    let oddities = subject.unpacked.oddities(&subject.description).map_err(Error::Archive)?;
    let remark = |odd: Oddity| {
        let remark = if odd.is_breach { Remark::finding(odd.what) } else { Remark::warning(odd.what) };
        if odd.entry.is_empty() { remark } else { remark.in_file(odd.entry) }
    };
    Ok(Check::done("archive", seen_of(&subject.unpacked), oddities.into_iter().map(remark).collect()))
}
