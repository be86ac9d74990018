//! Support for shells and editors: completions, manual pages, schemas of rig files and reports.

use super::interruption::interruptible;
use super::made::UnfinishedOutput;
use super::results;
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;
use std::process::ExitCode;
use vecud_host::Error;

#[derive(clap::Args)]
pub struct Schema {
    /// Format to describe
    #[arg(value_enum, default_value_t = Described::Rig)]
    of: Described,
}

/// A format with a schema.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Described {
    /// Rig files (TOML)
    Rig,
    /// report.json and checkpoint.json
    Report,
    /// Output of `vecud check --json`
    Check,
    /// Output of `vecud validate --json`
    Validate,
}

impl Described {
    /// The schema, as docs/ has it.
    fn schema(self) -> &'static str {
        match self {
            Described::Rig => include_str!("../../docs/rig.schema.json"),
            Described::Report => include_str!("../../docs/report.schema.json"),
            Described::Check => include_str!("../../docs/check.schema.json"),
            Described::Validate => include_str!("../../docs/validate.schema.json"),
        }
    }
}

#[derive(clap::Args)]
pub struct Completions {
    /// Shell that gets the completions
    shell: Shell,
}

#[derive(clap::Args)]
pub struct Manual {
    /// Write all pages into a new folder: vecud.1, and one for each command. Default: print vecud.1 only
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints a script for the shell.
pub fn completions(arguments: &Completions, mut command: clap::Command) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "vecud", &mut script);
    results::print_with(|out| out.write_all(&script), None)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the page of the program, or writes those of all commands.
pub fn manual(arguments: &Manual, mut command: clap::Command) -> Result<ExitCode, Error> {
    command = command.disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.out else {
        results::print(&page(&command), None)?;
        return Ok(ExitCode::SUCCESS);
    };
    let pages = pages(&command);
    let told =
        format!("{}: {} pages; next: man -l {}\n", folder.display(), pages.len(), folder.join("vecud.1").display());
    interruptible(|stop| UnfinishedOutput::folder(folder, pages).map(|made| made.keep(&stop)))?;
    results::print(&told, None)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a schema.
pub fn schema(arguments: &Schema) -> Result<ExitCode, Error> {
    results::print(arguments.of.schema(), None)?;
    Ok(ExitCode::SUCCESS)
}

/// The pages of a command and of all below it, by the names of their files.
fn pages(command: &clap::Command) -> Vec<(String, String)> {
    let below = command.get_subcommands().flat_map(pages);
    std::iter::once((Man::new(command.clone()).get_filename(), page(command))).chain(below).collect()
}

fn page(command: &clap::Command) -> String {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = Man::new(command.clone()).render(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}
