//! The path of HSIC Lasso as a selection.

use crate::context::Context;
use crate::optim::{Knot, LarsPath};
use crate::outcome::{Outcome, Stop};
use crate::select::selector::{PathPoint, Selection};
use ndarray::Array2;

/// What a selection needs besides the path.
pub(super) struct Solution<'a> {
    /// $b$; 0 for constant features.
    pub(super) b: &'a [f64],
    /// $\langle \bar L, \bar L \rangle$.
    pub(super) target_norm: f64,
}

impl Solution<'_> {
    fn point(&self, knot: &Knot, stop: Stop) -> PathPoint {
        let mut pairs: Vec<(usize, f64)> =
            knot.active.iter().copied().zip(knot.weights.iter().copied()).collect();
        pairs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        // At a solution the quadratic term follows from the linear term and the penalty.
        let linear: f64 = pairs.iter().map(|(j, a)| a * self.b[*j]).sum();
        let sum: f64 = pairs.iter().map(|(_, a)| a).sum();
        PathPoint {
            strength: knot.penalty,
            objective: 0.5 * (self.target_norm + knot.penalty * sum - linear),
            optimality: knot.violation,
            iterations: 1,
            stop,
            features: pairs.iter().map(|(j, _)| *j).collect(),
            weights: pairs.iter().map(|(_, a)| *a).collect(),
        }
    }

    pub(super) fn selection(&self, found: LarsPath, wanted: Option<usize>, ctx: &Context) -> Selection {
        let d = self.b.len();
        let last = found.knots.last().expect("a path has a beginning");
        let mut scores = vec![0.0; d];
        last.active.iter().zip(&last.weights).for_each(|(&j, a)| scores[j] = *a);
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&i, &j| {
            // Residual correlations may be negative; constant features still come last.
            let varies = |f: usize| self.b[f] > 0.0;
            scores[j]
                .total_cmp(&scores[i])
                .then(varies(j).cmp(&varies(i)))
                .then(found.correlations[j].total_cmp(&found.correlations[i]))
                .then(i.cmp(&j))
        });
        let count = last.active.len();
        match wanted {
            None if count == 0 => {
                ctx.warn("HSIC Lasso: no feature does better than chance; none is selected; methods that evaluate features jointly, such as HSFS, may find more");
            }
            Some(k) if count < k => ctx.warn(format!(
                "HSIC Lasso: only {count} of {k} features have a nonzero weight; the others are those with the largest residual correlation; request fewer"
            )),
            _ => {}
        }
        let path = found.knots.iter().map(|knot| self.point(knot, Stop::Direct)).collect();
        let coef = Array2::from_shape_vec((d, 1), scores.clone()).expect("a weight per column");
        Selection {
            automatic: None,
            sample: None,
            method: "hsic-lasso".into(),
            order,
            scores,
            n_selected: wanted.unwrap_or(count),
            curve: vec![],
            coef: Some(coef),
            path,
            outcome: Outcome { stop: found.stop, iterations: found.knots.len() },
        }
    }
}
