//! Cost of HSFS: a value and gradient compared with the matrix products it contains, for growing numbers of features, and
//! a full selection.
//!
//! The matrix products are $XW$, $PP^\top$, $\tilde Y \tilde Y^\top$, $AP$ and $X^\top R$ by the crate's blocked products, each with a newly
//! allocated result. Both are timed alternately, and the medians are compared.
//!
//! Run with `cargo run --release --example hsfs_cost`; `make pages` stores its output.

use kernsift::data::Rows;
use kernsift::dependence::projection::{Exact, Projected, unit_factor};
use kernsift::internals::Rng;
use kernsift::internals::multiply;
use kernsift::optim::Criterion;
use kernsift::select::{FeatureCount, Hsfs, Selector};
use kernsift::{Context, Dataset, Result};
use ndarray::{Array2, Axis};
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 1000;
const DIRECTIONS: usize = 8;
const REPEATS: usize = 15;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Noise, with the XOR of the first two features as the class.
fn rows(d: usize) -> (Array2<f64>, Vec<usize>) {
    let mut rng = Rng::new(1);
    let x = Array2::from_shape_simple_fn((ROWS, d), || rng.normal());
    let codes = x.rows().into_iter().map(|r| usize::from(r[0] * r[1] > 0.0)).collect();
    (x, codes)
}

fn main() -> Result<()> {
    println!("# Cost of HSFS\n\nDiscussion: [Results](results.md#cost-of-hsfs).\n");
    println!("| columns | value and gradient | bare products | ratio | per column |\n|---|---|---|---|---|");
    for d in [2500, 5000, 10_000, 20_000] {
        let (x, codes) = rows(d);
        let mut y = Array2::from_shape_fn((ROWS, 2), |(i, c)| f64::from(u8::from(codes[i] == c)));
        let mean = y.mean_axis(Axis(0)).expect("at least one row");
        y -= &mean;
        let y = unit_factor(&y);
        let mut rng = Rng::new(2);
        let w = Array2::from_shape_simple_fn((d, DIRECTIONS), || rng.normal() / (d as f64).sqrt());
        let x = Rows::from(x);
        let exact = Exact::new(y.clone());
        let criterion = Projected::new(&x, &exact, DIRECTIONS);
        let Rows::Dense(cells) = &x else { unreachable!("dense rows") };
        let a = Array2::from_elem((ROWS, ROWS), 0.5);
        let (mut ours, mut bare) = (vec![], vec![]);
        let mut gradient = Array2::zeros(w.dim());
        for _ in 0..REPEATS {
            ours.push(seconds(|| {
                black_box(criterion.value_and_gradient(&w, &mut gradient));
            }));
            bare.push(seconds(|| {
                let p = multiply(cells.view(), w.view());
                black_box(multiply(p.view(), p.t()));
                black_box(multiply(y.view(), y.t()));
                let r = multiply(a.view(), p.view());
                black_box(multiply(cells.t(), r.view()));
            }));
        }
        let (ours, bare) = (median(ours), median(bare));
        println!(
            "| {d} | {:.1} ms | {:.1} ms | {:.2} | {:.2} µs |",
            1e3 * ours,
            1e3 * bare,
            ours / bare,
            1e6 * ours / d as f64
        );
    }
    let (x, codes) = rows(20_000);
    let data = Dataset::labeled(x, codes)?;
    let start = Instant::now();
    let selection = Hsfs::default().select(&data, FeatureCount::Count(20), &Context::default())?;
    println!(
        "\n20 of 20,000 columns of {ROWS} rows: {:.0} s, {} steps, {}.",
        start.elapsed().as_secs_f64(),
        selection.outcome.iterations,
        selection.outcome.stop.explain()
    );
    Ok(())
}
