//! Cost of an HSFS step by number of features.

use crate::checkpoint::Checkpoint;
use crate::paper::Settings;
use crate::statistics::exponent;
use crate::study::{Section, Table, Verdict};
use kernsift::data::Rows;
use kernsift::dependence::projection::{Exact, Projected, unit_factor};
use kernsift::internals::Rng;
use kernsift::optim::Criterion;
use kernsift::{Context, Result};
use kernsift_report::{Figure, Series, XAxis};
use ndarray::{Array2, Axis};
use std::time::Instant;

const ROWS: usize = 1000;
const DIRECTIONS: usize = 8;
const REPETITIONS: usize = 9;

/// Median time to compute the value and its gradient, in seconds.
fn seconds(d: usize) -> f64 {
    let mut rng = Rng::new(1);
    let x = Array2::from_shape_simple_fn((ROWS, d), || rng.normal());
    let class = |i: usize| usize::from(x[[i, 0]] * x[[i, 1]] > 0.0);
    let mut y = Array2::from_shape_fn((ROWS, 2), |(i, c)| f64::from(u8::from(class(i) == c)));
    let mean = y.mean_axis(Axis(0)).expect("there are rows");
    y -= &mean;
    let w = Array2::from_shape_simple_fn((d, DIRECTIONS), || rng.normal() / (d as f64).sqrt());
    let x = Rows::from(x);
    let exact = Exact::new(unit_factor(&y));
    let criterion = Projected::new(&x, &exact, DIRECTIONS);
    let mut gradient = Array2::zeros(w.dim());
    let mut times: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(criterion.value_and_gradient(&w, &mut gradient));
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPETITIONS / 2]
}

/// The section.
pub fn run(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<Section> {
    let all = [10, 30, 100, 300, 1000, 2500, 5000];
    let sizes = if settings.quick { &all[..5] } else { &all[..] };
    let names: Vec<String> = sizes.iter().map(|d| format!("step of HSFS, {d} features")).collect();
    let times = checkpoint
        .time("cost of a step", &names, ctx, |i, _| Ok([("seconds".to_owned(), seconds(sizes[i]))].into()))?;
    let times: Vec<f64> = times.iter().map(|numbers| numbers["seconds"]).collect();
    let features: Vec<f64> = sizes.iter().map(|&d| d as f64).collect();
    // The last three: with fewer features, the pairs of rows take most of the time, and their number is constant.
    let tail = sizes.len() - 3;
    let power = exponent(&features[tail..], &times[tail..]);
    let mut table = Table::new(
        &format!("Value and gradient, {ROWS} rows, {DIRECTIONS} directions, median of {REPETITIONS}"),
        ["features", "milliseconds"],
    );
    for (d, time) in sizes.iter().zip(&times) {
        table.push([d.to_string(), format!("{:.2}", 1e3 * time)]);
    }
    let values = times.iter().map(|&t| Some((1e3 * t, 0.0))).collect();
    let figure = Figure {
        name: "P1-time".into(),
        title: "Time of an HSFS step".into(),
        x_label: "features".into(),
        y_label: "milliseconds".into(),
        x: XAxis::Log(features),
        series: vec![Series { label: "value and gradient".into(), values }],
    };
    Ok(Section::new(
        "P1-time",
        "Cost of HSFS",
        "HSFS takes O(d⁴), or O(d² q²) with q directions.",
        "Gaussian noise with an XOR target; all pairs of rows.",
        "The time of a step grows at most linearly with the number of features (exponent at most 1.1).",
    )
    .result(
        Verdict::of(power <= 1.1),
        format!("Exponent {power:.2} from {} to {} features.", sizes[tail], sizes[sizes.len() - 1]),
    )
    .table(table)
    .figure(figure)
    .note("First-order steps need only products with X, O(n² q + n d q). The published cost is that of a second-order solver."))
}
