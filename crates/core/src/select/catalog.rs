//! All selectors by name: for the command line, Python, saved settings and the conformance tests.

use super::auto::Auto;
use super::bahsic::Bahsic;
use super::chi_squared::ChiSquared;
use super::ffs::Ffs;
use super::fisher::FisherScore;
use super::fohsic::Fohsic;
use super::hsfs::Hsfs;
use super::hsic_lasso::HsicLasso;
use super::information::InformationGain;
use super::l1_svm::L1Svm;
use super::laplacian::LaplacianScore;
use super::ldfs::Ldfs;
use super::mutual::MutualInformation;
use super::nca::Nca;
use super::pfs::Pfs;
use super::relief::Relief;
use super::selector::{DependenceCheck, FeatureCount, Sample, Selection, Selector};
use super::svm_rfe::SvmRfe;
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::method::{Info, Needs, family};
use crate::parameters::Parameters;
use std::borrow::Cow;

family! {
    /// A selector with its parameters.
    pub enum SelectorMethod: Selector, "selector", "method", SELECTORS {
        Auto(Auto): INFO => Auto::default();
        Fisher(FisherScore): INFO => FisherScore::default();
        Ffs(Ffs): INFO => Ffs::default();
        Relief(Relief): INFO => Relief::default();
        SvmRfe(SvmRfe): INFO => SvmRfe::default();
        L1Svm(L1Svm): INFO => L1Svm::default();
        InformationGain(InformationGain): INFO => InformationGain::default();
        MutualInformation(MutualInformation): INFO => MutualInformation::default();
        ChiSquared(ChiSquared): INFO => ChiSquared::default();
        Laplacian(LaplacianScore): INFO => LaplacianScore::default();
        Hsfs(Hsfs): INFO => Hsfs::default();
        Fohsic(Fohsic): INFO => Fohsic::default();
        Bahsic(Bahsic): INFO => Bahsic::default();
        HsicLasso(HsicLasso): INFO => HsicLasso::default();
        Nca(Nca): INFO => Nca::default();
        Ldfs(Ldfs): INFO => Ldfs::default();
        Pfs(Pfs): INFO => Pfs::default();
    }
}

impl SelectorMethod {
    /// The names of the selectors that support weights.
    pub fn names_with_weights() -> Vec<&'static str> {
        let names = SELECTORS.iter().map(|info| info.name);
        names.filter(|name| Self::by_name(name).is_ok_and(|method| method.supports_weights())).collect()
    }

    /// The name that [`SelectorMethod::by_name`] accepts.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The rows with a weight above 0, if the method supports weights.
    fn rows_for_fit<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Dataset>> {
        self.check_weights(data)?;
        Ok(data.for_fit())
    }

    /// The rows that the method uses: all, or a sample of more than [`Selector::max_rows`], and the context that holds it.
    fn sampled<'a, 'c>(
        &self,
        data: &'a Dataset,
        ctx: &Context<'c>,
    ) -> Result<(Cow<'a, Dataset>, Option<Sample>, Context<'c>)> {
        let Some(most) = self.max_rows(data).filter(|&most| most < data.n()) else {
            return Ok((Cow::Borrowed(data), None, *ctx));
        };
        let rows = data.sample_rows(most, ctx.seed);
        let sample = Sample { n_used: rows.len(), n: data.n() }.noted(self.info().title, ctx);
        let cells = rows.len() as f64 * data.x().d() as f64;
        let ctx = ctx.hold(format!("a sample of {} rows", rows.len()), 8.0 * cells, "use fewer columns")?;
        Ok((Cow::Owned(data.take_rows(&rows)), Some(sample), ctx))
    }
}

impl Selector for SelectorMethod {
    fn info(&self) -> &'static Info {
        self.inner().info()
    }

    fn select(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection> {
        let all = self.rows_for_fit(data)?;
        let (rows, sample, ctx) = self.sampled(&all, ctx)?;
        let selection = self.inner().select(&rows, count, &ctx)?;
        Ok(Selection { sample: sample.or(selection.sample), ..selection })
    }

    fn select_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        let each = || {
            let all = self.rows_for_fit(data)?;
            let (rows, sample, ctx) = self.sampled(&all, ctx)?;
            let with_sample = |found: Selection| Selection { sample: sample.or(found.sample), ..found };
            let found = self.inner().select_each(&rows, counts, &ctx).into_iter();
            Ok(found.map(|found| found.map(with_sample)).collect())
        };
        // Each number has its own error.
        each().unwrap_or_else(|_: Error| {
            counts.iter().map(|&count| self.select(data, FeatureCount::Count(count), ctx)).collect()
        })
    }

    fn max_rows(&self, data: &Dataset) -> Option<usize> {
        self.inner().max_rows(data)
    }

    fn supports_weights(&self) -> bool {
        self.inner().supports_weights()
    }

    fn check_weights(&self, data: &Dataset) -> Result<()> {
        match self.supports_weights() {
            true => Ok(()),
            false => data.need_unweighted(self.info().title, Self::names_with_weights()),
        }
    }

    fn needs(&self) -> Needs {
        self.inner().needs()
    }

    fn supports_types(&self) -> bool {
        self.inner().supports_types()
    }

    fn wants_scaling(&self) -> bool {
        self.inner().wants_scaling()
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        self.inner().dependence_check()
    }

    fn has_path(&self) -> bool {
        self.inner().has_path()
    }

    fn nested(&self) -> bool {
        self.inner().nested()
    }

    fn check(&self) -> Result<()> {
        self.inner().check()
    }

    fn check_classes(&self, classes: &Classes) -> Result<()> {
        self.inner().check_classes(classes)
    }

    fn clear_fixed_count(&mut self) {
        self.inner_mut().clear_fixed_count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_serialized_ones() {
        for info in SELECTORS {
            let method = SelectorMethod::by_name(info.name).unwrap();
            assert_eq!(serde_json::to_value(&method).unwrap()["method"], info.name);
            assert_eq!(method.name(), info.name);
        }
    }
}
