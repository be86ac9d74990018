//! The requirements of each version of FMI on a build: headers, and the exported functions with their names.
//!
//! In a shared library the names of FMI 1.0 begin with the model identifier, those of all later versions are plain; sources for
//! FMI 2.0 and 3.0 ask for a prefix all the same, since they are for static linking as well.

use vecud_description::{Abi, Interface, is_word_of_c};

/// The FMI headers that sources may include and that FMUs do not bring along, by name.
pub(super) type Headers = &'static [(&'static str, &'static str)];

/// The settings for sources of a version of FMI.
pub(super) struct CompileSettings {
    /// Ours, in case that the sources bring none of their own.
    pub headers: Headers,
    /// For the compiler.
    pub compile: &'static [&'static str],
    /// For the linker.
    pub link: &'static [&'static str],
}

/// In FMI 3.0 the header selects the exports, and has a macro against the prefix.
const FMI3: [&str; 2] = ["-fvisibility=hidden", "-DFMI3_OVERRIDE_FUNCTION_PREFIX"];
/// Headers before FMI 3.0 leave it to the compiler what is exported, which is everything. That nothing else in the process takes
/// the place of one of those many functions is the linker's matter.
const OWN_FUNCTIONS_FIRST: &[&str] = &["-Wl,-Bsymbolic"];

/// The dialect of an FMU.
pub(super) const fn of(abi: Abi) -> CompileSettings {
    match abi {
        Abi::Fmi1 => CompileSettings {
            headers: &[
                ("fmiPlatformTypes.h", include_str!("../headers/fmiPlatformTypes.h")),
                ("fmiFunctions.h", include_str!("../headers/fmiFunctions.h")),
                ("fmiModelTypes.h", include_str!("../headers/fmiModelTypes.h")),
                ("fmiModelFunctions.h", include_str!("../headers/fmiModelFunctions.h")),
            ],
            compile: &[],
            link: OWN_FUNCTIONS_FIRST,
        },
        Abi::Fmi2 => CompileSettings {
            headers: &[
                ("fmi2TypesPlatform.h", include_str!("../headers/fmi2TypesPlatform.h")),
                ("fmi2FunctionTypes.h", include_str!("../headers/fmi2FunctionTypes.h")),
                ("fmi2Functions.h", FMI2_FUNCTIONS),
            ],
            // Known to headers since FMI 2.0.3.
            compile: &["-DFMI2_OVERRIDE_FUNCTION_PREFIX"],
            link: OWN_FUNCTIONS_FIRST,
        },
        Abi::Fmi3 => CompileSettings {
            headers: &[
                ("fmi3PlatformTypes.h", include_str!("../headers/fmi3PlatformTypes.h")),
                ("fmi3FunctionTypes.h", include_str!("../headers/fmi3FunctionTypes.h")),
                ("fmi3Functions.h", include_str!("../headers/fmi3Functions.h")),
            ],
            compile: &FMI3,
            link: &[],
        },
        Abi::Draft => CompileSettings {
            headers: &[
                ("fmi3PlatformTypes.h", include_str!("../headers/draft/fmi3PlatformTypes.h")),
                ("fmi3FunctionTypes.h", include_str!("../headers/draft/fmi3FunctionTypes.h")),
                ("fmi3Functions.h", include_str!("../headers/draft/fmi3Functions.h")),
            ],
            compile: &FMI3,
            link: &[],
        },
    }
}

const FMI2_FUNCTIONS: &str = include_str!("../headers/fmi2Functions.h");

/// Names of the files that are the whole of the sources where they are there and nothing says which files are, the likeliest
/// first. `None`: there must be a build description.
pub(super) fn whole(abi: Abi, model_identifier: &str) -> Option<Vec<String>> {
    let all = "all.c".to_owned();
    match abi {
        Abi::Fmi1 => Some(vec![format!("{model_identifier}.c"), all]),
        Abi::Fmi2 => Some(vec![all]),
        Abi::Fmi3 | Abi::Draft => None,
    }
}

/// Macros that every source of the library sees before its first line, as the text of a header.
pub(super) fn macros(abi: Abi, interface: Interface, model_identifier: &str) -> String {
    match abi {
        Abi::Fmi1 => prefixed(interface, model_identifier),
        Abi::Fmi2 => plain_names(model_identifier),
        Abi::Fmi3 | Abi::Draft => String::new(),
    }
}

/// FMI 1.0: sources usually define the same prefix by themselves. The same sources often are of both interface types; many
/// descend from the FMU SDK, which tells the types apart by `FMI_COSIMULATION`.
fn prefixed(interface: Interface, model_identifier: &str) -> String {
    let prefix = match is_word_of_c(model_identifier) {
        true => format!("#define MODEL_IDENTIFIER {model_identifier}\n"),
        false => String::new(),
    };
    match interface {
        Interface::CoSimulation => prefix + "#define FMI_COSIMULATION\n",
        _ => prefix,
    }
}

/// FMI 2.0: headers before 2.0.3 know no macro against the prefix, and most sources bring such a copy along. So each name that
/// begins with the prefix is a macro for the one without.
fn plain_names(model_identifier: &str) -> String {
    // Then no such name is a word of C, and no source can ask for it.
    if model_identifier.starts_with(|c: char| c.is_ascii_digit()) || !is_word_of_c(model_identifier) {
        return String::new();
    }
    let names = FMI2_FUNCTIONS.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(" fmi2FullName("));
    names.map(|(name, _)| format!("#define {model_identifier}_{name} {name}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_fmi_2_is_known_by_its_prefixed_name() {
        let text = plain_names("m");
        for name in ["fmi2GetTypesPlatform", "fmi2DoStep", "fmi2GetNominalsOfContinuousStates"] {
            assert!(text.contains(&format!("#define m_{name} {name}\n")), "{name}: {text}");
        }
        assert_eq!(text.lines().count(), FMI2_FUNCTIONS.matches("\nFMI2_Export fmi2").count());
        assert_eq!([plain_names("1m"), plain_names("a-b")], ["", ""]);
    }
}
