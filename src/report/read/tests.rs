//! A report is read back as it was written.

use super::*;
use crate::report::{ConnectionResult, hlog, html, sample};

fn odd() -> Run {
    let mut run = sample(5);
    run.problems = vec![
        Problem::told(Severity::Limit, "late\n    by far", &[], &[]),
        Problem::told(Severity::Warning, "ä \"quoted\"", &[], &[]),
    ];
    run.notes = vec!["a note".into()];
    (run.end, run.mode, run.host.scheduling) = (End::Signal, Mode::RealTime, Scheduling::Cooperative);
    run.host.fifo_band_used = None;
    (run.samples_dropped, run.log_dropped) = (3, 4);
    run.fmus[0].findings =
        vec![FindingResult { kind: "leaked_lock".into(), count: 2, message: "it kept the lock".into() }];
    run.clocks[1].clock = "two words, and a comma".into();
    run.clocks[2].execution = Histogram::default();
    let arrival_latency = Histogram::of([30_000, 7]);
    run.clocks[0].datagrams = Some(DatagramResult { received: 5, rate_limited: 1, dropped: 2, arrival_latency });
    run
}

#[test]
fn what_was_written_reads_back_as_the_same_run() {
    for run in [sample(1), odd()] {
        let read = ReportFile::parse(&json::json(&run)).unwrap().rebuild(&hlog(&run)).unwrap();
        assert_eq!(json::json(&read), json::json(&run));
        assert_eq!(hlog(&read), hlog(&run));
        assert!(html(&read) == html(&run), "the pages differ");
    }
}

#[test]
fn the_log_of_another_run_is_refused() {
    let run = sample(1);
    let report = ReportFile::parse(&json::json(&run)).unwrap();
    assert!(report.has_histograms());
    let words = |log: &str| report.rebuild(log).unwrap_err().message;
    assert!(words("").starts_with("ends before the histogram ecu.crank_isr.wakeup_latency of report.json; "));
    let whole = hlog(&run);
    assert!(words(&whole[..whole.len() / 2]).contains(" the histogram "));
    assert!(words("nonsense\n").starts_with("has a line that cannot be read instead of"));
    let mut other = sample(1);
    other.clocks[0].wakeup_latency = Histogram::of([1, 2, 3]);
    assert!(words(&hlog(&other)).starts_with("has other values than the histogram ecu.crank_isr.wakeup_latency"));
    other.clocks.remove(0);
    assert!(words(&hlog(&other)).starts_with("has something else instead of"));
}

#[test]
fn a_file_that_is_no_report_says_what_it_is() {
    let text = json::json(&sample(1));
    let words = |text: &str| ReportFile::parse(text).unwrap_err();
    let cut = words(&text[..300]);
    assert!(cut.place.is_some() && cut.message.contains("this file is damaged or no report.json"), "{cut:?}");
    assert!(words("{\"a\": 1}").message.contains("this is no report.json of vecud"));
    let newer = words(&text.replace("\"version\": \"0.1.0\"", "\"version\": \"9.0.0\"").replace("end_time", "until"));
    let expected = "missing field `end_time`: vecud 9.0.0 wrote this report, this is vecud ";
    assert!(newer.message.starts_with(expected), "{newer:?}");
    let unknown = ReportFile::parse(&text.replace("\"stop_time\"", "\"tired\"")).unwrap().rebuild(&hlog(&sample(1)));
    assert!(unknown.unwrap_err().message.starts_with("the end \"tired\" is not known to vecud "));
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
    let (log, text) = (hlog(&run), json::json(&run));
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
