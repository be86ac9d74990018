//! Hints for a file that is not there: the names beside it that are like its own.

use std::fs;
use std::path::{Component, Path};
use vecud_plan::rig::suggestion;

/// Number of names in a folder that are looked through.
const MOST: usize = 10_000;

/// The part of a path that is missing, and names like it beside it, as the rest of a message; empty if the path is there.
pub fn hint(path: &Path) -> String {
    let here = |own: &Path| if own == Path::new("") { Path::new(".").to_owned() } else { own.to_owned() };
    let Some(folder) = path.ancestors().skip(1).find(|own| here(own).is_dir()) else { return String::new() };
    let below = path.strip_prefix(folder).unwrap_or(path);
    let Some(Component::Normal(missing)) = below.components().next() else { return String::new() };
    if folder.join(missing).symlink_metadata().is_ok() {
        return String::new();
    }
    let is_folder = below.components().nth(1).is_some();
    let entries = fs::read_dir(here(folder)).into_iter().flatten().flatten().take(MOST);
    let alike = entries.filter(|entry| !is_folder || entry.path().is_dir());
    let names: Vec<String> = alike.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let near = suggestion(&missing.to_string_lossy(), names.iter().map(String::as_str));
    match is_folder {
        true => format!("; there is no folder {}{near}", folder.join(missing).display()),
        false => near,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_neighbours() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("rigs")).unwrap();
        fs::write(at("rigs/engine.toml"), "").unwrap();
        assert_eq!(hint(&at("rigs/engin.toml")), "; did you mean \"engine.toml\"?");
        assert_eq!(hint(&at("rigs/wheel.fmu")), "");
        let folder = at("rig").display().to_string();
        assert_eq!(hint(&at("rig/engine.toml")), format!("; there is no folder {folder}; did you mean \"rigs\"?"));
        assert_eq!(hint(&at("rigs/engine.toml")), "");
        assert_eq!(hint(Path::new("/")), "");
    }
}
