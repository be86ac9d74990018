//! Which tests have the cores of partitions at the same time, and when a test in real time is repeated.
//!
//! Most rigs in real time sleep nearly all of the time, and what their tests look at is order and counts: many of them fit on one
//! core. So a test says what it needs:
//!
//! | permit | for | beside it run |
//! |---|---|---|
//! | [`own_core`] | rigs that need a core for themselves, or keep other rigs from it | tests without a permit |
//! | [`shared_core`] | rigs that count | others of the kind, tests without a permit |
//! | none | virtual time, or no rig at all | all |
//!
//! Tests with a permit come first where processor time is short, if this user may say so. Programs that run at the same time take
//! turns.
//!
//! A test that fails on a shared core, beside other rigs, has shown nothing: it has to pass on a core of its own, and says so.
//! Nor has one that fails while the machine stood still (`stalls.rs`): it is repeated. One that fails alone, while the machine was
//! there, fails. Without real-time privileges nobody can look, and a test has to pass once.

use super::stalls::{self, Watch};
use nix::fcntl::{Flock, FlockArg};
use std::any::Any;
use std::cell::Cell;
use std::fs::File;
use std::io::Write as _;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use vecud::sys::wake::monotonic_now;

/// How often a test is begun.
const TRIALS: u32 = 10;
/// So many tests that want a core of their own wait before those on a shared core give way to all of them.
const BATCH: usize = 4;
/// Nice value of tests with a permit, and of the programs that they start.
const NICE: i32 = -10;

/// Runs a test in real time whose rigs only count.
pub fn shared_core<T: Send>(test: impl Fn() -> T + Sync) -> T {
    trials(Use::Shared, test)
}

/// Runs a test in real time whose rigs need a core for themselves, or keep others from it.
pub fn own_core<T: Send>(test: impl Fn() -> T + Sync) -> T {
    trials(Use::Own, test)
}

/// The cores for a test alone, as long as this is held, without any repetition: what it finds must not be there on any machine.
pub struct Alone(#[expect(dead_code, reason = "it is held")] Permit);

impl Alone {
    pub fn take() -> Alone {
        Alone(Permit::take(Use::Own))
    }
}

thread_local! {
    /// The permit of this thread's test.
    static PERMITTED: Cell<Option<Use>> = const { Cell::new(None) };
}

/// Whether the test of this thread has a permit.
pub fn is_permitted() -> bool {
    PERMITTED.get().is_some()
}

/// Whether it is one for a core of its own.
pub fn has_own_core() -> bool {
    PERMITTED.get() == Some(Use::Own)
}

fn trials<T: Send>(mut wanted: Use, test: impl Fn() -> T + Sync) -> T {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    for trial in 1.. {
        let permit = Permit::take(wanted);
        let began = monotonic_now();
        let panic = match apart(&name, wanted, &test) {
            Ok(result) => return result,
            Err(panic) => panic,
        };
        let why = match (permit.has_met_others(), stalls::longest_since(began)) {
            (true, _) => "other rigs ran beside it".to_owned(),
            (false, Ok(None)) => resume_unwind(panic),
            (false, Ok(Some(stall))) => format!("the machine stopped for {:.1} ms", stall as f64 / 1e6),
            (false, Err(stalls::Unseen)) => "there are no privileges to see whether the machine stopped".to_owned(),
        };
        if trial == TRIALS {
            resume_unwind(panic);
        }
        // Past the test harness, which would keep it to itself.
        let failure = first_line(&*panic);
        let _ = writeln!(
            std::io::stderr(),
            "REPEATED: {name}: {why} (trial {trial} of {TRIALS}), and it failed: {failure}"
        );
        wanted = Use::Own;
    }
    unreachable!("the last trial returns or panics")
}

/// First line of a panic's message, up to 160 characters.
fn first_line(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    message.and_then(|message| message.lines().next()).unwrap_or("without words").chars().take(160).collect()
}

/// Runs a test in a thread of its own: some tests bind theirs to a core, and a repetition begins without that.
fn apart<T: Send>(name: &str, permitted: Use, test: &(impl Fn() -> T + Sync)) -> std::thread::Result<T> {
    std::thread::scope(|scope| {
        let prior = || {
            // SAFETY: takes three numbers; of Linux it is the calling thread's value. Where it is refused, all share alike.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
            PERMITTED.set(Some(permitted));
            test()
        };
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn_scoped(scope, prior)
            .expect("a thread for the test")
            .join()
    })
}

/// How a test uses the core of its rigs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Shared,
    Own,
}

/// Who has the cores, among the tests of this program.
struct Cores {
    /// Tests on a shared core that are under way, and how many there have been.
    shared: usize,
    begun: usize,
    /// Whether a test has a core of its own, and how many wait for one.
    own: bool,
    waiting: usize,
    /// Whether those that wait for a core of their own are served, one after the other.
    own_turn: bool,
    /// Held while a test of this program is under way or waits.
    among_programs: Option<Flock<File>>,
}

static CORES: Mutex<Cores> =
    Mutex::new(Cores { shared: 0, begun: 0, own: false, waiting: 0, own_turn: false, among_programs: None });
static CHANGED: Condvar = Condvar::new();

fn cores() -> MutexGuard<'static, Cores> {
    CORES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cores {
    /// Keeps or gives up what this program has among others, and says whose turn it is.
    fn settle(&mut self) {
        if self.waiting == 0 {
            self.own_turn = false;
        } else if self.waiting >= BATCH || self.shared == 0 {
            self.own_turn = true;
        }
        let is_idle = self.shared == 0 && !self.own && self.waiting == 0;
        if is_idle {
            self.among_programs = None;
        } else if self.among_programs.is_none() {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cores.lock");
            let file = File::open(&file).or_else(|_| File::create(&file)).expect("a file that says who has the cores");
            self.among_programs = Some(Flock::lock(file, FlockArg::LockExclusive).expect("a turn among programs"));
        }
        CHANGED.notify_all();
    }
}

/// The right to use the cores, given back when it is dropped.
struct Permit {
    used: Use,
    /// How many tests on a shared core had begun before, and whether one was under way.
    before: usize,
    was_crowded: bool,
    _watch: Watch,
}

impl Permit {
    fn take(used: Use) -> Permit {
        let mut cores = cores();
        if used == Use::Own {
            cores.waiting += 1;
            cores.settle();
        }
        let must_wait = |cores: &mut Cores| match used {
            Use::Shared => cores.own || cores.own_turn,
            Use::Own => cores.own || cores.shared > 0 || !cores.own_turn,
        };
        let mut cores = CHANGED.wait_while(cores, must_wait).unwrap_or_else(PoisonError::into_inner);
        let was_crowded = cores.shared > 0;
        match used {
            Use::Shared => (cores.shared, cores.begun) = (cores.shared + 1, cores.begun + 1),
            Use::Own => (cores.own, cores.waiting) = (true, cores.waiting - 1),
        }
        cores.settle();
        Permit { used, before: cores.begun, was_crowded, _watch: Watch::begin() }
    }

    /// Whether a rig of another test was there at some time.
    fn has_met_others(&self) -> bool {
        self.used == Use::Shared && (self.was_crowded || cores().begun > self.before)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut cores = cores();
        match self.used {
            Use::Shared => cores.shared -= 1,
            Use::Own => cores.own = false,
        }
        cores.settle();
    }
}
