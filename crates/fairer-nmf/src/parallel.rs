//! Independent pieces of work on all threads.
//!
//! Pieces are called through a pointer, which is nothing beside what they do; so the machinery of threads is
//! compiled once for all of them, and not for each.

use crate::{Error, Result};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// What `one` makes of 0 to `count`, in this order. After an error pieces that have not begun are left out;
/// of several errors the first in order is given. Nothing is set aside for pieces to come: there may be billions
/// asked for, until somebody stops them.
pub(crate) fn try_map<R: Send>(
    count: usize,
    one: &(dyn Fn(usize) -> Result<R> + Sync),
) -> Result<Vec<R>> {
    let found = Mutex::new((Vec::new(), None::<(usize, Error)>));
    each(count, &|i| {
        let made = one(i);
        let (done, failed) = &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
        match made {
            Ok(made) => done.push((i, made)),
            Err(error) if failed.as_ref().is_none_or(|(first, _)| i < *first) => {
                *failed = Some((i, error));
            }
            Err(_) => {}
        }
        failed.is_none()
    });
    match found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (_, Some((_, error))) => Err(error),
        (mut done, None) => {
            done.sort_unstable_by_key(|(i, _)| *i);
            Ok(done.into_iter().map(|(_, made)| made).collect())
        }
    }
}

/// Calls `one` for 0 to `count`, until it says no.
fn each(count: usize, one: &(dyn Fn(usize) -> bool + Sync)) {
    // That it ended early is known to whoever said so.
    let _ = (0..count).into_par_iter().try_for_each(|i| one(i).then_some(()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_and_of_errors_the_first() {
        let squares = try_map(1_000, &|i| Ok(i * i)).expect("no error");
        assert!(squares.iter().enumerate().all(|(i, square)| *square == i * i));
        assert!(try_map(0, &|i| Ok(i)).expect("no error").is_empty());
        let begun = AtomicUsize::new(0);
        let odd = |i: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            let bad = || Error::Baseline { reason: i.to_string() };
            if i.is_multiple_of(2) { Ok(i) } else { Err(bad()) }
        };
        // On one thread pieces begin in their order.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let found = alone.install(|| try_map(1_000, &odd));
        assert!(matches!(found, Err(Error::Baseline { reason }) if reason == "1"));
        assert!(begun.into_inner() < 1_000, "what has not begun is left out");
        let stopped =
            try_map(usize::MAX / 2, &|i| if i < 1 << 20 { Ok(()) } else { Err(Error::Stopped) });
        assert!(matches!(stopped, Err(Error::Stopped)));
    }
}
