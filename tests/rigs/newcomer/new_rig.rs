//! `vecud new rig`: the file has a plan, names every clock, and decides nothing that it does not know.

use super::{Desk, repository};

#[test]
fn the_engine_finds_itself() {
    let desk = Desk::new();
    let (plant, ecu) = (repository("fmus/engine_plant"), repository("fmus/engine_ecu"));
    let told = desk.does(&format!("new rig engine.toml {plant} {ecu}"));
    assert!(told.starts_with("engine.toml: a rig of 2 FMUs with 7 input clocks\nnext: "), "{told}");
    let text = desk.read("engine.toml");
    for clock in ["next_tooth", "step", "crank_isr", "task_1ms", "injection", "task_10ms", "task_100ms", "crank_tooth"]
    {
        assert!(
            text.lines().any(|line| line.starts_with('#') && line.contains(clock)),
            "no comment on {clock}:\n{text}"
        );
    }
    assert!(text.contains("\n[[trigger]]\nclock = \"engine_ecu.crank_isr\"\nfrom = \"engine_plant.crank_tooth\"\n"));
    assert!(text.contains(
        "# Nothing feeds these, which keep their start values: engine_plant.load_torque, engine_ecu.pedal\n"
    ));
    // The same as the example of the repository, whose FMUs have other names.
    let example = std::fs::read_to_string(repository("examples/engine.toml")).unwrap();
    let connections = |text: &str, plant: &str, ecu: &str| {
        let text = text.replace(&format!("\"{plant}."), "\"plant.").replace(&format!("\"{ecu}."), "\"ecu.");
        let ends = text.lines().filter(|line| line.starts_with("from = ") || line.starts_with("to = "));
        let mut pairs: Vec<String> = ends.map(str::to_owned).collect();
        pairs.sort();
        pairs
    };
    assert_eq!(connections(&text, "engine_plant", "engine_ecu"), connections(&example, "plant", "ecu"));
    let plan = desk.run("check engine.toml");
    assert_eq!((plan.code, plan.stderr.as_str()), (Some(0), ""), "{}", plan.stdout);
    assert!(!plan.stdout.contains("never ticks"), "{}", plan.stdout);
}

/// Paths count from the rig file, wherever it is made from.
#[test]
fn fmus_are_found_from_where_the_rig_is() {
    let desk = Desk::new();
    for folder in ["fmus", "rigs"] {
        std::fs::create_dir(desk.path(folder)).unwrap();
    }
    desk.does("new fmu fmus/wheel");
    desk.does("new rig rigs/first fmus/wheel ./fmus/../fmus/wheel");
    let text = desk.read("rigs/first.toml");
    assert!(text.contains("\n[fmu.wheel]\npath = \"../fmus/wheel\"\n"), "{text}");
    assert!(text.contains("\n[fmu.wheel_2]\npath = \"../fmus/wheel\"\n"), "{text}");
    desk.does("check rigs/first.toml");
    desk.does(&format!("new rig far {}", desk.path("fmus/wheel").display()));
    assert!(desk.read("far.toml").contains(&format!("path = \"{}\"", desk.path("fmus/wheel").display())));
    desk.does("check far.toml");
}

/// Two clocks that wait, and two that tick: which belongs to which nobody has said.
#[test]
fn what_is_not_clear_is_a_comment() {
    let desk = Desk::new();
    desk.does("new fmu a");
    desk.does("new fmu b");
    desk.does("new rig both a b");
    let text = desk.read("both.toml");
    let choice = "# [[trigger]]\n# clock = \"b.on_pulse\"\n# from = \"a.pulse\"\n# from = \"b.pulse\"\n# at = [0.0, 1.0]     # s\n";
    assert!(text.contains(choice), "{text}");
    let plan = desk.does("check both.toml");
    assert!(plan.contains("a.on_pulse is a triggered clock that no [[trigger]] names: it never ticks"), "{plan}");
    // What is commented out is right, once it is chosen.
    let chosen = text.replace(choice, "[[trigger]]\nclock = \"b.on_pulse\"\nfrom = \"b.pulse\"\n");
    let chosen: String = chosen
        .lines()
        .map(|line| line.strip_prefix("# start").map_or(line.to_owned(), |rest| format!("start{rest}")) + "\n")
        .collect();
    desk.write("chosen.toml", &chosen);
    assert!(desk.does("check chosen.toml").contains("by b.pulse"));
}

#[test]
fn every_fmu_of_the_repository_gets_a_rig_that_has_a_plan_or_says_what_it_lacks() {
    let desk = Desk::new();
    for fmu in std::fs::read_dir(repository("fmus")).unwrap().map(|entry| entry.unwrap().file_name()) {
        let name = fmu.to_str().unwrap();
        if name == "common" {
            continue;
        }
        let told = desk.does(&format!("new rig {name} {}", repository(&format!("fmus/{name}"))));
        let undecided = told.lines().any(|line| line.starts_with("to be decided: "));
        let checked = desk.run(&format!("check {name}.toml"));
        assert_eq!(checked.code, Some(if undecided { 2 } else { 0 }), "{told}{}", checked.stderr);
        if undecided {
            let lacks = told.lines().find_map(|line| line.strip_prefix("to be decided: ")).unwrap();
            assert!(checked.stderr.contains(lacks), "{told}{}", checked.stderr);
        }
    }
}

#[test]
fn what_is_there_or_is_no_fmu_is_refused() {
    let desk = Desk::new();
    desk.does("new fmu wheel");
    desk.write("first.toml", "mine");
    desk.refuses("new rig first wheel", "first.toml: is there already, and is not overwritten: choose another name\n");
    assert_eq!(desk.read("first.toml"), "mine");
    desk.refuses("new rig second", "not provided:\n  <FMU>...");
    desk.refuses("new rig second nothing", "nothing: No such file or directory");
    desk.refuses("new rig second first.toml", "first.toml");
    desk.refuses("new rig .hidden wheel", "\".hidden\" cannot be the name of a rig");
    desk.refuses("new rig no/such/folder wheel", "No such file or directory");
}

#[test]
fn an_fmu_that_makes_steps_has_its_step() {
    let desk = Desk::new();
    let [stepper, control] = ["fmus/stepper", "fmus/engine_control"].map(repository);
    let told = desk.does(&format!("new rig loop {stepper} {control}"));
    assert!(told.starts_with("loop.toml: a rig of 2 FMUs with 2 input clocks; steps are made by stepper\n"), "{told}");
    let text = desk.read("loop.toml");
    assert!(text.contains("\n# step = 0.01     # s: how far each goes; without it as the FMU suggests\n"), "{text}");
    let plan = desk.does("check loop.toml");
    assert!(plan.contains("stepper.step"), "{plan}");
}

/// What integrates an FMU for Model Exchange is told in comments, which hold as they are.
#[test]
fn an_fmu_that_is_integrated_has_its_solver() {
    let desk = Desk::new();
    desk.does(&format!("new rig mine {}", repository("fmus/ball")));
    let text = desk.read("mine.toml");
    assert!(text.contains("# It makes steps (Model Exchange).\n"), "{text}");
    let uncommented = text.replace("# solver =", "solver =").replace("# internal_step =", "internal_step =");
    assert_ne!(uncommented, text);
    std::fs::write(desk.path("mine.toml"), uncommented).unwrap();
    desk.does("check mine.toml");
}

/// Two FMUs with `canBeInstantiatedOnlyOncePerProcess` are two; one that is named by two paths is the same.
#[test]
fn two_fmus_that_can_be_instantiated_once_are_two_and_one_of_them_twice_is_one() {
    let desk = Desk::new();
    for name in ["a", "b"] {
        desk.does(&format!("new fmu {name}"));
        let file = desk.path(name).join("modelDescription.xml");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("<ScheduledExecution "));
        let own = "<ScheduledExecution canBeInstantiatedOnlyOncePerProcess=\"true\" ";
        std::fs::write(&file, text.replacen("<ScheduledExecution ", own, 1)).unwrap();
    }
    let told = desk.does("new rig two a b");
    assert!(!told.contains("the same FMU"), "{told}");
    let told = desk.does("new rig one a ./a");
    assert!(told.contains("to be decided: ") && told.contains("a and a_2 are the same FMU"), "{told}");
}
