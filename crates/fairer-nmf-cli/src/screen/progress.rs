//! Long work shows itself: a bar on a terminal, and Ctrl-C that stops at the next iteration.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fairer_nmf::audit::{AuditPart, Role};
use fairer_nmf::{Progress, Stopping};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::terminal;
use crate::args::{RunArgs, Seconds};
use fairer_nmf_io::Failure;

static STOP: AtomicBool = AtomicBool::new(false);

/// The bar that is on the terminal, so that a note does not run into it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Listens for Ctrl-C (and a polite request to end): the first stops the work at its next
/// iteration, the second the program at once.
pub(crate) fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if stopped() {
            fairer_nmf_io::remove_unfinished();
            std::process::exit(1);
        }
        let say =
            || terminal::note("stopping at the next iteration; press Ctrl-C again to end at once");
        match SHOWN.lock().ok().and_then(|shown| shown.clone()) {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
        // After the note: work that ends at once would take the program away before it is said.
        STOP.store(true, Ordering::SeqCst);
    })
    .map_err(|e| Failure::failed(format!("cannot listen for Ctrl-C: {e}")))
}

/// Whether the user asked to stop.
pub(crate) fn stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// A time limit on work that is made of several fits.
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) fn new(limit: Option<Seconds>) -> Self {
        Self(limit.and_then(|limit| Instant::now().checked_add(limit.0)))
    }

    pub(crate) fn passed(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    fn left(&self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// As [`Bar::observe`], and stops when the time is up.
    pub(crate) fn observe(&self, progress: &Progress<'_>, bar: &Bar) -> ControlFlow<()> {
        match self.passed() {
            true => ControlFlow::Break(()),
            false => bar.observe(progress),
        }
    }
}

/// The bar, or nothing where nobody watches.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Whether notes are wanted.
    chatty: bool,
    stage: Mutex<Stage>,
    /// Whether a stop reached work that has no use unless it is whole.
    cut_baselines: AtomicBool,
    /// When fits and audits that share one time limit have to end.
    deadline: OnceLock<Deadline>,
    /// Since when random groups are drawn, and how long they were before: their time is their own.
    drawing: Mutex<(Option<Instant>, Duration)>,
}

/// What the bar shows now.
#[derive(Default)]
struct Stage {
    /// In front of everything: which fit of several this is.
    prefix: String,
    kind: Kind,
    since: Option<Instant>,
    /// What limits this fit, and when it began, baselines included.
    limits: Option<(Stopping, Instant)>,
    /// Iterations of all restarts so far, which may run side by side.
    iterations: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    None,
    /// Baselines, or a part of an audit.
    Counted(&'static str),
    Fit,
}

/// A command that fails leaves no bar to be drawn after its error.
impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Bar {
    pub(crate) fn new(run: &RunArgs) -> Self {
        let shown = !run.quiet && !run.no_progress && std::io::stderr().is_terminal();
        let target = match shown {
            true => ProgressDrawTarget::stderr_with_hz(10),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(mut known) = SHOWN.lock() {
            *known = shown.then(|| bar.clone());
        }
        Self {
            bar,
            chatty: !run.quiet,
            stage: Mutex::default(),
            cut_baselines: AtomicBool::new(false),
            deadline: OnceLock::new(),
            drawing: Mutex::default(),
        }
    }

    /// From now on everything together has so much time: an audit is stopped when it is over,
    /// and a fit asks for what is left of it.
    pub(crate) fn limit(&self, limit: Option<Seconds>) {
        self.deadline.get_or_init(|| Deadline::new(limit));
    }

    /// What is left of the time, where it is limited.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let left = self.deadline.get().and_then(Deadline::left)?;
        Some(left + self.drawn())
    }

    /// Whether the time is up. Random groups have a budget of their own, which this one does not count;
    /// they do not begin once it is over.
    fn is_over(&self, part: AuditPart) -> bool {
        let Some(Deadline(Some(end))) = self.deadline.get() else { return false };
        let mut drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner);
        if part == AuditPart::RandomGroups && drawing.0.is_some() {
            return false;
        }
        if let Some(since) = drawing.0.take() {
            drawing.1 += since.elapsed();
        }
        let over = Instant::now() >= *end + drawing.1;
        if part == AuditPart::RandomGroups && !over {
            drawing.0 = Some(Instant::now());
        }
        over
    }

    fn drawn(&self) -> Duration {
        let drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner);
        drawing.1 + drawing.0.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The stage "reading".
    pub(crate) fn reading(&self, path: &str) {
        self.spin();
        let path = terminal::printable(path);
        self.bar.set_message(format!("reading {path}"));
        self.bar.enable_steady_tick(Duration::from_millis(100));
    }

    /// Some stage in words.
    pub(crate) fn stage(&self, text: &str) {
        self.spin();
        self.bar.set_message(text.to_owned());
    }

    /// Which fit of several comes next, and what limits it.
    pub(crate) fn next_fit(&self, prefix: &str, limits: &Stopping) {
        let mut stage = self.lock();
        let (prefix, limits) = (prefix.to_owned(), Some((*limits, Instant::now())));
        *stage = Stage { prefix, limits, ..Stage::default() };
    }

    /// Which work of several comes next; a bar that was taken away comes back.
    pub(crate) fn next_work(&self, prefix: &str) {
        self.bar.reset();
        *self.lock() = Stage { prefix: format!("{prefix}: "), ..Stage::default() };
    }

    /// A note on standard error, above the bar.
    pub(crate) fn note(&self, text: &str) {
        if self.chatty {
            self.bar.suspend(|| terminal::note(text));
        }
    }

    /// Which files there are now.
    pub(crate) fn wrote(&self, files: &[String]) {
        if !files.is_empty() {
            self.note(&format!("wrote {}", files.join(", ")));
        }
    }

    /// A warning on standard error, above the bar.
    pub(crate) fn warn(&self, text: &str) {
        self.bar.suspend(|| terminal::warning(text));
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Whether a stop came while baselines were measured, which makes every loss wrong.
    pub(crate) fn baselines_were_cut(&self) -> bool {
        self.cut_baselines.load(Ordering::SeqCst)
    }

    /// The observer of the library's fits.
    pub(crate) fn observe(&self, progress: &Progress<'_>) -> ControlFlow<()> {
        match *progress {
            Progress::Baselines { done, total } => {
                if stopped() {
                    self.cut_baselines.store(true, Ordering::SeqCst);
                }
                self.counted("baselines", done, total);
            }
            Progress::Iteration { restart, restarts, iteration, worst_loss, .. } => {
                self.iteration(restart, restarts, iteration, worst_loss);
            }
            Progress::Audit { part, done, total } => {
                if self.is_over(part) {
                    return ControlFlow::Break(());
                }
                self.counted(part.name(), done, total);
            }
            Progress::Comparison { role, fit } => {
                let prefix = match (role, fit) {
                    (Role::Subject, _) => "audit",
                    (Role::Standard, Some(_)) => "standard NMF: ",
                    (Role::Fairer, Some(_)) => "Fairer-NMF: ",
                    (Role::Standard, None) => "audit of standard NMF",
                    (Role::Fairer, None) => "audit of Fairer-NMF",
                };
                match fit {
                    Some(limits) => self.next_fit(prefix, limits),
                    None => self.next_work(prefix),
                }
            }
            // What a later library may tell besides.
            _ => {}
        }
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// So many of so many, with the time that is left.
    pub(crate) fn counted(&self, what: &'static str, done: usize, total: usize) {
        if self.bar.is_hidden() {
            return;
        }
        let mut stage = self.lock();
        if stage.kind != Kind::Counted(what) {
            stage.kind = Kind::Counted(what);
            stage.since = Some(Instant::now());
            self.bar.set_style(style("{spinner} [{bar:10}] {elapsed} {wide_msg}"));
            self.bar.set_length(total as u64);
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
        let elapsed = stage.since.map_or(0.0, |since| since.elapsed().as_secs_f64());
        let left = match done {
            0 => String::new(),
            _ => about(elapsed, elapsed / done as f64 * total.saturating_sub(done) as f64),
        };
        self.bar.set_position(done as u64);
        // The time first, here too.
        self.bar.set_message(format!("{}{left}{what} {done}/{total}", stage.prefix));
    }

    fn iteration(&self, restart: usize, restarts: usize, iteration: usize, worst_loss: f64) {
        if self.bar.is_hidden() {
            return;
        }
        let mut stage = self.lock();
        if stage.kind != Kind::Fit {
            stage.kind = Kind::Fit;
            stage.since = Some(Instant::now());
            stage.iterations = 0;
            self.bar.set_style(style("{spinner} {wide_msg}"));
        }
        stage.iterations += 1;
        let which = match restarts {
            0 | 1 => String::new(),
            _ => format!("start {}/{restarts}, ", restart + 1),
        };
        let left = stage.time_left(restarts);
        // The time first: a narrow terminal cuts off the end.
        self.bar.set_message(format!(
            "{}fit, {left}{which}iteration {iteration}, worst loss {worst_loss:.4}",
            stage.prefix
        ));
    }

    fn spin(&self) {
        self.lock().kind = Kind::None;
        self.bar.set_style(style("{spinner} {elapsed} {wide_msg}"));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Stage> {
        // Only text is behind the lock, which no panic can leave half-made.
        self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Stage {
    /// What the limits leave; when a fit will have converged, nobody knows.
    fn time_left(&self, restarts: usize) -> String {
        let (Some(since), Some((limits, begin))) = (self.since, self.limits) else {
            return String::new();
        };
        let all = restarts.max(1).saturating_mul(limits.max_iterations);
        let per_iteration = since.elapsed().as_secs_f64() / self.iterations.max(1) as f64;
        let by_iterations = per_iteration * all.saturating_sub(self.iterations) as f64;
        let by_time = limits
            .time_limit
            .map_or(f64::INFINITY, |limit| limit.saturating_sub(begin.elapsed()).as_secs_f64());
        at_most(by_iterations.min(by_time), per_iteration)
    }
}

/// An estimate of the time that is left, where it is worth telling: after a second there is
/// something to go by, and what is nearly over is not worth a number that its last step would belie.
fn about(elapsed: f64, seconds: f64) -> String {
    match elapsed >= 1.0 && seconds >= 2.0 {
        true => format!("about {} left, ", terminal::duration(seconds.round())),
        false => String::new(),
    }
}

/// What a limit leaves: whole seconds, and never less than the next step takes.
fn at_most(seconds: f64, step: f64) -> String {
    format!("at most {} left, ", terminal::duration(seconds.max(step).ceil().max(1.0)))
}

impl fairer_nmf_paper::Watch for Bar {
    fn next(&self, which: &str) {
        self.next_work(which);
    }

    fn counted(&self, what: &'static str, done: usize, total: usize) {
        self.counted(what, done, total);
    }

    fn note(&self, text: &str) {
        self.note(text);
    }

    fn stopped(&self) -> bool {
        stopped()
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::{about, at_most};

    #[test]
    fn no_time_is_told_that_the_next_step_would_belie() {
        assert_eq!(about(5.0, 0.014), "");
        assert_eq!(about(0.1, 100.0), "");
        assert_eq!(about(5.0, 12.3), "about 12.0 s left, ");
        assert_eq!(at_most(0.014, 0.001), "at most 1.0 s left, ");
        assert_eq!(at_most(0.014, 7.5), "at most 8.0 s left, ");
    }
}
