//! `junit.xml`: the checks of a run, for CI servers. One suite per FMU, and one for the rest.
//!
//! Guarantees: there is a failure exactly when the verdict of the run is "fail", and each problem that fails the run is the
//! message of exactly one failure. Valid by the schemas of Jenkins (junit-10.xsd) and of Ant (JUnit.xsd, the strict one: no
//! attribute and no element is missing). Text from FMUs is escaped; characters that XML cannot have become U+FFFD.

use super::markup::escape;
use super::words::Word;
use super::{ClockResult, FmuResult, FmuStatus, Problem, Run, Severity, Subject, Topic, passed};
use std::fmt::Write;
use vecud_base::plain::plain_lines;

/// A check and its result. Its names are the same in each run, so that a CI server recognises it.
struct TestCase {
    class: String,
    name: String,
    /// Problems that fail it: kind and message.
    failures: Vec<(&'static str, String)>,
}

/// The run as JUnit's XML.
pub fn junit(run: &Run) -> String {
    let mut left: Vec<&Problem> = run.problems.iter().filter(|problem| problem.severity <= Severity::Finding).collect();
    let mut suites: Vec<(String, Vec<TestCase>, String)> = Vec::new();
    for fmu in &run.fmus {
        let mut cases = Vec::new();
        for clock in run.clocks.iter().filter(|clock| clock.fmu == fmu.name) {
            cases.extend(of_clock(run, clock, &mut left));
        }
        cases.extend(of_fmu(run, fmu, &mut left));
        suites.push((fmu.name.clone(), cases, fmu.log.join("\n")));
    }
    let mut whole = TestCase { class: run.rig.clone(), name: "run".into(), failures: Vec::new() };
    whole.failures.extend(left.into_iter().filter_map(failure));
    let failed = suites.iter().flat_map(|(_, cases, _)| cases).any(|case| !case.failures.is_empty());
    if !passed(run) && !failed && whole.failures.is_empty() {
        whole.failures.push(("failure", "the run ended by a failure".into()));
    }
    let warnings: Vec<String> = run.problems.iter().filter(|p| !fails(p)).map(Problem::message).collect();
    suites.push((run.rig.clone(), vec![whole], warnings.join("\n")));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (id, (name, cases, log)) in suites.iter().enumerate() {
        suite(&mut out, run, id, name, cases, log);
    }
    out + "</testsuites>\n"
}

fn fails(problem: &Problem) -> bool {
    problem.severity < Severity::Finding
}

fn failure(problem: &Problem) -> Option<(&'static str, String)> {
    let kind = if problem.severity == Severity::Limit { "limit" } else { "failure" };
    fails(problem).then(|| (kind, problem.message()))
}

/// Takes the problems that satisfy `is`.
fn take(left: &mut Vec<&Problem>, is: impl Fn(&Problem) -> bool) -> Vec<(&'static str, String)> {
    let own: Vec<_> = left.iter().filter(|problem| is(problem)).filter_map(|problem| failure(problem)).collect();
    left.retain(|problem| !is(problem));
    own
}

/// Checks of a clock: overruns, the limit on start latency where there is one, and all other problems.
fn of_clock(run: &Run, clock: &ClockResult, left: &mut Vec<&Problem>) -> Vec<TestCase> {
    let own = Subject::task(&clock.fmu, &clock.clock, clock.kind);
    let about = |topic: Topic| {
        let own = &own;
        move |problem: &Problem| problem.subject == *own && problem.kind.topic() == topic
    };
    let (class, name) = (format!("{}.{}", run.rig, clock.fmu), &clock.clock);
    let case = |name: String, failures| TestCase { class: class.clone(), name, failures };
    let mut cases = vec![case(format!("{name}: overruns"), take(left, about(Topic::OverrunLimit)))];
    let late = take(left, about(Topic::LatencyLimit));
    if clock.max_latency.is_some() || !late.is_empty() {
        cases.push(case(format!("{name}: start latency within max_latency"), late));
    }
    // FMU code that does not return is a problem of the FMU.
    let others = take(left, |problem| problem.subject == own && problem.kind.topic() != Topic::FmuCode);
    if !others.is_empty() {
        cases.push(case(format!("{name}: other limits"), others));
    }
    cases
}

/// Checks of an FMU: its end, and its offences against the standard.
fn of_fmu(run: &Run, fmu: &FmuResult, left: &mut Vec<&Problem>) -> Vec<TestCase> {
    let own = Subject::Fmu(fmu.name.clone());
    let findings = take(left, |problem| problem.subject == own && problem.kind.topic() == Topic::Offence);
    // The clock is not to blame for FMU code that does not return.
    let is_of_status = |problem: &Problem| {
        problem.subject == own || (problem.subject.fmu() == Some(&fmu.name) && problem.kind.topic() == Topic::FmuCode)
    };
    let of_status = take(left, is_of_status);
    let bad = !matches!(fmu.status, FmuStatus::Terminated | FmuStatus::Aborted | FmuStatus::Running);
    let word = fmu.status.word();
    let case =
        |name: &str, failures| TestCase { class: format!("{}.{}", run.rig, fmu.name), name: name.into(), failures };
    let mut cases = vec![case("status", of_status), case("findings", findings)];
    if bad && cases[0].failures.is_empty() {
        let what = format!("{own} ended as \"{word}\"; the reason is in the suite of the run");
        cases[0].failures.push(("failure", what));
    }
    cases
}

fn suite(out: &mut String, run: &Run, id: usize, name: &str, cases: &[TestCase], log: &str) {
    let failures = cases.iter().filter(|case| !case.failures.is_empty()).count();
    // JUnit's times have no zone.
    let stamp = run.started.strip_suffix('Z').filter(|stamp| stamp.len() == 19).unwrap_or("1970-01-01T00:00:00");
    let time = if run.wall_seconds.is_finite() { run.wall_seconds } else { 0.0 };
    let (name, package) = (escape(name), escape(&run.rig));
    let _ = writeln!(
        out,
        "<testsuite id=\"{id}\" name=\"{name}\" package=\"{package}\" timestamp=\"{stamp}\" hostname=\"localhost\" \
         tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"{time:.3}\">\n<properties/>",
        cases.len()
    );
    for case in cases {
        let head = format!(
            "<testcase classname=\"{}\" name=\"{}\" time=\"{time:.3}\"",
            escape(&case.class),
            escape(&case.name)
        );
        let Some((kind, first)) = case.failures.first() else {
            let _ = writeln!(out, "{head}/>");
            continue;
        };
        let message = plain_lines(first).next().unwrap_or_default();
        // A case may have only one failure: further problems are in its text.
        let text: Vec<String> = case.failures.iter().flat_map(|(_, message)| plain_lines(message)).collect();
        let (message, text) = (escape(&message), escape_lines(&text.join("\n")));
        let _ = writeln!(out, "{head}>\n<failure type=\"{kind}\" message=\"{message}\">{text}</failure>\n</testcase>");
    }
    let _ = writeln!(out, "<system-out>{}</system-out>\n<system-err/>\n</testsuite>", escape_lines(log));
}

fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, sample};
    use super::*;
    use roxmltree::{Document, Node};

    fn failures(text: &str) -> Vec<(String, String)> {
        is_valid(text);
        let document = Document::parse(text).unwrap();
        let number = |node: &Node, name: &str| node.attribute(name).unwrap().parse::<usize>().unwrap();
        for suite in document.root_element().children().filter(Node::is_element) {
            let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
            let failed = cases.iter().filter(|case| case.children().any(|child| child.has_tag_name("failure"))).count();
            assert_eq!((number(&suite, "tests"), number(&suite, "failures")), (cases.len(), failed));
        }
        let nodes = document.descendants().filter(|node| node.has_tag_name("failure"));
        nodes
            .map(|node| {
                let case = node.parent().unwrap().attribute("name").unwrap();
                (case.to_owned(), node.text().unwrap_or_default().to_owned())
            })
            .collect()
    }

    fn inside<'a, 'i>(node: &Node<'a, 'i>) -> Vec<Node<'a, 'i>> {
        node.children().filter(Node::is_element).collect()
    }

    /// What Ant's JUnit.xsd asks of an element: its attributes, and its children in their order.
    fn is_valid(text: &str) {
        let document = Document::parse(text).unwrap();
        let names = |node: &Node| node.attributes().map(|attribute| attribute.name().to_owned()).collect::<Vec<_>>();
        let root = document.root_element();
        assert!(root.has_tag_name("testsuites") && names(&root).is_empty());
        for (id, suite) in inside(&root).iter().enumerate() {
            let all =
                ["id", "name", "package", "timestamp", "hostname", "tests", "failures", "errors", "skipped", "time"];
            assert_eq!((suite.tag_name().name(), names(suite)), ("testsuite", all.map(str::to_owned).to_vec()));
            assert_eq!(suite.attribute("id"), Some(&*id.to_string()));
            // A date and a time without a zone.
            let stamp = suite.attribute("timestamp").unwrap();
            let shape: String = stamp.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            assert_eq!(shape, "0000-00-00T00:00:00");
            let mut parts: Vec<&str> = inside(suite).iter().map(|node| node.tag_name().name()).collect();
            parts.dedup();
            assert_eq!(parts, ["properties", "testcase", "system-out", "system-err"]);
            for case in inside(suite).iter().filter(|node| node.has_tag_name("testcase")) {
                assert_eq!(names(case), ["classname", "name", "time"]);
                let failures = inside(case);
                assert!(failures.len() <= 1, "one failure at most");
                for failure in failures {
                    assert_eq!(
                        (failure.tag_name().name(), names(&failure)),
                        ("failure", vec!["type".into(), "message".into()])
                    );
                    assert!(inside(&failure).is_empty());
                }
            }
            let times =
                inside(suite).iter().chain([suite]).filter_map(|node| node.attribute("time")).collect::<Vec<_>>();
            assert!(times.iter().all(|time| time.parse::<f64>().is_ok_and(f64::is_finite)), "{times:?}");
        }
    }

    #[test]
    fn a_run_without_problems_has_a_case_for_each_check_and_no_failure() {
        let text = junit(&sample(1));
        assert!(failures(&text).is_empty());
        for name in ["\"task_1ms: overruns\"", "start latency within max_latency", "\"status\"", "\"findings\""] {
            assert!(text.contains(name), "no {name} in {text}");
        }
        assert_eq!(text.matches("<testsuite ").count(), 3, "both FMUs and the run");
    }

    #[test]
    fn each_problem_that_fails_the_run_is_in_one_case() {
        let mut run = sample(1);
        run.clocks[5].clock = "task_1ms: b".into();
        let clock = |clock: &str| Subject::Clock { fmu: "ecu".into(), clock: clock.into() };
        let limit = |subject, kind| Problem { severity: Severity::Limit, subject, kind };
        let finding = "fmu `ecu`: 2 calls of unlockPreemption without a lock";
        let offence = |severity| {
            let kind = Kind::Offence { offence: "lock_unbalanced".into(), count: 2, text: finding.into() };
            Problem { severity, subject: Subject::Fmu("ecu".into()), kind }
        };
        let failed = Kind::CallFailed {
            function: "fmi3GetFloat64".into(),
            outcome: "returned fmi3Error".into(),
            keys: vec![],
            last_words: vec!["no fuel".into()],
        };
        run.problems = vec![
            Problem::failure(Subject::Fmu("plant".into()), failed),
            Problem::other(Severity::Failure, "the disk is full"),
            limit(clock("task_1ms"), Kind::LatencyLimit { reached: 200_000, limit: 100_000 }),
            limit(clock("task_1ms: b"), Kind::OverrunLimit { count: 3, limit: 0 }),
            Problem::failure(
                clock("task_1ms"),
                Kind::ExecutionLimit { longest: 4_000, limit: 3_000, demoted: false, running: None },
            ),
            offence(Severity::Finding),
            Problem::warning(clock("task_1ms"), Kind::Overruns { count: 3, queues: false }),
        ];
        let all = failures(&junit(&run));
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "task_1ms: start latency within max_latency",
                "task_1ms: other limits",
                "task_1ms: b: overruns",
                "status",
                "run"
            ]
        );
        assert!(all[3].1.ends_with("its last words:\nno fuel") && all[4].1 == "the disk is full");
        // With --strict a finding is a failure.
        run.problems = vec![offence(Severity::Failure)];
        assert_eq!(failures(&junit(&run)), [("findings".to_owned(), finding.to_owned())]);
    }

    #[test]
    fn a_failed_run_has_a_failure_whatever_is_known_of_it() {
        let mut run = sample(1);
        (run.end, run.wall_seconds, run.started) = (super::super::End::Failure, f64::NAN, "?".into());
        assert_eq!(failures(&junit(&run)).len(), 1);
        (run.fmus, run.clocks) = (vec![], vec![]);
        assert_eq!(failures(&junit(&run)).len(), 1);
    }

    #[test]
    fn names_and_messages_are_text() {
        let evil = "]]></failure>\"&\u{1}\u{ffff}\x1b[2J<b>";
        let mut run = sample(1);
        run.rig = evil.into();
        run.fmus.iter_mut().for_each(|fmu| (fmu.name, fmu.log) = (evil.into(), vec![evil.into()]));
        run.clocks.iter_mut().for_each(|clock| (clock.fmu, clock.clock) = (evil.into(), evil.into()));
        run.problems = vec![Problem::other(Severity::Failure, format!("{evil}\n{evil}"))];
        let all = failures(&junit(&run));
        assert_eq!(all.len(), 1);
        assert!(all[0].1.starts_with("]]></failure>\"&\\u{1}\u{fffd}\\u{1b}[2J<b>\n]]>"), "{all:?}");
    }
}
