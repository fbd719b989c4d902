//! Talking to the user while work goes on: progress, notes, warnings, Ctrl-C. All of it on standard error.

mod progress;

pub use progress::clear as clear_progress;

use crate::args::General;
use crate::failure::Failure;
use crate::terminal::{Ink, Screen, paint, render};
use kernsift::Observer;
use kernsift::data::write::abandon;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

/// After a signal, the time a run has to stop by itself.
const GRACE: Duration = Duration::from_millis(800);

static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL_CODE: AtomicU8 = AtomicU8::new(130);

/// The user at the other end.
pub struct Console {
    quiet: bool,
    verbose: bool,
    /// Set where what is said was said before.
    silent: bool,
    warnings: AtomicUsize,
}

impl Console {
    /// A console that says as much as the user wants.
    pub fn new(general: &General) -> Self {
        if !general.quiet && std::io::stderr().is_terminal() {
            progress::show();
        }
        Self { quiet: general.quiet, verbose: general.verbose, silent: false, warnings: AtomicUsize::new(0) }
    }

    /// One that shows progress but says nothing: for work that is done a second time.
    pub fn silent() -> Self {
        Self { quiet: true, verbose: false, silent: true, warnings: AtomicUsize::new(0) }
    }

    /// From now on Ctrl-C and SIGTERM end the run: by itself where it looks, by force where it does not.
    pub fn watch_signals(&self) -> Result<(), Failure> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                SIGNAL_CODE.store(if signal == SIGTERM { 143 } else { 130 }, Ordering::SeqCst);
                STOP.store(true, Ordering::SeqCst);
                std::thread::sleep(GRACE);
                abandon();
                clear_progress();
                // Standard error may be closed, which must not keep the run alive.
                let _ = writeln!(std::io::stderr(), "interrupted");
                std::process::exit(i32::from(SIGNAL_CODE.load(Ordering::SeqCst)));
            }
        });
        Ok(())
    }

    /// The exit code of the signal that came.
    pub fn signal_code(&self) -> u8 {
        SIGNAL_CODE.load(Ordering::SeqCst)
    }

    /// Whether the user wants to see more.
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// How many warnings there were.
    pub fn n_warnings(&self) -> usize {
        self.warnings.load(Ordering::SeqCst)
    }

    /// Something the user should see unless they asked for quiet.
    pub fn inform(&self, text: &str) {
        if !self.quiet {
            self.line(text);
        }
    }

    /// A line, whatever the user asked for.
    pub fn line(&self, text: &str) {
        progress::beside(|| {
            // If even standard error is closed there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "{}", render(&with_hint(text), Screen::stderr()));
        });
    }

    /// An error, which ends the run.
    pub fn error(&self, text: &str) {
        self.line(&format!("{} {text}", paint(Ink::Error, "error:")));
    }

    /// Names work that cannot tell how far it is.
    pub fn stage(&self, name: &str) {
        self.progress(name, 0, 0);
    }

    /// Takes the progress bar away.
    pub fn clear(&self) {
        clear_progress();
    }
}

/// What the user may have meant stands out.
fn with_hint(text: &str) -> String {
    const HINT: &str = "did you mean ";
    match text.split_once(HINT) {
        Some((before, rest)) => format!("{before}{}", paint(Ink::Hint, &format!("{HINT}{rest}"))),
        None => text.to_owned(),
    }
}

impl Observer for Console {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        progress::report(stage, done, total);
    }

    fn note(&self, text: &str) {
        if self.verbose {
            self.line(text);
        }
    }

    fn warn(&self, text: &str) {
        if self.silent {
            return;
        }
        self.warnings.fetch_add(1, Ordering::SeqCst);
        self.line(&format!("{} {text}", paint(Ink::Warning, "warning:")));
    }

    fn interrupted(&self) -> bool {
        STOP.load(Ordering::Relaxed)
    }
}

/// Passes on progress and the wish to stop, and keeps the rest to itself: for a first run of work that is
/// done again.
pub struct Rehearsal<'a> {
    /// Who listens.
    pub console: &'a Console,
    /// What the work is for.
    pub aim: &'static str,
}

impl Observer for Rehearsal<'_> {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        self.console.progress(&format!("{}: {stage}", self.aim), done, total);
    }

    fn interrupted(&self) -> bool {
        self.console.interrupted()
    }
}
