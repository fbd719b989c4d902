//! Relief for classification: misses minus hits.

use super::shares::Shares;
use super::{BLOCK, ClassWeights, Relief};
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::Result;
use ndarray::Axis;
use rayon::prelude::*;

impl Relief {
    /// $w$, negative ones included.
    pub(super) fn class_weights(&self, data: &Dataset, classes: &Classes, ctx: &Context) -> Result<Vec<f64>> {
        let (counts, shares) = (classes.counts(), Shares::new(data.weights()));
        let sums = classes.weighted_counts(data.weights());
        let has_hit = |&i: &usize| counts[classes.codes[i]] > 1 || shares.copies(i) > 0.0;
        for i in (0..data.n()).filter(|i| !has_hit(i)) {
            ctx.warn(format!(
                "Relief: class '{}' has a single row, so it has no neighbor of the same class; drop it, or merge the class with another",
                classes.names[classes.codes[i]]
            ));
        }
        let rows = self.compared(data, ctx)?;
        let (n, d, all) = (data.n(), data.d(), data.weights().total(data.n()));
        let centers = self.centers((0..n).filter(has_hit).collect(), n, ctx);
        let all_centers: f64 = centers.iter().map(|&i| shares.of(i)).sum();
        let mut total = vec![0.0; d];
        // One class at a time, to hold only the neighbors of one class in memory.
        for class in (0..counts.len()).filter(|&c| counts[c] > 0) {
            let members: Vec<usize> = (0..n).filter(|&i| classes.codes[i] == class).collect();
            let itself: Vec<Option<usize>> =
                shares.excluded(&centers).map(|i| i.and_then(|i| members.binary_search(&i).ok())).collect();
            let among = rows.x.select(Axis(0), &members);
            let near = rows.near(among.view(), &centers, self.n_neighbors, &itself, ctx)?;
            let weight = |own: usize| match self.class_weights {
                _ if class == own => -1.0,
                ClassWeights::Frequency => sums[class] / (all - sums[own]),
                ClassWeights::Equal => 1.0 / (classes.n_present() - 1) as f64,
            };
            let parts: Vec<Vec<f64>> = centers
                .par_chunks(BLOCK)
                .zip(near.par_chunks(BLOCK))
                .map(|(centers, near)| {
                    let mut sum = vec![0.0; d];
                    for (&i, near) in centers.iter().zip(near) {
                        let of_near =
                            shares.of_neighbors(near.iter().map(|&at| members[at]), i, self.n_neighbors);
                        let weight = shares.of(i) * weight(classes.codes[i]) / of_near.iter().sum::<f64>();
                        for (&at, share) in near.iter().zip(of_near) {
                            rows.add_differences(&mut sum, rows.x.row(i), among.row(at), weight * share);
                        }
                    }
                    sum
                })
                .collect();
            for part in parts {
                total.iter_mut().zip(part).for_each(|(total, part)| *total += part / all_centers);
            }
        }
        Ok(rows.by_feature(total))
    }
}
