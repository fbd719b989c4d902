//! Compilation of kernels at first use, and the cache of what was compiled.

use crate::library::Nvrtc;
use std::ffi::{CString, c_char, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::ptr;

/// The machine code of kernels for a compute capability, from the cache or by compilation.
pub fn compile(
    nvrtc: impl FnOnce() -> Result<Nvrtc, String>,
    source: &str,
    defines: &[String],
    capability: (i32, i32),
) -> Result<Vec<u8>, String> {
    let file = cache_file(source, defines, capability);
    if let Some(code) = file.as_ref().and_then(|file| std::fs::read(file).ok()).and_then(verified) {
        return Ok(code);
    }
    let code = compile_with(&nvrtc()?, source, defines, capability)?;
    // Without a cache, kernels are compiled in every process.
    let _ = file.map(|file| store(&file, &code));
    Ok(code)
}

/// The file of the cache for kernels; it changes with the version of the crate, the source and the GPU.
fn cache_file(source: &str, defines: &[String], capability: (i32, i32)) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))
    };
    let name = format!(
        "cuda-{}.{}-{:016x}.bin",
        capability.0,
        capability.1,
        hash(&(env!("CARGO_PKG_VERSION"), source, defines))
    );
    Some(cache?.join("kernsift").join(name))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The code in a file of the cache, unless it is damaged.
fn verified(mut content: Vec<u8>) -> Option<Vec<u8>> {
    let end = content.len().checked_sub(8)?;
    let sum = content.split_off(end);
    (sum == hash(&content).to_le_bytes()).then_some(content)
}

/// Writes a file of the cache, at once: another process may read it.
fn store(file: &std::path::Path, code: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().ok_or(std::io::ErrorKind::NotFound)?;
    std::fs::create_dir_all(folder)?;
    let temporary = folder.join(format!("{}.tmp", std::process::id()));
    let content = [code, &hash(&code.to_vec()).to_le_bytes()].concat();
    std::fs::write(&temporary, content)?;
    std::fs::rename(&temporary, file)
}

fn compile_with(
    nvrtc: &Nvrtc,
    source: &str,
    defines: &[String],
    (major, minor): (i32, i32),
) -> Result<Vec<u8>, String> {
    let (mut of_major, mut of_minor) = (0, 0);
    // SAFETY: both pointers are to integers that live during the call.
    unsafe { (nvrtc.version)(&raw mut of_major, &raw mut of_minor) };
    let options = [format!("--gpu-architecture=sm_{major}{minor}"), "--fmad=true".into()];
    let options: Vec<CString> = options
        .into_iter()
        .chain(defines.iter().cloned())
        .filter_map(|text| CString::new(text).ok())
        .collect();
    let options: Vec<*const c_char> = options.iter().map(|text| text.as_ptr()).collect();
    let text = CString::new(source).map_err(|error| error.to_string())?;
    let mut program: *mut c_void = ptr::null_mut();
    // SAFETY: the text and the options are strings that end with a zero byte and live until the program is destroyed; buffers have
    // the sizes that NVRTC reports.
    unsafe {
        let status = (nvrtc.create)(
            &raw mut program,
            text.as_ptr(),
            c"kernels.cu".as_ptr(),
            0,
            ptr::null(),
            ptr::null(),
        );
        if status != 0 {
            return Err(format!("NVRTC {of_major}.{of_minor} cannot create a program (code {status})"));
        }
        let status = (nvrtc.compile)(program, options.len() as i32, options.as_ptr());
        let (sizes, contents) =
            if status == 0 { (nvrtc.cubin_size, nvrtc.cubin) } else { (nvrtc.log_size, nvrtc.log) };
        let mut size = 0;
        sizes(program, &raw mut size);
        let mut out = vec![0_u8; size];
        contents(program, out.as_mut_ptr().cast());
        (nvrtc.destroy)(&raw mut program);
        if status == 0 && size > 0 {
            return Ok(out);
        }
        let log = String::from_utf8_lossy(&out).trim_end_matches('\0').trim().replace('\n', "; ");
        Err(format!("NVRTC {of_major}.{of_minor} cannot compile kernels for sm_{major}{minor}: {log}"))
    }
}
