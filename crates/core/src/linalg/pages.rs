//! Huge pages for large buffers.

/// Minimum buffer size in bytes; smaller buffers gain nothing.
#[cfg(target_os = "linux")]
const MIN_BYTES: usize = 4 << 20;

/// Requests huge pages for a buffer, including its spare capacity.
///
/// Strided access to a factor with hundreds of columns causes a TLB miss per access with ordinary pages, and new memory is mapped
/// 4 KiB at a time. The request only affects speed, and the system may ignore it.
pub fn prefer_large_pages(buffer: &mut Vec<f64>) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let spare = buffer.spare_capacity_mut();
        let end = spare.as_mut_ptr_range().end as usize;
        let start = (buffer.as_mut_ptr() as usize).next_multiple_of(PAGE);
        let length = end.saturating_sub(start) / PAGE * PAGE;
        if length >= MIN_BYTES {
            // SAFETY: the range lies within the allocation of the buffer and is aligned to pages. The
            // advice neither reads nor writes memory; on failure the pages stay ordinary.
            unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = buffer;
}

/// A vector of zeros, on huge pages if it is large. New memory is already zero, so nothing is written.
pub fn zeros(length: usize) -> Vec<f64> {
    let mut buffer = vec![0.0; length];
    prefer_large_pages(&mut buffer);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_unchanged() {
        let mut buffer: Vec<f64> = (0..1_000_000).map(f64::from).collect();
        buffer.reserve_exact(500_000);
        prefer_large_pages(&mut buffer);
        buffer.push(1e6);
        assert!(buffer.iter().enumerate().all(|(i, &v)| v == i as f64));
        prefer_large_pages(&mut vec![]);
    }
}
