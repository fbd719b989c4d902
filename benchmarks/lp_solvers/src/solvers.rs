//! The solvers, and the conversion of the program to the input of each.

use crate::instance::Instance;
use crate::lp::{Form, Lp};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};
use kernsift::internals::Ending;

/// The tolerance of kernel design.
pub const TOLERANCE: f64 = 1e-8;

/// The environment variable that names a Python with scipy.
const PYTHON: &str = "LP_SOLVERS_PYTHON";

/// The error of a solver in another process that exceeded the time limit.
pub const TOO_LONG: &str = "too long";

/// A solver and the form of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    Ours,
    Microlp(Form),
    Clarabel(Form),
    HighsSimplex(Form),
    HighsInterior(Form),
}

pub const SOLVERS: [Solver; 9] = [
    Solver::Ours,
    Solver::Clarabel(Form::Primal),
    Solver::Clarabel(Form::Dual),
    Solver::HighsSimplex(Form::Primal),
    Solver::HighsSimplex(Form::Dual),
    Solver::HighsInterior(Form::Primal),
    Solver::HighsInterior(Form::Dual),
    Solver::Microlp(Form::Primal),
    Solver::Microlp(Form::Dual),
];

/// An answer.
pub struct Answer {
    /// As the solver reports it.
    pub objective: f64,
    /// `None` if the solver does not return them.
    pub weights: Option<Vec<f64>>,
    /// The solver's warning, if any.
    pub note: Option<String>,
    /// Processor time, if another process used it.
    pub seconds: Option<f64>,
}

impl Answer {
    fn new(objective: f64, weights: Option<Vec<f64>>) -> Self {
        Self { objective, weights, note: None, seconds: None }
    }
}

impl Solver {
    pub fn label(self) -> String {
        let with = |name: &str, form: Form| {
            format!("{name}, {}", if form == Form::Primal { "primal" } else { "dual" })
        };
        match self {
            Self::Ours => "ours".into(),
            Self::Microlp(form) => with("microlp", form),
            Self::Clarabel(form) => with("clarabel", form),
            Self::HighsSimplex(form) => with("HiGHS simplex", form),
            Self::HighsInterior(form) => with("HiGHS interior", form),
        }
    }

    /// Whether it is compiled in or available from Python.
    pub fn is_there(self) -> bool {
        cfg!(feature = "highs")
            || std::env::var_os(PYTHON).is_some()
            || !matches!(self, Self::HighsSimplex(_) | Self::HighsInterior(_))
    }

    /// Builds and solves the program; an error is the solver's message.
    pub fn solve(self, instance: &Instance) -> Result<Answer, String> {
        let lp = |form| Lp::new(instance, form);
        let mut answer = match self {
            Self::Ours => return ours(instance),
            Self::Microlp(form) => microlp(&lp(form), form),
            Self::Clarabel(form) => clarabel(&lp(form), form),
            Self::HighsSimplex(form) => highs(&lp(form), form, "simplex"),
            Self::HighsInterior(form) => highs(&lp(form), form, "ipm"),
        }?;
        let (Self::Microlp(form)
        | Self::Clarabel(form)
        | Self::HighsSimplex(form)
        | Self::HighsInterior(form)) = self
        else {
            return Ok(answer);
        };
        let sign = if form == Form::Primal { 1.0 } else { -1.0 };
        answer.objective *= sign / instance.margins.nrows() as f64;
        if let Some(weights) = &mut answer.weights {
            weights.truncate(instance.bounds.len());
        }
        Ok(answer)
    }
}

fn ours(instance: &Instance) -> Result<Answer, String> {
    let solution = instance.solve(TOLERANCE).map_err(|error| error.to_string())?;
    let mut answer = Answer::new(solution.objective, Some(solution.weights));
    if solution.ending != Ending::Optimal {
        let gap = (solution.objective - solution.bound) / solution.objective;
        answer.note = Some(format!("{:?} with a proven relative gap of {gap:.0e}", solution.ending));
    }
    Ok(answer)
}

fn microlp(lp: &Lp, form: Form) -> Result<Answer, String> {
    use microlp::{ComparisonOp, OptimizationDirection, Problem};
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let columns: Vec<_> = lp
        .costs
        .iter()
        .zip(&lp.columns)
        .map(|(cost, [low, high])| problem.add_var(*cost, (*low, *high)))
        .collect();
    for (entries, &[low, high]) in lp.by_rows().into_iter().zip(&lp.rows) {
        let (op, side) = match (low == high, low.is_finite()) {
            (true, _) => (ComparisonOp::Eq, high),
            (false, true) => (ComparisonOp::Ge, low),
            (false, false) => (ComparisonOp::Le, high),
        };
        problem.add_constraint(entries.into_iter().map(|(at, value)| (columns[at], value)), op, side);
    }
    let outcome = problem.solve().map_err(|error| error.to_string())?;
    let solution = outcome.into_solution().map_err(|_| "interrupted".to_owned())?;
    // It does not return dual values of rows, which are the weights if the dual is solved.
    let weights =
        (form == Form::Primal).then(|| columns.iter().map(|&column| solution.var_value(column)).collect());
    Ok(Answer::new(solution.objective(), weights))
}

/// A x + s = b with s in a cone: first the equations, then rows and bounds as upper bounds.
fn clarabel(lp: &Lp, form: Form) -> Result<Answer, String> {
    let (mut side, mut rows, mut place) = (vec![], vec![], vec![usize::MAX; lp.rows.len()]);
    for equal in [true, false] {
        for (row, &[low, high]) in lp.rows.iter().enumerate() {
            if (low == high) == equal {
                let sign = if high.is_finite() { 1.0 } else { -1.0 };
                place[row] = side.len();
                side.push(if high.is_finite() { high } else { -low });
                rows.push(sign);
            }
        }
    }
    let equal = lp.rows.iter().filter(|[low, high]| low == high).count();
    let (mut start, mut index, mut value) = (vec![0], vec![], vec![]);
    for (column, entries) in lp.entries.iter().enumerate() {
        let mut all: Vec<(usize, f64)> =
            entries.iter().map(|&(row, v)| (place[row], rows[place[row]] * v)).collect();
        let [low, high] = lp.columns[column];
        for (bound, sign) in [(low, -1.0), (high, 1.0)] {
            if bound.is_finite() {
                all.push((side.len(), sign));
                side.push(sign * bound);
            }
        }
        all.sort_unstable_by_key(|(row, _)| *row);
        index.extend(all.iter().map(|(row, _)| *row));
        value.extend(all.iter().map(|(_, v)| *v));
        start.push(index.len());
    }
    let n = lp.costs.len();
    let a = CscMatrix::new(side.len(), n, start, index, value);
    let cones = [ZeroConeT(equal), NonnegativeConeT(side.len() - equal)];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .max_threads(1)
        .build()
        .map_err(|error| error.to_string())?;
    let mut solver = DefaultSolver::new(
        &CscMatrix::zeros((n, n)),
        &lp.costs,
        &a,
        &side,
        &cones[usize::from(equal == 0)..],
        settings,
    )
    .map_err(|error| error.to_string())?;
    solver.solve();
    let solution = &solver.solution;
    if !matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
        return Err(format!("{:?}", solution.status));
    }
    let weights = match form {
        Form::Primal => solution.x.clone(),
        Form::Dual => place.iter().map(|&row| solution.z[row]).collect(),
    };
    let mut answer = Answer::new(solution.obj_val, Some(weights));
    answer.note = (solution.status != SolverStatus::Solved).then(|| format!("{:?}", solution.status));
    Ok(answer)
}

#[cfg(feature = "highs")]
fn highs(lp: &Lp, form: Form, method: &str) -> Result<Answer, String> {
    use highs::{ColProblem, HighsModelStatus, Sense};
    let mut problem = ColProblem::new();
    let rows: Vec<_> = lp.rows.iter().map(|&[low, high]| problem.add_row(low..=high)).collect();
    for (column, entries) in lp.entries.iter().enumerate() {
        let [low, high] = lp.columns[column];
        problem.add_column(lp.costs[column], low..=high, entries.iter().map(|&(row, v)| (rows[row], v)));
    }
    let mut model = problem.try_optimise(Sense::Minimise).map_err(|status| format!("{status:?}"))?;
    model.make_quiet();
    model.set_option("solver", method);
    model.set_option("parallel", "off");
    model.set_option("threads", 1);
    let solved = model.try_solve().map_err(|status| format!("{status:?}"))?;
    if solved.status() != HighsModelStatus::Optimal {
        return Err(format!("{:?}", solved.status()));
    }
    let solution = solved.get_solution();
    let weights = match form {
        Form::Primal => solution.columns().to_vec(),
        // HiGHS minimizes, so dual values have the opposite sign.
        Form::Dual => solution.dual_rows().iter().map(|dual| -dual).collect(),
    };
    Ok(Answer::new(solved.objective_value(), Some(weights)))
}

/// HiGHS in scipy.
#[cfg(not(feature = "highs"))]
fn highs(lp: &Lp, form: Form, method: &str) -> Result<Answer, String> {
    let python = std::env::var_os(PYTHON).ok_or("not compiled in")?;
    let path = std::env::temp_dir().join(format!("lp_solvers_{}.bin", std::process::id()));
    lp.write(&path).map_err(|error| error.to_string())?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/highs_by_scipy.py");
    let output = std::process::Command::new(python).arg(script).arg(&path).arg(method).output();
    let removed = std::fs::remove_file(&path);
    let output = output.map_err(|error| error.to_string())?;
    removed.map_err(|error| error.to_string())?;
    if output.status.code().is_none() {
        return Err(TOO_LONG.into());
    }
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<Vec<f64>> = text
        .lines()
        .map(|line| {
            line.split(' ').map(|word| word.parse().map_err(|_| format!("no number: {word}"))).collect()
        })
        .collect::<Result<_, String>>()?;
    let [seconds, objective, columns, duals] = &numbers[..] else { return Err("no four lines".into()) };
    let weights = match form {
        Form::Primal => columns.clone(),
        Form::Dual => duals.iter().map(|dual| -dual).collect(),
    };
    let mut answer = Answer::new(objective[0], Some(weights));
    answer.seconds = Some(seconds[0]);
    Ok(answer)
}
