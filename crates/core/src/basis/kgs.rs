//! KGS: Gram-Schmidt in kernel space, the rows in the order they come.
//!
//! $$ w_{k+1} \propto \phi(x_{k+1}) - \sum_{i \le k} \langle w_i, \phi(x_{k+1}) \rangle w_i $$
//!
//! No pivoting and no stop: every row that does not depend on earlier ones adds a component, unless a
//! number is asked for. The paper's Table 2 prints a large error for it; in double precision a full
//! basis leaves nothing over (the printed size is that of a loss of orthogonality in single precision).
//!
//! Cost: $O(N d)$ kernel values, $O(N d^2)$ operations, with $d$ up to $N$.
//!
//! Reference: Cao, Shen, Sun, Yang and Chen, *Feature selection in a kernel space*, ICML 2007.

use super::feature_map::{Basis, FeatureMap, Fitted};
use super::kobl::{ZERO, check_components, factor_summary};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::kernel::{Gram, KernelChoice};
use crate::linalg::{Pivoting, Rule, pivoted_cholesky};
use serde::{Deserialize, Serialize};

/// Kernel Gram-Schmidt; see the module's text.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case")]
pub struct Kgs {
    /// The kernel. Default: RBF with the median width.
    pub kernel: KernelChoice,
    /// Components at most. Default: as many as there are.
    pub n_components: Option<usize>,
}

impl Basis for Kgs {
    fn fit(&self, data: &Dataset, ctx: &Context) -> Result<Fitted> {
        data.need_rows("KGS", 1)?;
        self.kernel.validate()?;
        check_components("KGS", self.n_components, data.n())?;
        let kernel = self.kernel.resolve(data.x(), ctx)?;
        let rule = Rule {
            pivoting: Pivoting::InOrder,
            first: None,
            max_rank: self.n_components.unwrap_or(data.n()),
            zero: ZERO,
            tolerance: 0.0,
            threshold: &|_| 0.0,
        };
        let factor = pivoted_cholesky(&Gram::new(&kernel, data.x())?, &rule, ctx)?;
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
        // (1, 0), (1, 1), (2, 1): the third depends on the first two.
        let data = Dataset::unlabelled(array![[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]]).unwrap();
        let fit = Kgs { kernel: Kernel::Linear.into(), ..Kgs::default() }.fit(&data, &Context::default()).unwrap();
        assert_eq!(fit.map.summary().pivots, [0, 1]);
        assert_eq!(fit.features, array![[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]]);
    }

    #[test]
    fn the_rows_come_in_order_and_a_number_can_be_asked_for() {
        let data = Dataset::unlabelled(array![[0.0], [1.0], [5.0], [9.0]]).unwrap();
        let kgs = Kgs { n_components: Some(3), ..Kgs::default() };
        assert_eq!(kgs.fit(&data, &Context::default()).unwrap().map.summary().pivots, [0, 1, 2]);
        let too_many = Kgs { n_components: Some(9), ..Kgs::default() };
        assert!(too_many.fit(&data, &Context::default()).unwrap_err().to_string().contains("number of rows, 4"));
    }
}
