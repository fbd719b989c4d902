//! `kernsift reproduce`

use crate::args::ReproduceArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::output::{listing, print, print_json, table};
use kernsift::data::write::check_place;
use kernsift::{Context, Error};
use kernsift_experiments::page::write_page;
use kernsift_experiments::{Section, Settings, Study, reproduce};
use serde_json::json;
use std::path::Path;

/// Reproduces papers, prints the results, and writes the requested page.
pub fn run(args: &ReproduceArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let mut papers = vec![];
    for &paper in &args.papers {
        if !papers.contains(&paper) {
            papers.push(paper);
        }
    }
    check(args)?;
    let settings =
        Settings { quick: args.quick, data_dir: args.data_dir.clone(), records: args.records.clone() };
    let mut studies = vec![];
    for paper in papers {
        let study = reproduce(paper, &settings, ctx).map_err(|error| {
            if let (true, Some(folder)) = (error.is_interrupted(), &args.records) {
                let folder = folder.display();
                console.inform(&format!("results so far are in {folder}; run the same command to resume"));
            }
            Failure::from(error)
        })?;
        console.clear();
        // At once: the next paper may take long.
        if !args.json {
            print(&text(&study, !studies.is_empty()))?;
        }
        studies.push(study);
    }
    if args.json {
        let record =
            json!({"command": "reproduce", "version": env!("CARGO_PKG_VERSION"), "studies": studies});
        print_json(&record)?;
    }
    if let Some(path) = &args.page {
        write_page(path, &studies)?;
        console.inform(&format!("page: {}", path.display()));
    }
    Ok(())
}

/// Checks folders and paths.
fn check(args: &ReproduceArgs) -> Result<(), Failure> {
    if let Some(folder) = args.data_dir.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::Input(format!("--data-dir: {} is not a folder", folder.display())));
    }
    if let Some(folder) = &args.records {
        std::fs::create_dir_all(folder).map_err(|error| Failure::from(Error::io(folder, error)))?;
    }
    if let Some(page) = &args.page {
        if page.extension().is_none() {
            return Err(Failure::Input("--page needs a file extension, such as page.md".into()));
        }
        let in_records = args.records.as_deref().is_some_and(|folder| is_within(page, folder));
        if in_records && page.extension().is_some_and(|extension| extension == "jsonl") {
            return Err(Failure::Input("--page and --records need different files".into()));
        }
        check_place(page)?;
    }
    Ok(())
}

fn is_within(path: &Path, folder: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    matches!((parent.canonicalize(), folder.canonicalize()), (Ok(parent), Ok(folder)) if parent == folder)
}

fn text(study: &Study, follows: bool) -> String {
    let gap = if follows { "\n\n" } else { "" };
    // Without Markdown.
    let mut text = format!("{gap}{}\n", study.paper.reference().replace('*', ""));
    let rows = study
        .sections
        .iter()
        .map(|s| vec![s.id.to_owned(), s.verdict.name().to_owned(), s.finding.clone()])
        .collect();
    study.sections.iter().for_each(|section| text += &section_text(section));
    text + "\n" + &listing(&["", "verdict", "result"], rows, &[])
}

fn section_text(section: &Section) -> String {
    let mut text = format!("\n{}: {}\n", section.id, section.title);
    for (name, words) in
        [("claim", &section.claim), ("protocol", &section.protocol), ("criterion", &section.criterion)]
    {
        text += &format!("  {name:<10} {words}\n");
    }
    text += &format!("  {:<10} {}. {}\n", "verdict", section.verdict.name(), section.finding);
    for shown in &section.tables {
        let header: Vec<&str> = shown.header.iter().map(String::as_str).collect();
        let right: Vec<usize> = (1..header.len()).collect();
        text += &format!("\n{}\n{}", shown.caption, table(&header, shown.rows.clone(), &right));
    }
    section.notes.iter().for_each(|note| text += &format!("\n  {note}\n"));
    text
}
