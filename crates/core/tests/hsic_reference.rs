//! HSIC Lasso compared with pyHSICLasso, and properties of the selectors based on HSIC.
//!
//! The expected features and weights are those of pyHSICLasso 1.4.2 (numpy 2.4), which stores the full matrices in
//! single precision: `HSICLasso().input(x, y)`, then `classification(m, B=0)` or `regression(m, B=0)`, and
//! `get_index`, `get_index_score`. The data are the built-in colon data, unscaled, and those of `kernsift data
//! make ring --rows 300 --columns 100 --noise 0.5 --seed 4`, with `--continuous` for regression.

use kernsift::Context;
use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::data::{BuiltIn, Dataset, Rows, SparseRows, Standardizer};
use kernsift::dependence::{Estimator, TargetKernel};
use kernsift::internals::Rng;
use kernsift::select::{Bahsic, Elimination, FeatureCount, Fohsic, HsicLasso, Selection, Selector};
use ndarray::Array2;

type Shared = dyn Selector + Sync + Send;

fn select(method: &Shared, data: &Dataset, k: usize) -> Selection {
    method.select(data, FeatureCount::Count(k), &Context::default()).unwrap()
}

fn assert_selected(found: &Selection, features: &[usize], weights: &[f64]) {
    assert_eq!(found.selected(), features);
    for (&j, weight) in features.iter().zip(weights) {
        // Sums of up to 90,000 products in single precision: weights agree to about four digits.
        assert!((found.scores[j] - weight).abs() < 2e-4, "column {j}: {} {weight}", found.scores[j]);
    }
}

#[test]
fn colon_agrees_with_pyhsiclasso() {
    let colon = BuiltIn::by_name("colon").unwrap().data().unwrap();
    let lasso = HsicLasso::default();
    let weights = [0.092_235, 0.070_126, 0.037_388, 0.018_212, 0.017_733];
    assert_selected(&select(&lasso, &colon, 5), &[1422, 512, 248, 1581, 764], &weights);
    let features = [1422, 512, 248, 1581, 764, 1670, 1771, 896, 779, 1472];
    let weights = [
        0.109_339, 0.087_495, 0.081_271, 0.071_127, 0.059_629, 0.058_320, 0.053_078, 0.034_224, 0.019_340,
        0.016_340,
    ];
    assert_selected(&select(&lasso, &colon, 10), &features, &weights);
    let features = [
        1422, 1670, 512, 764, 1581, 248, 1771, 896, 1472, 285, 1324, 779, 1729, 1636, 1413, 1380, 376, 398,
        1899, 801,
    ];
    assert_eq!(select(&lasso, &colon, 20).selected(), features);
}

#[test]
fn synthetic_data_agree_with_pyhsiclasso() {
    let recipe = Synthetic {
        pattern: Pattern::Ring,
        rows: 300,
        columns: 100,
        noise: 0.5,
        seed: 4,
        ..Synthetic::default()
    };
    let weights = [0.116_521, 0.077_071, 0.011_985, 0.005_695, 0.004_359, 0.003_773, 0.003_285, 0.001_583];
    let features = [82, 90, 50, 95, 99, 52, 98, 63];
    assert_selected(&select(&HsicLasso::default(), &recipe.make().unwrap().data, 8), &features, &weights);
    let regression = Synthetic { continuous: true, ..recipe }.make().unwrap().data;
    let weights = [0.127_563, 0.111_380, 0.021_460, 0.006_032, 0.005_256, 0.001_499];
    assert_selected(&select(&HsicLasso::default(), &regression, 6), &[82, 90, 50, 78, 99, 95], &weights);
}

/// Settings with different code paths.
fn selectors() -> Vec<(&'static str, Box<Shared>)> {
    vec![
        ("fohsic", Box::new(Fohsic::default())),
        ("fohsic unbiased", Box::new(Fohsic { estimator: Estimator::Unbiased, ..Fohsic::default() })),
        ("fohsic gamma", Box::new(Fohsic { gamma: Some(0.3), ..Fohsic::default() })),
        ("bahsic", Box::new(Bahsic::default())),
        ("bahsic fast", Box::new(Bahsic { form: Elimination::Fast, ..Bahsic::default() })),
        ("hsic-lasso", Box::new(HsicLasso::default())),
        ("linear target", Box::new(Fohsic { target_kernel: TargetKernel::Linear, ..Fohsic::default() })),
    ]
}

fn example() -> Dataset {
    let recipe =
        Synthetic { pattern: Pattern::XorRing, rows: 150, columns: 12, noise: 0.2, ..Synthetic::default() };
    recipe.make().unwrap().data
}

fn close(a: &[f64], b: &[f64]) -> bool {
    let largest = a.iter().copied().fold(0.0, f64::max);
    // Sums in another order; the weights of the lasso amplify rounding errors.
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * largest)
}

#[test]
fn the_order_of_rows_and_features_does_not_matter() {
    let data = example();
    let mut rng = Rng::new(9);
    let mut rows: Vec<usize> = (0..data.n()).collect();
    let mut columns: Vec<usize> = (0..data.d()).collect();
    rng.shuffle(&mut rows);
    rng.shuffle(&mut columns);
    for (name, method) in selectors() {
        let plain = select(&*method, &data, 5);
        let by_rows = select(&*method, &data.take_rows(&rows), 5);
        assert_eq!(by_rows.order, plain.order, "{name}");
        assert!(close(&plain.scores, &by_rows.scores), "{name}");
        let by_columns = select(&*method, &data.take_columns(&columns), 5);
        let back: Vec<usize> = by_columns.order.iter().map(|&j| columns[j]).collect();
        assert_eq!(back, plain.order, "{name}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let data = example();
    for (name, method) in selectors() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| select(&*method, &data, 5))
        };
        assert_eq!(on(1), on(2), "{name}");
    }
}

#[test]
fn sparse_and_dense_rows_agree() {
    let mut rng = Rng::new(5);
    let draw = || if rng.uniform() < 0.8 { 0.0 } else { 1.0 + rng.normal().abs() };
    let x = Array2::from_shape_simple_fn((120, 15), draw);
    let codes = x.rows().into_iter().map(|r| usize::from(r[2] + r[7] + r[11] > 1.0)).collect();
    let dense = Dataset::labeled(x.clone(), codes).unwrap();
    // Scaled but not centered, like sparse rows.
    let scale = Standardizer { shift: ndarray::Array1::zeros(15), ..Standardizer::fit(dense.x()) };
    let dense = dense.with_x(scale.apply(dense.x()).unwrap()).unwrap();
    let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
    for row in dense.x().to_dense().rows() {
        row.iter().zip(0u32..).filter(|(v, _)| **v != 0.0).for_each(|(v, j)| {
            column.push(j);
            value.push(*v);
        });
        start.push(column.len());
    }
    let sparse: Rows = SparseRows::new(15, start, column, value).unwrap().into();
    let sparse = dense.with_x(sparse).unwrap();
    for (name, method) in selectors() {
        let (a, b) = (select(&*method, &dense, 4), select(&*method, &sparse, 4));
        assert_eq!(a.order, b.order, "{name}");
        assert!(close(&a.scores, &b.scores), "{name}");
        let mut best = b.order[..3].to_vec();
        best.sort_unstable();
        assert_eq!(best, [2, 7, 11], "{name}");
    }
}
