//! How wide text is, cut or broken to fit.

/// Estimated width of text in user units; wide scripts count double.
pub fn text_width(text: &str, size: f64) -> f64 {
    let units: f64 = text
        .chars()
        .map(|c| match c as u32 {
            0x1100..=0x11FF | 0x2E80..=0xD7FF | 0xF900..=0xFAFF | 0xFF00..=0xFF60 | 0x1F000.. => {
                1.0
            }
            _ if matches!(c, 'i' | 'j' | 'l' | 't' | 'f' | '.' | ',' | '\'' | ' ') => 0.36,
            _ if matches!(c, 'm' | 'w' | 'M' | 'W' | '%' | '<' | '>' | '=' | '+') => 0.9,
            _ if c.is_uppercase() => 0.7,
            _ => 0.62,
        })
        .sum();
    units * size
}

/// Text cut with an ellipsis to fit a width.
pub fn fitted(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = text_width("…", size);
    for c in text.chars() {
        used += text_width(c.encode_utf8(&mut [0; 4]), size);
        if used > width {
            break;
        }
        out.push(c);
    }
    format!("{}…", out.trim_end())
}

/// Text broken at spaces into lines that fit a width; a word that does not fit is cut.
pub fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fitted(line, size, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_lines_fit_and_lose_no_word() {
        let text = "how much more of the group is lost than with a model of its own";
        let lines = wrapped(text, 12.0, 150.0);
        assert!(lines.len() > 1 && lines.iter().all(|l| text_width(l, 12.0) <= 150.0));
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrapped("a b", 12.0, 1000.0), ["a b"]);
    }
}
