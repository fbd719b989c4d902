//! The command reproduce.

use crate::scratch::Scratch;

#[test]
fn records_do_not_depend_on_threads() {
    let s = Scratch::new();
    let first = s.ok("reproduce lp --quick --records runs --page page.md").out;
    for part in ["P2-F1", "P2-F2", "P2-F3", "P2-speed", "weak mixture"] {
        assert!(first.contains(part), "{part} in\n{first}");
    }
    let again = s.ok("reproduce lp --quick --records runs --threads 1").out;
    assert_eq!(first, again, "all results were recorded");
    s.ok("reproduce lp --quick --records two --threads 1");
    assert_eq!(s.text("runs/lp-quick.jsonl"), s.text("two/lp-quick.jsonl"));
    let page = s.text("page.md");
    assert!(page.contains("![Accuracy on held-out triplets](page/P2-F1.svg)"), "{page}");
    assert!(s.text("page/P2-F1.svg").starts_with("<svg"));
}

#[test]
fn invalid_options_are_rejected_before_any_work() {
    let s = Scratch::new();
    s.file("file.txt", "x");
    for (line, part) in [
        ("reproduce", "PAPER"),
        ("reproduce svm", "possible values: takes, transform, lp"),
        ("reproduce lp --data-dir nowhere", "--data-dir: nowhere is not a folder"),
        ("reproduce lp --records file.txt", "file.txt"),
        ("reproduce lp --page page", "--page needs a file extension"),
        ("reproduce lp --page nowhere/page.md", "nowhere"),
    ] {
        let run = s.run(line);
        assert_eq!(run.code, 2, "{line}");
        assert!(run.err.contains(part), "{line}: {}", run.err);
    }
    std::fs::create_dir(s.path("runs")).unwrap();
    s.file(
        "runs/lp-quick.jsonl",
        "{\"kind\":\"run\",\"format\":1,\"version\":\"0.0.1\",\"paper\":\"lp\",\"quick\":true,\"seed\":0}\n",
    );
    let run = s.run("reproduce lp --quick --records runs");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("another run (paper lp, seed 0, version 0.0.1, quick)"), "{}", run.err);
}
