//! Laws of checkpoints: a fit that was interrupted and went on is the fit that was not.

use fairer_nmf::fit::{Checkpoint, fit_kept};
use fairer_nmf::{
    Baseline, Fit, GroupedData, Init, Method, Parameters, Progress, Update, baseline::Estimate,
    fit, silent, synthetic,
};
use ndarray::Array2;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn sample() -> (Array2<f64>, Vec<&'static str>) {
    let (x, labels) = synthetic::second(4);
    let rows: Vec<usize> = (0..x.nrows()).step_by(5).collect();
    (x.select(ndarray::Axis(0), &rows), rows.iter().map(|&row| labels[row]).collect())
}

fn at(path: &Path, resume: bool) -> Checkpoint {
    Checkpoint::new(path, Duration::from_millis(3)).with(|c| c.resume = resume)
}

/// The same bits, whatever of the model.
fn assert_same(a: &Fit, b: &Fit, what: &str) {
    assert_eq!(a.model.to_bytes().unwrap(), b.model.to_bytes().unwrap(), "{what}");
    assert_eq!(a.representation, b.representation, "{what}");
}

#[test]
fn a_fit_that_goes_on_ends_with_the_same_bits() {
    let (x, labels) = sample();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let quick = Estimate::paper().with(|e| e.runs = 2);
    let variants = [
        (Method::am(), Init::Auto),
        (Method::mu(), Init::Random),
        (Method::Standard { update: Update::Hals }, Init::Random),
        (Method::am(), Init::Nndsvd),
        (Method::standard(), Init::Auto),
        (Method::between(0.5), Init::Auto),
    ];
    for (method, init) in variants {
        let p = Parameters::new(3).with(|p| {
            p.method = method;
            p.init = init;
            p.n_init = 2;
            p.baseline = Baseline::Estimate(quick.clone());
        });
        let expected = fit(&data, &p, &silent).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let undisturbed = fit_kept(&data, &p, Some(&at(&path, false)), &silent).unwrap();
        assert_same(&expected, &undisturbed, "with a checkpoint");
        // Stopped again and again, each time a little later, in baselines, starts and the closing.
        let mut resume = false;
        for stop in (0..40).map(|k| 3 + 7 * k * k) {
            let calls = AtomicUsize::new(0);
            let observer = |_: &Progress<'_>| match calls.fetch_add(1, Ordering::Relaxed) < stop {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            let went = fit_kept(&data, &p, Some(&at(&path, resume)), &observer);
            resume = true;
            if calls.load(Ordering::Relaxed) <= stop {
                assert_same(
                    &expected,
                    &went.unwrap(),
                    &format!("{method:?}, stopped up to {stop}"),
                );
                break;
            }
        }
        let again = fit_kept(&data, &p, Some(&at(&path, true)), &silent).unwrap();
        assert_same(&expected, &again, "from what was left");
    }
}

#[test]
fn other_data_or_parameters_are_refused_with_the_reason() {
    let (x, labels) = sample();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let p = Parameters::new(2).with(|p| {
        p.n_init = 1;
        p.baseline = Baseline::Zero;
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let refused = |data: &GroupedData<'_>, p: &Parameters| {
        let error = fit_kept(data, p, Some(&at(&path, true)), &silent).expect_err("refused");
        error.to_string()
    };
    assert!(refused(&data, &p).contains("there is no checkpoint"));
    fit_kept(&data, &p, Some(&at(&path, false)), &silent).unwrap();
    let said = refused(&data, &p.clone().with(|p| p.rank = 3));
    assert!(said.contains("rank was 2 and is 3 now"), "{said}");
    let said = refused(&data, &p.clone().with(|p| p.seed = 9));
    assert!(said.contains("seed was 0 and is 9 now"), "{said}");
    // The last bit of one entry.
    let mut other = x.clone();
    other[[7, 3]] = other[[7, 3]].next_up();
    let said = refused(&GroupedData::new(other.view(), &labels).unwrap(), &p);
    assert!(said.contains("the numbers in the data are not those of then"), "{said}");
    // Other weights, and the same numbers in single precision.
    let ones = vec![1.0; x.nrows()];
    let weighted = |at: usize, weight: f64| {
        let mut weights = ones.clone();
        weights[at] = weight;
        GroupedData::new(x.view(), &labels).unwrap().with_weights(&weights).unwrap()
    };
    assert!(refused(&weighted(5, 1.0 + 1e-9), &p).contains("are not those of then"));
    let single = x.mapv(|v| v as f32);
    let single = GroupedData::new(single.view(), &labels).unwrap();
    let said = fit_kept(&single, &p, Some(&at(&path, true)), &silent).unwrap_err().to_string();
    assert!(said.contains("had double precision and have single now"), "{said}");
    // The same entries with other factors.
    let scaled = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    assert!(refused(&scaled, &p).contains("are not those of then"));
    // Two rows of one group that change places.
    let mut other = x.clone();
    let differs = |row: &usize| labels[*row] == labels[0] && x.row(*row) != x.row(0);
    let partner = (1..x.nrows()).find(differs).unwrap();
    other.row_mut(0).assign(&x.row(partner));
    other.row_mut(partner).assign(&x.row(0));
    let said = refused(&GroupedData::new(other.view(), &labels).unwrap(), &p);
    assert!(said.contains("are not those of then"), "{said}");
    let mut others = labels.clone();
    others.swap(0, x.nrows() - 1);
    let said = refused(&GroupedData::new(x.view(), &others).unwrap(), &p);
    assert!(said.contains("are not those of then"), "{said}");
    let few = x.slice(ndarray::s![1.., ..]);
    let said = refused(&GroupedData::new(few, &labels[1..]).unwrap(), &p);
    assert!(said.contains("the data were 300 rows"), "{said}");
    // More time is no other fit.
    let mut later = p.clone();
    later.stopping.time_limit = Some(Duration::from_secs(1000));
    fit_kept(&data, &later, Some(&at(&path, true)), &silent).unwrap();
    // Another version may search in another way.
    let head = std::fs::read_to_string(&path).unwrap();
    let own = concat!("\"library\":\"", env!("CARGO_PKG_VERSION"), "\"");
    for other in ["\"library\":\"0.0.9\"", "\"no\":0"] {
        assert!(head.contains(own));
        std::fs::write(&path, head.replace(own, other)).unwrap();
        assert!(refused(&data, &p).contains("was written by another version"));
    }
    std::fs::write(&path, "something else").unwrap();
    assert!(refused(&data, &p).contains("no checkpoint, or a damaged one"));
}

/// Which cells are unobserved is part of the data, also where the others are zero.
#[test]
fn other_gaps_are_other_data() {
    let (mut x, labels) = sample();
    for cell in [[3, 2], [5, 2], [3, 4]] {
        x[cell] = 0.0;
    }
    let with = |gaps: &[[usize; 2]]| {
        let mut mask = Array2::from_elem(x.dim(), false);
        gaps.iter().for_each(|&cell| mask[cell] = true);
        GroupedData::new(x.view(), &labels).unwrap().with_unobserved(mask.view()).unwrap()
    };
    let p = Parameters::new(2).with(|p| {
        p.n_init = 1;
        p.baseline = Baseline::Zero;
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let own = with(&[[3, 2]]);
    let expected = fit_kept(&own, &p, Some(&at(&path, false)), &silent).unwrap();
    for gaps in [&[[5, 2]][..], &[[3, 4]], &[[3, 2], [5, 2]], &[]] {
        let refused = fit_kept(&with(gaps), &p, Some(&at(&path, true)), &silent).unwrap_err();
        let said = refused.to_string();
        assert!(said.contains("are not those of then"), "{gaps:?}: {said}");
    }
    let again = fit_kept(&own, &p, Some(&at(&path, true)), &silent).unwrap();
    assert_same(&expected, &again, "with the same gaps");
}

/// Beginning anew removes what an older fit left in the same place.
#[test]
fn beginning_anew_leaves_nothing_of_before() {
    let (x, labels) = sample();
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let p = |rank, n_init| {
        Parameters::new(rank).with(|p| {
            p.n_init = n_init;
            p.baseline = Baseline::Zero;
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    std::fs::write(folder.path().join("state.txt"), "the user's own").unwrap();
    fit_kept(&data, &p(3, 3), Some(&at(&path, false)), &silent).unwrap();
    let of_others = ["state.restart-1", "state.exchange-0-0", "state.split-0-0"];
    let kept = || of_others.map(|name| names().iter().any(|n| n == name));
    assert_eq!(kept(), [true; 3], "{:?}", names());
    fit_kept(&data, &p(2, 1), Some(&at(&path, false)), &silent).unwrap();
    assert_eq!(kept(), [false; 3], "{:?}", names());
    assert!(names().contains(&"state.txt".to_owned()));
    assert!(names().iter().all(|name| !name.starts_with('.')), "{:?}", names());
}
