use super::gain::first_largest;
use super::run::CHUNK;
use super::*;
use crate::error::Error;
use crate::linalg::multiply;
use crate::random::Rng;
use ndarray::{Array2, array};

pub(super) fn rule(pivoting: Pivoting) -> Rule<'static> {
    Rule { pivoting, first: None, max_rank: usize::MAX, zero: 1e-7, tolerance: 0.0, threshold: &|_| 0.0 }
}

pub(super) fn random_psd(n: usize, rank: usize, seed: u64) -> Array2<f64> {
    let mut rng = Rng::new(seed);
    let a = Array2::from_shape_simple_fn((n, rank), || rng.normal());
    multiply(a.view(), a.t())
}

pub(super) fn factor(k: &Array2<f64>, rule: &Rule) -> Factor {
    pivoted_cholesky(k, rule, &Context::default()).unwrap()
}

#[test]
fn two_by_two_matches_hand_computed_values() {
    // The larger diagonal entry first: r = 3, column (2, 9)/3, residual 4 - 4/9.
    let k = array![[4.0, 2.0], [2.0, 9.0]];
    let f = factor(&k, &rule(Pivoting::Greedy));
    assert_eq!(f.pivots, [1, 0]);
    let second = (4.0_f64 - 4.0 / 9.0).sqrt();
    let expected = array![[2.0 / 3.0, second], [3.0, 0.0]];
    assert!((&f.l - &expected).iter().all(|e| e.abs() < 1e-15));
    assert_eq!(f.stop, Stop::Exhausted);
    assert_eq!(factor(&k, &rule(Pivoting::InOrder)).pivots, [0, 1]);
}

/// One pivot at a time, with the full residual matrix.
fn unbatched(k: &Array2<f64>, max_rank: usize) -> (Vec<usize>, Vec<f64>) {
    let mut residual = k.clone();
    let (mut pivots, mut norms) = (vec![], vec![]);
    while pivots.len() < max_rank {
        let (p, squared) = first_largest(&residual.diag().to_vec());
        if squared < 1e-9 {
            break;
        }
        let column = residual.column(p).mapv(|v| v / squared.sqrt());
        for i in 0..k.nrows() {
            for j in 0..k.nrows() {
                residual[[i, j]] -= column[i] * column[j];
            }
        }
        pivots.push(p);
        norms.push(squared.sqrt());
    }
    (pivots, norms)
}

#[test]
fn batches_give_the_same_pivots_as_one_at_a_time() {
    let all = [(40, 40, 1), (300, 60, 2), (300, 200, 3), (700, 90, 4)];
    // Miri is too slow for the full sizes.
    let cases = if cfg!(miri) { &[(24, 12, 1)][..] } else { &all };
    for &(n, rank, seed) in cases {
        let k = random_psd(n, rank, seed);
        let f = factor(&k, &rule(Pivoting::Greedy));
        let (pivots, norms) = unbatched(&k, rank);
        assert_eq!(f.pivots, pivots);
        // Norms are about 10; one at a time accumulates n rounding errors in the residual.
        assert!(f.norms.iter().zip(&norms).all(|(a, b)| (a - b).abs() < 1e-8));
        let rebuilt = multiply(f.l.view(), f.l.t());
        assert!((&rebuilt - &k).iter().all(|e| e.abs() < 1e-8 * n as f64));
    }
}

/// `u u'`, never formed.
struct Outer(Vec<f64>);

impl Columns for Outer {
    fn diagonal(&self) -> Vec<f64> {
        self.0.iter().map(|u| u * u).collect()
    }

    fn columns(&self, which: &[usize]) -> Writer<'_> {
        let which = which.to_vec();
        Box::new(move |from, mut out| {
            for ((row, to), v) in out.indexed_iter_mut() {
                *v = self.0[from + row] * self.0[which[to]];
            }
        })
    }

    fn block(&self, which: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((which.len(), which.len()), |(i, j)| self.0[which[i]] * self.0[which[j]])
    }

    fn block_bytes(&self, _rows: usize) -> f64 {
        0.0
    }
}

#[test]
fn more_rows_than_one_task_works_on() {
    // The largest is in the last chunk, which is not full.
    let u: Vec<f64> = (0..CHUNK + 40).map(|i| 1.0 + i as f64).collect();
    let f = pivoted_cholesky(&Outer(u.clone()), &rule(Pivoting::Greedy), &Context::default()).unwrap();
    assert_eq!(f.pivots, [CHUNK + 39]);
    // u_i u_last / u_last, in two roundings.
    assert!(f.l.column(0).iter().zip(&u).all(|(l, u)| (l - u).abs() <= 1e-15 * u.abs() * 2.0));
}

#[test]
fn every_stopping_criterion_is_reported() {
    let k = random_psd(50, 20, 5);
    let few = Rule { max_rank: 7, ..rule(Pivoting::Greedy) };
    assert_eq!((factor(&k, &few).pivots.len(), factor(&k, &few).stop), (7, Stop::Requested));
    let loose = Rule { tolerance: 0.2, ..rule(Pivoting::Random) };
    let f = factor(&k, &loose);
    assert_eq!(f.stop, Stop::Tolerance);
    assert!(f.residual.iter().sum::<f64>() <= 0.2 * k.diag().sum());
    let threshold = Rule { threshold: &|rank| if rank >= 5 { 1.0 } else { 0.0 }, ..rule(Pivoting::Greedy) };
    assert_eq!((factor(&k, &threshold).pivots.len(), factor(&k, &threshold).stop), (5, Stop::Threshold));
    for pivoting in [Pivoting::Greedy, Pivoting::Random, Pivoting::Gain, Pivoting::InOrder] {
        let f = factor(&k, &rule(pivoting));
        assert_eq!((f.pivots.len(), f.stop), (20, Stop::Exhausted), "{pivoting:?}");
    }
}

/// On a diagonal matrix the pivots have probabilities proportional to the diagonal.
#[test]
fn random_pivots_have_the_right_distribution() {
    let k = Array2::from_diag(&array![1.0, 2.0, 5.0]);
    let draws = 20_000;
    let mut first = [0usize; 3];
    let mut second_after_two = [0usize; 3];
    for seed in 0..draws {
        let ctx = Context { seed, ..Context::default() };
        let f = pivoted_cholesky(&k, &rule(Pivoting::Random), &ctx).unwrap();
        first[f.pivots[0]] += 1;
        if f.pivots[0] == 2 {
            second_after_two[f.pivots[1]] += 1;
        }
    }
    // Five standard errors of a proportion p of n draws.
    let close = |count: usize, n: usize, p: f64| {
        (count as f64 - p * n as f64).abs() < 5.0 * (n as f64 * p * (1.0 - p)).sqrt()
    };
    assert!(close(first[0], draws as usize, 0.125) && close(first[1], draws as usize, 0.25), "{first:?}");
    assert!(close(second_after_two[1], first[2], 2.0 / 3.0), "{second_after_two:?}");
}

#[test]
fn a_negative_eigenvalue_is_an_error() {
    let k = array![[1.0, 2.0], [2.0, 1.0]];
    let error = pivoted_cholesky(&k, &rule(Pivoting::Greedy), &Context::default()).unwrap_err();
    assert!(error.to_string().contains("pivot 1 (row 1)"), "{error}");
    let k = array![[1.0, 0.0], [0.0, -1.0]];
    let error = pivoted_cholesky(&k, &rule(Pivoting::Greedy), &Context::default()).unwrap_err();
    assert!(error.to_string().contains("row 2 with itself is -1"), "{error}");
}

#[test]
fn zeros_and_duplicates() {
    let zero = Array2::<f64>::zeros((3, 3));
    assert_eq!(factor(&zero, &rule(Pivoting::Greedy)).pivots.len(), 0);
    assert_eq!(factor(&zero, &rule(Pivoting::InOrder)).pivots.len(), 0);
    let same = Array2::<f64>::ones((4, 4));
    for pivoting in [Pivoting::Greedy, Pivoting::Random, Pivoting::Gain, Pivoting::InOrder] {
        assert_eq!(factor(&same, &rule(pivoting)).pivots.len(), 1);
    }
}

#[test]
fn the_first_pivot_can_be_given() {
    let k = random_psd(30, 10, 8);
    let f = factor(&k, &Rule { first: Some(17), ..rule(Pivoting::Greedy) });
    assert_eq!(f.pivots[0], 17);
}

#[test]
fn exceeding_the_memory_limit_is_an_error() {
    let ctx = Context { memory_limit: 1000, ..Context::default() };
    let error = pivoted_cholesky(&random_psd(50, 20, 5), &rule(Pivoting::Greedy), &ctx).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
}
