//! Tasks whose instructions are counted, so that changes of speed show in review.
//!
//! Without arguments it lists the tasks; `instructions NAME TIMES` runs one repeatedly on one thread. `make instructions`
//! runs each once and twice under callgrind and stores the difference in `benchmarks/records/instructions.json`.

use kernsift::basis::{Basis, Kobl, Threshold};
use kernsift::classify::Svm;
use kernsift::data::read::{ReadOptions, read_bytes};
use kernsift::data::{Dataset, Rows};
use kernsift::dependence::projection::{Fourier, Projected, unit_factor};
use kernsift::internals::Rng;
use kernsift::kernel::{Kernel, gram_symmetric};
use kernsift::optim::Criterion;
use kernsift::select::{FeatureCount, Selector, SelectorMethod};
use kernsift::{Context, Error, Result};
use ndarray::Array2;
use std::fmt::Write;
use std::hint::black_box;

/// Name and function of a task.
type Task = (&'static str, fn() -> Result<()>);

const TASKS: [Task; 9] = [
    ("RBF Gram matrix, 600 x 600, 64 columns", gram_matrix),
    ("KOBL, 3000 x 10, 100 components", kobl),
    ("ReliefF, 400 x 60", || select("relief", 400, 60, 10)),
    ("FOHSIC, 5 of 200 x 40", || select("fohsic", 200, 40, 5)),
    ("HSIC Lasso, 5 of 200 x 100", || select("hsic-lasso", 200, 100, 5)),
    ("SVM-RFE, 200 x 30", || select("svm-rfe", 200, 30, 1)),
    ("RBF SVM, 500 x 10", svm),
    ("HSFS, one gradient with 512 features, 2000 x 20", gradient),
    ("CSV, 5000 x 20", csv),
];

/// Two classes with a curved boundary.
fn labeled(n: usize, d: usize) -> Result<Dataset> {
    let mut rng = Rng::new(1);
    let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    let codes = x.rows().into_iter().map(|r| usize::from(r[0] * r[1] + r[2] > 0.0)).collect();
    Dataset::labeled(x, codes)
}

fn gram_matrix() -> Result<()> {
    let data = labeled(600, 64)?;
    black_box(gram_symmetric(&Kernel::Rbf { gamma: 0.01 }, data.x())?);
    Ok(())
}

fn kobl() -> Result<()> {
    let kobl = Kobl {
        kernel: Kernel::Rbf { gamma: 0.1 }.into(),
        threshold: Threshold::None,
        n_components: Some(100),
        ..Kobl::default()
    };
    black_box(kobl.fit(&labeled(3000, 10)?, &Context::default())?);
    Ok(())
}

fn select(method: &str, n: usize, d: usize, wanted: usize) -> Result<()> {
    let method = SelectorMethod::by_name(method)?;
    black_box(method.select(&labeled(n, d)?, FeatureCount::Count(wanted), &Context::default())?);
    Ok(())
}

fn svm() -> Result<()> {
    black_box(Svm::default().fit(&labeled(500, 10)?, &Context::default())?);
    Ok(())
}

fn gradient() -> Result<()> {
    let data = labeled(2000, 20)?;
    let classes = data.classes("instructions")?;
    let y = Array2::from_shape_fn((2000, 2), |(i, c)| f64::from(u8::from(classes.codes[i] == c)) - 0.5);
    let rows: &Rows = data.x();
    let inner = Fourier::new(unit_factor(&y), 8, 512, 0);
    let mut rng = Rng::new(2);
    let w = Array2::from_shape_simple_fn((20, 8), || 0.2 * rng.normal());
    let mut slope = Array2::zeros(w.raw_dim());
    black_box(Projected::new(rows, &inner, 8).value_and_gradient(&w, &mut slope));
    Ok(())
}

fn csv() -> Result<()> {
    let mut rng = Rng::new(3);
    let mut text = (0..20).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",");
    for _ in 0..5000 {
        text.push('\n');
        for j in 0..20 {
            let comma = if j > 0 { "," } else { "" };
            write!(text, "{comma}{:.3}", rng.normal()).expect("text takes all");
        }
    }
    black_box(read_bytes("t.csv", text.as_bytes(), &ReadOptions::default(), &Context::default())?);
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, times] = &arguments[..] else {
        TASKS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    let breakdown = |why: String| Error::Breakdown { step: "instructions", why };
    let (_, work) = TASKS
        .iter()
        .find(|(known, _)| known == name)
        .ok_or_else(|| breakdown(format!("no piece '{name}'")))?;
    let times: usize = times.parse().map_err(|_| breakdown(format!("'{times}' is not a number of times")))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| breakdown(error.to_string()))?;
    pool.install(|| (0..times).try_for_each(|_| work()))
}
