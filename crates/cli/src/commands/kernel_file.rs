//! Learned kernels from files.

use crate::args::TableArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, load_columns, read};
use kernsift::data::{ColumnOptions, Dataset, Encoder, Recipe, Table, TargetChoice};
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

    /// Reads and prepares a table: the columns that the kernel was learned on, and the target if there is one.
    pub fn load(&self, args: &TableArgs, ctx: &Context, console: &Console) -> Result<Loaded, Failure> {
        let mut table = read(&args.data, &args.reading, ctx, console)?;
        let recipe = self.recipe();
        let wanted = args.target.as_deref().or(recipe.target());
        let target = wanted.filter(|name| table.names().contains(name)).map(str::to_owned);
        if let Table::Columns(columns) = &mut table {
            let find = |name: &str| {
                let found = columns.iter().find(|column| column.name == name).cloned();
                let names = || columns.iter().map(|column| column.name.as_str());
                found.ok_or_else(|| Error::unknown_column(name, names()).in_file(Path::new(&args.data)))
            };
            let needed: Vec<&str> = recipe.columns().chain(target.as_deref()).collect();
            *columns = needed.into_iter().map(find).collect::<kernsift::Result<_>>()?;
        }
        let target = target.map_or(TargetChoice::None, TargetChoice::Named);
        let loaded = load_columns(args, target, ColumnOptions::all(), &table, console)?;
        if loaded.prepared.data.names() != self.model.names {
            return Err(Failure::Input(format!(
                "{}: the columns differ from those that the kernel of {} was learned on; use the same --target",
                args.data,
                self.file.display()
            )));
        }
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

    fn recipe(&self) -> &Recipe {
        self.model.recipe.as_ref().expect("checked when it was read")
    }
}
