//! The Hilbert matrix: 100 columns that are all different and nearly all the same.
//!
//! Three answers to "how many of them are independent": pivoted QR in double precision, plain
//! Gram-Schmidt (which stops being orthogonal long before), and KOBL with its adaptive threshold.
//!
//! Run with `cargo run --release --example hilbert`.

use kernsift::basis::{Basis, Kobl, Threshold};
use kernsift::linalg::numerical_rank;
use kernsift::{Context, Dataset, Kernel};
use ndarray::Array2;

/// `1 / (i + j + 1)`
pub fn hilbert(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, n), |(i, j)| 1.0 / (i + j + 1) as f64)
}

/// The first column that modified Gram-Schmidt leaves more than half along the earlier ones.
pub fn orthogonality_lost(a: &Array2<f64>) -> Option<usize> {
    let mut q: Vec<ndarray::Array1<f64>> = vec![];
    for (k, column) in a.columns().into_iter().enumerate() {
        let mut v = column.to_owned();
        for w in &q {
            let along = w.dot(&v);
            v.scaled_add(-along, w);
        }
        v /= v.dot(&v).sqrt();
        if q.iter().any(|w| w.dot(&v).abs() > 0.5) {
            return Some(k + 1);
        }
        q.push(v);
    }
    None
}

/// The dimension that KOBL finds among the columns.
pub fn kobl_dimension(a: &Array2<f64>, threshold: Threshold) -> kernsift::Result<usize> {
    let columns = Dataset::unlabelled(a.t().to_owned())?;
    let kobl = Kobl { kernel: Kernel::Linear.into(), threshold, ..Kobl::default() };
    Ok(kobl.fit(&columns, &Context::default())?.map.n_components())
}

fn main() -> kernsift::Result<()> {
    let a = hilbert(100);
    println!("100 x 100 Hilbert matrix");
    println!("  numerical rank by pivoted QR:        {}", numerical_rank(a.view()));
    match orthogonality_lost(&a) {
        Some(column) => println!("  Gram-Schmidt loses orthogonality at:  column {column}"),
        None => println!("  Gram-Schmidt keeps orthogonality"),
    }
    println!("  KOBL, f(t) = t:                      {}", kobl_dimension(&a, Threshold::Linear)?);
    println!("  KOBL without threshold:              {}", kobl_dimension(&a, Threshold::None)?);
    Ok(())
}
