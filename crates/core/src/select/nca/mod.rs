//! NCA: selects the features with which a kernel classifier or regressor predicts every row best from the others.

mod candidates;
mod cells;
mod forward;
mod goal;
mod gradient;
mod problem;
mod rough;
mod rows;
mod run;
mod settings;
mod setup;
mod subsamples;
#[cfg(test)]
mod tests;

pub(super) use candidates::Limits;
pub(super) use goal::{PRIOR, predicted};
pub(super) use problem::BANDWIDTHS;
pub(super) use rows::sorted_rows;
pub use settings::{Nca, NcaSearch};
pub(super) use setup::{Found, check, search};

use super::selector::{
    DependenceCheck, FeatureCount, MAX_REPEATED, Selection, Selector, from_one_search, hold_repeated,
};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::interactions::jointly_relevant;
use crate::method::Info;
use forward::Goals;
use run::Run;
use settings::NAME;
use setup::Setup;

impl Nca {
    /// A selection for each number of features; `None` chooses it automatically.
    fn select_counts(
        &self,
        data: &Dataset,
        counts: &[Option<usize>],
        ctx: &Context,
    ) -> Result<Vec<Selection>> {
        self.check()?;
        check(data, NAME)?;
        if !data.is_repeatable(MAX_REPEATED) {
            ctx.note(format!("{NAME}: features that matter jointly are screened without weights"));
        }
        let sets = jointly_relevant(&data.unweighted(MAX_REPEATED), &hold_repeated(data, ctx)?)?;
        let setup = Setup::new(data, sets, Limits { exact: self.exact, ..Limits::default() }, ctx)?;
        let wanted = counts.iter().copied().max().flatten();
        setup.sample().map(|sample| sample.noted(NAME, ctx));
        let forward = setup.forward(Goals::count(wanted, &setup.sets), ctx)?;
        let mut run = Run::new(self, &setup, forward, ctx)?;
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

    fn supports_weights(&self) -> bool {
        true
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(DependenceCheck::Joint)
    }

    fn fit(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection> {
        let count = count.resolve(NAME, data.d())?;
        Ok(self.select_counts(data, &[count], ctx)?.remove(0))
    }

    /// Searches once, for the largest number.
    fn fit_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        from_one_search(NAME, data.d(), counts, |counts| self.select_counts(data, counts, ctx))
    }
}
