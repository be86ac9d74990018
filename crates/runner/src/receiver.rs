//! Receives datagrams: each is one activation of the clock that its socket is for, or a tick of it between the steps of its FMU.
//!
//! One thread for all sockets of a run. It sleeps until there is something; the priority and core are the plan's. It
//! * gives each event the time at which the kernel received it, strictly increasing per clock (semantics S3), unless that
//!   time is closed already (see [`Horizon`](super::horizon::Horizon)): then the earliest that is not, counted as retimed;
//! * is the only producer of its clocks' tick queues;
//! * accepts datagrams up to the rates of the rig ([`TokenBucket`]); others, and those outside of the run or beyond the room of a
//!   queue, are counted and not activated;
//! * takes a bounded number of datagrams per second out of each socket, so that a flood costs partitions below it a bounded share
//!   of their core and holds up no event at another socket: the kernel throws away the rest, and counts it;
//! * allocates nothing from its start on, and takes no lock.

use super::run_state::RunState;
use crate::exchange::TickStamp;
use crossbeam::channel::bounded;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;
use vecud_base::time::{Instant, Nanos};
use vecud_linux::clock::real_time_now;
use vecud_linux::datagram::{ControlMessage, DatagramSocket, Poller, Received};
use vecud_linux::{SysError, affinity, memory, process, thread};
use vecud_plan::schedule::{ClockOffset, TokenBucket};
use vecud_plan::{ReceiverPlan, StepClock, UnitId};
use vecud_record::board::{Global, Scheduling, TaskWord};

/// Where the runner finds the socket of the plan's first source of datagrams; the others follow.
pub const FIRST_SOCKET_FD: i32 = 7;

/// Events that a clock accepts at once; as many as its queue of ticks holds.
const BURST: u32 = vecud_plan::schedule::QUEUE as u32;
/// Datagrams per second that are looked at, beyond twice the accepted rate: about one hundredth of a core, shared equally by the
/// sockets.
const LOOKS: f64 = 10_000.0;
/// Looks in a row at one socket.
const LOOKS_AT_ONCE: u32 = 64;
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
    /// Hand over the datagrams that have come up to now, and no more.
    Finish = 2,
    /// Count the datagrams that have come since as discarded, and leave.
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
    /// Starts it if the plan has sources of datagrams. It waits for [`Receiver::receive`].
    pub fn start(run: &'static RunState) -> Result<Option<Receiver>, String> {
        let Some(plan) = run.plan.receiver else { return Ok(None) };
        let place = |error: &dyn std::fmt::Display| format!("thread vecud.receiver: {error}");
        let orders = Arc::new(Orders::default());
        let (listener, bell) = pipe().map_err(|error| place(&error))?;
        let mut sources = Vec::new();
        for (source, fd) in run.plan.datagrams.iter().zip(FIRST_SOCKET_FD..) {
            // A duplicate: a further run will want it again.
            let socket = process::duplicate_of(fd).map_err(|error| format!("{}: no socket: {error}", source.name))?;
            sources.push(Source {
                socket: DatagramSocket::inherited(socket),
                task: source.task,
                clock: source.clock,
                bucket: TokenBucket::new(source.max_rate, BURST),
                looks: TokenBucket::new(2.0 * source.max_rate + LOOKS / run.plan.datagrams.len() as f64, LOOKS_AT_ONCE),
                empty: Nanos(0),
                last: Nanos(i64::MIN),
            });
        }
        // The most urgent first: they are looked at in this order.
        sources.sort_by_key(|source| source.task);
        // Descriptors of their own, so that sources can change while they are watched.
        let mut watched = vec![listener.as_fd().try_clone_to_owned().map_err(|error| place(&error))?];
        for source in &sources {
            watched.push(source.socket.as_fd().try_clone_to_owned().map_err(|error| place(&error))?);
        }
        let body =
            Body { run, orders: Arc::clone(&orders), listener, sources, watched, control: ControlMessage::default() };
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

/// One socket.
struct Source {
    socket: DatagramSocket,
    /// The task that a datagram ticks; with a [clock](Source::clock), the one whose steps the clock ticks between.
    task: UnitId,
    clock: Option<StepClock>,
    bucket: TokenBucket,
    /// How often it is looked at.
    looks: TokenBucket,
    /// When the socket was last seen without a datagram.
    empty: Nanos,
    /// Simulation time of its last event.
    last: Nanos,
}

struct Body {
    run: &'static RunState,
    orders: Arc<Orders>,
    listener: PipeReader,
    sources: Vec<Source>,
    /// The listener's and the sources' descriptors, in their order.
    watched: Vec<OwnedFd>,
    control: ControlMessage,
}

impl Body {
    fn set_up(&self, plan: ReceiverPlan) -> Result<(), SysError> {
        thread::block_signals()?;
        // The thread sleeps until a datagram comes; only its pauses in a flood are longer without this.
        let _only_pauses = thread::minimize_timer_slack();
        memory::prefault_stack(STACK / 2);
        if self.run.scheduling == Scheduling::Fifo {
            // The supervisor sets its priority.
            self.run.board.global(Global::ReceiverTid).store(u64::from(thread::current_tid()), SeqCst);
            return affinity::pin_to(plan.cpu);
        }
        let partitions: Vec<usize> = self.run.plan.units.iter().map(|task| task.cpu).collect();
        // Where partitions cannot be bound to their cores, which was reported, this is impossible, too.
        if self.run.pinned { affinity::keep_off(&partitions) } else { Ok(()) }
    }

    fn run(self) {
        let Body { run, orders, mut listener, mut sources, watched, mut control } = self;
        let mut watched = Poller::new(watched.iter().map(AsFd::as_fd));
        loop {
            let order = Order::from_word(orders.given.load(SeqCst));
            // Every socket is watched but those that have been looked at often enough; the thread pauses until the first of these
            // is due.
            let mut pause: Option<Duration> = None;
            for number in 1..=sources.len() {
                watched.heed(number, order == Order::Receive);
            }
            match order {
                Order::Wait => (),
                Order::Receive => {
                    let offset = clock_offset(run);
                    for (number, source) in sources.iter_mut().enumerate() {
                        if let Some(looks_again) = source.take(run, offset, &mut control, None) {
                            watched.heed(1 + number, false);
                            pause = Some(pause.map_or(looks_again, |pause| pause.min(looks_again)));
                        }
                    }
                }
                Order::Finish | Order::Close => {
                    let now = Nanos(run.now());
                    let offset = clock_offset(run);
                    for source in &mut sources {
                        source.take(run, offset, &mut control, Some((now, order)));
                    }
                    if order == Order::Close {
                        for source in &sources {
                            source.note_dropped(run);
                        }
                    }
                }
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

impl Source {
    /// Takes the waiting datagrams out. `Some`: there may be more, to be looked at after this time.
    ///
    /// At an `end` (since when, and which): only the datagrams that came before it, and all of them.
    fn take(
        &mut self,
        run: &RunState,
        offset: ClockOffset,
        control: &mut ControlMessage,
        end: Option<(Nanos, Order)>,
    ) -> Option<Duration> {
        let mut asked = Nanos(run.now());
        loop {
            if end.is_none() && !self.looks.accept(asked) {
                let pause = self.looks.next().minus(asked).0.max(1);
                return Some(Duration::from_nanos(pause as u64));
            }
            let received = self.socket.receive(control);
            let now = Nanos(run.now());
            match received {
                Received::Datagram(stamp) => {
                    let arrival = offset.arrival(stamp.map(Nanos), self.empty, now);
                    let closed = matches!(end, Some((_, Order::Close)));
                    self.datagram(run, arrival, closed);
                    if end.is_some_and(|(since, _)| arrival > since) {
                        return None;
                    }
                }
                // A socket that cannot be read is not asked more often than one that can.
                Received::Nothing | Received::Failed(_) => {
                    self.empty = asked;
                    return None;
                }
            }
            asked = now;
        }
    }

    /// Handles one datagram: as an event, or counted by the reason why it is none.
    fn datagram(&mut self, run: &RunState, arrival: Nanos, closed: bool) {
        let cells = run.board.task(self.task);
        cells.count_shared(TaskWord::Received, 1);
        let after = run.plan.stop.is_some_and(|stop| arrival >= run.wall(stop));
        // In a pause, or in one that is over by now.
        let paused = arrival < run.since() || run.flowing(arrival).0 > run.held_at();
        if closed || after || paused {
            match self.clock {
                None => cells.count_shared(TaskWord::Discarded, 1),
                Some(_) => run.discard_ticks(self.task, 1),
            }
            return;
        }
        if !self.bucket.accept(arrival) {
            cells.count_shared(TaskWord::RateLimited, 1);
            return;
        }
        let closed_before = run.horizon.enter();
        let mut time = run.simulation(arrival).nanos();
        if time.0 < closed_before {
            time = Nanos(closed_before);
            cells.count_shared(TaskWord::LateEvents, 1);
        }
        self.last = time.max(self.last.plus(Nanos(1)));
        let stamp = TickStamp { time: Instant::from_nanos(self.last), dispatched: arrival, root: None };
        let ticked = match self.clock {
            None => run.tick(self.task, stamp),
            Some(clock) => {
                // The next communication point looks for it.
                let _counted_if_refused = run.tick_between_steps(clock, stamp);
                false
            }
        };
        run.horizon.leave();
        if ticked {
            run.tasks[self.task.0].wake.wake_marked();
        }
    }

    /// Leaves the kernel's count of dropped datagrams to the supervisor, which has watched it so far.
    fn note_dropped(&self, run: &RunState) {
        let known = 1 << 32 | u64::from(self.socket.dropped());
        run.board.task(self.task).word(TaskWord::DroppedAtEnd).store(known, SeqCst);
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
