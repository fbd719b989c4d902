//! All methods of the catalogues behind one face, and what holds for their answers whatever they are given. For the tests
//! of edges and for `examples/soak.rs`; a new method is covered by being listed.

use kernsift::basis::{BASES, Basis, BasisMethod};
use kernsift::data::{Dataset, SparseRows};
use kernsift::learn::{LEARNERS, LearnerMethod};
use kernsift::select::{FeatureCount, SELECTORS, Selector, SelectorMethod};
use kernsift::space::{KernelSpaceSelector, SPACES};
use kernsift::{Context, Error, Observer, Result};
use ndarray::Array2;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What a method found, in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Columns, best first; empty for methods that rank none.
    pub order: Vec<usize>,
    /// Scores of columns, or coordinates of rows.
    pub numbers: Vec<f64>,
}

/// A run on some data.
type Run = dyn Fn(&Dataset, &Context) -> Result<Answer> + Sync;

/// A method of a catalogue.
pub struct Method {
    /// Its name in the catalogue.
    pub name: &'static str,
    /// Whether `numbers` are scores, a number per column.
    pub scores: bool,
    /// Runs it with its defaults.
    pub run: Box<Run>,
}

/// All of them.
pub fn methods() -> Vec<Method> {
    let mut all = vec![];
    for info in SELECTORS {
        let method = SelectorMethod::by_name(info.name).unwrap();
        let run = move |data: &Dataset, ctx: &Context| {
            let selection = method.select(data, FeatureCount::Auto, ctx)?;
            assert!((1..=data.d()).contains(&selection.n_selected), "so many columns are not there");
            Ok(Answer { order: selection.order, numbers: selection.scores })
        };
        all.push(Method { name: info.name, scores: true, run: Box::new(run) });
    }
    for info in BASES {
        let method = BasisMethod::by_name(info.name).unwrap();
        let run = move |data: &Dataset, ctx: &Context| {
            let fitted = method.fit(data, ctx)?;
            assert!(fitted.map.n_components() > 0 && fitted.features.nrows() == data.n(), "no basis");
            Ok(Answer { order: vec![], numbers: fitted.features.into_iter().collect() })
        };
        all.push(Method { name: info.name, scores: false, run: Box::new(run) });
    }
    for info in SPACES {
        let method = KernelSpaceSelector::by_name(info.name).unwrap();
        let run = move |data: &Dataset, ctx: &Context| {
            let space = method.fit(data, FeatureCount::Auto, ctx)?;
            let classes = space.predict(data.x(), ctx)?;
            assert!(classes.iter().all(|&class| class < space.classes().names.len()), "no class");
            let numbers = space.transform(data.x(), ctx)?.into_iter().collect();
            Ok(Answer { order: vec![], numbers })
        };
        all.push(Method { name: info.name, scores: false, run: Box::new(run) });
    }
    for info in LEARNERS {
        let method = LearnerMethod::by_name(info.name).unwrap();
        let run = move |data: &Dataset, ctx: &Context| {
            let learned = method.learn_from_target(data, 60, ctx)?;
            assert!(learned.noise >= 0.0 && learned.noise.is_finite(), "no weight of noise");
            Ok(Answer { order: vec![], numbers: learned.scores })
        };
        all.push(Method { name: info.name, scores: true, run: Box::new(run) });
    }
    all
}

/// Asks to stop after a while.
pub struct Patience {
    begun: Instant,
    patience: Duration,
}

/// How soon work that is asked to stop does so: a second, and more on a busy machine.
const STOPS: Duration = Duration::from_secs(8);

impl Patience {
    /// From now on.
    pub fn new(patience: Duration) -> Self {
        Self { begun: Instant::now(), patience }
    }
}

impl Observer for Patience {
    fn interrupted(&self) -> bool {
        self.begun.elapsed() > self.patience
    }
}

/// What a method makes of data: an answer that is one, a reason, or what is wrong. One that takes long is stopped, which is
/// a reason as well.
pub fn tried(
    method: &Method,
    data: &Dataset,
    patience: &Patience,
    memory_limit: u64,
) -> std::result::Result<Result<Answer>, String> {
    let ctx = Context { observer: patience, memory_limit, ..Context::default() };
    let done = catch_unwind(AssertUnwindSafe(|| (method.run)(data, &ctx)));
    let took = patience.begun.elapsed();
    if took > patience.patience + STOPS {
        return Err(format!("it took {took:?} and did not stop when it was asked to"));
    }
    match done {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or(panic.downcast_ref::<&str>().map(|text| text.to_string()));
            Err(format!("a panic: {}", text.unwrap_or_default()))
        }
        Ok(Err(Error::Interrupted)) if !patience.interrupted() => {
            Err("stopped, and nobody asked for it".into())
        }
        Ok(Err(error)) if !error.is_interrupted() && error.to_string().len() < 20 => {
            Err(format!("a reason that tells nothing: {error}"))
        }
        Ok(Err(error)) => Ok(Err(error)),
        Ok(Ok(answer)) => match fault(method, data, &answer) {
            Some(fault) => Err(fault.into()),
            None => Ok(Ok(answer)),
        },
    }
}

/// What no answer may be.
fn fault(method: &Method, data: &Dataset, answer: &Answer) -> Option<&'static str> {
    let mut order = answer.order.clone();
    order.sort_unstable();
    let facts = [
        (answer.numbers.iter().all(|v| v.is_finite()), "a number is none"),
        (order.is_empty() || order == (0..data.d()).collect::<Vec<_>>(), "the order is none"),
        (!method.scores || answer.numbers.len() == data.d(), "not a score per column"),
    ];
    facts.into_iter().find(|(holds, _)| !holds).map(|(_, fault)| fault)
}

/// The cells that are not zero.
pub fn sparse(x: &Array2<f64>) -> SparseRows {
    let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
    for row in x.rows() {
        for (v, j) in row.iter().zip(0u32..).filter(|(v, _)| **v != 0.0) {
            column.push(j);
            value.push(*v);
        }
        start.push(column.len());
    }
    SparseRows::new(x.ncols(), start, column, value).expect("rows in order")
}
