//! What the tests of this folder share: a folder with a cache, and FMUs to put there.

use std::fs;
use std::path::{Path, PathBuf};

use vecud::fmu::archive::{ArchiveError, Cache, Unpacked};
use vecud::fmu::description::{InterfaceOffer, InterfaceType};

use crate::archive::raw_zip::{Entry, archive};

/// A folder of its own, removed at the end.
pub struct Bench {
    folder: tempfile::TempDir,
    pub cache: Cache,
}

impl Bench {
    pub fn new() -> Bench {
        let folder = crate::program::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("cache"));
        Bench { folder, cache }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn open(&self, entries: &[Entry]) -> Result<Unpacked, ArchiveError> {
        self.open_bytes(&archive(entries))
    }

    pub fn open_bytes(&self, bytes: &[u8]) -> Result<Unpacked, ArchiveError> {
        Unpacked::open(&self.write("bad.fmu", bytes), &self.cache)
    }

    /// Everything below the cache's folder.
    pub fn in_cache(&self) -> Vec<PathBuf> {
        fs::read_dir(self.cache.folder())
            .map(|entries| entries.map(|e| e.unwrap().path()).collect())
            .unwrap_or_default()
    }

    /// Opening fails with a message that names the file and holds `words`; nothing stays.
    #[track_caller]
    pub fn refuses(&self, entries: &[Entry], words: &[&str]) {
        self.refuses_bytes(&archive(entries), words);
    }

    #[track_caller]
    pub fn refuses_bytes(&self, bytes: &[u8], words: &[&str]) {
        let error = self.open_bytes(bytes).expect_err("it must be refused").to_string();
        for word in words.iter().chain(&["bad.fmu: "]) {
            assert!(error.contains(word), "{word:?} is not in: {error}");
        }
        assert_eq!(self.in_cache(), Vec::<PathBuf>::new(), "after: {error}");
        let outside = fs::read_dir(self.folder.path()).unwrap().count();
        assert!(outside <= 2, "something was written beside the cache");
    }
}

/// The tuple of the machine that runs the tests.
pub fn tuple() -> String {
    format!("{}-linux", std::env::consts::ARCH)
}

/// An unpacked FMU's folder: the given files and a model description.
pub fn unpacked(bench: &Bench, files: &[(&str, &str)]) -> Unpacked {
    bench.write("fmu/modelDescription.xml", "<fmiModelDescription/>");
    for (name, content) in files {
        bench.write(&format!("fmu/{name}"), content);
    }
    Unpacked::open(&bench.path("fmu"), &bench.cache).unwrap()
}

/// Scheduled Execution by a library `m`.
pub fn scheduled_execution() -> InterfaceOffer {
    InterfaceOffer::ScheduledExecution(InterfaceType { model_identifier: "m".to_owned(), ..InterfaceType::default() })
}

/// Loads a library and calls its function `int name(void)`.
pub fn call(library: &Path, name: &str) -> i32 {
    // SAFETY: the tests compile these libraries themselves; they have no initialisers, and every function called is an
    // `int f(void)`.
    unsafe {
        let library = libloading::Library::new(library).unwrap();
        let function: libloading::Symbol<extern "C" fn() -> i32> = library.get(name.as_bytes()).unwrap();
        function()
    }
}
