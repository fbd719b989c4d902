//! A kernel as the user specifies it; $\gamma$ may depend on the data.

use super::bandwidth::{median_bytes, weighted_median_gamma, weighted_scale_gamma};
use super::formula::{Family, Kernel};
use crate::context::Context;
use crate::data::{Rows, Weights};
use crate::error::{Error, Result};
use crate::parameters::{Declared, Kind, Parameter, ParameterValue, Range};
use serde::de::value::MapAccessDeserializer;
use serde::de::{IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Formatter;

/// How gamma is chosen. Serialized as `"median"`, `"scale"` or a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gamma {
    /// The median heuristic, see [`median_gamma`](super::median_gamma).
    Median,
    /// scikit-learn's "scale", see [`scale_gamma`](super::scale_gamma).
    Scale,
    /// A number.
    #[serde(untagged)]
    Value(f64),
}

impl ParameterValue for Gamma {
    fn kinds() -> Vec<Kind> {
        let rules = Kind::choice(&[
            ("median", "By the median distance between samples."),
            ("scale", "1 / (number of features * variance), as in scikit-learn."),
        ]);
        vec![rules, Kind::Real]
    }

    fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Value(gamma) => vec![*gamma],
            _ => vec![],
        }
    }
}

/// A kernel to be resolved on the training rows. Deserializes also from a name such as `"rbf"`, with the other settings of
/// [`KernelChoice::default`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelChoice {
    /// By name.
    Named {
        /// The kernel's family.
        family: Family,
        /// $\gamma$; ignored by the linear kernel.
        gamma: Gamma,
        /// Degree, for polynomials.
        degree: u32,
        /// Constant, for polynomials.
        coef0: f64,
    },
    /// A kernel with all its parameters.
    Fixed(Kernel),
}

impl Default for KernelChoice {
    /// RBF with $\gamma$ by the median heuristic.
    fn default() -> Self {
        Self::Named { family: Family::Rbf, gamma: Gamma::Median, degree: 3, coef0: 1.0 }
    }
}

/// [`KernelChoice`] as serialized.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Full {
    Named { family: Family, gamma: Gamma, degree: u32, coef0: f64 },
    Fixed(Kernel),
}

impl<'de> Deserialize<'de> for KernelChoice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct NameOrSettings;
        impl<'de> Visitor<'de> for NameOrSettings {
            type Value = KernelChoice;

            fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
                f.write_str("the name of a kernel, or a kernel with its settings")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<KernelChoice, E> {
                let family = Family::deserialize(name.into_deserializer())?;
                Ok(KernelChoice::Named { family, gamma: Gamma::Median, degree: 3, coef0: 1.0 })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<KernelChoice, A::Error> {
                Ok(match Full::deserialize(MapAccessDeserializer::new(map))? {
                    Full::Named { family, gamma, degree, coef0 } => {
                        KernelChoice::Named { family, gamma, degree, coef0 }
                    }
                    Full::Fixed(kernel) => KernelChoice::Fixed(kernel),
                })
            }
        }
        from.deserialize_any(NameOrSettings)
    }
}

impl From<Kernel> for KernelChoice {
    fn from(kernel: Kernel) -> Self {
        Self::Fixed(kernel)
    }
}

impl ParameterValue for KernelChoice {
    fn kinds() -> Vec<Kind> {
        Family::kinds()
    }

    /// `kernel`, `gamma`, `degree` and `coef0`. A definite kernel has no parameters.
    fn list(&self, declared: &Declared) -> Vec<Parameter> {
        let Self::Named { family, gamma, degree, coef0 } = self else { return vec![] };
        let field = |name, description, range| Declared { name, description, range };
        let mut all = vec![
            Parameter { path: vec!["family".into()], ..Parameter::new(declared, family) },
            Parameter::new(&field("gamma", GAMMA, Range::above(0.0)), gamma),
            Parameter::new(&field("degree", DEGREE, Range::at_least(1.0)), degree),
            Parameter::new(&field("coef0", COEF0, Range::any()), coef0),
        ];
        for parameter in &mut all {
            parameter.path.splice(0..0, [declared.name.to_owned(), "named".to_owned()]);
        }
        all
    }
}

const GAMMA: &str = "Coefficient of the rbf, poly and laplacian kernels, for example exp(-gamma ||x-y||²); not used by linear.";
const DEGREE: &str = "Degree of the poly kernel; not used by other kernels.";
const COEF0: &str = "Constant of the poly kernel; not used by other kernels.";

impl KernelChoice {
    /// The kernel for these training rows.
    pub fn resolve(&self, x: &Rows, ctx: &Context) -> Result<Kernel> {
        self.resolve_weighted(x, Weights::ONE, ctx)
    }

    /// The kernel for these training rows with a weight per row.
    pub fn resolve_weighted(&self, x: &Rows, weights: Weights, ctx: &Context) -> Result<Kernel> {
        let kernel = match self {
            Self::Fixed(kernel) => kernel.clone(),
            Self::Named { family: Family::Linear, .. } => Kernel::Linear,
            Self::Named { family, gamma, degree, coef0 } => {
                let gamma = match gamma {
                    Gamma::Median => {
                        let advice = "give gamma as a number, or use fewer columns";
                        ctx.need_memory("the median distance", median_bytes(x), advice)?;
                        weighted_median_gamma(*family, x, weights, ctx.seed)?
                    }
                    Gamma::Scale => weighted_scale_gamma(x, weights)?,
                    Gamma::Value(gamma) => *gamma,
                };
                match family {
                    Family::Rbf => Kernel::Rbf { gamma },
                    Family::Laplacian => Kernel::Laplacian { gamma },
                    Family::Poly => Kernel::Polynomial { degree: *degree, gamma, coef0: *coef0 },
                    Family::Linear => Kernel::Linear,
                }
            }
        };
        kernel.validate(x.d())?;
        ctx.note(format!("kernel: {}", kernel.describe()));
        Ok(kernel)
    }

    /// Validates the parameters that do not depend on data.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Named { gamma: Gamma::Value(gamma), .. } if !(*gamma > 0.0 && gamma.is_finite()) => {
                Err(Error::param("kernel", "gamma", "a positive finite number", gamma))
            }
            Self::Named { family: Family::Poly, degree: 0, .. } => {
                Err(Error::param("kernel", "degree", "1 or more", 0))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_name_is_read_and_the_serialized_form_round_trips() {
        let read = |text: &str| serde_json::from_str::<KernelChoice>(text).map_err(|e| e.to_string());
        assert_eq!(read("\"rbf\"").unwrap(), KernelChoice::default());
        assert!(matches!(read("\"linear\""), Ok(KernelChoice::Named { family: Family::Linear, .. })));
        let written = serde_json::to_string(&KernelChoice::default()).unwrap();
        assert_eq!(written, r#"{"named":{"family":"rbf","gamma":"median","degree":3,"coef0":1.0}}"#);
        assert_eq!(read(&written).unwrap(), KernelChoice::default());
        let fixed = KernelChoice::Fixed(Kernel::Rbf { gamma: 0.5 });
        assert_eq!(read(&serde_json::to_string(&fixed).unwrap()).unwrap(), fixed);
        let error = read("\"rfb\"").unwrap_err();
        assert!(error.contains("unknown variant `rfb`, expected one of `rbf`, `linear`"), "{error}");
        assert!(
            read("3").unwrap_err().contains("expected the name of a kernel, or a kernel with its settings")
        );
    }

    #[test]
    fn names_become_kernels() {
        let x: Rows = array![[0.0], [1.0], [4.0]].into();
        let ctx = Context::default();
        assert_eq!(KernelChoice::default().resolve(&x, &ctx).unwrap(), Kernel::Rbf { gamma: 1.0 / 18.0 });
        let poly =
            KernelChoice::Named { family: Family::Poly, gamma: Gamma::Value(0.5), degree: 2, coef0: 0.0 };
        let expected = Kernel::Polynomial { degree: 2, gamma: 0.5, coef0: 0.0 };
        assert_eq!(poly.resolve(&x, &ctx).unwrap(), expected);
        let bad =
            KernelChoice::Named { family: Family::Rbf, gamma: Gamma::Value(-1.0), degree: 2, coef0: 0.0 };
        assert!(bad.validate().is_err() && bad.resolve(&x, &ctx).is_err());
    }
}
