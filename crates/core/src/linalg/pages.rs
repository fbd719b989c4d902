//! Large pages for large buffers.

/// Buffers below this gain nothing.
#[cfg(target_os = "linux")]
const WORTH_IT: usize = 4 << 20;

/// Asks the system to back a buffer, its spare room too, with large pages.
///
/// A factor of a hundred columns is read a column here and a column there; with ordinary pages every
/// such step looks up another page, and fresh memory arrives 4 KiB at a time. The request changes speed
/// only, and systems are free to ignore it.
pub fn prefer_large_pages(buffer: &mut Vec<f64>) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let spare = buffer.spare_capacity_mut();
        let end = spare.as_mut_ptr_range().end as usize;
        let start = (buffer.as_mut_ptr() as usize).next_multiple_of(PAGE);
        let length = end.saturating_sub(start) / PAGE * PAGE;
        if length >= WORTH_IT {
            // SAFETY: the range lies within the buffer's own allocation and is aligned to pages. The
            // advice neither reads nor writes memory; a failure leaves ordinary pages.
            unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = buffer;
}

/// That many zeros, on large pages if they are many. Fresh memory is zero already, so nothing is written.
pub fn zeros(length: usize) -> Vec<f64> {
    let mut buffer = vec![0.0; length];
    prefer_large_pages(&mut buffer);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_stay_as_they_were() {
        let mut buffer: Vec<f64> = (0..1_000_000).map(f64::from).collect();
        buffer.reserve_exact(500_000);
        prefer_large_pages(&mut buffer);
        buffer.push(1e6);
        assert!(buffer.iter().enumerate().all(|(i, &v)| v == i as f64));
        prefer_large_pages(&mut vec![]);
    }
}
