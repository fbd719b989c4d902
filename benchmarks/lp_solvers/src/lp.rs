//! A linear program in general form, and our program as its primal and dual.

use crate::instance::{Instance, PENALTY};
use kernsift::internals::WeightBound;

const INF: f64 = f64::INFINITY;

/// Minimize, with bounds on columns and on rows.
#[derive(Default)]
pub struct Lp {
    pub costs: Vec<f64>,
    pub columns: Vec<[f64; 2]>,
    pub rows: Vec<[f64; 2]>,
    /// Rows and values of each column, in the order of rows.
    pub entries: Vec<Vec<(usize, f64)>>,
}

/// The form in which a program is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Primal,
    Dual,
}

impl Lp {
    fn column(&mut self, cost: f64, bounds: [f64; 2], entries: Vec<(usize, f64)>) {
        self.costs.push(cost);
        self.columns.push(bounds);
        self.entries.push(entries.into_iter().filter(|(_, v)| *v != 0.0).collect());
    }

    /// The program of an instance. The objective is multiplied by the number of triplets, so that their dual values are at
    /// most 1, which suits the absolute tolerances of simplex methods.
    ///
    /// Primal columns: weights, group sizes, slacks. Dual rows: weights, groups.
    pub fn new(instance: &Instance, form: Form) -> Self {
        match form {
            Form::Primal => Self::primal(instance),
            Form::Dual => Self::dual(instance),
        }
    }

    fn primal(instance: &Instance) -> Self {
        let (t, m) = (instance.margins.nrows(), instance.cuts.nrows());
        let mut lp = Self::default();
        lp.rows.extend(std::iter::repeat_n([1.0, INF], t));
        lp.rows.extend(std::iter::repeat_n([0.0, INF], m));
        let mut sizes = vec![vec![]; instance.groups()];
        for (p, bound) in instance.bounds.iter().enumerate() {
            let mut entries: Vec<(usize, f64)> =
                instance.margins.column(p).iter().copied().enumerate().collect();
            entries.extend(instance.cuts.column(p).iter().enumerate().map(|(r, v)| (t + r, *v)));
            // Signs of the weight in s - α ≥ 0 and s + α ≥ 0.
            let signs: &[f64] = match bound {
                WeightBound::Symmetric(_) => &[-1.0, 1.0],
                WeightBound::NonNegative(_) => &[-1.0],
                WeightBound::Ungrouped => &[],
            };
            for sign in signs {
                entries.push((lp.rows.len(), *sign));
                sizes[bound.group().expect("a group")].push((lp.rows.len(), 1.0));
                lp.rows.push([0.0, INF]);
            }
            let least = if matches!(bound, WeightBound::Symmetric(_)) { -INF } else { 0.0 };
            lp.column(t as f64 * instance.costs[p], [least, INF], entries);
        }
        for entries in sizes {
            lp.column(t as f64 * PENALTY, [0.0, INF], entries);
        }
        (0..t).for_each(|row| lp.column(1.0, [0.0, INF], vec![(row, 1.0)]));
        lp
    }

    /// Minimizes -Σλ: a row for each weight, then a row for each group.
    fn dual(instance: &Instance) -> Self {
        let (t, k) = (instance.margins.nrows(), instance.bounds.len());
        let mut lp = Self::default();
        for (cost, bound) in instance.costs.iter().zip(&instance.bounds) {
            let most = t as f64 * cost;
            lp.rows.push([if matches!(bound, WeightBound::Symmetric(_)) { most } else { -INF }, most]);
        }
        lp.rows.extend(std::iter::repeat_n([-INF, t as f64 * PENALTY], instance.groups()));
        for row in instance.margins.rows() {
            lp.column(-1.0, [0.0, 1.0], row.iter().copied().enumerate().collect());
        }
        for row in instance.cuts.rows() {
            lp.column(0.0, [0.0, INF], row.iter().copied().enumerate().collect());
        }
        for (p, bound) in instance.bounds.iter().enumerate() {
            let Some(g) = bound.group() else { continue };
            lp.column(0.0, [0.0, INF], vec![(p, -1.0), (k + g, 1.0)]);
            if matches!(bound, WeightBound::Symmetric(_)) {
                lp.column(0.0, [0.0, INF], vec![(p, 1.0), (k + g, 1.0)]);
            }
        }
        lp
    }

    /// Writes the file that `highs_by_scipy.py` reads.
    #[cfg(not(feature = "highs"))]
    pub fn write(&self, path: &std::path::Path) -> std::io::Result<()> {
        let mut bytes = vec![];
        let mut number = |v: u64| bytes.extend(v.to_le_bytes());
        let entries = || self.entries.iter().flatten();
        number(self.costs.len() as u64);
        number(self.rows.len() as u64);
        number(entries().count() as u64);
        self.costs.iter().for_each(|v| number(v.to_bits()));
        for bounds in [&self.columns, &self.rows] {
            for end in 0..2 {
                bounds.iter().for_each(|pair| number(pair[end].to_bits()));
            }
        }
        number(0);
        let mut start = 0;
        for column in &self.entries {
            start += column.len() as u64;
            number(start);
        }
        entries().for_each(|(row, _)| number(*row as u64));
        entries().for_each(|(_, v)| number(v.to_bits()));
        std::fs::write(path, bytes)
    }

    /// Entries by rows.
    pub fn by_rows(&self) -> Vec<Vec<(usize, f64)>> {
        let mut rows = vec![vec![]; self.rows.len()];
        for (column, entries) in self.entries.iter().enumerate() {
            entries.iter().for_each(|&(row, value)| rows[row].push((column, value)));
        }
        rows
    }
}
