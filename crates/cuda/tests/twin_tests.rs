//! Results with the twin of the kernels equal those of the processor.

use crate::problems::{assert_same_selection, coarse, hsfs, leak, relief, reliefs, screened, table};
use crate::twin::{Twin, half};
use kernsift::device::{Accelerator, PairFunctions, Task};

#[test]
fn half_precision_by_hand() {
    // The spacing is 2^-10 between 1 and 2; ties go to even numbers. 2^-24 is the smallest number, 65504 the largest.
    let ulp = 1.0 / 1024.0;
    assert_eq!(
        [half(1.0 + 0.5 * ulp), half(1.0 + 1.5 * ulp), half(-1.0 - 0.6 * ulp)],
        [1.0, 1.0 + 2.0 * ulp, -1.0 - ulp]
    );
    let smallest = (-24.0_f32).exp2();
    assert_eq!([half(0.4 * smallest), half(0.6 * smallest), half(65_519.0)], [0.0, smallest, 65_504.0]);
    assert!(half(65_521.0).is_infinite() && half(0.0) == 0.0);
}

#[test]
fn best_pairs_are_those_of_the_processor() {
    for seed in 0..4 {
        for data in [table(200, 70, seed % 2 == 0, seed), coarse(150, 60, seed)] {
            let device = leak(Twin::new());
            assert_eq!(screened(&data, Some(device)), screened(&data, None));
            assert_eq!(device.used(), [Task::Pairs]);
        }
    }
}

#[test]
fn tiles_are_split_if_they_have_too_many_pairs() {
    // 600 features: ranges of 512 and 88; without a threshold, all pairs of the first range are returned.
    let data = coarse(60, 600, 1);
    let device = leak(Twin { capacity: 70_000, ..Twin::new() });
    assert_eq!(screened(&data, Some(device)), screened(&data, None));
    assert_eq!((device.used(), device.take_warnings().len()), (vec![Task::Pairs], 0));
    // A range is not split endlessly.
    let device = leak(Twin { capacity: 10, ..Twin::new() });
    assert_eq!(screened(&data, Some(device)), screened(&data, None));
    assert!(device.used().is_empty());
}

/// The error in half precision is within its bound, and the bound is not useless.
#[test]
fn errors_of_scores_are_within_the_bound() {
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 * 1.7 - 1.7
    };
    for (n, scale) in [(100, 1.0), (1000, 30.0), (3000, 0.01)] {
        let values: Vec<f32> = (0..8 * n).map(|_| draw()).collect();
        let target: Vec<Vec<f32>> = (0..2).map(|_| (0..n).map(|_| scale * draw()).collect()).collect();
        let of = |feature: usize| values[feature * 2 * n..(feature + 1) * 2 * n].chunks_exact(n);
        let exact = |i: usize, j: usize| {
            let mut sum = 0.0;
            for (a, b) in of(i).flat_map(|a| of(j).map(move |b| (a, b))) {
                for y in &target {
                    let cells = a.iter().zip(b).zip(y);
                    let z: f64 = cells.map(|((a, b), y)| f64::from(*a) * f64::from(*b) * f64::from(*y)).sum();
                    sum += z * z / n as f64;
                }
            }
            sum.sqrt()
        };
        let norm = |feature: usize| {
            let squares = of(feature).flat_map(|a| target.iter().map(move |y| (a, y)));
            let sum: f64 = squares
                .map(|(a, y)| a.iter().zip(y).map(|(a, y)| f64::from(a * y).powi(2)).sum::<f64>())
                .sum();
            // Rounded up.
            (sum.sqrt() * 1.00001) as f32
        };
        let functions = PairFunctions {
            n,
            starts: vec![0, 2, 4, 6, 8],
            parts: vec![&values[..]],
            target: &target,
            norms: (0..4).map(norm).collect(),
            kurtosis: vec![1.0; 4],
            max_kurtosis: 1.0,
        };
        let twin = Twin::new();
        let mut tiles = twin.pairs(&functions).unwrap();
        let found = tiles.tile(0..4, 0..4, &[0.0; 5]).unwrap().unwrap();
        assert_eq!(found.len(), 6);
        for pair in found {
            let (i, j) = (pair.features.0 as usize, pair.features.1 as usize);
            let error = (f64::from(pair.root) - exact(i, j)).abs();
            let bound = f64::from(tiles.error().of(pair.root, functions.norms[i], 2));
            assert!(error <= bound && bound < 0.02 * f64::from(functions.norms[i]), "{n}: {error} {bound}");
        }
    }
}

#[test]
fn relief_is_that_of_the_processor() {
    for method in reliefs() {
        for data in [table(250, 12, false, 3), table(250, 12, true, 4), coarse(200, 8, 5)] {
            let device = leak(Twin::new());
            // Neighbors are the same, so every digit is.
            assert_eq!(relief(&data, &method, Some(device)), relief(&data, &method, None));
            assert_eq!(device.used(), [Task::Neighbors]);
        }
    }
}

#[test]
fn far_from_the_origin_neighbors_are_the_same() {
    for (scale, shift) in [(1e-150, 0.0), (1.0, 1e9), (1e150, -1e155)] {
        let data = table(120, 6, false, 6);
        let x = data.x().to_dense().mapv(|v| scale * v + shift);
        let data = data.with_x(x).unwrap();
        for method in reliefs() {
            assert_eq!(relief(&data, &method, Some(leak(Twin::new()))), relief(&data, &method, None));
        }
    }
}

#[test]
fn hsfs_selects_the_same() {
    let data = table(150, 6, false, 7);
    let device = leak(Twin::new());
    assert_same_selection(&hsfs(&data, Some(device)), &hsfs(&data, None));
    assert_eq!(device.used(), [Task::Pairs, Task::Hsic]);
}
