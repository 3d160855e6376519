//! Decoders that panic on damaged pages, as those of Parquet do, end in an error here.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use parquet::errors::ParquetError;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder; a panic in it is an error, and nothing is printed of it. What it worked on is not to be
/// used again after one.
pub(super) fn guarded<R>(
    decode: impl FnOnce() -> Result<R, ParquetError>,
) -> Result<R, ParquetError> {
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
    ended.unwrap_or_else(|_| Err(ParquetError::General("its parts contradict each other".into())))
}
