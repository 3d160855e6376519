//! Laws of rows that are spread: a fit does not know how, nor whether shares lose what they keep.

use super::*;
use crate::audit::{Evaluation, Resampling, evaluate, evaluate_spread};
use crate::baseline::Estimate;
use crate::data::Element;
use crate::data::{Csr, Indices};
use crate::fit::{Checkpoint, fit_kept, fit_rows, fit_rows_kept};
use crate::rows::Share;
use crate::{
    Baseline, GroupedData, Init, Matrix, Method, Model, Parameters, Stopping, Update, fit, silent,
    synthetic,
};
use ndarray::{Array2, s};

/// Shares in this process, some of which are made anew now and then.
struct Here<'a, T> {
    parts: Vec<(Matrix<'a, T>, Vec<usize>, u64)>,
    kept: Vec<Mutex<Share<T>>>,
    groups: usize,
    /// At which questions a share is lost.
    loses: fn(u64) -> bool,
    asked: AtomicU64,
    /// Bytes of the longest question and of the longest answer.
    traffic: Mutex<(usize, usize)>,
}

impl<'a, T: Element> Here<'a, T> {
    fn new(parts: Vec<(Matrix<'a, T>, Vec<usize>, u64)>, groups: usize) -> Self {
        let made = parts.iter().map(|(x, codes, first)| Share::new(x, codes, groups, *first));
        let kept = made.map(|share| Mutex::new(share.unwrap())).collect();
        let (asked, traffic) = (AtomicU64::new(0), Mutex::new((0, 0)));
        Self { parts, kept, groups, loses: |_| false, asked, traffic }
    }

    /// Cut before the given rows.
    fn cut(x: &'a Array2<T>, codes: &[usize], at: &[usize]) -> Self {
        let ends: Vec<usize> = at.iter().copied().chain([x.nrows()]).collect();
        let mut first = 0;
        let mut parts = Vec::new();
        for end in ends {
            let rows = Matrix::Dense(x.slice(s![first..end, ..]));
            parts.push((rows, codes[first..end].to_vec(), first as u64));
            first = end;
        }
        Self::new(parts, codes.iter().max().unwrap() + 1)
    }
}

impl<T: Element> Shares for Here<'_, T> {
    fn sum(&self, request: &Request) -> Result<Vec<f64>> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let mut total: Vec<f64> = Vec::new();
        for (i, (kept, (x, codes, first))) in self.kept.iter().zip(&self.parts).enumerate() {
            let mut kept = kept.lock().unwrap();
            if (self.loses)(asked) && asked as usize % self.parts.len() == i {
                *kept = Share::new(x, codes, self.groups, *first)?;
            }
            let question = request.to_bytes(false);
            let answer = match kept.answer(x, &question)? {
                Some(answer) => answer,
                None => kept.answer(x, &request.to_bytes(true))?.expect("told how"),
            };
            // Asked twice, it answers alike, and W moves once.
            if asked.is_multiple_of(3) {
                assert_eq!(kept.answer(x, &question)?.as_ref(), Some(&answer));
            }
            let mut traffic = self.traffic.lock().unwrap();
            *traffic = (traffic.0.max(question.len()), traffic.1.max(8 * answer.len()));
            total.resize(answer.len(), 0.0);
            total.iter_mut().zip(answer).for_each(|(t, a)| *t += a);
        }
        Ok(total)
    }
}

fn distance(a: &Model, b: &Model) -> f64 {
    let far = |(a, b): (&f64, &f64)| (a - b).abs();
    let history = a.history.iter().flatten().zip(b.history.iter().flatten()).map(far);
    a.components.iter().zip(&b.components).map(far).chain(history).fold(0.0, f64::max)
}

fn fixed(method: Method, init: Init) -> Parameters {
    Parameters {
        method,
        init,
        n_init: 1,
        baseline: Baseline::Zero,
        stopping: Stopping { tolerance: 0.0, max_iterations: 25, ..Stopping::default() },
        bound: false,
        ..Parameters::new(3)
    }
}

fn names() -> Vec<String> {
    vec!["High rank".to_owned(), "Low rank".to_owned()]
}

fn codes(labels: &[&str]) -> Vec<usize> {
    labels.iter().map(|&label| usize::from(label == "Low rank")).collect()
}

/// Cuts that leave shares of one row and shares without a group.
const CUTS: [&[usize]; 4] = [&[], &[1], &[500], &[3, 4, 333, 777, 999]];

fn methods() -> [Method; 4] {
    let standard = |update| Method::Standard { update };
    [Method::am(), Method::mu(), standard(Update::Hals), standard(Update::Mu)]
}

#[test]
fn any_partition_gives_the_same_iterations() {
    let (x, labels) = synthetic::first(1);
    let codes = codes(&labels);
    for (scale, normalized) in [(FeatureScaling::Unit, true), (FeatureScaling::AsTheyAre, false)] {
        for method in methods() {
            let data = GroupedData::new(x.view(), &labels).unwrap();
            let data = if normalized { data.normalize_features().unwrap() } else { data };
            let p = fixed(method, Init::Random);
            let own = fit(&data, &p, &silent).unwrap().model;
            for at in CUTS {
                let here = Here::cut(&x, &codes, at);
                let rows = Spread::new(&here, names(), x.ncols(), false, scale.clone()).unwrap();
                let other = fit_rows(&rows, &p, &silent).unwrap().model;
                let far = distance(&own, &other);
                assert!(far < 1e-10, "{method:?}, cut at {at:?}: {far:e}");
                assert_eq!(data.scale().is_some(), rows.scale().is_some());
            }
        }
    }
}

/// Rows are made anew as they were: exact ones from one dictionary, the others along their path. With them
/// baselines stay what they are.
#[test]
fn lost_shares_do_not_matter() {
    let (x, labels) = synthetic::first(2);
    let codes = codes(&labels);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let losing = |loses: fn(u64) -> bool, p: &Parameters| {
        let here = Here { loses, ..Here::cut(&x, &codes, &[100, 600]) };
        let rows =
            Spread::new(&here, names(), x.ncols(), false, FeatureScaling::AsTheyAre).unwrap();
        fit_rows(&rows, p, &silent).unwrap().model
    };
    let when: [fn(u64) -> bool; 2] = [|asked| asked % 2 == 1, |asked| asked % 7 == 5];
    for method in methods() {
        let p = fixed(method, Init::Random);
        let own = fit(&data, &p, &silent).unwrap().model;
        for loses in when {
            let far = distance(&own, &losing(loses, &p));
            assert!(far < 1e-8, "{method:?}: {far:e}");
        }
    }
    let paper = Baseline::Estimate(Estimate { runs: 2, ..Estimate::paper() });
    let p = Parameters { baseline: paper, ..fixed(Method::am(), Init::Random) };
    let own = fit(&data, &p, &silent).unwrap().model;
    let other = losing(|asked| asked % 11 == 3, &p);
    for (own, other) in own.baseline_errors().into_iter().zip(other.baseline_errors()) {
        assert!((own / other - 1.0).abs() < 1e-8, "{own} became {other}");
    }
}

/// A path that is too long is given up: exact rows for the last dictionary stand for what came before, and
/// nothing more is kept.
#[test]
fn long_paths_are_not_kept() {
    let step = RowStep::Update(Update::Mu);
    let h = Dictionary { rank: 2, features: 1 << 18, values: vec![1.0; 1 << 19] };
    let mut recipe = Recipe::new(None, Vec::new());
    for steps in [1, 2, 3, 4, 1, 1] {
        assert!(recipe.note(&h, step));
        assert_eq!((recipe.steps.len(), recipe.seen.len()), (steps, steps << 19));
    }
    assert!(recipe.stands_in && recipe.steps != [step]);
    assert!(recipe.note(&h, RowStep::EXACT));
    assert!(!recipe.stands_in, "exact rows have no path");
    assert!(recipe.note(&h, step));
    assert_eq!(recipe.steps, [RowStep::EXACT, step]);
}

/// Where it is given up, a share that is lost then changes the end by no more than the tolerance explains.
#[test]
fn fits_with_long_paths_end_where_they_would() {
    let (rows, features, rank) = (24, 1 << 15, 4);
    let x = Array2::from_shape_fn((rows, features), |(i, j)| {
        f64::from(u8::from(i % 3 == j % 3)) + ((i * i * 7 + j * (i + 5)) % 11) as f64 / 11.0
    });
    let codes: Vec<usize> = (0..rows).map(|i| usize::from(i >= 9)).collect();
    let labels: Vec<String> = codes.iter().map(|&code| names()[code].clone()).collect();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    for method in [Method::mu(), Method::standard()] {
        let mut p = Parameters { rank, ..fixed(method, Init::Random) };
        p.stopping.max_iterations = 60;
        let own = fit(&data, &p, &silent).unwrap().model;
        // After sixteen steps the path is too long.
        let here = Here { loses: |asked| asked == 20, ..Here::cut(&x, &codes, &[10]) };
        let scale = FeatureScaling::AsTheyAre;
        let rows = Spread::new(&here, names(), x.ncols(), false, scale).unwrap();
        let other = fit_rows(&rows, &p, &silent).unwrap().model;
        assert!(here.asked.load(Ordering::Relaxed) > 40, "{method:?} ended before");
        let far = own.groups.iter().zip(&other.groups).fold(0.0f64, |far, (own, other)| {
            far.max((own.relative_error - other.relative_error).abs())
        });
        assert!(0.0 < far && far < 2e-3, "{method:?}: errors differ by {far:e}");
    }
}

/// Baselines, bound, restarts and the closing; dense and sparse, f32 and f64.
#[test]
fn whole_fits_are_the_same() {
    let (x, labels) = synthetic::first(3);
    let codes = codes(&labels);
    let single = x.mapv(|v| v as f32);
    let data = GroupedData::new(single.view(), &labels).unwrap();
    let p = Parameters::new(4);
    let own = fit(&data, &p, &silent).unwrap().model;
    let columns: Vec<i32> = (0..x.len()).map(|i| (i % x.ncols()) as i32).collect();
    let of_rows = |from: usize, to: usize| {
        let n = x.ncols();
        let starts: Vec<usize> = (0..=to - from).map(|i| i * n).collect();
        let values = &single.as_slice().unwrap()[from * n..to * n];
        let csr = Csr::new(n, &starts, Indices::I32(&columns[..values.len()]), values).unwrap();
        (Matrix::Sparse(csr), codes[from..to].to_vec(), from as u64)
    };
    let dense = Here::cut(&single, &codes, &[250, 500, 750]);
    let sparse = Here::new(vec![of_rows(0, 10), of_rows(10, 600), of_rows(600, 1000)], 2);
    for here in [&dense, &sparse] {
        let rows = Spread::new(here, names(), x.ncols(), true, FeatureScaling::AsTheyAre).unwrap();
        let other = fit_rows(&rows, &p, &silent).unwrap().model;
        for (own, other) in own.groups.iter().zip(&other.groups) {
            assert_eq!((own.rows, &own.name), (other.rows, &other.name));
            let far = [
                (own.norm - other.norm) / own.norm,
                (own.baseline.error - other.baseline.error) / own.norm,
                own.loss - other.loss,
            ];
            assert!(far.iter().all(|far| far.abs() < 1e-4), "{far:?}");
        }
        let bounds = (own.global_bound.value.unwrap(), other.global_bound.value.unwrap());
        assert!((bounds.0 - bounds.1).abs() < 1e-4, "{bounds:?}");
    }
}

#[test]
fn traffic_does_not_depend_on_the_number_of_rows() {
    let of_rows = |rows: usize| {
        let x = Array2::from_shape_fn((rows, 9), |(i, j)| ((i * 7 + j * 5) % 11) as f64);
        let codes: Vec<usize> = (0..rows).map(|i| i % 2).collect();
        let here = Here::cut(&x, &codes, &[rows / 3]);
        let rows = Spread::new(&here, names(), 9, false, FeatureScaling::AsTheyAre).unwrap();
        fit_rows(&rows, &fixed(Method::am(), Init::Random), &silent).unwrap();
        drop(rows);
        here.traffic.into_inner().unwrap()
    };
    assert_eq!(of_rows(60).1, of_rows(6_000).1);
    // Numbers of runs may have other digits.
    assert!(of_rows(60).0.abs_diff(of_rows(6_000).0) < 16);
}

#[test]
fn errors_and_intervals_are_those_of_memory() {
    let (x, labels) = synthetic::first(4);
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let model = fit(&data, &fixed(Method::am(), Init::Random), &silent).unwrap().model;
    let h = model.components.view();
    let baselines = [0.0; 2];
    let own: Evaluation = evaluate(&data, h, None, &baselines).unwrap();
    let resampling = Resampling { draws: 2_000, level: 0.9, seed: 5 };
    let draws = crate::audit::bootstrap(&data, &own, &baselines, resampling).unwrap();
    let mut drawn: Option<Vec<_>> = None;
    for at in CUTS {
        let here = Here::cut(&x, &codes(&labels), at);
        let scale = FeatureScaling::Given(data.scale().unwrap().to_vec());
        let rows = Spread::new(&here, names(), x.ncols(), false, scale).unwrap();
        let (errors, found) = evaluate_spread(&rows, h, Some(resampling)).unwrap();
        for l in 0..2 {
            assert!((errors[l] - own.relative_errors[l]).abs() < 1e-12);
            let theirs = draws.groups[l].relative_error;
            let width = theirs.high - theirs.low;
            // Ends of 2,000 draws scatter by some 3 % of the width.
            assert!((found[l].low - theirs.low).abs() < 0.12 * width, "{:?} {theirs:?}", found[l]);
            assert!(
                (found[l].high - theirs.high).abs() < 0.12 * width,
                "{:?} {theirs:?}",
                found[l]
            );
        }
        // The draws depend on rows, not on shares.
        let ends: Vec<_> = found.iter().flat_map(|i| [i.low, i.high]).collect();
        let first = drawn.get_or_insert_with(|| ends.clone());
        assert!(first.iter().zip(&ends).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn refusals_are_those_of_memory() {
    let x = ndarray::array![[1.0, 2.0], [0.0, 0.0], [3.0, 1.0]];
    let spread = |codes: &[usize], groups: usize, scale| {
        let parts = vec![(Matrix::Dense(x.view()), codes.to_vec(), 0)];
        let here = Here::new(parts, groups);
        let names = (0..groups).map(|l| format!("g{l}")).collect();
        Spread::new(&here, names, 2, false, scale).err().map(|e| e.to_string())
    };
    let given = || FeatureScaling::AsTheyAre;
    assert!(spread(&[0, 1, 0], 2, given()).unwrap().contains("'g1' are zero"));
    assert!(spread(&[0, 0, 0], 2, given()).unwrap().contains("'g1' has no rows"));
    assert!(spread(&[0; 3], 1, FeatureScaling::Given(vec![1.0])).unwrap().contains("features"));
    assert!(spread(&[0; 3], 1, given()).is_none());
    let bad = ndarray::array![[1.0, -2.0]];
    let error = Share::new(&Matrix::Dense(bad.view()), &[0], 1, 0).unwrap_err().to_string();
    assert!(error.contains("row 0, column 1 is -2"), "{error}");
    let here = Here::cut(&x, &[0; 3], &[]);
    let rows = Spread::new(&here, vec!["all".to_owned()], 2, false, given()).unwrap();
    assert!(rows.representation().unwrap_err().to_string().contains("transform"));
}

/// A checkpoint that shares or memory began is gone on from by either; with shares it has no W.
#[test]
fn a_checkpoint_goes_on_with_any_holder() {
    let (x, labels) = synthetic::first(4);
    let codes = codes(&labels);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    // The first iterations are soft, and a run of shares that stops there begins anew.
    for (method, stop) in [(Method::am(), 8), (Method::am(), 20), (Method::mu(), 20)] {
        let p = fixed(method, Init::Random);
        let own = fit(&data, &p, &silent).unwrap().model;
        let run = |spread: bool, stop: usize, resume: bool| {
            let every = std::time::Duration::ZERO;
            let kept = Checkpoint { path: path.clone(), every, resume };
            let told = AtomicU64::new(0);
            let observer = |_: &crate::Progress<'_>| match told.fetch_add(1, Ordering::Relaxed)
                < stop as u64
            {
                true => std::ops::ControlFlow::Continue(()),
                false => std::ops::ControlFlow::Break(()),
            };
            let here = Here::cut(&x, &codes, &[100, 600]);
            match spread {
                false => fit_kept(&data, &p, Some(&kept), &observer).unwrap().model,
                true => {
                    let scale = FeatureScaling::AsTheyAre;
                    let rows = Spread::new(&here, names(), x.ncols(), false, scale).unwrap();
                    fit_rows_kept(&rows, &p, Some(&kept), &observer).unwrap().model
                }
            }
        };
        for (first, second) in [(true, true), (true, false), (false, true)] {
            let begun = run(first, stop, false);
            assert_eq!(begun.status, crate::stopping::Status::Stopped);
            let of_run = std::fs::metadata(folder.path().join("state.restart-0"));
            match (first, stop) {
                (true, 8) => assert!(of_run.is_err(), "a soft beginning is not kept"),
                // Head and dictionaries, and no row.
                (true, _) => assert!(of_run.unwrap().len() < 8 * 3 * x.nrows() as u64),
                (false, _) => assert!(of_run.unwrap().len() > 8 * 3 * x.nrows() as u64),
            }
            let model = run(second, usize::MAX, true);
            let what = format!("{method:?}, stopped after {stop}, {first} then {second}");
            match method {
                Method::Am { .. } => {
                    let far = distance(&own, &model);
                    assert!(
                        far < 1e-8 && own.history.len() == model.history.len(),
                        "{what}: {far:e}"
                    );
                }
                _ => {
                    let far = (own.worst_loss() - model.worst_loss()).abs();
                    assert!(far < 1e-2, "{what}: {far:e}");
                }
            }
        }
    }
}
