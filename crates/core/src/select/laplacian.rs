//! Laplacian score: favors features that vary little between neighboring samples.

use super::columns::keep_leading;
use super::fisher::class_scores;
use super::selector::{FeatureCount, Selection, Selector};
use crate::context::Context;
use crate::data::{Dataset, Groups, Weights, is_constant};
use crate::error::{Error, Result, number};
use crate::method::{Info, Needs};
use crate::neighbors::{nearest, nearest_bytes};
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use std::ops::Range;

const NAME: &str = "Laplacian score";
/// The neighbor graph of larger data is that of a sample.
const MAX_ROWS: usize = 50_000;
/// Pairs per task.
const BLOCK: usize = 2048;

crate::parameters! {
    /// Laplacian score.
    ///
    /// With $S$ the weights of a graph of the samples, $D$ its degrees and $f$ a feature, centered so that $f^\top D 1 =
    /// 0$,
    ///
    /// $$ L = \frac{f^\top (D - S) f}{f^\top D f}
    ///      = \frac{\frac12 \sum_{ij} S_{ij} (f_i - f_j)^2}{\sum_i D_{ii} f_i^2}, \qquad \text{score} = 1 - L / 2. $$
    ///
    /// $L$ ranges from 0 (constant over each connected component of the graph) to 2; in the paper small is good, so the
    /// score reverses it to 1 to 0. A constant feature scores 0.
    ///
    /// - `knn`: samples are connected if one is among the $k$ nearest neighbors of the other, with the weight
    ///   $\exp(-\lVert x_i - x_j \rVert^2 / t)$ or 1. This needs no target. Default $t$: the mean squared distance of
    ///   connected samples.
    /// - `classes`: samples of the same class are connected with the weight $1 / n_c$. Then $L = 1 / (1 + F)$ with $F$
    ///   the Fisher score, which is how it is computed.
    ///
    /// A feature with several columns (a category, or a number with an indicator of missing values) has the sums of the
    /// numerators and denominators of its columns; with `classes`, columns are standardized first.
    ///
    /// A feature unrelated to the graph has $L$ near 1. By default (`auto`) the method selects the features with $L <
    /// 1$.
    ///
    /// Features should be on a common scale, because neighbors are found by the distance over all features.
    ///
    /// Cost: $O(n^2 d)$ time for the neighbors, $O(n d)$ memory; the graph is sparse.
    ///
    /// Reference: He, Cai and Niyogi, *Laplacian score for feature selection*, NIPS 2005.
    #[derive(PartialEq)]
    pub struct LaplacianScore as "Laplacian score" {
        /// Which samples the graph connects.
        pub graph: Graph = Graph::Knn;
        /// Number of neighbors of each sample.
        pub n_neighbors: usize = 5, at_least(1);
        /// Weights of the edges between neighbors.
        pub weights: EdgeWeights = EdgeWeights::Heat;
        /// Parameter t of the heat kernel exp(-distance² / t); none is the mean squared distance between connected
        /// samples.
        pub t: Option<f64> = None, above(0);
        /// Whether to find the neighbors of all rows. Otherwise a random sample of 50,000 rows represents larger data.
        pub exact: bool = false;
    }
}

crate::choices! {
    /// Which samples the graph connects.
    pub enum Graph {
        /// Nearest neighbors.
        Knn = "knn",
        /// Samples of the same class.
        Classes = "classes",
    }
}

crate::choices! {
    /// Weights of the edges between neighbors.
    pub enum EdgeWeights {
        /// Heat kernel: the nearer, the larger.
        Heat = "heat",
        /// All 1.
        Binary = "binary",
    }
}

impl LaplacianScore {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "laplacian",
        title: "Laplacian score",
        summary: "Features that vary little between neighboring samples",
        needs: Needs::Nothing,
        cost: "O(n² d) time, O(n d) memory; beyond 50,000 rows a sample",
        reference: "He, Cai and Niyogi, 2005",
    };
}

impl Selector for LaplacianScore {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn needs(&self) -> Needs {
        if self.graph == Graph::Knn { Needs::Nothing } else { Needs::Classes }
    }

    fn wants_scaling(&self) -> bool {
        self.graph == Graph::Knn
    }

    fn max_rows(&self) -> Option<usize> {
        (!self.exact && self.graph == Graph::Knn).then_some(MAX_ROWS)
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        self.check()?;
        let scores = match self.graph {
            Graph::Classes => {
                let fisher = class_scores(data.x(), data.classes(NAME)?, Weights::ONE);
                let (mean, std) = data.x().moments();
                // The standard deviation of a constant column is rounding error, and the ratio would be 0 / 0.
                let varies = |j: &usize| !is_constant(mean[*j], std[*j]);
                // Standardized columns have equal denominators, so the quotient of sums is the mean quotient.
                let score = |columns: Range<usize>| {
                    let scores: Vec<f64> =
                        columns.filter(varies).map(|j| 1.0 - 0.5 / (1.0 + fisher[j])).collect();
                    if scores.is_empty() { 0.0 } else { scores.iter().sum::<f64>() / scores.len() as f64 }
                };
                data.groups().iter().map(score).collect()
            }
            Graph::Knn => self.by_neighbors(data, ctx)?,
        };
        let passes: Vec<bool> = scores.iter().map(|&score| score > 0.5).collect();
        Ok(keep_leading(Selection::by_score("laplacian", scores, 1), wanted, &passes, || {
            ctx.warn("Laplacian score: no feature varies less between neighbors than overall; none is selected; try another n_neighbors, or graph = classes");
        }))
    }
}

impl LaplacianScore {
    fn by_neighbors(&self, data: &Dataset, ctx: &Context) -> Result<Vec<f64>> {
        let (n, d) = (data.n(), data.x().d());
        data.need_rows(NAME, 2)?;
        if !(1..n).contains(&self.n_neighbors) {
            let expected = format!("from 1 to one fewer than the rows, {}", n - 1);
            return Err(Error::param(NAME, "n_neighbors", expected, self.n_neighbors));
        }
        // The samples, the neighbor search, the graph under construction, and partial sums per column.
        let edges = n as f64 * self.n_neighbors as f64;
        let bytes = 8.0 * n as f64 * d as f64 + nearest_bytes(n, n, self.n_neighbors) + 48.0 * edges;
        let bytes = bytes + 8.0 * d as f64 * edges / BLOCK as f64;
        ctx.need_memory(format!("neighbors among {n} x {d} cells"), bytes, "use fewer rows or columns")?;
        let x = data.x().to_dense();
        let edges = self.edges(&x, ctx)?;
        let mut degree = vec![0.0; n];
        edges.iter().for_each(|&(i, j, w)| {
            degree[i] += w;
            degree[j] += w;
        });
        let parts: Vec<Vec<f64>> = edges
            .par_chunks(BLOCK)
            .map(|edges| {
                let mut sum = vec![0.0; d];
                edges.iter().for_each(|&(i, j, w)| add_squares(&mut sum, x.row(i), x.row(j), w));
                sum
            })
            .collect();
        let mut edge_sums = vec![0.0; d];
        parts.into_iter().for_each(|part| edge_sums.iter_mut().zip(part).for_each(|(a, b)| *a += b));
        ctx.check()?;
        Ok(scores(&x, &data.groups(), &degree, &edge_sums))
    }

    /// Connected samples, each pair once, and their weights.
    fn edges(&self, x: &Array2<f64>, ctx: &Context) -> Result<Vec<(usize, usize, f64)>> {
        let itself: Vec<Option<usize>> = (0..x.nrows()).map(Some).collect();
        let near = nearest(x.view(), x.view(), self.n_neighbors, Some(&itself), ctx)?;
        let mut pairs: Vec<(usize, usize, f64)> = vec![];
        for (i, near) in near.iter().enumerate() {
            pairs.extend(near.iter().map(|n| (i.min(n.row), i.max(n.row), n.squared)));
        }
        // A pair found from both ends has the same distance twice.
        pairs.sort_unstable_by_key(|&(i, j, _)| (i, j));
        pairs.dedup_by_key(|pair| (pair.0, pair.1));
        if self.weights == EdgeWeights::Binary {
            pairs.iter_mut().for_each(|pair| pair.2 = 1.0);
            return Ok(pairs);
        }
        let mean = pairs.iter().map(|pair| pair.2 / pairs.len() as f64).sum::<f64>();
        // If all connected samples are equal, all weights are 1.
        let t = self.t.unwrap_or(if mean > 0.0 { mean } else { 1.0 });
        pairs.iter_mut().for_each(|pair| pair.2 = (-pair.2 / t).exp());
        if pairs.iter().all(|pair| pair.2 == 0.0) {
            let why = format!("all edge weights vanish at t = {}; use a larger t, or none", number(t));
            return Err(Error::Breakdown { step: NAME, why });
        }
        Ok(pairs)
    }
}

fn add_squares(sum: &mut [f64], a: ArrayView1<f64>, b: ArrayView1<f64>, weight: f64) {
    for (sum, (a, b)) in sum.iter_mut().zip(a.iter().zip(b)) {
        *sum += weight * (a - b) * (a - b);
    }
}

/// 1 - L / 2 of every feature.
fn scores(x: &Array2<f64>, groups: &Groups, degree: &[f64], edge_sums: &[f64]) -> Vec<f64> {
    let d = x.ncols();
    let total: f64 = degree.iter().sum();
    let mut mean = vec![0.0; d];
    for (row, weight) in x.rows().into_iter().zip(degree) {
        mean.iter_mut().zip(row).for_each(|(mean, v)| *mean += weight / total * v);
    }
    let mut scatter = vec![0.0; d];
    for (row, weight) in x.rows().into_iter().zip(degree) {
        for j in 0..d {
            scatter[j] += weight * (row[j] - mean[j]) * (row[j] - mean[j]);
        }
    }
    let varies = |j: &usize| scatter[*j] > total * (1e-14 * mean[*j]).powi(2);
    let score = |columns: Range<usize>| {
        let sum = |of: &[f64]| columns.clone().filter(varies).map(|j| of[j]).sum::<f64>();
        let (edges, scatter) = (sum(edge_sums), sum(&scatter));
        if scatter == 0.0 { 0.0 } else { (1.0 - edges / scatter / 2.0).clamp(0.0, 1.0) }
    };
    groups.iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use crate::select::FisherScore;
    use ndarray::array;

    fn select(method: &LaplacianScore, data: &Dataset) -> Selection {
        method.select(data, FeatureCount::Auto, &Context::default()).unwrap()
    }

    #[test]
    fn by_hand() {
        // Two distant pairs, one neighbor each: the graph is 0-1, 2-3, all weights 1, all degrees 1. Feature 1:
        // differences 1 + 1; mean 5.5, variance sum 2 (5.5^2 + 4.5^2) = 101. Feature 2: 4 + 4 over 4. Feature 3 is
        // constant.
        let x = array![[0.0, 1.0, 7.0], [1.0, -1.0, 7.0], [10.0, 1.0, 7.0], [11.0, -1.0, 7.0]];
        let data = Dataset::unlabeled(x).unwrap();
        let method =
            LaplacianScore { n_neighbors: 1, weights: EdgeWeights::Binary, ..LaplacianScore::default() };
        let selection = select(&method, &data);
        assert!((selection.scores[0] - (1.0 - 2.0 / 101.0 / 2.0)).abs() < 1e-15);
        assert_eq!(selection.scores[1..], [0.0, 0.0]);
        assert_eq!(selection.selected(), [0]);
        // Squared distances 5 and 5: t is 5, all weights are e^-1, which cancels.
        let heat = LaplacianScore { n_neighbors: 1, ..LaplacianScore::default() };
        assert!((select(&heat, &data).scores[0] - selection.scores[0]).abs() < 1e-14);
    }

    #[test]
    fn scores_equal_the_matrix_formula() {
        let mut rng = Rng::new(2);
        let x = Array2::from_shape_simple_fn((40, 4), || rng.normal());
        let data = Dataset::unlabeled(x.clone()).unwrap();
        let (k, t) = (3, 2.5);
        let method = LaplacianScore { n_neighbors: k, t: Some(t), ..LaplacianScore::default() };
        let squared = |i: usize, j: usize| (&x.row(i) - &x.row(j)).mapv(|e| e * e).sum();
        let mut s = Array2::<f64>::zeros((40, 40));
        for i in 0..40 {
            let mut others: Vec<usize> = (0..40).filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| squared(i, a).total_cmp(&squared(i, b)));
            for &j in &others[..k] {
                s[[i, j]] = (-squared(i, j) / t).exp();
                s[[j, i]] = s[[i, j]];
            }
        }
        let degree = s.sum_axis(ndarray::Axis(1));
        let found = select(&method, &data);
        for j in 0..4 {
            let f = x.column(j).to_owned();
            let f = &f - f.dot(&degree) / degree.sum();
            let below = (&f * &f).dot(&degree);
            let l = (below - f.dot(&s.dot(&f))) / below;
            assert!((found.scores[j] - (1.0 - l / 2.0)).abs() < 1e-12, "{j}");
        }
    }

    #[test]
    fn the_class_graph_ranks_like_the_fisher_score() {
        let mut rng = Rng::new(6);
        let codes: Vec<usize> = (0..60).map(|i| i % 3).collect();
        let x = Array2::from_shape_fn((60, 5), |(i, j)| rng.normal() + (j * codes[i]) as f64);
        let data = Dataset::labeled(x.clone(), codes.clone()).unwrap();
        let method = LaplacianScore { graph: Graph::Classes, ..LaplacianScore::default() };
        let found = select(&method, &data);
        let fisher =
            FisherScore::default().select(&data, FeatureCount::Count(1), &Context::default()).unwrap();
        assert_eq!(found.order, fisher.order);
        // From the matrices: S is 1/20 within classes, D is 1.
        let f = x.column(2).to_owned();
        let f = &f - f.sum() / 60.0;
        let within: f64 = (0..60)
            .flat_map(|a| (0..60).map(move |b| (a, b)))
            .filter(|&(a, b)| codes[a] == codes[b])
            .map(|(a, b)| f[a] * f[b] / 20.0)
            .sum();
        let l = (f.dot(&f) - within) / f.dot(&f);
        assert!((found.scores[2] - (1.0 - l / 2.0)).abs() < 1e-13);
    }

    #[test]
    fn a_feature_that_varies_only_within_classes_scores_one_half() {
        // Both classes have the mean 0 in the first feature: F = 0, so L = 1. The second is constant.
        let data =
            Dataset::labeled(array![[-1.0, 7.0], [1.0, 7.0], [-1.0, 7.0], [1.0, 7.0]], vec![0, 0, 1, 1]);
        let method = LaplacianScore { graph: Graph::Classes, ..LaplacianScore::default() };
        let selection = select(&method, &data.unwrap());
        assert_eq!((selection.scores, selection.n_selected), (vec![0.5, 0.0], 0));
    }

    #[test]
    fn features_with_clusters_rank_above_noise() {
        let mut rng = Rng::new(1);
        let x = Array2::from_shape_fn((200, 6), |(i, j)| {
            rng.normal() + if j < 3 { 6.0 * (i % 2) as f64 } else { 0.0 }
        });
        let found = select(&LaplacianScore::default(), &Dataset::unlabeled(x).unwrap());
        let mut best = found.order[..3].to_vec();
        best.sort_unstable();
        assert_eq!(best, [0, 1, 2]);
    }

    #[test]
    fn parameters_are_checked() {
        let data = Dataset::unlabeled(array![[1.0], [2.0], [4.0]]).unwrap();
        let error = |method: LaplacianScore| {
            method.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string()
        };
        assert!(
            error(LaplacianScore::default())
                .contains("'n_neighbors' must be from 1 to one fewer than the rows, 2")
        );
        let two = LaplacianScore { n_neighbors: 2, ..LaplacianScore::default() };
        assert!(error(LaplacianScore { t: Some(0.0), ..two.clone() }).contains("'t'"));
        assert!(error(LaplacianScore { t: Some(1e-9), ..two.clone() }).contains("all edge weights vanish"));
        assert!(
            error(LaplacianScore { graph: Graph::Classes, ..two }).contains("needs a classification target")
        );
    }
}
