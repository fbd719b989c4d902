//! Types of values that parameters have.

use super::{Declared, Parameter};
use serde::Serialize;

/// A type of value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Kind {
    /// No value; the description says what that means.
    None,
    /// True or false.
    Boolean,
    /// An integer in the parameter's range.
    Integer,
    /// A number in the parameter's range.
    Real,
    /// A list of numbers in the parameter's range.
    Reals,
    /// One of several names.
    Choice {
        /// The names.
        values: Vec<Named>,
    },
    /// A list of such names.
    Choices {
        /// The names.
        values: Vec<Named>,
    },
}

/// A named value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// What it means.
    pub description: String,
}

impl Kind {
    /// One of several names, each with a description.
    pub fn choice(values: &[(&'static str, &str)]) -> Self {
        let named = |&(name, text): &(&'static str, &str)| Named {
            name,
            description: text.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned(),
        };
        Self::Choice { values: values.iter().map(named).collect() }
    }
}

/// A value that a parameter can have.
pub trait ParameterValue: Serialize + Sized {
    /// The types of value; none for a nested method, which is set by its own parameters.
    fn kinds() -> Vec<Kind>;

    /// The numbers it holds, which must be in the parameter's range.
    fn numbers(&self) -> Vec<f64> {
        vec![]
    }

    /// The parameters that a field of this type declares: usually one, for nested methods all of theirs.
    fn list(&self, declared: &Declared) -> Vec<Parameter> {
        vec![Parameter::new(declared, self)]
    }
}

impl ParameterValue for bool {
    fn kinds() -> Vec<Kind> {
        vec![Kind::Boolean]
    }
}

impl ParameterValue for f64 {
    fn kinds() -> Vec<Kind> {
        vec![Kind::Real]
    }

    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl ParameterValue for usize {
    fn kinds() -> Vec<Kind> {
        vec![Kind::Integer]
    }

    fn numbers(&self) -> Vec<f64> {
        vec![*self as f64]
    }
}

impl ParameterValue for u32 {
    fn kinds() -> Vec<Kind> {
        vec![Kind::Integer]
    }

    fn numbers(&self) -> Vec<f64> {
        vec![f64::from(*self)]
    }
}

impl ParameterValue for Vec<f64> {
    fn kinds() -> Vec<Kind> {
        vec![Kind::Reals]
    }

    fn numbers(&self) -> Vec<f64> {
        self.clone()
    }
}

impl<T: ParameterValue> ParameterValue for Option<T> {
    fn kinds() -> Vec<Kind> {
        let mut kinds = T::kinds();
        kinds.push(Kind::None);
        kinds
    }

    fn numbers(&self) -> Vec<f64> {
        self.as_ref().map_or(vec![], T::numbers)
    }

    /// A nested method that may be missing has its parameters where it is there.
    fn list(&self, declared: &Declared) -> Vec<Parameter> {
        match self {
            _ if !T::kinds().is_empty() => vec![Parameter::new(declared, self)],
            Some(method) => method.list(declared),
            None => vec![],
        }
    }
}
