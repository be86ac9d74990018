//! Watched values, below the table of the clocks: as many columns of them side by side as fit.

use super::ellipsis::cut;
use vecud_base::plain::plain;

/// The value of a recorded variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveValue {
    /// `<fmu>.<variable>`.
    pub name: String,
    /// For people; `None`: nothing has been computed yet.
    pub value: Option<String>,
}

/// Names are cut at this, however wide the screen is.
const LONGEST_NAME: usize = 40;
/// The least width of a value, so that text beside it keeps its place while the value changes.
const NARROWEST_VALUE: usize = 12;
/// Between two columns.
const GAP: usize = 4;

/// Lines of a screen of `lines` for values, beside this number of clocks: half of them, or the lines that the clocks leave.
pub(super) fn room(lines: usize, clocks: usize) -> usize {
    lines.saturating_sub(clocks).max(lines / 2)
}

/// At most this number of lines, none longer than the screen is wide; an empty one comes first. The last one counts the values
/// that do not fit.
pub(super) fn lines(values: &[LiveValue], columns: usize, most: usize) -> Vec<String> {
    let Some(rows) = most.checked_sub(1).filter(|rows| *rows > 0 && !values.is_empty()) else { return Vec::new() };
    let names: Vec<String> = values.iter().map(|value| cut(&plain(&value.name), LONGEST_NAME)).collect();
    let texts: Vec<String> = values.iter().map(|value| value.value.as_deref().map_or("–".to_owned(), plain)).collect();
    let width = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let (name_width, value_width) = (width(&names), width(&texts).max(NARROWEST_VALUE));
    let across = ((columns + GAP) / (name_width + 1 + value_width + GAP)).max(1);
    let down = values.len().div_ceil(across);
    let (down, shown) = match down <= rows {
        true => (down, values.len()),
        // The last line says how many there are no lines for.
        false => (rows - 1, (rows - 1) * across),
    };
    let mut lines = vec![String::new()];
    for row in 0..down {
        let cells =
            (row..shown).step_by(down).map(|at| format!("{:name_width$} {:>value_width$}", names[at], texts[at]));
        lines.push(cut(&cells.collect::<Vec<_>>().join(&" ".repeat(GAP)), columns));
    }
    if shown < values.len() {
        let rest = super::format::plural((values.len() - shown) as u64, "more value");
        lines.push(cut(&format!("… {rest}"), columns));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: usize) -> Vec<LiveValue> {
        let value = |n: usize| LiveValue { name: format!("ecu.x{n}"), value: (n > 0).then(|| n.to_string()) };
        (0..count).map(value).collect()
    }

    #[test]
    fn values_stand_in_columns_one_below_the_other() {
        assert_eq!(lines(&[], 80, 10), [""; 0]);
        let shown = lines(&values(3), 50, 10);
        assert_eq!(shown, ["", "ecu.x0            –    ecu.x2            2", "ecu.x1            1"]);
        let narrow = lines(&values(3), 10, 10);
        assert_eq!(narrow[1..], ["ecu.x0   …", "ecu.x1   …", "ecu.x2   …"]);
    }

    #[test]
    fn what_does_not_fit_is_counted_and_nothing_is_shown_twice() {
        for (count, columns, most) in [(7, 50, 4), (100, 200, 3), (5, 20, 2), (1, 5, 1), (9, 80, 0), (4096, 120, 24)] {
            let shown = lines(&values(count), columns, most);
            assert!(shown.len() <= most, "{shown:?}");
            assert!(shown.iter().all(|line| line.chars().count() <= columns), "{shown:?}");
            let named =
                shown.iter().flat_map(|line| line.split_whitespace()).filter(|word| word.starts_with("ecu.")).count();
            let rest =
                shown.last().and_then(|line| line.strip_prefix("… ")?.split(' ').next()?.replace(',', "").parse().ok());
            if columns >= 20 && most > 1 {
                assert_eq!(named + rest.unwrap_or(0), count, "{shown:?}");
            }
        }
    }

    #[test]
    fn clocks_and_values_share_the_screen() {
        assert_eq!([room(20, 5), room(20, 15), room(20, 100), room(0, 3)], [15, 10, 10, 0]);
    }
}
