//! New files and folders that a command makes for its user.
//!
//! Guarantees: existing files are not touched, and an incomplete result leaves nothing behind.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use vecud_host::Error;
use vecud_linux::files;
use vecud_linux::process::outlive_file_size_limit;
use vecud_linux::stop::StopToken;

/// A folder or a file that this command is making. Unless it is kept, it is gone with this.
pub struct UnfinishedOutput<'a> {
    path: &'a Path,
    is_kept: bool,
}

impl<'a> UnfinishedOutput<'a> {
    /// A folder of this name, where there is nothing yet, with these texts in files below it. Scripts can be executed.
    pub fn folder<N: AsRef<Path>, T: AsRef<str>>(
        path: &'a Path,
        files: impl IntoIterator<Item = (N, T)>,
    ) -> Result<UnfinishedOutput<'a>, Error> {
        is_safe(path)?;
        fs::create_dir(path).map_err(|error| taken(path, error))?;
        let made = UnfinishedOutput { path, is_kept: false };
        for (name, text) in files {
            let file = path.join(name);
            write_new(&file, text.as_ref()).map_err(Error::file(&file))?;
        }
        Ok(made)
    }

    /// A file of this name and content, where there is nothing yet.
    pub fn file(path: &'a Path, content: &str) -> Result<UnfinishedOutput<'a>, Error> {
        is_safe(path)?;
        let mut file =
            fs::File::options().write(true).create_new(true).open(path).map_err(|error| taken(path, error))?;
        let made = UnfinishedOutput { path, is_kept: false };
        file.write_all(content.as_bytes()).map_err(Error::file(path))?;
        Ok(made)
    }

    /// Keeps the file, unless the end was requested meanwhile.
    pub fn keep(mut self, stop: &StopToken) {
        self.is_kept = !stop.is_asked();
    }
}

impl Drop for UnfinishedOutput<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = if self.path.is_dir() { fs::remove_dir_all(self.path) } else { fs::remove_file(self.path) };
        }
    }
}

/// The folder that a file or folder is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A file in a folder that was made just now.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)?;
    if text.starts_with("#!") {
        fs::set_permissions(file, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Root writes nothing where somebody else could change what it writes to, and what may not become so long is an error.
fn is_safe(path: &Path) -> Result<(), Error> {
    outlive_file_size_limit().map_err(|error| Error::System(error.to_string()))?;
    match files::stranger_to_root(folder_of(path)) {
        Some(stranger) => {
            let why = format!("{stranger}, who could have root write somewhere else; choose another folder");
            Err(Error::File(path.to_owned(), io::Error::other(why)))
        }
        None => Ok(()),
    }
}

fn taken(path: &Path, error: io::Error) -> Error {
    let error = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            io::Error::other("is there already, and is not overwritten: choose another name")
        }
        _ => error,
    };
    Error::File(path.to_owned(), error)
}
