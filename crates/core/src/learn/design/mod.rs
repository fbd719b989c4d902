//! Kernel design by linear programming: a mixture of kernels that agrees with statements "i is more like j than k".
//!
//! Of base kernels $K_1 \dots K_k$, each scaled to a mean of 1 on the diagonal, the weights of $K = \sum_p \alpha_p K_p$ solve
//!
//! $$\min \frac1T \sum_t e_t + \gamma_1 \sum_g s_g + \gamma_2 \operatorname{mean}\_i K_{ii} \quad\text{s.t.}\quad K_{ij} - K_{ik} + e_t \ge 1,\ e_t \ge 0,
//! |\alpha_p| \le s_{g(p)}$$
//!
//! with a group for each kernel (the paper's programme 4) or for each column (its programme 7, which selects columns), and a
//! condition that makes the mixture positive semidefinite, see [`Psd`]. The paper asks for diagonal dominance by $n^2$
//! auxiliary variables; here it is a cut for each row and pattern of signs, added where the mixture breaks it, and the same
//! optimum is reached with a programme of $T + \text{cuts}$ rows and $k$ unknowns.
//!
//! Steps: (1) the rows that triples name, equal ones as one; (2) base kernels, widths from their distances; (3) penalties by
//! halves of the rows, unless given; (4) rounds of an interior point ([`HingeProgram`](crate::optim::HingeProgram)) and of cuts; (5) columns
//! whose largest weight is below a threshold leave, and the programme is solved again without them; (6) what is left
//! of the condition is mended by white noise, reported apart.
//!
//! Departures from the paper. Objectives are means, not sums, so that penalties keep their meaning when there are more rows or
//! triples ($\gamma_1$ of the paper is $T \gamma_1$, its $\gamma_2$ is $T \gamma_2 / n$). With weak Gaussian kernels dominance has only the zero
//! solution on all but tiny sets of rows; it is there as [`Psd::StrictDominance`] and says so.
//!
//! Cost: $O((T + m) k^2)$ per iteration of the solver for $m$ cuts, some 20 iterations a round, 5 to 20 rounds; $n^2 k$ kernel values a round
//! with dominance, none with [`Psd::NonNegative`]. Memory $O((T + m) k)$, and $O(n^2)$ with cuts.
//!
//! Reference: Fung, Rosales, Rao, *Feature selection and kernel design via linear programming*, IJCAI 2007.

mod bases;
mod cuts;
mod likeness;
mod penalties;
mod rounds;
#[cfg(all(test, feature = "datasets"))]
mod tests;
mod tune;

pub use bases::{Base, Bases, Form, Widths};
pub use penalties::{Choice, Penalties, Trial};

use super::learner::{KernelLearner, Learned, Status};
use crate::context::Context;
use crate::data::triplets::{TripletReport, check, from_target, points, split_points};
use crate::data::{Dataset, Triplet};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::symmetric_eigen;
use likeness::{Likeness, distinct};
use ndarray::Array2;
use rounds::{Problem, Solved};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

const NAME: &str = "design";

/// What makes the mixture positive semidefinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Psd {
    /// [`Psd::NonNegative`] if all base kernels are semidefinite, else [`Psd::DominanceWithNoise`].
    Auto,
    /// No weight is negative: a mixture of semidefinite kernels is semidefinite everywhere.
    NonNegative,
    /// The mixture with white noise added is diagonally dominant on the rows that triples name; noise pays like
    /// any diagonal, so the penalty falls on the largest lack of dominance.
    DominanceWithNoise,
    /// No eigenvalue of the mixture on these rows is negative.
    EigenCuts,
    /// The mixture itself is diagonally dominant, as the paper has it.
    StrictDominance,
}

/// All ways, with the names used outside.
pub const PSD: &[(&str, Psd)] = &[
    ("auto", Psd::Auto),
    ("nonnegative", Psd::NonNegative),
    ("dominance_with_noise", Psd::DominanceWithNoise),
    ("eigen_cuts", Psd::EigenCuts),
    ("strict_dominance", Psd::StrictDominance),
];

impl Psd {
    /// The name used outside.
    pub fn name(self) -> &'static str {
        PSD.iter().find(|(_, psd)| *psd == self).map_or("", |(name, _)| name)
    }
}

/// What pays together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// All kernels of one column, by the largest of their weights (7); a kernel of all columns by itself.
    #[default]
    Column,
    /// Each kernel by itself (4).
    Kernel,
}

/// Learns a mixture of kernels from triples; see the [module](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelDesign {
    /// The kernels that are mixed.
    pub bases: Bases,
    /// What makes the mixture positive semidefinite.
    pub psd: Psd,
    /// What pays together.
    pub grouping: Grouping,
    /// Where the penalties come from.
    pub penalties: Choice,
    /// Columns whose largest weight is at most this share of the largest of all leave the mixture; 0 keeps every
    /// column with a weight.
    pub threshold: f64,
    /// The relative gap between the objective and the proven bound at which the solver stops.
    pub tolerance: f64,
    /// Most rounds of cuts.
    pub max_rounds: usize,
}

impl Default for KernelDesign {
    fn default() -> Self {
        Self {
            bases: Bases::default(),
            psd: Psd::Auto,
            grouping: Grouping::Column,
            penalties: Choice::default(),
            threshold: 0.01,
            tolerance: 1e-8,
            max_rounds: 200,
        }
    }
}

/// The weights of a mixture, and how they were found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixture {
    /// The weight of each base kernel, scaled to a mean of 1 on the diagonal.
    pub alpha: Vec<f64>,
    /// What each base kernel is multiplied by for that; the mixture is the sum of `alpha * scale * kernel`.
    pub scales: Vec<f64>,
    /// The weight of white noise that makes the mixture semidefinite on the rows; 0 where it is so without.
    pub noise: f64,
    /// How the mixture is made semidefinite.
    pub psd: Psd,
    /// The penalties used.
    pub penalties: Penalties,
    /// All that were tried.
    pub trials: Vec<Trial>,
    /// The objective of the mixture.
    pub objective: f64,
    /// The proven bound on the objective of any mixture after each round; it never falls.
    pub bounds: Vec<f64>,
    /// Cuts in the last round.
    pub cuts: usize,
    /// Different rows that triples name.
    pub points: usize,
    /// What was said of the triples.
    pub triplets: TripletReport,
    /// How the search ended.
    pub status: Status,
}

/// Base kernels on the rows that triples name, and the triples as places among these.
type Points<'a> = (Likeness<'a>, Vec<Triplet>);

/// A designed kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Designed {
    /// The kernel itself.
    pub learned: Learned,
    /// The kernels that were mixed.
    pub bases: Vec<Base>,
    /// Their weights.
    pub mixture: Mixture,
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
    /// Refuses parameters outside their range.
    pub fn validate(&self) -> Result<()> {
        self.bases.check()?;
        if !(0.0..1.0).contains(&self.threshold) {
            return Err(Error::param(NAME, "threshold", "0 or more and below 1", self.threshold));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::param(NAME, "tolerance", "between 0 and 1", self.tolerance));
        }
        if self.max_rounds == 0 {
            return Err(Error::param(NAME, "max_rounds", "1 or more", 0));
        }
        self.penalties.check()
    }

    /// Designs from triples of row numbers of `data`.
    pub fn design(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Designed> {
        self.design_on(data, triplets, None, ctx)
    }

    /// Draws `n` triples from the target of `data`, and where penalties are chosen draws as many anew within the halves
    /// of the rows.
    pub fn design_from_target(&self, data: &Dataset, n: usize, ctx: &Context) -> Result<Designed> {
        let rows: Vec<usize> = (0..data.n()).collect();
        let triplets = from_target(data.target(), &rows, n, ctx.seed)?;
        self.design_on(data, &triplets, Some(n), ctx)
    }

    fn design_on(
        &self,
        data: &Dataset,
        triplets: &[Triplet],
        anew: Option<usize>,
        ctx: &Context,
    ) -> Result<Designed> {
        self.validate()?;
        data.need_complete(NAME)?;
        let report = check(triplets, data.n())?;
        // And where penalties are chosen, those of either half.
        let rows = points(triplets);
        let copies = if matches!(self.penalties, Choice::Given(_)) { 2.0 } else { 3.0 };
        let bytes = copies * data.x().bytes_of(rows.len()) + self.bases.bytes(data.d());
        let ctx = &ctx.hold("the rows of the triples", bytes, "give fewer triples or columns")?;
        let bases = self.bases.resolve(&data.x().take_rows(&rows), ctx.seed)?;
        let psd = self.resolved_psd(&bases)?;
        let groups = groups(bases.iter().map(|base| base.feature), self.grouping);
        let make = |triplets: &[Triplet]| -> Result<Points> {
            let (kept, place) = distinct(data.x(), &points(triplets));
            Ok((Likeness::of_kernels(&bases, data.x().take_rows(&kept))?, placed(triplets, &place)))
        };
        let halves = |repeat: u64| match anew {
            None => tune::halves(triplets, ctx.seed.wrapping_add(repeat), ctx),
            Some(n) => {
                let seed = ctx.seed.wrapping_add(repeat);
                let fold = split_points(data.n(), 0.5, seed)?;
                let draw = |rows: &[usize]| from_target(data.target(), rows, n, seed);
                match (draw(&fold.train), draw(&fold.test)) {
                    (Ok(train), Ok(test)) => Ok(tune::Halves { train, test }),
                    // A rare class may lie on one side alone.
                    _ => tune::halves(triplets, seed, ctx),
                }
            }
        };
        let features: Vec<Option<usize>> = bases.iter().map(|base| base.feature).collect();
        let mixture = self.mix(psd, &groups, &features, triplets, report, &make, &halves, ctx)?;
        let learned = learned(&bases, &mixture, data.d());
        Ok(Designed { learned, bases, mixture })
    }

    /// Weighs kernels that are given by their Gram matrices over all rows; `features` names the column that a kernel sees,
    /// if it sees one. [`KernelDesign::bases`] plays no part.
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

    /// As [`KernelDesign::weigh`], where row `r` of the triples is row `places[r]` of the Gram matrices: rows that are equal
    /// then count once.
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
        if let Some(&wrong) = places.iter().find(|&&at| at >= n) {
            return Err(Error::Shape {
                what: "places of rows in Gram matrices".into(),
                expected: format!("below {n}"),
                got: wrong.to_string(),
            });
        }
        let report = check(triplets, places.len())?;
        let named = |triplets: &[Triplet]| -> Vec<usize> {
            let mut rows: Vec<usize> = points(triplets).into_iter().map(|row| places[row]).collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        };
        let psd = match self.psd {
            Psd::Auto | Psd::NonNegative => {
                let rows = named(triplets);
                let all =
                    grams.iter().map(|gram| is_semidefinite(gram, &rows)).collect::<Result<Vec<_>>>()?;
                match (self.psd, all.iter().position(|is| !is)) {
                    (_, None) => Psd::NonNegative,
                    (Psd::Auto, _) => Psd::DominanceWithNoise,
                    (_, Some(p)) => return Err(not_semidefinite(p, "given by its Gram matrix")),
                }
            }
            other => other,
        };
        let groups = groups(features.iter().copied(), self.grouping);
        let make = |triplets: &[Triplet]| -> Result<Points> {
            let rows = named(triplets);
            let at: HashMap<usize, usize> = rows.iter().enumerate().map(|(at, &row)| (row, at)).collect();
            let placed = triplets.iter().map(|triplet| triplet.map(|row| at[&places[row]])).collect();
            Ok((Likeness::of_grams(grams, rows)?, placed))
        };
        let halves = |repeat: u64| tune::halves(triplets, ctx.seed.wrapping_add(repeat), ctx);
        self.mix(psd, &groups, features, triplets, report, &make, &halves, ctx)
    }

    #[allow(clippy::too_many_arguments, reason = "two callers, next to it")]
    fn mix<'a>(
        &self,
        psd: Psd,
        groups: &[usize],
        features: &[Option<usize>],
        triplets: &[Triplet],
        report: TripletReport,
        make: &dyn Fn(&[Triplet]) -> Result<Points<'a>>,
        halves: &dyn Fn(u64) -> Result<tune::Halves>,
        ctx: &Context,
    ) -> Result<Mixture> {
        if let Some(warning) = report.warning() {
            ctx.warn(warning);
        }
        let problem = |triplets: &[Triplet]| -> Result<Problem<'a>> {
            let (likeness, triplets) = make(triplets)?;
            let (tolerance, max_rounds) = (self.tolerance, self.max_rounds);
            Ok(Problem {
                likeness,
                groups: groups.to_vec(),
                triplets,
                psd,
                tolerance,
                max_rounds,
                cuts: None,
            })
        };
        let (penalties, trials) = match self.penalties {
            Choice::Given(penalties) => (penalties, vec![]),
            Choice::Halves { repeats, .. } => {
                let (mut grid, mut trials): (Vec<Penalties>, Vec<Trial>) = (vec![], vec![]);
                for repeat in 0..repeats {
                    let halves = halves(repeat as u64)?;
                    let mut problem = problem(&halves.train)?;
                    let (mut judge, test) = make(&halves.test)?;
                    judge.scales.clone_from(&problem.likeness.scales);
                    let of = |p: usize| judge.margins(p, &test);
                    if grid.is_empty() {
                        grid = self.penalties.grid(&problem, ctx)?;
                    }
                    let tried = tune::try_all(&mut problem, &grid, &of, test.len(), ctx)?;
                    if trials.is_empty() {
                        trials = tried;
                    } else {
                        trials.iter_mut().zip(tried).for_each(|(sum, own)| sum.accuracy += own.accuracy);
                    }
                }
                trials.iter_mut().for_each(|trial| trial.accuracy /= repeats as f64);
                (tune::best(&trials), trials)
            }
        };
        let mut problem = problem(triplets)?;
        let all: Vec<usize> = (0..groups.len()).collect();
        let mut solved = problem.solve(penalties, &all, ctx)?;
        let bounds = solved.bounds.clone();
        let kept = self.kept(features, &solved.weights);
        let mut stays = vec![false; all.len()];
        kept.iter().for_each(|&p| stays[p] = true);
        if solved.weights.iter().zip(&stays).any(|(weight, stays)| *weight != 0.0 && !stays) {
            let first = solved.status;
            solved = Solved { bounds, ..problem.solve(penalties, &kept, ctx)? };
            if !first.converged() {
                solved.status = first;
            }
        }
        // Weights that an interior point leaves of 0 are gone by now.
        let objective = problem.objective(penalties, &solved.weights, solved.noise)?;
        Ok(Mixture {
            alpha: solved.weights,
            scales: problem.likeness.scales.clone(),
            noise: solved.noise,
            psd,
            penalties,
            trials,
            objective,
            bounds: solved.bounds,
            cuts: solved.cuts,
            points: problem.likeness.n,
            triplets: report,
            status: solved.status,
        })
    }

    /// The kernels without those of columns that hardly count.
    fn kept(&self, features: &[Option<usize>], weights: &[f64]) -> Vec<usize> {
        let mut by_column: HashMap<usize, f64> = HashMap::new();
        for (feature, weight) in features.iter().zip(weights) {
            if let Some(j) = feature {
                let largest = by_column.entry(*j).or_default();
                *largest = largest.max(weight.abs());
            }
        }
        let largest = weights.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        (0..weights.len())
            .filter(|&p| features[p].is_none_or(|j| by_column[&j] > self.threshold * largest))
            .collect()
    }

    fn resolved_psd(&self, bases: &[Base]) -> Result<Psd> {
        let first = bases.iter().position(|base| !base.kernel.is_semidefinite());
        match (self.psd, first) {
            (Psd::Auto, None) => Ok(Psd::NonNegative),
            (Psd::Auto, Some(_)) => Ok(Psd::DominanceWithNoise),
            (Psd::NonNegative, Some(p)) => Err(not_semidefinite(p, &bases[p].kernel.describe())),
            (other, _) => Ok(other),
        }
    }
}

fn not_semidefinite(p: usize, what: &str) -> Error {
    Error::param(
        NAME,
        "psd",
        "dominance_with_noise or eigen_cuts for kernels that are not positive semidefinite",
        format!("nonnegative with kernel {}, {what}", p + 1),
    )
}

/// A group for each kernel.
fn groups(features: impl Iterator<Item = Option<usize>>, grouping: Grouping) -> Vec<usize> {
    let (mut known, mut next) = (HashMap::new(), 0);
    let mut fresh = || {
        next += 1;
        next - 1
    };
    features
        .map(|feature| match (feature, grouping) {
            (Some(j), Grouping::Column) => *known.entry(j).or_insert_with(&mut fresh),
            _ => fresh(),
        })
        .collect()
}

fn placed(triplets: &[Triplet], place: &HashMap<usize, usize>) -> Vec<Triplet> {
    triplets.iter().map(|triplet| triplet.map(|row| place[&row])).collect()
}

/// The kernel that a mixture is.
fn learned(bases: &[Base], mixture: &Mixture, d: usize) -> Learned {
    let largest = mixture.alpha.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
    let mut scores = vec![0.0_f64; d];
    let mut parts = vec![];
    for ((base, &alpha), scale) in bases.iter().zip(&mixture.alpha).zip(&mixture.scales) {
        if alpha == 0.0 {
            continue;
        }
        parts.push((alpha * scale, base.kernel.clone()));
        let score = alpha.abs() / largest;
        match base.feature {
            Some(j) => scores[j] = scores[j].max(score),
            None => base.kernel.columns(d).into_iter().for_each(|j| scores[j] = scores[j].max(score)),
        }
    }
    if parts.is_empty() {
        // The kernel that is 0 everywhere.
        parts.push((0.0, bases[0].kernel.clone()));
    }
    Learned {
        method: NAME.into(),
        kernel: Kernel::Sum(parts),
        noise: mixture.noise,
        scores,
        status: mixture.status,
        iterations: mixture.bounds.len(),
    }
}

/// The number of rows that all Gram matrices have.
fn check_grams(grams: &[Array2<f64>], features: &[Option<usize>]) -> Result<usize> {
    let Some(first) = grams.first() else {
        return Err(Error::param(NAME, "kernels", "one kernel or more", "none"));
    };
    if features.len() != grams.len() {
        return Err(Error::Shape {
            what: "columns that kernels see".into(),
            expected: format!("one for each of {} kernels", grams.len()),
            got: features.len().to_string(),
        });
    }
    let n = first.nrows();
    for (p, gram) in grams.iter().enumerate() {
        if gram.dim() != (n, n) {
            return Err(Error::Shape {
                what: format!("the Gram matrix of kernel {}", p + 1),
                expected: format!("{n} x {n}"),
                got: format!("{} x {}", gram.nrows(), gram.ncols()),
            });
        }
        let size = gram.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let lopsided = gram.indexed_iter().any(|((i, j), v)| (v - gram[[j, i]]).abs() > 1e-9 * size);
        if lopsided || gram.iter().any(|v| !v.is_finite()) {
            return Err(Error::Shape {
                what: format!("the Gram matrix of kernel {}", p + 1),
                expected: "symmetric, of finite numbers".into(),
                got: "another".into(),
            });
        }
    }
    Ok(n)
}

fn is_semidefinite(gram: &Array2<f64>, rows: &[usize]) -> Result<bool> {
    let part = Array2::from_shape_fn((rows.len(), rows.len()), |(a, b)| gram[[rows[a], rows[b]]]);
    let values = symmetric_eigen(part.view())?.values;
    let (most, least) = (values[0], values[values.len() - 1]);
    // Rounding leaves about n ulps of the largest.
    Ok(least >= -1e-10 * most.abs())
}
