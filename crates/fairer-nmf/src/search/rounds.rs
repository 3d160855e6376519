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

/// Rounds at the most.
const ROUNDS: usize = 4;

/// By how much of itself the worst loss has to fall in a round for another one to be worth it.
const WORTH: f64 = 1e-4;

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
    pub judge: Judge,
}

impl<'r> Search<'r, '_> {
    /// The best run after rounds of exchanges and splits, until one is not worth another.
    pub fn bettered(&self, mut best: Run<'r>) -> Result<Run<'r>> {
        for round in 0..ROUNDS {
            let begun = self.judge.value(&best);
            let criteria = self.task.criteria;
            let mut exchanged = exchanges(standing(&best), criteria, self.per_round());
            exchanged.extend(double_exchange(standing(&best), criteria));
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
        }
        Ok(best)
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
        let one = |number: usize| {
            self.from(&dictionaries[number], &Task { part: part(number), scheme, ..*self.task })
        };
        let mut stopped = false;
        each(self.rows, self.p, self.task, dictionaries.len(), &one, |_, run| {
            stopped |= run.status == Status::Stopped;
            if run.status == Status::Converged && !self.judge.is_no_better(&run, best) {
                *best = run;
            }
        })?;
        Ok(!stopped && !self.is_over())
    }

    /// A run from a dictionary and its exact rows.
    fn from(&self, dictionary: &Dictionary, task: &Task<'_>) -> Result<Run<'r>> {
        let mut rows = self.rows.apart();
        rows.begin(self.p.rank, RowStart::Zero)?;
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
        let count = TRIED * self.per_round();
        let candidates = splits(standing(best), apart, self.task.criteria, count);
        let stopping = Stopping { max_iterations: 1, ..*self.task.stopping };
        let scheme = Scheme { looks_ahead: false, ..self.task.scheme.searching() };
        // Made anew sooner than read.
        let context = Context { keeper: None, ..self.task.context };
        let task = Task { stopping: &stopping, scheme, context, ..*self.task };
        let one = |number: usize| {
            let run = self.from(&candidates[number], &task)?;
            Ok((self.judge.value(&run), run.dictionary, run.status == Status::Stopped))
        };
        let mut tried = Vec::new();
        let keep = |_, found| tried.push(found);
        each(self.rows, self.p, self.task, candidates.len(), &one, keep)?;
        if tried.iter().any(|&(.., stopped)| stopped) {
            return Ok(None);
        }
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Some(tried.into_iter().map(|(_, h, _)| h).take(self.per_round()).collect()))
    }

    /// All topics of a run as two that were pulled apart; nothing where it was told to stop, or the time is over.
    fn pulled_apart(
        &self,
        best: &Run<'r>,
        round: usize,
    ) -> Result<Option<(Dictionary, Vec<Statistics>)>> {
        let mut stream = Stream::new(self.p.seed, Purpose::Halves(round as u64), 0);
        let mut wide = halves(&best.dictionary, &mut stream);
        let mut rows = self.rows.apart();
        rows.begin(wide.rank, RowStart::Zero)?;
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

    /// Exchanges of a round beside the double one, and splits that go on: half as many as starts were asked for.
    fn per_round(&self) -> usize {
        self.p.n_init.div_ceil(2)
    }

    fn is_over(&self) -> bool {
        self.task.context.is_over()
    }
}

fn standing<'a>(run: &'a Run<'_>) -> Standing<'a> {
    let Run { dictionary, statistics, weights, .. } = run;
    Standing { dictionary, statistics, weights }
}
