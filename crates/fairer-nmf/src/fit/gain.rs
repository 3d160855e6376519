//! How much a group that is like random ones may be made to pay: no more than those gain that are helped.
//!
//! Let t₀ be the largest adjusted loss under standard NMF and t that of the fit. A group with a_ℓ = g_ℓ (`adjusted.rs`)
//! may rise by t, and where the cost of sharing is one that nobody can avoid, t is near t₀: much is asked of
//! it for a gain t₀ − t that is small. So it is allowed g_ℓ − δ instead,
//!
//!   a_ℓ(δ) = max(a_ℓ − p_ℓδ, g_ℓ − t₀),   with the smallest δ ≥ 0 for which p_ℓ(g − g_ℓ) ≤ t₀ − t for all groups,
//!
//! g the loss of the fit, and t its largest against the a_ℓ of before. Nobody is asked for more than standard NMF does, so that
//! with δ = t₀ that is an answer, where no group with p_ℓ = 1 rises at all. The excess of rise over gain falls with δ as 1 : 1 where
//! t stands still, and slower where t rises with it; so δ goes up by the excess, then by secants, in at most
//! [`ROUNDS`] fits more, of which the one with the smallest excess is kept. Where that is still too much, every group is allowed what
//! it pays under standard NMF, which is then the answer. Where the first fit does no harm beyond its gain, which
//! is nearly always, it stays as it is.
//!
//! Offsets E_ℓ + a_ℓN_ℓ may not be negative. Where one would be, all a_ℓ go up by the same: the largest of the differences is
//! found at the same place.

use super::settle::settle;
use crate::baseline::{Baseline, GroupBaseline};
use crate::criterion::{Allowance, ChanceBand};
use crate::data::Group;
use crate::iteration::{Checkpoint, Start};
use crate::model::{GroupFit, Model, Warning};
use crate::search::{Fit, fit_plain};
use crate::{GroupedData, Observer, Parameters, Result};
use std::time::Instant;

/// Fits with another δ at the most.
const ROUNDS: usize = 3;
/// What a rise may exceed the gain by, as a share of t₀: losses are known no better.
const MORE: f64 = 0.05;
/// The least that a group outside the maximum is allowed so that it counts: losses are known no better.
const COUNTED: f64 = 1e-6;
/// Losses that differ by less are shown as the same.
const UNMOVED: f64 = 5e-5;

/// How a group stands beside random ones of its size under standard NMF.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    /// g_ℓ: its loss there.
    pub own: f64,
    /// p_ℓ: how much it is like them.
    pub alike: f64,
    /// What they pay there, where enough of them were drawn for a range.
    pub band: Option<ChanceBand>,
}

/// What groups are allowed, and why.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    pub allowances: Vec<Allowance>,
    /// One per group; empty where chance is not allowed for.
    pub beside: Vec<Beside>,
    /// Draws of random groups behind that.
    pub draws: usize,
}

impl Allowed {
    /// Places in and outside the maximum, and nothing else.
    pub fn places(allowances: Vec<Allowance>) -> Self {
        Self { allowances, beside: Vec::new(), draws: 0 }
    }

    /// Puts what random groups pay beside the losses of a model.
    pub fn tell(&self, model: &mut Model) {
        let of_groups = model.groups.iter_mut().zip(&self.beside);
        of_groups.for_each(|(group, beside)| group.random_groups = beside.band);
    }

    /// How much every group is like random ones.
    pub fn alike(&self) -> Vec<f64> {
        self.beside.iter().map(|b| b.alike).collect()
    }

    /// Whether a fit leaves every group what it has under standard NMF.
    pub fn keeps(&self, model: &Model) -> bool {
        let moved = |(g, b): (&GroupFit, &Beside)| (g.loss - b.own).abs() > UNMOVED;
        !self.beside.is_empty() && !model.groups.iter().zip(&self.beside).any(moved)
    }

    /// t₀; none where nobody is to be helped, or chance is not allowed for.
    fn largest(&self) -> Option<f64> {
        self.less_allowed(self.beside.iter().map(|b| b.own)).filter(|t| *t > 0.0)
    }

    /// a(δ), with relative baselines E_ℓ/N_ℓ.
    fn less(&self, delta: f64, largest: f64, baselines: &[f64]) -> Vec<Allowance> {
        let wanted = |(a, b): (&Allowance, &Beside)| {
            (a.loss - b.alike * delta).max(b.own - largest).min(a.loss)
        };
        let wanted: Vec<f64> = self.allowances.iter().zip(&self.beside).map(wanted).collect();
        let short = |((a, wanted), baseline): ((&Allowance, &f64), &f64)| {
            let least = if a.outside { COUNTED } else { -baseline };
            if a.counts() { least - wanted } else { 0.0 }
        };
        let short = self.allowances.iter().zip(&wanted).zip(baselines).map(short);
        let short = short.fold(0.0, f64::max);
        let one = |(a, wanted): (&Allowance, f64)| Allowance {
            loss: if a.counts() { wanted + short } else { a.loss },
            ..*a
        };
        self.allowances.iter().zip(wanted).map(one).collect()
    }

    /// What every group pays under standard NMF.
    fn as_standard(&self) -> Vec<Allowance> {
        let one = |(a, b): (&Allowance, &Beside)| Allowance { loss: b.own, ..*a };
        self.allowances.iter().zip(&self.beside).map(one).collect()
    }

    /// By how much the largest rise of a group that is like random ones exceeds the gain.
    fn excess(&self, largest: f64, model: &Model) -> f64 {
        let rises = model.groups.iter().zip(&self.beside);
        let rise = rises.map(|(g, b)| b.alike * (g.loss - b.own)).fold(0.0, f64::max);
        let left = self.less_allowed(model.groups.iter().map(|g| g.loss));
        rise - (largest - left.unwrap_or(f64::NEG_INFINITY))
    }

    /// The largest of the groups' losses less what they are allowed.
    fn less_allowed(&self, losses: impl Iterator<Item = f64>) -> Option<f64> {
        Allowance::largest(losses.zip(self.allowances.iter().copied()))
    }
}

/// Fits against baselines with what groups are allowed.
pub(super) fn against(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    baselines: &[GroupBaseline],
    allowed: &Allowed,
    from: (Option<&Start>, Option<&Checkpoint>),
    observer: &Observer<'_>,
) -> Result<Fit> {
    let begin = Instant::now();
    let asked = (baselines, &allowed.allowances[..]);
    let mut found = fit_to(data, parameters, asked, from, observer)?;
    let Some(largest) = allowed.largest() else { return Ok(found) };
    let of = |(b, g): (&GroupBaseline, &Group)| b.criterion(g.norm()).relative_offset();
    let relative: Vec<f64> = baselines.iter().zip(data.groups()).map(of).collect();
    let mut excess = allowed.excess(largest, &found.model);
    let (mut last, mut delta) = (None, 0.0);
    let mut now = excess;
    for round in 0..=ROUNDS {
        if excess <= MORE * largest || found.model.status.is_cut_short() {
            break;
        }
        let give_up = round == ROUNDS || delta >= largest;
        let asked = if give_up {
            allowed.as_standard()
        } else {
            let slope = last.map(|(before, of): (f64, f64)| (of - now) / (delta - before));
            let step = slope.filter(|slope| *slope > 0.0).map_or(now, |slope| now / slope);
            last = Some((delta, now));
            delta = (delta + step.max(now)).min(largest);
            allowed.less(delta, largest, &relative)
        };
        let mut left = parameters.clone();
        left.stopping.time_limit =
            parameters.stopping.time_limit.map(|t| t.saturating_sub(begin.elapsed()));
        // A checkpoint is of the first fit; what follows from it follows again.
        let mut next = fit_to(data, &left, (baselines, &asked), (from.0, None), observer)?;
        let (status, max_iterations) = (next.model.status, parameters.stopping.max_iterations);
        found.fit_time += next.fit_time;
        if status.is_cut_short() {
            // What is half done is worse than what is there.
            let warnings = &mut found.model.warnings;
            warnings.retain(|w| !matches!(w, Warning::NotConverged { .. }));
            warnings.push(Warning::NotConverged { status, max_iterations });
            found.model.status = status;
            break;
        }
        now = allowed.excess(largest, &next.model);
        if now < excess {
            next.model.parameters = parameters.clone();
            (excess, found) = (now, Fit { fit_time: found.fit_time, ..next });
        }
        if give_up {
            break;
        }
    }
    Ok(found)
}

/// Fits against baselines and allowances, one of each per group.
fn fit_to(
    data: &GroupedData<'_>,
    parameters: &Parameters,
    (baselines, allowances): (&[GroupBaseline], &[Allowance]),
    (start, checkpoint): (Option<&Start>, Option<&Checkpoint>),
    observer: &Observer<'_>,
) -> Result<Fit> {
    let groups = data.groups().iter();
    let of = |((b, a), g): ((&GroupBaseline, &Allowance), &Group)| a.offset(b.error, g.norm());
    let errors: Vec<f64> = baselines.iter().zip(allowances).zip(groups).map(of).collect();
    let given = Parameters { baseline: Baseline::Given { errors }, ..parameters.clone() };
    let mut found = fit_plain(data, &given, start, checkpoint, observer)?;
    found.model.parameters.baseline = parameters.baseline.clone();
    settle(&mut found.model, baselines, allowances);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_for_more_than_standard_nmf_does_and_offsets_stay_positive() {
        let allowance = |loss, outside| Allowance { loss, outside };
        let beside = |own, alike| Beside { own, alike, band: None };
        let allowed = Allowed {
            // One that pays, two that chance explains (the second fitted nearly exactly), one half, one outside.
            allowances: vec![
                allowance(0.01, false),
                allowance(0.03, false),
                allowance(0.004, false),
                allowance(0.03, false),
                allowance(0.02, true),
            ],
            beside: vec![
                beside(0.08, 0.0),
                beside(0.03, 1.0),
                beside(0.004, 1.0),
                beside(0.05, 0.5),
                beside(0.02, 1.0),
            ],
            draws: 40,
        };
        let baselines = [0.3, 0.3, 0.001, 0.3, 0.0];
        let largest = allowed.largest().unwrap();
        assert!((largest - 0.07).abs() < 1e-12);
        for delta in [0.0, 0.01, 0.03, largest] {
            let less = allowed.less(delta, largest, &baselines);
            let raised = less[0].loss - 0.01;
            assert!(raised >= 0.0, "who pays is asked as before, but for what all are allowed");
            for ((now, before), (b, e)) in
                less.iter().zip(&allowed.allowances).zip(allowed.beside.iter().zip(&baselines))
            {
                assert!(now.loss <= before.loss + raised && b.own - now.loss <= largest + 1e-12);
                assert!(now.offset(e * 2.0, 2.0) >= 0.0 && now.counts());
            }
        }
        // Nobody's offset is below zero yet; then all go up by what the third lacks, and are compared as before.
        assert!((allowed.less(0.001, largest, &baselines)[3].loss - 0.0295).abs() < 1e-12);
        let less = allowed.less(0.01, largest, &baselines);
        assert!((less[2].loss + 0.001).abs() < 1e-12);
        assert!((less[3].loss - 0.025 - 0.005).abs() < 1e-12);
        for (l, a) in allowed.allowances.iter().enumerate() {
            let asked = a.loss - allowed.beside[l].alike * 0.01;
            assert!((less[l].loss - less[2].loss - (asked + 0.006)).abs() < 1e-12);
        }
        assert_eq!(allowed.as_standard().len(), 5);
        for (a, b) in allowed.as_standard().iter().zip(&allowed.beside) {
            assert_eq!(a.loss, b.own);
        }
    }

    /// A model whose groups have these losses.
    fn model(losses: &[f64]) -> Model {
        let x = ndarray::Array2::from_shape_fn((2 * losses.len(), 3), |(i, j)| {
            (i * j % 5) as f64 + 1.0
        });
        let labels: Vec<usize> = (0..2 * losses.len()).map(|i| i / 2).collect();
        let data =
            GroupedData::new(x.view(), &labels.iter().map(usize::to_string).collect::<Vec<_>>())
                .unwrap();
        let parameters = Parameters {
            method: crate::Method::standard(),
            baseline: Baseline::Zero,
            n_init: 1,
            bound: false,
            ..Parameters::new(1)
        };
        let mut model = crate::fit(&data, &parameters, &crate::silent).unwrap().model;
        model.groups.iter_mut().zip(losses).for_each(|(group, loss)| group.loss = *loss);
        model
    }

    fn allowed(groups: &[(f64, f64, f64)]) -> Allowed {
        let allowances = groups.iter().map(|g| Allowance { loss: g.0, outside: false }).collect();
        let beside = groups.iter().map(|g| Beside { own: g.1, alike: g.2, band: None }).collect();
        Allowed { allowances, beside, draws: 40 }
    }

    #[test]
    fn a_fit_keeps_what_groups_have_where_no_loss_is_shown_otherwise() {
        let standard = allowed(&[(0.1, 0.1, 1.0), (0.2, 0.3, 0.0)]);
        assert!(standard.keeps(&model(&[0.1, 0.3])));
        assert!(standard.keeps(&model(&[0.1 + 4e-5, 0.3 - 4e-5])));
        for moved in [[0.1 + 6e-5, 0.3], [0.1, 0.3 - 6e-5]] {
            assert!(!standard.keeps(&model(&moved)));
        }
        assert!(!Allowed::places(vec![Allowance::default(); 2]).keeps(&model(&[0.1, 0.3])));
    }

    /// The largest rise, by how much a group is like random ones, less what the largest adjusted loss fell by.
    #[test]
    fn an_excess_is_what_a_rise_has_beyond_the_gain() {
        let standard = allowed(&[(0.02, 0.12, 0.0), (0.05, 0.05, 1.0), (0.03, 0.07, 0.5)]);
        let largest = standard.largest().unwrap();
        assert!((largest - 0.1).abs() < 1e-15);
        // Adjusted losses 0.07, 0.04 and 0.05; rises 0.04 and half of 0.01: a gain of 0.03.
        let excess = standard.excess(largest, &model(&[0.09, 0.09, 0.08]));
        assert!((excess - 0.01).abs() < 1e-15, "{excess}");
        // Half of 0.06 for a gain of nothing.
        let excess = standard.excess(largest, &model(&[0.12, 0.05, 0.13]));
        assert!((excess - 0.03).abs() < 1e-15, "{excess}");
        // Nobody rises.
        let excess = standard.excess(largest, &model(&[0.08, 0.04, 0.06]));
        assert!((excess + 0.04).abs() < 1e-15, "{excess}");
        assert_eq!(allowed(&[(0.1, 0.1, 1.0), (0.2, 0.2, 1.0)]).largest(), None, "nobody to help");
    }
}
