//! Files that are restored, and files that are refused.

use super::*;
use crate::basis::{Basis, Kobl};
use crate::data::{Column, ColumnOptions, Encoding, Missing, Prepare};
use crate::kernel::Kernel;
use crate::learn::Status;
use crate::select::{FeatureCount, FisherScore, Selector};

fn table() -> Table {
    let column =
        |name: &str, f: fn(f64) -> f64| Column::numeric(name, (0..12).map(|i| f(f64::from(i))).collect());
    Table::new(vec![
        column("a", |i| i),
        column("b", |i| (i * 1.7).sin()),
        column("class", |i| f64::from(u8::from(i > 5.0))),
    ])
    .unwrap()
}

fn models() -> [Model; 3] {
    let ctx = Context::default();
    let prepared = Prepare::default().fit(&table()).unwrap();
    let encoder = Encoder::fit(&prepared.data, Encoding { impute: None, standardize: true }).unwrap();
    let scaled = encoder.encode(&prepared.data).unwrap();
    let names = prepared.data.names().to_vec();
    let map = Content::Map(Kobl::default().fit(&scaled, &ctx).unwrap().map);
    let selection = FisherScore::default().select(&prepared.data, FeatureCount::Count(1), &ctx).unwrap();
    let recipe = Some(prepared.recipe);
    // Uses the first column only.
    let weak = Kernel::OnFeature { feature: 0, kernel: Box::new(Kernel::Rbf { gamma: 0.5 }) };
    let kernel = Content::Kernel(Learned {
        method: "design".into(),
        kernel: Kernel::Sum(vec![(2.0, weak)]),
        noise: 0.25,
        scores: vec![1.0, 0.0],
        status: Status::Optimal,
        iterations: 3,
    });
    let with = |encoder, content| Model { names: names.clone(), recipe: recipe.clone(), encoder, content };
    [with(Some(encoder.clone()), map), with(None, Content::Selection(selection)), with(Some(encoder), kernel)]
}

#[test]
fn saved_models_are_restored() {
    for model in models() {
        let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(back, model);
        let ctx = Context::default();
        assert_eq!(back.apply_table(&table(), &ctx).unwrap(), model.apply_table(&table(), &ctx).unwrap());
    }
}

#[test]
fn a_selection_gives_back_its_columns_unscaled() {
    let [_, selection, _] = models();
    assert_eq!(selection.output_names(), ["a"]);
    let output = selection.apply_table(&table(), &Context::default()).unwrap();
    assert_eq!(output.values, [Column::numeric("a", (0..12).map(f64::from).collect())]);
    assert_eq!(output.rows.len(), 12);
    // The other column may be missing.
    let only = Table::new(vec![Column::numeric("a", vec![7.0])]).unwrap();
    assert_eq!(
        selection.apply_table(&only, &Context::default()).unwrap().values,
        [Column::numeric("a", vec![7.0])]
    );
}

#[test]
fn missing_values_are_kept_or_refused() {
    let [mut map, mut selection, mut kernel] = models();
    let recipe = Prepare { missing: Missing::Auto, ..Prepare::default() }.fit(&table()).unwrap().recipe;
    let new =
        Table::new(vec![Column::numeric("a", vec![f64::NAN, 2.0]), Column::numeric("b", vec![1.0, 2.0])])
            .unwrap();
    let ctx = Context::default();
    selection.recipe = Some(recipe.clone());
    let selection = Model::from_bytes(&selection.to_bytes().unwrap()).unwrap();
    let output = selection.apply_table(&new, &ctx).unwrap();
    assert!(output.values[0].is_missing(0) && output.values[0].cell(1).as_deref() == Some("2"));
    assert_eq!(output.rows, [0, 1]);
    kernel.recipe = Some(recipe.clone());
    let error = kernel.apply_table(&new, &ctx).unwrap_err().to_string();
    assert!(error.contains("missing value, and design does not support missing values"), "{error}");
    map.recipe = Some(recipe);
    let map = Model::from_bytes(&map.to_bytes().unwrap()).unwrap();
    let error = map.apply_table(&new, &ctx).unwrap_err().to_string();
    assert!(
        error.starts_with("row 1, column 'a': missing value, and kobl does not support missing values"),
        "{error}"
    );
}

#[test]
fn every_flipped_byte_and_every_cut_is_refused() {
    for model in [&models()[0], &models()[2]] {
        let bytes = model.to_bytes().unwrap();
        for i in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[i] ^= 0x20;
            assert!(Model::from_bytes(&altered).is_err(), "byte {i}");
            assert!(Model::from_bytes(&bytes[..i]).is_err(), "cut at {i}");
        }
    }
}

#[test]
fn messages_for_invalid_files() {
    let bytes = models()[0].to_bytes().unwrap();
    let message = |bytes: &[u8]| Model::from_bytes(bytes).unwrap_err().to_string();
    assert!(message(b"a,b\n1,2\n").ends_with("it does not start with the magic bytes"));
    assert!(message(&bytes[..bytes.len() - 1]).contains("it is truncated"));
    let mut newer = bytes.clone();
    newer[8] = 9;
    assert!(message(&newer).contains("version 9, this program reads version 5; update kernsift"));
    let mut older = bytes.clone();
    older[8] = 3;
    assert!(message(&older).contains("version 3, this program reads version 5; fit the model again"));
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(message(&damaged).contains("checksum"));
}

#[test]
fn a_model_with_a_right_checksum_and_wrong_parts_is_refused() {
    let [_, mut model, _] = models();
    if let Content::Selection(selection) = &mut model.content {
        selection.order = vec![7];
    }
    let message = Model::from_bytes(&model.to_bytes().unwrap()).unwrap_err().to_string();
    assert!(message.contains("are inconsistent"), "{message}");
}

#[test]
fn a_kernel_with_a_right_checksum_and_wrong_parts_is_refused() {
    let far = Kernel::OnFeature { feature: 2, kernel: Box::new(Kernel::Linear) };
    let wrong: [fn(&mut Learned); 6] = [
        |learned| learned.scores.push(1.0),
        |learned| learned.scores[0] = f64::NAN,
        |learned| learned.noise = -1.0,
        |learned| learned.noise = f64::INFINITY,
        |learned| learned.kernel = Kernel::Sum(vec![]),
        |learned| learned.kernel = Kernel::Mahalanobis { metric: ndarray::array![[1.0]] },
    ];
    let refused = |alter: &dyn Fn(&mut Learned)| {
        let [_, _, mut model] = models();
        if let Content::Kernel(learned) = &mut model.content {
            alter(learned);
        }
        let message = Model::from_bytes(&model.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(message.contains("are inconsistent"), "{message}");
    };
    wrong.iter().for_each(|alter| refused(alter));
    refused(&|learned| learned.kernel = far.clone());
    // A recipe with other columns than the model: one of two, or both in another order.
    for columns in [&[0][..], &[1, 0]] {
        let [_, _, mut model] = models();
        model.recipe = Some(model.recipe.unwrap().restricted(columns));
        let message = Model::from_bytes(&model.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(message.contains("are inconsistent"), "{message}");
    }
}

/// The stack of a thread is small, and a kernel may hold a kernel.
#[test]
fn a_kernel_inside_a_kernel_inside_a_kernel_does_not_fill_the_stack() {
    for (levels, fits) in [(100, true), (1000, false), (20_000, false)] {
        // Writing it takes as much stack as it has levels.
        let written = std::thread::Builder::new().stack_size(256 << 20).spawn(move || {
            let [_, _, mut model] = models();
            let mut kernel = Kernel::Linear;
            for _ in 0..levels {
                kernel = Kernel::Sum(vec![(1.0, kernel)]);
            }
            if let Content::Kernel(learned) = &mut model.content {
                learned.kernel = kernel;
            }
            model.to_bytes().unwrap()
        });
        let bytes = written.unwrap().join().unwrap();
        assert_eq!(Model::from_bytes(&bytes).is_ok(), fits, "{levels} levels");
    }
}

/// The values 0 to 11 have the variance 143/12, and the model scales by it.
#[test]
fn a_kernel_gives_gram_matrices() {
    let [map, _, model] = models();
    let ctx = Context::default();
    let value = |difference: f64| 2.0 * (-0.5 * difference * difference * 12.0 / 143.0).exp();
    let x: Rows = ndarray::array![[3.0, 0.0], [5.0, 1.0], [3.0, 0.0]].into();
    let z: Rows = ndarray::array![[4.0, 9.0], [3.0, 0.0]].into();
    let near = |got: Array2<f64>, expected: Array2<f64>| {
        // A rounding each of scaling, the square, the exponential and the weight.
        assert!((&got - &expected).iter().all(|e| e.abs() < 1e-14), "{got:?}");
    };
    let (one, two) = (value(1.0), value(2.0));
    let alone = ndarray::array![[2.0, two, 2.0], [two, 2.0, two], [2.0, two, 2.0]];
    near(model.apply(&x, &ctx).unwrap(), alone.clone());
    // Noise is 0.25 where rows are equal.
    let mut noisy = alone;
    [[0, 0], [1, 1], [2, 2], [0, 2], [2, 0]].into_iter().for_each(|at| noisy[at] += 0.25);
    near(model.gram(&x, None, true, &ctx).unwrap(), noisy);
    near(model.gram(&x, Some(&z), false, &ctx).unwrap(), ndarray::array![[one, 2.0], [one, two], [one, 2.0]]);
    near(
        model.gram(&x, Some(&z), true, &ctx).unwrap(),
        ndarray::array![[one, 2.25], [one, two], [one, 2.25]],
    );
    assert_eq!(model.kernel().unwrap().features(), [0]);
    assert!(map.kernel().unwrap_err().to_string().contains("fitted by kobl has no learned kernel"));
    let small = Context { memory_limit: 50, ..Context::default() };
    assert!(model.apply(&x, &small).unwrap_err().to_string().contains("the Gram matrix of 3 x 3 rows"));
    let narrow = model.gram(&x, Some(&ndarray::array![[1.0]].into()), false, &ctx).unwrap_err();
    assert!(narrow.to_string().contains("expected 2, got 1"));
}

#[test]
fn unused_columns_of_a_kernel_may_be_missing() {
    let [_, _, model] = models();
    let ctx = Context::default();
    let table = |with_b: bool| {
        let b = with_b.then(|| Column::numeric("b", vec![7.0, 8.0]));
        let a = [Column::numeric("a", vec![3.0, 5.0])];
        Table::new(a.into_iter().chain(b).collect()).unwrap()
    };
    let complete = model.apply_table(&table(true), &ctx).unwrap();
    let gram = model.apply(&ndarray::array![[3.0, 7.0], [5.0, 8.0]].into(), &ctx).unwrap();
    let column = |j: usize| Column::numeric(format!("row{}", j + 1), gram.column(j).to_vec());
    assert_eq!(complete.values, [column(0), column(1)]);
    assert_eq!(model.apply_table(&table(false), &ctx).unwrap(), complete);
    // The noise term uses all of them.
    let error = model.kernel_rows(&table(false), true).unwrap_err().to_string();
    assert!(error.starts_with("no column 'b'"), "{error}");
}

#[test]
fn the_number_of_columns_is_checked() {
    let [map, ..] = models();
    let error = map.apply(&ndarray::array![[1.0]].into(), &Context::default()).unwrap_err();
    assert!(error.to_string().contains("expected 2, got 1"));
}

/// A selection of all features of a table with all types of columns.
fn mixed() -> (Table, Model) {
    let cells = |texts: [&'static str; 6]| texts.into_iter().map(|text| Some(text).filter(|t| !t.is_empty()));
    let table = Table::new(vec![
        Column::text("size", cells(["1,5 kg", "2,5 kg", "", "3,5 kg", "4,5 kg", "0,5 kg"])),
        Column::text("color", cells(["red", "blue", "red", "green", "", "red"])),
        Column::text("sure", cells(["yes", "no", "no", "yes", "no", "no"])),
        Column::text("day", cells(["1.2.2021", "3.4.2021", "5.6.2021", "7.8.2021", "9.10.2021", "1.1.2022"])),
        Column::text("grade", cells(["low", "high", "mid", "low", "low", "mid"])),
        Column::text("y", cells(["a", "b", "a", "b", "a", "b"])),
    ])
    .unwrap();
    let types = [("day", "date+month"), ("grade", "ordered:low<mid<high")];
    let types = types.map(|(name, kind)| (name.to_owned(), kind.parse().unwrap())).to_vec();
    let columns = ColumnOptions { include: vec!["*".into()], types, ..ColumnOptions::default() };
    let prepared = Prepare { columns, ..Prepare::default() }.fit(&table).unwrap();
    let selection = Selection::by_score("m", vec![1.0, 2.0, 3.0, 4.0, f64::INFINITY], 5);
    let model = Model::of_selection(&prepared.data, prepared.recipe, selection, Encoding::default()).unwrap();
    (table, model)
}

#[test]
fn selected_features_are_encoded() {
    let (table, model) = mixed();
    let encoded = model.encode_table(&table).unwrap();
    let names = model.encoded_names().unwrap();
    let expected = [
        [
            "grade",
            "day",
            "day month sin",
            "day month cos",
            "sure=yes",
            "color=blue",
            "color=green",
            "color=red",
        ]
        .as_slice(),
        &["color is missing", "size", "size is missing"],
    ];
    assert_eq!(names, expected.concat());
    assert_eq!(encoded.values.dim(), (6, names.len()));
    // Sums of six numbers around 1.
    assert!(encoded.values.mean_axis(ndarray::Axis(0)).unwrap().iter().all(|mean| mean.abs() < 1e-12));
    let column = |name: &str| encoded.values.column(names.iter().position(|n| n == name).unwrap()).to_vec();
    // The missing size is imputed with the median, which is the mean.
    assert!(column("size")[2].abs() < 1e-12 && column("size is missing")[2] > 0.0);
    assert!(models()[0].encode_table(&table).is_err() && models()[0].encoded_names().is_err());
}

#[test]
fn a_selection_in_json_is_restored() {
    let (table, model) = mixed();
    let text = model.to_json().unwrap();
    let back = Model::from_bytes(text.as_bytes()).unwrap();
    assert_eq!(back.to_json().unwrap(), text);
    assert_eq!(back.encode_table(&table).unwrap(), model.encode_table(&table).unwrap());
    let ctx = Context::default();
    assert_eq!(back.apply_table(&table, &ctx).unwrap(), model.apply_table(&table, &ctx).unwrap());
    assert_eq!(back.output_names(), model.output_names());
    // Without selected features, and of another kind.
    let none = Selection::by_score("m", vec![0.0, 0.0], 0);
    let none = Model { encoder: None, content: Content::Selection(none), ..models()[1].clone() };
    let none = Model::from_json(none.to_json().unwrap().as_bytes()).unwrap();
    assert_eq!(none.encode_table(&table).unwrap().values.dim(), (6, 0));
    let refused = models()[0].to_json().unwrap_err().to_string();
    assert!(refused.contains("a model fitted by kobl cannot be saved as JSON"), "{refused}");
}

/// A number instead of another, a text instead of a number, and cuts: an error, or a model that encodes without a panic.
#[test]
fn altered_json_does_no_harm() {
    let (table, model) = mixed();
    let text = model.to_json().unwrap();
    for (at, byte) in text.bytes().enumerate() {
        for other in [b'9', b'0', b'-', b'"'].into_iter().filter(|_| byte.is_ascii_digit()) {
            let mut altered = text.clone().into_bytes();
            altered[at] = other;
            if let Ok(model) = Model::from_json(&altered) {
                let _ = (model.encode_table(&table), model.encoded_names());
            }
        }
        assert!(at + 1 == text.len() || Model::from_json(&text.as_bytes()[..at]).is_err(), "cut at {at}");
    }
}
