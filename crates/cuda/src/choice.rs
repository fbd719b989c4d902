//! The choice of a device by its name.

use crate::engine::Cuda;
use crate::library::Folders;
use kernsift::device::Device;
use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// Which device computes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// `auto`: the first GPU, if there is one, for large problems.
    #[default]
    Auto,
    /// `cpu`: the processor.
    Cpu,
    /// `cuda` or `cuda:N`: a GPU, for large problems; that there is none is an error.
    Cuda(usize),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
        match (text, text.strip_prefix("cuda:").and_then(number)) {
            ("auto", _) => Ok(Self::Auto),
            ("cpu", _) => Ok(Self::Cpu),
            ("cuda", _) => Ok(Self::Cuda(0)),
            (_, Some(ordinal)) => Ok(Self::Cuda(ordinal)),
            _ => Err(format!("the device must be auto, cpu, cuda or cuda:N, got '{text}'")),
        }
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

/// Devices by choice, one of each for the whole process.
static DEVICES: Mutex<Option<HashMap<Choice, &'static Device>>> = Mutex::new(None);

/// The device of a choice; none for the processor. A GPU that was asked for starts here, otherwise at first use. `folders` are searched for
/// NVIDIA's libraries beside the usual places.
pub fn device(choice: Choice, folders: &[PathBuf]) -> Result<Option<&'static Device>, String> {
    if choice == Choice::Cpu {
        return Ok(None);
    }
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    let devices = devices.get_or_insert_default();
    if let Some(device) = devices.get(&choice) {
        return Ok(Some(device));
    }
    let folders = Folders(folders.to_vec());
    let cuda = match choice {
        Choice::Cuda(ordinal) => {
            let cuda = Cuda::new(ordinal, folders);
            cuda.start().map_err(|why| format!("device {choice}: {why}"))?;
            cuda
        }
        Choice::Auto | Choice::Cpu => Cuda::new(0, folders),
    };
    let device: &'static Device = Box::leak(Box::new(Device::new(Box::new(cuda))));
    devices.insert(choice, device);
    Ok(Some(device))
}
