//! Problems of which only the words are known: those of `report.json`, which has their topics beside them (reports of before
//! have no more); lines of the runner, which come through shared memory as text. This is the one place that looks into words.

use super::{ClockResult, FmuResult, Kind, Problem, Severity, Subject, Topic};
use vecud_base::plain::plain;

impl Problem {
    /// A problem in these words, with as much of its subject and topic as they show among these instances and clocks.
    pub fn told(severity: Severity, words: impl Into<String>, fmus: &[FmuResult], clocks: &[ClockResult]) -> Problem {
        let words = words.into();
        let topic = match offender(&words, fmus) {
            Some(_) => Topic::Offence,
            None => topic(&words),
        };
        Problem::told_of(severity, topic, words, fmus, clocks)
    }

    /// Makes a problem with a known topic.
    pub(super) fn told_of(
        severity: Severity,
        topic: Topic,
        words: String,
        fmus: &[FmuResult],
        clocks: &[ClockResult],
    ) -> Problem {
        let subject = match offender(&words, fmus) {
            Some(fmu) => Subject::Fmu(fmu.name.clone()),
            None => subject(&words, fmus, clocks),
        };
        Problem { severity, subject, kind: Kind::Told { topic, words } }
    }
}

/// The FMU that has a finding with these words.
fn offender<'f>(words: &str, fmus: &'f [FmuResult]) -> Option<&'f FmuResult> {
    fmus.iter().find(|fmu| fmu.findings.iter().any(|finding| finding.message == words))
}

/// The subject at the beginning of the words. Among names with a common beginning, the longest match counts.
fn subject(words: &str, fmus: &[FmuResult], clocks: &[ClockResult]) -> Subject {
    // Steps are told without that word, and were told with it by earlier versions.
    let name = words.strip_prefix("clock ").unwrap_or(words);
    let begins = |clock: &&ClockResult| {
        let rest = name.strip_prefix(plain(&format!("{}.{}", clock.fmu, clock.clock)).as_str());
        rest.filter(|rest| rest.starts_with([':', ' ']))
    };
    let clock =
        clocks.iter().filter(|clock| begins(clock).is_some()).max_by_key(|clock| clock.fmu.len() + clock.clock.len());
    if let Some(ClockResult { fmu, clock, kind, .. }) = clock {
        return Subject::task(fmu, clock, *kind);
    }
    match fmus.iter().find(|fmu| words.starts_with(&format!("fmu `{}`", fmu.name))) {
        Some(fmu) => Subject::Fmu(fmu.name.clone()),
        None => Subject::Run,
    }
}

fn topic(words: &str) -> Topic {
    let has = |any: &[&str]| any.iter().any(|part| words.contains(part));
    match () {
        () if has(&["the FMU's code hangs", "has been in fmi"]) => Topic::FmuCode,
        () if has(&["(max_latency_us)"]) => Topic::LatencyLimit,
        () if has(&["(max_overruns)", "overrun = \"stop\""]) => Topic::OverrunLimit,
        () if has(&["(max_execution_us)"]) => Topic::ExecutionLimit,
        () if has(&["overrun"]) => Topic::Overruns,
        () if has(&["outside of FMU code"]) => Topic::Other,
        () if has(&["crashed", "(rig: call_timeout)", "called exit("]) => Topic::FmuCode,
        () => Topic::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Broken, FailureKey, FindingResult, LimitKey, ReportFile, hlog, html, json, junit, sample};
    use super::*;
    use vecud_plan::TaskKind;

    /// What reports sort problems by is in their words, too, so that a report that was read back sorts them alike.
    #[test]
    fn subject_and_topic_are_found_again_in_the_words() {
        let mut run = sample(1);
        run.clocks[5].clock = "task_1ms: b".into();
        let steps = run.clocks.iter_mut().find(|clock| clock.clock == "step").unwrap();
        steps.kind = TaskKind::Step;
        let finding = FindingResult { kind: "lock_leaked".into(), count: 1, message: "fmu `plant`: it did".into() };
        run.fmus[1].findings.push(finding.clone());
        let clock = |clock: &str| Subject::Clock { fmu: "ecu".into(), clock: clock.into() };
        let fmu = || Subject::Fmu("plant".into());
        let words = |words: &str| words.to_owned();
        run.problems = vec![
            Problem::failure(
                fmu(),
                Kind::Died { by_fmu_code: true, words: words("fmu `plant` crashed (SIGSEGV): it") },
            ),
            Problem::failure(
                clock("task_1ms"),
                Kind::Died {
                    by_fmu_code: true,
                    words: words("clock ecu.task_1ms was in fmi3GetFloat64, and the FMU's code hangs"),
                },
            ),
            Problem::failure(
                Subject::Run,
                Kind::Died { by_fmu_code: false, words: words("the runner crashed (SIGSEGV) outside of FMU code") },
            ),
            Problem::failure(
                fmu(),
                Kind::CallFailed {
                    function: words("fmi3GetFloat64"),
                    outcome: words("returned fmi3Warning"),
                    keys: vec![FailureKey::OnWarning],
                    last_words: vec![words("no fuel")],
                },
            ),
            Problem::failure(
                clock("task_1ms"),
                Kind::ExecutionLimit { longest: 4_000, limit: 3_000, demoted: true, running: None },
            ),
            Problem::failure(
                clock("task_1ms"),
                Kind::ExecutionLimit { longest: 4_000, limit: 2_000_000, demoted: true, running: Some(3_100_000_000) },
            ),
            Problem::failure(
                clock("task_1ms"),
                Kind::Hung {
                    function: words("fmi3ActivateModelPartition"),
                    time_s: 0.3,
                    since_s: 0.300012,
                    running: 3_100_000_000,
                    limit: Some(LimitKey::Overruns),
                    timeout_s: 2.0,
                    recorded_s: Some(0.3),
                },
            ),
            Problem::warning(
                clock("task_1ms"),
                Kind::Lasts {
                    function: words("fmi3ActivateModelPartition"),
                    time_s: 0.3,
                    running: 3_100_000_000,
                    found: 3_100,
                    recorded_s: Some(0.3),
                },
            ),
            Problem {
                severity: Severity::Limit,
                subject: clock("task_1ms"),
                kind: Kind::LatencyLimit { reached: 200_000, limit: 100_000 },
            },
            Problem {
                severity: Severity::Limit,
                subject: clock("task_1ms: b"),
                kind: Kind::OverrunLimit { count: 3, limit: 0 },
            },
            Problem {
                severity: Severity::Limit,
                subject: clock("crank_isr"),
                kind: Kind::StoppedByOverrun { due_s: 0.5, late: 7_000, queues: true },
            },
            Problem { severity: Severity::Finding, subject: fmu(), kind: Kind::Offence(finding) },
            Problem::warning(clock("task_1ms"), Kind::Overruns { count: 3, queues: false }),
            Problem::warning(
                Subject::Steps { fmu: "plant".into(), task: "step".into() },
                Kind::Overruns { count: 3, queues: false },
            ),
            Problem::warning(fmu(), Kind::SharedPriorities { words: words("fmu `plant`: 3 priority levels") }),
            Problem::warning(clock("task_1ms"), Kind::OtherCore { count: 1, planned: 2 }),
            Problem::warning(
                Subject::Run,
                Kind::MayDiffer {
                    columns: 2,
                    from_s: Some(0.5),
                    cause: words("an overrun of clock ecu.task_1ms"),
                    by_overrun: true,
                },
            ),
            Problem::warning(
                Subject::Run,
                Kind::StimulusBroken { words: words("drive.csv:3: no number"), effect: Broken::NotNeeded },
            ),
        ];
        // Of names that look like what a problem is about, the report says what it is.
        let mut named = run.clone();
        named.fmus[1].name = "overrun_crashed".into();
        named.problems = vec![Problem::failure(
            Subject::Fmu("overrun_crashed".into()),
            Kind::CallFailed {
                function: words("fmi3GetFloat64"),
                outcome: words("returned fmi3Error"),
                keys: Vec::new(),
                last_words: vec![words("called exit( (max_latency_us)")],
            },
        )];
        let again = ReportFile::parse(&json(&named)).unwrap().rebuild(&hlog(&named)).unwrap();
        assert_eq!(again.problems[0].kind.topic(), Topic::Other, "{:?}", again.problems);
        assert!(html(&again) == html(&named) && junit(&again) == junit(&named), "the reports differ");
        let mut read = run.clone();
        for (problem, read) in run.problems.iter().zip(&mut read.problems) {
            *read = Problem::told(problem.severity, problem.message(), &run.fmus, &run.clocks);
            assert_eq!(read.message(), problem.message());
            assert_eq!((&read.subject, read.kind.topic()), (&problem.subject, problem.kind.topic()), "{read:?}");
        }
        assert!(html(&read) == html(&run) && junit(&read) == junit(&run), "the reports differ");
    }
}
