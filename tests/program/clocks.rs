//! What a tracer's description says of its clocks, and the activation times that follow from it: computed with integers,
//! rounded once, without a line of the program that is tested.

use super::clock::{INPUTS, PERIOD, PRIORITY};

/// A number as it is written: `numerator / denominator`, the denominator a power of ten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    pub text: String,
    numerator: i128,
    denominator: i128,
}

impl Decimal {
    /// The shortest decimal that reads as `value`; small ones have twelve digits after the point.
    pub fn nearest(value: f64) -> Decimal {
        let value = if value.abs() < 0.01 { format!("{value:.12}").parse().unwrap() } else { value };
        Decimal::parse(&format!("{value}"))
    }

    fn parse(text: &str) -> Decimal {
        let (whole, digits) = text.split_once('.').unwrap_or((text, ""));
        let numerator = format!("{whole}{digits}").parse().expect("a decimal number");
        Decimal { text: text.to_owned(), numerator, denominator: 10_i128.pow(digits.len() as u32) }
    }

    pub fn value(&self) -> f64 {
        self.text.parse().unwrap()
    }
}

/// Ticks are at start + (shift + k · counter) / resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub shift: i128,
    pub counter: i128,
    pub resolution: i128,
}

/// The input clocks of an instance, by value reference, and the run's time span.
#[derive(Clone, Debug)]
pub struct Clocks {
    /// Smaller is more urgent.
    pub priority: [i64; 8],
    /// Of periodic ones.
    pub grid: [Option<Grid>; 8],
    pub start: Decimal,
    /// The instance's own `out_high` triggers its `high`.
    pub high_follows: bool,
}

impl Clocks {
    /// Those that the tracer's own description has, in a run that starts at 0.
    pub fn usual() -> Clocks {
        let grid = |period: u64| Grid { shift: 0, counter: i128::from(period), resolution: 1000 };
        Clocks {
            priority: PRIORITY.map(i64::from),
            grid: PERIOD.map(|period| (period > 0).then(|| grid(period))),
            start: Decimal::nearest(0.0),
            high_follows: true,
        }
    }

    pub fn is_above(&self, clock: u32, other: u32) -> bool {
        self.priority[clock as usize] < self.priority[other as usize]
    }

    pub fn is_equal(&self, clock: u32, other: u32) -> bool {
        self.priority[clock as usize] == self.priority[other as usize]
    }

    /// All activation times of a periodic clock, exactly as they have to be; `None`: it is not periodic.
    pub fn times(&self, clock: u32) -> Option<impl Iterator<Item = f64>> {
        let grid = self.grid[clock as usize]?;
        assert!(INPUTS.contains(&clock));
        let (start, denominator) = (self.start.numerator, self.start.denominator);
        let time = move |k| {
            let ticks = grid.shift + k * grid.counter;
            nearest(start * grid.resolution + ticks * denominator, denominator * grid.resolution)
        };
        Some((0..).map(time))
    }

    /// Those before `stop`.
    pub fn times_before(&self, clock: u32, stop: &Decimal) -> Option<Vec<f64>> {
        let grid = self.grid[clock as usize]?;
        let common = self.start.denominator.max(stop.denominator);
        let scaled = |decimal: &Decimal| decimal.numerator * (common / decimal.denominator);
        let length = scaled(stop) - scaled(&self.start);
        let is_before = |k: &i128| (grid.shift + k * grid.counter) * common < length * grid.resolution;
        let number = (0..).take_while(is_before).count();
        self.times(clock).map(|times| times.take(number).collect())
    }
}

/// The double that is nearest to a fraction: by long division, and by the standard library's reading of decimals.
fn nearest(numerator: i128, denominator: i128) -> f64 {
    let sign = if numerator < 0 { "-" } else { "" };
    let (whole, mut rest) = (numerator.abs() / denominator, numerator.abs() % denominator);
    let mut text = format!("{sign}{whole}.");
    for _ in 0..60 {
        rest *= 10;
        text.push(char::from(b'0' + (rest / denominator) as u8));
        rest %= denominator;
    }
    // Whatever follows decides no more than a tie.
    text.push(if rest > 0 { '1' } else { '0' });
    text.parse().unwrap()
}
