//! Linear programs of kernel design on the built-in data.

use kernsift::data::triplets::from_labels;
use kernsift::data::{BuiltIn, Rows, Standardizer};
use kernsift::kernel::{gram, pair_values};
use kernsift::internals::{HingeProgram, HingeSolution, WeightBound};
use kernsift::{Context, Kernel, Result};
use ndarray::{Array2, ShapeBuilder};

/// Values of gamma of the Gaussian kernels of each feature.
const GAMMAS: [f64; 3] = [1.0, 0.1, 0.01];
/// The penalty of a group's largest weight.
pub const PENALTY: f64 = 1e-4;
/// The penalty of the mean diagonal.
const DIAGONAL: f64 = 1e-4;
/// A row of the mixture gets a cut if it violates dominance by more than this fraction of the mixture's size.
const CUT_TOLERANCE: f64 = 1e-7;
const MAX_ITERATIONS: usize = 200;

/// The constraints on the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nonnegative weights.
    NonNegative,
    /// Weights of any sign, white noise, and dominance cuts with all signs positive.
    FirstRound,
    /// Also the cuts that the first round's mixture violates.
    SecondRound,
}

/// The data and constraints of an instance.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub name: &'static str,
    pub kind: Kind,
    pub triplets: usize,
}

/// Smaller instances of a kind and data set come first.
pub const SOURCES: [Source; 11] = {
    use Kind::{FirstRound, NonNegative, SecondRound};
    [
        Source { name: "wine", kind: NonNegative, triplets: 1500 },
        Source { name: "ionosphere", kind: NonNegative, triplets: 1500 },
        Source { name: "wdbc", kind: NonNegative, triplets: 1500 },
        Source { name: "wine", kind: FirstRound, triplets: 1500 },
        Source { name: "ionosphere", kind: FirstRound, triplets: 1500 },
        Source { name: "wdbc", kind: FirstRound, triplets: 1500 },
        Source { name: "wine", kind: SecondRound, triplets: 1500 },
        Source { name: "ionosphere", kind: SecondRound, triplets: 1500 },
        Source { name: "wdbc", kind: SecondRound, triplets: 1500 },
        Source { name: "wdbc", kind: NonNegative, triplets: 20_000 },
        Source { name: "wdbc", kind: NonNegative, triplets: 100_000 },
    ]
};

impl Source {
    pub fn label(&self) -> String {
        let kind = match self.kind {
            Kind::NonNegative => "non-negative",
            Kind::FirstRound => "first cuts",
            Kind::SecondRound => "second cuts",
        };
        format!("{}, {kind}, {} triplets", self.name, self.triplets)
    }
}

/// A program.
pub struct Instance {
    /// A row per triplet, a column per kernel, by columns.
    pub margins: Array2<f64>,
    pub costs: Vec<f64>,
    pub bounds: Vec<WeightBound>,
    /// A row per cut; the first is the mean of the diagonal, the last column is white noise.
    pub cuts: Array2<f64>,
}

impl Instance {
    pub fn new(source: Source) -> Result<Self> {
        let data = BuiltIn::by_name(source.name)?.data()?;
        let x = Standardizer::fit(data.x()).apply(data.x())?;
        let triplets = from_labels(data.classes("triplets")?, source.triplets, 0)?;
        let (mut kernels, mut groups, mut group) = (vec![], vec![], 0);
        for feature in 0..x.d() {
            let column = x.column(feature);
            if column.iter().all(|v| *v == column[0]) {
                continue;
            }
            for gamma in GAMMAS {
                kernels.push(Kernel::OnFeature { feature, kernel: Box::new(Kernel::Rbf { gamma }) });
                groups.push(group);
            }
            group += 1;
        }
        let noisy = source.kind != Kind::NonNegative;
        let (near, far): (Vec<_>, Vec<_>) = triplets.iter().map(|&[i, j, k]| ([i, j], [i, k])).unzip();
        let mut all = vec![];
        for kernel in &kernels {
            let far = pair_values(kernel, &x, &far)?;
            all.extend(pair_values(kernel, &x, &near)?.iter().zip(far).map(|(near, far)| near - far));
        }
        let columns = kernels.len() + usize::from(noisy);
        // White noise does not change margins.
        all.resize(triplets.len() * columns, 0.0);
        let margins =
            Array2::from_shape_vec((triplets.len(), columns).f(), all).expect("one column per kernel");
        // Gaussians and noise have a diagonal of ones.
        let costs = vec![DIAGONAL; columns];
        let mut bounds: Vec<WeightBound> = groups
            .iter()
            .map(|&g| if noisy { WeightBound::Symmetric(g) } else { WeightBound::NonNegative(g) })
            .collect();
        if noisy {
            bounds.push(WeightBound::Ungrouped);
        }
        let mut instance = Self { margins, costs, bounds, cuts: Array2::zeros((0, columns).f()) };
        if noisy {
            instance.cut(&kernels, &x, source.kind == Kind::SecondRound)?;
        }
        Ok(instance)
    }

    /// Adds the cut of the mean diagonal, the first cuts and, if `twice`, the second.
    fn cut(&mut self, kernels: &[Kernel], x: &Rows, twice: bool) -> Result<()> {
        let grams: Vec<Array2<f64>> =
            kernels.iter().map(|kernel| gram(kernel, x, x)).collect::<Result<_>>()?;
        let n = x.n();
        let row = |i: usize, signs: &[f64]| -> Vec<f64> {
            let of = |k: &Array2<f64>| {
                let others: f64 = k.row(i).iter().zip(signs).map(|(v, sign)| v * sign).sum();
                k[[i, i]] - (others - k[[i, i]] * signs[i])
            };
            grams.iter().map(of).chain([1.0]).collect()
        };
        let mut rows = vec![vec![1.0; kernels.len() + 1]];
        rows.extend((0..n).map(|i| row(i, &vec![1.0; n])));
        self.set_cuts(&rows);
        if twice {
            let solution = self.solve(1e-8)?;
            let (weights, noise) = solution.weights.split_at(kernels.len());
            let mut mixture = Array2::<f64>::zeros((n, n));
            grams.iter().zip(weights).for_each(|(k, weight)| mixture.scaled_add(*weight, k));
            let size = (0..n).map(|i| mixture[[i, i]] + noise[0]).fold(1.0, f64::max);
            for (i, k) in mixture.rows().into_iter().enumerate() {
                let others: f64 = k.iter().map(|v| v.abs()).sum::<f64>() - k[i].abs();
                if others - k[i] - noise[0] > CUT_TOLERANCE * size {
                    let signs: Vec<f64> =
                        k.iter().map(|v| if *v == 0.0 { 0.0 } else { v.signum() }).collect();
                    rows.push(row(i, &signs));
                }
            }
            self.set_cuts(&rows);
        }
        Ok(())
    }

    fn set_cuts(&mut self, rows: &[Vec<f64>]) {
        self.cuts = Array2::from_shape_fn((rows.len(), self.costs.len()).f(), |(r, p)| rows[r][p]);
    }

    /// Solves with our interior-point method.
    pub fn solve(&self, tolerance: f64) -> Result<HingeSolution> {
        let program = HingeProgram::new(&self.margins, &self.costs, &self.bounds, PENALTY);
        let program = if self.cuts.nrows() > 0 { program.with_cuts(&self.cuts, Some(0)) } else { program };
        program.solve(tolerance, MAX_ITERATIONS, &Context::default())
    }

    pub fn groups(&self) -> usize {
        self.bounds.iter().filter_map(|b| b.group()).max().map_or(0, |g| g + 1)
    }

    /// The objective of a solver's weights made feasible: negative weights are set to 0 where they must be nonnegative, and
    /// white noise is increased until every cut is satisfied. It is never below the optimum.
    pub fn feasible_objective(&self, weights: &[f64]) -> f64 {
        let mut weights = weights.to_vec();
        for (weight, bound) in weights.iter_mut().zip(&self.bounds) {
            if !matches!(bound, WeightBound::Symmetric(_)) {
                *weight = weight.max(0.0);
            }
        }
        let times = |a: &Array2<f64>, weights: &[f64]| a.dot(&ndarray::aview1(weights));
        if self.cuts.nrows() > 0 {
            let worst = times(&self.cuts, &weights).fold(0.0_f64, |a, v| a.min(*v));
            *weights.last_mut().expect("white noise") -= worst;
        }
        let hinge: f64 = times(&self.margins, &weights).iter().map(|m| (1.0 - m).max(0.0)).sum();
        let mut largest = vec![0.0_f64; self.groups()];
        for (bound, weight) in self.bounds.iter().zip(&weights) {
            if let Some(g) = bound.group() {
                largest[g] = largest[g].max(weight.abs());
            }
        }
        let costs: f64 = self.costs.iter().zip(&weights).map(|(c, w)| c * w).sum();
        hinge / self.margins.nrows() as f64 + costs + PENALTY * largest.iter().sum::<f64>()
    }
}
