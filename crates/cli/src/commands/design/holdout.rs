//! How good kernels are on triples that they were not learned from.

use super::options::typed;
use super::triples::Stated;
use super::{Made, learn};
use crate::args::{DesignArgs, ScaleArg};
use crate::console::{Console, Rehearsal};
use crate::failure::Failure;
use crate::output::percent;
use kernsift::data::triplets::{from_target, hold_out_points, hold_out_triplets};
use kernsift::data::{Dataset, Splits, Standardizer, Triplet};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::learn::design::Penalties;
use kernsift::learn::{KernelLearner, LearnerMethod, Status};
use kernsift::{Context, Error, Observer};

/// The share of rows that is held out unless the user says otherwise.
const SHARE: f64 = 0.15;
/// Triples that are drawn from the target to judge by.
const JUDGING: usize = 1000;
/// Fewer triples than this say too little; then triples are held out, not rows.
const FEW: usize = 30;

/// What was held out, and how kernels did on it.
pub struct Held {
    /// Rows that are held out; none if triples are, whatever their rows.
    pub rows: Option<usize>,
    /// Rows that were learned from.
    pub learned_rows: usize,
    /// Triples to learn from.
    pub train: usize,
    /// Triples to judge by.
    pub test: usize,
    /// Triples with rows on both sides, which serve neither.
    pub straddling: usize,
    /// The learner that was asked for, then the others.
    pub judged: Vec<Judged>,
    /// The penalties that were chosen without what is held out.
    pub penalties: Option<Penalties>,
    /// What was tried for that.
    pub made: Made,
}

/// How one learner did.
pub struct Judged {
    /// Its name.
    pub method: String,
    /// The share of held-out triples that its kernel has in order; half of each tie.
    pub accuracy: f64,
    /// Columns that its kernel looks at.
    pub columns: usize,
    /// How its search ended.
    pub status: Status,
}

/// Two sides.
struct Sides {
    /// Rows to learn from, scaled by themselves.
    train: Dataset,
    learn: Vec<Triplet>,
    /// Rows to judge by, on the same scale.
    test: Dataset,
    judge: Vec<Triplet>,
    rows: Option<usize>,
    learned_rows: usize,
    straddling: usize,
}

/// Holds some rows out, learns from the others, and judges. Nothing if there is too little to hold out and the
/// user did not ask for it.
pub fn hold_out(
    stated: &Stated,
    method: &LearnerMethod,
    beside: &[LearnerMethod],
    args: &DesignArgs,
    ctx: &Context,
    console: &Console,
) -> Result<Option<Held>, Failure> {
    let share = args.hold_out.unwrap_or(SHARE);
    if share == 0.0 {
        return Ok(None);
    }
    let sides = match stated.drawn {
        Some(n) => drawn(stated, n, share, args.scale, ctx),
        None => given(stated, share, args.scale, ctx.seed, console),
    };
    let sides = match sides {
        Ok(sides) => sides,
        Err(error) if args.hold_out.is_none() && !error.is_interrupted() => {
            console.inform(&format!("nothing is held out to judge by: {error}"));
            return Ok(None);
        }
        Err(error) if error.is_interrupted() => return Err(Failure::Interrupted),
        Err(error) => {
            let Failure::Input(message) = typed(error) else { return Err(Failure::Interrupted) };
            return Err(Failure::Input(format!(
                "{message}; with --hold-out {share} there is too little to judge by, use another share or 0"
            )));
        }
    };
    let rehearsal = Rehearsal { console, aim: "held-out triples" };
    let ctx = Context { observer: &rehearsal, ..*ctx };
    let made = learn(method, &sides.train, &sides.learn, stated.drawn, &ctx).map_err(typed)?;
    let mut judged = vec![judge(method.name(), &made, &sides)?];
    for other in beside {
        match learn(other, &sides.train, &sides.learn, stated.drawn, &ctx) {
            Ok(made) => judged.push(judge(other.name(), &made, &sides)?),
            Err(error) if error.is_interrupted() => return Err(Failure::Interrupted),
            Err(error) => console.warn(&format!("{} is not judged beside it: {error}", other.name())),
        }
    }
    Ok(Some(Held {
        rows: sides.rows,
        learned_rows: sides.learned_rows,
        train: sides.learn.len(),
        test: sides.judge.len(),
        straddling: sides.straddling,
        judged,
        penalties: made.designed.as_ref().map(|designed| designed.mixture.penalties),
        made,
    }))
}

fn judge(name: &str, made: &Made, sides: &Sides) -> Result<Judged, Error> {
    let learned = &made.learned;
    let accuracy = triplet_accuracy_of(&learned.kernel, sides.test.x(), &sides.judge)?;
    Ok(Judged {
        method: name.to_owned(),
        accuracy,
        columns: learned.features().len(),
        status: learned.status,
    })
}

/// Rows are held out, class by class, and triples are drawn within each side.
fn drawn(stated: &Stated, n: usize, share: f64, scale: ScaleArg, ctx: &Context) -> kernsift::Result<Sides> {
    let data = &stated.loaded.prepared.data;
    let deal = Splits::Holdout { test_share: share, repeats: 1 }.deal(data.target(), data.n(), ctx.seed)?;
    let fold = deal.into_iter().next().expect("a fold for the only repeat");
    let (train, test) = (data.take_rows(&fold.train), data.take_rows(&fold.test));
    let within = |data: &Dataset, n: usize| {
        let rows: Vec<usize> = (0..data.n()).collect();
        from_target(data.target(), &rows, n, ctx.seed)
    };
    let (learn, judge) = (within(&train, n)?, within(&test, JUDGING)?);
    let (rows, learned_rows) = (Some(test.n()), train.n());
    let (train, test) = match scale {
        ScaleArg::None => (train, test),
        ScaleArg::Standard => {
            let scaler = Standardizer::fit(train.x());
            (train.with_x(scaler.apply(train.x())?)?, test.with_x(scaler.apply(test.x())?)?)
        }
    };
    Ok(Sides { train, learn, test, judge, rows, learned_rows, straddling: 0 })
}

/// Rows are held out, and triples go where all their rows are; where that leaves too few, triples are held out.
fn given(
    stated: &Stated,
    share: f64,
    scale: ScaleArg,
    seed: u64,
    console: &Console,
) -> kernsift::Result<Sides> {
    let data = &stated.loaded.prepared.data;
    let by_rows = hold_out_points(&stated.triplets, share, seed)
        .ok()
        .filter(|held| held.train.len().min(held.test.len()) >= FEW);
    let (held, is_by_rows) = match by_rows {
        Some(held) => (held, true),
        None => {
            let held = hold_out_triplets(&stated.triplets, share, seed)?;
            console.inform(&format!(
                "fewer than {FEW} triples lie within {} of the rows, so triples are held out and not rows: that tells \
                 whether the statements fit each other, less how they hold for new rows",
                percent(share)
            ));
            (held, false)
        }
    };
    let scaled = match scale {
        ScaleArg::None => data.clone(),
        ScaleArg::Standard if is_by_rows => {
            let mut kept = vec![true; data.n()];
            held.points.test.iter().for_each(|&row| kept[row] = false);
            let kept: Vec<usize> = (0..data.n()).filter(|&row| kept[row]).collect();
            data.with_x(Standardizer::fit(&data.x().take_rows(&kept)).apply(data.x())?)?
        }
        ScaleArg::Standard => data.with_x(Standardizer::fit(data.x()).apply(data.x())?)?,
    };
    Ok(Sides {
        train: scaled.clone(),
        learn: held.train,
        test: scaled,
        judge: held.test,
        rows: is_by_rows.then_some(held.points.test.len()),
        learned_rows: held.points.train.len(),
        straddling: held.straddling,
    })
}
