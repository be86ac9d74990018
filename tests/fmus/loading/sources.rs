//! A source FMU with everything that a build description may have: configurations by platform,
//! sets of several languages with options, definitions with options, include folders, contained libraries.

use crate::loading::{ours, write};
use crate::program::{Outcome, Rig};
use std::path::Path;
use std::process::Command;
use vecud::fmu::archive::{BuildChoices, Cache, Definitions, Unpacked};
use vecud::fmu::description;

const DESCRIPTION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="PlantModel" instantiationToken="{plant}">
  <ScheduledExecution modelIdentifier="PlantModel"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Clock name="step" valueReference="1" causality="input" priority="1" intervalVariability="constant" intervalDecimal="0.01"/>
    <Float64 name="level" valueReference="2" causality="output" variability="discrete" clocks="1"/>
    <Float64 name="to_file" valueReference="3" causality="output" variability="discrete" clocks="1"/>
    <Float64 name="rate" valueReference="4" causality="output" variability="discrete" clocks="1"/>
    <Float64 name="gain" valueReference="5" causality="output" variability="discrete" clocks="1"/>
    <Float64 name="offset" valueReference="6" causality="output" variability="discrete" clocks="1"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="2"/><Output valueReference="3"/><Output valueReference="4"/><Output valueReference="5"/>
    <Output valueReference="6"/>
  </ModelStructure>
</fmiModelDescription>
"#;

/// Only the last of these configurations is for this machine and this model.
const BUILD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier="PlantModel" platform="x86_64-windows" description="another platform">
    <SourceFileSet compiler="cl"><SourceFile name="not there.c"/></SourceFileSet>
  </BuildConfiguration>
  <BuildConfiguration modelIdentifier="PlantModel_cs" description="another model">
    <SourceFileSet><SourceFile name="not there.c"/></SourceFileSet>
  </BuildConfiguration>
  <BuildConfiguration modelIdentifier="PlantModel" description="any platform">
    <SourceFileSet name="fmi" language="C11">
      <SourceFile name="fmi3_base.c"/>
      <SourceFile name="fmi3_model.c"/>
      <SourceFile name="plant.c"/>
      <PreprocessorDefinition name="_GNU_SOURCE"/>
    </SourceFileSet>
    <SourceFileSet name="control" language="C99" compilerOptions="-O1 -DRATE='(3 + 4)'">
      <SourceFile name="rate.c"/>
    </SourceFileSet>
    <SourceFileSet name="logging" language="C++11" compilerOptions="-fno-rtti">
      <SourceFile name="logging/src/logger.cpp"/>
      <PreprocessorDefinition name="FMI_VERSION" value="3"/>
      <PreprocessorDefinition name="LOG_TO_FILE" optional="true" description="Enable logging to file"/>
      <PreprocessorDefinition name="LOG_LEVEL" value="0" optional="true" description="Log level">
        <Option value="0" description="Info"/>
        <Option value="1" description="Warning"/>
        <Option value="2" description="Error"/>
      </PreprocessorDefinition>
      <IncludeDirectory name="logging/include"/>
    </SourceFileSet>
    <Library name="libgain.a" description="static, contained"/>
    <Library name="offset" version="&gt;=1.8,!=1.8.17" description="shared, contained"/>
    <Library name="m" external="true"/>
  </BuildConfiguration>
</fmiBuildDescription>
"#;

const PLANT: &str = r#"
#include "fmi3_model.h"
#include <math.h>
const char model_token[] = "{plant}";
struct plant { struct fmu_base base; double time, level, to_file, rate, gain, offset; };
const size_t model_size = sizeof(struct plant);
#define OUT(vr, name) {vr, FMU_FLOAT64, FMU_OUTPUT, offsetof(struct plant, name)}
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, offsetof(struct plant, time)}, {1, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    OUT(2, level), OUT(3, to_file), OUT(4, rate), OUT(5, gain), OUT(6, offset),
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;
int log_level(void);
int log_to_file(void);
int rate(void);
int contained_gain(void);
int contained_offset(void);
void model_set_start_values(void *model) { (void)model; }
void model_initialize(void *model, double start_time) { ((struct plant *)model)->time = start_time; }
void model_activate(void *model, fmi3ValueReference clock, double time)
{
    struct plant *plant = model;
    (void)clock;
    plant->time = time;
    plant->level = log_level();
    plant->to_file = log_to_file();
    plant->rate = rate();
    plant->gain = contained_gain() + 0.0 * hypot(time, time);
    plant->offset = contained_offset();
}
"#;

const LOGGER: &str = r#"
#include "logger.h"
#include <vector>
#if __cplusplus != 201103L
#error not C++11
#endif
#ifdef __GXX_RTTI
#error the options of this set are missing
#endif
#ifdef RATE
#error the options of another set are here
#endif
#if FMI_VERSION != 3
#error the version is missing
#endif
extern "C" int log_level(void) { return std::vector<int>(LOG_LEVEL, 1).size(); }
extern "C" int log_to_file(void)
{
#ifdef LOG_TO_FILE
    return 1;
#else
    return 0;
#endif
}
"#;

const RATE: &str = r#"
#if __STDC_VERSION__ != 199901L
#error not C99
#endif
#if defined LOG_LEVEL || defined FMI_VERSION
#error the definitions of another set are here
#endif
int rate(void) { return RATE; }
"#;

fn tuple() -> String {
    format!("{}-linux", std::env::consts::ARCH)
}

fn plant_model(folder: &Path) {
    let source = |name: &str| folder.join("sources").join(name);
    write(&folder.join("modelDescription.xml"), DESCRIPTION);
    write(&source("buildDescription.xml"), BUILD);
    write(&source("plant.c"), PLANT);
    write(&source("rate.c"), RATE);
    write(&source("logging/src/logger.cpp"), LOGGER);
    write(&source("logging/include/logger.h"), "extern \"C\" { int log_level(void); int log_to_file(void); }\n");
    for name in ["fmi3_base.c", "fmi3_base.h", "fmi3_model.c", "fmi3_model.h"] {
        std::fs::copy(ours("own_state/sources").join(name), source(name)).unwrap();
    }
    let binaries = folder.join("binaries").join(tuple());
    write(&folder.join("gain.c"), "int contained_gain(void) { return 11; }");
    write(&folder.join("offset.c"), "int contained_offset(void) { return 100; }");
    std::fs::create_dir_all(&binaries).unwrap();
    for (program, arguments) in [
        ("cc", "-c -fPIC -o gain.o gain.c"),
        ("ar", &format!("rc binaries/{}/libgain.a gain.o", tuple())),
        ("cc", &format!("-shared -fPIC -Wl,-soname,liboffset.so -o binaries/{}/liboffset.so offset.c", tuple())),
    ] {
        let status = Command::new(program).args(arguments.split(' ')).current_dir(folder).status();
        assert!(status.expect("these tests need a C compiler").success(), "{program} {arguments}");
    }
}

/// A rig of the plant model as `a`, and with this choice as `b`; the choice stands in line 7.
fn rig(choice: &str) -> Rig {
    let rig = Rig::of_text(&format!(
        "[rig]\nmode = \"virtual\"\nstop_time = 0.02\n[fmu.a]\npath = 'plant'\n[fmu.b]\n{choice}\npath = 'plant'\n[record]\n"
    ));
    plant_model(&rig.folder().join("plant"));
    rig
}

/// Runs it with a cache of its own: the one of other tests could hold what another version has built.
fn run(rig: &Rig) -> Outcome {
    let mut command = rig.command();
    command.env("VECUD_CACHE", rig.folder().join("cache"));
    rig.finish(rig.start(command))
}

/// Level, to_file, rate, gain, offset.
fn values(outcome: &Outcome, fmu: &str) -> [f64; 5] {
    let signals = outcome.signals();
    ["level", "to_file", "rate", "gain", "offset"]
        .map(|name| signals.column(&format!("{fmu}.{name}")).last().unwrap().parse().unwrap())
}

#[test]
fn every_set_has_its_language_options_and_definitions_and_contained_libraries_are_linked() {
    let outcome = run(&rig("")).exits(0);
    assert_eq!(values(&outcome, "a"), [0.0, 0.0, 7.0, 11.0, 100.0]);
}

#[test]
fn the_rig_chooses_definitions_for_each_instance() {
    let rig = rig("define = { LOG_LEVEL = 2, LOG_TO_FILE = true }");
    for round in ["built", "from the cache"] {
        let outcome = run(&rig).exits(0);
        assert_eq!(values(&outcome, "a"), [0.0, 0.0, 7.0, 11.0, 100.0], "{round}");
        assert_eq!(values(&outcome, "b"), [2.0, 1.0, 7.0, 11.0, 100.0], "{round}");
    }
}

#[test]
fn with_a_choice_the_sources_come_before_the_binary() {
    let rig = rig("define = { LOG_LEVEL = \"1\" }");
    let binary = rig.folder().join("plant/binaries").join(tuple()).join("PlantModel.so");
    // The binary, which `a` takes, is another build.
    let cache = Cache::at(rig.folder().join("cache"));
    let unpacked = Unpacked::open(&rig.folder().join("plant"), &cache).unwrap();
    let definitions = Definitions::from([("LOG_LEVEL".to_owned(), Some("2".to_owned()))]);
    let choices = BuildChoices { definitions, ..BuildChoices::default() };
    let description = description::parse(&unpacked.model_description().unwrap()).unwrap();
    let built = unpacked.library_of(description.abi, &description.interfaces[0], &choices, &cache).unwrap();
    std::fs::copy(built, binary).unwrap();
    let outcome = run(&rig).exits(0);
    assert_eq!((values(&outcome, "a")[0], values(&outcome, "b")[0]), (2.0, 1.0));
}

#[test]
fn a_choice_that_the_description_does_not_leave_is_refused_with_its_place() {
    for (choice, column, words) in [
        ("LOG_LEVEL = \"3\"", 12, "LOG_LEVEL cannot be \"3\"; its options are 0, 1, 2"),
        (
            "LOG_LEVLE = 1",
            12,
            "LOG_LEVLE is no definition of the FMU's build description; to be chosen are LOG_TO_FILE, LOG_LEVEL",
        ),
        (
            "LOG_LEVEL = 1, FMI_VERSION = 2",
            27,
            "FMI_VERSION is the same in every build: the FMU's build description leaves no choice",
        ),
    ] {
        let rig = rig(&format!("define = {{ {choice} }}"));
        let outcome = run(&rig).exits(2);
        let expected = format!("test.toml:7:{column}: ");
        assert!(outcome.stderr.contains(&expected), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(&format!("plant: define: {words}")), "{}", outcome.stderr);
    }
    let rig = rig("define = { LOG_LEVEL = 1.5 }");
    let words = run(&rig).exits(2).stderr;
    let expected =
        "test.toml:7:12: LOG_LEVEL in define must be a text in one line, a whole number, true or false, not 1.5";
    assert!(words.contains(expected), "{words}");
    let without = self::rig("define = { LOG_LEVEL = 1 }");
    std::fs::remove_dir_all(without.folder().join("plant/sources")).unwrap();
    std::fs::write(without.folder().join("plant/binaries").join(tuple()).join("PlantModel.so"), "x").unwrap();
    let words = run(&without).exits(2).stderr;
    assert!(words.contains("define: LOG_LEVEL is for FMUs that are built, and this one has no sources"), "{words}");
}
