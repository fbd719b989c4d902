//! Parallel computation per feature.

use super::selector::Selection;
use crate::context::Context;
use crate::data::{Groups, Rows};
use crate::error::Result;
use ndarray::{Array2, s};
use rayon::prelude::*;

/// Features per task.
const FEATURES_PER_TASK: usize = 8;
/// Tasks per thread between two checks for cancellation.
const TASKS_PER_CHECK: usize = 4;

/// Applies `work` to every feature, given its index and values. `bytes`: memory that `work` needs for one.
pub(super) fn each_column<T: Send>(
    x: &Rows,
    stage: &str,
    bytes: f64,
    ctx: &Context,
    work: impl Fn(usize, &[f64]) -> T + Sync,
) -> Result<Vec<T>> {
    let d = x.d();
    ctx.need_memory(
        format!("{stage} of columns of {} cells", x.n()),
        Columns::bytes(x) + rayon::current_num_threads() as f64 * bytes,
        "use fewer rows",
    )?;
    let columns = Columns::of(x);
    let starts: Vec<usize> = (0..d).step_by(FEATURES_PER_TASK).collect();
    let mut out = Vec::with_capacity(d);
    for batch in starts.chunks(TASKS_PER_CHECK * rayon::current_num_threads()) {
        ctx.step(stage, batch[0], d)?;
        // A long feature takes a while, so check before each one.
        let checked = |j: usize, column: &[f64]| ctx.check().map(|()| work(j, column));
        let parts: Vec<Vec<Result<T>>> = batch
            .par_iter()
            .map(|&from| columns.visit(from, d.min(from + FEATURES_PER_TASK), checked))
            .collect();
        for part in parts.into_iter().flatten() {
            out.push(part?);
        }
    }
    Ok(out)
}

/// Applies `work` to every feature, given its index and the values of its columns, one column after another. `bytes`:
/// memory that `work` needs for one.
pub(super) fn each_feature<T: Send>(
    x: &Rows,
    groups: &Groups,
    stage: &str,
    bytes: f64,
    ctx: &Context,
    work: impl Fn(usize, &[f64]) -> T + Sync,
) -> Result<Vec<T>> {
    if groups.is_single() {
        return each_column(x, stage, bytes, ctx, work);
    }
    let threads = rayon::current_num_threads();
    let widest = groups.iter().map(|columns| columns.len()).max().unwrap_or(0);
    ctx.need_memory(
        format!("{stage} of features of {} cells", x.n() * widest),
        Columns::bytes(x) + threads as f64 * (bytes + 16.0 * (x.n() * widest) as f64),
        "use fewer rows",
    )?;
    let columns = Columns::of(x);
    let features: Vec<usize> = (0..groups.n_features()).collect();
    let mut out = Vec::with_capacity(features.len());
    for batch in features.chunks(TASKS_PER_CHECK * threads) {
        ctx.step(stage, batch[0], features.len())?;
        let of_feature = |&j: &usize| {
            ctx.check()?;
            let own = groups.columns(j);
            Ok(work(j, &columns.visit(own.start, own.end, |_, cells| cells.to_vec()).concat()))
        };
        let parts: Vec<Result<T>> = batch.par_iter().map(of_feature).collect();
        for part in parts {
            out.push(part?);
        }
    }
    Ok(out)
}

enum Columns<'a> {
    Dense(&'a Array2<f64>),
    /// Number of samples, and the stored (row, value) entries of each feature.
    Sparse(usize, Vec<Vec<(u32, f64)>>),
}

impl<'a> Columns<'a> {
    /// Bytes of a copy, or of the features that threads copy at a time.
    fn bytes(x: &Rows) -> f64 {
        let threads = rayon::current_num_threads();
        let column = 8.0 * x.n() as f64;
        match x {
            Rows::Dense(_) => column * (threads * FEATURES_PER_TASK).min(x.d()) as f64,
            Rows::Sparse(cells) => column * threads as f64 + cells.columns_bytes(),
        }
    }

    fn of(x: &'a Rows) -> Self {
        match x {
            Rows::Dense(x) => Self::Dense(x),
            Rows::Sparse(cells) => Self::Sparse(x.n(), cells.columns()),
        }
    }

    fn visit<T>(&self, from: usize, to: usize, work: impl Fn(usize, &[f64]) -> T) -> Vec<T> {
        match self {
            Self::Dense(x) => {
                let block = x.slice(s![.., from..to]).reversed_axes().as_standard_layout().into_owned();
                let cells = block.rows().into_iter().enumerate();
                cells.map(|(j, column)| work(from + j, column.to_slice().expect("standard layout"))).collect()
            }
            Self::Sparse(n, columns) => {
                let mut cells = vec![0.0; *n];
                (from..to)
                    .map(|j| {
                        cells.fill(0.0);
                        columns[j].iter().for_each(|&(i, v)| cells[i as usize] = v);
                        work(j, &cells)
                    })
                    .collect()
            }
        }
    }
}

/// The distinct values of a feature, if there are few: at most 10, and on average at least 5 samples each; `weight` is the
/// number of samples, or the sum of their weights. Such a feature is treated as categorical.
pub(super) fn few_values(column: &[f64], weight: f64) -> Option<Vec<f64>> {
    const MAX_VALUES: usize = 10;
    const MIN_ROWS_PER_VALUE: f64 = 5.0;
    let mut values: Vec<f64> = vec![];
    for &v in column {
        let place = values.partition_point(|value| *value < v);
        if values.get(place) != Some(&v) {
            if values.len() == MAX_VALUES {
                return None;
            }
            values.insert(place, v);
        }
    }
    (MIN_ROWS_PER_VALUE * values.len() as f64 <= weight).then_some(values)
}

/// The distinct values of a feature in ascending order, without missing ones.
pub(super) fn distinct(column: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}

/// The place of each value among distinct ones; missing values are one more, the last.
pub(super) fn places(column: &[f64], values: &[f64]) -> Vec<usize> {
    let place = |v: &f64| if v.is_nan() { values.len() } else { values.partition_point(|value| value < v) };
    column.iter().map(place).collect()
}

/// Selects the requested number; if automatic, the best features up to the first that fails the test. If none
/// passes, `none` is called.
pub(super) fn keep_leading(
    mut selection: Selection,
    wanted: Option<usize>,
    passes: &[bool],
    none: impl FnOnce(),
) -> Selection {
    selection.n_selected = wanted.unwrap_or_else(|| {
        let leading = selection.order.iter().take_while(|&&j| passes[j]).count();
        if leading == 0 {
            none();
        }
        leading
    });
    selection
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SparseRows;
    use ndarray::array;

    #[test]
    fn dense_and_sparse_features_are_equal() {
        let sparse: Rows =
            SparseRows::new(3, vec![0, 1, 3, 3], vec![1, 0, 2], vec![2.0, 1.0, 3.0]).unwrap().into();
        let dense: Rows = array![[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]].into();
        let all = |x: &Rows| each_column(x, "", 0.0, &Context::default(), |j, c| (j, c.to_vec())).unwrap();
        assert_eq!(all(&dense), all(&sparse));
        assert_eq!(all(&dense)[2], (2, vec![0.0, 3.0, 0.0]));
        let groups = Groups::of_sizes([2, 1]);
        let features = |x: &Rows| {
            each_feature(x, &groups, "", 0.0, &Context::default(), |j, c| (j, c.to_vec())).unwrap()
        };
        assert_eq!(features(&dense), features(&sparse));
        assert_eq!(features(&dense)[0], (0, vec![0.0, 1.0, 0.0, 2.0, 0.0, 0.0]));
        assert_eq!(features(&dense)[1], (1, vec![0.0, 3.0, 0.0]));
    }

    #[test]
    fn missing_values_come_last() {
        let column = [3.0, f64::NAN, -1.0, 3.0];
        assert_eq!(distinct(&column), [-1.0, 3.0]);
        assert_eq!(places(&column, &distinct(&column)), [1, 2, 0, 1]);
    }

    #[test]
    fn few_values_are_detected() {
        let column: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
        assert_eq!(few_values(&column, 30.0), Some(vec![0.0, 1.0, 2.0]));
        assert_eq!(few_values(&column[..14], 14.0), None, "not five rows each");
        assert_eq!(few_values(&(0..110).map(|i| f64::from(i % 11)).collect::<Vec<_>>(), 110.0), None);
    }
}
