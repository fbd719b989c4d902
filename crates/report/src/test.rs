//! The report of tests of features.

use crate::feature_plots::feature_plots;
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Page, RunInfo};
use crate::{account, histogram, text};
use kernsift::Dataset;
use kernsift::significance::{Correction, FeatureTest, FeatureTests};

/// A self-contained HTML page about the p-values of features: what they answer, ranking, histogram of p-values, plots of the most
/// significant features, and the command.
pub fn test_page(info: &RunInfo, data: &Dataset, found: &FeatureTests, test: &FeatureTest) -> String {
    let mut page = Page::new(&format!("Tests of {}", info.data), &lede(data, found, test.alpha));
    page.html(&explanation(found, test));
    account::open(&mut page, info.account.as_ref());
    page.section("ranking", "Features", &ranking(data, found));
    page.facts(&info.facts(data.n(), data.d(), text::target(data.target())));
    let p_values: Vec<f64> = found.features.iter().map(|tested| tested.p_value).collect();
    let histogram = format!(
        "<figure>\n{}<figcaption>If the target depends on no feature, all bars have about the height of the dotted line. Bars above it on the left are \
         features on which the target depends. A slope elsewhere is a sign of dependent rows or of strong correlations.</figcaption>\n</figure>\n",
        histogram::p_values(&p_values)
    );
    page.section("histogram", "p-values of all features", &histogram);
    let shown = &found.features[..found.n_significant.max(1).min(found.features.len())];
    let shown: Vec<usize> = shown.iter().map(|tested| tested.feature).collect();
    page.section(
        "target",
        "Plots of the most significant features",
        &feature_plots(data, &shown, info.account.as_ref()),
    );
    info.finish(page)
}

fn lede(data: &Dataset, found: &FeatureTests, alpha: f64) -> String {
    let total = text::counted(found.features.len(), "tested feature");
    let given = if found.adjustment.describe().is_some() { ", given the covariates" } else { "" };
    let names: Vec<&str> = found.features[..found.n_significant]
        .iter()
        .map(|tested| data.names()[tested.feature].as_str())
        .collect();
    match names.len() {
        0 => format!("The target depends on none of {total}{given} (<span>q &gt; {alpha}</span>)."),
        k => format!(
            "The target depends on {k} of {total}{given} (<span>q ≤ {alpha}</span>): {}.",
            text::listed(&names, 8)
        ),
    }
}

/// Which question the numbers answer, and which they do not.
fn explanation(found: &FeatureTests, test: &FeatureTest) -> String {
    let alpha = test.alpha;
    let adjusted = match test.method {
        Correction::BenjaminiHochberg | Correction::BenjaminiYekutieli => {
            format!(
                "of the features with a q-value of at most {alpha}, a fraction of at most {alpha} is expected to be false positives"
            )
        }
        Correction::Holm | Correction::Bonferroni => {
            format!(
                "the probability that any feature with a q-value of at most {alpha} is a false positive is at most {alpha}"
            )
        }
    };
    let covariates = found
        .adjustment
        .describe()
        .map_or(String::new(), |how| format!(" The covariates are accounted for by {}.", escape(&how)));
    format!(
        "<p><b>Does the target depend on this feature at all?</b> Every feature is tested alone, also for nonlinear effects. The p-value is the \
         probability of at least this dependence by chance, if there is none. The q-value is the p-value adjusted for the number of features: \
         {adjusted}.{covariates}</p>\n\
         <p>Other questions have other numbers. Does a feature add anything to the others? <code>kernsift select --fdr</code>. Would another sample \
         give the same features? <code>kernsift select --stability</code>. Does a feature matter only together with another? \
         <code>kernsift interactions</code>.</p>\n"
    )
}

/// All tested features, in order.
fn ranking(data: &Dataset, found: &FeatureTests) -> String {
    let heads = vec![
        Head::number("Rank"),
        Head::text("Feature"),
        Head::bar("Statistic"),
        Head::number("p-value"),
        Head::number("q-value"),
    ];
    let rows = found.features.iter().enumerate().map(|(rank, tested)| {
        vec![
            Cell::Number((rank + 1) as f64),
            Cell::Text(data.names()[tested.feature].clone()),
            Cell::Number(tested.statistic),
            Cell::Number(tested.p_value),
            Cell::Number(tested.q_value),
        ]
    });
    let (file, caption) = ("tests.csv", String::new());
    Listing { file, caption, heads, rows: rows.collect(), selected: found.n_significant }.html()
}
