//! (f) How long a model description with 100,000 variables takes to load.

use super::results::Results;
use super::{Bench, large};
use std::time::Instant;
use vecud::fmu::description;

const VARIABLES: u32 = 100_000;
const RUNS: usize = 7;

pub fn measure(_: &Bench, results: &mut Results) -> Result<(), String> {
    let xml = large::xml(VARIABLES);
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let before = Instant::now();
        let found = description::parse(&xml).map_err(|error| error.to_string())?;
        least = least.min(before.elapsed().as_secs_f64() * 1e3);
        if found.variables.len() != VARIABLES as usize {
            return Err(format!("{} variables were found", found.variables.len()));
        }
    }
    results.limited("description with 100,000 variables", least, "ms", 150.0);
    Ok(())
}
