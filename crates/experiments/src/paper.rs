//! The papers and the settings of a run.

use kernsift::Context;
use serde::Serialize;
use std::path::PathBuf;

/// A paper to reproduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paper {
    /// TAKES: a fast method to select features in the kernel space.
    Takes,
    /// From transformation-based dimensionality reduction to feature selection.
    Transform,
    /// Feature selection and kernel design via linear programming.
    Lp,
}

impl Paper {
    /// All papers, in the order of the page.
    pub const ALL: [Self; 3] = [Self::Takes, Self::Transform, Self::Lp];

    /// Short name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Takes => "takes",
            Self::Transform => "transform",
            Self::Lp => "lp",
        }
    }

    /// Authors, title and venue, in Markdown.
    pub fn reference(self) -> &'static str {
        match self {
            Self::Takes => {
                "Xu et al., *TAKES: a fast method to select features in the kernel space*, CIKM 2010."
            }
            Self::Transform => {
                "Masaeli, Fung and Dy, *From transformation-based dimensionality reduction to feature selection*, ICML 2010."
            }
            Self::Lp => {
                "Fung, Rosales and Rao, *Feature selection and kernel design via linear programming*, IJCAI 2007."
            }
        }
    }
}

/// Settings of a run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Run only two splits of small data sets.
    pub quick: bool,
    /// Folder of the data sets that are not built in.
    pub data_dir: Option<PathBuf>,
    /// Folder of the records from which an interrupted run resumes. `None` saves nothing.
    pub records: Option<PathBuf>,
}

impl Settings {
    /// One seed per split of a data set.
    pub fn seeds(&self, ctx: &Context) -> Vec<u64> {
        let splits = if self.quick { 2 } else { 10 };
        (0..splits).map(|split| ctx.seed.wrapping_add(split)).collect()
    }

    /// The number of splits, as text.
    pub fn splits_text(&self) -> &'static str {
        if self.quick { "two seeded splits" } else { "ten seeded splits" }
    }

    /// The number of triplets to learn from.
    pub fn n_triplets(&self) -> usize {
        if self.quick { 500 } else { 1500 }
    }

    /// Path of a record. Quick runs have separate files.
    pub fn record(&self, name: &str) -> Option<PathBuf> {
        let quick = if self.quick { "-quick" } else { "" };
        self.records.as_ref().map(|folder| folder.join(format!("{name}{quick}.jsonl")))
    }
}
