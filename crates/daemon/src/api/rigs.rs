//! Rigs: definitions, and operations on them.

use super::guard::SHORT_BODY;
use super::pools::{CHANGES, CHECKS, PAUSES, RESUMES};
use super::problem::ProblemDetails;
use crate::definition::{RigSource, Start};
use crate::name::RigName;
use crate::rig::ManagedRig;
use crate::rigs::{RequestError, Rigs};
use crate::status::{RigState, RigStatus};
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::{Extension, Json};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};
use vecud_base::time::Instant;
use vecud_host::SessionHandle;
use vecud_linux::rights::Rights;
use vecud_report::ClockResult;

type All = State<Arc<Rigs>>;
pub type Body = Result<Bytes, BytesRejection>;

/// A rig in a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RigFile {
    /// A rig file, an .fmu file, or the folder of an FMU; relative to the folder that the daemon was given for rigs.
    #[schema(value_type = String)]
    path: PathBuf,
}

/// The name in a path.
pub fn named(name: &str) -> Result<RigName, ProblemDetails> {
    RigName::new(name).ok_or_else(|| {
        ProblemDetails::unknown(
            "no rig is called that: up to 64 letters, digits, `_`, `-` and `.`, a letter, digit or `_` first",
        )
    })
}

/// A rig that runs, and the access to its session.
pub fn that_runs(rigs: &Rigs, name: &str) -> Result<(Arc<ManagedRig>, SessionHandle), ProblemDetails> {
    let rig = rigs.find(&named(name)?)?;
    match rig.running().and_then(|running| running.handle) {
        Some(handle) => Ok((rig, handle)),
        None => {
            Err(ProblemDetails::conflict(format!("rig {} does not run; POST /v1/rigs/{0}/start starts it", rig.name())))
        }
    }
}

/// The whole body of a request.
pub fn whole(body: Body) -> Result<Bytes, ProblemDetails> {
    body.map_err(|rejected| ProblemDetails::malformed(rejected.status(), rejected.body_text()))
}

/// Parses a JSON body of a few fields.
pub fn json<T: DeserializeOwned>(body: Body) -> Result<T, ProblemDetails> {
    let body = whole(body)?;
    if body.len() > SHORT_BODY {
        return Err(ProblemDetails::too_long(SHORT_BODY));
    }
    object(&body)
}

/// The fields of an object; an empty body and null have none. Nor is a list of values in the order of the fields one. What is not
/// wanted takes no memory.
pub fn object<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ProblemDetails> {
    let fields = match body.trim_ascii() {
        b"" | b"null" => b"{}",
        fields => fields,
    };
    let read = match fields.first() {
        Some(b'{') => serde_json::from_slice(fields),
        // Whatever it is, the first letter of it is refused.
        _ => Err(serde_json::from_slice::<Map<String, Value>>(fields).expect_err("an object begins with a brace")),
    };
    read.map_err(|error| ProblemDetails::malformed(StatusCode::BAD_REQUEST, error.to_string()))
}

/// All rigs.
#[utoipa::path(get, path = "/v1/rigs", responses((status = 200, body = [RigStatus])))]
pub async fn list(State(rigs): All) -> Json<Vec<RigStatus>> {
    Json(rigs.list().iter().map(|rig| rig.status()).collect())
}

/// One rig.
#[utoipa::path(get, path = "/v1/rigs/{rig}", params(("rig" = RigName, Path)), responses(
    (status = 200, body = RigStatus),
    (status = 404),
))]
pub async fn show(State(rigs): All, Path(name): Path<String>) -> Result<Json<RigStatus>, ProblemDetails> {
    Ok(Json(rigs.find(&named(&name)?)?.status()))
}

/// How a rig is put.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Put {
    /// While the rig runs: its run comes to its end, and the new rig runs instead, as the former one was started.
    #[serde(default)]
    reload: bool,
}

/// Makes a rig, or makes it another one: the text of a rig file (TOML), or as JSON where that file is. It is checked as by
/// `vecud check`.
#[utoipa::path(put, path = "/v1/rigs/{rig}", params(("rig" = RigName, Path), Put),
    request_body(content((String = "application/toml"), (RigFile = "application/json"))),
    responses(
        (status = 200, description = "it is another one now", body = RigStatus),
        (status = 201, description = "it is new", body = RigStatus),
        (status = 400),
        (status = 404),
        (status = 408, description = "the check takes too long"),
        (status = 409, description = "it runs, and is not to reload"),
        (status = 413),
        (status = 422, description = "it has mistakes"),
        (status = 503, description = "16 checks are under way"),
        (status = 507),
    ))]
pub async fn put(
    State(rigs): All,
    Path(name): Path<String>,
    put: Result<Query<Put>, QueryRejection>,
    peer: Option<Extension<Rights>>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<RigStatus>), ProblemDetails> {
    let name = named(&name)?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let malformed =
        |error: &dyn std::fmt::Display| ProblemDetails::malformed(StatusCode::BAD_REQUEST, error.to_string());
    let source = if kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        let RigFile { path } = json(body)?;
        RigSource::Path(path)
    } else {
        RigSource::Text(String::from_utf8(whole(body)?.into()).map_err(|error| malformed(&error))?)
    };
    let Query(Put { reload }) = put.map_err(unread)?;
    // Over TCP there is a token, and nobody whose rights were known.
    let Extension(rights) = peer.unwrap_or_default();
    let before = rigs.find(&name).ok().and_then(|rig| rig.status().run);
    let (rig, is_new) = CHECKS.run_now("checks of rigs", move || rigs.put(&name, source, rights, reload)).await??;
    let runs_anew = reload && rig.running().is_some();
    let status = match runs_anew {
        // Of one that comes to its end anyway nothing else is to be waited for.
        true => until(&rig, |status| status.run != before && status.is_decided() || !status.is_busy()).await,
        false => rig.status(),
    };
    match status.obstacles().filter(|_| runs_anew) {
        Some(mistakes) => Err(RequestError::Invalid(mistakes.to_vec()).into()),
        None => Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(status))),
    }
}

/// Forgets a rig. Its runs stay on the disk.
#[utoipa::path(delete, path = "/v1/rigs/{rig}", params(("rig" = RigName, Path)), responses(
    (status = 204),
    (status = 404),
    (status = 409, description = "it runs"),
    (status = 507),
))]
pub async fn delete(State(rigs): All, Path(name): Path<String>) -> Result<StatusCode, ProblemDetails> {
    let name = named(&name)?;
    CHANGES.run(move || rigs.delete(&name)).await??;
    Ok(StatusCode::NO_CONTENT)
}

/// Starts a rig; answers when it runs, or could not begin.
#[utoipa::path(post, path = "/v1/rigs/{rig}/start", params(("rig" = RigName, Path)), request_body(content = Option<Start>), responses(
    (status = 200, body = RigStatus),
    (status = 400),
    (status = 404),
    (status = 408, description = "it is still being prepared"),
    (status = 409, description = "it runs already"),
    (status = 413),
    (status = 422, description = "it could not begin"),
    (status = 503),
    (status = 507),
))]
pub async fn start(State(rigs): All, Path(name): Path<String>, body: Body) -> Result<Json<RigStatus>, ProblemDetails> {
    let (name, start): (_, Start) = (named(&name)?, json(body)?);
    if let Some(stop_time) = start.stop_time.filter(|time| Instant::from_f64(*time).is_none()) {
        return Err(ProblemDetails::impossible(format!("stop_time is {stop_time:e} s, which no simulation reaches")));
    }
    let rig = CHANGES.run(move || rigs.start(&name, start)).await??;
    let status = until(&rig, RigStatus::is_decided).await;
    match status.obstacles() {
        Some(mistakes) => Err(RequestError::Invalid(mistakes.to_vec()).into()),
        None => Ok(Json(status)),
    }
}

/// Why a query is not understood.
pub fn unread(rejected: QueryRejection) -> ProblemDetails {
    ProblemDetails::malformed(StatusCode::BAD_REQUEST, rejected.body_text())
}

/// How a run is ended.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct StopQuery {
    /// At once, by force: what FMU code runs is not waited for, and the run has failed.
    #[serde(default)]
    now: bool,
}

/// Ends the run of a rig in good order; answers when its report is written. Whoever asks meanwhile waits for the same.
#[utoipa::path(post, path = "/v1/rigs/{rig}/stop", params(("rig" = RigName, Path), StopQuery), responses(
    (status = 200, body = RigStatus),
    (status = 400),
    (status = 404),
    (status = 408, description = "it still ends"),
    (status = 409, description = "it does not run"),
))]
pub async fn stop(
    State(rigs): All,
    Path(name): Path<String>,
    end: Result<Query<StopQuery>, QueryRejection>,
) -> Result<Json<RigStatus>, ProblemDetails> {
    let name = named(&name)?;
    let Query(StopQuery { now }) = end.map_err(unread)?;
    // It ends before anything waits for a thread or the disk.
    let rig = rigs.stop(&name, now)?;
    let ended = rig.clone();
    CHANGES.run(move || rigs.is_stopped(&ended)).await?;
    Ok(Json(until(&rig, |status| !status.is_busy()).await))
}

/// Lets come to its end what a rig has released, and releases nothing more: its simulation time stands. Answers when that is so.
#[utoipa::path(post, path = "/v1/rigs/{rig}/pause", params(("rig" = RigName, Path)), responses(
    (status = 200, body = RigStatus),
    (status = 404),
    (status = 408, description = "it still comes to rest"),
    (status = 409, description = "it does not run, is being paused or resumed already, or an activation did not return in time, or the runner did not answer, and it runs on"),
    (status = 503, description = "16 pauses are under way"),
))]
pub async fn pause(State(rigs): All, Path(name): Path<String>) -> Result<Json<RigStatus>, ProblemDetails> {
    let (rig, session) = that_runs(&rigs, &name)?;
    PAUSES
        .run_now("pauses", move || session.pause())
        .await?
        .map_err(|error| ProblemDetails::conflict(format!("rig {name}: {error}")))?;
    // A run that ends meanwhile does not pause.
    Ok(Json(until(&rig, |status| status.state != RigState::Running).await))
}

/// A rig that pauses goes on where its simulation time stands.
#[utoipa::path(post, path = "/v1/rigs/{rig}/resume", params(("rig" = RigName, Path)), responses(
    (status = 200, body = RigStatus),
    (status = 404),
    (status = 408, description = "it does not go on yet"),
    (status = 409, description = "it does not pause, is being paused or resumed already, or the runner has not answered in time, and it goes on as soon as it can"),
))]
pub async fn resume(State(rigs): All, Path(name): Path<String>) -> Result<Json<RigStatus>, ProblemDetails> {
    let (rig, session) = that_runs(&rigs, &name)?;
    RESUMES
        .run(move || session.resume())
        .await?
        .map_err(|error| ProblemDetails::conflict(format!("rig {name}: {error}")))?;
    Ok(Json(until(&rig, |status| status.state != RigState::Paused).await))
}

/// Has a rig be idle, whatever it is doing: a run that goes on comes to its end in good order, a failure is forgotten. It starts from
/// its start values in a new process.
#[utoipa::path(post, path = "/v1/rigs/{rig}/reset", params(("rig" = RigName, Path)), responses(
    (status = 200, body = RigStatus),
    (status = 404),
    (status = 408, description = "its run still ends"),
))]
pub async fn reset(State(rigs): All, Path(name): Path<String>) -> Result<Json<RigStatus>, ProblemDetails> {
    let name = named(&name)?;
    let (rig, runs) = rigs.reset(&name)?;
    if runs {
        let ended = rig.clone();
        CHANGES.run(move || rigs.is_stopped(&ended)).await?;
    }
    until(&rig, |status| !status.is_busy()).await;
    rig.forget_failure();
    Ok(Json(rig.status()))
}

/// Waits for a status of a rig that satisfies `is_one`.
async fn until(rig: &ManagedRig, is_one: impl FnMut(&RigStatus) -> bool) -> RigStatus {
    let mut changes = rig.changes();
    // The rig is there, so somebody may change it.
    changes
        .wait_for({
            let mut is_one = is_one;
            move |status| is_one(status)
        })
        .await
        .map_or_else(|_| rig.status(), |status| status.clone())
}

/// What the clocks of a rig that runs have measured so far: the fields of `clocks` in report.json.
#[utoipa::path(get, path = "/v1/rigs/{rig}/clocks", params(("rig" = RigName, Path)), responses(
    (status = 200, body = [Object]),
    (status = 404),
    (status = 409, description = "it does not run"),
))]
pub async fn clocks(State(rigs): All, Path(name): Path<String>) -> Result<Json<Vec<ClockResult>>, ProblemDetails> {
    let (_, session) = that_runs(&rigs, &name)?;
    Ok(Json(session.clocks()))
}

/// Has the figures that clients see of the clocks of a rig that runs begin anew: counts and distributions. The report of the run keeps
/// everything.
#[utoipa::path(post, path = "/v1/rigs/{rig}/clocks/reset", params(("rig" = RigName, Path)), responses(
    (status = 204),
    (status = 404),
    (status = 409, description = "it does not run"),
))]
pub async fn reset_clocks(State(rigs): All, Path(name): Path<String>) -> Result<StatusCode, ProblemDetails> {
    let (_, handle) = that_runs(&rigs, &name)?;
    CHANGES.run(move || handle.reset_clocks()).await?;
    Ok(StatusCode::NO_CONTENT)
}
