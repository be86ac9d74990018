//! Shows the events of an FMU's conversation, for people and for programs.

use serde_json::{Value, json};
use vecud_base::plain;
use vecud_description::Values;
use vecud_host::by_hand::{ByHand, Call, Done, Heard, IntervalValue, ReplyContent, ShownResult};

/// Number of list elements to show.
const SHOWN: usize = 32;

/// One thing that was heard, as a line or several.
pub fn text(heard: &Heard) -> String {
    match heard {
        Heard::Called(Call { function, arguments, status, .. }) => {
            let status = status.as_ref().map(|status| format!(" -> {status}")).unwrap_or_default();
            plain::message(&format!("{function}({arguments}){status}"))
        }
        Heard::NotReturned(function, what) => plain::message(&format!("{function}: {what}")),
        Heard::Logged(status, category, message) => {
            let category = if category.is_empty() { String::new() } else { format!(", {category}") };
            plain::message(&format!("  log [{status}{category}] {message}"))
        }
        Heard::CalledBack(words) => plain::message(&format!("  callback {words}")),
        Heard::Note(words) => format!("  {words}"),
        Heard::Given(ShownResult { name, given, remark }) => {
            let remark = if remark.is_empty() { String::new() } else { format!(" {remark}") };
            let name = if name.is_empty() { String::new() } else { format!("{name} = ") };
            plain::message(&format!("  {name}{}{remark}", of_given(given)))
        }
    }
}

fn of_given(given: &ReplyContent) -> String {
    let flags = |all: &[(&str, bool)]| {
        let set: Vec<&str> = all.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| *name).collect();
        if set.is_empty() { String::new() } else { format!(", {}", set.join(", ")) }
    };
    match given {
        ReplyContent::Nothing => String::new(),
        ReplyContent::Text(text) => text.clone(),
        ReplyContent::Values(values) => of_values(values),
        ReplyContent::Clocks(ticks) => list(ticks.iter().map(|ticks| if *ticks { "ticks" } else { "does not tick" })),
        ReplyContent::Interval { length, qualifier } => {
            let length = match length {
                IntervalValue::Decimal(value) => format!("{value:?}"),
                IntervalValue::Fraction { counter, resolution } => format!("{counter}/{resolution}"),
            };
            let qualifier = match qualifier {
                None => String::new(),
                Some(0) => " (not yet known)".to_owned(),
                Some(1) => " (unchanged)".to_owned(),
                Some(2) => " (changed)".to_owned(),
                Some(other) => format!(" (qualifier {other}, which there is not)"),
            };
            length + &qualifier
        }
        ReplyContent::Numbers { states, event_indicators } => {
            format!("{states} continuous states, {event_indicators} event indicators")
        }
        ReplyContent::Vector(values) => list(values.iter().map(|value| format!("{value:?}"))),
        ReplyContent::References(references) => list(references.iter().map(u32::to_string)),
        ReplyContent::Step { reached, early_return, event_handling_needed, terminate_simulation } => {
            let flags = flags(&[
                ("earlyReturn", *early_return),
                ("eventHandlingNeeded", *event_handling_needed),
                ("terminateSimulation", *terminate_simulation),
            ]);
            format!("it has come to {reached:?}{flags}")
        }
        ReplyContent::Update {
            needs_update,
            terminate_simulation,
            nominals_changed,
            values_changed,
            next_event_time,
        } => {
            let next = match next_event_time {
                Some(time) => format!("the next event is at {time:?}"),
                None => "no next event".to_owned(),
            };
            next + &flags(&[
                ("discreteStatesNeedUpdate", *needs_update),
                ("terminateSimulation", *terminate_simulation),
                ("nominalsOfContinuousStatesChanged", *nominals_changed),
                ("valuesOfContinuousStatesChanged", *values_changed),
            ])
        }
        ReplyContent::Completed { enter_event_mode, terminate_simulation } => {
            let flags = flags(&[("enterEventMode", *enter_event_mode), ("terminateSimulation", *terminate_simulation)]);
            format!("accepted{flags}")
        }
        ReplyContent::Matrix { rows, columns, elements, calls } => {
            let row = |row: &[f64]| list(row.iter().map(|value| format!("{value:?}")));
            let lines: Vec<String> = elements.chunks((*columns).max(1)).map(row).collect();
            let calls = if *calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
            format!("{rows} x {columns}, by {calls}\n  {}", lines.join("\n  "))
        }
        ReplyContent::Bytes(length) => format!("{length} bytes"),
    }
}

/// The elements; of an array in brackets.
fn of_values(values: &Values) -> String {
    macro_rules! each {
        ($($kind:ident)*) => {
            match values {
                $(Values::$kind(all) => all.iter().map(|value| format!("{value:?}")).collect(),)*
                Values::Binary(all) => all.iter().map(|bytes| hexadecimal(bytes)).collect(),
            }
        };
    }
    let all: Vec<String> =
        each!(Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Boolean Clock String);
    match all.as_slice() {
        [one] => one.clone(),
        all => list(all.iter().cloned()),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

fn list(items: impl ExactSizeIterator<Item: Into<String>>) -> String {
    let count = items.len();
    let mut all: Vec<String> = items.take(SHOWN).map(Into::into).collect();
    if count > SHOWN {
        all.push(format!("... ({count})"));
    }
    format!("[{}]", all.join(", "))
}

/// A number, or, as JSON has none for it, its name in XML.
fn number(value: f64) -> Value {
    match value {
        _ if value.is_nan() => json!("NaN"),
        f64::INFINITY => json!("INF"),
        f64::NEG_INFINITY => json!("-INF"),
        _ => json!(value),
    }
}

fn values(values: &Values) -> Value {
    match values {
        Values::Float32(all) => all.iter().map(|value| number(f64::from(*value))).collect(),
        Values::Float64(all) => all.iter().map(|value| number(*value)).collect(),
        Values::Int8(all) => json!(all),
        Values::UInt8(all) => json!(all),
        Values::Int16(all) => json!(all),
        Values::UInt16(all) => json!(all),
        Values::Int32(all) => json!(all),
        Values::UInt32(all) => json!(all),
        Values::Int64(all) => json!(all),
        Values::UInt64(all) => json!(all),
        Values::Boolean(all) | Values::Clock(all) => json!(all),
        Values::String(all) => json!(all),
        Values::Binary(all) => all.iter().map(|bytes| hexadecimal(bytes)).collect(),
    }
}

fn given(given: &ReplyContent) -> Value {
    let vector = |all: &[f64]| all.iter().map(|value| number(*value)).collect::<Value>();
    match given {
        ReplyContent::Nothing => Value::Null,
        ReplyContent::Text(text) => json!({ "text": text }),
        ReplyContent::Values(own) => json!({ "values": values(own) }),
        ReplyContent::Clocks(ticks) => json!({ "ticks": ticks }),
        ReplyContent::Interval { length, qualifier } => {
            let length = match length {
                IntervalValue::Decimal(value) => json!({ "decimal": number(*value) }),
                IntervalValue::Fraction { counter, resolution } => {
                    json!({ "counter": counter, "resolution": resolution })
                }
            };
            json!({ "interval": length, "qualifier": qualifier })
        }
        ReplyContent::Numbers { states, event_indicators } => {
            json!({ "states": states, "event_indicators": event_indicators })
        }
        ReplyContent::Vector(all) => json!({ "values": vector(all) }),
        ReplyContent::References(all) => json!({ "value_references": all }),
        ReplyContent::Step { reached, early_return, event_handling_needed, terminate_simulation } => json!({
            "reached": number(*reached),
            "early_return": early_return,
            "event_handling_needed": event_handling_needed,
            "terminate_simulation": terminate_simulation,
        }),
        ReplyContent::Update {
            needs_update,
            terminate_simulation,
            nominals_changed,
            values_changed,
            next_event_time,
        } => {
            json!({
                "discrete_states_need_update": needs_update,
                "terminate_simulation": terminate_simulation,
                "nominals_of_continuous_states_changed": nominals_changed,
                "values_of_continuous_states_changed": values_changed,
                "next_event_time": next_event_time.map(number),
            })
        }
        ReplyContent::Completed { enter_event_mode, terminate_simulation } => {
            json!({ "enter_event_mode": enter_event_mode, "terminate_simulation": terminate_simulation })
        }
        ReplyContent::Matrix { rows, columns, elements, calls } => {
            let rows_of: Value = elements.chunks((*columns).max(1)).map(vector).collect();
            json!({ "rows": rows, "columns": columns, "matrix": rows_of, "calls": calls })
        }
        ReplyContent::Bytes(length) => json!({ "bytes": length }),
    }
}

/// A line with all that came of it.
pub fn json(line: u64, command: &str, heard: &[Heard], done: &Done, conversation: &ByHand) -> String {
    let (mut calls, mut log, mut callbacks, mut results) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut notes = Vec::new();
    for one in heard {
        match one {
            Heard::Called(Call { function, arguments, status, nanos }) => calls
                .push(json!({ "function": function, "arguments": arguments, "status": status, "nanoseconds": nanos })),
            Heard::NotReturned(function, what) => {
                calls.push(json!({ "function": function, "arguments": null, "status": what, "nanoseconds": null }))
            }
            Heard::Logged(status, category, message) => {
                log.push(json!({ "status": status, "category": category, "message": message }));
            }
            Heard::CalledBack(words) => callbacks.push(json!(words)),
            Heard::Given(shown) => {
                let mut result = given(&shown.given);
                if !shown.name.is_empty() {
                    result["name"] = json!(shown.name);
                }
                results.push(result);
            }
            Heard::Note(words) => notes.push(json!(words)),
        }
    }
    let (outcome, message) = match done {
        Done::Nothing | Done::Well | Done::End => ("done", None),
        Done::Text(text) => ("done", Some(text)),
        Done::Wrong(message) => ("refused", Some(message)),
        Done::Invalid(message) => ("invalid", Some(message)),
        Done::Failed(message) => ("failed", Some(message)),
    };
    json!({
        "line": line,
        "command": command,
        "outcome": outcome,
        "message": message,
        "calls": calls,
        "log": log,
        "callbacks": callbacks,
        "notes": notes,
        "results": results,
        "state": conversation.state().name(),
        "time": number(conversation.time()),
    })
    .to_string()
}
