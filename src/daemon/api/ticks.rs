//! Ticks of clocks that nothing else ticks.

use super::problem::Problem;
use super::rigs::that_runs;
use super::signals::LIMIT;
use super::variables::{Set, outcome};
use crate::daemon::name::RigName;
use crate::daemon::rigs::Rigs;
use axum::Json;
use axum::extract::{Path, State};
use std::sync::Arc;

/// Ticks a triggered input clock that nothing else ticks. Answers with the activation time that the tick was given.
#[utoipa::path(post, path = "/v1/rigs/{rig}/ticks/{clock}",
    params(("rig" = RigName, Path), ("clock" = String, Path, description = "the clock, as ecu.crank_isr")),
    responses(
        (status = 200, description = "it will be activated at that time", body = Set),
        (status = 404, body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "not taken within 5 s; it may be yet", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "it does not run, or as many ticks as there may be wait already", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "there is no such clock, or something else ticks it", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "too many ticks were asked for at once", body = Problem, content_type = "application/problem+json"),
    ))]
pub async fn tick(
    State(rigs): State<Arc<Rigs>>,
    Path((name, clock)): Path<(String, String)>,
) -> Result<Json<Set>, Problem> {
    let (_, handle) = that_runs(&rigs, &name)?;
    let ticket = handle.control().tick(&clock)?;
    let late = || Problem::too_late(format!("{clock} has not ticked within {} s, and may yet", LIMIT.as_secs()));
    let time = outcome(&ticket, LIMIT).await.ok_or_else(late)??;
    Ok(Json(Set { time }))
}
