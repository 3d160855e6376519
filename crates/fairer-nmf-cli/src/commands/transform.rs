//! `transform`: coordinates of new rows in a model's dictionary.

use clap::Args;
use fairer_nmf::data::{AnyMatrix, Element};
use fairer_nmf::{Error, Model};
use ndarray::Array2;

use fairer_nmf_io::{Dataset, DenseView, Failure, Form, Loaded, Output, check_distinct};

use crate::args::{DataArgs, RunArgs, UnseenArgs};
use crate::files::end_if_stopped;
use crate::meaning;
use crate::screen::{Bar, counted};
use crate::work::{ForModel, load_for_model, load_model};

/// Give every row of a data file its coordinates in a model's dictionary
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fairer-nmf transform data/heart_disease.csv --model m.safetensors -o W.csv
  fairer-nmf transform new_patients.csv --model m.safetensors --id patient -o W.csv
  fairer-nmf transform X.npy --model m.safetensors -o W.npy

The model remembers how its data were read: columns it left out or grouped by are passed over, words
become the same 0/1 columns, documents the same terms. The columns must be its features; their order
does not matter. Every row gets its exact non-negative least squares coordinates, whatever its
group, in the scale of the model.

The first column of a CSV says whose coordinates they are: --id COLUMN, else `row`, counted from 1.
Rows that were left out because of missing cells stay, empty (in .npy: NaN). Ctrl-C ends it with
nothing written (exit code 1).")]
pub(crate) struct TransformArgs {
    #[command(flatten)]
    data: DataArgs,

    /// Columns that make groups: no features, as if dropped
    #[arg(long, value_name = "COLUMN,...", help_heading = "Data")]
    group_by: Vec<String>,

    /// The column that says whose row it is, for the first column of the output
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    id: Option<String>,

    #[command(flatten)]
    unseen: UnseenArgs,

    /// The model
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    model: String,

    /// The representation, one row a sample: .csv (header row,topic_1,topic_2,...) or .npy; - is
    /// CSV on standard output
    #[arg(long, short, value_name = "W.csv|W.npy", help_heading = "Output")]
    output: String,

    /// Replace a file that exists
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

pub(crate) fn run(mut args: TransformArgs) -> Result<(), Failure> {
    // Nobody asks for groups here; `--drop` may name them too.
    args.data.columns.drop.append(&mut args.group_by);
    let args = &args;
    let bar = Bar::new(&args.run);
    let form = Form::of(&args.output)?;
    let mut read = meaning::files_read(&args.data, None, None, None)?;
    read.push(args.model.clone());
    check_distinct(&read, &[("--output", Some(&args.output))])?;
    let mut output = Output::claim("--output", &args.output, args.force)?;
    let model = load_model(&args.model)?;
    let for_model = ForModel {
        model: &model,
        path: &args.model,
        groups: None,
        unseen: args.unseen,
        id: args.id.as_ref(),
    };
    let loaded = load_for_model(&for_model, &args.data, &bar)?;
    let rows = loaded.dataset.records();
    output.reserve(rows * model.rank() * 8)?;
    let content = match loaded.matrix()? {
        AnyMatrix::F32(_) => {
            let w = representation::<f32>(&model, &loaded, &bar)?;
            written(DenseView::F32(w.view()), form, &loaded.dataset)
        }
        AnyMatrix::F64(_) => {
            let w = representation::<f64>(&model, &loaded, &bar)?;
            written(DenseView::F64(w.view()), form, &loaded.dataset)
        }
    };
    let shown = output.shown().to_owned();
    output.write(&content)?;
    bar.finish();
    loaded.dataset.notes.iter().for_each(|note| bar.note(&note.sentence));
    if args.output != "-" {
        let (rows, topics) = (counted(rows, "row"), counted(model.rank(), "topic"));
        bar.note(&format!("wrote {shown} ({rows}, {topics})"));
    }
    Ok(())
}

/// Rows between two looks at Ctrl-C: many enough that what a chunk costs beside its rows does not
/// show, few enough that they are solved in a moment.
const CHUNK: usize = 1 << 14;

fn representation<T: Element>(
    model: &Model,
    loaded: &Loaded,
    bar: &Bar,
) -> Result<Array2<T>, Failure> {
    let dataset = &loaded.dataset;
    let (rows, _) = dataset.matrix.shape();
    // Rows that were left out have no coordinates.
    let (records, rank) = (dataset.records(), model.rank());
    let mut w = vec![T::from_f64(f64::NAN); records * rank];
    let place: Vec<usize> = (0..rows).map(|row| dataset.record(row)).collect();
    for start in (0..rows).step_by(CHUNK) {
        bar.counted("solving, rows", start, rows);
        end_if_stopped()?;
        let chunk = start..rows.min(start + CHUNK);
        let matrix = loaded.rows(chunk.clone())?;
        let found = model.coordinates(matrix, loaded.gaps(chunk.clone()));
        let found = T::representation(found.map_err(|e| loaded.explain(further_on(e, start)))?);
        let found = found.as_standard_layout();
        let lines = found.as_slice().expect("in standard layout").chunks_exact(rank);
        for (row, line) in chunk.zip(lines) {
            w[place[row] * rank..][..rank].copy_from_slice(line);
        }
    }
    end_if_stopped()?;
    Ok(Array2::from_shape_vec((records, rank), w).expect("a line for every record"))
}

fn written(w: DenseView<'_>, form: Form, dataset: &Dataset) -> Vec<u8> {
    match form {
        Form::Csv => {
            let (name, ids) = dataset.row_names();
            w.to_csv(&name, &ids)
        }
        Form::Npy => w.to_npy(),
    }
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
