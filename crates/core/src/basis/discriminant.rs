//! KDA and GDA: the directions of kernel space that best separate the classes.

use super::feature_map::{Basis, FeatureMap, Fitted, MAX_SQUARE, Parts, Summary};
use super::kpca::{centered, equal_rows, need_square};
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::kernel::{KernelChoice, diagonal, gram_symmetric};
use crate::linalg::{cholesky, lower_solve, multiply, sign_of_largest, symmetric_eigen, transposed_solve};
use crate::method::{Info, Needs};
use crate::outcome::Outcome;
use crate::parameters::Parameters;
use ndarray::{Array1, Array2, Axis, s};

crate::choices! {
    /// The criterion of the discriminant.
    pub enum Criterion {
        /// Between-class relative to within-class scatter (KDA).
        Kda = "kda",
        /// Between-class relative to total scatter, centered (GDA).
        Gda = "gda",
    }
}

crate::parameters! {
    /// Kernel discriminant analysis.
    ///
    /// A direction is $w = \sum_j a_j \phi(x_j)$; for $C$ classes at most $C - 1$ of them are informative.
    ///
    /// **KDA** maximizes the between-class scatter relative to the within-class scatter, both in terms of $a$:
    ///
    /// $$ \max_a \frac{a^\top M a}{a^\top (N + \mu I) a}, \quad M = \sum_c n_c (m_c - m)(m_c - m)^\top, \quad
    ///    N = K K - \sum_c n_c m_c m_c^\top $$
    ///
    /// where $m_c$ is the mean column of $K$ over class $c$. $M$ has rank $C - 1$, so one Cholesky factorization and a
    /// $C \times C$ eigenproblem solve it.
    ///
    /// **GDA** maximizes the between-class scatter relative to the total scatter of the centered kernel matrix: with
    /// $HKH = P \Gamma P^\top$ and $W$ averaging within classes, $P^\top W P \beta = \lambda \beta$, $a = P \Gamma^{-1}
    /// \beta$.
    ///
    /// `ridge` regularizes both. For KDA it is $\mu$ as a fraction of the mean diagonal of $N$; for GDA, directions
    /// with an eigenvalue below this fraction of the largest are dropped.
    ///
    /// Cost: $O(N^2)$ memory, $O(N^3)$ operations.
    ///
    /// References: Mika and others, *Fisher discriminant analysis with kernels*, 1999; Baudat and Anouar,
    /// *Generalized discriminant analysis using a kernel approach*, 2000.
    pub struct Discriminant as "kernel discriminant" {
        /// The criterion.
        pub criterion: Criterion = Criterion::Kda;
        /// The kernel.
        pub kernel: KernelChoice = KernelChoice::default();
        /// Number of components; none is one less than the number of classes, the maximum.
        pub n_components: Option<usize> = None, at_least(1);
        /// Ridge, relative to the mean diagonal, that keeps it from fitting every sample.
        pub ridge: f64 = 1e-3, inside(0, 1);
        /// Whether to use all samples. Otherwise a random sample of 3000, by class, represents more of them.
        pub exact: bool = false;
    }
}

impl Discriminant {
    /// What `kernsift methods` says about KDA.
    pub const KDA: Info = Info {
        name: "kda",
        title: "Kernel discriminant analysis",
        summary: "Directions of large between-class relative to within-class scatter",
        needs: Needs::Classes,
        cost: "O(n³) time, O(n²) memory; beyond 3000 rows a sample",
        reference: "Mika et al., 1999",
    };

    /// What `kernsift methods` says about GDA.
    pub const GDA: Info = Info {
        name: "gda",
        title: "Generalized discriminant analysis",
        summary: "Directions of large between-class relative to total scatter",
        needs: Needs::Classes,
        cost: "O(n³) time, O(n²) memory; beyond 3000 rows a sample",
        reference: "Baudat and Anouar, 2000",
    };

    /// Generalized discriminant analysis.
    pub fn gda() -> Self {
        Self { criterion: Criterion::Gda, ..Self::default() }
    }

    fn name(&self) -> &'static str {
        match self.criterion {
            Criterion::Kda => "KDA",
            Criterion::Gda => "GDA",
        }
    }

    fn validate(&self, classes: usize) -> Result<()> {
        self.check_ranges()?;
        self.kernel.validate()?;
        match self.n_components {
            Some(m) if m == 0 || m >= classes => {
                let expected = format!("from 1 to one fewer than the {classes} classes");
                Err(Error::param(self.name(), "n_components", expected, m))
            }
            _ => Ok(()),
        }
    }
}

impl Basis for Discriminant {
    fn info(&self) -> &'static Info {
        if self.criterion == Criterion::Kda { &Self::KDA } else { &Self::GDA }
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
        data.need_complete(self.name())?;
        let classes = data.classes(self.name())?;
        self.validate(classes.n_present())?;
        let kernel = self.kernel.resolve(data.x(), ctx)?;
        // GDA centers and decomposes the matrix; KDA only factorizes it.
        let matrices = if self.criterion == Criterion::Gda { 6.0 } else { 4.0 };
        need_square(self.name(), matrices, data.n(), ctx)?;
        ctx.step("kernel of all pairs", 0, 1)?;
        let k = gram_symmetric(&kernel, data.x())?;
        ctx.step("discriminant directions", 0, 1)?;
        let wanted = self.n_components.unwrap_or(classes.n_present() - 1);
        let center = self.criterion == Criterion::Gda;
        let coef = match self.criterion {
            Criterion::Kda => between_over_within(&k, classes, self.ridge, wanted)?,
            Criterion::Gda => between_over_total(&k, classes, self.ridge, wanted)?,
        };
        if coef.ncols() < wanted {
            ctx.warn(format!(
                "{}: only {} of {wanted} directions separate the classes; request fewer",
                self.name(),
                coef.ncols()
            ));
        }
        let summary =
            Summary::start(&self.name().to_lowercase(), data.n(), (0..data.n()).collect(), Outcome::direct());
        let own = diagonal(&kernel, data.x())?;
        let mut features = multiply(k.view(), coef.view());
        if center {
            features -= &coef.t().dot(&k.mean_axis(Axis(0)).expect("at least one row"));
        }
        let parts =
            Parts { kernel, anchors: data.x().clone(), coef, orthonormal: false, centered: center, summary };
        let map = FeatureMap::new(parts, Some(&k))?.with_costs(&own, &k, &features);
        Ok(Fitted { map, features })
    }
}

/// One column per nonempty class: the mean of the rows of `k` over the class.
fn class_means(k: &Array2<f64>, classes: &Classes) -> (Array2<f64>, Array1<f64>) {
    let counts = classes.counts();
    let present: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
    let mut place = vec![usize::MAX; counts.len()];
    present.iter().enumerate().for_each(|(to, &c)| place[c] = to);
    let mut means = Array2::zeros((k.ncols(), present.len()));
    for (row, &c) in k.rows().into_iter().zip(&classes.codes) {
        means.column_mut(place[c]).scaled_add(1.0 / counts[c] as f64, &row);
    }
    (means, present.iter().map(|&c| counts[c] as f64).collect())
}

fn between_over_within(k: &Array2<f64>, classes: &Classes, ridge: f64, wanted: usize) -> Result<Array2<f64>> {
    let n = k.nrows() as f64;
    let (means, counts) = class_means(k, classes);
    let weighted = &means * &counts.mapv(f64::sqrt);
    let mut within = multiply(k.view(), k.view()) - weighted.dot(&weighted.t());
    let size = within.diag().sum() / n;
    if size <= 0.0 && k.iter().all(|v| *v == k[[0, 0]]) {
        return Err(equal_rows("KDA"));
    }
    within.diag_mut().mapv_inplace(|v| v + ridge * size.max(f64::MIN_POSITIVE.sqrt()));
    let factor = cholesky(within.view()).ok_or_else(|| Error::Breakdown {
        step: "KDA",
        why: "the within-class scatter is not positive definite; increase ridge".into(),
    })?;
    let overall = k.mean_axis(Axis(0)).expect("at least one row").insert_axis(Axis(1));
    let mut between = (&means - &overall) * &counts.mapv(f64::sqrt);
    lower_solve(factor.view(), &mut between.view_mut());
    // a = R^-T u
    let mut a = leading(&between, wanted)?;
    transposed_solve(factor.view(), &mut a.view_mut());
    unit_length(a, k, "KDA")
}

fn between_over_total(k: &Array2<f64>, classes: &Classes, ridge: f64, wanted: usize) -> Result<Array2<f64>> {
    let eigen = symmetric_eigen(centered(k).view())?;
    let largest = eigen.values[0];
    let rounding = 1e-15 * k.diag().iter().fold(0.0_f64, |a, v| a.max(v.abs())) * k.nrows() as f64;
    if largest <= rounding {
        return Err(equal_rows("GDA"));
    }
    let keep = eigen.values.iter().filter(|&&v| v > ridge * largest).count();
    let p = eigen.vectors.slice(s![.., ..keep]).to_owned();
    let (means, counts) = class_means(&p, classes);
    let beta = leading(&(&means * &counts.mapv(f64::sqrt)), wanted)?;
    let scaled = &beta / &eigen.values.slice(s![..keep]).to_owned().insert_axis(Axis(1));
    unit_length(p.dot(&scaled), &centered(k), "GDA")
}

/// The leading left singular vectors of a tall thin matrix.
fn leading(tall: &Array2<f64>, wanted: usize) -> Result<Array2<f64>> {
    let small = symmetric_eigen(tall.t().dot(tall).view())?;
    let rank = small.values.iter().take(wanted).filter(|&&v| v > 1e-12 * small.values[0]).count();
    // The singular values are fractions of the scatter: below this, class means are equal up to rounding.
    if rank == 0 || small.values[0] < 1e-20 {
        return Err(Error::Breakdown {
            step: "discriminant",
            why: "the class means are equal in kernel space; change gamma, or check the target".into(),
        });
    }
    let roots = small.values.slice(s![..rank]).mapv(f64::sqrt);
    Ok(tall.dot(&small.vectors.slice(s![.., ..rank])) / roots)
}

/// Scales columns so that the directions have norm 1 and a fixed sign.
fn unit_length(mut a: Array2<f64>, k: &Array2<f64>, step: &'static str) -> Result<Array2<f64>> {
    let ka = multiply(k.view(), a.view());
    for (mut column, image) in a.columns_mut().into_iter().zip(ka.columns()) {
        let length = column.dot(&image);
        if length <= 0.0 || length.is_nan() {
            return Err(equal_rows(step));
        }
        let sign = sign_of_largest(column.iter().copied());
        column.mapv_inplace(|v| sign * v / length.sqrt());
    }
    Ok(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use ndarray::array;

    fn linear(criterion: Criterion) -> Discriminant {
        Discriminant { criterion, kernel: Kernel::Linear.into(), ridge: 1e-9, ..Discriminant::default() }
    }

    /// With a linear kernel both are Fisher's discriminant: classes differ along (1, 0) but vary along (1, 1), so
    /// the direction is S_W^-1 (difference of means).
    #[test]
    fn the_linear_kernel_gives_fishers_discriminant() {
        let x = array![[0.0, 0.0], [2.0, 2.1], [-2.0, -2.0], [4.0, 0.1], [6.0, 2.0], [2.0, -2.1]];
        let data = Dataset::labeled(x.clone(), vec![0, 0, 0, 1, 1, 1]).unwrap();
        let within = {
            let means = [array![0.0, 0.1 / 3.0], array![4.0, 0.0]];
            let mut s = Array2::<f64>::zeros((2, 2));
            for (row, c) in x.rows().into_iter().zip([0, 0, 0, 1, 1, 1]) {
                let e = &row - &means[c];
                for i in 0..2 {
                    for j in 0..2 {
                        s[[i, j]] += e[i] * e[j];
                    }
                }
            }
            s
        };
        let difference = array![4.0, -0.1 / 3.0];
        let determinant = within[[0, 0]] * within[[1, 1]] - within[[0, 1]] * within[[1, 0]];
        let expected = array![
            within[[1, 1]] * difference[0] - within[[0, 1]] * difference[1],
            within[[0, 0]] * difference[1] - within[[1, 0]] * difference[0]
        ] / determinant;
        for criterion in [Criterion::Kda, Criterion::Gda] {
            let fit = linear(criterion).fit(&data, &Context::default()).unwrap();
            let direction = x.t().dot(&fit.map.coefficients().column(0));
            let cosine =
                direction.dot(&expected) / (direction.dot(&direction) * expected.dot(&expected)).sqrt();
            // KDA's ridge of 1e-9 acts on K^2, whose small eigenvalue is about 1e-5 of its mean.
            assert!((cosine.abs() - 1.0).abs() < 1e-6, "{criterion:?}: {cosine}");
            // Directions have norm 1.
            assert!((direction.dot(&direction) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn three_classes_give_two_directions_that_separate() {
        let x = Array2::from_shape_fn((30, 2), |(i, j)| {
            let angle = (i % 3) as f64 * 2.1;
            let noise = (i as f64 * 12.9898 + j as f64 * 78.233).sin() * 0.2;
            3.0 * if j == 0 { angle.cos() } else { angle.sin() } + noise
        });
        let codes: Vec<usize> = (0..30).map(|i| i % 3).collect();
        let data = Dataset::labeled(x.clone(), codes.clone()).unwrap();
        for criterion in [Criterion::Kda, Criterion::Gda] {
            let fit = Discriminant { criterion, ..Discriminant::default() }
                .fit(&data, &Context::default())
                .unwrap();
            assert_eq!(fit.features.dim(), (30, 2));
            let new = fit.map.transform(&x.clone().into(), &Context::default()).unwrap();
            assert!((&new - &fit.features).iter().all(|e| e.abs() < 1e-10));
            for i in 0..30 {
                let nearest = (0..30).filter(|&j| j != i).min_by(|&a, &b| {
                    let distance = |j: usize| (&new.row(i) - &new.row(j)).mapv(|v| v * v).sum();
                    distance(a).total_cmp(&distance(b))
                });
                assert_eq!(codes[nearest.unwrap()], codes[i], "{criterion:?}");
            }
        }
    }

    #[test]
    fn parameters_and_targets_are_checked() {
        let data = Dataset::labeled(array![[0.0], [1.0], [2.0]], vec![0, 1, 0]).unwrap();
        let message =
            |d: Discriminant, data: &Dataset| d.fit(data, &Context::default()).unwrap_err().to_string();
        let many = Discriminant { n_components: Some(2), ..Discriminant::default() };
        assert_eq!(
            message(many, &data),
            "KDA: parameter 'n_components' must be from 1 to one fewer than the 2 classes, got 2"
        );
        let flat = Discriminant { ridge: 0.0, criterion: Criterion::Gda, ..Discriminant::default() };
        assert!(
            message(flat, &data).contains("parameter 'ridge' must be a number, above 0 and below 1, got 0")
        );
        let one = Dataset::labeled(array![[0.0], [1.0]], vec![0, 0]).unwrap();
        assert!(message(Discriminant::default(), &one).contains("all rows have the class '0'"));
        // The same samples with both labels: no direction separates them.
        let both = Dataset::labeled(array![[0.0], [1.0], [5.0], [0.0], [1.0], [5.0]], vec![0, 0, 0, 1, 1, 1])
            .unwrap();
        for criterion in [Criterion::Kda, Criterion::Gda] {
            let d = Discriminant {
                criterion,
                kernel: Kernel::Rbf { gamma: 0.1 }.into(),
                ..Discriminant::default()
            };
            assert!(message(d, &both).contains("class means are equal"), "{criterion:?}");
        }
        let same = Dataset::labeled(Array2::ones((4, 1)), vec![0, 1, 0, 1]).unwrap();
        for criterion in [Criterion::Kda, Criterion::Gda] {
            let d = Discriminant {
                criterion,
                kernel: Kernel::Rbf { gamma: 1.0 }.into(),
                ..Discriminant::default()
            };
            assert!(message(d, &same).contains("kernel space"), "{criterion:?}");
        }
    }
}
