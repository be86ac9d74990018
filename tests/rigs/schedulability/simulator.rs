//! A machine of whole units of time: preemptive fixed priorities, the preemption lock, turns that are handed on, threads that wake
//! late, ticks from task to task. It knows nothing of the analysis but the numbers of its tasks.

use super::program::Random;
use vecud::plan::schedulability::{ArrivalPattern, Arrivals, Task};

/// What chance decides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// Nothing: all begin at once, are punctual and take as long as they may.
    CriticalInstant,
    /// First instants, delays, executions, where sections and ticks lie, and who goes first among equals.
    Everything,
}

struct Job {
    released: i128,
    ready: i128,
    /// What it needs, and has had.
    execution: i128,
    done: i128,
    /// Where its locked section begins and ends, in its own time.
    section: (i128, i128),
    /// Where it ticks those that it causes, in its own time.
    ticks_at: i128,
    /// It has passed the gate.
    inside: bool,
    /// Among equals, the smaller one first.
    turn: i128,
}

/// The worst response of each task that has ended within `time`.
pub fn worst_responses(tasks: &[Task], time: i128, chance: Chance, random: &mut Random) -> Vec<i128> {
    let turns = tasks.iter().filter_map(|task| task.turn).map(|turn| (turn, Turn::default())).collect();
    let mut machine = Machine { tasks, chance, random, jobs: tasks.iter().map(|_| Vec::new()).collect(), turns };
    let mut releases: Vec<Vec<i128>> = tasks.iter().map(|task| machine.instants(task, time)).collect();
    releases.iter_mut().for_each(|times| times.reverse());
    let mut worst = vec![0; tasks.len()];
    let cores: std::collections::BTreeSet<usize> = tasks.iter().map(|task| task.core).collect();
    for now in 0..time {
        for (task, times) in releases.iter_mut().enumerate() {
            while times.last().is_some_and(|time| *time <= now) {
                let released = times.pop().unwrap();
                machine.release(task, released, released);
            }
        }
        for core in &cores {
            let Some(mut task) = machine.chosen(*core, now) else { continue };
            if !machine.jobs[task][0].inside && machine.help(task, now) {
                task = machine.chosen(*core, now).unwrap();
            }
            machine.begin(task);
            let job = &mut machine.jobs[task][0];
            job.done += 1;
            let (done, section, ticks_at) = (job.done, job.section, job.ticks_at);
            let in_section = section.0 < done && done < section.1;
            if done == ticks_at {
                // What is ticked inside of a section is woken at its end.
                machine.tick(task, now + 1, if in_section { i128::MAX } else { now + 1 });
            }
            if done == section.1 {
                machine.wake_ticked_by(task, now + 1);
            }
            if done == machine.jobs[task][0].execution {
                let job = machine.jobs[task].remove(0);
                machine.hand_on(task);
                worst[task] = worst[task].max(now + 1 - job.released);
            }
        }
    }
    worst
}

/// Whose turn it is.
#[derive(Default)]
struct Turn {
    owner: Option<usize>,
    /// Tasks that wait for it.
    waiting: std::collections::BTreeSet<usize>,
}

struct Machine<'a> {
    tasks: &'a [Task],
    chance: Chance,
    random: &'a mut Random,
    /// By task, those that are not done, oldest first.
    jobs: Vec<Vec<Job>>,
    turns: std::collections::BTreeMap<usize, Turn>,
}

impl Machine<'_> {
    fn drawn(&mut self, low: i128, high: i128, worst: i128) -> i128 {
        if self.chance == Chance::CriticalInstant { worst } else { self.random.between(low, high) }
    }

    fn instants(&mut self, task: &Task, time: i128) -> Vec<i128> {
        match &task.arrivals {
            Arrivals::Own(ArrivalPattern::Grid { interval, jitter }) => {
                let offset = self.drawn(0, interval - 1, 0);
                let eager = self.drawn(0, 2, 0);
                let mut times: Vec<i128> = Vec::new();
                for k in 0.. {
                    let nominal = offset + k * interval;
                    if nominal > time {
                        break;
                    }
                    // Delays of all sizes; now and then all of it, then none, which is a burst.
                    let late = match eager {
                        0 => self.drawn(0, *jitter, 0),
                        _ => (jitter - k * interval).max(0),
                    };
                    times.push(nominal + late);
                }
                times.sort_unstable();
                times
            }
            Arrivals::Own(ArrivalPattern::Times(times)) => {
                let offset = self.drawn(0, 20, 0);
                times.iter().map(|time| time + offset).collect()
            }
            Arrivals::By(_) => Vec::new(),
        }
    }

    /// `woken`: when somebody wakes the thread; not yet known for what is ticked inside of a section.
    fn release(&mut self, task: usize, released: i128, woken: i128) {
        let own = &self.tasks[task];
        let (execution_limit, section_limit, wake_limit) = (own.execution, own.section, own.wake);
        let execution = match self.drawn(0, 3, 1) {
            0 => self.drawn(1, execution_limit, execution_limit),
            _ => execution_limit,
        };
        let length = section_limit.min(execution);
        let begin = self.drawn(0, execution - length, 0);
        let ticks_at = self.drawn(1, execution, execution);
        let wake = match self.drawn(0, 2, 0) {
            0 => self.drawn(0, wake_limit, 0),
            1 => 0,
            _ => wake_limit,
        };
        let turn = self.drawn(0, 1000, 0);
        self.jobs[task].push(Job {
            released,
            ready: woken.saturating_add(wake),
            execution,
            done: 0,
            section: (begin, begin + length),
            ticks_at,
            inside: false,
            turn,
        });
    }

    fn tick(&mut self, by: usize, now: i128, woken: i128) {
        for task in 0..self.tasks.len() {
            if matches!(&self.tasks[task].arrivals, Arrivals::By(causes) if causes.contains(&by)) {
                self.release(task, now, woken);
            }
        }
    }

    fn wake_ticked_by(&mut self, by: usize, now: i128) {
        for task in 0..self.tasks.len() {
            if matches!(&self.tasks[task].arrivals, Arrivals::By(causes) if causes.contains(&by)) {
                let wake = self.tasks[task].wake;
                self.jobs[task].iter_mut().filter(|job| job.ready == i128::MAX).for_each(|job| job.ready = now + wake);
            }
        }
    }

    /// Whoever starts wakes those first that are more urgent and were ticked.
    fn help(&mut self, starts: usize, now: i128) -> bool {
        let (core, urgency) = (self.tasks[starts].core, self.tasks[starts].urgency);
        let mut helped = false;
        for task in 0..self.tasks.len() {
            if self.tasks[task].core != core || self.tasks[task].urgency <= urgency {
                continue;
            }
            for job in 0..self.jobs[task].len() {
                if self.jobs[task][job].ready == i128::MAX {
                    self.jobs[task][job].ready = now + self.drawn(0, self.tasks[task].wake, 0);
                    helped = true;
                }
            }
        }
        helped
    }

    /// Its activation begins, if it has not yet.
    fn begin(&mut self, task: usize) {
        self.jobs[task][0].inside = true;
        if let Some(turn) = self.tasks[task].turn {
            self.turns.get_mut(&turn).unwrap().owner = Some(task);
        }
    }

    /// Its activation has ended: the most urgent one that waits has the turn from now on, whether it runs or not.
    fn hand_on(&mut self, task: usize) {
        let Some(turn) = self.tasks[task].turn else { return };
        let turn = self.turns.get_mut(&turn).unwrap();
        turn.owner = turn.waiting.iter().copied().max_by_key(|other| self.tasks[*other].urgency);
        turn.owner.iter().for_each(|owner| _ = turn.waiting.remove(owner));
    }

    /// The task that runs next on a core: the owner of the turn that the first one waits for, with the priority of that one.
    fn chosen(&mut self, core: usize, now: i128) -> Option<usize> {
        let wanted = self.first(core, now)?;
        let turn = self.tasks[wanted].turn.and_then(|turn| self.turns.get_mut(&turn));
        match turn {
            Some(Turn { owner: Some(owner), waiting }) if *owner != wanted => {
                waiting.insert(wanted);
                Some(*owner)
            }
            _ => Some(wanted),
        }
    }

    /// The first task of a core, turns aside.
    fn first(&self, core: usize, now: i128) -> Option<usize> {
        // An activation waits for the one before it.
        let ready = |task: &usize| {
            self.tasks[*task].core == core && self.jobs[*task].first().is_some_and(|job| job.ready <= now)
        };
        let first = |task: &usize| {
            let job = &self.jobs[*task][0];
            (std::cmp::Reverse(self.tasks[*task].urgency), !job.inside, self.tasks[*task].level, job.turn, job.ready)
        };
        let wanted = (0..self.tasks.len()).filter(ready).min_by_key(first)?;
        let job = &self.jobs[wanted][0];
        if job.inside {
            return Some(wanted);
        }
        // At the gate: whoever is inside of a section of the instance goes on, with the priority of this one; else an
        // activation of the same level that has begun.
        let mates = || {
            (0..self.tasks.len()).filter(|other| {
                *other != wanted
                    && self.tasks[*other].instance == self.tasks[wanted].instance
                    && self.jobs[*other].first().is_some_and(|job| job.inside)
            })
        };
        let in_section = |task: &usize| {
            let job = &self.jobs[*task][0];
            job.section.0 < job.done && job.done < job.section.1
        };
        let equal = |task: &usize| self.tasks[*task].urgency == self.tasks[wanted].urgency;
        mates().find(in_section).or_else(|| mates().find(equal)).or(Some(wanted))
    }
}
