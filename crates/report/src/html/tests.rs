use super::*;
use crate::{
    ClockResult, FmuResult, Kind, Picture, Problem, Scheduling, Severity, StimulusResult, Subject, TraceFile, sample,
};
use crate::{Distribution, Ended, Fact, Run};
use vecud_plan::{Interpolation, Mode, TraceMode, UnitId};
use vecud_record::recording::envelope::Overview;
use vecud_record::trace::{Activated, InnerSpan, Preempted, SectionKind, TraceItem};

/// Files beside the page.
const BESIDE: [&str; 6] =
    ["report.json", "junit.xml", "cyclictest.json", "histograms.hlog", "kernel-trace.txt", "run.log"];

/// No reference leaves the page, and no number is not one.
pub(super) fn is_sound(page: &str) {
    for reference in ["http://", "https://", "src=", "url(", "@import", "<script"] {
        assert!(!page.contains(reference), "{reference}");
    }
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(ids.iter().enumerate().all(|(i, id)| !ids[..i].contains(id)), "an anchor is there twice: {ids:?}");
    for link in page.split("href=").skip(1) {
        let target = link.strip_prefix('"').and_then(|rest| rest.split('"').next()).unwrap_or_default();
        // To a place on the page, or to a file that every run leaves beside it.
        let leads = match target.strip_prefix('#') {
            Some(id) => ids.contains(&id),
            None => {
                let traced = target.starts_with("trace") && target.ends_with(".json");
                BESIDE.contains(&target) || traced || vecud_record::recording::series::is_name_of_recording(target)
            }
        };
        assert!(leads, "a link leads nowhere: {}", &link[..link.len().min(40)]);
    }
    // Who cannot see a figure reads what it shows.
    for figure in page.split("<figure").skip(1) {
        let figure = figure.split("</figure>").next().unwrap();
        let has = |open: &str, close: &str| {
            let text =
                figure.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map_or("", |(text, _)| text);
            text.trim().len() > 3
        };
        let title = has("<h3>", "</h3>") || has("<h4>", "</h4>");
        assert!(title && has("<p>", "</p>") && has("role=\"img\" aria-label=\"", "\""), "{figure}");
    }
    for svg in page.split("<svg").skip(1) {
        let svg = svg.split("</svg>").next().unwrap();
        for (name, value) in
            svg.split('"').collect::<Vec<_>>().chunks(2).filter_map(|c| Some((*c.first()?, *c.get(1)?)))
        {
            let drawn =
                [" d=", " x=", " y=", "viewBox=", "transform="].iter().any(|attribute| name.ends_with(attribute));
            assert!(!drawn || !["NaN", "inf"].iter().any(|bad| value.contains(bad)), "{value}");
        }
    }
    for tag in ["section", "table", "figure", "details", "svg", "dl", "ul", "ol", "nav", "div"] {
        let (open, closed) = (page.matches(&format!("<{tag}")).count(), page.matches(&format!("</{tag}>")).count());
        assert_eq!(open, closed, "{tag}");
    }
}

/// The same histogram for everything that a clock measures.
pub(super) fn all(clock: &mut ClockResult, histogram: &Distribution) {
    for own in [
        &mut clock.wakeup_latency,
        &mut clock.start_latency,
        &mut clock.start_jitter,
        &mut clock.execution,
        &mut clock.response,
        &mut clock.parts.wakeup_machine,
    ] {
        *own = histogram.clone();
    }
}

/// What the signals of [`sample`] could have been: a speed that swings into its target after a load has come, and a flag.
pub(super) fn overview(run: &Run) -> Overview {
    let names: Vec<String> = run.signals.iter().map(|signal| signal.name.clone()).collect();
    let mut overview = Overview::of_report(&names, |_| false);
    for millisecond in 0..10_000 {
        let time = f64::from(millisecond) / 1e3;
        let since = (time - 4.0).max(0.0);
        let values = [
            850.0 - 80.0 * (-since).exp() * (3.0 * since).sin(),
            if time < 4.0 { 0.0 } else { 15.0 },
            850.0,
            f64::from(u8::from(time > 1.0)),
        ];
        overview.row(time, |place| values.get(place).copied());
    }
    overview
}

/// Signals are drawn beside the rest, and the page stays sound.
#[test]
fn recorded_signals_are_on_the_page() {
    let mut run = sample(1);
    assert!(!html(&run).contains("id=\"signals\""), "nothing was recorded");
    run.overview = Some(overview(&run));
    for mode in [Mode::RealTime, Mode::Virtual] {
        run.mode = mode;
        let page = html(&run);
        is_sound(&page);
        let section = page.split("id=\"signals\"").nth(1).unwrap().split("</section>").next().unwrap();
        for words in ["<h3>plant</h3>", "<h3>ecu</h3>", "0 to 15 N.m", "always 850 rpm", "<h4>idle</h4>"] {
            assert!(section.contains(words), "{words} is not in {section}");
        }
        assert!(page.contains("<a href=\"#signals\">Signals</a>"));
    }
}

/// Names of files are links, to files beside the page and to nothing else, whatever a report says.
#[test]
fn names_of_files_are_links_that_lead_nowhere_else() {
    let mut run = sample(1);
    for name in ["trace.json", "javascript:alert(1)", "../x", "a\"b", ".."] {
        run.trace.files.push(TraceFile::new(name));
    }
    let page = html(&run);
    is_sound(&page);
    for name in ["report.json", "trace.json", "run.log", "histograms.hlog"] {
        assert!(page.contains(&format!("<a href=\"{name}\"><code>{name}</code></a>")), "{name}");
    }
    assert!(page.contains("<code>javascript:alert(1)</code>") && !page.contains("href=\"javascript"));
}

/// What is folded up on the screen is on paper in every browser: it is no content of what folds it.
#[test]
fn paper_shows_what_is_folded_on_the_screen_whatever_the_browser() {
    let mut run = sample(1);
    run.notes = (0..30).map(|number| format!("note {number}")).collect();
    run.problems = (0..30).map(|number| Problem::other(Severity::Warning, format!("late {number}"))).collect();
    let page = html(&run);
    assert!(!page.contains("details-content"));
    let folds: Vec<&str> = page.split("<div class=\"fold\">").skip(1).collect();
    assert_eq!(
        folds.len(),
        7 + 7 + 3,
        "figures and worst activations of each clock, notes, problems, findings of doctor"
    );
    assert_eq!(page.matches("<details").count(), folds.len(), "all fold alike");
    for fold in folds {
        let (summary, body) = fold.split_once("</details>\n<div class=\"folded\">").unwrap();
        assert!(!summary.contains("<table") && !summary.contains("<li"));
        assert!(body.contains("<table") || body.contains("<li"));
    }
    let (_, print) = page.split_once("@media print").unwrap();
    assert!(print.contains(".fold > .folded { display: block; }"));
}

/// The machine alone is a line of the figure of wake-ups, with its date; what doctor said stands beside the machine's facts.
#[test]
fn doctor_has_a_line_and_a_verdict() {
    let mut run = sample(1);
    let page = html(&run);
    is_sound(&page);
    assert!(page.contains("doctor’s probe, 2026-02-28, FIFO 89") && page.contains("class=\"line baseline\""));
    assert!(
        page.contains("Fit for real time; 1 thing could be better") && page.contains("shares its units with core 6")
    );
    run.host.doctor = None;
    let page = html(&run);
    assert!(!page.contains("line baseline") && !page.contains("Doctor’s verdict"));
}

#[test]
fn a_page_needs_nothing_else() {
    let page = html(&sample(1));
    is_sound(&page);
    assert!(page.contains("<h2>Passed</h2>") && page.contains("plant.</span>tooth"));
    assert!(!page.contains("not real-time ready"));
}

#[test]
fn odd_histograms_are_drawn_too() {
    let huge = Distribution::of((0..1000).map(|i| i * 1_000_000_000_000));
    let cases = [
        Distribution::default(),
        Distribution::of([0]),
        Distribution::of([1]),
        Distribution::of([7_777]),
        Distribution::of(vec![12_000; 100_000]),
        Distribution::of([i64::MAX as u64]),
        Distribution::of((0..5000).map(|i| i % 7).chain([i64::MAX as u64])),
        huge,
    ];
    for histogram in &cases {
        for limit in [None, Some(0), Some(1), Some(50_000), Some(u64::MAX)] {
            let mut run = sample(1);
            for clock in &mut run.clocks {
                all(clock, histogram);
                clock.max_latency = limit;
            }
            is_sound(&html(&run));
            run.clocks.truncate(1);
            is_sound(&html(&run));
        }
    }
}

#[test]
fn nothing_at_all_is_a_page_too() {
    let mut run = sample(1);
    (run.clocks, run.fmus, run.wall_seconds, run.end_time) = (vec![], vec![], f64::NAN, f64::INFINITY);
    is_sound(&html(&run));
    run.mode = vecud_plan::Mode::Virtual;
    is_sound(&html(&run));
}

#[test]
fn names_and_messages_are_text() {
    let evil = "<script>alert('x')</script>\"&";
    let mut run = sample(1);
    run.rig = evil.into();
    run.problems = vec![Problem::other(Severity::Failure, evil)];
    run.notes = vec![evil.into()];
    run.version = evil.into();
    run.started = evil.into();
    run.command = vec![evil.into()];
    run.host.kernel = evil.into();
    run.host.cpu_model = evil.into();
    run.host.facts = vec![Fact { name: evil.into(), value: evil.into() }];
    for fmu in &mut run.fmus {
        (fmu.name, fmu.path, fmu.log) = (evil.into(), evil.into(), vec![evil.into()]);
    }
    for clock in &mut run.clocks {
        (clock.fmu, clock.clock, clock.thread, clock.activated_by) =
            (evil.into(), evil.into(), evil.into(), evil.into());
    }
    let page = html(&run);
    is_sound(&page);
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;"));
    assert!(!page.contains(evil) && !page.contains("alert('x')"));
}

#[test]
fn stimuli_have_a_table_where_there_are_some() {
    assert!(!html(&sample(1)).contains("<h3>Stimuli</h3>"));
    let mut run = sample(1);
    let stimulus = |file: &str, interpolation, starved| StimulusResult {
        file: file.into(),
        interpolation,
        columns: 3,
        columns_left_out: 2,
        rows: 12_345,
        starved,
        first_starved: (starved > 0).then(|| ("ecu.task_1ms".into(), 0.25)),
    };
    run.stimuli =
        vec![stimulus("<drive>.csv", Interpolation::Linear, 0), stimulus("teeth.csv", Interpolation::Hold, 1_500)];
    let page = html(&run);
    is_sound(&page);
    for expected in [
        "&lt;drive&gt;.csv</th><td>on the line</td><td class=\"n first\">12,345</td><td class=\"n\">3</td><td class=\"n\">2",
        "<td class=\"n zero\">0</td>",
        "<td class=\"n alarm\">1,500<br><small>first ecu.task_1ms at 0.25 s</small></td>",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
}

#[test]
fn messages_keep_their_lines() {
    let mut run = sample(1);
    run.problems = vec![Problem::other(Severity::Failure, "its last words:\n    no <fuel>")];
    let page = html(&run);
    is_sound(&page);
    assert!(page.contains("its last words:<br>no &lt;fuel&gt;</span>"));
}

#[test]
fn a_machine_that_is_not_ready_is_named() {
    let mut run = sample(1);
    (run.host.preempt_rt, run.host.scheduling) = (false, Scheduling::Cooperative);
    let page = html(&run);
    assert!(page.contains("The figures below are of a machine that is not real-time ready"));
    assert!(page.contains("the kernel is not a PREEMPT_RT one") && page.contains("without real-time priorities"));
}

/// Of a run that goes on the last load that is known is not that of its end.
#[test]
fn the_load_is_told_with_when_that_was() {
    for (ended, words) in [
        (Ended::Finished, "Load at its end"),
        (Ended::Running, "Load when this was written"),
        (Ended::CutOff, "Load when last written down"),
    ] {
        let page = html(&Run { ended, ..sample(1) });
        let loads: Vec<&str> = page.split("<dt>").filter(|part| part.starts_with("Load ")).collect();
        assert_eq!(loads.len(), 2);
        assert!(loads[1].starts_with(words), "{}", loads[1]);
    }
}

#[test]
fn what_was_granted_only_in_part_is_named() {
    let mut run = sample(1);
    let priority = |value| vecud_base::priority::FifoPriority::new(value).unwrap();
    run.host.fifo_band_used = Some((priority(54), priority(60)));
    (run.host.memory_locked, run.host.memory_locked_bytes) = (false, 8 << 20);
    let page = html(&run);
    is_sound(&page);
    assert!(page.contains("real-time priorities 54 to 60, limited: the rig asks for 51 to 89"));
    assert!(page.contains("locked only in part, 8.0 of 48.0 MiB"));
}

#[test]
fn virtual_time_has_no_latency_and_says_why() {
    let mut run = sample(1);
    (run.mode, run.host.scheduling, run.host.preempt_rt) = (vecud_plan::Mode::Virtual, Scheduling::Virtual, false);
    let page = html(&run);
    is_sound(&page);
    assert!(page.contains("There are no latencies") && !page.contains("Wake-up latency"));
    assert!(!page.contains("not real-time ready"));
}

#[test]
fn a_clock_without_activations_says_so() {
    let mut run = sample(1);
    run.clocks[2].activations = 0;
    all(&mut run.clocks[2], &Distribution::default());
    let page = html(&run);
    is_sound(&page);
    assert!(page.contains("It was never activated."));
}

/// A hundred FMUs with ten clocks each, all of them late.
fn large() -> crate::Run {
    let mut run = sample(1);
    let (fmu, clocks) = (run.fmus[0].clone(), run.clocks.clone());
    run.fmus = (0..100).map(|i| FmuResult { name: format!("ecu_{i}"), ..fmu.clone() }).collect();
    let clock = |i: usize| ClockResult {
        fmu: format!("ecu_{}", i / 10),
        clock: format!("task_{}", i % 10),
        overruns: 3,
        ..clocks[i % clocks.len()].clone()
    };
    run.clocks = (0..1000).map(clock).collect();
    let subject = |clock: &ClockResult| Subject::Clock { fmu: clock.fmu.clone(), clock: clock.clock.clone() };
    let late = |clock: &ClockResult| Problem::warning(subject(clock), Kind::Overruns { count: 3, queues: false });
    run.problems = run.clocks.iter().map(late).collect();
    run.notes = run.clocks.iter().map(|clock| format!("{}.{} never ticks", clock.fmu, clock.clock)).collect();
    run
}

#[test]
fn a_thousand_clocks_are_a_page_that_a_browser_opens() {
    let run = large();
    let page = html(&run);
    is_sound(&page);
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
    for words in [
        "Drawn: the 3 with the longest start latencies. Not drawn: 7 further clocks, max ",
        "988 further problems",
        "994 further notes",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(
        page.contains("The first 200 are listed here")
            && page.contains("Of 1,000 clocks the 100 with the most overruns")
    );
    // Each FMU has a page and an entry in the contents.
    assert!(page.contains("id=\"fmu-100\"") && page.contains("<a href=\"#fmu-100\">ecu_99</a>"));
}

#[test]
fn beyond_eight_clocks_the_shorter_ones_are_not_drawn_and_counted() {
    let mut run = sample(1);
    let clocks: Vec<_> = run.clocks.iter().filter(|clock| clock.fmu == "ecu").cloned().collect();
    run.clocks = (0..40).map(|i| clocks[i % clocks.len()].clone()).collect();
    let page = html(&run);
    is_sound(&page);
    assert!(page.contains("Drawn: the 8 with the longest start latencies. Not drawn: 32 further clocks, max "));
    assert!(page.len() < 2 << 20, "{}", page.len());
}

#[test]
fn problems_come_first_with_what_to_do_and_where_to_look() {
    let mut run = sample(1);
    let step = Subject::Steps { fmu: "plant".into(), task: "step".into() };
    run.problems = vec![
        Problem { severity: Severity::Limit, subject: step, kind: Kind::LatencyLimit { reached: 2_000, limit: 1_000 } },
        Problem::warning(
            Subject::Fmu("ecu".into()),
            Kind::Warnings { count: 1, status: "fmi3Warning".into(), in_run_log: true },
        ),
    ];
    let page = html(&run);
    is_sound(&page);
    let place = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words}"));
    let order = [
        "<h2>Failed</h2>",
        "(max_latency_us)",
        "Compare the clock’s wake-up",
        "<a class=\"where\" href=\"#fmu-2\">",
        "<a class=\"where\" href=\"#fmu-1\">",
        "<nav class=\"contents\"",
        "<h2>Overview</h2>",
        "<h2>Machine</h2>",
        "id=\"fmu-1\"",
        "id=\"fmu-2\"",
        "<h2>Details</h2>",
        "<h2>What the words mean</h2>",
    ];
    for pair in order.windows(2) {
        assert!(place(pair[0]) < place(pair[1]), "{} comes after {}", pair[0], pair[1]);
    }
}

#[test]
fn paper_has_a_sheet_for_each_fmu_and_no_cut_figure() {
    let page = html(&sample(1));
    let (_, print) = page.split_once("@media print").unwrap();
    for rule in [".fmu-page { break-before: page", "figure, .card", "break-inside: avoid", "color-scheme: light"] {
        assert!(print.contains(rule), "{rule}");
    }
    assert!(page.contains("@page { size: A4") && page.contains("@media (prefers-color-scheme: dark)"));
    // In grey, lines are told apart by their dashes and marks.
    for series in 0..8 {
        assert_eq!(crate::chart::marker(series, 0.0, 0.0).matches("<path").count(), 1);
        assert!((0..series).all(|other| crate::chart::marker(other, 0.0, 0.0)
            != crate::chart::marker(series, 0.0, 0.0).replace(&format!("s{series}"), &format!("s{other}"))));
    }
}

/// A comparison of recordings with one signal, and of runs.
fn compared(a: &str, b: &str, runs: [Option<&crate::Run>; 2], ratio: Option<f64>) -> String {
    use crate::compare::{ComparedTable, ComparedTimes, Comparison, Tolerances, clocks, curves, signals};
    let table = |text: &str| format!("time,plant.\"x\"&<y>\n{text}").replace("plant.\"x\"", "plant.x").into_bytes();
    let (a, b) = (table(a), table(b));
    let course = ComparedTimes { same_time: 1e-9, common_only: false, until: None, ends: [None; 2] };
    let open = || (ComparedTable::of_tool(&a[..]).unwrap(), ComparedTable::of_tool(&b[..]).unwrap());
    let (mut one, mut other) = open();
    let signals = signals(&mut one, &mut other, &course, &Tolerances::default()).unwrap();
    let (mut one, mut other) = open();
    let curves = curves(&mut one, &mut other, &course, &signals, 6).unwrap();
    let reports = runs.map(|run| run.map(|run| crate::ReportFile::parse(&crate::json(run)).unwrap()));
    let clocks = match &reports {
        [Some(a), Some(b)] => Some(clocks(a, b)),
        _ => None,
    };
    let names = ["a<b>".to_owned(), "b&c".to_owned()];
    let notes = vec!["a <note>".to_owned()];
    comparison_html(&Comparison {
        names,
        reports,
        signals: Some(signals),
        clocks,
        curves,
        ratio,
        common_only: false,
        notes,
    })
}

#[test]
fn a_comparison_is_a_sound_page_whatever_differs() {
    let (mut run, other) = (sample(1), sample(2));
    run.problems = vec![Problem::other(Severity::Failure, "<b>late</b>")];
    let mut virtual_time = sample(3);
    (virtual_time.mode, virtual_time.clocks[0].clock) = (vecud_plan::Mode::Virtual, "<other>".into());
    let recordings = [
        ("", ""),
        ("0,1\n", ""),
        ("0,1\n1,2\n", "0,1\n1,2\n"),
        ("0,1\n1,2\n", "0,1\n1,3\n"),
        ("0,1.5\n", "0,1.25\n"),
        ("0,1e308\n1,-1e308\n2,1\n", "0,-1e308\n1,1e308\n2,2\n"),
        ("0,nan\n1,5e-324\n", "0,inf\n1,0.0\n"),
        ("0,<script>\n1,\n", "0,\"a\"\n1,7\n"),
        ("-1e300,1\n1e300,2\n", "-1e300,1\n1e300,3\n"),
    ];
    for (a, b) in recordings {
        for runs in [[None, None], [Some(&run), Some(&other)], [Some(&run), Some(&virtual_time)], [Some(&run), None]] {
            let page = compared(a, b, runs, Some(0.9));
            is_sound(&page);
            assert!(!page.contains("<b>late") && !page.contains("<y>") && !page.contains("a <note>"));
        }
    }
    let page = compared("0,1\n1,2\n", "0,1\n1,3\n", [Some(&run), Some(&other)], Some(0.5));
    assert!(page.contains("<h2>Beyond tolerance</h2>") && page.contains("plant.x&amp;&lt;y&gt;: 2 against 3 at 1 s"));
    let same = compared("0,1\n", "0,1\n", [Some(&other), Some(&other)], Some(1.0));
    assert!(same.contains("<h2>Equal signals</h2>") && same.contains("The signal that both recordings have is equal."));
}

fn active(unit: usize, start: i64, end: i64) -> Activated {
    Activated {
        unit: UnitId(unit),
        time: start,
        release: start,
        woken: start,
        start,
        end,
        execution: end - start,
        retimed: false,
        unfinished: false,
        inside: Vec::new(),
        preempted: Vec::new(),
        flow: None,
    }
}

/// Clock 3 ticks clock 0 and is preempted by it, with a lock and a callback; clock 4 leaves out a release and crashes.
fn picture(why: Option<&str>) -> Picture {
    let locked = SectionKind::Locked { waited: 0, nested: 0, leaked: false };
    let source = Activated {
        inside: vec![
            InnerSpan { section: locked, from: 300_000, to: 400_000 },
            InnerSpan { section: SectionKind::Updated, from: 450_000, to: 800_000 },
        ],
        preempted: vec![Preempted { by: UnitId(0), from: 500_000, to: 700_000 }],
        ..active(3, 200_000, 900_000)
    };
    let items = vec![
        TraceItem::Ticked { unit: UnitId(3), output: 0, target: UnitId(0), taken: true, time: 0, at: 460_000, flow: 7 },
        TraceItem::Activated(Activated { flow: Some(7), release: 460_000, ..active(0, 500_000, 700_000) }),
        TraceItem::Activated(source),
        TraceItem::Skipped { unit: UnitId(4), time: 0, release: 100_000, at: 950_000 },
        TraceItem::Activated(Activated { unfinished: true, ..active(4, 950_000, 5_000_000) }),
    ];
    Picture { why: why.map(str::to_owned), from: 0, to: 1_000_000, items }
}

/// The section on where the time went, of a clock whose worst activation took so much longer than the usual one.
#[test]
fn the_parts_of_a_short_response_are_as_readable_as_those_of_a_long_one() {
    let mut run = sample(1);
    let clock = &mut run.clocks[0];
    all(clock, &Distribution::of([2_000; 9]));
    for part in [&mut clock.parts.preempted, &mut clock.parts.blocked, &mut clock.parts.set_get] {
        *part = Distribution::of([1_000; 9]);
    }
    let worst = &mut clock.causes.worst_responses[0];
    (worst.wakeup, worst.gate, worst.preempted, worst.blocked, worst.set_get) = (0, 0, 0, 0, 0);
    (worst.executing, worst.response) = (3_000_000_000, 3_000_000_000);
    let page = html(&run);
    is_sound(&page);
    let figure = page.split("<h3>Parts of the response</h3>").nth(1).unwrap().split("class=\"narrow\"").next().unwrap();
    let name = format!("{}.{}</text>", run.clocks[0].fmu, run.clocks[0].clock);
    let own = figure.split(&name).nth(1).unwrap().split("class=\"strong over\" x=\"4.0\"").next().unwrap();
    let width = |bar: &str| bar.split(" width=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap();
    let bars: Vec<f64> = own.split("<rect ").skip(1).map(width).collect();
    // Wake-up, preempted, blocked, setting and executing of the usual one; executing of the worst.
    assert_eq!(bars.len(), 6, "{own}");
    assert!((bars[..5].iter().sum::<f64>() - bars[5]).abs() < 0.1, "both bars are as long: {bars:?}");
    for word in ["machine: 2.00 µs, 33.3 %", "executing 3.00 s", ">6.00 µs</text>", ">3.00 s</text>"] {
        assert!(own.contains(word), "no {word} in {own}");
    }
    for said in ["as shares of that", ">0 %</text>", ">100 %</text>"] {
        assert!(figure.contains(said), "no {said}");
    }
}

/// Each has a name of its own, within the page of an FMU.
#[test]
fn no_two_figures_of_an_fmu_have_the_same_name() {
    let page = html(&sample(1));
    let fmu = page.split("id=\"fmu-1\"").nth(1).unwrap().split("id=\"fmu-2\"").next().unwrap();
    let fmu = fmu.split("<h4>Preemption lock</h4>").next().unwrap();
    let mut names: Vec<&str> =
        fmu.split("<figcaption><h").skip(1).filter_map(|rest| rest.get(2..)?.split('<').next()).collect();
    names.push("Where the time went");
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() == all && all >= 5 && names.contains(&"Wake-up, execution and response"), "{names:?}");
}

#[test]
fn what_the_program_quotes_is_code() {
    let mut run = sample(1);
    run.problems = vec![Problem::other(Severity::Warning, "fmu `e<u`: ask `vecud doctor`")];
    let page = html(&run);
    is_sound(&page);
    assert!(page.contains("fmu <code>e&lt;u</code>: ask <code>vecud doctor</code>"), "{page}");
}

#[test]
fn the_trace_is_drawn_with_everything_that_is_in_it() {
    let mut run = sample(1);
    run.trace.mode = Some(TraceMode::Flight);
    run.trace.files = vec![TraceFile { why: vec!["overrun of <b>".into()], ..TraceFile::new("trace.json") }];
    run.trace.pictures = vec![picture(None), picture(Some("overrun of <b>"))];
    for mode in [Mode::RealTime, Mode::Virtual] {
        run.mode = mode;
        let page = html(&run);
        is_sound(&page);
        assert!(page.contains("The first 1 ms") && page.contains("Around an incident: overrun of &lt;b&gt;"));
        for drawn in ["bar off", "\"locked\"", "\"updated\"", "class=\"arrow\"", "class=\"skip\"", "release-head"] {
            assert!(page.contains(drawn), "{drawn}");
        }
    }
}

#[test]
fn odd_traces_are_drawn_too() {
    let whole = picture(None);
    let cases = [
        Picture { items: Vec::new(), ..whole.clone() },
        Picture { to: 0, ..whole.clone() },
        Picture { to: 1, ..whole.clone() },
        Picture { from: i64::MAX / 4, to: i64::MAX / 2, ..whole.clone() },
        Picture { items: vec![TraceItem::Activated(active(2, 7, 7))], from: 7, to: 8, why: None },
    ];
    for case in cases {
        for mode in [Mode::RealTime, Mode::Virtual] {
            let mut run = sample(1);
            (run.mode, run.trace.pictures) = (mode, vec![case.clone()]);
            is_sound(&html(&run));
        }
    }
}
