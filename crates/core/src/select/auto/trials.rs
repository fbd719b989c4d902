//! Searches that leave out one or two folds, and the errors on the rows that they leave out.

use super::predict::{Predictor, error};
use super::robust::StandardizedRanks;
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Encoder, Encoding};
use crate::error::Result;
use crate::interactions::JointSets;
use crate::select::fisher::FisherScore;
use crate::select::hsic_lasso::HsicLasso;
use crate::select::ldfs::Ldfs;
use crate::select::nca::{Found, Limits, Nca, search};
use crate::select::selector::{FeatureCount, Selector};

/// The search may go on for this many steps that do not decrease the loss by more than chance would.
const PATIENCE: usize = 5;
/// Beyond this many features the search has candidates.
const LIMITS: Limits = Limits { features: 500, of_each: 200 };

/// What all searches have in common.
pub(super) struct Plan {
    /// The largest number of features, and whether the search may end before.
    pub most: usize,
    pub is_fixed: bool,
    /// Numbers of features to evaluate, in ascending order.
    pub counts: Vec<usize>,
    /// Methods besides NCA.
    pub others: Vec<Box<dyn Selector>>,
}

impl Plan {
    /// `wanted` are numbers of features; `None` chooses it automatically.
    pub fn new(data: &Dataset, wanted: &[Option<usize>]) -> Self {
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
        Self { most, is_fixed, counts, others }
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
        search(encoded, sets, (self.most, patience), LIMITS, ctx)
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

/// A search on the rows outside one or two folds.
pub(super) struct Trial {
    /// The folds that were left out.
    pub folds: Vec<usize>,
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

/// The rows, in folds.
pub(super) struct Trials<'a> {
    pub data: &'a Dataset,
    pub plan: &'a Plan,
    /// The fold of each row.
    pub fold: Vec<usize>,
    /// Whether the target depends jointly on sets of features; they are searched again in each trial.
    pub has_sets: bool,
}

impl Trials<'_> {
    /// Leaves out the rows of some folds. `None` if the target does not vary in the other rows.
    pub fn run(&self, folds: Vec<usize>, with_others: bool, ctx: &Context) -> Result<Option<Trial>> {
        let quiet = &Context { observer: &Quiet(ctx.observer), ..*ctx };
        let (rows, kept): (Vec<usize>, Vec<usize>) =
            (0..self.data.n()).partition(|&row| folds.contains(&self.fold[row]));
        let typed = self.data.take_rows(&kept);
        if !typed.target().varies() {
            return Ok(None);
        }
        let encoder = Encoder::fit(&typed, Encoding::default())?;
        let train = encoder.encode(&typed)?;
        let ranks = StandardizedRanks::fit(train.x());
        let train = ranks.apply_to(train)?;
        let test = ranks.apply(encoder.apply(&self.data.x().take_rows(&rows))?);
        let truth = self.data.target_of(&rows);
        let sets = match self.has_sets {
            true => JointSets::find(&typed, quiet)?.sets(),
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
            let of_row = |(i, row): (usize, &Vec<f64>)| row.iter().map(|p| error(&truth, i, *p)).collect();
            errors.push(predicted.iter().enumerate().map(of_row).collect());
            predictions.push(predicted);
            baseline = predictor.baseline(&truth);
        }
        Ok(Some(Trial { folds, orders, rows, predictions, errors, baseline }))
    }
}
