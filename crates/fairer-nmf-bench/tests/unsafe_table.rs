//! Every `unsafe` of the sources stands in the table of docs/reliability.md, and has its argument on the
//! spot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Lines that use the keyword: not comments, not texts.
fn uses(source: &str) -> Vec<usize> {
    let code = |line: &str| line.split("//").next().unwrap_or_default().replace("\"unsafe\"", "");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let count = |line: &str| code(line).split(|c| !is_word(c)).filter(|w| *w == "unsafe").count();
    let lines = source.lines().enumerate();
    lines.flat_map(|(at, line)| std::iter::repeat_n(at, count(line))).collect()
}

#[test]
fn every_unsafe_stands_in_the_table_with_its_argument() {
    let mut files = Vec::new();
    for folder in ["crates", "fuzz"] {
        sources(&root().join(folder), &mut files);
    }
    let mut found = BTreeMap::new();
    for path in files.iter().filter(|path| !path.ends_with(file!().rsplit('/').next().unwrap())) {
        let source = std::fs::read_to_string(path).unwrap();
        let used = uses(&source);
        let lines: Vec<&str> = source.lines().collect();
        for &at in &used {
            // On the line, or in the comment or the statement before it; a method of an `unsafe impl`
            // has that of the block in it.
            let near = &lines[at.saturating_sub(3)..(at + 2).min(lines.len())];
            let argued = near.iter().any(|line| line.contains("// SAFETY: "));
            assert!(argued, "{}, line {}: unsafe without an argument", path.display(), at + 1);
        }
        if !used.is_empty() {
            let name = path.strip_prefix(root().join("crates")).unwrap_or(path);
            found.insert(name.display().to_string(), used.len());
        }
    }
    let text = std::fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let table = text.split("## Unsafe code").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(cells.len() == 6 && cells[4].len() > 20, "where, how many, what, why: {line}");
        *told.entry(cells[1].trim_matches('`').to_owned()).or_default() +=
            cells[2].parse::<usize>().unwrap();
    }
    assert_eq!(found, told, "the sources and the table");
}
