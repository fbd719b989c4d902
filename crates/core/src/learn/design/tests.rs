use super::program::Problem;
use super::*;
use crate::context::Observer;
use crate::data::triplets::from_labels;
use crate::data::{BuiltIn, Classes, Encoder, Encoding, FeatureType, Standardizer, Target};
use crate::kernel::{Family, Kernel, gram_symmetric};
use crate::learn::Status;
use crate::linalg::symmetric_eigen;
use crate::optim::{HingeProgram, WeightBound};
use crate::random::Rng;
use ndarray::{ShapeBuilder, array};

fn built_in(name: &str) -> Dataset {
    let all = BuiltIn::by_name(name).unwrap().data().unwrap();
    all.with_x(Standardizer::fit(all.x()).apply(all.x()).unwrap()).unwrap()
}

/// A design with these penalties.
fn given(kernels: f64, diagonal: f64) -> KernelDesign {
    KernelDesign::default().with_penalties(Penalties { kernels, diagonal })
}

/// Gaussians of every feature with these values of gamma.
fn gaussians(gammas: &[f64]) -> Bases {
    Bases { kernels: vec![Family::Rbf], gammas: Some(gammas.to_vec()), ..Bases::default() }
}

/// Three values of gamma for every feature, as in the paper.
fn paper(psd: Psd) -> KernelDesign {
    KernelDesign { bases: gaussians(&[1.0, 0.1, 0.01]), psd, threshold: 0.0, ..given(1e-3, 1e-4) }
}

/// Two pairs of points; within a pair the similarity is exp(-1/4), across pairs 0.
fn two_pairs() -> (Dataset, Vec<Triplet>) {
    let x = array![[0.0], [0.5], [10.0], [10.5]];
    (Dataset::unlabeled(x).unwrap(), vec![[0, 1, 2], [2, 3, 0], [1, 0, 3], [3, 2, 1]])
}

/// alpha exp(-1/4) = 1, at the cost of (gamma1 + gamma2) alpha.
#[test]
fn one_kernel_computed_by_hand() {
    let (data, triplets) = two_pairs();
    let expected = 0.25_f64.exp();
    for psd in [Psd::NonNegative, Psd::DominanceWithNoise, Psd::EigenCuts, Psd::StrictDominance] {
        let design = KernelDesign { bases: gaussians(&[1.0]), psd, ..given(0.01, 0.02) };
        let designed = design.design(&data, &triplets, &Context::default()).unwrap();
        let mixture = &designed.mixture;
        assert_eq!(mixture.status, Status::Optimal, "{psd:?}");
        // The tolerance of the objective, over the penalty.
        assert!((mixture.alpha[0] - expected).abs() < 1e-6, "{psd:?}: {:?}", mixture.alpha);
        assert!((mixture.objective - 0.03 * expected).abs() < 1e-7, "{psd:?}: {}", mixture.objective);
        assert!(mixture.noise < 1e-9, "{psd:?}: {}", mixture.noise);
        assert_eq!(designed.learned.scores, [1.0]);
        assert_eq!((mixture.points, mixture.triplets.triplets), (4, 4));
    }
}

/// A category of six levels that determines the class, and two numbers that do not.
#[test]
fn a_category_is_one_feature() {
    let mut rng = Rng::new(4);
    let x = Array2::from_shape_fn((40, 3), |(_, j)| if j == 0 { rng.below(6) as f64 } else { rng.normal() });
    let target = Target::Classes(Classes::from_codes(x.column(0).iter().map(|&v| v as usize % 2).collect()));
    let names = ["category", "a", "b"].map(String::from).to_vec();
    let types = vec![FeatureType::Category { levels: 6 }, FeatureType::Number, FeatureType::Number];
    let typed = Dataset::typed(names, x, types, target).unwrap();
    let data = Encoder::fit(&typed, Encoding::default()).unwrap().encode(&typed).unwrap();
    let designed = given(1e-2, 1e-4).design_from_target(&data, 300, &Context::default()).unwrap();
    let scores = &designed.learned.scores;
    assert_eq!((scores.len(), scores[0]), (3, 1.0), "{scores:?}");
    assert!(designed.bases.iter().all(|base| base.feature.is_some_and(|j| j < 3)));
    assert!(gram_symmetric(&designed.learned.kernel, data.x()).is_ok(), "a kernel of the encoded columns");
}

/// Classes differ in one feature only.
#[test]
fn the_relevant_feature_is_selected() {
    let mut rng = Rng::new(4);
    let codes: Vec<usize> = (0..80).map(|i| i % 2).collect();
    let x = Array2::from_shape_fn((80, 6), |(i, j)| {
        rng.normal() + if j == 2 { 6.0 * codes[i] as f64 } else { 0.0 }
    });
    let data = Dataset::labeled(x, codes).unwrap();
    let design = given(0.1, 1e-3);
    let designed = design.design_from_target(&data, 500, &Context::default()).unwrap();
    assert_eq!(designed.learned.features(), [2]);
    assert!(designed.bases.len() > designed.mixture.alpha.iter().filter(|a| **a != 0.0).count());
}

/// The program with all sign patterns has the same optimum as the rounds of cuts.
#[test]
fn cuts_reach_the_optimum_over_all_sign_patterns() {
    let ctx = Context::default();
    let mut mixed = false;
    for seed in 0..10 {
        let mut rng = Rng::new(seed);
        let n = 5;
        let x = Array2::from_shape_simple_fn((n, 2), || 1.5 * rng.normal());
        let triplets: Vec<Triplet> = (0..12)
            .map(|_| {
                let three = rng.sample(n, 3);
                [three[0], three[1], three[2]]
            })
            .collect();
        for (psd, noisy) in [(Psd::DominanceWithNoise, true), (Psd::StrictDominance, false)] {
            let design = paper(psd);
            let data = Dataset::unlabeled(x.clone()).unwrap();
            let Ok(designed) = design.design(&data, &triplets, &ctx) else { continue };
            let bases = &designed.bases;
            let similarity = Similarity::of_kernels(bases, data.x().clone()).unwrap();
            let k = bases.len();
            let all: Vec<usize> = (0..n).collect();
            let blocks: Vec<_> = (0..k).map(|p| similarity.block(p, &all).unwrap()).collect();
            let mut rows = vec![[vec![1.0; k], vec![1.0]].concat()];
            for i in 0..n {
                for pattern in 0..1 << n {
                    let sign = |j: usize| if pattern >> j & 1 == 1 { 1.0 } else { -1.0 };
                    let side = |block: &Array2<f64>| {
                        (0..n).map(|j| if i == j { block[[i, i]] } else { -sign(j) * block[[i, j]] }).sum()
                    };
                    rows.push(blocks.iter().map(side).chain([1.0]).collect());
                }
            }
            let columns = k + usize::from(noisy);
            let cuts = Array2::from_shape_fn((rows.len(), columns), |(row, p)| rows[row][p]);
            let mut weight_bounds: Vec<WeightBound> =
                bases.iter().map(|b| WeightBound::Symmetric(b.feature.unwrap())).collect();
            let mut margins = Array2::zeros((triplets.len(), columns).f());
            for p in 0..k {
                margins
                    .column_mut(p)
                    .assign(&ndarray::Array1::from(similarity.margins(p, &triplets).unwrap()));
            }
            if noisy {
                weight_bounds.push(WeightBound::Ungrouped);
            }
            let costs = vec![1e-4; columns];
            let naive = HingeProgram::new(&margins, &costs, &weight_bounds, 1e-3)
                .with_cuts(&cuts, Some(0))
                .solve(1e-9, 200, &ctx)
                .unwrap();
            let ours = designed.mixture.objective;
            // Both are within 1e-8 of their optimum; violations up to 1e-7 of the diagonal cost 1e-4 per unit.
            assert!(
                (ours - naive.objective).abs() < 1e-6 * naive.objective,
                "seed {seed} {psd:?}: {ours} {}",
                naive.objective
            );
            mixed |= designed.mixture.alpha.iter().any(|a| *a < 0.0);
        }
    }
    assert!(mixed, "no case had a negative weight, so the sign patterns were not tested");
}

#[test]
fn bounds_never_decrease_and_the_kernel_is_semidefinite() {
    let iris = built_in("iris");
    let ctx = Context::default();
    let mut rounds = 0;
    for psd in [Psd::NonNegative, Psd::DominanceWithNoise, Psd::EigenCuts] {
        let designed = paper(psd).design_from_target(&iris, 400, &ctx).unwrap();
        let mixture = &designed.mixture;
        assert_eq!(mixture.status, Status::Optimal, "{psd:?}");
        assert!(mixture.bounds.windows(2).all(|pair| pair[1] >= pair[0]), "{psd:?}");
        let bound = *mixture.bounds.last().unwrap();
        assert!(bound <= mixture.objective && mixture.objective - bound < 1e-5 * bound, "{psd:?}");
        rounds = rounds.max(mixture.bounds.len());
        let gram = gram_symmetric(&designed.learned.with_noise(), iris.x()).unwrap();
        let values = symmetric_eigen(gram.view()).unwrap().values;
        // The required accuracy, relative to the largest eigenvalue.
        assert!(values[values.len() - 1] >= -1e-8 * values[0], "{psd:?}: {}", values[values.len() - 1]);
    }
    assert!(rounds > 2, "cuts were never needed");
}

#[test]
fn strict_dominance_reports_a_trivial_cone() {
    let iris = built_in("iris");
    let designed = paper(Psd::StrictDominance).design_from_target(&iris, 400, &Context::default()).unwrap();
    assert_eq!(designed.mixture.status, Status::TrivialCone);
    assert_eq!(designed.mixture.objective, 1.0);
    assert!(designed.learned.features().is_empty());
    assert!(designed.learned.status.explain().contains("noise"));
    // The zero kernel can be evaluated.
    let gram = gram_symmetric(&designed.learned.kernel, iris.x()).unwrap();
    assert!(gram.iter().all(|v| *v == 0.0));
}

#[test]
fn over_regularization_is_distinguished_from_a_trivial_cone() {
    let (data, triplets) = two_pairs();
    for psd in [Psd::NonNegative, Psd::DominanceWithNoise, Psd::StrictDominance] {
        let design = KernelDesign { psd, ..given(10.0, 1.0) };
        let designed = design.design(&data, &triplets, &Context::default()).unwrap();
        assert_eq!(designed.mixture.status, Status::OverRegularized, "{psd:?}");
        assert!(designed.mixture.alpha.iter().all(|a| *a == 0.0));
    }
}

/// Column generation reaches the optimum of the direct solution.
#[test]
fn column_generation_reaches_the_direct_optimum() {
    let ctx = Context::default();
    let mut rng = Rng::new(8);
    let codes: Vec<usize> = (0..60).map(|i| i % 2).collect();
    let x = Array2::from_shape_fn((60, 150), |(i, j)| {
        rng.normal() + if j < 5 { 1.5 * codes[i] as f64 } else { 0.0 }
    });
    let data = Dataset::labeled(x, codes).unwrap();
    let Target::Classes(classes) = data.target() else { unreachable!("labeled data") };
    let triplets = from_labels(classes, 300, 1).unwrap();
    let bases = Bases::default().resolve(data.x(), &data.groups(), 0).unwrap();
    let features: Vec<_> = bases.iter().map(|base| base.feature).collect();
    let groups = Grouping::Column.groups(&features);
    let similarity = Similarity::of_kernels(&bases, data.x().clone()).unwrap();
    let problem = Problem {
        similarity,
        groups,
        triplets,
        psd: Psd::NonNegative,
        tolerance: 1e-9,
        max_rounds: 100,
        cuts: None,
    };
    let all: Vec<usize> = (0..bases.len()).collect();
    let penalties = Penalties { kernels: 2e-3, diagonal: 1e-4 };
    let direct = problem.solve_directly(penalties, &all, true, &ctx).unwrap();
    let generated = problem.solve_by_column_generation(penalties, &all, &ctx).unwrap();
    assert_eq!(generated.status, Status::Optimal);
    assert!(generated.bounds.len() > 1);
    // Twice the tolerance of each.
    assert!((direct.objective - generated.objective).abs() < 4e-9 * direct.objective);
    assert!(generated.bounds.last().unwrap() <= &(direct.objective * (1.0 + 1e-9)));
}

#[test]
fn gram_matrices_give_the_weights_of_their_kernels() {
    let iris = built_in("iris");
    let ctx = Context::default();
    let Target::Classes(classes) = iris.target() else { unreachable!("iris has classes") };
    // Rows 101 and 142 are equal; without one of them both ways see the same points.
    let rows: Vec<usize> = (0..150).filter(|&row| row != 142).collect();
    let triplets = crate::data::triplets::from_labels_within(classes, &rows, 300, 3).unwrap();
    let design = paper(Psd::DominanceWithNoise);
    let designed = design.design(&iris, &triplets, &ctx).unwrap();
    let grams: Vec<_> =
        designed.bases.iter().map(|base| gram_symmetric(&base.kernel, iris.x()).unwrap()).collect();
    let features: Vec<_> = designed.bases.iter().map(|base| base.feature).collect();
    let weighed = design.weigh(&grams, &features, &triplets, &ctx).unwrap();
    // The same program up to rounding of kernel values.
    assert!((weighed.objective - designed.mixture.objective).abs() < 1e-7 * weighed.objective);
    assert_eq!(weighed.points, designed.mixture.points);
    // Scaling a kernel does not change the objective.
    let large: Vec<_> = grams.iter().map(|gram| gram * 7.0).collect();
    let other = design.weigh(&large, &features, &triplets, &ctx).unwrap();
    assert!((weighed.objective - other.objective).abs() < 1e-7 * weighed.objective);
    // With both equal rows, merged by their place.
    let triplets: Vec<Triplet> = triplets.into_iter().chain([[142, 101, 3], [142, 120, 7]]).collect();
    let places: Vec<usize> = (0..150).map(|row| if row == 142 { 101 } else { row }).collect();
    let designed = design.design(&iris, &triplets, &ctx).unwrap();
    let weighed = design.weigh_placed(&grams, &features, &places, &triplets, &ctx).unwrap();
    assert!((weighed.objective - designed.mixture.objective).abs() < 1e-7 * weighed.objective);
    assert_eq!(weighed.points, designed.mixture.points);
    let error = design.weigh_placed(&grams, &features, &[150], &triplets, &ctx).unwrap_err().to_string();
    assert!(error.contains("below 150, got 150"), "{error}");
}

#[test]
fn indefinite_kernels_need_a_constraint() {
    let (data, triplets) = two_pairs();
    let ctx = Context::default();
    let odd = Kernel::Polynomial { degree: 2, gamma: 1.0, coef0: -1.0 };
    let bases = Bases::custom(vec![odd, Kernel::Rbf { gamma: 1.0 }]);
    let design = KernelDesign { bases, ..given(0.01, 0.01) };
    assert_eq!(design.design(&data, &triplets, &ctx).unwrap().mixture.psd, Psd::DominanceWithNoise);
    let strict = KernelDesign { psd: Psd::NonNegative, ..design.clone() };
    let message = strict.design(&data, &triplets, &ctx).unwrap_err().to_string();
    assert!(message.contains("dominance_with_noise") && message.contains("kernel 1"), "{message}");
    let grams = [array![[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]];
    let weighed = design.weigh(&grams, &[None], &[[0, 1, 2]], &ctx).unwrap();
    assert_eq!(weighed.psd, Psd::DominanceWithNoise);
    // The diagonal is zero, so the kernel is not scaled: the similarity of the two rows is 2, alpha 1/2 and noise 1.
    assert!((weighed.alpha[0] - 0.5).abs() < 1e-6 && (weighed.noise - 1.0).abs() < 1e-6, "{weighed:?}");
    assert!(strict.weigh(&grams, &[None], &[[0, 1, 2]], &ctx).is_err());
}

#[test]
fn penalties_are_chosen_by_validation_and_reported() {
    let iris = built_in("iris");
    let designed = KernelDesign::default().design_from_target(&iris, 300, &Context::default()).unwrap();
    let mixture = &designed.mixture;
    assert_eq!(mixture.trials.len(), 16);
    let best = mixture.trials.iter().map(|trial| trial.accuracy).fold(0.0, f64::max);
    let chosen = mixture.trials.iter().find(|trial| trial.penalties == mixture.penalties).unwrap();
    assert_eq!(chosen.accuracy, best);
    assert!(best > 0.9, "{best}");
    assert!(mixture.trials.iter().any(|trial| trial.accuracy < best), "all penalties have the same accuracy");
}

#[test]
fn errors_name_invalid_parameters_and_triplets() {
    let (data, triplets) = two_pairs();
    let ctx = Context::default();
    let message = |design: KernelDesign| design.design(&data, &triplets, &ctx).unwrap_err().to_string();
    let base = KernelDesign::default;
    assert!(message(given(0.0, 0.0)).contains("'gamma1'"));
    assert!(message(given(0.1, -1.0)).contains("'gamma2'"));
    assert!(message(KernelDesign { threshold: 1.0, ..base() }).contains("'threshold'"));
    assert!(message(KernelDesign { tol: 0.0, ..base() }).contains("'tol'"));
    assert!(message(KernelDesign { max_rounds: 0, ..base() }).contains("'max_rounds'"));
    let empty = KernelDesign { gamma1: Some(Penalty::Values(vec![])), ..base() };
    assert!(message(empty).contains("'gamma1' must be one number or more"));
    assert!(message(KernelDesign { repeats: 3, ..given(0.1, 0.1) }).contains("'repeats' has no effect"));
    let full = KernelDesign { bases: Bases { weak: false, ..Bases::default() }, ..given(0.1, 0.1) };
    assert!(message(KernelDesign { threshold: 0.5, ..full.clone() }).contains("'threshold' has no effect"));
    assert!(message(KernelDesign { group: Grouping::Kernel, ..full }).contains("'group' has no effect"));
    assert!(base().design(&data, &[[0, 1, 9]], &ctx).is_err());
    assert!(base().design(&data, &[], &ctx).is_err());
    let asymmetric = [array![[1.0, 2.0], [0.0, 1.0]]];
    let error = base().weigh(&asymmetric, &[None], &[[0, 1, 0]], &ctx).unwrap_err().to_string();
    assert!(error.contains("symmetric"), "{error}");
}

#[test]
fn max_rounds_is_reported() {
    let iris = built_in("iris");
    let design = KernelDesign { max_rounds: 1, ..paper(Psd::DominanceWithNoise) };
    let designed = design.design_from_target(&iris, 400, &Context::default()).unwrap();
    assert_eq!(designed.mixture.status, Status::MaxIterations);
    // The noise makes the kernel semidefinite all the same.
    let gram = gram_symmetric(&designed.learned.with_noise(), iris.x()).unwrap();
    let values = symmetric_eigen(gram.view()).unwrap().values;
    assert!(values[values.len() - 1] >= -1e-8 * values[0]);
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    let iris = built_in("iris");
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            paper(Psd::DominanceWithNoise).design_from_target(&iris, 200, &Context::default()).unwrap()
        })
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn interrupts_stop_the_fit() {
    struct Stop;
    impl Observer for Stop {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let ctx = Context { observer: &Stop, ..Context::default() };
    for psd in [Psd::NonNegative, Psd::EigenCuts] {
        assert!(paper(psd).design_from_target(&built_in("iris"), 100, &ctx).unwrap_err().is_interrupted());
    }
}
