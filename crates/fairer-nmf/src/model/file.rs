//! Models on disk: a safetensors file with the tensors `components` (r×n), `history`
//! (iterations×L) and, where features were scaled, `scale` (n), all f64, and everything else as
//! JSON in the header under `fairer_nmf`.
//!
//! A field that older readers may pass over without being misled is added within a version; any
//! other change takes a new version, and a file is written in the oldest that tells it right.

use super::{GroupFit, Model, Warning};
use crate::bound::BoundReport;
use crate::parameters::{Method, Parameters};
use crate::stopping::Status;
use crate::{Error, Result};
use ndarray::Array2;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;

/// Version of the format; a reader refuses newer ones.
const VERSION: u32 = 3;
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
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

pub(super) fn save(model: &Model, path: &Path) -> Result<()> {
    let content =
        to_bytes(model).map_err(|reason| Error::ModelFile { path: path.to_owned(), reason })?;
    // A neighbour that is renamed: the old file stays whole until the new one is.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = std::fs::write(&part, content).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|source| {
        // The error that matters is the first one; a left-over part is best effort.
        let _ = std::fs::remove_file(&part);
        Error::Io { path: path.to_owned(), source }
    })
}

pub(super) fn to_bytes(model: &Model) -> std::result::Result<Vec<u8>, String> {
    let header = Header {
        format_version: match (&model.preparation, model.parameters.method) {
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

pub(super) fn load(path: &Path) -> Result<Model> {
    let content =
        std::fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    from_bytes(&content).map_err(|reason| Error::ModelFile { path: path.to_owned(), reason })
}

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
    let version: Version = serde_json::from_str(json).map_err(|_| foreign.to_owned())?;
    if version.format_version > VERSION {
        return Err(format!(
            "written by a newer version (format {}, this one reads up to {VERSION}): update fairer-nmf",
            version.format_version
        ));
    }
    let header: Header = serde_json::from_str(json).map_err(|e| format!("damaged header: {e}"))?;
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
    let names_fit = header.feature_names.as_ref().is_none_or(|n| n.len() == features);
    let numbers_fit = components.iter().all(|v| v.is_finite() && *v >= 0.0);
    if groups == 0
        || rank == 0
        || rank != header.parameters.rank
        || !history.len().is_multiple_of(groups)
        || !names_fit
        || !numbers_fit
        || scale.as_ref().is_some_and(|s| s.len() != features)
    {
        return Err("the parts of the file contradict each other: save the model again".to_owned());
    }
    Ok(Model {
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
        warnings: header.warnings,
    })
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
