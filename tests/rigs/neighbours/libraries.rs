//! Libraries of one name, of which a process loads one, and variables that are unique in a process.

use super::{compile, description, integrator, last, listed, rig};
use crate::program::{Rig, cache};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const FOLDER: &str = "binaries/linux64";

/// An FMU whose gain comes from a library `name` beside its own one, and what of that there is to be linked.
fn with_gain(rig: Rig, fmu: &str, name: &str, gain: u32, is_brought: bool) -> Rig {
    with_library(rig, fmu, name, &format!("double gain(void) {{ return {gain}; }}"), is_brought)
}

/// An FMU whose gain comes from a library of this source.
fn with_library(rig: Rig, fmu: &str, name: &str, source: &str, is_brought: bool) -> Rig {
    let folder = rig.folder().join(fmu);
    let binaries = folder.join(FOLDER);
    fs::create_dir_all(&binaries).unwrap();
    fs::write(folder.join("modelDescription.xml"), description("<File name=\"all.c\"/>")).unwrap();
    fs::write(binaries.join("all.c"), integrator("double gain(void);\n#define GAIN gain()", &[])).unwrap();
    fs::write(binaries.join("gain.c"), source).unwrap();
    compile("cc", &binaries, &[&format!("-Wl,-soname,{name}"), "-o", name, "gain.c"]);
    compile("cc", &binaries, &["-Wl,-rpath,$ORIGIN,--disable-new-dtags", "-o", "integrator.so", "all.c", name]);
    if !is_brought {
        fs::rename(binaries.join(name), rig.folder().join(name)).unwrap();
    }
    fs::remove_file(binaries.join("all.c")).unwrap();
    fs::remove_file(binaries.join("gain.c")).unwrap();
    listed(rig, fmu)
}

fn check(rig: &Rig) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("check").arg(rig.file()).env("VECUD_CACHE", cache()).output().unwrap()
}

/// Alone they have x = 1 + 2 · gain · 0.1.
#[test]
fn two_fmus_that_bring_different_libraries_of_one_name_are_refused_before_their_code_runs() {
    let fmus = |keys: &str| with_gain(with_gain(rig(keys), "a", "libgain.so", 2, true), "b", "libgain.so", 3, true);
    let refused = fmus("");
    let run = refused.run();
    let checked = String::from_utf8(check(&refused).stderr).unwrap();
    for told in [&run.stderr, &checked] {
        for words in [
            "test.toml:11:8",
            "fmu `b` and fmu `a` need different files of the name libgain.so",
            "shared_libraries = \"trust\"",
        ] {
            assert!(told.contains(words), "{words} is not in\n{told}");
        }
        for fmu in ["a", "b"] {
            let file = refused.folder().join(fmu).join(FOLDER).join("libgain.so");
            assert!(told.contains(file.to_str().unwrap()), "{told}");
        }
    }
    assert!(!refused.out().exists(), "nothing has run");
    run.exits(2);
    // The dynamic linker gives both the first one: that is what is kept from people who do not say that they know it.
    let run = fmus("shared_libraries = 'trust'").run().exits(0);
    assert_eq!((last(&run, "a"), last(&run, "b")), (1.4, 1.4));
    assert!(run.stderr.contains("fmu `b` runs the code of fmu `a` (shared_libraries = \"trust\")"), "{}", run.stderr);
}

#[test]
fn libraries_of_one_name_and_content_and_libraries_of_other_names_are_nobodys_business() {
    let same = with_gain(with_gain(rig(""), "a", "libgain.so", 2, true), "b", "libgain.so", 2, true).run().exits(0);
    assert_eq!((last(&same, "a"), last(&same, "b")), (1.4, 1.4));
    let others = with_gain(with_gain(rig(""), "a", "libgain2.so", 2, true), "b", "libgain3.so", 3, true).run().exits(0);
    assert_eq!((last(&others, "a"), last(&others, "b")), (1.4, 1.6));
    for run in [same, others] {
        assert!(!run.stderr.contains("note"), "{}", run.stderr);
    }
}

/// A library of one name and content is loaded once: what changes in it is said to be shared, and what `vecud check` assumes then.
#[test]
fn a_library_with_variables_that_two_fmus_bring_is_told() {
    let (counts, constant) = (
        "static int n; double gain(void) { return ++n; }",
        "static const double all[] = {2, 3}; const double *const first = all; double gain(void) { return *first; }",
    );
    for (source, is_shared) in [(counts, true), (constant, false)] {
        let both = |name| with_library(with_library(rig(""), "a", name, source, true), "b", name, source, true);
        let fmus = both("libgain.so");
        let checked = check(&fmus);
        let checked =
            format!("{}{}", String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
        let run = fmus.run().exits(0);
        let note = "fmu `a` and fmu `b` bring libgain.so of the same content: it is loaded once, and they share its static variables";
        assert_eq!(
            (run.stderr.contains(note), checked.contains(note)),
            (is_shared, is_shared),
            "{checked}\n{}",
            run.stderr
        );
        assert_eq!(checked.contains("a and b, which share libgain.so,"), is_shared, "{checked}");
    }
    // What a library counts is nobody else's under another name.
    let others = with_library(with_library(rig(""), "a", "liba.so", counts, true), "b", "libb.so", counts, true);
    let run = others.run().exits(0);
    assert!(!run.stderr.contains("note"), "{}", run.stderr);
    assert_eq!(last(&run, "a"), last(&run, "b"));
}

/// The name of a library counts also for an FMU's own one, which others may need; and one that is not brought is another file, too.
#[test]
fn a_library_that_the_machine_has_is_not_taken_from_another_fmu() {
    let fmus = with_gain(with_gain(rig(""), "a", "libgain.so", 2, true), "b", "libgain.so", 3, false);
    let mut command = fmus.command();
    command.env("LD_LIBRARY_PATH", fmus.folder());
    let run = fmus.finish(fmus.start(command)).exits(2);
    assert!(run.stderr.contains("fmu `b` and fmu `a` need different files of the name libgain.so"), "{}", run.stderr);

    let fmus = with_gain(rig(""), "a", "libgain.so", 2, true);
    // An FMU of the name libgain.so, loaded first.
    let file = fmus.folder().join("test.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("[fmu.a]", "[fmu.first]\npath = 'first'\nstep = '1/100'\n[fmu.a]")).unwrap();
    let first = fmus.folder().join("first");
    fs::create_dir_all(first.join(FOLDER)).unwrap();
    fs::write(first.join("modelDescription.xml"), description("<File name=\"all.c\"/>")).unwrap();
    let source = integrator("double gain(void) { return 7; }", &[]);
    fs::write(first.join(FOLDER).join("all.c"), source).unwrap();
    compile("cc", &first.join(FOLDER), &["-Wl,-soname,libgain.so", "-o", "integrator.so", "all.c"]);
    let run = fmus.run().exits(2);
    assert!(
        run.stderr.contains("fmu `a` and fmu `first` need different files of the name libgain.so"),
        "{}",
        run.stderr
    );
}

/// `dlopen` looks at names first: what the program has loaded counts for all FMUs, whatever they bring.
#[test]
fn what_the_program_has_loaded_counts_for_all() {
    let fmus = with_gain(rig(""), "a", "libgain.so", 2, true);
    let binaries = fmus.folder().join("a").join(FOLDER);
    fs::write(binaries.join("c.c"), "double unused(void) { return 5; }").unwrap();
    compile("cc", &binaries, &["-Wl,-soname,libm.so.6", "-o", "libm.so.6", "c.c"]);
    fs::write(binaries.join("all.c"), integrator("double gain(void);\n#define GAIN gain()", &[])).unwrap();
    compile(
        "cc",
        &binaries,
        &["-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-o", "integrator.so", "all.c", "libgain.so", "libm.so.6"],
    );
    let run = fmus.run().exits(0);
    assert_eq!(last(&run, "a"), 1.4);
    let words = ["note: fmu `a` brings libm.so.6 (", "which vecud has loaded for itself: it gets that one"];
    assert!(words.iter().all(|words| run.stderr.contains(words)), "{}", run.stderr);
}

/// A counter in an inline function of C++: each FMU counts its instantiations, and makes them its gain.
fn with_counter(rig: Rig, fmu: &str, more: &[&str]) -> Rig {
    let folder = rig.folder().join(fmu);
    let binaries = folder.join(FOLDER);
    fs::create_dir_all(&binaries).unwrap();
    fs::write(folder.join("modelDescription.xml"), description("<File name=\"all.c\"/>")).unwrap();
    fs::write(binaries.join("all.c"), integrator("double count(void);\n#define GAIN count()", &[])).unwrap();
    // Another place in each, so that the libraries differ.
    let counter =
        "inline int &counter() { static int n = 4; return n; }\nextern \"C\" double count() { return ++counter(); }";
    fs::write(binaries.join("count.cpp"), format!("{counter}\nconst char *own() {{ return \"{fmu}\"; }}")).unwrap();
    compile("cc", &binaries, &["-c", "-o", "all.o", "all.c"]);
    compile("c++", &binaries, &[&["-o", "integrator.so", "count.cpp", "all.o"], more].concat());
    listed(rig, fmu)
}

#[test]
fn a_variable_that_two_fmus_define_and_have_together_is_a_finding_that_names_it_and_them() {
    let run = with_counter(with_counter(rig(""), "a", &[]), "b", &[]).run().exits(0);
    // The rule that makes it one: alone, each counts to 5.
    assert_eq!((last(&run, "a"), last(&run, "b")), (2.0, 2.2));
    assert_eq!((run.finding("a", "shared_variable"), run.finding("b", "shared_variable")), (None, Some(1)));
    run.problem(&["fmu `b`: shares the variable _ZZ7countervE1n with fmu `a`", "-fno-gnu-unique"]);
    for options in [["-fno-gnu-unique"], ["-fvisibility=hidden"]] {
        let run = with_counter(with_counter(rig(""), "a", &options), "b", &options).run().exits(0);
        assert_eq!((last(&run, "a"), last(&run, "b")), (2.0, 2.0), "{options:?}");
        assert_eq!(run.finding("b", "shared_variable"), None, "{options:?}");
    }
}

#[test]
fn vecud_validate_warns_of_variables_that_are_unique_in_a_process() {
    for (options, is_warned) in [(&[][..], true), (&["-fno-gnu-unique"], false)] {
        let fmus = with_counter(rig(""), "a", options);
        let folder: &Path = &fmus.folder().join("a");
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        let output = command.arg("validate").arg(folder).env("VECUD_CACHE", cache()).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let warns = told.contains("has the variable _ZZ7countervE1n unique in a process (STB_GNU_UNIQUE)");
        assert_eq!(warns, is_warned, "{told}");
    }
}

/// What a library asks of the process is told before a system refuses it: the usual libc of today lets it pass.
#[test]
fn vecud_validate_warns_of_an_executable_stack() {
    for (option, is_warned) in [("-Wl,-z,execstack", true), ("-Wl,-z,noexecstack", false)] {
        let fmus = with_counter(rig(""), "a", &["-fno-gnu-unique", option]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.arg("validate").arg(fmus.folder().join("a")).env("VECUD_CACHE", cache());
        let told = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert_eq!(
            told.contains("asks for an executable stack") && told.contains(".note.GNU-stack"),
            is_warned,
            "{told}"
        );
    }
}
