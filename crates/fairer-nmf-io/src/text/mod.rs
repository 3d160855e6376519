//! Documents to TF-IDF features, as scikit-learn's `TfidfVectorizer` makes them.

mod languages;
mod tfidf;
mod tokens;

pub(crate) use tfidf::vectorize;
pub(crate) use tokens::{decode, utf8};

use super::error::InputError;
use super::room::InputLimit;
use super::source::Source;
use serde::{Deserialize, Serialize};

/// How documents become features; the default is scikit-learn's, which keeps every term.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextOptions {
    /// The column of a table that holds the documents.
    pub column: Option<String>,
    /// Clean first: line ends and tabs to blanks, lower case, digits 0-9 out, then everything
    /// out that is neither a word character nor white space (as the paper does).
    pub clean: bool,
    /// Lower case before looking for tokens.
    pub lowercase: bool,
    /// A regular expression for tokens, in the syntax and with the meaning of the regex crate; its
    /// group, if it has one. `None` is scikit-learn's `(?u)\b\w\w+\b`: two or more of what Python calls word
    /// characters, which are letters, numbers (also ² and ½) and the underscore.
    pub token_pattern: Option<String>,
    /// Tokens to leave out.
    pub stop_words: StopWords,
    /// Keep this many terms, those that occur most often in all documents together. Ties are
    /// broken by `prefer`, then alphabetically (by code point).
    pub max_features: Option<usize>,
    /// Terms that win ties at the `max_features` cut.
    pub prefer: Vec<String>,
    /// Leave out terms that are in fewer documents.
    pub min_df: DocumentFrequency,
    /// Leave out terms that are in more documents.
    pub max_df: DocumentFrequency,
    /// The terms to keep, in column order; the four options above then do nothing.
    pub vocabulary: Option<Vec<String>>,
    /// Multiply counts by ln(documents / documents with the term) + 1.
    pub idf: bool,
    /// As if one more document held every term: no division by zero.
    pub smooth_idf: bool,
    /// 1 + ln(count) in place of the count.
    pub sublinear_tf: bool,
    /// What every row is divided by.
    pub norm: Norm,
    /// Weigh by the frequencies of these documents, in the order of `vocabulary`, rather than by
    /// those of the documents that are read: scikit-learn's `transform`.
    pub fitted: Option<TermFrequencies>,
}

fairer_nmf::changeable!(TextOptions);

/// In how many documents every term occurs; what inverse document frequencies are made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermFrequencies {
    /// Number of documents.
    pub documents: usize,
    /// Documents with each term.
    pub with_term: Vec<u32>,
}

impl TextOptions {
    /// For readable topics: common words of a known language and terms of few documents are left
    /// out. docs/text.md shows what comes of it.
    pub fn topics() -> Self {
        Self {
            stop_words: StopWords::Auto,
            min_df: DocumentFrequency::Auto,
            max_df: DocumentFrequency::Auto,
            ..Self::default()
        }
    }

    /// How the paper turns 20 Newsgroups into features. The last of its 200 places is a tie of
    /// three (based, means, trying), and the published numbers have "trying".
    pub fn paper() -> Self {
        Self {
            clean: true,
            stop_words: StopWords::English,
            max_features: Some(200),
            prefer: vec!["trying".into()],
            ..Self::default()
        }
    }

    /// What turns new documents into the features of those that were counted, every stop word
    /// included; the terms are the features' names and are not repeated.
    pub(crate) fn for_new_documents(&self, counted: TermFrequencies) -> TextOptions {
        TextOptions {
            stop_words: self.stop_words.spelled_out(),
            vocabulary: None,
            fitted: Some(counted),
            ..self.clone()
        }
    }

    /// Whether both find the same terms in a document and weigh them by the same formula, where
    /// `other` says which words are left out if this leaves that open.
    pub fn weighs_as(&self, other: &TextOptions) -> bool {
        let stop_words = match &self.stop_words {
            StopWords::Auto => &other.stop_words,
            given => given,
        };
        let this = TextOptions { stop_words: stop_words.clone(), ..self.clone() };
        let formula = |o: &TextOptions| TextOptions {
            clean: o.clean,
            lowercase: o.lowercase,
            token_pattern: o.token_pattern.clone(),
            stop_words: o.stop_words.spelled_out(),
            idf: o.idf,
            smooth_idf: o.smooth_idf,
            sublinear_tf: o.sublinear_tf,
            norm: o.norm,
            ..TextOptions::default()
        };
        formula(&this) == formula(other)
    }
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions {
            column: None,
            clean: false,
            lowercase: true,
            token_pattern: None,
            stop_words: StopWords::None,
            max_features: None,
            prefer: Vec::new(),
            min_df: DocumentFrequency::Count(1),
            max_df: DocumentFrequency::Share(1.0),
            vocabulary: None,
            idf: true,
            smooth_idf: true,
            sublinear_tf: false,
            norm: Norm::L2,
            fitted: None,
        }
    }
}

/// Words too common to tell documents apart. A list in a file is read where it is asked for
/// ([`StopWords::read`]), so that whoever holds these options never opens another file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopWords {
    /// Leave nothing out.
    #[default]
    None,
    /// 179 English words: the list of the NLTK stop-word corpus, from the Snowball project.
    /// (scikit-learn's own `english` is another list.)
    English,
    /// English where the documents are English, else none; said in a note.
    Auto,
    /// These.
    Words(Vec<String>),
}

impl StopWords {
    /// A file with one word a line.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(path: &str, limit: InputLimit) -> Result<Self, InputError> {
        let text = decode(&Source::open(path, limit)?);
        let words = text.lines().map(str::trim).filter(|w| !w.is_empty());
        Ok(Self::Words(words.map(String::from).collect()))
    }

    /// A list by its name: `none`, `auto`, `english` or another language.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "auto" => Self::Auto,
            "english" => Self::English,
            language => {
                let words = languages::words(language)?;
                Self::Words(words.iter().map(|word| (*word).to_owned()).collect())
            }
        })
    }

    /// The languages that have a list, English apart.
    pub fn languages() -> impl Iterator<Item = &'static str> {
        languages::names()
    }

    /// The same words, each of them: what a list is called may mean other words one day.
    fn spelled_out(&self) -> Self {
        match self {
            Self::English => Self::Words(tokens::english().map(String::from).collect()),
            other => other.clone(),
        }
    }
}

/// A number of documents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum DocumentFrequency {
    /// So many.
    Count(usize),
    /// A share of all, from 0 to 1.
    Share(f64),
    /// From 20 documents on: at least 0.5 % of them and at least 2, at most 95 %. Else no limit.
    Auto,
}

/// What the entries of a row are divided by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Norm {
    /// The root of the sum of squares.
    #[default]
    L2,
    /// The sum of magnitudes.
    L1,
    /// Nothing.
    None,
}
