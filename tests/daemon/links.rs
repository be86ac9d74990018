//! A state folder in which somebody has put links, as FMU code of the daemon's user can: nothing is written, removed or read where they
//! lead.

use super::client::Daemon;
use super::program::{shared_core, wait_until};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A rig whose runs are kept up to this number.
fn rig(keep: usize) -> String {
    let tracer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
    let report = format!("[report]\nkeep_runs = {keep}");
    format!(
        "[rig]\noverrun = 'queue'\n{report}\n[fmu.a]\npath = '{}'\n[record]\nsignals = ['a.count_slow']\n",
        tracer.display()
    )
}

/// A folder outside of the state folder, with what looks like runs and like their files.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn of(daemon: &Daemon) -> Elsewhere {
        let path = daemon.folder.path().join("elsewhere");
        for run in ["2026-01-01T00-00-00Z", "2026-01-02T00-00-00Z", "2026-01-03T00-00-00Z"] {
            fs::create_dir_all(path.join(run)).unwrap();
            fs::write(path.join(run).join("report.json"), "precious").unwrap();
        }
        fs::write(path.join("rig.json"), "precious").unwrap();
        fs::write(path.join("report.json"), "precious").unwrap();
        Elsewhere(path)
    }

    /// All that is in it.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => walk(&path, all),
                    false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(&self.0, &mut all);
        all
    }
}

/// Puts a link in the place of something, which is moved away, if it is there.
fn replace(path: &Path, target: &Path) {
    if path.symlink_metadata().is_ok() {
        fs::rename(path, path.with_extension("moved")).unwrap();
    }
    symlink(target, path).unwrap();
}

/// In the place of each folder, before the daemon uses it: what needs it is refused in words, and nothing happens elsewhere.
#[test]
fn no_folder_of_the_state_that_is_a_link_is_followed() {
    shared_core(|| {
        for place in ["rigs/a", "rigs/a/runs"] {
            let daemon = Daemon::new();
            let elsewhere = Elsewhere::of(&daemon);
            let before = elsewhere.files();
            let link = daemon.folder.path().join("state").join(place);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            replace(&link, &elsewhere.0);
            let put = daemon.put("a", &rig(1));
            if place == "rigs/a" {
                assert!(put.detail(507).contains("is a link, which is not followed"));
            } else {
                put.json(201);
                daemon.post("/v1/rigs/a/start", "");
                wait_until("it is over", || daemon.get("/v1/rigs/a").json(200)["state"] == "failed");
                let status = daemon.get("/v1/rigs/a").json(200);
                assert!(status["problems"].to_string().contains("is a link, which is not followed"), "{status}");
            }
            assert!(daemon.get("/v1/rigs/a/runs").status >= 400, "{place}");
            assert_eq!(daemon.get("/v1/rigs/a/runs/2026-01-01T00-00-00Z").status, 404, "{place}");
            assert_eq!(daemon.get("/v1/rigs/a/runs/2026-01-01T00-00-00Z/report.json").status, 404, "{place}");
            daemon.ask("DELETE", "/v1/rigs/a", "");
            assert_eq!(elsewhere.files(), before, "{place}");
        }
    });
}

/// While a run goes on, in the place of its folder, of that of all its runs, of that of the rig, and of that of all rigs: the run's files
/// come where it began, the oldest runs of that are removed and nobody else's, and no file elsewhere is read.
#[test]
fn a_folder_that_becomes_a_link_during_a_run_leads_nobody_elsewhere() {
    shared_core(|| {
        for place in ["rigs/a/runs/RUN", "rigs/a/runs", "rigs/a", "rigs"] {
            let daemon = Daemon::new();
            let elsewhere = Elsewhere::of(&daemon);
            let before = elsewhere.files();
            daemon.put("a", &rig(0)).json(201);
            let run = daemon.post("/v1/rigs/a/start", "").json(200)["run"].as_str().unwrap().to_owned();
            wait_until("it runs", || daemon.get("/v1/rigs/a").json(200)["state"] == "running");
            let own = daemon.folder.path().join("state/rigs/a/runs").join(&run);
            let held = fs::File::open(&own).unwrap();
            replace(&daemon.folder.path().join("state").join(place.replace("RUN", &run)), &elsewhere.0);
            daemon.post("/v1/rigs/a/stop", "");
            wait_until("it is over", || {
                let state = daemon.get("/v1/rigs/a").json(200)["state"].clone();
                state != "running" && state != "stopping"
            });
            assert_eq!(elsewhere.files(), before, "{place}");
            let kept = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&held)));
            for file in ["report.json", "report.html", "run.log", "signals.csv"] {
                assert!(kept.join(file).is_file(), "{place}: {file}");
            }
            assert_ne!(daemon.get("/v1/rigs/a/runs/2026-01-01T00-00-00Z/report.json").status, 200, "{place}");
        }
    });
}

/// In the place of runs and of files of a run: they are none.
#[test]
fn no_run_and_no_file_of_one_is_a_link() {
    shared_core(|| {
        let daemon = Daemon::new();
        let elsewhere = Elsewhere::of(&daemon);
        let before = elsewhere.files();
        daemon.put("a", &rig(1)).json(201);
        let runs = daemon.folder.path().join("state/rigs/a/runs");
        fs::create_dir_all(&runs).unwrap();
        for run in ["2026-01-01T00-00-00Z", "2026-01-02T00-00-00Z"] {
            symlink(elsewhere.0.join(run), runs.join(run)).unwrap();
        }
        fs::create_dir(runs.join("2026-01-03T00-00-00Z")).unwrap();
        symlink(elsewhere.0.join("report.json"), runs.join("2026-01-03T00-00-00Z/report.json")).unwrap();
        symlink(&elsewhere.0, runs.join("2026-01-03T00-00-00Z/folder")).unwrap();
        assert_eq!(daemon.get("/v1/rigs/a/runs").json(200).as_array().unwrap().len(), 1);
        for way in ["2026-01-01T00-00-00Z/report.json", "2026-01-03T00-00-00Z/report.json", "2026-01-03T00-00-00Z"] {
            assert_eq!(daemon.get(&format!("/v1/rigs/a/runs/{way}")).status, 404, "{way}");
        }
        for _ in 0..2 {
            daemon.post("/v1/rigs/a/start", "").json(200);
            wait_until("it runs", || daemon.get("/v1/rigs/a").json(200)["state"] == "running");
            daemon.post("/v1/rigs/a/stop", "").json(200);
            wait_until("it is over", || daemon.get("/v1/rigs/a").json(200)["state"] == "idle");
        }
        assert!(!runs.join("2026-01-03T00-00-00Z").exists(), "that is the oldest run");
        assert_eq!(elsewhere.files(), before);
    });
}
