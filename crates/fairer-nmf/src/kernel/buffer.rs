//! Memory for what a pass reads and writes in any order: the dictionary and the sums.

use crate::number::Number;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
#[cfg(target_os = "linux")]
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A vector that lies across two cache lines takes two loads.
const LINE: usize = 64;
/// A large page, where the system has them: with small ones, a sparse row that touches 100
/// features of 20,000 waits for the page table more than for the numbers.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Numbers that begin on a cache line and, if there are many, lie on large pages.
pub struct Buffer<T> {
    start: NonNull<T>,
    len: usize,
    memory: Memory,
}

/// Where a buffer's numbers lie.
enum Memory {
    Heap(Layout),
    /// A mapping of its own: start and bytes.
    #[cfg(target_os = "linux")]
    Pages(*mut c_void, usize),
}

// SAFETY: a buffer owns its numbers, like a vector.
unsafe impl<T: Send> Send for Buffer<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Buffer<T> {}

impl<T: Number> Buffer<T> {
    /// `len` zeros.
    pub fn new(len: usize) -> Self {
        let bytes = len.checked_mul(size_of::<T>()).expect("a size that fits the memory");
        let (start, memory) = on_large_pages(bytes).unwrap_or_else(|| on_the_heap(bytes));
        Self { start: start.cast(), len, memory }
    }

    /// `len` zeros, in the same place if that is its length.
    pub fn reset(&mut self, len: usize) {
        if self.len == len {
            self.fill(T::default());
        } else {
            *self = Self::new(len);
        }
    }
}

fn on_the_heap(bytes: usize) -> (NonNull<u8>, Memory) {
    let layout = Layout::from_size_align(bytes.max(1), LINE).expect("a size that fits the memory");
    // SAFETY: the layout is not empty.
    let start = unsafe { alloc_zeroed(layout) };
    let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
    (start, Memory::Heap(layout))
}

/// Nothing if there are too few bytes, or the system will not; then the heap serves, slower.
#[cfg(target_os = "linux")]
fn on_large_pages(bytes: usize) -> Option<(NonNull<u8>, Memory)> {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
    // Miri, which looks for undefined behaviour, has no large pages.
    if bytes < PAGE || cfg!(miri) {
        return None;
    }
    // One page more, for a start on a page's border; what is never touched takes no memory.
    let mapped = bytes.checked_next_multiple_of(PAGE)?.checked_add(PAGE)?;
    let rights = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping, where the system likes.
    let map = unsafe { mmap_anonymous(std::ptr::null_mut(), mapped, rights, MapFlags::PRIVATE) };
    let map = map.ok()?;
    let start = map.wrapping_byte_add(map.align_offset(PAGE));
    // SAFETY: the advice changes no contents, and the range lies in the mapping.
    let _ = unsafe { madvise(start, mapped - PAGE, Advice::LinuxHugepage) };
    Some((NonNull::new(start)?.cast(), Memory::Pages(map, mapped)))
}

#[cfg(not(target_os = "linux"))]
fn on_large_pages(_: usize) -> Option<(NonNull<u8>, Memory)> {
    None
}

impl<T: Number> Default for Buffer<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many were made, all zero, which is a number of either type.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and they are ours alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        match self.memory {
            // SAFETY: allocated with this layout.
            Memory::Heap(layout) => unsafe { dealloc(self.start.as_ptr().cast(), layout) },
            #[cfg(target_os = "linux")]
            Memory::Pages(start, bytes) => {
                // SAFETY: mapped with these, and nobody else knows them.
                let _ = unsafe { rustix::mm::munmap(start, bytes) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_on_whole_lines_of_any_length() {
        let large = [(1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1 << 20];
        let large = if cfg!(miri) { &[][..] } else { &large };
        for &len in [0, 1, 7, 1_000].iter().chain(large) {
            let mut buffer = Buffer::<f64>::new(len);
            assert_eq!(buffer.as_ptr() as usize % LINE, 0);
            assert_eq!(buffer.len(), len);
            assert!(buffer.iter().all(|&v| v == 0.0));
            buffer.fill(1.0);
            buffer.reset(len);
            assert!(buffer.iter().all(|&v| v == 0.0));
            buffer.reset(3);
            assert_eq!(*buffer, [0.0; 3]);
        }
    }
}
