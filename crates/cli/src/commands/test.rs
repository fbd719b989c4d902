//! `kernsift test`: p-values of all features.

use super::options::settings_of;
use super::report::{self, run_info, timed};
use crate::args::TestArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::input::{Also, Loaded, load};
use crate::output::{SHOWN, number, print, print_json, table};
use kernsift::data::Column;
use kernsift::data::write::{check_table, write_table};
use kernsift::parameters::apply;
use kernsift::significance::{FeatureTest, FeatureTests, TestedFeature};
use kernsift::{Context, Error};
use kernsift_report::test_page;
use ndarray::Array2;
use serde_json::{Value, json};
use std::path::Path;

const NAME: &str = "test";
/// Parameters, and the options that set them.
const OPTIONS: [(&str, &str, &str); 3] =
    [("", "permutations", "--permutations"), ("", "alpha", "--alpha"), ("", "covariates", "--adjust")];

/// Tests all features, prints the best, and writes the requested files.
pub fn run(args: &TestArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let test = settings(args)?;
    args.writing.check(args.out.is_some())?;
    let loaded = load(&args.table, Also::report(args.report.is_some()), ctx, console)?;
    let files = [("--report", args.report.as_deref()), ("--out", args.out.as_deref())];
    check_outputs(&files, &loaded.files())?;
    if let Some(path) = &args.out {
        check_table(path, &[Column::text("feature", std::iter::empty())])?;
    }
    let covariates = covariates(&args.adjust, loaded.prepared.data.names())?;
    let (found, cost) = timed(|| test.run(&loaded.prepared.data, &covariates, ctx));
    let found = found.map_err(|error| Failure::typed(error, &OPTIONS))?;
    console.stage("writing");
    if let Some(path) = &args.out {
        write(path, &loaded, &found, args, ctx)?;
    }
    if args.json {
        let mut fields = record(&loaded, &found, &covariates);
        fields["seconds"] = cost.seconds.into();
        fields["settings"] = serde_json::to_value(&test)?;
        print_json(&loaded.record(NAME, ctx, fields))?;
    } else {
        print(&text(&loaded, &found, &test, console.is_verbose()))?;
    }
    let Some(path) = &args.report else { return Ok(()) };
    let info = run_info(&loaded, (NAME, &test), false, &cost, ctx)?;
    report::write(path, &test_page(&info, &loaded.prepared.data, &found, &test), console)
}

/// The test with the parameters that the user set.
fn settings(args: &TestArgs) -> Result<FeatureTest, Failure> {
    let mut test = apply(FeatureTest::default(), NAME, &settings_of(&args.settings, "n_functions=2")?)?;
    test.statistic = args.statistic.unwrap_or(test.statistic);
    test.permutations = args.permutations.unwrap_or(test.permutations);
    test.method = args.correction.unwrap_or(test.method);
    test.alpha = args.alpha.unwrap_or(test.alpha);
    Ok(test)
}

/// The indices of the covariates. A name may contain a comma.
fn covariates(texts: &[String], names: &[String]) -> Result<Vec<usize>, Failure> {
    let find = |name: &str| names.iter().position(|known| known == name);
    let mut out = vec![];
    for text in texts {
        match find(text) {
            Some(feature) => out.push(feature),
            None => {
                for name in text.split(',').map(str::trim) {
                    let unknown = || Error::unknown_column(name, names.iter().map(String::as_str));
                    out.push(find(name).ok_or_else(unknown)?);
                }
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    Ok(out)
}

fn record(loaded: &Loaded, found: &FeatureTests, covariates: &[usize]) -> Value {
    let names = loaded.prepared.data.names();
    let feature = |tested: &TestedFeature| {
        json!({
            "feature": names[tested.feature],
            "statistic": tested.statistic,
            "p_value": tested.p_value,
            "q_value": tested.q_value,
        })
    };
    json!({
        "features": found.features.iter().map(feature).collect::<Vec<_>>(),
        "n_significant": found.n_significant,
        "covariates": covariates.iter().map(|&j| &names[j]).collect::<Vec<_>>(),
        "adjustment": found.adjustment.describe(),
    })
}

fn write(
    path: &Path,
    loaded: &Loaded,
    found: &FeatureTests,
    args: &TestArgs,
    ctx: &Context,
) -> Result<(), Failure> {
    let (features, names) = (&found.features, loaded.prepared.data.names());
    let numeric = |name: &str, value: fn(&TestedFeature) -> f64| {
        Column::numeric(name, features.iter().map(value).collect())
    };
    let columns = [
        Column::numeric("rank", (1..=features.len()).map(|rank| rank as f64).collect()),
        Column::text("feature", features.iter().map(|tested| Some(names[tested.feature].as_str()))),
        numeric("statistic", |tested| tested.statistic),
        numeric("p_value", |tested| tested.p_value),
        numeric("q_value", |tested| tested.q_value),
    ];
    let no_numbers = Array2::zeros((features.len(), 0));
    Ok(write_table(path, &[], no_numbers.view(), &columns, &args.writing.options(), ctx)?)
}

fn text(loaded: &Loaded, found: &FeatureTests, test: &FeatureTest, verbose: bool) -> String {
    let (total, names) = (found.features.len(), loaded.prepared.data.names());
    let given = if found.adjustment.describe().is_some() { ", given the covariates" } else { "" };
    let significant = match found.n_significant {
        0 => format!("the target depends on none of {total} features{given} (q > {})", test.alpha),
        count => format!("the target depends on {count} of {total} features{given} (q <= {})", test.alpha),
    };
    let mut text = format!("{}\n{significant}\n", loaded.describe(""));
    if let Some(how) = found.adjustment.describe() {
        text += &format!("covariates: {how}\n");
    }
    let shown = if verbose { total } else { total.min(SHOWN) };
    let rows = found.features[..shown].iter().enumerate().map(|(rank, tested)| {
        let numbers = [tested.statistic, tested.p_value, tested.q_value].map(number);
        [vec![(rank + 1).to_string(), names[tested.feature].clone()], numbers.to_vec()].concat()
    });
    let header = ["rank", "feature", "statistic", "p-value", "q-value"];
    text += &format!("\n{}", table(&header, rows.collect(), &[0, 2, 3, 4]));
    if shown < total {
        text += &format!(" ... and {} more, with -v\n", total - shown);
    }
    text
}
