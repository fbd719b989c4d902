//! Searches that leave out one or two folds, and the errors on the rows that they leave out.

use super::predict::Predictor;
use super::robust::Robust;
use super::settings::Scoring;
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Encoder, Encoding, Fold, SplitRule};
use crate::error::Result;
use crate::interactions::JointSets;
use crate::select::fisher::FisherScore;
use crate::select::hsic_lasso::HsicLasso;
use crate::select::ldfs::Ldfs;
use crate::select::nca::{Found, Limits, Nca, search};
use crate::select::selector::{FeatureCount, Selector};
use std::borrow::Cow;

/// The search may go on for this many steps that do not decrease the loss by more than chance would.
const PATIENCE: usize = 5;
/// Beyond this many features the search has candidates.
const LIMITS: Limits = Limits { exact: false, features: 500, of_each: 200 };

/// What all searches have in common.
pub(super) struct Plan {
    /// The largest number of features, and whether the search may end before.
    pub most: usize,
    pub is_fixed: bool,
    /// Numbers of features to evaluate, in ascending order.
    pub counts: Vec<usize>,
    /// Methods besides NCA.
    pub others: Vec<Box<dyn Selector>>,
    /// Whether searches have no landmarks.
    exact: bool,
}

impl Plan {
    /// `wanted` are numbers of features; `None` chooses it automatically.
    pub fn new(data: &Dataset, wanted: &[Option<usize>], exact: bool) -> Self {
        let is_fixed = !wanted.contains(&None);
        let of_wanted = |count: &Option<usize>| count.map_or(COUNTS.to_vec(), |count| vec![count]);
        let mut counts: Vec<usize> =
            wanted.iter().flat_map(of_wanted).filter(|&count| count <= data.d()).collect();
        counts.sort_unstable();
        counts.dedup();
        let most = counts.last().copied().unwrap_or(0);
        let others: Vec<Box<dyn Selector>> =
            vec![Box::new(Ldfs::default()), Box::new(HsicLasso::default()), Box::new(FisherScore::default())];
        let others = others.into_iter().filter(|selector| selector.fits(data.target())).collect();
        Self { most, is_fixed, counts, others, exact }
    }

    /// The positions in `counts` from which the number of features is chosen.
    pub fn points(&self, wanted: Option<usize>) -> Vec<usize> {
        let is_candidate = |count: &usize| match wanted {
            Some(wanted) => *count == wanted,
            None => COUNTS.contains(count),
        };
        (0..self.counts.len()).filter(|&at| is_candidate(&self.counts[at])).collect()
    }

    /// The names of all methods; the first is NCA.
    pub fn methods(&self) -> Vec<&'static str> {
        let others = self.others.iter().map(|selector| selector.info().title);
        std::iter::once(Nca::INFO.title).chain(others).collect()
    }

    /// The search by NCA.
    pub fn search(&self, encoded: &Dataset, sets: Vec<Vec<usize>>, ctx: &Context) -> Result<Found> {
        let patience = if self.is_fixed { None } else { Some(PATIENCE) };
        search(encoded, sets, (self.most, patience), Limits { exact: self.exact, ..LIMITS }, ctx)
    }

    /// The features that another method selects, best first; none if it fails, for example for lack of memory.
    pub fn search_by(&self, selector: &dyn Selector, data: &Dataset, ctx: &Context) -> Result<Vec<usize>> {
        let count = FeatureCount::Count(self.most);
        match selector.select_typed(data, count, Encoding::default(), ctx) {
            Ok(mut found) => {
                found.order.truncate(self.most);
                Ok(found.order)
            }
            Err(error) if error.is_interrupted() => Err(error),
            Err(error) => {
                ctx.note(format!("{} is not compared: {error}", selector.info().title));
                Ok(vec![])
            }
        }
    }
}

/// The largest number of features that is chosen automatically.
const MAX_COUNT: usize = 20;
/// Numbers of features from which one is chosen.
const COUNTS: [usize; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, MAX_COUNT];

/// The rows that tests of dependence may take for independent: one of each group.
pub(super) fn independent(data: &Dataset, seed: u64) -> Cow<'_, Dataset> {
    match data.split_rule() {
        SplitRule::Groups(_) => {
            Cow::Owned(data.take_rows(&data.split_rule().one_row_per_group(data.n(), seed)))
        }
        _ => Cow::Borrowed(data),
    }
}

/// A search on the rows outside one or two folds.
pub(super) struct Trial {
    /// The folds that were left out.
    pub folds: Vec<usize>,
    /// The folds whose choices it informs: it is not trained on their test rows, and predicts rows that they train on.
    pub inner_of: Vec<usize>,
    /// The features that each method found, in order.
    pub orders: Vec<Vec<usize>>,
    /// The rows that were left out.
    pub rows: Vec<usize>,
    /// For each method and row the prediction by number of features, and its error.
    pub predictions: Vec<Vec<Vec<f64>>>,
    pub errors: Vec<Vec<Vec<f64>>>,
    /// For each row the error without features.
    pub baseline: Vec<f64>,
}

/// The rows of a trial.
#[derive(Debug, PartialEq)]
pub(super) struct TrialRows {
    folds: Vec<usize>,
    train: Vec<usize>,
    test: Vec<usize>,
}

impl TrialRows {
    /// The trials that leave out each fold, then each pair of folds. A pair is not tried if it has no training or test rows, or
    /// repeats the trial of a single fold, as splits by time do.
    pub fn all(folds: &[Fold]) -> Vec<Self> {
        let k = folds.len();
        let single =
            |a: usize| Self { folds: vec![a], train: folds[a].train.clone(), test: folds[a].test.clone() };
        let mut all: Vec<Self> = (0..k).map(single).collect();
        for (a, b) in (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))) {
            let (first, second) = (&folds[a], &folds[b]);
            let train = common(&first.train, &second.train);
            let mut test = common(&first.test, &second.train);
            test.extend(common(&second.test, &first.train));
            test.sort_unstable();
            test.dedup();
            let repeats = all[..k].iter().any(|one| one.train == train && one.test == test);
            if !train.is_empty() && !test.is_empty() && !repeats {
                all.push(Self { folds: vec![a, b], train, test });
            }
        }
        all
    }

    /// The folds whose choices the trial informs.
    pub fn inner_of(&self, folds: &[Fold]) -> Vec<usize> {
        let informs = |fold: &Fold| {
            common(&self.train, &fold.test).is_empty() && !common(&self.test, &fold.train).is_empty()
        };
        (0..folds.len()).filter(|&f| informs(&folds[f])).collect()
    }
}

#[cfg(test)]
impl TrialRows {
    /// Numbers of training and test rows.
    pub fn train_and_test(&self) -> (usize, usize) {
        (self.train.len(), self.test.len())
    }
}

/// The numbers in both of two ascending lists.
fn common(a: &[usize], b: &[usize]) -> Vec<usize> {
    a.iter().copied().filter(|row| b.binary_search(row).is_ok()).collect()
}

/// The rows, in folds.
pub(super) struct Trials<'a> {
    pub data: &'a Dataset,
    pub plan: &'a Plan,
    pub scoring: Scoring,
    pub folds: Vec<Fold>,
    /// Whether the target depends jointly on sets of features; they are searched again in each trial.
    pub has_sets: bool,
}

impl Trials<'_> {
    /// Searches on the training rows and predicts the others. `None` if the target does not vary in the training rows.
    pub fn run(&self, of: &TrialRows, with_others: bool, ctx: &Context) -> Result<Option<Trial>> {
        let quiet = &Context { observer: &Quiet(ctx.observer), ..*ctx };
        let (rows, folds) = (of.test.clone(), of.folds.clone());
        let typed = self.data.take_rows(&of.train);
        if !typed.target().varies() {
            return Ok(None);
        }
        let encoder = Encoder::fit(&typed, Encoding::default())?;
        let train = encoder.encode(&typed)?;
        let robust = Robust::fit(train.x());
        let train = robust.apply_to(train)?;
        let test = robust.apply(encoder.apply(&self.data.x().take_rows(&rows))?);
        let truth = self.data.target_of(&rows);
        let is_in = |row: &usize, fold: &usize| self.folds[*fold].test.binary_search(row).is_ok();
        let place = |row| of.folds.iter().position(|fold| is_in(row, fold)).expect("rows are of these folds");
        let fold_of: Vec<usize> = rows.iter().map(place).collect();
        let sets = match self.has_sets {
            true => JointSets::find(&independent(&typed, ctx.seed), quiet)?.sets(),
            false => vec![],
        };
        let mut orders = vec![self.plan.search(&train, sets, quiet)?.order];
        for selector in self.plan.others.iter().filter(|_| with_others) {
            ctx.check()?;
            orders.push(self.plan.search_by(selector.as_ref(), &typed, quiet)?);
        }
        let (mut predictions, mut errors, mut baseline) = (vec![], vec![], vec![]);
        for order in &orders {
            let predictor = Predictor::fit(&train, order, &self.plan.counts, ctx)?;
            let predicted = predictor.predictions(&test, ctx)?;
            errors.push(predictor.errors(self.scoring, &test, &predicted, (&truth, &fold_of), ctx)?);
            predictions.push(predicted);
            baseline = predictor.baseline(self.scoring, &truth);
        }
        let inner_of = of.inner_of(&self.folds);
        Ok(Some(Trial { folds, inner_of, orders, rows, predictions, errors, baseline }))
    }
}
