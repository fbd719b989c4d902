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

mod parameter;
mod range;
mod settings;
mod value;

pub use parameter::{Declared, Kind, Parameter};
pub use range::Range;
pub use settings::{apply, parse_settings};
pub use value::ParameterValue;

use crate::error::{Error, Result};

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
