//! The dictionary that a comparison is about, and what is known of it.

use crate::bound::BoundReport;
use crate::criterion::Allowance;
use crate::fit::allowances;
use crate::{GroupedData, Method, Model, Parameters};
use ndarray::ArrayView2;

/// The dictionary that a comparison is about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// H (r×n), in scaled features where the data are scaled.
    pub components: ArrayView2<'a, f64>,
    /// W (m×r) taken as it is; none for the best W of every sample.
    pub representation: Option<ArrayView2<'a, f64>>,
    /// The method that fitted it to these groups; none for a dictionary from elsewhere, or one that was
    /// fitted to other groups.
    pub method: Option<Method>,
    /// What its fit allowed every group beyond its baseline; empty for nothing, or where that is not
    /// known.
    pub allowances: Vec<Allowance>,
    /// Whether a stop or a limit on time ended its fit, so that its error is of that making.
    pub cut_short: bool,
    /// Whether the groups were found in these rows, so that no test of them would hold.
    pub groups_found: bool,
    /// The bound of its rank on these data, where it is known already.
    pub bound: Option<BoundReport>,
}

crate::changeable!(Subject<'_>);

impl<'a> Subject<'a> {
    /// A dictionary from elsewhere, of which nothing else is known.
    #[must_use]
    pub fn new(components: ArrayView2<'a, f64>) -> Self {
        Self {
            components,
            representation: None,
            method: None,
            allowances: Vec::new(),
            cut_short: false,
            groups_found: false,
            bound: None,
        }
    }

    /// The dictionary of a model, to these groups: one that evened out other groups is one from elsewhere to them, and what
    /// is allowed them is then what `parameters` say of their places.
    #[must_use]
    pub fn of_model(model: &'a Model, data: &GroupedData<'_>, parameters: &Parameters) -> Self {
        let fitted = |name: &String| model.groups.iter().any(|group| group.name == *name);
        let knows = data.groups().iter().all(|group| fitted(&group.name));
        let method = model.parameters.method;
        Self {
            method: (knows || !method.evens_out()).then_some(method),
            allowances: match model.is_of(data) {
                true => model.allowances(),
                false => allowances(data, parameters),
            },
            cut_short: model.status.is_cut_short(),
            ..Self::new(model.components.view())
        }
    }

    /// Whether it minimises the worst loss itself.
    #[must_use]
    pub fn is_fairer(&self) -> bool {
        is_fairer(self.method)
    }
}

impl Model {
    /// Whether it was fitted to groups of the names of these, and to no others.
    #[must_use]
    pub fn is_of(&self, data: &GroupedData<'_>) -> bool {
        self.groups.iter().map(|g| &g.name).eq(data.groups().iter().map(|g| &g.name))
    }
}

/// Whether a method makes the worst loss small, beyond what is allowed.
pub(super) fn is_fairer(method: Option<Method>) -> bool {
    method.is_some_and(|method| method.evens_out())
}
