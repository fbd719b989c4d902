//! Orthonormal functions and main effects, from the Gram matrix of all functions and the target.

use super::functions::Tabulated;
use crate::interactions::functions::MIN_ROWS;
use crate::interactions::main_effects::{MAX_FEATURES, MAX_FRACTION, wide};
use crate::interactions::orthonormal::TOLERANCE;
use crate::interactions::significance::ln_p_value;
use crate::linalg::GrowingFactor;
use ndarray::{Array1, Array2, ArrayView2, s};
use std::ops::Range;

/// Orthonormal combinations of centered functions: a row per combination, and the function after which it was added. `before`: the
/// squared length that a function must keep a part of; its own if there is none.
pub(super) fn orthonormal(gram: ArrayView2<f64>, n: f64, before: Option<f64>) -> (Array2<f64>, Vec<usize>) {
    let size = gram.nrows();
    let (mut basis, mut added): (Vec<Array1<f64>>, Vec<usize>) = (vec![], vec![]);
    for k in 0..size {
        let mut v = Array1::<f64>::zeros(size);
        v[k] = 1.0;
        // Twice, because rounding errors of the first pass are relative to the vector before it.
        for _ in 0..2 {
            for other in &basis {
                let along = other.dot(&gram.dot(&v)) / n;
                v.scaled_add(-along, other);
            }
        }
        let after = v.dot(&gram.dot(&v));
        if after > TOLERANCE * before.unwrap_or(gram[[k, k]]) && after > f64::MIN_POSITIVE {
            v *= (n / after).sqrt();
            basis.push(v);
            added.push(k);
        }
    }
    let mut out = Array2::zeros((basis.len(), size));
    out.rows_mut().into_iter().zip(&basis).for_each(|(mut row, v)| row.assign(v));
    (out, added)
}

/// The orthonormal functions of all features, those that enough rows determine.
pub(super) struct Functions {
    /// Of each feature the functions.
    pub(super) tables: Vec<Tabulated>,
    /// Of each feature the raw function after which each was added.
    pub(super) raw: Vec<Vec<usize>>,
    /// The places of the functions of each feature in `gram`.
    pub(super) places: Vec<Range<usize>>,
    /// The Gram matrix of all functions and, after them, of the orthonormal columns of the target.
    pub(super) gram: Array2<f64>,
    /// The target columns as combinations of centered ones.
    pub(super) target: Array2<f64>,
    pub(super) target_mean: Vec<f64>,
    n: f64,
}

impl Functions {
    /// From tables of raw functions, and the Gram matrix of a constant, of all of them, and of the columns of the target.
    pub(super) fn new(raw_tables: &[Tabulated], gram: &Array2<f64>) -> Self {
        let n = gram[[0, 0]];
        let mean: Array1<f64> = gram.slice(s![0, 1..]).to_owned() / n;
        let size = mean.len();
        let centered =
            Array2::from_shape_fn((size, size), |(i, j)| gram[[i + 1, j + 1]] - n * mean[i] * mean[j]);
        let (mut tables, mut raw, mut places) = (vec![], vec![], vec![]);
        // All combinations, as rows over the centered raw columns.
        let mut rows: Vec<(usize, Array1<f64>)> = vec![];
        let mut from = 0;
        for table in raw_tables {
            let to = from + table.n_functions();
            let (coef, added) = orthonormal(centered.slice(s![from..to, from..to]), n, None);
            let all = table.combined(&coef, mean.slice(s![from..to]).to_vec().as_slice());
            let is_spread = |&k: &usize| all.kurtosis(k) * MIN_ROWS <= n;
            let kept: Vec<usize> = (0..all.n_functions()).filter(is_spread).collect();
            let start = rows.len();
            rows.extend(kept.iter().map(|&k| (from, coef.row(k).to_owned())));
            places.push(start..rows.len());
            raw.push(kept.iter().map(|&k| added[k]).collect());
            tables.push(all.taken(&kept));
            from = to;
        }
        let (target, _) = orthonormal(centered.slice(s![from.., from..]), n, None);
        rows.extend(target.rows().into_iter().map(|row| (from, row.to_owned())));
        // Each row has coefficients of few consecutive columns.
        let mut half = Array2::zeros((rows.len(), size));
        for (mut out, (from, coef)) in half.rows_mut().into_iter().zip(&rows) {
            for (at, &factor) in coef.iter().enumerate() {
                out.scaled_add(factor, &centered.row(from + at));
            }
        }
        let mut all = Array2::zeros((rows.len(), rows.len()));
        for (mut out, (from, coef)) in all.columns_mut().into_iter().zip(&rows) {
            for (at, &factor) in coef.iter().enumerate() {
                out.scaled_add(factor, &half.column(from + at));
            }
        }
        let target_mean = mean.slice(s![from..]).to_vec();
        Self { tables, raw, places, gram: all, target, target_mean, n }
    }

    /// The places of the functions of a feature among those of its first `limit` raw functions.
    pub(super) fn first(&self, feature: usize, limit: usize) -> Vec<usize> {
        (0..self.raw[feature].len()).filter(|&k| self.raw[feature][k] < limit).collect()
    }

    /// Removes effects of single features from the target, as the screen in memory does.
    pub(super) fn without_main_effects(&self, n_functions: usize, alpha: f64) -> Residual {
        let (n, d) = (self.n, self.tables.len());
        let n_rows = n as usize;
        let p = self.places.last().map_or(0, |range| range.end);
        let (wide, level) = (wide(n_rows, n_functions), (alpha / d as f64).ln());
        let mut removed = Removed { factor: GrowingFactor::empty(), places: vec![] };
        let mut features: Vec<usize> = vec![];
        let mut target = Array2::eye(self.gram.nrows() - p);
        let mut coef = Array2::zeros((0, target.nrows()));
        while features.len() < MAX_FEATURES
            && (removed.places.len() + wide) as f64 <= MAX_FRACTION * n
            && target.nrows() > 0
        {
            let residual_products = self.products(&removed.places, &coef, p).dot(&target.t());
            let rows = n - 1.0 - removed.places.len() as f64;
            let ln_p = |feature: usize| {
                let used = self.first(feature, n_functions);
                let places = used.iter().map(|k| self.places[feature].start + k);
                let sum: f64 = places.map(|at| residual_products.row(at).mapv(|z| z * z).sum()).sum();
                ln_p_value(sum / n / n, used.len(), target.nrows(), rows)
            };
            let others = (0..d).filter(|feature| !features.contains(feature));
            let best = others.map(|feature| (feature, ln_p(feature))).min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((best, _)) = best.filter(|(_, p)| *p <= level) else { break };
            for k in self.first(best, wide) {
                removed.push(self.places[best].start + k, &self.gram, n);
            }
            features.push(best);
            coef = removed.coefficients(&self.gram, p);
            let cross = self.gram.slice(s![p.., p..]).to_owned() - removed.explained(&self.gram, &coef, p);
            target = orthonormal(cross.view(), n, Some(n)).0;
        }
        Residual { features, places: removed.places, coef, target }
    }

    /// Products of all functions with the target from which functions at `removed` are removed with these coefficients.
    fn products(&self, removed: &[usize], coef: &Array2<f64>, p: usize) -> Array2<f64> {
        let mut out = self.gram.slice(s![..p, p..]).to_owned();
        for (at, row) in removed.iter().zip(coef.rows()) {
            for (i, mut products) in out.rows_mut().into_iter().enumerate() {
                products.scaled_add(-self.gram[[i, *at]], &row);
            }
        }
        out
    }
}

/// The target without the effects of the features on which it depends most.
pub(super) struct Residual {
    /// These features, the strongest first.
    pub(super) features: Vec<usize>,
    /// The places of the functions that were removed.
    pub(super) places: Vec<usize>,
    /// Their coefficients, a column per column of the target.
    pub(super) coef: Array2<f64>,
    /// Orthonormal combinations of what remains of the columns of the target.
    pub(super) target: Array2<f64>,
}

/// Functions that are removed from the target.
struct Removed {
    factor: GrowingFactor,
    places: Vec<usize>,
}

impl Removed {
    fn push(&mut self, place: usize, gram: &Array2<f64>, n: f64) {
        let entries = self.places.iter().map(|&at| gram[[at, place]]).collect();
        if self.factor.push(entries, gram[[place, place]], TOLERANCE * n) {
            self.places.push(place);
        }
    }

    /// The coefficients of the least-squares fits of the columns of the target.
    fn coefficients(&self, gram: &Array2<f64>, p: usize) -> Array2<f64> {
        let t = gram.nrows() - p;
        let mut out = Array2::zeros((self.places.len(), t));
        for c in 0..t {
            let mut b: Vec<f64> = self.places.iter().map(|&at| gram[[at, p + c]]).collect();
            self.factor.solve(&mut b);
            out.column_mut(c).assign(&Array1::from(b));
        }
        out
    }

    /// The part of the products of the columns of the target that the functions explain.
    fn explained(&self, gram: &Array2<f64>, coef: &Array2<f64>, p: usize) -> Array2<f64> {
        let t = gram.nrows() - p;
        let of = |(a, b): (usize, usize)| {
            self.places
                .iter()
                .zip(coef.column(b))
                .map(|(&at, factor)| gram[[at, p + a]] * factor)
                .sum::<f64>()
        };
        Array2::from_shape_fn((t, t), of)
    }
}
