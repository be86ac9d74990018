//! The cache of a user: the choice of its folder, and the way to its entries.

use super::entry::{FILES, LEFTOVER_AGE, LIST, TEMPORARY, is_complete, lock, publish, write_list};
use super::error::CacheError;
use super::private_folder::{make_private_folder, of_the_temporary_directory, trusted};
use rustix::fs::{Access, AtFlags, CWD};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};
use vecud_linux::files;
use vecud_linux::permits::Permits;
use vecud_linux::rights::Rights;
use vecud_linux::stop::StopToken;

/// The folder that holds unpacked FMUs and built libraries.
#[derive(Debug, Clone)]
pub struct Cache {
    pub(super) folder: PathBuf,
    pub(super) note: Option<String>,
    stop: StopToken,
    builds: Permits,
    rights: Rights,
}

impl Cache {
    /// The user's cache: `$VECUD_CACHE`, else `$XDG_CACHE_HOME/vecud`, else `~/.cache/vecud`; where none of these can be
    /// written or is safe from other users, a folder under the temporary directory that belongs to this user alone.
    pub fn user() -> io::Result<Cache> {
        choose(|name| std::env::var_os(name), &std::env::temp_dir())
    }

    /// A cache in `folder`, which is made with its first entry. Precondition: the caller has checked who may write there.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        let folder = folder.into();
        Cache {
            folder: std::path::absolute(&folder).unwrap_or(folder),
            note: None,
            stop: StopToken::default(),
            builds: Permits::default(),
            rights: Rights::default(),
        }
    }

    /// Why this is not the folder that it usually is, if so.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// A cache of the same folder, for which nothing more is unpacked or built as soon as somebody asks for the end.
    pub fn until(self, stop: StopToken) -> Cache {
        Cache { stop, ..self }
    }

    /// A cache of the same folder, for which a library is built once there is a permit.
    pub fn permitted_by(self, builds: Permits) -> Cache {
        Cache { builds, ..self }
    }

    /// A cache of the same folder, for which FMUs are read with these rights. The folder itself is this user's as before.
    pub fn read_with(self, rights: Rights) -> Cache {
        Cache { rights, ..self }
    }

    /// The rights with which FMUs are read.
    pub(crate) fn rights(&self) -> &Rights {
        &self.rights
    }

    /// Permits to build.
    pub(crate) fn builds(&self) -> &Permits {
        &self.builds
    }

    /// Request for the end of work for this cache.
    pub(crate) fn stop(&self) -> &StopToken {
        &self.stop
    }

    /// The folder of the cache.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of entry `name`, if it is complete.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let entry = self.folder.join(name);
        is_complete(&entry).then(|| entry.join(FILES))
    }

    /// The files of entry `name`; `make` is called with an empty folder to fill when there is no complete entry yet. Files
    /// whose path in it is `checked` are compared by their digest at every use.
    pub(crate) fn get_or_make<E: From<CacheError>>(
        &self,
        name: &str,
        checked: impl Fn(&str) -> bool,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        self.remove_leftovers();
        if let Some(files) = self.find(name) {
            return Ok(files);
        }
        let entry = self.folder.join(name);
        make_private_folder(&self.folder)
            .map_err(|e| CacheError::new("cannot make the cache folder", &self.folder, e))?;
        let temporary = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempdir_in(&self.folder)
            .map_err(|e| CacheError::new("cannot write to the cache folder", &self.folder, e))?;
        // Held until the folder is in place: tells a cleaner with another idea of the time that somebody is at work.
        let _lock = lock(temporary.path());
        let files = temporary.path().join(FILES);
        fs::create_dir(&files).map_err(|e| CacheError::new("cannot make folder", &files, e))?;
        make(&files)?;
        write_list(temporary.path(), checked)
            .map_err(|e| CacheError::new("cannot write", &temporary.path().join(LIST), e))?;
        publish(temporary, &entry)?;
        Ok(entry.join(FILES))
    }

    /// Removes the remains of killed processes. Failures do not matter: the next user tries again.
    fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            if !entry.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
                continue;
            }
            let modified = entry.metadata().and_then(|m| m.modified());
            let old =
                modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > LEFTOVER_AGE));
            if old && lock(&entry.path()).is_some() {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// The user's cache, given the environment.
pub(super) fn choose(env: impl Fn(&str) -> Option<OsString>, temp: &Path) -> io::Result<Cache> {
    let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut unsafe_one = None;
    let mut is_safe = |folder: &Path| match files::stranger(folder, &trusted(), false) {
        None => true,
        Some(stranger) => {
            unsafe_one.get_or_insert((folder.to_owned(), stranger));
            false
        }
    };
    let named = set("VECUD_CACHE").filter(|folder| is_safe(folder));
    // The XDG specification has relative values ignored.
    let xdg = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = set("HOME").filter(|path| path.is_absolute());
    let usual = [xdg, home.map(|home| home.join(".cache"))].into_iter().flatten().map(|base| base.join("vecud"));
    let may_write = |folder: &PathBuf| {
        let may = Access::WRITE_OK | Access::EXEC_OK;
        make_private_folder(folder).is_ok() && rustix::fs::accessat(CWD, folder, may, AtFlags::EACCESS).is_ok()
    };
    let found = match named {
        Some(named) => Some(named),
        None => usual.into_iter().find(|folder| is_safe(folder) && may_write(folder)),
    };
    let folder = found.map_or_else(|| of_the_temporary_directory(temp), Ok)?;
    let note = unsafe_one.map(|(wanted, stranger)| {
        format!(
            "the cache {} is not used, since {stranger}, who could have libraries of theirs executed; used is {}: set \
             VECUD_CACHE to a folder that only you may write to",
            wanted.display(),
            folder.display()
        )
    });
    Ok(Cache { note, ..Cache::at(folder) })
}
