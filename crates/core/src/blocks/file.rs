//! A file as a sequence of blocks.

use super::block::{Block, BlockTarget, Layout, TargetLayout, block_rows};
use super::source::{BlockSource, Reblocked};
use crate::context::Context;
use crate::data::read::PieceFile;
use crate::data::{PieceTarget, Prepare, Survey};
use crate::error::Result;

/// A Parquet, CSV or TSV file, which is read once for each round.
#[derive(Debug)]
pub struct FileBlocks {
    file: PieceFile,
    survey: Survey,
    layout: Layout,
}

impl FileBlocks {
    /// Decides in a first pass what the columns are; also returns warnings of the reader. `rows`: rows of a block, if they are not
    /// those of [`block_rows`].
    pub fn open(
        file: PieceFile,
        prepare: &Prepare,
        rows: Option<usize>,
        ctx: &Context,
    ) -> Result<(Self, Vec<String>)> {
        let (survey, warnings) = prepare.survey(&file, ctx)?;
        let target = match survey.classes() {
            Some(names) => TargetLayout::Classes(names.to_vec()),
            None if survey.is_continuous() => TargetLayout::Continuous,
            None => TargetLayout::None,
        };
        let names: Vec<String> = survey.recipe.columns().map(str::to_owned).collect();
        let rows = rows.unwrap_or_else(|| block_rows(names.len()));
        let layout = Layout::new(survey.n_rows(), names, target, rows)?;
        Ok((Self { file, survey, layout }, warnings))
    }

    /// What the columns are.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }
}

impl BlockSource for FileBlocks {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn bytes(&self) -> f64 {
        self.file.piece_bytes()
    }

    fn pass(&self, ctx: &Context, take: &mut dyn FnMut(Block) -> Result<()>) -> Result<()> {
        let mut blocks = Reblocked::new(&self.layout);
        self.survey.read(&self.file, ctx, &mut |x, target| {
            let target = match target {
                PieceTarget::None => BlockTarget::None,
                PieceTarget::Classes(codes) => BlockTarget::Classes(codes),
                PieceTarget::Continuous(values) => BlockTarget::Continuous(values),
            };
            blocks.push(&x, &target, take)
        })?;
        blocks.finish(take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{MemoryBlocks, run};
    use crate::data::read::{ReadOptions, read_table};
    use crate::select::{FeatureCount, SelectorMethod};

    #[test]
    fn a_file_gives_the_bits_of_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut rng = crate::random::Rng::new(4);
        let mut text = String::from("a,b,c,class\n");
        for i in 0..500 {
            let class = i % 2;
            text += &format!("{},{},{},k{class}\n", rng.normal() + class as f64, rng.normal(), rng.below(5));
        }
        std::fs::write(&path, text).unwrap();
        let (ctx, options) = (Context::default(), ReadOptions::default());
        let file = PieceFile::open(&path, &options).unwrap().unwrap();
        let (source, _) = FileBlocks::open(file, &Prepare::default(), Some(64), &ctx).unwrap();
        let (table, _) = read_table(&path, &options, &ctx).unwrap();
        let data = Prepare::default().fit(&table).unwrap().data;
        let memory = MemoryBlocks::new(&data, 64).unwrap();
        assert_eq!(source.layout(), memory.layout());
        for name in ["fisher", "information-gain", "chi-squared"] {
            let method = SelectorMethod::by_name(name).unwrap();
            let fit = |source: &dyn BlockSource| {
                let rounds = method.rounds(source.layout(), FeatureCount::Auto, &ctx).unwrap();
                run(rounds, source, &ctx).unwrap()
            };
            assert_eq!(fit(&source), fit(&memory), "{name}");
        }
        // A file that changes between passes is an error.
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("k1", "class1")).unwrap();
        let method = SelectorMethod::by_name("fisher").unwrap();
        let rounds = method.rounds(source.layout(), FeatureCount::Auto, &ctx).unwrap();
        let error = run(rounds, &source, &ctx).unwrap_err().to_string();
        assert!(error.contains("the file changed while it was read"), "{error}");
    }
}
