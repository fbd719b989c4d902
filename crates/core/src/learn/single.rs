//! Kernels that learn nothing from triples, to hold learned ones against: a single kernel, and the average of
//! many.
//!
//! *Single*: a kernel of all columns as it is, with a width by the median rule where it has one. How many
//! triples a Gaussian has in order does not depend on its width. *Average*: the kernels that
//! [`KernelDesign`](super::KernelDesign) would mix, each scaled to a mean of 1 on the diagonal over the rows
//! that triples name, all with the same weight. It is hard to beat where all columns matter about alike.
//!
//! Triples are checked, and say which rows count; nothing else is taken from them.
//!
//! Cost: $O(m d)$ for $m$ rows that triples name.

use super::design::Bases;
use super::learner::{KernelLearner, Learned, Status};
use crate::context::Context;
use crate::data::triplets::{check, points};
use crate::data::{Dataset, Rows, Triplet};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice, diagonal};
use serde::{Deserialize, Serialize};

/// One kernel as it is; see the module's text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct SingleKernel {
    /// The kernel. Default: a Gaussian with the median width.
    pub kernel: KernelChoice,
}

/// All kernels with the same weight; see the module's text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct UniformAverage {
    /// The kernels. Default: for every column three Gaussians and the linear kernel.
    pub bases: Bases,
}

impl SingleKernel {
    /// $\langle x, y \rangle$
    pub fn linear() -> Self {
        Self { kernel: Kernel::Linear.into() }
    }

    /// $(\langle x, y \rangle + 1)^2$. Scaled down by the number of columns it would order triples as the
    /// linear kernel does, as long as no product is below $-1$.
    pub fn polynomial() -> Self {
        let gamma = Gamma::Value(1.0);
        Self { kernel: KernelChoice::Named { family: Family::Poly, gamma, degree: 2, coef0: 1.0 } }
    }
}

impl From<Kernel> for SingleKernel {
    fn from(kernel: Kernel) -> Self {
        Self { kernel: kernel.into() }
    }
}

impl KernelLearner for SingleKernel {
    fn name(&self) -> &'static str {
        match &self.kernel {
            KernelChoice::Named { family: Family::Rbf, .. } | KernelChoice::Fixed(Kernel::Rbf { .. }) => {
                "gaussian"
            }
            KernelChoice::Named { family: Family::Linear, .. } | KernelChoice::Fixed(Kernel::Linear) => {
                "linear"
            }
            KernelChoice::Named { family: Family::Poly, .. }
            | KernelChoice::Fixed(Kernel::Polynomial { .. }) => "polynomial",
            KernelChoice::Named { family: Family::Laplacian, .. }
            | KernelChoice::Fixed(Kernel::Laplacian { .. }) => "laplacian",
            KernelChoice::Fixed(_) => "kernel",
        }
    }

    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned> {
        self.kernel.validate()?;
        let (named, ctx) = named_rows(self.name(), data, triplets, ctx)?;
        let kernel = self.kernel.resolve(&named, &ctx)?;
        Ok(untaught(self.name(), kernel, data.d()))
    }
}

impl KernelLearner for UniformAverage {
    fn name(&self) -> &'static str {
        "average"
    }

    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned> {
        let (named, ctx) = named_rows(self.name(), data, triplets, ctx)?;
        let ctx = ctx.hold("the kernels of all columns", self.bases.bytes(data.d()), "use fewer columns")?;
        let bases = self.bases.resolve(&named, ctx.seed)?;
        let count = bases.len() as f64;
        let mut parts = Vec::with_capacity(bases.len());
        for base in bases {
            ctx.check()?;
            let scale = scale(&base.kernel, &named)?;
            parts.push((scale / count, base.kernel));
        }
        Ok(untaught(self.name(), Kernel::Sum(parts), data.d()))
    }
}

/// The rows that sound triples name, and the context of work beside them.
fn named_rows<'c>(
    name: &str,
    data: &Dataset,
    triplets: &[Triplet],
    ctx: &Context<'c>,
) -> Result<(Rows, Context<'c>)> {
    data.need_complete(name)?;
    if let Some(warning) = check(triplets, data.n())?.warning() {
        ctx.warn(warning);
    }
    let rows = points(triplets);
    let beside = ctx.hold("the rows of the triples", data.x().bytes_of(rows.len()), "give fewer triples")?;
    Ok((data.x().take_rows(&rows), beside))
}

/// What makes the mean of a kernel's diagonal 1; a kernel that is 0 there is left as it is.
fn scale(kernel: &Kernel, x: &Rows) -> Result<f64> {
    let own = diagonal(kernel, x)?;
    let (sum, size) = own.iter().fold((0.0, 0.0), |(sum, size), v| (sum + v, size + v.abs()));
    if !f64::is_finite(size) {
        let why =
            format!("the kernel {} has values too large for a number; scale the columns", kernel.describe());
        return Err(Error::Breakdown { step: "average of kernels", why });
    }
    if size == 0.0 {
        return Ok(1.0);
    }
    let scale = own.len() as f64 / size;
    Ok(if sum < 0.0 { -scale } else { scale })
}

/// A kernel in which all columns that it sees count alike.
fn untaught(method: &str, kernel: Kernel, d: usize) -> Learned {
    let mut scores = vec![0.0; d];
    kernel.columns(d).into_iter().for_each(|j| scores[j] = 1.0);
    Learned { method: method.into(), kernel, noise: 0.0, scores, status: Status::Optimal, iterations: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::design::{Form, Widths};
    use ndarray::array;

    /// The last row is named by no triple, the second column is the same in all that are.
    fn data() -> Dataset {
        Dataset::unlabeled(array![[0.0, 5.0], [1.0, 5.0], [3.0, 5.0], [-100.0, 7.0]]).unwrap()
    }

    const TRIPLES: [Triplet; 2] = [[0, 1, 2], [1, 0, 2]];

    #[test]
    fn an_average_by_hand() {
        let bases = Bases::Weak(vec![Form::Gaussian(Widths::Quantiles(vec![1.0])), Form::Linear]);
        let learned = UniformAverage { bases }.learn(&data(), &TRIPLES, &Context::default()).unwrap();
        let on = |kernel| Kernel::OnFeature { feature: 0, kernel: Box::new(kernel) };
        // Squared distances 1, 4, 9; squares 0, 1, 9 with the mean 10/3.
        let expected =
            Kernel::Sum(vec![(0.5, on(Kernel::Rbf { gamma: 1.0 / 9.0 })), (0.5 * 0.3, on(Kernel::Linear))]);
        assert_eq!(learned.kernel, expected);
        assert_eq!((learned.scores, learned.noise, learned.status), (vec![1.0, 0.0], 0.0, Status::Optimal));
        assert_eq!(learned.method, "average");
    }

    #[test]
    fn a_mean_below_zero_is_turned_around_and_nothing_stays_nothing() {
        let x: Rows = array![[1.0], [2.0]].into();
        // (x y - 5): -4 and -1.
        let negative = Kernel::Polynomial { degree: 1, gamma: 1.0, coef0: -5.0 };
        assert_eq!(scale(&negative, &x).unwrap(), -0.4);
        assert_eq!(scale(&Kernel::Linear, &array![[0.0], [0.0]].into()).unwrap(), 1.0);
        let huge = scale(&Kernel::Linear, &array![[1e200], [0.0]].into()).unwrap_err().to_string();
        assert!(huge.contains("too large for a number"), "{huge}");
    }

    #[test]
    fn a_single_kernel_takes_its_width_from_rows_that_are_named() {
        let ctx = Context::default();
        let learned = SingleKernel::default().learn(&data(), &TRIPLES, &ctx).unwrap();
        // One over twice the median squared distance.
        assert_eq!(learned.kernel, Kernel::Rbf { gamma: 1.0 / 8.0 });
        assert_eq!((learned.method.as_str(), learned.features()), ("gaussian", vec![0, 1]));
        let own = SingleKernel::from(Kernel::Laplacian { gamma: 2.0 });
        assert_eq!(own.learn(&data(), &TRIPLES, &ctx).unwrap().kernel, Kernel::Laplacian { gamma: 2.0 });
        assert_eq!(own.name(), "laplacian");
        assert_eq!(SingleKernel::from(Kernel::WhiteNoise).name(), "kernel");
    }

    #[test]
    fn triples_are_checked() {
        let ctx = Context::default();
        let message = |triplets: &[Triplet]| {
            let single = SingleKernel::linear().learn(&data(), triplets, &ctx).unwrap_err().to_string();
            let average = UniformAverage::default().learn(&data(), triplets, &ctx).unwrap_err().to_string();
            assert_eq!(single, average);
            single
        };
        assert!(message(&[]).contains("at least 1"));
        assert!(message(&[[0, 1, 4]]).contains("rows below 4, got 4"));
        assert!(message(&[[0, 1, 1]]).contains("three different rows"));
        assert!(message(&[[0, 1, 2], [0, 2, 1]]).contains("as often as its opposite"));
        let wrong = SingleKernel::from(Kernel::Rbf { gamma: -1.0 });
        assert!(wrong.learn(&data(), &TRIPLES, &ctx).unwrap_err().to_string().contains("'gamma'"));
    }
}
