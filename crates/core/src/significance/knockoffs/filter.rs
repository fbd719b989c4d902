//! From statistics of features and copies to selected features.

/// The smallest $t > 0$ with $(1 + \#\{W_j \le -t\}) / \#\{W_j \ge t\} \le q$ (knockoff+); infinity if there is none.
pub fn knockoff_threshold(w: &[f64], q: f64) -> f64 {
    let mut sizes: Vec<f64> = w.iter().map(|v| v.abs()).filter(|&v| v > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let (mut rising, mut falling) = (sorted(w, 1.0), sorted(w, -1.0));
    for &t in &sizes {
        rising.drain(..rising.partition_point(|&v| v < t));
        falling.drain(..falling.partition_point(|&v| v < t));
        if (1 + falling.len()) as f64 <= q * rising.len() as f64 {
            return t;
        }
    }
    f64::INFINITY
}

/// The positive values of $\pm W_j$ in ascending order.
fn sorted(w: &[f64], sign: f64) -> Vec<f64> {
    let mut values: Vec<f64> = w.iter().map(|v| sign * v).filter(|&v| v > 0.0).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The level of the threshold of each copy: half of `q` if several are merged (Ren and Barber, 2024).
fn level(q: f64, n_copies: usize) -> f64 {
    if n_copies == 1 { q } else { q / 2.0 }
}

/// The fewest features that can be selected.
pub fn fewest_selected(q: f64, n_copies: usize) -> usize {
    // The margin is for rounding: 1 / 0.1 is 10.
    (1.0 / level(q, n_copies) - 1e-9).ceil() as usize
}

/// The e-value of every feature, the mean over copies of $d [W_j \ge T] / (1 + \#\{W_j \le -T\})$; `copies` has the statistics with
/// each copy.
pub fn e_values(copies: &[Vec<f64>], q: f64) -> Vec<f64> {
    let d = copies.first().map_or(0, Vec::len);
    let mut mean = vec![0.0; d];
    for w in copies {
        let threshold = knockoff_threshold(w, level(q, copies.len()));
        let below = w.iter().filter(|&&v| v <= -threshold).count();
        let each = d as f64 / ((1 + below) * copies.len()) as f64;
        mean.iter_mut().zip(w).filter(|(_, v)| **v >= threshold).for_each(|(mean, _)| *mean += each);
    }
    mean
}

/// The features that the e-values select with a false discovery rate of at most `q`, the largest e-value first (e-BH: the most
/// $k$ with the $k$-th largest e-value at least $d / (q k)$).
pub fn select_by_e_values(e_values: &[f64], q: f64) -> Vec<usize> {
    let d = e_values.len() as f64;
    let mut order: Vec<usize> = (0..e_values.len()).collect();
    order.sort_by(|&a, &b| e_values[b].total_cmp(&e_values[a]));
    // The margin is for rounding: with a single copy both sides may be equal.
    let passes = |k: usize| e_values[order[k - 1]] * (1.0 + 1e-9) >= d / (q * k as f64);
    let count = (1..=order.len()).rev().find(|&k| passes(k)).unwrap_or(0);
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    const W: [f64; 8] = [5.0, 4.0, 3.0, -2.0, 2.5, 1.0, 0.0, -0.5];

    #[test]
    fn thresholds_by_hand() {
        // At t = 2.5 there are 4 above and none below: 1/4; at t = 1: 2/5; at t = 0.5: 3/5.
        assert_eq!(knockoff_threshold(&W, 0.25), 2.5);
        assert_eq!(knockoff_threshold(&W, 0.4), 1.0);
        assert_eq!(knockoff_threshold(&W, 0.6), 0.5);
        assert_eq!(knockoff_threshold(&W, 0.2), f64::INFINITY);
        assert_eq!(knockoff_threshold(&[], 0.2), f64::INFINITY);
    }

    #[test]
    fn one_copy_gives_the_knockoff_filter() {
        let e = e_values(&[W.to_vec()], 0.25);
        assert_eq!(e, [8.0, 8.0, 8.0, 0.0, 8.0, 0.0, 0.0, 0.0]);
        // 8 >= 8 / (0.25 * 4).
        assert_eq!(select_by_e_values(&e, 0.25), [0, 1, 2, 4]);
        assert!(select_by_e_values(&e_values(&[W.to_vec()], 0.2), 0.2).is_empty());
        // With one below: 8 / 2.
        let e = e_values(&[W.to_vec()], 0.4);
        assert_eq!((e[5], select_by_e_values(&e, 0.4).len()), (4.0, 5));
    }

    #[test]
    fn several_copies_are_averaged() {
        // Each at the level 0.25; the second selects nothing.
        let e = e_values(&[W.to_vec(), vec![-1.0; 8]], 0.5);
        assert_eq!(e, [4.0, 4.0, 4.0, 0.0, 4.0, 0.0, 0.0, 0.0]);
        // 4 >= 8 / (0.5 * 4).
        assert_eq!(select_by_e_values(&e, 0.5).len(), 4);
        assert_eq!((fewest_selected(0.1, 1), fewest_selected(0.1, 3), fewest_selected(0.3, 1)), (10, 20, 4));
    }
}
