//! Nearest-neighbor distances on a line and in a plane, and the number of nearer samples.

/// $\psi(1), \psi(2), \ldots$
pub(super) struct Digamma(Vec<f64>);

impl Digamma {
    pub(super) fn up_to(n: usize) -> Self {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let mut values = Vec::with_capacity(n + 1);
        values.push(f64::NAN);
        values.push(-EULER);
        (1..n).for_each(|i| values.push(values[i] + 1.0 / i as f64));
        Self(values)
    }

    fn at(&self, n: usize) -> f64 {
        self.0[n]
    }
}

/// Values grouped by label.
pub(super) struct Labeled {
    /// All values whose label occurs at least twice, sorted.
    all: Vec<f64>,
    /// The values of each label, sorted.
    by_label: Vec<Vec<f64>>,
}

impl Labeled {
    pub(super) fn new(numbers: &[f64], labels: &[usize]) -> Self {
        let n_labels = labels.iter().max().map_or(0, |most| most + 1);
        let mut by_label = vec![vec![]; n_labels];
        labels.iter().zip(numbers).for_each(|(&label, &v)| by_label[label].push(v));
        // A single sample has no neighbor of the same label.
        by_label.retain(|values| values.len() > 1);
        by_label.iter_mut().for_each(|values| values.sort_unstable_by(f64::total_cmp));
        let mut all = by_label.concat();
        all.sort_unstable_by(f64::total_cmp);
        Self { all, by_label }
    }

    /// Ross's estimate, which may be negative.
    pub(super) fn information(&self, k: usize, psi: &Digamma) -> f64 {
        let n = self.all.len();
        if n == 0 {
            return 0.0;
        }
        let mut sum = 0.0;
        for values in &self.by_label {
            let k = k.min(values.len() - 1);
            let mut part = 0.0;
            for place in 0..values.len() {
                let radius = kth_distance(values, place, k);
                let own = within(values, values[place], radius);
                part += psi.at(own) - psi.at(within(&self.all, values[place], radius));
            }
            sum += part - values.len() as f64 * psi.at(values.len());
        }
        psi.at(n) + sum / n as f64
    }
}

/// The distance of a value to its `k`-th nearest among sorted ones: that of the best run of `k + 1`.
fn kth_distance(sorted: &[f64], place: usize, k: usize) -> f64 {
    let first = place.saturating_sub(k);
    let last = place.min(sorted.len() - 1 - k);
    (first..=last)
        .map(|from| (sorted[place] - sorted[from]).max(sorted[from + k] - sorted[place]))
        .fold(f64::INFINITY, f64::min)
}

/// The number of sorted values nearer than a radius, or equal if it is 0. A value counts itself.
fn within(sorted: &[f64], center: f64, radius: f64) -> usize {
    let (from, to) = if radius > 0.0 {
        (sorted.partition_point(|v| center - v >= radius), sorted.partition_point(|v| v - center < radius))
    } else {
        (sorted.partition_point(|v| *v < center), sorted.partition_point(|v| *v <= center))
    };
    to - from
}

/// Two values per sample.
pub(super) struct Pairs<'a> {
    pub(super) x: &'a [f64],
    pub(super) y: &'a [f64],
}

impl Pairs<'_> {
    /// The estimate of Kraskov and others, which may be negative.
    pub(super) fn information(&self, k: usize, psi: &Digamma) -> f64 {
        let n = self.x.len();
        let k = k.min(n - 1);
        let (x, y) = (scaled(self.x), scaled(self.y));
        let (sorted_x, sorted_y) = (sorted(&x), sorted(&y));
        let n_distinct = |values: &[f64]| values.windows(2).filter(|w| w[0] < w[1]).count();
        // Strips of the coordinate with fewer ties, because strips of equal values would all be visited.
        let rows =
            if n_distinct(&sorted_x) >= n_distinct(&sorted_y) { by_first(&x, &y) } else { by_first(&y, &x) };
        let swapped = n_distinct(&sorted_x) < n_distinct(&sorted_y);
        let plane = Plane::new(rows, k);
        let mut sum = 0.0;
        for place in 0..n {
            let (radius, own) = plane.kth(place, k);
            let (a, b) = plane.rows[place];
            let (a_sorted, b_sorted) = if swapped { (&sorted_y, &sorted_x) } else { (&sorted_x, &sorted_y) };
            sum += psi.at(own) - psi.at(within(a_sorted, a, radius)) - psi.at(within(b_sorted, b, radius));
        }
        psi.at(n) + sum / n as f64
    }
}

/// Values divided by their standard deviation.
fn scaled(values: &[f64]) -> Vec<f64> {
    let rows: crate::data::Rows =
        ndarray::Array2::from_shape_fn((values.len(), 1), |(i, _)| values[i]).into();
    let std = rows.moments().1[0];
    let unit = if std > 0.0 { std } else { 1.0 };
    values.iter().map(|v| v / unit).collect()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Pairs sorted by the first value.
fn by_first(first: &[f64], second: &[f64]) -> Vec<(f64, f64)> {
    // -0 becomes 0, so that equal pairs are adjacent.
    let mut rows: Vec<(f64, f64)> = first.iter().zip(second).map(|(a, b)| (a + 0.0, b + 0.0)).collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    rows
}

/// Pairs sorted by the first value, and in strips of consecutive ones that are each sorted by the second.
struct Plane {
    rows: Vec<(f64, f64)>,
    strips: Vec<(f64, f64)>,
    /// Pairs per strip.
    size: usize,
}

impl Plane {
    /// `rows` are sorted; `k` is the number of neighbors for which the search is quick.
    fn new(rows: Vec<(f64, f64)>, k: usize) -> Self {
        // A strip is then about as wide as the distance to the neighbors.
        let size = (k as f64 * rows.len() as f64).sqrt() as usize + 1;
        let mut strips = rows.clone();
        for strip in strips.chunks_mut(size) {
            strip.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
        }
        Self { rows, strips, size }
    }

    /// The distance of a sample to its `k`-th nearest neighbor in the maximum norm, and the number of nearer samples
    /// (at the distance 0: not farther), including itself. Strips are visited both ways until the first value alone is
    /// too far.
    fn kth(&self, place: usize, k: usize) -> (f64, usize) {
        let (a, b) = self.rows[place];
        let own = place / self.size;
        let mut near = Nearest { distances: Vec::with_capacity(k + 1), k };
        // One copy of the pair is the sample itself.
        let itself = self.strip(own).partition_point(|r| r.1.total_cmp(&b).then(r.0.total_cmp(&a)).is_lt());
        near.add_strip(self.strip(own), (a, b), (itself, itself + 1));
        let (mut left, mut right) = (own, own + 1);
        loop {
            let left_distance = if left > 0 { a - self.rows[left * self.size - 1].0 } else { f64::INFINITY };
            let right_distance = self.rows.get(right * self.size).map_or(f64::INFINITY, |r| r.0 - a);
            if left_distance.min(right_distance) >= near.limit() {
                break;
            }
            let strip = if left_distance <= right_distance {
                left -= 1;
                self.strip(left)
            } else {
                right += 1;
                self.strip(right - 1)
            };
            let at = strip.partition_point(|r| r.1 < b);
            near.add_strip(strip, (a, b), (at, at));
        }
        let radius = near.distances[k - 1];
        if radius > 0.0 {
            return (radius, 1 + near.distances.partition_point(|d| *d < radius));
        }
        // Equal pairs are adjacent.
        let same = self.rows[..place].iter().rev().take_while(|r| **r == (a, b)).count();
        (radius, same + self.rows[place..].iter().take_while(|r| **r == (a, b)).count())
    }

    fn strip(&self, at: usize) -> &[(f64, f64)] {
        &self.strips[at * self.size..self.strips.len().min((at + 1) * self.size)]
    }
}

/// The smallest distances found, sorted; at most `k`.
struct Nearest {
    distances: Vec<f64>,
    k: usize,
}

impl Nearest {
    /// Only smaller distances are of interest.
    fn limit(&self) -> f64 {
        if self.distances.len() < self.k { f64::INFINITY } else { self.distances[self.k - 1] }
    }

    /// Adds the distances of a pair to those of a strip before one place and from another on, nearest second values first.
    fn add_strip(&mut self, strip: &[(f64, f64)], (a, b): (f64, f64), (below, from): (usize, usize)) {
        let mut add = |&(first, second): &(f64, f64)| {
            let dy = (second - b).abs();
            let limit = self.limit();
            if dy >= limit {
                return false;
            }
            let distance = dy.max((first - a).abs());
            if distance < limit {
                let at = self.distances.partition_point(|d| *d <= distance);
                self.distances.insert(at, distance);
                self.distances.truncate(self.k);
            }
            true
        };
        let _ = strip[..below].iter().rev().all(&mut add);
        let _ = strip[from..].iter().all(&mut add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    #[test]
    fn digamma_of_integers() {
        let psi = Digamma::up_to(4);
        assert!((psi.at(1) + 0.577_215_664_901_532_9).abs() < 1e-16);
        assert!((psi.at(4) - (psi.at(1) + 1.0 + 0.5 + 1.0 / 3.0)).abs() < 1e-15);
    }

    #[test]
    fn labeled_values_by_hand() {
        // Label 0: 0, 1, 3; label 1: 2, 7. One neighbor: radii 1, 1, 2; 5, 5. Nearer than that, itself included:
        // around 0 (1): 0: 1; around 1 (1): 1; around 3 (2): 2, 3: 2; around 2 (5): 0, 1, 2, 3: 4; around 7 (5): 3, 7: 2.
        let labeled = Labeled::new(&[0.0, 1.0, 2.0, 3.0, 7.0], &[0, 0, 1, 0, 1]);
        let psi = Digamma::up_to(5);
        let m = [1, 1, 2, 4, 2].iter().map(|&m| psi.at(m)).sum::<f64>() / 5.0;
        let labels = (3.0 * psi.at(3) + 2.0 * psi.at(2)) / 5.0;
        // The distance 5 of 7 counts 3 (4 < 5) but not 2.
        let expected = psi.at(5) + psi.at(1) - labels - m;
        assert!((labeled.information(1, &psi) - expected).abs() < 1e-14);
    }

    #[test]
    fn ties_are_counted() {
        // All values of a label are equal, so the feature determines the label.
        let labeled = Labeled::new(&[1.0, 1.0, 4.0, 4.0, 4.0], &[0, 0, 1, 1, 1]);
        let psi = Digamma::up_to(5);
        let expected = psi.at(5) - (2.0 * psi.at(2) + 3.0 * psi.at(3)) / 5.0;
        assert!((labeled.information(1, &psi) - expected).abs() < 1e-15);
        let plane = Plane::new(vec![(0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (2.0, 1.0)], 1);
        assert_eq!(plane.kth(1, 1), (0.0, 3));
    }

    #[test]
    fn search_in_the_plane_equals_brute_force() {
        let mut rng = Rng::new(5);
        // Strips of different sizes: one for 17 neighbors has a quarter of the pairs.
        for (step, strips_for) in [(0.0, 3), (0.5, 3), (0.0, 17), (0.5, 1), (0.0, 300)] {
            let round = |v: f64| if step > 0.0 { (v / step).round() * step } else { v };
            let x: Vec<f64> = (0..300).map(|_| round(rng.normal())).collect();
            let y: Vec<f64> = x.iter().map(|v| round(v + rng.normal())).collect();
            let plane = Plane::new(by_first(&x, &y), strips_for);
            let rows = &plane.rows;
            for place in 0..300 {
                let (a, b) = rows[place];
                let mut all: Vec<f64> = (0..300)
                    .filter(|&i| i != place)
                    .map(|i| (rows[i].0 - a).abs().max((rows[i].1 - b).abs()))
                    .collect();
                all.sort_by(f64::total_cmp);
                let radius = all[2];
                let nearer =
                    all.iter().filter(|d| if radius > 0.0 { **d < radius } else { **d <= radius }).count();
                assert_eq!(plane.kth(place, 3), (radius, 1 + nearer), "{step} {strips_for}");
            }
        }
    }

    #[test]
    fn distances_on_the_line_equal_a_full_sort() {
        let mut rng = Rng::new(6);
        let line = sorted(&(0..80).map(|_| (rng.normal() * 9.0).round()).collect::<Vec<_>>());
        for place in 0..80 {
            let mut all: Vec<f64> = line.iter().map(|v| (v - line[place]).abs()).collect();
            all.sort_by(f64::total_cmp);
            // The first is the value itself.
            assert_eq!(kth_distance(&line, place, 3), all[3]);
            let count = |r: f64| all.iter().filter(|d| if r > 0.0 { **d < r } else { **d <= r }).count();
            assert_eq!(within(&line, line[place], all[3]), count(all[3]));
        }
    }
}
