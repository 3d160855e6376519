//! Data that stay on disk: opened, fitted block by block, and standard NMF beside the fit.

use std::time::{Duration, Instant};

use fairer_nmf::fit::{Checkpoint, fit_rows, fit_rows_kept};
use fairer_nmf::rows::{FeatureScaling, GroupCodes};
use fairer_nmf::stopping::Status;
use fairer_nmf::{Baseline, Error, Method, Model, Note, Parameters, Progress, Update};
use fairer_nmf_io::{
    AnyShards, Failure, LeftOut, Missing, Preparation, Scaling, check_group_rows, on_disk,
    open_shards, read_groups, read_names,
};
use fairer_nmf_report::Remark;

use super::fitting::in_words;
use crate::args::{DataArgs, GroupArgs};
use crate::meaning;
use crate::screen::{Bar, stopped};

/// Shards, the group of every row, and names.
pub(crate) struct OnDisk {
    pub shards: AnyShards,
    pub groups: GroupCodes,
    /// Names of the features, where they have any.
    pub features: Option<Vec<String>>,
    /// How other tables become the same features, where the data are a table.
    pub preparation: Option<String>,
    pub left_out: Vec<LeftOut>,
    pub notes: Vec<Note>,
    /// Entries of a table that were too small for f32; those of matrices are known once they are read.
    pub vanished: usize,
}

/// Opens the data that the options describe. A matrix is not read yet; a table is converted into shards,
/// once.
pub(crate) fn open(
    data: &DataArgs,
    groups: &GroupArgs,
    memory: usize,
    bar: &Bar,
) -> Result<OnDisk, Failure> {
    bar.reading(&data.data);
    let options = meaning::read_options(data, Some(groups))?;
    let refused = [
        ("--missing unobserved", options.missing == Missing::Unobserved),
        ("--membership", options.membership.is_some()),
    ];
    if let Some((option, _)) = refused.into_iter().find(|(_, given)| *given) {
        return Err(Failure::wrong(format!(
            "{option} does not go with --memory, which reads the rows block by block: leave one of the two out"
        )));
    }
    let watch = |rows: usize| {
        bar.stage(&match rows {
            // Arrays have no rows before they are unpacked.
            0 => format!("unpacking {}", data.data),
            _ => format!("converting {}: {rows} rows", data.data),
        });
        !stopped()
    };
    // The time of a folder of documents is another's.
    let options = options.with(|o| {
        o.text = o.text.take().filter(|text| text.column.is_some());
    });
    let found = on_disk(&data.data, &options, memory, &watch)?;
    if found.table.is_none() && options.missing == Missing::DropRows {
        return Err(Failure::wrong(
            "--missing drop-rows does not go with --memory for a matrix, whose rows are read block by block: leave such rows out before, or leave --memory out",
        ));
    }
    let groups = match (found.groups, &options.groups) {
        (Some(groups), _) => groups,
        (None, Some(source)) => read_groups(source, "--groups", options.limit)?,
        (None, None) => {
            let column = if found.table.is_some() {
                "name their column with `--group-by COLUMN`, or "
            } else {
                ""
            };
            return Err(Failure::wrong(format!(
                "what are the groups? {column}give a file with the label of every row with `--groups FILE`"
            )));
        }
    };
    let shards = open_shards(&found.shards, memory, options.precision, options.limit)?;
    let mut notes: Vec<Note> = found.note.into_iter().chain(found.order).collect();
    if let Some(table) = found.table {
        notes.extend(table.notes);
        let kept = Preparation { text: None, table: Some(table.recipe) };
        let (features, preparation) = (Some(table.features), Some(kept.to_json()));
        return Ok(OnDisk {
            shards,
            groups,
            features,
            preparation,
            left_out: table.left_out,
            notes,
            vanished: table.vanished,
        });
    }
    let names = options.feature_names.as_deref().map(|path| {
        let source = fairer_nmf_io::GroupsSource { path: path.to_owned(), column: None };
        read_names(&source, "--feature-names", options.limit)
    });
    let features = names.transpose()?;
    if let Some(names) = features.as_ref().filter(|names| names.len() != shards.features()) {
        return Err(Failure::wrong(format!(
            "--feature-names has {} names, {} has {} columns: give exactly one for each",
            names.len(),
            data.data,
            shards.features()
        )));
    }
    let left_out = Vec::new();
    Ok(OnDisk { shards, groups, features, preparation: None, left_out, notes, vanished: 0 })
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
    /// The parameters for groups of these names.
    pub checkpoint: Option<Checkpoint>,
    pub parameters: &'a dyn Fn(&[&str]) -> Result<Parameters, Failure>,
}

/// Fits shards in blocks, and standard NMF where a comparison is wanted.
pub(crate) fn fit_shards(
    shards: &AnyShards,
    groups: GroupCodes,
    wanted: &Wanted<'_>,
    bar: &Bar,
) -> Result<DiskFit, Failure> {
    let start = Instant::now();
    let scaling = match wanted.scaling {
        Scaling::UnitFeatures => FeatureScaling::Unit,
        Scaling::AsTheyAre => FeatureScaling::AsTheyAre,
        Scaling::Given(scale) => FeatureScaling::Given(scale.clone()),
    };
    let explain = |error: Error| match error {
        Error::BadEntry { row, column, value } => Failure::wrong(format!(
            "{}: {value} cannot be factorised: entries must be finite and not negative",
            shards.describe(row, column)
        )),
        error => error.into(),
    };
    let rows = shards.hold(groups, &scaling, wanted.memory).map_err(explain)?;
    let names: Vec<&str> = rows.groups().iter().map(|g| g.name.as_str()).collect();
    let parameters = (wanted.parameters)(&names)?;
    if !parameters.allow_small_groups {
        check_group_rows(rows.groups().iter().map(|g| g.rows), parameters.rank, "--rank")?;
    }
    bar.next_fit("", &parameters.stopping);
    let observer = |p: &Progress<'_>| bar.observe(p);
    let checkpoint = wanted.checkpoint.as_ref();
    let fit = fit_rows_kept(&*rows, &parameters, checkpoint, &observer).map_err(explain)?;
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
        let parameters = parameters.clone().with(|p| {
            p.method = Method::Standard { update };
            p.baseline = Baseline::Given { errors: model.baseline_errors() };
            p.bound = false;
            p.stopping = stopping;
        });
        bar.next_fit("standard NMF: ", &parameters.stopping);
        fit_rows(&*rows, &parameters, &|p| bar.observe(p)).map_err(explain)
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
        precision: shards.precision(),
    })
}
