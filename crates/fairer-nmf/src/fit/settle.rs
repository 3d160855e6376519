//! What a fit against other offsets says: losses against E, and who was outside the maximum.

use crate::baseline::{Baseline, GroupBaseline};
use crate::criterion::Allowance;
use crate::model::{Model, Warning};

/// Says the losses of a fit against offsets as those against baselines, and who was outside the maximum.
pub(super) fn settle(model: &mut Model, baselines: &[GroupBaseline], allowances: &[Allowance]) {
    let adjusted = matches!(model.parameters.baseline, Baseline::Adjusted { .. });
    let of_groups = model.groups.iter_mut().zip(baselines).zip(allowances);
    for (l, ((group, baseline), allowance)) in of_groups.enumerate() {
        // The loss stays the paper's, against E; what was minimised is that less what is allowed.
        group.loss = baseline.criterion(group.norm).relative_loss(group.relative_error);
        if !allowance.counts() {
            let offset = allowance.offset(baseline.error, group.norm);
            let allowed = baseline.criterion(group.norm).loss(offset);
            model.history.iter_mut().for_each(|losses| losses[l] += allowed);
        }
        group.baseline = baseline.clone();
        group.allowance = adjusted.then_some(allowance.loss);
        group.outside = allowance.outside;
    }
    let (groups, parameters) = (&model.groups, &model.parameters);
    let of_groups = Warning::of(groups, parameters, model.status);
    let stays = |w: &&Warning| {
        use Warning::{BaselinesCutShort, RankAboveMatrix, TotalErrorRose};
        matches!(w, RankAboveMatrix { .. } | BaselinesCutShort | TotalErrorRose { .. })
    };
    let others = model.warnings.iter().filter(stays);
    model.warnings = (others.cloned().chain(Warning::of_outside(groups, parameters.rank)))
        .chain(of_groups)
        .collect();
}
