//! Newest values of recorded and watched variables.

use super::access::Unauthenticated;
use super::pools::{MATCHES, MATCHES_OF_STRANGERS, Pool};
use super::problem::ProblemDetails;
use super::rigs::{that_runs, unread};
use super::values::to_json;
use crate::name::RigName;
use crate::rigs::Rigs;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use utoipa::ToSchema;
use vecud_host::{NewestValue, SessionHandle, ShownVariable};
use vecud_plan::SignalId;
use vecud_plan::glob::matches;

/// The longest time for an answer of a session that exists.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Bytes of patterns with `*` or `?` in a request: each is compared with each name.
const GLOBS: usize = 4096;
/// Columns whose values are read at a time, for those who have the token, and for others.
const COLUMNS: usize = 1 << 18;
static ROOM: Semaphore = Semaphore::const_new(COLUMNS);
static ROOM_OF_STRANGERS: Semaphore = Semaphore::const_new(COLUMNS);

/// The sender of a request, as far as the token tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requester {
    /// Somebody at the socket, or with the token.
    Known,
    /// Somebody over TCP without the token.
    Stranger,
}

impl Requester {
    /// The sender by the mark of requests without the token.
    pub fn of(stranger: Option<Extension<Unauthenticated>>) -> Requester {
        if stranger.is_some() { Requester::Stranger } else { Requester::Known }
    }

    /// Threads for what takes long with many signals.
    fn pool(self) -> &'static Pool {
        if self == Requester::Stranger { &MATCHES_OF_STRANGERS } else { &MATCHES }
    }
}

/// The newest value of a variable.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Signal {
    /// `fmu.variable`.
    name: String,
    /// The type of its values, as FMI 3.0 calls it.
    r#type: &'static str,
    /// The unit of its values; null: it has none.
    unit: Option<String>,
    /// A number, `true` or `false`, a text (also `NaN`, `inf` and `-inf`, and binaries as base64); of an array a list, in row-major order;
    /// null: there is none yet.
    value: Value,
    /// The simulation time of that value, s; null: it is the one that it starts with.
    time: Option<f64>,
}

/// Patterns of the query, `match=`; other keys are refused.
pub fn patterns(query: Result<Query<Vec<(String, String)>>, QueryRejection>) -> Result<Vec<String>, ProblemDetails> {
    let malformed = |detail: String| ProblemDetails::malformed(StatusCode::BAD_REQUEST, detail);
    let Query(pairs) = query.map_err(unread)?;
    let pattern = |(key, value): (String, String)| match key.as_str() {
        "match" => Ok(value),
        _ => Err(malformed(format!("the query has \"{key}\", which is not known; match=PATTERN is"))),
    };
    let patterns: Vec<String> = pairs.into_iter().map(pattern).collect::<Result<_, _>>()?;
    match patterns.iter().filter(|pattern| is_glob(pattern)).map(String::len).sum::<usize>() {
        length if length > GLOBS => Err(malformed(format!(
            "patterns with * or ? have {length} bytes, and {GLOBS} are possible: name signals, or ask several times"
        ))),
        _ => Ok(patterns),
    }
}

/// Whether a pattern may stand for several names.
fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// The variables of a session that match the patterns, by their places in the order of columns; without patterns all of them.
pub async fn wanted(
    handle: &SessionHandle,
    patterns: &Arc<[String]>,
    who: Requester,
) -> Result<Vec<usize>, ProblemDetails> {
    let (handle, patterns) = (handle.clone(), patterns.clone());
    who.pool().run(move || matching(handle.shown(), &patterns)).await?
}

fn matching(shown: &[ShownVariable], patterns: &[String]) -> Result<Vec<usize>, ProblemDetails> {
    let names: HashSet<&str> = patterns.iter().map(String::as_str).collect();
    let globs: Vec<&str> = names.iter().copied().filter(|name| is_glob(name)).collect();
    let mut unmatched = names.clone();
    let mut is_wanted = |name: &str| {
        unmatched.remove(name);
        let mut is_wanted = patterns.is_empty() || names.contains(name);
        for glob in globs.iter().filter(|glob| matches(glob, name)) {
            unmatched.remove(glob);
            is_wanted = true;
        }
        is_wanted
    };
    let wanted = (0..shown.len()).filter(|place| is_wanted(&shown[*place].name)).collect();
    let Some(pattern) = patterns.iter().find(|pattern| unmatched.contains(pattern.as_str())) else { return Ok(wanted) };
    let hint = vecud_plan::rig::suggestion(pattern, shown.iter().map(|variable| variable.name.as_str()));
    Err(ProblemDetails::impossible(format!(
        "no recorded or watched variable matches \"{pattern}\"{hint}; [record] and `watch` in [daemon] say what is"
    )))
}

/// The newest values of variables of a session, by their places.
pub async fn newest(handle: &SessionHandle, wanted: &[usize], who: Requester) -> Result<Vec<Signal>, ProblemDetails> {
    let columns: Vec<SignalId> = wanted.iter().flat_map(|place| handle.shown()[*place].columns()).collect();
    let room = if who == Requester::Stranger { &ROOM_OF_STRANGERS } else { &ROOM };
    let taken = room.try_acquire_many(columns.len().min(COLUMNS) as u32);
    let _until_they_are_told = taken.map_err(|_| {
        ProblemDetails::too_many(format!("{COLUMNS} columns are being read already: try again later, or name signals"))
    })?;
    let (sender, receiver) = oneshot::channel();
    handle.newest(columns, move |values| {
        let _nobody_waits_any_more = sender.send(values);
    });
    let values = match tokio::time::timeout(LIMIT, receiver).await {
        Ok(Ok(values)) => values,
        Ok(Err(_)) => return Err(ProblemDetails::conflict("the run has ended")),
        Err(_) => return Err(ProblemDetails::too_late("the run has not begun yet: its FMUs are being initialised")),
    };
    let (handle, wanted) = (handle.clone(), wanted.to_vec());
    let all = move || {
        let mut values = values.into_iter();
        wanted.iter().map(|place| signal(&handle.shown()[*place], &mut values)).collect()
    };
    who.pool().run(all).await
}

/// A variable with the values of its columns.
fn signal(variable: &ShownVariable, values: &mut impl Iterator<Item = NewestValue>) -> Signal {
    let (elements, times): (Vec<_>, Vec<_>) = values.take(variable.columns().count()).unzip();
    let is_none = elements.iter().all(Option::is_none);
    let element = |value: Option<_>| value.and_then(|value| to_json(&value).into_iter().next()).unwrap_or_default();
    let elements: Vec<Value> = elements.into_iter().map(element).collect();
    let value = match variable.is_array {
        _ if is_none => Value::Null,
        true => elements.into(),
        false => elements.into_iter().next().unwrap_or_default(),
    };
    Signal {
        name: variable.name.clone(),
        r#type: variable.variable_type.name(),
        unit: Some(variable.unit.clone()).filter(|unit| !unit.is_empty()),
        value,
        time: times.into_iter().flatten().max().map(|time| time.seconds()),
    }
}

/// The newest values of the variables that are recorded, and of those that `watch` in `[daemon]` names, in the order of the recording.
#[utoipa::path(get, path = "/v1/rigs/{rig}/signals",
    params(("rig" = RigName, Path), ("match" = Option<Vec<String>>, Query, description = "patterns over fmu.variable; none: all of them")),
    responses(
        (status = 200, body = [Signal]),
        (status = 400),
        (status = 404),
        (status = 408, description = "its FMUs are being initialised"),
        (status = 409, description = "it does not run"),
        (status = 422, description = "a pattern matches nothing"),
        (status = 503, description = "so many columns are being read already"),
    ))]
pub async fn show(
    State(rigs): State<Arc<Rigs>>,
    Path(name): Path<String>,
    stranger: Option<Extension<Unauthenticated>>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Json<Vec<Signal>>, ProblemDetails> {
    let (_, handle) = that_runs(&rigs, &name)?;
    let who = Requester::of(stranger);
    let wanted = wanted(&handle, &patterns(query)?.into(), who).await?;
    Ok(Json(newest(&handle, &wanted, who).await?))
}
