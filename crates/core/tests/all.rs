//! Property, reference and conformance tests. They form one program, so that the library is linked once.

use kernsift::internals::Counting;

mod all_methods;
mod compare;
mod conformance;
mod corrupt_files;
mod ffs_properties;
mod hsic_reference;
mod kernel_space;
mod kobl_properties;
mod learners;
mod memory_limits;
mod mixed;
mod numeric_edge_cases;
mod outputs;
mod own_criterion;
#[cfg(feature = "madelon")]
mod planted_truth;
mod progress;
mod row_norm_properties;
mod selector_edge_cases;
mod svm_properties;
mod svm_reference;
mod tall;
mod weights;

/// Measures memory, for tests of memory plans.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn every_test_file_is_a_module() {
    let listed = include_str!("all.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|&module| module != "all") else { continue };
        assert!(listed.contains(&format!("\nmod {module};\n")), "{name} is not a module, so it does not run");
    }
}
