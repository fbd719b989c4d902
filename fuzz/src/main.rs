//! Fuzzes the reader named by `KERNSIFT_READER`; see `readers.rs` for the requirements.

#![no_main]

mod readers;

use kernsift::internals::Counting;
use libfuzzer_sys::fuzz_target;
use readers::{READERS, Reader};
use std::sync::LazyLock;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static READER: LazyLock<&Reader> = LazyLock::new(|| {
    // The hook of libfuzzer would abort on a panic of a dependency that a reader turns into an error. Other panics still abort.
    drop(std::panic::take_hook());
    let name = std::env::var("KERNSIFT_READER").unwrap_or_default();
    let names: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
    READERS.iter().find(|reader| reader.name == name).unwrap_or_else(|| {
        eprintln!("KERNSIFT_READER must be one of {names:?}");
        std::process::exit(2)
    })
});

fuzz_target!(|bytes: &[u8]| {
    READER.try_on(bytes);
});
