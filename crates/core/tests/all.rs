//! Laws, papers and conformance, in one program: each of its own would be linked with everything again.

use kernsift::memory::Counting;

mod compare;
mod conformance;
mod edges;
mod engine_laws;
mod every_method;
mod hostile_files;
mod hsic_reference;
mod kernel_space;
mod kffs_laws;
mod kobl_laws;
mod learners;
mod limits;
mod numbers_at_the_edge;
mod own_criterion;
#[cfg(feature = "madelon")]
mod planted_truth;
mod progress;
mod svm_laws;
mod svm_reference;

/// Counts what methods take, to hold it against what they said they would.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn every_file_of_the_folder_is_listed() {
    let listed = include_str!("all.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|&module| module != "all") else { continue };
        assert!(
            listed.contains(&format!("\nmod {module};\n")),
            "{name} is not among the modules, so it is not run"
        );
    }
}
