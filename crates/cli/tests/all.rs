//! Tests of the command line. They form one program, so that the libraries are linked once.

mod bad_input;
mod colors;
mod commands;
mod compare;
#[cfg(unix)]
mod crashes;
mod design;
mod design_kernels;
mod design_refused;
mod documentation;
#[cfg(unix)]
mod full_disk;
mod help;
mod interactions;
mod kernel_space;
mod messy;
mod outputs;
mod passes;
mod reading;
mod report;
mod reproduce;
mod scratch;
mod significance;
mod tall;
mod transforms;
mod weights;

#[test]
fn every_test_file_is_a_module() {
    let listed = include_str!("all.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|&module| module != "all") else { continue };
        assert!(listed.contains(&format!("\nmod {module};\n")), "{name} is not a module, so it does not run");
    }
}
