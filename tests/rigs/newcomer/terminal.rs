//! What a terminal shows that a pipe does not: lines with marks under mistakes, the table on screens of any size.

use super::Desk;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.does("new fmu wheel");
    desk.does("new rig first wheel");
    desk
}

#[test]
fn a_mistake_in_a_rig_is_shown_in_its_line() {
    let desk = desk();
    desk.write("bad.toml", "[fmu.wheel]\npath = \"wheel\"\nstart = { gian = 2.0 }\n");
    let Some((code, shown)) = desk.on_terminal("a_mistake", 100, 30, "check bad.toml") else { return };
    let shown = shown.replace("\r\n", "\n");
    assert_eq!(code, Some(2), "{shown}");
    let expected = "error: wheel has no variable \"gian\"; did you mean \"gain\"?\n \
                    --> bad.toml:3:11\n  \
                    |\n\
                    3 | start = { gian = 2.0 }\n  \
                    |           ^^^^\n";
    assert!(shown.contains(expected), "{shown}");
    // For editors and scripts it is a line, as before.
    let message = "bad.toml:3:11: wheel has no variable \"gian\"; did you mean \"gain\"?\n";
    assert_eq!(desk.run("check bad.toml").stderr, message);
}

/// The rows of the table that stays, of a run on such a terminal.
fn table(desk: &Desk, columns: usize) -> Option<Vec<String>> {
    let arguments = "run first.toml --stop-time 0.5 --quiet";
    let (code, shown) = desk.on_terminal("table", columns, 30, arguments)?;
    assert_eq!(code, Some(0), "{shown}");
    Some(
        shown
            .lines()
            .skip_while(|line| !line.starts_with("clock"))
            .take(4)
            .map(|line| line.trim_end().to_owned())
            .collect(),
    )
}

#[test]
fn a_terminal_without_a_size_is_a_wide_one_and_a_wide_one_shows_more() {
    let desk = desk();
    let Some(unknown) = table(&desk, 0) else { return };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let usual = ["clock", "activations", "overruns", "p50", "p99", "max", "p50", "max"];
    assert_eq!(words(&unknown[0]), usual);
    assert!(unknown[1].starts_with("wheel.on_pulse "), "{unknown:?}");
    let wide = table(&desk, 200).unwrap();
    assert_eq!(words(&wide[0]).len(), 15, "{wide:?}");
    let narrow = table(&desk, 40).unwrap();
    assert!(narrow.iter().all(|line| line.chars().count() <= 40), "{narrow:?}");
}

/// On a screen the tables of an FMU have the columns that there is room for, and say which are missing; in a pipe they have all.
#[test]
fn tables_of_variables_are_no_wider_than_the_screen() {
    let desk = desk();
    let command = "inspect wheel --only causality=input,output,parameter";
    let whole = desk.run(command).stdout;
    for columns in [60, 80, 200] {
        let Some((code, shown)) = desk.on_terminal("tables", columns, 30, command) else { return };
        assert_eq!(code, Some(0), "{shown}");
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= columns), "{columns}: {shown}");
        let head = lines.iter().find(|line| line.contains("variability") || line.contains("type")).unwrap();
        assert!(head.contains("name") && head.contains("start"), "{head}");
        assert_eq!(shown.contains("  (no room for: "), columns < 100, "{columns}: {shown}");
        assert_eq!(head.contains("reference"), columns == 200, "{head}");
        assert_eq!(lines.join("\n").trim_end() == whole.trim_end(), columns == 200, "{shown}");
    }
}

#[test]
fn what_is_no_rig_says_what_to_give() {
    let desk = desk();
    desk.refuses(
        "run wheel/modelDescription.xml",
        "wheel/modelDescription.xml: is a part of an FMU, no rig (TOML text); give the FMU's folder: wheel\n",
    );
    desk.refuses(
        "check wheel/sources/buildDescription.xml",
        "is XML, no rig (TOML text); give a rig file, an .fmu file or the folder of an FMU\n",
    );
    // What is for vecud itself is suggested to nobody.
    let outcome = desk.run("rnu first.toml");
    assert!(outcome.stderr.contains("'run'") && !outcome.stderr.contains("runner"), "{}", outcome.stderr);
    assert!(desk.run("runner").stderr.contains("this process is started by `vecud run`, not by hand"));
}
