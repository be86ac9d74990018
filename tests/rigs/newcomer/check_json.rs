//! `vecud check --json`: the plan of a rig, or what is wrong with it, for programs.

use super::Desk;
use super::json_schema::Schema;
use serde_json::{Value, json};

/// What `vecud check --json` says, which is what docs/check.schema.json says, and its exit code.
fn check(desk: &Desk, arguments: &str) -> (Option<i32>, Value) {
    let outcome = desk.run(&format!("check --json {arguments}"));
    let said = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.stdout));
    Schema::of("check.schema.json").holds(&said);
    (outcome.code, said)
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.does("new fmu wheel");
    desk.does("new rig first wheel");
    desk
}

#[test]
fn the_plan_is_that_of_the_text() {
    let desk = desk();
    let (code, said) = check(&desk, "first.toml");
    assert_eq!((code, &said["verdict"], &said["problems"]), (Some(0), &json!("valid"), &json!([])));
    let plan = &said["plan"];
    assert_eq!((&plan["rig"], &plan["mode"]), (&json!("first"), &json!("realtime")));
    let text = desk.does("check first.toml");
    let tasks = plan["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 3);
    for task in tasks {
        let words = ["fmu", "clock", "kind", "thread", "activated_by"].map(|field| task[field].as_str().unwrap());
        let row = text.lines().find(|line| words.iter().all(|word| line.contains(word)));
        let row = row.unwrap_or_else(|| panic!("{words:?} is no row of\n{text}"));
        let cells: Vec<&str> = row.split_whitespace().collect();
        for field in ["fmi_priority", "level", "fifo_priority", "cpu"] {
            assert!(cells.contains(&task[field].to_string().as_str()), "{field} of {row}");
        }
    }
    for line in said["machine"].as_array().unwrap() {
        assert!(text.contains(line.as_str().unwrap()), "{line}");
    }
    assert_eq!(tasks.iter().filter(|task| task["interval_s"] == 0.001).count(), 1, "{tasks:#?}");
    // In virtual time nothing takes time, so nothing is computed of it.
    desk.write("virtual.toml", &desk.read("first.toml").replacen("[rig]", "[rig]\nmode = \"virtual\"", 1));
    let (code, said) = check(&desk, "virtual.toml");
    let plan = &said["plan"];
    assert_eq!((code, &plan["mode"], &said["machine"]), (Some(0), &json!("virtual"), &json!([])));
    assert_eq!((&plan["tasks"][0]["prediction"], &plan["cores"][0]["load"]), (&Value::Null, &Value::Null));
}

#[test]
fn of_a_bad_rig_each_problem_has_its_place() {
    let desk = desk();
    desk.write("bad.toml", "[fmu.wheel]\npath = \"wheel\"\nlenient = 1\nstart = { gain = 2.0 }\ncup = 1\n");
    let (code, said) = check(&desk, "bad.toml");
    assert_eq!((code, &said["verdict"], &said["plan"]), (Some(2), &json!("invalid"), &Value::Null));
    let problems = said["problems"].as_array().unwrap();
    let place = |problem: &Value| (problem["line"].clone(), problem["column"].clone());
    assert_eq!(problems.iter().map(place).collect::<Vec<_>>(), [(json!(3), json!(11)), (json!(5), json!(1))]);
    assert!(problems.iter().all(|problem| problem["file"] == "bad.toml"), "{problems:#?}");
    // People read the same on stderr.
    let text = desk.run("check --json bad.toml").stderr;
    for problem in problems {
        let line =
            format!("bad.toml:{}:{}: {}", problem["line"], problem["column"], problem["message"].as_str().unwrap());
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
    let (code, said) = check(&desk, "nothing.toml");
    assert_eq!((code, said["problems"].as_array().unwrap().len()), (Some(2), 1));
    assert!(said["problems"][0]["message"].as_str().unwrap().contains("nothing.toml"), "{said:#?}");
}

#[test]
fn a_rig_whose_clocks_miss_their_deadlines_has_its_plan_and_says_why() {
    let desk = desk();
    let late = "\n[fmu.wheel.clock.task_1ms]\nexecution_us = 2000\n";
    desk.write("late.toml", &(desk.read("first.toml") + late));
    let (code, said) = check(&desk, "late.toml");
    assert_eq!((code, &said["verdict"]), (Some(2), &json!("unschedulable")));
    assert!(said["problems"][0]["message"].as_str().unwrap().contains("is loaded with"), "{said:#?}");
    let cores = said["plan"]["cores"].as_array().unwrap();
    assert!(cores[0]["load"].as_f64().unwrap() > 2.0, "{cores:#?}");
}
