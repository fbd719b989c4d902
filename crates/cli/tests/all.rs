//! The command line as a user meets it, in one program: each file on its own would be linked again.

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
mod kernel_space;
mod report;
mod reproduce;
mod scratch;
mod transforms;

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
