//! Files beside the data: labels, shards on disk, checkpoints. Their readers open files, so that these
//! are written to a folder of the process.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use fairer_nmf::fit::{Checkpoint, fit_kept};
use fairer_nmf::rows::{Block, BlockSource};
use fairer_nmf::{Baseline, GroupedData, Parameters, Progress, silent};
use fairer_nmf_io::{
    AnyShards, GroupsSource, InputLimit, Precision, Shards, open_shards, read_groups, read_names,
};

use super::arrays::{npy_bytes, npz_bytes};
use super::choices::Bytes;

/// The folder of this process; in memory where the system has such a place.
fn folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = base.join(format!("fairer-nmf-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of our own");
    folder
}

/// Removes that folder.
#[allow(dead_code)] // A fuzzer ends as it likes.
pub fn tidy_up() {
    let _ = std::fs::remove_dir_all(folder());
}

pub fn written(name: &str, content: &[u8]) -> String {
    let path = folder().join(name);
    std::fs::write(&path, content).expect("a file of our own");
    path.display().to_string()
}

const LITTLE: u64 = 1 << 22;

/// Labels of rows: a label a line, a column of a table, an array.
pub fn labels(bytes: &mut Bytes<'_>) -> bool {
    let lines: Vec<String> = (0..bytes.below(6)).map(|_| bytes.word()).collect();
    let (name, column, mut content) = match bytes.below(5) {
        0 => ("l.txt", None, lines.join("\n").into_bytes()),
        1 => ("l.csv", Some("b"), format!("a,b\n1,{}\n", lines.join("\n1,")).into_bytes()),
        2 => ("l.jsonl", Some("b"), {
            let object = |line: &String| serde_json::json!({ "b": line }).to_string();
            lines.iter().map(object).collect::<Vec<_>>().join("\n").into_bytes()
        }),
        3 => ("l.npy", None, npy_bytes(bytes)),
        _ => ("l.npz", bytes.rarely(2).then_some("X"), npz_bytes(bytes)),
    };
    bytes.slip(&mut content);
    let path = written(name, &content);
    let source = GroupsSource { path, column: column.map(String::from) };
    let limit = InputLimit::bytes(LITTLE);
    let names = read_names(&source, "--groups", limit);
    let codes = read_groups(&source, "--groups", limit);
    match (&names, &codes) {
        (Ok(names), Ok(codes)) => {
            assert_eq!(names.len(), codes.codes.len());
            for (name, &code) in names.iter().zip(&codes.codes) {
                assert_eq!(*name, codes.names[code as usize]);
            }
        }
        (Err(error), _) | (_, Err(error)) => assert!(!error.to_string().is_empty()),
    }
    names.is_ok()
}

/// A matrix that stays on disk, block by block.
pub fn shards(bytes: &mut Bytes<'_>) -> bool {
    fn all<T: fairer_nmf::data::Element>(shards: &Shards<T>) -> bool {
        let mut rows = 0;
        for (block, &count) in shards.block_rows().iter().enumerate().take(64) {
            let mut found = Block::default();
            if let Err(error) = shards.read(block, &mut found) {
                assert!(!error.to_string().is_empty());
                return false;
            }
            rows += count;
        }
        rows > 0 && shards.features() > 0
    }
    let archive = bytes.rarely(2);
    let mut content = if archive { npz_bytes(bytes) } else { npy_bytes(bytes) };
    bytes.slip(&mut content);
    let precision = bytes.pick(&[Precision::Stored, Precision::F32, Precision::F64]);
    let memory = 1 << (6 + bytes.below(14));
    // An archive is a shard of a folder; there is one at a time.
    let other = folder().join("shards").join(if archive { "s.npy" } else { "s.npz" });
    let _ = std::fs::create_dir_all(folder().join("shards"));
    let _ = std::fs::remove_file(other);
    written(if archive { "shards/s.npz" } else { "shards/s.npy" }, &content);
    let path = folder().join("shards").display().to_string();
    match open_shards(&[path], memory, precision, InputLimit::bytes(LITTLE)) {
        Ok(AnyShards::F32(shards)) => all(&shards),
        Ok(AnyShards::F64(shards)) => all(&shards),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// The state of a fit, damaged: it is refused, or it goes on to a model of numbers.
pub fn checkpoint(bytes: &mut Bytes<'_>) -> bool {
    static KEPT: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let x = ndarray::Array2::from_shape_fn((8, 3), |(i, j)| ((i * 5 + j * 3) % 7) as f64);
    let labels: Vec<String> = (0..8).map(|i| (i % 2).to_string()).collect();
    let data = GroupedData::new(x.view(), &labels).expect("good data");
    let mut parameters = Parameters::new(2).with(|p| {
        p.n_init = 1;
        p.baseline = Baseline::Zero;
        p.bound = false;
    });
    parameters.stopping.max_iterations = 12;
    let place = folder().join("state");
    let _ = std::fs::create_dir_all(&place);
    let path = place.join("fit");
    let at = |resume| Checkpoint::new(&path, Duration::ZERO).with(|c| c.resume = resume);
    let kept = KEPT.get_or_init(|| {
        let stop = |progress: &Progress<'_>| match progress {
            Progress::Iteration { iteration: 6.., .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let _ = fit_kept(&data, &parameters, Some(&at(false)), &stop);
        let files = std::fs::read_dir(&place).expect("a folder of our own").flatten();
        let mut files: Vec<(String, Vec<u8>)> = files
            .map(|file| {
                let content = std::fs::read(file.path()).expect("a file of our own");
                (file.file_name().to_string_lossy().into_owned(), content)
            })
            .collect();
        files.sort();
        files
    });
    let damaged = bytes.below(kept.len());
    for (which, (name, content)) in kept.iter().enumerate() {
        let mut content = content.clone();
        if which == damaged {
            damage(bytes, &mut content);
        }
        std::fs::write(place.join(name), content).expect("a file of our own");
    }
    match fit_kept(&data, &parameters, Some(&at(true)), &silent) {
        Ok(fit) => {
            assert!(
                fit.model.losses().iter().all(|loss| loss.is_finite()),
                "{:?}",
                fit.model.losses()
            );
            assert!(fit.representation.to_f64().iter().all(|w| w.is_finite() && *w >= 0.0));
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// Numbers, digits, cuts.
fn damage(bytes: &mut Bytes<'_>, content: &mut Vec<u8>) {
    for _ in 0..1 + bytes.below(4) {
        let at = (usize::from(bytes.byte()) << 8 | usize::from(bytes.byte())) % content.len();
        match bytes.below(3) {
            0 if at + 8 <= content.len() => {
                let value =
                    bytes.pick(&[1e200, 5e-324, f64::NAN, -1.0, f64::INFINITY, 0.0, 1e-300]);
                content[at / 8 * 8..at / 8 * 8 + 8].copy_from_slice(&value.to_le_bytes());
            }
            1 if content[at].is_ascii_digit() => content[at] = bytes.pick(b"0123456789-e."),
            _ => content[at] = bytes.byte(),
        }
    }
    if bytes.rarely(6) {
        content.truncate(usize::from(bytes.byte()) * content.len() / 256);
    }
}
