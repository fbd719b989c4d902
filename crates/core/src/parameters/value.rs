//! Values that parameters have.

use super::parameter::{Declared, Kind, Parameter};
use serde::Serialize;
use serde_json::Value;

impl Parameter {
    /// A parameter as [`parameters!`](macro@crate::parameters) declares it, with this default.
    pub fn new<T: ParameterValue>(declared: &Declared, default: &T) -> Self {
        let lines: Vec<&str> = declared.description.split('\n').map(str::trim).collect();
        Self {
            name: declared.name.to_owned(),
            kinds: T::kinds(),
            range: declared.range,
            default: serde_json::to_value(default).unwrap_or(Value::Null),
            description: lines.join(" ").trim().to_owned(),
            path: vec![declared.name.to_owned()],
        }
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
