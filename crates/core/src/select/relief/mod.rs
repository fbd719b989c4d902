//! Relief: favors features in which a sample differs from near samples of other classes, but not from near samples
//! of its class.

mod classification;
mod compared;
mod regression;
mod shares;
#[cfg(test)]
mod tests;

pub use compared::{Difference, Units};

use super::selector::{DependenceCheck, FeatureCount, Sample, Selection, Selector};
use crate::context::Context;
use crate::data::{Classes, Dataset, Target};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::neighbors::{Metric, nearest_by_sums_bytes, nearest_bytes};
use crate::parameters::Parameters;
use crate::random::Rng;
use compared::Compared;

const NAME: &str = "Relief";
/// Samples per task.
const BLOCK: usize = 256;
/// By default the neighbors of all of up to so many samples are searched, and of more samples those of this many.
const MAX_ROWS: usize = 20_000;
const N_CENTERS: usize = 10_000;

crate::parameters! {
    /// ReliefF. The defaults are those of most libraries: 10 neighbors of each class
    /// by the Manhattan distance of features scaled to their range, all other classes with equal weight.
    ///
    /// For each sample the nearest neighbors of its class (hits $h$) and of each other class (misses $m^c$) are found
    /// by the distance over all features; then
    ///
    /// $$ w_j = \frac1n \sum_x \Bigl( \sum_{c \ne y_x} \frac{P(c)}{1 - P(y_x)} |x_j - m^c_j| - |x_j - h_j| \Bigr) $$
    ///
    /// with $P$ the class frequencies (or equal weights), averaged over several neighbors if requested, or with squared
    /// differences. One neighbor is Relief, several are ReliefF. For regression see `regression.rs`: RReliefF. Features
    /// are ranked by $w$; then negative weights become 0. By default (`auto`) the method selects the features with
    /// positive weights.
    ///
    /// In the coordinates of a full basis of kernel space the Euclidean distance over all features is the kernel
    /// distance, so neighbors are those of kernel space: with KGS as the basis this is FSKGS, with KPCA FSKPCA. On
    /// tabular data ReliefF usually uses the Manhattan distance of features divided by their range, so that a
    /// difference is at most 1: [`Metric::Manhattan`], [`Units::Range`].
    ///
    /// Two categories differ by 1 if they are not equal, otherwise by 0, both in the weights and in the distance; in
    /// units of the range a number differs by at most as much.
    ///
    /// If one of two values is missing, their expected difference is used: the mean (squared) difference of all pairs
    /// of known values of the feature. Kononenko's estimate for categories, $1 - \sum_v P(v)^2$, is the same, up to
    /// pairs of a value with itself.
    ///
    /// The only sample of a class has no hit; it is not used as a center, but serves as a miss for others.
    ///
    /// Centers and their neighbors count by their weights. An integer weight $w$ is a row that is there $w$ times, with $w - 1$
    /// copies among its own neighbors; if a weight is not an integer, rows have no copies.
    ///
    /// Cost: $O(n^2 d)$ time, or $O(m n d)$ for a subsample of $m$ centers; $O(n d)$ memory. Of more than 20,000 samples
    /// 10,000 are centers.
    ///
    /// References: Kira and Rendell, *The feature selection problem*, 1992; Kononenko, *Estimating attributes*, 1994
    /// (multiclass, missing values); Robnik-Šikonja and Kononenko, *An adaptation of Relief for attribute estimation in
    /// regression*, 1997; Cao, Shen, Sun, Yang and Chen, *Feature selection in a kernel space*, ICML 2007.
    #[derive(PartialEq)]
    pub struct Relief as "ReliefF" {
        /// Number of neighbors: hits, and misses per class; with a continuous target, neighbors in all.
        pub n_neighbors: usize = 10, at_least(1);
        /// Whether a class with fewer samples than `n_neighbors` gives as many as it has. If false, that is an error.
        pub clip: bool = true;
        /// How to measure the difference of two samples in a feature.
        pub difference: Difference = Difference::Absolute;
        /// How to weight the misses of each class when there are more than two classes.
        pub class_weights: ClassWeights = ClassWeights::Equal;
        /// The distance that defines neighbors.
        pub metric: Metric = Metric::Manhattan;
        /// The scale on which features are compared.
        pub units: Units = Units::Range;
        /// Number of samples, drawn at random, whose neighbors are searched among all; none is all of up to 20,000 samples, and
        /// 10,000 of more. More than there are uses all.
        pub n_samples: Option<usize> = None, at_least(1);
        /// Whether to search the neighbors of all samples, however many there are.
        pub exact: bool = false;
    }
}

impl Relief {
    /// Relief as published: one neighbor of each class by the Euclidean distance of unscaled features; other classes are
    /// weighted by their frequency. Used for directions of kernel space.
    pub fn original() -> Self {
        Self {
            n_neighbors: 1,
            clip: false,
            class_weights: ClassWeights::Frequency,
            metric: Metric::Euclidean,
            units: Units::Unscaled,
            ..Self::default()
        }
    }
}

crate::choices! {
    /// How to weight the misses of each class when there are more than two classes.
    pub enum ClassWeights {
        /// All classes have equal weight.
        Equal = "equal",
        /// By the frequency of the class (Kononenko).
        Frequency = "frequency",
    }
}

impl Relief {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "relief",
        title: "ReliefF",
        summary: "Features that differ between near samples of different classes, and agree within a class",
        needs: Needs::Target,
        cost: "O(n² d) time, O(n d) memory; beyond 20,000 rows the neighbors of a sample",
        reference: "Kira and Rendell, 1992; Kononenko, 1994",
    };
}

impl Selector for Relief {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn wants_scaling(&self) -> bool {
        self.units == Units::Unscaled
    }

    fn supports_types(&self) -> bool {
        true
    }

    fn supports_weights(&self) -> bool {
        true
    }

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        match self.n_samples.filter(|_| self.exact) {
            Some(wanted) => Err(Error::param(NAME, "n_samples", "left out if exact is set", wanted)),
            None => Ok(()),
        }
    }

    fn check_classes(&self, classes: &Classes) -> Result<()> {
        self.check()?;
        classes.need_pair(NAME)?;
        let smallest = classes.counts().into_iter().filter(|&count| count >= 2).min().unwrap_or(2);
        self.check_neighbors(smallest, "the rows of the smallest class")
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(DependenceCheck::Joint)
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_unencoded(NAME)?;
        self.check()?;
        let wanted_number = || wanted.resolve(NAME, data.d());
        let (weights, wanted) = match data.target() {
            Target::Continuous(values) => {
                let wanted = wanted_number()?;
                (self.regression_weights(data, values, ctx)?, wanted)
            }
            Target::None | Target::Outputs(_) => return Err(Error::NeedsTarget { method: NAME }),
            Target::Classes(_) => {
                let classes = data.classes(NAME)?;
                let wanted = wanted_number()?;
                self.check_classes(classes)?;
                (self.class_weights(data, classes, ctx)?, wanted)
            }
        };
        let n_positive = weights.iter().filter(|&&w| w > 0.0).count();
        if wanted.is_none() && n_positive == 0 {
            ctx.warn(
                "Relief: no score is positive; no feature is selected; more samples or more neighbors may help",
            );
        }
        let mut selection = Selection::by_score("relief", weights, wanted.unwrap_or(n_positive));
        if self.n_samples.is_none() && self.n_centers(data.n()) < data.n() {
            let sample = Sample { n_used: self.n_centers(data.n()), n: data.n() };
            selection.sample = Some(sample.noted(Self::INFO.title, ctx));
        }
        // After ranking, so that features with negative weights are still ordered.
        selection.scores.iter_mut().for_each(|w| *w = w.max(0.0));
        Ok(selection)
    }
}

impl Relief {
    /// Returns an error for as many neighbors as `rows` or more, unless `clip` allows them.
    fn check_neighbors(&self, rows: usize, which: &str) -> Result<()> {
        if self.clip || self.n_neighbors < rows {
            return Ok(());
        }
        let expected = format!("from 1 to one fewer than {which}, {}", rows - 1);
        Err(Error::param(NAME, "n_neighbors", expected, self.n_neighbors))
    }

    /// The samples, prepared for comparison.
    fn compared(&self, data: &Dataset, ctx: &Context) -> Result<Compared> {
        let (n, d) = (data.n(), data.d());
        let centers = self.n_centers(n);
        // Classification searches a copy of one class at a time; regression searches all samples without a copy.
        let (among, copies) = match data.target() {
            Target::Classes(classes) => (classes.counts().into_iter().max().unwrap_or(0), 1),
            _ => (n, 0),
        };
        let search = if Compared::by_products(self.metric, data) {
            nearest_bytes(among, centers, self.n_neighbors)
        } else {
            nearest_by_sums_bytes(among, d, centers, self.n_neighbors)
        };
        // The samples and the centers; partial sums per feature.
        let rows = n + centers + copies * among + 2 * centers / BLOCK;
        ctx.need_memory(
            format!("Relief of {n} x {d} cells"),
            8.0 * rows as f64 * d as f64 + search,
            "use fewer rows or columns",
        )?;
        Ok(Compared::new(data, self.metric, self.units, self.difference))
    }

    /// The number of samples, of `n`, whose neighbors are searched.
    fn n_centers(&self, n: usize) -> usize {
        let default = if self.exact || n <= MAX_ROWS { n } else { N_CENTERS };
        self.n_samples.unwrap_or(default).min(n)
    }

    /// All given samples, or a random subsample of them.
    fn centers(&self, all: Vec<usize>, n: usize, ctx: &Context) -> Vec<usize> {
        let places = Rng::stream(ctx.seed, "centres of Relief").sample(all.len(), self.n_centers(n));
        places.into_iter().map(|place| all[place]).collect()
    }
}
