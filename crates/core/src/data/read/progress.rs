//! Progress reports and the memory limit while a text is read.

use crate::context::{Context, need_room};
use crate::error::Result;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes read between two progress reports.
pub(super) const REPORT_BYTES: usize = 1 << 20;

/// Advice for a file that does not fit into the memory limit.
pub(super) const MEMORY_ADVICE: &str = "use fewer rows or columns, or raise the memory limit";

/// Bytes of a text read so far by several threads, and the memory allocated for them.
pub(super) struct Progress<'a> {
    stage: &'a str,
    done: Mutex<usize>,
    total: usize,
    allocated: AtomicU64,
    limit: u64,
    /// The context of the reader.
    pub(super) ctx: &'a Context<'a>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(stage: &'a str, total: usize, limit: u64, ctx: &'a Context<'a>) -> Self {
        // The text itself is in memory.
        Self { stage, done: Mutex::new(0), total, allocated: AtomicU64::new(total as u64), limit, ctx }
    }

    /// The most bytes that the text and the table may take.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Adds allocated bytes, and fails with an estimate for the complete table if they exceed the limit.
    pub(super) fn allocate(&self, bytes: usize) -> Result<()> {
        let allocated = (self.allocated.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64) as f64;
        if allocated <= self.limit as f64 {
            return Ok(());
        }
        let done = *self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let text = self.total as f64;
        let complete = text + (allocated - text) * text / done.max(1) as f64;
        need_room("the table in this file", complete.max(allocated), self.limit, MEMORY_ADVICE)
    }

    /// Adds bytes that were read.
    pub(super) fn add(&self, bytes: usize) -> Result<()> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done = (*done + bytes).min(self.total);
        self.ctx.step(self.stage, *done, self.total)
    }

    /// Starts a second pass over the text.
    pub(super) fn restart(&self) -> Result<()> {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = 0;
        self.add(0)
    }
}

/// Counts lines for a [`Progress`], if there is one.
pub(super) struct LineCounter<'a> {
    progress: Option<&'a Progress<'a>>,
    unreported: usize,
}

impl<'a> LineCounter<'a> {
    pub(super) fn new(progress: Option<&'a Progress<'a>>) -> Self {
        Self { progress, unreported: 0 }
    }

    /// Counts a line.
    pub(super) fn line(&mut self, line: &str) -> Result<()> {
        self.unreported += line.len() + 1;
        match self.progress {
            Some(progress) if self.unreported >= REPORT_BYTES => {
                progress.add(std::mem::take(&mut self.unreported))
            }
            _ => Ok(()),
        }
    }
}
