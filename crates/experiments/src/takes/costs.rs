//! Table 2: reconstruction cost of a basis with the published number of components.

use crate::checkpoint::{Checkpoint, Numbers};
use crate::datasets::{AUSTRALIAN, DatasetSpec, not_run, random_split, standardized};
use crate::paper::Settings;
use crate::statistics::{format_mean_sd, mean};
use crate::study::{Section, Table, Verdict};
use kernsift::basis::{Basis, Discriminant, Kgs, Kobl, Kpca, Pivoting, Threshold, gamma_for_n_components};
use kernsift::internals::{cholesky, lower_solve};
use kernsift::kernel::{Kernel, KernelChoice, gram};
use kernsift::{Context, Dataset, Error, Result};
use ndarray::Array2;

/// A row of the published table.
struct Published {
    dataset: DatasetSpec,
    rows: usize,
    n_components: usize,
    cost: f64,
}

/// The published results of KOBL. Pima is called Diabetes in the paper.
const PUBLISHED: [Published; 4] = [
    Published { dataset: AUSTRALIAN, rows: 345, n_components: 36, cost: 0.044 },
    Published { dataset: DatasetSpec::built_in("pima"), rows: 468, n_components: 58, cost: 0.062 },
    Published { dataset: DatasetSpec::built_in("ionosphere"), rows: 281, n_components: 69, cost: 0.111 },
    Published { dataset: DatasetSpec::built_in("thyroid"), rows: 140, n_components: 20, cost: 0.043 },
];

/// The bases by name.
const BASES: [&str; 6] = ["KOBL", "random pivots", "KGS", "KPCA", "KGS, all rows", "KDA"];

/// Cost of uncentered rows in the span of all centered components.
const CENTERED: &str = "KPCA, centered";

/// Reconstruction costs on one split, and the bound of Theorem 1.
fn costs(data: &Dataset, published: &Published, seed: u64, ctx: &Context) -> Result<Numbers> {
    let ctx = &Context { seed, ..*ctx };
    let (train, _) = standardized(data, &random_split(data.n(), published.rows, seed))?;
    let found = gamma_for_n_components(&Kobl::default(), train.x(), published.n_components, ctx)?;
    let kernel: KernelChoice = Kernel::Rbf { gamma: found.gamma }.into();
    let n_components = Some(published.n_components);
    let kobl = Kobl { kernel: kernel.clone(), ..Kobl::default() };
    let bases: [&dyn Basis; 6] = [
        &kobl,
        &Kobl { pivoting: Pivoting::Random, threshold: Threshold::None, n_components, ..kobl.clone() },
        &Kgs { kernel: kernel.clone(), n_components, exact: true },
        &Kpca { kernel: kernel.clone(), n_components, center: false, exact: true },
        &Kgs { kernel: kernel.clone(), n_components: None, exact: true },
        &Discriminant { kernel: kernel.clone(), ..Discriminant::default() },
    ];
    let mut numbers = Numbers::new();
    numbers.insert(CENTERED.to_owned(), centered_residual(&Kernel::Rbf { gamma: found.gamma }, &train)?);
    for (name, basis) in BASES.into_iter().zip(bases) {
        let summary = basis.fit(&train, ctx)?.map.summary().clone();
        numbers.insert(name.to_owned(), summary.reconstruction_cost);
        if let Some(bound) = summary.bound.filter(|_| name == "KOBL") {
            numbers.insert("bound".to_owned(), bound);
            if summary.residual_norms.len() != published.n_components {
                let why = format!(
                    "{}: no gamma gives {} components",
                    published.dataset.name, published.n_components
                );
                return Err(Error::Breakdown { step: "Table 2", why });
            }
        }
    }
    Ok(numbers)
}

/// Residual norm of uncentered rows after projection on all centered components. These span the differences of rows, so the residual is the
/// distance of the origin from the affine hull of the rows, $1 / \sqrt{1^\top K^{-1} 1}$.
fn centered_residual(kernel: &Kernel, train: &Dataset) -> Result<f64> {
    let mut k = gram(kernel, train.x(), train.x())?;
    // Regularizes duplicate rows; changes the third digit at most.
    k.diag_mut().mapv_inplace(|v| v + 1e-8);
    let indefinite =
        || Error::Breakdown { step: "Table 2", why: "a Gram matrix is not positive definite".into() };
    let l = cholesky(k.view()).ok_or_else(indefinite)?;
    let mut ones = Array2::ones((train.n(), 1));
    lower_solve(l.view(), &mut ones.view_mut());
    Ok(ones.iter().map(|v| v * v).sum::<f64>().sqrt().recip())
}

/// The rows of the table with the costs of all splits; without those whose data set is missing.
type Measured = Vec<(&'static Published, Vec<Numbers>)>;

fn measure(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<Measured> {
    let seeds = settings.seeds(ctx);
    let mut all = vec![];
    for published in &PUBLISHED {
        let name = published.dataset.name;
        let names: Vec<String> =
            seeds.iter().map(|seed| format!("reconstruction, {name}, split {seed}")).collect();
        let data = if checkpoint.knows(&names) { None } else { published.dataset.load(settings, ctx)? };
        if let Some(data) = data {
            checkpoint.measure(&format!("Table 2, {name}"), &names, ctx, |i, ctx| {
                costs(&data, published, seeds[i], ctx)
            })?;
        }
        if checkpoint.knows(&names) {
            all.push((published, checkpoint.numbers(&names)));
        }
    }
    Ok(all)
}

/// Adds a note that names the data sets without results.
fn with_missing(section: Section, all: &Measured) -> Section {
    let is_missing = |name: &&str| !all.iter().any(|(published, _)| published.dataset.name == *name);
    let missing: Vec<&str> =
        PUBLISHED.iter().map(|published| published.dataset.name).filter(is_missing).collect();
    if missing.is_empty() { section } else { section.note(not_run(&missing)) }
}

fn values(splits: &[Numbers], name: &str) -> Vec<f64> {
    splits.iter().map(|numbers| numbers[name]).collect()
}

/// Tolerance around the published cost.
fn tolerance(published: &Published) -> f64 {
    f64::max(0.02, 0.35 * published.cost)
}

fn protocol(settings: &Settings) -> String {
    format!(
        "Random training rows (published number), features standardized, f(t) = t, RBF kernel with gamma set so that KOBL finds the \
         published number of components; {}.",
        settings.splits_text()
    )
}

/// Table 2, in two sections.
pub fn run(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<[Section; 2]> {
    let all = measure(checkpoint, settings, ctx)?;
    Ok([costs_of_kobl(&all, settings), costs_of_all(&all, settings)]
        .map(|section| with_missing(section, &all)))
}

/// The costs of KOBL.
fn costs_of_kobl(all: &Measured, settings: &Settings) -> Section {
    let mut table = Table::new(
        "Reconstruction cost",
        ["data set", "d / N", "published", "ours", "bound of Theorem 1", "tolerance", "met"],
    );
    let (mut near, mut bounded) = (0, true);
    for (published, splits) in all {
        let ours = values(splits, "KOBL");
        let is_near = (mean(&ours) - published.cost).abs() <= tolerance(published);
        near += usize::from(is_near);
        bounded &= splits.iter().all(|numbers| numbers["KOBL"] <= numbers["bound"]);
        table.push([
            published.dataset.name.to_owned(),
            format!("{} / {}", published.n_components, published.rows),
            format!("{:.3}", published.cost),
            format_mean_sd(&ours, 3),
            format_mean_sd(&values(splits, "bound"), 3),
            format!("± {:.3}", tolerance(published)),
            if is_near { "yes" } else { "no" }.to_owned(),
        ]);
    }
    Section::new(
        "P0-T2a",
        "Table 2, reconstruction cost of KOBL",
        "KOBL's costs are 0.044, 0.062, 0.111 and 0.043 with 36 of 345, 58 of 468, 69 of 281 and 20 of 140 directions.",
        &protocol(settings),
        "Within max(0.02, 35 %) of the published cost on all four data sets; the bound of Theorem 1 always holds.",
    )
    .result(
        Verdict::of(near == PUBLISHED.len() && bounded),
        format!(
            "Within the tolerance on {near} of {}; the bound {}.",
            PUBLISHED.len(),
            if bounded { "holds on every split" } else { "is violated" }
        ),
    )
    .table(table)
    .note("The paper gives neither gammas nor splits, so exact agreement would be coincidence.")
}

/// The costs of all bases.
fn costs_of_all(all: &Measured, settings: &Settings) -> Section {
    let mut table = Table::new(
        "Reconstruction cost: first at KOBL's number of components, then what the paper seems to have compared",
        ["data set"].into_iter().chain(BASES).chain([CENTERED]),
    );
    for (published, splits) in all {
        let cells = BASES.iter().chain([&CENTERED]).map(|name| match mean(&values(splits, name)) {
            0.0 => "0".to_owned(),
            small if small < 5e-4 => format!("{small:.0e}"),
            _ => format_mean_sd(&values(splits, name), 3),
        });
        table.push([published.dataset.name.to_owned()].into_iter().chain(cells));
    }
    let below =
        |name: &str| all.iter().filter(|(_, s)| mean(&values(s, "KOBL")) < mean(&values(s, name))).count();
    let largest =
        all.iter().flat_map(|(_, splits)| splits).map(|numbers| numbers["KGS, all rows"]).fold(0.0, f64::max);
    Section::new(
        "P0-T2b",
        "Table 2, KOBL against KGS, KPCA and KDA",
        "KOBL's cost is below that of KGS (0.06 to 0.10), KPCA (0.38 to 0.41) and KDA.",
        &protocol(settings),
        "None; also shown at equal numbers of components.",
    )
    .result(
        Verdict::Shown,
        format!(
            "At equal numbers of components, KOBL is below KGS on {} of {} data sets and below KPCA on {}; the cost of KGS over all rows is at \
             most {largest:.0e}; KOBL is below centered KPCA of uncentered rows on {}.",
            below("KGS"),
            all.len(),
            below("KPCA"),
            below(CENTERED)
        ),
    )
    .table(table)
    .note(
        "The published ranking reflects arithmetic, not methods. KGS over all rows spans the rows, so its cost in double precision is zero; the \
         published 0.06 to 0.10 matches the loss of orthogonality in single precision. Centered components cannot reconstruct uncentered rows, \
         regardless of their number; the residual is the last column and explains the published 0.4 of KPCA. KDA has one direction for two \
         classes. At equal numbers of components, uncentered KPCA minimizes the squared cost, so no method can be below it; the advantage of \
         KOBL is that it determines the number of components, in O(N d²).",
    )
}
