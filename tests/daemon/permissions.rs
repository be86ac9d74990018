//! What a daemon reads for somebody else who asks it over its socket: what that user may read, and nothing more.

use super::client::Daemon;
use super::program::{self, jail, shared_core, user, wait_until};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What nobody but root may know.
const SECRET: &str = "x7fq2-secret";

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A daemon that everybody may speak to, in a folder that everybody may look into.
struct Bench(Daemon);

impl Bench {
    fn new() -> Bench {
        let folder = program::tempdir().unwrap();
        chmod(folder.path(), 0o755);
        Bench::of(Daemon::with(folder, &[]))
    }

    fn of(daemon: Daemon) -> Bench {
        chmod(&daemon.socket(), 0o666);
        Bench(daemon)
    }

    /// A file there, of this user.
    fn write(&self, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = self.0.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        chmod(&path, mode);
        path
    }

    /// A user without any privilege asks for it, and gets it.
    fn is_granted(&self, arguments: &[&str], input: &str) {
        let (code, said) = self.asked_by_nobody(arguments, input);
        assert_eq!(code, 0, "{said}");
    }

    /// What `vecud ctl` says to a user without any privilege, and its exit code.
    fn asked_by_nobody(&self, arguments: &[&str], input: &str) -> (i32, String) {
        self.asked_by(user::AS_NOBODY, arguments, input)
    }

    /// The same to whoever these words make him.
    fn asked_by(&self, words: &[&str], arguments: &[&str], input: &str) -> (i32, String) {
        let (program, options) = words.split_first().unwrap();
        let mut command = Command::new(program);
        command.args(options).arg(jail::public().join("vecud")).arg("ctl").arg("--socket").arg(self.0.socket());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    }

    /// He puts the rig of this text: it is refused, since he may not read `file`.
    fn is_refused(&self, text: &str, file: &Path) {
        let (code, said) = self.asked_by_nobody(&["put", "his", "-"], text);
        self.is_told(code, &said, file);
    }

    fn is_told(&self, code: i32, said: &str, file: &Path) {
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("ermission denied") && said.contains("user 65534"), "{said}");
        assert!(said.contains(file.to_str().unwrap()), "{said}");
        self.keeps_the_secret(said);
    }

    fn keeps_the_secret(&self, said: &str) {
        assert!(!said.contains(SECRET), "{said}");
        assert!(!self.0.log().contains(SECRET), "{}", self.0.log());
        let state = everything_below(&self.0.folder.path().join("state"));
        let told = |file: &&PathBuf| String::from_utf8_lossy(&fs::read(file).unwrap()).contains(SECRET);
        assert_eq!(state.iter().find(told), None);
    }
}

/// The files in a folder, and in the folders there.
fn everything_below(folder: &Path) -> Vec<PathBuf> {
    let below = |entry: fs::DirEntry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => everything_below(&entry.path()),
        kind if kind.is_file() => vec![entry.path()],
        _ => Vec::new(),
    };
    fs::read_dir(folder).unwrap().flat_map(|entry| below(entry.unwrap())).collect()
}

/// A rig of the tracer that everybody may read, with these lines behind it.
fn public_tracer(rest: &str) -> String {
    rig_of(&jail::fmu("tracer"), rest)
}

fn rig_of(fmu: &Path, rest: &str) -> String {
    format!("[rig]\noverrun = 'queue'\n[fmu.tracer]\npath = '{}'\n{rest}\n", fmu.display())
}

fn fed_by(file: &Path) -> String {
    public_tracer(&format!("[[stimulus]]\nfile = '{}'", file.display()))
}

#[test]
fn no_word_of_a_file_that_the_asker_may_not_read_is_told_as_this_user() {
    if !user::becomes_others("no_word_of_a_file_that_the_asker_may_not_read_is_told_as_this_user") {
        return;
    }
    let bench = Bench::new();
    let secret = bench.write("secret.csv", 0o600, &format!("{SECRET}\n"));
    let folder = bench.0.folder.path();
    bench.is_refused(&fed_by(&secret), &secret);
    // Links of his own lead nowhere else.
    let link = folder.join("link.csv");
    symlink(&secret, &link).unwrap();
    bench.is_refused(&fed_by(&link), &link);
    // Nor does what a process sees of its own files.
    bench.is_refused(&fed_by(Path::new("/proc/self/environ")), Path::new("/proc/self/environ"));
    bench.is_refused(&fed_by(Path::new("/proc/self/maps")), Path::new("/proc/self/maps"));
    // Whether there is anything in a closed folder he does not know either.
    let closed = bench.write("closed/there.csv", 0o644, SECRET);
    chmod(closed.parent().unwrap(), 0o700);
    bench.is_refused(&fed_by(&closed), &closed);
    let none = closed.with_file_name("none.csv");
    bench.is_refused(&fed_by(&none), &none);
    let recorded = closed.with_file_name("signals.csv");
    bench.is_refused(&public_tracer(&format!("[[stimulus]]\nrecording = '{}'", recorded.display())), &recorded);
    for path in [&closed, &none] {
        bench.is_refused(&public_tracer(&format!("preload = ['{}']", path.display())), path);
    }
    // A rig in a file, by its path.
    let (code, said) = bench.asked_by_nobody(&["put", "his", secret.to_str().unwrap()], "");
    bench.is_told(code, &said, &secret);
    // The same of the daemon's own user is his mistake, which is told.
    let told = bench.0.put("own", &fed_by(&secret)).detail(422);
    assert!(told.contains(SECRET), "{told}");
}

/// By owner, group, or a group beside that.
#[test]
fn what_the_asker_may_read_is_read_as_this_user() {
    if !user::becomes_others("what_the_asker_may_read_is_read_as_this_user") {
        return;
    }
    let bench = Bench::new();
    let file = bench.write("drive.csv", 0o640, "time,tracer.in_f64\n0,1\n1,2\n");
    let owned = |user, group| std::os::unix::fs::chown(&file, Some(user), Some(group)).unwrap();
    bench.is_refused(&fed_by(&file), &file);
    owned(0, 54321);
    bench.is_refused(&fed_by(&file), &file);
    let (code, said) = bench.asked_by(user::AS_MEMBER, &["put", "his", "-"], &fed_by(&file));
    assert_eq!(code, 0, "{said}");
    owned(65534, 0);
    bench.is_granted(&["put", "his", "-"], &fed_by(&file));
    // A rig in a file of his, which names others beside it.
    let rig = bench.write("rig.toml", 0o600, &fed_by(Path::new("drive.csv")));
    std::os::unix::fs::chown(&rig, Some(65534), Some(65534)).unwrap();
    bench.is_granted(&["put", "his", rig.to_str().unwrap()], "");
    bench.is_granted(&["start", "his", "--mode", "virtual", "--stop-time", "0.1"], "");
}

/// Where a socket of a rig would be is told to whoever may look there.
#[test]
fn no_socket_is_made_where_the_asker_may_not_look_as_this_user() {
    if !user::becomes_others("no_socket_is_made_where_the_asker_may_not_look_as_this_user") {
        return;
    }
    let bench = Bench::new();
    let closed = bench.write("closed/there", 0o644, SECRET);
    chmod(closed.parent().unwrap(), 0o700);
    let text = public_tracer(&format!("[[trigger]]\nclock = 'tracer.high'\nunix = '{}'", closed.display()));
    bench.is_granted(&["put", "his", "-"], &text);
    let (code, said) = bench.asked_by_nobody(&["start", "his", "--mode", "realtime"], "");
    bench.is_told(code, &said, closed.parent().unwrap());
}

#[test]
fn an_fmu_that_the_asker_may_not_read_is_not_run_as_this_user() {
    if !user::becomes_others("an_fmu_that_the_asker_may_not_read_is_not_run_as_this_user") {
        return;
    }
    let bench = Bench::new();
    let folder = bench.0.folder.path();
    let fmu = program::copied_tracer(&folder.join("closed"));
    bench.0.put("own", &rig_of(&fmu, "")).json(201);
    bench.is_granted(&["put", "his", "-"], &rig_of(&fmu, ""));
    // The folder, a file of it, and one that a link of it leads to.
    chmod(&fmu, 0o700);
    bench.is_refused(&rig_of(&fmu, ""), &fmu);
    chmod(&fmu, 0o755);
    let source = fmu.join("sources/grid.c");
    chmod(&source, 0o600);
    bench.is_refused(&rig_of(&fmu, ""), &source);
    bench.0.put("own", &rig_of(&fmu, "")).json(200);
    chmod(&source, 0o644);
    let secret = bench.write("secret.h", 0o600, &format!("#error {SECRET}\n"));
    let header = fmu.join("sources/tracer.h");
    fs::remove_file(&header).unwrap();
    symlink(&secret, &header).unwrap();
    bench.is_refused(&rig_of(&fmu, ""), &header);
    // A compiler that reads whatever the daemon may, for nobody else.
    let (code, said) = bench.asked_by_nobody(&["put", "his", "-"], &public_tracer("compiler_options = 'trust'"));
    assert!(code == 2 && said.contains("compiler_options"), "{said}");
    // An archive.
    let archive = bench.write("closed.fmu", 0o600, SECRET);
    bench.is_refused(&rig_of(&archive, ""), &archive);
}

/// Whoever starts it, and whenever: a rig reads what the user may who has put it.
#[test]
fn a_rig_stays_that_of_who_has_put_it_as_this_user() {
    if !user::becomes_others("a_rig_stays_that_of_who_has_put_it_as_this_user") {
        return;
    }
    shared_core(|| {
        let mut bench = Bench::new();
        let file = bench.write("drive.csv", 0o644, "time,tracer.in_f64\n0,1\n1,2\n");
        assert_eq!(bench.asked_by_nobody(&["put", "his", "-"], &fed_by(&file)), (0, "his: idle\n".to_owned()));
        bench.is_granted(&["start", "his"], "");
        bench.0.end();
        fs::write(&file, format!("{SECRET}\n")).unwrap();
        chmod(&file, 0o600);
        bench.0.start();
        chmod(&bench.0.socket(), 0o666);
        wait_until("it could not begin", || bench.0.state("his") == "failed");
        let told = bench.0.get("/v1/rigs/his").body;
        assert!(told.contains("ermission denied") && told.contains("user 65534"), "{told}");
        bench.keeps_the_secret(&told);
        let told = bench.0.post("/v1/rigs/his/start", "").detail(422);
        assert!(told.contains("ermission denied"), "{told}");
        bench.keeps_the_secret(&told);
        // Put by the daemon's own user it is his.
        let told = bench.0.put("his", &fed_by(&file)).detail(422);
        assert!(told.contains(SECRET), "{told}");
    });
}

/// A daemon that cannot take the rights of others goes by the modes of files and folders.
#[test]
fn a_daemon_of_an_ordinary_user_reads_for_others_what_modes_let_them_as_this_user() {
    if !user::becomes_others("a_daemon_of_an_ordinary_user_reads_for_others_what_modes_let_them_as_this_user") {
        return;
    }
    let folder = program::tempdir().unwrap();
    chmod(folder.path(), 0o755);
    let own = |path: &Path| std::os::unix::fs::chown(path, Some(user::ANOTHER), Some(user::ANOTHER)).unwrap();
    own(folder.path());
    let mut command = Command::new(user::AS_ANOTHER[0]);
    command.args(&user::AS_ANOTHER[1..]);
    command.arg(jail::public().join("vecud")).arg("daemon").arg("--rigs").arg(folder.path());
    command.arg("--socket").arg(folder.path().join("socket")).arg("--state").arg(folder.path().join("state"));
    command.env("VECUD_CACHE", folder.path().join("cache")).env("TMPDIR", folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(folder.path().join("log")).unwrap());
    let daemon = Daemon::by(folder, command);
    wait_until("the daemon answers", || std::os::unix::net::UnixStream::connect(daemon.socket()).is_ok());
    let bench = Bench::of(daemon);
    let file = bench.write("drive.csv", 0o644, "time,tracer.in_f64\n0,1\n1,2\n");
    assert_eq!(bench.asked_by_nobody(&["put", "his", "-"], &fed_by(&file)), (0, "his: idle\n".to_owned()));
    let secret = bench.write("closed/secret.csv", 0o644, SECRET);
    own(&secret);
    own(secret.parent().unwrap());
    chmod(secret.parent().unwrap(), 0o700);
    bench.is_refused(&fed_by(&secret), &secret);
    chmod(secret.parent().unwrap(), 0o755);
    chmod(&secret, 0o600);
    bench.is_refused(&fed_by(&secret), &secret);
    let link = bench.0.folder.path().join("link.csv");
    symlink("closed/../closed/secret.csv", &link).unwrap();
    bench.is_refused(&fed_by(&link), &link);
    bench.is_refused(&fed_by(Path::new("/proc/self/maps")), Path::new("/proc/self/maps"));
}
