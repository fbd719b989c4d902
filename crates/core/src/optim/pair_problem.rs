//! The quadratic program that [`super::Smo`] solves.

use crate::error::{Error, Result};

const NAME: &str = "SMO";

/// A quadratic program, without $K$.
#[derive(Debug, Clone, Copy)]
pub struct PairProblem<'a> {
    /// $y$: 1 or -1 per row.
    pub signs: &'a [f64],
    /// $C_i \ge 0$.
    pub bounds: &'a [f64],
    /// Initial coefficients; zero if `None`.
    pub start: Option<PairStart<'a>>,
}

/// Initial coefficients.
#[derive(Debug, Clone, Copy)]
pub struct PairStart<'a> {
    /// A feasible $\beta$.
    pub coefficients: &'a [f64],
    /// $y - K \beta$, if known. Rounding errors are corrected at the end.
    pub residual: Option<&'a [f64]>,
}

impl<'a> PairStart<'a> {
    /// Coefficients with an unknown residual.
    pub fn at(coefficients: &'a [f64]) -> Self {
        Self { coefficients, residual: None }
    }
}

impl PairProblem<'_> {
    /// $y - K \beta$ at the start, if known.
    pub(super) fn residual(&self) -> Option<&[f64]> {
        self.start.and_then(|start| start.residual)
    }

    /// Lower and upper bounds of the coefficients.
    pub(super) fn limits(&self) -> (Vec<f64>, Vec<f64>) {
        let ends = || self.signs.iter().zip(self.bounds).map(|(sign, bound)| sign * bound);
        (ends().map(|end| end.min(0.0)).collect(), ends().map(|end| end.max(0.0)).collect())
    }

    pub(super) fn check(&self, n: usize) -> Result<()> {
        for (what, length) in [("signs", self.signs.len()), ("bounds", self.bounds.len())]
            .into_iter()
            .chain(self.start.map(|s| ("initial coefficients", s.coefficients.len())))
            .chain(self.residual().map(|f| ("initial residual", f.len())))
        {
            if length != n {
                let (expected, got) = (n.to_string(), length.to_string());
                return Err(Error::Shape { what: format!("{NAME}: {what}"), expected, got });
            }
        }
        if let Some(bound) = self.bounds.iter().find(|c| !(**c >= 0.0 && c.is_finite())) {
            return Err(Error::param(NAME, "bounds", "zero or more and finite", bound));
        }
        let Some(PairStart { coefficients: start, .. }) = self.start else { return Ok(()) };
        let sizes = start.iter().zip(self.signs).map(|(start, sign)| start * sign);
        let within =
            sizes.zip(self.bounds).fold(true, |all, (size, bound)| all & (size >= 0.0) & (size <= *bound));
        let (sum, size) = start.iter().fold((0.0, 0.0), |(s, z), b| (s + b, z + b.abs()));
        // The rounding error of the sum is proportional to the sum of absolute values.
        if !within || f64::abs(sum) > 1e-9 * size {
            return Err(Error::param(NAME, "start", "within the bounds, with the sum 0", "another start"));
        }
        Ok(())
    }
}
