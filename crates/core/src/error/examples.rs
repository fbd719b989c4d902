//! An example of every error, for tests of the messages of the command line and Python.

use super::variants::Error;

/// An example of every variant.
pub fn examples() -> Vec<Error> {
    let (row, name) = (2, || "size".to_owned());
    let names = || vec!["class".to_owned(), "ash".to_owned()];
    let (similar, method) = (Some("class".to_owned()), "Fisher score");
    let not_found = || std::io::Error::from(std::io::ErrorKind::NotFound);
    let examples = vec![
        Error::param("SVM", "gamma", "positive", -1e-300),
        Error::NoEffect { method: "SVM", name: "degree", why: "the kernel is linear".into() },
        Error::Shape { what: "target".into(), expected: "2 rows".into(), got: "1".into() },
        Error::NonFinite { row, column: name(), value: f64::INFINITY },
        Error::MissingValue { row, column: name() },
        Error::MissingUnsupported { method: method.into(), row, column: name() },
        Error::CategoryUnsupported { method: method.into(), column: name() },
        Error::WeightsUnsupported { method: "ReliefF".into(), supported: vec!["fisher", "ldfs"] },
        Error::OutputsUnsupported { method: "ReliefF".into(), supported: vec!["fohsic", "bahsic"] },
        Error::RoundsUnsupported { method: "ReliefF".into(), supported: vec!["fisher", "chi-squared"] },
        Error::NoCompleteRows,
        Error::NotNumeric { row, column: name(), text: "abc".into() },
        Error::NotOfType { row, column: name(), text: "abc".into(), expected: "a date" },
        Error::UnknownColumn { name: "clas".into(), similar: similar.clone(), available: names() },
        Error::UnknownName { what: "method", name: "clas".into(), similar, available: names() },
        Error::DuplicateColumn { name: name(), first: 1, second: 3 },
        Error::DuplicateId { id: "a".into(), first: 1, second: 3 },
        Error::TooFewRows { method, need: 3, got: 2 },
        Error::NoFeatures,
        Error::AllSkipped { skipped: "skipped: 'a' (constant)".into() },
        Error::OneClass { method, class: "1".into() },
        Error::SingletonClasses { method, rows: 5 },
        Error::NeedsClasses { method, found: "the target is continuous" },
        Error::NeedsTarget { method },
        Error::ConstantTarget { method, value: 1e-300 },
        Error::Breakdown { step: "eigenvalues", why: "no convergence".into() },
        Error::Interrupted,
        Error::Memory {
            what: "a Gram matrix".into(),
            needed: 2048,
            limit: 1024,
            advice: "use fewer rows, or raise the memory limit",
        },
        Error::Io { path: "a.csv".into(), source: not_found() },
        Error::at_line(7, "expected 3 fields, found 4"),
        Error::Model { why: "no columns".into() },
        Error::Several(vec![Error::NoFeatures, Error::MissingValue { row, column: name() }]),
        Error::MissingValue { row, column: name() }.in_file(std::path::Path::new("a.csv")),
    ];
    examples.iter().for_each(has_example);
    examples
}

/// Lists all variants, so that a new one does not compile until it is added here; add its example above as well.
fn has_example(error: &Error) {
    match error {
        Error::Param { .. }
        | Error::NoEffect { .. }
        | Error::Shape { .. }
        | Error::NonFinite { .. }
        | Error::MissingValue { .. }
        | Error::MissingUnsupported { .. }
        | Error::CategoryUnsupported { .. }
        | Error::WeightsUnsupported { .. }
        | Error::OutputsUnsupported { .. }
        | Error::RoundsUnsupported { .. }
        | Error::NoCompleteRows
        | Error::NotNumeric { .. }
        | Error::NotOfType { .. }
        | Error::UnknownColumn { .. }
        | Error::UnknownName { .. }
        | Error::DuplicateColumn { .. }
        | Error::DuplicateId { .. }
        | Error::TooFewRows { .. }
        | Error::NoFeatures
        | Error::AllSkipped { .. }
        | Error::OneClass { .. }
        | Error::SingletonClasses { .. }
        | Error::NeedsClasses { .. }
        | Error::NeedsTarget { .. }
        | Error::ConstantTarget { .. }
        | Error::Breakdown { .. }
        | Error::Interrupted
        | Error::Memory { .. }
        | Error::Io { .. }
        | Error::Parse { .. }
        | Error::Model { .. }
        | Error::Several(_)
        | Error::InFile { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::mem::discriminant;

    #[test]
    fn messages_name_no_options_and_no_long_numbers() {
        let examples = examples();
        let distinct: HashSet<_> = examples.iter().map(discriminant).collect();
        assert_eq!(distinct.len(), 33, "one example per variant");
        for message in examples.iter().map(Error::to_string) {
            assert!(!message.contains("--") && !message.contains("00000000"), "{message}");
        }
    }

    /// Free text, such as advice about memory, must not name options either.
    #[test]
    fn the_crate_names_no_options() {
        let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let is_test = path.file_stem().unwrap().to_string_lossy().contains("tests");
                for line in code.lines().filter(|line| !is_test && !line.trim_start().starts_with("//")) {
                    let option = line
                        .split("--")
                        .skip(1)
                        .any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
                    assert!(!option, "{}: {line}", path.display());
                }
            }
        }
    }
}
