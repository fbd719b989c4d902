use super::*;
use crate::data::types::{Parsing, infer};
use crate::data::{Classes, Column, ColumnType, Dataset, FeatureType, Missing, Target};
use ndarray::Array2;

fn read(column: &Column) -> (ColumnType, Parsing, Vec<f64>) {
    let found = infer(column, None);
    let values = found.parsing.read(column).unwrap().values.into_owned();
    (found.kind, found.parsing, values)
}

fn details(column: &Column) -> Details {
    let (kind, parsing, values) = read(column);
    Details::of(&values, &parsing, &kind)
}

#[test]
fn statistics_by_hand() {
    let column = Column::numeric("a", vec![3.0, f64::NAN, -0.0, 0.0, 3.0, 10.0]);
    let (_, parsing, values) = read(&column);
    let found = Statistics::of(&column, &values, &parsing);
    assert_eq!((found.n_missing, found.n_present, found.n_distinct()), (1, 5, 3));
    assert!(found.is_integer && !found.counts_rows && !found.is_constant);
    let found = details(&column);
    let range = found.range.unwrap();
    assert_eq!(found.n_distinct, Some(3));
    assert_eq!(
        (range.min, range.median, range.max),
        (Scalar::Number(0.0), Scalar::Number(3.0), Scalar::Number(10.0))
    );
    assert_eq!((found.histogram[0], found.histogram[6], found.histogram[19]), (2, 2, 1));
    assert_eq!(examples(&column), ["3", "0", "10"]);
    let text = Column::text("b", [Some("u"), Some("v"), None, Some("v")].into_iter());
    let found = details(&text);
    assert_eq!(found.levels, [("v".to_owned(), 2), ("u".to_owned(), 1)]);
    assert!(found.range.is_none() && found.histogram.is_empty());
    let date = Column::text("d", [Some("1970-01-02"), Some("1970-01-04")].into_iter());
    let found = details(&date);
    let range = found.range.unwrap();
    assert_eq!(
        (range.median, range.max),
        (Scalar::Date("1970-01-02".into()), Scalar::Date("1970-01-04".into()))
    );
    let time = Column::text("t", [Some("12:30"), Some("0:00")].into_iter());
    let range = details(&time).range.unwrap();
    assert_eq!((range.min, range.max), (Scalar::Date("00:00:00".into()), Scalar::Date("12:30:00".into())));
    assert_eq!(details(&Column::numeric("c", vec![5.0; 4])).histogram, [4]);
    let wide = details(&Column::numeric("w", vec![-1.7e308, 1.7e308, 0.0])).histogram;
    assert_eq!((wide[0], wide[10], wide[19]), (1, 1, 1));
}

/// The reason to skip a column of texts.
fn reason(name: &str, cells: &[String]) -> Option<String> {
    let column = Column::text(name, cells.iter().map(|cell| Some(cell.as_str())));
    reason_of(&column, 1)
}

fn reason_of(column: &Column, place: usize) -> Option<String> {
    let (kind, parsing, values) = read(column);
    let found = Statistics::of(column, &values, &parsing);
    reason_to_skip(&column.name, place, &kind, false, &found, Missing::Auto).map(|skip| skip.reason)
}

#[test]
fn identifiers_and_free_text() {
    let ids = |n: usize, distinct: usize| (0..n).map(|i| format!("C{:05}", i % distinct)).collect::<Vec<_>>();
    assert_eq!(reason("customer", &ids(100, 95)).as_deref(), Some("identifier"));
    assert_eq!(reason("customer", &ids(100, 94)), None);
    assert_eq!(reason("customer", &ids(19, 19)), None);
    assert_eq!(reason("customer id", &ids(4, 4)).as_deref(), Some("identifier"));
    assert_eq!(reason("customer id", &ids(4, 3)), None);
    let text = |i: usize| format!("the {i}th comment is long enough to be a sentence of its own");
    assert_eq!(reason("comment", &(0..8).map(text).collect::<Vec<_>>()).as_deref(), Some("free text"));
    assert_eq!(reason("comment", &(0..8).map(|i| text(i % 2)).collect::<Vec<_>>()), None);
    let numbers = |name: &str, place, f: fn(f64) -> f64, n: i32| {
        reason_of(&Column::numeric(name, (0..n).map(|i| f(f64::from(i))).collect()), place)
    };
    assert_eq!(numbers("n", 2, |i| i + 7.0, 20).as_deref(), Some("identifier"));
    assert_eq!(numbers("n", 2, |i| 30.0 - i, 20).as_deref(), Some("identifier"));
    assert_eq!(numbers("n", 2, |i| i, 19), None);
    assert_eq!(numbers("n", 2, |i| 2.0 * i, 50), None);
    assert_eq!(numbers("n", 2, |i| 0.5 + i, 50), None, "measurements have fractions");
    assert_eq!(numbers("row_id", 2, |i| i * i, 5).as_deref(), Some("identifier"));
    assert_eq!(numbers("row_id", 2, |i| i * 0.3, 5), None);
    assert_eq!(numbers("unnamed_1", 0, |i| i * i, 5).as_deref(), Some("identifier"));
    assert_eq!(numbers("unnamed_3", 2, |i| i * i, 5), None);
}

#[test]
fn constant_and_missing_columns() {
    let skip = |values: Vec<f64>, missing| {
        let column = Column::numeric("a", values);
        let (kind, parsing, values) = read(&column);
        let found = Statistics::of(&column, &values, &parsing);
        reason_to_skip("a", 1, &kind, true, &found, missing).map(|skip| skip.reason)
    };
    assert_eq!(skip(vec![1.0, 1.0], Missing::Auto).as_deref(), Some("constant"));
    assert_eq!(skip(vec![f64::NAN; 2], Missing::Auto).as_deref(), Some("all values are missing"));
    // Whether a value is missing may be informative.
    assert_eq!(skip(vec![1.0, f64::NAN, 1.0], Missing::Auto), None);
    assert_eq!(skip(vec![1.0, f64::NAN, 1.0], Missing::Mean).as_deref(), Some("constant"));
}

#[test]
fn columns_are_compared_by_value() {
    let same = |a: &Column, b: &Column| {
        let ((_, of_a, values_a), (_, of_b, values_b)) = (read(a), read(b));
        let (x, y) = (Statistics::of(a, &values_a, &of_a), Statistics::of(b, &values_b, &of_b));
        let same = same_values((&values_a, &of_a), (&values_b, &of_b));
        assert!(!same || x.fingerprint == y.fingerprint);
        same
    };
    let text = |cells: [&'static str; 3]| Column::text("t", cells.into_iter().map(Some));
    let numbers = Column::numeric("n", vec![0.0, 1.0, f64::NAN]);
    assert!(same(&numbers, &Column::numeric("m", vec![-0.0, 1.0, f64::NAN])));
    assert!(!same(&numbers, &Column::numeric("m", vec![0.0, 1.0, 2.0])));
    assert!(same(&text(["1,5", "2,5", "3"]), &Column::numeric("n", vec![1.5, 2.5, 3.0])));
    assert!(same(&text(["a", "b", "a"]), &text(["a", "b", "a"])));
    assert!(!same(&text(["a", "b", "a"]), &text(["u", "v", "u"])), "other names");
    assert!(!same(&text(["a", "b", "a"]), &Column::numeric("n", vec![0.0, 1.0, 0.0])));
}

/// The warnings about a feature of 24 rows.
fn warnings(f: impl Fn(usize) -> f64, kind: FeatureType, target: Target) -> Vec<String> {
    let x = Array2::from_shape_fn((24, 1), |(i, _)| f(i));
    leaks(&Dataset::typed(vec!["a".into()], x, vec![kind], target).unwrap())
}

#[test]
fn features_that_predict_perfectly_are_named() {
    let classes = |k: usize| Target::Classes(Classes::from_codes((0..24).map(|i| i * k / 24).collect()));
    let number = FeatureType::Number;
    let found = warnings(|i| i as f64 * 0.7, number, classes(3));
    assert_eq!(
        found,
        [
            "feature 'a' alone predicts the target perfectly (each class has a range of its own); if it is not known \
          before the target, exclude it"
        ]
    );
    assert!(warnings(|i| if i == 3 { 99.0 } else { i as f64 }, number, classes(2)).is_empty());
    // Classes with few rows, distinct values without repetition: chance.
    assert!(warnings(|i| i as f64, number, classes(12)).is_empty());
    let category = FeatureType::Category { levels: 8 };
    assert_eq!(warnings(|i| (i / 3) as f64, category, classes(2)).len(), 1);
    assert!(warnings(|i| (i % 8) as f64, category, classes(2)).is_empty());
    // Not an interval, but each value belongs to one class.
    let odd = Target::Classes(Classes::from_codes((0..24).map(|i| i % 4 % 2).collect()));
    assert_eq!(warnings(|i| (i % 4) as f64, number, odd).len(), 1);
    let continuous = Target::Continuous((0..24).map(|i| f64::from(i).sqrt()).collect());
    assert_eq!(warnings(|i| 3.0 - 2.0 * (i as f64).sqrt(), number, continuous.clone()).len(), 1);
    assert!(warnings(|i| i as f64, number, continuous.clone()).is_empty());
    assert!(warnings(|i| if i == 5 { f64::NAN } else { (i as f64).sqrt() }, number, continuous).is_empty());
    assert!(warnings(|i| i as f64, number, Target::None).is_empty());
}
