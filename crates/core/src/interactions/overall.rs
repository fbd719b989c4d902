//! Whether the target depends on the features at all, by the sum of the scores of all of them.
//!
//! Many weak effects together may be significant where no single one is.

use super::functions::Columns;
use super::target::target_columns;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::linalg::{product_bytes, product_single};
use crate::random::Rng;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

const NAME: &str = "overall test";
/// Functions of each feature: a trend and a curve.
const N_FUNCTIONS: usize = 2;
/// Permutations of the target, and of targets with many columns.
const PERMUTATIONS: usize = 199;
const FEW_PERMUTATIONS: usize = 99;
/// Columns of all permuted targets above which there are few permutations.
const MAX_COLUMNS: usize = 2000;
/// The test uses at most this many rows.
const MAX_ROWS: usize = 3000;
/// Features per task, and tasks per thread between two checks for cancellation.
const FEATURES: usize = 32;
const TASKS_PER_CHECK: usize = 4;

/// The p-value of the sum of the scores of all features, by permutations of the target. It is exact, also for rare values and
/// classes.
pub(super) fn overall_p_value(data: &Dataset, ctx: &Context) -> Result<f64> {
    let rows = Rng::stream(ctx.seed, "rows of the overall test").sample(data.n(), MAX_ROWS.min(data.n()));
    let sample = (rows.len() < data.n()).then(|| data.take_rows(&rows));
    let data = sample.as_ref().unwrap_or(data);
    let Ok(target) = target_columns(data, NAME) else { return Ok(1.0) };
    let (n, t) = (data.n(), target.len());
    let permutations = if t * PERMUTATIONS > MAX_COLUMNS { FEW_PERMUTATIONS } else { PERMUTATIONS };
    let columns = t * (1 + permutations);
    let threads = rayon::current_num_threads();
    let functions = FEATURES * N_FUNCTIONS;
    let of_thread = 4 * functions * (n + columns) + 8 * n * (2 * N_FUNCTIONS + 6);
    let bytes = Columns::bytes(data, N_FUNCTIONS) + (4 * n * columns + threads * of_thread) as f64;
    ctx.need_memory(NAME, bytes + product_bytes(), "use fewer rows")?;
    let permuted = permuted(&target, permutations, ctx.seed);
    let source = Columns::new(data, N_FUNCTIONS);
    let starts: Vec<usize> = (0..data.d()).step_by(FEATURES).collect();
    let mut sums = vec![0.0; 1 + permutations];
    for batch in starts.chunks(TASKS_PER_CHECK * threads) {
        ctx.step(NAME, batch[0], data.d())?;
        let of_features = |&from: &usize| {
            ctx.check()?;
            let features = from..data.d().min(from + FEATURES);
            let vectors: Vec<Vec<f64>> =
                features.flat_map(|j| source.functions(j, N_FUNCTIONS).vectors).collect();
            Ok(scores(&vectors, permuted.view(), t))
        };
        let parts: Vec<Result<Vec<f64>>> = batch.par_iter().with_max_len(1).map(of_features).collect();
        for part in parts {
            sums.iter_mut().zip(part?).for_each(|(sum, part)| *sum += part);
        }
    }
    let at_least = sums[1..].iter().filter(|sum| **sum >= sums[0]).count();
    Ok((1 + at_least) as f64 / (1 + permutations) as f64)
}

/// The columns of the target, then those of permuted targets.
fn permuted(target: &[Vec<f64>], permutations: usize, seed: u64) -> Array2<f32> {
    let (n, t) = (target[0].len(), target.len());
    let mut out = Array2::zeros((n, t * (1 + permutations)));
    let mut rng = Rng::stream(seed, "permuted targets of the overall test");
    let mut order: Vec<usize> = (0..n).collect();
    for at in 0..=permutations {
        for (i, &row) in order.iter().enumerate() {
            for (c, column) in target.iter().enumerate() {
                out[[i, at * t + c]] = column[row] as f32;
            }
        }
        rng.shuffle(&mut order);
    }
    out
}

/// For each target of `t` columns the sum of the squared inner products with all functions.
fn scores(functions: &[Vec<f64>], targets: ArrayView2<f32>, t: usize) -> Vec<f64> {
    let n = targets.nrows();
    let functions = Array2::from_shape_fn((functions.len(), n), |(f, i)| functions[f][i] as f32);
    let mut z = Array2::<f32>::zeros((functions.nrows(), targets.ncols()));
    product_single(functions.view(), targets, z.view_mut(), false);
    let mut out = vec![0.0; targets.ncols() / t];
    for row in z.rows() {
        for (at, z) in row.iter().enumerate() {
            out[at / t] += f64::from(*z).powi(2);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Target;

    fn draw(seed: u64, effect: f64) -> Dataset {
        let mut rng = Rng::new(seed);
        let x = Array2::from_shape_simple_fn((200, 60), || rng.normal());
        let y = x.rows().into_iter().map(|row| effect * row.iter().sum::<f64>() + rng.normal()).collect();
        Dataset::with_target(x, Target::Continuous(y)).unwrap()
    }

    #[test]
    fn many_weak_effects() {
        // Each of 60 features explains 1.3 % of the variance, all together 80 %.
        let data = draw(1, 0.25);
        assert_eq!(overall_p_value(&data, &Context::default()).unwrap(), 1.0 / 200.0);
    }

    #[test]
    fn p_values_of_noise_are_uniform() {
        let ctx = Context::default();
        let p: Vec<f64> = (0..100).map(|seed| overall_p_value(&draw(seed, 0.0), &ctx).unwrap()).collect();
        // Binomial counts of 100: four standard deviations.
        for level in [0.1, 0.5, 0.9] {
            let below = p.iter().filter(|p| **p <= level).count() as f64;
            let deviation = (100.0_f64 * level * (1.0 - level)).sqrt();
            assert!((below - 100.0 * level).abs() < 4.0 * deviation, "{level}: {below}");
        }
    }

    #[test]
    fn a_constant_target_depends_on_nothing() {
        let data = Dataset::labeled(Array2::eye(30), vec![0; 30]).unwrap();
        assert_eq!(overall_p_value(&data, &Context::default()).unwrap(), 1.0);
    }
}
