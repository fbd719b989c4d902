//! Relief: columns in which a row is far from the nearest row of another class, and near to its own.
//!
//! For each row the nearest of its own class (hit) and the nearest of each other class (miss) are found by
//! the distance over all columns; then
//!
//! $$ w_j = \frac1n \sum_x \Bigl( \sum_{c \ne y_x} \frac{P(c)}{1 - P(y_x)} \, |x_j - m^c_j| - |x_j - h_j| \Bigr) $$
//!
//! with $P$ the classes' shares, averaged over several neighbours if asked for, or with squared differences.
//! Negative weights become 0, and by its own rule the method keeps the columns above 0.
//!
//! In the coordinates of a full basis of kernel space the distance over all columns is the kernel
//! distance, so the neighbours are those of kernel space: with KGS in front this is FSKGS, with KPCA FSKPCA.
//!
//! The columns should be on one scale. A row that is alone in its class has no hit; it is no centre, but
//! serves as miss for others.
//!
//! Cost: $O(n^2 d)$ time, $O(n d)$ memory.
//!
//! References: Kira and Rendell, *The feature selection problem*, 1992; Kononenko, *Estimating attributes*,
//! 1994 (more classes); Cao, Shen, Sun, Yang and Chen, *Feature selection in a kernel space*, ICML 2007.

use super::selector::{Selection, Selector, Wanted};
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::neighbours::nearest;
use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const NAME: &str = "Relief";
/// Rows whose differences one task adds up.
const BLOCK: usize = 256;

/// Relief; see the module's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case")]
pub struct Relief {
    /// Hits, and misses per class. Default: 1.
    pub n_neighbors: usize,
    /// How differences count. Default: absolute.
    pub difference: Difference,
}

impl Default for Relief {
    fn default() -> Self {
        Self { n_neighbors: 1, difference: Difference::Absolute }
    }
}

/// How differences count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// By their size.
    #[default]
    Absolute,
    /// By their square.
    Squared,
}

impl Selector for Relief {
    fn select(&self, data: &Dataset, wanted: Wanted, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        self.check(classes)?;
        for (class, _) in classes.counts().iter().enumerate().filter(|(_, count)| **count == 1) {
            ctx.warn(format!(
                "Relief: class '{}' has a single row, which has no neighbour of its own class",
                classes.names[class]
            ));
        }
        // The rows, and copies of them as those that ask and those that are asked.
        let bytes = 3.0 * 8.0 * data.n() as f64 * data.d() as f64;
        ctx.need_memory(
            format!("Relief of {} x {} cells", data.n(), data.d()),
            bytes,
            "use fewer rows or columns",
        )?;
        let x = data.x().to_dense();
        let mut weights = self.weights(&x, classes, ctx)?;
        weights.iter_mut().for_each(|w| *w = w.max(0.0));
        let above = weights.iter().filter(|&&w| w > 0.0).count();
        if wanted.is_none() && above == 0 {
            ctx.warn("Relief: no score is above 0; the first one is kept");
        }
        Ok(Selection::by_score("relief", weights, wanted.unwrap_or(above.max(1))))
    }
}

impl Relief {
    /// Refuses more neighbours than classes have.
    pub(super) fn check(&self, classes: &Classes) -> Result<()> {
        classes.need_pair(NAME)?;
        let smallest = classes.counts().into_iter().filter(|&count| count >= 2).min().unwrap_or(2);
        if self.n_neighbors == 0 || self.n_neighbors >= smallest {
            let expected =
                format!("from 1 to one fewer than the rows of the smallest class, {}", smallest - 1);
            return Err(Error::param(NAME, "n_neighbors", expected, self.n_neighbors));
        }
        Ok(())
    }

    /// $w$, negative ones included.
    fn weights(&self, x: &Array2<f64>, classes: &Classes, ctx: &Context) -> Result<Vec<f64>> {
        let (n, d) = x.dim();
        let counts = classes.counts();
        let centres: Vec<usize> = (0..n).filter(|&i| counts[classes.codes[i]] > 1).collect();
        let mut total = vec![0.0; d];
        // Class by class, so that only the neighbours of one class are held at a time.
        for class in (0..counts.len()).filter(|&c| counts[c] > 0) {
            let members: Vec<usize> = (0..n).filter(|&i| classes.codes[i] == class).collect();
            let itself: Vec<Option<usize>> = centres.iter().map(|i| members.binary_search(i).ok()).collect();
            let (among, queries) = (x.select(Axis(0), &members), x.select(Axis(0), &centres));
            let near = nearest(among.view(), queries.view(), self.n_neighbors, Some(&itself), ctx)?;
            let weight = |own: usize| {
                if class == own { -1.0 } else { counts[class] as f64 / (n - counts[own]) as f64 }
            };
            let parts: Vec<Vec<f64>> = centres
                .par_chunks(BLOCK)
                .zip(near.par_chunks(BLOCK))
                .map(|(centres, near)| {
                    let mut sum = vec![0.0; d];
                    for (&i, near) in centres.iter().zip(near) {
                        for neighbour in near {
                            let weight = weight(classes.codes[i]) / near.len() as f64;
                            self.add_differences(&mut sum, x.row(i), among.row(neighbour.row), weight);
                        }
                    }
                    sum
                })
                .collect();
            for part in parts {
                total.iter_mut().zip(part).for_each(|(total, part)| *total += part / centres.len() as f64);
            }
        }
        Ok(total)
    }

    fn add_differences(&self, sum: &mut [f64], a: ArrayView1<f64>, b: ArrayView1<f64>, weight: f64) {
        for (sum, (a, b)) in sum.iter_mut().zip(a.iter().zip(b)) {
            let e = a - b;
            *sum += weight * if self.difference == Difference::Absolute { e.abs() } else { e * e };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn select(relief: &Relief, x: Array2<f64>, codes: Vec<usize>) -> Result<Selection> {
        relief.select(&Dataset::labelled(x, codes)?, Wanted::OwnRule, &Context::default())
    }

    #[test]
    fn two_classes_by_hand() {
        // Rows (0, 0), (0, 1) against (3, 0), (3, 2). Nearest hit and miss of each row:
        // 0: 1 and 2, 1: 0 and 2 (10 < 10? (3,0): 9+1, (3,2): 9+1: the first), 2: 3 and 0, 3: 2 and 1.
        let x = array![[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 2.0]];
        let absolute = select(&Relief::default(), x.clone(), vec![0, 0, 1, 1]).unwrap();
        // Column 1: misses 3, hits 0. Column 2: misses 0, 1, 0, 1; hits 1, 1, 2, 2: negative.
        assert_eq!(absolute.scores, [3.0, 0.0]);
        assert_eq!(absolute.n_selected, 1);
        let relief = Relief { difference: Difference::Squared, ..Relief::default() };
        assert_eq!(select(&relief, x, vec![0, 0, 1, 1]).unwrap().scores, [9.0, 0.0]);
    }

    #[test]
    fn misses_count_by_the_share_of_their_class() {
        // Class 0 at 0, class 1 at 1 (two rows), class 2 at 4 (four rows), hits at distance 0.
        let x = array![[0.0], [0.0], [1.0], [1.0], [4.0], [4.0], [4.0], [4.0]];
        let scores = select(&Relief::default(), x, vec![0, 0, 1, 1, 2, 2, 2, 2]).unwrap().scores;
        // From 0: 1 * 2/6 + 4 * 4/6 = 3; from 1: 1 * 2/6 + 3 * 4/6 = 7/3; from 2: 4 * 2/4 + 3 * 2/4 = 3.5.
        let expected = (2.0 * 3.0 + 2.0 * 7.0 / 3.0 + 4.0 * 3.5) / 8.0;
        assert!((scores[0] - expected).abs() < 1e-14, "{scores:?}");
    }

    #[test]
    fn neighbours_there_are_not() {
        let x = array![[0.0], [1.0], [2.0], [3.0], [4.0]];
        let error = select(&Relief { n_neighbors: 2, ..Relief::default() }, x.clone(), vec![0, 0, 1, 1, 1]);
        assert_eq!(
            error.unwrap_err().to_string(),
            "Relief: parameter 'n_neighbors' must be from 1 to one fewer than the rows of the smallest class, 1, got 2"
        );
        // A class of one row is borne.
        assert!(select(&Relief::default(), x.clone(), vec![0, 0, 1, 1, 2]).is_ok());
        let error = select(&Relief::default(), x, vec![0, 1, 2, 3, 4]).unwrap_err().to_string();
        assert!(error.contains("every row is alone in its class"), "{error}");
    }
}
