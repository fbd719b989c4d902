//! What a solver minimises: a smooth function of a matrix.

use ndarray::Array2;

/// A smooth function of a matrix $W$ with its gradient. A solver needs to know no more.
///
/// $W$ is always laid out by rows, and so must the gradient stay.
pub trait Criterion: Sync {
    /// Rows and columns of W.
    fn shape(&self) -> (usize, usize);

    /// The value at `w`; its gradient goes into `gradient`.
    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64;

    /// The value alone; override where it is cheaper.
    fn value(&self, w: &Array2<f64>) -> f64 {
        let mut gradient = Array2::zeros(self.shape());
        self.value_and_gradient(w, &mut gradient)
    }
}

/// How far the gradient of a criterion is from its differences at `w`: the largest error of an entry, as a share of
/// the gradient's largest entry or of 1, whichever is larger.
///
/// Every entry is moved by `step` times its size, or times 1 if that is larger, both ways. An error of
/// about `step` squared is the difference's own; with a step of 1e-5 a right gradient stays below 1e-6 where third
/// derivatives are moderate.
pub fn gradient_error(criterion: &dyn Criterion, w: &Array2<f64>, step: f64) -> f64 {
    let mut gradient = Array2::zeros(criterion.shape());
    criterion.value_and_gradient(w, &mut gradient);
    let largest = gradient.iter().fold(1.0_f64, |a, g| a.max(g.abs()));
    let mut moved = w.clone();
    let mut worst = 0.0_f64;
    for (place, &at) in w.indexed_iter() {
        let by = step * at.abs().max(1.0);
        moved[place] = at + by;
        let above = criterion.value(&moved);
        moved[place] = at - by;
        let below = criterion.value(&moved);
        moved[place] = at;
        let error = ((above - below) / (2.0 * by) - gradient[place]).abs() / largest;
        // A difference that is no number is as wrong as can be.
        worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    struct Cubes {
        wrong: f64,
    }

    impl Criterion for Cubes {
        fn shape(&self) -> (usize, usize) {
            (2, 1)
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            gradient.zip_mut_with(w, |g, w| *g = 3.0 * w * w + self.wrong);
            w.iter().map(|w| w.powi(3)).sum()
        }
    }

    #[test]
    fn a_wrong_gradient_is_seen() {
        let w = array![[0.5], [-2.0]];
        // Third derivatives are 6: an error of (2e-5)^2 over a gradient of 12, and rounding 8 * 1e-16 / 1e-5.
        assert!(gradient_error(&Cubes { wrong: 0.0 }, &w, 1e-5) < 1e-10);
        let error = gradient_error(&Cubes { wrong: 0.12 }, &w, 1e-5);
        assert!((error - 0.12 / 12.12).abs() < 1e-9, "{error}");
        assert_eq!(Cubes { wrong: 0.0 }.value(&w), 0.125 - 8.0);
        assert!(gradient_error(&Cubes { wrong: f64::NAN }, &w, 1e-5).is_infinite());
    }
}
