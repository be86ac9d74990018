//! XML with places: every element and attribute knows its line and column (1-based, in characters).
//!
//! Guarantees: no DTD is ever read, so no entity can expand or name a file; a text that would make the parser slow or
//! hungry (see [`guard`]) is refused first; names in foreign namespaces are not mistaken for ours.

use super::lexical::Scalar;
use super::model::{Abi, DescriptionError};
use crate::guard;
use roxmltree::{Document, Error, Node, ParsingOptions};
use std::cell::RefCell;
use vecud_base::places::{self, LineIndex};

/// More nodes than this are refused: elements, and the white space between them.
const NODES_LIMIT: u32 = 8_000_000;
/// Warnings kept; more of them are only counted.
const WARNINGS_LIMIT: usize = 100;
const DTD: &str = "contains a DTD, which is refused: it can hide anything; remove the <!DOCTYPE ...>, FMUs need none";

/// Parses the text; what is not well-formed, or has a DTD, is an error.
pub(super) fn document<'a>(places: &LineIndex<'a>) -> Result<Document<'a>, DescriptionError> {
    let text = places.text();
    guard::check(text).map_err(|(at, message)| error_at(places, at, message))?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_LIMIT, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let end = text.trim_end().len();
        match error {
            Error::DtdDetected => error_at(places, guard::after_prolog(text), DTD),
            Error::NamespacesLimitReached => error_at(places, 0, "has more than 65,536 different namespaces"),
            Error::NodesLimitReached => error_at(places, 0, format!("has more than {NODES_LIMIT} XML nodes")),
            Error::UnexpectedEndOfStream | Error::UnclosedRootNode | Error::NoRootNode => {
                let message = match end {
                    0 => "is empty; export the FMU again".to_owned(),
                    _ => format!("malformed XML: {error}, but the text ends here"),
                };
                error_at(places, end, message)
            }
            other => {
                let position = other.pos();
                let message = other.to_string().replace(&format!(" at {position}"), "");
                DescriptionError {
                    line: position.row,
                    column: position.col,
                    message: format!("malformed XML: {message}"),
                }
            }
        }
    })
}

pub(super) fn error_at(places: &LineIndex, at: usize, message: impl Into<String>) -> DescriptionError {
    let (line, column) = places.of(at);
    DescriptionError { line, column, message: message.into() }
}

/// The names of one text of the standard: attributes that only another text has are not found with it.
pub(super) struct Vocabulary {
    /// The text.
    pub(super) abi: Abi,
    /// The [`bit`]s of the names of all attributes that only some texts have.
    pub(super) particular: u64,
    /// The only text that has an attribute with this name (second) on an element with that name (first).
    pub(super) home: fn(&str, &str) -> Option<Abi>,
}

impl Vocabulary {
    /// The text that alone has an attribute, if it is another one.
    #[inline]
    fn foreign(&self, element: &str, attribute: &str) -> Option<Abi> {
        if self.particular & bit(attribute) == 0 {
            return None;
        }
        (self.home)(element, attribute).filter(|&home| home != self.abi)
    }
}

/// The treatment of errors in a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// The first one ends the reading.
    Strict,
    /// Errors that leave a meaning to the rest are overlooked, with a warning each.
    Lenient,
    /// All errors are collected, as far as one does not hide others.
    EveryError,
}

/// The document and the data that every element needs of it; collects warnings.
pub(super) struct XmlDocument<'a> {
    document: &'a Document<'a>,
    places: LineIndex<'a>,
    namespace: Option<&'a str>,
    strictness: Strictness,
    warnings: RefCell<(Vec<DescriptionError>, usize)>,
    /// Errors beside which the reading has gone on, where every one is wanted.
    errors: RefCell<Vec<DescriptionError>>,
}

impl<'a> XmlDocument<'a> {
    pub(super) fn new(places: LineIndex<'a>, document: &'a Document<'a>, strictness: Strictness) -> XmlDocument<'a> {
        XmlDocument {
            document,
            places,
            namespace: document.root_element().tag_name().namespace(),
            strictness,
            warnings: RefCell::default(),
            errors: RefCell::default(),
        }
    }

    /// The root element, in the words of a text.
    pub(super) fn root(&self, vocabulary: &'static Vocabulary) -> Element<'_> {
        Element::new(self.document.root_element(), self, vocabulary)
    }

    fn warn(&self, warning: DescriptionError) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.0.len() < WARNINGS_LIMIT {
            warnings.0.push(warning);
        } else {
            warnings.1 += 1;
        }
    }

    /// Keeps an error beside which the reading goes on.
    fn keep(&self, error: DescriptionError) {
        let mut errors = self.errors.borrow_mut();
        if errors.len() < WARNINGS_LIMIT {
            errors.push(error);
        }
    }

    /// All kept warnings, and the number of further ones.
    pub(super) fn into_warnings(self) -> (Vec<DescriptionError>, usize) {
        self.warnings.into_inner()
    }

    /// The errors beside which the reading has gone on.
    pub(super) fn into_errors(self) -> Vec<DescriptionError> {
        self.errors.into_inner()
    }
}

/// Reads each element. Where every error is wanted, the others are read after one that is wrong.
pub(super) fn for_each<'a>(
    elements: impl IntoIterator<Item = Element<'a>>,
    mut read: impl FnMut(Element<'a>) -> Result<(), DescriptionError>,
) -> Result<(), DescriptionError> {
    let mut last = Ok(());
    for element in elements {
        let Err(error) = read(element) else { continue };
        if let Err(earlier) = std::mem::replace(&mut last, Err(error)) {
            element.source.keep(earlier);
        }
        if element.source.strictness != Strictness::EveryError {
            break;
        }
    }
    last
}

/// An element of our namespace.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    node: Node<'a, 'a>,
    source: &'a XmlDocument<'a>,
    vocabulary: &'static Vocabulary,
    /// The [`bit`] of every attribute: most of the requested attributes are not written.
    written: u64,
}

/// One of 64 bits for the name of an attribute. The factors keep the names that nearly every variable has apart from all
/// others of FMI.
#[inline]
pub(super) const fn bit(name: &str) -> u64 {
    match name.as_bytes() {
        [first, .., last] => 1 << ((2 * name.len() + 12 * *first as usize + 13 * *last as usize) % 64),
        _ => 1,
    }
}

/// The bits of several names.
pub(super) const fn bits(names: &[&str]) -> u64 {
    match names {
        [] => 0,
        [first, others @ ..] => bit(first) | bits(others),
    }
}

/// An attribute as written.
#[derive(Clone, Copy)]
pub(super) struct Attribute<'a> {
    element: Element<'a>,
    name: &'a str,
    /// The value of the attribute; white space is normalised as XML says.
    pub(super) value: &'a str,
}

impl<'a> Element<'a> {
    fn new(node: Node<'a, 'a>, source: &'a XmlDocument<'a>, vocabulary: &'static Vocabulary) -> Element<'a> {
        let written = node.attributes().fold(0, |bits, attribute| bits | bit(attribute.name()));
        Element { node, source, vocabulary, written }
    }

    pub(super) fn name(self) -> &'a str {
        self.node.tag_name().name()
    }

    /// The names of the text that the description is of.
    pub(super) fn vocabulary(self) -> &'static Vocabulary {
        self.vocabulary
    }

    /// This element in the words of another text.
    pub(super) fn in_words_of(self, vocabulary: &'static Vocabulary) -> Element<'a> {
        Element { vocabulary, ..self }
    }

    /// For messages: `<Float64> "speed"`.
    pub(super) fn label(self) -> String {
        match self.node.attribute("name") {
            Some(name) => format!("<{}> {name:?}", self.name()),
            None => format!("<{}>", self.name()),
        }
    }

    /// The text in it, up to its first child.
    pub(super) fn content(self) -> &'a str {
        self.node.text().unwrap_or("")
    }

    /// The begin of the element.
    fn start(self) -> usize {
        places::tag(self.source.places.text(), self.name())
    }

    /// Line and column.
    pub(super) fn place(self) -> (u32, u32) {
        self.source.places.of(self.start())
    }

    pub(super) fn line(self) -> u32 {
        self.source.places.line(self.start())
    }

    pub(super) fn error(self, message: impl Into<String>) -> DescriptionError {
        error_at(&self.source.places, self.start(), message)
    }

    pub(super) fn warn(self, message: impl Into<String>) {
        self.source.warn(self.error(message));
    }

    /// Goes on beside an error that leaves a meaning to the rest, unless the reading is strict.
    pub(super) fn overlook(self, error: DescriptionError) -> Result<(), DescriptionError> {
        match self.source.strictness {
            Strictness::Strict => return Err(error),
            Strictness::Lenient => {
                let message = format!("{}: overlooked (lenient = true)", error.message);
                self.source.warn(DescriptionError { message, ..error });
            }
            Strictness::EveryError => self.source.keep(error),
        }
        Ok(())
    }

    /// The value that was read; `None`: none, for an error that is kept, where every error is wanted.
    pub(super) fn kept<T>(self, read: Result<T, DescriptionError>) -> Result<Option<T>, DescriptionError> {
        match read {
            Err(error) if self.source.strictness == Strictness::EveryError => {
                self.source.keep(error);
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// Child elements in document order.
    pub(super) fn children(self) -> impl Iterator<Item = Element<'a>> {
        let ours = move |node: &Node| node.is_element() && node.tag_name().namespace() == self.source.namespace;
        self.node.children().filter(ours).map(move |node| Element::new(node, self.source, self.vocabulary))
    }

    /// The attributes without a namespace.
    pub(super) fn attributes(self) -> impl Iterator<Item = Attribute<'a>> {
        self.node
            .attributes()
            .filter(|attribute| attribute.namespace().is_none())
            .map(move |attribute| self.own(attribute))
    }

    fn own(self, attribute: roxmltree::Attribute<'a, 'a>) -> Attribute<'a> {
        Attribute { element: self, name: attribute.name(), value: attribute.value() }
    }

    /// Whether an attribute with one of these [`bit`]s may be written.
    pub(super) fn may_have(self, bits: u64) -> bool {
        self.written & bits != 0
    }

    /// An attribute, if it is written and not of another text alone.
    #[inline]
    pub(super) fn attribute(self, name: &str) -> Option<Attribute<'a>> {
        if self.may_have(bit(name)) { self.find(name) } else { None }
    }

    fn find(self, name: &str) -> Option<Attribute<'a>> {
        let mut attributes = self.node.attributes();
        let found = attributes.find(|attribute| attribute.name() == name && attribute.namespace().is_none())?;
        Some(self.own(found)).filter(|attribute| attribute.foreign().is_none())
    }

    #[inline]
    pub(super) fn required(self, name: &str) -> Result<Attribute<'a>, DescriptionError> {
        self.attribute(name).ok_or_else(|| self.missing(name))
    }

    #[cold]
    fn missing(self, name: &str) -> DescriptionError {
        self.error(format!("{}: attribute `{name}` is missing", self.label()))
    }

    /// A text, owned.
    #[inline]
    pub(super) fn text(self, name: &str) -> Option<String> {
        self.attribute(name).map(|attribute| attribute.value.to_owned())
    }

    /// A text that is required; where every error is wanted, an empty one where it is missing.
    pub(super) fn kept_text(self, name: &str) -> Result<String, DescriptionError> {
        let text = self.kept(self.required(name))?;
        Ok(text.map_or_else(String::new, |attribute| attribute.value.to_owned()))
    }

    /// `name`, which is required and not empty.
    pub(super) fn unique_name(self) -> Result<&'a str, DescriptionError> {
        let name = self.required("name")?;
        if name.value.is_empty() { Err(name.error("is empty")) } else { Ok(name.value) }
    }

    /// `name`, which is required; no computation uses it: generators leave it empty.
    pub(super) fn label_name(self) -> Result<&'a str, DescriptionError> {
        let name = self.required("name")?;
        if name.value.is_empty() {
            name.warn("is empty");
        }
        Ok(name.value)
    }

    /// A number or boolean.
    #[inline]
    pub(super) fn scalar<T: Scalar>(self, name: &str) -> Result<Option<T>, DescriptionError> {
        self.attribute(name).map_or(Ok(None), Attribute::optional_scalar)
    }

    /// A boolean that is false where it is not written.
    #[inline]
    pub(super) fn flag(self, name: &str) -> Result<bool, DescriptionError> {
        Ok(self.scalar(name)?.unwrap_or(false))
    }

    /// Warns of every attribute that is in none of the lists.
    pub(super) fn warn_of_unknown_attributes(self, known: &[&[&str]]) {
        for attribute in self.attributes().filter(|attribute| !attribute.is_one_of(known)) {
            attribute.warn_unknown();
        }
    }

    /// Warns of an element that nothing here expects.
    pub(super) fn warn_unknown(self, inside: Element<'_>) {
        self.warn(format!("<{}> is unknown inside {} and ignored", self.name(), inside.label()));
    }
}

impl<'a> Attribute<'a> {
    pub(super) fn name(self) -> &'a str {
        self.name
    }

    /// The element that has it.
    pub(super) fn element(self) -> Element<'a> {
        self.element
    }

    /// Whether it is in one of the lists, and not of another text alone.
    pub(super) fn is_one_of(self, lists: &[&[&str]]) -> bool {
        lists.iter().any(|list| list.contains(&self.name)) && self.foreign().is_none()
    }

    /// The text that alone has it, if that is not the description's.
    fn foreign(self) -> Option<Abi> {
        self.element.vocabulary().foreign(self.element.name(), self.name)
    }

    /// The begin of the attribute.
    fn start(self) -> usize {
        let text = self.element.source.places.text();
        let name = places::offset(text, self.name).unwrap_or(0);
        // It has white space before it, and `:name` is one without a namespace too.
        if text[..name].ends_with(':') { name - 1 } else { name }
    }

    /// Line and column.
    pub(super) fn place(self) -> (u32, u32) {
        self.element.source.places.of(self.start())
    }

    /// Warns that nothing here expects it.
    pub(super) fn warn_unknown(self) {
        match self.foreign() {
            Some(home) => self.warn(format!("belongs to {} and is ignored", home.name())),
            None => self.warn("is unknown and ignored"),
        }
    }

    fn message(self, what: &str) -> String {
        const SHOWN: usize = 60;
        let value = match self.value.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &self.value[..end]),
            None => self.value.to_owned(),
        };
        format!("{}: {}={value:?} {what}", self.element.label(), self.name)
    }

    /// An error here: `<element> "name": attribute="value" ` and the message.
    pub(super) fn error(self, what: impl AsRef<str>) -> DescriptionError {
        error_at(&self.element.source.places, self.start(), self.message(what.as_ref()))
    }

    pub(super) fn warn(self, what: impl AsRef<str>) {
        self.element.source.warn(self.error(what));
    }

    pub(super) fn scalar<T: Scalar>(self) -> Result<T, DescriptionError> {
        T::read(self.value.trim_ascii()).ok_or_else(|| self.error(format!("is not {}", T::WHAT)))
    }

    /// A number or boolean that need not be there.
    pub(super) fn optional_scalar<T: Scalar>(self) -> Result<Option<T>, DescriptionError> {
        match self.scalar() {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.element.overlook(error).map(|()| None),
        }
    }

    /// A white-space separated list.
    pub(super) fn list<T: Scalar>(self) -> Result<Vec<T>, DescriptionError> {
        let item = |item: &str| {
            T::read(item).ok_or_else(|| self.error(format!("has an item {item:?} that is not {}", T::WHAT)))
        };
        let mut words = self.value.split_ascii_whitespace();
        match (words.next(), words.next()) {
            // Nearly all lists: no larger than it must be.
            (Some(only), None) => Ok(vec![item(only)?]),
            _ => self.value.split_ascii_whitespace().map(item).collect(),
        }
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(self, words: &[(&str, T)]) -> Result<T, DescriptionError> {
        match words.iter().find(|(word, _)| *word == self.value.trim_ascii()) {
            Some((_, value)) => Ok(*value),
            None => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(self.error(format!("is none of {}", words.join(", "))))
            }
        }
    }
}
