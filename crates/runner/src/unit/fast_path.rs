//! The fast path of steps in virtual time: the regular steps of an instance, one after the other, with no work between them.
//! Makes the marks, counts and calls of [`StepUnit`](super::step::StepUnit), with all data at hand.

use super::stepping::Stepping;
use crate::task_telemetry::TaskTelemetry;
use crate::thread_host::PartitionHost;
use vecud_base::time::Instant;
use vecud_fmi::{BatchStepper, FastPath, Stepper};
use vecud_linux::crash::label_thread;
use vecud_record::board::{TaskCells, TaskWord};

/// The regular steps of one task.
pub struct FastPathSteps<'a> {
    batch: BatchStepper<'a>,
    host: &'static PartitionHost,
    telemetry: &'static TaskTelemetry,
    cells: TaskCells<'static>,
    label: u64,
    /// The furthest that a step has been off its communication point so far, in the FMU's unit of time.
    largest_deviation: f64,
    /// The limit for that.
    tolerance: f64,
    stepping: &'a mut Stepping,
}

impl<'a> FastPathSteps<'a> {
    /// The fast path of the task with this telemetry; `None`: it can make no step now.
    pub fn new(
        stepper: &'a mut Stepper,
        stepping: &'a mut Stepping,
        host: &'static PartitionHost,
        telemetry: &'static TaskTelemetry,
    ) -> Option<FastPathSteps<'a>> {
        stepping.note();
        let (batch, cells, label) = (stepper.batch_stepper(host)?, telemetry.cells, telemetry.unit.0 as u64 + 1);
        let (tolerance, largest_deviation) = (stepping.tolerance, stepping.figures.furthest());
        Some(FastPathSteps { batch, host, telemetry, cells, label, largest_deviation, tolerance, stepping })
    }

    /// Makes and counts the step of the release at `time` to its `end`; `seconds` are both as the FMU is told them. `false`: the
    /// step was made and was not regular, so that its activation is still under way.
    #[inline(always)] // in the one loop there is
    pub fn step(&mut self, fast_path: &mut FastPath, time: &Instant, seconds: (f64, f64), end: Instant) -> bool {
        label_thread(self.label);
        self.telemetry.begin(time);
        let (point, next) = seconds;
        let size = self.stepping.told_size(point, || next);
        let Some(reached) = fast_path.step(&mut self.batch, point, size) else { return false };
        self.host.returned_from_fmu();
        let deviation = (reached - (point + size)).abs();
        if deviation > self.largest_deviation {
            self.largest_deviation = deviation;
            self.stepping.figures.deviates(deviation);
        }
        // A time that is no number is off, too.
        if deviation > self.tolerance || deviation.is_nan() {
            self.stepping.figures.off_the_point(Some(end), reached);
        }
        self.cells.count(TaskWord::Steps, 1);
        self.telemetry.end();
        label_thread(0);
        self.cells.count(TaskWord::Activations, 1);
        true
    }

    /// The last step came to this time.
    pub fn leave(self, reached: Instant) {
        self.stepping.reached = Some(reached);
    }
}
