//! The access of a compiler for an FMU that the user does not trust: a source chooses the files that a compiler reads
//! (`#include`, `#embed`, an assembler's `.incbin`), and the compiler's messages quote them.
//!
//! The kernel enforces it ([Landlock](https://docs.kernel.org/userspace-api/landlock.html)): the compiler can read and
//! execute files of the FMU, of the system, and of its own search paths, and write only to the folder of the build. If a
//! kernel has no Landlock, a compiler reads all that this user can, so its words are not shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};
use vecud_linux::process::ResourceLimits;

/// Programs, libraries and headers that any user may read, and files that a program needs to be loaded.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/dev/null",
];
/// The limits of each program of a compiler that works on words of strangers: far more than compilers need.
pub(super) const BOUNDS: ResourceLimits =
    ResourceLimits { processor_seconds: 600, memory: 4 << 30, file_size: 1 << 30 };
/// Lists of folders that a compiler, or the programs that it starts, look into.
const SEARCHED: [&str; 2] = ["PATH", "LD_LIBRARY_PATH"];

/// Files and folders that can be reached; everything below a folder counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Jail {
    readable: BTreeSet<PathBuf>,
    /// The build's own folder.
    writable: PathBuf,
}

impl Jail {
    /// A jail in which the system can be read, and the folder `writable` written to.
    pub fn new(writable: &Path) -> Jail {
        let mut jail = Jail { readable: BTreeSet::new(), writable: writable.to_owned() };
        jail.allow(SYSTEM.iter().map(PathBuf::from));
        let home = std::env::var_os("HOME").map(PathBuf::from).and_then(real);
        // Such a list may name the home itself, which is more than a place for programs.
        let holds_home = |path: &PathBuf| {
            home.as_ref().is_some_and(|home| real(path.clone()).is_some_and(|path| home.starts_with(path)))
        };
        for name in SEARCHED {
            let folders = std::env::var_os(name).unwrap_or_default();
            jail.allow(std::env::split_paths(&folders).filter(|path| !holds_home(path)));
        }
        jail
    }

    /// Lets these paths be read as well. Relative ones, and the root of the file system, are left out.
    pub fn allow(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.readable.extend(paths.into_iter().filter_map(real).filter(|path| path.parent().is_some()));
    }

    /// Locks the calling thread in for good, and whatever it starts from now on. `false`: this kernel has no means for that.
    pub fn lock_in(&self) -> bool {
        self.restrict().is_ok_and(|status| status != RulesetStatus::NotEnforced)
    }

    fn restrict(&self) -> Result<RulesetStatus, RulesetError> {
        // Later ones add what is of no use to a compiler, and no danger.
        let abi = ABI::V3;
        let rules = Ruleset::default().handle_access(AccessFs::from_all(abi))?.create()?;
        let rules = rules.add_rules(path_beneath_rules(&self.readable, AccessFs::from_read(abi)))?;
        let rules = rules.add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_all(abi)))?;
        let rules = rules.add_rules(path_beneath_rules([&self.writable], AccessFs::from_all(abi)))?;
        Ok(rules.restrict_self()?.ruleset)
    }
}

/// An absolute path without links, if it leads somewhere.
fn real(path: PathBuf) -> Option<PathBuf> {
    Some(path).filter(|path| path.is_absolute())?.canonicalize().ok()
}

/// The folders that a compiler searches for programs and libraries, by its words with `-print-search-dirs`.
pub(super) fn search_folders(words: &str) -> Vec<PathBuf> {
    let lists = words.lines().filter_map(|line| line.split_once(": ")).map(|(_, list)| list.trim_start_matches('='));
    lists.flat_map(|list| std::env::split_paths(list).collect::<Vec<_>>()).collect()
}

/// The folders that a compiler searches for headers, by its words with `-v`.
pub(super) fn header_folders(words: &str) -> Vec<PathBuf> {
    let lines = words.lines().skip_while(|line| !line.ends_with("search starts here:"));
    let lines = lines.take_while(|line| *line != "End of search list.");
    lines.filter_map(|line| line.strip_prefix(' ')).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_folders_are_found_in_the_compilers_words() {
        let words = "install: /usr/lib/gcc/13/\nprograms: =/usr/libexec/gcc/:/x y/\nlibraries: =/usr/lib/\n";
        let folders = ["/usr/lib/gcc/13/", "/usr/libexec/gcc/", "/x y/", "/usr/lib/"].map(PathBuf::from);
        assert_eq!(search_folders(words), folders);
        assert!(search_folders("unknown option\n").is_empty());
    }

    #[test]
    fn header_folders_are_found_in_the_compilers_words() {
        let words = "x\n#include \"...\" search starts here:\n#include <...> search starts here:\n /usr/a\n /usr/b c\nEnd of search list.\n /x\n";
        assert_eq!(header_folders(words), ["/usr/a", "/usr/b c"].map(PathBuf::from));
    }

    #[test]
    fn neither_the_root_nor_what_depends_on_the_current_folder_can_be_allowed() {
        let mut jail = Jail::default();
        jail.allow(["/", "//", "src", "", "/usr/../", "/usr/lib/../lib"].map(PathBuf::from));
        let lib = Path::new("/usr/lib").canonicalize().unwrap();
        assert_eq!(jail.readable, BTreeSet::from([lib]));
    }

    /// Whether the kernel of this machine enforces it is its own affair; where it does, it does so for the thread alone.
    #[test]
    fn files_elsewhere_cannot_be_read_from_inside() {
        let base = tempfile::tempdir().unwrap();
        let (own, secret) = (base.path().join("own"), base.path().join("secret"));
        std::fs::create_dir(&own).unwrap();
        std::fs::write(&secret, "x").unwrap();
        let jail = Jail::new(&own);
        let locked = std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                let locked = jail.lock_in();
                std::fs::write(own.join("made"), "y").unwrap();
                assert_eq!(std::fs::read(&secret).is_err(), locked);
                assert_eq!(std::fs::write(base.path().join("made"), "y").is_err(), locked);
                assert!(std::fs::read_dir("/usr").is_ok());
                locked
            });
            inside.join().unwrap()
        });
        assert!(std::fs::read(&secret).is_ok());
        if !locked {
            eprintln!("SKIPPED: files_elsewhere_cannot_be_read_from_inside: this kernel has no Landlock");
        }
    }
}
