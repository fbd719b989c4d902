use super::*;
use crate::random::Rng;
use ndarray::{Array2, ShapeBuilder, array};

fn solve(program: &HingeProgram) -> HingeSolution {
    program.solve(1e-9, 100, &Context::default()).unwrap()
}

/// One statement, one weight: alpha + e >= 1 costs (c + rho) alpha + e, so alpha is 1 where c + rho < 1, else 0.
#[test]
fn one_weight_by_hand() {
    let d = array![[1.0]];
    for (cost, penalty, weight, objective) in [(0.25, 0.5, 1.0, 0.75), (0.75, 0.5, 0.0, 1.0)] {
        let costs = [cost];
        for held in [Held::Within(0), Held::Above(0)] {
            let held = [held];
            let anchor = array![[1.0]];
            let program = HingeProgram::new(&d, &costs, &held, penalty).with_cuts(&anchor, Some(0));
            let solution = solve(&program);
            // The tolerance of the solver, against a slope of 1/4.
            assert!((solution.weights[0] - weight).abs() < 1e-7, "{solution:?}");
            assert!((solution.objective - objective).abs() < 1e-8);
            assert!(solution.bound <= objective && solution.bound > objective - 2e-8);
            assert_eq!(solution.ending, Ending::Optimal);
        }
    }
}

/// Two columns say the same of one statement: in one group both share it, with sizes 1/2 and one penalty.
#[test]
fn a_group_pays_once() {
    let d = array![[1.0, 1.0]];
    let costs = [0.0, 0.0];
    let together = [Held::Within(0), Held::Within(0)];
    let solution = solve(&HingeProgram::new(&d, &costs, &together, 0.1));
    assert!((solution.objective - 0.05).abs() < 1e-9, "{}", solution.objective);
    assert!(solution.weights.iter().all(|w| (w - 0.5).abs() < 1e-6));
    let apart = [Held::Within(0), Held::Within(1)];
    assert!((solve(&HingeProgram::new(&d, &costs, &apart, 0.1)).objective - 0.1).abs() < 1e-9);
}

/// alpha_1 must stay below alpha_2, which pays: the cut makes both 1.
#[test]
fn a_cut_is_kept() {
    let d = array![[1.0, 0.0]];
    let costs = [0.0, 0.25];
    let held = [Held::Within(0), Held::Alone];
    let cuts = array![[-3.0, 3.0]];
    let program = HingeProgram::new(&d, &costs, &held, 0.25).with_cuts(&cuts, None);
    let solution = solve(&program);
    assert!((solution.objective - 0.5).abs() < 1e-8, "{solution:?}");
    assert!(solution.weights[1] - solution.weights[0] > -1e-9);
    // The statement's price is 1, the cut's is what column 2 costs.
    assert!((solution.cuts[0] * 3.0 - 0.25).abs() < 1e-6);
}

fn random(seed: u64, free: bool) -> (Array2<f64>, Vec<f64>, Vec<Held>, Array2<f64>) {
    let mut rng = Rng::new(seed);
    let (t, k, m) = (60, 12, 8);
    let truth: Vec<f64> = (0..k).map(|_| rng.normal()).collect();
    let mut d = Array2::from_shape_simple_fn((t, k).f(), || rng.normal());
    for mut row in d.rows_mut() {
        let side: f64 = row.iter().zip(&truth).map(|(a, b)| a * b).sum::<f64>() + rng.normal();
        row *= side.signum();
    }
    let costs: Vec<f64> = (0..k).map(|_| 0.02 * rng.uniform()).collect();
    let held = (0..k).map(|p| if free { Held::Within(p / 3) } else { Held::Above(p / 3) }).collect();
    let mut cuts = Array2::from_shape_simple_fn((m + 1, k), || rng.normal());
    for (p, cost) in costs.iter().enumerate() {
        cuts[[0, p]] = 5.0 * cost;
    }
    (d, costs, held, cuts)
}

/// Weak duality at every tolerance, and a bound that no feasible weights beat.
#[test]
fn bounds_hold_and_meet() {
    let mut rng = Rng::new(9);
    for seed in 0..20 {
        let free = seed % 2 == 0;
        let (d, costs, held, cuts) = random(seed, free);
        let program = HingeProgram::new(&d, &costs, &held, 0.01).with_cuts(&cuts, Some(0));
        let tight = solve(&program);
        assert_eq!(tight.ending, Ending::Optimal, "seed {seed}");
        let loose = program.solve(1e-2, 100, &Context::default()).unwrap();
        assert!(loose.bound <= tight.objective * (1.0 + 1e-9), "seed {seed}");
        assert!(loose.objective >= tight.bound && loose.iterations <= tight.iterations);
        for _ in 0..200 {
            let weights: Vec<f64> = tight
                .weights
                .iter()
                .map(|w| w + 0.1 * rng.normal())
                .map(|w| if free { w } else { w.max(0.0) })
                .collect();
            let kept = cuts
                .rows()
                .into_iter()
                .all(|cut| cut.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>() >= 0.0);
            if kept {
                assert!(program.objective(&weights) >= tight.bound, "seed {seed}");
            }
        }
    }
}

/// Scaling a cut changes nothing.
#[test]
fn units_do_not_matter() {
    let (d, costs, held, cuts) = random(3, true);
    let scaled = &cuts * 1e4;
    let one = solve(&HingeProgram::new(&d, &costs, &held, 0.01).with_cuts(&cuts, Some(0)));
    let other = solve(&HingeProgram::new(&d, &costs, &held, 0.01).with_cuts(&scaled, Some(0)));
    // Twice the solver's tolerance.
    assert!((one.objective - other.objective).abs() < 2e-9 * one.objective);
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let (d, costs, held, cuts) = random(5, true);
    let program = HingeProgram::new(&d, &costs, &held, 0.01).with_cuts(&cuts, Some(0));
    let with = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(|| solve(&program).weights)
    };
    assert_eq!(with(1), with(3));
}

/// Cuts that contradict every statement leave zero; that is an answer, not a failure.
#[test]
fn a_cone_of_nothing_gives_zero() {
    let d = array![[1.0, 0.5]].reversed_axes();
    let costs = [0.1];
    let held = [Held::Within(0)];
    let cuts = array![[1.0], [-1.0]];
    let solution = solve(&HingeProgram::new(&d, &costs, &held, 0.1).with_cuts(&cuts, Some(0)));
    assert!(solution.weights[0].abs() < 1e-6, "{solution:?}");
    assert!((solution.objective - 1.0).abs() < 1e-6);
}
