//! Samples of the rows of tall data.

use super::dataset::Dataset;
use super::folds::holdout;
use super::target::{Classes, Target};
use crate::random::Rng;

/// A sample has at least this many rows of each class, if the class has them.
const MIN_OF_CLASS: usize = 10;

impl Dataset {
    /// A random sample of `most` rows in ascending order; all rows if there are not more. It has the class proportions of the data,
    /// but at least 10 rows of each class, or all of a smaller one, so that rare classes may add some.
    pub fn sample_rows(&self, most: usize, seed: u64) -> Vec<usize> {
        let n = self.n();
        if n <= most {
            return (0..n).collect();
        }
        let mut rng = Rng::stream(seed, "splits");
        let mut rows = holdout(self.target(), n, most as f64 / n as f64, &mut rng).test;
        if let Target::Classes(classes) = self.target() {
            add_rare(&mut rows, classes, &mut rng);
        }
        rows
    }
}

/// Adds rows of classes with few rows in a sample.
fn add_rare(rows: &mut Vec<usize>, classes: &Classes, rng: &mut Rng) {
    let n = classes.codes.len();
    // With very many classes the sample stays of this size, up to one row per class.
    let least = (rows.len() / classes.n_present().max(1)).clamp(1, MIN_OF_CLASS);
    let (counts, mut sampled) = (classes.counts(), vec![0; classes.names.len()]);
    rows.iter().for_each(|&row| sampled[classes.codes[row]] += 1);
    let missing = |class: usize| least.min(counts[class]).saturating_sub(sampled[class]);
    if (0..counts.len()).all(|class| missing(class) == 0) {
        return;
    }
    let mut others = vec![vec![]; counts.len()];
    for row in (0..n).filter(|row| rows.binary_search(row).is_err()) {
        if missing(classes.codes[row]) > 0 {
            others[classes.codes[row]].push(row);
        }
    }
    let added: Vec<usize> = others
        .iter()
        .enumerate()
        .flat_map(|(class, of_class)| {
            rng.sample(of_class.len(), missing(class)).into_iter().map(|place| of_class[place])
        })
        .collect();
    rows.extend(added);
    rows.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn labeled(codes: Vec<usize>) -> Dataset {
        let x = Array2::from_shape_fn((codes.len(), 1), |(i, _)| i as f64);
        Dataset::labeled(x, codes).unwrap()
    }

    fn counts_of(data: &Dataset, rows: &[usize]) -> Vec<usize> {
        data.take_rows(rows).classes("m").unwrap().counts()
    }

    #[test]
    fn a_sample_has_the_class_proportions_and_the_order_of_the_rows() {
        let data = labeled((0..1000).map(|i| usize::from(i % 4 == 0)).collect());
        let rows = data.sample_rows(100, 3);
        assert_eq!(counts_of(&data, &rows), [75, 25]);
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(rows, data.sample_rows(100, 3));
        assert_ne!(rows, data.sample_rows(100, 4));
        assert_eq!(data.sample_rows(1000, 3), (0..1000).collect::<Vec<_>>());
        assert_eq!(data.sample_rows(usize::MAX, 3).len(), 1000);
    }

    #[test]
    fn rare_classes_have_ten_rows_or_all_of_theirs() {
        // 1960 of class 0, 36 of class 1 and 4 of class 2; a tenth of class 1 would be about 4.
        let data = labeled((0..2000).map(|i| if i % 500 == 7 { 2 } else { usize::from(i < 36) }).collect());
        let all = data.classes("m").unwrap().counts();
        let rows = data.sample_rows(200, 0);
        let [most, some, few] = counts_of(&data, &rows)[..] else { panic!("three classes") };
        assert_eq!((some, few), (10, all[2]));
        // The others are those of the proportional sample.
        assert!((195..=197).contains(&most), "{most}");
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_sample_of_very_many_classes_has_one_row_of_each() {
        let data = labeled((0..1000).map(|i| i % 200).collect());
        let rows = data.sample_rows(50, 1);
        let counts = counts_of(&data, &rows);
        assert!(counts.iter().all(|&count| count >= 1) && rows.len() < 260, "{}", rows.len());
    }

    #[test]
    fn a_continuous_target_needs_no_classes() {
        let target = Target::Continuous((0..500).map(f64::from).collect());
        let data = Dataset::with_target(Array2::zeros((500, 1)), target).unwrap();
        assert_eq!(data.sample_rows(50, 0).len(), 50);
    }
}
