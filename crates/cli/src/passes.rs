//! Tables that do not fit into memory, which are read in passes over their file.

use crate::args::TableArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{inform, options_for, record_of};
use kernsift::blocks::{BlockSource, FileBlocks, Rounds, TargetLayout, run};
use kernsift::data::read::PieceFile;
use kernsift::data::{Encoder, Recipe};
use kernsift::error::bytes;
use kernsift::model::Content;
use kernsift::{Context, Model, Observer};
use serde_json::Value;
use std::path::Path;

/// A table that is read in passes.
pub struct InPasses {
    name: String,
    source: FileBlocks,
}

/// A file that does not fit into the memory limit and can be read in pieces.
pub fn large_file(args: &TableArgs, ctx: &Context) -> Result<Option<PieceFile>, Failure> {
    if args.data.starts_with("builtin:") || args.reading.labels.is_some() {
        return Ok(None);
    }
    let options = args.reading.options(args.columns.decimal);
    // What is wrong with the file is said when it is read.
    let file = PieceFile::open(Path::new(&args.data), &options).unwrap_or_default();
    Ok(file.filter(|file| file.bytes_in_memory() > ctx.memory_limit as f64))
}

/// A failure to read a large file into memory, with the methods that read it in passes.
pub fn advised(failure: Failure, is_large: bool, method: &str, supported: &[&str]) -> Failure {
    match failure {
        Failure::Input(text) if is_large && text.contains("--memory-limit") => Failure::Input(format!(
            "{text}. {method} needs the table in memory; read in passes it can be by {}",
            supported.join(", ")
        )),
        other => other,
    }
}

/// Returns an error for options that need the table in memory.
pub fn refuse_options(options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::Input(format!(
            "{option} needs the table in memory, and it is read in passes; leave the option out, or raise --memory-limit"
        ))),
        None => Ok(()),
    }
}

impl InPasses {
    /// Decides in a first pass what the columns are.
    pub fn open(
        file: PieceFile,
        args: &TableArgs,
        ctx: &Context,
        console: &Console,
    ) -> Result<Self, Failure> {
        console.inform(&format!(
            "{}: about {} in memory, more than the limit of {}; it is read in passes",
            args.data,
            bytes(file.bytes_in_memory() as u64),
            bytes(ctx.memory_limit)
        ));
        let prepare = options_for(args, &file.names()?)?;
        let ctx = Context { observer: console, ..*ctx };
        let (source, warnings) = FileBlocks::open(file, &prepare, None, &ctx)?;
        warnings.iter().for_each(|text| console.warn(text));
        let survey = source.survey();
        inform(&survey.account, &survey.notes, args.target_type, console);
        if !survey.account.is_plain() {
            survey.account.lines().iter().for_each(|line| console.inform(line));
        }
        Ok(Self { name: args.data.clone(), source })
    }

    /// Fits in rounds.
    pub fn fit<R: Rounds>(&self, rounds: R, ctx: &Context, console: &Console) -> kernsift::Result<R::Fit> {
        if let Some(left) = rounds.rounds_left() {
            let passes = if left == 1 { "1 pass".into() } else { format!("{left} passes") };
            console.inform(&format!(
                "{}: after the first pass, {passes} over {} blocks of {} rows",
                self.name,
                self.source.layout().n_blocks(),
                self.source.layout().block_rows
            ));
        }
        run(rounds, &self.source, ctx)
    }

    /// The source.
    pub fn source(&self) -> &FileBlocks {
        &self.source
    }

    /// Names of the features.
    pub fn names(&self) -> &[String] {
        &self.source.layout().names
    }

    /// How to read a new table like this one.
    pub fn recipe(&self) -> &Recipe {
        &self.source.survey().recipe
    }

    /// The data in a line.
    pub fn describe(&self, scaling: &str) -> String {
        let layout = self.source.layout();
        let name = self.recipe().target().unwrap_or_default();
        let target = match &layout.target {
            TargetLayout::None => "no target".into(),
            TargetLayout::Continuous => format!("continuous target '{name}'"),
            TargetLayout::Classes(classes) => format!("target '{name}' with {} classes", classes.len()),
        };
        format!("{}: {} rows, {} columns{scaling}, {target}", self.name, layout.n, layout.d())
    }

    /// The JSON record of a command.
    pub fn record(&self, command: &str, ctx: &Context, mut fields: Value) -> Value {
        let layout = self.source.layout();
        fields["in_passes"] = true.into();
        let targets: Vec<&str> = self.recipe().targets().collect();
        record_of(command, ctx, fields, (&self.name, layout.n, layout.d(), &targets))
    }

    /// A model fitted to this table.
    pub fn model(&self, encoder: Option<Encoder>, content: Content) -> Model {
        let recipe = Some(self.recipe().clone());
        Model { names: self.names().to_vec(), recipe, encoder, content }
    }
}
