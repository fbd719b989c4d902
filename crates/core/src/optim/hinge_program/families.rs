//! The constraints of the programme by kind, with one number for each: slacks, prices, or changes of these.

use super::{Held, HingeProgram, times, transposed_times};
use ndarray::{Array2, ShapeBuilder};

/// One number per constraint.
#[derive(Debug, Clone)]
pub(super) struct Families {
    /// Statements: $D \alpha + e \ge 1$.
    pub statements: Vec<f64>,
    /// $e \ge 0$.
    pub slacks: Vec<f64>,
    /// $s - \alpha \ge 0$ of weights in groups; 0 and without meaning for others.
    pub uppers: Vec<f64>,
    /// $\alpha + s \ge 0$ or $\alpha \ge 0$.
    pub lowers: Vec<f64>,
    /// Cuts.
    pub cuts: Vec<f64>,
}

impl Families {
    pub fn parts(&self) -> [&[f64]; 5] {
        [&self.statements, &self.slacks, &self.uppers, &self.lowers, &self.cuts]
    }

    /// A family from one function of the numbers of several.
    pub fn of<const N: usize>(from: [&Self; N], f: impl Fn([f64; N]) -> f64) -> Self {
        let part = |which: usize| -> Vec<f64> {
            let parts = from.map(|family| family.parts()[which]);
            (0..parts[0].len()).map(|i| f(parts.map(|part| part[i]))).collect()
        };
        Self { statements: part(0), slacks: part(1), uppers: part(2), lowers: part(3), cuts: part(4) }
    }

    pub fn product(&self, other: &Self) -> f64 {
        self.parts().iter().zip(other.parts()).map(|(a, b)| crate::simd::dot(a, b)).sum()
    }

    /// Adds `step` of a change.
    pub fn advance(&mut self, step: f64, change: &Self) {
        for (to, by) in [
            (&mut self.statements, &change.statements),
            (&mut self.slacks, &change.slacks),
            (&mut self.uppers, &change.uppers),
            (&mut self.lowers, &change.lowers),
            (&mut self.cuts, &change.cuts),
        ] {
            to.iter_mut().zip(by).for_each(|(to, by)| *to += step * by);
        }
    }

    /// How much of a change leaves all numbers above zero, at most 1.
    pub fn room(&self, change: &Self) -> f64 {
        let mut room = 1.0_f64;
        for (numbers, changes) in self.parts().into_iter().zip(change.parts()) {
            for (number, change) in numbers.iter().zip(changes) {
                if *change < 0.0 {
                    room = room.min(-number / change);
                }
            }
        }
        room
    }
}

/// A point of the programme, or a change of one.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub weights: Vec<f64>,
    pub sizes: Vec<f64>,
    pub slacks: Vec<f64>,
}

impl Point {
    pub fn advance(&mut self, step: f64, change: &Self) {
        for (to, by) in [
            (&mut self.weights, &change.weights),
            (&mut self.sizes, &change.sizes),
            (&mut self.slacks, &change.slacks),
        ] {
            to.iter_mut().zip(by).for_each(|(to, by)| *to += step * by);
        }
    }
}

/// The programme with cuts of length 1 and weights outside of groups in units that suit them.
pub(super) struct Scaled<'a> {
    pub program: &'a HingeProgram<'a>,
    pub costs: Vec<f64>,
    /// By columns, rows of length 1.
    pub cuts: Array2<f64>,
    /// What a cut's row was divided by.
    pub lengths: Vec<f64>,
    /// The unit of each weight: 1 in groups.
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
        let longest = |p: usize| cuts.column(p).iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let grouped = (0..k).filter(|&p| program.held[p] != Held::Alone).map(longest).fold(0.0, f64::max);
        for p in (0..k).filter(|&p| program.held[p] == Held::Alone) {
            let own = longest(p);
            if own > 0.0 && grouped > 0.0 {
                // Halfway: in full units the column would drown the others in every cut.
                units[p] = (grouped / own).sqrt();
            }
        }
        for (mut column, unit) in cuts.columns_mut().into_iter().zip(&units) {
            column *= *unit;
        }
        let lengths: Vec<f64> = cuts
            .rows()
            .into_iter()
            .map(|row| row.iter().map(|v| v * v).sum::<f64>().sqrt())
            .map(|length| if length > 0.0 { length } else { 1.0 })
            .collect();
        for (mut row, length) in cuts.rows_mut().into_iter().zip(&lengths) {
            row /= *length;
        }
        let costs = program.costs.iter().zip(&units).map(|(c, unit)| c * unit).collect();
        Self { program, costs, cuts, lengths, units }
    }

    /// The left sides of all constraints at a point.
    pub fn sides(&self, at: &Point) -> Families {
        // Weights alone are not part of any statement's units: their columns are scaled here.
        let weights: Vec<f64> = at.weights.iter().zip(&self.units).map(|(w, unit)| w * unit).collect();
        let mut statements = self.program.margins_of(&weights);
        statements.iter_mut().zip(&at.slacks).for_each(|(s, e)| *s += e);
        let held = self.program.held;
        let uppers =
            (0..held.len()).map(|p| held[p].group().map_or(0.0, |g| at.sizes[g] - at.weights[p])).collect();
        let lowers = (0..held.len())
            .map(|p| at.weights[p] + if let Held::Within(g) = held[p] { at.sizes[g] } else { 0.0 })
            .collect();
        let cuts = times(self.cuts.view(), &at.weights);
        Families { statements, slacks: at.slacks.clone(), uppers, lowers, cuts }
    }

    /// The transpose of [`Scaled::sides`] without its constants: what prices make of the unknowns.
    pub fn gathered(&self, prices: &Families) -> Point {
        let held = self.program.held;
        let mut weights = transposed_times(self.program.margins.view(), &prices.statements);
        let from_cuts = transposed_times(self.cuts.view(), &prices.cuts);
        let mut sizes = vec![0.0; self.program.groups];
        for p in 0..held.len() {
            weights[p] = weights[p] * self.units[p] + from_cuts[p] + prices.lowers[p];
            if let Some(g) = held[p].group() {
                weights[p] -= prices.uppers[p];
                sizes[g] += prices.uppers[p];
            }
            if let Held::Within(g) = held[p] {
                sizes[g] += prices.lowers[p];
            }
        }
        let slacks = prices.statements.iter().zip(&prices.slacks).map(|(a, b)| a + b).collect();
        Point { weights, sizes, slacks }
    }
}
