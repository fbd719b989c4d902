use super::*;
use crate::data::synthetic::{Pattern, Synthetic, SyntheticDataset};
use crate::data::{Rows, SparseRows, Standardizer, Target};
use crate::optim::row_norm;
use ndarray::array;

fn planted(pattern: Pattern, rows: usize, columns: usize, seed: u64, continuous: bool) -> SyntheticDataset {
    let made = Synthetic { pattern, rows, columns, seed, continuous, ..Synthetic::default() }.make().unwrap();
    let x = Standardizer::fit(made.data.x()).apply(made.data.x()).unwrap();
    SyntheticDataset { data: made.data.with_x(x).unwrap(), relevant: made.relevant }
}

fn select(method: &Hsfs, data: &Dataset, wanted: FeatureCount) -> Selection {
    method.select(data, wanted, &Context::default()).unwrap()
}

fn found(selection: &Selection, planted: &SyntheticDataset) -> usize {
    selection.selected().iter().filter(|j| planted.relevant.contains(j)).count()
}

#[test]
fn relevant_features_are_found() {
    // Ten seeds of each are in docs/planted_truth.md; these few keep the test short.
    for (pattern, rows, wanted) in [
        (Pattern::Linear, 500, 2),
        (Pattern::Ring, 500, 2),
        (Pattern::Xor, 500, 2),
        (Pattern::XorRing, 1000, 4),
    ] {
        let planted = planted(pattern, rows, 100, 1, false);
        let selection = select(&Hsfs::default(), &planted.data, FeatureCount::Count(wanted));
        assert_eq!(found(&selection, &planted), wanted, "{pattern:?}");
    }
}

#[test]
fn a_noise_feature_with_a_small_weight_does_not_replace_a_weak_one() {
    for seed in 0..8 {
        let mut rng = Rng::new(seed);
        let x = Array2::from_shape_simple_fn((100, 4), || rng.normal());
        let y = x.rows().into_iter().map(|row| row[0] * row[0] + 0.5 * row[1]).collect();
        let data = Dataset::with_target(x, Target::Continuous(y)).unwrap();
        let mut selected = select(&Hsfs::default(), &data, FeatureCount::Count(2)).selected().to_vec();
        selected.sort_unstable();
        assert_eq!(selected, [0, 1], "{seed}");
    }
}

#[test]
fn the_automatic_count_is_right_for_an_xor() {
    let planted = planted(Pattern::Xor, 300, 10, 2, false);
    let selection = select(&Hsfs::default(), &planted.data, FeatureCount::Auto);
    assert_eq!((selection.n_selected, found(&selection, &planted)), (2, 2));
}

#[test]
fn a_continuous_target() {
    let planted = planted(Pattern::Xor, 300, 12, 3, true);
    assert_eq!(found(&select(&Hsfs::default(), &planted.data, FeatureCount::Count(2)), &planted), 2);
}

#[test]
fn redundant_features_are_not_selected() {
    let planted = planted(Pattern::Redundant, 300, 20, 4, false);
    let selection = select(&Hsfs::default(), &planted.data, FeatureCount::Count(2));
    let group = |j: usize| match planted.relevant.iter().position(|&r| r == j) {
        Some(0 | 2 | 3) => 1,
        Some(1 | 4 | 5) => 2,
        _ => 0,
    };
    let mut groups: Vec<usize> = selection.selected().iter().map(|&j| group(j)).collect();
    groups.sort_unstable();
    assert_eq!(groups, [1, 2], "one of each kind");
}

#[test]
fn the_radius_holds_and_zeros_are_exact() {
    let planted = planted(Pattern::Ring, 200, 15, 5, false);
    let method = Hsfs { radius: Some(0.4), ..Hsfs::default() };
    let selection = select(&method, &planted.data, FeatureCount::Auto);
    let coef = selection.coef.as_ref().unwrap();
    assert!(row_norm(coef) <= 0.4 + 1e-12);
    let zero = |j: usize| coef.row(j).iter().all(|w| *w == 0.0);
    assert_eq!((0..15).filter(|&j| !zero(j)).count(), selection.n_selected);
    assert!(selection.n_selected < 15 && (0..15).all(|j| zero(j) == (selection.scores[j] == 0.0)));
    // The last point of the path is the answer, and it is stationary to the tolerance.
    let last = selection.path.last().unwrap();
    assert_eq!((last.strength, last.features.len()), (0.4, selection.n_selected));
    assert!(last.optimality <= method.tol, "{}", last.optimality);
    // HSIC does not decrease as the ball grows.
    assert!(selection.path.windows(2).all(|w| w[1].objective <= w[0].objective + 1e-9));
}

#[cfg(feature = "datasets")]
#[test]
fn the_penalized_form_reports_its_collapse() {
    let data = crate::data::BuiltIn::by_name("wine").unwrap().data().unwrap();
    let data = data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap();
    let method = Hsfs { form: Form::Penalized, ..Hsfs::default() };
    let selection = select(&method, &data, FeatureCount::Count(1));
    let counts: Vec<usize> = selection.path.iter().map(|p| p.features.len()).collect();
    assert_eq!(counts.last(), Some(&0), "{counts:?}");
    assert!(counts[counts.len() - 2] > 1, "a jump from several to none: {counts:?}");
    assert_eq!(selection.outcome.stop, Stop::Collapsed);
    assert_eq!(selection.scores.iter().filter(|s| **s > 0.0).count(), 1);
    let much = Hsfs { penalty: Some(10.0), ..method };
    let nothing = select(&much, &data, FeatureCount::Auto);
    assert_eq!((nothing.outcome.stop, nothing.n_selected), (Stop::Collapsed, 0));
}

#[test]
fn one_weight_per_feature_finds_the_same() {
    for form in [Form::Constrained, Form::Penalized] {
        let planted = planted(Pattern::Xor, 300, 12, 6, false);
        let method = Hsfs { diagonal: Some(true), form, ..Hsfs::default() };
        let selection = select(&method, &planted.data, FeatureCount::Count(2));
        assert_eq!(found(&selection, &planted), 2, "{form:?}");
        let coef = selection.coef.unwrap();
        assert_eq!(coef.dim(), (12, 1));
        assert!(coef.iter().all(|w| *w >= 0.0));
    }
}

#[test]
fn approximations_find_the_same() {
    let planted = planted(Pattern::Ring, 400, 10, 7, false);
    for approximation in [Approximation::Exact, Approximation::Fourier, Approximation::Nystrom] {
        let method = Hsfs { approximation, features: 128, ..Hsfs::default() };
        assert_eq!(
            found(&select(&method, &planted.data, FeatureCount::Count(2)), &planted),
            2,
            "{approximation:?}"
        );
    }
}

#[test]
fn several_counts_at_once() {
    let planted = planted(Pattern::Ring, 150, 8, 8, false);
    let each = Hsfs::default().select_each(&planted.data, &[2, 4], &Context::default());
    // The path for two features ends earlier than that for four, but the best four come from the same path.
    let alone = select(&Hsfs::default(), &planted.data, FeatureCount::Count(4));
    assert_eq!(each[1].as_ref().unwrap(), &alone);
    assert_eq!(each[0].as_ref().unwrap().n_selected, 2);
    let too_many = Hsfs::default().select_each(&planted.data, &[2, 9], &Context::default());
    assert!(too_many[0].is_ok() && too_many[1].is_err());
}

#[test]
fn sparse_and_wide_data() {
    // Wide enough for the active set; mostly zeros, two features determine the class.
    let mut rng = Rng::new(9);
    let (n, d) = (120, 2500);
    let (mut start, mut column, mut value, mut codes) = (vec![0], vec![], vec![], vec![]);
    for _ in 0..n {
        let (a, b) = (rng.normal(), rng.normal());
        codes.push(usize::from(a + b > 0.0));
        for j in 0..d {
            let v = match j {
                17 => a,
                1234 => b,
                _ if rng.uniform() < 0.01 => rng.normal(),
                _ => continue,
            };
            column.push(j as u32);
            value.push(v);
        }
        start.push(column.len());
    }
    let sparse: Rows = SparseRows::new(d, start, column, value).unwrap().into();
    let target = crate::data::Target::Classes(crate::data::Classes::from_codes(codes));
    let of = |x: Rows| {
        let data = Dataset::with_target(x, target.clone()).unwrap();
        let mut best = select(&Hsfs::default(), &data, FeatureCount::Count(2)).selected().to_vec();
        best.sort_unstable();
        best
    };
    assert_eq!(of(sparse.clone()), [17, 1234]);
    assert_eq!(of(sparse.to_dense().into()), [17, 1234]);
}

#[test]
fn constant_columns_come_last_and_bad_parameters_are_refused() {
    let x = array![[1.0, 0.0, 0.3], [1.0, 1.0, 0.4], [1.0, 0.1, 0.9], [1.0, 1.2, 0.8], [1.0, 0.2, 0.1]];
    let data = Dataset::labeled(x, vec![0, 1, 0, 1, 0]).unwrap();
    let selection = select(&Hsfs::default(), &data, FeatureCount::Count(1));
    assert_eq!(selection.selected(), [1]);
    assert_eq!((selection.order[2], selection.scores[0]), (0, 0.0));
    let all = select(&Hsfs::default(), &data, FeatureCount::Count(3));
    assert_eq!(all.order[2], 0);
    let refused =
        |method: Hsfs, wanted| method.select(&data, wanted, &Context::default()).unwrap_err().to_string();
    let d = Hsfs::default;
    assert!(
        refused(Hsfs { bandwidth: Some(0.0), ..d() }, FeatureCount::Auto)
            .contains("'bandwidth' must be a number, above 0")
    );
    assert!(
        refused(Hsfs { penalty: Some(1.0), ..d() }, FeatureCount::Auto)
            .contains("left out in the constrained")
    );
    assert!(
        refused(Hsfs { radius: Some(1.0), ..d() }, FeatureCount::Count(1))
            .contains("left out where a number")
    );
    let diagonal = Hsfs { diagonal: Some(true), directions: Some(2), ..d() };
    assert!(refused(diagonal, FeatureCount::Auto).contains("left out in the diagonal mode"));
    let constant = Dataset::labeled(Array2::ones((5, 2)), vec![0, 1, 0, 1, 0]).unwrap();
    let error = d().select(&constant, FeatureCount::Count(1), &Context::default()).unwrap_err().to_string();
    assert!(error.contains("every column is constant"), "{error}");
}

#[test]
fn one_weight_per_feature_if_weights_outnumber_samples() {
    let hsfs = Hsfs::default();
    // 8 d > n, while n² d is at most 1e10.
    assert!(!hsfs.is_diagonal(200, 25) && hsfs.is_diagonal(200, 26));
    assert!(hsfs.is_diagonal(1000, 10_000) && !hsfs.is_diagonal(1000, 10_001));
    assert!(!Hsfs { directions: Some(8), ..Hsfs::default() }.is_diagonal(200, 26));
    assert!(!Hsfs { form: Form::Penalized, ..Hsfs::default() }.is_diagonal(200, 26));
    assert!(!Hsfs { approximation: Approximation::Fourier, ..Hsfs::default() }.is_diagonal(200, 26));
    assert!(!Hsfs { diagonal: Some(false), ..Hsfs::default() }.is_diagonal(200, 26));
    let planted = planted(Pattern::Xor, 100, 60, 3, false);
    let coef = select(&hsfs, &planted.data, FeatureCount::Count(2)).coef.unwrap();
    assert_eq!(coef.dim(), (60, 1));
    // With all 100 samples there are directions; with a third of them there would not be.
    let few = planted.data.take_columns(&(0..12).collect::<Vec<_>>());
    assert_eq!(select(&hsfs, &few, FeatureCount::Auto).coef.unwrap().ncols(), 8);
}

#[test]
fn the_scale_of_features_does_not_matter() {
    let planted = planted(Pattern::Xor, 120, 6, 10, false);
    let x = planted.data.x().to_dense();
    for form in [Form::Constrained, Form::Penalized] {
        for diagonal in [false, true] {
            let method = Hsfs { form, diagonal: Some(diagonal), ..Hsfs::default() };
            let expected = select(&method, &planted.data, FeatureCount::Count(2));
            assert_eq!(found(&expected, &planted), 2, "{form:?} {diagonal}");
            for power in [-30, 30] {
                let by = 2.0_f64.powi(power);
                let scaled = planted.data.with_x(&x * by).unwrap();
                let selection = select(&method, &scaled, FeatureCount::Count(2));
                // Scaling by a power of two is exact.
                assert_eq!(selection.order, expected.order, "{form:?} {diagonal} {power}");
                assert_eq!(selection.coef.unwrap() * by, expected.coef.clone().unwrap());
                let values =
                    |s: &[super::super::PathPoint]| s.iter().map(|p| p.objective).collect::<Vec<_>>();
                assert_eq!(values(&selection.path), values(&expected.path));
            }
        }
    }
}

#[test]
fn nothing_is_selected_if_all_weights_are_zero() {
    let mut rng = Rng::new(11);
    let x = Array2::from_shape_simple_fn((60, 5), || rng.normal());
    let codes = x.column(3).iter().map(|v| usize::from(v.abs() > 0.7)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    for diagonal in [false, true] {
        let method =
            Hsfs { form: Form::Penalized, penalty: Some(10.0), diagonal: Some(diagonal), ..Hsfs::default() };
        let selection = select(&method, &data, FeatureCount::Auto);
        assert_eq!(
            (selection.n_selected, selection.order[0], selection.outcome.stop),
            (0, 3, Stop::Collapsed)
        );
        assert!(selection.scores.iter().all(|s| *s == 0.0));
    }
}

/// Mostly zeros; the first feature determines the class.
fn wide(n: usize, d: usize) -> Dataset {
    let mut rng = Rng::new(12);
    let (mut start, mut column, mut value, mut codes) = (vec![0], vec![], vec![], vec![]);
    for _ in 0..n {
        let first = rng.normal();
        codes.push(usize::from(first > 0.0));
        column.push(0);
        value.push(first);
        for j in rng.sample(d - 1, 5) {
            column.push(j as u32 + 1);
            value.push(rng.normal());
        }
        start.push(column.len());
    }
    let target = crate::data::Target::Classes(crate::data::Classes::from_codes(codes));
    Dataset::with_target(SparseRows::new(d, start, column, value).unwrap(), target).unwrap()
}

#[test]
fn wide_sparse_data_stay_sparse_and_stops_are_correct() {
    let data = wide(40, 3000);
    let ctx = Context::default();
    let mut solved = 0;
    for diagonal in [false, true] {
        let problem =
            Problem::new(&Hsfs { diagonal: Some(diagonal), ..Hsfs::default() }, &data, &ctx).unwrap();
        let some: Vec<usize> = (0..2500).collect();
        assert!(problem.among(&some).x().is_sparse() && !problem.among(&[0, 7]).x().is_sparse());
        for (tolerance, max_iterations) in [(1e-5, 300), (1e-5, 1), (1e-14, 2)] {
            for radius in [0.5, 400.0] {
                let effort = Effort::new(tolerance, max_iterations);
                let start = problem.random_weights(&mut Rng::new(1), 1.0);
                let end = problem.solve(start, radius * problem.unit, effort, &ctx).unwrap();
                assert_eq!(end.stop == Stop::Tolerance, end.optimality <= tolerance, "{:?}", end.stop);
                solved += usize::from(end.stop == Stop::Tolerance);
            }
        }
    }
    assert!(solved > 0);
}

#[test]
fn a_subsample_has_several_classes() {
    let ctx = Context::default();
    let outside = (0..1500).find(|i| !Rng::stream(0, "HSFS sample").sample(1500, 100).contains(i)).unwrap();
    let mut rng = Rng::new(13);
    let x = Array2::from_shape_simple_fn((1500, 2), || rng.normal());
    for rare in [vec![outside], (0..700).collect()] {
        let codes = (0..1500).map(|i| usize::from(rare.contains(&i))).collect();
        let data = Dataset::labeled(x.clone(), codes).unwrap();
        let problem = Problem::new(&Hsfs::default(), &data, &ctx).unwrap();
        assert_eq!(problem.sampled(100, &ctx).unwrap().n(), 100);
    }
}
