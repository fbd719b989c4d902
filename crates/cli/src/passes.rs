//! Tables that do not fit into memory, which are read in passes over their file.

use crate::args::{PassArgs, TableArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{inform, options_for, record_of};
use kernsift::blocks::{BlockSource, Checkpoint, FileBlocks, Rounds, TargetLayout, run, run_resumable};
use kernsift::data::read::PieceFile;
use kernsift::data::{Encoder, Recipe};
use kernsift::error::bytes;
use kernsift::model::Content;
use kernsift::{Context, Model, Observer};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use std::time::SystemTime;

/// A table that is read in passes.
pub struct InPasses {
    name: String,
    /// How the file is read, in words.
    reading: String,
    source: FileBlocks,
}

/// Removes the checkpoint, after the result is stored.
pub fn remove_checkpoint(args: &PassArgs, console: &Console) {
    let Some(path) = &args.checkpoint else { return };
    if let Err(error) = (Checkpoint { path, key: String::new() }).remove() {
        console.warn(&error.to_string());
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
        let reading = format!("{:?}", args.reading.options(args.columns.decimal));
        Ok(Self { name: args.data.clone(), reading, source })
    }

    /// Fits in rounds; `settings` are those of the method and of the command.
    pub fn fit<R: Rounds>(
        &self,
        rounds: R,
        settings: &impl Serialize,
        args: &PassArgs,
        ctx: &Context,
        console: &Console,
    ) -> kernsift::Result<R::Fit> {
        if let Some(left) = rounds.rounds_left() {
            let passes = if left == 1 { "1 pass".into() } else { format!("{left} passes") };
            console.inform(&format!(
                "{}: after the first pass, {passes} over {} blocks of {} rows",
                self.name,
                self.source.layout().n_blocks(),
                self.source.layout().block_rows
            ));
        }
        let Some(path) = &args.checkpoint else { return run(rounds, &self.source, ctx) };
        if path.exists() {
            console.inform(&format!("continues from {}", path.display()));
        }
        let key = self.key(settings, ctx);
        run_resumable(rounds, &self.source, &Checkpoint { path, key }, ctx)
    }

    /// What a fit depends on.
    fn key(&self, settings: &impl Serialize, ctx: &Context) -> String {
        let file = std::fs::metadata(Path::new(&self.name)).ok();
        let modified = file.as_ref().and_then(|file| file.modified().ok());
        let since = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let version = env!("CARGO_PKG_VERSION");
        json!([
            version,
            self.name,
            file.map(|file| file.len()),
            since,
            self.source.layout(),
            self.recipe(),
            self.reading,
            settings,
            ctx.seed
        ])
        .to_string()
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
