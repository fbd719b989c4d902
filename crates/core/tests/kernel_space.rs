//! Conformance tests of every pair of a basis and a selector.

use kernsift::basis::{Basis, BasisMethod, Discriminant, Kgs, Kobl, Threshold};
use kernsift::classify::Knnc;
use kernsift::data::{BuiltIn, Dataset, Standardizer};
use kernsift::internals::Rng;
use kernsift::kernel::{Family, Gamma, Kernel, KernelChoice};
use kernsift::model::Content;
use kernsift::select::{FeatureCount, Ffs, Relief, Selector, SelectorMethod, WeakLearner, WeightRule};
use kernsift::space::{KernelSpace, KernelSpaceSelector, SPACES, Tune};
use kernsift::{Context, Model, Observer};
use ndarray::{Array2, Axis, array};

fn builtin(name: &str) -> Dataset {
    let data = BuiltIn::by_name(name).unwrap().data().unwrap();
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

fn spaces() -> impl Iterator<Item = (&'static str, KernelSpaceSelector)> {
    SPACES.iter().map(|info| (info.name, KernelSpaceSelector::by_name(info.name).unwrap()))
}

fn fit(space: &KernelSpaceSelector, data: &Dataset) -> KernelSpace {
    space.fit(data, FeatureCount::Auto, &Context::default()).unwrap()
}

fn codes(data: &Dataset) -> Vec<usize> {
    data.classes("test").unwrap().codes.clone()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn a_space_combines_its_basis_and_its_selector() {
    for set in ["sonar", "wine"] {
        let data = builtin(set);
        for (name, space) in spaces() {
            let fitted = fit(&space, &data);
            assert_eq!(fitted.method(), name);
            let ctx = Context::default();
            let basis = space.basis.fit(&data, &ctx).unwrap();
            assert_eq!(fitted.map(), &basis.map, "{name}");
            let features = Dataset::with_target(basis.features.clone(), data.target().clone()).unwrap();
            let selection =
                space.selector.as_ref().unwrap().select(&features, FeatureCount::Auto, &ctx).unwrap();
            assert_eq!(fitted.selection(), &selection, "{name}");
            // The selected directions in order, multiplied by the root of the weight.
            let mut expected = basis.features.select(Axis(1), selection.selected());
            for (mut column, &i) in expected.columns_mut().into_iter().zip(selection.selected()) {
                column *= selection.scores[i].sqrt();
            }
            let got = fitted.transform(data.x(), &ctx).unwrap();
            // The same products in another order; the shortest pivots of KGS magnify rounding errors.
            let worst = (&got - &expected).iter().fold(0.0_f64, |a, e| a.max(e.abs()));
            assert!(worst < 1e-7, "{name}: {worst}");
            assert_eq!(fitted.output_names().len(), selection.n_selected);
        }
    }
}

#[test]
fn training_rows_are_predicted_correctly() {
    for set in ["heart", "wine"] {
        let data = builtin(set);
        for (name, space) in spaces() {
            let predicted = fit(&space, &data).predict(data.x(), &Context::default()).unwrap();
            assert_eq!(predicted, codes(&data), "{name}");
        }
    }
}

#[test]
fn predictions_use_the_nearest_row_in_weighted_coordinates() {
    let data = builtin("ionosphere");
    let (train, test): (Vec<usize>, Vec<usize>) = (0..data.n()).partition(|i| i % 3 > 0);
    let (train, test) = (data.take_rows(&train), data.take_rows(&test));
    let ctx = Context::default();
    for (name, space) in spaces() {
        let fitted = fit(&space, &train);
        let (a, b) = (fitted.transform(train.x(), &ctx).unwrap(), fitted.transform(test.x(), &ctx).unwrap());
        let expected: Vec<usize> = b
            .rows()
            .into_iter()
            .map(|q| {
                let distance = |r: usize| (&a.row(r) - &q).mapv(|e| e * e).sum();
                let best = (0..a.nrows()).min_by(|&i, &j| distance(i).total_cmp(&distance(j))).unwrap();
                codes(&train)[best]
            })
            .collect();
        assert_eq!(fitted.predict(test.x(), &ctx).unwrap(), expected, "{name}");
    }
}

#[test]
fn a_full_basis_without_selection_equals_kernel_nearest_neighbors() {
    let data = builtin("sonar");
    let (train, test): (Vec<usize>, Vec<usize>) = (0..data.n()).partition(|i| i % 4 > 0);
    let (train, test) = (data.take_rows(&train), data.take_rows(&test));
    let ctx = Context::default();
    let plain =
        Knnc::fit(&KernelChoice::default(), &train, 1, &ctx).unwrap().predict(test.x(), &ctx).unwrap();
    let full = Kobl { threshold: Threshold::None, ..Kobl::default() };
    for basis in [BasisMethod::Kobl(full), BasisMethod::Kgs(Kgs::default())] {
        let space = KernelSpaceSelector { basis, selector: None, ..KernelSpaceSelector::default() };
        assert_eq!(fit(&space, &train).predict(test.x(), &ctx).unwrap(), plain);
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let data = builtin("heart");
    let tuned = KernelSpaceSelector { tune: Tune::Everything, ..KernelSpaceSelector::takes() };
    for (name, space) in spaces().chain([("tuned", tuned)]) {
        let results = [1, 3].map(|threads| on_threads(threads, || fit(&space, &data)));
        assert!(results.windows(2).all(|w| w[0] == w[1]), "{name}");
        let predicted =
            [1, 2].map(|t| on_threads(t, || results[0].predict(data.x(), &Context::default()).unwrap()));
        assert_eq!(predicted[0], predicted[1], "{name}");
    }
    // Enough rows for several blocks in every step.
    let mut rng = Rng::new(7);
    let x = Array2::from_shape_simple_fn((40_000, 4), || rng.normal());
    let y = x.rows().into_iter().map(|r| usize::from(r[0] * r[1] > 0.0)).collect();
    let tall = Dataset::labeled(x, y).unwrap();
    for weak_learner in [WeakLearner::Stump, WeakLearner::Klms] {
        let mut space = KernelSpaceSelector::takes();
        *space.basis.n_components_mut() = Some(20);
        space.selector = Some(SelectorMethod::Ffs(Ffs { weak_learner, ..Ffs::default() }));
        let results = [1, 3].map(|threads| on_threads(threads, || fit(&space, &tall)));
        assert_eq!(results[0], results[1]);
    }
}

#[test]
fn saved_spaces_are_restored() {
    let data = builtin("wine");
    let ctx = Context::default();
    for (name, space) in spaces() {
        let fitted = fit(&space, &data);
        let model = Model {
            names: data.names().to_vec(),
            recipe: None,
            encoder: None,
            content: Content::Space(fitted.clone()),
        };
        let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(back, model, "{name}");
        assert_eq!(back.method(), name);
        assert_eq!(back.apply(data.x(), &ctx).unwrap(), fitted.transform(data.x(), &ctx).unwrap());
        assert_eq!(back.predict(data.x(), &ctx).unwrap(), codes(&data));
        assert_eq!(back.class_names().unwrap().len(), 3);
        assert_eq!(back.output_names().len(), fitted.selection().n_selected);
        let error = back.predict(&array![[1.0, 2.0]].into(), &ctx).unwrap_err().to_string();
        assert_eq!(error, "columns for the model: expected 13, got 2");
    }
}

#[test]
fn parameters_round_trip_through_json() {
    for (name, space) in spaces() {
        let text = serde_json::to_string(&space).unwrap();
        let back: KernelSpaceSelector = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text, "{name}");
    }
}

#[test]
fn gamma_can_be_chosen_by_the_number_of_components() {
    let data = builtin("ionosphere");
    let space = KernelSpaceSelector { gamma_for_n_components: Some(40), ..KernelSpaceSelector::takes() };
    assert_eq!(fit(&space, &data).map().n_components(), 40);
    let other = KernelSpaceSelector {
        gamma_for_n_components: Some(40),
        ..KernelSpaceSelector::by_name("fskpca").unwrap()
    };
    let error = other.fit(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string();
    assert!(error.contains("'gamma_for_n_components' must be left out unless the basis is KOBL"), "{error}");
}

#[test]
fn tuning_keeps_the_requested_number() {
    let data = builtin("sonar");
    for tune in [Tune::Nothing, Tune::Gamma, Tune::Everything] {
        let space = KernelSpaceSelector { tune, ..KernelSpaceSelector::takes() };
        let fitted = space.fit(&data, FeatureCount::Count(7), &Context::default()).unwrap();
        assert_eq!(fitted.selection().n_selected, 7, "{tune:?}");
        assert_eq!(fitted.weights().iter().filter(|&&w| w > 0.0).count(), 7, "{tune:?}");
    }
}

#[test]
fn tuning_increases_gamma_for_fine_structure() {
    // Stripes much narrower than the median distance.
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_simple_fn((240, 1), || 20.0 * rng.uniform());
    let y: Vec<usize> = x.iter().map(|v| v.floor() as usize % 2).collect();
    let data = Dataset::labeled(x, y).unwrap();
    let gamma =
        |tune| match fit(&KernelSpaceSelector { tune, ..KernelSpaceSelector::takes() }, &data).map().kernel()
        {
            Kernel::Rbf { gamma } => *gamma,
            other => panic!("{other:?}"),
        };
    assert!(gamma(Tune::Gamma) > gamma(Tune::Nothing));
    // A given value is the center of the search grid, which consists of its multiples by powers of two.
    let mut space = KernelSpaceSelector { tune: Tune::Gamma, ..KernelSpaceSelector::takes() };
    *space.basis.kernel_mut() =
        KernelChoice::Named { family: Family::Rbf, gamma: Gamma::Value(3.0), degree: 3, coef0: 1.0 };
    let Kernel::Rbf { gamma } = fit(&space, &data).map().kernel().clone() else { panic!() };
    assert!((gamma / 3.0).log2().fract() == 0.0, "{gamma}");
}

#[test]
fn tuning_works_for_every_pair_and_prefers_simple_settings() {
    let mut rng = Rng::new(1);
    let x = Array2::from_shape_fn((60, 3), |(i, j)| rng.normal() + if i % 3 == j { 20.0 } else { 0.0 });
    let separated = Dataset::labeled(x, (0..60).map(|i| i % 3).collect()).unwrap();
    for (name, space) in spaces() {
        let space = KernelSpaceSelector { tune: Tune::Everything, ..space };
        let fitted = fit(&space, &separated);
        // Classes are separated, so the simplest settings are best: one neighbor and equal weights.
        assert_eq!(fitted.n_neighbors(), 1, "{name}");
        assert!(fitted.weights().iter().all(|&w| w == 0.0 || w == 1.0), "{name}");
    }
    let kda = KernelSpaceSelector {
        basis: BasisMethod::Discriminant(Discriminant::default()),
        selector: None,
        tune: Tune::Everything,
        ..KernelSpaceSelector::default()
    };
    assert_eq!(fit(&kda, &builtin("wine")).map().n_components(), 2);
}

#[test]
fn invalid_input_is_an_error() {
    let error = |space: &KernelSpaceSelector, data: &Dataset, wanted| {
        space.fit(data, wanted, &Context::default()).unwrap_err().to_string()
    };
    let x = array![[0.0, 1.0], [1.0, 0.5], [2.0, 0.0], [3.0, 2.0]];
    let one = Dataset::labeled(x.clone(), vec![1, 1, 1, 1]).unwrap();
    let singletons = Dataset::labeled(x.clone(), vec![0, 1, 2, 3]).unwrap();
    let none = Dataset::unlabeled(x.clone()).unwrap();
    let valid = Dataset::labeled(x, vec![0, 0, 1, 1]).unwrap();
    for (name, space) in spaces() {
        assert!(error(&space, &one, FeatureCount::Auto).contains("all rows have the class '1'"), "{name}");
        assert!(
            error(&space, &singletons, FeatureCount::Auto).contains("classes has a single row"),
            "{name}"
        );
        assert!(error(&space, &none, FeatureCount::Auto).contains("there is no target"), "{name}");
        let message = error(&space, &valid, FeatureCount::Count(9));
        assert!(message.contains("from 1 to the number of directions, 4, got 9"), "{name}: {message}");
        let many = KernelSpaceSelector { n_neighbors: 5, ..space.clone() };
        assert!(
            error(&many, &valid, FeatureCount::Auto).contains("number of training rows, 4, got 5"),
            "{name}"
        );
        let power = KernelSpaceSelector { weight_power: -1.0, ..space };
        assert!(error(&power, &valid, FeatureCount::Auto).contains("'weight_power'"), "{name}");
    }
    let mut linear = KernelSpaceSelector { tune: Tune::Gamma, ..KernelSpaceSelector::takes() };
    *linear.basis.kernel_mut() = Kernel::Linear.into();
    assert!(error(&linear, &valid, FeatureCount::Auto).contains("without gamma"));
}

#[test]
fn a_class_with_one_row_is_supported() {
    let mut rng = Rng::new(4);
    let x = Array2::from_shape_simple_fn((21, 3), || rng.normal());
    let mut y: Vec<usize> = (0..21).map(|i| i % 2).collect();
    y[20] = 2;
    let data = Dataset::labeled(x, y).unwrap();
    for tune in [Tune::Nothing, Tune::Gamma, Tune::Everything] {
        for (name, space) in spaces() {
            let fitted = fit(&KernelSpaceSelector { tune, ..space }, &data);
            assert_eq!(fitted.predict(data.x(), &Context::default()).unwrap().len(), 21, "{name} {tune:?}");
        }
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
    for (name, space) in spaces() {
        for tune in [Tune::Nothing, Tune::Gamma, Tune::Everything] {
            let space = KernelSpaceSelector { tune, ..space.clone() };
            let error = space.fit(&builtin("wine"), FeatureCount::Auto, &ctx).unwrap_err();
            assert!(error.is_interrupted(), "{name} {tune:?}");
        }
    }
}

#[test]
fn weights_follow_the_weight_rule() {
    let data = builtin("heart");
    let run = |weights| {
        let mut space = KernelSpaceSelector::takes();
        space.selector = Some(SelectorMethod::Ffs(Ffs { weights, ..Ffs::default() }));
        fit(&space, &data)
    };
    let (ensemble, individual) = (run(WeightRule::Ensemble), run(WeightRule::Individual));
    assert_eq!(ensemble.selection().order, individual.selection().order);
    let n = data.n() as f64;
    for (step, &i) in ensemble.selection().selected().iter().enumerate() {
        let eps = ensemble.selection().curve[step].clamp(0.5 / n, 0.5);
        // Weights are stored as square roots.
        assert!((ensemble.weights()[i] - 0.5 * ((1.0 - eps) / eps).ln()).abs() < 1e-12);
    }
    assert_ne!(ensemble.weights(), individual.weights());
}

#[test]
fn tuning_supports_few_rows_and_rare_classes() {
    let mut rng = Rng::new(12);
    for case in 0..20 {
        let n = 5 + rng.below(16);
        let x = Array2::from_shape_simple_fn((n, 2), || rng.normal());
        let classes = 2 + rng.below(3);
        let mut y: Vec<usize> = (0..n).map(|_| rng.below(classes)).collect();
        // At least two rows in each of two classes, so that cross-validation is possible.
        (y[0], y[1], y[2], y[3]) = (0, 0, 1, 1);
        let data = Dataset::labeled(x, y).unwrap();
        for tune in [Tune::Gamma, Tune::Everything] {
            for (name, space) in spaces() {
                let space = KernelSpaceSelector { tune, ..space };
                let fitted = space.fit(&data, FeatureCount::Auto, &Context::default());
                assert!(fitted.is_ok(), "case {case}, {name}, {tune:?}: {}", fitted.unwrap_err());
            }
        }
    }
}

#[test]
fn tuning_accepts_the_same_limits_as_fitting() {
    let mut rng = Rng::new(2);
    let x = Array2::from_shape_simple_fn((40, 3), || rng.normal());
    let data = Dataset::labeled(x, (0..40).map(|i| i % 2).collect()).unwrap();
    for tune in [Tune::Gamma, Tune::Everything] {
        let mut many = KernelSpaceSelector { tune, ..KernelSpaceSelector::takes() };
        *many.basis.n_components_mut() = Some(36);
        assert!(many.fit(&data, FeatureCount::Auto, &Context::default()).is_ok(), "{tune:?}");
        let neighbors =
            KernelSpaceSelector { tune: Tune::Gamma, n_neighbors: 36, ..KernelSpaceSelector::takes() };
        assert_eq!(fit(&neighbors, &data).n_neighbors(), 36);
        let mut relief = KernelSpaceSelector { tune, ..KernelSpaceSelector::by_name("fskgs").unwrap() };
        relief.selector = Some(SelectorMethod::Relief(Relief { n_neighbors: 18, ..Relief::original() }));
        assert!(relief.fit(&data, FeatureCount::Auto, &Context::default()).is_ok(), "{tune:?}");
        // This many directions exist only for large gamma.
        let takes = KernelSpaceSelector { tune, ..KernelSpaceSelector::takes() };
        let fitted = takes.fit(&data, FeatureCount::Count(10), &Context::default()).unwrap();
        assert_eq!(fitted.selection().n_selected, 10, "{tune:?}");
    }
}

#[test]
fn tuning_on_a_subsample_keeps_a_rare_class() {
    let mut rng = Rng::new(9);
    let n = 6000;
    let x = Array2::from_shape_simple_fn((n, 2), || rng.normal());
    let y = (0..n).map(|i| usize::from(i % 1500 == 7)).collect();
    let data = Dataset::labeled(x, y).unwrap();
    let mut space = KernelSpaceSelector { tune: Tune::Gamma, ..KernelSpaceSelector::takes() };
    space.selector = Some(SelectorMethod::Ffs(Ffs::default()));
    *space.basis.n_components_mut() = Some(20);
    assert_eq!(fit(&space, &data).map().n_components(), 20);
}

#[test]
fn fit_returns_the_tuned_settings() {
    let data = builtin("ionosphere");
    let space = KernelSpaceSelector { tune: Tune::Everything, ..KernelSpaceSelector::takes() };
    let (fitted, used) = space.fit_with_settings(&data, FeatureCount::Auto, &Context::default()).unwrap();
    assert_eq!(used.tune, Tune::Nothing);
    assert_eq!(used.n_neighbors, fitted.n_neighbors());
    let wanted = FeatureCount::Count(fitted.selection().n_selected);
    let again = used.fit(&data, wanted, &Context::default()).unwrap();
    assert_eq!(again.map(), fitted.map());
    assert_eq!(again.weights(), fitted.weights());
}
