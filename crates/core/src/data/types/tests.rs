use super::*;
use crate::data::table::Column;

fn column(cells: &[&str]) -> Column {
    Column::text("c", cells.iter().map(|cell| Some(*cell).filter(|cell| !cell.is_empty())))
}

fn values(cells: &[&str], decimal: Option<Decimal>) -> (String, Vec<f64>, Vec<String>) {
    let column = column(cells);
    let found = infer(&column, decimal);
    let values = found.parsing.read(&column).unwrap().values.into_owned();
    (found.kind.to_string(), values, found.warnings)
}

#[test]
fn numbers_in_all_spellings() {
    let numbers = |cells: &[&str]| {
        let (kind, values, warnings) = values(cells, None);
        assert!(kind == "number" && warnings.is_empty(), "{kind} {warnings:?}");
        values
    };
    assert_eq!(numbers(&["00501", "1.0", "-3"]), [501.0, 1.0, -3.0]);
    assert_eq!(numbers(&["1,5", "2,25", "3"]), [1.5, 2.25, 3.0]);
    // One value decides how all commas are read.
    assert_eq!(numbers(&["1,234", "0,5"]), [1.234, 0.5]);
    assert_eq!(numbers(&["1,234", "1,234,567"]), [1234.0, 1_234_567.0]);
    assert_eq!(numbers(&["1,234", "1,500.5"]), [1234.0, 1500.5]);
    assert_eq!(numbers(&["1.234.567,8", "1.234"]), [1_234_567.8, 1234.0]);
    assert_eq!(numbers(&["1 234", "12 345"]), [1234.0, 12_345.0]);
    assert_eq!(numbers(&["12 %", "7,5 %"]), [12.0, 7.5]);
    assert_eq!(numbers(&["$1,200.00", "-$5.50"]), [1200.0, -5.5]);
    assert!(numbers(&["1,5", ""])[1].is_nan());
}

#[test]
fn ambiguous_commas_separate_thousands_unless_the_decimal_separator_is_known() {
    let (kind, thousands, warnings) = values(&["1,234", "999"], None);
    assert_eq!((kind.as_str(), thousands), ("number", vec![1234.0, 999.0]));
    assert_eq!(warnings, ["column 'c': commas may separate thousands or decimals; '1,234' is read as 1234"]);
    let (_, decimals, warnings) = values(&["1,234", "999"], Some(Decimal::Comma));
    assert_eq!((decimals, warnings.len()), (vec![1.234, 999.0], 0));
}

#[test]
fn codes_with_too_many_digits_are_not_numbers() {
    let (kind, codes, _) = values(&["9007199254740992", "9007199254740993", "9007199254740992"], None);
    assert_eq!((kind.as_str(), codes), ("category", vec![0.0, 1.0, 0.0]));
}

#[test]
fn a_few_long_codes_do_not_make_numbers_names() {
    let mut cells: Vec<String> = (0..30).map(|i| i.to_string()).collect();
    cells[7] = "10000000000000007".into();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let (kind, numbers, warnings) = values(&cells, None);
    assert_eq!((kind.as_str(), numbers[7], warnings.len()), ("number", 1e16 + 8.0, 0));
}

#[test]
fn units_currencies_and_parentheses() {
    assert_eq!(values(&["70.1 kg", "68 kg"], None).1, [70.1, 68.0]);
    assert_eq!(values(&["CHF 1027.86", "CHF -5"], None).1, [1027.86, -5.0]);
    assert_eq!(values(&["(36757.50)", "12.25"], None).1, [-36757.5, 12.25]);
    // Words before a number are names of it.
    assert_eq!(values(&["Room 1", "Room 2"], None).0, "category");
    let (_, shares, warnings) = values(&["78.5%", "0.702"], None);
    assert_eq!(shares, [0.785, 0.702]);
    assert_eq!(warnings, ["column 'c': only some numbers have a percent sign; '78.5%' is read as 0.785"]);
    assert_eq!(values(&["78.5%", "70.2"], None).1, [78.5, 70.2]);
}

#[test]
fn a_category_of_mostly_numbers_has_a_warning() {
    let (kind, _, warnings) = values(&["1.5", "2.5", "unknown", "unknown"], None);
    assert_eq!(kind, "category");
    assert_eq!(
        warnings,
        ["column 'c': mostly numbers; 2 cells such as 'unknown' are not, so it is a category"]
    );
    assert!(infer(&column(&["1", "2", "x"]), None).is_mostly_numbers);
    for cells in [&["1", "x", "y"][..], &["A1", "A2"], &["9007199254740993", "9007199254740995", "1"]] {
        assert!(!infer(&column(cells), None).is_mostly_numbers, "{cells:?}");
    }
}

#[test]
fn infinite_numbers_count_as_missing() {
    let numbers = Column::numeric("c", vec![1.0, f64::INFINITY, 2.0]);
    let found = infer(&numbers, None);
    assert!(found.parsing.read(&numbers).unwrap().values[1].is_nan());
    assert_eq!(found.warnings, ["column 'c' holds numbers, except 'inf' (row 2), which count as missing"]);
    // As for text, a new table may not have others.
    let other = Column::numeric("c", vec![1.0, f64::NEG_INFINITY]);
    assert!(found.parsing.read(&other).is_err());
}

#[test]
fn a_few_other_texts_are_missing_values() {
    let mut cells: Vec<String> = (0..30).map(|i| format!("{i},5")).collect();
    cells[7] = "unknown".into();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let (kind, numbers, warnings) = values(&cells, None);
    assert!(kind == "number" && numbers[7].is_nan() && numbers[8] == 8.5);
    assert_eq!(warnings, ["column 'c' holds numbers, except 'unknown' (row 8), which count as missing"]);
    // New tables may have the same text, but no other.
    let found = infer(&column(&cells), None);
    assert!(found.parsing.read(&column(&["1,5", "unknown"])).is_ok());
    let error = found.parsing.read(&column(&["1,5", "lost"])).err().unwrap();
    assert_eq!(error.to_string(), "row 2, column 'c': cannot parse 'lost' as a number");
    // Few numbers do not make a column of numbers.
    assert_eq!(values(&["1", "2", "3", "x"], None).0, "category");
}

#[test]
fn booleans_in_all_spellings() {
    for cells in [["yes", "no"], ["TRUE", "False"], ["t", "f"], ["Y", "N"], ["on", "off"]] {
        let (kind, codes, _) = values(&cells, None);
        assert_eq!((kind.as_str(), codes), ("boolean", vec![1.0, 0.0]), "{cells:?}");
    }
    assert_eq!(values(&["yes", "Yes", "no"], None).0, "boolean");
    assert_eq!(values(&["yes", "false"], None).0, "category");
    assert_eq!(values(&["yes", ""], None).0, "category");
}

#[test]
fn dates_in_all_spellings() {
    let (kind, days, warnings) = values(&["2021-07-17", "2021-07-17T12:00:00Z"], None);
    assert_eq!((kind.as_str(), days[1] - days[0], warnings.len()), ("date", 0.5, 0));
    // One date decides the order of day and month; ISO dates may be among them.
    assert_eq!(values(&["07/08/2021", "07/17/2021"], None).1, values(&["2021-07-08", "2021-07-17"], None).1);
    assert_eq!(values(&["07/08/2021", "17/07/2021"], None).1, values(&["2021-08-07", "17.07.2021"], None).1);
    let (kind, days, warnings) = values(&["07/08/2021", "05/05/2021"], None);
    assert_eq!((kind.as_str(), &days), ("date", &values(&["2021-08-07", "2021-05-05"], None).1));
    assert_eq!(
        warnings,
        ["column 'c': the day or the month may come first; '07/08/2021' is read with the day first"]
    );
    assert_eq!(values(&["07/17/2021", "17/07/2021"], None).0, "category");
    assert_eq!(values(&["12:30", "6:00"], None).1[1], 0.25);
}

#[test]
fn categories_have_sorted_levels() {
    let (kind, codes, _) = values(&["red", "blue", "", "red"], None);
    assert_eq!((kind.as_str(), codes[0], codes[1], codes[3]), ("category", 1.0, 0.0, 1.0));
    assert!(codes[2].is_nan());
    let found = infer(&column(&["red", "blue"]), None);
    let new = column(&["green", "blue"]);
    let parsed = found.parsing.read(&new).unwrap();
    assert_eq!((parsed.values.to_vec(), parsed.n_other), (vec![2.0, 0.0], 1));
    let mut levels = ["10", "9", "1.0", "01"].map(String::from);
    by_value(&mut levels);
    assert_eq!(levels, ["01", "1.0", "9", "10"]);
    let mut levels = ["b", "10", "9"].map(String::from);
    by_value(&mut levels);
    assert_eq!(levels, ["10", "9", "b"]);
}

#[test]
fn types_can_be_chosen() {
    let read = |cells: &[&str], kind: &str| {
        let column = column(cells);
        let found = of_type(&column, &kind.parse().unwrap(), None)?;
        Ok::<_, crate::Error>((found.kind.to_string(), found.parsing.read(&column)?.values.into_owned()))
    };
    let sizes = ["medium", "small", "large"];
    assert_eq!(
        read(&sizes, "ordered:small<medium<large").unwrap(),
        ("ordered:small<medium<large".into(), vec![1.0, 0.0, 2.0])
    );
    assert_eq!(
        read(&["grade 10", "grade 9"], "ordered").unwrap(),
        ("ordered:grade 9<grade 10".into(), vec![1.0, 0.0])
    );
    assert_eq!(read(&["501", "00501"], "category").unwrap().1, [1.0, 0.0]);
    assert_eq!(read(&["1", "0"], "boolean").unwrap().1, [1.0, 0.0]);
    let message = |cells: &[&str], kind: &str| read(cells, kind).unwrap_err().to_string();
    assert_eq!(message(&["1", "two"], "number"), "row 2, column 'c': cannot parse 'two' as a number");
    assert_eq!(message(&["2021-01-01", "soon"], "date"), "row 2, column 'c': cannot parse 'soon' as a date");
    assert_eq!(message(&["yes", "maybe"], "boolean"), "row 2, column 'c': cannot parse 'maybe' as a boolean");
    assert_eq!(
        message(&sizes, "ordered:small<large"),
        "row 1, column 'c': cannot parse 'medium' as one of the ordered levels"
    );
    let error = "catgory".parse::<ColumnType>().unwrap_err().to_string();
    assert_eq!(error, "no type 'catgory'; did you mean 'category'?");
    // A column of numbers may hold categories.
    let numbers = Column::numeric("c", vec![10.0, 9.0, f64::NAN]);
    let found = of_type(&numbers, &ColumnType::Category, None).unwrap();
    let codes = found.parsing.read(&numbers).unwrap().values;
    assert!(codes[0] == 1.0 && codes[1] == 0.0 && codes[2].is_nan());
}

#[test]
fn another_decimal_separator_is_reported() {
    let warning = |cells: &[&str], decimal| contradiction(&column(cells), decimal);
    assert_eq!(
        warning(&["1.5", "2.25"], Decimal::Comma).unwrap(),
        "column 'c' does not hold numbers: '1.5' has a decimal point, not a decimal comma"
    );
    assert!(warning(&["1,5", "2,25"], Decimal::Point).unwrap().contains("'1,5' has a decimal comma"));
    assert_eq!(warning(&["1.234", "2,5"], Decimal::Comma), None);
    assert_eq!(warning(&["red", "blue"], Decimal::Comma), None);
    let number = |cells: &[&str]| of_type(&column(cells), &ColumnType::Number, Some(Decimal::Comma));
    assert!(number(&["1.5"]).is_err());
    assert_eq!(number(&["1.500"]).unwrap().parsing.read(&column(&["1.500"])).unwrap().values[0], 1500.0);
}

#[test]
fn points_that_may_separate_thousands() {
    let example = |values: &[f64]| looks_like_thousands(&Column::numeric("c", values.to_vec()));
    assert_eq!(example(&[12.0, 1.234, f64::NAN, -2.5]), Some(1.234));
    assert_eq!(example(&[1.5, 2.25]), None, "no number has three digits");
    assert_eq!(example(&[1.234, 0.5]), None);
    assert_eq!(example(&[1.234, 2.3456]), None);
    assert_eq!(example(&[1.0, 2.0]), None);
}
