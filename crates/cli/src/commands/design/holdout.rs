//! Evaluation of kernels on held-out triplets.

use super::fit::{Fit, learn, margins_of};
use super::options::typed;
use super::triplets::Input;
use crate::args::{DesignArgs, ScaleArg};
use crate::console::{Console, ProgressOnly};
use crate::failure::Failure;
use crate::output::percent;
use kernsift::data::triplets::{
    TripletSplit, from_target, hold_out_points, hold_out_triplets, triplet_folds,
};
use kernsift::data::{Dataset, Encoder, Splits, Triplet};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::learn::{KernelLearner, LearnerMethod};
use kernsift::{Context, Observer};

/// The default fraction of rows to hold out.
const FRACTION: f64 = 0.15;
/// Number of triplets that are drawn from the target for evaluation.
const EVALUATION_TRIPLETS: usize = 1000;
/// With fewer triplets, another kind of split is used.
const MIN_TRIPLETS: usize = 30;

/// Results on held-out triplets.
pub struct HoldOut {
    /// The kind of split.
    pub by: By,
    /// Number of training rows.
    pub learned_rows: usize,
    /// Number of training triplets; the mean over folds.
    pub train: usize,
    /// Number of test triplets.
    pub test: usize,
    /// Number of triplets with training and test rows, which are not used.
    pub straddling: usize,
    /// The requested learner, then the baselines.
    pub evaluated: Vec<Evaluated>,
    /// The fit of the requested learner, if there is one split; its penalties were chosen without the test triplets.
    pub fit: Option<Fit>,
    /// The margins of the test triplets by the requested learner.
    pub margins: Vec<f64>,
}

/// What is held out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// This number of rows, with their triplets.
    Rows(usize),
    /// Triplets.
    Triplets,
    /// Triplets, in this number of folds.
    Folds(usize),
}

/// The result of one learner.
pub struct Evaluated {
    /// Its name.
    pub method: String,
    /// The fraction of test triplets that its kernel satisfies; ties count half.
    pub accuracy: f64,
    /// Number of features that its kernel uses; the mean over folds.
    pub features: f64,
    /// Whether all fits converged.
    pub converged: bool,
}

/// What is held out, and the splits.
type Splitting = (By, Vec<Split>);

/// A split into training and test triplets.
struct Split {
    /// Training rows, scaled.
    train: Dataset,
    learn: Vec<Triplet>,
    /// Test rows, on the same scale.
    test: Dataset,
    evaluation: Vec<Triplet>,
    learned_rows: usize,
    straddling: usize,
}

/// Holds out rows or triplets, learns from the others, and evaluates. Returns nothing if there is too little to hold
/// out and the user did not request it.
pub fn evaluate(
    input: &Input,
    method: &LearnerMethod,
    baselines: &[LearnerMethod],
    args: &DesignArgs,
    ctx: &Context,
    console: &Console,
) -> Result<Option<HoldOut>, Failure> {
    let fraction = args.hold_out.unwrap_or(FRACTION);
    if fraction == 0.0 {
        return Ok(None);
    }
    let Some((by, splits)) = make_splits(input, fraction, args, ctx, console)? else { return Ok(None) };
    let observer = ProgressOnly { console, purpose: "held-out triplets" };
    let ctx = Context { observer: &observer, ..*ctx };
    let mut evaluated = vec![];
    let (mut fit, mut margins) = (None, vec![]);
    for (place, learner) in std::iter::once(method).chain(baselines).enumerate() {
        let mut sum =
            Evaluated { method: learner.name().into(), accuracy: 0.0, features: 0.0, converged: true };
        let mut failure = None;
        for split in &splits {
            match learn(learner, &split.train, &split.learn, input.drawn, &ctx) {
                Ok(own) => {
                    sum.add(&own, split)?;
                    if place == 0 {
                        margins.extend(margins_of(&own.learned, &split.test, &split.evaluation)?);
                        fit = Some(own);
                    }
                }
                // Unless it was requested, an evaluation that fails does not stop learning from all triplets.
                Err(error) if place == 0 && args.hold_out.is_none() && !error.is_interrupted() => {
                    console.inform(&format!("nothing is held out for evaluation: {error}"));
                    return Ok(None);
                }
                Err(error) if place == 0 || error.is_interrupted() => return Err(typed(error)),
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            console.warn(&format!("the baseline {} failed: {error}", learner.name()));
            continue;
        }
        let triplets: usize = splits.iter().map(|split| split.evaluation.len()).sum();
        sum.accuracy /= triplets as f64;
        sum.features /= splits.len() as f64;
        evaluated.push(sum);
    }
    let mean = |count: fn(&Split) -> usize| splits.iter().map(count).sum::<usize>() / splits.len();
    Ok(Some(HoldOut {
        by,
        learned_rows: mean(|split| split.learned_rows),
        train: mean(|split| split.learn.len()),
        test: splits.iter().map(|split| split.evaluation.len()).sum(),
        straddling: splits.iter().map(|split| split.straddling).sum(),
        evaluated,
        fit: fit.filter(|_| splits.len() == 1),
        margins,
    }))
}

/// Splits into training and test triplets. Returns nothing if there are too few and the user did not request it.
fn make_splits(
    input: &Input,
    fraction: f64,
    args: &DesignArgs,
    ctx: &Context,
    console: &Console,
) -> Result<Option<Splitting>, Failure> {
    let splitting = match input.drawn {
        Some(n) => split_drawn(input, n, fraction, args.scale, ctx),
        None => split_given(input, fraction, args.scale, ctx.seed, console),
    };
    match splitting {
        Ok(splitting) => Ok(Some(splitting)),
        Err(error) if error.is_interrupted() => Err(Failure::Interrupted),
        Err(error) if args.hold_out.is_none() => {
            console.inform(&format!("nothing is held out for evaluation: {error}"));
            Ok(None)
        }
        Err(error) => Err(Failure::Input(format!(
            "{error}; --hold-out {fraction} leaves too little for evaluation, use another fraction or 0"
        ))),
    }
}

impl Evaluated {
    fn add(&mut self, fit: &Fit, split: &Split) -> kernsift::Result<()> {
        let learned = &fit.learned;
        let accuracy = triplet_accuracy_of(&learned.kernel, split.test.x(), &split.evaluation)?;
        self.accuracy += accuracy * split.evaluation.len() as f64;
        self.features += learned.features().len() as f64;
        self.converged &= learned.status.converged();
        Ok(())
    }
}

/// Holds out rows, stratified by class, and draws triplets within the training and within the test rows.
fn split_drawn(
    input: &Input,
    n: usize,
    fraction: f64,
    scale: ScaleArg,
    ctx: &Context,
) -> kernsift::Result<Splitting> {
    let data = &input.loaded.prepared.data;
    let folds =
        Splits::Holdout { test_size: fraction, repeats: 1 }.split(data.target(), data.n(), ctx.seed)?;
    let fold = folds.into_iter().next().expect("a fold for the only repeat");
    let (train, test) = (data.take_rows(&fold.train), data.take_rows(&fold.test));
    let within = |data: &Dataset, n: usize| {
        let rows: Vec<usize> = (0..data.n()).collect();
        from_target(data.target(), &rows, n, ctx)
    };
    let (learn, evaluation) = (within(&train, n)?, within(&test, EVALUATION_TRIPLETS)?);
    let (by, learned_rows) = (By::Rows(test.n()), train.n());
    let encoder = Encoder::fit(&train, input.loaded.encoding(scale == ScaleArg::Standard))?;
    let (train, test) = (encoder.encode(&train)?, encoder.encode(&test)?);
    Ok((by, vec![Split { train, learn, test, evaluation, learned_rows, straddling: 0 }]))
}

/// Holds out rows with the triplets among them; if these are too few, triplets; if these are also too few, triplets in
/// several folds.
fn split_given(
    input: &Input,
    fraction: f64,
    scale: ScaleArg,
    seed: u64,
    console: &Console,
) -> kernsift::Result<Splitting> {
    let triplets = &input.triplets;
    let is_enough = |held: &TripletSplit| held.train.len().min(held.test.len()) >= MIN_TRIPLETS;
    if let Some(held) = hold_out_points(triplets, fraction, seed).ok().filter(&is_enough) {
        let by = By::Rows(held.points.test.len());
        return Ok((by, vec![split(input, held, true, scale)?]));
    }
    console.inform(&format!(
        "fewer than {MIN_TRIPLETS} triplets lie within {} of the rows, so triplets are held out instead of rows: the accuracy \
         is for new triplets of these rows, not for new rows",
        percent(fraction)
    ));
    let held = hold_out_triplets(triplets, fraction, seed)?;
    if is_enough(&held) {
        return Ok((By::Triplets, vec![split(input, held, false, scale)?]));
    }
    let most = ((1.0 / fraction).round() as usize).clamp(2, 10);
    let folds = (2..=most).rev().find_map(|folds| triplet_folds(triplets, folds, seed).ok());
    let folds = folds.expect("the triplets could be split in two");
    let by = By::Folds(folds.len());
    let splits = folds.into_iter().map(|held| split(input, held, false, scale));
    Ok((by, splits.collect::<kernsift::Result<_>>()?))
}

fn split(input: &Input, held: TripletSplit, is_by_rows: bool, scale: ScaleArg) -> kernsift::Result<Split> {
    let data = &input.loaded.prepared.data;
    let mut kept = vec![true; data.n()];
    if is_by_rows {
        held.points.test.iter().for_each(|&row| kept[row] = false);
    }
    let kept: Vec<usize> = (0..data.n()).filter(|&row| kept[row]).collect();
    let encoding = input.loaded.encoding(scale == ScaleArg::Standard);
    let encoded = Encoder::fit(&data.take_rows(&kept), encoding)?.encode(data)?;
    Ok(Split {
        train: encoded.clone(),
        learn: held.train,
        test: encoded,
        evaluation: held.test,
        learned_rows: held.points.train.len(),
        straddling: held.straddling,
    })
}
