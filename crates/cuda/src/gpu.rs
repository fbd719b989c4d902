//! A GPU: memory, launches of kernels, products of matrices.
//!
//! All work of the process on a GPU is in the order of the calls (the default stream), and a lock admits one caller at a time.

use crate::compile::compile;
use crate::library::{Cublas, Driver, Folders};
use kernsift::device::{Attempt, Refusal};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

const OUT_OF_MEMORY: c_int = 2;
/// Attributes of a device.
const CAPABILITY: (c_int, c_int) = (75, 76);
const DOUBLE_RATIO: c_int = 87;
/// Types of numbers and of computation in cuBLAS.
const HALF: c_int = 2;
const COMPUTE_SINGLE: c_int = 68;
const DEFAULT_ALGORITHM: c_int = -1;

/// Types that can be copied to a GPU: plain numbers.
pub trait Number: Copy + Default {}
impl Number for u16 {}
impl Number for u32 {}
impl Number for i32 {}
impl Number for u64 {}
impl Number for f32 {}
impl Number for f64 {}

/// A pointer of a library.
#[derive(Clone, Copy)]
struct Handle(*mut c_void);

// SAFETY: contexts, modules, functions and handles of cuBLAS may be used from any thread; `Gpu::enter` admits one at a time.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// A kernel.
#[derive(Clone, Copy)]
pub struct Kernel(Handle);

/// A started GPU.
pub struct Gpu {
    /// The name of the hardware.
    pub name: String,
    /// How many times slower double precision is than single precision.
    pub double_ratio: i32,
    driver: Driver,
    folders: Folders,
    context: Handle,
    capability: (i32, i32),
    kernels: Mutex<HashMap<String, Kernel>>,
    cublas: OnceLock<Result<(Cublas, Handle), String>>,
    turn: Mutex<()>,
}

impl Gpu {
    /// Starts the GPU of this number. Declines if there is no driver.
    pub fn start(ordinal: usize, folders: &Folders) -> Attempt<Self> {
        let driver = folders.driver().ok_or(Refusal::Declined)?.map_err(Refusal::Failed)?;
        let mut gpu = Self {
            name: String::new(),
            double_ratio: 1,
            driver,
            folders: folders.clone(),
            context: Handle(ptr::null_mut()),
            capability: (0, 0),
            kernels: Mutex::default(),
            cublas: OnceLock::new(),
            turn: Mutex::default(),
        };
        let driver = &gpu.driver;
        let (mut count, mut device) = (0, 0);
        // SAFETY: pointers are to variables that live during the calls; the name has room for the given number of bytes.
        unsafe {
            gpu.check("cuInit", (driver.init)(0))?;
            gpu.check("cuDeviceGetCount", (driver.device_count)(&raw mut count))?;
            if ordinal >= count as usize {
                let found = if count == 1 { "one GPU".to_owned() } else { format!("{count} GPUs") };
                return Err(Refusal::Failed(format!(
                    "GPU {ordinal} does not exist; the driver finds {found}"
                )));
            }
            gpu.check("cuDeviceGet", (driver.device_get)(&raw mut device, ordinal as c_int))?;
            let attribute = |which: c_int| {
                let mut value = 0;
                let status = (driver.device_attribute)(&raw mut value, which, device);
                gpu.check("cuDeviceGetAttribute", status).map(|()| value)
            };
            let capability = (attribute(CAPABILITY.0)?, attribute(CAPABILITY.1)?);
            let double_ratio = attribute(DOUBLE_RATIO)?;
            let mut name: [c_char; 256] = [0; 256];
            gpu.check("cuDeviceGetName", (driver.device_name)(name.as_mut_ptr(), 255, device))?;
            let mut context = ptr::null_mut();
            gpu.check("cuDevicePrimaryCtxRetain", (driver.retain_context)(&raw mut context, device))?;
            gpu.name = CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned();
            (gpu.capability, gpu.double_ratio, gpu.context) = (capability, double_ratio, Handle(context));
        }
        Ok(gpu)
    }

    /// Waits for the turn of the caller, and makes the GPU current in its thread.
    pub fn enter(&self) -> Attempt<MutexGuard<'_, ()>> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.make_current()?;
        Ok(turn)
    }

    fn make_current(&self) -> Attempt<()> {
        // SAFETY: the context is retained for the life of the process.
        self.check("cuCtxSetCurrent", unsafe { (self.driver.set_context)(self.context.0) })
    }

    /// Memory for some numbers, not initialized.
    pub fn allocate<T: Number>(&self, len: usize) -> Attempt<Buffer<'_, T>> {
        let mut address = 0;
        // SAFETY: the pointer is to a variable that lives during the call.
        let status = unsafe { (self.driver.allocate)(&raw mut address, (len * size_of::<T>()).max(1)) };
        self.check("cuMemAlloc", status)?;
        Ok(Buffer { gpu: self, address, len, numbers: PhantomData })
    }

    /// Memory with a copy of some numbers.
    pub fn copy<T: Number>(&self, values: &[T]) -> Attempt<Buffer<'_, T>> {
        let mut out = self.allocate(values.len())?;
        out.write(0, values)?;
        Ok(out)
    }

    /// A kernel of a source, compiled with some definitions.
    pub fn kernel(&self, source: &str, name: &str, defines: &[String]) -> Attempt<Kernel> {
        let key = format!("{name} {}", defines.join(" "));
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&key) {
            return Ok(*kernel);
        }
        let code =
            compile(|| self.folders.nvrtc(), source, defines, self.capability).map_err(Refusal::Failed)?;
        let name = CString::new(name).map_err(|error| Refusal::Failed(error.to_string()))?;
        let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the code is a complete module; the driver copies it. The module is never unloaded, so the function stays valid.
        unsafe {
            self.check("cuModuleLoadData", (self.driver.load_module)(&raw mut module, code.as_ptr().cast()))?;
            let status = (self.driver.get_function)(&raw mut function, module, name.as_ptr());
            self.check("cuModuleGetFunction", status)?;
        }
        let kernel = Kernel(Handle(function));
        kernels.insert(key, kernel);
        Ok(kernel)
    }

    /// Launches a kernel on a grid of blocks.
    ///
    /// # Safety
    ///
    /// The arguments have the types and the order of the kernel's parameters, and the kernel stays within their buffers.
    pub unsafe fn launch(
        &self,
        kernel: Kernel,
        grid: (usize, usize),
        threads: usize,
        args: &mut [Argument],
    ) -> Attempt<()> {
        let mut pointers: Vec<*mut c_void> = args.iter_mut().map(Argument::pointer).collect();
        if grid.0 == 0 || grid.1 == 0 {
            return Ok(());
        }
        let (x, y) = (grid.0 as c_uint, grid.1 as c_uint);
        // SAFETY: the pointers are to arguments that live during the call; the caller vouches for the rest.
        let status = unsafe {
            let (stream, more) = (ptr::null_mut(), ptr::null_mut());
            (self.driver.launch)(
                kernel.0.0,
                x,
                y,
                1,
                threads as c_uint,
                1,
                1,
                0,
                stream,
                pointers.as_mut_ptr(),
                more,
            )
        };
        self.check("cuLaunchKernel", status)
    }

    /// `out = factor a^T b` in half precision with sums in single precision; all are laid out by columns, `a` and `b` with `k` rows.
    ///
    /// # Safety
    ///
    /// The buffers have `k * m`, `k * n` and `m * n` numbers from the given positions on.
    pub unsafe fn product(
        &self,
        (m, n, k): (usize, usize, usize),
        factor: f32,
        (a, a_from): (&Buffer<u16>, usize),
        (b, b_from): (&Buffer<u16>, usize),
        (out, stride): (&mut Buffer<u16>, usize),
    ) -> Attempt<()> {
        let (cublas, handle) = self.cublas()?;
        let zero = 0.0_f32;
        let at = |buffer: &Buffer<u16>, from: usize| (buffer.address + 2 * from as u64) as *const c_void;
        let (m, n, k) = (m as c_int, n as c_int, k as c_int);
        // SAFETY: factors live during the call; the caller vouches for the buffers.
        let status = unsafe {
            (cublas.product)(
                handle.0,
                1,
                0,
                m,
                n,
                k,
                (&raw const factor).cast(),
                at(a, a_from),
                HALF,
                k,
                at(b, b_from),
                HALF,
                k,
                (&raw const zero).cast(),
                at(out, 0).cast_mut(),
                HALF,
                stride as c_int,
                COMPUTE_SINGLE,
                DEFAULT_ALGORITHM,
            )
        };
        if status == 0 { Ok(()) } else { Err(Refusal::Failed(format!("cublasGemmEx: code {status}"))) }
    }

    fn cublas(&self) -> Attempt<&(Cublas, Handle)> {
        let start = || {
            let cublas = self.folders.cublas()?;
            let mut handle = ptr::null_mut();
            // SAFETY: the pointer is to a variable that lives during the call.
            let status = unsafe { (cublas.create)(&raw mut handle) };
            if status == 0 {
                Ok((cublas, Handle(handle)))
            } else {
                Err(format!("cublasCreate: code {status}"))
            }
        };
        self.cublas.get_or_init(start).as_ref().map_err(|why| Refusal::Failed(why.clone()))
    }

    /// Waits for all work.
    pub fn synchronize(&self) -> Attempt<()> {
        // SAFETY: no arguments.
        self.check("cuCtxSynchronize", unsafe { (self.driver.synchronize)() })
    }

    fn check(&self, call: &str, status: c_int) -> Attempt<()> {
        match status {
            0 => Ok(()),
            OUT_OF_MEMORY => Err(Refusal::OutOfMemory),
            _ => {
                let mut text = ptr::null();
                // SAFETY: the pointer is to a variable; the text is static and ends with a zero byte.
                let text = unsafe {
                    (self.driver.error_string)(status, &raw mut text);
                    if text.is_null() {
                        "unknown error".into()
                    } else {
                        CStr::from_ptr(text).to_string_lossy()
                    }
                };
                Err(Refusal::Failed(format!("{call}: {text}, code {status}")))
            }
        }
    }
}

/// An argument of a kernel.
pub enum Argument {
    /// The address of a buffer.
    Address(u64),
    /// An integer.
    Int(i32),
    /// A number in single precision.
    Single(f32),
}

impl Argument {
    fn pointer(&mut self) -> *mut c_void {
        match self {
            Self::Address(value) => (&raw mut *value).cast(),
            Self::Int(value) => (&raw mut *value).cast(),
            Self::Single(value) => (&raw mut *value).cast(),
        }
    }
}

impl From<usize> for Argument {
    fn from(value: usize) -> Self {
        Self::Int(i32::try_from(value).expect("sizes are checked before"))
    }
}

impl From<f32> for Argument {
    fn from(value: f32) -> Self {
        Self::Single(value)
    }
}

impl<T: Number> From<&Buffer<'_, T>> for Argument {
    fn from(buffer: &Buffer<T>) -> Self {
        Self::Address(buffer.address)
    }
}

/// Memory of a GPU.
pub struct Buffer<'g, T: Number> {
    gpu: &'g Gpu,
    address: u64,
    len: usize,
    numbers: PhantomData<T>,
}

impl<T: Number> Buffer<'_, T> {
    /// The address of the number at a position, as an argument.
    pub fn from(&self, position: usize) -> Argument {
        assert!(position <= self.len, "position in a buffer");
        Argument::Address(self.address + (position * size_of::<T>()) as u64)
    }

    /// Number of numbers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Copies numbers to a position.
    pub fn write(&mut self, at: usize, values: &[T]) -> Attempt<()> {
        assert!(at + values.len() <= self.len, "room in a buffer");
        let (to, bytes) = (self.address + (at * size_of::<T>()) as u64, size_of_val(values));
        // SAFETY: source and destination have this number of bytes.
        self.gpu
            .check("cuMemcpyHtoD", unsafe { (self.gpu.driver.to_device)(to, values.as_ptr().cast(), bytes) })
    }

    /// Copies the first numbers out.
    pub fn read(&self, out: &mut [T]) -> Attempt<()> {
        assert!(out.len() <= self.len, "numbers in a buffer");
        // SAFETY: source and destination have this number of bytes; any bits are a number.
        self.gpu.check("cuMemcpyDtoH", unsafe {
            (self.gpu.driver.to_host)(out.as_mut_ptr().cast(), self.address, size_of_val(out))
        })
    }

    /// Sets all bytes.
    pub fn fill(&mut self, byte: u8) -> Attempt<()> {
        // SAFETY: the buffer has this number of bytes.
        self.gpu.check("cuMemsetD8", unsafe {
            (self.gpu.driver.fill)(self.address, byte, self.len * size_of::<T>())
        })
    }
}

impl<T: Number> Drop for Buffer<'_, T> {
    fn drop(&mut self) {
        if self.gpu.make_current().is_ok() {
            // SAFETY: the address is that of an allocation that nothing else frees.
            unsafe { (self.gpu.driver.free)(self.address) };
        }
    }
}
