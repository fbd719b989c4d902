//! Recovery of relevant features in synthetic data and in Madelon.
//!
//! Every set has 100 features, two or four of them relevant; a method selects as many. A row of the table has the number
//! of seeds for which all were found, and the total number found.
//!
//! Run with `cargo run --release --example planted_truth`; `make pages` stores its output.

use kernsift::data::synthetic::{Pattern, Synthetic, SyntheticDataset};
use kernsift::data::{BuiltIn, Standardizer};
use kernsift::select::{FeatureCount, Selector, SelectorMethod};
use kernsift::{Context, Dataset, Result};

/// Seeds of each pattern.
pub const SEEDS: u64 = 10;

/// Patterns and numbers of rows.
pub const PATTERNS: [(Pattern, usize); 4] =
    [(Pattern::Linear, 500), (Pattern::Ring, 500), (Pattern::Xor, 500), (Pattern::XorRing, 1000)];

/// Methods to compare.
pub const METHODS: [&str; 7] =
    ["hsfs", "bahsic", "fohsic", "hsic-lasso", "relief", "mutual-information", "ldfs"];

/// Madelon's informative columns, counted from 1.
pub const MADELON: [usize; 20] =
    [29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494];

fn scaled(data: &Dataset) -> Result<Dataset> {
    data.with_x(Standardizer::fit(data.x()).apply(data.x())?)
}

/// Number of relevant features that a method finds, and number of relevant features.
pub fn hits(name: &str, pattern: Pattern, rows: usize, seed: u64) -> Result<(usize, usize)> {
    let SyntheticDataset { data, relevant } =
        Synthetic { pattern, rows, columns: 100, seed, ..Synthetic::default() }.make()?;
    let method = SelectorMethod::by_name(name)?;
    let data = if method.wants_scaling() { scaled(&data)? } else { data };
    let selection = method.select(&data, FeatureCount::Count(relevant.len()), &Context::default())?;
    Ok((selection.selected().iter().filter(|j| relevant.contains(j)).count(), relevant.len()))
}

/// Number of informative features among ten selected from the first of Madelon's 2000 training rows.
pub fn madelon_hits(name: &str, rows: usize) -> Result<usize> {
    let all = BuiltIn::by_name("madelon")?.data()?;
    let data = all.take_rows(&(0..rows).collect::<Vec<_>>());
    let method = SelectorMethod::by_name(name)?;
    let data = if method.wants_scaling() { scaled(&data)? } else { data };
    let selection = method.select(&data, FeatureCount::Count(10), &Context::default())?;
    Ok(selection.selected().iter().filter(|&&j| MADELON.contains(&(j + 1))).count())
}

/// The cell of a method: for how many seeds all relevant features are found, and how many in total.
pub fn cell(name: &str, pattern: Pattern, rows: usize) -> Result<String> {
    let (mut complete, mut found, mut total) = (0, 0, 0);
    for seed in 0..SEEDS {
        let (hits, of) = hits(name, pattern, rows, seed)?;
        complete += u64::from(hits == of);
        found += hits;
        total += of;
    }
    Ok(format!("{complete} of {SEEDS} ({found} of {total})"))
}

fn main() -> Result<()> {
    let names: Vec<String> =
        PATTERNS.iter().map(|(pattern, n)| format!("{}, n = {n}", pattern.name())).collect();
    println!("# Recovery of known features\n\nMethod: [Results](results.md#recovery-of-known-features).\n");
    println!("| method | {} | Madelon, 10 features |", names.join(" | "));
    println!("|---|{}---|", "---|".repeat(PATTERNS.len()));
    for name in METHODS {
        let cells = PATTERNS.map(|(pattern, rows)| cell(name, pattern, rows));
        let cells: Vec<String> = cells.into_iter().collect::<Result<_>>()?;
        println!("| {name} | {} | {} informative |", cells.join(" | "), madelon_hits(name, 2000)?);
    }
    Ok(())
}
