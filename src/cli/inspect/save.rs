//! `--save-start F.toml`: the start values of what is shown, to be changed by hand and given to `--start`.

use super::render::start_text;
use super::view::View;
use std::fmt::Write;
use std::io::{ErrorKind, Read};
use std::path::Path;
use vecud_base::plain::Plain;
use vecud_description::Variable;
use vecud_host::Error;
use vecud_linux::files;

/// How each of these files begins: others are not replaced.
const BEGIN: &str = "# Start values of ";

/// Writes the file. Says how many values it has.
pub fn save(view: &View, file: &Path) -> Result<String, Error> {
    check_place(file)?;
    let (text, count) = text(view);
    vecud_host::write_whole(file, text.as_bytes()).map_err(Error::file(file))?;
    Ok(match count {
        0 => format!("{}: no start values, since nothing that is shown has one that can be set", file.display()),
        1 => format!("{}: 1 start value", file.display()),
        _ => format!("{}: {count} start values", file.display()),
    })
}

/// There is nothing of that name, or a file that was written like this.
fn check_place(file: &Path) -> Result<(), Error> {
    let mut begin = Vec::new();
    match files::open(file).and_then(|open| open.take(BEGIN.len() as u64).read_to_end(&mut begin)) {
        Ok(_) if begin == BEGIN.as_bytes() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::File(file.to_owned(), error)),
        Ok(_) => Err(Error::Command(format!(
            "--save-start {}: is there already, and not written by --save-start, so it is not replaced; choose another name",
            file.display()
        ))),
    }
}

/// The file, and how many values it has.
fn text(view: &View) -> (String, usize) {
    let description = view.description;
    let mut out = format!(
        "{BEGIN}{} (FMI {}), written by vecud inspect --save-start.\n# For vecud simulate --start and vecud inspect --start; the \
         lines may stand below [fmu.NAME.start] in a rig, too.\n\n",
        Plain(&description.model_name),
        Plain(&description.fmi_version)
    );
    let mut count = 0;
    for (index, variable) in view.shown() {
        // Writing to a `String` cannot fail.
        match view.starts.line(index) {
            None => {}
            Some(Ok(line)) => {
                count += 1;
                let _ = writeln!(out, "{line}{}", remark(view, index, variable));
            }
            Some(Err(why)) => drop(writeln!(out, "# {} {}", Plain(&variable.name), Plain(&why))),
        }
    }
    (out, count)
}

/// What helps whoever changes a value: its unit, its limits, and what the description has instead.
fn remark(view: &View, index: usize, variable: &Variable) -> String {
    let mut parts: Vec<String> = variable.unit.iter().map(|unit| unit.to_string()).collect();
    let limit = |limit: &Option<std::sync::Arc<_>>| limit.as_deref().map(start_text);
    match (limit(&variable.min), limit(&variable.max)) {
        (Some(min), Some(max)) => parts.push(format!("{min} to {max}")),
        (Some(min), None) => parts.push(format!("at least {min}")),
        (None, Some(max)) => parts.push(format!("at most {max}")),
        (None, None) => {}
    }
    if view.starts.changed(index).is_some() {
        let described = variable.start.as_ref().map_or_else(|| "none".to_owned(), start_text);
        parts.push(format!("the FMU's: {described}"));
    }
    if parts.is_empty() { String::new() } else { format!("  # {}", Plain(&parts.join("; "))) }
}
