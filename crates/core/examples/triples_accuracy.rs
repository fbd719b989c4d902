//! Kernels learned from triples on the sets of the paper: how many held-out triples come out right.
//!
//! Ten seeded splits of each set: 85 of 100 rows to learn from, with 1500 triples drawn from their classes, and 1000 triples
//! of the other rows to judge by. Columns are scaled, widths taken and penalties chosen on the rows to learn from. The
//! paper's set of proteins is not to be had.
//!
//! Run with `cargo run --release --example triples_accuracy`; `make docs` keeps its output.

use kernsift::data::triplets::{from_target, split_points};
use kernsift::data::{BuiltIn, Prepare, Standardizer, Triplet};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::learn::KernelDesign;
use kernsift::learn::design::{Bases, Form, Psd, Widths};
use kernsift::{Context, Dataset, Kernel, Result};

/// The sets.
pub const SETS: [&str; 8] =
    ["boston_medv25", "ionosphere", "iris", "wine", "balance_scale", "wdbc", "soybean_small", "pima"];

/// Seeded splits.
pub const SPLITS: u64 = 10;

/// Triples to learn from, and to judge by.
const TRIPLES: (usize, usize) = (1500, 1000);

/// One split.
pub struct Split {
    /// Scaled rows to learn from.
    pub train: Dataset,
    /// Rows to judge by, on the same scale.
    pub test: Dataset,
    /// Triples of those.
    pub judge: Vec<Triplet>,
}

/// A split of a set by a seed.
pub fn split(name: &str, seed: u64) -> Result<Split> {
    let all = Prepare::default().fit(&BuiltIn::by_name(name)?.table()?)?.data;
    let fold = split_points(all.n(), 0.15, seed)?;
    let (train, test) = (all.take_rows(&fold.train), all.take_rows(&fold.test));
    let scaler = Standardizer::fit(train.x());
    let (train, test) = (train.with_x(scaler.apply(train.x())?)?, test.with_x(scaler.apply(test.x())?)?);
    let rows: Vec<usize> = (0..test.n()).collect();
    let judge = from_target(test.target(), &rows, TRIPLES.1, seed)?;
    Ok(Split { train, test, judge })
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// One kernel of all columns.
    Single(&'static str),
    /// All weak kernels with equal weights.
    Average,
    /// A mixture of kernels of all columns.
    Full,
    /// A mixture of one-column kernels.
    Weak(Psd),
}

/// An accuracy, and how many columns were needed for it.
#[derive(Debug, Clone, Copy)]
pub struct Result1 {
    /// The share of triples that came out right.
    pub accuracy: f64,
    /// Columns that play a part.
    pub columns: usize,
}

/// A method on a split.
pub fn run(method: Method, split: &Split, seed: u64) -> Result<Result1> {
    let ctx = Context { seed, ..Context::default() };
    let d = split.train.d();
    let (kernel, columns) = match method {
        Method::Single("linear") => (Kernel::Linear, d),
        Method::Single("poly2") => (Kernel::Polynomial { degree: 2, gamma: 1.0, coef0: 1.0 }, d),
        // Any width puts triples in one order.
        Method::Single(_) => (Kernel::Rbf { gamma: 1.0 }, d),
        Method::Average => {
            let bases = Bases::default().resolve(split.train.x(), seed)?;
            (Kernel::Sum(bases.into_iter().map(|base| (1.0, base.kernel)).collect()), d)
        }
        Method::Full => {
            let forms = vec![
                Form::Gaussian(Widths::default()),
                Form::Linear,
                Form::Polynomial { degree: 2, coef0: 1.0 },
            ];
            let design = KernelDesign { bases: Bases::Full(forms), ..KernelDesign::default() };
            (design.design_from_target(&split.train, TRIPLES.0, &ctx)?.learned.kernel, d)
        }
        Method::Weak(psd) => {
            let design = KernelDesign { psd, ..KernelDesign::default() };
            let designed = design.design_from_target(&split.train, TRIPLES.0, &ctx)?.learned;
            let columns = designed.features().len();
            (designed.kernel, columns)
        }
    };
    Ok(Result1 { accuracy: triplet_accuracy_of(&kernel, split.test.x(), &split.judge)?, columns })
}

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

fn main() -> Result<()> {
    let methods = [
        Method::Single("gaussian"),
        Method::Single("linear"),
        Method::Single("poly2"),
        Method::Average,
        Method::Full,
        Method::Weak(Psd::NonNegative),
        Method::Weak(Psd::DominanceWithNoise),
    ];
    for name in SETS {
        let mut line = format!("| {name} ");
        let splits: Result<Vec<Split>> = (0..SPLITS).map(|seed| split(name, seed)).collect();
        let splits = splits?;
        let mut best: Option<Vec<f64>> = None;
        for method in methods {
            let start = std::time::Instant::now();
            let results: Result<Vec<Result1>> =
                splits.iter().zip(0..).map(|(split, seed)| run(method, split, seed)).collect();
            let results = results?;
            let accuracies: Vec<f64> = results.iter().map(|r| r.accuracy).collect();
            let (mean, sd) = mean_and_sd(&accuracies);
            line += &format!("| {mean:.3} ±{sd:.3} ");
            if let Method::Single(_) = method {
                if best.as_ref().is_none_or(|b| mean > mean_and_sd(b).0) {
                    best = Some(accuracies.clone());
                }
            }
            if let Method::Weak(_) = method {
                let gains: Vec<f64> = accuracies
                    .iter()
                    .zip(best.as_ref().expect("singles come first"))
                    .map(|(a, b)| a - b)
                    .collect();
                let (gain, sd) = mean_and_sd(&gains);
                let columns: Vec<f64> = results.iter().map(|r| r.columns as f64).collect();
                line += &format!(
                    "(gain {gain:+.3} sd {sd:.3}, {:.1} columns, {:.1} s) ",
                    mean_and_sd(&columns).0,
                    start.elapsed().as_secs_f64()
                );
            }
        }
        println!("{line}|");
    }
    Ok(())
}
