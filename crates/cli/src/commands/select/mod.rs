//! `kernsift select`: among the columns of a table, or among directions of kernel space.

mod accuracy;
mod columns;
mod scores;
mod space;

use super::options::{choice, kernel_options, refuse};
use crate::args::{DifferenceArg, SelectArgs, WeakArg, WeightsArg};
use crate::console::Console;
use crate::failure::Failure;
use kernsift::basis::BASES;
use kernsift::select::{Difference, Klms, SELECTORS, SelectorMethod, WeakLearner, WeightRule};
use kernsift::space::SPACES;
use kernsift::{Context, Error};

/// Lines of a table that are printed unless the user wants more.
const SHOWN: usize = 20;

/// Ranks, prints, and writes what was asked for.
pub fn run(args: &SelectArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let name = args.method.as_str();
    if SPACES.iter().any(|info| info.name == name) {
        return space::run(args, ctx, console);
    }
    if SELECTORS.iter().any(|info| info.name == name) {
        return columns::run(args, ctx, console);
    }
    if BASES.iter().any(|info| info.name == name) {
        return Err(Failure::Input(format!(
            "{name} is a basis and selects nothing; use `kernsift basis -m {name}`, or one of {}",
            SPACES.map(|info| info.name).join(", ")
        )));
    }
    let names = SELECTORS.iter().chain(&SPACES).map(|info| info.name);
    Err(Error::unknown_name("method", name, names).into())
}

/// Puts the options of selectors into one, and refuses those that it does not have.
fn configure(selector: &mut SelectorMethod, args: &SelectArgs) -> Result<(), Failure> {
    let name = format!("-m {}", args.method);
    let weak = [("--weak", args.weak.is_some())];
    let klms = [
        ("--eta", args.eta.is_some()),
        ("--learner-width", args.learner_width.is_some()),
        ("--quantum", args.quantum.is_some()),
    ];
    let relief = [
        ("--relief-neighbors", args.relief_neighbors.is_some()),
        ("--difference", args.difference.is_some()),
    ];
    let rules = [
        ("--weights ensemble", args.weights == Some(WeightsArg::Ensemble)),
        ("--weights individual", args.weights == Some(WeightsArg::Individual)),
    ];
    if !matches!(selector, SelectorMethod::Ffs(_)) {
        refuse(&name, &weak)?;
        refuse(&name, &klms)?;
        refuse(&name, &rules)?;
    }
    if !matches!(selector, SelectorMethod::Relief(_)) {
        refuse(&name, &relief)?;
    }
    let svm = [("--svm-c", args.svm_c.is_some())];
    if !matches!(selector, SelectorMethod::SvmRfe(_) | SelectorMethod::L1Svm(_)) {
        refuse(&name, &svm)?;
    }
    if !matches!(selector, SelectorMethod::SvmRfe(_)) {
        refuse(&name, &[("--step", args.step.is_some())])?;
    }
    match selector {
        SelectorMethod::Ffs(ffs) => {
            match (args.weak, &ffs.weak) {
                (Some(WeakArg::Stump), _) => ffs.weak = WeakLearner::Stump,
                (Some(WeakArg::BalancedStump), _) => ffs.weak = WeakLearner::BalancedStump,
                (Some(WeakArg::Klms), WeakLearner::Stump) => ffs.weak = WeakLearner::Klms(Klms::default()),
                _ => {}
            }
            match &mut ffs.weak {
                WeakLearner::Klms(klms) => {
                    klms.eta = args.eta.unwrap_or(klms.eta);
                    klms.width = args.learner_width.unwrap_or(klms.width);
                    klms.quantum = args.quantum.or(klms.quantum);
                }
                WeakLearner::Stump | WeakLearner::BalancedStump => {
                    match klms.iter().find(|(_, given)| *given) {
                        Some((option, _)) if args.weak.is_none() => {
                            return Err(Failure::Input(format!(
                                "{option} belongs to klms, and the weak classifiers of {name} are stumps; add --weak klms"
                            )));
                        }
                        _ => refuse("--weak stump", &klms)?,
                    }
                }
            }
            if args.weights == Some(WeightsArg::Individual) {
                ffs.weights = WeightRule::Individual;
            }
        }
        SelectorMethod::Relief(relief) => {
            relief.n_neighbors = args.relief_neighbors.unwrap_or(relief.n_neighbors);
            relief.difference = match args.difference {
                Some(DifferenceArg::Squared) => Difference::Squared,
                Some(DifferenceArg::Absolute) => Difference::Absolute,
                None => relief.difference,
            };
        }
        SelectorMethod::SvmRfe(rfe) => {
            rfe.c = args.svm_c.unwrap_or(rfe.c);
            rfe.step = args.step.unwrap_or(rfe.step);
            match args.kernel.kernel {
                None => refuse("the linear kernel of -m svm-rfe", &kernel_options(&args.kernel))?,
                Some(_) => rfe.kernel = choice(&args.kernel)?,
            }
        }
        SelectorMethod::L1Svm(l1) => l1.c = args.svm_c.or(l1.c),
        _ => {}
    }
    scores::configure(selector, &args.scores, &name)
}

/// A failure with parameters named as the user typed them.
fn typed(error: Error) -> Failure {
    let options = [
        ("", "number of features", "-k"),
        ("", "share of features", "-k"),
        ("width_for_dim", "n_components", "--width-for-dim"),
        ("", "n_components", "--components"),
        ("", "tol", "--tol"),
        ("kernel", "degree", "--degree"),
        ("kernel", "coef0", "--coef0"),
        ("KLMS", "eta", "--eta"),
        ("KLMS", "width", "--learner-width"),
        ("KLMS", "quantum", "--quantum"),
        ("Relief", "n_neighbors", "--relief-neighbors"),
        ("Relief", "n_samples", "--samples"),
        ("mutual information", "n_neighbors", "--mi-neighbors"),
        ("Laplacian score", "n_neighbors", "--graph-neighbors"),
        ("Laplacian score", "width", "--graph-width"),
        ("", "n_bins", "--bins"),
        ("", "statistic", "--statistic"),
        ("", "n_neighbors", "--neighbors"),
        ("", "weight_power", "--weight-power"),
        ("", "C", "--svm-c"),
        ("", "step", "--step"),
        ("SVM-RFE", "kernel", "--kernel"),
    ];
    Failure::typed(error, &options)
}
