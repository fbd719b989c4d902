//! The command design: errors and their advice.

use crate::scratch::Scratch;

const FLATS: &str = include_str!("../../../docs/examples/flats.csv");

/// Values of a CSV text without its header.
fn cells(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// Seven rows of two classes: a relevant feature and noise.
fn small() -> Scratch {
    let s = Scratch::new();
    s.file("t.csv", "a,b,class\n0,3,x\n1,9,x\n2,1,x\n10,8,y\n11,2,y\n12,7,y\n13,3,y\n");
    s
}

#[test]
fn messages_for_invalid_triplets() {
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
         set the origin to 0"
    );
    assert_eq!(
        message("1,2,4\n3,3,4\n"),
        "w.csv: line 2: row '3' is in column 1 and in column 2; a triplet needs three distinct rows"
    );
    assert_eq!(
        message("1,2,4\n1,two,4\n"),
        "w.csv: line 2, column 2: 'two' is not a row number; if triplets identify rows by ids, name the column \
         of ids"
    );
    assert_eq!(message(""), "w.csv: the file is empty");
    assert_eq!(message("i,j,k\n"), "w.csv: the file has a header but no triplets");
    assert!(
        message("1,2\n")
            .starts_with("w.csv: line 1: expected 3 columns (row, closer row, farther row), found 2")
    );
    assert!(message("1,2,4\n1,2,4,5\n").starts_with("w.csv: line 2: expected 3 fields, found 4"));
    assert!(
        message("1,2,4\n1,4,2\n")
            .starts_with("w.csv: triplets: each of the 2 triplets occurs as often as its opposite")
    );
    assert!(message("k,j,i\n1,2,3\n").contains("the order must be i, j, k"));
    assert_eq!(s.error("design t.csv --triplets absent.csv"), "absent.csv: no such file");
    s.file("t.arff", "1,2,3\n");
    assert!(s.error("design t.csv --triplets t.arff").contains("triplets are read from .csv and .tsv files"));
    s.file("w.csv", "0,1,7\n");
    assert_eq!(
        s.error("design t.csv --triplets w.csv --origin 0"),
        "w.csv: line 1, column 3: there is no row 7: the data have 7 rows, counted from 0; if the file counts from 1, \
         set the origin to 1"
    );
}

#[test]
fn messages_for_invalid_ids() {
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
    assert!(s.error("design flats.csv --triplets two.csv").contains("name the column of ids"));
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
        assert!(error.ends_with("applies to a file of triplets; add --triplets FILE"), "{error}");
    }
    s.file("twice.csv", "id,a,b\nx,1,2\ny,2,1\nx,3,3\n").file("missing.csv", "id,a,b\nx,1,2\n,2,1\nz,3,3\n");
    assert_eq!(
        s.error("design twice.csv --ids id --triplets w.csv"),
        "twice.csv: row 1 and row 3 have the same id 'x'; ids must be unique"
    );
    assert_eq!(
        s.error("design missing.csv --ids id --triplets w.csv"),
        "missing.csv: row 2 has no id; every row needs one"
    );
    s.file("sparse.svm", "1 1:2 2:3\n2 1:1\n1 2:4\n");
    assert!(s.error("design sparse.svm --ids id --triplets w.csv").starts_with("--ids needs a table"));
}

#[test]
fn messages_for_wrong_uses_of_saved_kernels() {
    let s = Scratch::new();
    s.ok("data export iris --out iris.csv");
    s.ok("design iris.csv -n 200 -m linear --hold-out 0 --save kernel.ks");
    s.ok("basis iris.csv --save map.ks");
    assert!(
        s.error("apply kernel.ks iris.csv --predict")
            .contains("a model fitted by linear does not predict classes")
    );
    assert_eq!(
        s.error("apply map.ks iris.csv --against iris.csv"),
        "--against has no effect with a model fitted by kobl, which is not a learned kernel; leave one of them out"
    );
    assert!(
        s.error("apply map.ks iris.csv --with-noise").starts_with("--with-noise has no effect with a model")
    );
    assert!(
        s.error("basis iris.csv --kernel-file map.ks")
            .contains("a model fitted by kobl has no learned kernel")
    );
    assert!(s.error("basis iris.csv --kernel-file iris.csv").contains("not a usable kernsift model"));
    assert_eq!(s.error("basis builtin:wine --kernel-file kernel.ks"), "builtin:wine: 4 problems:");
    let run = s.run("basis builtin:wine --kernel-file kernel.ks");
    assert!(run.err.contains("no column 'sepal_length'"), "{}", run.err);
    assert!(
        s.error("basis iris.csv --kernel-file kernel.ks --set gamma=1")
            .contains("has no effect with --kernel-file")
    );
    assert!(s.run("basis iris.csv --kernel-file kernel.ks --scale none").err.contains("cannot be used with"));
    assert!(s.error("apply kernel.ks iris.csv --out kernel.ks").contains("--out would write over kernel.ks"));
    // Columns in another order, with additional ones.
    s.file("other.csv", "note,petal_width,petal_length,sepal_width,sepal_length\nx,1,2,3,4\ny,2,2,1,0\n");
    let run = s.ok("basis other.csv --kernel-file kernel.ks");
    assert!(run.out.contains("2 rows, 4 columns standardized, no target"), "{}", run.out);
    assert_eq!(cells(&s.ok("apply kernel.ks other.csv").out).len(), 2);
    s.file("narrow.csv", "sepal_length\n1\n");
    for line in ["apply kernel.ks narrow.csv", "apply kernel.ks iris.csv --against narrow.csv"] {
        let run = s.run(line);
        assert!(run.code == 2 && run.err.contains("no column 'sepal_width'"), "{}", run.err);
    }
}

#[test]
fn options_without_effect_are_errors() {
    let s = small();
    s.file("w.csv", "1,2,4\n5,6,2\n3,1,7\n");
    let error = |options: &str| s.error(&format!("design t.csv {options}"));
    assert_eq!(
        error("-m xing:kernels=linear"),
        "no parameter 'kernels'; there are diagonal, ridge, tol, max_iter"
    );
    assert!(error("--set ridge=0.1").starts_with("no parameter 'ridge'"));
    assert!(error("-m xing:max_rounds=3").starts_with("no parameter 'max_rounds'"));
    assert!(error("-m average:gamma1=1").starts_with("no parameter 'gamma1'"));
    assert!(error("-m gaussian:gamma=[1,2]").contains("'gamma' must be"));
    assert_eq!(error("-m linear:gamma=1"), "linear has no parameters; leave out 'gamma'");
    for (settings, expected) in [
        ("degree=3", "parameter 'degree' has no effect because poly is not among the kernels"),
        (
            "kernels=linear,quantiles=0.5",
            "'quantiles' has no effect because neither rbf nor laplacian is among",
        ),
        ("kernels=[linear,rbf,linear]", "parameter 'kernels' must be different names"),
        ("gammas=1,quantiles=0.5", "'quantiles' has no effect because gammas are given"),
        ("gamma1=1,gamma2=0,repeats=2", "'repeats' has no effect because both penalties are given"),
    ] {
        let message = error(&format!("-m design:{settings}"));
        assert!(message.starts_with("design: parameter") && message.contains(expected), "{message}");
    }
    let message = error("-m design:weak=false,threshold=0.5 --hold-out 0");
    assert!(
        message.contains("'threshold' has no effect because no kernel is of a single feature"),
        "{message}"
    );
    assert!(error("--triplets w.csv -n 10").starts_with("--n-triplets has no effect with --triplets"));
    assert!(
        error("--hold-out 0 --baselines linear").starts_with("--baselines has no effect with --hold-out 0")
    );
    assert_eq!(error("--with-noise"), "--with-noise needs --gram FILE");
    assert_eq!(error("--baselines none,linear"), "--baselines none cannot be combined with others");
}

#[test]
fn invalid_values_are_named_by_their_options() {
    let s = small();
    let error = |options: &str| s.error(&format!("design t.csv {options}"));
    assert_eq!(error("-m desing"), "no kernel learner 'desing'; did you mean 'design'?");
    assert_eq!(error("--baselines gausian"), "no kernel learner 'gausian'; did you mean 'gaussian'?");
    assert!(s.error("select t.csv -m xing").contains("use `kernsift design -m xing`"));
    assert_eq!(error("-n 0"), "--n-triplets must be at least 1, got 0");
    for (setting, expected) in [
        ("threshold=1", "'threshold' must be a number, at least 0 and below 1, got '1'"),
        ("tol=0", "'tol' must be a number, above 0 and below 1, got '0'"),
        ("max_rounds=0", "'max_rounds' must be an integer, at least 1, got '0'"),
        ("repeats=0", "'repeats' must be an integer, from 1 to 10000, got '0'"),
        ("quantiles=1.5", "'quantiles' must be a list of numbers, above 0 and at most 1, got '1.5'"),
        ("gamma1=-1", "'gamma1' must be a number, above 0, or a list of numbers, above 0, or none, got '-1'"),
        (
            "psd=convex",
            "'psd' must be auto, nonnegative, dominance_with_noise, eigen_cuts or strict_dominance",
        ),
        (
            "gamma2=x",
            "'gamma2' must be a number, at least 0, or a list of numbers, at least 0, or none, got 'x'",
        ),
        ("kernels=cubic", "'kernels' must be a list of rbf, linear, poly, laplacian, got 'cubic'"),
        ("kernels=poly,degree=0", "'degree' must be an integer, at least 1, got '0'"),
    ] {
        let message = error(&format!("-m design:{setting}"));
        assert!(message.contains(expected), "{message}");
    }
    let message = error("-m design:kernels=poly,coef0=-1,psd=nonnegative --hold-out 0");
    assert!(message.contains("'psd' must be dominance_with_noise or eigen_cuts"), "{message}");
    for (options, expected) in [
        ("--hold-out 1", "a fraction of at least 0 and below 1 is expected"),
        ("--origin 2", "2 is not in 0..=1"),
    ] {
        let run = s.run(&format!("design t.csv {options}"));
        assert!(run.code == 2 && run.err.contains(expected), "{options}: {}", run.err);
    }
    assert!(error("--target none --exclude class").starts_with("there is no target to draw triplets from"));
    s.file("alone.csv", "a,kind\n1,x\n2,x\n3,x\n")
        .file("missing.csv", "a,b,kind\n1,2,x\n2,,y\n3,1,x\n1,1,y\n");
    assert!(s.error("design alone.csv").contains("all rows have the class 'x'"));
    let error = s.error("design missing.csv --missing error");
    assert!(error.contains("Choose how to handle missing values: --missing auto"), "{error}");
}

#[test]
fn outputs_are_checked_and_written() {
    let s = small();
    s.file("w.csv", "1,2,4\n5,6,2\n3,1,7\n4,6,1\n");
    let error = |options: &str| s.error(&format!("design t.csv --triplets w.csv {options}"));
    assert!(error("--gram k.txt").contains("supported are .csv and .tsv"));
    assert!(error("--out k.docx").contains("supported are .csv and .tsv"));
    assert!(error("--save no/k.ks").contains("the directory 'no' does not exist"));
    assert!(error("--gram t.csv").contains("--gram would write over t.csv"));
    assert!(error("--gram w.csv").contains("--gram would write over w.csv"));
    assert!(error("--out w.csv").contains("--out would write over w.csv"));
    assert!(error("--save w.csv").contains("--save would write over w.csv"));
    assert_eq!(error("--out k.csv --gram k.csv"), "--out and --gram need different files");
    s.ok("design t.csv --triplets w.csv --hold-out 0 --gram k.npy --save k.ks --out k.csv.gz --quiet");
    assert_eq!(s.files(), ["k.csv.gz", "k.ks", "k.npy", "t.csv", "w.csv"]);
    assert!(s.ok("basis k.npy --target none").out.contains("7 rows, 7 columns"));
}
