//! Source FMUs of FMI 2.0 and 1.0, which have no build description: what is compiled, and what the functions are called.

use std::fs;
use std::path::Path;
use std::process::Command;

use vecud::fmu::archive::{BuildChoices, Definitions, Unpacked};
use vecud::fmu::description::{self, Interface};

use crate::archive::bench::{Bench, call};

/// Co-Simulation of x' = u with `gain`, by FMI 2.0. A source begins with what it includes.
const INTEGRATOR2: &str = include_str!("earlier/integrator2.c");

/// The same by FMI 1.0.
const INTEGRATOR1: &str = include_str!("earlier/integrator1.c");

/// The beginning of a source of FMI 2.0, as it is written for static linking.
const HEAD2: &str = "#define FMI2_FUNCTION_PREFIX integrator_\n#include \"fmi2Functions.h\"\n#include <string.h>\n";
/// Of one of FMI 1.0.
const HEAD1: &str = "#define MODEL_IDENTIFIER integrator\n#include \"fmiFunctions.h\"\n#include <string.h>\n";

/// An FMU of FMI 2.0 in the folder `fmu`, whose `<CoSimulation>` holds `list`.
fn fmi2(bench: &Bench, list: &str, files: &[(&str, &str)]) {
    let xml = format!(
        "<?xml version=\"1.0\"?>\n<fmiModelDescription fmiVersion=\"2.0\" modelName=\"Integrator\" guid=\"{{integrator}}\">\n\
         <CoSimulation modelIdentifier=\"integrator\" canHandleVariableCommunicationStepSize=\"true\">\n{list}\n\
         </CoSimulation>\n<ModelVariables>\n\
         <ScalarVariable name=\"x\" valueReference=\"1\" causality=\"output\" initial=\"exact\"><Real start=\"1\"/>\
         </ScalarVariable>\n\
         <ScalarVariable name=\"u\" valueReference=\"2\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\n\
         </ModelVariables>\n<ModelStructure><Outputs><Unknown index=\"1\"/></Outputs></ModelStructure>\n\
         </fmiModelDescription>\n"
    );
    write(bench, &xml, files);
}

/// One of FMI 1.0.
fn fmi1(bench: &Bench, files: &[(&str, &str)]) {
    let xml = "<?xml version=\"1.0\"?>\n<fmiModelDescription fmiVersion=\"1.0\" modelName=\"Integrator\" \
               modelIdentifier=\"integrator\" guid=\"{integrator}\" numberOfContinuousStates=\"0\" \
               numberOfEventIndicators=\"0\">\n<ModelVariables>\n\
               <ScalarVariable name=\"x\" valueReference=\"1\" causality=\"output\"><Real start=\"1\"/></ScalarVariable>\n\
               <ScalarVariable name=\"u\" valueReference=\"2\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\n\
               </ModelVariables>\n<Implementation><CoSimulation_StandAlone><Capabilities \
               canHandleVariableCommunicationStepSize=\"true\"/></CoSimulation_StandAlone></Implementation>\n\
               </fmiModelDescription>\n";
    write(bench, xml, files);
}

fn write(bench: &Bench, xml: &str, files: &[(&str, &str)]) {
    bench.write("fmu/modelDescription.xml", xml);
    for (name, content) in files {
        bench.write(&format!("fmu/sources/{name}"), content);
    }
}

/// A source: `head`, the gain, the functions.
fn source(head: &str, gain: f64, functions: &str) -> String {
    format!("{head}#define GAIN {gain:?}\n{functions}")
}

/// `vecud run` in virtual time, four steps of a quarter with u = 2: exit code, and the values of x or what was said.
fn run(bench: &Bench) -> Result<Vec<f64>, String> {
    let rig = "[rig]\nmode = \"virtual\"\nstop_time = 1.0\n[fmu.i]\npath = \"fmu\"\n\
               step = 0.25\nstart = { u = 2.0 }\n[record]\nsignals = [\"i.x\"]\n";
    bench.write("rig.toml", rig);
    let output = Command::new(env!("CARGO_BIN_EXE_vecud"))
        .args(["run", "rig.toml", "--quiet", "--out", "out"])
        .current_dir(bench.path(""))
        .env("VECUD_CACHE", bench.cache.folder())
        .output()
        .unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    match output.status.code() {
        Some(0) => {
            let text = fs::read_to_string(bench.path("out/signals.csv")).unwrap();
            Ok(text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect())
        }
        code => Err(format!("exit code {code:?}: {words}")),
    }
}

/// x from 1 with u = 2 and this gain.
fn ramp(gain: f64) -> Vec<f64> {
    (0..=4).map(|n| 1.0 + 2.0 * gain * 0.25 * f64::from(n)).collect()
}

/// The library of the FMU in the folder `fmu`.
fn library(bench: &Bench, choices: &BuildChoices) -> Result<std::path::PathBuf, String> {
    let unpacked = Unpacked::open(&bench.path("fmu"), &bench.cache).unwrap();
    let description = description::parse(&unpacked.model_description().unwrap()).unwrap();
    unpacked.library_of(description.abi, &description.interfaces[0], choices, &bench.cache).map_err(|e| e.to_string())
}

/// The run ends before anything runs, with exit code 2, these words, and nothing in the cache.
#[track_caller]
fn refused(bench: &Bench, words: &str) {
    let error = run(bench).expect_err("it must not build");
    assert!(error.starts_with("exit code Some(2): ") && error.contains(words), "{words:?} is not in: {error}");
    assert!(bench.in_cache().is_empty(), "{:?}", bench.in_cache());
}

/// Whether the library has this function.
fn exports(library: &Path, name: &str) -> bool {
    // SAFETY: loading a library of this file without initialisers; the symbol is looked up, not called.
    unsafe { libloading::Library::new(library).unwrap().get::<unsafe extern "C" fn()>(name.as_bytes()).is_ok() }
}

/// FMI 2.0, 3.3.1 and 4.3.1: `<SourceFiles>` says which of the files in `sources/` are to be compiled. A header among them is not.
#[test]
fn of_fmi_2_the_listed_files_are_compiled_and_no_others() {
    let bench = Bench::new();
    let list = "<SourceFiles><File name=\"lib/gain.c\"/><File name=\"model.c\"/><File name=\"gain.h\"/></SourceFiles>";
    let model = format!("{HEAD2}#include \"gain.h\"\n#define GAIN gain()\n{INTEGRATOR2}");
    let files = [
        ("model.c", model.as_str()),
        ("gain.h", "double gain(void);\n"),
        // Headers are found from a folder below, too.
        ("lib/gain.c", "#include \"gain.h\"\ndouble gain(void) { return 3.0; }\n"),
        ("all.c", "#error not listed\n"),
    ];
    fmi2(&bench, list, &files);
    assert_eq!(run(&bench), Ok(ramp(3.0)));
    let built = library(&bench, &BuildChoices::default()).unwrap();
    assert!(exports(&built, "fmi2DoStep") && !exports(&built, "integrator_fmi2DoStep"));
    assert_eq!(bench.in_cache().len(), 1, "the run has built it: {:?}", bench.in_cache());
    // Another list of the same files is another library.
    let first = "<SourceFiles><File name=\"model.c\"/><File name=\"other.c\"/></SourceFiles>";
    fmi2(&bench, first, &[("other.c", "double gain(void) { return 5.0; }\n")]);
    assert_eq!(run(&bench), Ok(ramp(5.0)));
    fmi2(&bench, list, &[]);
    assert_eq!(run(&bench), Ok(ramp(3.0)));
}

#[test]
fn of_fmi_2_without_a_list_all_c_is_the_whole_and_else_every_c_file() {
    let bench = Bench::new();
    let model = source(HEAD2, 2.0, INTEGRATOR2);
    fmi2(&bench, "", &[("all.c", "#include \"model.c\"\n"), ("model.c", &model), ("b.c", "#error a part\n")]);
    assert_eq!(run(&bench), Ok(ramp(2.0)));
    let bench = Bench::new();
    let model = format!("{HEAD2}double gain(void);\n#define GAIN gain()\n{INTEGRATOR2}");
    fmi2(&bench, "<SourceFiles/>", &[("model.c", &model), ("gain.c", "double gain(void) { return 4.0; }\n")]);
    assert_eq!(run(&bench), Ok(ramp(4.0)));
}

#[test]
fn of_fmi_1_the_file_of_the_models_name_is_the_whole_then_all_c_and_else_every_c_file() {
    let bench = Bench::new();
    let model = source(HEAD1, 2.0, INTEGRATOR1);
    fmi1(&bench, &[("integrator.c", "#include \"model.c\"\n"), ("model.c", &model), ("all.c", "#error not this\n")]);
    assert_eq!(run(&bench), Ok(ramp(2.0)));
    let built = library(&bench, &BuildChoices::default()).unwrap();
    assert!(exports(&built, "integrator_fmiDoStep") && !exports(&built, "fmiDoStep"));
    let bench = Bench::new();
    fmi1(&bench, &[("all.c", "#include \"model.c\"\n"), ("model.c", &model)]);
    assert_eq!(run(&bench), Ok(ramp(2.0)));
    let bench = Bench::new();
    let model = format!("{HEAD1}double gain(void);\n#define GAIN gain()\n{INTEGRATOR1}");
    fmi1(&bench, &[("model.c", &model), ("gain.c", "double gain(void) { return 4.0; }\n")]);
    assert_eq!(run(&bench), Ok(ramp(4.0)));
}

/// Sources for both interface types of FMI 1.0 ask the compiler for which of them it is, and some leave the prefix to it.
#[test]
fn of_fmi_1_the_interface_type_and_the_prefix_are_defined() {
    let bench = Bench::new();
    let head = "#ifdef FMI_COSIMULATION\n#include \"fmiFunctions.h\"\n#else\n#include \"fmiModelFunctions.h\"\n#endif\n\
                #include <string.h>\n";
    fmi1(&bench, &[("integrator.c", &source(head, 2.0, INTEGRATOR1))]);
    assert_eq!(run(&bench), Ok(ramp(2.0)));
}

/// Headers before FMI 2.0.3 know no macro against the prefix and hide nothing; FMUs bring them along.
#[test]
fn headers_of_the_fmus_own_come_first_and_names_are_plain_all_the_same() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/fmu/src/headers");
    let ours = |name: &str| fs::read_to_string(ours.join(name)).unwrap();
    let newer = "#if defined(FMI2_FUNCTION_PREFIX) && !defined(FMI2_OVERRIDE_FUNCTION_PREFIX)\n\
                 #define FMI2_ACTUAL_FUNCTION_PREFIX FMI2_FUNCTION_PREFIX\n#endif\n";
    assert!(ours("fmi2Functions.h").contains(newer));
    let own = ours("fmi2Functions.h")
        .replace(newer, "")
        .replace("FMI2_ACTUAL_FUNCTION_PREFIX", "FMI2_FUNCTION_PREFIX")
        .replace("#define fmi2Version \"2.0\"", "#define fmi2Version \"2.0\"\n#define OWN 6.0");
    let (types, platform) = (ours("fmi2FunctionTypes.h"), ours("fmi2TypesPlatform.h"));
    let headers = |folder: &str| {
        [("fmi2Functions.h", &own), ("fmi2FunctionTypes.h", &types), ("fmi2TypesPlatform.h", &platform)]
            .map(|(name, text)| (format!("{folder}{name}"), text.clone()))
    };
    // Beside the source, and a folder above it.
    for place in ["model.c", "lib/model.c"] {
        let bench = Bench::new();
        let (model, headers) = (format!("{HEAD2}#define GAIN OWN\n{INTEGRATOR2}"), headers(""));
        let mut files = vec![(place, model.as_str())];
        files.extend(headers.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        fmi2(&bench, &format!("<SourceFiles><File name=\"{place}\"/></SourceFiles>"), &files);
        assert_eq!(run(&bench), Ok(ramp(6.0)), "{place}");
        let built = library(&bench, &BuildChoices::default()).unwrap();
        assert!(exports(&built, "fmi2DoStep") && !exports(&built, "integrator_fmi2DoStep"), "{place}");
    }
}

#[test]
fn a_list_that_leads_nowhere_is_refused_with_its_place() {
    let model = source(HEAD2, 2.0, INTEGRATOR2);
    for (file, column, words) in [
        ("gone.c", 36, "sources/gone.c does not exist in the FMU; ask for one with all of its sources"),
        ("../../x.c", 36, "\"../../x.c\" is outside of the FMU; paths are relative to sources/"),
        ("/etc/passwd", 36, "\"/etc/passwd\" is outside of the FMU"),
        ("lib\\x.c", 36, "has a backslash; paths are separated by `/`"),
    ] {
        let bench = Bench::new();
        let list = format!("<SourceFiles><File name=\"model.c\"/><File name=\"{file}\"/></SourceFiles>");
        fmi2(&bench, &list, &[("model.c", &model)]);
        refused(&bench, &format!("fmu: modelDescription.xml:4:{column}: "));
        refused(&bench, words);
    }
}

#[test]
fn folders_without_a_c_file_are_refused() {
    let bench = Bench::new();
    fmi2(&bench, "", &[("readme.txt", "ask us")]);
    refused(
        &bench,
        "fmu: no binary for this machine, and no C file in sources/ to build one from; ask for an FMU with either",
    );
    let bench = Bench::new();
    fmi1(&bench, &[("fmiFunctions.h", "")]);
    refused(&bench, "no C file in sources/");
}

/// What the user chooses must be left open by somebody.
#[test]
fn there_are_no_definitions_to_choose_without_a_build_description() {
    let bench = Bench::new();
    fmi2(&bench, "", &[("all.c", &source(HEAD2, 2.0, INTEGRATOR2))]);
    let definitions = Definitions::from([("GAIN".to_owned(), Some("3".to_owned()))]);
    let error = library(&bench, &BuildChoices { definitions, ..BuildChoices::default() }).unwrap_err();
    assert!(error.contains("define: GAIN is for FMUs with a build description"), "{error}");
}

/// Their sources get no more than those of FMI 3.0 do.
#[test]
fn sources_read_no_files_of_the_users() {
    let bench = Bench::new();
    let secret = bench.write("secret.h", "#define GAIN 2.0\n").display().to_string();
    let head = format!("{HEAD2}#include \"{secret}\"\n");
    fmi2(&bench, "", &[("all.c", &format!("{head}{INTEGRATOR2}"))]);
    refused(&bench, "sources/all.c does not build");
}

/// A function that our headers lack would be one that an FMU with none of its own exports under a wrong name, or not at all.
#[test]
fn our_headers_declare_every_function_that_is_called() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let text = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    for (table, headers, begin) in [
        ("fmi/src/abi/tables/fmi2.rs", vec!["fmi2Functions.h"], "\"fmi2"),
        ("fmi/src/abi/tables/fmi1.rs", vec!["fmiFunctions.h", "fmiModelFunctions.h"], "\"fmi"),
    ] {
        let declared: String = headers.iter().map(|name| text(&format!("fmu/src/headers/{name}"))).collect();
        let table = text(table);
        // Groups of functions; one that no interface type needs is beside the standard.
        let standard = table.split("\n    [").filter(|group| !group.starts_with(']'));
        let names: Vec<&str> = standard
            .flat_map(|group| group.split(", \""))
            .filter_map(|rest| rest.split_once("\", ("))
            .map(|(name, _)| name)
            .collect();
        assert!(names.len() > 30 && names.iter().all(|name| name.starts_with(&begin[1..])), "{names:?}");
        for name in names {
            let is_declared = declared.contains(&format!("TYPE {name};")) || declared.contains(&format!("{name}("));
            assert!(is_declared && declared.contains(&format!("#define {name} ")), "{name}");
        }
    }
}

/// What crosses the binary interface is laid out as `crates/fmi/src/abi` has it; the compiler refuses what is not.
#[test]
fn our_headers_have_the_layout_of_the_interface() {
    let bench = Bench::new();
    let source = r#"
#include "fmi2Functions.h"
#define IS(type, value) _Static_assert(_Generic((value), type : 1, default : 0), #value)
IS(void *, (fmi2Component)0); IS(unsigned, (fmi2ValueReference)0); IS(double, (fmi2Real)0); IS(int, (fmi2Integer)0);
IS(int, (fmi2Boolean)0); IS(const char *, (fmi2String)0); IS(char, (fmi2Byte)0);
_Static_assert(fmi2Pending == 5 && fmi2CoSimulation == 1 && fmi2LastSuccessfulTime == 2 && fmi2Terminated == 3, "numbers");
_Static_assert(sizeof(fmi2CallbackFunctions) == 5 * sizeof(void *), "callbacks");
_Static_assert(offsetof(fmi2CallbackFunctions, componentEnvironment) == 4 * sizeof(void *), "callbacks");
_Static_assert(offsetof(fmi2EventInfo, nextEventTime) == 24, "event info");
IS(fmi2Status (*)(void *, double, double, int), &fmi2DoStep);
IS(fmi2Status (*)(void *, int, double, double, int, double), &fmi2SetupExperiment);
IS(fmi2Status (*)(void *, const unsigned *, size_t, const unsigned *, size_t, const double *, double *),
   &fmi2GetDirectionalDerivative);
IS(void *(*)(const char *, fmi2Type, const char *, const char *, const fmi2CallbackFunctions *, int, int), &fmi2Instantiate);
IS(fmi2Status (*)(void *, const char *, size_t, void **), &fmi2DeSerializeFMUstate);
FMI2_Export int answer(void) { return 2; }
"#;
    fmi2(&bench, "", &[("all.c", source)]);
    let built = library(&bench, &BuildChoices::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call(&built, "answer"), 2);
    let common = r#"
#define IS(type, value) _Static_assert(_Generic((value), type : 1, default : 0), #value)
IS(void *, (fmiComponent)0); IS(unsigned, (fmiValueReference)0); IS(double, (fmiReal)0); IS(int, (fmiInteger)0);
IS(char, (fmiBoolean)0); IS(const char *, (fmiString)0);
_Static_assert(offsetof(fmiEventInfo, nextEventTime) == 8, "event info");
"#;
    let slave = r#"
_Static_assert(sizeof(fmiCallbackFunctions) == 4 * sizeof(void *) && fmiPending == 5 && fmiLastSuccessfulTime == 2, "slave");
IS(void *(*)(const char *, const char *, const char *, const char *, double, char, char, fmiCallbackFunctions, char),
   &fmiInstantiateSlave);
IS(fmiStatus (*)(void *, double, char, double), &fmiInitializeSlave);
IS(fmiStatus (*)(void *, double, double, char), &fmiDoStep);
int answer(void) { return 1; }
"#;
    let model = r#"
_Static_assert(sizeof(fmiCallbackFunctions) == 3 * sizeof(void *) && fmiFatal == 4, "model");
IS(void *(*)(const char *, const char *, fmiCallbackFunctions, char), &fmiInstantiateModel);
IS(fmiStatus (*)(void *, char, double, fmiEventInfo *), &fmiInitialize);
IS(fmiStatus (*)(void *, char, fmiEventInfo *), &fmiEventUpdate);
int more(void) { return 10; }
"#;
    let slave = format!("#include \"fmiFunctions.h\"\n#include <stddef.h>\n{common}{slave}");
    let model = format!("#include \"fmiModelFunctions.h\"\n#include <stddef.h>\n{common}{model}");
    fs::remove_dir_all(bench.path("fmu")).unwrap();
    fmi1(&bench, &[("slave.c", &slave), ("model.c", &model)]);
    let built = library(&bench, &BuildChoices::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call(&built, "answer") + call(&built, "more"), 11);
}

/// One library has both interface types of FMI 2.0, and each has a list of its own.
#[test]
fn the_list_is_that_of_the_interface_type() {
    let bench = Bench::new();
    let exported = |n: i32| format!("int answer(void) {{ return {n}; }}\n");
    fmi2(&bench, "<SourceFiles><File name=\"cs.c\"/></SourceFiles>", &[("cs.c", &exported(1)), ("me.c", &exported(2))]);
    let xml = fs::read_to_string(bench.path("fmu/modelDescription.xml")).unwrap();
    let me = "<ModelExchange modelIdentifier=\"integrator\"><SourceFiles><File name=\"me.c\"/></SourceFiles></ModelExchange>\n";
    bench.write("fmu/modelDescription.xml", xml.replace("<CoSimulation", &format!("{me}<CoSimulation")));
    let unpacked = Unpacked::open(&bench.path("fmu"), &bench.cache).unwrap();
    let description = description::parse(&unpacked.model_description().unwrap()).unwrap();
    for (interface, answer) in [(Interface::CoSimulation, 1), (Interface::ModelExchange, 2)] {
        let offer = description.interfaces.iter().find(|offer| offer.interface() == interface).unwrap();
        let built = unpacked.library_of(description.abi, offer, &BuildChoices::default(), &bench.cache).unwrap();
        assert_eq!(call(&built, "answer"), answer, "{interface:?}");
    }
}
