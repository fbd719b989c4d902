//! KGS: Gram-Schmidt in kernel space, with samples in their given order.

use super::feature_map::{Basis, FeatureMap, Fitted};
use super::kobl::{Limit, check_components, factor_summary};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::kernel::{Gram, KernelChoice};
use crate::linalg::{Pivoting, Rule, pivoted_cholesky};
use crate::method::{Info, Needs};
use crate::parameters::Parameters;

/// Residual norms at or below this fraction of the largest count as zero. Greedy pivoting allows a smaller value,
/// because no later pivot is longer than an earlier one. Here each short pivot divides the rounding error of all
/// samples by its length, and two in a row do so twice. With 500 normal samples of 2 features, 1e-4 keeps all
/// squared norms at 0 or above, 1e-5 gives one of -5e-3 and 1e-7 one of -10.
const ZERO_RATIO: f64 = 1e-4;

/// Number of samples above which a full basis triggers a warning.
const WARN_ROWS: usize = 5000;

crate::parameters! {
    /// Kernel Gram-Schmidt.
    ///
    /// $$ w_{k+1} \propto \phi(x_{k+1}) - \sum_{i \le k} \langle w_i, \phi(x_{k+1}) \rangle w_i $$
    ///
    /// There is no pivoting and no stopping rule: every sample that is linearly independent of earlier ones adds a
    /// component, up to `n_components`. Table 2 of the paper reports a large error; in double precision a full basis
    /// has residuals of at most 1e-4 of the largest norm (the published value is typical of a loss of orthogonality in
    /// single precision).
    ///
    /// Cost: $O(N d)$ kernel values, $O(N d^2)$ operations, with $d$ up to $N$.
    ///
    /// Reference: Cao, Shen, Sun, Yang and Chen, *Feature selection in a kernel space*, ICML 2007.
    pub struct Kgs as "KGS" {
        /// The kernel.
        pub kernel: KernelChoice = KernelChoice::default();
        /// Maximum number of components; none keeps all.
        pub n_components: Option<usize> = None, at_least(1);
        /// Whether to keep as many components as there are otherwise, of however many samples. If false, and without `n_components`,
        /// coordinates have at most 40 million entries: 200 components of 200,000 samples.
        pub exact: bool = false;
    }
}

impl Kgs {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "kgs",
        title: "Kernel Gram-Schmidt",
        summary: "An orthonormal basis from the samples in the order given",
        needs: Needs::Nothing,
        cost: "O(n m²) time, O(n m) memory",
        reference: "Cao et al., ICML 2007",
    };
}

impl Basis for Kgs {
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

    fn fit(&self, data: &Dataset, ctx: &Context) -> Result<Fitted> {
        data.need_rows("KGS", 1)?;
        data.need_complete("KGS")?;
        self.check_ranges()?;
        self.kernel.validate()?;
        check_components("KGS", self.n_components, data.n())?;
        let kernel = self.kernel.resolve(data.x(), ctx)?;
        let limit = Limit::new("KGS", self.n_components, self.exact, data.n());
        if self.n_components.is_none() && limit.components == data.n() && data.n() > WARN_ROWS {
            ctx.warn(format!(
                "KGS has no stopping rule: {} rows may give as many components; set n_components, or use KOBL",
                data.n()
            ));
        }
        let rule = Rule {
            pivoting: Pivoting::InOrder,
            first: None,
            max_rank: limit.components,
            zero: ZERO_RATIO,
            tolerance: 0.0,
            threshold: &|_| 0.0,
        };
        let factor = pivoted_cholesky(&Gram::new(&kernel, data.x())?, &rule, ctx)?;
        limit.warn(factor.stop, factor.pivots.len(), ctx);
        let summary = factor_summary("kgs", &factor)?;
        Ok(Fitted { map: FeatureMap::from_factor(kernel, data.x(), &factor, summary)?, features: factor.l })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use ndarray::array;

    #[test]
    fn plain_gram_schmidt_on_a_linear_kernel() {
        // (1, 0), (1, 1), (2, 1): the third is linearly dependent on the first two.
        let data = Dataset::unlabeled(array![[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]]).unwrap();
        let fit =
            Kgs { kernel: Kernel::Linear.into(), ..Kgs::default() }.fit(&data, &Context::default()).unwrap();
        assert_eq!(fit.map.summary().pivots, [0, 1]);
        assert_eq!(fit.features, array![[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]]);
    }

    #[test]
    fn short_pivots_do_not_amplify_rounding_errors() {
        let mut rng = crate::random::Rng::new(1);
        for d in [1, 2, 3] {
            let data =
                Dataset::unlabeled(ndarray::Array2::from_shape_simple_fn((300, d), || rng.normal())).unwrap();
            let fit = Kgs::default().fit(&data, &Context::default()).unwrap();
            let k = crate::kernel::gram_symmetric(fit.map.kernel(), data.x()).unwrap();
            let worst = (fit.features.dot(&fit.features.t()) - k).iter().fold(0.0_f64, |a, e| a.max(e.abs()));
            // The square of `ZERO_RATIO`, with a margin for rounding.
            assert!(worst < 2e-8, "{worst} in {d} columns");
        }
    }

    #[test]
    fn pivots_are_in_row_order_up_to_n_components() {
        let data = Dataset::unlabeled(array![[0.0], [1.0], [5.0], [9.0]]).unwrap();
        let kgs = Kgs { n_components: Some(3), ..Kgs::default() };
        assert_eq!(kgs.fit(&data, &Context::default()).unwrap().map.summary().pivots, [0, 1, 2]);
        let too_many = Kgs { n_components: Some(9), ..Kgs::default() };
        assert!(
            too_many.fit(&data, &Context::default()).unwrap_err().to_string().contains("number of rows, 4")
        );
    }
}
