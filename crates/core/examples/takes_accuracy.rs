//! TAKES and its rivals on the six sets of its paper: accuracy on rows that were held out.
//!
//! Ten seeded random splits with the paper's numbers of training rows. Columns are scaled, bases learned
//! and directions chosen on the training rows alone; the rest of the rows judge. The paper prints neither
//! its splits nor its widths, and shows accuracies in pictures only.
//!
//! Run with `cargo run --release --example takes_accuracy`; `make docs` keeps its output.

use kernsift::basis::{BasisMethod, Discriminant};
use kernsift::classify::Knnc;
use kernsift::data::{BuiltIn, Prepare, Standardizer};
use kernsift::kernel::KernelChoice;
use kernsift::random::Rng;
use kernsift::select::{Klms, SelectorMethod, Wanted, WeakLearner};
use kernsift::space::{KernelSpaceSelector, Tune};
use kernsift::{Context, Dataset, Result};

/// The sets, and how many rows of each are for training.
pub const SETS: [(&str, usize); 6] = [
    ("australian", 345),
    ("pima", 468),
    ("ionosphere", 281),
    ("heart", 170),
    ("sonar", 150),
    ("thyroid_2class", 140),
];

/// Seeded random splits.
pub const SPLITS: u64 = 10;

/// A split: scaled training rows, and test rows on the same scale.
pub fn split(name: &str, rows: usize, seed: u64) -> Result<(Dataset, Dataset)> {
    let all = Prepare::default().fit(&BuiltIn::by_name(name)?.table()?)?.data;
    let train = Rng::new(seed).sample(all.n(), rows);
    let test: Vec<usize> = (0..all.n()).filter(|i| train.binary_search(i).is_err()).collect();
    let (train, test) = (all.take_rows(&train), all.take_rows(&test));
    let scaler = Standardizer::fit(train.x());
    Ok((train.with_x(scaler.apply(train.x())?)?, test.with_x(scaler.apply(test.x())?)?))
}

/// A method: its name in the table, and the codes it predicts.
pub struct Method {
    /// The column's heading.
    pub name: &'static str,
    /// Learns from the first, predicts the second.
    pub predict: fn(&Dataset, &Dataset, &Context) -> Result<Vec<usize>>,
}

fn with(space: KernelSpaceSelector, train: &Dataset, test: &Dataset, ctx: &Context) -> Result<Vec<usize>> {
    space.fit(train, Wanted::OwnRule, ctx)?.predict(test.x(), ctx)
}

fn takes(weak: WeakLearner) -> KernelSpaceSelector {
    let mut space = KernelSpaceSelector::takes();
    if let Some(SelectorMethod::Ffs(ffs)) = &mut space.selector {
        ffs.weak = weak;
    }
    space
}

fn knnc(train: &Dataset, test: &Dataset, n_neighbors: usize, ctx: &Context) -> Result<Vec<usize>> {
    Knnc::fit(&KernelChoice::default(), train, n_neighbors, ctx)?.predict(test.x(), ctx)
}

/// TAKES with the paper's rules.
pub const TAKES: Method =
    Method { name: "TAKES", predict: |a, b, ctx| with(KernelSpaceSelector::takes(), a, b, ctx) };
/// TAKES with settings chosen inside the training rows.
pub const TUNED: Method = Method {
    name: "TAKES tuned",
    predict: |a, b, ctx| {
        with(KernelSpaceSelector { tune: Tune::Everything, ..KernelSpaceSelector::takes() }, a, b, ctx)
    },
};
/// TAKES with quantised centres.
pub const QUANTISED: Method = Method {
    name: "TAKES, quantised KLMS",
    predict: |a, b, ctx| {
        let klms = Klms { quantum: Some(1.0 / 16.0), ..Klms::default() };
        with(takes(WeakLearner::Klms(klms)), a, b, ctx)
    },
};
/// The nearest neighbour on a kernel discriminant.
pub const KDA: Method = Method {
    name: "KDA",
    predict: |a, b, ctx| {
        let basis = BasisMethod::Discriminant(Discriminant::default());
        with(KernelSpaceSelector { basis, selector: None, ..KernelSpaceSelector::default() }, a, b, ctx)
    },
};
/// The nearest neighbour without any selection.
pub const KNNC: Method = Method { name: "KNNC", predict: |a, b, ctx| knnc(a, b, 1, ctx) };

const KGS_KFFS: Method = Method {
    name: "KGS+KFFS",
    predict: |a, b, ctx| with(KernelSpaceSelector::by_name("kgs-kffs")?, a, b, ctx),
};
const FSKGS: Method =
    Method { name: "FSKGS", predict: |a, b, ctx| with(KernelSpaceSelector::by_name("fskgs")?, a, b, ctx) };
const FSKPCA: Method =
    Method { name: "FSKPCA", predict: |a, b, ctx| with(KernelSpaceSelector::by_name("fskpca")?, a, b, ctx) };
const STUMPS: Method =
    Method { name: "TAKES, stumps", predict: |a, b, ctx| with(takes(WeakLearner::Stump), a, b, ctx) };
/// Neighbours whose number is chosen inside the training rows, by five times five folds.
const KNNC_CHOSEN: Method = Method {
    name: "KNNC, number of neighbours chosen",
    predict: |train, test, ctx| {
        let numbers = [1, 3, 5, 9, 15, 21];
        let mut hits = [0; 6];
        let mut rng = Rng::stream(ctx.seed, "folds");
        for _ in 0..5 {
            let mut order: Vec<usize> = (0..train.n()).collect();
            rng.shuffle(&mut order);
            for fold in 0..5 {
                let (inner, judge): (Vec<usize>, Vec<usize>) = (0..train.n()).partition(|i| i % 5 != fold);
                let rows =
                    |places: &[usize]| train.take_rows(&places.iter().map(|&i| order[i]).collect::<Vec<_>>());
                let (inner, judge) = (rows(&inner), rows(&judge));
                for (hits, n_neighbors) in hits.iter_mut().zip(numbers) {
                    let predicted = knnc(&inner, &judge, n_neighbors, ctx)?;
                    *hits +=
                        predicted.iter().zip(&judge.classes("folds")?.codes).filter(|(a, b)| a == b).count();
                }
            }
        }
        let best = (0..6).rev().max_by_key(|&i| hits[i]).unwrap_or(0);
        knnc(train, test, numbers[best], ctx)
    },
};

/// Per cent of right answers on one split.
pub fn accuracy(method: &Method, name: &str, rows: usize, seed: u64) -> Result<f64> {
    let (train, test) = split(name, rows, seed)?;
    let ctx = Context { seed, ..Context::default() };
    let predicted = (method.predict)(&train, &test, &ctx)?;
    let right = predicted.iter().zip(&test.classes("test")?.codes).filter(|(a, b)| a == b).count();
    Ok(100.0 * right as f64 / test.n() as f64)
}

/// Mean and standard deviation.
pub fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (values.len() - 1) as f64).sqrt())
}

/// Accuracies of a method on all splits of all sets.
pub fn accuracies(method: &Method) -> Result<Vec<Vec<f64>>> {
    let splits = |(name, rows)| (0..SPLITS).map(|seed| accuracy(method, name, rows, seed)).collect();
    SETS.into_iter().map(splits).collect()
}

/// Differences of the means of two methods on all sets, in points.
pub fn differences(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| mean_and_sd(a).0 - mean_and_sd(b).0).collect()
}

fn print_table(columns: &[(&Method, Vec<Vec<f64>>)]) {
    let names: Vec<&str> = columns.iter().map(|(method, _)| method.name).collect();
    println!("| data | training rows | {} |", names.join(" | "));
    println!("|---|---|{}", "---|".repeat(columns.len()));
    for (set, (name, rows)) in SETS.into_iter().enumerate() {
        let cells: Vec<String> = columns
            .iter()
            .map(|(_, all)| mean_and_sd(&all[set]))
            .map(|(mean, sd)| format!("{mean:.1} ± {sd:.1}"))
            .collect();
        println!("| {name} | {rows} | {} |", cells.join(" | "));
    }
    println!();
}

fn main() -> Result<()> {
    let columns = |methods: &[&'static Method]| {
        methods.iter().map(|&method| Ok((method, accuracies(method)?))).collect::<Result<Vec<_>>>()
    };
    let main = columns(&[&TAKES, &TUNED, &KGS_KFFS, &FSKGS, &FSKPCA, &KDA, &KNNC])?;
    print_table(&main);
    let more = columns(&[&QUANTISED, &STUMPS, &KNNC_CHOSEN])?;
    println!("Not in the paper:\n");
    print_table(&more);
    let better = |gains: &[f64]| gains.iter().filter(|&&gain| gain > 0.0).count();
    let least = |gains: &[f64]| gains.iter().copied().fold(f64::INFINITY, f64::min);
    let [takes, tuned, _, _, _, kda, knnc] = main.as_slice() else { unreachable!("seven columns") };
    for (name, other) in [("KNNC", &knnc.1), ("KDA", &kda.1), ("KNNC with chosen neighbours", &more[2].1)] {
        for (method, ours) in [("TAKES", &takes.1), ("TAKES tuned", &tuned.1)] {
            let gains = differences(ours, other);
            let (better, least) = (better(&gains), least(&gains));
            println!(
                "- {method} against {name}: better on {better} of {}, at the least {least:+.1} points.",
                SETS.len()
            );
        }
    }
    let apart = differences(&more[0].1, &takes.1).iter().fold(0.0_f64, |most, d| most.max(d.abs()));
    println!("- Quantised against exact KLMS: at most {apart:.1} points apart.");
    Ok(())
}
