//! The definition of a rig, and its wanted state: all that survives a restart of the daemon.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use utoipa::ToSchema;
use vecud_linux::rights::Rights;
use vecud_plan::Mode;

/// The place of a rig's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RigSource {
    /// Here.
    Text(String),
    /// The rig is in this rig file, `.fmu` file, or folder of an FMU.
    Path(PathBuf),
}

impl RigSource {
    /// Bytes of the text, where it is here.
    pub fn text_length(&self) -> usize {
        match self {
            RigSource::Text(text) => text.len(),
            RigSource::Path(_) => 0,
        }
    }
}

/// Settings for starting a rig. The rig supplies those that are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Mode of the run: real time or virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<StartMode>,
    /// Simulation time at which the run ends, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_time: Option<f64>,
}

/// Mode of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StartMode {
    /// Real time.
    Realtime,
    /// Virtual time: as fast as possible.
    Virtual,
}

impl From<StartMode> for Mode {
    fn from(mode: StartMode) -> Mode {
        match mode {
            StartMode::Realtime => Mode::RealTime,
            StartMode::Virtual => Mode::Virtual,
        }
    }
}

/// A definition as a file has it.
#[derive(Serialize, Deserialize)]
struct File {
    /// The checksum of the definition; `None`: somebody has written the file by hand, or an earlier version of vecud has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
    #[serde(flatten)]
    definition: Definition,
}

impl Definition {
    /// The content of a file with the definition.
    ///
    /// # Errors
    /// A path is not UTF-8.
    pub fn text(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec_pretty(&File { checksum: Some(self.checksum()?), definition: self.clone() })
    }

    /// The definition in the content of a file; `Err`: the reason why it cannot be read.
    pub fn of_text(text: &[u8]) -> Result<Definition, String> {
        let told = |error: serde_json::Error| error.to_string();
        let File { checksum, definition } = serde_json::from_slice(text).map_err(told)?;
        match checksum {
            Some(checksum) if checksum != definition.checksum().map_err(told)? => {
                Err("it is not as it was written, by its checksum (without one it is taken as it is)".to_owned())
            }
            _ => Ok(definition),
        }
    }

    fn checksum(&self) -> serde_json::Result<String> {
        Ok(format!("crc32 {:08x}", crc32fast::hash(&serde_json::to_vec(self)?)))
    }
}

/// A rig, and its wanted state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The rig.
    pub source: RigSource,
    /// Settings for running; `None`: the rig is not to run.
    pub wanted: Option<Start>,
    /// Rights for reading the files that the rig names: those of the user who has put it. Left out in a file: those of
    /// the daemon.
    #[serde(default, skip_serializing_if = "Rights::are_own")]
    pub rights: Rights,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each bit of it: a disk that has turned one, or a write that was cut off, gives no other rig than the one that was put.
    #[test]
    fn a_definition_that_is_not_as_it_was_written_is_none() {
        let wanted = Some(Start { mode: Some(StartMode::Virtual), stop_time: Some(0.1) });
        let definition = Definition {
            source: RigSource::Text("[rig]\nstop_time = 1.5\n".to_owned()),
            wanted,
            rights: Rights::default(),
        };
        let text = definition.text().unwrap();
        assert_eq!(Definition::of_text(&text), Ok(definition.clone()));
        for place in 0..text.len() {
            for bit in 0..8 {
                let mut other = text.clone();
                other[place] ^= 1 << bit;
                assert!(
                    Definition::of_text(&other).is_ok_and(|own| own == definition)
                        || Definition::of_text(&other).is_err()
                );
            }
            assert!(Definition::of_text(&text[..place]).is_err());
        }
        let by_hand = serde_json::to_vec(&definition).unwrap();
        assert_eq!(Definition::of_text(&by_hand), Ok(definition));
    }
}
