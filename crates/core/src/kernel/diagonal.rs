//! The diagonal of a Gram matrix.

use super::formula::Kernel;
use super::prepared::squared_norms;
use super::terms::{SimpleKernel, flatten, power};
use crate::data::Rows;
use crate::error::Result;

/// The kernel of every row with itself.
pub fn diagonal(kernel: &Kernel, x: &Rows) -> Result<Vec<f64>> {
    kernel.validate(x.d())?;
    let mut out = vec![0.0; x.n()];
    for (weight, term) in flatten(kernel) {
        add_diagonal(weight, &term, x, &mut out);
    }
    Ok(out)
}

fn add_diagonal(weight: f64, term: &SimpleKernel, x: &Rows, out: &mut [f64]) {
    match term.kernel {
        Kernel::Linear | Kernel::Polynomial { .. } => {
            let squares = match &term.columns {
                Some(columns) => {
                    let square = |i: usize| columns.clone().map(|j| x.get(i, j).powi(2)).sum();
                    (0..x.n()).map(square).collect()
                }
                None => squared_norms(x, None),
            };
            for (out, square) in out.iter_mut().zip(squares) {
                *out += weight
                    * match term.kernel {
                        Kernel::Polynomial { degree, gamma, coef0 } => power(gamma * square + coef0, *degree),
                        _ => square,
                    };
            }
        }
        // The other kernels are functions of the difference, which is zero.
        _ => out.iter_mut().for_each(|out| *out += weight),
    }
}
