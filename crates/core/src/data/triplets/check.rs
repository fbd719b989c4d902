//! Validation of triplets: errors for unusable ones, counts of duplicates and contradictions.

use super::triplet::Triplet;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A summary of a list of triplets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TripletReport {
    /// Number of triplets.
    pub triplets: usize,
    /// Number of distinct rows in them.
    pub points: usize,
    /// Number of triplets that repeat an earlier one.
    pub duplicates: usize,
    /// Number of contradictions: pairs of (i, j, k) and (i, k, j).
    pub contradictions: usize,
    /// Number of triplets in cycles of three or more, such as (i, j, k), (i, k, l), (i, l, j), at least one of which
    /// must be wrong. Contradictions do not count.
    pub in_cycles: usize,
}

impl TripletReport {
    /// Whether a kernel could satisfy all triplets.
    pub fn is_consistent(&self) -> bool {
        self.contradictions == 0 && self.in_cycles == 0
    }

    /// The counts as text.
    pub fn describe(&self) -> String {
        let mut parts = vec![format!("{} triplets over {} rows", self.triplets, self.points)];
        if self.duplicates > 0 {
            let noun = if self.duplicates == 1 { "duplicate" } else { "duplicates" };
            parts.push(format!("{} {noun}", self.duplicates));
        }
        if self.contradictions > 0 {
            let noun = if self.contradictions == 1 { "contradiction" } else { "contradictions" };
            parts.push(format!("{} {noun}, (i, j, k) and (i, k, j)", self.contradictions));
        }
        if self.in_cycles > 0 {
            parts.push(format!("{} in cycles", self.in_cycles));
        }
        parts.join("; ")
    }

    /// A warning if no kernel can satisfy all triplets.
    pub fn warning(&self) -> Option<String> {
        (!self.is_consistent()).then(|| format!("{}; no kernel can satisfy all of them", self.describe()))
    }
}

/// Checks triplets of `n` rows and counts duplicates and contradictions.
///
/// Returns an error for an empty list, rows out of range, triplets with repeated rows, and lists in which every
/// triplet occurs as often as its opposite, which carry no information.
pub fn check(triplets: &[Triplet], n: usize) -> Result<TripletReport> {
    need_sound(triplets, n)?;
    let sorted = sorted(triplets, n);
    let (mut distinct, mut contradictions, mut balanced) = (0, 0, 0);
    let mut uncontradicted = vec![];
    for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
        let [i, low, high] = equal[0].0;
        let swapped = equal.iter().filter(|entry| entry.1).count();
        let unswapped = equal.len() - swapped;
        match (unswapped, swapped) {
            (_, 0) => uncontradicted.push([i, low, high]),
            (0, _) => uncontradicted.push([i, high, low]),
            _ => contradictions += 1,
        }
        distinct += usize::from(unswapped > 0) + usize::from(swapped > 0);
        balanced += if unswapped == swapped { equal.len() } else { 0 };
    }
    if balanced == triplets.len() {
        let why = format!(
            "each of the {} triplets occurs as often as its opposite, (i, k, j) for (i, j, k), so they carry no \
             information; remove the wrong ones",
            triplets.len()
        );
        return Err(Error::Breakdown { step: "triplets", why });
    }
    let mut named = vec![false; n];
    // A quick test that rules out cycles, for example for triplets drawn from classes: no j is also a k.
    let mut may_have_cycle = |edges: &[Triplet]| {
        edges.iter().for_each(|&[_, _, k]| named[k] = true);
        let found = edges.iter().any(|&[_, j, _]| named[j]);
        edges.iter().for_each(|&[_, _, k]| named[k] = false);
        found
    };
    let in_cycles = uncontradicted
        .chunk_by_mut(|a, b| a[0] == b[0])
        .map(|edges| if may_have_cycle(edges) { edges_in_cycles(edges) } else { 0 })
        .sum();
    triplets.iter().flatten().for_each(|&row| named[row] = true);
    Ok(TripletReport {
        triplets: triplets.len(),
        points: named.iter().filter(|&&named| named).count(),
        duplicates: triplets.len() - distinct,
        contradictions,
        in_cycles,
    })
}

/// The triplets with the smaller of their last two rows first, and whether that swapped them. Sorted by rows,
/// unswapped before swapped.
fn sorted(triplets: &[Triplet], n: usize) -> Vec<(Triplet, bool)> {
    let swapped = |&[i, j, k]: &Triplet| ([i, j.min(k), j.max(k)], j > k);
    // Pack each into one integer if rows fit, which sorts much faster.
    const BITS: u32 = 21;
    if n <= 1 << BITS {
        let key = |(rows, swapped): (Triplet, bool)| {
            rows.iter().fold(0, |key, &row| key << BITS | row as u64) << 1 | u64::from(swapped)
        };
        let row = |key: u64, place: u32| (key >> (1 + BITS * place) & ((1 << BITS) - 1)) as usize;
        let mut keys: Vec<u64> = triplets.iter().map(|triplet| key(swapped(triplet))).collect();
        keys.sort_unstable();
        return keys.iter().map(|&key| ([2, 1, 0].map(|place| row(key, place)), key & 1 == 1)).collect();
    }
    let mut all: Vec<(Triplet, bool)> = triplets.iter().map(swapped).collect();
    all.sort_unstable();
    all
}

/// Returns an error for an empty list, rows out of range, and triplets with repeated rows.
pub(crate) fn need_sound(triplets: &[Triplet], n: usize) -> Result<()> {
    need_rows(triplets, n)?;
    match triplets.iter().position(|&[i, j, k]| i == j || i == k || j == k) {
        None => Ok(()),
        Some(at) => {
            let [i, j, k] = triplets[at];
            Err(Error::Shape {
                what: format!("triplet {}", at + 1),
                expected: "three distinct rows".into(),
                got: format!("{i}, {j} and {k}"),
            })
        }
    }
}

/// Returns an error for an empty list and rows out of range.
fn need_rows(triplets: &[Triplet], n: usize) -> Result<()> {
    if triplets.is_empty() {
        return Err(Error::Shape { what: "triplets".into(), expected: "at least 1".into(), got: "0".into() });
    }
    let outside = |triplet: &Triplet| triplet.iter().copied().find(|&row| row >= n);
    match triplets.iter().enumerate().find_map(|(at, triplet)| Some((at, outside(triplet)?))) {
        None => Ok(()),
        Some((at, row)) => Err(Error::Shape {
            what: format!("triplet {}", at + 1),
            expected: format!("rows below {n}"),
            got: row.to_string(),
        }),
    }
}

/// Number of edges from j to k, for distinct triplets with the same first row, that lie on a cycle: those within a
/// strongly connected component.
fn edges_in_cycles(triplets: &mut [Triplet]) -> usize {
    triplets.sort_unstable();
    let mut nodes: Vec<usize> = triplets.iter().flat_map(|&[_, j, k]| [j, k]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |row: usize| nodes.partition_point(|&node| node < row);
    let edges: Vec<(usize, usize)> = triplets.iter().map(|&[_, j, k]| (place(j), place(k))).collect();
    let component = components(nodes.len(), &edges);
    edges.iter().filter(|(from, to)| component[*from] == component[*to]).count()
}

/// The strongly connected component of every node (Tarjan 1972), without recursion. Edges must be sorted.
fn components(n: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let start: Vec<usize> = (0..=n).map(|node| edges.partition_point(|(from, _)| *from < node)).collect();
    let (mut order, mut low, mut component) = (vec![NONE; n], vec![NONE; n], vec![NONE; n]);
    let (mut next_edge, mut n_seen, mut n_components) = (start.clone(), 0, 0);
    let (mut path, mut open) = (vec![], vec![]);
    for root in 0..n {
        if order[root] != NONE {
            continue;
        }
        path.push(root);
        while let Some(&node) = path.last() {
            if order[node] == NONE {
                (order[node], low[node]) = (n_seen, n_seen);
                n_seen += 1;
                open.push(node);
            }
            if next_edge[node] < start[node + 1] {
                let to = edges[next_edge[node]].1;
                next_edge[node] += 1;
                if order[to] == NONE {
                    path.push(to);
                } else if component[to] == NONE {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&parent) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = n_components;
                    if member == node {
                        break;
                    }
                }
                n_components += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_consistent_list() {
        let report = check(&[[0, 1, 2], [1, 0, 2], [0, 2, 3]], 5).unwrap();
        let expected =
            TripletReport { triplets: 3, points: 4, duplicates: 0, contradictions: 0, in_cycles: 0 };
        assert_eq!(report, expected);
        assert!(report.is_consistent() && report.warning().is_none());
    }

    #[test]
    fn both_ways_of_sorting_agree() {
        let mut rng = crate::random::Rng::new(1);
        let mut row = || rng.below(9) + if rng.uniform() < 0.5 { (1 << 21) - 9 } else { 0 };
        let triplets: Vec<Triplet> = (0..300).map(|_| [row(), row(), row()]).collect();
        assert_eq!(sorted(&triplets, 1 << 21), sorted(&triplets, 1 << 22));
    }

    #[test]
    fn duplicates_contradictions_and_cycles_are_counted() {
        // A duplicate; a contradiction, one side of it twice; a cycle of three with first row 4.
        let triplets = [
            [0, 1, 2],
            [0, 1, 2],
            [3, 1, 2],
            [3, 2, 1],
            [3, 1, 2],
            [4, 0, 1],
            [4, 1, 2],
            [4, 2, 0],
            [4, 0, 3],
        ];
        let report = check(&triplets, 5).unwrap();
        let expected =
            TripletReport { triplets: 9, points: 5, duplicates: 2, contradictions: 1, in_cycles: 3 };
        assert_eq!(report, expected);
        assert_eq!(
            report.warning().unwrap(),
            "9 triplets over 5 rows; 2 duplicates; 1 contradiction, (i, j, k) and (i, k, j); 3 in cycles; no kernel \
             can satisfy all of them"
        );
        let twice = check(&[[0, 1, 2], [0, 1, 2]], 3).unwrap();
        assert_eq!(
            (twice.describe().as_str(), twice.warning()),
            ("2 triplets over 3 rows; 1 duplicate", None)
        );
    }

    #[test]
    fn unusable_triplets_are_rejected() {
        let message = |triplets: &[Triplet]| check(triplets, 4).unwrap_err().to_string();
        assert_eq!(message(&[]), "triplets: expected at least 1, got 0");
        assert_eq!(message(&[[0, 1, 2], [0, 4, 1]]), "triplet 2: expected rows below 4, got 4");
        for bad in [[1, 1, 2], [1, 2, 1], [2, 1, 1]] {
            let [i, j, k] = bad;
            assert_eq!(
                message(&[[0, 1, 2], bad]),
                format!("triplet 2: expected three distinct rows, got {i}, {j} and {k}")
            );
        }
        let all = message(&[[0, 1, 2], [3, 1, 0], [0, 2, 1], [3, 0, 1]]);
        assert!(all.starts_with("triplets: each of the 4 triplets occurs as often as its opposite"), "{all}");
        assert!(all.contains("remove the wrong ones"), "{all}");
        // A majority of two to one, and another triplet, carry information.
        assert_eq!(check(&[[0, 1, 2], [0, 2, 1], [0, 1, 2]], 3).unwrap().contradictions, 1);
        assert_eq!(check(&[[0, 1, 2], [0, 2, 1], [1, 0, 2]], 3).unwrap().contradictions, 1);
    }

    /// Whether there is a path between two nodes, by brute force.
    fn reaches(edges: &[(usize, usize)], from: usize, to: usize, n: usize) -> bool {
        let mut seen = vec![false; n];
        seen[from] = true;
        for _ in 0..n {
            edges.iter().for_each(|&(a, b)| seen[b] |= seen[a]);
        }
        seen[to]
    }

    proptest! {
        #[test]
        fn components_are_nodes_that_reach_each_other(
            edges in proptest::collection::btree_set((0usize..8, 0usize..8), 0..20)
        ) {
            let edges: Vec<(usize, usize)> = edges.into_iter().collect();
            let component = components(8, &edges);
            for a in 0..8 {
                for b in 0..8 {
                    let both_ways = reaches(&edges, a, b, 8) && reaches(&edges, b, a, 8);
                    prop_assert_eq!(component[a] == component[b], both_ways, "{} {}", a, b);
                }
            }
        }
    }
}
