//! Blocks of rows, and what is known of a table before its rows are read.

use crate::data::Target;
use crate::error::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Cells of a block, at most: 16 MiB of numbers.
const CELLS: usize = 1 << 21;
/// Rows of a block, at least and at most.
const MIN_ROWS: usize = 256;
const MAX_ROWS: usize = 1 << 15;

/// Rows of a block of a table with `d` features: a power of two that depends on nothing else, so that the blocks of a table are the
/// same wherever they are computed.
pub fn block_rows(d: usize) -> usize {
    let rows = (CELLS / d.max(1)).clamp(MIN_ROWS, MAX_ROWS);
    if rows.is_power_of_two() { rows } else { rows.next_power_of_two() / 2 }
}

/// What is known of a table before its rows are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// Number of rows.
    pub n: usize,
    /// Names of the features.
    pub names: Vec<String>,
    /// What the target is.
    pub target: TargetLayout,
    /// Rows of every block except the last.
    pub block_rows: usize,
}

/// What the target is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetLayout {
    /// There is no target.
    None,
    /// Classes with these names.
    Classes(Vec<String>),
    /// Numbers.
    Continuous,
}

impl Layout {
    /// Checks that there are rows and features.
    pub fn new(n: usize, names: Vec<String>, target: TargetLayout, block_rows: usize) -> Result<Self> {
        let d = names.len();
        if d == 0 {
            return Err(Error::NoFeatures);
        }
        if n == 0 || block_rows == 0 {
            let (what, got) = if n == 0 { ("rows", n) } else { ("rows of a block", block_rows) };
            let (expected, got) = ("at least 1".into(), got.to_string());
            return Err(Error::Shape { what: what.into(), expected, got });
        }
        Ok(Self { n, names, target, block_rows })
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.names.len()
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.n.div_ceil(self.block_rows)
    }

    /// Memory of a block in bytes.
    pub fn block_bytes(&self) -> f64 {
        8.0 * (self.block_rows.min(self.n) * (self.d() + 1)) as f64
    }

    /// Number of classes, for a method that needs them.
    pub(crate) fn n_classes(&self, method: &'static str) -> Result<usize> {
        let found = match &self.target {
            TargetLayout::Classes(names) if names.len() > 1 => return Ok(names.len()),
            TargetLayout::Classes(names) => {
                return Err(Error::OneClass { method, class: names.first().cloned().unwrap_or_default() });
            }
            TargetLayout::None => "there is no target",
            TargetLayout::Continuous => "the target is continuous",
        };
        Err(Error::NeedsClasses { method, found })
    }

    /// Returns an error if there is no target.
    pub(crate) fn need_target(&self, method: &'static str) -> Result<()> {
        match &self.target {
            TargetLayout::None => Err(Error::NeedsTarget { method }),
            TargetLayout::Classes(_) => self.n_classes(method).map(|_| ()),
            TargetLayout::Continuous => Ok(()),
        }
    }
}

/// Consecutive rows of a table: finite numbers, a feature per column.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The row of the table that is the first of the block, from 0.
    pub first: usize,
    /// The features.
    pub x: Array2<f64>,
    /// The target.
    pub target: BlockTarget,
}

/// The target of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockTarget {
    /// There is no target.
    None,
    /// The class of each row, an index into the names of the layout.
    Classes(Vec<usize>),
    /// A number per row.
    Continuous(Vec<f64>),
}

impl Block {
    /// Checks that sizes and target agree with the layout and that all numbers are finite.
    pub fn new(first: usize, x: Array2<f64>, target: BlockTarget, layout: &Layout) -> Result<Self> {
        let shape = |what: &str, expected: usize, got: usize| Error::Shape {
            what: what.into(),
            expected: expected.to_string(),
            got: got.to_string(),
        };
        let n = x.nrows();
        if x.ncols() != layout.d() {
            return Err(shape("columns of a block", layout.d(), x.ncols()));
        }
        if let Some(((i, j), &value)) = x.indexed_iter().find(|(_, v)| !v.is_finite()) {
            return Err(Error::NonFinite { row: first + i + 1, column: layout.names[j].clone(), value });
        }
        let targets = match (&target, &layout.target) {
            (BlockTarget::None, TargetLayout::None) => n,
            (BlockTarget::Classes(codes), TargetLayout::Classes(names)) => {
                if let Some(i) = codes.iter().position(|&code| code >= names.len()) {
                    let what = format!("class of row {}", first + i + 1);
                    let (expected, got) = (format!("below {}", names.len()), codes[i].to_string());
                    return Err(Error::Shape { what, expected, got });
                }
                codes.len()
            }
            (BlockTarget::Continuous(values), TargetLayout::Continuous) => {
                if let Some(i) = values.iter().position(|v| !v.is_finite()) {
                    let column = "target".into();
                    return Err(Error::NonFinite { row: first + i + 1, column, value: values[i] });
                }
                values.len()
            }
            _ => {
                let (expected, got) = ("that of the table".into(), "another kind".into());
                return Err(Error::Shape { what: "target of a block".into(), expected, got });
            }
        };
        if targets != n {
            return Err(shape("target of a block", n, targets));
        }
        Ok(Self { first, x, target })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.x.nrows()
    }

    /// The classes of the rows; empty without classes.
    pub(crate) fn codes(&self) -> &[usize] {
        match &self.target {
            BlockTarget::Classes(codes) => codes,
            BlockTarget::None | BlockTarget::Continuous(_) => &[],
        }
    }

    /// The continuous target; empty for another one.
    pub(crate) fn numbers(&self) -> &[f64] {
        match &self.target {
            BlockTarget::Continuous(values) => values,
            BlockTarget::None | BlockTarget::Classes(_) => &[],
        }
    }
}

impl TargetLayout {
    /// The layout of a target.
    pub(super) fn of(target: &Target, method: &str) -> Result<Self> {
        Ok(match target {
            Target::None => Self::None,
            Target::Classes(classes) => Self::Classes(classes.names.clone()),
            Target::Continuous(_) => Self::Continuous,
            Target::Outputs(_) => {
                return Err(Error::OutputsUnsupported { method: method.into(), supported: vec![] });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn rows_of_a_block_depend_on_the_features_only() {
        assert_eq!([1, 64, 65, 100, 5000, 1_000_000].map(block_rows), [32768, 32768, 16384, 16384, 256, 256]);
    }

    #[test]
    fn blocks_are_checked() {
        let names = vec!["a".to_string(), "b".into()];
        let layout = Layout::new(4, names, TargetLayout::Classes(vec!["x".into(), "y".into()]), 2).unwrap();
        let block =
            |x, codes| Block::new(2, x, BlockTarget::Classes(codes), &layout).map_err(|e| e.to_string());
        assert_eq!(block(array![[1.0, 2.0]], vec![1]).unwrap().n(), 1);
        let error = block(array![[1.0, 2.0], [3.0, f64::NAN]], vec![0, 1]).unwrap_err();
        assert!(error.starts_with("row 4, column 'b': NaN is not a finite number"), "{error}");
        assert_eq!(
            block(array![[1.0, 2.0]], vec![2]).unwrap_err(),
            "class of row 3: expected below 2, got 2"
        );
        assert!(
            block(array![[1.0, 2.0]], vec![]).unwrap_err().contains("target of a block: expected 1, got 0")
        );
        assert!(block(array![[1.0]], vec![0]).unwrap_err().contains("columns of a block: expected 2, got 1"));
        assert!(Block::new(0, array![[1.0, 2.0]], BlockTarget::None, &layout).is_err());
        assert!(Layout::new(0, vec!["a".into()], TargetLayout::None, 1).is_err());
    }
}
