//! Text from outside made safe for HTML, SVG and JSON inside HTML.

/// Escapes text for element content and for attributes in double quotes, in
/// HTML and in XML. Characters XML forbids become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A name that can be seen: groups do get called "" or " ".
pub fn visible(text: &str) -> &str {
    if text.trim().is_empty() { "(blank)" } else { text }
}

/// A name in running HTML, kept from turning the text around it.
pub fn name(text: &str) -> String {
    format!("<bdi>{}</bdi>", escape(visible(text)))
}

/// The name of a model within a sentence. Names stand at the head of columns, so ours for a
/// dictionary from elsewhere begins with a capital.
pub fn in_sentence(model: &str) -> String {
    name(if model == YOURS { "your topics" } else { model })
}

/// The name that a page gives to a dictionary from elsewhere.
pub const YOURS: &str = "Your topics";

/// The same in bold.
pub fn strong(text: &str) -> String {
    format!("<strong>{}</strong>", name(text))
}

/// A name in plain text (SVG, tooltips): set apart with bidi isolates where it
/// is not plainly left to right. Not escaped yet.
pub fn isolate(text: &str) -> String {
    let text = visible(text);
    let turns = |c: char| {
        matches!(c as u32, 0x0590..=0x08FF | 0x200E..=0x200F | 0x202A..=0x202E
            | 0x2066..=0x2069 | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF | 0x10800..=0x10FFF
            | 0x1E800..=0x1EFFF)
    };
    if text.chars().any(turns) { format!("\u{2068}{text}\u{2069}") } else { text.to_owned() }
}

/// JSON that may stand inside a `<script type="application/json">`.
pub fn json_in_html(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            escape("<a b='c' d=\"e\">&\0"),
            "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\u{fffd}"
        );
    }

    #[test]
    fn json_cannot_close_its_script() {
        assert!(!json_in_html("{\"a\":\"</script><!--\"}").contains('<'));
    }
}
