//! Shared libraries that are FMUs, and some that are not: tiny C files, compiled here.

use crate::abi::DRAFT_CORE;
use crate::{Function, Library, LoadError, LoadErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use vecud_description::{Abi, Interface};

/// Compiles C text to a shared library of that name.
pub fn compile(dir: &Path, name: &str, text: &str, extra: &[&str]) -> PathBuf {
    let (source, library) = (dir.join(format!("{name}.c")), dir.join(format!("{name}.so")));
    std::fs::write(&source, text).unwrap();
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).args(extra);
    assert!(cc.status().expect("these tests need a C compiler").success());
    library
}

/// An FMU that exports these and does nothing.
fn exporting<'a>(functions: impl Iterator<Item = &'a Function>, version: &str) -> String {
    exporting_in(Abi::Fmi3, functions, version)
}

fn exporting_in<'a>(abi: Abi, functions: impl Iterator<Item = &'a Function>, version: &str) -> String {
    let define = |f: &Function| match f {
        Function::GetVersion => format!("const char* fmi3GetVersion(void) {{ return \"{version}\"; }}\n"),
        other => format!("int {}(void) {{ return 0; }}\n", other.name_in(abi)),
    };
    functions.map(define).collect()
}

fn load_as(path: &Path, abi: Abi) -> Result<Library, LoadError> {
    Library::load(path, abi, Interface::ScheduledExecution)
}

fn load(path: &Path) -> Result<String, LoadError> {
    load_as(path, Abi::Fmi3).map(|library| library.version())
}

#[test]
fn a_complete_library_loads_with_any_released_version() {
    let dir = TempDir::new().unwrap();
    for (number, version) in ["3.0", "3.0.1", "3.0.2", "3.1", "3.12.1"].into_iter().enumerate() {
        let path = compile(dir.path(), &format!("v{number}"), &exporting(Function::ALL.iter(), version), &[]);
        assert_eq!(load(&path), Ok(version.to_owned()));
    }
}

#[test]
fn other_versions_are_refused() {
    let dir = TempDir::new().unwrap();
    for (number, version) in ["2.0", "4.0", "30", ""].into_iter().enumerate() {
        let path = compile(dir.path(), &format!("v{number}"), &exporting(Function::ALL.iter(), version), &[]);
        assert_eq!(
            load(&path).unwrap_err().kind,
            LoadErrorKind::Version { abi: Abi::Fmi3, version: version.to_owned() }
        );
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
    let LoadErrorKind::MissingSymbols { missing, .. } = &error.kind else { panic!("{error}") };
    assert_eq!(missing.len(), 3);
    assert!(left_out[..3].iter().all(|f| missing.contains(f)));
    assert!(error.to_string().contains("fmi3ActivateModelPartition"), "{error}");
}

/// What the draft has of the functions of Scheduled Execution.
fn of_draft(function: &&Function) -> bool {
    !matches!(function, Function::GetShiftDecimal | Function::GetShiftFraction | Function::SetShiftDecimal)
        && !matches!(function, Function::SetShiftFraction | Function::EvaluateDiscreteStates)
}

#[test]
fn a_library_of_the_other_dialect_is_refused_by_a_name_that_gives_it_away() {
    use Abi::{Draft, Fmi3};
    let dir = TempDir::new().unwrap();
    let compiled = |name: &str, dialect, version| {
        let functions = Function::ALL.iter().filter(|f| dialect == Fmi3 || of_draft(f));
        compile(dir.path(), name, &exporting_in(dialect, functions, version), &[])
    };
    let (released, draft) = (compiled("released", Fmi3, "3.0"), compiled("draft", Draft, "3.0"));
    assert!(load_as(&released, Fmi3).is_ok());
    assert!(load_as(&draft, Draft).is_ok_and(|library| library.missing().is_empty()));
    for (path, expected, sign) in
        [(&released, Draft, "fmi3DeserializeFMUState"), (&draft, Fmi3, "fmi3DeSerializeFMUState")]
    {
        let error = load_as(path, expected).unwrap_err();
        let speaks = if expected == Draft { Fmi3 } else { Draft };
        assert_eq!(error.kind, LoadErrorKind::Abi { expected, speaks, sign: sign.to_owned() });
        assert!(error.to_string().contains(sign), "{error}");
    }
    // Where names do not tell, the version does.
    let core = || Function::ALL.iter().filter(|f| DRAFT_CORE.contains(f));
    for (version, refused) in [("3.0-alpha.5", None), ("3.0", None), ("3.0.1", Some(Draft)), ("2.0", None)] {
        let path = compile(dir.path(), &format!("core{version}"), &exporting_in(Draft, core(), version), &[]);
        match (load_as(&path, Draft), version, refused) {
            (Ok(library), "3.0" | "3.0-alpha.5", _) => assert!(library.missing().contains(&Function::GetUInt8)),
            (Err(error), "2.0", _) => {
                assert_eq!(error.kind, LoadErrorKind::Version { abi: Draft, version: version.to_owned() });
            }
            (Err(error), _, Some(expected)) => {
                assert_eq!(
                    error.kind,
                    LoadErrorKind::Abi { expected, speaks: Fmi3, sign: format!("version {version}") }
                );
            }
            (result, ..) => panic!("{version}: {result:?}"),
        }
    }
    let alpha = compiled("alpha", Fmi3, "3.0-alpha.5");
    let kind = load_as(&alpha, Fmi3).unwrap_err().kind;
    assert_eq!(kind, LoadErrorKind::Abi { expected: Fmi3, speaks: Draft, sign: "version 3.0-alpha.5".to_owned() });
}

#[test]
fn what_no_fmu_of_the_draft_can_do_without_is_listed_when_it_is_missing() {
    let dir = TempDir::new().unwrap();
    let functions = Function::ALL.iter().filter(|f| of_draft(f) && **f != Function::ActivateModelPartition);
    let path = compile(dir.path(), "lacking", &exporting_in(Abi::Draft, functions, "3.0"), &[]);
    let error = load_as(&path, Abi::Draft).unwrap_err();
    let missing = vec![Function::ActivateModelPartition];
    assert_eq!(
        error.kind,
        LoadErrorKind::MissingSymbols { abi: Abi::Draft, interface: Interface::ScheduledExecution, missing }
    );
    assert!(error.to_string().ends_with("(draft of FMI 3.0) needs: fmi3ActivateModelPartition"), "{error}");
}

#[test]
fn equations_of_the_draft_need_their_modes() {
    let dir = TempDir::new().unwrap();
    let load = |name: &str, without: &[Function]| {
        let functions = Function::ALL.iter().filter(|f| of_draft(f) && !without.contains(f));
        let path = compile(dir.path(), name, &exporting_in(Abi::Draft, functions, "3.0"), &[]);
        Library::load(&path, Abi::Draft, Interface::ModelExchange)
    };
    assert!(load("whole", &[]).is_ok_and(|library| library.missing().is_empty()));
    // Where there are no states and no indicators, their functions are not called.
    let without = [Function::GetEventIndicators, Function::SetContinuousStates];
    assert!(load("discrete", &without).is_ok_and(|library| library.missing().len() == 2));
    let without = [Function::SetTime, Function::EnterEventMode, Function::EnterContinuousTimeMode];
    let error = load("lacking", &without).unwrap_err();
    let LoadErrorKind::MissingSymbols { missing, .. } = &error.kind else { panic!("{error}") };
    assert!(missing.len() == 3 && without.iter().all(|function| missing.contains(function)), "{error}");
}

#[test]
fn a_missing_dependency_is_told_in_dlopens_words_with_a_hint() {
    let dir = TempDir::new().unwrap();
    let needed = compile(dir.path(), "libneeded", "int needed(void) { return 1; }", &[]);
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

/// dlopen names causes without a way out; the words for what a usual libc does not refuse are glibc's.
#[test]
fn what_dlopen_refuses_is_told_with_a_way_out() {
    let told = |words: &str| LoadError { path: "a.so".into(), kind: LoadErrorKind::Open(words.to_owned()) }.to_string();
    let stack = "cannot enable executable stack as shared object requires: Invalid argument";
    let told_stack = told(stack);
    assert!(told_stack.starts_with(&format!("a.so: cannot be loaded: {stack}\n")), "{told_stack}");
    assert!(told_stack.contains(".note.GNU-stack") && told_stack.contains("glibc.rtld.execstack=2"), "{told_stack}");
    assert!(told("cannot allocate memory in static TLS block").contains("glibc.rtld.optional_static_tls="));
    assert_eq!(told("file too short"), "a.so: cannot be loaded: file too short");
}
