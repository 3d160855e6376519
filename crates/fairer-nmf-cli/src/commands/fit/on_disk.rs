//! A fit to data that stay on disk and are read block by block.

use std::time::Instant;

use fairer_nmf::{Baseline, Note};
use fairer_nmf_io::{Failure, Scaling};

use super::super::order::{self, OnData};
use super::FitArgs;
use crate::args::{Normalize, RankName};
use crate::meaning;
use crate::results::{DataFacts, Outcome, Seconds, cautions, normalized};
use crate::screen::Bar;
use crate::work::{Wanted, fit_shards, open};

/// Fits with so much memory in all.
pub(super) fn fit_on_disk(args: &FitArgs, memory: usize) -> Result<(), Failure> {
    let bar = Bar::new(&args.common.run);
    let mut files = args.claim()?;
    let method = args.method()?;
    let start = Instant::now();
    let solver = &args.common.solver;
    let RankName::Given(rank) = args.rank else {
        return Err(Failure::wrong(
            "--rank auto holds the data in memory: give the rank with --memory, or choose it on a part of the rows",
        ));
    };
    if args.groups.merge_small > 0 {
        return Err(Failure::wrong(
            "--merge-small does not go with data that stay on disk: merge the labels first",
        ));
    }
    let held = open(&args.data, &args.groups, memory, &bar)?;
    let scaling = match solver.normalize {
        Some(Normalize::None) => Scaling::AsTheyAre,
        _ => Scaling::UnitFeatures,
    };
    let limit = meaning::input_limit(&args.data);
    let parameters = |names: &[&str]| {
        let baseline = meaning::baseline(&args.common.baseline, names, Baseline::best(), limit)?;
        Ok(meaning::parameters(rank, method, solver).with(|p| p.baseline = baseline))
    };
    let wanted = Wanted {
        memory,
        scaling: &scaling,
        compare: args.compare(),
        parameters: &parameters,
        checkpoint: args.checkpoint(),
    };
    bar.limit(solver.time_limit);
    let mut found = fit_shards(&held.shards, held.groups, &wanted, &bar)?;
    bar.finish();
    found.model.feature_names = held.features;
    found.model.preparation = held.preparation;
    let (baselines, fit) = (found.baseline_time.as_secs_f64(), found.fit_time.as_secs_f64());
    let read = (start.elapsed().as_secs_f64() - baselines - fit).max(0.0);
    let facts = DataFacts {
        path: args.data.data.clone(),
        rows: found.shape.0,
        features: found.shape.1,
        precision: found.precision,
        normalize: normalized(&scaling),
        left_out: held.left_out,
    };
    let own = method.is_standard() && !args.common.no_compare;
    let standard = if own { Some(&found.model) } else { found.standard.as_ref() };
    let seconds = Seconds { read, baselines, fit };
    let mut outcome = Outcome::of_model(&found.model, standard, &[], seconds, facts);
    outcome.reads = Some(found.reads);
    outcome.notes = held.notes;
    let sentence = format!("all rows were read {} times", found.reads);
    outcome.notes.push(Note::new("reads", sentence));
    outcome.warnings = found.warnings;
    outcome.warnings.extend(outcome.explains_little());
    outcome.warnings.extend(cautions::of_vanished(held.vanished + held.shards.vanished()));
    outcome.min_group_size = args.common.audit.min_group_size;
    files.write_model(&found.model)?;
    order::finish(&outcome, files, &args.common.run, &bar)
}
