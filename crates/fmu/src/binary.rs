//! The platform and the exports of a shared library, read from its file: none of its code runs.

#![forbid(unsafe_code)]

use elf::ElfBytes;
use elf::abi;
use elf::endian::AnyEndian;
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;
use vecud_linux::files;

/// Longer libraries than this are not looked into.
const LONGEST: u64 = 512 << 20;

/// The exports of a shared library.
#[derive(Debug, PartialEq, Eq)]
pub struct Exports {
    names: HashSet<String>,
    has_executable_stack: bool,
}

impl Exports {
    /// Reads them from a file that is to be loaded on this machine.
    ///
    /// # Errors
    /// Why it cannot be loaded here, or not be looked into.
    pub fn of(library: &Path) -> Result<Exports, BinaryError> {
        let mut bytes = Vec::new();
        files::open(library)
            .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
            .map_err(BinaryError::Read)?;
        if bytes.len() as u64 > LONGEST {
            return Err(BinaryError::TooLong);
        }
        Exports::read(&bytes)
    }

    fn read(bytes: &[u8]) -> Result<Exports, BinaryError> {
        let damaged = |error: elf::ParseError| BinaryError::Damaged(error.to_string());
        if !bytes.starts_with(&abi::ELFMAGIC) {
            return Err(BinaryError::NotElf(kind_of(bytes)));
        }
        let file = ElfBytes::<AnyEndian>::minimal_parse(bytes).map_err(damaged)?;
        if file.ehdr.e_type != abi::ET_DYN {
            return Err(BinaryError::NotElf("an object file or a program, no shared library"));
        }
        if machine().is_some_and(|machine| machine != file.ehdr.e_machine) {
            return Err(BinaryError::Machine(abi_name(file.ehdr.e_machine)));
        }
        let Some((symbols, texts)) = file.dynamic_symbol_table().map_err(damaged)? else {
            return Err(BinaryError::NoTable);
        };
        let mut names = HashSet::new();
        for symbol in symbols.iter().filter(|symbol| !symbol.is_undefined()) {
            let is_visible = matches!(symbol.st_bind(), abi::STB_GLOBAL | abi::STB_WEAK | abi::STB_GNU_UNIQUE);
            if is_visible && matches!(symbol.st_vis(), abi::STV_DEFAULT | abi::STV_PROTECTED) {
                names.insert(texts.get(symbol.st_name as usize).map_err(damaged)?.to_owned());
            }
        }
        let segments = file.segments();
        let stack = segments.and_then(|segments| segments.iter().find(|segment| segment.p_type == abi::PT_GNU_STACK));
        Ok(Exports { names, has_executable_stack: stack.is_none_or(|stack| stack.p_flags & abi::PF_X != 0) })
    }

    /// Whether it exports that symbol.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether it has the process make stacks executable when it is loaded, which glibc refuses from 2.41 on, and hardened systems do.
    pub fn has_executable_stack(&self) -> bool {
        self.has_executable_stack
    }

    /// The number of symbols.
    pub fn count(&self) -> usize {
        self.names.len()
    }
}

/// Why nothing is known of a shared library.
#[derive(Debug)]
pub enum BinaryError {
    /// The file cannot be read.
    Read(io::Error),
    /// The file exceeds the length limit for libraries.
    TooLong,
    /// The file is no shared library of Linux, but of this kind.
    NotElf(&'static str),
    /// The library is for another processor, named here.
    Machine(String),
    /// The library's structure is broken.
    Damaged(String),
    /// The library has no table of its exports (no section headers), though it may well be loadable.
    NoTable,
}

impl BinaryError {
    /// Whether only the examination failed: the library itself may be usable.
    pub fn is_about_looking(&self) -> bool {
        matches!(self, BinaryError::TooLong | BinaryError::NoTable)
    }
}

impl std::fmt::Display for BinaryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BinaryError::Read(error) => write!(f, "cannot be read: {error}"),
            BinaryError::TooLong => write!(f, "is longer than {} MiB and was not looked into", LONGEST >> 20),
            BinaryError::NotElf(what) => {
                write!(f, "is no shared library of Linux (ELF), but {what}: export the FMU again")
            }
            BinaryError::Machine(other) => {
                let own = std::env::consts::ARCH;
                write!(f, "is for another processor ({other}) than its folder says, and than this machine ({own})")
            }
            BinaryError::Damaged(why) => write!(f, "is damaged: {why}; fetch or export the FMU again"),
            BinaryError::NoTable => f.write_str("has no table of what it exports (its section headers are stripped)"),
        }
    }
}

impl std::error::Error for BinaryError {}

/// The number that ELF has for this machine's processor; `None`: it is not known here.
pub(super) fn machine() -> Option<u16> {
    Some(match std::env::consts::ARCH {
        "x86_64" => abi::EM_X86_64,
        "x86" => abi::EM_386,
        "aarch64" => abi::EM_AARCH64,
        "arm" => abi::EM_ARM,
        "riscv64" | "riscv32" => abi::EM_RISCV,
        "powerpc64" => abi::EM_PPC64,
        _ => return None,
    })
}

fn abi_name(machine: u16) -> String {
    match machine {
        abi::EM_X86_64 => "x86_64".to_owned(),
        abi::EM_386 => "x86".to_owned(),
        abi::EM_AARCH64 => "aarch64".to_owned(),
        abi::EM_ARM => "aarch32".to_owned(),
        other => format!("number {other} of ELF"),
    }
}

/// The kind of a file by its first bytes.
fn kind_of(bytes: &[u8]) -> &'static str {
    match bytes {
        [] => "an empty file",
        [b'M', b'Z', ..] => "one of Windows (DLL)",
        [0xCF, 0xFA, 0xED, 0xFE, ..] | [0xCA, 0xFE, 0xBA, 0xBE, ..] => "one of macOS",
        _ => "something else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The beginning of the program of this test, which exports nothing to be named, but is an ELF file for this machine.
    fn program(length: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        std::fs::File::open(std::env::current_exe().unwrap()).unwrap().take(length).read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_no_library_is_called_what_it_is() {
        for (bytes, words) in
            [(&b""[..], "an empty file"), (b"MZ\x90", "DLL"), (b"\xcf\xfa\xed\xfe", "macOS"), (b"#!/bin/sh", "else")]
        {
            let error = Exports::read(bytes).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let mut other = program(u64::MAX);
        other[18..20].copy_from_slice(&abi::EM_S390.to_le_bytes());
        let error = Exports::read(&other).unwrap_err();
        assert!(matches!(error, BinaryError::Machine(_)), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 0_usize..4096, value: u8, length in 0_u64..8192) {
            let mut bytes = program(length.max(64));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
            let _ = Exports::read(&bytes);
        }
    }
}
