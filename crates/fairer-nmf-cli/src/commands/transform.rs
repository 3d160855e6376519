//! `transform`: coordinates of new rows in a model's dictionary.

use clap::Args;
use fairer_nmf::{Element, Matrix, Model};

use super::topics::load_model;
use crate::args::{DataArgs, RunArgs};
use crate::export::{self, Kind};
use crate::failure::Failure;
use crate::features::load_for_model;
use crate::load::{self, AnyMatrix, Loaded};
use crate::outputs::{self, Output};
use crate::progress::Bar;
use crate::terminal::counted;

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
and weighed as those were.")]
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
    let mut read = load::files_read(&args.data, None, None);
    read.push(args.model.clone());
    outputs::check_distinct(&read, &[("--output", Some(&args.output))])?;
    let mut output = Output::claim("--output", &args.output, args.force)?;
    let model = load_model(&args.model)?;
    let loaded = load_for_model(&model, &args.model, &args.data, None, &bar)?;
    let (rows, _) = loaded.dataset.matrix.shape();
    output.reserve(rows * model.rank() * 8)?;
    bar.stage("solving");
    let content = match loaded.matrix()? {
        AnyMatrix::F32(matrix) => representation(&model, matrix, &loaded, kind)?,
        AnyMatrix::F64(matrix) => representation(&model, matrix, &loaded, kind)?,
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

fn representation<T: Element>(
    model: &Model,
    matrix: Matrix<'_, T>,
    loaded: &Loaded,
    kind: Kind,
) -> Result<Vec<u8>, Failure> {
    let w = model.transform(matrix).map_err(|e| loaded.explain(e))?;
    Ok(match kind {
        Kind::Csv => export::write_csv(w.view()),
        Kind::Npy => export::npy(w.view()),
    })
}
