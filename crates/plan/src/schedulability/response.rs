//! The worst response of one task.
//!
//! A *busy period* of a task is a time in which its core has only work that goes before it, or its own. It is longest, and
//! begins worst, when all such work comes at once and as late as its jitter lets it, just after a less urgent one has begun
//! its longest locked section. In it the q-th activation of the task (from 0) is done after
//!
//!   w(q) = B + (q + 1) · C + Σ over the others of most(w(q)) · C
//!
//! where B is the blocking, C an execution and *most* counts activations within a span; the smallest solution is found by
//! inserting, from below. The q-th activation was due not before the shortest distance δ of q activations after the first,
//! which itself may have woken late by `wake`, so its response is w(q) + wake - δ(q). The worst response is the largest of
//! these until a busy period ends: until no further activation has come by w(q). Only the first activation matters if it is
//! done before the next is due; else a later one can be worse.
//!
//! Sources: the equation for q = 0, M. Joseph, P. Pandya, "Finding response times in a real-time system", The Computer Journal
//! 29 (1986); with blocking and jitter, Audsley et al. (see [`super::DelayedPattern`]); with several activations, J. Lehoczky, "Fixed
//! priority scheduling of periodic task sets with arbitrary deadlines", Real-Time Systems Symposium (1990), and K. Tindell,
//! A. Burns, A. Wellings, "An extendible approach for analysing fixed priority hard real-time tasks", Real-Time Systems 6 (1994).

use super::arrival::distance;
use super::common_unit::gcd;
use super::{ArrivalPattern, DelayedPattern, Demand, load};
use std::cmp::Ordering;

/// The worst response, and how it comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseBound {
    /// The time from the release to the end.
    pub response: i128,
    /// Number of the task's activations in its busy period up to this one, itself included.
    pub activations: i128,
    /// The time from the begin of that busy period to the end of this activation.
    pub window: i128,
    /// The time from the begin of that busy period to the release of this activation, which may be before.
    pub released: i128,
}

/// The worst response of a task, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseResult {
    /// The worst response is this.
    Bounded(ResponseBound),
    /// There is none: this task and more urgent work need more than the core has.
    Overloaded,
    /// No bound was found: the core is so full that a busy period has too many activations, or delays grow from task to task.
    NotFound,
}

/// A busy period must end within this number of steps.
const STEPS: usize = 30_000;

/// The worst response of `own` among those that go before it, the equal ones included, with this blocking.
pub fn bound(own: &Demand, others: &[Demand], blocking: i128) -> ResponseResult {
    let all = || others.iter().chain([own]);
    let full = match load(all()).against_one {
        Ordering::Greater => return ResponseResult::Overloaded,
        full => full == Ordering::Equal,
    };
    let mut repeats = full.then(|| Repetition::of(own, others)).flatten();
    let mut steps = 0;
    let mut worst: Option<ResponseBound> = None;
    let mut window = 1;
    for activations in 1.. {
        let fixed = blocking + activations * own.execution;
        loop {
            let next = fixed + others.iter().map(|other| other.most(window) * other.execution).sum::<i128>();
            steps += 1;
            if next <= window {
                break;
            }
            if steps > STEPS {
                return ResponseResult::NotFound;
            }
            window = next;
        }
        // There are that many in the window, or the loop had ended.
        let released = distance(&own.streams, activations, window + own.wake) - own.wake;
        let response = window - released;
        if worst.is_none_or(|worst| response > worst.response) {
            worst = Some(ResponseBound { response, activations, window, released });
        }
        let over = own.most(window) <= activations;
        if over || repeats.as_mut().is_some_and(|repeats| repeats.after(activations, window, released + own.wake)) {
            break;
        }
    }
    worst.map_or(ResponseResult::NotFound, ResponseResult::Bounded)
}

/// At a load of exactly 1 a busy period need not end. But once all bursts and lists are over it repeats: after the least
/// common multiple of the intervals everything is as it was.
struct Repetition {
    /// Activations of the task in that time.
    activations: i128,
    /// The end of the last list of times.
    lists: i128,
    since: Option<i128>,
}

impl Repetition {
    /// `None`: it is too long.
    fn of(own: &Demand, others: &[Demand]) -> Option<Repetition> {
        let (mut multiple, mut lists) = (1i128, 0);
        for stream in others.iter().chain([own]).flat_map(|task| &task.streams) {
            match stream.pattern {
                ArrivalPattern::Grid { interval, .. } => {
                    multiple = multiple.checked_mul(interval / gcd(multiple, *interval))?
                }
                ArrivalPattern::Times(times) => {
                    lists = lists.max(times.last().zip(times.first()).map_or(0, |(last, first)| last - first));
                }
            }
        }
        let in_it = |stream: &DelayedPattern| match stream.pattern {
            ArrivalPattern::Grid { interval, .. } => multiple / interval,
            ArrivalPattern::Times(_) => 0,
        };
        let activations = own.streams.iter().map(in_it).sum();
        Some(Repetition { activations, lists, since: None })
    }

    fn after(&mut self, activations: i128, window: i128, distance: i128) -> bool {
        if self.since.is_none() && window > self.lists && distance > 0 {
            self.since = Some(activations);
        }
        self.since.is_some_and(|since| activations >= since + self.activations)
    }
}
