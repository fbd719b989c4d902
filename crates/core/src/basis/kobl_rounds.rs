//! KOBL in rounds, with random pivots in blocks.
//!
//! Every round draws candidates by residual: row $i$ with residual $\delta_i$ has the key $-\ln u_i / \delta_i$ with $u_i$ uniform on
//! (0, 1), and the rows with the smallest keys are a sample without replacement with probabilities proportional to the residuals,
//! whatever parts the rows are in. The candidates become pivots in the order of their keys, each with the probability that its
//! residual has not decreased since (rejection, as in accelerated randomly pivoted Cholesky; Epperly, Tropp and Webber, 2024).
//! Residuals are computed again in every round from the pivots, so that nothing stays with a block.

use super::feature_map::{FeatureMap, Parts, Summary};
use super::kobl::{FirstPivot, Kobl, Limit, Pivoting, Threshold, ZERO};
use crate::blocks::{Block, Layout, Moments, Next, Rounds, RowSample, SampledRows};
use crate::context::Context;
use crate::data::{Encoder, Rows, Standardizer, is_constant};
use crate::error::{Error, Result, number};
use crate::kernel::{Gamma, Kernel, KernelChoice, MEDIAN_ROWS, diagonal, gram, scale_gamma_of_moments};
use crate::linalg::{invert_lower, lower_solve};
use crate::outcome::{Outcome, Stop};
use crate::random::Rng;
use ndarray::{Array1, Array2, Axis, concatenate, s};
use serde::{Deserialize, Serialize};

const NAME: &str = "KOBL";
/// Candidates of a round.
const CANDIDATES: usize = 128;

/// A round of KOBL.
#[derive(Serialize, Deserialize)]
pub struct KoblRounds {
    kobl: Kobl,
    n: usize,
    d: usize,
    seed: u64,
    standardize: bool,
    /// The rows from which gamma is estimated.
    sample: RowSample,
    /// The pivots; none in the first round.
    basis: Option<PivotRows>,
}

/// The pivots so far.
#[derive(Serialize, Deserialize)]
struct PivotRows {
    kernel: Kernel,
    scaler: Option<Standardizer>,
    rows: Vec<usize>,
    anchors: Array2<f64>,
    /// The factor of the pivots.
    lower: Array2<f64>,
    /// The number of pivots whose residuals are known.
    n_known: usize,
    norms: Vec<f64>,
    /// The largest residual norm and the trace before the first pivot.
    start: Option<(f64, f64)>,
}

/// Residuals of all rows after a pivot.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Residuals {
    largest: f64,
    sum: f64,
    sum_of_norms: f64,
}

/// A row that may become a pivot.
#[derive(Clone, Serialize, Deserialize)]
struct Candidate {
    key: f64,
    row: usize,
    residual: f64,
    x: Vec<f64>,
}

/// The sums of a round.
#[derive(Serialize, Deserialize)]
pub struct KoblSums {
    /// In the first round.
    moments: Option<(Moments, SampledRows)>,
    /// After each pivot whose residuals were not known.
    residuals: Vec<Residuals>,
    candidates: Vec<Candidate>,
    /// The first row whose kernel value with itself is invalid, and that value.
    invalid: Option<(usize, f64)>,
}

/// The result of KOBL in rounds.
#[derive(Debug, Clone)]
pub struct KoblFit {
    /// The map.
    pub map: FeatureMap,
    /// How features are encoded before they are mapped.
    pub encoder: Encoder,
}

impl Kobl {
    /// The first round of a fit to a table with this layout. Pivots must be random.
    pub fn rounds(&self, layout: &Layout, standardize: bool, ctx: &Context) -> Result<KoblRounds> {
        self.validate(layout.n)?;
        let name = |json: serde_json::Value| json.as_str().unwrap_or_default().to_owned();
        if self.pivoting != Pivoting::Random {
            let got = name(serde_json::json!(self.pivoting));
            return Err(Error::param(NAME, "pivoting", "random for a table that is read in passes", got));
        }
        if self.first_pivot != FirstPivot::First {
            let got = name(serde_json::json!(self.first_pivot));
            return Err(Error::param(NAME, "first_pivot", "first for a table that is read in passes", got));
        }
        if matches!(self.threshold, Threshold::Function(_)) {
            let expected = "a number, linear or none for a table that is read in passes";
            return Err(Error::param(NAME, "threshold", expected, "a function"));
        }
        let sample = RowSample::draw(layout.n, MEDIAN_ROWS, ctx.seed, "median");
        let (n, d, seed) = (layout.n, layout.d(), ctx.seed);
        Ok(KoblRounds { kobl: self.clone(), n, d, seed, standardize, sample, basis: None })
    }
}

impl KoblRounds {
    /// The kernel and the standardization, by the first round.
    fn start(&self, moments: &Moments, sample: SampledRows, ctx: &Context) -> Result<PivotRows> {
        let (mean, std) = moments.standard()?;
        let (mean, std) = (Array1::from(mean), Array1::from(std));
        let constant: Vec<usize> = (0..self.d).filter(|&j| is_constant(mean[j], std[j])).collect();
        let mut scale = std.clone();
        constant.iter().for_each(|&j| scale[j] = 1.0);
        let scaler = self.standardize.then_some(Standardizer { shift: mean.clone(), scale, constant });
        let mut choice = self.kobl.kernel.clone();
        if let KernelChoice::Named { gamma, .. } = &mut choice
            && *gamma == Gamma::Scale
        {
            let scaled = match &scaler {
                Some(scaler) => (Array1::zeros(self.d), &std / &scaler.scale),
                None => (mean, std),
            };
            *gamma = Gamma::Value(scale_gamma_of_moments(&scaled.0, &scaled.1)?);
        }
        let sample = scaled(&scaler, sample.x)?;
        let kernel = choice.resolve(&sample, ctx)?;
        Ok(PivotRows {
            kernel,
            scaler,
            rows: vec![],
            anchors: Array2::zeros((0, self.d)),
            lower: Array2::zeros((0, 0)),
            n_known: 0,
            norms: vec![],
            start: None,
        })
    }

    /// Residuals of a block after each new pivot, and its candidates.
    fn residuals(&self, basis: &PivotRows, block: &Block) -> Result<KoblSums> {
        let x = scaled(&basis.scaler, block.x.clone())?;
        let own = diagonal(&basis.kernel, &x)?;
        let invalid = own.iter().position(|v| !(v.is_finite() && *v >= 0.0));
        let invalid = invalid.map(|i| (block.first + i, own[i]));
        let (m, factor) = (basis.rows.len(), basis.factor(&x)?);
        let (mut residual, mut out) = (own, vec![]);
        for k in 0..m {
            residual.iter_mut().zip(factor.row(k)).for_each(|(r, v)| *r = (*r - v * v).max(0.0));
            if let Some(i) = basis.rows[k].checked_sub(block.first).filter(|&i| i < residual.len()) {
                residual[i] = 0.0;
            }
            if k >= basis.n_known {
                out.push(Residuals::of(&residual));
            }
        }
        if m == 0 {
            out.push(Residuals::of(&residual));
        }
        let zero = basis.start.map_or(0.0, |(largest, _)| (ZERO * largest).powi(2));
        let mut keys: Vec<(f64, usize)> = (0..residual.len())
            .filter(|&i| residual[i] > zero)
            .map(|i| (-Rng::of_item(self.seed, m as u64, (block.first + i) as u64).ln() / residual[i], i))
            .collect();
        keys.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let candidate = |&(key, i): &(f64, usize)| Candidate {
            key,
            row: block.first + i,
            residual: residual[i],
            x: block.x.row(i).to_vec(),
        };
        let candidates = keys.iter().take(CANDIDATES).map(candidate).collect();
        Ok(KoblSums { moments: None, residuals: out, candidates, invalid })
    }

    /// The maximum number of components.
    fn limit(&self) -> Limit {
        Limit::new("KOBL", self.kobl.n_components, self.kobl.exact, self.n)
    }

    /// Why to stop after `rank` pivots with these residuals.
    fn stop(&self, rank: usize, now: &Residuals, start: (f64, f64)) -> Option<Stop> {
        if rank >= self.limit().components {
            return Some(if rank == self.n { Stop::Exhausted } else { Stop::Requested });
        }
        let relative = now.largest.sqrt() / start.0;
        if relative <= ZERO {
            return Some(Stop::Exhausted);
        }
        if relative < self.kobl.threshold.at(rank as f64 / self.n as f64) {
            return Some(Stop::Threshold);
        }
        (self.kobl.tol > 0.0 && now.sum <= self.kobl.tol * start.1).then_some(Stop::Tolerance)
    }

    /// The map of the first `rank` pivots.
    fn finish(&self, basis: PivotRows, rank: usize, now: &Residuals, stop: Stop) -> Result<KoblFit> {
        let (n, d) = (self.n as f64, rank as f64);
        let (largest, trace) = basis.start.unwrap_or((0.0, 0.0));
        let rows = basis.rows[..rank].to_vec();
        let bound = match stop {
            Stop::Threshold => largest * self.kobl.threshold.at(d / n),
            _ => now.largest.sqrt(),
        };
        let summary = Summary {
            residual_norms: basis.norms[..rank].to_vec(),
            start_norm: largest,
            reconstruction_cost: now.sum_of_norms / n,
            explained: (1.0 - now.sum / trace).clamp(0.0, 1.0),
            bound: Some((n - d) / n * bound),
            ..Summary::start("kobl", self.n, rows, Outcome { stop, iterations: rank })
        };
        let coef = invert_lower(basis.lower.slice(s![..rank, ..rank])).reversed_axes();
        let anchors = basis.anchors.slice(s![..rank, ..]).to_owned().into();
        let parts =
            Parts { kernel: basis.kernel, anchors, coef, orthonormal: true, centered: false, summary };
        let encoder = Encoder::of_scaler(basis.scaler, self.d);
        Ok(KoblFit { map: FeatureMap::new(parts, None)?, encoder })
    }
}

impl PivotRows {
    /// The factor of rows, a column each.
    fn factor(&self, x: &Rows) -> Result<Array2<f64>> {
        if self.rows.is_empty() {
            return Ok(Array2::zeros((0, x.n())));
        }
        let mut k = gram(&self.kernel, x, &self.anchors.clone().into())?.reversed_axes();
        lower_solve(self.lower.view(), &mut k.view_mut());
        Ok(k)
    }

    /// Makes pivots of candidates, in the order of their keys, until there are `most`.
    fn add(&mut self, candidates: &[Candidate], most: usize, seed: u64) -> Result<()> {
        let (old, b) = (self.rows.len(), candidates.len());
        let d = self.anchors.ncols();
        let raw: Vec<f64> = candidates.iter().flat_map(|c| c.x.iter().copied()).collect();
        let x = scaled(&self.scaler, Array2::from_shape_vec((b, d), raw).expect("complete rows"))?;
        let factor = self.factor(&x)?;
        // The residual matrix of the candidates, from which each new pivot is eliminated.
        let mut residual = gram(&self.kernel, &x, &x)? - factor.t().dot(&factor);
        let mut columns: Vec<(usize, Vec<f64>)> = vec![];
        let zero = self.start.map_or(0.0, |(largest, _)| (ZERO * largest).powi(2));
        for (i, candidate) in candidates.iter().enumerate() {
            if old + columns.len() == most {
                break;
            }
            let now = residual[[i, i]];
            let share = Rng::of_item(seed ^ 1, old as u64, candidate.row as u64);
            // The first is always taken: nothing has changed since it was drawn.
            if now <= zero || !columns.is_empty() && share * candidate.residual > now {
                continue;
            }
            let norm = now.sqrt();
            let column: Vec<f64> = residual.column(i).iter().map(|v| v / norm).collect();
            for (mut row, &factor) in residual.rows_mut().into_iter().zip(&column) {
                row.iter_mut().zip(&column).for_each(|(v, c)| *v -= factor * c);
            }
            self.norms.push(norm);
            columns.push((i, column));
        }
        let taken: Vec<usize> = columns.iter().map(|(i, _)| *i).collect();
        let m = old + taken.len();
        let mut lower = Array2::zeros((m, m));
        lower.slice_mut(s![..old, ..old]).assign(&self.lower);
        for (at, &i) in taken.iter().enumerate() {
            lower.slice_mut(s![old + at, ..old]).assign(&factor.column(i));
            for (t, (_, column)) in columns.iter().enumerate().take(at + 1) {
                lower[[old + at, old + t]] = column[i];
            }
        }
        let anchors = x.into_dense().select(Axis(0), &taken);
        self.anchors = concatenate![Axis(0), self.anchors, anchors];
        self.rows.extend(taken.iter().map(|&i| candidates[i].row));
        (self.lower, self.n_known) = (lower, old);
        Ok(())
    }
}

impl Residuals {
    fn of(residual: &[f64]) -> Self {
        Self {
            largest: residual.iter().copied().fold(0.0, f64::max),
            sum: residual.iter().sum(),
            sum_of_norms: residual.iter().map(|r| r.sqrt()).sum(),
        }
    }

    fn add(&mut self, later: &Self) {
        self.largest = self.largest.max(later.largest);
        self.sum += later.sum;
        self.sum_of_norms += later.sum_of_norms;
    }
}

fn scaled(scaler: &Option<Standardizer>, x: Array2<f64>) -> Result<Rows> {
    match scaler {
        Some(scaler) => scaler.apply(&x.into()),
        None => Ok(x.into()),
    }
}

impl Rounds for KoblRounds {
    type Sums = KoblSums;
    type Fit = KoblFit;

    fn stage(&self) -> &'static str {
        if self.basis.is_none() { "means and standard deviations" } else { "residuals and pivots" }
    }

    fn rounds_left(&self) -> Option<usize> {
        None
    }

    fn bytes(&self, layout: &Layout) -> (f64, f64) {
        let m = self.basis.as_ref().map_or(0, |basis| basis.rows.len()) as f64;
        let (d, rows) = (self.d as f64, layout.block_rows.min(self.n) as f64);
        let sums = (CANDIDATES.max(self.sample.len()) as f64 * (d + 3.0) + 3.0 * d) * 8.0;
        // With a copy of the pivots.
        (sums, 8.0 * (rows * (2.0 * m + d + 4.0) + m * d))
    }

    fn shared_bytes(&self) -> f64 {
        // The pivots and their factor, which are copied when the candidates are added.
        let m = self.basis.as_ref().map_or(0, |basis| basis.rows.len() + CANDIDATES) as f64;
        16.0 * m * (m + self.d as f64)
    }

    fn of_block(&self, block: &Block) -> Result<KoblSums> {
        if let Some(basis) = &self.basis {
            return self.residuals(basis, block);
        }
        let moments = Some((Moments::of(block.x.view(), &[], 1), self.sample.of_block(block)));
        Ok(KoblSums { moments, residuals: vec![], candidates: vec![], invalid: None })
    }

    fn add(&self, total: &mut KoblSums, later: KoblSums) {
        if let (Some((moments, sample)), Some((more, rows))) = (&mut total.moments, later.moments) {
            moments.add(&more);
            sample.add(rows);
        }
        total.residuals.iter_mut().zip(&later.residuals).for_each(|(a, b)| a.add(b));
        total.candidates.extend(later.candidates);
        total.candidates.sort_by(|a, b| a.key.total_cmp(&b.key).then(a.row.cmp(&b.row)));
        total.candidates.truncate(CANDIDATES);
        total.invalid = total.invalid.or(later.invalid);
    }

    fn update(mut self, total: KoblSums, ctx: &Context) -> Result<Next<Self>> {
        let Some(mut basis) = self.basis.take() else {
            let (moments, sample) = total.moments.ok_or(Error::NoFeatures)?;
            let basis = Some(self.start(&moments, sample, ctx)?);
            return Ok(Next::Round(Self { basis, ..self }));
        };
        if let Some((row, value)) = total.invalid {
            let why = format!(
                "the kernel value of row {} with itself is {}; it must be finite and not negative (scale the \
                 features, or choose another kernel)",
                row + 1,
                number(value)
            );
            return Err(Error::Breakdown { step: NAME, why });
        }
        let first = if basis.rows.is_empty() { 0 } else { basis.n_known + 1 };
        if basis.rows.is_empty() {
            let Residuals { largest, sum, .. } = total.residuals[0];
            if largest <= 0.0 {
                let why = "the kernel of every row with itself is 0, so there is no basis; are all columns constant?";
                return Err(Error::Breakdown { step: "kernel basis", why: why.into() });
            }
            basis.start = Some((largest.sqrt(), sum));
        }
        let start = basis.start.unwrap_or((0.0, 0.0));
        for (rank, now) in (first..).zip(&total.residuals) {
            if let Some(stop) = self.stop(rank, now, start).filter(|_| rank > 0) {
                self.limit().warn(stop, rank, ctx);
                return Ok(Next::Fit(self.finish(basis, rank, now, stop)?));
            }
        }
        let most = self.limit().components;
        let before = basis.rows.len();
        basis.add(&total.candidates, most, self.seed)?;
        ctx.step("pivots", basis.rows.len(), most)?;
        if let (true, Some(last)) = (basis.rows.len() == before, total.residuals.last()) {
            return Ok(Next::Fit(self.finish(basis, before, last, Stop::Exhausted)?));
        }
        Ok(Next::Round(Self { basis: Some(basis), ..self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::Basis;
    use crate::blocks::{BlockSource, MemoryBlocks, run};
    use crate::data::{Dataset, Encoding};

    fn data(n: usize) -> Dataset {
        let mut rng = Rng::new(6);
        let scale = [1.0, 30.0, 0.1, 1.0];
        Dataset::unlabeled(Array2::from_shape_fn((n, 4), |(_, j)| 5.0 + scale[j] * rng.normal())).unwrap()
    }

    fn kobl(m: usize) -> Kobl {
        Kobl { pivoting: Pivoting::Random, n_components: Some(m), ..Kobl::default() }
    }

    fn fit(kobl: &Kobl, data: &Dataset, rows: usize, standardize: bool) -> KoblFit {
        let (ctx, source) = (Context::default(), MemoryBlocks::new(data, rows).unwrap());
        run(kobl.rounds(source.layout(), standardize, &ctx).unwrap(), &source, &ctx).unwrap()
    }

    #[test]
    fn the_map_is_that_of_its_pivots() {
        let (data, ctx) = (data(3000), Context::default());
        let found = fit(&kobl(90), &data, 256, true);
        let encoder = Encoder::fit(&data, Encoding { impute: None, standardize: true }).unwrap();
        let encoded = encoder.encode(&data).unwrap();
        let memory = kobl(90).fit(&encoded, &ctx).unwrap();
        let (summary, expected) = (found.map.summary(), memory.map.summary());
        assert_eq!((found.map.n_components(), summary.outcome.stop), (90, Stop::Requested));
        let mut rows = summary.pivots.clone();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), 90);
        // Means and standard deviations are sums in another order; gamma is the median of the same pairs.
        let gamma = |map: &FeatureMap| match map.kernel() {
            Kernel::Rbf { gamma } => *gamma,
            other => panic!("{other:?}"),
        };
        assert!((gamma(&found.map) / gamma(&memory.map) - 1.0).abs() < 1e-12);
        // The residuals are those of the map, for all rows; about a hundred roundings.
        let x = found.encoder.apply(data.x()).unwrap();
        let norms = found.map.residual_norms(&x, &ctx).unwrap();
        let cost = norms.iter().sum::<f64>() / 3000.0;
        assert!((summary.reconstruction_cost / cost - 1.0).abs() < 1e-6, "{cost}");
        let explained = 1.0 - norms.iter().map(|r| r * r).sum::<f64>() / 3000.0;
        assert!((summary.explained - explained).abs() < 1e-10);
        // Other random pivots; the trace that 90 of them leave varies by some percent.
        let left = |explained: f64| 1.0 - explained;
        let ratio = left(summary.explained) / left(expected.explained);
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
        assert!(summary.bound.unwrap() >= summary.reconstruction_cost);
    }

    #[test]
    fn bits_depend_on_blocks_only() {
        let data = data(1000);
        let fits = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&kobl(40), &data, 128, true)).map
        });
        assert_eq!(fits[0], fits[1]);
        // Other blocks change roundings of sums only, and so hardly any pivot.
        let other = fit(&kobl(40), &data, 77, false).map;
        assert_eq!(other.summary().pivots, fit(&kobl(40), &data, 128, false).map.summary().pivots);
    }

    #[test]
    fn stopping_rules_are_those_in_memory() {
        let data = data(400);
        let choice = |kobl: Kobl| fit(&kobl, &data, 100, true).map;
        let by_threshold = choice(Kobl { n_components: None, ..kobl(1) });
        let (summary, n) = (by_threshold.summary(), by_threshold.n_components());
        assert_eq!(summary.outcome.stop, Stop::Threshold);
        let x = fit(&kobl(n), &data, 100, true).encoder.apply(data.x()).unwrap();
        let largest =
            by_threshold.residual_norms(&x, &Context::default()).unwrap().into_iter().fold(0.0, f64::max);
        assert!(largest / summary.start_norm < n as f64 / 400.0);
        let by_tol = choice(Kobl { n_components: None, tol: 0.2, threshold: Threshold::None, ..kobl(1) });
        assert_eq!(by_tol.summary().outcome.stop, Stop::Tolerance);
        assert!(by_tol.summary().explained >= 0.8);
        let linear =
            Kobl { kernel: Kernel::Linear.into(), threshold: Threshold::None, n_components: None, ..kobl(1) };
        let exhausted = choice(linear);
        assert_eq!((exhausted.n_components(), exhausted.summary().outcome.stop), (4, Stop::Exhausted));
    }

    #[test]
    fn what_rounds_cannot_do_is_refused() {
        let data = data(50);
        let source = MemoryBlocks::new(&data, 10).unwrap();
        let error = |kobl: Kobl| {
            let rounds = kobl.rounds(source.layout(), true, &Context::default());
            rounds.err().unwrap().to_string()
        };
        assert_eq!(
            error(Kobl::default()),
            "KOBL: parameter 'pivoting' must be random for a table that is read in passes, got greedy"
        );
        assert!(
            error(Kobl { first_pivot: FirstPivot::Medoid, ..kobl(3) })
                .contains("'first_pivot' must be first")
        );
        assert!(error(kobl(51)).contains("from 1 to the number of rows, 50"));
    }
}
