//! All bases by name: for the command line, Python, saved settings and the conformance tests.

use super::discriminant::Discriminant;
use super::feature_map::{Basis, Fitted, max_components};
use super::{Kgs, Kobl, Kpca};
use crate::context::{Context, Quiet};
use crate::data::Dataset;
use crate::error::Result;
use crate::kernel::KernelChoice;
use crate::method::{Info, Needs, family};
use crate::parameters::Parameters;

family! {
    /// A basis with its parameters.
    pub enum BasisMethod: Basis, "basis", "method", BASES {
        Kobl(Kobl): INFO => Kobl::default();
        Kgs(Kgs): INFO => Kgs::default();
        Kpca(Kpca): INFO => Kpca::default();
        Discriminant(Discriminant): KDA => Discriminant::default(), GDA => Discriminant::gda();
    }
}

impl BasisMethod {
    /// The name that [`BasisMethod::by_name`] accepts.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The kernel, mutable.
    pub fn kernel_mut(&mut self) -> &mut KernelChoice {
        self.shared_mut().0
    }

    /// The maximum number of components, mutable.
    pub fn n_components_mut(&mut self) -> &mut Option<usize> {
        self.shared_mut().1
    }

    /// Learns the map from a sample of the rows, and maps all rows.
    fn fit_to_sample(&self, data: &Dataset, rows: &[usize], ctx: &Context) -> Result<Fitted> {
        let n = data.n();
        ctx.note(format!("{}: used a sample of {} of {n} rows", self.info().title, rows.len()));
        let ctx = &data.hold_rows(rows.len(), ctx)?;
        let sample = data.take_rows(rows);
        // A limit that nobody requested needs no warning if there are fewer components.
        let quiet = Quiet(ctx.observer);
        let (mut method, mut inner) = (self.clone(), *ctx);
        if let (Self::Kpca(_), None) = (self, self.n_components()) {
            *method.n_components_mut() = Some(max_components(n).min(sample.n()));
            inner.observer = &quiet;
        }
        let map = method.inner().fit(&sample, &inner)?.map.of_rows(rows);
        if self.n_components().is_none() && method.n_components() == Some(map.n_components()) {
            ctx.warn(format!(
                "{}: kept {} components of {n} rows to limit time and memory; set n_components, or exact=true",
                self.info().title,
                map.n_components()
            ));
        }
        let bytes = 8.0 * n as f64 * map.n_components() as f64;
        ctx.need_memory(format!("coordinates of {n} rows"), bytes, "use fewer components")?;
        let features = map.transform(data.x(), ctx)?;
        Ok(Fitted { map, features })
    }
}

impl Basis for BasisMethod {
    fn info(&self) -> &'static Info {
        self.inner().info()
    }

    fn shared_mut(&mut self) -> (&mut KernelChoice, &mut Option<usize>) {
        self.inner_mut().shared_mut()
    }

    fn kernel(&self) -> &KernelChoice {
        self.inner().kernel()
    }

    fn n_components(&self) -> Option<usize> {
        self.inner().n_components()
    }

    fn max_rows(&self) -> Option<usize> {
        self.inner().max_rows()
    }

    fn fit(&self, data: &Dataset, ctx: &Context) -> Result<Fitted> {
        // There are at most as many components as samples.
        let most = self.max_rows().map(|most| most.max(self.n_components().unwrap_or(0)));
        let by_class = self.info().needs != Needs::Nothing;
        match most.and_then(|most| data.sample_rows(most, by_class, ctx.seed)) {
            Some(rows) => self.fit_to_sample(data, &rows, ctx),
            None => self.inner().fit(data, ctx),
        }
    }
}
