//! Whoever asks for much, or holds back what he has begun to send: others are answered, rigs end when they are asked to, the daemon takes
//! little memory, and nothing outlives it.
//!
//! Under each attack that is what [`steady_is_served_and_stops`] asserts, and at its end [`ends_alone`].

use super::client::{Answer, Daemon, descendants, exchange, request, tracer};
use super::program::{copied_tracer, own_core, runners_now, send, shared_core, wait_until};
use super::tcp::{AUTHORIZATION, LOCAL, connect, over_tcp, over_tcp_in, port};
use nix::sys::signal::Signal::{SIGKILL, SIGSTOP};
use nix::sys::socket::{MsgFlags, recv};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The time that each answer may take while an attack goes on.
const SOON: Duration = Duration::from_secs(1);
/// What the daemon may take of memory meanwhile, KiB.
const MOST_MEMORY: u64 = 256 << 10;
/// Checks of rigs at a time.
const CHECKS: usize = 16;
/// Connections at a time.
const CONNECTIONS: usize = 256;
/// Waits for a rig at a time.
const WAITS: usize = 64;
/// Streams of events at a time.
const STREAMS: usize = 32;
/// Pauses at a time.
const PAUSES: usize = 16;
/// FMUs of a rig whose plan takes long.
const FMUS: usize = 800;

/// A compiler which, while there is the file `slow` beside it, does not come to the end of sources in folders that are called so.
const COMPILER: &str = r#"#!/bin/sh
case "$*" in *slow*) [ -e FOLDER/slow ] && sh -c 'sleep 1000; exit 1' FOLDER/at-work;; esac
exec cc "$@"
"#;

/// A daemon with that compiler, and nothing built yet, and its port.
fn with_slow_compiler() -> (Daemon, u16) {
    let folder = crate::program::tempdir().unwrap();
    let environment = slow_compiler(folder.path());
    over_tcp_in(folder, &["--anonymous-read"], environment)
}

/// The environment of a daemon with that compiler.
fn slow_compiler(folder: &Path) -> Vec<(&'static str, OsString)> {
    let compiler = folder.join("compiler");
    std::fs::write(&compiler, COMPILER.replace("FOLDER", folder.to_str().unwrap())).unwrap();
    std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).unwrap();
    vec![("CC", compiler.into()), ("VECUD_CACHE", folder.join("cache").into())]
}

/// A rig of a tracer whose sources nobody has built.
fn slow_rig(daemon: &Daemon, number: usize) -> String {
    let fmu = copied_tracer(&daemon.folder.path().join(format!("slow{number}")));
    let source = fmu.join("sources/fmu.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("/* {number} */\n{text}")).unwrap();
    format!("[fmu.tracer]\npath = '{}'\n", fmu.display())
}

/// Compilers that are at work for this daemon.
fn at_work(folder: &Path) -> usize {
    let mark = folder.join("at-work");
    let lines =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.filter(|line| line.ends_with(&[mark.as_os_str().as_encoded_bytes(), b"\0"].concat())).count()
}

/// Folders of builds that are not complete.
fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("cache")).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(".tmp")).collect()
}

/// The most memory that a daemon has had so far, KiB.
fn most_memory(daemon: &Daemon) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// What is given, within the time that an answer may take.
fn soon<T>(what: &str, ask: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let given = ask();
    assert!(began.elapsed() < SOON, "{what}: {:?}", began.elapsed());
    given
}

/// Sends a request for which nobody waits yet.
fn begin(daemon: &Daemon, method: &str, path: &str, body: &str) -> UnixStream {
    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
    stream.write_all(request(method, path, "host: vecud\r\n", body).as_bytes()).unwrap();
    stream
}

/// Whether something is answered to that.
fn is_answered(stream: &UnixStream) -> bool {
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    recv(stream.as_raw_fd(), &mut [0], flags).is_ok()
}

/// What is answered to that.
fn answer(mut stream: UnixStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    Answer::of(&bytes)
}

/// A rig runs, is looked at, over TCP with the token as well, and is stopped by force, another one in good order, all of it at once.
fn steady_is_served_and_stops(daemon: &Daemon) {
    for path in ["/healthz", "/v1/rigs", "/v1/rigs/steady/runs", "/v1/rigs/steady/clocks", "/metrics"] {
        assert_eq!(soon(path, || daemon.get(path)).status, 200, "{path}");
    }
    with_token(daemon);
    for what in ["pause", "resume"] {
        soon(what, || daemon.post(&format!("/v1/rigs/steady/{what}"), "")).json(200);
    }
    soon("stop", || daemon.post("/v1/rigs/steady/stop?now=true", "")).json(200);
    soon("reset", || daemon.post("/v1/rigs/steady/reset", "")).json(200);
    soon("stop in good order", || daemon.post("/v1/rigs/calm/stop", "")).json(200);
    takes_little_memory(daemon);
}

fn takes_little_memory(daemon: &Daemon) {
    let memory = most_memory(daemon);
    assert!(memory < MOST_MEMORY, "{memory} KiB");
}

/// Who has the token is answered at once.
fn with_token(daemon: &Daemon) {
    let port = port(daemon).unwrap();
    let asked =
        || exchange(connect(port), request("GET", "/v1/rigs/steady", &[LOCAL, AUTHORIZATION].concat(), "").as_bytes());
    Answer::of(&soon("with the token", asked)).json(200);
}

/// A daemon that is about to be attacked: two of its rigs run, and beside its state folder is something that is none of its business.
fn prepared((daemon, _): (Daemon, u16)) -> Daemon {
    std::fs::write(daemon.folder.path().join("precious"), "mine").unwrap();
    for name in ["steady", "calm"] {
        assert!(daemon.put(name, &tracer("")).status < 300);
        daemon.post(&format!("/v1/rigs/{name}/start"), "").json(200);
    }
    daemon
}

/// The attack is over: with the daemon end all processes that it has, and it has left nothing but what is its own, and of the test.
fn ends_alone(mut daemon: Daemon) {
    let processes = descendants(daemon.pid());
    daemon.end();
    left_nothing(&daemon, &processes);
}

/// Of a daemon that has ended these processes are gone, and no file is left but its own, and of the test.
fn left_nothing(daemon: &Daemon, processes: &[i32]) {
    let is_there = |pid: &i32| Path::new(&format!("/proc/{pid}")).exists();
    wait_until("nothing is left running", || !processes.iter().any(is_there));
    let folder = daemon.folder.path();
    assert_eq!(std::fs::read_to_string(folder.join("precious")).unwrap(), "mine");
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let own = ["compiler", "cache", "log", "precious", "socket.lock", "state", "token"];
    names.retain(|name| !own.contains(&name.as_str()) && !name.starts_with("slow") && !name.ends_with(".toml"));
    assert_eq!(names, [""; 0]);
    assert_eq!(unfinished(folder), [""; 0].map(PathBuf::from));
}

/// A few compilers are at work at a time, some checks wait for them, and further ones are told to come back.
#[test]
fn builds_without_end_keep_nobody_waiting_and_end_with_the_daemon() {
    own_core(|| {
        for killed in [false, true] {
            let mut daemon = prepared(with_slow_compiler());
            let folder = daemon.folder.path().to_owned();
            std::fs::write(folder.join("slow"), "").unwrap();
            let put = |number| begin(&daemon, "PUT", &format!("/v1/rigs/slow{number}"), &slow_rig(&daemon, number));
            let asked: Vec<UnixStream> = (0..CHECKS + 4).map(put).collect();
            let refused = || asked.iter().filter(|stream| is_answered(stream)).count();
            wait_until("four are refused, and two compilers at work", || refused() == 4 && at_work(&folder) == 2);
            let (refused, waiting): (Vec<_>, Vec<_>) = asked.into_iter().partition(is_answered);
            refused.into_iter().for_each(|stream| assert!(answer(stream).detail(503).contains("16 checks")));
            let retry = daemon.raw(request("PUT", "/v1/rigs/one", "host: vecud\r\n", "[rig]\n").as_bytes());
            let retry = String::from_utf8_lossy(&retry).to_ascii_lowercase();
            assert!(retry.contains("\r\nretry-after: 1\r\n"), "{retry}");
            steady_is_served_and_stops(&daemon);
            match killed {
                // Of one that is killed what was not finished goes with the time.
                true => drop(daemon.end_by(SIGKILL)),
                false => {
                    let processes = descendants(daemon.pid());
                    soon("the end", || daemon.end());
                    left_nothing(&daemon, &processes);
                }
            }
            wait_until("no compiler is left", || at_work(&folder) == 0);
            drop(waiting);
        }
    });
}

/// A start whose FMU has to be built: another rig starts meanwhile, and the first one can be given up.
#[test]
fn a_start_that_compiles_keeps_no_other_one_waiting() {
    own_core(|| {
        let (daemon, _) = with_slow_compiler();
        let folder = daemon.folder.path().to_owned();
        daemon.put("slow", &slow_rig(&daemon, 0)).json(201);
        std::fs::remove_dir_all(folder.join("cache")).unwrap();
        daemon.put("steady", &tracer("")).json(201);
        std::fs::write(folder.join("slow"), "").unwrap();
        let slow = begin(&daemon, "POST", "/v1/rigs/slow/start", "");
        wait_until("a compiler is at work", || at_work(&folder) == 1);
        assert_eq!(soon("start", || daemon.post("/v1/rigs/steady/start", "")).json(200)["state"], "running");
        assert_eq!(daemon.state("slow"), "preparing");
        soon("stop", || daemon.post("/v1/rigs/slow/stop", "")).json(200);
        assert_eq!(answer(slow).json(200)["state"], "idle");
        assert_eq!(at_work(&folder), 0);
    });
}

/// A start whose plan takes long, and then has a mistake: another rig starts and is stopped meanwhile, time and again.
#[test]
fn a_start_that_is_planned_for_long_keeps_no_other_one_waiting() {
    own_core(|| {
        let daemon = Daemon::new();
        let file = daemon.folder.path().join("slow.toml");
        let fmu = tracer("mode = 'virtual'");
        std::fs::write(&file, &fmu).unwrap();
        daemon
            .ask_with("PUT", "/v1/rigs/slow", "content-type: application/json\r\n", r#"{"path": "slow.toml"}"#)
            .json(201);
        daemon.put("quick", &fmu).json(201);
        let (_, instance) = fmu.split_once("[fmu.tracer]").unwrap();
        let instances: String = (0..FMUS).map(|number| format!("[fmu.t{number}]{instance}")).collect();
        let mistake = "[[connect]]\nfrom = 't0.nothing'\nto = 't1.in_f64'\n";
        std::fs::write(&file, format!("[rig]\nmode = 'virtual'\n{instances}{mistake}")).unwrap();
        let began = Instant::now();
        let slow = begin(&daemon, "POST", "/v1/rigs/slow/start", "");
        let (mut longest, mut starts) = (Duration::ZERO, 0);
        while !is_answered(&slow) {
            let asked = Instant::now();
            assert_eq!(daemon.post("/v1/rigs/quick/start", "").json(200)["state"], "running");
            (longest, starts) = (longest.max(asked.elapsed()), starts + 1);
            daemon.post("/v1/rigs/quick/stop?now=true", "").json(200);
        }
        let took = began.elapsed();
        assert!(answer(slow).detail(422).contains("nothing"));
        assert!(starts > 3 && longest < took / 3, "{starts} starts, of which one took {longest:?} of {took:?}");
    });
}

/// Of long rigs one at a time is read; longer ones are refused, whether they come as text or are in a file.
#[test]
fn long_rigs_take_little_memory_and_keep_nobody_waiting() {
    own_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let numbers = |length: usize| format!("[rig]\nx = [{}]\n", "1,".repeat(length / 2));
        let (long, longer) = (numbers((512 << 10) - 100), numbers(3 << 20));
        let waiting: Vec<UnixStream> = (0..CHECKS).map(|_| begin(&daemon, "PUT", "/v1/rigs/long", &long)).collect();
        steady_is_served_and_stops(&daemon);
        for stream in waiting {
            assert!(answer(stream).detail(422).contains("2 mistakes"));
        }
        assert!(daemon.put("longer", &longer).detail(422).contains("512 KiB"));
        std::fs::write(daemon.folder.path().join("longer.toml"), longer).unwrap();
        let json = "content-type: application/json\r\n";
        let named = daemon.ask_with("PUT", "/v1/rigs/longer", json, r#"{"path": "longer.toml"}"#);
        assert!(named.detail(422).contains("512 KiB"));
        // Of many mistakes the first ones are told, of long ones the beginning.
        let keys: String = (0..15_000).map(|key| format!("key{key} = 1\n")).collect();
        let wrong = daemon.put("wrong", &format!("{}{keys}", "x".repeat(200_000) + " = 1\n")).json(422);
        let told = wrong["mistakes"].as_array().unwrap();
        assert_eq!(told.len(), 101);
        assert!(told[100]["message"].as_str().unwrap().contains("14902 more"), "{}", told[100]);
        assert!(told.iter().all(|own| own["message"].as_str().unwrap().len() < 5000));
        takes_little_memory(&daemon);
        ends_alone(daemon);
    });
}

/// A copy of the tracer with this text before a part of its description, which is so long then.
fn long_description(daemon: &Daemon, name: &str, before: &str, more: &str) -> PathBuf {
    let fmu = copied_tracer(&daemon.folder.path().join(name));
    let file = fmu.join("modelDescription.xml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen(before, &format!("{more}{before}"), 1)).unwrap();
    fmu
}

/// Rigs whose FMUs make much of a text that is no longer than it may be: as many instances, variables, recorded ones and descriptions as
/// a daemon takes, and more of each, all at a time.
#[test]
fn rigs_of_many_instances_or_variables_take_little_memory_and_keep_nobody_waiting() {
    own_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let variables = |count: usize| {
            let one = |number| {
                format!("<Float64 name=\"v{number}\" valueReference=\"{}\" causality=\"local\"/>\n", 9000 + number)
            };
            (0..count).map(one).collect::<String>()
        };
        let fmu =
            |name: &str, before: &str, more: &str| long_description(&daemon, name, before, more).display().to_string();
        let some = fmu("slow-some", "</ModelVariables>", &variables(1000));
        let long = fmu("slow-long", "</ModelVariables>", &variables(40_000));
        let elements =
            format!("<Annotations><Annotation type='x'>{}</Annotation></Annotations>", "<a/>".repeat(1_000_000));
        let elements = fmu("slow-elements", "<ModelVariables>", &elements);
        symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer"), daemon.folder.path().join("slow-t"))
            .unwrap();
        let rig = |count: usize, fmu: &str, more: &str| {
            let fmus: String = (0..count).map(|number| format!("[fmu.a{number}]\npath='{fmu}'\n")).collect();
            format!("[rig]\nmode='virtual'\n{fmus}{more}")
        };
        let record = "[record]\nsignals=['*']\n";
        let cases = [
            (rig(18_000, "slow-t", ""), Some("18000 FMUs with ")),
            (rig(1, &elements, ""), Some("model descriptions")),
            (rig(100, &some, record), Some("set and read")),
            (rig(500, "slow-t", record), Some("columns")),
            (rig(800, "slow-t", ""), None),
            (rig(1, &long, ""), None),
            (rig(20, &some, record), None),
        ];
        let put =
            |(number, (rig, _)): (usize, &(String, _))| begin(&daemon, "PUT", &format!("/v1/rigs/much{number}"), rig);
        let asked: Vec<UnixStream> = cases.iter().enumerate().map(put).collect();
        steady_is_served_and_stops(&daemon);
        for (stream, (_, refused)) in asked.into_iter().zip(&cases) {
            let answer = answer(stream);
            match refused {
                Some(words) => {
                    let why = answer.detail(422);
                    assert!(why.contains(words), "{words}: {why}");
                }
                None => assert_eq!(answer.status, 201, "{}", answer.body),
            }
        }
        daemon.post("/v1/rigs/much5/start", "").json(200);
        daemon.post("/v1/rigs/much5/stop?now=true", "").json(200);
        takes_little_memory(&daemon);
        ends_alone(daemon);
    });
}

/// Thousands of runs, whose reports say what they are at the end of 64 KiB: few of them are listed and read, and the way to the others is
/// told.
#[test]
fn of_thousands_of_runs_few_are_listed_and_read_at_a_time() {
    let mut daemon = Daemon::new();
    daemon.put("a", &tracer("")).json(201);
    daemon.end();
    let runs = daemon.folder.path().join("state/rigs/a/runs");
    let name = |number: usize| format!("2026-01-01T{:02}-{:02}-{:02}Z", number / 3600, number / 60 % 60, number % 60);
    let report = daemon.folder.path().join("report");
    std::fs::write(&report, format!("{{{}\"verdict\": \"pass\", \"ended\": \"finished\"}}", " ".repeat(64 << 10)))
        .unwrap();
    let names: Vec<String> = (0..5000).map(name).collect();
    for name in &names {
        std::fs::create_dir_all(runs.join(name)).unwrap();
        std::fs::hard_link(&report, runs.join(name).join("report.json")).unwrap();
    }
    daemon.start();
    let read = || {
        let io = std::fs::read_to_string(format!("/proc/{}/io", daemon.pid())).unwrap();
        io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse::<usize>().unwrap()
    };
    let (path, before) = ("/v1/rigs/a/runs", read());
    let listed = daemon.get(path);
    assert!(
        listed.body.len() < 100 * 200 && read() - before < 110 * (80 << 10),
        "{} {}",
        listed.body.len(),
        read() - before
    );
    let listed = listed.json(200);
    assert_eq!(
        listed[99],
        serde_json::json!({"run": names[4999], "verdict": "pass", "ended": "finished", "files": ["report.json"]})
    );
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["run"]), (100, &names[4900].as_str().into()));
    // All of them, page by page: the oldest ones come last.
    let (mut next, mut all) = (Some(format!("{path}?limit=1000")), Vec::new());
    while let Some(path) = next {
        let answer = String::from_utf8(daemon.raw(request("GET", &path, "host: vecud\r\n", "").as_bytes())).unwrap();
        let page = Answer::of(answer.as_bytes()).json(200);
        all.splice(0..0, page.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()));
        let link = answer.lines().find_map(|line| line.strip_prefix("link: <")?.strip_suffix(">; rel=\"next\""));
        next = link.map(str::to_owned);
    }
    assert_eq!(all, names);
    let before = daemon.get(&format!("{path}?limit=2&before=2026-01-01T00-00-02Z-7")).json(200);
    assert_eq!((&before[0]["run"], &before[1]["run"]), (&names[1].as_str().into(), &names[2].as_str().into()));
    assert_eq!(daemon.get(&format!("{path}?before={}", names[0])).json(200), serde_json::json!([]));
    for wrong in ["limit=0", "limit=1001", "limit=x", "after=x"] {
        daemon.get(&format!("{path}?{wrong}")).json(400);
    }
    takes_little_memory(&daemon);
}

/// Rigs whose texts together would take much memory: so many are kept, and each of them may still be put anew.
#[test]
fn of_many_long_rigs_as_many_are_kept_as_there_is_room_for() {
    own_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let long = format!("{}#{}\n", tracer(""), "#".repeat(511 << 10));
        let put = |number: usize| daemon.put(&format!("long{number}"), &long);
        let refused = (0..100).map(put).find(|answer| answer.status != 201).unwrap();
        assert!(refused.detail(507).contains("32768 KiB: delete some"));
        put(0).json(200);
        daemon.ask("DELETE", "/v1/rigs/long0", "");
        put(1000).json(201);
        steady_is_served_and_stops(&daemon);
        ends_alone(daemon);
    });
}

/// Patterns that are long, many, or compared with each name again and again, of those who have no token, and conditions of thousands of names.
#[test]
fn long_patterns_and_conditions_keep_nobody_waiting() {
    own_core(|| {
        let daemon = prepared(over_tcp(&["--anonymous-read"]));
        let port = port(&daemon).unwrap();
        let variables: String = (0..5_000)
            .map(|number| {
                format!(
                    "<Float64 name=\"{}{number}\" valueReference=\"{}\" causality=\"local\" clocks=\"5\"/>\n",
                    "a".repeat(40),
                    9000 + number
                )
            })
            .collect();
        let fmu = long_description(&daemon, "slow-many", "</ModelVariables>", &variables);
        let rig = format!("[rig]\n[fmu.many]\npath = '{}'\n[record]\nsignals = ['*']\n", fmu.display());
        daemon.put("many", &rig).json(201);
        daemon.post("/v1/rigs/many/start", "").json(200);
        let queries = [
            format!("match={}b", "*a".repeat(25_000)),
            format!("match={}b", "a".repeat(50_000)),
            (0..5_000).map(|number| format!("match=*a{number}&")).collect(),
            (0..1_000).map(|number| format!("match=many.{}{number}&", "a".repeat(40))).collect(),
        ];
        let ask = |number: usize| {
            let mut stream = connect(port);
            let place = ["signals", "events"][number % 2];
            let path = format!("/v1/rigs/many/{place}?{}", queries[number % queries.len()].trim_end_matches('&'));
            stream.write_all(request("GET", &path, "host: localhost\r\n", "").as_bytes()).unwrap();
            stream
        };
        let strangers: Vec<_> = (0..24).map(ask).collect();
        let names: Vec<String> =
            (0..1_000).map(|number| format!("many.{}{} > 1", "a".repeat(40), 4_999 - number)).collect();
        let wanted = serde_json::json!({"condition": names.join(" and "), "timeout": 100}).to_string();
        let waits: Vec<UnixStream> = (0..8).map(|_| begin(&daemon, "POST", "/v1/rigs/many/waits", &wanted)).collect();
        steady_is_served_and_stops(&daemon);
        assert_eq!(daemon.get("/v1/rigs/many/signals?match=*a7").json(200).as_array().unwrap().len(), 1);
        drop((strangers, waits));
        daemon.post("/v1/rigs/many/stop?now=true", "").json(200);
        takes_little_memory(&daemon);
        ends_alone(daemon);
    });
}

/// Bodies that never come to their end: with nothing, with little, and with all but the last letter.
#[test]
fn silent_bodies_make_way_for_others_and_have_room_for_so_much_together() {
    own_core(|| {
        for length in [0, 60 << 10, (4 << 20) - 1] {
            let daemon = prepared(over_tcp(&[]));
            let head = "PUT /v1/rigs/a HTTP/1.1\r\nhost: vecud\r\ncontent-length: 4194304\r\n\r\n";
            let begun = [head.as_bytes(), &vec![b'#'; length]].concat();
            let silent: Vec<UnixStream> = (0..CONNECTIONS)
                .map(|_| {
                    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
                    // Who is not listened to any more sends no more.
                    let _refused = stream.write_all(&begun);
                    stream
                })
                .collect();
            steady_is_served_and_stops(&daemon);
            soon("put", || daemon.put("small", &tracer(""))).json(201);
            drop(silent);
            ends_alone(daemon);
        }
    });
}

/// Whoever has no token sends no bodies, and has half of the places at most.
#[test]
fn without_the_token_nobody_takes_memory_or_places_from_those_who_have_it() {
    own_core(|| {
        let daemon = prepared(over_tcp(&["--anonymous-read"]));
        let port = port(&daemon).unwrap();
        for (method, path) in [("POST", "/healthz"), ("GET", "/healthz"), ("GET", "/v1/rigs")] {
            let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
            let some = [format!("{head}content-length: 4194304\r\n\r\n").into_bytes(), vec![b'#'; 1 << 20]].concat();
            let refused = Answer::of(&exchange(connect(port), format!("{head}content-length: 1\r\n\r\n").as_bytes()));
            assert_eq!(refused.status, 401, "{method} {path}");
            let chunked = format!("{head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n\r\n");
            assert_eq!(Answer::of(&exchange(connect(port), chunked.as_bytes())).status, 401, "{method} {path}");
            let bodies: Vec<_> = (0..CONNECTIONS)
                .map(|_| {
                    let mut stream = connect(port);
                    let _refused = stream.write_all(&some);
                    stream
                })
                .collect();
            with_token(&daemon);
            drop(bodies);
        }
        // What is long, and nobody takes.
        let file = long_file(&daemon, "long", 64 << 20);
        let ask = |_| {
            let mut stream = connect(port);
            stream.write_all(format!("GET {file} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).unwrap();
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            (String::from_utf8_lossy(&status[9..]).into_owned(), stream)
        };
        let (statuses, streams): (Vec<_>, Vec<_>) = (0..CONNECTIONS).map(ask).unzip();
        assert_eq!(statuses.iter().filter(|status| *status == "200").count(), CONNECTIONS / 2);
        assert_eq!(statuses.iter().filter(|status| *status == "503").count(), CONNECTIONS / 2);
        steady_is_served_and_stops(&daemon);
        drop(streams);
        ends_alone(daemon);
    });
}

/// Adds a long file to the run of the rig `steady`, and gives its path in a request.
fn long_file(daemon: &Daemon, name: &str, length: u64) -> String {
    let run = daemon.get("/v1/rigs/steady").json(200)["run"].as_str().unwrap().to_owned();
    let long = daemon.folder.path().join("state/rigs/steady/runs").join(&run).join(name);
    std::fs::File::create(long).unwrap().set_len(length).unwrap();
    format!("/v1/rigs/steady/runs/{run}/{name}")
}

/// JSON that would be many times as long in memory as it is.
#[test]
fn long_json_takes_little_memory() {
    own_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let objects = format!(r#"{{"a":[{{"":1}}{}]}}"#, r#",{"":1}"#.repeat((4 << 20) / 7 - 10));
        let numbers = format!(r#"{{"tracer.in_array":[1{}]}}"#, ",1".repeat((2 << 20) - 50));
        let variables = "/v1/rigs/steady/variables";
        for (body, status) in [(&objects, 422), (&numbers, 422)] {
            let asked: Vec<UnixStream> = (0..7).map(|_| begin(&daemon, "PATCH", variables, body)).collect();
            asked.into_iter().for_each(|stream| drop(answer(stream).detail(status)));
        }
        assert!(daemon.post("/v1/rigs/steady/start", &objects).detail(413).contains("65536 bytes"));
        let json = "content-type: application/json\r\n";
        daemon.ask_with("PUT", "/v1/rigs/other", json, &objects).detail(413);
        steady_is_served_and_stops(&daemon);
        ends_alone(daemon);
    });
}

/// A report of 30 MB, which nobody takes, and who has no token asks for time and again.
#[test]
fn long_reports_take_little_memory() {
    own_core(|| {
        let daemon = prepared(over_tcp(&["--anonymous-read"]));
        let port = port(&daemon).unwrap();
        let report = long_file(&daemon, "report.json", 0);
        let folder = daemon.folder.path().join("state/rigs/steady/runs");
        let (path, _) = report.rsplit_once('/').unwrap();
        let planted = folder.join(path.rsplit_once('/').unwrap().1).join("report.json");
        std::fs::write(planted, format!("{{\"x\": \"{}\"}}", "x".repeat(30 << 20))).unwrap();
        let ask = |_| {
            let mut stream = connect(port);
            stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).unwrap();
            stream.read_exact(&mut [0; 12]).unwrap();
            stream
        };
        let silent: Vec<_> = (0..20).map(ask).collect();
        steady_is_served_and_stops(&daemon);
        drop(silent);
        ends_alone(daemon);
    });
}

/// All places at the socket are those of readers who take nothing.
#[test]
fn readers_who_take_nothing_make_way_for_others() {
    own_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let file = long_file(&daemon, "long", 64 << 20);
        let silent: Vec<UnixStream> = (0..CONNECTIONS).map(|_| begin(&daemon, "GET", &file, "")).collect();
        wait_until("all are answered", || silent.iter().all(is_answered));
        steady_is_served_and_stops(&daemon);
        drop(silent);
        ends_alone(daemon);
    });
}

/// All places at the socket are those of readers who take a byte of a long answer now and then.
#[test]
fn readers_who_take_little_make_way_for_others() {
    own_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let file = long_file(&daemon, "long", 64 << 20);
        let slow: Vec<UnixStream> = (0..CONNECTIONS).map(|_| begin(&daemon, "GET", &file, "")).collect();
        wait_until("all are answered", || slow.iter().all(is_answered));
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    // Of a connection that has made way there is nothing any more.
                    slow.iter().for_each(|mut stream| drop(stream.read(&mut [0])));
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let served = catch_unwind(AssertUnwindSafe(|| steady_is_served_and_stops(&daemon)));
            is_over.store(true, Relaxed);
            served.unwrap_or_else(|panic| resume_unwind(panic));
        });
        drop(slow);
        ends_alone(daemon);
    });
}

/// As many rigs as may be paused at a time hang in that: others are told to come back, and all can be stopped.
#[test]
fn rigs_that_do_not_come_to_rest_keep_no_pause_and_no_stop_waiting() {
    shared_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let start = |name: &str| {
            daemon.put(name, &tracer("mode = 'virtual'\nshutdown_timeout = 60")).json(201);
            daemon.post(&format!("/v1/rigs/{name}/start"), "").json(200);
        };
        let pause = |number: usize| begin(&daemon, "POST", &format!("/v1/rigs/hangs{number}/pause"), "");
        let mut hang = runners_now(daemon.child());
        let mut asked: Vec<UnixStream> = (0..PAUSES)
            .map(|number| {
                start(&format!("hangs{number}"));
                let new = runners_now(daemon.child()).into_iter().find(|runner| !hang.contains(runner)).unwrap();
                send(new, SIGSTOP);
                hang.push(new);
                pause(number)
            })
            .collect();
        wait_until("no more can be paused", || {
            let answer = soon("pause", || daemon.post("/v1/rigs/steady/pause", ""));
            if answer.status == 503 {
                assert!(answer.detail(503).contains("16 pauses"));
                return true;
            }
            soon("resume", || daemon.post("/v1/rigs/steady/resume", "")).json(200);
            // The pause of the other rig may have had the place of one of theirs, which was refused then.
            let refused = asked.iter_mut().enumerate().filter(|(_, stream)| is_answered(stream));
            refused.for_each(|(number, stream)| *stream = pause(number));
            false
        });
        let retry = daemon.raw(request("POST", "/v1/rigs/steady/pause", "host: vecud\r\n", "").as_bytes());
        assert!(String::from_utf8_lossy(&retry).to_ascii_lowercase().contains("\r\nretry-after: 1\r\n"));
        assert!(soon("a second pause", || daemon.post("/v1/rigs/hangs0/pause", "")).status >= 409);
        soon("stop", || daemon.post("/v1/rigs/steady/stop", "")).json(200);
        soon("stop by force", || daemon.post("/v1/rigs/hangs0/stop?now=true", "")).json(200);
        let mut asked = asked.into_iter();
        answer(asked.next().unwrap()).json(409);
        start("next");
        assert_eq!(soon("pause", || daemon.post("/v1/rigs/next/pause", "")).json(200)["state"], "paused");
        takes_little_memory(&daemon);
        drop(asked);
        for number in 1..PAUSES {
            soon("stop by force", || daemon.post(&format!("/v1/rigs/hangs{number}/stop?now=true"), "")).json(200);
        }
        ends_alone(daemon);
    });
}

/// All waits for a rig and all streams of events, of which nobody takes anything.
#[test]
fn waits_and_streams_keep_nobody_waiting() {
    own_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let wanted = r#"{"condition": "false", "timeout": 240}"#;
        let waits: Vec<UnixStream> =
            (0..WAITS).map(|_| begin(&daemon, "POST", "/v1/rigs/steady/waits", wanted)).collect();
        let streams: Vec<UnixStream> =
            (0..STREAMS).map(|_| begin(&daemon, "GET", "/v1/rigs/calm/events", "")).collect();
        wait_until("all streams have begun", || streams.iter().all(is_answered));
        assert!(soon("a stream more", || daemon.get("/v1/rigs/steady/events")).detail(503).contains("32 streams"));
        wait_until("no more waits", || {
            let more = r#"{"condition": "false", "timeout": 0.01}"#;
            soon("a wait more", || daemon.post("/v1/rigs/steady/waits", more)).status == 503
        });
        steady_is_served_and_stops(&daemon);
        // What is waited for does not come any more.
        waits.into_iter().for_each(|wait| drop(answer(wait).detail(409)));
        drop(streams);
        ends_alone(daemon);
    });
}

/// Links, pipes and endless files in the place of what the daemon has in its state folder, while it runs.
#[test]
fn what_somebody_puts_into_the_state_folder_keeps_nobody_waiting() {
    own_core(|| {
        let daemon = prepared(over_tcp(&[]));
        let folder = daemon.folder.path().to_owned();
        let run = daemon.get("/v1/rigs/steady").json(200)["run"].as_str().unwrap().to_owned();
        let runs = folder.join("state/rigs/steady/runs");
        for (name, target) in [("2026-01-01T00-00-00Z", "/"), ("2026-01-02T00-00-00Z", "..")] {
            symlink(target, runs.join(name)).unwrap();
        }
        symlink(folder.join("precious"), runs.join(&run).join("link")).unwrap();
        mkfifo(&runs.join(&run).join("pipe"), Mode::S_IRWXU).unwrap();
        for number in 0..200 {
            let planted = runs.join(format!("planted{number}"));
            std::fs::create_dir(&planted).unwrap();
            if number % 2 == 0 {
                std::fs::File::create(planted.join("report.json")).unwrap().set_len(1 << 40).unwrap();
                mkfifo(&planted.join("checkpoint.json"), Mode::S_IRWXU).unwrap();
            } else {
                symlink("/dev/zero", planted.join("report.json")).unwrap();
                symlink(folder.join("precious"), planted.join("checkpoint.json")).unwrap();
            }
        }
        for file in ["link", "pipe", "../../../../precious", "%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fprecious"] {
            let path = format!("/v1/rigs/steady/runs/{run}/{file}");
            assert_eq!(soon(file, || daemon.get(&path)).status, 404, "{file}");
        }
        steady_is_served_and_stops(&daemon);
        ends_alone(daemon);
    });
}

/// A report of millions of values, which the daemon finds when it starts.
#[test]
fn a_report_that_somebody_else_has_written_takes_little_memory_when_a_daemon_starts() {
    let mut daemon = Daemon::new();
    daemon.put("a", &tracer("")).json(201);
    daemon.end();
    let run = daemon.folder.path().join("state/rigs/a/runs/2026-01-01T00-00-00Z");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::write(run.join("report.json"), format!(r#"{{"notes": [""{}]}}"#, r#","""#.repeat(8 << 20))).unwrap();
    daemon.start();
    assert_eq!(daemon.state("a"), "idle");
    takes_little_memory(&daemon);
}

/// Compilers without end, long rigs, bodies that never end, and connections of those who have no token, all of it together.
#[test]
fn all_attacks_at_once_keep_no_holder_of_the_token_and_no_stop_waiting() {
    own_core(|| {
        let daemon = prepared(with_slow_compiler());
        let port = port(&daemon).unwrap();
        let folder = daemon.folder.path().to_owned();
        std::fs::write(folder.join("slow"), "").unwrap();
        let long = format!("[rig]\nx = [{}]\n", "1,".repeat((255 << 10) - 100));
        let checks: Vec<UnixStream> = (0..CHECKS + 4)
            .map(|number| match number % 2 {
                0 => begin(&daemon, "PUT", &format!("/v1/rigs/slow{number}"), &slow_rig(&daemon, number)),
                _ => begin(&daemon, "PUT", "/v1/rigs/long", &long),
            })
            .collect();
        let body = [b"content-length: 4194304\r\n\r\n".as_slice(), &vec![b'#'; 60 << 10]].concat();
        let silent: Vec<UnixStream> = (0..CONNECTIONS / 2)
            .map(|_| {
                let mut stream = UnixStream::connect(daemon.socket()).unwrap();
                let _refused = stream.write_all(&[b"PUT /v1/rigs/a HTTP/1.1\r\nhost: vecud\r\n", &*body].concat());
                stream
            })
            .collect();
        let tokenless: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let mut stream = connect(port);
                let _refused = stream.write_all(&[b"POST /v1/rigs HTTP/1.1\r\nhost: localhost\r\n", &*body].concat());
                stream
            })
            .collect();
        wait_until("compilers are at work", || at_work(&folder) == 2);
        (0..4).for_each(|_| with_token(&daemon));
        steady_is_served_and_stops(&daemon);
        drop((checks, silent, tokenless));
        ends_alone(daemon);
    });
}
