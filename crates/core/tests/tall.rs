//! Tall data: methods that use a sample of the rows, unless `exact` is set.

use kernsift::basis::BasisMethod;
use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::data::{BuiltIn, Dataset, Standardizer, Target};
use kernsift::internals::Rng;
use kernsift::parameters::Parameters;
use kernsift::select::{FeatureCount, SELECTORS, Selection, Selector, SelectorMethod};
use kernsift::{Basis, Context, Observer};
use ndarray::Array2;
use std::sync::Mutex;

/// Parameters by name.
type Settings = &'static [(&'static str, &'static str)];
/// Methods whose samples are small enough for a test, with the number of rows; the others use the same code.
const QUICK: [(&str, Settings, usize); 3] =
    [("fohsic", &[], 5000), ("bahsic", &[("form", "fast")], 5000), ("svm-rfe", &[("kernel", "rbf")], 3000)];
const COUNT: FeatureCount = FeatureCount::Count(2);

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

fn method(name: &str, settings: &[(&str, &str)]) -> SelectorMethod {
    SelectorMethod::with_settings(name, settings).unwrap()
}

fn select(method: &SelectorMethod, data: &Dataset) -> Selection {
    method.select(data, COUNT, &Context { seed: 3, ..Context::default() }).unwrap()
}

/// A class that depends on the first two of four features, nine times as frequent as the other.
fn rows(n: usize) -> Dataset {
    let mut rng = Rng::new(2);
    let x = Array2::from_shape_simple_fn((n, 4), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] + row[1] > 1.8)).collect();
    Dataset::labeled(x, codes).unwrap()
}

fn exact_names() -> Vec<&'static str> {
    let has_exact = |name: &&str| method(name, &[]).parameters().iter().any(|p| p.name == "exact");
    SELECTORS.iter().map(|info| info.name).filter(has_exact).collect()
}

#[test]
fn methods_that_sample_have_the_parameter() {
    for info in SELECTORS {
        let name = info.name;
        let has_limit = method(name, &[]).max_rows().is_some();
        // These sample inside of their fit.
        let is_own = ["relief", "nca", "auto"].contains(&name);
        assert_eq!(has_limit || is_own, exact_names().contains(&name), "{name}");
        if has_limit {
            assert_eq!(method(name, &[("exact", "true")]).max_rows(), None, "{name}");
        }
    }
    for (name, settings, limit) in QUICK {
        assert_eq!(method(name, settings).max_rows(), Some(limit), "{name}");
    }
}

#[test]
fn small_data_are_not_sampled() {
    let wine = BuiltIn::by_name("wine").unwrap().data().unwrap();
    let wine = wine.with_x(Standardizer::fit(wine.x()).apply(wine.x()).unwrap()).unwrap();
    for name in exact_names() {
        let found = select(&method(name, &[]), &wine);
        assert_eq!(found.sample, None, "{name}");
        assert_eq!(found, select(&method(name, &[("exact", "true")]), &wine), "{name}");
    }
}

#[test]
fn a_sample_gives_the_selection_of_its_rows() {
    for (name, settings, limit) in QUICK {
        let n = limit + 60;
        let weights = (0..n).map(|row| 1.0 + (row % 3) as f64).collect();
        let data = rows(n).with_weights(weights, "w").unwrap();
        let chosen = data.sample_rows(limit, true, 3).unwrap();
        let sample = data.take_rows(&chosen);
        let shares =
            [&data, &sample].map(|data| data.classes("m").unwrap().counts()[1] as f64 / data.n() as f64);
        // A row more or less.
        assert!((shares[0] - shares[1]).abs() <= 1.0 / limit as f64, "{name} {shares:?}");
        let (method, notes) = (method(name, settings), Notes::default());
        let ctx = Context { seed: 3, observer: &notes, ..Context::default() };
        let found = method.select(&data, COUNT, &ctx).unwrap();
        let used = found.sample.expect("a sample");
        assert_eq!((used.n_used, used.n), (chosen.len(), n), "{name}");
        let expected = format!("used a sample of {limit} of {n} rows");
        assert!(notes.0.into_inner().unwrap().iter().any(|note| note.ends_with(&expected)), "{name}");
        assert_eq!(Selection { sample: None, ..found.clone() }, select(&method, &sample), "{name}");
        let each = method.select_each(&data, &[2, 9], &Context { seed: 3, ..Context::default() });
        assert_eq!(each[0].as_ref().unwrap(), &found, "{name}");
        assert!(each[1].is_err(), "{name}");
    }
}

#[test]
fn exact_uses_all_rows() {
    let data = rows(5060);
    let sampled = select(&method("fohsic", &[]), &data);
    let exact = select(&method("fohsic", &[("exact", "true")]), &data);
    assert_eq!((exact.sample, exact.selected()), (None, sampled.selected()));
    // HSIC of 60 other rows among 5060.
    let (a, b) = (sampled.scores[0].max(sampled.scores[1]), exact.scores[0].max(exact.scores[1]));
    assert!(a != b && (a - b).abs() < 0.1 * b, "{a} {b}");
}

#[test]
fn relief_searches_the_neighbors_of_a_sample_among_all_rows() {
    let data = rows(20_100);
    let found = select(&method("relief", &[]), &data);
    let used = found.sample.expect("a sample");
    assert_eq!((used.n_used, used.n), (10_000, 20_100));
    let exact = select(&method("relief", &[("exact", "true")]), &data);
    assert_eq!((exact.sample, exact.selected()), (None, found.selected()));
    for feature in 0..2 {
        let (a, b) = (found.scores[feature], exact.scores[feature]);
        // The mean over half of the rows; the standard error of its difference from that of all is about one per cent.
        assert!(a != b && (a - b).abs() < 0.05 * b, "{a} {b}");
    }
    // A number of centers is that number.
    let few = select(&method("relief", &[("n_samples", "50")]), &data);
    assert_eq!(few.sample, None);
    let both = method("relief", &[("n_samples", "50"), ("exact", "true")]);
    let error = both.select(&data, COUNT, &Context::default()).unwrap_err().to_string();
    assert!(error.contains("'n_samples' must be left out if exact is set, got 50"), "{error}");
    // Of a continuous target, too.
    let score = data.x().column(0);
    let numbers = Dataset::with_target(data.x().to_dense(), Target::Continuous(score)).unwrap();
    let found = select(&method("relief", &[]), &numbers);
    assert_eq!((found.sample, found.order[0]), (Some(used), 0));
}

#[test]
fn classes_are_balanced_in_the_sample() {
    // Ten rows of the rare class, more than its share of a sample.
    let n = 5060;
    let mut rng = Rng::new(4);
    let x = Array2::from_shape_simple_fn((n, 2), || rng.normal());
    let codes = (0..n).map(|row| usize::from(row % 500 == 3)).collect();
    let data = Dataset::labeled(x, codes).unwrap().with_balanced_classes().unwrap();
    let sample = data.take_rows(&data.sample_rows(5000, true, 3).unwrap());
    let found = select(&method("fohsic", &[]), &data);
    assert_eq!(Selection { sample: None, ..found }, select(&method("fohsic", &[]), &sample));
}

#[test]
fn a_discriminant_is_learned_from_a_sample_and_maps_all_rows() {
    let data = rows(3020);
    let ctx = Context { seed: 3, ..Context::default() };
    let fit = BasisMethod::by_name("kda").unwrap().fit(&data, &ctx).unwrap();
    assert_eq!(fit.map.summary().n_rows, 3000);
    assert_eq!(fit.map.summary().pivots, data.sample_rows(3000, true, 3).unwrap());
    assert_eq!(fit.features, fit.map.transform(data.x(), &ctx).unwrap());
    let exact = |name| BasisMethod::with_settings(name, &[("exact", "true")]).unwrap().max_rows();
    assert_eq!(["kpca", "kda", "gda"].map(exact), [None; 3]);
}

#[test]
fn relevant_features_are_found_in_a_sample() {
    let made = Synthetic { pattern: Pattern::Ring, rows: 6000, columns: 6, ..Synthetic::default() };
    let made = made.make().unwrap();
    let found = select(&method("fohsic", &[]), &made.data);
    let sorted = |features: &[usize]| {
        let mut features = features.to_vec();
        features.sort_unstable();
        features
    };
    assert_eq!(sorted(found.selected()), sorted(&made.relevant));
}
