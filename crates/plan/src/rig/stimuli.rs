//! `[[stimulus]]`: a file, or an earlier recording, that feeds inputs and ticks clocks.

use super::document::{TableReader, describe};
use super::variable_name::variable_name_of;
use super::{At, Interpolation, Rig, RigStimulus, VariableName};
use std::path::Path;
use toml_edit::Item;

const STIMULUS: &[&str] = &["file", "recording", "interpolation", "max_size", "columns"];
/// The file of a run's recorded signals, unless it has another format.
const RECORDED: &str = "signals.csv";

/// Reads one table; relative paths in it count from `folder`.
pub(super) fn read_stimulus(section: TableReader, folder: &Path, rig: &Rig) -> Option<RigStimulus> {
    let section = &section.only(STIMULUS);
    let words = [("hold", Interpolation::Hold), ("linear", Interpolation::Linear)];
    let interpolation = section.choice("interpolation", &words).unwrap_or(Interpolation::Hold);
    let size = |item: &Item| item.as_integer().and_then(|i| usize::try_from(i).ok()).filter(|&i| i > 0);
    let max_size = section.read("max_size", "a whole number of bytes above 0", size);
    let columns = section.get("columns").map(|_| read_columns(section, rig));
    let key = match (section.get("file").is_some(), section.get("recording").is_some()) {
        (true, false) => "file",
        (false, true) => "recording",
        (false, false) => {
            let message = "[[stimulus]] has neither file (CSV) nor recording (the output folder of an earlier run)";
            section.document.problem(section.place, message);
            return None;
        }
        (true, true) => {
            let message = "[[stimulus]] has both file and recording: one stimulus has one source";
            section.document.problem(section.place_of_key("recording"), message);
            return None;
        }
    };
    let path = section.string(key)?;
    if path.value.is_empty() || path.value.contains('\0') {
        section.document.problem(path.place, format!("{key} names no file"));
        return None;
    }
    let recording = key == "recording";
    let file = folder.join(path.value);
    let file = if recording { file.join(RECORDED) } else { file };
    let file = At { value: file, place: path.place };
    Some(RigStimulus { file, recording, jumps: false, interpolation, max_size, columns })
}

/// Reads the fed variables with their columns.
fn read_columns(section: &TableReader, rig: &Rig) -> Vec<(At<VariableName>, At<String>)> {
    let mut columns = Vec::new();
    let Some(table) = section.table("columns", "columns") else { return columns };
    for (key, item) in table.entries() {
        let place = table.place_of(item);
        let Some(name) = item.as_str() else {
            let message = format!("the column of \"{}\" must be a string, not {}", key.value, describe(item));
            section.document.problem(place, message);
            continue;
        };
        if let Some(endpoint) = variable_name_of(section.document, "columns: what is fed", key, rig) {
            columns.push((endpoint, At { value: name.to_owned(), place }));
        }
    }
    if table.entries().next().is_none() {
        section.document.problem(table.place, "columns names nothing that is to be fed; leave it out to feed by name");
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{Place, parse};
    use std::path::PathBuf;

    const FMU: &str = "[fmu.ecu]\npath = \"ecu\"\n";

    /// `stimulus` begins in line 4.
    fn read(stimulus: &str) -> Result<Rig, String> {
        let text = format!("{FMU}[[stimulus]]\n{stimulus}");
        parse(&text, Path::new("rigs/rig.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn files_and_recordings_are_relative_to_the_rig() {
        let rig = read("file = \"drive.csv\"").unwrap();
        let expected = RigStimulus {
            file: At { value: PathBuf::from("rigs/drive.csv"), place: Place { line: 4, column: 8 } },
            recording: false,
            jumps: false,
            interpolation: Interpolation::Hold,
            max_size: None,
            columns: None,
        };
        assert_eq!(rig.stimuli, [expected]);
        let rig =
            read("recording = \"out\"\ninterpolation = \"linear\"\ncolumns = { \"ecu.a[1]\" = \"x.y\" }").unwrap();
        let own = &rig.stimuli[0];
        assert_eq!((own.file.value.to_str(), own.interpolation), (Some("rigs/out/signals.csv"), Interpolation::Linear));
        let columns = own.columns.as_deref().unwrap();
        assert_eq!((columns[0].0.value.to_string().as_str(), columns[0].1.value.as_str()), ("ecu.a[1]", "x.y"));
    }

    #[test]
    fn what_is_no_stimulus_says_why() {
        for (stimulus, message) in [
            ("", "3:1: [[stimulus]] has neither file (CSV) nor recording"),
            ("file = \"a\"\nrecording = \"b\"", "5:1: [[stimulus]] has both file and recording"),
            ("file = 1", "4:8: file must be a string, not 1"),
            ("file = \"\"", "4:8: file names no file"),
            ("fil = \"a\"", "4:1: unknown key \"fil\" in [[stimulus]]; did you mean \"file\"?"),
            ("file = \"a\"\ninterpolation = \"cubic\"", "5:17: interpolation must be \"hold\" or \"linear\""),
            ("file = \"a\"\nmax_size = 0", "5:12: max_size must be a whole number of bytes above 0, not 0"),
            ("file = \"a\"\ncolumns = 1", "5:11: columns must be a table, not 1"),
            ("file = \"a\"\ncolumns = {}", "columns names nothing that is to be fed"),
            ("file = \"a\"\ncolumns = { \"ecu.a\" = 1 }", "the column of \"ecu.a\" must be a string, not 1"),
            ("file = \"a\"\ncolumns = { \"ecu\" = \"x\" }", "\"ecu\" must be written fmu.variable"),
            ("file = \"a\"\ncolumns = { \"ecx.a\" = \"x\" }", "the rig has no FMU \"ecx\"; did you mean \"ecu\"?"),
        ] {
            let error = read(stimulus).unwrap_err();
            assert!(error.lines().any(|line| line.contains(message)), "{stimulus}: {error}");
        }
    }
}
