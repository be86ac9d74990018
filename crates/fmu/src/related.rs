//! Further files of an FMU, with their purposes: the layered standard FMI-LS-REF (1.0.0-beta.1), whose manifest lies in
//! `extra/org.fmi-standard.fmi-ls-ref`. Pure: text in, value out.

#![forbid(unsafe_code)]

use roxmltree::{Document, Node, ParsingOptions};
use std::path::{Component, Path, PathBuf};
use vecud_base::places::{self, LineIndex};
use vecud_description::guard;

/// The folder of the layered standard in an FMU.
pub const FOLDER: &str = "extra/org.fmi-standard.fmi-ls-ref";
/// The manifest, by its path in an FMU.
pub const MANIFEST: &str = "extra/org.fmi-standard.fmi-ls-ref/fmi-ls-manifest.xml";
/// The name of the layered standard.
const NAME: &str = "org.fmi-standard.fmi-ls-ref";
/// The namespace of the attributes that every manifest has.
const NAMESPACE: &str = "http://fmi-standard.org/fmi-ls-manifest";

/// The content of the manifest.
#[derive(Debug, Default, PartialEq)]
pub struct Manifest {
    /// The files that it names, in its order.
    pub files: Vec<Related>,
    /// Breaches of the standard in the manifest.
    pub remarks: Vec<ManifestError>,
}

/// A file that the manifest names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// `source`: a URI.
    pub source: String,
    /// `type`: its MIME type.
    pub mime_type: String,
    /// `role`: what it is for.
    pub role: String,
    /// Line and column of the element.
    pub at: (u32, u32),
}

/// The place of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Home {
    /// The file is in the FMU, at this path.
    Inside(PathBuf),
    /// Somewhere else: on the network, or outside of the FMU.
    Outside,
}

/// A defect of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestError {
    /// Line and column.
    pub at: (u32, u32),
    /// The defect.
    pub message: String,
    /// The defect is a formality: the files are known nevertheless.
    pub is_formal: bool,
}

impl Related {
    /// Whether it is the result of a simulation.
    pub fn is_result(&self) -> bool {
        self.role == "result"
    }

    /// Whether it describes an experiment.
    pub fn is_experiment(&self) -> bool {
        self.role == "experiment" || self.role.starts_with("experiment/")
    }

    /// Whether it is a table in CSV.
    pub fn is_csv(&self) -> bool {
        let has_ending = self.source.len() >= 4 && self.source.to_ascii_lowercase().ends_with(".csv");
        self.mime_type == "text/csv" || (self.mime_type == GENERIC && has_ending)
    }

    /// The place of the file.
    pub fn home(&self) -> Home {
        let (Some(path), false) = (unescaped(&self.source), has_scheme(&self.source)) else { return Home::Outside };
        if path.starts_with('/') {
            return Home::Outside;
        }
        let mut home = PathBuf::from(FOLDER);
        for part in Path::new(&path).components() {
            match part {
                Component::Normal(name) => home.push(name),
                Component::CurDir => {}
                Component::ParentDir if home.pop() => {}
                _ => return Home::Outside,
            }
        }
        Home::Inside(home)
    }
}

/// The type of a file if the manifest does not give one.
const GENERIC: &str = "application/octet-stream";

/// Whether a URI says how to get what it names (`http:`, `file:`).
fn has_scheme(uri: &str) -> bool {
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| !scheme.is_empty() && !scheme.contains(['/', '.']))
}

/// The path of a relative URI, without its escapes (`%20`); `None`: it is none.
fn unescaped(uri: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = uri.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            b'\\' | 0 => return None,
            byte => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok().filter(|path| !path.contains('\0') && !path.is_empty())
}

/// The roles that there are; what follows a `/` is more exact.
const ROLES: [&str; 19] = [
    "document",
    "requirement",
    "specification",
    "model",
    "parameter",
    "system",
    "testcase",
    "experiment",
    "result",
    "method",
    "rationale",
    "report",
    "request",
    "delivery",
    "configuration",
    "signature",
    "serialized-state",
    "meta-data",
    "other",
];

/// Reads a manifest.
///
/// # Errors
/// The text is no XML, or no manifest.
pub fn parse(text: &str) -> Result<Manifest, ManifestError> {
    let wrong = |at, message: String| ManifestError { at, message, is_formal: false };
    let places = LineIndex::new(text);
    guard::check(text).map_err(|(at, message)| wrong(places.of(at), message))?;
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| wrong((error.pos().row, error.pos().col), error.to_string()))?;
    let root = document.root_element();
    let at = |node: Node| places.of(places::tag(text, node.tag_name().name()));
    if root.tag_name().name() != "fmiReferences" {
        return Err(wrong(at(root), format!("<fmiReferences> expected, <{}> found", root.tag_name().name())));
    }
    let mut manifest = Manifest::default();
    let mut formal = |node, message: String| {
        manifest.remarks.push(ManifestError { at: at(node), message, is_formal: true });
    };
    for name in ["fmi-ls-name", "fmi-ls-version", "fmi-ls-description"] {
        match root.attribute((NAMESPACE, name)) {
            None => formal(root, format!("attribute `{name}` is missing")),
            Some(other) if name == "fmi-ls-name" && other != NAME => {
                formal(root, format!("fmi-ls-name=\"{other}\" is not {NAME}, as its folder says"));
            }
            Some(_) => {}
        }
    }
    for node in root.children().filter(|node| node.has_tag_name("Related")) {
        let (Some(source), Some(role)) = (node.attribute("source"), node.attribute("role")) else {
            let message = "a <Related> needs `source` and `role`: the file that it is about, and what that is for";
            manifest.remarks.push(wrong(at(node), message.to_owned()));
            continue;
        };
        let main = role.split('/').next().unwrap_or_default();
        if !ROLES.contains(&main) {
            let message = format!("role=\"{role}\" is none of the roles that there are");
            manifest.remarks.push(ManifestError { at: at(node), message, is_formal: true });
        }
        manifest.files.push(Related {
            source: source.to_owned(),
            mime_type: node.attribute("type").unwrap_or(GENERIC).to_owned(),
            role: role.to_owned(),
            at: at(node),
        });
    }
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(attributes: &str, files: &str) -> String {
        format!("<fmiReferences xmlns:fmi-ls=\"{NAMESPACE}\"\n  {attributes}>\n{files}\n</fmiReferences>")
    }

    const FORMAL: &str = "fmi-ls:fmi-ls-name=\"org.fmi-standard.fmi-ls-ref\" fmi-ls:fmi-ls-version=\"1\" fmi-ls:fmi-ls-description=\"x\"";

    #[test]
    fn files_have_their_roles_and_their_places() {
        let files = "<Related type=\"text/csv\" source=\"a%20b.csv\" role=\"result\"/>\n\
                     <Related source=\"../../documentation/x.pdf\" role=\"document\"/>\n\
                     <Related source=\"e.exp\" role=\"experiment/validation\"/>";
        let read = parse(&manifest(FORMAL, files)).unwrap();
        assert_eq!(read.remarks, []);
        let [result, document, experiment] = read.files.as_slice() else { panic!("{read:?}") };
        assert!(result.is_result() && result.is_csv() && result.at == (3, 1), "{result:?}");
        assert_eq!(result.home(), Home::Inside(PathBuf::from(FOLDER).join("a b.csv")));
        assert_eq!(document.home(), Home::Inside(PathBuf::from("documentation/x.pdf")));
        assert!(experiment.is_experiment() && !experiment.is_csv());
    }

    #[test]
    fn nothing_outside_of_the_fmu_is_taken_for_a_part_of_it() {
        for source in
            ["/etc/passwd", "../../../x", "http://example.com/x.csv", "file:///x", "a%00b", "%zz", "..\\x", ""]
        {
            let related =
                Related { source: source.to_owned(), mime_type: String::new(), role: String::new(), at: (1, 1) };
            let home = related.home();
            assert_eq!(home, Home::Outside, "{source}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let read = parse(&manifest("", "<Related source=\"a\"/><Related source=\"a\" role=\"results\"/>")).unwrap();
        let told: Vec<(&str, (u32, u32))> = read.remarks.iter().map(|own| (own.message.as_str(), own.at)).collect();
        assert_eq!((told.len(), told[0].1, told[3].1), (5, (1, 1), (3, 1)), "{told:?}");
        assert!(told[3].0.contains("`source` and `role`") && told[4].0.contains("none of the roles"), "{told:?}");
        assert!(parse("<other/>").unwrap_err().message.contains("<fmiReferences> expected"));
        assert_eq!(parse("<a>\n<b></a>").unwrap_err().at.0, 2);
    }
}
