//! A [`Problem`] as `report.json` has it: an object of its kind, severity, subject and text, and the figures of the kind.
//!
//! The text of a known kind is made from its figures. An unknown kind came after this version: its text is kept.

use super::{Kind, Problem, Severity, Subject, Topic};
use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json, to_value};

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = to_value(&self.kind).map_err(S::Error::custom)?;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("kind", &kind["kind"])?;
        object.serialize_entry("severity", &self.severity)?;
        object.serialize_entry("subject", &self.subject)?;
        object.serialize_entry("text", &self.message())?;
        let figures =
            kind.as_object().into_iter().flatten().filter(|(name, _)| !["kind", "text"].contains(&name.as_str()));
        for (name, figure) in figures {
            object.serialize_entry(name, figure)?;
        }
        object.end()
    }
}

impl<'de> Deserialize<'de> for Problem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Problem, D::Error> {
        #[derive(Deserialize)]
        struct Worded {
            severity: Severity,
            text: String,
        }
        let object = Value::deserialize(deserializer)?;
        let Worded { severity, text } = Worded::deserialize(&object).map_err(D::Error::custom)?;
        let subject = Subject::deserialize(&object["subject"]).unwrap_or(Subject::Run);
        Ok(Problem { severity, subject, kind: Kind::read(object, text) })
    }
}

impl Kind {
    /// The kind of this name, which has only a text.
    pub fn of_text(name: &str, text: String) -> Kind {
        Kind::read(json!({ "kind": name, "text": &text }), text)
    }

    fn read(object: Value, text: String) -> Kind {
        Kind::deserialize(object).unwrap_or(Kind::Other { topic: Topic::Other, text })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ReportFile, hlog, html, json, junit, sample};
    use super::*;

    const EACH: &str = include_str!("each_problem.json");

    #[test]
    fn each_kind_has_its_object_and_is_read_back_from_it() {
        let problems: Vec<Problem> = serde_json::from_str(EACH).unwrap();
        assert_eq!(to_value(&problems).unwrap(), serde_json::from_str::<Value>(EACH).unwrap());
        let schema: Value = serde_json::from_str(include_str!("../../../docs/report.schema.json")).unwrap();
        let unknown = Kind::deserialize(json!({ "kind": "" })).unwrap_err().to_string();
        let all: Vec<&str> = unknown.split('`').skip(1).step_by(2).skip(1).collect();
        assert_eq!(schema["definitions"]["problem"]["properties"]["kind"]["enum"], json!(all));
        let known: Vec<Value> =
            problems.iter().map(|problem| to_value(&problem.kind).unwrap()["kind"].clone()).collect();
        all.iter().for_each(|name| assert!(known.contains(&json!(name)), "no {name} in each_problem.json"));
    }

    #[test]
    fn a_report_that_was_read_back_sorts_problems_alike() {
        let mut run = sample(1);
        run.problems = serde_json::from_str(EACH).unwrap();
        let again = ReportFile::parse(&json(&run)).unwrap().rebuild(&hlog(&run)).unwrap();
        assert_eq!(again.problems, run.problems);
        assert!(html(&again) == html(&run) && junit(&again) == junit(&run), "the reports differ");
    }

    #[test]
    fn a_kind_of_a_later_version_is_its_text() {
        let read = |object: Value| serde_json::from_value::<Problem>(object).unwrap();
        let later =
            json!({ "kind": "torn", "severity": "limit", "subject": { "wire": 3 }, "text": "it tore", "count": 1 });
        assert_eq!(read(later), Problem::other(Severity::Limit, "it tore"));
        let without_figures = json!({ "kind": "retimed", "severity": "warning", "subject": "run", "text": "1 tick" });
        assert_eq!(read(without_figures), Problem::other(Severity::Warning, "1 tick"));
        assert_eq!(Kind::of_text("unprotected", "x".into()), Kind::Unprotected { text: "x".into() });
        for name in ["", "retimed", "\u{fffd}"] {
            assert_eq!(Kind::of_text(name, "x".into()), Kind::Other { topic: Topic::Other, text: "x".into() });
        }
    }
}
