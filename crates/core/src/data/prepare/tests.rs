use super::target::is_categorical;
use super::*;
use crate::data::SparseRows;
use ndarray::array;

fn table() -> Table {
    Table::new(vec![
        Column::numeric("size", vec![1.0, f64::NAN, 4.0, 7.0]),
        Column::text("color", [Some("red"), Some("blue"), Some("red"), Some("green")].into_iter()),
        Column::numeric("class", vec![1.0, 2.0, 1.0, 2.0]),
    ])
    .unwrap()
}

fn message(prepare: &Prepare, table: &Table) -> String {
    prepare.fit(table).unwrap_err().to_string()
}

#[test]
fn missing_values_and_text_are_errors_by_default() {
    assert_eq!(message(&Prepare::default(), &table()), "row 2, column 'size': missing value");
    let drop = Prepare { missing: Missing::Drop, ..Prepare::default() };
    assert_eq!(message(&drop, &table()), "row 1, column 'color': cannot parse 'red' as a number");
}

#[test]
fn missing_values_are_dropped_or_imputed() {
    let numbers = |missing| {
        let prepare = Prepare { missing, categorical: Categorical::Ordinal, ..Prepare::default() };
        prepare.fit(&table()).unwrap().data.x().to_dense().column(0).to_vec()
    };
    assert_eq!(numbers(Missing::Drop), [1.0, 4.0, 7.0]);
    assert_eq!(numbers(Missing::Mean), [1.0, 4.0, 4.0, 7.0]);
    assert_eq!(numbers(Missing::Median), [1.0, 4.0, 4.0, 7.0]);
}

#[test]
fn missing_values_are_kept() {
    let table = Table::new(vec![
        Column::numeric("size", vec![1.0, f64::NAN, 4.0]),
        Column::text("color", [Some("red"), Some("blue"), None].into_iter()),
        Column::numeric("class", vec![1.0, 2.0, 1.0]),
    ])
    .unwrap();
    let rows = |categorical| {
        let prepared =
            Prepare { missing: Missing::Keep, categorical, ..Prepare::default() }.fit(&table).unwrap();
        assert!(prepared.data.has_missing() && prepared.rows == [0, 1, 2]);
        // New tables keep their missing values too.
        let (again, _) = prepared.recipe.apply(&table).unwrap();
        assert!(again.has_missing());
        format!("{:?}", again.x().to_dense())
    };
    let text = rows(Categorical::Ordinal);
    assert!(text.starts_with("[[1.0, 1.0],\n [NaN, 0.0],\n [4.0, NaN]]"), "{text}");
    // All columns of a missing category are NaN.
    let text = rows(Categorical::OneHot);
    assert!(text.starts_with("[[1.0, 0.0, 1.0],\n [NaN, 1.0, 0.0],\n [4.0, NaN, NaN]]"), "{text}");
}

#[test]
fn text_is_encoded() {
    let prepare = |categorical| Prepare { missing: Missing::Mean, categorical, ..Prepare::default() };
    let data = prepare(Categorical::OneHot).fit(&table()).unwrap().data;
    assert_eq!(data.names(), ["size", "color=blue", "color=green", "color=red"]);
    assert_eq!(data.x().to_dense().row(1).to_vec(), [4.0, 1.0, 0.0, 0.0]);
    let data = prepare(Categorical::Ordinal).fit(&table()).unwrap().data;
    assert_eq!(data.x().to_dense().column(1).to_vec(), [2.0, 0.0, 2.0, 1.0]);
}

#[test]
fn the_target_is_chosen_automatically_or_by_name() {
    let prepare = Prepare { missing: Missing::Mean, categorical: Categorical::Ordinal, ..Prepare::default() };
    let prepared = prepare.fit(&table()).unwrap();
    assert_eq!(prepared.notes, ["target: 'class' (by its name)"]);
    assert_eq!(prepared.data.classes("m").unwrap().names, ["1", "2"]);
    let last =
        Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("b", vec![0.5, 2.0])]).unwrap();
    let prepared = Prepare::default().fit(&last).unwrap();
    assert_eq!(prepared.notes, ["target: 'b' (the last column; none is called target, class, label or y)"]);
    assert_eq!(prepared.data.target(), &Target::Continuous(vec![0.5, 2.0]));
    let by_name = Prepare { target: TargetChoice::AutoByName, ..prepare.clone() };
    assert_eq!(by_name.fit(&table()).unwrap().notes, ["target: 'class' (by its name)"]);
    let by_name = by_name.fit(&last).unwrap();
    assert!(by_name.notes.is_empty() && by_name.data.d() == 2 && by_name.recipe.n_features() == 2);
    let none = Prepare { target: TargetChoice::None, ..Prepare::default() }.fit(&last).unwrap();
    assert_eq!((none.data.d(), none.data.target()), (2, &Target::None));
    let named = Prepare { target: TargetChoice::Named("clas".into()), ..prepare };
    assert_eq!(message(&named, &table()), "no column 'clas'; did you mean 'class'?");
}

#[test]
fn integers_with_few_distinct_values_are_classes() {
    let is_class = |values: Vec<f64>| {
        let rows: Vec<usize> = (0..values.len()).collect();
        is_categorical(&Column::numeric("y", values), &rows)
    };
    assert!(is_class(vec![0.0, 1.0, 1.0, 0.0]));
    assert!(!is_class(vec![0.5, 1.0, 1.0, 0.0]));
    // As many values as rows: a count or an identifier, not a class.
    assert!(!is_class(vec![1.0, 2.0, 3.0, 4.0]));
}

#[test]
fn the_target_type_can_be_set() {
    let table =
        Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("y", vec![3.0, 4.0])]).unwrap();
    let class = Prepare { target_type: TargetType::Classes, ..Prepare::default() }.fit(&table).unwrap();
    assert_eq!(class.data.classes("m").unwrap().codes, [0, 1]);
    let text = Table::new(vec![
        Column::numeric("a", vec![1.0, 2.0]),
        Column::text("y", [Some("u"), Some("v")].into_iter()),
    ]);
    let number = Prepare { target_type: TargetType::Continuous, ..Prepare::default() };
    assert!(message(&number, &text.unwrap()).contains("cannot parse 'u' as a number"));
}

#[test]
fn new_tables_are_encoded_in_the_same_way() {
    let prepare = Prepare { missing: Missing::Mean, categorical: Categorical::OneHot, ..Prepare::default() };
    let recipe = prepare.fit(&table()).unwrap().recipe;
    // Reordered, with an extra column, without a target.
    let new = Table::new(vec![
        Column::text("color", [Some("green")].into_iter()),
        Column::numeric("extra", vec![9.0]),
        Column::numeric("size", vec![f64::NAN]),
    ])
    .unwrap();
    let (data, rows) = recipe.apply(&new).unwrap();
    assert_eq!((data.x().to_dense(), rows), (array![[4.0, 0.0, 1.0, 0.0]], vec![0]));
    let unknown = Table::new(vec![
        Column::text("color", [Some("black")].into_iter()),
        Column::numeric("size", vec![1.0]),
    ]);
    let error = recipe.apply(&unknown.unwrap()).unwrap_err().to_string();
    assert!(error.contains("category 'black' is not in the training data"), "{error}");
    let short = Table::new(vec![Column::numeric("size", vec![1.0])]).unwrap();
    assert!(recipe.apply(&short).unwrap_err().to_string().contains("no column 'color'"));
}

#[test]
fn sparse_tables_are_matched_by_column_number() {
    let sparse = |names: &[&str], column: u32| Table::Sparse {
        names: names.iter().map(|n| n.to_string()).collect(),
        x: SparseRows::new(names.len(), vec![0, 1], vec![column], vec![5.0]).unwrap(),
        target: Some(Column::numeric("target", vec![1.0])),
    };
    let prepare = Prepare::default();
    let recipe = prepare.fit(&sparse(&["f1", "f2", "f3"], 0)).unwrap().recipe;
    // A file with fewer columns, and one whose columns start at 0.
    assert_eq!(recipe.apply(&sparse(&["f1", "f2"], 1)).unwrap().0.x().to_dense(), array![[0.0, 5.0, 0.0]]);
    assert_eq!(recipe.apply(&sparse(&["f0", "f1"], 1)).unwrap().0.x().to_dense(), array![[5.0, 0.0, 0.0]]);
    // A recipe with named columns does not match numbered ones.
    let named = prepare.fit(&Table::new(vec![Column::numeric("a", vec![1.0, 2.0])]).unwrap());
    assert!(named.is_err(), "only a target");
    let table = Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("y", vec![1.0, 2.0])]);
    let recipe = prepare.fit(&table.unwrap()).unwrap().recipe;
    assert_eq!(recipe.apply(&sparse(&["f1"], 0)).unwrap_err().to_string(), "no column 'a'; there are f1");
    // A feature of a sparse file cannot be the target.
    let other = Prepare { target: TargetChoice::Named("f1".into()), ..Prepare::default() };
    assert!(message(&other, &sparse(&["f1"], 0)).contains("'target' (the label of each row) or none"));
}

#[test]
fn missing_values_in_sparse_tables() {
    let table = Table::Sparse {
        names: vec!["f1".into()],
        x: SparseRows::new(1, vec![0, 1, 2], vec![0, 0], vec![f64::NAN, 2.0]).unwrap(),
        target: None,
    };
    let fit = |missing| Prepare { missing, ..Prepare::default() }.fit(&table);
    assert!(fit(Missing::Error).unwrap_err().to_string().starts_with("row 1, column 'f1': missing value"));
    assert!(fit(Missing::Mean).unwrap_err().to_string().contains("sparse data is not imputed"));
    assert_eq!(fit(Missing::Drop).unwrap().rows, [1]);
    let kept = fit(Missing::Keep).unwrap();
    assert!(kept.data.has_missing() && kept.data.x().is_sparse());
    assert!(kept.recipe.apply(&table).unwrap().0.has_missing());
}

#[test]
fn a_missing_target_is_not_imputed() {
    let table =
        Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("y", vec![1.0, f64::NAN])])
            .unwrap();
    let mean = Prepare { missing: Missing::Mean, ..Prepare::default() };
    assert!(
        message(&mean, &table)
            .contains("row 2, column 'y': cannot impute the missing value: targets are not imputed")
    );
}

#[test]
fn a_table_needs_a_feature() {
    let table = Table::new(vec![Column::numeric("y", vec![1.0, 2.0])]).unwrap();
    assert!(message(&Prepare::default(), &table).contains("no features"));
}
