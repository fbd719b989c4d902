//! Comparisons: nothing leaks from test rows, nothing is lost when a run is stopped.

use kernsift::data::{BuiltIn, Dataset, Fold, ImputeStrategy, Prepare, Splits, Target};
use kernsift::evaluate::{
    Candidate, Compare, Evaluator, Measure, Method, ResultsLog, SplitChoice, Summary, cost_path,
    counts_around,
};
use kernsift::random::Rng;
use kernsift::select::{FeatureCount, FisherScore, SelectorMethod};
use kernsift::space::SPACES;
use kernsift::{Context, Error, Observer, Selector};
use ndarray::Array2;
use std::sync::atomic::{AtomicUsize, Ordering};

fn compare(methods: &[&str], counts: &[usize], folds: usize) -> Compare {
    Compare {
        candidates: methods.iter().map(|name| Candidate::parse(name).unwrap()).collect(),
        counts: counts.to_vec(),
        splits: SplitChoice::Generated(Splits::Folds { folds, repeats: 1 }),
        evaluator: Evaluator::by_name("knn").unwrap(),
        scale: true,
        impute: ImputeStrategy::Mean,
        baseline: true,
    }
}

fn run(compare: &Compare, data: &Dataset) -> ResultsLog {
    let mut log = ResultsLog::in_memory();
    compare.run(data, "test", &mut log, &Context::default()).unwrap();
    log
}

fn built_in(name: &str) -> Dataset {
    Prepare::default().fit(&BuiltIn::by_name(name).unwrap().table().unwrap()).unwrap().data
}

/// Columns and classes that have nothing to do with each other.
fn noise(n: usize, d: usize, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed);
    let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    let mut codes: Vec<usize> = (0..n).map(|i| i % 2).collect();
    rng.shuffle(&mut codes);
    Dataset::labeled(x, codes).unwrap()
}

fn every_method() -> Vec<String> {
    let target = Target::Classes(kernsift::data::Classes::from_codes(vec![0, 1]));
    let columns = Candidate::all_for(&target).into_iter().map(|c| c.label);
    columns.chain(SPACES.iter().map(|info| info.name.to_owned())).chain(["random".to_owned()]).collect()
}

#[test]
fn noise_scores_at_chance_with_every_method_and_would_not_if_selection_saw_the_test_rows() {
    let methods = every_method();
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    let mut compare = compare(&names, &[4], 5);
    let mut mean = vec![0.0; methods.len()];
    let mut leaking = 0.0;
    const SETS: u64 = 6;
    for seed in 0..SETS {
        let data = noise(80, 200, seed);
        compare.evaluator = Evaluator::by_name(if seed % 2 == 0 { "knn" } else { "svm" }).unwrap();
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
        // The mistake this guards against: selection on all rows, folds only for the evaluator.
        let selection =
            FisherScore::default().select(&data, FeatureCount::Count(4), &Context::default()).unwrap();
        let log = run(&compare, &data.take_columns(selection.selected()));
        let summary = Summary::of(&log, &methods[..1], &[4], Measure::Error);
        leaking += summary.all_features.unwrap().mean / SETS as f64;
    }
    // 480 predictions, each wrong by chance in half the cases: a standard deviation of 0.023, and somewhat more as
    // predictions of one set share their training rows. 0.1 is about four of them.
    for (method, mean) in methods.iter().zip(&mean) {
        assert!((mean - 0.5).abs() < 0.1, "{method}: {mean}");
    }
    assert!(leaking < 0.38, "the test could not tell: {leaking}");
}

/// Test rows with other numbers and classes: whatever is learned must not change.
#[test]
fn what_is_kept_and_chosen_does_not_depend_on_the_test_rows() {
    let wine = built_in("wine");
    let fold = Splits::default().split(wine.target(), wine.n(), 0).unwrap().remove(0);
    let mut methods = every_method();
    methods.push("takes:tune=gamma".into());
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    let mut compare = compare(&names, &[1, 3, 5], 5);
    compare.splits = SplitChoice::Given(vec![fold.clone()]);
    compare.evaluator = Evaluator::by_name("svm").unwrap();
    let gaps = |data: &Dataset| {
        // Some cells of training rows are empty, so that fill values are learned as well.
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
    let (plain, altered) = (run(&compare, &gaps(&wine)), run(&compare, &gaps(&altered)));
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

#[test]
fn relevant_columns_win() {
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
    let methods: Vec<String> = Candidate::all_for(boston.target()).into_iter().map(|c| c.label).collect();
    assert!(methods.len() >= 3, "{methods:?}");
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    for evaluator in ["ridge", "knn"] {
        let compare =
            Compare { evaluator: Evaluator::by_name(evaluator).unwrap(), ..compare(&names, &[3], 3) };
        let log = run(&compare, &boston);
        assert!(log.results().all(|r| r.failed.is_none()));
        let summary = Summary::of(&log, &methods, &[3], Measure::R2);
        let best = summary.methods.iter().map(|m| m.cells[0].unwrap().mean).fold(0.0, f64::max);
        assert!(best > 0.6 && summary.all_features.unwrap().mean > 0.6, "{evaluator}: {best}");
    }
}

/// Asks to stop after some steps.
struct StopAfter(AtomicUsize);

impl Observer for StopAfter {
    fn interrupted(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_run_that_was_stopped_again_and_again_ends_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let wine = built_in("wine");
    let compare = compare(&["fisher", "relief", "ffs", "takes", "l1-svm"], &[1, 2, 4], 4);
    let whole = folder.path().join("whole.jsonl");
    compare.run(&wine, "wine", &mut ResultsLog::open(&whole).unwrap(), &Context::default()).unwrap();
    let expected = std::fs::read_to_string(&whole).unwrap();
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
            // Longer every time: some pieces look many times before they are done.
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
            // What a kill in the middle of a write leaves.
            let bytes = std::fs::read(&path).unwrap();
            let torn = rng.below(40).min(bytes.len() / 2);
            if round % 2 == 1 {
                std::fs::write(&path, &bytes[..bytes.len() - torn]).unwrap();
                results = 0;
            }
            assert!(stops < 10_000, "it gets on");
        }
        assert!(stops > 0, "the run was stopped");
        let costs = std::fs::read_to_string(cost_path(&path)).unwrap();
        assert_eq!(
            costs.lines().count(),
            6 * 4,
            "one cost per method and split, however often it was stopped"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "round {round}");
        // Doing it again computes nothing.
        let before = std::fs::read(cost_path(&path)).unwrap();
        compare.run(&wine, "wine", &mut ResultsLog::open(&path).unwrap(), &Context::default()).unwrap();
        assert_eq!(std::fs::read(cost_path(&path)).unwrap(), before);
    }
}

#[test]
fn threads_do_not_matter() {
    let wine = built_in("wine");
    let methods = every_method();
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    let compare = Compare { evaluator: Evaluator::by_name("svm").unwrap(), ..compare(&names, &[2, 3], 3) };
    let text = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&compare, &wine).text())
    };
    let one = text(1);
    assert_eq!(one, text(2));
    assert_eq!(one, text(7));
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
    let usual = compare(&["fisher"], &[1], 3);
    let refused = |result: std::result::Result<(), String>, what: &str| {
        let error = result.unwrap_err();
        assert!(error.contains("runs.jsonl") && error.contains(what), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), grown, "nothing is written");
    };
    refused(go(&usual, &built_in("iris"), 0), "the record is of other data");
    refused(go(&usual, &wine, 1), "the record is of seed 0");
    refused(go(&compare(&["fisher"], &[1], 4), &wine, 0), "the record is of other splits");
    refused(go(&Compare { scale: false, ..usual.clone() }, &wine, 0), "the record is of another scaling");
    let evaluator = Evaluator::by_name("kernel-knn").unwrap();
    refused(go(&Compare { evaluator, ..usual.clone() }, &wine, 0), "the record is of another evaluator");
    let mut other = compare(&["relief:n_neighbors=3"], &[1], 3);
    other.candidates[0].label = "relief".into();
    other.candidates.insert(0, Candidate::parse("ffs").unwrap());
    refused(go(&other, &wine, 0), "the record is of relief with other parameters");
    // A second run at the same time.
    let _first = ResultsLog::open(&path).unwrap();
    let second = ResultsLog::open(&path).err().unwrap().to_string();
    assert!(second.contains("another run is writing to it"), "{second}");
}

#[test]
fn files_that_are_no_records_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("notes.txt", "my only copy"),
        ("table.csv", "a,b\n1,2\n"),
        ("other.json", "{\"a\": 1}\n"),
        ("list.json", "{\"a\": 1}"),
        ("lines.txt", "a\nb"),
        ("torn.csv", "a,b\n1,2\n3,4"),
        ("orphan.jsonl", "{\"kind\":\"result\",\"method\":\"x\",\"repeat\":0,\"fold\":0,\"k\":1}\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let error = ResultsLog::open(&path).err().unwrap().to_string();
        assert!(error.contains(name) && error.contains("line 1") && error.contains("use another"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        // The same beside a new record.
        let costs = folder.path().join(format!("new-{name}"));
        std::fs::write(cost_path(&costs), content).unwrap();
        assert!(ResultsLog::open(&costs).is_err(), "{name}");
        assert_eq!(std::fs::read_to_string(cost_path(&costs)).unwrap(), content);
    }
}

#[test]
fn what_cannot_be_compared_is_refused_before_any_work() {
    let wine = built_in("wine");
    let error = |compare: &Compare, data: &Dataset| {
        compare.run(data, "x", &mut ResultsLog::in_memory(), &Context::default()).unwrap_err().to_string()
    };
    let usual = compare(&["fisher"], &[1], 3);
    // What no split could bear is told at once.
    let hopeless = compare(&["fisher", "relief:n_neighbors=100,clip=false"], &[1], 3);
    assert!(error(&hopeless, &wine).contains("'n_neighbors'"));
    let one_class = wine.take_rows(&(0..40).collect::<Vec<_>>());
    assert!(error(&usual, &one_class).contains("all rows have the class"));
    assert!(
        error(&compare(&["fisher"], &[14], 3), &wine).contains("from 1 to the number of columns, 13, got 14")
    );
    assert!(error(&compare(&["fisher"], &[0], 3), &wine).contains("got 0"));
    assert!(error(&compare(&["fisher", "fisher"], &[1], 3), &wine).contains("'methods' must be different"));
    assert!(error(&compare(&[], &[1], 3), &wine).contains("'methods' must be at least one"));
    let boston = built_in("boston");
    assert!(
        error(&usual, &wine.take_rows(&[0, 177])).contains("'folds' must be from 2 to the number of rows, 2")
    );
    let svm = Compare { evaluator: Evaluator::by_name("svm").unwrap(), ..usual.clone() };
    assert!(error(&svm, &boston).contains("ridge or knn for a continuous target, got svm"));
    let ridge = Compare { evaluator: Evaluator::by_name("ridge").unwrap(), ..usual.clone() };
    assert!(error(&ridge, &wine).contains("for classes, got ridge"));
    let given = |train: Vec<usize>, test: Vec<usize>| Compare {
        splits: SplitChoice::Given(vec![Fold { train, test }]),
        ..usual.clone()
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
fn the_chosen_number_is_among_those_tried() {
    assert_eq!(counts_around(5, 13), [1, 2, 3, 4, 5, 6, 8]);
    assert_eq!(counts_around(1, 1), [1]);
    assert_eq!(counts_around(40, 20_000), [6, 8, 12, 16, 24, 32, 40, 48, 64]);
    assert_eq!(counts_around(1000, 20_000), [128, 192, 256, 1000]);
}
