//! FMUs whose library calls Python and does not say where it is, as those that pythonfmu makes: the library that is meant is loaded first.
//! Small libraries of our own stand for Python's.

use crate::loading::{copy, edit, ours};
use crate::program::skipped;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A place with an FMU that gives the number of the Python that it calls, and with libraries of these numbers.
struct Place(TempDir);

impl Place {
    fn new(libraries: &[(&str, u32)]) -> Place {
        let place = Place(crate::program::tempdir().unwrap());
        copy(&ours("stepper"), &place.path("calling"));
        std::fs::rename(place.path("calling/sources"), place.path("sources")).unwrap();
        let source = place.path("sources/stepper.c");
        edit(
            &source,
            "void model_initialize(",
            "extern int _Py_StandIn;\nextern int Py_StandInNumber(void);\n\nvoid model_initialize(",
        );
        edit(
            &source,
            "    if (step->size > stepper->longest)",
            "    stepper->x = Py_StandInNumber() + _Py_StandIn;\n    if (step->size > stepper->longest)",
        );
        libraries.iter().for_each(|(file, number)| place.library(file, *number));
        place.build();
        place
    }

    /// Compiles the FMU's sources as tools do it, without a word of what it calls, and leaves none.
    fn build(&self) {
        self.build_with(&[]);
    }

    fn build_with(&self, options: &[&str]) {
        let (fmu, headers) =
            (self.path("calling"), Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/fmu/src/headers"));
        let library = fmu.join(format!("binaries/{}-linux/stepper.so", std::env::consts::ARCH));
        std::fs::create_dir_all(library.parent().unwrap()).unwrap();
        let sources = ["stepper.c", "fmi3_steps.c", "fmi3_model.c", "fmi3_base.c"];
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-D_GNU_SOURCE", "-DFMI3_OVERRIDE_FUNCTION_PREFIX", "-I"]).arg(headers);
        compiler.arg("-o").arg(library).args(sources).args(options).arg("-lm").current_dir(self.path("sources"));
        assert!(compiler.status().unwrap().success());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn library(&self, file: &str, number: u32) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let source = self.path("python.c");
        std::fs::write(&source, format!("int _Py_StandIn = 0;\nint Py_StandInNumber(void) {{ return {number}; }}\n"))
            .unwrap();
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&path).arg(&source).status().unwrap();
        assert!(made.success());
    }

    /// An interpreter of that name, and the one that `python3` is then.
    fn interpreter(&self, folder: &str, name: &str) {
        std::fs::create_dir_all(self.path(folder)).unwrap();
        std::fs::write(self.path(folder).join(name), "").unwrap();
        std::os::unix::fs::symlink(name, self.path(folder).join("python3")).unwrap();
    }

    /// `vecud`, with libraries looked for in `lib` and programs in `bin` first: exit code and what it has said.
    fn vecud(&self, bin: &str, words: &[&str]) -> (i32, String) {
        let before = std::env::var("PATH").unwrap_or_default();
        let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
        vecud.args(words).current_dir(self.0.path()).env("LD_LIBRARY_PATH", self.path("lib")).env_remove("LD_PRELOAD");
        let done = vecud.env("PATH", format!("{}:{before}", self.path(bin).display())).output().unwrap();
        let said = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        (done.status.code().unwrap_or(-1), said)
    }

    /// Runs the FMU by all commands, each with these arguments: the number that it gives, which is the same by all.
    #[track_caller]
    fn number(&self, bin: &str, arguments: &[&str]) -> String {
        let commands: [&[&str]; 4] = [
            &["simulate", "calling", "--stop-time", "0.01", "--output-interval", "0.01"],
            &["run", "calling", "--mode", "virtual", "--stop-time", "0.02", "--out", "out"],
            &[
                "call",
                "calling",
                "-c",
                "Instantiate",
                "-c",
                "EnterInitializationMode",
                "-c",
                "ExitInitializationMode",
                "-c",
                "DoStep 0.01",
                "-c",
                "get x",
            ],
            &["validate", "calling"],
        ];
        let mut said = commands.map(|words| {
            let (code, said) = self.vecud(bin, &[words, arguments].concat());
            assert_eq!(code, 0, "{words:?}: {said}");
            said
        });
        let (_, rest) = said[0].split_once("\n0.01,").unwrap_or_else(|| panic!("{}", said[0]));
        let number = rest.split(['\n', ',']).next().unwrap().to_owned();
        said[1] = std::fs::read_to_string(self.path("out/signals.csv")).unwrap();
        assert!(said[1].contains(&format!(",{number}")) && said[2].contains(&format!("x = {number}")), "{said:?}");
        number
    }
}

#[test]
fn the_only_library_of_python_is_loaded_first_with_a_note() {
    // One that lacks what is called is not meant.
    let place = Place::new(&[("lib/libpython3.98.so", 98)]);
    std::fs::write(place.path("lib/libpython3.97.so"), "no library").unwrap();
    assert_eq!(place.number("bin", &[]), "98.0");
    for words in [["simulate", "calling"], ["call", "calling"], ["run", "calling"]] {
        let more: &[&str] = match words[0] {
            "call" => &["-c", "Instantiate"],
            "run" => &["--mode", "virtual", "--stop-time", "0.02"],
            _ => &[],
        };
        let (_, said) = place.vecud("bin", &[&words, more].concat());
        assert!(said.contains("calls Python (") && said.contains("lib/libpython3.98.so is loaded first"), "{said}");
    }
}

/// The interpreter that `python3` is says which of several is meant, also where it is that of a virtual environment.
#[test]
fn the_library_of_the_interpreter_counts() {
    let place =
        Place::new(&[("lib/libpython3.97.so", 97), ("lib/libpython3.98.so", 98), ("own/lib/libpython3.99.so.1.0", 99)]);
    place.interpreter("own/bin", "python3.99");
    assert_eq!(place.number("own/bin", &[]), "99.0");
    std::fs::create_dir_all(place.path("environment/bin")).unwrap();
    std::fs::write(place.path("environment/bin/python3"), "a copy").unwrap();
    std::fs::write(
        place.path("environment/pyvenv.cfg"),
        format!("home = {}\nversion = 3.99.0\n", place.path("own/bin").display()),
    )
    .unwrap();
    assert_eq!(place.number("environment/bin", &[]), "99.0");
}

/// What is called like Python's, and is there, is none of Python's.
#[test]
fn a_library_that_has_all_that_it_calls_needs_no_python() {
    let place = Place::new(&[("calling/binaries/libown.so", 7)]);
    let library = place.path(&format!("calling/binaries/{}-linux", std::env::consts::ARCH));
    std::fs::rename(place.path("calling/binaries/libown.so"), library.join("libown.so")).unwrap();
    place.build_with(&["-Wl,-rpath,$ORIGIN", "-L", library.to_str().unwrap(), "-lown"]);
    let (code, said) = place.vecud("bin", &["simulate", "calling", "--stop-time", "0.01", "--output-interval", "0.01"]);
    assert!(code == 0 && said.contains("\n0.01,7.0") && !said.contains("Python"), "{said}");
}

/// Also where not the FMU's library itself calls Python, but one that it brings.
#[test]
fn a_library_beside_an_fmus_own_may_call_python() {
    let place = Place::new(&[("lib/libpython3.98.so", 98)]);
    let library = place.path(&format!("calling/binaries/{}-linux", std::env::consts::ARCH));
    let source = place.path("own.c");
    let own =
        "extern int Py_StandInNumber(void);\nint own_number(void) { return Py_StandInNumber(); }\nint own_zero = 0;\n";
    std::fs::write(&source, own).unwrap();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(library.join("libown.so")).arg(&source).status();
    assert!(made.unwrap().success());
    edit(&place.path("sources/stepper.c"), "Py_StandInNumber", "own_number");
    edit(&place.path("sources/stepper.c"), "_Py_StandIn", "own_zero");
    place.build_with(&["-Wl,-rpath,$ORIGIN", "-L", library.to_str().unwrap(), "-lown"]);
    let (code, said) = place.vecud("bin", &["simulate", "calling", "--stop-time", "0.01", "--output-interval", "0.01"]);
    assert!(code == 0 && said.contains("\n0.01,98.0") && said.contains("libpython3.98.so is loaded first"), "{said}");
}

/// Where nobody can know it, the message has the line that helps.
#[test]
fn where_none_or_several_could_be_meant_the_line_is_told_that_helps() {
    let place = Place::new(&[("lib/libpython3.97.so", 97), ("lib/libpython3.98.so", 98)]);
    let file =
        |number: u32| place.path(&format!("lib/libpython3.{number}.so")).canonicalize().unwrap().display().to_string();
    let refused = |place: &Place, words: &[&str], code: i32| {
        let (exit, said) = place.vecud("bin", words);
        assert_eq!(exit, code, "{said}");
        said
    };
    let commands: [(&[&str], i32); 4] = [
        (&["run", "calling", "--mode", "virtual"], 2),
        (&["simulate", "calling"], 2),
        (&["call", "calling", "-c", "Instantiate"], 2),
        (&["validate", "calling"], 3),
    ];
    for (words, code) in commands {
        let said = refused(&place, words, code);
        for number in [97, 98] {
            let name = if words[0] == "call" { "stepper" } else { "calling" };
            let line = format!(
                "preload = [\"{}\"] in [fmu.{name}] of a rig, or `vecud run --preload {}`",
                file(number),
                file(number)
            );
            assert!(said.contains("more than one could be meant") && said.contains(&line), "{line}: {said}");
        }
    }
    // It helps: a file, or a name that the linker finds.
    assert_eq!(place.number("bin", &["--preload", &file(97)]), "97.0");
    assert_eq!(place.number("bin", &["--preload", "libpython3.98.so"]), "98.0");
    for preload in ["libpython3.98.so", "lib/libpython3.98.so"] {
        std::fs::write(
            place.path("rig.toml"),
            format!("[rig]\nmode = 'virtual'\nstop_time = 0.02\n[fmu.a]\npath = 'calling'\nstep = 0.01\npreload = ['{preload}']\n[record]\n"),
        )
        .unwrap();
        let (code, said) = place.vecud("bin", &["run", "rig.toml", "--out", "out"]);
        assert_eq!(code, 0, "{said}");
        assert!(std::fs::read_to_string(place.path("out/signals.csv")).unwrap().contains(",98.0"));
    }
    let said = refused(&place, &["simulate", "calling", "--preload", "libpython3.none.so"], 2);
    assert!(said.contains("libpython3.none.so cannot be loaded before it (preload): "), "{said}");
    let nothing = Place::new(&[]);
    let said = refused(&nothing, &["simulate", "calling"], 2);
    assert!(said.contains("none is found that has all that it calls: install the library of Python"), "{said}");
    assert!(
        said.contains("preload = [\"libpython3.11.so.1.0\"] in [fmu.calling] of a rig, or `vecud run --preload"),
        "{said}"
    );
}

/// A class that pythonfmu has packed, where Python and it are there.
#[test]
fn an_fmu_that_pythonfmu_has_made_runs_as_it_is() {
    let has = |module: &str| {
        Command::new("python3")
            .args(["-c", &format!("import {module}")])
            .output()
            .is_ok_and(|done| done.status.success())
    };
    if !has("pythonfmu") {
        return skipped(
            "an_fmu_that_pythonfmu_has_made_runs_as_it_is",
            &"python3 has no pythonfmu (pip install pythonfmu numpy)",
        );
    }
    let folder = crate::program::tempdir().unwrap();
    let numbers = if has("numpy") { "import numpy\n" } else { "" };
    let class = "from pythonfmu import Fmi2Causality, Fmi2Slave, Real\n\n\
                 class Doubler(Fmi2Slave):\n    def __init__(self, **kwargs):\n        super().__init__(**kwargs)\n        \
                 self.y = 0.0\n        self.register_variable(Real(\"y\", causality=Fmi2Causality.output))\n\n    \
                 def do_step(self, time, step):\n        self.y = 2.0 * (time + step)\n        return True\n";
    std::fs::write(folder.path().join("doubler.py"), format!("{numbers}{class}")).unwrap();
    let build = ["-m", "pythonfmu", "build", "-f", "doubler.py"];
    assert!(Command::new("python3").args(build).current_dir(&folder).output().unwrap().status.success());
    let commands: [&[&str]; 2] = [
        &["simulate", "Doubler.fmu", "--stop-time", "1", "--output-interval", "0.5"],
        &["call", "Doubler.fmu", "-c", "Instantiate"],
    ];
    for words in commands {
        let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
        let done = vecud.args(words).current_dir(&folder).env_remove("LD_PRELOAD").output().unwrap();
        let [out, said] = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(done.status.success() && !said.contains("corrupted"), "{words:?}: {said}");
        assert!(words[0] == "call" || out.ends_with("0.5,1.0\n1.0,2.0\n"), "{out}");
    }
}

/// Anything else that is missing is named with the way out.
#[test]
fn another_symbol_that_is_missing_is_told_with_the_line_that_helps() {
    let place = Place::new(&[]);
    let source = place.path("sources/stepper.c");
    edit(&source, "Py_StandInNumber", "nobody_has_this");
    edit(&source, "_Py_StandIn", "nor_this");
    place.build();
    let (code, said) = place.vecud("bin", &["simulate", "calling"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("undefined symbol") && said.contains("preload = [...] in [fmu.calling]"), "{said}");
}
