//! Every reader, and what must hold whatever bytes it is given: an answer or an error, never a panic, and no more memory
//! than it may take. Shared by the fuzzer and by the tests, which read the whole corpus again.

use kernsift::basis::FeatureMap;
use kernsift::data::read::{ReadOptions, read_bytes};
use kernsift::data::triplets::{self, Naming};
use kernsift::data::{Prepare, TargetChoice};
use kernsift::evaluate::ResultsLog;
use kernsift::memory::metered;
use kernsift::model::Content;
use kernsift::{Context, Model};
use ndarray::Array2;

/// What a reader may plan to use.
pub const LIMIT: u64 = 32 << 20;
/// What it may take in the end: its plan, as much again for what is being put together, and a part of fixed size.
pub const MOST: u64 = 2 * LIMIT + (16 << 20);

/// A reader by the name of its folder in the corpus.
pub struct Reader {
    pub name: &'static str,
    read: fn(&[u8]) -> bool,
}

/// All of them.
pub const READERS: &[Reader] = &[
    Reader { name: "csv", read: |bytes| table("t.csv", bytes) },
    Reader { name: "tsv", read: |bytes| table("t.tsv", bytes) },
    Reader { name: "csv_gz", read: |bytes| table("t.csv.gz", bytes) },
    Reader { name: "arff", read: |bytes| table("t.arff", bytes) },
    Reader { name: "svmlight", read: |bytes| table("t.svm", bytes) },
    Reader { name: "parquet", read: |bytes| table("t.parquet", bytes) },
    Reader { name: "npy", read: |bytes| table("t.npy", bytes) },
    Reader { name: "npz", read: |bytes| table("t.npz", bytes) },
    Reader { name: "triples", read: triples },
    Reader { name: "model", read: model },
    Reader { name: "model_content", read: |bytes| model(&sealed(bytes)) },
    Reader { name: "record", read: record },
];

impl Reader {
    /// Reads, and says whether there was an answer. Panics where something does not hold.
    pub fn try_on(&self, bytes: &[u8]) -> bool {
        let (read, peak) = metered(|| (self.read)(bytes));
        // Nobody counts in a program with another allocator.
        let peak = peak.unwrap_or(0);
        assert!(peak <= MOST, "{} took {peak} bytes for {} that it was given", self.name, bytes.len());
        read
    }
}

fn context() -> Context<'static> {
    Context { memory_limit: LIMIT, ..Context::default() }
}

/// Reads a table and makes data of it.
fn table(name: &str, bytes: &[u8]) -> bool {
    let mut read = false;
    for header in [true, false] {
        let Ok((table, _)) = read_bytes(name, bytes, &ReadOptions { header }, &context()) else { continue };
        read = true;
        // What is made of it is another matter than reading it; it must not be large by itself.
        if table.n_rows() * table.names().len() < 10_000 {
            let _ = Prepare::default().fit(&table);
            let _ = Prepare { target: TargetChoice::None, ..Prepare::default() }.fit(&table);
        }
        // Other formats know nothing of headers.
        if !name.contains("sv") {
            break;
        }
    }
    read
}

fn triples(bytes: &[u8]) -> bool {
    let numbers = triplets::read_bytes("t.csv", bytes, &Naming::from_one(50));
    let ids = triplets::Ids::new((0..20).map(|i| format!("row{i}")).collect()).expect("different ids");
    let ids = triplets::read_bytes("t.tsv", bytes, &Naming::Ids(&ids));
    for triplet in numbers.iter().flatten() {
        assert!(triplet.iter().all(|&row| row < 50), "a row that is not there");
    }
    numbers.is_ok() || ids.is_ok()
}

/// A model that is read can be used and written again.
fn model(bytes: &[u8]) -> bool {
    let Ok(model) = Model::from_bytes(bytes) else { return false };
    let again = Model::from_bytes(&model.to_bytes().expect("what was read can be written"));
    let again = again.expect("what was written can be read");
    // NaN is not equal to itself, and a hostile file may hold some.
    assert_eq!(again.to_bytes().expect("as before"), model.to_bytes().expect("as before"));
    let d = model.names.len();
    if d < 1000 && small(&model.content) {
        let rows = Array2::from_shape_fn((3, d), |(i, j)| (i * d + j) as f64 * 0.25);
        let _ = model.apply(&rows.clone().into(), &context());
        let _ = model.predict(&rows.into(), &context());
    }
    let _ = model.output_names();
    true
}

fn small(content: &Content) -> bool {
    let fits = |map: &FeatureMap| map.n_components() < 1000;
    match content {
        Content::Map(map) => fits(map),
        Content::Space(space) => fits(space.map()),
        Content::Selection(_) | Content::Kernel(_) => true,
    }
}

/// Content with a header that is right, so that the checksum does not keep everything out.
fn sealed(content: &[u8]) -> Vec<u8> {
    let mut bytes = b"kernsift".to_vec();
    bytes.extend(3u32.to_le_bytes());
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(crc32fast::hash(content).to_le_bytes());
    bytes.extend(content);
    bytes
}

/// A record that is read is written as it was meant.
fn record(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Ok(log) = ResultsLog::from_text(&text, "") else { return false };
    let written = log.text();
    let again = ResultsLog::from_text(&written, "").expect("what was written can be read");
    assert_eq!(again.text(), written);
    true
}
