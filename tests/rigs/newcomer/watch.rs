//! `vecud run --watch`: values of recorded variables on the terminal while a rig runs.

use super::Desk;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.does("new fmu wheel");
    desk.does("new rig first wheel");
    desk
}

#[test]
fn values_are_shown_below_the_table_and_leave_with_it() {
    let desk = desk();
    let arguments = "run first.toml --stop-time 60 --set wheel.gain=2 --watch";
    let turns = |shown: &str| {
        let words: Vec<&str> = shown.split_whitespace().collect();
        words.windows(2).any(|pair| pair[0] == "wheel.turns" && pair[1].parse::<u64>().is_ok_and(|turns| turns > 0))
    };
    let run = desk.on_terminal_until("values_are_shown", 100, 40, arguments, turns);
    let Some((code, shown)) = run else { return };
    assert_eq!(code, Some(0), "{shown}");
    assert!(turns(&shown), "{shown}");
    for name in ["wheel.target", "wheel.speed", "wheel.drive"] {
        assert!(shown.contains(name), "{shown}");
    }
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.windows(2).any(|pair| pair == ["wheel.gain", "2"]), "{shown}");
    // What stays is the table, not values of some instant.
    let end = shown.rfind("clock ").map(|at| &shown[at..]).unwrap();
    assert!(!end.contains("wheel.drive"), "{end}");
}

#[test]
fn a_pattern_chooses() {
    let desk = desk();
    let arguments = "run first.toml --stop-time 60 --watch=*speed";
    let speeds = |shown: &str| shown.contains("wheel.speed") && shown.contains("wheel.measured_speed");
    let Some((code, shown)) = desk.on_terminal_until("a_pattern_chooses", 100, 40, arguments, speeds) else { return };
    assert_eq!(code, Some(0), "{shown}");
    assert!(speeds(&shown) && !shown.contains("wheel.drive"), "{shown}");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let desk = desk();
    desk.refuses("run first.toml --watch", "--watch shows values on a terminal, and standard error is none");
    desk.refuses("run first.toml --watch --quiet", "cannot be used with");
    let refused = |arguments: &str, words: &str| {
        let Some((code, shown)) = desk.on_terminal("what_cannot_be_watched", 100, 40, arguments) else { return };
        assert_eq!(code, Some(2), "{shown}");
        assert!(shown.contains(words), "{shown}");
    };
    refused(
        "run first.toml --watch=wheel.sped",
        "--watch=wheel.sped: no recorded variable matches; did you mean \"wheel.speed\"?",
    );
    desk.write("nothing.toml", "[fmu.wheel]\npath = \"wheel\"\n");
    refused("run nothing.toml --watch", "this rig records none: add [record] to it");
}
