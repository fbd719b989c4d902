//! Settings chosen by cross-validation inside the training rows.
//!
//! **Width**: the kernel's width that predicts best, everything else as it is.
//!
//! **Everything**: width, weighting, number of directions kept and number of neighbours together. Forward
//! selection uses balanced stumps and their own errors, so that a useless direction weighs next to
//! nothing. The best of many settings looks better than it is when rows are few, hence a guard: unless it
//! beats plain neighbours in the whole of kernel space by 1.645 standard errors, those are taken.
//!
//! Folds keep the classes' shares. Everything is learned anew in every fold, but for the centre of
//! the grid of widths, which looks at the training rows without their classes. Many rows are represented by a
//! sample of them.

use super::selector::{KernelSpaceSelector, NAME, Tune};
use crate::basis::{Basis, BasisMethod, Threshold};
use crate::classify::most_voted;
use crate::context::{Context, Observer};
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice};
use crate::neighbours::nearest;
use crate::random::Rng;
use crate::select::{Ffs, Selection, SelectorMethod, Wanted, WeakLearner, WeightRule, first_minimum};
use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Widths: the kernel's own gamma times these.
const WIDTHS: [f64; 7] = [1.0 / 256.0, 1.0 / 64.0, 1.0 / 16.0, 1.0 / 4.0, 1.0, 4.0, 16.0];
/// Powers of the weights; 0 weighs all alike.
const POWERS: [f64; 3] = [0.0, 1.0, 2.0];
/// Numbers of neighbours.
const NEIGHBORS: [usize; 6] = [1, 3, 5, 9, 15, 21];
const FOLDS: usize = 5;
/// Cross-validation is repeated until about this many rows were predicted, at most [`REPEATS`] times.
const PREDICTIONS: usize = 2500;
const REPEATS: usize = 5;
/// Rows that are looked at.
const ROWS: usize = 2000;
/// Directions at most, if no number is given.
const COMPONENTS: usize = 256;
/// Directions that stand for the whole of kernel space, if there are more.
const WHOLE: usize = 1000;
/// Standard errors by which the best must beat plain neighbours: one-sided 5 %.
const MARGIN: f64 = 1.645;

/// The settings to fit with, all chosen, and how many directions to keep.
pub(super) fn tuned(
    space: &KernelSpaceSelector,
    data: &Dataset,
    wanted: Wanted,
    ctx: &Context,
) -> Result<(KernelSpaceSelector, Wanted)> {
    need_width(space)?;
    let classes = data.classes(NAME)?;
    if classes.counts().iter().filter(|&&count| count > 1).count() < 2 {
        ctx.warn("too few rows of each class to choose settings by; they stay as they are");
        return Ok((space.clone(), wanted));
    }
    let sample = sample(data, ctx);
    let quiet = Quiet(ctx);
    let inner = Context { observer: &quiet, ..*ctx };
    let centre = match space.basis.kernel().resolve(sample.x(), &inner)? {
        Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } | Kernel::Polynomial { gamma, .. } => gamma,
        _ => return Err(no_width()),
    };
    let search = Search { space, centre, data: &sample, wanted, ctx, inner };
    match space.tune {
        Tune::Nothing => Ok((space.clone(), wanted)),
        Tune::Width => search.width(),
        Tune::Everything => search.everything(),
    }
}

/// Refuses kernels without a width.
fn need_width(space: &KernelSpaceSelector) -> Result<()> {
    match space.basis.kernel() {
        KernelChoice::Named { family: Family::Linear, .. } | KernelChoice::Fixed(_) => Err(no_width()),
        KernelChoice::Named { .. } => Ok(()),
    }
}

fn no_width() -> Error {
    Error::param(NAME, "tune", "left out where the kernel has no width to choose", "a kernel without one")
}

/// Some of the rows if they are many, with the classes' shares.
fn sample(data: &Dataset, ctx: &Context) -> Dataset {
    if data.n() <= ROWS {
        return data.clone();
    }
    data.take_rows(&Rng::stream(ctx.seed, "tuning rows").sample(data.n(), ROWS))
}

struct Search<'a> {
    space: &'a KernelSpaceSelector,
    /// The gamma that the kernel would have.
    centre: f64,
    data: &'a Dataset,
    wanted: Wanted,
    ctx: &'a Context<'a>,
    /// For what is computed on the way: progress and warnings of its parts tell the user nothing.
    inner: Context<'a>,
}

impl Search<'_> {
    fn with_width(&self, factor: f64) -> KernelSpaceSelector {
        let mut space = KernelSpaceSelector { tune: Tune::Nothing, ..self.space.clone() };
        if let KernelChoice::Named { gamma, .. } = space.basis.kernel_mut() {
            *gamma = Gamma::Value(factor * self.centre);
        }
        space
    }

    /// The width that predicts best; of equals the one nearest to the kernel's own.
    fn width(&self) -> Result<(KernelSpaceSelector, Wanted)> {
        let mut hits = [0usize; WIDTHS.len()];
        let splits = self.splits();
        for (step, (train, test)) in splits.iter().enumerate() {
            self.ctx.step("kernel width", step, splits.len())?;
            let (train, test) = (self.data.take_rows(train), self.data.take_rows(test));
            for (hits, factor) in hits.iter_mut().zip(WIDTHS) {
                let fitted = self.with_width(factor).fit(&train, self.wanted, &self.inner)?;
                let predicted = fitted.predict(test.x(), &self.inner)?;
                let codes = &test.classes(NAME)?.codes;
                *hits += predicted.iter().zip(codes).filter(|(a, b)| a == b).count();
            }
        }
        let away = |i: usize| WIDTHS[i].ln().abs();
        let best = (0..WIDTHS.len())
            .min_by(|&a, &b| hits[b].cmp(&hits[a]).then(away(a).total_cmp(&away(b))))
            .unwrap_or(0);
        let factor = WIDTHS[best];
        self.ctx.note(format!("chosen inside the training rows: gamma {}", factor * self.centre));
        Ok((self.with_width(factor), self.wanted))
    }

    fn everything(&self) -> Result<(KernelSpaceSelector, Wanted)> {
        let splits = self.splits();
        let done = AtomicUsize::new(0);
        let judged: Vec<Judged> = splits
            .par_iter()
            .map(|(train, test)| {
                self.judge(train, test, &|| {
                    let step = done.fetch_add(1, Ordering::Relaxed);
                    self.ctx.step("tuning", step, splits.len() * WIDTHS.len())
                })
            })
            .collect::<Result<_>>()?;
        // How often each row was predicted right, over the repeats.
        let hits = |pick: &dyn Fn(&Judged) -> &Vec<bool>| {
            let mut hits = vec![0u16; self.data.n()];
            for ((_, test), judged) in splits.iter().zip(&judged) {
                test.iter().zip(pick(judged)).for_each(|(&row, &right)| hits[row] += u16::from(right));
            }
            hits
        };
        let candidates: Vec<Candidate> =
            judged[0].candidates.iter().map(|(candidate, _)| *candidate).collect();
        let all: Vec<Vec<u16>> =
            (0..candidates.len()).map(|c| hits(&|judged| &judged.candidates[c].1)).collect();
        let total = |c: usize| all[c].iter().map(|&h| u64::from(h)).sum::<u64>();
        let best = (0..candidates.len())
            .min_by(|&a, &b| total(b).cmp(&total(a)).then(candidates[a].simplicity(&candidates[b])))
            .unwrap_or(0);
        if !clearly_better(&all[best], &hits(&|judged| &judged.plain)) {
            self.ctx.note("chosen inside the training rows: plain neighbours in the whole of kernel space");
            return Ok((self.plain(), self.all_or_wanted()));
        }
        let Candidate { keep, power, factor, n_neighbors } = candidates[best];
        self.ctx.note(format!(
            "chosen inside the training rows: gamma {}, weights to the power {power}, {n_neighbors} neighbours, {}",
            factor * self.centre,
            keep.describe(),
        ));
        let space = KernelSpaceSelector { weight_power: power, n_neighbors, ..self.candidate(factor) };
        let wanted = if keep == Keep::OwnRule { Wanted::OwnRule } else { self.all_or_wanted() };
        Ok((space, wanted))
    }

    /// Which test rows of a fold every candidate predicts right.
    fn judge(&self, train: &[usize], test: &[usize], step: &dyn Fn() -> Result<()>) -> Result<Judged> {
        let (train, test) = (self.data.take_rows(train), self.data.take_rows(test));
        let mut plain = self.plain();
        if self.wanted == Wanted::OwnRule {
            // All are kept, so nothing need be ranked.
            plain.selector = None;
        }
        let fold = Fold::new(&plain, &train, &test, self.all_or_wanted(), &self.inner)?;
        let plain = fold.right(Keep::All, 0.0, &[1], &self.inner)?.swap_remove(0);
        let keeps: &[Keep] =
            if self.wanted == Wanted::OwnRule { &[Keep::All, Keep::OwnRule] } else { &[Keep::All] };
        let mut candidates = vec![];
        for factor in WIDTHS {
            step()?;
            let fold = Fold::new(&self.candidate(factor), &train, &test, self.all_or_wanted(), &self.inner)?;
            for &keep in keeps {
                for power in POWERS {
                    let right = fold.right(keep, power, &NEIGHBORS, &self.inner)?;
                    candidates.extend(
                        NEIGHBORS.into_iter().zip(right).map(|(n_neighbors, right)| {
                            (Candidate { keep, power, factor, n_neighbors }, right)
                        }),
                    );
                }
            }
        }
        Ok(Judged { plain, candidates })
    }

    /// What is kept unless forward selection's own rule is.
    fn all_or_wanted(&self) -> Wanted {
        if self.wanted == Wanted::OwnRule { Wanted::Share(1.0) } else { self.wanted }
    }

    /// The settings that candidates share.
    fn candidate(&self, factor: f64) -> KernelSpaceSelector {
        let mut space = self.with_width(factor);
        if let Some(SelectorMethod::Ffs(ffs)) = &mut space.selector {
            *ffs = Ffs { weak: WeakLearner::BalancedStump, weights: WeightRule::Individual };
        }
        let limit = space.basis.n_components_mut();
        if limit.is_none() && !matches!(self.space.basis, BasisMethod::Discriminant(_)) {
            *limit = Some(COMPONENTS.min(self.data.n()));
        }
        space
    }

    /// One neighbour, no weights, as much of kernel space as there is.
    fn plain(&self) -> KernelSpaceSelector {
        let mut space = self.candidate(1.0);
        if let BasisMethod::Kobl(kobl) = &mut space.basis {
            kobl.threshold = Threshold::None;
            kobl.tol = 0.0;
            kobl.n_components = self.space.basis.n_components().or(Some(WHOLE.min(self.data.n())));
        }
        KernelSpaceSelector { weight_power: 0.0, n_neighbors: 1, ..space }
    }

    /// Training and test rows of every fold of every repeat, with the classes' shares.
    fn splits(&self) -> Vec<(Vec<usize>, Vec<usize>)> {
        let classes = self.data.classes(NAME).expect("checked before");
        let n = self.data.n();
        let mut rng = Rng::stream(self.ctx.seed, "inner folds");
        let repeats = if self.space.tune == Tune::Width { 1 } else { (PREDICTIONS / n).clamp(1, REPEATS) };
        (0..repeats).flat_map(|_| stratified(classes, FOLDS.min(n), &mut rng)).collect()
    }
}

/// A fold of each row, dealt class by class in random order.
fn stratified(classes: &Classes, folds: usize, rng: &mut Rng) -> Vec<(Vec<usize>, Vec<usize>)> {
    let n = classes.codes.len();
    let mut order: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut order);
    order.sort_by_key(|&i| classes.codes[i]);
    let mut fold = vec![0; n];
    order.iter().enumerate().for_each(|(place, &row)| fold[row] = place % folds);
    (0..folds).map(|f| (0..n).partition(|&row| fold[row] != f)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    keep: Keep,
    power: f64,
    factor: f64,
    n_neighbors: usize,
}

impl Candidate {
    /// Of equally good ones the simplest: least weighted, widest kernel, fewest neighbours, all kept.
    fn simplicity(&self, other: &Self) -> std::cmp::Ordering {
        self.power
            .total_cmp(&other.power)
            .then(self.factor.total_cmp(&other.factor))
            .then(self.n_neighbors.cmp(&other.n_neighbors))
            .then(self.keep.cmp(&other.keep))
    }
}

/// How many directions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Keep {
    /// All, or as many as the user wants.
    All,
    /// As many as the selector finds right.
    OwnRule,
}

impl Keep {
    fn describe(self) -> &'static str {
        match self {
            Self::All => "no stop",
            Self::OwnRule => "stop at the least error",
        }
    }
}

/// Which test rows of a fold were predicted right.
struct Judged {
    plain: Vec<bool>,
    candidates: Vec<(Candidate, Vec<bool>)>,
}

/// A basis and a selection learned on the training rows of a fold.
struct Fold<'a> {
    train: Array2<f64>,
    test: Array2<f64>,
    selection: Selection,
    train_classes: &'a Classes,
    test_classes: &'a Classes,
}

impl<'a> Fold<'a> {
    fn new(
        space: &KernelSpaceSelector,
        train: &'a Dataset,
        test: &'a Dataset,
        wanted: Wanted,
        ctx: &Context,
    ) -> Result<Self> {
        let mut basis = space.basis.clone();
        let limit = basis.n_components_mut();
        *limit = limit.map(|most| most.min(train.n()));
        let fitted = basis.fit(train, ctx)?;
        let features = Dataset::with_target(fitted.features, train.target().clone())?;
        let wanted = match wanted {
            Wanted::Count(k) => Wanted::Count(k.min(features.d())),
            other => other,
        };
        let selection = space.select(&features, wanted, ctx)?;
        Ok(Self {
            train: features.x().to_dense(),
            test: fitted.map.transform(test.x(), ctx)?,
            selection,
            train_classes: train.classes(NAME)?,
            test_classes: match test.target() {
                crate::data::Target::Classes(classes) => classes,
                _ => unreachable!("the training rows have classes"),
            },
        })
    }

    /// For each number of neighbours, which test rows are predicted right.
    fn right(&self, keep: Keep, power: f64, neighbors: &[usize], ctx: &Context) -> Result<Vec<Vec<bool>>> {
        let count = match keep {
            Keep::OwnRule if self.selection.curve.is_empty() => {
                self.selection.scores.iter().filter(|&&score| score > 0.0).count().max(1)
            }
            Keep::OwnRule => first_minimum(&self.selection.curve),
            Keep::All => self.selection.n_selected,
        };
        let kept = &self.selection.order[..count];
        let weights: Vec<f64> = kept.iter().map(|&i| self.selection.scores[i]).collect();
        let usable = weights.iter().any(|&w| w > 0.0);
        let stretch: Vec<f64> =
            weights.iter().map(|w| if usable { w.powf(power / 2.0) } else { 1.0 }).collect();
        let stretched = |x: &Array2<f64>| x.select(Axis(1), kept) * ArrayView1::from(&stretch);
        let most = neighbors.iter().copied().max().unwrap_or(1);
        let found = nearest(stretched(&self.train).view(), stretched(&self.test).view(), most, None, ctx)?;
        let n_classes = self.train_classes.names.len();
        Ok(neighbors
            .iter()
            .map(|&k| {
                let predict = |near: &Vec<crate::neighbours::Neighbour>| {
                    most_voted(near.iter().take(k).map(|n| self.train_classes.codes[n.row]), n_classes)
                };
                found
                    .iter()
                    .zip(&self.test_classes.codes)
                    .map(|(near, &code)| predict(near) == code)
                    .collect()
            })
            .collect())
    }
}

/// Whether hits per row are more than the others' by more than [`MARGIN`] standard errors.
fn clearly_better(best: &[u16], plain: &[u16]) -> bool {
    let n = best.len() as f64;
    let gains: Vec<f64> = best.iter().zip(plain).map(|(&a, &b)| f64::from(a) - f64::from(b)).collect();
    let mean = gains.iter().sum::<f64>() / n;
    let variance = gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    mean > MARGIN * (variance / n).sqrt()
}

/// Passes on nothing but the wish to stop.
struct Quiet<'a>(&'a Context<'a>);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.observer.interrupted()
    }
}
