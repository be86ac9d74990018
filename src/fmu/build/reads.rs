//! Which files a compiler reads for one source file, and whether they are any business of an FMU's.
//!
//! A source may `#include` (or `#embed`) any file of whoever builds it, and what a compiler says about it quotes it. So
//! a source is preprocessed first, and compiled, and the compiler's words shown, only when all that was read belongs to the FMU or
//! lies where the compiler searches for headers anyway.

use std::path::{Component, Path, PathBuf};

/// Begins the list of headers that gcc puts at the end of its words with `-H`.
const GUARDS: &str = "Multiple include guards may be useful for:";

/// What a preprocessor has said with `-H`: the files that it opened, and the rest of its words.
pub(super) fn split_words(words: &str) -> (Vec<PathBuf>, String) {
    let (mut opened, mut rest) = (Vec::new(), String::new());
    for line in words.lines().take_while(|line| *line != GUARDS) {
        match opened_file(line) {
            Some(path) => opened.push(path),
            None => {
                rest += line;
                rest.push('\n');
            }
        }
    }
    (opened, rest)
}

/// `... PATH`: as many dots as includes are nested.
fn opened_file(line: &str) -> Option<PathBuf> {
    let rest = line.trim_start_matches('.');
    (rest.len() < line.len()).then_some(rest)?.strip_prefix(' ').map(PathBuf::from)
}

/// The prerequisites of the one rule that a compiler has written with `-MD`.
pub(super) fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut file = String::new();
    let mut characters = rule.split_once(": ").map_or("", |(_, list)| list).chars().peekable();
    while let Some(c) = characters.next() {
        match (c, characters.peek().copied()) {
            ('\\', Some('\n')) => {}
            ('\\', Some(next @ (' ' | '#' | '\\'))) => {
                characters.next();
                file.push(next);
            }
            ('$', Some('$')) => {
                characters.next();
                file.push('$');
            }
            (c, _) if c.is_ascii_whitespace() => {
                if !file.is_empty() {
                    files.push(PathBuf::from(std::mem::take(&mut file)));
                }
            }
            (c, _) => file.push(c),
        }
    }
    if !file.is_empty() {
        files.push(file.into());
    }
    files
}

/// The folders in which a compiler searches for headers, by its words with `-v`.
pub(super) fn search_folders(words: &str) -> Vec<PathBuf> {
    let lines = words.lines().skip_while(|line| !line.ends_with("search starts here:"));
    let lines = lines.take_while(|line| *line != "End of search list.");
    lines.filter_map(|line| line.strip_prefix(' ')).map(PathBuf::from).collect()
}

/// The first of `files` that is in none of `folders`.
pub(super) fn outside<'f>(files: &'f [PathBuf], folders: &[PathBuf]) -> Option<&'f Path> {
    let climbs = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let real_folders: Vec<PathBuf> = folders.iter().map(|folder| real(folder)).collect();
    let is_inside = |file: &Path| {
        // A link below such a folder was put there by whoever it belongs to.
        let as_named = !climbs(file) && folders.iter().any(|folder| file.starts_with(folder));
        as_named || real_folders.iter().any(|folder| real(file).starts_with(folder))
    };
    files.iter().map(PathBuf::as_path).find(|file| !is_inside(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_opened_files() {
        let words = ". /a/b.h\n.. /a b/c.h\na.c:1:2: error: no\n ... not one\n. d.h\nMultiple include guards may be useful for:\n/a/b.h\n";
        let (opened, rest) = split_words(words);
        assert_eq!(opened, ["/a/b.h", "/a b/c.h", "d.h"].map(PathBuf::from));
        assert_eq!(rest, "a.c:1:2: error: no\n ... not one\n");
    }

    #[test]
    fn rules_for_make_are_read() {
        let rule = "x: /a/m.c /a/with\\ blank.h \\\n /a/$$x\\#y.h\n";
        assert_eq!(prerequisites(rule), ["/a/m.c", "/a/with blank.h", "/a/$x#y.h"].map(PathBuf::from));
        assert!(prerequisites("").is_empty());
    }

    #[test]
    fn search_folders_are_found_in_the_compilers_words() {
        let words = "x\n#include \"...\" search starts here:\n#include <...> search starts here:\n /usr/a\n /usr/b c\nEnd of search list.\n /x\n";
        assert_eq!(search_folders(words), ["/usr/a", "/usr/b c"].map(PathBuf::from));
    }

    #[test]
    fn files_that_are_no_business_of_the_fmu_are_found() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let folder = base.join("fmu");
        std::fs::create_dir_all(folder.join("sources")).unwrap();
        std::fs::write(base.join("secret"), "x").unwrap();
        let is_outside = |file: PathBuf| outside(&[file], std::slice::from_ref(&folder)).is_some();
        assert!(!is_outside(folder.join("sources/a.h")));
        assert!(!is_outside(folder.join("sources/../sources")));
        assert!(is_outside(folder.join("sources/../../secret")));
        assert!(is_outside(base.join("secret")));
        assert!(is_outside("/etc/shadow".into()));
        std::os::unix::fs::symlink(base.join("secret"), folder.join("link")).unwrap();
        assert!(!is_outside(folder.join("link")), "links in a folder of the user's are his own affair");
    }
}
