//! Two partitions, one variable of most kinds: what is set before an activation comes out after it, changed in a way that a
//! test can work out by itself.

use fmite::{
    Activation, Calculated, Clock, Discrete, Enumeration, Error, Fmu, Input, Output, Parameter, Periodic,
    ScheduledExecution, Variables,
};
use std::time::Duration;

pub struct Fast;

impl Periodic for Fast {
    const INTERVAL: Duration = Duration::from_millis(20);
    const PRIORITY: u32 = 0;
}

pub struct Slow;

impl Periodic for Slow {
    const INTERVAL: Duration = Duration::from_millis(100);
    const PRIORITY: u32 = 1;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enumeration)]
pub enum Phase {
    #[default]
    Tick = 1,
    Tock = 2,
}

#[derive(Clone, Variables)]
pub struct Sampler {
    pub fast: Clock<Fast>,
    pub slow: Clock<Slow>,
    /// What each fast activation counts up by.
    pub increment: Parameter<i32>,
    pub sample: Input<f64, (), Discrete, Fast>,
    pub profile: Input<[f64; 3], (), Discrete, Fast>,
    pub gate: Input<bool, (), Discrete, Fast>,
    pub count: Output<i32, (), Discrete, Calculated, Fast>,
    /// Goes half of the way to the sample each time.
    pub mean: Output<f64, (), Discrete, Calculated, Fast>,
    /// The last three samples, the newest last.
    pub history: Output<[f64; 3], (), Discrete, Calculated, Fast>,
    pub odd: Output<bool, (), Discrete, Calculated, Fast>,
    pub profile_sum: Output<f64, (), Discrete, Calculated, Fast>,
    /// Activations with the gate open.
    pub passed: Output<u8, (), Discrete, Calculated, Fast>,
    pub activations: Output<u64, (), Discrete, Calculated, Slow>,
    pub phase: Output<Phase, (), Discrete, Calculated, Slow>,
    /// The count, as the slow partition saw it.
    pub seen: Output<i32, (), Discrete, Calculated, Slow>,
    /// When it saw it.
    pub seen_at: Output<f64, (), Discrete, Calculated, Slow>,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler {
            fast: Clock::default(),
            slow: Clock::default(),
            increment: Parameter::new(1),
            sample: Input::new(0.0),
            profile: Input::new([0.0; 3]),
            gate: Input::new(false),
            count: Output::default(),
            mean: Output::default(),
            history: Output::default(),
            odd: Output::default(),
            profile_sum: Output::default(),
            passed: Output::default(),
            activations: Output::default(),
            phase: Output::default(),
            seen: Output::default(),
            seen_at: Output::default(),
        }
    }
}

impl Fmu for Sampler {}

impl ScheduledExecution for Sampler {
    fn activate(&mut self, activation: Activation) -> Result<(), Error> {
        if activation.is::<Fast>() {
            *self.count += *self.increment;
            *self.mean += (*self.sample - *self.mean) / 2.0;
            *self.history = [self.history[1], self.history[2], *self.sample];
            *self.odd = !*self.odd;
            *self.profile_sum = self.profile.iter().sum();
            *self.passed += u8::from(*self.gate);
        } else {
            *self.activations += 1;
            *self.phase = if *self.phase == Phase::Tick { Phase::Tock } else { Phase::Tick };
            *self.seen = *self.count;
            *self.seen_at = activation.time;
        }
        Ok(())
    }
}

fmite::export!(Sampler: ScheduledExecution);
