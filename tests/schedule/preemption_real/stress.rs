//! Two instances in one priority band on one core: periodic and triggered partitions, equal priorities, ticks with and
//! without the lock held, FMU code that sleeps; and a checker that sees what the FMU would see.

use crate::preemption_real::mechanism::{Kind, Mechanism, Member};
use nix::sys::resource::{UsageWho, getrusage};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use vecud::sys::cycles::ticks;
use vecud::sys::preemption::LockCounts;
use vecud::sys::wake::{WakeWord, monotonic_now};
use vecud::sys::{affinity, scheduling, thread};

/// Level and "is the target of ticks" of each thread of an instance.
const THREADS: [(usize, bool); 8] =
    [(0, true), (1, false), (2, false), (2, false), (3, false), (3, false), (4, false), (5, true)];
const LEVELS: usize = 6;
/// What lengths are drawn in, ns. Short enough for a million activations in a minute, long against what a start costs.
const UNIT: i64 = 200;
/// The priority of the first instance's highest level; two priorities per level, one for each instance.
pub const TOP: u8 = 60;

/// Sections are numbers whose lowest bits tell the thread.
const MARK_BITS: u32 = 8;

#[derive(Default)]
struct Seat {
    /// 0: idle; 1: a tick is queued; 2: running for it.
    queue: AtomicU32,
    wake: WakeWord,
    active: AtomicBool,
    /// When it started.
    since: AtomicU64,
}

struct Instance {
    mechanism: Mechanism,
    seats: [Seat; THREADS.len()],
    /// The locked section that somebody is inside of, 0: none.
    inside: AtomicU64,
    found: Arc<Found>,
    stop: Arc<AtomicBool>,
}

/// What the checker has counted.
#[derive(Default, Debug)]
pub struct Found {
    pub activations: AtomicU64,
    pub starts_inside_section: AtomicU64,
    pub two_inside_section: AtomicU64,
    pub goes_on_inside_section: AtomicU64,
    /// Going on inside of a section whose thread the kernel had put to sleep: no violation, since nobody can prevent it.
    pub goes_on_inside_sleeper: AtomicU64,
    pub interleaves_with_equal: AtomicU64,
    pub starts_inside_higher: AtomicU64,
    pub starts_before_higher_target: AtomicU64,
    pub ticks: AtomicU64,
    pub contended: AtomicU64,
    pub raised: AtomicU64,
    pub raise_refused: AtomicU64,
}

impl Found {
    pub fn violations(&self) -> u64 {
        [
            &self.starts_inside_section,
            &self.two_inside_section,
            &self.goes_on_inside_section,
            &self.interleaves_with_equal,
            &self.starts_inside_higher,
            &self.starts_before_higher_target,
        ]
        .iter()
        .map(|count| count.load(SeqCst))
        .sum()
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = [
            (&self.starts_inside_section, "starts inside a locked section"),
            (&self.two_inside_section, "holders of one lock"),
            (&self.goes_on_inside_section, "going on inside a locked section"),
            (
                &self.goes_on_inside_sleeper,
                "going on inside a locked section whose thread slept for the kernel (excused)",
            ),
            (&self.interleaves_with_equal, "interleavings of equals"),
            (&self.starts_inside_higher, "starts inside a higher one"),
            (&self.starts_before_higher_target, "starts before a higher one that was ticked"),
        ];
        let seen = what.iter().map(|(count, what)| (count.load(SeqCst), what)).filter(|(count, _)| *count > 0);
        let seen: Vec<String> = seen.map(|(count, what)| format!("{count} {what}")).collect();
        let seen = if seen.is_empty() { "no violation".to_owned() } else { seen.join(", ") };
        write!(f, "{seen} in {} activations", self.activations.load(SeqCst))
    }
}

/// Runs until `enough` says so, at most for `limit`.
pub fn run(kind: Kind, seed: u32, sleeps: bool, limit: Duration, enough: impl Fn(&Found) -> bool) -> Arc<Found> {
    let found = Arc::new(Found::default());
    let stop = Arc::new(AtomicBool::new(false));
    let ready = Arc::new(Barrier::new(2 * THREADS.len()));
    let cpu = *affinity::allowed_cpus().unwrap().last().unwrap();
    let mut threads = Vec::new();
    for number in 0..2_u8 {
        let instance = Arc::new(Instance {
            mechanism: Mechanism::new(kind, LEVELS, TOP - number),
            seats: Default::default(),
            inside: AtomicU64::new(0),
            found: Arc::clone(&found),
            stop: Arc::clone(&stop),
        });
        for (id, (level, _)) in THREADS.into_iter().enumerate() {
            let instance = Arc::clone(&instance);
            let ready = Arc::clone(&ready);
            let priority = TOP - 2 * level as u8 - number;
            let name = format!("stress{number}.{id}");
            let body = move || {
                affinity::pin_to(cpu).unwrap();
                thread::minimize_timer_slack().unwrap();
                ready.wait();
                scheduling::set_fifo(priority).unwrap();
                let random = seed.wrapping_mul(7919).wrapping_add(id as u32 * 104_729 + u32::from(number) * 7);
                let me = Member::new(level, priority);
                let mark = 1 + id as u64 + u64::from(number) * THREADS.len() as u64;
                let [seen, slept] = [(); 2].map(|()| Vec::with_capacity(64));
                let mut code = Code { me, id, instance: &instance, random, sleeps, section: 0, mark, seen, slept };
                code.cycle();
                (code.me.counts(), code.seen, code.slept)
            };
            threads.push(thread::spawn(&name, 256 * 1024, body).unwrap());
        }
    }
    let end = std::time::Instant::now() + limit;
    while std::time::Instant::now() < end && !enough(&found) {
        std::thread::sleep(Duration::from_millis(50));
    }
    stop.store(true, SeqCst);
    let (mut all_seen, mut all_slept) = (Vec::new(), Vec::new());
    for thread in threads {
        let (counts, seen, slept): (LockCounts, Vec<u64>, Vec<u64>) = thread.join().unwrap();
        found.contended.fetch_add(counts.contended, SeqCst);
        found.raised.fetch_add(counts.raised, SeqCst);
        found.raise_refused.fetch_add(counts.raise_refused, SeqCst);
        all_seen.extend(seen);
        all_slept.extend(slept);
    }
    let (excused, wrong): (Vec<u64>, Vec<u64>) = all_seen.into_iter().partition(|section| all_slept.contains(section));
    found.goes_on_inside_sleeper.fetch_add(excused.len() as u64, SeqCst);
    found.goes_on_inside_section.fetch_add(wrong.len() as u64, SeqCst);
    found
}

/// One thread with its FMU code.
struct Code<'a> {
    me: Member,
    id: usize,
    instance: &'a Instance,
    random: u32,
    sleeps: bool,
    /// Its next section: no two of a run are the same.
    section: u64,
    /// What distinguishes it from all threads: the lowest bits of its sections.
    mark: u64,
    /// Sections of others that this one has gone on inside of.
    seen: Vec<u64>,
    /// Own sections in which the kernel has put this thread to sleep.
    slept: Vec<u64>,
}

impl Code<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.random >> 8) % bound
    }

    fn cycle(&mut self) {
        let (level, is_target) = THREADS[self.id];
        let seat = &self.instance.seats[self.id];
        let mut release = monotonic_now() + 20_000_000;
        while !self.instance.stop.load(SeqCst) {
            if is_target {
                let seen = seat.wake.value();
                if seat.queue.load(SeqCst) == 0 {
                    seat.wake.wait_until(seen, Some(monotonic_now() + 20_000_000));
                    continue;
                }
            } else {
                release += i64::from(300 + self.below(2500 + level as u32 * 600)) * UNIT;
                seat.wake.wait_until(seat.wake.value(), Some(release));
            }
            let mut looked = 0;
            self.instance.mechanism.enter(&self.me, || {
                looked = ticks();
                self.help();
            });
            if is_target {
                seat.queue.store(2, SeqCst);
            }
            self.activate(looked);
            self.instance.mechanism.leave(&self.me);
            if is_target {
                seat.queue.store(0, SeqCst);
            }
            release = release.max(monotonic_now());
        }
    }

    /// Wakes the higher targets that wait.
    fn help(&self) {
        for (id, (level, is_target)) in THREADS.into_iter().enumerate() {
            let seat = &self.instance.seats[id];
            if is_target && level < THREADS[self.id].0 && seat.queue.load(SeqCst) == 1 {
                seat.wake.wake();
            }
        }
    }

    fn activate(&mut self, looked: u64) {
        self.judge_start(looked);
        let seat = &self.instance.seats[self.id];
        seat.since.store(ticks(), SeqCst);
        seat.active.store(true, SeqCst);
        let sections = self.below(4);
        let length = self.below(60);
        self.burn(length);
        for _ in 0..sections {
            self.section();
            let length = self.below(30);
            self.burn(length);
            if self.below(6) == 0 {
                self.tick();
            }
            if self.sleeps && self.below(40) == 0 {
                let nanos = 5_000 + self.below(60_000);
                std::thread::sleep(Duration::from_nanos(nanos.into()));
                self.burn(20);
            }
        }
        seat.active.store(false, SeqCst);
    }

    fn section(&mut self) {
        let Instance { mechanism, inside, found, .. } = self.instance;
        mechanism.lock(&self.me);
        self.section += 1 << MARK_BITS;
        let own = self.section | self.mark;
        if inside.swap(own, SeqCst) != 0 {
            found.two_inside_section.fetch_add(1, SeqCst);
        }
        let sleeps = times_asleep();
        let length = 5 + self.below(60);
        self.burn(length);
        let ticks = self.below(8) == 0;
        if ticks {
            self.tick();
        }
        inside.store(0, SeqCst);
        // A page that another thread's `fork` has made read-only, say: the lock cannot keep others from going on then.
        if times_asleep() != sleeps {
            self.slept.push(own);
        }
        mechanism.unlock(&self.me);
        if ticks {
            self.wake_targets();
        }
    }

    /// The callback of an FMU whose output clock ticks: marks the targets under the lock, wakes them after it.
    fn tick(&mut self) {
        if THREADS[self.id].1 {
            return;
        }
        let mechanism = &self.instance.mechanism;
        mechanism.lock(&self.me);
        for (id, (_, is_target)) in THREADS.into_iter().enumerate() {
            let queue = &self.instance.seats[id].queue;
            if is_target && queue.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
                self.instance.found.ticks.fetch_add(1, SeqCst);
            }
        }
        if mechanism.unlock(&self.me) {
            self.wake_targets();
        }
    }

    fn wake_targets(&self) {
        for seat in &self.instance.seats {
            if seat.queue.load(SeqCst) == 1 {
                seat.wake.wake();
            }
        }
    }

    fn judge_start(&self, looked: u64) {
        let Instance { seats, inside, found, .. } = self.instance;
        found.activations.fetch_add(1, SeqCst);
        if inside.load(SeqCst) != 0 {
            found.starts_inside_section.fetch_add(1, SeqCst);
        }
        let my_level = THREADS[self.id].0;
        for (id, seat) in seats.iter().enumerate().filter(|(id, _)| *id != self.id) {
            let (level, is_target) = THREADS[id];
            if seat.active.load(SeqCst) && level == my_level {
                found.interleaves_with_equal.fetch_add(1, SeqCst);
            }
            // A higher one that started since the entry's look preempted this one on its first instructions.
            if seat.active.load(SeqCst) && level < my_level && seat.since.load(SeqCst) < looked {
                found.starts_inside_higher.fetch_add(1, SeqCst);
            }
            // At the end targets leave without serving their last tick.
            let waits = seat.queue.load(SeqCst) == 1 && !self.instance.stop.load(SeqCst);
            if is_target && level < my_level && waits {
                found.starts_before_higher_target.fetch_add(1, SeqCst);
            }
        }
    }

    /// Uses processor time and watches that nobody else is inside a section meanwhile.
    fn burn(&mut self, units: u32) {
        let end = processor_time() + i64::from(units) * UNIT;
        let mut others = None;
        loop {
            let inside = self.instance.inside.load(SeqCst);
            if inside != 0 && inside % (1 << MARK_BITS) != self.mark {
                others = others.or(Some(inside));
            }
            if processor_time() >= end {
                break;
            }
        }
        self.seen.extend(others);
    }
}

/// How often this thread has given its core away to wait for something.
fn times_asleep() -> i64 {
    getrusage(UsageWho::RUSAGE_THREAD).unwrap().voluntary_context_switches()
}

fn processor_time() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
