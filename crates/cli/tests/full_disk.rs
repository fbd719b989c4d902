//! Disks that are full, or may not be written to: the error names the file, an old one stays, and nothing is left half-written.

use crate::crashes::{REPRODUCE, head_start};
use crate::scratch::{Run, Scratch};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

const OLD: &str = "an older file";

/// A folder `disk` that is a small file system of its own.
struct Disk<'a> {
    s: &'a Scratch,
}

impl<'a> Disk<'a> {
    /// Nothing where nothing may be mounted, which only root may.
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

    /// Takes all room but so many bytes.
    fn fill(&self, but: u64) {
        let path = self.s.path("disk/ballast");
        let mut file = File::create(&path).unwrap();
        while file.write_all(&[b'x'; 4096]).is_ok() {}
        let size = file.metadata().unwrap().len() / 4096 * 4096;
        file.set_len(size - but).unwrap();
    }

    /// Gives the room back.
    fn empty(&self) {
        std::fs::remove_file(self.s.path("disk/ballast")).unwrap();
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.s.path("disk")).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs a line that must fail for want of room, and name the file.
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
        // Where nothing was mounted, this fails, and the folder is one like any other.
        let _ = Command::new("umount").arg(self.s.path("disk")).stderr(Stdio::null()).status();
    }
}

/// Everything that writes a file, with the file's name.
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
fn a_full_disk_leaves_old_files_as_they_were() {
    let s = scratch();
    let Some(disk) = Disk::new(&s, "1m") else { return };
    for (line, file) in WRITERS {
        let line = format!("{line} {file}");
        disk.fill(0);
        let before = disk.files();
        disk.full(&line, file);
        assert_eq!(disk.files(), before, "nothing is begun: {line}");
        disk.empty();
        // Room for the old file, and for the first bytes of most new ones.
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
    // The disk is full in the middle of it.
    s.file("disk/mapped.csv", OLD);
    disk.fill(16 << 10);
    disk.full("basis wine.csv -k 20 --out disk/mapped.csv", "disk/mapped.csv");
    assert_eq!(
        (disk.files(), s.text("disk/mapped.csv").as_str()),
        (vec!["ballast".into(), "mapped.csv".into()], OLD)
    );
}

#[test]
fn a_record_on_a_full_disk_keeps_whole_lines_and_goes_on() {
    let s = Scratch::new();
    let Some(disk) = Disk::new(&s, "256k") else { return };
    let compare = "compare builtin:wine -m fisher,relief,ffs -k 1..8 --evaluator knn -q --record";
    s.ok(&format!("{compare} whole.jsonl"));
    // Room for nothing, for some lines, and for all of them, but not for a second copy in order.
    for room in [0, 4, 8, 12, 28] {
        disk.fill(room << 10);
        let run = s.run(&format!("{compare} disk/runs.jsonl"));
        assert!(run.code == 2 && run.err.contains("error: disk/runs."), "{room}: {}", run.err);
        assert!(run.err.contains("jsonl: No space left on device"), "{room}: {}", run.err);
        for name in ["disk/runs.jsonl", "disk/runs.cost.jsonl"] {
            let text = s.text(name);
            assert!(text.is_empty() || text.ends_with('\n'), "{room}: a torn line in {name}");
            assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        }
        disk.empty();
        assert_eq!(disk.files(), ["runs.cost.jsonl", "runs.jsonl"]);
        if room == 8 {
            assert!(s.text("disk/runs.jsonl").contains("\"kind\":\"result\""), "some work was kept");
        }
    }
    s.ok(&format!("{compare} disk/runs.jsonl"));
    assert_eq!(s.text("disk/runs.jsonl"), s.text("whole.jsonl"));
}

#[test]
fn a_reproduction_on_a_full_disk_goes_on() {
    let s = Scratch::new();
    let Some(disk) = Disk::new(&s, "256k") else { return };
    head_start(&s);
    s.ok(REPRODUCE);
    let (whole, page) = (s.text("runs/lp-quick.jsonl"), s.text("page.md"));
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
    assert_eq!(s.text(record), whole);
    // Now the page.
    s.file("disk/page.md", OLD);
    disk.fill(0);
    let run =
        s.run(&REPRODUCE.replace("page.md", "disk/page.md").replace("--records runs", "--records disk"));
    assert!(run.code == 2 && run.err.contains("No space left on device"), "{}", run.err);
    assert_eq!(s.text("disk/page.md"), OLD);
    assert_eq!(s.text("page.md"), page);
}

#[test]
fn a_folder_that_may_not_be_written_to_is_named_before_the_work() {
    let s = scratch();
    let disk = Disk::new(&s, "64k");
    s.file("disk/reduced.csv", OLD).file("disk/runs.jsonl", "");
    match &disk {
        Some(disk) => disk.make_read_only(),
        // Then this is not run by root, whom permissions do not bind.
        None => {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(s.path("disk"), PermissionsExt::from_mode(0o500)).unwrap();
        }
    }
    if File::create(s.path("disk/probe")).is_ok() {
        println!("skipped: permissions do not bind here");
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
fn standard_output_that_is_full_is_an_error() {
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
    // Nor does a standard error that takes nothing make it worse.
    for (line, code) in [("select wine.csv -k 3", 0), ("select absent.csv", 2), ("select --nothing", 2)] {
        let status = s.command(line).stdout(Stdio::null()).stderr(full.try_clone().unwrap()).status();
        assert_eq!(status.unwrap().code(), Some(code), "{line}");
    }
}
