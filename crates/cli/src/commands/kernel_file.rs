//! Learned kernels from files.

use crate::args::TableArgs;
use crate::commands::options::refuse;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, load_like};
use kernsift::data::{Dataset, Encoder, Missing};
use kernsift::kernel::KernelChoice;
use kernsift::{Context, Error, Model, Observer};
use std::path::{Path, PathBuf};

/// A learned kernel and the preparation of its features.
pub struct LearnedKernel {
    file: PathBuf,
    model: Model,
}

impl LearnedKernel {
    /// Reads a file that `kernsift design --save` wrote.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let model = Model::load(file)?;
        let learned = model.kernel().map_err(|_| {
            Failure::Input(format!(
                "{}: a model fitted by {} has no learned kernel; save one by `kernsift design --save`",
                file.display(),
                model.method()
            ))
        })?;
        if model.recipe.is_none() {
            let why = "it was fitted to an array and has no column names".into();
            return Err(Error::Model { why }.in_file(file).into());
        }
        let n_columns =
            model.encoder.as_ref().map_or(model.names.len(), |encoder| encoder.groups().n_columns());
        if learned.kernel.columns(n_columns).is_empty() {
            return Err(Failure::Input(format!(
                "{}: its kernel is zero everywhere, as nothing was learned; see the warning of `kernsift design`",
                file.display()
            )));
        }
        Ok(Self { file: file.to_owned(), model })
    }

    /// The kernel with its noise part, which bases need to be positive semidefinite.
    pub fn choice(&self) -> KernelChoice {
        let learned = self.model.kernel().expect("checked when it was read");
        learned.with_noise().into()
    }

    /// Reads a table and prepares it like the table that the kernel was learned on, with the target if there is one.
    pub fn load(&self, args: &TableArgs, ctx: &Context, console: &Console) -> Result<Loaded, Failure> {
        let columns = &args.columns;
        let options = [
            ("--include", !columns.include.is_empty()),
            ("--exclude", !columns.exclude.is_empty()),
            ("--id", !columns.id.is_empty() && args.reading.labels.is_none()),
            ("--type", !columns.types.is_empty()),
            ("--decimal", columns.decimal.is_some()),
            ("--missing", args.missing != Missing::Auto),
        ];
        refuse("--kernel-file, which has columns and types of its own", &options)?;
        let recipe = self.model.recipe.as_ref().expect("checked when it was read");
        let loaded = load_like(recipe, args, ctx, console)?;
        let (kernel, from) = (self.model.method(), self.file.display());
        console.note(&format!("kernel: from {from}, learned by {kernel}"));
        Ok(loaded)
    }

    /// The data encoded as for the kernel.
    pub fn encoded(&self, data: &Dataset) -> kernsift::Result<(Dataset, Option<Encoder>)> {
        match &self.model.encoder {
            None => Ok((data.clone(), None)),
            Some(encoder) => Ok((encoder.encode(data)?, Some(encoder.clone()))),
        }
    }
}
