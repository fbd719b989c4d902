//! Degenerate and invalid input, and its messages.

use super::*;
use crate::Observer;
use crate::data::{SparseRows, Target};
use std::sync::Mutex;

/// Records notes and warnings.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Observer for Recorder {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(format!("note: {text}"));
    }
    fn warn(&self, text: &str) {
        self.0.lock().unwrap().push(format!("warning: {text}"));
    }
}

fn learn_and_record(
    learner: &XingMetric,
    x: &Array2<f64>,
    near: &[[usize; 2]],
    far: &[[usize; 2]],
) -> (Result<Learned>, String) {
    let recorder = Recorder::default();
    let data = Dataset::unlabeled(x.clone()).unwrap();
    let learned =
        learner.learn_pairs(&data, near, far, &Context { observer: &recorder, ..Context::default() });
    (learned, recorder.0.into_inner().unwrap().join("\n"))
}

#[test]
fn duplicate_pairs_count_once_and_shared_pairs_in_both_sets() {
    let (x, near, far) = random_problem(6, 20, 3, 25);
    let repeated = |list: &[[usize; 2]]| list.iter().flat_map(|&[i, j]| [[j, i], [i, j]]).collect::<List>();
    for diagonal in FORMS {
        let once = learn(&with(diagonal), &x, &near, &far);
        assert_eq!(learn(&with(diagonal), &x, &repeated(&near), &repeated(&far)), once);
        let shared: List = far.iter().chain(&near[..2]).copied().collect();
        let (learned, messages) = learn_and_record(&with(diagonal), &x, &near, &shared);
        assert!(messages.contains("2 pairs are both similar and dissimilar"), "{messages}");
        assert_ne!(learned.unwrap(), once);
        // "0 is closer to 1 than to 2" and "0 is closer to 2 than to 3".
        let (near, far) = from_triplets(&[[0, 1, 2], [0, 2, 3]]);
        assert_eq!((near, far), (vec![[0, 1], [0, 2]], vec![[0, 2], [0, 3]]));
    }
}

#[test]
fn redundant_and_constant_columns_are_supported() {
    let (x, near, far) = random_problem(7, 30, 3, 60);
    // A copy, a sum, a constant, and a column that is constant up to rounding.
    let wide = Array2::from_shape_fn((30, 7), |(i, j)| match j {
        0..3 => x[[i, j]],
        3 => 2.0 * x[[i, 0]],
        4 => x[[i, 0]] + x[[i, 1]],
        5 => 7.0,
        _ => 1e6 * (1.0 + f64::EPSILON * (i % 2) as f64),
    });
    let (plain, learned) = (learn(&with(false), &x, &near, &far), learn(&with(false), &wide, &near, &far));
    assert_eq!(learned.status, Status::Optimal);
    assert!(learned.scores[5] == 0.0 && learned.scores[6] == 0.0, "{:?}", learned.scores);
    let (a, b) = (value(&x, metric(&plain), &near, &far), value(&wide, metric(&learned), &near, &far));
    // Each is within 1e-6 of the same optimum.
    assert!((a / b - 1.0).abs() < 2e-6, "{a} {b}");
    learned.kernel.validate(7).unwrap();
}

#[test]
fn a_ridge_is_added_where_similar_pairs_agree() {
    // Similar pairs agree in the second column.
    let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 5.0], [2.0, 5.0]];
    let (near, far) = ([[0, 1], [2, 3]], [[0, 2], [1, 3]]);
    for diagonal in FORMS {
        let (learned, messages) = learn_and_record(&with(diagonal), &x, &near, &far);
        assert!(messages.contains("warning: Xing metric: similar pairs agree in a"), "{messages}");
        let learned = learned.unwrap();
        assert_eq!(learned.status, Status::Optimal);
        assert!(learned.scores.iter().all(|s| s.is_finite()));
        // An explicit ridge of the same size gives the same metric; a ridge of 0 is an error.
        let (explicit, messages) =
            learn_and_record(&XingMetric { ridge: Ridge::Value(0.01), ..with(diagonal) }, &x, &near, &far);
        assert!(explicit.unwrap() == learned && !messages.contains("warning"), "{messages}");
        let (none, _) =
            learn_and_record(&XingMetric { ridge: Ridge::Value(0.0), ..with(diagonal) }, &x, &near, &far);
        assert!(none.unwrap_err().to_string().contains("allow a ridge"));
    }
    // More columns than rows.
    let (_, near, far) = random_problem(8, 12, 3, 14);
    let mut rng = Rng::new(8);
    let wide = Array2::from_shape_simple_fn((12, 40), || rng.normal());
    let (learned, messages) = learn_and_record(&with(false), &wide, &near, &far);
    let learned = learned.unwrap();
    assert!(messages.contains("a ridge of 0.01") && learned.status == Status::Optimal, "{messages}");
    learned.kernel.validate(40).unwrap();
}

#[test]
fn result_does_not_depend_on_threads_or_sparsity() {
    let (x, near, far) = random_problem(9, 300, 20, 3000);
    let sparse = {
        let column = (0..300).flat_map(|_| 0..20).collect();
        SparseRows::new(20, (0..=300).map(|i| 20 * i).collect(), column, x.iter().copied().collect()).unwrap()
    };
    for diagonal in FORMS {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| learn(&with(diagonal), &x, &near, &far))
        };
        let one = run(1);
        assert_eq!(one, run(3), "{diagonal}");
        let data = Dataset::unlabeled(sparse.clone()).unwrap();
        assert_eq!(with(diagonal).learn_pairs(&data, &near, &far, &Context::default()).unwrap(), one);
    }
}

#[test]
fn max_iter_is_reported() {
    let (x, near, far) = random_problem(11, 40, 6, 80);
    for diagonal in FORMS {
        let learned = learn(&XingMetric { max_iter: 1, ..with(diagonal) }, &x, &near, &far);
        assert_eq!((learned.status, learned.iterations), (Status::MaxIterations, 1), "{diagonal}");
        learned.kernel.validate(6).unwrap();
        // A tolerance below rounding error stalls early.
        let finest = learn(&XingMetric { tol: 1e-300, ..with(diagonal) }, &x, &near, &far);
        assert!(finest.status != Status::MaxIterations && finest.iterations < 1000, "{finest:?}");
    }
}

#[test]
fn invalid_input_is_rejected() {
    let x = array![[0.0, 1.0], [1.0, 2.0], [3.0, 0.0], [3.0, 0.0]];
    let fails = |learner: XingMetric, near: &[[usize; 2]], far: &[[usize; 2]]| {
        learn_and_record(&learner, &x, near, far).0.unwrap_err().to_string()
    };
    let plain = XingMetric::default();
    assert_eq!(
        fails(plain.clone(), &[], &[[0, 1]]),
        "Xing metric: parameter 'similar' must be at least one pair; give triplets, or draw them from labels, got none"
    );
    assert!(fails(plain.clone(), &[[0, 1]], &[]).contains("'dissimilar'"));
    assert_eq!(
        fails(plain.clone(), &[[0, 1], [0, 4]], &[[0, 2]]),
        "Xing metric: similar pair 2: expected rows below 4, got 0 and 4"
    );
    assert!(fails(plain.clone(), &[[0, 1]], &[[2, 2]]).contains("expected two different rows, got 2 and 2"));
    assert!(fails(plain.clone(), &[[0, 1]], &[[2, 3]]).contains("all dissimilar pairs are of equal rows"));
    assert!(fails(plain.clone(), &[[2, 3]], &[[0, 1]]).contains("all similar pairs are of equal rows"));
    assert!(fails(XingMetric { tol: 0.0, ..plain.clone() }, &[[0, 1]], &[[0, 2]]).contains("'tol'"));
    assert!(fails(XingMetric { max_iter: 0, ..plain.clone() }, &[[0, 1]], &[[0, 2]]).contains("'max_iter'"));
    assert!(
        fails(XingMetric { ridge: Ridge::Value(-1.0), ..plain.clone() }, &[[0, 1]], &[[0, 2]])
            .contains("'ridge'")
    );
    let (_, messages) = learn_and_record(
        &XingMetric { ridge: Ridge::Value(0.1), ..plain.clone() },
        &x,
        &[[0, 1]],
        &[[2, 3], [1, 2]],
    );
    assert!(messages.contains("1 dissimilar pairs are of equal rows"), "{messages}");
    let far = array![[1e308, 0.0], [-1e308, 1.0], [0.0, 2.0]];
    let (learned, _) = learn_and_record(&plain, &far, &[[0, 1]], &[[0, 2]]);
    assert!(learned.unwrap_err().to_string().contains("overflows"));
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
