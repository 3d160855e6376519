//! Neighbours with dictionaries of the groups' own: separate models, and one budget of topics for all.

use fairer_nmf::{Baseline, GroupedData, Method, Note, Result, fit};
use ndarray::{Array2, Axis, concatenate};

use super::{Left, Task};

impl Task<'_, '_> {
    /// The best dictionary of k topics for one group, and the relative error that it leaves.
    fn own(&self, group: usize, k: usize) -> Result<(Array2<f64>, f64)> {
        let rows = self.data.groups()[group].rows.clone();
        let member = Array2::from_shape_fn((self.data.rows(), 1), |(row, _)| {
            rows.binary_search(&row).is_ok()
        });
        let names = vec![("alone".to_owned(), None)];
        let alone = GroupedData::with_members(self.data.matrix().clone(), names, member.view())?;
        let alone = match self.data.scale() {
            Some(scale) => alone.with_scale(scale.to_vec())?,
            None => alone,
        };
        let parameters = self.parameters.clone().with(|p| {
            p.rank = k;
            p.method = Method::standard();
            p.baseline = Baseline::Zero;
        });
        let found = fit(&alone, &parameters, self.observer)?.model;
        let error = found.groups[0].relative_error;
        Ok((found.components, error))
    }

    /// A model of r topics for every group.
    pub(super) fn separate(&self) -> Result<Left> {
        let rank = self.parameters.rank;
        let groups = 0..self.data.groups().len();
        let own = groups.map(|l| Ok(self.own(l, rank)?.1)).collect::<Result<Vec<f64>>>()?;
        let parameters = own.len() * rank * self.data.features();
        Ok(Left { relative_errors: own, parameters, remark: None })
    }

    /// r topics divided over the groups, one each and then always to the group whose own topics leave most of it; every
    /// row may use all of them.
    pub(super) fn shared_budget(&self) -> Result<Left> {
        let count = self.data.groups().len();
        let mut topics = vec![1; count];
        let mut own =
            (0..count).map(|l| self.own(l, 1)).collect::<Result<Vec<(Array2<f64>, f64)>>>()?;
        for _ in count..self.parameters.rank {
            let needs = |&a: &usize, &b: &usize| own[a].1.total_cmp(&own[b].1);
            let neediest = (0..count).max_by(needs).unwrap_or(0);
            topics[neediest] += 1;
            own[neediest] = self.own(neediest, topics[neediest])?;
        }
        let parts: Vec<_> = own.iter().map(|(h, _)| h.view()).collect();
        let h = concatenate(Axis(0), &parts).expect("dictionaries of the same features");
        let said: Vec<String> = topics.iter().map(ToString::to_string).collect();
        let remark = format!("topics of the groups: {}", said.join(", "));
        self.of_dictionary(&h, Some(Note::new("topics-of-groups", remark)))
    }
}
