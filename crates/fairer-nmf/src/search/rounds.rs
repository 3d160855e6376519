//! Rounds that better the best run of a fit: topics are exchanged, and split.

use super::exchange::{Standing, double_exchange, exchanges};
use super::several::{Judge, each};
use super::split::{Apart, halves, splits};
use crate::Result;
use crate::dictionary::Dictionary;
use crate::iteration::{Begin, Context, First, Part, Run, Scheme, Task, exact_for, iterate};
use crate::parameters::Parameters;
use crate::random::{Purpose, Stream};
use crate::rows::{RowStart, RowStep, Rows};
use crate::statistics::Statistics;
use crate::stopping::{Status, Stopping};
use crate::update::Update;
use std::sync::RwLock;

/// Rounds at the most.
const ROUNDS: usize = 4;

/// By how much of itself the worst loss has to fall in a round for another one to be worth it.
const WORTH: f64 = 1e-4;

/// Cosine from which on two topics are alike.
const LIKE: f64 = 0.98;

/// Iterations that pull halves of topics apart.
const PULLS: usize = 10;

/// Splits that are tried for one iteration, for each that goes on.
const TRIED: usize = 4;

/// A search from the best of several starts.
#[derive(Clone, Copy)]
pub(super) struct Search<'r, 'a> {
    pub rows: &'r dyn Rows,
    pub p: &'a Parameters,
    /// That of the best run.
    pub task: &'a Task<'a>,
    pub judge: Judge<'a>,
}

impl<'r> Search<'r, '_> {
    /// The best run after rounds of exchanges and splits, until one is not worth another.
    pub fn bettered(&self, mut best: Run<'r>) -> Result<Run<'r>> {
        let mut is_new = true;
        for round in 0..ROUNDS {
            let begun = self.judge.value(&best);
            let before = best.dictionary.clone();
            let exchanged = if is_new { self.exchanged(&best) } else { Vec::new() };
            let part = |number| Part::Exchange { round, number };
            if !self.go_on(&exchanged, &part, &mut best)? {
                break;
            }
            let Some(split) = self.most_promising(&best, round)? else { break };
            let part = |number| Part::Split { round, number };
            if !self.go_on(&split, &part, &mut best)? {
                break;
            }
            // Losses near zero are compared with what a run stands still by.
            let least = (WORTH * begun.abs()).max(0.1 * self.task.stopping.tolerance);
            if begun - self.judge.value(&best) <= least {
                break;
            }
            // Of a dictionary like the one before the exchanges are the same; halves are random.
            is_new = !alike(&before, &best.dictionary);
        }
        Ok(best)
    }

    /// Exchanges of a run's topics, one at a time and two at once.
    fn exchanged(&self, best: &Run<'_>) -> Vec<Dictionary> {
        let criteria = self.task.criteria;
        let mut found = exchanges(standing(best), criteria, (3 * self.p.n_init).div_ceil(4));
        found.extend(double_exchange(standing(best), criteria));
        found
    }

    /// Runs from dictionaries, of which the best is kept where it is better. Whether there is more time.
    fn go_on(
        &self,
        dictionaries: &[Dictionary],
        part: &(dyn Fn(usize) -> Part + Sync),
        best: &mut Run<'r>,
    ) -> Result<bool> {
        if self.is_over() {
            return Ok(false);
        }
        let scheme = self.task.scheme.searching();
        // Read where a run begins, written when all that are under way have ended.
        let best = RwLock::new(best);
        let one = |number: usize| {
            let near = || self.near(&best.read().expect("nobody panics while writing"), 1);
            let task = Task { part: part(number), scheme, ..*self.task };
            self.from(&dictionaries[number], near()?, &task)
        };
        let mut stopped = false;
        each(self.rows, self.p, self.task, dictionaries.len(), &one, |_, run| {
            stopped |= run.status == Status::Stopped;
            let mut best = best.write().expect("nobody panics while reading");
            if run.status == Status::Converged && !self.judge.is_no_better(&run, &best) {
                **best = run;
            }
        })?;
        Ok(!stopped && !self.is_over())
    }

    /// Rows from which those of a dictionary near the best run's are made, every topic of it `times` times.
    fn near(&self, best: &Run<'_>, times: usize) -> Result<Box<dyn Rows + 'r>> {
        let mut rows = self.rows.apart();
        let held = best.rows.held().map(|held| RowStart::Near(held.times(times)));
        rows.begin(times * self.p.rank, held.unwrap_or(RowStart::Zero))?;
        Ok(rows)
    }

    /// A run from a dictionary and its exact rows.
    fn from(
        &self,
        dictionary: &Dictionary,
        rows: Box<dyn Rows + 'r>,
        task: &Task<'_>,
    ) -> Result<Run<'r>> {
        let first = First::Pass(RowStep::EXACT);
        iterate(rows, Begin { dictionary: dictionary.clone(), first, history: Vec::new() }, task)
    }

    /// The splits that stand best after one iteration; nothing where the search was told to end.
    fn most_promising(&self, best: &Run<'r>, round: usize) -> Result<Option<Vec<Dictionary>>> {
        if best.dictionary.rank < 3 {
            // None is left to be united.
            return Ok(Some(Vec::new()));
        }
        let Some((wide, statistics)) = self.pulled_apart(best, round)? else {
            return Ok(None);
        };
        let apart = Apart { wide: &wide, statistics: &statistics };
        let count = TRIED * self.splits();
        let candidates = splits(standing(best), apart, self.task.criteria, count);
        let stopping = Stopping { max_iterations: 1, ..*self.task.stopping };
        let scheme = Scheme { looks_ahead: false, ..self.task.scheme.searching() };
        // Made anew sooner than read.
        let context = Context { keeper: None, ..self.task.context };
        let task = Task { stopping: &stopping, scheme, context, ..*self.task };
        let one = |number: usize| {
            let run = self.from(&candidates[number], self.near(best, 1)?, &task)?;
            Ok((self.judge.value(&run), run.dictionary, run.status == Status::Stopped))
        };
        let mut tried = Vec::new();
        let keep = |_, found| tried.push(found);
        each(self.rows, self.p, self.task, candidates.len(), &one, keep)?;
        if tried.iter().any(|&(.., stopped)| stopped) {
            return Ok(None);
        }
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Some(tried.into_iter().map(|(_, h, _)| h).take(self.splits()).collect()))
    }

    /// All topics of a run as two that were pulled apart; nothing where it was told to stop, or the time is over.
    fn pulled_apart(
        &self,
        best: &Run<'r>,
        round: usize,
    ) -> Result<Option<(Dictionary, Vec<Statistics>)>> {
        let mut stream = Stream::new(self.p.seed, Purpose::Halves(round as u64), 0);
        let mut wide = halves(&best.dictionary, &mut stream);
        let mut rows = self.near(best, 2)?;
        let mut statistics = rows.pass(&wide, RowStep::EXACT)?;
        for _ in 0..PULLS {
            let told = self.task.tell(0, &best.measured, &best.weights);
            if told.is_break() || self.is_over() {
                return Ok(None);
            }
            let Task { criteria, context, .. } = self.task;
            exact_for(&best.weights, criteria, &statistics, &mut wide, context.limit);
            statistics = rows.pass(&wide, RowStep::Update(Update::Hals))?;
        }
        Ok(Some((wide, statistics)))
    }

    /// Splits of a round that go on: half as many as starts were asked for.
    fn splits(&self) -> usize {
        self.p.n_init.div_ceil(2)
    }

    fn is_over(&self) -> bool {
        self.task.context.is_over()
    }
}

/// Whether every topic of a dictionary has one like it in another: then a round has gone further towards the same optimum.
fn alike(known: &Dictionary, other: &Dictionary) -> bool {
    let r = known.rank;
    let squared = |h: &Dictionary, k: usize| -> f64 {
        h.values.iter().skip(k).step_by(r).map(|v| v * v).sum()
    };
    let of_known: Vec<f64> = (0..r).map(|k| squared(known, k)).collect();
    let of_other: Vec<f64> = (0..r).map(|k| squared(other, k)).collect();
    let mut products = vec![0.0; r * r];
    for (known, other) in known.values.chunks_exact(r).zip(other.values.chunks_exact(r)) {
        for (products, known) in products.chunks_exact_mut(r).zip(known) {
            products.iter_mut().zip(other).for_each(|(sum, other)| *sum += known * other);
        }
    }
    products.chunks_exact(r).zip(&of_known).all(|(products, known)| {
        let near = |(product, other): (&f64, &f64)| {
            *other > 0.0 && product * product >= LIKE * LIKE * known * other
        };
        *known == 0.0 || products.iter().zip(&of_other).any(near)
    })
}

fn standing<'a>(run: &'a Run<'_>) -> Standing<'a> {
    let Run { dictionary, statistics, weights, .. } = run;
    Standing { dictionary, statistics, weights }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::Criterion;
    use crate::iteration::run_once;
    use crate::progress::Progress;
    use crate::rows::{Units, hold};
    use crate::{GroupedData, silent, synthetic};
    use ndarray::array;
    use std::ops::ControlFlow;
    use std::sync::Mutex;
    use std::time::Instant;

    /// What is told of the rounds from a run that has converged, iteration by iteration and on one thread, where an observer says stop at
    /// `stop`; and the dictionary before and after.
    fn told(seed: u64, stop: usize, deadline: Option<Instant>) -> (Vec<usize>, [Dictionary; 2]) {
        let (x, labels) = synthetic::first(seed);
        let data = GroupedData::new(x.view(), &labels).unwrap();
        let rows = hold(&data, Units::Own);
        let criterion = |norm: f64| Criterion { offset: 0.0, scale: norm };
        let criteria: Vec<Criterion> = rows.groups().iter().map(|g| criterion(g.norm())).collect();
        let p = Parameters { n_init: 3, ..Parameters::new(4) };
        let context = Context::without_limit(&silent);
        let task = Task::alone(Scheme::min_max(1e-6), &criteria, &p.stopping, context);
        let best = run_once(rows.apart(), 4, &p.init, 0, &task).unwrap();
        assert_eq!(best.status, Status::Converged);
        let stood = best.dictionary.clone();
        let told = Mutex::new(Vec::new());
        let observer = |progress: &Progress<'_>| {
            let Progress::Iteration { iteration, .. } = *progress else { unreachable!() };
            let mut told = told.lock().unwrap();
            told.push(iteration);
            if told.len() > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let task =
            Task { context: Context { deadline, ..Context::without_limit(&observer) }, ..task };
        let judge = Judge::new(&p, task.scheme);
        let search = Search { rows: &*rows, p: &p, task: &task, judge };
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let found = one.install(|| search.bettered(best)).unwrap();
        (told.into_inner().unwrap(), [stood, found.dictionary])
    }

    #[test]
    fn no_round_begins_when_the_time_is_up() {
        let (heard, [before, after]) = told(1, usize::MAX, Some(Instant::now()));
        assert!(heard.is_empty() && before == after);
    }

    /// The exchanges of a dictionary that is like the one before were tried before.
    #[test]
    fn a_second_round_exchanges_topics_of_another_dictionary_alone() {
        let mut seconds = 0;
        for seed in 0..8 {
            let (all, _) = told(seed, usize::MAX, None);
            let pulled: Vec<usize> = (0..all.len()).filter(|&i| all[i] == 0).collect();
            let Some(&second) = pulled.get(PULLS) else { continue };
            let went_on = pulled[PULLS - 1] + 1 + 2 * TRIED;
            let begun: Vec<usize> = (went_on..second).filter(|&i| all[i] == 1).collect();
            // After the two splits that go on; told to stop there, the best is what the first round has left.
            let exchanged = begun.len() > 2;
            let (_, [before, after]) = told(seed, begun.get(2).copied().unwrap_or(second), None);
            assert_eq!(exchanged, !alike(&before, &after), "seed {seed}");
            seconds += 1;
        }
        assert!(seconds > 0, "some go on to a second round");
    }

    /// What is under way beside it hears of a stop with its first iteration; nothing begins afterwards.
    #[test]
    fn a_stop_ends_the_round_wherever_it_comes() {
        let (all, _) = told(1, usize::MAX, None);
        let pulled = all.iter().position(|&i| i == 0).unwrap();
        let tried = pulled + PULLS;
        let went_on = tried + 2 * TRIED;
        assert!(all[pulled..tried].iter().all(|&i| i == 0));
        assert!(all[tried..=went_on].iter().all(|&i| i == 1));
        let begun = |from: usize, to: usize| all[from..to].iter().filter(|&&i| i == 1).count();
        let second = (went_on + 1..all.len()).find(|&i| all[i] == 1).unwrap();
        let ends = [
            (0, pulled),
            (pulled - 1, pulled),
            (pulled, pulled + 1),
            (tried - 1, tried),
            (tried, went_on),
            (went_on - 1, went_on),
            (went_on, second + 1),
            (second, second + 1),
        ];
        for (stop, end) in ends {
            let (heard, _) = told(1, stop, None);
            assert_eq!(heard[..=stop], all[..=stop]);
            assert_eq!(heard[stop + 1..], vec![1; begun(stop + 1, end)], "{stop} of {all:?}");
        }
    }

    /// Whatever their order and their size; one that has another direction is enough to differ.
    #[test]
    fn dictionaries_are_alike_that_have_like_topics() {
        let h = array![[1.0, 0.2, 0.0, 0.1], [0.0, 3.0, 1.0, 0.0], [0.5, 0.0, 0.5, 2.0]];
        let known = Dictionary::from_components(h.view());
        let mut other = array![[0.1, 30.0, 10.0, 0.0], [5.0, 0.1, 5.0, 20.0], [2.0, 0.4, 0.0, 0.2]];
        assert!(alike(&known, &Dictionary::from_components(other.view())));
        other[[2, 2]] = 0.5;
        assert!(!alike(&known, &Dictionary::from_components(other.view())));
        // Nothing is like a topic that is zero, which is missed by nobody.
        let nothing = Dictionary::zero(3, 4);
        assert!(!alike(&known, &nothing) && alike(&nothing, &known));
    }
}
