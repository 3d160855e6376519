//! `topics`: the dictionary in words.

use clap::Args;
use fairer_nmf::Model;
use fairer_nmf_io::{Failure, Output, check_distinct};
use fairer_nmf_report::SCHEMA;
use ndarray::ArrayView1;
use serde::Serialize;

use crate::args::RunArgs;
use crate::results::json;
use crate::screen::{FAINT, PLAIN, STRONG, Table, print, styled};
use crate::work::load_model;

/// Show the strongest features of every topic of a model
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  fairer-nmf topics m.safetensors --top 5

Numbers are shares of the topic: over all features they add up to 1. Where the model scaled its features, these are the
scaled ones, so that a feature with large numbers does not win by its unit.")]
pub(crate) struct TopicsArgs {
    /// A model that `fit --model` wrote
    #[arg(value_name = "MODEL")]
    model: String,

    /// How many features of each topic
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,

    /// Write the topics as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<String>,

    /// Replace files that exist
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    run: RunArgs,
}

/// A topic: its strongest features, strongest first.
#[derive(Debug, Serialize)]
pub(crate) struct Topic {
    pub topic: usize,
    pub features: Vec<Weighted>,
}

/// A feature and its share of the topic, as on a page.
#[derive(Debug, Serialize)]
pub(crate) struct Weighted {
    pub name: String,
    pub share: f64,
}

/// The fields of `--json`.
#[derive(Debug, Serialize)]
struct Topics<'a> {
    /// The version of these fields; docs/schema/topics.json has them.
    schema: u32,
    topics: &'a [Topic],
}

/// The strongest features of every topic; zeros never count.
pub(crate) fn strongest(model: &Model, top: usize) -> Vec<Topic> {
    let name = |j: usize| match &model.feature_names {
        Some(names) => names[j].clone(),
        None => format!("f{j}"),
    };
    let of = |row: ArrayView1<'_, f64>| {
        let mut order: Vec<usize> = (0..row.len()).filter(|&j| row[j] > 0.0).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
        order.truncate(top);
        let total = row.sum();
        // A feature in the list is positive, and so is the total.
        order.into_iter().map(|j| Weighted { name: name(j), share: row[j] / total }).collect()
    };
    let rows = model.components.rows().into_iter().enumerate();
    rows.map(|(k, row)| Topic { topic: k + 1, features: of(row) }).collect()
}

pub(crate) fn run(args: &TopicsArgs) -> Result<(), Failure> {
    let read = [args.model.clone()];
    check_distinct(&read, &[("--json", args.json.as_deref())])?;
    let model = load_model(&args.model)?;
    let topics = strongest(&model, args.top as usize);
    if let Some(path) = &args.json {
        let output = Output::claim("--json", path, args.force)?;
        let stdout = output.is_stdout();
        output.write(&json(&Topics { schema: SCHEMA, topics: &topics }))?;
        if stdout {
            return Ok(());
        }
    }
    if args.run.quiet {
        return Ok(());
    }
    let mut text = String::new();
    for topic in &topics {
        text += &format!("{}\n", styled(STRONG, &format!("Topic {}", topic.topic)));
        let largest = topic.features.first().map_or(1.0, |f| f.share);
        let mut table = Table::unheaded(1);
        for feature in &topic.features {
            // The largest share is positive: zeros never count.
            let bar = "█".repeat((feature.share / largest * 20.0).round() as usize);
            let cells = [format!("  {}", feature.name), format!("{:.3}", feature.share)];
            table.styled_row(
                cells.map(|cell| (cell, PLAIN)).into_iter().chain([(format!("{bar:<20}"), FAINT)]),
            );
        }
        if topic.features.is_empty() {
            text += "  (empty)\n";
        }
        text += &table.render();
        text.push('\n');
    }
    print(&text)
}
