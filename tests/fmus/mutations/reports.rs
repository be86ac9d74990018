//! `report.json`: values, and what is around them.

use std::fs;

use serde_json::{Value, json};

use crate::mutations::chance::Chance;
use crate::mutations::runs::Runs;
use crate::mutations::trial::words;
use crate::mutations::{Kind, campaign, nothing_more, text};

/// Visits each value, the outermost first, until `visit` says that it has had enough.
fn walk(value: &mut Value, visit: &mut impl FnMut(&mut Value) -> bool) -> bool {
    visit(value)
        || match value {
            Value::Array(all) => all.iter_mut().any(|inner| walk(inner, visit)),
            Value::Object(all) => all.values_mut().any(|inner| walk(inner, visit)),
            _ => false,
        }
}

/// Puts something odd into one place of the report.
fn change(report: &mut Value, chance: &mut Chance) {
    let (mut count, mut number) = (0, 0);
    walk(report, &mut |_| {
        count += 1;
        false
    });
    let (place, other) = (chance.below(count), chance.below(count));
    let mut stranger = Value::Null;
    walk(report, &mut |value| {
        number += 1;
        if number > other && !value.is_object() {
            stranger = value.clone();
            return true;
        }
        false
    });
    number = 0;
    walk(report, &mut |value| {
        number += 1;
        if number <= place {
            return false;
        }
        match value {
            Value::Number(_) if chance.below(4) > 0 => {
                let numbers =
                    ["0", "-1", "1e308", "18446744073709551615", "9223372036854775808", "4.9e-324", "7", "-0.0"];
                *value = serde_json::from_str(chance.word(&numbers)).unwrap();
            }
            Value::String(text) if chance.below(4) > 0 => {
                *text = match chance.below(3) {
                    0 => chance.pick(&text::WORDS).to_string(),
                    1 => chance.pick(&["<script>", "&", "]]>", "\u{1b}[2J", "\u{9b}", "\0", "\r\n"]).to_string() + text,
                    _ => text.repeat(chance.below(3000)),
                }
            }
            Value::Array(all) if chance.below(4) > 0 => match (chance.below(4), all.last().cloned()) {
                (0, Some(last)) => all.extend(std::iter::repeat_n(last, chance.below(2000))),
                (1, _) => all.reverse(),
                (2, _) => all.clear(),
                _ => drop(all.pop()),
            },
            Value::Object(all) if chance.below(4) > 0 => {
                let key = all.keys().nth(chance.below(all.len().max(1))).cloned().unwrap_or_default();
                all.remove(&key);
            }
            _ => {
                *value = match chance.below(4) {
                    0 => Value::Null,
                    1 => json!([]),
                    2 => json!({}),
                    _ => stranger.clone(),
                }
            }
        }
        true
    });
}

fn mutate(report: &str, chance: &mut Chance) -> String {
    if chance.below(4) > 0 {
        let mut value: Value = serde_json::from_str(report).unwrap();
        for _ in 0..=chance.below(2) {
            change(&mut value, chance);
        }
        return value.to_string();
    }
    let mut text = report.to_owned();
    match chance.below(5) {
        0 => text::replace(&mut text, &text::quoted(report, '"'), chance),
        1 => text::replace(&mut text, &text::words(report), chance),
        2 => text::rearrange(&mut text, &text::lines(report), chance),
        3 => {
            let depth = chance.below(100_000);
            let place = chance.pick(&text::words(report)).clone();
            text.replace_range(place, &"[".repeat(depth));
        }
        _ => text::damage(&mut text, chance),
    }
    text
}

#[test]
fn reports_are_rebuilt_and_compared_or_refused() {
    let runs = Runs::new();
    campaign(&Kind {
        test: "reports_are_rebuilt_and_compared_or_refused",
        usually: 250,
        culprit: "foreign",
        lay: &|chance, folder| {
            let mode = *chance.pick(&["realtime", "realtime", "virtual"]);
            let own = folder.join("foreign");
            fs::create_dir(&own).unwrap();
            fs::write(own.join("report.json"), mutate(&runs.text(mode, "report.json"), chance)).unwrap();
            fs::write(own.join("histograms.hlog"), runs.file(mode, "histograms.hlog")).unwrap();
            fs::write(own.join("signals.csv"), runs.file(mode, "signals.csv")).unwrap();
            let other = runs.out("realtime").display().to_string();
            let against =
                |left: &str, right: &str| format!("report {left} --against {right} --out foreign/comparison.html");
            words(&match chance.below(4) {
                0 => against("foreign", &other),
                1 => against(&other, "foreign/report.json"),
                2 => "report foreign/report.json".to_owned(),
                _ => "report foreign".to_owned(),
            })
        },
        look: &nothing_more,
    });
}
