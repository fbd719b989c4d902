//! Conformance tests of every kernel learner in the catalog, and uses of learned kernels in other methods.

use kernsift::basis::{Basis, Kobl};
use kernsift::classify::{Knnc, Svm};
use kernsift::data::triplets::{from_target, points};
use kernsift::data::{BuiltIn, Dataset, Rows, Standardizer, Target, Triplet, Weights};
use kernsift::dependence::{Estimator, Hsic, TargetKernel, Variable, hsic};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::evaluate::{Evaluator, KernelNeighbors};
use kernsift::internals::symmetric_eigen;
use kernsift::kernel::{KernelChoice, gram_symmetric};
use kernsift::learn::design::{KernelDesign, Penalties, Psd};
use kernsift::learn::{LEARNERS, Learned, LearnerMethod, Status};
use kernsift::model::Content;
use kernsift::{Context, KernelLearner, Model, Observer};

fn built_in(name: &str) -> Dataset {
    let data = BuiltIn::by_name(name).unwrap().data().unwrap();
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

fn learners() -> impl Iterator<Item = (&'static str, LearnerMethod)> {
    LEARNERS.iter().map(|info| (info.name, LearnerMethod::by_name(info.name).unwrap()))
}

fn draw(data: &Dataset, n: usize, seed: u64) -> Vec<Triplet> {
    let rows: Vec<usize> = (0..data.n()).collect();
    from_target(data.target(), &rows, n, &Context { seed, ..Context::default() }).unwrap()
}

/// Two thirds of the rows for training, the others for evaluation.
fn split(data: &Dataset) -> (Dataset, Dataset) {
    let (train, test): (Vec<usize>, Vec<usize>) = (0..data.n()).partition(|i| i % 3 > 0);
    (data.take_rows(&train), data.take_rows(&test))
}

/// The smallest eigenvalue of the kernel with its noise, as a fraction of the largest.
fn smallest_eigenvalue_ratio(learned: &Learned, x: &Rows) -> f64 {
    let values = symmetric_eigen(gram_symmetric(&learned.with_noise(), x).unwrap().view()).unwrap().values;
    values[values.len() - 1] / values[0].max(f64::MIN_POSITIVE)
}

#[test]
fn every_learner_returns_a_valid_kernel() {
    let ctx = Context::default();
    for set in ["iris", "wine"] {
        let data = built_in(set);
        let triplets = draw(&data, 300, 1);
        for (name, method) in learners() {
            let learned = method.learn(&data, &triplets, &ctx).unwrap();
            assert_eq!((learned.method.as_str(), method.name()), (name, name));
            assert_eq!(learned.status, Status::Optimal, "{set} {name}");
            learned.kernel.validate(data.d()).unwrap();
            assert_eq!(learned.scores.len(), data.d(), "{set} {name}");
            assert!(learned.scores.iter().all(|s| (0.0..=1.0).contains(s)), "{set} {name}");
            assert!(learned.scores.contains(&1.0), "{set} {name}: the largest score is 1");
            assert_eq!(learned.features(), learned.kernel.columns(data.d()), "{set} {name}");
            // Rounding error of a matrix of up to 178 rows: some hundred ulps of the largest eigenvalue.
            let smallest = smallest_eigenvalue_ratio(&learned, &data.x().take_rows(&points(&triplets)));
            assert!(smallest > -1e-13, "{set} {name}: {smallest}");
            // Plain distances separate the classes of both sets, so every valid kernel is far above chance.
            let accuracy = triplet_accuracy_of(&learned.kernel, data.x(), &triplets).unwrap();
            assert!(accuracy > 0.7, "{set} {name}: {accuracy}");
        }
    }
}

#[test]
fn triplets_from_the_target_depend_on_the_seed() {
    let data = built_in("iris");
    let ctx = Context { seed: 4, ..Context::default() };
    for (name, method) in learners() {
        let learned = method.learn_from_target(&data, 200, &ctx).unwrap();
        if let LearnerMethod::Design(_) = method {
            // The choice of penalties draws more triplets, so the penalties are given here.
            let penalties = Penalties { kernels: 1e-3, diagonal: 0.0 };
            let method = LearnerMethod::Design(KernelDesign::default().with_penalties(penalties));
            let (a, b) = (
                method.learn_from_target(&data, 200, &ctx).unwrap(),
                method.learn(&data, &draw(&data, 200, 4), &ctx).unwrap(),
            );
            assert_eq!(a, b, "{name}");
        } else {
            assert_eq!(learned, method.learn(&data, &draw(&data, 200, 4), &ctx).unwrap(), "{name}");
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let data = built_in("wine");
    let triplets = draw(&data, 400, 2);
    for (name, method) in learners() {
        let results = [1, 2, 4].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| method.learn(&data, &triplets, &Context::default()).unwrap())
        });
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{name}");
    }
}

#[test]
fn invalid_triplets_missing_values_and_interrupts_are_errors() {
    struct Stop;
    impl Observer for Stop {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let data = built_in("iris");
    let mut cells = data.x().to_dense();
    cells[[3, 1]] = f64::NAN;
    let with_missing = Dataset::with_missing(data.names().to_vec(), cells, data.target().clone()).unwrap();
    let valid = draw(&data, 50, 0);
    for (name, method) in learners() {
        let message = |triplets: &[Triplet]| {
            method.learn(&data, triplets, &Context::default()).unwrap_err().to_string()
        };
        assert_eq!(message(&[]), "triplets: expected at least 1, got 0", "{name}");
        assert_eq!(message(&[[0, 1, 150]]), "triplet 1: expected rows below 150, got 150", "{name}");
        assert_eq!(
            message(&[[7, 1, 7]]),
            "triplet 1: expected three distinct rows, got 7, 1 and 7",
            "{name}"
        );
        assert!(message(&[[0, 1, 60], [0, 60, 1]]).contains("as often as its opposite"), "{name}");
        let error = method.learn(&with_missing, &valid, &Context::default()).unwrap_err().to_string();
        assert!(error.starts_with("row 4, column 'sepal_width': missing value"), "{name}: {error}");
        let ctx = Context { observer: &Stop, ..Context::default() };
        if !matches!(method, LearnerMethod::Single(_)) {
            assert!(method.learn(&data, &valid, &ctx).unwrap_err().is_interrupted(), "{name}");
        }
        let unlabeled = Dataset::unlabeled(data.x().to_dense()).unwrap();
        let error = method.learn_from_target(&unlabeled, 10, &Context::default()).unwrap_err().to_string();
        assert!(error.contains("needs a target"), "{name}: {error}");
    }
    let error = LearnerMethod::by_name("desing").unwrap_err().to_string();
    assert_eq!(error, "no kernel learner 'desing'; did you mean 'design'?");
}

#[test]
fn saved_kernels_give_the_same_gram_matrix() {
    let data = built_in("wine");
    let ctx = Context::default();
    let triplets = draw(&data, 200, 3);
    for (name, method) in learners() {
        let learned = method.learn(&data, &triplets, &ctx).unwrap();
        let model = Model {
            names: data.names().to_vec(),
            recipe: None,
            encoder: None,
            content: Content::Kernel(learned.clone()),
        };
        let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(back, model, "{name}");
        assert_eq!(back.method(), name);
        let gram = back.apply(data.x(), &ctx).unwrap();
        assert_eq!(gram, gram_symmetric(&learned.kernel, data.x()).unwrap(), "{name}");
    }
}

/// A mixture with nonnegative weights, and one that is semidefinite because of its noise.
fn designed(train: &Dataset) -> [(Psd, Learned); 2] {
    [Psd::NonNegative, Psd::DominanceWithNoise].map(|psd| {
        let design = KernelDesign { psd, ..KernelDesign::default() };
        let designed = design.design_from_target(train, 600, &Context::default()).unwrap();
        assert_eq!(designed.mixture.psd, psd);
        (psd, designed.learned)
    })
}

#[test]
fn a_designed_kernel_works_with_every_kernel_method() {
    let (train, test) = split(&built_in("wine"));
    let ctx = Context::default();
    let Target::Classes(truth) = test.target() else { panic!("wine has classes") };
    let accuracy = |predicted: Vec<usize>| {
        let hits = predicted.iter().zip(&truth.codes).filter(|(a, b)| a == b).count();
        hits as f64 / truth.codes.len() as f64
    };
    for (psd, learned) in designed(&train) {
        let without_noise: KernelChoice = learned.kernel.clone().into();
        let with_noise: KernelChoice = learned.with_noise().into();
        assert_eq!(learned.noise > 0.0, psd == Psd::DominanceWithNoise, "{psd:?}");

        // Basis: with noise the matrix is semidefinite on these rows, and a full basis reproduces it.
        let kobl = Kobl { kernel: with_noise.clone(), ..Kobl::default() };
        let full = Kobl {
            n_components: Some(train.n()),
            threshold: kernsift::basis::Threshold::None,
            ..kobl.clone()
        };
        let fitted = full.fit(&train, &ctx).unwrap();
        let k = gram_symmetric(&learned.with_noise(), train.x()).unwrap();
        let products = fitted.features.dot(&fitted.features.t());
        let size = k.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        // The residuals are the square root of rounding errors.
        assert!((&products - &k).iter().all(|e| e.abs() < 1e-7 * size), "{psd:?}");
        let few = kobl.fit(&train, &ctx).unwrap().map;
        assert!(few.n_components() > 1, "{psd:?}");
        assert_eq!(few.transform(test.x(), &ctx).unwrap().nrows(), test.n());

        // Nearest neighbors, as a classifier and as an evaluator.
        let knn_accuracy =
            accuracy(Knnc::fit(&without_noise, &train, 5, &ctx).unwrap().predict(test.x(), &ctx).unwrap());
        assert!(knn_accuracy > 0.9, "{psd:?}: {knn_accuracy}");
        let evaluator =
            Evaluator::KernelKnn(KernelNeighbors { kernel: without_noise.clone(), n_neighbors: 5 });
        let error = evaluator
            .evaluate(&train, test.x(), test.target(), Weights::ONE, &ctx)
            .unwrap()
            .scores
            .error
            .unwrap();
        // Error and accuracy add up to 1, up to rounding.
        assert!((error - (1.0 - knn_accuracy)).abs() < 1e-12, "{psd:?}");

        // SVM.
        let svm = Svm { kernel: with_noise.clone(), c: 10.0, ..Svm::default() };
        let model = svm.fit(&train, &ctx).unwrap();
        let svm_accuracy = accuracy(model.predict(test.x(), &ctx).unwrap());
        assert!(svm_accuracy > 0.9, "{psd:?}: {svm_accuracy}");

        // Dependence: the kernel designed for the classes has a larger HSIC than a Gaussian kernel of all features.
        let dependence = |kernel: &KernelChoice| {
            let settings = Hsic { estimator: Estimator::Normalized, permutations: 0 };
            let rows = Variable::Rows(test.x(), kernel);
            hsic(rows, Variable::Target(test.target(), TargetKernel::Auto), &settings, &ctx).unwrap().value
        };
        assert!(dependence(&without_noise) > dependence(&KernelChoice::default()), "{psd:?}");
    }
}
