//! Measures peak memory with a counting allocator.
//!
//! To measure memory, a program makes [`Counting`] its global allocator:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: kernsift::internals::Counting = kernsift::internals::Counting;
//! # fn main() {}
//! ```
//!
//! Threads that work on the same task share a [`Meter`], which adds up their allocations and deallocations. A thread without
//! a meter pays for one read of a thread-local pointer.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The system allocator with counting.
pub struct Counting;

/// Whether the global allocator is [`Counting`].
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Accounts that no meter uses. They are never freed, because a thread that is ending may still point at one.
static SPARE: Mutex<Vec<&'static Account>> = Mutex::new(vec![]);

thread_local! {
    static ACCOUNT: Cell<Option<&'static Account>> = const { Cell::new(None) };
}

#[derive(Default)]
struct Account {
    now: AtomicI64,
    peak: AtomicI64,
}

impl Account {
    fn change(&self, bytes: i64) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }
}

/// Adds up the allocations of some threads.
pub struct Meter(&'static Account);

impl Meter {
    /// A meter at zero, attached to no thread.
    pub fn new() -> Self {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let meter = Self(spare.unwrap_or_else(|| Box::leak(Box::default())));
        meter.reset();
        meter
    }

    /// Starts counting the memory of this thread.
    pub fn attach(&self) {
        ACCOUNT.set(Some(self.0));
    }

    /// Stops counting the memory of this thread.
    pub fn detach(&self) {
        ACCOUNT.set(None);
    }

    /// Resets to zero.
    pub fn reset(&self) {
        self.0.now.store(0, Ordering::Relaxed);
        self.0.peak.store(0, Ordering::Relaxed);
    }

    /// Peak memory in bytes since the last reset; `None` if the global allocator does not count.
    pub fn peak(&self) -> Option<u64> {
        INSTALLED.load(Ordering::Relaxed).then(|| self.0.peak.load(Ordering::Relaxed).max(0) as u64)
    }
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// Runs `work` and returns its result with the peak memory in bytes of this thread and the threads of its pool. Calls cannot be
/// nested.
pub fn metered<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    /// Detaches the meter on drop, also if `work` panics.
    struct Attached(Meter);
    impl Drop for Attached {
        fn drop(&mut self) {
            rayon::broadcast(|_| self.0.detach());
            self.0.detach();
        }
    }
    let attached = Attached(Meter::new());
    attached.0.attach();
    rayon::broadcast(|_| attached.0.attach());
    let result = work();
    (result, attached.0.peak())
}

fn count(bytes: i64) {
    // A thread that is being destroyed has no thread-locals.
    if let Ok(Some(account)) = ACCOUNT.try_with(Cell::get) {
        account.change(bytes);
    }
}

// SAFETY: every call is forwarded to the system allocator unchanged, and its result is returned unchanged.
// Counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        INSTALLED.store(true, Ordering::Relaxed);
        count(layout.size() as i64);
        // SAFETY: the caller guarantees the same conditions that the system allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as above; the pointer came from the system allocator.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_and_deallocations_are_added_up() {
        // The global allocator of the tests does not count, so call it directly.
        let meter = Meter::new();
        meter.attach();
        let layout = Layout::from_size_align(1000, 8).unwrap();
        // SAFETY: the layout is not empty, and every allocation is freed with its layout.
        unsafe {
            let a = Counting.alloc(layout);
            let b = Counting.alloc_zeroed(layout);
            Counting.dealloc(a, layout);
            let c = Counting.realloc(b, layout, 1500);
            Counting.dealloc(c, Layout::from_size_align(1500, 8).unwrap());
        }
        meter.detach();
        assert_eq!(meter.peak(), Some(2000));
        assert_eq!(meter.0.now.load(Ordering::Relaxed), 0);
        meter.reset();
        assert_eq!(meter.peak(), Some(0));
        // Detached: nothing is counted.
        // SAFETY: as above.
        unsafe { Counting.dealloc(Counting.alloc(layout), layout) };
        assert_eq!(meter.peak(), Some(0));
    }
}
