//! Parameters of methods: name, type, range, default and description, written once beside the field.
//!
//! The [`parameters!`](macro@crate::parameters) macro declares a struct of parameters and [`choices!`](macro@crate::choices) an
//! enum of named values. From these declarations come the help and the checks of the command line, the constraints and
//! docstrings of the Python classes, and the parameter tables of the documentation.
//!
//! ```
//! use kernsift::parameters::Parameters;
//!
//! kernsift::choices! {
//!     /// How to weight samples.
//!     pub enum Weighting {
//!         /// All samples have weight 1.
//!         Uniform = "uniform",
//!         /// Near samples have larger weights.
//!         Distance = "distance",
//!     }
//! }
//!
//! kernsift::parameters! {
//!     /// My method.
//!     pub struct Mine as "my method" {
//!         /// Number of neighbors.
//!         pub n_neighbors: usize = 5, at_least(1);
//!         /// How to weight samples.
//!         pub weighting: Weighting = Weighting::Uniform;
//!     }
//! }
//!
//! let all = Mine::default().parameters();
//! assert_eq!(all[0].name, "n_neighbors");
//! assert_eq!(all[0].expected(), "an integer, at least 1");
//! assert_eq!(all[1].expected(), "uniform or distance");
//! assert!(Mine { n_neighbors: 0, ..Mine::default() }.check_ranges().is_err());
//! ```

mod range;
mod settings;
mod value;

pub use range::Range;
pub use settings::{apply, parse_settings};
pub use value::{Kind, ParameterValue};

use crate::error::{Error, Result};
use serde::Serialize;
use serde_json::Value;

#[doc(hidden)]
pub use serde;

/// A method's parameters, as [`parameters!`](macro@crate::parameters) declares them.
pub trait Parameters {
    /// All parameters, with their present values as defaults.
    fn parameters(&self) -> Vec<Parameter> {
        vec![]
    }

    /// Returns an error if a number is outside its declared range.
    fn check_ranges(&self) -> Result<()> {
        Ok(())
    }
}

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

/// The parameters of a method that is itself a field of another.
pub fn nested(mut all: Vec<Parameter>, declared: &Declared) -> Vec<Parameter> {
    all.iter_mut().for_each(|parameter| parameter.path.insert(0, declared.name.to_owned()));
    all
}

/// Gives nested parameters whose name is taken a qualified one, such as `selector.n_neighbors`.
#[doc(hidden)]
pub fn qualify_duplicates(lists: Vec<Vec<Parameter>>) -> Vec<Parameter> {
    let mut all = lists.concat();
    for at in 1..all.len() {
        let (before, rest) = all.split_at_mut(at);
        if before.iter().any(|earlier| earlier.name == rest[0].name) {
            rest[0].name = rest[0].path.join(".");
        }
    }
    all
}

/// Returns an error if a parameter's number is outside its range.
#[doc(hidden)]
pub fn check_range<T: ParameterValue>(method: &'static str, declared: &Declared, value: &T) -> Result<()> {
    match value.numbers().into_iter().find(|&number| !declared.range.contains(number)) {
        Some(number) => {
            let expected = Parameter::new(declared, value).expected();
            Err(Error::param(method, declared.name, expected, number))
        }
        None => Ok(()),
    }
}

/// Declares the parameters of a method: a struct with documented public fields, its defaults, and [`Parameters`].
///
/// A field is `pub name: Type = default, range(bounds);` with a constructor of [`Range`], or without a range. The text
/// after the struct's `as` names the method in errors; the text after a field's `as` is its public name. See the documentation of the module `parameters` for an example.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident as $title:literal {
            $(
                $(#[doc = $doc:literal])+
                pub $field:ident $(as $public:literal)?: $type:ty = $default:expr $(, $range:ident($($bound:expr),*))?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, $crate::parameters::serde::Serialize, $crate::parameters::serde::Deserialize)]
        #[serde(crate = "kernsift::parameters::serde", default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                $(#[serde(rename = $public)])?
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $crate::parameters::Parameters for $name {
            fn parameters(&self) -> Vec<$crate::parameters::Parameter> {
                $crate::parameters::qualify_duplicates(vec![
                    $($crate::parameters::ParameterValue::list(&self.$field, &$crate::declared!(
                        ($field $($public)?), concat!($($doc, "\n"),+) $(, $range($($bound),*))?
                    ))),*
                ])
            }

            fn check_ranges(&self) -> $crate::Result<()> {
                $($crate::parameters::check_range($title, &$crate::declared!(
                    ($field $($public)?), concat!($($doc, "\n"),+) $(, $range($($bound),*))?
                ), &self.$field)?;)*
                Ok(())
            }
        }
    };
}

/// What a field of [`parameters!`](macro@crate::parameters) declares.
#[doc(hidden)]
#[macro_export]
macro_rules! declared {
    (($($name:tt)+), $doc:expr) => {
        $crate::declared!(($($name)+), $doc, any())
    };
    (($field:ident), $doc:expr, $range:ident($($bound:expr),*)) => {
        $crate::declared!(($field stringify!($field)), $doc, $range($($bound),*))
    };
    (($field:ident $name:expr), $doc:expr, $range:ident($($bound:expr),*)) => {
        $crate::parameters::Declared {
            name: $name,
            description: $doc,
            range: $crate::parameters::Range::$range($($bound as f64),*),
        }
    };
}

/// Declares an enum of named values of a parameter. The first value is the default.
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(#[doc = $first_doc:literal])+ $first:ident = $first_text:literal,
            $($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, Eq,
            $crate::parameters::serde::Serialize, $crate::parameters::serde::Deserialize,
        )]
        #[serde(crate = "kernsift::parameters::serde")]
        pub enum $name {
            $(#[doc = $first_doc])+ #[default] #[serde(rename = $first_text)] $first,
            $($(#[doc = $doc])+ #[serde(rename = $text)] $variant,)*
        }

        impl $crate::parameters::ParameterValue for $name {
            fn kinds() -> Vec<$crate::parameters::Kind> {
                vec![$crate::parameters::Kind::choice(&[
                    ($first_text, concat!($($first_doc, "\n"),+)),
                    $(($text, concat!($($doc, "\n"),+)),)*
                ])]
            }
        }
    };
}

#[cfg(test)]
mod tests;
