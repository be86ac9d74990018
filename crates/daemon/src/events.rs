//! Events of rigs, as streams for listeners.
//!
//! Guarantees: the daemon waits for no reader. Messages without room are lost to their reader, who is told their number; a stream
//! ends with the daemon; the number of streams is limited.

use super::name::RigName;
use serde::Serialize;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch};

/// Streams at a time, of all rigs.
pub const STREAMS: usize = 32;
/// Lines that are said of a rig and wait for the tasks that hand them to streams.
pub const MESSAGES: usize = 256;
/// Events that may wait for a reader.
const MAX_WAITING_EVENTS: usize = 64;
/// Bytes of all waiting events together; a longer event waits alone.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// Figures that are younger are told to several streams: it takes a while to collect them.
const FRESH: Duration = Duration::from_millis(500);

/// The streams of the daemon.
pub struct Streams {
    permits: Arc<Semaphore>,
    /// The part of the streams for readers without the token.
    of_strangers: Arc<Semaphore>,
    ended: watch::Sender<bool>,
    /// The last figures of each rig with a stream, as JSON, and the time at which they were collected.
    figures: Mutex<BTreeMap<RigName, (Instant, Arc<str>)>>,
}

/// The right to have a stream, until this is dropped.
pub struct StreamPermit {
    _one: OwnedSemaphorePermit,
    _of_strangers: Option<OwnedSemaphorePermit>,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            permits: Arc::new(Semaphore::new(STREAMS)),
            of_strangers: Arc::new(Semaphore::new(STREAMS / 2)),
            ended: watch::Sender::new(false),
            figures: Mutex::default(),
        }
    }
}

impl Streams {
    /// The right to have one; `None`: there are as many as there may be, of strangers half as many.
    pub fn permit(&self, is_stranger: bool) -> Option<StreamPermit> {
        let own = is_stranger.then(|| self.of_strangers.clone().try_acquire_owned()).transpose().ok()?;
        Some(StreamPermit { _one: self.permits.clone().try_acquire_owned().ok()?, _of_strangers: own })
    }

    /// A receiver that tells when all streams are to end.
    pub fn ended(&self) -> watch::Receiver<bool> {
        self.ended.subscribe()
    }

    /// The figures of a rig as JSON: those that `collect` gives on a thread where nobody waits for it, or of a moment before.
    pub async fn figures(&self, rig: &RigName, collect: impl FnOnce() -> String + Send + 'static) -> Option<Arc<str>> {
        // Streams that ask meanwhile wait, those of the same rig for the same figures: collecting takes no longer than a look at shared memory.
        let mut all = self.figures.lock().await;
        if let Some((_, figures)) = all.get(rig).filter(|(since, _)| since.elapsed() < FRESH) {
            return Some(figures.clone());
        }
        let figures: Arc<str> = tokio::task::spawn_blocking(collect).await.ok()?.into();
        all.insert(rig.clone(), (Instant::now(), figures.clone()));
        Some(figures)
    }

    /// Ends all streams.
    pub fn end(&self) {
        self.ended.send_replace(true);
    }
}

/// An event: what it is called, and its data as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerEvent {
    /// `state`, `problem`, `figures`, `signals` or `lost`.
    pub name: &'static str,
    /// JSON in one line.
    pub data: Arc<str>,
}

/// Number of events that were lost because the reader was too slow.
#[derive(Serialize)]
struct Lost {
    events: u64,
}

/// Source of the events of one stream.
pub struct EventSender {
    sender: mpsc::Sender<(ServerEvent, OwnedSemaphorePermit)>,
    /// Bytes that more events have.
    room: Arc<Semaphore>,
    lost: u64,
}

fn json(data: &impl Serialize) -> Arc<str> {
    serde_json::to_string(data).expect("strings, numbers and lists").into()
}

/// The events of one stream.
pub struct Events(mpsc::Receiver<(ServerEvent, OwnedSemaphorePermit)>);

/// A stream, and where its events come from.
pub fn stream() -> (EventSender, Events) {
    let (sender, receiver) = mpsc::channel(MAX_WAITING_EVENTS);
    (EventSender { sender, room: Arc::new(Semaphore::new(MAX_WAITING_BYTES)), lost: 0 }, Events(receiver))
}

impl EventSender {
    /// Tells an event, if there is room for it.
    pub fn tell(&mut self, name: &'static str, data: &impl Serialize) {
        self.tell_json(name, json(data));
    }

    /// Tells an event whose data is this JSON, if there is room for it.
    pub fn tell_json(&mut self, name: &'static str, data: Arc<str>) {
        if self.lost > 0 {
            match self.send("lost", json(&Lost { events: self.lost })) {
                true => self.lost = 0,
                false => return self.lost += 1,
            }
        }
        if !self.send(name, data) {
            self.lost += 1;
        }
    }

    /// Whether there was room for an event, or nobody reads any more.
    fn send(&self, name: &'static str, data: Arc<str>) -> bool {
        let length = data.len().min(MAX_WAITING_BYTES) as u32;
        let Ok(room) = self.room.clone().try_acquire_many_owned(length) else { return false };
        let sent = self.sender.try_send((ServerEvent { name, data }, room));
        !matches!(sent, Err(TrySendError::Full(_)))
    }

    /// Counts events that were lost on their way here.
    pub fn lost(&mut self, events: u64) {
        self.lost += events;
    }

    /// Waits until nobody reads any more.
    pub async fn closed(&self) {
        self.sender.closed().await;
    }
}

impl Events {
    /// The next one; `Ready(None)`: there is none any more.
    pub fn poll_next(self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<ServerEvent>> {
        self.get_mut().0.poll_recv(context).map(|told| told.map(|(event, _room)| event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_loses_events_and_is_told_how_many() {
        let (mut source, mut events) = stream();
        (0..MAX_WAITING_EVENTS + 10).for_each(|number| source.tell("state", &number));
        let read: Vec<ServerEvent> = std::iter::from_fn(|| Some(events.0.try_recv().ok()?.0)).collect();
        assert_eq!((read.len(), &*read[0].data, &*read[MAX_WAITING_EVENTS - 1].data), (MAX_WAITING_EVENTS, "0", "63"));
        source.lost(5);
        source.tell("state", &"next");
        let read: Vec<ServerEvent> = std::iter::from_fn(|| Some(events.0.try_recv().ok()?.0)).collect();
        let told = |name, data: &str| ServerEvent { name, data: data.into() };
        assert_eq!(read, [told("lost", "{\"events\":15}"), told("state", "\"next\"")]);
        // Of long ones fewer have room.
        (0..3).for_each(|_| source.tell("state", &"x".repeat(MAX_WAITING_BYTES / 2 - 2)));
        assert_eq!(std::iter::from_fn(|| events.0.try_recv().ok()).count(), 2);
    }

    #[test]
    fn there_are_so_many_streams_and_no_more() {
        let streams = Streams::default();
        let permits: Vec<_> = (0..STREAMS).map(|_| streams.permit(false).unwrap()).collect();
        assert!(streams.permit(false).is_none());
        drop(permits);
        let strangers: Vec<_> = (0..STREAMS / 2).map(|_| streams.permit(true).unwrap()).collect();
        assert!(streams.permit(true).is_none() && streams.permit(false).is_some());
        drop(strangers);
        assert!(streams.permit(true).is_some());
    }
}
