use super::*;
use crate::blocks::{BlockSource, MemoryBlocks, run};
use crate::data::{Dataset, Target};
use crate::dependence::TargetKernel;
use crate::random::Rng;
use crate::select::{ChiSquared, Discretizer, HsicLasso, InformationGain, Statistic};
use ndarray::Array2;

/// Columns: related to the class, few values, integers, noise, constant, 42 values, related on another scale.
fn data(n: usize) -> Dataset {
    let mut rng = Rng::new(11);
    let codes: Vec<usize> = (0..n).map(|_| rng.below(3)).collect();
    let mut integers = Rng::new(12);
    let x = Array2::from_shape_fn((n, 7), |(i, j)| match j {
        0 => rng.normal() + 0.6 * codes[i] as f64,
        1 => rng.below(4) as f64,
        2 => (rng.normal() * 40.0).round() + codes[i] as f64,
        3 => rng.normal(),
        4 => 7.0,
        5 => integers.below(40) as f64 + codes[i] as f64,
        _ => 1e6 + 1e3 * (rng.uniform() + f64::from(u8::from(codes[i] == 1))),
    });
    Dataset::labeled(x, codes).unwrap()
}

/// Every method with rounds, with parameters that rounds need.
fn methods() -> Vec<SelectorMethod> {
    let method = |name| match SelectorMethod::by_name(name).unwrap() {
        SelectorMethod::HsicLasso(method) => {
            SelectorMethod::HsicLasso(HsicLasso { block_size: Some(20), ..method })
        }
        other => other,
    };
    SelectorMethod::names_with_rounds().into_iter().map(method).collect()
}

/// The number of features of a method.
fn count(method: &SelectorMethod) -> FeatureCount {
    if matches!(method, SelectorMethod::HsicLasso(_)) { FeatureCount::Count(3) } else { FeatureCount::Auto }
}

fn in_rounds(method: &SelectorMethod, data: &Dataset, rows: usize) -> Selection {
    let (ctx, source) = (Context::default(), MemoryBlocks::new(data, rows).unwrap());
    run(method.rounds(source.layout(), count(method), &ctx).unwrap(), &source, &ctx).unwrap()
}

fn in_memory(method: &SelectorMethod, data: &Dataset) -> Selection {
    method.select(data, count(method), &Context::default()).unwrap()
}

fn assert_equal(found: &Selection, expected: &Selection, tolerance: f64) {
    assert_eq!((found.selected(), &found.method), (expected.selected(), &expected.method));
    for (a, b) in found.scores.iter().zip(&expected.scores) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{a} {b}");
    }
}

#[test]
fn fisher_scores_equal_those_in_memory() {
    let data = data(700);
    let method = SelectorMethod::by_name("fisher").unwrap();
    for rows in [1, 64, 700] {
        // Sums in another order; the last column has a mean of 700 standard deviations.
        assert_equal(&in_rounds(&method, &data, rows), &in_memory(&method, &data), 1e-11);
    }
    let mut numbers = data.clone();
    let y = data.x().column(0).iter().map(|v| 1e4 + v * v * v).collect();
    numbers.set_target(Target::Continuous(y)).unwrap();
    assert_equal(&in_rounds(&method, &numbers, 64), &in_memory(&method, &numbers), 1e-11);
}

#[test]
fn small_tables_have_the_same_bins_as_in_memory() {
    let data = data(900);
    for discretizer in [Discretizer::Mdl, Discretizer::Frequency, Discretizer::Width] {
        let gain = InformationGain { discretizer, ..InformationGain::default() };
        let chi2 = ChiSquared { discretizer, statistic: Statistic::Bins, ..ChiSquared::default() };
        for method in [SelectorMethod::InformationGain(gain), SelectorMethod::ChiSquared(chi2)] {
            // Counts are exact, so that all bits are equal.
            assert_equal(&in_rounds(&method, &data, 100), &in_memory(&method, &data), 0.0);
        }
    }
    let counts = data.with_x(data.x().to_dense().mapv(f64::abs)).unwrap();
    let method = SelectorMethod::by_name("chi-squared").unwrap();
    // Sums in another order; by class, those of the last column differ by a thousandth.
    assert_equal(&in_rounds(&method, &counts, 100), &in_memory(&method, &counts), 1e-10);
}

#[test]
fn large_tables_have_bins_of_sampled_values() {
    let data = data(30_000);
    for name in ["information-gain", "chi-squared"] {
        let method = SelectorMethod::by_name(name).unwrap();
        let (found, expected) = (in_rounds(&method, &data, 4096), in_memory(&method, &data));
        assert_eq!(found.selected(), expected.selected());
        // A cut between two of 1024 sampled values moves a thousandth of the rows at most, some percent of the rows near it.
        let largest = expected.scores.iter().copied().fold(0.0, f64::max);
        assert!(found.scores.iter().zip(&expected.scores).all(|(a, b)| (a - b).abs() < 0.02 * largest));
        // Features of fewer than 64 values have the bins in memory.
        assert_eq!((found.scores[1], found.scores[5]), (expected.scores[1], expected.scores[5]));
    }
    // Bins of equal width depend on the smallest and the largest value only; counts are exact.
    for n_bins in [7, 20] {
        let method =
            InformationGain { discretizer: Discretizer::Width, n_bins, ..InformationGain::default() };
        let method = SelectorMethod::InformationGain(method);
        assert_equal(&in_rounds(&method, &data, 4096), &in_memory(&method, &data), 0.0);
    }
}

#[test]
fn rare_values_have_their_own_bins() {
    // Two values and, in a row of 20,000 outside the sample, a third one.
    let x = Array2::from_shape_fn((20_000, 1), |(i, _)| if i == 12_345 { 9.0 } else { (i % 2) as f64 });
    let data = Dataset::labeled(x, (0..20_000).map(|i| (i / 2) % 2).collect()).unwrap();
    for discretizer in [Discretizer::Mdl, Discretizer::Frequency, Discretizer::Width] {
        let method = InformationGain { discretizer, ..InformationGain::default() };
        let method = SelectorMethod::InformationGain(method);
        assert_eq!(in_rounds(&method, &data, 4096).scores, in_memory(&method, &data).scores);
    }
}

#[test]
fn bits_do_not_depend_on_where_blocks_are_computed() {
    let data = data(2000);
    let (ctx, source) = (Context::default(), MemoryBlocks::new(&data, 64).unwrap());
    for method in methods() {
        let name = method.name();
        let expected = in_rounds(&method, &data, 64);
        // As on other computers: rounds and sums travel as bytes, groups of blocks are added by different ones.
        let mut rounds = method.rounds(source.layout(), count(&method), &ctx).unwrap();
        let found = loop {
            let bytes = serde_json::to_vec(&rounds).unwrap();
            let copy = |_: usize| -> SelectorRounds { serde_json::from_slice(&bytes).unwrap() };
            let mut level: Vec<Vec<u8>> = vec![];
            source
                .pass(&ctx, &mut |block| {
                    level.push(serde_json::to_vec(&copy(0).of_block(&block)?).unwrap());
                    Ok(())
                })
                .unwrap();
            while level.len() > 1 {
                let group = |group: &[Vec<u8>]| {
                    let mut parts =
                        group.iter().map(|part| serde_json::from_slice::<SelectorSums>(part).unwrap());
                    let mut total = parts.next().unwrap();
                    parts.for_each(|later| copy(1).add(&mut total, later));
                    serde_json::to_vec(&total).unwrap()
                };
                level = level.chunks(crate::blocks::FAN_IN).map(group).collect();
            }
            match rounds.update(serde_json::from_slice(&level[0]).unwrap(), &ctx).unwrap() {
                Next::Round(next) => rounds = next,
                Next::Fit(fit) => break fit,
            }
        };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn methods_without_rounds_name_those_that_have_them() {
    let data = data(50);
    let source = MemoryBlocks::new(&data, 10).unwrap();
    let relief = SelectorMethod::by_name("relief").unwrap();
    let error = relief.rounds(source.layout(), FeatureCount::Auto, &Context::default()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "ReliefF does not read a table in passes; these do: fisher, information-gain, chi-squared, hsic-lasso"
    );
}

#[test]
fn hsic_lasso_selects_as_in_memory() {
    let data = data(3000);
    let mut numbers = data.clone();
    let y = data.x().column(0).iter().zip(data.x().column(1)).map(|(a, b)| a.sin() + 0.5 * b).collect();
    numbers.set_target(Target::Continuous(y)).unwrap();
    for data in [data, numbers] {
        let method = HsicLasso { block_size: Some(20), ..HsicLasso::default() };
        let method = SelectorMethod::HsicLasso(method);
        // With a single block of rows the blocks of samples are those in memory.
        let (found, expected) = (in_rounds(&method, &data, 3000), in_memory(&method, &data));
        // Standard deviations are sums in another order; the last column has a mean of more than a thousand of them.
        assert!(
            found.scores.iter().zip(&expected.scores).all(|(a, b)| (a - b).abs() < 1e-10),
            "{:?} {:?}",
            found.scores,
            expected.scores
        );
        assert_eq!((found.selected(), found.order[0]), (expected.selected(), expected.order[0]));
    }
    let source_data = self::data(200);
    let source = MemoryBlocks::new(&source_data, 50).unwrap();
    let refused = |block_size, count| {
        let method = SelectorMethod::HsicLasso(HsicLasso { block_size, ..HsicLasso::default() });
        method.rounds(source.layout(), count, &Context::default()).err().unwrap().to_string()
    };
    assert!(refused(None, FeatureCount::Count(1)).contains("'block_size' must be a number, such as 20"));
    assert!(refused(Some(60), FeatureCount::Count(1)).contains("at most the rows of a block, 50"));
    assert!(refused(Some(20), FeatureCount::Auto).contains("'number of features' must be given"));
}

#[test]
fn hsic_lasso_refuses_kernels_of_the_target_that_need_all_rows() {
    let mut data = data(200);
    data.set_target(Target::Continuous((0..200).map(f64::from).collect())).unwrap();
    let source = MemoryBlocks::new(&data, 50).unwrap();
    for (target_kernel, name) in [(TargetKernel::Gaussian, "gaussian"), (TargetKernel::Delta, "delta")] {
        let method = HsicLasso { block_size: Some(20), target_kernel, ..HsicLasso::default() };
        let rounds = SelectorMethod::HsicLasso(method).rounds(
            source.layout(),
            FeatureCount::Count(1),
            &Context::default(),
        );
        let expected = "must be auto or linear for a continuous target that is read in passes, got ";
        let error = rounds.err().unwrap().to_string();
        assert!(error.ends_with(&format!("{expected}{name}")), "{error}");
    }
}
