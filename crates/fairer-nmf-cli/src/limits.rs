//! The system's limits end the program with a sentence and exit code 1, not by a signal. Only where the
//! program is all that runs: in somebody else's process that is not ours to decide, and nothing changes
//! until [`begin`] is called.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The system's allocator, which says so when memory runs out in the program.
pub struct Memory;

/// Whether the process is the program.
static PROGRAM: AtomicBool = AtomicBool::new(false);

/// From here on the process is the program and nothing else.
pub fn begin() {
    PROGRAM.store(true, Ordering::SeqCst);
    hear_of_large_files();
}

// SAFETY: every call is handed to the system's allocator as it is, and so is every answer; where the
// answer is none and nobody waits for it, the process ends instead.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is the one that the system asks for.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above, of the block and of the size as well.
        given(unsafe { System.realloc(start, layout, size) }, size)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the block came from the system's allocator with this layout.
        unsafe { System.dealloc(start, layout) }
    }
}

#[inline]
fn given(start: *mut u8, bytes: usize) -> *mut u8 {
    if start.is_null() && ends_here() {
        ran_out(bytes);
    }
    start
}

fn ends_here() -> bool {
    PROGRAM.load(Ordering::SeqCst) && !fairer_nmf_io::memory_can_be_refused()
}

thread_local! {
    static ENDING: Cell<bool> = const { Cell::new(false) };
}

/// Ends the program without asking for memory again.
#[cold]
fn ran_out(bytes: usize) -> ! {
    static ENDED: AtomicBool = AtomicBool::new(false);
    if ENDED.swap(true, Ordering::SeqCst) {
        if !ENDING.replace(true) {
            // Another thread was first: it has a moment to tidy up.
            std::thread::sleep(Duration::from_secs(2));
        }
    } else {
        ENDING.set(true);
        let mut line = [0_u8; 256];
        let mut rest = &mut line[..];
        // It fits.
        let _ = writeln!(
            rest,
            "error: memory ran out ({bytes} bytes more were asked for): use fewer rows, features or topics, --precision f32, or a machine with more memory"
        );
        let length = 256 - rest.len();
        // SAFETY: the bytes are those of a live array.
        let _ = unsafe { libc::write(2, line.as_ptr().cast(), length) };
        fairer_nmf_io::remove_unfinished();
    }
    // SAFETY: ends the process, and nothing is run on the way.
    unsafe { libc::_exit(1) }
}

/// A file that grows beyond what is allowed (`ulimit -f`) is then an error of writing.
fn hear_of_large_files() {
    // SAFETY: to ignore a signal runs no code of ours; no other thread is there yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
