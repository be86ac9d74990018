//! Other users who may change a folder, or one above it.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// User id of root, which may change everything anyway.
pub const ROOT: u32 = 0;
/// User id that the kernel shows for files of owners outside of this user namespace.
const NOBODY: u32 = 65534;
const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Which user, beside root and the one who calls sudo, may change what lies in `folder`, while this program has root's
/// rights. Others write where they may.
pub fn stranger_to_root(folder: &Path) -> Option<UnsafeFolder> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let caller = std::env::var("SUDO_UID").ok().and_then(|number| number.parse().ok()).unwrap_or(ROOT);
    stranger(folder, &[ROOT, caller], true)
}

/// Why a folder is not safe from other users.
#[derive(Debug, PartialEq, Eq)]
pub struct UnsafeFolder {
    path: PathBuf,
    owner: Option<u32>,
}

impl fmt::Display for UnsafeFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.owner {
            Some(owner) => write!(f, "{path} belongs to another user (number {owner})"),
            None => write!(f, "other users may write to {path}"),
        }
    }
}

/// Another user, beside the `trusted` ones, who may change the content of `folder`, through this folder or an existing
/// one above it. A folder in which everybody may make files, but rename only their own (`/tmp`), is safe for its
/// content; `shared` tells whether `folder` itself may be of that kind.
pub fn stranger(folder: &Path, trusted: &[u32], shared: bool) -> Option<UnsafeFolder> {
    let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    // The destinations of links, and the folders that contain the links themselves.
    let real = there.canonicalize().unwrap_or_else(|_| there.to_owned());
    let all: BTreeSet<&Path> = real.ancestors().chain(there.ancestors()).collect();
    all.into_iter().find_map(|part| {
        let found = part.symlink_metadata().ok()?;
        let itself = (part == real || part == there) && there == path;
        let known = trusted.contains(&found.uid()) || (!itself && found.uid() == NOBODY && !is_mapped(NOBODY));
        if !known {
            return Some(UnsafeFolder { path: part.to_owned(), owner: Some(found.uid()) });
        }
        // By custom the group with a user's number has no other member.
        let by_group = found.mode() & WRITABLE_BY_GROUP != 0 && found.gid() != found.uid();
        let open = found.is_dir() && (found.mode() & WRITABLE_BY_ALL != 0 || by_group);
        let guarded = found.mode() & STICKY != 0 && (shared || !itself);
        (open && !guarded).then(|| UnsafeFolder { path: part.to_owned(), owner: None })
    })
}

/// Whether a user's number is that of a user in this user namespace.
fn is_mapped(user: u32) -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let mut lines = map.lines().map(|line| line.split_whitespace().flat_map(str::parse::<u64>).collect::<Vec<_>>());
    // First number inside, first outside, how many.
    lines.any(|line| matches!(line[..], [first, _, count] if (first..first + count).contains(&user.into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let guard = tempfile::tempdir().unwrap();
        let path = guard.path().canonicalize().unwrap();
        (guard, path)
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn whoever_may_change_a_folder_or_one_above_is_found_as_this_user() {
        let me = rustix::process::geteuid().as_raw();
        let trusted = [ROOT, me];
        let (_guard, base) = folder();
        let inner = base.join("a/b");
        assert_eq!(stranger(&inner, &trusted, false), None, "what is not there is made by us");
        fs::create_dir_all(&inner).unwrap();
        chmod(&base.join("a"), 0o700);
        chmod(&inner, 0o755);
        assert_eq!(stranger(&inner, &trusted, false), None);
        let others = |path: &Path| Some(UnsafeFolder { path: path.to_owned(), owner: None });
        chmod(&inner, 0o757);
        assert_eq!(stranger(&inner, &trusted, false), others(&inner));
        // As /tmp.
        chmod(&inner, 0o1777);
        assert_eq!(stranger(&inner, &trusted, false), others(&inner));
        assert_eq!(stranger(&inner, &trusted, true), None);
        assert_eq!(stranger(&inner.join("new"), &trusted, false), None);
        chmod(&inner, 0o700);
        chmod(&base.join("a"), 0o777);
        assert_eq!(stranger(&inner, &trusted, true), others(&base.join("a")));
        assert_eq!(stranger(&inner.join("new/newer"), &trusted, true), others(&base.join("a")));
        // A link that leads there, and one that lies there.
        std::os::unix::fs::symlink(&inner, base.join("link")).unwrap();
        assert_eq!(stranger(&base.join("link"), &trusted, true), others(&base.join("a")));
        fs::create_dir(base.join("safe")).unwrap();
        chmod(&base.join("safe"), 0o700);
        std::os::unix::fs::symlink(base.join("safe"), base.join("a/link")).unwrap();
        assert_eq!(stranger(&base.join("a/link"), &trusted, true), others(&base.join("a")));
        let owner = Some(UnsafeFolder { path: "/".into(), owner: Some(ROOT) });
        if is_mapped(ROOT) {
            assert_eq!(stranger(&base, &[12345], true), owner);
        }
    }
}
