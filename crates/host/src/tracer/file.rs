//! The files of a trace.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use vecud_linux::files;
use vecud_plan::Plan;
use vecud_record::trace::chrome::ChromeWriter;

/// Name of the file of a run without incidents.
pub(super) const NAME: &str = "trace.json";
/// Number of items to write at once.
pub(super) const PIECE: usize = 256;

/// Makes a file that begins with the names; fails if there is no space for them.
pub(super) fn create<'p>(plan: &'p Plan, path: &Path) -> io::Result<ChromeWriter<'p, File>> {
    let file = files::create(path)?;
    ChromeWriter::new(plan, file).inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}
