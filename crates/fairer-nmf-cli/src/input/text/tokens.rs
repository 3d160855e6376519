//! Text as Python sees it: decoding, cleaning, tokens, stop words.

use std::borrow::Cow;
use std::collections::HashSet;

use regex::Regex;

use super::pattern::{Pattern, compiled};
use super::{StopWords, TextOptions};
use crate::input::error::InputError;

/// What cleaning takes out: Python's `[^\w\s]`.
const NOT_TEXT: &str = r"[^\p{L}\p{N}_\s\x1c-\x1f]";

/// Source: NLTK corpus `stopwords`, list `english` (179 words, from the Snowball project).
const ENGLISH: &str = include_str!("stopwords_english.txt");

/// UTF-8, or ISO-8859-1 where the bytes are not valid UTF-8.
pub(crate) fn decode(bytes: &[u8]) -> String {
    utf8(bytes).unwrap_or_else(|| bytes.iter().map(|&byte| char::from(byte)).collect())
}

pub(crate) fn utf8(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(String::from)
}

/// What `str.isspace` and `\s` mean in Python: Unicode white space and the four separators.
pub(crate) fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Turns documents into tokens.
pub(super) struct Tokenizer {
    token: Pattern,
    not_text: Option<Regex>,
    lowercase: bool,
    stop_words: HashSet<String>,
}

impl Tokenizer {
    pub(super) fn new(options: &TextOptions) -> Result<Tokenizer, InputError> {
        let not_text = options.clean.then(|| compiled(NOT_TEXT, NOT_TEXT)).transpose()?;
        Ok(Tokenizer {
            token: Pattern::new(options.token_pattern.as_deref())?,
            not_text,
            lowercase: options.lowercase,
            stop_words: match &options.stop_words {
                // What is open is decided when the terms of all documents are known.
                StopWords::None | StopWords::Auto => HashSet::new(),
                StopWords::English => english().map(String::from).collect(),
                StopWords::Words(words) => words.iter().cloned().collect(),
            },
        })
    }

    /// Calls `each` for every token of a document that is not a stop word.
    pub(super) fn tokens(&self, document: &str, mut each: impl FnMut(&str)) {
        let mut text = Cow::Borrowed(document);
        if let Some(not_text) = &self.not_text {
            text = Cow::Owned(clean(&text, not_text));
        }
        if self.lowercase {
            text = Cow::Owned(text.to_lowercase());
        }
        self.token.tokens(&text, |token| {
            if !self.stop_words.contains(token) {
                each(token);
            }
        });
    }
}

fn clean(document: &str, not_text: &Regex) -> String {
    let kept = document.replace(['\n', '\t'], " ").to_lowercase();
    let kept = kept.replace(|c: char| c.is_ascii_digit(), "");
    not_text.replace_all(&kept, "").into_owned()
}

/// The words of the English list.
pub(super) fn english() -> impl Iterator<Item = &'static str> {
    ENGLISH.lines().map(str::trim).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(options: &TextOptions, document: &str) -> Vec<String> {
        let mut found = Vec::new();
        let tokenizer = Tokenizer::new(options).expect("valid options");
        tokenizer.tokens(document, |token| found.push(token.to_string()));
        found
    }

    #[test]
    fn tokens_are_those_of_python() {
        let text = "Déjà vu: a m² isn't x_1 e\u{301}e\u{301} İZ ‿ab";
        // re.findall(r"(?u)\b\w\w+\b", text.lower()) in CPython 3.11: combining marks split.
        let expected = ["déjà", "vu", "m²", "isn", "x_1", "ab"];
        let found = tokens(&TextOptions::default(), text);
        assert_eq!(found, expected);
    }

    #[test]
    fn cleaning_joins_what_punctuation_divided() {
        let options =
            TextOptions { clean: true, stop_words: StopWords::English, ..TextOptions::default() };
        let found = tokens(&options, "Don't\tdo the\n80386-SX e-mail\u{1c}now");
        assert_eq!(found, ["dont", "sx", "email"]);
    }

    #[test]
    fn a_group_in_the_pattern_is_the_token() {
        let options =
            TextOptions { token_pattern: Some(r"#(\w+)".into()), ..TextOptions::default() };
        assert_eq!(tokens(&options, "a #B c #d"), ["b", "d"]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_latin1() {
        assert_eq!(decode(b"caf\xe9"), "café");
        assert_eq!(ENGLISH.lines().count(), 179);
    }
}
