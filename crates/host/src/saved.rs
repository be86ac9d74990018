//! The file of a saved state: read and checked before anything runs, written as a whole or not at all.

use super::files::{may_write, trusted, write_whole};
use super::{Error, EventSink};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::Path;
use vecud_linux::files;
use vecud_plan::Plan;
use vecud_plan::snapshot::{Identity, MARK, Snapshot};
use vecud_report::{Kind, Problem, Run, Subject};

/// The state in a file, if a run of this plan can go on from it; and notes about differences that are allowed, but worth
/// knowing.
pub fn read(file: &Path, plan: &Plan) -> Result<(Snapshot, Vec<String>), Error> {
    let refuse = |message: String| Err(Error::State(file.to_owned(), message));
    // A device may never end, and a pipe never begin. Folders get the system's own message below.
    if fs::metadata(file).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        return refuse("is no ordinary file; a state is read from one".to_owned());
    }
    let mut bytes = Vec::new();
    files::open(file).and_then(|mut open| open.read_to_end(&mut bytes)).map_err(Error::file(file))?;
    let snapshot = match Snapshot::from_bytes(&bytes) {
        Ok(snapshot) => snapshot,
        Err(error) => return refuse(error.to_string()),
    };
    let now = Identity::of(plan);
    let differences = snapshot.identity.differences(&now);
    if !differences.is_empty() {
        return refuse(format!("does not fit this rig: {}", differences.join("; ")));
    }
    if let Err(message) = snapshot.fits(plan) {
        return refuse(format!("does not fit this rig: {message}"));
    }
    let time = snapshot.time.seconds();
    if let Some(stop) = plan.stop.filter(|stop| *stop <= snapshot.time) {
        let stop = stop.seconds();
        return refuse(format!(
            "its run was left at {time} s, and the stop time is {stop} s: nothing would run; set a later one with --stop-time"
        ));
    }
    let changed = snapshot.identity.other_start_values(&now).into_iter();
    let file = file.display();
    let notes = changed
        .map(|fmu| format!("fmu `{fmu}`: its start values in the rig changed since {file} was saved; the state's hold"))
        .collect();
    Ok((snapshot, notes))
}

/// Whether the file can be written, as far as that can be known before the run.
pub fn may_be_written(file: &Path) -> Result<(), Error> {
    let unusable = |message: &str| Err(Error::State(file.to_owned(), message.to_owned()));
    if file.is_dir() {
        return unusable("is a folder; the state needs a file");
    }
    // The state takes the place of what is there, so that may only be a state, or nothing yet (an empty file).
    match fs::metadata(file) {
        Ok(it) if !it.is_file() => {
            return unusable("is no ordinary file; the state would replace it: choose another name");
        }
        Ok(it) if it.len() > 0 => match begins_as_state(file) {
            Ok(true) => {}
            Ok(false) => {
                return unusable("is there already and is no state of vecud: move it away, or choose another name");
            }
            Err(error) => {
                return unusable(&format!("is there already and cannot be read ({error}): choose another name"));
            }
        },
        _ => {}
    }
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if folder.exists() && !folder.is_dir() {
        return unusable("the state cannot be saved there: Not a directory");
    }
    trusted(folder)?;
    may_write(folder).or_else(|error| unusable(&format!("the state cannot be saved there: {error}")))
}

/// Whether a file has the mark of a saved state, or its beginning if it was cut there.
fn begins_as_state(file: &Path) -> std::io::Result<bool> {
    let mut begin = Vec::new();
    files::open(file)?.take(MARK.len() as u64).read_to_end(&mut begin)?;
    Ok(MARK.starts_with(&begin))
}

/// Writes down what the runner has left in `memory`, with the last values of the recorded `columns`. Tells when it is done;
/// what goes wrong becomes a problem of the run.
pub fn write(file: &Path, memory: &mut File, columns: Vec<(String, Vec<u64>)>, run: &mut Run, events: &EventSink) {
    let mut problem = |reason: String| {
        let text = format!("the state is not saved to {}: {reason}", file.display());
        run.problems.push(Problem::failure(Subject::Run, Kind::StateNotSaved { text }));
    };
    let mut bytes = Vec::new();
    if let Err(error) = memory.rewind().and_then(|()| memory.read_to_end(&mut bytes)) {
        return problem(error.to_string());
    }
    let mut snapshot = match Snapshot::from_bytes(&bytes) {
        Ok(snapshot) => snapshot,
        Err(_) => return problem("the run has failed before".to_owned()),
    };
    snapshot.columns = columns;
    let written = snapshot.to_bytes().and_then(|bytes| write_whole(file, &bytes).map_err(|error| error.to_string()));
    match written {
        Ok(()) => events.say(format!("the state at {} s is saved to {}", snapshot.time.seconds(), file.display())),
        Err(message) => problem(message),
    }
}
