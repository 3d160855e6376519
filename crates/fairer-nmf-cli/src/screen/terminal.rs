//! What people see: tables that line up, notes, warnings and errors.

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use fairer_nmf_io::{Failure, bounded};

/// For the worst group and for errors.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// For what improves.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// For what is beside the point.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// As it comes.
pub(crate) const PLAIN: Style = Style::new();

const NOTICE: Style = AnsiColor::Yellow.on_default().bold();

/// Text on standard output, with colour on a terminal only and never where NO_COLOR is set.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::unprinted)
}

/// Says why the program ends early, and how.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Wrong(message) => {
            error(message);
            ExitCode::from(2)
        }
        Failure::Failed(message) => {
            error(message);
            ExitCode::from(1)
        }
        Failure::Unheard => ExitCode::SUCCESS,
    }
}

/// Something to know, on standard error.
pub(crate) fn note(text: &str) {
    say(FAINT, "note", text);
}

/// Something to beware of, on standard error.
pub(crate) fn warning(text: &str) {
    say(NOTICE, "warning", text);
}

/// Why the program ends, on standard error.
fn error(text: &str) {
    say(BAD, "error", text);
}

fn say(style: Style, kind: &str, text: &str) {
    // One line, whatever a file name or an operating system put into it; a message that cannot
    // be written has nowhere else to go.
    let text = bounded(printable(text));
    let _ = writeln!(anstream::stderr(), "{style}{kind}:{style:#} {text}");
}

/// Names come from files: control characters become visible and harmless.
pub(crate) fn printable(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        // Marks that turn the direction of the text around would garble the rest of the line.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    };
    text.chars().map(visible).collect()
}

/// Words in a style.
pub(crate) fn styled(style: Style, text: &str) -> String {
    match text {
        // No colour for nothing, so that lines can be trimmed.
        "" => String::new(),
        text => format!("{style}{text}{style:#}"),
    }
}

/// A table whose columns line up whatever the script of its names.
pub(crate) struct Table {
    rows: Vec<Vec<(String, Style)>>,
    left: usize,
}

/// Longer names are cut here, in columns of a terminal.
const WIDEST: usize = 48;

impl Table {
    /// The first `left` columns are names (to the left), the rest numbers (to the right).
    pub(crate) fn new(left: usize, header: &[&str]) -> Self {
        let mut table = Self::unheaded(left);
        table.row(STRONG, header.iter().map(ToString::to_string));
        table
    }

    /// The same without a header.
    pub(crate) fn unheaded(left: usize) -> Self {
        Self { rows: Vec::new(), left }
    }

    /// A row in one style.
    pub(crate) fn row(&mut self, style: Style, cells: impl IntoIterator<Item = String>) {
        self.styled_row(cells.into_iter().map(|cell| (cell, style)));
    }

    /// A row with a style per cell.
    pub(crate) fn styled_row(&mut self, cells: impl IntoIterator<Item = (String, Style)>) {
        let fit = |(cell, style): (String, Style)| (shortened(&printable(&cell), WIDEST), style);
        self.rows.push(cells.into_iter().map(fit).collect());
    }

    /// The lines of the table.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|(cell, _)| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, style)) in row.iter().enumerate() {
                let blanks = " ".repeat(widths[column] - cell.width());
                line += if column == 0 { "" } else { "  " };
                line += &match column < self.left {
                    true => format!("{}{blanks}", styled(*style, cell)),
                    false => format!("{blanks}{}", styled(*style, cell)),
                };
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

/// At most `most` columns of a terminal, with `…` for what was cut.
fn shortened(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + c.to_string().width() >= most {
            break;
        }
        short.push(c);
    }
    short + "…"
}

/// Names for a sentence, at most `most` of them.
pub(crate) fn listed(names: &[String], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(|name| printable(name)).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A time for people.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A number of things: `1 row`, `1,024 rows`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: &Table) -> String {
        anstream::adapter::strip_str(&table.render()).to_string()
    }

    #[test]
    fn columns_line_up_for_wide_scripts() {
        let mut table = Table::new(1, &["group", "rows"]);
        table.row(PLAIN, ["女性".to_owned(), "96".to_owned()]);
        table.row(PLAIN, ["e\u{301}".to_owned(), "201".to_owned()]);
        assert_eq!(plain(&table), "group  rows\n女性     96\ne\u{301}       201\n");
    }

    #[test]
    fn long_names_are_cut_and_control_characters_defused() {
        let mut table = Table::new(1, &["group"]);
        table.row(PLAIN, ["x".repeat(90)]);
        table.row(PLAIN, ["a\x1b[31mb\nc".to_owned()]);
        assert_eq!(plain(&table), format!("group\n{}…\na\u{fffd}[31mb c\n", "x".repeat(47)));
    }

    #[test]
    fn counts_have_commas_and_plurals() {
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(1_234_567, "row"), "1,234,567 rows");
    }
}
