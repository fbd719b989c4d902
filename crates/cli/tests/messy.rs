//! Messy tables: the account that `kernsift inspect` gives of each.
//!
//! A table `NAME.csv` in `tests/messy` has a file `NAME.txt`: a line with the command, then its messages and output. Set
//! `KERNSIFT_UPDATE=1` to write the present output to these files, and review the changes.

use crate::scratch::Scratch;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The names of all tables, sorted.
fn tables() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messy");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "csv"));
    paths.sort();
    paths
}

/// The command of a table, without `kernsift`.
fn command(table: &Path) -> (String, String) {
    let expected = std::fs::read_to_string(table.with_extension("txt")).unwrap();
    let (first, rest) = expected.split_once('\n').unwrap();
    (first.strip_prefix("$ kernsift ").unwrap().to_owned(), rest.to_owned())
}

fn with_tables() -> Scratch {
    let s = Scratch::new();
    for path in tables() {
        s.file(path.file_name().unwrap().to_str().unwrap(), std::fs::read(&path).unwrap());
    }
    s
}

#[test]
fn every_table_has_its_account() {
    let s = with_tables();
    let mut different = vec![];
    assert!(tables().len() >= 20);
    for table in tables() {
        let (line, expected) = command(&table);
        let run = s.ok(&line);
        let printed = run.err + &run.out;
        if std::env::var_os("KERNSIFT_UPDATE").is_some() {
            std::fs::write(table.with_extension("txt"), format!("$ kernsift {line}\n{printed}")).unwrap();
        } else if printed != expected {
            different.push(format!("kernsift {line}\n{printed}\nbut expected\n{expected}"));
        }
    }
    assert!(different.is_empty(), "{} tables differ:\n\n{}", different.len(), different.join("\n\n"));
}

#[test]
fn the_record_has_the_same_columns_and_the_page_is_written() {
    let s = with_tables();
    let printed = s.ok("inspect customers.csv --json --report page.html").out;
    let record: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((record["rows"].as_u64(), record["columns"].as_array().unwrap().len()), (Some(24), 7));
    let id = &record["columns"][0];
    assert_eq!((id["type"].as_str(), id["action"].as_str()), (Some("id"), Some("id")));
    assert_eq!(record["columns"][1]["type"], "date");
    let page = s.text("page.html");
    assert!(
        page.contains("Columns that are not used") && page.matches("<figure class=\"small\">").count() == 6
    );
    assert!(!page.contains("NaN"));
}

/// 300 columns of which 3 % are missing: no row is complete, and none is lost.
#[test]
fn a_wide_table_with_missing_values_keeps_its_rows() {
    let s = Scratch::new();
    let mut state = 7u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let mut text = (1..=300).map(|j| format!("x{j},")).collect::<String>() + "class\n";
    for row in 0..100 {
        for _ in 0..300 {
            let value = draw();
            text += &if draw() < 0.03 { ",".to_owned() } else { format!("{value:.3},") };
        }
        text += if row % 2 == 0 { "a\n" } else { "b\n" };
    }
    s.file("wide.csv", text);
    let out = s.ok("inspect wide.csv").out;
    assert!(
        out.contains("wide.csv: 100 rows, 301 columns") && out.contains("300 features: 300 numbers"),
        "{out}"
    );
    assert!(
        out.contains("columns: imputed with the median and indicated") && out.contains("and 251 more"),
        "{out}"
    );
    assert!(s.error("select wide.csv --missing drop").contains("every row has a missing value"));
}

#[test]
fn all_problems_are_reported_at_once() {
    let s = with_tables();
    let error = s.error("inspect customers.csv --exclude ag --id key --type City=number --type Age=nummer");
    assert!(error.contains("no type 'nummer'; did you mean 'number'?"), "{error}");
    let run = s.run("inspect customers.csv --exclude ag --id key --type City=number --target klass");
    assert_eq!(run.code, 2);
    for part in [
        "customers.csv: 4 problems:",
        "no column 'ag'; did you mean 'Age'?",
        "no column 'key'",
        "no column 'klass'; did you mean 'class'?",
        "as a number. Correct the value, or choose another type with --type.",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
}

/// Tables without features or with a single row or class, which methods refuse.
const REFUSED: [&str; 2] = ["one_row", "only_ids"];

#[test]
fn select_apply_and_compare_take_every_table() {
    let s = with_tables();
    let mut failed = vec![];
    for table in tables() {
        let name = table.file_stem().unwrap().to_str().unwrap();
        if REFUSED.contains(&name) {
            continue;
        }
        // The options of the table's account, such as its types.
        let options = command(&table).0;
        let options = options.strip_prefix("inspect ").unwrap();
        // Those of reading are also needed for new rows.
        let reading = ["--transpose", "--na-values -999,unknown"].into_iter().find(|o| options.contains(o));
        let reading = reading.unwrap_or_default();
        for command in [
            format!("select {options} --save {name}.model --out {name}_kept.csv"),
            format!("apply {name}.model {name}.csv {reading} --out {name}_applied.csv"),
            format!("compare {options} -m fisher,relief -k 1"),
        ] {
            let run = s.run(&command);
            if run.code != 0 {
                failed.push(format!("{command}: {}", run.err));
                break;
            }
        }
        // The selected columns and the target have their original values in both. Only a fit drops rows without a target.
        if failed.is_empty() && !["missing_target", "stray_target"].contains(&name) {
            assert_eq!(s.text(&format!("{name}_kept.csv")), s.text(&format!("{name}_applied.csv")), "{name}");
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    for name in REFUSED {
        assert_eq!(s.run(&format!("select {name}.csv")).code, 2, "{name}");
    }
}
