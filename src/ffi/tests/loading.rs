//! Shared libraries that are FMUs, and some that are not: tiny C files, compiled here.

use crate::ffi::{Function, Library, LoadError, LoadErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Compiles C text to a shared library.
fn compile(dir: &Path, name: &str, text: &str, extra: &[&str]) -> PathBuf {
    let (source, library) = (dir.join(format!("{name}.c")), dir.join(format!("lib{name}.so")));
    std::fs::write(&source, text).unwrap();
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).args(extra);
    assert!(cc.status().expect("these tests need a C compiler").success());
    library
}

/// An FMU that exports these and does nothing.
fn exporting<'a>(functions: impl Iterator<Item = &'a Function>, version: &str) -> String {
    let define = |f: &Function| match f {
        Function::GetVersion => format!("const char* fmi3GetVersion(void) {{ return \"{version}\"; }}\n"),
        other => format!("int {}(void) {{ return 0; }}\n", other.name()),
    };
    functions.map(define).collect()
}

fn load(path: &Path) -> Result<String, LoadError> {
    Library::load(path).map(|library| library.version())
}

#[test]
fn a_complete_library_loads_with_any_released_version() {
    let dir = TempDir::new().unwrap();
    for (number, version) in ["3.0", "3.0.1", "3.0.2"].into_iter().enumerate() {
        let path = compile(dir.path(), &format!("v{number}"), &exporting(Function::ALL.iter(), version), &[]);
        assert_eq!(load(&path), Ok(version.to_owned()));
    }
}

#[test]
fn other_versions_are_refused() {
    let dir = TempDir::new().unwrap();
    for (number, version) in ["2.0", "3.1", "3.0-alpha.5", ""].into_iter().enumerate() {
        let path = compile(dir.path(), &format!("v{number}"), &exporting(Function::ALL.iter(), version), &[]);
        assert_eq!(load(&path).unwrap_err().kind, LoadErrorKind::Version(version.to_owned()));
    }
}

#[test]
fn all_missing_functions_are_listed_at_once() {
    use Function::*;
    let left_out = [ActivateModelPartition, GetClock, SetInt8, DoStep, SetTime, EnterEventMode];
    let dir = TempDir::new().unwrap();
    let text = exporting(Function::ALL.iter().filter(|f| !left_out.contains(f)), "3.0");
    let error = load(&compile(dir.path(), "partial", &text, &[])).unwrap_err();
    // Those of Model Exchange and Co-Simulation may be absent.
    let LoadErrorKind::MissingSymbols(missing) = &error.kind else { panic!("{error}") };
    assert_eq!(missing.len(), 3);
    assert!(left_out[..3].iter().all(|f| missing.contains(f)));
    assert!(error.to_string().contains("fmi3ActivateModelPartition"), "{error}");
}

#[test]
fn a_missing_dependency_is_told_in_dlopens_words_with_a_hint() {
    let dir = TempDir::new().unwrap();
    let needed = compile(dir.path(), "needed", "int needed(void) { return 1; }", &[]);
    let (place, text) = (format!("-L{}", dir.path().display()), "int needed(void); int use(void) { return needed(); }");
    let path = compile(dir.path(), "needing", text, &[&place, "-lneeded"]);
    std::fs::remove_file(needed).unwrap();
    let error = load(&path).unwrap_err();
    let LoadErrorKind::Dependency(words) = &error.kind else { panic!("{error}") };
    assert!(words.contains("libneeded.so"), "{words}");
    assert!(error.to_string().contains("documentation"), "{error}");
}

#[test]
fn an_undefined_symbol_is_found_when_loading_not_when_running() {
    let dir = TempDir::new().unwrap();
    let path = compile(dir.path(), "undefined", "void nowhere(void); void use(void) { nowhere(); }", &[]);
    let error = load(&path).unwrap_err();
    assert!(matches!(&error.kind, LoadErrorKind::Dependency(words) if words.contains("nowhere")), "{error}");
}

#[test]
fn no_library_at_all() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("text.so");
    assert!(matches!(load(&path).unwrap_err().kind, LoadErrorKind::Open(_)));
    std::fs::write(&path, "not ELF").unwrap();
    assert!(matches!(load(&path).unwrap_err().kind, LoadErrorKind::Open(_)));
}
