//! Laws of the door: a fit does not know who holds the rows.

mod relabel;

use super::*;
use crate::data::{Csr, Element, Indices};
use crate::fit::{RowsFit, Start, StartWeights, fit_rows};
use crate::random::{Purpose, Stream};
use crate::{Baseline, Fit, Init, Method, Parameters, Stopping, Update, fit, silent, synthetic};
use ndarray::Array2;

/// Rows cut into parts, each with a holder of its own: what reaches the loop is only ever added up.
struct Cut<'a> {
    data: GroupedData<'a>,
    parts: usize,
    unit: f64,
    groups: Vec<RowGroup>,
    held: Vec<Part<'a>>,
    trusted: f64,
}

/// Some rows, and which of all groups they have.
struct Part<'a> {
    groups: Vec<usize>,
    rows: Box<dyn Rows + 'a>,
}

impl<'a> Cut<'a> {
    /// Row i goes to part i mod `parts`.
    fn new(data: GroupedData<'a>, unit: f64, parts: usize) -> Self {
        let held = (0..parts).map(|part| {
            let mine = |rows: &[usize]| {
                rows.iter().copied().filter(|r| r % parts == part).collect::<Vec<_>>()
            };
            let of_part: Vec<(usize, String, Vec<usize>)> = data
                .groups()
                .iter()
                .enumerate()
                .map(|(l, g)| (l, g.name.clone(), mine(&g.rows)))
                .filter(|(_, _, rows)| !rows.is_empty())
                .collect();
            let groups = of_part.iter().map(|(l, ..)| *l).collect();
            let rows = of_part.into_iter().map(|(_, name, rows)| (name, rows)).collect();
            let data = data.regrouped(rows).expect("no part of a group is all zero");
            let rows =
                Box::new(memory::Memory::<f64>::new(&data, Units::Given)) as Box<dyn Rows + 'a>;
            Part { groups, rows }
        });
        let held = held.collect();
        let whole = memory::Memory::<f64>::new(&data, Units::Given);
        let (groups, trusted) = (whole.groups().to_vec(), whole.trusted_squared_error());
        Self { data, parts, unit, groups, held, trusted }
    }

    fn in_own_units(data: &GroupedData<'a>, parts: usize) -> Self {
        let (data, unit) = data.in_own_units();
        Self::new(data, unit, parts)
    }
}

impl Rows for Cut<'_> {
    fn groups(&self) -> &[RowGroup] {
        &self.groups
    }
    fn features(&self) -> usize {
        self.data.features()
    }
    fn unit(&self) -> f64 {
        self.unit
    }
    fn trusted_squared_error(&self) -> f64 {
        self.trusted
    }
    fn begin(&mut self, rank: usize, start: RowStart<'_>) -> Result<()> {
        self.held.iter_mut().try_for_each(|part| part.rows.begin(rank, start))
    }
    fn pass(&mut self, h: &Dictionary, step: RowStep) -> Result<Vec<Statistics>> {
        let mut total = vec![Statistics::zero(h.rank, h.features); self.groups.len()];
        for part in &mut self.held {
            for (&l, own) in part.groups.iter().zip(part.rows.pass(h, step)?) {
                total[l].merge(&Statistics::from_bytes(&own.to_bytes())?)?;
            }
        }
        Ok(total)
    }
    fn squared_error(&self, group: usize, h: &Dictionary) -> Result<f64> {
        let mut sum = 0.0;
        for part in &self.held {
            if let Some(at) = part.groups.iter().position(|&l| l == group) {
                sum += part.rows.squared_error(at, h)?;
            }
        }
        Ok(sum)
    }
    fn row_squared_errors(&self, h: &Dictionary) -> Result<Vec<Vec<f64>>> {
        let mut all = vec![Vec::new(); self.groups().len()];
        for part in &self.held {
            for (&l, errors) in part.groups.iter().zip(part.rows.row_squared_errors(h)?) {
                all[l].extend(errors);
            }
        }
        Ok(all)
    }
    fn representation(&self) -> Result<Representation> {
        let mut all: Option<Array2<f64>> = None;
        for part in &self.held {
            let Representation::F64(own) = part.rows.representation()? else { unreachable!() };
            // Rows of other parts are zero there.
            all = Some(all.map_or(own.clone(), |all| all + own));
        }
        Ok(Representation::F64(all.expect("there is a part")))
    }
    fn moments(&self) -> Box<dyn Moments + '_> {
        Box::new(CutMoments(self))
    }
    fn digest(&self) -> Result<u64> {
        memory::Memory::<f64>::new(&self.data, Units::Given).digest()
    }
    fn apart(&self) -> Box<dyn Rows + '_> {
        Box::new(Cut::new(self.data.clone(), self.unit, self.parts))
    }
    fn only(&self, group: usize) -> Box<dyn Rows + '_> {
        let (data, unit) = self.data.only(group).with_usual_norm();
        Box::new(Cut::new(data, self.unit * unit, self.parts))
    }
}

/// The moments of all parts added up.
struct CutMoments<'a, 'd>(&'a Cut<'d>);

impl Moments for CutMoments<'_, '_> {
    fn groups(&self) -> usize {
        self.0.groups.len()
    }
    fn features(&self) -> usize {
        self.0.features()
    }
    fn side(&self) -> usize {
        self.features()
    }
    fn summed(&self) -> usize {
        self.0.data.rows()
    }
    fn rounding(&self) -> f64 {
        f64::EPSILON
    }
    fn cost(&self) -> (f64, f64) {
        (1.0, 1.0)
    }
    fn keep(&mut self) -> Result<()> {
        Ok(())
    }
    fn products(&self, weights: &[f64], v: &[f64], p: usize) -> Result<Products> {
        let mut total =
            Products { image: vec![0.0; v.len()], grams: vec![vec![0.0; p * p]; self.groups()] };
        for part in &self.0.held {
            // A part sees its rows over its own norms.
            let share = |(at, &l): (usize, &usize)| {
                part.rows.groups()[at].squared_norm / self.0.groups[l].squared_norm
            };
            let shares: Vec<f64> = part.groups.iter().enumerate().map(share).collect();
            let own: Vec<f64> =
                part.groups.iter().zip(&shares).map(|(&l, s)| s * weights[l]).collect();
            let found = part.rows.moments().products(&own, v, p)?;
            total.image.iter_mut().zip(found.image).for_each(|(t, i)| *t += i);
            for ((&l, gram), share) in part.groups.iter().zip(found.grams).zip(shares) {
                total.grams[l].iter_mut().zip(gram).for_each(|(t, g)| *t += share * g);
            }
        }
        Ok(total)
    }
    fn whole(&self, weights: &[f64], v: &[f64], _: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = self.features();
        let identity: Vec<f64> =
            (0..n * n).map(|i| if i % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
        Ok((self.products(weights, &identity, n)?.image, v.to_vec()))
    }
}

/// Rows near a non-negative factorisation, some entries zero, in three groups of mixed order.
pub(super) fn noisy(rows: usize, columns: usize) -> (Array2<f64>, Vec<String>) {
    let mut stream = Stream::new(3, Purpose::Synthetic(0), 0);
    let mut draw = |r, c| Array2::from_shape_simple_fn((r, c), || stream.uniform());
    let (w, h, noise) = (draw(rows, 4), draw(4, columns), draw(rows, columns));
    let labels = draw(rows, 1).mapv(|u| ["a", "b", "c"][(u * 2.99) as usize].to_owned());
    let (x, labels) = (w.dot(&h) + &noise, labels.into_iter().collect());
    (x.mapv(|v| if v < 0.8 { 0.0 } else { v }), labels)
}

pub(super) fn distance<'a>(
    a: impl IntoIterator<Item = &'a f64>,
    b: impl IntoIterator<Item = &'a f64>,
) -> f64 {
    let far = |(a, b): (&f64, &f64)| (a - b).abs();
    a.into_iter().zip(b).map(far).fold(0.0, f64::max)
}

pub(super) fn fixed(method: Method) -> Parameters {
    Parameters {
        method,
        init: Init::Random,
        n_init: 1,
        baseline: Baseline::Zero,
        stopping: Stopping { tolerance: 0.0, max_iterations: 12, ..Stopping::default() },
        bound: false,
        ..Parameters::new(3)
    }
}

fn cut_fit<'r>(rows: &'r Cut<'_>, p: &Parameters) -> (RowsFit<'r>, Array2<f64>) {
    let fit = fit_rows(rows, p, &silent).unwrap();
    let Representation::F64(w) = fit.representation().unwrap() else { unreachable!() };
    (fit, w)
}

/// From one start, after as many iterations: the same factors up to the rounding of the sums.
#[test]
fn any_holder_gives_the_same_iterations() {
    let (x, labels) = noisy(300, 20);
    let data = GroupedData::new(x.view(), &labels).unwrap().normalize_features().unwrap();
    let methods = [
        Method::am(),
        Method::mu(),
        Method::Standard { update: Update::Mu },
        Method::Standard { update: Update::Hals },
        Method::Standard { update: Update::Nnls },
    ];
    for method in methods {
        let p = fixed(method);
        let Fit { model, representation, .. } = fit(&data, &p, &silent).unwrap();
        let cut = Cut::in_own_units(&data, 7);
        let (other, w) = cut_fit(&cut, &p);
        assert_eq!(model.iterations(), other.model.iterations());
        let history =
            distance(model.history.iter().flatten(), other.model.history.iter().flatten());
        let factors = distance(&model.components, &other.model.components)
            .max(distance(&representation.to_f64(), &w));
        assert!(history < 1e-10, "{method:?}: losses differ by {history:e}");
        assert!(factors < 1e-10, "{method:?}: factors differ by {factors:e}");
    }
}

/// Baselines, bound, restarts and the closing: whole fits, in any units of the data, dense or sparse.
#[test]
fn any_holder_gives_the_same_fit() {
    let (x, labels) = synthetic::first(2);
    let x = x.mapv(|v| 1e3 * v);
    let given = GroupedData::new(x.view(), &labels).unwrap();
    let columns: Vec<i32> = (0..x.len()).map(|i| (i % x.ncols()) as i32).collect();
    let starts: Vec<usize> = (0..=x.nrows()).map(|i| i * x.ncols()).collect();
    let csr = Csr::new(x.ncols(), &starts, Indices::I32(&columns), x.as_slice().unwrap()).unwrap();
    let sparse = GroupedData::new(csr, &labels).unwrap().normalize_features().unwrap();
    for data in [&given, &sparse] {
        let p = Parameters { start_weights: StartWeights::Bound, ..Parameters::new(4) };
        let own = fit(data, &p, &silent).unwrap().model;
        let cut = Cut::in_own_units(data, 3);
        let (other, _) = cut_fit(&cut, &p);
        let far = distance(&own.baseline_errors(), &other.model.baseline_errors());
        assert!(far < 1e-6 * own.groups[0].norm, "baselines differ by {far:e}");
        let far = (own.worst_loss() - other.model.worst_loss()).abs();
        assert!(far < 1e-5, "worst losses differ by {far:e}");
        let bounds = (own.global_bound.value.unwrap(), other.model.global_bound.value.unwrap());
        assert!((bounds.0 - bounds.1).abs() < 1e-5, "bounds {bounds:?}");
        let norms = |m: &crate::Model| m.groups.iter().map(|g| g.norm).collect::<Vec<_>>();
        assert!(distance(&norms(&own), &norms(&other.model)) < 1e-9 * own.groups[0].norm);
    }
}

/// What only memory can do is refused before any work.
#[test]
fn what_needs_all_rows_is_refused() {
    let (x, labels) = synthetic::first(3);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let cut = Cut::in_own_units(&data, 2);
    let spectral = Parameters { init: Init::Nndsvd, ..Parameters::new(2) };
    let adjusted = Parameters { baseline: Baseline::adjusted(), ..Parameters::new(2) };
    for (p, word) in [(spectral, "init"), (adjusted, "baseline")] {
        let error = fit_rows(&cut, &p, &silent).err().expect("refused").to_string();
        assert!(error.contains(word) && error.contains("memory"), "{error}");
    }
    assert!(Start::nndsvd(&data, 2, false).is_ok());
}

/// Rows near by are a guess where exact ones are looked for, in either number type; the rows are those that are found from zero.
#[test]
fn exact_rows_do_not_depend_on_the_rows_that_they_begin_near() {
    fn check<T: Element>(x: &Array2<T>, labels: &[String]) {
        let data = GroupedData::new(x.view(), labels).unwrap();
        let mut stream = Stream::new(9, Purpose::Spectral, 0);
        let mut topics = |rank: usize| {
            let h = Array2::from_shape_simple_fn((rank, x.ncols()), || stream.uniform().powi(3));
            Dictionary::from_components(h.view())
        };
        let (first, second, wide) = (topics(5), topics(5), topics(10));
        let known = hold(&data, Units::Own);
        let mut one = known.apart();
        one.begin(5, RowStart::Zero).unwrap();
        one.pass(&first, RowStep::EXACT).unwrap();
        for (h, times) in [(&second, 1), (&wide, 2)] {
            let held = one.held().expect("W is in memory").times(times);
            let rows = [RowStart::Zero, RowStart::Near(held)].map(|start| {
                let mut rows = known.apart();
                rows.begin(h.rank, start).unwrap();
                let statistics = rows.pass(h, RowStep::EXACT).unwrap();
                (statistics.iter().flat_map(Statistics::to_bytes).collect::<Vec<u8>>(), rows)
            });
            assert!(rows[0].0 == rows[1].0, "{} topics", h.rank);
        }
        // Before the first pass they are the guess itself, every column as often as was asked.
        let mut near = known.apart();
        near.begin(10, RowStart::Near(one.held().unwrap().times(2))).unwrap();
        let (w, twice) = (one.representation().unwrap(), near.representation().unwrap());
        let (w, twice) = (T::representation(w), T::representation(twice));
        for k in 0..10 {
            let own = |w: &Array2<T>, k: usize| w.column(k).mapv(|v| v.to_f64());
            assert_eq!(own(&twice, k), own(&w, k / 2));
        }
    }
    let (x, labels) = synthetic::first(4);
    let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
    check(&x, &labels);
    check(&x.mapv(|v| v as f32), &labels);
}
