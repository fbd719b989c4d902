//! Input that is odd, degenerate or wrong, and what is said about it.

use super::*;
use crate::Observer;
use crate::data::{SparseRows, Target};
use std::sync::Mutex;

/// Keeps what it is told.
#[derive(Default)]
struct Ear(Mutex<Vec<String>>);

impl Observer for Ear {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(format!("note: {text}"));
    }
    fn warn(&self, text: &str) {
        self.0.lock().unwrap().push(format!("warning: {text}"));
    }
}

fn heard(
    learner: &XingMetric,
    x: &Array2<f64>,
    near: &[[usize; 2]],
    far: &[[usize; 2]],
) -> (Result<Learned>, String) {
    let ear = Ear::default();
    let data = Dataset::unlabeled(x.clone()).unwrap();
    let learned = learner.learn_pairs(&data, near, far, &Context { observer: &ear, ..Context::default() });
    (learned, ear.0.into_inner().unwrap().join("\n"))
}

#[test]
fn repeated_pairs_count_once_and_shared_ones_twice() {
    let (x, near, far) = random_problem(6, 20, 3, 25);
    let turned = |list: &[[usize; 2]]| list.iter().flat_map(|&[i, j]| [[j, i], [i, j]]).collect::<List>();
    for form in FORMS {
        let once = learn(&with(form), &x, &near, &far);
        assert_eq!(learn(&with(form), &x, &turned(&near), &turned(&far)), once);
        let shared: List = far.iter().chain(&near[..2]).copied().collect();
        let (learned, said) = heard(&with(form), &x, &near, &shared);
        assert!(said.contains("2 pairs are both similar and dissimilar"), "{said}");
        assert_ne!(learned.unwrap(), once);
        // "0 is more like 1 than 2" and "0 is more like 2 than 3".
        let (near, far) = from_triplets(&[[0, 1, 2], [0, 2, 3]]);
        assert_eq!((near, far), (vec![[0, 1], [0, 2]], vec![[0, 2], [0, 3]]));
    }
}

#[test]
fn columns_and_directions_that_tell_nothing_get_no_weight() {
    let (x, near, far) = random_problem(7, 30, 3, 60);
    // A copy, a sum, a constant, and one that is constant but for rounding.
    let wide = Array2::from_shape_fn((30, 7), |(i, j)| match j {
        0..3 => x[[i, j]],
        3 => 2.0 * x[[i, 0]],
        4 => x[[i, 0]] + x[[i, 1]],
        5 => 7.0,
        _ => 1e6 * (1.0 + f64::EPSILON * (i % 2) as f64),
    });
    let (plain, learned) =
        (learn(&with(MetricForm::Full), &x, &near, &far), learn(&with(MetricForm::Full), &wide, &near, &far));
    assert_eq!(learned.status, Status::Optimal);
    assert!(learned.scores[5] == 0.0 && learned.scores[6] == 0.0, "{:?}", learned.scores);
    let (a, b) = (value(&x, metric(&plain), &near, &far), value(&wide, metric(&learned), &near, &far));
    // Each is within 1e-6 of the same optimum.
    assert!((a / b - 1.0).abs() < 2e-6, "{a} {b}");
    learned.kernel.validate(7).unwrap();
}

#[test]
fn where_similar_pairs_agree_a_ridge_holds_distances_back() {
    // Similar pairs agree in the second column.
    let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 5.0], [2.0, 5.0]];
    let (near, far) = ([[0, 1], [2, 3]], [[0, 2], [1, 3]]);
    for form in FORMS {
        let (learned, said) = heard(&with(form), &x, &near, &far);
        assert!(said.contains("warning: Xing metric: similar pairs agree in a"), "{said}");
        let learned = learned.unwrap();
        assert_eq!(learned.status, Status::Optimal);
        assert!(learned.scores.iter().all(|s| s.is_finite()));
        // Asked for, it is what was added of itself; asked for none, there is no answer.
        let (asked, said) = heard(&XingMetric { ridge: Some(0.01), ..with(form) }, &x, &near, &far);
        assert!(asked.unwrap() == learned && !said.contains("warning"), "{said}");
        let (none, _) = heard(&XingMetric { ridge: Some(0.0), ..with(form) }, &x, &near, &far);
        assert!(none.unwrap_err().to_string().contains("allow a ridge"));
    }
    // More columns than rows.
    let (_, near, far) = random_problem(8, 12, 3, 14);
    let mut rng = Rng::new(8);
    let wide = Array2::from_shape_simple_fn((12, 40), || rng.normal());
    let (learned, said) = heard(&with(MetricForm::Full), &wide, &near, &far);
    let learned = learned.unwrap();
    assert!(said.contains("a ridge of 0.01") && learned.status == Status::Optimal, "{said}");
    learned.kernel.validate(40).unwrap();
}

#[test]
fn threads_and_layout_change_nothing() {
    let (x, near, far) = random_problem(9, 300, 20, 3000);
    let sparse = {
        let column = (0..300).flat_map(|_| 0..20).collect();
        SparseRows::new(20, (0..=300).map(|i| 20 * i).collect(), column, x.iter().copied().collect()).unwrap()
    };
    for form in FORMS {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| learn(&with(form), &x, &near, &far))
        };
        let one = run(1);
        assert_eq!(one, run(3), "{form:?}");
        let data = Dataset::unlabeled(sparse.clone()).unwrap();
        assert_eq!(with(form).learn_pairs(&data, &near, &far, &Context::default()).unwrap(), one);
    }
}

#[test]
fn a_run_that_is_cut_off_says_so() {
    let (x, near, far) = random_problem(11, 40, 6, 80);
    for form in FORMS {
        let learned = learn(&XingMetric { max_iter: 1, ..with(form) }, &x, &near, &far);
        assert_eq!((learned.status, learned.iterations), (Status::MaxIterations, 1), "{form:?}");
        learned.kernel.validate(6).unwrap();
        // What rounding cannot reach stalls instead of going on.
        let finest = learn(&XingMetric { tolerance: 1e-300, ..with(form) }, &x, &near, &far);
        assert!(finest.status != Status::MaxIterations && finest.iterations < 1000, "{finest:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let x = array![[0.0, 1.0], [1.0, 2.0], [3.0, 0.0], [3.0, 0.0]];
    let fails = |learner: XingMetric, near: &[[usize; 2]], far: &[[usize; 2]]| {
        heard(&learner, &x, near, far).0.unwrap_err().to_string()
    };
    let plain = XingMetric::default();
    assert_eq!(
        fails(plain.clone(), &[], &[[0, 1]]),
        "Xing metric: parameter 'similar' must be at least one pair; give triples, or draw them from labels, got none"
    );
    assert!(fails(plain.clone(), &[[0, 1]], &[]).contains("'dissimilar'"));
    assert_eq!(
        fails(plain.clone(), &[[0, 1], [0, 4]], &[[0, 2]]),
        "Xing metric: similar pair 2: expected rows below 4, got 0 and 4"
    );
    assert!(fails(plain.clone(), &[[0, 1]], &[[2, 2]]).contains("expected two different rows, got 2 and 2"));
    assert!(fails(plain.clone(), &[[0, 1]], &[[2, 3]]).contains("all dissimilar pairs are of equal rows"));
    assert!(fails(plain.clone(), &[[2, 3]], &[[0, 1]]).contains("all similar pairs are of equal rows"));
    assert!(
        fails(XingMetric { tolerance: 0.0, ..plain.clone() }, &[[0, 1]], &[[0, 2]]).contains("'tolerance'")
    );
    assert!(fails(XingMetric { max_iter: 0, ..plain.clone() }, &[[0, 1]], &[[0, 2]]).contains("'max_iter'"));
    assert!(
        fails(XingMetric { ridge: Some(-1.0), ..plain.clone() }, &[[0, 1]], &[[0, 2]]).contains("'ridge'")
    );
    let (_, said) =
        heard(&XingMetric { ridge: Some(0.1), ..plain.clone() }, &x, &[[0, 1]], &[[2, 3], [1, 2]]);
    assert!(said.contains("1 dissimilar pairs are of equal rows"), "{said}");
    let far = array![[1e308, 0.0], [-1e308, 1.0], [0.0, 2.0]];
    let (learned, _) = heard(&plain, &far, &[[0, 1]], &[[0, 2]]);
    assert!(learned.unwrap_err().to_string().contains("too far for a number"));
    let gappy = Dataset::with_missing(vec!["a".into()], array![[0.0], [f64::NAN]], Target::None).unwrap();
    assert!(plain.learn(&gappy, &[[0, 1, 1]], &Context::default()).is_err());
    let tight = Context { memory_limit: 1000, ..Context::default() };
    let data = Dataset::unlabeled(x.clone()).unwrap();
    assert!(plain.learn(&data, &[[0, 1, 2]], &tight).unwrap_err().to_string().contains("of memory"));

    struct Stop;
    impl Observer for Stop {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let stopped = plain.learn(&data, &[[0, 1, 2]], &Context { observer: &Stop, ..Context::default() });
    assert!(stopped.unwrap_err().is_interrupted());
}
