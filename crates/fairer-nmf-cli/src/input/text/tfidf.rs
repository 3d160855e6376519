//! Term counts and their weights, in the arithmetic of scikit-learn.
//!
//! With n documents, term t in df of them and tf times in this one:
//! idf = ln((1 + n)/(1 + df)) + 1 (smooth) or ln(n/df) + 1; entry = tf · idf, or
//! (1 + ln tf) · idf (sublinear); then every row is divided by its norm.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::tokens::Tokenizer;
use super::{DocumentFrequency, Norm, TermFrequencies, TextOptions};
use crate::input::error::InputError;
use crate::input::matrix::SparseMatrix;

/// Term and count pairs of one document, columns rising.
type Counts = Vec<(u32, f64)>;

/// Documents as features.
pub(crate) struct Vectorized {
    /// Documents × terms.
    pub matrix: SparseMatrix,
    pub terms: Vec<String>,
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
    let terms = match &options.vocabulary {
        Some(terms) => given(terms)?,
        None => choose(path, &bags, options)?,
    };
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
    weigh(&mut rows, &counted, options);

    let entries = rows.iter().map(Vec::len).sum();
    let mut matrix = SparseMatrix::empty(rows.len(), terms.len(), entries);
    for row in rows {
        matrix.push_row(row.into_iter());
    }
    let recipe = options.for_new_documents(counted);
    Ok(Vectorized { matrix, terms, recipe })
}

fn given(terms: &[String]) -> Result<Vec<String>, InputError> {
    let mut seen = HashSet::new();
    match terms.iter().find(|term| !seen.insert(*term)) {
        Some(twice) => Err(InputError::BadOption {
            option: "--vocabulary",
            what: format!("`{twice}` is there twice: leave one out"),
        }),
        None => Ok(terms.to_vec()),
    }
}

/// The terms to keep, sorted by code point.
fn choose(
    path: &str,
    bags: &[HashMap<String, u32>],
    options: &TextOptions,
) -> Result<Vec<String>, InputError> {
    // Term → documents with it, occurrences in all.
    let mut frequency: HashMap<&str, (usize, u64)> = HashMap::new();
    for (term, &count) in bags.iter().flatten() {
        let (documents, total) = frequency.entry(term).or_default();
        *documents += 1;
        *total += u64::from(count);
    }
    let no_terms = |fix| InputError::NoTerms { path: path.into(), documents: bags.len(), fix };
    if frequency.is_empty() {
        return Err(no_terms("do they hold words other than stop words?"));
    }
    let limit = |frequency: DocumentFrequency| match frequency {
        DocumentFrequency::Count(count) => count as f64,
        DocumentFrequency::Share(share) => share * bags.len() as f64,
    };
    let (least, most) = (limit(options.min_df), limit(options.max_df));
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
    let mut kept: Vec<(&str, u64)> = frequency
        .into_iter()
        .filter(|(_, (documents, _))| (least..=most).contains(&(*documents as f64)))
        .map(|(term, (_, total))| (term, total))
        .collect();
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
    Ok(terms)
}

fn count(rows: &[Counts], terms: usize) -> TermFrequencies {
    let mut with_term = vec![0_u32; terms];
    for (column, _) in rows.iter().flatten() {
        with_term[*column as usize] += 1;
    }
    TermFrequencies { documents: rows.len(), with_term }
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
