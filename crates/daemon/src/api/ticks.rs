//! Ticks of clocks that nothing else ticks.

use super::problem::ProblemDetails;
use super::rigs::that_runs;
use super::signals::LIMIT;
use super::variables::{Set, outcome, status_of};
use crate::name::RigName;
use crate::rigs::Rigs;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use std::sync::Arc;
use vecud_plan::Mode;

/// Ticks a triggered input clock that nothing else ticks. Answers with the activation time that the tick was given.
#[utoipa::path(post, path = "/v1/rigs/{rig}/ticks/{clock}",
    params(("rig" = RigName, Path), ("clock" = String, Path, description = "the clock, as ecu.crank_isr")),
    responses(
        (status = 200, description = "it will be activated at that time", body = Set),
        (status = 202, description = "the rig pauses: it ticks when the rig goes on", body = Set),
        (status = 404),
        (status = 408, description = "not taken within 5 s; it may be yet"),
        (status = 409, description = "it does not run, or as many ticks as there may be wait already"),
        (status = 422, description = "there is no such clock, or something else ticks it"),
        (status = 503, description = "too many ticks were asked for at once"),
    ))]
pub async fn tick(
    State(rigs): State<Arc<Rigs>>,
    Path((name, clock)): Path<(String, String)>,
) -> Result<(StatusCode, Json<Set>), ProblemDetails> {
    let (_, handle) = that_runs(&rigs, &name)?;
    let ticket = handle.control().tick(&clock)?;
    let late = || ProblemDetails::too_late(format!("{clock} has not ticked within {} s, and may yet", LIMIT.as_secs()));
    // In real time the runner says in a pause too what has become of it. In virtual time none is refused, and the instant that comes next
    // may not be known.
    let waits = || handle.plan().mode == Mode::Virtual && handle.state() == vecud_host::SessionState::Paused;
    let time = outcome(&ticket, LIMIT, waits).await.ok_or_else(late)??;
    let set = Set { time };
    Ok((status_of([&set]), Json(set)))
}
