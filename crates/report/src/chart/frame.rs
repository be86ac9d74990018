//! The room that a chart takes, and where its plot lies in it.

/// A drawing area with room for axis labels around the plot.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Width of the whole drawing, in units of its `viewBox`.
    pub width: f64,
    /// Height of the whole drawing, in units of its `viewBox`.
    pub height: f64,
    /// Room beside the plot.
    pub left: f64,
    /// Room beside the plot.
    pub right: f64,
    /// Room above the plot.
    pub top: f64,
    /// Room below the plot.
    pub bottom: f64,
    /// Room for that many labels on the x axis.
    pub labels: usize,
}

impl Frame {
    /// Across the page.
    pub const LARGE: Frame =
        Frame { width: 960.0, height: 320.0, left: 64.0, right: 40.0, top: 26.0, bottom: 26.0, labels: 10 };
    /// The frame of two charts in a row that is as wide as the page; readable on a telephone, too.
    pub const MEDIUM: Frame =
        Frame { width: 400.0, height: 200.0, left: 54.0, right: 34.0, top: 24.0, bottom: 24.0, labels: 4 };
    /// The frame of a chart that replaces a larger one on a telephone.
    pub const NARROW: Frame =
        Frame { width: 340.0, height: 240.0, left: 56.0, right: 30.0, top: 26.0, bottom: 26.0, labels: 3 };
    /// Some in a row of a card, and as wide as a telephone is.
    pub const SMALL: Frame =
        Frame { width: 360.0, height: 180.0, left: 58.0, right: 24.0, top: 26.0, bottom: 26.0, labels: 3 };
    /// The frame of one of many charts side by side, as wide as a telephone.
    pub const TINY: Frame =
        Frame { width: 340.0, height: 140.0, left: 54.0, right: 14.0, top: 10.0, bottom: 26.0, labels: 3 };

    /// The frame with room for a second line of labels on the x axis.
    #[must_use]
    pub fn with_two_lines(self) -> Frame {
        Frame { height: self.height + 16.0, bottom: self.bottom + 16.0, ..self }
    }

    /// The frame as high as this number of rows needs.
    #[must_use]
    pub fn with_rows(self, rows: usize, height: f64) -> Frame {
        Frame { height: self.top + height * rows as f64 + self.bottom, ..self }
    }

    /// Whether there is no room for names beside the rows: they stand above them.
    pub fn is_narrow(&self) -> bool {
        self.width < 400.0
    }

    /// The coordinate of a share of the plot's width.
    pub fn x(&self, share: f64) -> f64 {
        self.left + clamped(share) * self.plot_width()
    }

    /// The coordinate of a share of the plot's height, upwards.
    pub fn y(&self, share: f64) -> f64 {
        self.height - self.bottom - clamped(share) * self.plot_height()
    }

    /// The width between the ends of the x axis.
    pub fn plot_width(&self) -> f64 {
        self.width - self.left - self.right
    }

    /// The height between the ends of the y axis.
    pub fn plot_height(&self) -> f64 {
        self.height - self.top - self.bottom
    }
}

fn clamped(share: f64) -> f64 {
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_stays_in_the_frame() {
        assert_eq!(Frame::LARGE.x(f64::NAN), Frame::LARGE.left);
        assert_eq!(Frame::LARGE.y(f64::INFINITY), Frame::LARGE.top);
    }
}
