//! Builds one library: its parts, its key in the cache, the calls of the compilers.

use super::choices::BuildChoices;
use super::compiler::{Compiler, Workplace};
use super::dialect::{self, CompileSettings};
use super::error::BuildError;
use super::jail::Jail;
use super::language::SourceLanguage;
use super::sources::{BuildConfiguration, LinkedLibrary, SourceFileSet};
use super::{description, inputs, listed};
use crate::cache::{Cache, CacheKey};
use crate::platform;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use vecud_description::{Abi, InterfaceOffer};
use vecud_linux::files;
use vecud_linux::stop::StopToken;

/// Part of the cache's keys: increased when the same inputs would be built differently.
const FORMAT: &str = "3";
const LONGEST_DESCRIPTION: u64 = 16 << 20;

/// Before a set's own options, so that those win. Contraction is off so that every processor computes the same.
const COMPILE: [&str; 4] = ["-fPIC", "-O2", "-g", "-ffp-contract=off"];
const LINK: [&str; 3] = ["-shared", "-Wl,-rpath,$ORIGIN", "-Wl,-z,defs"];
/// The file with the dialect's macros, in the folder of the build.
const MACROS: &str = "vecud_macros.h";
/// Variables that the compilers also read.
const ENVIRONMENT: [&str; 4] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"];

/// Everything that is settled before a compiler runs.
struct BuildPlan<'a> {
    /// The FMU's folder.
    root: &'a Path,
    model_identifier: &'a str,
    dialect: CompileSettings,
    /// Macros that sources see before their first line; may be empty.
    macros: String,
    configuration: BuildConfiguration,
    choices: &'a BuildChoices,
    /// Per source file set, in order.
    compilers: Vec<Compiler>,
    linker: Compiler,
    /// The libraries in the form of the linker.
    libraries: Vec<OsString>,
    /// The folder of `binaries` whose shared libraries the new one needs beside it.
    beside: Option<PathBuf>,
}

/// Builds the library of the interface type `offer` from the folder `sources` of an FMU of `abi` for this machine, or finds it in
/// `cache`. The path's last component is `<model identifier>.so`.
pub fn build(
    sources: &Path,
    abi: Abi,
    offer: &InterfaceOffer,
    choices: &BuildChoices,
    cache: &Cache,
) -> Result<PathBuf, BuildError> {
    let model_identifier = &offer.common().model_identifier;
    let configuration = configuration(sources, abi, offer, choices, cache.stop())?;
    let plan = plan(sources, abi, offer, configuration, choices)?;
    let key = plan.key(cache.stop())?;
    let file = format!("{model_identifier}.so");
    let entry = format!("lib-v{FORMAT}-{key}");
    if let Some(files) = cache.find(&entry) {
        return Ok(files.join(file));
    }
    // Somebody else may make the same meanwhile.
    let interrupted = || BuildError::Interrupted { what: file.clone() };
    let _permit = cache.builds().wait(cache.stop()).ok_or_else(interrupted)?;
    let files = cache.get_or_make(
        &entry,
        |_| true,
        |target| {
            plan.make(target, &file, cache.stop())?;
            // What was compiled must be what was hashed.
            match plan.key(cache.stop())? == key {
                true => Ok(()),
                false => Err(BuildError::Changed),
            }
        },
    )?;
    Ok(files.join(file))
}

/// Determines the build configuration: from the build description, which may be missing before FMI 3.0.
fn configuration(
    sources: &Path,
    abi: Abi,
    offer: &InterfaceOffer,
    choices: &BuildChoices,
    stop: &StopToken,
) -> Result<BuildConfiguration, BuildError> {
    let model_identifier = &offer.common().model_identifier;
    if let Some(text) = read_description(sources)? {
        let has_compiler = |set: &SourceFileSet| compiler_of(set).identity(stop).is_ok();
        return description::parse(&text, model_identifier, choices, has_compiler);
    }
    let whole = dialect::whole(abi, model_identifier).ok_or(BuildError::NoBuildDescription)?;
    if let Some(name) = choices.definitions.keys().next() {
        let detail = "is for FMUs with a build description, which leaves it open, and this one has none".to_owned();
        return Err(BuildError::Definition { name: name.clone(), detail });
    }
    listed::configuration(sources, offer.common(), &whole)
}

/// The text of the build description, if there is one.
fn read_description(sources: &Path) -> Result<Option<String>, BuildError> {
    let path = sources.join("buildDescription.xml");
    let failed = |source| file_error(&path, source);
    let file = match files::open(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    let mut text = String::new();
    file.take(LONGEST_DESCRIPTION).read_to_string(&mut text).map_err(failed)?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

fn plan<'a>(
    sources: &'a Path,
    abi: Abi,
    offer: &'a InterfaceOffer,
    configuration: BuildConfiguration,
    choices: &'a BuildChoices,
) -> Result<BuildPlan<'a>, BuildError> {
    let root = sources.parent().unwrap_or(sources);
    let all = configuration.sets.iter().flat_map(|set| &set.sources);
    if let Some(missing) = all.clone().find(|source| !root.join(&source.path).is_file()) {
        return Err(BuildError::Description {
            file: configuration.described_in,
            at: missing.at,
            detail: format!(
                "{} does not exist in the FMU; ask for one with all of its sources",
                missing.path.display()
            ),
        });
    }
    let compilers: Vec<Compiler> = configuration.sets.iter().map(compiler_of).collect();
    // C++ objects need the C++ compiler's libraries, which only a C++ driver links.
    let cpp = configuration.sets.iter().find(|set| set_language(set).cpp);
    let named = |set: &SourceFileSet| set.compiler.clone();
    let linker = match cpp {
        Some(set) => {
            let driver = named(set).filter(|name| name.contains("++") || name.contains("icpx"));
            Compiler::choose(driver.as_deref(), set_language(set))
        }
        None => compilers[0].clone(),
    };
    let model_identifier = &offer.common().model_identifier;
    let mut plan = BuildPlan {
        root,
        model_identifier,
        dialect: dialect::of(abi),
        macros: dialect::macros(abi, offer.interface(), model_identifier),
        configuration,
        choices,
        compilers,
        linker,
        libraries: Vec::new(),
        beside: None,
    };
    plan.find_libraries()?;
    Ok(plan)
}

/// The compiler that a set names, else the system's for its language.
fn compiler_of(set: &SourceFileSet) -> Compiler {
    Compiler::choose(set.compiler.as_deref(), set_language(set))
}

/// C++ as soon as one file is.
fn set_language(set: &SourceFileSet) -> SourceLanguage {
    let by_file = |cpp| SourceLanguage { cpp, version: None };
    let any_cpp = set.sources.iter().any(|source| SourceLanguage::of_file(&source.path).cpp);
    set.language.unwrap_or(by_file(any_cpp))
}

impl BuildPlan<'_> {
    fn find_libraries(&mut self) -> Result<(), BuildError> {
        for library in &self.configuration.libraries {
            if library.external {
                let is_file_name = library.name.ends_with(".a") || library.name.contains(".so");
                let colon = if is_file_name { ":" } else { "" };
                self.libraries.push(format!("-l{colon}{}", library.name).into());
                continue;
            }
            let path = self.contained(library)?;
            if path.extension().is_none_or(|extension| extension != "a") {
                self.beside = path.parent().map(Path::to_path_buf);
            }
            self.libraries.push(path.into());
        }
        Ok(())
    }

    /// The file of a library that the FMU contains, in the folder of its configuration's platform or of this machine.
    fn contained(&self, library: &LinkedLibrary) -> Result<PathBuf, BuildError> {
        let name = &library.name;
        let names =
            [name.clone(), format!("lib{name}.a"), format!("lib{name}.so"), format!("{name}.a"), format!("{name}.so")];
        let mut tuples: Vec<String> = self.configuration.platform.iter().cloned().collect();
        tuples.extend(platform::of_this_machine());
        for tuple in &tuples {
            let folder = self.root.join("binaries").join(tuple);
            if let Some(path) = names.iter().map(|n| folder.join(n)).find(|p| p.is_file()) {
                if !self.choices.trusted {
                    self.check_library(&path, library)?;
                }
                return Ok(path);
            }
        }
        Err(self.wrong_library(library, &format!("is not in binaries/{} of the FMU", tuples[0])))
    }

    /// A contained library is object code: a linker reads any other file as a script, which may name files of its own, and a thin
    /// archive is nothing but such names.
    fn check_library(&self, path: &Path, library: &LinkedLibrary) -> Result<(), BuildError> {
        let mut begin = Vec::new();
        files::open(path).and_then(|file| file.take(8).read_to_end(&mut begin)).map_err(|e| file_error(path, e))?;
        if begin.starts_with(b"\x7fELF") || begin == b"!<arch>\n" {
            return Ok(());
        }
        let what = "is neither an ELF file nor an archive of such, so it is not given to the linker";
        Err(self.wrong_library(library, what))
    }

    fn wrong_library(&self, library: &LinkedLibrary, what: &str) -> BuildError {
        let detail = format!("library {} {what}", library.name);
        BuildError::Description { file: self.configuration.described_in, at: Some(library.at), detail }
    }

    fn key(&self, stop: &StopToken) -> Result<String, BuildError> {
        let mut key = CacheKey::new();
        key.add("format", FORMAT);
        key.add("model identifier", self.model_identifier);
        key.add("platform", &platform::of_this_machine()[0]);
        for (name, text) in self.dialect.headers {
            key.add(name, text);
        }
        key.add(MACROS, &self.macros);
        for flag in [&COMPILE[..], self.dialect.compile, &LINK, self.dialect.link].concat() {
            key.add("flag", flag);
        }
        // Of those that lie in the FMU, these are compiled.
        for source in self.configuration.sets.iter().flat_map(|set| &set.sources) {
            key.add("source", source.path.as_os_str().as_encoded_bytes());
        }
        key.add("trusted", [u8::from(self.choices.trusted)]);
        for (name, value) in &self.choices.definitions {
            key.add("defined", name);
            key.add(if value.is_some() { "as" } else { "not" }, value.as_deref().unwrap_or_default());
        }
        for name in ENVIRONMENT {
            let value = std::env::var_os(name).unwrap_or_default();
            key.add(name, value.as_encoded_bytes());
        }
        for compiler in self.known_compilers() {
            key.add("compiler", compiler.identity(stop)?);
        }
        inputs::add_files(&mut key, self.root, &self.inputs())?;
        Ok(key.finish())
    }

    /// Each compiler once.
    fn known_compilers(&self) -> Vec<&Compiler> {
        let mut known: Vec<&Compiler> = Vec::new();
        for compiler in self.compilers.iter().chain([&self.linker]) {
            if !known.contains(&compiler) {
                known.push(compiler);
            }
        }
        known
    }

    /// The files, and folders of files, that decide what is built.
    fn inputs(&self) -> BTreeSet<PathBuf> {
        let mut roots = BTreeSet::from([self.root.join("sources")]);
        for set in &self.configuration.sets {
            roots.extend(set.sources.iter().map(|source| self.root.join(&source.path)));
            roots.extend(set.includes.iter().map(|path| self.root.join(path)));
        }
        let libraries = self.libraries.iter().map(PathBuf::from);
        roots.extend(libraries.filter(|path| path.is_absolute()));
        roots.extend(self.beside.clone());
        roots
    }

    /// Compiles and links into the folder `target`, which then holds the library, what it needs beside it, and a log.
    fn make(&self, target: &Path, file: &str, stop: &StopToken) -> Result<(), BuildError> {
        let jail = if self.choices.trusted { None } else { Some(self.jail(target, stop)?) };
        let work = tempfile::Builder::new().prefix("work-").tempdir_in(target).map_err(|e| file_error(target, e))?;
        for (name, text) in self.dialect.headers.iter().copied().chain([(MACROS, self.macros.as_str())]) {
            let path = work.path().join(name);
            fs::write(&path, text).map_err(|e| file_error(&path, e))?;
        }
        let empty = work.path().join("empty");
        fs::create_dir(&empty).map_err(|e| file_error(&empty, e))?;
        let place = Workplace { folder: work.path(), jail, stop };
        let mut log = String::new();
        let mut objects: Vec<OsString> = Vec::new();
        for (set, compiler) in self.configuration.sets.iter().zip(&self.compilers) {
            for source in &set.sources {
                let object = work.path().join(format!("{}.o", objects.len()));
                let mut arguments = self.compile_arguments(set, &source.path, work.path());
                arguments.extend(["-c".into(), self.root.join(&source.path).into()]);
                arguments.extend(["-o".into(), object.clone().into()]);
                let name = source.path.display().to_string();
                log += &compiler.run(&name, &arguments, &place)?;
                objects.push(object.into());
            }
        }
        if let Some(folder) = &self.beside {
            copy_files(folder, target)?;
        }
        let library = target.join(file);
        // A binary of the same name that was copied along is not what gets built here.
        let _ = fs::remove_file(&library);
        let mut arguments: Vec<OsString> = LINK.iter().chain(self.dialect.link).map(OsString::from).collect();
        let set_options = self.configuration.sets.iter().flat_map(|set| &set.options);
        arguments.extend(set_options.filter(|option| concerns_linker(option)).map(OsString::from));
        arguments.push(format!("-Wl,-soname,{file}").into());
        arguments.extend(["-o".into(), library.into()]);
        arguments.extend(objects);
        arguments.push("-Wl,--start-group".into());
        arguments.extend(self.libraries.iter().cloned());
        arguments.push("-Wl,--end-group".into());
        arguments.extend(["-lm", "-ldl", "-pthread"].map(OsString::from));
        log += &self.linker.run(file, &arguments, &place)?;
        let path = target.join("build.log");
        fs::write(&path, log).map_err(|e| file_error(&path, e))?;
        work.close().map_err(|e| file_error(target, e))
    }

    fn compile_arguments(&self, set: &SourceFileSet, source: &Path, headers: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = COMPILE.iter().chain(self.dialect.compile).map(OsString::from).collect();
        if !self.macros.is_empty() {
            arguments.extend(["-imacros".into(), headers.join(MACROS).into()]);
        }
        let mut include = |path: PathBuf| {
            arguments.push("-I".into());
            arguments.push(path.into());
        };
        for folder in &set.includes {
            include(self.root.join(folder));
        }
        include(headers.to_path_buf());
        include(self.root.join("sources"));
        arguments.extend(set.definitions.iter().map(|d| OsString::from(format!("-D{d}"))));
        // The language before the set's options, so that a version given there wins.
        let is_assembly = source.extension().is_some_and(|e| e == "s" || e == "S");
        if !is_assembly {
            let language = set.language.unwrap_or(SourceLanguage::of_file(source));
            arguments.extend(language.options().into_iter().map(OsString::from));
        }
        arguments.extend(set.options.iter().map(OsString::from));
        arguments
    }

    /// The access of this build's compilers, when they build into `target`.
    fn jail(&self, target: &Path, stop: &StopToken) -> Result<Jail, BuildError> {
        let mut jail = Jail::new(target);
        for compiler in self.known_compilers() {
            jail.allow(compiler.search_folders(stop));
        }
        jail.allow([self.root.to_owned()]);
        // What links in a folder of the user's lead to is his own affair, and there are none in archives.
        jail.allow(inputs::files(&self.inputs())?);
        Ok(jail)
    }
}

/// Whether an option is for the linker too. Not `-ffast-math`: it would change the floating-point control word of every
/// thread in the process.
fn concerns_linker(option: &str) -> bool {
    const PREFIXES: [&str; 7] = ["-fopenmp", "-fsanitize", "-flto", "-fprofile", "-m", "-stdlib=", "-pthread"];
    PREFIXES.iter().any(|prefix| option.starts_with(prefix))
}

/// Copies the plain files of one folder.
fn copy_files(from: &Path, to: &Path) -> Result<(), BuildError> {
    for entry in fs::read_dir(from).map_err(|e| file_error(from, e))? {
        let path = entry.map_err(|e| file_error(from, e))?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, to.join(name)).map_err(|e| file_error(&path, e))?;
        }
    }
    Ok(())
}

fn file_error(path: &Path, source: std::io::Error) -> BuildError {
    BuildError::File { path: path.to_path_buf(), source }
}
