//! Typed, located access to a TOML document; problems are collected, not returned one by one.

use super::{At, Diagnostic, Place, RigError, suggestion};
use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;
use toml_edit::{Item, Key, TableLike, Value};
use vecud_base::places::LineIndex;

/// The text, and the problems found in it so far.
pub(super) struct Document<'a> {
    file: &'a Path,
    places: LineIndex<'a>,
    problems: RefCell<Vec<Diagnostic>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(file: &'a Path, text: &'a str) -> Document<'a> {
        Document { file, places: LineIndex::new(text), problems: RefCell::default() }
    }

    /// The text as TOML.
    pub(super) fn parse<'t>(&self, text: &'t str) -> Result<toml_edit::Document<&'t str>, RigError> {
        toml_edit::Document::parse(text).map_err(|error| {
            let mut message = error.message().trim_end().replace('\n', "; ");
            // The parser leaves the name out.
            if let (true, Some(name)) = (message == "duplicate key", error.span().and_then(|span| text.get(span))) {
                message += &format!(": \"{name}\" is given twice");
            }
            RigError { problems: vec![Diagnostic::new(self.file, self.place(error.span()), message)] }
        })
    }

    /// Line and column of a byte range's first character.
    pub(super) fn place(&self, span: Option<Range<usize>>) -> Place {
        let Some(span) = span else { return Place::default() };
        let (line, column) = self.places.of(span.start);
        Place { line, column }
    }

    pub(super) fn problem(&self, place: Place, message: impl Into<String>) {
        self.problems.borrow_mut().push(Diagnostic::new(self.file, place, message));
    }

    /// All problems in the order of the file.
    pub(super) fn into_problems(self) -> Vec<Diagnostic> {
        let mut problems = self.problems.into_inner();
        problems.sort();
        problems.dedup();
        problems
    }
}

/// One table of the document.
#[derive(Clone, Copy)]
pub(super) struct TableReader<'d> {
    pub(super) document: &'d Document<'d>,
    /// The title as in a header: `[host]`.
    pub(super) title: &'d str,
    table: &'d dyn TableLike,
    /// The place at which missing keys are reported.
    pub(super) place: Place,
}

impl<'d> TableReader<'d> {
    pub(super) fn new(document: &'d Document<'d>, title: &'d str, table: &'d dyn TableLike, place: Place) -> Self {
        TableReader { document, title, table, place }
    }

    /// Reports every key that is not among `known`.
    pub(super) fn only(self, known: &[&str]) -> Self {
        for (key, _) in self.entries() {
            if !known.contains(&key.value) {
                let hint = match suggestion(key.value, known.iter().copied()) {
                    none if none.is_empty() => format!("; known are {}", known.join(", ")),
                    hint => hint,
                };
                self.document.problem(key.place, format!("unknown key \"{}\" in {}{hint}", key.value, self.title));
            }
        }
        self
    }

    /// All keys with their values, in the order of the file.
    pub(super) fn entries(&self) -> impl Iterator<Item = (At<&'d str>, &'d Item)> + use<'d> {
        let (document, table) = (self.document, self.table);
        table.iter().map(move |(name, item)| {
            let span = table.key(name).and_then(Key::span).or_else(|| item.span());
            (At { value: name, place: document.place(span) }, item)
        })
    }

    pub(super) fn get(&self, key: &str) -> Option<&'d Item> {
        self.table.get(key).filter(|item| !item.is_none())
    }

    pub(super) fn place_of(&self, item: &Item) -> Place {
        self.document.place(item.span())
    }

    /// The place of the key itself.
    pub(super) fn place_of_key(&self, key: &str) -> Place {
        self.document.place(self.table.key(key).and_then(Key::span))
    }

    /// Reads a value with `read`; `expected` completes the error "must be …".
    pub(super) fn read<T>(&self, key: &str, expected: &str, read: impl Fn(&'d Item) -> Option<T>) -> Option<At<T>> {
        let item = self.get(key)?;
        let place = self.place_of(item);
        match read(item) {
            Some(value) => Some(At { value, place }),
            None => {
                self.document.problem(place, format!("{key} must be {expected}, not {}", describe(item)));
                None
            }
        }
    }

    pub(super) fn boolean(&self, key: &str) -> Option<bool> {
        self.read(key, "true or false", Item::as_bool).map(|at| at.value)
    }

    pub(super) fn string(&self, key: &str) -> Option<At<&'d str>> {
        self.read(key, "a string", Item::as_str)
    }

    /// A word of a fixed vocabulary.
    pub(super) fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let written = self.string(key)?;
        let meant = words.iter().find(|(word, _)| *word == written.value).map(|(_, value)| *value);
        if meant.is_none() {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            let message = format!("{key} must be {}, not \"{}\"", words.join(" or "), written.value);
            self.document.problem(written.place, message);
        }
        meant
    }

    /// Refuses a setting that only a later version supports.
    pub(super) fn not_yet(&self, place: Place, what: &str) {
        self.document.problem(place, format!("{what} is not supported yet by this version of vecud"));
    }

    /// Reports a missing key.
    pub(super) fn missing(&self, key: &str) {
        self.document.problem(self.place, format!("{} has no {key}", self.title));
    }

    /// The table under `key`; the title is given because it is quoted in messages.
    pub(super) fn table(&self, key: &str, title: &'d str) -> Option<TableReader<'d>> {
        let table = self.read(key, "a table", Item::as_table_like)?;
        Some(TableReader::new(self.document, title, table.value, self.place_of_key(key)))
    }

    /// The tables of `[[key]]`, or of an array of inline tables.
    pub(super) fn tables(&self, key: &str, title: &'d str) -> Vec<TableReader<'d>> {
        let Some(item) = self.get(key) else { return Vec::new() };
        let mut sections = Vec::new();
        match item {
            Item::ArrayOfTables(array) => {
                for table in array {
                    let place = self.document.place(table.span());
                    sections.push(TableReader::new(self.document, title, table, place));
                }
            }
            Item::Value(Value::Array(array)) => {
                for value in array {
                    let place = self.document.place(value.span());
                    match value.as_inline_table() {
                        Some(table) => sections.push(TableReader::new(self.document, title, table, place)),
                        None => self.document.problem(place, format!("{title} must be a table")),
                    }
                }
            }
            other => {
                let place = self.place_of_key(key);
                let message =
                    format!("write {title} with two brackets: it is a list of tables, not {}", describe(other));
                self.document.problem(place, message);
            }
        }
        sections
    }
}

/// Describes a value of the wrong type for messages.
pub(super) fn describe(item: &Item) -> String {
    match item {
        Item::Value(Value::String(s)) => format!("the string \"{}\"", s.value()),
        Item::Value(Value::Integer(i)) => format!("{}", i.value()),
        Item::Value(Value::Float(f)) => float_text(*f.value()),
        Item::Value(Value::Boolean(b)) => format!("{}", b.value()),
        Item::Value(Value::Array(_)) => "a list".to_owned(),
        Item::Value(Value::Datetime(_)) => "a date".to_owned(),
        Item::ArrayOfTables(_) => "a list of tables".to_owned(),
        _ => "a table".to_owned(),
    }
}

/// A number in the shortest notation: `1e300` has no three hundred digits.
pub fn float_text(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-7..1e16).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// An integer or a float.
pub(super) fn number(item: &Item) -> Option<f64> {
    item.as_float().or_else(|| item.as_integer().map(|i| i as f64))
}

/// The elements of a TOML array, with their places.
pub(super) fn elements<'d>(section: &TableReader<'d>, key: &str) -> Option<Vec<At<&'d Value>>> {
    let array = section.read(key, "a list", Item::as_array)?;
    let place = |value: &Value| section.document.place(value.span());
    Some(array.value.iter().map(|value| At { value, place: place(value) }).collect())
}
