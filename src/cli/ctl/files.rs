//! Runs of a rig, and all files of one of them, into a folder.

use super::client::{Client, escaped, file_name, read};
use super::failure::CtlFailure;
use super::show;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use vecud_host::Error;

/// The answer with runs of a rig, the newest ones or those before another one, and whether older ones are left.
pub fn list(client: &Client, runs: &str, limit: u16, before: Option<&str>) -> Result<(Vec<u8>, bool), CtlFailure> {
    let before = before.map(|run| format!("&before={}", escaped(run))).unwrap_or_default();
    let unread = client.open(&format!("{runs}?limit={limit}{before}"))?;
    let has_more = unread.has_more;
    Ok((client.whole(unread)?, has_more))
}

/// The names of the files of a run.
fn files_of(client: &Client, runs: &str, run: &str) -> Result<Vec<String>, CtlFailure> {
    let mut before = None;
    loop {
        let (answer, has_older) = list(client, runs, 100, before.as_deref())?;
        let mut listed: Vec<show::ListedRun> = read(&answer)?;
        if let Some(at) = listed.iter().position(|own| own.run == run) {
            return Ok(listed.swap_remove(at).files);
        }
        match listed.into_iter().next().filter(|_| has_older) {
            Some(first) => before = Some(first.run),
            None => return Ok(Vec::new()),
        }
    }
}

/// Writes the files of a run into a folder. What lies there already stays; then nothing is written.
pub fn bring(client: &Client, runs: &str, run: &str, folder: &Path) -> Result<(), CtlFailure> {
    let files = files_of(client, runs, run)?;
    fs::create_dir_all(folder).map_err(|error| Error::Output(folder.to_owned(), error))?;
    let mut places = Vec::new();
    for name in &files {
        let own = file_name(name);
        let own =
            own.ok_or_else(|| CtlFailure::Failed(format!("the run has a file of a name that is none: {name:?}")))?;
        let place = folder.join(own);
        if place.symlink_metadata().is_ok() {
            let text = format!("{}: this file is there already; choose another folder with --out DIR", place.display());
            return Err(Error::Command(text).into());
        }
        places.push((name, place));
    }
    for (name, place) in places {
        let mut unread = client.open(&format!("{runs}/{}/{}", escaped(run), escaped(name)))?;
        let failed = |error: std::io::Error| CtlFailure::Failed(format!("{}: {error}", place.display()));
        let mut file = File::create_new(&place).map_err(failed)?;
        let written = loop {
            match client.next(&mut unread) {
                Ok(None) => break Ok(()),
                Ok(Some(piece)) => {
                    if let Err(error) = file.write_all(&piece) {
                        break Err(failed(error));
                    }
                }
                Err(failure) => break Err(failure),
            }
        };
        if written.is_err() {
            // A part could be taken for the whole.
            let _ = fs::remove_file(&place);
            return written;
        }
    }
    Ok(())
}
