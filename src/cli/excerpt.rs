//! Errors with an excerpt of the line: on a terminal, for people. A pipe gets a line for each error, in the format of
//! compilers.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::collections::HashMap;
use std::path::PathBuf;
use vecud_base::plain::plain;
use vecud_host::Error;
use vecud_linux::files;
use vecud_plan::rig::Diagnostic;

/// Number of problems that are shown with their lines; the others are listed.
const SHOWN: usize = 20;
/// Length above which texts are not read, bytes.
const LONGEST: u64 = 64 << 20;

/// The error for a screen of so many columns; `None`: it has no line to be shown.
pub fn of(error: &Error, columns: usize, color: bool) -> Option<String> {
    let problems = error.problems();
    let mut texts: HashMap<PathBuf, Option<String>> = HashMap::new();
    let renderer = if color { Renderer::styled() } else { Renderer::plain() }.term_width(columns);
    let mut is_shown = false;
    let told: Vec<String> = problems
        .iter()
        .enumerate()
        .map(|(number, problem)| {
            let excerpt = (number < SHOWN).then(|| {
                let text = texts.entry(problem.file.clone()).or_insert_with(|| text_of(problem));
                excerpt(&renderer, problem, text.as_deref()?)
            });
            let excerpt = excerpt.flatten();
            is_shown |= excerpt.is_some();
            excerpt.unwrap_or_else(|| problem.to_string())
        })
        .collect();
    is_shown.then(|| told.join("\n"))
}

fn text_of(problem: &Diagnostic) -> Option<String> {
    let length = problem.file.metadata().ok()?.len();
    if length > LONGEST { None } else { files::read_to_string(&problem.file).ok() }
}

/// A problem with its line; `None`: it has no place, or the line is not fit to be shown.
fn excerpt(renderer: &Renderer, problem: &Diagnostic, text: &str) -> Option<String> {
    let place = problem.place;
    // Unlike those of `str::lines`, these have the one after the last line break, where a text can end too early.
    let line = text.split('\n').nth((place.line as usize).checked_sub(1)?)?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    // What is not seen could look like something else.
    if plain(&line.replace('\t', " ")).len() != line.len() {
        return None;
    }
    let start = match place.column {
        0 => 0,
        column => line.char_indices().map(|(at, _)| at).chain([line.len()]).nth(column as usize - 1)?,
    };
    let length = if place.column == 0 { line.len() } else { word(&line[start..]) };
    let file = plain(&problem.file.to_string_lossy());
    let mark = AnnotationKind::Primary.span(start..start + length);
    let snippet = Snippet::source(line).line_start(place.line as usize).path(file).annotation(mark);
    Some(renderer.render(&[Level::ERROR.primary_title(plain(&problem.message)).element(snippet)]))
}

/// The length of the word, the text in quotes, or the list that a line goes on with.
fn word(rest: &str) -> usize {
    let closing = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => quote,
        Some('[') => ']',
        Some('{') => '}',
        Some('<') => '>',
        _ => {
            let end = |c: char| c.is_whitespace() || "=,]}#>".contains(c);
            return rest.find(end).unwrap_or(rest.len()).max(rest.chars().next().map_or(0, char::len_utf8));
        }
    };
    rest[1..].find(closing).map_or(rest.len(), |at| 1 + at + closing.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vecud_plan::rig;

    /// Output for a rig of this text, in a file.
    fn shown(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rig.toml");
        std::fs::write(&file, text).unwrap();
        let error = Error::Rig(rig::parse(text, &file).unwrap_err());
        let shown = of(&error, 80, false)?;
        Some(shown.replace(&folder.path().display().to_string(), "."))
    }

    #[test]
    fn the_line_is_shown_with_a_mark_under_the_mistake() {
        assert_eq!(
            shown("[fmu.a]\npath = \"a\"\nlenient = \"yes\"\n").unwrap(),
            "error: lenient must be true or false, not the string \"yes\"\n \
             --> ./rig.toml:3:11\n  \
             |\n\
             3 | lenient = \"yes\"\n  \
             |           ^^^^^"
        );
        let both = shown("[fmu.a]\npat = \"a\"\ncpu = [1, 2]\n").unwrap();
        assert!(
            both.contains("2 | pat = \"a\"\n  | ^^^") && both.contains("3 | cpu = [1, 2]\n  |       ^^^^^^"),
            "{both}"
        );
    }

    #[test]
    fn words_end_where_they_end() {
        for (rest, length) in
            [("pat = 1", 3), ("\"a b\" # x", 5), ("[1, 2] #", 6), ("", 0), ("ä=", 2), ("= 1", 1), ("\"open", 5)]
        {
            assert_eq!(word(rest), length, "{rest}");
        }
    }

    /// The line of the file and the marks below it, of a rig with one mistake, on a screen of so many columns.
    fn marked(text: &str, columns: usize) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rig.toml");
        std::fs::write(&file, text).unwrap();
        let shown = of(&Error::Rig(rig::parse(text, &file).unwrap_err()), columns, false).unwrap();
        let mut lines = shown.lines().skip_while(|line| !line.trim_end().ends_with('|')).skip(1).map(str::to_owned);
        (lines.next().unwrap(), lines.next().unwrap_or_else(|| panic!("{shown}")))
    }

    /// What stands above the marks: a character of two columns is marked twice.
    fn above(line: &str, marks: &str) -> String {
        let mut column = 0;
        let mut found = String::new();
        for character in line.chars() {
            if marks.chars().nth(column) == Some('^') {
                found.push(character);
            }
            column += if "電気".contains(character) { 2 } else { 1 };
        }
        found
    }

    #[test]
    fn the_mark_is_under_the_mistake_whatever_stands_before_it() {
        const HEAD: &str = "[fmu.a]\npath = \"a\"\n";
        for before in ["", "\t", "\t\t  ", "start = { \"ä\" = 1.0 }, ", "start = { \"電気\" = 1.0 }, "] {
            // In one line, so that something stands before it.
            let text = match before.trim() {
                "" => format!("{HEAD}{before}lenient = \"yes\"\n"),
                _ => format!("fmu.a = {{ path = \"a\", {before}lenient = \"yes\" }}\n"),
            };
            for text in [text.clone(), text.replace('\n', "\r\n"), text.trim_end().to_owned()] {
                let (line, marks) = marked(&text, 80);
                assert_eq!(above(&line, &marks), "\"yes\"", "{line}\n{marks}");
            }
        }
    }

    #[test]
    fn of_a_long_line_the_part_with_the_mistake_is_shown() {
        for fill in [1, 30, 100, 5_000] {
            let filled = "x".repeat(fill);
            let text = format!("fmu.a = {{ path = \"{filled}\", lenient = \"yes\", library = \"{filled}\" }}\n");
            let (line, marks) = marked(&text, 60);
            assert_eq!(above(&line, &marks), "\"yes\"", "{line}\n{marks}");
            assert!(line.chars().count() <= 60, "{} characters: {line}", line.chars().count());
        }
    }

    #[test]
    fn a_text_that_ends_too_early_is_marked_where_it_ends() {
        for text in ["[fmu.a]\npath = \"a", "[fmu.a]\npath = [\n", "[fmu.a]\npath =", "[fmu.a"] {
            for text in [text.to_owned(), text.replace('\n', "\r\n")] {
                let (line, marks) = marked(&text, 80);
                assert_eq!(marks.matches('^').count(), 1, "{text:?}:\n{line}\n{marks}");
            }
        }
    }

    /// Nothing in a file can drive the terminal, or show another place.
    #[test]
    fn lines_with_characters_that_are_not_seen_are_not_shown() {
        assert_eq!(shown("[fmu.a]\npath = \"a\"\nx = 1 # \u{202e}\n"), None);
        assert!(shown("\tx = 1\n").unwrap().contains("x = 1"));
        assert!(shown("\u{feff}x = 1\n[fmu.a]\npath = \"a\"").unwrap().contains("1 | x = 1\n  | ^"));
    }
}
