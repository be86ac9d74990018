use super::*;
use std::path::Path;

fn document(content: &str) -> String {
    format!("<fmiBuildDescription fmiVersion=\"3.0\">\n{content}\n</fmiBuildDescription>")
}

fn one(set: &str) -> Result<BuildConfiguration, String> {
    let text = document(&format!("<BuildConfiguration modelIdentifier=\"m\">{set}</BuildConfiguration>"));
    parse(&text, "m", &BuildChoices::default(), |_| true).map_err(|e| e.to_string())
}

fn set(attributes: &str, content: &str) -> Result<SourceFileSet, String> {
    let source = "<SourceFile name=\"a.c\"/>";
    one(&format!("<SourceFileSet {attributes}>{source}{content}</SourceFileSet>")).map(|mut c| c.sets.remove(0))
}

#[test]
fn the_configuration_of_this_platform_is_chosen() {
    let tuple = format!("{}-linux", std::env::consts::ARCH);
    let configuration = |id: &str, platform: &str, file: &str| {
        format!(
            "<BuildConfiguration modelIdentifier=\"{id}\"{platform}>\
             <SourceFileSet><SourceFile name=\"{file}\"/></SourceFileSet></BuildConfiguration>"
        )
    };
    let any = configuration("m", "", "any.c");
    let ours = configuration("m", &format!(" platform=\"{tuple}\""), "ours.c");
    let variant = configuration("m", &format!(" platform=\"{tuple}-gnu\""), "variant.c");
    let windows = configuration("m", " platform=\"x86_64-windows\"", "windows.c");
    let other = configuration("n", "", "other.c");
    let chosen = |parts: &[&String]| {
        let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
        let found = parse(&document(&parts.concat()), "m", &BuildChoices::default(), |_| true).unwrap();
        assert_eq!(found.sets.len(), 1);
        found.sets[0].sources[0].path.clone()
    };
    assert_eq!(chosen(&[&windows, &any, &ours, &variant]), Path::new("sources/ours.c"));
    assert_eq!(chosen(&[&any, &variant, &windows]), Path::new("sources/variant.c"));
    assert_eq!(chosen(&[&other, &windows, &any]), Path::new("sources/any.c"));
    let none = parse(&document(&(windows + &other)), "m", &BuildChoices::default(), |_| true).unwrap_err().to_string();
    assert!(none.contains("m for x86_64-windows, n for any platform"), "{none}");
}

/// FMI 3.0.2, 2.4.10: several for one platform "to support e.g. different compilers"; the importer selects by the other
/// attributes of them and of their source file sets.
#[test]
fn of_several_configurations_for_a_platform_the_first_that_can_be_built_is_chosen() {
    let tuple = format!("{}-linux", std::env::consts::ARCH);
    let configuration = |platform: &str, set: &str, file: &str| {
        format!(
            "<BuildConfiguration modelIdentifier=\"m\"{platform}>\
             <SourceFileSet {set}><SourceFile name=\"{file}\"/></SourceFileSet></BuildConfiguration>"
        )
    };
    let ours = |set: &str, file: &str| configuration(&format!(" platform=\"{tuple}\""), set, file);
    let icc = ours("compiler=\"icc\"", "icc.c");
    let clang = ours("compiler=\"clang\"", "clang.c");
    let gcc = ours("compiler=\"gcc\"", "gcc.c");
    let fortran = ours("language=\"Fortran\"", "fortran.f");
    let any = configuration("", "", "any.c");
    let chosen = |parts: &[&str], here: &str| {
        let is_here = |set: &SourceFileSet| set.compiler.as_deref().is_none_or(|compiler| compiler == here);
        let found = parse(&document(&parts.concat()), "m", &BuildChoices::default(), is_here);
        found.map(|found| found.sets[0].sources[0].path.display().to_string()).map_err(|error| error.to_string())
    };
    assert_eq!(chosen(&[&icc, &gcc], "gcc").unwrap(), "sources/gcc.c");
    assert_eq!(chosen(&[&icc, &fortran, &clang, &gcc], "gcc").unwrap(), "sources/gcc.c");
    assert_eq!(chosen(&[&gcc, &clang], "clang").unwrap(), "sources/clang.c");
    assert_eq!(chosen(&[&any, &clang, &gcc], "gcc").unwrap(), "sources/gcc.c", "the platform's come first");
    assert_eq!(chosen(&[&any, &icc], "gcc").unwrap(), "sources/any.c", "the fallback");
    assert!(chosen(&[&icc, &fortran], "gcc").unwrap_err().contains("compiler \"icc\" is not known"));
    assert_eq!(chosen(&[&clang], "gcc").unwrap(), "sources/clang.c", "whose compiler says that it is not here");
}

#[test]
fn the_standards_second_example_reads_completely() {
    let found = one("<SourceFileSet language=\"C99\"><SourceFile name=\"fmi3Functions.c\"/></SourceFileSet>\
         <SourceFileSet language=\"C++11\" compiler=\"clang++\" compilerOptions=\"-fno-rtti\">\
           <SourceFile name=\"logging/src/logger.c\"/>\
           <PreprocessorDefinition name=\"FMI_VERSION\" value=\"3\"/>\
           <PreprocessorDefinition name=\"LOG_TO_FILE\" optional=\"true\"/>\
           <PreprocessorDefinition name=\"LOG_LEVEL\" value=\"0\" optional=\"true\">\
             <Option value=\"0\"/><Option value=\"1\"/></PreprocessorDefinition>\
           <IncludeDirectory name=\"logging/include\"/>\
         </SourceFileSet>\
         <Library name=\"hdf5\" version=\"&gt;=1.8\" external=\"true\"/><Library name=\"libm.a\"/>")
    .unwrap();
    assert_eq!(found.sets.len(), 2);
    let cpp = &found.sets[1];
    assert_eq!(cpp.language, SourceLanguage::parse("C++11"));
    assert_eq!(cpp.compiler.as_deref(), Some("clang++"));
    assert_eq!(cpp.options, ["-fno-rtti"]);
    assert_eq!(cpp.definitions, ["FMI_VERSION=3", "LOG_LEVEL=0"]);
    assert_eq!(cpp.includes, [Path::new("sources/logging/include")]);
    let libraries: Vec<_> = found.libraries.iter().map(|l| (l.name.as_str(), l.external)).collect();
    assert_eq!(libraries, [("hdf5", true), ("libm.a", false)]);
}

#[test]
fn errors_have_line_and_column() {
    let text = document("<BuildConfiguration/>");
    let error = parse(&text, "m", &BuildChoices::default(), |_| true).unwrap_err().to_string();
    assert!(error.contains("buildDescription.xml:2:1: <BuildConfiguration> lacks its modelIdentifier"), "{error}");
    let malformed = parse("<a>\n<b></a>", "m", &BuildChoices::default(), |_| true).unwrap_err().to_string();
    assert!(malformed.contains("buildDescription.xml:2:"), "{malformed}");
    let entity = parse("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "m", &BuildChoices::default(), |_| true)
        .unwrap_err()
        .to_string();
    assert!(entity.contains("DTD"), "{entity}");
    let other = parse("<fmiModelDescription/>", "m", &BuildChoices::default(), |_| true).unwrap_err().to_string();
    assert!(other.contains("<fmiBuildDescription> expected"), "{other}");
}

#[test]
fn values_that_make_no_sense_are_refused() {
    for (attributes, content, words) in [
        ("language=\"Fortran\"", "", "language \"Fortran\" is not known"),
        ("compiler=\"cl\"", "", "compiler \"cl\" is not known"),
        ("compiler=\"/bin/gcc\"", "", "compiler \"/bin/gcc\" is not known"),
        ("compilerOptions=\"-DX='\"", "", "open quote"),
        ("", "<PreprocessorDefinition name=\"-x\"/>", "no name of a macro"),
        ("", "<PreprocessorDefinition name=\"A=B\"/>", "no name of a macro"),
        ("", "<PreprocessorDefinition name=\"A\" optional=\"ja\"/>", "instead of true or false"),
        (
            "",
            "<PreprocessorDefinition name=\"A\" value=\"3\"><Option value=\"1\"/></PreprocessorDefinition>",
            "none of its options (1)",
        ),
        ("", "<SourceFile name=\"src\\b.c\"/>", "backslash"),
        ("", "<SourceFile/>", "<SourceFile> lacks its name"),
    ] {
        let error = set(attributes, content).unwrap_err();
        assert!(error.contains(words), "{words:?} is not in: {error}");
    }
    let library = one("<SourceFileSet><SourceFile name=\"a.c\"/></SourceFileSet><Library name=\"../l.a\"/>");
    assert!(library.unwrap_err().contains("no name of a library"));
    assert!(one("<SourceFileSet/>").unwrap_err().contains("no SourceFile"));
    assert!(one("").unwrap_err().contains("no SourceFile"));
}

#[test]
fn paths_may_leave_sources_but_not_the_fmu() {
    let include = |name: &str| set("", &format!("<IncludeDirectory name=\"{name}\"/>")).map(|s| s.includes[0].clone());
    assert_eq!(include("../extra/h").unwrap(), Path::new("extra/h"));
    assert_eq!(include("a/../b/./c").unwrap(), Path::new("sources/b/c"));
    assert_eq!(include("..").unwrap(), Path::new(""));
    assert!(include("../..").is_err());
    assert!(include("a/../../../b").is_err());
}

#[test]
fn compilers_are_known_with_target_and_version() {
    for name in ["gcc", "g++-12", "clang++", "aarch64-linux-gnu-gcc", "x86_64-linux-gnu-g++-12", "clang-15", "c++"] {
        assert!(is_known_compiler(name), "{name}");
    }
    for name in ["rm", "gcc -x", "./gcc", "-gcc", "", "cl", "gcc;rm"] {
        assert!(!is_known_compiler(name), "{name}");
    }
}

#[test]
fn options_are_split_as_a_shell_would() {
    let split = |text| split_options(text).unwrap();
    assert_eq!(split(" -O3\t-Wall\n"), ["-O3", "-Wall"]);
    assert_eq!(split(r#"-DA="b c" '-D X' -DY=\"z\" """#), ["-DA=b c", "-D X", "-DY=\"z\"", ""]);
    assert!(split("").is_empty());
    assert_eq!(split_options("'a"), None);
}

#[test]
fn definitions_are_chosen_where_the_description_leaves_it_open() {
    let text = document(
        "<BuildConfiguration modelIdentifier=\"m\"><SourceFileSet><SourceFile name=\"a.c\"/>\
         <PreprocessorDefinition name=\"FIXED\" value=\"1\"/>\
         <PreprocessorDefinition name=\"FLAG\" optional=\"true\"/>\
         <PreprocessorDefinition name=\"LEVEL\" value=\"0\" optional=\"true\"><Option value=\"0\"/><Option value=\"1\"/>\
         </PreprocessorDefinition>\
         <PreprocessorDefinition name=\"MODE\"><Option value=\"x\"/><Option value=\"y\"/></PreprocessorDefinition>\
         </SourceFileSet></BuildConfiguration>",
    );
    let with = |chosen: &[(&str, Option<&str>)]| {
        let definitions = chosen.iter().map(|&(name, value)| (name.to_owned(), value.map(str::to_owned))).collect();
        let chosen = BuildChoices { definitions, trusted: false };
        match parse(&text, "m", &chosen, |_| true) {
            Ok(mut configuration) => configuration.sets.remove(0).definitions.join(" "),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(with(&[]), "FIXED=1 LEVEL=0 MODE=x");
    assert_eq!(with(&[("FLAG", Some("")), ("LEVEL", Some("1")), ("MODE", Some("y"))]), "FIXED=1 FLAG LEVEL=1 MODE=y");
    assert_eq!(with(&[("FLAG", Some("a b")), ("LEVEL", None)]), "FIXED=1 FLAG=a b MODE=x");
    assert_eq!(with(&[("FLAG", None), ("LEVEL", Some(""))]), "FIXED=1 LEVEL=0 MODE=x");
    assert_eq!(with(&[("LEVEL", Some("2"))]), "define: LEVEL cannot be \"2\"; its options are 0, 1");
    assert_eq!(with(&[("MODE", None)]), "define: MODE cannot be left out; its options are x, y");
    assert_eq!(
        with(&[("FIXED", Some("2"))]),
        "define: FIXED is the same in every build: the FMU's build description leaves no choice"
    );
    assert_eq!(
        with(&[("LEVLE", Some("1"))]),
        "define: LEVLE is no definition of the FMU's build description; to be chosen are FLAG, LEVEL, MODE"
    );
}

#[test]
fn options_that_are_not_known_to_be_harmless_need_the_users_word() {
    let text = document(
        "<BuildConfiguration modelIdentifier=\"m\">\n  <SourceFileSet compilerOptions=\"-O2 -wrapper /bin/sh\">\
         <SourceFile name=\"a.c\"/></SourceFileSet></BuildConfiguration>",
    );
    let error = parse(&text, "m", &BuildChoices::default(), |_| true).unwrap_err().to_string();
    assert!(
        error.starts_with("sources/buildDescription.xml:3:3: the compiler does not get the option \"-wrapper\""),
        "{error}"
    );
    assert!(error.ends_with("compiler_options = \"trust\" in its [fmu.NAME]"), "{error}");
    let trusting = BuildChoices { trusted: true, ..BuildChoices::default() };
    assert_eq!(parse(&text, "m", &trusting, |_| true).unwrap().sets[0].options, ["-O2", "-wrapper", "/bin/sh"]);
}

#[test]
fn definitions_are_in_one_line() {
    let error = set("", "<PreprocessorDefinition name=\"A\" value=\"1&#10;#include &lt;x>\"/>").unwrap_err();
    assert!(error.contains("the value of A is not in one line"), "{error}");
}
