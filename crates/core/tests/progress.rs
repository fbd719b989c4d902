//! Every method reports its progress and can be interrupted.

use kernsift::basis::{BASES, Basis, BasisMethod};
use kernsift::data::read::{ReadOptions, read_table};
use kernsift::data::{Dataset, Encoding, Standardizer};
use kernsift::interactions::{InteractionScreen, feature_dependence};
use kernsift::internals::Rng;
use kernsift::learn::{LEARNERS, LearnerMethod};
use kernsift::select::{FeatureCount, FisherScore, SELECTORS, Selector, SelectorMethod};
use kernsift::significance::{FeatureTest, Knockoffs, Stability};
use kernsift::space::{KernelSpaceSelector, SPACES, Tune};
use kernsift::{Context, Observer, Result};
use ndarray::Array2;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Checks every progress report.
#[derive(Default)]
struct Recorder {
    reports: Mutex<Vec<(String, usize, usize)>>,
    wrong: Mutex<Vec<String>>,
}

impl Observer for Recorder {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        let mut reports = self.reports.lock().unwrap();
        let report = (stage.to_owned(), done, total);
        // A total of 0 or 1 means unknown.
        let too_many = total > 1 && done > total;
        let decreases =
            reports.last().is_some_and(|(before, more, _)| before == stage && done < *more && done > 0);
        if too_many || decreases || stage.is_empty() {
            self.wrong.lock().unwrap().push(format!("{report:?} after {:?}", reports.last()));
        }
        reports.push(report);
    }
}

/// Interrupts at the first check.
#[derive(Default)]
struct Interrupter {
    n_checks: AtomicUsize,
}

impl Observer for Interrupter {
    fn interrupted(&self) -> bool {
        self.n_checks.fetch_add(1, Ordering::Relaxed);
        true
    }
}

fn data() -> Dataset {
    let mut rng = Rng::new(7);
    let x = Array2::from_shape_simple_fn((300, 24), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] * row[1] + row[2] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

/// Runs the work twice: once to record progress, once to interrupt it.
fn check(name: &str, work: impl Fn(&Context) -> Result<()>) {
    let recorder = Recorder::default();
    work(&Context { observer: &recorder, ..Context::default() }).unwrap_or_else(|e| panic!("{name}: {e}"));
    let wrong = recorder.wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{name}: {wrong:?}");
    assert!(!recorder.reports.into_inner().unwrap().is_empty(), "{name} reports no progress");
    let interrupter = Interrupter::default();
    let interrupted = work(&Context { observer: &interrupter, ..Context::default() });
    assert!(interrupted.is_err_and(|error| error.is_interrupted()), "{name} cannot be interrupted");
}

#[test]
fn the_recorder_detects_wrong_reports() {
    let n_wrong = |reports: &[(&str, usize, usize)]| {
        let recorder = Recorder::default();
        reports.iter().for_each(|&(stage, done, total)| recorder.progress(stage, done, total));
        recorder.wrong.into_inner().unwrap().len()
    };
    assert_eq!(n_wrong(&[("a", 0, 9), ("a", 5, 9), ("a", 9, 9), ("a", 0, 9), ("b", 3, 9), ("c", 0, 0)]), 0);
    assert_eq!(n_wrong(&[("a", 5, 9), ("a", 4, 9)]), 1, "decreasing");
    assert_eq!(n_wrong(&[("a", 10, 9)]), 1, "beyond the total");
    assert_eq!(n_wrong(&[("", 0, 9)]), 1, "without a name");
}

#[test]
fn selectors_report_progress() {
    let data = data();
    for info in SELECTORS {
        let method = SelectorMethod::by_name(info.name).unwrap();
        for wanted in [FeatureCount::Auto, FeatureCount::Count(3)] {
            check(&format!("{} {wanted:?}", info.name), |ctx| method.select(&data, wanted, ctx).map(drop));
        }
    }
}

#[test]
fn bases_and_spaces_report_progress() {
    let data = data();
    for info in BASES {
        let method = BasisMethod::by_name(info.name).unwrap();
        check(info.name, |ctx| method.fit(&data, ctx).map(drop));
    }
    for info in SPACES {
        let method = KernelSpaceSelector::by_name(info.name).unwrap();
        check(info.name, |ctx| method.fit(&data, FeatureCount::Auto, ctx).map(drop));
        let tuned = KernelSpaceSelector { tune: Tune::Gamma, ..method };
        check(&format!("{} tuned", info.name), |ctx| tuned.fit(&data, FeatureCount::Auto, ctx).map(drop));
    }
    let by_n_components = KernelSpaceSelector {
        gamma_for_n_components: Some(20),
        ..KernelSpaceSelector::by_name("takes").unwrap()
    };
    check("takes by n_components", |ctx| by_n_components.fit(&data, FeatureCount::Auto, ctx).map(drop));
}

#[test]
fn interactions_report_progress() {
    let data = data();
    for permutations in [0, 2] {
        let screen = InteractionScreen { permutations, ..InteractionScreen::default() };
        check("interactions", |ctx| screen.run(&data, ctx).map(drop));
    }
    check("feature dependence", |ctx| feature_dependence(&data, 4, ctx).map(drop));
}

#[test]
fn tests_of_features_report_progress() {
    let data = data();
    for permutations in [0, 20] {
        let test = FeatureTest { permutations, ..FeatureTest::default() };
        check("feature test", |ctx| test.run(&data, &[], ctx).map(drop));
    }
    let (fisher, count) = (FisherScore::default(), FeatureCount::Count(3));
    let stability = Stability { n_pairs: 3, ..Stability::default() };
    check("stability", |ctx| stability.run(&fisher, &data, count, Encoding::default(), ctx).map(drop));
    check("knockoffs", |ctx| Knockoffs::default().run(&fisher, &data, count, ctx).map(drop));
}

#[test]
fn learners_report_progress() {
    let data = data().take_rows(&(0..60).collect::<Vec<_>>());
    for info in LEARNERS {
        let method = LearnerMethod::by_name(info.name).unwrap();
        // Baselines do not iterate.
        if matches!(method, LearnerMethod::Design(_) | LearnerMethod::Xing(_)) {
            check(info.name, |ctx| method.learn_from_target(&data, 300, ctx).map(drop));
        }
    }
}

#[test]
fn readers_report_progress() {
    let folder = tempfile::tempdir().unwrap();
    let arff = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n";
    let files = [
        ("numbers.csv", "a,b,c,d\n", "0.25,1.5,-3.125,0.123456789\n"),
        ("texts.csv", "a,b,c,d\n", "0.25,1.5,-3.125,a\n"),
        ("quoted.csv", "a,b,c,d\n", "0.25,1.5,-3.125,\"b\"\n"),
        ("rows.svm", "", "1 1:0.25 7:1.5 9:-3.125\n"),
        ("dense.arff", arff, "0.25,x\n"),
        ("sparse.arff", arff, "{0 0.25,1 y}\n"),
    ];
    for (name, header, row) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, header.to_owned() + &row.repeat((5 << 20) / row.len())).unwrap();
        check(name, |ctx| read_table(&path, &ReadOptions::default(), ctx).map(drop));
        let recorder = Recorder::default();
        read_table(&path, &ReadOptions::default(), &Context { observer: &recorder, ..Context::default() })
            .unwrap();
        let reports = recorder.reports.into_inner().unwrap();
        assert!(
            reports.iter().filter(|(_, done, total)| *done > 0 && *total > 1).count() >= 3,
            "{name}: {reports:?}"
        );
    }
}
