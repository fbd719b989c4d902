//! Properties of SVMs: solutions are optimal, whatever the start, the cache and the shrinking.

use kernsift::Context;
use kernsift::classify::{ClassWeight, Svm, SvmModel, SvmSearch};
use kernsift::data::{Classes, Dataset, Rows, SparseRows, Weights};
use kernsift::internals::Rng;
use kernsift::internals::{BlockColumns, KernelColumns, PairProblem, PairStart, Smo, SmoSolution};
use kernsift::kernel::{CachedColumns, Family, Gamma, Kernel, KernelChoice, gram_symmetric};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

const TOLERANCE: f64 = 1e-6;

/// A random problem: rows, signs, bounds and a kernel.
#[derive(Debug, Clone)]
struct Case {
    x: Array2<f64>,
    signs: Vec<f64>,
    bounds: Vec<f64>,
    kernel: Kernel,
}

fn cases() -> impl Strategy<Value = Case> {
    let kernels = prop_oneof![
        Just(Kernel::Linear),
        (0.01..5.0).prop_map(|gamma| Kernel::Rbf { gamma }),
        (1u32..4).prop_map(|degree| Kernel::Polynomial { degree, gamma: 0.5, coef0: 1.0 }),
        (0.1..2.0).prop_map(|gamma| Kernel::Laplacian { gamma }),
    ];
    (2usize..70, 1usize..6, any::<u64>(), -2.0..2.0f64, kernels).prop_map(|(n, d, seed, size, kernel)| {
        let mut rng = Rng::new(seed);
        let mut x = Array2::from_shape_simple_fn((n, d), || rng.normal());
        // Some duplicate rows.
        for i in 0..n / 8 {
            let copy = x.row(i).to_owned();
            x.row_mut(n - 1 - i).assign(&copy);
        }
        let mut signs: Vec<f64> =
            x.rows().into_iter().map(|r| if r[0] + 0.8 * rng.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        (signs[0], signs[n - 1]) = (1.0, -1.0);
        let bounds = (0..n).map(|_| 10f64.powf(size) * (0.2 + rng.uniform())).collect();
        Case { x, signs, bounds, kernel }
    })
}

impl Case {
    fn problem(&self) -> PairProblem<'_> {
        PairProblem { signs: &self.signs, bounds: &self.bounds, start: None }
    }

    fn gram(&self) -> Array2<f64> {
        gram_symmetric(&self.kernel, &self.x.clone().into()).unwrap()
    }

    fn solve(&self, smo: Smo, problem: &PairProblem) -> SmoSolution {
        let rows: Vec<usize> = (0..self.signs.len()).collect();
        let k = self.gram();
        let mut columns = BlockColumns::new(k.view(), &rows);
        smo.solve(problem, &mut columns, &Context::default()).unwrap()
    }

    /// The violation of the optimality conditions, computed from the full matrix.
    fn violation(&self, solution: &SmoSolution) -> f64 {
        let beta = ndarray::Array1::from(solution.coefficients.clone());
        let residual = &ndarray::Array1::from(self.signs.clone()) - &self.gram().dot(&beta);
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in 0..beta.len() {
            let alpha = self.signs[i] * beta[i];
            assert!((0.0..=self.bounds[i]).contains(&alpha), "outside its bounds: {alpha}");
            let (may_grow, may_shrink) = (alpha < self.bounds[i], alpha > 0.0);
            let (in_up, in_low) =
                if self.signs[i] > 0.0 { (may_grow, may_shrink) } else { (may_shrink, may_grow) };
            if in_up {
                highest = highest.max(residual[i]);
            }
            if in_low {
                lowest = lowest.min(residual[i]);
            }
        }
        highest - lowest
    }

    /// The size of the terms of $f$, which determines its rounding error.
    fn scale(&self, solution: &SmoSolution) -> f64 {
        let largest = self.gram().iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        1.0 + largest * solution.coefficients.iter().map(|b| b.abs()).sum::<f64>()
    }
}

/// The iteration limit is only a safeguard: with linear kernels and large bounds a few cases take millions of steps.
fn tight() -> Smo {
    Smo { tolerance: TOLERANCE, max_iterations: 40_000_000, shrinking: true }
}

/// The largest difference of the objectives of two solutions: each is above the minimum by at most the violation times
/// the sum of bounds, plus rounding.
fn max_difference(case: &Case, solution: &SmoSolution) -> f64 {
    2.0 * TOLERANCE * case.bounds.iter().sum::<f64>() + 1e-9 * case.scale(solution)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn solutions_are_optimal(case in cases()) {
        let solution = case.solve(tight(), &case.problem());
        prop_assert!(solution.converged);
        let sum: f64 = solution.coefficients.iter().sum();
        prop_assert!(sum.abs() <= 1e-12 * case.scale(&solution), "{sum}");
        // The solver updates f incrementally; a full sum differs by rounding of its terms.
        let allowed = TOLERANCE + 1e-11 * case.scale(&solution);
        let violation = case.violation(&solution);
        prop_assert!(violation < allowed, "{violation} {allowed}");
        let beta = ndarray::Array1::from(solution.coefficients.clone());
        let signs = ndarray::Array1::from(case.signs.clone());
        let objective = 0.5 * beta.dot(&case.gram().dot(&beta)) - signs.dot(&beta);
        prop_assert!((objective - solution.objective).abs() <= 1e-10 * case.scale(&solution).powi(2));
    }

    #[test]
    fn shrinking_and_warm_starts_do_not_change_the_solution(case in cases(), fraction in 0.05..0.95f64) {
        let plain = case.solve(Smo { shrinking: false, ..tight() }, &case.problem());
        let shrunk = case.solve(tight(), &case.problem());
        prop_assert!((plain.objective - shrunk.objective).abs() <= max_difference(&case, &plain));
        // Starts: the solution at lower bounds, unchanged and scaled up.
        let bounds: Vec<f64> = case.bounds.iter().map(|c| c * fraction).collect();
        let lower = case.solve(tight(), &PairProblem { bounds: &bounds, ..case.problem() });
        let grown: Vec<f64> = lower.coefficients.iter().zip(&case.bounds)
            .map(|(b, c)| (b / fraction).clamp(-c, *c)).collect();
        let grown_residual: Vec<f64> =
            lower.residual.iter().zip(&case.signs).map(|(r, sign)| sign - (sign - r) / fraction).collect();
        // A wrong residual is corrected before the end.
        let wrong: Vec<f64> = lower.residual.iter().enumerate().map(|(i, r)| r + 1e-4 * (i as f64).sin()).collect();
        let (lower, grown) = ((&lower.coefficients, &lower.residual), (&grown, &grown_residual));
        for (start, residual) in [
            (lower.0, None),
            (lower.0, Some(lower.1)),
            (lower.0, Some(&wrong)),
            (grown.0, None),
            (grown.0, Some(grown.1)),
        ] {
            let start = PairStart { coefficients: start, residual: residual.map(|r| &r[..]) };
            let warm = case.solve(tight(), &PairProblem { start: Some(start), ..case.problem() });
            prop_assert!(warm.converged, "{} {:e}", warm.iterations, case.violation(&warm));
            prop_assert!((plain.objective - warm.objective).abs() <= max_difference(&case, &plain));
            prop_assert!(case.violation(&warm) < TOLERANCE + 1e-11 * case.scale(&warm));
        }
    }

    #[test]
    fn a_cache_of_any_size_gives_the_same_solution(case in cases(), columns in 0usize..20) {
        let full = case.solve(tight(), &case.problem());
        let x: Rows = case.x.clone().into();
        let mut cached = CachedColumns::new(&case.kernel, &x, columns * 8 * x.n()).unwrap();
        let found = tight().solve(&case.problem(), &mut cached, &Context::default()).unwrap();
        prop_assert!((full.objective - found.objective).abs() <= max_difference(&case, &full));
        prop_assert!(case.violation(&found) < TOLERANCE + 1e-11 * case.scale(&found));
    }
}

/// Curved class boundaries with noise, and enough rows for shrinking.
fn curved(n: usize, classes: usize, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed);
    let x = Array2::from_shape_simple_fn((n, 4), || rng.normal());
    let codes = x
        .rows()
        .into_iter()
        .map(|r| (((r[0] * r[0] + r[1] + 0.4 * rng.normal()).abs() * 1.3) as usize).min(classes - 1))
        .collect();
    Dataset::labeled(x, codes).unwrap()
}

fn rbf(gamma: f64, c: f64) -> Svm {
    Svm { kernel: Kernel::Rbf { gamma }.into(), c, ..Svm::default() }
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn results_do_not_depend_on_threads() {
    let data = curved(700, 3, 1);
    let ctx = Context::default();
    // Three values of gamma: sequential, two at a time, and all in parallel.
    let gamma = vec![Gamma::Value(0.1), Gamma::Value(0.5), Gamma::Value(2.0)];
    let search = SvmSearch { c: vec![0.1, 10.0], gamma, ..SvmSearch::default() };
    // The matrix of 700 rows takes 4 MiB, and half of the memory is for matrices: the last limit is enough for one gamma
    // with its folds, but not for three in parallel.
    let small_memory = Context { memory_limit: 60 << 20, ..ctx };
    let results = [(1, &ctx), (2, &ctx), (4, &ctx), (4, &small_memory)].map(|(threads, ctx)| {
        on_threads(threads, || {
            let found = search.fit(&data, ctx).unwrap();
            let values = found.model.decision_values(data.x(), ctx).unwrap();
            (found, values)
        })
    });
    assert!(results.windows(2).all(|w| w[0] == w[1]));
}

/// Counts shrinking and column accesses.
struct Counted<'a> {
    columns: BlockColumns<'a>,
    n_shrinks: usize,
    n_columns: usize,
}

impl KernelColumns for Counted<'_> {
    fn len(&self) -> usize {
        self.columns.len()
    }

    fn diagonal(&self) -> &[f64] {
        self.columns.diagonal()
    }

    fn with_column<T>(&mut self, i: usize, visit: impl FnOnce(&[f64], &[f64]) -> T) -> T {
        self.n_columns += 1;
        self.columns.with_column(i, visit)
    }

    fn shrink(&mut self, keep: &[usize]) {
        self.n_shrinks += 1;
        self.columns.shrink(keep);
    }

    fn unshrink(&mut self) {
        self.columns.unshrink();
    }

    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]) {
        self.columns.combine(weights, rows, out);
    }
}

#[test]
fn shrinking_is_used_and_does_not_change_the_solution() {
    let data = curved(1500, 2, 3);
    let ctx = Context::default();
    let k = gram_symmetric(&Kernel::Rbf { gamma: 2.0 }, data.x()).unwrap();
    let codes = &data.classes("t").unwrap().codes;
    let signs: Vec<f64> = codes.iter().map(|&c| if c == 0 { 1.0 } else { -1.0 }).collect();
    let problem = PairProblem { signs: &signs, bounds: &[50.0; 1500], start: None };
    let rows: Vec<usize> = (0..1500).collect();
    let solved = |shrinking: bool, problem: &PairProblem| {
        let mut columns = Counted { columns: BlockColumns::new(k.view(), &rows), n_shrinks: 0, n_columns: 0 };
        let smo = Smo { tolerance: 1e-5, shrinking, ..Smo::default() };
        let found = smo.solve(problem, &mut columns, &ctx).unwrap();
        assert!(found.converged);
        (found, columns.n_shrinks, columns.n_columns)
    };
    let (found, n_shrinks, n_columns) = solved(true, &problem);
    assert!(n_shrinks > 0 && n_columns > 0 && solved(false, &problem).1 == 0);
    // An optimal start is detected without any column and returned unchanged.
    let start = Some(PairStart::at(&found.coefficients));
    let (again, _, n_columns) = solved(true, &PairProblem { start, ..problem });
    assert_eq!((again.coefficients, again.iterations, n_columns), (found.coefficients.clone(), 0, 0));
    let fit = |shrinking: bool, limit: u64| {
        let svm = Svm { tol: 1e-5, shrinking, ..rbf(2.0, 50.0) };
        svm.fit(&data, &Context { memory_limit: limit, ..Context::default() }).unwrap()
    };
    let plain = fit(false, u64::MAX);
    // A small memory limit forces the column cache, of 100 columns.
    for other in [fit(true, u64::MAX), fit(true, 2 * 100 * 8 * 1500), fit(false, 2 * 100 * 8 * 1500)] {
        let (a, b) =
            (plain.decision_values(data.x(), &ctx).unwrap(), other.decision_values(data.x(), &ctx).unwrap());
        let worst = (&a - &b).iter().fold(0.0_f64, |m, e| m.max(e.abs()));
        // The tolerance applies to f, a decision value up to the intercept; a hundred times it for directions of small
        // eigenvalues.
        assert!(worst < 1e-3, "{worst}");
        let (a, b) = (plain.svms().svms[0].objective, other.svms().svms[0].objective);
        assert!((a - b).abs() < 1e-6 * a.abs(), "{a} {b}");
    }
}

#[test]
fn sparse_and_dense_rows_agree() {
    let mut rng = Rng::new(9);
    let x = Array2::from_shape_simple_fn((120, 30), || if rng.uniform() < 0.7 { 0.0 } else { rng.normal() });
    let codes: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r.sum() > 0.0)).collect();
    let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
    for row in x.rows() {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            column.push(j as u32);
            value.push(*v);
        }
        start.push(column.len());
    }
    let dense = Dataset::labeled(x, codes).unwrap();
    let sparse = dense.with_x(SparseRows::new(30, start, column, value).unwrap()).unwrap();
    let ctx = Context::default();
    for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 0.05 }] {
        let svm = Svm { kernel: kernel.into(), tol: 1e-8, ..Svm::default() };
        let values = |data: &Dataset| svm.fit(data, &ctx).unwrap().decision_values(data.x(), &ctx).unwrap();
        let worst = (&values(&dense) - &values(&sparse)).iter().fold(0.0_f64, |m, e| m.max(e.abs()));
        // Kernels agree to rounding; solutions to the tolerance.
        assert!(worst < 1e-6, "{worst}");
    }
}

#[test]
fn fit_gram_agrees_with_fit() {
    let data = curved(150, 3, 4);
    let ctx = Context::default();
    let kernel = Kernel::Rbf { gamma: 0.7 };
    let k = gram_symmetric(&kernel, data.x()).unwrap();
    let svm = rbf(0.7, 3.0);
    let svms = svm.fit_gram(k.view(), data.classes("t").unwrap(), &ctx).unwrap();
    let model = svm.fit(&data, &ctx).unwrap();
    let (a, b) = (svms.decision_values(k.view()), model.decision_values(data.x(), &ctx).unwrap());
    // Equal coefficients, but kernel values are rounded differently.
    assert!((&a - &b).iter().all(|e| e.abs() < 1e-10));
    assert!(svm.fit_gram(k.slice(ndarray::s![..9, ..]), data.classes("t").unwrap(), &ctx).is_err());
}

#[test]
fn class_weights_move_the_boundary() {
    let data = curved(200, 2, 6);
    let ctx = Context::default();
    let codes = &data.classes("t").unwrap().codes;
    let predicted = |class_weight: ClassWeight| {
        let svm = Svm { class_weight, ..rbf(0.5, 0.5) };
        let got = svm.fit(&data, &ctx).unwrap().predict(data.x(), &ctx).unwrap();
        got.iter().filter(|&&c| c == 1).count()
    };
    let plain = predicted(ClassWeight::None);
    assert_eq!(predicted(ClassWeight::Given(vec![1.0, 1.0])), plain);
    assert!(predicted(ClassWeight::Given(vec![1.0, 20.0])) > plain);
    assert!(predicted(ClassWeight::Given(vec![20.0, 1.0])) < plain);
    let classes = Classes::from_codes(codes.clone());
    let counts = classes.counts();
    let balanced = ClassWeight::Balanced.factors(&classes, Weights::ONE).unwrap();
    assert_eq!(balanced, counts.iter().map(|&c| 200.0 / (2.0 * c as f64)).collect::<Vec<_>>());
    let error = ClassWeight::Given(vec![1.0]).factors(&classes, Weights::ONE).unwrap_err().to_string();
    assert!(error.contains("'class_weight' must be one number for each of the 2 classes"), "{error}");
}

#[test]
fn a_class_with_zero_weight_is_never_predicted() {
    let data = curved(60, 2, 6);
    let ctx = Context::default();
    for (weights, class) in [(vec![0.0, 1.0], 1), (vec![1.0, 0.0], 0)] {
        let svm = Svm { class_weight: ClassWeight::Given(weights), ..rbf(0.5, 1.0) };
        let model = svm.fit(&data, &ctx).unwrap();
        assert!(model.predict(data.x(), &ctx).unwrap().iter().all(|&c| c == class));
    }
}

fn linear(c: f64) -> Svm {
    Svm { kernel: Kernel::Linear.into(), c, tol: 1e-6, ..Svm::default() }
}

#[test]
fn a_shift_of_the_features_does_not_change_the_model() {
    let data = curved(100, 3, 12);
    let ctx = Context::default();
    // Adding 1e7 to numbers of 24 bits is exact.
    let x = data.x().to_dense().mapv(|v| (v * 65536.0).round() / 65536.0);
    let near = data.with_x(x.clone()).unwrap();
    let far = data.with_x(x + 1e7).unwrap();
    let limits = [u64::MAX, 2 * 20 * 8 * 100];
    for limit in limits {
        let ctx = Context { memory_limit: limit, ..ctx };
        let fit = |data: &Dataset| linear(1.0).fit(data, &ctx).unwrap();
        let (a, b) = (fit(&near), fit(&far));
        assert!(b.outcome().stop.converged());
        let (a, b) = (a.decision_values(near.x(), &ctx).unwrap(), b.decision_values(far.x(), &ctx).unwrap());
        let worst = (&a - &b).iter().fold(0.0_f64, |m, e| m.max(e.abs()));
        // A few times the tolerance of 1e-6; rounding of values of 1e7 times the weights is about 1e-9.
        assert!(worst < 1e-5, "{worst}");
    }
    let search = |data: &Dataset| {
        SvmSearch { svm: linear(1.0), c: vec![0.1, 1.0], ..SvmSearch::default() }.fit(data, &ctx).unwrap()
    };
    let (a, b) = (search(&near), search(&far));
    assert_eq!(a.errors, b.errors);
    let (a, b) = (a.model.predict(near.x(), &ctx).unwrap(), b.model.predict(far.x(), &ctx).unwrap());
    assert_eq!(a, b);
}

#[test]
fn features_of_very_different_scales_reach_the_default_limit() {
    let mut rng = Rng::new(4);
    let mut x = Array2::from_shape_simple_fn((80, 6), || rng.normal());
    let codes = x.rows().into_iter().map(|r| usize::from(r[0] + r[1] + 0.5 * rng.normal() > 0.0)).collect();
    x.column_mut(5).mapv_inplace(|v| v * 1e5);
    let data = Dataset::labeled(x, codes).unwrap();
    let model = linear(1.0).fit(&data, &Context::default()).unwrap();
    let outcome = model.outcome();
    // The default limit is ten million steps, and the outcome reports it.
    assert_eq!((outcome.iterations, outcome.stop.converged()), (10_000_000, false));
}

#[test]
fn overflow_of_kernel_values_is_an_error() {
    let x = curved(50, 2, 6).x().to_dense() * 1e200;
    let data = curved(50, 2, 6).with_x(x).unwrap();
    let poly = Kernel::Polynomial { degree: 2, gamma: 1.0, coef0: 0.0 };
    for kernel in [Kernel::Linear, poly] {
        let svm = Svm { kernel: kernel.into(), ..Svm::default() };
        // The full matrix, or cached columns.
        for memory_limit in [u64::MAX, 16 * 8 * 50] {
            let ctx = Context { memory_limit, ..Context::default() };
            let one = svm.fit(&data, &ctx).unwrap_err().to_string();
            let search = SvmSearch { svm: svm.clone(), ..SvmSearch::default() };
            let many = search.fit(&data, &ctx).unwrap_err().to_string();
            for error in [one, many] {
                assert!(error.contains("kernel values overflow; scale the features"), "{error}");
            }
        }
    }
    let mut k = gram_symmetric(&Kernel::Linear, curved(50, 2, 6).x()).unwrap();
    (k[[3, 7]], k[[7, 3]]) = (f64::INFINITY, f64::INFINITY);
    let error = svm_error(&k, &data);
    assert!(error.contains("overflow"), "{error}");
}

fn svm_error(k: &Array2<f64>, data: &Dataset) -> String {
    let classes = data.classes("t").unwrap();
    Svm::default().fit_gram(k.view(), classes, &Context::default()).unwrap_err().to_string()
}

#[test]
fn fits_with_a_column_cache_can_be_interrupted() {
    struct InterruptLater(std::sync::atomic::AtomicUsize);
    impl kernsift::Observer for InterruptLater {
        fn interrupted(&self) -> bool {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 20
        }
    }
    let data = curved(1500, 2, 3);
    let observer = InterruptLater(0.into());
    let ctx = Context { memory_limit: 2 * 100 * 8 * 1500, observer: &observer, ..Context::default() };
    // A few thousand steps: a check every thousand would not reach twenty.
    let svm = Svm { max_iter: Some(1000), ..rbf(2.0, 50.0) };
    assert!(svm.fit(&data, &ctx).unwrap_err().is_interrupted());
}

#[test]
fn messages_name_invalid_parameters() {
    let data = curved(50, 2, 6);
    let ctx = Context::default();
    for (svm, name) in [(rbf(1.0, 0.0), "'C'"), (Svm { tol: 0.0, ..rbf(1.0, 1.0) }, "'tol'")] {
        let error = svm.fit(&data, &ctx).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    let search = SvmSearch { folds: 1, ..SvmSearch::default() };
    assert!(search.fit(&data, &ctx).unwrap_err().to_string().contains("'folds'"));
    let search = SvmSearch { c: vec![], ..SvmSearch::default() };
    assert!(search.fit(&data, &ctx).unwrap_err().to_string().contains("'C'"));
    let linear = KernelChoice::Named { family: Family::Linear, gamma: Gamma::Scale, degree: 1, coef0: 0.0 };
    let svm = Svm { kernel: linear, ..Svm::default() };
    let search = SvmSearch { svm, gamma: vec![Gamma::Scale], ..SvmSearch::default() };
    assert!(search.fit(&data, &ctx).unwrap_err().to_string().contains("'gamma'"));
}

/// The errors of the search equal those of separate fits for each fold and C.
#[test]
fn the_search_agrees_with_separate_fits() {
    let data = curved(160, 3, 8);
    let ctx = Context { seed: 5, ..Context::default() };
    // Both stop within a tolerance; a tight one makes all predictions equal.
    let svm = Svm { tol: 1e-8, ..Svm::default() };
    let gammas = [0.3, 0.05];
    let search = SvmSearch {
        svm: svm.clone(),
        c: vec![100.0, 0.5, 10.0],
        gamma: gammas.iter().map(|&g| Gamma::Value(g)).collect(),
        folds: 4,
    };
    let found = search.fit(&data, &ctx).unwrap();
    assert_eq!(found.errors.len(), 6);
    let classes = data.classes("t").unwrap();
    let folds = kernsift::data::stratified_folds(classes, 4, &mut Rng::stream(5, "svm folds"));
    let mut expected = vec![];
    for gamma in [0.05, 0.3] {
        for c in [0.5, 10.0, 100.0] {
            let mut wrong = 0;
            for fold in &folds {
                let svm = Svm { kernel: Kernel::Rbf { gamma }.into(), c, ..svm.clone() };
                let model = svm.fit(&data.take_rows(&fold.train), &ctx).unwrap();
                let test = data.take_rows(&fold.test);
                let got = model.predict(test.x(), &ctx).unwrap();
                wrong += got.iter().zip(&test.classes("t").unwrap().codes).filter(|(a, b)| a != b).count();
            }
            expected.push((gamma, c, wrong as f64 / 160.0));
        }
    }
    let got: Vec<_> = found.errors.iter().map(|p| (p.gamma.unwrap(), p.c, p.error)).collect();
    assert_eq!(got, expected);
    let smallest = expected.iter().map(|e| e.2).fold(1.0, f64::min);
    let ties: Vec<_> = expected.iter().filter(|e| e.2 == smallest).collect();
    let chosen = ties.iter().min_by(|a, b| (a.1, a.0).partial_cmp(&(b.1, b.0)).unwrap()).unwrap();
    assert_eq!((found.gamma.unwrap(), found.c), (chosen.0, chosen.1));
    let refitted =
        Svm { kernel: Kernel::Rbf { gamma: chosen.0 }.into(), c: chosen.1, ..svm }.fit(&data, &ctx).unwrap();
    assert_eq!(refitted, found.model);
    // Too little memory for the matrix: cached columns give the same errors.
    let small = Context { memory_limit: 200_000, ..ctx };
    let slow = search.fit(&data, &small).unwrap();
    assert_eq!(slow.errors, found.errors);
}

#[test]
fn a_class_may_be_absent_from_a_fold() {
    let mut data = curved(60, 2, 2);
    let mut codes = data.classes("t").unwrap().codes.clone();
    // One row of class 2, and class 3 has a name but no rows.
    codes[17] = 2;
    let names = (0..4).map(|c| c.to_string()).collect();
    let target = kernsift::data::Target::Classes(Classes::new(codes, names).unwrap());
    data = Dataset::with_target(data.x().clone(), target).unwrap();
    let ctx = Context::default();
    let found = SvmSearch { folds: 5, ..SvmSearch::default() }.fit(&data, &ctx).unwrap();
    assert!(found.errors.iter().all(|p| p.error >= 1.0 / 60.0), "the single row cannot be predicted");
    let model: &SvmModel = &found.model;
    assert_eq!(model.svms().present, [0, 1, 2]);
    assert_eq!(model.n_support()[2..], [1, 0]);
    let scores = model.class_scores(data.x(), &ctx).unwrap();
    assert!(scores.column(3).iter().all(|&s| s == -1.0));
    assert_eq!(scores.len_of(Axis(1)), 4);
    // Two rows, two folds: each training set has one class.
    let two = Dataset::labeled(ndarray::array![[0.0], [1.0]], vec![0, 1]).unwrap();
    let found = SvmSearch { folds: 2, ..SvmSearch::default() }.fit(&two, &ctx).unwrap();
    assert!(found.errors.iter().all(|p| p.error == 1.0));
    assert_eq!(found.c, 0.1);
}

#[test]
fn saved_models_are_restored() {
    let data = curved(80, 3, 2);
    let ctx = Context::default();
    let model = rbf(0.5, 1.0).fit(&data, &ctx).unwrap();
    let back: SvmModel = rmp_serde::from_slice(&rmp_serde::to_vec_named(&model).unwrap()).unwrap();
    assert!(back == model);
    let error = model.predict(&ndarray::array![[1.0]].into(), &ctx).unwrap_err().to_string();
    assert_eq!(error, "columns of the rows to classify: expected 4, got 1");
}
