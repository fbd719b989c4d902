//! Names of columns that occur repeatedly in a file.

use crate::error::shorten;
use std::collections::{HashMap, HashSet};

/// Makes names unique: a name that occurs again gets a number, as in pandas: `x`, `x.1`, `x.2`. Warns about each.
pub(crate) fn unique_names(names: &mut [String], warnings: &mut Vec<String>) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut first: HashMap<String, (usize, usize)> = HashMap::new();
    for (at, name) in names.iter_mut().enumerate() {
        let Some((before, n)) = first.get_mut(name) else {
            first.insert(name.clone(), (at, 0));
            continue;
        };
        let unique = loop {
            *n += 1;
            let next = format!("{name}.{n}");
            if taken.insert(next.clone()) {
                break next;
            }
        };
        warnings.push(format!(
            "column {} and column {} are both named '{}'; the second one is called '{}' here",
            *before + 1,
            at + 1,
            shorten(name),
            shorten(&unique)
        ));
        *name = unique;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_get_numbers() {
        let mut names = ["x", "y", "x", "x.1", "x"].map(str::to_owned);
        let mut warnings = vec![];
        unique_names(&mut names, &mut warnings);
        assert_eq!(names, ["x", "y", "x.2", "x.1", "x.3"]);
        assert_eq!(
            warnings[0],
            "column 1 and column 3 are both named 'x'; the second one is called 'x.2' here"
        );
    }
}
