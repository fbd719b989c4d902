//! Linear programs of kernel design, solved by several solvers: processor time and accuracy.
//!
//! Each solver runs on each instance in a separate process, on one thread, with a limit on processor time.
//!
//! Run with `cargo run --release --features highs` in this folder; an argument sets the limit in seconds. Without the feature,
//! HiGHS comes from scipy in the Python that `LP_SOLVERS_PYTHON` names.
//! `cargo run --release -- check` solves all instances with our solver and fails if one does not reach the tolerance.

mod instance;
mod lp;
mod solvers;

use cpu_time::ProcessTime;
use instance::{Instance, SOURCES, Source};
use kernsift::Result;
use kernsift::internals::Ending;
use solvers::{SOLVERS, Solver};
use std::process::{Command, Stdio};

/// Seconds of processor time for a solver on an instance.
const LIMIT: u64 = 120;
/// Shorter runs are repeated, and the fastest is reported.
const SHORT: f64 = 5.0;

/// The outcome of a solver on an instance.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    /// `objective` is that of the weights if `by_weights`, else the solver's; `note` is empty or the solver's warning.
    Done {
        seconds: f64,
        objective: f64,
        by_weights: bool,
        note: String,
    },
    Failed(String),
    TooLong,
    NotRun,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, source, solver] = &args[..]
        && word == "cell"
    {
        return cell(
            SOURCES[source.parse::<usize>().expect("a number")],
            SOLVERS[solver.parse::<usize>().expect("a number")],
        );
    }
    if args.get(1).is_some_and(|word| word == "check") {
        return check();
    }
    let limit = args.get(1).map_or(LIMIT, |text| text.parse().expect("seconds"));
    let solvers: Vec<usize> = (0..SOLVERS.len()).filter(|&s| SOLVERS[s].is_there()).collect();
    let mut rows: Vec<Vec<Cell>> = vec![];
    for (at, source) in SOURCES.iter().enumerate() {
        // A smaller instance of the same data set: fewer triplets or fewer cuts.
        let smaller =
            (0..at).rev().find(|&s| SOURCES[s].name == source.name && is_smaller(SOURCES[s], *source));
        let row: Vec<Cell> = solvers
            .iter()
            .enumerate()
            .map(|(place, &solver)| {
                let skip = smaller.is_some_and(|s| matches!(rows[s][place], Cell::TooLong | Cell::NotRun));
                let cell = if skip { Cell::NotRun } else { in_process(at, solver, limit) };
                eprintln!("{}: {}: {cell:?}", source.label(), SOLVERS[solver].label());
                cell
            })
            .collect();
        rows.push(row);
    }
    print(&solvers, &rows, limit)
}

/// Solves all instances with our solver.
fn check() -> Result<()> {
    let mut failures = 0;
    for source in SOURCES {
        let solution = Instance::new(source)?.solve(solvers::TOLERANCE)?;
        let gap = (solution.objective - solution.bound) / solution.objective;
        println!(
            "{}: {:?}, gap {gap:.0e}, {} iterations",
            source.label(),
            solution.ending,
            solution.iterations
        );
        failures += usize::from(solution.ending != Ending::Optimal);
    }
    if failures > 0 {
        eprintln!("{failures} of {} instances did not reach the tolerance", SOURCES.len());
        std::process::exit(1);
    }
    Ok(())
}

fn is_smaller(a: Source, b: Source) -> bool {
    (a.kind == b.kind && a.triplets < b.triplets)
        || (a.kind == instance::Kind::FirstRound && b.kind == instance::Kind::SecondRound)
}

/// Runs one solver on one instance. Prints a line with seconds and the objective, or the error.
fn cell(source: Source, solver: Solver) -> Result<()> {
    let instance = Instance::new(source)?;
    let mut seconds = f64::INFINITY;
    let mut last = Err(String::new());
    for _ in 0..3 {
        let start = ProcessTime::now();
        last = solver.solve(&instance);
        let own = start.elapsed().as_secs_f64();
        let taken = last.as_ref().ok().and_then(|answer| answer.seconds).unwrap_or(own);
        seconds = seconds.min(taken);
        if seconds > SHORT || last.is_err() {
            break;
        }
    }
    match last {
        Ok(answer) => {
            let by_weights = answer.weights.is_some();
            let value =
                answer.weights.map_or(answer.objective, |weights| instance.feasible_objective(&weights));
            println!("done {seconds} {value} {by_weights} {}", answer.note.unwrap_or_default());
        }
        Err(text) if text == solvers::TOO_LONG => println!("long"),
        Err(text) => println!("failed {}", text.lines().next().unwrap_or_default()),
    }
    Ok(())
}

fn in_process(source: usize, solver: usize, limit: u64) -> Cell {
    let program = std::env::current_exe().expect("this program");
    // The shell's limit is on processor time: a busy machine does not cut a run short.
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -t {limit}; exec \"$0\" cell {source} {solver}")])
        .arg(program)
        .env("RAYON_NUM_THREADS", "1")
        .stderr(Stdio::piped())
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let words: Vec<&str> = last.splitn(5, ' ').collect();
    match words[..] {
        ["done", seconds, objective, by_weights, note] => Cell::Done {
            seconds: seconds.parse().expect("a number"),
            objective: objective.parse().expect("a number"),
            by_weights: by_weights == "true",
            note: note.to_owned(),
        },
        ["long"] => Cell::TooLong,
        ["failed", ..] => Cell::Failed(last["failed ".len()..].to_owned()),
        // Killed by the limit: no exit code. A panic has one.
        _ if output.status.code().is_none() => Cell::TooLong,
        _ => Cell::Failed(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("").to_owned()),
    }
}

fn print(solvers: &[usize], rows: &[Vec<Cell>], limit: u64) -> Result<()> {
    let heads: Vec<String> = solvers.iter().map(|&s| SOLVERS[s].label()).collect();
    println!("| instance | triplets | kernels | cuts |\n|---|---|---|---|");
    for source in SOURCES {
        let instance = Instance::new(source)?;
        let (t, k) = instance.margins.dim();
        println!("| {} | {t} | {k} | {} |", source.label(), instance.cuts.nrows());
    }
    println!("\nSeconds of processor time:\n\n| instance | {} |", heads.join(" | "));
    println!("|---|{}", "---|".repeat(heads.len()));
    let mut notes = vec![];
    for (source, row) in SOURCES.iter().zip(rows) {
        let cells: Vec<String> = row
            .iter()
            .zip(&heads)
            .map(|(cell, head)| match cell {
                Cell::Done { seconds, note, .. } => {
                    let converged = note.is_empty();
                    if !converged {
                        notes.push(format!("- {}: {head}: {note}", source.label()));
                    }
                    format!("{seconds:.3}{}", if converged { "" } else { " *" })
                }
                Cell::Failed(text) => {
                    notes.push(format!("- {}: {head}: {text}", source.label()));
                    "failed".into()
                }
                Cell::TooLong => format!("> {limit}"),
                Cell::NotRun => "not run".into(),
            })
            .collect();
        println!("| {} | {} |", source.label(), cells.join(" | "));
    }
    println!("\nRelative difference to the smallest objective:\n\n| instance | {} |", heads.join(" | "));
    println!("|---|{}", "---|".repeat(heads.len()));
    for (source, row) in SOURCES.iter().zip(rows) {
        // All these weights are feasible.
        let best = row.iter().filter_map(|cell| match cell {
            Cell::Done { objective, by_weights: true, .. } => Some(*objective),
            _ => None,
        });
        let best = best.fold(f64::INFINITY, f64::min);
        let cells: Vec<String> = row
            .iter()
            .map(|cell| match cell {
                Cell::Done { objective, .. } => format!("{:.0e}", (objective - best) / best),
                _ => "-".into(),
            })
            .collect();
        println!("| {} | {} |", source.label(), cells.join(" | "));
    }
    if !notes.is_empty() {
        println!("\nFailures and warnings:\n\n{}", notes.join("\n"));
    }
    Ok(())
}
