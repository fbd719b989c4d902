//! The screen in rounds over blocks of rows.
//!
//! | round | result of a block |
//! |---|---|
//! | ranks | a sample of rows, and the values of features that have few |
//! | effects | products of all functions and the target: $(1 + 4 K d + t)^2$ sums |
//! | pairs | products of the functions of all pairs with the target: $t (K d)^2$ sums |
//! | pairs beyond their features | a Gram matrix for each tested pair |
//!
//! Functions are tables over grids of values: all values of a feature that has fewer than 64, or about a thousand sampled ones. From
//! the sums of the second round follow orthonormal functions, and the effects of single features on the target; then the rounds
//! compute what the screen in memory computes.

mod algebra;
mod functions;
#[cfg(test)]
mod tests;

use self::algebra::{Functions, Residual};
use self::functions::{Tabulated, TargetTable};
use super::beyond::{Design, Effect, Pair, sort};
use super::functions::{MIN_ROWS, is_spread_over};
use super::main_effects::wide;
use super::settings::{InteractionScreen, Interactions, MIN_SAMPLES, NAME};
use super::top::{Candidate, Top};
use crate::blocks::{Block, Layout, Next, Rounds, RowSample, SampledRows, SmallestValues, TargetLayout};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::add_product;
use crate::parameters::Parameters;
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};

/// Rows of the sample, at most, and cells of it.
const SAMPLE_ROWS: usize = 8192;
const SAMPLE_CELLS: usize = 1 << 22;
/// Rows of a matrix product.
const ROWS: usize = 1024;

/// A round of the screen.
#[derive(Serialize, Deserialize)]
pub struct PairRounds {
    screen: InteractionScreen,
    n: usize,
    d: usize,
    n_classes: Option<usize>,
    sample: RowSample,
    phase: Phase,
}

#[derive(Serialize, Deserialize)]
enum Phase {
    Ranks,
    /// All functions of the features, and the target.
    Effects(Vec<Tabulated>, TargetTable),
    Pairs(Box<Screened>),
    Beyond(Box<Screened>, Vec<(usize, usize)>),
}

/// Functions of the features, and the target without main effects.
#[derive(Serialize, Deserialize)]
struct Screened {
    /// The functions of each feature that pairs use: in the round of pairs at most $K$, then at most $2 K$.
    tables: Vec<Tabulated>,
    /// The functions of each feature at most, for the last round.
    wider: Vec<Tabulated>,
    target: TargetTable,
    /// The columns of the target without main effects, as combinations of centered ones.
    coef: Array2<f64>,
    mean: Vec<f64>,
    /// For each removed feature what its functions take from the target: a row per column.
    removed: Vec<(usize, Tabulated)>,
    n_removed: usize,
}

/// The sums of a round.
#[derive(Serialize, Deserialize)]
pub struct PairSums {
    sample: Option<SampledRows>,
    values: Vec<SmallestValues>,
    /// Rows of each class.
    classes: Vec<f64>,
    matrices: Vec<Array2<f64>>,
    /// Sums of fourth powers of the columns of the target.
    fourth: Vec<f64>,
}

impl InteractionScreen {
    /// The first round of a screen of a table with this layout.
    pub fn rounds(&self, layout: &Layout, ctx: &Context) -> Result<PairRounds> {
        self.check_ranges()?;
        layout.need_target(NAME)?;
        if self.permutations > 0 {
            let expected = "0 for a table that is read in passes";
            return Err(Error::param(NAME, "permutations", expected, self.permutations));
        }
        let (n, d) = (layout.n, layout.d());
        if n < MIN_SAMPLES {
            return Err(Error::TooFewRows { method: NAME, need: MIN_SAMPLES, got: n });
        }
        if d < 2 {
            let (expected, got) = ("at least 2".into(), d.to_string());
            return Err(Error::Shape { what: "features for pairs".into(), expected, got });
        }
        let n_classes = match &layout.target {
            TargetLayout::Classes(names) => Some(names.len()),
            TargetLayout::None | TargetLayout::Continuous => None,
        };
        let rows = (SAMPLE_CELLS / d).clamp(1, SAMPLE_ROWS);
        let sample = RowSample::draw(n, rows, ctx.seed, "rows whose values are ranks");
        Ok(PairRounds { screen: self.clone(), n, d, n_classes, sample, phase: Phase::Ranks })
    }
}

impl Screened {
    /// The target without main effects of some rows of a block, a row per column.
    fn target(&self, block: &Block, first: usize, rows: usize) -> Array2<f64> {
        let mut raw = Array2::zeros((self.target.n_columns(), rows));
        self.target.write(block, first, &mut raw.view_mut());
        for (mut row, mean) in raw.rows_mut().into_iter().zip(&self.mean) {
            row -= *mean;
        }
        let mut y = self.coef.dot(&raw);
        let mut part = Array2::zeros(y.dim());
        for (feature, table) in &self.removed {
            table.write(block.x.slice(s![first..first + rows, *feature]), &mut part.view_mut());
            y -= &part;
        }
        y
    }
}

/// Functions of some rows of a block, a row per function.
fn functions(tables: &[Tabulated], block: &Block, first: usize, rows: usize) -> Array2<f64> {
    let size = tables.iter().map(Tabulated::n_functions).sum();
    let mut out = Array2::zeros((size, rows));
    let mut from = 0;
    for (j, table) in tables.iter().enumerate() {
        let to = from + table.n_functions();
        table.write(block.x.slice(s![first..first + rows, j]), &mut out.slice_mut(s![from..to, ..]));
        from = to;
    }
    out
}

impl PairRounds {
    fn empty() -> PairSums {
        PairSums { sample: None, values: vec![], classes: vec![], matrices: vec![], fourth: vec![] }
    }

    /// Products of a constant, all functions and the target.
    fn gram(tables: &[Tabulated], target: &TargetTable, block: &Block) -> PairSums {
        let p: usize = tables.iter().map(Tabulated::n_functions).sum();
        let size = 1 + p + target.n_columns();
        let mut gram = Array2::zeros((size, size));
        for first in (0..block.n()).step_by(ROWS) {
            let rows = ROWS.min(block.n() - first);
            let mut all = Array2::ones((size, rows));
            all.slice_mut(s![1..1 + p, ..]).assign(&functions(tables, block, first, rows));
            target.write(block, first, &mut all.slice_mut(s![1 + p.., ..]));
            add_product(1.0, all.view(), all.t(), gram.view_mut());
        }
        PairSums { matrices: vec![gram], ..Self::empty() }
    }

    /// For each column of the target the products of all functions, weighted by it.
    fn pairs(screened: &Screened, block: &Block) -> PairSums {
        let p: usize = screened.tables.iter().map(Tabulated::n_functions).sum();
        let t = screened.coef.nrows();
        let mut matrices = vec![Array2::zeros((p, p)); t];
        let mut fourth = vec![0.0; t];
        for first in (0..block.n()).step_by(ROWS) {
            let rows = ROWS.min(block.n() - first);
            let all = functions(&screened.tables, block, first, rows);
            let target = screened.target(block, first, rows);
            for ((y, matrix), fourth) in target.rows().into_iter().zip(&mut matrices).zip(&mut fourth) {
                let weighted = &all * &y;
                add_product(1.0, weighted.view(), all.t(), matrix.view_mut());
                *fourth += y.iter().map(|v| v.powi(4)).sum::<f64>();
            }
        }
        PairSums { matrices, fourth, ..Self::empty() }
    }

    /// The Gram matrix of the design of each tested pair.
    fn beyond(&self, screened: &Screened, pairs: &[(usize, usize)], block: &Block) -> PairSums {
        let y = screened.target(block, 0, block.n());
        let target: Vec<Vec<f64>> = y.rows().into_iter().map(|row| row.to_vec()).collect();
        let vectors = |feature: usize| screened.wider[feature].vectors(block.x.column(feature));
        let mut first = (usize::MAX, vec![]);
        let gram = |&(i, j): &(usize, usize)| {
            if first.0 != i {
                first = (i, vectors(i));
            }
            let second = vectors(j);
            Design::new(&[&first.1, &second], &target, self.screen.n_functions).gram()
        };
        PairSums { matrices: pairs.iter().map(gram).collect(), ..Self::empty() }
    }

    /// The tables of all functions, and of the target.
    fn start(&self, total: &PairSums) -> Result<Phase> {
        let sample = total.sample.as_ref().ok_or(Error::NoFeatures)?;
        let wide = wide(self.n, self.screen.n_functions);
        let features = total.values.iter().enumerate();
        let tables = features.map(|(j, known)| Tabulated::cosines(known, sample.x.column(j), wide)).collect();
        let target = match self.n_classes {
            Some(_) => TargetTable::of_classes(&total.classes, MIN_ROWS),
            None => TargetTable::of_numbers(sample),
        };
        Ok(Phase::Effects(tables, target))
    }

    /// Functions that pairs use, and the target without main effects.
    fn screened(&self, all: &Functions, target: TargetTable, residual: &Residual) -> Screened {
        let k = self.screen.n_functions;
        let narrow = |limit: usize| -> Vec<Tabulated> {
            (0..self.d).map(|j| all.tables[j].taken(&all.first(j, limit))).collect()
        };
        let removed = residual.features.iter().map(|&feature| {
            let places = &all.places[feature];
            let mut taken = Array2::zeros((residual.target.nrows(), places.len()));
            for (place, coef) in residual.places.iter().zip(residual.coef.rows()) {
                if places.contains(place) {
                    taken.column_mut(place - places.start).assign(&residual.target.dot(&coef));
                }
            }
            let table = &all.tables[feature];
            (feature, table.combined(&taken, &vec![0.0; places.len()]))
        });
        Screened {
            tables: narrow(k),
            wider: narrow(2 * k),
            target,
            coef: residual.target.dot(&all.target),
            mean: all.target_mean.clone(),
            removed: removed.collect(),
            n_removed: residual.places.len(),
        }
    }

    /// The pairs to test, by the sums of the round of pairs.
    fn candidates(&self, screened: &Screened, total: &PairSums) -> Vec<(usize, usize)> {
        let n = self.n as f64;
        let tables = &screened.tables;
        let counts: Vec<usize> = tables.iter().map(Tabulated::n_functions).collect();
        let kurtosis: Vec<f64> = tables
            .iter()
            .map(|table| (0..table.n_functions()).map(|k| table.kurtosis(k)).fold(0.0, f64::max))
            .collect();
        let of_target = total.fourth.iter().map(|sum| sum / n).fold(0.0, f64::max);
        let starts: Vec<usize> = counts
            .iter()
            .scan(0, |at, count| {
                *at += count;
                Some(*at - count)
            })
            .collect();
        let n_all_pairs = self.d * (self.d - 1) / 2;
        let capacity = self.screen.n_tested(self.n, self.d).min(n_all_pairs);
        let mut top = Top::new(capacity, counts.iter().copied().max().unwrap_or(0), total.matrices.len());
        for i in 0..self.d {
            let of_pair = |j: usize| {
                let functions = counts[i] * counts[j];
                if functions == 0 || !is_spread_over(self.n, [kurtosis[i], kurtosis[j], of_target]) {
                    return None;
                }
                let part = s![starts[i]..starts[i] + counts[i], starts[j]..starts[j] + counts[j]];
                let sum: f64 = total.matrices.iter().map(|z| z.slice(part).mapv(|z| z * z).sum()).sum();
                let ln_p = top.thresholds().ln_p((sum / n) as f32, functions);
                Some(Candidate { ln_p, pair: (i as u32, j as u32) })
            };
            let found = (i + 1..self.d).filter_map(of_pair).collect();
            top.add(found);
        }
        let mut pairs: Vec<(usize, usize)> =
            top.best.iter().map(|found| (found.pair.0 as usize, found.pair.1 as usize)).collect();
        pairs.sort_unstable();
        pairs
    }

    /// The result, by the Gram matrices of the tested pairs.
    fn result(&self, screened: &Screened, tested: &[(usize, usize)], total: &PairSums) -> Interactions {
        let k = self.screen.n_functions;
        let of_pair = |(&(i, j), gram): (&(usize, usize), &Array2<f64>)| -> Pair {
            let [a, b] = [i, j].map(|feature| screened.wider[feature].n_functions());
            let lower = 1 + a + b;
            let all = lower + a.min(k) * b.min(k);
            Effect::of_gram(gram.clone(), (lower, all), (self.n, screened.n_removed)).of_pair((i, j))
        };
        let mut pairs: Vec<Pair> = tested.iter().zip(&total.matrices).map(of_pair).collect();
        sort(&mut pairs);
        let n_all_pairs = self.d * (self.d - 1) / 2;
        self.screen.adjust(&mut pairs, n_all_pairs);
        let features = screened.removed.iter().map(|(feature, _)| *feature).collect();
        self.screen.result(pairs, features, n_all_pairs)
    }
}

impl Rounds for PairRounds {
    type Sums = PairSums;
    type Fit = Interactions;

    fn stage(&self) -> &'static str {
        match self.phase {
            Phase::Ranks => "ranks",
            Phase::Effects(..) => "effects of features",
            Phase::Pairs(_) => "pairs",
            Phase::Beyond(..) => "pairs beyond their features",
        }
    }

    fn rounds_left(&self) -> Option<usize> {
        Some(match self.phase {
            Phase::Ranks => 4,
            Phase::Effects(..) => 3,
            Phase::Pairs(_) => 2,
            Phase::Beyond(..) => 1,
        })
    }

    fn bytes(&self, layout: &Layout) -> (f64, f64) {
        let count = |tables: &[Tabulated]| tables.iter().map(Tabulated::n_functions).sum::<usize>() as f64;
        let stored = |tables: &[Tabulated]| tables.iter().map(Tabulated::bytes).sum::<f64>();
        match &self.phase {
            Phase::Ranks => {
                let cells = self.d * (self.sample.len() + SmallestValues::CELLS);
                (8.0 * cells as f64, 0.0)
            }
            Phase::Effects(tables, target) => {
                let size = 1.0 + count(tables) + target.n_columns() as f64;
                (8.0 * size * size, 16.0 * ROWS as f64 * size + stored(tables))
            }
            Phase::Pairs(screened) => {
                let (p, t) = (count(&screened.tables), screened.coef.nrows() as f64);
                (8.0 * t * p * p, 16.0 * ROWS as f64 * p + stored(&screened.tables))
            }
            Phase::Beyond(screened, pairs) => {
                let k = self.screen.n_functions;
                let (t, rows) = (screened.target.n_columns(), layout.block_rows.min(self.n) as f64);
                let size = (1 + 4 * k + k * k + t) as f64;
                (8.0 * pairs.len() as f64 * size * size, 8.0 * rows * (6 * k + 4 * t) as f64)
            }
        }
    }

    fn of_block(&self, block: &Block) -> Result<PairSums> {
        Ok(match &self.phase {
            Phase::Ranks => {
                let mut classes = vec![0.0; self.n_classes.unwrap_or(0)];
                block.codes().iter().for_each(|&code| classes[code] += 1.0);
                let values = block.x.columns().into_iter().map(SmallestValues::of).collect();
                let sample = Some(self.sample.of_block(block));
                PairSums { sample, values, classes, ..Self::empty() }
            }
            Phase::Effects(tables, target) => Self::gram(tables, target, block),
            Phase::Pairs(screened) => Self::pairs(screened, block),
            Phase::Beyond(screened, pairs) => self.beyond(screened, pairs, block),
        })
    }

    fn add(&self, total: &mut PairSums, later: PairSums) {
        if let (Some(sample), Some(rows)) = (&mut total.sample, later.sample) {
            sample.add(rows);
        }
        total.values.iter_mut().zip(&later.values).for_each(|(a, b)| a.add(b));
        total.classes.iter_mut().zip(&later.classes).for_each(|(a, b)| *a += b);
        total.matrices.iter_mut().zip(&later.matrices).for_each(|(a, b)| *a += b);
        total.fourth.iter_mut().zip(&later.fourth).for_each(|(a, b)| *a += b);
    }

    fn update(mut self, total: PairSums, _ctx: &Context) -> Result<Next<Self>> {
        let phase = match std::mem::replace(&mut self.phase, Phase::Ranks) {
            Phase::Ranks => self.start(&total)?,
            Phase::Effects(tables, target) => {
                let all = Functions::new(&tables, &total.matrices[0]);
                if all.target.nrows() == 0 {
                    return Err(Error::ConstantTarget { method: NAME, value: all.target_mean[0] });
                }
                let residual = all.without_main_effects(self.screen.n_functions, self.screen.alpha);
                let screened = Box::new(self.screened(&all, target, &residual));
                if screened.coef.nrows() == 0 {
                    let nothing = PairSums { matrices: vec![], ..Self::empty() };
                    return Ok(Next::Fit(self.result(&screened, &[], &nothing)));
                }
                Phase::Pairs(screened)
            }
            Phase::Pairs(screened) => {
                let pairs = self.candidates(&screened, &total);
                Phase::Beyond(screened, pairs)
            }
            Phase::Beyond(screened, pairs) => {
                return Ok(Next::Fit(self.result(&screened, &pairs, &total)));
            }
        };
        Ok(Next::Round(Self { phase, ..self }))
    }
}
