//! Which options of an FMU's build description the compiler gets without the user's consent.
//!
//! An option may start programs (`-wrapper`, `-B`, `-fplugin=`, `-fuse-ld=`), read files (`-include`, `@file`, `-specs=`)
//! and write them (`-MF`, `-o`, `-save-temps`, `-fprofile-dir=`): the author of an FMU could do so on the machine of a
//! user who only looks at it with `vecud check`. So only options pass that are known to choose the language, the warnings
//! or the code, and to do nothing else; all others need the user's word. The lists hold for gcc and clang.

/// The first option that is not known to be harmless, as it stands in the description.
pub(super) fn refused(options: &[String]) -> Option<&str> {
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let known = match option.as_str() {
            // Their value may be a word of its own.
            "-D" => rest.next().is_some_and(|value| is_macro(value)),
            "-U" => rest.next().is_some_and(|name| is_identifier(name)),
            one => is_harmless(one),
        };
        if !known {
            return Some(option);
        }
    }
    None
}

fn is_harmless(option: &str) -> bool {
    let Some(option) = option.strip_prefix('-') else { return false };
    if PLAIN.contains(&option) {
        return true;
    }
    let Some((kind, rest)) = option.split_at_checked(1) else { return false };
    match kind {
        "D" => is_macro(rest),
        "U" => is_identifier(rest),
        "O" => is_word(rest),
        // `-Wl,`, `-Wa,` and `-Wp,` hand their words on to linker, assembler and preprocessor.
        "W" => !rest.contains(',') && rest.chars().all(|c| is_word_character(c) || "=<>".contains(c)),
        "l" => !rest.is_empty() && is_word(rest),
        "f" => is_known(rest, CODE, CODE_WITH_VALUE),
        "m" => is_known(rest, MACHINE, MACHINE_WITH_VALUE),
        _ => option.strip_prefix("std=").or_else(|| option.strip_prefix("stdlib=")).is_some_and(is_word),
    }
}

/// One of `names`, or its negation, or `NAME=VALUE` of those that have one.
fn is_known(option: &str, names: &[&str], with_value: &[&str]) -> bool {
    match option.split_once('=') {
        Some((name, value)) => with_value.contains(&name) && !value.is_empty() && is_list(value),
        None => {
            let name = option.strip_prefix("no-").unwrap_or(option);
            names.contains(&name) || with_value.contains(&name) || name.strip_prefix("builtin-").is_some_and(is_word)
        }
    }
}

fn is_word_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+-_.".contains(c)
}

/// A word that is no path.
fn is_word(text: &str) -> bool {
    text.chars().all(is_word_character)
}

fn is_list(text: &str) -> bool {
    text.chars().all(|c| is_word_character(c) || ",:".contains(c))
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `NAME`, `NAME=VALUE` or `NAME(PARAMETERS)=VALUE`, in one line.
fn is_macro(text: &str) -> bool {
    let name = text.split(['=', '(']).next().unwrap_or("");
    is_identifier(name) && !text.contains(char::is_control)
}

/// Whole options, without their `-`.
const PLAIN: &[&str] = &[
    "ansi",
    "pedantic",
    "pedantic-errors",
    "pthread",
    "pipe",
    "undef",
    "w",
    "Qunused-arguments",
    "traditional-cpp",
    "trigraphs",
    "g",
    "g0",
    "g1",
    "g2",
    "g3",
    "ggdb",
    "ggdb0",
    "ggdb1",
    "ggdb2",
    "ggdb3",
    "gdwarf",
    "gdwarf-2",
    "gdwarf-3",
    "gdwarf-4",
    "gdwarf-5",
    "gline-tables-only",
    "gcolumn-info",
    "gno-column-info",
    "gstrict-dwarf",
    "gno-strict-dwarf",
];

/// After `-f` or `-fno-`.
const CODE: &[&str] = &[
    // Where code and data go.
    "PIC",
    "pic",
    "common",
    "data-sections",
    "function-sections",
    "ident",
    "plt",
    "semantic-interposition",
    "visibility-inlines-hidden",
    "zero-initialized-in-bss",
    "merge-constants",
    "merge-all-constants",
    "emulated-tls",
    "jump-tables",
    "asynchronous-unwind-tables",
    "unwind-tables",
    // Arithmetic.
    "associative-math",
    "cx-fortran-rules",
    "cx-limited-range",
    "fast-math",
    "finite-math-only",
    "float-store",
    "fp-int-builtin-inexact",
    "math-errno",
    "reciprocal-math",
    "rounding-math",
    "signaling-nans",
    "signed-zeros",
    "single-precision-constant",
    "trapping-math",
    "trapv",
    "unsafe-math-optimizations",
    "wrapv",
    "wrapv-pointer",
    "strict-overflow",
    // The language.
    "access-control",
    "allow-parameterless-variadic-functions",
    "asm",
    "builtin",
    "char8_t",
    "concepts",
    "coroutines",
    "delete-null-pointer-checks",
    "exceptions",
    "extended-identifiers",
    "freestanding",
    "gnu-keywords",
    "gnu89-inline",
    "hosted",
    "implicit-templates",
    "lax-vector-conversions",
    "lifetime-dse",
    "ms-extensions",
    "non-call-exceptions",
    "openmp",
    "openmp-simd",
    "operator-names",
    "permissive",
    "plan9-extensions",
    "rtti",
    "short-enums",
    "short-wchar",
    "signed-bitfields",
    "signed-char",
    "sized-deallocation",
    "strict-aliasing",
    "strict-enums",
    "strict-volatile-bitfields",
    "threadsafe-statics",
    "trigraphs",
    "unsigned-bitfields",
    "unsigned-char",
    "use-cxa-atexit",
    // What is made of it.
    "align-functions",
    "align-jumps",
    "align-labels",
    "align-loops",
    "branch-count-reg",
    "caller-saves",
    "code-hoisting",
    "crossjumping",
    "cse-follow-jumps",
    "expensive-optimizations",
    "gcse",
    "gcse-las",
    "gcse-lm",
    "gcse-sm",
    "if-conversion",
    "if-conversion2",
    "inline",
    "inline-functions",
    "inline-functions-called-once",
    "inline-small-functions",
    "ipa-cp",
    "ipa-cp-clone",
    "ipa-icf",
    "ipa-pta",
    "ipa-pure-const",
    "ipa-ra",
    "ivopts",
    "keep-inline-functions",
    "keep-static-consts",
    "keep-static-functions",
    "omit-frame-pointer",
    "optimize-sibling-calls",
    "peel-loops",
    "prefetch-loop-arrays",
    "reorder-blocks",
    "reorder-functions",
    "schedule-insns",
    "schedule-insns2",
    "slp-vectorize",
    "split-loops",
    "split-paths",
    "thread-jumps",
    "toplevel-reorder",
    "tracer",
    "tree-ccp",
    "tree-dce",
    "tree-dominator-opts",
    "tree-fre",
    "tree-loop-distribution",
    "tree-loop-distribute-patterns",
    "tree-loop-vectorize",
    "tree-pre",
    "tree-slp-vectorize",
    "tree-sra",
    "tree-vectorize",
    "tree-vrp",
    "unit-at-a-time",
    "unroll-all-loops",
    "unroll-loops",
    "unswitch-loops",
    "vectorize",
    "verbose-asm",
    "web",
    // Guards.
    "stack-check",
    "stack-clash-protection",
    "stack-protector",
    "stack-protector-all",
    "stack-protector-explicit",
    "stack-protector-strong",
];

/// After `-f` or `-fno-`, with a value that is no path or without one.
const CODE_WITH_VALUE: &[&str] = &[
    "aligned-new",
    "align-functions",
    "align-jumps",
    "align-labels",
    "align-loops",
    "cf-protection",
    "constexpr-depth",
    "constexpr-loop-limit",
    "constexpr-ops-limit",
    "constexpr-steps",
    "excess-precision",
    "exec-charset",
    "fp-contract",
    "fp-exception-behavior",
    "fp-model",
    "inline-limit",
    "input-charset",
    "lto",
    "max-errors",
    "openmp",
    "pack-struct",
    "permitted-flt-eval-methods",
    "sanitize",
    "sanitize-recover",
    "sanitize-trap",
    "stack-reuse",
    "template-depth",
    "tls-model",
    "vect-cost-model",
    "simd-cost-model",
    "visibility",
    "wide-exec-charset",
];

/// After `-m` or `-mno-`.
const MACHINE: &[&str] = &[
    "32",
    "64",
    "x32",
    "general-regs-only",
    "ieee-fp",
    "long-double-64",
    "long-double-80",
    "long-double-128",
    "omit-leaf-frame-pointer",
    "outline-atomics",
    "red-zone",
    "shstk",
    "soft-float",
    "hard-float",
    "stackrealign",
    "thumb",
    "vzeroupper",
    "adx",
    "aes",
    "bmi",
    "bmi2",
    "cx16",
    "f16c",
    "fma",
    "fma4",
    "fsgsbase",
    "fxsr",
    "gfni",
    "lzcnt",
    "mmx",
    "movbe",
    "pclmul",
    "popcnt",
    "prfchw",
    "rdrnd",
    "rdseed",
    "sahf",
    "sha",
    "sse",
    "sse2",
    "sse3",
    "sse4",
    "sse4.1",
    "sse4.2",
    "sse4a",
    "ssse3",
    "vaes",
    "vpclmulqdq",
    "xsave",
    "xsavec",
    "xsaveopt",
    "xsaves",
    "avx",
    "avx2",
    "avx512bf16",
    "avx512bitalg",
    "avx512bw",
    "avx512cd",
    "avx512dq",
    "avx512f",
    "avx512fp16",
    "avx512ifma",
    "avx512vbmi",
    "avx512vbmi2",
    "avx512vl",
    "avx512vnni",
    "avx512vpopcntdq",
    "avxvnni",
];

/// After `-m`, with a value that is no path.
const MACHINE_WITH_VALUE: &[&str] = &[
    "abi",
    "arch",
    "branch-protection",
    "cmodel",
    "cpu",
    "float-abi",
    "fpmath",
    "fpu",
    "incoming-stack-boundary",
    "indirect-branch",
    "prefer-vector-width",
    "preferred-stack-boundary",
    "recip",
    "tls-dialect",
    "tune",
    "veclibabi",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn first_refused(options: &str) -> Option<String> {
        let options: Vec<String> = options.split(' ').map(str::to_owned).collect();
        refused(&options).map(str::to_owned)
    }

    #[test]
    fn what_chooses_language_warnings_and_code_passes() {
        for options in [
            "-O3 -Ofast -O -g -gdwarf-4 -std=c99 -std=gnu++17 -stdlib=libc++ -ansi -pedantic -w",
            "-Wall -Wextra -Wno-unused-parameter -Werror=return-type -Wframe-larger-than=512 -Wformat=2",
            "-DX -DX=1 -DF(a,b)=a##b -D X=/etc/passwd -UX -U X -DTEXT=\"@a\"",
            "-fPIC -fno-rtti -fno-exceptions -ffast-math -ffp-contract=off -fvisibility=hidden -fno-builtin-printf",
            "-fno-strict-aliasing -funroll-loops -flto -flto=auto -fopenmp -fsanitize=address,undefined",
            "-march=native -mtune=skylake-avx512 -mavx2 -mno-sse4.1 -mfpmath=sse -m64 -mprefer-vector-width=256",
            "-pthread -pipe -lm -lstdc++",
        ] {
            assert_eq!(first_refused(options), None, "{options}");
        }
    }

    /// Each starts a program, reads a file that is none of the FMU's, or writes one.
    #[test]
    fn what_starts_programs_or_touches_files_does_not() {
        for option in [
            "-wrapper",
            "-B/tmp",
            "-B",
            "-specs=/tmp/x",
            "--specs=x",
            "-fplugin=/tmp/x.so",
            "-fplugin-arg-x-y=z",
            "-fpass-plugin=x.so",
            "-fuse-ld=/tmp/ld",
            "-fuse-ld=gold",
            "--ld-path=/tmp/ld",
            "-include",
            "-imacros",
            "-include/etc/shadow",
            "-include-pch",
            "@file",
            "-MF",
            "-MD",
            "-MFx",
            "-MMD",
            "-M",
            "-MJ",
            "-o",
            "-ox",
            "-save-temps",
            "-save-temps=obj",
            "--save-temps",
            "-dumpdir",
            "-dumpbase",
            "-d",
            "-fdump-tree-all=/tmp/x",
            "-aux-info",
            "-x",
            "-xc",
            "-I/etc",
            "-I",
            "-I..",
            "-iquote",
            "-isystem",
            "-idirafter",
            "-isysroot",
            "--sysroot=/x",
            "-L/x",
            "-Wl,-o,x",
            "-Wa,-a=x",
            "-Wp,-MF,x",
            "-Wl,--version",
            "-Xlinker",
            "-Xclang",
            "-Xassembler",
            "-Xpreprocessor",
            "-mllvm",
            "-fprofile-use=/x",
            "-fprofile-arcs",
            "-fprofile-dir=/tmp",
            "-fprofile-generate=/tmp",
            "-fauto-profile=x",
            "-fopt-info-all=x",
            "-fsave-optimization-record",
            "-fstack-usage",
            "-fcallgraph-info",
            "-ftime-trace=x",
            "-fmodules",
            "-fmodules-cache-path=/x",
            "-fmodule-file=x",
            "-fmodule-map-file=x",
            "-fself-test=/x",
            "-fcompare-debug",
            "-fsanitize-blacklist=x",
            "-fdiagnostics-format=sarif-file",
            "-fdiagnostics-add-output=sarif:file=x",
            "-gcc-toolchain",
            "--gcc-toolchain=/x",
            "-gsplit-dwarf",
            "-gen-reproducer",
            "-fcrash-diagnostics-dir=/x",
            "-T",
            "-Tx",
            "-z",
            "-l:x",
            "-l/x",
            "-l",
            "-D-x",
            "-D@x",
            "-U@x",
            "-D",
            "-DX=1\n#include",
            "-ccc-gcc-name",
            "--config",
            "--config=x",
            "-target",
            "-resource-dir",
            "-fcf-protection=/x",
            "-march=/x",
            "-std=/x",
            "x.c",
            "",
            "-",
            "--",
            "/O2",
            "-E",
            "-S",
            "-P",
            "-###",
            "-v",
            "-fdebug-compilation-dir=x",
            "-foffload=x",
            "-Werror=a,b",
        ] {
            assert_eq!(refused(&[option.to_owned()]), Some(option));
        }
        assert_eq!(first_refused("-O2 -D @x").as_deref(), Some("-D"));
        assert_eq!(first_refused("-O2 -wrapper x").as_deref(), Some("-wrapper"));
    }
}
