//! All hints of a run.

use super::{kernel, memory, responses, thread, wakeups};
use crate::Run;
use std::collections::BTreeMap;
use vecud_plan::Mode;

/// The hints, clock by clock in merged order, then core by core.
pub fn hints(run: &Run) -> Vec<String> {
    let (mut hints, mut away) = (Vec::new(), BTreeMap::new());
    if run.mode == Mode::RealTime {
        for clock in &run.clocks {
            thread::thread(run, clock, &mut hints);
            thread::first(clock, &mut hints);
            wakeups::wakeups(run, clock, &mut hints, &mut away);
            responses::locks(clock, &mut hints);
            responses::budget(clock, &mut hints);
            kernel::wakeup(clock, &mut hints);
            kernel::response(clock, &mut hints);
        }
        hints.extend(away.iter().map(|(cpu, away)| wakeups::machine(run, *cpu, away)));
        run.host.cores.iter().for_each(|core| kernel::core(run, core, &mut hints));
    }
    hints.extend(memory::growth(run));
    hints
}
