//! The kernels' arithmetic on the processor.

use kernsift::device::{
    Accelerator, Attempt, Metric, NearestLists, PairError, PairFunctions, PairTiles, ProjectedPairs, Refusal,
    ScoredPair,
};
use ndarray::{ArrayView2, Axis};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a twin behaves.
#[derive(Clone, Copy)]
pub enum Behavior {
    Works,
    /// Fails in this way after a number of calls.
    Fails(fn() -> Refusal, usize),
}

pub struct Twin {
    pub behavior: Behavior,
    /// Pairs that a tile returns at most.
    pub capacity: usize,
    pub calls: AtomicUsize,
}

impl Twin {
    pub fn new() -> Self {
        Self { behavior: Behavior::Works, capacity: usize::MAX, calls: AtomicUsize::new(0) }
    }

    fn call(&self) -> Attempt<()> {
        let calls = self.calls.fetch_add(1, Ordering::SeqCst);
        match self.behavior {
            Behavior::Fails(refusal, after) if calls >= after => Err(refusal()),
            _ => Ok(()),
        }
    }
}

/// Rounds to half precision, to nearest, ties to even.
pub fn half(value: f32) -> f32 {
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 255) as i32 - 127;
    if exponent > 15 {
        return if value.is_nan() { value } else { f32::INFINITY.copysign(value) };
    }
    // The spacing of numbers in half precision, a power of two.
    let spacing = (f64::from(exponent.max(-14)) - 10.0).exp2();
    let rounded = ((f64::from(value) / spacing).round_ties_even() * spacing) as f32;
    if rounded.abs() > 65_504.0 { f32::INFINITY.copysign(value) } else { rounded }
}

impl Accelerator for Twin {
    fn name(&self) -> Option<String> {
        Some("twin".into())
    }

    fn pairs<'a>(&'a self, functions: &'a PairFunctions<'a>) -> Attempt<Box<dyn PairTiles + 'a>> {
        self.call()?;
        Ok(Box::new(TwinTiles { twin: self, of: functions, values: functions.parts.concat() }))
    }

    fn hsic(&self, pairs: ProjectedPairs, sums: Option<&mut [f64]>) -> Attempt<f64> {
        self.call()?;
        let n = pairs.n;
        let p = ArrayView2::from_shape((pairs.rows.len() / n, n), pairs.rows).unwrap();
        let y = ArrayView2::from_shape((pairs.factor.len() / n, n), pairs.factor).unwrap();
        let mut out = vec![0.0; n * (p.nrows() + 1)];
        for (i, out) in out.chunks_exact_mut(p.nrows() + 1).enumerate() {
            for j in 0..n {
                let distance: f64 = p.rows().into_iter().map(|row| (row[i] - row[j]).powi(2)).sum();
                let a = (-0.5 * distance).exp() * y.column(i).dot(&y.column(j));
                out[0] += a;
                out[1..].iter_mut().zip(p.column(j)).for_each(|(out, p)| *out += a * p);
            }
        }
        if let Some(sums) = sums {
            sums.copy_from_slice(&out);
        }
        Ok(out.iter().step_by(p.nrows() + 1).sum())
    }

    fn wants_nearest(&self, _size: ((usize, usize), usize), _listed: usize) -> bool {
        true
    }

    fn nearest<'a>(
        &'a self,
        reference: ArrayView2<'a, f32>,
        listed: usize,
        metric: Metric,
    ) -> Attempt<Box<dyn NearestLists + 'a>> {
        self.call()?;
        Ok(Box::new(TwinLists { twin: self, reference, listed, metric }))
    }
}

struct TwinTiles<'a> {
    twin: &'a Twin,
    of: &'a PairFunctions<'a>,
    values: Vec<f32>,
}

impl PairTiles for TwinTiles<'_> {
    fn error(&self) -> PairError {
        let most = (0..self.of.norms.len()).map(|feature| self.of.count(feature)).max().unwrap_or(0);
        kernsift_cuda::pair_error(self.of.n, most * most * self.of.target.len())
    }

    fn tile(
        &mut self,
        first: Range<usize>,
        second: Range<usize>,
        thresholds: &[f32],
    ) -> Attempt<Option<Vec<ScoredPair>>> {
        self.twin.call()?;
        let (of, n, error) = (self.of, self.of.n, self.error());
        let functions = |feature: usize| {
            (of.starts[feature]..of.starts[feature + 1]).map(|at| &self.values[at * n..(at + 1) * n])
        };
        let factor = 1.0 / (n as f32).sqrt();
        let mut found = vec![];
        for i in first {
            for j in second.clone().filter(|&j| i < j && of.count(i) * of.count(j) > 0) {
                let mut sum = 0.0_f32;
                for a in functions(i) {
                    for b in functions(j) {
                        for y in of.target {
                            let cells = a.iter().zip(b).zip(y);
                            let z: f32 = cells.map(|((a, b), y)| half(a * y) * half(*b)).sum();
                            sum += half(z * factor).powi(2);
                        }
                    }
                }
                let root = sum.sqrt();
                let below =
                    root + error.of(root, of.norms[i], of.count(j)) < thresholds[of.count(i) * of.count(j)];
                if !below && of.kurtosis[i] * of.kurtosis[j] <= of.max_kurtosis {
                    found.push(ScoredPair { features: (i as u32, j as u32), root });
                }
            }
        }
        Ok((found.len() <= self.twin.capacity).then_some(found))
    }
}

struct TwinLists<'a> {
    twin: &'a Twin,
    reference: ArrayView2<'a, f32>,
    listed: usize,
    metric: Metric,
}

impl NearestLists for TwinLists<'_> {
    fn most_queries(&self) -> usize {
        100
    }

    fn lists(&mut self, queries: ArrayView2<f32>, exclude: &[u32]) -> Attempt<Vec<(f32, u32)>> {
        self.twin.call()?;
        let mut out = vec![];
        for (query, &exclude) in queries.axis_iter(Axis(0)).zip(exclude) {
            let distance = |row: ndarray::ArrayView1<f32>| {
                let cells = query.iter().zip(row).map(|(a, b)| a - b);
                match self.metric {
                    Metric::Manhattan => cells.map(f32::abs).sum::<f32>(),
                    Metric::SquaredEuclidean => cells.map(|e| e * e).sum::<f32>(),
                }
            };
            let rows = (0..).zip(self.reference.rows()).filter(|(row, _)| *row != exclude);
            let mut all: Vec<(f32, u32)> = rows.map(|(row, cells)| (distance(cells), row)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            all.resize(self.listed, (f32::NAN, u32::MAX));
            out.extend(all);
        }
        Ok(out)
    }
}
