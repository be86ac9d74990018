//! Model descriptions that nobody here wrote: set `VECUD_CORPUS` to a folder of XML files.

#[allow(dead_code, reason = "only the word for what is skipped is needed here")]
mod foreign;

use foreign::skipped;
use std::path::PathBuf;
use vecud::fmu::description;

#[test]
fn every_description_of_the_corpus_is_parsed_or_refused_with_a_place() {
    let Some(folder) = std::env::var_os("VECUD_CORPUS").map(PathBuf::from) else {
        skipped("every_description_of_the_corpus: set VECUD_CORPUS to a folder of model descriptions");
        return;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut parsed, mut refused, mut other_versions) = (0, 0, 0);
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "xml")) {
        let name = file.file_name().unwrap().to_string_lossy();
        let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        match description::parse(&text) {
            Ok(found) => {
                parsed += 1;
                assert!(found.fmi_version.starts_with("3.0"), "{name}");
                for variable in &found.variables {
                    let place = Some(variable.line);
                    assert_eq!(found.variable(&variable.name).map(|v| v.line), place, "{name}");
                    assert_eq!(found.by_reference(variable.value_reference).map(|v| v.line), place, "{name}");
                }
                for warning in &found.warnings {
                    eprintln!("warning {name}: {warning}");
                }
            }
            Err(error) if error.message.contains("not supported by this build") => other_versions += 1,
            Err(error) => {
                refused += 1;
                eprintln!("refused {name}: {error}");
            }
        }
    }
    eprintln!("{parsed} parsed, {refused} refused, {other_versions} of FMI 1 or 2");
    assert!(parsed > 0);
}
