//! The RBF `gamma` at which KOBL finds a given number of components.

use super::kobl::Kobl;
use crate::context::{Context, Quiet};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::kernel::{Family, Kernel, median_gamma};

/// The result of [`gamma_for_n_components`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaFit {
    /// $\gamma$ of the RBF kernel.
    pub gamma: f64,
    /// The number of components at this $\gamma$.
    pub n_components: usize,
}

impl GammaFit {
    fn closer(self, other: Self, target: usize) -> Self {
        let error = |fit: Self| fit.n_components.abs_diff(target);
        if error(other) < error(self) { other } else { self }
    }
}

/// Finds $\gamma$ of the RBF kernel at which `kobl` finds `target` components; its present kernel is ignored.
///
/// In practice the number grows with $\gamma$, so the search bisects on a logarithmic scale. If no $\gamma$ gives exactly
/// `target`, it returns the nearest found: check [`GammaFit::n_components`].
pub fn gamma_for_n_components(kobl: &Kobl, x: &Rows, target: usize, ctx: &Context) -> Result<GammaFit> {
    kobl.validate(x.n())?;
    x.need_complete("KOBL", |j| format!("x{}", j + 1))?;
    if target == 0 || target > x.n() {
        let expected = format!("from 1 to the number of rows, {}", x.n());
        return Err(Error::param("gamma_for_n_components", "n_components", expected, target));
    }
    // One more component than the target proves that there are too many.
    let limit = (target + 1).min(x.n());
    // The number of trials is not known in advance.
    let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
    let try_gamma = |gamma: f64| {
        ctx.step("gamma", 0, 0)?;
        let n_components = kobl.dimension(&Kernel::Rbf { gamma }, x, limit, &quiet)?;
        Ok::<_, Error>(GammaFit { gamma, n_components })
    };
    let mut low = try_gamma(median_gamma(Family::Rbf, x, ctx.seed)?)?;
    let mut high = low;
    let mut best = low;
    // 27 powers of ten on either side, where the kernel matrix is all ones or the identity.
    let (min_gamma, max_gamma) = (low.gamma / 8f64.powi(30), low.gamma * 8f64.powi(30));
    while low.n_components > target && low.gamma > min_gamma {
        high = low;
        low = try_gamma(low.gamma / 8.0)?;
        best = best.closer(low, target);
    }
    while high.n_components < target && high.gamma < max_gamma {
        low = high;
        high = try_gamma(high.gamma * 8.0)?;
        best = best.closer(high, target);
    }
    let enclosed = low.n_components <= target && high.n_components >= target;
    while enclosed && best.n_components != target && high.gamma / low.gamma > 1.0 + 1e-12 {
        let middle = try_gamma((low.gamma * high.gamma).sqrt())?;
        best = best.closer(middle, target);
        if middle.n_components < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(best)
}

/// Gives `kobl` an RBF kernel with $\gamma$ for `target` components; warns if it finds another number.
pub fn set_gamma_for_n_components(kobl: &mut Kobl, x: &Rows, target: usize, ctx: &Context) -> Result<()> {
    let GammaFit { gamma, n_components } = gamma_for_n_components(kobl, x, target, ctx)?;
    if n_components != target {
        ctx.warn(format!("no gamma gives {target} components; the closest one gives {n_components}"));
    }
    kobl.kernel = Kernel::Rbf { gamma }.into();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::Basis;
    use crate::data::Dataset;
    use crate::random::Rng;
    use ndarray::{Array2, array};

    #[test]
    fn gamma_gives_the_number_of_components() {
        let mut rng = Rng::new(11);
        let x = Array2::from_shape_simple_fn((120, 3), || rng.normal());
        let data = Dataset::unlabeled(x).unwrap();
        for target in [1, 2, 9, 30, 70] {
            let found =
                gamma_for_n_components(&Kobl::default(), data.x(), target, &Context::default()).unwrap();
            assert_eq!(found.n_components, target, "{found:?}");
            let kobl = Kobl { kernel: Kernel::Rbf { gamma: found.gamma }.into(), ..Kobl::default() };
            assert_eq!(kobl.fit(&data, &Context::default()).unwrap().map.n_components(), target);
        }
    }

    #[test]
    fn the_closest_number_if_the_target_cannot_be_reached() {
        // Two pairs of equal rows never span more than two dimensions.
        let x: Rows = array![[0.0], [0.0], [1.0], [1.0]].into();
        let found = gamma_for_n_components(&Kobl::default(), &x, 3, &Context::default()).unwrap();
        assert_eq!(found.n_components, 2);
        assert!(gamma_for_n_components(&Kobl::default(), &x, 5, &Context::default()).is_err());
    }
}
