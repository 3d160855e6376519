//! What stands beside the losses of a sweep: what random groups pay at every rank, under standard NMF.

use std::ops::ControlFlow;
use std::time::Instant;

use fairer_nmf::audit::{ChanceBand, DrawBudget, chance_bands};
use fairer_nmf::data::Group;
use fairer_nmf::{Baseline, Error, GroupedData, Method, Model, Parameters, Progress, fit};
use fairer_nmf_io::Failure;
use serde::Serialize;

use super::{Compared, Plan};
use crate::screen::{Bar, stopped};

/// What random groups of a group's size pay at a rank.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RandomGroup {
    pub rank: usize,
    pub group: String,
    pub rows: usize,
    /// Their mean loss, and the range that holds nine of ten.
    pub chance_mean: f64,
    pub chance_low: f64,
    pub chance_high: f64,
}

/// What random groups pay under standard NMF, beside the losses of a fit that has not looked itself and that no audit follows;
/// nothing where there is nobody to compare with, or where there is no more time. They have that of an audit's draws, or the limit
/// of the fit where that is less, and the fit is not lost with them.
pub(crate) fn beside_fit(
    data: &GroupedData<'_>,
    compared: &Compared,
    bar: &Bar,
) -> Vec<ChanceBand> {
    let fitted = &compared.fit.model;
    let known = fitted.groups.iter().any(|group| group.random_groups.is_some());
    // Groups that were found in the rows are no groups of people, and of the worst rows none were asked.
    let asked = fitted.found_groups.is_none() && fitted.worst_share.is_none();
    let peer = compared.peers.standard.as_ref().map(|peer| &peer.model);
    let standard = peer.or_else(|| fitted.parameters.method.is_standard().then_some(fitted));
    let (Some(standard), true) = (standard, asked && !known && data.groups().len() > 1) else {
        return Vec::new();
    };
    bar.stage("random groups");
    let (h, parameters) = (standard.components.view(), &fitted.parameters);
    let (kind, draws, seed) = (&parameters.baseline, ChanceBand::DRAWS, parameters.seed);
    let budget = DrawBudget::default().time;
    let most = parameters.stopping.time_limit.map_or(budget, |limit| limit.min(budget));
    let begin = Instant::now();
    let observer = |progress: &Progress<'_>| match begin.elapsed() < most {
        true => bar.observe(progress),
        false => ControlFlow::Break(()),
    };
    match chance_bands(data, h, kind, draws, seed, &observer) {
        Ok(found) => found,
        Err(Error::Stopped) if stopped() => Vec::new(),
        Err(Error::Stopped) => {
            bar.note(
                "what random groups pay is left out: their time was up (--audit gives them more)",
            );
            Vec::new()
        }
        Err(error) => {
            bar.note(&format!("what random groups pay is left out: {error}"));
            Vec::new()
        }
    }
}

impl Plan {
    /// Chance at every rank that was tried: the models of standard NMF are given, and one is fitted where there is none.
    /// What is missing after a stop was stopped.
    pub(crate) fn chance(
        &self,
        data: &GroupedData<'_>,
        tried: &[usize],
        standards: &[Model],
        bar: &Bar,
    ) -> Result<Vec<RandomGroup>, Failure> {
        let mut all = Vec::new();
        for &rank in tried {
            bar.stage(&format!("random groups, rank {rank}"));
            let known = standards.iter().find(|model| model.rank() == rank);
            match self.chance_at(data, rank, known, bar) {
                Ok(found) => all.extend(found),
                Err(Error::Stopped) => break,
                Err(other) => return Err(other.into()),
            }
            if stopped() {
                break;
            }
        }
        Ok(all)
    }

    fn chance_at(
        &self,
        data: &GroupedData<'_>,
        rank: usize,
        known: Option<&Model>,
        bar: &Bar,
    ) -> fairer_nmf::Result<Vec<RandomGroup>> {
        let observer = |p: &Progress<'_>| bar.observe(p);
        let own;
        let model = match known {
            Some(model) => model,
            None => {
                own = fit(data, &self.standard(rank), &observer)?.model;
                &own
            }
        };
        let (h, seed) = (model.components.view(), self.parameters.seed);
        // Limits on time do not count them.
        let draws = ChanceBand::DRAWS;
        let bands = chance_bands(data, h, &self.baseline, draws, seed, &observer)?;
        let groups = data.groups().iter().zip(bands);
        let one = |(group, band): (&Group, ChanceBand)| RandomGroup {
            rank,
            group: group.name.clone(),
            rows: group.rows.len(),
            chance_mean: band.mean,
            chance_low: band.low,
            chance_high: band.high,
        };
        Ok(groups.map(one).collect())
    }

    /// Standard NMF as the first trial has it.
    fn standard(&self, rank: usize) -> Parameters {
        self.parameters.clone().with(|p| {
            p.rank = rank;
            p.method = Method::standard();
            p.baseline = Baseline::Zero;
            p.bound = false;
        })
    }
}
