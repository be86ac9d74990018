//! What FMUs have together because one process loads them all: libraries of one name, and variables that are unique in a process.

use crate::fmu::linking::{self, Clash};
use crate::plan::FmuId;
use crate::report::FindingResult;
use crate::rig::{Problem, Rig, SharedLibraries};
use std::path::{Path, PathBuf};

/// Faults, notes and findings of FMUs that one process loads.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// What keeps the rig from being run.
    pub problems: Vec<Problem>,
    /// Notes for the user that stop nothing.
    pub notes: Vec<String>,
    /// What an FMU shares with another one.
    pub findings: Vec<(FmuId, FindingResult)>,
    /// By FMU: it can change what all have together.
    pub change_process: Vec<bool>,
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
                    "fmu `{}` needs {library}, and so does fmu `{}`, but theirs are different files: {} and {}; a process loads one \
                     library of a name, so that both get that of fmu `{}`",
                    name(own.0),
                    name(first.0),
                    own.1.display(),
                    first.1.display(),
                    name(first.0)
                );
                match rig.shared_libraries {
                    SharedLibraries::Trust => found.notes.push(format!("{both} (shared_libraries = \"trust\")")),
                    SharedLibraries::Refuse => found.problems.push(Problem::new(
                        &rig.file,
                        rig.fmus[own.0].path.place,
                        format!(
                            "{both}: export one of them with a library of another name (soname) or link it statically, or run them \
                             in rigs of their own; if either is good for both: shared_libraries = \"trust\" in [rig]"
                        ),
                    )),
                }
            }
            Clash::Program { name: library, own: (fmu, path) } => found.notes.push(format!(
                "fmu `{}` brings {library} ({}), which vecud has loaded for itself: it gets that one",
                name(fmu),
                path.display()
            )),
            Clash::Unique { symbol, more, own, first } => {
                let others = match more {
                    0 => String::new(),
                    1 => " and another one".to_owned(),
                    _ => format!(" and {more} others"),
                };
                let message = format!(
                    "fmu `{}`: has the variable {symbol}{others} together with fmu `{}`, though each defines it: it is unique in a process \
                     (STB_GNU_UNIQUE), and the FMU that is loaded first has it for both; build them with -fno-gnu-unique or hidden \
                     visibility, or run them in rigs of their own",
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
