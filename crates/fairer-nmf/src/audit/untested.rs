//! Groups of which no test would hold: they were found in the same rows ([`crate::discover`]).

use super::{AuditOptions, Comparison, DrawBudget};

impl AuditOptions {
    /// The same without intervals and tests, for groups of which none would hold.
    pub(super) fn untested(self) -> Self {
        let chance = DrawBudget { draws: 0, ..self.chance };
        let (draws, permutations, folds, differences, refit) = (0, 0, 0, false, None);
        Self { draws, permutations, folds, differences, chance, refit, ..self }
    }
}

impl Comparison {
    /// Takes every verdict back: nothing is tested, for this reason.
    pub(super) fn leave_untested(&mut self, why: &str) {
        let peers = [&mut self.standard, &mut self.fairer].into_iter().flatten();
        let audits = peers.map(|peer| &mut peer.audit).chain([&mut self.subject]);
        for audit in audits {
            audit.verdict = audit.verdict.clone().taken_back(why);
        }
    }
}
