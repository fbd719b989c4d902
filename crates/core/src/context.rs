//! The environment of a fit: random seed, memory limit, and an observer for progress and warnings.

use crate::device::Device;
use crate::error::{Error, Result};

/// Receives progress and messages. All methods have default implementations that do nothing.
pub trait Observer: Sync {
    /// `done` of `total` steps of a stage are finished; `total` is an upper bound. With a total of 0 or 1 the progress is
    /// unknown. A stage that runs again starts at 0.
    fn progress(&self, _stage: &str, _done: usize, _total: usize) {}
    /// A computation is about to start that needs at most about this many bytes beyond its data, including memory already in
    /// use.
    fn plan(&self, _what: &str, _bytes: u64) {}
    /// Information that needs no action.
    fn note(&self, _text: &str) {}
    /// Whether notes are shown; if not, those that take time are not made.
    fn shows_notes(&self) -> bool {
        false
    }
    /// A warning that affects how far the result can be trusted.
    fn warn(&self, _text: &str) {}
    /// Whether the user asked to interrupt the computation.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Forwards memory plans and interruption only: for inner fits whose progress and warnings do not concern the user.
#[derive(Clone, Copy)]
pub struct Quiet<'a>(pub &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn plan(&self, what: &str, bytes: u64) {
        self.0.plan(what, bytes);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

/// Environment of a fit.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Random seed.
    pub seed: u64,
    /// Memory limit in bytes.
    pub memory_limit: u64,
    /// Receives progress, notes and warnings.
    pub observer: &'a dyn Observer,
    /// Bytes held by enclosing computations; they count towards the limit.
    pub held: u64,
    /// A GPU or another accelerator, which computes the longest loops.
    pub device: Option<&'static Device>,
}

impl Default for Context<'_> {
    /// Seed 0, the available memory as limit, no observer, no device.
    fn default() -> Self {
        Self { seed: 0, memory_limit: available_memory(), observer: &Silent, held: 0, device: None }
    }
}

impl<'a> Context<'a> {
    /// Reports progress. Returns an error if the user interrupted the computation.
    pub fn step(&self, stage: &str, done: usize, total: usize) -> Result<()> {
        self.observer.progress(stage, done, total);
        self.check()
    }

    /// Returns an error if the user interrupted the computation.
    pub fn check(&self) -> Result<()> {
        if self.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Sends a note to the observer.
    pub fn note(&self, text: impl AsRef<str>) {
        self.observer.note(text.as_ref());
    }

    /// Sends a warning to the observer.
    pub fn warn(&self, text: impl AsRef<str>) {
        self.observer.warn(text.as_ref());
    }

    /// Returns an error if a computation would exceed the memory limit. `bytes` is its peak memory without its input data
    /// and without `held`.
    pub fn need_memory(&self, what: impl Into<String>, bytes: f64, advice: &'static str) -> Result<()> {
        let what = what.into();
        let bytes = self.held as f64 + bytes;
        self.observer.plan(&what, bytes as u64);
        need_room(what, bytes, self.memory_limit, advice)
    }

    /// As [`Context::need_memory`]; returns the context for computations during which this memory stays in use.
    pub fn hold(&self, what: impl Into<String>, bytes: f64, advice: &'static str) -> Result<Context<'a>> {
        self.need_memory(what, bytes, advice)?;
        Ok(Context { held: self.held.saturating_add(bytes as u64), ..*self })
    }

    /// Bytes available within the limit.
    pub fn room(&self) -> u64 {
        self.memory_limit.saturating_sub(self.held)
    }
}

/// Returns an error if `bytes` exceed `room`.
pub(crate) fn need_room(what: impl Into<String>, bytes: f64, room: u64, advice: &'static str) -> Result<()> {
    if bytes <= room as f64 {
        return Ok(());
    }
    Err(Error::Memory { what: what.into(), needed: bytes as u64, limit: room, advice })
}

/// Available memory in bytes; `u64::MAX` if the system does not report it.
pub fn available_memory() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else { return u64::MAX };
    text.lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok())
        .map_or(u64::MAX, |kib| kib.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceeding_the_memory_limit_is_an_error() {
        let ctx = Context { memory_limit: 1 << 20, ..Context::default() };
        assert!(ctx.need_memory("a little", 1000.0, "").is_ok());
        let message = ctx.need_memory("a Gram matrix", 8e9, "use fewer rows").unwrap_err().to_string();
        assert_eq!(
            message,
            "a Gram matrix needs about 7.5 GiB of memory, the limit is 1.0 MiB; use fewer rows"
        );
    }

    #[test]
    fn held_memory_counts_towards_the_limit() {
        let ctx = Context { memory_limit: 1000, ..Context::default() };
        let inner = ctx.hold("rows", 600.0, "").unwrap();
        assert!((inner.held, inner.room()) == (600, 400) && inner.need_memory("more", 400.0, "").is_ok());
        assert!(matches!(
            inner.hold("much", 401.0, ""),
            Err(Error::Memory { needed: 1001, limit: 1000, .. })
        ));
        assert!(ctx.need_memory("alone", 1000.0, "").is_ok());
    }

    #[test]
    fn an_interrupt_is_an_error() {
        struct Stop;
        impl Observer for Stop {
            fn interrupted(&self) -> bool {
                true
            }
        }
        let ctx = Context { observer: &Stop, ..Context::default() };
        assert!(ctx.step("x", 0, 1).unwrap_err().is_interrupted());
    }
}
