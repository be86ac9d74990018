//! Variables that are set while a rig runs.

use super::guard::SHORT_BODY;
use super::pools::VALUES;
use super::problem::ProblemDetails;
use super::rigs::{Body, object, that_runs, whole};
use super::signals::LIMIT;
use super::values::from_json;
use crate::name::RigName;
use crate::rigs::Rigs;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use utoipa::ToSchema;
use vecud_description::Values;
use vecud_host::{Control, ControlError, Ticket};

/// Times between two looks at the outcome of a command: the first, doubled each time up to the second.
const LOOKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(16)];

/// When a value holds, or a clock ticks.
#[derive(Serialize, ToSchema)]
pub struct Set {
    /// The activation time of the activation before which it was set, or of the tick, s; of structural parameters the simulation time.
    /// Null: the rig pauses, and it comes to that when the rig goes on.
    pub time: Option<f64>,
}

/// In a pause a request may wait: for this time its outcome is awaited all the same.
const GRACE: Duration = Duration::from_millis(50);

/// The status of outcomes: 200, or 202 if one of them waits for the end of a pause.
pub fn status_of<'a>(all: impl IntoIterator<Item = &'a Set>) -> StatusCode {
    match all.into_iter().all(|own| own.time.is_some()) {
        true => StatusCode::OK,
        false => StatusCode::ACCEPTED,
    }
}

impl From<ControlError> for ProblemDetails {
    fn from(error: ControlError) -> ProblemDetails {
        use ControlError as E;
        let detail = error.to_string();
        match error {
            E::NotControlled
            | E::NoSuchFmu(..)
            | E::Refused { .. }
            | E::NoTick { .. }
            | E::Nothing
            | E::OtherClocks(..)
            | E::TooLong(..) => ProblemDetails::impossible(detail),
            E::Busy => ProblemDetails::too_many(detail),
            E::Timeout(_) => ProblemDetails::too_late(detail),
            E::TickRefused(_)
            | E::TicksWait(_)
            | E::OutOfOrder(_)
            | E::Resized
            | E::RunEnded
            | E::InstanceFailed(_)
            | E::Failed { .. } => ProblemDetails::conflict(detail),
        }
    }
}

/// Sets tunable parameters, inputs that nothing feeds, and tunable structural parameters, by `fmu.variable`. All of them are checked before
/// anything is sent; those of one FMU that belong to the same clocks are set before the same activation. Answers when all are set.
#[utoipa::path(patch, path = "/v1/rigs/{rig}/variables", params(("rig" = RigName, Path)),
    request_body(content = BTreeMap<String, Value>, content_type = "application/json", example = json!({"ecu.gain": 2.0, "ecu.table": [1, 2]})),
    responses(
        (status = 200, body = BTreeMap<String, Set>),
        (status = 202, description = "the rig pauses: it is set before the next activation", body = BTreeMap<String, Set>),
        (status = 400),
        (status = 404),
        (status = 408, description = "not set within 5 s; it may be yet"),
        (status = 409, description = "it does not run, or an FMU has refused it"),
        (status = 413),
        (status = 422, description = "something of it cannot be set, and nothing is"),
        (status = 503, description = "too many commands wait"),
    ))]
pub async fn set(
    State(rigs): State<Arc<Rigs>>,
    Path(name): Path<String>,
    body: Body,
) -> Result<(StatusCode, Json<BTreeMap<String, Set>>), ProblemDetails> {
    let body = whole(body)?;
    let (_, handle) = that_runs(&rigs, &name)?;
    let (is_long, control) = (body.len() > SHORT_BODY, handle.control().clone());
    let ask = move || ask(&body, &control);
    let (variables, tickets) = if is_long { VALUES.run(ask).await?? } else { ask()? };
    let began = Instant::now();
    let mut set = BTreeMap::new();
    for (ticket, places) in tickets {
        let names = || places.iter().map(|place| variables[*place].as_str());
        let left = LIMIT.saturating_sub(began.elapsed());
        let applied = outcome(&ticket, left, || handle.state() == vecud_host::SessionState::Paused).await.unwrap_or_else(|| {
            let names: Vec<&str> = names().collect();
            Err(ProblemDetails::too_late(format!(
                "{} not set within {} s, and may be yet: no partition that may set it was activated, or none returned",
                names.join(" and "),
                LIMIT.as_secs()
            )))
        })?;
        set.extend(names().map(|name| (name.to_owned(), Set { time: applied })));
    }
    Ok((status_of(set.values()), Json(set)))
}

/// A ticket for each command, with the places of its variables.
type Asked = Vec<(Ticket, Vec<usize>)>;

/// Sends the commands of a body. Returns its variables, in the order of their names, and the tickets.
fn ask(body: &[u8], control: &Control) -> Result<(Vec<String>, Asked), ProblemDetails> {
    let wanted: BTreeMap<String, &RawValue> = object(body)?;
    let mut values: Vec<(&str, Values)> = Vec::new();
    for (variable, value) in &wanted {
        let read = from_json(value, &control.settable(variable)?);
        let refused = |reason| ControlError::Refused { variable: variable.clone(), reason };
        values.push((variable, read.map_err(refused)?));
    }
    let tickets = control.set_all(&values)?;
    Ok((wanted.into_keys().collect(), tickets))
}

/// Time at which a command was carried out, s; the inner `None`: it waits for the end of a pause, as the runner says, or in its
/// stead `waits`; `None`: it was not carried out in that time.
pub async fn outcome(
    ticket: &Ticket,
    limit: Duration,
    waits: impl Fn() -> bool,
) -> Option<Result<Option<f64>, ProblemDetails>> {
    let (began, mut pause) = (Instant::now(), LOOKS[0]);
    loop {
        match ticket.poll() {
            Some(Ok(applied)) => return Some(Ok((!applied.is_held).then(|| applied.time.seconds()))),
            Some(Err(error)) => return Some(Err(error.into())),
            None if began.elapsed() >= GRACE && waits() => return Some(Ok(None)),
            None if began.elapsed() >= limit => return None,
            None => tokio::time::sleep(pause).await,
        }
        pause = (2 * pause).min(LOOKS[1]);
    }
}
