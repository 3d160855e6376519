//! The dictionary that a comparison is about, and what is known of it.

use crate::bound::BoundReport;
use crate::criterion::Allowance;
use crate::fit::allowances;
use crate::parameters::StartWeights;
use crate::{Baseline, GroupedData, Method, Model, Parameters};
use ndarray::ArrayView2;
use std::borrow::Cow;

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

    /// A dictionary from elsewhere beside these groups, of which `parameters` say who is too small to count.
    #[must_use]
    pub fn from_elsewhere(
        components: ArrayView2<'a, f64>,
        data: &GroupedData<'_>,
        parameters: &Parameters,
    ) -> Self {
        Self { allowances: allowances(data, parameters), ..Self::new(components) }
    }

    /// The dictionary of a model, to these groups: one that evened out other groups is one from elsewhere to them, and what
    /// is allowed them is then what `parameters` say of their places.
    #[must_use]
    pub fn of_model(model: &'a Model, data: &GroupedData<'_>, parameters: &Parameters) -> Self {
        let method = model.parameters.method;
        let knows = model.knows(names(data));
        Self {
            method: (knows || !method.evens_out()).then_some(method),
            allowances: match model.is_of(data) {
                true => model.allowances(),
                false => allowances(data, parameters),
            },
            cut_short: model.status.is_cut_short(),
            groups_found: knows && model.found_groups.is_some(),
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
    /// Whether it was fitted to groups of the names of these, in their order, and to no others.
    #[must_use]
    pub fn is_of(&self, data: &GroupedData<'_>) -> bool {
        self.groups.iter().map(|g| g.name.as_str()).eq(names(data))
    }

    /// Whether groups of all these names are among those that it was fitted to.
    #[must_use]
    pub fn knows<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        names.all(|name| self.groups.iter().any(|group| group.name == name))
    }

    /// Whether it was fitted to even out groups of these names, so that what is asked of them is asked of standard NMF.
    #[must_use]
    pub fn evened_out<'n>(&self, names: impl Iterator<Item = &'n str>) -> bool {
        self.parameters.method.evens_out() && self.knows(names)
    }

    /// The model as it stands to the groups of these data: its own in their order, where they are the same, and found by
    /// it only where they are what it has found.
    #[must_use]
    pub fn beside(&self, data: &GroupedData<'_>) -> Cow<'_, Self> {
        let mut model = Cow::Borrowed(self);
        if self.found_groups.is_some() && !self.knows(names(data)) {
            model.to_mut().found_groups = None;
        }
        let place = |name: &str| self.groups.iter().position(|group| group.name == name);
        let order: Option<Vec<usize>> = names(data).map(place).collect();
        match order.filter(|order| order.len() == self.groups.len() && !order.is_sorted()) {
            Some(order) => Cow::Owned(in_order(model.into_owned(), &order)),
            None => model,
        }
    }
}

/// A model with its groups in another order, and with them all that has a number for each.
fn in_order(mut model: Model, order: &[usize]) -> Model {
    let of = |values: &[f64]| order.iter().map(|&l| values[l]).collect::<Vec<f64>>();
    model.groups = order.iter().map(|&l| model.groups[l].clone()).collect();
    model.history = model.history.iter().map(|losses| of(losses)).collect();
    if let Baseline::Given { errors } = &mut model.parameters.baseline {
        *errors = of(errors);
    }
    if let StartWeights::Given { weights } = &mut model.parameters.start_weights {
        *weights = of(weights);
    }
    model
}

fn names<'d>(data: &'d GroupedData<'_>) -> impl Iterator<Item = &'d str> {
    data.groups().iter().map(|group| group.name.as_str())
}

/// Whether a method makes the worst loss small, beyond what is allowed.
pub(super) fn is_fairer(method: Option<Method>) -> bool {
    method.is_some_and(|method| method.evens_out())
}
