//! Discretization of features, for methods based on counts.
//!
//! A category has one bin per level that occurs, and a feature with few distinct values one per value. Missing values have a
//! bin of their own, the last. Other values:
//!
//! - **MDL** (Fayyad and Irani): the cut with the smallest class entropy is accepted if it reduces the description
//!   length, and both sides are cut recursively. With $N$ samples, entropies $H$ in bits and numbers of classes $c$
//!   of an interval and its two sides, a cut is accepted if
//!   $$ N H - N_1 H_1 - N_2 H_2 > \log_2(N - 1) + \log_2(3^c - 2) - (c H - c_1 H_1 - c_2 H_2). $$
//!   A feature that is independent of the classes is not cut at all.
//! - **Equal frequency**: equally many samples per bin, as far as ties allow.
//! - **Equal width**: intervals of equal width; empty ones are dropped.
//!
//! Cost: $O(n \log n + n C)$ per feature and level of cuts.
//!
//! Reference: Fayyad and Irani, *Multi-interval discretization of continuous-valued attributes for
//! classification learning*, IJCAI 1993.

use super::columns::{distinct, few_values, places};
use crate::data::{Dataset, FeatureType, Weights};

crate::choices! {
    /// How to discretize numbers.
    pub enum Discretizer {
        /// Cut points chosen by minimum description length (Fayyad and Irani).
        Mdl = "mdl",
        /// Bins with equal numbers of samples.
        Frequency = "frequency",
        /// Bins of equal width.
        Width = "width",
    }
}

/// The bins of one feature.
#[derive(Debug, PartialEq)]
pub(super) struct Binned {
    /// The bin of each sample.
    pub(super) codes: Vec<usize>,
    pub(super) n_bins: usize,
    /// Whether the cuts depend on the classes, which invalidates tests of independence.
    pub(super) by_classes: bool,
}

/// Bytes for the bins of a feature: bins, sorted values and their weights; for MDL also the classes. If values are missing,
/// known values, their classes and weights are copied.
pub(super) fn binned_bytes(data: &Dataset, how: Discretizer) -> f64 {
    let copies = if data.has_missing() { 24.0 } else { 0.0 };
    data.n() as f64 * (copies + if how == Discretizer::Mdl { 40.0 } else { 24.0 })
}

/// How to discretize features, and the classes and weights of the samples.
pub(super) struct Binning<'a> {
    pub(super) classes: &'a [usize],
    pub(super) weights: Weights<'a>,
    pub(super) n_classes: usize,
    pub(super) how: Discretizer,
    pub(super) n_bins: usize,
}

impl Binning<'_> {
    /// The bins of a feature.
    pub(super) fn feature(&self, column: &[f64], kind: FeatureType) -> Binned {
        if kind.is_category() {
            let levels = distinct(column);
            return Binned::with_missing(places(column, &levels), levels.len(), false);
        }
        if !column.iter().any(|v| v.is_nan()) {
            return self.known(column, self.classes, self.weights);
        }
        let known = |i: &usize| !column[*i].is_nan();
        let rows: Vec<usize> = (0..column.len()).filter(known).collect();
        if rows.is_empty() {
            return Binned { codes: vec![0; column.len()], n_bins: 1, by_classes: false };
        }
        let values: Vec<f64> = rows.iter().map(|&i| column[i]).collect();
        let classes: Vec<usize> = rows.iter().map(|&i| self.classes[i]).collect();
        let weights = self.weights.of_rows(&rows);
        let bins = self.known(&values, &classes, Weights::new(weights.as_deref()));
        let mut codes = vec![bins.n_bins; column.len()];
        rows.iter().zip(bins.codes).for_each(|(&i, code)| codes[i] = code);
        // Without a cut only the bin of missing values is left to test.
        Binned::with_missing(codes, bins.n_bins, bins.by_classes && bins.n_bins > 1)
    }

    /// Discretizes known numbers.
    fn known(&self, column: &[f64], classes: &[usize], weights: Weights) -> Binned {
        let few = few_values(column, weights.total(column.len()));
        let (cuts, by_classes) = match (few, self.how) {
            // The cut between two values is the larger one: values below it are in the lower bin.
            (Some(values), _) => (values[1..].to_vec(), false),
            (None, Discretizer::Mdl) => (mdl_cuts(column, classes, weights, self.n_classes), true),
            (None, Discretizer::Frequency) => (frequency_cuts(column, weights, self.n_bins), false),
            (None, Discretizer::Width) => (width_cuts(column, self.n_bins), false),
        };
        let codes = column.iter().map(|v| cuts.partition_point(|cut| cut <= v)).collect();
        Binned { codes, n_bins: cuts.len() + 1, by_classes }
    }
}

impl Binned {
    /// Bins from 0 to `n_known`, the last for missing values if there are any.
    fn with_missing(codes: Vec<usize>, n_known: usize, by_classes: bool) -> Self {
        let n_bins = n_known + usize::from(codes.contains(&n_known));
        Self { codes, n_bins, by_classes }
    }
}

/// Cuts at the weighted quantiles; equal values share the bin of the first.
fn frequency_cuts(column: &[f64], weights: Weights, n_bins: usize) -> Vec<f64> {
    let mut sorted: Vec<(f64, f64)> = column.iter().enumerate().map(|(i, &v)| (v, weights.of(i))).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total = weights.total(column.len());
    let (mut cuts, mut bin, mut sum) = (vec![], 1, 0.0);
    for &(value, weight) in &sorted {
        sum += weight;
        while bin < n_bins && sum > bin as f64 * total / n_bins as f64 {
            cuts.push(value);
            bin += 1;
        }
    }
    cuts.dedup();
    cuts.retain(|cut| *cut > sorted[0].0);
    cuts
}

fn width_cuts(column: &[f64], n_bins: usize) -> Vec<f64> {
    let low = column.iter().copied().fold(f64::INFINITY, f64::min);
    let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut cuts = width_cuts_between(low, high, n_bins);
    // Drop empty bins, because tests count the bins in use.
    let mut used = vec![false; cuts.len() + 1];
    column.iter().for_each(|v| used[cuts.partition_point(|cut| cut <= v)] = true);
    let mut part = 0;
    cuts.retain(|_| {
        part += 1;
        used[part]
    });
    cuts
}

/// Cuts of bins of equal width between two numbers.
pub(super) fn width_cuts_between(low: f64, high: f64, n_bins: usize) -> Vec<f64> {
    // By interpolation between both ends: the range of finite numbers may overflow.
    let at = |fraction: f64| low * (1.0 - fraction) + high * fraction;
    let mut cuts: Vec<f64> = (1..n_bins).map(|b| at(b as f64 / n_bins as f64)).collect();
    cuts.dedup();
    cuts.retain(|cut| *cut > low && *cut <= high);
    cuts
}

/// The accepted cuts, each the lowest value of its upper side.
fn mdl_cuts(column: &[f64], classes: &[usize], weights: Weights, n_classes: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..column.len()).collect();
    order.sort_unstable_by(|&a, &b| column[a].total_cmp(&column[b]));
    let sample = |i: usize| Sample { value: column[i], class: classes[i], weight: weights.of(i) };
    let rows: Vec<Sample> = order.into_iter().map(sample).collect();
    let mut cuts = vec![];
    let mut parts = vec![(0, rows.len())];
    while let Some((start, end)) = parts.pop() {
        if let Some(place) = best_cut(&rows[start..end], n_classes) {
            let middle = start + place;
            cuts.push(rows[middle].value);
            parts.extend([(start, middle), (middle, end)]);
        }
    }
    cuts.sort_unstable_by(f64::total_cmp);
    cuts
}

/// The value of a feature in a sample.
struct Sample {
    value: f64,
    class: usize,
    weight: f64,
}

/// Where to cut sorted samples, if a cut is accepted.
fn best_cut(rows: &[Sample], n_classes: usize) -> Option<usize> {
    let part = |rows: &[Sample]| {
        let mut weights = vec![0.0; n_classes];
        rows.iter().for_each(|sample| weights[sample.class] += sample.weight);
        weights
    };
    let mut right = part(rows);
    let total = Part::of(&right);
    if total.classes < 2 {
        return None;
    }
    let mut left = vec![0.0; n_classes];
    let mut best: Option<(usize, f64)> = None;
    for place in 1..rows.len() {
        let Sample { value, class, weight } = rows[place - 1];
        left[class] += weight;
        right[class] -= weight;
        if value == rows[place].value {
            continue;
        }
        let bits = Part::of(&left).bits + Part::of(&right).bits;
        // Ties up to rounding go to the first cut.
        if best.is_none_or(|(_, least)| bits < least - 1e-9) {
            best = Some((place, bits));
        }
    }
    let (place, _) = best?;
    // The differences above may have rounding errors in place of 0.
    let (left, right) = (Part::of(&part(&rows[..place])), Part::of(&part(&rows[place..])));
    let weighted = |part: &Part| part.classes as f64 * part.bits / part.weight;
    let c = total.classes as f64;
    // log2(3^c - 2) without the power, which may overflow.
    let choices = c * 3.0_f64.log2() + (-2.0 * 3.0_f64.powf(-c)).ln_1p() / std::f64::consts::LN_2;
    let cost = (total.weight - 1.0).max(1.0).log2() + choices
        - (weighted(&total) - weighted(&left) - weighted(&right));
    (total.bits - left.bits - right.bits > cost).then_some(place)
}

/// Number or weight of samples, number of nonempty classes, and weight times entropy in bits.
struct Part {
    weight: f64,
    classes: usize,
    bits: f64,
}

impl Part {
    fn of(weights: &[f64]) -> Self {
        let n_log_n = |n: f64| if n > 0.0 { n * n.log2() } else { 0.0 };
        let weight = weights.iter().sum();
        let classes = weights.iter().filter(|w| **w > 0.0).count();
        Self { weight, classes, bits: n_log_n(weight) - weights.iter().map(|&w| n_log_n(w)).sum::<f64>() }
    }
}

/// Contingency table of bins and classes.
pub(super) fn contingency(binned: &Binned, binning: &Binning) -> Vec<Vec<f64>> {
    let mut table = vec![vec![0.0; binning.n_classes]; binned.n_bins];
    for (row, (&bin, &class)) in binned.codes.iter().zip(binning.classes).enumerate() {
        table[bin][class] += binning.weights.of(row);
    }
    table
}

/// Number of classes with samples in a contingency table.
pub(super) fn n_present(table: &[Vec<f64>]) -> usize {
    let n_classes = table.first().map_or(0, Vec::len);
    (0..n_classes).filter(|&class| table.iter().any(|bin| bin[class] > 0.0)).count().max(1)
}

/// The same feature twice: 150 samples in a first bin, 90 of them of the first class, 149 in a second, 60 of them,
/// and one outlier, so that 3 of 20 bins of equal width are used.
#[cfg(test)]
pub(super) fn duplicated_feature_with_outlier() -> crate::data::Dataset {
    let value = |i: usize| if i == 299 { 100.0 } else { (i as f64) / 30.0 };
    let x = ndarray::Array2::from_shape_fn((300, 2), |(i, _)| value(i));
    let first = |i: usize| i < 90 || (150..210).contains(&i);
    crate::data::Dataset::labeled(x, (0..300).map(|i| usize::from(!first(i))).collect()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn binned(
        column: &[f64],
        classes: &[usize],
        n_classes: usize,
        how: Discretizer,
        n_bins: usize,
    ) -> Binned {
        Binning { classes, weights: Weights::ONE, n_classes, how, n_bins }
            .feature(column, FeatureType::Number)
    }

    #[test]
    fn categories_and_missing_values_by_hand() {
        let nan = f64::NAN;
        let (classes, weights) = (&[0, 1, 0, 1], Weights::ONE);
        let binning = Binning { classes, weights, n_classes: 2, how: Discretizer::Mdl, n_bins: 0 };
        let category = FeatureType::Category { levels: 9 };
        let bins = |column: [f64; 4], kind| {
            let bins = binning.feature(&column, kind);
            (bins.codes, bins.n_bins)
        };
        // The levels 2 and 9 (other categories) occur.
        assert_eq!(bins([9.0, 2.0, 2.0, 9.0], category), (vec![1, 0, 0, 1], 2));
        assert_eq!(bins([9.0, nan, 2.0, 9.0], category), (vec![1, 2, 0, 1], 3));
        assert_eq!(bins([nan; 4], category), (vec![0; 4], 1));
        assert_eq!(bins([nan; 4], FeatureType::Number), (vec![0; 4], 1));
        // Known numbers are cut as if the others did not exist.
        let mut column: Vec<f64> = (0..40).map(f64::from).collect();
        let mut classes: Vec<usize> = (0..40).map(|i| usize::from(i >= 15)).collect();
        (column[3], column[30]) = (nan, nan);
        let cut = binned(&column, &classes, 2, Discretizer::Mdl, 0);
        assert_eq!((cut.n_bins, cut.by_classes, cut.codes[3], cut.codes[30]), (3, true, 2, 2));
        classes = (0..40).map(|i| i % 2).collect();
        let uncut = binned(&column, &classes, 2, Discretizer::Mdl, 0);
        assert_eq!((uncut.n_bins, uncut.by_classes, uncut.codes[3]), (2, false, 1));
    }

    #[test]
    fn a_separating_cut_is_found_and_noise_is_not_cut() {
        let column: Vec<f64> = (0..40).map(f64::from).collect();
        let classes: Vec<usize> = (0..40).map(|i| usize::from(i >= 15)).collect();
        let cut = binned(&column, &classes, 2, Discretizer::Mdl, 0);
        assert_eq!((cut.n_bins, cut.by_classes), (2, true));
        assert!(cut.codes.iter().zip(&classes).all(|(a, b)| a == b));
        let alternating: Vec<usize> = (0..40).map(|i| i % 2).collect();
        assert_eq!(binned(&column, &alternating, 2, Discretizer::Mdl, 0).n_bins, 1);
    }

    #[test]
    fn the_description_length_of_a_cut_by_hand() {
        // n samples of each class side by side: N H = 2n bits are saved. The cost is log2(2n - 1) + log2 7 - 2:
        // 3.39 + ... with n = 1: 0 + 0.81 < 2, so even two samples are cut.
        let rows = |a: usize, b: usize| -> Vec<(f64, usize)> {
            (0..a + b).map(|i| (i as f64, usize::from(i >= a))).collect()
        };
        let best_cut = |rows: &[(f64, usize)], n_classes| {
            let sample = |&(value, class): &(f64, usize)| Sample { value, class, weight: 1.0 };
            best_cut(&rows.iter().map(sample).collect::<Vec<_>>(), n_classes)
        };
        assert_eq!(best_cut(&rows(1, 1), 2), Some(1));
        // One sample against nine: N H = 4.69 bits; log2 9 + log2 7 - 2 * 0.469 = 5.04: rejected.
        assert_eq!(best_cut(&rows(1, 9), 2), None);
        // Two against eight: 7.22 bits against 3.17 + 2.81 - 1.44 = 4.53.
        assert_eq!(best_cut(&rows(2, 8), 2), Some(2));
        // Equal values are never separated.
        assert_eq!(best_cut(&[(1.0, 0), (1.0, 1), (1.0, 1)], 2), None);
    }

    #[test]
    fn cuts_equal_those_of_the_literal_recursion() {
        // Entropies by definition, every cut tried, both sides by recursion.
        fn entropy(rows: &[(f64, usize)]) -> (f64, f64) {
            let mut counts = [0.0; 3];
            rows.iter().for_each(|r| counts[r.1] += 1.0);
            let n = rows.len() as f64;
            let h = counts.iter().filter(|c| **c > 0.0).map(|c| -c / n * (c / n).log2()).sum();
            (h, counts.iter().filter(|c| **c > 0.0).count() as f64)
        }
        fn cuts(rows: &[(f64, usize)], out: &mut Vec<f64>) {
            let n = rows.len() as f64;
            let (h, c) = entropy(rows);
            let gain = |place: usize| {
                let ((h1, c1), (h2, c2)) = (entropy(&rows[..place]), entropy(&rows[place..]));
                let left = place as f64 / n * h1 + (1.0 - place as f64 / n) * h2;
                let delta = (3.0_f64.powf(c) - 2.0).log2() - (c * h - c1 * h1 - c2 * h2);
                (h - left, ((n - 1.0).log2() + delta) / n)
            };
            let places = (1..rows.len()).filter(|&p| rows[p - 1].0 < rows[p].0);
            let best = places.fold(None, |best: Option<usize>, p| match best {
                Some(b) if gain(p).0 <= gain(b).0 + 1e-10 => Some(b),
                _ => Some(p),
            });
            if let Some(place) = best.filter(|&p| gain(p).0 > gain(p).1) {
                out.push(rows[place].0);
                cuts(&rows[..place], out);
                cuts(&rows[place..], out);
            }
        }
        let mut rng = Rng::new(1);
        let mut total = 0;
        for round in 0..20 {
            let column: Vec<f64> = (0..150).map(|_| (rng.normal() * 20.0).round()).collect();
            let noise = f64::from(round);
            let classes: Vec<usize> = column
                .iter()
                .map(|v| ((v + noise * rng.normal()).abs() / 14.0).floor().min(2.0) as usize)
                .collect();
            let mut rows: Vec<(f64, usize)> = column.iter().copied().zip(classes.iter().copied()).collect();
            rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let mut literal = vec![];
            cuts(&rows, &mut literal);
            literal.sort_by(f64::total_cmp);
            total += literal.len();
            assert_eq!(mdl_cuts(&column, &classes, Weights::ONE, 3), literal);
        }
        assert!(total > 20, "rounds with cuts: {total}");
    }

    #[test]
    fn bins_without_classes_by_hand() {
        let column: Vec<f64> = (0..12).map(f64::from).collect();
        let by = |how, n_bins| binned(&column, &[0; 12], 1, how, n_bins).codes;
        assert_eq!(by(Discretizer::Frequency, 3), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
        // The range is 11: cuts at 2.75, 5.5 and 8.25.
        assert_eq!(by(Discretizer::Width, 4), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
        // An outlier leaves bins empty: of twenty bins of width 5 only the first and the last are used.
        let mut outlier: Vec<f64> = (0..30).map(|i| f64::from(i) / 8.0).collect();
        outlier.push(100.0);
        let bins = binned(&outlier, &[0; 31], 1, Discretizer::Width, 20);
        assert_eq!((bins.n_bins, bins.codes[29], bins.codes[30]), (2, 0, 1));
        // With more bins than samples every sample has its bin; no bin is empty.
        let many = binned(&column, &[0; 12], 1, Discretizer::Frequency, 50);
        assert_eq!((many.n_bins, many.codes), (12, (0..12).collect()));
        let heavy: Vec<f64> = (0..60).map(|i| if i < 45 { 1.0 } else { f64::from(i) }).collect();
        let heavy = binned(&heavy, &[0; 60], 1, Discretizer::Frequency, 4);
        assert!(heavy.codes[..45].iter().all(|&c| c == 0) && heavy.n_bins == 2, "{heavy:?}");
    }

    #[test]
    fn few_values_have_one_bin_each() {
        let column: Vec<f64> = (0..30).map(|i| [7.0, -1.0, 2.5][i % 3]).collect();
        let bins = binned(&column, &[0; 30], 1, Discretizer::Mdl, 0);
        assert_eq!((bins.codes[..3].to_vec(), bins.n_bins, bins.by_classes), (vec![2, 0, 1], 3, false));
        let constant = binned(&[4.0; 9], &[0; 9], 1, Discretizer::Width, 3);
        assert_eq!((constant.n_bins, constant.codes), (1, vec![0; 9]));
    }
}
