//! Cases computed by hand, invariances and known solutions; [`naive`] has slow solvers of the same problems, [`edges`] edge cases.

mod edges;
mod naive;

use super::ascent::Problem as _;
use super::*;
use crate::linalg::symmetric_eigen;
use crate::optim::gradient_error;
use crate::random::Rng;
use ndarray::{Array1, array};

/// The full and the diagonal form.
const FORMS: [bool; 2] = [false, true];

type List = Vec<[usize; 2]>;

fn with(diagonal: bool) -> XingMetric {
    XingMetric { diagonal, ..XingMetric::default() }
}

fn metric(learned: &Learned) -> &Array2<f64> {
    let Kernel::Mahalanobis { metric } = &learned.kernel else { panic!("{}", learned.kernel.describe()) };
    metric
}

fn learn(learner: &XingMetric, x: &Array2<f64>, near: &[[usize; 2]], far: &[[usize; 2]]) -> Learned {
    let data = Dataset::unlabeled(x.clone()).unwrap();
    learner.learn_pairs(&data, near, far, &Context::default()).unwrap()
}

fn square(x: &Array2<f64>, a: &Array2<f64>, [i, j]: [usize; 2]) -> f64 {
    let z = &x.row(i) - &x.row(j);
    z.dot(&a.dot(&z))
}

/// $g / \sqrt f$, pair by pair.
fn value(x: &Array2<f64>, a: &Array2<f64>, near: &[[usize; 2]], far: &[[usize; 2]]) -> f64 {
    let g: f64 = far.iter().map(|&pair| square(x, a, pair).max(0.0).sqrt()).sum();
    let f: f64 = near.iter().map(|&pair| square(x, a, pair)).sum();
    g / f.sqrt()
}

/// Rows and different pairs, each of two different rows.
fn random_problem(seed: u64, n: usize, d: usize, pairs: usize) -> (Array2<f64>, List, List) {
    let mut rng = Rng::new(seed);
    let x = Array2::from_shape_fn((n, d), |(i, j)| rng.normal() + ((i % 3) * (j % 2)) as f64);
    let mut draw = |same: bool| {
        let mut list: List = vec![];
        while list.len() < pairs {
            let (i, j) = (rng.below(n), rng.below(n));
            let pair = [i.min(j), i.max(j)];
            if i != j && (i % 3 == j % 3) == same && !list.contains(&pair) {
                list.push(pair);
            }
        }
        list
    };
    let near = draw(true);
    let far = draw(false);
    (x, near, far)
}

#[test]
fn metric_of_one_column() {
    let x = array![[0.0], [1.0], [3.0]];
    for diagonal in FORMS {
        let learned = learn(&with(diagonal), &x, &[[0, 1]], &[[0, 2], [2, 1]]);
        // Squares 1, 9 and 4 have the mean 14/3.
        assert!((metric(&learned)[[0, 0]] - 3.0 / 14.0).abs() < 1e-15, "{}", metric(&learned));
        assert_eq!((learned.scores, learned.status), (vec![1.0], Status::Optimal));
    }
}

/// Similar pairs (1, 0) and (0, 2) apart, so that f = a11 + 4 a22; dissimilar pairs as given.
fn two_columns(apart: &[[f64; 2]]) -> (Array2<f64>, List, List) {
    let mut rows = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]];
    let mut far = vec![];
    for (p, &[a, b]) in apart.iter().enumerate() {
        let at = 10.0 * (p + 1) as f64;
        far.push([rows.len(), rows.len() + 1]);
        rows.extend([[at, -at], [at + a, -at + b]]);
    }
    (Array2::from_shape_fn((rows.len(), 2), |(i, j)| rows[i][j]), vec![[0, 1], [0, 2]], far)
}

#[test]
fn two_columns_computed_by_hand() {
    // g = sqrt(a11) + sqrt(a22) is largest at a11 = 0.8, a22 = 0.05, where it is sqrt(5)/2.
    let (x, near, far) = two_columns(&[[1.0, 0.0], [0.0, 1.0]]);
    for diagonal in FORMS {
        let learned = learn(&with(diagonal), &x, &near, &far);
        let a = metric(&learned);
        // The gap is below 1e-6; the error of the weights is about its square root.
        assert!((value(&x, a, &near, &far) - 1.25_f64.sqrt()).abs() < 2e-6, "{diagonal}");
        assert!((a[[0, 0]] / a[[1, 1]] - 16.0).abs() < 0.02, "{diagonal} {a}");
        assert!((learned.scores[1] - 0.25).abs() < 1e-3 && learned.scores[0] == 1.0, "{:?}", learned.scores);
    }
    // g = 2 sqrt(a11 + a22) at best, and a unit of a22 costs four times as much: a22 = 0.
    let (x, near, far) = two_columns(&[[1.0, 1.0], [1.0, -1.0]]);
    for diagonal in FORMS {
        let learned = learn(&with(diagonal), &x, &near, &far);
        let a = metric(&learned);
        assert!((value(&x, a, &near, &far) - 2.0).abs() < 2e-6, "{diagonal}");
        assert!(a[[1, 1]] < 1e-5 * a[[0, 0]], "{diagonal} {a}");
        if diagonal {
            assert_eq!(learned.scores, [1.0, 0.0], "exactly zero");
            assert_eq!(learned.features(), [0]);
        }
    }
}

#[test]
fn a_small_weight_that_separates_a_pair_is_kept() {
    // g = 200 sqrt(a11) + sqrt(a22) is largest where a22 / a11 = 1 / 800^2, and zero would leave a pair at distance 0.
    let mut apart = vec![[1.0, 0.0]; 200];
    apart.push([0.0, 1.0]);
    let (x, near, far) = two_columns(&apart);
    for diagonal in FORMS {
        let learned = learn(&XingMetric { tol: 1e-9, ..with(diagonal) }, &x, &near, &far);
        assert_eq!(learned.status, Status::Optimal, "{diagonal}");
        let a = metric(&learned);
        let best = (200.0_f64.powi(2) + 0.25).sqrt();
        assert!((value(&x, a, &near, &far) / best - 1.0).abs() < 2e-9, "{diagonal}");
        // The second column contributes 3e-6 of the value, so a gap of 1e-9 allows an error of some hundredths in its weight.
        assert!((a[[1, 1]] / a[[0, 0]] * 800.0_f64.powi(2) - 1.0).abs() < 0.1, "{diagonal} {a}");
    }
}

#[test]
fn gradients_match_finite_differences() {
    let (x, near, far) = random_problem(1, 20, 4, 25);
    let problem = Problem::new(x, Pairs::new(20, &near, &far).unwrap(), &Context::default()).unwrap();
    let mut rng = Rng::new(2);
    let Problem { table, similar, dissimilar } = &problem;
    let frame = Frame::new(table, similar, dissimilar, None, &Context::default()).unwrap();
    let full = Full { rows: &frame.rows, dissimilar };
    let w = Array2::from_shape_simple_fn((4, 3), || rng.normal());
    // Third derivatives are moderate: the error is the step squared, 1e-10, plus rounding, 1e-16 / 1e-5.
    assert!(gradient_error(&*full.criterion(&w), &w, 1e-5) < 1e-8);
    let diagonal = Diagonal::new(&table.x, dissimilar, &[1.0, 2.0, 0.5, 3.0]);
    let w = Array2::from_shape_simple_fn((4, 1), || rng.normal().powi(2));
    assert!(gradient_error(&*diagonal.criterion(&w), &w, 1e-5) < 1e-8);
}

#[test]
fn no_metric_exceeds_the_bound_of_another() {
    for seed in 0..5 {
        let (x, near, far) = random_problem(seed, 24, 5, 40);
        let problem = Problem::new(x, Pairs::new(24, &near, &far).unwrap(), &Context::default()).unwrap();
        let frame =
            Frame::new(&problem.table, &problem.similar, &problem.dissimilar, None, &Context::default())
                .unwrap();
        let full = Full { rows: &frame.rows, dissimilar: &problem.dissimilar };
        let diagonal = Diagonal::new(
            &problem.table.x,
            &problem.dissimilar,
            &problem.similar.column_squares(&problem.table.x),
        );
        let mut rng = Rng::new(seed);
        let mut bound_of = |problem: &dyn ascent::Problem, columns: usize| {
            let entry = |v: f64| if problem.lower_bound() < 0.0 { v } else { v.abs() };
            let mut draw = || Array2::from_shape_simple_fn((5, columns), || entry(rng.normal()));
            let factors: Vec<Array2<f64>> = (0..20).map(|_| problem.normalized(draw())).collect();
            let evaluated: Vec<ascent::Evaluation> =
                factors.iter().map(|f| problem.evaluate(f).unwrap()).collect();
            let bound = evaluated.iter().map(|at| at.value * (1.0 + at.gap)).fold(f64::INFINITY, f64::min);
            for (factor, at) in factors.iter().zip(evaluated) {
                assert!(at.value <= bound && at.gap > 1e-4, "{} {bound} {}", at.value, at.gap);
                let (next, value) = problem.step(factor, &at).unwrap();
                assert!(value >= at.value && value <= bound);
                // Both are sums of 40 square roots.
                assert!((problem.evaluate(&next).unwrap().value / value - 1.0).abs() < 1e-12);
            }
            bound
        };
        let (loose, narrow) = (bound_of(&full, 2), bound_of(&diagonal, 1));
        let ctx = Context::default();
        let best = full.solve(1e-9, 1000, &ctx).unwrap();
        let best_diagonal = diagonal.solve(1e-9, 1000, &ctx).unwrap();
        assert!(best.gap <= 1e-9 && best.value <= loose && best_diagonal.value <= narrow);
        // Full metrics include diagonal ones; both values are in units of the similar pairs.
        assert!(best_diagonal.value <= best.value * (1.0 + 1e-9));
    }
}

#[test]
fn metric_is_equivariant_to_units() {
    let (x, near, far) = random_problem(3, 30, 4, 50);
    let unit = [1e-9, 1.0, 1e7, 30.0];
    let scaled = &x * &Array1::from(unit.to_vec());
    for diagonal in FORMS {
        let learner = XingMetric { tol: 1e-9, ..with(diagonal) };
        let (a, b) = (learn(&learner, &x, &near, &far), learn(&learner, &scaled, &near, &far));
        let back = Array2::from_shape_fn((4, 4), |(i, j)| metric(&b)[[i, j]] * unit[i] * unit[j]);
        // The error of both is about the square root of 1e-9.
        assert!((metric(&a) - &back).iter().all(|e| e.abs() < 1e-3), "{diagonal} {} {back}", metric(&a));
        assert_eq!(a.features(), b.features());
    }
    // A full metric is equivariant to any linear transformation.
    let sheared = x.dot(&array![
        [1.0, 2.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 3.0],
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 5.0]
    ]);
    let (a, b) = (learn(&with(false), &x, &near, &far), learn(&with(false), &sheared, &near, &far));
    let (a, b) = (value(&x, metric(&a), &near, &far), value(&sheared, metric(&b), &near, &far));
    // Each is within 1e-6 of the same optimum.
    assert!((a / b - 1.0).abs() < 2e-6, "{a} {b}");
}

#[test]
fn mean_squared_distance_is_one_and_the_metric_is_valid() {
    let (x, near, far) = random_problem(4, 30, 5, 50);
    for diagonal in FORMS {
        let learned = learn(&with(diagonal), &x, &near, &far);
        let a = metric(&learned);
        let sum: f64 = near.iter().chain(&far).map(|&pair| square(&x, a, pair)).sum();
        assert!((sum / 100.0 - 1.0).abs() < 1e-12, "{sum}");
        learned.kernel.validate(5).unwrap();
        assert_eq!(learned.with_noise(), learned.kernel);
        assert_eq!(
            (learned.method.as_str(), learned.noise),
            (if diagonal { "xing-diagonal" } else { "xing" }, 0.0)
        );
    }
}

/// Two classes that lie far apart along `direction`, with noise of standard deviation 1.
fn planted(direction: &Array1<f64>, n: usize) -> (Array2<f64>, Vec<Triplet>) {
    let mut rng = Rng::new(5);
    let side = |i: usize| if i.is_multiple_of(2) { 5.0 } else { -5.0 };
    let x = Array2::from_shape_fn((n, direction.len()), |(i, j)| rng.normal() + side(i) * direction[j]);
    let triplet = |_| {
        let i = rng.below(n);
        let mut other = |odd: usize| 2 * rng.below(n / 2 - 1) + (i + odd) % 2;
        let (j, k) = (other(0), other(1));
        if j == i { [i, (i + 2) % n, k] } else { [i, j, k] }
    };
    let triplets = (0..400).map(triplet).collect();
    (x, triplets)
}

#[test]
fn a_planted_direction_is_found() {
    let direction = array![0.6, 0.0, -0.64, 0.48];
    let (x, triplets) = planted(&direction, 120);
    let learned = with(false).learn(&Dataset::unlabeled(x).unwrap(), &triplets, &Context::default());
    let eigen = symmetric_eigen(metric(&learned.unwrap()).view()).unwrap();
    assert!(eigen.values[1] < 0.05 * eigen.values[0], "{}", eigen.values);
    // 120 rows with standard deviation 1 about means 10 apart: the angular error is about 0.1.
    assert!(eigen.vectors.column(0).dot(&direction).abs() > 0.98, "{}", eigen.vectors.column(0));
    let (x, triplets) = planted(&array![0.0, 1.0, 0.0, 0.0], 120);
    let learned = with(true).learn(&Dataset::unlabeled(x).unwrap(), &triplets, &Context::default());
    let scores = learned.unwrap().scores;
    assert!(scores[1] == 1.0 && (0..4).all(|j| j == 1 || scores[j] < 0.1), "{scores:?}");
}
