//! Samples of the rows of tall data.

use super::dataset::Dataset;
use super::target::Target;
use crate::context::Context;
use crate::error::Result;
use crate::random::Rng;

/// A sample has at least this many rows of each class, if the class has them.
const MIN_OF_CLASS: usize = 10;

impl Dataset {
    /// A random sample of `most` rows of positive weight, in ascending order; `None` if there are not more. A sample `by_class` has
    /// the class proportions of the data, but at least 10 rows of each class, or all of a smaller one, so that rare classes may add
    /// some. Other samples do not depend on the target.
    pub fn sample_rows(&self, most: usize, by_class: bool, seed: u64) -> Option<Vec<usize>> {
        let rows: Vec<usize> = (0..self.n()).filter(|&row| self.weights().of(row) > 0.0).collect();
        let n = rows.len();
        if n <= most {
            return None;
        }
        let parts = match self.target() {
            Target::Classes(classes) if by_class => {
                let mut parts = vec![vec![]; classes.names.len()];
                rows.iter().for_each(|&row| parts[classes.codes[row]].push(row));
                parts.retain(|part| !part.is_empty());
                parts
            }
            _ => vec![rows],
        };
        // With very many classes the sample stays of about this size, up to one row per class.
        let least = (most / parts.len()).clamp(1, MIN_OF_CLASS);
        let (mut rng, mut before, mut sample) = (Rng::stream(seed, "sample of rows"), 0, vec![]);
        for part in parts {
            let until = before + part.len();
            let share = until * most / n - before * most / n;
            sample.extend(rng.sample(part.len(), share.max(least)).into_iter().map(|at| part[at]));
            before = until;
        }
        sample.sort_unstable();
        Some(sample)
    }

    /// The context while a copy of `n` rows is used.
    pub(crate) fn hold_rows<'a>(&self, n: usize, ctx: &Context<'a>) -> Result<Context<'a>> {
        let cells = n as f64 * self.x().d() as f64;
        ctx.hold(format!("a sample of {n} rows"), 8.0 * cells, "use fewer columns")
    }
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
        let rows = data.sample_rows(100, true, 3).unwrap();
        assert_eq!(counts_of(&data, &rows), [75, 25]);
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(Some(&rows), data.sample_rows(100, true, 3).as_ref());
        assert_ne!(Some(&rows), data.sample_rows(100, true, 4).as_ref());
        // Without the classes the counts are random.
        assert_ne!(counts_of(&data, &data.sample_rows(100, false, 3).unwrap()), [75, 25]);
        assert!(data.sample_rows(1000, true, 3).is_none() && data.sample_rows(usize::MAX, true, 3).is_none());
    }

    #[test]
    fn rare_classes_have_ten_rows_or_all_of_theirs() {
        // 1960 of class 0, 36 of class 1 and 4 of class 2; a tenth of class 1 would be about 4.
        let data = labeled((0..2000).map(|i| if i % 500 == 7 { 2 } else { usize::from(i < 36) }).collect());
        let all = data.classes("m").unwrap().counts();
        let rows = data.sample_rows(200, true, 0).unwrap();
        let [most, some, few] = counts_of(&data, &rows)[..] else { panic!("three classes") };
        assert_eq!((some, few), (10, all[2]));
        // The others are those of the proportional sample.
        assert!((195..=197).contains(&most), "{most}");
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_sample_of_very_many_classes_has_one_row_of_each() {
        let data = labeled((0..1000).map(|i| i % 200).collect());
        let rows = data.sample_rows(50, true, 1).unwrap();
        let counts = counts_of(&data, &rows);
        assert!(counts.iter().all(|&count| count >= 1) && rows.len() < 260, "{}", rows.len());
    }

    #[test]
    fn a_continuous_target_needs_no_classes() {
        let target = Target::Continuous((0..500).map(f64::from).collect());
        let data = Dataset::with_target(Array2::zeros((500, 1)), target).unwrap();
        assert_eq!(data.sample_rows(50, true, 0).unwrap().len(), 50);
    }

    #[test]
    fn rows_of_weight_zero_are_not_sampled() {
        let weights: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let data = labeled(vec![0; 100]).with_weights(weights, "w").unwrap();
        let rows = data.sample_rows(40, true, 0).unwrap();
        assert!(rows.len() == 40 && rows.iter().all(|row| row % 2 == 1));
        assert_eq!(data.sample_rows(50, true, 0), None);
    }
}
