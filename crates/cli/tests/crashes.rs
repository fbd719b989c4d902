//! Runs that are killed or interrupted at any time: every file is complete or unchanged, and resumed runs write the same
//! bytes. `KERNSIFT_KILLS` is the total number of kills.

use crate::scratch::Scratch;
use kernsift::internals::Rng;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Default number of kills, divided between three tests.
const KILLS: usize = 15;
/// The longest delay of a kill after the first byte of a file is written.
const MAX_WRITE_DELAY: Duration = Duration::from_millis(20);
const OLD: &[u8] = b"an older file";

/// Number of kills of one of the three tests.
fn kills(test: usize) -> usize {
    let requested =
        std::env::var("KERNSIFT_KILLS").map(|text| text.parse().expect("KERNSIFT_KILLS is a number"));
    (requested.unwrap_or(KILLS) + test) / 3
}

/// When a run is killed.
enum Moment {
    /// This long after its start.
    Start(Duration),
    /// This long after it started to write a file.
    Write(Duration),
    /// As soon as this file, the record, grows.
    Grow(PathBuf),
}

/// Times of kills: evenly distributed over a run, and during writes.
struct Moments {
    duration: Duration,
    record: Option<PathBuf>,
    count: usize,
    fraction: f64,
}

impl Moments {
    /// For a run with this duration and, optionally, a record.
    fn new(duration: Duration, record: Option<PathBuf>, part: &str) -> Self {
        Self { duration, record, count: 0, fraction: Rng::stream(0, part).uniform() }
    }

    /// The next kill, for a run of which this fraction of the work remains.
    fn next(&mut self, remaining: f64) -> Moment {
        self.count += 1;
        // Steps of the golden ratio cover the range evenly.
        self.fraction = (self.fraction + 0.618_033_988_75) % 1.0;
        match (self.count % 4, &self.record) {
            // Small files are written within a few milliseconds.
            (0, _) | (2, None) => Moment::Write(MAX_WRITE_DELAY.mul_f64(self.fraction.powi(3))),
            (2, Some(record)) => Moment::Grow(record.clone()),
            // Start and end take time too.
            _ => Moment::Start(self.duration.mul_f64(self.fraction * remaining.max(0.2))),
        }
    }
}

/// Counts of kills by the state of the run.
#[derive(Default)]
struct Tally {
    kills: usize,
    /// Before anything was written.
    before: usize,
    /// When part of the work was recorded, or some of the files were written.
    middle: usize,
    /// When all was written but the run had not ended.
    late: usize,
    /// During a write. These are also counted above.
    writing: usize,
    /// Runs that ended before their kill.
    ended: usize,
}

impl Tally {
    fn count(&mut self, done: usize, of: usize, writing: bool) {
        self.kills += 1;
        self.writing += usize::from(writing);
        match done {
            0 if !writing => self.before += 1,
            done if done == of => self.late += 1,
            _ => self.middle += 1,
        }
    }

    fn report(&self, what: &str) {
        let Self { kills, before, middle, late, writing, ended } = self;
        println!(
            "{what}: {kills} kills, {before} before any output, {middle} in the middle, {late} after it; \
             {writing} during a write; {ended} runs ended first"
        );
        assert!(*middle > 0, "{what}: no kill was in the middle of the work");
    }
}

/// Temporary files in the directory and its subdirectories.
fn unfinished(s: &Scratch) -> BTreeSet<PathBuf> {
    let entries = |folder: PathBuf| {
        std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect::<Vec<_>>()
    };
    let top = entries(s.path(""));
    let within = top.iter().filter(|path| path.is_dir()).cloned().flat_map(entries).collect::<Vec<_>>();
    let is_ours = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(".kernsift-");
    top.into_iter().chain(within).filter(is_ours).collect()
}

/// Whether a new temporary file has content; empty ones only test whether a directory is writable.
fn is_writing(s: &Scratch, before: &BTreeSet<PathBuf>) -> bool {
    let has_content = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
    unfinished(s).difference(before).any(has_content)
}

fn start(s: &Scratch, line: &str) -> Child {
    s.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a condition or the end of the run.
fn wait_until(child: &mut Child, condition: &dyn Fn() -> bool) {
    while !condition() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Runs a line and kills it. Returns whether a file was being written; `None` if the run ended before the kill.
fn kill(s: &Scratch, line: &str, moment: Moment) -> Option<bool> {
    let before = unfinished(s);
    let mut child = start(s, line);
    std::thread::sleep(match moment {
        Moment::Start(pause) => pause,
        Moment::Write(pause) => {
            wait_until(&mut child, &|| is_writing(s, &before));
            pause
        }
        Moment::Grow(record) => {
            let size = || std::fs::metadata(&record).map_or(0, |found| found.len());
            let old = size();
            wait_until(&mut child, &|| size() > old);
            Duration::ZERO
        }
    });
    // SIGKILL: the program cannot clean up.
    let _ = child.kill();
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert!(
        status.success() || status.signal() == Some(9),
        "{line}: {status}, {}",
        String::from_utf8_lossy(&stderr)
    );
    (!status.success()).then(|| is_writing(s, &before))
}

/// Checks that temporary files of killed runs do no harm and are removed by later runs once they are old.
fn check_cleanup(s: &Scratch, line: &str) {
    s.ok(line);
    for path in unfinished(s) {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(2 * 60 * 60)).unwrap();
    }
    s.ok(line);
    assert_eq!(unfinished(s), BTreeSet::new(), "{line}");
}

/// A run with a record.
struct Recorded<'a> {
    s: &'a Scratch,
    line: &'a str,
    record: &'a str,
    costs: &'a str,
    /// Restores the files to the state before the first run.
    begin: &'a dyn Fn(),
    /// Number of header lines of the record.
    head: usize,
}

impl Recorded<'_> {
    /// Number of complete lines. Only the last line may be incomplete.
    fn n_lines(&self, name: &str) -> usize {
        let text = std::fs::read_to_string(self.s.path(name)).unwrap_or_default();
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        complete.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
        complete.lines().count()
    }

    /// The record of an uninterrupted run, and its duration.
    fn uninterrupted(&self) -> (String, Duration) {
        (self.begin)();
        let begin = Instant::now();
        self.s.ok(self.line);
        (self.s.text(self.record), begin.elapsed())
    }

    /// Kills runs, each of which resumes the last one; after a run that ends, the record is deleted.
    fn killed(&self, what: &str, kills: usize) {
        let (expected, time) = self.uninterrupted();
        let work = expected.lines().count() - self.head;
        let mut moments = Moments::new(time, Some(self.s.path(self.record)), what);
        let mut tally = Tally::default();
        let mut n_lines = 0;
        (self.begin)();
        while tally.kills < kills {
            let Some(writing) = kill(self.s, self.line, moments.next(1.0 - n_lines as f64 / work as f64))
            else {
                assert_eq!(self.s.text(self.record), expected, "{what}, after {} kills", tally.kills);
                tally.ended += 1;
                (self.begin)();
                n_lines = 0;
                continue;
            };
            let now = self.n_lines(self.record).saturating_sub(self.head);
            self.n_lines(self.costs);
            assert!(n_lines <= now && now <= work, "no line is lost: {now} after {n_lines}");
            n_lines = now;
            tally.count(now, work, writing);
        }
        self.s.ok(self.line);
        assert_eq!(self.s.text(self.record), expected, "{what}");
        check_cleanup(self.s, self.line);
        assert_eq!(self.s.text(self.record), expected, "{what}: the repeated run changes nothing");
        tally.report(what);
    }
}

/// Removes files if they exist.
fn remove(s: &Scratch, names: &[&str]) {
    names.iter().for_each(|name| drop(std::fs::remove_file(s.path(name))));
}

const COMPARE: &str =
    "compare builtin:ionosphere -m fisher,relief,ffs,takes -k 1..6 --folds 4 --evaluator svm:C=1 --seed 3 -q";

#[test]
fn a_killed_comparison_resumes_and_writes_the_same_bytes() {
    let s = Scratch::new();
    let line = format!("{COMPARE} --repeats 3 --record runs.jsonl");
    let begin = || remove(&s, &["runs.jsonl", "runs.cost.jsonl"]);
    // One line for the run, and one for each method and for all features.
    let compare = Recorded {
        s: &s,
        line: &line,
        record: "runs.jsonl",
        costs: "runs.cost.jsonl",
        begin: &begin,
        head: 6,
    };
    compare.killed("compare", kills(0));
    let results = s.text("runs.jsonl").lines().filter(|line| line.contains("\"kind\":\"result\"")).count();
    assert_eq!(results, 3 * 4 * (4 * 6 + 1));
    assert_eq!(compare.n_lines("runs.jsonl"), results + compare.head);
    // Measured costs are not changed.
    let costs = s.text("runs.cost.jsonl");
    assert_eq!(costs.lines().count(), 5 * 3 * 4, "one cost per method and fold");
    let time = |line: &str| serde_json::from_str::<Value>(line).unwrap()["select_seconds"].as_f64().unwrap();
    assert!(costs.lines().all(|line| time(line) >= 0.0));
    s.ok(&line);
    assert_eq!(s.text("runs.cost.jsonl"), costs);
}

pub const REPRODUCE: &str = "reproduce lp --quick --records runs --page page.md -q";

/// Starts the record of [`REPRODUCE`] with measurements that take seconds. Runs use recorded values as they are.
pub fn head_start(s: &Scratch) -> usize {
    let run =
        "{\"kind\":\"run\",\"format\":1,\"version\":\"VERSION\",\"paper\":\"lp\",\"quick\":true,\"seed\":0}\n"
            .replace("VERSION", env!("CARGO_PKG_VERSION"));
    let known = |name: &str, numbers: &str| {
        format!("{{\"kind\":\"measured\",\"name\":\"{name}\",\"numbers\":{{{numbers}}}}}\n")
    };
    let speed = "\"cuts\":531.0,\"kernels\":39.0,\"objective\":0.1,\"rounds\":6.0,\"rows\":178.0";
    let mut text = run.clone() + &known("speed, wine", speed);
    for set in ["iris", "soybean_small"] {
        for kernel in ["itml", "strict dominance", "weak mixture", "weak mixture with noise"] {
            for split in 0..2 {
                let name = format!("triplets, {set}, {kernel}, split {split}");
                text += &known(&name, "\"accuracy\":90.0,\"features\":2.0,\"trivial cone\":0.0");
            }
        }
    }
    std::fs::create_dir_all(s.path("runs")).unwrap();
    s.file("runs/lp-quick.cost.jsonl", run + &known("speed, wine", "\"seconds\":0.5"));
    s.file("runs/lp-quick.jsonl", &text);
    text.lines().count()
}

#[test]
fn a_killed_reproduction_resumes_and_writes_the_same_bytes() {
    let s = Scratch::new();
    let head = head_start(&s);
    let begin = || {
        assert_eq!(head_start(&s), head);
        s.file("page.md", OLD);
    };
    let reproduce = Recorded {
        s: &s,
        line: REPRODUCE,
        record: "runs/lp-quick.jsonl",
        costs: "runs/lp-quick.cost.jsonl",
        begin: &begin,
        head,
    };
    reproduce.uninterrupted();
    let page = s.text("page.md");
    reproduce.killed("reproduce", kills(1));
    assert_eq!(s.text("page.md"), page);
    // The run, the speed, and eleven learners on two splits of two sets: all names of the start are used.
    assert_eq!(reproduce.n_lines("runs/lp-quick.jsonl"), 2 + 2 * 2 * 11);
}

#[test]
fn a_killed_run_leaves_files_complete_or_unchanged() {
    let s = Scratch::new();
    s.ok("data make noise --rows 12000 --columns 30 --out big.csv");
    s.ok("data export iris --out iris.csv");
    let mut tally = Tally::default();
    let commands = [
        (
            "select big.csv -m fisher -k 10 --folds 0 --out s.csv --save s.ks --report s.html",
            &["s.csv", "s.ks", "s.html"][..],
        ),
        ("basis big.csv -k 30 --out b.csv --save b.ks", &["b.csv", "b.ks"]),
        ("design iris.csv --save d.ks --report d.html --hold-out 0", &["d.ks", "d.html"]),
    ];
    for (at, (line, files)) in commands.iter().enumerate() {
        let begin = Instant::now();
        s.ok(line);
        let mut moments = Moments::new(begin.elapsed(), None, line);
        let model = files.iter().find(|name| name.ends_with(".ks")).unwrap();
        s.ok(&format!("apply {model} {}", line.split(' ').nth(1).unwrap()));
        let new: Vec<Vec<u8>> = files.iter().map(|name| std::fs::read(s.path(name)).unwrap()).collect();
        let wanted = kills(2) * (at + 1) / commands.len();
        while tally.kills < wanted {
            for name in *files {
                s.file(name, OLD);
            }
            let killed = kill(&s, line, moments.next(1.0));
            let written = (0..files.len()).filter(|&i| is_new(&s.path(files[i]), &new[i])).count();
            match killed {
                Some(writing) => tally.count(written, files.len(), writing),
                None => {
                    assert_eq!(written, files.len(), "{line}");
                    tally.ended += 1;
                }
            }
        }
        check_cleanup(&s, line);
        assert!((0..files.len()).all(|i| is_new(&s.path(files[i]), &new[i])), "{line}");
    }
    assert!(tally.writing > 0, "no kill was during a write");
    tally.report("files");
}

/// Whether a file is the new one; otherwise it must be the unchanged old one.
fn is_new(path: &Path, new: &[u8]) -> bool {
    let found = std::fs::read(path).unwrap();
    if found == OLD {
        return false;
    }
    // A report contains its duration, so it differs between runs; it is complete if it has the right end.
    let is_page = path.extension().is_some_and(|ending| ending == "html");
    let is_complete = if is_page {
        let start = new.iter().position(|&b| b == b'\n').unwrap();
        found.starts_with(&new[..start]) && found.ends_with(b"</html>\n") && new.ends_with(b"</html>\n")
    } else {
        found == new
    };
    assert!(
        is_complete,
        "{} is neither the old file nor a complete new one: {} bytes",
        path.display(),
        found.len()
    );
    true
}

/// Whether the signal handler is installed.
fn handles_signals(child: &Child) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id())) else { return true };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    // SIGTERM is number 15, which is bit 14.
    u64::from_str_radix(caught.trim(), 16).unwrap() >> 14 & 1 == 1
}

/// Sends a signal and checks the time, the exit code and the message.
fn interrupt(mut child: Child, line: &str, signal: &str) {
    let begin = Instant::now();
    Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    // Output is not read before the end: a run that waits for its reader must end too.
    while child.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let time = begin.elapsed();
    let _ = child.kill();
    let has_stderr = child.stderr.is_some();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let code = if signal == "INT" { 130 } else { 143 };
    assert_eq!(output.status.code(), Some(code), "{line}, after {time:?}: {said}");
    // One second is documented; half a second more for a busy computer.
    assert!(time < Duration::from_millis(1500), "{line}: {time:?}");
    assert!(said.contains("interrupted") || !has_stderr, "{line}: {said}");
}

#[test]
fn signals_end_a_run_within_a_second_without_files() {
    let s = Scratch::new();
    s.ok("data make noise --rows 60000 --columns 30 --out big.csv");
    s.ok("data make noise --rows 8000 --columns 30 --out small.csv");
    // A large gamma without a threshold would take thousands of pivots.
    let large_gamma = "--set gamma=5 --set threshold=none --out mapped.csv --memory-limit 100GiB";
    let started = Duration::from_millis(700);
    for (line, pause) in [
        ("select big.csv -m fisher -k 3 --out mapped.csv", Duration::from_millis(30)),
        (&format!("select small.csv -m takes --set n_components=7000 {large_gamma}"), started),
        (&format!("basis small.csv -k 7000 {large_gamma}"), started),
        ("design small.csv -n 200000 --save kernel.ks", started),
        // The output is not read, so the run waits in the middle of a row.
        ("data export madelon", started),
    ] {
        for signal in ["INT", "TERM"] {
            let mut child = start(&s, line);
            let watched = &child;
            while !handles_signals(watched) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(pause);
            assert!(child.try_wait().unwrap().is_none(), "ended before the signal: {line}");
            interrupt(child, line, signal);
            assert_eq!(s.files(), ["big.csv", "small.csv"], "{line}");
        }
    }
}

#[test]
fn a_signal_during_a_write_leaves_the_old_file() {
    let s = Scratch::new();
    s.file("made.csv", OLD);
    let line = "data make noise --rows 100000 --columns 30 --out made.csv";
    for signal in ["INT", "TERM"] {
        let mut child = start(&s, line);
        wait_until(&mut child, &|| is_writing(&s, &BTreeSet::new()));
        interrupt(child, line, signal);
        assert_eq!((s.files(), s.text("made.csv").as_bytes()), (vec!["made.csv".to_owned()], OLD));
    }
}

#[test]
fn a_signal_ends_a_run_without_stderr() {
    let s = Scratch::new();
    let mut child = start(&s, "data export madelon");
    drop(child.stderr.take());
    std::thread::sleep(Duration::from_millis(700));
    interrupt(child, "data export madelon", "TERM");
}

#[test]
fn interrupted_runs_resume_and_write_the_same_bytes() {
    let s = Scratch::new();
    let line = format!("{COMPARE} --repeats 6 --record runs.jsonl");
    let begin = || remove(&s, &["runs.jsonl", "runs.cost.jsonl"]);
    let (record, costs) = ("runs.jsonl", "runs.cost.jsonl");
    check_interrupted(&Recorded { s: &s, line: &line, record, costs, begin: &begin, head: 6 });
    // The lock is released at the end of the run.
    let run = s.run("compare builtin:wine -m fisher -k 2 --record runs.jsonl");
    assert!(run.err.contains("the record is of other data"), "{}", run.err);

    let (record, costs) = ("runs/lp-quick.jsonl", "runs/lp-quick.cost.jsonl");
    let head = head_start(&s);
    let begin = || assert_eq!(head_start(&s), head);
    check_interrupted(&Recorded { s: &s, line: REPRODUCE, record, costs, begin: &begin, head });
}

fn check_interrupted(run: &Recorded) {
    let (expected, _) = run.uninterrupted();
    (run.begin)();
    for signal in ["INT", "TERM"] {
        let before = run.n_lines(run.record);
        let mut child = start(run.s, run.line);
        wait_until(&mut child, &|| run.n_lines(run.record) > before.max(run.head));
        interrupt(child, run.line, signal);
        let after = run.n_lines(run.record);
        assert!(before < after && after < expected.lines().count(), "in the middle: {after}");
        assert!(unfinished(run.s).is_empty());
    }
    run.s.ok(run.line);
    assert_eq!(run.s.text(run.record), expected);
}
