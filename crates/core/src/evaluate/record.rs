//! The records of a comparison, one JSON object per line.
//!
//! The first line describes the run. A line per method with its parameters follows, then a line per method, split and
//! number of features with the scores. They do not depend on time, hardware or scheduling, so two runs of the same
//! comparison produce identical files. Times and memory are written to a separate file.

use super::candidate::Method;
use super::external::EvaluatorChoice;
use super::scores::Scores;
use crate::data::{Dataset, Fold, ImputeStrategy, Rows, Splits, Target};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Entry {
    /// The description of the run; the first line.
    Run(Run),
    /// A method and its parameters.
    Method {
        /// Its label in the results.
        label: String,
        /// The method.
        settings: Method,
    },
    /// The scores of a method in a split with a number of features.
    Result(Record),
}

/// The description of a comparison.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// The version of the format.
    pub format: u32,
    /// The version of kernsift.
    pub version: String,
    /// The user's name for the data.
    pub data: String,
    /// Identifies the data.
    pub fingerprint: Fingerprint,
    /// The random seed.
    pub seed: u64,
    /// How the rows were split; `None` for splits given by the user.
    pub splits: Option<Splits>,
    /// Whether the parts do not have the class proportions of the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_stratified: bool,
    /// "groups" or "time" if splits respect them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_by: Option<String>,
    /// Whether rows have weights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weighted: bool,
    /// Whether fits weight classes equally.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub balanced: bool,
    /// Whether the features were standardized, by the training rows of each fold.
    pub scaled: bool,
    /// How missing values were imputed, from the training rows of each fold; `None` without missing values.
    pub impute: Option<ImputeStrategy>,
    /// The evaluator.
    pub evaluator: EvaluatorChoice,
    /// The rows of each split.
    pub folds: Vec<SplitRows>,
}

/// The rows of a split, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitRows {
    /// The repeat, from 0.
    pub repeat: usize,
    /// The split of the repeat, from 0.
    pub fold: usize,
    /// Test rows.
    pub test: Vec<usize>,
    /// Training rows, unless they are all other rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Vec<usize>>,
    /// For a learning curve, the training rows in the order in which smaller training sets get them. A result with `n` training
    /// rows is of the first `n`; with groups, of the first groups that have at most `n` rows together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<usize>>,
}

impl SplitRows {
    /// The rows of a split of data with `n` rows.
    pub fn new(split: &Fold, n: usize, repeat: usize, fold: usize) -> Self {
        let all_rows = split.train.len() + split.test.len() == n;
        let train = (!all_rows).then(|| split.train.clone());
        Self { repeat, fold, test: split.test.clone(), train, order: None }
    }
}

/// The size and a checksum of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Checksum of names, values, target and weights, in hexadecimal.
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
            Target::Outputs(y) => y.iter().for_each(|v| sum.number(*v)),
        }
        data.weights().given().into_iter().flatten().for_each(|w| sum.number(*w));
        Self { rows: data.n(), columns: data.d(), checksum: format!("{:016x}", sum.0) }
    }
}

/// FNV-1a on 64-bit words, with a rotation that mixes high bits into low ones.
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
    /// The number of training rows of a learning curve; `None` if they are all of the split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_rows: Option<usize>,
    /// The evaluator's scores.
    #[serde(flatten)]
    pub scores: Scores,
    /// Scores that another library computed, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scorers: BTreeMap<String, f64>,
    /// The evaluator's hyperparameters, tuned on the training rows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub chosen: BTreeMap<String, f64>,
    /// The selected features, best first; empty for all features.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The selected directions in kernel space, best first, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<usize>,
    /// Whether the method stopped at its iteration limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_converged: bool,
    /// The error message, if there are no scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Identifies a record (method, repeat, fold, number of training rows, number of features) and defines its position in the
/// file.
pub type Key = (String, usize, usize, Option<usize>, usize);

impl Record {
    /// Its key.
    pub fn key(&self) -> Key {
        (self.method.clone(), self.repeat, self.fold, self.train_rows, self.k)
    }
}

/// Time and memory of a method in a split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The method's label.
    pub method: String,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The split of the repeat, from 0.
    pub fold: usize,
    /// The number of training rows of a learning curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_rows: Option<usize>,
    /// The numbers of features of the task.
    pub counts: Vec<usize>,
    /// Seconds for selection, in total over the numbers of features.
    pub select_seconds: f64,
    /// Seconds for evaluation, in total over the numbers of features.
    pub evaluate_seconds: f64,
    /// Peak memory of selection, if measured.
    pub peak_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn fingerprint_depends_on_values_and_target() {
        let data = |x, codes| Fingerprint::of(&Dataset::labeled(x, codes).unwrap()).checksum;
        let same = data(array![[1.0, 2.0], [3.0, 4.0]], vec![0, 1]);
        assert_eq!(same, data(array![[1.0, 2.0], [3.0, 4.0]], vec![0, 1]));
        assert_ne!(same, data(array![[1.0, 2.0], [3.0, 4.0 + 1e-15]], vec![0, 1]), "the last bit");
        assert_ne!(same, data(array![[1.0, 3.0], [2.0, 4.0]], vec![0, 1]));
        assert_ne!(same, data(array![[1.0, 2.0], [3.0, 4.0]], vec![1, 0]));
    }

    #[test]
    fn record_round_trip() {
        let record = Record {
            method: "fisher".into(),
            repeat: 0,
            fold: 3,
            k: 2,
            train_rows: None,
            scores: Scores { error: Some(0.1 + 0.2), ..Scores::default() },
            scorers: BTreeMap::new(),
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
