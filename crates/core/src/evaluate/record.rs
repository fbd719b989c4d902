//! What a comparison writes down: plain records, one JSON object per line.
//!
//! The first line says what was compared on what; then come a line per method with its settings and a line per
//! method, split and number of features with the scores. Nothing in them depends on the clock, the
//! machine or the order of work, so two runs of one comparison end with the same bytes. What does, times and
//! memory, is written to a file beside it.

use super::candidate::Method;
use super::evaluator::Evaluator;
use super::scores::Scores;
use crate::data::{Dataset, Fold, Rows, Splits, Target};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the lines' meaning.
pub const FORMAT: u32 = 1;

/// A line of a record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Entry {
    /// What was compared on what; the first line.
    Run(Run),
    /// A method and its settings.
    Method {
        /// What results call it.
        label: String,
        /// The method.
        settings: Method,
    },
    /// The scores of a method in a split with a number of features.
    Result(Record),
}

/// What was compared on what.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// The version of the lines' meaning.
    pub format: u32,
    /// The version of kernsift.
    pub version: String,
    /// What the user called the data.
    pub data: String,
    /// Its size and a number that other data would not have.
    pub fingerprint: Fingerprint,
    /// Where all randomness started.
    pub seed: u64,
    /// How rows were split; none if the splits were given.
    pub splits: Option<Splits>,
    /// Whether columns were put on one scale, in each fold by its training rows.
    pub scaled: bool,
    /// How empty cells were filled, in each fold by its training rows; none if there were none.
    pub filled: Option<crate::data::ImputeStrategy>,
    /// Who judged.
    pub evaluator: Evaluator,
    /// The rows of each split.
    pub folds: Vec<SplitRows>,
}

/// The rows of a split, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitRows {
    /// Which repeat it belongs to.
    pub repeat: usize,
    /// Which split of the repeat it is.
    pub fold: usize,
    /// Rows that were judged by.
    pub test: Vec<usize>,
    /// Rows that were learned from, if those are not all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Vec<usize>>,
}

impl SplitRows {
    /// The rows of a split of data with `n` rows.
    pub fn new(split: &Fold, n: usize, repeat: usize, fold: usize) -> Self {
        let whole = split.train.len() + split.test.len() == n;
        Self { repeat, fold, test: split.test.clone(), train: (!whole).then(|| split.train.clone()) }
    }
}

/// What data looks like from afar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// A checksum over names, numbers and target, in hexadecimal.
    pub checksum: String,
}

impl Fingerprint {
    /// The fingerprint of data.
    pub fn of(data: &Dataset) -> Self {
        let mut sum = Checksum::new();
        data.names().iter().for_each(|name| sum.text(name));
        match data.x() {
            Rows::Dense(x) => x.iter().for_each(|v| sum.number(*v)),
            Rows::Sparse(x) => x.cells().for_each(|(i, j, v)| {
                sum.word(i as u64);
                sum.word(j as u64);
                sum.number(v);
            }),
        }
        match data.target() {
            Target::None => {}
            Target::Classes(classes) => {
                classes.names.iter().for_each(|name| sum.text(name));
                classes.codes.iter().for_each(|&code| sum.word(code as u64));
            }
            Target::Continuous(values) => values.iter().for_each(|v| sum.number(*v)),
        }
        Self { rows: data.n(), columns: data.d(), checksum: format!("{:016x}", sum.0) }
    }
}

/// FNV-1a, a word at a time, with a turn that lets high bits reach low ones.
struct Checksum(u64);

impl Checksum {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29);
    }

    fn number(&mut self, number: f64) {
        self.word(number.to_bits());
    }

    fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.word(u64::from(byte)));
        // So that "ab", "c" and "a", "bc" differ.
        self.word(u64::MAX);
    }
}

/// The scores of a method in a split with a number of features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The method's label.
    pub method: String,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The split of the repeat, from 0.
    pub fold: usize,
    /// The number of features.
    pub k: usize,
    /// How good the evaluator was with them.
    #[serde(flatten)]
    pub scores: Scores,
    /// What the evaluator chose inside the training rows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub chosen: BTreeMap<String, f64>,
    /// The columns that were kept, best first; empty if all were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The directions of kernel space that were kept, best first, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<usize>,
    /// Set where the method stopped at its iteration limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_converged: bool,
    /// Why there are no scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// What tells records apart, in the order in which they are kept.
pub type Key = (String, usize, usize, usize);

impl Record {
    /// Its place among others.
    pub fn key(&self) -> Key {
        (self.method.clone(), self.repeat, self.fold, self.k)
    }
}

/// What the selections of a method in a split cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The method's label.
    pub method: String,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The split of the repeat, from 0.
    pub fold: usize,
    /// The numbers of features that were judged together.
    pub counts: Vec<usize>,
    /// Seconds that selecting took, all numbers of features together.
    pub select_seconds: f64,
    /// Seconds that judging took, all numbers of features together.
    pub evaluate_seconds: f64,
    /// The most memory that was held while selecting, if somebody counted.
    pub peak_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn other_data_has_another_fingerprint() {
        let data = |x, codes| Fingerprint::of(&Dataset::labeled(x, codes).unwrap()).checksum;
        let same = data(array![[1.0, 2.0], [3.0, 4.0]], vec![0, 1]);
        assert_eq!(same, data(array![[1.0, 2.0], [3.0, 4.0]], vec![0, 1]));
        assert_ne!(same, data(array![[1.0, 2.0], [3.0, 4.0 + 1e-15]], vec![0, 1]), "the last bit");
        assert_ne!(same, data(array![[1.0, 3.0], [2.0, 4.0]], vec![0, 1]));
        assert_ne!(same, data(array![[1.0, 2.0], [3.0, 4.0]], vec![1, 0]));
    }

    #[test]
    fn lines_read_back_as_they_were() {
        let record = Record {
            method: "fisher".into(),
            repeat: 0,
            fold: 3,
            k: 2,
            scores: Scores { error: Some(0.1 + 0.2), ..Scores::default() },
            chosen: [("c".to_owned(), 4.0)].into(),
            features: vec!["a \"b\"".into(), "c".into()],
            directions: vec![],
            not_converged: false,
            failed: None,
        };
        let text = serde_json::to_string(&Entry::Result(record.clone())).unwrap();
        assert_eq!(
            text,
            r#"{"kind":"result","method":"fisher","repeat":0,"fold":3,"k":2,"error":0.30000000000000004,"chosen":{"c":4.0},"features":["a \"b\"","c"]}"#
        );
        let Entry::Result(back) = serde_json::from_str(&text).unwrap() else { panic!("a result") };
        assert_eq!(back, record);
    }
}
