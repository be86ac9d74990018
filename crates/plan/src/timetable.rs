//! The start and the stop of a run.

use super::described::DescribedFmu;
use super::findings::Findings;
use crate::rig::{At, Mode, Rig};
use vecud_base::time::Instant;
use vecud_description::ModelDescription;

/// Start and stop of a run.
pub(super) struct Timetable {
    pub start: Instant,
    pub stop: Option<Instant>,
}

/// Seconds before and after 0 between which a run may start: some hundred years, so that nanoseconds still fit.
const LATEST_START: f64 = 4e9;

/// The start time of a rig whose first FMU has this description.
pub fn start_time(rig: &Rig, first: Option<&ModelDescription>) -> At<Instant> {
    let experiment = first.filter(|_| rig.experiment_of_fmu).and_then(|own| own.default_experiment.start_time);
    let default = || At::unplaced(experiment.and_then(Instant::from_f64).unwrap_or(Instant::ZERO));
    rig.start_time.clone().unwrap_or_else(default)
}

/// Start and stop of a rig.
pub(super) fn timetable(rig: &Rig, fmus: &[DescribedFmu], findings: &mut Findings) -> Timetable {
    let experiment = rig.experiment_of_fmu.then(|| fmus.first().map(|u| &u.input.description.default_experiment));
    let experiment = experiment.flatten();
    let given = |written: &Option<At<Instant>>, default: Option<f64>| {
        let default = || default.and_then(Instant::from_f64).map(At::unplaced);
        written.clone().or_else(default)
    };
    let start = start_time(rig, fmus.first().map(|first| first.input.description));
    if start.value.seconds().abs() > LATEST_START {
        let seconds = start.value.seconds();
        findings.rig(start.place, format!("the start time, {seconds} s, is more than {LATEST_START} s away from 0"));
    }
    let start = start.value;
    let stop = given(&rig.stop_time, experiment.and_then(|e| e.stop_time));
    match &stop {
        Some(stop) if stop.value <= start => {
            // A setting from elsewhere is not to be changed in the rig file.
            let way = match stop.place.line {
                0 => "give a later --stop-time",
                _ => "set stop_time in [rig], or use --stop-time",
            };
            let message = format!(
                "the stop time, {} s, is not after the start time, {} s: nothing would run; {way}",
                stop.value.seconds(),
                start.seconds()
            );
            findings.rig(stop.place, message);
        }
        None if rig.mode == Mode::Virtual && !rig.endless => {
            findings
                .rig(Default::default(), "virtual time needs a stop time: set stop_time in [rig], or use --stop-time");
        }
        _ => {}
    }
    Timetable { start, stop: stop.map(|at| at.value) }
}
