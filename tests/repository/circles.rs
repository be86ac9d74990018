//! Inside of a crate imports run one way, as they do between crates: no two files or folders of one folder import each other, straight
//! or round about.

use crate::source::{Source, program};
use std::collections::{BTreeMap, BTreeSet};

/// The files of the program, by their modules.
struct House {
    sources: BTreeMap<String, Source>,
    /// What each file hands on by `pub use`.
    handed_on: BTreeMap<String, Vec<String>>,
}

impl House {
    fn new(sources: Vec<Source>) -> House {
        let is_test = |name: &str| name.split("::").any(|part| part == "tests" || part.ends_with("_tests"));
        let own = sources.into_iter().filter(|source| !is_test(&source.module));
        let sources: BTreeMap<_, _> = own.map(|source| (source.module.clone(), source.outside_tests())).collect();
        let handed_on = sources.iter().map(|(module, source)| (module.clone(), source.handed_on())).collect();
        House { sources, handed_on }
    }

    /// The file that defines what a path names: where a folder's own file hands the name on, the file that it has it from.
    fn file_of(&self, path: &str, seen: &mut BTreeSet<String>) -> Option<&str> {
        if !seen.insert(path.to_owned()) {
            return None;
        }
        let parts: Vec<&str> = path.split("::").collect();
        let prefixes = (1..=parts.len()).rev().map(|length| (length, parts[..length].join("::")));
        let (length, module) = prefixes.into_iter().find(|(_, prefix)| self.sources.contains_key(prefix))?;
        let (module, handed_on) = self.handed_on.get_key_value(&module)?;
        let Some(name) = parts.get(length) else { return Some(module) };
        let by_name = handed_on.iter().find(|path| path.rsplit("::").next() == Some(name));
        let found = by_name.and_then(|path| self.file_of(path, seen));
        // `pub use module::*`
        let of_all = handed_on.iter().filter(|path| self.sources.contains_key(*path));
        let mut of_all = of_all.filter_map(|path| self.file_of(&format!("{path}::{name}"), seen));
        found.or_else(|| of_all.find(|file| self.defines(file, name))).or(Some(module))
    }

    fn defines(&self, module: &str, name: &str) -> bool {
        self.sources.get(module).is_some_and(|file| file.defined().any(|own| own == name))
    }

    /// Which file names which other one.
    fn imports(&self) -> BTreeSet<(&str, &str)> {
        let mut all = BTreeSet::new();
        for (module, source) in &self.sources {
            for import in source.imports().into_iter().filter(|import| !import.is_handed_on) {
                let other = self.file_of(&import.path, &mut BTreeSet::new()).filter(|other| other != module);
                all.extend(other.map(|other| (module.as_str(), other)));
            }
        }
        all
    }

    /// The children of each folder that import each other.
    fn circles(&self) -> Vec<String> {
        let mut folders: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
        for (from, to) in self.imports() {
            let same = from.split("::").zip(to.split("::")).take_while(|(a, b)| a == b).map(|(part, _)| part.len() + 2);
            let length: usize = same.sum();
            let child = |path: &'_ str| path.get(length..).and_then(|rest| rest.split("::").next()).map(str::len);
            let (Some(own), Some(other), true) = (child(from), child(to), length > 0) else { continue };
            let children = folders.entry(&from[..length - 2]).or_default();
            children.entry(&from[length..length + own]).or_default().insert(&to[length..length + other]);
        }
        let mut found = Vec::new();
        for (folder, children) in folders {
            let mut left: BTreeSet<&str> = children.keys().copied().collect();
            while let Some(child) = left.pop_first() {
                let round: Vec<&str> = left
                    .iter()
                    .copied()
                    .filter(|b| reaches(&children, child, b) && reaches(&children, b, child))
                    .collect();
                left.retain(|other| !round.contains(other));
                if !round.is_empty() {
                    found.push(format!("{folder}: {child} {}", round.join(" ")));
                }
            }
        }
        found
    }
}

fn reaches(children: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(child) = open.pop() {
        let next = children.get(child).into_iter().flatten().copied();
        open.extend(next.filter(|next| seen.insert(next)));
    }
    from != to && seen.contains(to)
}

#[test]
fn no_two_children_of_a_folder_import_each_other() {
    let house = House::new(program());
    assert!(house.imports().len() > 1_000, "{}", house.imports().len());
    let circles = house.circles();
    assert!(circles.is_empty(), "circles of imports:\n{}", circles.join("\n"));
}

#[test]
fn a_circle_is_found_straight_round_about_and_behind_a_face() {
    let source = |path: &str, text: &str| Source::new(path.to_owned(), text.to_owned());
    let circles =
        |files: &[(&str, &str)]| House::new(files.iter().map(|(path, text)| source(path, text)).collect()).circles();
    let straight = [("crates/a/src/b.rs", "use crate::c::X;"), ("crates/a/src/c.rs", "pub struct X(super::b::Y);")];
    assert_eq!(circles(&straight), ["a: b c"]);
    let round = [
        ("crates/a/src/b.rs", "use crate::c::X;"),
        ("crates/a/src/c/mod.rs", "pub struct X;"),
        ("crates/a/src/c/inner.rs", "use crate::d::Z;"),
        ("crates/a/src/d.rs", "fn z() { crate::b::y() }"),
    ];
    assert_eq!(circles(&round), ["a: b c d"]);
    let face = [
        ("crates/a/src/lib.rs", "mod b; mod c; pub use b::Y; pub use c::*;"),
        ("crates/a/src/b.rs", "pub struct Y(crate::X);"),
        ("crates/a/src/c.rs", "pub struct X; fn f(_: super::Y) {}"),
    ];
    assert_eq!(circles(&face), ["a: b c"]);
    let two_faces = [
        ("crates/a/src/lib.rs", "mod b; mod c; pub use b::*; pub use c::*;"),
        ("crates/a/src/b.rs", "mod d; pub use self::d::*;"),
        ("crates/a/src/b/d.rs", "pub struct Y(crate::X);"),
        ("crates/a/src/c.rs", "pub struct X; fn f(_: super::Y) {}"),
    ];
    assert_eq!(circles(&two_faces), ["a: b c"]);
    let none = [
        ("crates/a/src/b.rs", "use crate::c::X;"),
        ("crates/a/src/c.rs", "pub struct X; mod tests { use crate::b::Y; }"),
    ];
    assert_eq!(circles(&none), [""; 0]);
}
