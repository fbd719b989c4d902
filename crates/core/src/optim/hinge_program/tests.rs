use super::*;
use crate::context::Context;
use crate::random::Rng;
use ndarray::{Array2, ShapeBuilder, array};

fn solve(program: &HingeProgram) -> HingeSolution {
    program.solve(1e-9, 100, &Context::default()).unwrap()
}

/// One margin, one weight: minimize (c + rho) alpha + e with alpha + e >= 1, so alpha is 1 if c + rho < 1, else 0.
#[test]
fn one_weight_with_a_known_optimum() {
    let d = array![[1.0]];
    for (cost, penalty, weight, objective) in [(0.25, 0.5, 1.0, 0.75), (0.75, 0.5, 0.0, 1.0)] {
        let costs = [cost];
        for bound in [WeightBound::Symmetric(0), WeightBound::NonNegative(0)] {
            let bounds = [bound];
            let cost_cut = array![[1.0]];
            let program = HingeProgram::new(&d, &costs, &bounds, penalty).with_cuts(&cost_cut, Some(0));
            let solution = solve(&program);
            // The tolerance of the solver, divided by the slope 1/4 of the objective.
            assert!((solution.weights[0] - weight).abs() < 1e-7, "{solution:?}");
            assert!((solution.objective - objective).abs() < 1e-8);
            assert!(solution.bound <= objective && solution.bound > objective - 2e-8);
            assert_eq!(solution.ending, Ending::Optimal);
        }
    }
}

/// Two equal columns: in one group both have weight 1/2, and the group pays one penalty of 1/2.
#[test]
fn a_group_is_penalized_once() {
    let d = array![[1.0, 1.0]];
    let costs = [0.0, 0.0];
    let together = [WeightBound::Symmetric(0), WeightBound::Symmetric(0)];
    let solution = solve(&HingeProgram::new(&d, &costs, &together, 0.1));
    assert!((solution.objective - 0.05).abs() < 1e-9, "{}", solution.objective);
    assert!(solution.weights.iter().all(|w| (w - 0.5).abs() < 1e-6));
    let apart = [WeightBound::Symmetric(0), WeightBound::Symmetric(1)];
    assert!((solve(&HingeProgram::new(&d, &costs, &apart, 0.1)).objective - 0.1).abs() < 1e-9);
}

/// The cut alpha_1 <= alpha_2, where only alpha_2 has a cost, makes both 1.
#[test]
fn a_cut_is_satisfied() {
    let d = array![[1.0, 0.0]];
    let costs = [0.0, 0.25];
    let bounds = [WeightBound::Symmetric(0), WeightBound::Ungrouped];
    let cuts = array![[-3.0, 3.0]];
    let program = HingeProgram::new(&d, &costs, &bounds, 0.25).with_cuts(&cuts, None);
    let solution = solve(&program);
    assert!((solution.objective - 0.5).abs() < 1e-8, "{solution:?}");
    assert!(solution.weights[1] - solution.weights[0] > -1e-9);
    // The dual value of the margin is 1, that of the cut is the cost of column 2.
    assert!((solution.cut_duals[0] * 3.0 - 0.25).abs() < 1e-6);
}

fn random(seed: u64, free: bool) -> (Array2<f64>, Vec<f64>, Vec<WeightBound>, Array2<f64>) {
    let mut rng = Rng::new(seed);
    let (t, k, m) = (60, 12, 8);
    let truth: Vec<f64> = (0..k).map(|_| rng.normal()).collect();
    let mut d = Array2::from_shape_simple_fn((t, k).f(), || rng.normal());
    for mut row in d.rows_mut() {
        let side: f64 = row.iter().zip(&truth).map(|(a, b)| a * b).sum::<f64>() + rng.normal();
        row *= side.signum();
    }
    let costs: Vec<f64> = (0..k).map(|_| 0.02 * rng.uniform()).collect();
    let bounds = (0..k)
        .map(|p| if free { WeightBound::Symmetric(p / 3) } else { WeightBound::NonNegative(p / 3) })
        .collect();
    let mut cuts = Array2::from_shape_simple_fn((m + 1, k), || rng.normal());
    for (p, cost) in costs.iter().enumerate() {
        cuts[[0, p]] = 5.0 * cost;
    }
    (d, costs, bounds, cuts)
}

/// Weak duality at every tolerance: no feasible weights have an objective below the bound.
#[test]
fn the_bound_is_below_every_feasible_objective() {
    let mut rng = Rng::new(9);
    for seed in 0..20 {
        let free = seed % 2 == 0;
        let (d, costs, bounds, cuts) = random(seed, free);
        let program = HingeProgram::new(&d, &costs, &bounds, 0.01).with_cuts(&cuts, Some(0));
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
            let feasible = cuts
                .rows()
                .into_iter()
                .all(|cut| cut.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>() >= 0.0);
            if feasible {
                assert!(program.objective(&weights) >= tight.bound, "seed {seed}");
            }
        }
    }
}

/// The scale of the cuts does not change the optimum.
#[test]
fn the_scale_of_cuts_does_not_matter() {
    let (d, costs, bounds, cuts) = random(3, true);
    let scaled = &cuts * 1e4;
    let one = solve(&HingeProgram::new(&d, &costs, &bounds, 0.01).with_cuts(&cuts, Some(0)));
    let other = solve(&HingeProgram::new(&d, &costs, &bounds, 0.01).with_cuts(&scaled, Some(0)));
    // Twice the solver's tolerance.
    assert!((one.objective - other.objective).abs() < 2e-9 * one.objective);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let (d, costs, bounds, cuts) = random(5, true);
    let program = HingeProgram::new(&d, &costs, &bounds, 0.01).with_cuts(&cuts, Some(0));
    let with = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(|| solve(&program).weights)
    };
    assert_eq!(with(1), with(3));
}

/// Cuts that allow only zero weights are a valid program.
#[test]
fn cuts_that_allow_only_zero() {
    let d = array![[1.0, 0.5]].reversed_axes();
    let costs = [0.1];
    let bounds = [WeightBound::Symmetric(0)];
    let cuts = array![[1.0], [-1.0]];
    let solution = solve(&HingeProgram::new(&d, &costs, &bounds, 0.1).with_cuts(&cuts, Some(0)));
    assert!(solution.weights[0].abs() < 1e-6, "{solution:?}");
    assert!((solution.objective - 1.0).abs() < 1e-6);
}

/// A small program of kernel design: Gaussian kernels on each of 3 features of 12 samples and white noise, margins of 30 random
/// triplets, and two rounds of cuts for diagonal dominance. The second round has the signs of the first solution's mixture.
fn solve_kernel_design(seed: u64) -> HingeSolution {
    let (n, d, t, gammas) = (12, 3, 30, [1.0, 0.1, 0.01]);
    let k = gammas.len() * d;
    let mut rng = Rng::new(seed);
    // Samples alternate between two classes, which differ in two features.
    let x =
        Array2::from_shape_fn((n, d), |(i, f)| rng.normal() + if i % 2 == 0 && f < 2 { 1.0 } else { 0.0 });
    let kernel =
        |p: usize, i: usize, j: usize| (-gammas[p % 3] * (x[[i, p / 3]] - x[[j, p / 3]]).powi(2)).exp();
    let mut below = |limit: usize| (rng.uniform() * limit as f64) as usize;
    let mut margins = Array2::zeros((t, k + 1).f());
    for mut row in margins.rows_mut() {
        let i = below(n);
        let near = (i + 2 * (1 + below(n / 2 - 1))) % n;
        let far = (i + 1 + 2 * below(n / 2)) % n;
        (0..k).for_each(|p| row[p] = kernel(p, i, near) - kernel(p, i, far));
    }
    let cut = |i: usize, sign: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let others = |p: usize| (0..n).filter(|&j| j != i).map(|j| sign(j) * kernel(p, i, j)).sum::<f64>();
        (0..k).map(|p| 1.0 - others(p)).chain([1.0]).collect()
    };
    let costs = vec![1e-4; k + 1];
    let bounds: Vec<WeightBound> =
        (0..k).map(|p| WeightBound::Symmetric(p / 3)).chain([WeightBound::Ungrouped]).collect();
    let solve = |rows: &[Vec<f64>]| {
        let cuts = Array2::from_shape_fn((rows.len(), k + 1).f(), |(row, p)| rows[row][p]);
        let program = HingeProgram::new(&margins, &costs, &bounds, 1e-4).with_cuts(&cuts, Some(0));
        program.solve(1e-8, 200, &Context::default()).unwrap()
    };
    let mut rows = vec![vec![1.0; k + 1]];
    rows.extend((0..n).map(|i| cut(i, &|_| 1.0)));
    let weights = solve(&rows).weights;
    for i in 0..n {
        let mixture = |j: usize| (0..k).map(|p| weights[p] * kernel(p, i, j)).sum::<f64>();
        rows.push(cut(i, &|j| mixture(j).signum()));
    }
    solve(&rows)
}

/// On these programs the dual residual of the Newton steps stops decreasing at a gap of 1.5e-8 to 8e-8; only the projection of
/// the dual values reaches the tolerance.
#[test]
fn stalled_dual_values_reach_the_tolerance() {
    for seed in [51, 232, 397, 661, 753] {
        let solution = solve_kernel_design(seed);
        assert_eq!(solution.ending, Ending::Optimal, "seed {seed}");
        let gap = solution.objective - solution.bound;
        assert!(gap <= 1e-8 * solution.objective, "seed {seed}: {gap:.1e}");
        assert!(solution.margin_duals.iter().all(|dual| (0.0..=1.0 / 30.0).contains(dual)), "seed {seed}");
        assert!(solution.cut_duals.iter().all(|dual| *dual >= 0.0), "seed {seed}");
    }
}
