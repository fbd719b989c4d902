//! Hyperparameter search by cross-validation within the training data.
//!
//! **Gamma**: selects the kernel's gamma with the best accuracy; everything else is unchanged.
//!
//! **Everything**: selects gamma, power of the weights, number of directions and number of neighbors together.
//! Forward selection uses balanced stumps and their own errors, so that useless directions get almost no weight.
//! With few samples the best of many settings is selected partly by chance. Therefore the unweighted nearest
//! neighbor in all of kernel space is used unless the best setting beats it by 1.645 standard errors.
//!
//! Folds are stratified. Everything is refitted in every fold, except the center of the gamma grid, which depends
//! on the training samples but not on their classes. Large data sets are subsampled, and settings too large for a
//! fold are reduced.

use super::fold::Fold;
use super::selector::{KernelSpaceSelector, NAME, Tune};
use crate::basis::{Basis, BasisMethod, Threshold};
use crate::context::{Context, Quiet};
use crate::data::{Classes, Dataset, Fold as Split, inner_folds};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::random::Rng;
use crate::select::{FeatureCount, Ffs, SelectorMethod, WeakLearner, WeightRule};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicUsize};

/// Grid of gamma, relative to the kernel's default.
const GAMMA_FACTORS: [f64; 7] = [1.0 / 256.0, 1.0 / 64.0, 1.0 / 16.0, 1.0 / 4.0, 1.0, 4.0, 16.0];
/// Powers of the weights; 0 weights all directions equally.
const POWERS: [f64; 3] = [0.0, 1.0, 2.0];
/// Numbers of neighbors.
const NEIGHBORS: [usize; 6] = [1, 3, 5, 9, 15, 21];
const N_FOLDS: usize = 5;
/// Cross-validation is repeated until about this many samples have been predicted, at most [`MAX_REPEATS`] times.
const MIN_PREDICTIONS: usize = 2500;
const MAX_REPEATS: usize = 5;
/// Maximum number of samples used.
const MAX_SAMPLES: usize = 2000;
/// Maximum number of directions, if none is given.
const MAX_COMPONENTS: usize = 256;
/// The same for the unweighted nearest neighbor, where they represent all of kernel space.
const MAX_UNWEIGHTED_COMPONENTS: usize = 1000;
/// Standard errors by which the best setting must beat the unweighted nearest neighbor: one-sided 5 %.
const MIN_STANDARD_ERRORS: f64 = 1.645;

/// The settings to fit with, and how many directions to select.
pub(super) fn tuned(
    space: &KernelSpaceSelector,
    data: &Dataset,
    wanted: FeatureCount,
    ctx: &Context,
) -> Result<(KernelSpaceSelector, FeatureCount)> {
    let quiet = Quiet(ctx.observer);
    let inner = Context { observer: &quiet, ..*ctx };
    let kernel = space.basis.kernel().resolve(data.x(), &inner)?;
    if kernel.gamma().is_none() {
        return Err(Error::param(NAME, "tune", "left out for a kernel without gamma", kernel.describe()));
    }
    let classes = data.classes(NAME)?;
    if classes.counts().iter().filter(|&&count| count > 1).count() < 2 {
        ctx.warn("too few rows of each class to tune by cross-validation; the settings are unchanged; add rows, or do not tune");
        return Ok((KernelSpaceSelector { tune: Tune::Nothing, ..space.clone() }, wanted));
    }
    let data = data.take_rows(&sample(classes, ctx));
    let classes = data.classes(NAME)?;
    let mut rng = Rng::stream(ctx.seed, "inner folds");
    let repeats =
        if space.tune == Tune::Gamma { 1 } else { (MIN_PREDICTIONS / data.n()).clamp(1, MAX_REPEATS) };
    let splits =
        (0..repeats).flat_map(|_| inner_folds(&data, classes, N_FOLDS.min(data.n()), &mut rng)).collect();
    let search = Search { space, kernel, data: &data, splits, wanted, ctx, inner };
    if space.tune == Tune::Gamma { search.gamma() } else { search.everything() }
}

/// A stratified subsample if there are many samples, with at least two of each rare class.
fn sample(classes: &Classes, ctx: &Context) -> Vec<usize> {
    let n = classes.codes.len();
    if n <= MAX_SAMPLES {
        return (0..n).collect();
    }
    let mut rng = Rng::stream(ctx.seed, "tuning rows");
    let mut rows = vec![];
    for (class, count) in classes.counts().into_iter().enumerate() {
        let members: Vec<usize> = (0..n).filter(|&row| classes.codes[row] == class).collect();
        let wanted = (MAX_SAMPLES as f64 * count as f64 / n as f64).round() as usize;
        rows.extend(rng.sample(count, wanted.max(2)).into_iter().map(|place| members[place]));
    }
    rows.sort_unstable();
    rows
}

struct Search<'a> {
    space: &'a KernelSpaceSelector,
    /// The kernel with its default gamma.
    kernel: Kernel,
    data: &'a Dataset,
    splits: Vec<Split>,
    wanted: FeatureCount,
    ctx: &'a Context<'a>,
    /// Context of the inner fits, without their progress and warnings.
    inner: Context<'a>,
}

/// Which test samples of a fold were predicted correctly, by candidate.
struct Evaluated {
    plain: Vec<bool>,
    candidates: Vec<(Candidate, Vec<bool>)>,
}

impl Search<'_> {
    /// The gamma with the best accuracy; ties are broken by the distance from the kernel's default.
    fn gamma(&self) -> Result<(KernelSpaceSelector, FeatureCount)> {
        let evaluated = self.evaluate_all(&|train, test, step| {
            let mut candidates = vec![];
            for factor in GAMMA_FACTORS {
                step()?;
                let space = self.with_gamma(factor);
                let fold = self.fold(&space, train, test, self.wanted)?;
                let correct =
                    fold.correct(fold.count, space.weight_power, &[space.n_neighbors])?.swap_remove(0);
                let has_enough = fold.has_enough;
                candidates.push((Candidate { factor, has_enough, ..Candidate::default() }, correct));
            }
            Ok(Evaluated { plain: vec![], candidates })
        })?;
        let away = |c: &Candidate| c.factor.ln().abs();
        let (best, _) = self.best(&evaluated, |a, b| away(a).total_cmp(&away(b)));
        self.ctx.note(format!("tuned by cross-validation: {}", self.kernel_at(best.factor).describe()));
        Ok((self.with_gamma(best.factor), self.wanted))
    }

    fn everything(&self) -> Result<(KernelSpaceSelector, FeatureCount)> {
        let smallest = self.splits.iter().map(|split| split.train.len()).min().unwrap_or(1);
        let neighbors: Vec<usize> = NEIGHBORS.into_iter().filter(|&k| k == 1 || k <= smallest).collect();
        let plain = self.plain();
        let evaluated = self.evaluate_all(&|train, test, step| {
            // If all directions are kept, no ranking is needed.
            let all = self.wanted == FeatureCount::Auto;
            let unranked = KernelSpaceSelector { selector: None, ..plain.clone() };
            let ranked = if all { &unranked } else { &plain };
            let fold = self.fold(ranked, train, test, self.all_or_wanted())?;
            let plain = fold.correct(fold.count, 0.0, &[1])?.swap_remove(0);
            let mut candidates = vec![];
            for factor in GAMMA_FACTORS {
                step()?;
                let fold = self.fold(&self.candidate(factor), train, test, self.all_or_wanted())?;
                let has_enough = fold.has_enough;
                let mut evaluate = |auto: bool, count: usize| -> Result<()> {
                    for power in POWERS {
                        let correct = fold.correct(count, power, &neighbors)?;
                        candidates.extend(neighbors.iter().zip(correct).map(|(&n_neighbors, correct)| {
                            (Candidate { auto, power, factor, n_neighbors, has_enough }, correct)
                        }));
                    }
                    Ok(())
                };
                evaluate(false, fold.count)?;
                if all {
                    evaluate(true, fold.auto_count)?;
                }
            }
            Ok(Evaluated { plain, candidates })
        })?;
        let (best, hits) = self.best(&evaluated, Candidate::simpler);
        let number =
            if self.wanted == FeatureCount::Auto { "all directions" } else { "given number of directions" };
        if !clearly_better(&hits, &self.hits(&evaluated, |evaluated| &evaluated.plain)) {
            self.ctx.note(format!("tuned by cross-validation: unweighted nearest neighbor, {number}"));
            return Ok((plain, self.all_or_wanted()));
        }
        self.ctx.note(format!(
            "tuned by cross-validation: {}, weights to the power {}, {} neighbors, {}",
            self.kernel_at(best.factor).describe(),
            best.power,
            best.n_neighbors,
            if best.auto { "automatic number of directions" } else { number },
        ));
        let space = KernelSpaceSelector {
            weight_power: best.power,
            n_neighbors: best.n_neighbors,
            ..self.candidate(best.factor)
        };
        Ok((space, if best.auto { FeatureCount::Auto } else { self.all_or_wanted() }))
    }

    fn fold(
        &self,
        space: &KernelSpaceSelector,
        train: &Dataset,
        test: &[usize],
        wanted: FeatureCount,
    ) -> Result<Fold<'_>> {
        Fold::new(space, train, (self.data, test), wanted, &self.inner)
    }

    /// Evaluates all folds, several at a time.
    fn evaluate_all(
        &self,
        evaluate: &(impl Fn(&Dataset, &[usize], &dyn Fn() -> Result<()>) -> Result<Evaluated> + Sync),
    ) -> Result<Vec<Evaluated>> {
        let done = AtomicUsize::new(0);
        let step = || {
            let done = done.fetch_add(1, atomic::Ordering::Relaxed);
            self.ctx.step("tuning", done, self.splits.len() * GAMMA_FACTORS.len())
        };
        self.splits
            .par_iter()
            .map(|split| evaluate(&self.data.take_rows(&split.train), &split.test, &step))
            .collect()
    }

    /// How often each sample was predicted correctly, over the repeats.
    fn hits<'j>(&self, evaluated: &'j [Evaluated], pick: impl Fn(&'j Evaluated) -> &'j [bool]) -> Vec<u16> {
        let mut hits = vec![0; self.data.n()];
        for (split, evaluated) in self.splits.iter().zip(evaluated) {
            split
                .test
                .iter()
                .zip(pick(evaluated))
                .for_each(|(&row, &correct)| hits[row] += u16::from(correct));
        }
        hits
    }

    /// The candidate with the most correct predictions, and these; ties are broken by `order`. Candidates with
    /// fewer directions than requested in some fold come last; among those the one with the largest gamma, which
    /// has the most directions, is preferred.
    fn best(
        &self,
        evaluated: &[Evaluated],
        order: impl Fn(&Candidate, &Candidate) -> Ordering,
    ) -> (Candidate, Vec<u16>) {
        let evaluated_of = |c: usize| -> (Candidate, Vec<u16>, u64) {
            let has_enough = evaluated.iter().all(|fold| fold.candidates[c].0.has_enough);
            let hits = self.hits(evaluated, |fold| &fold.candidates[c].1);
            let total = hits.iter().map(|&h| u64::from(h)).sum();
            (Candidate { has_enough, ..evaluated[0].candidates[c].0 }, hits, total)
        };
        let better = |a: &(Candidate, Vec<u16>, u64), b: &(Candidate, Vec<u16>, u64)| {
            let by_size = if a.0.has_enough { Ordering::Equal } else { b.0.factor.total_cmp(&a.0.factor) };
            b.0.has_enough.cmp(&a.0.has_enough).then(by_size).then(b.2.cmp(&a.2)).then(order(&a.0, &b.0))
        };
        let candidates = 0..evaluated[0].candidates.len();
        let best = candidates.map(evaluated_of).min_by(better).expect("the grid is not empty");
        (best.0, best.1)
    }

    fn kernel_at(&self, factor: f64) -> Kernel {
        let mut kernel = self.kernel.clone();
        if let Some(gamma) = kernel.gamma_mut() {
            *gamma *= factor;
        }
        kernel
    }

    fn with_gamma(&self, factor: f64) -> KernelSpaceSelector {
        let mut space = KernelSpaceSelector { tune: Tune::Nothing, ..self.space.clone() };
        *space.basis.kernel_mut() = self.kernel_at(factor).into();
        space
    }

    /// The settings common to all candidates.
    fn candidate(&self, factor: f64) -> KernelSpaceSelector {
        let mut space = self.with_gamma(factor);
        if let Some(SelectorMethod::Ffs(ffs)) = &mut space.selector {
            *ffs = Ffs {
                weak_learner: WeakLearner::BalancedStump,
                weights: WeightRule::Individual,
                ..Ffs::default()
            };
        }
        self.limit(&mut space, MAX_COMPONENTS);
        space
    }

    /// One neighbor, no weights, as many directions as possible.
    fn plain(&self) -> KernelSpaceSelector {
        let mut space = self.candidate(1.0);
        *space.basis.n_components_mut() = self.space.basis.n_components();
        if let BasisMethod::Kobl(kobl) = &mut space.basis {
            kobl.threshold = Threshold::None;
            kobl.tol = 0.0;
        }
        self.limit(&mut space, MAX_UNWEIGHTED_COMPONENTS);
        KernelSpaceSelector { weight_power: 0.0, n_neighbors: 1, ..space }
    }

    /// Limits the number of directions, unless the user gave one.
    fn limit(&self, space: &mut KernelSpaceSelector, most: usize) {
        let most = match self.wanted {
            FeatureCount::Count(k) => most.max(k),
            _ => most,
        };
        let limit = space.basis.n_components_mut();
        if limit.is_none()
            && self.data.n() > most
            && !matches!(self.space.basis, BasisMethod::Discriminant(_))
        {
            *limit = Some(most);
        }
    }

    /// The number of directions unless the selector chooses it automatically.
    fn all_or_wanted(&self) -> FeatureCount {
        if self.wanted == FeatureCount::Auto { FeatureCount::Fraction(1.0) } else { self.wanted }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Candidate {
    /// Whether the selector chooses the number of directions automatically.
    auto: bool,
    power: f64,
    factor: f64,
    n_neighbors: usize,
    /// Whether there are as many directions as requested.
    has_enough: bool,
}

impl Candidate {
    /// Smallest power, widest kernel, fewest neighbors, all directions kept.
    fn simpler(&self, other: &Self) -> Ordering {
        self.power
            .total_cmp(&other.power)
            .then(self.factor.total_cmp(&other.factor))
            .then(self.n_neighbors.cmp(&other.n_neighbors))
            .then(self.auto.cmp(&other.auto))
    }
}

/// Whether the mean number of correct predictions is higher by more than [`MIN_STANDARD_ERRORS`] standard errors.
fn clearly_better(best: &[u16], plain: &[u16]) -> bool {
    let n = best.len() as f64;
    let gains: Vec<f64> = best.iter().zip(plain).map(|(&a, &b)| f64::from(a) - f64::from(b)).collect();
    let mean = gains.iter().sum::<f64>() / n;
    let variance = gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    mean > MIN_STANDARD_ERRORS * (variance / n).sqrt()
}
