//! What methods say they will take beside what they take.

use kernsift::basis::{BASES, Basis, BasisMethod};
use kernsift::data::{Dataset, Standardizer};
use kernsift::learn::{LEARNERS, LearnerMethod};
use kernsift::memory::metered;
use kernsift::random::Rng;
use kernsift::select::{SELECTORS, Selector, SelectorMethod, Wanted};
use kernsift::space::{KernelSpaceSelector, SPACES};
use kernsift::{Context, Observer, Result};
use ndarray::Array2;
use std::sync::Mutex;

/// Remembers the largest plan.
#[derive(Default)]
struct Plans(Mutex<(u64, String)>);

impl Observer for Plans {
    fn plan(&self, what: &str, bytes: u64) {
        let mut largest = self.0.lock().unwrap();
        if bytes > largest.0 {
            *largest = (bytes, what.to_owned());
        }
    }
}

fn data(n: usize, d: usize) -> Dataset {
    let mut rng = Rng::new(7);
    let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] * row[1] + row[2] > 0.0)).collect();
    let data = Dataset::labelled(x, codes).unwrap();
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

/// The largest plan of some work and the most it held, on two threads of its own.
fn planned_and_held(name: &str, work: impl Fn(&Context) -> Result<()> + Sync) -> (u64, u64) {
    let plans = Plans::default();
    let ctx = Context { observer: &plans, ..Context::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (done, held) = pool.install(|| metered(|| work(&ctx)));
    done.unwrap_or_else(|e| panic!("{name}: {e}"));
    let (planned, what) = plans.0.into_inner().unwrap();
    let held = held.expect("the tests' allocator counts");
    eprintln!(
        "{name:40} planned {:8.2} held {:8.2} MiB ratio {:5.2} {what}",
        planned as f64 / 1048576.0,
        held as f64 / 1048576.0,
        planned as f64 / held as f64
    );
    (planned, held)
}

#[test]
fn selectors_take_what_they_plan() {
    for (n, d) in [(600, 40), (2000, 60), (700, 600)] {
        let data = data(n, d);
        for info in SELECTORS {
            let method = SelectorMethod::by_name(info.name).unwrap();
            let name = format!("{} {n} x {d}", info.name);
            planned_and_held(&name, |ctx| method.select(&data, Wanted::Count(5), ctx).map(drop));
        }
    }
}

#[test]
fn bases_and_spaces_take_what_they_plan() {
    for (n, d) in [(500, 30), (1000, 30), (1500, 100)] {
        let data = data(n, d);
        for info in BASES {
            let method = BasisMethod::by_name(info.name).unwrap();
            planned_and_held(&format!("{} {n} x {d}", info.name), |ctx| method.fit(&data, ctx).map(drop));
        }
        for info in SPACES {
            let method = KernelSpaceSelector::by_name(info.name).unwrap();
            let name = format!("{} {n} x {d}", info.name);
            planned_and_held(&name, |ctx| method.fit(&data, Wanted::OwnRule, ctx).map(drop));
        }
    }
}

#[test]
fn learners_take_what_they_plan() {
    for (n, d, triples) in [(200, 20, 2000), (400, 40, 4000), (800, 30, 8000)] {
        let data = data(n, d);
        for info in LEARNERS {
            let method = LearnerMethod::by_name(info.name).unwrap();
            let name = format!("{} {n} x {d}", info.name);
            planned_and_held(&name, |ctx| method.learn_from_target(&data, triples, ctx).map(drop));
        }
    }
}
