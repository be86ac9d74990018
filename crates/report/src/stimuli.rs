//! Fields of a [`super::StimulusResult`] that `report.json` has in another form.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Deserialize, Serialize)]
struct Starved {
    clock: String,
    time: f64,
}

/// Clock and time by their names.
pub(super) mod first_starved {
    use super::*;

    pub fn serialize<S: Serializer>(first: &Option<(String, f64)>, serializer: S) -> Result<S::Ok, S::Error> {
        first.clone().map(|(clock, time)| Starved { clock, time }).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(String, f64)>, D::Error> {
        Ok(Option::<Starved>::deserialize(deserializer)?.map(|first| (first.clock, first.time)))
    }
}
