use super::entry::{FILES, LIST, publish_plainly, write_list};
use super::plain_path::{link_in, plain_path};
use super::user_cache::choose;
use super::{Cache, CacheError};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder that `choose` takes when the environment holds just `variables`.
fn chosen(variables: &[(&str, &Path)], temp: &Path) -> io::Result<PathBuf> {
    let value = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| value.as_os_str().to_owned())
    };
    choose(value, temp).map(|cache| cache.folder)
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
fn without_a_home_the_cache_is_private_under_the_temporary_directory_as_this_user() {
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
    let failed = cache.get_or_make(
        "x",
        |_| true,
        |target| {
            make(target, "half")?;
            Err(CacheError::new("test", target, io::ErrorKind::Other.into()))
        },
    );
    assert!(failed.is_err());
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
}

#[test]
fn the_first_of_two_makers_wins() {
    let base = tempfile::tempdir().unwrap();
    let cache = Cache::at(base.path());
    let files = cache.get_or_make(
        "x",
        |_| true,
        |target| {
            cache.get_or_make("x", |_| true, |target| make(target, "first"))?;
            make(target, "second")
        },
    );
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
        write_list(folder.path(), |_| true).unwrap();
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

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A library that another user puts there would be executed.
#[test]
fn a_folder_that_others_may_write_to_is_not_used_as_this_user() {
    let base = tempfile::tempdir().unwrap();
    let (shared, home, temp) = (base.path().join("shared"), base.path().join("home"), base.path().join("temp"));
    for folder in [&shared, &home, &temp] {
        fs::create_dir(folder).unwrap();
        chmod(folder, 0o700);
    }
    let cache = || {
        let value = |name: &str| match name {
            "VECUD_CACHE" => Some(shared.join("cache").into_os_string()),
            "HOME" => Some(home.clone().into_os_string()),
            _ => None,
        };
        choose(value, &temp).unwrap()
    };
    assert_eq!((cache().folder, cache().note), (shared.join("cache"), None));
    // By the folder above.
    for mode in [0o777, 0o707] {
        chmod(&shared, mode);
        let chosen = cache();
        assert_eq!(chosen.folder, home.join(".cache/vecud"));
        let note = chosen.note.unwrap();
        assert!(note.contains("shared/cache is not used, since other users may write to"), "{note}");
        assert!(note.contains(".cache/vecud: set VECUD_CACHE"), "{note}");
    }
    assert_eq!(fs::metadata(home.join(".cache/vecud")).unwrap().mode() & 0o777, 0o700);
    // By itself.
    chmod(&shared, 0o700);
    fs::create_dir(shared.join("cache")).unwrap();
    chmod(&shared.join("cache"), 0o1777);
    assert_eq!(cache().folder, home.join(".cache/vecud"));
    // And the usual one.
    chmod(&home, 0o777);
    let user = rustix::process::geteuid().as_raw();
    let chosen = cache();
    assert_eq!(chosen.folder, temp.join(format!("vecud-{user}")));
    assert!(chosen.note.unwrap().contains("shared/cache is not used"));
}

/// As root with the home of the user behind sudo.
#[test]
fn a_folder_of_another_user_is_neither_used_nor_written_to_as_this_user() {
    if !rustix::process::geteuid().is_root() {
        let _ = writeln!(
            io::stderr(),
            "SKIPPED: a_folder_of_another_user_is_neither_used_nor_written_to_as_this_user: needs root"
        );
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let home = base.path().join("home");
    fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(1000), Some(1000)).unwrap();
    chmod(&home, 0o755);
    let value = |name: &str| (name == "HOME").then(|| home.clone().into_os_string());
    let chosen = choose(value, base.path()).unwrap();
    assert_eq!(chosen.folder, base.path().join("vecud-0"));
    assert!(chosen.note.unwrap().contains("home belongs to another user (number 1000)"));
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}

/// What another user, or anybody, has changed in an entry is made anew: content, links, owners, modes.
#[test]
fn an_entry_that_was_changed_is_made_anew_as_this_user() {
    let base = tempfile::tempdir().unwrap();
    let cache = Cache::at(base.path());
    let get = || {
        let made = |target: &Path| {
            fs::create_dir(target.join("d")).unwrap();
            fs::write(target.join("d/resource"), "data").unwrap();
            make(target, "good")
        };
        cache.get_or_make("x", |name| name == "f", made).unwrap()
    };
    let inner = get();
    let content = || fs::read_to_string(inner.join("f")).unwrap();
    let set = |name: &str, content: &str| fs::write(inner.join(name), content).unwrap();
    // Of equal size.
    set("f", "evil");
    get();
    assert_eq!(content(), "good");
    // What is not compared by its digest is compared by its size.
    set("d/resource", "DATA");
    get();
    assert_eq!(fs::read_to_string(inner.join("d/resource")).unwrap(), "DATA");
    set("d/resource", "longer");
    get();
    assert_eq!(fs::read_to_string(inner.join("d/resource")).unwrap(), "data");
    // Links to the same content.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(inner.join("f"), elsewhere.path().join("f")).unwrap();
    fs::remove_file(inner.join("f")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("f"), inner.join("f")).unwrap();
    get();
    assert!(inner.join("f").symlink_metadata().unwrap().is_file());
    fs::rename(inner.join("d"), elsewhere.path().join("d")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("d"), inner.join("d")).unwrap();
    get();
    assert!(inner.join("d").symlink_metadata().unwrap().is_dir());
    // What others may write to.
    let entry = base.path().join("x");
    for path in [entry.clone(), entry.join("list"), inner.clone(), inner.join("d"), inner.join("f")] {
        chmod(&path, 0o777);
        get();
        assert_eq!(path.metadata().unwrap().mode() & 0o022, 0, "{}", path.display());
    }
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(inner.join("d/resource"), Some(1000), None).unwrap();
        get();
        assert_eq!(inner.join("d/resource").metadata().unwrap().uid(), 0);
    }
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
}

/// Links do not pile up: the next one takes those away behind which there is nothing any more.
#[test]
fn a_folder_has_one_link_as_long_as_it_is_there() {
    let temp = tempfile::tempdir().unwrap();
    let directories = [temp.path().join("absent"), temp.path().to_owned()];
    let link = |folder: &Path| link_in(directories.iter(), folder).unwrap();
    let (a, b) = (temp.path().join("a a"), temp.path().join("\u{e4}"));
    [&a, &b].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let to_a = link(&a);
    assert_eq!((fs::canonicalize(&to_a).unwrap(), link(&a)), (a.canonicalize().unwrap(), to_a.clone()));
    fs::remove_dir(&a).unwrap();
    let to_b = link(&b);
    assert!(to_b.is_dir() && fs::symlink_metadata(&to_a).is_err(), "{}", to_a.display());
    assert_eq!(plain_path(&b, |_| true).unwrap(), b);
}
