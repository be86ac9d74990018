//! Newest values of recorded and watched variables.

use super::problem::ProblemDetails;
use super::rigs::{that_runs, unread};
use super::values::to_json;
use crate::name::RigName;
use crate::rigs::Rigs;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use utoipa::ToSchema;
use vecud_host::{NewestValue, SessionHandle, ShownVariable};
use vecud_plan::glob::matches;

/// The longest time for an answer of a session that exists.
pub const LIMIT: Duration = Duration::from_secs(5);

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
    pairs
        .into_iter()
        .map(|(key, value)| match key.as_str() {
            "match" => Ok(value),
            _ => Err(malformed(format!("the query has \"{key}\", which is not known; match=PATTERN is"))),
        })
        .collect()
}

/// The variables of a session that match the patterns, in the order of columns; without patterns all of them.
pub fn wanted<'a>(handle: &'a SessionHandle, patterns: &[String]) -> Result<Vec<&'a ShownVariable>, ProblemDetails> {
    let shown = handle.shown();
    for pattern in patterns {
        if !shown.iter().any(|variable| matches(pattern, &variable.name)) {
            let hint = vecud_plan::rig::suggestion(pattern, shown.iter().map(|variable| variable.name.as_str()));
            return Err(ProblemDetails::impossible(format!(
                "no recorded or watched variable matches \"{pattern}\"{hint}; [record] and `watch` in [daemon] say what is"
            )));
        }
    }
    let is_wanted = |variable: &&ShownVariable| {
        patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, &variable.name))
    };
    Ok(shown.iter().filter(is_wanted).collect())
}

/// The newest values of variables of a session.
pub async fn newest(handle: &SessionHandle, variables: Vec<&ShownVariable>) -> Result<Vec<Signal>, ProblemDetails> {
    let columns = variables.iter().flat_map(|variable| variable.columns()).collect();
    let (sender, receiver) = oneshot::channel();
    handle.newest(columns, move |values| {
        let _nobody_waits_any_more = sender.send(values);
    });
    let values = match tokio::time::timeout(LIMIT, receiver).await {
        Ok(Ok(values)) => values,
        Ok(Err(_)) => return Err(ProblemDetails::conflict("the run has ended")),
        Err(_) => return Err(ProblemDetails::too_late("the run has not begun yet: its FMUs are being initialised")),
    };
    let mut values = values.into_iter();
    Ok(variables.into_iter().map(|variable| signal(variable, &mut values)).collect())
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
    ))]
pub async fn show(
    State(rigs): State<Arc<Rigs>>,
    Path(name): Path<String>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Json<Vec<Signal>>, ProblemDetails> {
    let (_, handle) = that_runs(&rigs, &name)?;
    let wanted = wanted(&handle, &patterns(query)?)?;
    Ok(Json(newest(&handle, wanted).await?))
}
