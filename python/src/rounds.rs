//! Fits in rounds over blocks of rows, which another program passes around: rounds and sums are bytes.

use crate::array::{MatrixArgument, VectorArgument};
use crate::basis::FeatureMap;
use crate::convert::{from_json, to_json};
use crate::error::to_python;
use crate::run::{Settings, run};
use crate::select::selection_dict;
use kernsift::basis::{BasisMethod, KoblRounds, KoblSums};
use kernsift::blocks::{Block, BlockTarget, Layout, Next, Rounds, TargetLayout};
use kernsift::interactions::{InteractionScreen, PairRounds, PairSums};
use kernsift::select::{FeatureCount, SelectorMethod, SelectorRounds, SelectorSums};
use kernsift::{Context, Error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A round and what is known of the table.
#[derive(Serialize, Deserialize)]
struct Round {
    layout: Layout,
    rounds: AnyRounds,
}

#[derive(Serialize, Deserialize)]
enum AnyRounds {
    Select(SelectorRounds),
    Pairs(PairRounds),
    Basis(Box<KoblRounds>),
}

#[derive(Serialize, Deserialize)]
enum AnySums {
    Select(SelectorSums),
    Pairs(PairSums),
    Basis(KoblSums),
}

/// What follows a round.
enum Following {
    Round(AnyRounds),
    Selection(kernsift::Selection),
    Pairs(kernsift::interactions::Interactions),
    Map(Arc<kernsift::FeatureMap>),
}

fn to_bytes(value: &impl Serialize) -> PyResult<Vec<u8>> {
    rmp_serde::to_vec_named(value).map_err(|e| PyValueError::new_err(e.to_string()))
}

fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> PyResult<T> {
    rmp_serde::from_slice(bytes).map_err(|e| PyValueError::new_err(format!("not the bytes of a round: {e}")))
}

/// Rows of the blocks of a table with `d` features.
#[pyfunction]
pub fn block_rows(d: usize) -> usize {
    kernsift::blocks::block_rows(d)
}

/// The first round of a method of the family "selector", "screen" or "basis"; `method`, `count` and `layout` are JSON.
#[pyfunction]
pub fn start_rounds<'py>(
    py: Python<'py>,
    family: &str,
    method: &str,
    count: &str,
    layout: &str,
    settings: Settings,
) -> PyResult<Bound<'py, PyBytes>> {
    let layout: Layout = from_json("layout", layout)?;
    let count: FeatureCount = from_json("n_features_to_select", count)?;
    let known = layout.clone();
    let rounds = match family {
        "selector" => {
            let method: SelectorMethod = from_json("method", method)?;
            AnyRounds::Select(run(py, settings, move |ctx| method.rounds(&known, count, ctx))?)
        }
        "screen" => {
            let screen: InteractionScreen = from_json("interactions", method)?;
            AnyRounds::Pairs(run(py, settings, move |ctx| screen.rounds(&known, ctx))?)
        }
        _ => {
            let BasisMethod::Kobl(kobl) = from_json("method", method)? else {
                let supported = vec!["kobl"];
                return Err(to_python(Error::RoundsUnsupported { method: "this basis".into(), supported }));
            };
            AnyRounds::Basis(Box::new(run(py, settings, move |ctx| kobl.rounds(&known, false, ctx))?))
        }
    };
    Ok(PyBytes::new(py, &to_bytes(&Round { layout, rounds })?))
}

/// The target of a block: class codes or numbers.
#[derive(FromPyObject)]
pub enum BlockTargetArgument<'py> {
    Codes(VectorArgument<'py, i64>),
    Numbers(VectorArgument<'py, f64>),
}

/// The result of a block of rows, of which `first` is the number of the first.
#[pyfunction]
pub fn sums_of_block<'py>(
    py: Python<'py>,
    round: &[u8],
    first: usize,
    x: MatrixArgument<'py, f64>,
    y: Option<BlockTargetArgument<'py>>,
    settings: Settings,
) -> PyResult<Bound<'py, PyBytes>> {
    let Round { layout, rounds } = from_bytes(round)?;
    let target = match (&layout.target, y) {
        (TargetLayout::None, _) | (_, None) => BlockTarget::None,
        (_, Some(BlockTargetArgument::Codes(codes))) => {
            BlockTarget::Classes(codes.as_array().iter().map(|&code| code as usize).collect())
        }
        (_, Some(BlockTargetArgument::Numbers(values))) => {
            BlockTarget::Continuous(values.as_array().to_vec())
        }
    };
    let x = x.as_array().as_standard_layout().into_owned();
    let sums = run(py, settings, move |_| {
        let block = Block::new(first, x, target, &layout)?;
        Ok(match &rounds {
            AnyRounds::Select(rounds) => AnySums::Select(rounds.of_block(&block)?),
            AnyRounds::Pairs(rounds) => AnySums::Pairs(rounds.of_block(&block)?),
            AnyRounds::Basis(rounds) => AnySums::Basis(rounds.of_block(&block)?),
        })
    })?;
    Ok(PyBytes::new(py, &to_bytes(&sums)?))
}

/// The sum of the results of consecutive parts of the rows, added from the first to the last.
#[pyfunction]
pub fn add_sums<'py>(
    py: Python<'py>,
    round: &[u8],
    parts: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let Round { rounds, .. } = from_bytes(round)?;
    let mut total: Option<AnySums> = None;
    for part in &parts {
        let later: AnySums = from_bytes(part.as_bytes())?;
        match (&rounds, &mut total, later) {
            (_, total @ None, first) => *total = Some(first),
            (AnyRounds::Select(rounds), Some(AnySums::Select(total)), AnySums::Select(later)) => {
                rounds.add(total, later);
            }
            (AnyRounds::Pairs(rounds), Some(AnySums::Pairs(total)), AnySums::Pairs(later)) => {
                rounds.add(total, later);
            }
            (AnyRounds::Basis(rounds), Some(AnySums::Basis(total)), AnySums::Basis(later)) => {
                rounds.add(total, later);
            }
            _ => return Err(PyValueError::new_err("these are results of different methods")),
        }
    }
    let total = total.ok_or_else(|| PyValueError::new_err("there are no results to add"))?;
    Ok(PyBytes::new(py, &to_bytes(&total)?))
}

/// What follows a round, given the sum of all results: "round" and its "stage", or the fit as "selection", "pairs" (JSON) or "map".
#[pyfunction]
pub fn next_round<'py>(
    py: Python<'py>,
    round: &[u8],
    total: &[u8],
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let Round { layout, rounds } = from_bytes(round)?;
    let total: AnySums = from_bytes(total)?;
    let n = layout.n;
    let following = run(py, settings, move |ctx| following(rounds, total, ctx))?;
    let dict = PyDict::new(py);
    match following {
        Following::Round(rounds) => {
            dict.set_item("stage", stage(&rounds))?;
            dict.set_item("round", PyBytes::new(py, &to_bytes(&Round { layout, rounds })?))?;
        }
        Following::Selection(selection) => dict.set_item("selection", selection_dict(py, selection, n)?)?,
        Following::Pairs(pairs) => dict.set_item("pairs", to_json(&pairs)?)?,
        Following::Map(map) => dict.set_item("map", FeatureMap(map))?,
    }
    Ok(dict)
}

fn stage(rounds: &AnyRounds) -> &'static str {
    match rounds {
        AnyRounds::Select(rounds) => rounds.stage(),
        AnyRounds::Pairs(rounds) => rounds.stage(),
        AnyRounds::Basis(rounds) => rounds.stage(),
    }
}

fn following(rounds: AnyRounds, total: AnySums, ctx: &Context) -> kernsift::Result<Following> {
    Ok(match (rounds, total) {
        (AnyRounds::Select(rounds), AnySums::Select(total)) => match rounds.update(total, ctx)? {
            Next::Round(next) => Following::Round(AnyRounds::Select(next)),
            Next::Fit(fit) => Following::Selection(fit),
        },
        (AnyRounds::Pairs(rounds), AnySums::Pairs(total)) => match rounds.update(total, ctx)? {
            Next::Round(next) => Following::Round(AnyRounds::Pairs(next)),
            Next::Fit(fit) => Following::Pairs(fit),
        },
        (AnyRounds::Basis(rounds), AnySums::Basis(total)) => match rounds.update(total, ctx)? {
            Next::Round(next) => Following::Round(AnyRounds::Basis(Box::new(next))),
            Next::Fit(fit) => Following::Map(Arc::new(fit.map)),
        },
        _ => return Err(Error::parse("these are results of another method")),
    })
}
