//! Table 1: time by number of rows.

use crate::checkpoint::{Checkpoint, Numbers};
use crate::paper::Settings;
use crate::statistics::exponent;
use crate::study::{Section, Table, Verdict};
use kernsift::basis::{Basis, BasisMethod, Kobl, Threshold};
use kernsift::internals::Rng;
use kernsift::kernel::gram;
use kernsift::select::{FeatureCount, SelectorMethod, WeakLearner};
use kernsift::space::KernelSpaceSelector;
use kernsift::{Context, Dataset, Kernel, Result};
use kernsift_report::{Figure, Series, XAxis};
use ndarray::{Array1, Array2};
use std::time::Instant;

const FEATURES: usize = 10;
/// Directions of kernel space.
const DIRECTIONS: usize = 100;
/// Repetitions of each measurement, of which the minimum is taken.
const REPETITIONS: usize = 3;

/// Gaussian noise; the class is whether a row lies outside a sphere.
fn synthetic_data(n: usize, seed: u64) -> Result<Dataset> {
    let mut rng = Rng::new(seed);
    let x = Array2::from_shape_simple_fn((n, FEATURES), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row.dot(&row) > FEATURES as f64)).collect();
    Dataset::labeled(x, codes)
}

fn kernel() -> Kernel {
    Kernel::Rbf { gamma: 1.0 / (2 * FEATURES) as f64 }
}

fn kobl() -> Kobl {
    let (threshold, n_components) = (Threshold::None, Some(DIRECTIONS));
    Kobl { kernel: kernel().into(), threshold, n_components, ..Kobl::default() }
}

/// KOBL as published: every basis vector is a combination of all rows, and each step multiplies by the complete Gram matrix.
pub fn kobl_as_published(k: &Array2<f64>, directions: usize) -> Array2<f64> {
    let n = k.nrows();
    let mut residual = k.diag().to_owned();
    let (mut basis, mut features): (Vec<Array1<f64>>, Vec<Array1<f64>>) = (vec![], vec![]);
    for _ in 0..directions.min(n) {
        let pivot = (0..n).max_by(|&a, &b| residual[a].total_cmp(&residual[b])).expect("there are rows");
        let mut v = Array1::zeros(n);
        v[pivot] = 1.0;
        for (q, f) in basis.iter().zip(&features) {
            v.scaled_add(-f[pivot], q);
        }
        let norm = v.dot(&k.dot(&v)).max(f64::MIN_POSITIVE).sqrt();
        v /= norm;
        let feature = k.dot(&v);
        residual.zip_mut_with(&feature, |r, f| *r = (*r - f * f).max(0.0));
        residual[pivot] = 0.0;
        basis.push(v);
        features.push(feature);
    }
    ndarray::stack(ndarray::Axis(1), &features.iter().map(|f| f.view()).collect::<Vec<_>>())
        .expect("equal lengths")
}

/// The shortest time of several repetitions.
fn shortest_time(mut work: impl FnMut() -> Result<()>) -> Result<Numbers> {
    let mut shortest = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        work()?;
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    Ok([("seconds".to_owned(), shortest)].into())
}

/// The timed algorithms, with the numbers of rows at which they ran and the seconds.
struct Timed<'a> {
    name: &'static str,
    sizes: &'a [usize],
    seconds: Vec<f64>,
}

impl Timed<'_> {
    fn at(&self, n: usize) -> Option<f64> {
        Some(self.seconds[self.sizes.iter().position(|&m| m == n)?])
    }

    fn exponent(&self) -> f64 {
        exponent(&self.sizes.iter().map(|&n| n as f64).collect::<Vec<_>>(), &self.seconds)
    }
}

/// Table 1.
pub fn run(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<Section> {
    let sizes: &[usize] =
        if settings.quick { &[1000, 2000, 4000] } else { &[1000, 2000, 4000, 8000, 16_000, 32_000] };
    // All these Gram matrices exceed the caches; otherwise time would grow faster than the number of operations.
    let large: &[usize] = if settings.quick { &[2000, 4000] } else { &[2000, 4000, 8000] };
    let mut time = |what: &str, sizes: &[usize], work: &dyn Fn(&Dataset, &Context) -> Result<()>| {
        let names: Vec<String> = sizes.iter().map(|n| format!("growth, {what}, {n} rows")).collect();
        let times = checkpoint.time(&format!("growth of {what}"), &names, ctx, |i, ctx| {
            let data = synthetic_data(sizes[i], ctx.seed)?;
            shortest_time(|| work(&data, ctx))
        })?;
        Ok::<Vec<f64>, kernsift::Error>(times.iter().map(|numbers| numbers["seconds"]).collect())
    };
    let ours = time("KOBL", sizes, &|data, ctx| kobl().fit(data, ctx).map(drop))?;
    let takes = time("TAKES", sizes, &|data, ctx| {
        let mut space =
            KernelSpaceSelector { basis: BasisMethod::Kobl(kobl()), ..KernelSpaceSelector::takes() };
        if let Some(SelectorMethod::Ffs(ffs)) = &mut space.selector {
            ffs.weak_learner = WeakLearner::Stump;
        }
        space.fit(data, FeatureCount::Count(20), ctx).map(drop)
    })?;
    let published = time("KOBL as published", large, &|data, _| {
        let k = gram(&kernel(), data.x(), data.x())?;
        std::hint::black_box(kobl_as_published(&k, DIRECTIONS));
        Ok(())
    })?;
    Ok(section(
        &[
            Timed { name: "KOBL", sizes, seconds: ours },
            Timed { name: "TAKES, stumps", sizes, seconds: takes },
            Timed { name: "KOBL as published", sizes: large, seconds: published },
        ],
        sizes,
    ))
}

fn section(all: &[Timed; 3], sizes: &[usize]) -> Section {
    let exponents = all.each_ref().map(Timed::exponent);
    let mut table = Table::new(
        &format!(
            "Seconds for {FEATURES} features and {DIRECTIONS} directions, the minimum of {REPETITIONS} repetitions"
        ),
        ["rows".to_owned()].into_iter().chain(all.iter().map(|timed| timed.name.to_owned())),
    );
    for &n in sizes {
        let cells = all.iter().map(|timed| timed.at(n).map_or(String::new(), |t| format!("{t:.3}")));
        table.push([n.to_string()].into_iter().chain(cells));
    }
    table.push(["exponent".to_owned()].into_iter().chain(exponents.iter().map(|p| format!("{p:.2}"))));
    let series = all.iter().map(|timed| Series {
        label: timed.name.to_owned(),
        values: sizes.iter().map(|&n| Some((timed.at(n)?, 0.0))).collect(),
    });
    let figure = Figure {
        name: "P0-T1".into(),
        title: "Time by number of rows".into(),
        x_label: "rows".into(),
        y_label: "seconds".into(),
        x: XAxis::Log(sizes.iter().map(|&n| n as f64).collect()),
        series: series.collect(),
    };
    let met = exponents[0] <= 1.2 && exponents[1] <= 1.2 && exponents[2] <= 2.2;
    Section::new(
        "P0-T1",
        "Table 1, time complexity",
        "KOBL and TAKES take O(N² d) time for N rows and d directions.",
        "Gaussian noise, RBF kernel, a fixed number of directions; exponent of N by a line fit of the logarithms.",
        "Exponent of N at most 1.2 for our implementation, at most 2.2 for the published algorithm.",
    )
    .result(
        Verdict::of(met),
        format!(
            "Ours: {:.2} (KOBL) and {:.2} (TAKES with stumps); as published: {:.2}.",
            exponents[0], exponents[1], exponents[2]
        ),
    )
    .table(table)
    .figure(figure)
    .note(
        "The basis vectors of pivoted Gram-Schmidt are linear combinations of the pivots, so a step needs one column of the Gram matrix \
         instead of all: O(N d²) in place of O(N² d). Times depend on the computer and are stored apart from the other results.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_algorithm_gives_the_same_features() {
        let data = synthetic_data(60, 3).unwrap();
        let k = gram(&kernel(), data.x(), data.x()).unwrap();
        let published = kobl_as_published(&k, 8);
        let kobl = Kobl { n_components: Some(8), ..kobl() };
        let fitted = kobl.fit(&data, &Context::default()).unwrap();
        // The kernel is well conditioned at eight directions, so both are exact up to rounding. All diagonal elements are equal
        // at the start, so the first pivots may differ.
        assert_eq!(fitted.map.summary().pivots.len(), 8);
        let products = published.dot(&published.t());
        for (i, &p) in fitted.map.summary().pivots.iter().enumerate() {
            let row = fitted.features.row(p);
            assert!((row.dot(&row) - k[[p, p]]).abs() < 1e-8, "pivot {i}");
        }
        let first = (0..60).max_by(|&a, &b| k[[a, a]].total_cmp(&k[[b, b]])).unwrap();
        assert!((products[[first, first]] - k[[first, first]]).abs() < 1e-8);
    }
}
