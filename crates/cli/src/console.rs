//! Progress, notes, warnings and Ctrl-C during a run, on standard error.

mod progress;

pub use progress::clear as clear_progress;

use crate::terminal::{Screen, Style, paint, render};
use kernsift::Observer;
use kernsift::data::write::remove_unfinished;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time that a run has to stop by itself after a signal.
const GRACE: Duration = Duration::from_millis(800);
/// Time between two lines of progress in a pipe.
const LINE_INTERVAL: Duration = Duration::from_secs(2);
/// Time between two checks for signals.
const SIGNAL_POLL: Duration = Duration::from_millis(20);

static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL_CODE: AtomicU8 = AtomicU8::new(130);

/// Messages to the user.
pub struct Console {
    quiet: bool,
    verbose: bool,
    warnings: AtomicUsize,
    /// The time of the last line of progress in a pipe.
    last_line: Mutex<Instant>,
}

impl Console {
    /// A console for these options.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        if !quiet && std::io::stderr().is_terminal() {
            progress::show();
        }
        Self { quiet, verbose, warnings: AtomicUsize::new(0), last_line: Mutex::new(Instant::now()) }
    }

    /// Makes Ctrl-C and SIGTERM end the run: at its next check for interruption, or by force after [`GRACE`].
    pub fn watch_signals(&self) -> std::io::Result<()> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        // A flag and not an iterator over signals, which signal-hook does not have on Windows.
        let received = Arc::new(AtomicUsize::new(0));
        for (signal, code) in [(SIGINT, 130), (SIGTERM, 143)] {
            signal_hook::flag::register_usize(signal, Arc::clone(&received), code)?;
        }
        std::thread::spawn(move || {
            let code = loop {
                match received.load(Ordering::SeqCst) {
                    0 => std::thread::sleep(SIGNAL_POLL),
                    code => break code as u8,
                }
            };
            SIGNAL_CODE.store(code, Ordering::SeqCst);
            STOP.store(true, Ordering::SeqCst);
            std::thread::sleep(GRACE);
            remove_unfinished();
            clear_progress();
            // Must not fail if standard error is closed.
            let _ = writeln!(std::io::stderr(), "interrupted");
            std::process::exit(i32::from(code));
        });
        Ok(())
    }

    /// The exit code for the received signal.
    pub fn signal_code(&self) -> u8 {
        SIGNAL_CODE.load(Ordering::SeqCst)
    }

    /// Whether the user asked for notes.
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Number of warnings.
    pub fn n_warnings(&self) -> usize {
        self.warnings.load(Ordering::SeqCst)
    }

    /// Whether information is shown.
    pub fn informs(&self) -> bool {
        !self.quiet
    }

    /// Writes a line unless the user asked for quiet.
    pub fn inform(&self, text: &str) {
        if self.informs() {
            self.line(text);
        }
    }

    /// Writes a line, even if the user asked for quiet.
    pub fn line(&self, text: &str) {
        progress::suspend(|| {
            // Standard error may be closed.
            let _ = writeln!(std::io::stderr(), "{}", render(&with_hint(text), Screen::stderr()));
        });
    }

    /// Writes an error.
    pub fn error(&self, text: &str) {
        self.line(&format!("{} {text}", paint(Style::Error, "error:")));
    }

    /// Names a stage of unknown length.
    pub fn stage(&self, name: &str) {
        self.progress(name, 0, 0);
    }

    /// A line every few seconds, where no progress line can be drawn.
    fn progress_line(&self, stage: &str, done: usize, total: usize) {
        let mut last = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < LINE_INTERVAL {
            return;
        }
        *last = Instant::now();
        drop(last);
        let count = if total > 1 { format!(": {done} of {total}") } else { String::new() };
        self.line(&format!("{stage}{count}"));
    }

    /// Clears the progress line.
    pub fn clear(&self) {
        clear_progress();
    }
}

/// Highlights a suggestion.
fn with_hint(text: &str) -> String {
    const HINT: &str = "did you mean ";
    match text.split_once(HINT) {
        Some((before, rest)) => format!("{before}{}", paint(Style::Hint, &format!("{HINT}{rest}"))),
        None => text.to_owned(),
    }
}

impl Observer for Console {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        progress::report(stage, done, total);
        if self.verbose && !self.quiet && !std::io::stderr().is_terminal() {
            self.progress_line(stage, done, total);
        }
    }

    fn note(&self, text: &str) {
        if self.verbose {
            self.line(text);
        }
    }

    fn shows_notes(&self) -> bool {
        self.verbose
    }

    fn warn(&self, text: &str) {
        self.warnings.fetch_add(1, Ordering::SeqCst);
        self.line(&format!("{} {text}", paint(Style::Warning, "warning:")));
    }

    fn interrupted(&self) -> bool {
        STOP.load(Ordering::Relaxed)
    }
}

/// Passes on progress and interruption, but no notes and warnings: for the first of two runs of the same work.
pub struct ProgressOnly<'a> {
    /// The console to pass them to.
    pub console: &'a Console,
    /// Shown before the stage.
    pub purpose: &'static str,
}

impl Observer for ProgressOnly<'_> {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        self.console.progress(&format!("{}: {stage}", self.purpose), done, total);
    }

    fn interrupted(&self) -> bool {
        self.console.interrupted()
    }
}
