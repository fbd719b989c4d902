//! How good kernels are on triplets that they were not learned from.

use super::options::typed;
use super::triplets::Stated;
use super::{Made, learn, margins_of};
use crate::args::{DesignArgs, ScaleArg};
use crate::console::{Console, ProgressOnly};
use crate::failure::Failure;
use crate::output::percent;
use kernsift::data::triplets::{
    TripletSplit, from_target, hold_out_points, hold_out_triplets, triplet_folds,
};
use kernsift::data::{Dataset, Splits, Standardizer, Triplet};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::learn::{KernelLearner, LearnerMethod};
use kernsift::{Context, Observer};

/// The share of rows that is held out unless the user says otherwise.
const SHARE: f64 = 0.15;
/// Triplets that are drawn from the target for evaluation.
const EVALUATION_TRIPLETS: usize = 1000;
/// Fewer triplets than this say too little for evaluation at once.
const FEW: usize = 30;

/// What was held out, and how kernels did on it.
pub struct Held {
    /// How.
    pub by: By,
    /// Rows that were learned from.
    pub learned_rows: usize,
    /// Triplets to learn from; in folds on average.
    pub train: usize,
    /// Triplets for evaluation.
    pub test: usize,
    /// Triplets with rows on both sides, which serve neither.
    pub straddling: usize,
    /// The learner that was asked for, then the others.
    pub evaluated: Vec<Evaluated>,
    /// What was learned, where it was learned once; its penalties were chosen without what is held out.
    pub made: Option<Made>,
    /// How much more like its near row than its far row the row of each triplet for evaluation is, by the learner that was asked for.
    pub margins: Vec<f64>,
}

/// What is held out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// So many rows, and with them their triplets.
    Rows(usize),
    /// Triplets, whatever their rows.
    Triplets,
    /// Triplets, each of them once in so many folds.
    Folds(usize),
}

/// How one learner did.
pub struct Evaluated {
    /// Its name.
    pub method: String,
    /// The share of held-out triplets that its kernel has in order; half of each tie.
    pub accuracy: f64,
    /// Columns that its kernel looks at; in folds on average.
    pub columns: f64,
    /// Whether the search came to its end every time.
    pub converged: bool,
}

/// What is held out, and the two sides of every fold.
type Parted = (By, Vec<Sides>);

/// Two sides.
struct Sides {
    /// Rows to learn from, scaled by themselves.
    train: Dataset,
    learn: Vec<Triplet>,
    /// Rows for evaluation, on the same scale.
    test: Dataset,
    evaluation: Vec<Triplet>,
    learned_rows: usize,
    straddling: usize,
}

/// Holds some rows or triplets out, learns from the others, and evaluates. Nothing if there is too little to hold
/// out and the user did not ask for it.
pub fn hold_out(
    stated: &Stated,
    method: &LearnerMethod,
    baselines: &[LearnerMethod],
    args: &DesignArgs,
    ctx: &Context,
    console: &Console,
) -> Result<Option<Held>, Failure> {
    let share = args.hold_out.unwrap_or(SHARE);
    if share == 0.0 {
        return Ok(None);
    }
    let parted = match stated.drawn {
        Some(n) => drawn(stated, n, share, args.scale, ctx),
        None => given(stated, share, args.scale, ctx.seed, console),
    };
    let (by, all_sides) = match parted {
        Ok(parted) => parted,
        Err(error) if error.is_interrupted() => return Err(Failure::Interrupted),
        Err(error) if args.hold_out.is_none() => {
            console.inform(&format!("nothing is held out for evaluation: {error}"));
            return Ok(None);
        }
        Err(error) => {
            return Err(Failure::Input(format!(
                "{error}; with --hold-out {share} there is too little for evaluation, use another share or 0"
            )));
        }
    };
    let observer = ProgressOnly { console, purpose: "held-out triplets" };
    let ctx = Context { observer: &observer, ..*ctx };
    let mut evaluated = vec![];
    let (mut made, mut margins) = (None, vec![]);
    for (place, learner) in std::iter::once(method).chain(baselines).enumerate() {
        let mut sum =
            Evaluated { method: learner.name().into(), accuracy: 0.0, columns: 0.0, converged: true };
        let mut failure = None;
        for sides in &all_sides {
            match learn(learner, &sides.train, &sides.learn, stated.drawn, &ctx) {
                Ok(own) => {
                    sum.add(&own, sides)?;
                    if place == 0 {
                        margins.extend(margins_of(&own.learned, &sides.test, &sides.evaluation)?);
                        made = Some(own);
                    }
                }
                // Unasked for, it must not stand in the way of learning from all triplets.
                Err(error) if place == 0 && args.hold_out.is_none() && !error.is_interrupted() => {
                    console.inform(&format!("nothing is held out for evaluation: {error}"));
                    return Ok(None);
                }
                Err(error) if place == 0 || error.is_interrupted() => return Err(typed(error)),
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            console.warn(&format!("{} is not compared with it: {error}", learner.name()));
            continue;
        }
        let triplets: usize = all_sides.iter().map(|sides| sides.evaluation.len()).sum();
        sum.accuracy /= triplets as f64;
        sum.columns /= all_sides.len() as f64;
        evaluated.push(sum);
    }
    let mean = |count: fn(&Sides) -> usize| all_sides.iter().map(count).sum::<usize>() / all_sides.len();
    Ok(Some(Held {
        by,
        learned_rows: mean(|sides| sides.learned_rows),
        train: mean(|sides| sides.learn.len()),
        test: all_sides.iter().map(|sides| sides.evaluation.len()).sum(),
        straddling: all_sides.iter().map(|sides| sides.straddling).sum(),
        evaluated,
        made: made.filter(|_| all_sides.len() == 1),
        margins,
    }))
}

impl Evaluated {
    fn add(&mut self, made: &Made, sides: &Sides) -> kernsift::Result<()> {
        let learned = &made.learned;
        let share = triplet_accuracy_of(&learned.kernel, sides.test.x(), &sides.evaluation)?;
        self.accuracy += share * sides.evaluation.len() as f64;
        self.columns += learned.features().len() as f64;
        self.converged &= learned.status.converged();
        Ok(())
    }
}

/// Rows are held out, class by class, and triplets are drawn within each side.
fn drawn(stated: &Stated, n: usize, share: f64, scale: ScaleArg, ctx: &Context) -> kernsift::Result<Parted> {
    let data = &stated.loaded.prepared.data;
    let deal = Splits::Holdout { test_size: share, repeats: 1 }.split(data.target(), data.n(), ctx.seed)?;
    let fold = deal.into_iter().next().expect("a fold for the only repeat");
    let (train, test) = (data.take_rows(&fold.train), data.take_rows(&fold.test));
    let within = |data: &Dataset, n: usize| {
        let rows: Vec<usize> = (0..data.n()).collect();
        from_target(data.target(), &rows, n, ctx)
    };
    let (learn, evaluation) = (within(&train, n)?, within(&test, EVALUATION_TRIPLETS)?);
    let (by, learned_rows) = (By::Rows(test.n()), train.n());
    let (train, test) = match scale {
        ScaleArg::None => (train, test),
        ScaleArg::Standard => {
            let scaler = Standardizer::fit(train.x());
            (train.with_x(scaler.apply(train.x())?)?, test.with_x(scaler.apply(test.x())?)?)
        }
    };
    Ok((by, vec![Sides { train, learn, test, evaluation, learned_rows, straddling: 0 }]))
}

/// Rows are held out, and triplets go where all their rows are. Where that leaves too few for evaluation, triplets
/// are held out; and where these are few, each of them in one of several folds.
fn given(
    stated: &Stated,
    share: f64,
    scale: ScaleArg,
    seed: u64,
    console: &Console,
) -> kernsift::Result<Parted> {
    let triplets = &stated.triplets;
    let enough = |held: &TripletSplit| held.train.len().min(held.test.len()) >= FEW;
    if let Some(held) = hold_out_points(triplets, share, seed).ok().filter(&enough) {
        let by = By::Rows(held.points.test.len());
        return Ok((by, vec![sides(stated, held, true, scale)?]));
    }
    console.inform(&format!(
        "fewer than {FEW} triplets lie within {} of the rows, so triplets are held out and not rows: that tells whether the \
         statements fit each other, less how they hold for new rows",
        percent(share)
    ));
    let held = hold_out_triplets(triplets, share, seed)?;
    if enough(&held) {
        return Ok((By::Triplets, vec![sides(stated, held, false, scale)?]));
    }
    let wanted = ((1.0 / share).round() as usize).clamp(2, 10);
    // Fewer where there are fewer triplets.
    let folds = (2..=wanted).rev().find_map(|folds| triplet_folds(triplets, folds, seed).ok());
    let folds = folds.expect("they could be split in two");
    let by = By::Folds(folds.len());
    Ok((
        by,
        folds.into_iter().map(|held| sides(stated, held, false, scale)).collect::<kernsift::Result<_>>()?,
    ))
}

fn sides(stated: &Stated, held: TripletSplit, is_by_rows: bool, scale: ScaleArg) -> kernsift::Result<Sides> {
    let data = &stated.loaded.prepared.data;
    let scaled = match scale {
        ScaleArg::None => data.clone(),
        ScaleArg::Standard => {
            let mut kept = vec![true; data.n()];
            if is_by_rows {
                held.points.test.iter().for_each(|&row| kept[row] = false);
            }
            let kept: Vec<usize> = (0..data.n()).filter(|&row| kept[row]).collect();
            data.with_x(Standardizer::fit(&data.x().take_rows(&kept)).apply(data.x())?)?
        }
    };
    Ok(Sides {
        train: scaled.clone(),
        learn: held.train,
        test: scaled,
        evaluation: held.test,
        learned_rows: held.points.train.len(),
        straddling: held.straddling,
    })
}
