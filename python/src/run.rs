//! How work is done on behalf of Python: unlocked, on a given number of threads, and stoppable.
//!
//! The work runs on a pool of its own while the calling thread waits without the interpreter's lock
//! and takes it for a moment every [`LOOK`]: signals are handled by Python's main thread only, so the
//! workers themselves could never see Ctrl-C. It also writes progress, through `sys.stderr`, so that
//! notebooks and test runners see it.
//!
//! Pools are kept by process and size. A forked child gets copies of its parent's pools without their
//! threads; work handed to one would wait for ever, so the child makes its own. A pool counts the memory
//! of its threads, which is that of one work as long as no other shares the pool.
//!
//! Work that calls Python functions gets a pool that no other work shares. Such a function may fit an estimator, and its
//! thread then waits for that fit. If the threads of a shared pool waited so, none would be free to do the fit.

use crate::error::to_python;
use kernsift::memory::Meter;
use kernsift::{Context, Observer};
use pyo3::exceptions::{PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the waiting thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);
/// How long work that was told to stop is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often progress is written.
const TELL: Duration = Duration::from_secs(1);
/// The most threads of a pool.
const MOST_THREADS: usize = 1024;
/// The frame that warnings point at: the native function has none, then the package's own two.
const STACK_LEVEL: i32 = 3;

/// What every function that computes is given.
#[derive(FromPyObject, Clone, Copy)]
pub struct Settings {
    seed: u64,
    /// Number of threads; 0 is one per core, -1 one fewer, and so on.
    threads: i64,
    verbose: i64,
}

/// Does `work` and hands over its result, its warnings, or its exception.
///
/// The work owns its data, so that Ctrl-C gives control back at once: work that looks for it stops, and
/// work that cannot (an eigen-decomposition) finishes behind the scenes and is thrown away.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    settings: Settings,
    work: impl FnOnce(&Context) -> kernsift::Result<T> + Send + 'static,
) -> PyResult<T> {
    run_in(py, &shared_pool(settings.threads)?, settings, work)
}

/// Does `work` as [`run`] does; `calls_python` says whether it calls Python functions.
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
    let watch = Arc::new(Watch::default());
    let answer = py.detach(|| wait_for(pool, &watch, settings, work));
    let (result, peak) = answer?;
    MEASURED.set(Some(match MEASURED.get() {
        None => peak,
        Some(earlier) => earlier.zip(peak).map(|(a, b)| a.max(b)),
    }));
    tell_notes(py, &watch, settings)?;
    for warning in lock(&watch.warnings).drain(..) {
        // Text of the core has no zero bytes; a column's name could, and is cut there.
        let text = CString::new(warning.replace('\0', "")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, STACK_LEVEL)?;
    }
    result.map_err(to_python)
}

thread_local! {
    /// The most memory of what this thread has run since it last asked; the inner none is for a shared pool.
    static MEASURED: Cell<Option<Option<u64>>> = const { Cell::new(None) };
}

/// The most bytes that work of this thread held since the last call; none where nothing ran, or where several
/// threads had their work done at once, so that nobody can tell whose memory it was.
#[pyfunction]
pub fn take_peak() -> Option<u64> {
    MEASURED.take().flatten()
}

/// Starts the work and waits. The outer error is an exception that a signal handler raised.
fn wait_for<T: Send + 'static>(
    pool: &Arc<Pool>,
    watch: &Arc<Watch>,
    settings: Settings,
    work: impl FnOnce(&Context) -> kernsift::Result<T> + Send + 'static,
) -> PyResult<(kernsift::Result<T>, Option<u64>)> {
    let (done, finished) = channel();
    let (watched, own) = (watch.clone(), pool.clone());
    pool.threads.spawn(move || {
        let ctx = Context { seed: settings.seed, observer: &*watched, ..Context::default() };
        let stay = Stay::begin(&own);
        let result = work(&ctx);
        let peak = stay.peak();
        drop(stay);
        // Nobody listens any more after Ctrl-C.
        let _ = done.send((result, peak));
    });
    let mut told = Instant::now();
    loop {
        match finished.recv_timeout(LOOK) {
            Ok(result) => return Ok(result),
            // The work panicked: a bug of ours, which must not take the interpreter down.
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result; please report this"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let tell = settings.verbose > 0 && told.elapsed() >= TELL;
        if tell {
            told = Instant::now();
        }
        let looked = Python::attach(|py| {
            py.check_signals()?;
            if tell { tell_progress(py, watch) } else { Ok(()) }
        });
        if let Err(exception) = looked {
            watch.stop.store(true, Ordering::Relaxed);
            // Most work stops at once, and gives back what it holds, such as the lock of a record.
            if let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(PATIENCE) {
                Python::attach(|_| lock(&POOLS).retain(|_, kept| !Arc::ptr_eq(kept, pool)));
            }
            return Err(exception);
        }
    }
}

/// What the work says, kept until the waiting thread passes it on.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    progress: Mutex<Option<(String, usize, usize)>>,
    notes: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
}

impl Observer for Watch {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        *lock(&self.progress) = Some((stage.to_owned(), done, total));
    }

    fn note(&self, text: &str) {
        lock(&self.notes).push(text.to_owned());
    }

    fn warn(&self, text: &str) {
        lock(&self.warnings).push(text.to_owned());
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A panic of the work must not hide behind a poisoned lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tell_progress(py: Python<'_>, watch: &Watch) -> PyResult<()> {
    let Some((stage, done, total)) = lock(&watch.progress).take() else { return Ok(()) };
    let share = if total > 1 { format!(" {done} of at most {total}") } else { String::new() };
    write_stderr(py, &format!("kernsift: {stage}{share}\n"))
}

fn tell_notes(py: Python<'_>, watch: &Watch, settings: Settings) -> PyResult<()> {
    if settings.verbose <= 0 {
        return Ok(());
    }
    let notes: Vec<String> = lock(&watch.notes).drain(..).collect();
    notes.iter().try_for_each(|note| write_stderr(py, &format!("kernsift: {note}\n")))
}

fn write_stderr(py: Python<'_>, text: &str) -> PyResult<()> {
    let stderr = py.import("sys")?.getattr("stderr")?;
    // A program without a console has None there.
    if !stderr.is_none() {
        stderr.call_method1("write", (text,))?;
    }
    Ok(())
}

/// Threads, and the meter of their memory.
struct Pool {
    threads: ThreadPool,
    meter: Arc<Meter>,
    /// Works that were ever begun, and those under way.
    begun: AtomicUsize,
    under_way: AtomicUsize,
}

/// One work's time in a pool.
struct Stay<'a> {
    pool: &'a Pool,
    number: usize,
    came_alone: bool,
}

impl<'a> Stay<'a> {
    fn begin(pool: &'a Pool) -> Self {
        let number = pool.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let came_alone = pool.under_way.fetch_add(1, Ordering::SeqCst) == 0;
        if came_alone {
            pool.meter.reset();
        }
        Self { pool, number, came_alone }
    }

    /// The most memory held since the beginning, if the pool was this work's alone.
    fn peak(&self) -> Option<u64> {
        let alone = self.came_alone && self.pool.begun.load(Ordering::SeqCst) == self.number;
        alone.then(|| self.pool.meter.peak()).flatten()
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        self.pool.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Pools by process and number of threads. One whose work goes on although nobody waits for it any more is left to
/// that work, so that what comes next need not wait either. Locked with the interpreter's lock held only, which `fork`
/// needs as well: no child can be born while the map is locked, and find it locked for ever.
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

/// The number of threads that a setting asks for.
fn n_threads(threads: i64) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match usize::try_from(threads) {
        Ok(0) => cores(),
        // More threads than this only wait for each other.
        Ok(n) => n.min(MOST_THREADS),
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
            // The waiting thread reports it; without a handler the whole process would end.
            .panic_handler(|_| {})
            .build()
            .map_err(|e| PyRuntimeError::new_err(format!("cannot start {threads} threads: {e}")))?;
        Ok(Self { threads: workers, meter, begun: AtomicUsize::new(0), under_way: AtomicUsize::new(0) })
    }
}
