//! The results that an FMU carries (FMI-LS-REF).

use super::Fmu;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "extra/org.fmi-standard.fmi-ls-ref";

fn manifest(files: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiReferences xmlns:fmi-ls=\"http://fmi-standard.org/fmi-ls-manifest\" \
         fmi-ls:fmi-ls-name=\"org.fmi-standard.fmi-ls-ref\" fmi-ls:fmi-ls-version=\"1.0.0-beta.1\" \
         fmi-ls:fmi-ls-description=\"x\">\n{files}\n</fmiReferences>\n"
    )
}

const RESULT: &str = "<Related type=\"text/csv\" source=\"out.csv\" role=\"result\"/>";

/// An example that carries a result.
fn carrying(name: &str, rows: &str) -> Fmu {
    let fmu = Fmu::like(name).and(&format!("{FOLDER}/fmi-ls-manifest.xml"), &manifest(RESULT));
    fmu.and(&format!("{FOLDER}/out.csv"), rows)
}

/// What the example computes.
fn simulated(name: &str, arguments: &[&str]) -> String {
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name);
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    let output = command.arg("simulate").arg(fmu).args(arguments).env("VECUD_CACHE", cache).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn results_that_it_computes_again_are_ok() {
    let said = carrying("stepper", &simulated("stepper", &[])).validate(&[]).exits(0);
    assert_eq!((said.outcome("reference results"), said.outcome("reference out.csv")), ("ok", "ok"));
    said.says(&["reference out.csv", "the same at 101 times to 1 s, 3 columns"]);
}

/// The first deviation is named, with variable, time and both values.
#[test]
fn wrong_results_are_a_finding() {
    let rows = simulated("stepper", &[]).replace("\n0.5,", "\n0.5,1000");
    let fmu = carrying("stepper", &rows);
    let said = fmu.validate(&[]).exits(3);
    assert_eq!(said.outcome("reference out.csv"), "finding");
    said.says(&[
        "reference out.csv: extra/org.fmi-standard.fmi-ls-ref/out.csv: x is ",
        "at 0.5 s, and 1000",
        "in the reference",
    ]);
    fmu.validate(&["--reference-tolerance", "1e9"]).exits(0);
}

/// A simulation that is merely slow shows nothing of what comes later.
#[test]
fn results_that_take_too_long_are_not_tried() {
    let rows = simulated("stepper", &[]);
    let slow = "if (stepper->burn_us > 0) burn(stepper->burn_us);";
    let slower = "nanosleep(&(struct timespec){0, 50000000}, 0);";
    let fmu = carrying("stepper", &rows).with("sources/stepper.c", slow, slower);
    let said = fmu.validate(&["--timeout", "2"]).exits(0);
    assert_eq!(said.outcome("reference out.csv"), "not tried");
    said.says(&["it takes longer than --timeout allows"]);
}

/// Columns of inputs feed these.
#[test]
fn inputs_in_the_result_are_fed() {
    let inputs = "time,a\n0,1\n0.5,3\n1,3\n";
    let folder = crate::program::tempdir().unwrap();
    let file = folder.path().join("in.csv");
    std::fs::write(&file, inputs).unwrap();
    let fed = ["-i", file.to_str().unwrap(), "--output-variable", "a", "--output-variable", "x"];
    let rows = simulated("stepper", &fed);
    assert_ne!(rows, simulated("stepper", &["--output-variable", "a", "--output-variable", "x"]));
    carrying("stepper", &rows).validate(&[]).exits(0).says(&["reference out.csv", "the same at 101 times"]);
}

#[test]
fn what_is_wrong_with_the_manifest_or_a_result_has_its_place() {
    let said = carrying("stepper", "time,nobody\n0,1\n").validate(&[]).exits(3);
    said.says(&["reference out.csv: ", "out.csv: has no column that is named as a variable"]);
    let said = carrying("stepper", "time,x\n0,0.1\nsoon,0.2\n").validate(&[]).exits(3);
    said.says(&["reference out.csv: ", "out.csv:3:1: ", "no time in s"]);
    let said = Fmu::like("stepper").and(&format!("{FOLDER}/fmi-ls-manifest.xml"), "<other/>").validate(&[]).exits(3);
    said.says(&["reference results: ", "fmi-ls-manifest.xml:1:1: ", "<fmiReferences> expected"]);
}

/// What vecud does not do, and what is not there, is said.
#[test]
fn files_that_are_no_results_of_its_own_are_not_tried() {
    let files = "<Related source=\"a.exp\" role=\"experiment\" type=\"application/x-ma-hs-experiments\"/>\
                 <Related source=\"r.mat\" role=\"result\"/><Related source=\"gone.csv\" role=\"result\"/>\
                 <Related source=\"http://example.com/far.csv\" role=\"result\"/>\
                 <Related source=\"../../../../etc/hostname\" role=\"result\"/><Related source=\"m.mo\" role=\"model\"/>";
    let fmu = Fmu::like("stepper").and(&format!("{FOLDER}/fmi-ls-manifest.xml"), &manifest(files));
    let said = fmu.and(&format!("{FOLDER}/r.mat"), "x").and(&format!("{FOLDER}/a.exp"), "x").validate(&[]).exits(0);
    for file in ["a.exp", "r.mat", "gone.csv", "http://example.com/far.csv", "../../../../etc/hostname"] {
        assert_eq!(said.outcome(&format!("reference {file}")), "not tried", "{file}");
    }
    assert!(!said.stdout.contains("reference m.mo"), "{}", said.stdout);
    said.says(&["reference results: ", "gone.csv is not there"]);
}
