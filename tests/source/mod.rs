//! Rust source text, read just well enough to check rules over it: words and paths, without comments and strings.

use std::fs;
use std::path::{Path, PathBuf};

/// A word or a sign, and the line it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// A path in the code: `std::fs::read`; braces of `use` are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub path: String,
    pub line: usize,
    /// It stands in a `pub use`, which only hands the name on.
    pub is_handed_on: bool,
}

/// A function with all that is in it, other functions included; or, without a name, what is in none.
pub struct Function {
    pub name: String,
    pub is_test: bool,
    pub tokens: Vec<Token>,
}

/// A source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Relative to the package.
    pub path: String,
    /// With its crate first, as in `plan::rig`; of the package `vecud` as under `crate::`.
    pub module: String,
    pub text: String,
    tokens: Vec<Token>,
}

/// All files of a folder of the package, and links to files, without what is built and what version control keeps.
pub fn folder(name: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut files, mut folders) = (Vec::new(), vec![root.join(name)]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.map(|entry| entry.unwrap()) {
            let name = entry.file_name();
            let skipped = ["target", ".git", "vecud-out"].iter().any(|skipped| name == *skipped);
            match entry.file_type().unwrap() {
                _ if skipped => {}
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() || kind.is_symlink() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// All Rust files of a folder of the package.
pub fn sources(name: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rust = folder(name).into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|file| {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        Source::new(path, fs::read_to_string(&file).unwrap())
    })
    .collect()
}

/// All Rust files of the program: those of the package `vecud` and of the crates below it.
pub fn program() -> Vec<Source> {
    let mut all = sources("src");
    all.extend(sources("crates").into_iter().filter(|source| source.path.contains("/src/")));
    all
}

impl Source {
    pub fn new(path: String, text: String) -> Source {
        let module = match path.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/")) {
            Some((name, inside)) => format!("{name}/{inside}").replace("/lib.rs", ".rs"),
            None => path.split_once('/').map_or(path.as_str(), |(_, inside)| inside).to_owned(),
        };
        let stem = module.trim_end_matches(".rs").trim_end_matches("/mod");
        let tokens = tokens(&text);
        Source { module: stem.replace('/', "::"), path, text, tokens }
    }

    /// The crate of the program that it is in, as in `plan`; `None`: the package `vecud`, or a test.
    fn own_crate(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Without `mod tests { … }` and without anything if it is a file of tests.
    pub fn outside_tests(&self) -> Source {
        Source { tokens: self.tokens[..self.begin_of_tests()].to_vec(), ..self.clone() }
    }

    /// The rest.
    pub fn tests(&self) -> Source {
        Source { tokens: self.tokens[self.begin_of_tests()..].to_vec(), ..self.clone() }
    }

    fn begin_of_tests(&self) -> usize {
        let is_tests = self.module.split("::").any(|part| part == "tests" || part.ends_with("_tests"));
        let inline = |at: &usize| texts(&self.tokens[*at..]).take(3).eq(["mod", "tests", "{"]);
        if is_tests { 0 } else { (0..self.tokens.len()).find(inline).unwrap_or(self.tokens.len()) }
    }

    /// All functions that are in no other one; the last one is what is in none.
    pub fn functions(&self) -> Vec<Function> {
        let mut all = Vec::new();
        let mut others = Function { name: String::new(), is_test: false, tokens: Vec::new() };
        let (mut at, mut is_test) = (0, false);
        while at < self.tokens.len() {
            let rest = &self.tokens[at..];
            is_test |= texts(rest).take(4).eq(["#", "[", "test", "]"]);
            let is_function = rest[0].text == "fn" && rest.get(1).is_some_and(|name| is_word(&name.text));
            let length = if is_function { function_length(rest) } else { 1 };
            if is_function {
                all.push(Function { name: rest[1].text.clone(), is_test, tokens: rest[..length].to_vec() });
                is_test = false;
            } else {
                others.tokens.push(rest[0].clone());
            }
            at += length;
        }
        all.push(others);
        all
    }

    /// Lines in which one of the words stands.
    pub fn words<'a>(&'a self, words: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        self.tokens.iter().filter(|token| words.contains(&token.text.as_str())).map(|token| token.line)
    }

    /// Lines in which these tokens begin, one after the other.
    pub fn sequence(&self, wanted: &[&str]) -> Vec<usize> {
        let begins = |at: &usize| texts(&self.tokens[*at..]).take(wanted.len()).eq(wanted.iter().copied());
        (0..self.tokens.len()).filter(begins).map(|at| self.tokens[at].line).collect()
    }

    /// All paths of two or more parts.
    pub fn paths(&self) -> Vec<Named> {
        let mut all = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let starts = is_word(&self.tokens[at].text)
                && self.tokens.get(at + 1).is_some_and(|next| next.text == "::")
                && (at == 0 || self.tokens[at - 1].text != "::");
            let first = all.len();
            let before: Vec<&str> = texts(&self.tokens[at.saturating_sub(2)..at]).collect();
            at = if starts { path(&self.tokens, at, "", &mut all) } else { at + 1 };
            let is_handed_on = before == ["pub", "use"] || before == [")", "use"];
            all[first..].iter_mut().for_each(|named| named.is_handed_on = is_handed_on);
        }
        all
    }

    /// The names of what it defines.
    pub fn defined(&self) -> impl Iterator<Item = &str> {
        const ITEMS: [&str; 8] = ["struct", "enum", "trait", "fn", "type", "const", "static", "union"];
        let defines = |pair: &[Token]| ITEMS.contains(&pair[0].text.as_str()) && is_word(&pair[1].text);
        self.tokens.windows(2).filter(move |pair| defines(pair)).map(|pair| pair[1].text.as_str())
    }

    /// The types that it defines for others: `pub`, or `pub(crate)` and the like.
    pub fn public_types(&self) -> impl Iterator<Item = &str> {
        const TYPES: [&str; 4] = ["struct", "enum", "trait", "union"];
        let is_public = |at: usize| {
            let before: Vec<&str> = texts(&self.tokens[at.saturating_sub(4)..at]).collect();
            before.ends_with(&["pub"]) || matches!(before[..], ["pub", "(", _, ")"])
        };
        let defines = |pair: &[Token]| TYPES.contains(&pair[0].text.as_str()) && is_word(&pair[1].text);
        let pairs = self.tokens.windows(2).enumerate();
        pairs.filter(move |(at, pair)| defines(pair) && is_public(*at)).map(|(_, pair)| pair[1].text.as_str())
    }

    /// The line of its first item that is no `mod`, no `use`, no page of documentation that is tested and no `fn main` of a program.
    pub fn first_code(&self) -> Option<usize> {
        let mut at = 0;
        while let Some(token) = self.tokens.get(at) {
            let rest = &self.tokens[at..];
            let through = |last: &str| texts(rest).position(|text| text == last).map_or(rest.len(), |place| place + 1);
            let begins = |words: &[&str]| texts(rest).take(words.len()).eq(words.iter().copied());
            at += match token.text.as_str() {
                "#" if begins(&["#", "[", "cfg", "(", "doctest", ")", "]"]) => through(";"),
                "#" => through("]"),
                "pub" if begins(&["pub", "("]) => through(")"),
                "mod" if texts(rest).nth(2) == Some("{") => 3,
                "mod" | "use" => through(";"),
                "pub" | "}" => 1,
                "fn" if begins(&["fn", "main"]) && self.path.ends_with("main.rs") => function_length(rest),
                _ => return Some(token.line),
            }
        }
        None
    }

    /// What it names of the program, with the crate first; `super::` is resolved.
    pub fn imports(&self) -> Vec<Named> {
        self.paths().into_iter().filter_map(|named| self.of_the_program(named)).collect()
    }

    /// The paths that `pub use` hands on, with the crate first.
    pub fn handed_on(&self) -> Vec<String> {
        let own = self.paths().into_iter().filter(|named| named.is_handed_on);
        own.map(|named| match self.of_the_program(named.clone()) {
            Some(found) => found.path,
            None => format!("{}::{}", self.module, named.path),
        })
        .collect()
    }

    fn of_the_program(&self, named: Named) -> Option<Named> {
        let mut parts = named.path.split("::").peekable();
        let begins = |part: &&str| ["crate", "super"].contains(part) || part.starts_with("vecud_");
        let path: Vec<&str> = match parts.next_if(begins)? {
            "crate" => self.own_crate().into_iter().chain(parts).collect(),
            "super" => {
                let mut own: Vec<&str> = self.module.split("::").collect();
                own.extend(self.inline_modules(named.line));
                own.pop();
                while parts.next_if_eq(&"super").is_some() {
                    own.pop();
                }
                own.into_iter().chain(parts).collect()
            }
            other => [other.trim_start_matches("vecud_")].into_iter().chain(parts).collect(),
        };
        Some(Named { path: path.join("::"), ..named })
    }

    /// The `mod name { … }` that a line is in.
    fn inline_modules(&self, line: usize) -> Vec<&str> {
        let (mut open, mut depth) = (Vec::new(), 0);
        for (at, token) in self.tokens.iter().enumerate().take_while(|(_, token)| token.line <= line) {
            match token.text.as_str() {
                "{" => {
                    if at >= 2 && self.tokens[at - 2].text == "mod" {
                        open.push((depth, self.tokens[at - 1].text.as_str()));
                    }
                    depth += 1;
                }
                "}" => {
                    depth -= 1;
                    open.retain(|(outer, _)| *outer < depth);
                }
                _ => {}
            }
        }
        open.into_iter().map(|(_, name)| name).collect()
    }

    /// Lines of unsafe blocks, impls and functions without an argument: a comment with `SAFETY`, or a documentation
    /// section `# Safety`, that ends at most three lines above. Functions in tests need none: the standard's words about
    /// them are their contract.
    pub fn unargued(&self) -> impl Iterator<Item = usize> + '_ {
        let in_tests = self.path.starts_with("tests/") || self.module.split("::").any(|part| part == "tests");
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let argued = move |line: usize| {
            let comment = |at: usize| lines[at].starts_with("//") || lines[at].starts_with("#[");
            let argument = |at: usize| lines[at].contains("SAFETY") || lines[at].contains("# Safety");
            // From the statement up to three lines, then on while it is still the same comment.
            let (mut at, mut steps) = (line - 1, 0);
            loop {
                if argument(at) {
                    return true;
                }
                if at == 0 || (steps >= 3 && !comment(at)) {
                    return false;
                }
                (at, steps) = (at - 1, steps + 1);
            }
        };
        self.tokens.iter().enumerate().filter_map(move |(at, token)| {
            let next = |n: usize| self.tokens.get(at + n).map_or("", |token| token.text.as_str());
            // Types of function pointers and attributes need none.
            let after = if next(1) == "extern" { next(2) } else { next(1) };
            let matters = token.text == "unsafe"
                && match after {
                    "{" | "impl" | "trait" => true,
                    "fn" => !in_tests && is_word(if next(1) == "extern" { next(3) } else { next(2) }),
                    _ => false,
                };
            (matters && !argued(token.line)).then_some(token.line)
        })
    }
}

fn texts(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().map(|token| token.text.as_str())
}

/// How many tokens a function has, up to its closing brace, or its semicolon where it has no body.
fn function_length(tokens: &[Token]) -> usize {
    let mut depth = 0;
    for (at, text) in texts(tokens).enumerate() {
        match text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (text == "}" || text == ";") {
            return at + 1;
        }
    }
    tokens.len()
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads a path, or the tree of a `use`, from `at` on; returns where it ends.
fn path(tokens: &[Token], mut at: usize, prefix: &str, all: &mut Vec<Named>) -> usize {
    let line = tokens[at].line;
    let mut path = prefix.to_owned();
    loop {
        let text = tokens.get(at).map_or("", |token| token.text.as_str());
        if text == "{" {
            at += 1;
            while tokens.get(at).is_some_and(|token| token.text != "}") {
                at = if tokens[at].text == "," { at + 1 } else { self::path(tokens, at, &path, all) };
                // `use a as b`
                if tokens.get(at).is_some_and(|token| token.text == "as") {
                    at += 2;
                }
            }
            return at + 1;
        }
        if is_word(text) || text == "*" {
            let separator = if path.is_empty() { "" } else { "::" };
            // `use a::{self}` names a.
            if text != "self" && text != "*" {
                path = format!("{path}{separator}{text}");
            }
        } else {
            // `Vec::<u8>`, or nothing that is a path: get on.
            all.push(Named { path, line, is_handed_on: false });
            return at + 1;
        }
        at += 1;
        if tokens.get(at).is_none_or(|token| token.text != "::") {
            all.push(Named { path, line, is_handed_on: false });
            return at;
        }
        at += 1;
    }
}

/// Words, numbers and signs; no comments, no contents of strings and characters.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut all, mut at, mut line) = (Vec::new(), 0, 1);
    let starts = |at: usize, with: &str| text.as_bytes()[at..].starts_with(with.as_bytes());
    while at < bytes.len() {
        let begin = at;
        let word = |c: u8| c == b'_' || c.is_ascii_alphanumeric() || c >= 0x80;
        match bytes[at] {
            b'/' if starts(at, "//") => at = text[at..].find('\n').map_or(bytes.len(), |end| at + end),
            b'/' if starts(at, "/*") => at = text[at..].find("*/").map_or(bytes.len(), |end| at + end + 2),
            b'"' => at = string_end(bytes, at),
            b'r' | b'b' | b'c' if raw_string_end(text, at).is_some() => at = raw_string_end(text, at).unwrap_or(at + 1),
            b'\'' => {
                // A character, or a lifetime: that has no closing quote right after its first character.
                let width = text[at + 1..].chars().next().map_or(1, char::len_utf8);
                at = match bytes.get(at + 1) {
                    Some(b'\\') => text[at + 3..].find('\'').map_or(bytes.len(), |end| at + 3 + end + 1),
                    _ if bytes.get(at + 1 + width) == Some(&b'\'') => at + 2 + width,
                    _ => at + 1,
                };
            }
            c if word(c) => {
                while at < bytes.len() && word(bytes[at]) {
                    at += 1;
                }
                all.push(Token { text: text[begin..at].to_owned(), line });
            }
            c if c.is_ascii_whitespace() => at += 1,
            _ => {
                at += if starts(at, "::") { 2 } else { 1 };
                all.push(Token { text: text[begin..at].to_owned(), line });
            }
        }
        line += bytes[begin..at.min(bytes.len())].iter().filter(|&&c| c == b'\n').count();
    }
    all
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// The end of `r"…"`, `r#"…"#`, `br"…"`, `b"…"`, `c"…"`, `b'…'` if one begins here.
fn raw_string_end(text: &str, at: usize) -> Option<usize> {
    let letters = text[at..].bytes().take_while(|c| b"rbc".contains(c)).count();
    let rest = &text[at + letters..];
    let preceded = at > 0 && text[..at].ends_with(|c: char| c == '_' || c.is_alphanumeric());
    if preceded || letters > 2 {
        return None;
    }
    let raw = text[at..at + letters].contains('r');
    let hashes = rest.bytes().take_while(|c| *c == b'#').count();
    if raw && rest[hashes..].starts_with('"') {
        let close = format!("\"{}", "#".repeat(hashes));
        let body = at + letters + hashes + 1;
        return Some(text[body..].find(&close).map_or(text.len(), |end| body + end + close.len()));
    }
    (!raw && rest.starts_with('"')).then(|| string_end(text.as_bytes(), at + letters))
}

#[test]
fn paths_are_read_as_the_compiler_does() {
    let text = r##"
        use crate::a::{self, b::{C, D as E}, f};
        // crate::comment
        /// [`crate::doc`]
        use super::x;
        const S: &str = "crate::string"; const R: &str = r#"crate::"raw"#; const C: char = '"';
        mod tests {
            use super::*;
            fn f<'a>() { crate::k::l(); super::super::m(); }
        }
    "##;
    let source = Source::new("src/top/file.rs".to_owned(), text.to_owned());
    let imports: Vec<(String, usize)> = source.imports().into_iter().map(|named| (named.path, named.line)).collect();
    let expected = [
        ("a", 2),
        ("a::b::C", 2),
        ("a::b::D", 2),
        ("a::f", 2),
        ("top::x", 5),
        ("top::file", 8),
        ("k::l", 9),
        ("top::m", 9),
    ];
    assert_eq!(imports, expected.map(|(path, line)| (path.to_owned(), line)));
    assert_eq!(source.outside_tests().imports().len(), 5);
}

#[test]
fn a_missing_argument_is_seen() {
    let text = "// SAFETY: so.\n// More.\nunsafe { a() };\n\n\n\n\nunsafe { b() };\ntype T = unsafe extern \"C\" fn(x: u8);\n\
                /// # Safety\n/// Do.\nunsafe fn c() {}\n// no\nstruct S;\nlet a = 1;\nlet b = 2;\nunsafe impl Send for S {}\n";
    let source = Source::new("src/a.rs".to_owned(), text.to_owned());
    assert_eq!(source.unargued().collect::<Vec<_>>(), [8, 17]);
}

#[test]
fn code_is_told_from_declarations() {
    let first = |path: &str, text: &str| Source::new(path.to_owned(), text.to_owned()).first_code();
    let declarations = "//! fn a() {}\n#![forbid(unsafe_code)]\n#[macro_use]\nmod a;\npub(crate) mod b;\nuse b::*;\n\
                        pub(in crate::a) use self::a::{A, B as C};\npub mod c {\npub use x::*;\n}\n\
                        #[cfg(doctest)]\n#[doc = \"\"]\nstruct D;\n";
    assert_eq!(first("src/a/mod.rs", declarations), None);
    for item in [
        "pub fn a() {}",
        "fn main() {}",
        "struct A;",
        "pub(crate) enum A {}",
        "trait A {}",
        "unsafe impl A for B {}",
        "const A: u8 = 1;",
        "static A: u8 = 1;",
        "pub type A = B;",
        "macro_rules! a { () => {} }",
        "thread_local! {}",
        "mod tests { use super::*; #[test] fn a() {} }",
    ] {
        assert_eq!(first("src/a/mod.rs", &format!("{declarations}{item}")), Some(14), "{item}");
    }
    assert_eq!(first("src/main.rs", "mod a; fn main() { a::b(); }"), None);
}
