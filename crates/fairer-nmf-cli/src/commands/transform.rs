//! `transform`: coordinates of new rows in a model's dictionary.

use clap::Args;
use fairer_nmf::{Element, Error, Matrix, Model};
use ndarray::{Array2, s};

use fairer_nmf_io::{AnyMatrix, Failure, Loaded, Output, check_distinct};

use crate::args::{DataArgs, RunArgs};
use crate::files::{Kind, end_if_stopped, npy, write_csv};
use crate::meaning;
use crate::screen::{Bar, counted};
use crate::work::{load_for_model, load_model};

/// Give every row of a data file its coordinates in a model's dictionary
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf transform data/heart_disease.csv --model m.safetensors --drop sex,disease \\
      --missing drop-rows -o W.csv
  fairer-nmf transform X.npy --model m.safetensors -o W.npy
  fairer-nmf transform new_posts.jsonl --text body --model m.safetensors -o W.csv

The columns must be the features of the model; their order does not matter. Every row gets its
exact non-negative least squares coordinates, whatever its group. Where the model scaled its
features, the data are scaled alike; where it was fitted to documents, new ones are cut into terms
and weighed as those were. Ctrl-C ends it with nothing written (exit code 1).")]
pub(crate) struct TransformArgs {
    #[command(flatten)]
    data: DataArgs,

    /// The model
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    model: String,

    /// The representation, one row a sample: .csv (header topic_1,topic_2,...) or .npy; - is
    /// CSV on standard output
    #[arg(long, short, value_name = "W.csv|W.npy", help_heading = "Output")]
    output: String,

    /// Replace a file that exists
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

pub(crate) fn run(args: &TransformArgs) -> Result<(), Failure> {
    let bar = Bar::new(&args.run);
    let kind = Kind::of(&args.output)?;
    let mut read = meaning::files_read(&args.data, None, None, None)?;
    read.push(args.model.clone());
    check_distinct(&read, &[("--output", Some(&args.output))])?;
    let mut output = Output::claim("--output", &args.output, args.force)?;
    let model = load_model(&args.model)?;
    let loaded = load_for_model(&model, &args.model, &args.data, None, &bar)?;
    let (rows, _) = loaded.dataset.matrix.shape();
    output.reserve(rows * model.rank() * 8)?;
    let content = match loaded.matrix()? {
        AnyMatrix::F32(_) => representation(&model, &loaded, single, kind, &bar)?,
        AnyMatrix::F64(_) => representation(&model, &loaded, double, kind, &bar)?,
    };
    let shown = output.shown().to_owned();
    output.write(&content)?;
    bar.finish();
    loaded.dataset.notes.iter().for_each(|note| bar.note(note));
    if args.output != "-" {
        let (rows, topics) = (counted(rows, "row"), counted(model.rank(), "topic"));
        bar.note(&format!("wrote {shown} ({rows}, {topics})"));
    }
    Ok(())
}

/// Rows between two looks at Ctrl-C: many enough that what a chunk costs beside its rows does not
/// show, few enough that they are solved in a moment.
const CHUNK: usize = 1 << 14;

fn representation<'a, T: Element>(
    model: &Model,
    loaded: &'a Loaded,
    typed: impl Fn(AnyMatrix<'a>) -> Option<Matrix<'a, T>>,
    kind: Kind,
    bar: &Bar,
) -> Result<Vec<u8>, Failure> {
    let (rows, _) = loaded.dataset.matrix.shape();
    let mut w = Array2::from_elem((rows, model.rank()), T::default());
    for start in (0..rows).step_by(CHUNK) {
        bar.counted("solving, rows", start, rows);
        end_if_stopped()?;
        let chunk = start..rows.min(start + CHUNK);
        let matrix = typed(loaded.rows(chunk.clone())?).expect("all rows have one number type");
        let found = model.transform(matrix).map_err(|e| loaded.explain(further_on(e, start)))?;
        w.slice_mut(s![chunk, ..]).assign(&found);
    }
    end_if_stopped()?;
    Ok(match kind {
        Kind::Csv => write_csv(w.view()),
        Kind::Npy => npy(w.view()),
    })
}

/// An error of a chunk that begins at row `start`.
fn further_on(error: Error, start: usize) -> Error {
    match error {
        Error::BadEntry { row, column, value } => {
            Error::BadEntry { row: row + start, column, value }
        }
        other => other,
    }
}

fn single(matrix: AnyMatrix<'_>) -> Option<Matrix<'_, f32>> {
    match matrix {
        AnyMatrix::F32(matrix) => Some(matrix),
        AnyMatrix::F64(_) => None,
    }
}

fn double(matrix: AnyMatrix<'_>) -> Option<Matrix<'_, f64>> {
    match matrix {
        AnyMatrix::F64(matrix) => Some(matrix),
        AnyMatrix::F32(_) => None,
    }
}
