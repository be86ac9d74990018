//! Turns notes into activations with the events inside of them, in the order of their ends.
//!
//! Two things lie between: preemptions, found from activations that lie inside of others on the same core (while a
//! `SCHED_FIFO` thread does not run, its core belongs to a more urgent one), and the tick that caused each activation.
//!
//! Notes come from one ring after the other while partitions go on. So activations that have ended after the look at the
//! rings began wait for the next look: for all that ended before, the notes are there, since a preempting thread has noted
//! its own activation before the preempted one goes on. Only the note of a thread that is preempted between its end and
//! its note comes late; that is still before the note of the activation that it has preempted.

use super::note::Note;
use std::collections::{HashMap, VecDeque};
use vecud_plan::{Plan, UnitId};

/// Turns a note's time stamp into an instant of the run's axis, ns.
pub type Clock<'a> = &'a dyn Fn(u64) -> i64;

/// Ticks and armings whose activations are still to come, at most; activations of a core that may lie inside of another;
/// sections of one activation.
const REMEMBERED: usize = 1 << 16;

/// A tolerance, ns, that is much larger than the difference between stamps and instants of one event.
const OFF: i64 = 1000;

/// One activation. Instants are on the axis of the run, ns since its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activated {
    /// The unit that was activated.
    pub unit: UnitId,
    /// Activation time, ns of simulation time.
    pub time: i64,
    /// The instant at which it should have started.
    pub release: i64,
    /// The thread's first instruction.
    pub woken: i64,
    /// The first FMI call.
    pub start: i64,
    /// The last get done.
    pub end: i64,
    /// Execution without that of others on the core meanwhile, ns.
    pub execution: i64,
    /// The tick came too late for its own time and has that of its dispatch.
    pub retimed: bool,
    /// The activation has not returned.
    pub unfinished: bool,
    /// Locks and clock updates, by their begins; any two of these and of [`Activated::preempted`] are apart, or one lies
    /// inside of the other.
    pub inside: Vec<InnerSpan>,
    /// The times at which others ran instead, by their begins.
    pub preempted: Vec<Preempted>,
    /// The cause of the activation: the number of a tick, or of an arming.
    pub flow: Option<u64>,
}

/// Something inside of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerSpan {
    /// What.
    pub section: SectionKind,
    /// The begin of the span.
    pub from: i64,
    /// The end of the span.
    pub to: i64,
}

/// A kind of span inside of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// FMU code held the preemption lock.
    Locked {
        /// Duration of the wait for the lock, ns.
        waited: i64,
        /// Number of locks by a holder that had the lock already.
        nested: u32,
        /// The lock was not given back.
        leaked: bool,
    },
    /// A callback of the FMU's: its clocks were read.
    Updated,
}

/// Another partition of the core ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preempted {
    /// The task that ran instead.
    pub by: UnitId,
    /// The begin of its execution.
    pub from: i64,
    /// The end of its execution.
    pub to: i64,
}

/// Something that a trace shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceItem {
    /// An activation.
    Activated(Activated),
    /// An output clock has ticked for a task; `at` is inside an activation of `unit`.
    Ticked {
        /// The unit whose clock update it was.
        unit: UnitId,
        /// Index into the FMU's output clocks.
        output: u32,
        /// Whom it activates.
        target: UnitId,
        /// Whether the tick was handed over, and neither coalesced nor lost.
        taken: bool,
        /// Time of the tick, ns of simulation time.
        time: i64,
        /// When.
        at: i64,
        /// The number of the arrow that the tick begins; 0 when it was not taken.
        flow: u64,
    },
    /// A countdown clock was armed; `at` is inside an activation of `unit`.
    Armed {
        /// The unit whose clock update it was.
        unit: UnitId,
        /// The task that is ticked.
        target: UnitId,
        /// The time at which it is to tick, ns of simulation time.
        time: i64,
        /// When.
        at: i64,
        /// The number of the arrow that ends here.
        flow: u64,
    },
    /// A release was left out.
    Skipped {
        /// The unit that the dispatch is for.
        unit: UnitId,
        /// Activation time that it would have had.
        time: i64,
        /// The instant at which it should have started.
        release: i64,
        /// The instant at which it was left out.
        at: i64,
    },
}

impl TraceItem {
    /// The most events of a file that it becomes.
    pub fn events(&self) -> usize {
        match self {
            TraceItem::Activated(activated) => 3 + activated.inside.len() + activated.preempted.len(),
            TraceItem::Ticked { .. } | TraceItem::Armed { .. } => 2,
            TraceItem::Skipped { .. } => 1,
        }
    }

    /// The instant of its end.
    pub fn at(&self) -> i64 {
        match self {
            TraceItem::Activated(activated) => activated.end,
            TraceItem::Ticked { at, .. } | TraceItem::Armed { at, .. } | TraceItem::Skipped { at, .. } => *at,
        }
    }
}

/// Puts a run together.
pub struct Assembler {
    /// Per task: the index of its core; `None`: who preempts whom is not known.
    cores: Option<Vec<usize>>,
    /// Per task: what belongs to its next activation.
    inside: Vec<Vec<InnerSpan>>,
    /// Items that were not told yet.
    waiting: Vec<(TraceItem, u64)>,
    /// Ticks and armings by target and flow.
    flows: HashMap<(UnitId, u64), u64>,
    /// Their keys, oldest first.
    flows_in_order: VecDeque<(UnitId, u64)>,
    next_flow: u64,
    /// Per core: who ran, by their ends; what lies inside of another is left out.
    ran: Vec<VecDeque<Preempted>>,
}

impl Assembler {
    /// For a run of this plan. `fifo`: a partition that is not running has been preempted by another one of its core.
    pub fn new(plan: &Plan, fifo: bool) -> Assembler {
        let mut cpus = plan.cores();
        cpus.sort_unstable();
        cpus.dedup();
        let core = |cpu| cpus.binary_search(&cpu).unwrap_or(0);
        Assembler {
            cores: fifo.then(|| plan.units.iter().map(|unit| core(plan.tasks[unit.task.0].cpu)).collect()),
            inside: vec![Vec::new(); plan.units.len()],
            waiting: Vec::new(),
            flows: HashMap::new(),
            flows_in_order: VecDeque::new(),
            next_flow: 1,
            ran: vec![VecDeque::new(); cpus.len()],
        }
    }

    /// The next note of a task. Instants are on the axis already; `clock` puts stamps there.
    pub fn take(&mut self, unit: UnitId, note: Note, clock: Clock) {
        let section = |section, since, until| InnerSpan { section, from: clock(since), to: clock(until) };
        match note {
            Note::Locked { since, until, waited, nested, leaked } => {
                let waited = clock(since).saturating_sub(clock(since.wrapping_sub(waited)));
                self.put_inside(unit, section(SectionKind::Locked { waited, nested, leaked }, since, until));
            }
            Note::Updated { since, until } => self.put_inside(unit, section(SectionKind::Updated, since, until)),
            Note::Activated { time, release, woken, start, end, execution, flow, retimed } => {
                let mut inside = std::mem::take(&mut self.inside[unit.0]);
                // What was over before is of one whose own note found no room.
                inside.retain(|section| section.to >= start - OFF);
                let activated = Activated {
                    unit,
                    time,
                    release,
                    woken,
                    start,
                    end: end.max(start),
                    execution,
                    retimed,
                    unfinished: false,
                    inside,
                    preempted: Vec::new(),
                    flow: None,
                };
                self.waiting.push((TraceItem::Activated(activated), flow));
            }
            Note::Ticked { output, target, taken, time, at, flow } => {
                self.waiting.push((TraceItem::Ticked { unit, output, target, taken, time, at, flow: 0 }, flow));
            }
            Note::Armed { target, time, at, flow } => {
                self.waiting.push((TraceItem::Armed { unit, target, time, at, flow: 0 }, flow));
            }
            Note::Spent { .. } => (),
            Note::Skipped { time, release, at } => {
                self.waiting.push((TraceItem::Skipped { unit, time, release, at }, 0));
            }
        }
    }

    fn put_inside(&mut self, unit: UnitId, section: InnerSpan) {
        let inside = &mut self.inside[unit.0];
        if inside.len() < REMEMBERED {
            inside.push(section);
        }
    }

    /// An activation that has begun and will not end any more.
    pub fn unfinished(&mut self, unit: UnitId, time: i64, release: i64, start: i64, end: i64) {
        let activated = Activated {
            unit,
            time,
            release,
            woken: release,
            start,
            end,
            execution: end - start,
            retimed: false,
            unfinished: true,
            inside: std::mem::take(&mut self.inside[unit.0]),
            preempted: Vec::new(),
            flow: None,
        };
        self.waiting.push((TraceItem::Activated(activated), 0));
    }

    /// Takes all items that ended before `horizon`, sorted by their ends.
    pub fn ready(&mut self, horizon: i64) -> Vec<TraceItem> {
        let (mut ready, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(item, _)| item.at() < horizon);
        self.waiting = later;
        ready.sort_by_key(|(item, _)| item.at());
        ready
            .into_iter()
            .map(|(mut item, key)| {
                match &mut item {
                    TraceItem::Activated(activated) => {
                        activated.flow = self.flows.remove(&(activated.unit, key)).filter(|_| key != 0);
                        self.preemptions(activated);
                        nest(activated);
                    }
                    TraceItem::Ticked { target, taken: true, flow, .. } | TraceItem::Armed { target, flow, .. } => {
                        *flow = self.remember(*target, key);
                    }
                    TraceItem::Ticked { .. } | TraceItem::Skipped { .. } => (),
                }
                item
            })
            .collect()
    }

    fn remember(&mut self, target: UnitId, key: u64) -> u64 {
        let number = self.next_flow;
        self.next_flow += 1;
        self.flows.insert((target, key), number);
        self.flows_in_order.push_back((target, key));
        if self.flows_in_order.len() > REMEMBERED
            && let Some(oldest) = self.flows_in_order.pop_front()
        {
            // Deadlines that were replaced, ticks that were coalesced later.
            self.flows.remove(&oldest);
        }
        number
    }

    /// Finds the activations that ran on the core of an activation while that was active; none of them lies inside of another.
    fn preemptions(&mut self, activated: &mut Activated) {
        let Some(cores) = &self.cores else { return };
        let ran = &mut self.ran[cores[activated.unit.0]];
        let overlap = ran.iter().rev().take_while(|other| other.to > activated.start).count();
        let begin = ran.len() - overlap;
        // Who began before this one, and ended inside of it, slept meanwhile; when is not known.
        let mut position = begin;
        while position < ran.len() {
            if ran[position].from >= activated.start
                && ran[position].to <= activated.end
                && let Some(other) = ran.remove(position)
            {
                activated.preempted.push(other);
            } else {
                position += 1;
            }
        }
        activated.preempted.sort_by_key(|other| other.from);
        // The last one, unless it was late with its note.
        let place = ran.iter().rev().take_while(|other| other.to > activated.end).count();
        let own = Preempted { by: activated.unit, from: activated.start, to: activated.end };
        ran.insert(ran.len() - place, own);
        if ran.len() > REMEMBERED {
            ran.pop_front();
        }
    }
}

/// Stamps and instants come from two clocks that differ by some ten nanoseconds: pulls apart what would overlap for that.
fn nest(activated: &mut Activated) {
    let (start, end) = (activated.start, activated.end);
    let sections = activated.inside.iter_mut().map(|inside| (&mut inside.from, &mut inside.to));
    let others = activated.preempted.iter_mut().map(|other| (&mut other.from, &mut other.to));
    let mut all: Vec<(&mut i64, &mut i64)> = sections.chain(others).collect();
    for (from, to) in &mut all {
        **from = (**from).clamp(start, end);
        **to = (**to).clamp(**from, end);
    }
    all.sort_by_key(|(from, to)| (**from, std::cmp::Reverse(**to)));
    let mut open: Vec<i64> = Vec::new();
    for (from, to) in all {
        while let Some(&outer) = open.last() {
            if outer <= *from {
                open.pop();
            } else if *to <= outer {
                break;
            } else if outer - *from < *to - outer {
                // It came after what it seems to begin in.
                *from = outer;
                open.pop();
            } else {
                *to = outer;
            }
        }
        open.push(*to);
    }
    activated.inside.sort_by_key(|inside| (inside.from, std::cmp::Reverse(inside.to)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three tasks on one core, 0 the most urgent, and one on another core.
    fn assembler() -> Assembler {
        Assembler {
            cores: Some(vec![0, 0, 0, 1]),
            inside: vec![Vec::new(); 4],
            waiting: Vec::new(),
            flows: HashMap::new(),
            flows_in_order: VecDeque::new(),
            next_flow: 1,
            ran: vec![VecDeque::new(); 2],
        }
    }

    fn active(start: i64, end: i64, flow: u64) -> Note {
        let (time, execution, retimed) = (start, end - start, false);
        Note::Activated { time, release: start, woken: start, start, end, execution, flow, retimed }
    }

    fn ready(all: &mut Assembler, notes: &[(usize, Note)]) -> Vec<Activated> {
        notes.iter().for_each(|(unit, note)| all.take(UnitId(*unit), *note, &|stamp| stamp as i64));
        let activated = |item| match item {
            TraceItem::Activated(activated) => Some(activated),
            _ => None,
        };
        all.ready(i64::MAX).into_iter().filter_map(activated).collect()
    }

    fn by(activated: &Activated) -> Vec<(usize, i64, i64)> {
        activated.preempted.iter().map(|other| (other.by.0, other.from, other.to)).collect()
    }

    #[test]
    fn whoever_ran_inside_on_the_same_core_has_preempted() {
        let mut all = assembler();
        // Rings come one after the other: not in the order of time.
        let notes = [(2, active(0, 100, 0)), (1, active(20, 60, 0)), (0, active(30, 40, 0)), (0, active(70, 80, 0))];
        let ran = ready(&mut all, &[&notes[..], &[(3, active(50, 55, 0)), (2, active(100, 110, 0))]].concat());
        assert_eq!(ran.iter().map(|a| a.unit.0).collect::<Vec<_>>(), [0, 3, 1, 0, 2, 2], "by their ends");
        assert_eq!(by(&ran[2]), [(0, 30, 40)]);
        assert_eq!(by(&ran[4]), [(1, 20, 60), (0, 70, 80)], "not the one inside of another, nor that of another core");
        assert_eq!(by(&ran[5]), []);
    }

    #[test]
    fn what_ended_after_the_look_began_waits() {
        let mut all = assembler();
        all.take(UnitId(2), active(0, 100, 0), &|stamp| stamp as i64);
        assert_eq!(all.ready(100), [], "the ring of its preemptor was read before");
        let ran = ready(&mut all, &[(0, active(30, 40, 0))]);
        assert_eq!(by(&ran[1]), [(0, 30, 40)]);
    }

    #[test]
    fn who_is_held_up_between_its_end_and_its_note_takes_nothing_from_whom_it_preempted() {
        let mut all = assembler();
        // 1 preempts 2, ends, and is preempted by 0 before it has noted anything.
        all.take(UnitId(0), active(31, 32, 0), &|stamp| stamp as i64);
        assert_eq!(all.ready(50).len(), 1);
        let late = ready(&mut all, &[(1, active(20, 30, 0))]);
        assert_eq!(by(&late[0]), [], "0 ran after its end");
        let ran = ready(&mut all, &[(0, active(60, 61, 0)), (2, active(0, 100, 0))]);
        assert_eq!(by(&ran[1]), [(1, 20, 30), (0, 31, 32), (0, 60, 61)]);
    }

    #[test]
    fn sections_of_an_activation_whose_note_was_lost_are_lost_with_it() {
        let lock = |since, until| Note::Locked { since, until, waited: 0, nested: 0, leaked: false };
        let mut all = assembler();
        let ran = ready(&mut all, &[(2, lock(100, 200)), (2, lock(10_090, 10_200)), (2, active(10_100, 10_300, 0))]);
        let inside: Vec<_> = ran[0].inside.iter().map(|inside| (inside.from, inside.to)).collect();
        assert_eq!(inside, [(10_100, 10_200)]);
    }

    #[test]
    fn an_activation_carries_the_tick_that_brought_it_about() {
        let tick =
            |target, at, flow, taken| Note::Ticked { output: 1, target: UnitId(target), taken, time: 5, at, flow };
        let mut all = assembler();
        let ran = ready(
            &mut all,
            &[
                (0, active(20, 30, 77)),
                (1, active(31, 35, 77)),
                (1, active(36, 37, 78)),
                (2, tick(0, 10, 77, true)),
                (2, tick(1, 10, 77, true)),
                (2, tick(1, 12, 78, false)),
                (2, active(0, 50, 0)),
            ],
        );
        let flows: Vec<_> = ran.iter().map(|activated| activated.flow).collect();
        assert_eq!(flows, [Some(1), Some(2), None, None], "each has its own");
    }

    #[test]
    fn locks_belong_to_the_activation_that_is_noted_next_and_overlap_nothing() {
        let lock = |since, until| Note::Locked { since, until, waited: 3, nested: 0, leaked: false };
        let mut all = assembler();
        // Stamps are a bit off: the first lock seems to begin before, the second to end inside of the preemption.
        let ran = ready(
            &mut all,
            &[
                (2, lock(9, 20)),
                (2, lock(30, 41)),
                (2, active(10, 60, 0)),
                (2, lock(70, 71)),
                (2, active(65, 80, 0)),
                (1, active(40, 50, 0)),
            ],
        );
        let inside = |a: &Activated| a.inside.iter().map(|inside| (inside.from, inside.to)).collect::<Vec<_>>();
        assert_eq!((inside(&ran[1]), by(&ran[1])), (vec![(10, 20), (30, 41)], vec![(1, 41, 50)]));
        assert_eq!(ran[1].inside[0].section, SectionKind::Locked { waited: 3, nested: 0, leaked: false });
        assert_eq!(inside(&ran[2]), [(70, 71)]);
    }
}
