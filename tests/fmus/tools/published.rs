//! Reference FMUs in Model Exchange through the program, in each version: by Euler's method they come to the results that are published
//! with them, which are those of that method, and by solvers with a tolerance to what CVode comes to in FMPy (`fmpy` on the path).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::Command;

use crate::tools::foreign::{Folder, skipped};
use crate::tools::reference_fmus::reference_fmus;
use zip::ZipArchive;

/// Those that have equations or events: the name, the step with which results are published, and up to when these are the results of
/// what is asked for; from row to row, and the end.
const FMUS: [(&str, &str, f64, &str, f64); 7] = [
    ("Dahlquist", "0.1", 10.0, "0.1", 10.0),
    ("VanDerPol", "0.01", 20.0, "0.1", 20.0),
    // In Co-Simulation, whose results these are, it bounces at the end of a step.
    ("BouncingBall", "0.001", 0.45, "0.01", 3.0),
    ("Stair", "0.2", 9.0, "0.2", 8.9),
    ("StateSpace", "0.001", 10.0, "1", 10.0),
    // What is published for Roberts are rows of the bouncing ball.
    ("Roberts", "0.001", 0.0, "0.01", 1.0),
    ("Feedthrough", "0.1", 2.0, "0.1", 2.0),
];

/// An FMU with Model Exchange.
struct Found {
    version: &'static str,
    path: PathBuf,
}

/// All FMUs of the folder for Model Exchange, by their names, and a visible word of each that there is not.
fn found(test: &str) -> Option<BTreeMap<&'static str, Vec<Found>>> {
    let all = reference_fmus(test)?;
    let mut found: BTreeMap<&str, Vec<Found>> = BTreeMap::new();
    for (name, ..) in FMUS {
        for version in ["1.0", "2.0", "3.0"] {
            let is_it = |fmu: &&crate::tools::reference_fmus::ReferenceFmu| {
                let has_equations = fmu.has("ModelExchange") || (version == "1.0" && !fmu.has("Implementation"));
                fmu.attribute("fmiVersion") == version && fmu.path.file_stem().unwrap() == name && has_equations
            };
            match all.iter().find(is_it) {
                Some(fmu) => found.entry(name).or_default().push(Found { version, path: fmu.path.clone() }),
                // Two of them there are in FMI 3.0 alone.
                None if version != "3.0" && ["StateSpace", "Roberts"].contains(&name) => {}
                None => {
                    skipped(&format!("{test}: VECUD_REFERENCE_FMUS has no {name} of FMI {version} for Model Exchange"))
                }
            }
        }
    }
    Some(found)
}

/// A file that is published inside of an FMU.
fn published(fmu: &Found, suffix: &str) -> Option<String> {
    let mut archive = ZipArchive::new(File::open(&fmu.path).unwrap()).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let place = names.into_iter().find(|name| name.contains("fmi-ls-ref") && name.ends_with(suffix))?;
    let mut text = String::new();
    archive.by_name(&place).unwrap().read_to_string(&mut text).unwrap();
    Some(text)
}

/// A table of numbers, the last row of each time; an array in one cell has a column for each element, `y[1]`.
struct Table {
    names: Vec<String>,
    rows: Vec<(f64, Vec<f64>)>,
}

impl Table {
    fn of(csv: &str) -> Table {
        let mut lines = csv.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').map(|name| name.trim_matches('"')).collect();
        let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        let mut names = Vec::new();
        for (name, first) in header.into_iter().zip(&cells[0]).skip(1) {
            match first.split(' ').count() {
                1 => names.push(name.to_owned()),
                count => names.extend((1..=count).map(|element| format!("{name}[{element}]"))),
            }
        }
        // What is no number, as a text, is compared with nothing.
        let number = |cell: &str| match cell {
            "true" => 1.0,
            "false" => 0.0,
            cell => cell.parse().unwrap_or(f64::NAN),
        };
        let mut rows: Vec<(f64, Vec<f64>)> = Vec::new();
        for row in &cells {
            let time = number(row[0]);
            let values = row[1..].iter().flat_map(|cell| cell.split(' ')).map(number).collect();
            match rows.last_mut() {
                Some(last) if is_now(last.0, time) => last.1 = values,
                _ => rows.push((time, values)),
            }
        }
        Table { names, rows }
    }

    /// The largest deviation, relative where values are large, from another one in rows and columns that both have, and how many values those are.
    fn deviation(&self, other: &Table, counts: impl Fn(f64) -> bool) -> (f64, usize) {
        let (mut most, mut count) = (0.0, 0);
        for (time, values) in self.rows.iter().filter(|(time, _)| counts(*time)) {
            let Some((_, others)) = other.rows.iter().find(|(other, _)| is_now(*other, *time)) else { continue };
            for (name, value) in self.names.iter().zip(values).filter(|(_, value)| value.is_finite()) {
                let Some(place) = other.names.iter().position(|other| other == name) else { continue };
                let off = (value - others[place]).abs() / value.abs().max(1.0);
                count += 1;
                most = if off <= most { most } else { off };
            }
        }
        (most, count)
    }
}

fn is_now(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-7
}

fn simulate(folder: &Folder, fmu: &Found, arguments: &[&str]) -> Table {
    let own = ["simulate", fmu.path.to_str().unwrap(), "--interface-type", "me"];
    let output = folder.vecud(&[&own[..], arguments].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}: {said}", fmu.path.display());
    Table::of(&String::from_utf8(output.stdout).unwrap())
}

#[test]
fn eulers_method_comes_to_what_is_published() {
    let Some(found) = found("eulers_method_comes_to_what_is_published") else { return };
    let folder = Folder::new();
    for (name, step, until, ..) in FMUS.iter().filter(|(_, _, until, ..)| *until > 0.0) {
        let Some(fmus) = found.get(name) else { continue };
        // All versions are made of one model, and not all carry results.
        let Some(results) = fmus.iter().rev().find_map(|fmu| published(fmu, "_out.csv")) else {
            skipped(&format!(
                "eulers_method_comes_to_what_is_published: no {name} of VECUD_REFERENCE_FMUS carries results"
            ));
            continue;
        };
        let results = Table::of(&results);
        let inputs = fmus.iter().rev().find_map(|fmu| published(fmu, "_in.csv"));
        let interval = format!("{}", (results.rows[1].0 - results.rows[0].0).max(step.parse().unwrap()));
        let stop = format!("{until}");
        for fmu in fmus {
            let mut arguments = vec![
                "--solver",
                "euler",
                "--fixed-step-size",
                step,
                "--output-interval",
                &interval,
                "--stop-time",
                &stop,
            ];
            let feeds = inputs.as_ref().filter(|_| fmu.version == "3.0");
            if let Some(inputs) = feeds {
                std::fs::write(folder.path("in.csv"), inputs).unwrap();
                arguments.extend(["--input-file", "in.csv"]);
            }
            let own = simulate(&folder, fmu, &arguments);
            // Where inputs jump the results have what was before, and so have those of versions without these inputs everywhere.
            let is_calm = |time: f64| {
                time <= *until + 1e-9 && if feeds.is_some() { time != 1.0 } else { inputs.is_none() || time < 1.0 }
            };
            let (most, count) = results.deviation(&own, is_calm);
            println!("{name} of FMI {}: {count} values, {most:e} at most", fmu.version);
            assert!(count >= 10, "{name} of FMI {}: {count} values", fmu.version);
            assert!(most < 1e-9, "{name} of FMI {}: {most:e}", fmu.version);
        }
    }
}

#[test]
fn solvers_with_a_tolerance_come_to_what_cvode_comes_to() {
    let test = "solvers_with_a_tolerance_come_to_what_cvode_comes_to";
    let Some(found) = found(test) else { return };
    if Command::new("fmpy").arg("--version").output().is_err() {
        return skipped(&format!("{test}: there is no fmpy"));
    }
    let folder = Folder::new();
    for (name, .., interval, stop) in FMUS.iter().filter(|(name, ..)| *name != "Feedthrough") {
        for fmu in found.get(name).into_iter().flatten() {
            let stop = format!("{stop}");
            let out = folder.path("fmpy.csv");
            let mut fmpy = Command::new("fmpy");
            fmpy.args(["--interface-type", "ModelExchange", "--solver", "CVode", "--relative-tolerance", "1e-8"]);
            fmpy.args(["--output-interval", interval, "--stop-time", &stop, "--output-file"]).arg(&out);
            let output = fmpy.arg("simulate").arg(&fmu.path).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let cvode = Table::of(&std::fs::read_to_string(&out).unwrap());
            for solver in ["dopri5", "bdf"] {
                let arguments =
                    ["--solver", solver, "--tolerance", "1e-8", "--output-interval", interval, "--stop-time", &stop];
                let (most, count) = cvode.deviation(&simulate(&folder, fmu, &arguments), |_| true);
                println!("{name} of FMI {}, {solver}: {count} values, {most:e} at most", fmu.version);
                assert!(count >= 10, "{name} of FMI {}: {count} values", fmu.version);
                // Each solver is off by some tolerances.
                assert!(most < 2e-5, "{name} of FMI {}, {solver}: {most:e}", fmu.version);
            }
        }
    }
}
