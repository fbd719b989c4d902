//! Kernel design by linear programming: a mixture of kernels that satisfies triplets "i is closer to j than to k".
//!
//! For base kernels $K_1 \dots K_k$, each scaled to a mean diagonal of 1, the weights of $K = \sum_p \alpha_p K_p$ solve
//!
//! $$\min \frac1T \sum_t e_t + \gamma_1 \sum_g s_g + \gamma_2 \operatorname{mean}\_i K_{ii} \quad\text{s.t.}\quad K_{ij} - K_{ik} + e_t \ge 1,\ e_t \ge 0,
//! |\alpha_p| \le s_{g(p)}$$
//!
//! with a group for each kernel (program 4 of the paper) or for each feature (program 7, which selects features; the kernels of a
//! feature of several columns, such as a category, see all of them), and a
//! constraint that makes the mixture positive semidefinite, see [`Psd`]. The paper enforces diagonal dominance by $n^2$ auxiliary
//! variables. This implementation adds a cut for each row and sign pattern that the mixture violates, and reaches the same
//! optimum by programs of $T + \text{cuts}$ rows and $k$ variables.
//!
//! Steps: (1) take the distinct rows of the triplets; (2) build the base kernels, with $\gamma$ from the rows' distances; (3)
//! choose penalties by hold-out validation on halves of the rows, unless given; (4) alternate an interior-point solver and cuts; (5) drop features whose largest weight is below a threshold and solve
//! again; (6) add white noise for the remaining violation of the constraint, reported separately.
//!
//! Differences from the paper: objectives are means, not sums, so that penalties do not depend on the number of rows or triplets
//! ($\gamma_1$ of the paper is $T \gamma_1$, its $\gamma_2$ is $T \gamma_2 / n$). With Gaussian kernels on one feature, strict dominance
//! admits only the zero mixture on all but tiny sets of rows; [`Psd::StrictDominance`] reports this.
//!
//! Cost: $O((T + m) k^2)$ per solver iteration with $m$ cuts, about 20 iterations per round, 5 to 20 rounds; with dominance $n^2 k$
//! kernel values per round, none with [`Psd::NonNegative`]. Memory $O((T + m) k)$, and $O(n^2)$ with cuts.
//!
//! Reference: Fung, Rosales, Rao, *Feature selection and kernel design via linear programming*, IJCAI 2007.

mod bases;
mod column_generation;
mod cuts;
mod cutting_planes;
mod mixture;
mod penalties;
mod program;
mod psd;
mod similarity;
#[cfg(all(test, feature = "datasets"))]
mod tests;
mod tune;

pub use bases::{Base, Bases, CustomKernels};
pub use mixture::{Designed, Mixture};
pub use penalties::{Penalties, Penalty, Trial};
pub use psd::{Grouping, Psd};

use super::learner::{KernelLearner, Learned};
use crate::context::Context;
use crate::data::triplets::{TripletReport, check, from_target, points, split_points};
use crate::data::{Dataset, Triplet};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::parameters::Parameters;
use bases::{NAME, check_effects};
use ndarray::Array2;
use program::{Problem, Solved};
use similarity::{Similarity, check_grams, distinct_rows};
use std::collections::HashMap;
use tune::Halves;

crate::parameters! {
    /// Learns a mixture of kernels from triplets; see the [module](self).
    #[derive(PartialEq)]
    pub struct KernelDesign as "design" {
        /// The base kernels.
        pub bases: Bases = Bases::default();
        /// The constraint that makes the mixture positive semidefinite.
        pub psd: Psd = Psd::Auto;
        /// Which weights gamma1 penalizes together.
        pub group: Grouping = Grouping::Column;
        /// Penalty of the weights, or several to choose from. none: 1e-5, 1e-4, 1e-3 and 1e-2; with more than 512 kernels,
        /// fractions of the smallest penalty that sets all weights to zero.
        pub gamma1: Option<Penalty> = None, above(0);
        /// Penalty of the mean diagonal, or several to choose from. none: 0, 1e-5, 1e-4 and 1e-3; with more than 512
        /// kernels, 1e-4. Penalties are chosen by the accuracy on the triplets of a held-out half of the samples.
        pub gamma2: Option<Penalty> = None, at_least(0);
        /// Number of random splits into halves for that choice.
        pub repeats: usize = 1, between(1, 10_000);
        /// Features whose largest weight is at most this fraction of the largest of all are dropped, and the linear program
        /// is solved again. 0 keeps every feature with nonzero weight.
        pub threshold: f64 = 0.01, from_below(0, 1);
        /// Relative gap between the objective and its lower bound at which the solver stops.
        pub tol: f64 = 1e-8, inside(0, 1);
        /// Maximum number of rounds of cuts.
        pub max_rounds: usize = 200, at_least(1);
    }
}

/// Base kernels on the rows of some triplets, and these triplets over those rows.
type SimilarityOf<'a, 'k> = &'a dyn Fn(&[Triplet]) -> Result<(Similarity<'k>, Vec<Triplet>)>;

/// What [`KernelDesign::mix`] learns from.
struct Input<'a, 'k> {
    psd: Psd,
    /// The feature that each base kernel sees, if it sees only one.
    features: &'a [Option<usize>],
    triplets: &'a [Triplet],
    report: TripletReport,
    similarity: SimilarityOf<'a, 'k>,
    /// Training and validation triplets of a repeat.
    halves: &'a dyn Fn(u64) -> Result<Halves>,
}

impl KernelLearner for KernelDesign {
    fn name(&self) -> &'static str {
        NAME
    }

    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned> {
        Ok(self.design(data, triplets, ctx)?.learned)
    }
}

impl KernelDesign {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: NAME,
        title: "Kernel design by linear programming",
        summary: "A mixture of one-feature kernels that satisfies triplet constraints, and the features it needs",
        needs: Needs::Triplets,
        cost: "O(t k²) per step for t triplets and k kernels; with dominance also O(n² k) per round",
        reference: "Fung, Rosales and Rao, IJCAI 2007",
    };

    /// Rejects parameters that are out of range or have no effect.
    pub fn validate(&self) -> Result<()> {
        self.check_ranges()?;
        self.bases.check()?;
        for (name, penalty) in [("gamma1", &self.gamma1), ("gamma2", &self.gamma2)] {
            if penalty.as_ref().is_some_and(|penalty| penalty.values().is_empty()) {
                return Err(Error::param(NAME, name, "one number or more", "none"));
            }
        }
        let repeats_unused = self.repeats != 1 && self.given_penalties().is_some();
        check_effects(&[("repeats", repeats_unused, "both penalties are given")])
    }

    /// The same with fixed penalties.
    pub fn with_penalties(self, penalties: Penalties) -> Self {
        Self {
            gamma1: Some(Penalty::Value(penalties.kernels)),
            gamma2: Some(Penalty::Value(penalties.diagonal)),
            repeats: 1,
            ..self
        }
    }

    /// The penalties, if both are fixed.
    fn given_penalties(&self) -> Option<Penalties> {
        match (&self.gamma1, &self.gamma2) {
            (Some(Penalty::Value(kernels)), Some(Penalty::Value(diagonal))) => {
                Some(Penalties { kernels: *kernels, diagonal: *diagonal })
            }
            _ => None,
        }
    }

    /// Rejects parameters about features if no kernel is of a single feature.
    fn check_features(&self, features: &[Option<usize>]) -> Result<()> {
        let (none, default) = (features.iter().all(Option::is_none), Self::default());
        let why = "no kernel is of a single feature";
        check_effects(&[
            ("threshold", none && self.threshold != default.threshold, why),
            ("group", none && self.group != default.group, why),
        ])
    }

    /// Designs from triplets of row indices of `data`.
    pub fn design(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Designed> {
        self.design_on(data, triplets, None, ctx)
    }

    /// Draws `n` triplets from the target of `data`. The choice of penalties draws as many within either half of the rows.
    pub fn design_from_target(&self, data: &Dataset, n: usize, ctx: &Context) -> Result<Designed> {
        let rows: Vec<usize> = (0..data.n()).collect();
        let triplets = from_target(data.target(), &rows, n, ctx)?;
        self.design_on(data, &triplets, Some(n), ctx)
    }

    /// `drawn` is the number of triplets if they are drawn from the target.
    fn design_on(
        &self,
        data: &Dataset,
        triplets: &[Triplet],
        drawn: Option<usize>,
        ctx: &Context,
    ) -> Result<Designed> {
        self.validate()?;
        data.need_complete(NAME)?;
        let report = check(triplets, data.n())?;
        let rows = points(triplets);
        // The choice of penalties also keeps the rows of either half.
        let copies = if self.given_penalties().is_some() { 2.0 } else { 3.0 };
        let bytes = copies * data.x().bytes_of(rows.len()) + self.bases.bytes(data.d());
        let ctx = &ctx.hold("the rows of the triplets", bytes, "give fewer triplets or columns")?;
        let bases = self.bases.resolve(&data.x().take_rows(&rows), &data.groups(), ctx.seed)?;
        let psd = self.psd.for_kernels(&bases)?;
        let features: Vec<Option<usize>> = bases.iter().map(|base| base.feature).collect();
        let similarity = |triplets: &[Triplet]| {
            let (kept, index) = distinct_rows(data.x(), &points(triplets));
            let triplets = triplets.iter().map(|triplet| triplet.map(|row| index[&row])).collect();
            Ok((Similarity::of_kernels(&bases, data.x().take_rows(&kept))?, triplets))
        };
        let halves = |repeat: u64| {
            let seed = ctx.seed.wrapping_add(repeat);
            match drawn {
                None => tune::halves(triplets, seed, ctx),
                Some(n) => {
                    let fold = split_points(data.n(), 0.5, seed)?;
                    let draw =
                        |rows: &[usize]| from_target(data.target(), rows, n, &Context { seed, ..*ctx });
                    match (draw(&fold.train), draw(&fold.test)) {
                        (Ok(train), Ok(test)) => Ok(Halves { train, test }),
                        // A rare class may lie on one side only.
                        _ => tune::halves(triplets, seed, ctx),
                    }
                }
            }
        };
        let input =
            Input { psd, features: &features, triplets, report, similarity: &similarity, halves: &halves };
        let mixture = self.mix(&input, ctx)?;
        Ok(Designed::new(bases, mixture, &data.groups()))
    }

    /// Learns the weights of kernels given by their Gram matrices over all rows; `features` holds the feature that each kernel
    /// sees, if it sees only one. Ignores [`KernelDesign::bases`].
    pub fn weigh(
        &self,
        grams: &[Array2<f64>],
        features: &[Option<usize>],
        triplets: &[Triplet],
        ctx: &Context,
    ) -> Result<Mixture> {
        let places: Vec<usize> = (0..grams.first().map_or(0, |gram| gram.nrows())).collect();
        self.weigh_placed(grams, features, &places, triplets, ctx)
    }

    /// As [`KernelDesign::weigh`], where row `r` of the triplets is row `places[r]` of the Gram matrices. This merges equal rows.
    pub fn weigh_placed(
        &self,
        grams: &[Array2<f64>],
        features: &[Option<usize>],
        places: &[usize],
        triplets: &[Triplet],
        ctx: &Context,
    ) -> Result<Mixture> {
        self.validate()?;
        let n = check_grams(grams, features)?;
        if let Some(&invalid) = places.iter().find(|&&at| at >= n) {
            return Err(Error::Shape {
                what: "places of rows in Gram matrices".into(),
                expected: format!("below {n}"),
                got: invalid.to_string(),
            });
        }
        let report = check(triplets, places.len())?;
        let rows_of = |triplets: &[Triplet]| -> Vec<usize> {
            let mut rows: Vec<usize> = points(triplets).into_iter().map(|row| places[row]).collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        };
        let psd = self.psd.for_grams(grams, &rows_of(triplets))?;
        let similarity = |triplets: &[Triplet]| {
            let rows = rows_of(triplets);
            let index: HashMap<usize, usize> = rows.iter().enumerate().map(|(at, &row)| (row, at)).collect();
            let triplets = triplets.iter().map(|triplet| triplet.map(|row| index[&places[row]])).collect();
            Ok((Similarity::of_grams(grams, rows)?, triplets))
        };
        let halves = |repeat: u64| tune::halves(triplets, ctx.seed.wrapping_add(repeat), ctx);
        let input = Input { psd, features, triplets, report, similarity: &similarity, halves: &halves };
        self.mix(&input, ctx)
    }

    fn mix(&self, input: &Input, ctx: &Context) -> Result<Mixture> {
        self.check_features(input.features)?;
        if let Some(warning) = input.report.warning() {
            ctx.warn(warning);
        }
        let (penalties, trials) = self.choose_penalties(input, ctx)?;
        let mut problem = self.problem(input, input.triplets)?;
        let all: Vec<usize> = (0..input.features.len()).collect();
        let mut solved = problem.solve(penalties, &all, ctx)?;
        let bounds = solved.bounds.clone();
        let kept = self.kept(input.features, &solved.weights);
        let mut is_kept = vec![false; all.len()];
        kept.iter().for_each(|&p| is_kept[p] = true);
        if solved.weights.iter().zip(&is_kept).any(|(weight, kept)| *weight != 0.0 && !kept) {
            let first = solved.status;
            solved = Solved { bounds, ..problem.solve(penalties, &kept, ctx)? };
            if !first.converged() {
                solved.status = first;
            }
        }
        // The solver's own objective includes weights that were set to zero.
        let objective = problem.objective(penalties, &solved.weights, solved.noise)?;
        Ok(Mixture {
            alpha: solved.weights,
            scales: problem.similarity.scales.clone(),
            noise: solved.noise,
            psd: input.psd,
            penalties,
            trials,
            objective,
            bounds: solved.bounds,
            cuts: solved.cuts,
            points: problem.similarity.n,
            triplets: input.report,
            status: solved.status,
        })
    }

    fn choose_penalties(&self, input: &Input, ctx: &Context) -> Result<(Penalties, Vec<Trial>)> {
        if let Some(penalties) = self.given_penalties() {
            return Ok((penalties, vec![]));
        }
        let (mut grid, mut trials): (Vec<Penalties>, Vec<Trial>) = (vec![], vec![]);
        for repeat in 0..self.repeats {
            let halves = (input.halves)(repeat as u64)?;
            let mut problem = self.problem(input, &halves.train)?;
            let (mut validation, test) = (input.similarity)(&halves.test)?;
            validation.scales.clone_from(&problem.similarity.scales);
            let margins_of = |p: usize| validation.margins(p, &test);
            if grid.is_empty() {
                let of =
                    |penalty: &Option<Penalty>| penalty.as_ref().map(|penalty| penalty.values().to_vec());
                grid = tune::grid(of(&self.gamma1), of(&self.gamma2), &problem, ctx)?;
            }
            let tried = tune::try_all(&mut problem, &grid, &margins_of, test.len(), ctx)?;
            if trials.is_empty() {
                trials = tried;
            } else {
                trials.iter_mut().zip(tried).for_each(|(sum, trial)| sum.accuracy += trial.accuracy);
            }
        }
        trials.iter_mut().for_each(|trial| trial.accuracy /= self.repeats as f64);
        Ok((tune::best(&trials), trials))
    }

    fn problem<'k>(&self, input: &Input<'_, 'k>, triplets: &[Triplet]) -> Result<Problem<'k>> {
        let (similarity, triplets) = (input.similarity)(triplets)?;
        Ok(Problem {
            similarity,
            groups: self.group.groups(input.features),
            triplets,
            psd: input.psd,
            tolerance: self.tol,
            max_rounds: self.max_rounds,
            cuts: None,
        })
    }

    /// The kernels without those of features whose weights are below the threshold.
    fn kept(&self, features: &[Option<usize>], weights: &[f64]) -> Vec<usize> {
        let mut by_feature: HashMap<usize, f64> = HashMap::new();
        for (feature, weight) in features.iter().zip(weights) {
            if let Some(j) = feature {
                let largest = by_feature.entry(*j).or_default();
                *largest = largest.max(weight.abs());
            }
        }
        let largest = weights.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        (0..weights.len())
            .filter(|&p| features[p].is_none_or(|j| by_feature[&j] > self.threshold * largest))
            .collect()
    }
}
