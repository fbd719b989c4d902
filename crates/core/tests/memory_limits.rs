//! Planned memory compared with measured memory.

use kernsift::basis::{BASES, Basis, BasisMethod, Kobl, Pivoting};
use kernsift::classify::{Knnc, LinearSvm, Svm, SvmSearch};
use kernsift::data::read::{ReadOptions, read_table};
use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::data::triplets::from_target;
use kernsift::data::write::{WriteOptions, write_table};
use kernsift::data::{Column, Dataset, Encoder, Encoding, Prepare, Splits, Standardizer, date_text};
use kernsift::dependence::{Hsic, TargetKernel, Variable, hsic};
use kernsift::evaluate::{Candidate, Compare, Evaluator, ResultsLog, SplitChoice};
use kernsift::interactions::{InteractionScreen, feature_dependence};
use kernsift::internals::Rng;
use kernsift::internals::metered;
use kernsift::learn::design::KernelDesign;
use kernsift::learn::{LEARNERS, LearnerMethod, XingMetric};
use kernsift::select::{FeatureCount, SELECTORS, Selector, SelectorMethod};
use kernsift::space::{KernelSpaceSelector, SPACES};
use kernsift::{Context, Error, Kernel, Observer, Result};
use ndarray::Array2;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Records the largest plan.
#[derive(Default)]
struct Plans(Mutex<(u64, String)>);

impl Observer for Plans {
    fn plan(&self, what: &str, bytes: u64) {
        let mut largest = self.0.lock().unwrap();
        if bytes > largest.0 {
            *largest = (bytes, what.to_owned());
        }
    }
}

fn data((n, d): (usize, usize)) -> Dataset {
    let mut rng = Rng::new(7);
    let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] * row[1] + row[2] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

/// Runs the work on two separate threads and compares its largest plan with its peak memory; returns a line if they differ.
fn plan_error(
    name: &str,
    (n, d): (usize, usize),
    work: impl Fn(&Context) -> Result<()> + Sync,
) -> Option<String> {
    let plans = Plans::default();
    let ctx = Context { observer: &plans, ..Context::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (done, peak) = pool.install(|| metered(|| work(&ctx)));
    done.unwrap_or_else(|e| panic!("{name} {n} x {d}: {e}"));
    let (planned, what) = plans.0.into_inner().unwrap();
    let peak = peak.expect("the test allocator measures memory") as f64;
    // A quarter; for small work the buffers of matrix products, which are not always used: 4 MiB per thread.
    let allowed = (0.25 * peak).max(8.0 * 1048576.0);
    let mib = |bytes: f64| bytes / 1048576.0;
    let line =
        format!("{name} {n} x {d} planned {:.1}, peak {:.1} MiB: {what}", mib(planned as f64), mib(peak));
    println!("{line}");
    ((planned as f64 - peak).abs() > allowed).then_some(line)
}

#[test]
fn plans_of_bases_and_spaces_are_accurate() {
    let mut wrong = vec![];
    for size in [(400, 30), (800, 60)] {
        let data = data(size);
        for info in BASES {
            let method = BasisMethod::by_name(info.name).unwrap();
            wrong.extend(plan_error(info.name, size, |ctx| method.fit(&data, ctx).map(drop)));
        }
        for info in SPACES {
            let method = KernelSpaceSelector::by_name(info.name).unwrap();
            let fit = |ctx: &Context| method.fit(&data, FeatureCount::Auto, ctx).map(drop);
            wrong.extend(plan_error(info.name, size, fit));
        }
    }
    let tall = data((20_000, 10));
    let mut kobl = BasisMethod::by_name("kobl").unwrap();
    *kobl.n_components_mut() = Some(200);
    wrong.extend(plan_error("kobl", (20_000, 10), |ctx| kobl.fit(&tall, ctx).map(drop)));
    for size in [(800, 30), (800, 1500), (20_000, 10)] {
        let data = data(size);
        let gain = Kobl { pivoting: Pivoting::Gain, n_components: Some(200), ..Kobl::default() };
        wrong.extend(plan_error("kobl by gain", size, |ctx| gain.fit(&data, ctx).map(drop)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn plans_of_selectors_are_accurate() {
    let mut wrong = vec![];
    for info in SELECTORS {
        let method = SelectorMethod::by_name(info.name).unwrap();
        // Small data for slow methods, many rows for univariate methods.
        let sizes: &[(usize, usize)] = match info.name {
            "hsfs" => &[(200, 300), (100, 1000)],
            "auto" => &[(200, 20), (100, 150)],
            "bahsic" | "svm-rfe" => &[(1500, 60), (600, 150)],
            "nca" => &[(2000, 10), (600, 200)],
            "fisher" | "ffs" | "information-gain" | "mutual-information" | "chi-squared" => {
                &[(60_000, 20), (150_000, 10)]
            }
            "relief" | "laplacian" | "l1-svm" | "ldfs" => &[(2000, 600), (100, 6000)],
            "pfs" => &[(1500, 400), (100, 4000)],
            _ => &[(2000, 60), (600, 400)],
        };
        for &size in sizes {
            let data = data(size);
            // A step needs the same memory as the next one, so few steps are enough.
            let select = |ctx: &Context| method.select(&data, FeatureCount::Count(3), ctx).map(drop);
            wrong.extend(plan_error(info.name, size, select));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn plans_of_interactions_are_accurate() {
    let mut wrong = vec![];
    let screen = InteractionScreen::default();
    for size in [(400, 300), (300, 2000), (20_000, 12)] {
        let data = data(size);
        wrong.extend(plan_error("interactions", size, |ctx| screen.run(&data, ctx).map(drop)));
        wrong.extend(plan_error("feature dependence", size, |ctx| {
            feature_dependence(&data, 4, ctx).map(drop)
        }));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn plans_of_learners_are_accurate() {
    let mut wrong = vec![];
    for info in LEARNERS {
        let method = LearnerMethod::by_name(info.name).unwrap();
        for (size, triplets) in [((1000, 30), 1000), ((100, 400), 300)] {
            let data = data(size);
            let learn = |ctx: &Context| method.learn_from_target(&data, triplets, ctx).map(drop);
            wrong.extend(plan_error(info.name, size, learn));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn plans_grow_with_parameters() {
    let size = (1200, 30);
    let data = data(size);
    let mut wrong = vec![];
    for settings in [
        r#"{"method": "hsfs", "approximation": "fourier", "features": 10000, "max_iter": 1}"#,
        r#"{"method": "hsic-lasso", "block_size": 20, "permutations": 30}"#,
    ] {
        let method: SelectorMethod = serde_json::from_str(settings).unwrap();
        let select = |ctx: &Context| method.select(&data, FeatureCount::Count(2), ctx).map(drop);
        wrong.extend(plan_error(settings, size, select));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Interrupts after two seconds.
struct Deadline(Instant);

impl Observer for Deadline {
    fn interrupted(&self) -> bool {
        self.0.elapsed() > Duration::from_secs(2)
    }
}

/// Selectors with a parameter that determines memory or work; its value is `HUGE`.
const HUGE_SELECTORS: &[&str] = &[
    r#"{"method": "hsfs", "random_starts": HUGE}"#,
    r#"{"method": "hsfs", "form": "penalized", "random_starts": HUGE}"#,
    r#"{"method": "hsfs", "approximation": "fourier", "features": HUGE}"#,
    r#"{"method": "hsfs", "approximation": "nystrom", "features": HUGE}"#,
    r#"{"method": "hsfs", "directions": HUGE}"#,
    r#"{"method": "hsfs", "approximation": "fourier", "directions": HUGE}"#,
    r#"{"method": "hsfs", "max_iter": HUGE}"#,
    r#"{"method": "pfs", "n_penalties": HUGE}"#,
    r#"{"method": "pfs", "n_components": HUGE}"#,
    r#"{"method": "pfs", "max_iter": HUGE}"#,
    r#"{"method": "ldfs", "n_penalties": HUGE}"#,
    r#"{"method": "ldfs", "max_iter": HUGE}"#,
    r#"{"method": "hsic-lasso", "block_size": HUGE}"#,
    r#"{"method": "hsic-lasso", "block_size": 2, "permutations": HUGE}"#,
    r#"{"method": "hsic-lasso", "block_size": 60, "permutations": HUGE}"#,
    r#"{"method": "nca", "n_subsamples": HUGE}"#,
    r#"{"method": "svm-rfe", "step": 100000000000000}"#,
    r#"{"method": "svm-rfe", "max_iter": HUGE}"#,
    r#"{"method": "l1-svm", "max_iter": HUGE}"#,
    r#"{"method": "relief", "n_neighbors": HUGE}"#,
    r#"{"method": "relief", "n_neighbors": HUGE, "clip": true}"#,
    r#"{"method": "relief", "n_samples": HUGE}"#,
    r#"{"method": "mutual-information", "n_neighbors": HUGE}"#,
    r#"{"method": "laplacian", "n_neighbors": HUGE}"#,
    r#"{"method": "information-gain", "n_bins": HUGE}"#,
    r#"{"method": "chi-squared", "n_bins": HUGE}"#,
];

/// The same for bases.
const HUGE_BASES: &[&str] = &[
    r#"{"method": "kobl", "n_components": HUGE}"#,
    r#"{"method": "kgs", "n_components": HUGE}"#,
    r#"{"method": "kpca", "n_components": HUGE}"#,
    r#"{"method": "discriminant", "n_components": HUGE}"#,
];

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn huge_parameters_are_rejected_or_stay_within_the_limit() {
    const LIMIT: u64 = 64 << 20;
    let data = data((60, 6));
    let mut wrong = vec![];
    // Sizes that may fit in memory on a large computer, that do not fit, and that overflow.
    for huge in [1_000_000_000, 1 << 40, usize::MAX] {
        let mut check = |what: &str, work: &(dyn Fn(&Context) -> Result<()> + Sync)| {
            let deadline = Deadline(Instant::now());
            let ctx = Context { memory_limit: LIMIT, observer: &deadline, ..Context::default() };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            let (done, peak) = pool.install(|| metered(|| work(&ctx)));
            let peak = peak.expect("the test allocator measures memory");
            let allowed =
                matches!(done, Ok(()) | Err(Error::Param { .. } | Error::Memory { .. } | Error::Interrupted));
            // Not in the plan: buffers of matrix products, 4 MiB per thread.
            if !allowed || peak > LIMIT + (8 << 20) {
                wrong.push(format!("{what}, {huge}: {done:?}, peak {} MiB", peak >> 20));
            }
        };
        let filled = |settings: &str| settings.replace("HUGE", &huge.to_string());
        for settings in HUGE_SELECTORS {
            let method: SelectorMethod = serde_json::from_str(&filled(settings)).unwrap();
            check(settings, &|ctx| method.select(&data, FeatureCount::Auto, ctx).map(drop));
        }
        for settings in HUGE_BASES {
            let method: BasisMethod = serde_json::from_str(&filled(settings)).unwrap();
            check(settings, &|ctx| method.fit(&data, ctx).map(drop));
        }
        let space = KernelSpaceSelector::by_name("takes").unwrap();
        for (name, space) in [
            ("takes n_neighbors", KernelSpaceSelector { n_neighbors: huge, ..space.clone() }),
            ("takes gamma", KernelSpaceSelector { gamma_for_n_components: Some(huge), ..space }),
        ] {
            check(name, &|ctx| space.fit(&data, FeatureCount::Auto, ctx).map(drop));
        }
        for (name, repeats, max_rounds) in [("design repeats", huge, 100), ("design max_rounds", 1, huge)] {
            let design = KernelDesign { repeats, max_rounds, ..KernelDesign::default() };
            check(name, &|ctx| design.design_from_target(&data, 50, ctx).map(drop));
        }
        for screen in [
            InteractionScreen { n_functions: huge, ..InteractionScreen::default() },
            InteractionScreen { n_pairs: huge, ..InteractionScreen::default() },
            InteractionScreen { permutations: huge, ..InteractionScreen::default() },
        ] {
            check(&format!("{screen:?}"), &|ctx| screen.run(&data, ctx).map(drop));
        }
        check("feature dependence", &|ctx| feature_dependence(&data, huge, ctx).map(drop));
        let xing = LearnerMethod::Xing(XingMetric { max_iter: huge, ..XingMetric::default() });
        check("xing max_iter", &|ctx| xing.learn_from_target(&data, 50, ctx).map(drop));
        check("xing triplets", &|ctx| xing.learn_from_target(&data, huge, ctx).map(drop));
        let rows: Vec<usize> = (0..data.n()).collect();
        check("triplets", &|ctx| from_target(data.target(), &rows, huge, ctx).map(drop));
        let search = SvmSearch { folds: huge, ..SvmSearch::default() };
        check("svm folds", &|ctx| search.fit(&data, ctx).map(drop));
        let svm = Svm { max_iter: Some(huge), ..Svm::default() };
        check("svm max_iter", &|ctx| svm.fit(&data, ctx).map(drop));
        let svm = LinearSvm { max_iter: huge, ..LinearSvm::default() };
        check("linear svm max_iter", &|ctx| svm.fit(&data, ctx).map(drop));
        check("knnc", &|ctx| Knnc::fit(&Kernel::Linear.into(), &data, huge, ctx).map(drop));
        let kernel = Kernel::Linear.into();
        check("hsic", &|ctx| {
            let target = Variable::Target(data.target(), TargetKernel::Auto);
            let settings = Hsic { permutations: huge, ..Hsic::default() };
            hsic(Variable::Rows(data.x(), &kernel), target, &settings, ctx).map(drop)
        });
        for splits in [
            Splits::Folds { folds: huge, repeats: 1 },
            Splits::Folds { folds: 2, repeats: huge },
            Splits::Holdout { test_size: 0.5, repeats: huge },
        ] {
            let compare = Compare {
                candidates: vec![Candidate::parse("fisher").unwrap()],
                counts: vec![1],
                splits: SplitChoice::Generated(splits),
                stratify: true,
                evaluator: Evaluator::by_name("knn").unwrap().into(),
                scale: false,
                impute: Default::default(),
                baseline: false,
                train_sizes: vec![],
                latest: false,
            };
            check(&format!("{splits:?}"), &|ctx| {
                compare.run(&data, "data", &mut ResultsLog::in_memory(), ctx)
            });
        }
        // Synthetic data may use all available memory, which may be large.
        let sizes = if huge > 1 << 30 { &[(huge, 5), (5, huge), (huge, huge)][..] } else { &[] };
        for &(rows, columns) in sizes {
            let pattern = Pattern::by_name("xor").unwrap();
            let made = Synthetic { pattern, rows, columns, noise: 0.0, continuous: false, seed: 0 };
            check("synthetic data", &|_| made.make().map(drop));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A column of a mixed table: numbers, integers, categories, dates and booleans in turn; 5 % of the values are missing.
fn mixed_column(j: usize, n: usize, rng: &mut Rng) -> Column {
    let texts: Vec<String> = match j % 10 {
        5 => (0..20).map(|level| format!("level {level}")).collect(),
        6 => (0..3000).map(|day| date_text(f64::from(day))).collect(),
        7 => vec!["no".into(), "yes".into()],
        _ => vec![],
    };
    let mut value = || if rng.uniform() < 0.05 { f64::NAN } else { rng.uniform() };
    let values: Vec<f64> = (0..n).map(|_| value()).collect();
    let name = format!("c{j}");
    match texts.len() {
        0 if j % 10 < 3 => Column::numeric(name, values.iter().map(|v| (1000.0 * v).floor()).collect()),
        0 => Column::numeric(name, values),
        count => {
            let text = |v: &f64| texts.get((v * count as f64) as usize).filter(|_| !v.is_nan());
            Column::text(name, values.iter().map(|v| text(v).map(String::as_str)))
        }
    }
}

/// 50 mixed columns of a Parquet file: no more memory than twice the encoded data, at any time.
#[test]
fn reading_and_encoding_take_at_most_twice_the_encoded_data() {
    const ROWS: usize = 60_000;
    let mut rng = Rng::new(9);
    let mut columns: Vec<Column> = (0..50).map(|j| mixed_column(j, ROWS, &mut rng)).collect();
    columns.push(Column::text("class", (0..ROWS).map(|i| Some(["a", "b"][i % 2]))));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mixed.parquet");
    let (ctx, no_features) = (Context::default(), Array2::zeros((ROWS, 0)));
    write_table(&path, &[], no_features.view(), &columns, &WriteOptions::default(), &ctx).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let read_and_encode = || {
        let prepared = {
            let table = read_table(&path, &ReadOptions::default(), &ctx).unwrap().0;
            Prepare::default().fit(&table).unwrap()
        };
        assert_eq!(prepared.data.d(), 50);
        Encoder::fit(&prepared.data, Encoding::default()).unwrap().encode(&prepared.data).unwrap()
    };
    let (encoded, peak) = pool.install(|| metered(read_and_encode));
    let bytes = (8 * ROWS * encoded.x().d()) as u64;
    let peak = peak.expect("the test allocator measures memory");
    println!("{} columns, {bytes} bytes encoded, peak {peak}", encoded.x().d());
    assert!(peak <= 2 * bytes, "{peak} bytes for {bytes} encoded");
}
