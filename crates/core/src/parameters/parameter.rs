//! One parameter of a method, as it is described to users.

use super::range::Range;
use serde::Serialize;
use serde_json::Value;

/// One parameter of a method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// The name, the same in Rust, Python and on the command line.
    pub name: String,
    /// The types of value that it takes.
    pub kinds: Vec<Kind>,
    /// The range of its numbers.
    pub range: Range,
    /// The default.
    pub default: Value,
    /// What it does, in one or more sentences.
    pub description: String,
    /// Where its value is in the method's serialized form.
    #[serde(skip)]
    pub path: Vec<String>,
}

impl Parameter {
    /// The values it takes, in words: `an integer, at least 1, or none`.
    pub fn expected(&self) -> String {
        let numbers = |text: &str| match self.range.describe() {
            range if range.is_empty() => text.to_owned(),
            range => format!("{text}, {range}"),
        };
        let mut names = vec![];
        let mut parts = vec![];
        for kind in &self.kinds {
            match kind {
                Kind::Integer => parts.push(numbers("an integer")),
                Kind::Real => parts.push(numbers("a number")),
                Kind::Boolean => parts.push("true or false".to_owned()),
                Kind::Reals => parts.push(numbers("a list of numbers")),
                Kind::Choices { values } => {
                    let names: Vec<&str> = values.iter().map(|value| value.name).collect();
                    parts.push(format!("a list of {}", names.join(", ")));
                }
                Kind::Choice { values } => names.extend(values.iter().map(|value| value.name)),
                Kind::None => {}
            }
        }
        if self.kinds.contains(&Kind::None) {
            names.push("none");
        }
        let listed = match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => return parts.join(" or "),
        };
        parts.push(listed);
        if parts.len() > 1 && self.range.describe().is_empty() {
            parts.join(" or ")
        } else {
            parts.join(", or ")
        }
    }

    /// The default as it is typed in a setting.
    pub fn default_text(&self) -> String {
        fn text(value: &Value) -> String {
            match value {
                Value::Null => "none".to_owned(),
                Value::String(text) => text.clone(),
                Value::Array(values) => {
                    format!("[{}]", values.iter().map(text).collect::<Vec<_>>().join(", "))
                }
                value => value.to_string(),
            }
        }
        text(&self.default)
    }
}

/// What a field declares about its parameter.
#[derive(Debug, Clone, Copy)]
pub struct Declared {
    /// The field's name.
    pub name: &'static str,
    /// Its documentation.
    pub description: &'static str,
    /// Its range.
    pub range: Range,
}

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
