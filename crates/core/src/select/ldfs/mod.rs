//! LDFS: sparse linear discriminant analysis; selects the features with nonzero weights.

mod least_squares;
mod ratio;

use super::row_path::{PathSettings, Penalized};
use super::selector::{DependenceCheck, FeatureCount, Selection, Selector};
use super::standard::standard_columns;
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::Result;
use crate::method::{Info, Needs};
use crate::optim::{BlockDescent, Spectral};
pub(super) use least_squares::Squares;
use least_squares::indicators;
use ratio::{Norm, Ratio, Scatter};

const NAME: &str = "LDFS";

crate::choices! {
    /// The problem to solve.
    pub enum LdfsForm {
        /// Least squares on class indicators; convex.
        LeastSquares = "least-squares",
        /// Ratio of scatters with weights of unit length; not convex.
        Normalized = "normalized",
        /// Ratio of scatters with unit within-class scatter; not convex.
        Constrained = "constrained",
    }
}

crate::parameters! {
    /// Linear discriminant feature selection.
    ///
    /// The problem as published adds $\lambda \sum_j \max_k |w_{jk}|$ to the ratio of scatters $-w^T S_B w / w^T S_W
    /// w$. The ratio does not change when $w$ shrinks but the penalty vanishes, so the penalty has no effect and
    /// selects nothing. Three forms fix this.
    ///
    /// **Least squares** (the default) is convex. With one target per class,
    ///
    /// $$ \min_{W \in \mathbb R^{d \times C}} \tfrac{1}{2n} \lVert X W - T \rVert_F^2 + \lambda \sum_j \max_k |w_{jk}|, \qquad
    ///    T_{ic} = \begin{cases} \sqrt{n / n_c} - \sqrt{n_c / n} & y_i = c \\\\ -\sqrt{n_c / n} & \text{else,} \end{cases} $$
    ///
    /// which without a penalty is linear discriminant analysis up to a rotation. For $\lambda \ge \lambda_{\max} =
    /// \max_j \lVert X_j^T T / n \rVert_1$ all weights are zero. It is solved by block coordinate descent; the
    /// optimality of a path point is the larger of the duality gap, as a fraction of the objective at zero, and the
    /// violation of the first-order conditions (block coordinate descent).
    ///
    /// **Normalized** and **constrained** keep the ratio and fix the scale of $w$,
    ///
    /// $$ -\frac{w^T S_B w}{w^T (S_W + \rho I) w} + \lambda \lVert w \rVert_1 \quad\text{where}\quad
    ///    \lVert w \rVert = 1 \quad\text{or}\quad w^T (S_W + \rho I) w = 1. $$
    ///
    /// They are not convex: the result is a stationary point, reached along the path as $\lambda$ decreases from a
    /// single feature. They have one direction, because a second one does not improve a ratio of traces. With more than
    /// two classes they therefore use only the first discriminant. The optimality is that of [`crate::optim::Spectral`]
    /// at the scale $\lVert w \rVert_1 = 1$. The fewer samples per feature, the larger the ridge should be: without it
    /// some combination always has zero within-class scatter. $S_B = \sum_c p_c m_c m_c^T$ with class means $m_c$ and
    /// $p_c = n_c / n$, or $1 / C$; $S_W$ is the mean over all samples.
    ///
    /// Features are always standardized first; sparse ones stay sparse. Weights refer to the standardized features, and
    /// constant features have none. The path ends at the given penalty, or at the requested number of features; without
    /// either, the full path is computed and the last point at or above a tenth of the first penalty is selected. A
    /// smaller number of features need not be a subset of a larger one.
    ///
    /// A feature of several columns, such as a category, has weights for each of them, and $k$ in the penalty counts them
    /// all: the norm of a feature is its largest absolute weight. The columns of a category are scaled together, to a total
    /// variance of 1. The penalty of such a feature is multiplied by
    ///
    /// $$ \omega_j = \frac{a \sum_l s_l + 3 b \sqrt{\sum_l s_l^2}}{a + 3 b}, \qquad a = \sqrt{2 / \pi}, \ b = \sqrt{1 - 2 / \pi} $$
    ///
    /// with $s_l$ the standard deviation of column $l$; $\omega_j = 1$ for one column, 2.9 for a category of 50 equally
    /// frequent levels. A feature enters when the sum of its absolute gradients exceeds $\lambda \omega_j$, and
    /// $\omega_j$ is proportional to that sum at three standard deviations above its mean if the feature is independent of
    /// the classes: noise with many levels enters no earlier than other noise. In the ratio forms, the ridge and the length
    /// of $w$ refer to $\omega_j w_j$.
    ///
    /// Cost: least squares $O(n C)$ per active feature and sweep, a few dozen sweeps per path point; the ratios $O(n
    /// d)$ per iteration.
    ///
    /// Reference: Masaeli, Fung and Dy, *From transformation-based dimensionality reduction to feature selection*, 2010; Ye,
    /// *Least squares linear discriminant analysis*, 2007.
    #[derive(PartialEq)]
    pub struct Ldfs as "LDFS" {
        /// The problem to solve.
        pub form: LdfsForm = LdfsForm::LeastSquares;
        /// The penalty. Leave it out if the number of features is given; none uses a path of penalties.
        pub penalty: Option<f64> = None, above(0);
        /// Number of penalties on the path.
        pub n_penalties: usize = 61, between(2, 10_000);
        /// The last penalty of the path as a fraction of the first.
        pub penalty_ratio: f64 = 1e-3, inside(0, 1);
        /// Ridge added to the within-class scatter of standardized features; not used by least-squares.
        pub ridge: f64 = 0.1, above(0);
        /// Whether classes are weighted by their number of samples in the between-class scatter; if false, equally.
        /// Not used by least-squares.
        pub weighted_scatter: bool = true;
        /// Tolerance of the optimality conditions.
        pub tol: f64 = 1e-6, above(0);
        /// Maximum number of sweeps, or of steps of the ratio forms, for each penalty.
        pub max_iter: usize = 10_000, at_least(1);
    }
}

impl Ldfs {
    fn path_settings(&self) -> PathSettings {
        PathSettings {
            title: NAME,
            name: "ldfs",
            penalty: self.penalty,
            n_penalties: self.n_penalties,
            penalty_ratio: self.penalty_ratio,
        }
    }

    fn problem(&self, data: &Dataset, classes: &Classes, ctx: &Context) -> Result<Box<dyn Penalized>> {
        let design = standard_columns(NAME, data, classes.n_present(), ctx)?;
        let norm = match self.form {
            LdfsForm::LeastSquares => {
                let solver = BlockDescent { tolerance: self.tol, max_iterations: self.max_iter };
                let targets = indicators(classes, data.weights());
                return Ok(Box::new(Squares::new(design, targets, data.groups(), solver)?));
            }
            LdfsForm::Normalized => Norm::Length,
            LdfsForm::Constrained => Norm::Within,
        };
        let solver = Spectral { tolerance: self.tol, max_iterations: self.max_iter, ..Spectral::default() };
        let scatter = Scatter { ridge: self.ridge, weighted: self.weighted_scatter };
        Ok(Box::new(Ratio::new(design, data.groups(), (classes, data.weights()), scatter, norm, solver)))
    }
}

impl Ldfs {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "ldfs",
        title: "LDFS",
        summary: "Features of a sparse linear discriminant analysis",
        needs: Needs::Classes,
        cost: "O(n C) time per feature and sweep, O(n d) memory",
        reference: "Masaeli, Fung and Dy, 2010",
    };
}

impl Selector for Ldfs {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn wants_scaling(&self) -> bool {
        false
    }

    fn clear_fixed_count(&mut self) {
        self.penalty = None;
    }

    fn has_path(&self) -> bool {
        true
    }

    fn supports_weights(&self) -> bool {
        true
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(DependenceCheck::Single).filter(|_| self.penalty.is_none())
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check()?;
        let wanted = wanted.resolve(NAME, data.d())?;
        let problem = self.problem(data, classes, ctx)?;
        self.path_settings().select(problem.as_ref(), wanted, ctx)
    }

    fn nested(&self) -> bool {
        false
    }
}

#[cfg(all(test, feature = "datasets"))]
mod tests;
