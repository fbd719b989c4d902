//! All methods of all families: what there is, and the parameters of each.

use crate::basis::{BASES, BasisMethod};
use crate::error::{Error, Result};
use crate::evaluate::{EVALUATORS, Evaluator};
use crate::interactions::InteractionScreen;
use crate::learn::{LEARNERS, LearnerMethod};
use crate::method::Info;
use crate::parameters::{Parameter, Parameters};
use crate::select::{SELECTORS, SelectorMethod};
use crate::significance::{FeatureTest, Knockoffs, Stability};
use crate::space::{KernelSpaceSelector, SPACES};

/// Methods that are used in the same way.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// A short name: `selector`, `screen`, `test`, `stability`, `knockoffs`, `kernel-space`, `basis`, `kernel-learner` or `evaluator`.
    pub name: &'static str,
    /// The methods.
    pub methods: &'static [Info],
}

/// The families.
pub const FAMILIES: [Family; 9] = [
    Family { name: "selector", methods: SELECTORS },
    Family { name: "screen", methods: &[InteractionScreen::INFO] },
    Family { name: "test", methods: &[FeatureTest::INFO] },
    Family { name: "stability", methods: &[Stability::INFO] },
    Family { name: "knockoffs", methods: &[Knockoffs::INFO] },
    Family { name: "kernel-space", methods: &SPACES },
    Family { name: "basis", methods: BASES },
    Family { name: "kernel-learner", methods: LEARNERS },
    Family { name: "evaluator", methods: EVALUATORS },
];

/// A method by name.
pub fn info(name: &str) -> Result<&'static Info> {
    let all = || FAMILIES.iter().flat_map(|family| family.methods);
    all()
        .find(|info| info.name == name)
        .ok_or_else(|| Error::unknown_name("method", name, all().map(|info| info.name)))
}

/// The names of the selectors and evaluators that support weights of rows.
pub fn names_with_weights() -> Vec<&'static str> {
    [SelectorMethod::names_with_weights(), Evaluator::names_with_weights()].concat()
}

/// The parameters of a method with their defaults; empty for a method without parameters.
pub fn parameters(name: &str) -> Result<Vec<Parameter>> {
    match info(name)?.name {
        "interactions" => return Ok(InteractionScreen::default().parameters()),
        "test" => return Ok(FeatureTest::default().parameters()),
        "stability" => return Ok(Stability::default().parameters()),
        "knockoffs" => return Ok(Knockoffs::default().parameters()),
        _ => {}
    }
    let selector = SelectorMethod::by_name(name).map(|method| method.parameters());
    let space = || KernelSpaceSelector::by_name(name).map(|method| method.parameters());
    let basis = || BasisMethod::by_name(name).map(|method| method.parameters());
    let learner = || LearnerMethod::by_name(name).map(|method| method.parameters());
    let evaluator = || Evaluator::by_name(name).map(|method| method.parameters());
    selector.or_else(|_| space()).or_else(|_| basis()).or_else(|_| learner()).or_else(|_| evaluator())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_described_and_its_default_is_valid() {
        for family in FAMILIES {
            for info in family.methods {
                let all = parameters(info.name).unwrap();
                for (at, parameter) in all.iter().enumerate() {
                    let what = format!("{}: {}", info.name, parameter.name);
                    assert!(parameter.description.ends_with('.'), "{what}: {}", parameter.description);
                    assert!(parameter.read(&parameter.default_text()).is_some(), "{what}: default");
                    assert!(all[..at].iter().all(|earlier| earlier.name != parameter.name), "{what} twice");
                }
            }
        }
        assert!(parameters("relif").unwrap_err().to_string().contains("did you mean 'relief'?"));
    }
}
