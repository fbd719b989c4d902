//! The learner and its baselines, as the command line names them.

use crate::args::DesignArgs;
use crate::commands::options::no_such_method;
use crate::failure::Failure;
use kernsift::Error;
use kernsift::learn::{KernelLearner, LEARNERS, LearnerMethod};

/// The default learner.
pub const DEFAULT_METHOD: &str = "design";
/// The default baselines.
const BASELINES: [&str; 4] = ["gaussian", "linear", "polynomial", "average"];

/// The learner with its parameters.
pub fn method(args: &DesignArgs) -> Result<LearnerMethod, Failure> {
    let (name, settings) = args.method.split(DEFAULT_METHOD)?;
    let method = LearnerMethod::with_settings(name, &settings).map_err(no_such_method)?;
    match &method {
        LearnerMethod::Design(design) => design.validate()?,
        LearnerMethod::Average(average) => average.bases.check()?,
        _ => {}
    }
    Ok(method)
}

/// The learners to compare with it. The average has the kernels of a design.
pub fn baselines(args: &DesignArgs, method: &LearnerMethod) -> Result<Vec<LearnerMethod>, Failure> {
    let asked: Vec<&str> = match &args.baselines {
        None => BASELINES.to_vec(),
        Some(names) => names.iter().map(|name| name.trim()).collect(),
    };
    if asked == ["none"] {
        return Ok(vec![]);
    }
    let mut names: Vec<&str> = vec![];
    for name in asked {
        match name {
            "all" => names.extend(LEARNERS.iter().map(|info| info.name)),
            "none" => return Err(Failure::Input("--baselines none cannot be combined with others".into())),
            name => names.push(name),
        }
    }
    let mut learners: Vec<LearnerMethod> = vec![];
    for name in names {
        let mut learner = LearnerMethod::by_name(name)?;
        if let (LearnerMethod::Average(average), LearnerMethod::Design(design)) = (&mut learner, method) {
            average.bases = design.bases.clone();
        }
        if learner.name() != method.name() && learners.iter().all(|known| known.name() != learner.name()) {
            learners.push(learner);
        }
    }
    Ok(learners)
}

/// An error with parameters named by the options that set them.
pub fn typed(error: Error) -> Failure {
    Failure::typed(error, &[("drawing triplets", "n", "--n-triplets"), ("", "test_size", "--hold-out")])
}
