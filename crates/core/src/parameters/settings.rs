//! Settings as text: `n_neighbors=20`.

use super::{Kind, Parameter, Parameters};
use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

/// The largest integer that a number in a settings text may stand for.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Splits `name:key=value,key=value` into the name and its settings. Commas inside brackets do not split.
pub fn parse_settings(text: &str) -> Result<(&str, Vec<(&str, &str)>)> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut depth = 0_usize;
    let split = |c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let settings = rest.split(split).filter(|setting| !setting.is_empty()).map(|setting| {
        setting.split_once('=').map(|(key, value)| (key.trim(), value.trim())).ok_or_else(|| {
            Error::parse(format!(
                "'{setting}' is not a setting of {name}; write {name}:NAME=VALUE, and lists as NAME=[A,B]"
            ))
        })
    });
    Ok((name, settings.collect::<Result<_>>()?))
}

/// Sets parameters from text: pairs of name and value. `method` is the name in errors.
pub fn apply<T>(mut to: T, method: &'static str, settings: &[(&str, &str)]) -> Result<T>
where
    T: Parameters + Serialize + DeserializeOwned,
{
    for (name, text) in settings {
        to = with(&to, method, name, text)?;
    }
    Ok(to)
}

fn with<T>(of: &T, method: &'static str, name: &str, text: &str) -> Result<T>
where
    T: Parameters + Serialize + DeserializeOwned,
{
    let all = of.parameters();
    let Some(parameter) = all.iter().find(|parameter| parameter.name == name) else {
        let names = all.iter().map(|parameter| parameter.name.as_str());
        if all.is_empty() {
            return Err(Error::parse(format!("{method} has no parameters; leave out '{name}'")));
        }
        return Err(Error::unknown_name("parameter", name, names));
    };
    let wrong = || Error::param(method, parameter.name.clone(), parameter.expected(), format!("'{text}'"));
    let value = parameter.read(text).ok_or_else(wrong)?;
    let mut settings = serde_json::to_value(of).map_err(|error| Error::parse(error.to_string()))?;
    let mut at = &mut settings;
    for key in &parameter.path {
        at = at.get_mut(key).ok_or_else(wrong)?;
    }
    *at = value;
    serde_json::from_value(settings).map_err(|_| wrong())
}

impl Parameter {
    /// The value that a text stands for, if it is one of the types and in the range.
    pub fn read(&self, text: &str) -> Option<Value> {
        self.kinds.iter().find_map(|kind| self.read_as(kind, text))
    }

    fn read_as(&self, kind: &Kind, text: &str) -> Option<Value> {
        match kind {
            Kind::None => (text.eq_ignore_ascii_case("none")).then_some(Value::Null),
            Kind::Boolean => match text {
                "true" | "True" => Some(Value::Bool(true)),
                "false" | "False" => Some(Value::Bool(false)),
                _ => None,
            },
            Kind::Integer => {
                let number = text.parse::<f64>().ok()?;
                let fits = self.range.contains(number) && number.abs() <= LARGEST_INTEGER;
                let is_integer = number.fract() == 0.0 && !text.contains('.');
                (fits && is_integer).then(|| Value::Number((number as i64).into()))
            }
            Kind::Real => {
                let number = text.parse::<f64>().ok().filter(|&number| self.range.contains(number))?;
                Number::from_f64(number).map(Value::Number)
            }
            Kind::Choice { values } => {
                values.iter().find(|value| value.name == text).map(|value| Value::from(value.name))
            }
            Kind::Reals => self.read_list(&Kind::Real, text),
            Kind::Choices { values } => self.read_list(&Kind::Choice { values: values.clone() }, text),
        }
    }

    /// A list separated by commas, with or without brackets.
    fn read_list(&self, kind: &Kind, text: &str) -> Option<Value> {
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        inner.split(',').map(|part| self.read_as(kind, part.trim())).collect::<Option<_>>().map(Value::Array)
    }
}
