//! Newest values of rigs that run, and variables that are set while they do.

use super::client::{Daemon, tracer};
use super::program::{shared_core, wait_until};
use serde_json::{Value, json};

/// What is recorded, and what is only watched, of a tracer.
const RECORDED: &str = "[record]\nsignals = ['tracer.count_fast', 'tracer.out_f64', 'tracer.in_f64']\n";
const WATCHED: &str = "[daemon]\nwatch = ['tracer.count_*', 'tracer.out_*', 'tracer.in_*', 'tracer.time_fast']\n";

/// The newest value of one variable, as the daemon tells it.
fn newest(daemon: &Daemon, name: &str) -> Value {
    let all = daemon.get(&format!("/v1/rigs/a/signals?match={name}")).json(200);
    assert_eq!((all.as_array().unwrap().len(), &all[0]["name"]), (1, &name.into()), "{all}");
    all[0].clone()
}

fn set(daemon: &Daemon, values: Value) -> Value {
    daemon.ask("PATCH", "/v1/rigs/a/variables", &values.to_string()).json(200)
}

fn refused(daemon: &Daemon, values: &str, status: u16) -> String {
    daemon.ask("PATCH", "/v1/rigs/a/variables", values).detail(status)
}

/// Recorded and watched variables are shown, in both modes, and files have the recorded ones alone.
#[test]
fn newest_values_are_those_of_recorded_and_of_watched_variables() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &format!("{}{RECORDED}{WATCHED}", tracer(""))).json(201);
        assert!(daemon.get("/v1/rigs/a/signals").detail(409).contains("does not run"));
        daemon.post("/v1/rigs/a/start", "").json(200);
        let time = || newest(&daemon, "tracer.count_fast")["time"].as_f64();
        wait_until("there is a value", || time().is_some());
        let before = time();
        wait_until("it becomes newer", || time() > before);
        // The activation at 0 s is the first one, each ms brings another one.
        let fast = newest(&daemon, "tracer.count_fast");
        assert_eq!(fast["value"].as_f64().unwrap(), (1000.0 * fast["time"].as_f64().unwrap()).round() + 1.0, "{fast}");
        assert_eq!((&fast["type"], &fast["unit"]), (&"UInt64".into(), &Value::Null));
        let slow = newest(&daemon, "tracer.count_slow");
        assert!(slow["value"].as_u64().unwrap() > 0, "it is only watched: {slow}");
        assert_eq!(newest(&daemon, "tracer.out_array")["value"].as_array().unwrap().len(), 64);
        assert_eq!(
            newest(&daemon, "tracer.count_high"),
            json!(
                {"name": "tracer.count_high", "type": "UInt64", "unit": null, "value": null, "time": null}
            ),
            "it was never activated"
        );
        let all = daemon.get("/v1/rigs/a/signals").json(200);
        let two = daemon.get("/v1/rigs/a/signals?match=tracer.time_fast&match=tracer.in_i?").json(200);
        let names: Vec<&str> = two.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["tracer.in_i8", "tracer.time_fast"]);
        assert!(all.as_array().unwrap().len() > 20, "{all}");
        let hint = daemon.get("/v1/rigs/a/signals?match=tracer.count_fats").detail(422);
        assert!(hint.contains("\"tracer.count_fats\"; did you mean \"tracer.count_fast\""), "{hint}");
        assert!(daemon.get("/v1/rigs/a/signals?find=x").detail(400).contains("\"find\""));
        let run = daemon.post("/v1/rigs/a/stop", "").json(200)["run"].as_str().unwrap().to_owned();
        let csv = daemon.get(&format!("/v1/rigs/a/runs/{run}/signals.csv")).body;
        assert_eq!(csv.lines().next(), Some("time,tracer.in_f64,tracer.out_f64,tracer.count_fast"));
    });
}

/// What is watched changes nothing of what is recorded.
#[test]
fn files_are_the_same_whatever_is_watched() {
    let daemon = Daemon::new();
    let rig = format!("{}[record]\nsignals = ['tracer.count_fast', 'tracer.count_slow']\n", tracer(""));
    daemon.put("plain", &rig).json(201);
    daemon.put("watched", &format!("{rig}{WATCHED}")).json(201);
    let csv = |name: &str| {
        daemon.post(&format!("/v1/rigs/{name}/start"), r#"{"mode": "virtual", "stop_time": 0.5}"#).json(200);
        wait_until("the run is over", || daemon.state(name) == "idle");
        let run = daemon.get(&format!("/v1/rigs/{name}")).json(200)["run"].as_str().unwrap().to_owned();
        daemon.get(&format!("/v1/rigs/{name}/runs/{run}/signals.csv")).body
    };
    let plain = csv("plain");
    assert!(plain.lines().count() > 500);
    assert_eq!(csv("watched"), plain);
}

#[test]
fn a_pattern_of_watch_that_is_wrong_has_its_place() {
    let daemon = Daemon::new();
    let problem = daemon.put("a", &format!("{}[daemon]\nwatch = ['tracer.out_f64', 'tracer.out_f46']\n", tracer("")));
    let mistake = &problem.json(422)["mistakes"][0];
    assert_eq!((&mistake["line"], &mistake["column"]), (&6.into(), &28.into()), "{mistake}");
    let message = mistake["message"].as_str().unwrap();
    assert!(message.contains("no variable matches \"tracer.out_f46\"; did you mean \"tracer.out_f64\""), "{message}");
    daemon.put("a", &format!("{}[daemon]\nwatch = 'x'\n", tracer(""))).json(422);
}

/// Of every type, of several clocks at a time, and as the FMU hands them on.
#[test]
fn variables_are_set_while_a_rig_runs() {
    shared_core(|| {
        let daemon = Daemon::new();
        daemon.put("a", &format!("{}{RECORDED}{WATCHED}", tracer(""))).json(201);
        assert!(refused(&daemon, "{\"tracer.in_f64\": 1}", 409).contains("does not run"));
        daemon.post("/v1/rigs/a/start", "").json(200);
        let values = json!({
            "tracer.in_f64": 2.5, "tracer.in_i32": -7, "tracer.in_bool": true, "tracer.in_f32": 0.1, "tracer.in_u64": u64::MAX,
            "tracer.in_enum": 2, "tracer.in_array": (0..64).collect::<Vec<_>>(),
        });
        let times = set(&daemon, values.clone());
        assert_eq!(times.as_object().unwrap().len(), 7);
        assert_eq!(times["tracer.in_f64"], times["tracer.in_bool"], "they belong to one clock");
        for (name, value) in values.as_object().unwrap() {
            let out = name.replace("in_", "out_");
            let since = times[name]["time"].as_f64().unwrap();
            wait_until("an activation has it", || newest(&daemon, &out)["time"].as_f64() >= Some(since));
            let has: Value = newest(&daemon, &out)["value"].clone();
            match value.as_array() {
                Some(list) => {
                    let same = |(has, wanted): (&Value, &Value)| has.as_f64() == wanted.as_f64();
                    assert!(has.as_array().unwrap().iter().zip(list).all(same), "{has}");
                }
                None => assert!(has == *value || has.as_f64() == value.as_f64(), "{out}: {has}"),
            }
        }
        for (values, status, words) in [
            ("[1]", 400, "invalid type"),
            ("{", 400, "EOF"),
            ("{}", 422, "no variable is named"),
            (r#"{"in_f64": 1}"#, 422, "fmu.variable"),
            (r#"{"trace.in_f64": 1}"#, 422, "did you mean \"tracer\"?"),
            (r#"{"tracer.in_f46": 1}"#, 422, "did you mean \"in_f64\""),
            (r#"{"tracer.out_f64": 1}"#, 422, "tracer.out_f64 cannot be set"),
            (
                r#"{"tracer.in_f64": 9, "tracer.in_bool": 1}"#,
                422,
                "its values are true or false, and 1 is none of them",
            ),
            (
                r#"{"tracer.in_f64": 9, "tracer.in_array": [1, 2]}"#,
                422,
                "it has 64 elements now, and the values have 2",
            ),
            (r#"{"tracer.in_f64": 9, "tracer.in_enum": "none"}"#, 422, "items, by number or as"),
        ] {
            let detail = refused(&daemon, values, status);
            assert!(detail.contains(words), "{values}: {detail}");
        }
        assert_eq!(newest(&daemon, "tracer.in_f64")["value"], 2.5, "nothing is set when something is wrong");
    });
}
