//! Tables, figures and lists the sections are made of.

use std::fmt::Write as _;

use crate::escape::{escape, name, strong, visible};

/// A table that can be sorted by any column. The first column names the row.
pub struct Table {
    pub caption: String,
    /// Headings over several columns: text and number of columns; may be empty.
    pub spans: Vec<(String, usize)>,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

/// A column heading (plain text).
pub struct Column {
    pub title: String,
    pub numeric: bool,
}

/// One row; `rank` lets the reader pick rows of one rank.
#[derive(Default)]
pub struct Row {
    pub cells: Vec<Cell>,
    pub rank: Option<usize>,
}

/// A cell: HTML, and the number it sorts by.
pub struct Cell {
    pub html: String,
    pub sort: Option<f64>,
}

/// A column of text.
pub fn words(title: impl Into<String>) -> Column {
    Column { title: title.into(), numeric: false }
}

/// A column of numbers.
pub fn figures(title: impl Into<String>) -> Column {
    Column { title: title.into(), numeric: true }
}

impl Cell {
    /// A name, escaped.
    pub fn name(text: &str) -> Self {
        Cell { html: name(text), sort: None }
    }

    /// A number as shown, and itself for sorting.
    pub fn number(shown: String, value: f64) -> Self {
        Cell { html: shown, sort: Some(value) }
    }

    /// HTML that sorts by its text.
    pub fn html(html: String) -> Self {
        Cell { html, sort: None }
    }
}

impl Table {
    /// The table in a box that scrolls by itself.
    pub fn render(&self) -> String {
        let (caption, classes) = (escape(&self.caption), self.classes());
        // Roles are spelled out because a table that is laid out as a list would lose them.
        let mut out = format!(
            "<p class=\"caption\" aria-hidden=\"true\">{caption}</p>\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\
             <table class=\"{classes}\" role=\"table\" aria-label=\"{caption}\"><thead role=\"rowgroup\">"
        );
        if !self.spans.is_empty() {
            out.push_str("<tr role=\"row\">");
            for (text, width) in &self.spans {
                let _ = match text.as_str() {
                    "" => write!(out, "<td role=\"cell\" colspan=\"{width}\"></td>"),
                    text => write!(
                        out,
                        "<th role=\"columnheader\" scope=\"colgroup\" colspan=\"{width}\">{}</th>",
                        name(text)
                    ),
                };
            }
            out.push_str("</tr>");
        }
        out.push_str("<tr role=\"row\">");
        for (i, column) in self.columns.iter().enumerate() {
            let class = if column.numeric { " class=\"n\"" } else { "" };
            let of = match self.span(i) {
                Some(of) => format!("<span class=\"of\">{} </span>", name(of)),
                None => String::new(),
            };
            let _ = write!(
                out,
                "<th role=\"columnheader\" scope=\"col\"{class} aria-sort=\"none\"><button type=\"button\">{of}{}</button></th>",
                escape(&column.title)
            );
        }
        out.push_str("</tr></thead><tbody role=\"rowgroup\">");
        for row in &self.rows {
            let rank = row.rank.map_or_else(String::new, |r| format!(" data-rank=\"{r}\""));
            let _ = write!(out, "<tr role=\"row\"{rank}>");
            for (i, cell) in row.cells.iter().enumerate() {
                self.cell(&mut out, i, cell);
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>");
        out
    }

    fn cell(&self, out: &mut String, column: usize, cell: &Cell) {
        let sort = match cell.sort {
            Some(value) if value.is_finite() => format!(" data-v=\"{value}\""),
            Some(_) => " data-v=\"\"".into(),
            None => String::new(),
        };
        let numeric = self.columns.get(column).is_some_and(|c| c.numeric);
        let class = if numeric { " class=\"n\"" } else { "" };
        let html = &cell.html;
        let _ = if column == 0 {
            write!(out, "<th role=\"rowheader\" scope=\"row\"{sort}>{html}</th>")
        } else {
            let label = escape(&self.label(column));
            write!(out, "<td role=\"cell\"{class}{sort} data-label=\"{label}\">{html}</td>")
        };
    }

    /// How the table is laid out where the screen is too narrow for it.
    fn classes(&self) -> String {
        let mut classes = String::from("sortable");
        // Four columns and more become a list on a phone, eight and more are set closer, and no
        // paper is wide enough for more than sixteen.
        for (class, applies) in [
            ("stack", self.columns.len() > 3),
            ("dense", self.columns.len() > 7),
            ("broad", self.columns.len() > 16),
            ("few", self.rows.len() < 4),
        ] {
            if applies {
                let _ = write!(classes, " {class}");
            }
        }
        classes
    }

    /// The heading over a column, where it has one of its own.
    fn span(&self, column: usize) -> Option<&str> {
        let mut end = 0;
        let over = self.spans.iter().find(|(_, width)| {
            end += width;
            column < end
        });
        over.map(|(text, _)| text.as_str()).filter(|text| !text.is_empty())
    }

    /// What a cell is called where it does not stand under its heading.
    fn label(&self, column: usize) -> String {
        let title = self.columns.get(column).map_or("", |c| c.title.as_str());
        self.span(column).map_or_else(|| title.to_owned(), |of| format!("{}: {title}", visible(of)))
    }

    /// The table behind a line to open.
    pub fn folded(&self, summary: &str) -> String {
        format!("<details><summary>{}</summary>{}</details>", escape(summary), self.render())
    }
}

/// A picture drawn twice, for wide and for narrow screens, with its caption (HTML).
pub fn figure(wide: &str, narrow: &str, caption: &str) -> String {
    format!(
        "<figure>{}<figcaption>{caption}</figcaption></figure>",
        chart(&format!("<div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>"))
    )
}

/// A box around a drawing in which arrow keys step through the values.
pub fn chart(drawing: &str) -> String {
    format!(
        "<div class=\"chart\" tabindex=\"0\" role=\"group\" \
         aria-label=\"Chart. The arrow keys read its values one by one.\">{drawing}</div>"
    )
}

/// Names in bold as an English list; past five, the rest is counted.
pub fn list(names: &[&str]) -> String {
    const MOST: usize = 5;
    let mut items: Vec<String> = names.iter().take(MOST).map(|n| strong(n)).collect();
    if names.len() > MOST {
        items.push(format!("{} more", names.len() - MOST));
    }
    join(&items)
}

/// `a`, `a and b`, `a, b and c`.
pub fn join(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// With its first letter as at the beginning of a sentence.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_counted() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert!(list(&names).ends_with("and 2 more"));
        assert_eq!(list(&["a"]), "<strong><bdi>a</bdi></strong>");
    }
}
