//! The output directory: made before the run with room for its report, filled at the end.
//!
//! Guarantees: files that are there stay untouched until the run begins. A run begins only if `report.json` has room; where the
//! file system can set room aside, nothing else that fills the disk takes it. The folder stays open from then on: whatever takes
//! its name, files go to the folder that was made. No link in it is followed, and root writes nowhere where another user could
//! change the files.

use super::Error;
use rustix::fs::{Access, AtFlags, CWD, FallocateFlags, FlockOperation};
use rustix::io::Errno;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vecud_linux::files::{self, Folder};
use vecud_plan::{Mode, Plan};
use vecud_report::{Kind, Problem, Run, Subject};

/// An output directory that exists.
#[derive(Debug)]
pub struct OutputFolder {
    folder: Folder,
    /// Directories that were made for it, outermost first: the one that each is in, and its name.
    made: Vec<(Folder, PathBuf)>,
    /// For each file of [`ROOM`], whether it exists.
    room: [bool; 2],
    /// Locked as long as it is open: two runs in one folder would write over each other.
    _lock: Option<File>,
}

/// Suffix of a file that is being written.
pub(super) const PARTIAL: &str = ".part";
/// Reserve space for the report, which is needed most when a recording has filled the disk: `report.json` until it is
/// written, and a file for all others.
pub(super) const ROOM: [&str; 2] = ["report.json.part", ".reserve.part"];
const KIB: u64 = 1 << 10;
/// Name of the file with the checkpoint of a running run.
pub(super) const CHECKPOINT: &str = "checkpoint.json";

impl OutputFolder {
    /// Makes the directory if need be. `within`: a folder above it, from which on no part of its path may be a link.
    pub fn create(path: &Path, within: Option<&Folder>) -> Result<OutputFolder, Error> {
        let refuse = |error| Error::Output(path.to_owned(), error);
        trusted(path)?;
        let own = within.and_then(|folder| Some((folder, path.strip_prefix(folder.path()).ok()?)));
        if own.is_none() {
            is_or_can_be_folder(path).map_err(|why| refuse(io::Error::other(why)))?;
        }
        let mut made = Vec::new();
        let mut note = |folder: &Folder, name: &Path| made.push((folder.clone(), name.to_owned()));
        let folder = match own {
            Some((folder, inner)) => folder.make_beneath(inner, &mut note),
            None => Folder::make_all(path, &mut note),
        };
        OutputFolder::of(folder.map_err(refuse), made)
    }

    /// Makes a folder inside `folder`. A link in its place, which could lead anywhere, is an error.
    pub fn create_inside(folder: &Folder, name: &str) -> Result<OutputFolder, Error> {
        let mut made = Vec::new();
        let mut note = |folder: &Folder, name: &Path| made.push((folder.clone(), name.to_owned()));
        let inner = folder.make_beneath(Path::new(name), &mut note);
        OutputFolder::of(inner.map_err(|error| Error::Output(folder.path().join(name), error)), made)
    }

    /// Makes a folder of this name inside the one at `path`, which is made as well if need be, and returns both.
    pub fn create_two(path: &Path, name: &str) -> Result<(OutputFolder, Folder), Error> {
        let OutputFolder { folder, mut made, .. } = OutputFolder::create(path, None)?;
        match OutputFolder::create_inside(&folder, name) {
            Ok(inner) => {
                made.extend(inner.made);
                Ok((OutputFolder { made, ..inner }, folder))
            }
            Err(error) => {
                take_back(&made);
                Err(error)
            }
        }
    }

    fn of(folder: Result<Folder, Error>, made: Vec<(Folder, PathBuf)>) -> Result<OutputFolder, Error> {
        let ready = folder.and_then(|folder| {
            folder.may_be_written().map_err(|error| Error::Output(folder.path().to_owned(), error))?;
            Ok((lock_held(&folder)?, folder))
        });
        match ready {
            Ok((lock, folder)) => Ok(OutputFolder { folder, made, room: [false; 2], _lock: Some(lock) }),
            Err(error) => {
                take_back(&made);
                Err(error)
            }
        }
    }

    /// Makes a folder in one that is in it, or itself, unless it is there. [`OutputFolder::undo`] takes it back.
    pub fn make(&mut self, folder: &Folder, name: &str) -> Result<(), Error> {
        if folder.make(name).map_err(|error| Error::Output(folder.path().join(name), error))? {
            self.made.push((folder.clone(), name.into()));
        }
        Ok(())
    }

    /// Path of the directory, as users know it.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder itself.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Reserves space for the report, once. `Err`: the space does not suffice even for report.json, although `freed`
    /// bytes will be released before the run begins.
    ///
    /// File systems that cannot reserve space are used without.
    pub fn take_room(&mut self, plan: &Plan, freed: u64) -> Result<(), Error> {
        // More than twice the usual size of a report: last words and problems may be long.
        let (tasks, fmus) = (plan.units.len() as u64, plan.fmus.len() as u64);
        // In real time the report also has the worst activations, latencies over time, and histograms by intervals.
        let (each, others) = if plan.mode == Mode::RealTime { (30, 176) } else { (2, 96) };
        let each = each + if plan.trace.kernel { 8 } else { 0 };
        // The kernel's counters for each core.
        let cores: BTreeSet<usize> = plan.cores().into_iter().filter(|_| plan.mode == Mode::RealTime).collect();
        // The name of each column, its unit and its type.
        let columns: u64 = plan.signals.iter().map(|signal| signal.name.len() as u64 + 48).sum();
        let first = KIB * (16 + 4 * cores.len() as u64 + each * tasks + 8 * fmus + columns.div_ceil(KIB));
        let others = KIB * (256 + others * tasks.min(1000) + 12 * (plan.signals.len() as u64).min(60));
        let [report, rest] = ROOM.map(|name| self.folder.join(name));
        match take(&report, first, self.room[0]) {
            Ok(()) => self.room[0] = true,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(Errno::NOSPC | Errno::DQUOT) if freed >= first => {}
            Err(error) => {
                let why = format!("there is no room for report.json ({} KiB): {}", first / KIB, io::Error::from(error));
                return Err(Error::Output(self.path().to_owned(), io::Error::other(why)));
            }
        }
        // A run is worth more than the other files.
        self.room[1] = take(&rest, others, self.room[1]).is_ok();
        Ok(())
    }

    /// The files that keep room for the report.
    pub fn room(&self) -> impl Iterator<Item = PathBuf> {
        ROOM.into_iter().zip(self.room).filter(|(_, taken)| *taken).map(|(name, _)| self.folder.join(name))
    }

    /// Takes back what [`OutputFolder::create`] has made, since there is no run.
    pub fn undo(self) {
        for path in self.room() {
            let _ = fs::remove_file(path);
        }
        take_back(&self.made);
    }

    /// Writes the sources of all other files: `histograms.hlog`, and then `report.json`, in its reserved space; a
    /// reader that finds the second finds the first. The error names `report.json`.
    pub fn write_first(&self, run: &Run) -> Result<(), String> {
        let _it_is_written_again = write_log(&self.folder.way(), run);
        self.write_json(run)
    }

    /// Writes all files of the report, each on its own: those that fail are named together in a problem of the run, and then
    /// `report.json` is written again. `first`: what came of [`OutputFolder::write_first`]. The last checkpoint is there until nobody
    /// needs it any more; `lasts`: it was forced to the disk.
    pub fn write(&self, run: &mut Run, first: Result<(), String>, lasts: bool) {
        let _ = fs::remove_file(self.folder.join(ROOM[1]));
        let log = write_log(&self.folder.way(), run);
        let json = self.write_json(run).or(first);
        if log.is_ok() && json.is_ok() {
            self.forget_checkpoint(lasts);
        }
        let (others, count) = write_others(&self.folder.way(), run);
        let failures: Vec<String> = json.err().into_iter().chain(log.err()).chain(others).collect();
        let what = match failures.as_slice() {
            [] => return,
            [one] => format!("cannot write {one}"),
            [first, ..] => format!("cannot write {} of {} files (the first is {first})", failures.len(), count + 2),
        };
        let text = format!("the report is incomplete: {}: {what}", self.path().display());
        run.problems.push(Problem::failure(Subject::Run, Kind::ReportIncomplete { text }));
        // A failure is shown on the terminal as well.
        let _ = self.write_json(run);
    }

    fn write_json(&self, run: &Run) -> Result<(), String> {
        put(&self.folder.way(), "report.json", || vecud_report::json(run))
    }

    /// Removes the last checkpoint, if there is one; if it `lasts`, its replacement is forced to the disk first.
    fn forget_checkpoint(&self, lasts: bool) {
        let checkpoint = self.folder.join(CHECKPOINT);
        if !checkpoint.exists() {
            return;
        }
        let is_on_the_disk = |path: PathBuf| File::open(path).and_then(|file| file.sync_all()).is_ok();
        if !lasts {
            let _ = fs::remove_file(checkpoint);
        } else if ["histograms.hlog", "report.json"].into_iter().all(|name| is_on_the_disk(self.folder.join(name))) {
            // Forces the names to the disk as well, where folders can be.
            let _ = File::open(self.folder.way()).and_then(|folder| folder.sync_all());
            let _ = fs::remove_file(checkpoint);
        }
    }
}

fn write_log(folder: &Path, run: &Run) -> Result<(), String> {
    put(folder, "histograms.hlog", || vecud_report::hlog(run))
}

/// Writes the files of a report except `report.json` and `histograms.hlog`, each on its own. Returns the failures with
/// their reasons, and the number of files.
fn write_others(folder: &Path, run: &Run) -> (Vec<String>, usize) {
    type Make = fn(&Run) -> Vec<(String, String)>;
    let others: [(&str, Make); 4] = [
        ("report.html", |run| vec![("report.html".to_owned(), vecud_report::html(run))]),
        ("junit.xml", |run| vec![("junit.xml".to_owned(), vecud_report::junit(run))]),
        ("cyclictest.json", |run| {
            vecud_report::cyclictest(run).map(|text| ("cyclictest.json".to_owned(), text)).into_iter().collect()
        }),
        ("*.hgrm", vecud_report::hgrms),
    ];
    let (mut failures, mut count) = (Vec::new(), 0);
    for (name, make) in others {
        match alone(|| make(run)) {
            Ok(files) => {
                count += files.len();
                failures.extend(files.into_iter().filter_map(|(name, text)| put(folder, &name, || text).err()));
            }
            Err(defect) => {
                count += 1;
                failures.push(format!("{name}: {defect}"));
            }
        }
    }
    (failures, count)
}

/// Writes the report of a run that has not ended, or whose end is unknown, with its histograms. Leaves the reserved
/// space of a running run alone. Returns the failures with their reasons.
pub fn write_unfinished(folder: &Path, run: &Run) -> Vec<String> {
    let partial = format!("report.json.{}{PARTIAL}", std::process::id());
    let json = alone(|| vecud_report::json(run))
        .and_then(|text| {
            let (path, partial) = (folder.join("report.json"), folder.join(partial));
            write_by(&path, &partial, text.as_bytes(), false).map_err(|error| error.to_string())
        })
        .map_err(|error| format!("report.json: {error}"));
    let log = write_log(folder, run);
    json.err().into_iter().chain(log.err()).chain(write_others(folder, run).0).collect()
}

/// Writes a checkpoint of a running run. If it `lasts`, it is on the disk when this returns, and its predecessor stays
/// until then.
pub(super) fn write_checkpoint(folder: &Path, run: &Run, lasts: bool) -> Result<(), String> {
    let text = alone(|| vecud_report::checkpoint(run))?;
    let path = folder.join(CHECKPOINT);
    write_by(&path, &with_ending(&path), text.as_bytes(), lasts).map_err(|error| error.to_string())?;
    if lasts {
        // Forces the name to the disk as well. Where folders cannot be forced, the name gets there later.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

fn put(folder: &Path, name: &str, make: impl FnOnce() -> String) -> Result<(), String> {
    let content = alone(make).map_err(|defect| format!("{name}: {defect}"))?;
    write_whole(&folder.join(name), content.as_bytes()).map_err(|error| format!("{name}: {error}"))
}

/// Isolates work whose failure must not affect anything else: a panic becomes an error with its message.
pub(super) fn alone<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    thread_local! {
        /// Message of a panic on this thread during such work; `None`: no such work is in progress.
        static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
    }
    /// Panics of all other work go to the previous hook.
    static HEARD: Once = Once::new();
    HEARD.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let heard = SAID.with_borrow_mut(|said| said.as_mut().map(|said| *said = panic.to_string()));
            heard.unwrap_or_else(|| others(panic));
        }));
    });
    SAID.set(Some(String::new()));
    let result = std::panic::catch_unwind(AssertUnwindSafe(work));
    let said = SAID.take().unwrap_or_default();
    result.map_err(|_| format!("a defect of vecud's ({}); please report this", said.replace('\n', " ")))
}

/// Whether a run writes to a folder, as far as the file system tells.
pub fn is_in_use(folder: &Path) -> bool {
    matches!(lock(folder), Err(Error::OutputInUse(_)))
}

/// Keeps other runs out of a folder while the returned file is open.
pub fn lock(path: &Path) -> Result<File, Error> {
    let folder = File::open(path).map_err(|error| Error::Output(path.to_owned(), error))?;
    match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(Error::OutputInUse(path.to_owned())),
        // File systems without locks are used without.
        _ => Ok(folder),
    }
}

/// Locks a folder by an open handle, as [`lock`] does by path.
pub(super) fn lock_held(folder: &Folder) -> Result<File, Error> {
    lock(&folder.way()).map_err(|error| match error {
        Error::OutputInUse(_) => Error::OutputInUse(folder.path().to_owned()),
        Error::Output(_, error) => Error::Output(folder.path().to_owned(), error),
        error => error,
    })
}

/// Removes folders that were made, innermost first.
fn take_back(made: &[(Folder, PathBuf)]) {
    for (folder, name) in made.iter().rev() {
        // Fails when others have put something there; then the folder stays.
        let _ = folder.remove_empty(name);
    }
}

/// Explains why a path is no folder and cannot become one.
fn is_or_can_be_folder(path: &Path) -> Result<(), &'static str> {
    match (fs::symlink_metadata(path), fs::metadata(path)) {
        (Ok(found), Err(error)) if found.is_symlink() && error.kind() == io::ErrorKind::NotFound => {
            Err("it is a link to nothing")
        }
        (_, Ok(found)) if !found.is_dir() => Err("it is no folder"),
        _ => Ok(()),
    }
}

/// Refuses, for root, a folder whose content others can change.
pub(super) fn trusted(folder: &Path) -> Result<(), Error> {
    match files::stranger_to_root(folder) {
        Some(stranger) => {
            let why = format!("{stranger}, who could have root write over any file");
            Err(Error::Output(folder.to_owned(), io::Error::other(why)))
        }
        None => Ok(()),
    }
}

/// Checks whether files can be made in a folder, before anything is started.
pub(super) fn may_write(folder: &Path) -> io::Result<()> {
    let may = Access::WRITE_OK | Access::EXEC_OK;
    Ok(rustix::fs::accessat(CWD, folder, may, AtFlags::EACCESS)?)
}

/// Reserves this many bytes as a file, unless it is `there`.
fn take(path: &Path, size: u64, there: bool) -> Result<(), Errno> {
    if there {
        return Ok(());
    }
    let number = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let taken = files::create(path)
        .map_err(number)
        .and_then(|file| rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size));
    if taken.is_err() {
        let _ = fs::remove_file(path);
    }
    taken
}

/// Writes a file as a whole or not at all.
///
/// # Errors
/// Errors of the operating system; then nothing is left behind.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    write_by(path, &with_ending(path), content, false)
}

/// [`write_whole`] for a file that several processes and threads may replace at the same time: the last one's content stays.
///
/// # Errors
/// As for [`write_whole`].
pub fn write_shared(path: &Path, content: &[u8]) -> io::Result<()> {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}-{}{PARTIAL}", std::process::id(), WRITTEN.fetch_add(1, Relaxed)));
    write_by(path, Path::new(&partial), content, false)
}

/// Writes a file as a whole or not at all, and forces it to the disk, so that it survives a crash of the machine.
///
/// # Errors
/// Errors of the operating system, as for [`write_whole`].
pub fn write_lasting(path: &Path, content: &[u8]) -> io::Result<()> {
    write_by(path, &with_ending(path), content, true)
}

/// The name of a file while it is written.
fn with_ending(path: &Path) -> PathBuf {
    let mut partial = path.as_os_str().to_owned();
    partial.push(PARTIAL);
    partial.into()
}

/// Writes a file under a temporary name first. `lasts`: its content is forced to the disk before the renaming.
fn write_by(path: &Path, partial: &Path, content: &[u8], lasts: bool) -> io::Result<()> {
    // Reuses the reserved space: once released, it could be taken by others.
    let written = files::reopen(partial).and_then(|mut file| {
        if lasts {
            // Rigs contain private values, such as variables of the environment.
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        file.write_all(content)?;
        file.set_len(content.len() as u64)?;
        if lasts { file.sync_all() } else { Ok(()) }
    });
    let result = written.and_then(|()| fs::rename(partial, path));
    if result.is_err() {
        let _ = fs::remove_file(partial);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_folder_is_told_from_a_link_to_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, well] = ["file", "link", "well"].map(|name| folder.path().join(name));
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink("nothing", &link).unwrap();
        std::os::unix::fs::symlink(".", &well).unwrap();
        let refusal = |path: &Path| OutputFolder::create(path, None).unwrap_err().to_string();
        assert!(refusal(&file).contains("cannot be used: it is no folder"), "{}", refusal(&file));
        assert!(refusal(&link).contains("cannot be used: it is a link to nothing"), "{}", refusal(&link));
        assert_eq!((is_or_can_be_folder(&well), is_or_can_be_folder(&folder.path().join("new"))), (Ok(()), Ok(())));
        assert_eq!(fs::read(&file).unwrap(), b"x");
    }

    /// As two `vecud doctor` at a time do with their measurements.
    #[test]
    fn a_shared_file_is_replaced_by_many_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shared");
        std::thread::scope(|scope| {
            for own in [b"a", b"b", b"c", b"d"] {
                let replace = || (0..50).for_each(|_| write_shared(&file, own).unwrap());
                scope.spawn(replace);
            }
        });
        assert_eq!(fs::read(&file).unwrap().len(), 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no part of a file is left");
    }

    #[test]
    fn a_defect_in_one_output_is_an_error_in_its_words() {
        let defect = alone(|| -> u8 { panic!("two\nlines") }).unwrap_err();
        assert!(defect.starts_with("a defect of vecud's (panicked at crates/host/src/files.rs:"), "{defect}");
        assert!(defect.ends_with("two lines); please report this"), "{defect}");
        assert_eq!(alone(|| 7), Ok(7));
    }

    /// A crash while the report is written loses nothing: the last checkpoint stays until both files exist from which
    /// the others can be made, and the second of them is never there without the first.
    #[test]
    fn a_checkpoint_is_there_until_the_report_can_do_without_it() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputFolder::create(&folder.path().join("o"), None).unwrap();
        let there = |name: &str| folder.path().join("o").join(name).exists();
        let mut run = vecud_report::sample(1);
        write_checkpoint(output.path(), &run, true).unwrap();
        let first = output.write_first(&run);
        assert!(first.is_ok() && there("histograms.hlog") && there("report.json") && there(CHECKPOINT));
        // No histograms: what is known of them is in the checkpoint alone.
        fs::remove_file(output.path().join("histograms.hlog")).unwrap();
        fs::create_dir(output.path().join("histograms.hlog")).unwrap();
        output.write(&mut run, first, true);
        assert!(there(CHECKPOINT) && there("report.html"));
        fs::remove_dir(output.path().join("histograms.hlog")).unwrap();
        output.write(&mut run, Ok(()), true);
        assert!(!there(CHECKPOINT) && there("histograms.hlog"));
    }
}
