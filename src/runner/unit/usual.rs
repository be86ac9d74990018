//! The usual steps of an instance in virtual time, one after the other, where nothing is to be done between them: the marks, figures and
//! calls of [`StepUnit`](super::step::StepUnit), with all that they need at hand.

use super::stepping::Stepping;
use crate::ffi::{Stepper, Strider, Striding};
use crate::record::board::{TaskCells, TaskWord};
use crate::runner::site::Site;
use crate::runner::thread_host::PartitionHost;
use crate::sys::crash::label_thread;
use crate::time::Instant;

/// Makes the usual steps of one task.
pub struct UsualSteps<'a> {
    strider: Strider<'a>,
    site: &'static Site,
    cells: TaskCells<'static>,
    label: u64,
    /// One step, in the FMU's unit of time, which is a second.
    size: f64,
    /// Nothing is to be noted of a step that is not further off its point.
    near: f64,
    stepping: &'a mut Stepping,
}

impl<'a> UsualSteps<'a> {
    /// Those of this task, which leaves its marks at `site`; `None`: it can make none now.
    pub fn new(
        stepper: &'a mut Stepper,
        stepping: &'a mut Stepping,
        host: &'static PartitionHost,
        site: &'static Site,
    ) -> Option<UsualSteps<'a>> {
        stepping.note();
        let (cells, label, size, near) = (site.cells, site.task.0 as u64 + 1, stepping.size, stepping.near());
        Some(UsualSteps { strider: stepper.strider(host)?, site, cells, label, size, near, stepping })
    }

    /// Makes and counts the step of the release at `time`, which is so many `seconds`, to its `end`. `false`: it was made and is not
    /// usual, so that its activation is still under way.
    #[inline(always)] // in the one loop there is
    pub fn step(&mut self, striding: &mut Striding, time: &Instant, seconds: f64, end: Instant) -> bool {
        label_thread(self.label);
        self.site.begin(time);
        let Some(reached) = striding.step(&mut self.strider, seconds, self.size) else { return false };
        let off = (reached - (seconds + self.size)).abs();
        if off > self.near || off.is_nan() {
            self.is_off(off, reached, end);
        }
        self.cells.count(TaskWord::Steps, 1);
        self.site.end();
        self.cells.count(TaskWord::Activations, 1);
        true
    }

    #[cold]
    fn is_off(&mut self, off: f64, reached: f64, end: Instant) {
        self.stepping.is_off(off, reached, end);
        self.near = self.stepping.near();
    }

    /// The last step came to this time.
    pub fn leave(self, reached: Instant) {
        label_thread(0);
        self.stepping.reached = Some(reached);
    }
}
