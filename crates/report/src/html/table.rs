//! A table: its columns with their titles and classes, and rows of cells. What stands in a cell is text, which is escaped here, unless
//! it is said to be HTML.

use crate::format::count;
use crate::markup::escape;

/// The content of a cell.
pub struct Cell {
    html: String,
    /// Classes beside those of its column.
    class: &'static str,
    /// The text that a reader sees who points at the cell.
    title: String,
}

impl Cell {
    /// The cell with classes of its own.
    pub fn class(self, class: &'static str) -> Cell {
        Cell { class, ..self }
    }

    /// The cell with words for a reader who points at it.
    pub fn titled(self, title: String) -> Cell {
        Cell { title, ..self }
    }
}

/// A cell of HTML.
pub fn html(html: String) -> Cell {
    Cell { html, class: "", title: String::new() }
}

/// A number that should be zero, and is of this class if it is not.
pub fn number(value: u64, class: &'static str) -> Cell {
    Cell::from(value).class(if value == 0 { "zero" } else { class })
}

/// There is no value.
pub fn none() -> Cell {
    Cell::from("–").class("zero")
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        html(escape(text))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::from(text.as_str())
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Cell {
        html(count(value))
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Cell {
        html(value.to_string())
    }
}

/// The cells of a row, of whatever is one.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => { [$($crate::html::table::Cell::from($cell)),*] };
}
pub(super) use cells;

/// A table that is being written.
///
/// A table. Its columns are titles with `|` between them. A title that begins with `#` has numbers, with `>` the first numbers of a
/// group, and with `~` long texts.
pub struct Table {
    /// Classes of the columns, which their cells have as well.
    classes: Vec<&'static str>,
    html: String,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &str) -> Table {
        Table::grouped("", &[], columns)
    }

    /// A table of a class, with titles over groups of columns.
    pub fn grouped(class: &str, groups: &[(&str, usize)], columns: &str) -> Table {
        let mut html = format!("<div class=\"scroll\"><table{}>\n<thead>\n", attribute("class", class));
        if !groups.is_empty() {
            let group = |&(title, columns): &(&str, usize)| match title {
                "" => "<th></th>".repeat(columns),
                title => format!("<th colspan=\"{columns}\" class=\"group\">{title}</th>"),
            };
            html += &format!("<tr>{}</tr>\n", groups.iter().map(group).collect::<String>());
        }
        let mut table = Table { classes: Vec::new(), html: html + "<tr>" };
        for column in columns.split('|') {
            let class =
                [("#", "n"), (">", "n first"), ("~", "long")].into_iter().find(|(sign, _)| column.starts_with(sign));
            let (sign, class) = class.unwrap_or_default();
            table.html += &format!("<th{}>{}</th>", attribute("class", class), escape(&column[sign.len()..]));
            table.classes.push(class);
        }
        table.html += "</tr>\n</thead>\n<tbody>\n";
        table
    }

    /// The table with these rows; the first cell of each is its head.
    pub fn rows<C: IntoIterator<Item = Cell>>(mut self, rows: impl IntoIterator<Item = C>) -> String {
        for row in rows {
            self.html += "<tr>";
            for (place, (cell, class)) in row.into_iter().zip(&self.classes).enumerate() {
                let class = attribute("class", format!("{class} {}", cell.class).trim());
                let title = attribute("title", &escape(&cell.title));
                self.html += &match place {
                    0 => format!("<th scope=\"row\"{class}{title}>{}</th>", cell.html),
                    _ => format!("<td{class}{title}>{}</td>", cell.html),
                };
            }
            self.html += "</tr>\n";
        }
        self.html + "</tbody>\n</table></div>\n"
    }
}

fn attribute(name: &str, value: &str) -> String {
    if value.is_empty() { String::new() } else { format!(" {name}=\"{value}\"") }
}
