//! What to know about a method before using it.

use serde::Serialize;

/// A line of `kernsift methods`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Info {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// What it selects or computes.
    pub summary: &'static str,
    /// What it needs besides features.
    pub needs: Needs,
    /// Time and memory in samples n, features d, components m.
    pub cost: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
}

/// What a method needs besides features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    /// Nothing: it is unsupervised.
    Nothing,
    /// Class labels.
    Classes,
    /// A continuous target.
    Continuous,
    /// Class labels or a continuous target.
    Target,
    /// Triplets, or a target to draw them from.
    Triplets,
    /// Nothing: it learns nothing; triplets are used for evaluation only.
    Baseline,
}

impl Needs {
    /// In words, for tables of methods.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Nothing => "no target",
            Self::Classes => "classification",
            Self::Continuous => "regression",
            Self::Target => "classification or regression",
            Self::Triplets => "triplets, or a target to draw them from",
            Self::Baseline => "nothing; a baseline",
        }
    }
}

/// Declares a family of methods: an enum with a variant per type, the list of descriptions, lookup by name, and dispatch to
/// the family's trait. A line is `Variant(Type): INFO => default;`, with several pairs for a type with several names.
macro_rules! family {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $trait:ident, $what:literal, $tag:literal, $list:ident {
            $($variant:ident($type:ty): $($info:ident => $make:expr),+;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(tag = $tag, rename_all = "kebab-case")]
        pub enum $name {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        #[doc = concat!("What to know about each ", $what, " before using it.")]
        pub const $list: &[$crate::method::Info] = &[$($(<$type>::$info),+),*];

        impl $name {
            #[doc = concat!("Looks up a ", $what, " by name, with its defaults.")]
            pub fn by_name(name: &str) -> $crate::Result<Self> {
                $($(if name == <$type>::$info.name {
                    return Ok(Self::$variant($make));
                })+)*
                Err($crate::Error::unknown_name($what, name, $list.iter().map(|info| info.name)))
            }

            /// A method by name, with parameters set from text: pairs of name and value.
            pub fn with_settings(name: &str, settings: &[(&str, &str)]) -> $crate::Result<Self> {
                let method = Self::by_name(name)?;
                let known = $list.iter().find(|info| info.name == name).map_or("", |info| info.name);
                $crate::parameters::apply(method, known, settings)
            }

            /// The method itself.
            fn inner(&self) -> &dyn $trait {
                match self { $(Self::$variant(method) => method),* }
            }

            #[allow(dead_code, reason = "not every family changes a method in place")]
            fn inner_mut(&mut self) -> &mut dyn $trait {
                match self { $(Self::$variant(method) => method),* }
            }
        }

        impl $crate::parameters::Parameters for $name {
            fn parameters(&self) -> Vec<$crate::parameters::Parameter> {
                self.inner().parameters()
            }

            fn check_ranges(&self) -> $crate::Result<()> {
                self.inner().check_ranges()
            }
        }

        impl $crate::parameters::ParameterValue for $name {
            fn kinds() -> Vec<$crate::parameters::Kind> {
                vec![]
            }

            fn list(&self, declared: &$crate::parameters::Declared) -> Vec<$crate::parameters::Parameter> {
                $crate::parameters::nested(self.parameters(), declared)
            }
        }
    };
}

pub(crate) use family;
