//! All methods of the catalogs behind one interface, and checks of their results on any data. Used by the tests of edge
//! cases and by `examples/soak.rs`; a new method is covered by being listed in its catalog.

use kernsift::basis::{BASES, Basis, BasisMethod};
use kernsift::data::{Dataset, SparseRows};
use kernsift::learn::{LEARNERS, LearnerMethod};
use kernsift::select::{FeatureCount, SELECTORS, Selector, SelectorMethod};
use kernsift::space::{KernelSpaceSelector, SPACES};
use kernsift::{Context, Error, Observer, Result};
use ndarray::Array2;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The result of a method as numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodResult {
    /// Features, best first; empty for methods without a ranking.
    pub order: Vec<usize>,
    /// Scores of features, or coordinates of rows.
    pub numbers: Vec<f64>,
}

/// Runs a method on data.
type Run = dyn Fn(&Dataset, &Context) -> Result<MethodResult> + Sync;

/// A method of a catalog.
pub struct Method {
    /// Its name in the catalog.
    pub name: &'static str,
    /// Whether `numbers` are scores, one per feature.
    pub scores: bool,
    /// Runs the method with its defaults.
    pub run: Box<Run>,
}

/// All methods.
pub fn methods() -> Vec<Method> {
    let mut all = vec![];
    for info in SELECTORS {
        let method = SelectorMethod::by_name(info.name).unwrap();
        let run = move |data: &Dataset, ctx: &Context| {
            let selection = method.select(data, FeatureCount::Auto, ctx)?;
            assert!(selection.n_selected <= data.d(), "n_selected is out of range");
            Ok(MethodResult { order: selection.order, numbers: selection.scores })
        };
        all.push(Method { name: info.name, scores: true, run: Box::new(run) });
    }
    for info in BASES {
        let method = BasisMethod::by_name(info.name).unwrap();
        let run = move |data: &Dataset, ctx: &Context| {
            let fitted = method.fit(data, ctx)?;
            assert!(fitted.map.n_components() > 0 && fitted.features.nrows() == data.n(), "an invalid basis");
            Ok(MethodResult { order: vec![], numbers: fitted.features.into_iter().collect() })
        };
        all.push(Method { name: info.name, scores: false, run: Box::new(run) });
    }
    for info in SPACES {
        let method = KernelSpaceSelector::by_name(info.name).unwrap();
        let run = move |data: &Dataset, ctx: &Context| {
            let space = method.fit(data, FeatureCount::Auto, ctx)?;
            let classes = space.predict(data.x(), ctx)?;
            assert!(classes.iter().all(|&class| class < space.classes().names.len()), "an unknown class");
            let numbers = space.transform(data.x(), ctx)?.into_iter().collect();
            Ok(MethodResult { order: vec![], numbers })
        };
        all.push(Method { name: info.name, scores: false, run: Box::new(run) });
    }
    for info in LEARNERS {
        let method = LearnerMethod::by_name(info.name).unwrap();
        let run = move |data: &Dataset, ctx: &Context| {
            let learned = method.learn_from_target(data, 60, ctx)?;
            assert!(learned.noise >= 0.0 && learned.noise.is_finite(), "the noise weight is invalid");
            Ok(MethodResult { order: vec![], numbers: learned.scores })
        };
        all.push(Method { name: info.name, scores: true, run: Box::new(run) });
    }
    all
}

/// Interrupts a fit after a time limit.
pub struct TimeLimit {
    start: Instant,
    limit: Duration,
}

/// Time allowed between the interrupt and the end of a fit: a second, and more on a busy computer.
const INTERRUPT_DELAY: Duration = Duration::from_secs(8);

impl TimeLimit {
    /// Starts now.
    pub fn new(limit: Duration) -> Self {
        Self { start: Instant::now(), limit }
    }
}

impl Observer for TimeLimit {
    fn interrupted(&self) -> bool {
        self.start.elapsed() > self.limit
    }
}

/// Runs a method on data. The outer error describes a fault; the inner one is a valid error of the method, such as an
/// interrupt at the time limit.
pub fn try_method(
    method: &Method,
    data: &Dataset,
    limit: &TimeLimit,
    memory_limit: u64,
) -> std::result::Result<Result<MethodResult>, String> {
    let ctx = Context { observer: limit, memory_limit, ..Context::default() };
    let outcome = catch_unwind(AssertUnwindSafe(|| (method.run)(data, &ctx)));
    let elapsed = limit.start.elapsed();
    if elapsed > limit.limit + INTERRUPT_DELAY {
        return Err(format!("it took {elapsed:?} and did not stop at the interrupt"));
    }
    match outcome {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or(panic.downcast_ref::<&str>().map(|text| text.to_string()));
            Err(format!("a panic: {}", text.unwrap_or_default()))
        }
        Ok(Err(Error::Interrupted)) if !limit.interrupted() => {
            Err("interrupted before the time limit".into())
        }
        Ok(Err(error)) if !error.is_interrupted() && error.to_string().len() < 20 => {
            Err(format!("an uninformative message: {error}"))
        }
        Ok(Err(error)) => Ok(Err(error)),
        Ok(Ok(result)) => match fault(method, data, &result) {
            Some(fault) => Err(fault.into()),
            None => Ok(Ok(result)),
        },
    }
}

/// The first fault of a result.
fn fault(method: &Method, data: &Dataset, result: &MethodResult) -> Option<&'static str> {
    let mut order = result.order.clone();
    order.sort_unstable();
    let facts = [
        (result.numbers.iter().all(|v| v.is_finite()), "a number is not finite"),
        (order.is_empty() || order == (0..data.d()).collect::<Vec<_>>(), "the order is not a permutation"),
        (!method.scores || result.numbers.len() == data.d(), "not one score per feature"),
    ];
    facts.into_iter().find(|(holds, _)| !holds).map(|(_, fault)| fault)
}

/// The nonzero values as sparse rows.
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
