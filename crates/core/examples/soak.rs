//! Soak test: random methods on random data with random faults. Usage: `soak [SECONDS [SEED]]`.
//!
//! Counts runs, results, clean errors, interrupted runs, wrong results and panics. A result is wrong if it is invalid (a
//! number is not finite, the order is not a permutation), or if another number of threads, a repeated run, or a saved and
//! loaded model gives a different one. Prints the counts as JSON; exits with 1 if anything was wrong.

#[path = "../tests/all_methods.rs"]
mod all_methods;

use all_methods::{Method, MethodResult, TimeLimit, methods, sparse, try_method};
use kernsift::data::read::{ReadOptions, read_bytes};
use kernsift::data::write::{WriteOptions, write_table_to};
use kernsift::data::{Classes, Column, Dataset, Standardizer, Target};
use kernsift::internals::Counting;
use kernsift::internals::Rng;
use kernsift::model::Content;
use kernsift::select::{FeatureCount, Selector, SelectorMethod};
use kernsift::{Context, Error, Model};
use ndarray::Array2;
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Time after which a run is interrupted.
const TIME_LIMIT: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Counts {
    runs: usize,
    answers: usize,
    clean_errors: usize,
    stopped: usize,
    files: usize,
    wrong_answers: usize,
    panics: usize,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(600, |text| text.parse().expect("seconds"));
    let seed: u64 = arguments.next().map_or(0, |text| text.parse().expect("a seed"));
    // Panics are counted and reported in one line.
    std::panic::set_hook(Box::new(|_| {}));
    let pools: Vec<rayon::ThreadPool> = (1..=4)
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"))
        .collect();
    let methods = methods();
    let mut counts = Counts::default();
    let start = Instant::now();
    let mut round = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        round += 1;
        let mut rng = Rng::stream(seed, &format!("soak {round}"));
        let method = &methods[rng.below(methods.len())];
        let data = data(&mut rng);
        let label = format!("round {round}, {} on {} x {}", method.name, data.n(), data.d());
        one_run(method, &data, &pools, &mut rng, &mut counts, &label);
        if rng.below(4) == 0 {
            one_file(&data, &mut rng, &mut counts, &label);
        }
    }
    let sound = counts.wrong_answers + counts.panics == 0;
    let record = json!({
        "seconds": start.elapsed().as_secs(), "seed": seed, "runs": counts.runs, "answers": counts.answers,
        "clean_errors": counts.clean_errors, "stopped": counts.stopped, "files": counts.files,
        "wrong_answers": counts.wrong_answers, "panics": counts.panics,
    });
    println!("{record:#}");
    std::process::exit(i32::from(!sound));
}

/// Runs a method, possibly with a small memory or time limit, and repeats a successful run on another number of threads.
fn one_run(
    method: &Method,
    data: &Dataset,
    pools: &[rayon::ThreadPool],
    rng: &mut Rng,
    counts: &mut Counts,
    label: &str,
) {
    let memory_limit = if rng.below(6) == 0 { 1 << rng.below(24) } else { 4 << 30 };
    let time_limit = if rng.below(6) == 0 { Duration::from_micros(1 << rng.below(16)) } else { TIME_LIMIT };
    let [first, second] = [rng.below(pools.len()), rng.below(pools.len())];
    let run = |pool: usize| {
        pools[pool].install(|| try_method(method, data, &TimeLimit::new(time_limit), memory_limit))
    };
    counts.runs += 1;
    match run(first) {
        Err(fault) => counts.add_fault(&fault, label),
        Ok(Err(error)) if error.is_interrupted() => counts.stopped += 1,
        Ok(Err(_)) => counts.clean_errors += 1,
        Ok(Ok(result)) => {
            counts.answers += 1;
            match run(second) {
                Err(fault) => counts.add_fault(&fault, label),
                // Time limits are not deterministic.
                Ok(Err(error)) if error.is_interrupted() => {}
                // More threads need more memory.
                Ok(Err(Error::Memory { .. })) => {}
                Ok(Err(error)) => counts.add_fault(&format!("a result, then {error}"), label),
                Ok(Ok(again)) if bits(&again) != bits(&result) => {
                    counts.add_fault("a different result on another number of threads", label);
                }
                Ok(Ok(_)) => {}
            }
        }
    }
}

fn bits(result: &MethodResult) -> (Vec<usize>, Vec<u64>) {
    (result.order.clone(), result.numbers.iter().map(|v| v.to_bits()).collect())
}

impl Counts {
    fn add_fault(&mut self, fault: &str, label: &str) {
        eprintln!("{label}: {fault}");
        *(if fault.starts_with("a panic") { &mut self.panics } else { &mut self.wrong_answers }) += 1;
    }
}

/// Writes data as CSV and as a model and reads them back, intact and damaged. Damaged files may be rejected.
fn one_file(data: &Dataset, rng: &mut Rng, counts: &mut Counts, label: &str) {
    counts.files += 1;
    let ctx = Context { memory_limit: 1 << 30, ..Context::default() };
    let found = catch_unwind(AssertUnwindSafe(|| -> Result<(), String> {
        let mut text = vec![];
        let x = data.x().to_dense();
        let extra = [Column::numeric("target", (0..data.n()).map(|i| i as f64).collect())];
        write_table_to(&mut text, data.names(), x.view(), &extra, &WriteOptions::default(), &ctx)
            .map_err(|e| e.to_string())?;
        let read = |bytes: &[u8]| read_bytes("t.csv", bytes, &ReadOptions::default(), &ctx);
        let (table, _) = read(&text).map_err(|e| format!("a written file is rejected: {e}"))?;
        if table.n_rows() != data.n() {
            return Err("rows were lost in a file".into());
        }
        let _ = read(&damaged(&text, rng));
        let method = SelectorMethod::by_name("fisher").map_err(|e| e.to_string())?;
        let Ok(selection) = method.select(data, FeatureCount::Auto, &ctx) else { return Ok(()) };
        let content = Content::Selection(selection);
        let model = Model { names: data.names().to_vec(), recipe: None, encoder: None, content };
        let bytes = model.to_bytes().map_err(|e| e.to_string())?;
        if Model::from_bytes(&bytes).map_err(|e| e.to_string())? != model {
            return Err("a saved model differs".into());
        }
        match Model::from_bytes(&damaged(&bytes, rng)) {
            Ok(other) if other != model => Err("a damaged model was accepted".into()),
            _ => Ok(()),
        }
    }));
    match found {
        Ok(Ok(())) => {}
        Ok(Err(fault)) => counts.add_fault(&fault, label),
        Err(_) => counts.add_fault("a panic in a file", label),
    }
}

fn damaged(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len());
        match rng.below(3) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes.truncate(at.max(1)),
            _ => bytes.insert(at, rng.below(256) as u8),
        }
    }
    bytes
}

/// Random data with a random type of target, standardized or not.
fn data(rng: &mut Rng) -> Dataset {
    let size = |most: f64, rng: &mut Rng| most.powf(rng.uniform()).round().max(1.0) as usize;
    let (n, d) = (size(400.0, rng), size(60.0, rng));
    let mut x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    match rng.below(7) {
        0 => x.mapv_inplace(f64::round),
        1 => x.columns_mut().into_iter().for_each(|mut column| {
            let by = 10f64.powi(rng.below(560) as i32 - 280);
            column.mapv_inplace(|v| v * by);
        }),
        2 => {
            let (from, to) = (rng.below(d), rng.below(d));
            let copy = x.column(from).to_owned();
            x.column_mut(to).assign(&copy);
        }
        3 => x.column_mut(rng.below(d)).fill(0.1),
        4 => {
            let copy = x.row(rng.below(n)).to_owned();
            (0..n).step_by(2).for_each(|i| x.row_mut(i).assign(&copy));
        }
        5 => x[[rng.below(n), rng.below(d)]] = 1e300,
        _ => {}
    }
    let target = match rng.below(6) {
        0 => Target::Continuous(x.rows().into_iter().map(|row| row[0].clamp(-1e9, 1e9)).collect()),
        1 => Target::None,
        2 => Target::Classes(Classes::from_codes((0..n).map(|_| rng.below(5)).collect())),
        3 => Target::Classes(Classes::from_codes((0..n).collect())),
        _ => Target::Classes(Classes::from_codes(
            x.rows().into_iter().map(|row| usize::from(row[0] > 0.0)).collect(),
        )),
    };
    let data = if rng.below(5) == 0 {
        x.mapv_inplace(|v| if v.abs() < 1.0 { 0.0 } else { v });
        Dataset::with_target(sparse(&x), target)
    } else {
        Dataset::with_target(x, target)
    };
    let data = data.expect("finite numbers");
    if rng.below(2) == 0 {
        return data;
    }
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).expect("as many columns"))
        .expect("finite numbers")
}
