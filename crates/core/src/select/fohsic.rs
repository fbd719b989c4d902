//! FOHSIC: forward selection by dependence on the target (HSIC).

use super::joint::{Growth, first_of_the_best};
use super::selector::{DependenceCheck, FeatureCount, PathPoint, Selection, Selector};
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Groups, Rows};
use crate::dependence::{
    Estimator, Hsic, PairWeights, TargetKernel, Variable, weighted_hsic, weighted_rows,
    weighted_target_factor,
};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelChoice};
use crate::method::{Info, Needs};
use crate::outcome::{Outcome, Stop};
use crate::parameters::Parameters;
use ndarray::Array2;

const NAME: &str = "FOHSIC";
/// Larger data are sampled.
const MAX_ROWS: usize = 5000;

crate::parameters! {
    /// Forward selection by HSIC.
    ///
    /// Starting from the empty set, each step adds the feature that maximizes the dependence of the set on the target,
    /// measured by HSIC ([`crate::dependence::hsic`]) with one Gaussian kernel over all features of the set,
    ///
    /// $$ k(x, x') = \exp\Bigl( -\frac{\lVert x - x' \rVert^2}{2 |S|} \Bigr), $$
    ///
    /// whose bandwidth grows with the number of features in the set $|S|$: for features of variance one, typical kernel
    /// values do not depend on $|S|$. If `gamma` is given the kernel is $\exp(-\gamma \lVert x - x' \rVert^2)$ for sets
    /// of any size. Ties are broken by column order. A feature of several columns, such as a category, counts as one:
    /// all its columns enter together, and it adds the sum of their squared differences to the squared distance.
    ///
    /// Once one feature of an interacting pair is in the set, the other is detected. But if neither predicts the target
    /// alone, the first is added only by chance; [`super::Bahsic`] starts from all features and can detect such pairs.
    ///
    /// HSIC decreases as the kernel covers more features, so it cannot be used as a stopping rule. Normalized HSIC can,
    /// because it does not depend on the norms of the kernel matrices: by default (`auto`) the search stops when the
    /// next feature would not increase it. The score of a feature is the increase it achieved, or 0. The remaining
    /// features are ranked by the HSIC of the set with each of them added. The path contains the negative HSIC after
    /// each step.
    ///
    /// Cost: $n^2 / 2$ exponentials per candidate and step, in single precision except for the few candidates that may
    /// be the best and for the last step, which ranks the rest; memory for two copies of the features. Sparse features
    /// stay sparse, and cost $n$ exponentials per stored value.
    ///
    /// Reference: Song, Smola, Gretton, Bedo and Borgwardt, *Feature selection via dependence maximization*, 2012.
    #[derive(PartialEq)]
    pub struct Fohsic as "FOHSIC" {
        /// Gamma of the Gaussian kernel for sets of any size; none is 1 / (2 * number of features in the set).
        pub gamma: Option<f64> = None, above(0);
        /// The kernel of the target.
        pub target_kernel: TargetKernel = TargetKernel::Auto;
        /// The estimate of HSIC, biased or unbiased.
        pub estimator: Estimator = Estimator::Biased;
        /// Whether to use all rows. Otherwise a random sample of 5000 rows, by class, represents larger data.
        pub exact: bool = false;
    }
}

/// $\gamma$ for a set of `n_features` features.
pub(super) fn gamma_of(gamma: Option<f64>, n_features: usize) -> f64 {
    gamma.unwrap_or(0.5 / n_features.max(1) as f64)
}

/// The normalized HSIC of a set of features and the target, whichever estimator the search uses.
pub(super) fn alignment(
    data: &Dataset,
    features: &[usize],
    gamma: f64,
    target_kernel: TargetKernel,
    ctx: &Context,
) -> Result<f64> {
    let kernel = KernelChoice::Fixed(Kernel::Rbf { gamma });
    let x = data.x().take_columns(&data.groups().expand(features));
    let settings = Hsic { estimator: Estimator::Normalized, permutations: 0 };
    let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
    let y = Variable::Target(data.target(), target_kernel);
    Ok(weighted_hsic(Variable::Rows(&x, &kernel), y, data.weights(), &settings, &quiet)?.value)
}

/// The centered factor of the target's kernel for sums over all pairs of samples with their weights.
pub(super) fn factor_of_pairs(
    data: &Dataset,
    kernel: TargetKernel,
    estimator: Estimator,
    method: &'static str,
    ctx: &Context,
) -> Result<Array2<f64>> {
    let weights = data.weights();
    if weights.given().is_some() && estimator != Estimator::Biased {
        return Err(Error::param(method, "estimator", "'biased' with weights of samples", "unbiased"));
    }
    Ok(weighted_rows(weighted_target_factor(data.target(), weights, kernel, method, ctx)?, weights))
}

/// Returns an error for an estimator that the search does not support.
pub(super) fn check_estimator(method: &'static str, estimator: Estimator) -> Result<()> {
    if estimator == Estimator::Normalized {
        return Err(Error::param(method, "estimator", "'biased' or 'unbiased'", "normalized"));
    }
    Ok(())
}

impl Fohsic {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "fohsic",
        title: "FOHSIC",
        summary: "Features added one by one so that the target depends most on them jointly (HSIC)",
        needs: Needs::Target,
        cost: "O(n² d) time per step, O(n d) memory; beyond 5000 rows a sample",
        reference: "Song et al., 2012",
    };
}

impl Selector for Fohsic {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        check_estimator(NAME, self.estimator)
    }

    fn has_path(&self) -> bool {
        true
    }

    fn supports_weights(&self) -> bool {
        true
    }

    fn supports_outputs(&self) -> bool {
        true
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(DependenceCheck::Joint)
    }

    fn max_rows(&self) -> Option<usize> {
        (!self.exact).then_some(MAX_ROWS)
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        self.check()?;
        data.need_complete(NAME)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        let factor = factor_of_pairs(data, self.target_kernel, self.estimator, NAME, ctx)?;
        let ctx = &Growth::held(data.x(), &factor, NAME, ctx)?;
        let weights = PairWeights::new(&factor, self.estimator, NAME)?;
        let growth = Growth::new(data.x(), data.groups(), weights, NAME, ctx)?;
        let mut search = Search::new(self, data, &growth);
        let stop = search.run(wanted, ctx)?;
        Ok(search.selection(wanted, stop))
    }
}

/// The first features added, in order, for a centered factor of the target's kernel. Other methods use them as a
/// starting point.
pub(super) fn joint_growth(
    x: &Rows,
    groups: &Groups,
    factor: &Array2<f64>,
    most: usize,
    ctx: &Context,
) -> Result<Vec<usize>> {
    let ctx = &Growth::held(x, factor, NAME, ctx)?;
    let weights = PairWeights::new(factor, Estimator::Biased, NAME)?;
    let growth = Growth::new(x, groups.clone(), weights, NAME, ctx)?;
    let (mut remaining, mut chosen) = (growth.varying(), vec![]);
    while chosen.len() < most && !remaining.is_empty() {
        let (at, _) = growth.best(&chosen, &remaining, gamma_of(None, chosen.len() + 1), ctx)?;
        chosen.push(remaining.remove(at));
    }
    Ok(chosen)
}

struct Search<'a> {
    method: &'a Fohsic,
    data: &'a Dataset,
    growth: &'a Growth<'a>,
    chosen: Vec<usize>,
    /// HSIC and normalized HSIC after each step.
    hsic_values: Vec<f64>,
    normalized: Vec<f64>,
    /// The remaining features, and HSIC with each of them added to the selected ones, or to all but the last
    /// selected; empty until the search ends.
    remaining: Vec<usize>,
    next_hsic: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(method: &'a Fohsic, data: &'a Dataset, growth: &'a Growth<'a>) -> Self {
        let remaining = growth.varying();
        Self {
            method,
            data,
            growth,
            chosen: vec![],
            hsic_values: vec![],
            normalized: vec![],
            remaining,
            next_hsic: vec![],
        }
    }

    fn run(&mut self, wanted: Option<usize>, ctx: &Context) -> Result<Stop> {
        let most = wanted.unwrap_or(self.data.d());
        while self.chosen.len() < most {
            ctx.step("FOHSIC", self.chosen.len(), most)?;
            if self.remaining.is_empty() {
                return Ok(Stop::Exhausted);
            }
            let gamma = gamma_of(self.method.gamma, self.chosen.len() + 1);
            let (at, value) = if wanted == Some(self.chosen.len() + 1) {
                self.next_hsic = self.growth.all(&self.chosen, &self.remaining, gamma, ctx)?;
                let at = first_of_the_best(&self.next_hsic);
                (at, self.next_hsic.remove(at))
            } else {
                self.growth.best(&self.chosen, &self.remaining, gamma, ctx)?
            };
            self.chosen.push(self.remaining[at]);
            let normalized = alignment(self.data, &self.chosen, gamma, self.method.target_kernel, ctx)?;
            if wanted.is_none() && self.normalized.last().is_some_and(|before| normalized <= *before) {
                self.chosen.pop();
                self.next_hsic = self.growth.all(&self.chosen, &self.remaining, gamma, ctx)?;
                return Ok(Stop::Stationary);
            }
            self.remaining.remove(at);
            self.hsic_values.push(value);
            self.normalized.push(normalized);
        }
        Ok(if wanted.is_some() { Stop::Requested } else { Stop::Exhausted })
    }

    fn selection(self, wanted: Option<usize>, stop: Stop) -> Selection {
        let d = self.data.d();
        let before = |step: usize| if step == 0 { 0.0 } else { self.normalized[step - 1] };
        let gains: Vec<f64> =
            (0..self.chosen.len()).map(|step| (self.normalized[step] - before(step)).max(0.0)).collect();
        let mut scores = vec![0.0; d];
        self.chosen.iter().zip(&gains).for_each(|(&j, gain)| scores[j] = *gain);
        let mut rest: Vec<usize> = (0..self.remaining.len()).collect();
        if self.next_hsic.len() == self.remaining.len() {
            rest.sort_by(|&a, &b| self.next_hsic[b].total_cmp(&self.next_hsic[a]));
        }
        let mut order = self.chosen.clone();
        order.extend(rest.iter().map(|&at| self.remaining[at]));
        let mut seen = vec![false; d];
        order.iter().for_each(|&j| seen[j] = true);
        order.extend((0..d).filter(|&j| !seen[j]));
        let point = |step: usize| PathPoint {
            strength: (step + 1) as f64,
            objective: -self.hsic_values[step],
            optimality: 0.0,
            iterations: 1,
            stop: Stop::Direct,
            features: self.chosen[..=step].to_vec(),
            weights: gains[..=step].to_vec(),
        };
        Selection {
            automatic: None,
            sample: None,
            method: "fohsic".into(),
            n_selected: wanted.unwrap_or(self.chosen.len()),
            curve: vec![],
            coef: None,
            path: (0..self.chosen.len()).map(point).collect(),
            outcome: Outcome { stop, iterations: self.chosen.len() },
            order,
            scores,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synthetic::{Pattern, Synthetic};
    use crate::dependence::hsic;

    /// The same search with the public function, one set at a time.
    fn naive(method: &Fohsic, data: &Dataset, steps: usize) -> (Vec<usize>, Vec<f64>) {
        let (mut chosen, mut hsic_values) = (vec![], vec![]);
        for step in 0..steps {
            let kernel = KernelChoice::Fixed(Kernel::Rbf { gamma: gamma_of(method.gamma, step + 1) });
            let value = |f: usize| {
                let mut set: Vec<usize> = chosen.clone();
                set.push(f);
                let x = data.x().take_columns(&set);
                let settings = Hsic { estimator: method.estimator, permutations: 0 };
                let y = Variable::Target(data.target(), method.target_kernel);
                hsic(Variable::Rows(&x, &kernel), y, &settings, &Context::default()).unwrap().value
            };
            let remaining: Vec<usize> = (0..data.d()).filter(|f| !chosen.contains(f)).collect();
            let values: Vec<f64> = remaining.iter().map(|&f| value(f)).collect();
            let best =
                (0..remaining.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best });
            chosen.push(remaining[best]);
            hsic_values.push(values[best]);
        }
        (chosen, hsic_values)
    }

    #[test]
    fn the_search_follows_the_definition() {
        for (continuous, estimator, gamma) in [
            (false, Estimator::Biased, None),
            (true, Estimator::Unbiased, None),
            (false, Estimator::Unbiased, Some(0.2)),
        ] {
            let recipe = Synthetic {
                pattern: Pattern::XorRing,
                rows: 60,
                columns: 8,
                continuous,
                ..Synthetic::default()
            };
            let data = recipe.make().unwrap().data;
            let method = Fohsic { estimator, gamma, ..Fohsic::default() };
            let found = method.select(&data, FeatureCount::Count(5), &Context::default()).unwrap();
            let (chosen, hsic_values) = naive(&method, &data, 5);
            assert_eq!(found.selected(), chosen);
            // Rounding error of sums over all pairs in a different order.
            assert!(
                found.path.iter().zip(&hsic_values).all(|(point, h)| (point.objective + h).abs() < 1e-13)
            );
            // A smaller number selects the first of them.
            let three = method.select(&data, FeatureCount::Count(3), &Context::default()).unwrap();
            assert_eq!(three.selected(), &chosen[..3]);
        }
    }

    #[test]
    fn the_automatic_stop_selects_the_relevant_features() {
        for seed in 0..3 {
            let planted =
                Synthetic { pattern: Pattern::Ring, rows: 400, columns: 30, seed, ..Synthetic::default() }
                    .make()
                    .unwrap();
            let found =
                Fohsic::default().select(&planted.data, FeatureCount::Auto, &Context::default()).unwrap();
            let (mut selected, mut relevant) = (found.selected().to_vec(), planted.relevant.clone());
            selected.sort_unstable();
            relevant.sort_unstable();
            assert_eq!(selected, relevant, "{seed}");
            assert_eq!(found.outcome.stop, Stop::Stationary);
        }
    }

    #[test]
    fn ties_are_broken_by_column_order_and_constants_come_last() {
        let x = ndarray::array![[5.0, 0.0, 0.0], [5.0, 0.1, 0.1], [5.0, 2.0, 2.0], [5.0, 2.1, 2.1]];
        let data = Dataset::labeled(x, vec![0, 0, 1, 1]).unwrap();
        let found = Fohsic::default().select(&data, FeatureCount::Count(3), &Context::default()).unwrap();
        assert_eq!(found.order, [1, 2, 0]);
        assert_eq!(found.scores[0], 0.0);
        assert_eq!(found.outcome.stop, Stop::Exhausted);
    }

    #[test]
    fn parameters_are_checked() {
        let data = Dataset::labeled(ndarray::array![[1.0], [2.0]], vec![0, 1]).unwrap();
        let error = |method: Fohsic| {
            method.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string()
        };
        assert!(error(Fohsic { gamma: Some(0.0), ..Fohsic::default() }).contains("'gamma'"));
        assert!(
            error(Fohsic { estimator: Estimator::Normalized, ..Fohsic::default() }).contains("'estimator'")
        );
        assert!(
            error(Fohsic { estimator: Estimator::Unbiased, ..Fohsic::default() }).contains("at least 4 rows")
        );
        let far = Dataset::labeled(ndarray::array![[1e200], [-1e200]], vec![0, 1]).unwrap();
        let error = Fohsic::default().select(&far, FeatureCount::Auto, &Context::default()).unwrap_err();
        assert!(error.to_string().contains("scale the features"));
    }
}
