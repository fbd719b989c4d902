//! FFS: forward selection over weak classifiers. On coordinates of kernel space it is KFFS.

use super::selector::{DependenceCheck, FeatureCount, Selection, Selector};
use super::votes::{Votes, empty_ensemble};
use super::weak::{Klms, Labels, Weak, WeakLearner};
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::outcome::{Outcome, Stop};
use crate::parameters::Parameters;
use crate::random::Rng;
use crate::simd::VOTERS;

const NAME: &str = "FFS";
/// Up to this many features the search always adds all of them.
const MAX_FULL_SEARCH: usize = 1024;
/// A longer search stops after this many steps without improvement.
const MAX_STEPS_WITHOUT_IMPROVEMENT: usize = 64;

crate::parameters! {
    /// Forward selection over weak classifiers.
    ///
    /// One weak classifier per feature is trained once, and its predictions (votes) on the training samples are stored.
    /// Then an ensemble grows greedily: each step adds the feature with the smallest training error of the majority
    /// vote,
    ///
    /// $$ k = \operatorname{arg} \min_i \ \min_\theta \ \mathrm{err}\bigl(\mathrm{sign}(v + h_i - \theta)\bigr), \qquad v \leftarrow v + h_k $$
    ///
    /// with $\theta$ free (more than two classes: the class with most votes). Ties are broken by the error of the weak
    /// classifier, then by column order. Each feature gets a weight from an error $\epsilon$,
    ///
    /// $$ w = \tfrac12 \ln \frac{1-\epsilon}{\epsilon}, \qquad \epsilon \in [\tfrac1{2n}, \tfrac12] $$
    ///
    /// where $\epsilon$ is the ensemble's error when the feature was added (as published) or the error of the feature's
    /// weak classifier; for $C$ classes $\frac12\ln(C-1)$ is added and the upper limit is $\frac{C-1}{C}$. By default
    /// (`auto`) the method selects features up to the first minimum of the ensemble's error.
    ///
    /// The ensemble's error falls and then rises along the order, so the published weights mostly reflect when a
    /// feature was added, not how strong it is.
    ///
    /// The stump of a category has a class per level; its kernel least mean squares distinguish only equal and different
    /// levels. A missing category is one more level. Missing numbers vote for their most frequent class, and the weak
    /// classifier is trained on the known numbers.
    ///
    /// With up to 1024 features all of them are added. With more, and no requested number, the search stops when the
    /// error is 0 or has not improved for 64 steps; the remaining features follow by the error of their weak
    /// classifiers.
    ///
    /// Cost: the weak classifiers, and $O(n d)$ per step for all candidates; $n d$ bytes of memory.
    ///
    /// References: Wu, Brubaker, Mullin and Rehg, *Fast asymmetric learning for cascade face detection*, 2008;
    /// Xu and others, *TAKES: a fast method to select features in the kernel space*, CIKM 2010.
    #[derive(PartialEq)]
    pub struct Ffs as "FFS" {
        /// The weak classifier of each feature.
        pub weak_learner: WeakLearner = WeakLearner::Stump;
        /// Step size of klms.
        pub eta: f64 = 0.5, above_to(0, 1);
        /// Bandwidth of the Gaussian kernel of klms, in standard deviations of the feature.
        pub learner_bandwidth: f64 = 1.0, between(0.001, 1000);
        /// Spacing of the quantized centers of klms, in bandwidths; 0, or at least 0.001. 0 is exact; none is exact
        /// up to 4096 samples, 1/16 beyond.
        pub quantum: Option<f64> = None, between(0, 1);
        /// Which error defines the weight of a feature.
        pub weights: WeightRule = WeightRule::Ensemble;
    }
}

crate::choices! {
    /// Which error defines the weight of a feature.
    pub enum WeightRule {
        /// The error of the vote when the feature joined, as published.
        Ensemble = "ensemble",
        /// The error of its own weak classifier.
        Individual = "individual",
    }
}

impl Ffs {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "ffs",
        title: "Forward selection over weak classifiers",
        summary: "Features whose weak classifiers vote well together",
        needs: Needs::Classes,
        cost: "O(n d²) time, n d bytes",
        reference: "Wu et al., 2008",
    };
}

impl Selector for Ffs {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn supports_types(&self) -> bool {
        true
    }

    fn check_classes(&self, classes: &Classes) -> Result<()> {
        self.labels(classes).map(|_| ())
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(DependenceCheck::Single)
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_unencoded(NAME)?;
        let labels = self.labels(data.classes(NAME)?)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        let (n, d) = (data.n(), data.d());
        // Votes in tiles of 64 features, votes before tiling, an order of the samples, and counts by class.
        let per_row = VOTERS * d.div_ceil(VOTERS) + d.min(VOTERS) + 8 + 5 * labels.n_classes();
        let bytes = n as f64 * per_row as f64;
        ctx.need_memory(format!("a table of {n} x {d} votes"), bytes, "use fewer rows or columns")?;
        let mut order: Vec<usize> = (0..n).collect();
        Rng::stream(ctx.seed, "order of learning").shuffle(&mut order);
        let weak = self.weak();
        let weights = weak.class_weights(&labels);
        let votes = Votes::collect(
            &labels,
            &weights,
            d,
            |j| weak.votes(&data.x().column(j), data.feature_type(j), &labels, &order, ctx),
            |done| ctx.step("weak classifiers", done, d),
        )?;
        let search = ForwardSearch::run(&votes, &labels, wanted, ctx)?;
        let total: u64 = labels.counts.iter().zip(&weights).map(|(&rows, w)| rows as u64 * w).sum();
        let individual_errors: Vec<f64> = votes.errors().iter().map(|&e| e as f64 / total as f64).collect();
        Ok(self.selection(search, &individual_errors, &labels, wanted))
    }
}

impl Ffs {
    /// The weak classifier with its parameters.
    fn weak(&self) -> Weak {
        match self.weak_learner {
            WeakLearner::Stump => Weak::Stump,
            WeakLearner::BalancedStump => Weak::BalancedStump,
            WeakLearner::Klms => {
                Weak::Klms(Klms { eta: self.eta, bandwidth: self.learner_bandwidth, quantum: self.quantum })
            }
        }
    }

    /// The class labels for the weak classifiers; returns an error for parameters invalid for these classes.
    pub(super) fn labels(&self, classes: &Classes) -> Result<Labels> {
        self.check_ranges()?;
        if let Some(quantum @ 1e-300..0.001) = self.quantum {
            return Err(Error::param(NAME, "quantum", "0, or from 0.001 to 1", quantum));
        }
        classes.need_pair(NAME)?;
        Labels::new(classes, NAME)
    }

    fn selection(
        &self,
        search: ForwardSearch,
        individual_errors: &[f64],
        labels: &Labels,
        wanted: Option<usize>,
    ) -> Selection {
        let n = labels.n() as f64;
        let curve: Vec<f64> = search.errors.iter().map(|&e| e as f64 / n).collect();
        let n_selected = wanted.unwrap_or_else(|| first_minimum(&curve));
        let mut scores = vec![0.0; search.order.len()];
        for (step, &column) in search.order[..n_selected].iter().enumerate() {
            let error = match self.weights {
                WeightRule::Ensemble => curve[step],
                WeightRule::Individual => individual_errors[column],
            };
            scores[column] = weight(error, labels);
        }
        let stop = if wanted.is_some() { Stop::Requested } else { Stop::Minimum };
        let outcome = Outcome { stop, iterations: curve.len() };
        Selection {
            automatic: None,
            sample: None,
            method: "ffs".into(),
            order: search.order,
            scores,
            n_selected,
            curve,
            coef: None,
            path: vec![],
            outcome,
        }
    }
}

/// Number of features at the first minimum of the error.
pub(crate) fn first_minimum(curve: &[f64]) -> usize {
    let least = curve.iter().copied().fold(f64::INFINITY, f64::min);
    1 + curve.iter().position(|&error| error == least).unwrap_or(0)
}

/// The order in which features were added, and the error of the ensemble.
struct ForwardSearch {
    /// All features; those not added come last, by the error of their weak classifiers.
    order: Vec<usize>,
    /// Number of errors of the ensemble after each step.
    errors: Vec<usize>,
}

impl ForwardSearch {
    fn run(votes: &Votes, labels: &Labels, wanted: Option<usize>, ctx: &Context) -> Result<Self> {
        let (d, individual_errors) = (votes.n_voters(), votes.errors());
        let mut ensemble = empty_ensemble(votes, labels);
        let mut candidates = vec![true; d];
        let (mut order, mut errors) = (vec![], vec![]);
        let mut lowest = (usize::MAX, 0);
        for t in 0..d {
            let enough = match wanted {
                Some(k) => t >= k,
                None => lowest.0 == 0 || t >= lowest.1 + MAX_STEPS_WITHOUT_IMPROVEMENT,
            };
            if d > MAX_FULL_SEARCH && enough {
                break;
            }
            ctx.step("forward selection", t, d)?;
            let with = ensemble.errors_with_each(&candidates);
            let best = (0..d).filter(|&i| candidates[i]).min_by_key(|&i| (with[i], individual_errors[i]));
            let Some(best) = best else { break };
            ensemble.add(best);
            candidates[best] = false;
            order.push(best);
            errors.push(with[best]);
            if with[best] < lowest.0 {
                lowest = (with[best], t);
            }
        }
        let mut remaining: Vec<usize> = (0..d).filter(|&i| candidates[i]).collect();
        remaining.sort_by_key(|&i| individual_errors[i]);
        order.extend(remaining);
        Ok(Self { order, errors })
    }
}

/// The weight $w$ in the documentation of [`Ffs`].
fn weight(error: f64, labels: &Labels) -> f64 {
    let (n, others) = (labels.n() as f64, (labels.n_classes() - 1) as f64);
    let error = error.clamp(1.0 / (2.0 * n), others / (others + 1.0));
    // At the upper limit the logarithms cancel up to rounding.
    (0.5 * ((1.0 - error) / error * others).ln()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::FeatureType;

    #[test]
    fn categories_and_missing_values_vote() {
        let nan = f64::NAN;
        // A category that is the class of three, a number that is missing in the first class, and noise.
        let x = ndarray::array![
            [4.0, nan, 1.0],
            [4.0, nan, 2.0],
            [0.0, 1.0, 1.0],
            [0.0, 1.5, 2.0],
            [nan, 7.0, 1.0],
            [nan, 8.0, 2.0],
        ];
        let types = vec![
            FeatureType::Category { levels: 4 },
            FeatureType::Number,
            FeatureType::Category { levels: 3 },
        ];
        let target = crate::data::Target::Classes(Classes::from_codes(vec![0, 0, 1, 1, 2, 2]));
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let data = Dataset::typed(names, x, types, target).unwrap();
        for weak_learner in [WeakLearner::Stump, WeakLearner::BalancedStump, WeakLearner::Klms] {
            let ffs = Ffs { weak_learner, learner_bandwidth: 0.3, ..Ffs::default() };
            for (j, errors) in [(0, 0.0), (1, 0.0)] {
                let one = ffs.select(&data.take_columns(&[j]), FeatureCount::Auto, &Context::default());
                assert_eq!(one.unwrap().curve, [errors], "{weak_learner:?} {j}");
            }
            let all = ffs.select(&data, FeatureCount::Auto, &Context::default()).unwrap();
            assert_eq!((all.order, all.n_selected), (vec![0, 1, 2], 1), "{weak_learner:?}");
        }
    }

    #[test]
    fn parameters_are_checked() {
        let data = Dataset::labeled(ndarray::array![[1.0], [2.0]], vec![0, 1]).unwrap();
        for (ffs, name) in [
            (Ffs { eta: 0.0, ..Ffs::default() }, "eta"),
            (Ffs { eta: 1.5, ..Ffs::default() }, "eta"),
            (Ffs { learner_bandwidth: f64::NAN, ..Ffs::default() }, "learner_bandwidth"),
            (Ffs { quantum: Some(2.0), ..Ffs::default() }, "quantum"),
            (Ffs { quantum: Some(1e-4), ..Ffs::default() }, "quantum"),
        ] {
            let error = ffs.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
