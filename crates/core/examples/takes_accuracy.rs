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

/// All columns of the table.
pub const METHODS: [Method; 9] = [
    Method { name: "TAKES", predict: |a, b, ctx| with(KernelSpaceSelector::takes(), a, b, ctx) },
    Method {
        name: "TAKES, quantised",
        predict: |a, b, ctx| {
            let klms = Klms { quantum: Some(1.0 / 16.0), ..Klms::default() };
            with(takes(WeakLearner::Klms(klms)), a, b, ctx)
        },
    },
    Method { name: "TAKES, stumps", predict: |a, b, ctx| with(takes(WeakLearner::Stump), a, b, ctx) },
    Method {
        name: "TAKES tuned",
        predict: |a, b, ctx| {
            with(KernelSpaceSelector { tune: Tune::Everything, ..KernelSpaceSelector::takes() }, a, b, ctx)
        },
    },
    Method {
        name: "KGS+KFFS",
        predict: |a, b, ctx| with(KernelSpaceSelector::by_name("kgs-kffs")?, a, b, ctx),
    },
    Method { name: "FSKGS", predict: |a, b, ctx| with(KernelSpaceSelector::by_name("fskgs")?, a, b, ctx) },
    Method { name: "FSKPCA", predict: |a, b, ctx| with(KernelSpaceSelector::by_name("fskpca")?, a, b, ctx) },
    Method {
        name: "KDA",
        predict: |a, b, ctx| {
            let basis = BasisMethod::Discriminant(Discriminant::default());
            with(KernelSpaceSelector { basis, selector: None, ..KernelSpaceSelector::default() }, a, b, ctx)
        },
    },
    Method {
        name: "KNNC",
        predict: |a, b, ctx| Knnc::fit(&KernelChoice::default(), a, 1, ctx)?.predict(b.x(), ctx),
    },
];

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

fn main() -> Result<()> {
    let first: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    println!("| data | training rows | {} |", METHODS.map(|m| m.name).join(" | "));
    println!("|---|---|{}", "---|".repeat(METHODS.len()));
    for (name, rows) in SETS {
        let mut line = format!("| {name} | {rows} |");
        for method in &METHODS {
            let all = (first..first + SPLITS)
                .map(|seed| accuracy(method, name, rows, seed))
                .collect::<Result<Vec<_>>>()?;
            let (mean, sd) = mean_and_sd(&all);
            line += &format!(" {mean:.1} ± {sd:.1} |");
        }
        println!("{line}");
    }
    Ok(())
}
