//! Stability selection: how often other samples give the same features.

use crate::context::{Context, Quiet};
use crate::data::{Classes, Dataset, Encoding, Target};
use crate::error::Result;
use crate::method::{Info, Needs};
use crate::parameters::Parameters;
use crate::random::Rng;
use crate::select::{FeatureCount, Selection, Selector};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const NAME: &str = "stability selection";
/// Rows that the method gets from the fewest rows: five in each half.
const MIN_SAMPLES: usize = 10;

crate::parameters! {
    /// Stability selection with complementary pairs of halves.
    ///
    /// The rows are split at random into two halves, `n_pairs` times, and a selector is fitted to every half. The frequency of a
    /// feature is the fraction of fits that select it; features with at least the frequency `threshold` are selected.
    ///
    /// If a fit selects $q$ of $p$ features on average, the expected number of selected features that a fit to half of the rows
    /// selects with a probability of at most $q / p$ (no more often than features on average) is at most
    ///
    /// $$ \frac{q^2}{(2 \tau - 1) p}, $$
    ///
    /// $\tau$ being the threshold. This holds for any selector and any data (Theorem 1 of Shah and Samworth, *Variable selection
    /// with error control: another look at stability selection*, 2013; Meinshausen and Bühlmann, 2010, have the same bound under
    /// stronger assumptions). Their sharper bounds for unimodal and r-concave distributions are not used.
    ///
    /// Classes are split evenly between the halves. The frequencies do not depend on the number of threads.
    #[derive(PartialEq)]
    pub struct Stability as "stability selection" {
        /// Number of random splits into two halves.
        pub n_pairs: usize = 50, between(1, 10_000);
        /// The frequency from which on a feature is selected.
        pub threshold: f64 = 0.75, between(0.51, 1);
    }
}

/// The result of [`Stability`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frequencies {
    /// For each feature the fraction of fits that select it.
    pub frequencies: Vec<f64>,
    /// The number of features that a fit selects on average.
    pub mean_selected: f64,
    /// The frequency from which on a feature is selected.
    pub threshold: f64,
    /// The bound on the expected number of false selections.
    pub expected_false: f64,
    /// Number of fits.
    pub n_fits: usize,
}

impl Frequencies {
    /// From the number of times that each feature was selected in `n_fits` fits.
    fn new(counts: &[usize], n_fits: usize, threshold: f64) -> Self {
        let frequencies: Vec<f64> = counts.iter().map(|&count| count as f64 / n_fits as f64).collect();
        let mean_selected: f64 = frequencies.iter().sum();
        let expected_false = mean_selected * mean_selected / ((2.0 * threshold - 1.0) * counts.len() as f64);
        Self { frequencies, mean_selected, threshold, expected_false, n_fits }
    }

    /// The features ranked by frequency; those with at least the frequency `threshold` are selected.
    pub fn selection(&self) -> Selection {
        let n_selected = self.frequencies.iter().filter(|&&f| f >= self.threshold).count();
        Selection::by_score("stability", self.frequencies.clone(), n_selected)
    }
}

impl Stability {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "stability",
        title: "Stability selection",
        summary: "Features that most fits of a selector to random halves of the rows select",
        needs: Needs::Nothing,
        cost: "2 n_pairs fits to half of the rows",
        reference: "Shah and Samworth, 2013",
    };

    /// Fits the selector to both halves of `n_pairs` splits. Each fit selects `count` features.
    pub fn run(
        &self,
        selector: &(impl Selector + Sync),
        data: &Dataset,
        count: FeatureCount,
        encoding: Encoding,
        ctx: &Context,
    ) -> Result<Frequencies> {
        self.check_ranges()?;
        data.need_rows(NAME, MIN_SAMPLES)?;
        let threads = rayon::current_num_threads();
        let quiet = Quiet(ctx.observer);
        let halves: Vec<(usize, usize)> = (0..self.n_pairs).flat_map(|pair| [(pair, 0), (pair, 1)]).collect();
        let workers = threads.min(halves.len());
        let room = ctx.room() / workers as u64;
        let inner = Context { observer: &quiet, memory_limit: ctx.held.saturating_add(room), ..*ctx };
        let mut counts = vec![0; data.d()];
        for (at, batch) in halves.chunks(workers).enumerate() {
            ctx.step("fits to halves of the rows", at * workers, halves.len())?;
            let fit = |&(pair, half): &(usize, usize)| {
                let rows = &complementary_halves(data, pair, ctx.seed)[half];
                let seed = Rng::stream(ctx.seed, &format!("fit {pair} {half}")).bits();
                let ctx = Context { seed, ..inner };
                Ok(selector.select_typed(&data.take_rows(rows), count, encoding, &ctx)?.selected().to_vec())
            };
            let parts: Vec<Result<Vec<usize>>> = batch.par_iter().with_max_len(1).map(fit).collect();
            for part in parts {
                part?.into_iter().for_each(|feature| counts[feature] += 1);
            }
        }
        Ok(Frequencies::new(&counts, halves.len(), self.threshold))
    }
}

/// Two disjoint random sets of half of the rows, in ascending order, with about the same number of rows of each class.
fn complementary_halves(data: &Dataset, pair: usize, seed: u64) -> [Vec<usize>; 2] {
    let mut rng = Rng::stream(seed, &format!("halves {pair}"));
    let mut order: Vec<usize> = (0..data.n()).collect();
    rng.shuffle(&mut order);
    if let Target::Classes(Classes { codes, .. }) = data.target() {
        // A stable sort: rows of a class remain in random order.
        order.sort_by_key(|&row| codes[row]);
    }
    // Which of two neighbors goes to which half is random; of an odd number of rows, a random one is left out.
    if order.len() % 2 == 1 {
        order.remove(rng.below(order.len()));
    }
    let mut halves = [vec![], vec![]];
    for two in order.chunks_exact(2) {
        let first = rng.below(2);
        halves[first].push(two[0]);
        halves[1 - first].push(two[1]);
    }
    halves.iter_mut().for_each(|half| half.sort_unstable());
    halves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::{FisherScore, SelectorMethod};
    use ndarray::Array2;

    fn data(n: usize, d: usize) -> Dataset {
        let mut rng = Rng::new(3);
        let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
        let codes = x.rows().into_iter().map(|row| usize::from(row[0] + row[1] > 0.0)).collect();
        Dataset::labeled(x, codes).unwrap()
    }

    #[test]
    fn frequencies_by_hand() {
        // Four fits; 2 features on average; 4 / (0.5 * 4) = 2.
        let found = Frequencies::new(&[4, 1, 3, 0], 4, 0.75);
        assert_eq!(found.frequencies, [1.0, 0.25, 0.75, 0.0]);
        assert_eq!((found.mean_selected, found.expected_false), (2.0, 2.0));
        let selection = found.selection();
        assert_eq!((selection.selected(), selection.order.as_slice()), (&[0, 2][..], &[0, 2, 1, 3][..]));
    }

    #[test]
    fn halves_are_disjoint_and_stratified() {
        let data = data(41, 2);
        let Target::Classes(classes) = data.target() else { panic!("classes") };
        for pair in 0..20 {
            let halves = complementary_halves(&data, pair, 5);
            assert!(halves.iter().all(|half| half.len() == 20));
            assert!(halves[0].iter().all(|row| !halves[1].contains(row)));
            let ones = |half: &Vec<usize>| half.iter().filter(|&&row| classes.codes[row] == 1).count();
            assert!(ones(&halves[0]).abs_diff(ones(&halves[1])) <= 1);
        }
        assert_ne!(complementary_halves(&data, 0, 5), complementary_halves(&data, 1, 5));
    }

    #[test]
    fn relevant_features_are_stable() {
        let data = data(200, 20);
        let method = SelectorMethod::Fisher(FisherScore::default());
        let stability = Stability { n_pairs: 10, ..Stability::default() };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (count, encoding) = (FeatureCount::Count(2), Encoding::default());
            pool.install(|| stability.run(&method, &data, count, encoding, &Context::default()).unwrap())
        };
        let found = with(1);
        assert_eq!(found, with(2));
        assert_eq!((found.mean_selected, found.n_fits), (2.0, 20));
        let mut selected = found.selection().selected().to_vec();
        selected.sort_unstable();
        assert_eq!(selected, [0, 1]);
        assert!(
            stability
                .run(
                    &method,
                    &data.take_rows(&[0, 1]),
                    FeatureCount::Auto,
                    Encoding::default(),
                    &Context::default()
                )
                .is_err()
        );
        assert!(Stability { threshold: 0.5, ..stability }.check_ranges().is_err());
    }
}
