//! The path `/metrics`, for Prometheus.

use super::pools::SCRAPES;
use super::problem::ProblemDetails;
use crate::metrics::{Exposition, Scrape};
use crate::rigs::Rigs;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Counters of requests.
pub struct RequestCounters {
    began: SystemTime,
    answers: Mutex<BTreeMap<u16, u64>>,
}

impl Default for RequestCounters {
    fn default() -> Self {
        RequestCounters { began: SystemTime::now(), answers: Mutex::default() }
    }
}

impl RequestCounters {
    /// A request was answered with this status.
    pub fn count(&self, status: StatusCode) {
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner).entry(status.as_u16()).or_default() += 1;
    }

    fn answers(&self) -> Vec<(u16, u64)> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().map(|(status, count)| (*status, *count)).collect()
    }
}

/// Metrics for Prometheus: in its text format, or in that of OpenMetrics on request. docs/daemon.md has a table of all
/// families.
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, description = "all families", content((String = "text/plain"), (String = "application/openmetrics-text"))),
    (status = 500),
))]
pub async fn show(
    State(rigs): State<Arc<Rigs>>,
    Extension(requests): Extension<Arc<RequestCounters>>,
    headers: HeaderMap,
) -> Result<Response, ProblemDetails> {
    let accepted: Vec<&str> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let exposition = Exposition::of(&accepted.join(","));
    let (began, answers) = (requests.began, requests.answers());
    let text = SCRAPES.run(move || Scrape::take(&rigs, began, answers).text(exposition)).await?;
    let text = text.map_err(|error| ProblemDetails::internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, exposition.content_type())], text).into_response())
}
