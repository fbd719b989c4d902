//! KPCA: the directions of kernel space with the largest variance.

use super::feature_map::{Basis, FeatureMap, Fitted, MAX_SQUARE, Parts, Summary};
use super::kobl::check_components;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{KernelChoice, diagonal, gram_symmetric};
use crate::linalg::{product_bytes, symmetric_eigen};
use crate::method::{Info, Needs};
use crate::outcome::Outcome;
use crate::parameters::Parameters;
use ndarray::{Array2, Axis, s};

/// Eigenvalues at or below this fraction of the largest are rounding errors.
pub(super) const MIN_EIGENVALUE_RATIO: f64 = 1e-12;

crate::parameters! {
    /// Kernel principal component analysis.
    ///
    /// With $\tilde K = H K H$ (or $K$ if not centered) and $\tilde K v_i = \lambda_i v_i$,
    ///
    /// $$ w_i = \sum_j \frac{v_{ji}}{\sqrt{\lambda_i}} \phi(x_j), \qquad \lVert w_i \rVert = 1 $$
    ///
    /// For a given number of components, the uncentered form has the smallest total squared residual of any basis,
    /// including KOBL. It needs the full Gram matrix and an eigendecomposition.
    ///
    /// Cost: $O(N^2)$ memory, $O(N^3)$ operations.
    ///
    /// Reference: Schölkopf, Smola and Müller, *Nonlinear component analysis as a kernel eigenvalue problem*, 1998.
    pub struct Kpca as "KPCA" {
        /// The kernel.
        pub kernel: KernelChoice = KernelChoice::default();
        /// Number of components; none keeps all with a nonzero eigenvalue.
        pub n_components: Option<usize> = None, at_least(1);
        /// Whether to center the data in kernel space.
        pub center: bool = true;
        /// Whether to use all samples. Otherwise a random sample of 3000, or as many as components are requested, represents more
        /// of them, and without `n_components` the coordinates have at most 40 million entries: 200 components of 200,000 samples.
        pub exact: bool = false;
    }
}

impl Kpca {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "kpca",
        title: "Kernel principal components",
        summary: "The directions of largest variance in kernel space",
        needs: Needs::Nothing,
        cost: "O(n³) time, O(n²) memory; beyond 3000 rows a sample",
        reference: "Schölkopf et al., 1998",
    };
}

impl Basis for Kpca {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn shared_mut(&mut self) -> (&mut KernelChoice, &mut Option<usize>) {
        (&mut self.kernel, &mut self.n_components)
    }

    fn kernel(&self) -> &KernelChoice {
        &self.kernel
    }

    fn n_components(&self) -> Option<usize> {
        self.n_components
    }

    fn max_rows(&self) -> Option<usize> {
        (!self.exact).then_some(MAX_SQUARE)
    }

    fn fit(&self, data: &Dataset, ctx: &Context) -> Result<Fitted> {
        data.need_rows("KPCA", 1)?;
        data.need_complete("KPCA")?;
        self.check_ranges()?;
        self.kernel.validate()?;
        check_components("KPCA", self.n_components, data.n())?;
        let kernel = self.kernel.resolve(data.x(), ctx)?;
        // The matrix, its centered copy, the eigenvectors, and the workspace of the decomposition.
        need_square("KPCA", 6.0, data.n(), ctx)?;
        ctx.step("kernel of all pairs", 0, 1)?;
        let k = gram_symmetric(&kernel, data.x())?;
        ctx.step("eigenvectors", 0, 1)?;
        let eigen =
            if self.center { symmetric_eigen(centered(&k).view())? } else { symmetric_eigen(k.view())? };
        // The centered matrix of equal samples contains only rounding errors, so compare with the scale of the
        // uncentered one.
        let scale = k.diag().iter().fold(0.0_f64, |a, v| a.max(v.abs())) * data.n() as f64;
        let rank = eigen
            .values
            .iter()
            .filter(|&&v| v > MIN_EIGENVALUE_RATIO * eigen.values[0] && v > 1e-15 * scale)
            .count();
        if rank == 0 {
            return Err(equal_rows("KPCA"));
        }
        let m = self.n_components.unwrap_or(rank).min(rank);
        if let Some(wanted) = self.n_components.filter(|&w| w > rank) {
            ctx.warn(format!(
                "KPCA: {wanted} components were requested, but only {rank} are above rounding error"
            ));
        }
        let mut coef = eigen.vectors.slice(s![.., ..m]).to_owned();
        let mut features = coef.clone();
        for (i, value) in eigen.values.iter().take(m).enumerate() {
            coef.column_mut(i).mapv_inplace(|v| v / value.sqrt());
            features.column_mut(i).mapv_inplace(|v| v * value.sqrt());
        }
        let summary = Summary::start("kpca", data.n(), (0..data.n()).collect(), Outcome::direct());
        let own = diagonal(&kernel, data.x())?;
        let parts = Parts {
            kernel,
            anchors: data.x().clone(),
            coef,
            orthonormal: true,
            centered: self.center,
            summary,
        };
        let map = FeatureMap::new(parts, Some(&k))?.with_costs(&own, &k, &features);
        Ok(Fitted { map, features })
    }
}

/// `H K H`
pub(super) fn centered(k: &Array2<f64>) -> Array2<f64> {
    let means = k.mean_axis(Axis(0)).expect("at least one row");
    let mean = means.sum() / means.len() as f64;
    let mut out = k - &means;
    out -= &means.insert_axis(Axis(1));
    out += mean;
    out
}

/// Checks the memory limit for `matrices` matrices of the size of the full Gram matrix.
pub(super) fn need_square(method: &str, matrices: f64, n: usize, ctx: &Context) -> Result<()> {
    let bytes = matrices * 8.0 * (n as f64).powi(2) + product_bytes();
    ctx.need_memory(
        format!("{method} of {n} rows"),
        bytes,
        "use KOBL, which needs no square matrix, or fewer rows",
    )
}

pub(super) fn equal_rows(step: &'static str) -> Error {
    Error::Breakdown {
        step,
        why: "all rows are equal in kernel space, so there are no components; check the columns and gamma"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use ndarray::array;

    #[test]
    fn the_linear_kernel_gives_plain_principal_components() {
        // Points on the line y = x around (1, 1): one direction, coordinates -sqrt 2, 0, sqrt 2.
        let data = Dataset::unlabeled(array![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).unwrap();
        let fit = Kpca { kernel: Kernel::Linear.into(), ..Kpca::default() }
            .fit(&data, &Context::default())
            .unwrap();
        assert_eq!(fit.map.n_components(), 1);
        let root = 2.0_f64.sqrt();
        let sign = fit.features[[2, 0]].signum();
        for (got, expected) in fit.features.column(0).iter().zip([-root, 0.0, root]) {
            assert!((sign * got - expected).abs() < 1e-14);
        }
        assert!(fit.map.summary().reconstruction_cost < 1e-7);
        let new = fit.map.transform(&array![[3.0, 3.0]].into(), &Context::default()).unwrap();
        assert!((sign * new[[0, 0]] - 2.0 * root).abs() < 1e-14);
    }

    #[test]
    fn transform_of_training_rows_equals_fit() {
        let mut rng = crate::random::Rng::new(3);
        let x = Array2::from_shape_simple_fn((40, 2), || rng.normal());
        let data = Dataset::unlabeled(x.clone()).unwrap();
        let fit = Kpca::default().fit(&data, &Context::default()).unwrap();
        let new = fit.map.transform(&x.into(), &Context::default()).unwrap();
        // Rounding error of the Gram matrix divided by the root of the smallest eigenvalue kept.
        assert!((&new - &fit.features).iter().all(|e| e.abs() < 1e-8));
    }

    #[test]
    fn equal_rows_are_an_error() {
        let data = Dataset::unlabeled(Array2::ones((4, 2))).unwrap();
        let kpca = Kpca { kernel: Kernel::Rbf { gamma: 1.0 }.into(), ..Kpca::default() };
        assert!(
            kpca.fit(&data, &Context::default()).unwrap_err().to_string().contains("there are no components")
        );
    }

    #[test]
    fn exceeding_the_memory_limit_is_an_error() {
        let data = Dataset::unlabeled(Array2::from_shape_fn((100, 1), |(i, _)| i as f64)).unwrap();
        let ctx = Context { memory_limit: 100_000, ..Context::default() };
        let message = Kpca::default().fit(&data, &ctx).unwrap_err().to_string();
        // Six matrices and the workspace of matrix products.
        let needed = crate::error::bytes(6 * 80_000 + product_bytes() as u64);
        assert!(
            message.starts_with(&format!("KPCA of 100 rows needs about {needed} of memory")),
            "{message}"
        );
    }
}
