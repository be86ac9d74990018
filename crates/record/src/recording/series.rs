//! Names of the files of a recording: `signals.csv`, `signals.mcap` or `signals.arrows`, or one after the other `signals-000001.csv` and so on.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Extensions of the formats. All have the same rows; the first one can be read by every vecud and is looked for first.
const EXTENSIONS: [&str; 3] = ["csv", "mcap", "arrows"];

/// The possible names, for messages.
pub const ANY: &str = "signals.csv, signals.mcap or signals.arrows";

/// The files of a recording in one format; `report.json` has this form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Name of the first kept file.
    pub first: String,
    /// Name of the last file; for a recording that is not rotated, the first one.
    pub last: String,
    /// Number of files before the first one, which were removed.
    pub removed: u32,
}

impl Files {
    /// The files of this recording among the names in a folder; `None`: there are none.
    pub fn among<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<Files> {
        let (_, extension) = self.first.rsplit_once('.')?;
        if self.first == name(None, extension) {
            return names.into_iter().any(|file| file == self.first).then(|| self.clone());
        }
        let numbers: BTreeSet<u32> = names.into_iter().filter_map(|file| number(file, extension)).collect();
        let (first, last) = (*numbers.first()?, *numbers.last()?);
        Some(Files { first: name(Some(first), extension), last: name(Some(last), extension), removed: first - 1 })
    }
}

/// The name of a file; `number`, counted from 1, is its place among those of a recording that is rotated.
pub fn name(number: Option<u32>, extension: &str) -> String {
    number.map_or(format!("signals.{extension}"), |number| format!("signals-{number:06}.{extension}"))
}

/// Whether this is the name of a file of a recording.
pub fn is_name_of_recording(file: &str) -> bool {
    EXTENSIONS.into_iter().any(|extension| file == name(None, extension) || number(file, extension).is_some())
}

/// Number of a file of a rotated recording, from its name.
fn number(file: &str, extension: &str) -> Option<u32> {
    let number = file.strip_prefix("signals-")?.strip_suffix(extension)?.strip_suffix('.')?.parse().ok()?;
    (number > 0 && file == name(Some(number), extension)).then_some(number)
}

/// The files of a recording among the names in a folder, in the order of time; if there are several formats, those of the first
/// in `EXTENSIONS`. Empty: there are none.
///
/// # Errors
/// The name of a file that is missing between two others.
pub fn find<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<String>, String> {
    let names: Vec<&str> = names.into_iter().collect();
    let whole = EXTENSIONS.into_iter().map(|extension| name(None, extension));
    if let Some(whole) = whole.into_iter().find(|whole| names.contains(&whole.as_str())) {
        return Ok(vec![whole]);
    }
    for extension in EXTENSIONS {
        let numbers: BTreeMap<u32, &str> =
            names.iter().filter_map(|file| Some((number(file, extension)?, *file))).collect();
        let Some((first, _)) = numbers.first_key_value() else { continue };
        if let Some((missing, _)) = (*first..).zip(numbers.keys()).find(|(expected, number)| expected != *number) {
            return Err(name(Some(missing), extension));
        }
        return Ok(numbers.into_values().map(str::to_owned).collect());
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_recordings_and_no_others() {
        for ours in [
            "signals.csv",
            "signals.mcap",
            "signals-000001.csv",
            "signals-000012.mcap",
            "signals-1000000.csv",
            "signals.arrows",
            "signals-000002.arrows",
        ] {
            assert!(is_name_of_recording(ours), "{ours}");
        }
        for other in
            ["signals-0.csv", "signals-000000.csv", "signals-1.csv", "signals-0000001.csv", "signals-+00001.csv"]
        {
            assert!(!is_name_of_recording(other), "{other}");
        }
        for other in [
            "signals.arrow",
            "old.signals.csv",
            "signals-000001csv",
            "signals-000001.txt",
            "signals-9999999999.csv",
            "signals",
        ] {
            assert!(!is_name_of_recording(other), "{other}");
        }
    }

    /// Whatever was known of it before: each format by itself, and nothing that is not there.
    #[test]
    fn what_there_is_of_a_recording_is_what_lies_in_the_folder() {
        let known = |first: &str, last: &str| Files { first: first.to_owned(), last: last.to_owned(), removed: 1 };
        let known_csv = known("signals-000002.csv", "signals-000004.csv");
        let names =
            ["run.log", "signals-000005.csv", "signals-000003.csv", "signals-000004.csv", "signals-000009.mcap"];
        let now = Files { removed: 2, ..known("signals-000003.csv", "signals-000005.csv") };
        assert_eq!(known_csv.among(names), Some(now));
        assert_eq!(known_csv.among(["signals.csv", "signals-000009.mcap", "signals-000005.csv.next"]), None);
        let whole = Files { removed: 0, ..known("signals.mcap", "signals.mcap") };
        assert_eq!((whole.among(["signals.mcap"]), whole.among(names)), (Some(whole.clone()), None));
    }

    #[test]
    fn of_a_folder_one_format_is_taken_in_the_order_of_time() {
        let found = |names: &[&str]| find(names.iter().copied());
        assert_eq!(found(&["run.log"]), Ok(vec![]));
        assert_eq!(found(&["signals.mcap", "signals.csv", "signals-000001.csv"]), Ok(vec!["signals.csv".to_owned()]));
        let several = ["signals-1000000.csv", "signals-999999.csv", "x", "signals-999999.mcap"];
        assert_eq!(found(&several).unwrap(), ["signals-999999.csv", "signals-1000000.csv"]);
        assert_eq!(found(&["signals.arrows", "x.arrows"]).unwrap(), ["signals.arrows"]);
        assert_eq!(found(&["signals-000003.mcap"]).unwrap(), ["signals-000003.mcap"]);
        let hole = ["signals-000003.mcap", "signals-000006.mcap", "signals-000004.mcap"];
        assert_eq!(found(&hole), Err("signals-000005.mcap".to_owned()));
    }
}
