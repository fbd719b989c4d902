//! Cost of kernel design, compared with solving the full linear program.

use crate::checkpoint::{Checkpoint, Numbers};
use crate::datasets::built_in;
use crate::paper::Settings;
use crate::study::{Section, Table, Verdict};
use kernsift::data::Standardizer;
use kernsift::data::triplets::from_target;
use kernsift::kernel::Family;
use kernsift::learn::KernelDesign;
use kernsift::learn::design::{Bases, Penalties, Psd};
use kernsift::{Context, Error, Result};
use rayon::ThreadPool;
use std::time::Instant;

/// Data sets of increasing size; a quick run uses the first.
const DATASETS: [&str; 3] = ["wine", "ionosphere", "wdbc"];
const N_TRIPLETS: usize = 1500;
const PENALTY: f64 = 1e-4;

/// The first data set with one variable per pair of rows, solved by the dual simplex method of HiGHS: its optimum, its CPU time, and our CPU
/// time in the same run of `make bench`, on one thread.
const FULL_PROGRAM: FullProgram = FullProgram { objective: 0.14822214808226905, seconds: 65.5, ours: 0.15 };

struct FullProgram {
    objective: f64,
    seconds: f64,
    ours: f64,
}

fn design() -> KernelDesign {
    KernelDesign {
        bases: Bases { kernels: vec![Family::Rbf], gammas: Some(vec![1.0, 0.1, 0.01]), ..Bases::default() },
        psd: Psd::DominanceWithNoise,
        threshold: 0.0,
        ..KernelDesign::default()
    }
    .with_penalties(Penalties { kernels: PENALTY, diagonal: PENALTY })
}

/// Solves the design problem of a data set; returns facts about the solution and the seconds.
fn solve(name: &str, pool: &ThreadPool, ctx: &Context) -> Result<(Numbers, f64)> {
    let data = built_in(name)?;
    let rows: Vec<usize> = (0..data.n()).collect();
    let triplets = from_target(data.target(), &rows, N_TRIPLETS, ctx)?;
    let data = data.with_x(Standardizer::fit(data.x()).apply(data.x())?)?;
    let start = Instant::now();
    let design = pool.install(|| design().design(&data, &triplets, ctx))?.mixture;
    let seconds = start.elapsed().as_secs_f64();
    let numbers = [
        ("rows".to_owned(), data.n() as f64),
        ("kernels".to_owned(), design.alpha.len() as f64),
        ("rounds".to_owned(), design.bounds.len() as f64),
        ("cuts".to_owned(), design.cuts as f64),
        ("objective".to_owned(), design.objective),
    ];
    Ok((numbers.into(), seconds))
}

/// The section.
pub fn run(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<Section> {
    let datasets = if settings.quick { &DATASETS[..1] } else { &DATASETS[..] };
    let names: Vec<String> = datasets.iter().map(|name| format!("speed, {name}")).collect();
    // The triplets must be those of the full program.
    let fixed = Context { seed: 0, ..*ctx };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(|error| Error::Breakdown { step: "speed", why: error.to_string() })?;
    let solved =
        checkpoint.measure("speed", &names, &fixed, |i, ctx| Ok(solve(datasets[i], &pool, ctx)?.0))?;
    let times = checkpoint.time("speed", &names, &fixed, |i, ctx| {
        Ok([("seconds".to_owned(), solve(datasets[i], &pool, ctx)?.1)].into())
    })?;
    let mut table = Table::new(
        "One thread, three gammas per feature, noise, both penalties 1e-4",
        ["data set", "rows", "kernels", "rounds", "cuts", "objective", "seconds"],
    );
    for ((name, numbers), times) in datasets.iter().zip(&solved).zip(&times) {
        let count = |name: &str| format!("{:.0}", numbers[name]);
        table.push([
            (*name).to_owned(),
            count("rows"),
            count("kernels"),
            count("rounds"),
            count("cuts"),
            format!("{:.9}", numbers["objective"]),
            format!("{:.2}", times["seconds"]),
        ]);
    }
    Ok(section(solved[0]["objective"], table))
}

fn section(objective: f64, table: Table) -> Section {
    let difference = (objective / FULL_PROGRAM.objective - 1.0).abs();
    let ratio = FULL_PROGRAM.seconds / FULL_PROGRAM.ours;
    Section::new(
        "P2-speed",
        "Cost of the linear program",
        "A linear program is far cheaper than a semidefinite program.",
        "All rows, 1500 triplets, dominance with noise by cutting planes; compared with the program with one variable per pair of rows, solved by HiGHS.",
        "On wine, the optimum equals that of the full program to 1e-6 and is found at least 20 times faster.",
    )
    .result(
        Verdict::of(difference <= 1e-6 && ratio >= 20.0),
        format!(
            "Relative difference of the optima {difference:.0e}; {:.2} s against {:.0} s of CPU time, {ratio:.0} times faster.",
            FULL_PROGRAM.ours, FULL_PROGRAM.seconds
        ),
    )
    .table(table)
    .note(
        "HiGHS is not part of this package. Its optimum and time, and our time for the ratio, are from one run of `make bench` \
         ([speed.md](speed.md)). The table is from this run.",
    )
}
