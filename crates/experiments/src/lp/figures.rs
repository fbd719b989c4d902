//! Figures 1 to 3.

use super::triplets::{Accuracies, DatasetResults, ITML, NOISE, STRICT, WEAK};
use crate::paper::Settings;
use crate::statistics::{mean, mean_and_sd};
use crate::study::{Section, Table, Verdict};
use kernsift_report::{Figure, Series};

fn protocol(settings: &Settings) -> String {
    format!(
        "85 % of the rows for training, with {} triplets sampled by class; 1000 triplets of the other rows for evaluation. Standardization, \
         gammas and penalties are determined on the training rows; {}.",
        settings.n_triplets(),
        settings.splits_text()
    )
}

/// Figure 1: mixtures against single kernels.
pub fn figure_1(all: &Accuracies, settings: &Settings) -> Section {
    let n = all.0.len();
    let by_sd = all.count(|results| {
        let (gain, sd) = results.gain_over_single();
        gain > 0.0 && gain >= sd
    });
    let above_gaussian = all.count(|results| {
        !results.is_balance() && mean(&results.accuracy(WEAK)) > mean(&results.accuracy("gaussian"))
    });
    let others = all.count(|results| !results.is_balance());
    let smallest = all.0.iter().map(|results| results.gain_over_single().0).fold(f64::INFINITY, f64::min);
    let trivial = all.count(|results| results.values(STRICT, "trivial cone").iter().all(|t| *t == 1.0));
    let met = by_sd >= n.div_ceil(2) && above_gaussian == others && smallest >= -3.0 && trivial == n;
    Section::new(
        "P2-F1",
        "Figure 1, mixtures of kernels against single kernels",
        "The mixture of one-feature kernels is better than every single kernel on all nine data sets, the mixture of full kernels on most.",
        &protocol(settings),
        "The weak mixture exceeds the best single kernel by one standard deviation on 4 of 8 data sets, exceeds the Gaussian kernel on all but \
         balance_scale, and is nowhere more than 3 percentage points below the best single kernel; strict dominance reports a trivial cone.",
    )
    .result(
        Verdict::of(met),
        format!(
            "Above by one standard deviation on {by_sd} of {n}; above the Gaussian kernel on {above_gaussian} of {others} (without \
             balance_scale); smallest gain {smallest:+.1} points; trivial cone on {trivial} of {n}."
        ),
    )
    .table(all.accuracy_table(&[
        "gaussian",
        "linear",
        "polynomial",
        "average",
        "full mixture",
        WEAK,
        NOISE,
        STRICT,
    ]))
    .table(all.gain_table())
    .table(all.prototype_table())
    .figure(all.figure("P2-F1", &["gaussian", "linear", "polynomial", "average", "full mixture", WEAK]))
    .note(
        "The claim for all nine data sets does not hold: on balance_scale the target depends only on products of features, which a sum of \
         one-feature kernels cannot represent, and on soybean_small single kernels leave no room for improvement. The protein data set is not \
         available.",
    )
    .note(
        "With strict dominance, the published program, zero is the only solution on nearly all of these data sets; all triplets then tie, and \
         a tie counts one half. The published results cannot come from this program with all rows in the constraint. With nonnegative \
         weights, the mixture is positive semidefinite without the constraint.",
    )
}

/// Figure 2: number of selected features.
pub fn figure_2(all: &Accuracies, settings: &Settings) -> Section {
    let methods = [WEAK, NOISE, "xing-diagonal"];
    let header = ["data set", "of"].into_iter().chain(methods);
    let mut table = Table::new("Selected features, on average", header);
    for results in &all.0 {
        let cells = methods.map(|name| format!("{:.1}", mean(&results.values(name, "features"))));
        table.push([results.name.to_owned(), results.d.to_string()].into_iter().chain(cells));
    }
    let fewer = all
        .count(|results| !results.is_balance() && mean(&results.values(WEAK, "features")) < results.d as f64);
    let others = all.count(|results| !results.is_balance());
    let series = [WEAK, NOISE].map(|method| Series {
        label: method.to_owned(),
        values: all
            .0
            .iter()
            .map(|results| {
                let (mean, sd) = mean_and_sd(&results.values(method, "features"));
                Some((100.0 * mean / results.d as f64, 100.0 * sd / results.d as f64))
            })
            .collect(),
    });
    let figure = Figure {
        name: "P2-F2".into(),
        title: "Selected features".into(),
        x_label: "data set".into(),
        y_label: "features, % of all".into(),
        x: all.names(),
        series: series.into(),
    };
    Section::new(
        "P2-F2",
        "Figure 2, number of selected features",
        "Not all features are selected, on all data sets but one.",
        &protocol(settings),
        "On average not all features are selected, on all data sets but balance_scale.",
    )
    .result(Verdict::of(fewer == others), format!("On {fewer} of {others} (without balance_scale)."))
    .table(table)
    .figure(figure)
    .note(
        "This holds with nonnegative weights. Dominance with noise selects nearly all features: negative weights use every feature and \
         gain little.",
    )
}

/// Figure 3: comparison with metric learning.
pub fn figure_3(all: &Accuracies, settings: &Settings) -> Section {
    let methods = [WEAK, "xing", "xing-diagonal", ITML];
    let mut table = all.accuracy_table(&methods);
    table.header.extend(["gain over the better Xing metric", "gain over ITML"].map(str::to_owned));
    for (row, results) in table.rows.iter_mut().zip(&all.0) {
        row.extend([results.better_xing(), ITML].map(|name| {
            let (gain, sd) = results.gain_over(name);
            format!("{gain:+.1} (sd {sd:.1})")
        }));
    }
    let n = all.0.len();
    let near = |method: &dyn Fn(&DatasetResults) -> &'static str| {
        (
            all.count(|results| results.gain_over(method(results)).0 >= -3.0),
            all.count(|results| results.gain_over(method(results)).0 > 0.0),
        )
    };
    let (near_itml, above_itml) = near(&|_| ITML);
    let (near_xing, above_xing) = near(&DatasetResults::better_xing);
    let required = (5 * n).div_ceil(8);
    Section::new(
        "P2-F3",
        "Figure 3, comparison with metric learning",
        "The mixture is better than the metric of Xing et al. 2002 on all data sets but balance_scale.",
        &protocol(settings),
        "At most 3 percentage points below ITML on 5 of 8 data sets; the same for the better of Xing's two metrics.",
    )
    .result(
        Verdict::of(near_itml.min(near_xing) >= required),
        format!(
            "At most 3 points below ITML on {near_itml} of {n}, above it on {above_itml}; at most 3 points below Xing's metric on {near_xing}, \
             above it on {above_xing}."
        ),
    )
    .table(table)
    .figure(all.figure("P2-F3", &methods))
    .note(
        "Full metrics combine features, as balance_scale requires, but use all of them. ITML receives the same triplets as similar and \
         dissimilar pairs, with bounds at the 5th and 95th percentiles of squared distances and slack weight 1.",
    )
}
