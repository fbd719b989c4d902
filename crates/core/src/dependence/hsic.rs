//! The Hilbert-Schmidt independence criterion.

use super::target::{TargetKernel, weighted_target_factor};
use crate::context::Context;
use crate::data::{Rows, Target, Weights};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelChoice, gram};
use crate::linalg::{multiply, product_bytes};
use crate::random::Rng;
use crate::simd::dot;
use ndarray::{Array2, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The largest number of permutations.
const MAX_PERMUTATIONS: usize = 1_000_000_000;
const NAME: &str = "HSIC";

/// Entries of a block of a kernel matrix.
const BLOCK: usize = 1 << 21;
/// Permutations between two checks for an interrupt.
const BATCH: usize = 32;

crate::choices! {
    /// An estimate of HSIC.
    pub enum Estimator {
        /// tr(KHLH)/n²: never negative; of order 1/n for independent variables.
        Biased = "biased",
        /// Without the diagonals: zero on average for independent variables. Needs four samples.
        Unbiased = "unbiased",
        /// The biased estimate divided by the square root of that of each variable with itself: from 0 to 1.
        Normalized = "normalized",
    }
}

/// Settings of [`hsic`].
///
/// For kernel matrices $K$ and $L$ of two sets of variables over the same $n$ rows, and $H = I - 11^\top / n$,
///
/// $$ \mathrm{HSIC} = \frac{1}{n^2} \operatorname{tr}(K H L H) $$
///
/// estimates a quantity that is zero if the variables are independent and, with kernels such as the Gaussian, only then.
/// This biased estimate is never negative and of order $1/n$ for independent variables. The unbiased estimate sets the
/// diagonals to zero ($\tilde K$, $\tilde L$); its mean is zero for independent variables:
///
/// $$ \frac{1}{n(n-3)} \Bigl( \operatorname{tr}(\tilde K \tilde L) + \frac{1^\top \tilde K 1 \ 1^\top \tilde L 1}{(n-1)(n-2)} -
/// \frac{2}{n-2} 1^\top \tilde K \tilde L 1 \Bigr). $$
///
/// The normalized estimate divides the biased one by $\sqrt{\mathrm{HSIC}(X, X)  \mathrm{HSIC}(Y, Y)}$. It is the cosine
/// of the angle between the centered matrices, from 0 to 1 (centered kernel alignment), and 0 if either set is constant.
///
/// All three are sums of products of entries, of row sums and of totals, so one pass over blocks of rows is enough: $O(n^2)$
/// time and $O(n)$ memory beyond the blocks.
///
/// A permutation test gives the p-value: the rows of $Y$ are permuted $B$ times, and
/// $p = (1 + \text{permutations with at least the observed value}) / (1 + B)$. The test keeps both matrices, $16 n^2$ bytes,
/// and each permutation costs $n^2 / 2$ multiplications.
///
/// Reference: Gretton, Bousquet, Smola and Schoelkopf, *Measuring statistical dependence with Hilbert-Schmidt
/// norms*, 2005; Song, Smola, Gretton, Bedo and Borgwardt, *Feature selection via dependence maximization*, 2012.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct Hsic {
    /// The estimator. Default: biased.
    pub estimator: Estimator,
    /// Permutations for the p-value. Default: 0, no p-value.
    pub permutations: usize,
}

/// One of two sets of variables.
#[derive(Debug, Clone, Copy)]
pub enum Variable<'a> {
    /// Columns with a kernel.
    Rows(&'a Rows, &'a KernelChoice),
    /// A target with a target kernel.
    Target(&'a Target, TargetKernel),
}

/// The result of [`hsic`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// The estimate.
    pub value: f64,
    /// The p-value of the permutation test; `None` without permutations.
    pub p_value: Option<f64>,
}

/// The dependence between two sets of variables over the same rows.
pub fn hsic(x: Variable, y: Variable, settings: &Hsic, ctx: &Context) -> Result<Dependence> {
    weighted_hsic(x, y, Weights::ONE, settings, ctx)
}

/// As [`hsic`], with a weight per row; not for the unbiased estimate nor with permutations.
pub(crate) fn weighted_hsic(
    x: Variable,
    y: Variable,
    weights: Weights,
    settings: &Hsic,
    ctx: &Context,
) -> Result<Dependence> {
    let (x, y) = (Side::new(x, weights, ctx)?, Side::new(y, weights, ctx)?);
    let n = x.n();
    if y.n() != n {
        return Err(Error::Shape {
            what: "rows of the second set of variables".into(),
            expected: n.to_string(),
            got: y.n().to_string(),
        });
    }
    let need = if settings.estimator == Estimator::Unbiased { 4 } else { 2 };
    if n < need {
        return Err(Error::TooFewRows { method: NAME, need, got: n });
    }
    if settings.permutations > MAX_PERMUTATIONS {
        let expected = format!("at most {MAX_PERMUTATIONS}");
        return Err(Error::param(NAME, "permutations", expected, settings.permutations));
    }
    let keep = settings.permutations > 0;
    // A block of rows of both matrices.
    let blocks = 16.0 * (n as f64).powi(2).min(BLOCK.max(n) as f64) + product_bytes();
    if keep {
        ctx.need_memory(
            format!("a permutation test of {n} rows"),
            blocks + 16.0 * (n as f64).powi(2),
            "use fewer rows, or no permutations",
        )?;
    } else {
        ctx.need_memory(format!("HSIC of {n} rows"), blocks, "use fewer rows")?;
    }
    let (sums, kept) = Sums::over(&x, &y, (weights, keep), ctx)?;
    let value = sums.value(settings.estimator, weights);
    if !value.is_finite() {
        return Err(Error::Breakdown {
            step: "HSIC",
            why: "sums over the kernel matrices overflow; scale the columns".into(),
        });
    }
    let p_value = match kept {
        None => None,
        Some((k, l)) => {
            let exceeding = sums.exceeding(&k, &l, settings, ctx)?;
            Some((1 + exceeding) as f64 / (1 + settings.permutations) as f64)
        }
    };
    Ok(Dependence { value, p_value })
}

/// A kernel matrix that is computed a block of rows at a time.
enum Side<'a> {
    Kernel(Kernel, &'a Rows),
    /// A centered factor.
    Factor(Array2<f64>),
}

impl<'a> Side<'a> {
    fn new(variable: Variable<'a>, weights: Weights, ctx: &Context) -> Result<Self> {
        match variable {
            Variable::Target(target, kernel) => {
                Ok(Self::Factor(weighted_target_factor(target, weights, kernel, NAME, ctx)?))
            }
            Variable::Rows(x, kernel) => {
                if let Some((i, j, value)) = x.first_not_finite() {
                    return Err(Error::NonFinite { row: i + 1, column: format!("x{}", j + 1), value });
                }
                kernel.validate()?;
                Ok(Self::Kernel(kernel.resolve_weighted(x, weights, ctx)?, x))
            }
        }
    }

    fn n(&self) -> usize {
        match self {
            Self::Kernel(_, x) => x.n(),
            Self::Factor(factor) => factor.nrows(),
        }
    }

    /// Rows of the matrix, laid out by rows.
    fn rows(&self, at: Range<usize>) -> Result<Array2<f64>> {
        match self {
            Self::Kernel(kernel, x) => gram(kernel, &x.take_rows(&at.collect::<Vec<_>>()), x),
            // The transpose of a product laid out by columns.
            Self::Factor(factor) => Ok(multiply(factor.view(), factor.slice(s![at, ..]).t()).reversed_axes()),
        }
    }
}

/// Both kernel matrices.
type Matrices = (Array2<f64>, Array2<f64>);

/// The sums that the estimates are computed from.
#[derive(Default)]
struct Sums {
    /// $\sum K \circ L$, $\sum K \circ K$, $\sum L \circ L$, with the products of the weights of both rows.
    kl: f64,
    kk: f64,
    ll: f64,
    /// Weighted sums of rows.
    k: Vec<f64>,
    l: Vec<f64>,
    /// Diagonals.
    k_diagonal: Vec<f64>,
    l_diagonal: Vec<f64>,
}

impl Sums {
    /// One pass over both matrices, which are returned if `keep`.
    fn over(
        x: &Side,
        y: &Side,
        (weights, keep): (Weights, bool),
        ctx: &Context,
    ) -> Result<(Self, Option<Matrices>)> {
        let n = x.n();
        let mut sums = Self::default();
        let mut kept = keep.then(|| (Array2::zeros((n, n)), Array2::zeros((n, n))));
        let ones = weights.given().map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        let height = (BLOCK / n).clamp(1, n);
        for from in (0..n).step_by(height) {
            ctx.step("HSIC", from, n)?;
            let at = from..n.min(from + height);
            let (k, l) = (x.rows(at.clone())?, y.rows(at.clone())?);
            let of_row = |i: usize| {
                let (k, l) = (k.row(i - from), l.row(i - from));
                let (k, l) = (k.to_slice().expect("standard layout"), l.to_slice().expect("standard layout"));
                let (k_sum, l_sum) = (dot(k, &ones), dot(l, &ones));
                if weights.given().is_none() {
                    return [dot(k, l), dot(k, k), dot(l, l), k_sum, l_sum, k[i], l[i]];
                }
                let (wk, wl) = (weighted(k, &ones), weighted(l, &ones));
                let [kl, kk, ll] = [dot(&wk, l), dot(&wk, k), dot(&wl, l)].map(|sum| ones[i] * sum);
                [kl, kk, ll, k_sum, l_sum, k[i], l[i]]
            };
            let parts: Vec<[f64; 7]> = at.clone().into_par_iter().map(of_row).collect();
            for [kl, kk, ll, k, l, k_diagonal, l_diagonal] in parts {
                sums.kl += kl;
                sums.kk += kk;
                sums.ll += ll;
                sums.k.push(k);
                sums.l.push(l);
                sums.k_diagonal.push(k_diagonal);
                sums.l_diagonal.push(l_diagonal);
            }
            if let Some((all_k, all_l)) = &mut kept {
                all_k.slice_mut(s![at.clone(), ..]).assign(&k);
                all_l.slice_mut(s![at, ..]).assign(&l);
            }
        }
        Ok((sums, kept))
    }

    fn value(&self, estimator: Estimator, weights: Weights) -> f64 {
        let biased = |kl: f64, k: &[f64], l: &[f64]| biased(kl, k, l, weights);
        match estimator {
            Estimator::Biased => biased(self.kl, &self.k, &self.l),
            Estimator::Unbiased => self.unbiased(),
            Estimator::Normalized => {
                let product = biased(self.kk, &self.k, &self.k) * biased(self.ll, &self.l, &self.l);
                // For a constant set of variables the product is rounding error.
                let size = self.kk * self.ll / weights.total(self.k.len()).powi(4);
                if product > 1e-28 * size { biased(self.kl, &self.k, &self.l) / product.sqrt() } else { 0.0 }
            }
        }
    }

    fn unbiased(&self) -> f64 {
        let n = self.k.len() as f64;
        let (k, l) = (difference(&self.k, &self.k_diagonal), difference(&self.l, &self.l_diagonal));
        let (k_all, l_all): (f64, f64) = (k.iter().sum(), l.iter().sum());
        let kl = self.kl - dot(&self.k_diagonal, &self.l_diagonal);
        (kl + k_all * l_all / ((n - 1.0) * (n - 2.0)) - 2.0 / (n - 2.0) * dot(&k, &l)) / (n * (n - 3.0))
    }

    /// The number of permutations of the second set of variables with at least the observed value.
    fn exceeding(&self, k: &Array2<f64>, l: &Array2<f64>, settings: &Hsic, ctx: &Context) -> Result<usize> {
        let n = self.k.len();
        // Totals and sums over a single matrix do not change: two sums determine the order of permutations.
        let unbiased = settings.estimator == Estimator::Unbiased;
        let (k_rows, l_rows, factor) = if unbiased {
            (
                difference(&self.k, &self.k_diagonal),
                difference(&self.l, &self.l_diagonal),
                2.0 / (n as f64 - 2.0),
            )
        } else {
            (self.k.clone(), self.l.clone(), 2.0 / n as f64)
        };
        let statistic = |permutation: &[usize]| {
            let (mut pairs, mut diagonal, mut rows) = (0.0, 0.0, 0.0);
            for (i, &at) in permutation.iter().enumerate() {
                let (k, l) = (k.row(i), l.row(at));
                let (k, l) = (k.to_slice().expect("standard layout"), l.to_slice().expect("standard layout"));
                pairs += permutation[..i].iter().zip(k).map(|(&j, k)| k * l[j]).sum::<f64>();
                diagonal += k[i] * l[at];
                rows += k_rows[i] * l_rows[at];
            }
            2.0 * pairs + if unbiased { 0.0 } else { diagonal } - factor * rows
        };
        let identity: Vec<usize> = (0..n).collect();
        let observed = statistic(&identity);
        // Permutations of equal rows change only rounding.
        let threshold = observed - 1e-12 * (self.kk * self.ll).sqrt();
        let mut count = 0;
        for from in (0..settings.permutations).step_by(BATCH) {
            ctx.step("HSIC permutations", from, settings.permutations)?;
            let batch = from..settings.permutations.min(from + BATCH);
            count += batch
                .into_par_iter()
                .filter(|b| {
                    let mut permutation = identity.clone();
                    Rng::stream(ctx.seed, &format!("HSIC permutation {b}")).shuffle(&mut permutation);
                    statistic(&permutation) >= threshold
                })
                .count();
        }
        Ok(count)
    }
}

/// $\operatorname{tr}(KHLH) / n^2$ from the sum of products and the sums of rows.
fn biased(kl: f64, k: &[f64], l: &[f64], weights: Weights) -> f64 {
    let n = weights.total(k.len());
    let (k_all, l_all, both): (f64, f64, f64) = match weights.given() {
        None => (k.iter().sum(), l.iter().sum(), dot(k, l)),
        Some(w) => (dot(k, w), dot(l, w), dot(&weighted(k, w), l)),
    };
    (kl - 2.0 / n * both + k_all / n * (l_all / n)) / (n * n)
}

fn weighted(values: &[f64], weights: &[f64]) -> Vec<f64> {
    values.iter().zip(weights).map(|(v, w)| v * w).collect()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
#[path = "hsic_tests.rs"]
mod tests;
