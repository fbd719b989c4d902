//! Tests that need no GPU: a twin of the kernels on the processor checks bounds and decisions, and failures fall back. With a
//! GPU, `gpu.rs` compares it with the processor.

mod fallback;
mod gpu;
mod problems;
mod twin;
mod twin_tests;
