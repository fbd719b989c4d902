//! Loops of the solver that changes two variables at a time: which two, and what the change does.
//!
//! Rows that may not be chosen carry an infinite handicap instead of a flag, so that no loop branches. Of
//! equals the first is chosen, however wide the processor's vectors are.

use super::{LANES, multiply_add, vectorised};

/// Curvatures below this count as this: kernels that are not positive definite have some.
const LEAST_CURVATURE: f64 = 1e-12;

/// The largest value seen in each lane, and where.
struct Best {
    value: [f64; LANES],
    at: [u64; LANES],
}

impl Best {
    #[inline(always)]
    fn new() -> Self {
        Self { value: [f64::NEG_INFINITY; LANES], at: [0; LANES] }
    }

    #[inline(always)]
    fn see(&mut self, lane: usize, value: f64, at: u64) {
        let better = value > self.value[lane];
        self.value[lane] = if better { value } else { self.value[lane] };
        self.at[lane] = if better { at } else { self.at[lane] };
    }

    /// The largest of all; of equals the first place.
    #[inline(always)]
    fn largest(&self) -> (f64, usize) {
        let mut best = (self.value[0], self.at[0]);
        for lane in 1..LANES {
            let (value, at) = (self.value[lane], self.at[lane]);
            if value > best.0 || (value == best.0 && at < best.1) {
                best = (value, at);
            }
        }
        (best.0, best.1 as usize)
    }
}

/// The largest ratio above zero seen in each lane, and where. Ratios are compared by products, which take a tenth of the time
/// of a division; what they are of is kept smaller by a power of two, so that no product of a square below 1e150 with any
/// number overflows.
struct BestShare {
    part: [f64; LANES],
    of: [f64; LANES],
    at: [u64; LANES],
}

impl BestShare {
    /// 2^-500
    const SMALLER: f64 = f64::from_bits((1023 - 500) << 52);

    #[inline(always)]
    fn new() -> Self {
        Self { part: [0.0; LANES], of: [Self::SMALLER; LANES], at: [0; LANES] }
    }

    #[inline(always)]
    fn see(&mut self, lane: usize, part: f64, of: f64, at: u64) {
        let of = of * Self::SMALLER;
        let better = part * self.of[lane] > self.part[lane] * of;
        self.part[lane] = if better { part } else { self.part[lane] };
        self.of[lane] = if better { of } else { self.of[lane] };
        self.at[lane] = if better { at } else { self.at[lane] };
    }

    /// The largest of all, -1 if none is above zero; of equals the first place.
    #[inline(always)]
    fn largest(&self) -> (f64, usize) {
        let ratio = |lane: usize| {
            if self.part[lane] > 0.0 { self.part[lane] / (self.of[lane] / Self::SMALLER) } else { -1.0 }
        };
        Best { value: std::array::from_fn(ratio), at: self.at }.largest()
    }
}

vectorised! {
    /// The largest `f[i] + up[i]` and its place.
    pub fn largest_sum(f: &[f64], up: &[f64]) -> (f64, usize) {
        let mut best = Best::new();
        let (fs, f_rest) = f.as_chunks::<LANES>();
        let (ups, up_rest) = up.as_chunks::<LANES>();
        for (block, (f, up)) in fs.iter().zip(ups).enumerate() {
            for i in 0..LANES {
                best.see(i, f[i] + up[i], (block * LANES + i) as u64);
            }
        }
        for (i, (f, up)) in f_rest.iter().zip(up_rest).enumerate() {
            best.see(i, f + up, (fs.len() * LANES + i) as u64);
        }
        best.largest()
    }
}

vectorised! {
    /// The largest `way[i] * (f[i] - middle)` and its place.
    pub fn largest_pull(f: &[f64], way: &[f64], middle: f64) -> (f64, usize) {
        let mut best = Best::new();
        let (fs, f_rest) = f.as_chunks::<LANES>();
        let (ways, way_rest) = way.as_chunks::<LANES>();
        for (block, (f, way)) in fs.iter().zip(ways).enumerate() {
            for i in 0..LANES {
                best.see(i, way[i] * (f[i] - middle), (block * LANES + i) as u64);
            }
        }
        for (i, (f, way)) in f_rest.iter().zip(way_rest).enumerate() {
            best.see(i, way * (f - middle), (fs.len() * LANES + i) as u64);
        }
        best.largest()
    }
}

vectorised! {
    /// `f[i] += step * column[i]`, then the largest `f[i] + up[i]` and its place.
    pub fn step_and_largest_sum(f: &mut [f64], step: f64, column: &[f64], up: &[f64]) -> (f64, usize) {
        let mut best = Best::new();
        let blocks = f.len() / LANES;
        let (fs, f_rest) = f.as_chunks_mut::<LANES>();
        let (columns, column_rest) = column.as_chunks::<LANES>();
        let (ups, up_rest) = up.as_chunks::<LANES>();
        for (block, ((f, column), up)) in fs.iter_mut().zip(columns).zip(ups).enumerate() {
            for i in 0..LANES {
                f[i] = multiply_add::<FMA>(step, column[i], f[i]);
                best.see(i, f[i] + up[i], (block * LANES + i) as u64);
            }
        }
        for (i, ((f, column), up)) in f_rest.iter_mut().zip(column_rest).zip(up_rest).enumerate() {
            *f = multiply_add::<FMA>(step, *column, *f);
            best.see(i, *f + up, (blocks * LANES + i) as u64);
        }
        best.largest()
    }
}

vectorised! {
    /// The partner of a row with the value `f_first` by what the pair gains to second order: with
    /// `b = f_first - f[j] - low[j]` above zero, the place of the largest `b^2 / (own + diagonal[j] - 2 column[j])`.
    /// Returns that gain, negative if there is no partner, the place, and the largest `b` of all.
    pub fn best_partner(
        f_first: f64,
        f: &[f64],
        low: &[f64],
        own: f64,
        diagonal: &[f64],
        column: &[f64],
    ) -> (f64, usize, f64) {
        let mut best = BestShare::new();
        let mut widest = [f64::NEG_INFINITY; LANES];
        let pair = |f: f64, low: f64, diagonal: f64, column: f64| {
            let curvature = multiply_add::<FMA>(-2.0, column, own + diagonal);
            let curvature = if curvature > LEAST_CURVATURE { curvature } else { LEAST_CURVATURE };
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
                widest[i] = if b > widest[i] { b } else { widest[i] };
                best.see(i, if b > 0.0 { b * b } else { 0.0 }, curvature, (block * LANES + i) as u64);
            }
        }
        for i in 0..f_rest.len() {
            let (b, curvature) = pair(f_rest[i], low_rest[i], diagonal_rest[i], column_rest[i]);
            widest[i] = if b > widest[i] { b } else { widest[i] };
            best.see(i, if b > 0.0 { b * b } else { 0.0 }, curvature, (fs.len() * LANES + i) as u64);
        }
        let (gain, at) = best.largest();
        (gain, at, widest.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    const OUT: f64 = f64::INFINITY;

    #[test]
    fn the_first_of_equals_is_chosen_wherever_it_stands() {
        for n in [1, 5, 16, 17, 40, 64] {
            for at in 0..n {
                let mut f = vec![1.0; n];
                f[at..].fill(3.0);
                assert_eq!(largest_sum(&f, &vec![0.0; n]), (3.0, at));
                // Down from 2 pull the ones, up from 2 the threes.
                assert_eq!(largest_pull(&f, &vec![1.0; n], 2.0), (1.0, at));
                assert_eq!(largest_pull(&f, &vec![-1.0; n], 2.0), if at > 0 { (1.0, 0) } else { (-1.0, 0) });
                let mut up = vec![0.0; n];
                up[at] = -OUT;
                let expected = if at + 1 < n {
                    (3.0, at + 1)
                } else if n > 1 {
                    (1.0, 0)
                } else {
                    (-OUT, 0)
                };
                assert_eq!(largest_sum(&f, &up), expected);
                // A step of 2 along -f/2 turns ones and threes to zeros.
                let column: Vec<f64> = f.iter().map(|v| -v / 2.0).collect();
                assert_eq!(step_and_largest_sum(&mut f, 2.0, &column, &vec![0.0; n]), (0.0, 0));
            }
        }
    }

    #[test]
    fn partners_by_hand() {
        // b = 2, 1, 4 (may not), -1; curvatures 1 + 1 - 2 k = 4, 0.5, -, -: gains 1, 2.
        let f = [-1.0, 0.0, -3.0, 2.0];
        let low = [0.0, 0.0, OUT, 0.0];
        let column = [-1.0, 0.75, 0.0, 0.0];
        assert_eq!(best_partner(1.0, &f, &low, 1.0, &[1.0; 4], &column), (2.0, 1, 2.0));
        // A flat direction is as good as it gets, and finite.
        let (gain, at, _) = best_partner(1.0, &f, &low, 1.0, &[1.0; 4], &[1.0, 0.0, 0.0, 0.0]);
        assert_eq!((gain, at), (4.0 / LEAST_CURVATURE, 0));
        assert!(best_partner(-5.0, &f, &low, 1.0, &[1.0; 4], &column).0 < 0.0);
    }

    #[test]
    fn partners_of_huge_kernels_are_those_of_divisions() {
        // Curvatures of 2 - 2 k, in units of 1e307: 2 and 1 in one lane; squares of 9 and 16.
        let unit = 1e307;
        let mut f = vec![0.0; 20];
        (f[1], f[17]) = (-3.0, -4.0);
        let mut low = vec![OUT; 20];
        (low[1], low[17]) = (0.0, 0.0);
        let mut column = vec![0.0; 20];
        column[17] = 0.5 * unit;
        let (gain, at, widest) = best_partner(0.0, &f, &low, unit, &[unit; 20], &column);
        assert_eq!((at, widest), (17, 4.0));
        // 2 - 2 * 0.5 of the unit, each rounded.
        assert!((gain * unit / 16.0 - 1.0).abs() < 1e-15);
        // A curvature that is no number at all is no partner, and a gain of zero is none either.
        assert!(best_partner(0.0, &f, &low, f64::MAX, &[f64::MAX; 20], &column).0 < 0.0);
    }

    #[test]
    fn partners_are_those_of_divisions_and_of_equals_the_first() {
        let mut rng = Rng::new(7);
        for n in [3, 16, 50, 131] {
            // Few different numbers, so that many gains are equal; powers of two as curvatures divide exactly.
            let f: Vec<f64> = (0..n).map(|_| (8.0 * rng.uniform()).floor()).collect();
            let low: Vec<f64> = (0..n).map(|_| if rng.uniform() < 0.3 { OUT } else { 0.0 }).collect();
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
