//! Names that somebody may have meant.

/// The known names closest to what was written: at most three, nearest first, none that is too far off.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> = written.to_lowercase().chars().collect();
    let limit = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, usize, &str)> = Vec::new();
    for (order, name) in known.into_iter().enumerate() {
        let candidate: Vec<char> = name.to_lowercase().chars().collect();
        let distance =
            if candidate.len().abs_diff(wanted.len()) <= limit { distance(&wanted, &candidate) } else { usize::MAX };
        // A name that was cut short, or one without its prefix, is close too, whatever the number of letters.
        let part = wanted.len() >= 3 && (contains(&candidate, &wanted) || contains(&wanted, &candidate));
        if distance <= limit {
            found.push((distance, order, name));
        } else if part {
            found.push((limit + 1 + candidate.len().abs_diff(wanted.len()), order, name));
        }
    }
    found.sort();
    // Beside a name that is off by one letter, one that is off by three was not meant.
    let best = found.first().map_or(0, |first| first.0);
    found.retain(|found| found.0 <= best + 1);
    found.into_iter().take(3).map(|(_, _, name)| name).collect()
}

/// `; did you mean "a" or "b"?`, or nothing when no known name is near.
pub fn suggestion<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near: Vec<String> = nearest(written, known).into_iter().map(|name| format!("\"{name}\"")).collect();
    match near.as_slice() {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [front @ .., last] => format!("; did you mean {} or {last}?", front.join(", ")),
    }
}

fn contains(long: &[char], short: &[char]) -> bool {
    short.len() >= 3 && long.windows(short.len()).any(|window| window == short)
}

/// Edits from one word to the other; swapping two neighbours counts as one.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substitution.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_recognised() {
        let known = ["stop_time", "start_time", "mode", "overrun"];
        assert_eq!(nearest("stop_tiem", known), ["stop_time"]);
        assert_eq!(nearest("overun", known), ["overrun"]);
        assert_eq!(nearest("Mode", known), ["mode"]);
        assert_eq!(nearest("start_time", known)[0], "start_time");
        assert_eq!(nearest("colour", known), [""; 0]);
    }

    #[test]
    fn a_name_without_its_prefix_is_near() {
        assert_eq!(nearest("speed", ["engine.speed", "engine.torque"]), ["engine.speed"]);
    }

    #[test]
    fn a_suggestion_reads_like_a_sentence() {
        assert_eq!(suggestion("spede", ["speed"]), "; did you mean \"speed\"?");
        assert_eq!(suggestion("x1", ["x2", "x3", "y"]), "; did you mean \"x2\" or \"x3\"?");
        assert_eq!(suggestion("zzz", ["speed"]), "");
    }
}
