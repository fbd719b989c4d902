//! Kernels from triplets as a user learns them.

use crate::scratch::Scratch;
use serde_json::Value;

const FLATS: &str = include_str!("../../../docs/examples/flats.csv");
const TRIPLETS: &str = include_str!("../../../docs/examples/flats_triplets.csv");

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
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
        "builtin:iris: 150 rows, 4 columns standardized, target 'target' with 3 classes\ndesign selects ",
        "of 16 kernels; the optimum was reached\n",
        "  triplets              1500     drawn from 'target', of 150 rows\n",
        "of the training triplets\n",
        "  gamma1                ",
        "chosen with gamma2 from 16 pairs by validation: ",
        "  noise                 0        nonnegative weights: the kernel is positive semidefinite\n",
        "\n rank  feature",
        "\n feature       kernel",
        "\n held-out triplets  satisfied ",
        "\n design ",
        "\n gaussian ",
        "\n average ",
        "1000 test triplets of 23 held-out rows; 1500 training triplets of the other 127 rows.\n",
        "The kernel above is learned from all triplets, with penalties chosen without the held-out ones.\n",
    ] {
        assert!(run.out.contains(expected), "{expected}\n{}", run.out);
    }
    assert!(!run.out.contains("not closer to"), "violated triplets are listed only from a file");
}

#[test]
fn a_record_from_labels() {
    let s = Scratch::new();
    let record = json(&s.ok("design builtin:iris --json --baselines all -n 300 --seed 2").out);
    assert_eq!(record["command"], "design");
    assert_eq!((&record["method"], &record["status"]), (&"design".into(), &"optimal".into()));
    assert_eq!((&record["data"]["rows"], &record["seed"]), (&150.into(), &2.into()));
    assert_eq!((&record["triplets"]["drawn"], &record["triplets"]["file"]), (&300.into(), &Value::Null));
    assert_eq!(record["triplets"]["report"]["triplets"], 300);
    assert!(record["triplets"]["violated"].is_null());
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
    assert_eq!((&mixture["psd"], &mixture["n_kernels"]), (&"nonnegative".into(), &16.into()));
    assert_eq!(held["trials"].as_array().unwrap().len(), 16);
    let chosen = held["trials"].as_array().unwrap().iter().any(|trial| {
        (&trial["penalties"]["kernels"], &trial["penalties"]["diagonal"])
            == (&mixture["gamma1"], &mixture["gamma2"])
    });
    assert!(chosen, "the penalties are among those tried");
    assert!(mixture["trials"].as_array().unwrap().is_empty(), "they were given the second time");
    let kept = record["selected"].as_array().unwrap();
    for kernel in mixture["kernels"].as_array().unwrap() {
        assert!(kernel["weight"].as_f64().unwrap() > 0.0 && kept.contains(&kernel["feature"]));
    }
    let scores = record["scores"].as_object().unwrap();
    assert_eq!(scores.values().filter(|score| score.as_f64().unwrap() > 0.0).count(), kept.len());
    assert_eq!(scores[kept[0].as_str().unwrap()], 1.0, "best first");
    // The same seed, the same words.
    let again = json(&s.ok("design builtin:iris --json --baselines all -n 300 --seed 2 --threads 1").out);
    for part in ["kernel", "held_out", "mixture"] {
        assert_eq!(again[part], record[part]);
    }
}

#[test]
fn a_target_of_numbers_gives_triplets_too() {
    let s = Scratch::new();
    s.ok("data make linear --rows 120 --columns 4 --continuous --out t.csv");
    let run = s.ok("design t.csv -n 400");
    assert!(run.out.contains("continuous target 'target'"), "{}", run.out);
    assert!(run.out.contains("400      drawn from 'target', of 120 rows"), "{}", run.out);
}

#[test]
fn triplets_by_hand_with_ids() {
    let s = Scratch::new();
    s.file("flats.csv", FLATS).file("triplets.csv", TRIPLETS);
    let line = "design flats.csv --ids name --triplets triplets.csv";
    let run = s.ok(line);
    assert!(run.err.contains("so triplets are held out instead of rows"), "{}", run.err);
    assert!(
        run.out.contains("12 rows, 6 columns standardized, no target"),
        "the ids are no feature: {}",
        run.out
    );
    assert!(run.out.contains("  triplets              24       of 12 rows\n"), "{}", run.out);
    assert!(run.out.contains(
        " 24 triplets, each held out once in 7 folds.\n The kernel above is learned from all triplets.\n"
    ));
    // The same by numbers, and from 0.
    let rows: Vec<&str> = FLATS.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    for origin in [0, 1] {
        let number = |name: &str| (rows.iter().position(|row| *row == name).unwrap() + origin).to_string();
        let lines = TRIPLETS.lines().skip(1).map(|l| l.split(',').map(number).collect::<Vec<_>>().join(","));
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
fn violated_triplets_are_listed() {
    let s = small();
    // The fourth contradicts the first, as rows 2 and 3 lie on the way from 1 to 4.
    s.file("w.csv", "1,2,4\n5,6,2\n3,1,7\n2,5,1\n4,6,3\n");
    let line = "design t.csv --triplets w.csv --hold-out 0 -m design:gamma1=0.001,gamma2=0,kernels=linear";
    let run = s.ok(line);
    assert!(run.out.contains("  satisfied             80.0 %   of the training triplets\n"), "{}", run.out);
    assert!(
        run.out.contains("\n violated  row  not closer to  than to\n        4  2    5              1\n"),
        "{}",
        run.out
    );
    assert_eq!(json(&s.ok(&format!("{line} --json")).out)["triplets"]["violated"], serde_json::json!([4]));
}

#[test]
fn triplets_that_disagree_are_a_warning() {
    let s = small();
    s.file("w.csv", "1,2,4\n1,2,4\n1,4,2\n5,6,2\n3,1,7\n4,6,1\n");
    for method in ["design", "gaussian", "xing-diagonal"] {
        let run = s.run(&format!("design t.csv --triplets w.csv --hold-out 0 --strict -m {method}"));
        assert_eq!(run.code, 1, "{method}: {}", run.err);
        let expected =
            "warning: 6 triplets over 7 rows; 1 duplicate; 1 contradiction, (i, j, k) and (i, k, j)";
        assert_eq!(run.err.matches(expected).count(), 1, "{method}: {}", run.err);
        assert!(run.out.contains("6        of 7 rows; 1 duplicate; 1 contradictory\n"), "{}", run.out);
    }
}

#[test]
fn triplets_of_dropped_rows_are_dropped() {
    let s = Scratch::new();
    s.file("t.csv", "a,b\n0,3\n1,\n2,1\n10,8\n11,2\n12,7\n13,3\n").file("w.csv", "1,2,4\n1,3,4\n4,5,1\n");
    let run = s.ok("design t.csv --triplets w.csv --missing drop --hold-out 0");
    assert!(
        run.err.contains("warning: 1 triplets were dropped with rows that have missing values"),
        "{}",
        run.err
    );
    assert!(
        run.out.contains("6 rows, 2 columns standardized, no target"),
        "the last column is no target: {}",
        run.out
    );
    let record = json(&s.ok("design t.csv --triplets w.csv --missing drop --hold-out 0 --json").out);
    assert_eq!(
        (&record["triplets"]["dropped"], &record["triplets"]["report"]["triplets"]),
        (&1.into(), &2.into())
    );
    s.file("w.csv", "1,2,4\n");
    let error = s.error("design t.csv --triplets w.csv --missing drop --hold-out 0");
    assert!(error.starts_with("w.csv: all 1 triplets have rows that were dropped"), "{error}");
}

#[test]
fn what_is_held_out() {
    let s = small();
    // Too little to hold out unless it is asked for.
    let run = s.ok("design t.csv -m gaussian -n 20");
    assert!(run.err.contains("nothing is held out for evaluation: "), "{}", run.err);
    assert!(!run.out.contains("held-out"), "{}", run.out);
    let error = s.error("design t.csv -m gaussian -n 20 --hold-out 0.15");
    assert!(
        error.contains("--hold-out 0.15 leaves too little for evaluation, use another fraction or 0"),
        "{error}"
    );
    // A class that lies in one half alone: penalties are then chosen on halves of the triplets.
    s.ok("design t.csv -n 20 --hold-out 0.5");
    s.ok("design t.csv -n 20 --hold-out 0.5 -m design:gamma1=0.001,gamma2=0");
    // Many triplets about many rows: rows are held out.
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
        &s.ok("design iris.csv --triplets many.csv --hold-out 0.4 -m design:gamma1=0.001,gamma2=0 --json")
            .out,
    );
    let held = &record["held_out"];
    assert_eq!((&held["by"], &held["rows"]), (&"rows".into(), &60.into()), "{held}");
    let counts =
        ["triplets", "learned_triplets", "straddling"].map(|part| held[part].as_u64().unwrap() as usize);
    assert_eq!(counts.iter().sum::<usize>(), lines.len());
    assert!(counts[0] >= 30 && counts[1] > counts[0], "{counts:?}");
    // Columns called like a target are not features even with triplets.
    assert_eq!((&record["data"]["columns"], &record["data"]["target"]), (&4.into(), &"target".into()));
    // Triplets that name rows too widely for that, but are many: a share of them.
    s.file("most.csv", lines[..400].join("\n"));
    let run = s.ok("design iris.csv --triplets most.csv -m design:gamma1=0.001,gamma2=0");
    assert!(run.out.contains(" 60 held-out triplets; 340 training triplets.\n"), "{}", run.out);
    s.file("few.csv", lines[..3].join("\n"));
    let record = json(&s.ok("design iris.csv --triplets few.csv -m design:gamma1=0.001,gamma2=0 --json").out);
    assert_eq!((&record["held_out"]["folds"], &record["held_out"]["triplets"]), (&3.into(), &3.into()));
    let none = json(&s.ok("design builtin:iris -n 100 --baselines none --json").out);
    assert_eq!(none["held_out"]["accuracy"].as_object().unwrap().len(), 1);
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
