//! Small legal FMUs at the edges of the standard, each as strict as the standard allows (`fmu/strict.c`): it answers
//! fmi3Error to every call that an importer may not make in that state, notes why, and fails the run. Each case has the
//! number and the times of its activations worked out by hand, and runs in virtual time, in real time, and in real time
//! without privileges.

mod case;
mod clocks;
mod life;
mod refusals;
mod variables;
