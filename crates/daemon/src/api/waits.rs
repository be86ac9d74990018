//! Waits for conditions over signals.

use super::pools::MATCHES;
use super::problem::ProblemDetails;
use super::rigs::{Body, json, that_runs};
use super::values::to_json;
use crate::condition::{self, Condition};
use crate::name::RigName;
use crate::rigs::Rigs;
use crate::waits::{WAITS, Wait};
use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;
use vecud_description::VariableType;
use vecud_host::SessionHandle;
use vecud_plan::SignalId;
use vecud_plan::rig::suggestion;
use vecud_report::format::some;

/// Greatest timeout of a wait, s: shorter than the time limit of any answer.
const LONGEST: f64 = 240.0;

/// A wait for a condition.
#[derive(Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = Wanted)]
pub struct WaitRequest {
    /// The condition, as `ecu.speed > 900 and rising(ecu.key)`.
    condition: String,
    /// Time limit of the wait, s of the wall clock, above 0 and at most 240.
    timeout: f64,
}

impl Default for WaitRequest {
    fn default() -> WaitRequest {
        WaitRequest { condition: String::new(), timeout: 5.0 }
    }
}

/// The condition held.
#[derive(Serialize, ToSchema)]
#[schema(as = Row)]
pub struct WaitAnswer {
    /// The simulation time of the row in which it did, s.
    time: f64,
    /// What the signals of the condition had in that row, as of `signals`.
    values: BTreeMap<String, Value>,
}

/// The columns of a run by name, since a condition may name many.
type Columns<'a> = HashMap<&'a str, (SignalId, VariableType)>;

/// The column that a name in a condition stands for.
fn find(handle: &SessionHandle, columns: &Columns, name: &str) -> Result<condition::ConditionColumn, String> {
    match columns.get(name) {
        Some((_, kind @ (VariableType::String | VariableType::Binary))) => {
            return Err(format!("{name} is a {}: conditions know numbers and booleans", kind.name()));
        }
        Some(&(column, variable_type)) => return Ok(condition::ConditionColumn { column, variable_type }),
        None => (),
    }
    if handle.shown().iter().any(|variable| variable.is_array && variable.name == name) {
        return Err(format!("{name} is an array: name an element of it, as {name}[1]"));
    }
    let hint = suggestion(name, handle.plan().columns().map(|column| column.name.as_str()));
    Err(format!("{name} is neither recorded nor watched{hint}; [record] and `watch` in [daemon] say what is"))
}

/// Waits for a condition over recorded and watched signals, which is looked at in each row of samples: it holds at once if the newest row
/// is as it says, else in the first row that is. At most 64 waits of a rig go on at a time.
#[utoipa::path(post, path = "/v1/rigs/{rig}/waits", params(("rig" = RigName, Path)), request_body = WaitRequest, responses(
    (status = 200, description = "it holds", body = WaitAnswer),
    (status = 400),
    (status = 404),
    (status = 408, description = "it did not hold in time"),
    (status = 409, description = "the rig does not run, or not any more"),
    (status = 413),
    (status = 422, description = "the condition is wrong: `mistakes` has the column"),
    (status = 503, description = "64 others wait"),
))]
pub async fn wait(
    State(rigs): State<Arc<Rigs>>,
    Path(name): Path<String>,
    body: Body,
) -> Result<Json<WaitAnswer>, ProblemDetails> {
    let wanted: WaitRequest = json(body)?;
    let (rig, handle) = that_runs(&rigs, &name)?;
    if !(wanted.timeout > 0.0 && wanted.timeout <= LONGEST) {
        let detail =
            format!("timeout must be a number of seconds above 0 and at most {LONGEST}, not {}", wanted.timeout);
        return Err(ProblemDetails::impossible(detail));
    }
    let asked = handle.clone();
    let parse = move || {
        let own = asked.plan().columns().enumerate();
        let columns = own.map(|(at, column)| (column.name.as_str(), (SignalId(at), column.variable_type))).collect();
        Condition::parse(&wanted.condition, |name| find(&asked, &columns, name))
    };
    let condition = MATCHES.run(parse).await??;
    let _permit = rig.waits().try_acquire_owned().map_err(|_| {
        ProblemDetails::too_many(format!("{WAITS} waits of rig {name} go on already: ask again when one is over"))
    })?;
    let (watcher, held) = Wait::begin(condition);
    let lost = || handle.totals().clocks.iter().map(|clock| clock.samples_dropped).sum::<u64>();
    let lost_before = lost();
    handle.watch_rows(watcher);
    match tokio::time::timeout(Duration::from_secs_f64(wanted.timeout), held).await {
        Ok(Ok(held)) => {
            let json = |values: Option<_>| values.and_then(|values| to_json(&values).pop()).unwrap_or_default();
            let values = held.values.into_iter().map(|(name, value)| (name, json(value))).collect();
            Ok(Json(WaitAnswer { time: held.time.seconds(), values }))
        }
        Ok(Err(_)) => {
            let outcome = unseen("", lost().saturating_sub(lost_before));
            Err(ProblemDetails::conflict(format!("the run of rig {name} has ended, and {outcome}")))
        }
        Err(_) => {
            let within = format!(" within {} s", wanted.timeout);
            Err(ProblemDetails::too_late(unseen(&within, lost().saturating_sub(lost_before))))
        }
    }
}

/// Words for a wait whose condition held in none of the rows that came: whether that says anything depends on the samples that were lost.
fn unseen(within: &str, lost: u64) -> String {
    if lost == 0 {
        return format!("the condition has not held{within}");
    }
    let samples = some(lost, "sample");
    format!("nobody knows whether the condition has held{within}: {samples} had no room, and were lost")
}
