use super::*;
use crate::data::{Classes, SparseRows};
use crate::dependence::pairs::PairWeights;
use crate::dependence::target_factor;
use crate::kernel::gram_symmetric;
use ndarray::array;

fn fixed(kernel: Kernel) -> KernelChoice {
    KernelChoice::Fixed(kernel)
}

fn measure(x: Variable, y: Variable, estimator: Estimator) -> f64 {
    hsic(x, y, &Hsic { estimator, permutations: 0 }, &Context::default()).unwrap().value
}

fn noise(seed: u64, n: usize, d: usize) -> Array2<f64> {
    let mut rng = Rng::new(seed);
    Array2::from_shape_simple_fn((n, d), || rng.normal())
}

/// The definition, by full matrices.
fn naive(k: &Array2<f64>, l: &Array2<f64>) -> f64 {
    let n = k.nrows();
    let h = Array2::<f64>::eye(n) - 1.0 / n as f64;
    k.dot(&h).dot(l).dot(&h).diag().sum() / (n * n) as f64
}

/// The unbiased estimate as the mean over all quadruples of distinct rows (Song et al., theorem 2).
fn mean_over_quadruples(k: &Array2<f64>, l: &Array2<f64>) -> f64 {
    let n = k.nrows();
    let (mut sum, mut count) = (0.0, 0.0);
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            for q in (0..n).filter(|&q| q != i && q != j) {
                for r in (0..n).filter(|&r| r != i && r != j && r != q) {
                    sum += k[[i, j]] * (l[[i, j]] + l[[q, r]] - 2.0 * l[[i, q]]);
                    count += 1.0;
                }
            }
        }
    }
    sum / count
}

#[test]
fn values_computed_by_hand() {
    // Linear kernels: tr(KHLH) = (x'Hy)^2 = ((-1)(-2) + 1 * 2)^2 = 16, n^2 = 4.
    let (x, y): (Rows, Rows) = (array![[1.0], [3.0]].into(), array![[0.0], [4.0]].into());
    let linear = fixed(Kernel::Linear);
    let pair = |estimator| measure(Variable::Rows(&x, &linear), Variable::Rows(&y, &linear), estimator);
    assert!((pair(Estimator::Biased) - 4.0).abs() < 1e-14);
    assert!((pair(Estimator::Normalized) - 1.0).abs() < 1e-14);
}

#[test]
fn estimates_equal_their_definitions() {
    let (x, y): (Rows, Rows) = (noise(1, 8, 3).into(), noise(2, 8, 2).into());
    let (kx, ky) = (Kernel::Rbf { gamma: 0.3 }, Kernel::Laplacian { gamma: 0.7 });
    let (k, l) = (gram_symmetric(&kx, &x).unwrap(), gram_symmetric(&ky, &y).unwrap());
    let (kx, ky) = (fixed(kx), fixed(ky));
    let value = |estimator| measure(Variable::Rows(&x, &kx), Variable::Rows(&y, &ky), estimator);
    // Rounding of some hundred terms of order one.
    assert!((value(Estimator::Biased) - naive(&k, &l)).abs() < 1e-14);
    assert!((value(Estimator::Unbiased) - mean_over_quadruples(&k, &l)).abs() < 1e-14);
    let cosine = naive(&k, &l) / (naive(&k, &k) * naive(&l, &l)).sqrt();
    assert!((value(Estimator::Normalized) - cosine).abs() < 1e-13);
}

#[test]
fn targets_and_pair_weights_agree_with_full_matrices() {
    let x: Rows = noise(3, 30, 2).into();
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let k = gram_symmetric(&kernel, &x).unwrap();
    let codes: Vec<usize> = (0..30).map(|i| i * i % 5 % 3).collect();
    let classes = Target::Classes(Classes::from_codes(codes.clone()));
    let l = Array2::from_shape_fn((30, 30), |(i, j)| f64::from(u8::from(codes[i] == codes[j])));
    let off = |m: &Array2<f64>| m - &Array2::from_diag(&m.diag());
    let unbiased = {
        let (k, l) = (off(&k), off(&l));
        let (k_rows, l_rows) = (k.sum_axis(ndarray::Axis(1)), l.sum_axis(ndarray::Axis(1)));
        ((&k * &l).sum() + k.sum() * l.sum() / (29.0 * 28.0) - 2.0 / 28.0 * k_rows.dot(&l_rows))
            / (30.0 * 27.0)
    };
    let choice = fixed(kernel);
    for (estimator, expected) in [(Estimator::Biased, naive(&k, &l)), (Estimator::Unbiased, unbiased)] {
        let y = Variable::Target(&classes, TargetKernel::Delta);
        assert!((measure(Variable::Rows(&x, &choice), y, estimator) - expected).abs() < 1e-14);
        let factor = target_factor(&classes, TargetKernel::Delta, "m", &Context::default()).unwrap();
        let weights = PairWeights::new(&factor, estimator, "m").unwrap();
        let sum = (&weights.rows(0..30) * &k).sum();
        assert!((sum - expected).abs() < 1e-14, "{estimator:?}: {sum} {expected}");
        assert_eq!(weights.rows(7..9), weights.rows(0..30).slice(s![7..9, ..]));
    }
}

#[test]
fn sparse_rows_in_several_blocks_give_the_same_value() {
    // More rows than fit in a block.
    let n = 1700;
    let mut rng = Rng::new(4);
    let cells: Vec<(u32, f64)> = (0..n).map(|_| (rng.below(3) as u32, 1.0 + rng.below(2) as f64)).collect();
    let dense: Rows =
        Array2::from_shape_fn((n, 3), |(i, j)| if cells[i].0 == j as u32 { cells[i].1 } else { 0.0 }).into();
    let sparse: Rows = SparseRows::new(
        3,
        (0..=n).collect(),
        cells.iter().map(|c| c.0).collect(),
        cells.iter().map(|c| c.1).collect(),
    )
    .unwrap()
    .into();
    let y = Target::Continuous((0..n).map(|i| cells[i].1 + rng.normal()).collect());
    let kernel = fixed(Kernel::Rbf { gamma: 0.5 });
    let of = |x: &Rows| {
        measure(Variable::Rows(x, &kernel), Variable::Target(&y, TargetKernel::Auto), Estimator::Biased)
    };
    assert!((of(&dense) / of(&sparse) - 1.0).abs() < 1e-10);
}

#[test]
fn a_constant_has_no_dependence() {
    let x: Rows = Array2::from_elem((6, 1), 3.0).into();
    let y: Rows = noise(5, 6, 1).into();
    let kernel = fixed(Kernel::Rbf { gamma: 1.0 });
    assert_eq!(measure(Variable::Rows(&x, &kernel), Variable::Rows(&y, &kernel), Estimator::Normalized), 0.0);
}

#[test]
fn p_values_are_uniform_for_independent_and_small_for_dependent_variables() {
    let settings = Hsic { estimator: Estimator::Unbiased, permutations: 99 };
    let rbf = KernelChoice::default();
    let mut below_half = 0;
    let mut below_tenth = 0;
    for seed in 0..100 {
        let (x, y): (Rows, Rows) = (noise(seed, 30, 1).into(), noise(1000 + seed, 30, 1).into());
        let ctx = Context { seed, ..Context::default() };
        let found = hsic(Variable::Rows(&x, &rbf), Variable::Rows(&y, &rbf), &settings, &ctx).unwrap();
        let p = found.p_value.unwrap();
        below_half += usize::from(p <= 0.5);
        below_tenth += usize::from(p <= 0.1);
    }
    // Binomial with 100 draws: 50 and 10, plus or minus four standard deviations of 5 and 3.
    assert!((30..=70).contains(&below_half) && below_tenth <= 22, "{below_half} {below_tenth}");
    let x = noise(7, 100, 1);
    let y: Rows = x.mapv(|v| v * v).into();
    let x: Rows = x.into();
    for estimator in [Estimator::Biased, Estimator::Unbiased, Estimator::Normalized] {
        let settings = Hsic { estimator, permutations: 199 };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let one =
                || hsic(Variable::Rows(&x, &rbf), Variable::Rows(&y, &rbf), &settings, &Context::default());
            pool.install(one).unwrap()
        };
        assert_eq!(run(1), run(2));
        assert_eq!(run(1).p_value, Some(1.0 / 200.0), "a square is dependent, {estimator:?}");
    }
}

#[test]
fn permutations_of_equal_rows_count_as_at_least_the_value() {
    // Two values each: a third of the permutations give the same table.
    let x: Rows = array![[0.0], [0.0], [1.0], [1.0]].into();
    let kernel = fixed(Kernel::Rbf { gamma: 1.0 });
    let settings = Hsic { permutations: 600, ..Hsic::default() };
    let found =
        hsic(Variable::Rows(&x, &kernel), Variable::Rows(&x, &kernel), &settings, &Context::default());
    // 1/3 with a standard deviation of 0.02.
    assert!((found.unwrap().p_value.unwrap() - 1.0 / 3.0).abs() < 0.08);
}

#[test]
fn invalid_input_is_rejected() {
    let x: Rows = array![[1.0], [2.0], [4.0]].into();
    let kernel = fixed(Kernel::Linear);
    let pair = |y: &Rows, settings: &Hsic, ctx: &Context| {
        hsic(Variable::Rows(&x, &kernel), Variable::Rows(y, &kernel), settings, ctx).unwrap_err().to_string()
    };
    let ctx = Context::default();
    assert!(pair(&array![[1.0]].into(), &Hsic::default(), &ctx).contains("expected 3, got 1"));
    let unbiased = Hsic { estimator: Estimator::Unbiased, permutations: 0 };
    assert!(pair(&x, &unbiased, &ctx).contains("needs at least 4 rows"));
    assert!(
        pair(&array![[1.0], [f64::NAN], [2.0]].into(), &Hsic::default(), &ctx).contains("row 2, column 'x1'")
    );
    assert!(pair(&array![[1e200], [-1e200], [0.0]].into(), &Hsic::default(), &ctx).contains("overflow"));
    let little = Context { memory_limit: 100, ..Context::default() };
    assert!(pair(&x, &Hsic { permutations: 9, ..Hsic::default() }, &little).contains("no permutations"));
    let none = hsic(
        Variable::Rows(&x, &kernel),
        Variable::Target(&Target::None, TargetKernel::Auto),
        &Hsic::default(),
        &ctx,
    );
    assert!(matches!(none, Err(Error::NeedsTarget { .. })));
}
