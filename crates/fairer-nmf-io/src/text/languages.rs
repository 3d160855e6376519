//! Common words of other languages than English, and which language documents are in.

use std::collections::HashSet;

/// Languages by their English names, with the codes of the lists (crate `stop-words`, the lists of
/// NLTK, most of them from the Snowball project).
const LANGUAGES: [(&str, &str); 31] = [
    ("albanian", "sq"),
    ("arabic", "ar"),
    ("azerbaijani", "az"),
    ("basque", "eu"),
    ("belarusian", "be"),
    ("bengali", "bn"),
    ("catalan", "ca"),
    ("chinese", "zh"),
    ("danish", "da"),
    ("dutch", "nl"),
    ("finnish", "fi"),
    ("french", "fr"),
    ("german", "de"),
    ("greek", "el"),
    ("hebrew", "he"),
    ("hungarian", "hu"),
    ("indonesian", "id"),
    ("italian", "it"),
    ("kazakh", "kk"),
    ("nepali", "ne"),
    ("norwegian", "no"),
    ("portuguese", "pt"),
    ("romanian", "ro"),
    ("russian", "ru"),
    ("slovenian", "sl"),
    ("spanish", "es"),
    ("swedish", "sv"),
    ("tajik", "tg"),
    ("tamil", "ta"),
    ("turkish", "tr"),
    ("uzbek", "uz"),
];

/// The names of all languages but English.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|(name, _)| *name)
}

/// The common words of a language.
pub(super) fn words(language: &str) -> Option<&'static [&'static str]> {
    let (_, code) = LANGUAGES.iter().find(|(name, _)| *name == language)?;
    stop_words::lookup(code)
}

/// The language of which at least half of these terms are common words.
pub(super) fn of_terms(terms: &[&str]) -> Option<&'static str> {
    let known = |language: &&'static str| {
        let words: HashSet<&str> = words(language).unwrap_or_default().iter().copied().collect();
        terms.iter().filter(|term| words.contains(*term)).count()
    };
    let best = names().max_by_key(known)?;
    (2 * known(&best) >= terms.len()).then_some(best)
}

/// The share of letters in scripts that put no blanks between words, of the first of every document.
pub(super) fn unsegmented(documents: &[String]) -> f64 {
    const LOOKED_AT: usize = 2000;
    let (mut letters, mut without) = (0_u64, 0_u64);
    for document in documents {
        for c in document.chars().take(LOOKED_AT).filter(|c| c.is_alphabetic()) {
            letters += 1;
            without += u64::from(matches!(c,
                '\u{0e00}'..='\u{0eff}'       // Thai, Lao
                | '\u{1000}'..='\u{109f}'     // Burmese
                | '\u{1780}'..='\u{17ff}'     // Khmer
                | '\u{3040}'..='\u{30ff}'     // Hiragana, Katakana
                | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
                | '\u{20000}'..='\u{2fa1f}'   // Han
            ));
        }
    }
    without as f64 / letters.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_words_and_none_has_no_words() {
        for name in names() {
            assert!(words(name).is_some_and(|words| words.len() > 20), "{name}");
        }
        assert!(words("german").unwrap().contains(&"und"));
        assert!(words("french").unwrap().contains(&"les"));
        assert_eq!(words("klingon"), None);
    }

    #[test]
    fn scripts_without_blanks_are_told() {
        assert!(unsegmented(&["日本語の文章です".to_owned()]) > 0.9);
        assert!(unsegmented(&["ภาษาไทย".to_owned()]) > 0.5);
        assert!(unsegmented(&["Ein Text, ein русский текст".to_owned()]) < 0.01);
    }
}
