//! The progress line: the current stage, how much of it is done, and the remaining time.
//!
//! Methods report progress at any time; a separate thread draws it, so that the line keeps moving between reports.
//! Standard error has one progress line.
//!
//! Why not `indicatif` (0.18): a template has one element of variable width, so a long stage either hides the bar or
//! spreads over several lines (in 79 cells already; in 19 cells every template with percentage and remaining time does),
//! and the line is drawn at once instead of after [`DELAY`]. The layout and the delay would stay here; the thread, drawing
//! and erasing (40 lines) would go, for 4 more crates on Linux and a quarter more compile time of the terminal
//! crates (38 s instead of 30 s of CPU time). Its colors also follow another library's rules than the rest of the output.

use crate::terminal::{Screen, Style, bar, display_width, paint, render, sanitize, stderr_width, truncate};
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work that ends earlier shows no progress.
const DELAY: Duration = Duration::from_millis(700);
/// Time between two frames.
const FRAME: Duration = Duration::from_millis(100);
/// Shortest time of a stage from which the remaining time is estimated.
const MIN_ESTIMATE: Duration = Duration::from_millis(400);

static LINE: Mutex<Line> = Mutex::new(Line { shown: false, work: None, drawn: 0 });

struct Line {
    shown: bool,
    work: Option<Work>,
    /// Number of cells on the screen.
    drawn: usize,
}

/// The current stage.
struct Work {
    since: Instant,
    stage: String,
    stage_since: Instant,
    /// Steps that were done at the first report of the stage.
    start: usize,
    done: usize,
    total: usize,
}

fn lock() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to show progress.
pub fn show() {
    lock().shown = true;
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(FRAME);
            lock().draw();
        }
    });
}

/// Reports `done` of `total` steps of a stage. A total of 0 or 1 shows the elapsed time only.
pub fn report(stage: &str, done: usize, total: usize) {
    let mut line = lock();
    if !line.shown {
        return;
    }
    let now = Instant::now();
    let new = |since| Work { since, stage: stage.to_owned(), stage_since: now, start: done, done, total };
    match &mut line.work {
        None => line.work = Some(new(now)),
        // A stage that starts again is timed again.
        Some(work) if work.stage != stage || done < work.done => *work = new(work.since),
        Some(work) => (work.done, work.total) = (done, total),
    }
}

/// Ends the work and clears the line.
pub fn clear() {
    let mut line = lock();
    line.erase();
    line.work = None;
}

/// Clears the line while `write` writes to standard error.
pub fn suspend(write: impl FnOnce()) {
    let mut line = lock();
    line.erase();
    write();
}

impl Line {
    fn draw(&mut self) {
        let Some(work) = self.work.as_ref().filter(|work| work.since.elapsed() > DELAY) else { return };
        // A character in the last column could start a new line.
        let room = stderr_width().unwrap_or(80) - 1;
        let text = work.text(room, work.since.elapsed(), work.stage_since.elapsed());
        let plain = render(&text, Screen::default());
        let gap = " ".repeat(self.drawn.saturating_sub(display_width(&plain)));
        self.drawn = display_width(&plain);
        put(&format!("\r{}{gap}", render(&text, Screen::stderr())));
    }

    fn erase(&mut self) {
        if self.drawn > 0 {
            put(&format!("\r{}\r", " ".repeat(self.drawn)));
            self.drawn = 0;
        }
    }
}

/// Ignores errors: standard error may be closed.
fn put(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

impl Work {
    /// The line, at most `room` cells wide.
    fn text(&self, room: usize, elapsed: Duration, in_stage: Duration) -> String {
        if self.total <= 1 {
            let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
            let frame = frames[(elapsed.as_millis() / FRAME.as_millis()) as usize % frames.len()];
            let time = duration(elapsed);
            let stage = sanitize(&self.stage);
            let stage = truncate(&stage, room.saturating_sub(display_width(&time) + 4));
            return format!("{} {stage}  {time}", paint(Style::Bar, frame));
        }
        let fraction = self.done.min(self.total) as f64 / self.total as f64;
        let remaining =
            self.remaining(in_stage).map_or(String::new(), |time| format!("  {} left", duration(time)));
        let percent = format!("{:3.0} %", (100.0 * fraction).floor());
        let fits = display_width(&percent) + display_width(&remaining) < room;
        let end = if fits { percent + &remaining } else { percent };
        let stage = sanitize(&self.stage);
        let stage = truncate(&stage, room.saturating_sub(display_width(&end) + 1).min(room / 2));
        let space = room.saturating_sub(display_width(&stage) + display_width(&end) + 2);
        let bar = if space < 4 { String::new() } else { progress_bar(fraction, space.min(40)) };
        [&*stage, &bar, &end].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Estimated remaining time of the stage, from the steps since its first report.
    fn remaining(&self, in_stage: Duration) -> Option<Duration> {
        let (done, ahead) = (self.done.checked_sub(self.start)?, self.total.saturating_sub(self.done));
        if done == 0 || in_stage < MIN_ESTIMATE {
            return None;
        }
        Duration::try_from_secs_f64(in_stage.as_secs_f64() * ahead as f64 / done as f64).ok()
    }
}

/// A bar padded with dots to `width` cells.
fn progress_bar(fraction: f64, width: usize) -> String {
    let bar = bar(fraction, width);
    let padding = "·".repeat(width - display_width(&bar));
    paint(Style::Bar, &(bar + &padding))
}

fn duration(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {} s", s / 60, s % 60),
        s @ 3600..360_000 => format!("{} h {} min", s / 3600, s / 60 % 60),
        s => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(stage: &str, done: usize, total: usize) -> Work {
        let now = Instant::now();
        Work { since: now, stage: stage.into(), stage_since: now, start: 0, done, total }
    }

    fn text(work: &Work, room: usize, seconds: u64) -> String {
        let time = Duration::from_secs(seconds);
        render(&work.text(room, time, time), Screen::default())
    }

    #[test]
    fn line_has_stage_percentage_and_remaining_time() {
        let line = text(&work("pivots", 25, 100), 79, 10);
        assert!(line.starts_with("pivots ██████████··") && line.ends_with("25 %  30 s left"), "{line}");
        assert!(
            text(&work("pivots", 0, 100), 79, 10).ends_with("··   0 %"),
            "no estimate before the first step"
        );
        assert!(text(&work("pivots", 200, 100), 79, 10).ends_with("100 %  0 s left"));
        let line = text(&work("eigenvectors", 0, 1), 79, 75);
        assert!(line.ends_with(" eigenvectors  1 min 15 s"), "{line}");
    }

    #[test]
    fn line_fits_the_terminal() {
        let long = "reading a-file-with-a-long-name-高さ\x1b[31m.csv".repeat(9);
        for room in [19, 39, 79, 199] {
            for (done, total) in [(0, 0), (0, 9), (5, 9), (9, 9)] {
                for seconds in [1, 100, 10_000, 1_000_000] {
                    let line = text(&work(&long, done, total), room, seconds);
                    assert!(display_width(&line) <= room, "{room}: {line}");
                    assert!(!line.contains('\x1b'));
                }
            }
        }
    }

    #[test]
    fn remaining_time_ignores_steps_before_the_first_report() {
        let resumed = Work { start: 90, ..work("compare", 95, 100) };
        assert_eq!(resumed.remaining(Duration::from_secs(5)), Some(Duration::from_secs(5)));
        assert_eq!(resumed.remaining(Duration::from_millis(1)), None);
    }

    #[test]
    fn durations_have_at_most_two_units() {
        let text = [0, 59, 60, 3599, 3600, 500_000].map(|s| duration(Duration::from_secs(s)));
        assert_eq!(text, ["0 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "5 days"]);
    }
}
