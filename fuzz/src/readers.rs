//! Every reader must return a result or an error for any bytes, never panic, and stay within its memory limit. Shared by
//! the fuzzer and by the tests, which read the corpus.

use kernsift::basis::FeatureMap;
use kernsift::data::read::{ReadOptions, read_bytes};
use kernsift::data::triplets::{Ids, Naming, read_bytes as read_triplets};
use kernsift::data::{Decimal, Encoder, Encoding, Prepare, Prepared, TargetChoice, join_labels};
use kernsift::evaluate::ResultsLog;
use kernsift::internals::metered;
use kernsift::model::Content;
use kernsift::{Context, Model};
use ndarray::Array2;

/// The memory limit of a reader.
pub const LIMIT: u64 = 32 << 20;
/// The allowed peak memory: twice the limit, for data being assembled, plus a constant.
pub const MAX_PEAK: u64 = 2 * LIMIT + (16 << 20);

/// A reader, named like its directory in the corpus.
pub struct Reader {
    pub name: &'static str,
    read: fn(&[u8]) -> bool,
}

/// All readers.
pub const READERS: &[Reader] = &[
    Reader { name: "csv", read: |bytes| table("t.csv", bytes) },
    Reader { name: "tsv", read: |bytes| table("t.tsv", bytes) },
    Reader { name: "csv_gz", read: |bytes| table("t.csv.gz", bytes) },
    Reader { name: "csv_zst", read: |bytes| table("t.csv.zst", bytes) },
    Reader { name: "csv_transposed", read: transposed },
    Reader { name: "csv_labels", read: labels },
    Reader { name: "arff", read: |bytes| table("t.arff", bytes) },
    Reader { name: "svmlight", read: |bytes| table("t.svm", bytes) },
    Reader { name: "parquet", read: |bytes| table("t.parquet", bytes) },
    Reader { name: "arrow", read: |bytes| table("t.arrow", bytes) },
    Reader { name: "xlsx", read: |bytes| table("t.xlsx", bytes) },
    Reader { name: "npy", read: |bytes| table("t.npy", bytes) },
    Reader { name: "npz", read: |bytes| table("t.npz", bytes) },
    Reader { name: "triplets", read: triplets },
    Reader { name: "model", read: model },
    Reader { name: "model_content", read: |bytes| model(&with_header(bytes)) },
    Reader { name: "record", read: record },
];

impl Reader {
    /// Whether the bytes can be read. Panics if a requirement is violated.
    pub fn try_on(&self, bytes: &[u8]) -> bool {
        let (read, peak) = metered(|| (self.read)(bytes));
        // `None` with another allocator.
        let peak = peak.unwrap_or(0);
        assert!(peak <= MAX_PEAK, "{} used {peak} bytes for {} bytes of input", self.name, bytes.len());
        read
    }
}

fn context() -> Context<'static> {
    Context { memory_limit: LIMIT, ..Context::default() }
}

/// Reads a table and converts it to a data set.
fn table(name: &str, bytes: &[u8]) -> bool {
    let mut read = false;
    for header in [true, false] {
        let Ok((table, _)) =
            read_bytes(name, bytes, &ReadOptions { header, ..ReadOptions::default() }, &context())
        else {
            continue;
        };
        read = true;
        // The limit covers reading only, so convert only small tables.
        if table.n_rows() * table.names().len() < 10_000 {
            if let Ok(Prepared { data, .. }) = Prepare::default().fit(&table) {
                let _ = Encoder::fit(&data, Encoding::default()).and_then(|encoder| encoder.encode(&data));
            }
            let _ = Prepare { target: TargetChoice::None, ..Prepare::default() }.fit(&table);
        }
        // Only CSV, TSV and Excel have the option.
        if !name.contains("sv") && !name.contains("xlsx") {
            break;
        }
    }
    read
}

/// Reads a table with features in rows, with comments and further missing values.
fn transposed(bytes: &[u8]) -> bool {
    let options = ReadOptions {
        transpose: true,
        comment: Some(b'#'),
        na_values: vec!["-999".into(), "none".into()],
        decimal: Some(Decimal::Comma),
        ..ReadOptions::default()
    };
    let Ok((table, _)) = read_bytes("t.csv", bytes, &options, &context()) else { return false };
    assert_eq!(table.names().first(), Some(&"sample"));
    true
}

/// Joins a table with itself.
fn labels(bytes: &[u8]) -> bool {
    let read = |name| read_bytes(name, bytes, &ReadOptions::default(), &context());
    let (Ok((table, _)), Ok((labels, _))) = (read("t.csv"), read("t.tsv")) else { return false };
    let n = table.n_rows();
    let id = table.names().first().map(|name| vec![(*name).to_owned()]).unwrap_or_default();
    let by_name = join_labels(table.clone(), table.clone(), &id);
    let by_itself = join_labels(table.clone(), table.clone(), &[]);
    let joined = join_labels(table, labels, &[]);
    for (table, _) in by_name.iter().chain(&by_itself).chain(&joined) {
        assert_eq!(table.n_rows(), n);
    }
    true
}

fn triplets(bytes: &[u8]) -> bool {
    let numbers = read_triplets("t.csv", bytes, &Naming::from_one(50));
    let ids = Ids::new((0..20).map(|i| format!("row{i}")).collect()).expect("unique ids");
    let ids = read_triplets("t.tsv", bytes, &Naming::Ids(&ids));
    for triplet in numbers.iter().flatten() {
        assert!(triplet.iter().all(|&row| row < 50), "a row out of range");
    }
    numbers.is_ok() || ids.is_ok()
}

/// A model that can be read can be applied and written.
fn model(bytes: &[u8]) -> bool {
    let Ok(model) = Model::from_bytes(bytes) else { return false };
    let again = Model::from_bytes(&model.to_bytes().expect("a read model can be written"));
    let again = again.expect("a written model can be read");
    // Compare bytes, because a corrupt file may contain NaN.
    assert_eq!(
        again.to_bytes().expect("a model can be written"),
        model.to_bytes().expect("a model can be written")
    );
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

/// Adds a valid header and checksum, so that the content is decoded.
fn with_header(content: &[u8]) -> Vec<u8> {
    let mut bytes = b"kernsift".to_vec();
    bytes.extend(5u32.to_le_bytes());
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(crc32fast::hash(content).to_le_bytes());
    bytes.extend(content);
    bytes
}

/// A results log that can be read is written unchanged.
fn record(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Ok(log) = ResultsLog::from_text(&text, "") else { return false };
    let written = log.text();
    let again = ResultsLog::from_text(&written, "").expect("a written log can be read");
    assert_eq!(again.text(), written);
    true
}
