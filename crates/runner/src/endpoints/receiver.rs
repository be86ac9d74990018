//! Serves the endpoints of a run, in one thread: each item is one activation of the clock that its endpoint is for, or a tick of it
//! between the steps of its FMU.
//!
//! The thread sleeps until an item comes. Its priority and core are those of the plan. It:
//! * gives each item the time of its arrival, strictly increasing per clock (semantics S3), unless that time is closed already
//!   (see [`Horizon`](crate::horizon::Horizon)): then the earliest that is not, counted as retimed;
//! * is the only producer of its clocks' tick queues;
//! * accepts items up to the rates of the rig; others, and those outside of the run or beyond the room of a queue, are counted and
//!   not activated;
//! * allocates nothing from its start on, and takes no lock.

use super::endpoint::{Endpoint, Look, Opener};
use super::intake::Intake;
use crate::run_state::RunState;
use crossbeam::channel::bounded;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;
use vecud_base::time::Nanos;
use vecud_linux::clock::real_time_now;
use vecud_linux::datagram::Poller;
use vecud_linux::{SysError, affinity, memory, thread};
use vecud_plan::ReceiverPlan;
use vecud_plan::schedule::ClockOffset;
use vecud_record::board::{Global, Scheduling, TaskWord};

/// Where the runner finds the socket of the plan's first endpoint that has one; the others follow.
pub const FIRST_SOCKET_FD: i32 = 7;

const STACK: usize = 128 * 1024;
/// A receiver that does not get to run does not hold up the end of a run for longer.
const PATIENCE: Duration = Duration::from_millis(50);

/// The thread's orders; each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
enum Order {
    /// The start instant is not known yet.
    Wait = 0,
    /// Receive.
    Receive = 1,
    /// Hand over the items that have come up to now, and no more.
    Finish = 2,
    /// Count the items that have come since as discarded, and leave.
    Close = 3,
}

impl Order {
    fn from_word(word: u32) -> Order {
        match word {
            0 => Order::Wait,
            1 => Order::Receive,
            2 => Order::Finish,
            _ => Order::Close,
        }
    }
}

#[derive(Debug, Default)]
struct Orders {
    given: AtomicU32,
    /// The last one that was carried out.
    done: AtomicU32,
}

/// The running thread.
pub struct Receiver {
    orders: Arc<Orders>,
    bell: PipeWriter,
    thread: JoinHandle<()>,
    /// The part of its stack that is touched, and worth being locked.
    pub stack: Range<usize>,
}

impl Receiver {
    /// Starts it if the plan has endpoints for it. It waits for [`Receiver::receive`].
    pub fn start(run: &'static RunState) -> Result<Option<Receiver>, String> {
        let Some(plan) = run.plan.receiver else { return Ok(None) };
        let place = |error: &dyn std::fmt::Display| format!("thread vecud.receiver: {error}");
        let orders = Arc::new(Orders::default());
        let (listener, bell) = pipe().map_err(|error| place(&error))?;
        let (mut served, mut sockets) = (Vec::new(), FIRST_SOCKET_FD..);
        for own in &run.plan.endpoints {
            let opened = own.source.open(Opener { own, plan: &run.plan, sockets: &mut sockets });
            let endpoint = opened.map_err(|problem| format!("{}: {problem}", own.source))?;
            served.push(Served { endpoint, intake: Intake::of(own), watched: None });
        }
        // The most urgent first: they are looked at in this order.
        served.sort_by_key(|own| own.intake.target().unit);
        // Descriptors of their own, so that endpoints can change while they are watched.
        let mut watched = vec![listener.as_fd().try_clone_to_owned().map_err(|error| place(&error))?];
        for own in &mut served {
            let Some(descriptor) = own.endpoint.descriptor() else { continue };
            let descriptor = descriptor.try_clone_to_owned().map_err(|error| place(&error))?;
            own.watched = Some(watched.len());
            watched.push(descriptor);
        }
        let body = Body { run, orders: Arc::clone(&orders), listener, served, watched };
        let (ready, is_ready) = bounded(1);
        let thread = thread::spawn("vecud.receiver", STACK, move || {
            let here = 0_u8;
            let here = (&raw const here).addr();
            let set_up = body.set_up(plan).map(|()| here - STACK / 2..here);
            let failed = set_up.is_err();
            let _ = ready.send(set_up);
            if !failed {
                body.run();
            }
        })
        .map_err(|error| place(&error))?;
        match is_ready.recv() {
            Ok(Ok(stack)) => Ok(Some(Receiver { orders, bell, thread, stack })),
            Ok(Err(error)) => Err(place(&error)),
            Err(_) => Err(place(&"it ended before it was set up")),
        }
    }

    fn order(&self, order: Order) {
        if self.orders.given.fetch_max(order as u32, SeqCst) < order as u32 {
            // A pipe has room for three bytes.
            let _ = (&self.bell).write(&[0]);
        }
    }

    fn has_done(&self, order: Order) -> bool {
        self.orders.done.load(SeqCst) >= order as u32
    }

    /// The start instant is known: events count from there on.
    pub fn receive(&self) {
        self.order(Order::Receive);
    }

    /// The stop time has come: `true` once everything that came before was handed over. To be asked until then.
    pub fn finish(&self) -> bool {
        self.order(Order::Finish);
        self.has_done(Order::Finish)
    }

    /// From now on nothing is handed over, and further datagrams are discarded.
    pub fn close(&self) {
        self.order(Order::Close);
    }

    /// Waits for its end, which takes a moment once it was closed and no partition is in its way any more.
    pub fn join(self) {
        self.close();
        let began = std::time::Instant::now();
        while !self.has_done(Order::Close) && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_micros(100));
        }
        if self.has_done(Order::Close) {
            let _ = self.thread.join();
        }
    }
}

/// One endpoint.
struct Served {
    endpoint: Box<dyn Endpoint>,
    intake: Intake,
    /// Its number among the descriptors that are watched.
    watched: Option<usize>,
}

struct Body {
    run: &'static RunState,
    orders: Arc<Orders>,
    listener: PipeReader,
    /// The endpoints, most urgent first.
    served: Vec<Served>,
    /// The listener's and the endpoints' descriptors, in their order.
    watched: Vec<OwnedFd>,
}

impl Body {
    fn set_up(&self, plan: ReceiverPlan) -> Result<(), SysError> {
        thread::block_signals()?;
        // The thread sleeps until an item comes; only its pauses are longer without this.
        let _only_pauses = thread::minimize_timer_slack();
        memory::prefault_stack(STACK / 2);
        if self.run.scheduling == Scheduling::Fifo {
            // The supervisor sets its priority.
            self.run.board.global(Global::ReceiverTid).store(u64::from(thread::current_tid()), SeqCst);
            return affinity::pin_to(plan.cpu);
        }
        let partitions = self.run.plan.cores();
        // Where partitions cannot be bound to their cores, which was reported, this is impossible, too.
        if self.run.pinned { affinity::keep_off(&partitions) } else { Ok(()) }
    }

    fn run(self) {
        let Body { run, orders, mut listener, mut served, watched } = self;
        let mut watched = Poller::new(watched.iter().map(AsFd::as_fd));
        loop {
            let order = Order::from_word(orders.given.load(SeqCst));
            // Every descriptor is watched but those that have been looked at often enough; the thread pauses until the first of these
            // is due.
            let mut pause: Option<Duration> = None;
            for number in served.iter().filter_map(|own| own.watched) {
                watched.heed(number, order == Order::Receive);
            }
            if order != Order::Wait {
                let end = (order != Order::Receive).then(|| Nanos(run.now()));
                let look = Look { run, offset: clock_offset(run), end };
                for own in &mut served {
                    if order == Order::Close {
                        own.intake.close();
                    }
                    if let (Some(again), None) = (own.endpoint.take(&look, &mut own.intake), end) {
                        own.watched.iter().for_each(|number| watched.heed(*number, false));
                        pause = Some(pause.map_or(again, |pause| pause.min(again)));
                    }
                }
            }
            if order == Order::Close {
                served.iter().for_each(|own| own.note_lost(run));
            }
            orders.done.store(order as u32, SeqCst);
            if order == Order::Close {
                return;
            }
            watched.wait(pause);
            if watched.has(0) {
                let _ = listener.read(&mut [0]);
            }
        }
    }
}

impl Served {
    /// Leaves the count of items that were lost before they were taken to the supervisor, which has watched it so far.
    fn note_lost(&self, run: &RunState) {
        let known = 1 << 32 | u64::from(self.endpoint.lost());
        run.board.task(self.intake.target().unit).word(TaskWord::DroppedAtEnd).store(known, SeqCst);
    }
}

fn clock_offset(run: &RunState) -> ClockOffset {
    let look = |_| {
        let before = Nanos(run.now());
        let realtime = Nanos(real_time_now());
        ClockOffset::between(before, realtime, Nanos(run.now()))
    };
    ClockOffset::best((0..3).map(look)).expect("three looks")
}
