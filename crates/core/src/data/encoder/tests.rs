use super::*;
use crate::data::Target;
use crate::random::Rng;
use ndarray::array;

const NAN: f64 = f64::NAN;

fn typed(x: Array2<f64>, types: &[FeatureType]) -> Dataset {
    let names = (1..=x.ncols()).map(|j| format!("x{j}")).collect();
    Dataset::typed(names, x, types.to_vec(), Target::None).unwrap()
}

fn category(levels: usize) -> FeatureType {
    FeatureType::Category { levels }
}

fn encoded(data: &Dataset, encoding: Encoding) -> Dataset {
    Encoder::fit(data, encoding).unwrap().encode(data).unwrap()
}

#[test]
fn complete_numbers_are_standardized_as_by_the_standardizer() {
    let x = array![[1.0, 5.0, 2.0], [3.0, 7.0, 2.0], [4.0, -1.0, 2.0]];
    let data = Dataset::unlabeled(x.clone()).unwrap();
    let expected = Standardizer::fit(&x.clone().into()).apply(&x.clone().into()).unwrap();
    assert_eq!(encoded(&data, Encoding::default()).x(), &expected);
    let unscaled = Encoding { standardize: false, ..Encoding::default() };
    assert_eq!(encoded(&data, unscaled), data);
}

#[test]
fn a_missing_number_gets_the_median_and_an_indicator() {
    let data = typed(array![[1.0], [NAN], [5.0], [3.0]], &[FeatureType::Number]);
    let unscaled = Encoding { standardize: false, ..Encoding::default() };
    assert_eq!(
        encoded(&data, unscaled).x().to_dense(),
        array![[1.0, 0.0], [3.0, 1.0], [5.0, 0.0], [3.0, 0.0]]
    );
    let without = Encoding { impute: Some(ImputeStrategy::Median), ..unscaled };
    assert_eq!(encoded(&data, without).x().to_dense(), array![[1.0], [3.0], [5.0], [3.0]]);
    let standardized = encoded(&data, Encoding::default());
    assert_eq!((standardized.d(), standardized.groups()), (1, Groups::of_sizes([2])));
    let (mean, std) = standardized.x().moments();
    // Means and deviations of four numbers: a few ulps.
    assert!(mean.iter().all(|m| m.abs() < 1e-15) && std.iter().all(|s| (s - 1.0).abs() < 1e-15));
    let refused = Encoding { impute: None, standardize: false };
    let error = Encoder::fit(&data, refused).unwrap().encode(&data).unwrap_err().to_string();
    assert_eq!(error, "row 2, column 'x1': missing value");
}

#[test]
fn an_indicator_needs_more_than_one_percent_missing() {
    for (missing, columns) in [(1, 1), (2, 2)] {
        let mut x = Array2::from_shape_fn((100, 1), |(i, _)| i as f64);
        (0..missing).for_each(|i| x[[i, 0]] = NAN);
        assert_eq!(encoded(&typed(x, &[FeatureType::Number]), Encoding::default()).x().d(), columns);
    }
}

#[test]
fn a_category_has_a_column_per_level() {
    // Frequencies 1/2, 1/4, 1/4: the square of the scale is 1 / (1 - 3/8) = 8/5.
    let data = typed(array![[0.0], [2.0], [0.0], [1.0]], &[category(3)]);
    let unscaled = Encoding { standardize: false, ..Encoding::default() };
    assert_eq!(
        encoded(&data, unscaled).x().to_dense(),
        array![[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    );
    let x = encoded(&data, Encoding::default()).x().to_dense();
    let s = (8.0_f64 / 5.0).sqrt();
    let expected = array![0.5 * s, -0.25 * s, -0.25 * s];
    // One product per entry: an ulp.
    assert!((&x.row(0) - &expected).iter().all(|e| e.abs() < 1e-15));
}

#[test]
fn every_feature_has_the_mean_squared_distance_of_a_standardized_number() {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_fn((200, 3), |(_, j)| match j {
        0 => rng.normal(),
        1 => (rng.uniform() * rng.uniform() * 7.0).floor(),
        _ => f64::from(u8::from(rng.uniform() < 0.1)),
    });
    let data = encoded(&typed(x, &[FeatureType::Number, category(7), category(2)]), Encoding::default());
    for (j, columns) in data.groups().iter().enumerate() {
        let block = data.x().to_dense().slice(s![.., columns]).to_owned();
        let mut sum = 0.0;
        for a in block.rows() {
            for b in block.rows() {
                sum += (&a - &b).mapv(|e| e * e).sum();
            }
        }
        // 40,000 terms of about 2: the rounding error is far below 1e-12.
        assert!((sum / 4e4 - 2.0).abs() < 1e-12, "feature {j}: {}", sum / 4e4);
    }
}

#[test]
fn new_rows_may_have_missing_values_and_new_categories() {
    let x = array![[0.0, 1.0], [1.0, 3.0], [2.0, 8.0]];
    let train = typed(x, &[category(4), FeatureType::Number]);
    let unscaled = Encoding { standardize: false, ..Encoding::default() };
    let encoder = Encoder::fit(&train, unscaled).unwrap();
    // Level 3 is not in the training rows, code 4 is no level, and the training rows have no missing values.
    let new = array![[3.0, NAN], [4.0, 1.0], [NAN, 2.0], [1.0, 4.0]].into();
    assert_eq!(
        encoder.apply(&new).unwrap().to_dense(),
        array![[0.0, 0.0, 0.0, 3.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 4.0]]
    );
    assert!(encoder.apply(&array![[1.0]].into()).is_err());
}

#[test]
fn missing_categories_are_a_level() {
    let data = typed(array![[0.0], [NAN], [0.0], [NAN]], &[category(1)]);
    let unscaled = Encoding { standardize: false, ..Encoding::default() };
    let x = encoded(&data, unscaled).x().to_dense();
    assert_eq!(x, array![[0.0], [1.0], [0.0], [1.0]]);
    let three = typed(array![[0.0], [NAN], [1.0], [NAN]], &[category(2)]);
    let x = encoded(&three, unscaled).x().to_dense();
    assert_eq!(x, array![[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
}

#[test]
fn two_levels_are_like_a_number() {
    let codes = array![[0.0], [1.0], [1.0], [0.0], [1.0]];
    let data = typed(codes.clone(), &[category(2)]);
    let encoder = Encoder::fit(&data, Encoding::default()).unwrap();
    let numbers = Dataset::unlabeled(codes).unwrap();
    assert_eq!(encoder.encode(&data).unwrap().x(), encoded(&numbers, Encoding::default()).x());
    // Another category and a missing value are in the middle.
    let new = encoder.apply(&array![[0.0], [1.0], [2.0], [NAN]].into()).unwrap().to_dense();
    assert_eq!((new[[2, 0]], new[[3, 0]]), (0.5 * (new[[0, 0]] + new[[1, 0]]), new[[2, 0]]));
}

#[test]
fn numbers_of_typed_data_are_standardized() {
    let data = typed(array![[1.0, 0.0], [3.0, 1.0], [NAN, 1.0]], &[FeatureType::Number, category(2)]);
    let scaled = standardized_numbers(&data).unwrap();
    let x = scaled.x().to_dense();
    assert_eq!((x[[0, 0]], x[[1, 0]], x.column(1).to_vec()), (-1.0, 1.0, vec![0.0, 1.0, 1.0]));
    assert!(x[[2, 0]].is_nan() && scaled.has_categories());
}

#[test]
fn rare_levels_share_a_column() {
    // Levels 0 to 149; the even ones have two rows.
    let codes: Vec<f64> = (0..150).flat_map(|c| vec![c as f64; if c % 2 == 0 { 2 } else { 1 }]).collect();
    let n = codes.len();
    let data = typed(Array2::from_shape_vec((n, 1), codes.clone()).unwrap(), &[category(150)]);
    let unscaled = Encoding { standardize: false, ..Encoding::default() };
    let x = encoded(&data, unscaled).x().to_dense();
    assert_eq!(x.dim(), (n, MAX_LEVELS));
    assert!(x.rows().into_iter().all(|row| row.sum() == 1.0));
    // All 75 even levels and the first 24 odd ones have a column of their own.
    assert_eq!(x.column(MAX_LEVELS - 1).sum(), 51.0);
    assert!(codes.iter().zip(x.rows()).all(|(c, row)| c % 2.0 == 1.0 || row[MAX_LEVELS - 1] == 0.0));
}

#[test]
fn constant_and_empty_features_stay_finite() {
    let x = array![[0.0, 4.0, NAN, NAN], [0.0, 4.0, NAN, NAN]];
    let types = [category(2), FeatureType::Number, category(1), FeatureType::Number];
    let data = encoded(&typed(x, &types), Encoding::default());
    assert!(data.x().to_dense().iter().all(|v| v.abs() < 1e-15), "{:?}", data.x());
}

#[test]
fn a_period_of_a_date_is_a_point_on_a_circle() {
    let types = [FeatureType::Date("hour".to_owned().try_into().unwrap()), FeatureType::Number];
    let data = typed(array![[0.0, 1.0], [0.25, 2.0], [1.5, 4.0], [NAN, 8.0]], &types);
    assert!(data.is_typed() && !data.has_categories() && data.need_numbers("m").is_ok());
    let unscaled = Encoding { standardize: false, ..Encoding::default() };
    let found = encoded(&data, unscaled);
    assert_eq!(found.groups(), Groups::of_sizes([4, 1]));
    let third = 1.0 / 3.0;
    let expected = array![
        [0.0, 0.0, 0.0, 1.0, 1.0],
        [0.25, 0.0, 1.0, 0.0, 2.0],
        [1.5, 0.0, 0.0, -1.0, 4.0],
        // The median, the indicator, and the mean of the points.
        [0.25, 1.0, third, 0.0, 8.0]
    ];
    // Sines and cosines of multiples of a right angle.
    assert!((&found.x().to_dense() - &expected).iter().all(|v| v.abs() < 1e-15));
    let scaled = encoded(&data.take_columns(&[0]), Encoding::default());
    assert_eq!(scaled.x().to_dense().row(3).slice(ndarray::s![2..]), array![0.0, 0.0]);
    assert!(data.take_columns(&[1]).need_numbers("m").is_ok() && !data.take_columns(&[1]).is_typed());
}
