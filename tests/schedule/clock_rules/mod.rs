//! When variables may be accessed and in what times are counted: small FMUs that answer Error to everything else, in both
//! modes, with activation times worked out by hand.

use crate::program;
mod time_unit;
mod variables;

use program::{Outcome, Rig, shared_core};
use std::path::{Path, PathBuf};

const INDEPENDENT: &str =
    "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>";

/// An FMU of `edge.c` in `folder`: `xml` is the content of `<ModelVariables>`, `before` what comes before that, and `model`
/// the content of model.h.
fn fmu(folder: &Path, name: &str, before: &str, xml: &str, model: &str) -> PathBuf {
    let (own, base) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schedule/clock_rules"), "fmus/tracer/sources");
    let to = folder.join(name);
    let sources = to.join("sources");
    std::fs::create_dir_all(&sources).unwrap();
    std::fs::copy(own.join("edge.c"), sources.join("edge.c")).unwrap();
    for file in ["fmi3_base.c", "fmi3_base.h"] {
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(base).join(file), sources.join(file)).unwrap();
    }
    std::fs::write(sources.join("model.h"), format!("#define TOKEN \"{{{name}}}\"\n{model}")).unwrap();
    let build = "<fmiBuildDescription fmiVersion=\"3.0\"><BuildConfiguration modelIdentifier=\"edge\">\
         <SourceFileSet language=\"C11\"><SourceFile name=\"edge.c\"/><SourceFile name=\"fmi3_base.c\"/>\
         <PreprocessorDefinition name=\"_GNU_SOURCE\"/></SourceFileSet></BuildConfiguration></fmiBuildDescription>";
    std::fs::write(sources.join("buildDescription.xml"), build).unwrap();
    let description = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"{name}\" instantiationToken=\"{{{name}}}\">\
         <ScheduledExecution modelIdentifier=\"edge\"/>{before}<ModelVariables>{xml}</ModelVariables><ModelStructure/>\
         </fmiModelDescription>"
    );
    std::fs::write(to.join("modelDescription.xml"), description).unwrap();
    to
}

/// Runs a rig of these keys of `[rig]` and these further tables in virtual time, then in real time or cooperatively; each
/// ends well.
fn in_both_modes(rig: &str, tables: &str, check: impl Fn(&Outcome) + Sync) {
    let text = format!("[rig]\nshutdown_timeout = 10\n{rig}\n{tables}\n[record]\nsignals = ['*']\n");
    check(&Rig::of_text(&text).run_virtual().exits(0));
    shared_core(|| check(&Rig::of_text(&text).run().exits(0)));
}

/// The values of a column, one for each row that changes it or is the first one with a value, with their times.
fn changes(run: &Outcome, column: &str) -> Vec<(f64, f64)> {
    let signals = run.signals();
    let values = signals.times().into_iter().zip(signals.column(column));
    let mut changes: Vec<(f64, f64)> = Vec::new();
    for (time, value) in values.filter(|(_, value)| !value.is_empty()) {
        let value = value.parse().unwrap();
        if changes.last().is_none_or(|(_, last)| *last != value) {
            changes.push((time, value));
        }
    }
    changes
}
