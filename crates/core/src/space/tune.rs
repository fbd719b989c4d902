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

use super::selector::{KernelSpaceSelector, NAME, Tune};
use crate::basis::{Basis, BasisMethod, Threshold};
use crate::classify::most_voted;
use crate::context::{Context, Quiet};
use crate::data::{Classes, Dataset, Fold as Split, stratified_folds};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::neighbors::{Neighbor, nearest};
use crate::random::Rng;
use crate::select::{
    FeatureCount, Ffs, Selection, Selector, SelectorMethod, WeakLearner, WeightRule, first_minimum,
};
use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicUsize};

/// Grid of gamma, relative to the kernel's default.
const WIDTHS: [f64; 7] = [1.0 / 256.0, 1.0 / 64.0, 1.0 / 16.0, 1.0 / 4.0, 1.0, 4.0, 16.0];
/// Powers of the weights; 0 weights all directions equally.
const POWERS: [f64; 3] = [0.0, 1.0, 2.0];
/// Numbers of neighbors.
const NEIGHBORS: [usize; 6] = [1, 3, 5, 9, 15, 21];
const FOLDS: usize = 5;
/// Cross-validation is repeated until about this many samples have been predicted, at most [`REPEATS`] times.
const PREDICTIONS: usize = 2500;
const REPEATS: usize = 5;
/// Maximum number of samples used.
const ROWS: usize = 2000;
/// Maximum number of directions, if none is given.
const COMPONENTS: usize = 256;
/// Number of directions that represent all of kernel space, if there are more.
const WHOLE: usize = 1000;
/// Standard errors by which the best setting must beat the unweighted nearest neighbor: one-sided 5 %.
const MARGIN: f64 = 1.645;

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
        ctx.warn("too few rows of each class to choose settings by; they stay as they are; add rows, or do not tune");
        return Ok((KernelSpaceSelector { tune: Tune::Nothing, ..space.clone() }, wanted));
    }
    let data = data.take_rows(&sample(classes, ctx));
    let classes = data.classes(NAME)?;
    let mut rng = Rng::stream(ctx.seed, "inner folds");
    let repeats = if space.tune == Tune::Gamma { 1 } else { (PREDICTIONS / data.n()).clamp(1, REPEATS) };
    let splits =
        (0..repeats).flat_map(|_| stratified_folds(classes, FOLDS.min(data.n()), &mut rng)).collect();
    let search = Search { space, kernel, data: &data, classes, splits, wanted, ctx, inner };
    if space.tune == Tune::Gamma { search.width() } else { search.everything() }
}

/// A stratified subsample if there are many samples, with at least two of each rare class.
fn sample(classes: &Classes, ctx: &Context) -> Vec<usize> {
    let n = classes.codes.len();
    if n <= ROWS {
        return (0..n).collect();
    }
    let mut rng = Rng::stream(ctx.seed, "tuning rows");
    let mut rows = vec![];
    for (class, count) in classes.counts().into_iter().enumerate() {
        let members: Vec<usize> = (0..n).filter(|&row| classes.codes[row] == class).collect();
        let share = (ROWS as f64 * count as f64 / n as f64).round() as usize;
        rows.extend(rng.sample(count, share.max(2)).into_iter().map(|place| members[place]));
    }
    rows.sort_unstable();
    rows
}

struct Search<'a> {
    space: &'a KernelSpaceSelector,
    /// The kernel with its default gamma.
    kernel: Kernel,
    data: &'a Dataset,
    classes: &'a Classes,
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
    fn width(&self) -> Result<(KernelSpaceSelector, FeatureCount)> {
        let evaluated = self.evaluate_all(&|train, test, step| {
            let mut candidates = vec![];
            for factor in WIDTHS {
                step()?;
                let space = self.with_width(factor);
                let fold = Fold::new(&space, self, train, test, self.wanted)?;
                let count = fold.selection.n_selected;
                let right = fold.right(count, space.weight_power, &[space.n_neighbors])?.swap_remove(0);
                candidates.push((Candidate { factor, reaches: fold.reaches, ..Candidate::default() }, right));
            }
            Ok(Evaluated { plain: vec![], candidates })
        })?;
        let away = |c: &Candidate| c.factor.ln().abs();
        let (best, _) = self.best(&evaluated, |a, b| away(a).total_cmp(&away(b)));
        self.ctx.note(format!("chosen inside the training rows: {}", self.kernel_at(best.factor).describe()));
        Ok((self.with_width(best.factor), self.wanted))
    }

    fn everything(&self) -> Result<(KernelSpaceSelector, FeatureCount)> {
        let smallest = self.splits.iter().map(|split| split.train.len()).min().unwrap_or(1);
        let neighbors: Vec<usize> = NEIGHBORS.into_iter().filter(|&k| k == 1 || k <= smallest).collect();
        let plain = self.plain();
        let evaluated = self.evaluate_all(&|train, test, step| {
            // If all directions are kept, no ranking is needed.
            let all = self.wanted == FeatureCount::Auto;
            let unranked = KernelSpaceSelector { selector: None, ..plain.clone() };
            let fold =
                Fold::new(if all { &unranked } else { &plain }, self, train, test, self.all_or_wanted())?;
            let plain = fold.right(fold.selection.n_selected, 0.0, &[1])?.swap_remove(0);
            let mut candidates = vec![];
            for factor in WIDTHS {
                step()?;
                let fold = Fold::new(&self.candidate(factor), self, train, test, self.all_or_wanted())?;
                let mut evaluate = |own_rule: bool, count: usize| -> Result<()> {
                    for power in POWERS {
                        let right = fold.right(count, power, &neighbors)?;
                        candidates.extend(neighbors.iter().zip(right).map(|(&n_neighbors, right)| {
                            let reaches = fold.reaches;
                            (Candidate { own_rule, power, factor, n_neighbors, reaches }, right)
                        }));
                    }
                    Ok(())
                };
                evaluate(false, fold.selection.n_selected)?;
                if all {
                    evaluate(true, fold.own_count)?;
                }
            }
            Ok(Evaluated { plain, candidates })
        })?;
        let (best, hits) = self.best(&evaluated, Candidate::simpler);
        if !clearly_better(&hits, &self.hits(&evaluated, |evaluated| &evaluated.plain)) {
            self.ctx.note("chosen inside the training rows: plain neighbors, all directions alike");
            return Ok((plain, self.all_or_wanted()));
        }
        self.ctx.note(format!(
            "chosen inside the training rows: {}, weights to the power {}, {} neighbors, {}",
            self.kernel_at(best.factor).describe(),
            best.power,
            best.n_neighbors,
            if best.own_rule { "a stop at the least error" } else { "no stop" },
        ));
        let space = KernelSpaceSelector {
            weight_power: best.power,
            n_neighbors: best.n_neighbors,
            ..self.candidate(best.factor)
        };
        Ok((space, if best.own_rule { FeatureCount::Auto } else { self.all_or_wanted() }))
    }

    /// Evaluates all folds, several at a time.
    fn evaluate_all(
        &self,
        evaluate: &(impl Fn(&Dataset, &[usize], &dyn Fn() -> Result<()>) -> Result<Evaluated> + Sync),
    ) -> Result<Vec<Evaluated>> {
        let done = AtomicUsize::new(0);
        let step = || {
            let done = done.fetch_add(1, atomic::Ordering::Relaxed);
            self.ctx.step("tuning", done, self.splits.len() * WIDTHS.len())
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
            split.test.iter().zip(pick(evaluated)).for_each(|(&row, &right)| hits[row] += u16::from(right));
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
            let reaches = evaluated.iter().all(|fold| fold.candidates[c].0.reaches);
            let hits = self.hits(evaluated, |fold| &fold.candidates[c].1);
            let total = hits.iter().map(|&h| u64::from(h)).sum();
            (Candidate { reaches, ..evaluated[0].candidates[c].0 }, hits, total)
        };
        let better = |a: &(Candidate, Vec<u16>, u64), b: &(Candidate, Vec<u16>, u64)| {
            let by_size = if a.0.reaches { Ordering::Equal } else { b.0.factor.total_cmp(&a.0.factor) };
            b.0.reaches.cmp(&a.0.reaches).then(by_size).then(b.2.cmp(&a.2)).then(order(&a.0, &b.0))
        };
        let candidates = 0..evaluated[0].candidates.len();
        let best = candidates.map(evaluated_of).min_by(better).expect("there are several widths");
        (best.0, best.1)
    }

    fn kernel_at(&self, factor: f64) -> Kernel {
        let mut kernel = self.kernel.clone();
        if let Some(gamma) = kernel.gamma_mut() {
            *gamma *= factor;
        }
        kernel
    }

    fn with_width(&self, factor: f64) -> KernelSpaceSelector {
        let mut space = KernelSpaceSelector { tune: Tune::Nothing, ..self.space.clone() };
        *space.basis.kernel_mut() = self.kernel_at(factor).into();
        space
    }

    /// The settings common to all candidates.
    fn candidate(&self, factor: f64) -> KernelSpaceSelector {
        let mut space = self.with_width(factor);
        if let Some(SelectorMethod::Ffs(ffs)) = &mut space.selector {
            *ffs = Ffs {
                weak_learner: WeakLearner::BalancedStump,
                weights: WeightRule::Individual,
                ..Ffs::default()
            };
        }
        self.limit(&mut space, COMPONENTS);
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
        self.limit(&mut space, WHOLE);
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

    /// What is kept unless the selector chooses the number automatically.
    fn all_or_wanted(&self) -> FeatureCount {
        if self.wanted == FeatureCount::Auto { FeatureCount::Fraction(1.0) } else { self.wanted }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Candidate {
    /// Whether the selector chooses the number of directions automatically.
    own_rule: bool,
    power: f64,
    factor: f64,
    n_neighbors: usize,
    /// Whether there are as many directions as requested.
    reaches: bool,
}

impl Candidate {
    /// Smallest power, widest kernel, fewest neighbors, all directions kept.
    fn simpler(&self, other: &Self) -> Ordering {
        self.power
            .total_cmp(&other.power)
            .then(self.factor.total_cmp(&other.factor))
            .then(self.n_neighbors.cmp(&other.n_neighbors))
            .then(self.own_rule.cmp(&other.own_rule))
    }
}

/// A basis and a selection fitted on the training samples of a fold.
struct Fold<'a> {
    train: Array2<f64>,
    test: Array2<f64>,
    selection: Selection,
    /// How many directions the selector chooses automatically.
    own_count: usize,
    /// Whether there are as many directions as requested.
    reaches: bool,
    train_codes: Vec<usize>,
    test_codes: Vec<usize>,
    ctx: &'a Context<'a>,
}

impl<'a> Fold<'a> {
    fn new(
        space: &KernelSpaceSelector,
        search: &'a Search,
        train: &Dataset,
        test: &[usize],
        wanted: FeatureCount,
    ) -> Result<Self> {
        let ctx = &search.inner;
        let space = cut_down(space, train)?;
        let fitted = space.basis.fit(train, ctx)?;
        let features = Dataset::with_target(fitted.features, train.target().clone())?;
        let (wanted, reaches) = match wanted {
            FeatureCount::Count(k) => (FeatureCount::Count(k.min(features.d())), k <= features.d()),
            other => (other, true),
        };
        let selection = space.select(&features, wanted, ctx)?;
        let own_count = match &space.selector {
            None => features.d(),
            Some(SelectorMethod::Ffs(_)) => first_minimum(&selection.curve),
            Some(SelectorMethod::Relief(_)) => selection.scores.iter().filter(|&&s| s > 0.0).count().max(1),
            Some(selector) => selector.select(&features, FeatureCount::Auto, ctx)?.n_selected,
        };
        Ok(Self {
            train: features.into_x().into_dense(),
            test: fitted.map.transform(&search.data.x().take_rows(test), ctx)?,
            selection,
            own_count,
            reaches,
            train_codes: train.classes(NAME)?.codes.clone(),
            test_codes: test.iter().map(|&row| search.classes.codes[row]).collect(),
            ctx,
        })
    }

    /// For each number of neighbors, which test samples the best `count` directions predict correctly.
    fn right(&self, count: usize, power: f64, neighbors: &[usize]) -> Result<Vec<Vec<bool>>> {
        let kept = &self.selection.order[..count];
        let weights = super::selector::weights(&self.selection, count, power);
        let stretch: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let stretched = |x: &Array2<f64>| x.select(Axis(1), kept) * ArrayView1::from(&stretch);
        let most = neighbors.iter().copied().max().unwrap_or(1);
        let (train, test) = (stretched(&self.train), stretched(&self.test));
        let found = nearest(train.view(), test.view(), most, None, self.ctx)?;
        let n_classes = self.train_codes.iter().max().map_or(0, |&most| most + 1);
        let predict = |near: &[Neighbor], k: usize| {
            most_voted(near.iter().take(k).map(|n| self.train_codes[n.row]), n_classes)
        };
        let right = |k: usize| {
            found.iter().zip(&self.test_codes).map(|(near, &code)| predict(near, k) == code).collect()
        };
        Ok(neighbors.iter().map(|&k| right(k)).collect())
    }
}

/// Reduces settings that are valid for all samples but too large for a fold.
fn cut_down(space: &KernelSpaceSelector, train: &Dataset) -> Result<KernelSpaceSelector> {
    let mut space = space.clone();
    let classes = train.classes(NAME)?;
    let most = match space.basis {
        BasisMethod::Discriminant(_) => classes.n_present() - 1,
        _ => train.n(),
    };
    let limit = space.basis.n_components_mut();
    *limit = limit.map(|m| m.min(most));
    if let Some(SelectorMethod::Relief(relief)) = &mut space.selector {
        // Each class has at least two samples, of which one may be missing in this fold.
        match classes.counts().into_iter().filter(|&count| count > 1).min() {
            Some(smallest) => relief.n_neighbors = relief.n_neighbors.min(smallest - 1),
            None => space.selector = None,
        }
    }
    Ok(space)
}

/// Whether the mean number of correct predictions is higher by more than [`MARGIN`] standard errors.
fn clearly_better(best: &[u16], plain: &[u16]) -> bool {
    let n = best.len() as f64;
    let gains: Vec<f64> = best.iter().zip(plain).map(|(&a, &b)| f64::from(a) - f64::from(b)).collect();
    let mean = gains.iter().sum::<f64>() / n;
    let variance = gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    mean > MARGIN * (variance / n).sqrt()
}
