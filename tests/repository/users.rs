//! Tests whose outcome depends on who runs them end with `_as_this_user`: the gate runs all tests as root, and these, and no
//! others, once more as an ordinary user.

use crate::source::{Function, Source, Token, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const MARK: &str = "_as_this_user";

/// What asks who this user is and what he may, or changes that. In `tests` only `tests/program` does so itself.
const RAW: &[&str] = &[
    "PR_CAPBSET_DROP",
    "PR_SET_SECUREBITS",
    "capabilities",
    "capget",
    "capset",
    "geteuid",
    "getgid",
    "getrlimit",
    "getuid",
    "prlimit",
    "probe_fifo",
    "setgid",
    "setgroups",
    "setrlimit",
    "setuid",
];

fn is_raw(text: &str) -> bool {
    RAW.contains(&text) || text.starts_with("RLIMIT_")
}

/// Whether code asks for the user by way of `tests/program`, or gives a file to another one.
fn asks(tokens: &[Token]) -> bool {
    let is_module = |pair: &[Token]| ["user", "jail"].contains(&pair[0].text.as_str()) && pair[1].text == "::";
    tokens.windows(2).any(is_module) || tokens.iter().any(|token| token.text == "chown")
}

/// Of the files of a folder the tests without the mark that ask, or that come to a function there that does, and code outside of
/// functions that asks: there it is not seen who uses it. Functions are told apart by their names alone.
fn unmarked(sources: &[Source], asks: impl Fn(&[Token]) -> bool) -> BTreeSet<String> {
    let functions: Vec<(&Source, Function)> =
        sources.iter().flat_map(|source| source.functions().into_iter().map(move |own| (source, own))).collect();
    let (mut asking, mut found) = (BTreeSet::<&str>::new(), BTreeSet::new());
    loop {
        let before = asking.len() + found.len();
        for (source, function) in functions.iter().filter(|(_, own)| !own.is_test || !own.name.ends_with(MARK)) {
            let calls = |token: &Token| asking.contains(token.text.as_str());
            let is_helper = !function.is_test && !function.name.is_empty();
            match asks(&function.tokens) || (!function.name.is_empty() && function.tokens.iter().any(calls)) {
                true if is_helper => drop(asking.insert(&function.name)),
                true => drop(found.insert(format!("{}: {}", source.path, function.name))),
                false => {}
            }
        }
        if asking.len() + found.len() == before {
            return found;
        }
    }
}

#[test]
fn tests_that_depend_on_the_user_are_marked() {
    let mut folders = BTreeMap::<PathBuf, Vec<Source>>::new();
    for source in sources("tests").into_iter().filter(|source| !source.path.starts_with("tests/program/")) {
        folders.entry(Path::new(&source.path).parent().unwrap().to_owned()).or_default().push(source);
    }
    assert!(folders.len() > 20, "{}", folders.len());
    for sources in folders.values() {
        let unmarked = unmarked(sources, asks);
        assert!(unmarked.is_empty(), "these depend on the user, and need names that end with {MARK}: {unmarked:#?}");
    }
    for source in crate::source::program() {
        let unmarked = unmarked(&[source.tests()], |tokens| tokens.iter().any(|token| is_raw(&token.text)));
        assert!(unmarked.is_empty(), "these depend on the user, and need names that end with {MARK}: {unmarked:#?}");
    }
}

#[test]
fn only_the_module_program_looks_at_users_itself() {
    for source in sources("tests").iter().filter(|source| !source.path.starts_with("tests/program/")) {
        let raw = source.functions().into_iter().flat_map(|own| own.tokens).find(|token| is_raw(&token.text));
        let raw = raw.map(|token| format!("{}:{}: {}", source.path, token.line, token.text));
        assert_eq!(raw, None, "tests/program/user.rs and jail.rs have a function for that");
        // Shells do it by this program.
        assert!(!source.text.contains("setpriv") || source.path == file!(), "{}: setpriv", source.path);
    }
}

#[test]
fn an_unmarked_test_is_found_whoever_asks_for_it() {
    let text = "
        use program::{jail, user};
        fn indirect() { helper([0; 2]) }
        fn helper(_: [u8; 2]) { if user::is_root() {} }
        #[test] fn direct() { jail::without_nice(); }
        #[test] fn by_others() { indirect(); }
        #[test] fn free() { user(); let jail: u8 = 0; }
        #[test] fn direct_as_this_user() { user::is_root(); }
        #[test] fn by_others_as_this_user() { indirect(); }";
    let source = |text: &str| [Source::new("tests/a/b.rs".to_owned(), text.to_owned())];
    let found = unmarked(&source(text), asks);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["tests/a/b.rs: by_others", "tests/a/b.rs: direct"]);
    assert_eq!(unmarked(&source("use program::user::is_root;"), asks).len(), 1);
}
