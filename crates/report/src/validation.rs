//! Result of `vecud validate` for an FMU: checks, outcomes, and remarks. As text for people, and as JSON, which
//! docs/validate.schema.json describes.

use serde::Serialize;
use std::fmt::Write;
use vecud_base::columns;
use vecud_base::plain::{self, Plain};

/// The version of the format of `vecud validate --json`; see [`super::FORMAT_VERSION`].
const FORMAT_VERSION: u64 = 1;
/// Number of remarks of one check that people are shown; the others are counted.
const SHOWN: usize = 20;

/// Result of a validation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validation {
    /// The validated FMU, as the user named it.
    pub file: String,
    /// `fmiVersion`; `None`: it is not known.
    pub fmi_version: Option<String>,
    /// `modelName`; `None`: it is not known.
    pub model_name: Option<String>,
    /// Reason why the file is no FMU at all; then there are no checks.
    pub unreadable: Option<String>,
    /// The checks in the order of execution.
    pub checks: Vec<Check>,
}

/// A check, whether executed or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Name: `archive`, `Co-Simulation`.
    pub name: String,
    /// Reason why the check was not executed; `None`: it was.
    pub not_tried: Option<String>,
    /// Short summary of the checked object.
    pub seen: String,
    /// Defects and oddities.
    pub remarks: Vec<Remark>,
}

/// Weight of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// The FMU is not as the standard, or its own description, says.
    Finding,
    /// The FMU is unusual, or other tools may have difficulties with it.
    Warning,
    /// The FMU is as it may be, and can be used in some ways only.
    Hint,
}

/// Something about an FMU that its user should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The weight of the finding.
    pub weight: Weight,
    /// The file of the FMU that the finding is about; `None`: it is about the FMU's behaviour, or about the whole FMU.
    pub file: Option<String>,
    /// Line and column in that file, from 1; `None`: it is about no place in it.
    pub at: Option<(u32, u32)>,
    /// The defect and, where there is one, its remedy.
    pub message: String,
}

impl Remark {
    /// Makes a remark about a defect.
    pub fn finding(message: impl Into<String>) -> Remark {
        Remark { weight: Weight::Finding, file: None, at: None, message: message.into() }
    }

    /// Something that is odd.
    pub fn warning(message: impl Into<String>) -> Remark {
        Remark { weight: Weight::Warning, ..Remark::finding(message) }
    }

    /// Something that decides how the FMU can be used.
    pub fn hint(message: impl Into<String>) -> Remark {
        Remark { weight: Weight::Hint, ..Remark::finding(message) }
    }

    /// Sets the file of the remark, a path in the FMU.
    pub fn in_file(self, file: impl Into<String>) -> Remark {
        Remark { file: Some(file.into()), ..self }
    }

    /// Sets the line and column in the file; line 0: the remark is about the whole file.
    pub fn at(self, line: u32, column: u32) -> Remark {
        Remark { at: (line > 0).then_some((line, column)), ..self }
    }
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum CheckOutcome {
    /// Nothing is wrong; something may be odd.
    #[serde(rename = "ok")]
    Sound,
    /// Something is wrong.
    #[serde(rename = "finding")]
    Finding,
    /// The check was not executed.
    #[serde(rename = "not tried")]
    NotTried,
}

impl CheckOutcome {
    fn word(self) -> &'static str {
        match self {
            CheckOutcome::Sound => "ok",
            CheckOutcome::Finding => "finding",
            CheckOutcome::NotTried => "not tried",
        }
    }
}

impl Check {
    /// A check that was made.
    pub fn done(name: impl Into<String>, seen: impl Into<String>, remarks: Vec<Remark>) -> Check {
        Check { name: name.into(), not_tried: None, seen: seen.into(), remarks }
    }

    /// A check that was not made, and the reason.
    pub fn not_tried(name: impl Into<String>, why: impl Into<String>) -> Check {
        Check { name: name.into(), not_tried: Some(why.into()), seen: String::new(), remarks: Vec::new() }
    }

    /// The outcome of the check.
    pub fn outcome(&self) -> CheckOutcome {
        match self.remarks.iter().any(|remark| remark.weight == Weight::Finding) {
            true => CheckOutcome::Finding,
            false if self.not_tried.is_some() => CheckOutcome::NotTried,
            false => CheckOutcome::Sound,
        }
    }
}

impl Validation {
    /// Whether nothing is wrong with the FMU, as far as it was looked at.
    pub fn is_sound(&self) -> bool {
        self.unreadable.is_none() && self.count(Weight::Finding) == 0
    }

    fn count(&self, weight: Weight) -> usize {
        self.checks.iter().flat_map(|check| &check.remarks).filter(|remark| remark.weight == weight).count()
    }

    /// For people: a line for each check, what is wrong, and how many there are of both.
    pub fn text(&self) -> String {
        let rows: Vec<[String; 3]> = self
            .checks
            .iter()
            .map(|check| {
                let seen = check.not_tried.as_ref().unwrap_or(&check.seen);
                [check.name.clone(), check.outcome().word().to_owned(), seen.clone()]
            })
            .collect();
        let mut text = String::new();
        columns::lines(rows.iter(), &[]).for_each(|line| text += &format!("{}\n", line.trim_end()));
        for weight in [Weight::Finding, Weight::Warning, Weight::Hint] {
            self.write_remarks(&mut text, weight);
        }
        text + "\n" + &self.sum() + "\n"
    }

    fn write_remarks(&self, text: &mut String, weight: Weight) {
        if self.count(weight) == 0 {
            return;
        }
        *text += match weight {
            Weight::Finding => "\nFindings\n",
            Weight::Warning => "\nWarnings\n",
            Weight::Hint => "\nHints\n",
        };
        for check in &self.checks {
            let own: Vec<&Remark> = check.remarks.iter().filter(|remark| remark.weight == weight).collect();
            for remark in own.iter().take(SHOWN) {
                let place = remark.place().map(|place| format!("{place}: ")).unwrap_or_default();
                let message = plain::message(&format!("{}: {place}{}", check.name, remark.message));
                // Writing to a `String` cannot fail.
                let _ = writeln!(text, "  {}", message.replace('\n', "\n    "));
            }
            if let Some(more @ 1..) = own.len().checked_sub(SHOWN) {
                let _ = writeln!(text, "  {}: {more} more of this kind; --json has all of them", check.name);
            }
        }
    }

    /// The closing line.
    fn sum(&self) -> String {
        let of = |outcome| self.checks.iter().filter(|check| check.outcome() == outcome).count();
        let findings = self.count(Weight::Finding);
        let plural = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let mut sum = match findings {
            0 => "no findings".to_owned(),
            _ => plural(findings, "finding"),
        };
        for (weight, what) in [(Weight::Warning, "warning"), (Weight::Hint, "hint")] {
            if let number @ 1.. = self.count(weight) {
                sum += &format!(", {}", plural(number, what));
            }
        }
        let (ok, wrong, left) = (of(CheckOutcome::Sound), of(CheckOutcome::Finding), of(CheckOutcome::NotTried));
        format!("{}: {sum} ({ok} ok, {wrong} with findings, {left} not tried)", Plain(&self.file))
    }

    /// The validation as JSON, pretty-printed, always in the same order.
    pub fn json(&self) -> String {
        let said = Said {
            format_version: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION"),
            file: &self.file,
            fmi_version: self.fmi_version.as_deref(),
            model_name: self.model_name.as_deref(),
            verdict: match (&self.unreadable, self.is_sound()) {
                (Some(_), _) => "no FMU",
                (None, true) => "sound",
                (None, false) => "findings",
            },
            unreadable: self.unreadable.as_deref(),
            checks: self.checks.iter().map(SaidCheck::of).collect(),
        };
        serde_json::to_string_pretty(&said).expect("strings, numbers and lists") + "\n"
    }
}

impl Remark {
    /// `modelDescription.xml:12:4`
    fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.at {
            Some((line, column)) => format!("{file}:{line}:{column}"),
            None => file.clone(),
        })
    }
}

#[derive(Serialize)]
struct Said<'a> {
    format_version: u64,
    version: &'static str,
    file: &'a str,
    fmi_version: Option<&'a str>,
    model_name: Option<&'a str>,
    verdict: &'static str,
    unreadable: Option<&'a str>,
    checks: Vec<SaidCheck<'a>>,
}

#[derive(Serialize)]
struct SaidCheck<'a> {
    name: &'a str,
    outcome: CheckOutcome,
    seen: &'a str,
    not_tried: Option<&'a str>,
    remarks: Vec<SaidRemark<'a>>,
}

#[derive(Serialize)]
struct SaidRemark<'a> {
    severity: Weight,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    message: &'a str,
}

impl SaidCheck<'_> {
    fn of(check: &Check) -> SaidCheck<'_> {
        let remarks = check.remarks.iter().map(|remark| SaidRemark {
            severity: remark.weight,
            file: remark.file.as_deref(),
            line: remark.at.map(|(line, _)| line),
            column: remark.at.map(|(_, column)| column).filter(|column| *column > 0),
            message: &remark.message,
        });
        SaidCheck {
            name: &check.name,
            outcome: check.outcome(),
            seen: &check.seen,
            not_tried: check.not_tried.as_deref(),
            remarks: remarks.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validation(checks: Vec<Check>) -> Validation {
        Validation { file: "a.fmu".to_owned(), checks, ..Validation::default() }
    }

    #[test]
    fn what_is_odd_is_no_finding() {
        let odd = Check::done("archive", "3 files", vec![Remark::warning("is odd").in_file("x")]);
        let left = Check::not_tried("Model Exchange", "vecud does not run it");
        let sound = validation(vec![odd, left]);
        assert!(sound.is_sound());
        let text = sound.text();
        assert!(text.contains("archive") && text.contains("ok") && text.contains("not tried"), "{text}");
        assert!(text.contains("\nWarnings\n  archive: x: is odd\n") && !text.contains("Findings"), "{text}");
        assert!(text.ends_with("\na.fmu: no findings, 1 warning (1 ok, 0 with findings, 1 not tried)\n"), "{text}");
    }

    #[test]
    fn of_many_findings_some_are_shown_to_people_and_all_to_programs() {
        let many = (1..=30).map(|line| Remark::finding("is wrong").in_file("m.xml").at(line, 2)).collect();
        let wrong = validation(vec![Check::done("description", "", many)]);
        let text = wrong.text();
        assert!(!wrong.is_sound() && text.contains("m.xml:20:2: is wrong") && !text.contains("m.xml:21:2"), "{text}");
        assert!(text.contains("description: 10 more of this kind"), "{text}");
        let json: serde_json::Value = serde_json::from_str(&wrong.json()).unwrap();
        assert_eq!(json["checks"][0]["remarks"].as_array().unwrap().len(), 30);
        assert_eq!((&json["verdict"], &json["checks"][0]["remarks"][29]["line"]), (&"findings".into(), &30.into()));
    }
}
