use super::*;
use crate::blocks::{BlockSource, MemoryBlocks, run};
use crate::data::{Dataset, Target};
use crate::random::Rng;

/// Features 0 and 1 decide the class by their signs, feature 2 alone; 3 has few values, 4 is constant but for two rows.
fn data(n: usize, regression: bool) -> Dataset {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_fn((n, 8), |(i, j)| match j {
        3 => rng.below(3) as f64,
        4 => f64::from(u8::from(i < 2)),
        5 => (rng.normal() * 3.0).round(),
        _ => rng.normal(),
    });
    let y: Vec<f64> = x
        .rows()
        .into_iter()
        .map(|r| r[0].signum() * r[1].signum() + 1.5 * r[2] + 0.7 * rng.normal())
        .collect();
    let target = match regression {
        true => Target::Continuous(y),
        false => {
            let codes = y.iter().map(|v| usize::from(*v > 0.0) + usize::from(*v > 1.5)).collect();
            Target::Classes(crate::data::Classes::from_codes(codes))
        }
    };
    Dataset::with_target(x, target).unwrap()
}

fn in_rounds(screen: &InteractionScreen, data: &Dataset, rows: usize) -> Interactions {
    let (ctx, source) = (Context::default(), MemoryBlocks::new(data, rows).unwrap());
    run(screen.rounds(source.layout(), &ctx).unwrap(), &source, &ctx).unwrap()
}

#[test]
fn small_tables_have_the_pairs_of_memory() {
    for regression in [false, true] {
        let data = data(900, regression);
        let screen = InteractionScreen::default();
        let expected = screen.run(&data, &Context::default()).unwrap();
        let found = in_rounds(&screen, &data, 128);
        assert_eq!(found.main_effects, expected.main_effects);
        assert_eq!((found.n_significant, found.pairs.len()), (expected.n_significant, expected.pairs.len()));
        assert_eq!(found.pairs[0].features, (0, 1));
        for (a, b) in found.pairs.iter().zip(&expected.pairs) {
            assert_eq!((a.features, a.degrees), (b.features, b.degrees));
            // Sums in another order, and orthonormal functions from their Gram matrix, which has the squared condition number.
            assert!(
                (a.beyond / b.beyond - 1.0).abs() < 1e-8 && (a.score / b.score - 1.0).abs() < 1e-8,
                "{a:?} {b:?}"
            );
        }
    }
}

#[test]
fn large_tables_have_the_same_leading_pairs() {
    let data = data(20_000, false);
    let screen = InteractionScreen { n_pairs: 3, ..InteractionScreen::default() };
    let expected = screen.run(&data, &Context::default()).unwrap();
    let found = in_rounds(&screen, &data, 4096);
    assert_eq!(found.main_effects, expected.main_effects);
    assert_eq!((found.pairs[0].features, found.n_significant), ((0, 1), expected.n_significant));
    // Ranks among a thousand sampled values.
    assert!((found.pairs[0].beyond / expected.pairs[0].beyond - 1.0).abs() < 0.02);
}

#[test]
fn bits_do_not_depend_on_threads_and_what_is_unsupported_is_refused() {
    let data = data(500, false);
    let screen = InteractionScreen { n_functions: 2, ..InteractionScreen::default() };
    let [one, three] = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| in_rounds(&screen, &data, 64))
    });
    assert_eq!(one, three);
    let source = MemoryBlocks::new(&data, 64).unwrap();
    let permuted = InteractionScreen { permutations: 9, ..screen };
    let error = permuted.rounds(source.layout(), &Context::default()).err().unwrap().to_string();
    assert!(error.contains("'permutations' must be 0 for a table that is read in passes"), "{error}");
}
