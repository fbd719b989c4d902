//! Addition in a fixed order.

/// Number of results that are added at a time.
pub const FAN_IN: usize = 16;

/// Adds results in the order of their blocks, as a tree: the results of 16 consecutive blocks are added from the first to the last,
/// then 16 of these sums, and so on. Which results are added thus depends on the numbers of their blocks only, so that several
/// computers can add parts of them.
pub struct OrderedSum<T> {
    /// For every level of the tree the sum so far and the number of its terms, below [`FAN_IN`].
    levels: Vec<Option<(T, usize)>>,
}

impl<T> Default for OrderedSum<T> {
    fn default() -> Self {
        Self { levels: vec![] }
    }
}

impl<T> OrderedSum<T> {
    /// Adds the result of the next block.
    pub fn push(&mut self, result: T, add: impl Fn(&mut T, T)) {
        let mut carried = result;
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(None);
            }
            let (sum, count) = match self.levels[level].take() {
                None => (carried, 1),
                Some((mut sum, count)) => {
                    add(&mut sum, carried);
                    (sum, count + 1)
                }
            };
            if count < FAN_IN {
                self.levels[level] = Some((sum, count));
                return;
            }
            carried = sum;
        }
    }

    /// The sum of all results; `None` if there were none.
    pub fn finish(self, add: impl Fn(&mut T, T)) -> Option<T> {
        let mut lower: Option<T> = None;
        for (sum, _) in self.levels.into_iter().flatten() {
            lower = Some(match lower {
                None => sum,
                Some(later) => {
                    let mut sum = sum;
                    add(&mut sum, later);
                    sum
                }
            });
        }
        lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_equal_those_of_sums_level_by_level() {
        let mut rng = crate::random::Rng::new(5);
        for n in [1, 16, 17, 31, 256, 300, 4097] {
            let terms: Vec<f64> =
                (0..n).map(|_| rng.normal() * 10.0_f64.powi(rng.below(12) as i32)).collect();
            let mut sum = OrderedSum::default();
            terms.iter().for_each(|&v| sum.push(v, |a, b| *a += b));
            let mut level = terms;
            while level.len() > 1 {
                level =
                    level.chunks(FAN_IN).map(|part| part[1..].iter().fold(part[0], |a, b| a + b)).collect();
            }
            assert_eq!(sum.finish(|a, b| *a += b), Some(level[0]), "{n}");
        }
        assert!(OrderedSum::<f64>::default().finish(|a, b| *a += b).is_none());
    }
}
