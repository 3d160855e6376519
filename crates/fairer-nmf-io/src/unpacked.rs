//! Packed arrays (`.npz`) that are too large to be read as a whole, again and again: unpacked once, each into a file of its own.

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::archive::{self, Zip};
use super::cache::{Cache, Making};
use super::error::InputError;
use super::npz::not_whole;
use super::options::Format;
use super::room::{InputLimit, Room};
use super::{npy, npz, shards};

/// Of the memory that a fit may take, what the arrays of one archive take at the most to stay as they are: three are in memory at
/// a time, each in several forms while it is unpacked.
const PARTS_OF_MEMORY: usize = 64;
/// Bytes that are unpacked at a time.
const AT_ONCE: usize = 1 << 16;
const SPARSE: [&str; 4] = ["data.npy", "indices.npy", "indptr.npy", "shape.npy"];

/// Where rows are that were packed.
pub(crate) struct Unpacked {
    /// In the order of rows; shards that were not packed are where they were.
    pub(crate) shards: Vec<String>,
    pub(crate) folder: String,
    pub(crate) reused: bool,
}

/// The rows of an archive or of a folder of shards, where an archive is too large to be read as a whole.
pub(crate) fn unpacked(
    path: &str,
    memory: usize,
    limit: InputLimit,
    watch: &dyn Fn(usize) -> bool,
) -> Result<Option<Unpacked>, InputError> {
    let in_folder = Format::of(path) == Some(Format::Folder);
    let files = match Format::of(path) {
        Some(Format::Npz) => vec![path.to_owned()],
        // What is wrong with it is said by those who open it; archives beside three arrays are not opened.
        Some(Format::Folder) if !shards::has_arrays(path) => {
            shards::in_folder(path).unwrap_or_default()
        }
        _ => return Ok(None),
    };
    let packed = files.iter().filter(|file| Format::of(file) == Some(Format::Npz));
    let archives = packed.map(|file| Archive::look(file)).collect::<Result<Vec<_>, _>>()?;
    // What is not understood is said by those who read it as a whole.
    let archives: Vec<Archive> =
        archives.into_iter().filter(|archive| !archive.arrays.is_empty()).collect();
    if archives.iter().all(|archive| archive.bytes <= (memory / PARTS_OF_MEMORY) as u64) {
        return Ok(None);
    }
    // Numbers tell `a.npz` from `a.NPZ`, and from what else is in a cache.
    let place = |at: usize| match Path::new(&archives[at].path).file_stem() {
        Some(name) if in_folder => PathBuf::from(format!("{at:05}-{}", name.display())),
        _ => PathBuf::new(),
    };
    let parts = archives.iter().enumerate().flat_map(|(at, archive)| {
        archive.arrays.iter().map(move |name| place(at).join(name).display().to_string())
    });
    let parts: Vec<String> = parts.collect();
    let sources = archives.iter().map(|archive| archive.path.clone()).collect();
    let cache = Cache::of(path, sources, serde_json::json!({"unpacked": parts}))?;
    let reused = cache.kept::<()>().is_some();
    if !reused {
        let making = cache.begin()?;
        for (at, archive) in archives.iter().enumerate() {
            archive.unpack(&cache.folder().join(place(at)), limit, &making, watch)?;
        }
        making.finish(&parts, ())?;
    }
    let shards = files.iter().map(|file| {
        let archive = archives.iter().position(|archive| archive.path == *file);
        let unpacked = archive.map(|at| cache.folder().join(place(at)));
        unpacked.map_or(file.clone(), |folder| folder.display().to_string())
    });
    let folder = cache.folder().display().to_string();
    Ok(Some(Unpacked { shards: shards.collect(), folder, reused }))
}

/// An archive, and what of it makes the matrix.
struct Archive {
    path: String,
    arrays: Vec<String>,
    /// Of the arrays, unpacked.
    bytes: u64,
}

impl Archive {
    fn look(path: &str) -> Result<Self, InputError> {
        let mut zip = open(path)?;
        let names: Vec<String> =
            zip.file_names().filter_map(|name| Some(name.ok()?.to_string())).collect();
        let arrays: Vec<String> = match SPARSE {
            sparse if sparse.iter().all(|name| names.iter().any(|n| n == name)) => {
                sparse.map(str::to_owned).to_vec()
            }
            _ => {
                let usual = npz::USUAL_NAMES.map(|name| format!("{name}.npy"));
                usual.into_iter().filter(|usual| names.contains(usual)).take(1).collect()
            }
        };
        let mut bytes = 0;
        for name in &arrays {
            bytes += zip.by_name(name).map_err(|e| not_whole(path, &e))?.size();
        }
        Ok(Self { path: path.to_owned(), arrays, bytes })
    }

    fn unpack(
        &self,
        folder: &Path,
        limit: InputLimit,
        making: &Making<'_>,
        watch: &dyn Fn(usize) -> bool,
    ) -> Result<(), InputError> {
        let mut zip = open(&self.path)?;
        match &self.arrays[..] {
            [dense] => {
                is_by_rows(&self.path, zip.by_name(dense).map_err(|e| not_whole(&self.path, &e))?)?
            }
            _ => is_csr(&self.path, &mut zip)?,
        }
        fs::create_dir_all(folder).map_err(|e| making.failed(e))?;
        let stored = fs::metadata(&self.path).map_or(0, |about| about.len() as usize);
        let room = Room::on_disk(&self.path, stored, limit);
        let (mut some, mut written) = (vec![0; AT_ONCE], 0);
        for name in &self.arrays {
            let mut array = zip.by_name(name).map_err(|e| not_whole(&self.path, &e))?;
            let mut file = File::create(folder.join(name)).map_err(|e| making.failed(e))?;
            loop {
                let read = array.read(&mut some).map_err(|e| {
                    InputError::damaged(&self.path, format!("its array {name}: {e}"))
                })?;
                if read == 0 {
                    break;
                }
                if !watch(0) {
                    return Err(InputError::Stopped { path: self.path.clone() });
                }
                // An archive of a few bytes can be a disk full of zeros.
                written += read as u64;
                if written > room.most() {
                    return Err(room.too_large(format!("unpacks its array `{name}`"), None));
                }
                file.write_all(&some[..read]).map_err(|e| making.failed(e))?;
            }
        }
        Ok(())
    }
}

fn open(path: &str) -> Result<Zip<'static>, InputError> {
    let file = File::open(path).map_err(|e| InputError::io(path, e))?;
    archive::open(BufReader::new(file)).map_err(|e| not_whole(path, &e))
}

/// The first bytes of an array, its header among them.
fn head(path: &str, array: impl Read) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    array
        .take(npy::LONGEST_HEADER)
        .read_to_end(&mut bytes)
        .map_err(|e| InputError::damaged(path, e))?;
    Ok(bytes)
}

/// What is wrong with an array otherwise is said by those who open it.
fn is_by_rows(path: &str, array: impl Read) -> Result<(), InputError> {
    match npy::Header::parse(path, &head(path, array)?) {
        Ok(header) if header.fortran => Err(InputError::Unsupported {
            path: path.into(),
            what: "a matrix in column order, whose rows do not lie together".into(),
            fix:
                "save it with numpy.savez(path, X=numpy.ascontiguousarray(X)), or give more memory"
                    .into(),
        }),
        _ => Ok(()),
    }
}

fn is_csr(path: &str, zip: &mut Zip<'_>) -> Result<(), InputError> {
    let Ok(format) = zip.by_name("format.npy") else { return Ok(()) };
    let bytes = head(path, format)?;
    match npy::strings(path, &bytes)?.concat().as_str() {
        "csr" => Ok(()),
        other => Err(InputError::Unsupported {
            path: path.into(),
            what: format!("a sparse matrix in the form {other}, whose rows do not lie together"),
            fix: "save it from SciPy after .tocsr()".into(),
        }),
    }
}
