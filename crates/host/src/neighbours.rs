//! Things that FMUs share because one process loads them all: libraries of one name, and variables that are unique in a process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use vecud_fmu::linking::{self, Clash};
use vecud_plan::FmuId;
use vecud_plan::rig::{Diagnostic, Rig, SharedLibraries};
use vecud_report::FindingResult;

/// Faults, notes and findings of FMUs that one process loads.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// Problems that prevent the rig from running.
    pub problems: Vec<Diagnostic>,
    /// Notes for the user that stop nothing.
    pub notes: Vec<String>,
    /// Findings on things that an FMU shares with another one.
    pub findings: Vec<(FmuId, FindingResult)>,
    /// By FMU: whether it can change shared state of the process.
    pub change_process: Vec<bool>,
    /// Libraries with variables of their own that several FMUs bring, by their names.
    pub libraries: BTreeMap<String, BTreeSet<FmuId>>,
}

/// Looks at the libraries of the rig's FMUs, in its order, which a runner that is this program loads.
pub fn look(rig: &Rig, libraries: &[&Path], program: Option<&Path>) -> Neighbours {
    let mut found = Neighbours::default();
    let own = PathBuf::from("/proc/self/exe");
    let own = own.canonicalize().unwrap_or(own);
    let name = |fmu: usize| &rig.fmus[fmu].name.value;
    let linked = linking::link(program.unwrap_or(&own), libraries);
    found.change_process = linked.change_process;
    for clash in linked.clashes {
        match clash {
            Clash::Name { name: library, own, first } => {
                let both = format!(
                    "fmu `{0}` and fmu `{1}` need different files of the name {library}: {2} and {3}; one process loads only one of \
                     them, so fmu `{0}` runs the code of fmu `{1}`",
                    name(own.0),
                    name(first.0),
                    own.1.display(),
                    first.1.display()
                );
                match rig.shared_libraries {
                    SharedLibraries::Trust => found.notes.push(format!("{both} (shared_libraries = \"trust\")")),
                    SharedLibraries::Refuse => found.problems.push(Diagnostic::new(
                        &rig.file,
                        rig.fmus[own.0].path.place,
                        format!(
                            "{both}: rename one of them (soname), link it statically, or use two rigs; if one file suits both, set \
                             shared_libraries = \"trust\" in [rig]"
                        ),
                    )),
                }
            }
            Clash::Program { name: library, own: (fmu, path) } => found.notes.push(format!(
                "fmu `{}` brings {library} ({}), which vecud has loaded for itself: it gets that one",
                name(fmu),
                path.display()
            )),
            Clash::Shared { name: library, own, first } => {
                found.notes.push(format!(
                    "fmu `{}` and fmu `{}` bring {library} of the same content: it is loaded once, and they share its static variables",
                    name(first),
                    name(own)
                ));
                found.libraries.entry(library).or_default().extend([FmuId(first), FmuId(own)]);
            }
            Clash::Unique { symbol, more, own, first } => {
                let others = linking::and_others(more);
                let message = format!(
                    "fmu `{}`: shares the variable {symbol}{others} with fmu `{}`: each defines it, but a process has it once \
                     (STB_GNU_UNIQUE); build them with -fno-gnu-unique or hidden visibility, or use two rigs",
                    name(own),
                    name(first)
                );
                found.notes.push(message.clone());
                let kind = "shared_variable".to_owned().into();
                found.findings.push((FmuId(own), FindingResult { kind, count: more as u64 + 1, message }));
            }
        }
    }
    found
}
