//! What a running method may need from outside: a seed, a memory limit, and someone to tell.

use crate::error::{Error, Result};

/// Watches a run. Every method has a default, so an observer says only what it cares about.
pub trait Observer: Sync {
    /// `done` of `total` steps of a stage are finished; `total` is an upper bound. With a total of 0 or 1
    /// nobody knows how far it is. A stage that is run again begins at 0 again.
    fn progress(&self, _stage: &str, _done: usize, _total: usize) {}
    /// Work that is about to begin will hold about so many bytes at most beyond its data, all that it holds already
    /// included.
    fn plan(&self, _what: &str, _bytes: u64) {}
    /// Something worth knowing that needs no action.
    fn note(&self, _text: &str) {}
    /// Something the user should know before trusting the result.
    fn warn(&self, _text: &str) {}
    /// Whether the user asked to stop.
    fn interrupted(&self) -> bool {
        false
    }
}

/// An observer that looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Passes on nothing but the wish to stop: for work inside other work, whose progress and warnings
/// would tell the user nothing.
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

/// Passed into every fit; never global.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Where all randomness of the run starts.
    pub seed: u64,
    /// Bytes that a method may plan to use.
    pub memory_limit: u64,
    /// Who is told of progress, notes and warnings.
    pub observer: &'a dyn Observer,
    /// Bytes that the work around this one holds; what is planned here comes on top.
    pub held: u64,
}

impl Default for Context<'_> {
    /// Seed 0, the memory that is free now, nobody watching.
    fn default() -> Self {
        Self { seed: 0, memory_limit: available_memory(), observer: &Silent, held: 0 }
    }
}

impl<'a> Context<'a> {
    /// Reports a step and stops the run if the user asked for it.
    pub fn step(&self, stage: &str, done: usize, total: usize) -> Result<()> {
        self.observer.progress(stage, done, total);
        self.check()
    }

    /// Stops the run if the user asked for it.
    pub fn check(&self) -> Result<()> {
        if self.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Tells something worth knowing.
    pub fn note(&self, text: impl AsRef<str>) {
        self.observer.note(text.as_ref());
    }

    /// Tells something the user should know before trusting the result.
    pub fn warn(&self, text: impl AsRef<str>) {
        self.observer.warn(text.as_ref());
    }

    /// Refuses work that would not fit, before anything is allocated. `bytes` is what it will hold at most, without the
    /// data it was given and without what is held already.
    pub fn need_memory(&self, what: impl Into<String>, bytes: f64, advice: &'static str) -> Result<()> {
        let what = what.into();
        let bytes = self.held as f64 + bytes;
        self.observer.plan(&what, bytes as u64);
        need_room(what, bytes, self.memory_limit, advice)
    }

    /// Refuses what would not fit; else the context of work that goes on beside it.
    pub fn hold(&self, what: impl Into<String>, bytes: f64, advice: &'static str) -> Result<Context<'a>> {
        self.need_memory(what, bytes, advice)?;
        Ok(Context { held: self.held.saturating_add(bytes as u64), ..*self })
    }

    /// Bytes that are neither held nor forbidden.
    pub fn room(&self) -> u64 {
        self.memory_limit.saturating_sub(self.held)
    }
}

/// Refuses what does not fit into so much room.
pub(crate) fn need_room(what: impl Into<String>, bytes: f64, room: u64, advice: &'static str) -> Result<()> {
    if bytes <= room as f64 {
        return Ok(());
    }
    Err(Error::Memory { what: what.into(), needed: bytes as u64, limit: room, advice })
}

/// Bytes of memory that are free now, where the system tells; no limit elsewhere.
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
    fn refuses_what_does_not_fit() {
        let ctx = Context { memory_limit: 1 << 20, ..Context::default() };
        assert!(ctx.need_memory("a little", 1000.0, "").is_ok());
        let message = ctx.need_memory("a Gram matrix", 8e9, "use fewer rows").unwrap_err().to_string();
        assert_eq!(
            message,
            "a Gram matrix needs about 7.5 GiB of memory, the limit is 1.0 MiB; use fewer rows"
        );
    }

    #[test]
    fn what_is_held_counts_for_work_beside_it() {
        let ctx = Context { memory_limit: 1000, ..Context::default() };
        let beside = ctx.hold("rows", 600.0, "").unwrap();
        assert!((beside.held, beside.room()) == (600, 400) && beside.need_memory("more", 400.0, "").is_ok());
        assert!(matches!(
            beside.hold("much", 401.0, ""),
            Err(Error::Memory { needed: 1001, limit: 1000, .. })
        ));
        assert!(ctx.need_memory("alone", 1000.0, "").is_ok());
    }

    #[test]
    fn an_interrupt_becomes_an_error() {
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
