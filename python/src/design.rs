//! Kernel design.

use crate::array::{MatrixArgument, VectorArgument};
use crate::convert::{
    RowsArgument, TargetArgument, from_json, from_triplets, name_of, scaled, set_scaling, to_encoded_dataset,
    to_json, to_triplets,
};
use crate::run::{Settings, run};
use kernsift::data::triplets::{check, from_target, points};
use kernsift::data::{Dataset, Triplet};
use kernsift::learn::KernelDesign;
use kernsift::learn::design::{Base, Mixture, Trial};
use kernsift::{Context, Kernel};
use numpy::IntoPyArray;
use numpy::ndarray::Array2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The given triplets, or the number to draw from the target.
enum TripletSource {
    Given(Vec<Triplet>),
    Drawn(usize),
}

impl TripletSource {
    fn new(triplets: Option<MatrixArgument<'_, i64>>, n: usize) -> Self {
        triplets.map_or(Self::Drawn(n), |triplets| Self::Given(to_triplets(&triplets)))
    }

    fn triplets(&self, data: &Dataset, ctx: &Context) -> kernsift::Result<Vec<Triplet>> {
        match self {
            Self::Given(triplets) => check(triplets, data.n()).map(|_| triplets.clone()),
            Self::Drawn(n) => from_target(data.target(), &(0..data.n()).collect::<Vec<_>>(), *n, ctx),
        }
    }
}

/// Designs a kernel from triplets or, without these, from `n` triplets drawn from `y`; `design` is JSON, `sizes` are the
/// numbers of columns of encoded features. Kernels expect samples with `shift` subtracted and divided by `scale`, if these are
/// given.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by position")]
pub fn fit_design<'py>(
    py: Python<'py>,
    design: &str,
    x: RowsArgument<'py>,
    sizes: Option<Vec<usize>>,
    triplets: Option<MatrixArgument<'py, i64>>,
    y: Option<TargetArgument<'py>>,
    n: usize,
    standardize: bool,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let design: KernelDesign = from_json("design", design)?;
    let (data, source) = (to_encoded_dataset(&x, sizes, y)?, TripletSource::new(triplets, n));
    drop(x);
    let (designed, encoder) = run(py, settings, move |ctx| {
        let (data, encoder) = scaled(data, standardize)?;
        let triplets = source.triplets(&data, ctx)?;
        let designed = match source {
            TripletSource::Given(_) => design.design(&data, &triplets, ctx)?,
            TripletSource::Drawn(n) => design.design_from_target(&data, n, ctx)?,
        };
        Ok((designed, encoder))
    })?;
    let dict = mixture(py, designed.mixture)?;
    set_bases(&dict, designed.bases)?;
    dict.set_item("kernel", to_json(&designed.learned.kernel)?)?;
    dict.set_item("scores", designed.learned.scores.into_pyarray(py))?;
    set_scaling(&dict, encoder.as_ref())?;
    Ok(dict)
}

/// Prepares a design with kernels written in Python: the kernels given by name, the triplets, and the scaling.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, by position")]
pub fn prepare_design<'py>(
    py: Python<'py>,
    design: &str,
    x: RowsArgument<'py>,
    sizes: Option<Vec<usize>>,
    triplets: Option<MatrixArgument<'py, i64>>,
    y: Option<TargetArgument<'py>>,
    n: usize,
    standardize: bool,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let design: KernelDesign = from_json("design", design)?;
    let (data, source) = (to_encoded_dataset(&x, sizes, y)?, TripletSource::new(triplets, n));
    drop(x);
    let (bases, triplets, encoder) = run(py, settings, move |ctx| {
        let (data, encoder) = scaled(data, standardize)?;
        let triplets = source.triplets(&data, ctx)?;
        let bases = &design.bases;
        let resolved = if bases.kernels.is_empty() && bases.custom.0.is_empty() {
            bases.check().map(|()| vec![])?
        } else {
            let rows = data.x().take_rows(&points(&triplets));
            bases.resolve(&rows, &data.groups(), ctx.seed)?
        };
        Ok((resolved, triplets, encoder))
    })?;
    let dict = PyDict::new(py);
    set_bases(&dict, bases)?;
    dict.set_item("triplets", from_triplets(&triplets).into_pyarray(py))?;
    set_scaling(&dict, encoder.as_ref())?;
    Ok(dict)
}

/// Sets `kernels`, and `features`: the feature that each sees if it sees only one.
fn set_bases(dict: &Bound<'_, PyDict>, bases: Vec<Base>) -> PyResult<()> {
    let (kernels, features): (Vec<Kernel>, Vec<Option<usize>>) =
        bases.into_iter().map(|base| (base.kernel, base.feature)).unzip();
    dict.set_item("kernels", to_json(&kernels)?)?;
    dict.set_item("features", features)
}

/// Finds weights from Gram matrices; sample r of the triplets is row `places[r]` of these.
#[pyfunction]
pub fn weigh_design<'py>(
    py: Python<'py>,
    design: &str,
    grams: Vec<MatrixArgument<'py, f64>>,
    features: Vec<Option<usize>>,
    places: VectorArgument<'py, i64>,
    triplets: MatrixArgument<'py, i64>,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let design = from_json::<KernelDesign>("design", design)?;
    let grams: Vec<Array2<f64>> = grams.iter().map(|gram| gram.as_array().to_owned()).collect();
    let places: Vec<usize> = places.as_array().iter().map(|&at| at as usize).collect();
    let triplets = to_triplets(&triplets);
    mixture(
        py,
        run(py, settings, move |ctx| design.weigh_placed(&grams, &features, &places, &triplets, ctx))?,
    )
}

fn mixture(py: Python<'_>, mixture: Mixture) -> PyResult<Bound<'_, PyDict>> {
    let trials = PyDict::new(py);
    let tried = |of: fn(&Trial) -> f64| mixture.trials.iter().map(of).collect::<Vec<_>>().into_pyarray(py);
    trials.set_item("gamma1", tried(|trial| trial.penalties.kernels))?;
    trials.set_item("gamma2", tried(|trial| trial.penalties.diagonal))?;
    trials.set_item("accuracy", tried(|trial| trial.accuracy))?;
    let report = PyDict::new(py);
    let counts = &mixture.triplets;
    for (name, count) in [
        ("n_triplets", counts.triplets),
        ("n_points", counts.points),
        ("n_duplicates", counts.duplicates),
        ("n_contradictions", counts.contradictions),
        ("n_in_cycles", counts.in_cycles),
    ] {
        report.set_item(name, count)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("trials", trials)?;
    dict.set_item("report", report)?;
    dict.set_item("noise", mixture.noise)?;
    dict.set_item("psd", name_of(&mixture.psd)?)?;
    dict.set_item("gamma1", mixture.penalties.kernels)?;
    dict.set_item("gamma2", mixture.penalties.diagonal)?;
    dict.set_item("objective", mixture.objective)?;
    dict.set_item("cuts", mixture.cuts)?;
    dict.set_item("points", mixture.points)?;
    dict.set_item("status", name_of(&mixture.status)?)?;
    dict.set_item("stop", mixture.status.explain())?;
    dict.set_item("converged", mixture.status.converged())?;
    dict.set_item("iterations", mixture.bounds.len())?;
    dict.set_item("bounds", mixture.bounds.into_pyarray(py))?;
    dict.set_item("alpha", mixture.alpha.into_pyarray(py))?;
    dict.set_item("scales", mixture.scales.into_pyarray(py))?;
    Ok(dict)
}
