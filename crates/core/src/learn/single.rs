//! Baselines that do not learn from triplets: a single kernel, and the average of many.
//!
//! *Single*: a kernel on all features, by default with $\gamma$ by the median heuristic. The number of triplets that a Gaussian
//! satisfies does not depend on $\gamma$. *Average*: the base kernels of [`KernelDesign`](super::KernelDesign) with equal
//! weights, each scaled to a mean diagonal of 1 over the rows of the triplets. It is hard to beat if all features are about
//! equally important.
//!
//! Triplets are validated and determine the rows that are used; their order has no effect.
//!
//! Cost: $O(m d)$ for $m$ rows in triplets.

use super::design::Bases;
use super::learner::{KernelLearner, Learned, Status};
use crate::context::Context;
use crate::data::triplets::{check, points};
use crate::data::{Dataset, Groups, Rows, Triplet};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice, diagonal};
use crate::method::{Info, Needs};
use crate::parameters::{Declared, Parameter, ParameterValue, Parameters, Range};
use serde::{Deserialize, Serialize};

/// A single kernel of all features. The number of triplets that a Gaussian satisfies does not depend on $\gamma$.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SingleKernel {
    /// The kernel. Default: a Gaussian with $\gamma$ by the median heuristic.
    pub kernel: KernelChoice,
}

impl Parameters for SingleKernel {
    /// Those of the kernel, whose name is the learner's.
    fn parameters(&self) -> Vec<Parameter> {
        let used: &[&str] = match self.name() {
            "gaussian" | "laplacian" => &["gamma"],
            "polynomial" => &["gamma", "degree", "coef0"],
            _ => &[],
        };
        let declared = Declared { name: "kernel", description: "", range: Range::any() };
        let all = self.kernel.list(&declared).into_iter();
        all.filter(|parameter| used.contains(&parameter.name.as_str())).collect()
    }
}

crate::parameters! {
    /// The average of the base kernels of [`KernelDesign`](super::KernelDesign), each scaled to a mean diagonal of 1 over the
    /// rows of the triplets.
    #[derive(PartialEq)]
    pub struct UniformAverage as "average" {
        /// The base kernels.
        pub bases: Bases = Bases::default();
    }
}

impl UniformAverage {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "average",
        title: "Average of kernels",
        summary: "The kernels that design would mix, with equal weights",
        needs: Needs::Baseline,
        cost: "O(n d)",
        reference: "a baseline",
    };
}

impl SingleKernel {
    /// What `kernsift methods` says about the Gaussian kernel.
    pub const GAUSSIAN: Info = Info {
        name: "gaussian",
        title: "Gaussian kernel",
        summary: "A Gaussian kernel of all features; it satisfies the same triplets as the Euclidean distance",
        needs: Needs::Baseline,
        cost: "O(n d)",
        reference: "a baseline",
    };

    /// What `kernsift methods` says about the linear kernel.
    pub const LINEAR: Info = Info {
        name: "linear",
        title: "Linear kernel",
        summary: "The inner product of samples",
        ..Self::GAUSSIAN
    };

    /// What `kernsift methods` says about the polynomial kernel.
    pub const POLYNOMIAL: Info = Info {
        name: "polynomial",
        title: "Polynomial kernel",
        summary: "A polynomial of the inner product, of degree 2 by default",
        ..Self::GAUSSIAN
    };

    /// $\langle x, y \rangle$
    pub fn linear() -> Self {
        Self { kernel: Kernel::Linear.into() }
    }

    /// $(\langle x, y \rangle + 1)^2$. With $\gamma$ one over the number of features it would rank triplets as the linear kernel
    /// does, as long as no product is below $-1$.
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
        let (rows, ctx) = rows_of_triplets(self.name(), data, triplets, ctx)?;
        let kernel = self.kernel.resolve(&rows, &ctx)?;
        Ok(unlearned(self.name(), kernel, &data.groups()))
    }
}

impl KernelLearner for UniformAverage {
    fn name(&self) -> &'static str {
        "average"
    }

    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned> {
        let (rows, ctx) = rows_of_triplets(self.name(), data, triplets, ctx)?;
        let ctx =
            ctx.hold("the base kernels of all features", self.bases.bytes(data.d()), "use fewer columns")?;
        let bases = self.bases.resolve(&rows, &data.groups(), ctx.seed)?;
        let count = bases.len() as f64;
        let mut parts = Vec::with_capacity(bases.len());
        for base in bases {
            ctx.check()?;
            let scale = scale(&base.kernel, &rows)?;
            parts.push((scale / count, base.kernel));
        }
        Ok(unlearned(self.name(), Kernel::Sum(parts), &data.groups()))
    }
}

/// The rows of the triplets, and the context with their memory reserved.
fn rows_of_triplets<'c>(
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
    let ctx = ctx.hold("the rows of the triplets", data.x().bytes_of(rows.len()), "give fewer triplets")?;
    Ok((data.x().take_rows(&rows), ctx))
}

/// The scale to a mean diagonal of 1; 1 for a kernel with a zero diagonal.
fn scale(kernel: &Kernel, x: &Rows) -> Result<f64> {
    let diagonal = diagonal(kernel, x)?;
    let (sum, size) = diagonal.iter().fold((0.0, 0.0), |(sum, size), v| (sum + v, size + v.abs()));
    if !f64::is_finite(size) {
        let why = format!("values of the kernel {} overflow; scale the columns", kernel.describe());
        return Err(Error::Breakdown { step: "average of kernels", why });
    }
    if size == 0.0 {
        return Ok(1.0);
    }
    let scale = diagonal.len() as f64 / size;
    Ok(if sum < 0.0 { -scale } else { scale })
}

/// A kernel with equal scores for all features that it uses.
fn unlearned(method: &str, kernel: Kernel, groups: &Groups) -> Learned {
    let (mut scores, feature_of) = (vec![0.0; groups.n_features()], groups.feature_of_columns());
    kernel.columns(groups.n_columns()).into_iter().for_each(|j| scores[feature_of[j]] = 1.0);
    Learned { method: method.into(), kernel, noise: 0.0, scores, status: Status::Optimal, iterations: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// The last row is in no triplet; the second column is constant on the others.
    fn data() -> Dataset {
        Dataset::unlabeled(array![[0.0, 5.0], [1.0, 5.0], [3.0, 5.0], [-100.0, 7.0]]).unwrap()
    }

    const TRIPLETS: [Triplet; 2] = [[0, 1, 2], [1, 0, 2]];

    #[test]
    fn average_computed_by_hand() {
        let bases = Bases { quantiles: vec![1.0], ..Bases::default() };
        let learned = UniformAverage { bases }.learn(&data(), &TRIPLETS, &Context::default()).unwrap();
        let on = |kernel| Kernel::OnFeature { feature: 0, kernel: Box::new(kernel) };
        // Squared distances 1, 4, 9; squares 0, 1, 9 with the mean 10/3.
        let expected =
            Kernel::Sum(vec![(0.5, on(Kernel::Rbf { gamma: 1.0 / 9.0 })), (0.5 * 0.3, on(Kernel::Linear))]);
        assert_eq!(learned.kernel, expected);
        assert_eq!((learned.scores, learned.noise, learned.status), (vec![1.0, 0.0], 0.0, Status::Optimal));
        assert_eq!(learned.method, "average");
    }

    #[test]
    fn negative_diagonals_are_negated_and_zero_diagonals_not_scaled() {
        let x: Rows = array![[1.0], [2.0]].into();
        // (x y - 5): -4 and -1.
        let negative = Kernel::Polynomial { degree: 1, gamma: 1.0, coef0: -5.0 };
        assert_eq!(scale(&negative, &x).unwrap(), -0.4);
        assert_eq!(scale(&Kernel::Linear, &array![[0.0], [0.0]].into()).unwrap(), 1.0);
        let huge = scale(&Kernel::Linear, &array![[1e200], [0.0]].into()).unwrap_err().to_string();
        assert!(huge.contains("overflow"), "{huge}");
    }

    #[test]
    fn gamma_of_a_single_kernel_depends_on_the_rows_of_triplets() {
        let ctx = Context::default();
        let learned = SingleKernel::default().learn(&data(), &TRIPLETS, &ctx).unwrap();
        // One over twice the median squared distance.
        assert_eq!(learned.kernel, Kernel::Rbf { gamma: 1.0 / 8.0 });
        assert_eq!((learned.method.as_str(), learned.features()), ("gaussian", vec![0, 1]));
        let laplacian = SingleKernel::from(Kernel::Laplacian { gamma: 2.0 });
        assert_eq!(
            laplacian.learn(&data(), &TRIPLETS, &ctx).unwrap().kernel,
            Kernel::Laplacian { gamma: 2.0 }
        );
        assert_eq!(laplacian.name(), "laplacian");
        assert_eq!(SingleKernel::from(Kernel::WhiteNoise).name(), "kernel");
    }

    #[test]
    fn triplets_are_validated() {
        let ctx = Context::default();
        let message = |triplets: &[Triplet]| {
            let single = SingleKernel::linear().learn(&data(), triplets, &ctx).unwrap_err().to_string();
            let average = UniformAverage::default().learn(&data(), triplets, &ctx).unwrap_err().to_string();
            assert_eq!(single, average);
            single
        };
        assert!(message(&[]).contains("at least 1"));
        assert!(message(&[[0, 1, 4]]).contains("rows below 4, got 4"));
        assert!(message(&[[0, 1, 1]]).contains("three distinct rows"));
        assert!(message(&[[0, 1, 2], [0, 2, 1]]).contains("as often as its opposite"));
        let wrong = SingleKernel::from(Kernel::Rbf { gamma: -1.0 });
        assert!(wrong.learn(&data(), &TRIPLETS, &ctx).unwrap_err().to_string().contains("'gamma'"));
    }
}
