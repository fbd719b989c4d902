//! What comes out of a paper that was run again.

use crate::paper::Paper;
use kernsift_report::Picture;
use serde::Serialize;

/// A paper that was run again.
#[derive(Debug, Clone, Serialize)]
pub struct Study {
    /// Which paper.
    pub paper: Paper,
    /// Whether only a quick part was run.
    pub quick: bool,
    /// Where all randomness started.
    pub seed: u64,
    /// A section per table, figure or claim.
    pub sections: Vec<Section>,
}

/// How a claim fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The criterion holds.
    Met,
    /// It does not.
    Missed,
    /// There is no criterion: the numbers are shown.
    Shown,
    /// Its data was not there.
    NotRun,
}

impl Verdict {
    /// Met or missed.
    pub fn of(met: bool) -> Self {
        if met { Self::Met } else { Self::Missed }
    }

    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Shown => "shown",
            Self::NotRun => "not run",
        }
    }
}

/// A table, figure or claim of a paper.
#[derive(Debug, Clone, Serialize)]
pub struct Section {
    /// A short name that stays the same.
    pub id: &'static str,
    /// What it is.
    pub title: String,
    /// What the paper says.
    pub claim: String,
    /// How it was run.
    pub protocol: String,
    /// What counts as reproduced.
    pub criterion: String,
    /// How it fared.
    pub verdict: Verdict,
    /// The numbers that decide it, in a sentence or two.
    pub finding: String,
    /// Why we differ from print, and what else there is to know.
    pub remarks: Vec<String>,
    /// Ours beside what is printed.
    pub tables: Vec<Table>,
    /// Pictures.
    pub pictures: Vec<Picture>,
}

impl Section {
    /// A section without results yet: not run.
    pub fn new(id: &'static str, title: &str, claim: &str, protocol: &str, criterion: &str) -> Self {
        Self {
            id,
            title: title.to_owned(),
            claim: claim.to_owned(),
            protocol: protocol.to_owned(),
            criterion: criterion.to_owned(),
            verdict: Verdict::NotRun,
            finding: String::new(),
            remarks: vec![],
            tables: vec![],
            pictures: vec![],
        }
    }

    /// The same with a verdict and the numbers behind it.
    pub fn found(mut self, verdict: Verdict, finding: String) -> Self {
        (self.verdict, self.finding) = (verdict, finding);
        self
    }

    /// The same with something more to know.
    pub fn remark(mut self, text: impl Into<String>) -> Self {
        self.remarks.push(text.into());
        self
    }

    /// The same with a table more.
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// The same with a picture more.
    pub fn picture(mut self, picture: Picture) -> Self {
        self.pictures.push(picture);
        self
    }
}

/// Rows of text under headings.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// What is in it.
    pub caption: String,
    /// A heading per column.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows yet.
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
