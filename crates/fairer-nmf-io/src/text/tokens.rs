//! Text as Python sees it: decoding, cleaning, tokens, stop words.

use std::borrow::Cow;
use std::collections::HashSet;

use regex::Regex;

use super::{StopWords, TextOptions};
use crate::error::InputError;

/// Maximal runs of at least two word characters: the same tokens as `(?u)\b\w\w+\b` in Python,
/// whose `\w` is a letter, a number or `_` (checked over all code points against CPython 3.11). The
/// regex crate's `\w` differs: it has combining marks, joiners and all connector punctuation, and
/// lacks numbers such as ² and ½.
const TOKEN: &str = r"[\p{L}\p{N}_]{2,}";

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

/// Turns documents into tokens.
pub(super) struct Tokenizer {
    token: Regex,
    not_text: Option<Regex>,
    lowercase: bool,
    stop_words: HashSet<String>,
}

impl Tokenizer {
    pub(super) fn new(options: &TextOptions) -> Result<Tokenizer, InputError> {
        let not_text = options.clean.then(|| compiled(NOT_TEXT)).transpose()?;
        Ok(Tokenizer {
            token: compiled(options.token_pattern.as_deref().unwrap_or(TOKEN))?,
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
        let mut found = |token: &str| {
            if !self.stop_words.contains(token) {
                each(token);
            }
        };
        match self.token.captures_len() {
            1 => self.token.find_iter(&text).for_each(|m| found(m.as_str())),
            // The token is the group of the pattern.
            _ => {
                for captures in self.token.captures_iter(&text) {
                    found(captures.get(1).map_or("", |m| m.as_str()));
                }
            }
        }
    }
}

fn compiled(pattern: &str) -> Result<Regex, InputError> {
    Regex::new(pattern).map_err(|e| {
        // All but the last line of a syntax error draws the pattern.
        let message = e.to_string();
        let last = message.lines().last().unwrap_or_default();
        let why = last.trim_start_matches("error: ");
        InputError::BadOption {
            option: "--token-pattern",
            what: format!("`{pattern}` is not a regular expression that can be used: {why}"),
        }
    })
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
    fn patterns_of_the_users_own_are_those_of_the_regex_crate() {
        let own = |pattern: &str, text| {
            let token_pattern = Some(pattern.to_owned());
            tokens(&TextOptions { token_pattern, ..TextOptions::default() }, text)
        };
        // A combining mark is part of a word there, and ² is not; the default has it the other way.
        assert_eq!(own(r"\w\w+", "e\u{301}te\u{301} m²x"), ["e\u{301}te\u{301}"]);
        assert_eq!(own(r"\b[a-z]+\b", "ab a1 cd"), ["ab", "cd"]);
        for pattern in [r"(?<=x)\w+", r"(\w"] {
            let token_pattern = Some(pattern.to_owned());
            let options = TextOptions { token_pattern, ..TextOptions::default() };
            let message = Tokenizer::new(&options).err().expect("refused").to_string();
            assert_eq!(message.lines().count(), 1, "{message}");
            assert!(message.starts_with("--token-pattern: `"), "{message}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_latin1() {
        assert_eq!(decode(b"caf\xe9"), "café");
        assert_eq!(ENGLISH.lines().count(), 179);
    }
}
