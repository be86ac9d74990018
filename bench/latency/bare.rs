//! What the kernel gives to a program that does nothing else: a thread that sleeps until absolute instants, and one that
//! another one wakes. Plain system calls, nothing of vecud's but the histogram and what sets a thread up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::thread::JoinHandle;
use vecud::record::histogram::{Histogram, HistogramWriter, WORDS};
use vecud::sys::{affinity, memory, scheduling, thread};

/// Where a thread runs.
#[derive(Clone, Copy)]
pub struct Place {
    pub cpu: usize,
    pub priority: u8,
}

impl Place {
    fn settle(self) -> Result<(), String> {
        let all = || {
            thread::minimize_timer_slack()?;
            memory::prefault_stack(128 * 1024);
            affinity::pin_to(self.cpu)?;
            scheduling::set_fifo(self.priority)
        };
        all().map_err(|error| error.to_string())
    }
}

/// A running measurement.
pub struct Bare {
    threads: Vec<JoinHandle<Result<(), String>>>,
    stop: Arc<AtomicBool>,
    words: Arc<Vec<AtomicU64>>,
    missed: Arc<AtomicU64>,
}

impl Bare {
    fn new() -> Bare {
        let words = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        Bare { threads: Vec::new(), stop: Arc::default(), words: Arc::new(words), missed: Arc::default() }
    }

    fn spawn(
        &mut self,
        place: Place,
        body: impl FnOnce(&AtomicBool, HistogramWriter) + Send + 'static,
    ) -> Result<(), String> {
        let (stop, words) = (Arc::clone(&self.stop), Arc::clone(&self.words));
        let run = move || {
            place.settle()?;
            body(&stop, HistogramWriter::new(&words));
            Ok(())
        };
        self.threads.push(thread::spawn("bare", 256 * 1024, run).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// From the instant, whole multiples of `period` plus `phase` of CLOCK_MONOTONIC, to the first instruction after it.
    /// Leaves instants out that have passed by then, as clocks with the policy `skip` do.
    pub fn sleeper(place: Place, period: i64, phase: i64) -> Result<Bare, String> {
        let mut bare = Bare::new();
        let missed = Arc::clone(&bare.missed);
        bare.spawn(place, move |stop, latencies| {
            let mut release = (now() / period + 2) * period + phase;
            while !stop.load(Relaxed) {
                sleep_until(release);
                let late = now() - release;
                latencies.record(late);
                let passed = late / period;
                if passed > 0 {
                    missed.fetch_add(passed as u64, Relaxed);
                }
                release += (passed + 1) * period;
            }
        })?;
        Ok(bare)
    }

    /// Instants that a [sleeper](Bare::sleeper) has left out so far.
    pub fn missed(&self) -> u64 {
        self.missed.load(Relaxed)
    }

    /// [`Bare::sleeper`] that sleeps until `ahead` before the instant and then looks at the clock until it has come.
    pub fn poller(place: Place, period: i64, phase: i64, ahead: i64) -> Result<Bare, String> {
        let mut bare = Bare::new();
        bare.spawn(place, move |stop, latencies| {
            let mut release = (now() / period + 2) * period + phase;
            while !stop.load(Relaxed) {
                sleep_until(release - ahead);
                let mut seen = now();
                while seen < release {
                    seen = now();
                }
                latencies.record(seen - release);
                release += period;
            }
        })?;
        Ok(bare)
    }

    /// From just before a thread at `from` wakes one at `to` (with work made visible before) to the other's first instruction.
    pub fn wake(from: Place, to: Place, period: i64, phase: i64) -> Result<Bare, String> {
        let mut bare = Bare::new();
        let shared = Arc::new((AtomicU32::new(0), AtomicI64::new(0)));
        let theirs = Arc::clone(&shared);
        bare.spawn(to, move |_, latencies| {
            for seen in 0.. {
                while theirs.0.load(SeqCst) == seen {
                    futex(&theirs.0, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, seen);
                }
                match theirs.1.load(SeqCst) {
                    0 => return,
                    since => latencies.record(now() - since),
                }
            }
        })?;
        bare.spawn(from, move |stop, _| {
            let mut release = (now() / period + 2) * period + phase;
            let wake = |since| {
                shared.1.store(since, SeqCst);
                shared.0.fetch_add(1, SeqCst);
                futex(&shared.0, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
            };
            while !stop.load(Relaxed) {
                sleep_until(release);
                wake(now());
                release += period;
            }
            wake(0);
        })?;
        Ok(bare)
    }

    /// Ends it.
    pub fn finish(self) -> Result<Histogram, String> {
        self.stop.store(true, SeqCst);
        for thread in self.threads {
            thread.join().map_err(|_| "a bare thread panicked".to_owned())??;
        }
        Ok(HistogramWriter::new(&self.words).read())
    }
}

fn sleep_until(instant: i64) {
    let request = libc::timespec { tv_sec: instant / 1_000_000_000, tv_nsec: instant % 1_000_000_000 };
    // SAFETY: the request outlives the call; an absolute sleep writes nothing back.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &request, std::ptr::null_mut()) };
}

fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) {
    // SAFETY: the word outlives the call; without a timeout there is nothing else to read.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, std::ptr::null::<libc::timespec>()) };
}

pub use vecud::sys::clock::monotonic_now as now;
