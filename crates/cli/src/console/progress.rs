//! The line that says what is going on, how far it is, and how much time is left.
//!
//! Work tells how far it is whenever it likes; a thread of its own draws that, so the line is alive even while
//! the work is silent. There is one line, as there is one standard error.

use crate::output::bar;
use crate::terminal::{Ink, Screen, clean, cut, display_width, paint, render, stderr_width};
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work that ends sooner shows no progress.
const PATIENCE: Duration = Duration::from_millis(700);
/// Between two pictures.
const FRAME: Duration = Duration::from_millis(100);
/// Too early to say how long a stage takes.
const TOO_EARLY: Duration = Duration::from_millis(400);

static LINE: Mutex<Line> = Mutex::new(Line { shown: false, work: None, drawn: 0 });

struct Line {
    shown: bool,
    work: Option<Work>,
    /// Cells that are on the screen now.
    drawn: usize,
}

/// What is going on.
struct Work {
    since: Instant,
    stage: String,
    stage_since: Instant,
    /// How much of the stage was done when it began to be told.
    from: usize,
    done: usize,
    total: usize,
}

fn lock() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on progress is shown.
pub fn show() {
    lock().shown = true;
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(FRAME);
            lock().draw();
        }
    });
}

/// `done` of `total` steps of a stage; a total of 0 or 1 says nothing about how far it is.
pub fn report(stage: &str, done: usize, total: usize) {
    let mut line = lock();
    if !line.shown {
        return;
    }
    let now = Instant::now();
    let new = |since| Work { since, stage: stage.to_owned(), stage_since: now, from: done, done, total };
    match &mut line.work {
        None => line.work = Some(new(now)),
        // A stage that starts again takes its time again.
        Some(work) if work.stage != stage || done < work.done => *work = new(work.since),
        Some(work) => (work.done, work.total) = (done, total),
    }
}

/// The work is over.
pub fn clear() {
    let mut line = lock();
    line.erase();
    line.work = None;
}

/// Writes something else to standard error; the line comes back below it.
pub fn beside(write: impl FnOnce()) {
    let mut line = lock();
    line.erase();
    write();
}

impl Line {
    fn draw(&mut self) {
        let Some(work) = self.work.as_ref().filter(|work| work.since.elapsed() > PATIENCE) else { return };
        // A full last column would start a new line.
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

/// If even standard error is closed there is nobody left to tell.
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
            let stage = clean(&self.stage);
            let stage = cut(&stage, room.saturating_sub(display_width(&time) + 4));
            return format!("{} {stage}  {time}", paint(Ink::Bar, frame));
        }
        let share = self.done.min(self.total) as f64 / self.total as f64;
        let left = self.left(in_stage).map_or(String::new(), |left| format!("  {} left", duration(left)));
        let percent = format!("{:3.0} %", (100.0 * share).floor());
        let end =
            if display_width(&percent) + display_width(&left) < room { percent + &left } else { percent };
        let stage = clean(&self.stage);
        let stage = cut(&stage, room.saturating_sub(display_width(&end) + 1).min(room / 2));
        let space = room.saturating_sub(display_width(&stage) + display_width(&end) + 2);
        let picture = if space < 4 { String::new() } else { self::picture(share, space.min(40)) };
        [&*stage, &picture, &end].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// What the stage will still take if it goes on as it went.
    fn left(&self, in_stage: Duration) -> Option<Duration> {
        let (went, ahead) = (self.done.checked_sub(self.from)?, self.total.saturating_sub(self.done));
        if went == 0 || in_stage < TOO_EARLY {
            return None;
        }
        Duration::try_from_secs_f64(in_stage.as_secs_f64() * ahead as f64 / went as f64).ok()
    }
}

/// A bar with a ground that shows where it ends.
fn picture(share: f64, width: usize) -> String {
    let bar = bar(share, width);
    let ground = "·".repeat(width - display_width(&bar));
    paint(Ink::Bar, &(bar + &ground))
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
        Work { since: now, stage: stage.into(), stage_since: now, from: 0, done, total }
    }

    fn text(work: &Work, room: usize, seconds: u64) -> String {
        let time = Duration::from_secs(seconds);
        render(&work.text(room, time, time), Screen::default())
    }

    #[test]
    fn it_says_what_how_far_and_how_long() {
        let line = text(&work("pivots", 25, 100), 79, 10);
        assert!(line.starts_with("pivots ██████████··") && line.ends_with("25 %  30 s left"), "{line}");
        assert!(text(&work("pivots", 0, 100), 79, 10).ends_with("··   0 %"), "nothing is known yet");
        assert!(text(&work("pivots", 200, 100), 79, 10).ends_with("100 %  0 s left"));
        let line = text(&work("eigenvectors", 0, 1), 79, 75);
        assert!(line.ends_with(" eigenvectors  1 min 15 s"), "{line}");
    }

    #[test]
    fn it_fits() {
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
    fn time_left_counts_only_what_was_watched() {
        let resumed = Work { from: 90, ..work("compare", 95, 100) };
        assert_eq!(resumed.left(Duration::from_secs(5)), Some(Duration::from_secs(5)));
        assert_eq!(resumed.left(Duration::from_millis(1)), None);
    }

    #[test]
    fn times_are_said_as_a_person_would() {
        let said = [0, 59, 60, 3599, 3600, 500_000].map(|s| duration(Duration::from_secs(s)));
        assert_eq!(said, ["0 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "5 days"]);
    }
}
