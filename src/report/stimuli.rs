//! What `report.json` says of stimuli, written and read.

use super::StimulusResult;
use crate::plan::Interpolation;
use serde::{Deserialize, Serialize};

/// One of them.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StimulusJson {
    file: String,
    interpolation: Between,
    columns: usize,
    columns_left_out: usize,
    rows: u64,
    starved: u64,
    first_starved: Option<Starved>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Between {
    Hold,
    Linear,
}

#[derive(Debug, Deserialize, Serialize)]
struct Starved {
    clock: String,
    time: f64,
}

impl StimulusJson {
    pub(super) fn of(own: &StimulusResult) -> Self {
        StimulusJson {
            file: own.file.clone(),
            interpolation: match own.interpolation {
                Interpolation::Hold => Between::Hold,
                Interpolation::Linear => Between::Linear,
            },
            columns: own.columns,
            columns_left_out: own.columns_left_out,
            rows: own.rows,
            starved: own.starved,
            first_starved: own.first_starved.clone().map(|(clock, time)| Starved { clock, time }),
        }
    }

    pub(super) fn rebuild(&self) -> StimulusResult {
        StimulusResult {
            file: self.file.clone(),
            interpolation: match self.interpolation {
                Between::Hold => Interpolation::Hold,
                Between::Linear => Interpolation::Linear,
            },
            columns: self.columns,
            columns_left_out: self.columns_left_out,
            rows: self.rows,
            starved: self.starved,
            first_starved: self.first_starved.as_ref().map(|first| (first.clock.clone(), first.time)),
        }
    }
}
