//! What triples say together: what cannot be used is refused, what is doubtful is counted.

use super::Triplet;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What there is in a list of triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TripletReport {
    /// Triples in the list.
    pub triplets: usize,
    /// Rows that are named.
    pub points: usize,
    /// Triples that say again what one before them said.
    pub duplicates: usize,
    /// Contradictions: cases where both (i, j, k) and (i, k, j) are stated.
    pub contradictions: usize,
    /// Triples in a circle of three or more, such as (i, j, k), (i, k, l), (i, l, j), of which at least one
    /// must be wrong; each counted once, and contradictions not at all.
    pub in_cycles: usize,
}

impl TripletReport {
    /// Whether some kernel could have every triple in order.
    pub fn is_consistent(&self) -> bool {
        self.contradictions == 0 && self.in_cycles == 0
    }

    /// The counts in words.
    pub fn describe(&self) -> String {
        let mut parts = vec![format!("{} triples over {} rows", self.triplets, self.points)];
        if self.duplicates > 0 {
            let words = if self.duplicates == 1 { "repeats another" } else { "repeat others" };
            parts.push(format!("{} {words}", self.duplicates));
        }
        if self.contradictions > 0 {
            let words = if self.contradictions == 1 { "case is" } else { "cases are" };
            parts.push(format!("{} {words} stated both ways, (i, j, k) and (i, k, j)", self.contradictions));
        }
        if self.in_cycles > 0 {
            parts.push(format!("{} go round in circles", self.in_cycles));
        }
        parts.join("; ")
    }

    /// What the user should know before trusting what is learned from triples that cannot all be right.
    pub fn warning(&self) -> Option<String> {
        (!self.is_consistent())
            .then(|| format!("{}; no kernel can have all of them in order", self.describe()))
    }
}

/// Checks triples of `n` rows and counts what is doubtful about them.
///
/// Refused are an empty list, rows that are not there, triples whose rows are not different, and lists in
/// which every triple has its opposite, equally often: nothing can be learned from these.
pub fn check(triplets: &[Triplet], n: usize) -> Result<TripletReport> {
    need_sound(triplets, n)?;
    let sorted = sorted(triplets, n);
    let (mut different, mut contradictions, mut balanced) = (0, 0, 0);
    let mut uncontradicted = vec![];
    for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
        let [i, low, high] = equal[0].0;
        let turned = equal.iter().filter(|statement| statement.1).count();
        let straight = equal.len() - turned;
        match (straight, turned) {
            (_, 0) => uncontradicted.push([i, low, high]),
            (0, _) => uncontradicted.push([i, high, low]),
            _ => contradictions += 1,
        }
        different += usize::from(straight > 0) + usize::from(turned > 0);
        balanced += if straight == turned { equal.len() } else { 0 };
    }
    if balanced == triplets.len() {
        let why = format!(
            "each of the {} triples has its opposite, (i, k, j) for (i, j, k), equally often, so nothing \
             can be \
             learned from them; take out the halves that are wrong (were the triples given once in each \
             order?)",
            triplets.len()
        );
        return Err(Error::Breakdown { step: "triples", why });
    }
    let mut named = vec![false; n];
    // As among triples drawn from classes, where a circle has no place to go on.
    let mut may_be_a_circle = |statements: &[Triplet]| {
        statements.iter().for_each(|&[_, _, k]| named[k] = true);
        let goes_on = statements.iter().any(|&[_, j, _]| named[j]);
        statements.iter().for_each(|&[_, _, k]| named[k] = false);
        goes_on
    };
    let in_cycles = uncontradicted
        .chunk_by_mut(|a, b| a[0] == b[0])
        .map(|statements| if may_be_a_circle(statements) { edges_in_cycles(statements) } else { 0 })
        .sum();
    triplets.iter().flatten().for_each(|&row| named[row] = true);
    Ok(TripletReport {
        triplets: triplets.len(),
        points: named.iter().filter(|&&named| named).count(),
        duplicates: triplets.len() - different,
        contradictions,
        in_cycles,
    })
}

/// The triples, each with the smaller of its last two rows first and whether that turned it round: statements about the same
/// three rows side by side, those that were not turned before the others.
fn sorted(triplets: &[Triplet], n: usize) -> Vec<(Triplet, bool)> {
    let turned = |&[i, j, k]: &Triplet| ([i, j.min(k), j.max(k)], j > k);
    // As one number each where there is room: these are sorted in a fraction of the time.
    const BITS: u32 = 21;
    if n <= 1 << BITS {
        let key = |(rows, turned): (Triplet, bool)| {
            rows.iter().fold(0, |key, &row| key << BITS | row as u64) << 1 | u64::from(turned)
        };
        let row = |key: u64, place: u32| (key >> (1 + BITS * place) & ((1 << BITS) - 1)) as usize;
        let mut keys: Vec<u64> = triplets.iter().map(|triplet| key(turned(triplet))).collect();
        keys.sort_unstable();
        return keys.iter().map(|&key| ([2, 1, 0].map(|place| row(key, place)), key & 1 == 1)).collect();
    }
    let mut all: Vec<(Triplet, bool)> = triplets.iter().map(turned).collect();
    all.sort_unstable();
    all
}

/// Refuses an empty list, rows that are not there, and triples of fewer than three rows.
fn need_sound(triplets: &[Triplet], n: usize) -> Result<()> {
    need_rows(triplets, n)?;
    match triplets.iter().position(|&[i, j, k]| i == j || i == k || j == k) {
        None => Ok(()),
        Some(at) => {
            let [i, j, k] = triplets[at];
            Err(Error::Shape {
                what: format!("triple {}", at + 1),
                expected: "three different rows".into(),
                got: format!("{i}, {j} and {k}"),
            })
        }
    }
}

/// Refuses an empty list and rows that are not there.
pub(crate) fn need_rows(triplets: &[Triplet], n: usize) -> Result<()> {
    if triplets.is_empty() {
        return Err(Error::Shape { what: "triples".into(), expected: "at least 1".into(), got: "0".into() });
    }
    let outside = |triplet: &Triplet| triplet.iter().copied().find(|&row| row >= n);
    match triplets.iter().enumerate().find_map(|(at, triplet)| Some((at, outside(triplet)?))) {
        None => Ok(()),
        Some((at, row)) => Err(Error::Shape {
            what: format!("triple {}", at + 1),
            expected: format!("rows below {n}"),
            got: row.to_string(),
        }),
    }
}

/// How many of an anchor's statements "j before k" lie on a circle: those within a strongly connected
/// component.
///
/// The statements are different.
fn edges_in_cycles(statements: &mut [Triplet]) -> usize {
    statements.sort_unstable();
    let mut nodes: Vec<usize> = statements.iter().flat_map(|&[_, j, k]| [j, k]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |row: usize| nodes.partition_point(|&node| node < row);
    let edges: Vec<(usize, usize)> = statements.iter().map(|&[_, j, k]| (place(j), place(k))).collect();
    let component = components(nodes.len(), &edges);
    edges.iter().filter(|(from, to)| component[*from] == component[*to]).count()
}

/// The strongly connected component of every node (Tarjan 1972), without recursion; edges are sorted.
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
    fn a_sound_list() {
        let report = check(&[[0, 1, 2], [1, 0, 2], [0, 2, 3]], 5).unwrap();
        let expected =
            TripletReport { triplets: 3, points: 4, duplicates: 0, contradictions: 0, in_cycles: 0 };
        assert_eq!(report, expected);
        assert!(report.is_consistent() && report.warning().is_none());
    }

    #[test]
    fn triples_are_sorted_alike_whatever_the_number_of_rows() {
        let mut rng = crate::random::Rng::new(1);
        let mut row = || rng.below(9) + if rng.uniform() < 0.5 { (1 << 21) - 9 } else { 0 };
        let triplets: Vec<Triplet> = (0..300).map(|_| [row(), row(), row()]).collect();
        assert_eq!(sorted(&triplets, 1 << 21), sorted(&triplets, 1 << 22));
    }

    #[test]
    fn doubtful_triples_are_counted() {
        // Twice the same; one pair of opposites, one half of it stated twice; a circle of three around row 4.
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
            "9 triples over 5 rows; 2 repeat others; 1 case is stated both ways, (i, j, k) and (i, k, j); 3 \
             go round \
             in circles; no kernel can have all of them in order"
        );
        let twice = check(&[[0, 1, 2], [0, 1, 2]], 3).unwrap();
        assert_eq!(
            (twice.describe().as_str(), twice.warning()),
            ("2 triples over 3 rows; 1 repeats another", None)
        );
    }

    #[test]
    fn useless_triples_are_refused() {
        let message = |triplets: &[Triplet]| check(triplets, 4).unwrap_err().to_string();
        assert_eq!(message(&[]), "triples: expected at least 1, got 0");
        assert_eq!(message(&[[0, 1, 2], [0, 4, 1]]), "triple 2: expected rows below 4, got 4");
        for bad in [[1, 1, 2], [1, 2, 1], [2, 1, 1]] {
            let [i, j, k] = bad;
            assert_eq!(
                message(&[[0, 1, 2], bad]),
                format!("triple 2: expected three different rows, got {i}, {j} and {k}")
            );
        }
        let all = message(&[[0, 1, 2], [3, 1, 0], [0, 2, 1], [3, 0, 1]]);
        assert!(all.starts_with("triples: each of the 4 triples has its opposite"), "{all}");
        assert!(all.contains("take out the halves"), "{all}");
        // Two against one is a majority, and one other statement is something to learn.
        assert_eq!(check(&[[0, 1, 2], [0, 2, 1], [0, 1, 2]], 3).unwrap().contradictions, 1);
        assert_eq!(check(&[[0, 1, 2], [0, 2, 1], [1, 0, 2]], 3).unwrap().contradictions, 1);
    }

    /// Whether there is a way from one node to another, by trying all.
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
