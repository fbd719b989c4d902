use super::*;

crate::choices! {
    /// How to weight samples.
    pub enum Weighting {
        /// All samples have weight 1.
        Uniform = "uniform",
        /// Near samples have larger
        /// weights.
        Distance = "distance",
    }
}

crate::parameters! {
    /// An example.
    #[derive(PartialEq)]
    pub struct Example as "example" {
        /// Number of neighbors.
        /// A second line.
        pub n_neighbors: usize = 5, between(1, 100);
        /// Tolerance.
        pub tol: f64 = 1e-4, above(0);
        /// A fraction, or none.
        pub fraction: Option<f64> = None, above_to(0, 1);
        /// How to weight samples.
        pub weighting: Weighting = Weighting::Uniform;
        /// Whether to center.
        pub center: bool = true;
        /// Quantiles.
        pub quantiles: Vec<f64> = vec![0.5];
    }
}

fn set(name: &str, text: &str) -> std::result::Result<Example, String> {
    apply(Example::default(), "example", &[(name, text)]).map_err(|error| error.to_string())
}

#[test]
fn declarations_are_read_back() {
    let all = Example::default().parameters();
    let names: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["n_neighbors", "tol", "fraction", "weighting", "center", "quantiles"]);
    assert_eq!(all[0].description, "Number of neighbors. A second line.");
    let expected: Vec<String> = all.iter().map(Parameter::expected).collect();
    assert_eq!(
        expected,
        [
            "an integer, from 1 to 100",
            "a number, above 0",
            "a number, above 0 and at most 1, or none",
            "uniform or distance",
            "true or false",
            "a list of numbers"
        ]
    );
    let defaults: Vec<String> = all.iter().map(Parameter::default_text).collect();
    assert_eq!(defaults, ["5", "0.0001", "none", "uniform", "true", "[0.5]"]);
    let Kind::Choice { values } = &all[3].kinds[0] else { panic!("a choice") };
    assert_eq!(values[1].description, "Near samples have larger weights.");
}

#[test]
fn settings_from_text() {
    assert_eq!(set("n_neighbors", "7").unwrap().n_neighbors, 7);
    assert_eq!(set("n_neighbors", "1e2").unwrap().n_neighbors, 100);
    assert_eq!(set("fraction", "0.25").unwrap().fraction, Some(0.25));
    assert_eq!(set("fraction", "none").unwrap(), Example::default());
    assert_eq!(set("weighting", "distance").unwrap().weighting, Weighting::Distance);
    assert!(!set("center", "false").unwrap().center);
    assert_eq!(set("quantiles", "[0.1, 0.9]").unwrap().quantiles, [0.1, 0.9]);
}

#[test]
fn settings_that_are_wrong() {
    for (name, text, message) in [
        ("n_neighbors", "0", "example: parameter 'n_neighbors' must be an integer, from 1 to 100, got '0'"),
        (
            "n_neighbors",
            "5.0",
            "example: parameter 'n_neighbors' must be an integer, from 1 to 100, got '5.0'",
        ),
        ("tol", "inf", "example: parameter 'tol' must be a number, above 0, got 'inf'"),
        ("weighting", "near", "example: parameter 'weighting' must be uniform or distance, got 'near'"),
        ("n_neighbor", "3", "no parameter 'n_neighbor'; did you mean 'n_neighbors'?"),
    ] {
        assert_eq!(set(name, text).unwrap_err(), message);
    }
}

#[test]
fn ranges_are_checked() {
    let message = Example { tol: -1.0, ..Example::default() }.check_ranges().unwrap_err().to_string();
    assert_eq!(message, "example: parameter 'tol' must be a number, above 0, got -1");
    assert!(Example { fraction: Some(f64::NAN), ..Example::default() }.check_ranges().is_err());
    assert!(Example { fraction: Some(1.0), ..Example::default() }.check_ranges().is_ok());
}

#[test]
fn method_and_settings_in_one_text() {
    let (name, settings) = parse_settings("design:quantiles=[0.1,0.9],tol=1").unwrap();
    assert_eq!((name, settings), ("design", vec![("quantiles", "[0.1,0.9]"), ("tol", "1")]));
    assert_eq!(parse_settings("relief").unwrap(), ("relief", vec![]));
    let message = parse_settings("relief:squared").unwrap_err().to_string();
    assert!(message.contains("write relief:NAME=VALUE"), "{message}");
}
