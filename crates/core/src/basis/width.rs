//! The kernel width at which KOBL finds a wanted number of dimensions.

use super::kobl::Kobl;
use crate::context::{Context, Quiet};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::kernel::{Family, Kernel, median_gamma};

/// What [`width_for_dim`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// $\gamma$ of the RBF kernel.
    pub gamma: f64,
    /// The number of dimensions it gives.
    pub dimension: usize,
}

impl Width {
    /// Whether the wanted number was met, not only approached.
    pub fn is_exact(&self, wanted: usize) -> bool {
        self.dimension == wanted
    }
}

/// Finds $\gamma$ of the RBF kernel for which `kobl`, whatever kernel it names, gives `wanted` dimensions.
///
/// The dimension grows with $\gamma$ in practice, so it is bisected on a logarithmic scale. If no width
/// gives exactly `wanted`, the nearest found is returned: look at [`Width::dimension`].
pub fn width_for_dim(kobl: &Kobl, x: &Rows, wanted: usize, ctx: &Context) -> Result<Width> {
    kobl.validate(x.n())?;
    x.need_complete("KOBL", |j| format!("x{}", j + 1))?;
    if wanted == 0 || wanted > x.n() {
        let expected = format!("from 1 to the number of rows, {}", x.n());
        return Err(Error::param("width_for_dim", "n_components", expected, wanted));
    }
    // One more than wanted is enough to know that it is too many.
    let enough = (wanted + 1).min(x.n());
    // How many widths are tried shows only at the end.
    let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
    let try_gamma = |gamma: f64| {
        ctx.step("kernel width", 0, 0)?;
        let dimension = kobl.dimension(&Kernel::Rbf { gamma }, x, enough, &quiet)?;
        Ok::<_, Error>(Width { gamma, dimension })
    };
    let mut low = try_gamma(median_gamma(Family::Rbf, x, ctx.seed)?)?;
    let mut high = low;
    let mut best = low;
    let nearer =
        |a: Width, b: Width| if b.dimension.abs_diff(wanted) < a.dimension.abs_diff(wanted) { b } else { a };
    // 27 powers of ten to either side: kernels that are all ones or an identity by then.
    let (least, most) = (low.gamma / 8f64.powi(30), low.gamma * 8f64.powi(30));
    while low.dimension > wanted && low.gamma > least {
        high = low;
        low = try_gamma(low.gamma / 8.0)?;
        best = nearer(best, low);
    }
    while high.dimension < wanted && high.gamma < most {
        low = high;
        high = try_gamma(high.gamma * 8.0)?;
        best = nearer(best, high);
    }
    let enclosed = low.dimension <= wanted && high.dimension >= wanted;
    while enclosed && !best.is_exact(wanted) && high.gamma / low.gamma > 1.0 + 1e-12 {
        let middle = try_gamma((low.gamma * high.gamma).sqrt())?;
        best = nearer(best, middle);
        if middle.dimension < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(best)
}

/// Gives `kobl` the RBF kernel with the width for `wanted` dimensions, and warns if that is only near.
pub fn set_width_for_dim(kobl: &mut Kobl, x: &Rows, wanted: usize, ctx: &Context) -> Result<()> {
    let width = width_for_dim(kobl, x, wanted, ctx)?;
    if !width.is_exact(wanted) {
        ctx.warn(format!("no width gives {wanted} dimensions; the nearest found gives {}", width.dimension));
    }
    kobl.kernel = Kernel::Rbf { gamma: width.gamma }.into();
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
    fn the_width_gives_the_dimension() {
        let mut rng = Rng::new(11);
        let x = Array2::from_shape_simple_fn((120, 3), || rng.normal());
        let data = Dataset::unlabelled(x).unwrap();
        for wanted in [1, 2, 9, 30, 70] {
            let width = width_for_dim(&Kobl::default(), data.x(), wanted, &Context::default()).unwrap();
            assert!(width.is_exact(wanted), "{width:?} for {wanted}");
            let kobl = Kobl { kernel: Kernel::Rbf { gamma: width.gamma }.into(), ..Kobl::default() };
            assert_eq!(kobl.fit(&data, &Context::default()).unwrap().map.n_components(), wanted);
        }
    }

    #[test]
    fn what_cannot_be_reached_is_approached() {
        // Two pairs of equal rows never span more than two dimensions.
        let x: Rows = array![[0.0], [0.0], [1.0], [1.0]].into();
        let width = width_for_dim(&Kobl::default(), &x, 3, &Context::default()).unwrap();
        assert_eq!(width.dimension, 2);
        assert!(width_for_dim(&Kobl::default(), &x, 5, &Context::default()).is_err());
    }
}
