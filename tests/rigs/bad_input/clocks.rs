//! The list for Scheduled Execution: clocks that it does not have, triggers that lead nowhere or in circles, values
//! that C cannot take or that have no room. Messages name FMU, clock or variable, and value. (What shows only while an FMU
//! runs is in tests/rigs/failures/findings.rs and tests/schedule/exchange/sizes.rs.)

use std::fs;
use std::path::Path;

use crate::bad_input::bench::Bench;

const RIG: &str = "[rig]\nmode = \"virtual\"\nstop_time = 0.02\n[fmu.ecu]\npath = \"a\"\n";

/// The model description of one of our FMUs as `a`, with text replaced.
fn described(bench: &Bench, fmu: &str, before: &str, after: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(fmu).join("modelDescription.xml");
    bench.write("a/modelDescription.xml", fs::read(path).unwrap());
    bench.edit("a/modelDescription.xml", before, after);
}

/// Where `text` begins in the description.
fn place(bench: &Bench, text: &str) -> String {
    let xml = fs::read_to_string(bench.path("a/modelDescription.xml")).unwrap();
    let line = xml.lines().position(|line| line.contains(text)).unwrap();
    format!("a/modelDescription.xml:{}:{}", line + 1, 1 + xml.lines().nth(line).unwrap().find(text).unwrap())
}

#[test]
fn synchronous_clocks() {
    let bench = Bench::new();
    let clock = "clockType=\"synchronousTime\" priority=\"2\" periodic";
    described(&bench, "draft_clocks", "clockType=\"communicationPoint\" priority=\"2\" periodic", clock);
    bench.refuses_to_open(
        "a",
        &format!(
            "{}: <Clock> \"base\": a synchronous clock, which Scheduled Execution does not have \
             (clockType=\"communicationPoint\")",
            place(&bench, clock)
        ),
    );
}

#[test]
fn triggered_by_nothing() {
    let bench = Bench::new();
    for (by, words) in [
        ("99", "names a value reference that no variable has"),
        ("20", "names \"in_base\" (line 39), which is no clock"),
        ("1", "names \"base\" (line 18), which is no output clock"),
    ] {
        let attribute = format!("triggeredBy=\"{by}\"");
        described(&bench, "draft_clocks", "triggeredBy=\"11\"", &attribute);
        let place = place(&bench, &attribute);
        bench.refuses_to_open("a", &format!("{place}: <Clock> \"late\": {attribute} {words}"));
    }
}

#[test]
fn a_local_clock() {
    let bench = Bench::new();
    described(
        &bench,
        "tracer",
        "valueReference=\"9\" causality=\"output\"",
        "valueReference=\"9\" causality=\"local\"",
    );
    let place = place(&bench, "causality=\"local\"");
    bench.refuses_to_open(
        "a",
        &format!("{place}: <Clock> \"out_low\": a local clock, which Scheduled Execution does not have"),
    );
}

#[test]
fn an_initial_dimension_of_0() {
    let bench = Bench::new();
    described(&bench, "tracer", "<Dimension start=\"64\"/>", "<Dimension start=\"0\"/>");
    // `start="0"` stands elsewhere too.
    let (line, column) = place(&bench, "<Dimension start=\"0\"/>").rsplit_once(':').map(own).unwrap();
    bench.refuses_to_open(
        "a",
        &format!(
            "{line}:{}: <Dimension>: start=\"0\" must be greater than 0: initially <Float64> \"in_array\" has elements",
            column + "<Dimension ".len()
        ),
    );
    described(&bench, "structural", "start=\"7\" min=\"0\"", "start=\"0\" min=\"0\"");
    let words = bench.refused(bench.command(["inspect", "a"])).stderr;
    assert!(
        words.starts_with("a/modelDescription.xml:")
            && words.contains("<Float32> \"table\": its dimension \"n\" has the start value 0"),
        "{words}"
    );
}

fn own((line, column): (&str, &str)) -> (String, usize) {
    (line.to_owned(), column.parse().unwrap())
}

#[test]
fn circles_of_triggers_that_nothing_starts() {
    let bench = Bench::with_fmu("a");
    // out_low is ticked by low alone, so nothing starts the circle.
    bench.edit("a/modelDescription.xml", "clocks=\"1 2 3 4 5 7\"", "clocks=\"6\"");
    bench.edit("a/modelDescription.xml", "clocks=\"1 2 3 4 6 7\"", "clocks=\"5\"");
    let circle = "[[trigger]]\nclock = \"ecu.low\"\nfrom = \"plant.out_high\"\n\
                  [[trigger]]\nclock = \"plant.high\"\nfrom = \"ecu.out_low\"\n";
    let rig = format!("{RIG}[fmu.plant]\npath = \"a\"\n{circle}");
    bench.write("rig.toml", &rig);
    bench.refuses_to_plan(
        "rig.toml",
        "rig.toml:9:9: the triggers of ecu.low, plant.high form a circle that nothing outside of it starts, so none of them \
         would ever tick: give one of them another trigger",
    );
    // Where something may start it, it is a note, and what closes it is cut while it runs (tests/rigs/failures/findings.rs).
    bench.edit("a/modelDescription.xml", "clocks=\"5\"", "clocks=\"1 5\"");
    let outcome = bench.run("check rig.toml");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let words = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(words.contains("ecu.low may end up triggering itself"), "{words}");
}

#[test]
fn a_string_with_a_nul_inside() {
    let bench = Bench::with_fmu("a");
    bench.write("rig.toml", format!("{RIG}start = {{ trace_file = \"a\\u0000b\" }}\n"));
    bench.refuses_to_plan(
        "rig.toml",
        "rig.toml:6:24: the start value of ecu.trace_file is \"a\\0b\", but no string in C can have the character 0 (NUL) in it",
    );
}

#[test]
fn a_binary_longer_than_its_max_size() {
    let bench = Bench::with_fmu("a");
    let binary = "<Binary name=\"blob\" valueReference=\"9000\" causality=\"parameter\" variability=\"fixed\" maxSize=\"3\">\
                  <Start value=\"00112233\"/></Binary>\n";
    bench.edit("a/modelDescription.xml", "</ModelVariables>", &format!("{binary}</ModelVariables>"));
    bench.write("rig.toml", format!("{RIG}start = {{ blob = \"0x0011223344\" }}\n"));
    bench.refuses_to_plan("rig.toml", "rig.toml:6:18: the start value of ecu.blob has 5 bytes, but its maxSize is 3");
    // The FMU's own start value is its own affair, but that is said.
    let outcome = bench.run("inspect a");
    assert_eq!(outcome.code, Some(0));
    let warning = "<Binary> \"blob\": a start value has 4 bytes, but maxSize is 3";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
}

#[test]
fn an_interval_for_a_clock_that_has_its_own() {
    let bench = Bench::with_fmu("a");
    for (key, column, what, kind) in
        [("interval = \"1/4\"", 27, "interval", "constant"), ("shift = 0.25", 24, "shift", "constant")]
    {
        bench.write("rig.toml", format!("{RIG}clock.fast = {{ {key} }}\n"));
        bench.refuses_to_plan(
            "rig.toml",
            &format!(
                "rig.toml:6:{column}: the {what} of ecu.fast cannot be set to 0.25 s: it is a {kind} clock, not a fixed or \
                 tunable one"
            ),
        );
    }
    let draft = Bench::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/draft_clocks");
    draft.write(
        "rig.toml",
        RIG.replace("\"a\"", &format!("'{}'", own.display())) + "clock.base = { interval = 0.25 }\n",
    );
    draft.refuses_to_plan(
        "rig.toml",
        "rig.toml:6:27: the interval of ecu.base cannot be set to 0.25 s: it is a strictly periodic clock, not a periodic one",
    );
}
