//! A search for patterns with `\b` and `\B` in Python's sense, which the regex crate cannot express.
//!
//! Backtracking over a small program, as Python's `re` does it, with the same preferences. A step
//! is tried at a place only once, so that no pattern takes more than steps × characters.
//! Only where something that can be empty is repeated, as in `(?:a|\b)+`, preferences are those of
//! the regex crate, which also finds the tokens of all other documents.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::pattern::WORD;

/// Ranges of characters, rising.
type Ranges = Vec<(char, char)>;

static WORD_RANGES: LazyLock<Ranges> = LazyLock::new(|| {
    let hir = regex_syntax::parse(WORD).expect("our own pattern is valid");
    match hir.kind() {
        HirKind::Class(class) => ranges(class),
        other => unreachable!("a bracketed class is no {other:?}"),
    }
});

/// A compiled pattern.
pub(super) struct Program(Vec<Step>);

#[derive(Debug)]
enum Step {
    /// Take one character.
    Char(Ranges),
    Look(Look),
    /// Go on at the first, or else at the second.
    Either(usize, usize),
    Go(usize),
    /// The first group begins or ends here.
    GroupStart,
    GroupEnd,
    Match,
}

/// A step to try, at a place, with the first group as found so far.
#[derive(Clone, Copy)]
struct Trial {
    step: usize,
    at: usize,
    group: (Option<usize>, Option<usize>),
}

struct Found {
    start: usize,
    end: usize,
    group: Option<(usize, usize)>,
}

impl Program {
    /// Compiles a pattern of the regex crate; why not, where that cannot be.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let hir = regex_syntax::parse(pattern).map_err(|e| e.to_string())?;
        let mut program = Self(Vec::new());
        program.add(&hir)?;
        program.0.push(Step::Match);
        Ok(program)
    }

    /// Calls `each` for every match from left to right, or for its first group.
    pub(super) fn tokens(&self, text: &str, whole: bool, mut each: impl FnMut(&str)) {
        let chars: Vec<char> = text.chars().collect();
        let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        places.push(text.len());
        let slice = |(start, end): (usize, usize)| &text[places[start]..places[end]];
        let (mut from, mut last_end) = (0, None);
        while let Some(found) = self.find(&chars, from) {
            // An empty match right after another is none, as in the regex crate.
            if found.start == found.end && last_end == Some(found.end) {
                from = found.end + 1;
                continue;
            }
            match whole {
                true => each(slice((found.start, found.end))),
                false => each(found.group.map_or("", slice)),
            }
            from = found.end;
            last_end = Some(found.end);
        }
    }

    fn find(&self, text: &[char], from: usize) -> Option<Found> {
        // What failed from one start fails from every other.
        let mut tried = HashSet::new();
        (from..=text.len()).find_map(|start| self.match_at(text, start, &mut tried))
    }

    fn match_at(
        &self,
        text: &[char],
        start: usize,
        tried: &mut HashSet<(usize, usize)>,
    ) -> Option<Found> {
        let mut trials = vec![Trial { step: 0, at: start, group: (None, None) }];
        while let Some(mut trial) = trials.pop() {
            while tried.insert((trial.step, trial.at)) {
                let next = trial.step + 1;
                trial.step = match &self.0[trial.step] {
                    Step::Char(ranges) => match text.get(trial.at) {
                        Some(&c) if contains(ranges, c) => {
                            trial.at += 1;
                            next
                        }
                        _ => break,
                    },
                    Step::Look(look) if holds(*look, text, trial.at) => next,
                    Step::Look(_) => break,
                    Step::Either(first, second) => {
                        trials.push(Trial { step: *second, ..trial });
                        *first
                    }
                    Step::Go(step) => *step,
                    Step::GroupStart => {
                        trial.group = (Some(trial.at), None);
                        next
                    }
                    Step::GroupEnd => {
                        trial.group.1 = Some(trial.at);
                        next
                    }
                    Step::Match => {
                        let group = trial.group.0.zip(trial.group.1);
                        return Some(Found { start, end: trial.at, group });
                    }
                };
            }
        }
        None
    }

    fn add(&mut self, hir: &Hir) -> Result<(), String> {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).map_err(|e| e.to_string())?;
                self.0.extend(text.chars().map(|c| Step::Char(vec![(c, c)])));
            }
            HirKind::Class(class) => self.0.push(Step::Char(ranges(class))),
            HirKind::Look(look) => self.0.push(Step::Look(known(*look)?)),
            HirKind::Repetition(repetition) => self.repeat(repetition)?,
            HirKind::Capture(capture) if capture.index == 1 => {
                self.0.push(Step::GroupStart);
                self.add(&capture.sub)?;
                self.0.push(Step::GroupEnd);
            }
            HirKind::Capture(capture) => self.add(&capture.sub)?,
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.add(part))?,
            HirKind::Alternation(parts) => self.alternate(parts)?,
        }
        Ok(())
    }

    fn repeat(&mut self, repetition: &Repetition) -> Result<(), String> {
        let Repetition { min, max, greedy, sub } = repetition;
        // One copy at least, which a repetition without end goes back to: x* is (x+)?, for with
        // an x that can be empty a mere loop would prefer another match.
        let copies = max.unwrap_or((*min).max(1));
        // Where it is decided whether to go on, and with what.
        let mut choices = Vec::new();
        let mut last = self.0.len();
        for copy in 0..copies {
            if copy >= *min {
                choices.push((self.0.len(), self.0.len() + 1));
                self.0.push(Step::Match);
            }
            last = self.0.len();
            self.add(sub)?;
        }
        if max.is_none() {
            choices.push((self.0.len(), last));
            self.0.push(Step::Match);
        }
        let end = self.0.len();
        for (choice, on) in choices {
            self.0[choice] = match greedy {
                true => Step::Either(on, end),
                false => Step::Either(end, on),
            };
        }
        Ok(())
    }

    fn alternate(&mut self, parts: &[Hir]) -> Result<(), String> {
        let mut ends = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let choice = self.0.len();
            let is_last = i + 1 == parts.len();
            if !is_last {
                self.0.push(Step::Match);
            }
            self.add(part)?;
            if !is_last {
                ends.push(self.0.len());
                self.0.push(Step::Match);
                self.0[choice] = Step::Either(choice + 1, self.0.len());
            }
        }
        let after = self.0.len();
        ends.into_iter().for_each(|end| self.0[end] = Step::Go(after));
        Ok(())
    }
}

fn ranges(class: &Class) -> Ranges {
    match class {
        Class::Unicode(class) => class.iter().map(|r| (r.start(), r.end())).collect(),
        Class::Bytes(class) => {
            class.iter().map(|r| (char::from(r.start()), char::from(r.end()))).collect()
        }
    }
}

fn contains(ranges: &Ranges, c: char) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= c);
    after > 0 && c <= ranges[after - 1].1
}

/// Assertions that Python has too.
fn known(look: Look) -> Result<Look, String> {
    match look {
        Look::Start | Look::End | Look::StartLF | Look::EndLF => Ok(look),
        Look::WordUnicode | Look::WordUnicodeNegate => Ok(look),
        _ => Err("of assertions about words only \\b and \\B can be used".to_owned()),
    }
}

fn holds(look: Look, text: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|i| text[i]);
    let after = text.get(at).copied();
    let is_word = |c: Option<char>| c.is_some_and(|c| contains(&WORD_RANGES, c));
    match look {
        Look::Start => at == 0,
        Look::End => at == text.len(),
        Look::StartLF => matches!(before, None | Some('\n')),
        Look::EndLF => matches!(after, None | Some('\n')),
        Look::WordUnicode => is_word(before) != is_word(after),
        Look::WordUnicodeNegate => is_word(before) == is_word(after),
        other => unreachable!("known() let {other:?} pass"),
    }
}
