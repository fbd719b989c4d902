//! The layers that everything else stands on, one benchmark each, data made outside the timing.
//!
//! `cargo bench -p kernsift`; for ratios against other programs see `make bench`.

use divan::{Bencher, black_box};
use kernsift::Context;
use kernsift::basis::{Basis, Kobl, Pivoting, Threshold};
use kernsift::data::{Dataset, Rows};
use kernsift::internals::{Rng, exp_scaled};
use kernsift::kernel::{Kernel, gram};
use kernsift::select::{FeatureCount, FisherScore, Selector};
use ndarray::Array2;

fn main() {
    divan::main();
}

fn rows(n: usize, d: usize) -> Array2<f64> {
    let mut rng = Rng::new(1);
    Array2::from_shape_simple_fn((n, d), || rng.normal())
}

#[divan::bench(sample_count = 20)]
fn exp_of_a_million(bencher: Bencher) {
    let values: Vec<f64> = (0..1_000_000).map(|i| -f64::from(i) * 1e-5).collect();
    bencher.with_inputs(|| values.clone()).bench_refs(|v| exp_scaled(v, 0.7));
}

/// Columns of the data: below and above the change from direct sums to matrix products.
#[divan::bench(sample_count = 5, args = [10, 100])]
fn rbf_gram_3000_by_3000(bencher: Bencher, d: usize) {
    let x: Rows = rows(3000, d).into();
    let kernel = Kernel::Rbf { gamma: 0.1 };
    bencher.bench(|| gram(black_box(&kernel), &x, &x).unwrap());
}

#[divan::bench(sample_count = 5, args = [Pivoting::Greedy, Pivoting::Random, Pivoting::Gain])]
fn kobl_20000_rows_200_components(bencher: Bencher, pivoting: Pivoting) {
    let data = Dataset::unlabeled(rows(20_000, 10)).unwrap();
    let kobl = Kobl {
        kernel: Kernel::Rbf { gamma: 0.1 }.into(),
        threshold: Threshold::None,
        n_components: Some(200),
        pivoting,
        ..Kobl::default()
    };
    bencher.bench(|| kobl.fit(&data, &Context::default()).unwrap());
}

#[divan::bench(sample_count = 5)]
fn map_20000_new_rows_on_200_anchors(bencher: Bencher) {
    let data = Dataset::unlabeled(rows(2000, 10)).unwrap();
    let kobl = Kobl { threshold: Threshold::None, n_components: Some(200), ..Kobl::default() };
    let map = kobl.fit(&data, &Context::default()).unwrap().map;
    let new: Rows = rows(20_000, 10).into();
    bencher.bench(|| map.transform(&new, &Context::default()).unwrap());
}

#[divan::bench(sample_count = 5)]
fn fisher_score_2000_by_2000(bencher: Bencher) {
    let data = Dataset::labeled(rows(2000, 2000), (0..2000).map(|i| i % 3).collect()).unwrap();
    bencher.bench(|| {
        FisherScore::default().select(&data, FeatureCount::Count(10), &Context::default()).unwrap()
    });
}
