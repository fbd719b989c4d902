//! Talking to the user while work goes on: progress, notes, warnings, Ctrl-C. All of it on standard error.

use crate::args::General;
use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kernsift::Observer;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Work that ends sooner shows no progress.
const PATIENCE: Duration = Duration::from_millis(700);
/// After a signal, the time a run has to stop by itself.
const GRACE: Duration = Duration::from_millis(800);

static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL_CODE: AtomicU8 = AtomicU8::new(130);

/// The user at the other end.
pub struct Console {
    quiet: bool,
    verbose: bool,
    warnings: AtomicUsize,
    progress: Mutex<Progress>,
}

struct Progress {
    stage: String,
    since: Instant,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl Console {
    /// A console that says as much as the user wants.
    pub fn new(general: &General) -> Self {
        let shown = !general.quiet && std::io::stderr().is_terminal();
        let progress = Progress { stage: String::new(), since: Instant::now(), bar: None, shown };
        Self {
            quiet: general.quiet,
            verbose: general.verbose,
            warnings: AtomicUsize::new(0),
            progress: Mutex::new(progress),
        }
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
                eprintln!("interrupted");
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
        self.clear();
        // If even standard error is closed there is nobody left to tell.
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// Takes the progress bar away.
    pub fn clear(&self) {
        if let Ok(mut progress) = self.progress.lock()
            && let Some(bar) = progress.bar.take()
        {
            bar.finish_and_clear();
            progress.stage.clear();
        }
    }
}

impl Observer for Console {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        let Ok(mut progress) = self.progress.lock() else { return };
        if !progress.shown {
            return;
        }
        if progress.stage != stage {
            if let Some(bar) = progress.bar.take() {
                bar.finish_and_clear();
            }
            stage.clone_into(&mut progress.stage);
            progress.since = Instant::now();
        }
        if progress.bar.is_none() && progress.since.elapsed() > PATIENCE {
            let bar =
                ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr_with_hz(10));
            if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}  {eta} left") {
                bar.set_style(style);
            }
            bar.set_message(stage.to_owned());
            progress.bar = Some(bar);
        }
        if let Some(bar) = &progress.bar {
            bar.set_position(done as u64);
        }
    }

    fn note(&self, text: &str) {
        if self.verbose {
            self.line(text);
        }
    }

    fn warn(&self, text: &str) {
        self.warnings.fetch_add(1, Ordering::SeqCst);
        self.line(&format!("warning: {text}"));
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
