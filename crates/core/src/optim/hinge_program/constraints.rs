//! The constraints $G x \ge h$ of the program: one number per constraint (slacks, dual values, or steps of these), and $G$ as a
//! linear operator.

use super::program::{HingeProgram, WeightBound, times, transposed_times};
use ndarray::{Array2, ShapeBuilder};

/// One number per constraint.
#[derive(Debug, Clone)]
pub(super) struct PerConstraint {
    /// $D \alpha + e \ge 1$
    pub margins: Vec<f64>,
    /// $e \ge 0$
    pub slacks: Vec<f64>,
    /// $s - \alpha \ge 0$ of weights in groups; unused and 0 for others.
    pub uppers: Vec<f64>,
    /// $\alpha + s \ge 0$ or $\alpha \ge 0$
    pub lowers: Vec<f64>,
    /// $C \alpha \ge 0$
    pub cuts: Vec<f64>,
}

impl PerConstraint {
    pub fn parts(&self) -> [&[f64]; 5] {
        [&self.margins, &self.slacks, &self.uppers, &self.lowers, &self.cuts]
    }

    /// Applies a function to the numbers of several at the same constraint.
    pub fn map<const N: usize>(from: [&Self; N], f: impl Fn([f64; N]) -> f64) -> Self {
        let part = |which: usize| -> Vec<f64> {
            let parts = from.map(|one| one.parts()[which]);
            (0..parts[0].len()).map(|i| f(parts.map(|part| part[i]))).collect()
        };
        Self { margins: part(0), slacks: part(1), uppers: part(2), lowers: part(3), cuts: part(4) }
    }

    pub fn dot(&self, other: &Self) -> f64 {
        self.parts().iter().zip(other.parts()).map(|(a, b)| crate::simd::dot(a, b)).sum()
    }

    pub fn is_finite(&self) -> bool {
        self.parts().iter().all(|part| part.iter().all(|v| v.is_finite()))
    }

    /// Adds `step` times a direction.
    pub fn advance(&mut self, step: f64, direction: &Self) {
        for (to, by) in [
            (&mut self.margins, &direction.margins),
            (&mut self.slacks, &direction.slacks),
            (&mut self.uppers, &direction.uppers),
            (&mut self.lowers, &direction.lowers),
            (&mut self.cuts, &direction.cuts),
        ] {
            to.iter_mut().zip(by).for_each(|(to, by)| *to += step * by);
        }
    }

    /// The largest step, at most 1, that makes no number negative.
    pub fn max_step(&self, direction: &Self) -> f64 {
        let mut step = 1.0_f64;
        for (numbers, changes) in self.parts().into_iter().zip(direction.parts()) {
            for (number, change) in numbers.iter().zip(changes) {
                if *change < 0.0 {
                    step = step.min(-number / change);
                }
            }
        }
        step
    }
}

/// The variables $x = (\alpha, s, e)$, or a step of these.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub weights: Vec<f64>,
    /// $s$, the bound on the absolute weights of each group.
    pub sizes: Vec<f64>,
    pub slacks: Vec<f64>,
}

impl Point {
    pub fn advance(&mut self, step: f64, direction: &Self) {
        for (to, by) in [
            (&mut self.weights, &direction.weights),
            (&mut self.sizes, &direction.sizes),
            (&mut self.slacks, &direction.slacks),
        ] {
            to.iter_mut().zip(by).for_each(|(to, by)| *to += step * by);
        }
    }

    pub fn is_finite(&self) -> bool {
        self.weights.iter().chain(&self.sizes).chain(&self.slacks).all(|v| v.is_finite())
    }
}

/// The program with cuts of norm 1 and scaled weights outside groups.
pub(super) struct Scaled<'a> {
    pub program: &'a HingeProgram<'a>,
    pub costs: Vec<f64>,
    /// By columns, rows of norm 1.
    pub cuts: Array2<f64>,
    /// The norms of the cuts before scaling.
    pub norms: Vec<f64>,
    /// A weight of the program is this factor times the scaled weight; 1 in groups.
    pub units: Vec<f64>,
}

impl<'a> Scaled<'a> {
    pub fn new(program: &'a HingeProgram<'a>) -> Self {
        let k = program.len();
        let m = program.cuts.map_or(0, |cuts| cuts.nrows());
        let mut cuts = Array2::zeros((m, k).f());
        if let Some(given) = program.cuts {
            cuts.assign(given);
        }
        let mut units = vec![1.0; k];
        let largest = |p: usize| cuts.column(p).iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let ungrouped = |p: usize| program.bounds[p] == WeightBound::Ungrouped;
        let grouped = (0..k).filter(|&p| !ungrouped(p)).map(largest).fold(0.0, f64::max);
        for p in (0..k).filter(|&p| ungrouped(p)) {
            let own = largest(p);
            if own > 0.0 && grouped > 0.0 {
                // The square root: with the full ratio this column would dominate every cut.
                units[p] = (grouped / own).sqrt();
            }
        }
        for (mut column, unit) in cuts.columns_mut().into_iter().zip(&units) {
            column *= *unit;
        }
        let norms: Vec<f64> = cuts
            .rows()
            .into_iter()
            .map(|row| row.iter().map(|v| v * v).sum::<f64>().sqrt())
            .map(|norm| if norm > 0.0 { norm } else { 1.0 })
            .collect();
        for (mut row, norm) in cuts.rows_mut().into_iter().zip(&norms) {
            row /= *norm;
        }
        let costs = program.costs.iter().zip(&units).map(|(c, unit)| c * unit).collect();
        Self { program, costs, cuts, norms, units }
    }

    /// $G x$
    pub fn apply(&self, at: &Point) -> PerConstraint {
        let weights: Vec<f64> = at.weights.iter().zip(&self.units).map(|(w, unit)| w * unit).collect();
        let mut margins = self.program.margins_of(&weights);
        margins.iter_mut().zip(&at.slacks).for_each(|(s, e)| *s += e);
        let bounds = self.program.bounds;
        let uppers = (0..bounds.len())
            .map(|p| bounds[p].group().map_or(0.0, |g| at.sizes[g] - at.weights[p]))
            .collect();
        let lowers = (0..bounds.len())
            .map(|p| {
                at.weights[p] + if let WeightBound::Symmetric(g) = bounds[p] { at.sizes[g] } else { 0.0 }
            })
            .collect();
        let cuts = times(self.cuts.view(), &at.weights);
        PerConstraint { margins, slacks: at.slacks.clone(), uppers, lowers, cuts }
    }

    /// $G^\top y$
    pub fn apply_transposed(&self, y: &PerConstraint) -> Point {
        let bounds = self.program.bounds;
        let mut weights = transposed_times(self.program.margins.view(), &y.margins);
        let from_cuts = transposed_times(self.cuts.view(), &y.cuts);
        let mut sizes = vec![0.0; self.program.groups];
        for p in 0..bounds.len() {
            weights[p] = weights[p] * self.units[p] + from_cuts[p] + y.lowers[p];
            if let Some(g) = bounds[p].group() {
                weights[p] -= y.uppers[p];
                sizes[g] += y.uppers[p];
            }
            if let WeightBound::Symmetric(g) = bounds[p] {
                sizes[g] += y.lowers[p];
            }
        }
        let slacks = y.margins.iter().zip(&y.slacks).map(|(a, b)| a + b).collect();
        Point { weights, sizes, slacks }
    }

    /// The dual residual: the costs of the variables minus $G^\top y$.
    pub fn dual_residual(&self, y: &PerConstraint) -> Point {
        let product = self.apply_transposed(y);
        let each = 1.0 / product.slacks.len().max(1) as f64;
        Point {
            weights: self.costs.iter().zip(&product.weights).map(|(c, g)| c - g).collect(),
            sizes: product.sizes.iter().map(|g| self.program.penalty - g).collect(),
            slacks: product.slacks.iter().map(|g| each - g).collect(),
        }
    }
}
