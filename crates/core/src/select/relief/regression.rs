//! RReliefF: Relief for regression.
//!
//! Instead of hits and misses there is a probability that two near samples differ in the target. With $\delta_j$
//! the difference in a feature, $\delta_y$ that in the target relative to its range, and means over all centers and
//! their $k$ nearest neighbors, Bayes' rule gives the weight
//!
//! $$ w_j = \frac{\overline{\delta_y \delta_j}}{\overline{\delta_y}} -
//!    \frac{\overline{\delta_j} - \overline{\delta_y \delta_j}}{1 - \overline{\delta_y}} $$
//!
//! Departure: in the paper near neighbors may be weighted by their rank; here all $k$ are weighted equally, as in
//! Relief for classification.

use super::shares::Shares;
use super::{BLOCK, NAME, Relief};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use rayon::prelude::*;

impl Relief {
    /// $w$, negative ones included.
    pub(super) fn regression_weights(
        &self,
        data: &Dataset,
        target: &[f64],
        ctx: &Context,
    ) -> Result<Vec<f64>> {
        data.need_rows(NAME, 2)?;
        let (n, d) = (data.n(), data.d());
        self.check_neighbors(n, "the rows")?;
        let low = target.iter().copied().fold(f64::INFINITY, f64::min);
        // Halves, because the range of finite numbers may overflow.
        let half_range = target.iter().fold(0.0_f64, |a, v| a.max(v / 2.0 - low / 2.0));
        if half_range <= 0.0 {
            return Err(Error::ConstantTarget { method: NAME, value: low });
        }
        let rows = self.compared(data, ctx)?;
        let centers = self.centers((0..n).collect(), n, ctx);
        let shares = Shares::new(data.weights());
        let itself: Vec<Option<usize>> = shares.excluded(&centers).collect();
        let near = rows.near(rows.x.view(), &centers, self.n_neighbors, &itself, ctx)?;
        let parts: Vec<(f64, f64, Vec<f64>, Vec<f64>)> = centers
            .par_chunks(BLOCK)
            .zip(near.par_chunks(BLOCK))
            .map(|(centers, near)| {
                let (mut pairs, mut target_sum) = (0.0, 0.0);
                let (mut sum, mut joint) = (vec![0.0; d], vec![0.0; d]);
                for (&i, near) in centers.iter().zip(near) {
                    let of_near = shares.of_neighbors(near.iter().copied(), i, self.n_neighbors);
                    for (&r, share) in near.iter().zip(of_near) {
                        let difference = (target[i] / 2.0 - target[r] / 2.0).abs() / half_range;
                        let weight = shares.of(i) * share;
                        pairs += weight;
                        target_sum += weight * difference;
                        rows.add_differences(&mut sum, rows.x.row(i), rows.x.row(r), weight);
                        rows.add_differences(&mut joint, rows.x.row(i), rows.x.row(r), weight * difference);
                    }
                }
                (pairs, target_sum, sum, joint)
            })
            .collect();
        let pairs: f64 = parts.iter().map(|part| part.0).sum();
        let (mut target_mean, mut sum, mut joint) = (0.0, vec![0.0; d], vec![0.0; d]);
        for (_, part_target, part_sum, part_joint) in parts {
            target_mean += part_target / pairs;
            sum.iter_mut().zip(part_sum).for_each(|(a, b)| *a += b / pairs);
            joint.iter_mut().zip(part_joint).for_each(|(a, b)| *a += b / pairs);
        }
        // If near samples all have the same target, the first term is undefined; if all have the maximum
        // difference, the second. Either is then 0.
        let quotient =
            |numerator: f64, denominator: f64| if denominator > 0.0 { numerator / denominator } else { 0.0 };
        let weight =
            |at: usize| quotient(joint[at], target_mean) - quotient(sum[at] - joint[at], 1.0 - target_mean);
        Ok(rows.by_feature((0..d).map(weight).collect()))
    }
}
