//! Tests of selectors on features of several columns.

use super::*;
use crate::context::Context;
use crate::data::{Classes, Dataset, Encoder, Encoding, FeatureType, Groups, Target};
use crate::dependence::{Estimator, Hsic, TargetKernel, Variable, hsic};
use crate::kernel::{Kernel, KernelChoice};
use crate::optim::group_norm;
use crate::random::Rng;
use ndarray::{Array1, Array2, Axis, concatenate};

/// Numbers and categories of these numbers of levels, drawn independently, categories first.
fn noise(n: usize, levels: &[usize], n_numbers: usize, rng: &mut Rng) -> (Array2<f64>, Vec<FeatureType>) {
    let x = Array2::from_shape_fn((n, levels.len() + n_numbers), |(_, j)| match levels.get(j) {
        Some(&levels) => rng.below(levels) as f64,
        None => rng.normal(),
    });
    let mut types: Vec<FeatureType> = levels.iter().map(|&levels| FeatureType::Category { levels }).collect();
    types.resize(x.ncols(), FeatureType::Number);
    (x, types)
}

/// The columns that a selector gets.
fn encoded(x: &Array2<f64>, types: &[FeatureType], target: Target, standardize: bool) -> Dataset {
    let names = (1..=x.ncols()).map(|j| format!("x{j}")).collect();
    let typed = Dataset::typed(names, x.clone(), types.to_vec(), target).unwrap();
    let encoding = Encoding { standardize, ..Encoding::default() };
    Encoder::fit(&typed, encoding).unwrap().encode(&typed).unwrap()
}

fn classes(codes: impl IntoIterator<Item = bool>) -> Target {
    Target::Classes(Classes::from_codes(codes.into_iter().map(usize::from).collect()))
}

fn select(method: &dyn Selector, data: &Dataset, count: FeatureCount) -> Selection {
    let selection = method.select(data, count, &Context::default()).unwrap();
    assert!(selection.is_sound(data.d()) && selection.order.len() == data.d(), "{}", selection.method);
    selection
}

fn sorted(features: &[usize]) -> Vec<usize> {
    let mut features = features.to_vec();
    features.sort_unstable();
    features
}

/// HSIC of the columns of a set of features.
fn hsic_of(data: &Dataset, set: &[usize], estimator: Estimator) -> f64 {
    let kernel = KernelChoice::Fixed(Kernel::Rbf { gamma: 0.5 / set.len() as f64 });
    let x = data.x().take_columns(&data.groups().expand(set));
    let y = Variable::Target(data.target(), TargetKernel::Auto);
    let settings = Hsic { estimator, permutations: 0 };
    hsic(Variable::Rows(&x, &kernel), y, &settings, &Context::default()).unwrap().value
}

/// A small problem with two categories, a number with missing values and three other numbers.
fn mixed(n: usize) -> Dataset {
    let mut rng = Rng::new(3);
    let (mut x, types) = noise(n, &[4, 3], 4, &mut rng);
    let target: Vec<bool> =
        (0..n).map(|i| (x[[i, 0]] > 1.5) == (x[[i, 2]] > 0.3) || x[[i, 4]] > 1.0).collect();
    (0..n / 5).for_each(|_| x[[rng.below(n), 3]] = f64::NAN);
    encoded(&x, &types, classes(target), true)
}

#[test]
fn fohsic_adds_all_columns_of_a_feature() {
    let data = mixed(60);
    assert_eq!(data.groups(), Groups::of_sizes([4, 3, 1, 2, 1, 1]));
    for estimator in [Estimator::Biased, Estimator::Unbiased] {
        let found = select(&Fohsic { estimator, ..Fohsic::default() }, &data, FeatureCount::Count(5));
        let mut chosen: Vec<usize> = vec![];
        for point in &found.path {
            let value = |f: usize| hsic_of(&data, &[&chosen[..], &[f]].concat(), estimator);
            let rest: Vec<usize> = (0..6).filter(|f| !chosen.contains(f)).collect();
            let best = rest
                .into_iter()
                .fold((0, f64::NEG_INFINITY), |best, f| if value(f) > best.1 { (f, value(f)) } else { best });
            // Rounding error of sums over all pairs in a different order.
            assert!((point.objective + best.1).abs() < 1e-13);
            chosen.push(best.0);
            assert_eq!(point.features, chosen);
        }
        assert_eq!(found.selected(), chosen);
    }
}

#[test]
fn bahsic_removes_all_columns_of_a_feature() {
    let data = mixed(60);
    let found = select(&Bahsic::default(), &data, FeatureCount::Count(2));
    let mut remaining: Vec<usize> = (0..6).collect();
    for (round, point) in found.path.iter().enumerate() {
        let value = |set: &[usize]| hsic_of(&data, set, Estimator::Biased);
        // Rounding error of sums over all pairs in a different order.
        assert!((point.objective + value(&remaining)).abs() < 1e-13);
        assert_eq!(sorted(&point.features), remaining);
        if round < 5 {
            let without =
                |f: usize| value(&remaining.iter().copied().filter(|&g| g != f).collect::<Vec<_>>());
            let worst = remaining.iter().copied().max_by(|&f, &g| without(f).total_cmp(&without(g))).unwrap();
            remaining.retain(|&f| f != worst);
        }
    }
    assert_eq!(found.order[0], remaining[0]);
    // The fast form scores a feature by the sum over its columns.
    let fast = Bahsic { form: Elimination::Fast, ..Bahsic::default() };
    assert_eq!(select(&fast, &data, FeatureCount::Auto).order.len(), 6);
}

/// A category of many levels that determines the class, one of 10 levels and four numbers that do not.
fn many_levels(n: usize, levels: usize, standardize: bool) -> Dataset {
    let mut rng = Rng::new(5);
    let (x, types) = noise(n, &[levels, 10], 4, &mut rng);
    let target = classes(x.column(0).iter().map(|level| level % 2.0 == 0.0));
    encoded(&x, &types, target, standardize)
}

#[test]
fn a_category_of_many_levels_is_one_feature() {
    let methods: Vec<Box<dyn Selector>> = vec![
        Box::new(Fohsic::default()),
        Box::new(Bahsic::default()),
        Box::new(Bahsic { form: Elimination::Fast, ..Bahsic::default() }),
        Box::new(HsicLasso::default()),
        Box::new(Ldfs::default()),
        Box::new(Ldfs { form: LdfsForm::Normalized, ..Ldfs::default() }),
        Box::new(Ldfs { form: LdfsForm::Constrained, ..Ldfs::default() }),
    ];
    for method in methods {
        let data = many_levels(200, 50, method.wants_scaling());
        let found = select(&*method, &data, FeatureCount::Count(2));
        assert_eq!(found.order[0], 0, "{}: {:?}", found.method, found.scores);
        assert!(found.path.iter().all(|point| point.features.iter().all(|&j| j < 6)), "{}", found.method);
        assert!(found.coef.is_none_or(|coef| coef.nrows() == 6), "{}", found.method);
    }
    // HSFS is slower.
    let data = many_levels(80, 16, true);
    for diagonal in [false, true] {
        let directions = (!diagonal).then_some(2);
        let method = Hsfs { directions, diagonal: Some(diagonal), ..Hsfs::default() };
        let found = select(&method, &data, FeatureCount::Count(1));
        assert_eq!(found.selected(), [0], "{:?}", found.scores);
        assert!(found.scores[0] > 0.0 && found.scores[1..].iter().all(|&score| score == 0.0));
    }
}

/// The class is the sign of a number for two levels of a category, and the opposite for two others. A fraction `share` of
/// rows has the first two: at one half, neither feature predicts the class alone.
fn interaction(n: usize, share: f64) -> Dataset {
    let mut rng = Rng::new(7);
    let (mut x, types) = noise(n, &[4, 5], 5, &mut rng);
    for i in 0..n {
        x[[i, 0]] = rng.below(2) as f64 + if rng.uniform() < share { 0.0 } else { 2.0 };
    }
    let target = classes((0..n).map(|i| (x[[i, 0]] < 2.0) == (x[[i, 3]] > 0.0)));
    encoded(&x, &types, target, true)
}

#[test]
fn an_interaction_of_a_number_and_a_category_is_found() {
    let data = interaction(250, 0.5);
    for form in [Elimination::Exact, Elimination::Fast] {
        let found = select(&Bahsic { form, ..Bahsic::default() }, &data, FeatureCount::Count(2));
        assert_eq!(sorted(found.selected()), [0, 3], "{form:?}");
    }
    // HSFS is slower.
    let data = interaction(90, 0.5);
    for (form, diagonal) in [
        (HsfsForm::Constrained, false),
        (HsfsForm::Constrained, true),
        (HsfsForm::Penalized, false),
        (HsfsForm::Penalized, true),
    ] {
        let directions = (!diagonal).then_some(3);
        let method = Hsfs { form, directions, diagonal: Some(diagonal), ..Hsfs::default() };
        let found = select(&method, &data, FeatureCount::Count(2));
        assert_eq!(sorted(found.selected()), [0, 3], "{method:?}");
        assert!(found.selected().iter().all(|&j| found.scores[j] > 0.0));
    }
    // Forward selection needs a first feature that predicts the class a little.
    let found = select(&Fohsic::default(), &interaction(250, 0.7), FeatureCount::Auto);
    assert_eq!(sorted(found.selected()), [0, 3]);
}

#[test]
fn hsfs_bounds_the_largest_weight_of_a_feature() {
    let data = interaction(60, 0.5);
    let method = Hsfs { radius: Some(0.8), directions: Some(4), random_starts: 0, ..Hsfs::default() };
    let found = select(&method, &data, FeatureCount::Auto);
    // The row with the largest entry of each feature has its norm.
    let coef = found.coef.as_ref().unwrap();
    assert_eq!(coef.dim(), (7, 4));
    assert!((group_norm(coef, &Groups::single(7)) - 0.8).abs() < 1e-9);
    let zero = |j: usize| coef.row(j).iter().all(|w| *w == 0.0);
    assert!((0..7).all(|j| zero(j) == (found.scores[j] == 0.0)));
    assert!(found.path.last().unwrap().optimality <= method.tol);
}

/// First-order conditions of the least-squares form over features, at one penalty.
#[test]
fn ldfs_is_optimal_over_features() {
    let data = mixed(80);
    let unscaled = {
        let x = data.x().to_dense() * &Array1::from_shape_fn(data.x().d(), |j| if j > 6 { 3.0 } else { 1.0 });
        data.with_x(x).unwrap()
    };
    for lambda in [0.4, 0.1] {
        let method = Ldfs { penalty: Some(lambda), ..Ldfs::default() };
        let (a, b) =
            (select(&method, &data, FeatureCount::Auto), select(&method, &unscaled, FeatureCount::Auto));
        // Equal up to the tolerance: the scale of a number does not matter.
        let near = a.scores.iter().zip(&b.scores).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(near, "{:?} {:?}", a.scores, b.scores);
        let last = a.path.last().unwrap();
        assert!(last.optimality <= method.tol && last.features.len() == a.n_selected);
    }
}

/// A category determines a coarser one, so it is the first to reconstruct both.
#[test]
fn pfs_selects_the_finer_category() {
    let mut rng = Rng::new(2);
    let (fine, _) = noise(150, &[6], 1, &mut rng);
    let coarse = fine.column(0).mapv(|level| (level / 3.0).floor()).insert_axis(Axis(1));
    let x = concatenate![Axis(1), coarse, fine];
    let category = |levels| FeatureType::Category { levels };
    let data = encoded(&x, &[category(2), category(6), FeatureType::Number], Target::None, false);
    let found = select(&Pfs::default(), &data, FeatureCount::Count(1));
    assert_eq!(found.selected(), [1], "{:?}", found.scores);
    // Targets are a column for two levels, six indicators and a number; a row of weights per feature is reported.
    assert_eq!(found.coef.unwrap().dim(), (3, 8));
}

/// A category with a level per sample would have as many weights as samples squared: components are reconstructed instead.
#[test]
fn pfs_reconstructs_components_of_wide_categories() {
    let mut rng = Rng::new(4);
    let (mut x, _) = noise(60, &[], 4, &mut rng);
    (0..60).for_each(|i| x[[i, 0]] = i as f64);
    let copy = &x.column(1) + 0.1;
    x.column_mut(2).assign(&copy);
    let mut types = vec![FeatureType::Category { levels: 60 }];
    types.resize(4, FeatureType::Number);
    let data = encoded(&x, &types, Target::None, false);
    let found = select(&Pfs::default(), &data, FeatureCount::Count(1));
    assert_eq!(found.coef.unwrap().dim(), (4, 20));
    // One of the copies reconstructs most.
    assert!([1, 2].contains(&found.order[0]), "{:?}", found.scores);
}

/// Levels of very different frequencies, whose columns have very different curvatures.
#[test]
fn paths_with_rare_levels_converge() {
    let mut rng = Rng::new(6);
    let (mut x, types) = noise(300, &[10, 3], 3, &mut rng);
    x.column_mut(0).mapv_inplace(|_| (-rng.uniform().max(1e-4).log2()).floor().min(9.0));
    let target = classes((0..300).map(|i| x[[i, 0]] + 2.0 * x[[i, 2]] > rng.normal()));
    let data = encoded(&x, &types, target, false);
    for method in [&Ldfs::default() as &dyn Selector, &Pfs::default()] {
        let found = select(method, &data, FeatureCount::Auto);
        assert!(found.path.iter().all(|point| point.stop.converged()), "{}", found.method);
        let most = found.path.iter().map(|point| point.iterations).max();
        assert!(most.is_some_and(|most| most < 2000), "{}: {most:?} sweeps", found.method);
    }
}
