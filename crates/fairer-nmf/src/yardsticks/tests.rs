//! Laws of the pieces that yardsticks are made of.

use super::*;
use crate::evaluate::evaluate;
use crate::progress::AuditPart;
use crate::random::{Purpose, Stream};
use crate::rows::{Rows, Units, hold};
use crate::steps::Steps;
use crate::{Baseline, GroupedData, silent};
use ndarray::Array2;

const PURPOSE: Purpose = Purpose::Chance(9, 9);

/// Few topics in noise.
fn noisy(seed: u64, rows: usize, features: usize) -> Array2<f64> {
    let mut stream = Stream::new(seed, Purpose::Synthetic(0), 0);
    let mut uniform = |m, n| Array2::from_shape_simple_fn((m, n), || stream.uniform());
    uniform(rows, 3).dot(&uniform(3, features)) + 0.4 * uniform(rows, features)
}

fn labels(rows: usize) -> Vec<&'static str> {
    (0..rows).map(|row| ["a", "b", "c"][if row % 4 == 3 { 0 } else { row % 3 }]).collect()
}

fn steps() -> Steps<'static> {
    Steps::unwatched(AuditPart::RandomGroups)
}

fn fitter<'a, 'd>(
    (data, rows): (&'a GroupedData<'d>, &'a dyn Rows),
    rank: usize,
    steps: &'a Steps<'a>,
) -> Fitter<'a, 'd> {
    Fitter { data, rows, rank, seed: 3, steps }
}

/// What a dictionary leaves of some rows, in all, from the library's own evaluation of all rows.
fn left(data: &GroupedData<'_>, h: &Array2<f64>, rows: &[usize]) -> f64 {
    let zeros = vec![0.0; data.groups().len()];
    let all = evaluate(data, h.view(), None, &zeros).unwrap().row_squared_errors;
    rows.iter().map(|&row| all[row]).sum()
}

#[test]
fn every_row_is_held_out_once_and_by_folds_of_one_size() {
    let x = noisy(1, 23, 5);
    let data = GroupedData::one_group(x.view()).unwrap();
    let steps = steps();
    let held = hold(&data, Units::Own);
    let fitter = fitter((&data, &*held), 2, &steps);
    for (rows, asked) in [(23, 5), (6, 3), (4, 7), (2, 2)] {
        let folds = fitter.folds(rows, asked, PURPOSE);
        assert_eq!(folds.len(), asked.min(rows));
        let sizes: Vec<usize> = folds.iter().map(Vec::len).collect();
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        let mut all = folds.concat();
        all.sort_unstable();
        assert_eq!(all, (0..rows).collect::<Vec<_>>());
        let others = fitter.folds(rows, asked, Purpose::Chance(9, 8));
        assert!(rows < 10 || folds != others, "at random");
    }
    assert_eq!(fitter.rest(&[7, 2, 9, 4], &[2, 0]), [2, 4]);
}

#[test]
fn what_is_held_out_stands_in_the_order_of_the_rows() {
    let x = noisy(2, 12, 5);
    let data = GroupedData::one_group(x.view()).unwrap();
    let steps = steps();
    let held = hold(&data, Units::Own);
    let fitter = fitter((&data, &*held), 2, &steps);
    let rows = [5, 1, 8, 3, 10, 0, 7];
    let held = |k: usize, fold: &[usize], rest: &[usize]| {
        assert!(k < 3 && fold.len() + rest.len() == rows.len());
        assert!(fold.iter().all(|row| rows.contains(row) && !rest.contains(row)));
        Ok(fold.iter().map(|&row| row as f64).collect())
    };
    let mut found = vec![f64::NAN; rows.len()];
    fitter.cross(&rows, 3, PURPOSE, held, &mut found).unwrap();
    assert_eq!(found, rows.map(|row| row as f64));
    // A single row stays unseen, and so does everything in a single fold; two rows are seen by each other.
    let never = |_: usize, _: &[usize], _: &[usize]| -> crate::Result<Vec<f64>> { panic!("seen") };
    for (rows, folds) in [(&[4][..], 3), (&[4, 9], 1)] {
        let mut found = vec![f64::NAN; rows.len()];
        fitter.cross(rows, folds, PURPOSE, never, &mut found).unwrap();
        let norms: Vec<f64> = rows.iter().map(|&row| data.row_squared_norm(row)).collect();
        assert_eq!(found, norms);
    }
    let mut found = [0.0; 2];
    let ones = |_: usize, _: &[usize], _: &[usize]| Ok(vec![1.0]);
    fitter.cross(&[4, 9], 2, PURPOSE, ones, &mut found).unwrap();
    assert_eq!(found, [1.0; 2]);
}

#[test]
fn a_dictionary_of_some_rows_is_theirs_and_from_more_starts_no_worse() {
    let x = noisy(3, 40, 8);
    let data = GroupedData::new(x.view(), &labels(40)).unwrap();
    let steps = steps();
    let held = hold(&data, Units::Own);
    let fitter = fitter((&data, &*held), 3, &steps);
    let rows = [3, 17, 8, 30, 21, 2, 11, 39, 26, 14];
    let start = noisy(4, 3, 8);
    let from = fitter.from(&rows, start.view(), PURPOSE).unwrap();
    let best = fitter.best(&rows, start.view(), PURPOSE).unwrap();
    let (begun, from, best) =
        (left(&data, &start, &rows), left(&data, &from, &rows), left(&data, &best, &rows));
    assert!(best <= from * (1.0 + 1e-9) && from < 0.7 * begun, "{begun} {from} {best}");
    // From a start that is stuck the random run is the better one.
    let mut poor = Array2::zeros((3, 8));
    poor[[0, 0]] = 1.0;
    let from = fitter.from(&rows, poor.view(), PURPOSE).unwrap();
    let best = fitter.best(&rows, poor.view(), PURPOSE).unwrap();
    let (from, best) = (left(&data, &from, &rows), left(&data, &best, &rows));
    assert!(best < 0.9 * from, "{from} {best}");
    // Errors come row by row, in the order that was asked for.
    let errors = fitter.errors(&rows, &start).unwrap();
    for (row, error) in rows.iter().zip(errors) {
        assert!((error - left(&data, &start, &[*row])).abs() < 1e-12);
    }
}

#[test]
fn rows_of_zeros_teach_nothing_and_cost_nothing() {
    let mut x = noisy(5, 20, 6);
    (0..4).for_each(|row| x.row_mut(row).fill(0.0));
    let data = GroupedData::one_group(x.view()).unwrap();
    let steps = steps();
    let held = hold(&data, Units::Own);
    let fitter = fitter((&data, &*held), 2, &steps);
    let (zeros, start) = ([1, 3, 0], noisy(6, 2, 6));
    assert!(fitter.alone(&zeros).is_none());
    assert_eq!(fitter.from(&zeros, start.view(), PURPOSE).unwrap(), start);
    assert_eq!(fitter.best(&zeros, start.view(), PURPOSE).unwrap(), start);
    assert_eq!(fitter.evened(&zeros, start.view(), &[0.1], PURPOSE).unwrap(), start);
    assert_eq!(fitter.errors(&zeros, &start).unwrap(), [0.0; 3]);
    // One row that is not zero is enough.
    let alone = fitter.alone(&[7, 3, 0]).unwrap();
    assert_eq!(alone[0].1, [0, 3, 7]);
}

/// The dictionary that is made for the groups of some rows evens these out, against offsets in proportion to what is there of each.
#[test]
fn an_evened_dictionary_evens_out_the_groups_that_are_there() {
    let x = noisy(7, 60, 10);
    let names = labels(60);
    let data = GroupedData::new(x.view(), &names).unwrap();
    let steps = steps();
    let held = hold(&data, Units::Own);
    let fitter = fitter((&data, &*held), 3, &steps);
    // Every second row, and none of one group.
    let rows: Vec<usize> = (0..60).filter(|row| row % 2 == 0 && names[*row] != "c").collect();
    let relative = |h: &Array2<f64>, l: usize| {
        let own = data.groups()[l].rows.iter().copied().filter(|row| rows.contains(row));
        let own: Vec<usize> = own.collect();
        let norm: f64 = own.iter().map(|&row| data.row_squared_norm(row)).sum();
        (left(&data, h, &own) / norm).sqrt()
    };
    let start = fitter.best(&rows, noisy(8, 3, 10).view(), PURPOSE).unwrap();
    let offsets = [relative(&start, 0) - 0.03, relative(&start, 1), 0.2];
    let loss = |h: &Array2<f64>, l: usize| relative(h, l) - offsets[l];
    let errors: Vec<f64> =
        data.groups().iter().zip(offsets).map(|(g, offset)| offset * g.norm()).collect();
    let evened = fitter.evened(&rows, start.view(), &errors, PURPOSE).unwrap();
    let (a, b) = (loss(&evened, 0), loss(&evened, 1));
    assert!((a - b).abs() < 2e-3 && a.max(b) < 0.03 - 2e-3, "0.03 and 0 became {a} and {b}");
}

#[test]
fn a_random_run_is_of_its_purpose_and_seed() {
    let x = noisy(15, 30, 7);
    let data = GroupedData::one_group(x.view()).unwrap();
    let steps = steps();
    let rows: Vec<usize> = (0..30).collect();
    // Stuck, so that the random run is the better one.
    let mut poor = Array2::zeros((3, 7));
    poor[[0, 0]] = 1.0;
    let best = |seed: u64, purpose: Purpose| {
        let held = hold(&data, Units::Own);
        let fitter = Fitter { seed, ..fitter((&data, &*held), 3, &steps) };
        fitter.best(&rows, poor.view(), purpose).unwrap()
    };
    let one = best(1, PURPOSE);
    assert_eq!(one, best(1, PURPOSE));
    assert!(one != best(2, PURPOSE) && one != best(1, Purpose::Chance(9, 8)));
}

/// Draws of groups as they are, and of random ones: a loss is what rows pay under the shared dictionary less what they would pay alone.
#[test]
fn a_draw_is_the_losses_of_groups_of_these_sizes() {
    let x = noisy(9, 45, 8);
    let data = GroupedData::new(x.view(), &labels(45)).unwrap();
    let h = noisy(10, 2, 8);
    let zeros = vec![0.0; 3];
    let found = evaluate(&data, h.view(), None, &zeros).unwrap();
    let steps = steps();
    let rows = hold(&data, Units::Own);
    let all = |own| Draws {
        data: &data,
        rows: &*rows,
        components: h.view(),
        row_errors: &found.row_squared_errors,
        own,
        seed: 4,
        steps: &steps,
    };
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    let paid = all(Own::Zero).losses(0).unwrap();
    assert!(close(&paid, &found.relative_errors), "{paid:?}");
    let errors: Vec<f64> = data.groups().iter().map(|g| 0.25 * g.norm()).collect();
    let kind = Baseline::HeldOut { folds: 2, runs: 1 };
    let like = all(Own::Like { kind: &kind, errors: &errors }).losses(0).unwrap();
    assert!(close(&like, &paid.iter().map(|e| e - 0.25).collect::<Vec<_>>()), "{like:?}");
    let best = all(Own::Best).losses(0).unwrap();
    assert!(best.iter().zip(&paid).all(|(own, paid)| *own > 0.0 && own < paid));
    // Random groups: every draw is another one, each of all rows.
    let total = |losses: &[f64]| losses.iter().sum::<f64>();
    let (first, second) = (all(Own::Zero).losses(1).unwrap(), all(Own::Zero).losses(2).unwrap());
    assert!(total(&first) != total(&second) && first != paid);
    assert_eq!(first, all(Own::Zero).losses(1).unwrap());
}

/// Of a group of more rows than asked for as many are looked at, from everywhere in it, and the loss falls with 1/m.
#[test]
fn a_large_group_is_judged_by_rows_from_everywhere_in_it() {
    let x = noisy(11, 90, 8);
    let names: Vec<&str> = (0..90).map(|row| if row < 20 { "small" } else { "large" }).collect();
    let data = GroupedData::new(x.view(), &names).unwrap();
    let h = noisy(12, 2, 8);
    let found = evaluate(&data, h.view(), None, &[0.0; 2]).unwrap();
    let (steps, own) = (steps(), Own::Zero);
    let row_errors = &found.row_squared_errors;
    let rows = hold(&data, Units::Own);
    let draws = Draws {
        data: &data,
        rows: &*rows,
        components: h.view(),
        row_errors,
        own,
        seed: 4,
        steps: &steps,
    };
    let large = data.groups().iter().position(|g| g.name == "large").unwrap();
    let (whole, part) = (draws.losses(0).unwrap(), draws.losses_up_to(0, 20).unwrap());
    assert_eq!(whole[1 - large], part[1 - large]);
    let chosen: Vec<usize> = (0..20).map(|i| 20 + i * 70 / 20).collect();
    let norm: f64 = chosen.iter().map(|&row| data.row_squared_norm(row)).sum();
    let expected = 20.0 / 70.0 * (left(&data, &h, &chosen) / norm).sqrt();
    assert!((part[large] - expected).abs() < 1e-12, "{} {expected}", part[large]);
}

/// Baselines that are fixed, zero, the lowest of runs or made in another way: random groups get theirs alike.
#[test]
fn random_groups_get_baselines_of_the_kind_of_the_groups() {
    let errors = [0.1];
    let of = |kind: Option<Baseline>| match Own::of(Baselines {
        errors: &errors,
        kind: kind.as_ref(),
    }) {
        Own::Best => "best",
        Own::Zero => "zero",
        Own::Like { .. } => "like",
    };
    let paper = Baseline::Estimate(crate::baseline::Estimate::paper());
    let best = Baseline::Estimate(crate::baseline::Estimate::best());
    assert_eq!([of(None), of(Some(Baseline::Zero)), of(Some(paper))], ["best", "zero", "like"]);
    let given = Baseline::Given { errors: errors.to_vec() };
    assert_eq!([of(Some(given)), of(Some(best)), of(Some(Baseline::adjusted()))], ["best"; 3]);
    assert_eq!(of(Some(Baseline::HeldOut { folds: 3, runs: 1 })), "like");
}

/// By the definition, fold by fold, with the library's own fits.
#[test]
fn a_held_out_baseline_is_what_folds_leave_of_rows_that_their_dictionaries_have_not_seen() {
    let mut x = noisy(13, 21, 6);
    // A group whose rows but one are zero: that one's fold has nothing to learn from, the others' nothing to lose.
    (15..20).for_each(|row| x.row_mut(row).fill(0.0));
    let names: Vec<&str> = (0..21)
        .map(|row| match row {
            0..14 => "many",
            14 => "one",
            _ => "zeros",
        })
        .collect();
    let data = GroupedData::new(x.view(), &names).unwrap();
    let of = |name: &str| data.groups().iter().position(|g| g.name == name).unwrap();
    let found = evaluate(&data, noisy(14, 2, 6).view(), None, &[0.0; 3]).unwrap();
    let held = held_out(&data, &found, 4, 2, 8).unwrap();
    assert_eq!((held.folds, held.groups.len()), (4, 3));
    assert_eq!(held_out_count(&data, 4), 8);
    let (many, one, zeros) =
        (&held.groups[of("many")], &held.groups[of("one")], &held.groups[of("zeros")]);
    assert_eq!((one.relative_baseline, one.loss, one.loss_of(0.3)), (None, None, None));
    assert_eq!(zeros.relative_baseline, Some(1.0), "all of it is lost");
    let e = many.relative_baseline.unwrap();
    assert!((many.loss.unwrap() - (found.relative_errors[of("many")] - e)).abs() < 1e-12);
    assert!((many.loss_of(0.9).unwrap() - (0.9 - e)).abs() < 1e-12);
    // By hand: rows are dealt to the folds in a random order.
    let mut rows: Vec<usize> = (0..14).collect();
    let l = of("many") as u64;
    Stream::new(8, Purpose::HeldOut(l, 0), 0).shuffle(&mut rows);
    let mut squares = 0.0;
    for fold in 0..4 {
        let (mut out, mut rest): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for (i, &row) in rows.iter().enumerate() {
            if i % 4 == fold { out.push(row) } else { rest.push(row) }
        }
        rest.sort_unstable();
        let seen = data.regrouped(vec![("seen".to_owned(), rest)]).unwrap();
        let seed = Stream::new(8, Purpose::HeldOut(l, 1 + fold as u64), 0).next_u64();
        let found = crate::search::fit_plain(&seen, &standard(2, 2, seed), None, None, &silent);
        let h = found.unwrap().model.components;
        squares += left(&data, &h, &out);
    }
    let expected = (squares / data.groups()[of("many")].squared_norm).sqrt();
    assert!((e - expected).abs() < 1e-9, "{e} {expected}");
    // As baselines of a fit they are errors, not shares; one row has its norm.
    let baselines =
        estimate_baselines(&data, 2, &Baseline::HeldOut { folds: 4, runs: 2 }, 8, &silent).unwrap();
    for (group, (baseline, e)) in data.groups().iter().zip(baselines.iter().zip([e, 1.0, 1.0])) {
        assert!((baseline.error - e * group.norm()).abs() < 1e-9 * group.norm());
    }
    assert!(is_small(5, 3) && !is_small(6, 3));
    // Two rows are a fold each; one row is none.
    let labels = ["two", "two", "one"];
    let few = GroupedData::new(x.slice(ndarray::s![..3, ..]), &labels).unwrap();
    assert_eq!(held_out_count(&few, 4), 2);
    let found = evaluate(&few, noisy(14, 1, 6).view(), None, &[0.0; 2]).unwrap();
    let held = held_out(&few, &found, 4, 1, 0).unwrap();
    let learned = |l: usize| held.groups[l].relative_baseline.is_some();
    assert_eq!([learned(0), learned(1)], [false, true], "in the order one, two");
}
