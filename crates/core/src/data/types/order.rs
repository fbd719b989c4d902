//! The order of levels.

use super::number::NumberFormat;
use std::cmp::Ordering;

/// Sorts levels by their numbers if all are numbers, otherwise as text.
pub(crate) fn by_value(levels: &mut [String]) {
    let numbers: Option<Vec<f64>> = levels.iter().map(|level| NumberFormat::default().parse(level)).collect();
    let Some(numbers) = numbers else { return levels.sort_unstable() };
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).then_with(|| levels[a].cmp(&levels[b])));
    let sorted: Vec<String> = order.into_iter().map(|at| std::mem::take(&mut levels[at])).collect();
    levels.clone_from_slice(&sorted);
}

/// The natural order: digits are compared as numbers, so that `grade 9` comes before `grade 10`.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (digits_a, digits_b) = (leading_digits(a), leading_digits(b));
        if !digits_a.is_empty() && !digits_b.is_empty() {
            let (x, y) = (digits_a.trim_start_matches('0'), digits_b.trim_start_matches('0'));
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[digits_a.len()..], &b[digits_b.len()..]);
            continue;
        }
        match (a.chars().next(), b.chars().next()) {
            (Some(x), Some(y)) if x == y => (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]),
            (x, y) => return x.cmp(&y),
        }
    }
}

fn leading_digits(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
}
