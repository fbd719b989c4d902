//! Objective functions: smooth functions of a matrix.

use ndarray::Array2;

/// A smooth function of a matrix $W$ with its gradient; implement it to use a solver with your own criterion.
///
/// $W$ and the gradient are row-major.
pub trait Criterion: Sync {
    /// Number of rows and columns of $W$.
    fn shape(&self) -> (usize, usize);

    /// Returns the value at `w` and writes its gradient to `gradient`.
    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64;

    /// Returns the value only; override if that is cheaper.
    fn value(&self, w: &Array2<f64>) -> f64 {
        let mut gradient = Array2::zeros(self.shape());
        self.value_and_gradient(w, &mut gradient)
    }
}

/// Compares the gradient of a criterion at `w` with central finite differences. Returns the largest error of an entry, relative
/// to the largest entry of the gradient or 1, whichever is larger.
///
/// The step for an entry is `step` times its absolute value or 1, whichever is larger. The truncation error of the differences
/// is about `step` squared: with a step of 1e-5, a correct gradient has an error below 1e-6 if third derivatives are moderate.
pub fn gradient_error(criterion: &dyn Criterion, w: &Array2<f64>, step: f64) -> f64 {
    let mut gradient = Array2::zeros(criterion.shape());
    criterion.value_and_gradient(w, &mut gradient);
    let largest = gradient.iter().fold(1.0_f64, |a, g| a.max(g.abs()));
    let mut moved = w.clone();
    let mut worst = 0.0_f64;
    for (index, &value) in w.indexed_iter() {
        let h = step * value.abs().max(1.0);
        moved[index] = value + h;
        let above = criterion.value(&moved);
        moved[index] = value - h;
        let below = criterion.value(&moved);
        moved[index] = value;
        let error = ((above - below) / (2.0 * h) - gradient[index]).abs() / largest;
        worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// A sum of cubes with an error in its gradient.
    struct Cubes {
        error: f64,
    }

    impl Criterion for Cubes {
        fn shape(&self) -> (usize, usize) {
            (2, 1)
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            gradient.zip_mut_with(w, |g, w| *g = 3.0 * w * w + self.error);
            w.iter().map(|w| w.powi(3)).sum()
        }
    }

    #[test]
    fn a_wrong_gradient_is_detected() {
        let w = array![[0.5], [-2.0]];
        // Third derivatives are 6: an error of (2e-5)^2 over a gradient of 12, and rounding 8 * 1e-16 / 1e-5.
        assert!(gradient_error(&Cubes { error: 0.0 }, &w, 1e-5) < 1e-10);
        let error = gradient_error(&Cubes { error: 0.12 }, &w, 1e-5);
        assert!((error - 0.12 / 12.12).abs() < 1e-9, "{error}");
        assert_eq!(Cubes { error: 0.0 }.value(&w), 0.125 - 8.0);
        assert!(gradient_error(&Cubes { error: f64::NAN }, &w, 1e-5).is_infinite());
    }
}
