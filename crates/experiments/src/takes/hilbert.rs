//! Number of independent columns of the 100 x 100 Hilbert matrix, which is very ill conditioned.
//!
//! Three estimates: pivoted QR in double precision, plain Gram-Schmidt (which loses orthogonality), and KOBL with its
//! adaptive threshold.

use crate::checkpoint::Checkpoint;
use crate::study::{Section, Table, Verdict};
use kernsift::basis::{Basis, Kobl, Threshold};
use kernsift::internals::numerical_rank;
use kernsift::{Context, Dataset, Kernel, Result};
use ndarray::{Array1, Array2};

/// `1 / (i + j + 1)`
fn hilbert(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, n), |(i, j)| 1.0 / (i + j + 1) as f64)
}

/// The first column whose inner product with an earlier one exceeds 0.5 after modified Gram-Schmidt.
fn first_non_orthogonal(a: &Array2<f64>) -> Option<usize> {
    let mut q: Vec<Array1<f64>> = vec![];
    for (k, column) in a.columns().into_iter().enumerate() {
        let mut v = column.to_owned();
        for w in &q {
            let projection = w.dot(&v);
            v.scaled_add(-projection, w);
        }
        v /= v.dot(&v).sqrt();
        if q.iter().any(|w| w.dot(&v).abs() > 0.5) {
            return Some(k + 1);
        }
        q.push(v);
    }
    None
}

/// The number of components that KOBL finds.
fn kobl_dimension(a: &Array2<f64>, ctx: &Context) -> Result<usize> {
    let columns = Dataset::unlabeled(a.t().to_owned())?;
    let kobl = Kobl { kernel: Kernel::Linear.into(), threshold: Threshold::Linear, ..Kobl::default() };
    Ok(kobl.fit(&columns, ctx)?.map.n_components())
}

/// The section.
pub fn run(checkpoint: &mut Checkpoint, ctx: &Context) -> Result<Section> {
    let measured = checkpoint.measure("Hilbert matrix", &["hilbert".to_owned()], ctx, |_, ctx| {
        let a = hilbert(100);
        Ok([
            ("rank".to_owned(), numerical_rank(a.view()) as f64),
            ("orthogonality lost at column".to_owned(), first_non_orthogonal(&a).unwrap_or(100) as f64),
            ("KOBL".to_owned(), kobl_dimension(&a, ctx)? as f64),
        ]
        .into())
    })?;
    let [rank, lost, kobl] = ["rank", "orthogonality lost at column", "KOBL"].map(|name| measured[0][name]);
    let mut table = Table::new("Of 100 columns", ["", "published", "ours"]);
    table.push(["numerical rank by pivoted QR".to_owned(), "about 18".to_owned(), rank.to_string()]);
    table.push([
        "first column at which Gram-Schmidt loses orthogonality".to_owned(),
        String::new(),
        lost.to_string(),
    ]);
    table.push(["KOBL, f(t) = t".to_owned(), String::new(), kobl.to_string()]);
    Ok(Section::new(
        "P0-H",
        "Hilbert example",
        "The 100 x 100 Hilbert matrix has about 18 independent columns.",
        "Pivoted QR in double precision; for comparison plain Gram-Schmidt, and KOBL with the linear kernel.",
        "A numerical rank from 17 to 20.",
    )
    .result(Verdict::of((17.0..=20.0).contains(&rank)), format!("Rank {rank}."))
    .table(table)
    .note("KOBL finds few directions because its threshold is far above rounding error."))
}
