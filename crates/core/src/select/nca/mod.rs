//! NCA: selects the features with which a kernel classifier or regressor predicts every row best from the others.

mod candidates;
mod cells;
mod forward;
mod goal;
mod gradient;
mod problem;
mod rough;
mod run;
mod settings;
mod subsamples;
#[cfg(test)]
mod tests;

pub use settings::{Nca, NcaSearch};

use super::selector::{FeatureCount, Selection, Selector};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::method::Info;
use candidates::candidates;
use forward::Forward;
use goal::Goal;
use problem::{Problem, sorted_rows};
use rough::Rough;
use run::Run;
use settings::NAME;

impl Nca {
    /// A selection for each number of features; `None` chooses it automatically.
    fn select_counts(
        &self,
        data: &Dataset,
        counts: &[Option<usize>],
        ctx: &Context,
    ) -> Result<Vec<Selection>> {
        self.check()?;
        data.need_complete(NAME)?;
        Goal::check(data, NAME)?;
        Problem::check(data)?;
        let rows = sorted_rows(data);
        let candidates = candidates(data, &rows, ctx)?;
        let n = rows.len();
        let ctx = &ctx.hold(
            format!("{NAME}'s copy of the features"),
            Problem::bytes(data, n, &candidates.features) + 16.0 * data.n() as f64,
            "use fewer rows or columns",
        )?;
        let problem = Problem::new(data, &rows, candidates.features.clone());
        let m = problem.n_landmarks();
        ctx.need_memory(format!("{NAME}'s kernel values"), Rough::bytes(n, m), "use fewer rows")?;
        if n < data.n() || m < n {
            ctx.note(format!("{NAME}: the loss of {n} of {} rows, by {m} landmarks", data.n()));
        }
        let all: Vec<usize> = (0..problem.features.len()).collect();
        let wanted = counts.iter().copied().max().flatten();
        let forward = Forward::run(&problem, &all, wanted, ctx)?;
        let mut run = Run::new(self, data, candidates.others, &rows, &problem, forward, ctx)?;
        counts.iter().map(|&count| run.selection(count, ctx)).collect()
    }
}

impl Selector for Nca {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn has_path(&self) -> bool {
        true
    }

    /// Swaps and averages over subsamples depend on the number of features.
    fn nested(&self) -> bool {
        self.search == NcaSearch::Forward && !self.swaps && matches!(self.n_subsamples, Some(0 | 1))
    }

    fn select(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection> {
        let count = count.resolve(NAME, data.d())?;
        Ok(self.select_counts(data, &[count], ctx)?.remove(0))
    }

    /// Searches once, for the largest number.
    fn select_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        let valid = |&&count: &&usize| (1..=data.d()).contains(&count);
        let wanted: Vec<Option<usize>> = counts.iter().filter(valid).map(|&count| Some(count)).collect();
        let found = if wanted.is_empty() { Ok(vec![]) } else { self.select_counts(data, &wanted, ctx) };
        let Ok(found) = found else {
            // Errors are reported for every number.
            return counts.iter().map(|&count| self.select(data, FeatureCount::Count(count), ctx)).collect();
        };
        let mut found = found.into_iter();
        let one = |&count: &usize| {
            FeatureCount::Count(count).resolve(NAME, data.d())?;
            Ok(found.next().expect("one for each valid number"))
        };
        counts.iter().map(one).collect()
    }
}
