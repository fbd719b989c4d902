//! KNNC: k-nearest neighbors by kernel distance, without selection.

use super::nearest::{check_neighbors, count_votes};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows};
use crate::error::{Result, need_columns};
use crate::kernel::{Kernel, KernelChoice, diagonal, gram};
use crate::neighbors::nearest;
use ndarray::Array2;

/// Rows per block of the Gram matrix.
const BLOCK: usize = 256;

/// k-nearest neighbors in kernel space.
///
/// $$ \lVert \phi(x) - \phi(z) \rVert^2 = k(x, x) - 2 k(x, z) + k(z, z) $$
///
/// The baseline of the TAKES paper. With the RBF kernel this distance is a monotone function of the Euclidean distance
/// for any gamma, so the Euclidean distance is used: it neither vanishes for near rows nor saturates for far ones.
///
/// Cost: $O(n d)$ per new row.
#[derive(Debug, Clone)]
pub struct Knnc {
    kernel: Kernel,
    x: Rows,
    /// $k(x, x)$ of the training rows.
    diagonal: Vec<f64>,
    classes: Classes,
    n_neighbors: usize,
}

impl Knnc {
    /// Stores the training rows.
    pub fn fit(kernel: &KernelChoice, data: &Dataset, n_neighbors: usize, ctx: &Context) -> Result<Self> {
        data.need_complete("KNNC")?;
        let classes = data.classes("KNNC")?.clone();
        check_neighbors("KNNC", n_neighbors, data.n())?;
        kernel.validate()?;
        let kernel = kernel.resolve(data.x(), ctx)?;
        let diagonal = diagonal(&kernel, data.x())?;
        Ok(Self { kernel, x: data.x().clone(), diagonal, classes, n_neighbors })
    }

    /// The class of each row, as an index into the class names.
    pub fn predict(&self, x: &Rows, ctx: &Context) -> Result<Vec<usize>> {
        Ok(self.predict_with_fractions(x, ctx)?.0)
    }

    /// The class of each row, and the fraction of votes for each class.
    pub fn predict_with_fractions(&self, x: &Rows, ctx: &Context) -> Result<(Vec<usize>, Array2<f64>)> {
        need_columns("columns of the rows to classify", self.x.d(), x.d())?;
        let near = if let Kernel::Rbf { .. } = self.kernel {
            self.nearest_by_euclidean_distance(x, ctx)
        } else {
            self.nearest_by_kernel_distance(x, ctx)
        };
        let codes = |rows: Vec<usize>| rows.into_iter().map(|row| self.classes.codes[row]).collect();
        Ok(count_votes(near?.into_iter().map(codes).collect(), self.classes.names.len()))
    }

    fn nearest_by_euclidean_distance(&self, x: &Rows, ctx: &Context) -> Result<Vec<Vec<usize>>> {
        let cells = (self.x.n() + x.n()) as f64 * x.d() as f64;
        ctx.need_memory(
            format!("neighbors among {} x {} values", self.x.n(), x.d()),
            8.0 * cells,
            "use fewer rows or columns",
        )?;
        let found = nearest(self.x.to_dense().view(), x.to_dense().view(), self.n_neighbors, None, ctx)?;
        Ok(found.iter().map(|near| near.iter().map(|n| n.row).collect()).collect())
    }

    fn nearest_by_kernel_distance(&self, x: &Rows, ctx: &Context) -> Result<Vec<Vec<usize>>> {
        let mut out = Vec::with_capacity(x.n());
        for from in (0..x.n()).step_by(BLOCK) {
            ctx.step("nearest rows", from, x.n())?;
            let rows: Vec<usize> = (from..x.n().min(from + BLOCK)).collect();
            let k = gram(&self.kernel, &x.take_rows(&rows), &self.x)?;
            // k(x, x) is the same for all training rows and can be omitted.
            for row in k.rows() {
                let mut order: Vec<usize> = (0..self.diagonal.len()).collect();
                let distance = |i: &usize| self.diagonal[*i] - 2.0 * row[*i];
                let by = |a: &usize, b: &usize| distance(a).total_cmp(&distance(b)).then(a.cmp(b));
                if self.n_neighbors < order.len() {
                    order.select_nth_unstable_by(self.n_neighbors - 1, by);
                }
                order.truncate(self.n_neighbors);
                order.sort_unstable_by(by);
                out.push(order);
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Family, Gamma};
    use crate::random::Rng;

    #[test]
    fn rbf_equals_euclidean_nearest_neighbors_for_any_gamma() {
        let mut rng = Rng::new(8);
        let x = Array2::from_shape_simple_fn((90, 3), || rng.normal());
        let data = Dataset::labeled(x, (0..90).map(|i| i % 3).collect()).unwrap();
        let (train, test) = (data.take_rows(&(0..60).collect::<Vec<_>>()), (60..90).collect::<Vec<_>>());
        let test = data.take_rows(&test);
        let ctx = Context::default();
        let euclidean: Vec<usize> = (0..30)
            .map(|q| {
                let far = |r: usize| test.x().sum_over_differences(q, train.x(), r, |e| e * e);
                let best = (0..60).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap();
                train.classes("t").unwrap().codes[best]
            })
            .collect();
        let predict = |kernel: KernelChoice| {
            Knnc::fit(&kernel, &train, 1, &ctx).unwrap().predict(test.x(), &ctx).unwrap()
        };
        for gamma in [1e-9, 0.5, 1e6] {
            assert_eq!(predict(Kernel::Rbf { gamma }.into()), euclidean);
        }
        // The linear kernel's distance is the Euclidean one too, computed by kernel distance.
        let linear =
            KernelChoice::Named { family: Family::Linear, gamma: Gamma::Median, degree: 1, coef0: 0.0 };
        assert_eq!(predict(linear), euclidean);
    }
}
