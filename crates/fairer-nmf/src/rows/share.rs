//! A share of the rows: what a worker keeps, and how it answers.
//!
//! A share has the W of every run that is under way. It may lose them (its process dies, another
//! makes the share anew): it then says so, and is asked again with all that makes W anew. A
//! question that comes twice is answered twice alike, and W moves once.

use super::digest::{digest, to_parts};
use super::moments::InMemory;
use super::request::{Ask, Begin, Recipe, Request};
use super::{RowStep, pass};
use crate::data::{Element, Group, GroupedData, Matrix, Table, check_entries};
use crate::dictionary::Dictionary;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};
use std::collections::HashMap;

/// Some rows of data that are spread over processes, without the matrix, which stays with its
/// owner and is lent for every answer.
#[derive(Debug)]
pub struct Share<T> {
    /// All groups; some may have no rows here.
    groups: Vec<Group>,
    /// Number of the first row among the rows of all shares.
    first: u64,
    runs: HashMap<u64, Kept<T>>,
}

/// The W of a run.
#[derive(Debug)]
struct Kept<T> {
    version: u64,
    only: Option<usize>,
    scale: Vec<f64>,
    rank: usize,
    /// Rows in the order of the groups.
    w: Vec<T>,
    /// The answer that brought W to its version.
    last: Vec<f64>,
}

impl<T: Element> Share<T> {
    /// Takes rows with the number of every row's group, among `groups`. They are `first` and those
    /// after it among the rows of all shares: what a row begins with at random depends on that
    /// number.
    ///
    /// # Errors
    /// A negative, NaN or infinite entry, a wrong number of codes or a code that is no group's, or
    /// an empty matrix.
    pub fn new(matrix: &Matrix<'_, T>, codes: &[usize], groups: usize, first: u64) -> Result<Self> {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if rows == 0 || columns == 0 {
            return Err(Error::EmptyMatrix { rows, columns });
        }
        if codes.len() != rows {
            return Err(Error::LabelCount { labels: codes.len(), rows });
        }
        let none = nobody();
        let mut own = vec![none; groups];
        for (row, &code) in codes.iter().enumerate() {
            let group = own.get_mut(code).ok_or_else(|| Error::Parameter {
                name: "group code",
                value: code.to_string(),
                expected: "a code is the number of a group, from 0",
            })?;
            group.rows.push(row);
        }
        check_entries(&matrix.clone().into())?;
        Ok(Self { groups: own, first, runs: HashMap::new() })
    }

    /// Answers a question ([`Request::to_bytes`]) about the rows of `matrix`, the one that the share
    /// was made of; none where the W that it is about is lost.
    ///
    /// # Errors
    /// A question that cannot be understood.
    pub fn answer(&mut self, matrix: &Matrix<'_, T>, question: &[u8]) -> Result<Option<Vec<f64>>> {
        let (request, whole) = Request::from_bytes(question)?;
        for run in &request.head.over {
            self.runs.remove(run);
        }
        let numbers = &request.numbers[..];
        let (l, recipe) = (self.groups.len(), &*request.recipe);
        Ok(match request.head.ask {
            Ask::Survey => Some(self.with_data(matrix, numbers, None, survey)),
            Ask::Digest => {
                let first = self.first;
                Some(self.with_data(matrix, &[], None, |data| to_parts(digest(data, first)).into()))
            }
            Ask::Grams | Ask::Products { .. } | Ask::Whole => {
                let (scale, numbers) =
                    numbers.split_at_checked(matrix.columns()).ok_or_else(short)?;
                let (norms, numbers) = numbers.split_at_checked(l).ok_or_else(short)?;
                self.groups.iter_mut().zip(norms).for_each(|(g, n)| g.squared_norm = *n);
                let ask = request.head.ask;
                Some(self.with_data(matrix, scale, None, |data| moments(data, ask, numbers))?)
            }
            Ask::Pass { step } => {
                let version = request.head.version;
                if let Some(kept) = self.runs.get(&request.head.run)
                    && kept.version == version + 1
                    && step.parts().is_some()
                    && !kept.last.is_empty()
                {
                    return Ok(Some(kept.last.clone()));
                }
                let Some(mut kept) = self.kept(matrix, &request, whole, recipe) else {
                    return Ok(None);
                };
                let h = dictionary(&kept, numbers)?;
                let answer = self.pass(matrix, &mut kept, &h, step);
                if step.parts().is_some() {
                    kept.version += 1;
                    kept.last.clone_from(&answer);
                }
                self.runs.insert(request.head.run, kept);
                Some(answer)
            }
            Ask::SquaredError { group } => {
                self.with_rows(matrix, &request, whole, |data, h, w| {
                    vec![errors(data, h, w, group).iter().sum()]
                })?
            }
            Ask::Resample { draws, seed } => {
                let first = self.first;
                self.with_rows(matrix, &request, whole, |data, h, w| {
                    resample(data, h, w, draws, (seed, first))
                })?
            }
        })
    }

    /// What `find` finds of the rows and their W for the dictionary of a question; none where that W is lost.
    fn with_rows(
        &mut self,
        matrix: &Matrix<'_, T>,
        request: &Request,
        whole: bool,
        find: impl FnOnce(&GroupedData<'_>, &Dictionary, &[T]) -> Vec<f64>,
    ) -> Result<Option<Vec<f64>>> {
        let Some(kept) = self.kept(matrix, request, whole, &request.recipe) else {
            return Ok(None);
        };
        let h = dictionary(&kept, &request.numbers)?;
        let found = self.with_data(matrix, &kept.scale, kept.only, |data| find(data, &h, &kept.w));
        self.runs.insert(request.head.run, kept);
        Ok(Some(found))
    }

    /// Takes out the W that a question is about, made anew where it is lost and the question tells
    /// how.
    fn kept(
        &mut self,
        matrix: &Matrix<'_, T>,
        request: &Request,
        whole: bool,
        recipe: &Recipe,
    ) -> Option<Kept<T>> {
        if let Some(kept) = self.runs.remove(&request.head.run)
            && kept.version == request.head.version
        {
            return Some(kept);
        }
        whole.then(|| self.made(matrix, request.head.version, recipe))
    }

    fn made(&mut self, matrix: &Matrix<'_, T>, version: u64, recipe: &Recipe) -> Kept<T> {
        let Recipe { only, rank, .. } = *recipe;
        let groups = self.groups.iter().enumerate().filter(|(l, _)| only.is_none_or(|o| o == *l));
        let rows = groups.flat_map(|(_, g)| g.rows.iter().copied());
        let w = match recipe.begin {
            Begin::Zero => vec![T::default(); rows.count() * rank],
            Begin::Random { seed, restart } => rows
                .flat_map(|row| {
                    let purpose = Purpose::Representation(restart);
                    let mut stream = Stream::new(seed, purpose, self.first + row as u64);
                    (0..rank).map(move |_| T::from_f64(stream.uniform()))
                })
                .collect(),
        };
        let scale = recipe.scale.clone();
        let mut kept = Kept { version, only, scale, rank, w, last: Vec::new() };
        for (h, step) in recipe.replay() {
            self.pass(matrix, &mut kept, &h, step);
        }
        kept
    }

    fn pass(
        &mut self,
        matrix: &Matrix<'_, T>,
        kept: &mut Kept<T>,
        h: &Dictionary,
        step: RowStep,
    ) -> Vec<f64> {
        let Kept { w, scale, only, .. } = kept;
        self.with_data(matrix, scale, *only, |data| {
            let found = pass::run(Table::of(data), h, step, w, &mut pass::Workers::default());
            found.into_iter().flat_map(|s| s.gram.into_iter().chain(s.cross)).collect()
        })
    }

    /// Lends the groups to the data for some work.
    fn with_data<R>(
        &mut self,
        matrix: &Matrix<'_, T>,
        scale: &[f64],
        only: Option<usize>,
        work: impl FnOnce(&GroupedData<'_>) -> R,
    ) -> R {
        let mut rest = std::mem::take(&mut self.groups);
        let groups = match only {
            None => std::mem::take(&mut rest),
            Some(l) => {
                let empty = nobody();
                vec![std::mem::replace(&mut rest[l], empty)]
            }
        };
        let scale = (!scale.is_empty()).then(|| scale.to_vec());
        let mut data = GroupedData::of_block(matrix.clone().into(), groups, scale);
        let result = work(&data);
        match only {
            None => rest = std::mem::take(&mut data.groups),
            Some(l) => rest[l] = data.groups.swap_remove(0),
        }
        self.groups = rest;
        result
    }
}

/// A group without rows.
fn nobody() -> Group {
    Group { name: String::new(), family: None, rows: Vec::new(), squared_norm: 0.0 }
}

fn short() -> Error {
    let reason = "a question to a share of the rows has too few numbers: do all rows have the same features?";
    Error::Rows { reason: reason.to_owned() }
}

fn dictionary<T>(kept: &Kept<T>, numbers: &[f64]) -> Result<Dictionary> {
    let (rank, features) = (kept.rank, kept.scale.len());
    if numbers.len() != rank * features {
        return Err(short());
    }
    Ok(Dictionary { rank, features, values: numbers.to_vec() })
}

/// Rows, stored entries and entries that are not zero of every group, Σ stored² over rows, ‖X_ℓ‖²,
/// and Σ x² of every column without scale.
fn survey(data: &GroupedData<'_>) -> Vec<f64> {
    let (mut counts, mut norms) = ([Vec::new(), Vec::new(), Vec::new()], Vec::new());
    let mut squares = 0.0;
    for group in data.groups() {
        let (mut stored, mut nonzero) = (0.0, 0.0);
        for &row in &group.rows {
            let mut here = 0.0;
            data.matrix.for_each_in_row(row, |_, x| {
                here += 1.0;
                nonzero += if x == 0.0 { 0.0 } else { 1.0 };
            });
            stored += here;
            squares += here * here;
        }
        counts[0].push(group.rows.len() as f64);
        counts[1].push(stored);
        counts[2].push(nonzero);
    }
    norms.extend(data.group_squared_norms());
    let columns = data.column_square_sums();
    counts.concat().into_iter().chain([squares]).chain(norms).chain(columns).collect()
}

fn moments(data: &GroupedData<'_>, ask: Ask, numbers: &[f64]) -> Result<Vec<f64>> {
    let own = InMemory::new(data);
    let groups = data.groups().len();
    let weights = numbers.get(..groups);
    match (ask, weights) {
        (Ask::Grams, _) => Ok((0..groups).flat_map(|l| own.gram(l)).collect()),
        (Ask::Whole, Some(weights)) => Ok(own.sum_of_grams(weights)),
        (Ask::Products { columns }, Some(weights)) => {
            let v = &numbers[groups..];
            if v.len() != columns * data.features() {
                return Err(short());
            }
            let found = own.by_rows(weights, v, columns);
            Ok(found.image.into_iter().chain(found.grams.into_iter().flatten()).collect())
        }
        _ => Err(short()),
    }
}

/// ‖x_i − w_iH‖² of a group's rows.
fn errors<T: Element>(data: &GroupedData<'_>, h: &Dictionary, w: &[T], group: usize) -> Vec<f64> {
    let rows = |groups: &[Group]| groups.iter().map(|g| g.rows.len()).sum::<usize>();
    let before = rows(&data.groups()[..group]) * h.rank;
    let own = data.groups()[group].rows.len() * h.rank;
    pass::row_squared_errors(data, group, h, &w[before..][..own])
}

/// P(c ≤ k) of a Poisson variable of mean 1, k = 0, 1, …; beyond these the chance is below 1e-13.
fn poisson() -> Vec<f64> {
    let (mut chance, mut below) = ((-1.0f64).exp(), 0.0);
    (1..16)
        .map(|k| {
            below += chance;
            chance /= f64::from(k);
            below
        })
        .collect()
}

/// Sums over rows with counts that are Poisson of mean 1 and depend on (seed, row, draw) alone
/// (Hanley and MacGibbon 2006; Chamandy et al. 2012): for many rows the bootstrap's.
fn resample<T: Element>(
    data: &GroupedData<'_>,
    h: &Dictionary,
    w: &[T],
    draws: usize,
    (seed, first): (u64, u64),
) -> Vec<f64> {
    let steps = poisson();
    let mut sums = vec![0.0; data.groups().len() * draws * 2];
    for (l, own) in sums.chunks_exact_mut(draws * 2).enumerate() {
        for (&row, error) in data.groups()[l].rows.iter().zip(errors(data, h, w, l)) {
            let norm = data.row_squared_norm(row);
            let mut stream = Stream::new(seed, Purpose::Resample, first + row as u64);
            for sums in own.chunks_exact_mut(2) {
                let chance = stream.uniform();
                let count = steps.iter().take_while(|&&below| chance >= below).count() as f64;
                sums[0] += count * error;
                sums[1] += count * norm;
            }
        }
    }
    sums
}
