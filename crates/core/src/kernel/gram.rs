//! Blocks of Gram matrices: any rows against any rows, on all threads.
//!
//! A kernel is first flattened into weighted terms, each one of five formulas over (perhaps
//! transformed) rows. The result is cut into tiles that fit the cache; a tile gets its distances or
//! products and their exponential before it is left. Distances over few columns are summed up
//! directly, which is exact for equal rows; over many columns they come from a matrix product of
//! shifted rows: $\lVert x-y \rVert^2 = \lVert x \rVert^2 + \lVert y \rVert^2 - 2 \langle x, y \rangle$, where the shift to
//! the mean keeps the three numbers of one size. Rows that lie about zero are taken as they are.

use super::formula::{Kernel, metric_factor};
use super::terms::{Flat, Form, flatten, power};
use crate::data::{Rows, SparseRows};
use crate::error::{Error, Result};
use crate::linalg::{Columns, Writer, multiply, product_into, zeros};
use crate::simd::{
    absolute_distances, add_scaled, is_accurate, products_to_squared_distances, squared_distances,
};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Rows of a tile.
const TILE_ROWS: usize = 256;
/// Columns of a tile: with [`TILE_ROWS`] it takes 512 KiB.
const TILE_COLUMNS: usize = 256;
/// Up to this many columns distances are summed up directly; beyond, a matrix product is faster.
const DIRECT: usize = 24;
/// Rows are shifted if the square of their mean is more than this share of their mean square.
const OFF: f64 = 0.01;

/// The Gram matrix of `x` against `z`, laid out by rows.
pub fn gram(kernel: &Kernel, x: &Rows, z: &Rows) -> Result<Array2<f64>> {
    let mut out =
        Array2::from_shape_vec((x.n(), z.n()), zeros(x.n() * z.n())).expect("a number per pair of rows");
    // Kernels are symmetric: writing the transpose by columns is writing by rows.
    Plan::new(kernel, z, x)?.fill(out.view_mut().reversed_axes());
    Ok(out)
}

/// The Gram matrix of `x` against itself, symmetric to the last bit.
pub fn gram_symmetric(kernel: &Kernel, x: &Rows) -> Result<Array2<f64>> {
    let n = x.n();
    let mut out = Array2::from_shape_vec((n, n).f(), zeros(n * n)).expect("a number per pair of rows");
    Plan::new(kernel, x, x)?.fill_symmetric(out.view_mut());
    Ok(out)
}

/// The kernel of every row with itself.
pub fn diagonal(kernel: &Kernel, x: &Rows) -> Result<Vec<f64>> {
    kernel.validate(x.d())?;
    let mut out = vec![0.0; x.n()];
    for (weight, kernel) in flatten(kernel, None) {
        add_diagonal(weight, &kernel, x, &mut out);
    }
    Ok(out)
}

fn add_diagonal(weight: f64, term: &Flat, x: &Rows, out: &mut [f64]) {
    match term.kernel {
        Kernel::Linear | Kernel::Polynomial { .. } => {
            let squares = match term.feature {
                Some(f) => (0..x.n()).map(|i| x.get(i, f).powi(2)).collect(),
                None => squared_norms(x, None),
            };
            for (out, square) in out.iter_mut().zip(squares) {
                *out += weight
                    * match term.kernel {
                        Kernel::Polynomial { degree, gamma, coef0 } => power(gamma * square + coef0, *degree),
                        _ => square,
                    };
            }
        }
        // All others are functions of the difference, which is zero.
        _ => out.iter_mut().for_each(|out| *out += weight),
    }
}

/// A kernel over fixed rows that hands out columns; what a pivoted factorisation works on.
pub struct Gram<'a> {
    x: Cow<'a, Rows>,
    /// What each term of the kernel sees of them.
    views: Vec<View>,
    diagonal: Vec<f64>,
}

struct View {
    weight: f64,
    form: Form,
    shift: Option<Array1<f64>>,
    /// The rows, unless they are those of the kernel.
    own: Option<Rows>,
    norms: Vec<f64>,
}

impl View {
    fn new(weight: f64, flat: &Flat, x: &Rows) -> Result<Self> {
        let form = Form::of(flat.kernel);
        let rows = seen_by(flat, x)?;
        let (shift, norms) = if needs_norms(form, &rows, &rows) {
            let shift = shift_of(&rows);
            let norms = squared_norms(&rows, shift.as_ref());
            (shift, norms)
        } else {
            (None, vec![])
        };
        let own = match rows {
            Cow::Borrowed(_) => None,
            Cow::Owned(rows) => Some(rows),
        };
        Ok(Self { weight, form, shift, own, norms })
    }

    fn side<'a>(&'a self, x: &'a Rows) -> Side<'a> {
        Side { rows: Cow::Borrowed(self.own.as_ref().unwrap_or(x)), norms: Cow::Borrowed(&self.norms) }
    }
}

impl<'a> Gram<'a> {
    /// Checks the kernel against the rows.
    pub fn new(kernel: &Kernel, x: &'a Rows) -> Result<Self> {
        let diagonal = diagonal(kernel, x)?;
        // Direct distances run down the columns, again for every batch of pivots: lay them out so once.
        let x = match x {
            Rows::Dense(dense) if dense.ncols() <= DIRECT && dense.t().to_slice().is_none() => {
                let mut by_columns = Array2::zeros(dense.raw_dim().f());
                by_columns
                    .axis_chunks_iter_mut(Axis(0), TILE_ROWS)
                    .into_par_iter()
                    .zip(dense.axis_chunks_iter(Axis(0), TILE_ROWS).into_par_iter())
                    .for_each(|(mut to, from)| to.assign(&from));
                Cow::Owned(by_columns.into())
            }
            other => Cow::Borrowed(other),
        };
        let terms = flatten(kernel, None).into_iter();
        let views = terms.map(|(weight, flat)| View::new(weight, &flat, &x)).collect::<Result<_>>()?;
        Ok(Self { x, views, diagonal })
    }

    /// Some rows, as each term sees them.
    fn take(&self, which: &[usize]) -> Vec<Side<'static>> {
        self.views.iter().map(|view| view.side(&self.x).take(which)).collect()
    }

    /// Rows that were taken, or all, against rows that were taken.
    fn plan<'b>(&'b self, x: Option<&'b [Side]>, z: &'b [Side]) -> Plan<'b> {
        let term = |(i, view): (usize, &'b View)| Term {
            weight: view.weight,
            form: view.form,
            shift: view.shift.as_ref().map(Cow::Borrowed),
            x: x.map_or_else(|| view.side(&self.x), |x| x[i].all()),
            z: z[i].all(),
        };
        Plan { terms: self.views.iter().enumerate().map(term).collect() }
    }
}

impl Columns for Gram<'_> {
    fn diagonal(&self) -> Vec<f64> {
        self.diagonal.clone()
    }

    fn columns(&self, which: &[usize]) -> Writer<'_> {
        let taken = self.take(which);
        Box::new(move |from, out| self.plan(None, &taken).write(from, out))
    }

    fn block(&self, which: &[usize]) -> Array2<f64> {
        let n = which.len();
        let mut out = Array2::from_shape_vec((n, n), zeros(n * n)).expect("a number per pair of rows");
        // Symmetric: filling the transpose is filling it.
        let taken = self.take(which);
        self.plan(Some(&taken), &taken).fill_symmetric(out.view_mut().reversed_axes());
        out
    }

    fn block_bytes(&self, rows: usize) -> f64 {
        self.views.iter().map(|view| view.side(&self.x).rows.bytes_of(rows)).sum()
    }
}

struct Term<'a> {
    weight: f64,
    form: Form,
    /// What is taken off all rows where distances come from products, if anything.
    shift: Option<Cow<'a, Array1<f64>>>,
    x: Side<'a>,
    z: Side<'a>,
}

/// Rows as a term sees them.
struct Side<'a> {
    rows: Cow<'a, Rows>,
    /// Squared norms of the shifted rows where distances come from products; else none.
    norms: Cow<'a, [f64]>,
}

impl Side<'_> {
    fn all(&self) -> Side<'_> {
        Side { rows: Cow::Borrowed(&self.rows), norms: Cow::Borrowed(&self.norms) }
    }

    fn take(&self, which: &[usize]) -> Side<'static> {
        let norms =
            if self.norms.is_empty() { vec![] } else { which.iter().map(|&i| self.norms[i]).collect() };
        Side { rows: Cow::Owned(self.rows.take_rows(which)), norms: norms.into() }
    }
}

struct Plan<'a> {
    terms: Vec<Term<'a>>,
}

impl<'a> Plan<'a> {
    fn new(kernel: &Kernel, x: &'a Rows, z: &'a Rows) -> Result<Self> {
        if x.d() != z.d() {
            return Err(Error::Shape {
                what: "columns of the second set of rows".into(),
                expected: x.d().to_string(),
                got: z.d().to_string(),
            });
        }
        kernel.validate(x.d())?;
        let terms = flatten(kernel, None)
            .into_iter()
            .map(|(w, flat)| Term::new(w, &flat, x, z))
            .collect::<Result<_>>()?;
        Ok(Self { terms })
    }

    /// All of `out`, best laid out by columns.
    fn fill(&self, out: ArrayViewMut2<f64>) {
        self.fill_tiles(tiles(out, TILE_ROWS, TILE_COLUMNS));
    }

    /// All of a square over the same rows: the lower half is computed, the upper is its mirror.
    fn fill_symmetric(&self, out: ArrayViewMut2<f64>) {
        let per_side = out.nrows().div_ceil(TILE_ROWS);
        let mut all: Vec<Option<Tile>> = tiles(out, TILE_ROWS, TILE_ROWS).into_iter().map(Some).collect();
        let mut pairs = vec![];
        for i in 0..per_side {
            for j in 0..=i {
                pairs.push((all[i * per_side + j].take(), all[j * per_side + i].take()));
            }
        }
        pairs.into_par_iter().for_each_init(Scratch::default, |scratch, (lower, upper)| {
            let Some(mut lower) = lower else { return };
            self.evaluate(&lower, scratch);
            if upper.is_none() {
                mirror(&mut scratch.sum, lower.out.nrows());
            }
            store(&scratch.sum, lower.out.view_mut());
            if let Some(upper) = upper {
                store(&scratch.sum, upper.out.reversed_axes());
            }
        });
    }

    fn fill_tiles(&self, tiles: Vec<Tile>) {
        tiles.into_par_iter().for_each_init(Scratch::default, |scratch, tile| {
            self.evaluate(&tile, scratch);
            store(&scratch.sum, tile.out);
        });
    }

    /// All of `out` on the calling thread, for rows from `row` on.
    fn write(&self, row: usize, mut out: ArrayViewMut2<f64>) {
        let (at_x, at_z) = (row..row + out.nrows(), 0..out.ncols());
        let mut scratch = Scratch::default();
        match out.view_mut().reversed_axes().as_slice_mut() {
            Some(by_columns) => {
                self.values(at_x, at_z, by_columns, &mut scratch.one, &mut scratch.part);
            }
            None => {
                self.evaluate(&Tile { row, column: 0, out: out.view_mut() }, &mut scratch);
                store(&scratch.sum, out);
            }
        }
    }

    /// The values of a tile, by columns, left in `scratch.sum`.
    fn evaluate(&self, tile: &Tile, scratch: &mut Scratch) {
        let (rows, columns) = tile.out.dim();
        let (at_x, at_z) = (tile.row..tile.row + rows, tile.column..tile.column + columns);
        scratch.sum.resize(rows * columns, 0.0);
        self.values(at_x, at_z, &mut scratch.sum, &mut scratch.one, &mut scratch.part);
    }

    /// Values of some rows with some rows, by columns.
    fn values(
        &self,
        at_x: Range<usize>,
        at_z: Range<usize>,
        sum: &mut [f64],
        one: &mut Vec<f64>,
        part: &mut Vec<f64>,
    ) {
        for (i, term) in self.terms.iter().enumerate() {
            if i == 0 && term.weight == 1.0 {
                term.tile(at_x.clone(), at_z.clone(), sum, part);
                continue;
            }
            if i == 0 {
                sum.fill(0.0);
            }
            one.resize(sum.len(), 0.0);
            term.tile(at_x.clone(), at_z.clone(), one, part);
            add_scaled(sum, term.weight, one);
        }
    }
}

/// Copies values by columns into a view of any layout.
fn store(values: &[f64], mut out: ArrayViewMut2<f64>) {
    let rows = out.nrows();
    if out.strides()[0] == 1 {
        for (mut column, values) in out.columns_mut().into_iter().zip(values.chunks_exact(rows)) {
            column.as_slice_mut().expect("a column lies together").copy_from_slice(values);
        }
    } else {
        // Along the rows of the view, in strips that stay in the cache.
        const STRIP: usize = 16;
        for from in (0..rows).step_by(STRIP) {
            for (j, values) in values.chunks_exact(rows).enumerate() {
                for r in from..rows.min(from + STRIP) {
                    out[[r, j]] = values[r];
                }
            }
        }
    }
}

/// Makes a square of values symmetric: its lower half holds.
fn mirror(values: &mut [f64], n: usize) {
    for j in 0..n {
        for i in j + 1..n {
            values[i * n + j] = values[j * n + i];
        }
    }
}

/// Memory that a thread uses again for every tile.
#[derive(Default)]
struct Scratch {
    sum: Vec<f64>,
    one: Vec<f64>,
    part: Vec<f64>,
}

struct Tile<'a> {
    row: usize,
    column: usize,
    out: ArrayViewMut2<'a, f64>,
}

/// Cuts a view into tiles.
fn tiles(out: ArrayViewMut2<'_, f64>, rows: usize, columns: usize) -> Vec<Tile<'_>> {
    let mut all = vec![];
    let mut below = out;
    let mut row = 0;
    while below.nrows() > 0 {
        let height = rows.min(below.nrows());
        let (mut right, rest) = below.split_at(Axis(0), height);
        below = rest;
        let mut column = 0;
        while right.ncols() > 0 {
            let width = columns.min(right.ncols());
            let (out, rest) = right.split_at(Axis(1), width);
            right = rest;
            all.push(Tile { row, column, out });
            column += width;
        }
        row += height;
    }
    all
}

impl<'a> Term<'a> {
    fn new(weight: f64, flat: &Flat, x: &'a Rows, z: &'a Rows) -> Result<Self> {
        let form = Form::of(flat.kernel);
        let (x, z) = (seen_by(flat, x)?, seen_by(flat, z)?);
        if !needs_norms(form, &x, &z) {
            let side = |rows| Side { rows, norms: Cow::default() };
            return Ok(Self { weight, form, shift: None, x: side(x), z: side(z) });
        }
        // Shifting sparse rows would fill them.
        let shift = if x.is_sparse() { None } else { shift_of(&z) };
        let side = |rows: Cow<'a, Rows>| {
            let norms = squared_norms(&rows, shift.as_ref()).into();
            Side { rows, norms }
        };
        let (x, z) = (side(x), side(z));
        Ok(Self { weight, form, shift: shift.map(Cow::Owned), x, z })
    }

    /// The term's values for a tile, by columns.
    fn tile(&self, at_x: Range<usize>, at_z: Range<usize>, out: &mut [f64], part: &mut Vec<f64>) {
        match (&*self.x.rows, &*self.z.rows) {
            (Rows::Dense(x), Rows::Dense(z)) => {
                self.dense_tile(x, at_x.clone(), z.slice(s![at_z.clone(), ..]), out, part);
            }
            (Rows::Sparse(x), z) => self.sparse_tile(x, at_x.clone(), z, at_z.clone(), out, part, false),
            (x, Rows::Sparse(z)) => self.sparse_tile(z, at_z.clone(), x, at_x.clone(), out, part, true),
        }
        let rows = at_x.len();
        if self.needs_norms() {
            for (column, j) in out.chunks_exact_mut(rows).zip(at_z) {
                let (x, z) = (&self.x.norms[at_x.clone()], self.z.norms[j]);
                if !products_to_squared_distances(column, x, z) {
                    continue;
                }
                // Equal and nearly equal rows: a difference of large numbers keeps too few digits.
                for (r, distance) in column.iter_mut().enumerate() {
                    if !is_accurate(*distance, x[r] + z) {
                        let row = at_x.start + r;
                        *distance = self.x.rows.sum_over_differences(row, &self.z.rows, j, |e| e * e);
                    }
                }
            }
        }
        self.form.finish(out);
    }

    fn dense_tile(
        &self,
        all: &Array2<f64>,
        at: Range<usize>,
        z: ArrayView2<f64>,
        out: &mut [f64],
        part: &mut Vec<f64>,
    ) {
        let x = all.slice(s![at.clone(), ..]);
        let rows = x.nrows();
        let view = |out| ArrayViewMut2::from_shape((rows, z.nrows()).f(), out).expect("a value per cell");
        match self.form {
            Form::Product | Form::Polynomial { .. } => product_into(x, z.t(), view(out)),
            Form::Equal => {
                for (column, z) in out.chunks_exact_mut(rows).zip(z.rows()) {
                    for (cell, x) in column.iter_mut().zip(x.rows()) {
                        *cell = f64::from(u8::from(x == z));
                    }
                }
            }
            Form::SquaredDistance { .. } if self.needs_norms() => match self.shift.as_deref() {
                Some(shift) => product_into((&x - shift).view(), (&z - shift).t(), view(out)),
                None => product_into(x, z.t(), view(out)),
            },
            Form::SquaredDistance { .. } | Form::AbsoluteDistance { .. } => {
                let distances = match self.form {
                    Form::SquaredDistance { .. } => squared_distances,
                    _ => absolute_distances,
                };
                // By columns of x, so that the inner loop runs over rows whatever d is.
                let (columns, stride) = match all.t().to_slice() {
                    Some(whole) => (&whole[at.start..], all.nrows()),
                    None => {
                        part.clear();
                        x.columns().into_iter().for_each(|column| part.extend(column));
                        (&part[..], rows)
                    }
                };
                let mut point = vec![0.0; x.ncols()];
                for (column, z) in out.chunks_exact_mut(rows).zip(z.rows()) {
                    point.iter_mut().zip(z).for_each(|(p, z)| *p = *z);
                    distances(column, columns, stride, &point);
                }
            }
        }
    }

    /// Sparse rows against any others, which are spread out a few at a time. `transposed`: the
    /// sparse rows are the columns of the tile.
    #[allow(clippy::too_many_arguments)]
    fn sparse_tile(
        &self,
        sparse: &SparseRows,
        at_sparse: Range<usize>,
        other: &Rows,
        at_other: Range<usize>,
        out: &mut [f64],
        part: &mut Vec<f64>,
        transposed: bool,
    ) {
        // 16 spread rows of 20,000 columns are 2.5 MiB.
        const AT_ONCE: usize = 16;
        let (n_sparse, n_other) = (at_sparse.len(), at_other.len());
        for from in (0..n_other).step_by(AT_ONCE) {
            let width = AT_ONCE.min(n_other - from);
            spread(other, at_other.start + from..at_other.start + from + width, part);
            let base: Vec<f64> = match self.form {
                Form::AbsoluteDistance { .. } => {
                    (0..width).map(|j| part[j..].iter().step_by(width).map(|v| v.abs()).sum()).collect()
                }
                Form::Equal => (0..width)
                    .map(|j| part[j..].iter().step_by(width).filter(|v| **v != 0.0).count() as f64)
                    .collect(),
                _ => vec![0.0; width],
            };
            let mut row = vec![0.0; width];
            for i in 0..n_sparse {
                row.copy_from_slice(&base);
                let (columns, values) = sparse.row(at_sparse.start + i);
                for (&f, &v) in columns.iter().zip(values) {
                    let z = &part[f as usize * width..(f as usize + 1) * width];
                    match self.form {
                        Form::AbsoluteDistance { .. } => {
                            row.iter_mut().zip(z).for_each(|(r, z)| *r += (v - z).abs() - z.abs());
                        }
                        // Rows are equal if no cell of one differs from the other: cells that are
                        // stored and equal pay for one another's count, any difference is infinite.
                        Form::Equal => row.iter_mut().zip(z).for_each(|(r, z)| {
                            *r += if v == *z { -f64::from(u8::from(v != 0.0)) } else { f64::INFINITY };
                        }),
                        _ => add_scaled(&mut row, v, z),
                    }
                }
                for (j, &value) in row.iter().enumerate() {
                    let value = if self.form == Form::Equal {
                        f64::from(u8::from(value == 0.0))
                    } else {
                        value.max(self.least())
                    };
                    let (r, c) = if transposed { (from + j, i) } else { (i, from + j) };
                    let height = if transposed { n_other } else { n_sparse };
                    out[c * height + r] = value;
                }
            }
        }
    }

    fn needs_norms(&self) -> bool {
        needs_norms(self.form, &self.x.rows, &self.z.rows)
    }

    /// Rounding of a sum of differences may fall below zero; products may be anything.
    fn least(&self) -> f64 {
        if matches!(self.form, Form::AbsoluteDistance { .. }) { 0.0 } else { f64::NEG_INFINITY }
    }
}

/// The rows that a term is a function of.
fn seen_by<'a>(flat: &Flat, x: &'a Rows) -> Result<Cow<'a, Rows>> {
    let x = match flat.feature {
        None => Cow::Borrowed(x),
        Some(f) => Cow::Owned(x.take_columns(&[f]).to_dense().into()),
    };
    Ok(match flat.kernel {
        Kernel::Mahalanobis { metric } => Cow::Owned(turned(&x, &metric_factor(metric)?)),
        _ => x,
    })
}

/// Whether distances come from products.
fn needs_norms(form: Form, x: &Rows, z: &Rows) -> bool {
    matches!(form, Form::SquaredDistance { .. }) && (x.d() > DIRECT || x.is_sparse() || z.is_sparse())
}

/// The mean of dense rows, or of some of them, if they lie far from zero.
fn shift_of(rows: &Rows) -> Option<Array1<f64>> {
    const ENOUGH: usize = 1024;
    let Rows::Dense(rows) = rows else { return None };
    let rows = rows.slice(s![..;rows.nrows().div_ceil(ENOUGH).max(1), ..]);
    let mean = rows.mean_axis(Axis(0))?;
    let square = rows.iter().map(|v| v * v).sum::<f64>() / rows.nrows() as f64;
    (mean.dot(&mean) > OFF * square).then_some(mean)
}

/// Squared norms of rows less the shift. Sparse rows are not shifted.
fn squared_norms(x: &Rows, shift: Option<&Array1<f64>>) -> Vec<f64> {
    let norm = |i: usize| match (x, shift) {
        (Rows::Dense(x), Some(shift)) => x.row(i).iter().zip(shift).map(|(v, s)| (v - s) * (v - s)).sum(),
        (Rows::Dense(x), None) => x.row(i).iter().map(|v| v * v).sum(),
        (Rows::Sparse(x), _) => x.row(i).1.iter().map(|v| v * v).sum(),
    };
    (0..x.n()).into_par_iter().with_min_len(TILE_ROWS).map(norm).collect()
}

/// Rows times a matrix.
fn turned(x: &Rows, factor: &Array2<f64>) -> Rows {
    match x {
        Rows::Dense(x) => multiply(x.view(), factor.view()).into(),
        Rows::Sparse(x) => {
            let mut out = Array2::zeros((x.n_rows(), factor.ncols()));
            for (i, f, v) in x.cells() {
                out.row_mut(i).scaled_add(v, &factor.row(f));
            }
            out.into()
        }
    }
}

/// A few rows with all their zeros, column by column.
fn spread(rows: &Rows, which: Range<usize>, out: &mut Vec<f64>) {
    let width = which.len();
    out.clear();
    out.resize(rows.d() * width, 0.0);
    for (j, i) in which.enumerate() {
        match rows {
            Rows::Dense(x) => x.row(i).iter().enumerate().for_each(|(f, &v)| out[f * width + j] = v),
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(&f, &v)| out[f as usize * width + j] = v);
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::array;

    /// The formulas, word for word.
    fn naive(kernel: &Kernel, x: &[f64], y: &[f64]) -> f64 {
        let dot = || x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
        match kernel {
            Kernel::Linear => dot(),
            Kernel::Rbf { gamma } => {
                (-gamma * x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
            }
            Kernel::Polynomial { degree, gamma, coef0 } => (gamma * dot() + coef0).powi(*degree as i32),
            Kernel::Laplacian { gamma } => {
                (-gamma * x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>()).exp()
            }
            Kernel::WhiteNoise => f64::from(u8::from(x == y)),
            Kernel::OnFeature { feature, kernel } => {
                naive(kernel, &x[*feature..=*feature], &y[*feature..=*feature])
            }
            Kernel::Sum(parts) => parts.iter().map(|(w, k)| w * naive(k, x, y)).sum(),
            Kernel::Mahalanobis { metric } => {
                let e: Vec<f64> = x.iter().zip(y).map(|(a, b)| a - b).collect();
                let mut form = 0.0;
                for i in 0..e.len() {
                    for j in 0..e.len() {
                        form += e[i] * metric[[i, j]] * e[j];
                    }
                }
                (-form).exp()
            }
        }
    }

    pub fn all_kernels(d: usize) -> Vec<Kernel> {
        let metric = Array2::from_shape_fn((d, d), |(i, j)| if i == j { 0.3 } else { 0.2 / d as f64 });
        let weak = |feature, kernel| Kernel::OnFeature { feature, kernel: Box::new(kernel) };
        vec![
            Kernel::Linear,
            Kernel::Rbf { gamma: 0.4 / d as f64 },
            Kernel::Polynomial { degree: 3, gamma: 0.5, coef0: 1.0 },
            Kernel::Laplacian { gamma: 0.5 / d as f64 },
            Kernel::WhiteNoise,
            weak(d - 1, Kernel::Rbf { gamma: 1.0 }),
            weak(
                0,
                Kernel::Sum(vec![(2.0, Kernel::Linear), (1.0, weak(0, Kernel::Laplacian { gamma: 1.0 }))]),
            ),
            Kernel::Sum(vec![
                (0.5, Kernel::Rbf { gamma: 0.1 }),
                (-1.5, Kernel::Linear),
                (0.1, Kernel::WhiteNoise),
            ]),
            Kernel::Mahalanobis { metric },
        ]
    }

    /// Rows with many zeros, a duplicate, and one more than a whole number of tiles.
    pub fn rows(n: usize, d: usize, seed: u64) -> Array2<f64> {
        let mut rng = Rng::new(seed);
        let mut x =
            Array2::from_shape_simple_fn((n, d), || if rng.uniform() < 0.5 { 0.0 } else { rng.normal() });
        let last = x.row(n - 1).to_owned();
        x.row_mut(0).assign(&last);
        x
    }

    pub fn sparse(x: &Array2<f64>) -> Rows {
        SparseRows::of(x).into()
    }

    #[test]
    fn every_kernel_equals_its_formula_dense_and_sparse() {
        for (n, d) in [(257, 3), (40, DIRECT + 1), (21, 60)] {
            let (x, z) = (rows(n, d, 1), rows(19, d, 2));
            for kernel in all_kernels(d) {
                let expected = Array2::from_shape_fn((n, 19), |(i, j)| {
                    naive(&kernel, x.row(i).as_slice().unwrap(), z.row(j).as_slice().unwrap())
                });
                let size = expected.iter().fold(1.0_f64, |a, v| a.max(v.abs()));
                for (x, z) in [
                    (x.clone().into(), z.clone().into()),
                    (sparse(&x), sparse(&z)),
                    (sparse(&x), z.clone().into()),
                    (x.clone().into(), sparse(&z)),
                ] {
                    let got = gram(&kernel, &x, &z).unwrap();
                    // Sums of up to 60 products, relative to the largest entry.
                    let worst = (&got - &expected).iter().fold(0.0_f64, |a, e| a.max(e.abs())) / size;
                    assert!(worst < 1e-13, "{} d={d}: {worst}", kernel.describe());
                }
            }
        }
    }

    #[test]
    fn symmetric_form_and_diagonal_agree_with_the_general_form() {
        let x: Rows = rows(300, 30, 3).into();
        for kernel in all_kernels(30) {
            let k = gram_symmetric(&kernel, &x).unwrap();
            let full = gram(&kernel, &x, &x).unwrap();
            let size = full.iter().fold(1.0_f64, |a, v| a.max(v.abs()));
            assert!((&k - &full).iter().all(|e| e.abs() < 1e-13 * size), "{}", kernel.describe());
            assert_eq!(k, k.t());
            let diagonal = diagonal(&kernel, &x).unwrap();
            assert!(diagonal.iter().zip(k.diag()).all(|(a, b)| (a - b).abs() < 1e-13 * size));
        }
    }

    #[test]
    fn far_from_the_origin_distances_keep_their_digits() {
        // Without the shift, 1e6^2 would leave no digit of a distance of 1e-3.
        let mut x = rows(30, 40, 4);
        let expected = gram(&Kernel::Rbf { gamma: 0.01 }, &x.clone().into(), &x.clone().into()).unwrap();
        x += 1e6;
        let got = gram(&Kernel::Rbf { gamma: 0.01 }, &x.clone().into(), &x.into()).unwrap();
        // Adding 1e6 itself rounds the data at 1e-10.
        assert!((&got - &expected).iter().all(|e| e.abs() < 1e-9));
    }

    #[test]
    fn hand_computed() {
        let x: Rows = array![[0.0, 0.0], [3.0, 4.0]].into();
        let k = gram(&Kernel::Rbf { gamma: 0.1 }, &x, &x).unwrap();
        assert!((k[[0, 1]] - (-2.5_f64).exp()).abs() < 1e-16);
        let k = gram(&Kernel::Laplacian { gamma: 0.1 }, &x, &x).unwrap();
        assert!((k[[0, 1]] - (-0.7_f64).exp()).abs() < 1e-16);
        let k = gram(&Kernel::Polynomial { degree: 2, gamma: 1.0, coef0: 1.0 }, &x, &x).unwrap();
        assert_eq!(k, array![[1.0, 1.0], [1.0, 676.0]]);
    }

    #[test]
    fn widths_must_match() {
        let error = gram(&Kernel::Linear, &array![[1.0, 2.0]].into(), &array![[1.0]].into()).unwrap_err();
        assert!(error.to_string().contains("expected 1, got 2"), "{error}");
    }

    #[test]
    fn one_and_two_threads_give_the_same_bits() {
        let x: Rows = rows(700, 40, 5).into();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| gram(&Kernel::Rbf { gamma: 0.02 }, &x, &x).unwrap())
        };
        assert_eq!(on(1), on(2));
    }
}
