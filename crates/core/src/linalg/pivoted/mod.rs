//! Pivoted incomplete Cholesky factorization of a matrix that is never formed.
//!
//! $K \approx L L^\top$ with $L$ of size $n \times m$, one column per pivot:
//!
//! $$ \delta_j = K_{jj}, \qquad L_{:k} = (K_{:p} - L L_{p:}^\top) / r, \quad r = \sqrt{\delta_p}, \qquad
//!    \delta \leftarrow \delta - L_{:k}^2 $$
//!
//! Only the diagonal $\delta$ of the residual is stored, so the cost is $O(n m)$ entries of $K$,
//! $O(n m^2)$ operations and $O(n m)$ memory.
//!
//! One pivot at a time, each step is a matrix-vector product, limited by memory bandwidth. Here pivots are processed in batches.
//! A small subproblem (the candidates only) predicts the next pivots; a single matrix product over the factor so far computes
//! their columns, and only the few columns of the same batch are subtracted one by one.
//!
//! - Greedy: residuals only decrease, so the predicted order is correct as long as the largest residual among the candidates
//!   exceeds all others. Every step is checked against the actual residuals.
//! - Random: rejection sampling, which has exactly the distribution of one-at-a-time sampling (Epperly, Tropp and Webber, arXiv
//!   2410.03969).
//! - Gain: gains are estimated on a random sample of rows.

mod batch;
mod gain;
mod plan;
mod run;
#[cfg(test)]
mod tests;
mod types;

use crate::context::Context;
use crate::error::Result;
use crate::outcome::Stop;
use run::Run;
pub use types::{Columns, Factor, Pivoting, Rule, Writer};

/// Factors `source`; `rule` selects pivots and decides when to stop.
pub fn pivoted_cholesky(source: &dyn Columns, rule: &Rule, ctx: &Context) -> Result<Factor> {
    let mut run = Run::start(source, rule, ctx)?;
    let stop = loop {
        if let Some(stop) = run.should_stop() {
            break stop;
        }
        let Some(planned) = run.plan()? else { break Stop::Exhausted };
        if let Some(stop) = run.add_pivots(planned)? {
            break stop;
        }
    };
    Ok(run.finish(stop))
}
