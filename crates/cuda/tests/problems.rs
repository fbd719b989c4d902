//! Problems that use a device, and their results on one.

use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::device::{Accelerator, Device};
use kernsift::interactions::{InteractionScreen, Interactions};
use kernsift::select::{FeatureCount, Hsfs, Relief};
use kernsift::{Context, Dataset, Selection, Selector};

/// A device that lives as long as the process.
pub fn leak(accelerator: impl Accelerator + 'static) -> &'static Device {
    Box::leak(Box::new(Device::new(Box::new(accelerator))))
}

pub fn context(device: Option<&'static Device>) -> Context<'static> {
    Context { device, ..Context::default() }
}

/// Two features whose product has the sign of the class, among others.
pub fn table(rows: usize, columns: usize, continuous: bool, seed: u64) -> Dataset {
    Synthetic { pattern: Pattern::Xor, rows, columns, noise: 0.3, continuous, seed }.make().unwrap().data
}

/// A table of few distinct values: many scores and distances are tied.
pub fn coarse(rows: usize, columns: usize, seed: u64) -> Dataset {
    let data = table(rows, columns, false, seed);
    let x = data.x().to_dense().mapv(|v| v.round().clamp(-1.0, 1.0));
    data.with_x(x).unwrap()
}

pub fn screened(data: &Dataset, device: Option<&'static Device>) -> Interactions {
    InteractionScreen { n_pairs: 30, ..InteractionScreen::default() }.run(data, &context(device)).unwrap()
}

pub fn relief(data: &Dataset, relief: &Relief, device: Option<&'static Device>) -> Selection {
    relief.select(data, FeatureCount::Count(5), &context(device)).unwrap()
}

pub fn hsfs(data: &Dataset, device: Option<&'static Device>) -> Selection {
    let hsfs = Hsfs { diagonal: Some(false), ..Hsfs::default() };
    hsfs.select(data, FeatureCount::Count(2), &context(device)).unwrap()
}

/// Relief as on tables, and in kernel space.
pub fn reliefs() -> [Relief; 2] {
    [Relief { n_neighbors: 5, ..Relief::default() }, Relief::original()]
}

/// Whether two selections are equal but for rounding of scores.
pub fn assert_same_selection(a: &Selection, b: &Selection) {
    assert_eq!(a.selected(), b.selected());
    for (a, b) in a.scores.iter().zip(&b.scores) {
        // HSIC differs by about 1e-15. Solutions are accurate to the tolerance of the solver, 1e-5.
        assert!((a - b).abs() <= 1e-4 * (a.abs() + b.abs()), "{a} {b}");
    }
}
