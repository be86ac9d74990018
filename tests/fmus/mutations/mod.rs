//! What strangers hand to vecud, with everything wrong that chance finds: each kind of file that `vecud` reads is mutated, and
//! read by the program as its user has it read. Whatever a file has become, it is read or refused: `vecud` ends by itself, with
//! an exit code of docs/runs.md and without a panic; a refusal names the file; nothing is written where no result belongs,
//! and no process or temporary file is left; and nothing takes more than 5 s of processor time
//! or 1 GiB.
//!
//! (Traces, pages and `junit.xml` are not among them: vecud writes and never reads them.)
//!
//! A mutation follows from its seed alone, and one that fails is printed with the command that repeats it. `VECUD_SEED=17` tries
//! one seed, `VECUD_SEED=100..4000` many, `VECUD_MUTATIONS=20000` so many of each kind.

mod archives;
mod chance;
mod descriptions;
mod earlier;
mod histograms;
mod recordings;
mod reports;
mod rigs;
mod runs;
mod states;
mod stimuli;
mod text;
mod trial;

use super::archive::raw_zip;
use std::path::Path;
use std::time::Duration;

use chance::Chance;
use trial::Outcome;

/// What no reading may take.
const LONGEST: Duration = Duration::from_secs(5);
const MOST_MEMORY: u64 = 1 << 30;

/// Something that vecud reads.
struct Kind<'a> {
    /// The test that tries it.
    test: &'static str,
    /// How many mutations it tries unless the environment asks for others.
    usually: u64,
    /// The name of what is mutated: a message about it has that.
    culprit: &'static str,
    /// Puts a mutation into a folder, and says with which words vecud reads it there.
    lay: &'a dyn Fn(&mut Chance, &Path) -> Vec<String>,
    /// Which rule of this kind alone is broken by what is in that folder afterwards.
    look: &'a dyn Fn(&Path, &Outcome) -> Result<(), String>,
}

/// For kinds without a rule of their own.
fn nothing_more(_: &Path, _: &Outcome) -> Result<(), String> {
    Ok(())
}

/// Tries a kind with all seeds, and says what came of them.
fn campaign(kind: &Kind) {
    let test = kind.test;
    let (mut cases, mut accepted) = (0, 0);
    let mut slowest = (Duration::ZERO, 0);
    for seed in seeds(kind.usually) {
        let outcome = try_one(kind, seed, LONGEST, MOST_MEMORY).unwrap_or_else(|broken| {
            panic!("{broken} (VECUD_SEED={seed} cargo test --test fmus {test})");
        });
        cases += 1;
        accepted += u64::from(outcome.accepted());
        slowest = slowest.max((outcome.took, seed));
    }
    println!(
        "{test}: {cases} mutations, {accepted} accepted, {} refused; slowest {:.2} s (seed {})",
        cases - accepted,
        slowest.0.as_secs_f64(),
        slowest.1
    );
    assert!(cases < 100 || (accepted > 0 && accepted < cases), "mutations that change nothing, or leave nothing");
}

/// Tries one mutation. `Err`: which rule is broken.
fn try_one(kind: &Kind, seed: u64, at_most: Duration, memory: u64) -> Result<Outcome, String> {
    let folder = crate::program::tempdir().unwrap();
    let words = (kind.lay)(&mut Chance::new(seed), folder.path());
    let outcome = trial::run(folder.path(), &words, at_most, memory)?;
    let said = format!("{outcome:?} of vecud {}", words.join(" "));
    if !matches!(outcome.status.code(), Some(0..=3)) || outcome.stderr.contains("panicked at") {
        return Err(said);
    }
    if !outcome.accepted() && !names_its_culprit(kind, folder.path(), &outcome.stderr) {
        return Err(format!("a message without its culprit, {}: {said}", kind.culprit));
    }
    if let Some(left) = &outcome.left {
        return Err(format!("{left}: {said}"));
    }
    (kind.look)(folder.path(), &outcome).map_err(|broken| format!("{broken}: {said}"))?;
    Ok(outcome)
}

/// Whether a message names the file that was mutated, or is about one that this file names (a rig, its stimuli).
fn names_its_culprit(kind: &Kind, folder: &Path, message: &str) -> bool {
    let Some((place, _)) = message.split_once(':') else { return false };
    let is_named = || std::fs::read_to_string(folder.join(kind.culprit)).is_ok_and(|text| text.contains(place));
    message.contains(kind.culprit) || !place.is_empty() && is_named()
}

fn seeds(usually: u64) -> std::ops::Range<u64> {
    let number = |text: &str| text.parse::<u64>().expect("VECUD_SEED is a number, or two with .. in between");
    match (std::env::var("VECUD_SEED"), std::env::var("VECUD_MUTATIONS")) {
        (Ok(given), _) => match given.split_once("..") {
            Some((first, end)) => number(first)..number(end),
            None => number(&given)..number(&given) + 1,
        },
        (_, Ok(many)) => 0..many.parse().expect("VECUD_MUTATIONS is a number"),
        _ => 0..usually,
    }
}
