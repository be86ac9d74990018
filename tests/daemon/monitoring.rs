//! What examples/monitoring and docs/daemon.md say of metrics is what `/metrics` has.

use super::client::Daemon;
use super::exposition::{Exposition, scraped};
use super::metrics::promtool;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

fn dashboard() -> Value {
    serde_json::from_str(&read("examples/monitoring/grafana.json")).unwrap()
}

/// The panels of a dashboard, also those that lie folded in a row.
fn panels(dashboard: &Value) -> Vec<&Value> {
    let outer = dashboard["panels"].as_array().unwrap();
    outer.iter().flat_map(|panel| [panel].into_iter().chain(panel["panels"].as_array().into_iter().flatten())).collect()
}

/// Everything that the dashboard asks Prometheus.
fn expressions(dashboard: &Value) -> Vec<String> {
    let targets = panels(dashboard).into_iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

/// Names of series of vecud in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter)).filter(|word| word.starts_with("vecud_")).collect()
}

/// The names that series can have.
fn known(exposition: &Exposition) -> BTreeSet<String> {
    let of_family = |(name, kind): (&String, &str)| match kind {
        "histogram" => ["_bucket", "_sum", "_count"].map(|suffix| format!("{name}{suffix}")).to_vec(),
        _ => vec![name.clone()],
    };
    exposition.families.iter().map(|(name, family)| (name, family.kind.as_str())).flat_map(of_family).collect()
}

#[test]
fn alerts_and_the_dashboard_ask_for_what_there_is() {
    let known = known(&scraped(&Daemon::new()));
    let dashboard = dashboard();
    let variables = dashboard["templating"]["list"].to_string();
    let rules = read("examples/monitoring/vecud.rules.yml");
    let asked = rules.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    let (expressions, tested) = (expressions(&dashboard).join("\n"), read("examples/monitoring/vecud.rules.test.yml"));
    for (place, text) in [("dashboard", &expressions), ("variables", &variables), ("rules", &asked), ("tests", &tested)]
    {
        let names = names(text);
        assert!(!names.is_empty(), "{place}");
        for name in names {
            assert!(known.contains(name), "{place}: /metrics has no {name}");
        }
    }
    let used: BTreeSet<&str> = names(&expressions).union(&names(&asked)).copied().collect();
    for name in
        known.iter().filter(|name| name.ends_with("_total") && !name.contains("_http_") && !name.contains("_runs_"))
    {
        assert!(used.contains(name.as_str()), "neither the dashboard nor an alert looks at {name}");
    }
}

/// Every family is explained, with its type and its labels.
#[test]
fn the_table_in_the_documents_has_every_family() {
    let exposition = scraped(&Daemon::new());
    let text = read("docs/daemon.md");
    let mut told = BTreeMap::new();
    for row in text.lines().filter(|line| line.starts_with("| `vecud_")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for name in cells[1].split('`').filter(|name| name.starts_with("vecud_")) {
            let kind = cells[2].split(',').next().unwrap();
            assert_eq!(told.insert(name.to_owned(), kind.to_owned()), None, "{name} is explained twice");
        }
    }
    let there = exposition.families.iter().map(|(name, family)| (name.clone(), family.kind.clone()));
    assert_eq!(told, there.collect::<BTreeMap<_, _>>());
}

/// What Grafana wants of a dashboard: its panels lie on a grid of 24 columns, without overlap, and name a data source that there is.
#[test]
fn the_dashboard_is_one() {
    let dashboard = dashboard();
    assert!(
        dashboard["title"] == "vecud" && dashboard["uid"] == "vecud" && dashboard["schemaVersion"].as_u64() >= Some(36)
    );
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let kinds: BTreeMap<&str, &str> =
        variables.iter().map(|own| (own["name"].as_str().unwrap(), own["type"].as_str().unwrap())).collect();
    assert_eq!(kinds, BTreeMap::from([("datasource", "datasource"), ("rig", "query")]));
    let panels = panels(&dashboard);
    let rows: Vec<_> = panels.iter().filter(|panel| panel["type"] == "row").collect();
    assert_eq!(rows.iter().map(|row| &row["repeat"]).collect::<Vec<_>>(), [&Value::Null, &"rig".into()]);
    assert!(panels.iter().any(|panel| panel["type"] == "heatmap"));
    let mut taken = BTreeSet::new();
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "each has an id of its own");
    for panel in &panels {
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
        assert!(w > 0 && h > 0 && x + w <= 24, "{}", panel["title"]);
        for cell in (x..x + w).flat_map(|column| (y..y + h).map(move |line| (column, line))) {
            assert!(taken.insert(cell), "{} lies over another one", panel["title"]);
        }
        if panel["type"] == "row" {
            continue;
        }
        assert_eq!(panel["datasource"]["uid"], "${datasource}");
        let targets = panel["targets"].as_array().unwrap();
        assert!(!targets.is_empty(), "{}", panel["title"]);
        let letters: BTreeSet<&str> = targets.iter().map(|target| target["refId"].as_str().unwrap()).collect();
        assert_eq!(letters.len(), targets.len(), "{}", panel["title"]);
        let is_of_a_rig = y > rows[1]["gridPos"]["y"].as_u64().unwrap();
        for target in targets {
            let asks_for_it = target["expr"].as_str().unwrap().contains("rig=~\"$rig\"");
            assert!(asks_for_it || !is_of_a_rig, "{}: {}", panel["title"], target["expr"]);
        }
    }
}

/// Prometheus takes the configuration, the alerts, and what the dashboard asks; and the alerts are said when they should be.
#[test]
fn prometheus_takes_all_of_it() {
    let test = "prometheus_takes_all_of_it";
    let folder = crate::program::tempdir().unwrap();
    let asked = folder.path().join("dashboard.yml");
    let mut rules = "groups:\n- name: dashboard\n  rules:\n".to_owned();
    for (number, expression) in expressions(&dashboard()).into_iter().enumerate() {
        let expression = expression.replace("$__rate_interval", "1m").replace("$__range", "1h").replace("$rig", ".*");
        assert!(!expression.contains('$'), "{expression}");
        rules += &format!("  - record: dashboard:expression{number}\n    expr: {}\n", Value::from(expression));
    }
    fs::write(&asked, rules).unwrap();
    let example = |name: &str| file("examples/monitoring").join(name).display().to_string();
    for arguments in [
        &["check", "rules", &asked.display().to_string()],
        &["check", "rules", &example("vecud.rules.yml")],
        &["test", "rules", &example("vecud.rules.test.yml")],
        &["check", "config", "--syntax-only", &example("prometheus.yml")][..],
    ] {
        let Some(mut command) = promtool(test, arguments) else { return };
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said));
    }
    // Each alert is tested, where it is said and where it is not.
    let (rules, tests) =
        (read("examples/monitoring/vecud.rules.yml"), read("examples/monitoring/vecud.rules.test.yml"));
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(tests.contains(&format!("        alertname: {alert}\n        exp_alerts:\n")), "{alert} is never said");
        assert!(tests.contains(&format!("alertname: {alert} }}")), "{alert} is always said");
    }
}
