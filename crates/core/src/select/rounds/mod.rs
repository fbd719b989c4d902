//! Selectors that fit in rounds over blocks of rows, see [`crate::blocks`].
//!
//! | selector | rounds | result of a block |
//! |---|---|---|
//! | Fisher score, classes | 1 | means and sums of squares of every feature by class |
//! | Fisher score, continuous target | 3 | means and sums of squares; slopes; sums of squared residuals |
//! | information gain, chi-squared by bins | 2 | a sample of rows; counts by bin and class |
//! | chi-squared by counts | 1 | sums by class |
//! | HSIC Lasso with blocks of samples | 2 | means and sums of squares; products of all kernel matrices |

mod binned;
mod fisher;

use self::binned::{BinnedMethod, BinnedRounds, BinnedSums};
use self::fisher::{FisherRounds, FisherSums};
use super::catalog::{SELECTORS, SelectorMethod};
use super::hsic_lasso::{HsicLassoRounds, HsicLassoSums};
use super::selector::{FeatureCount, Selection, Selector};
use crate::blocks::{Block, Layout, Next, Rounds};
use crate::context::Context;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A selector in rounds.
#[derive(Serialize, Deserialize)]
pub enum SelectorRounds {
    /// Fisher score.
    Fisher(Box<FisherRounds>),
    /// Information gain or chi-squared.
    Binned(Box<BinnedRounds>),
    /// HSIC Lasso.
    HsicLasso(Box<HsicLassoRounds>),
}

/// Sums of a selector in rounds.
#[derive(Serialize, Deserialize)]
pub enum SelectorSums {
    /// Fisher score.
    Fisher(FisherSums),
    /// Information gain or chi-squared.
    Binned(BinnedSums),
    /// HSIC Lasso.
    HsicLasso(HsicLassoSums),
}

impl SelectorMethod {
    /// The first round of a fit to a table with this layout; an error if the method does not fit in rounds.
    pub fn rounds(&self, layout: &Layout, count: FeatureCount, ctx: &Context) -> Result<SelectorRounds> {
        self.check()?;
        let binned = |method| BinnedRounds::new(method, layout, count, ctx);
        Ok(match self {
            Self::Fisher(_) => SelectorRounds::Fisher(Box::new(FisherRounds::new(layout, count)?)),
            Self::InformationGain(method) => {
                SelectorRounds::Binned(Box::new(binned(BinnedMethod::InformationGain(method.clone()))?))
            }
            Self::ChiSquared(method) => {
                SelectorRounds::Binned(Box::new(binned(BinnedMethod::ChiSquared(method.clone()))?))
            }
            Self::HsicLasso(method) => {
                SelectorRounds::HsicLasso(Box::new(HsicLassoRounds::new(method, layout, count, ctx)?))
            }
            other => {
                let (method, supported) = (other.info().title.into(), Self::names_with_rounds());
                return Err(Error::RoundsUnsupported { method, supported });
            }
        })
    }

    /// Whether it fits in rounds over blocks of rows.
    pub fn has_rounds(&self) -> bool {
        matches!(self, Self::Fisher(_) | Self::InformationGain(_) | Self::ChiSquared(_) | Self::HsicLasso(_))
    }

    /// The names of the selectors that fit in rounds.
    pub fn names_with_rounds() -> Vec<&'static str> {
        let names = SELECTORS.iter().map(|info| info.name);
        names.filter(|name| Self::by_name(name).is_ok_and(|method| method.has_rounds())).collect()
    }
}

impl Rounds for SelectorRounds {
    type Sums = SelectorSums;
    type Fit = Selection;

    fn stage(&self) -> &'static str {
        match self {
            Self::Fisher(rounds) => rounds.stage(),
            Self::Binned(rounds) => rounds.stage(),
            Self::HsicLasso(rounds) => rounds.stage(),
        }
    }

    fn rounds_left(&self) -> Option<usize> {
        match self {
            Self::Fisher(rounds) => rounds.rounds_left(),
            Self::Binned(rounds) => rounds.rounds_left(),
            Self::HsicLasso(rounds) => rounds.rounds_left(),
        }
    }

    fn bytes(&self, layout: &Layout) -> (f64, f64) {
        match self {
            Self::Fisher(rounds) => rounds.bytes(layout),
            Self::Binned(rounds) => rounds.bytes(layout),
            Self::HsicLasso(rounds) => rounds.bytes(layout),
        }
    }

    fn of_block(&self, block: &Block) -> Result<SelectorSums> {
        Ok(match self {
            Self::Fisher(rounds) => SelectorSums::Fisher(rounds.of_block(block)?),
            Self::Binned(rounds) => SelectorSums::Binned(rounds.of_block(block)?),
            Self::HsicLasso(rounds) => SelectorSums::HsicLasso(rounds.of_block(block)?),
        })
    }

    fn add(&self, total: &mut SelectorSums, later: SelectorSums) {
        match (self, total, later) {
            (Self::Fisher(rounds), SelectorSums::Fisher(total), SelectorSums::Fisher(later)) => {
                rounds.add(total, later);
            }
            (Self::Binned(rounds), SelectorSums::Binned(total), SelectorSums::Binned(later)) => {
                rounds.add(total, later);
            }
            (Self::HsicLasso(rounds), SelectorSums::HsicLasso(total), SelectorSums::HsicLasso(later)) => {
                rounds.add(total, later);
            }
            _ => unreachable!("sums of another method"),
        }
    }

    fn update(self, total: SelectorSums, ctx: &Context) -> Result<Next<Self>> {
        Ok(match (self, total) {
            (Self::Fisher(rounds), SelectorSums::Fisher(total)) => match rounds.update(total, ctx)? {
                Next::Round(next) => Next::Round(Self::Fisher(Box::new(next))),
                Next::Fit(fit) => Next::Fit(fit),
            },
            (Self::Binned(rounds), SelectorSums::Binned(total)) => match rounds.update(total, ctx)? {
                Next::Round(next) => Next::Round(Self::Binned(Box::new(next))),
                Next::Fit(fit) => Next::Fit(fit),
            },
            (Self::HsicLasso(rounds), SelectorSums::HsicLasso(total)) => match rounds.update(total, ctx)? {
                Next::Round(next) => Next::Round(Self::HsicLasso(Box::new(next))),
                Next::Fit(fit) => Next::Fit(fit),
            },
            _ => unreachable!("sums of another method"),
        })
    }
}

#[cfg(test)]
mod tests;
