//! Options of forward selection over weak classifiers, put into it.

use super::refuse;
use crate::args::{SelectArgs, WeakArg, WeightsArg};
use crate::failure::Failure;
use kernsift::select::{Ffs, Klms, SelectorMethod, WeakLearner, WeightRule};

/// Puts the options into a selector, and refuses those that it does not have. `name` is what the user typed for it.
pub fn configure(selector: &mut SelectorMethod, args: &SelectArgs, name: &str) -> Result<(), Failure> {
    let SelectorMethod::Ffs(ffs) = selector else {
        refuse(name, &[("--weak", args.weak.is_some())])?;
        refuse(name, &klms_options(args))?;
        return refuse(
            name,
            &[
                ("--weights ensemble", args.weights == Some(WeightsArg::Ensemble)),
                ("--weights individual", args.weights == Some(WeightsArg::Individual)),
            ],
        );
    };
    ffs_options(ffs, args, name)
}

/// The options of kernel least mean squares, and whether they were given.
fn klms_options(args: &SelectArgs) -> [(&'static str, bool); 3] {
    [
        ("--eta", args.eta.is_some()),
        ("--learner-width", args.learner_width.is_some()),
        ("--quantum", args.quantum.is_some()),
    ]
}

fn ffs_options(ffs: &mut Ffs, args: &SelectArgs, name: &str) -> Result<(), Failure> {
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
            let klms = klms_options(args);
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
    Ok(())
}
