//! Building an FMU runs a compiler on words that strangers wrote: none of them starts a program, writes a file outside of
//! the cache, or shows a file that is not the FMU's, unless the user trusts the FMU.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use vecud::fmu::archive::{BuildChoices, Unpacked};
use vecud::fmu::description::Abi;

use crate::archive::bench::{Bench, call, scheduled_execution, tuple, unpacked};

const SECRET: &str = "root_of_all_secrets";

/// An FMU with one source, of a description with these options of the compiler and this further content of the
/// configuration; a secret lies beside its folder.
fn fmu(bench: &Bench, options: &str, more: &str, source: &str) -> Unpacked {
    let text = format!(
        "<fmiBuildDescription fmiVersion=\"3.0\">\n<BuildConfiguration modelIdentifier=\"m\">\n<SourceFileSet \
         compilerOptions=\"{options}\"><SourceFile name=\"m.c\"/></SourceFileSet>{more}\n</BuildConfiguration>\n\
         </fmiBuildDescription>"
    );
    bench.write("secret", format!("{SECRET}\n"));
    unpacked(bench, &[("sources/buildDescription.xml", text.as_str()), ("sources/m.c", source)])
}

const ANSWER: &str = "__attribute__((visibility(\"default\"))) int answer(void) { return 7; }\n";

/// What lies in the bench's folder, below the FMU and beside it, but for the cache.
fn files(bench: &Bench) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![bench.path("")];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true if path.ends_with("cache") => {}
                true => open.push(path),
                false => found.push(path.display().to_string()),
            }
        }
    }
    found.sort();
    found
}

/// FMI 3.0.2, 2.4, SourceFileSet: `compilerOptions` are "the compiler flags that have to be used when compiling the
/// sources". Which may be any, and some of them are no business of an FMU's.
#[test]
fn options_that_start_programs_or_touch_files_are_refused_by_name() {
    let bench = Bench::new();
    let made = bench.path("made");
    bench.write("program", format!("#!/bin/sh\ntouch {}\nexec \"$@\"\n", made.display()));
    let place = |name: &str| bench.path(name).display().to_string();
    for options in [
        format!("-wrapper {}", place("program")),
        format!("-MD -MF {}", place("made")),
        format!("-save-temps -dumpdir {}", place("")),
        format!("-include {}", place("secret")),
        format!("-O2 @{}", place("secret")),
        format!("-B {}", place("")),
        format!("-specs={}", place("secret")),
        format!("-fplugin={}", place("secret")),
        format!("-Wl,-o,{}", place("made")),
        format!("-I{}", place("")),
        format!("-x c {}", place("secret")),
        format!("-o {}", place("made")),
    ] {
        let fmu = fmu(&bench, &options, "", ANSWER);
        let before = files(&bench);
        let error = fmu.library("m", &bench.cache).expect_err(&options).to_string();
        let name = options.split(' ').find(|word| *word != "-O2" && *word != "-MD").unwrap();
        let first = if options.starts_with("-MD") { "-MD" } else { name };
        let words = format!("sources/buildDescription.xml:3:1: the compiler does not get the option {first:?}");
        assert!(error.contains(&words) && error.contains("compiler_options = \"trust\""), "{error}");
        assert!(!error.contains(SECRET), "{error}");
        assert_eq!(files(&bench), before, "{options}");
        assert!(bench.in_cache().is_empty(), "{options}");
    }
}

/// Whether the kernel can keep a compiler from files; else the test says that it was skipped.
fn there_is_landlock(test: &str) -> bool {
    use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let there_is = rules.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok();
    if !there_is {
        eprintln!("SKIPPED: {test}: this kernel has no Landlock");
    }
    there_is
}

/// A compiler, an assembler and a linker read what a source tells them to, and say what is wrong with it. Whatever they would
/// say about a file that is none of the FMU's, or about the FMU's own code because of it, is not shown, nor is it built in.
#[test]
fn files_that_are_not_the_fmus_are_not_read() {
    if !there_is_landlock("files_that_are_not_the_fmus_are_not_read") {
        return;
    }
    let bench = Bench::new();
    let secret = bench.path("secret").display().to_string();
    let (begin, end) = secret.split_at(secret.len() / 2);
    for (options, source) in [
        ("", format!("#include \"{secret}\"\n")),
        ("", "#include \"../../secret\"\n".to_owned()),
        ("", format!("enum e {{\n#include \"{secret}\"\n}};\nint f(enum e e) {{ switch (e) {{}} return wrong; }}\n")),
        ("", format!("#define NAME \"{secret}\"\n#include NAME\n")),
        ("", format!("# 1 \"m.c\"\n#include \"{secret}\"\n# 1 \"m.c\"\nint x = wrong;\n")),
        // A path that begins as one of the system's.
        ("", format!("#include </usr/include/../..{secret}>\n")),
        // It would build, and is refused all the same.
        ("", format!("int\n#include \"{secret}\"\n;\n{ANSWER}")),
        // The assembler's ways to include text and bytes, spelt out and put together.
        ("", format!("__asm__(\".include \\\"{secret}\\\"\");\n{ANSWER}")),
        ("", format!("__asm__(\".incbin \\\"{secret}\\\"\");\n{ANSWER}")),
        ("", format!("__asm__(\".inc\" \"bin \\\"{begin}\" \"{end}\\\"\");\n{ANSWER}")),
        ("", format!("__asm__(\".macro m n\\n.inc\\\\n \\\"{secret}\\\"\\n.endm\\nm lude\");\n{ANSWER}")),
        // Code is generated when it is linked.
        ("-flto", format!("__asm__(\".include \\\"{secret}\\\"\");\n{ANSWER}")),
    ] {
        let error = fmu(&bench, options, "", &source).library("m", &bench.cache).expect_err(&source).to_string();
        assert!(error.contains("does not build") && error.contains("secret"), "{source}{error}");
        assert!(error.contains("files of the FMU and of the system, and no others"), "{source}{error}");
        assert!(error.contains("compiler_options = \"trust\""), "{source}{error}");
        assert!(!error.contains(SECRET), "{source}{error}");
        assert!(bench.in_cache().is_empty(), "{source}");
    }
}

/// Neither endless files nor what a few lines of macros can ask for fills the memory or the disk.
#[test]
fn what_a_compiler_may_take_is_bounded() {
    if !there_is_landlock("what_a_compiler_may_take_is_bounded") {
        return;
    }
    let bench = Bench::new();
    let refused = |source: &str| fmu(&bench, "", "", source).library("m", &bench.cache).unwrap_err().to_string();
    let error = refused("#include \"/dev/zero\"\n");
    assert!(error.contains("/dev/zero: Permission denied"), "{error}");
    let error = refused(&format!("__asm__(\".space 0x200000000\");\n{ANSWER}"));
    assert!(error.contains("it may take 4 GiB of memory, write files of 1 GiB and compute for 600 s"), "{error}");
    assert!(bench.in_cache().is_empty());
}

/// A folder is the user's own, and so is what he has linked into it.
#[test]
fn links_in_a_folder_of_the_users_lead_to_files_of_the_fmu() {
    let bench = Bench::new();
    bench.write("common/own.h", "#define OWN 7\n");
    fs::create_dir_all(bench.path("fmu/sources")).unwrap();
    std::os::unix::fs::symlink("../../common/own.h", bench.path("fmu/sources/own.h")).unwrap();
    std::os::unix::fs::symlink("../../common", bench.path("fmu/sources/folder")).unwrap();
    let source = format!("#include \"own.h\"\n#include \"folder/own.h\"\n#ifndef OWN\n#error\n#endif\n{ANSWER}");
    let library = fmu(&bench, "", "", &source).library("m", &bench.cache).unwrap();
    assert_eq!(call(&library, "answer"), 7);
}

/// Headers of the FMU, ours, the compiler's and the system's, by each way to name them.
#[test]
fn headers_of_the_fmu_and_of_the_system_are_included() {
    let bench = Bench::new();
    bench.write("fmu/extra/a b/own.h", "#define OWN 7\n");
    let source = format!(
        "#include <stdio.h>\n#include <float.h>\n#include \"fmi3Functions.h\"\n#include \"../extra/a b/own.h\"\n#include \
         \"/usr/include/stdlib.h\"\n#ifndef OWN\n#error\n#endif\n{ANSWER}"
    );
    let library = fmu(&bench, "-O1 -Wall", "", &source).library("m", &bench.cache).unwrap();
    assert_eq!(call(&library, "answer"), 7);
}

/// The rest of the compiler's words is shown as before, without the names of what it opened.
#[test]
fn errors_of_the_preprocessor_are_shown() {
    let bench = Bench::new();
    let source = "#include <stdio.h>\n#include \"gone.h\"\n";
    let error = fmu(&bench, "", "", source).library("m", &bench.cache).unwrap_err().to_string();
    assert!(error.contains("sources/m.c does not build") && error.contains("gone.h: No such file"), "{error}");
    assert!(!error.contains("\n. /"), "{error}");
}

/// A linker takes a text for a script, and that may name any file to read or to write.
#[test]
fn a_contained_library_is_object_code() {
    let bench = Bench::new();
    let target = bench.path("made");
    for content in [format!("OUTPUT({})\n", target.display()), "!<thin>\n".to_owned(), String::new()] {
        bench.write(&format!("fmu/binaries/{}/libl.a", tuple()), content);
        let error =
            fmu(&bench, "", "<Library name=\"l\"/>", ANSWER).library("m", &bench.cache).unwrap_err().to_string();
        assert!(error.contains("library l is neither an ELF file nor an archive of such"), "{error}");
        assert!(!target.exists() && bench.in_cache().is_empty());
    }
}

#[test]
fn an_fmu_that_the_user_trusts_gets_its_options_and_files() {
    let bench = Bench::new();
    let header = bench.write("header.h", "#define N 7\n").display().to_string();
    let source = format!("#include \"{header}\"\n#ifndef N\n#error\n#endif\n{ANSWER}");
    let fmu = fmu(&bench, &format!("-include {header}"), "", &source);
    let trusting = BuildChoices { trusted: true, ..BuildChoices::default() };
    let library = fmu.library_of(Abi::Fmi3, &scheduled_execution(), &trusting, &bench.cache).unwrap();
    assert_eq!(call(&library, "answer"), 7);
    assert!(fmu.library("m", &bench.cache).is_err());
}

fn vecud(bench: &Bench, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.args(arguments).current_dir(bench.path("")).env("VECUD_CACHE", bench.path("cache")).output().unwrap()
}

/// As a user meets it: exit code 2, the FMU, the place and the option, and the key that allows it.
#[test]
fn the_program_says_what_it_refuses_and_the_rig_allows_it() {
    let bench = Bench::new();
    let tracer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
    bench.write("t/modelDescription.xml", fs::read(tracer.join("modelDescription.xml")).unwrap());
    for entry in fs::read_dir(tracer.join("sources")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        bench.write(&format!("t/sources/{name}"), fs::read(&entry).unwrap());
    }
    let description = fs::read_to_string(bench.path("t/sources/buildDescription.xml")).unwrap();
    let option = format!("-MD -MF {}", bench.path("made").display());
    let changed = description.replacen("<SourceFileSet", &format!("<SourceFileSet compilerOptions=\"{option}\""), 1);
    // The tracer has its own attributes, among which this one is not.
    assert_ne!(changed, description);
    bench.write("t/sources/buildDescription.xml", changed);
    let rig = "[rig]\nmode = \"virtual\"\nstop_time = 0.01\n[fmu.t]\npath = \"t\"\n";
    bench.write("r.toml", rig);
    for arguments in [["check", "r.toml"], ["check", "t"], ["run", "r.toml"]] {
        let output = vecud(&bench, &arguments);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(words.contains("t: sources/buildDescription.xml:"), "{words}");
        assert!(words.contains("the option \"-MD\"") && words.contains("compiler_options = \"trust\""), "{words}");
        assert!(!bench.path("made").exists());
    }
    bench.write("r.toml", format!("{rig}compiler_options = \"trust\"\n"));
    let output = vecud(&bench, &["check", "r.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(bench.path("made").exists());
}

/// `CC` may be a program of the user's, wherever it lies.
#[test]
fn a_compiler_in_a_folder_of_the_users_works() {
    let bench = Bench::new();
    let compiler = bench.write("own compiler/cc", "#!/bin/sh\nexec cc \"$@\"\n");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let named = bench.path("cc");
    std::os::unix::fs::symlink(&compiler, &named).unwrap();
    let mixer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/mixer");
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("check").arg(mixer).env("VECUD_CACHE", bench.path("cache")).env("CC", named);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A home that is on `PATH` is more than a place for programs.
#[test]
fn a_home_on_the_search_path_is_not_opened() {
    if !there_is_landlock("a_home_on_the_search_path_is_not_opened") {
        return;
    }
    let bench = Bench::new();
    let secret = bench.path("secret").display().to_string();
    let fmu = fmu(&bench, "", "", &format!("#include \"{secret}\"\n"));
    let name = "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\"><ScheduledExecution \
                modelIdentifier=\"m\"/><ModelVariables><Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" \
                variability=\"continuous\"/></ModelVariables><ModelStructure/></fmiModelDescription>";
    fs::write(fmu.root.join("modelDescription.xml"), name).unwrap();
    let path = format!("{}:{}", bench.path("").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("check").arg(&fmu.root).env("VECUD_CACHE", bench.path("cache")).env("PATH", path);
    let output = command.env("HOME", bench.path("")).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("Permission denied") && !words.contains(SECRET), "{words}");
}
