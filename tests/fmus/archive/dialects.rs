//! The two dialects of FMI 3.0 have headers of the same names; which of them a source FMU gets is its dialect's matter.

use std::fs;

use vecud::fmu::archive::{BuildChoices, Unpacked};
use vecud::fmu::description::Abi;

use crate::archive::bench::{Bench, call, scheduled_execution, unpacked};

const BUILD: &str = "<?xml version=\"1.0\"?><fmiBuildDescription fmiVersion=\"3.0-alpha.5\">\
    <BuildConfiguration modelIdentifier=\"m\"><SourceFileSet><SourceFile name=\"m.c\"/></SourceFileSet>\
    </BuildConfiguration></fmiBuildDescription>";

fn fmu(bench: &Bench, source: &str) -> Unpacked {
    unpacked(bench, &[("sources/buildDescription.xml", BUILD), ("sources/m.c", source)])
}

#[test]
fn the_same_sources_are_built_once_for_each_dialect_with_its_headers() {
    let bench = Bench::new();
    let source = "#include \"fmi3Functions.h\"\n#include <string.h>\n\
                  FMI3_Export int answer(void) { return (int)sizeof(fmi3Clock) * 10 + (strcmp(fmi3Version, \"3.0\") == 0); }\n";
    let fmu = fmu(&bench, source);
    let answer = |dialect| {
        call(
            &fmu.library_of(dialect, &scheduled_execution(), &BuildChoices::default(), &bench.cache).unwrap(),
            "answer",
        )
    };
    assert_eq!(answer(Abi::Fmi3), 11);
    assert_eq!(answer(Abi::Draft), 40);
    assert_eq!(answer(Abi::Fmi3), 11);
    assert_eq!(bench.in_cache().len(), 2, "{:?}", bench.in_cache());
}

/// Every type of the draft's interface that differs from the released one: the compiler
/// refuses a definition that does not fit.
#[test]
fn the_drafts_headers_declare_the_drafts_interface() {
    let bench = Bench::new();
    let source = r#"
#include "fmi3Functions.h"
_Static_assert(sizeof(fmi3Boolean) == 1 && sizeof(fmi3Clock) == 4 && sizeof(fmi3Byte) == 1, "sizes");
_Static_assert(_Generic((fmi3Boolean)0, char : 1, default : 0), "fmi3Boolean is char");
_Static_assert(_Generic((fmi3Clock)0, int : 1, default : 0), "fmi3Clock is int");
_Static_assert(_Generic((fmi3Byte)0, char : 1, default : 0), "fmi3Byte is char");
_Static_assert(_Generic((fmi3CallbackIntermediateUpdate)0,
    void (*)(void *, double, char, char, char, char, char, char *, double *) : 1, default : 0), "nine arguments");
_Static_assert(_Generic((fmi3CallbackLogMessage)0,
    void (*)(void *, const char *, fmi3Status, const char *, const char *) : 1, default : 0), "with the instance's name");
_Static_assert(_Generic(&fmi3ActivateModelPartition,
    fmi3Status (*)(void *, unsigned, size_t, double) : 1, default : 0), "with an element index");
_Static_assert(_Generic(&fmi3GetClock,
    fmi3Status (*)(void *, const unsigned *, size_t, int *, size_t) : 1, default : 0), "with nValues");
_Static_assert(_Generic(&fmi3SetClock,
    fmi3Status (*)(void *, const unsigned *, size_t, const int *, const char *, size_t) : 1, default : 0), "subactive");
_Static_assert(_Generic(&fmi3GetIntervalDecimal,
    fmi3Status (*)(void *, const unsigned *, size_t, double *, size_t) : 1, default : 0), "no qualifiers");
_Static_assert(_Generic(&fmi3SetIntervalFraction,
    fmi3Status (*)(void *, const unsigned *, size_t, const uint64_t *, const uint64_t *, size_t) : 1, default : 0), "");
_Static_assert(_Generic(&fmi3DeSerializeFMUState,
    fmi3Status (*)(void *, const char *, size_t, void **) : 1, default : 0), "capital S");
_Static_assert(_Generic(&fmi3GetDerivatives, fmi3Status (*)(void *, double *, size_t) : 1, default : 0), "");
_Static_assert(_Generic(&fmi3EnterEventMode,
    fmi3Status (*)(void *, char, const int32_t *, size_t, char) : 1, default : 0), "five arguments");
_Static_assert(_Generic(&fmi3DoStep,
    fmi3Status (*)(void *, double, double, char, char *, char *, char *, char *, double *) : 1, default : 0), "");
_Static_assert(_Generic(&fmi3InstantiateScheduledExecution,
    void *(*)(const char *, const char *, const char *, char, char, const unsigned *, size_t, void *,
              fmi3CallbackLogMessage, fmi3CallbackIntermediateUpdate, void (*)(), void (*)()) : 1, default : 0), "");
FMI3_Export int answer(void) { return sizeof(fmi3GetOutputDerivativesTYPE *) > 0; }
"#;
    let path = fmu(&bench, source)
        .library_of(Abi::Draft, &scheduled_execution(), &BuildChoices::default(), &bench.cache)
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(call(&path, "answer"), 1);
    assert!(fs::read_to_string(path.with_file_name("build.log")).unwrap().contains("m.c"));
}
