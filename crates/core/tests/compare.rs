//! Comparisons: no information leaks from test rows, and an interrupted run loses no results.

use kernsift::data::{BuiltIn, Dataset, Fold, ImputeStrategy, SplitRule, Splits, Target, Weights};
use kernsift::evaluate::{
    Candidate, Compare, Evaluator, EvaluatorChoice, External, ExternalComparison, FoldSelection, Measure,
    Method, ResultsLog, SplitChoice, Summary, cost_path, counts_around,
};
use kernsift::internals::Rng;
use kernsift::select::{FeatureCount, FisherScore, SelectorMethod};
use kernsift::space::SPACES;
use kernsift::{Context, Error, Observer, Selector};
use ndarray::Array2;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn compare(methods: &[&str], counts: &[usize], folds: usize) -> Compare {
    Compare {
        candidates: methods.iter().map(|name| Candidate::parse(name).unwrap()).collect(),
        counts: counts.to_vec(),
        splits: SplitChoice::Generated(Splits::Folds { folds, repeats: 1 }),
        stratify: true,
        evaluator: Evaluator::by_name("knn").unwrap().into(),
        scale: true,
        impute: ImputeStrategy::Mean,
        baseline: true,
        train_sizes: vec![],
        latest: false,
    }
}

fn run(compare: &Compare, data: &Dataset) -> ResultsLog {
    let mut log = ResultsLog::in_memory();
    compare.run(data, "test", &mut log, &Context::default()).unwrap();
    log
}

fn built_in(name: &str) -> Dataset {
    BuiltIn::by_name(name).unwrap().data().unwrap()
}

/// Features and classes that are independent.
fn noise(n: usize, d: usize, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed);
    let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    let mut codes: Vec<usize> = (0..n).map(|i| i % 2).collect();
    rng.shuffle(&mut codes);
    Dataset::labeled(x, codes).unwrap()
}

fn selectors_of(target: &Target) -> Vec<String> {
    // The automatic selector runs others in all folds: two of them are enough here.
    let name = |label: String| if label == "auto" { "auto:cv=2".to_owned() } else { label };
    Candidate::all_for(target).into_iter().map(|c| name(c.label)).collect()
}

fn all_methods() -> Vec<String> {
    let target = Target::Classes(kernsift::data::Classes::from_codes(vec![0, 1]));
    let columns = selectors_of(&target).into_iter();
    columns.chain(SPACES.iter().map(|info| info.name.to_owned())).chain(["random".to_owned()]).collect()
}

#[test]
fn noise_scores_at_chance_unless_selection_uses_test_rows() {
    let methods = all_methods();
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    let mut compare = compare(&names, &[4], 3);
    let mut mean = vec![0.0; methods.len()];
    let mut leaking = 0.0;
    const SETS: u64 = 4;
    for seed in 0..SETS {
        let data = noise(80, 120, seed);
        compare.evaluator = Evaluator::by_name(if seed % 2 == 0 { "knn" } else { "svm" }).unwrap().into();
        let log = run(&compare, &data);
        assert!(
            log.results().all(|r| r.failed.is_none()),
            "{:?}",
            log.results().find(|r| r.failed.is_some())
        );
        let summary = Summary::of(&log, &methods, &[4], Measure::Error);
        for (mean, method) in mean.iter_mut().zip(&summary.methods) {
            *mean += method.cells[0].unwrap().mean / SETS as f64;
        }
        // The mistake to detect: selection on all rows, cross-validation only for the evaluator.
        let selection =
            FisherScore::default().select(&data, FeatureCount::Count(4), &Context::default()).unwrap();
        let log = run(&compare, &data.take_columns(selection.selected()));
        let summary = Summary::of(&log, &methods[..1], &[4], Measure::Error);
        leaking += summary.all_features.unwrap().mean / SETS as f64;
    }
    // The error of 320 random predictions has a standard deviation of 0.028, and somewhat more because predictions
    // share training rows. 0.12 is about four standard deviations.
    for (method, mean) in methods.iter().zip(&mean) {
        assert!((mean - 0.5).abs() < 0.12, "{method}: {mean}");
    }
    assert!(leaking < 0.38, "a leak would not be detected: {leaking}");
}

/// Changing the values and classes of test rows must not change what is learned.
#[test]
fn selection_and_tuning_do_not_depend_on_test_rows() {
    let wine = built_in("wine");
    let fold = Splits::default().split(wine.target(), wine.n(), 0).unwrap().remove(0);
    let mut methods = all_methods();
    methods.push("takes:tune=gamma".into());
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    let mut compare = compare(&names, &[1, 3, 5], 5);
    compare.splits = SplitChoice::Given(vec![fold.clone()]);
    compare.evaluator = Evaluator::by_name("svm").unwrap().into();
    let with_missing = |data: &Dataset| {
        // Training rows have missing values, so that imputation is learned too.
        let mut x = data.x().to_dense();
        fold.train.iter().step_by(7).for_each(|&row| x[[row, row % 13]] = f64::NAN);
        Dataset::with_missing(data.names().to_vec(), x, data.target().clone()).unwrap()
    };
    let Target::Classes(classes) = wine.target() else { panic!("wine has classes") };
    let (mut x, mut classes) = (wine.x().to_dense(), classes.clone());
    for &row in &fold.test {
        x.row_mut(row).mapv_inplace(|v| 1000.0 - 50.0 * v);
        classes.codes[row] = (classes.codes[row] + 1) % 3;
    }
    let altered = Dataset::new(wine.names().to_vec(), x, Target::Classes(classes)).unwrap();
    let (plain, altered) = (run(&compare, &with_missing(&wine)), run(&compare, &with_missing(&altered)));
    let mut errors_differ = false;
    for (a, b) in plain.results().zip(altered.results()) {
        assert!(a.failed.is_none(), "{a:?}");
        assert_eq!(
            (&a.features, &a.directions, &a.chosen),
            (&b.features, &b.directions, &b.chosen),
            "{}",
            a.method
        );
        errors_differ |= a.scores != b.scores;
    }
    assert!(errors_differ, "the test rows were altered, so scores must change");
}

/// Thirty patients with six almost equal rows each, and a class per patient that no feature predicts.
fn patients() -> (Dataset, Vec<usize>) {
    let mut rng = Rng::new(9);
    let of_patient = Array2::from_shape_simple_fn((30, 5), || rng.normal());
    let mut classes: Vec<usize> = (0..30).map(|i| i % 2).collect();
    rng.shuffle(&mut classes);
    let groups: Vec<usize> = (0..180).map(|i| i % 30).collect();
    let x = Array2::from_shape_fn((180, 5), |(i, j)| of_patient[[groups[i], j]] + 0.05 * rng.normal());
    (Dataset::labeled(x, groups.iter().map(|&g| classes[g]).collect()).unwrap(), groups)
}

#[test]
fn groups_remove_the_leak_of_repeated_rows() {
    let (data, groups) = patients();
    let grouped = data.clone().with_split_rule(SplitRule::groups(groups, "patient").unwrap()).unwrap();
    for evaluator in ["knn", "svm"] {
        let evaluator: EvaluatorChoice = Evaluator::by_name(evaluator).unwrap().into();
        let compare = Compare { evaluator, ..compare(&["fisher"], &[4], 5) };
        let error = |data: &Dataset| {
            let summary = Summary::of(&run(&compare, data), &["fisher".into()], &[4], Measure::Error);
            summary.methods[0].cells[0].unwrap().mean
        };
        // Rows of a patient identify it; the guess of 30 patients has a standard deviation of 0.09.
        assert!(error(&data) < 0.1 && error(&grouped) > 0.3, "{} {}", error(&data), error(&grouped));
    }
    let record = run(&compare(&["fisher"], &[4], 5), &grouped).text();
    assert!(record.contains("\"split_by\":\"groups\""), "{record}");
    let many = Compare {
        splits: SplitChoice::Generated(Splits::Folds { folds: 31, repeats: 1 }),
        ..compare(&["fisher"], &[4], 5)
    };
    let error = many.run(&grouped, "p", &mut ResultsLog::in_memory(), &Context::default()).unwrap_err();
    assert!(error.to_string().contains("from 2 to the number of groups, 30, got 31"), "{error}");
}

/// Another library that evaluates as the built-in evaluator does gets the same record.
#[test]
fn an_external_evaluation_is_that_of_the_runner() {
    let wine = Arc::new(built_in("wine"));
    let internal = compare(&["fisher", "relief", "takes", "relief:n_neighbors=46,clip=false"], &[1, 3], 3);
    let evaluator = Evaluator::by_name("knn").unwrap();
    let named = External { name: "knn".into(), description: "knn()".into() };
    let external = Compare { evaluator: EvaluatorChoice::External(named), ..internal.clone() };
    let ctx = Context::default();
    let mut comparison =
        ExternalComparison::begin(&external, wine.clone(), "test", ResultsLog::in_memory(), &ctx).unwrap();
    for task in 0..comparison.n_tasks() {
        let (selections, cost) = comparison.select(task, None, &ctx).unwrap().unwrap();
        let (_, fold) = comparison.task(task);
        let records = selections.into_iter().map(|FoldSelection { record, rows }| match rows {
            None => record,
            Some((train, test, _)) => {
                let train = Dataset::with_target(train, wine.target_of(&fold.train)).unwrap();
                let found = evaluator
                    .evaluate(&train, &test, &wine.target_of(&fold.test), Weights::ONE, &ctx)
                    .unwrap();
                kernsift::evaluate::Record { scores: found.scores, ..record }
            }
        });
        let records = records.collect();
        comparison.add(records, cost).unwrap();
    }
    comparison.finish().unwrap();
    let results = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(results(&comparison.log().text()), results(&run(&internal, &wine).text()));
    let error = external.run(&wine, "test", &mut ResultsLog::in_memory(), &ctx).unwrap_err().to_string();
    assert!(error.contains("must be one of the library, got knn"), "{error}");
}

#[test]
fn scores_must_fit_the_target_and_the_evaluator() {
    let (wine, boston) = (built_in("wine"), built_in("boston"));
    let check = |measure: Measure, data: &Dataset, name: &str| {
        measure.check(data.target(), &Evaluator::by_name(name).unwrap()).map_err(|error| error.to_string())
    };
    for name in ["svm", "linear-svm"] {
        assert_eq!(check(Measure::Auc, &wine, name), Ok(()));
        assert!(
            check(Measure::LogLoss, &wine, name).unwrap_err().contains("use the evaluator knn or kernel-knn")
        );
    }
    assert_eq!(check(Measure::LogLoss, &wine, "knn"), Ok(()));
    assert!(check(Measure::Rmse, &wine, "knn").unwrap_err().contains("for classification, got rmse"));
    assert!(
        check(Measure::F1, &boston, "ridge").unwrap_err().contains("one of r2, rmse, mae for regression")
    );
    assert_eq!(check(Measure::Mae, &boston, "ridge"), Ok(()));
}

#[test]
fn relevant_features_have_smaller_errors() {
    let wine = built_in("wine");
    let compare = compare(&["fisher", "random"], &[2], 5);
    let log = run(&compare, &wine);
    let summary = Summary::of(&log, &["fisher".into(), "random".into()], &[2], Measure::Error);
    let (fisher, random) = (summary.methods[0].cells[0].unwrap(), summary.methods[1].cells[0].unwrap());
    assert!(fisher.best && fisher.p.is_none() && fisher.mean < 0.15);
    assert!(!random.best && random.mean > fisher.mean);
    assert!(summary.all_features.unwrap().mean < 0.1);
}

#[test]
fn regression_is_evaluated_by_r_squared() {
    let boston = built_in("boston");
    assert!(matches!(boston.target(), Target::Continuous(_)));
    let methods = selectors_of(boston.target());
    assert!(methods.len() >= 3, "{methods:?}");
    for (evaluator, methods) in [("ridge", &methods[..]), ("knn", &methods[1..2])] {
        let names: Vec<&str> = methods.iter().map(String::as_str).collect();
        let compare =
            Compare { evaluator: Evaluator::by_name(evaluator).unwrap().into(), ..compare(&names, &[3], 3) };
        let log = run(&compare, &boston);
        assert!(log.results().all(|r| r.failed.is_none()));
        let summary = Summary::of(&log, methods, &[3], Measure::R2);
        let best = summary.methods.iter().map(|m| m.cells[0].unwrap().mean).fold(0.0, f64::max);
        assert!(best > 0.6 && summary.all_features.unwrap().mean > 0.6, "{evaluator}: {best}");
    }
}

/// The rows of a learning curve: the recorded order gives the training rows, and sizes can be added.
#[test]
fn a_learning_curve_resumes_and_is_that_of_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let wine = built_in("wine");
    let sizes = |sizes: &[usize]| Compare {
        train_sizes: sizes.to_vec(),
        ..compare(&["fisher", "random"], &[2, 4], 3)
    };
    let path = folder.path().join("r.jsonl");
    for part in [&[60][..], &[30, 60], &[110, 30]] {
        let mut log = ResultsLog::open(&path).unwrap();
        sizes(part).run(&wine, "test", &mut log, &Context::default()).unwrap();
    }
    let log = run(&sizes(&[30, 60, 110]), &wine);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), log.text());
    assert_eq!(log.results().count(), 3 * 3 * (2 * 2 + 1));

    // By hand: given splits with these rows have the same scores.
    let folds = log.run().unwrap().folds.iter().map(|split| {
        let mut train = split.order.as_ref().unwrap()[..60].to_vec();
        train.sort_unstable();
        Fold { train, test: split.test.clone() }
    });
    let given = Compare { splits: SplitChoice::Given(folds.collect()), ..compare(&["fisher"], &[2, 4], 3) };
    let by_hand = run(&given, &wine);
    for record in log.results().filter(|r| r.train_rows == Some(60) && r.method == "fisher") {
        let same =
            by_hand.results().find(|r| (&r.method, r.fold, r.k) == (&record.method, record.fold, record.k));
        let same = same.unwrap();
        assert_eq!((same.scores, &same.features), (record.scores, &record.features));
    }
    let labels = ["fisher".to_owned(), "random".to_owned()];
    let curve = Summary::learning_curve(&log, &labels, &[2, 4], &Measure::Error.into(), &[110, 30, 60]);
    let error = |at: usize| curve[at].methods[0].cells[1].unwrap().mean;
    assert_eq!(curve.iter().map(|s| s.train_rows).collect::<Vec<_>>(), [Some(30), Some(60), Some(110)]);
    assert!(error(2) < error(0), "{} {}", error(2), error(0));
    let text = |sizes: Compare| sizes.check(&wine, &Context::default()).unwrap_err().to_string();
    assert!(
        text(sizes(&[60, 119])).contains("at most 118, the training rows of the smallest split, got 119")
    );
    assert!(text(sizes(&[1, 60])).contains("at least 2, two rows, got 1"));
}

#[test]
fn predictions_are_those_of_the_records() {
    let wine = built_in("wine");
    let labels = ["fisher", "relief", "takes"].map(str::to_owned);
    for evaluator in ["knn", "svm"] {
        let evaluator: EvaluatorChoice = Evaluator::by_name(evaluator).unwrap().into();
        let compare =
            Compare { evaluator: evaluator.clone(), ..compare(&["fisher", "relief", "takes"], &[1, 3], 3) };
        let log = run(&compare, &wine);
        for label in &labels {
            let summary = Summary::of(&log, std::slice::from_ref(label), &[3], Measure::Error);
            let simplest = summary.simplest.unwrap();
            let found = compare.predictions(&wine, &log, (&simplest, None), &Context::default()).unwrap();
            let tested: f64 = found.confusion.iter().flatten().sum();
            assert_eq!((tested, found.classes.len(), &found.method), (178.0, 3, label));
            // Folds have 59 or 60 rows, so that the mean of their errors is not exactly that of all rows.
            let errors: Vec<(f64, usize)> = log
                .results()
                .filter(|r| r.method == *label && r.k == 3)
                .map(|r| (r.scores.error.unwrap(), log.run().unwrap().folds[r.fold].test.len()))
                .collect();
            let wrong: f64 = errors.iter().map(|(error, n)| error * *n as f64).sum();
            assert!((found.error() - wrong / 178.0).abs() < 1e-12, "{label}");
            assert_eq!(found.calibration.is_some(), evaluator.name() == "knn");
        }
    }
}

/// Interrupts after some checks.
struct StopAfter(AtomicUsize);

impl Observer for StopAfter {
    fn interrupted(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |remaining| remaining.checked_sub(1))
            .is_err()
    }
}

#[test]
fn an_interrupted_and_resumed_run_writes_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let wine = built_in("wine");
    let compare = compare(&["fisher", "relief", "ffs", "takes", "l1-svm"], &[1, 2, 4], 4);
    let full = folder.path().join("full.jsonl");
    compare.run(&wine, "wine", &mut ResultsLog::open(&full).unwrap(), &Context::default()).unwrap();
    let expected = std::fs::read_to_string(&full).unwrap();
    assert_eq!(
        expected,
        run(&Compare { ..compare.clone() }, &wine).text().replace("\"data\":\"test\"", "\"data\":\"wine\"")
    );
    let mut rng = Rng::new(7);
    for round in 0..5 {
        let path = folder.path().join(format!("{round}.jsonl"));
        let mut stops = 0;
        let mut results = 0;
        loop {
            // Longer every time: some tasks check for interrupts many times.
            let observer = StopAfter(AtomicUsize::new(5 + rng.below(200) + 40 * stops));
            let ctx = Context { observer: &observer, ..Context::default() };
            let mut log = ResultsLog::open(&path).unwrap();
            assert!(log.results().count() >= results, "nothing is lost");
            results = log.results().count();
            match compare.run(&wine, "wine", &mut log, &ctx) {
                Ok(()) => break,
                Err(Error::Interrupted) => stops += 1,
                Err(error) => panic!("{error}"),
            }
            drop(log);
            // Truncate the file, like a kill during a write.
            let bytes = std::fs::read(&path).unwrap();
            let cut = rng.below(40).min(bytes.len() / 2);
            if round % 2 == 1 {
                std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
                results = 0;
            }
            assert!(stops < 10_000, "the run makes progress");
        }
        assert!(stops > 0, "the run was interrupted");
        let costs = std::fs::read_to_string(cost_path(&path)).unwrap();
        assert_eq!(
            costs.lines().count(),
            6 * 4,
            "one cost per method and split, however often the run was interrupted"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "round {round}");
        // A repeated run computes nothing.
        let before = std::fs::read(cost_path(&path)).unwrap();
        compare.run(&wine, "wine", &mut ResultsLog::open(&path).unwrap(), &Context::default()).unwrap();
        assert_eq!(std::fs::read(cost_path(&path)).unwrap(), before);
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let wine = built_in("wine");
    let methods = all_methods();
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    let compare =
        Compare { evaluator: Evaluator::by_name("svm").unwrap().into(), ..compare(&names, &[2, 3], 3) };
    let text = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&compare, &wine).text())
    };
    let one = text(1);
    assert_eq!(one, text(3));
}

#[test]
fn a_record_can_grow_but_not_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    let wine = built_in("wine");
    let go = |compare: &Compare, data: &Dataset, seed: u64| {
        let mut log = ResultsLog::open(&path).unwrap();
        let ctx = Context { seed, ..Context::default() };
        compare.run(data, "wine", &mut log, &ctx).map_err(|error| error.to_string())
    };
    go(&compare(&["fisher"], &[1], 3), &wine, 0).unwrap();
    go(&compare(&["fisher", "relief"], &[1, 2], 3), &wine, 0).unwrap();
    let grown = std::fs::read_to_string(&path).unwrap();
    let direct = run(&compare(&["fisher", "relief"], &[1, 2], 3), &wine).text();
    assert_eq!(grown, direct.replace("\"data\":\"test\"", "\"data\":\"wine\""));
    let base = compare(&["fisher"], &[1], 3);
    let refused = |result: std::result::Result<(), String>, what: &str| {
        let error = result.unwrap_err();
        assert!(error.contains("runs.jsonl") && error.contains(what), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), grown, "nothing is written");
    };
    refused(go(&base, &built_in("iris"), 0), "the record is of other data");
    refused(go(&base, &wine, 1), "the record is of seed 0");
    refused(go(&compare(&["fisher"], &[1], 4), &wine, 0), "the record is of other splits");
    refused(go(&Compare { scale: false, ..base.clone() }, &wine, 0), "the record is of another scaling");
    let evaluator = Evaluator::by_name("kernel-knn").unwrap();
    refused(
        go(&Compare { evaluator: evaluator.into(), ..base.clone() }, &wine, 0),
        "the record is of another evaluator",
    );
    let mut other = compare(&["relief:n_neighbors=3"], &[1], 3);
    other.candidates[0].label = "relief".into();
    other.candidates.insert(0, Candidate::parse("ffs").unwrap());
    refused(go(&other, &wine, 0), "the record is of relief with other parameters");
    // A concurrent run.
    let _first = ResultsLog::open(&path).unwrap();
    let second = ResultsLog::open(&path).err().unwrap().to_string();
    assert!(second.contains("another run is writing to it"), "{second}");
}

#[test]
fn files_that_are_not_records_are_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("notes.txt", "my only copy"),
        ("table.csv", "a,b\n1,2\n"),
        ("other.json", "{\"a\": 1}\n"),
        ("list.json", "{\"a\": 1}"),
        ("lines.txt", "a\nb"),
        ("cut.csv", "a,b\n1,2\n3,4"),
        ("orphan.jsonl", "{\"kind\":\"result\",\"method\":\"x\",\"repeat\":0,\"fold\":0,\"k\":1}\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let error = ResultsLog::open(&path).err().unwrap().to_string();
        assert!(error.contains(name) && error.contains("line 1") && error.contains("use another"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        // The same for the cost file of a new record.
        let costs = folder.path().join(format!("new-{name}"));
        std::fs::write(cost_path(&costs), content).unwrap();
        assert!(ResultsLog::open(&costs).is_err(), "{name}");
        assert_eq!(std::fs::read_to_string(cost_path(&costs)).unwrap(), content);
    }
}

#[test]
fn invalid_comparisons_are_rejected_before_any_work() {
    let wine = built_in("wine");
    let error = |compare: &Compare, data: &Dataset| {
        compare.run(data, "x", &mut ResultsLog::in_memory(), &Context::default()).unwrap_err().to_string()
    };
    let base = compare(&["fisher"], &[1], 3);
    // Parameters that are invalid for every split are reported immediately.
    let invalid = compare(&["fisher", "relief:n_neighbors=100,clip=false"], &[1], 3);
    assert!(error(&invalid, &wine).contains("'n_neighbors'"));
    let one_class = wine.take_rows(&(0..40).collect::<Vec<_>>());
    assert!(error(&base, &one_class).contains("all rows have the class"));
    assert!(
        error(&compare(&["fisher"], &[14], 3), &wine).contains("from 1 to the number of columns, 13, got 14")
    );
    assert!(error(&compare(&["fisher"], &[0], 3), &wine).contains("got 0"));
    assert!(error(&compare(&["fisher", "fisher"], &[1], 3), &wine).contains("'methods' must be different"));
    assert!(error(&compare(&[], &[1], 3), &wine).contains("'methods' must be at least one"));
    let boston = built_in("boston");
    assert!(
        error(&base, &wine.take_rows(&[0, 177])).contains("'folds' must be from 2 to the number of rows, 2")
    );
    let svm = Compare { evaluator: Evaluator::by_name("svm").unwrap().into(), ..base.clone() };
    assert!(error(&svm, &boston).contains("ridge or knn for a continuous target, got svm"));
    let ridge = Compare { evaluator: Evaluator::by_name("ridge").unwrap().into(), ..base.clone() };
    assert!(error(&ridge, &wine).contains("for classes, got ridge"));
    let given = |train: Vec<usize>, test: Vec<usize>| Compare {
        splits: SplitChoice::Given(vec![Fold { train, test }]),
        ..base.clone()
    };
    assert!(error(&given(vec![0, 1], vec![1, 2]), &wine).contains("row 2 twice"));
    assert!(error(&given(vec![0, 500], vec![1]), &wine).contains("below 178, got 500"));
    assert!(error(&given(vec![0, 1], vec![]), &wine).contains("no test rows"));
    // A method that fails in a fold is reported; it is not fatal.
    // The smallest class has 48 rows, and 32 in the training rows of a fold.
    let few = compare(&["relief:n_neighbors=40,clip=false", "fisher"], &[1], 3);
    let log = run(&few, &wine);
    let failed: Vec<_> = log.results().filter(|r| r.failed.is_some()).map(|r| r.method.clone()).collect();
    assert_eq!(failed, ["relief:n_neighbors=40,clip=false"; 3]);
    let summary = Summary::of(&log, &[few.candidates[0].label.clone()], &[1], Measure::Error);
    assert!(summary.methods[0].failure.as_ref().unwrap().contains("n_neighbors"));
    let Method::Columns(SelectorMethod::Relief(_)) = few.candidates[0].method else { panic!("relief") };
}

#[test]
fn counts_around_include_the_given_number() {
    assert_eq!(counts_around(5, 13), [1, 2, 3, 4, 5, 6, 8]);
    assert_eq!(counts_around(1, 1), [1]);
    assert_eq!(counts_around(40, 20_000), [6, 8, 12, 16, 24, 32, 40, 48, 64]);
    assert_eq!(counts_around(1000, 20_000), [128, 192, 256, 1000]);
}
