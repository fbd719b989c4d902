use super::*;
use crate::data::synthetic::{Pattern, Synthetic};
use crate::data::{Classes, Rows, SparseRows, Target};
use ndarray::{Array1, Array2, Axis};

fn select(method: &HsicLasso, data: &Dataset, wanted: FeatureCount) -> Selection {
    method.select(data, wanted, &Context::default()).unwrap()
}

/// A centered matrix of unit norm, from full matrices.
fn bar(k: &Array2<f64>) -> Array2<f64> {
    let n = k.nrows();
    let h = Array2::<f64>::eye(n) - 1.0 / n as f64;
    let centered = h.dot(k).dot(&h);
    let length = (&centered * &centered).sum().sqrt();
    if length > 1e-9 { centered / length } else { centered }
}

/// $b$ and $G$ from full kernel matrices.
fn naive(data: &Dataset, blocks: &Blocks) -> (Vec<f64>, Array2<f64>) {
    let x = data.x().to_dense();
    let std = data.x().moments().1;
    let (d, n_blocks) = (data.d(), blocks.0.len() as f64);
    let mut b = vec![0.0; d];
    let mut g = Array2::<f64>::zeros((d, d));
    for rows in &blocks.0 {
        let gaussian = |f: usize| {
            let at = |i: usize| x[[rows[i], f]] / std[f];
            bar(&Array2::from_shape_fn((rows.len(), rows.len()), |(i, j)| {
                (-(at(i) - at(j)).powi(2) / 2.0).exp()
            }))
        };
        let l = match data.target() {
            Target::Classes(classes) => {
                let own = |i: usize| classes.codes[rows[i]];
                let count = |c: usize| (0..rows.len()).filter(|&i| own(i) == c).count() as f64;
                bar(&Array2::from_shape_fn((rows.len(), rows.len()), |(i, j)| {
                    if own(i) == own(j) { 1.0 / count(own(i)) } else { 0.0 }
                }))
            }
            Target::Continuous(y) => {
                let mean = y.iter().sum::<f64>() / y.len() as f64;
                let variance = y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / y.len() as f64;
                bar(&Array2::from_shape_fn((rows.len(), rows.len()), |(i, j)| {
                    (-(y[rows[i]] - y[rows[j]]).powi(2) / (2.0 * variance)).exp()
                }))
            }
            Target::None | Target::Outputs(_) => unreachable!(),
        };
        let k: Vec<Array2<f64>> = (0..d).map(gaussian).collect();
        for f in 0..d {
            b[f] += (&k[f] * &l).sum() / n_blocks;
            for q in 0..d {
                g[[f, q]] += (&k[f] * &k[q]).sum() / n_blocks;
            }
        }
    }
    (b, g)
}

/// Features of several kinds: continuous, few distinct values, mostly zeros.
fn mixed(n: usize, seed: u64) -> Array2<f64> {
    let mut rng = Rng::new(seed);
    Array2::from_shape_fn((n, 6), |(_, j)| match j {
        0 | 1 => 3.0 * rng.normal() + 5.0,
        2 => [-2.0, 0.0, 2.0][rng.below(3)],
        3 | 4 => {
            if rng.uniform() < 0.7 {
                0.0
            } else {
                rng.normal()
            }
        }
        _ => {
            if rng.uniform() < 0.1 {
                1.0
            } else {
                0.0
            }
        }
    })
}

#[test]
fn products_equal_those_of_full_matrices() {
    let n = 50;
    let x = mixed(n, 1);
    let codes: Vec<usize> =
        (0..n).map(|i| usize::from(x[[i, 0]] > 5.0) + usize::from(x[[i, 3]] > 0.0)).collect();
    let numbers: Vec<f64> = (0..n).map(|i| 100.0 * x[[i, 1]].powi(2)).collect();
    let targets = [Target::Classes(crate::data::Classes::from_codes(codes)), Target::Continuous(numbers)];
    for target in targets {
        let data = Dataset::with_target(x.clone(), target).unwrap();
        // Full matrices in small blocks, factors in large ones.
        for block_size in [None, Some(12), Some(49)] {
            let method = HsicLasso { block_size, ..HsicLasso::default() };
            let ctx = Context::default();
            let problem = Problem::new(&method, &data, method.blocks(&data, &ctx).unwrap(), &ctx).unwrap();
            let (b, g) = naive(&data, &problem.blocks);
            // The factors omit 1e-8 of the trace, which is several times the norm of the matrix.
            assert!(problem.b.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{:?} {b:?}", problem.b);
            let stacks: Vec<Stack> = (0..6).map(|j| problem.feature(j)).collect();
            for f in 0..6 {
                for q in 0..6 {
                    let found = stacks[f].product(&stacks[q]);
                    assert!((found - g[[f, q]]).abs() < 1e-6, "{f} {q}: {found} {}", g[[f, q]]);
                }
            }
        }
    }
}

#[test]
fn every_knot_is_a_solution_of_the_full_problem() {
    let planted =
        Synthetic { pattern: Pattern::Linear, rows: 60, columns: 12, noise: 1.0, ..Synthetic::default() };
    let data = planted.make().unwrap().data;
    let method = HsicLasso::default();
    let (b, g) = naive(&data, &method.blocks(&data, &Context::default()).unwrap());
    let selection = select(&method, &data, FeatureCount::Count(6));
    assert_eq!(selection.path.last().unwrap().features.len(), 6);
    for point in &selection.path {
        let mut a = vec![0.0; 12];
        point.features.iter().zip(&point.weights).for_each(|(&j, w)| a[j] = *w);
        let a = Array1::from(a);
        let c = Array1::from(b.clone()) - g.dot(&a);
        for j in 0..12 {
            // The factors' tolerance, as above, times the weights.
            assert!(c[j] <= point.strength + 1e-6 && (a[j] == 0.0 || (c[j] - point.strength).abs() < 1e-6));
        }
        let objective =
            0.5 * (1.0 + a.dot(&g.dot(&a))) - Array1::from(b.clone()).dot(&a) + point.strength * a.sum();
        assert!((objective - point.objective).abs() < 1e-6);
        assert!(point.optimality < 1e-9);
    }
}

#[test]
fn sparse_rows_give_the_same_bits() {
    let x = mixed(80, 2).slice_move(ndarray::s![.., 2..]);
    let mut start = vec![0];
    let (mut column, mut value) = (vec![], vec![]);
    for row in x.rows() {
        row.iter().zip(0u32..).filter(|(v, _)| **v != 0.0).for_each(|(v, j)| {
            column.push(j);
            value.push(*v);
        });
        start.push(column.len());
    }
    let sparse: Rows = SparseRows::new(4, start, column, value).unwrap().into();
    let codes: Vec<usize> = (0..80).map(|i| usize::from(x[[i, 1]] + x[[i, 2]] > 0.1)).collect();
    let dense = Dataset::labeled(x, codes).unwrap();
    let sparse = dense.with_x(sparse).unwrap();
    for block_size in [None, Some(20)] {
        let method = HsicLasso { block_size, ..HsicLasso::default() };
        let (a, b) = (
            select(&method, &dense, FeatureCount::Count(2)),
            select(&method, &sparse, FeatureCount::Count(2)),
        );
        assert_eq!(a.order, b.order);
        // Standard deviations are summed in a different order.
        assert!(a.scores.iter().zip(&b.scores).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn wide_sparse_rows_stay_sparse() {
    // 600 x 20,000 with 0.5 percent nonzero: 60,000 values; a dense copy would be 96 MB.
    let (n, d) = (600, 20_000);
    let mut rng = Rng::new(3);
    let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
    let codes: Vec<usize> = (0..n).map(|i| i % 2).collect();
    for code in &codes {
        let mut cells: BTreeSet<usize> = rng.sample(d, d / 200).into_iter().collect();
        if *code == 1 && rng.uniform() < 0.8 {
            cells.insert(777);
        }
        column.extend(cells.iter().map(|&j| j as u32));
        value.extend(cells.iter().map(|_| 1.0 + rng.below(5) as f64));
        start.push(column.len());
    }
    let cells = value.len();
    let x = SparseRows::new(d, start, column, value).unwrap();
    let data = Dataset::with_target(x, Target::Classes(crate::data::Classes::from_codes(codes))).unwrap();
    let selection = select(&HsicLasso::default(), &data, FeatureCount::Count(5));
    assert_eq!(selection.order[0], 777);
    // Memory of the factors of all features, an upper bound: several numbers per stored value.
    let method = HsicLasso::default();
    let ctx = Context::default();
    let problem = Problem::new(&method, &data, method.blocks(&data, &ctx).unwrap(), &ctx).unwrap();
    let bytes: usize = (0..d).step_by(10).map(|j| problem.feature(j).bytes()).sum::<usize>() * 10;
    assert!(bytes < cells * 20 * 8, "{bytes} bytes for {cells} cells");
}

#[test]
fn exactly_the_features_of_a_ring_are_selected() {
    for seed in 0..3 {
        let planted =
            Synthetic { pattern: Pattern::Ring, rows: 400, columns: 60, seed, ..Synthetic::default() }
                .make()
                .unwrap();
        let selection = select(&HsicLasso::default(), &planted.data, FeatureCount::Auto);
        let (mut found, mut relevant) = (selection.selected().to_vec(), planted.relevant.clone());
        found.sort_unstable();
        relevant.sort_unstable();
        assert_eq!(found, relevant, "{seed}");
    }
}

#[test]
fn one_of_several_copies_is_selected() {
    for seed in 0..3 {
        let planted =
            Synthetic { pattern: Pattern::Redundant, rows: 500, columns: 30, seed, ..Synthetic::default() }
                .make()
                .unwrap();
        let selection = select(&HsicLasso::default(), &planted.data, FeatureCount::Count(3));
        // Originals 0 and 1, copies of the first 2 and 3, of the second 4 and 5.
        let kind = |j: usize| [0, 1, 0, 0, 1, 1][planted.relevant.iter().position(|&r| r == j).unwrap()];
        let mut kinds: Vec<usize> = selection.selected().iter().map(|&j| kind(j)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        // A noisy copy is not identical and may enter third, but does not exclude the other kind.
        assert_eq!(kinds, [0, 1], "{seed}");
    }
    // Exact copies never both have a weight.
    let planted =
        Synthetic { pattern: Pattern::Linear, rows: 200, columns: 5, ..Synthetic::default() }.make().unwrap();
    let x = planted.data.x().to_dense();
    let doubled = ndarray::concatenate![Axis(1), x, x];
    let data = Dataset::with_target(doubled, planted.data.target().clone()).unwrap();
    let selection = select(&HsicLasso::default(), &data, FeatureCount::Auto);
    assert!((0..5).all(|j| selection.scores[j] == 0.0 || selection.scores[j + 5] == 0.0));
}

#[test]
fn regression_with_little_memory() {
    let planted = Synthetic {
        pattern: Pattern::Ring,
        rows: 300,
        columns: 120,
        continuous: true,
        ..Synthetic::default()
    }
    .make()
    .unwrap();
    let selection = select(&HsicLasso::default(), &planted.data, FeatureCount::Count(2));
    assert!(planted.relevant.iter().all(|j| selection.selected().contains(j)));
    // Factors that do not fit are recomputed, with identical bits. They would take 120 x 20 x 300 numbers, 5.8 MB,
    // more than a quarter of the limit.
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let again = two.install(|| {
        let little = Context { memory_limit: product_bytes() as u64 + (3 << 20), ..Context::default() };
        HsicLasso::default().select(&planted.data, FeatureCount::Count(2), &little).unwrap()
    });
    assert_eq!(again, selection);
}

#[test]
fn parameters_are_checked() {
    let planted =
        Synthetic { pattern: Pattern::Noise, rows: 100, columns: 20, ..Synthetic::default() }.make().unwrap();
    let error = |method: HsicLasso| {
        method.select(&planted.data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string()
    };
    assert!(
        error(HsicLasso { block_size: Some(1), ..HsicLasso::default() })
            .contains("'block_size' must be an integer, at least 2")
    );
    assert!(
        error(HsicLasso { block_size: Some(101), ..HsicLasso::default() })
            .contains("at most the number of rows")
    );
    assert!(error(HsicLasso { permutations: 0, ..HsicLasso::default() }).contains("'permutations'"));
    assert!(
        error(HsicLasso { target_kernel: TargetKernel::Gaussian, ..HsicLasso::default() })
            .contains("target_kernel")
    );
}

#[test]
fn constant_features_come_last_even_after_negative_correlations() {
    // The first feature is constant. The third is the noise of the second; its residual correlation becomes
    // negative.
    let mut rng = Rng::new(4);
    let codes: Vec<usize> = (0..200).map(|i| i % 2).collect();
    let noise: Vec<f64> = (0..200).map(|_| rng.normal()).collect();
    let x = Array2::from_shape_fn((200, 3), |(i, j)| match j {
        0 => 7.0,
        1 => 2.0 * codes[i] as f64 + noise[i],
        _ => noise[i],
    });
    let data = Dataset::labeled(x, codes).unwrap();
    let selection = select(&HsicLasso::default(), &data, FeatureCount::Count(2));
    assert_eq!(selection.order, [1, 2, 0]);
    let problem = {
        let (method, ctx) = (HsicLasso::default(), Context::default());
        Problem::new(&method, &data, method.blocks(&data, &ctx).unwrap(), &ctx).unwrap()
    };
    let correlations = problem.path(Some(2), &Context::default()).unwrap().correlations;
    assert!(correlations[2] < 0.0, "the test needs a negative one: {correlations:?}");
}

#[test]
fn the_scale_of_a_linear_target_does_not_matter() {
    let mut rng = Rng::new(5);
    let x = Array2::from_shape_simple_fn((60, 4), || rng.normal());
    let of = |by: f64| {
        let numbers = x.column(2).iter().map(|v| by * v).collect();
        let data = Dataset::with_target(x.clone(), Target::Continuous(numbers)).unwrap();
        let method = HsicLasso { target_kernel: TargetKernel::Linear, ..HsicLasso::default() };
        select(&method, &data, FeatureCount::Count(1))
    };
    let expected = of(1.0);
    assert!(expected.order[0] == 2 && expected.scores[2] > 0.1);
    for power in [-60, 60] {
        assert_eq!(of(2.0_f64.powi(power)).scores, expected.scores, "powers of two are exact");
    }
}

/// Kernel matrices of a number, of a category and of a number with an indicator of missing values.
fn full_matrices(x: &Array2<f64>, rows: &[usize]) -> Vec<Array2<f64>> {
    let std = Rows::from(x.clone()).moments().1;
    let square = |i: usize, k: usize, j: usize| ((x[[rows[i], j]] - x[[rows[k], j]]) / std[j]).powi(2);
    let matrix = |kernel: &dyn Fn(usize, usize) -> f64| {
        bar(&Array2::from_shape_fn((rows.len(), rows.len()), |(i, k)| kernel(i, k)))
    };
    let is_equal = |i: usize, k: usize| (1..5).all(|j| x[[rows[i], j]] == x[[rows[k], j]]);
    vec![
        matrix(&|i, k| (-0.5 * square(i, k, 0)).exp()),
        matrix(&|i, k| f64::from(u8::from(is_equal(i, k)))),
        matrix(&|i, k| (-0.5 * (square(i, k, 5) + square(i, k, 6))).exp()),
    ]
}

#[test]
fn a_feature_of_several_columns_has_one_matrix() {
    let n = 60;
    let mut rng = Rng::new(8);
    let mut x = Array2::zeros((n, 7));
    for mut row in x.rows_mut() {
        row[0] = 100.0 * rng.normal();
        // Four levels with different frequencies.
        row[1 + [0, 0, 0, 1, 1, 2, 3][rng.below(7)]] = 1.0;
        row[6] = f64::from(u8::from(rng.uniform() < 0.2));
        row[5] = if row[6] > 0.0 { 0.1 } else { 0.01 * rng.normal() };
    }
    let codes = (0..n).map(|i| usize::from(x[[i, 1]] + x[[i, 2]] > 0.0) + usize::from(x[[i, 5]] > 0.0));
    let target = Target::Classes(Classes::from_codes(codes.collect()));
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let data = Dataset::encoded(names, x.clone(), Groups::of_sizes([1, 4, 2]), target).unwrap();
    let ctx = Context::default();
    // All samples as one block, by factors; small blocks, by full matrices.
    for method in [HsicLasso::default(), HsicLasso { block_size: Some(20), ..HsicLasso::default() }] {
        let problem = Problem::new(&method, &data, method.blocks(&data, &ctx).unwrap(), &ctx).unwrap();
        let stacks: Vec<Stack> = (0..3).map(|j| problem.feature(j)).collect();
        let blocks: Vec<Vec<Array2<f64>>> =
            problem.blocks.0.iter().map(|rows| full_matrices(&x, rows)).collect();
        for f in 0..3 {
            for g in 0..3 {
                let products = blocks.iter().map(|block| (&block[f] * &block[g]).sum());
                let mean = products.sum::<f64>() / blocks.len() as f64;
                // A factor omits 1e-8 of the trace.
                assert!((stacks[f].product(&stacks[g]) - mean).abs() < 1e-6, "{f} {g}");
            }
        }
        let selection = select(&method, &data, FeatureCount::Count(2));
        assert_eq!((selection.order.len(), selection.coef.as_ref().unwrap().dim()), (3, (3, 1)));
        assert!(selection.selected().contains(&1));
    }
}
