//! The Fisher score in rounds.

use crate::blocks::{Block, Layout, Moments, Next, Rounds, TargetLayout};
use crate::context::Context;
use crate::data::{is_constant, standardized};
use crate::error::{Error, Result};
use crate::select::f_test::FTest;
use crate::select::fisher::{NAME, score, select_by};
use crate::select::selector::{FeatureCount, Selection};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// A round of the Fisher score.
#[derive(Serialize, Deserialize)]
pub struct FisherRounds {
    n: usize,
    /// Number of classes; `None` for regression.
    n_classes: Option<usize>,
    wanted: Option<usize>,
    phase: Phase,
}

#[derive(Serialize, Deserialize)]
enum Phase {
    Moments,
    /// Products of standardized features and target.
    Slopes(Standard),
    /// Squared residuals of the features.
    Residuals(Standard, Vec<f64>),
}

/// Means and standard deviations of the features, and of the target, which comes last.
#[derive(Clone, Serialize, Deserialize)]
struct Standard {
    mean: Vec<f64>,
    std: Vec<f64>,
}

/// The sums of a round.
#[derive(Serialize, Deserialize)]
pub struct FisherSums {
    /// Moments of the features by class, and of a continuous target.
    moments: Vec<Moments>,
    /// A sum per feature.
    sums: Vec<f64>,
}

impl FisherRounds {
    pub(super) fn new(layout: &Layout, count: FeatureCount) -> Result<Self> {
        layout.need_target(NAME)?;
        let n_classes = match &layout.target {
            TargetLayout::Classes(_) => Some(layout.n_classes(NAME)?),
            TargetLayout::None | TargetLayout::Continuous => None,
        };
        let wanted = count.resolve(NAME, layout.d())?;
        Ok(Self { n: layout.n, n_classes, wanted, phase: Phase::Moments })
    }

    /// The selection by the scores of all features.
    fn select(&self, scores: impl Iterator<Item = f64>, degrees: usize, ctx: &Context) -> Selection {
        let tests = scores.map(|score| FTest::of_score(score, self.n as f64, degrees)).collect();
        select_by(tests, self.wanted, ctx)
    }

    fn by_classes(&self, moments: &Moments, ctx: &Context) -> Result<Selection> {
        let (mean, _) = moments.standard()?;
        let present = moments.counts().iter().filter(|count| **count > 0.0).count();
        if present < 2 {
            return Err(Error::OneClass { method: NAME, class: "of all rows".into() });
        }
        let scores = (0..mean.len()).map(|j| {
            let column = moments.column(j);
            score(column.between, column.within, column.std, column.mean)
        });
        Ok(self.select(scores, present - 1, ctx))
    }
}

impl Standard {
    fn of(moments: &[Moments]) -> Result<Self> {
        let (mut mean, mut std) = (vec![], vec![]);
        for part in moments {
            let (means, stds) = part.standard()?;
            mean.extend(means);
            std.extend(stds);
        }
        let target = mean.len() - 1;
        if is_constant(mean[target], std[target]) {
            return Err(Error::ConstantTarget { method: NAME, value: mean[target] });
        }
        Ok(Self { mean, std })
    }

    /// A standardized value of a feature.
    fn feature(&self, v: f64, j: usize) -> f64 {
        standardized(v, self.mean[j], if self.std[j] > 0.0 { self.std[j] } else { 1.0 })
    }

    /// For each feature the sum of `term` of its standardized value and that of the target, given the feature.
    fn sum(&self, block: &Block, term: impl Fn(usize, f64, f64) -> f64) -> Vec<f64> {
        let d = self.mean.len() - 1;
        let mut sums = vec![0.0; d];
        for (row, &y) in block.x.rows().into_iter().zip(block.numbers()) {
            let y = standardized(y, self.mean[d], self.std[d]);
            for (j, (sum, &v)) in sums.iter_mut().zip(row).enumerate() {
                *sum += term(j, self.feature(v, j), y);
            }
        }
        sums
    }
}

impl Rounds for FisherRounds {
    type Sums = FisherSums;
    type Fit = Selection;

    fn stage(&self) -> &'static str {
        match self.phase {
            Phase::Moments => "means and scatter",
            Phase::Slopes(_) => "correlations",
            Phase::Residuals(..) => "residuals",
        }
    }

    fn rounds_left(&self) -> Option<usize> {
        Some(match (&self.phase, self.n_classes) {
            (Phase::Moments, None) => 3,
            (Phase::Slopes(_), _) => 2,
            (Phase::Moments, Some(_)) | (Phase::Residuals(..), _) => 1,
        })
    }

    fn bytes(&self, layout: &Layout) -> (f64, f64) {
        (Moments::bytes(layout.d() + 1, self.n_classes.unwrap_or(1)), 0.0)
    }

    fn of_block(&self, block: &Block) -> Result<FisherSums> {
        let sums = |sums| FisherSums { moments: vec![], sums };
        Ok(match &self.phase {
            Phase::Moments => {
                let mut moments =
                    vec![Moments::of(block.x.view(), block.codes(), self.n_classes.unwrap_or(1))];
                if self.n_classes.is_none() {
                    let y = ArrayView2::from_shape((block.n(), 1), block.numbers()).expect("a column");
                    moments.push(Moments::of(y, &[], 1));
                }
                FisherSums { moments, sums: vec![] }
            }
            Phase::Slopes(standard) => sums(standard.sum(block, |_, x, y| x * y)),
            Phase::Residuals(standard, slopes) => {
                sums(standard.sum(block, |j, x, y| (x - slopes[j] * y).powi(2)))
            }
        })
    }

    fn add(&self, total: &mut FisherSums, later: FisherSums) {
        total.moments.iter_mut().zip(&later.moments).for_each(|(a, b)| a.add(b));
        total.sums.iter_mut().zip(&later.sums).for_each(|(a, b)| *a += b);
    }

    fn update(self, total: FisherSums, ctx: &Context) -> Result<Next<Self>> {
        let n = self.n as f64;
        let phase = match (&self.phase, self.n_classes) {
            (Phase::Moments, Some(_)) => return Ok(Next::Fit(self.by_classes(&total.moments[0], ctx)?)),
            (Phase::Moments, None) => Phase::Slopes(Standard::of(&total.moments)?),
            (Phase::Slopes(standard), _) => {
                let slopes = total.sums.iter().map(|sum| sum / n).collect();
                Phase::Residuals(standard.clone(), slopes)
            }
            (Phase::Residuals(standard, slopes), _) => {
                let scores = slopes.iter().zip(&total.sums).enumerate().map(|(j, (slope, residual))| {
                    score(n * slope * slope, *residual, standard.std[j], standard.mean[j])
                });
                return Ok(Next::Fit(self.select(scores, 1, ctx)));
            }
        };
        Ok(Next::Round(Self { phase, ..self }))
    }
}
