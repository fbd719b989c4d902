//! Seconds of each path on the GPU and on the processor, and whether results are equal.
//!
//! Run with `cargo run --release --example measure`, on a computer with a GPU; it needs about 16 GiB of memory.

use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::data::{Dataset, Rows};
use kernsift::dependence::projection::{Exact, Projected, unit_factor};
use kernsift::device::{Accelerator, Device};
use kernsift::interactions::InteractionScreen;
use kernsift::optim::Criterion;
use kernsift::select::{FeatureCount, Relief};
use kernsift::{Context, Observer, Selector};
use kernsift_cuda::Cuda;
use ndarray::Array2;
use std::sync::Mutex;
use std::time::Instant;

/// When stages began, in their order.
struct Stages(Mutex<Vec<(String, Instant)>>);

impl Observer for Stages {
    fn progress(&self, stage: &str, _done: usize, _total: usize) {
        let mut stages = self.0.lock().unwrap();
        if stages.last().is_none_or(|last| last.0 != stage) {
            stages.push((stage.to_owned(), Instant::now()));
        }
    }
}

/// The result of some work, and the seconds of each stage.
fn timed<T>(label: &str, device: Option<&'static Device>, work: impl FnOnce(&Context) -> T) -> T {
    let (start, stages) = (Instant::now(), Stages(Mutex::default()));
    let out = work(&Context { observer: &stages, device, ..Context::default() });
    let end = Instant::now();
    let stages = stages.0.into_inner().unwrap();
    let ends = stages.iter().skip(1).map(|stage| stage.1).chain([end]);
    let parts: Vec<String> = stages
        .iter()
        .zip(ends)
        .map(|((name, from), to)| format!("{name} {:.3}", to.duration_since(*from).as_secs_f64()))
        .collect();
    let place = if device.is_some() { "GPU" } else { "processor" };
    println!("{label}, {place}: {:.3} s ({})", end.duration_since(start).as_secs_f64(), parts.join(", "));
    out
}

fn table(rows: usize, columns: usize) -> Dataset {
    Synthetic { pattern: Pattern::Xor, rows, columns, noise: 0.5, ..Synthetic::default() }
        .make()
        .unwrap()
        .data
}

fn pairs(device: &'static Device, (n, d): (usize, usize), compared: bool) {
    let data = table(n, d);
    for k in [4, 1] {
        let screen = InteractionScreen { n_functions: k, ..InteractionScreen::default() };
        let label = format!("all pairs of {d} features, {n} rows, {k} functions");
        let found = timed(&label, Some(device), |ctx| screen.run(&data, ctx).unwrap());
        if compared {
            let expected = timed(&label, None, |ctx| screen.run(&data, ctx).unwrap());
            println!("  equal: {}", found == expected);
        }
    }
}

fn hsic(device: &'static Device, (n, d): (usize, usize), compared: bool) {
    let data = table(n, d);
    let y = Array2::from_shape_fn((n, 2), |(i, c)| {
        let code = data.classes("measure").unwrap().codes[i];
        if code == c { 0.5 } else { -0.5 }
    });
    let (rows, factor) = (Rows::from(data.x().to_dense()), unit_factor(&y));
    let w = Array2::from_shape_fn((d, 8), |(i, k)| ((i * 7 + k * 3) % 11) as f64 * 0.01);
    let value = |label: &str, device: Option<&'static Device>| {
        let exact = Exact::new(factor.clone()).on(device);
        let criterion = Projected::new(&rows, &exact, 8);
        let mut gradient = Array2::zeros((d, 8));
        let value = timed(label, device, |_| criterion.value_and_gradient(&w, &mut gradient));
        (value, gradient)
    };
    let label = format!("HSIC and gradient, {n} rows x {d} features, 8 directions");
    value(&label, Some(device));
    let (found, gradient) = value(&label, Some(device));
    if compared {
        let (expected, reference) = value(&label, None);
        let largest = reference.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let worst = (&gradient - &reference).iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        println!(
            "  relative differences: value {:.1e}, gradient {:.1e}",
            found / expected - 1.0,
            worst / largest
        );
    }
}

fn relief(device: &'static Device, (n, d): (usize, usize), compared: bool) {
    let data = table(n, d);
    for method in [Relief::default(), Relief::original()] {
        let label = format!("ReliefF, {n} rows x {d} features, {:?} distance", method.metric);
        let run = |ctx: &Context| method.select(&data, FeatureCount::Count(10), ctx).unwrap();
        let found = timed(&label, Some(device), run);
        if compared {
            println!("  equal: {}", found == timed(&label, None, run));
        }
    }
}

fn main() {
    let cuda = Cuda::for_any_size(0, &[]);
    let start = Instant::now();
    if let Err(why) = cuda.start() {
        println!("no GPU: {why}");
        return;
    }
    println!("{}, started in {:.3} s", cuda.name().unwrap_or_default(), start.elapsed().as_secs_f64());
    let device: &'static Device = Box::leak(Box::new(Device::new(Box::new(cuda))));
    pairs(device, (300, 500), true);
    pairs(device, (1000, 20_000), true);
    pairs(device, (1000, 100_000), false);
    pairs(device, (500, 200_000), false);
    hsic(device, (5000, 100), true);
    hsic(device, (30_000, 100), true);
    hsic(device, (200_000, 100), false);
    relief(device, (3000, 20), true);
    relief(device, (30_000, 100), true);
    relief(device, (100_000, 100), false);
    println!("used {:?}, warnings {:?}", device.used(), device.take_warnings());
}
