//! Runs of a rig: reports and recordings.

use super::pools::READS;
use super::problem::ProblemDetails;
use super::rigs::{named, unread};
use crate::name::RigName;
use crate::rigs::Rigs;
use crate::runs::RunSummary;
use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_RANGE, LAST_MODIFIED, LINK, RANGE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use tower::ServiceExt;
use tower_http::services::ServeFile;
use utoipa::{IntoParams, ToSchema};

type All = State<Arc<Rigs>>;

/// A run.
#[derive(Serialize, ToSchema)]
pub struct Summary {
    /// The name of the run: its start.
    run: String,
    /// As its report: `pass`, `degraded`, `fail`; null: it goes on, or has left no report.
    verdict: Option<&'static str>,
    /// State of the run: `finished`, `cut off`, `running`; null: nothing is known of it.
    ended: Option<&'static str>,
    /// Files of the run.
    files: Vec<String>,
}

/// Runs that one answer lists at most.
const MOST: usize = 1000;
/// Bytes of the names of files after which an answer lists no further run.
const LISTED: usize = 1 << 20;

/// The runs that an answer lists.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub struct RunsPage {
    /// Number of runs, the newest ones.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
    /// Name of a run: only runs before it.
    before: Option<String>,
}

impl Default for RunsPage {
    fn default() -> RunsPage {
        RunsPage { limit: 100, before: None }
    }
}

/// The newest runs of a rig, oldest first. If older ones are left, the header `Link` has the request for them (`rel="next"`).
#[utoipa::path(get, path = "/v1/rigs/{rig}/runs", params(("rig" = RigName, Path), RunsPage), responses(
    (status = 200, body = [Summary], headers(("Link" = String, description = "the request for older runs, if there are any"))),
    (status = 400),
    (status = 404),
    (status = 500),
))]
pub async fn list(
    State(rigs): All,
    Path(name): Path<String>,
    part: Result<Query<RunsPage>, QueryRejection>,
) -> Result<Response, ProblemDetails> {
    let rig = rigs.find(&named(&name)?)?;
    let Query(RunsPage { limit, before }) = part.map_err(unread)?;
    if !(1..=MOST).contains(&limit) {
        let detail = format!(
            "limit is {limit}; an answer lists 1 to {MOST} runs, and its header Link has the request for older ones"
        );
        return Err(ProblemDetails::malformed(StatusCode::BAD_REQUEST, detail));
    }
    let listed = READS.run(move || {
        let mut names = rig.runs.names_before(before.as_deref())?;
        let (mut summaries, mut length) = (Vec::new(), 0);
        while summaries.len() < limit
            && length < LISTED
            && let Some(run) = names.pop()
        {
            let (RunSummary { verdict, ended }, files) =
                (rig.runs.summary(&run), rig.runs.files(&run).unwrap_or_default());
            let verdict = verdict.filter(|_| ended != Some("running"));
            length += files.iter().map(String::len).sum::<usize>();
            summaries.push(Summary { verdict, ended, files, run });
        }
        summaries.reverse();
        Ok((summaries, !names.is_empty()))
    });
    let listed: io::Result<(Vec<Summary>, bool)> = listed.await?;
    let (summaries, has_older) =
        listed.map_err(|error| ProblemDetails::internal(format!("the runs cannot be read: {error}")))?;
    let first = summaries.first().filter(|_| has_older).map(|own| escaped(&own.run));
    let link = first.map(|run| [(LINK, format!("</v1/rigs/{name}/runs?limit={limit}&before={run}>; rel=\"next\""))]);
    Ok((link, Json(summaries)).into_response())
}

/// A text as a value in a query.
fn escaped(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

/// The report of a run; of one that goes on what is known of it so far.
#[utoipa::path(get, path = "/v1/rigs/{rig}/runs/{run}", params(("rig" = RigName, Path), ("run" = String, Path)), responses(
    (status = 200, description = "as docs/report.schema.json says", body = Object),
    (status = 206, description = "a part of it", body = Object),
    (status = 304, description = "it is as it was"),
    (status = 404),
    (status = 412, description = "it is not as it was"),
    (status = 416, description = "there is no such part"),
))]
pub async fn report(
    State(rigs): All,
    Path((name, run)): Path<(String, String)>,
    request: Request<Body>,
) -> Result<Response, ProblemDetails> {
    let rig = rigs.find(&named(&name)?)?;
    let report = READS.run(move || rig.runs.report(&run).ok_or(run)).await?;
    let report = report.map_err(|run| ProblemDetails::unknown(format!("rig {name} has no run {run} with a report")))?;
    Ok(serve(&report, "application/json", request).await)
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
    request: Request<Body>,
) -> Result<Response, ProblemDetails> {
    let rig = rigs.find(&named(&name)?)?;
    let opened = rig.runs.file(&run, &file);
    let opened =
        opened.ok_or_else(|| ProblemDetails::unknown(format!("run {run} of rig {name} has no file {file}")))?;
    Ok(serve(&opened, content_type(&file), request).await)
}

/// Serves a file that is open: piece by piece, as its reader takes it.
async fn serve(opened: &File, content_type: &'static str, mut request: Request<Body>) -> Response {
    // Whatever has its name by now, this is served: the descriptor is a way to it until it is open once more.
    let file = ServeFile::new(format!("/proc/self/fd/{}", opened.as_raw_fd()));
    if let Some(range) = request.headers_mut().remove(RANGE)
        && is_one_range(&range)
        && is_as_it_was(&file, request.headers().get(IF_RANGE).cloned()).await
    {
        request.headers_mut().insert(RANGE, range);
    }
    let mut served = file.oneshot(request).await.into_response();
    let headers = served.headers_mut();
    if headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    served
}

/// Whether these are bytes in one piece whose end is a number of 64 bits. Other ranges are ignored, as they may be (RFC 9110, 14.2).
fn is_one_range(range: &HeaderValue) -> bool {
    let range = range.to_str().ok().and_then(|range| range.trim_start().strip_prefix("bytes="));
    range.is_some_and(|range| {
        let (_, end) = range.rsplit_once('-').unwrap_or_default();
        !range.contains(',') && end.trim_end().len() < u64::MAX.ilog10() as usize
    })
}

/// Whether a part of a file is wanted as it is now: `If-Range` has its tag or its date, or is not there (RFC 9110, 13.1.5).
async fn is_as_it_was(file: &ServeFile, wanted: Option<HeaderValue>) -> bool {
    let Some(wanted) = wanted else { return true };
    let Ok(now) = file.clone().oneshot(Request::new(Body::empty())).await;
    [ETAG, LAST_MODIFIED].iter().any(|validator| now.headers().get(validator) == Some(&wanted))
}

/// The rights of a browser with a file of a run, which FMU code may have written: to draw it, with scripts of its own that reach
/// nothing, neither this daemon nor any other place.
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
