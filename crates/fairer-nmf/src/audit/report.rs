//! The whole audit in one call: every part of this module, as plain data for a page or a file.

use super::chance::Wanted;
use super::difference::GroupDifference;
use super::findings::{Findings, adjusted_p};
use super::group::GroupAudit;
use super::verdict;
use super::{
    AuditOptions, AuditPart, Bootstrap, Differences, Evaluation, FeatureError, HeldOut,
    Individuals, Permutation, RandomGroups, Resampling, Topic, TopicMatch, TradeOff, Verdict,
    bootstrap, chance, compare_individuals, describe_topics, difference, evaluate, feature_errors,
    is_small, match_topics, permutation, trade_off, unseen,
};
use crate::bound::BoundReport;
use crate::criterion::{Allowance, Minimised};
use crate::data::Group;
use crate::steps::Parts;
use crate::yardsticks::{Baselines, held_out_count, held_out_watched};
use crate::{GroupedData, Note, Observer, Result};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// Everything an audit found; parts that were not asked for, or stopped, are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    /// Number of topics r.
    pub rank: usize,
    /// Number of samples m.
    pub rows: usize,
    /// Number of features n.
    pub features: usize,
    /// Groups, in the order of every list below.
    pub groups: Vec<GroupAudit>,
    /// Number of the group with the largest loss of those inside the maximum.
    pub worst_group: usize,
    /// max_ℓ g_ℓ over those groups.
    pub worst_loss: f64,
    /// ‖X − WH‖/‖X‖.
    pub total_error: f64,
    /// What the audit says first.
    pub verdict: Verdict,
    /// How the groups differ in what they pay, on rows that the dictionaries have not seen.
    #[serde(default)]
    pub differences: Option<Differences>,
    /// What random groups pay.
    #[serde(default)]
    pub chance: Option<RandomGroups>,
    /// The features on which every group's error lies, in the order of the groups.
    #[serde(default)]
    pub feature_errors: Vec<Vec<FeatureError>>,
    /// Intervals with the dictionary fixed.
    pub bootstrap: Option<Bootstrap>,
    /// Intervals with everything fitted anew.
    pub bootstrap_refit: Option<Bootstrap>,
    /// Permutation test of the R-Error, which estimates nothing anew.
    pub permutation: Option<Permutation>,
    /// Permutation test of the R-Error and the R-Loss, with new baselines.
    pub permutation_refit: Option<Permutation>,
    /// Held-out baselines.
    pub held_out: Option<HeldOut>,
    /// The trade-off between total error and worst loss.
    pub trade_off: Option<TradeOff>,
    /// Who is better and worse off than under the reference.
    pub individuals: Option<Individuals>,
    /// The topics.
    pub topics: Vec<Topic>,
    /// How the topics moved against the reference's.
    pub topic_matches: Option<Vec<TopicMatch>>,
    /// Parts that were asked for and are absent because the observer stopped them.
    #[serde(default)]
    pub unfinished: Vec<AuditPart>,
    /// What was asked for.
    pub options: AuditOptions,
}

impl AuditReport {
    /// What the error of every group is held against: its baseline and what it is allowed on top.
    #[must_use]
    pub fn offsets(&self) -> Vec<f64> {
        let of = |(l, g): (usize, &GroupAudit)| {
            self.options.allowance(l).offset(g.baseline_error, g.norm)
        };
        self.groups.iter().enumerate().map(of).collect()
    }

    /// The test whose p-values are shown: that of the R-Loss where baselines were fitted anew, else that of the R-Error.
    #[must_use]
    pub fn shown_permutation(&self) -> Option<&Permutation> {
        self.permutation_refit.as_ref().or(self.permutation.as_ref())
    }

    /// What bound and curve refer to.
    #[must_use]
    pub fn minimised(&self) -> Minimised {
        Minimised::with_allowances(self.options.allowances.iter().any(|a| a.loss != 0.0))
    }

    /// How sure it is that group `l` pays more than the others: the p-value that decides, as in the verdict; none where it was
    /// not asked.
    #[must_use]
    pub fn adjusted_p(&self, l: usize) -> Option<f64> {
        let differences = self.differences.as_ref()?;
        Some(adjusted_p(l, differences, self.chance.as_ref()))
    }

    /// The largest of it over the groups inside the maximum.
    #[must_use]
    pub fn worst_criterion(&self) -> f64 {
        let of = |(l, group): (usize, &GroupAudit)| (group.loss, self.options.allowance(l));
        let losses = self.groups.iter().enumerate().map(of);
        Allowance::largest(losses).unwrap_or(f64::NEG_INFINITY)
    }

    /// How good the dictionary is beside a bound for [`AuditReport::offsets`], in one sentence.
    #[must_use]
    pub fn certificate(&self, bound: &BoundReport) -> Note {
        bound.certificate(self.rank, self.minimised(), self.worst_criterion())
    }
}

/// Audits a dictionary, ours or anyone's.
///
/// `components` is H (r×n), in scaled features where the data are scaled; `baselines` holds E_ℓ of
/// every group ([`estimate_baselines`](crate::fit::estimate_baselines) or a model's); `reference` is
/// the dictionary to compare with, usually that of standard NMF. The trade-off curve begins at
/// the reference where it has the same rank.
///
/// `observer` hears of every step as [`Progress::Audit`](crate::Progress::Audit). Once it asks to
/// stop, what is finished is kept, and the parts that are not are named in
/// [`AuditReport::unfinished`].
///
/// # Errors
/// Factors or baselines that do not fit the data, or options outside their range.
///
/// ```
/// use fairer_nmf::{audit::AuditOptions, GroupedData, Method, Parameters, audit, fit, silent, synthetic};
/// let (x, labels) = synthetic::first(0);
/// let data = GroupedData::new(x.view(), &labels)?;
/// let fairer = fit(&data, &Parameters::new(3), &silent)?.model;
/// let standard = Parameters::new(3).with(|p| p.method = Method::standard());
/// let standard = fit(&data, &standard, &silent)?.model;
/// let baselines = fairer.baseline_errors();
/// let report = audit(
///     &data,
///     fairer.components.view(),
///     &baselines,
///     Some(standard.components.view()),
///     &AuditOptions::default().with(|o| (o.draws, o.permutations) = (200, 200)),
///     &silent,
/// )?;
/// println!("{} pays most", report.groups[report.worst_group].name);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn audit(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    baselines: &[f64],
    reference: Option<ArrayView2<'_, f64>>,
    options: &AuditOptions,
    observer: &Observer<'_>,
) -> Result<AuditReport> {
    let pair = Pair { reference, ..Pair::new(components, baselines) };
    audit_pair(data, &pair, options, observer)
}

/// A dictionary to be audited, with what stands beside it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Pair<'a> {
    /// H (r×n).
    pub components: ArrayView2<'a, f64>,
    /// W (m×r), taken as it is; the best where there is none.
    pub representation: Option<ArrayView2<'a, f64>>,
    /// E of every group.
    pub baselines: &'a [f64],
    /// A dictionary that it is compared with, topic by topic and row by row.
    pub reference: Option<ArrayView2<'a, f64>>,
}

impl<'a> Pair<'a> {
    /// A dictionary with its best representation, beside nothing.
    #[must_use]
    pub fn new(components: ArrayView2<'a, f64>, baselines: &'a [f64]) -> Self {
        Self { components, representation: None, baselines, reference: None }
    }
}

crate::changeable!(Pair<'_>);

/// Audits a dictionary with a representation W (m×r) taken as it is; without one, as [`audit`],
/// with the best. The trade-off curve is of best representations in either case.
///
/// # Errors
/// As [`audit`].
///
/// ```
/// use fairer_nmf::audit::{AuditOptions, Pair, audit_pair};
/// use fairer_nmf::{GroupedData, silent};
/// use ndarray::array;
/// let x = array![[3.0, 0.0], [1.0, 4.0], [2.0, 1.0], [1.0, 0.0]];
/// let data = GroupedData::new(x.view(), &["a", "a", "b", "b"])?;
/// let (h, w) = (array![[1.0, 0.5]], array![[3.0], [2.0], [2.0], [0.5]]);
/// let best = Pair::new(h.view(), &[0.0, 0.0]);
/// let given = best.with(|p| p.representation = Some(w.view()));
/// let options = AuditOptions::default().with(|o| (o.draws, o.permutations, o.chance.draws) = (0, 0, 0));
/// let [best, given] = [best, given].map(|pair| audit_pair(&data, &pair, &options, &silent));
/// assert!(best?.total_error < given?.total_error);
/// # Ok::<(), fairer_nmf::Error>(())
/// ```
pub fn audit_pair(
    data: &GroupedData<'_>,
    pair: &Pair<'_>,
    options: &AuditOptions,
    observer: &Observer<'_>,
) -> Result<AuditReport> {
    let Pair { components, representation, baselines, reference } = *pair;
    let o = options;
    o.chance.check()?;
    let rank = components.nrows();
    let found = evaluate(data, components, representation, baselines)?;
    let groups = groups(data, &found, (baselines, rank), o);
    let mut parts = Parts { observer, unfinished: Vec::new() };
    // What the verdict needs comes first: a stop leaves out the rest.
    let errors = &found.row_squared_errors;
    let several = data.groups().len() > 1;
    // Groups that share rows are compared inside families, where they do not.
    let families = data.family_numbers().filter(|_| o.differences && several);
    let fits = families.as_ref().map(|_| unseen::count(data));
    let differences = parts.run(AuditPart::Differences, fits, |steps| {
        let evened = o.evened.then(|| unseen::Evened::new(data, baselines, o));
        let (groups, as_it_is) =
            unseen::unseen(data, components, errors, evened.as_ref(), o.seed, steps)?;
        let families = families.as_deref().unwrap_or_default();
        Ok(difference::differences((&groups, as_it_is), families, rank, o.level, o.matters))
    })?;
    // A dictionary that evened out, but not so far that it would stay as it is, has limits that do not hold.
    let differences = differences.flatten().filter(|d| !(o.evened && d.taken_as_it_is));
    // The groups as they are come on top of the random ones.
    let draws = some(o.chance.draws).filter(|_| several).map(|draws| draws + 1);
    let chance = parts.run(AuditPart::RandomGroups, draws, |steps| {
        let baselines = Baselines { errors: baselines, kind: o.baseline.as_ref() };
        let sure = |g: &GroupDifference| g.adjusted_p <= 1.0 - o.level;
        let decisive = differences.iter().flat_map(|d| &d.groups).map(sure).collect();
        let wanted = Wanted { level: o.level, decisive };
        chance::random_groups(
            data,
            (components, errors),
            baselines,
            (o.chance, o.seed),
            &wanted,
            steps,
        )
    })?;
    let chance_spent = matches!(chance, Some(None));
    let chance = chance.flatten();
    let bootstrap = parts.run(AuditPart::Intervals, some(o.draws), |steps| {
        let resampling = Resampling { draws: o.draws, level: o.level, seed: o.seed };
        bootstrap::fixed(data, &found, baselines, resampling, steps)
    })?;
    // Of one group there is nothing to shuffle.
    let shuffles = some(o.permutations).filter(|_| several);
    let permutation = parts.run(AuditPart::Permutation, shuffles, |steps| {
        permutation::fixed(data, &found, o.permutations, o.seed, steps)
    })?;
    let folds = some(o.folds).map(|folds| held_out_count(data, folds));
    let held_out = parts.run(AuditPart::HeldOut, folds, |steps| {
        held_out_watched(data, &found, o.folds, o.baseline_runs, o.seed, steps)
    })?;
    let starts: Vec<_> =
        reference.filter(|h| h.nrows() == rank).into_iter().chain([components]).collect();
    let curve = o.trade_off.unwrap_or_default();
    let runs = o.trade_off.map(|curve| trade_off::count(data, starts.len(), &curve));
    let trade_off = parts.run(AuditPart::TradeOff, runs, |steps| {
        trade_off::watched(data, &starts, (baselines, &o.allowances), &curve, steps)
    })?;
    let (bootstrap_refit, permutation_refit) = refits(data, components, &found, o, &mut parts)?;
    let other = reference.map(|h| evaluate(data, h, None, baselines)).transpose()?;
    let individuals = other.map(|other| compare_individuals(data, &found, &other));
    let worst_group = worst(&groups);
    let squares: f64 = found.row_squared_errors.iter().sum();
    let total_error = (squares / data.squared_norm()).sqrt();
    let verdict = verdict::verdict(&Findings {
        groups: &groups,
        rank,
        differences: differences.as_ref(),
        chance: chance.as_ref(),
        baseline: o.baseline.as_ref(),
        total_error,
        asked: fits.is_some() || (o.differences && !several),
        chance_spent,
        without_families: o.differences && several && families.is_none(),
    });
    let mut report = AuditReport {
        rank,
        rows: data.rows(),
        features: data.features(),
        worst_group,
        worst_loss: groups[worst_group].loss,
        total_error,
        verdict,
        differences,
        chance,
        feature_errors: feature_errors(data, components, &found, o.strongest)?,
        groups,
        bootstrap,
        bootstrap_refit,
        permutation,
        permutation_refit,
        held_out,
        trade_off,
        individuals,
        topics: describe_topics(data, components, &found, o.strongest)?,
        topic_matches: reference.map(|h| match_topics(components, h)).transpose()?,
        unfinished: parts.unfinished,
        options: options.clone(),
    };
    let too_few = report.shown_permutation().and_then(|test| test.too_few(o.level));
    report.verdict.notes.extend(too_few);
    Ok(report)
}

/// What a count asks for, where it asks for anything.
fn some(count: usize) -> Option<usize> {
    (count > 0).then_some(count)
}

/// The groups with what a dictionary of a rank costs them.
fn groups(
    data: &GroupedData<'_>,
    found: &Evaluation,
    (baselines, rank): (&[f64], usize),
    options: &AuditOptions,
) -> Vec<GroupAudit> {
    let of = |(l, group): (usize, &Group)| GroupAudit {
        group: data.group_rows(l),
        baseline_error: baselines[l],
        relative_error: found.relative_errors[l],
        loss: found.losses[l],
        small: is_small(group.rows.len(), rank),
        outside: options.allowances.get(l).is_some_and(|a| a.outside),
    };
    data.groups().iter().enumerate().map(of).collect()
}

/// The group with the largest loss, of those inside the maximum.
fn worst(groups: &[GroupAudit]) -> usize {
    let loss = |g: &GroupAudit| if g.outside { f64::NEG_INFINITY } else { g.loss };
    crate::weights::largest(&groups.iter().map(loss).collect::<Vec<f64>>())
}

/// Intervals and test for which everything is fitted anew, where they are asked for.
fn refits(
    data: &GroupedData<'_>,
    components: ArrayView2<'_, f64>,
    found: &Evaluation,
    options: &AuditOptions,
    parts: &mut Parts<'_>,
) -> Result<(Option<Bootstrap>, Option<Permutation>)> {
    let Some(refit) = &options.refit else { return Ok((None, None)) };
    let seed = options.seed;
    let intervals = parts.run(AuditPart::RefitIntervals, some(refit.draws), |steps| {
        let resampling = Resampling { draws: refit.draws, level: options.level, seed };
        bootstrap::refit(data, components, found, &refit.parameters, resampling, steps)
    })?;
    // The groups as they are come on top of the random ones.
    let shuffles = some(refit.permutations).filter(|_| data.groups().len() > 1);
    let test =
        parts.run(AuditPart::RefitPermutation, shuffles.map(|draws| draws + 1), |steps| {
            let size = (components.nrows(), options.baseline_runs);
            permutation::refit(data, found, size, refit.permutations, seed, steps)
        })?;
    Ok((intervals, test))
}
