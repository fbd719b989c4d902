//! Random sampling of triplets.
//!
//! Draws a row i uniformly, then a pair of a more similar row j and a less similar row k uniformly. Triplets repeat
//! only once all are drawn, and then as evenly as possible: rows without further triplets are not drawn again. The `n`
//! triplets come in random order, after about `n` steps.

use super::triplet::Triplet;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::random::Rng;

/// The name in errors.
pub(super) const NAME: &str = "drawing triplets";

/// Refuses more triplets than fit in memory.
pub(super) fn need_memory(n: usize, ctx: &Context) -> Result<()> {
    // A triplet, its index among those of its first row, and its node in a set.
    ctx.need_memory(format!("drawing {n} triplets"), n as f64 * 80.0, "draw fewer triplets")
}

/// The distinct rows, sorted, or an error if triplets cannot be drawn from them.
pub(super) fn need_rows(rows: &[usize], n_rows: usize, n: usize) -> Result<Vec<usize>> {
    if n == 0 {
        return Err(Error::param(NAME, "n", "at least 1", n));
    }
    need_memory(n, &Context::default())?;
    if let Some(row) = rows.iter().find(|&&row| row >= n_rows) {
        return Err(Error::Shape {
            what: "rows to draw triplets from".into(),
            expected: format!("indices below {n_rows}"),
            got: row.to_string(),
        });
    }
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows.dedup();
    if rows.len() < 3 {
        return Err(Error::TooFewRows { method: NAME, need: 3, got: rows.len() });
    }
    Ok(rows)
}

/// Draws `n` triplets. `pairs` returns the wanted number of distinct pairs of an anchor, or all if there are fewer. At
/// least one triplet must exist.
pub(super) fn draw(
    mut anchors: Vec<usize>,
    n: usize,
    rng: &mut Rng,
    mut pairs: impl FnMut(usize, usize, &mut Rng) -> Vec<[usize; 2]>,
) -> Vec<Triplet> {
    let n_anchors = anchors.iter().max().map_or(0, |&most| most + 1);
    let mut wanted = vec![0usize; n_anchors];
    let mut drawn: Vec<Vec<[usize; 2]>> = vec![vec![]; n_anchors];
    let mut remaining = n;
    while remaining > 0 && !anchors.is_empty() {
        (0..remaining).for_each(|_| wanted[anchors[rng.below(anchors.len())]] += 1);
        remaining = 0;
        anchors.retain(|&i| {
            if wanted[i] == drawn[i].len() {
                return true;
            }
            drawn[i] = pairs(i, wanted[i], rng);
            let missing = wanted[i] - drawn[i].len();
            remaining += missing;
            missing == 0
        });
    }
    let mut all: Vec<Triplet> = (0..n_anchors)
        .flat_map(|i| std::mem::take(&mut drawn[i]).into_iter().map(move |[j, k]| [i, j, k]))
        .collect();
    // More are wanted than exist: repeat all of them, then a sample.
    let n_distinct = all.len();
    while n_distinct > 0 && all.len() < n {
        let more = rng.sample(n_distinct, n - all.len());
        all.extend(more.into_iter().map(|at| all[at]).collect::<Vec<_>>());
    }
    rng.shuffle(&mut all);
    all
}
