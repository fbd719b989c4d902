//! Options of selectors that score columns without a model, put into them.

use super::refuse;
use crate::args::{
    ClassWeightsArg, DifferenceArg, DiscreteArg, DiscretizerArg, GraphArg, GraphWeightsArg, MeasureArg,
    MetricArg, ScoreOptions, SelectArgs, StatisticArg, UnitsArg,
};
use crate::failure::Failure;
use kernsift::select::{
    ChiSquared, ClassWeights, Difference, Discrete, Discretizer, EdgeWeights, Graph, Information,
    InformationGain, LaplacianScore, Metric, MutualInformation, Relief, SelectorMethod, Statistic, Units,
};

/// Puts the options into a selector, and refuses those that it does not have. `name` is what the user typed for it.
pub fn configure(selector: &mut SelectorMethod, args: &SelectArgs, name: &str) -> Result<(), Failure> {
    let options = &args.scores;
    refuse_others(selector, args, name)?;
    match selector {
        SelectorMethod::Relief(relief) => relief_options(relief, args),
        SelectorMethod::InformationGain(method) => information_options(method, options)?,
        SelectorMethod::MutualInformation(method) => mutual_options(method, options),
        SelectorMethod::ChiSquared(method) => chi_squared_options(method, options)?,
        SelectorMethod::Laplacian(method) => laplacian_options(method, options)?,
        _ => {}
    }
    Ok(())
}

fn refuse_others(selector: &SelectorMethod, args: &SelectArgs, name: &str) -> Result<(), Failure> {
    let options = &args.scores;
    let is = |found: bool, given: bool| given && !found;
    let relief = matches!(selector, SelectorMethod::Relief(_));
    let information = matches!(selector, SelectorMethod::InformationGain(_));
    let mutual = matches!(selector, SelectorMethod::MutualInformation(_));
    let chi_squared = matches!(selector, SelectorMethod::ChiSquared(_));
    let laplacian = matches!(selector, SelectorMethod::Laplacian(_));
    refuse(
        name,
        &[
            ("--relief-neighbors", is(relief, args.relief_neighbors.is_some())),
            ("--difference", is(relief, args.difference.is_some())),
            ("--metric", is(relief, options.metric.is_some())),
            ("--units", is(relief, options.units.is_some())),
            ("--class-weights", is(relief, options.class_weights.is_some())),
            ("--samples", is(relief, options.samples.is_some())),
            ("--discretizer", is(information || chi_squared, options.discretizer.is_some())),
            ("--bins", is(information || chi_squared, options.bins.is_some())),
            ("--measure", is(information, options.measure.is_some())),
            ("--statistic", is(chi_squared, options.statistic.is_some())),
            ("--mi-neighbors", is(mutual, options.mi_neighbors.is_some())),
            ("--discrete", is(mutual, options.discrete.is_some())),
            ("--graph", is(laplacian, options.graph.is_some())),
            ("--graph-neighbors", is(laplacian, options.graph_neighbors.is_some())),
            ("--graph-weights", is(laplacian, options.graph_weights.is_some())),
            ("--graph-width", is(laplacian, options.graph_width.is_some())),
        ],
    )
}

fn relief_options(relief: &mut Relief, args: &SelectArgs) {
    let options = &args.scores;
    relief.n_neighbors = args.relief_neighbors.unwrap_or(relief.n_neighbors);
    if let Some(difference) = args.difference {
        relief.difference = match difference {
            DifferenceArg::Absolute => Difference::Absolute,
            DifferenceArg::Squared => Difference::Squared,
        };
    }
    if let Some(metric) = options.metric {
        relief.metric = match metric {
            MetricArg::Euclidean => Metric::Euclidean,
            MetricArg::Manhattan => Metric::Manhattan,
        };
    }
    if let Some(units) = options.units {
        relief.units = if units == UnitsArg::Range { Units::Range } else { Units::Unscaled };
    }
    if let Some(weights) = options.class_weights {
        relief.class_weights = match weights {
            ClassWeightsArg::Share => ClassWeights::Frequency,
            ClassWeightsArg::Equal => ClassWeights::Equal,
        };
    }
    relief.n_samples = options.samples.or(relief.n_samples);
}

fn discretizer(options: &ScoreOptions, usual: Discretizer) -> Discretizer {
    match options.discretizer {
        Some(DiscretizerArg::Mdl) => Discretizer::Mdl,
        Some(DiscretizerArg::Frequency) => Discretizer::Frequency,
        Some(DiscretizerArg::Width) => Discretizer::Width,
        None => usual,
    }
}

fn refuse_bins(how: Discretizer, options: &ScoreOptions) -> Result<(), Failure> {
    refuse("--discretizer mdl", &[("--bins", how == Discretizer::Mdl && options.bins.is_some())])
}

fn information_options(method: &mut InformationGain, options: &ScoreOptions) -> Result<(), Failure> {
    method.discretizer = discretizer(options, method.discretizer);
    refuse_bins(method.discretizer, options)?;
    method.n_bins = options.bins.unwrap_or(method.n_bins);
    if let Some(measure) = options.measure {
        method.measure = match measure {
            MeasureArg::Gain => Information::Gain,
            MeasureArg::Ratio => Information::Ratio,
            MeasureArg::Uncertainty => Information::Uncertainty,
        };
    }
    Ok(())
}

fn mutual_options(method: &mut MutualInformation, options: &ScoreOptions) {
    method.n_neighbors = options.mi_neighbors.unwrap_or(method.n_neighbors);
    if let Some(discrete) = options.discrete {
        method.discrete = match discrete {
            DiscreteArg::Auto => Discrete::Auto,
            DiscreteArg::All => Discrete::All,
            DiscreteArg::None => Discrete::None,
        };
    }
}

fn chi_squared_options(method: &mut ChiSquared, options: &ScoreOptions) -> Result<(), Failure> {
    let counts = options.statistic == Some(StatisticArg::Counts);
    refuse(
        "--statistic counts",
        &[
            ("--discretizer", counts && options.discretizer.is_some()),
            ("--bins", counts && options.bins.is_some()),
        ],
    )?;
    method.discretizer = discretizer(options, method.discretizer);
    refuse_bins(method.discretizer, options)?;
    method.n_bins = options.bins.unwrap_or(method.n_bins);
    if let Some(statistic) = options.statistic {
        method.statistic = match statistic {
            StatisticArg::Auto => Statistic::Auto,
            StatisticArg::Counts => Statistic::Counts,
            StatisticArg::Bins => Statistic::Bins,
        };
    }
    Ok(())
}

fn laplacian_options(method: &mut LaplacianScore, options: &ScoreOptions) -> Result<(), Failure> {
    let classes = options.graph == Some(GraphArg::Classes);
    refuse(
        "--graph classes",
        &[
            ("--graph-neighbors", classes && options.graph_neighbors.is_some()),
            ("--graph-weights", classes && options.graph_weights.is_some()),
            ("--graph-width", classes && options.graph_width.is_some()),
        ],
    )?;
    let binary = options.graph_weights == Some(GraphWeightsArg::Binary);
    refuse("--graph-weights binary", &[("--graph-width", binary && options.graph_width.is_some())])?;
    method.graph = if classes { Graph::Classes } else { Graph::Knn };
    method.weights = if binary { EdgeWeights::Binary } else { EdgeWeights::Heat };
    method.n_neighbors = options.graph_neighbors.unwrap_or(method.n_neighbors);
    method.width = options.graph_width.or(method.width);
    Ok(())
}
