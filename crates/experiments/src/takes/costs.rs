//! Table 2: what a basis of the printed dimension leaves over.

use crate::ledger::{Ledger, Numbers};
use crate::paper::Settings;
use crate::sets::{built_in, fold_of, scaled};
use crate::statistics::{mean, spread};
use crate::study::{Section, Table, Verdict};
use kernsift::basis::{Basis, Discriminant, Kgs, Kobl, Kpca, Pivoting, Threshold, gamma_for_n_components};
use kernsift::kernel::{Kernel, KernelChoice, gram};
use kernsift::linalg::{cholesky, lower_solve};
use kernsift::{Context, Dataset, Error, Result};
use ndarray::Array2;

/// A line of the table as printed.
struct Printed {
    name: &'static str,
    rows: usize,
    dimension: usize,
    cost: f64,
}

/// What is printed for KOBL. Pima is the paper's Diabetes.
const PRINTED: [Printed; 4] = [
    Printed { name: "australian", rows: 345, dimension: 36, cost: 0.044 },
    Printed { name: "pima", rows: 468, dimension: 58, cost: 0.062 },
    Printed { name: "ionosphere", rows: 281, dimension: 69, cost: 0.111 },
    Printed { name: "thyroid", rows: 140, dimension: 20, cost: 0.043 },
];

/// The bases, by what they are called in tables.
const BASES: [&str; 6] = ["KOBL", "random pivots", "KGS", "KPCA", "KGS, all rows", "KDA"];

/// What all centred components leave of rows that are not centred.
const CENTRED: &str = "KPCA, centred";

/// Reconstruction costs on one split, and the bound of Theorem 1.
fn costs(data: &Dataset, line: &Printed, seed: u64, ctx: &Context) -> Result<Numbers> {
    let ctx = &Context { seed, ..*ctx };
    let (train, _) = scaled(data, &fold_of(data.n(), line.rows, seed))?;
    let found = gamma_for_n_components(&Kobl::default(), train.x(), line.dimension, ctx)?;
    let kernel: KernelChoice = Kernel::Rbf { gamma: found.gamma }.into();
    let n_components = Some(line.dimension);
    let kobl = Kobl { kernel: kernel.clone(), ..Kobl::default() };
    let bases: [&dyn Basis; 6] = [
        &kobl,
        &Kobl { pivoting: Pivoting::Random, threshold: Threshold::None, n_components, ..kobl.clone() },
        &Kgs { kernel: kernel.clone(), n_components },
        &Kpca { kernel: kernel.clone(), n_components, center: false },
        &Kgs { kernel: kernel.clone(), n_components: None },
        &Discriminant { kernel: kernel.clone(), ..Discriminant::default() },
    ];
    let mut numbers = Numbers::new();
    numbers.insert(CENTRED.to_owned(), left_by_centred(&Kernel::Rbf { gamma: found.gamma }, &train)?);
    for (name, basis) in BASES.into_iter().zip(bases) {
        let summary = basis.fit(&train, ctx)?.map.summary().clone();
        numbers.insert(name.to_owned(), summary.reconstruction_cost);
        if let Some(bound) = summary.bound.filter(|_| name == "KOBL") {
            numbers.insert("bound".to_owned(), bound);
            let found = summary.residual_norms.len();
            if found != line.dimension {
                let why = format!("{}: no gamma gives {} components", line.name, line.dimension);
                return Err(Error::Breakdown { step: "Table 2", why });
            }
        }
    }
    Ok(numbers)
}

/// Centred components span the differences of rows, so what they leave of each is its part at right angles to all of these: the distance of the
/// origin from the plane through the rows, $1 / \sqrt{1^\top K^{-1} 1}$.
fn left_by_centred(kernel: &Kernel, train: &Dataset) -> Result<f64> {
    let mut k = gram(kernel, train.x(), train.x())?;
    // Rows may be equal; a little on the diagonal changes the third digit at most.
    k.diag_mut().mapv_inplace(|v| v + 1e-8);
    let broken = || Error::Breakdown { step: "Table 2", why: "a Gram matrix is not definite".into() };
    let l = cholesky(k.view()).ok_or_else(broken)?;
    let mut ones = Array2::ones((train.n(), 1));
    lower_solve(l.view(), &mut ones.view_mut());
    Ok(ones.iter().map(|v| v * v).sum::<f64>().sqrt().recip())
}

/// Of each set the costs of all splits.
fn measured(ledger: &mut Ledger, settings: &Settings, ctx: &Context) -> Result<Vec<Vec<Numbers>>> {
    let sets = PRINTED.map(|line| built_in(line.name));
    PRINTED
        .iter()
        .zip(sets)
        .map(|(line, data)| {
            let data = data?;
            let seeds = settings.seeds(ctx);
            let names: Vec<String> =
                seeds.iter().map(|seed| format!("reconstruction, {}, split {seed}", line.name)).collect();
            let stage = format!("Table 2, {}", line.name);
            ledger.measure(&stage, &names, ctx, |i, ctx| costs(&data, line, seeds[i], ctx))
        })
        .collect()
}

fn column(splits: &[Numbers], name: &str) -> Vec<f64> {
    splits.iter().map(|numbers| numbers[name]).collect()
}

/// How far from the printed cost counts as reproduced.
fn allowed(line: &Printed) -> f64 {
    f64::max(0.02, 0.35 * line.cost)
}

/// How it was run, but for the number of splits.
const PROTOCOL: &str = "Random training rows of the printed number, columns standardised, f(t) = t, the RBF width set so that KOBL's \
                        dimension is the printed one; ";

fn protocol(settings: &Settings) -> String {
    format!("{PROTOCOL}{}.", settings.splits_in_words())
}

/// Table 2, KOBL's costs.
pub fn run(ledger: &mut Ledger, settings: &Settings, ctx: &Context) -> Result<Section> {
    let all = measured(ledger, settings, ctx)?;
    let mut table =
        Table::new("Reconstruction cost", ["set", "d / N", "printed", "ours", "Theorem 1", "allowed", "met"]);
    let (mut near, mut bounded) = (0, true);
    for (line, splits) in PRINTED.iter().zip(&all) {
        let ours = column(splits, "KOBL");
        let is_near = (mean(&ours) - line.cost).abs() <= allowed(line);
        near += usize::from(is_near);
        bounded &= splits.iter().all(|numbers| numbers["KOBL"] <= numbers["bound"]);
        table.push([
            line.name.to_owned(),
            format!("{} / {}", line.dimension, line.rows),
            format!("{:.3}", line.cost),
            spread(&ours, 3),
            spread(&column(splits, "bound"), 3),
            format!("± {:.3}", allowed(line)),
            if is_near { "yes" } else { "no" }.to_owned(),
        ]);
    }
    Ok(Section::new(
        "P0-T2a",
        "Table 2, reconstruction cost of KOBL",
        "KOBL's costs are 0.044, 0.062, 0.111 and 0.043 with 36 of 345, 58 of 468, 69 of 281 and 20 of 140 directions.",
        &protocol(settings),
        "Within max(0.02, 35 %) of print on all four sets; the bound of Theorem 1 holds always.",
    )
    .found(
        Verdict::of(near == PRINTED.len() && bounded),
        format!(
            "Near on {near} of {}; the bound {}.",
            PRINTED.len(),
            if bounded { "holds on every split" } else { "is broken" }
        ),
    )
    .table(table)
    .remark("The paper prints neither widths nor splits, so single decimals cannot be met but by luck."))
}

/// Table 2, the order of the methods.
pub fn order(ledger: &mut Ledger, settings: &Settings, ctx: &Context) -> Result<Section> {
    let all = measured(ledger, settings, ctx)?;
    let mut table = Table::new(
        "Reconstruction cost: first at KOBL's dimension, then what the paper seems to have compared",
        ["set"].into_iter().chain(BASES).chain([CENTRED]),
    );
    for (line, splits) in PRINTED.iter().zip(&all) {
        let cells = BASES.iter().chain([&CENTRED]).map(|name| match mean(&column(splits, name)) {
            0.0 => "0".to_owned(),
            small if small < 5e-4 => format!("{small:.0e}"),
            _ => spread(&column(splits, name), 3),
        });
        table.push([line.name.to_owned()].into_iter().chain(cells));
    }
    let below = |name: &str| all.iter().filter(|s| mean(&column(s, "KOBL")) < mean(&column(s, name))).count();
    let exact = all.iter().flatten().map(|numbers| numbers["KGS, all rows"]).fold(0.0, f64::max);
    Ok(Section::new(
        "P0-T2b",
        "Table 2, KOBL beside KGS, KPCA and KDA",
        "KOBL's cost is below that of KGS (0.06 to 0.10), KPCA (0.38 to 0.41) and KDA.",
        &protocol(settings),
        "None: shown, also at equal dimension.",
    )
    .found(
        Verdict::Shown,
        format!(
            "At equal dimension KOBL is below KGS on {} of 4 sets, below KPCA on {}; KGS over all rows leaves at most {exact:.0e}; KOBL is below \
             what centred KPCA leaves of rows that are not centred on {}.",
            below("KGS"),
            below("KPCA"),
            below(CENTRED)
        ),
    )
    .table(table)
    .remark(
        "The printed order is one of arithmetic, not of methods. KGS over all rows spans the rows, so in double precision it leaves nothing; \
         the printed 0.06 to 0.10 is the size of a loss of orthogonality in single precision. Centred components cannot rebuild rows that \
         are not centred, however many there are: what they leave is the last column, and is what KPCA's 0.4 looks like. KDA has one direction for two classes, whatever dimension is asked for. At \
         equal dimension uncentred KPCA minimises the squared cost, so that nothing can be below it there; what KOBL offers is the dimension, \
         found on the way, at O(N d²).",
    ))
}
