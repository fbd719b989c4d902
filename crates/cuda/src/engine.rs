//! The accelerator.

use crate::gpu::Gpu;
use crate::library::Folders;
use crate::{hsic, nearest, pairs};
use kernsift::device::{
    Accelerator, Attempt, Metric, NearestLists, PairFunctions, PairTiles, ProjectedPairs, Refusal,
};
use ndarray::ArrayView2;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The least work for which a GPU is used, in multiplications: below, the processor takes less time than starting the GPU or
/// copying the data.
#[derive(Debug, Clone, Copy)]
struct LeastWork {
    pairs: f64,
    hsic: f64,
    nearest: f64,
}

const LEAST_WORK: LeastWork = LeastWork { pairs: 1e11, hsic: 3e7, nearest: 1e10 };

/// A GPU, which starts at first use.
pub struct Cuda {
    ordinal: usize,
    folders: Folders,
    least: LeastWork,
    gpu: OnceLock<Result<Gpu, Refusal>>,
}

impl Cuda {
    /// The GPU of this number; `folders` are searched for libraries.
    pub(crate) fn new(ordinal: usize, folders: Folders) -> Self {
        Self { ordinal, folders, least: LEAST_WORK, gpu: OnceLock::new() }
    }

    /// The GPU of this number, for problems of any size; for tests.
    pub fn for_any_size(ordinal: usize, folders: &[PathBuf]) -> Self {
        let least = LeastWork { pairs: 0.0, hsic: 0.0, nearest: 0.0 };
        Self { least, ..Self::new(ordinal, Folders(folders.to_vec())) }
    }

    /// Starts the GPU; the error is why there is none.
    pub fn start(&self) -> Result<(), String> {
        match self.gpu() {
            Ok(_) => Ok(()),
            Err(Refusal::Declined) => Err("no NVIDIA driver was found".into()),
            Err(Refusal::OutOfMemory) => Err("the memory of the GPU does not suffice".into()),
            Err(Refusal::Failed(why)) => Err(why),
        }
    }

    fn gpu(&self) -> Attempt<&Gpu> {
        self.gpu.get_or_init(|| Gpu::start(self.ordinal, &self.folders)).as_ref().map_err(Clone::clone)
    }

    fn gpu_for(&self, work: f64, least: f64) -> Attempt<&Gpu> {
        if work < least { Err(Refusal::Declined) } else { self.gpu() }
    }
}

impl Accelerator for Cuda {
    fn name(&self) -> Option<String> {
        self.gpu().ok().map(|gpu| gpu.name.clone())
    }

    fn pairs<'a>(&'a self, functions: &'a PairFunctions<'a>) -> Attempt<Box<dyn PairTiles + 'a>> {
        let rows = functions.starts.last().copied().unwrap_or(0) as f64;
        let work = 0.5 * rows * rows * (functions.n * functions.target.len()) as f64;
        let gpu = self.gpu_for(work, self.least.pairs)?;
        Ok(Box::new(pairs::Tiles::new(gpu, functions)?))
    }

    fn hsic(&self, pairs: ProjectedPairs, sums: Option<&mut [f64]>) -> Attempt<f64> {
        let columns = (pairs.rows.len() + pairs.factor.len()) as f64;
        let gpu = self.gpu_for(columns * pairs.n as f64, self.least.hsic)?;
        hsic::sums(gpu, pairs, sums)
    }

    fn wants_nearest(&self, ((n, d), queries): ((usize, usize), usize), listed: usize) -> bool {
        let work = n as f64 * d as f64 * queries as f64;
        work >= self.least.nearest
            && listed <= nearest::MAX_LISTED
            && n < u32::MAX as usize
            && self.gpu().is_ok()
    }

    fn nearest<'a>(
        &'a self,
        reference: ArrayView2<'a, f32>,
        listed: usize,
        metric: Metric,
    ) -> Attempt<Box<dyn NearestLists + 'a>> {
        Ok(Box::new(nearest::Lists::new(self.gpu()?, reference, listed, metric)?))
    }
}
