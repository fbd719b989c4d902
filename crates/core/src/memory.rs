//! How much memory a piece of work takes, counted where memory is handed out.
//!
//! A program that wants to know makes [`Counting`] its allocator:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: kernsift::memory::Counting = kernsift::memory::Counting;
//! # fn main() {}
//! ```
//!
//! Threads that work on one thing share a [`Meter`]; what they allocate and give back is added up there.
//! Threads without a meter pay for one look at a thread-local pointer.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The system's allocator, with counting.
pub struct Counting;

/// Whether the program's allocator is [`Counting`].
static COUNTS: AtomicBool = AtomicBool::new(false);

/// Accounts that no meter uses at present. They are never freed, as a thread that is about to end may still
/// point at one.
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

/// Adds up what some threads allocate.
pub struct Meter(&'static Account);

impl Meter {
    /// A meter at zero, of no thread yet.
    pub fn new() -> Self {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let meter = Self(spare.unwrap_or_else(|| Box::leak(Box::default())));
        meter.reset();
        meter
    }

    /// From now on this thread's memory is counted here.
    pub fn attach(&self) {
        ACCOUNT.set(Some(self.0));
    }

    /// From now on this thread's memory is counted nowhere.
    pub fn detach(&self) {
        ACCOUNT.set(None);
    }

    /// Starts at zero again.
    pub fn reset(&self) {
        self.0.now.store(0, Ordering::Relaxed);
        self.0.peak.store(0, Ordering::Relaxed);
    }

    /// The most bytes that were held at once since the last reset; none if nobody counts.
    pub fn peak(&self) -> Option<u64> {
        COUNTS.load(Ordering::Relaxed).then(|| self.0.peak.load(Ordering::Relaxed).max(0) as u64)
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

/// Does work, and counts the most bytes that this thread and those of its pool held at once meanwhile. Not to be nested.
pub fn metered<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    /// Takes the meter off again, whatever happens.
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
    let done = work();
    (done, attached.0.peak())
}

fn count(bytes: i64) {
    // A thread that is being taken down has no thread-locals any more.
    if let Ok(Some(account)) = ACCOUNT.try_with(Cell::get) {
        account.change(bytes);
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged, and its answer is returned as it is.
// Counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNTS.store(true, Ordering::Relaxed);
        count(layout.size() as i64);
        // SAFETY: the caller's promise about the layout is the system's condition.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as above; the pointer came from the system's allocator.
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
    fn what_is_allocated_and_given_back_is_added_up() {
        // The tests' allocator is the usual one, so the calls are made by hand.
        let meter = Meter::new();
        meter.attach();
        let layout = Layout::from_size_align(1000, 8).unwrap();
        // SAFETY: the layout is not empty, and all that is allocated is given back with its own layout.
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
        // Detached: nothing is counted here.
        // SAFETY: as above.
        unsafe { Counting.dealloc(Counting.alloc(layout), layout) };
        assert_eq!(meter.peak(), Some(0));
    }
}
