//! `[master.NAME]`: FMUs that make their steps together, and how (semantics S24).

use super::document::{TableReader, describe, elements};
use super::fmu_name::{FMU_NAME, is_fmu_name, unknown_fmu};
use super::seconds::read_positive;
use super::{At, Integration, RigTask, figures, integration, task};
use serde::{Deserialize, Serialize};
use toml_edit::Item;
use vecud_base::time::Fraction;
use vecud_solver::master::MasterAlgorithm;

const KEYS: [&str; 5] = ["fmus", "step", "algorithm", "loops", "cpu"];

/// Treatment of algebraic loops in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loops {
    /// Loops are reported; one of their inputs has the last computed value.
    #[default]
    Report,
    /// Newton's method solves them.
    Newton,
}

/// Ability of an FMU for the master of its group, as the user states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MasterClass {
    /// The FMU accepts every step up to a length that is known beforehand.
    Predictable,
    /// The FMU can be restored to an earlier state.
    Rollback,
    /// Neither.
    Legacy,
}

/// `[master.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigMaster {
    /// NAME, as an FMU may be named.
    pub name: At<String>,
    /// `fmus`: each is one of the rig's, and in no other group. Never empty.
    pub fmus: Vec<At<String>>,
    /// `step`, s; `None`: the shortest one that its FMUs would have alone.
    pub step: Option<At<Fraction>>,
    /// `algorithm`.
    pub algorithm: MasterAlgorithm,
    /// `loops`.
    pub loops: Loops,
    /// The integration of the group's Model Exchange FMUs.
    pub integration: Integration,
    /// `cpu`.
    pub cpu: Option<At<usize>>,
    /// Limits, overrun policy and figures.
    pub task: RigTask,
}

impl RigMaster {
    /// Whether an FMU is in it.
    pub(super) fn has(&self, fmu: &str) -> bool {
        self.fmus.iter().any(|member| member.value == fmu)
    }
}

/// Reads them all, when the names of the FMUs are known.
pub(super) fn read(top: &TableReader, known_fmus: &[&str]) -> Vec<RigMaster> {
    let mut masters = Vec::new();
    let Some(tables) = top.table("master", "[master]") else { return masters };
    for (name, item) in tables.entries() {
        let title = format!("[master.{}]", name.value);
        match item.as_table_like() {
            Some(table) => {
                let known: Vec<&str> = [&KEYS[..], &task::KEYS, &figures::KEYS_OF_STEP, &integration::KEYS].concat();
                let section = TableReader::new(top.document, &title, table, name.place).only(&known);
                let master = read_one(&section, name, known_fmus, &masters);
                masters.extend(master);
            }
            None => {
                let message = format!("{title} must be a table, not {}", describe(item));
                top.document.problem(name.place, message);
            }
        }
    }
    masters
}

fn read_one(section: &TableReader, name: At<&str>, known_fmus: &[&str], before: &[RigMaster]) -> Option<RigMaster> {
    if !is_fmu_name(name.value) {
        let message = format!("\"{}\" cannot name a group: {FMU_NAME}", name.value);
        section.document.problem(name.place, message);
    }
    let core = |item: &Item| item.as_integer().and_then(|i| usize::try_from(i).ok());
    let fmus = members(section, name.value, known_fmus, before);
    let master = RigMaster {
        name: At { value: name.value.to_owned(), place: name.place },
        fmus,
        step: read_positive(section, "step"),
        algorithm: section.choice("algorithm", &MasterAlgorithm::WORDS).unwrap_or_default(),
        loops: section.choice("loops", &[("report", Loops::Report), ("newton", Loops::Newton)]).unwrap_or_default(),
        integration: integration::read(section),
        cpu: section.read("cpu", "a core number", core),
        task: task::read(section),
    };
    Some(master).filter(|master| !master.fmus.is_empty())
}

/// `fmus`: each FMU once, and none that is in a group already.
fn members(section: &TableReader, name: &str, known_fmus: &[&str], before: &[RigMaster]) -> Vec<At<String>> {
    let Some(written) = elements(section, "fmus") else {
        if section.get("fmus").is_none() {
            section.missing("fmus");
        }
        return Vec::new();
    };
    if written.is_empty() {
        section.document.problem(section.place, format!("fmus of [master.{name}] is empty: name FMUs of the rig"));
    }
    let mut fmus: Vec<At<String>> = Vec::new();
    for At { value: item, place } in written {
        let Some(text) = item.as_str() else {
            section.document.problem(place, "fmus must be a list of names, as [\"engine\", \"gearbox\"]");
            continue;
        };
        if !known_fmus.contains(&text) {
            unknown_fmu(section.document, place, text, known_fmus.to_vec());
        } else if fmus.iter().any(|fmu| fmu.value == text) {
            section.document.problem(place, format!("{text} stands in fmus of [master.{name}] already"));
        } else if let Some(other) = before.iter().find(|master| master.has(text)) {
            let message = format!(
                "{text} is in [master.{}] already (line {}): an FMU makes its steps in one group",
                other.name.value, other.name.place.line
            );
            section.document.problem(place, message);
        } else {
            fmus.push(At { value: text.to_owned(), place });
        }
    }
    fmus
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use std::path::Path;

    const FMUS: &str = "[fmu.engine]\npath = \"e.fmu\"\n[fmu.gearbox]\npath = \"g.fmu\"\n[fmu.car]\npath = \"c.fmu\"\n";

    fn read(text: &str) -> Result<Vec<RigMaster>, String> {
        let rig = parse(&format!("{FMUS}{text}"), Path::new("rig.toml"));
        rig.map(|rig| rig.masters).map_err(|error| error.to_string())
    }

    #[test]
    fn a_group_has_what_is_said_of_it() {
        let text = "[master.drive]\nfmus = [\"engine\", \"gearbox\"]\nstep = \"1/1000\"\nalgorithm = \"gauss-seidel\"\n\
                    loops = \"newton\"\nsolver = \"euler\"\ncpu = 1\nmax_latency_us = 5\n";
        let masters = read(text).unwrap();
        let [master] = &masters[..] else { panic!("{masters:?}") };
        assert_eq!(master.name.value, "drive");
        assert_eq!(master.fmus.iter().map(|fmu| fmu.value.as_str()).collect::<Vec<_>>(), ["engine", "gearbox"]);
        assert_eq!(master.step.as_ref().unwrap().value, Fraction::MILLISECOND);
        assert_eq!((master.algorithm, master.loops), (MasterAlgorithm::GaussSeidel, Loops::Newton));
        assert_eq!(master.integration.solver.as_ref().unwrap().value, super::super::Solver::Euler);
        assert!(master.cpu.is_some() && master.task.limits.max_latency.is_some());
        let masters = read("[master.one]\nfmus = [\"car\"]\n").unwrap();
        assert_eq!((masters[0].algorithm, masters[0].loops), (MasterAlgorithm::Jacobi, Loops::Report));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, told) in [
            ("[master.a]\nstep = 1\n", "rig.toml:7:9: [master.a] has no fmus"),
            ("[master.a]\nfmus = []\n", "rig.toml:7:9: fmus of [master.a] is empty"),
            (
                "[master.a]\nfmus = [\"engin\"]\n",
                "rig.toml:8:9: the rig has no FMU \"engin\"; did you mean \"engine\"?",
            ),
            ("[master.a]\nfmus = [\"car\", \"car\"]\n", "rig.toml:8:16: car stands in fmus of [master.a] already"),
            (
                "[master.a]\nfmus = [\"car\"]\n[master.b]\nfmus = [\"car\"]\n",
                "rig.toml:10:9: car is in [master.a] already (line 7)",
            ),
            ("[master.a]\nfmus = [\"car\"]\nalgorithm = \"jakobi\"\n", "rig.toml:9:13: algorithm"),
            ("[master.a]\nfmus = [\"car\"]\nalgoritm = \"jacobi\"\n", "rig.toml:9:1: unknown key \"algoritm\""),
            ("[master.\"a b\"]\nfmus = [\"car\"]\n", "rig.toml:7:9: \"a b\" cannot name a group"),
            ("[master.a]\nfmus = [1]\n", "rig.toml:8:9: fmus must be a list of names"),
            ("master = 1\n", "rig.toml:1:10: master must be a table, not 1"),
        ] {
            let text = if text.starts_with("master") { read_first(text) } else { read(text) };
            let error = text.unwrap_err();
            assert!(error.contains(told), "{told}: {error}");
        }
    }

    fn read_first(text: &str) -> Result<Vec<RigMaster>, String> {
        let rig = parse(&format!("{text}{FMUS}"), Path::new("rig.toml"));
        rig.map(|rig| rig.masters).map_err(|error| error.to_string())
    }
}
