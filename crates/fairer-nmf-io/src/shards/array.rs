//! Files that are read part by part, and must stay what they were when they were opened.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::SystemTime;

use fairer_nmf::Error;
use fairer_nmf::data::Element;

use crate::error::InputError;
use crate::npy::Header;

/// Where a NumPy header has ended.
const HEADER: u64 = 1 << 16;

/// A file as it was when it was opened.
#[derive(Clone)]
pub(super) struct Stamp {
    pub(super) path: String,
    pub(super) length: u64,
    written: Option<SystemTime>,
}

impl Stamp {
    pub(super) fn open(path: &str) -> Result<(File, Self), InputError> {
        let file = File::open(path).map_err(|e| InputError::io(path, e))?;
        let about = file.metadata().map_err(|e| InputError::io(path, e))?;
        let (length, written) = (about.len(), about.modified().ok());
        Ok((file, Self { path: path.into(), length, written }))
    }

    /// The file, if it is what it was.
    pub(super) fn again(&self) -> Result<File, Error> {
        let file = File::open(&self.path).map_err(|e| self.lost(&e.to_string()))?;
        let about = file.metadata().map_err(|e| self.lost(&e.to_string()))?;
        if about.len() != self.length {
            let (was, now) = (self.length, about.len());
            return Err(
                self.lost(&format!("it had {was} bytes when the fit began and has {now} now"))
            );
        }
        if about.modified().ok() != self.written {
            return Err(self.lost("it was written to after the fit began"));
        }
        Ok(file)
    }

    pub(super) fn lost(&self, why: &str) -> Error {
        let path = &self.path;
        Error::Rows {
            reason: format!(
                "{path} changed during the fit: {why}; start again with files that stay as they are"
            ),
        }
    }
}

/// Appends numbers in the wanted type; returns how many are too small for it.
pub(super) fn narrowed<T: Element>(numbers: impl Iterator<Item = f64>, into: &mut Vec<T>) -> usize {
    let mut vanished = 0;
    into.extend(numbers.map(|number| {
        let kept = T::from_f64(number);
        vanished += usize::from(number != 0.0 && kept.to_f64() == 0.0);
        kept
    }));
    vanished
}

/// An array in a `.npy`.
#[derive(Clone)]
pub(super) struct Array {
    pub(super) stamp: Stamp,
    pub(super) header: Header,
}

impl Array {
    pub(super) fn open(path: &str) -> Result<Self, InputError> {
        let (mut file, stamp) = Stamp::open(path)?;
        let mut start = Vec::new();
        (&mut file).take(HEADER).read_to_end(&mut start).map_err(|e| InputError::io(path, e))?;
        let header = Header::parse(path, &start)?;
        let length = stamp.length;
        if header.end().is_none_or(|end| end > length) {
            let promised = format!("its header promises the shape {:?}", header.shape);
            return Err(InputError::damaged(
                path,
                format!("{promised}, but it has {length} bytes"),
            ));
        }
        Ok(Self { stamp, header })
    }

    /// Number of elements of an array in one dimension.
    pub(super) fn len(&self) -> Result<usize, InputError> {
        match self.header.shape[..] {
            [len] => Ok(len),
            _ => Err(InputError::damaged(
                &self.stamp.path,
                format!("its shape is {:?}, where one dimension is expected", self.header.shape),
            )),
        }
    }

    fn raw(&self, first: usize, room: &mut [u8]) -> Result<(), Error> {
        let mut file = self.stamp.again()?;
        let at = self.header.offset() as u64 + first as u64 * self.header.width() as u64;
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(room));
        read.map_err(|e| self.stamp.lost(&e.to_string()))
    }

    /// Elements as numbers of the wanted type; returns how many are too small for it.
    pub(super) fn numbers<T: Element>(
        &self,
        first: usize,
        count: usize,
        into: &mut Vec<T>,
    ) -> Result<usize, Error> {
        if self.header.is_plain::<T>() {
            into.resize(count, T::default());
            return self.raw(first, bytemuck::cast_slice_mut(into)).map(|()| 0);
        }
        into.clear();
        let mut vanished = 0;
        self.each(first, count, |some| vanished += narrowed(some.into_iter(), into))?;
        Ok(vanished)
    }

    /// Elements as column numbers.
    pub(super) fn columns(
        &self,
        first: usize,
        count: usize,
        into: &mut Vec<i32>,
    ) -> Result<(), Error> {
        if self.header.is_plain_i32() {
            into.resize(count, 0);
            return self.raw(first, bytemuck::cast_slice_mut(into));
        }
        into.clear();
        // A number that is none of a column becomes -1, which is refused.
        let column = |v: f64| if (0.0..=f64::from(i32::MAX)).contains(&v) { v as i32 } else { -1 };
        self.each(first, count, |some| into.extend(some.into_iter().map(column)))
    }

    /// Elements as f64, in which whole numbers below 2^53 are exact.
    pub(super) fn converted(&self, first: usize, count: usize) -> Result<Vec<f64>, Error> {
        let mut all = Vec::with_capacity(count);
        self.each(first, count, |some| all.extend(some))?;
        Ok(all)
    }

    fn each(&self, first: usize, count: usize, visit: impl FnMut(Vec<f64>)) -> Result<(), Error> {
        let mut raw = vec![0; count * self.header.width()];
        self.raw(first, &mut raw)?;
        let lost = |e: InputError| self.stamp.lost(&e.to_string());
        self.header.converted(&self.stamp.path, &raw).map_err(lost)?.for_each(visit);
        Ok(())
    }
}
