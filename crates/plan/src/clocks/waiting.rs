//! The way in which threads wait for their releases: by which clock (`clock`), and whether polling (`spin_us`) leaves the cores
//! enough time for anything else.
//!
//! A thread that polls keeps everything less urgent from its core. Clocks whose ticks are not known before the run are left out.

use crate::Mode;
use crate::findings::Findings;
use crate::rig::Rig;
use crate::{HostClock, Plan, Release, TaskPlan, UnitPlan};
use std::collections::BTreeMap;
use vecud_base::time::{Fraction, Nanos};

/// Polling that takes this share of a core is worth a note.
const MUCH: f64 = 0.25;

impl Plan {
    /// Releases are instants of `CLOCK_TAI`.
    pub fn keeps_tai(&self) -> bool {
        self.mode == Mode::RealTime && self.host.clock == HostClock::Tai
    }
}

impl UnitPlan {
    /// The time for which its thread polls the clock before each release, and keeps less urgent ones from running.
    pub fn polls(&self, plan: &Plan) -> Nanos {
        match self.release {
            // Their times are not known before the run.
            Release::Triggered { .. } | Release::Endpoint { .. } | Release::Request | Release::Never => Nanos(0),
            _ => plan.host.spin,
        }
    }
}

/// Reports the share of the cores that polling takes, in real time only. All of a core's time is a problem.
pub fn check(tasks: &[TaskPlan], units: &[UnitPlan], rig: &Rig, findings: &mut Findings) {
    if rig.mode != Mode::RealTime {
        return;
    }
    let spin = rig.host.spin.value;
    let mut cores: BTreeMap<usize, f64> = BTreeMap::new();
    for task in tasks {
        if let Release::Periodic { interval, .. } = &units[task.first().0].release {
            *cores.entry(task.cpu).or_default() += spin.seconds() / Fraction::seconds(*interval);
        }
    }
    let micros = spin.0 as f64 / 1e3;
    if let Some((cpu, share)) = cores.iter().find(|(_, share)| **share >= 1.0) {
        let message = format!(
            "spin_us = {micros} would take {:.0} % of core {cpu}: partitions that poll for their releases keep all less urgent \
             ones from running; 20 to 50 are usual on a machine without PREEMPT_RT, 5 to 10 on one with",
            share * 100.0
        );
        return findings.rig(rig.host.spin.place, message);
    }
    for (cpu, share) in cores.into_iter().filter(|(_, share)| *share >= MUCH) {
        findings.note(format!("spin_us = {micros}: polling for releases takes {:.0} % of core {cpu}", share * 100.0));
    }
}
