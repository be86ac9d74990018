use std::os::unix::fs::PermissionsExt;

use super::*;

/// The folder that `choose` takes when the environment holds just `variables`.
fn chosen(variables: &[(&str, &Path)], temp: &Path) -> io::Result<PathBuf> {
    let value = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| value.as_os_str().to_owned())
    };
    choose(value, temp)
}

#[test]
fn the_users_cache_follows_the_environment() {
    let base = tempfile::tempdir().unwrap();
    let path = |name: &str| base.path().join(name);
    let (own, xdg, home) = (path("own"), path("xdg"), path("home"));
    let all = [("VECUD_CACHE", own.as_path()), ("XDG_CACHE_HOME", &xdg), ("HOME", &home)];
    assert_eq!(chosen(&all, base.path()).unwrap(), own);
    assert_eq!(chosen(&all[1..], base.path()).unwrap(), xdg.join("vecud"));
    assert_eq!(chosen(&all[2..], base.path()).unwrap(), home.join(".cache/vecud"));
    // Empty and relative values count as absent.
    let odd = [("VECUD_CACHE", Path::new("")), ("XDG_CACHE_HOME", Path::new("rel")), all[2]];
    assert_eq!(chosen(&odd, base.path()).unwrap(), home.join(".cache/vecud"));
}

#[test]
fn without_a_home_the_cache_is_private_under_the_temporary_directory() {
    let temp = tempfile::tempdir().unwrap();
    let folder = chosen(&[], temp.path()).unwrap();
    assert_eq!(folder.parent(), Some(temp.path()));
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    assert_eq!(chosen(&[], temp.path()).unwrap(), folder);
    // A home that cannot be written to, as in a systemd unit.
    let home = [("HOME", Path::new("/proc"))];
    assert_eq!(chosen(&home, temp.path()).unwrap(), folder);
    // Somebody else can write to it: not ours.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let error = chosen(&[], temp.path()).unwrap_err();
    assert!(error.to_string().contains("remove it"), "{error}");
    fs::remove_dir(&folder).unwrap();
    std::os::unix::fs::symlink(temp.path(), &folder).unwrap();
    assert!(chosen(&[], temp.path()).is_err());
}

fn make(target: &Path, content: &str) -> Result<(), CacheError> {
    fs::write(target.join("f"), content).map_err(|e| CacheError::new("cannot write", target, e))
}

#[test]
fn what_fails_leaves_nothing() {
    let base = tempfile::tempdir().unwrap();
    let cache = Cache::at(base.path());
    let failed = cache.get_or_make("x", |target| {
        make(target, "half")?;
        Err(CacheError::new("test", target, io::ErrorKind::Other.into()))
    });
    assert!(failed.is_err());
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
}

#[test]
fn the_first_of_two_makers_wins() {
    let base = tempfile::tempdir().unwrap();
    let cache = Cache::at(base.path());
    let files = cache.get_or_make("x", |target| {
        cache.get_or_make("x", |target| make(target, "first"))?;
        make(target, "second")
    });
    assert_eq!(fs::read_to_string(files.unwrap().join("f")).unwrap(), "first");
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
}

#[test]
fn plain_renames_do_the_same() {
    let base = tempfile::tempdir().unwrap();
    let entry = base.path().join("entry");
    let finished = |content: &str| {
        let folder = tempfile::tempdir_in(base.path()).unwrap();
        fs::create_dir(folder.path().join(FILES)).unwrap();
        make(&folder.path().join(FILES), content).unwrap();
        write_list(folder.path()).unwrap();
        folder
    };
    let content = || fs::read_to_string(entry.join(FILES).join("f")).unwrap();
    publish_plainly(finished("first"), &entry).unwrap();
    publish_plainly(finished("second"), &entry).unwrap();
    assert_eq!(content(), "first");
    fs::remove_file(entry.join(LIST)).unwrap();
    publish_plainly(finished("third"), &entry).unwrap();
    assert_eq!(content(), "third");
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
}
