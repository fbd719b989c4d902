//! KLMS: kernel least mean squares on the values of one feature.
//!
//! One pass over the samples in random order, with targets $y_j = \pm 1$ and a Gaussian $\kappa$:
//!
//! $$ e_j = y_j - \eta \sum_{l<j} e_l \kappa(u_l, u_j), \qquad h(u) = \operatorname{sign} \eta \sum_l e_l \kappa(u_l, u) $$
//!
//! More than two classes: one sum per class against the rest, and the largest wins.
//!
//! Exact: the kernel of each pair is computed once and used for both the recursion and the votes, $n^2/2$
//! exponentials. Quantized: each center is divided between the two nearest points of a grid whose spacing is a
//! fraction of the bandwidth; the sum is stored on the grid and interpolated. The cost of a sample is then
//! proportional to the bandwidth, $O(n)$ in total, and the error is of second order in the spacing.
//!
//! Category: different levels are as far apart as on average two standardized numbers would be, if their distance
//! distinguishes only equal and different: with $p_l$ the frequencies, $\kappa$ is 1 for equal levels and
//! $\exp(-s^2 / b^2)$ for different ones, with $s^2 = 1 / (1 - \sum_l p_l^2)$ and $b$ the bandwidth. Sums per level make
//! this exact in $O(n)$.
//!
//! References: Liu, Pokharel and Principe, *The kernel least-mean-square algorithm*, 2008; quantized centers: Chen,
//! Zhao, Zhu and Principe, *Quantized kernel least mean square algorithm*, 2012.

use super::labels::{Labels, mean_and_std};
use crate::context::Context;
use crate::error::Result;
use crate::simd::{add_scaled, dot, exp_scaled, squared_distances};

/// Above this many samples centers are quantized by default.
const MAX_EXACT_ROWS: usize = 4096;
/// Default grid spacing, in bandwidths.
const DEFAULT_SPACING: f64 = 1.0 / 16.0;
/// Distance in bandwidths beyond which a Gaussian is below 1e-9, negligible in a sum of a million.
const KERNEL_RADIUS: f64 = 6.5;

/// Maximum number of grid points: 32 MiB.
const MAX_GRID_POINTS: f64 = 4_194_304.0;
/// Samples between two checks for cancellation.
const ROWS_PER_CHECK: usize = 256;

/// Kernel least mean squares; see the module documentation.
#[derive(Debug, Clone, Copy)]
pub(in crate::select) struct Klms {
    /// Step size.
    pub eta: f64,
    /// Bandwidth of the Gaussian kernel, in standard deviations of the feature.
    pub bandwidth: f64,
    /// Spacing of quantized centers, in bandwidths; 0 is exact.
    pub quantum: Option<f64>,
}

impl Klms {
    /// One vote per sample.
    pub(super) fn votes(
        &self,
        values: &[f64],
        labels: &Labels,
        order: &[usize],
        ctx: &Context,
    ) -> Result<Vec<u8>> {
        let Some((mean, std)) = mean_and_std(values) else {
            return Ok(vec![labels.majority(); values.len()]);
        };
        let unit = self.bandwidth * std;
        // In units of the bandwidth, in the order of learning.
        let u: Vec<f64> = order.iter().map(|&i| (values[i] - mean) / unit).collect();
        let quantum =
            self.quantum.unwrap_or(if values.len() <= MAX_EXACT_ROWS { 0.0 } else { DEFAULT_SPACING });
        let codes: Vec<u8> = order.iter().map(|&i| labels.codes[i]).collect();
        let n_sums = n_sums(labels);
        let target = |sum: usize, class: u8| target(n_sums, sum, class);
        let sums: Vec<Vec<f64>> = if quantum == 0.0 {
            exact(&u, n_sums, self.eta, |sum, row| target(sum, codes[row]), ctx)?
        } else {
            let sum = |sum| quantized(&u, self.eta, quantum, |row| target(sum, codes[row]), ctx);
            (0..n_sums).map(sum).collect::<Result<_>>()?
        };
        let mut votes = vec![0; values.len()];
        for (place, &row) in order.iter().enumerate() {
            votes[row] = winner(&sums, place, labels);
        }
        Ok(votes)
    }

    /// One vote per sample for a category, given its levels.
    pub(super) fn category_votes(&self, levels: &[usize], labels: &Labels, order: &[usize]) -> Vec<u8> {
        let n = levels.len() as f64;
        let mut counts = vec![0usize; levels.iter().max().map_or(0, |most| most + 1)];
        levels.iter().for_each(|&level| counts[level] += 1);
        let differ = 1.0 - counts.iter().map(|&c| (c as f64 / n).powi(2)).sum::<f64>();
        if counts.iter().filter(|&&c| c > 0).count() < 2 {
            return vec![labels.majority(); levels.len()];
        }
        let far = (-1.0 / (differ * self.bandwidth * self.bandwidth)).exp();
        let n_sums = n_sums(labels);
        // The value of each level after the pass.
        let of_sum = |sum: usize| -> Vec<f64> {
            let (mut total, mut own) = (0.0, vec![0.0; counts.len()]);
            for &i in order {
                let before = far * total + (1.0 - far) * own[levels[i]];
                let step = self.eta * (target(n_sums, sum, labels.codes[i]) - before);
                total += step;
                own[levels[i]] += step;
            }
            own.iter().map(|own| far * total + (1.0 - far) * own).collect()
        };
        let sums: Vec<Vec<f64>> = (0..n_sums).map(of_sum).collect();
        levels.iter().map(|&level| winner(&sums, level, labels)).collect()
    }
}

/// Two classes need one sum: the other is its negative.
fn n_sums(labels: &Labels) -> usize {
    if labels.n_classes() == 2 { 1 } else { labels.n_classes() }
}

/// The target of a sum for a sample of this class.
fn target(n_sums: usize, sum: usize, class: u8) -> f64 {
    let own = if n_sums == 1 { class == 1 } else { usize::from(class) == sum };
    if own { 1.0 } else { -1.0 }
}

/// The class with the largest sum at a place.
fn winner(sums: &[Vec<f64>], place: usize, labels: &Labels) -> u8 {
    match sums {
        [one] if one[place] == 0.0 => labels.codes[0],
        [one] => u8::from(one[place] > 0.0),
        many => {
            let best = (0..many.len()).rev().max_by(|&a, &b| many[a][place].total_cmp(&many[b][place]));
            best.unwrap_or(0) as u8
        }
    }
}

/// The sums at all samples after the pass, one vector per target.
fn exact(
    u: &[f64],
    n_sums: usize,
    eta: f64,
    target: impl Fn(usize, usize) -> f64,
    ctx: &Context,
) -> Result<Vec<Vec<f64>>> {
    let n = u.len();
    let mut kernel = vec![0.0; n];
    let mut errors = vec![vec![0.0; n]; n_sums];
    let mut sums = vec![vec![0.0; n]; n_sums];
    for j in 0..n {
        if j % ROWS_PER_CHECK == 0 {
            ctx.check()?;
        }
        let kernel = &mut kernel[..j];
        squared_distances(kernel, &u[..j], j, &u[j..=j]);
        exp_scaled(kernel, -0.5);
        for s in 0..n_sums {
            let before = eta * dot(&errors[s][..j], kernel);
            let error = target(s, j) - before;
            errors[s][j] = error;
            sums[s][j] = before + eta * error;
            add_scaled(&mut sums[s][..j], eta * error, kernel);
        }
    }
    Ok(sums)
}

/// The same with centers on a grid.
fn quantized(
    u: &[f64],
    eta: f64,
    quantum: f64,
    target: impl Fn(usize) -> f64,
    ctx: &Context,
) -> Result<Vec<f64>> {
    let min = u.iter().copied().fold(f64::INFINITY, f64::min);
    let max = u.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // No sample is farther from the mean than sqrt(n) standard deviations, so the grid is short unless its spacing
    // is very small; then memory limits the spacing.
    let quantum = quantum.max((max - min) / MAX_GRID_POINTS);
    let mut grid = vec![0.0; ((max - min) / quantum) as usize + 2];
    let radius = (KERNEL_RADIUS / quantum).ceil() as usize;
    let mut kernel: Vec<f64> =
        (0..=2 * radius).map(|i| ((i as f64 - radius as f64) * quantum).powi(2)).collect();
    exp_scaled(&mut kernel, -0.5);
    let place = |u: f64| {
        let at = (u - min) / quantum;
        let cell = at as usize;
        (cell, at - cell as f64)
    };
    let read = |grid: &[f64], (cell, rest): (usize, f64)| grid[cell] + rest * (grid[cell + 1] - grid[cell]);
    for (j, &u) in u.iter().enumerate() {
        if j % ROWS_PER_CHECK == 0 {
            ctx.check()?;
        }
        let at = place(u);
        let error = target(j) - read(&grid, at);
        for (center, fraction) in [(at.0, 1.0 - at.1), (at.0 + 1, at.1)] {
            let (from, to) = (center.saturating_sub(radius), grid.len().min(center + radius + 1));
            add_scaled(&mut grid[from..to], eta * error * fraction, &kernel[from + radius - center..]);
        }
    }
    Ok(u.iter().map(|&u| read(&grid, place(u))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;
    use crate::random::Rng;

    const KLMS: Klms = Klms { eta: 0.5, bandwidth: 1.0, quantum: None };

    /// The recursion, implemented literally.
    fn literal(u: &[f64], y: &[f64], eta: f64) -> Vec<f64> {
        let kappa = |a: f64, b: f64| (-(a - b) * (a - b) / 2.0).exp();
        let mut e: Vec<f64> = vec![];
        for j in 0..u.len() {
            let sum: f64 = (0..j).map(|l| e[l] * kappa(u[l], u[j])).sum();
            e.push(y[j] - eta * sum);
        }
        u.iter().map(|&at| eta * (0..u.len()).map(|l| e[l] * kappa(u[l], at)).sum::<f64>()).collect()
    }

    fn problem(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut rng = Rng::new(seed);
        let u: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let y =
            u.iter().map(|&u| if (2.0 * u).sin() + 0.5 * rng.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        (u, y)
    }

    #[test]
    fn exact_sums_equal_the_literal_recursion() {
        for (n, eta) in [(1, 0.5), (2, 1.0), (37, 0.5), (400, 0.2), (400, 1.0)] {
            let (u, y) = problem(n, n as u64);
            let fast = exact(&u, 1, eta, |_, row| y[row], &Context::default()).unwrap();
            // Sums of a few hundred terms of order one.
            let worst =
                literal(&u, &y, eta).iter().zip(&fast[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-10, "{worst} at n = {n}, eta = {eta}");
        }
    }

    #[test]
    fn by_hand() {
        // u = 0, 1 and y = 1, -1, eta = 1/2: e = 1, -1 - k/2 with k = exp(-1/2).
        let k = (-0.5_f64).exp();
        let sums = exact(&[0.0, 1.0], 1, 0.5, |_, row| [1.0, -1.0][row], &Context::default()).unwrap();
        let e1 = -1.0 - 0.5 * k;
        assert!((sums[0][0] - 0.5 * (1.0 + e1 * k)).abs() < 1e-15);
        assert!((sums[0][1] - 0.5 * (k + e1)).abs() < 1e-15);
    }

    #[test]
    fn the_error_of_a_grid_is_of_second_order() {
        let (u, y) = problem(1000, 3);
        let exact = &exact(&u, 1, 0.5, |_, row| y[row], &Context::default()).unwrap()[0];
        let distance = |quantum| {
            let coarse = quantized(&u, 0.5, quantum, |row| y[row], &Context::default()).unwrap();
            coarse.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let size = exact.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        // Dividing a center and interpolating each have an error of h^2/8, and errors feed back.
        assert!(distance(1.0 / 16.0) < 0.01 * size, "{} of {size}", distance(1.0 / 16.0));
        // Second order: a grid eight times as fine is about 64 times as accurate.
        let ratio = distance(1.0 / 16.0) / distance(1.0 / 128.0);
        assert!((40.0..100.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_category_equals_its_encoding() {
        let mut rng = Rng::new(21);
        let (n, n_levels) = (80, 4);
        let levels: Vec<usize> = (0..n).map(|_| rng.below(n_levels)).collect();
        let codes: Vec<usize> =
            levels.iter().map(|&l| usize::from(rng.uniform() < 0.2 + 0.2 * l as f64)).collect();
        let labels = Labels::new(&Classes::from_codes(codes.clone()), "m").unwrap();
        let mut order: Vec<usize> = (0..n).collect();
        rng.shuffle(&mut order);
        // The recursion with the kernel of scaled indicators: their squared distance is 2 s^2.
        let frequency = |l: usize| levels.iter().filter(|&&level| level == l).count() as f64 / n as f64;
        let s2 = 1.0 / (1.0 - (0..n_levels).map(|l| frequency(l).powi(2)).sum::<f64>());
        let klms = Klms { bandwidth: 0.8, ..KLMS };
        let kappa = |a: usize, b: usize| if a == b { 1.0 } else { (-s2 / 0.64).exp() };
        let mut errors: Vec<(usize, f64)> = vec![];
        for &i in &order {
            let before: f64 = errors.iter().map(|&(l, e)| 0.5 * e * kappa(l, levels[i])).sum();
            errors.push((levels[i], if codes[i] == 1 { 1.0 } else { -1.0 } - before));
        }
        let value = |level: usize| errors.iter().map(|&(l, e)| e * kappa(l, level)).sum::<f64>();
        let expected: Vec<u8> = levels.iter().map(|&level| u8::from(value(level) > 0.0)).collect();
        assert_eq!(klms.category_votes(&levels, &labels, &order), expected);
        assert_eq!(klms.category_votes(&vec![2; n], &labels, &order), vec![labels.majority(); n]);
    }

    #[test]
    fn three_separated_classes_are_learned() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i % 3) * 10.0 + f64::from(i) * 0.01).collect();
        let classes = Classes::from_codes((0..60).map(|i| i % 3).collect());
        let labels = Labels::new(&classes, "m").unwrap();
        let order: Vec<usize> = (0..60).collect();
        for quantum in [Some(0.0), Some(1.0 / 16.0)] {
            let votes = Klms { bandwidth: 0.3, quantum, ..KLMS }
                .votes(&values, &labels, &order, &Context::default())
                .unwrap();
            assert_eq!(votes, labels.codes);
        }
    }

    #[test]
    fn outliers_do_not_enlarge_the_grid() {
        let mut values = vec![0.0; 10_000];
        (values[7], values[8]) = (1e308, -1e-308);
        let labels =
            Labels::new(&Classes::from_codes((0..10_000).map(|i| usize::from(i == 7)).collect()), "m")
                .unwrap();
        let order: Vec<usize> = (0..10_000).collect();
        let votes = KLMS.votes(&values, &labels, &order, &Context::default()).unwrap();
        assert_eq!(votes.iter().filter(|&&v| v == 0).count(), 9_999);
    }
}
