//! What each column of a table is for: decided from the header and the options, before parsing.

use std::collections::HashSet;

use super::columns;
use super::error::InputError;
use super::options::{Missing, ReadOptions};

/// Between the cells of the columns that make a group together.
pub(crate) const GROUP_SEPARATOR: &str = " | ";

/// What a column is for, with its place among the columns of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A feature: the n-th column of the matrix.
    Number(usize),
    /// A category (group or one-hot): the n-th list of words.
    Word(usize),
    /// A document, which may be empty: the n-th list of words.
    Document(usize),
    /// Not read.
    Unused,
}

/// The roles of all columns of a table.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) path: String,
    pub(crate) names: Vec<String>,
    pub(crate) roles: Vec<Role>,
    pub(crate) missing: Missing,
    /// How many columns are numbers, and how many lists of words there are.
    pub(crate) numbers: usize,
    pub(crate) words: usize,
    /// Lists of words that make the groups.
    pub(crate) groups: Vec<usize>,
    /// Families of groups, with their lists.
    pub(crate) families: Vec<(String, usize)>,
    /// Columns to be one-hot encoded, with their lists.
    pub(crate) one_hot: Vec<(String, usize)>,
    /// The list of the rows' weights.
    pub(crate) weights: Option<usize>,
    /// The list of documents.
    pub(crate) document: Option<usize>,
    /// The list of what a first column without a name holds, where that is an index.
    pub(crate) index: Option<usize>,
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// Gives every column its role.
    pub(crate) fn new(
        path: &str,
        names: Vec<String>,
        options: &ReadOptions,
    ) -> Result<Plan, InputError> {
        let has_index = options.unnamed_index && names.first().is_some_and(String::is_empty);
        let mut plan = Plan::unused(path, names, options.missing)?;
        let mut claimed: Vec<Option<&'static str>> = vec![None; plan.names.len()];
        if has_index {
            claimed[0] = Some("the index");
            // Any text will do, also none.
            plan.index = Some(plan.add_words(0, Role::Document));
        }
        for name in &columns::resolve(&options.group_by, &plan.names) {
            let column = plan.claim(name, "--group-by", &mut claimed)?;
            let list = plan.add_words(column, Role::Word);
            plan.groups.push(list);
        }
        for name in &columns::resolve(&options.group_by_each, &plan.names) {
            let column = plan.claim(name, "--group-by-each", &mut claimed)?;
            let list = plan.add_words(column, Role::Word);
            plan.families.push((name.clone(), list));
        }
        // A name that is no column may still be a file.
        let weights = options.weights.as_ref();
        if let Some(name) =
            weights.filter(|name| plan.names.contains(name) || !crate::labels::is_file(name))
        {
            let column = plan.claim(name, "--weights", &mut claimed)?;
            plan.weights = Some(plan.add_words(column, Role::Word));
        }
        for name in &columns::resolve(&options.one_hot, &plan.names) {
            let column = plan.claim(name, "--one-hot", &mut claimed)?;
            let list = plan.add_words(column, Role::Word);
            plan.one_hot.push((name.clone(), list));
        }
        if let Some(text) = &options.text {
            let Some(name) = &text.column else {
                return Err(InputError::BadOption {
                    option: "--text",
                    what: format!("which column of {path} holds the documents?"),
                });
            };
            if !options.one_hot.is_empty() {
                return Err(InputError::BadOption {
                    option: "--one-hot",
                    what: "with --text the features are the terms: leave one of the two out".into(),
                });
            }
            let column = plan.claim(name, "--text", &mut claimed)?;
            plan.document = Some(plan.add_words(column, Role::Document));
        }
        for name in &columns::resolve(&options.drop, &plan.names) {
            let column = plan.position(name, "--drop")?;
            // A column of groups or weights is no feature anyway, so dropping it too changes nothing.
            if !matches!(claimed[column], Some("--group-by" | "--group-by-each" | "--weights")) {
                plan.claim(name, "--drop", &mut claimed)?;
            }
        }
        let free = (0..claimed.len()).filter(|&column| claimed[column].is_none());
        let free: Vec<usize> = free.collect();
        if plan.document.is_some() {
            plan.note_ignored(&free);
        } else {
            if let Some((model, known)) = &options.known_features {
                plan.check_features(&free, model, known)?;
            }
            for column in free {
                plan.roles[column] = Role::Number(plan.numbers);
                plan.numbers += 1;
            }
            if plan.numbers + plan.one_hot.len() == 0 {
                return Err(InputError::NoFeatures { path: path.into() });
            }
        }
        Ok(plan)
    }

    /// Reads one column as words and nothing else.
    pub(crate) fn one_column(
        path: &str,
        names: Vec<String>,
        column: &str,
        option: &'static str,
    ) -> Result<Plan, InputError> {
        let mut plan = Plan::unused(path, names, Missing::Error)?;
        let column = plan.position(column, option)?;
        plan.add_words(column, Role::Word);
        Ok(plan)
    }

    fn unused(path: &str, mut names: Vec<String>, missing: Missing) -> Result<Plan, InputError> {
        let mut notes = Vec::new();
        for (column, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
            *name = format!("column_{}", column + 1);
            notes.push(format!(
                "a column of {path} has no name and is called {name}; if it only numbers the rows, leave it out with `--drop {name}`"
            ));
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(InputError::DuplicateColumn { path: path.into(), column: pair[0].clone() });
        }
        Ok(Plan {
            path: path.into(),
            roles: vec![Role::Unused; names.len()],
            names,
            missing,
            numbers: 0,
            words: 0,
            groups: Vec::new(),
            families: Vec::new(),
            one_hot: Vec::new(),
            weights: None,
            document: None,
            index: None,
            notes,
        })
    }

    fn position(&self, name: &str, option: &'static str) -> Result<usize, InputError> {
        let found = self.names.iter().position(|known| known == name);
        found.ok_or_else(|| InputError::no_such_column(&self.path, name, option, &self.names))
    }

    fn claim(
        &self,
        name: &str,
        option: &'static str,
        claimed: &mut [Option<&'static str>],
    ) -> Result<usize, InputError> {
        let column = self.position(name, option)?;
        match claimed[column].replace(option) {
            None => Ok(column),
            Some(first) => Err(InputError::ColumnUsedTwice {
                path: self.path.clone(),
                column: name.into(),
                first,
                second: option,
            }),
        }
    }

    fn add_words(&mut self, column: usize, role: fn(usize) -> Role) -> usize {
        let list = self.words;
        self.roles[column] = role(list);
        self.words += 1;
        list
    }

    /// Every free column is a feature of the model and the other way round. Values of one-hot
    /// columns are not known yet.
    fn check_features(
        &self,
        free: &[usize],
        model: &str,
        known: &[String],
    ) -> Result<(), InputError> {
        let found: HashSet<&str> = free.iter().map(|&c| self.names[c].as_str()).collect();
        let wanted: HashSet<&str> = known.iter().map(String::as_str).collect();
        let made = |name: &str| {
            let value = |column: &String| name.strip_prefix(column.as_str());
            self.one_hot.iter().any(|(c, _)| value(c).is_some_and(|v| v.starts_with('=')))
        };
        let unknown = free.iter().map(|&c| &self.names[c]).filter(|n| !wanted.contains(n.as_str()));
        let missing = known.iter().filter(|n| !found.contains(n.as_str()) && !made(n));
        let unknown: Vec<String> = unknown.cloned().collect();
        let missing: Vec<String> = missing.cloned().collect();
        match unknown.is_empty() && missing.is_empty() {
            true => Ok(()),
            false => {
                let (path, dictionary) = (self.path.clone(), model.into());
                Err(InputError::OtherFeatures { path, dictionary, unknown, missing })
            }
        }
    }

    fn note_ignored(&mut self, free: &[usize]) {
        if free.is_empty() {
            return;
        }
        let names: Vec<&str> = free.iter().map(|&c| self.names[c].as_str()).collect();
        self.notes.push(format!(
            "with --text the features are the terms; not used: {}",
            names.join(", ")
        ));
    }
}
