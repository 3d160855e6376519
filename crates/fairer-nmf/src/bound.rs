//! A lower bound on the worst loss that *any* rank-r model can have with given baselines.
//!
//! For weights w ≥ 0 with Σw = 1, every rank-r model, non-negative or not, has
//! Σ w_ℓ f_ℓ² ≥ tail_r(w), the sum of all but the r largest eigenvalues of
//! S(w) = Σ w_ℓ X_ℓᵀX_ℓ/N_ℓ² (Eckart and Young). A worst loss of t means f_ℓ ≤ t + e_ℓ with
//! e_ℓ = E_ℓ/N_ℓ, so Σ w_ℓ(t + e_ℓ)² ≥ tail_r(w), which bounds t from below for every w. The best w
//! is searched for (`search`, `reduced`); any w gives a valid bound, and the one that is
//! reported is proved (`certify`). The rows are behind their door
//! ([`Moments`](crate::rows::Moments)).

mod certify;
mod reduced;
mod search;

use crate::criterion::{Criterion, Minimised, root};
use crate::data::GroupedData;
use crate::digits::{four_digits, four_digits_below};
use crate::rows::{RowGroup, Rows, Units, hold};
use crate::{Note, Result};
use serde::{Deserialize, Deserializer, Serialize};
use std::time::Instant;

/// The bound, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoundReport {
    /// No rank-r model has a worst loss below this.
    pub value: Option<f64>,
    /// The weights of the groups (sum 1) that give it: those that are hardest to serve together.
    pub weights: Vec<f64>,
    /// Why there is no bound.
    #[serde(deserialize_with = "note_or_words")]
    pub absent: Option<Note>,
}

/// Models of before have the words alone.
fn note_or_words<'d, D: Deserializer<'d>>(from: D) -> std::result::Result<Option<Note>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Why {
        Note(Note),
        Words(String),
    }
    Ok(Option::deserialize(from)?.map(|why| match why {
        Why::Note(note) => note,
        Why::Words(words) => Note::new("no-bound", words),
    }))
}

impl BoundReport {
    pub(crate) fn absent(code: &'static str, why: impl Into<String>) -> Self {
        Self { value: None, weights: Vec::new(), absent: Some(Note::new(code, why)) }
    }

    pub(crate) fn not_asked() -> Self {
        Self::absent("bound-not-asked", "not asked for")
    }

    /// How good a model of this rank is whose worst loss, or adjusted loss, is known, in one sentence.
    #[must_use]
    pub fn certificate(&self, rank: usize, of: Minimised, worst: f64) -> Note {
        let worst = format!("worst {of} {}", four_digits(worst));
        match (self.value, &self.absent) {
            (Some(bound), _) => {
                let bound = four_digits_below(bound);
                Note::new("bounded", format!("{worst}; no rank-{rank} model can be below {bound}"))
            }
            (None, Some(Note { code, sentence: why })) => Note {
                code: code.clone(),
                sentence: format!("{worst}; no bound on rank-{rank} models: {why}"),
            },
            (None, None) => Note::new("no-bound", worst),
        }
    }
}

/// Whether the spectrum of a matrix of that side is searched, where making it costs so many multiplications for so many stored entries.
fn is_affordable(side: usize, cost: f64, entries: f64, rank: usize) -> bool {
    side <= MAX_SIDE && cost <= AFFORDABLE.max(SHARE_OF_A_FIT * entries * rank as f64)
}

/// Largest side of the matrix that is factorised, min(m, n): 1.2 GB.
const MAX_SIDE: usize = 10_000;
/// Multiplications, for making and factorising it, that are always affordable: a few seconds.
const AFFORDABLE: f64 = 6e10;
/// And for every stored entry of the data and topic: a third of what a default fit takes.
const SHARE_OF_A_FIT: f64 = 128.0;
/// What the squared relative errors of a model are good to, in units of the rounding of its data:
/// a bound must not exceed what is measured either.
const MEASURED: f64 = 8.0;

/// The bound for baselines `errors` (E_ℓ).
pub fn global_bound(data: &GroupedData<'_>, rank: usize, errors: &[f64]) -> BoundReport {
    bound_of_rows(&*hold(data, Units::Given), rank, errors, None)
        .expect("rows in memory can always be reached")
}

/// The same for rows behind the door and baselines in their units, with a search for the weights
/// that ends at the deadline.
pub(crate) fn bound_of_rows(
    rows: &dyn Rows,
    rank: usize,
    errors: &[f64],
    deadline: Option<Instant>,
) -> Result<BoundReport> {
    if !rows.is_complete() {
        return Ok(BoundReport::absent(
            "bound-unobserved",
            "it holds for data without unobserved cells alone",
        ));
    }
    let groups = rows.groups();
    let mut moments = rows.moments();
    let side = moments.side();
    let (cost, entries) = moments.cost();
    if !is_affordable(side, cost, entries, rank) {
        let why = format!(
            "the spectrum of a {side} x {side} problem is beyond the size limit of the bound"
        );
        return Ok(BoundReport::absent("bound-too-large", why));
    }
    let offset =
        |(&offset, g): (&f64, &RowGroup)| Criterion { offset, scale: g.norm() }.relative_offset();
    let e: Vec<f64> = errors.iter().zip(groups).map(offset).collect();
    // An error is never negative, so no loss is below −e_ℓ.
    let trivial = e.iter().map(|e| -e).fold(f64::NEG_INFINITY, f64::max);
    let mut best = BoundReport { value: Some(trivial), weights: even(groups.len()), absent: None };
    if rank >= side {
        return Ok(best);
    }
    let left = deadline.map(|end| end.saturating_duration_since(Instant::now()).as_secs_f64());
    if left.is_some_and(|left| left < seconds(side, rank)) {
        let why = "it would take longer than the time that is left";
        return Ok(BoundReport::absent("bound-out-of-time", why));
    }
    moments.keep()?;
    let found = search::search(&*moments, rank, &e, deadline)?;
    let (whole, columns) = moments.whole(&found.weights, &found.vectors, found.columns)?;
    let Some(tail) = certify::certified_tail(&whole, side, moments.summed(), rank, columns)? else {
        return Ok(best);
    };
    let value = root(&found.weights, &e, (tail - MEASURED * moments.rounding()).max(0.0));
    if value > trivial {
        best = BoundReport { value: Some(value), weights: found.weights, absent: None };
    }
    Ok(best)
}

/// What a search with so many eigenvectors takes, roughly: some forty products and factorisations of them, at 10⁹ multiplications a second.
fn seconds(side: usize, rank: usize) -> f64 {
    let (n, r) = (side as f64, rank as f64);
    40e-9 * (n * n * r + n * r * r)
}

fn even(groups: usize) -> Vec<f64> {
    vec![1.0 / groups as f64; groups]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use std::time::Duration;

    #[test]
    fn a_certificate_says_both_numbers_and_rounds_the_bound_down() {
        let of = |value: f64| BoundReport { value: Some(value), ..BoundReport::default() };
        let said = of(0.12349).certificate(3, Minimised::AdjustedLoss, 0.123_46);
        assert_eq!(said.code, "bounded");
        assert_eq!(
            said.sentence,
            "worst adjusted loss 0.1235; no rank-3 model can be below 0.1234"
        );
        assert!(
            of(-0.000_01)
                .certificate(3, Minimised::Loss, -1e-9)
                .sentence
                .ends_with("below -0.0001")
        );
        let absent = BoundReport::not_asked().certificate(2, Minimised::Loss, -1e-9);
        assert_eq!(absent.code, "bound-not-asked");
        assert_eq!(absent.sentence, "worst loss 0.0000; no bound on rank-2 models: not asked for");
        let none = BoundReport::default().certificate(2, Minimised::Loss, 1.0);
        assert_eq!((&*none.code, &*none.sentence), ("no-bound", "worst loss 1.0000"));
    }

    #[test]
    fn reports_of_models_of_before_have_words_alone() {
        for report in [BoundReport::not_asked(), BoundReport::default()] {
            let json = serde_json::to_string(&report).unwrap();
            assert_eq!(serde_json::from_str::<BoundReport>(&json).unwrap(), report);
        }
        let before = r#"{"value":null,"weights":[],"absent":"not asked for"}"#;
        let read: BoundReport = serde_json::from_str(before).unwrap();
        assert_eq!(read.absent, Some(Note::new("no-bound", "not asked for")));
    }

    /// A few seconds always, a third of what a fit takes where that is more, and never more memory than a matrix of that side.
    #[test]
    fn what_is_affordable_grows_with_the_fit() {
        assert!(is_affordable(10_000, 6e10, 1.0, 1) && !is_affordable(10_001, 1.0, 1.0, 1));
        assert!(!is_affordable(10, 6.1e10, 1e6, 2) && is_affordable(10, 6.1e10, 1e9, 2));
        let fit = 128.0 * 1e9 * 20.0;
        assert!(is_affordable(10, fit, 1e9, 20) && !is_affordable(10, 1.001 * fit, 1e9, 20));
    }

    #[test]
    fn a_search_begins_only_where_there_is_time_for_it() {
        assert!((seconds(1000, 100) - 40e-9 * (1e8 + 1e7)).abs() < 1e-12);
        let x = Array2::from_shape_fn((9, 5), |(i, j)| ((i * j + i) % 7) as f64 + 0.5);
        let codes: Vec<usize> = (0..9).map(|i| i / 3).collect();
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let data = GroupedData::with_codes(x.view(), names, &codes).unwrap();
        let rows = hold(&data, Units::Given);
        let errors: Vec<f64> = data.groups().iter().map(|g| 0.01 * g.norm()).collect();
        let bound = |rank, deadline| bound_of_rows(&*rows, rank, &errors, deadline).unwrap();
        let (none, past) = (bound(1, None), bound(1, Some(Instant::now())));
        assert!(none.value.unwrap() > 0.0 && past.value.is_none());
        assert_eq!(past.absent.unwrap().code, "bound-out-of-time");
        let later = bound(1, Some(Instant::now() + Duration::from_secs(3600)));
        assert_eq!(later, none);
        // As many topics as features: nothing is left but that no error is negative.
        let full = bound(5, None);
        assert!((full.value.unwrap() + 0.01).abs() < 1e-15, "{full:?}");
        assert_eq!(full.weights, [1.0 / 3.0; 3]);
    }
}
