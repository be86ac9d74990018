//! Thread names: the kernel keeps 15 bytes.

use std::collections::HashSet;

/// What the kernel keeps.
const LENGTH: usize = 15;

/// `<fmu>.<clock>` for each pair, cut to 15 bytes at a character boundary. Where two would be equal, the later ones end
/// in `~2`, `~3`, …
pub fn threads<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut used = HashSet::new();
    let unique = |(fmu, clock): (&str, &str)| {
        let full: String = format!("{fmu}.{clock}").chars().filter(|c| !c.is_control()).collect();
        let mut name = cut(&full, LENGTH).to_owned();
        let mut number = 1;
        while !used.insert(name.clone()) {
            number += 1;
            let suffix = format!("~{number}");
            name = format!("{}{suffix}", cut(&full, LENGTH - suffix.len()));
        }
        name
    };
    pairs.into_iter().map(unique).collect()
}

fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_kept_and_long_ones_cut_and_kept_apart() {
        let names = threads([("ecu", "task"), ("ecu", "controller_10ms"), ("ecu", "controller_100ms")]);
        assert_eq!(names, ["ecu.task", "ecu.controller_", "ecu.controlle~2"]);
    }

    #[test]
    fn no_character_is_cut_in_half() {
        let names = threads([("motor", "Kühlwasser"), ("motor", "ääääääääää")]);
        assert_eq!(names, ["motor.Kühlwass", "motor.ääää"]);
        assert!(names.iter().all(|name| name.len() <= 15));
    }
}
