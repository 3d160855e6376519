//! Token patterns that match as Python's `re` matches them.
//!
//! Python's `\w` is a letter, a number or `_`: `[\p{L}\p{N}_]`, checked over all code points
//! against CPython 3.11. The regex crate's `\w` differs: it has combining marks, joiners and
//! all connector punctuation, and lacks numbers such as ² and ½. So `\w` and `\W` are rewritten,
//! and `\s` and `\S`, to which Python counts four separators more. `\b` and `\B` cannot be: where
//! a document has a character that the two `\w` disagree about, a search of our own takes over.

use regex::Regex;
use regex_syntax::ast::{self, AssertionKind, Ast, ClassPerl, ClassPerlKind, ClassSetItem, Span};

use super::boundaries::Program;
use crate::input::error::InputError;

/// Maximal runs of at least two word characters: the same tokens as `(?u)\b\w\w+\b` in Python.
const TOKEN: &str = r"[\p{L}\p{N}_]{2,}";

/// Python's `\w`.
pub(super) const WORD: &str = r"[\p{L}\p{N}_]";

/// What both `\w` disagree about.
const DISPUTED: &str = r"[\w~~[\p{L}\p{N}_]]";

/// A token pattern, ready for use.
pub(super) struct Pattern {
    regex: Regex,
    boundaries: Option<Boundaries>,
}

/// For a pattern with `\b` or `\B`.
struct Boundaries {
    disputed: Regex,
    program: Program,
}

impl Pattern {
    /// The pattern that was typed, or scikit-learn's own.
    pub(super) fn new(typed: Option<&str>) -> Result<Self, InputError> {
        let Some(typed) = typed else {
            return Ok(Self { regex: compiled(TOKEN, TOKEN)?, boundaries: None });
        };
        let (pattern, has_boundary) = translated(typed).map_err(|why| bad(typed, &why))?;
        let regex = compiled(&pattern, typed)?;
        let boundaries = match has_boundary {
            true => Some(Boundaries {
                disputed: compiled(DISPUTED, DISPUTED)?,
                program: Program::new(&pattern).map_err(|why| bad(typed, &why))?,
            }),
            false => None,
        };
        Ok(Self { regex, boundaries })
    }

    /// Calls `each` for every token: a match, or its group if the pattern has one.
    pub(super) fn tokens(&self, text: &str, mut each: impl FnMut(&str)) {
        let whole = self.regex.captures_len() == 1;
        match &self.boundaries {
            Some(boundaries) if boundaries.disputed.is_match(text) => {
                boundaries.program.tokens(text, whole, each);
            }
            _ if whole => self.regex.find_iter(text).for_each(|m| each(m.as_str())),
            _ => {
                for captures in self.regex.captures_iter(text) {
                    each(captures.get(1).map_or("", |m| m.as_str()));
                }
            }
        }
    }
}

/// A regular expression, and how it was typed, for the message.
pub(super) fn compiled(pattern: &str, typed: &str) -> Result<Regex, InputError> {
    Regex::new(pattern).map_err(|e| {
        // All but the last line of a syntax error draws the pattern.
        let message = e.to_string();
        let last = message.lines().last().unwrap_or_default();
        bad(typed, last.trim_start_matches("error: "))
    })
}

fn bad(pattern: &str, why: &str) -> InputError {
    InputError::BadOption {
        option: "--token-pattern",
        what: format!("`{pattern}` is not a regular expression that can be used: {why}"),
    }
}

/// The pattern in the syntax of the regex crate with the classes of Python, and whether it has
/// `\b` or `\B`.
fn translated(pattern: &str) -> Result<(String, bool), String> {
    let parsed = ast::parse::Parser::new().parse(pattern).map_err(|e| e.kind().to_string())?;
    let found = Found { classes: Vec::new(), has_boundary: false };
    let Ok(Found { classes, has_boundary }) = ast::visit(&parsed, found);
    let mut text = String::new();
    let mut done = 0;
    for (span, class) in classes {
        text.push_str(&pattern[done..span.start.offset]);
        text.push_str(class);
        done = span.end.offset;
    }
    text.push_str(&pattern[done..]);
    Ok((text, has_boundary))
}

/// What Python reads in another way, in the order of the pattern.
struct Found {
    classes: Vec<(Span, &'static str)>,
    has_boundary: bool,
}

impl Found {
    fn class(&mut self, class: &ClassPerl) {
        let python = match (&class.kind, class.negated) {
            (ClassPerlKind::Word, false) => WORD,
            (ClassPerlKind::Word, true) => r"[^\p{L}\p{N}_]",
            (ClassPerlKind::Space, false) => r"[\s\x1c-\x1f]",
            (ClassPerlKind::Space, true) => r"[^\s\x1c-\x1f]",
            (ClassPerlKind::Digit, _) => return,
        };
        self.classes.push((class.span, python));
    }
}

impl ast::Visitor for Found {
    type Output = Self;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Self, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::ClassPerl(class) => self.class(class),
            Ast::Assertion(assertion) => {
                use AssertionKind::{EndLine, EndText, StartLine, StartText};
                let of_words = !matches!(assertion.kind, StartLine | EndLine | StartText | EndText);
                self.has_boundary |= of_words;
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        if let ClassSetItem::Perl(class) = item {
            self.class(class);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_python_also_inside_brackets() {
        let pattern = |typed| translated(typed).expect("valid");
        assert_eq!(pattern(r"é\w\d"), (r"é[\p{L}\p{N}_]\d".into(), false));
        assert_eq!(
            pattern(r"\b[^\W\d_]+[\w-]"),
            (r"\b[^[^\p{L}\p{N}_]\d_]+[[\p{L}\p{N}_]-]".into(), true)
        );
        assert_eq!(pattern(r"\\w^(?u)\S$"), (r"\\w^(?u)[^\s\x1c-\x1f]$".into(), false));
    }

    #[test]
    fn the_search_of_our_own_finds_what_the_regex_crate_finds_where_both_agree() {
        let text = "Déjà vu, x_1 isn't a--b 42nd 数据科学 foo-bar-baz\nab  \tΣΑΣ 'quoted' aab";
        for typed in [
            r"\b\w\w+\b",
            r"(?u)\b[a-z]{2,3}\b",
            r"\b\w+?\b",
            r"\B\w+",
            r"\b(\w)\w*\b",
            r"\b\w+(?:-\w+)*\b",
            r"(?i)\b(?:A|AA|aab|isn't)\b",
            r"(?m)^\w+\b|\b\w+$",
            r"\b",
            r"\B-?\B",
            r"(?:\b\w*\b)*x?",
            r"\b.{2,}?\b",
            r"\b[^\W\d_]+",
        ] {
            let pattern = Pattern::new(Some(typed)).expect("valid");
            let mut expected = Vec::new();
            pattern.tokens(text, |token| expected.push(token.to_owned()));
            let boundaries = pattern.boundaries.as_ref().expect("it has a boundary");
            assert!(!boundaries.disputed.is_match(text));
            let mut found = Vec::new();
            let whole = pattern.regex.captures_len() == 1;
            boundaries.program.tokens(text, whole, |token| found.push(token.to_owned()));
            assert_eq!(found, expected, "{typed}");
            assert!(!found.is_empty(), "{typed}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_in_one_line() {
        let refused = |typed| Pattern::new(Some(typed)).err().expect("refused").to_string();
        assert_eq!(
            refused(r"(?<=x)\w+"),
            r"--token-pattern: `(?<=x)\w+` is not a regular expression that can be used: look-around, including look-ahead and look-behind, is not supported"
        );
        for typed in [r"\b{start}\w+", r"(?-u:\b)\w+", r"(\w", r"(?-u)\w"] {
            let message = refused(typed);
            assert_eq!(message.lines().count(), 1, "{message}");
            assert!(message.starts_with("--token-pattern: `"), "{message}");
        }
    }
}
