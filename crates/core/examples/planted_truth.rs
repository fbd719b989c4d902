//! Which columns methods find in data whose answer is known.
//!
//! `cargo run --release --example planted_truth [SEEDS]`

use kernsift::Context;
use kernsift::data::Standardizer;
use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::select::{Selector, SelectorMethod, Wanted};
use std::time::Instant;

fn main() -> kernsift::Result<()> {
    let seeds: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(10);
    let methods: Vec<String> =
        std::env::args().nth(2).unwrap_or("hsfs".into()).split(',').map(Into::into).collect();
    for (pattern, rows) in
        [(Pattern::Linear, 500), (Pattern::Ring, 500), (Pattern::Xor, 500), (Pattern::XorRing, 1000)]
    {
        for name in &methods {
            let method = SelectorMethod::by_name(name)?;
            let (mut whole, mut found, mut seconds) = (0, vec![], 0.0);
            for seed in 0..seeds {
                let planted =
                    Synthetic { pattern, rows, columns: 100, seed, ..Synthetic::default() }.make()?;
                let data =
                    planted.data.with_x(Standardizer::fit(planted.data.x()).apply(planted.data.x())?)?;
                let begun = Instant::now();
                let selection =
                    method.select(&data, Wanted::Count(planted.relevant.len()), &Context::default())?;
                seconds += begun.elapsed().as_secs_f64();
                let hits = selection.selected().iter().filter(|j| planted.relevant.contains(j)).count();
                whole += usize::from(hits == planted.relevant.len());
                found.push(hits);
            }
            println!(
                "{:9} {name:20} all found {whole} of {seeds}, hits {found:?}, {:.2} s each",
                pattern.name(),
                seconds / seeds as f64
            );
        }
    }
    Ok(())
}
