//! Limits the number of connections; those that are idle, or whose other side takes nothing of its answer, make way for new ones.

use hyper::body::{Body, Frame, SizeHint};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// While all places are taken: the time between two looks for a connection that waits for a request.
const LOOK: Duration = Duration::from_millis(20);
/// The time that a reader may take nothing before its connection makes way: a reader pauses now and then.
const BREATH: Duration = Duration::from_millis(200);

/// The places for connections.
#[derive(Clone)]
pub struct ConnectionLimit {
    free: Arc<Semaphore>,
    taken: Arc<Mutex<BTreeMap<u64, Arc<State>>>>,
}

/// The state of a connection.
struct State {
    /// Time from which on it waits for a request, or for the rest of one; `None`: a request is being answered.
    waits_since: Mutex<Option<Instant>>,
    /// Time from which on the other side takes nothing of an answer; `None`: it takes it.
    stalled_since: Mutex<Option<Instant>>,
    /// A request on it has shown the token.
    has_token: AtomicBool,
    /// Somebody else wants the place.
    is_wanted: Notify,
}

impl State {
    /// Time from which on the connection could make way for another one; `None`: it is at work.
    fn idle_since(&self) -> Option<Instant> {
        let stalled = *lock(&self.stalled_since);
        lock(&self.waits_since).or(stalled.filter(|since| since.elapsed() >= BREATH))
    }
}

/// The place of a connection, which is free again when this is dropped.
pub struct ConnectionPermit {
    number: u64,
    state: Arc<State>,
    places: ConnectionLimit,
    _permit: OwnedSemaphorePermit,
}

/// A request that is being answered.
pub struct Busy(Arc<State>);

/// Somebody else holds it only while a value is copied or replaced.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ConnectionLimit {
    /// Makes this many places, all of them free.
    pub fn new(count: usize) -> ConnectionLimit {
        ConnectionLimit { free: Arc::new(Semaphore::new(count)), taken: Arc::default() }
    }

    /// A place, as soon as there is one: when all are taken, the connection that has waited longest, for a request or for its reader, loses
    /// its own, one that has shown the token last.
    pub async fn take(&self) -> ConnectionPermit {
        let permit = loop {
            if let Ok(permit) = self.free.clone().try_acquire_owned() {
                break permit;
            }
            if let Some(longest) = self.waits_longest() {
                longest.is_wanted.notify_one();
            }
            if let Ok(permit) = tokio::time::timeout(LOOK, self.free.clone().acquire_owned()).await {
                break permit.expect("nobody closes it");
            }
        };
        let state = Arc::new(State {
            waits_since: Mutex::new(Some(Instant::now())),
            stalled_since: Mutex::default(),
            has_token: AtomicBool::new(false),
            is_wanted: Notify::new(),
        });
        let mut taken = lock(&self.taken);
        let number = taken.last_key_value().map_or(0, |(last, _)| last + 1);
        taken.insert(number, state.clone());
        ConnectionPermit { number, state, places: self.clone(), _permit: permit }
    }

    fn waits_longest(&self) -> Option<Arc<State>> {
        let taken = lock(&self.taken);
        let waits = taken.values().filter_map(|state| Some((state.idle_since()?, state)));
        waits.min_by_key(|(since, state)| (state.has_token.load(SeqCst), *since)).map(|(_, state)| state.clone())
    }

    /// Waits until all places are free.
    pub async fn all_free(&self, count: usize) {
        drop(self.free.acquire_many(count as u32).await);
    }
}

impl ConnectionPermit {
    /// A request is being answered, until what is given is dropped.
    pub fn busy(&self) -> Busy {
        *lock(&self.state.waits_since) = None;
        Busy(self.state.clone())
    }

    /// The other side of its connection.
    pub fn peer(&self) -> Peer {
        Peer(self.state.clone())
    }

    /// The body of a request on it that has begun to come.
    pub fn awaited<B>(&self, body: B) -> AwaitedBody<B> {
        AwaitedBody { body, state: self.state.clone(), since: Instant::now() }
    }

    /// Waits until somebody else wants the place while no request is being answered, or nobody takes the answer.
    pub async fn lost(&self) {
        loop {
            self.state.is_wanted.notified().await;
            if self.state.idle_since().is_some() {
                return;
            }
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        lock(&self.places.taken).remove(&self.number);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *lock(&self.0.waits_since) = Some(Instant::now());
    }
}

/// The other side of a connection that has a place.
#[derive(Clone)]
pub struct Peer(Arc<State>);

impl Peer {
    /// The other side has shown the token: other connections make way first.
    pub fn has_token(&self) {
        self.0.has_token.store(true, SeqCst);
    }

    /// The other side takes nothing of an answer since then; `None`: it does.
    pub fn note_stall(&self, since: Option<Instant>) {
        *lock(&self.0.stalled_since) = since;
    }
}

/// The body of a request. While a piece of it is awaited, the connection waits for a request.
pub struct AwaitedBody<B> {
    body: B,
    state: Arc<State>,
    since: Instant,
}

impl<B: Body + Unpin> Body for AwaitedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        *lock(&self.state.waits_since) = frame.is_pending().then_some(self.since);
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_millis(100);

    #[tokio::test]
    async fn who_waits_longest_for_a_request_makes_way_and_nobody_who_is_answered() {
        let places = ConnectionLimit::new(3);
        let (first, second, third) = (places.take().await, places.take().await, places.take().await);
        let busy = first.busy();
        let next = tokio::spawn({
            let places = places.clone();
            async move { places.take().await }
        });
        timeout(SOON, second.lost()).await.expect("it has waited longer than the third one");
        assert!(timeout(SOON, first.lost()).await.is_err());
        drop(second);
        let fourth = timeout(SOON, next).await.expect("there is a place").unwrap();
        // Nobody waits any more: the next one comes in when a request is answered.
        let (_third, _fourth) = (third.busy(), fourth.busy());
        assert!(timeout(SOON, places.take()).await.is_err());
        drop(busy);
        let (lost, taken) = tokio::join!(
            async {
                first.lost().await;
                drop(first);
            },
            timeout(SOON, places.take())
        );
        assert!(taken.is_ok(), "{lost:?}");
    }

    #[tokio::test]
    async fn who_has_shown_the_token_makes_way_last() {
        let places = ConnectionLimit::new(2);
        let (first, second) = (places.take().await, places.take().await);
        first.peer().has_token();
        let _next = tokio::spawn({
            let places = places.clone();
            async move { places.take().await }
        });
        timeout(SOON, second.lost()).await.expect("the first one has the token, however long it waits");
        assert!(timeout(SOON, first.lost()).await.is_err());
    }

    /// A reader that takes nothing of its answer makes way, like a connection that asks for nothing.
    #[tokio::test]
    async fn a_connection_whose_reader_takes_nothing_makes_way_and_one_whose_reader_pauses_does_not() {
        let places = ConnectionLimit::new(1);
        let place = places.take().await;
        let _busy = place.busy();
        let _next = tokio::spawn({
            let places = places.clone();
            async move { places.take().await }
        });
        place.peer().note_stall(Some(Instant::now()));
        assert!(timeout(BREATH / 2, place.lost()).await.is_err());
        timeout(SOON + BREATH, place.lost()).await.expect("it takes nothing");
    }

    /// The connection waits for the rest of a request: since this began, whatever has come of it.
    #[tokio::test]
    async fn a_connection_that_waits_for_a_body_makes_way_and_one_that_has_it_does_not() {
        let (sender, receiver) = tokio::sync::mpsc::channel::<u8>(1);
        let places = ConnectionLimit::new(1);
        let place = places.take().await;
        let _busy = place.busy();
        let mut body = place.awaited(Pieces(receiver));
        let is_lost = async |places: &ConnectionLimit| {
            let next = tokio::spawn({
                let places = places.clone();
                async move { places.take().await }
            });
            let lost = timeout(SOON, place.lost()).await.is_ok();
            next.abort();
            lost
        };
        assert!(!is_lost(&places).await, "it is being answered");
        let mut next =
            async || timeout(SOON, std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context))).await;
        assert!(next().await.is_err());
        assert!(is_lost(&places).await);
        sender.send(0).await.unwrap();
        assert!(next().await.is_ok());
        assert!(!is_lost(&places).await);
    }

    /// A body of pieces without end.
    struct Pieces(tokio::sync::mpsc::Receiver<u8>);

    impl Body for Pieces {
        type Data = hyper::body::Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context,
        ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
            self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(vec![piece].into()))))
        }
    }
}
