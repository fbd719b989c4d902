//! Results of reproducing a paper.

use crate::paper::Paper;
use kernsift_report::Figure;
use serde::Serialize;

/// The results for one paper.
#[derive(Debug, Clone, Serialize)]
pub struct Study {
    /// The paper.
    pub paper: Paper,
    /// Whether this was a quick run.
    pub quick: bool,
    /// Random seed.
    pub seed: u64,
    /// One section per table, figure or claim.
    pub sections: Vec<Section>,
}

/// Outcome of a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The criterion holds.
    Met,
    /// The criterion does not hold.
    Missed,
    /// There is no criterion; results are only shown.
    Shown,
    /// The data was not available.
    NotRun,
}

impl Verdict {
    /// Met or missed.
    pub fn of(met: bool) -> Self {
        if met { Self::Met } else { Self::Missed }
    }

    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Shown => "shown",
            Self::NotRun => "not run",
        }
    }
}

/// The reproduction of one table, figure or claim.
#[derive(Debug, Clone, Serialize)]
pub struct Section {
    /// Stable identifier.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// The claim of the paper.
    pub claim: String,
    /// How the experiment was run.
    pub protocol: String,
    /// What counts as reproduced.
    pub criterion: String,
    /// Whether the criterion holds.
    pub verdict: Verdict,
    /// The numbers behind the verdict, in a sentence or two.
    pub finding: String,
    /// Reasons for differences from the published results, and further notes.
    pub notes: Vec<String>,
    /// Our results next to the published ones.
    pub tables: Vec<Table>,
    /// Figures.
    pub figures: Vec<Figure>,
}

impl Section {
    /// A section without results.
    pub fn new(id: &'static str, title: &str, claim: &str, protocol: &str, criterion: &str) -> Self {
        Self {
            id,
            title: title.to_owned(),
            claim: claim.to_owned(),
            protocol: protocol.to_owned(),
            criterion: criterion.to_owned(),
            verdict: Verdict::NotRun,
            finding: String::new(),
            notes: vec![],
            tables: vec![],
            figures: vec![],
        }
    }

    /// Sets the verdict and the numbers behind it.
    pub fn result(mut self, verdict: Verdict, finding: String) -> Self {
        (self.verdict, self.finding) = (verdict, finding);
        self
    }

    /// Adds a note.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a table.
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// Adds a figure.
    pub fn figure(mut self, figure: Figure) -> Self {
        self.figures.push(figure);
        self
    }
}

/// A table of text.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// Caption.
    pub caption: String,
    /// Column headings.
    pub header: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(caption: &str, header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            caption: caption.to_owned(),
            header: header.into_iter().map(Into::into).collect(),
            rows: vec![],
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }
}
