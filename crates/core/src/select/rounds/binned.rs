//! Information gain and chi-squared in rounds.
//!
//! The first round collects a sample of rows. Its distinct values are the edges of fine bins; the second round counts rows by fine bin
//! and class. A fine bin then stands for its rows, with their number as weight, and the method discretizes as it does in memory. If
//! the sample is the complete table, or a feature has few distinct values, the result equals that in memory; otherwise cuts are at
//! sampled values only. Bins of equal width need only the smallest and the largest value, and always equal those in memory.

use crate::blocks::{Block, Layout, Next, Rounds, RowSample, SampledRows, SmallestValues};
use crate::context::Context;
use crate::data::{FeatureType, Weights};
use crate::error::{Error, Result, number};
use crate::select::bins::{Binning, Discretizer, contingency, n_present, width_cuts_between};
use crate::select::chi_squared::{self, ChiSquared, Statistic, of_sums, table_statistic};
use crate::select::columns::{distinct, few_values};
use crate::select::information::{self, InformationGain};
use crate::select::selector::{FeatureCount, Selection};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Rows of the sample, at most, and cells of it.
const SAMPLE_ROWS: usize = 8192;
const SAMPLE_CELLS: usize = 1 << 22;
/// Fine bins of a feature, at most, if the sample is not the complete table.
const FINE_BINS: usize = 1024;

/// The method.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum BinnedMethod {
    InformationGain(InformationGain),
    ChiSquared(ChiSquared),
}

impl BinnedMethod {
    fn name(&self) -> &'static str {
        match self {
            Self::InformationGain(_) => information::NAME,
            Self::ChiSquared(_) => chi_squared::NAME,
        }
    }

    fn bins(&self) -> (Discretizer, usize) {
        match self {
            Self::InformationGain(method) => (method.discretizer, method.n_bins),
            Self::ChiSquared(method) => (method.discretizer, method.n_bins),
        }
    }
}

/// A round of information gain or chi-squared.
#[derive(Serialize, Deserialize)]
pub struct BinnedRounds {
    method: BinnedMethod,
    n: usize,
    n_classes: usize,
    wanted: Option<usize>,
    sample: RowSample,
    names: Vec<String>,
    /// Of each feature the lower edges of its fine bins, without that of the first; `None` in the first round.
    edges: Option<Vec<Vec<f64>>>,
    /// The smallest value of each feature.
    lowest: Vec<f64>,
}

/// The sums of a round.
#[derive(Serialize, Deserialize)]
pub struct BinnedSums {
    sample: Option<SampledRows>,
    /// Of each feature the smallest values, and its largest.
    values: Vec<SmallestValues>,
    /// Sums of the features by class.
    by_class: Array2<f64>,
    /// Row and feature of the first negative value.
    negative: Option<(usize, usize, f64)>,
    /// Of each feature the rows by fine bin and class, a bin after the other.
    counts: Vec<Vec<f64>>,
    classes: Vec<f64>,
}

impl BinnedRounds {
    pub(super) fn new(
        method: BinnedMethod,
        layout: &Layout,
        count: FeatureCount,
        ctx: &Context,
    ) -> Result<Self> {
        let n_classes = layout.n_classes(method.name())?;
        let wanted = count.resolve(method.name(), layout.d())?;
        let rows = (SAMPLE_CELLS / layout.d()).clamp(1, SAMPLE_ROWS);
        let sample = RowSample::draw(layout.n, rows, ctx.seed, "rows whose values are edges of bins");
        let names = layout.names.clone();
        Ok(Self { method, n: layout.n, n_classes, wanted, sample, names, edges: None, lowest: vec![] })
    }

    /// The selection by counts, if the values are counts and the method takes them as such.
    fn by_counts(&self, total: &BinnedSums, ctx: &Context) -> Result<Option<Selection>> {
        let BinnedMethod::ChiSquared(method) = &self.method else { return Ok(None) };
        match (method.statistic, total.negative) {
            (Statistic::Bins, _) => Ok(None),
            (_, None) => {
                let frequencies: Vec<f64> = total.classes.iter().map(|c| c / self.n as f64).collect();
                let degrees = total.classes.iter().filter(|c| **c > 0.0).count().max(1) - 1;
                let found = of_sums(&total.by_class, &frequencies).into_iter().map(|score| (score, degrees));
                chi_squared::select_by(found.collect(), self.wanted, ctx).map(Some)
            }
            (statistic, Some((row, j, value))) => {
                let why = format!("row {}, column '{}' is {}", row + 1, self.names[j], number(value));
                if statistic == Statistic::Counts {
                    let expected = "'bins' if a value is negative";
                    let got = format!("'counts', but {why}");
                    return Err(Error::param(chi_squared::NAME, "statistic", expected, got));
                }
                ctx.note(format!("chi-squared: {why}, so the values are not counts; they are discretized"));
                Ok(None)
            }
        }
    }

    /// The lower edges of the fine bins of a feature.
    fn edges_of(&self, sample: &SampledRows, found: &SmallestValues, j: usize) -> Vec<f64> {
        let (how, n_bins) = self.method.bins();
        let values = found.values();
        let has_few_values = found.is_complete() && few_values(values, self.n as f64).is_some();
        if how == Discretizer::Width && !has_few_values {
            return width_cuts_between(values[0], found.largest(), n_bins);
        }
        let mut edges = if found.is_complete() {
            values.to_vec()
        } else {
            let mut sorted = sample.x.column(j).to_vec();
            if !self.sample.is_complete() {
                sorted.sort_unstable_by(f64::total_cmp);
                let step = sorted.len().div_ceil(FINE_BINS);
                sorted = sorted.into_iter().step_by(step).chain(values.iter().copied()).collect();
            }
            distinct(&sorted)
        };
        // The first fine bin is below the second smallest value.
        if !edges.is_empty() {
            edges.remove(0);
        }
        edges
    }

    /// The contingency table of bins and classes of a feature, and whether the bins depend on the classes.
    fn table(&self, counts: &[f64], edges: &[f64], low: f64) -> (Vec<Vec<f64>>, bool) {
        let (how, n_bins) = self.method.bins();
        let mut fine: Vec<(f64, &[f64])> =
            std::iter::once(&low).chain(edges).copied().zip(counts.chunks_exact(self.n_classes)).collect();
        fine.retain(|(_, counts)| counts.iter().any(|count| *count > 0.0));
        let values: Vec<f64> = fine.iter().map(|(value, _)| *value).collect();
        if how == Discretizer::Width && few_values(&values, self.n as f64).is_none() {
            return (fine.into_iter().map(|(_, counts)| counts.to_vec()).collect(), false);
        }
        // A row for each fine bin and class, with the number of rows as weight.
        let rows: Vec<(f64, usize, f64)> = fine
            .iter()
            .flat_map(|(value, counts)| {
                counts.iter().enumerate().map(|(class, count)| (*value, class, *count))
            })
            .filter(|(_, _, count)| *count > 0.0)
            .collect();
        let column: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let classes: Vec<usize> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let weights = Weights::new(Some(&weights));
        let binning = Binning { classes: &classes, weights, n_classes: self.n_classes, how, n_bins };
        let bins = binning.feature(&column, FeatureType::Number);
        (contingency(&bins, &binning), bins.by_classes)
    }

    /// The selection by the counts of the last round.
    fn by_bins(&self, counts: &[Vec<f64>], edges: &[Vec<f64>], ctx: &Context) -> Result<Selection> {
        let d = edges.len();
        let tables = (0..d).map(|j| self.table(&counts[j], &edges[j], self.lowest[j]));
        match &self.method {
            BinnedMethod::InformationGain(method) => {
                let found =
                    tables.map(|(table, by_classes)| method.of_table(&table, by_classes, d)).collect();
                Ok(information::select_by(found, self.wanted, ctx))
            }
            BinnedMethod::ChiSquared(_) => {
                let degrees = |table: &[Vec<f64>]| (table.len().max(1) - 1) * (n_present(table) - 1);
                let found = tables.map(|(table, _)| (table_statistic(&table), degrees(&table))).collect();
                chi_squared::select_by(found, self.wanted, ctx)
            }
        }
    }

    fn first_round(&self, block: &Block) -> BinnedSums {
        let d = block.x.ncols();
        let mut by_class = Array2::<f64>::zeros((self.n_classes, d));
        let mut classes = vec![0.0; self.n_classes];
        for (row, &class) in block.x.rows().into_iter().zip(block.codes()) {
            by_class.row_mut(class).zip_mut_with(&row, |sum, v| *sum += v);
            classes[class] += 1.0;
        }
        let negative = block.x.indexed_iter().find(|(_, v)| **v < 0.0);
        let negative = negative.map(|((i, j), v)| (block.first + i, j, *v));
        let values = (0..d).map(|j| SmallestValues::of(block.x.column(j))).collect();
        let sample = Some(self.sample.of_block(block));
        BinnedSums { sample, values, by_class, negative, counts: vec![], classes }
    }

    fn counts(&self, block: &Block, edges: &[Vec<f64>]) -> BinnedSums {
        let count = |(j, edges): (usize, &Vec<f64>)| {
            let mut counts = vec![0.0; (edges.len() + 1) * self.n_classes];
            for (v, &class) in block.x.column(j).iter().zip(block.codes()) {
                let bin = edges.partition_point(|edge| edge <= v);
                counts[bin * self.n_classes + class] += 1.0;
            }
            counts
        };
        let counts = edges.iter().enumerate().map(count).collect();
        let by_class = Array2::zeros((0, 0));
        BinnedSums { sample: None, values: vec![], by_class, negative: None, counts, classes: vec![] }
    }
}

impl Rounds for BinnedRounds {
    type Sums = BinnedSums;
    type Fit = Selection;

    fn stage(&self) -> &'static str {
        if self.edges.is_none() { "edges of bins" } else { "counts by bin and class" }
    }

    fn rounds_left(&self) -> Option<usize> {
        Some(if self.edges.is_none() { 2 } else { 1 })
    }

    fn bytes(&self, layout: &Layout) -> (f64, f64) {
        let cells = match &self.edges {
            None => layout.d() * (self.sample.len() + SmallestValues::CELLS + self.n_classes),
            Some(edges) => edges.iter().map(|edges| edges.len() + 1).sum::<usize>() * self.n_classes,
        };
        (8.0 * cells as f64, 0.0)
    }

    fn of_block(&self, block: &Block) -> Result<BinnedSums> {
        Ok(match &self.edges {
            None => self.first_round(block),
            Some(edges) => self.counts(block, edges),
        })
    }

    fn add(&self, total: &mut BinnedSums, later: BinnedSums) {
        if let (Some(sample), Some(later)) = (&mut total.sample, later.sample) {
            sample.add(later);
        }
        total.values.iter_mut().zip(&later.values).for_each(|(values, later)| values.add(later));
        total.by_class += &later.by_class;
        total.negative = total.negative.or(later.negative);
        for (counts, later) in total.counts.iter_mut().zip(&later.counts) {
            counts.iter_mut().zip(later).for_each(|(a, b)| *a += b);
        }
        total.classes.iter_mut().zip(&later.classes).for_each(|(a, b)| *a += b);
    }

    fn update(mut self, total: BinnedSums, ctx: &Context) -> Result<Next<Self>> {
        if let Some(edges) = &self.edges {
            return Ok(Next::Fit(self.by_bins(&total.counts, edges, ctx)?));
        }
        if let Some(selection) = self.by_counts(&total, ctx)? {
            return Ok(Next::Fit(selection));
        }
        let Some(sample) = &total.sample else { return Err(Error::NoFeatures) };
        let features = total.values.iter().enumerate();
        let edges = features.map(|(j, values)| self.edges_of(sample, values, j));
        self.edges = Some(edges.collect());
        self.lowest = total.values.iter().map(|values| values.values()[0]).collect();
        if !self.sample.is_complete() && self.method.bins().0 != Discretizer::Width {
            let rows = self.sample.len();
            ctx.note(format!("{}: bins end at values of {rows} sampled rows", self.method.name()));
        }
        Ok(Next::Round(self))
    }
}
