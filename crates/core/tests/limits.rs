//! What methods say they will take beside what they take.

use kernsift::basis::{BASES, Basis, BasisMethod, Kobl, Pivoting};
use kernsift::data::{Dataset, Standardizer};
use kernsift::learn::{LEARNERS, LearnerMethod};
use kernsift::memory::metered;
use kernsift::random::Rng;
use kernsift::select::{FeatureCount, SELECTORS, Selector, SelectorMethod};
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

fn data((n, d): (usize, usize)) -> Dataset {
    let mut rng = Rng::new(7);
    let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] * row[1] + row[2] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

/// Runs some work on two threads of its own; what is wrong between its largest plan and the most it held.
fn misjudged(
    name: &str,
    (n, d): (usize, usize),
    work: impl Fn(&Context) -> Result<()> + Sync,
) -> Option<String> {
    let plans = Plans::default();
    let ctx = Context { observer: &plans, ..Context::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (done, held) = pool.install(|| metered(|| work(&ctx)));
    done.unwrap_or_else(|e| panic!("{name} {n} x {d}: {e}"));
    let (planned, what) = plans.0.into_inner().unwrap();
    let held = held.expect("the tests' allocator counts") as f64;
    // A quarter; and for small work the buffers of products, which it may do without: 4 MiB for each thread.
    let allowed = (0.25 * held).max(8.0 * 1048576.0);
    let mib = |bytes: f64| bytes / 1048576.0;
    let line =
        format!("{name} {n} x {d} planned {:.1}, held {:.1} MiB: {what}", mib(planned as f64), mib(held));
    println!("{line}");
    ((planned as f64 - held).abs() > allowed).then_some(line)
}

#[test]
fn bases_and_spaces_take_what_they_plan() {
    let mut wrong = vec![];
    for size in [(500, 30), (800, 30), (1200, 60)] {
        let data = data(size);
        for info in BASES {
            let method = BasisMethod::by_name(info.name).unwrap();
            wrong.extend(misjudged(info.name, size, |ctx| method.fit(&data, ctx).map(drop)));
        }
        for info in SPACES {
            let method = KernelSpaceSelector::by_name(info.name).unwrap();
            let fit = |ctx: &Context| method.fit(&data, FeatureCount::Auto, ctx).map(drop);
            wrong.extend(misjudged(info.name, size, fit));
        }
    }
    let tall = data((20_000, 10));
    let mut kobl = BasisMethod::by_name("kobl").unwrap();
    *kobl.n_components_mut() = Some(200);
    wrong.extend(misjudged("kobl", (20_000, 10), |ctx| kobl.fit(&tall, ctx).map(drop)));
    for size in [(800, 30), (1200, 2000), (20_000, 10)] {
        let data = data(size);
        let gain = Kobl { pivoting: Pivoting::Gain, n_components: Some(300), ..Kobl::default() };
        wrong.extend(misjudged("kobl by gain", size, |ctx| gain.fit(&data, ctx).map(drop)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn selectors_take_what_they_plan() {
    let mut wrong = vec![];
    for info in SELECTORS {
        let method = SelectorMethod::by_name(info.name).unwrap();
        // Small for those that take long, tall for those that take a column at a time.
        let sizes = match info.name {
            "hsfs" => [(400, 30), (200, 300), (100, 1000)],
            "fisher" | "ffs" | "information-gain" | "mutual-information" | "chi-squared" => {
                [(2000, 60), (60_000, 20), (150_000, 10)]
            }
            "relief" | "laplacian" | "l1-svm" | "ldfs" | "pfs" => [(1000, 400), (3000, 600), (100, 6000)],
            _ => [(600, 40), (2000, 60), (600, 400)],
        };
        for size in sizes {
            let data = data(size);
            let select = |ctx: &Context| method.select(&data, FeatureCount::Count(10), ctx).map(drop);
            wrong.extend(misjudged(info.name, size, select));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn learners_take_what_they_plan() {
    let mut wrong = vec![];
    for info in LEARNERS {
        let method = LearnerMethod::by_name(info.name).unwrap();
        for (size, triples) in [((600, 40), 500), ((2000, 30), 3000), ((100, 600), 300)] {
            let data = data(size);
            let learn = |ctx: &Context| method.learn_from_target(&data, triples, ctx).map(drop);
            wrong.extend(misjudged(info.name, size, learn));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
