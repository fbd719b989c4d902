//! Working set selection and updates for SMO.
//!
//! Rows that cannot be chosen have an infinite offset instead of a flag, so that no loop branches. Ties go to the smallest
//! index, independent of the vector width of the processor.

use super::dispatch::{LANES, multiply_add, vectorized};

/// Lower bound on curvatures, which kernels that are not positive definite can violate.
const MIN_CURVATURE: f64 = 1e-12;

/// The largest value of each lane and its index.
struct LaneMax {
    value: [f64; LANES],
    index: [u64; LANES],
}

impl LaneMax {
    #[inline(always)]
    fn new() -> Self {
        Self { value: [f64::NEG_INFINITY; LANES], index: [0; LANES] }
    }

    #[inline(always)]
    fn update(&mut self, lane: usize, value: f64, index: u64) {
        let better = value > self.value[lane];
        self.value[lane] = if better { value } else { self.value[lane] };
        self.index[lane] = if better { index } else { self.index[lane] };
    }

    /// The largest value of all lanes and its index; ties go to the smallest index.
    #[inline(always)]
    fn largest(&self) -> (f64, usize) {
        let mut best = (self.value[0], self.index[0]);
        for lane in 1..LANES {
            let (value, index) = (self.value[lane], self.index[lane]);
            if value > best.0 || (value == best.0 && index < best.1) {
                best = (value, index);
            }
        }
        (best.0, best.1 as usize)
    }
}

/// The largest positive ratio of each lane and its index. Ratios are compared by cross-multiplication, which takes a tenth of the
/// time of a division. Denominators are stored scaled by a power of two, so that a product with a numerator below 1e150 does
/// not overflow.
struct LaneMaxRatio {
    numerator: [f64; LANES],
    denominator: [f64; LANES],
    index: [u64; LANES],
}

impl LaneMaxRatio {
    /// 2^-500
    const SCALE: f64 = f64::from_bits((1023 - 500) << 52);

    #[inline(always)]
    fn new() -> Self {
        Self { numerator: [0.0; LANES], denominator: [Self::SCALE; LANES], index: [0; LANES] }
    }

    #[inline(always)]
    fn update(&mut self, lane: usize, numerator: f64, denominator: f64, index: u64) {
        let denominator = denominator * Self::SCALE;
        let better = numerator * self.denominator[lane] > self.numerator[lane] * denominator;
        self.numerator[lane] = if better { numerator } else { self.numerator[lane] };
        self.denominator[lane] = if better { denominator } else { self.denominator[lane] };
        self.index[lane] = if better { index } else { self.index[lane] };
    }

    /// The largest ratio of all lanes, -1 if none is positive, and its index; ties go to the smallest index.
    #[inline(always)]
    fn largest(&self) -> (f64, usize) {
        let ratio = |lane: usize| {
            if self.numerator[lane] > 0.0 {
                self.numerator[lane] / (self.denominator[lane] / Self::SCALE)
            } else {
                -1.0
            }
        };
        LaneMax { value: std::array::from_fn(ratio), index: self.index }.largest()
    }
}

vectorized! {
    /// The largest `f[i] + up[i]` and its index.
    pub fn largest_sum(f: &[f64], up: &[f64]) -> (f64, usize) {
        let mut best = LaneMax::new();
        let (fs, f_rest) = f.as_chunks::<LANES>();
        let (ups, up_rest) = up.as_chunks::<LANES>();
        for (block, (f, up)) in fs.iter().zip(ups).enumerate() {
            for i in 0..LANES {
                best.update(i, f[i] + up[i], (block * LANES + i) as u64);
            }
        }
        for (i, (f, up)) in f_rest.iter().zip(up_rest).enumerate() {
            best.update(i, f + up, (fs.len() * LANES + i) as u64);
        }
        best.largest()
    }
}

vectorized! {
    /// The largest `direction[i] * (f[i] - bias)` and its index.
    pub fn largest_violation(f: &[f64], direction: &[f64], bias: f64) -> (f64, usize) {
        let mut best = LaneMax::new();
        let (fs, f_rest) = f.as_chunks::<LANES>();
        let (directions, direction_rest) = direction.as_chunks::<LANES>();
        for (block, (f, direction)) in fs.iter().zip(directions).enumerate() {
            for i in 0..LANES {
                best.update(i, direction[i] * (f[i] - bias), (block * LANES + i) as u64);
            }
        }
        for (i, (f, direction)) in f_rest.iter().zip(direction_rest).enumerate() {
            best.update(i, direction * (f - bias), (fs.len() * LANES + i) as u64);
        }
        best.largest()
    }
}

vectorized! {
    /// `f[i] += step * column[i]`, then the largest `f[i] + up[i]` and its index.
    pub fn step_and_largest_sum(f: &mut [f64], step: f64, column: &[f64], up: &[f64]) -> (f64, usize) {
        let mut best = LaneMax::new();
        let blocks = f.len() / LANES;
        let (fs, f_rest) = f.as_chunks_mut::<LANES>();
        let (columns, column_rest) = column.as_chunks::<LANES>();
        let (ups, up_rest) = up.as_chunks::<LANES>();
        for (block, ((f, column), up)) in fs.iter_mut().zip(columns).zip(ups).enumerate() {
            for i in 0..LANES {
                f[i] = multiply_add::<FMA>(step, column[i], f[i]);
                best.update(i, f[i] + up[i], (block * LANES + i) as u64);
            }
        }
        for (i, ((f, column), up)) in f_rest.iter_mut().zip(column_rest).zip(up_rest).enumerate() {
            *f = multiply_add::<FMA>(step, *column, *f);
            best.update(i, *f + up, (blocks * LANES + i) as u64);
        }
        best.largest()
    }
}

vectorized! {
    /// Second-order working set selection: the partner of a row with the value `f_first` and the diagonal entry `own`.
    ///
    /// With `b = f_first - f[j] - low[j]`, finds the largest `b^2 / (own + diagonal[j] - 2 column[j])` over `b > 0`.
    /// Returns that gain (negative if there is no partner), its index, and the largest `b`.
    pub fn best_partner(
        f_first: f64,
        f: &[f64],
        low: &[f64],
        own: f64,
        diagonal: &[f64],
        column: &[f64],
    ) -> (f64, usize, f64) {
        let mut best = LaneMaxRatio::new();
        let mut largest = [f64::NEG_INFINITY; LANES];
        let pair = |f: f64, low: f64, diagonal: f64, column: f64| {
            let curvature = multiply_add::<FMA>(-2.0, column, own + diagonal);
            let curvature = if curvature > MIN_CURVATURE { curvature } else { MIN_CURVATURE };
            (f_first - f - low, curvature)
        };
        let (fs, f_rest) = f.as_chunks::<LANES>();
        let (lows, low_rest) = low.as_chunks::<LANES>();
        let (diagonals, diagonal_rest) = diagonal.as_chunks::<LANES>();
        let (columns, column_rest) = column.as_chunks::<LANES>();
        for block in 0..fs.len() {
            let (f, low, diagonal, column) = (&fs[block], &lows[block], &diagonals[block], &columns[block]);
            for i in 0..LANES {
                let (b, curvature) = pair(f[i], low[i], diagonal[i], column[i]);
                largest[i] = if b > largest[i] { b } else { largest[i] };
                best.update(i, if b > 0.0 { b * b } else { 0.0 }, curvature, (block * LANES + i) as u64);
            }
        }
        for i in 0..f_rest.len() {
            let (b, curvature) = pair(f_rest[i], low_rest[i], diagonal_rest[i], column_rest[i]);
            largest[i] = if b > largest[i] { b } else { largest[i] };
            best.update(i, if b > 0.0 { b * b } else { 0.0 }, curvature, (fs.len() * LANES + i) as u64);
        }
        let (gain, index) = best.largest();
        (gain, index, largest.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    /// The offset of a row that cannot be chosen.
    const EXCLUDED: f64 = f64::INFINITY;

    #[test]
    fn ties_go_to_the_smallest_index() {
        for n in [1, 5, 16, 17, 40, 64] {
            for at in 0..n {
                let mut f = vec![1.0; n];
                f[at..].fill(3.0);
                assert_eq!(largest_sum(&f, &vec![0.0; n]), (3.0, at));
                // Relative to 2, threes violate upwards and ones downwards.
                assert_eq!(largest_violation(&f, &vec![1.0; n], 2.0), (1.0, at));
                assert_eq!(
                    largest_violation(&f, &vec![-1.0; n], 2.0),
                    if at > 0 { (1.0, 0) } else { (-1.0, 0) }
                );
                let mut up = vec![0.0; n];
                up[at] = -EXCLUDED;
                let expected = if at + 1 < n {
                    (3.0, at + 1)
                } else if n > 1 {
                    (1.0, 0)
                } else {
                    (-EXCLUDED, 0)
                };
                assert_eq!(largest_sum(&f, &up), expected);
                // A step of 2 along -f/2 makes all entries zero.
                let column: Vec<f64> = f.iter().map(|v| -v / 2.0).collect();
                assert_eq!(step_and_largest_sum(&mut f, 2.0, &column, &vec![0.0; n]), (0.0, 0));
            }
        }
    }

    #[test]
    fn partners_match_hand_computed_values() {
        // b = 2, 1, 4 (excluded), -1; curvatures 1 + 1 - 2 k = 4, 0.5, -, -: gains 1, 2.
        let f = [-1.0, 0.0, -3.0, 2.0];
        let low = [0.0, 0.0, EXCLUDED, 0.0];
        let column = [-1.0, 0.75, 0.0, 0.0];
        assert_eq!(best_partner(1.0, &f, &low, 1.0, &[1.0; 4], &column), (2.0, 1, 2.0));
        // A direction without curvature has a very large but finite gain.
        let (gain, at, _) = best_partner(1.0, &f, &low, 1.0, &[1.0; 4], &[1.0, 0.0, 0.0, 0.0]);
        assert_eq!((gain, at), (4.0 / MIN_CURVATURE, 0));
        assert!(best_partner(-5.0, &f, &low, 1.0, &[1.0; 4], &column).0 < 0.0);
    }

    #[test]
    fn partners_for_huge_kernel_values_agree_with_division() {
        // Curvatures of 2 - 2 k, in units of 1e307: 2 and 1 in one lane; squares of 9 and 16.
        let unit = 1e307;
        let mut f = vec![0.0; 20];
        (f[1], f[17]) = (-3.0, -4.0);
        let mut low = vec![EXCLUDED; 20];
        (low[1], low[17]) = (0.0, 0.0);
        let mut column = vec![0.0; 20];
        column[17] = 0.5 * unit;
        let (gain, at, largest) = best_partner(0.0, &f, &low, unit, &[unit; 20], &column);
        assert_eq!((at, largest), (17, 4.0));
        // 2 - 2 * 0.5 of the unit, each rounded.
        assert!((gain * unit / 16.0 - 1.0).abs() < 1e-15);
        // Rows with an infinite curvature or a gain of zero are no partners.
        assert!(best_partner(0.0, &f, &low, f64::MAX, &[f64::MAX; 20], &column).0 < 0.0);
    }

    #[test]
    fn partners_agree_with_division_and_ties_go_to_the_smallest_index() {
        let mut rng = Rng::new(7);
        for n in [3, 16, 50, 131] {
            // Few distinct values, so that many gains are equal; division by curvatures that are powers of two is exact.
            let f: Vec<f64> = (0..n).map(|_| (8.0 * rng.uniform()).floor()).collect();
            let low: Vec<f64> = (0..n).map(|_| if rng.uniform() < 0.3 { EXCLUDED } else { 0.0 }).collect();
            let column: Vec<f64> = (0..n).map(|_| [0.5, 0.0, -1.0][(3.0 * rng.uniform()) as usize]).collect();
            let diagonal = vec![1.0; n];
            for first in [0.0, 3.0, 9.0] {
                let mut expected = (-1.0, 0, f64::NEG_INFINITY);
                for j in 0..n {
                    let b = first - f[j] - low[j];
                    let gain = if b > 0.0 { b * b / (2.0 - 2.0 * column[j]) } else { -1.0 };
                    if gain > expected.0 {
                        (expected.0, expected.1) = (gain, j);
                    }
                    expected.2 = expected.2.max(b);
                }
                assert_eq!(best_partner(first, &f, &low, 1.0, &diagonal, &column), expected, "{n}");
            }
        }
    }
}
