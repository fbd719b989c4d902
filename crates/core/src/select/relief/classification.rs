//! Relief for classification: misses minus hits.

use super::{BLOCK, ClassWeights, Relief};
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::Result;
use ndarray::Axis;
use rayon::prelude::*;

impl Relief {
    /// $w$, negative ones included.
    pub(super) fn class_weights(&self, data: &Dataset, classes: &Classes, ctx: &Context) -> Result<Vec<f64>> {
        let counts = classes.counts();
        for (class, _) in counts.iter().enumerate().filter(|(_, count)| **count == 1) {
            ctx.warn(format!(
                "Relief: class '{}' has a single row, so it has no neighbor of the same class; drop it, or merge the class with another",
                classes.names[class]
            ));
        }
        let rows = self.compared(data, ctx)?;
        let (n, d) = (data.n(), data.d());
        let centers = self.centers((0..n).filter(|&i| counts[classes.codes[i]] > 1).collect(), ctx);
        let mut total = vec![0.0; d];
        // One class at a time, to hold only the neighbors of one class in memory.
        for class in (0..counts.len()).filter(|&c| counts[c] > 0) {
            let members: Vec<usize> = (0..n).filter(|&i| classes.codes[i] == class).collect();
            let itself: Vec<Option<usize>> = centers.iter().map(|i| members.binary_search(i).ok()).collect();
            let among = rows.x.select(Axis(0), &members);
            let near = rows.near(among.view(), &centers, self.n_neighbors, &itself, ctx)?;
            let weight = |own: usize| match self.class_weights {
                _ if class == own => -1.0,
                ClassWeights::Frequency => counts[class] as f64 / (n - counts[own]) as f64,
                ClassWeights::Equal => 1.0 / (classes.n_present() - 1) as f64,
            };
            let parts: Vec<Vec<f64>> = centers
                .par_chunks(BLOCK)
                .zip(near.par_chunks(BLOCK))
                .map(|(centers, near)| {
                    let mut sum = vec![0.0; d];
                    for (&i, near) in centers.iter().zip(near) {
                        let weight = weight(classes.codes[i]) / near.len() as f64;
                        for &neighbor in near {
                            rows.add_differences(&mut sum, rows.x.row(i), among.row(neighbor), weight);
                        }
                    }
                    sum
                })
                .collect();
            for part in parts {
                total.iter_mut().zip(part).for_each(|(total, part)| *total += part / centers.len() as f64);
            }
        }
        Ok(rows.by_feature(total))
    }
}
