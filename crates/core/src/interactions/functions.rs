//! Bounded functions of one feature.
//!
//! A number becomes $\varphi_k(u) = \sqrt 2 \cos(\pi k u)$, $k = 1, 2, \ldots$, of its rank $u = (r - 1/2) / n$, where ties have
//! their mean rank. Without ties and missing values these have mean 0, variance 1 and no correlation (they are the vectors of
//! the discrete cosine transform). Otherwise they are centered and orthonormalized: a feature of $m$ distinct values has at
//! most $m - 1$ functions. Of a date with periods, the functions of the number come with those of sines and cosines. A category has the indicators of its most frequent levels, orthonormalized. Missing values have
//! the value 0, the mean.

use super::orthonormal::Orthonormal;
use crate::data::{Dataset, FeatureType, Groups, Rows};
use ndarray::s;
use std::f64::consts::{PI, SQRT_2};

/// Functions that are nonzero on fewer than about this many rows are left out: no statistic of so few rows has its limiting
/// distribution.
pub(super) const MIN_ROWS: f64 = 5.0;

/// The columns of features, read a few at a time.
pub(crate) struct Columns<'a> {
    data: &'a Dataset,
    pub groups: Groups,
    /// The stored cells of each column of sparse data.
    sparse: Vec<Vec<(u32, f64)>>,
    /// The functions of a column without ties and missing values, by rank.
    table: Vec<Vec<f64>>,
}

/// The functions of one feature.
pub(crate) struct FeatureFunctions {
    /// Vectors of a value per sample, orthonormal and of mean 0.
    pub vectors: Vec<Vec<f64>>,
    /// The largest mean fourth power of a function; $n$ over it is about the number of rows that determine it.
    pub kurtosis: f64,
}

impl FeatureFunctions {
    /// Of vectors that are orthonormal.
    pub fn new(vectors: Vec<Vec<f64>>) -> Self {
        let kurtosis = largest_kurtosis(&vectors);
        Self { vectors, kurtosis }
    }
}

impl<'a> Columns<'a> {
    /// Memory of the table of functions and of the columns of sparse data, in bytes.
    pub fn bytes(data: &Dataset, limit: usize) -> f64 {
        let columns = match data.x() {
            Rows::Dense(_) => 0.0,
            Rows::Sparse(cells) => cells.columns_bytes(),
        };
        8.0 * data.n() as f64 * limit.min(data.n()) as f64 + columns
    }

    /// The columns of features with up to `limit` functions.
    pub fn new(data: &'a Dataset, limit: usize) -> Self {
        let sparse = match data.x() {
            Rows::Dense(_) => vec![],
            Rows::Sparse(cells) => cells.columns(),
        };
        let n = data.n() as f64;
        let value = |k: usize, rank: usize| SQRT_2 * (PI * k as f64 * (rank as f64 + 0.5) / n).cos();
        let table = (1..=limit.min(data.n().saturating_sub(1)))
            .map(|k| (0..data.n()).map(|rank| value(k, rank)).collect())
            .collect();
        Self { data, groups: data.groups(), sparse, table }
    }

    /// Up to `limit` functions of a feature, at most those of [`Columns::new`], that enough rows determine.
    pub fn functions(&self, feature: usize, limit: usize) -> FeatureFunctions {
        let n = self.data.n() as f64;
        let is_spread = |vector: &Vec<f64>| kurtosis(vector) * MIN_ROWS <= n;
        FeatureFunctions::new(self.all_functions(feature, limit).into_iter().filter(is_spread).collect())
    }

    /// Up to `limit` functions of a feature, also those that few rows determine.
    pub fn all_functions(&self, feature: usize, limit: usize) -> Vec<Vec<f64>> {
        let limit = limit.min(self.table.len());
        let mut columns: Vec<Vec<f64>> = self.groups.columns(feature).map(|j| self.column(j)).collect();
        if columns.len() > 1 {
            // Of an encoded category the most frequent levels come first.
            let spread: fn(&Vec<f64>) -> f64 = |column| {
                let mean = column.iter().sum::<f64>() / column.len() as f64;
                -column.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>()
            };
            columns.sort_by(|a, b| spread(a).total_cmp(&spread(b)));
        }
        if let FeatureType::Date(periods) = self.data.feature_type(feature) {
            for (coordinate, period) in [0, 1].iter().flat_map(|k| periods.iter().map(move |p| (*k, p))) {
                columns.push(columns[0].iter().map(|&days| period.point(days)[coordinate]).collect());
            }
        }
        match self.data.feature_type(feature) {
            FeatureType::Category { levels } => indicators(&columns[0], levels, limit),
            FeatureType::Number | FeatureType::Date(_) => {
                let orders: Vec<Vec<Entry>> = columns.iter().map(|column| sorted(column)).collect();
                match orders.as_slice() {
                    [order] if is_regular(order, self.data.n()) => self.looked_up(order, limit),
                    orders => cosines(&columns, orders, limit),
                }
            }
        }
    }

    /// The functions of a column without ties and missing values.
    fn looked_up(&self, order: &[Entry], limit: usize) -> Vec<Vec<f64>> {
        let function = |by_rank: &Vec<f64>| {
            let mut out = vec![0.0; order.len()];
            by_rank.iter().zip(order).for_each(|(v, &(_, row))| out[row as usize] = *v);
            out
        };
        self.table[..limit].iter().map(function).collect()
    }

    /// A column of the data; with one column per feature, the values of feature `j`.
    pub fn column(&self, j: usize) -> Vec<f64> {
        match self.data.x() {
            Rows::Dense(x) => x.slice(s![.., j]).to_vec(),
            Rows::Sparse(_) => {
                let mut out = vec![0.0; self.data.n()];
                self.sparse[j].iter().for_each(|&(i, v)| out[i as usize] = v);
                out
            }
        }
    }
}

/// The mean fourth power of a vector with mean square 1: $n$ over it is about the number of rows that determine it.
fn kurtosis(vector: &[f64]) -> f64 {
    vector.iter().map(|v| (v * v) * (v * v)).sum::<f64>() / vector.len() as f64
}

/// The largest mean fourth power of vectors with mean square 1.
pub(crate) fn largest_kurtosis(vectors: &[Vec<f64>]) -> f64 {
    vectors.iter().map(|vector| kurtosis(vector)).fold(0.0, f64::max)
}

/// Whether enough rows determine the product of functions and of a column of the target, given by their mean fourth powers,
/// that sums over it have their limiting distribution.
pub(super) fn is_spread_over(n: usize, kurtosis: impl IntoIterator<Item = f64>) -> bool {
    kurtosis.into_iter().product::<f64>() * MIN_ROWS <= n as f64
}

/// Functions of the ranks of numbers with ties or missing values. If several columns encode a feature, the first function of
/// each comes first, then the second of each.
fn cosines(columns: &[Vec<f64>], orders: &[Vec<Entry>], limit: usize) -> Vec<Vec<f64>> {
    let mut ranked: Vec<Ranks> =
        columns.iter().zip(orders).map(|(column, order)| Ranks::of(column, order)).collect();
    let mut basis = Orthonormal::default();
    for k in 1..=limit {
        for ranks in &mut ranked {
            if k < ranks.n_distinct && basis.vectors.len() < limit {
                basis.push(ranks.function(k));
            }
        }
    }
    basis.vectors
}

/// A value, as an integer in the same order, and its row.
type Entry = (u64, u32);

/// The values of a column in order, without missing ones. Integers sort faster than floating-point numbers.
fn sorted(column: &[f64]) -> Vec<Entry> {
    let key = |v: f64| {
        // Positive and negative zero are equal.
        let bits = (v + 0.0).to_bits();
        if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
    };
    let present = (0..).zip(column).filter(|(_, v)| !v.is_nan());
    let mut order: Vec<Entry> = present.map(|(row, &v)| (key(v), row)).collect();
    order.sort_unstable();
    order
}

/// Whether all samples have values, and all are different.
fn is_regular(order: &[Entry], n: usize) -> bool {
    order.len() == n && order.windows(2).all(|pair| pair[0].0 != pair[1].0)
}

/// Indicators of the most frequent levels, orthonormalized.
fn indicators(codes: &[f64], levels: usize, limit: usize) -> Vec<Vec<f64>> {
    let mut counts = vec![0_usize; levels + 1];
    codes.iter().filter(|code| !code.is_nan()).for_each(|&code| counts[code as usize] += 1);
    let present = counts.iter().sum::<usize>() as f64;
    let mut order: Vec<usize> = (0..counts.len()).filter(|&level| counts[level] > 0).collect();
    order.sort_by_key(|&level| std::cmp::Reverse(counts[level]));
    let mut basis = Orthonormal::default();
    // The last level depends on the others.
    for &level in order.iter().take(limit.min(order.len().saturating_sub(1))) {
        let share = counts[level] as f64 / present;
        let value = |&code: &f64| match code {
            code if code.is_nan() => 0.0,
            code => f64::from(u8::from(code as usize == level)) - share,
        };
        basis.push(codes.iter().map(value).collect());
    }
    basis.vectors
}

/// The ranks of a column.
struct Ranks {
    /// $\cos(\pi u)$ of each sample; NaN for missing values.
    cosines: Vec<f64>,
    /// $\cos(\pi (k - 1) u)$ and $\cos(\pi k u)$, for the recurrence.
    last: (Vec<f64>, Vec<f64>),
    n_distinct: usize,
}

impl Ranks {
    fn of(column: &[f64], order: &[Entry]) -> Self {
        let mut cosines = vec![f64::NAN; column.len()];
        let (mut first, mut n_distinct) = (0, 0);
        for same in order.chunk_by(|a, b| a.0 == b.0) {
            // The mean of the ranks first + 1, ..., first + len, less 1/2.
            let u = (first as f64 + same.len() as f64 / 2.0) / order.len() as f64;
            let cosine = (PI * u).cos();
            same.iter().for_each(|&(_, row)| cosines[row as usize] = cosine);
            first += same.len();
            n_distinct += 1;
        }
        Self { last: (vec![1.0; column.len()], cosines.clone()), cosines, n_distinct }
    }

    /// $\sqrt 2 \cos(\pi k u)$, centered; 0 for missing values. To be called with $k = 1, 2, \ldots$ in turn.
    fn function(&mut self, k: usize) -> Vec<f64> {
        if k > 1 {
            let (before, last) = &mut self.last;
            for ((before, last), c) in before.iter_mut().zip(last.iter_mut()).zip(&self.cosines) {
                (*before, *last) = (*last, 2.0 * c * *last - *before);
            }
        }
        let present = self.last.1.iter().filter(|v| !v.is_nan());
        let (sum, n) = present.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
        let value = |v: &f64| if v.is_nan() { 0.0 } else { SQRT_2 * (v - sum / n) };
        self.last.1.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Target;
    use crate::simd::dot;
    use ndarray::{Array2, array};

    fn of(data: &Dataset, feature: usize, limit: usize) -> Vec<Vec<f64>> {
        Columns::new(data, limit).functions(feature, limit).vectors
    }

    fn assert_orthonormal(vectors: &[Vec<f64>], tolerance: f64) {
        for (a, v) in vectors.iter().enumerate() {
            let n = v.len() as f64;
            assert!(v.iter().sum::<f64>().abs() < tolerance * n);
            for (b, w) in vectors.iter().enumerate() {
                let expected = if a == b { n } else { 0.0 };
                assert!((dot(v, w) - expected).abs() < tolerance * n, "{a} {b}");
            }
        }
    }

    #[test]
    fn cosines_of_ranks() {
        let n = 101;
        // Any increasing function of the row has the same ranks.
        let x = Array2::from_shape_fn((n, 1), |(i, _)| (i as f64 / 9.0).exp());
        let found = of(&Dataset::unlabeled(x).unwrap(), 0, 4);
        assert_eq!(found.len(), 4);
        for (k, v) in found.iter().enumerate() {
            for (i, v) in v.iter().enumerate() {
                let expected = SQRT_2 * (PI * (k + 1) as f64 * (i as f64 + 0.5) / n as f64).cos();
                // Rounding errors of an argument of up to 4 pi.
                assert!((v - expected).abs() < 1e-13);
            }
        }
        assert_orthonormal(&found, 1e-13);
    }

    #[test]
    fn order_of_values() {
        let order = sorted(&[0.5, -1e300, f64::NAN, -0.0, 0.0, -2.0, 7e-310]);
        let rows: Vec<u32> = order.iter().map(|entry| entry.1).collect();
        assert_eq!(rows, [1, 5, 3, 4, 6, 0]);
        // The two zeros are equal.
        assert!(order[2].0 == order[3].0 && !is_regular(&order, 7));
    }

    #[test]
    fn a_binary_feature_has_one_function() {
        // Half the rows each, so the values are -1 and 1; cosines of smaller ranks are larger.
        let x = Array2::from_shape_fn((20, 1), |(i, _)| (i % 2) as f64);
        let found = of(&Dataset::unlabeled(x).unwrap(), 0, 4);
        assert_eq!(found.len(), 1);
        for (i, v) in found[0].iter().enumerate() {
            assert!((v - if i % 2 == 0 { 1.0 } else { -1.0 }).abs() < 1e-14);
        }
    }

    #[test]
    fn ties_and_missing_values() {
        let cell = |i: usize| if i % 10 == 3 { f64::NAN } else { (i * i % 7) as f64 };
        let x = Array2::from_shape_fn((80, 1), |(i, _)| cell(i));
        let data = Dataset::with_missing(vec!["a".into()], x, Target::None).unwrap();
        let found = of(&data, 0, 4);
        // Squares modulo 7 are 0, 1, 2 and 4.
        assert_eq!(found.len(), 3);
        assert_orthonormal(&found, 1e-13);
        assert!((0..80).filter(|i| i % 10 == 3).all(|i| found.iter().all(|v| v[i] == 0.0)));
    }

    #[test]
    fn levels_of_categories() {
        let types = vec![FeatureType::Category { levels: 3 }];
        let x = Array2::from_shape_fn((60, 1), |(i, _)| [0.0, 1.0, 1.0, 2.0, 2.0, 2.0][i % 6]);
        let data = Dataset::typed(vec!["c".into()], x, types, Target::None).unwrap();
        let found = of(&data, 0, 4);
        assert_eq!(found.len(), 2);
        assert_orthonormal(&found, 1e-13);
        // The first is the indicator of the most frequent level, which has half the rows.
        assert!((found[0][3] - 1.0).abs() < 1e-14 && (found[0][0] + 1.0).abs() < 1e-14);
        assert_eq!(of(&data, 0, 1).len(), 1);
    }

    #[test]
    fn rare_values_have_no_function() {
        // 3 of 60 rows differ.
        let x =
            Array2::from_shape_fn((60, 2), |(i, j)| if j == 0 { f64::from(u8::from(i < 3)) } else { 1.0 });
        let data = Dataset::unlabeled(x).unwrap();
        assert!(of(&data, 0, 4).is_empty() && of(&data, 1, 4).is_empty());
    }

    #[test]
    fn encoded_features_combine_their_columns() {
        // One-hot columns of three levels, and a number.
        let x = Array2::from_shape_fn((30, 4), |(i, j)| match j {
            3 => i as f64,
            j => f64::from(u8::from(i % 3 == j)),
        });
        let groups = Groups::of_sizes([3, 1]);
        let names = vec!["c".to_string(), "x".to_string()];
        let data = Dataset::encoded(names, x, groups, Target::None).unwrap();
        assert_eq!((of(&data, 0, 4).len(), of(&data, 1, 4).len()), (2, 4));
        assert_orthonormal(&of(&data, 0, 4), 1e-13);
    }

    #[test]
    fn sparse_data_has_the_same_functions() {
        let x = array![[0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [4.0, 0.0], [5.0, 5.0], [0.0, 6.0], [7.0, 0.0]];
        let sparse = crate::data::SparseRows::of(&x);
        let (dense, sparse) = (Dataset::unlabeled(x).unwrap(), Dataset::unlabeled(sparse).unwrap());
        assert_eq!(of(&dense, 1, 2), of(&sparse, 1, 2));
    }
}
