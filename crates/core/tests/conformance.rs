//! Conformance tests of every method in the catalogs. A new method is covered by being listed there.

use kernsift::basis::{BASES, Basis, BasisMethod, Fitted, Kobl, Pivoting};
use kernsift::classify::Knnc;
use kernsift::data::{BuiltIn, Classes, Dataset, Encoder, Encoding, FeatureType, Standardizer, Target};
use kernsift::internals::Rng;
use kernsift::learn::{LEARNERS, LearnerMethod};
use kernsift::method::Needs;
use kernsift::model::Content;
use kernsift::select::{Auto, FeatureCount, SELECTORS, Selection, Selector, SelectorMethod};
use kernsift::space::SPACES;
use kernsift::{Context, Error, Kernel, KernelSpaceSelector, Model, Observer};
use ndarray::{Array2, Axis, array};

fn bases() -> impl Iterator<Item = (&'static str, BasisMethod)> {
    BASES.iter().map(|info| (info.name, BasisMethod::by_name(info.name).unwrap()))
}

fn selectors() -> impl Iterator<Item = (&'static str, SelectorMethod)> {
    // The automatic selector runs others in all folds: three of them are enough here.
    let method = |name| match name {
        "auto" => SelectorMethod::Auto(Auto { cv: 3, ..Auto::default() }),
        name => SelectorMethod::by_name(name).unwrap(),
    };
    SELECTORS.iter().map(move |info| (info.name, method(info.name)))
}

fn wine() -> Dataset {
    let data = BuiltIn::by_name("wine").unwrap().data().unwrap();
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

/// Enough rows for several tasks: more than one tile of 1024, and more than the 1000 that HSFS subsamples.
fn tall() -> Dataset {
    let mut rng = Rng::new(5);
    let x = Array2::from_shape_simple_fn((1100, 6), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] * row[1] > 0.0)).collect();
    Dataset::labeled(x, codes).unwrap()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn fit(method: &BasisMethod, data: &Dataset, seed: u64) -> Fitted {
    method.fit(data, &Context { seed, ..Context::default() }).unwrap()
}

fn select(method: &SelectorMethod, data: &Dataset) -> Selection {
    method.select(data, FeatureCount::Auto, &Context::default()).unwrap()
}

/// Whether features were added or removed step by step.
fn stepwise(selection: &Selection) -> bool {
    !selection.curve.is_empty() || !selection.path.is_empty() || selection.automatic.is_some()
}

#[test]
fn nothing_is_selected_from_noise_unless_requested() {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_simple_fn((120, 8), || rng.normal());
    let codes: Vec<usize> = (0..120).map(|_| rng.below(2)).collect();
    let noise = Dataset::labeled(x.clone(), codes).unwrap();
    let numbers = Target::Continuous((0..120).map(|_| rng.normal()).collect());
    let codes = x.column(2).iter().map(|&v| usize::from(v > 0.0)).collect();
    let signal = Dataset::labeled(x.clone(), codes).unwrap();
    let values = Target::Continuous(x.column(2).to_vec());
    let regression =
        (Dataset::with_target(x.clone(), numbers).unwrap(), Dataset::with_target(x, values).unwrap());
    let ctx = Context::default();
    for (noise, signal) in [(noise, signal), regression] {
        let usable =
            |method: &SelectorMethod| method.needs() != Needs::Nothing && method.fits(noise.target());
        for (name, method) in selectors().filter(|(_, method)| usable(method)) {
            let select = |data, count| method.select_typed(data, count, Encoding::default(), &ctx).unwrap();
            assert_eq!(select(&noise, FeatureCount::Auto).n_selected, 0, "{name}");
            assert_eq!(select(&noise, FeatureCount::Count(2)).n_selected, 2, "{name}");
            let found = select(&signal, FeatureCount::Auto);
            assert_eq!(found.order[0], 2, "{name}");
            assert!(found.n_selected > 0, "{name}");
            assert!(found.selected().iter().all(|&j| found.scores[j] > 0.0), "{name}");
            // Too few rows for a test.
            let few = noise.take_rows(&(0..19).collect::<Vec<_>>());
            assert!(
                method.select_typed(&few, FeatureCount::Auto, Encoding::default(), &ctx).is_ok(),
                "{name}"
            );
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let data = tall();
    for (name, mut method) in bases() {
        if !matches!(method, BasisMethod::Discriminant(_)) {
            *method.n_components_mut() = Some(60);
        }
        let results: Vec<Fitted> =
            [1, 3].map(|threads| on_threads(threads, || fit(&method, &data, 3))).into();
        assert!(results.windows(2).all(|w| w[0].features == w[1].features && w[0].map == w[1].map), "{name}");
        let mapped: Vec<Array2<f64>> = [1, 2]
            .map(|threads| {
                on_threads(threads, || results[0].map.transform(data.x(), &Context::default()).unwrap())
            })
            .into();
        assert_eq!(mapped[0], mapped[1], "{name}");
    }
    for pivoting in [Pivoting::Random, Pivoting::Gain] {
        let method = BasisMethod::Kobl(Kobl { pivoting, n_components: Some(150), ..Kobl::default() });
        let results = [1, 3].map(|threads| on_threads(threads, || fit(&method, &data, 3)));
        assert!(results.windows(2).all(|w| w[0].features == w[1].features), "{pivoting:?}");
    }
    for (name, method) in selectors() {
        let results = [1, 3].map(|threads| on_threads(threads, || select(&method, &data)));
        assert!(results.windows(2).all(|w| w[0] == w[1]), "{name}");
    }
    for info in LEARNERS {
        let method = LearnerMethod::by_name(info.name).unwrap();
        let run =
            || method.learn_from_target(&data, 100, &Context { seed: 3, ..Context::default() }).unwrap();
        let results = [1, 3].map(|threads| on_threads(threads, run));
        assert!(results.windows(2).all(|w| w[0] == w[1]), "{}", info.name);
    }
}

#[test]
fn same_seed_same_result() {
    let data = wine();
    for (name, mut method) in bases() {
        if let BasisMethod::Kobl(kobl) = &mut method {
            kobl.pivoting = Pivoting::Random;
        }
        assert_eq!(fit(&method, &data, 7).map, fit(&method, &data, 7).map, "{name}");
    }
    // Random methods depend on the seed.
    let BasisMethod::Kobl(mut kobl) = BasisMethod::by_name("kobl").unwrap() else { unreachable!() };
    kobl.pivoting = Pivoting::Random;
    let random = BasisMethod::Kobl(kobl);
    assert_ne!(fit(&random, &data, 7).map.summary().pivots, fit(&random, &data, 8).map.summary().pivots);
}

#[test]
fn transform_of_training_rows_equals_fit() {
    let data = wine();
    for (name, method) in bases() {
        let fitted = fit(&method, &data, 0);
        let again = fitted.map.transform(data.x(), &Context::default()).unwrap();
        // KGS keeps directions down to 1e-4 of the first; dividing by a short one magnifies rounding errors.
        let allowed = if name == "kgs" { 1e-8 } else { 1e-9 };
        let worst = (&again - &fitted.features).iter().fold(0.0_f64, |a, e| a.max(e.abs()));
        assert!(worst < allowed, "{name}: {worst}");
        assert_eq!(fitted.map.summary().residual_norms.len(), fitted.map.n_components(), "{name}");
    }
}

#[test]
fn reconstruction_costs_of_training_and_new_rows() {
    let data = wine();
    let (train, test): (Vec<usize>, Vec<usize>) = (0..data.n()).partition(|i| i % 3 > 0);
    let (train, test) = (data.take_rows(&train), data.take_rows(&test));
    for (name, method) in bases() {
        let map = fit(&method, &train, 0).map;
        let ctx = Context::default();
        let cost = map.reconstruction_cost(train.x(), &ctx).unwrap();
        // A norm is the square root of a difference of numbers of order 1: half the digits.
        assert!((cost - map.summary().reconstruction_cost).abs() < 1e-6, "{name}");
        // Discriminants do not minimize the reconstruction cost, so new rows need not cost more.
        let reconstructs = !["kda", "gda"].contains(&name);
        assert!(!reconstructs || map.reconstruction_cost(test.x(), &ctx).unwrap() > cost, "{name}");
    }
}

#[test]
fn saved_maps_are_restored() {
    let data = wine();
    let folder = tempfile::tempdir().unwrap();
    for (name, method) in bases() {
        let fitted = fit(&method, &data, 0);
        let model = Model {
            names: data.names().to_vec(),
            recipe: None,
            encoder: None,
            content: Content::Map(fitted.map.clone()),
        };
        let path = folder.path().join(name);
        model.save(&path).unwrap();
        let back = Model::load(&path).unwrap();
        let ctx = Context::default();
        assert_eq!(
            back.apply(data.x(), &ctx).unwrap(),
            fitted.map.transform(data.x(), &ctx).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn parameters_round_trip_through_json() {
    for (name, method) in bases() {
        let text = serde_json::to_string(&method).unwrap();
        let back: BasisMethod = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text, "{name}");
    }
    for (name, method) in selectors() {
        let text = serde_json::to_string(&method).unwrap();
        let back: SelectorMethod = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text, "{name}");
    }
}

#[test]
fn a_wrong_number_of_columns_is_an_error() {
    let data = wine();
    for (name, method) in bases() {
        let map = fit(&method, &data, 0).map;
        let error = map.transform(&array![[1.0, 2.0]].into(), &Context::default()).unwrap_err().to_string();
        assert_eq!(error, "columns of the rows to map: expected 13, got 2", "{name}");
    }
}

#[test]
fn constant_and_duplicate_features_are_supported() {
    let data = wine();
    let x = data.x().to_dense();
    let wide = ndarray::concatenate![Axis(1), x, x.slice(ndarray::s![.., ..1]), Array2::ones((x.nrows(), 1))];
    let wide = Dataset::with_target(wide, data.target().clone()).unwrap();
    for (name, method) in bases() {
        assert!(fit(&method, &wide, 0).features.iter().all(|v| v.is_finite()), "{name}");
    }
    for (name, method) in selectors() {
        let selection = select(&method, &wide);
        assert!(selection.scores.iter().all(|s| s.is_finite()), "{name}");
        // Stepwise methods, and methods that weight features jointly (not nested), may give all weight to one of
        // two copies.
        if !stepwise(&selection) && method.nested() {
            assert_eq!(
                selection.scores[13], selection.scores[0],
                "{name}: a copy has the score of its original"
            );
        }
        assert_eq!(selection.scores[14], 0.0, "{name}: a constant feature scores zero");
    }
}

#[test]
fn one_row_gives_a_result_or_an_error() {
    let one = Dataset::labeled(array![[1.0, 2.0]], vec![0]).unwrap();
    for (name, method) in bases() {
        if let Err(error) = method.fit(&one, &Context::default()) {
            let reasons = ["all rows are equal", "all rows have the class"];
            assert!(reasons.iter().any(|r| error.to_string().contains(r)), "{name}: {error}");
        }
    }
    for (name, method) in selectors() {
        let error = method.select(&one, FeatureCount::Auto, &Context::default()).unwrap_err();
        // Unsupervised methods need more rows.
        let expected = match method.needs() {
            Needs::Nothing => matches!(error, Error::TooFewRows { .. }),
            _ => matches!(error, Error::OneClass { .. }),
        };
        assert!(expected, "{name}: {error}");
    }
}

#[test]
fn targets_are_required_as_declared() {
    let data = tall().take_rows(&(0..400).collect::<Vec<_>>());
    let (first, second) = (data.x().column(0), data.x().column(1));
    let numbers: Vec<f64> = first.iter().zip(second).map(|(a, b)| 2.0 * a + b).collect();
    let with = |target: Target| Dataset::new(data.names().to_vec(), data.x().clone(), target).unwrap();
    let (continuous, no_target) = (with(Target::Continuous(numbers)), with(Target::None));
    let ctx = Context::default();
    for (name, method) in selectors() {
        let continuous_result = method.select(&continuous, FeatureCount::Auto, &ctx);
        let no_target_result = method.select(&no_target, FeatureCount::Auto, &ctx);
        if method.needs() == Needs::Nothing {
            // The target is ignored.
            assert_eq!(no_target_result.unwrap(), continuous_result.unwrap(), "{name}");
            continue;
        }
        let error = no_target_result.unwrap_err();
        assert!(matches!(error, Error::NeedsClasses { .. } | Error::NeedsTarget { .. }), "{name}: {error}");
        if method.needs() == Needs::Target {
            assert_eq!(continuous_result.unwrap().order[..2], [0, 1], "{name}");
        } else {
            assert!(matches!(continuous_result.unwrap_err(), Error::NeedsClasses { .. }), "{name}");
        }
    }
}

#[test]
fn equal_rows_are_an_error() {
    let same = Dataset::labeled(Array2::ones((6, 2)), vec![0, 1, 0, 1, 0, 1]).unwrap();
    for (name, method) in bases() {
        let error = method.fit(&same, &Context::default()).unwrap_err().to_string();
        assert!(error.contains("all rows are equal"), "{name}: {error}");
    }
}

#[test]
fn non_finite_values_are_rejected() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = Dataset::with_target(array![[1.0, 2.0], [3.0, bad]], Target::None).unwrap_err();
        assert!(error.to_string().starts_with("row 2, column 'x2'"), "{error}");
    }
}

#[test]
fn missing_values_are_supported_or_rejected() {
    let data = wine();
    let mut x = data.x().to_dense();
    for i in (4..x.nrows()).step_by(7) {
        x[[i, i % 13]] = f64::NAN;
    }
    let with_missing = Dataset::with_missing(data.names().to_vec(), x, data.target().clone()).unwrap();
    let ctx = Context::default();
    let assert_rejected = |name: &str, error: Error| {
        let text = error.to_string();
        assert!(text.starts_with("row 5, column 'magnesium': missing value, and "), "{name}: {text}");
        assert!(text.ends_with("does not support missing values"), "{name}: {text}");
    };
    for (name, method) in selectors() {
        match method.select(&with_missing, FeatureCount::Auto, &ctx) {
            Ok(selection) => {
                assert!(method.supports_types(), "{name}");
                assert!(selection.scores.iter().all(|s| s.is_finite()), "{name}");
            }
            Err(error) => {
                assert!(!method.supports_types(), "{name}: {error}");
                assert_rejected(name, error);
            }
        }
    }
    for (name, method) in bases() {
        assert_rejected(name, method.fit(&with_missing, &ctx).err().unwrap());
    }
    for info in SPACES {
        let method = KernelSpaceSelector::by_name(info.name).unwrap();
        assert_rejected(info.name, method.fit(&with_missing, FeatureCount::Auto, &ctx).unwrap_err());
    }
    assert_rejected("knnc", Knnc::fit(&Kernel::Linear.into(), &with_missing, 1, &ctx).unwrap_err());
}

#[test]
fn orders_are_complete_and_follow_scores() {
    let data = wine();
    for (name, method) in selectors() {
        let selection = select(&method, &data);
        let mut sorted = selection.order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..data.d()).collect::<Vec<_>>(), "{name}");
        // Stepwise methods rank by step, not by score.
        assert!(
            stepwise(&selection)
                || selection.order.windows(2).all(|w| selection.scores[w[0]] >= selection.scores[w[1]]),
            "{name}"
        );
        assert!((1..=data.d()).contains(&selection.n_selected), "{name}");
        for k in [1, data.d()] {
            let kept = method.select(&data, FeatureCount::Count(k), &Context::default()).unwrap();
            assert_eq!(kept.selected().len(), k, "{name}");
        }
        let error = method.select(&data, FeatureCount::Count(14), &Context::default()).unwrap_err();
        assert!(error.to_string().contains("from 1 to the number of columns, 13, got 14"), "{name}: {error}");
    }
}

#[test]
fn scores_are_equivariant_under_permutations() {
    let data = wine();
    let mut rng = Rng::new(1);
    let mut rows: Vec<usize> = (0..data.n()).collect();
    let mut columns: Vec<usize> = (0..data.d()).collect();
    rng.shuffle(&mut rows);
    rng.shuffle(&mut columns);
    for (name, method) in selectors() {
        // The automatic count of HSFS uses held-out rows, which depend on the order of rows.
        let wanted = if name == "hsfs" { FeatureCount::Count(3) } else { FeatureCount::Auto };
        let select = |method: &SelectorMethod, data: &Dataset| {
            method.select(data, wanted, &Context::default()).unwrap()
        };
        let plain = select(&method, &data);
        // Sums are in another order. Weights found by iteration agree to about a hundred times the tolerance: 1e-4
        // times the fraction of the smallest class for the SVM, 1e-6 for least squares.
        let largest = plain.scores.iter().copied().fold(0.0, f64::max);
        let close = |a: f64, b: f64| {
            let allowed = match name {
                "l1-svm" => 1e-2 * largest,
                "ldfs" | "pfs" => 1e-4 * largest,
                // Stationary to 1e-5, where the curvature is about 0.01.
                "hsfs" => 1e-2 * largest,
                _ => 1e-10 * b.abs(),
            };
            (a - b).abs() <= allowed
        };
        let moved = select(&method, &data.take_rows(&rows));
        assert!(moved.scores.iter().zip(&plain.scores).all(|(&a, &b)| close(a, b)), "{name}");
        // Stepwise methods break ties by column order.
        if !stepwise(&plain) {
            let moved = select(&method, &data.take_columns(&columns));
            assert!(
                columns.iter().zip(&moved.scores).all(|(&from, &s)| close(s, plain.scores[from])),
                "{name}"
            );
        }
    }
}

/// 150 samples, 5 % of the values missing: two informative numbers, an informative category of 5 levels, a noise category of
/// 10 levels, and four noise numbers.
fn mixed() -> Dataset {
    let mut rng = Rng::new(11);
    let types = [0, 0, 5, 10, 0, 0, 0, 0];
    let mut x = Array2::from_shape_fn((150, 8), |(_, j)| match types[j] {
        0 => rng.normal(),
        levels => rng.below(levels) as f64,
    });
    let effect = [-2.0, 2.5, -2.5, 2.0, -2.0];
    let codes = x
        .rows()
        .into_iter()
        .map(|r| usize::from(1.5 * r[0] - 1.5 * r[1] + effect[r[2] as usize] + 0.5 * rng.normal() > 0.0));
    let codes: Vec<usize> = codes.collect();
    x.mapv_inplace(|v| if rng.uniform() < 0.05 { f64::NAN } else { v });
    typed(x, &types, codes)
}

/// Typed features; 0 levels are a number.
fn typed(x: Array2<f64>, levels: &[usize], codes: Vec<usize>) -> Dataset {
    let kind = |&levels: &usize| match levels {
        0 => FeatureType::Number,
        levels => FeatureType::Category { levels },
    };
    let names = (0..levels.len()).map(|j| format!("f{j}")).collect();
    let target = Target::Classes(Classes::from_codes(codes));
    Dataset::typed(names, x, levels.iter().map(kind).collect(), target).unwrap()
}

#[test]
fn mixed_tables_have_a_score_per_feature() {
    let data = mixed();
    for (name, method) in selectors() {
        let prepared = method.prepared(&data, Encoding::default()).unwrap();
        let results = [1, 2, 1].map(|threads| on_threads(threads, || select(&method, &prepared)));
        assert!(results.windows(2).all(|w| w[0] == w[1]), "{name}");
        let selection = &results[0];
        assert_eq!(selection.scores.len(), 8, "{name}");
        let mut order = selection.order.clone();
        order.sort_unstable();
        assert_eq!(order, (0..8).collect::<Vec<_>>(), "{name}");
        assert!(selection.coef.as_ref().is_none_or(|coef| coef.nrows() == 8), "{name}");
        if method.needs() != Needs::Nothing {
            let place = |j: usize| selection.order.iter().position(|&f| f == j).unwrap();
            assert!((3..8).all(|noise| place(2) < place(noise)), "{name}: {selection:?}");
        }
    }
}

#[test]
fn the_codes_of_categories_are_arbitrary() {
    let data = mixed();
    let mut x = data.x().to_dense();
    // NaN stays NaN.
    x.column_mut(2).mapv_inplace(|code| (3.0 * code + 1.0) % 5.0);
    x.column_mut(3).mapv_inplace(|code| (7.0 * code + 4.0) % 10.0);
    let renamed = data.with_x(x).unwrap();
    // HSFS starts from signs by position, so in another order it may reach another local optimum.
    for (name, method) in selectors().filter(|(name, _)| *name != "hsfs") {
        let plain = select(&method, &method.prepared(&data, Encoding::default()).unwrap());
        let moved = select(&method, &method.prepared(&renamed, Encoding::default()).unwrap());
        let largest = plain.scores.iter().copied().fold(0.0, f64::max);
        // Columns are in another order, so sums are rounded differently. The descent of the SVM magnifies this, and may stop
        // a sweep earlier: it agrees to about a hundred times its tolerance, 1e-4.
        let allowed = if name == "l1-svm" { 1e-2 * largest } else { 1e-10 * largest };
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= allowed;
        assert!(plain.scores.iter().zip(&moved.scores).all(close), "{name}: {plain:?} {moved:?}");
    }
}

#[test]
fn a_category_of_50_levels_counts_once() {
    let mut rng = Rng::new(2);
    // Ten samples per level: the gradient of the category in L1-SVM at zero is then sqrt(10) times that of noise, above the
    // largest of eight noise features.
    let x = Array2::from_shape_fn((500, 9), |(i, j)| if j == 4 { (i % 50) as f64 } else { rng.normal() });
    let data = typed(x, &[0, 0, 0, 0, 50, 0, 0, 0, 0], (0..500).map(|i| (i % 50) % 2).collect());
    for (name, method) in selectors().filter(|(_, method)| method.needs() != Needs::Nothing) {
        let selection = select(&method, &method.prepared(&data, Encoding::default()).unwrap());
        assert_eq!((selection.order[0], selection.scores.len()), (4, 9), "{name}: {selection:?}");
        let one = method.select(
            &method.prepared(&data, Encoding::default()).unwrap(),
            FeatureCount::Count(1),
            &Context::default(),
        );
        assert_eq!(one.unwrap().selected(), [4], "{name}");
    }
}

#[test]
fn categories_without_structure_are_supported() {
    // A level per sample gives as many columns, and paths over them are slow.
    let data = mixed().take_rows(&(0..30).collect::<Vec<_>>());
    let x = data.x().to_dense();
    // A level per sample, one level for all, no known value; and a number without known values.
    let n = data.n();
    let extreme = Array2::from_shape_fn((n, 4), |(i, j)| match j {
        0 => i as f64,
        1 => 0.0,
        _ => f64::NAN,
    });
    let wide = ndarray::concatenate![Axis(1), x, extreme];
    let codes = data.classes("test").unwrap().codes.clone();
    let wide = typed(wide, &[0, 0, 5, 10, 0, 0, 0, 0, n, 1, 3, 0], codes);
    for (name, method) in selectors() {
        let selection = select(&method, &method.prepared(&wide, Encoding::default()).unwrap());
        assert_eq!(selection.scores.len(), 12, "{name}");
        assert!(selection.scores.iter().all(|s| s.is_finite()), "{name}");
        // FFS may add a vote that changes nothing on the way to its minimum.
        assert!(
            name == "ffs" || selection.scores[9..] == [0.0; 3],
            "{name}: features without values score zero"
        );
    }
}

#[test]
fn the_wrong_form_of_features_is_an_error() {
    let data = mixed();
    let encoded = Encoder::fit(&data, Encoding::default()).unwrap().encode(&data).unwrap();
    for (name, method) in selectors() {
        let (wrong, expected) = if method.supports_types() {
            (&encoded, "which encodes features itself: expected 8, one per feature, got")
        } else {
            (&data, "column 'f2' holds categories, and ")
        };
        let error = method.select(wrong, FeatureCount::Auto, &Context::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn every_fit_can_be_interrupted() {
    struct Stop;
    impl Observer for Stop {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let ctx = Context { observer: &Stop, ..Context::default() };
    for (name, method) in bases() {
        assert!(method.fit(&wine(), &ctx).unwrap_err().is_interrupted(), "{name}");
    }
}

#[test]
fn relevant_features_come_first() {
    use kernsift::data::synthetic::{Pattern, Synthetic};
    let finds = |name: &str, pattern: Pattern, columns: usize, continuous: bool, seed: u64| {
        let planted =
            Synthetic { pattern, columns, continuous, seed, ..Synthetic::default() }.make().unwrap();
        let method = SelectorMethod::by_name(name).unwrap();
        let best = &select(&method, &planted.data).order[..planted.relevant.len()];
        planted.relevant.iter().all(|j| best.contains(j))
    };
    for seed in 0..5 {
        // Univariate scores detect an additive effect, also on a continuous target if they support it.
        let univariate = ["fisher", "relief", "information-gain", "mutual-information", "chi-squared"];
        for name in univariate.into_iter().chain(["fohsic", "nca", "bahsic", "hsic-lasso", "ldfs"]) {
            // Relief uses distances over all features; with fifty the two relevant ones are masked by noise.
            let columns = if name == "relief" { 8 } else { 50 };
            assert!(finds(name, Pattern::Linear, columns, false, seed), "{name} {seed}");
            let regression = SelectorMethod::by_name(name).unwrap().needs() == Needs::Target;
            assert!(!regression || finds(name, Pattern::Linear, columns, true, seed), "{name} {seed}");
        }
        // A ring does not change class means, but bins and neighbors detect it.
        for name in ["information-gain", "mutual-information", "chi-squared", "fohsic", "nca", "hsic-lasso"] {
            assert!(finds(name, Pattern::Ring, 30, false, seed), "{name} {seed}");
        }
        assert!(!finds("fisher", Pattern::Ring, 30, false, seed), "{seed}");
        // Univariate scores cannot detect XOR.
        for name in ["fisher", "information-gain", "mutual-information", "chi-squared", "hsic-lasso", "ldfs"]
        {
            assert!(!finds(name, Pattern::Xor, 30, false, seed), "{name} {seed}");
        }
    }
}
