//! Runs computations for Python: without the interpreter's lock, on a given number of threads, interruptible.
//!
//! The work runs on a thread pool. The calling thread waits without the interpreter's lock and takes it briefly every
//! [`SIGNAL_INTERVAL`]: only Python's main thread handles signals, so the workers would not see Ctrl-C. It also writes
//! notes and progress to `sys.stderr`, so that notebooks and test runners show it.
//!
//! Pools are cached by process and size. A forked child gets copies of its parent's pools without their threads; work
//! on such a pool would never start, so the child creates new ones. A pool measures the memory of its threads, which is
//! that of one computation unless several share the pool.
//!
//! Work that calls Python functions gets a pool that no other work shares. Such a function may fit an estimator, and
//! its thread then waits for that fit. If the threads of a shared pool waited so, none would be free to do the fit.

use crate::error::to_python;
use kernsift::device::{Device, Task};
use kernsift::internals::Meter;
use kernsift::{Context, Observer};
use kernsift_cuda::Choice;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which the waiting thread checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
/// Time to wait for interrupted work to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval of progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of threads of a pool.
const MAX_THREADS: usize = 1024;

/// Settings of every computation.
#[derive(FromPyObject, Clone, Copy)]
pub struct Settings {
    seed: u64,
    /// Number of threads; 0 is one per core, -1 one fewer, and so on.
    threads: i64,
    verbose: i64,
    device: DeviceChoice,
}

/// The name of a device: auto, cpu, cuda or cuda:N.
#[derive(Clone, Copy)]
struct DeviceChoice(Choice);

impl<'py> FromPyObject<'_, 'py> for DeviceChoice {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        name.extract::<String>()?.parse().map(Self).map_err(PyValueError::new_err)
    }
}

/// Folders with NVIDIA's libraries that Python packages install.
static LIBRARY_FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Sets the folders with NVIDIA's libraries, once.
#[pyfunction]
pub fn set_library_folders(folders: Vec<PathBuf>) {
    let _ = LIBRARY_FOLDERS.set(folders);
}

/// The name of the GPU that a choice of a device gives; None for the processor. Raises an exception if there is no such GPU.
#[pyfunction]
pub fn device_name(py: Python<'_>, choice: &str) -> PyResult<Option<String>> {
    let choice: Choice = choice.parse().map_err(PyValueError::new_err)?;
    py.detach(|| Ok(device_of(choice)?.and_then(Device::name)))
}

fn device_of(choice: Choice) -> PyResult<Option<&'static Device>> {
    let folders = LIBRARY_FOLDERS.get().map_or(&[][..], Vec::as_slice);
    kernsift_cuda::device(choice, folders).map_err(PyRuntimeError::new_err)
}

impl Settings {
    /// Whether notes are shown.
    pub fn is_verbose(self) -> bool {
        self.verbose > 0
    }
}

/// Runs `work` and returns its result or raises its exception; issues its warnings.
///
/// The work owns its data, so that Ctrl-C returns control at once: work that checks for it stops; work that cannot (an
/// eigendecomposition) finishes in the background, and its result is discarded.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    settings: Settings,
    work: impl FnOnce(&Context) -> kernsift::Result<T> + Send + 'static,
) -> PyResult<T> {
    run_in(py, &shared_pool(settings.threads)?, settings, work)
}

/// Runs `work` as [`run`] does; `calls_python`: whether it calls Python functions.
pub fn run_with_callbacks<T: Send + 'static>(
    py: Python<'_>,
    settings: Settings,
    calls_python: bool,
    work: impl FnOnce(&Context) -> kernsift::Result<T> + Send + 'static,
) -> PyResult<T> {
    if !calls_python {
        return run(py, settings, work);
    }
    run_in(py, &Arc::new(Pool::new(n_threads(settings.threads))?), settings, work)
}

fn run_in<T: Send + 'static>(
    py: Python<'_>,
    pool: &Arc<Pool>,
    settings: Settings,
    work: impl FnOnce(&Context) -> kernsift::Result<T> + Send + 'static,
) -> PyResult<T> {
    let device = device_of(settings.device.0)?;
    let messages = Arc::new(Messages { shows_notes: settings.is_verbose(), ..Messages::default() });
    let answer = py.detach(|| wait_for(pool, &messages, (settings, device), work));
    let (result, peak) = answer?;
    PEAK.set(Some(match PEAK.get() {
        None => peak,
        Some(earlier) => earlier.zip(peak).map(|(a, b)| a.max(b)),
    }));
    write_notes(py, &messages, settings)?;
    let warnings = std::mem::take(&mut *lock(&messages.warnings));
    for warning in warnings {
        py.import("kernsift._warnings")?.call_method1("warn", (warning,))?;
    }
    result.map_err(to_python)
}

thread_local! {
    /// Peak memory of the work of this thread since the last call; the inner None is for a shared pool.
    static PEAK: Cell<Option<Option<u64>>> = const { Cell::new(None) };
}

/// Peak memory in bytes of the work of this thread since the last call; None if nothing ran, or if several computations
/// shared the pool.
#[pyfunction]
pub fn take_peak() -> Option<u64> {
    PEAK.take().flatten()
}

/// Starts the work and waits. The outer error is an exception that a signal handler raised.
fn wait_for<T: Send + 'static>(
    pool: &Arc<Pool>,
    messages: &Arc<Messages>,
    (settings, device): (Settings, Option<&'static Device>),
    work: impl FnOnce(&Context) -> kernsift::Result<T> + Send + 'static,
) -> PyResult<(kernsift::Result<T>, Option<u64>)> {
    let (done, finished) = channel();
    let (observer, own) = (messages.clone(), pool.clone());
    pool.threads.spawn(move || {
        let ctx = Context { seed: settings.seed, observer: &*observer, device, ..Context::default() };
        let computation = Computation::start(&own);
        let result = work(&ctx);
        report_device(&ctx);
        let peak = computation.peak();
        drop(computation);
        // After Ctrl-C there is no receiver.
        let _ = done.send((result, peak));
    });
    let mut last_report = Instant::now();
    loop {
        match finished.recv_timeout(SIGNAL_INTERVAL) {
            Ok(result) => return Ok(result),
            // The work panicked: a bug, which must not abort the interpreter.
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result; please report this"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let is_due = settings.is_verbose() && last_report.elapsed() >= PROGRESS_INTERVAL;
        if is_due {
            last_report = Instant::now();
        }
        let checked = Python::attach(|py| {
            py.check_signals()?;
            write_notes(py, messages, settings)?;
            if is_due { write_progress(py, messages) } else { Ok(()) }
        });
        if let Err(exception) = checked {
            messages.stop.store(true, Ordering::Relaxed);
            // Most work stops at once and releases its resources, such as the lock of a results log.
            if let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(STOP_TIMEOUT) {
                Python::attach(|_| lock(&POOLS).retain(|_, kept| !Arc::ptr_eq(kept, pool)));
            }
            return Err(exception);
        }
    }
}

/// Warns if the GPU failed, and notes what it computed so far.
fn report_device(ctx: &Context) {
    let Some(device) = ctx.device else { return };
    device.take_warnings().iter().for_each(|text| ctx.warn(text));
    let used = device.used();
    if !used.is_empty() && ctx.observer.shows_notes() {
        let tasks: Vec<&str> = used.into_iter().map(Task::describe).collect();
        ctx.note(format!("on {}: {}", device.name().unwrap_or_default(), tasks.join(", ")));
    }
}

/// Messages of the work, stored until the waiting thread writes them, and whether the work is to stop.
#[derive(Default)]
struct Messages {
    stop: AtomicBool,
    progress: Mutex<Option<(String, usize, usize)>>,
    notes: Mutex<Vec<String>>,
    shows_notes: bool,
    warnings: Mutex<Vec<String>>,
}

impl Observer for Messages {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        *lock(&self.progress) = Some((stage.to_owned(), done, total));
    }

    fn note(&self, text: &str) {
        lock(&self.notes).push(text.to_owned());
    }

    fn shows_notes(&self) -> bool {
        self.shows_notes
    }

    fn warn(&self, text: &str) {
        lock(&self.warnings).push(text.to_owned());
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Ignores poisoning, so that a panic of the work is reported.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_progress(py: Python<'_>, messages: &Messages) -> PyResult<()> {
    let Some((stage, done, total)) = lock(&messages.progress).take() else { return Ok(()) };
    let count = if total > 1 { format!(" {done} of at most {total}") } else { String::new() };
    write_stderr(py, &format!("kernsift: {stage}{count}\n"))
}

fn write_notes(py: Python<'_>, messages: &Messages, settings: Settings) -> PyResult<()> {
    if !settings.is_verbose() {
        return Ok(());
    }
    let notes: Vec<String> = lock(&messages.notes).drain(..).collect();
    notes.iter().try_for_each(|note| write_stderr(py, &format!("kernsift: {note}\n")))
}

fn write_stderr(py: Python<'_>, text: &str) -> PyResult<()> {
    let stderr = py.import("sys")?.getattr("stderr")?;
    // It is None in programs without a console.
    if !stderr.is_none() {
        stderr.call_method1("write", (text,))?;
    }
    Ok(())
}

/// Threads, and a counter of their memory.
struct Pool {
    threads: ThreadPool,
    meter: Arc<Meter>,
    /// Number of computations started, and of those running.
    started: AtomicUsize,
    running: AtomicUsize,
}

/// A running computation in a pool.
struct Computation<'a> {
    pool: &'a Pool,
    number: usize,
    started_alone: bool,
}

impl<'a> Computation<'a> {
    fn start(pool: &'a Pool) -> Self {
        let number = pool.started.fetch_add(1, Ordering::SeqCst) + 1;
        let started_alone = pool.running.fetch_add(1, Ordering::SeqCst) == 0;
        if started_alone {
            pool.meter.reset();
        }
        Self { pool, number, started_alone }
    }

    /// Peak memory since the start, if no other computation shared the pool.
    fn peak(&self) -> Option<u64> {
        let alone = self.started_alone && self.pool.started.load(Ordering::SeqCst) == self.number;
        alone.then(|| self.pool.meter.peak()).flatten()
    }
}

impl Drop for Computation<'_> {
    fn drop(&mut self) {
        self.pool.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Pools by process and number of threads. A pool with abandoned work is not reused, so that the next computation need
/// not wait. The map is locked only while the interpreter's lock is held, which `fork` needs too: no child process can
/// start with the map locked.
static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);

type Pools = HashMap<(u32, usize), Arc<Pool>>;

fn shared_pool(threads: i64) -> PyResult<Arc<Pool>> {
    let threads = n_threads(threads);
    let mut pools = lock(&POOLS);
    let key = (std::process::id(), threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    Ok(pools.entry(key).or_insert(Arc::new(Pool::new(threads)?)).clone())
}

/// The number of threads of a setting.
fn n_threads(threads: i64) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match usize::try_from(threads) {
        Ok(0) => cores(),
        // More threads would only wait for each other.
        Ok(n) => n.min(MAX_THREADS),
        Err(_) => cores().saturating_add_signed(threads as isize).max(1),
    }
}

impl Pool {
    fn new(threads: usize) -> PyResult<Self> {
        let meter = Arc::new(Meter::new());
        let counted = meter.clone();
        let workers = ThreadPoolBuilder::new()
            .num_threads(threads)
            .start_handler(move |_| counted.attach())
            .thread_name(|i| format!("kernsift-{i}"))
            // The waiting thread reports the panic; without a handler the process would abort.
            .panic_handler(|_| {})
            .build()
            .map_err(|e| PyRuntimeError::new_err(format!("cannot start {threads} threads: {e}")))?;
        Ok(Self { threads: workers, meter, started: AtomicUsize::new(0), running: AtomicUsize::new(0) })
    }
}
