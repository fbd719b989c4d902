//! A device, what it was used for, and how it failed.

use super::accelerator::{Accelerator, Attempt, Refusal};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a device computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Screening of all pairs of features.
    Pairs,
    /// HSIC of projected rows.
    Hsic,
    /// Search for nearest neighbors.
    Neighbors,
}

impl Task {
    /// All tasks.
    pub const ALL: [Self; 3] = [Self::Pairs, Self::Hsic, Self::Neighbors];

    /// What it is, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Pairs => "screening of pairs",
            Self::Hsic => "HSIC",
            Self::Neighbors => "nearest neighbors",
        }
    }

    /// The methods that use a device for it, by name.
    pub fn methods(self) -> &'static [&'static str] {
        match self {
            Self::Pairs => &["interactions", "auto", "hsfs", "nca"],
            Self::Hsic => &["hsfs"],
            Self::Neighbors => {
                &["relief", "laplacian", "knn", "kernel-knn", "takes", "kgs-kffs", "fskgs", "fskpca"]
            }
        }
    }
}

/// An accelerator and a record of what it did.
pub struct Device {
    accelerator: Box<dyn Accelerator>,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    used: BTreeSet<Task>,
    /// Tasks in which the device failed, which it is not asked for again, with warnings that were not yet taken.
    failed: BTreeSet<Task>,
    warnings: Vec<String>,
}

impl Device {
    /// A device that was not used yet.
    pub fn new(accelerator: Box<dyn Accelerator>) -> Self {
        Self { accelerator, record: Mutex::default() }
    }

    /// The name of the hardware, if there is any. This may start it.
    pub fn name(&self) -> Option<String> {
        self.accelerator.name()
    }

    /// What the device computed so far.
    pub fn used(&self) -> Vec<Task> {
        self.record().used.iter().copied().collect()
    }

    /// Warnings about failures since the last call. After it, the device is asked again.
    pub fn take_warnings(&self) -> Vec<String> {
        let mut record = self.record();
        record.failed.clear();
        std::mem::take(&mut record.warnings)
    }

    /// The result of a device, or none if it refuses.
    pub(crate) fn attempt<'a, T>(
        &'a self,
        task: Task,
        work: impl FnOnce(&'a dyn Accelerator) -> Attempt<T>,
    ) -> Option<T> {
        if self.record().failed.contains(&task) {
            return None;
        }
        let result = work(&*self.accelerator);
        let mut record = self.record();
        let why = match result {
            Ok(result) => {
                record.used.insert(task);
                return Some(result);
            }
            Err(Refusal::Declined) => return None,
            Err(Refusal::OutOfMemory) => "its memory does not suffice".to_owned(),
            Err(Refusal::Failed(why)) => why,
        };
        if record.failed.insert(task) {
            record.warnings.push(format!("{} on the processor: the GPU failed ({why})", task.describe()));
        }
        None
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Device")
    }
}
