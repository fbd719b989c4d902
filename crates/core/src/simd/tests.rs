use super::*;

/// Heads, tails and full vectors give the same results.
#[test]
fn results_do_not_depend_on_the_position_in_a_slice() {
    let n = 37;
    let columns: Vec<f64> = (0..7 * n).map(|i| (i as f64 * 0.77).sin() * 3.0).collect();
    let z: Vec<f64> = (0..7).map(|i| f64::from(i) * 0.3).collect();
    let all = |rows: std::ops::Range<usize>| {
        let mut out = vec![0.0; rows.len()];
        squared_distances(&mut out, &columns[rows.start..], n, &z);
        add_combination(&mut out, &columns[rows.start..], n, &z);
        add_scaled(&mut out, 1.7, &columns[rows]);
        out
    };
    for (i, value) in all(0..n).iter().enumerate() {
        assert_eq!(value.to_bits(), all(i..i + 1)[0].to_bits());
    }
}

/// Sums of integers are exact in any order, so a term that is skipped or added twice shows.
#[test]
fn sums_of_every_length_include_each_term_once() {
    for n in 0..70 {
        let a: Vec<f64> = (0..n).map(|i| f64::from((i * 7 + 3) % 11 - 5)).collect();
        let b: Vec<f64> = (0..n).map(|i| f64::from((i * 5 + 1) % 13 - 6)).collect();
        let sum = |term: fn(f64, f64) -> f64| a.iter().zip(&b).map(|(a, b)| term(*a, *b)).sum::<f64>();
        assert_eq!(dot(&a, &b), sum(|a, b| a * b), "{n}");
        assert_eq!(squared_distance(&a, &b), sum(|a, b| (a - b) * (a - b)), "{n}");
        assert_eq!(absolute_distance(&a, &b), sum(|a, b| (a - b).abs()), "{n}");
        let squares = add_scaled_and_square(&mut a.clone(), 2.0, &b);
        assert_eq!(squares, sum(|a, b| (a + 2.0 * b) * (a + 2.0 * b)), "{n}");
        // With gamma = 0 every kernel value is 1.
        assert_eq!(kernel_sum(&a, &b, &b, 0.0, 0.0, 1.0), a.iter().sum::<f64>(), "{n}");
        assert_eq!(gaussian_sum(&a, &b, 0.0, 0.0), a.iter().sum::<f64>(), "{n}");
    }
}

#[test]
fn combined_loops_equal_separate_loops() {
    let mut rng = crate::random::Rng::new(4);
    for (height, columns) in [(0, 3), (5, 1), (16, 4), (37, 7), (100, 8)] {
        let mut draw = |n: usize| (0..n).map(|_| rng.normal()).collect::<Vec<f64>>();
        let (cells, v) = (draw(height * columns), draw(height));
        let mut out = vec![f64::NAN; columns];
        dots(&mut out, &cells, &v);
        let separate: Vec<f64> =
            (0..columns).map(|k| dot(&cells[k * height..(k + 1) * height], &v)).collect();
        assert_eq!(out, separate, "{height} x {columns}");
        let (mut sum, mut other) = (v.clone(), v.clone());
        let x = draw(height);
        let squares = add_scaled_and_square(&mut sum, -0.7, &x);
        add_scaled(&mut other, -0.7, &x);
        assert_eq!(sum, other);
        assert_eq!(squares, dot(&other, &other));
    }
}

#[test]
fn distances_match_hand_computed_values() {
    // Rows (3, 0) and (0, 2) against (1, 1).
    let mut sum = vec![9.0; 2];
    squared_distances(&mut sum, &[3.0, 0.0, 0.0, 2.0], 2, &[1.0, 1.0]);
    assert_eq!(sum, [5.0, 2.0]);
    absolute_distances(&mut sum, &[3.0, 0.0, 0.0, 2.0], 2, &[1.0, 1.0]);
    assert_eq!(sum, [3.0, 2.0]);
    // |x|^2 = 9, |z|^2 = 4, <x, z> = 6 and 6.5: distances 1 and 0; the second has no correct digits.
    let mut p = vec![6.0, 6.5];
    assert!(products_to_squared_distances(&mut p, &[9.0, 9.0], 4.0));
    assert_eq!(p, [1.0, 0.0]);
    assert!(!products_to_squared_distances(&mut [6.0], &[9.0], 4.0));
    assert!(products_to_squared_distances(&mut [f64::INFINITY], &[f64::INFINITY], 4.0));
}

#[test]
fn add_combination_equals_plain_sums() {
    let (n, k, height) = (600, 11, 300);
    let columns: Vec<f64> = (0..n * k).map(|i| (i as f64 * 0.37).cos()).collect();
    let weights: Vec<f64> = (0..k).map(|k| k as f64 * 0.4).collect();
    let mut out = vec![7.0; height];
    add_combination(&mut out, &columns[5..], n, &weights);
    for (r, out) in out.iter().enumerate() {
        let plain: f64 = (0..k).map(|k| weights[k] * columns[5 + k * n + r]).sum();
        // Eleven additions of numbers below 30.
        assert!((out - 7.0 - plain).abs() < 1e-13);
    }
}

#[test]
fn dot_and_distances_of_a_length_that_is_no_multiple_of_the_lanes() {
    let a: Vec<f64> = (0..37).map(f64::from).collect();
    // The sum of squares up to 36; integers are exact.
    assert_eq!(dot(&a, &a), 36.0 * 37.0 * 73.0 / 6.0);
    assert_eq!(dot(&[], &[]), 0.0);
    let b: Vec<f64> = a.iter().map(|v| v + 2.0).collect();
    assert_eq!(squared_distance(&a, &b), 4.0 * 37.0);
    assert_eq!(absolute_distance(&a, &b), 2.0 * 37.0);
}

#[test]
fn votes_are_counted_in_the_bucket_of_their_row() {
    let mut votes = vec![[0u8; VOTERS]; 3];
    (votes[0][5], votes[1][5], votes[2][63]) = (1, 1, 1);
    let mut counts = vec![[0u16; VOTERS]; 2];
    count_votes(&mut counts, &[1, 1, 0], &votes);
    assert_eq!((counts[1][5], counts[0][5], counts[0][63]), (2, 0, 1));
}

#[test]
fn scale_and_reduce_matches_hand_computed_values() {
    let (mut column, mut residual) = (vec![2.0, 1.0, 3.0], vec![1.0, 1.0, 2.0]);
    let extremes = scale_and_reduce(&mut column, 0.5, &mut residual);
    assert_eq!(column, [1.0, 0.5, 1.5]);
    assert_eq!(residual, [0.0, 0.75, 0.0]);
    assert_eq!(extremes, (-0.25, 0.75));
}
