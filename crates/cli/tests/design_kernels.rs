//! The command design: options, and uses of saved kernels.

use crate::scratch::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Values of a CSV text without its header.
fn cells(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

#[test]
fn designs_without_kernels_are_reported() {
    let s = Scratch::new();
    let run = s.run(
        "design builtin:iris -m design:psd=strict_dominance,gamma1=0.001,gamma2=0 --hold-out 0 --strict",
    );
    assert_eq!(run.code, 1);
    assert!(run.err.contains(
        "warning: nothing is learned: only the zero mixture of these kernels is diagonally dominant"
    ));
    assert!(run.err.contains("use --set psd=dominance_with_noise"), "{}", run.err);
    assert!(
        run.out.contains("design selects nothing: only the zero mixture is diagonally dominant"),
        "{}",
        run.out
    );
    assert!(run.out.contains("satisfied             50.0 %"), "all ties: {}", run.out);
    let line = "design builtin:iris -m design:gamma1=1000,gamma2=0 --hold-out 0";
    let run = s.ok(line);
    assert!(run.err.contains("warning: nothing is learned: the penalties are too large"), "{}", run.err);
    assert_eq!(json(&s.ok(&format!("{line} --json")).out)["status"], "over-regularized");
    // The result is printed even if nothing is written.
    let run = s.ok(&format!("{line} --out kept.csv"));
    assert!(run.err.contains("no feature is selected, so kept.csv is not written"), "{}", run.err);
    assert!(run.out.contains("design selects nothing"), "{}", run.out);
    s.ok(&format!("{line} --save zero.ks"));
    assert!(s.error("basis builtin:iris --kernel-file zero.ks").contains("its kernel is zero everywhere"));
    let run =
        s.ok("design builtin:iris -m design:psd=eigen_cuts,gamma1=1e-4,gamma2=0,max_rounds=1 --hold-out 0");
    assert!(
        run.err
            .contains("warning: the limit on rounds was reached before the tolerance; increase max_rounds"),
        "{}",
        run.err
    );
}

#[test]
fn a_kernel_is_saved_applied_and_used_in_a_basis() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    for psd in ["nonnegative", "dominance_with_noise"] {
        let line =
            format!("design wine.csv -n 400 -m design:psd={psd},gamma1=0.003,gamma2=0.0001 --hold-out 0");
        s.ok(&format!("{line} --save kernel.ks --gram gram.csv --out kept.csv"));
        let gram = cells(&s.text("gram.csv"));
        assert!(s.text("gram.csv").starts_with("row1,row2,row3,"));
        assert_eq!((gram.len(), gram[0].len()), (178, 178));
        assert!((0..178).all(|i| (0..178).all(|j| gram[i][j] == gram[j][i])), "exactly symmetric");
        assert_eq!(s.ok("apply kernel.ks wine.csv").out, s.text("gram.csv"));
        // New rows; columns that the kernel does not use may be absent.
        let text = s.text("wine.csv");
        let some: Vec<&str> = text.lines().take(4).collect();
        s.file("some.csv", some.join("\n"));
        let run = s.ok("apply kernel.ks some.csv --against kept.csv --out part.csv");
        assert_eq!(run.err, "similarities of 3 rows to 178 rows\n");
        // Sums may be in another order.
        let part = cells(&s.text("part.csv"));
        let size = gram.iter().flatten().fold(0.0_f64, |a, v| a.max(v.abs()));
        assert!((0..3).all(|i| (0..178).all(|j| (part[i][j] - gram[i][j]).abs() < 1e-13 * size)), "{psd}");
        s.ok(&format!("{line} --gram noisy.csv --with-noise"));
        let noise = json(&s.ok(&format!("{line} --json")).out)["noise"].as_f64().unwrap();
        assert_eq!(noise > 0.0, psd == "dominance_with_noise");
        let noisy = cells(&s.text("noisy.csv"));
        assert!((0..178).all(|i| (noisy[i][i] - gram[i][i] - noise).abs() < 1e-13 * (size + noise)), "{psd}");
        s.ok("apply kernel.ks wine.csv --with-noise --out again.npy");
        // A basis of the kernel; its file maps new rows.
        let run = s.ok("basis wine.csv --kernel-file kernel.ks -k 5 --save map.ks --out mapped.csv");
        assert!(
            run.out.contains("178 rows, 13 columns standardized, target 'target' with 3 classes\nkobl with ")
        );
        let (mapped, again) = (cells(&s.text("mapped.csv")), cells(&s.ok("apply map.ks wine.csv").out));
        // Coordinates of training rows come from the factorization, those of new rows from the map.
        let largest = mapped.iter().flatten().fold(0.0_f64, |a, v| a.max(v.abs()));
        let near = mapped.iter().flatten().zip(again.iter().flatten());
        assert!(near.into_iter().all(|(a, b)| (a - b).abs() < 1e-9 * largest.max(1.0)), "{psd}");
    }
    assert!(s.ok("basis wine.csv -m kda --kernel-file kernel.ks").out.contains("kda with "));
    let record =
        json(&s.ok("design wine.csv -n 400 -m design:gamma1=0.003,gamma2=0.0001 --hold-out 0 --json").out);
    s.ok("design wine.csv -n 400 -m design:gamma1=0.003,gamma2=0.0001 --hold-out 0 --out kept.csv");
    let header = s.text("kept.csv").lines().next().unwrap().to_owned();
    let selected: Vec<&str> =
        record["selected"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(header, selected.join(",") + ",target");
    assert!(selected.len() < 13);
}

#[test]
fn options_change_the_kernel() {
    let s = Scratch::new();
    let record =
        |options: &str| json(&s.ok(&format!("design builtin:iris -n 200 --hold-out 0 --json {options}")).out);
    let given = "--set gamma1=0.003 --set gamma2=0.0001";
    let plain = record(given)["mixture"].clone();
    for options in [
        "--set kernels=laplacian",
        "--set kernels=poly",
        "--set kernels=[poly] --set degree=3",
        "--set kernels=poly --set coef0=0",
        "--set weak=false",
        "--set quantiles=0.2,0.8",
        "--set gammas=[1,0.1]",
        "--set psd=dominance_with_noise",
        "--set psd=eigen_cuts",
        "--set group=kernel",
        "--set threshold=0.9",
        "--scale none",
        "--seed 5",
    ] {
        assert_ne!(
            record(&format!("{given} {options}"))["mixture"]["kernels"],
            plain["kernels"],
            "{options}"
        );
    }
    assert_ne!(record("-m design:gamma1=0.05,gamma2=0.0001")["mixture"]["kernels"], plain["kernels"]);
    assert_eq!(
        record("-m design:gamma1=0.003,gamma2=[0,1e-4]")["mixture"]["trials"].as_array().unwrap().len(),
        2
    );
    let (once, twice) = (record("--set gamma2=0"), record("-m design:gamma2=0,repeats=2"));
    assert_eq!(once["mixture"]["trials"].as_array().unwrap().len(), 4);
    assert_ne!(once["mixture"]["trials"], twice["mixture"]["trials"]);
    let duality_gap = |tolerance: &str| {
        let mixture = record(&format!("{given} --set tol={tolerance}"))["mixture"].clone();
        mixture["objective"].as_f64().unwrap()
            - mixture["bounds"].as_array().unwrap().last().unwrap().as_f64().unwrap()
    };
    assert!(duality_gap("1e-9") < duality_gap("0.05"), "a larger tolerance allows a larger gap");
    assert_eq!(record("-m gaussian:gamma=0.7")["kernel"]["rbf"]["gamma"], 0.7);
    assert_eq!(record("-m polynomial:degree=4,coef0=2")["kernel"]["polynomial"]["degree"], 4);
    assert_ne!(record("-m average:kernels=linear")["kernel"], record("-m average")["kernel"]);
    assert_ne!(record("-m xing:ridge=0.5")["kernel"], record("-m xing")["kernel"]);
    let short = s.ok("design builtin:wine -n 200 --hold-out 0 -m xing:max_iter=1");
    assert!(short.err.contains("increase max_iter"), "{}", short.err);
    let both = json(&s.ok("design builtin:iris -n 200 --json -m linear --baselines xing,linear").out);
    let accuracy = both["held_out"]["accuracy"].as_object().unwrap();
    assert_eq!(accuracy.keys().collect::<Vec<_>>(), ["linear", "xing"]);
}
