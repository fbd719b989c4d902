//! Functions of the CUDA driver, NVRTC and cuBLAS, from libraries that are loaded at run time.

use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::PathBuf;

/// Declares a struct of the functions of a library.
macro_rules! library {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $symbol:literal ($($arg:ty),*);)* }) => {
        $(#[$doc])*
        pub struct $name {
            // SAFETY: a caller vouches for the arguments that the documentation of the function asks for.
            $(pub $field: unsafe extern "C" fn($($arg),*) -> c_int,)*
            /// Keeps the functions in memory.
            _library: Library,
        }

        impl $name {
            fn of(library: Library) -> Result<Self, String> {
                $(
                    // SAFETY: the type is that of the function in NVIDIA's headers, which does not change under this name.
                    let $field = *unsafe { library.get($symbol) }.map_err(|error| error.to_string())?;
                )*
                Ok(Self { $($field,)* _library: library })
            }
        }
    };
}

library! {
    /// The driver.
    Driver {
        init = b"cuInit" (c_uint);
        error_string = b"cuGetErrorString" (c_int, *mut *const c_char);
        device_count = b"cuDeviceGetCount" (*mut c_int);
        device_get = b"cuDeviceGet" (*mut c_int, c_int);
        device_name = b"cuDeviceGetName" (*mut c_char, c_int, c_int);
        device_attribute = b"cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
        retain_context = b"cuDevicePrimaryCtxRetain" (*mut *mut c_void, c_int);
        set_context = b"cuCtxSetCurrent" (*mut c_void);
        synchronize = b"cuCtxSynchronize" ();
        allocate = b"cuMemAlloc_v2" (*mut u64, usize);
        free = b"cuMemFree_v2" (u64);
        to_device = b"cuMemcpyHtoD_v2" (u64, *const c_void, usize);
        to_host = b"cuMemcpyDtoH_v2" (*mut c_void, u64, usize);
        fill = b"cuMemsetD8_v2" (u64, u8, usize);
        load_module = b"cuModuleLoadData" (*mut *mut c_void, *const c_void);
        get_function = b"cuModuleGetFunction" (*mut *mut c_void, *mut c_void, *const c_char);
        launch = b"cuLaunchKernel" (
            *mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void,
            *mut *mut c_void
        );
    }
}

library! {
    /// The compiler of kernels.
    Nvrtc {
        version = b"nvrtcVersion" (*mut c_int, *mut c_int);
        create = b"nvrtcCreateProgram" (
            *mut *mut c_void, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
        );
        compile = b"nvrtcCompileProgram" (*mut c_void, c_int, *const *const c_char);
        log_size = b"nvrtcGetProgramLogSize" (*mut c_void, *mut usize);
        log = b"nvrtcGetProgramLog" (*mut c_void, *mut c_char);
        cubin_size = b"nvrtcGetCUBINSize" (*mut c_void, *mut usize);
        cubin = b"nvrtcGetCUBIN" (*mut c_void, *mut c_char);
        destroy = b"nvrtcDestroyProgram" (*mut *mut c_void);
    }
}

library! {
    /// Matrix products.
    Cublas {
        create = b"cublasCreate_v2" (*mut *mut c_void);
        product = b"cublasGemmEx" (
            *mut c_void, c_int, c_int, c_int, c_int, c_int, *const c_void, *const c_void, c_int, c_int, *const c_void,
            c_int, c_int, *const c_void, *mut c_void, c_int, c_int, c_int, c_int
        );
    }
}

/// Where to look for libraries beside the usual places.
#[derive(Debug, Clone, Default)]
pub struct Folders(pub Vec<PathBuf>);

impl Folders {
    /// Loads the driver; none if there is none.
    pub fn driver(&self) -> Option<Result<Driver, String>> {
        self.load(&["libcuda.so.1", "libcuda.so"], &["nvcuda.dll"]).map(Driver::of)
    }

    /// Loads NVRTC.
    pub fn nvrtc(&self) -> Result<Nvrtc, String> {
        let unix = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];
        let library = self.load(&unix, &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"]);
        Nvrtc::of(
            library.ok_or(
                "NVRTC was not found; install the CUDA toolkit or the Python package nvidia-cuda-nvrtc",
            )?,
        )
    }

    /// Loads cuBLAS.
    pub fn cublas(&self) -> Result<Cublas, String> {
        let unix = ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"];
        let library = self.load(&unix, &["cublas64_13.dll", "cublas64_12.dll", "cublas64_11.dll"]);
        Cublas::of(
            library.ok_or(
                "cuBLAS was not found; install the CUDA toolkit or the Python package nvidia-cublas",
            )?,
        )
    }

    /// The first library of these names that can be loaded.
    fn load(&self, unix: &[&str], windows: &[&str]) -> Option<Library> {
        let names = if cfg!(windows) { windows } else { unix };
        let toolkit = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
        let toolkit =
            toolkit.flat_map(|folder| ["lib64", "lib", "bin"].map(|lib| PathBuf::from(&folder).join(lib)));
        let folders: Vec<PathBuf> =
            self.0.iter().cloned().chain(toolkit).chain([PathBuf::from("/usr/local/cuda/lib64")]).collect();
        // The system's search path first.
        let paths = names.iter().map(PathBuf::from);
        let mut paths =
            paths.chain(names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))));
        // SAFETY: initializers of NVIDIA's libraries may run in any thread.
        paths.find_map(|path| unsafe { Library::new(path) }.ok())
    }
}
