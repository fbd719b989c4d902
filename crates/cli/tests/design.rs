//! Kernels from triples as a user learns them.

mod scratch;

use scratch::Scratch;
use serde_json::Value;

const FLATS: &str = include_str!("../../../docs/examples/flats.csv");
const TRIPLES: &str = include_str!("../../../docs/examples/flats_triples.csv");

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Cells of a CSV text without its header.
fn cells(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// Seven rows on a line, of two kinds, beside a column of noise.
fn small() -> Scratch {
    let s = Scratch::new();
    s.file("t.csv", "a,b,class\n0,3,x\n1,9,x\n2,1,x\n10,8,y\n11,2,y\n12,7,y\n13,3,y\n");
    s
}

#[test]
fn a_page_from_labels() {
    let s = Scratch::new();
    let run = s.ok("design builtin:iris");
    assert_eq!(run.err, "target: 'target' (by its name)\n");
    for expected in [
        "builtin:iris: 150 rows, 4 columns standardised, target 'target' with 3 classes\ndesign keeps ",
        "of 16 kernels; the optimum was reached\n",
        "  triples               1500     drawn from 'target', about 150 rows\n",
        "of the triples it was learned from\n",
        "  gamma1                ",
        "chosen with gamma2 from 16 pairs, by halves: ",
        "  noise                 0        no weight is negative, so the kernel is positive semidefinite\n",
        "\n rank  column",
        "\n column        kernel",
        "\n held-out triples  in order ",
        "\n design ",
        "\n gaussian ",
        "\n average ",
        "of 1000 triples about 23 rows that were held out; learned from 1500 about the other 127 rows.\n",
        "The kernel above is learned from all triples, with the penalties that were chosen without those held out.\n",
    ] {
        assert!(run.out.contains(expected), "{expected}\n{}", run.out);
    }
    assert!(!run.out.contains("is not more like"), "drawn triples are nobody's statements");
}

#[test]
fn a_record_from_labels() {
    let s = Scratch::new();
    let record = json(&s.ok("design builtin:iris --json --beside all -n 300 --seed 2").out);
    assert_eq!(record["command"], "design");
    assert_eq!((&record["method"], &record["status"]), (&"design".into(), &"optimal".into()));
    assert_eq!((&record["data"]["rows"], &record["seed"]), (&150.into(), &2.into()));
    assert_eq!((&record["triplets"]["drawn"], &record["triplets"]["file"]), (&300.into(), &Value::Null));
    assert_eq!(record["triplets"]["report"]["triplets"], 300);
    assert!(record["triplets"]["out_of_order"].is_null());
    let held = &record["held_out"];
    assert_eq!(
        (&held["by"], &held["rows"], &held["learned_rows"]),
        (&"rows".into(), &23.into(), &127.into())
    );
    assert_eq!((&held["triplets"], &held["learned_triplets"]), (&1000.into(), &300.into()));
    let accuracy = held["accuracy"].as_object().unwrap();
    let names: Vec<&String> = accuracy.keys().collect();
    let mut expected = ["average", "design", "gaussian", "linear", "polynomial", "xing", "xing-diagonal"];
    expected.sort_unstable();
    assert_eq!(names, expected);
    // Any of them sees that iris has classes.
    assert!(accuracy.values().all(|v| v.as_f64().unwrap() > 0.7), "{accuracy:?}");
    let mixture = &record["mixture"];
    assert_eq!((&mixture["psd"], &mixture["n_kernels"]), (&"non-negative".into(), &16.into()));
    assert_eq!(held["trials"].as_array().unwrap().len(), 16);
    let chosen = held["trials"].as_array().unwrap().iter().any(|trial| {
        (&trial["penalties"]["kernels"], &trial["penalties"]["diagonal"])
            == (&mixture["gamma1"], &mixture["gamma2"])
    });
    assert!(chosen, "the penalties are among those tried");
    assert!(mixture["trials"].as_array().unwrap().is_empty(), "they were given the second time");
    let kept = record["selected"].as_array().unwrap();
    for kernel in mixture["kernels"].as_array().unwrap() {
        assert!(kernel["weight"].as_f64().unwrap() > 0.0 && kept.contains(&kernel["column"]));
    }
    let scores = record["scores"].as_object().unwrap();
    assert_eq!(scores.values().filter(|score| score.as_f64().unwrap() > 0.0).count(), kept.len());
    assert_eq!(scores[kept[0].as_str().unwrap()], 1.0, "best first");
    // The same seed, the same words.
    let again = json(&s.ok("design builtin:iris --json --beside all -n 300 --seed 2 --threads 1").out);
    for part in ["kernel", "held_out", "mixture"] {
        assert_eq!(again[part], record[part]);
    }
}

#[test]
fn a_target_of_numbers_gives_triples_too() {
    let s = Scratch::new();
    s.ok("data make linear --rows 120 --columns 4 --continuous --out t.csv");
    let run = s.ok("design t.csv -n 400");
    assert!(run.out.contains("target 'target', a number"), "{}", run.out);
    assert!(run.out.contains("400      drawn from 'target', about 120 rows"), "{}", run.out);
}

#[test]
fn triples_by_hand_with_ids() {
    let s = Scratch::new();
    s.file("flats.csv", FLATS).file("triples.csv", TRIPLES);
    let line = "design flats.csv --ids name --triplets triples.csv";
    let run = s.ok(line);
    assert!(run.err.contains("so triples are held out and not rows"), "{}", run.err);
    assert!(
        run.out.contains("12 rows, 6 columns standardised, no target"),
        "the ids are no feature: {}",
        run.out
    );
    assert!(run.out.contains("  triples               24       about 12 rows\n"), "{}", run.out);
    assert!(run.out.contains(" of 24 triples, each held out once in 7 folds; learned from the others.\n The kernel above is learned from all triples.\n"));
    // The same by numbers, and from 0.
    let rows: Vec<&str> = FLATS.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    for origin in [0, 1] {
        let number = |name: &str| (rows.iter().position(|row| *row == name).unwrap() + origin).to_string();
        let lines = TRIPLES.lines().skip(1).map(|l| l.split(',').map(number).collect::<Vec<_>>().join(","));
        s.file("numbers.csv", lines.collect::<Vec<_>>().join("\n"));
        let nameless: Vec<&str> = FLATS.lines().map(|l| l.split_once(',').unwrap().1).collect();
        s.file("nameless.csv", nameless.join("\n"));
        let by_number =
            s.ok(&format!("design nameless.csv --triplets numbers.csv --origin {origin} --json")).out;
        assert_eq!(json(&by_number)["kernel"], json(&s.ok(&format!("{line} --json")).out)["kernel"]);
    }
    assert!(
        json(&s.ok("design nameless.csv --triplets numbers.csv --json").out)["triplets"]["report"]["triplets"]
            == 24
    );
}

#[test]
fn triples_that_a_kernel_cannot_bear_out_are_listed() {
    let s = small();
    // The fourth contradicts the first, as rows 2 and 3 lie on the way from 1 to 4.
    s.file("w.csv", "1,2,4\n5,6,2\n3,1,7\n2,5,1\n4,6,3\n");
    let line = "design t.csv --triplets w.csv --hold-out 0 --gamma1 0.001 --gamma2 0 --kernels linear";
    let run = s.ok(line);
    assert!(
        run.out.contains("  in order              80.0 %   of the triples it was learned from\n"),
        "{}",
        run.out
    );
    assert!(
        run.out.contains("\n triple  row  is not more like  than\n      4  2    5                 1\n"),
        "{}",
        run.out
    );
    assert_eq!(
        json(&s.ok(&format!("{line} --json")).out)["triplets"]["out_of_order"],
        serde_json::json!([4])
    );
}

#[test]
fn bad_triples_are_explained() {
    let s = small();
    let message = |text: &str| {
        s.file("w.csv", text);
        s.error("design t.csv --triplets w.csv")
    };
    assert_eq!(
        message("1,2,4\n1,2,8\n"),
        "w.csv: line 2, column 3: there is no row 8: the data have 7 rows, counted from 1"
    );
    assert_eq!(
        message("0,1,4\n"),
        "w.csv: line 1, column 1: there is no row 0: the data have 7 rows, counted from 1; if the file counts from 0, \
         use --origin 0"
    );
    assert_eq!(
        message("1,2,4\n3,3,4\n"),
        "w.csv: line 2: row '3' stands in column 1 and in column 2; a triple needs three different rows"
    );
    assert_eq!(
        message("1,2,4\n1,two,4\n"),
        "w.csv: line 2, column 2: 'two' is not a row number; if triples name rows by ids, say with --ids which column \
         has them"
    );
    assert_eq!(message(""), "w.csv: the file is empty");
    assert_eq!(message("i,j,k\n"), "w.csv: the file has a header but no triples");
    assert!(
        message("1,2\n").starts_with("w.csv: line 1: expected 3 columns (row, more like, than), found 2")
    );
    assert!(message("1,2,4\n1,2,4,5\n").starts_with("w.csv: line 2: expected 3 fields, found 4"));
    assert!(message("1,2,4\n1,4,2\n").starts_with("w.csv: triples: each of the 2 triples has its opposite"));
    assert!(message("k,j,i\n1,2,3\n").contains("put them in the order i, j, k"));
    assert_eq!(s.error("design t.csv --triplets absent.csv"), "absent.csv: no such file");
    s.file("t.arff", "1,2,3\n");
    assert!(s.error("design t.csv --triplets t.arff").contains("triples are read from .csv and .tsv files"));
    s.file("w.csv", "0,1,7\n");
    assert_eq!(
        s.error("design t.csv --triplets w.csv --origin 0"),
        "w.csv: line 1, column 3: there is no row 7: the data have 7 rows, counted from 0; if the file counts from 1, \
         use --origin 1"
    );
}

#[test]
fn bad_ids_are_explained() {
    let s = Scratch::new();
    s.file("flats.csv", FLATS).file("w.csv", "Old Gate,Canal Line,Tower 7\n");
    assert_eq!(
        s.error("design flats.csv --ids name --triplets w.csv"),
        "w.csv: line 1, column 2: no row with the id 'Canal Line'; did you mean 'Canal Lane'?"
    );
    assert_eq!(
        s.error("design flats.csv --ids nome --triplets w.csv"),
        "flats.csv: no column 'nome'; did you mean 'name'?"
    );
    s.file("two.csv", "Old Gate,Canal Lane,Tower 7\nTower 7,Birch Way,Old Gate\n");
    assert!(s.error("design flats.csv --triplets two.csv").contains("say with --ids which column has them"));
    s.file("numbers.csv", "1,2,3\n");
    let error = s.error("design flats.csv --triplets numbers.csv");
    assert!(error.ends_with("or ordinal; if it names the rows, use --ids 'name'"), "{error}");
    assert_eq!(
        s.error("design flats.csv --ids name --target name --triplets w.csv"),
        "the column 'name' cannot be both --ids and --target"
    );
    assert_eq!(
        s.error("design flats.csv --ids name --origin 0 --triplets w.csv"),
        "--origin has no effect with --ids; leave one of them out"
    );
    for option in ["--ids name", "--origin 0"] {
        let error = s.error(&format!("design flats.csv {option}"));
        assert!(error.ends_with("says how a file of triples names rows; add --triplets FILE"), "{error}");
    }
    s.file("twice.csv", "id,a,b\nx,1,2\ny,2,1\nx,3,3\n").file("gap.csv", "id,a,b\nx,1,2\n,2,1\nz,3,3\n");
    assert_eq!(
        s.error("design twice.csv --ids id --triplets w.csv"),
        "twice.csv: the id 'x' stands for both row 1 and row 3; ids must differ"
    );
    assert_eq!(
        s.error("design gap.csv --ids id --triplets w.csv"),
        "gap.csv: row 2 has no id; every row needs one"
    );
    s.file("sparse.svm", "1 1:2 2:3\n2 1:1\n1 2:4\n");
    assert!(s.error("design sparse.svm --ids id --triplets w.csv").starts_with("--ids needs a table"));
}

#[test]
fn triples_that_disagree_are_a_warning() {
    let s = small();
    s.file("w.csv", "1,2,4\n1,2,4\n1,4,2\n5,6,2\n3,1,7\n4,6,1\n");
    for method in ["design", "gaussian", "xing-diagonal"] {
        let run = s.run(&format!("design t.csv --triplets w.csv --hold-out 0 --strict -m {method}"));
        assert_eq!(run.code, 1, "{method}: {}", run.err);
        let expected = "warning: 6 triples over 7 rows; 1 repeats another; 1 case is stated both ways, (i, j, k) and (i, k, j)";
        assert_eq!(run.err.matches(expected).count(), 1, "{method}: {}", run.err);
        assert!(
            run.out.contains("6        about 7 rows; 1 repeats another; 1 stated both ways\n"),
            "{}",
            run.out
        );
    }
}

#[test]
fn rows_that_are_left_out_take_their_triples_along() {
    let s = Scratch::new();
    s.file("t.csv", "a,b\n0,3\n1,\n2,1\n10,8\n11,2\n12,7\n13,3\n").file("w.csv", "1,2,4\n1,3,4\n4,5,1\n");
    let run = s.ok("design t.csv --triplets w.csv --missing drop --hold-out 0");
    assert!(run.err.contains("warning: 1 triples name rows that were left out"), "{}", run.err);
    assert!(
        run.out.contains("6 rows, 2 columns standardised, no target"),
        "the last column is no target: {}",
        run.out
    );
    let record = json(&s.ok("design t.csv --triplets w.csv --missing drop --hold-out 0 --json").out);
    assert_eq!(
        (&record["triplets"]["left_out"], &record["triplets"]["report"]["triplets"]),
        (&1.into(), &2.into())
    );
    s.file("w.csv", "1,2,4\n");
    let error = s.error("design t.csv --triplets w.csv --missing drop --hold-out 0");
    assert!(error.starts_with("w.csv: all 1 triples name rows that were left out"), "{error}");
}

#[test]
fn what_leads_to_nothing_is_said() {
    let s = Scratch::new();
    let run =
        s.run("design builtin:iris --psd strict-dominance --gamma1 0.001 --gamma2 0 --hold-out 0 --strict");
    assert_eq!(run.code, 1);
    assert!(run.err.contains(
        "warning: nothing is learned: no mixture of these kernels but zero is diagonally dominant"
    ));
    assert!(run.err.contains("use --psd dominance-with-noise"), "{}", run.err);
    assert!(run.out.contains("design keeps nothing: only zero is diagonally dominant"), "{}", run.out);
    assert!(run.out.contains("in order              50.0 %"), "all ties: {}", run.out);
    let line = "design builtin:iris --gamma1 1000 --gamma2 0 --hold-out 0";
    let run = s.ok(line);
    assert!(
        run.err.contains("warning: nothing is learned: the penalties outweigh all triples"),
        "{}",
        run.err
    );
    assert_eq!(json(&s.ok(&format!("{line} --json")).out)["status"], "over-regularised");
    assert_eq!(
        s.error(&format!("{line} --out kept.csv")),
        "no column is kept, so there is nothing to write to kept.csv"
    );
    s.ok(&format!("{line} --save zero.ks"));
    assert!(s.error("basis builtin:iris --kernel-file zero.ks").contains("its kernel is zero everywhere"));
    let run =
        s.ok("design builtin:iris --psd eigen-cuts --gamma1 1e-4 --gamma2 0 --hold-out 0 --max-rounds 1");
    assert!(
        run.err.contains(
            "warning: the limit on rounds was reached before the tolerance; allow more with --max-rounds"
        ),
        "{}",
        run.err
    );
}

#[test]
fn a_kernel_is_saved_applied_and_used_in_a_basis() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    for psd in ["nonnegative", "dominance-with-noise"] {
        let line = format!("design wine.csv -n 400 --psd {psd} --gamma1 0.003 --gamma2 0.0001 --hold-out 0");
        s.ok(&format!("{line} --save kernel.ks --gram gram.csv --out kept.csv"));
        let gram = cells(&s.text("gram.csv"));
        assert!(s.text("gram.csv").starts_with("row1,row2,row3,"));
        assert_eq!((gram.len(), gram[0].len()), (178, 178));
        assert!((0..178).all(|i| (0..178).all(|j| gram[i][j] == gram[j][i])), "symmetric to the last bit");
        assert_eq!(s.ok("apply kernel.ks wine.csv").out, s.text("gram.csv"));
        // Part of it, and columns that are not needed need not be there.
        let text = s.text("wine.csv");
        let some: Vec<&str> = text.lines().take(4).collect();
        s.file("some.csv", some.join("\n"));
        let run = s.ok("apply kernel.ks some.csv --against kept.csv --out part.csv");
        assert_eq!(run.err, "3 rows against 178\n");
        // Another tile of the matrix may be summed in another order.
        let part = cells(&s.text("part.csv"));
        let size = gram.iter().flatten().fold(0.0_f64, |a, v| a.max(v.abs()));
        assert!((0..3).all(|i| (0..178).all(|j| (part[i][j] - gram[i][j]).abs() < 1e-13 * size)), "{psd}");
        s.ok(&format!("{line} --gram noisy.csv --with-noise"));
        let noise = json(&s.ok(&format!("{line} --json")).out)["noise"].as_f64().unwrap();
        assert_eq!(noise > 0.0, psd == "dominance-with-noise");
        let noisy = cells(&s.text("noisy.csv"));
        assert!((0..178).all(|i| (noisy[i][i] - gram[i][i] - noise).abs() < 1e-13 * (size + noise)), "{psd}");
        s.ok("apply kernel.ks wine.csv --with-noise --out again.npy");
        // In a basis, whose file then maps new rows by itself.
        let run = s.ok("basis wine.csv --kernel-file kernel.ks -k 5 --save map.ks --out mapped.csv");
        assert!(
            run.out.contains("178 rows, 13 columns standardised, target 'target' with 3 classes\nkobl with ")
        );
        let (mapped, again) = (cells(&s.text("mapped.csv")), cells(&s.ok("apply map.ks wine.csv").out));
        // Coordinates of training rows are left over from a factorisation; those of new rows come from the map.
        let largest = mapped.iter().flatten().fold(0.0_f64, |a, v| a.max(v.abs()));
        let near = mapped.iter().flatten().zip(again.iter().flatten());
        assert!(near.into_iter().all(|(a, b)| (a - b).abs() < 1e-9 * largest.max(1.0)), "{psd}");
    }
    assert!(s.ok("basis wine.csv -m kda --kernel-file kernel.ks").out.contains("kda with "));
    let record = json(&s.ok("design wine.csv -n 400 --gamma1 0.003 --gamma2 0.0001 --hold-out 0 --json").out);
    s.ok("design wine.csv -n 400 --gamma1 0.003 --gamma2 0.0001 --hold-out 0 --out kept.csv");
    let header = s.text("kept.csv").lines().next().unwrap().to_owned();
    let selected: Vec<&str> =
        record["selected"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(header, selected.join(",") + ",target");
    assert!(selected.len() < 13);
}

#[test]
fn wrong_uses_of_saved_kernels_are_refused() {
    let s = Scratch::new();
    s.ok("data export iris --out iris.csv");
    s.ok("design iris.csv -n 200 -m linear --hold-out 0 --save kernel.ks");
    s.ok("basis iris.csv --save map.ks");
    assert!(
        s.error("apply kernel.ks iris.csv --predict").contains("a model made by linear knows no classes")
    );
    assert_eq!(
        s.error("apply map.ks iris.csv --against iris.csv"),
        "--against has no effect with a model made by kobl, which is no learned kernel; leave one of them out"
    );
    assert!(
        s.error("apply map.ks iris.csv --with-noise").starts_with("--with-noise has no effect with a model")
    );
    assert!(
        s.error("basis iris.csv --kernel-file map.ks")
            .contains("a model made by kobl holds no learned kernel")
    );
    assert!(s.error("basis iris.csv --kernel-file iris.csv").contains("not a usable kernsift model"));
    assert!(
        s.error("basis builtin:wine --kernel-file kernel.ks")
            .starts_with("builtin:wine: no column 'sepal_length'")
    );
    assert!(s.run("basis iris.csv --kernel-file kernel.ks --gamma 1").err.contains("cannot be used with"));
    assert!(s.run("basis iris.csv --kernel-file kernel.ks --scale none").err.contains("cannot be used with"));
    assert!(s.error("apply kernel.ks iris.csv --out kernel.ks").contains("--out would write over kernel.ks"));
    // Rows in another order of columns, with others beside.
    s.file("other.csv", "note,petal_width,petal_length,sepal_width,sepal_length\nx,1,2,3,4\ny,2,2,1,0\n");
    let run = s.ok("basis other.csv --kernel-file kernel.ks");
    assert!(run.out.contains("2 rows, 4 columns standardised, no target"), "{}", run.out);
    assert_eq!(cells(&s.ok("apply kernel.ks other.csv").out).len(), 2);
    s.file("narrow.csv", "sepal_length\n1\n");
    assert!(s.error("apply kernel.ks narrow.csv").starts_with("narrow.csv: no column 'sepal_width'"));
    assert!(s.error("apply kernel.ks iris.csv --against narrow.csv").starts_with("narrow.csv: no column"));
}

#[test]
fn options_change_the_kernel() {
    let s = Scratch::new();
    let record =
        |options: &str| json(&s.ok(&format!("design builtin:iris -n 200 --hold-out 0 --json {options}")).out);
    let given = "--gamma1 0.003 --gamma2 0.0001";
    let plain = record(given)["mixture"].clone();
    for options in [
        "--kernels laplacian",
        "--kernels polynomial",
        "--kernels polynomial --degree 3",
        "--kernels polynomial --coef0 0",
        "--full",
        "--quantiles 0.2,0.8",
        "--gammas 1,0.1",
        "--psd dominance-with-noise",
        "--psd eigen-cuts",
        "--group kernel",
        "--threshold 0.9",
        "--scale none",
        "--seed 5",
    ] {
        assert_ne!(
            record(&format!("{given} {options}"))["mixture"]["kernels"],
            plain["kernels"],
            "{options}"
        );
    }
    assert_ne!(record("--gamma1 0.05 --gamma2 0.0001")["mixture"]["kernels"], plain["kernels"]);
    assert_eq!(record("--gamma1 0.003 --gamma2 0,1e-4")["mixture"]["trials"].as_array().unwrap().len(), 2);
    let (once, twice) = (record("--gamma2 0"), record("--gamma2 0 --repeats 2"));
    assert_eq!(once["mixture"]["trials"].as_array().unwrap().len(), 4);
    assert_ne!(once["mixture"]["trials"], twice["mixture"]["trials"]);
    let gap = |tolerance: &str| {
        let mixture = record(&format!("{given} --tolerance {tolerance}"))["mixture"].clone();
        mixture["objective"].as_f64().unwrap()
            - mixture["bounds"].as_array().unwrap().last().unwrap().as_f64().unwrap()
    };
    assert!(gap("1e-9") < gap("0.05"), "a wide gap is left where it may be");
    assert_eq!(record("-m gaussian --gammas 0.7")["kernel"]["rbf"]["gamma"], 0.7);
    assert_eq!(record("-m polynomial --degree 4 --coef0 2")["kernel"]["polynomial"]["degree"], 4);
    assert_ne!(record("-m average --kernels linear")["kernel"], record("-m average")["kernel"]);
    assert_ne!(record("-m xing --ridge 0.5")["kernel"], record("-m xing")["kernel"]);
    let short = s.ok("design builtin:wine -n 200 --hold-out 0 -m xing --max-iter 1");
    assert!(short.err.contains("allow more steps with --max-iter"), "{}", short.err);
    let beside = json(&s.ok("design builtin:iris -n 200 --json -m linear --beside xing,linear").out);
    let accuracy = beside["held_out"]["accuracy"].as_object().unwrap();
    assert_eq!(accuracy.keys().collect::<Vec<_>>(), ["linear", "xing"]);
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let s = small();
    s.file("w.csv", "1,2,4\n5,6,2\n3,1,7\n");
    let error = |options: &str| s.error(&format!("design t.csv {options}"));
    assert_eq!(
        error("-m xing --kernels linear"),
        "--kernels has no effect with -m xing; leave one of them out"
    );
    assert_eq!(
        error("-m xing --max-rounds 3"),
        "--max-rounds has no effect with -m xing; leave one of them out"
    );
    assert_eq!(error("--ridge 0.1"), "--ridge has no effect with -m design; leave one of them out");
    assert_eq!(error("--max-iter 9"), "--max-iter has no effect with -m design; leave one of them out");
    assert_eq!(error("-m linear --gammas 1"), "--gammas has no effect with -m linear; leave one of them out");
    assert_eq!(
        error("-m average --gamma1 1"),
        "--gamma1 has no effect with -m average; leave one of them out"
    );
    assert_eq!(error("-m gaussian --gammas 1,2"), "-m gaussian takes one width with --gammas, not several");
    assert_eq!(
        error("--degree 3"),
        "--degree is for polynomial kernels, of which there are none; add polynomial to --kernels, or leave it out"
    );
    assert!(
        error("--kernels linear --quantiles 0.5")
            .starts_with("--quantiles is for gaussian and laplacian kernels")
    );
    assert_eq!(error("--kernels linear,gaussian,linear"), "--kernels names linear twice");
    assert!(error("--full --group column").starts_with("--group has no effect with --full"));
    assert!(error("--full --threshold 0.5").starts_with("--threshold has no effect with --full"));
    assert!(
        error("--gamma1 1 --gamma2 0 --repeats 2").starts_with("--repeats has no effect with one --gamma1")
    );
    assert!(error("--triplets w.csv -n 10").starts_with("--n-triplets has no effect with --triplets"));
    assert!(error("--hold-out 0 --beside linear").starts_with("--beside has no effect with --hold-out 0"));
    assert_eq!(error("--with-noise"), "--with-noise is about --gram FILE; add that");
    assert_eq!(error("--beside none,linear"), "--beside none stands alone");
    assert!(s.run("design t.csv --weak --full").err.contains("cannot be used with"));
    assert!(s.run("design t.csv --quantiles 0.5 --gammas 1").err.contains("cannot be used with"));
}

#[test]
fn bad_values_are_named_by_their_options() {
    let s = small();
    let error = |options: &str| s.error(&format!("design t.csv {options}"));
    assert_eq!(error("-m desing"), "no kernel learner 'desing'; did you mean 'design'?");
    assert_eq!(error("--beside gausian"), "no kernel learner 'gausian'; did you mean 'gaussian'?");
    assert!(s.error("select t.csv -m xing").contains("use `kernsift design -m xing`"));
    assert_eq!(error("--threshold 1"), "--threshold must be 0 or more and below 1, got 1");
    assert_eq!(error("--tolerance 0"), "--tolerance must be between 0 and 1, got 0");
    assert_eq!(error("--max-rounds 0"), "--max-rounds must be 1 or more, got 0");
    assert_eq!(error("--repeats 0"), "--repeats must be 1 or more, got 0");
    assert_eq!(error("-n 0"), "--n-triplets must be at least 1, got 0");
    assert_eq!(
        error("--quantiles 1.5"),
        "--quantiles must be one or more numbers above 0 and up to 1, got 1.5"
    );
    assert!(error("--kernels polynomial --degree 0").starts_with("--degree must be 1 or more"));
    assert!(
        error("--kernels polynomial --coef0 -1 --psd nonnegative --hold-out 0").starts_with("--psd must be")
    );
    for (options, expected) in [
        ("--gamma1 -1", "a positive number is expected"),
        ("--gamma2 x", "a number of 0 or more is expected"),
        ("--hold-out 1", "a share of 0 or more and below 1 is expected"),
        ("--origin 2", "2 is not in 0..=1"),
        ("--psd convex", "possible values"),
        ("--kernels cubic", "possible values"),
    ] {
        let run = s.run(&format!("design t.csv {options}"));
        assert!(run.code == 2 && run.err.contains(expected), "{options}: {}", run.err);
    }
    assert!(
        error("--target none --categorical ordinal").starts_with("there is no target to draw triples from")
    );
    s.file("alone.csv", "a,kind\n1,x\n2,x\n3,x\n").file("gap.csv", "a,b,kind\n1,2,x\n2,,y\n3,1,x\n1,1,y\n");
    assert!(s.error("design alone.csv").contains("all rows have the class 'x'"));
    assert!(s.error("design gap.csv --missing keep").contains("needs every cell"));
    assert!(s.error("design gap.csv").contains("choose what to do with it: --missing drop"));
}

#[test]
fn what_is_held_out() {
    let s = small();
    // Too little to hold out unless it is asked for.
    let run = s.ok("design t.csv -m gaussian -n 20");
    assert!(run.err.contains("nothing is held out to judge by: "), "{}", run.err);
    assert!(!run.out.contains("held-out"), "{}", run.out);
    let error = s.error("design t.csv -m gaussian -n 20 --hold-out 0.15");
    assert!(
        error.contains("with --hold-out 0.15 there is too little to judge by, use another share or 0"),
        "{error}"
    );
    let error = s.error("design t.csv -n 20 --hold-out 0.5");
    assert!(error.ends_with("so give one --gamma1 and one --gamma2, such as 0.001 and 0"), "{error}");
    s.ok("design t.csv -n 20 --hold-out 0.5 --gamma1 0.001 --gamma2 0");
    // Many triples about many rows: rows are held out.
    s.ok("data export iris --out iris.csv");
    let text = s.text("iris.csv");
    let class: Vec<&str> = text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    let mut lines = vec![];
    for i in 0..150 {
        for step in 1..40 {
            let (j, k) = ((i + step * 7) % 150, (i + step * 11 + 50) % 150);
            if i != j && j != k && i != k && class[i] == class[j] && class[i] != class[k] {
                lines.push(format!("{},{},{}", i + 1, j + 1, k + 1));
            }
        }
    }
    s.file("many.csv", lines.join("\n"));
    let record = json(
        &s.ok("design iris.csv --triplets many.csv --hold-out 0.4 --gamma1 0.001 --gamma2 0 --json").out,
    );
    let held = &record["held_out"];
    assert_eq!((&held["by"], &held["rows"]), (&"rows".into(), &60.into()), "{held}");
    let counts =
        ["triplets", "learned_triplets", "straddling"].map(|part| held[part].as_u64().unwrap() as usize);
    assert_eq!(counts.iter().sum::<usize>(), lines.len());
    assert!(counts[0] >= 30 && counts[1] > counts[0], "{counts:?}");
    // Columns called like a target are not features even with triples.
    assert_eq!((&record["data"]["columns"], &record["data"]["target"]), (&4.into(), &"target".into()));
    // Triples that name rows too widely for that, but are many: a share of them.
    s.file("most.csv", lines[..400].join("\n"));
    let run = s.ok("design iris.csv --triplets most.csv --gamma1 0.001 --gamma2 0");
    assert!(
        run.out.contains(" of 60 triples that were held out; learned from the other 340.\n"),
        "{}",
        run.out
    );
    s.file("few.csv", lines[..3].join("\n"));
    let record = json(&s.ok("design iris.csv --triplets few.csv --gamma1 0.001 --gamma2 0 --json").out);
    assert_eq!((&record["held_out"]["folds"], &record["held_out"]["triplets"]), (&3.into(), &3.into()));
    let none = json(&s.ok("design builtin:iris -n 100 --beside none --json").out);
    assert_eq!(none["held_out"]["accuracy"].as_object().unwrap().len(), 1);
}

#[test]
fn results_are_written_whole_or_not_at_all() {
    let s = small();
    s.file("w.csv", "1,2,4\n5,6,2\n3,1,7\n4,6,1\n");
    let error = |options: &str| s.error(&format!("design t.csv --triplets w.csv {options}"));
    assert!(error("--gram k.txt").contains("there are .csv, .tsv"));
    assert!(error("--out k.docx").contains("there are .csv, .tsv"));
    assert!(error("--save no/k.ks").contains("there is no folder 'no'"));
    assert!(error("--gram t.csv").contains("--gram would write over t.csv"));
    assert!(error("--gram w.csv").contains("--gram would write over w.csv"));
    assert!(error("--out w.csv").contains("--out would write over w.csv"));
    assert!(error("--save w.csv").contains("--save would write over w.csv"));
    assert_eq!(error("--out k.csv --gram k.csv"), "--out and --gram need different files");
    s.ok("design t.csv --triplets w.csv --hold-out 0 --gram k.npy --save k.ks --out k.csv.gz --quiet");
    assert_eq!(s.files(), ["k.csv.gz", "k.ks", "k.npy", "t.csv", "w.csv"]);
    assert!(s.ok("basis k.npy --target none").out.contains("7 rows, 7 columns"));
}

#[test]
fn learners_are_listed() {
    let s = Scratch::new();
    let page = s.ok("methods").out;
    assert!(page.contains("Kernel learners (kernsift design -m NAME)"), "{page}");
    let all = json(&s.ok("methods --json").out);
    let learners: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .filter(|info| info["family"] == "kernel-learner")
        .map(|info| info["name"].as_str().unwrap())
        .collect();
    assert_eq!(learners, ["design", "xing", "xing-diagonal", "average", "gaussian", "linear", "polynomial"]);
}
