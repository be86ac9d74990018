//! Runs of a rig: reports and recordings.

use super::pools::READS;
use super::problem::ProblemDetails;
use super::rigs::named;
use crate::name::RigName;
use crate::rigs::Rigs;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, RANGE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use tower::ServiceExt;
use tower_http::services::ServeFile;
use utoipa::ToSchema;

type All = State<Arc<Rigs>>;

/// A run.
#[derive(Serialize, ToSchema)]
pub struct Summary {
    /// The name of the run: its start.
    run: String,
    /// As its report: `pass`, `degraded`, `fail`; null: it goes on, or has left no report.
    verdict: Option<String>,
    /// State of the run: `finished`, `cut off`, `running`; null: nothing is known of it.
    ended: Option<String>,
    /// Files of the run.
    files: Vec<String>,
}

/// The runs of a rig, oldest first.
#[utoipa::path(get, path = "/v1/rigs/{rig}/runs", params(("rig" = RigName, Path)), responses(
    (status = 200, body = [Summary]),
    (status = 404),
    (status = 500),
))]
pub async fn list(State(rigs): All, Path(name): Path<String>) -> Result<Json<Vec<Summary>>, ProblemDetails> {
    let rig = rigs.find(&named(&name)?)?;
    let summaries = READS.run(move || {
        let summary = |run: String| {
            let (said, files) = (rig.runs.summary(&run), rig.runs.files(&run).unwrap_or_default());
            let (verdict, ended) = said.map(|said| (said.verdict, said.ended)).unzip();
            let verdict = verdict.filter(|_| ended.as_deref() != Some("running"));
            Summary { verdict, ended, files, run }
        };
        rig.runs.names().map(|names| names.into_iter().map(summary).collect())
    });
    summaries.await?.map(Json).map_err(|error| ProblemDetails::internal(format!("the runs cannot be read: {error}")))
}

/// The report of a run; of one that goes on what is known of it so far.
#[utoipa::path(get, path = "/v1/rigs/{rig}/runs/{run}", params(("rig" = RigName, Path), ("run" = String, Path)), responses(
    (status = 200, description = "as docs/report.schema.json says", body = Object),
    (status = 404),
))]
pub async fn report(
    State(rigs): All,
    Path((name, run)): Path<(String, String)>,
) -> Result<Json<Box<RawValue>>, ProblemDetails> {
    let rig = rigs.find(&named(&name)?)?;
    let report = READS.run(move || rig.runs.report(&run).ok_or(run)).await?;
    report.map(Json).map_err(|run| ProblemDetails::unknown(format!("rig {name} has no run {run} with a report")))
}

/// A file of a run. Parts of it can be asked for (`Range`).
#[utoipa::path(get, path = "/v1/rigs/{rig}/runs/{run}/{file}",
    params(("rig" = RigName, Path), ("run" = String, Path), ("file" = String, Path)),
    responses(
        (status = 200, description = "all of it", body = serde_json::Value, content_type = "*/*"),
        (status = 206, description = "a part of it", body = serde_json::Value, content_type = "*/*"),
        (status = 304, description = "it is as it was"),
        (status = 404),
        (status = 412, description = "it is not as it was"),
        (status = 416, description = "there is no such part"),
    ))]
pub async fn file(
    State(rigs): All,
    Path((name, run, file)): Path<(String, String, String)>,
    mut request: Request<Body>,
) -> Result<Response, ProblemDetails> {
    // A range of other units is ignored (RFC 9110, 14.2).
    let is_of_bytes = |range: &HeaderValue| range.to_str().is_ok_and(|range| range.trim_start().starts_with("bytes="));
    if request.headers().get(RANGE).is_some_and(|range| !is_of_bytes(range)) {
        request.headers_mut().remove(RANGE);
    }
    let rig = rigs.find(&named(&name)?)?;
    let opened = rig.runs.file(&run, &file);
    let opened =
        opened.ok_or_else(|| ProblemDetails::unknown(format!("run {run} of rig {name} has no file {file}")))?;
    // Whatever has its name by now, this is served: the descriptor is a way to it until it is open once more.
    let way = format!("/proc/self/fd/{}", opened.as_raw_fd());
    let mut served = ServeFile::new(way).oneshot(request).await.into_response();
    drop(opened);
    let headers = served.headers_mut();
    if headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(&file)));
    }
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(served)
}

/// What a browser may do with a file of a run, which FMU code may have written: draw it, with scripts of its own that reach nothing,
/// neither this daemon nor anybody else.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; sandbox allow-scripts";

/// The media type of a file of a run, by its name.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("csv") => "text/csv; charset=utf-8",
        Some("xml") => "text/xml",
        Some("log" | "txt" | "hgrm" | "hlog") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
