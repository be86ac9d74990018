//! Source FMUs, built by the system's compilers.

use std::fs;
use std::process::Command;
use std::sync::Barrier;

use vecud::fmu::archive::Unpacked;

use crate::archive::bench::{Bench, call, tuple, unpacked};
use crate::archive::raw_zip::{archive, description, stored};

const EXPORT: &str = "__attribute__((visibility(\"default\")))";

/// A build description with one configuration of `m`.
fn configuration(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n\
         <BuildConfiguration modelIdentifier=\"m\">\n{content}\n</BuildConfiguration>\n</fmiBuildDescription>"
    )
}

/// `int answer(void)` that returns `expression`.
fn answer(expression: &str) -> String {
    format!("{EXPORT} int answer(void) {{ return {expression}; }}\n")
}

fn fmu(bench: &Bench, content: &str, files: &[(&str, &str)]) -> Unpacked {
    let description = configuration(content);
    let mut all = vec![("sources/buildDescription.xml", description.as_str())];
    all.extend(files);
    unpacked(bench, &all)
}

fn result(bench: &Bench, content: &str, files: &[(&str, &str)]) -> Result<i32, String> {
    let library = fmu(bench, content, files).library("m", &bench.cache);
    library.map(|path| call(&path, "answer")).map_err(|e| e.to_string())
}

/// The build fails with these words and leaves nothing in the cache.
#[track_caller]
fn fails(content: &str, files: &[(&str, &str)], words: &[&str]) {
    let bench = Bench::new();
    let error = result(&bench, content, files).expect_err("it must not build");
    for word in words.iter().chain(&["fmu: "]) {
        assert!(error.contains(word), "{word:?} is not in: {error}");
    }
    assert!(bench.in_cache().is_empty(), "{:?}", bench.in_cache());
}

/// FMI 3.0.2, 2.4.10: several for one platform, "to support e.g. different compilers".
#[test]
fn of_two_configurations_the_one_whose_compiler_is_here_is_built() {
    let bench = Bench::new();
    let content = format!(
        "<SourceFileSet compiler=\"icc\"><SourceFile name=\"icc.c\"/></SourceFileSet></BuildConfiguration>\
         <BuildConfiguration modelIdentifier=\"m\" platform=\"{0}\"><SourceFileSet compiler=\"gcc-0\">\
         <SourceFile name=\"gone.c\"/></SourceFileSet></BuildConfiguration>\
         <BuildConfiguration modelIdentifier=\"m\" platform=\"{0}\"><SourceFileSet language=\"C99\" compiler=\"gcc\">\
         <SourceFile name=\"m.c\"/></SourceFileSet>",
        tuple()
    );
    assert_eq!(result(&bench, &content, &[("sources/m.c", &answer("7"))]), Ok(7));
}

#[test]
fn a_source_fmu_is_built_once() {
    let bench = Bench::new();
    let set = "<SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet>";
    let fmu = fmu(&bench, set, &[("sources/m.c", &answer("7"))]);
    let library = fmu.library("m", &bench.cache).unwrap();
    assert_eq!(call(&library, "answer"), 7);
    assert_eq!(library.file_name().unwrap(), "m.so");
    let built = fs::metadata(&library).unwrap().modified().unwrap();
    assert_eq!(fmu.library("m", &bench.cache).unwrap(), library);
    assert_eq!(fs::metadata(&library).unwrap().modified().unwrap(), built);
    // Only the library and its log are kept, and the FMU's folder is as it was.
    let kept: Vec<_> = fs::read_dir(library.parent().unwrap()).unwrap().collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(fs::read_dir(fmu.root.join("sources")).unwrap().count(), 2);
    // Another source, another library.
    fs::write(fmu.root.join("sources/m.c"), answer("8")).unwrap();
    let changed = fmu.library("m", &bench.cache).unwrap();
    assert_eq!(call(&changed, "answer"), 8);
    assert_ne!(changed, library);
}

#[test]
fn headers_that_are_only_included_count_as_sources() {
    let bench = Bench::new();
    let set = "<SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet>";
    let source = format!("#include \"n.h\"\n{}", answer("N"));
    let build = |header: &str| {
        let files = [("sources/m.c", source.as_str()), ("sources/n.h", header)];
        result(&bench, set, &files).unwrap()
    };
    assert_eq!(build("#define N 1"), 1);
    assert_eq!(build("#define N 2"), 2);
}

#[test]
fn an_archive_with_sources_is_built() {
    let bench = Bench::new();
    let set = configuration("<SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet>");
    let entries = [description(), stored("sources/buildDescription.xml", set), stored("sources/m.c", answer("3"))];
    let path = bench.write("m.fmu", archive(&entries));
    let fmu = Unpacked::open(&path, &bench.cache).unwrap();
    assert_eq!(call(&fmu.library("m", &bench.cache).unwrap(), "answer"), 3);
}

#[test]
fn several_runs_build_at_once() {
    let bench = Bench::new();
    let set = "<SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet>";
    let fmu = fmu(&bench, set, &[("sources/m.c", &answer("7"))]);
    let start = Barrier::new(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                start.wait();
                let library = fmu.library("m", &bench.cache).unwrap();
                assert_eq!(call(&library, "answer"), 7);
            });
        }
    });
    assert_eq!(bench.in_cache().len(), 1);
}

#[test]
fn our_headers_are_found_and_functions_have_plain_names() {
    let source = format!(
        "#define FMI3_FUNCTION_PREFIX m_\n#include \"fmi3Functions.h\"\n\
         const char* fmi3GetVersion(void) {{ return fmi3Version; }}\n{}",
        answer("fmi3GetVersion()[0]")
    );
    let bench = Bench::new();
    let set = "<SourceFileSet language=\"C99\"><SourceFile name=\"m.c\"/></SourceFileSet>";
    let fmu = fmu(&bench, set, &[("sources/m.c", &source)]);
    let library = fmu.library("m", &bench.cache).unwrap();
    assert_eq!(call(&library, "answer"), i32::from(b'3'));
    // SAFETY: loading a library without initialisers; the symbol is looked up, not called.
    let exported = unsafe {
        let library = libloading::Library::new(&library).unwrap();
        library.get::<unsafe extern "C" fn()>(b"fmi3GetVersion").is_ok()
    };
    assert!(exported);
}

#[test]
fn definitions_are_passed_as_the_description_says() {
    let set = "<SourceFileSet><SourceFile name=\"m.c\"/>\
        <PreprocessorDefinition name=\"FLAG\"/>\
        <PreprocessorDefinition name=\"VALUE\" value=\"20\"/>\
        <PreprocessorDefinition name=\"TEXT\" value='\"a b$c\"'/>\
        <PreprocessorDefinition name=\"OFF\" optional=\"true\"/>\
        <PreprocessorDefinition name=\"LEVEL\" value=\"300\" optional=\"true\">\
          <Option value=\"100\"/><Option value=\"300\"/></PreprocessorDefinition>\
        <PreprocessorDefinition name=\"FIRST\"><Option value=\"4000\"/></PreprocessorDefinition>\
        </SourceFileSet>";
    let source = format!(
        "#ifndef OFF\n#define OFF 50000\n#endif\n{}",
        answer("FLAG + VALUE + LEVEL + FIRST + OFF + sizeof TEXT * 1000000")
    );
    assert_eq!(result(&Bench::new(), set, &[("sources/m.c", &source)]), Ok(6_054_321));
}

#[test]
fn options_and_include_directories_are_per_set() {
    let content = "<SourceFileSet compilerOptions=\"-DX=1 -DY='2'\"><SourceFile name=\"a.c\"/>\
        <IncludeDirectory name=\"one\"/><IncludeDirectory name=\"not there\"/></SourceFileSet>\
        <SourceFileSet><SourceFile name=\"sub dir/b.c\"/><IncludeDirectory name=\"./two/../two\"/></SourceFileSet>";
    let a = format!("#include <n.h>\nint b(void);\n{}", answer("X + 10 * Y + 100 * N + b()"));
    let b = "#include <n.h>\n#ifdef X\n#error X of another set\n#endif\nint b(void) { return 1000 * N; }\n";
    let files = [
        ("sources/a.c", a.as_str()),
        ("sources/sub dir/b.c", b),
        ("sources/one/n.h", "#define N 3"),
        ("sources/two/n.h", "#define N 4"),
    ];
    assert_eq!(result(&Bench::new(), content, &files), Ok(4321));
}

#[test]
fn sets_of_two_languages_are_linked_together() {
    let content = "<SourceFileSet language=\"C99\"><SourceFile name=\"a.c\"/></SourceFileSet>\
        <SourceFileSet language=\"C++11\"><SourceFile name=\"b.c\"/></SourceFileSet>";
    let a = format!("#if __STDC_VERSION__ != 199901L\n#error not C99\n#endif\nint b(void);\n{}", answer("b()"));
    let b = "#include <string>\n#if __cplusplus != 201103L\n#error not C++11\n#endif\n\
        extern \"C\" int b(void) { try { throw std::string(5, 'x'); } catch (std::string& s) { return s.size(); } }\n";
    assert_eq!(result(&Bench::new(), content, &[("sources/a.c", &a), ("sources/b.c", b)]), Ok(5));
}

#[test]
fn contained_libraries_are_linked() {
    let bench = Bench::new();
    let folder = format!("fmu/binaries/{}", tuple());
    let source = bench.write("l.c", "int contained(void) { return 11; }");
    let object = bench.path("l.o");
    fs::create_dir_all(bench.path(&folder)).unwrap();
    let run = |command: &mut Command| assert!(command.status().unwrap().success());
    run(Command::new("cc").args(["-c", "-fPIC", "-o"]).args([&object, &source]));
    run(Command::new("ar").arg("rc").args([bench.path(&folder).join("libl.a"), object]));
    let shared = bench.write("s.c", "int shared(void) { return 100; }");
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-Wl,-soname,libs.so", "-o"])
        .args([bench.path(&folder).join("libs.so"), shared]));
    let set = "<SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet>\
        <Library name=\"libl.a\"/><Library name=\"s\"/><Library name=\"m\" external=\"true\"/>";
    let source = format!("int contained(void); int shared(void);\n{}", answer("contained() + shared()"));
    let fmu = fmu(&bench, set, &[("sources/m.c", &source)]);
    let library = fmu.library("m", &bench.cache).unwrap();
    // The shared one travels with the new library.
    fs::remove_dir_all(fmu.root.join("binaries")).unwrap();
    assert_eq!(call(&library, "answer"), 111);
}

#[test]
fn the_compilers_words_are_shown() {
    let set = "<SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet>";
    fails(
        set,
        &[("sources/m.c", "int answer(void) {\n  return no_such_variable;\n}\n")],
        &["sources/m.c does not build", "m.c:2:", "no_such_variable", "command: ", " -c "],
    );
    fails(
        set,
        &[("sources/m.c", &format!("int gone(void);\n{}", answer("gone()")))],
        &["m.so does not build", "undefined reference", "gone"],
    );
    fails(
        "<SourceFileSet/><SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet>\
         <Library name=\"surely_missing\" external=\"true\"/>",
        &[("sources/m.c", &answer("1"))],
        &["m.so does not build", "surely_missing"],
    );
}

#[test]
fn a_compiler_that_is_not_installed_is_named() {
    // A version that no machine has.
    let set = "<SourceFileSet compiler=\"gcc-1.0\"><SourceFile name=\"m.c\"/></SourceFileSet>";
    let files = [("sources/m.c", answer("1"))];
    fails(set, &[(files[0].0, &files[0].1)], &["`gcc-1.0` is not installed", "apt install gcc"]);
}

#[test]
fn descriptions_that_ask_for_the_impossible() {
    let m = ("sources/m.c", "");
    let place = "sources/buildDescription.xml:4:";
    for (content, words) in [
        ("<SourceFileSet><SourceFile name=\"gone.c\"/></SourceFileSet>", "sources/gone.c does not exist"),
        ("<SourceFileSet><SourceFile name=\"../../x.c\"/></SourceFileSet>", "outside of the FMU"),
        ("<SourceFileSet><SourceFile name=\"/etc/passwd\"/></SourceFileSet>", "outside of the FMU"),
        ("<SourceFileSet><SourceFile name=\"m.c\"/><IncludeDirectory name=\"../..\"/></SourceFileSet>", "outside"),
        ("<SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet><Library name=\"l\"/>", "library l is not in"),
    ] {
        fails(content, &[m], &[words, place]);
    }
}

#[test]
fn sources_without_a_description() {
    let bench = Bench::new();
    let fmu = unpacked(&bench, &[("sources/m.c", "")]);
    let error = fmu.library("m", &bench.cache).unwrap_err().to_string();
    assert!(error.contains("sources/ has no buildDescription.xml"), "{error}");
    assert!(bench.in_cache().is_empty());
}
