//! Accuracy on held-out triplets, and number of features, of learned kernels.

use super::itml;
use crate::checkpoint::{Checkpoint, Numbers};
use crate::datasets::{built_in, standardized};
use crate::paper::Settings;
use crate::statistics::{format_mean_sd, mean, mean_and_sd, paired_difference};
use crate::study::Table;
use kernsift::data::triplets::{from_target, split_points};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::kernel::Family;
use kernsift::learn::design::{Bases, Psd};
use kernsift::learn::{KernelDesign, LearnerMethod, Status};
use kernsift::{Context, Dataset, Kernel, Result};
use kernsift_report::{Figure, Series, XAxis};

/// The data sets, with the accuracies of a prototype of our method: best single kernel, nonnegative weights, dominance with
/// noise. The prototype was not tuned; it had the gammas 1, 0.1 and 0.01 for every feature, and one to four splits.
const DATASETS: [(&str, Option<[f64; 3]>); 8] = [
    ("boston_medv25", Some([61.8, 77.2, 79.2])),
    ("ionosphere", Some([62.9, 74.6, 77.9])),
    ("iris", Some([89.9, 96.2, 96.8])),
    ("wine", Some([89.5, 94.9, 94.7])),
    ("balance_scale", Some([69.2, 66.8, 66.2])),
    ("wdbc", Some([87.2, 86.8, 87.1])),
    ("soybean_small", None),
    ("pima", Some([61.1, 62.1, 59.6])),
];

/// Data sets of a quick run.
const QUICK: [&str; 2] = ["iris", "soybean_small"];

/// The target depends only on products of features, so a sum of one-feature kernels must fail.
const BALANCE: &str = "balance_scale";

const TEST_TRIPLETS: usize = 1000;

const SINGLE: [&str; 3] = ["gaussian", "linear", "polynomial"];
pub(super) const ITML: &str = "itml";
pub(super) const WEAK: &str = "weak mixture";
pub(super) const NOISE: &str = "weak mixture with noise";
pub(super) const STRICT: &str = "strict dominance";

enum Learner {
    Ours(LearnerMethod),
    Itml,
}

impl Learner {
    /// Learns from triplets sampled by class: the kernel, its number of features, and whether the cone is trivial. ITML uses all
    /// features.
    fn learn(&self, train: &Dataset, n_triplets: usize, ctx: &Context) -> Result<(Kernel, usize, bool)> {
        match self {
            Self::Ours(method) => {
                let learned = method.learn_from_target(train, n_triplets, ctx)?;
                let n_features = learned.features().len();
                Ok((learned.kernel, n_features, learned.status == Status::TrivialCone))
            }
            Self::Itml => {
                let rows: Vec<usize> = (0..train.n()).collect();
                let triplets = from_target(train.target(), &rows, n_triplets, ctx)?;
                Ok((itml::learn(&train.x().clone().into_dense(), &triplets, ctx)?, train.d(), false))
            }
        }
    }
}

/// The learners by name.
fn methods() -> Result<Vec<(&'static str, Learner)>> {
    let weak = |psd| Learner::Ours(LearnerMethod::Design(KernelDesign { psd, ..KernelDesign::default() }));
    let kernels = vec![Family::Rbf, Family::Linear, Family::Poly];
    let full = Bases { kernels, weak: false, ..Bases::default() };
    let mut all = vec![];
    for name in ["gaussian", "linear", "polynomial", "average"] {
        all.push((name, Learner::Ours(LearnerMethod::by_name(name)?)));
    }
    all.push((
        "full mixture",
        Learner::Ours(LearnerMethod::Design(KernelDesign { bases: full, ..KernelDesign::default() })),
    ));
    for name in ["xing", "xing-diagonal"] {
        all.push((name, Learner::Ours(LearnerMethod::by_name(name)?)));
    }
    all.push((ITML, Learner::Itml));
    all.push((WEAK, weak(Psd::NonNegative)));
    all.push((NOISE, weak(Psd::DominanceWithNoise)));
    all.push((STRICT, weak(Psd::StrictDominance)));
    Ok(all)
}

/// Accuracy on held-out triplets in percent, number of features, and whether the cone was trivial.
fn evaluate(
    learner: &Learner,
    data: &Dataset,
    n_triplets: usize,
    seed: u64,
    ctx: &Context,
) -> Result<Numbers> {
    let ctx = &Context { seed, ..*ctx };
    let (train, test) = standardized(data, &split_points(data.n(), 0.15, seed)?)?;
    let rows: Vec<usize> = (0..test.n()).collect();
    let held_out = from_target(test.target(), &rows, TEST_TRIPLETS, ctx)?;
    let (kernel, n_features, trivial) = learner.learn(&train, n_triplets, ctx)?;
    let accuracy = triplet_accuracy_of(&kernel, test.x(), &held_out)?;
    Ok([
        ("accuracy".to_owned(), 100.0 * accuracy),
        ("features".to_owned(), n_features as f64),
        ("trivial cone".to_owned(), f64::from(u8::from(trivial))),
    ]
    .into())
}

/// The results on one data set.
pub(super) struct DatasetResults {
    pub name: &'static str,
    /// Number of features.
    pub d: usize,
    prototype: Option<[f64; 3]>,
    /// The measurements of each method, one per split.
    methods: Vec<(&'static str, Vec<Numbers>)>,
}

impl DatasetResults {
    pub(super) fn values(&self, method: &str, quantity: &str) -> Vec<f64> {
        let (_, splits) = self.methods.iter().find(|(name, _)| *name == method).expect("a known method");
        splits.iter().map(|numbers| numbers[quantity]).collect()
    }

    pub(super) fn accuracy(&self, method: &str) -> Vec<f64> {
        self.values(method, "accuracy")
    }

    /// Accuracies of the single kernel with the best mean, chosen on the held-out triplets, which favors it.
    fn best_single(&self) -> Vec<f64> {
        let by_mean = |a: &Vec<f64>, b: &Vec<f64>| mean(a).total_cmp(&mean(b));
        SINGLE.iter().map(|name| self.accuracy(name)).max_by(by_mean).expect("there are three of them")
    }

    /// Mean and standard deviation of the weak mixture's gain over the best single kernel.
    pub(super) fn gain_over_single(&self) -> (f64, f64) {
        paired_difference(&self.accuracy(WEAK), &self.best_single())
    }

    /// Mean and standard deviation of the weak mixture's gain over another method.
    pub(super) fn gain_over(&self, method: &str) -> (f64, f64) {
        paired_difference(&self.accuracy(WEAK), &self.accuracy(method))
    }

    /// The better of Xing's two metrics.
    pub(super) fn better_xing(&self) -> &'static str {
        let mean_of = |name: &str| mean(&self.accuracy(name));
        if mean_of("xing") >= mean_of("xing-diagonal") { "xing" } else { "xing-diagonal" }
    }

    pub(super) fn is_balance(&self) -> bool {
        self.name == BALANCE
    }
}

/// The results on all data sets.
pub struct Accuracies(pub(super) Vec<DatasetResults>);

impl Accuracies {
    /// Evaluates all methods; saved measurements are not repeated.
    pub fn measure(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<Self> {
        let methods = methods()?;
        let seeds = settings.seeds(ctx);
        let datasets = DATASETS.into_iter().filter(|(name, _)| !settings.quick || QUICK.contains(name));
        let results = datasets.map(|(name, prototype)| {
            let data = built_in(name)?;
            let jobs: Vec<(usize, u64)> =
                (0..methods.len()).flat_map(|m| seeds.iter().map(move |&seed| (m, seed))).collect();
            let names: Vec<String> = jobs
                .iter()
                .map(|&(m, seed)| format!("triplets, {name}, {}, split {seed}", methods[m].0))
                .collect();
            let numbers = checkpoint.measure(&format!("triplets, {name}"), &names, ctx, |i, ctx| {
                evaluate(&methods[jobs[i].0].1, &data, settings.n_triplets(), jobs[i].1, ctx)
            })?;
            let numbers = numbers.chunks(seeds.len()).map(<[Numbers]>::to_vec);
            let methods = methods.iter().map(|(name, _)| *name).zip(numbers).collect();
            Ok(DatasetResults { name, d: data.d(), prototype, methods })
        });
        Ok(Self(results.collect::<Result<_>>()?))
    }

    pub(super) fn names(&self) -> XAxis {
        XAxis::Categories(self.0.iter().map(|results| results.name.to_owned()).collect())
    }

    pub(super) fn figure(&self, name: &str, methods: &[&str]) -> Figure {
        let series = methods.iter().map(|method| Series {
            label: (*method).to_owned(),
            values: self.0.iter().map(|results| Some(mean_and_sd(&results.accuracy(method)))).collect(),
        });
        Figure {
            name: name.to_owned(),
            title: "Accuracy on held-out triplets".to_owned(),
            x_label: "data set".to_owned(),
            y_label: "satisfied triplets, %".to_owned(),
            x: self.names(),
            series: series.collect(),
        }
    }

    pub(super) fn count(&self, holds: impl Fn(&DatasetResults) -> bool) -> usize {
        self.0.iter().filter(|results| holds(results)).count()
    }

    pub(super) fn accuracy_table(&self, methods: &[&str]) -> Table {
        let header = ["data set"].into_iter().chain(methods.iter().copied());
        let mut table = Table::new("Satisfied held-out triplets, percent", header);
        for results in &self.0 {
            let cells = methods.iter().map(|method| format_mean_sd(&results.accuracy(method), 1));
            table.push([results.name.to_owned()].into_iter().chain(cells));
        }
        table
    }

    pub(super) fn gain_table(&self) -> Table {
        let mut table = Table::new(
            "Weak mixture (nonnegative weights) against the best single kernel, chosen on the held-out triplets",
            ["data set", "gain, points", "sd of the gain", "gain / sd"],
        );
        for results in &self.0 {
            let (gain, sd) = results.gain_over_single();
            table.push([
                results.name.to_owned(),
                format!("{gain:+.1}"),
                format!("{sd:.1}"),
                if sd > 0.0 { format!("{:+.1}", gain / sd) } else { String::new() },
            ]);
        }
        table
    }

    pub(super) fn prototype_table(&self) -> Table {
        let mut table = Table::new(
            "Compared with an untuned prototype with fixed gammas and one to four splits (prototype / now)",
            ["data set", "best single", "nonnegative", "with noise"],
        );
        for results in &self.0 {
            let Some(prototype) = results.prototype else { continue };
            let now = [results.best_single(), results.accuracy(WEAK), results.accuracy(NOISE)];
            let cells = prototype.iter().zip(&now).map(|(old, now)| format!("{old:.1} / {:.1}", mean(now)));
            table.push([results.name.to_owned()].into_iter().chain(cells));
        }
        table
    }
}
