//! What a checkpoint holds of a fit, of its runs and for how long.

use super::super::*;
use super::*;
use crate::GroupedData;
use crate::criterion::Criterion;
use crate::progress::Progress;
use crate::random::{Purpose, Stream};
use crate::rows::{Moments, Origin, Representation, RowGroup, RowStart, Units, hold};
use crate::stopping::{Status, Stopping};
use crate::update::Update;
use crate::weights::WeightRule;
use ndarray::Array2;
use std::ops::ControlFlow;

fn noisy(seed: u64) -> (Array2<f64>, Vec<&'static str>) {
    let mut stream = Stream::new(seed, Purpose::Synthetic(0), 0);
    let mut uniform = |m, n| Array2::from_shape_simple_fn((m, n), || stream.uniform());
    let x = uniform(40, 3).dot(&uniform(3, 9)) + 0.5 * uniform(40, 9);
    (x, (0..40).map(|row| ["a", "b", "c"][row % 3]).collect())
}

fn hour(path: &Path, resume: bool) -> Checkpoint {
    Checkpoint { path: path.to_owned(), every: Duration::from_secs(3600), resume }
}

fn always(path: &Path, resume: bool) -> Checkpoint {
    Checkpoint { every: Duration::ZERO, ..hour(path, resume) }
}

fn criteria_of(data: &GroupedData<'_>) -> Vec<Criterion> {
    data.groups().iter().map(|g| Criterion { offset: 0.1 * g.norm(), scale: g.norm() }).collect()
}

/// The runs that are made here: what each rule carries differs.
fn schemes() -> [Scheme<'static>; 5] {
    [
        Scheme::min_max(1e-3),
        Scheme::weighted(Update::Mu, WeightRule::Decaying { even_start: false }),
        Scheme::weighted(Update::Hals, WeightRule::Uniform),
        Scheme::weighted(Update::Mu, WeightRule::Uniform),
        Scheme::min_max(1e-7).searching(),
    ]
}

/// Iterations that an observer hears of before it stops the run.
struct Ear {
    heard: Mutex<Vec<usize>>,
    until: usize,
}

impl Ear {
    fn hear(&self, progress: &Progress<'_>) -> ControlFlow<()> {
        let Progress::Iteration { iteration, .. } = *progress else {
            return ControlFlow::Continue(());
        };
        self.heard.lock().unwrap().push(iteration);
        if iteration < self.until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// A run of 24 iterations that somebody stops after some; its bits, its status and what was heard of it.
fn run(
    scheme: Scheme,
    keeper: Option<&Keeper>,
    part: Part,
    until: usize,
) -> (Vec<u64>, Status, Vec<usize>) {
    let (x, labels) = noisy(1);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let criteria = criteria_of(&data);
    let stopping = Stopping { tolerance: 0.0, max_iterations: 24, ..Stopping::default() };
    let ear = Ear { heard: Mutex::default(), until };
    let observer = |progress: &Progress<'_>| ear.hear(progress);
    let context = Context { keeper, ..Context::without_limit(&observer) };
    let task = Task { part, ..Task::alone(scheme, &criteria, &stopping, context) };
    let run = run_once(hold(&data, Units::Own), 3, &Init::Random, 2, &task).unwrap();
    let numbers = run.dictionary.values.iter().chain(run.history.iter().flatten());
    let numbers = numbers.chain(&run.weights).chain(&run.measured.losses).chain(&run.step_gap);
    (numbers.map(|v| v.to_bits()).collect(), run.status, ear.heard.into_inner().unwrap())
}

fn keeper(checkpoint: &Checkpoint) -> Keeper {
    let (x, labels) = noisy(1);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    Keeper::new(checkpoint, &*hold(&data, Units::Own), &Parameters::new(3), 3).unwrap()
}

#[test]
fn a_run_goes_on_with_the_next_iteration_and_ends_with_the_same_bits() {
    for (number, scheme) in schemes().into_iter().enumerate() {
        let whole = run(scheme, None, Part::Restart, usize::MAX);
        assert_eq!((whole.1, whole.2.len()), (Status::IterationLimit, 24));
        for stop in [1, 2, 7, 16, 20] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("state");
            let (_, status, heard) =
                run(scheme, Some(&keeper(&always(&path, false))), Part::Restart, stop);
            assert_eq!((status, heard.last()), (Status::Stopped, Some(&stop)));
            let again = run(scheme, Some(&keeper(&always(&path, true))), Part::Restart, usize::MAX);
            // The state is saved before an iteration: the one that was stopped is made again.
            assert_eq!(again.2[0], stop, "{number}: the run goes on, it does not begin anew");
            assert_eq!((&again.0, again.1), (&whole.0, whole.1), "{number}, stopped at {stop}");
            // What is over is not made again.
            let left = run(scheme, Some(&keeper(&always(&path, true))), Part::Restart, usize::MAX);
            assert!(left.2.is_empty(), "{number}: {:?}", left.2);
            assert_eq!((left.0, left.1), (whole.0.clone(), whole.1), "{number}");
        }
    }
}

#[test]
fn a_run_is_saved_no_more_often_than_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let rare = keeper(&hour(&path, false));
    assert!(!rare.is_due("restart-0") && !rare.is_due("restart-0") && !rare.is_due(""));
    run(schemes()[0], Some(&rare), Part::Restart, 7);
    assert!(!path.with_extension("restart-0").exists());
    let often = keeper(&always(&path, false));
    assert!(often.is_due("restart-0") && often.is_due("restart-0"));
    // What a run left is saved at any time, unless it is a baseline: of that the error is enough.
    run(schemes()[0], Some(&rare), Part::Restart, usize::MAX);
    run(schemes()[0], Some(&rare), Part::Baseline { group: 0, run: 1 }, usize::MAX);
    assert!(path.with_extension("restart-0").exists());
    assert!(!path.with_extension("baseline-0-1").exists());
}

#[test]
fn a_run_of_another_fit_is_none_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    run(schemes()[0], Some(&keeper(&always(&path, false))), Part::Restart, usize::MAX);
    let run_file = path.with_extension("restart-0");
    let kept = std::fs::read(&run_file).unwrap();
    let anew = keeper(&always(&path, false));
    assert!(!run_file.exists(), "beginning anew removes it");
    std::fs::write(&run_file, kept).unwrap();
    let (_, _, heard) = run(schemes()[0], Some(&anew), Part::Restart, usize::MAX);
    assert_eq!(heard[0], 1);
}

#[test]
fn errors_of_baselines_and_the_bound_are_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let taken_up = || keeper(&hour(&path, true));
    let of_run = |run: usize| path.with_extension(format!("baseline-{run}"));
    let note = |keeper: &Keeper, run: usize, error: f64| {
        std::fs::write(of_run(run), "on its way").unwrap();
        keeper.note_baseline(run, error, format!("baseline-{run}")).unwrap();
        assert_eq!(keeper.baseline(run), Some(error));
    };
    // Rarely: once all of them are there.
    let rare = keeper(&hour(&path, false));
    assert_eq!([0, 1, 2, 3].map(|run| rare.baseline(run)), [None; 4]);
    note(&rare, 0, 0.25);
    note(&rare, 2, 3.5);
    assert_eq!([0, 2].map(|run| taken_up().baseline(run)), [None; 2]);
    assert!(of_run(0).exists() && of_run(2).exists(), "what is not written down is not removed");
    note(&rare, 1, 0.75);
    assert_eq!([0, 1, 2].map(|run| taken_up().baseline(run)), [Some(0.25), Some(0.75), Some(3.5)]);
    assert!([0, 1, 2].iter().all(|&run| !of_run(run).exists()));
    // Often: at once.
    let often = keeper(&always(&path, false));
    note(&often, 1, 0.5);
    assert_eq!((taken_up().baseline(1), of_run(1).exists()), (Some(0.5), false));
    let bound = BoundReport { value: Some(0.125), ..BoundReport::default() };
    assert_eq!((taken_up().bound(), often.bound()), (None, None));
    often.note_bound(&bound).unwrap();
    assert_eq!((taken_up().bound(), often.bound()), (Some(bound.clone()), Some(bound)));
}

/// What a checkpoint does not ask of rows: the test fails where it does.
fn not_asked() -> ! {
    panic!("a checkpoint asked for more than where W came from")
}

/// Rows whose W is elsewhere: what is known of it is where it came from.
struct Elsewhere {
    origin: Option<Origin>,
    features: usize,
    groups: Vec<RowGroup>,
}

impl Rows for Elsewhere {
    fn groups(&self) -> &[RowGroup] {
        &self.groups
    }
    fn features(&self) -> usize {
        self.features
    }
    fn unit(&self) -> f64 {
        1.0
    }
    fn trusted_squared_error(&self) -> f64 {
        1e-12
    }
    fn begin(&mut self, _: usize, _: RowStart<'_>) -> Result<()> {
        Ok(())
    }
    fn pass(&mut self, h: &Dictionary, _: RowStep) -> Result<Vec<Statistics>> {
        Ok(vec![Statistics::zero(h.rank, h.features)])
    }
    fn squared_error(&self, _: usize, _: &Dictionary) -> Result<f64> {
        not_asked()
    }
    fn row_squared_errors(&self, _: &Dictionary) -> Result<Vec<Vec<f64>>> {
        not_asked()
    }
    fn representation(&self) -> Result<Representation> {
        not_asked()
    }
    fn moments(&self) -> Box<dyn Moments + '_> {
        not_asked()
    }
    fn digest(&self) -> Result<u64> {
        not_asked()
    }
    fn apart(&self) -> Box<dyn Rows + '_> {
        not_asked()
    }
    fn only(&self, _: usize) -> Box<dyn Rows + '_> {
        not_asked()
    }
    fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }
}

/// A baseline has to have the error that it would have had. Where its rows can only be made as something that stands in for them, it
/// begins anew; other runs go on from there.
#[test]
fn baselines_are_not_saved_from_rows_that_stand_in_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let keeper = keeper(&always(&path, false));
    let h = Dictionary { rank: 1, features: 2, values: vec![1.0, 2.0] };
    let baseline = Part::Baseline { group: 0, run: 0 };
    let cases = [
        (Some(true), baseline, false),
        (Some(false), baseline, true),
        (Some(true), Part::Restart, true),
        (Some(false), Part::Restart, true),
        // In a soft beginning nobody knows where the rows came from.
        (None, Part::Restart, false),
        (None, baseline, false),
    ];
    for (stands_in, part, saved) in cases {
        let origin = stands_in.map(|stands_in| Origin {
            begin: crate::rows::Begin::Zero,
            step: RowStep::EXACT,
            dictionary: h.clone(),
            stands_in,
        });
        let rows = Elsewhere { origin, features: 2, groups: Vec::new() };
        let carried = Carried {
            latest: None,
            momentum: super::super::momentum::Momentum::new(),
            dictionary: super::super::dictionary_step::Memory::Nothing,
            history: vec![vec![0.5]],
        };
        let name = part.name(0);
        let _ = std::fs::remove_file(keeper.run_path(&name));
        keeper.save_going((part, &name), &rows, &h, None, carried).unwrap();
        assert_eq!(keeper.run_path(&name).exists(), saved, "{stands_in:?} {part:?}");
        let mut taken_up = Elsewhere { origin: None, features: 2, groups: Vec::new() };
        let stood = keeper.stood(&name, &mut taken_up).unwrap();
        assert_eq!(stood.map(|stood| stood.carried.history), saved.then(|| vec![vec![0.5]]));
        assert!(keeper.left(&name, &mut taken_up).unwrap().is_none());
    }
}

/// Exact rows are made anew from their dictionary by who does not have W at hand, even where the file has it.
#[test]
fn who_has_no_rows_at_hand_goes_on_from_their_dictionary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let keeper = keeper(&always(&path, false));
    run(schemes()[0], Some(&keeper), Part::Restart, 20);
    let mut elsewhere = Elsewhere { origin: None, features: 9, groups: Vec::new() };
    let stood = keeper.stood("restart-0", &mut elsewhere).unwrap().unwrap();
    assert_eq!((stood.dictionary.rank, stood.carried.history.len()), (3, 19));
}

#[test]
fn files_of_another_version_or_out_of_reach_are_an_error_and_not_a_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (x, labels) = noisy(1);
    let data = GroupedData::new(x.view(), &labels).unwrap();
    let mut rows = hold(&data, Units::Own);
    let own = keeper(&always(&path, false));
    run(schemes()[0], Some(&own), Part::Restart, 20);
    assert!(own.stood("restart-0", &mut *rows).unwrap().is_some());
    assert!(own.stood("restart-1", &mut *rows).unwrap().is_none());
    let of_another_version = |path: &Path| {
        let (bytes, key) = (std::fs::read(path).unwrap(), b"\"version\":");
        let at = bytes.windows(key.len()).position(|own| own == key).unwrap() + key.len();
        std::fs::write(path, [&bytes[..at], b"9", &bytes[at..]].concat()).unwrap();
    };
    of_another_version(&path.with_extension("restart-0"));
    let said = own.stood("restart-0", &mut *rows).err().unwrap().to_string();
    assert!(said.contains("another version"), "{said}");
    of_another_version(&path);
    let said = Keeper::new(&hour(&path, true), &*rows, &Parameters::new(3), 3);
    let said = said.err().unwrap().to_string();
    assert!(said.contains("another version"), "{said}");
    // A name that is too long for the files of runs: they cannot be looked for.
    let far = folder.path().join("n".repeat(250));
    assert!(keeper(&hour(&far, false)).left("restart-0", &mut *rows).is_err());
}

/// The entries are the same, and so is their digest: sums tell that the factors are others, in any units.
#[test]
fn other_factors_of_features_are_another_fit() {
    let (x, labels) = noisy(1);
    for unit in [1e-9, 1.0, 1e9] {
        let x = unit * &x;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let keeps = |factor: f64, resume: bool| {
            let scale = (0..9).map(|j| if j == 4 { factor } else { 1.0 }).collect();
            let data = GroupedData::new(x.view(), &labels).unwrap().with_scale(scale).unwrap();
            let rows = hold(&data, Units::Own);
            Keeper::new(&hour(&path, resume), &*rows, &Parameters::new(3), 0).is_ok()
        };
        assert!(keeps(1.0, false) && keeps(1.0, true) && keeps(1.0 + 1e-13, true), "{unit:e}");
        assert!(!keeps(1.0 + 1e-7, true) && !keeps(1.01, true), "{unit:e}");
    }
}
