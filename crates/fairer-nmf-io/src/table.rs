//! Tables: what their cells held leaves as a data set.

use super::assemble::{dense, group_labels, in_file_order, weight};
use super::categories;
use super::cells::{Number, Part};
use super::dataset::{Dataset, Origin, RowOrigin};
use super::error::InputError;
use super::look::{Column, Look};
use super::matrix::Matrix;
use super::missing;
use super::plan::{Plan, Reading};
use super::profile::Profile;
use super::text::{self, TextOptions};
use super::written::{self, Decimal};

/// A parsed table: numbers (row-major, `rows × plan.numbers`) and words.
pub(crate) struct Table<T> {
    plan: Plan,
    numbers: Vec<T>,
    part: Part,
}

impl<T: Number> Table<T> {
    /// Whatever the parser met on its way.
    pub(crate) fn unchecked(plan: Plan, numbers: Vec<T>, part: Part) -> Self {
        Table { plan, numbers, part }
    }

    /// Checks what the parser met on its way.
    pub(crate) fn new(plan: Plan, mut numbers: Vec<T>, part: Part) -> Result<Self, InputError> {
        part.issues.check(&plan, part.records)?;
        if part.rows == 0 {
            let what = match part.records {
                0 => "there is no row after the header".to_string(),
                n => missing::all_incomplete(n),
            };
            let path = plan.path;
            return Err(InputError::Empty { path, what });
        }
        numbers.truncate(part.rows * plan.numbers);
        Ok(Table { plan, numbers, part })
    }

    /// The words of a table read with [`Plan::one_column`].
    pub(crate) fn into_words(mut self) -> Vec<String> {
        self.part.words.pop().unwrap_or_default()
    }

    /// What a table that was looked at holds ([`Plan::look`]).
    pub(crate) fn into_look(self) -> Look {
        let Table { plan, part, .. } = self;
        let evidence = &part.issues.evidence;
        let decimal = match plan.reading {
            Reading::Known(decimal) => Some(decimal),
            _ if evidence.comma.is_some() && evidence.point.is_none() => Some(Decimal::Comma),
            _ if evidence.point.is_some() => Some(Decimal::Point),
            _ => None,
        };
        let of = |(name, profile): (&String, &Profile)| {
            Column::of(name, profile, decimal.unwrap_or(Decimal::Point))
        };
        let columns = plan.names.iter().zip(&part.profiles).map(of).collect();
        Look { rows: part.records, columns, decimal }
    }

    /// The matrix, the names and the groups. Formats without lines say `lines: false`.
    pub(crate) fn into_dataset(
        self,
        options: Option<&TextOptions>,
        lines: bool,
    ) -> Result<Dataset, InputError> {
        let Table { mut plan, numbers, mut part } = self;
        let decimal = match plan.reading {
            Reading::Known(decimal) => decimal,
            _ => Decimal::Point,
        };
        plan.recipe.decimal = (decimal == Decimal::Comma).then_some(decimal);
        for (bins, list) in &plan.bins {
            let (words, lost) = (&mut part.words[*list], &mut part.lost[*list]);
            let cuts = categories::cut(bins, decimal, words, lost)?;
            plan.recipe.bins.push((bins.column.clone(), cuts));
        }
        let mut notes = plan.notes.clone();
        if plan.recipe.merge_spellings {
            // Column by column: `w | 18` and `W | 30` are different groups of the same spelling.
            let families = plan.families.iter().map(|(_, list)| *list);
            for list in plan.groups.iter().copied().chain(families) {
                let (words, lost) = (&mut part.words[list], &mut part.lost[list]);
                notes.extend(categories::merge_spellings(words, lost));
            }
        }
        let labels = (!plan.groups.is_empty()).then(|| group_labels(&plan, &part.words, part.rows));
        let lost =
            (!plan.groups.is_empty()).then(|| group_labels(&plan, &part.lost, part.issues.dropped));
        let weights = plan.weights.map(|list| {
            let line = |row: usize| part.places.find(row).map_or(0, |(_, line)| line);
            let words = part.words[list].iter().enumerate();
            let of_row = |(row, word): (usize, &String)| {
                let plain = written::parse(word, decimal).map(|number| number.value.to_string());
                weight(plain.as_deref().unwrap_or(word), &plan.path, line(row))
            };
            words.map(of_row).collect()
        });
        let weights = weights.transpose()?;
        let of_families = |words: &[Vec<String>]| -> Vec<(String, Vec<String>)> {
            let family = |(name, list): &(String, usize)| (name.clone(), words[*list].clone());
            plan.families.iter().map(family).collect()
        };
        let (families, lost_families) = (of_families(&part.words), of_families(&part.lost));
        notes.extend(part.issues.mixed_units(&plan, part.records));
        let ids =
            (plan.id.as_ref()).map(|(name, list)| (name.clone(), in_file_order(&part, *list)));
        let (matrix, features, recipe) = match (plan.document, options) {
            (Some(list), Some(options)) => {
                let documents = std::mem::take(&mut part.words[list]);
                let made = text::vectorize(&plan.path, &documents, options)?;
                notes.extend(made.notes);
                (Matrix::Sparse(made.matrix), made.terms, Some(made.recipe))
            }
            _ => {
                let made = dense(&plan, numbers, &part, &mut notes)?;
                plan.recipe.one_hot = made.one_hot;
                (Matrix::Dense(T::dense(made.array)), made.names, None)
            }
        };
        let index = plan.index.map(|list| std::mem::take(&mut part.words[list]));
        let one_hot = plan.one_hot.into_iter().map(|one_hot| one_hot.name).collect();
        let (rows_left_out, vanished) = (part.issues.dropped, part.issues.vanished);
        let Part { places, records, .. } = part;
        let rows = match lines {
            true => RowOrigin::Lines { places, records },
            false => RowOrigin::Records { places, records },
        };
        let origin = Origin { path: plan.path, rows };
        Ok(Dataset {
            features,
            labels,
            families,
            weights,
            vanished,
            notes,
            recipe,
            table: Some(plan.recipe),
            ids,
            rows_left_out,
            lost_labels: lost.unwrap_or_default(),
            lost_families,
            one_hot,
            index,
            ..Dataset::bare(matrix, origin)
        })
    }
}
