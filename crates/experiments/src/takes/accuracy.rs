//! Figures 2 and 3: accuracy against the number of features on six sets.

use crate::contest::Contest;
use crate::ledger::{Ledger, Numbers};
use crate::paper::Settings;
use crate::sets::{built_in, fold_of, scaled};
use crate::statistics::{mean, spread};
use crate::study::{Section, Table, Verdict};
use kernsift::basis::{BasisMethod, Discriminant, Kobl};
use kernsift::classify::Knnc;
use kernsift::data::{Fold, ImputeStrategy};
use kernsift::evaluate::{Candidate, Compare, Evaluator, Neighbors, SplitChoice};
use kernsift::kernel::KernelChoice;
use kernsift::random::Rng;
use kernsift::select::{FeatureCount, Ffs, SelectorMethod, WeakLearner};
use kernsift::space::{KernelSpaceSelector, Tune};
use kernsift::{Context, Dataset, Result};
use kernsift_report::{Line, Picture, Places};

/// The sets, what the paper calls them, and how many rows of each are for training.
const SETS: [(&str, &str, usize); 6] = [
    ("australian", "Australian", 345),
    ("pima", "Diabetes", 468),
    ("heart", "Heart", 170),
    ("ionosphere", "Ionosphere", 281),
    ("sonar", "Sonar", 166),
    ("thyroid_2class", "Thyroid", 140),
];

/// Those of a quick run.
const QUICK: [&str; 2] = ["heart", "thyroid_2class"];

/// Numbers of features in the curves.
const COUNTS: [usize; 13] = [1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50, 60];

/// The most directions of TAKES, as a share of the training rows.
const MOST: f64 = 0.3;

fn sets(settings: &Settings) -> impl Iterator<Item = (&'static str, &'static str, usize)> {
    SETS.into_iter().filter(|(name, ..)| !settings.quick || QUICK.contains(name))
}

/// Methods that choose their number of features themselves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Takes(Weak),
    Tuned,
    TunedFreely,
    Pair(&'static str),
    Kda,
    Knnc,
    KnncChosen,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Weak {
    Klms,
    Quantised,
    Stumps,
}

/// Tuned TAKES without a limit on directions.
const FREE: &str = "TAKES, tuned, any number of directions";

const METHODS: [(&str, Method); 11] = [
    ("TAKES", Method::Takes(Weak::Klms)),
    ("TAKES, tuned", Method::Tuned),
    ("KGS+KFFS", Method::Pair("kgs-kffs")),
    ("FSKGS", Method::Pair("fskgs")),
    ("FSKPCA", Method::Pair("fskpca")),
    ("KDA", Method::Kda),
    ("KNNC", Method::Knnc),
    ("TAKES, quantised KLMS", Method::Takes(Weak::Quantised)),
    ("TAKES, stumps", Method::Takes(Weak::Stumps)),
    (FREE, Method::TunedFreely),
    ("KNNC, number of neighbours chosen", Method::KnncChosen),
];

/// Those of them that keep some of many directions.
const KEEPING: [&str; 6] = ["TAKES", "TAKES, tuned", FREE, "KGS+KFFS", "FSKGS", "FSKPCA"];

/// KOBL, with directions for at most a share of `n` rows.
fn kobl(n: usize) -> BasisMethod {
    BasisMethod::Kobl(Kobl { n_components: Some((MOST * n as f64) as usize), ..Kobl::default() })
}

impl Method {
    fn space(self, n: usize) -> Result<Option<KernelSpaceSelector>> {
        let takes = || KernelSpaceSelector { basis: kobl(n), ..KernelSpaceSelector::takes() };
        Ok(match self {
            Self::Takes(weak) => {
                let mut space = takes();
                if let Some(SelectorMethod::Ffs(ffs)) = &mut space.selector {
                    *ffs = match weak {
                        Weak::Klms => Ffs { weak_learner: WeakLearner::Klms, ..Ffs::default() },
                        Weak::Quantised => Ffs {
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
            Self::TunedFreely => {
                Some(KernelSpaceSelector { tune: Tune::Everything, ..KernelSpaceSelector::takes() })
            }
            Self::Pair(name) => Some(KernelSpaceSelector::by_name(name)?),
            Self::Kda => {
                let basis = BasisMethod::Discriminant(Discriminant::default());
                Some(KernelSpaceSelector { basis, selector: None, ..KernelSpaceSelector::default() })
            }
            Self::Knnc | Self::KnncChosen => None,
        })
    }

    /// Accuracy in per cent on one split, directions of the basis, and how many were kept.
    fn judged(self, data: &Dataset, fold: &Fold, ctx: &Context) -> Result<Numbers> {
        let (train, test) = scaled(data, fold)?;
        let mut numbers = Numbers::new();
        let predicted = match (self, self.space(train.n())?) {
            (_, Some(space)) => {
                let fitted = space.fit(&train, FeatureCount::Auto, ctx)?;
                numbers.insert("directions".into(), fitted.map().n_components() as f64);
                numbers.insert("kept".into(), fitted.selection().n_selected as f64);
                fitted.predict(test.x(), ctx)?
            }
            (Self::KnncChosen, None) => knnc(&train, &test, chosen_neighbours(&train, ctx)?, ctx)?,
            (_, None) => knnc(&train, &test, 1, ctx)?,
        };
        let right = predicted.iter().zip(&test.classes("test")?.codes).filter(|(a, b)| a == b).count();
        numbers.insert("accuracy".into(), 100.0 * right as f64 / test.n() as f64);
        Ok(numbers)
    }
}

fn knnc(train: &Dataset, test: &Dataset, n_neighbors: usize, ctx: &Context) -> Result<Vec<usize>> {
    Knnc::fit(&KernelChoice::default(), train, n_neighbors, ctx)?.predict(test.x(), ctx)
}

/// A number of neighbours chosen inside the training rows, by five times five folds.
fn chosen_neighbours(train: &Dataset, ctx: &Context) -> Result<usize> {
    let numbers = [1, 3, 5, 9, 15, 21];
    let mut hits = [0; 6];
    let mut rng = Rng::stream(ctx.seed, "folds");
    for _ in 0..5 {
        let mut order: Vec<usize> = (0..train.n()).collect();
        rng.shuffle(&mut order);
        for fold in 0..5 {
            let (inner, judge): (Vec<usize>, Vec<usize>) = (0..train.n()).partition(|i| i % 5 != fold);
            let rows =
                |places: &[usize]| train.take_rows(&places.iter().map(|&i| order[i]).collect::<Vec<_>>());
            let (inner, judge) = (rows(&inner), rows(&judge));
            for (hits, n_neighbors) in hits.iter_mut().zip(numbers) {
                let predicted = knnc(&inner, &judge, n_neighbors, ctx)?;
                *hits += predicted.iter().zip(&judge.classes("folds")?.codes).filter(|(a, b)| a == b).count();
            }
        }
    }
    let best = (0..6).rev().max_by_key(|&i| hits[i]).unwrap_or(0);
    Ok(numbers[best])
}

/// Of each set and method the numbers of all splits.
pub struct OwnNumbers(Vec<(&'static str, Vec<Vec<Numbers>>)>);

impl OwnNumbers {
    /// Measures what is not known.
    pub fn measure(ledger: &mut Ledger, settings: &Settings, ctx: &Context) -> Result<Self> {
        let seeds = settings.seeds(ctx);
        let all = sets(settings).map(|(set, _, rows)| {
            let data = built_in(set)?;
            let jobs: Vec<(&str, Method, u64)> = METHODS
                .iter()
                .flat_map(|&(name, method)| seeds.iter().map(move |&seed| (name, method, seed)))
                .collect();
            let names: Vec<String> =
                jobs.iter().map(|(name, _, seed)| format!("accuracy, {set}, {name}, split {seed}")).collect();
            let numbers = ledger.measure(&format!("accuracy, {set}"), &names, ctx, |i, ctx| {
                let (_, method, seed) = jobs[i];
                method.judged(&data, &fold_of(data.n(), rows, seed), &Context { seed, ..*ctx })
            })?;
            Ok((set, numbers.chunks(seeds.len()).map(<[Numbers]>::to_vec).collect()))
        });
        Ok(Self(all.collect::<Result<_>>()?))
    }

    fn column(&self, set: &str, method: &str, number: &str) -> Vec<f64> {
        let place = METHODS.iter().position(|(name, _)| *name == method).expect("a method of the list");
        let (_, methods) = self.0.iter().find(|(name, _)| *name == set).expect("a set that was run");
        methods[place].iter().map(|numbers| numbers[number]).collect()
    }

    /// The difference of two methods' mean accuracies on each set, in points.
    pub fn differences(&self, a: &str, b: &str) -> Vec<f64> {
        let mean_of = |set, method| mean(&self.column(set, method, "accuracy"));
        self.0.iter().map(|(set, _)| mean_of(set, a) - mean_of(set, b)).collect()
    }

    fn table(&self) -> Table {
        let mut table = Table::new(
            "Accuracy in per cent, each method with its own number of features",
            ["set"].into_iter().chain(METHODS.iter().map(|(name, _)| *name)),
        );
        for (set, _) in &self.0 {
            let cells = METHODS.iter().map(|(name, _)| spread(&self.column(set, name, "accuracy"), 1));
            table.push([(*set).to_owned()].into_iter().chain(cells));
        }
        table
    }

    fn kept(&self) -> Table {
        let mut table = Table::new(
            "Directions of kernel space: found / kept, on average",
            ["set"].into_iter().chain(KEEPING),
        );
        for (set, _) in &self.0 {
            let cells = KEEPING.map(|name| {
                let number = |what| mean(&self.column(set, name, what));
                format!("{:.0} / {:.0}", number("directions"), number("kept"))
            });
            table.push([(*set).to_owned()].into_iter().chain(cells));
        }
        table
    }
}

/// Figures 2 and 3.
pub fn run(ledger: &mut Ledger, settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let own = OwnNumbers::measure(ledger, settings, ctx)?;
    let curves = sets(settings)
        .map(|(set, _, rows)| Ok((set, curves(set, rows, settings, ctx)?)))
        .collect::<Result<Vec<_>>>()?;
    Ok(vec![figure_2(&curves, settings), figure_3(&own, &curves)])
}

/// The four pairs with growing numbers of features.
fn curves(set: &str, rows: usize, settings: &Settings, ctx: &Context) -> Result<Contest> {
    let data = built_in(set)?;
    let folds = settings.seeds(ctx).into_iter().map(|seed| fold_of(data.n(), rows, seed)).collect();
    let candidates = ["takes", "kgs-kffs", "fskgs", "fskpca"].map(Candidate::parse);
    let compare = Compare {
        candidates: candidates.into_iter().collect::<Result<_>>()?,
        counts: COUNTS.into_iter().filter(|&k| k <= rows).collect(),
        splits: SplitChoice::Given(folds),
        evaluator: Evaluator::Knn(Neighbors { n_neighbors: 1 }),
        scale: true,
        fill: ImputeStrategy::Mean,
        baseline: true,
    };
    Contest::run(&compare, &data, &format!("takes-{set}"), &format!("figures, {set}"), settings, ctx)
}

fn printed_name(label: &str) -> String {
    match label {
        "takes" => "TAKES",
        "kgs-kffs" => "KGS+KFFS",
        "fskgs" => "FSKGS",
        "fskpca" => "FSKPCA",
        "all-columns" => "KNNC",
        other => other,
    }
    .to_owned()
}

/// TAKES minus another method at equal numbers of features, in points of accuracy.
fn at_equal_numbers(contest: &Contest, other: &str) -> Vec<(usize, f64)> {
    let counts = contest.summary.counts.iter();
    counts.filter_map(|&k| Some((k, contest.error(other, k)?.0 - contest.error("takes", k)?.0))).collect()
}

fn figure_2(curves: &[(&str, Contest)], settings: &Settings) -> Section {
    let mut table = Table::new(
        "Accuracy of TAKES minus that of KGS+KFFS, in points",
        ["set", "mean over numbers", "least", "at", "most", "at"],
    );
    let mut within = 0;
    let mut pictures = vec![];
    for (set, contest) in curves {
        let gains = at_equal_numbers(contest, "kgs-kffs");
        let average = mean(&gains.iter().map(|g| g.1).collect::<Vec<_>>());
        within += usize::from(average >= -2.0);
        let least = gains.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        let most = gains.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        table.push([
            (*set).to_owned(),
            format!("{average:+.1}"),
            format!("{:+.1}", least.1),
            least.0.to_string(),
            format!("{:+.1}", most.1),
            most.0.to_string(),
        ]);
        pictures.push(contest.picture(
            &format!("P0-F2-{set}"),
            &format!("{}: accuracy against number of features", paper_name(set)),
            printed_name,
            true,
        ));
    }
    let need = (2 * curves.len()).div_ceil(3);
    let mut section = Section::new(
        "P0-F2",
        "Figure 2, TAKES beside KGS+KFFS",
        "TAKES is as good as KGS+KFFS or better on most of six sets (a picture, no numbers).",
        &format!(
            "Random splits with the printed or usual numbers of training rows (345, 468, 170, 281, 166, 140), {}; columns standardised, median width, first k \
             features in the order of selection, nearest neighbour.",
            settings.splits_in_words()
        ),
        "TAKES within 2 points of KGS+KFFS at equal numbers of features, on average over them, on 4 of 6 sets.",
    )
    .found(Verdict::of(within >= need), format!("On {within} of {}.", curves.len()))
    .table(table)
    .remark(
        "Where TAKES has no value, KOBL found fewer directions than that on some split; KGS has as many as there are training rows.",
    );
    section.pictures = pictures;
    section
}

fn paper_name(set: &str) -> &'static str {
    SETS.iter().find(|(name, ..)| *name == set).map_or("", |(_, name, _)| name)
}

fn figure_3(own: &OwnNumbers, curves: &[(&str, Contest)]) -> Section {
    let (knnc, kda) = (own.differences("TAKES, tuned", "KNNC"), own.differences("TAKES, tuned", "KDA"));
    let least = knnc.iter().copied().fold(f64::INFINITY, f64::min);
    let above_kda = kda.iter().filter(|gain| **gain > 0.0).count();
    let above_knnc = knnc.iter().filter(|gain| **gain > 0.0).count();
    let need = (2 * knnc.len()).div_ceil(3);
    let plain = own.differences("TAKES", "KNNC");
    let free = own.differences(FREE, "KNNC");
    let chosen = own.differences("TAKES, tuned", "KNNC, number of neighbours chosen");
    let above_others = |other: &str| {
        let ahead = |contest: &Contest| {
            mean(&at_equal_numbers(contest, other).iter().map(|g| g.1).collect::<Vec<_>>())
        };
        curves.iter().filter(|(_, contest)| ahead(contest) > 0.0).count()
    };
    let n = knnc.len();
    let lines = METHODS[..7].iter().map(|(name, _)| Line {
        label: (*name).to_owned(),
        values: own
            .0
            .iter()
            .map(|(set, _)| Some(crate::statistics::mean_and_sd(&own.column(set, name, "accuracy"))))
            .collect(),
    });
    let picture = Picture {
        name: "P0-F3".into(),
        title: "Accuracy of each method with its own number of features".into(),
        across: "set".into(),
        up: "accuracy, %".into(),
        places: Places::Names(own.0.iter().map(|(set, _)| paper_name(set).to_owned()).collect()),
        lines: lines.collect(),
    };
    Section::new(
        "P0-F3",
        "Figure 3, TAKES beside KNNC, KDA, FSKGS and FSKPCA",
        "TAKES is better than KNNC and KDA on all six sets, than FSKGS and FSKPCA on almost all (a picture, no numbers).",
        "The same splits. Every method with the number of features that it chooses; TAKES with at most 0.3 N directions. Tuned: width, weak classifier, \
         weighting, number kept and number of neighbours by cross-validation inside the training rows.",
        "Weighted TAKES at least KNNC - 4 points on all six sets and better than KDA on 4 of 6.",
    )
    .found(
        Verdict::of(least >= -4.0 && above_kda >= need),
        format!(
            "Tuned TAKES is at the least {least:+.1} points from KNNC, above it on {above_knnc} of {n}, above KDA on {above_kda} of {n}.",
        ),
    )
    .table(own.table())
    .table(own.kept())
    .picture(picture)
    .remark(format!(
        "The strict claim does not hold. TAKES as printed is above KNNC on {} of {n} sets, at the least {:+.1} points from it: its stop, the first minimum \
         of the vote's training error, keeps few directions, and its weights mostly say when a direction joined. At equal numbers of features it is ahead of FSKGS \
         on {} and of FSKPCA on {} of {n} sets.",
        plain.iter().filter(|gain| **gain > 0.0).count(),
        plain.iter().copied().fold(f64::INFINITY, f64::min),
        above_others("fskgs"),
        above_others("fskpca"),
    ))
    .remark(format!(
        "Most of what tuning gains is the number of neighbours. Against KNNC with its number of neighbours chosen inside the training rows, tuned TAKES is above on {} of \
         {n} sets, at the least {:+.1} points from it.",
        chosen.iter().filter(|gain| **gain > 0.0).count(),
        chosen.iter().copied().fold(f64::INFINITY, f64::min),
    ))
    .remark(format!(
        "The limit of 0.3 N directions is part of the criterion, and costs most on ionosphere: without it tuned TAKES is at the least {:+.1} points from KNNC, above it on {} \
         of {n} sets and above KDA on {}.",
        free.iter().copied().fold(f64::INFINITY, f64::min),
        free.iter().filter(|gain| **gain > 0.0).count(),
        own.differences(FREE, "KDA").iter().filter(|gain| **gain > 0.0).count(),
    ))
    .remark(
        "The tuning was settled on splits with seeds 100 to 109 and then run on these: that guards against luck with splits, not with data sets.",
    )
}
