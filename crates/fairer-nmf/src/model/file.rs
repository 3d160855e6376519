//! Models on disk: a safetensors file with the tensors `components` (r×n), `history`
//! (iterations×L) and, where features were scaled, `scale` (n), all f64, and everything else as
//! JSON in the header under `fairer_nmf`.
//!
//! A field that older readers may pass over without being misled is added within a version; any
//! other change takes a new version, and a file is written in the oldest that tells it right.
//!
//! What turns fields into JSON and back is `inline`: compiled where it is called, with what effort is due there, and not here.

use super::{FoundGroups, GroupFit, Model, ShareReport, Warning};
use crate::bound::BoundReport;
use crate::parameters::{Method, Parameters};
use crate::stopping::Status;
use crate::{Error, Result};
use ndarray::Array2;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::TryLockError;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Version of the format; a reader refuses newer ones.
const VERSION: u32 = 4;
/// The first version whose method may have penalties or be of rows rather than of groups, and whose cells may be
/// unobserved: who does not know them would give new rows other coordinates, or call it what it is not.
const WITH_ROWS: u32 = 4;
/// The first version whose method may be fair in part and whose groups may overlap: who does not know it
/// would call it Fairer-NMF, and add up errors of the same rows.
const WITH_FAIRNESS: u32 = 3;
/// The first version with `preparation`: who does not know it would prepare new data otherwise.
const WITH_PREPARATION: u32 = 2;
const WITHOUT_PREPARATION: u32 = 1;
const KEY: &str = "fairer_nmf";

#[derive(Serialize, Deserialize)]
struct Header {
    format_version: u32,
    groups: Vec<GroupFit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overlap_error: Option<f64>,
    parameters: Parameters,
    status: Status,
    step_gap: Option<f64>,
    global_bound: BoundReport,
    feature_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preparation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    penalised_objective: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worst_share: Option<ShareReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found_groups: Option<FoundGroups>,
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

#[inline]
pub(super) fn save(model: &Model, path: &Path) -> Result<()> {
    let content = to_bytes(model);
    write(&content.map_err(|reason| Error::ModelFile { path: path.to_owned(), reason })?, path)
}

fn write(content: &[u8], path: &Path) -> Result<()> {
    // A neighbour that is renamed: the old file stays whole until the new one is.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    remove_left_behind(path, &name);
    static SAVED: AtomicU64 = AtomicU64::new(0);
    let count = SAVED.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}.{count}.part", std::process::id()));
    let part = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create(&part)?;
        // Held until the file has its name; where files cannot be locked, nobody tidies up. Who is
        // quicker to lock it takes it for left behind.
        while matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !part.exists() {
            file = std::fs::File::create(&part)?;
        }
        file.write_all(content)?;
        std::fs::rename(&part, path)
    };
    write().map_err(|source| {
        // The error that matters is the first one; a left-over part is best effort.
        let _ = std::fs::remove_file(&part);
        Error::Io { path: path.to_owned(), source }
    })
}

/// Removes what processes that were killed have left of this file: parts that nobody holds a lock on.
fn remove_left_behind(path: &Path, name: &OsStr) {
    let Some(name) = name.to_str() else { return };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    for entry in entries.into_iter().flatten().flatten() {
        let found = entry.file_name();
        let part = |found: &str| {
            let number = found.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".part")?;
            Some(number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
        };
        if found.to_str().and_then(part) == Some(true)
            && let Ok(file) = std::fs::File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[inline]
pub(super) fn to_bytes(model: &Model) -> std::result::Result<Vec<u8>, String> {
    let header = Header {
        format_version: match (&model.preparation, model.parameters.method) {
            (_, Method::Penalised { .. } | Method::WorstShare { .. }) => WITH_ROWS,
            _ if model.groups.iter().any(|g| g.observed.is_some()) => WITH_ROWS,
            (_, Method::Am { fairness, .. }) if fairness < 1.0 => WITH_FAIRNESS,
            _ if model.overlap_error.is_some() => WITH_FAIRNESS,
            (Some(_), _) => WITH_PREPARATION,
            (None, _) => WITHOUT_PREPARATION,
        },
        groups: model.groups.clone(),
        overlap_error: model.overlap_error,
        parameters: model.parameters.clone(),
        status: model.status,
        step_gap: model.step_gap,
        global_bound: model.global_bound.clone(),
        feature_names: model.feature_names.clone(),
        preparation: model.preparation.clone(),
        kept: model.kept.clone(),
        penalised_objective: model.penalised_objective,
        worst_share: model.worst_share.clone(),
        found_groups: (model.found_groups.clone())
            .map(|found| FoundGroups { labels: Vec::new(), ..found }),
        warnings: model.warnings.clone(),
    };
    let json = serde_json::to_string(&header).map_err(|e| e.to_string())?;
    let history: Vec<f64> = model.history.iter().flatten().copied().collect();
    let mut tensors = vec![
        ("components", vec![model.rank(), model.features()], bytes(model.components.iter())),
        ("history", vec![model.history.len(), model.groups.len()], bytes(history.iter())),
    ];
    if let Some(scale) = &model.scale {
        tensors.push(("scale", vec![scale.len()], bytes(scale.iter())));
    }
    let views: Vec<(&str, TensorView<'_>)> = tensors
        .iter()
        .map(|(name, shape, data)| {
            let view = TensorView::new(Dtype::F64, shape.clone(), data);
            view.map(|view| (*name, view)).map_err(|e| e.to_string())
        })
        .collect::<std::result::Result<_, _>>()?;
    let metadata = HashMap::from([(KEY.to_owned(), json)]);
    serialize(views, Some(metadata)).map_err(|e| e.to_string())
}

#[inline]
pub(super) fn load(path: &Path) -> Result<Model> {
    let content =
        std::fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    from_bytes(&content).map_err(|reason| Error::ModelFile { path: path.to_owned(), reason })
}

#[inline]
pub(super) fn from_bytes(content: &[u8]) -> std::result::Result<Model, String> {
    let foreign = "not a model of fairer-nmf: give a file that `save` or `--model` wrote";
    let (_, metadata) = SafeTensors::read_metadata(content).map_err(|e| match e {
        safetensors::SafeTensorError::MetadataIncompleteBuffer
        | safetensors::SafeTensorError::InvalidHeaderLength => {
            format!("the file is cut short ({} bytes): save the model again", content.len())
        }
        _ => foreign.to_owned(),
    })?;
    let json = metadata.metadata().as_ref().and_then(|m| m.get(KEY)).ok_or(foreign)?;
    let version: Version =
        serde_json::from_slice(json.as_bytes()).map_err(|_| foreign.to_owned())?;
    if version.format_version > VERSION {
        return Err(format!(
            "written by a newer version (format {}, this one reads up to {VERSION}): update fairer-nmf",
            version.format_version
        ));
    }
    let header: Header =
        serde_json::from_slice(json.as_bytes()).map_err(|e| format!("damaged header: {e}"))?;
    let tensors = SafeTensors::deserialize(content).map_err(|e| format!("damaged file: {e}"))?;
    let (shape, components) = numbers(&tensors, "components")?;
    let [rank, features] = shape[..] else { return Err("components is not a matrix".to_owned()) };
    let components = Array2::from_shape_vec((rank, features), components)
        .map_err(|e| format!("components: {e}"))?;
    let (_, history) = numbers(&tensors, "history")?;
    let groups = header.groups.len();
    let scale = match tensors.names().contains(&"scale") {
        true => Some(numbers(&tensors, "scale")?.1),
        false => None,
    };
    if let Some(what) = out_of_range(&components, &history, scale.as_deref()) {
        return Err(format!(
            "{what}, which no fit leaves: the file is damaged, fit the model again"
        ));
    }
    let names_fit = header.feature_names.as_ref().is_none_or(|n| n.len() == features);
    if groups == 0
        || rank == 0
        || rank != header.parameters.rank
        || !history.len().is_multiple_of(groups)
        || !names_fit
        || scale.as_ref().is_some_and(|s| s.len() != features)
    {
        return Err("the parts of the file contradict each other: save the model again".to_owned());
    }
    let model = Model {
        components,
        groups: header.groups,
        overlap_error: header.overlap_error,
        parameters: header.parameters,
        status: header.status,
        history: history.chunks_exact(groups).map(<[f64]>::to_vec).collect(),
        step_gap: header.step_gap,
        global_bound: header.global_bound,
        scale,
        feature_names: header.feature_names,
        preparation: header.preparation,
        kept: header.kept,
        penalised_objective: header.penalised_objective,
        worst_share: header.worst_share,
        found_groups: header.found_groups,
        warnings: header.warnings,
    };
    match model.check_finite() {
        Ok(()) => Ok(model),
        Err(_) => Err("its numbers are not finite: fit the model again".to_owned()),
    }
}

/// What in the numbers cannot come from a fit. Data whose squares are numbers leave a dictionary
/// inside these limits; single entries of it may vanish.
fn out_of_range(
    components: &Array2<f64>,
    history: &[f64],
    scale: Option<&[f64]>,
) -> Option<String> {
    const SMALLEST: f64 = 1e-154;
    const LARGEST: f64 = 1e154;
    let entry = |v: f64| (0.0..=LARGEST).contains(&v);
    if let Some(bad) = components.iter().find(|v| !entry(**v)) {
        return Some(format!("components hold {bad}"));
    }
    let largest = components.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 && largest < SMALLEST {
        return Some(format!("no entry of the components is larger than {largest}"));
    }
    let factor = |s: f64| (SMALLEST..=LARGEST).contains(&s);
    if let Some(bad) = scale.unwrap_or_default().iter().find(|s| !factor(**s)) {
        return Some(format!("a feature is scaled by {bad}"));
    }
    history.iter().find(|loss| !loss.is_finite()).map(|loss| format!("a loss is {loss}"))
}

fn bytes<'a>(values: impl Iterator<Item = &'a f64>) -> Vec<u8> {
    values.flat_map(|v| v.to_le_bytes()).collect()
}

fn numbers(
    tensors: &SafeTensors<'_>,
    name: &str,
) -> std::result::Result<(Vec<usize>, Vec<f64>), String> {
    let view = tensors.tensor(name).map_err(|_| format!("tensor '{name}' is missing"))?;
    if view.dtype() != Dtype::F64 {
        return Err(format!("tensor '{name}' is not f64"));
    }
    let (words, _) = view.data().as_chunks::<8>();
    Ok((view.shape().to_vec(), words.iter().map(|w| f64::from_le_bytes(*w)).collect()))
}
