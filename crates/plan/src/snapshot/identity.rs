//! Which rig a snapshot belongs to, in words, so that a difference can be named.

use crate::{Plan, Release};
use serde::{Deserialize, Serialize};
use vecud_base::time::Instant;

/// The parts of a rig that must be the same for a state to make sense: not the machine, the mode, limits or the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    rig: String,
    start: Instant,
    /// Names of the instances in rig order, and their instantiation tokens.
    fmus: Vec<(String, String)>,
    /// Names of the instances, and the structural parameters that the rig sets: sizes in the state are theirs.
    structure: Vec<(String, String)>,
    /// Names of the tasks in merged order, and the sources of their releases.
    clocks: Vec<(String, String)>,
    /// Source, target, and type.
    connections: Vec<(String, String, String)>,
    /// Per instance: its start values in words. They may differ, since the state has its own.
    start_values: Vec<String>,
}

impl Identity {
    /// The identity of a plan.
    pub fn of(plan: &Plan) -> Identity {
        let clock = |unit: &crate::UnitPlan| (plan.full_name(unit), released(plan, &unit.release));
        let connection = |connection: &crate::ConnectionPlan| {
            let from = (connection.from_type != connection.variable_type).then_some(connection.from_type);
            let units = connection.units.as_ref().map(|(from, to)| format!(", {from} to {to}")).unwrap_or_default();
            let from = from.map(|from| format!("{from:?} as ")).unwrap_or_default();
            let bytes = (connection.capacity > 0).then(|| format!(" of {} bytes", connection.capacity));
            let derivatives = match connection.extrapolation.orders() {
                0 => "",
                1 => " with its slope",
                _ => " with two derivatives",
            };
            let what = format!(
                "{} × {from}{:?}{}{derivatives}{units}, {:?}",
                connection.elements,
                connection.variable_type,
                bytes.unwrap_or_default(),
                connection.timing
            );
            (connection.from.clone(), connection.to.clone(), what)
        };
        let values = |all: &[crate::StartValue]| {
            let each = all.iter().map(|start| format!("{} = {:?}", start.name, start.values));
            each.collect::<Vec<_>>().join(", ")
        };
        let structure = |fmu: &crate::FmuPlan| match fmu.structural_values.as_slice() {
            [] => "of its description".to_owned(),
            all => values(all),
        };
        Identity {
            rig: plan.rig.clone(),
            start: plan.start,
            fmus: plan.fmus.iter().map(|fmu| (fmu.name.clone(), fmu.token.clone())).collect(),
            clocks: plan.units.iter().map(clock).collect(),
            connections: plan.connections.iter().map(connection).collect(),
            structure: plan.fmus.iter().map(|fmu| (fmu.name.clone(), structure(fmu))).collect(),
            start_values: plan.fmus.iter().map(|fmu| values(&fmu.start_values)).collect(),
        }
    }

    /// The differences of the rig with this identity from `now`, one sentence for the first of each kind; empty: none that
    /// matters.
    pub fn differences(&self, now: &Identity) -> Vec<String> {
        let mut found = Vec::new();
        if self.rig != now.rig {
            found.push(format!("it is of rig \"{}\", this is rig \"{}\"", self.rig, now.rig));
        }
        if self.start != now.start {
            let (then, now) = (self.start.seconds(), now.start.seconds());
            found.push(format!("its run began at {then} s, this rig says start_time = {now}"));
        }
        let of = |list: &[(String, String)]| list.to_vec();
        found.extend(first_difference("FMU", "has the instantiation token", &self.fmus, &now.fmus));
        if self.fmus == now.fmus {
            found.extend(first_difference("FMU", "has the structural parameters", &self.structure, &now.structure));
        }
        found.extend(first_difference("clock", "is activated by", &self.clocks, &now.clocks));
        let arrows = |list: &[(String, String, String)]| {
            of(&list.iter().map(|(from, to, what)| (format!("{from} → {to}"), what.clone())).collect::<Vec<_>>())
        };
        let (then, now) = (arrows(&self.connections), arrows(&now.connections));
        found.extend(first_difference("connection", "carries", &then, &now));
        found
    }

    /// Instances whose start values in the rig have changed since the state was saved, without effect: the state has its own.
    pub fn other_start_values<'a>(&self, now: &'a Identity) -> Vec<&'a str> {
        let pairs = self.start_values.iter().zip(&now.start_values).zip(&now.fmus);
        pairs.filter(|((then, now), _)| then != now).map(|(_, (name, _))| name.as_str()).collect()
    }
}

/// The first thing that is in one list only, or else about which they differ, or else that has another place.
fn first_difference(what: &str, verb: &str, then: &[(String, String)], now: &[(String, String)]) -> Option<String> {
    let missing = |from: &[(String, String)], name: &str| from.iter().all(|(other, _)| other != name);
    if let Some((name, _)) = then.iter().find(|(name, _)| missing(now, name)) {
        return Some(format!("it has {what} {name}, which this rig has not"));
    }
    if let Some((name, _)) = now.iter().find(|(name, _)| missing(then, name)) {
        return Some(format!("it has no {what} {name}, which this rig has"));
    }
    let pairs = || then.iter().zip(now);
    for (name, about) in then {
        if let Some((_, other)) = now.iter().find(|(other, _)| other == name).filter(|(_, other)| other != about) {
            return Some(format!("{what} {name} {verb} {about} there, {other} in this rig"));
        }
    }
    let (then, now) = pairs().find(|(then, now)| then != now)?;
    Some(format!("{what} {} comes there where this rig has {}", then.0, now.0))
}

fn released(plan: &Plan, release: &Release) -> String {
    match release {
        Release::Periodic { shift, interval } => {
            let fraction = |f: &vecud_base::time::Fraction| format!("{}/{}", f.counter(), f.resolution());
            format!("a period of {} s, shifted by {} s", fraction(interval), fraction(shift))
        }
        Release::Triggered { fmu, output_clock } => {
            let fmu = &plan.fmus[fmu.0];
            format!("{}.{}", fmu.name, fmu.output_clocks[*output_clock].name)
        }
        Release::At(times) => {
            let times: Vec<String> = times.iter().map(|time| time.seconds().to_string()).collect();
            format!("the times {} s", times.join(", "))
        }
        Release::Endpoint { endpoint } => plan.endpoints[*endpoint].source.to_string(),
        Release::Stimulus { .. } => "a stimulus".to_owned(),
        Release::Asked => "the period that its FMU says".to_owned(),
        Release::Changing => "the intervals that it says".to_owned(),
        Release::Countdown => "its countdown".to_owned(),
        // The same rig, whoever runs it.
        Release::Request | Release::Never => "nothing".to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::snapshot) fn identity() -> Identity {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        Identity {
            rig: "engine".to_owned(),
            start: Instant::ZERO,
            fmus: vec![pair("a", "{1}"), pair("b", "{2}")],
            structure: vec![pair("a", "of its description"), pair("b", "n = UInt64([4])")],
            clocks: vec![pair("a.fast", "a period of 1/1000 s, shifted by 0/1 s"), pair("b.low", "a.out")],
            connections: vec![("a.y".to_owned(), "b.u".to_owned(), "1 × Float64, Immediate".to_owned())],
            start_values: vec!["k = Float64([1.0])".to_owned(), String::new()],
        }
    }

    #[track_caller]
    fn differs(change: impl Fn(&mut Identity), words: &str) {
        let mut now = identity();
        change(&mut now);
        assert_eq!(identity().differences(&now), [words]);
    }

    /// Versions of values are kept with what travels with them.
    #[test]
    fn a_connection_with_other_derivatives_is_another_one() {
        let mut plan = crate::tests::ecu_and_plant("[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.speed\"\n");
        let held = Identity::of(&plan);
        plan.connections[0].extrapolation = crate::Extrapolation::Linear;
        let line = Identity::of(&plan);
        plan.connections[0].extrapolation = crate::Extrapolation::Quadratic;
        let parabola = Identity::of(&plan);
        for (then, now, words) in
            [(&held, &line, "1 × Float64 with its slope"), (&line, &parabola, "1 × Float64 with two derivatives")]
        {
            let differences = then.differences(now);
            assert!(differences.len() == 1 && differences[0].contains(words), "{differences:?}");
        }
    }

    #[test]
    fn every_difference_that_matters_is_named() {
        assert!(identity().differences(&identity()).is_empty());
        differs(|now| now.rig = "other".into(), "it is of rig \"engine\", this is rig \"other\"");
        let half = Instant::from_f64(0.5).unwrap();
        differs(|now| now.start = half, "its run began at 0 s, this rig says start_time = 0.5");
        differs(|now| drop(now.fmus.pop()), "it has FMU b, which this rig has not");
        differs(|now| now.fmus.push(("c".into(), "".into())), "it has no FMU c, which this rig has");
        let token = "FMU b has the instantiation token {2} there, {3} in this rig";
        differs(|now| now.fmus[1].1 = "{3}".into(), token);
        differs(|now| now.fmus.swap(0, 1), "FMU a comes there where this rig has b");
        let structure = "FMU b has the structural parameters n = UInt64([4]) there, n = UInt64([3]) in this rig";
        differs(|now| now.structure[1].1 = "n = UInt64([3])".into(), structure);
        let clock = "clock b.low is activated by a.out there, nothing in this rig";
        differs(|now| now.clocks[1].1 = "nothing".into(), clock);
        let connection =
            "connection a.y → b.u carries 1 × Float64, Immediate there, 2 × Float64, Immediate in this rig";
        differs(|now| now.connections[0].2 = "2 × Float64, Immediate".into(), connection);
        differs(|now| now.connections.clear(), "it has connection a.y → b.u, which this rig has not");
    }

    #[test]
    fn other_start_values_are_told_and_no_difference() {
        let mut now = identity();
        now.start_values[0] = "k = Float64([2.0])".into();
        assert!(identity().differences(&now).is_empty());
        assert_eq!(identity().other_start_values(&now), ["a"]);
    }
}
