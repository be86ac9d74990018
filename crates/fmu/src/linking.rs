//! Which files the dynamic linker takes when several FMUs are loaded into one process, read from their files: none of their code runs.
//!
//! A process loads one library of a name. Whoever needs a name (`DT_NEEDED`) gets the library that answers to it already: by its own
//! name (`DT_SONAME`), or because somebody else has needed it under that name. `RTLD_LOCAL` keeps symbols apart, not names. So the
//! second of two FMUs that each bring a `libgain.so` runs the code of the first, and an FMU that brings a `libm.so.6` runs that of the
//! program. One symbol of a kind there is, too, where it is *unique* (`STB_GNU_UNIQUE`): GCC makes static variables of inline functions
//! and templates so, and the first library that is loaded has them for all.
//!
//! Names are looked for as `ld.so(8)` does: `DT_RPATH`, `LD_LIBRARY_PATH`, `DT_RUNPATH`, the cache of the system, its folders. What FMU
//! code opens itself while it runs (`dlopen`) is not known.

#![forbid(unsafe_code)]

use super::binary;
use elf::abi;
use elf::endian::AnyEndian;
use elf::{ElfStream, ParseError};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use vecud_linux::files;

/// The folders that are searched last.
const SYSTEM: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];
/// The system's cache of libraries in other folders.
const CACHE: &str = "/etc/ld.so.cache";
/// Longer caches, and tables of names in a library, are not looked into.
const LONGEST: u64 = 64 << 20;
/// Longer names of libraries, and lists of folders, are none.
const LONGEST_NAME: usize = 1 << 16;
/// A library has no more folders to look for others in.
const MOST_FOLDERS: usize = 64;
/// A library needs no more others.
const MOST_NEEDED: usize = 1000;

/// A library file, or the program's, as far as the linker looks at it before its code runs.
#[derive(Debug)]
struct Object {
    path: PathBuf,
    /// `DT_SONAME`.
    name: Option<String>,
    /// `DT_NEEDED`.
    needed: Vec<String>,
    /// `DT_RPATH`, empty where there is a `DT_RUNPATH`.
    rpath: Vec<PathBuf>,
    runpath: Option<Vec<PathBuf>>,
    /// Variables that are unique in the process, by their symbols, in this order.
    unique: BTreeMap<String, Variable>,
    /// The library calls one of [`CHANGING`].
    changes_process: bool,
}

/// Functions that change shared state of a process: the locale, the working directory, modes of files, signals that a thread blocks,
/// the environment.
const CHANGING: [&str; 14] = [
    "setlocale",
    "uselocale",
    "chdir",
    "fchdir",
    "umask",
    "sigprocmask",
    "pthread_sigmask",
    "sigsetmask",
    "sigblock",
    "setenv",
    "unsetenv",
    "putenv",
    "clearenv",
    "environ",
];

/// A unique variable.
#[derive(Debug, PartialEq)]
enum Variable {
    /// The variable can change.
    Writable,
    /// The variable has these bytes for ever.
    Constant(Vec<u8>),
}

/// The rules by which two FMUs of a process are not two programs.
#[derive(Debug, PartialEq, Eq)]
pub enum Clash {
    /// The library of another name is loaded in place of an FMU's own one.
    Name {
        /// Under which name it is needed.
        name: String,
        /// The FMU that needs it, and the file that it would have alone.
        own: (usize, PathBuf),
        /// The FMU that is loaded before, and its file, which both get.
        first: (usize, PathBuf),
    },
    /// An FMU brings a library that the program has loaded already under this name: that one counts.
    Program {
        /// The name.
        name: String,
        /// The FMU and its file, which nobody loads.
        own: (usize, PathBuf),
    },
    /// Two FMUs bring files of one name and content, one of which is loaded, with variables of its own that both get.
    Shared {
        /// Under which name it is needed.
        name: String,
        /// The FMU that is loaded later.
        own: usize,
        /// The FMU that is loaded first.
        first: usize,
    },
    /// Two FMUs have a variable together, which each defines.
    Unique {
        /// The symbol.
        symbol: String,
        /// Number of further ones.
        more: usize,
        /// The FMU that is loaded later.
        own: usize,
        /// The FMU that is loaded first.
        first: usize,
    },
}

/// The libraries that the linker loads for an FMU by itself.
struct Loaded {
    objects: Vec<Rc<Object>>,
    /// Under which names something is needed, and which object that is.
    requests: BTreeMap<String, Rc<Object>>,
    /// The FMU's files with names of libraries that the program has loaded for itself.
    replaced: Vec<(String, PathBuf)>,
}

/// The result of linking FMUs in one process.
#[derive(Debug, PartialEq, Eq)]
pub struct Linked {
    /// The clashes.
    pub clashes: Vec<Clash>,
    /// By FMU: whether its libraries call functions that change shared state of a process. The C++ library is left out, which does so for
    /// others only.
    pub change_process: Vec<bool>,
}

/// Links FMUs with these libraries into one process of a program, in this order. A file that cannot be read clashes with
/// nothing: loading it fails, or shows what is wrong.
pub fn link(program: &Path, libraries: &[&Path]) -> Linked {
    let search = SearchPath::of_this_process();
    let mut host = search.load(program, &BTreeMap::new());
    for preloaded in paths("LD_PRELOAD") {
        host.objects.extend(search.load(&preloaded, &BTreeMap::new()).objects);
    }
    let host: BTreeMap<String, Rc<Object>> = answers(&host).collect();
    // Instances of one library have it together on purpose. It is looked at once, however many they are, and clashes with those before it.
    let mut distinct: Vec<(usize, Loaded)> = Vec::new();
    let mut place_of = HashMap::new();
    let places: Vec<usize> = libraries
        .iter()
        .enumerate()
        .map(|(fmu, library)| {
            *place_of.entry(*library).or_insert_with(|| {
                distinct.push((fmu, search.load(library, &host)));
                distinct.len() - 1
            })
        })
        .collect();
    // Whose library has a name first, has it for all.
    let mut before: BTreeMap<String, (usize, Rc<Object>)> = BTreeMap::new();
    let mut clashes = Vec::new();
    for (own, &place) in places.iter().enumerate() {
        let (first_of_library, fmu) = &distinct[place];
        let is_first = *first_of_library == own;
        let replaced =
            fmu.replaced.iter().map(|(name, path)| Clash::Program { name: name.clone(), own: (own, path.clone()) });
        clashes.extend(replaced);
        for (name, object) in &fmu.requests {
            let Some((first, other)) = before.get(name) else { continue };
            let name = name.clone();
            if !is_same(&object.path, &other.path) {
                let (own, first) = ((own, object.path.clone()), (*first, other.path.clone()));
                clashes.push(Clash::Name { name, own, first });
            } else if object.path != other.path && has_variables(&object.path).unwrap_or(true) {
                clashes.push(Clash::Shared { name, own, first: *first });
            }
        }
        let others = distinct.iter().enumerate().filter(|(other, (first, _))| *other != place && *first < own);
        if fmu.objects.iter().any(|object| !object.unique.is_empty()) {
            clashes.extend(others.filter_map(|(_, (first, other))| unique((other, *first), (fmu, own))));
        }
        if is_first {
            for (name, object) in answers(fmu) {
                before.entry(name).or_insert((own, object));
            }
        }
    }
    let changes = |object: &Rc<Object>| object.changes_process && object.name.as_deref() != Some("libstdc++.so.6");
    let change: Vec<bool> = distinct.iter().map(|(_, fmu)| fmu.objects.iter().any(changes)).collect();
    Linked { clashes, change_process: places.into_iter().map(|place| change[place]).collect() }
}

/// The symbols that a library needs from others; none if it cannot be read.
pub fn undefined(library: &Path) -> Vec<String> {
    let read = || {
        let mut stream = ElfStream::<AnyEndian, File>::open_stream(files::open(library).ok()?).ok()?;
        let (symbols, texts) = stream.dynamic_symbol_table().ok()??;
        let is_undefined = |symbol: &elf::symbol::Symbol| symbol.is_undefined() && symbol.st_bind() == abi::STB_GLOBAL;
        let names = symbols.iter().filter(is_undefined).filter_map(|own| texts.get(own.st_name as usize).ok());
        Some(names.map(str::to_owned).collect())
    };
    read().unwrap_or_default()
}

/// The files that the linker loads because a library needs them.
pub fn needed(library: &Path) -> Vec<PathBuf> {
    let objects = SearchPath::of_this_process().load(library, &BTreeMap::new()).objects;
    objects.iter().skip(1).map(|object| object.path.clone()).collect()
}

/// Names of the libraries that a library needs, itself or through others, whether they are there or not.
pub fn names_needed(library: &Path) -> Vec<String> {
    let objects = SearchPath::of_this_process().load(library, &BTreeMap::new()).objects;
    objects.iter().flat_map(|object| object.needed.iter().cloned()).collect()
}

/// The files that the linker could find by such names: in `LD_LIBRARY_PATH`, in the cache of the system, in its folders.
pub fn files_named(is_meant: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let SearchPath { given, cached } = SearchPath::of_this_process();
    let folders = given.into_iter().chain(SYSTEM.iter().map(PathBuf::from));
    let listed = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().filter_map(Result::ok);
    let listed = listed.map(|entry| entry.path());
    let cached = cached.into_values().flatten();
    let is_meant = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(&is_meant);
    listed.chain(cached).filter(is_meant).collect()
}

/// Each library by the first of these paths that leads to its file: the linker loads a file once, whatever its paths (links), and a
/// copy of it once more.
pub fn by_file(libraries: &[&Path]) -> Vec<PathBuf> {
    let file = |path: &&Path| path.metadata().ok().map(|own| (own.dev(), own.ino()));
    let files: Vec<_> = libraries.iter().map(file).collect();
    let mut first_of = HashMap::new();
    let mut first = |at: usize| files[at].map_or(at, |file| *first_of.entry(file).or_insert(at));
    (0..libraries.len()).map(|at| libraries[first(at)].to_owned()).collect()
}

/// The variables of a library that are unique in a process and can change, by their symbols, those of the C++ library left out.
pub fn unique_variables(library: &Path) -> Vec<String> {
    let object = Object::read(library).ok().flatten();
    let unique = object.map(|object| object.unique).unwrap_or_default();
    unique.into_iter().filter(|(_, variable)| *variable == Variable::Writable).map(|(symbol, _)| symbol).collect()
}

/// Whether a library has variables of its own that can change, but for those that the compiler's start files have in every library. Nobody knows it
/// of one without a table of symbols: it is taken for one that has some.
fn has_variables(library: &Path) -> Result<bool, ParseError> {
    let mut stream = ElfStream::<AnyEndian, File>::open_stream(files::open(library)?)?;
    let (segments, headers) = (stream.segments().clone(), stream.section_headers().clone());
    if headers.iter().any(|own| own.sh_type == abi::SHT_SYMTAB && own.sh_size > LONGEST) {
        return Ok(true);
    }
    let Some((symbols, texts)) = stream.symbol_table()? else { return Ok(true) };
    let is_relocated_once = |address: u64| {
        let mut once = segments.iter().filter(|own| own.p_type == abi::PT_GNU_RELRO);
        once.any(|own| (own.p_vaddr..own.p_vaddr.saturating_add(own.p_memsz)).contains(&address))
    };
    Ok(symbols.iter().any(|symbol| {
        let is_variable = matches!(symbol.st_symtype(), abi::STT_OBJECT | abi::STT_TLS) && symbol.st_size > 0;
        let section = headers.get(usize::from(symbol.st_shndx)).filter(|_| is_variable && !symbol.is_undefined());
        section.is_some_and(|section| section.sh_flags & u64::from(abi::SHF_WRITE) != 0)
            && (symbol.st_symtype() == abi::STT_TLS || !is_relocated_once(symbol.st_value))
            && !texts.get(symbol.st_name as usize).is_ok_and(|name| name.starts_with("completed."))
    }))
}

/// The end of a list that names only the first, if there are `more`.
pub fn and_others(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => " and another one".to_owned(),
        more => format!(" and {more} others"),
    }
}

/// The names that objects answer to once they are loaded.
fn answers(loaded: &Loaded) -> impl Iterator<Item = (String, Rc<Object>)> {
    let own = loaded.objects.iter().filter_map(|object| Some((object.name.clone()?, object.clone())));
    own.chain(loaded.requests.iter().map(|(name, object)| (name.clone(), object.clone())))
}

/// The variables that two FMUs have together though each defines them. A library of one name and content is one library.
fn unique((before, first): (&Loaded, usize), (fmu, own): (&Loaded, usize)) -> Option<Clash> {
    let mut symbols = BTreeSet::new();
    for object in &fmu.objects {
        for other in before.objects.iter().filter(|other| other.path != object.path) {
            let is_one = fmu.requests.iter().any(|(name, needed)| {
                Rc::ptr_eq(needed, object)
                    && answers(before).any(|(answer, has)| answer == *name && Rc::ptr_eq(&has, other))
            });
            let both = object.unique.iter().filter(|(symbol, variable)| {
                other.unique.get(*symbol).is_some_and(|other| **variable == Variable::Writable || other != *variable)
            });
            symbols.extend(both.filter(|_| !is_one).map(|(symbol, _)| symbol.clone()));
        }
    }
    let more = symbols.len().checked_sub(1)?;
    Some(Clash::Unique { symbol: symbols.pop_first()?, more, own, first })
}

/// Whether two files are one, or have the same content.
fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(own), Ok(others)) = (one.metadata(), other.metadata()) else { return one == other };
    let is_one = (own.dev(), own.ino()) == (others.dev(), others.ino());
    let content = |path: &Path| std::fs::read(path).ok();
    is_one || (own.len() == others.len() && content(one).is_some() && content(one) == content(other))
}

/// The folders in which all libraries are searched.
struct SearchPath {
    /// `LD_LIBRARY_PATH`.
    given: Vec<PathBuf>,
    /// The files that the system has under a name.
    cached: BTreeMap<String, Vec<PathBuf>>,
}

/// The folders or files that a variable of the environment lists.
fn paths(name: &str) -> Vec<PathBuf> {
    std::env::var_os(name).map_or_else(Vec::new, |value| std::env::split_paths(&value).collect())
}

impl SearchPath {
    fn of_this_process() -> SearchPath {
        SearchPath { given: paths("LD_LIBRARY_PATH"), cached: cached().unwrap_or_default() }
    }

    /// The files that the linker loads for a library, in its order: each library before those that it needs.
    fn load(&self, library: &Path, host: &BTreeMap<String, Rc<Object>>) -> Loaded {
        let mut loaded = Loaded { objects: Vec::new(), requests: BTreeMap::new(), replaced: Vec::new() };
        let absolute = std::path::absolute(library).unwrap_or_else(|_| library.to_owned());
        let Ok(Some(root)) = Object::read(&absolute) else { return loaded };
        // By whom each is needed.
        let mut rpaths: Vec<Vec<PathBuf>> = vec![root.rpath.clone()];
        loaded.objects.push(Rc::new(root));
        let mut at = 0;
        while let Some(object) = loaded.objects.get(at).cloned() {
            for name in &object.needed {
                if loaded.requests.contains_key(name) {
                    continue;
                }
                let named = loaded.objects.iter().find(|known| known.name.as_ref() == Some(name)).cloned();
                let Some(found) = named.or_else(|| self.find(name, &object, &rpaths[at]).map(Rc::new)) else {
                    continue;
                };
                if let Some(own) = host.get(name) {
                    if !is_same(&own.path, &found.path) {
                        loaded.replaced.push((name.clone(), found.path.clone()));
                    }
                    continue;
                }
                let known = loaded.objects.iter().find(|known| known.path == found.path).cloned();
                if known.is_none() {
                    let inherited = if found.runpath.is_some() { Vec::new() } else { rpaths[at].clone() };
                    rpaths.push(found.rpath.iter().cloned().chain(inherited).collect());
                    loaded.objects.push(found.clone());
                }
                loaded.requests.insert(name.clone(), known.unwrap_or(found));
            }
            at += 1;
        }
        loaded
    }

    /// The first file that can be loaded under a name.
    fn find(&self, name: &str, by: &Object, rpath: &[PathBuf]) -> Option<Object> {
        let read = |path: PathBuf| Object::read(&path).ok().flatten();
        if name.contains('/') {
            return read(std::path::absolute(name).ok()?);
        }
        let before = if by.runpath.is_some() { &[][..] } else { rpath };
        let own = before.iter().chain(&self.given).chain(by.runpath.iter().flatten()).map(|folder| folder.join(name));
        let system = self.cached.get(name).into_iter().flatten().cloned();
        let last = SYSTEM.iter().map(|folder| Path::new(folder).join(name));
        own.chain(system).chain(last).find_map(read)
    }
}

impl Object {
    /// `None`: no library or program for this machine.
    fn read(path: &Path) -> Result<Option<Object>, ParseError> {
        let file = files::open(path)?;
        let names = file.try_clone()?;
        let mut stream = ElfStream::<AnyEndian, File>::open_stream(file)?;
        if !matches!(stream.ehdr.e_type, abi::ET_DYN | abi::ET_EXEC)
            || binary::machine().is_some_and(|own| own != stream.ehdr.e_machine)
        {
            return Ok(None);
        }
        let segments = stream.segments().clone();
        let in_file = |address: u64| {
            let holds = |s: &&elf::segment::ProgramHeader| {
                s.p_type == abi::PT_LOAD && address.checked_sub(s.p_vaddr).is_some_and(|at| at < s.p_filesz)
            };
            segments.iter().find(holds).map(|s| s.p_offset.wrapping_add(address - s.p_vaddr))
        };
        let entries: Vec<(i64, u64)> = match stream.dynamic()? {
            Some(table) => table.iter().map(|entry| (entry.d_tag, entry.d_val())).collect(),
            None => Vec::new(),
        };
        let of = |tag: i64| entries.iter().filter(move |(own, _)| *own == tag).map(|(_, value)| *value);
        let texts = match (of(abi::DT_STRTAB).next().and_then(in_file), of(abi::DT_STRSZ).next()) {
            (Some(offset), Some(length)) if length <= LONGEST => {
                let mut bytes = vec![0; length as usize];
                names.read_exact_at(&mut bytes, offset)?;
                bytes
            }
            _ => Vec::new(),
        };
        let text = |at: u64| {
            let rest = texts.get(usize::try_from(at).ok()?..)?;
            let end = rest.iter().take(LONGEST_NAME).position(|byte| *byte == 0)?;
            str::from_utf8(&rest[..end]).ok().map(str::to_owned)
        };
        let folder = path.parent().unwrap_or(Path::new("/")).display().to_string();
        let folders = |at: u64| -> Vec<PathBuf> {
            let list = text(at).unwrap_or_default();
            let list = list.split(':').filter(|folder| !folder.is_empty()).take(MOST_FOLDERS);
            list.map(|own| PathBuf::from(own.replace("${ORIGIN}", &folder).replace("$ORIGIN", &folder))).collect()
        };
        let runpath = of(abi::DT_RUNPATH).next().map(folders);
        let rpath = of(abi::DT_RPATH).next().filter(|_| runpath.is_none()).map(folders).unwrap_or_default();
        let (name, needed) =
            (of(abi::DT_SONAME).next().and_then(text), of(abi::DT_NEEDED).take(MOST_NEEDED).filter_map(text).collect());
        let unique = unique_of(&mut stream, &names)?;
        let changes_process = match stream.dynamic_symbol_table()? {
            Some((symbols, texts)) => symbols
                .iter()
                .filter(elf::symbol::Symbol::is_undefined)
                .any(|symbol| texts.get(symbol.st_name as usize).is_ok_and(|name| CHANGING.contains(&name))),
            // Nobody knows.
            None => true,
        };
        Ok(Some(Object { path: path.to_owned(), name, needed, rpath, runpath, unique, changes_process }))
    }
}

/// The unique variables that a library defines and looks up, but those of the C++ library, which has its own together on purpose. None
/// are known where there are no section headers.
fn unique_of(stream: &mut ElfStream<AnyEndian, File>, file: &File) -> Result<BTreeMap<String, Variable>, ParseError> {
    let mut defined = BTreeMap::new();
    if let Some((symbols, texts)) = stream.dynamic_symbol_table()? {
        for (index, symbol) in symbols.iter().enumerate() {
            let is_seen = matches!(symbol.st_vis(), abi::STV_DEFAULT | abi::STV_PROTECTED);
            if symbol.st_bind() != abi::STB_GNU_UNIQUE || symbol.is_undefined() || !is_seen {
                continue;
            }
            let name = texts.get(symbol.st_name as usize)?;
            // A guard says whether a variable has been initialised; it comes with that.
            let is_guard = name.starts_with("_ZGV");
            let is_of_the_language =
                ["_ZNSt", "_ZNKSt", "_ZSt", "_ZZNSt", "_ZZNKSt", "_ZZSt", "_ZN9__gnu_cxx", "_ZZN9__gnu_cxx"]
                    .iter()
                    .any(|own| name.starts_with(own));
            if !is_guard && !is_of_the_language {
                defined.insert(index as u32, (name.to_owned(), symbol));
            }
        }
    }
    if defined.is_empty() {
        return Ok(BTreeMap::new());
    }
    // A library that reaches its own one without the linker (-Bsymbolic) shares it with nobody.
    let headers = stream.section_headers().clone();
    let mut looked_up = BTreeSet::new();
    let relocations = headers.iter().filter(|own| [abi::SHT_RELA, abi::SHT_REL].contains(&own.sh_type));
    if relocations.fold(0_u64, |sum, own| sum.saturating_add(own.sh_size)) > LONGEST {
        return Ok(BTreeMap::new());
    }
    for header in &headers {
        match header.sh_type {
            abi::SHT_RELA => looked_up.extend(stream.section_data_as_relas(header)?.map(|own| own.r_sym)),
            abi::SHT_REL => looked_up.extend(stream.section_data_as_rels(header)?.map(|own| own.r_sym)),
            _ => {}
        }
    }
    let (mut unique, mut left) = (BTreeMap::new(), LONGEST);
    for (_, (name, symbol)) in defined.into_iter().filter(|(index, _)| looked_up.contains(index)) {
        let Some(section) = headers.get(usize::from(symbol.st_shndx)) else { continue };
        let is_relocated_once = (stream.segments().iter()).any(|own| {
            own.p_type == abi::PT_GNU_RELRO
                && (own.p_vaddr..own.p_vaddr.saturating_add(own.p_memsz)).contains(&symbol.st_value)
        });
        let is_constant = section.sh_flags & u64::from(abi::SHF_WRITE) == 0 || is_relocated_once;
        let variable = if is_constant && section.sh_type != abi::SHT_NOBITS && symbol.st_size <= left {
            left -= symbol.st_size;
            let mut bytes = vec![0; symbol.st_size as usize];
            let at = symbol.st_value.wrapping_sub(section.sh_addr).wrapping_add(section.sh_offset);
            file.read_exact_at(&mut bytes, at)?;
            Variable::Constant(bytes)
        } else {
            Variable::Writable
        };
        unique.insert(name, variable);
    }
    Ok(unique)
}

/// The files that the cache of the system names, by their names. Its format is that of glibc since 2.2, which is in no manual.
fn cached() -> io::Result<BTreeMap<String, Vec<PathBuf>>> {
    let bytes = files::read_at_most(Path::new(CACHE), LONGEST)?.unwrap_or_default();
    Ok(of_cache(&bytes).unwrap_or_default())
}

fn of_cache(bytes: &[u8]) -> Option<BTreeMap<String, Vec<PathBuf>>> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    /// The length of the header, and that of an entry: flags, the place of the name, that of the path, and 12 bytes more.
    const LENGTHS: (usize, usize) = (48, 24);
    let table = &bytes[memchr::memmem::find(bytes, MAGIC)?..];
    let number = |at: usize| Some(u32::from_ne_bytes(table.get(at..at + 4)?.try_into().ok()?) as usize);
    let text = |at: usize| {
        let rest = table.get(at..)?;
        str::from_utf8(&rest[..memchr::memchr(0, rest)?]).ok()
    };
    let mut all = BTreeMap::<String, Vec<PathBuf>>::new();
    for entry in 0..number(MAGIC.len())? {
        let at = LENGTHS.0 + entry * LENGTHS.1;
        let (name, path) = (text(number(at + 4)?)?, text(number(at + 8)?)?);
        all.entry(name.to_owned()).or_default().push(path.into());
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_this_test_needs_what_its_process_has_loaded() {
        let own = std::env::current_exe().unwrap();
        let search = SearchPath { given: Vec::new(), cached: cached().unwrap_or_default() };
        let loaded = search.load(&own, &BTreeMap::new());
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = loaded.requests.get("libc.so.6").expect("a program of Rust needs the C library");
        let real = libc.path.canonicalize().unwrap();
        assert!(maps.contains(real.to_str().unwrap()), "{real:?} is not in\n{maps}");
        assert_eq!(link(&own, &[&own, &own]).clashes, []);
    }

    #[test]
    fn a_damaged_cache_names_nothing_beyond_its_end() {
        let whole = std::fs::read(CACHE).unwrap_or_default();
        for length in (0..whole.len()).step_by(997) {
            let _ = of_cache(&whole[..length]);
        }
        assert_eq!(of_cache(b"glibc-ld.so.cache1.1\xff\xff\xff\xff"), None);
    }
}
