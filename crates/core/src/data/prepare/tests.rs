use super::*;
use crate::data::{FeatureType, SparseRows};
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
fn defaults_handle_missing_values_and_text() {
    let prepared = Prepare::default().fit(&table()).unwrap();
    let data = &prepared.data;
    assert_eq!(
        (data.names(), data.feature_type(1)),
        (&["size".into(), "color".into()][..], FeatureType::Category { levels: 3 })
    );
    let x = data.x().to_dense();
    assert!(data.has_missing() && x[[1, 0]].is_nan());
    assert_eq!(x.column(1).to_vec(), [2.0, 0.0, 2.0, 1.0]);
    assert_eq!(prepared.recipe.levels(1), ["blue", "green", "red"]);
    assert_eq!(
        prepared.account.lines(),
        [
            "2 features: 1 number, 1 category",
            "1 missing value in column 'size': imputed with the median and indicated"
        ]
    );
}

#[test]
fn missing_values_are_an_error_or_dropped_on_request() {
    let fit = |missing| Prepare { missing, ..Prepare::default() }.fit(&table());
    assert_eq!(fit(Missing::Error).unwrap_err().to_string(), "row 2, column 'size': missing value");
    let dropped = fit(Missing::Drop).unwrap();
    assert_eq!(dropped.data.x().to_dense(), array![[1.0, 2.0], [4.0, 2.0], [7.0, 1.0]]);
    assert_eq!(
        (dropped.rows, dropped.notes[1].as_str()),
        (vec![0, 2, 3], "dropped 1 of 4 rows with missing values")
    );
    for missing in [Missing::Mean, Missing::Median, Missing::Auto] {
        assert!(fit(missing).unwrap().data.has_missing() && missing.imputation().is_some());
    }
    let all = Table::new(vec![
        Column::numeric("a", vec![1.0, f64::NAN]),
        Column::numeric("b", vec![f64::NAN, 2.0]),
        Column::numeric("y", vec![1.0, 2.0]),
    ]);
    let drop = Prepare { missing: Missing::Drop, columns: ColumnOptions::all(), ..Prepare::default() };
    assert_eq!(message(&drop, &all.unwrap()), "every row has a missing value");
}

#[test]
fn the_target_is_chosen_automatically_or_by_name() {
    let prepare = Prepare::default();
    let prepared = prepare.fit(&table()).unwrap();
    assert_eq!(prepared.notes, ["target: 'class' (by its name)"]);
    assert_eq!(prepared.data.classes("m").unwrap().names, ["1", "2"]);
    let last =
        Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("b", vec![0.5, 2.0])]).unwrap();
    let prepared = prepare.fit(&last).unwrap();
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
        target_type(&Column::numeric("y", values), &rows) == TargetType::Classes
    };
    let cycle = |n: usize, k: usize, first: usize| (0..n).map(|i| (first + i % k) as f64).collect::<Vec<_>>();
    assert!(is_class(vec![0.0, 1.0, 1.0, 0.0]));
    assert!(!is_class(vec![0.5, 1.0, 1.0, 0.0]));
    // As many values as rows: a count or an identifier, not a class.
    assert!(!is_class(vec![1.0, 2.0, 3.0, 4.0]));
    assert!(is_class(cycle(40, 20, 5)) && !is_class(cycle(42, 21, 5)));
    assert!(is_class(cycle(1000, 100, 0)) && is_class(cycle(260, 26, 1)));
    assert!(
        !is_class(cycle(1000, 100, 2)) && !is_class(cycle(999, 100, 0)) && !is_class(cycle(2000, 101, 0))
    );
    let text = |cells: &[&str]| {
        let rows: Vec<usize> = (0..cells.len()).collect();
        target_type(&Column::text("y", cells.iter().copied().map(Some)), &rows)
    };
    assert_eq!(text(&["a", "b", "c"]), TargetType::Classes);
    assert_eq!(text(&["yes", "no"]), TargetType::Classes);
    assert_eq!(text(&["1,5", "2,5", "3,5"]), TargetType::Continuous);
    assert_eq!(text(&["2021-01-01", "2021-01-02"]), TargetType::Continuous);
    assert_eq!(text(&["00501", "00502", "10001", "10002"]), TargetType::Classes, "codes");
}

#[test]
fn class_names_keep_their_spelling() {
    let classes = |cells: &[&str]| {
        let target = Column::text("y", cells.iter().copied().map(Some));
        let table =
            Table::new(vec![Column::numeric("a", (0..cells.len()).map(|i| i as f64).collect()), target]);
        let data = Prepare::default().fit(&table.unwrap()).unwrap().data;
        let classes = data.classes("m").unwrap();
        (classes.names.join(" "), classes.codes.clone())
    };
    assert_eq!(classes(&["501", "00501", "501", "00501"]), ("00501 501".into(), vec![1, 0, 1, 0]));
    let large = ["9007199254740993", "9007199254740992", "9007199254740993"];
    assert_eq!(classes(&large), ("9007199254740992 9007199254740993".into(), vec![1, 0, 1]));
    // Numbers are in numeric order.
    assert_eq!(classes(&["10.0", "9.0", "10.0", "9.0"]), ("9.0 10.0".into(), vec![1, 0, 1, 0]));
}

#[test]
fn a_column_is_read_as_a_target() {
    let amounts = Column::text("y", ["1,5", "2,5", "4,0"].into_iter().map(Some));
    assert_eq!(read_target(&amounts, TargetType::Auto).unwrap(), Target::Continuous(vec![1.5, 2.5, 4.0]));
    let Target::Classes(classes) = read_target(&amounts, TargetType::Classes).unwrap() else {
        panic!("classes expected")
    };
    assert_eq!((classes.codes, classes.names.len()), (vec![0, 1, 2], 3));
    let words = Column::text("y", ["a", "b"].into_iter().map(Some));
    assert!(read_target(&words, TargetType::Continuous).is_err());
}

#[test]
fn the_target_type_can_be_set() {
    let table =
        Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("y", vec![3.0, 4.0])]).unwrap();
    let class = Prepare { target_type: TargetType::Classes, ..Prepare::default() }.fit(&table).unwrap();
    assert_eq!(class.data.classes("m").unwrap().codes, [0, 1]);
    assert_eq!(class.notes[1], "classes '3', '4' have a single row each");
    let columns =
        ColumnOptions { types: vec![("y".into(), ColumnType::Category)], ..ColumnOptions::default() };
    assert!(Prepare { columns, ..Prepare::default() }.fit(&table).unwrap().data.classes("m").is_ok());
    let text = Table::new(vec![
        Column::numeric("a", vec![1.0, 2.0]),
        Column::text("y", [Some("u"), Some("v")].into_iter()),
    ]);
    let number = Prepare { target_type: TargetType::Continuous, ..Prepare::default() };
    assert!(message(&number, &text.unwrap()).contains("cannot parse 'u' as a number"));
}

#[test]
fn rows_without_a_target_are_dropped() {
    let table = Table::new(vec![
        Column::numeric("a", vec![1.0, 2.0, 3.0]),
        Column::numeric("y", vec![1.5, f64::NAN, 2.5]),
    ])
    .unwrap();
    let prepared = Prepare::default().fit(&table).unwrap();
    assert_eq!(
        (prepared.rows, prepared.notes[1].as_str()),
        (vec![0, 2], "dropped 1 of 3 rows with missing targets")
    );
    let strict = Prepare { missing: Missing::Error, ..Prepare::default() };
    assert_eq!(message(&strict, &table), "row 2, column 'y': missing value");
}

#[test]
fn columns_that_are_no_features_are_skipped_unless_included() {
    let n = 30;
    let table = Table::new(vec![
        Column::numeric("id", (0..n).map(f64::from).collect()),
        Column::numeric("one", vec![1.0; n as usize]),
        Column::numeric("a", (0..n).map(|i| f64::from(i * i % 7)).collect()),
        Column::numeric("copy", (0..n).map(|i| f64::from(i * i % 7)).collect()),
        Column::numeric("y", (0..n).map(|i| f64::from(i % 2)).collect()),
    ])
    .unwrap();
    let names = |columns: ColumnOptions| {
        let prepared = Prepare { columns, ..Prepare::default() }.fit(&table).unwrap();
        (prepared.data.names().join(" "), prepared.account.lines().get(1).cloned().unwrap_or_default())
    };
    assert_eq!(
        names(ColumnOptions::default()),
        ("a".into(), "skipped: 'id' (identifier), 'one' (constant), 'copy' (the same values as 'a')".into())
    );
    assert_eq!(names(ColumnOptions::all()), ("id one a copy".into(), String::new()));
    let include = ColumnOptions { include: vec!["copy".into()], ..ColumnOptions::default() };
    assert_eq!(names(include).0, "a copy");
    let exclude = ColumnOptions { exclude: vec!["a".into()], ..ColumnOptions::default() };
    assert_eq!(names(exclude).0, "copy");
    let exclude = ColumnOptions { exclude: vec!["*a*".into(), "copy".into()], ..ColumnOptions::default() };
    assert_eq!(
        message(&Prepare { columns: exclude, ..Prepare::default() }, &table),
        "no features; skipped: 'id' (identifier), 'one' (constant), 'a' (excluded), 'copy' (excluded)"
    );
}

#[test]
fn the_columns_of_a_table_agree_on_the_decimal_separator() {
    let text = |name: &str, cells: [&'static str; 2]| Column::text(name, cells.into_iter().map(Some));
    let table =
        Table::new(vec![text("a", ["1,234", "2,345"]), text("b", ["0,5", "1,25"]), text("y", ["u", "v"])]);
    let prepared = Prepare::default().fit(&table.unwrap()).unwrap();
    assert_eq!(prepared.data.x().to_dense(), array![[1.234, 0.5], [2.345, 1.25]]);
    assert!(prepared.account.warnings.is_empty());
}

#[test]
fn all_problems_are_reported_at_once() {
    let columns = ColumnOptions {
        exclude: vec!["colour".into()],
        types: vec![("color".into(), ColumnType::Number), ("sise".into(), ColumnType::Category)],
        ..ColumnOptions::default()
    };
    let prepare = Prepare { columns, target: TargetChoice::Named("clas".into()), ..Prepare::default() };
    assert_eq!(
        message(&prepare, &table()),
        "4 problems:\n  no column 'colour'; did you mean 'color'?\n  no column 'sise'; did you mean 'size'?\n  \
         no column 'clas'; did you mean 'class'?\n  row 1, column 'color': cannot parse 'red' as a number"
    );
    let excluded = ColumnOptions { exclude: vec!["class".into()], ..ColumnOptions::default() };
    let named = TargetChoice::Named("class".into());
    let prepare = Prepare { columns: excluded.clone(), target: named, ..Prepare::default() };
    assert!(message(&prepare, &table()).contains("must be a column that is not excluded, got 'class'"));
    // Without a name, another column is the target.
    let prepared = Prepare { columns: excluded, ..Prepare::default() }.fit(&table()).unwrap();
    assert_eq!(prepared.recipe.target(), Some("color"));
}

#[test]
fn new_tables_are_read_in_the_same_way() {
    let recipe = Prepare::default().fit(&table()).unwrap().recipe;
    // Reordered, with an extra column, without a target; a category that is new.
    let new = Table::new(vec![
        Column::text("color", [Some("green"), Some("black"), None].into_iter()),
        Column::numeric("extra", vec![9.0; 3]),
        Column::numeric("size", vec![f64::NAN, 2.0, 3.0]),
    ])
    .unwrap();
    let applied = recipe.apply(&new).unwrap();
    let x = applied.data.x().to_dense();
    assert!(x[[0, 0]].is_nan() && x[[2, 1]].is_nan());
    assert_eq!((x[[0, 1]], x[[1, 1]], x[[1, 0]]), (1.0, 3.0, 2.0));
    assert_eq!((applied.other, applied.rows), (vec![("color".to_owned(), 1)], vec![0, 1, 2]));
    let restricted = recipe.restricted(&[1]);
    assert_eq!(
        (restricted.columns().collect::<Vec<_>>(), restricted.feature_types()),
        (vec!["color"], vec![FeatureType::Category { levels: 3 }])
    );
    let short = Table::new(vec![Column::numeric("sizes", vec![1.0])]).unwrap();
    let error = recipe.apply(&short).unwrap_err().to_string();
    assert_eq!(
        error,
        "2 problems:\n  no column 'size'; did you mean 'sizes'?\n  no column 'color'; there are sizes"
    );
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
    let dense = |table: &Table| recipe.apply(table).unwrap().data.x().to_dense();
    // A file with fewer columns, and one whose columns start at 0.
    assert_eq!(dense(&sparse(&["f1", "f2"], 1)), array![[0.0, 5.0, 0.0]]);
    assert_eq!(dense(&sparse(&["f0", "f1"], 1)), array![[5.0, 0.0, 0.0]]);
    let columns = ColumnOptions { exclude: vec!["f2".into()], ..ColumnOptions::default() };
    let fewer = Prepare { columns, ..Prepare::default() }.fit(&sparse(&["f1", "f2", "f3"], 2)).unwrap();
    assert_eq!(
        (fewer.data.names().join(" "), fewer.data.x().to_dense()),
        ("f1 f3".into(), array![[0.0, 5.0]])
    );
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
    assert_eq!(fit(Missing::Drop).unwrap().rows, [1]);
    let kept = fit(Missing::Mean).unwrap();
    assert!(kept.data.has_missing() && kept.data.x().is_sparse());
    assert!(kept.recipe.apply(&table).unwrap().data.has_missing());
}

#[test]
fn a_table_needs_a_feature() {
    let table = Table::new(vec![Column::numeric("y", vec![1.0, 2.0])]).unwrap();
    assert!(message(&Prepare::default(), &table).contains("no features"));
}

#[test]
fn a_new_table_is_prepared_like_the_training_table() {
    let fitted = Prepare::default().fit(&table()).unwrap();
    let new = Table::new(vec![
        Column::text("class", [Some("2"), None, Some("1")].into_iter()),
        Column::text("color", [Some("violet"), Some("red"), None].into_iter()),
        Column::numeric("other", vec![1.0, 2.0, 3.0]),
        Column::numeric("size", vec![f64::NAN, 2.0, 3.0]),
    ])
    .unwrap();
    let (again, other) = Prepare::default().apply(&fitted.recipe, &new).unwrap();
    // The row without a target is dropped; another category has the code after the last level.
    assert_eq!((again.rows, other), (vec![0, 2], vec![("color".to_owned(), 1)]));
    assert_eq!(again.data.names(), fitted.data.names());
    assert_eq!((again.data.x().get(0, 1), again.data.x().get(1, 0)), (3.0, 3.0));
    let Target::Classes(classes) = again.data.target() else { panic!("classes expected") };
    assert_eq!((&classes.names[..], &classes.codes[..]), (&["1".into(), "2".into()][..], &[1, 0][..]));
    let actions: Vec<&str> = again.account.columns.iter().map(|column| column.action.name()).collect();
    assert_eq!(actions, ["target", "feature", "skipped", "feature"]);
    assert_eq!(again.account.columns[2].reason.as_deref(), Some("not a feature in training"));
    let named = Prepare { target: TargetChoice::Named("klass".into()), ..Prepare::default() };
    assert!(named.apply(&fitted.recipe, &new).unwrap_err().to_string().contains("no column 'klass'"));
    let none = Prepare { target: TargetChoice::None, ..Prepare::default() };
    assert_eq!(none.apply(&fitted.recipe, &new).unwrap().0.data.n(), 3);
}

#[test]
fn a_continuous_target_is_read_as_in_training() {
    let with_target = |cells: [&'static str; 3]| {
        Table::new(vec![
            Column::numeric("a", vec![1.0, 2.0, 4.0]),
            Column::text("y", cells.into_iter().map(Some)),
        ])
        .unwrap()
    };
    let fitted = Prepare::default().fit(&with_target(["1.234,5", "2.000,0", "3,25"])).unwrap();
    assert_eq!(*fitted.data.target(), Target::Continuous(vec![1234.5, 2000.0, 3.25]));
    assert_eq!(fitted.recipe.decimal(), Some(crate::data::Decimal::Comma));
    let (again, _) = Prepare::default().apply(&fitted.recipe, &with_target(["1.500", "2.000", "7"])).unwrap();
    assert_eq!(*again.data.target(), Target::Continuous(vec![1500.0, 2000.0, 7.0]));
}

#[test]
fn text_in_a_continuous_target_is_a_missing_target() {
    let mut cells: Vec<String> = (0..30).map(|i| format!("{}.5", 100 + i)).collect();
    cells[4] = "unknown".into();
    let x = Column::numeric("x", (0..30).map(|i| f64::from(i * i % 7)).collect());
    let of = |cells: &[String]| {
        let amount = Column::text("amount", cells.iter().map(|cell| Some(cell.as_str())));
        Table::new(vec![x.clone(), amount]).unwrap()
    };
    let prepared = Prepare::default().fit(&of(&cells)).unwrap();
    assert_eq!((prepared.data.n(), prepared.rows[4]), (29, 5));
    assert!(prepared.notes.contains(&"dropped 1 of 30 rows with missing targets".into()));
    let (test, _) = Prepare::default().apply(&prepared.recipe, &of(&cells)).unwrap();
    assert_eq!(test.rows, prepared.rows);
    let strict = Prepare { missing: Missing::Error, ..Prepare::default() };
    assert_eq!(message(&strict, &of(&cells)), "row 5, column 'amount': missing value");
    // More text makes classes, unless the user wants numbers.
    (0..10).for_each(|row| cells[row] = "unknown".into());
    let numbers = Prepare { target_type: TargetType::Continuous, ..Prepare::default() };
    assert_eq!(message(&numbers, &of(&cells)), "row 1, column 'amount': cannot parse 'unknown' as a number");
}

#[test]
fn a_column_of_an_unsupported_type_is_skipped() {
    let lists = Column {
        name: "parts".into(),
        values: super::Values::Unsupported { rows: 4, why: "the type List is not supported".into() },
    };
    let Table::Columns(mut columns) = table() else { panic!("columns expected") };
    columns.insert(0, lists);
    let table = Table::new(columns).unwrap();
    for columns in [ColumnOptions::default(), ColumnOptions::all()] {
        let prepared = Prepare { columns, ..Prepare::default() }.fit(&table).unwrap();
        assert_eq!(prepared.data.names(), ["size", "color"]);
        assert_eq!(prepared.account.skipped().unwrap(), "skipped: 'parts' (the type List is not supported)");
    }
    let target = Prepare { target: TargetChoice::Named("parts".into()), ..Prepare::default() };
    assert_eq!(message(&target, &table), "the target 'parts': the type List is not supported");
}
