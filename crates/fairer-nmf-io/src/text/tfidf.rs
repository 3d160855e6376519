//! Term counts and their weights, in the arithmetic of scikit-learn.
//!
//! With n documents, term t in df of them and tf times in this one:
//! idf = ln((1 + n)/(1 + df)) + 1 (smooth) or ln(n/df) + 1; entry = tf · idf, or
//! (1 + ln tf) · idf (sublinear); then every row is divided by its norm.

use std::collections::{HashMap, HashSet};

use fairer_nmf::Note;
use rayon::prelude::*;

use super::tokens::Tokenizer;
use super::{DocumentFrequency, Norm, StopWords, TermFrequencies, TextOptions, languages, tokens};
use crate::error::InputError;
use crate::matrix::SparseMatrix;

/// Term and count pairs of one document, columns rising.
type Counts = Vec<(u32, f64)>;

/// Documents as features.
pub(crate) struct Vectorized {
    /// Documents × terms.
    pub matrix: SparseMatrix,
    pub terms: Vec<String>,
    /// What was left out without being asked.
    pub notes: Vec<Note>,
    /// How new documents become the same features.
    pub recipe: TextOptions,
}

/// Turns documents into features; `path` names the source in errors.
pub(crate) fn vectorize(
    path: &str,
    documents: &[String],
    options: &TextOptions,
) -> Result<Vectorized, InputError> {
    let tokenizer = Tokenizer::new(options)?;
    let bags: Vec<HashMap<String, u32>> = documents
        .par_iter()
        .map(|document| {
            let mut bag = HashMap::new();
            tokenizer.tokens(document, |token| match bag.get_mut(token) {
                Some(count) => *count += 1,
                None => drop(bag.insert(token.to_string(), 1)),
            });
            bag
        })
        .collect();
    let Chosen { terms, stop_words, mut notes } = match &options.vocabulary {
        Some(terms) => Chosen::given(terms, options)?,
        None => choose(path, &bags, options)?,
    };
    let unsegmented = languages::unsegmented(documents);
    if unsegmented > 0.1 && options.token_pattern.is_none() {
        let sentence = format!(
            "{:.0} % of the letters are of scripts without blanks between words (Chinese, Japanese, Thai and others), where whole phrases were taken for words: divide the words with blanks first",
            100.0 * unsegmented
        );
        notes.push(Note::new("words-not-divided", sentence));
    }
    let column: HashMap<&str, u32> = (0..).zip(&terms).map(|(i, t)| (t.as_str(), i)).collect();
    let mut rows: Vec<Counts> = bags
        .par_iter()
        .map(|bag| {
            let known = |(term, &count): (&String, &u32)| {
                Some((*column.get(term.as_str())?, f64::from(count)))
            };
            let mut counts: Counts = bag.iter().filter_map(known).collect();
            counts.sort_by_key(|&(column, _)| column);
            counts
        })
        .collect();
    let counted = match &options.fitted {
        Some(fitted) => fitted.clone(),
        None => count(&rows, terms.len()),
    };
    check_weights(&rows, &terms, &counted, options)?;
    weigh(&mut rows, &counted, options);

    let entries = rows.iter().map(Vec::len).sum();
    let mut matrix = SparseMatrix::empty(rows.len(), terms.len(), entries);
    for row in rows {
        matrix.push_row(row.into_iter());
    }
    let options = TextOptions { stop_words, ..options.clone() };
    let recipe = options.for_new_documents(counted);
    Ok(Vectorized { matrix, terms, notes, recipe })
}

/// Which terms are features, and which words were left out on the way.
struct Chosen {
    terms: Vec<String>,
    stop_words: StopWords,
    notes: Vec<Note>,
}

impl Chosen {
    fn given(terms: &[String], options: &TextOptions) -> Result<Self, InputError> {
        let mut seen = HashSet::new();
        if let Some(twice) = terms.iter().find(|term| !seen.insert(*term)) {
            return Err(InputError::BadOption {
                option: "--vocabulary",
                what: format!("`{twice}` is there twice: leave one out"),
            });
        }
        // Who names the terms has left out the others already.
        let stop_words = match &options.stop_words {
            StopWords::Auto => StopWords::None,
            given => given.clone(),
        };
        Ok(Self { terms: terms.to_vec(), stop_words, notes: Vec::new() })
    }
}

/// From so many documents on, their terms tell a language and what is rare.
const ENOUGH: usize = 20;

/// Term → documents with it, occurrences in all.
type Frequencies<'a> = HashMap<&'a str, (usize, u64)>;

/// Whether the documents are English: of the terms that most documents have, at least half are
/// common English words. (Of 20 Newsgroups all are; of texts in German or French at most two.)
fn are_english(frequencies: &Frequencies<'_>, documents: usize) -> bool {
    let english: HashSet<&str> = tokens::english().collect();
    let terms = most_common(frequencies);
    let common = terms.iter().filter(|term| english.contains(*term)).count();
    documents >= ENOUGH && 2 * common >= ENOUGH
}

/// The terms that most documents have.
fn most_common<'a>(frequencies: &Frequencies<'a>) -> Vec<&'a str> {
    let mut terms: Vec<(usize, &str)> =
        frequencies.iter().map(|(term, (documents, _))| (*documents, *term)).collect();
    terms.sort_by_key(|&(documents, term)| (std::cmp::Reverse(documents), term));
    terms.truncate(ENOUGH);
    terms.into_iter().map(|(_, term)| term).collect()
}

/// The terms to keep, sorted by code point.
fn choose(
    path: &str,
    bags: &[HashMap<String, u32>],
    options: &TextOptions,
) -> Result<Chosen, InputError> {
    let mut frequency = Frequencies::new();
    for (term, &count) in bags.iter().flatten() {
        let (documents, total) = frequency.entry(term).or_default();
        *documents += 1;
        *total += u64::from(count);
    }
    let no_terms = |fix| InputError::NoTerms { path: path.into(), documents: bags.len(), fix };
    if frequency.is_empty() {
        return Err(no_terms("do they hold words other than stop words?"));
    }
    let mut notes = Vec::new();
    let stop_words = match &options.stop_words {
        StopWords::Auto if are_english(&frequency, bags.len()) => {
            tokens::english().for_each(|word| {
                frequency.remove(word);
            });
            notes.push(Note::new(
                "common-words-left-out",
                "the documents are English: its common words are left out (--stop-words none keeps them)",
            ));
            StopWords::English
        }
        StopWords::Auto => {
            let language = languages::of_terms(&most_common(&frequency));
            if let Some(language) = language.filter(|_| bags.len() >= ENOUGH) {
                let sentence = format!(
                    "the documents seem to be {language}: leave its common words out with `--stop-words {language}`"
                );
                notes.push(Note::new("common-words-kept", sentence));
            }
            StopWords::None
        }
        given => given.clone(),
    };
    let all = bags.len() as f64;
    let limit = |frequency: DocumentFrequency, (enough, otherwise): (f64, f64)| match frequency {
        DocumentFrequency::Count(count) => count as f64,
        DocumentFrequency::Share(share) => share * all,
        DocumentFrequency::Auto => {
            if bags.len() >= ENOUGH {
                enough
            } else {
                otherwise
            }
        }
    };
    let least = limit(options.min_df, ((0.005 * all).ceil().max(2.0), 1.0));
    let most = limit(options.max_df, (0.95 * all, all));
    if least > bags.len() as f64 {
        return Err(InputError::BadOption {
            option: "--min-df",
            what: format!(
                "{least} documents are asked for, and there are {}: lower it",
                bags.len()
            ),
        });
    }
    if most < least {
        return Err(InputError::BadOption {
            option: "--max-df",
            what: "it is fewer documents than --min-df: raise it, or lower the other".into(),
        });
    }
    let found = frequency.len();
    let mut kept: Vec<(&str, u64)> = frequency
        .into_iter()
        .filter(|(_, (documents, _))| (least..=most).contains(&(*documents as f64)))
        .map(|(term, (_, total))| (term, total))
        .collect();
    if options.min_df == DocumentFrequency::Auto && kept.len() < found {
        let sentence = format!(
            "{} of {found} terms are features: those in at least {least} documents (--min-df 1 keeps all)",
            kept.len()
        );
        notes.push(Note::new("rare-terms-left-out", sentence));
    }
    if let Some(most) = options.max_features {
        let preferred = |term: &str| options.prefer.iter().any(|p| p == term);
        kept.sort_by_key(|&(term, total)| (std::cmp::Reverse(total), !preferred(term), term));
        kept.truncate(most);
    }
    if kept.is_empty() {
        return Err(no_terms("lower --min-df, or raise --max-df or --max-features"));
    }
    let mut terms: Vec<String> = kept.iter().map(|(term, _)| term.to_string()).collect();
    terms.sort();
    Ok(Chosen { terms, stop_words, notes })
}

fn count(rows: &[Counts], terms: usize) -> TermFrequencies {
    let mut with_term = vec![0_u32; terms];
    for (column, _) in rows.iter().flatten() {
        with_term[*column as usize] += 1;
    }
    TermFrequencies { documents: rows.len(), with_term }
}

/// A term that none of the counted documents had weighs infinitely without smoothing: only where
/// new documents have it does that matter.
fn check_weights(
    rows: &[Counts],
    terms: &[String],
    counted: &TermFrequencies,
    options: &TextOptions,
) -> Result<(), InputError> {
    if options.smooth_idf || !options.idf || !counted.with_term.contains(&0) {
        return Ok(());
    }
    let unknown = |(column, _): &&(u32, f64)| counted.with_term[*column as usize] == 0;
    match rows.iter().flatten().find(unknown) {
        None => Ok(()),
        Some((column, _)) => Err(InputError::BadOption {
            option: "--no-smooth-idf",
            what: format!(
                "`{}` was in none of the documents that the weights are from, so its weight is infinite: fit with smoothing, or leave the term out",
                terms[*column as usize]
            ),
        }),
    }
}

fn weigh(rows: &mut [Counts], counted: &TermFrequencies, options: &TextOptions) {
    let extra = if options.smooth_idf { 1.0 } else { 0.0 };
    let all = counted.documents as f64 + extra;
    // A term in no document gives ln(n/0) = ∞ without smoothing, as in scikit-learn.
    let idf: Vec<f64> =
        counted.with_term.iter().map(|&df| (all / (f64::from(df) + extra)).ln() + 1.0).collect();
    rows.par_iter_mut().for_each(|row| {
        for (column, value) in row.iter_mut() {
            if options.sublinear_tf {
                *value = value.ln() + 1.0;
            }
            if options.idf {
                *value *= idf[*column as usize];
            }
        }
        let norm = match options.norm {
            Norm::L2 => row.iter().map(|(_, v)| v * v).sum::<f64>().sqrt(),
            Norm::L1 => row.iter().map(|(_, v)| v.abs()).sum(),
            Norm::None => return,
        };
        // Positive unless the row is empty: every entry is a count ≥ 1 times a weight ≥ 1
        // (idf = ln(n/df) + 1 with df ≤ n).
        for (_, value) in row.iter_mut() {
            *value /= norm;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn ties_at_the_cut_go_to_the_preferred_then_the_alphabet() {
        let documents = documents(&["aa bb cc", "dd dd"]);
        let mut options = TextOptions { max_features: Some(2), ..TextOptions::default() };
        let terms =
            |options: &TextOptions| vectorize("t", &documents, options).expect("terms").terms;
        assert_eq!(terms(&options), ["aa", "dd"]);
        options.prefer = vec!["cc".into()];
        assert_eq!(terms(&options), ["cc", "dd"]);
    }

    #[test]
    fn common_words_go_where_the_language_is_known_and_rare_terms_where_there_are_enough() {
        let english = "the of and to in is it that for was on are with as at be this have from or";
        let german = "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine";
        let found = |common: &str, documents: usize| {
            let text = |i: usize| format!("{common} house{} rare{i}", i % 2);
            let texts: Vec<String> = (0..documents).map(text).collect();
            vectorize("t", &texts, &TextOptions::topics()).expect("terms")
        };
        let made = found(english, 40);
        assert_eq!(made.terms, ["house0", "house1"]);
        assert_eq!(made.notes.len(), 2);
        assert!(matches!(&made.recipe.stop_words, StopWords::Words(words) if words.len() == 179));
        // In another language the words of nearly all documents go, and nothing else is known.
        let made = found(german, 40);
        assert_eq!(made.terms, ["house0", "house1"]);
        assert_eq!(made.recipe.stop_words, StopWords::None);
        // Too few to tell anything.
        assert_eq!(found(english, 19).terms.len(), 20 + 2 + 19);
    }

    #[test]
    fn every_row_has_norm_one_or_is_empty() {
        let documents = documents(&["aa bb", "", "bb bb cc"]);
        let matrix = vectorize("t", &documents, &TextOptions::default()).expect("terms").matrix;
        for (row, norm) in [(0, 1.0), (1, 0.0), (2, 1.0)] {
            let squares: f64 = matrix.row(row).1.iter().map(|v| v * v).sum();
            assert!((squares - norm).abs() < 1e-15);
        }
    }

    #[test]
    fn nothing_but_stop_words_is_an_error() {
        let options =
            TextOptions { stop_words: super::super::StopWords::English, ..TextOptions::default() };
        let error = vectorize("t", &documents(&["the and"]), &options).err().expect("no terms");
        assert!(error.to_string().starts_with("no terms remain from the 1 documents of t"));
    }
}
