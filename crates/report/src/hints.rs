//! Hints from the figures of a run, in words: the causes of lateness, as far as the run itself can tell.
//!
//! A pure function of the run. Each hint states its evidence in numbers; where there is none, nothing is said. Nothing here
//! changes the verdict. In virtual time nothing is late, and there are no hints of lateness.
//!
//! | hint | evidence |
//! |---|---|
//! | demoted | the watchdog took its priority |
//! | other core | activations were seen on another core than planned |
//! | page faults | the kernel counted some for the thread after its first activation, where that was at the start |
//! | switched away | the kernel took the core away `SWITCHES` times or more often than more urgent clocks of that core woke |
//! | first activation | it has the longest response, `NOTABLE` and `TIMES` times the median, and page faults |
//! | late wake-ups | of the worst, those of at least `NOTABLE` and `TIMES` times the median: who filled them, see below |
//! | waits for the lock | in the list of the worst, those with at least `NOTABLE` and a quarter of the response |
//! | the kernel's trace | of the worst wake-up in it, if that is late, and the worst response of which others than the rig had half: who had the core ([`kernel`]) |
//! | counts of a core | stolen time, interrupts of firmware, throttling; devices that interrupt it often ([`kernel`]) |
//! | growing memory | the process of the FMUs has `GROWTH` more at the end of the run than after its first quarter, and as steadily ([`memory`]); in virtual time, too |
//! | preemption, own code | the worst responses of `TIGHT` per cent of the interval or more: what took at least half of them |
//!
//! A late wake-up is put down to the clock that was at work for most of it, if others of the rig were for half of it; else
//! to a less urgent one that was under way in most of these, at least three times and three times as often as by chance; else
//! to the machine; of these it is told if they recur in a [period](periods).

mod evidence;
mod kernel;
mod memory;
mod periods;
mod responses;
mod run;
mod thread;
mod wakeups;

pub use run::hints;

#[cfg(test)]
mod tests;
