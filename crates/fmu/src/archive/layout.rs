//! The layout of an FMU's files, compared with the standard (FMI 3.0.2, 2.5.1; FMI 2.0.5, 2.3; FMI 1.0, 2.3): oddities that do not
//! keep vecud from opening it, but that other tools may stumble over.

use std::fs::{self, File};
use std::path::Path;

use super::directory::{self, read_error};
use super::error::ArchiveError;
use super::limits::ArchiveLimits;
use super::unpacked::{Unpacked, names_in};
use vecud_description::{Abi, ModelDescription};
use vecud_linux::files;

/// Something about the layout of an FMU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The entry that it is about; empty: the FMU as a whole.
    pub entry: String,
    /// The oddity, and its remedy.
    pub what: String,
    /// The standard forbids it; otherwise it is merely unusual, or discouraged.
    pub is_breach: bool,
}

/// Collects oddities.
#[derive(Default)]
struct Oddities(Vec<Oddity>);

impl Oddities {
    fn breach(&mut self, entry: impl Into<String>, what: impl Into<String>) {
        self.0.push(Oddity { entry: entry.into(), what: what.into(), is_breach: true });
    }

    fn odd(&mut self, entry: impl Into<String>, what: impl Into<String>) {
        self.0.push(Oddity { entry: entry.into(), what: what.into(), is_breach: false });
    }
}

impl Unpacked {
    /// Oddities of the FMU's files and, if it is an archive, of its packing.
    ///
    /// # Errors
    /// The files of the FMU cannot be read.
    pub fn oddities(&self, description: &ModelDescription) -> Result<Vec<Oddity>, ArchiveError> {
        let mut oddities = Oddities::default();
        let abi = description.abi;
        if self.origin.is_file() {
            if self.origin.extension().is_none_or(|end| end != "fmu") {
                oddities.odd("", "the name of an FMU ends in .fmu: others may not take it for one");
            }
            packing(&self.origin, abi, &mut oddities)?;
        }
        self.top_level(abi, &mut oddities)?;
        self.implementations(abi, &mut oddities)?;
        let needs_tool = description.interfaces.iter().any(|offer| offer.common().needs_execution_tool);
        self.documents(abi, needs_tool, &mut oddities)?;
        for name in names_in(&self.root.join("extra"), |_| true)? {
            let is_reverse_domain = name.contains('.') && !name.starts_with('.');
            if !is_reverse_domain && !JUNK.contains(&name.as_str()) {
                let what =
                    "should be named as a domain in reverse (com.example.tool), so that nobody else uses the name";
                oddities.odd(format!("extra/{name}"), what);
            }
        }
        Ok(oddities.0)
    }

    fn has(&self, path: &str) -> bool {
        self.root.join(path).is_file()
    }

    fn top_level(&self, abi: Abi, oddities: &mut Oddities) -> Result<(), ArchiveError> {
        let known = known_at_the_top(abi);
        for name in names_in(&self.root, |_| true)? {
            if known.contains(&name.as_str()) {
                continue;
            }
            let meant = known.iter().find(|known| known.eq_ignore_ascii_case(&name));
            if JUNK.contains(&name.as_str()) {
                oddities.odd(&name, "is left behind by a file manager, and no part of an FMU: leave it out");
            } else if let Some(meant) = meant {
                let what = format!("is not {meant}, as the standard writes it, and will not be found under that name");
                oddities.breach(&name, what);
            } else {
                let home =
                    if abi == Abi::Fmi1 { "resources/" } else { "resources/, or extra/ if it is no part of the model" };
                oddities.odd(
                    &name,
                    format!("is none of the names that the standard gives at the top: its place is {home}"),
                );
            }
        }
        Ok(())
    }

    fn implementations(&self, abi: Abi, oddities: &mut Oddities) -> Result<(), ArchiveError> {
        let tuples = names_in(&self.root.join("binaries"), |path| path.is_dir())?;
        let sources = names_in(&self.root.join("sources"), |_| true)?;
        if tuples.is_empty() && sources.is_empty() {
            oddities
                .breach("", "there are neither binaries nor sources: nobody can run it; export it with one of them");
        }
        if abi == Abi::Fmi3 && !sources.is_empty() && !self.has("sources/buildDescription.xml") {
            oddities.breach("sources", "has no buildDescription.xml, so that nobody knows how to build it");
        }
        for tuple in &tuples {
            let (is_early, is_fmi3) = (BEFORE_FMI3.contains(&tuple.as_str()), matches!(abi, Abi::Fmi3 | Abi::Draft));
            let strange = match is_fmi3 {
                true if is_early => Some(("FMI 1.0 and 2.0", "FMI 3.0")),
                false if tuple.contains('-') => Some(("FMI 3.0", "FMI 1.0 and 2.0")),
                _ => None,
            };
            if let Some((other, own)) = strange {
                let what = format!("is named as in {other}; importers of {own} look for other names");
                oddities.odd(format!("binaries/{tuple}"), what);
            }
            let is_empty = names_in(&self.root.join("binaries").join(tuple), |_| true)?.is_empty();
            if is_empty {
                oddities.odd(format!("binaries/{tuple}"), "is empty");
            }
        }
        Ok(())
    }

    fn documents(&self, abi: Abi, needs_tool: bool, oddities: &mut Oddities) -> Result<(), ArchiveError> {
        let has_one = |names: &[&str]| names.iter().any(|name| self.has(name));
        let documentation = self.root.join("documentation");
        if matches!(abi, Abi::Fmi2 | Abi::Fmi3) && documentation.is_dir() && !self.has("documentation/index.html") {
            oddities.odd("documentation", "has no index.html, where readers begin");
        }
        if abi != Abi::Fmi3 {
            return Ok(());
        }
        let licenses = ["spdx", "txt", "html"].map(|end| format!("documentation/licenses/license.{end}"));
        if documentation.join("licenses").is_dir() && !licenses.iter().any(|name| self.has(name)) {
            oddities.breach("documentation/licenses", "has no license.txt, license.html or license.spdx to begin with");
        }
        let dependencies = ["documentation/externalDependencies.txt", "documentation/externalDependencies.html"];
        if needs_tool && !has_one(&dependencies) {
            let what = "it needs a tool on the machine (needsExecutionTool), and has no documentation/externalDependencies.txt \
                        or .html that says which";
            oddities.breach("", what);
        }
        for image in ["documentation/diagram", "terminalsAndIcons/icon"] {
            if self.has(&format!("{image}.svg")) && !self.has(&format!("{image}.png")) {
                oddities
                    .breach(format!("{image}.svg"), format!("needs {image}.png beside it, for tools that draw no SVG"));
            }
        }
        Ok(())
    }
}

/// Files that file managers leave in archives.
const JUNK: [&str; 4] = ["__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"];
/// Platforms of FMI 1.0 and 2.0.
const BEFORE_FMI3: [&str; 6] = ["win32", "win64", "linux32", "linux64", "darwin32", "darwin64"];

/// The names at the top of an FMU by the standard. Folders that came with a later patch release, or were made for earlier versions
/// as well, harm nobody.
fn known_at_the_top(abi: Abi) -> &'static [&'static str] {
    match abi {
        Abi::Fmi1 => &["modelDescription.xml", "model.png", "documentation", "sources", "binaries", "resources"],
        Abi::Fmi2 => &[
            "modelDescription.xml",
            "model.png",
            "documentation",
            "licenses",
            "sources",
            "binaries",
            "resources",
            "extra",
            "terminalsAndIcons",
        ],
        Abi::Fmi3 | Abi::Draft => {
            &["modelDescription.xml", "documentation", "terminalsAndIcons", "sources", "binaries", "resources", "extra"]
        }
    }
}

/// Oddities of the archive's packing.
fn packing(path: &Path, abi: Abi, oddities: &mut Oddities) -> Result<(), ArchiveError> {
    let failed = |source| read_error(path, source);
    let file: File = files::open(path).map_err(failed)?;
    let zip = directory::read(&file, path, &ArchiveLimits::default())?;
    let headers = directory::headers(&file, zip.central_directory_start()).map_err(failed)?;
    // Only FMI 3.0 says how; what it says was common before.
    let is_forbidden = abi == Abi::Fmi3;
    let mut told = |is_breach: bool, names: Vec<&str>, what: &str| {
        let Some(first) = names.first() else { return };
        let more = if names.len() > 1 { format!(" (and {} more entries)", names.len() - 1) } else { String::new() };
        oddities.0.push(Oddity { entry: (*first).to_owned(), what: format!("{what}{more}"), is_breach });
    };
    let of = |is_so: &dyn Fn(&directory::Header) -> bool| -> Vec<&str> {
        headers.iter().filter(|header| is_so(header)).map(|header| header.name.as_str()).collect()
    };
    let newer = of(&|header| header.version_needed & 0xFF > 20);
    told(
        is_forbidden,
        newer,
        "needs a newer program to unpack than version 2.0 of ZIP, which is the newest that FMUs may need",
    );
    let streamed = of(&|header| header.flags & 8 != 0 && header.method == 0);
    told(
        is_forbidden,
        streamed,
        "is stored without compression and has its size behind it (bit 3), which only deflated entries may",
    );
    let mut seen = std::collections::HashSet::new();
    let again = headers.iter().map(|header| header.name.as_str()).filter(|name| !seen.insert(*name)).collect();
    told(false, again, "occurs twice, with the same content");
    let foreign = of(&|header| !header.name.is_ascii());
    told(false, foreign, "has characters beyond ASCII in its name, with which some systems have trouble");
    Ok(())
}

/// The number of files below a folder, and their length together.
pub fn extent(folder: &Path) -> Result<(usize, u64), ArchiveError> {
    let (mut files, mut bytes, mut open) = (0, 0_u64, vec![folder.to_owned()]);
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).map_err(|source| read_error(&path, source))? {
            let entry = entry.map_err(|source| read_error(&path, source))?;
            // A link of the user's own is not followed: it may lead in a circle.
            let metadata = entry.metadata().map_err(|source| read_error(&entry.path(), source))?;
            match metadata.is_dir() {
                true => open.push(entry.path()),
                false => (files, bytes) = (files + 1, bytes.saturating_add(metadata.len())),
            }
        }
    }
    Ok((files, bytes))
}
