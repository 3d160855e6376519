//! What each column of a table is for: decided from the header and the options, before parsing.

use std::collections::HashSet;

use fairer_nmf::Note;

use super::error::InputError;
use super::options::{Bins, ReadOptions, Unseen, is_file};
use super::recipe::{Missing, TableRecipe};
use super::room::Room;
use super::wishes::Wishes;
use super::written::Decimal;

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
    /// Looked at, to be described.
    Look,
    /// Not read.
    Unused,
}

/// How numbers are read that are not plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Those that are the same with either decimal mark; the others are counted.
    Open,
    /// None: cells only tell which mark they have.
    Looking,
    /// With this mark.
    Known(Decimal),
}

/// A column that becomes one 0/1 column a value.
#[derive(Debug, Clone)]
pub(crate) struct OneHot {
    pub(crate) name: String,
    pub(crate) list: usize,
    /// The values of a model, where its recipe tells them.
    pub(crate) known: Option<Vec<String>>,
}

/// The roles of all columns of a table.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) path: String,
    pub(crate) names: Vec<String>,
    /// The columns in the order of their names, to find one among millions.
    by_name: Vec<usize>,
    pub(crate) roles: Vec<Role>,
    pub(crate) missing: Missing,
    pub(crate) na_values: Vec<String>,
    pub(crate) reading: Reading,
    /// The decimal mark of a model's table, where the cells do not tell.
    pub(crate) usual: Option<Decimal>,
    pub(crate) unseen: Unseen,
    /// How many columns are numbers, and how many lists of words there are.
    pub(crate) numbers: usize,
    pub(crate) words: usize,
    /// Lists of words that make the groups.
    pub(crate) groups: Vec<usize>,
    /// Families of groups, with their lists.
    pub(crate) families: Vec<(String, usize)>,
    /// The list of the rows' weights.
    pub(crate) weights: Option<usize>,
    /// Lists of words that are cut into ranges.
    pub(crate) bins: Vec<(Bins, usize)>,
    /// Columns to be one-hot encoded.
    pub(crate) one_hot: Vec<OneHot>,
    /// The column of what the rows are called, and its list.
    pub(crate) id: Option<(String, usize)>,
    /// How other tables become the same features: what is known before parsing.
    pub(crate) recipe: TableRecipe,
    /// The list of documents.
    pub(crate) document: Option<usize>,
    /// The list of what a first column without a name holds, where that is an index.
    pub(crate) index: Option<usize>,
    pub(crate) notes: Vec<Note>,
    /// The most bytes that the table may take.
    pub(crate) most: u64,
}

impl Plan {
    /// Gives every column its role.
    pub(crate) fn new(
        path: &str,
        names: Vec<String>,
        options: &ReadOptions,
    ) -> Result<Plan, InputError> {
        Self::of_frame(path, names, &[], options)
    }

    /// Gives every column its role. Those of `index` are no features, unless an option names them.
    pub(crate) fn of_frame(
        path: &str,
        names: Vec<String>,
        index: &[String],
        options: &ReadOptions,
    ) -> Result<Plan, InputError> {
        let has_index = options.unnamed_index && names.first().is_some_and(String::is_empty);
        let mut plan = Plan::unused(path, names, options)?;
        let mut claimed: Vec<Option<&'static str>> = vec![None; plan.names.len()];
        if has_index {
            claimed[0] = Some("the index");
            // Any text will do, also none.
            plan.index = Some(plan.add_words(0, Role::Document));
        }
        let wishes = Wishes::of(options, &plan.names);
        for name in &wishes.group_by {
            let column = plan.claim(name, "--group-by", &mut claimed)?;
            let list = plan.add_words(column, Role::Word);
            plan.groups.push(list);
        }
        for name in &wishes.group_by_each {
            let column = plan.claim(name, "--group-by-each", &mut claimed)?;
            let list = plan.add_words(column, Role::Word);
            plan.families.push((name.clone(), list));
        }
        // A name that is no column may still be a file.
        let weights = wishes.weights.as_ref();
        if let Some(name) = weights.filter(|name| plan.names.contains(name) || !is_file(name)) {
            let column = plan.claim(name, "--weights", &mut claimed)?;
            plan.weights = Some(plan.add_words(column, Role::Word));
        }
        for name in &wishes.one_hot {
            let column = plan.claim(name, "--one-hot", &mut claimed)?;
            let list = plan.add_words(column, Role::Word);
            let known = wishes.values_of(name).cloned();
            plan.one_hot.push(OneHot { name: name.clone(), list, known });
        }
        for bins in &wishes.bins {
            let column = plan.position(&bins.column, "--bins")?;
            if let Role::Word(list) = plan.roles[column] {
                plan.bins.push((bins.clone(), list));
            }
        }
        if let Some(name) = &options.id {
            let column = plan.position(name, "--id")?;
            let list = match plan.roles[column] {
                Role::Word(list) => list,
                _ => {
                    plan.claim(name, "--id", &mut claimed)?;
                    plan.add_words(column, Role::Document)
                }
            };
            plan.id = Some((name.clone(), list));
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
        for name in &wishes.drop {
            let column = plan.position(name, "--drop")?;
            // Such a column is no feature anyway, so dropping it too changes nothing.
            const NO_FEATURES: [&str; 5] =
                ["--group-by", "--group-by-each", "--weights", "--id", "--drop"];
            if !claimed[column].is_some_and(|option| NO_FEATURES.contains(&option)) {
                plan.claim(name, "--drop", &mut claimed)?;
            }
        }
        plan.set_aside(index, options, &mut claimed)?;
        let free = (0..claimed.len()).filter(|&column| claimed[column].is_none());
        let free: Vec<usize> = free.collect();
        if plan.document.is_some() {
            if options.recipe.is_none() {
                plan.note_ignored(&free);
            }
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
        plan.recipe = TableRecipe {
            drop: wishes.drop,
            group_by: wishes.group_by,
            group_by_each: wishes.group_by_each,
            weights: wishes.weights.filter(|_| plan.weights.is_some()),
            missing: plan.missing,
            na_values: plan.na_values.clone(),
            merge_spellings: options.merge_spellings,
            ..TableRecipe::default()
        };
        Ok(plan)
    }

    /// Looks at every column, to describe it.
    pub(crate) fn look(
        path: &str,
        names: Vec<String>,
        options: &ReadOptions,
    ) -> Result<Plan, InputError> {
        let mut plan = Plan::unused(path, names, options)?;
        plan.roles.fill(Role::Look);
        Ok(plan)
    }

    /// Reads one column as words and nothing else.
    pub(crate) fn one_column(
        path: &str,
        names: Vec<String>,
        column: &str,
        option: &'static str,
    ) -> Result<Plan, InputError> {
        let mut plan = Plan::unused(path, names, &ReadOptions::default())?;
        let column = plan.position(column, option)?;
        plan.add_words(column, Role::Word);
        Ok(plan)
    }

    fn unused(
        path: &str,
        mut names: Vec<String>,
        options: &ReadOptions,
    ) -> Result<Plan, InputError> {
        let mut notes = Vec::new();
        for (column, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
            *name = format!("column_{}", column + 1);
            let sentence = format!(
                "a column of {path} has no name and is called {name}; if it only numbers the rows, leave it out with `--drop {name}`"
            );
            notes.push(Note::new("column-without-name", sentence));
        }
        let mut by_name: Vec<usize> = (0..names.len()).collect();
        by_name.sort_unstable_by(|&a, &b| names[a].cmp(&names[b]));
        if let Some(pair) = by_name.windows(2).find(|pair| names[pair[0]] == names[pair[1]]) {
            let column = names[pair[0]].clone();
            return Err(InputError::DuplicateColumn { path: path.into(), column });
        }
        Ok(Plan {
            path: path.into(),
            roles: vec![Role::Unused; names.len()],
            names,
            by_name,
            missing: options.missing,
            na_values: Wishes::na_values(options),
            reading: options.decimal.map_or(Reading::Open, Reading::Known),
            usual: options.recipe.as_ref().and_then(|recipe| recipe.decimal),
            unseen: options.unseen,
            numbers: 0,
            words: 0,
            groups: Vec::new(),
            families: Vec::new(),
            weights: None,
            bins: Vec::new(),
            one_hot: Vec::new(),
            id: None,
            recipe: TableRecipe::default(),
            document: None,
            index: None,
            notes,
            most: u64::MAX,
        })
    }

    /// What the table may take.
    pub(crate) fn room(&self) -> Room<'_> {
        Room::of(&self.path, self.most)
    }

    /// Lists that are kept of rows, too, that are left out: who they are, and of which group.
    pub(crate) fn lists_of_all_rows(&self) -> impl Iterator<Item = usize> {
        let id = self.id.as_ref().map(|(_, list)| *list);
        let of_family = |list: &usize| self.families.iter().any(|(_, of)| of == list);
        let id = id.filter(|list| !self.groups.contains(list) && !of_family(list));
        let families = self.families.iter().map(|(_, list)| *list);
        self.groups.iter().copied().chain(families).chain(id)
    }

    fn position(&self, name: &str, option: &'static str) -> Result<usize, InputError> {
        let order = |column: &usize| self.names[*column].as_str().cmp(name);
        let found = self.by_name.binary_search_by(order).map(|at| self.by_name[at]);
        found.map_err(|_| InputError::no_such_column(&self.path, name, option, &self.names))
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
            self.one_hot.iter().any(|c| value(&c.name).is_some_and(|v| v.starts_with('=')))
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

    /// Takes the index of a frame off what nobody has asked for.
    fn set_aside(
        &mut self,
        index: &[String],
        options: &ReadOptions,
        claimed: &mut [Option<&'static str>],
    ) -> Result<(), InputError> {
        for name in index {
            let column = self.position(name, "the index")?;
            if claimed[column].is_some() {
                continue;
            }
            claimed[column] = Some("the index");
            if options.recipe.is_none() && self.document.is_none() {
                let sentence = format!(
                    "`{name}` is the index of the pandas frame in {} and no feature; reset_index() before it is written makes it one",
                    self.path
                );
                self.notes.push(Note::new("index-left-out", sentence));
            }
        }
        Ok(())
    }

    fn note_ignored(&mut self, free: &[usize]) {
        if free.is_empty() {
            return;
        }
        let names: Vec<&str> = free.iter().map(|&c| self.names[c].as_str()).collect();
        let names = names.join(", ");
        let sentence = format!("with --text the features are the terms; not used: {names}");
        self.notes.push(Note::new("columns-not-used", sentence));
    }
}
