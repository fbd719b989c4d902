//! The target as orthonormal columns.

use super::functions::MIN_ROWS;
use super::orthonormal::Orthonormal;
use crate::data::{Dataset, Target, mean_rank, outer_fences};
use crate::dependence::varying;
use crate::error::{Error, Result};

/// Centered columns $Y$ of the target with $Y^\top Y = n I$: an indicator per class, less one, or the number itself.
pub(crate) fn target_columns(data: &Dataset, method: &'static str) -> Result<Vec<Vec<f64>>> {
    match data.target() {
        Target::None => Err(Error::NeedsTarget { method }),
        Target::Classes(_) => {
            let classes = data.classes(method)?;
            classes.need_pair(method)?;
            Ok(class_columns(&classes.codes, &classes.counts()))
        }
        Target::Outputs(y) => {
            let mut basis = Orthonormal::default();
            for column in varying(y, method)?.columns() {
                basis.push(of_number(&column.to_vec()));
            }
            Ok(basis.vectors)
        }
        Target::Continuous(values) => {
            if values.iter().all(|v| *v == values[0]) {
                return Err(Error::ConstantTarget { method, value: values.first().copied().unwrap_or(0.0) });
            }
            let mut basis = Orthonormal::default();
            basis.push(of_number(values));
            Ok(basis.vectors)
        }
    }
}

/// A continuous target without outliers, centered.
fn of_number(values: &[f64]) -> Vec<f64> {
    let clipped = without_outliers(values);
    // The largest absolute value becomes 1, so that squares neither overflow nor underflow.
    let largest = clipped.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
    centered(clipped.into_iter().map(|v| v / largest).collect())
}

/// Indicators of classes. Classes of few rows share the reference level, unless nothing else remains.
fn class_columns(codes: &[usize], counts: &[usize]) -> Vec<Vec<f64>> {
    for min_rows in [MIN_ROWS, 1.0] {
        let mut basis = Orthonormal::default();
        for class in (0..counts.len()).filter(|&class| counts[class] as f64 >= min_rows) {
            let column = codes.iter().map(|&code| f64::from(u8::from(code == class))).collect();
            let others = codes.len() - counts[class];
            if others as f64 >= min_rows {
                basis.push(centered(column));
            }
        }
        if !basis.vectors.is_empty() {
            return basis.vectors;
        }
    }
    vec![]
}

fn centered(mut values: Vec<f64>) -> Vec<f64> {
    // The second pass removes the rounding error of the first.
    for _ in 0..2 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter_mut().for_each(|v| *v -= mean);
    }
    values
}

/// Numbers with outliers moved to the outer fences: one outlier would otherwise determine every statistic. Their ranks if half of
/// them are equal, which leaves no fences.
fn without_outliers(values: &[f64]) -> Vec<f64> {
    if let Some((low, high)) = outer_fences(values.iter().copied()) {
        return values.iter().map(|v| v.clamp(low, high)).collect();
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    values.iter().map(|v| mean_rank(&sorted, *v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::dot;
    use ndarray::Array2;

    fn columns(target: Target, n: usize) -> Vec<Vec<f64>> {
        target_columns(&Dataset::with_target(Array2::zeros((n, 1)), target).unwrap(), "m").unwrap()
    }

    #[test]
    fn classes_have_a_column_less() {
        let codes: Vec<usize> = (0..40).map(|i| [0, 1, 1, 2][i % 4]).collect();
        let data = Dataset::labeled(Array2::zeros((40, 1)), codes).unwrap();
        let found = target_columns(&data, "m").unwrap();
        assert_eq!(found.len(), 2);
        for (a, v) in found.iter().enumerate() {
            assert!(v.iter().sum::<f64>().abs() < 1e-12);
            assert!(
                found
                    .iter()
                    .enumerate()
                    .all(|(b, w)| { (dot(v, w) - if a == b { 40.0 } else { 0.0 }).abs() < 1e-12 })
            );
        }
    }

    #[test]
    fn rare_classes_share_a_level() {
        // 18 rows of 0, 18 of 1, two each of 2 and 3.
        let codes: Vec<usize> = (0..40).map(|i| if i < 36 { i % 2 } else { 2 + i % 2 }).collect();
        assert_eq!(class_columns(&codes, &[18, 18, 2, 2]).len(), 2);
        // Nothing but rare classes.
        assert_eq!(class_columns(&[0, 1, 1, 0], &[2, 2]).len(), 1);
    }

    #[test]
    fn outliers_are_moved_to_the_fences() {
        // Quartiles 25 and 75 of 0, ..., 100: the fences are -125 and 225.
        let mut values: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(without_outliers(&values), values);
        values[100] = 1e9;
        values[0] = -1e9;
        let found = without_outliers(&values);
        assert_eq!((found[0], found[100], found[50]), (-125.0, 225.0, 50.0));
        // Half of the numbers are equal.
        assert_eq!(without_outliers(&[0.0, 0.0, 0.0, 0.0, 9.0]), [2.5, 2.5, 2.5, 2.5, 5.0]);
    }

    #[test]
    fn extreme_numbers() {
        for scale in [1e-300, 1.0, 1e300] {
            let values = (0..10).map(|i| scale * f64::from(i * i)).collect();
            let found = columns(Target::Continuous(values), 10);
            assert!((dot(&found[0], &found[0]) - 10.0).abs() < 1e-12, "{scale}");
        }
        let data = Dataset::with_target(Array2::zeros((3, 1)), Target::Continuous(vec![0.0; 3])).unwrap();
        assert!(matches!(target_columns(&data, "m"), Err(Error::ConstantTarget { .. })));
        let none = Dataset::unlabeled(Array2::zeros((3, 1))).unwrap();
        assert!(matches!(target_columns(&none, "m"), Err(Error::NeedsTarget { .. })));
    }
}
