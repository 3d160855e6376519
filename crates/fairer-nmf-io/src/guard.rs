//! Decoders that panic on damaged files, as those of Parquet and of Excel do, end in an error here.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What is said of a file whose decoder panics.
pub(crate) const CONTRADICTION: &str = "its parts contradict each other";

/// Runs a decoder; none where it panics, and nothing is printed of that. What it worked on is not to be
/// used again then.
pub(crate) fn guarded<R>(decode: impl FnOnce() -> R) -> Option<R> {
    // Other panics are told by whoever told them before.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let tell = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.try_with(Cell::get).unwrap_or(false) {
                tell(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let ended = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(outer);
    ended.ok()
}
