//! The languages that a source file set may be in.

use std::path::Path;

/// A language and, where stated, its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourceLanguage {
    pub cpp: bool,
    /// The version in the form of the compiler's `-std=gnu…`.
    pub version: Option<&'static str>,
}

impl SourceLanguage {
    /// `C`, `C99`, `C++`, `C++11` and so on, in either case.
    pub fn parse(name: &str) -> Option<SourceLanguage> {
        let name = name.trim().to_ascii_uppercase();
        let (cpp, rest) = match name.strip_prefix("C++") {
            Some(rest) => (true, rest),
            None => (false, name.strip_prefix('C')?),
        };
        let version = match (rest, cpp) {
            ("", _) => None,
            ("89" | "90", false) => Some("90"),
            ("99", false) => Some("99"),
            ("11", _) => Some("11"),
            ("17" | "18", false) | ("17", true) => Some("17"),
            // Compilers learned the final name late.
            ("23" | "2X", false) => Some("2x"),
            ("98", true) => Some("98"),
            ("03", true) => Some("03"),
            ("14", true) => Some("14"),
            ("20", true) => Some("20"),
            ("23", true) => Some("23"),
            _ => return None,
        };
        Some(SourceLanguage { cpp, version })
    }

    /// The language of a file by its extension.
    pub fn of_file(path: &Path) -> SourceLanguage {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        SourceLanguage { cpp: matches!(extension, "cpp" | "cc" | "cxx" | "c++" | "C"), version: None }
    }

    pub fn name(self) -> &'static str {
        if self.cpp { "C++" } else { "C" }
    }

    /// The options that make the compiler take any file as this language. GNU's dialects hold the strict ones and
    /// POSIX, which FMUs use without asking for it.
    pub fn options(self) -> Vec<String> {
        let (kind, dialect) = if self.cpp { ("c++", "gnu++") } else { ("c", "gnu") };
        let mut options = vec!["-x".to_owned(), kind.to_owned()];
        options.extend(self.version.map(|version| format!("-std={dialect}{version}")));
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_standard_become_compiler_options() {
        let options = |name| SourceLanguage::parse(name).map(SourceLanguage::options);
        assert_eq!(options("C99").unwrap(), ["-x", "c", "-std=gnu99"]);
        assert_eq!(options("C++11").unwrap(), ["-x", "c++", "-std=gnu++11"]);
        assert_eq!(options("c++").unwrap(), ["-x", "c++"]);
        assert_eq!(options("C").unwrap(), ["-x", "c"]);
        for unknown in ["Fortran", "C98", "C++99", "C#", "", "++"] {
            assert_eq!(options(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn files_tell_their_language() {
        for name in ["a.cpp", "a.cc", "a.cxx", "a.C"] {
            assert!(SourceLanguage::of_file(Path::new(name)).cpp, "{name}");
        }
        for name in ["a.c", "a", "cpp"] {
            assert!(!SourceLanguage::of_file(Path::new(name)).cpp, "{name}");
        }
    }
}
