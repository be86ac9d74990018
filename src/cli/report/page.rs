//! The place of a page, and the summary of what it has.

use crate::cli::results;
use std::io::{Read, Write};
use std::path::Path;
use vecud_host::Error;
use vecud_linux::files;

/// The option that gives the place of a page.
pub const OUT: &str = "--out";

/// Whether the page may have this place, which the `option` gives: it replaces another page, and nothing else that lies there.
pub fn check_place(page: &Path, option: &str) -> Result<(), Error> {
    /// Of pages, and of drawings.
    const BEGINS: [&[u8]; 2] = [b"<!doctype html>", b"<svg xmlns="];
    let wrong = |what: &str| {
        Err(Error::Report(page.to_owned(), None, format!("{what}; choose another place with {option} FILE")))
    };
    match std::fs::metadata(page) {
        Ok(metadata) if metadata.is_dir() => wrong("the page cannot be written: this is a folder"),
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 => {
            let mut begin = Vec::new();
            let read = files::open(page).and_then(|file| file.take(BEGINS[0].len() as u64).read_to_end(&mut begin));
            match read.is_ok() && BEGINS.iter().any(|own| begin.starts_with(own)) {
                true => Ok(()),
                false => wrong("the page would take the place of a file that is no page"),
            }
        }
        _ => Ok(()),
    }
}

/// Writes the page to its place, which the `option` gives.
pub fn write(page: &Path, option: &str, text: &str) -> Result<(), Error> {
    // A device or a pipe is written to, and not replaced.
    let written = match std::fs::metadata(page) {
        Ok(metadata) if !metadata.is_file() => {
            files::open_device(page).and_then(|mut file| file.write_all(text.as_bytes()))
        }
        _ => vecud_host::write_whole(page, text.as_bytes()),
    };
    written.map_err(|error| {
        Error::Report(
            page.to_owned(),
            None,
            format!("the page cannot be written: {error}; choose another place with {option} FILE"),
        )
    })
}

/// The summary; the page has it, too.
pub fn show(text: &str, page: &Path) -> Result<(), Error> {
    results::print(text, Some(&format!("send it to another place; {} has it, too", page.display())))
}
