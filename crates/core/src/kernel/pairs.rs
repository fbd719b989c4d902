//! Kernel values of given pairs of rows, without a Gram matrix.
//!
//! The cost of a pair is the number of cells of its rows; a thousand triplets over a million rows need no Gram matrix.
//! Kernels on one column read that column only. A value depends on the two rows alone (in a metric up to rounding), not on
//! the position in the list or the number of threads, so equal rows give bitwise equal values.

use super::formula::{Kernel, metric_factor};
use super::terms::{Form, SimpleKernel, flatten};
use crate::data::{Rows, SparseRows};
use crate::error::{Error, Result};
use crate::simd::{absolute_distance, add_scaled, dot, squared_distance};
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Pairs per task.
const BLOCK: usize = 1024;

/// The values of a kernel on pairs of rows of `x`.
pub fn pair_values(kernel: &Kernel, x: &Rows, pairs: &[[usize; 2]]) -> Result<Vec<f64>> {
    let sources = Sources::new(kernel, x, pairs)?;
    let terms = sources.terms(kernel, pairs)?;
    Ok(in_blocks(pairs, |pairs, sum, values| {
        for term in &terms {
            term.arguments(pairs, values);
            term.form.apply(values);
            add_scaled(sum, term.weight, values);
        }
    }))
}

/// Numbers in the same order as the kernel's values on pairs of rows, which do not underflow where rows are far apart.
///
/// For a kernel that decreases with a single distance (Gaussian, Laplacian or in a metric, on all columns or on one) these
/// are its exponents. For a sum of such kernels over the same distance with positive weights they are the exponents with
/// the smallest $\gamma$. For any other kernel they are its values.
pub fn pair_ranks(kernel: &Kernel, x: &Rows, pairs: &[[usize; 2]]) -> Result<Vec<f64>> {
    let sources = Sources::new(kernel, x, pairs)?;
    let Some((term, gamma)) = decreasing_in_one_distance(kernel) else {
        return pair_values(kernel, x, pairs);
    };
    let term = sources.term(1.0, &term, pairs)?;
    Ok(in_blocks(pairs, |pairs, sum, _| {
        term.arguments(pairs, sum);
        sum.iter_mut().for_each(|v| *v *= -gamma);
    }))
}

/// The term with the smallest $\gamma$, and this $\gamma$, if all terms decrease with the same distance.
fn decreasing_in_one_distance(kernel: &Kernel) -> Option<(SimpleKernel<'_>, f64)> {
    let mut terms = flatten(kernel);
    terms.retain(|(weight, _)| *weight != 0.0);
    let single = terms.len() == 1;
    let mut best: Option<(SimpleKernel, f64)> = None;
    let mut distance = None;
    for (weight, term) in terms {
        let (gamma, squared) = match form_of(&term) {
            Form::SquaredDistance { gamma } => (gamma, true),
            Form::AbsoluteDistance { gamma } => (gamma, false),
            _ => return None,
        };
        // Two metrics are two distances.
        let is_metric = term.single_column().is_none() && matches!(term.kernel, Kernel::Mahalanobis { .. });
        let own = (term.columns.clone(), squared);
        let another = *distance.get_or_insert_with(|| own.clone()) != own;
        if weight <= 0.0 || weight.is_nan() || another || (is_metric && !single) {
            return None;
        }
        if best.as_ref().is_none_or(|(_, least)| gamma < *least) {
            best = Some((term, gamma));
        }
    }
    best
}

/// The form of a term; the only entry of a metric on one column is gamma.
fn form_of(term: &SimpleKernel) -> Form {
    match (term.single_column(), term.kernel) {
        (Some(_), Kernel::Mahalanobis { metric }) => Form::SquaredDistance { gamma: metric[[0, 0]] },
        _ => Form::of(term.kernel),
    }
}

/// A number per pair. `fill` gets pairs, zeros to add to, and a buffer of the same length.
fn in_blocks(pairs: &[[usize; 2]], fill: impl Fn(&[[usize; 2]], &mut [f64], &mut [f64]) + Sync) -> Vec<f64> {
    let mut out = vec![0.0; pairs.len()];
    out.par_chunks_mut(BLOCK).zip(pairs.par_chunks(BLOCK)).for_each_init(
        || vec![0.0; BLOCK],
        |buffer, (sum, pairs)| fill(pairs, sum, &mut buffer[..pairs.len()]),
    );
    out
}

/// The rows in the layouts that the terms read, shared by all terms.
struct Sources<'a> {
    x: &'a Rows,
    /// Contiguous dense rows; `None` if no term reads them.
    dense: Option<Cow<'a, Array2<f64>>>,
    /// The columns of terms on one column.
    columns: BTreeMap<usize, Vec<f64>>,
    /// The columns of terms on several columns, from the first to before the last, as contiguous dense rows.
    parts: BTreeMap<(usize, usize), Rows>,
}

impl<'a> Sources<'a> {
    fn new(kernel: &Kernel, x: &'a Rows, pairs: &[[usize; 2]]) -> Result<Self> {
        kernel.validate(x.d())?;
        if let Some((at, row)) = first_outside(pairs, x.n()) {
            return Err(Error::Shape {
                what: format!("pair {}", at + 1),
                expected: format!("rows below {}", x.n()),
                got: row.to_string(),
            });
        }
        let (mut columns, mut parts) = (BTreeMap::new(), BTreeMap::new());
        let mut all_columns = false;
        for (_, term) in flatten(kernel) {
            match (term.single_column(), term.columns) {
                (Some(f), _) => {
                    columns.entry(f).or_insert_with(|| x.column(f));
                }
                (None, Some(several)) => {
                    parts.entry((several.start, several.end)).or_insert_with(|| {
                        let part = x.take_columns(&several.collect::<Vec<_>>()).into_dense();
                        Rows::from(part.as_standard_layout().into_owned())
                    });
                }
                (None, None) => all_columns = true,
            }
        }
        let dense = match x {
            Rows::Dense(x) if all_columns && x.is_standard_layout() => Some(Cow::Borrowed(x)),
            Rows::Dense(x) if all_columns => Some(Cow::Owned(x.as_standard_layout().into_owned())),
            _ => None,
        };
        Ok(Self { x, dense, columns, parts })
    }

    fn terms(&self, kernel: &Kernel, pairs: &[[usize; 2]]) -> Result<Vec<Term<'_>>> {
        flatten(kernel).iter().map(|(weight, term)| self.term(*weight, term, pairs)).collect()
    }

    fn term(&self, weight: f64, term: &SimpleKernel, pairs: &[[usize; 2]]) -> Result<Term<'_>> {
        let part = term.columns.as_ref().and_then(|columns| self.parts.get(&(columns.start, columns.end)));
        let source = match (term.single_column(), term.kernel, part.unwrap_or(self.x)) {
            (Some(f), _, _) => Source::Column(&self.columns[&f]),
            (None, Kernel::Mahalanobis { metric }, x) => {
                Source::Transformed(transformed(x, &metric_factor(metric)?, pairs))
            }
            (None, _, Rows::Sparse(x)) => Source::Sparse(x),
            (None, _, Rows::Dense(x)) => match part {
                Some(_) => Source::Dense(x.view()),
                None => Source::Dense(self.dense.as_ref().expect("kept for such terms").view()),
            },
        };
        Ok(Term { weight, form: form_of(term), source })
    }
}

/// The position of the first pair with a row out of range, and this row.
fn first_outside(pairs: &[[usize; 2]], n: usize) -> Option<(usize, usize)> {
    pairs.iter().enumerate().find_map(|(at, pair)| Some((at, *pair.iter().find(|row| **row >= n)?)))
}

/// Rows times the factor of a metric; rows in no pair stay zero.
///
/// One of the rows is first subtracted from all, so that differences stay accurate far from the origin.
fn transformed(x: &Rows, factor: &Array2<f64>, pairs: &[[usize; 2]]) -> Array2<f64> {
    let mut is_used = vec![false; x.n()];
    pairs.iter().flatten().for_each(|&row| is_used[row] = true);
    let directions = factor.t().as_standard_layout().into_owned();
    let origin: Vec<f64> = (0..x.d()).map(|j| pairs.first().map_or(0.0, |pair| x.get(pair[0], j))).collect();
    let mut out = Array2::zeros((x.n(), directions.nrows()));
    out.axis_iter_mut(Axis(0)).into_par_iter().enumerate().filter(|(i, _)| is_used[*i]).for_each_init(
        || vec![0.0; x.d()],
        |row, (i, mut out)| {
            match x {
                Rows::Dense(x) => row.iter_mut().zip(x.row(i)).for_each(|(r, v)| *r = *v),
                Rows::Sparse(x) => {
                    row.fill(0.0);
                    let (columns, values) = x.row(i);
                    columns.iter().zip(values).for_each(|(&j, &v)| row[j as usize] = v);
                }
            }
            row.iter_mut().zip(&origin).for_each(|(r, o)| *r -= o);
            for (out, direction) in out.iter_mut().zip(directions.rows()) {
                *out = dot(row, direction.as_slice().expect("standard layout"));
            }
        },
    );
    out
}

enum Source<'a> {
    Column(&'a [f64]),
    Dense(ArrayView2<'a, f64>),
    Sparse(&'a SparseRows),
    Transformed(Array2<f64>),
}

struct Term<'a> {
    weight: f64,
    form: Form,
    source: Source<'a>,
}

impl Term<'_> {
    /// Products, distances or equalities, the arguments of the term's form.
    fn arguments(&self, pairs: &[[usize; 2]], out: &mut [f64]) {
        match &self.source {
            Source::Column(cells) => {
                let fill = |out: &mut [f64], of: fn(f64, f64) -> f64| {
                    out.iter_mut().zip(pairs).for_each(|(out, &[i, j])| *out = of(cells[i], cells[j]));
                };
                match self.form {
                    Form::Product | Form::Polynomial { .. } => fill(out, |a, b| a * b),
                    Form::SquaredDistance { .. } => fill(out, |a, b| (a - b) * (a - b)),
                    Form::AbsoluteDistance { .. } => fill(out, |a, b| (a - b).abs()),
                    Form::Equal => fill(out, |a, b| f64::from(a == b)),
                }
            }
            Source::Dense(x) => self.on_dense(x.view(), pairs, out),
            Source::Transformed(x) => self.on_dense(x.view(), pairs, out),
            Source::Sparse(x) => {
                for (out, &[i, j]) in out.iter_mut().zip(pairs) {
                    *out = match self.form {
                        Form::Product | Form::Polynomial { .. } => x.sum_over_cells(i, x, j, |a, b| a * b),
                        Form::SquaredDistance { .. } => x.sum_over_cells(i, x, j, |a, b| (a - b) * (a - b)),
                        Form::AbsoluteDistance { .. } => x.sum_over_cells(i, x, j, |a, b| (a - b).abs()),
                        Form::Equal => f64::from(x.sum_over_cells(i, x, j, |a, b| f64::from(a != b)) == 0.0),
                    };
                }
            }
        }
    }

    fn on_dense(&self, x: ArrayView2<f64>, pairs: &[[usize; 2]], out: &mut [f64]) {
        let d = x.ncols();
        let cells = x.to_slice().expect("standard layout");
        let row = |i: usize| &cells[i * d..(i + 1) * d];
        for (out, &[i, j]) in out.iter_mut().zip(pairs) {
            let (a, b) = (row(i), row(j));
            *out = match self.form {
                Form::Product | Form::Polynomial { .. } => dot(a, b),
                Form::SquaredDistance { .. } => squared_distance(a, b),
                Form::AbsoluteDistance { .. } => absolute_distance(a, b),
                Form::Equal => f64::from(a == b),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gram::tests::{all_kernels, rows, sparse};
    use super::super::gram_symmetric;
    use super::*;
    use crate::random::Rng;
    use ndarray::{ShapeBuilder, array};

    /// More pairs than a block holds, including pairs of a row with itself.
    fn draw(n: usize, seed: u64) -> Vec<[usize; 2]> {
        let mut rng = Rng::new(seed);
        (0..BLOCK + 77).map(|_| [rng.below(n), rng.below(n)]).chain([[0, 0], [0, n - 1]]).collect()
    }

    fn by_columns(x: &Array2<f64>) -> Rows {
        let mut out = Array2::zeros(x.raw_dim().f());
        out.assign(x);
        out.into()
    }

    #[test]
    fn values_equal_the_gram_matrix() {
        for d in [3, 25, 60] {
            let x = rows(90, d, 1);
            let pairs = draw(90, 2);
            for kernel in all_kernels(d) {
                let gram = gram_symmetric(&kernel, &x.clone().into()).unwrap();
                let size = gram.iter().fold(1.0_f64, |a, v| a.max(v.abs()));
                for x in [x.clone().into(), by_columns(&x), sparse(&x)] {
                    let values = pair_values(&kernel, &x, &pairs).unwrap();
                    for (value, &[i, j]) in values.iter().zip(&pairs) {
                        // Sums of up to 60 products in another order, relative to the largest value.
                        let off = (value - gram[[i, j]]).abs() / size;
                        assert!(off < 1e-13, "{} d={d} ({i}, {j}): {off}", kernel.describe());
                    }
                }
            }
        }
    }

    #[test]
    fn values_computed_by_hand() {
        let x = array![[0.0, 0.0], [3.0, 4.0]];
        for x in [x.clone().into(), sparse(&x)] {
            let value = |kernel| pair_values(&kernel, &x, &[[0, 1]]).unwrap()[0];
            // A rounding each of the square, the exponent and the exponential.
            assert!((value(Kernel::Rbf { gamma: 0.1 }) - (-2.5_f64).exp()).abs() < 1e-16);
            assert!((value(Kernel::Laplacian { gamma: 0.1 }) - (-0.7_f64).exp()).abs() < 2e-16);
            let weak = Kernel::OnFeature { feature: 1, kernel: Box::new(Kernel::Rbf { gamma: 0.1 }) };
            assert!((value(weak) - (-1.6_f64).exp()).abs() < 1e-16);
            let metric = array![[0.5, 0.0], [0.0, 0.125]];
            assert!((value(Kernel::Mahalanobis { metric }) - (-6.5_f64).exp()).abs() < 1e-17);
            assert_eq!(value(Kernel::Sum(vec![(3.0, Kernel::WhiteNoise)])), 0.0);
            let itself =
                pair_values(&Kernel::Polynomial { degree: 2, gamma: 1.0, coef0: 1.0 }, &x, &[[1, 1]]);
            assert_eq!(itself.unwrap(), [676.0]);
        }
    }

    #[test]
    fn ranks_have_the_order_of_values() {
        for d in [3, 30] {
            let x = rows(60, d, 3);
            let pairs = draw(60, 4);
            for kernel in all_kernels(d) {
                for x in [x.clone().into(), sparse(&x)] {
                    let values = pair_values(&kernel, &x, &pairs).unwrap();
                    let ranks = pair_ranks(&kernel, &x, &pairs).unwrap();
                    for (a, b) in (1..pairs.len()).map(|b| (b - 1, b)) {
                        let agrees = match values[a].total_cmp(&values[b]) {
                            std::cmp::Ordering::Less => ranks[a] < ranks[b],
                            std::cmp::Ordering::Greater => ranks[a] > ranks[b],
                            // Different exponents may have exponentials that round to the same number.
                            std::cmp::Ordering::Equal => (ranks[a] - ranks[b]).abs() < 1e-15,
                        };
                        assert!(agrees, "{}", kernel.describe());
                    }
                }
            }
        }
    }

    /// The kernels whose ranks are exponents, each with the exponents of two pairs.
    #[test]
    fn ranks_of_distant_rows_do_not_underflow() {
        let x = array![[0.0, 0.0], [100.0, 0.0], [101.0, 0.0]];
        let gauss = |gamma| Kernel::Rbf { gamma };
        let weak = |kernel| Kernel::OnFeature { feature: 0, kernel: Box::new(kernel) };
        let metric = array![[2.0, 0.0], [0.0, 1.0]];
        let exponents = [
            (gauss(1.0), [-10000.0, -10201.0]),
            (Kernel::Laplacian { gamma: 10.0 }, [-1000.0, -1010.0]),
            (Kernel::Mahalanobis { metric }, [-20000.0, -20402.0]),
            (weak(gauss(1.0)), [-10000.0, -10201.0]),
            (weak(Kernel::Mahalanobis { metric: array![[0.5]] }), [-5000.0, -5100.5]),
            (Kernel::Sum(vec![(7.0, gauss(1.0)), (0.0, Kernel::Linear)]), [-10000.0, -10201.0]),
            (Kernel::Sum(vec![(0.5, gauss(1.0)), (0.5, gauss(0.5))]), [-5000.0, -5100.5]),
            (Kernel::Sum(vec![(0.5, weak(gauss(1.0))), (0.5, weak(gauss(0.5)))]), [-5000.0, -5100.5]),
        ];
        for (kernel, expected) in exponents {
            for x in [x.clone().into(), sparse(&x)] {
                assert_eq!(pair_values(&kernel, &x, &[[0, 1], [0, 2]]).unwrap(), [0.0, 0.0]);
                let ranks = pair_ranks(&kernel, &x, &[[0, 1], [0, 2]]).unwrap();
                for (rank, expected) in ranks.iter().zip(expected) {
                    // The factor of a metric is a square root, which rounds.
                    assert!((rank / expected - 1.0).abs() < 1e-15, "{}: {rank}", kernel.describe());
                }
            }
        }
    }

    #[test]
    fn other_kernels_are_ranked_by_value() {
        let x: Rows = rows(20, 3, 5).into();
        let pairs = draw(20, 6);
        let gauss = |gamma| Kernel::Rbf { gamma };
        let weak = |feature| Kernel::OnFeature { feature, kernel: Box::new(gauss(1.0)) };
        let metric = |weight| Kernel::Mahalanobis { metric: Array2::eye(3) * weight };
        for parts in [
            vec![(-1.0, gauss(1.0))],
            vec![(1.0, gauss(1.0)), (-0.5, gauss(0.5))],
            vec![(1.0, gauss(1.0)), (1.0, Kernel::Laplacian { gamma: 1.0 })],
            vec![(1.0, gauss(1.0)), (1.0, Kernel::WhiteNoise)],
            vec![(1.0, weak(0)), (1.0, weak(1))],
            vec![(1.0, weak(0)), (1.0, gauss(1.0))],
            vec![(1.0, metric(1.0)), (1.0, metric(2.0))],
            vec![(1.0, metric(1.0)), (1.0, gauss(1.0))],
            vec![(0.0, gauss(1.0))],
        ] {
            let kernel = Kernel::Sum(parts);
            assert_eq!(
                pair_ranks(&kernel, &x, &pairs).unwrap(),
                pair_values(&kernel, &x, &pairs).unwrap(),
                "{}",
                kernel.describe()
            );
        }
    }

    #[test]
    fn equal_rows_have_bitwise_equal_ranks() {
        let mut x = rows(50, 37, 7) + 1e3;
        let copy = x.row(3).to_owned();
        x.row_mut(48).assign(&copy);
        let mut rng = Rng::new(8);
        let factor = Array2::from_shape_simple_fn((37, 37), || rng.normal());
        let metric = factor.dot(&factor.t());
        let pairs: Vec<[usize; 2]> = (0..50).flat_map(|i| [[i, 3], [48, i]]).collect();
        for kernel in all_kernels(37).into_iter().chain([Kernel::Mahalanobis { metric }]) {
            for x in [x.clone().into(), sparse(&x)] {
                let ranks = pair_ranks(&kernel, &x, &pairs).unwrap();
                assert!(ranks.chunks(2).all(|r| r[0].to_bits() == r[1].to_bits()), "{}", kernel.describe());
            }
        }
    }

    #[test]
    fn one_and_two_threads_give_the_same_bits() {
        let x = rows(200, 30, 9);
        let pairs: Vec<[usize; 2]> = (0..5).flat_map(|seed| draw(200, seed)).collect();
        for kernel in all_kernels(30) {
            for x in [x.clone().into(), sparse(&x)] {
                let on = |threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| pair_values(&kernel, &x, &pairs).unwrap())
                };
                assert_eq!(on(1), on(2));
            }
        }
    }

    #[test]
    fn invalid_input_is_rejected() {
        let x: Rows = array![[1.0], [2.0]].into();
        for of in [pair_values, pair_ranks] {
            let error = of(&Kernel::Rbf { gamma: 1.0 }, &x, &[[0, 1], [0, 2]]).unwrap_err();
            assert_eq!(error.to_string(), "pair 2: expected rows below 2, got 2");
            assert!(of(&Kernel::Rbf { gamma: -1.0 }, &x, &[[0, 1]]).is_err());
            let far = Kernel::OnFeature { feature: 1, kernel: Box::new(Kernel::Linear) };
            assert!(of(&far, &x, &[[0, 1]]).unwrap_err().to_string().contains("below the number of columns"));
            let metric = Kernel::OnFeature {
                feature: 0,
                kernel: Box::new(Kernel::Mahalanobis { metric: Array2::zeros((0, 0)) }),
            };
            assert!(of(&metric, &x, &[[0, 1]]).is_err());
            assert_eq!(of(&Kernel::Linear, &x, &[]).unwrap(), [0.0; 0]);
            let nothing = Kernel::Mahalanobis { metric: array![[0.0]] };
            assert!(of(&nothing, &x, &[]).unwrap().is_empty());
        }
        // A zero metric gives distance 0.
        assert_eq!(
            pair_values(&Kernel::Mahalanobis { metric: array![[0.0]] }, &x, &[[0, 1]]).unwrap(),
            [1.0]
        );
    }
}
