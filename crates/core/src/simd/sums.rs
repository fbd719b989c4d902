//! Sums of products, and loops that update vectors.

use super::dispatch::{LANES, multiply_add, vectorized};

vectorized! {
    /// `sum[i] += weight * x[i]`
    pub fn add_scaled(sum: &mut [f64], weight: f64, x: &[f64]) {
        for (s, x) in sum.iter_mut().zip(x) {
            *s = multiply_add::<FMA>(weight, *x, *s);
        }
    }
}

/// `sum_i term(a[i], b[i])`, where `add(a, b, s)` computes `s + term(a, b)`. Sixteen partial sums are reduced pairwise, then the
/// remaining terms are added: the order does not depend on the vector width of the processor.
#[inline(always)]
pub(super) fn sum_of_terms(a: &[f64], b: &[f64], add: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let n = a.len().min(b.len());
    let (a, a_rest) = a[..n].as_chunks::<LANES>();
    let (b, b_rest) = b[..n].as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            sums[i] = add(a[i], b[i], sums[i]);
        }
    }
    with_rest(sums, a_rest, b_rest, add)
}

/// Adds fewer than sixteen remaining terms in groups of eight, four and one, and reduces. Short vectors use only this path.
#[inline(always)]
fn with_rest(
    mut sums: [f64; LANES],
    mut a: &[f64],
    mut b: &[f64],
    add: impl Fn(f64, f64, f64) -> f64,
) -> f64 {
    if let (Some((a_head, a_tail)), Some((b_head, b_tail))) =
        (a.split_first_chunk::<8>(), b.split_first_chunk::<8>())
    {
        for i in 0..8 {
            sums[i] = add(a_head[i], b_head[i], sums[i]);
        }
        (a, b) = (a_tail, b_tail);
    }
    let mut sum = reduce(sums);
    if let (Some((a_head, a_tail)), Some((b_head, b_tail))) =
        (a.split_first_chunk::<4>(), b.split_first_chunk::<4>())
    {
        sum += sum_of_four(std::array::from_fn(|i| add(a_head[i], b_head[i], 0.0)));
        (a, b) = (a_tail, b_tail);
    }
    for (a, b) in a.iter().zip(b) {
        sum = add(*a, *b, sum);
    }
    sum
}

/// Adds up partial sums pairwise, which has a shorter dependency chain than adding them one by one.
#[inline(always)]
pub(super) fn reduce(sums: [f64; LANES]) -> f64 {
    let eight: [f64; 8] = std::array::from_fn(|i| sums[i] + sums[i + 8]);
    sum_of_four(std::array::from_fn(|i| eight[i] + eight[i + 4]))
}

#[inline(always)]
fn sum_of_four(four: [f64; 4]) -> f64 {
    (four[0] + four[2]) + (four[1] + four[3])
}

vectorized! {
    /// `sum_i a[i] b[i]`
    pub fn dot(a: &[f64], b: &[f64]) -> f64 {
        sum_of_terms(a, b, multiply_add::<FMA>)
    }
}

vectorized! {
    /// `out[k] = sum_i columns[k * v.len() + i] v[i]`, four columns at a time to overlap their additions.
    /// Each result is bitwise equal to that of [`dot`].
    pub fn dots(out: &mut [f64], columns: &[f64], v: &[f64]) {
        const COLUMNS: usize = 4;
        let height = v.len();
        let column = |k: usize| &columns[k * height..(k + 1) * height];
        let (blocks, rest) = v.as_chunks::<LANES>();
        let (fours, remaining) = out.as_chunks_mut::<COLUMNS>();
        for (four, out) in fours.iter_mut().enumerate() {
            let cells: [&[f64]; COLUMNS] = std::array::from_fn(|c| column(COLUMNS * four + c));
            let mut sums = [[0.0; LANES]; COLUMNS];
            let [c0, c1, c2, c3] = cells.map(|cells| cells.as_chunks::<LANES>().0);
            for ((((v, c0), c1), c2), c3) in blocks.iter().zip(c0).zip(c1).zip(c2).zip(c3) {
                for i in 0..LANES {
                    sums[0][i] = multiply_add::<FMA>(c0[i], v[i], sums[0][i]);
                    sums[1][i] = multiply_add::<FMA>(c1[i], v[i], sums[1][i]);
                    sums[2][i] = multiply_add::<FMA>(c2[i], v[i], sums[2][i]);
                    sums[3][i] = multiply_add::<FMA>(c3[i], v[i], sums[3][i]);
                }
            }
            for ((out, sums), cells) in out.iter_mut().zip(&sums).zip(cells) {
                *out = with_rest(*sums, &cells[blocks.len() * LANES..], rest, multiply_add::<FMA>);
            }
        }
        let from = COLUMNS * fours.len();
        for (k, out) in remaining.iter_mut().enumerate() {
            *out = sum_of_terms(column(from + k), v, multiply_add::<FMA>);
        }
    }
}

vectorized! {
    /// Replaces `v[i]` by `1 / sqrt(v[i])`. Returns the sum of the square roots.
    pub fn roots_and_inverses(v: &mut [f64]) -> f64 {
        let mut sums = [0.0; LANES];
        let one = |value: &mut f64, sum: &mut f64| {
            let root = value.sqrt();
            *sum += root;
            *value = 1.0 / root;
        };
        let (blocks, rest) = v.as_chunks_mut::<LANES>();
        for block in blocks {
            for i in 0..LANES {
                one(&mut block[i], &mut sums[i]);
            }
        }
        rest.iter_mut().zip(&mut sums).for_each(|(value, sum)| one(value, sum));
        reduce(sums)
    }
}

vectorized! {
    /// `sum[i] += weight * x[i]`. Returns the sum of squares of `sum`, bitwise equal to `dot(sum, sum)`.
    pub fn add_scaled_and_square(sum: &mut [f64], weight: f64, x: &[f64]) -> f64 {
        let mut squares = [0.0; LANES];
        let (blocks, rest) = sum.as_chunks_mut::<LANES>();
        let (x, x_rest) = x.as_chunks::<LANES>();
        for (block, x) in blocks.iter_mut().zip(x) {
            for i in 0..LANES {
                block[i] = multiply_add::<FMA>(weight, x[i], block[i]);
                squares[i] = multiply_add::<FMA>(block[i], block[i], squares[i]);
            }
        }
        rest.iter_mut().zip(x_rest).for_each(|(to, x)| *to = multiply_add::<FMA>(weight, *x, *to));
        with_rest(squares, rest, rest, multiply_add::<FMA>)
    }
}

vectorized! {
    /// Adds the votes of row `j` to the counts of its bucket: `counts[buckets[j]][i] += votes[j][i]`.
    ///
    /// Votes are 0 or 1. With at most 65535 rows no count overflows.
    pub fn count_votes(counts: &mut [[u16; VOTERS]], buckets: &[u32], votes: &[[u8; VOTERS]]) {
        for (bucket, votes) in buckets.iter().zip(votes) {
            let counts = &mut counts[*bucket as usize];
            for i in 0..VOTERS {
                counts[i] = counts[i].wrapping_add(u16::from(votes[i]));
            }
        }
    }
}

/// Number of voters that [`count_votes`] processes together.
pub const VOTERS: usize = 64;

vectorized! {
    /// `out[r] += sum_k weights[k] * columns[k * stride + r]`
    pub fn add_combination(out: &mut [f64], columns: &[f64], stride: usize, weights: &[f64]) {
        let height = out.len();
        let column = |k: usize| &columns[k * stride..k * stride + height];
        let (fours, rest) = weights.as_chunks::<4>();
        for (block, w) in fours.iter().enumerate() {
            let [c0, c1, c2, c3] = std::array::from_fn(|i| column(4 * block + i));
            for r in 0..height {
                let sum = multiply_add::<FMA>(w[1], c1[r], multiply_add::<FMA>(w[0], c0[r], out[r]));
                out[r] = multiply_add::<FMA>(w[3], c3[r], multiply_add::<FMA>(w[2], c2[r], sum));
            }
        }
        for (i, w) in rest.iter().enumerate() {
            let c = column(4 * fours.len() + i);
            for r in 0..height {
                out[r] = multiply_add::<FMA>(*w, c[r], out[r]);
            }
        }
    }
}

vectorized! {
    /// One step of a pivoted Cholesky factorization on a block of rows: `column *= scale`, then
    /// `residual -= column^2`, clamped at zero. Returns the smallest residual before clamping and the
    /// largest after.
    pub fn scale_and_reduce(column: &mut [f64], scale: f64, residual: &mut [f64]) -> (f64, f64) {
        let step = |c: &mut f64, d: &mut f64| {
            *c *= scale;
            let reduced = multiply_add::<FMA>(-*c, *c, *d);
            *d = if reduced > 0.0 { reduced } else { 0.0 };
            // Comparisons ignore NaN; mapping it to minus infinity makes it visible in the smallest residual.
            if reduced >= f64::MIN { reduced } else { f64::NEG_INFINITY }
        };
        let (mut min, mut max) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let (columns, column_rest) = column.as_chunks_mut::<LANES>();
        let (residuals, residual_rest) = residual.as_chunks_mut::<LANES>();
        for (c, d) in columns.iter_mut().zip(residuals) {
            for i in 0..LANES {
                let reduced = step(&mut c[i], &mut d[i]);
                min[i] = if reduced < min[i] { reduced } else { min[i] };
                max[i] = if d[i] > max[i] { d[i] } else { max[i] };
            }
        }
        for (c, d) in column_rest.iter_mut().zip(residual_rest) {
            let reduced = step(c, d);
            min[0] = if reduced < min[0] { reduced } else { min[0] };
            max[0] = if *d > max[0] { *d } else { max[0] };
        }
        (min.into_iter().fold(f64::INFINITY, f64::min), max.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

vectorized! {
    /// `out[i] = a[i] b[i]`
    pub fn multiply_f32(a: &[f32], b: &[f32], out: &mut [f32]) {
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = a * b;
        }
    }
}

vectorized! {
    /// `sum[i] += x[i]^2`
    pub fn add_squares_f32(sum: &mut [f32], x: &[f32]) {
        for (sum, x) in sum.iter_mut().zip(x) {
            *sum = if FMA { x.mul_add(*x, *sum) } else { x * x + *sum };
        }
    }
}
