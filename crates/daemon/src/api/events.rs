//! Events of a rig, as server-sent events.

use super::access::Unauthenticated;
use super::problem::ProblemDetails;
use super::rigs::named;
use super::signals::{self, Requester, Signal, newest, patterns};
use crate::events::{self, EventSender, Events, STREAMS, StreamPermit};
use crate::name::RigName;
use crate::rig::ManagedRig;
use crate::rigs::Rigs;
use crate::status::{RigState, RigStatus};
use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::sse::{Event, Sse};
use futures_core::Stream;
use serde::Serialize;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use utoipa::ToSchema;
use vecud_host::SessionHandle;
use vecud_report::ClockResult;

/// Time between two messages of figures and signals.
const PERIOD: Duration = Duration::from_secs(1);

/// A line that was said of a rig.
#[derive(Serialize, ToSchema)]
struct Said<'a> {
    /// `error`, `warning` or `note`.
    severity: &'static str,
    /// The line.
    message: &'a str,
}

/// How a rig that runs is doing.
#[derive(Serialize)]
struct Figures {
    /// Simulation time since the start, s.
    elapsed: f64,
    /// As of `clocks`.
    clocks: Vec<ClockResult>,
}

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Self::Item>> {
        let told = Events::poll_next(self, context);
        told.map(|told| told.map(|told| Ok(Event::default().event(told.name).data(told.data))))
    }
}

/// What happens to a rig from now on, as server-sent events: `state` (the status: at once, and when it changes), `problem` (what is said of
/// it: severity and message), while it runs once a second `figures` (elapsed, and clocks as of `clocks`), and `signals` where `match` says
/// which. Who reads too slowly loses events, and is told how many by `lost`. Ends with the daemon; at most 32 at a time.
#[utoipa::path(get, path = "/v1/rigs/{rig}/events",
    params(("rig" = RigName, Path), ("match" = Option<Vec<String>>, Query, description = "patterns over fmu.variable; none: no signals")),
    responses(
        (status = 200, body = String, content_type = "text/event-stream"),
        (status = 400),
        (status = 404),
        (status = 422, description = "it runs, and a pattern matches nothing"),
        (status = 503, description = "there are 32 streams, or 16 without the token"),
    ))]
pub async fn events(
    State(rigs): State<Arc<Rigs>>,
    Path(name): Path<String>,
    stranger: Option<Extension<Unauthenticated>>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Sse<Events>, ProblemDetails> {
    let rig = rigs.find(&named(&name)?)?;
    let (patterns, who) = (Arc::from(patterns(query)?), Requester::of(stranger));
    if let Some(handle) = rig.running().and_then(|running| running.handle) {
        signals::wanted(&handle, &patterns, who).await?;
    }
    let permit = rigs.streams.permit(who == Requester::Stranger).ok_or_else(|| {
        ProblemDetails::too_many(format!("{STREAMS} streams of events are there already: close one of them"))
    })?;
    let (source, events) = events::stream();
    let wanted = WantedSignals { patterns, who, found: None };
    tokio::spawn(feed(rigs, &rig, wanted, source, permit));
    Ok(Sse::new(events))
}

/// Tells the events of a rig from this call on, until nobody reads them any more, the rig is gone, or the daemon ends.
fn feed(
    rigs: Arc<Rigs>,
    rig: &Arc<ManagedRig>,
    mut wanted: WantedSignals,
    mut source: EventSender,
    permit: StreamPermit,
) -> impl Future<Output = ()> + use<> {
    // Before the task has its first turn: a client that has the head of the answer misses nothing.
    let (mut changes, mut messages, mut ended) = (rig.changes(), rig.messages(), rigs.streams.ended());
    changes.mark_changed();
    // The rig itself would keep them open.
    let rig = Arc::downgrade(rig);
    async move {
        let _until_the_end = permit;
        let mut period = tokio::time::interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                changed = changes.changed() => match changed {
                    Ok(()) => {
                        let status: RigStatus = changes.borrow_and_update().clone();
                        source.tell("state", &status);
                    }
                    Err(_) => return,
                },
                message = messages.recv() => match message {
                    Ok((weight, message)) => source.tell("problem", &Said { severity: weight.word(), message: &message }),
                    Err(RecvError::Lagged(events)) => source.lost(events),
                    Err(RecvError::Closed) => return,
                },
                _ = period.tick() => match rig.upgrade() {
                    Some(rig) => tell_figures(&rigs, &rig, &mut wanted, &mut source).await,
                    None => return,
                },
                () = end(&mut ended) => return,
                () = source.closed() => return,
            }
        }
    }
}

/// Waits for the end of all streams.
async fn end(ended: &mut watch::Receiver<bool>) {
    // Nobody can ask for it any more when there is no daemon.
    let _ended = ended.wait_for(|ended| *ended).await;
}

/// The signals that a stream wants.
struct WantedSignals {
    patterns: Arc<[String]>,
    who: Requester,
    /// Places of the signals, and the run that has them there.
    found: Option<(Option<String>, Vec<usize>)>,
}

impl WantedSignals {
    /// The newest values in the run that goes on.
    async fn newest(&mut self, run: Option<String>, handle: &SessionHandle) -> Result<Vec<Signal>, ProblemDetails> {
        // The rig may be another one than when the stream began.
        let places = match self.found.take() {
            Some((of, places)) if of == run => places,
            _ => signals::wanted(handle, &self.patterns, self.who).await?,
        };
        let (_, places) = self.found.insert((run, places));
        newest(handle, places, self.who).await
    }
}

/// Tells the figures of a rig, if it runs.
async fn tell_figures(rigs: &Rigs, rig: &ManagedRig, wanted: &mut WantedSignals, source: &mut EventSender) {
    let Some(handle) = rig.running().and_then(|running| running.handle) else { return };
    let status = rig.status();
    if matches!(status.state, RigState::Preparing) {
        return;
    }
    let asked = handle.clone();
    let collect = move || {
        let figures = Figures { elapsed: asked.snapshot().elapsed, clocks: asked.clocks() };
        serde_json::to_string(&figures).expect("strings, numbers and lists")
    };
    if let Some(figures) = rigs.streams.figures(rig.name(), collect).await {
        source.tell_json("figures", figures);
    }
    if !wanted.patterns.is_empty()
        && let Ok(signals) = wanted.newest(status.run, &handle).await
    {
        source.tell("signals", &signals);
    }
}
