//! FMUs of FMI 2.0 and 1.0: what people are told is in the words of that version.

use super::program::Rig;
use super::run;
use crate::simulated::copy;
use std::fs;
use std::process::{Command, Output};

/// An FMU `m` of this version (2 or 1) from sources, x' = u. `step`: C code at the begin of each step, `initialised`: where
/// Initialization Mode ends, which of FMI 1.0 is its initialisation.
pub fn integrator(version: u32, step: &str, initialised: &str) -> Rig {
    let (source, description, head, end) = match version {
        1 => (
            include_str!("../../fmus/archive/earlier/integrator1.c"),
            include_str!("../../fmus/mutations/earlier/fmi1.xml").to_owned(),
            "#define MODEL_IDENTIFIER integrator\n#include \"fmiFunctions.h\"\n",
            "fmiInitializeSlave(fmiComponent c, fmiReal start, fmiBoolean has_stop, fmiReal stop) {",
        ),
        _ => {
            let description = include_str!("../../fmus/mutations/earlier/fmi2.xml");
            let (before, rest) = description.split_once("<SourceFiles>").unwrap();
            let (_, after) = rest.split_once("</SourceFiles>").unwrap();
            (
                include_str!("../../fmus/archive/earlier/integrator2.c"),
                format!("{before}{after}"),
                "#include \"fmi2Functions.h\"\n",
                "fmi2ExitInitializationMode(fmi2Component c) {",
            )
        }
    };
    let computes = "    m->x += m->gain * m->u * step;\n";
    assert!(source.contains(computes) && source.contains(end));
    let source = source.replace(computes, &format!("    {step}\n{computes}"));
    let source = source.replace(end, &format!("{end} {initialised}"));
    let rig = Rig::of_text(
        "[rig]\nstop_time = 0.1\nshutdown_timeout = 0.3\ncall_timeout = 0.5\n[record]\n\
         [fmu.m]\npath = 'm'\nstep = '1/100'\nstart = { u = 2.0 }\n",
    );
    let folder = rig.folder().join("m");
    fs::create_dir_all(folder.join("sources")).unwrap();
    fs::write(folder.join("sources/all.c"), format!("{head}#include <string.h>\n#define GAIN 1.0\n{source}")).unwrap();
    fs::write(folder.join("modelDescription.xml"), description).unwrap();
    rig
}

/// The FMU alone, with u = 2, as `vecud simulate` has it.
fn simulated(rig: &Rig) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vecud"))
        .args(["simulate", "--stop-time", "0.1", "--start-value", "u=2", "--output-interval", "0.01"])
        .arg(rig.folder().join("m"))
        .env("VECUD_CACHE", super::program::cache())
        .output()
        .unwrap()
}

#[test]
fn a_call_that_fails_hangs_or_crashes_has_its_name_in_that_version() {
    for (version, fmi, initialised) in [(2, "fmi2", "fmi2ExitInitializationMode"), (1, "fmi", "fmiInitializeSlave")] {
        for (answer, words) in [
            (format!("return {fmi}Error;"), format!("{fmi}DoStep returned {fmi}Error at 0 s")),
            (format!("return {fmi}Fatal;"), format!("{fmi}DoStep returned {fmi}Fatal")),
            ("for (;;);".to_owned(), format!("has been in {fmi}DoStep at 0 s for 0.5 s")),
            ("*(volatile int *)0 = 0;".to_owned(), format!("crashed (SIGSEGV): m.step was in {fmi}DoStep at 0 s")),
        ] {
            run(&integrator(version, &answer, ""), "virtual").exits(1).problem(&["m", &words]);
        }
        let hangs = run(&integrator(version, "", "for (;;);"), "virtual").exits(1);
        hangs.problem(&[&format!("fmu `m` has been in {initialised} for 0.5 s")]);
        let warns =
            run(&integrator(version, &format!("m->x += m->u * step; return {fmi}Warning;"), ""), "virtual").exits(0);
        warns.problem(&[&format!("10 calls returned {fmi}Warning")]);
    }
}

/// FMI 1.0 has no place for a step size, and later versions need not name one: an FMU alone makes steps of 1 ms then, which is told, or
/// those that the user asks for (semantics S19).
#[test]
fn an_fmu_alone_that_names_no_step_size_makes_steps_of_a_millisecond_or_those_asked_for() {
    for version in [1, 2, 3] {
        let rig = integrator(version, "", "");
        if version == 3 {
            fs::remove_dir_all(rig.folder().join("m")).unwrap();
            copy(&super::stepper(), &rig.folder().join("m"));
        }
        let fmu = rig.folder().join("m");
        let file = fmu.join("modelDescription.xml");
        let description = fs::read_to_string(&file).unwrap();
        let begin = description.find("<DefaultExperiment").unwrap();
        let end = begin + description[begin..].find('>').unwrap() + 1;
        fs::write(&file, [&description[..begin], &description[end..]].concat()).unwrap();
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
            command.arg("run").arg(&fmu).arg("--out").arg(rig.out()).env("VECUD_CACHE", super::program::cache());
            command.args(["--mode", "virtual", "--stop-time", "0.1"]).args(arguments);
            rig.finish(rig.start(command)).exits(0)
        };
        let by_itself = run(&[]);
        assert_eq!(by_itself.count("m", "step", "activations"), 100, "FMI {version}");
        let note = "note: how far m is to go in one step is said nowhere (its description has no stepSize): 0.001 s";
        assert!(by_itself.stderr.contains(note), "{}", by_itself.stderr);
        let asked = run(&["--step", "1/50"]);
        assert_eq!(asked.count("m", "step", "activations"), 5, "FMI {version}");
        assert!(!asked.stderr.contains("said nowhere"), "{}", asked.stderr);
    }
}

/// The standard wants an identifier of C, of which only sources make use.
#[test]
fn an_fmu_whose_model_identifier_has_a_hyphen_is_built_and_runs() {
    let rig = integrator(2, "", "");
    let file = rig.folder().join("m/modelDescription.xml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("modelIdentifier=\"integrator\""));
    fs::write(&file, text.replace("modelIdentifier=\"integrator\"", "modelIdentifier=\"my-integrator\"")).unwrap();
    let outcome = run(&rig, "virtual").exits(0);
    assert_eq!(super::numbers(&outcome, "m.x").len(), 11);
    assert!(outcome.stderr.contains("modelIdentifier=\"my-integrator\" is no name of C"), "{}", outcome.stderr);
}

/// The user decides whether an FMU that breaks its standard runs, and is told what was overlooked.
#[test]
fn a_description_that_is_wrong_and_means_something_is_refused_with_a_way_round() {
    let rig = integrator(2, "", "");
    let file = rig.folder().join("m/modelDescription.xml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("<Real start=\"2\""));
    fs::write(&file, text.replacen("<Real start=\"2\"", "<Real declaredType=\"None\" start=\"2\"", 1)).unwrap();
    let refused = run(&rig, "virtual");
    let place = "modelDescription.xml:";
    let message = "declaredType=\"None\" is no type of <TypeDefinitions>";
    assert_eq!(refused.code, 2);
    let way_round = "; with lenient = true in [fmu.m] of a rig file, or --lenient of vecud run, simulate, call and validate, that is overlooked";
    assert!(
        refused.stderr.contains(place) && refused.stderr.contains(&format!("{message}{way_round}")),
        "{}",
        refused.stderr
    );
    let rig_file = rig.folder().join("test.toml");
    let rig_text = fs::read_to_string(&rig_file).unwrap();
    fs::write(&rig_file, rig_text.replace("[fmu.m]\n", "[fmu.m]\nlenient = true\n")).unwrap();
    let outcome = run(&rig, "virtual").exits(0);
    assert_eq!(super::numbers(&outcome, "m.x").len(), 11);
    assert!(outcome.stderr.contains(&format!("{message}: overlooked (lenient = true)")), "{}", outcome.stderr);
}

#[test]
fn an_instance_that_is_not_made_has_its_function_in_that_version() {
    for (version, name) in [(2, "fmi2Instantiate"), (1, "fmiInstantiateSlave")] {
        let rig = integrator(version, "", "");
        let source = rig.folder().join("m/sources/all.c");
        let text = fs::read_to_string(&source).unwrap();
        fs::write(&source, text.replace("m->x = 1.0;", "return NULL;")).unwrap();
        let outcome = run(&rig, "virtual");
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(&format!(": {name} returned NULL")), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("fmi3"), "{}", outcome.stderr);
    }
}

#[test]
fn log_messages_are_printed_with_their_arguments_and_the_names_of_variables() {
    let arguments = "\"cat\", \"#r2# is %g in step %d of %s, ##%.2f%%\", m->u, 1, \"ten\", 12.345";
    for (version, logger) in [
        (2, "m->functions->logger(m->functions->componentEnvironment, \"m\", fmi2OK,"),
        (1, "m->functions.logger(m, \"m\", fmiOK,"),
    ] {
        let outcome = run(&integrator(version, &format!("{logger} {arguments});"), ""), "virtual").exits(0);
        let log = outcome.fmu("m")["log"].to_string();
        assert!(log.contains("[cat] u is 2 in step 1 of ten, #12.35%"), "{log}");
    }
}

/// What has no arguments is told as it stands where it asks for none; where it does, nobody can look whether they are there. What
/// lies in the place of a missing text here is no address.
#[test]
fn a_log_message_without_its_arguments_crashes_in_the_call_that_logs() {
    for (version, fmi, logger) in [
        (2, "fmi2", "m->functions->logger(m->functions->componentEnvironment, \"m\", fmi2OK, \"cat\","),
        (1, "fmi", "m->functions.logger(m, \"m\", fmiOK, \"cat\","),
    ] {
        let outcome = run(&integrator(version, &format!("{logger} \"5 %, or 10 %\");"), ""), "virtual").exits(0);
        assert!(outcome.fmu("m")["log"].to_string().contains("[cat] 5 %, or 10 %"), "{}", outcome.fmu("m"));
        let crashes = run(&integrator(version, &format!("{logger} \"x is %s\", (char *)1);"), ""), "virtual").exits(1);
        crashes.problem(&["fmu `m`", &format!("crashed (SIGSEGV): m.step was in {fmi}DoStep at 0 s")]);
    }
}

/// What comes first is the cause: a call that has failed, wherever that is, and then the end that does not come.
#[test]
fn a_call_that_fails_is_named_before_an_end_that_hangs() {
    for (version, fmi, component, functions) in [
        (2, "fmi2", "fmi2Component c", ["fmi2SetReal", "fmi2EnterInitializationMode", "fmi2DoStep", "fmi2Terminate"]),
        (1, "fmi", "fmiComponent c", ["fmiSetReal", "fmiInitializeSlave", "fmiDoStep", "fmiTerminateSlave"]),
    ] {
        let end = if version == 2 { "fmi2FreeInstance" } else { "fmiFreeSlaveInstance" };
        for function in functions {
            let rig = integrator(version, "", "");
            let source = rig.folder().join("m/sources/all.c");
            let mut text = fs::read_to_string(&source).unwrap();
            for (name, code) in [(function, format!("return {fmi}Error;")), (end, "for (;;);".to_owned())] {
                let place = text.find(&format!("{name}({component}")).unwrap_or_else(|| panic!("no {name}"));
                let body = place + text[place..].find('{').unwrap() + 1;
                text.insert_str(body, &format!(" {code} "));
            }
            fs::write(&source, text).unwrap();
            let failed = format!("fmu `m`: {function} returned {fmi}Error");
            let run = run(&rig, "virtual").exits(1);
            let problems = run.problems();
            let place = |words: &str| problems.iter().position(|problem| problem.contains(words));
            let hangs = format!("fmu `m` has been in {end}");
            let (first, then) = (place(&failed), place(&hangs));
            assert!(first.is_some() && then.is_some() && first < then, "{function}: {problems:#?}");
            assert_eq!(run.status("m"), "hung");
            // Which waits for longer.
            if function != functions[1] {
                continue;
            }
            let simulate = simulated(&rig);
            let said = String::from_utf8_lossy(&simulate.stderr);
            let failed = said.find(&format!("{function} returned {fmi}Error"));
            let hangs = said.find(&format!("in {end}"));
            assert!(failed.is_some() && hangs.is_some() && failed < hangs, "{function}: {said}");
        }
    }
}

/// FMI 2.0, 2.2.7: inputs have no `initial`, and so are set in Initialization Mode and not before.
#[test]
fn inputs_of_fmi_2_begin_with_what_they_are_given_and_not_before_initialization_mode() {
    let rig = integrator(2, "", "if (((Model *)c)->u != 2.0) return fmi2Error;");
    let source = rig.folder().join("m/sources/all.c");
    let text = fs::read_to_string(&source).unwrap();
    let enters = "fmi2EnterInitializationMode(fmi2Component c) {";
    assert!(text.contains(enters));
    let text = text.replace(enters, &format!("{enters} if (((Model *)c)->u != 0.0) return fmi2Error;"));
    fs::write(&source, text).unwrap();
    let outcome = run(&rig, "virtual").exits(0);
    assert_eq!(outcome.count("m", "step", "activations"), 10);
    let simulate = simulated(&rig);
    assert_eq!(simulate.status.code(), Some(0), "{}", String::from_utf8_lossy(&simulate.stderr));
    let rows = String::from_utf8_lossy(&simulate.stdout).into_owned();
    assert!(rows.lines().last().is_some_and(|row| row.starts_with("0.1,1.2")), "{rows}");
}

/// FMI 2.0.5, 4.2.4: in Initialization Mode only outputs and initial unknowns are read. A local that is recorded has its value from when the FMU
/// has left it.
#[test]
fn an_fmu_that_gives_nothing_else_in_initialization_mode_is_asked_for_nothing_else() {
    let rig = integrator(2, "", "initialising = 0;");
    let change = |file: &str, changes: &[(&str, &str)]| {
        let file = rig.folder().join("m").join(file);
        let mut text = fs::read_to_string(&file).unwrap();
        for (old, new) in changes {
            assert!(text.contains(old), "{old}");
            text = text.replace(old, new);
        }
        fs::write(&file, text).unwrap();
    };
    change(
        "sources/all.c",
        &[
            ("typedef struct {", "static int initialising; typedef struct {"),
            (
                "fmi2EnterInitializationMode(fmi2Component c) {",
                "fmi2EnterInitializationMode(fmi2Component c) { initialising = 1;",
            ),
            (
                "values[i] = vr[i] == 1",
                "if (initialising && vr[i] != 1 && vr[i] != 3) return fmi2Error; else values[i] = vr[i] == 1",
            ),
        ],
    );
    let local = "<ScalarVariable name=\"w\" valueReference=\"4\" causality=\"local\" initial=\"calculated\"><Real/></ScalarVariable>";
    change("modelDescription.xml", &[("</ModelVariables>", &format!("{local}</ModelVariables>"))]);
    let outcome = run(&rig, "virtual").exits(0);
    assert_eq!(super::numbers(&outcome, "m.w"), [2.0; 11]);
    assert_eq!(super::numbers(&outcome, "m.x.alias")[0], 1.0);
    let simulated = Command::new(env!("CARGO_BIN_EXE_vecud"))
        .args(["simulate", "--stop-time", "0.1", "--output-variable", "*", "--start-value", "u=2"])
        .arg(rig.folder().join("m"))
        .env("VECUD_CACHE", super::program::cache())
        .output()
        .unwrap();
    assert_eq!(simulated.status.code(), Some(0), "{}", String::from_utf8_lossy(&simulated.stderr));
}

/// FMI 2.0.5, 2.1.5 and FMI 1.0 hand an FMU a URI. Many FMUs cut `file://` off and open the rest: they find their files wherever the user
/// keeps them.
#[test]
fn an_fmu_that_does_not_decode_its_uri_finds_its_files_in_a_folder_with_a_blank_and_an_umlaut() {
    for version in [2, 1] {
        let rig = integrator(version, "", "");
        let resources = if version == 2 { "" } else { "/resources" };
        let reads = format!(
            "m->x = 0.0; char path[4096]; snprintf(path, sizeof path, \"%s{resources}/x.txt\", place + 7); \
             FILE *file = fopen(path, \"r\"); if (!file || fscanf(file, \"%lf\", &m->x) != 1) return NULL; fclose(file);"
        );
        let (plain, folder) = (rig.folder().join("m"), rig.folder().join("mit Leerzeichen/\u{c4}rger"));
        let source = plain.join("sources/all.c");
        let text = fs::read_to_string(&source).unwrap();
        assert!(text.contains("m->x = 1.0;"));
        fs::write(&source, format!("#include <stdio.h>\n{}", text.replace("m->x = 1.0;", &reads))).unwrap();
        fs::create_dir(plain.join("resources")).unwrap();
        fs::write(plain.join("resources/x.txt"), "5.5").unwrap();
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        fs::rename(&plain, &folder).unwrap();
        let file = rig.folder().join("test.toml");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("path = 'm'", "path = 'mit Leerzeichen/\u{c4}rger'")).unwrap();
        let outcome = run(&rig, "virtual").exits(0);
        assert_eq!(super::numbers(&outcome, "m.x")[0], 5.5, "FMI {version}");
        let call = Command::new(env!("CARGO_BIN_EXE_vecud"))
            .args(["call", "-c", "instantiate"])
            .arg(&folder)
            .env("VECUD_CACHE", super::program::cache())
            .output()
            .unwrap();
        assert_eq!(call.status.code(), Some(0), "FMI {version}: {}", String::from_utf8_lossy(&call.stderr));
    }
}
