//! Names of others on the terminal: a control character in one shows as its escape, so that it neither breaks a table nor drives
//! the terminal. What programs read has the names as they are.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// XML allows these in attributes, as references: a line feed, a carriage return, a tab, CSI, NEL, and an override of direction.
const REFERENCES: &str = "x&#10;y&#13;z&#9;&#x9b;31m&#x85;&#x202e;";
const AS_IT_IS: &str = "x\ny\rz\t\u{9b}31m\u{85}\u{202e}";
const SHOWN: &str = "x\\ny\\rz\\t\\u{9b}31m\\u{85}\\u{202e}";

fn vecud(folder: &Path, arguments: &[&str]) -> Output {
    let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
    vecud.args(arguments).env("VECUD_CACHE", folder.join("cache")).current_dir(folder).output().unwrap()
}

/// No byte of what is written drives a terminal, and the name is there as it is to be shown.
#[track_caller]
fn is_harmless(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let harmful = text.chars().find(|&c| (c.is_control() && !matches!(c, '\n' | '\t')) || c == '\u{202e}');
    assert_eq!(harmful, None, "{text:?}");
    assert!(!text.contains("\ny") && !text.contains("z\t"), "{text:?}");
}

#[test]
fn control_characters_in_names_show_as_escapes() {
    let folder = crate::program::tempdir().unwrap();
    let clock = format!("clock{REFERENCES}");
    let xml = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"model{REFERENCES}\" instantiationToken=\"t{REFERENCES}\" \
         description=\"d{REFERENCES}\">\n<ScheduledExecution modelIdentifier=\"m\"/>\n<LogCategories><Category \
         name=\"log{REFERENCES}\" description=\"d{REFERENCES}\"/></LogCategories>\n<ModelVariables>\n\
         <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\"/>\n\
         <Clock name=\"{clock}\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" \
         intervalDecimal=\"0.01\" priority=\"1\" unknown=\"{REFERENCES}\"/>\n\
         <Clock name=\"out{REFERENCES}\" valueReference=\"2\" causality=\"output\" intervalVariability=\"triggered\" clocks=\"1\"/>\n\
         <Float64 name=\"v{REFERENCES}\" valueReference=\"3\" causality=\"output\" variability=\"discrete\" clocks=\"1\" \
         unit=\"u{REFERENCES}\" description=\"d{REFERENCES}\"><Alias name=\"alias{REFERENCES}\"/></Float64>\n\
         </ModelVariables>\n<ModelStructure/>\n</fmiModelDescription>"
    );
    let fmu = folder.path().join("fmu");
    let library = fmu.join("binaries").join(format!("{}-linux", std::env::consts::ARCH));
    fs::create_dir_all(&library).unwrap();
    fs::write(library.join("m.so"), "not looked at").unwrap();
    fs::write(fmu.join("modelDescription.xml"), &xml).unwrap();
    fs::write(
        folder.path().join("rig.toml"),
        "[rig]\nmode = 'virtual'\nstop_time = 1.0\n[fmu.a]\npath = 'fmu'\n[fmu.b]\npath = 'fmu'\n",
    )
    .unwrap();

    let inspected = vecud(folder.path(), &["inspect", "fmu"]);
    assert!(inspected.status.success(), "{}", String::from_utf8_lossy(&inspected.stderr));
    is_harmless(&inspected.stdout);
    is_harmless(&inspected.stderr);
    let text = String::from_utf8(inspected.stdout).unwrap();
    for name in ["model", "clock", "out", "v", "alias", "u", "log"] {
        assert!(text.contains(&format!("{name}{SHOWN}")), "{name}: {text}");
    }

    let json = vecud(folder.path(), &["inspect", "--json", "fmu"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["variables"][1]["name"], format!("clock{AS_IT_IS}"));

    let checked = vecud(folder.path(), &["check", "rig.toml"]);
    is_harmless(&checked.stdout);
    is_harmless(&checked.stderr);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let text = String::from_utf8(checked.stdout).unwrap();
    assert!(text.contains(&format!("clock{SHOWN}")), "{text}");

    // A message that quotes what the rig says.
    fs::write(
        folder.path().join("wrong.toml"),
        "[rig]\nmode = 'virtual'\n[fmu.a]\npath = 'fmu'\n[record]\nsignals = [\"a.x\\u001b[2J\\u009b\"]\n",
    )
    .unwrap();
    let refused = vecud(folder.path(), &["check", "wrong.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    is_harmless(&refused.stderr);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("\\u{1b}[2J\\u{9b}"));
}
