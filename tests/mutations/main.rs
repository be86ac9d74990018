//! What strangers hand to vecud, with everything wrong that chance finds: archives, descriptions and rigs are mutated, and
//! read as `vecud check` reads them. Whatever they have become, they are read or refused: nothing panics, no byte is written
//! outside of the cache, nothing half done stays in it, and nothing takes more than 5 s or 1 GiB.
//!
//! A mutation follows from its seed alone, and one that fails is printed with the command that repeats it. `VECUD_SEED=17` tries
//! one seed, `VECUD_SEED=100..4000` many, `VECUD_MUTATIONS=20000` so many of each kind.

mod archives;
mod chance;
mod descriptions;
#[path = "../archive/raw_zip.rs"]
mod raw_zip;
mod rigs;
mod text;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use chance::Chance;

const LONGEST: Duration = Duration::from_secs(5);
const MOST_MEMORY: u64 = 1 << 30;

/// Tries all seeds; `try_one` mutates, reads, and says whether what came out was accepted, or which rule is broken.
fn campaign(test: &str, usually: u64, try_one: impl Fn(&mut Chance) -> Result<bool, String>) {
    // The same for all tests of this program; where a lower one holds already, that.
    let (soft, hard) = getrlimit(Resource::RLIMIT_AS).unwrap();
    setrlimit(Resource::RLIMIT_AS, soft.min(MOST_MEMORY), hard).unwrap();
    let (mut accepted, mut slowest, mut number) = (0, (Duration::ZERO, 0), 0);
    for seed in seeds(usually) {
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| try_one(&mut Chance::new(seed))));
        let took = start.elapsed();
        let again = format!("VECUD_SEED={seed} cargo test --test mutations {test}");
        match result {
            Ok(Ok(good)) => accepted += u64::from(good),
            Ok(Err(broken)) => panic!("{broken} ({again})"),
            Err(_) => panic!("it panicked ({again})"),
        }
        assert!(took < LONGEST, "{took:?} ({again})");
        slowest = slowest.max((took, seed));
        number += 1;
    }
    println!("{test}: {number} mutations, {accepted} accepted, the slowest {:?} (seed {})", slowest.0, slowest.1);
    assert!(number < 100 || (accepted > 0 && accepted < number), "mutations that change nothing, or leave nothing");
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
