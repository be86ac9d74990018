//! `buildDescription.xml` → the one build configuration for this machine. Pure: text in, value out.
//!
//! Paths come out relative to the FMU's root and are known not to leave it. Definitions come out as they are handed to
//! the compiler: required ones always, optional ones with a value (the default among their options) with that value,
//! optional ones without a value not at all; unless the user chooses otherwise, which is possible where they are optional or
//! have options.

use std::path::PathBuf;

use roxmltree::{Document, Node, ParsingOptions};

use super::choices::{BuildChoices, Definitions};
use super::error::BuildError;
use super::language::SourceLanguage;
use super::options;
use super::sources::{self, BuildConfiguration, LinkedLibrary, SourceFileSet, TranslationUnit};
use crate::platform;
use vecud_base::places::{self, LineIndex};
use vecud_description::guard;

/// The file, by its path in the FMU.
const FILE: &str = "sources/buildDescription.xml";

/// Chooses and reads the configuration that builds `model_identifier` on this machine, with the user's choices: among those
/// for its platform, else among those for any, the first that can be read and whose source file sets all have a compiler here
/// (FMI 3.0.2, 2.4.10: "select the BuildConfiguration based on the other attributes"). If there is none, the error is that of
/// the first.
pub(super) fn parse(
    text: &str,
    model_identifier: &str,
    choices: &BuildChoices,
    has_compiler: impl Fn(&SourceFileSet) -> bool,
) -> Result<BuildConfiguration, BuildError> {
    guard::check(text).map_err(|(at, message)| {
        let (line, column) = LineIndex::new(text).of(at);
        BuildError::Description { file: FILE, at: Some((line, column)), detail: message }
    })?;
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let place = error.pos();
        BuildError::Description { file: FILE, at: Some((place.row, place.col)), detail: error.to_string() }
    })?;
    let root = document.root_element();
    if root.tag_name().name() != "fmiBuildDescription" {
        let found = root.tag_name().name();
        return Err(wrong(root, format!("<fmiBuildDescription> expected, <{found}> found")));
    }
    let mut candidates: Vec<(usize, Node)> = Vec::new();
    let mut seen = Vec::new();
    for node in elements(root, "BuildConfiguration") {
        let identifier = required(node, "modelIdentifier")?;
        let tuple = node.attribute("platform");
        seen.push(format!("{identifier} for {}", tuple.unwrap_or("any platform")));
        let rank = match tuple {
            None => usize::MAX,
            Some(tuple) => match platform::rank(tuple) {
                Some(rank) => rank,
                None => continue,
            },
        };
        if identifier == model_identifier {
            candidates.push((rank, node));
        }
    }
    candidates.sort_by_key(|(rank, _)| *rank);
    let is_choice = candidates.len() > 1;
    let mut first = None;
    for (_, node) in candidates {
        let found = known(node, &choices.definitions).and_then(|()| configuration(node, choices));
        // Where there is no choice, the compiler's own error says more.
        let usable = found.as_ref().is_ok_and(|found| !is_choice || found.sets.iter().all(&has_compiler));
        if usable {
            return found;
        }
        first.get_or_insert(found);
    }
    first.unwrap_or_else(|| {
        let seen = match seen.is_empty() {
            true => "none".to_owned(),
            false => seen.join(", "),
        };
        let detail = format!(
            "no BuildConfiguration for {model_identifier} on {}; there is {seen}",
            platform::of_this_machine()[0]
        );
        Err(wrong(root, detail))
    })
}

/// Every definition that the user chooses is one of this configuration.
fn known(node: Node, chosen: &Definitions) -> Result<(), BuildError> {
    let all = || elements(node, "SourceFileSet").flat_map(|set| elements(set, "PreprocessorDefinition"));
    let Some(name) = chosen.keys().find(|name| !all().any(|item| item.attribute("name") == Some(name))) else {
        return Ok(());
    };
    let optional = |item: &Node| boolean(*item, "optional").unwrap_or(false);
    let open = |item: &Node| optional(item) || elements(*item, "Option").next().is_some();
    let open: Vec<&str> = all().filter(open).filter_map(|item| item.attribute("name")).collect();
    let detail = match open.as_slice() {
        [] => "is no definition of the FMU's build description, which leaves no choice".to_owned(),
        open => format!("is no definition of the FMU's build description; to be chosen are {}", open.join(", ")),
    };
    Err(BuildError::Definition { name: name.clone(), detail })
}

fn configuration(node: Node, choices: &BuildChoices) -> Result<BuildConfiguration, BuildError> {
    let sets = elements(node, "SourceFileSet").map(|set| source_file_set(set, choices));
    let sets: Vec<SourceFileSet> = sets.collect::<Result<_, _>>()?;
    if sets.iter().all(|set| set.sources.is_empty()) {
        return Err(wrong(node, "this BuildConfiguration has no SourceFile"));
    }
    let libraries = elements(node, "Library").map(library);
    Ok(BuildConfiguration {
        described_in: FILE,
        platform: node.attribute("platform").map(str::to_owned),
        sets,
        libraries: libraries.collect::<Result<_, _>>()?,
    })
}

fn source_file_set(node: Node, choices: &BuildChoices) -> Result<SourceFileSet, BuildError> {
    let language = match node.attribute("language").map(str::trim) {
        None | Some("") => None,
        Some(name) => Some(SourceLanguage::parse(name).ok_or_else(|| {
            wrong(node, format!("language {name:?} is not known; C and C++ and their versions are (C99, C++11)"))
        })?),
    };
    let compiler = node.attribute("compiler").map(str::trim).filter(|c| !c.is_empty());
    if let Some(name) = compiler.filter(|name| !is_known_compiler(name)) {
        let detail = format!("compiler {name:?} is not known; on Linux gcc and clang and their C++ names are");
        return Err(wrong(node, detail));
    }
    let options = node.attribute("compilerOptions").unwrap_or("");
    let options = split_options(options).ok_or_else(|| wrong(node, "compilerOptions has an open quote"))?;
    if let Some(option) = options::refused(&options).filter(|_| !choices.trusted) {
        return Err(BuildError::Option { at: place(node), option: option.to_owned() });
    }
    let mut sources = Vec::new();
    for file in elements(node, "SourceFile") {
        sources.push(TranslationUnit { path: inside(file)?, at: Some(place(file)) });
    }
    let mut definitions = Vec::new();
    for item in elements(node, "PreprocessorDefinition") {
        definitions.extend(definition(item, &choices.definitions)?);
    }
    Ok(SourceFileSet {
        language,
        compiler: compiler.map(str::to_owned),
        options,
        sources,
        definitions,
        includes: elements(node, "IncludeDirectory").map(inside).collect::<Result<_, _>>()?,
    })
}

fn definition(node: Node, chosen: &Definitions) -> Result<Option<String>, BuildError> {
    let name = required(node, "name")?;
    let optional = boolean(node, "optional")?;
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || name.contains(['=', '\n', '\0']) {
        return Err(wrong(node, format!("{name:?} is no name of a macro")));
    }
    let choices: Vec<&str> = elements(node, "Option").map(|o| required(o, "value")).collect::<Result<_, _>>()?;
    let refused = |detail: String| Err(BuildError::Definition { name: name.to_owned(), detail });
    let chosen = chosen.get(name);
    if chosen.is_some() && !optional && choices.is_empty() {
        return refused("is the same in every build: the FMU's build description leaves no choice".to_owned());
    }
    let value = match (chosen.map(Option::as_deref), node.attribute("value")) {
        (Some(None), _) if !optional => {
            return refused(format!("cannot be left out; its options are {}", choices.join(", ")));
        }
        (Some(None), _) => return Ok(None),
        (Some(Some(value)), _) if !value.is_empty() && !choices.is_empty() && !choices.contains(&value) => {
            return refused(format!("cannot be \"{value}\"; its options are {}", choices.join(", ")));
        }
        (Some(Some(value)), _) if !value.is_empty() => Some(value),
        (_, Some(value)) if !choices.is_empty() && !choices.contains(&value) => {
            let detail = format!("{name} is {value:?}, which is none of its options ({})", choices.join(", "));
            return Err(wrong(node, detail));
        }
        (_, Some(value)) => Some(value),
        (None, None) if optional => return Ok(None),
        (_, None) => choices.first().copied(),
    };
    if value.is_some_and(|value| value.contains(char::is_control)) {
        return Err(wrong(node, format!("the value of {name} is not in one line")));
    }
    Ok(Some(match value {
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    }))
}

fn library(node: Node) -> Result<LinkedLibrary, BuildError> {
    let name = required(node, "name")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    if name.starts_with(['-', '.']) || !name.chars().all(plain) {
        return Err(wrong(node, format!("{name:?} is no name of a library")));
    }
    Ok(LinkedLibrary { name: name.to_owned(), external: boolean(node, "external")?, at: place(node) })
}

/// The path that the element's name gives, as one relative to the FMU's root.
fn inside(node: Node) -> Result<PathBuf, BuildError> {
    sources::inside(required(node, "name")?).map_err(|detail| wrong(node, detail))
}

/// gcc and clang, with a target before and a version after: `aarch64-linux-gnu-g++-12`.
fn is_known_compiler(name: &str) -> bool {
    const KNOWN: [&str; 8] = ["cc", "c++", "gcc", "g++", "clang", "clang++", "icx", "icpx"];
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let base = base.strip_suffix('-').unwrap_or(base);
    let base = base.rsplit('-').next().unwrap_or(base);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_+-.".contains(c);
    KNOWN.contains(&base) && !name.starts_with('-') && name.chars().all(plain)
}

/// Splits as a shell would: blanks separate, quotes and backslashes hold together. `None`: a quote is open.
pub(super) fn split_options(text: &str) -> Option<Vec<String>> {
    let mut options = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => current.get_or_insert_default().extend(chars.next()),
            (c, Some(_)) => current.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => options.extend(current.take()),
            (c, None) => current.get_or_insert_default().push(c),
        }
    }
    options.extend(current);
    quote.is_none().then_some(options)
}

fn elements<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn required<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, BuildError> {
    let missing = || wrong(node, format!("<{}> lacks its {name}", node.tag_name().name()));
    node.attribute(name).filter(|value| !value.is_empty()).ok_or_else(missing)
}

fn boolean(node: Node, name: &str) -> Result<bool, BuildError> {
    match node.attribute(name).map(str::trim) {
        None | Some("false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(other) => Err(wrong(node, format!("{name} is {other:?} instead of true or false"))),
    }
}

fn place(node: Node) -> (u32, u32) {
    let place = node.document().text_pos_at(places::tag(node.document().input_text(), node.tag_name().name()));
    (place.row, place.col)
}

fn wrong(node: Node, detail: impl Into<String>) -> BuildError {
    BuildError::Description { file: FILE, at: Some(place(node)), detail: detail.into() }
}

#[cfg(test)]
#[path = "description_tests.rs"]
mod tests;
