//! Paths of a drawing: steps, slopes, gaps and needles.

use std::fmt::{self, Display, Write};

/// A path of the drawing, mostly of a value that holds until the next one. A step that nobody sees is none.
#[derive(Clone, Debug, Default)]
pub struct Path {
    path: String,
    /// The place of the pen, while it is down.
    pen: Option<(f64, f64)>,
}

impl Path {
    /// Holds its value up to here, and then has this one; after a gap it begins here.
    pub fn step(&mut self, x: f64, y: f64) {
        match self.pen {
            None => self.to(x, y),
            Some((_, before)) if (before - y).abs() <= 0.05 => {}
            Some((before, _)) => {
                if x != before {
                    self.level(x);
                }
                let _ = write!(self.path, "V{y:.1}");
                self.pen = Some((x, y));
            }
        }
    }

    /// Holds its value up to here.
    pub fn level(&mut self, x: f64) {
        if let Some((_, y)) = self.pen {
            // Two in one direction are one.
            let last = self.path.rfind(|c: char| c.is_ascii_alphabetic()).unwrap_or_default();
            if self.path[last..].starts_with('H') {
                self.path.truncate(last);
            }
            let _ = write!(self.path, "H{x:.1}");
            self.pen = Some((x, y));
        }
    }

    /// Goes straight to here; after a gap it begins here.
    pub fn to(&mut self, x: f64, y: f64) {
        let _ = write!(self.path, "{}{x:.1} {y:.1}", if self.pen.is_some() { 'L' } else { 'M' });
        self.pen = Some((x, y));
    }

    /// A gap begins.
    pub fn lift(&mut self) {
        self.pen = None;
    }

    /// An upright stroke by itself.
    pub fn stroke(&mut self, x: f64, from: f64, to: f64) {
        let _ = write!(self.path, "M{x:.1} {from:.1}V{to:.1}");
        self.lift();
    }

    /// Whether there is a gap, or nothing yet.
    pub fn is_up(&self) -> bool {
        self.pen.is_none()
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_what_is_seen_and_gaps_where_there_is_nothing() {
        let mut path = Path::default();
        path.step(0.0, 9.0);
        path.step(1.0, 9.01);
        path.step(2.0, 5.0);
        path.level(3.0);
        path.level(4.0);
        path.lift();
        path.step(6.0, 5.0);
        path.to(7.0, 6.0);
        path.stroke(8.0, 0.0, 1.0);
        assert_eq!(path.to_string(), "M0.0 9.0H2.0V5.0H4.0M6.0 5.0L7.0 6.0M8.0 0.0V1.0");
    }
}
