//! The paper's 20 Newsgroups matrix, from the original posts.
//!
//! 1,500 posts of the training split of `20news-bydate`, in the order of the paper's rows:
//! headers, signatures and quotations taken off as scikit-learn does it, cleaned, and turned
//! into TF-IDF of 200 terms. (The paper then scales every column to unit norm; that is not
//! reading, and is done where all data are scaled.)

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use fairer_nmf_io::{Dataset, InputError, TextOptions, read_documents};
use flate2::read::MultiGzDecoder;
use regex::Regex;

/// The six groups of the paper, in row order.
pub const GROUPS: [&str; 6] = ["Computer", "Sale", "Recreation", "Politics", "Religion", "Science"];

/// The newsgroups in sorted order, each with its group.
const NEWSGROUPS: [(&str, usize); 20] = [
    ("alt.atheism", 4),
    ("comp.graphics", 0),
    ("comp.os.ms-windows.misc", 0),
    ("comp.sys.ibm.pc.hardware", 0),
    ("comp.sys.mac.hardware", 0),
    ("comp.windows.x", 0),
    ("misc.forsale", 1),
    ("rec.autos", 2),
    ("rec.motorcycles", 2),
    ("rec.sport.baseball", 2),
    ("rec.sport.hockey", 2),
    ("sci.crypt", 5),
    ("sci.electronics", 5),
    ("sci.med", 5),
    ("sci.space", 5),
    ("soc.religion.christian", 4),
    ("talk.politics.guns", 3),
    ("talk.politics.mideast", 3),
    ("talk.politics.misc", 3),
    ("talk.religion.misc", 4),
];

/// Made from `20n_rows.csv`: a newsgroup's number and a file's name, a line per row.
const ROWS: &str = include_str!("newsgroups_rows.txt");

const SPLIT: &str = "20news-bydate-train";

/// Reads the matrix (1500 × 200) with its terms and groups from `20news-bydate-train.tar.gz`,
/// `20news-bydate.tar.gz`, or a folder that either was unpacked into.
///
/// # Errors
/// If the archive is missing or damaged, or one of the 1,500 posts is not in it.
pub fn read(path: &str) -> Result<Dataset, InputError> {
    let rows: Vec<(usize, &str)> = rows().collect();
    let names: Vec<String> = rows
        .iter()
        .map(|(newsgroup, file)| format!("{}/{file}", NEWSGROUPS[*newsgroup].0))
        .collect();
    let posts = match Path::new(path).is_dir() {
        true => from_folder(path, &names)?,
        false => from_archive(path, &names)?,
    };
    let quotation = quotation();
    let documents: Vec<String> = posts
        .iter()
        .map(|post| strip_quotation(strip_footer(strip_header(post)), &quotation))
        .collect();
    let labels = rows.iter().map(|(newsgroup, _)| GROUPS[NEWSGROUPS[*newsgroup].1].to_string());
    read_documents(path, names, &documents, labels.collect(), &TextOptions::paper())
}

/// Newsgroup and file of every row.
fn rows() -> impl Iterator<Item = (usize, &'static str)> {
    let lines = ROWS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let (newsgroup, file) = line.split_once(' ').expect("two words a line, as made");
        (newsgroup.parse().expect("a number below 20, as made"), file)
    })
}

fn lacking(path: &str, name: &str) -> InputError {
    InputError::Damaged {
        path: path.into(),
        what: format!("it has no post {SPLIT}/{name}, so it is not the whole training split"),
    }
}

fn from_folder(path: &str, names: &[String]) -> Result<Vec<String>, InputError> {
    let inner = Path::new(path).join(SPLIT);
    let root = if inner.is_dir() { inner } else { path.into() };
    let read = |name: &String| match std::fs::read(root.join(name)) {
        Ok(bytes) => Ok(latin1(&bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(lacking(path, name)),
        Err(e) => Err(InputError::io(path, e)),
    };
    names.iter().map(read).collect()
}

fn from_archive(path: &str, names: &[String]) -> Result<Vec<String>, InputError> {
    let file = std::fs::File::open(path).map_err(|e| InputError::io(path, e))?;
    let damaged =
        |e: std::io::Error| InputError::damaged(path, format!("its archive breaks off ({e})"));
    let mut wanted: HashMap<&str, usize> =
        (0..).zip(names).map(|(i, name)| (name.as_str(), i)).collect();
    let mut posts = vec![String::new(); names.len()];
    let mut archive = tar::Archive::new(MultiGzDecoder::new(std::io::BufReader::new(file)));
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let Some((_, name)) = name.split_once(&format!("{SPLIT}/")) else {
            continue;
        };
        if let Some(row) = wanted.remove(name) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(damaged)?;
            posts[row] = latin1(&bytes);
        }
    }
    match wanted.keys().min() {
        Some(name) => Err(lacking(path, name)),
        None => Ok(posts),
    }
}

/// What `str.isspace` means in Python: Unicode white space and the four separators.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// scikit-learn's `strip_newsgroup_header`: what follows the first blank line.
fn strip_header(post: &str) -> &str {
    post.split_once("\n\n").map_or("", |(_, body)| body)
}

/// scikit-learn's `strip_newsgroup_footer`: cut at the last line that is blank or only dashes.
fn strip_footer(post: &str) -> String {
    let lines: Vec<&str> = post.trim_matches(is_python_space).split('\n').collect();
    let is_rule = |line: &&str| line.trim_matches(is_python_space).trim_matches('-').is_empty();
    match lines.iter().rposition(is_rule) {
        Some(rule) if rule > 0 => lines[..rule].join("\n"),
        // scikit-learn's loop ends at line 0 as well when there is no such line.
        _ => post.to_string(),
    }
}

/// scikit-learn's `strip_newsgroup_quoting`: lines that quote, or say who is quoted, go.
fn strip_quotation(post: String, quotation: &Regex) -> String {
    let own = post.split('\n').filter(|line| !quotation.is_match(line));
    own.collect::<Vec<_>>().join("\n")
}

fn quotation() -> Regex {
    Regex::new(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")
        .expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_list_is_the_papers() {
        let mut sizes = [0; 6];
        rows().for_each(|(newsgroup, _)| sizes[NEWSGROUPS[newsgroup].1] += 1);
        assert_eq!(sizes, [389, 78, 316, 209, 193, 315]);
        assert!(NEWSGROUPS.is_sorted());
    }

    #[test]
    fn headers_signatures_and_quotations_go() {
        let post = "From: a\nTo: b\n\n\nIn article 7 b said\n> old\nnew\n in article\n--\nA. B.\n";
        let body = strip_footer(strip_header(post));
        assert_eq!(body, "In article 7 b said\n> old\nnew\n in article");
        assert_eq!(strip_quotation(body, &quotation()), "new\n in article");
        assert_eq!(strip_header("no blank line"), "");
        assert_eq!(strip_footer("\none\ntwo\n"), "\none\ntwo\n");
    }
}
