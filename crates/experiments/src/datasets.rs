//! The papers' data sets, built in or read from a folder.

use crate::paper::Settings;
use kernsift::data::read::{ReadOptions, read_table};
use kernsift::data::{
    BuiltIn, Classes, ColumnOptions, Fold, Prepare, Rows, SparseRows, Standardizer, Target,
};
use kernsift::internals::Rng;
use kernsift::{Context, Dataset, Error, Result};
use ndarray::{Axis, concatenate};
use std::path::Path;

/// Origin of a data set.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Built in, by name.
    BuiltIn,
    /// Files whose rows are concatenated.
    Files(&'static [&'static str]),
    /// The rows of some classes of a file.
    Classes(&'static str, &'static [&'static str]),
}

/// A data set of a paper.
#[derive(Debug, Clone, Copy)]
pub struct DatasetSpec {
    /// Our name.
    pub name: &'static str,
    /// Origin.
    pub source: Source,
}

/// Australian Credit Approval, which has no source under a permissive license.
pub const AUSTRALIAN: DatasetSpec =
    DatasetSpec { name: "australian", source: Source::Files(&["australian.csv"]) };

impl DatasetSpec {
    /// A built-in data set.
    pub const fn built_in(name: &'static str) -> Self {
        Self { name, source: Source::BuiltIn }
    }

    /// Loads the data set. `None` if its files are missing, with a warning if a data folder was given.
    pub fn load(&self, settings: &Settings, ctx: &Context) -> Result<Option<Dataset>> {
        let files = match self.source {
            Source::BuiltIn => return Ok(Some(built_in(self.name)?)),
            Source::Files(files) => files,
            Source::Classes(file, _) => &[file],
        };
        let Some(folder) = &settings.data_dir else { return Ok(None) };
        if !folder.is_dir() {
            return Err(Error::parse("the data folder does not exist").in_file(folder));
        }
        if let Some(missing) = files.iter().map(|file| folder.join(file)).find(|path| !path.is_file()) {
            ctx.warn(format!("skipping {}: {} does not exist", self.name, missing.display()));
            return Ok(None);
        }
        let mut parts = files.iter().map(|file| read(&folder.join(file)));
        let first = parts.next().expect("a data set has a file")?;
        let data = parts.try_fold(first, |above, below| concatenate_rows(&above, &below?))?;
        match self.source {
            Source::Classes(_, names) => with_classes(&data, names).map(Some),
            _ => Ok(Some(data)),
        }
    }
}

/// Names the data sets whose results are missing, for a remark under a table.
pub fn not_run(names: &[&str]) -> String {
    format!(
        "Not run: {}. Pass a folder with its file (`{}.csv`) as `--data-dir`.",
        names.join(", "),
        names.join(".csv`, `")
    )
}

/// A built-in data set.
pub fn built_in(name: &str) -> Result<Dataset> {
    BuiltIn::by_name(name)?.data()
}

fn read(path: &Path) -> Result<Dataset> {
    let (table, _) = read_table(path, &ReadOptions::default(), &Context::default())?;
    let prepare = Prepare { columns: ColumnOptions::all(), ..Prepare::default() };
    Ok(prepare.fit(&table).map_err(|error| error.in_file(path))?.data)
}

/// Concatenates the rows of two parts. Sparse parts may differ in their number of columns.
fn concatenate_rows(above: &Dataset, below: &Dataset) -> Result<Dataset> {
    let names = if above.d() >= below.d() { above.names() } else { below.names() };
    let x = match (above.x(), below.x()) {
        (Rows::Dense(a), Rows::Dense(b)) if above.d() == below.d() => {
            Rows::from(concatenate(Axis(0), &[a.view(), b.view()]).expect("as many columns"))
        }
        (Rows::Sparse(a), Rows::Sparse(b)) => {
            let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
            for part in [a, b] {
                for i in 0..part.n_rows() {
                    let (columns, values) = part.row(i);
                    column.extend_from_slice(columns);
                    value.extend_from_slice(values);
                    start.push(column.len());
                }
            }
            Rows::from(SparseRows::new(names.len(), start, column, value)?)
        }
        _ => {
            return Err(Error::Shape {
                what: "columns of the second part of a data set".into(),
                expected: above.d().to_string(),
                got: below.d().to_string(),
            });
        }
    };
    // A part may have rows of one class only.
    let (Target::Classes(a), Target::Classes(b)) = (above.target(), below.target()) else {
        return Err(Error::param("data set", "target", "classes", "another type"));
    };
    let mut names_of_classes = a.names.clone();
    let mut codes = a.codes.clone();
    for &code in &b.codes {
        let name = &b.names[code];
        let known = names_of_classes.iter().position(|known| known == name);
        codes.push(known.unwrap_or_else(|| {
            names_of_classes.push(name.clone());
            names_of_classes.len() - 1
        }));
    }
    Dataset::new(names.to_vec(), x, Target::Classes(Classes::new(codes, names_of_classes)?))
}

/// The rows of the named classes.
fn with_classes(data: &Dataset, names: &[&str]) -> Result<Dataset> {
    let classes = data.classes("selecting classes")?;
    let rows: Vec<usize> =
        (0..data.n()).filter(|&i| names.contains(&classes.names[classes.codes[i]].as_str())).collect();
    let code = |i: &usize| names.iter().position(|name| *name == classes.names[classes.codes[*i]]);
    let codes = rows.iter().filter_map(code).collect();
    let target = Target::Classes(Classes::new(codes, names.iter().map(|&name| name.to_owned()).collect())?);
    Dataset::new(data.names().to_vec(), data.x().take_rows(&rows), target)
}

/// A random sample of rows, not stratified, in their original order.
pub fn sample_rows(data: &Dataset, rows: usize, seed: u64) -> Dataset {
    data.take_rows(&Rng::new(seed).sample(data.n(), rows))
}

/// A random split with `n_train` training rows.
pub fn random_split(n: usize, n_train: usize, seed: u64) -> Fold {
    let train = Rng::new(seed).sample(n, n_train);
    let test = (0..n).filter(|i| train.binary_search(i).is_err()).collect();
    Fold { train, test }
}

/// Training and test rows, standardized by the training rows.
pub fn standardized(data: &Dataset, fold: &Fold) -> Result<(Dataset, Dataset)> {
    let (train, test) = (data.take_rows(&fold.train), data.take_rows(&fold.test));
    let scaler = Standardizer::fit(train.x());
    Ok((train.with_x(scaler.apply(train.x())?)?, test.with_x(scaler.apply(test.x())?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn parts_are_concatenated() {
        let classes = |codes: Vec<usize>, names: &[&str]| {
            Target::Classes(Classes::new(codes, names.iter().map(|n| (*n).to_owned()).collect()).unwrap())
        };
        let names = || vec!["a".to_owned(), "b".to_owned()];
        let a = Dataset::new(names(), array![[1.0, 2.0], [3.0, 4.0]], classes(vec![0, 1], &["no", "yes"]));
        let b = Dataset::new(names(), array![[5.0, 6.0]], classes(vec![0], &["yes"]));
        let data = concatenate_rows(&a.unwrap(), &b.unwrap()).unwrap();
        assert_eq!(data.x().to_dense(), array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        assert_eq!(data.classes("test").unwrap().codes, [0, 1, 1]);
        let wide = SparseRows::new(3, vec![0, 1], vec![2], vec![7.0]).unwrap();
        let narrow = SparseRows::new(1, vec![0, 1], vec![0], vec![8.0]).unwrap();
        let sparse = |x, d: usize| {
            Dataset::new((0..d).map(|j| format!("c{j}")).collect(), Rows::from(x), classes(vec![0], &["1"]))
        };
        let data = concatenate_rows(&sparse(narrow, 1).unwrap(), &sparse(wide, 3).unwrap()).unwrap();
        assert_eq!(data.x().to_dense(), array![[8.0, 0.0, 0.0], [0.0, 0.0, 7.0]]);
        assert_eq!(data.names(), ["c0", "c1", "c2"]);
    }

    #[test]
    fn classes_are_selected_by_name() {
        let iris = built_in("iris").unwrap();
        let names = iris.classes("test").unwrap().names.clone();
        let two = with_classes(&iris, &[&names[2], &names[0]]).unwrap();
        assert_eq!(two.n(), 100);
        assert_eq!(two.classes("test").unwrap().counts(), [50, 50]);
        assert_eq!(two.classes("test").unwrap().names[0], names[2]);
    }

    #[test]
    fn data_set_without_its_files_is_skipped() {
        let set = DatasetSpec { name: "arcene", source: Source::Files(&["arcene_train.csv.gz"]) };
        let ctx = Context::default();
        assert!(set.load(&Settings::default(), &ctx).unwrap().is_none());
        let folder = tempfile::tempdir().unwrap();
        let settings = |path: &Path| Settings { data_dir: Some(path.to_owned()), ..Settings::default() };
        assert!(set.load(&settings(folder.path()), &ctx).unwrap().is_none());
        let message = set.load(&settings(&folder.path().join("x")), &ctx).unwrap_err().to_string();
        assert!(message.contains("does not exist"), "{message}");
    }
}
