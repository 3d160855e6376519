//! Laws of rows in blocks: the model does not know how the rows were cut, and a read serves all runs.

use super::*;
use crate::baseline::{Estimate, Summary};
use crate::data::{Csr, Indices};
use crate::fit::fit_rows;
use crate::rows::tests::{distance, fixed};
use crate::{
    Baseline, GroupedData, Init, Matrix, Method, Model, Parameters, Stopping, Update, fit, silent,
    synthetic,
};

/// A matrix cut into blocks of so many rows.
struct Cut<T> {
    x: Array2<T>,
    rows: Vec<usize>,
    sparse: bool,
    reads: AtomicUsize,
    /// The block whose reading goes wrong, from which reading on, and how.
    breaks: Option<(usize, usize, Break)>,
}

#[derive(Clone, Copy)]
enum Break {
    Nan,
    Gone,
}

impl<T: Number> Cut<T> {
    fn new(x: &Array2<T>, at_once: usize, sparse: bool) -> Self {
        let firsts = (0..x.nrows()).step_by(at_once);
        let rows = firsts.map(|first| at_once.min(x.nrows() - first)).collect();
        Self { x: x.clone(), rows, sparse, reads: AtomicUsize::new(0), breaks: None }
    }
}

impl<T: Number> BlockSource<T> for Cut<T> {
    fn features(&self) -> usize {
        self.x.ncols()
    }
    fn block_rows(&self) -> &[usize] {
        &self.rows
    }
    fn read(&self, block: usize, into: &mut Block<T>) -> Result<()> {
        let time = if block == 0 {
            self.reads.fetch_add(1, Ordering::Relaxed) + 1
        } else {
            self.reads.load(Ordering::Relaxed)
        };
        let first: usize = self.rows[..block].iter().sum();
        *into = Block::default();
        for row in self.x.rows().into_iter().skip(first).take(self.rows[block]) {
            if !self.sparse {
                into.values.extend(row);
                continue;
            }
            into.starts.push(into.values.len());
            for (j, &v) in row.iter().enumerate().filter(|(_, v)| v.to_f64() != 0.0) {
                into.columns.push(j as i32);
                into.values.push(v);
            }
        }
        if self.sparse {
            into.starts.push(into.values.len());
        }
        match self.breaks {
            Some((at, from, Break::Nan)) if at == block && time >= from => {
                into.values[3] = T::from_f64(f64::NAN);
                Ok(())
            }
            Some((at, from, Break::Gone)) if at == block && time >= from => {
                Err(Error::Rows { reason: "shard 2 is gone".to_owned() })
            }
            _ => Ok(()),
        }
    }
}

fn sample() -> (Array2<f64>, Vec<String>) {
    crate::rows::tests::noisy(300, 20)
}

fn blocks<T: Element>(
    cut: Cut<T>,
    labels: &[String],
    scaling: &FeatureScaling,
    memory: usize,
) -> Result<Held<T>> {
    Held::new(Box::new(cut), GroupCodes::from_labels(labels), scaling, memory)
}

const PLENTY: usize = 1 << 30;

#[test]
fn blocks_give_the_same_iterations_as_memory() {
    let (x, labels) = sample();
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let methods = [
        Method::am(),
        Method::mu(),
        Method::Standard { update: Update::Hals },
        Method::Standard { update: Update::Nnls },
    ];
    for method in methods {
        let p = fixed(method);
        let own = fit(&data, &p, &silent).unwrap();
        // Without memory for W it is in a file.
        for (at_once, sparse, memory) in [(64, false, PLENTY), (37, true, PLENTY), (50, false, 0)] {
            let held =
                blocks(Cut::new(&x, at_once, sparse), &labels, &FeatureScaling::Unit, memory);
            let held = held.unwrap();
            let found = fit_rows(&held, &p, &silent).unwrap();
            let Representation::F64(w) = found.representation().unwrap() else { unreachable!() };
            let history =
                (own.model.history.iter().flatten(), found.model.history.iter().flatten());
            let far = distance(history.0, history.1)
                .max(distance(&own.model.components, &found.model.components))
                .max(distance(&own.representation.to_f64(), &w));
            assert!(far < 1e-10, "{method:?}, {at_once} rows, sparse {sparse}: {far:e}");
            assert_eq!(held.scale().unwrap().len(), x.ncols());
            assert!(distance(data.scale().unwrap(), held.scale().unwrap()) < 1e-12);
        }
    }
}

fn assert_alike(own: &Model, found: &Model, tolerance: f64) {
    let far = (own.worst_loss() - found.worst_loss()).abs();
    assert!(far < tolerance, "worst losses differ by {far:e}");
    let size = own.groups[0].norm;
    let far = distance(&own.baseline_errors(), &found.baseline_errors()) / size;
    assert!(far < tolerance, "baselines differ by {far:e}");
    let bound = |m: &Model| m.global_bound.value.expect("a bound");
    assert!((bound(own) - bound(found)).abs() < tolerance, "{} {}", bound(own), bound(found));
}

#[test]
fn whole_fits_from_blocks_are_those_from_memory() {
    let (x, labels) = synthetic::second(1);
    let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
    let x = x.mapv(|v| 100.0 * v);
    let p = Parameters::new(4);
    let own = fit(&GroupedData::new(x.view(), &labels).unwrap(), &p, &silent).unwrap().model;
    let held =
        blocks(Cut::new(&x, 100, false), &labels, &FeatureScaling::AsTheyAre, PLENTY).unwrap();
    let found = fit_rows(&held, &p, &silent).unwrap().model;
    assert_alike(&own, &found, 1e-5);
    assert_eq!(held.scale(), None);

    let single = x.mapv(|v| v as f32);
    let own = fit(&GroupedData::new(single.view(), &labels).unwrap(), &p, &silent).unwrap().model;
    let held =
        blocks(Cut::new(&single, 64, true), &labels, &FeatureScaling::AsTheyAre, PLENTY).unwrap();
    assert_alike(&own, &fit_rows(&held, &p, &silent).unwrap().model, 1e-3);
}

/// Groups with no more rows than topics stay outside the maximum here as in memory.
#[test]
fn small_groups_in_blocks_are_outside_as_in_memory() {
    let (x, mut labels) = sample();
    labels[..3].fill("few".into());
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let estimate = Estimate { runs: 2, ..Estimate::paper() };
    for (method, allowed) in
        [(Method::am(), false), (Method::am(), true), (Method::standard(), false)]
    {
        let p = Parameters {
            allow_small_groups: allowed,
            baseline: Baseline::Estimate(estimate.clone()),
            bound: true,
            ..fixed(method)
        };
        let own = fit(&data, &p, &silent).unwrap().model;
        let held = blocks(Cut::new(&x, 64, false), &labels, &FeatureScaling::AsTheyAre, PLENTY);
        let held = held.unwrap();
        let found = fit_rows(&held, &p, &silent).unwrap().model;
        let few = found.groups.iter().find(|g| g.name == "few").unwrap();
        assert_eq!(few.outside, !allowed, "{method:?}");
        let outside = |model: &Model| model.groups.iter().map(|g| g.outside).collect::<Vec<_>>();
        assert_eq!(outside(&own), outside(&found));
        assert_eq!(own.warnings, found.warnings);
        assert_eq!(own.parameters, found.parameters);
        let losses = |model: &Model| model.groups.iter().map(|g| g.loss).collect::<Vec<_>>();
        let far = distance(own.history.iter().flatten(), found.history.iter().flatten())
            .max(distance(&own.components, &found.components))
            .max(distance(&losses(&own), &losses(&found)));
        assert!(far < 1e-6, "{method:?}, {allowed}: {far:e}");
        assert_alike(&own, &found, 1e-6);
    }
}

/// What a dictionary costs every group does not depend on who holds the rows.
#[test]
fn a_dictionary_costs_in_blocks_what_it_costs_in_memory() {
    let (x, labels) = sample();
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let h = fit(&data, &fixed(Method::am()), &silent).unwrap().model.components;
    let none = vec![0.0; data.groups().len()];
    let own = crate::audit::evaluate(&data, h.view(), None, &none).unwrap().relative_errors;
    for (at_once, sparse) in [(64, false), (37, true)] {
        let held = blocks(Cut::new(&x, at_once, sparse), &labels, &FeatureScaling::Unit, PLENTY);
        let found = crate::audit::evaluate_rows(&held.unwrap(), h.view()).unwrap();
        assert!(distance(&own, &found) < 1e-12, "{own:?} {found:?}");
    }
}

/// Baselines alone, too.
#[test]
fn baselines_of_blocks_are_those_of_memory() {
    let (x, labels) = sample();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let held = blocks(Cut::new(&x, 64, false), &labels, &FeatureScaling::AsTheyAre, PLENTY);
    let asked = Baseline::Estimate(Estimate { runs: 2, ..Estimate::paper() });
    let own = crate::fit::estimate_baselines(&data, 3, &asked, 1, &silent).unwrap();
    let found = crate::fit::baselines_of_rows(&held.unwrap(), 3, &asked, 1, &silent).unwrap();
    assert_eq!((own.len(), found.len()), (3, 3));
    for (own, found) in own.iter().zip(&found) {
        assert!((own.error - found.error).abs() < 1e-6 * own.error, "{own:?} {found:?}");
    }
}

/// As many reads for five baseline runs of every group as for one run of one, and as many for four
/// restarts as for one.
#[test]
fn one_read_serves_all_runs() {
    let (x, labels) = sample();
    let reads = |baseline: Baseline, n_init: usize| {
        let p = Parameters { baseline, n_init, ..fixed(Method::am()) };
        let held = blocks(Cut::new(&x, 64, false), &labels, &FeatureScaling::Unit, PLENTY).unwrap();
        fit_rows(&held, &p, &silent).unwrap();
        held.reads()
    };
    let estimate = |runs| {
        let stopping = Stopping { tolerance: 0.0, max_iterations: 10, ..Stopping::default() };
        let init = Init::Random;
        Baseline::Estimate(Estimate {
            runs,
            update: Update::Mu,
            init,
            stopping,
            summary: Summary::Mean,
        })
    };
    let alone = reads(Baseline::Zero, 1);
    // The check, the first statistics, one read an iteration, steps that are taken back, the closing.
    assert!((14..26).contains(&alone), "{alone}");
    let phase = reads(estimate(1), 1) - alone;
    assert!((10..=12).contains(&phase), "{phase}");
    assert_eq!(reads(estimate(5), 1) - alone, phase);
    let restarts = reads(Baseline::Zero, 4);
    // A restart that takes a step back more often is waited for.
    assert!(restarts <= alone + 8, "{restarts} reads, {alone} for one start");
}

#[test]
fn what_is_wrong_with_the_data_is_said_where_it_is() {
    let (mut x, labels) = sample();
    let open = |x: &Array2<f64>, labels: &[String]| {
        blocks(Cut::new(x, 64, false), labels, &FeatureScaling::Unit, PLENTY).err()
    };
    assert!(open(&x, &labels).is_none());
    assert!(matches!(open(&x, &labels[1..]), Some(Error::LabelCount { .. })));
    x[[70, 2]] = -1.0;
    assert!(matches!(open(&x, &labels), Some(Error::BadEntry { row: 70, column: 2, .. })));
    x[[70, 2]] = 0.0;
    for row in (0..x.nrows()).filter(|&row| labels[row] == labels[0]) {
        x.row_mut(row).fill(0.0);
    }
    assert!(matches!(open(&x, &labels), Some(Error::ZeroGroup { .. })));
}

/// While the last block is worked on, the first is read for the next time; nothing is read twice.
#[test]
fn the_first_block_is_read_in_advance() {
    let (x, labels) = sample();
    for (at_once, in_advance) in [(64, 1), (300, 0)] {
        let cut = Arc::new(Cut::new(&x, at_once, false));
        let groups = GroupCodes::from_labels(&labels);
        let held = Held::new(Box::new(cut.clone()), groups, &FeatureScaling::AsTheyAre, PLENTY);
        let (held, opened) = (held.unwrap(), cut.reads.load(Ordering::Relaxed));
        for time in 1..4 {
            let mut seen = Vec::<f64>::new();
            let visit = |_, block: &Block<f64>| {
                seen.extend(&block.values);
                Ok(())
            };
            held.core.each_block(visit).unwrap();
            assert!(seen.iter().eq(&x), "{at_once} rows at once, time {time}");
            assert_eq!(cut.reads.load(Ordering::Relaxed) - opened, time + in_advance);
        }
    }
}

/// In the middle of baselines or restarts: an error in all runs, and nobody waits for ever.
#[test]
fn what_changes_during_a_fit_ends_it_with_a_reason() {
    let (x, labels) = sample();
    for (breaks, word) in [(Break::Nan, "row 64, column 3 became NaN"), (Break::Gone, "shard 2")] {
        for from in [4, 40] {
            let cut = Cut { breaks: Some((1, from, breaks)), ..Cut::new(&x, 64, false) };
            let held = blocks(cut, &labels, &FeatureScaling::Unit, PLENTY).unwrap();
            let error = fit_rows(&held, &Parameters::new(4), &silent).err().expect("an error");
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}

#[test]
fn groups_are_sorted_as_in_memory() {
    let labels = ["10", "b", "9", "a", "10"];
    let x = Array2::from_elem((5, 2), 1.0);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let groups = GroupCodes::from_labels(labels);
    assert!(data.groups().iter().map(|g| &g.name).eq(&groups.names));
    for (row, &code) in groups.codes.iter().enumerate() {
        assert!(data.groups()[code as usize].rows.contains(&row));
    }
}

#[test]
fn sparse_blocks_are_seen_as_they_are() {
    let block =
        Block { values: vec![2.0, 1.0, 3.0], starts: vec![0, 1, 3], columns: vec![1, 0, 2] };
    [false, true].iter().for_each(|known| block.check(0, 2, 3, *known).unwrap());
    let Matrix::Sparse(found) = block.matrix(2, 3) else { unreachable!() };
    let same = Csr::new(3, &[0usize, 1, 3], Indices::I32(&[1, 0, 2]), &[2.0, 1.0, 3.0]).unwrap();
    assert_eq!((found.rows(), found.stored()), (same.rows(), same.stored()));
    for known in [false, true] {
        assert!(block.check(0, 3, 3, known).is_err() && block.check(0, 2, 2, known).is_err());
    }
}
