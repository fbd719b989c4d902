//! The classifiers of Figure 3 and their accuracies.

use crate::checkpoint::{Checkpoint, Numbers};
use crate::datasets::{AUSTRALIAN, DatasetSpec, random_split, standardized};
use crate::paper::Settings;
use crate::statistics::{format_mean_sd, mean};
use crate::study::Table;
use kernsift::basis::{BasisMethod, Discriminant, Kobl};
use kernsift::classify::Knnc;
use kernsift::data::Fold;
use kernsift::internals::Rng;
use kernsift::kernel::KernelChoice;
use kernsift::select::{FeatureCount, Ffs, SelectorMethod, WeakLearner};
use kernsift::space::{KernelSpaceSelector, Tune};
use kernsift::{Context, Dataset, Result};

/// The data sets: name, name in the paper, number of training rows.
const DATASETS: [(DatasetSpec, &str, usize); 6] = [
    (AUSTRALIAN, "Australian", 345),
    (DatasetSpec::built_in("pima"), "Diabetes", 468),
    (DatasetSpec::built_in("heart"), "Heart", 170),
    (DatasetSpec::built_in("ionosphere"), "Ionosphere", 281),
    (DatasetSpec::built_in("sonar"), "Sonar", 166),
    (DatasetSpec::built_in("thyroid_2class"), "Thyroid", 140),
];

/// Data sets of a quick run.
const QUICK: [&str; 2] = ["heart", "thyroid_2class"];

/// The data sets of a run.
pub fn datasets(settings: &Settings) -> impl Iterator<Item = (DatasetSpec, &'static str, usize)> {
    DATASETS.into_iter().filter(|(dataset, ..)| !settings.quick || QUICK.contains(&dataset.name))
}

/// A data set's name in the paper.
pub fn paper_name(dataset: &str) -> &'static str {
    DATASETS.iter().find(|(known, ..)| known.name == dataset).map_or("", |(_, name, _)| name)
}

/// Maximum number of directions of TAKES, as a fraction of the training rows.
const MAX_DIRECTIONS: f64 = 0.3;

/// Methods that choose their number of features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    Takes(Weak),
    Tuned,
    TunedUnlimited,
    Named(&'static str),
    Kda,
    Knnc,
    KnncTuned,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weak {
    Klms,
    QuantizedKlms,
    Stumps,
}

/// Tuned TAKES without a limit on directions.
pub const UNLIMITED: &str = "TAKES, tuned, unlimited directions";
/// KNNC with a tuned number of neighbors.
pub const KNNC_TUNED: &str = "KNNC, tuned number of neighbors";

pub const METHODS: [(&str, Method); 11] = [
    ("TAKES", Method::Takes(Weak::Klms)),
    ("TAKES, tuned", Method::Tuned),
    ("KGS+KFFS", Method::Named("kgs-kffs")),
    ("FSKGS", Method::Named("fskgs")),
    ("FSKPCA", Method::Named("fskpca")),
    ("KDA", Method::Kda),
    ("KNNC", Method::Knnc),
    ("TAKES, quantized KLMS", Method::Takes(Weak::QuantizedKlms)),
    ("TAKES, stumps", Method::Takes(Weak::Stumps)),
    (UNLIMITED, Method::TunedUnlimited),
    (KNNC_TUNED, Method::KnncTuned),
];

/// The methods that select directions of a basis.
const SELECTING: [&str; 6] = ["TAKES", "TAKES, tuned", UNLIMITED, "KGS+KFFS", "FSKGS", "FSKPCA"];

impl Method {
    /// The selector for `n` training rows; `None` for methods without a basis.
    fn selector(self, n: usize) -> Result<Option<KernelSpaceSelector>> {
        let n_components = Some((MAX_DIRECTIONS * n as f64) as usize);
        let basis = BasisMethod::Kobl(Kobl { n_components, ..Kobl::default() });
        let takes = || KernelSpaceSelector { basis, ..KernelSpaceSelector::takes() };
        Ok(match self {
            Self::Takes(weak) => {
                let mut space = takes();
                if let Some(SelectorMethod::Ffs(ffs)) = &mut space.selector {
                    *ffs = match weak {
                        Weak::Klms => Ffs { weak_learner: WeakLearner::Klms, ..Ffs::default() },
                        Weak::QuantizedKlms => Ffs {
                            weak_learner: WeakLearner::Klms,
                            quantum: Some(1.0 / 16.0),
                            ..Ffs::default()
                        },
                        Weak::Stumps => Ffs::default(),
                    };
                }
                Some(space)
            }
            Self::Tuned => Some(KernelSpaceSelector { tune: Tune::Everything, ..takes() }),
            Self::TunedUnlimited => {
                Some(KernelSpaceSelector { tune: Tune::Everything, ..KernelSpaceSelector::takes() })
            }
            Self::Named(name) => Some(KernelSpaceSelector::by_name(name)?),
            Self::Kda => {
                let basis = BasisMethod::Discriminant(Discriminant::default());
                Some(KernelSpaceSelector { basis, selector: None, ..KernelSpaceSelector::default() })
            }
            Self::Knnc | Self::KnncTuned => None,
        })
    }

    /// Accuracy in percent on one split; with a basis, also its number of directions and how many were selected.
    fn evaluate(self, data: &Dataset, fold: &Fold, ctx: &Context) -> Result<Numbers> {
        let (train, test) = standardized(data, fold)?;
        let mut numbers = Numbers::new();
        let predicted = match (self, self.selector(train.n())?) {
            (_, Some(selector)) => {
                let fitted = selector.fit(&train, FeatureCount::Auto, ctx)?;
                numbers.insert("directions".into(), fitted.map().n_components() as f64);
                numbers.insert("selected".into(), fitted.selection().n_selected as f64);
                fitted.predict(test.x(), ctx)?
            }
            (Self::KnncTuned, None) => knnc(&train, &test, tuned_n_neighbors(&train, ctx)?, ctx)?,
            (_, None) => knnc(&train, &test, 1, ctx)?,
        };
        let correct = predicted.iter().zip(&test.classes("test")?.codes).filter(|(a, b)| a == b).count();
        numbers.insert("accuracy".into(), 100.0 * correct as f64 / test.n() as f64);
        Ok(numbers)
    }
}

fn knnc(train: &Dataset, test: &Dataset, n_neighbors: usize, ctx: &Context) -> Result<Vec<usize>> {
    Knnc::fit(&KernelChoice::default(), train, n_neighbors, ctx)?.predict(test.x(), ctx)
}

/// Chooses the number of neighbors by five-fold cross-validation of the training rows, repeated five times.
fn tuned_n_neighbors(train: &Dataset, ctx: &Context) -> Result<usize> {
    let candidates = [1, 3, 5, 9, 15, 21];
    let mut correct = [0; 6];
    let mut rng = Rng::stream(ctx.seed, "folds");
    for _ in 0..5 {
        let mut order: Vec<usize> = (0..train.n()).collect();
        rng.shuffle(&mut order);
        for fold in 0..5 {
            let (inner, held_out): (Vec<usize>, Vec<usize>) = (0..train.n()).partition(|i| i % 5 != fold);
            let rows =
                |indices: &[usize]| train.take_rows(&indices.iter().map(|&i| order[i]).collect::<Vec<_>>());
            let (inner, held_out) = (rows(&inner), rows(&held_out));
            for (correct, n_neighbors) in correct.iter_mut().zip(candidates) {
                let predicted = knnc(&inner, &held_out, n_neighbors, ctx)?;
                let codes = &held_out.classes("folds")?.codes;
                *correct += predicted.iter().zip(codes).filter(|(a, b)| a == b).count();
            }
        }
    }
    let best = (0..6).rev().max_by_key(|&i| correct[i]).unwrap_or(0);
    Ok(candidates[best])
}

/// The measurements by data set, method and split.
pub struct Accuracies(Vec<(&'static str, Vec<Vec<Numbers>>)>);

impl Accuracies {
    /// Evaluates all methods; saved measurements are not repeated.
    pub fn measure(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<Self> {
        let seeds = settings.seeds(ctx);
        let mut all = vec![];
        for (dataset, _, n_train) in datasets(settings) {
            let jobs: Vec<(&str, Method, u64)> = METHODS
                .iter()
                .flat_map(|&(name, method)| seeds.iter().map(move |&seed| (name, method, seed)))
                .collect();
            let names: Vec<String> = jobs
                .iter()
                .map(|(name, _, seed)| format!("accuracy, {}, {name}, split {seed}", dataset.name))
                .collect();
            let data = if checkpoint.knows(&names) { None } else { dataset.load(settings, ctx)? };
            if let Some(data) = data {
                checkpoint.measure(&format!("accuracy, {}", dataset.name), &names, ctx, |i, ctx| {
                    let (_, method, seed) = jobs[i];
                    method.evaluate(&data, &random_split(data.n(), n_train, seed), &Context { seed, ..*ctx })
                })?;
            }
            if checkpoint.knows(&names) {
                let numbers = checkpoint.numbers(&names);
                all.push((dataset.name, numbers.chunks(seeds.len()).map(<[Numbers]>::to_vec).collect()));
            }
        }
        Ok(Self(all))
    }

    /// The data sets that were run.
    pub fn datasets(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(dataset, _)| *dataset)
    }

    fn values(&self, dataset: &str, method: &str, quantity: &str) -> Vec<f64> {
        let index = METHODS.iter().position(|(name, _)| *name == method).expect("a known method");
        let (_, methods) = self.0.iter().find(|(name, _)| *name == dataset).expect("a data set of the run");
        methods[index].iter().map(|numbers| numbers[quantity]).collect()
    }

    /// A method's accuracies in percent, one per split.
    pub fn accuracy(&self, dataset: &str, method: &str) -> Vec<f64> {
        self.values(dataset, method, "accuracy")
    }

    /// The difference of two methods' mean accuracies on each data set, in percentage points.
    pub fn differences(&self, a: &str, b: &str) -> Vec<f64> {
        let mean_of = |dataset, method| mean(&self.accuracy(dataset, method));
        self.datasets().map(|dataset| mean_of(dataset, a) - mean_of(dataset, b)).collect()
    }

    /// Accuracies of all methods.
    pub fn accuracy_table(&self) -> Table {
        let mut table = Table::new(
            "Accuracy in percent, each method with the number of features that it chooses",
            ["data set"].into_iter().chain(METHODS.iter().map(|(name, _)| *name)),
        );
        for dataset in self.datasets() {
            let cells = METHODS.iter().map(|(name, _)| format_mean_sd(&self.accuracy(dataset, name), 1));
            table.push([dataset.to_owned()].into_iter().chain(cells));
        }
        table
    }

    /// Numbers of directions.
    pub fn direction_table(&self) -> Table {
        let mut table = Table::new(
            "Directions of kernel space: total / selected, on average",
            ["data set"].into_iter().chain(SELECTING),
        );
        for dataset in self.datasets() {
            let cells = SELECTING.map(|name| {
                let average = |quantity| mean(&self.values(dataset, name, quantity));
                format!("{:.0} / {:.0}", average("directions"), average("selected"))
            });
            table.push([dataset.to_owned()].into_iter().chain(cells));
        }
        table
    }
}
