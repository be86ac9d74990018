//! docs/rig.schema.json says of a rig what the program says: the same keys, the same words, the same rigs.

use crate::documents::{blocks, read};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Lists of keys in the code of the rig: file and name, and the definition of the schema that has them; some are in several.
const TABLES: &[(&str, &str, &str)] = &[
    ("parse", "TOP", ""),
    ("parse", "RIG", "/definitions/rig"),
    ("parse", "HOST", "/definitions/host"),
    ("tables", "FMU", "/definitions/fmu"),
    ("task", "KEYS", "/definitions/fmu"),
    ("figures", "KEYS_OF_STEP", "/definitions/fmu"),
    ("tables", "CLOCK", "/definitions/clock"),
    ("task", "KEYS", "/definitions/clock"),
    ("figures", "KEYS", "/definitions/clock"),
    ("integration", "KEYS", "/definitions/fmu"),
    ("masters", "KEYS", "/definitions/master"),
    ("task", "KEYS", "/definitions/master"),
    ("figures", "KEYS_OF_STEP", "/definitions/master"),
    ("integration", "KEYS", "/definitions/master"),
    ("tables", "CONNECT", "/definitions/connect"),
    ("triggers", "TRIGGER", "/definitions/trigger"),
    ("endpoints", "KEYS", "/definitions/trigger"),
    ("stimuli", "STIMULUS", "/definitions/stimulus"),
    ("record", "RECORD", "/definitions/record"),
    ("record", "RULE", "/definitions/rule"),
    ("report", "REPORT", "/definitions/report"),
    ("daemon", "DAEMON", "/definitions/daemon"),
    ("trace", "TRACE", "/definitions/trace"),
];

fn schema() -> Value {
    serde_json::from_str(&read("docs/rig.schema.json")).unwrap()
}

/// The keys of a list in the code.
fn keys(file: &str, name: &str) -> BTreeSet<String> {
    // A long list begins in a line of its own.
    let code = read(&format!("crates/plan/src/rig/{file}.rs")).split_whitespace().collect::<Vec<_>>().join(" ");
    let list = code.split_once(&format!("const {name}: ")).unwrap_or_else(|| panic!("{file}.rs has no {name}")).1;
    let words = list.split(';').find(|part| part.contains("= [") || part.contains("= &[")).unwrap();
    words.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_schema_has_the_keys_of_the_code() {
    let schema = schema();
    // Every list by which unknown keys are refused is among them.
    for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/plan/src/rig")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        for list in std::fs::read_to_string(&path).unwrap().split(".only(").skip(1) {
            let list: String = list.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            let is_known = list.is_empty() || TABLES.iter().any(|(file, own, _)| *file == name && *own == list);
            assert!(is_known, "TABLES has no word on {list} of {name}.rs");
        }
    }
    for definition in TABLES.iter().map(|(_, _, definition)| *definition).collect::<BTreeSet<_>>() {
        let lists = TABLES.iter().filter(|(_, _, own)| *own == definition);
        let code: BTreeSet<String> = lists.flat_map(|(file, name, _)| keys(file, name)).collect();
        let object = schema.pointer(definition).unwrap_or_else(|| panic!("the schema has no {definition}"));
        let own: BTreeSet<String> = object["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(own, code, "{definition}");
        assert_eq!(object["additionalProperties"], false, "{definition}");
    }
}

/// A rig that has this key with this value, and what else its table needs.
fn rig_with(definition: &str, key: &str, value: &str) -> String {
    let fmu = "[fmu.a]\npath = \"a\"\n";
    let line = format!("{key} = {value}\n");
    match definition {
        "record" if key == "mcap" => format!("{fmu}[record]\nformat = \"mcap\"\n{line}"),
        "rig" | "host" | "trace" | "record" | "report" | "daemon" => format!("{fmu}[{definition}]\n{line}"),
        "fmu" => format!("{fmu}{line}"),
        "master" => format!("{fmu}[master.m]\nfmus = [\"a\"]\n{line}"),
        "clock" => format!("{fmu}[fmu.a.clock.c]\n{line}"),
        "connect" => format!("{fmu}[[connect]]\nfrom = \"a.x\"\nto = \"a.y\"\n{line}"),
        "stimulus" => format!("{fmu}[[stimulus]]\nfile = \"f\"\n{line}"),
        other => panic!("a word in {other}"),
    }
}

/// Where the code takes one of some words it says which; they are those of the schema.
#[test]
fn the_schema_has_the_words_of_the_code() {
    let schema = schema();
    let mut compared = 0;
    for (definition, object) in schema["definitions"].as_object().unwrap() {
        for (key, value) in object["properties"].as_object().into_iter().flatten() {
            let value = value["$ref"].as_str().and_then(|own| schema.pointer(&own[1..])).unwrap_or(value);
            let alternatives = value["anyOf"].as_array().into_iter().flatten().filter_map(|own| own["$ref"].as_str());
            let listed = alternatives.filter_map(|own| schema.pointer(&own[1..])).find(|own| own["enum"].is_array());
            let Some(words) = listed.unwrap_or(value)["enum"].as_array() else { continue };
            let rig = rig_with(definition, key, "\"none of them\"");
            let error = vecud::rig::parse(&rig, Path::new("rig.toml")).unwrap_err().to_string();
            let message = error.split_once("must be ").unwrap_or_else(|| panic!("{key}: {error}")).1;
            let message = message.split(", not ").next().unwrap();
            let said: BTreeSet<String> = message.split('"').skip(1).step_by(2).map(str::to_owned).collect();
            let own: BTreeSet<String> = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            assert_eq!(own, said, "{definition}.{key}: {error}");
            // What only a program with a feature takes.
            let is_taken = |word: &Value| key != "format" || word != "arrow" || cfg!(feature = "arrow");
            for word in words.iter().filter(|word| is_taken(word)) {
                let rig = rig_with(definition, key, &word.to_string());
                vecud::rig::parse(&rig, Path::new("rig.toml"))
                    .unwrap_or_else(|error| panic!("{key} = {word}: {error}"));
            }
            compared += 1;
        }
    }
    assert!(compared >= 12, "{compared} keys");
}

/// Validates rigs against the schema: a line for each, `ok` or what is wrong.
const SCRIPT: &str = "
import json, sys, tomllib
from jsonschema import Draft7Validator
schema = json.load(open(sys.argv[1]))
Draft7Validator.check_schema(schema)
validator = Draft7Validator(schema)
for rig in json.load(sys.stdin):
    errors = [error.message for error in validator.iter_errors(tomllib.loads(rig))]
    print(json.dumps(errors))
";

/// What is wrong with each of these rigs by the schema. `None`, visibly, without Python's validator.
fn validated(rigs: &[String], test: &str) -> Option<Vec<Vec<String>>> {
    let there = Command::new("python3").args(["-c", "import jsonschema, tomllib"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        let why = "python3 has no package jsonschema (pip install jsonschema), or is older than 3.11";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
        return None;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rig.schema.json");
    let mut command = Command::new("python3");
    command.arg("-c").arg(SCRIPT).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(serde_json::to_string(rigs).unwrap().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn rigs_that_the_program_takes_are_rigs_by_the_schema() {
    let documents = ["README.md", "docs/rig.md", "docs/first-fmu.md"].map(read);
    let mut rigs: Vec<String> = documents.iter().flat_map(|text| blocks(text, "toml")).map(str::to_owned).collect();
    for folder in ["examples", "bench", "bench/rt-vm"] {
        let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
        let files =
            entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "toml"));
        rigs.extend(files.map(|file| std::fs::read_to_string(file).unwrap()));
    }
    let Some(results) = validated(&rigs, "rigs_that_the_program_takes") else { return };
    assert_eq!(results.len(), rigs.len());
    for (rig, errors) in rigs.iter().zip(results) {
        assert!(errors.is_empty(), "{errors:?}\n{rig}");
    }
}

#[test]
fn what_both_refuse() {
    let wrong = [
        ("rig", "modus", "\"virtual\""),
        ("rig", "stop_time", "\"1\""),
        ("rig", "shutdown_timeout", "0"),
        ("host", "stack_kib", "32"),
        ("host", "fifo_priorities", "[51]"),
        ("fmu", "lenient", "1"),
        ("clock", "max_overruns", "-1"),
        ("clock", "max_latency_us", "0"),
        ("connect", "max_size", "0"),
        ("stimulus", "recording", "\"both\""),
        ("record", "format", "[]"),
        ("record", "signals", "[1]"),
        ("report", "checkpoint", "0.5"),
        ("report", "keep_runs", "-1"),
        ("daemon", "restart", "\"always\""),
        ("daemon", "restart_delay", "0"),
        ("daemon", "max_restarts", "0"),
        ("trace", "seconds", "61"),
    ];
    let mut rigs: Vec<String> = wrong.iter().map(|(table, key, value)| rig_with(table, key, value)).collect();
    rigs.push("[rig]\nname = \"no FMU\"\n".to_owned());
    rigs.push("[fmu.a]\n".to_owned());
    for rig in &rigs {
        vecud::rig::parse(rig, Path::new("rig.toml")).expect_err(rig);
    }
    for (rig, errors) in rigs.iter().zip(validated(&rigs, "what_both_refuse").unwrap_or_default()) {
        assert!(!errors.is_empty(), "{rig}");
    }
}
