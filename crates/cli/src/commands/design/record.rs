//! The results as JSON.

use super::fit::by_score;
use super::holdout::{By, Evaluated, HoldOut};
use super::page::own_kernel;
use super::results::Results;
use crate::args::ScaleArg;
use kernsift::Context;
use kernsift::learn::design::Designed;
use serde_json::{Map, Value, json};

/// The record of `--json`.
pub fn record(result: &Results, ctx: &Context) -> Value {
    let (input, learned) = (result.input, &result.fit.learned);
    let names = input.loaded.prepared.data.names();
    let violated: Vec<usize> = result.violated.iter().map(|&at| input.lines[at]).collect();
    let fields = json!({
        "method": learned.method,
        "scaled": result.args.scale == ScaleArg::Standard,
        "triplets": {
            "file": result.args.triplets,
            "drawn": input.drawn,
            "report": input.report,
            "dropped": input.dropped,
            "satisfied": result.accuracy,
            // Counted from 1, as lines of the file without its header.
            "violated": if input.drawn.is_some() { Value::Null } else { json!(violated) },
        },
        "status": learned.status,
        "status_text": learned.status.explain(),
        "iterations": learned.iterations,
        "selected": by_score(learned).iter().map(|&j| &names[j]).collect::<Vec<_>>(),
        "scores": names.iter().cloned().zip(learned.scores.iter().map(|&s| json!(s))).collect::<Map<_, _>>(),
        "kernel": learned.kernel,
        "noise": learned.noise,
        "mixture": result.fit.designed.as_ref().map(|designed| mixture(designed, names)),
        "held_out": result.hold_out.as_ref().map(held_out),
        "seconds": result.seconds,
        "settings": result.method,
    });
    input.loaded.record("design", ctx, fields)
}

fn mixture(designed: &Designed, names: &[String]) -> Value {
    let mixture = &designed.mixture;
    let weighted = designed.bases.iter().zip(&mixture.alpha).zip(&mixture.scales);
    let kernels: Vec<Value> = weighted
        .filter(|((_, alpha), _)| **alpha != 0.0)
        .map(|((base, alpha), scale)| {
            json!({
                "feature": base.feature.map(|j| &names[j]),
                "kernel": own_kernel(&base.kernel),
                "weight": alpha,
                "scale": scale,
            })
        })
        .collect();
    json!({
        "kernels": kernels,
        "n_kernels": designed.bases.len(),
        "psd": mixture.psd,
        "gamma1": mixture.penalties.kernels,
        "gamma2": mixture.penalties.diagonal,
        "trials": mixture.trials,
        "objective": mixture.objective,
        "bounds": mixture.bounds,
        "cuts": mixture.cuts,
        "points": mixture.points,
    })
}

fn held_out(held: &HoldOut) -> Value {
    let designed = held.fit.as_ref().and_then(|fit| fit.designed.as_ref());
    let (by, rows, folds) = match held.by {
        By::Rows(rows) => ("rows", Some(rows), None),
        By::Triplets => ("triplets", None, None),
        By::Folds(folds) => ("triplets", None, Some(folds)),
    };
    let each = |value: fn(&Evaluated) -> Value| -> Map<String, Value> {
        held.evaluated.iter().map(|evaluated| (evaluated.method.clone(), value(evaluated))).collect()
    };
    json!({
        "by": by,
        "rows": rows,
        "folds": folds,
        "learned_rows": held.learned_rows,
        "triplets": held.test,
        "learned_triplets": held.train,
        "straddling": held.straddling,
        "trials": designed.map(|designed| &designed.mixture.trials),
        "accuracy": each(|evaluated| json!(evaluated.accuracy)),
        "features": each(|evaluated| json!(evaluated.features)),
        "converged": each(|evaluated| json!(evaluated.converged)),
    })
}
