//! A report is read back as it was written.

use super::*;
use crate::{
    ConnectionResult, DatagramCounts, Distribution, End, Ended, Fact, FindingResult, FmuStatus, Problem, Run,
    Scheduling, Screen, Severity, StimulusResult, Topic, TraceFile, checkpoint, hlog, html, json, junit, sample,
    summary,
};
use proptest::prelude::*;
use vecud_plan::{Interpolation, Mode, TaskKind, TraceMode};

fn odd() -> Run {
    let mut run = sample(5);
    run.problems =
        vec![Problem::other(Severity::Limit, "late\n    by far"), Problem::other(Severity::Warning, "ä \"quoted\"")];
    run.notes = vec!["a note".into()];
    (run.end, run.mode, run.host.scheduling) = (End::Signal, Mode::RealTime, Scheduling::Cooperative);
    run.host.fifo_band_used = None;
    (run.samples_dropped, run.log_dropped) = (3, 4);
    run.fmus[0].findings =
        vec![FindingResult { kind: "leaked_lock".into(), count: 2, message: "it kept the lock".into() }];
    run.clocks[1].clock = "two words, and a comma".into();
    run.clocks[2].execution = Distribution::default();
    run.clocks[0].datagrams = Some(DatagramCounts { received: 5, rate_limited: 1, dropped: 2 });
    run.clocks[0].arrival_latency = Some(Distribution::of([30_000, 7]));
    run
}

#[test]
fn what_was_written_reads_back_as_the_same_run() {
    for run in [sample(1), odd()] {
        let read = ReportFile::parse(&json(&run)).unwrap().rebuild(&hlog(&run)).unwrap();
        assert_eq!(json(&read), json(&run));
        assert_eq!(hlog(&read), hlog(&run));
        assert!(html(&read) == html(&run), "the pages differ");
    }
}

/// A checkpoint is enough for the whole report of a run that has not ended; the report of one that has is none.
#[test]
fn a_checkpoint_holds_the_run_and_its_histograms() {
    for run in [sample(1), odd()] {
        let run = Run { ended: Ended::Running, ..run };
        let file = ReportFile::parse(&checkpoint(&run)).unwrap();
        assert!(!file.is_finished() && file.run.problems.len() == run.problems.len());
        for (goes_on, ended) in [(true, Ended::Running), (false, Ended::CutOff)] {
            let read = file.clone().judged(goes_on).of_checkpoint().unwrap().unwrap();
            assert_eq!((read.ended, read.end, read.problems.len()), (ended, End::Failure, run.problems.len() + 1));
            assert_eq!(read.problems[0].severity, Severity::Failure);
            let expected = run.clone().unfinished(goes_on);
            assert_eq!(json(&read), json(&expected));
            assert!(html(&read) == html(&expected) && hlog(&read) == hlog(&run));
            // What was made of it while the run went on says once what has become of it since.
            let before = ReportFile::parse(&json(&run.clone().unfinished(true))).unwrap();
            assert_eq!(json(&before.judged(goes_on).run), json(&expected));
        }
    }
    let finished = checkpoint(&sample(1));
    assert!(ReportFile::parse(&finished).unwrap().of_checkpoint().is_none());
    let report = json(&Run { ended: Ended::Running, ..sample(1) });
    assert!(report.contains("\"verdict\": \"fail\"") && ReportFile::parse(&report).unwrap().of_checkpoint().is_none());
}

/// A run that has, or has not, each of the things that a run need not have.
fn any_run() -> impl Strategy<Value = Run> {
    let texts = proptest::collection::vec("\\PC{0,12}", 0..4);
    let trace = (proptest::option::of(0..3_usize), proptest::collection::vec((0..1_i64 << 50, any::<u32>()), 0..3));
    let numbers = (any::<f64>().prop_filter("JSON has no others", |x| x.is_finite()), any::<i64>(), any::<u64>());
    let parts = (any::<[bool; 8]>(), 0..4_usize, 0..7_usize);
    (0..4_u64, texts, numbers, trace, parts).prop_map(
        |(seed, texts, (time, start, count), (mode, files), (has, one, clock))| {
            let mut run = sample(seed);
            let severities = [Severity::Failure, Severity::Limit, Severity::Finding, Severity::Warning];
            let told = |(i, text): (usize, &String)| Problem::other(severities[(i + one) % 4], text.as_str());
            run.problems = texts.iter().enumerate().map(told).collect();
            run.notes = texts.clone();
            (run.start_monotonic_ns, run.end_time, run.samples_dropped) = (start, time, count);
            run.end = [End::StopTime, End::Signal, End::Overrun, End::Failure][one];
            run.repetition = has[0].then_some(3);
            run.host.facts = texts.iter().map(|text| Fact { name: text.clone(), value: text.clone() }).collect();
            run.host.fifo_band_used = run.host.fifo_band_used.filter(|_| has[1]);
            run.fmus[0].status = [FmuStatus::Error, FmuStatus::Fatal, FmuStatus::Crashed, FmuStatus::Hung][one];
            let finding = |text: &String| FindingResult { kind: text.clone().into(), count, message: text.clone() };
            run.fmus[1].findings = texts.iter().map(finding).collect();
            let own = &mut run.clocks[clock];
            own.interval_s = has[2].then_some(time);
            own.fmi_priority = own.fmi_priority.filter(|_| has[3]);
            own.kind = if has[3] { own.kind } else { TaskKind::Step };
            own.over_time = own.over_time.take().filter(|_| has[4]);
            if has[5] {
                (own.parts, own.causes, own.schedulability) = Default::default();
            }
            own.datagrams = has[6].then_some(DatagramCounts { received: count, rate_limited: 1, dropped: 2 });
            own.arrival_latency = has[6].then(|| own.wakeup_latency.clone());
            let interpolation = if has[7] { Interpolation::Hold } else { Interpolation::Linear };
            let stimulus = |text: &String| StimulusResult {
                file: text.clone(),
                interpolation,
                columns: one,
                columns_left_out: clock,
                rows: count,
                starved: count,
                first_starved: has[7].then(|| (text.clone(), time)),
            };
            run.stimuli = texts.iter().map(stimulus).collect();
            run.trace.mode = mode.map(|mode| [TraceMode::Off, TraceMode::All, TraceMode::Flight][mode]);
            let file = |(from, activations): &(i64, u32)| TraceFile {
                why: texts.clone(),
                from: *from,
                to: from + 7,
                activations: u64::from(*activations),
                ..TraceFile::new("trace.json")
            };
            run.trace.files = files.iter().map(file).collect();
            run
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever a run has or has not: what was written is read, and written again in the same bytes.
    #[test]
    fn what_is_written_again_has_the_same_bytes(run in any_run()) {
        let text = json(&run);
        let read = ReportFile::parse(&text).unwrap().rebuild(&hlog(&run)).unwrap();
        prop_assert!(json(&read) == text);
    }
}

/// Problems were texts, with what they mean beside them; `format-1.json` is of a real run, less of its figures.
#[test]
fn a_report_of_format_1_is_read_and_shown() {
    let text = include_str!("format-1.json");
    let old: serde_json::Value = serde_json::from_str(text).unwrap();
    let run = ReportFile::parse(text).unwrap().run;
    let of = |problem: &Problem| (problem.severity, problem.kind.topic());
    let meanings = [
        (Severity::Failure, Topic::Other),
        (Severity::Failure, Topic::ExecutionLimit),
        (Severity::Limit, Topic::LatencyLimit),
        (Severity::Finding, Topic::Offence),
    ];
    assert_eq!(run.problems.iter().map(of).collect::<Vec<_>>(), meanings);
    let texts: Vec<&str> = old["problems"].as_array().unwrap().iter().filter_map(|text| text.as_str()).collect();
    assert_eq!(run.problems.iter().map(Problem::message).collect::<Vec<_>>(), texts);
    let (table, page, cases) =
        (summary(&run, "", Screen { columns: 80, lines: 50, color: false }, &[]), html(&run), junit(&run));
    for (text, (severity, _)) in texts.iter().zip(meanings) {
        let begin = text.lines().next().and_then(|line| line.rsplit('`').next()).unwrap();
        assert!(table.contains(begin) && page.contains(begin), "{text}");
        assert!(cases.contains(begin) || severity == Severity::Finding, "{text}: {cases}");
    }
    assert!(page.contains("make the partition shorter") && page.contains("tell whoever makes the FMU"), "{page}");
    // Written again it is of the present format.
    assert_eq!(ReportFile::parse(&json(&run)).unwrap().run.problems, run.problems);
    let later = text.replace(&serde_json::to_string(&old["problem_topics"]).unwrap(), "[\"torn\"]");
    assert_ne!(later, text);
    assert!(ReportFile::parse(&later).unwrap().run.problems.iter().all(|own| own.kind.topic() == Topic::Other));
}

/// Later versions may call it so.
#[test]
fn a_degraded_run_has_passed_with_a_note() {
    let text = json(&sample(1)).replace("\"verdict\": \"pass\"", "\"verdict\": \"degraded\"");
    let file = ReportFile::parse(&text).unwrap();
    assert!(crate::passed(file.run()) && file.run().notes.last().unwrap().contains("degraded"));
}

#[test]
fn the_log_of_another_run_is_refused() {
    let run = sample(1);
    let report = ReportFile::parse(&json(&run)).unwrap();
    assert!(report.has_histograms());
    let words = |log: &str| report.rebuild(log).unwrap_err().message;
    assert!(words("").starts_with("has no line of the histogram ecu.crank_isr.wakeup_latency of report.json; "));
    let whole = hlog(&run);
    assert!(words(&whole[..whole.len() / 2]).contains(" the histogram "));
    assert!(words("nonsense\n").starts_with("has a line that cannot be read instead of"));
    let mut other = sample(1);
    other.clocks[0].wakeup_latency = Distribution::of([1, 2, 3]);
    assert!(words(&hlog(&other)).starts_with("has other values than the histogram ecu.crank_isr.wakeup_latency"));
    other.clocks.remove(0);
    assert!(words(&hlog(&other)).starts_with("has no line of the histogram ecu.crank_isr.wakeup_latency"));
}

#[test]
fn a_file_that_is_no_report_says_what_it_is() {
    let text = json(&sample(1));
    let words = |text: &str| ReportFile::parse(text).unwrap_err();
    let cut = words(&text[..300]);
    assert!(cut.place.is_some() && cut.message.contains("this file is damaged or no report.json"), "{cut:?}");
    assert!(words("{\"a\": 1}").message.contains("this is no report.json of vecud"));
    let newer = words(&text.replace("\"version\": \"0.1.0\"", "\"version\": \"9.0.0\"").replace("end_time", "until"));
    let expected = "missing field `end_time`: vecud 9.0.0 wrote this report, this is vecud ";
    assert!(newer.message.starts_with(expected), "{newer:?}");
    let unknown = words(&text.replace("\"stop_time\"", "\"tired\""));
    assert!(unknown.message.starts_with("the end \"tired\" is not known to vecud "), "{unknown:?}");
}

#[test]
fn base64_of_any_length() {
    assert_eq!(base64("").unwrap(), b"");
    assert_eq!(base64("TQ==").unwrap(), b"M");
    assert_eq!(base64("TWFu+/8=").unwrap(), [b'M', b'a', b'n', 0xfb, 0xff]);
    assert_eq!(base64("T W"), None);
    assert_eq!(base64("ü"), None);
}

/// A report may come from elsewhere: no text of it becomes markup. Each text is replaced by a tag in turn.
#[test]
fn no_text_of_a_foreign_report_becomes_markup() {
    let mut run = odd();
    run.connections.push(ConnectionResult {
        from: "a.y".into(),
        to: "b.u".into(),
        timing: "immediate".into(),
        delay: "at once".into(),
        missed: 0,
        overwritten: 0,
    });
    let (log, text) = (hlog(&run), json(&run));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut places = Vec::new();
    texts(&report, String::new(), &mut places);
    let mut shown = 0;
    for place in &places {
        let mut foreign = report.clone();
        *foreign.pointer_mut(place).unwrap() = "<x-foreign>&".into();
        let Ok(run) = ReportFile::parse(&foreign.to_string()).and_then(|report| report.rebuild(&log)) else { continue };
        let page = html(&run);
        assert!(!page.contains("<x-foreign"), "{place}");
        shown += usize::from(page.contains("&lt;x-foreign"));
    }
    assert!(shown > 20, "{shown} of {} texts are on the page", places.len());
}

/// The places of all texts, as JSON pointers.
fn texts(value: &serde_json::Value, place: String, places: &mut Vec<String>) {
    match value {
        serde_json::Value::String(_) => places.push(place),
        serde_json::Value::Array(all) => {
            all.iter().enumerate().for_each(|(index, value)| texts(value, format!("{place}/{index}"), places));
        }
        serde_json::Value::Object(all) => {
            all.iter().for_each(|(name, value)| texts(value, format!("{place}/{name}"), places));
        }
        _ => (),
    }
}
