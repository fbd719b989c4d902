//! Full and read-only file systems: the error names the file, old files are unchanged, and no partial file remains.

use crate::crashes::{REPRODUCE, head_start};
use crate::scratch::{Run, Scratch};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

const OLD: &str = "an older file";

/// A directory `disk` with a small file system mounted.
struct Disk<'a> {
    s: &'a Scratch,
}

impl<'a> Disk<'a> {
    /// `None` if mounting is not permitted.
    fn new(s: &'a Scratch, size: &str) -> Option<Self> {
        std::fs::create_dir(s.path("disk")).unwrap();
        let disk = Self { s };
        let mounted = disk.mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "none"]);
        if !mounted {
            println!("skipped: no file system can be mounted here");
        }
        mounted.then_some(disk)
    }

    fn mount(&self, options: &[&str]) -> bool {
        let mut command = Command::new("mount");
        let command = command.args(options).arg(self.s.path("disk")).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn make_read_only(&self) {
        assert!(self.mount(&["-o", "remount,ro"]));
    }

    /// Fills the disk except for `free` bytes.
    fn fill(&self, free: u64) {
        let path = self.s.path("disk/ballast");
        let mut file = File::create(&path).unwrap();
        while file.write_all(&[b'x'; 4096]).is_ok() {}
        let size = file.metadata().unwrap().len() / 4096 * 4096;
        file.set_len(size - free).unwrap();
    }

    /// Frees the space.
    fn empty(&self) {
        std::fs::remove_file(self.s.path("disk/ballast")).unwrap();
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.s.path("disk")).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs a line that must fail with an error that names the file.
    fn full(&self, line: &str, file: &str) -> Run {
        let run = self.s.run(line);
        assert_eq!(run.code, 2, "{line}\n{}{}", run.out, run.err);
        let message = format!("error: {file}: No space left on device");
        assert!(run.err.contains(&message), "{line}\n{}", run.err);
        run
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        // Fails if nothing was mounted.
        let _ = Command::new("umount").arg(self.s.path("disk")).stderr(Stdio::null()).status();
    }
}

/// Commands that write a file, and the file.
const WRITERS: [(&str, &str); 13] = [
    ("select wine.csv -k 5 --out", "disk/reduced.csv"),
    ("select wine.csv -k 5 --out", "disk/reduced.csv.gz"),
    ("select wine.csv -k 5 --out", "disk/reduced.npy"),
    ("select wine.csv -k 5 --save", "disk/model.ks"),
    ("select wine.csv -k 5 --folds 0 --report", "disk/page.html"),
    ("select wine.csv -m takes --save", "disk/space.ks"),
    ("basis wine.csv -k 20 --out", "disk/mapped.csv"),
    ("basis wine.csv -k 20 --save", "disk/map.ks"),
    ("design wine.csv -n 60 --hold-out 0 --save", "disk/kernel.ks"),
    ("design wine.csv -n 60 --hold-out 0 --gram", "disk/gram.csv"),
    ("compare wine.csv -m fisher -k 2 --evaluator knn --report", "disk/compared.html"),
    ("apply wine.ks wine.csv --out", "disk/applied.csv"),
    ("data export wine --out", "disk/exported.csv"),
];

fn scratch() -> Scratch {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    s.ok("select wine.csv -k 5 --save wine.ks");
    s
}

#[test]
fn a_full_disk_leaves_old_files_unchanged() {
    let s = scratch();
    let Some(disk) = Disk::new(&s, "1m") else { return };
    for (line, file) in WRITERS {
        let line = format!("{line} {file}");
        disk.fill(0);
        let before = disk.files();
        disk.full(&line, file);
        assert_eq!(disk.files(), before, "no file is created: {line}");
        disk.empty();
        // Space for the old file, and for the first bytes of most new ones.
        s.file(file, OLD);
        disk.fill(0);
        let before = disk.files();
        disk.full(&line, file);
        assert_eq!((disk.files(), s.text(file).as_str()), (before, OLD), "{line}");
        disk.empty();
        s.ok(&line);
        assert_ne!(std::fs::read(s.path(file)).unwrap(), OLD.as_bytes());
        std::fs::remove_file(s.path(file)).unwrap();
    }
    // The disk becomes full during the write.
    s.file("disk/mapped.csv", OLD);
    disk.fill(16 << 10);
    disk.full("basis wine.csv -k 20 --out disk/mapped.csv", "disk/mapped.csv");
    assert_eq!(
        (disk.files(), s.text("disk/mapped.csv").as_str()),
        (vec!["ballast".into(), "mapped.csv".into()], OLD)
    );
}

#[test]
fn a_record_on_a_full_disk_has_complete_lines_and_resumes() {
    let s = Scratch::new();
    let Some(disk) = Disk::new(&s, "256k") else { return };
    let compare = "compare builtin:wine -m fisher,relief,ffs -k 1..8 --evaluator knn -q --record";
    s.ok(&format!("{compare} full.jsonl"));
    // Space for nothing, for some lines, and for all lines but not for a sorted copy.
    for space in [0, 4, 8, 12, 28] {
        disk.fill(space << 10);
        let run = s.run(&format!("{compare} disk/runs.jsonl"));
        assert!(run.code == 2 && run.err.contains("error: disk/runs."), "{space}: {}", run.err);
        assert!(run.err.contains("jsonl: No space left on device"), "{space}: {}", run.err);
        for name in ["disk/runs.jsonl", "disk/runs.cost.jsonl"] {
            let text = s.text(name);
            assert!(text.is_empty() || text.ends_with('\n'), "{space}: an incomplete line in {name}");
            assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        }
        disk.empty();
        assert_eq!(disk.files(), ["runs.cost.jsonl", "runs.jsonl"]);
        if space == 8 {
            assert!(s.text("disk/runs.jsonl").contains("\"kind\":\"result\""), "some results were recorded");
        }
    }
    s.ok(&format!("{compare} disk/runs.jsonl"));
    assert_eq!(s.text("disk/runs.jsonl"), s.text("full.jsonl"));
}

#[test]
fn a_reproduction_on_a_full_disk_resumes() {
    let s = Scratch::new();
    let Some(disk) = Disk::new(&s, "256k") else { return };
    head_start(&s);
    s.ok(REPRODUCE);
    let (expected, page) = (s.text("runs/lp-quick.jsonl"), s.text("page.md"));
    let (record, line) = ("disk/lp-quick.jsonl", REPRODUCE.replace("--records runs", "--records disk"));
    head_start(&s);
    for name in ["lp-quick.jsonl", "lp-quick.cost.jsonl"] {
        std::fs::copy(s.path("runs").join(name), s.path("disk").join(name)).unwrap();
    }
    disk.fill(0);
    let run = disk.full(&line, record);
    assert_eq!(run.out, "");
    disk.empty();
    assert_eq!(disk.files(), ["lp-quick.cost.jsonl", "lp-quick.jsonl"]);
    s.ok(&line);
    assert_eq!(s.text(record), expected);
    // The same for the page.
    s.file("disk/page.md", OLD);
    disk.fill(0);
    let run =
        s.run(&REPRODUCE.replace("page.md", "disk/page.md").replace("--records runs", "--records disk"));
    assert!(run.code == 2 && run.err.contains("No space left on device"), "{}", run.err);
    assert_eq!(s.text("disk/page.md"), OLD);
    assert_eq!(s.text("page.md"), page);
}

#[test]
fn a_read_only_directory_is_reported_before_any_work() {
    let s = scratch();
    let disk = Disk::new(&s, "64k");
    s.file("disk/reduced.csv", OLD).file("disk/runs.jsonl", "");
    match &disk {
        Some(disk) => disk.make_read_only(),
        // Not root, so permissions apply.
        None => {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(s.path("disk"), PermissionsExt::from_mode(0o500)).unwrap();
        }
    }
    if File::create(s.path("disk/probe")).is_ok() {
        println!("skipped: permissions have no effect");
        return;
    }
    let records = [
        ("compare wine.csv -m fisher -k 2 --evaluator knn --record", "disk/runs.jsonl"),
        ("reproduce lp --quick --page", "disk/page.md"),
    ];
    for (line, file) in WRITERS.into_iter().chain(records) {
        let message = s.error(&format!("{line} {file}"));
        assert_eq!(message, format!("{file}: the directory 'disk' is not writable"), "{line}");
    }
    let message = s.error("reproduce lp --quick --records disk");
    assert_eq!(message, "disk/lp-quick.jsonl: the directory 'disk' is not writable");
    let message = s.error("reproduce lp --quick --records disk/new");
    assert!(message.starts_with("disk/new: "), "{message}");
    assert_eq!((s.text("disk/reduced.csv").as_str(), s.text("disk/runs.jsonl").as_str()), (OLD, ""));
    if disk.is_none() {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(s.path("disk"), PermissionsExt::from_mode(0o700)).unwrap();
    }
}

#[test]
fn full_standard_output_is_an_error() {
    let s = scratch();
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        println!("skipped: there is no /dev/full");
        return;
    };
    for line in [
        "--help",
        "select --help",
        "--version",
        "methods",
        "methods --json",
        "data",
        "completions bash",
        "data export wine",
        "data make xor --rows 50",
        "apply wine.ks wine.csv",
        "select wine.csv -k 3",
        "select wine.csv -k 3 --json",
        "basis wine.csv -k 3",
        "design wine.csv -n 60 --hold-out 0",
        "compare wine.csv -m fisher -k 2 --evaluator knn",
    ] {
        let output = s.command(line).stdout(full.try_clone().unwrap()).stderr(Stdio::piped()).output();
        let run = Run::from(output.unwrap());
        assert_eq!(run.code, 2, "{line}\n{}", run.err);
        let message = "error: output: No space left on device";
        assert!(run.err.contains(message), "{line}\n{}", run.err);
    }
    // Full standard error does not change the exit code.
    for (line, code) in [("select wine.csv -k 3", 0), ("select absent.csv", 2), ("select --nothing", 2)] {
        let status = s.command(line).stdout(Stdio::null()).stderr(full.try_clone().unwrap()).status();
        assert_eq!(status.unwrap().code(), Some(code), "{line}");
    }
}
