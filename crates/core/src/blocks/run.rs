//! Rounds over a source.

use super::block::Block;
#[cfg(feature = "io")]
use super::checkpoint::Checkpoint;
use super::ordered_sum::{FAN_IN, OrderedSum};
use super::rounds::{Next, Rounds};
use super::source::BlockSource;
use crate::context::Context;
use crate::error::{Error, Result};
use rayon::prelude::*;

/// Fits in rounds: a pass over the source for each. Blocks are computed by all threads; the result does not depend on their number.
pub fn run<R: Rounds>(rounds: R, source: &dyn BlockSource, ctx: &Context) -> Result<R::Fit> {
    run_from(rounds, 1, source, &mut |_, _| Ok(()), ctx)
}

/// As [`run`], with a checkpoint: an interrupted fit continues with the pass that it had begun, with the same result. The file stays
/// until [`Checkpoint::remove`].
#[cfg(feature = "io")]
pub fn run_resumable<R: Rounds>(
    rounds: R,
    source: &dyn BlockSource,
    checkpoint: &Checkpoint,
    ctx: &Context,
) -> Result<R::Fit> {
    let (rounds, first) = checkpoint.load()?.unwrap_or((rounds, 1));
    if first > 1 {
        ctx.note(format!("continues with pass {first}, from {}", checkpoint.path.display()));
    }
    run_from(rounds, first, source, &mut |next, pass| checkpoint.save(next, pass), ctx)
}

/// Fits from a pass on; `keep` gets each later round and the number of its pass.
fn run_from<R: Rounds>(
    rounds: R,
    first: usize,
    source: &dyn BlockSource,
    keep: &mut dyn FnMut(&R, usize) -> Result<()>,
    ctx: &Context,
) -> Result<R::Fit> {
    let mut rounds = rounds;
    for pass in first.. {
        let stage = match rounds.rounds_left() {
            Some(left) => format!("pass {pass} of {}: {}", pass + left - 1, rounds.stage()),
            None => format!("pass {pass}: {}", rounds.stage()),
        };
        let total = one_round(&rounds, source, &stage, ctx)?;
        match rounds.update(total, ctx)? {
            Next::Round(next) => {
                keep(&next, pass + 1)?;
                rounds = next;
            }
            Next::Fit(fit) => return Ok(fit),
        }
    }
    unreachable!("the loop ends with a fit")
}

/// The sum over all blocks.
fn one_round<R: Rounds>(rounds: &R, source: &dyn BlockSource, stage: &str, ctx: &Context) -> Result<R::Sums> {
    let (layout, threads) = (source.layout(), rayon::current_num_threads());
    let (of_sums, of_block) = rounds.bytes(layout);
    let levels = layout.n_blocks().max(2).ilog(FAN_IN) as f64 + 2.0;
    let at_a_time = threads.min(layout.n_blocks()) as f64;
    let of_blocks = at_a_time * (layout.block_bytes() + of_block + of_sums);
    let bytes = of_blocks + levels * of_sums + rounds.shared_bytes() + source.bytes();
    ctx.need_memory(format!("a pass over blocks of {} rows", layout.block_rows), bytes, ADVICE)?;
    let mut sum = OrderedSum::default();
    let mut waiting: Vec<Block> = Vec::with_capacity(threads);
    let mut done = 0;
    ctx.step(stage, 0, layout.n)?;
    let mut flush = |waiting: &mut Vec<Block>| -> Result<()> {
        let of_block = |block: Block| -> Result<R::Sums> {
            ctx.check()?;
            rounds.of_block(&block)
        };
        done += waiting.iter().map(Block::n).sum::<usize>();
        let results: Vec<Result<R::Sums>> =
            std::mem::take(waiting).into_par_iter().with_max_len(1).map(of_block).collect();
        for result in results {
            sum.push(result?, |total, later| rounds.add(total, later));
        }
        ctx.step(stage, done, layout.n)
    };
    source.pass(ctx, &mut |block| {
        waiting.push(block);
        if waiting.len() == threads { flush(&mut waiting) } else { Ok(()) }
    })?;
    flush(&mut waiting)?;
    if done != layout.n {
        let (expected, got) = (layout.n.to_string(), done.to_string());
        return Err(Error::Shape { what: "rows of a pass (did the file change?)".into(), expected, got });
    }
    sum.finish(|total, later| rounds.add(total, later)).ok_or(Error::NoFeatures)
}

/// How to use less memory.
const ADVICE: &str = "use fewer columns or threads, or raise the memory limit";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{Layout, MemoryBlocks};
    use crate::data::Dataset;
    use ndarray::Array2;
    use serde::{Deserialize, Serialize};

    /// The mean, and in a second round the sum of squared deviations.
    #[derive(Serialize, Deserialize)]
    struct Deviations(Option<f64>, usize);

    impl Rounds for Deviations {
        type Sums = f64;
        type Fit = f64;

        fn stage(&self) -> &'static str {
            "sums"
        }

        fn rounds_left(&self) -> Option<usize> {
            Some(if self.0.is_none() { 2 } else { 1 })
        }

        fn bytes(&self, _layout: &Layout) -> (f64, f64) {
            (8.0, 0.0)
        }

        fn of_block(&self, block: &Block) -> Result<f64> {
            let mean = self.0.unwrap_or(0.0);
            let power = if self.0.is_some() { 2 } else { 1 };
            Ok(block.x.iter().map(|v| (v - mean).powi(power)).sum())
        }

        fn add(&self, total: &mut f64, later: f64) {
            *total += later;
        }

        fn update(self, total: f64, _ctx: &Context) -> Result<Next<Self>> {
            Ok(match self.0 {
                None => Next::Round(Self(Some(total / self.1 as f64), self.1)),
                Some(_) => Next::Fit(total),
            })
        }
    }

    fn data(n: usize) -> Dataset {
        let mut rng = crate::random::Rng::new(2);
        Dataset::unlabeled(Array2::from_shape_simple_fn((n, 1), || rng.normal() * 1e3)).unwrap()
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let data = data(1000);
        let source = MemoryBlocks::new(&data, 7).unwrap();
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(Deviations(None, 1000), &source, &Context::default()).unwrap())
        };
        let (one, three) = (fit(1), fit(3));
        assert_eq!(one.to_bits(), three.to_bits());
        let column = data.x().column(0);
        let mean = column.iter().sum::<f64>() / 1000.0;
        let expected: f64 = column.iter().map(|v| (v - mean).powi(2)).sum();
        // Sums of a thousand positive terms.
        assert!((one / expected - 1.0).abs() < 1e-13);
    }

    /// Interrupts the work when a stage begins.
    #[cfg(feature = "io")]
    struct StopAt(&'static str, std::sync::atomic::AtomicBool);

    #[cfg(feature = "io")]
    impl crate::Observer for StopAt {
        fn progress(&self, stage: &str, _done: usize, _total: usize) {
            self.1.fetch_or(stage.starts_with(self.0), std::sync::atomic::Ordering::Relaxed);
        }

        fn interrupted(&self) -> bool {
            self.1.load(std::sync::atomic::Ordering::Relaxed)
        }
    }

    #[cfg(feature = "io")]
    #[test]
    fn an_interrupted_fit_continues() {
        use crate::basis::{Kobl, Pivoting};
        let mut rng = crate::random::Rng::new(3);
        let data = Dataset::unlabeled(Array2::from_shape_simple_fn((3000, 6), || rng.normal())).unwrap();
        let source = MemoryBlocks::new(&data, 256).unwrap();
        let ctx = Context::default();
        let kobl = Kobl { n_components: Some(100), pivoting: Pivoting::Random, ..Kobl::default() };
        let rounds = || kobl.rounds(source.layout(), true, &ctx).unwrap();
        let coordinates = |fit: crate::basis::KoblFit| fit.map.transform(data.x(), &ctx).unwrap();
        let expected = coordinates(run(rounds(), &source, &ctx).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit.checkpoint");
        let checkpoint = |key: &str| Checkpoint { path: &path, key: key.into() };
        let observer = StopAt("pass 3", false.into());
        let stopping = Context { observer: &observer, ..ctx };
        let stopped = run_resumable(rounds(), &source, &checkpoint("a"), &stopping);
        assert!(stopped.err().unwrap().is_interrupted() && path.exists());
        // Of another run, and damaged.
        let refused =
            |key: &str| run_resumable(rounds(), &source, &checkpoint(key), &ctx).err().unwrap().to_string();
        assert!(refused("b").contains("the checkpoint of another run; remove it"), "{}", refused("b"));
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(refused("a").contains("it is damaged"), "{}", refused("a"));
        std::fs::write(&path, &bytes).unwrap();
        // It does not begin again.
        let observer = StopAt("pass 1", false.into());
        let resumed = Context { observer: &observer, ..ctx };
        let fit = run_resumable(rounds(), &source, &checkpoint("a"), &resumed).unwrap();
        assert!(coordinates(fit) == expected);
        checkpoint("a").remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn memory_and_interrupts_are_checked() {
        let data = data(100);
        let source = MemoryBlocks::new(&data, 10).unwrap();
        let small = Context { memory_limit: 50, ..Context::default() };
        let error = run(Deviations(None, 100), &source, &small).unwrap_err().to_string();
        assert!(error.starts_with("a pass over blocks of 10 rows needs about"), "{error}");
        struct Stop;
        impl crate::Observer for Stop {
            fn interrupted(&self) -> bool {
                true
            }
        }
        let ctx = Context { observer: &Stop, ..Context::default() };
        assert!(run(Deviations(None, 100), &source, &ctx).unwrap_err().is_interrupted());
    }
}
