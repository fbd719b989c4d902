//! Dependence-based and sparse selectors on degenerate and extreme data.

use crate::all_methods::sparse;
use kernsift::data::{Classes, Dataset, Target};
use kernsift::internals::Rng;
use kernsift::select::{
    Approximation, Bahsic, Elimination, FeatureCount, Fohsic, Hsfs, HsfsForm, HsicLasso, Ldfs, LdfsForm, Nca,
    NcaSearch, Pfs, Selector, SelectorMethod,
};
use kernsift::{Context, dependence::Estimator};
use ndarray::Array2;
use rayon::prelude::*;

fn methods() -> Vec<SelectorMethod> {
    // The quality of the solution does not matter here.
    let hsfs = || Hsfs { max_iter: 20, ..Hsfs::default() };
    let mut all = vec![
        SelectorMethod::Fohsic(Fohsic::default()),
        SelectorMethod::Fohsic(Fohsic { estimator: Estimator::Unbiased, ..Fohsic::default() }),
        SelectorMethod::Bahsic(Bahsic::default()),
        SelectorMethod::Bahsic(Bahsic { form: Elimination::Fast, step: 0.9, ..Bahsic::default() }),
        SelectorMethod::HsicLasso(HsicLasso::default()),
        SelectorMethod::HsicLasso(HsicLasso { block_size: Some(2), ..HsicLasso::default() }),
        SelectorMethod::Nca(Nca::default()),
        SelectorMethod::Nca(Nca { search: NcaSearch::Gradient, ..Nca::default() }),
        SelectorMethod::Pfs(Pfs::default()),
        SelectorMethod::Pfs(Pfs { n_components: Some(2), ..Pfs::default() }),
    ];
    for form in [LdfsForm::LeastSquares, LdfsForm::Normalized, LdfsForm::Constrained] {
        all.push(SelectorMethod::Ldfs(Ldfs { form, n_penalties: 8, max_iter: 200, ..Ldfs::default() }));
    }
    for form in [HsfsForm::Constrained, HsfsForm::Penalized] {
        all.push(SelectorMethod::Hsfs(Hsfs { form, ..hsfs() }));
        all.push(SelectorMethod::Hsfs(Hsfs { form, diagonal: Some(true), ..hsfs() }));
        all.push(SelectorMethod::Hsfs(Hsfs { form, directions: Some(1), ..hsfs() }));
    }
    for approximation in [Approximation::Fourier, Approximation::Nystrom] {
        all.push(SelectorMethod::Hsfs(Hsfs { approximation, features: 6, ..hsfs() }));
    }
    all
}

/// Few rows and features, with copies, constants, ties and extreme values.
fn tables() -> Vec<Array2<f64>> {
    let mut rng = Rng::new(1);
    let mut all = vec![];
    for n in [2, 4, 7] {
        for d in [1, 3] {
            let plain = Array2::from_shape_simple_fn((n, d), || rng.normal());
            all.push(Array2::from_shape_simple_fn((n, d), || rng.below(2) as f64));
            let mut constant = plain.clone();
            constant.column_mut(0).fill(0.1);
            all.push(constant);
            let mut copies = plain.clone();
            let last = plain.column(d - 1).to_owned();
            copies.columns_mut().into_iter().for_each(|mut column| column.assign(&last));
            all.push(copies);
            all.extend([1e-250, 1e-9, 1e9, 1e250].map(|by| &plain * by));
            let mut outlier = plain.clone();
            outlier[[0, 0]] = 1e30;
            all.push(outlier);
            all.push(plain);
        }
    }
    all.push(Array2::ones((6, 3)));
    all
}

/// Whether there is a selection, and its faults.
fn faults(method: &SelectorMethod, data: &Dataset, wanted: FeatureCount) -> (bool, Vec<&'static str>) {
    let d = data.d();
    let Ok(selection) = method.select(data, wanted, &Context::default()) else { return (false, vec![]) };
    let x = data.x().to_dense();
    let varies = |j: &usize| x.column(*j).iter().any(|v| *v != x[[0, *j]]);
    let mut order = selection.order.clone();
    order.sort_unstable();
    let n_selected = match wanted {
        FeatureCount::Count(k) => k..=k,
        _ => 0..=d,
    };
    let finite = |w: &f64| w.is_finite();
    let facts = [
        (order == (0..d).collect::<Vec<_>>(), "the order is not a permutation"),
        (selection.scores.iter().all(|s| finite(s) && *s >= 0.0), "a score is negative or not finite"),
        (n_selected.contains(&selection.n_selected), "a wrong number of features"),
        (
            selection.order.iter().map(varies).is_sorted_by(|before, after| before >= after),
            "a constant feature before another",
        ),
        (selection.coef.iter().flatten().all(finite), "a weight is not finite"),
        (selection.path.iter().all(|p| finite(&p.objective)), "an objective is not finite"),
    ];
    (true, facts.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault).collect())
}

#[test]
fn every_case_gives_a_selection_or_an_error() {
    let tables = tables();
    let parts: Vec<_> = tables.par_iter().enumerate().map(|(at, x)| try_all(at, x)).collect();
    let (n_selections, n_errors) = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    assert!(n_selections > 500 && n_errors > 100, "{n_selections} {n_errors}");
    let faults: Vec<&String> = parts.iter().flat_map(|part| &part.2).collect();
    assert!(faults.is_empty(), "{} faults, such as {:#?}", faults.len(), &faults[..faults.len().min(20)]);
}

/// The numbers of selections and errors, and the faults.
fn try_all(table: usize, x: &Array2<f64>) -> (usize, usize, Vec<String>) {
    let n = x.nrows();
    let targets = [
        Target::Classes(Classes::from_codes((0..n).map(|i| i % 2).collect())),
        Target::Classes(Classes::from_codes((0..n).map(|i| usize::from(i == 0)).collect())),
        Target::Classes(Classes::from_codes((0..n).collect())),
        Target::Classes(Classes::from_codes(vec![0; n])),
        Target::Continuous((0..n).map(|i| (i * i % 5) as f64).collect()),
        Target::Continuous(vec![3.0; n]),
    ];
    let (mut n_selections, mut n_errors, mut wrong) = (0, 0, vec![]);
    // Two targets per table; sparse rows for every second one.
    for at in [table % 6, (table + 3) % 6] {
        let target = targets[at].clone();
        let data = match at % 2 {
            0 => Dataset::with_target(x.clone(), target),
            _ => Dataset::with_target(sparse(x), target),
        }
        .unwrap();
        for method in methods() {
            for wanted in [FeatureCount::Auto, FeatureCount::Count(1), FeatureCount::Count(x.ncols())] {
                let found = std::panic::catch_unwind(|| faults(&method, &data, wanted));
                let (selected, faults) = found.unwrap_or((true, vec!["a panic"]));
                *(if selected { &mut n_selections } else { &mut n_errors }) += 1;
                let what = |fault| format!("{fault}: {method:?}, {wanted:?}, {x}, {:?}", data.target());
                wrong.extend(faults.into_iter().map(what));
            }
        }
    }
    (n_selections, n_errors, wrong)
}
