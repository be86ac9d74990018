//! Suggestions for misspelt names.

/// A longer text is no misspelt name.
const LONGEST: usize = 256;

/// The known names closest to the written one: at most three, nearest first, none that is too far off.
///
/// Names that cannot be near cost little: a rig may have hundreds of wrong names, and its FMUs ten thousand each.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if written.len() > LONGEST {
        return Vec::new();
    }
    let wanted: Vec<char> = lower(written).collect();
    let letters = Letters::of(&wanted);
    // Beside a name that is off by one letter, one that is off by three was not meant.
    let mut limit = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, usize, &str)> = Vec::new();
    // A name that was cut short, or one without its prefix, is close too, whatever the number of letters: if no other is.
    let mut parts: Vec<(usize, usize, &str)> = Vec::new();
    let mut candidate = Vec::new();
    for (order, name) in known.into_iter().enumerate() {
        candidate.clear();
        candidate.extend(lower(name));
        let longer = candidate.len().abs_diff(wanted.len());
        if longer <= limit && letters.differ_from(&candidate) <= limit {
            let distance = distance(&wanted, &candidate);
            if distance <= limit {
                found.push((distance, order, name));
                limit = limit.min(distance + 1);
                continue;
            }
        }
        if found.is_empty() && (contains(&candidate, &wanted) || contains(&wanted, &candidate)) {
            parts.push((longer, order, name));
        }
    }
    let mut best = if found.is_empty() { parts } else { found };
    best.sort();
    let least = best.first().map_or(0, |first| first.0);
    best.into_iter().take_while(|one| one.0 <= least + 1).take(3).map(|(_, _, name)| name).collect()
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

fn lower(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

/// The number of each letter in a word. Letters may share a counter, which makes words look more alike, never less.
struct Letters([i32; 64]);

impl Letters {
    fn of(word: &[char]) -> Letters {
        let mut letters = [0; 64];
        word.iter().for_each(|c| letters[*c as usize % 64] += 1);
        Letters(letters)
    }

    /// Edits that are needed at least: each makes up for one letter too many and one too few.
    fn differ_from(&self, word: &[char]) -> usize {
        let mut left = self.0;
        word.iter().for_each(|c| left[*c as usize % 64] -= 1);
        let sum = |sign: i32| left.iter().map(|n| (n * sign).max(0) as usize).sum::<usize>();
        sum(1).max(sum(-1))
    }
}

/// Edits from one word to the other; swapping two neighbours counts as one.
fn distance(a: &[char], b: &[char]) -> usize {
    let [a, b] = [a, b].map(|word| word.iter().collect::<String>());
    strsim::osa_distance(&a, &b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    /// The rule, slow: all names, all distances.
    fn by_definition<'a>(written: &str, known: &[&'a str]) -> Vec<&'a str> {
        let wanted: Vec<char> = lower(written).collect();
        let limit = (wanted.len() / 3).max(1);
        let rank = |name: &str| {
            let candidate: Vec<char> = lower(name).collect();
            let part = contains(&candidate, &wanted) || contains(&wanted, &candidate);
            match distance(&wanted, &candidate) {
                near if near <= limit => Some(near),
                _ => part.then(|| limit + 1 + candidate.len().abs_diff(wanted.len())),
            }
        };
        let mut found: Vec<(usize, &str)> = known.iter().filter_map(|name| Some((rank(name)?, *name))).collect();
        found.sort_by_key(|one| one.0);
        let least = found.first().map_or(0, |first| first.0);
        found.into_iter().filter(|one| one.0 <= least + 1).take(3).map(|one| one.1).collect()
    }

    proptest! {
        #[test]
        fn nothing_near_is_left_out_for_speed(
            written in "[abAé._]{0,9}",
            known in prop::collection::vec("[abcBé._]{0,9}", 0..12),
        ) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            prop_assert_eq!(nearest(&written, known.iter().copied()), by_definition(&written, &known));
        }
    }

    #[test]
    fn letters_alone_tell_that_words_are_far_apart() {
        let edits = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|word| lower(word).collect::<Vec<char>>());
            (Letters::of(&a).differ_from(&b), distance(&a, &b))
        };
        assert_eq!(edits("speed", "torque"), (5, 6));
        assert_eq!(edits("speed", "spede"), (0, 1));
        assert_eq!(edits("speed", "speeds"), (1, 1));
        assert_eq!(edits("", "abc"), (3, 3));
    }

    #[test]
    fn a_suggestion_reads_like_a_sentence() {
        assert_eq!(suggestion("spede", ["speed"]), "; did you mean \"speed\"?");
        assert_eq!(suggestion("x1", ["x2", "x3", "y"]), "; did you mean \"x2\" or \"x3\"?");
        assert_eq!(suggestion("zzz", ["speed"]), "");
    }
}
