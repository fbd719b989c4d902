//! Colors are written to a terminal only, unless the user asks for them. Tests have no terminal.

use crate::scratch::{Run, Scratch};

const LINES: [&str; 6] = [
    "select builtin:wine -k 3",
    "select builtin:wine -m takes",
    "compare builtin:iris -m fisher,relief -k 1,2 --evaluator knn",
    "basis builtin:iris",
    "methods",
    "--help",
];

fn without_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// Lines without numbers that change from run to run.
fn stable(text: &str) -> String {
    text.split("\n method").next().unwrap().to_owned()
}

#[test]
fn pipes_have_colors_only_if_asked_and_the_same_text() {
    let s = Scratch::new();
    for line in LINES {
        let plain = s.ok(line);
        assert!(!plain.out.contains('\x1b') && !plain.err.contains('\x1b'), "{line}");
        let colored = s.ok(&format!("{line} --color always"));
        assert!(colored.out.contains("\x1b["), "{line}: {}", colored.out);
        assert_eq!(stable(&without_colors(&colored.out)), stable(&plain.out), "{line}");
        assert!(!s.ok(&format!("{line} --color never")).out.contains('\x1b'), "{line}");
    }
}

#[test]
fn environment_variables_set_the_default() {
    let s = Scratch::new();
    let run =
        |line: &str, name: &str, value: &str| Run::from(s.command(line).env(name, value).output().unwrap());
    assert!(run("methods", "CLICOLOR_FORCE", "1").out.contains('\x1b'));
    assert!(!run("methods", "NO_COLOR", "1").out.contains('\x1b'));
    let both = s.command("methods").env("CLICOLOR_FORCE", "1").env("NO_COLOR", "yes").output().unwrap();
    assert!(!Run::from(both).out.contains('\x1b'), "NO_COLOR wins");
    assert!(run("methods --color always", "NO_COLOR", "1").out.contains('\x1b'), "the option wins");
}

#[test]
fn each_style_has_its_color() {
    let s = Scratch::new();
    s.file("good.csv", "a,b,class\n1,2,x\n3,2,y\n2,2,x\n4,2,y\n");
    let page = s.ok("select builtin:wine -k 2 --color always").out;
    assert!(page.contains("\x1b[1mrank\x1b[0m") && page.contains("\x1b[36m█"), "{page}");
    let table = s.ok("compare builtin:iris -m fisher,relief -k 1 --evaluator knn --color always").out;
    assert!(table.contains("*\x1b[0m") && table.contains("\x1b[32m"), "{table}");
    let error = s.run("select good.csv --target clas --color always").err;
    assert_eq!(
        error,
        "\x1b[1;31merror:\x1b[0m good.csv: no column 'clas'; \x1b[1mdid you mean 'class'?\x1b[0m\n"
    );
    let warning = s.ok("basis good.csv --include b --color always").err;
    assert!(warning.contains("\x1b[33mwarning:\x1b[0m column b is constant"), "{warning}");
    assert!(s.run("selct --color always").err.contains('\x1b'), "parser errors follow the option");
    assert!(!s.run("selct --color never").err.contains('\x1b'));
}

#[test]
fn names_cannot_write_control_characters() {
    let s = Scratch::new();
    s.file("evil.csv", "a\x1b[31m,b\x1b]0;title\x07,class\n1,2,x\n3,5,y\n2,2,x\n4,7,y\n");
    let page = s.ok("select evil.csv -k 2 --color always");
    assert!(!page.out.contains("\x1b[31m") && !page.out.contains('\x07'), "{}", page.out);
    let error = s.run("select evil.csv --target '\x1b[31m' --color always").err;
    assert!(!error.contains("\x1b[31m") && !error.contains('\x07'), "{error}");
}
