//! NumPy's `.npz`: a zip archive of `.npy` arrays; SciPy keeps sparse matrices in the same form.

use std::fs::File;
use std::io::{Cursor, Read};

use zip::read::ZipFile;

use super::archive;
use super::error::InputError;
use super::matrix::{Matrix, SparseMatrix};
use super::npy;
use super::options::Precision;
use super::room::Room;

/// Arrays that are taken for the matrix if several are there.
pub(crate) const USUAL_NAMES: [&str; 2] = ["X", "arr_0"];
/// Rows and columns that can be counted.
const MOST: i64 = i32::MAX as i64;

/// An open archive.
struct Archive<'a> {
    path: &'a str,
    room: Room<'a>,
    zip: archive::Zip<'a>,
}

/// The matrix of an archive: SciPy's sparse one, the array called `member`, or the only matrix; and how many
/// entries of a dense one were too small for f32.
pub(crate) fn read(
    room: Room<'_>,
    bytes: &[u8],
    member: Option<&str>,
    precision: Precision,
) -> Result<(Matrix, usize), InputError> {
    let path = room.path;
    let mut archive = Archive::open(room, bytes)?;
    let names = archive.names();
    let has = |name: &str| names.iter().any(|known| known == name);
    if member.is_none() && ["data", "shape", "format"].into_iter().all(has) {
        return Ok((Matrix::Sparse(archive.sparse()?), 0));
    }
    let name = match member {
        Some(member) => member.to_string(),
        None => archive.the_matrix(&names)?,
    };
    let array = archive.array(&name)?;
    let (dense, vanished) = npy::matrix(room.called(&format!("{path}:{name}")), &array, precision)?;
    Ok((Matrix::Dense(dense), vanished))
}

/// Rows and columns of the matrix of an archive, and whether f32 holds its numbers, without reading all
/// of it.
pub(crate) fn shape(path: &str, file: &File) -> Result<(usize, usize, bool), InputError> {
    let whole = |e: zip::result::ZipError| not_whole(path, &e);
    let mut zip = archive::open(std::io::BufReader::new(file)).map_err(whole)?;
    let mut start = |name: &str| -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        let member = zip.by_name(&format!("{name}.npy")).map_err(whole)?;
        member.take(1 << 16).read_to_end(&mut bytes).map_err(|e| InputError::io(path, e))?;
        Ok(bytes)
    };
    let found = match start("shape") {
        Ok(bytes) => {
            let single = npy::Header::parse(path, &start("data")?)?.is_single();
            (npy::integers(path, &bytes)?, single)
        }
        Err(_) => {
            let usual = USUAL_NAMES.iter().find_map(|name| start(name).ok());
            let bytes = usual.ok_or_else(|| InputError::Unsupported {
                path: path.into(),
                what: "neither a sparse matrix of SciPy's save_npz nor an array called X or arr_0"
                    .into(),
                fix: "a shard holds one of these".into(),
            })?;
            let header = npy::Header::parse(path, &bytes)?;
            let (rows, columns) = header.matrix_shape(path)?;
            (vec![rows as i64, columns as i64], header.is_single())
        }
    };
    match found {
        (shape, single) if shape.len() == 2 && shape.iter().all(|n| (1..=MOST).contains(n)) => {
            Ok((shape[0] as usize, shape[1] as usize, single))
        }
        _ => Err(InputError::damaged(
            path,
            "its shape does not have two positive numbers below 2^31",
        )),
    }
}

/// One array of an archive as group labels.
pub(crate) fn labels(
    room: Room<'_>,
    bytes: &[u8],
    member: Option<&str>,
) -> Result<Vec<String>, InputError> {
    let path = room.path;
    let mut archive = Archive::open(room, bytes)?;
    let names = archive.names();
    let name = match (member, &names[..]) {
        (Some(member), _) => member,
        (None, [only]) => only,
        (None, _) => {
            return Err(InputError::WhichArray {
                path: path.into(),
                what: "has several arrays".into(),
                arrays: names,
            });
        }
    };
    let array = archive.array(name)?;
    npy::labels(&format!("{path}:{name}"), &array)
}

impl<'a> Archive<'a> {
    fn open(room: Room<'a>, bytes: &'a [u8]) -> Result<Self, InputError> {
        let path = room.path;
        let zip = archive::open(Cursor::new(bytes)).map_err(|e| not_whole(path, &e))?;
        Ok(Archive { path, room, zip })
    }

    fn names(&self) -> Vec<String> {
        let names = self.zip.file_names();
        let arrays = names.filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_string()));
        let mut names: Vec<String> = arrays.collect();
        names.sort();
        names
    }

    /// The only matrix, or the one with a usual name.
    fn the_matrix(&mut self, names: &[String]) -> Result<String, InputError> {
        let mut matrices = Vec::new();
        for name in names {
            // An array of another kind (objects, say) may lie beside the matrix. Its header is
            // enough: thousands of arrays may share one packed piece.
            let head = self.head(name)?;
            if npy::Header::parse(self.path, &head).is_ok_and(|header| header.is_matrix()) {
                matrices.push(name.clone());
            }
        }
        let usual = USUAL_NAMES.iter().find(|name| matrices.iter().any(|m| m == *name));
        match (usual, &matrices[..]) {
            (Some(usual), _) => Ok(usual.to_string()),
            (None, [only]) => Ok(only.clone()),
            (None, several) => Err(InputError::WhichArray {
                path: self.path.into(),
                what: match several {
                    [] => "has no two-dimensional array of numbers".into(),
                    _ => "has several matrices and none called X or arr_0".into(),
                },
                arrays: names.to_vec(),
            }),
        }
    }

    /// The bytes of one array.
    fn array(&mut self, name: &str) -> Result<Vec<u8>, InputError> {
        let (path, room) = (self.path, self.room);
        let file = self.member(name)?;
        room.read(file, format!("unpacks its array `{name}`"), |_, e| broken(path, name, e))
    }

    /// The first bytes of one array, its header among them.
    fn head(&mut self, name: &str) -> Result<Vec<u8>, InputError> {
        let path = self.path;
        let mut bytes = Vec::new();
        let read = self.member(name)?.take(npy::LONGEST_HEADER).read_to_end(&mut bytes);
        read.map_err(|e| broken(path, name, e))?;
        Ok(bytes)
    }

    fn member(&mut self, name: &str) -> Result<ZipFile<'_, archive::Bytes<'a>>, InputError> {
        let path = self.path;
        let Some(index) = self.zip.index_for_name(&format!("{name}.npy")) else {
            return Err(InputError::WhichArray {
                path: path.into(),
                what: format!("has no array `{name}`"),
                arrays: self.names(),
            });
        };
        self.zip.by_index(index).map_err(|e| broken(path, name, e))
    }

    /// SciPy's `save_npz`: data, indices, indptr, shape, format.
    fn sparse(&mut self) -> Result<SparseMatrix, InputError> {
        let path = self.path;
        let wrong = |what: &str| InputError::damaged(path, what);
        let format = npy::strings(path, &self.array("format")?)?.concat();
        let by_row = match format.as_str() {
            "csr" => true,
            "csc" => false,
            other => {
                return Err(InputError::Unsupported {
                    path: path.into(),
                    what: format!("a sparse matrix in the form {other}"),
                    fix: "save it from SciPy after .tocsr() or .tocsc()".into(),
                });
            }
        };
        let mut size = |name: &str| npy::integers(path, &self.array(name)?);
        let (shape, indptr, indices) = (size("shape")?, size("indptr")?, size("indices")?);
        let values = npy::numbers(path, &self.array("data")?)?;
        let [rows, cols] = shape[..] else {
            return Err(wrong("its shape does not have two numbers"));
        };
        let fits = |n: i64| (0..=MOST).contains(&n);
        if !fits(rows) || !fits(cols) {
            return Err(wrong("its shape is negative or above 2^31"));
        }
        if rows == 0 || cols == 0 {
            let what = format!("its shape is {rows} × {cols}");
            return Err(InputError::Empty { path: path.into(), what });
        }
        let (lines, across) = if by_row { (rows, cols) } else { (cols, rows) };
        let rising = indptr.windows(2).all(|pair| pair[0] <= pair[1]);
        if indptr.len() as i64 != lines + 1
            || indptr.first() != Some(&0)
            || indptr.last() != Some(&(indices.len() as i64))
            || indices.len() != values.len()
            || !rising
            || !indices.iter().all(|index| (0..across).contains(index))
        {
            return Err(wrong("its indptr, indices and data do not fit together"));
        }
        let mut entries = self.room.empty(values.len())?;
        for (line, bounds) in indptr.windows(2).enumerate() {
            for at in bounds[0] as usize..bounds[1] as usize {
                let (line, across) = (line as u32, indices[at] as u32);
                let (row, col) = if by_row { (line, across) } else { (across, line) };
                entries.push((row, col, values[at]));
            }
        }
        SparseMatrix::from_entries(self.room, rows as usize, cols as usize, &entries)
    }
}

/// An archive that ends too early, or is none.
pub(crate) fn not_whole(path: &str, why: &dyn std::fmt::Display) -> InputError {
    InputError::damaged(path, format!("it is not a whole zip archive ({why})"))
}

fn broken(path: &str, name: &str, why: impl std::fmt::Display) -> InputError {
    InputError::damaged(path, format!("its array `{name}`: {why}"))
}
