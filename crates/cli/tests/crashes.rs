//! Runs that are killed or interrupted at any moment: every file is whole or as it was, and what was recorded goes on to the
//! same bytes. `KERNSIFT_KILLS` says how many kills there are in all.

use crate::scratch::Scratch;
use kernsift::random::Rng;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Kills unless the environment says otherwise, shared by three tests.
const KILLS: usize = 24;
/// A kill while a file is being written comes within so long after its first byte.
const WRITING: Duration = Duration::from_millis(20);
const OLD: &[u8] = b"an older file";

/// The share of one of the three.
fn kills(test: usize) -> usize {
    let asked = std::env::var("KERNSIFT_KILLS").map(|text| text.parse().expect("KERNSIFT_KILLS is a number"));
    (asked.unwrap_or(KILLS) + test) / 3
}

/// When a run is killed.
enum Moment {
    /// So long after its start.
    Start(Duration),
    /// So long after it began to write a file that takes another's place.
    Write(Duration),
    /// As soon as this file, its record, grows.
    Grow(PathBuf),
}

/// Moments spread evenly over a run, and those of writing.
struct Moments {
    whole: Duration,
    record: Option<PathBuf>,
    turn: usize,
    share: f64,
}

impl Moments {
    /// Those of a run that takes so long, and may keep a record.
    fn new(whole: Duration, record: Option<PathBuf>, part: &str) -> Self {
        Self { whole, record, turn: 0, share: Rng::stream(0, part).uniform() }
    }

    /// The next, for a run of which this share is left to do.
    fn next(&mut self, left: f64) -> Moment {
        self.turn += 1;
        // Steps of the golden ratio fill the range evenly, however many there are.
        self.share = (self.share + 0.618_033_988_75) % 1.0;
        match (self.turn % 4, &self.record) {
            // Small files are there for a few milliseconds only.
            (0, _) | (2, None) => Moment::Write(WRITING.mul_f64(self.share.powi(3))),
            (2, Some(record)) => Moment::Grow(record.clone()),
            // Starting and ending take their time too.
            _ => Moment::Start(self.whole.mul_f64(self.share * left.max(0.2))),
        }
    }
}

/// Where kills came.
#[derive(Default)]
struct Tally {
    kills: usize,
    /// Before anything was kept.
    before: usize,
    /// When some of the work was kept, or some of the files were written.
    middle: usize,
    /// When all was there but the run had not ended.
    late: usize,
    /// With a file half-written. These are counted above as well.
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

    fn tell(&self, what: &str) {
        let Self { kills, before, middle, late, writing, ended } = self;
        println!(
            "{what}: {kills} kills, {before} before anything was kept, {middle} in the middle, {late} after it; \
             {writing} while a file was half-written; {ended} runs ended first"
        );
        assert!(*middle > 0, "{what}: no kill came in the middle of the work");
    }
}

/// Half-written files in the folder and in those within it.
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

/// Whether a file is being written that was not there before, and has something in it: places are tried out with empty ones.
fn is_writing(s: &Scratch, before: &BTreeSet<PathBuf>) -> bool {
    let has_content = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
    unfinished(s).difference(before).any(has_content)
}

fn start(s: &Scratch, line: &str) -> Child {
    s.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until something is so, or the run has ended.
fn wait_until(child: &mut Child, is_so: &dyn Fn() -> bool) {
    while !is_so() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Runs a line and kills it. Says whether a file was half-written, unless the run ended before its kill.
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
    // SIGKILL: nothing can be tidied up.
    let _ = child.kill();
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert!(
        status.success() || status.signal() == Some(9),
        "{line}: {status}, {}",
        String::from_utf8_lossy(&stderr)
    );
    (!status.success()).then(|| is_writing(s, &before))
}

/// What killed runs left disturbs nobody, and goes once it is old: after a run that writes everywhere, nothing is left.
fn tidied_up(s: &Scratch, line: &str) {
    s.ok(line);
    for path in unfinished(s) {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(2 * 60 * 60)).unwrap();
    }
    s.ok(line);
    assert_eq!(unfinished(s), BTreeSet::new(), "{line}");
}

/// A run that keeps a record.
struct Recorded<'a> {
    s: &'a Scratch,
    line: &'a str,
    record: &'a str,
    costs: &'a str,
    /// Puts the files as they are before the first run.
    begin: &'a dyn Fn(),
    /// Lines of the record that are no work.
    head: usize,
}

impl Recorded<'_> {
    /// The number of whole lines. Only what was being written may be torn.
    fn kept(&self, name: &str) -> usize {
        let text = std::fs::read_to_string(self.s.path(name)).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
        whole.lines().count()
    }

    /// The record of a run that nothing breaks, and its time.
    fn unbroken(&self) -> (String, Duration) {
        (self.begin)();
        let begin = Instant::now();
        self.s.ok(self.line);
        (self.s.text(self.record), begin.elapsed())
    }

    /// Kills runs, each of which goes on where the last one was stopped; after one that ends all begins anew.
    fn killed(&self, what: &str, kills: usize) {
        let (whole, time) = self.unbroken();
        let work = whole.lines().count() - self.head;
        let mut moments = Moments::new(time, Some(self.s.path(self.record)), what);
        let mut tally = Tally::default();
        let mut kept = 0;
        (self.begin)();
        while tally.kills < kills {
            let Some(writing) = kill(self.s, self.line, moments.next(1.0 - kept as f64 / work as f64)) else {
                assert_eq!(self.s.text(self.record), whole, "{what}, after {} kills", tally.kills);
                tally.ended += 1;
                (self.begin)();
                kept = 0;
                continue;
            };
            let now = self.kept(self.record).saturating_sub(self.head);
            self.kept(self.costs);
            assert!(kept <= now && now <= work, "nothing is lost: {now} after {kept}");
            kept = now;
            tally.count(now, work, writing);
        }
        self.s.ok(self.line);
        assert_eq!(self.s.text(self.record), whole, "{what}");
        tidied_up(self.s, self.line);
        assert_eq!(self.s.text(self.record), whole, "{what}: nothing is left to do");
        tally.tell(what);
    }
}

/// Removes files that may be there.
fn without(s: &Scratch, names: &[&str]) {
    names.iter().for_each(|name| drop(std::fs::remove_file(s.path(name))));
}

const COMPARE: &str =
    "compare builtin:ionosphere -m fisher,relief,ffs,takes -k 1..6 --folds 4 --cost 1 --seed 3 -q";

#[test]
fn a_killed_comparison_goes_on_and_ends_with_the_same_bytes() {
    let s = Scratch::new();
    let line = format!("{COMPARE} --repeats 3 --record runs.jsonl");
    let begin = || without(&s, &["runs.jsonl", "runs.cost.jsonl"]);
    // A line for the run, and one for each method and all columns.
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
    assert_eq!(compare.kept("runs.jsonl"), results + compare.head);
    // Costs stay as they were measured.
    let costs = s.text("runs.cost.jsonl");
    assert_eq!(costs.lines().count(), 5 * 3 * 4, "a cost per method and fold, each with its time");
    let time = |line: &str| serde_json::from_str::<Value>(line).unwrap()["select_seconds"].as_f64().unwrap();
    assert!(costs.lines().all(|line| time(line) >= 0.0));
    s.ok(&line);
    assert_eq!(s.text("runs.cost.jsonl"), costs);
}

pub const REPRODUCE: &str = "reproduce lp --quick --records runs --page page.md -q";

/// Starts the record of [`REPRODUCE`] with what takes seconds to measure. No run asks who measured it.
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
fn a_killed_reproduction_goes_on_and_ends_with_the_same_bytes() {
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
    reproduce.unbroken();
    let page = s.text("page.md");
    reproduce.killed("reproduce", kills(1));
    assert_eq!(s.text("page.md"), page);
    // The run's line, the speed, and two splits of two sets by eleven learners: no name of the start is a wrong one.
    assert_eq!(reproduce.kept("runs/lp-quick.jsonl"), 2 + 2 * 2 * 11);
}

#[test]
fn a_killed_run_leaves_files_whole_or_as_they_were() {
    let s = Scratch::new();
    s.ok("data make noise --rows 12000 --columns 30 --out big.csv");
    s.ok("data export iris --out iris.csv");
    let mut tally = Tally::default();
    let commands = [
        (
            "select big.csv -k 10 --folds 0 --out s.csv --save s.ks --report s.html",
            &["s.csv", "s.ks", "s.html"][..],
        ),
        ("basis big.csv -k 30 --out b.csv --save b.ks", &["b.csv", "b.ks"]),
        ("design iris.csv --save d.ks --report d.html --hold-out 0", &["d.ks", "d.html"]),
    ];
    for (turn, (line, files)) in commands.iter().enumerate() {
        let begin = Instant::now();
        s.ok(line);
        let mut moments = Moments::new(begin.elapsed(), None, line);
        let model = files.iter().find(|name| name.ends_with(".ks")).unwrap();
        s.ok(&format!("apply {model} {}", line.split(' ').nth(1).unwrap()));
        let new: Vec<Vec<u8>> = files.iter().map(|name| std::fs::read(s.path(name)).unwrap()).collect();
        let aim = kills(2) * (turn + 1) / commands.len();
        while tally.kills < aim {
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
        tidied_up(&s, line);
        assert!((0..files.len()).all(|i| is_new(&s.path(files[i]), &new[i])), "{line}");
    }
    assert!(tally.writing > 0, "no kill came while a file was written");
    tally.tell("files");
}

/// Whether a file is the new one; otherwise it must be the old one, to the byte.
fn is_new(path: &Path, new: &[u8]) -> bool {
    let found = std::fs::read(path).unwrap();
    if found == OLD {
        return false;
    }
    // A page says how long it took, so it is not the same twice; it is whole if it ends as it should.
    let is_page = path.extension().is_some_and(|ending| ending == "html");
    let is_whole = if is_page {
        let start = new.iter().position(|&b| b == b'\n').unwrap();
        found.starts_with(&new[..start]) && found.ends_with(b"</html>\n") && new.ends_with(b"</html>\n")
    } else {
        found == new
    };
    assert!(is_whole, "{} is neither the old one nor a new one: {} bytes", path.display(), found.len());
    true
}

/// Whether a run has begun to watch for signals; before that they end it as they end any program.
fn watches(child: &Child) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id())) else { return true };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    // SIGTERM is number 15, which is bit 14.
    u64::from_str_radix(caught.trim(), 16).unwrap() >> 14 & 1 == 1
}

/// Sends a signal and checks that the run ends in time, with its code, and says so if it can.
fn interrupt(mut child: Child, line: &str, signal: &str) {
    let begin = Instant::now();
    Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    // Output is not read before the end: whoever waits for its reader is to end too.
    while child.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let time = begin.elapsed();
    let _ = child.kill();
    let is_heard = child.stderr.is_some();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let code = if signal == "INT" { 130 } else { 143 };
    assert_eq!(output.status.code(), Some(code), "{line}, after {time:?}: {said}");
    // One second by contract, half of one for a busy machine.
    assert!(time < Duration::from_millis(1500), "{line}: {time:?}");
    assert!(said.contains("interrupted") || !is_heard, "{line}: {said}");
}

#[test]
fn signals_end_a_run_within_a_second_and_leave_nothing() {
    let s = Scratch::new();
    s.ok("data make noise --rows 60000 --columns 30 --out big.csv");
    s.ok("data make noise --rows 8000 --columns 30 --out small.csv");
    // A narrow kernel without a threshold would take thousands of pivots.
    let narrow = "--set gamma=5 --set threshold=none --out mapped.csv --memory-limit 100GiB";
    let begun = Duration::from_millis(700);
    for (line, pause) in [
        ("select big.csv -k 3 --out mapped.csv", Duration::from_millis(30)),
        (&format!("select small.csv -m takes --set n_components=7000 {narrow}"), begun),
        (&format!("basis small.csv -k 7000 {narrow}"), begun),
        ("design small.csv -n 200000 --save kernel.ks", begun),
        // Nobody reads this, so it waits in the middle of a row.
        ("data export madelon", begun),
    ] {
        for signal in ["INT", "TERM"] {
            let mut child = start(&s, line);
            let watched = &child;
            while !watches(watched) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(pause);
            assert!(child.try_wait().unwrap().is_none(), "ended too soon: {line}");
            interrupt(child, line, signal);
            assert_eq!(s.files(), ["big.csv", "small.csv"], "{line}");
        }
    }
}

#[test]
fn a_signal_while_a_table_is_written_leaves_the_old_one() {
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
fn a_signal_ends_a_run_that_cannot_say_so() {
    let s = Scratch::new();
    let mut child = start(&s, "data export madelon");
    drop(child.stderr.take());
    std::thread::sleep(Duration::from_millis(700));
    interrupt(child, "data export madelon", "TERM");
}

#[test]
fn interrupted_records_go_on_and_end_with_the_same_bytes() {
    let s = Scratch::new();
    let line = format!("{COMPARE} --repeats 6 --record runs.jsonl");
    let begin = || without(&s, &["runs.jsonl", "runs.cost.jsonl"]);
    let (record, costs) = ("runs.jsonl", "runs.cost.jsonl");
    interrupted(&Recorded { s: &s, line: &line, record, costs, begin: &begin, head: 6 });
    // The lock is gone with the run.
    let run = s.run("compare builtin:wine -m fisher -k 2 --record runs.jsonl");
    assert!(run.err.contains("the record is of other data"), "{}", run.err);

    let (record, costs) = ("runs/lp-quick.jsonl", "runs/lp-quick.cost.jsonl");
    let head = head_start(&s);
    let begin = || assert_eq!(head_start(&s), head);
    interrupted(&Recorded { s: &s, line: REPRODUCE, record, costs, begin: &begin, head });
}

fn interrupted(run: &Recorded) {
    let (whole, _) = run.unbroken();
    (run.begin)();
    for signal in ["INT", "TERM"] {
        let before = run.kept(run.record);
        let mut child = start(run.s, run.line);
        wait_until(&mut child, &|| run.kept(run.record) > before.max(run.head));
        interrupt(child, run.line, signal);
        let after = run.kept(run.record);
        assert!(before < after && after < whole.lines().count(), "in the middle: {after}");
        assert!(unfinished(run.s).is_empty());
    }
    run.s.ok(run.line);
    assert_eq!(run.s.text(run.record), whole);
}
