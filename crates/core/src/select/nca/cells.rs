//! The values of a feature: squared distances between rows, and kernel values in single precision.

use crate::simd::{
    F32_KERNEL_ERROR, F32_MIN_FACTOR, F32_UNIT_ROUNDOFF, add_scaled_squares_f32, add_squared_differences,
    gaussian_products_f32, power_products_f32,
};
use std::collections::HashMap;
use std::f64::consts::{LN_2, LOG2_E};

/// A feature of several columns with at most this many different values has a table of distances.
const MAX_LEVELS: usize = 256;
/// Features with a larger range in units of the kernel are evaluated in double precision.
const MAX_RANGE: f64 = 1000.0;
/// Kernel values at more than this distance in units of the kernel, $2^{-49}$, are negligible: their relative error is
/// not bounded.
const MAX_DISTANCE: f64 = 7.0;

/// Values of the query rows and of the landmarks.
pub(super) struct Both<T> {
    queries: Vec<T>,
    /// Empty if the landmarks are the query rows.
    landmarks: Vec<T>,
}

impl<T: Copy> Both<T> {
    fn new(queries: Vec<T>, landmarks: Option<&[usize]>) -> Self {
        let landmarks = landmarks.map_or(vec![], |at| at.iter().map(|&i| queries[i]).collect());
        Self { queries, landmarks }
    }

    fn landmarks(&self) -> &[T] {
        if self.landmarks.is_empty() { &self.queries } else { &self.landmarks }
    }
}

/// A column, also in single precision and scaled to the range from -1 to 1.
pub(super) struct Column {
    values: Both<f64>,
    scaled: Both<f32>,
    /// Half its range.
    reach: f64,
}

impl Column {
    fn new(values: Vec<f64>, landmarks: Option<&[usize]>) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (middle, reach) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
        let scaled = |v: &f64| if reach > 0.0 { ((v - middle) / reach) as f32 } else { 0.0 };
        let scaled = Both::new(values.iter().map(scaled).collect(), landmarks);
        Self { values: Both::new(values, landmarks), scaled, reach }
    }

    /// $U^2$: the kernel is two to the power of minus this times the squared difference of scaled values.
    fn exponent(&self, gamma: f64) -> f64 {
        gamma * LOG2_E * self.reach * self.reach
    }
}

/// The values of a feature.
pub(super) enum Cells {
    /// Its columns.
    Columns(Box<[Column]>),
    /// A number of each different value, and a table of their squared distances.
    Levels { levels: Both<u32>, distances: Vec<f64>, count: usize },
}

impl Cells {
    /// From the columns of the query rows. `landmarks` are positions of query rows; without them all are landmarks.
    pub fn new(columns: Vec<Vec<f64>>, landmarks: Option<&[usize]>) -> Self {
        match levels_of(&columns) {
            Some((levels, first)) if columns.len() > 1 => {
                let distance = |a: usize, b: usize| -> f64 {
                    columns.iter().map(|column| (column[a] - column[b]).powi(2)).sum()
                };
                let of_row = |&a: &usize| first.iter().map(move |&b| distance(a, b)).collect::<Vec<f64>>();
                let distances = first.iter().flat_map(of_row).collect();
                Self::Levels { levels: Both::new(levels, landmarks), distances, count: first.len() }
            }
            _ => Self::Columns(columns.into_iter().map(|column| Column::new(column, landmarks)).collect()),
        }
    }

    /// Bytes for a feature of this many columns, given the number of query rows and separate landmarks.
    pub fn bytes(columns: usize, rows: usize) -> f64 {
        let levels = (columns + 1).min(MAX_LEVELS);
        let table = if columns > 1 { 8 * levels * levels } else { 0 };
        (12 * rows * columns + table) as f64
    }

    /// Adds the squared distances of query row `i` from the first landmarks.
    pub fn add_distances(&self, i: usize, out: &mut [f64]) {
        match self {
            Self::Columns(columns) => {
                for column in columns {
                    add_squared_differences(out, column.values.landmarks(), column.values.queries[i]);
                }
            }
            Self::Levels { levels, distances, count } => {
                let from = levels.queries[i] as usize * count;
                let row = &distances[from..from + count];
                out.iter_mut().zip(levels.landmarks()).for_each(|(out, &level)| *out += row[level as usize]);
            }
        }
    }

    /// Bound on the relative error of kernel values above $2^{-49}$ in single precision; infinite if there is none.
    ///
    /// With $U$ the half range in units of the kernel and $D$ a distance, rounding of the values gives $D^2$ an error
    /// of $4 U D$ roundings, of the scale, difference and products $5 D^2$, and $D^2$ more for each further column.
    pub fn relative_error(&self, gamma: f64) -> f64 {
        match self {
            Self::Columns(columns) => {
                let range = columns.iter().map(|column| column.exponent(gamma)).sum::<f64>().sqrt();
                if range >= MAX_RANGE || range.is_nan() {
                    return f64::INFINITY;
                }
                let roundings = 4.0 * range + (4.0 + columns.len() as f64) * MAX_DISTANCE;
                F32_KERNEL_ERROR + F32_UNIT_ROUNDOFF * LN_2 * MAX_DISTANCE * roundings
            }
            Self::Levels { .. } => F32_UNIT_ROUNDOFF,
        }
    }

    /// The kernel in single precision.
    pub fn kernel(&self, gamma: f64) -> RoughKernel<'_> {
        match self {
            Self::Columns(columns) => {
                let scales = columns.iter().map(|column| -(column.exponent(gamma) as f32)).collect();
                RoughKernel::Columns(columns, scales)
            }
            Self::Levels { levels, distances, count } => {
                let table =
                    distances.iter().map(|d| (-gamma * d).exp().max(f64::from(F32_MIN_FACTOR)) as f32);
                RoughKernel::Levels { levels, table: table.collect(), count: *count }
            }
        }
    }
}

/// The kernel of a feature in single precision.
pub(super) enum RoughKernel<'a> {
    Columns(&'a [Column], Vec<f32>),
    Levels { levels: &'a Both<u32>, table: Vec<f32>, count: usize },
}

impl RoughKernel<'_> {
    /// For a single column: its scaled values of the landmarks, and the value of query row `i` with the scale.
    pub fn single(&self, i: usize) -> Option<(&[f32], (f32, f32))> {
        match self {
            Self::Columns([column], scales) => {
                Some((column.scaled.landmarks(), (column.scaled.queries[i], scales[0])))
            }
            _ => None,
        }
    }

    /// Writes `base` times the kernel values of query row `i` and the first landmarks to `out`.
    pub fn products(&self, i: usize, base: &[f32], out: &mut [f32]) {
        match self {
            Self::Columns([column], scales) => {
                let scaled = &column.scaled;
                gaussian_products_f32(base, scaled.landmarks(), scaled.queries[i], scales[0], out);
            }
            Self::Columns(columns, scales) => {
                out.fill(0.0);
                for (column, &scale) in columns.iter().zip(scales) {
                    let scaled = &column.scaled;
                    add_scaled_squares_f32(out, scaled.landmarks(), scaled.queries[i], scale);
                }
                power_products_f32(base, out);
            }
            Self::Levels { levels, table, count } => {
                let from = levels.queries[i] as usize * count;
                let row = &table[from..from + count];
                for ((out, base), &level) in out.iter_mut().zip(base).zip(levels.landmarks()) {
                    *out = base * row[level as usize];
                }
            }
        }
    }
}

/// A number of each different row of the columns, and the first row of each; `None` if there are too many.
fn levels_of(columns: &[Vec<f64>]) -> Option<(Vec<u32>, Vec<usize>)> {
    if columns.len() < 2 {
        return None;
    }
    let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
    let (mut levels, mut first) = (vec![], vec![]);
    for i in 0..columns[0].len() {
        let row: Vec<u64> = columns.iter().map(|column| column[i].to_bits()).collect();
        let level = *known.entry(row).or_insert_with(|| {
            first.push(i);
            first.len() as u32 - 1
        });
        if first.len() > MAX_LEVELS {
            return None;
        }
        levels.push(level);
    }
    Some((levels, first))
}
