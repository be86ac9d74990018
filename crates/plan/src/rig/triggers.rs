//! `[[trigger]]`: an output clock, a list of times, or an endpoint.

use super::document::{TableReader, elements};
use super::endpoints::{self, KEYS, RigEndpoint};
use super::variable_name::variable_name;
use super::{At, Rig, RigTrigger, TriggerSource};
use std::collections::BTreeSet;
use std::path::Path;
use vecud_base::time::Instant;

const TRIGGER: &[&str] = &["clock", "from", "at"];

/// Reads one table; relative paths in it count from `folder`.
pub(super) fn read_trigger(section: TableReader, folder: &Path, rig: &Rig) -> Option<RigTrigger> {
    let options = || KEYS.iter().flat_map(|(_, options)| options.iter().copied());
    let of_endpoints = || KEYS.iter().map(|(key, _)| *key);
    let mut known = TRIGGER.to_vec();
    of_endpoints().chain(options()).for_each(|key| {
        if !known.contains(&key) {
            known.push(key)
        }
    });
    let section = &section.only(&known);
    let clock = variable_name(section, "clock", rig);
    // A trigger has exactly one of them.
    let sources = ["from", "at"].into_iter().chain(of_endpoints());
    let sources: Vec<&str> = sources.filter(|key| section.get(key).is_some()).collect();
    let source = match sources.as_slice() {
        [] => {
            let message =
                format!("[[trigger]] has no source: from (an output clock), at (times), {}", endpoints::KEYS_IN_WORDS);
            section.document.problem(section.place, message);
            None
        }
        ["from"] => variable_name(section, "from", rig).map(TriggerSource::OutputClock),
        ["at"] => Some(TriggerSource::Times(read_times(section))),
        [key] => endpoints::read(key, section, folder).map(TriggerSource::Endpoint),
        [_, second, ..] => {
            let message = format!("[[trigger]] has both {}: one trigger has one source", sources.join(" and "));
            section.document.problem(section.place_of_key(second), message);
            None
        }
    };
    if let [one] = sources.as_slice() {
        let own = KEYS.iter().find(|(key, _)| key == one).map_or(&[][..], |(_, options)| *options);
        let is_misplaced = |key: &&str| section.get(key).is_some() && !own.contains(key);
        for key in options().filter(is_misplaced).collect::<BTreeSet<_>>() {
            let message = format!("{key} has no meaning in a [[trigger]] with {one}");
            section.document.problem(section.place_of_key(key), message);
        }
    }
    let trigger = RigTrigger { clock: clock?, source: source? };
    is_free(section, &trigger, rig).then_some(trigger)
}

/// Whether no trigger before this one has its socket.
fn is_free(section: &TableReader, trigger: &RigTrigger, rig: &Rig) -> bool {
    let endpoint = |trigger: &'_ RigTrigger| match &trigger.source {
        TriggerSource::Endpoint(RigEndpoint { source, .. }) => Some(source.clone()),
        _ => None,
    };
    let Some(own) = endpoint(trigger).filter(|own| own.value.socket().is_some()) else { return true };
    let same = |other: &&RigTrigger| endpoint(other).is_some_and(|other| other.value == own.value);
    let Some(first) = rig.triggers.iter().find(same) else { return true };
    let message = format!(
        "{} is the address of {}'s trigger already (line {}): one address triggers one clock",
        own.value, first.clock.value, first.clock.place.line
    );
    section.document.problem(own.place, message);
    false
}

fn read_times(section: &TableReader) -> Vec<At<Instant>> {
    let mut times: Vec<At<Instant>> = Vec::new();
    for element in elements(section, "at").unwrap_or_default() {
        let place = element.place;
        let seconds = element.value.as_float().or_else(|| element.value.as_integer().map(|i| i as f64));
        match seconds.and_then(Instant::from_f64) {
            None => section.document.problem(place, "at must be a list of times in seconds, as [0.0, 1.5]"),
            Some(time) if times.last().is_some_and(|last| last.value >= time) => {
                section.document.problem(place, "the times of at must increase strictly");
            }
            Some(value) => times.push(At { value, place }),
        }
    }
    times
}
