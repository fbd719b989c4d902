//! The parts of an encoder: its scaler, the encoding of each feature alone, for files that other programs read, and the names of
//! encoded columns.

use super::{Encoder, FeatureEncoder};
use crate::data::scale::Standardizer;
#[cfg(feature = "io")]
use crate::data::{impute::Imputer, periods::Circle};
#[cfg(feature = "io")]
use serde::{Deserialize, Serialize};

/// The encoding of a feature, without reference to other features.
#[cfg(feature = "io")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum FeatureEncoding {
    Number {
        /// What replaces a missing value; `None` if missing values are an error.
        fill: Option<f64>,
        shift: f64,
        scale: f64,
        indicator: Option<(f64, f64)>,
        circles: Vec<Circle>,
    },
    Binary {
        levels: usize,
        values: [(usize, f64); 2],
    },
    Category {
        columns: Vec<Option<usize>>,
        frequencies: Vec<f64>,
        scale: f64,
    },
}

#[cfg(feature = "io")]
impl Encoder {
    /// The encoding of each feature.
    pub(crate) fn parts(&self) -> Vec<FeatureEncoding> {
        let number = |j: usize, indicator, circles| FeatureEncoding::Number {
            fill: self.imputer.as_ref().map(|imputer| imputer.values[j]),
            shift: self.scaler.as_ref().map_or(0.0, |scaler| scaler.shift[j]),
            scale: self.scaler.as_ref().map_or(1.0, |scaler| scaler.scale[j]),
            indicator,
            circles,
        };
        let part = |j: usize| match self.features.get(j).cloned() {
            None => number(j, None, vec![]),
            Some(FeatureEncoder::Number { indicator, circles }) => number(j, indicator, circles),
            Some(FeatureEncoder::Binary { levels, values }) => FeatureEncoding::Binary { levels, values },
            Some(FeatureEncoder::Category { columns, frequencies, scale }) => {
                FeatureEncoding::Category { columns, frequencies, scale }
            }
        };
        (0..self.n_features).map(part).collect()
    }

    /// An encoder of these features; `imputes` says whether it replaces missing values. `None` if a fill value is absent.
    pub(crate) fn of_parts(parts: Vec<FeatureEncoding>, imputes: bool) -> Option<Self> {
        let n_features = parts.len();
        let (mut fills, mut shifts, mut scales, mut features) = (vec![], vec![], vec![], vec![]);
        for part in parts {
            // Those of categories are not used.
            let (mut numbers, feature) = ((Some(0.0), 0.0, 1.0), part);
            features.push(match feature {
                FeatureEncoding::Number { fill, shift, scale, indicator, circles } => {
                    numbers = (fill, shift, scale);
                    FeatureEncoder::Number { indicator, circles }
                }
                FeatureEncoding::Binary { levels, values } => FeatureEncoder::Binary { levels, values },
                FeatureEncoding::Category { columns, frequencies, scale } => {
                    FeatureEncoder::Category { columns, frequencies, scale }
                }
            });
            fills.push(numbers.0);
            shifts.push(numbers.1);
            scales.push(numbers.2);
        }
        let imputer = match imputes {
            true => {
                Some(Imputer { values: fills.into_iter().collect::<Option<Vec<_>>>()?.into(), empty: vec![] })
            }
            false => None,
        };
        let scaler = Some(Standardizer { shift: shifts.into(), scale: scales.into(), constant: vec![] });
        Some(Self { n_features, imputer, scaler, features })
    }
}

impl Encoder {
    /// Standardizes numbers; missing values are an error.
    pub(crate) fn of_scaler(scaler: Option<Standardizer>, n_features: usize) -> Self {
        Self { n_features, imputer: None, scaler, features: vec![] }
    }

    /// The names of the encoded columns of a feature with this name and these levels.
    pub(crate) fn column_names(&self, feature: usize, name: &str, levels: &[&str]) -> Vec<String> {
        let level = |code: usize| match levels.get(code) {
            Some(level) => format!("{name}={level}"),
            None if code == levels.len() + 1 => format!("{name} is missing"),
            None => format!("{name} is other"),
        };
        match self.features.get(feature) {
            None => vec![name.to_owned()],
            Some(FeatureEncoder::Number { indicator, circles }) => {
                let indicator = indicator.map(|_| format!("{name} is missing"));
                let points = circles.iter().flat_map(|circle| circle.names(name));
                [name.to_owned()].into_iter().chain(indicator).chain(points).collect()
            }
            Some(FeatureEncoder::Binary { values: [_, (second, _)], .. }) => vec![level(*second)],
            Some(FeatureEncoder::Category { columns, frequencies, .. }) => {
                let codes_of = |column| (0..columns.len()).filter(move |&code| columns[code] == Some(column));
                let label = |column| match codes_of(column).collect::<Vec<_>>().as_slice() {
                    [code] => level(*code),
                    _ => format!("{name} is other"),
                };
                (0..frequencies.len()).map(label).collect()
            }
        }
    }
}
