//! Data that stay on disk: opened, fitted block by block, and standard NMF beside the fit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fairer_nmf::fit::{Checkpoint, fit_rows, fit_rows_kept};
use fairer_nmf::rows::{BlockSource, Blocks, FeatureScaling, GroupCodes, Representation, Rows};
use fairer_nmf::{Baseline, Element, Error, Method, Model, Parameters, Progress, Status, Update};
use fairer_nmf_io::{
    AnyShards, Failure, Missing, Scaling, Shards, check_group_rows, open_shards, read_groups,
    read_names,
};
use fairer_nmf_report::Remark;
use ndarray::Array2;

use super::fitting::in_words;
use crate::args::{DataArgs, GroupArgs};
use crate::meaning;
use crate::screen::Bar;

/// Shards, the group of every row, and names.
pub(crate) struct OnDisk {
    pub shards: AnyShards,
    pub groups: GroupCodes,
    /// Names of the features, where they have any.
    pub features: Option<Vec<String>>,
    pub notes: Vec<String>,
}

/// Opens the data that the options describe; nothing of size is read yet.
pub(crate) fn open(
    data: &DataArgs,
    groups: &GroupArgs,
    memory: usize,
    bar: &Bar,
) -> Result<OnDisk, Failure> {
    bar.reading(&data.data);
    let options = meaning::read_options(data, Some(groups))?;
    let refused = [
        ("--text", data.text.text.is_some()),
        ("--one-hot", !options.one_hot.is_empty()),
        ("--drop", !options.drop.is_empty()),
        ("--group-by", !options.group_by.is_empty()),
        ("--missing drop-rows", options.missing == Missing::DropRows),
        ("--missing unobserved", options.missing == Missing::Unobserved),
        ("--membership", options.membership.is_some()),
    ];
    if let Some((option, _)) = refused.into_iter().find(|(_, given)| *given) {
        return Err(Failure::wrong(format!(
            "{option} does not go with --memory, which reads a matrix block by block: prepare the shards without it, or leave --memory out"
        )));
    }
    let Some(source) = &options.groups else {
        return Err(Failure::wrong(
            "what are the groups? give a file with the label of every row with `--groups FILE`",
        ));
    };
    let groups = read_groups(source, "--groups", options.limit)?;
    let shards = open_shards(&data.data, memory, options.precision, options.limit)?;
    let names = options.feature_names.as_deref().map(|path| {
        let source = fairer_nmf_io::GroupsSource { path: path.to_owned(), column: None };
        read_names(&source, "--feature-names", options.limit)
    });
    Ok(OnDisk { shards, groups, features: names.transpose()?, notes: Vec::new() })
}

/// What a fit on disk leaves.
pub(crate) struct DiskFit {
    pub model: Model,
    pub standard: Option<Model>,
    pub baseline_time: Duration,
    pub fit_time: Duration,
    /// Rows and features.
    pub shape: (usize, usize),
    /// How often all rows were read, the comparison apart.
    pub reads: usize,
    pub warnings: Vec<Remark>,
    pub precision: &'static str,
}

/// What a fit on disk is asked for.
pub(crate) struct Wanted<'a> {
    pub memory: usize,
    pub scaling: &'a Scaling,
    pub compare: Option<Update>,
    pub allow_small_groups: bool,
    /// The parameters for groups of these names.
    pub checkpoint: Option<Checkpoint>,
    pub parameters: &'a dyn Fn(&[&str]) -> Result<Parameters, Failure>,
}

/// Fits shards in blocks, and standard NMF where a comparison is wanted.
pub(crate) fn fit_shards<T: Element>(
    shards: Shards<T>,
    groups: GroupCodes,
    wanted: &Wanted<'_>,
    bar: &Bar,
) -> Result<DiskFit, Failure>
where
    Representation: From<Array2<T>>,
{
    let start = Instant::now();
    let source = Arc::new(shards);
    let scaling = match wanted.scaling {
        Scaling::UnitFeatures => FeatureScaling::Unit,
        Scaling::AsTheyAre => FeatureScaling::AsTheyAre,
        Scaling::Given(scale) => FeatureScaling::Given(scale.clone()),
    };
    let explain = |error: Error| match error {
        Error::BadEntry { row, column, value } => Failure::wrong(format!(
            "{}: {value} cannot be factorised: entries must be finite and not negative",
            source.describe(row, column)
        )),
        error => error.into(),
    };
    let rows =
        Blocks::new(Arc::clone(&source), groups, &scaling, wanted.memory).map_err(explain)?;
    let sizes = || rows.groups().iter().map(|g| (g.name.as_str(), g.rows));
    let names: Vec<&str> = sizes().map(|(name, _)| name).collect();
    let parameters = (wanted.parameters)(&names)?;
    if !wanted.allow_small_groups {
        check_group_rows(sizes(), parameters.rank, "--rank")?;
    }
    bar.next_fit("", &parameters.stopping);
    let observer = |p: &Progress<'_>| bar.observe(p);
    let checkpoint = wanted.checkpoint.as_ref();
    let fit = fit_rows_kept(&rows, &parameters, checkpoint, &observer).map_err(explain)?;
    if bar.baselines_were_cut() {
        return Err(Failure::failed(
            "stopped while the baselines were measured; without them there is nothing to write",
        ));
    }
    let (mut model, reads) = (fit.model, rows.reads());
    model.scale = rows.scale().map(<[f64]>::to_vec);
    let warnings = model.warnings.iter().filter_map(in_words).collect();
    let standard = wanted
        .compare
        .filter(|_| !model.parameters.method.is_standard() && model.status != Status::Stopped);
    let standard = standard.map(|update| {
        let mut stopping = parameters.stopping;
        stopping.time_limit = stopping.time_limit.map(|t| t.saturating_sub(start.elapsed()));
        let parameters = Parameters {
            method: Method::Standard { update },
            baseline: Baseline::Given { errors: model.baseline_errors() },
            bound: false,
            stopping,
            ..parameters.clone()
        };
        bar.next_fit("standard NMF: ", &parameters.stopping);
        fit_rows(&rows, &parameters, &|p| bar.observe(p)).map_err(explain)
    });
    let standard = standard.transpose()?.map(|fit| fit.model);
    let standard = standard.filter(|model| model.status != Status::Stopped);
    let (m, n, _) = rows.size();
    Ok(DiskFit {
        model,
        standard,
        baseline_time: fit.baseline_time,
        fit_time: fit.fit_time,
        shape: (m, n),
        reads,
        warnings,
        precision: T::NAME,
    })
}
