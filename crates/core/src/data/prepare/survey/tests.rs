use super::*;
use crate::data::prepare::options::{ColumnOptions, TargetType};
use crate::data::read::{ReadOptions, read_table};
use crate::data::target::Target;

/// The file in memory and in pieces, prepared in the same way.
fn both(
    text: &str,
    prepare: &Prepare,
) -> (Result<super::super::Prepared>, Result<Survey>, PieceFile, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, text).unwrap();
    let ctx = Context::default();
    let (table, _) = read_table(&path, &ReadOptions::default(), &ctx).unwrap();
    let file = PieceFile::open(&path, &ReadOptions::default()).unwrap().unwrap();
    let survey = prepare.survey(&file, &ctx).map(|(survey, _)| survey);
    (prepare.fit(&table), survey, file, folder)
}

fn assert_same(text: &str, prepare: &Prepare) {
    let (expected, survey, file, _folder) = both(text, prepare);
    let (expected, survey) = (expected.unwrap(), survey.unwrap());
    assert_eq!(survey.recipe, expected.recipe);
    assert_eq!(survey.notes, expected.notes);
    let actions = |account: &Account| -> Vec<(String, Action, Option<String>)> {
        account.columns.iter().map(|c| (c.name.clone(), c.action, c.reason.clone())).collect()
    };
    assert_eq!(actions(&survey.account), actions(&expected.account));
    let mut rows: Vec<f64> = vec![];
    let (mut codes, mut numbers) = (vec![], vec![]);
    survey
        .read(&file, &Context::default(), &mut |x, target| {
            rows.extend(x.iter());
            match target {
                PieceTarget::Classes(more) => codes.extend(more),
                PieceTarget::Continuous(more) => numbers.extend(more),
                PieceTarget::None => {}
            }
            Ok(())
        })
        .unwrap();
    let x = expected.data.x().to_dense();
    assert_eq!((rows, survey.n_rows()), (x.iter().copied().collect(), x.nrows()));
    match expected.data.target() {
        Target::Classes(classes) => {
            assert_eq!((codes.as_slice(), survey.classes()), (&classes.codes[..], Some(&classes.names[..])));
        }
        Target::Continuous(values) => assert_eq!(&numbers, values),
        _ => assert!(codes.is_empty() && numbers.is_empty()),
    }
}

/// Rows with an index, a constant, a copy, an identifier and an order number.
fn text() -> String {
    let mut text = String::from("index,a,b,zero,copy,customer_id,order_no,class\n");
    for i in 0..40 {
        let (a, b) = (i * i % 17, f64::from(i) / 8.0);
        text +=
            &format!("{i},{a},{b},0,{a},{},{},{}\n", 900 - i, 3 * i, ["no", "yes"][(i % 3 == 0) as usize]);
    }
    text
}

#[test]
fn columns_are_decided_as_in_memory() {
    assert_same(&text(), &Prepare::default());
    let include = ColumnOptions { include: vec!["copy".into(), "zero".into()], ..ColumnOptions::default() };
    assert_same(&text(), &Prepare { columns: include, ..Prepare::default() });
    let exclude =
        ColumnOptions { exclude: vec!["a".into()], id: vec!["b".into()], ..ColumnOptions::default() };
    assert_same(&text(), &Prepare { columns: exclude, ..Prepare::default() });
    let exclude = ColumnOptions { exclude: vec!["class".into()], ..ColumnOptions::default() };
    assert_same(
        &text(),
        &Prepare { columns: exclude.clone(), target: TargetChoice::Named("a".into()), ..Prepare::default() },
    );
    let number = TargetType::Continuous;
    let target = TargetChoice::Named("a".into());
    assert_same(
        &text(),
        &Prepare { columns: exclude.clone(), target, target_type: number, ..Prepare::default() },
    );
    assert_same(&text(), &Prepare { columns: exclude, target: TargetChoice::None, ..Prepare::default() });
}

#[test]
fn rows_are_dropped_as_in_memory() {
    let text = text().replace("\n5,", "\n,").replace("1.5,0", "NA,0").replacen(",yes\n", ",\n", 1);
    let exclude = ColumnOptions { exclude: vec!["index".into()], ..ColumnOptions::default() };
    let drop = Prepare { missing: Missing::Drop, columns: exclude, ..Prepare::default() };
    assert_same(&text, &drop);
    let (_, survey, _, _folder) = both(&text, &Prepare { missing: Missing::Auto, ..drop.clone() });
    let error = survey.unwrap_err().to_string();
    assert!(error.ends_with(
        "column 'b': 1 value is missing, the first in row 13; passes over a table do not impute, so drop rows with \
         missing values or exclude the column"
    ), "{error}");
    let (expected, survey, _, _folder) = both(&text, &Prepare { missing: Missing::Error, ..drop });
    assert!(expected.is_err() && survey.is_err());
}

#[test]
fn what_passes_cannot_decide_is_refused() {
    let refused = |text: &str, prepare: &Prepare| both(text, prepare).1.unwrap_err().to_string();
    let words = text().replace("\n7,15,", "\n7,many,");
    let error = refused(&words, &Prepare::default());
    assert!(
        error
            .contains("column 'a': row 8: 'many' is no number; a table that is read in passes needs numbers"),
        "{error}"
    );
    // Neither rising nor falling: only all rows at once show whether it is unique.
    let shuffled = text().replace(",893,", ",8931,");
    let error = refused(&shuffled, &Prepare::default());
    assert!(error.contains("column 'customer_id' may identify rows"), "{error}");
    let types = vec![("a".to_owned(), crate::data::ColumnType::Category)];
    let columns = ColumnOptions { types, ..ColumnOptions::default() };
    let error = refused(&text(), &Prepare { columns, ..Prepare::default() });
    assert!(error.contains("column 'a': it has the type category"), "{error}");
    let continuous = Prepare { target_type: TargetType::Continuous, ..Prepare::default() };
    assert!(refused(&text(), &continuous).contains("the target 'class': it holds text"));
}
