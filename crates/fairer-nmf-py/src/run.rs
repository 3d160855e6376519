//! Where the library runs: on a pool of the fit's own, with the GIL released, while the calling
//! thread waits for the end, for Ctrl-C and for news to show.

use fairer_nmf::{Observer, Progress};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long the calling thread sleeps between two looks at signals and progress.
const TICK: Duration = Duration::from_millis(20);

/// What the threads of a pool do.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// They compute.
    Computes,
    /// They wait for the answers of shares, which may be computed in this process.
    Asks,
}

/// Pools by what they do and number of threads, made in the process with this id.
struct Pools {
    process: u32,
    pools: Vec<(Kind, Arc<ThreadPool>)>,
}

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// A pool of `threads` threads. A forked child has none of its parent's threads, so it makes its
/// own pools.
fn pool(kind: Kind, threads: usize) -> PyResult<Arc<ThreadPool>> {
    let make = || {
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("fairer-nmf-{i}"))
            .build()
            .map(Arc::new)
            .map_err(|e| PyRuntimeError::new_err(format!("cannot start {threads} threads: {e}")))
    };
    // A fork may have copied the lock while another thread held it: never wait for it.
    let Ok(mut cache) = POOLS.try_lock() else { return make() };
    let process = std::process::id();
    if cache.as_ref().is_none_or(|cache| cache.process != process) {
        // Dropping the parent's pools would signal threads that do not exist here.
        std::mem::forget(cache.replace(Pools { process, pools: Vec::new() }));
    }
    let pools = &mut cache.as_mut().expect("made just above").pools;
    let fits = |(own, pool): &&(Kind, Arc<ThreadPool>)| {
        *own == kind && pool.current_num_threads() == threads
    };
    if let Some((_, pool)) = pools.iter().find(fits) {
        return Ok(Arc::clone(pool));
    }
    let pool = make()?;
    pools.push((kind, Arc::clone(&pool)));
    Ok(pool)
}

/// The latest progress, as Python gets it.
#[derive(Clone, Copy)]
enum News {
    Baselines { done: usize, total: usize },
    Iteration { restart: usize, restarts: usize, iteration: usize, worst_loss: f64 },
    Audit { done: usize, total: usize },
}

impl News {
    /// What of it is shown; that a fit of several begins, its first iteration tells.
    fn of(progress: &Progress<'_>) -> Option<Self> {
        Some(match *progress {
            Progress::Baselines { done, total } => Self::Baselines { done, total },
            Progress::Iteration { restart, restarts, iteration, worst_loss, .. } => {
                Self::Iteration { restart, restarts, iteration, worst_loss }
            }
            Progress::Audit { done, total, .. } => Self::Audit { done, total },
            // A comparison begins, or what a later library may tell besides.
            _ => return None,
        })
    }
}

/// What the calling thread and the pool share.
#[derive(Default)]
struct Shared {
    finished: Mutex<bool>,
    wake: Condvar,
    stop: AtomicBool,
    news: Mutex<Option<News>>,
}

impl Shared {
    fn report(&self, listened: bool, progress: &Progress<'_>) -> ControlFlow<()> {
        if let Some(news) = News::of(progress).filter(|_| listened) {
            *self.news.lock().unwrap_or_else(PoisonError::into_inner) = Some(news);
        }
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Waits a tick; true once the task has ended.
    fn wait(&self) -> bool {
        let finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.wake.wait_timeout_while(finished, TICK, |finished| !*finished);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn tell(&self, py: Python<'_>, listener: Option<&Py<PyAny>>) -> PyResult<()> {
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(listener), Some(news)) = (listener, news) else { return Ok(()) };
        match news {
            News::Baselines { done, total } => {
                listener.call1(py, ("baselines", 0, 1, done, total, f64::NAN))?
            }
            News::Iteration { restart, restarts, iteration, worst_loss } => {
                listener.call1(py, ("fit", restart, restarts, iteration, 0, worst_loss))?
            }
            News::Audit { done, total } => {
                listener.call1(py, ("audit", 0, 1, done, total, f64::NAN))?
            }
        };
        Ok(())
    }
}

/// Says that the task has ended, also when it panicked.
struct Finish<'a>(&'a Shared);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        *self.0.finished.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.wake.notify_all();
    }
}

/// Runs `task` on `threads` threads with the GIL released. An exception raised by a signal
/// handler (Ctrl-C) or by the listener stops the task at its next iteration and is returned.
pub fn run<R: Send>(
    py: Python<'_>,
    threads: usize,
    listener: Option<Py<PyAny>>,
    task: impl FnOnce(&Observer<'_>) -> R + Send,
) -> PyResult<R> {
    run_on(py, &*pool(Kind::Computes, threads)?, listener, task)
}

/// As [`run`], for a task that asks shares and waits for them: on threads that no share is computed on.
pub fn run_asking<R: Send>(
    py: Python<'_>,
    threads: usize,
    listener: Option<Py<PyAny>>,
    task: impl FnOnce(&Observer<'_>) -> R + Send,
) -> PyResult<R> {
    run_on(py, &*pool(Kind::Asks, threads)?, listener, task)
}

fn run_on<R: Send>(
    py: Python<'_>,
    pool: &ThreadPool,
    listener: Option<Py<PyAny>>,
    task: impl FnOnce(&Observer<'_>) -> R + Send,
) -> PyResult<R> {
    let shared = Shared::default();
    let (mut result, mut failure) = (None, None);
    py.detach(|| {
        pool.in_place_scope(|scope| {
            let (slot, shared, listened) = (&mut result, &shared, listener.is_some());
            scope.spawn(move |_| {
                let _finish = Finish(shared);
                *slot = Some(task(&|progress| shared.report(listened, progress)));
            });
            while !shared.wait() {
                if failure.is_some() {
                    continue;
                }
                let look = |py: Python<'_>| {
                    py.check_signals().and_then(|()| shared.tell(py, listener.as_ref()))
                };
                if let Err(error) = Python::attach(look) {
                    failure = Some(error);
                    shared.stop.store(true, Ordering::Relaxed);
                }
            }
        });
    });
    if let Some(error) = failure {
        return Err(error);
    }
    shared.tell(py, listener.as_ref())?;
    Ok(result.expect("the scope ends after the task, and a panic does not come here"))
}
