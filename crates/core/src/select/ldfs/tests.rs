use super::*;
use crate::data::synthetic::{Pattern, Synthetic};
use crate::data::{BuiltIn, SparseRows, Target, Weights};
use crate::optim::{Criterion, LeastSquares, Regularizer, gradient_error, row_norm};
use crate::outcome::Stop;
use crate::random::Rng;
use ndarray::{Array2, Axis, concatenate, s};

const FORMS: [LdfsForm; 3] = [LdfsForm::LeastSquares, LdfsForm::Normalized, LdfsForm::Constrained];

fn wine() -> Dataset {
    BuiltIn::by_name("wine").unwrap().data().unwrap()
}

fn with(form: LdfsForm) -> Ldfs {
    Ldfs { form, ..Ldfs::default() }
}

fn select(method: &Ldfs, data: &Dataset, wanted: FeatureCount) -> Selection {
    method.select(data, wanted, &Context::default()).unwrap()
}

/// The standardized features and the targets, computed directly.
fn by_hand(data: &Dataset) -> (Array2<f64>, Array2<f64>) {
    let mut x = data.x().to_dense();
    for mut column in x.columns_mut() {
        let n = column.len() as f64;
        let mean = column.sum() / n;
        column -= mean;
        let std = (column.iter().map(|v| v * v).sum::<f64>() / n).sqrt();
        column /= std;
    }
    let classes = data.classes("t").unwrap();
    let (n, counts) = (data.n() as f64, classes.counts());
    let t = Array2::from_shape_fn((data.n(), counts.len()), |(i, c)| {
        let inside = if classes.codes[i] == c { (n / counts[c] as f64).sqrt() } else { 0.0 };
        inside - (counts[c] as f64 / n).sqrt()
    });
    (x, t)
}

#[test]
fn every_point_of_the_wine_path_is_optimal() {
    let data = wine();
    let (x, t) = by_hand(&data);
    let n = data.n() as f64;
    let negative_gradient = |w: &Array2<f64>| x.t().dot(&(&t - &x.dot(w))) / n;
    let size = |g: &Array2<f64>, j: usize| g.row(j).iter().map(|v| v.abs()).sum::<f64>();
    let at_zero = negative_gradient(&Array2::zeros((13, 3)));
    let first_penalty = (0..13).map(|j| size(&at_zero, j)).fold(0.0, f64::max);
    let full = select(&Ldfs::default(), &data, FeatureCount::Auto);
    assert!((full.path[0].strength / first_penalty - 1.0).abs() < 1e-12);
    assert!(full.path[0].features.is_empty(), "all weights are zero at the first penalty");
    let below =
        select(&Ldfs { penalty: Some(0.999 * first_penalty), ..Ldfs::default() }, &data, FeatureCount::Auto);
    assert_eq!(below.path.last().unwrap().features.len(), 1, "one feature enters below");
    assert_eq!(full.path.len(), 61);
    assert!(full.path.windows(2).all(|p| p[1].objective < p[0].objective));
    for fraction in [0.5, 0.1, 0.01] {
        let lambda = fraction * first_penalty;
        let selection = select(&Ldfs { penalty: Some(lambda), ..Ldfs::default() }, &data, FeatureCount::Auto);
        let last = selection.path.last().unwrap();
        assert!(last.strength == lambda && last.stop == Stop::Tolerance && last.optimality <= 1e-6);
        let w = selection.coef.unwrap();
        let g = negative_gradient(&w);
        for j in 0..13 {
            let max_abs = w.row(j).iter().fold(0.0_f64, |a, v| a.max(v.abs()));
            // First-order conditions, to the tolerance in each of three entries.
            assert!(size(&g, j) <= lambda + 3e-6, "{fraction} {j}");
            assert!((g.row(j).dot(&w.row(j)) - lambda * max_abs).abs() <= 3e-6, "{fraction} {j}");
        }
        let residual = &t - &x.dot(&w);
        let objective = residual.iter().map(|v| v * v).sum::<f64>() / (2.0 * n) + lambda * row_norm(&w);
        assert!((objective - last.objective).abs() < 1e-12, "the objective includes the penalty");
    }
    // Features enter as the penalty decreases.
    let counts: Vec<usize> = [0.8, 0.5, 0.3, 0.1, 0.03]
        .map(|fraction| n_features_at(&full, fraction * first_penalty))
        .into_iter()
        .collect();
    assert!(counts.windows(2).all(|c| c[0] <= c[1]) && counts[0] <= 3 && counts[4] >= 8, "{counts:?}");
}

/// Number of features at the last path point at or above a penalty.
fn n_features_at(selection: &Selection, lambda: f64) -> usize {
    selection.path.iter().rfind(|p| p.strength >= lambda).unwrap().features.len()
}

#[test]
fn every_form_reaches_requested_numbers() {
    let data = wine();
    let mut missed = vec![];
    for form in FORMS {
        for k in [1, 2, 5, 9] {
            let selection = select(&with(form), &data, FeatureCount::Count(k));
            assert_eq!(selection.selected().len(), k, "{form:?}");
            let last = selection.path.last().unwrap();
            let n_nonzero = last.features.len();
            let scored: Vec<usize> = (0..13).filter(|&j| selection.scores[j] > 0.0).collect();
            assert_eq!(scored.len(), n_nonzero.min(k), "dropped features have no score: {form:?} {k}");
            assert!(scored.iter().all(|j| selection.selected().contains(j)), "{form:?} {k}");
            // Two features may enter at once; a non-convex path may jump a little further.
            let slack = if form == LdfsForm::LeastSquares { 1 } else { 2 };
            if n_nonzero < k || n_nonzero > k + slack {
                missed.push((form, k, n_nonzero));
            }
            assert!(selection.path.windows(2).all(|p| p[1].strength < p[0].strength), "{form:?} {k}");
            assert!(selection.path.iter().all(|p| p.stop.converged()), "{form:?} {k}");
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
    assert!(!Ldfs::default().nested());
}

#[test]
fn duplicating_a_feature_does_not_change_the_objective() {
    let data = wine();
    let x = data.x().to_dense();
    let twice = concatenate![Axis(1), x, x.slice(s![.., 6..7])];
    let twice = Dataset::with_target(twice, data.target().clone()).unwrap();
    let lambda = Some(0.1);
    let (a, b) = (
        select(&Ldfs { penalty: lambda, ..Ldfs::default() }, &data, FeatureCount::Auto),
        select(&Ldfs { penalty: lambda, ..Ldfs::default() }, &twice, FeatureCount::Auto),
    );
    // Each objective is within 1e-6 of the minimum, relative to the objective at zero, 1.
    let (a, b) = (a.path.last().unwrap().objective, b.path.last().unwrap().objective);
    assert!((a - b).abs() <= 1e-6, "{a} {b}");
}

#[test]
fn sparse_and_dense_rows_agree() {
    let mut rng = Rng::new(6);
    let x = Array2::from_shape_simple_fn((80, 30), || {
        let v = rng.normal();
        if v > 0.3 { v } else { 0.0 }
    });
    let codes: Vec<usize> = x
        .rows()
        .into_iter()
        .map(|r| usize::from(r[3] + r[8] > r[5] + 0.4) + usize::from(r[20] > 1.0))
        .collect();
    let dense = Dataset::labeled(x.clone(), codes).unwrap();
    let sparse = dense.with_x(SparseRows::of(&x)).unwrap();
    for form in FORMS {
        for wanted in [FeatureCount::Auto, FeatureCount::Count(4)] {
            let (a, b) = (select(&with(form), &dense, wanted), select(&with(form), &sparse, wanted));
            let largest = a.scores.iter().copied().fold(0.0, f64::max);
            // Different rounding on the way to the same tolerance.
            let close = a.scores.iter().zip(&b.scores).all(|(a, b)| (a - b).abs() <= 1e-4 * largest);
            assert!(close && a.n_selected == b.n_selected, "{form:?} {wanted:?}");
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let planted = Synthetic { pattern: Pattern::Linear, rows: 300, columns: 300, ..Synthetic::default() };
    let data = planted.make().unwrap().data;
    let on = |threads: usize, form: LdfsForm| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| select(&Ldfs { n_penalties: 31, ..with(form) }, &data, FeatureCount::Count(3)))
    };
    for form in FORMS {
        assert_eq!(on(1, form), on(2, form), "{form:?}");
    }
}

#[test]
fn relevant_features_are_found_with_every_seed() {
    for seed in 0..10 {
        let synthetic =
            Synthetic { pattern: Pattern::Linear, rows: 500, columns: 100, seed, ..Synthetic::default() };
        let planted = synthetic.make().unwrap();
        for form in FORMS {
            let found = select(&with(form), &planted.data, FeatureCount::Count(2));
            assert!(planted.relevant.iter().all(|j| found.selected().contains(j)), "{form:?} {seed}");
        }
    }
}

#[test]
fn noisy_copies_are_not_all_selected() {
    for seed in 0..3 {
        let synthetic =
            Synthetic { pattern: Pattern::Redundant, rows: 500, columns: 50, seed, ..Synthetic::default() };
        let planted = synthetic.make().unwrap();
        // Features 0 and 1 of these are the originals, 2 and 3 copies of the first, 4 and 5 of the second.
        let r = &planted.relevant;
        let kept = select(&Ldfs::default(), &planted.data, FeatureCount::Count(2)).selected().to_vec();
        let kinds = [[r[0], r[2], r[3]], [r[1], r[4], r[5]]];
        assert!(
            kinds.iter().all(|kind| kept.iter().filter(|j| kind.contains(j)).count() == 1),
            "{seed}: {kept:?}"
        );
    }
}

#[test]
fn more_columns_than_rows() {
    let synthetic =
        Synthetic { pattern: Pattern::Linear, rows: 60, columns: 400, seed: 1, ..Synthetic::default() };
    let planted = synthetic.make().unwrap();
    for form in FORMS {
        let selection = select(&Ldfs { n_penalties: 21, ..with(form) }, &planted.data, FeatureCount::Auto);
        assert!(selection.path.iter().all(|p| p.objective.is_finite()), "{form:?}");
        assert!(planted.relevant.iter().all(|j| selection.order[..6].contains(j)), "{form:?}");
        assert!(selection.scores.contains(&0.0), "{form:?}: exact zeros");
    }
}

#[test]
fn ratio_forms_find_the_global_minimum_in_two_dimensions() {
    // Two classes, two features: search the full circle of directions.
    let mut rng = Rng::new(5);
    let x = Array2::from_shape_simple_fn((60, 2), || rng.normal());
    let codes =
        x.rows().into_iter().map(|r| usize::from(r[0] + 0.6 * r[1] + 0.3 * rng.normal() > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    let (x, _) = by_hand(&data);
    let classes = data.classes("t").unwrap();
    let (mut between, mut within) = (Array2::<f64>::zeros((2, 2)), Array2::<f64>::eye(2) * 0.1);
    for c in 0..2 {
        let rows: Vec<usize> = (0..60).filter(|&i| classes.codes[i] == c).collect();
        let part = x.select(Axis(0), &rows);
        let mean = part.mean_axis(Axis(0)).unwrap().insert_axis(Axis(0));
        between = between + mean.t().dot(&mean) * (rows.len() as f64 / 60.0);
        let residual = &part - &mean;
        within = within + residual.t().dot(&residual) / 60.0;
    }
    for form in [LdfsForm::Normalized, LdfsForm::Constrained] {
        for lambda in [0.02, 0.2, 1.0] {
            let selection = select(&Ldfs { penalty: Some(lambda), ..with(form) }, &data, FeatureCount::Auto);
            let objective = |w: &Array2<f64>| {
                let b = w.t().dot(&within).dot(w)[[0, 0]];
                let norm = match form {
                    LdfsForm::Normalized => w.iter().map(|v| v * v).sum::<f64>().sqrt(),
                    _ => b.sqrt(),
                };
                -w.t().dot(&between).dot(w)[[0, 0]] / b + lambda * row_norm(w) / norm
            };
            let least = (0..20_000)
                .map(|i| {
                    let angle = std::f64::consts::PI * f64::from(i) / 20_000.0;
                    objective(&Array2::from_shape_vec((2, 1), vec![angle.cos(), angle.sin()]).unwrap())
                })
                .fold(f64::INFINITY, f64::min);
            let got = selection.path.last().unwrap().objective;
            assert!((objective(selection.coef.as_ref().unwrap()) - got).abs() < 1e-10, "{form:?} {lambda}");
            assert!(got <= least + 1e-9, "{form:?} {lambda}: {got} {least}");
        }
    }
}

#[test]
fn weights_have_the_fixed_norm() {
    let data = wine();
    let normalized = select(&with(LdfsForm::Normalized), &data, FeatureCount::Auto).coef.unwrap();
    assert!((normalized.iter().map(|w| w * w).sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(normalized.dim(), (13, 1));
    // Class weights in the between-class scatter matter if classes differ in size.
    let unweighted = Ldfs { weighted_scatter: false, ..with(LdfsForm::Normalized) };
    assert_ne!(select(&unweighted, &data, FeatureCount::Auto).coef.unwrap(), normalized);
}

#[test]
fn a_spectral_solve_of_the_same_problem_is_not_better() {
    let data = wine();
    let design = standard_columns(NAME, &data, 2, &Context::default()).unwrap();
    let problem =
        LeastSquares::new(design, indicators(data.classes("t").unwrap(), Weights::ONE), data.groups())
            .unwrap();
    let mut rng = Rng::new(3);
    let w = Array2::from_shape_simple_fn((13, 3), || rng.normal());
    assert!(gradient_error(&problem, &w, 1e-5) < 1e-6);
    for lambda in [0.5, 0.1, 0.01] {
        let ours = select(&Ldfs { penalty: Some(lambda), ..Ldfs::default() }, &data, FeatureCount::Auto);
        let solver = Spectral { tolerance: 1e-9, max_iterations: 20_000, ..Spectral::default() };
        let other = solver
            .minimize(
                &problem,
                Regularizer::Penalty(lambda),
                Array2::zeros(problem.shape()),
                &Context::default(),
            )
            .unwrap();
        assert!(ours.path.last().unwrap().objective <= other.objective + 1e-6, "{lambda}");
    }
}

#[test]
fn constant_features_come_last_and_invalid_parameters_are_errors() {
    let data = wine();
    let x = data.x().to_dense();
    let wide = concatenate![Axis(1), Array2::from_elem((x.nrows(), 1), 3.3), x];
    let wide = Dataset::with_target(wide, data.target().clone()).unwrap();
    for form in FORMS {
        let selection = select(&with(form), &wide, FeatureCount::Count(5));
        assert_eq!((*selection.order.last().unwrap(), selection.scores[0]), (0, 0.0), "{form:?}");
    }
    let error_of = |method: Ldfs, wanted: FeatureCount| {
        method.select(&data, wanted, &Context::default()).unwrap_err().to_string()
    };
    let error = error_of(Ldfs { penalty: Some(0.1), ..Ldfs::default() }, FeatureCount::Count(2));
    assert!(error.contains("'penalty' must be left out where a number of features is given"), "{error}");
    for method in [
        Ldfs { penalty: Some(-1.0), ..Ldfs::default() },
        Ldfs { n_penalties: 1, ..Ldfs::default() },
        Ldfs { penalty_ratio: 0.0, ..Ldfs::default() },
        Ldfs { ridge: 0.0, ..Ldfs::default() },
        Ldfs { max_iter: 0, ..Ldfs::default() },
    ] {
        assert!(error_of(method, FeatureCount::Auto).starts_with("LDFS: parameter"));
    }
    let flat = Dataset::labeled(Array2::ones((4, 2)), vec![0, 1, 0, 1]).unwrap();
    assert_eq!(select(&Ldfs::default(), &flat, FeatureCount::Auto).n_selected, 0);
    let error =
        with(LdfsForm::Normalized).select(&flat, FeatureCount::Auto, &Context::default()).unwrap_err();
    assert!(error.to_string().contains("all columns are constant"), "{error}");
    let numbers = Dataset::with_target(Array2::ones((4, 2)), Target::Continuous(vec![1.0, 2.0, 3.0, 4.0]));
    assert!(Ldfs::default().select(&numbers.unwrap(), FeatureCount::Auto, &Context::default()).is_err());
}
