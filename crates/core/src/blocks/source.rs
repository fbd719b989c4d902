//! Tables as sequences of blocks.

use super::block::{Block, BlockTarget, Layout, TargetLayout};
use crate::context::Context;
use crate::data::{Dataset, Rows, Target};
use crate::error::Result;
use ndarray::{Array2, s};

/// A table as a sequence of blocks of rows, which is read once per round.
pub trait BlockSource {
    /// What is known before the rows are read.
    fn layout(&self) -> &Layout;

    /// Memory of a pass in bytes, besides the blocks.
    fn bytes(&self) -> f64 {
        0.0
    }

    /// Passes all blocks to `take`, the first rows first: each has the rows that the layout says, the last the remaining ones.
    fn pass(&self, ctx: &Context, take: &mut dyn FnMut(Block) -> Result<()>) -> Result<()>;
}

/// A data set in memory.
pub struct MemoryBlocks<'a> {
    data: &'a Dataset,
    layout: Layout,
}

impl<'a> MemoryBlocks<'a> {
    /// Data of numbers without missing values, in blocks of `rows` rows.
    pub fn new(data: &'a Dataset, rows: usize) -> Result<Self> {
        let method = "a fit in rounds";
        data.need_complete(method)?;
        data.need_numbers(method)?;
        data.need_unweighted(method, Vec::new)?;
        let target = TargetLayout::of(data.target(), method)?;
        Ok(Self { data, layout: Layout::new(data.n(), data.names().to_vec(), target, rows)? })
    }
}

impl BlockSource for MemoryBlocks<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn pass(&self, _ctx: &Context, take: &mut dyn FnMut(Block) -> Result<()>) -> Result<()> {
        let n = self.data.n();
        for first in (0..n).step_by(self.layout.block_rows) {
            let rows = first..n.min(first + self.layout.block_rows);
            let x = match self.data.x() {
                Rows::Dense(x) => x.slice(s![rows.clone(), ..]).as_standard_layout().into_owned(),
                Rows::Sparse(_) => self.data.x().take_rows(&rows.clone().collect::<Vec<_>>()).into_dense(),
            };
            let target = match self.data.target() {
                Target::Classes(classes) => BlockTarget::Classes(classes.codes[rows].to_vec()),
                Target::Continuous(values) => BlockTarget::Continuous(values[rows].to_vec()),
                Target::None | Target::Outputs(_) => BlockTarget::None,
            };
            take(Block::new(first, x, target, &self.layout)?)?;
        }
        Ok(())
    }
}

/// Cuts pieces of any numbers of rows into blocks.
pub struct Reblocked<'a> {
    layout: &'a Layout,
    /// Rows passed on so far.
    first: usize,
    x: Vec<f64>,
    codes: Vec<usize>,
    numbers: Vec<f64>,
}

impl<'a> Reblocked<'a> {
    /// No rows yet.
    pub fn new(layout: &'a Layout) -> Self {
        Self { layout, first: 0, x: vec![], codes: vec![], numbers: vec![] }
    }

    /// Adds the next rows, and passes complete blocks to `take`.
    pub fn push(
        &mut self,
        x: &Array2<f64>,
        target: &BlockTarget,
        take: &mut dyn FnMut(Block) -> Result<()>,
    ) -> Result<()> {
        let mut from = 0;
        while from < x.nrows() {
            let missing = self.layout.block_rows - self.x.len() / self.layout.d();
            let rows = from..x.nrows().min(from + missing);
            self.x.extend(x.slice(s![rows.clone(), ..]).iter());
            match target {
                BlockTarget::Classes(codes) => self.codes.extend_from_slice(&codes[rows.clone()]),
                BlockTarget::Continuous(values) => self.numbers.extend_from_slice(&values[rows.clone()]),
                BlockTarget::None => {}
            }
            if rows.len() == missing {
                take(self.block()?)?;
            }
            from = rows.end;
        }
        Ok(())
    }

    /// Passes the remaining rows to `take`.
    pub fn finish(mut self, take: &mut dyn FnMut(Block) -> Result<()>) -> Result<()> {
        if self.x.is_empty() { Ok(()) } else { take(self.block()?) }
    }

    fn block(&mut self) -> Result<Block> {
        let d = self.layout.d();
        let x = std::mem::take(&mut self.x);
        let n = x.len() / d;
        let target = match &self.layout.target {
            TargetLayout::None => BlockTarget::None,
            TargetLayout::Classes(_) => BlockTarget::Classes(std::mem::take(&mut self.codes)),
            TargetLayout::Continuous => BlockTarget::Continuous(std::mem::take(&mut self.numbers)),
        };
        let x = Array2::from_shape_vec((n, d), x).expect("complete rows");
        let block = Block::new(self.first, x, target, self.layout)?;
        self.first += n;
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_give_the_same_blocks() {
        let x = Array2::from_shape_fn((23, 2), |(i, j)| (2 * i + j) as f64);
        let data = Dataset::labeled(x.clone(), (0..23).map(|i| i % 3).collect()).unwrap();
        let source = MemoryBlocks::new(&data, 5).unwrap();
        let mut expected = vec![];
        let ctx = Context::default();
        source
            .pass(&ctx, &mut |block| {
                expected.push(block);
                Ok(())
            })
            .unwrap();
        assert_eq!(
            expected.iter().map(|b| (b.first, b.n())).collect::<Vec<_>>(),
            [(0, 5), (5, 5), (10, 5), (15, 5), (20, 3)]
        );
        for sizes in [vec![23], vec![1; 23], vec![4, 11, 0, 8]] {
            let (mut found, mut from) = (vec![], 0);
            let mut take = |block| {
                found.push(block);
                Ok(())
            };
            let mut pieces = Reblocked::new(source.layout());
            for size in sizes {
                let rows = from..from + size;
                let codes = BlockTarget::Classes(rows.clone().map(|i| i % 3).collect());
                pieces.push(&x.slice(s![rows.clone(), ..]).to_owned(), &codes, &mut take).unwrap();
                from = rows.end;
            }
            pieces.finish(&mut take).unwrap();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn data_that_blocks_cannot_hold_are_refused() {
        let x = ndarray::array![[1.0], [f64::NAN]];
        let data = Dataset::with_missing(vec!["a".into()], x, Target::None).unwrap();
        assert!(MemoryBlocks::new(&data, 1).is_err());
    }
}
