//! `GET /metrics`: families as Prometheus wants them, with the figures that the other answers have.

use super::client::{Daemon, kept_every_release, tracer};
use super::exposition::{Exposition, Labels, scraped};
use super::program::{changed_tracer, runner_of, send, shared_core, skipped, wait_until};
use nix::sys::signal::Signal::{SIGCONT, SIGSTOP};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const HISTOGRAMS: [(&str, &str); 4] = [
    ("vecud_clock_wakeup_latency_seconds", "wakeup_latency"),
    ("vecud_clock_start_latency_seconds", "start_latency"),
    ("vecud_clock_execution_seconds", "execution"),
    ("vecud_clock_response_seconds", "response"),
];

/// Prometheus' own tool; `None`: it is not there, which is said.
pub fn promtool(test: &str, arguments: &[&str]) -> Option<Command> {
    let program = std::env::var_os("VECUD_PROMTOOL").unwrap_or_else(|| OsString::from("promtool"));
    let mut command = Command::new(program);
    match command.arg("--version").output() {
        Ok(_) => {
            let mut command = Command::new(command.get_program());
            command.args(arguments);
            Some(command)
        }
        Err(error) => {
            skipped(test, &format!("promtool (VECUD_PROMTOOL, or in PATH): {error}"));
            None
        }
    }
}

/// What Prometheus' tool says of this text; nothing, if it is content.
fn complaints(test: &str, text: &str) -> Option<String> {
    let mut command = promtool(test, &["check", "metrics"])?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some(String::from_utf8(said).unwrap() + if output.status.success() { "" } else { "failed" })
}

/// A rig that comes to rest: a clock that ticks a hundred times, others whose second release nobody lives to see.
fn resting(folder: &Path) -> String {
    let hour = "intervalDecimal=\"3600\"";
    let periods = ["0.001", "0.002", "0.003", "0.01"].map(|period| format!("intervalDecimal=\"{period}\""));
    let changes: Vec<(&str, &str)> = periods.iter().map(|period| (period.as_str(), hour)).collect();
    let fmu = changed_tracer(folder, "../modelDescription.xml", &changes);
    let times: Vec<String> = (1..=100).map(|n| format!("{}", f64::from(n) * 0.005)).collect();
    let trigger = format!("[[trigger]]\nclock = 'tracer.high'\nat = [{}]\n", times.join(", "));
    format!(
        "[rig]\n[fmu.tracer]\npath = '{}'\n{trigger}[record]\nsignals = ['tracer.count_high']\nrotate = '100ms'\n",
        fmu.display()
    )
}

/// What is measured is there with names, types and units by Prometheus' conventions, whether anything runs or not.
#[test]
fn families_are_as_prometheus_wants_them() {
    let test = "families_are_as_prometheus_wants_them";
    shared_core(|| {
        let daemon = Daemon::new();
        let names = |exposition: &Exposition| exposition.families.keys().cloned().collect::<Vec<_>>();
        let before = scraped(&daemon);
        daemon.put("a", &tracer("")).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let text = daemon.get("/metrics").body;
        let exposition = Exposition::parse(&text);
        assert_eq!(names(&before), names(&exposition), "no family comes or goes");
        for (name, family) in &exposition.families {
            assert!(name.starts_with("vecud_") && family.help.ends_with('.'), "{name}: {}", family.help);
            assert_eq!(family.kind == "counter", name.ends_with("_total"), "{name} is a {}", family.kind);
            assert!(family.kind != "histogram" || name.ends_with("_seconds"), "{name}");
            assert!(["counter", "gauge", "histogram"].contains(&family.kind.as_str()), "{name}: {}", family.kind);
        }
        assert_eq!(exposition.value("vecud_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), Some(1.0));
        if let Some(said) = complaints(test, &text) {
            assert_eq!(said, "");
            assert_ne!(complaints(test, "# TYPE bad counter\nbad 1\n").unwrap(), "", "it does complain");
        }
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

/// Who prefers OpenMetrics gets that; everybody else the text format.
#[test]
fn the_format_is_the_one_that_is_asked_for() {
    let daemon = Daemon::new();
    for (accept, is_open) in [
        ("*/*", false),
        ("text/html", false),
        ("text/plain;version=0.0.4", false),
        ("application/openmetrics-text;version=1.0.0", true),
        ("application/openmetrics-text; version=1.0.0; q=0.75, text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true),
        ("text/plain;version=0.0.4;q=0.9,Application/OpenMetrics-Text;q=0.8", false),
        ("application/openmetrics-text;q=0", false),
    ] {
        let answer = daemon.ask_with("GET", "/metrics", &format!("accept: {accept}\r\n"), "");
        let kind = if is_open { "application/openmetrics-text; version=1.0.0" } else { "text/plain; version=0.0.4" };
        assert!(answer.kind.starts_with(kind), "{accept}: {}", answer.kind);
        assert_eq!(answer.body.ends_with("\n# EOF\n"), is_open, "{accept}");
        assert_eq!(answer.body.contains("# TYPE vecud_clock_overruns counter"), is_open, "{accept}");
    }
}

/// A runner that gets no processor time: releases that are overdue are overruns at once, in the figures of clocks and in metrics.
#[test]
fn releases_that_are_overdue_are_seen_before_any_of_them_begins() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &tracer("")).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let clocks = || -> u64 {
            let clocks = daemon.get("/v1/rigs/a/clocks").json(200);
            clocks.as_array().unwrap().iter().map(|clock| clock["overruns"].as_u64().unwrap()).sum()
        };
        let metrics =
            || -> f64 { scraped(&daemon).series("vecud_clock_overruns_total").iter().map(|series| series.value).sum() };
        let runner = runner_of(daemon.child());
        send(runner, SIGSTOP);
        let (before, earlier) = (clocks(), metrics());
        wait_until("clocks say so", || clocks() > before + 100);
        wait_until("metrics say so", || metrics() > earlier + 100.0);
        let standing = metrics();
        send(runner, SIGCONT);
        for _ in 0..20 {
            assert!(metrics() >= standing, "what was counted stays counted");
        }
        assert!(clocks() as f64 >= standing);
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

/// At rest all figures are those of `GET clocks` and of the files.
#[test]
fn figures_are_those_of_the_clocks() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &resting(daemon.folder.path())).json(201);
        let run = daemon.post("/v1/rigs/a/start", "").json(200)["run"].as_str().unwrap().to_owned();
        let clocks = || daemon.get("/v1/rigs/a/clocks").json(200).as_array().unwrap().clone();
        let count = |clock: &Value, figure: &str| clock[figure]["count"].as_u64().unwrap();
        wait_until("all activations are over, and their notes are read", || {
            let clocks = clocks();
            let is_over = |clock: &Value| HISTOGRAMS.iter().all(|(_, own)| count(clock, own) == clock["activations"]);
            clocks.iter().any(|clock| clock["activations"] == 100) && clocks.iter().all(is_over)
        });
        let folder = daemon.folder.path().join("state/rigs/a/runs").join(run);
        let recorded = |name: &str| scraped(&daemon).value(name, &[("rig", "a")]).unwrap();
        wait_until("all rows are written", || recorded("vecud_recording_rows_total") >= 100.0);
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let recordings = names.filter(|path| path.extension().is_some_and(|extension| extension == "csv"));
        let texts: Vec<String> = recordings.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert!(texts.len() > 3, "{} files", texts.len());
        let rows: usize = texts.iter().map(|text| text.lines().count() - 1).sum();
        assert_eq!(recorded("vecud_recording_rows_total") as usize, rows);
        let bytes: usize = texts.iter().map(String::len).sum();
        assert_eq!(recorded("vecud_recording_written_bytes_total") as usize, bytes);
        for name in ["late_samples", "failures", "dropped_samples"] {
            assert_eq!(recorded(&format!("vecud_recording_{name}_total")), 0.0, "{name}");
        }
        let (before, exposition) = (clocks(), scraped(&daemon));
        assert_eq!(clocks(), before, "it rests");
        assert_eq!(exposition.series("vecud_clock_activations_total").len(), before.len());
        for clock in &before {
            let name = clock["clock"].as_str().unwrap();
            let labels = [("rig", "a"), ("fmu", "tracer"), ("clock", name)];
            for counter in ["activations", "overruns", "skipped", "coalesced", "retimed", "discarded"] {
                let value = exposition.value(&format!("vecud_clock_{counter}_total"), &labels);
                assert_eq!(value, clock[counter].as_f64(), "{counter} of {name}");
            }
            for (family, figure) in HISTOGRAMS {
                let figures = &clock[figure];
                let value = exposition.value(&format!("{family}_count"), &labels);
                assert_eq!(value, figures["count"].as_f64(), "{figure} of {name}");
                let sum = exposition.value(&format!("{family}_sum"), &labels).unwrap();
                let expected = figures["mean"].as_f64().unwrap() * figures["count"].as_f64().unwrap() / 1e9;
                assert!((sum - expected).abs() < 1e-9, "{figure} of {name}: {sum}, not {expected}");
                let buckets = exposition.series(family).iter().filter(|series| {
                    series.name.ends_with("_bucket") && series.labels["clock"] == name && series.labels["le"] != "+Inf"
                });
                for bucket in buckets {
                    let bound = bucket.labels["le"].parse::<f64>().unwrap() * 1e9;
                    let is_all = bucket.value == figures["count"].as_f64().unwrap();
                    let (max, min) = (figures["max"].as_f64().unwrap(), figures["min"].as_f64().unwrap());
                    assert!(max >= bound * 127.0 / 128.0 || is_all, "{bucket:?} with at most {max}");
                    assert!(max <= bound || !is_all || figures["count"] == 0, "{bucket:?} with up to {max}");
                    assert!(min <= bound || bucket.value == 0.0, "{bucket:?} with at least {min}");
                }
            }
        }
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

/// Of histograms each bucket has those below it as well, and the last one all.
#[test]
fn buckets_are_cumulative_and_the_last_one_has_all() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &tracer("")).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let fast = [("rig", "a"), ("clock", "fast")];
        wait_until("there is something", || {
            scraped(&daemon).value("vecud_clock_response_seconds_count", &fast).is_some_and(|count| count > 50.0)
        });
        let exposition = scraped(&daemon);
        let histograms = exposition.families.iter().filter(|(_, family)| family.kind == "histogram");
        let mut seen = 0;
        for (name, family) in histograms {
            let mut all: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
            for series in family.series.iter().filter(|series| series.name.ends_with("_bucket")) {
                let mut labels = series.labels.clone();
                let bound = labels.remove("le").unwrap();
                let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
                all.entry(labels).or_default().push((bound, series.value));
            }
            for (labels, buckets) in all {
                assert!(buckets.is_sorted() && buckets.is_sorted_by_key(|(_, count)| *count), "{name} {buckets:?}");
                assert_eq!((buckets.len(), buckets.last().unwrap().0), (19, f64::INFINITY));
                let own = labels.iter().map(|(label, value)| (label.as_str(), value.as_str())).collect::<Vec<_>>();
                let count = exposition.value(&format!("{name}_count"), &own);
                assert_eq!(count, Some(buckets.last().unwrap().1), "{name} {labels:?}");
                assert!(exposition.value(&format!("{name}_sum"), &own).is_some(), "{name} {labels:?}");
                seen += 1;
            }
        }
        assert_eq!(seen, 4 * 7 + 2, "four of each clock, two of the FMU");
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

/// Nothing that grows falls as long as a run goes on; a rig that does not run has nothing of it; the next run begins at 0.
#[test]
fn counters_grow_until_the_run_is_over() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &tracer("")).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let key = |series: &super::exposition::Series| (series.name.clone(), series.labels.clone());
        let mut last: BTreeMap<(String, Labels), f64> = BTreeMap::new();
        for _ in 0..40 {
            let exposition = scraped(&daemon);
            let now: BTreeMap<_, _> = exposition.growing().map(|series| (key(series), series.value)).collect();
            for (series, value) in &last {
                assert!(
                    now.get(series).is_some_and(|now| now >= value),
                    "{series:?} was {value}: {:?}",
                    now.get(series)
                );
            }
            last = now;
            std::thread::sleep(Duration::from_millis(5));
        }
        let fast = |exposition: &Exposition| {
            exposition.value("vecud_clock_activations_total", &[("rig", "a"), ("clock", "fast")])
        };
        let before = fast(&scraped(&daemon)).unwrap();
        // One second, within which the next run is looked at.
        wait_until("there is more of it than there can be soon", || fast(&scraped(&daemon)).unwrap() > before + 1000.0);
        daemon.post("/v1/rigs/a/stop", "").json(200);
        let idle = scraped(&daemon);
        assert_eq!(fast(&idle), None);
        let of_rig = |exposition: &Exposition| {
            let series = exposition.families.values().flat_map(|family| &family.series);
            series
                .filter(|series| series.labels.contains_key("rig"))
                .map(|series| series.name.clone())
                .collect::<Vec<_>>()
        };
        assert!(of_rig(&idle).iter().all(|name| name.starts_with("vecud_rig_")), "{:?}", of_rig(&idle));
        daemon.post("/v1/rigs/a/start", "").json(200);
        assert!(fast(&scraped(&daemon)).unwrap() < before + 1000.0, "it begins anew");
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

/// What a rig is doing, and what came of its runs.
#[test]
fn states_verdicts_problems_and_restarts_are_there() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("good", &tracer("mode = 'virtual'\nstop_time = 0.1")).json(201);
        let keys = "[daemon]\nrestart = 'on-failure'\nrestart_delay = 0.1\nmax_restarts = 2\n";
        daemon.put("bad", &format!("{}start = {{ fail_kind = 5, fail_at = 20 }}\n{keys}", tracer(""))).json(201);
        let exposition = scraped(&daemon);
        assert_eq!(exposition.value("vecud_rigs", &[("state", "idle")]), Some(2.0));
        assert_eq!(exposition.series("vecud_rig_last_run_passed"), [], "there was none");
        for name in ["good", "bad"] {
            daemon.post(&format!("/v1/rigs/{name}/start"), "").json(200);
        }
        wait_until("both have ended for good", || {
            let status = daemon.get("/v1/rigs/bad").json(200);
            daemon.state("good") == "idle" && status["state"] == "failed" && status["restart_at"].is_null()
        });
        assert_eq!(daemon.get("/v1/rigs/nobody").status, 404);
        let exposition = scraped(&daemon);
        let value = |name: &str, labels: &[(&str, &str)]| exposition.value(name, labels).unwrap();
        for state in ["idle", "preparing", "running", "paused", "stopping", "failed"] {
            let of = |rig| value("vecud_rig_state", &[("rig", rig), ("state", state)]);
            let expected = (f64::from(u8::from(state == "idle")), f64::from(u8::from(state == "failed")));
            assert_eq!((of("good"), of("bad")), expected, "{state}");
            assert_eq!(value("vecud_rigs", &[("state", state)]), expected.0 + expected.1);
        }
        let of = |name: &str, more: &[(&str, &str)]| {
            ["good", "bad"].map(|rig| value(name, &[&[("rig", rig)], more].concat()))
        };
        assert_eq!(of("vecud_rig_runs_total", &[("verdict", "pass")]), [1.0, 0.0]);
        assert_eq!(of("vecud_rig_runs_total", &[("verdict", "fail")]), [0.0, 3.0]);
        assert_eq!(of("vecud_rig_restarts_total", &[]), [0.0, 2.0]);
        assert_eq!(of("vecud_rig_last_run_passed", &[]), [1.0, 0.0]);
        assert_eq!(of("vecud_rig_last_run_exit_code", &[]), [0.0, 1.0]);
        for rig in ["good", "bad"] {
            let run = daemon.get(&format!("/v1/rigs/{rig}")).json(200)["run"].as_str().unwrap().to_owned();
            let report = daemon.get(&format!("/v1/rigs/{rig}/runs/{run}")).json(200);
            let problems = report["problems"].as_array().unwrap();
            for severity in ["failure", "limit", "finding", "warning"] {
                let count = problems.iter().filter(|own| own["severity"] == severity).count();
                let own = value("vecud_rig_last_run_problems", &[("rig", rig), ("severity", severity)]);
                assert_eq!(own as usize, count, "{rig}: {severity}");
            }
            let faults = |kind: &str| value("vecud_rig_last_run_page_faults", &[("rig", rig), ("kind", kind)]);
            let counted = |kind: &str| -> u64 {
                let clocks = report["clocks"].as_array().unwrap().iter();
                clocks.filter_map(|clock| clock["causes"]["thread"]["later"][kind].as_u64()).sum()
            };
            assert_eq!(faults("minor") as u64, counted("minor_faults"));
            assert_eq!(faults("major") as u64, counted("major_faults"));
        }
        assert!(of("vecud_rig_last_run_problems", &[("severity", "failure")])[1] >= 1.0);
        assert_eq!(value("vecud_http_requests_total", &[("code", "404")]), 1.0);
        assert_eq!(value("vecud_http_requests_total", &[("code", "201")]), 2.0);
    });
}

/// In virtual time nothing is late: there are counters, and no latencies.
#[test]
fn a_run_in_virtual_time_has_counters_and_no_latencies() {
    let daemon = Daemon::new();
    daemon.put("a", &tracer("mode = 'virtual'\nstop_time = 1e9")).json(201);
    daemon.post("/v1/rigs/a/start", "").json(200);
    let labels = [("rig", "a"), ("mode", "virtual"), ("scheduling", "virtual")];
    wait_until("it says how it runs", || scraped(&daemon).value("vecud_run_info", &labels) == Some(1.0));
    let exposition = scraped(&daemon);
    assert!(exposition.value("vecud_clock_activations_total", &[("rig", "a"), ("clock", "fast")]).is_some());
    assert_eq!(exposition.series("vecud_clock_start_latency_seconds"), []);
    daemon.post("/v1/rigs/a/stop", "").json(200);
}

/// However many ask for metrics all the time: each of three rigs in real time keeps each of its releases, up to its stop time.
#[test]
fn scrapes_leave_rigs_that_run_alone() {
    const RIGS: [&str; 3] = ["a", "b", "c"];
    shared_core(|| {
        let daemon = &Daemon::new();
        for rig in RIGS {
            // Eight seconds: on a machine that is busy the third one runs late, and all of them have to be seen while they run.
            daemon.put(rig, &tracer("overrun = 'queue'\nstop_time = 8.0")).json(201);
            daemon.post(&format!("/v1/rigs/{rig}/start"), "").json(200);
        }
        let scrapes_of_all = AtomicU32::new(0);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    loop {
                        let answer = daemon.get("/metrics");
                        assert_eq!(answer.status, 200);
                        match answer.body.matches("\nvecud_run_info{").count() {
                            0 => break,
                            running => scrapes_of_all.fetch_add(u32::from(running == RIGS.len()), SeqCst),
                        };
                    }
                });
            }
        });
        let scrapes = scrapes_of_all.into_inner();
        assert!(scrapes >= 5, "{scrapes} while all of them ran");
        for rig in RIGS {
            wait_until("its report is written", || daemon.state(rig) == "idle");
            let status = daemon.get(&format!("/v1/rigs/{rig}")).json(200);
            let run = status["run"].as_str().unwrap();
            let report = daemon.get(&format!("/v1/rigs/{rig}/runs/{run}")).json(200);
            kept_every_release(&report);
            for clock in report["clocks"].as_array().unwrap() {
                if let Some(interval) = clock["interval_s"].as_f64() {
                    let due = (8.0 / interval).round() as u64;
                    let activations = ["activations", "skipped"].map(|own| clock[own].as_u64().unwrap()).iter().sum();
                    assert!((due..=due + 1).contains(&activations), "{rig}.{}: {activations} of {due}", clock["clock"]);
                }
            }
        }
    });
}
