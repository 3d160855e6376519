//! Cells of many columns in one file without a name, column after column, to be read side by side: the pages of a column, some megabytes, are
//! in memory while it is written, and no more than a few bytes of every column while all of them are read.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

use super::cells::Cell;

/// Of the memory that may be taken, what the parts of all columns take that are read at a time; of one column at the least and at the most.
const PARTS_OF_MEMORY: usize = 8;
const LEAST: usize = 512;
const MOST: usize = 1 << 16;

const MISSING: u8 = 0;
const NUMBER: u8 = 1;
const WORD: u8 = 2;

/// What is written.
pub(super) struct Spool {
    file: Rc<File>,
    into: BufWriter<File>,
    /// Where the column began that is written.
    begun: u64,
    /// Bytes of a column that are read at a time.
    at_once: usize,
}

impl Spool {
    pub(super) fn new(columns: usize, memory: usize) -> std::io::Result<Self> {
        let file = tempfile::tempfile()?;
        let into = BufWriter::with_capacity(MOST, file.try_clone()?);
        let at_once = (memory / PARTS_OF_MEMORY / columns.max(1)).clamp(LEAST, MOST);
        Ok(Self { file: Rc::new(file), into, begun: 0, at_once })
    }

    /// Adds cells to the column that is written.
    pub(super) fn write(&mut self, cells: &[Cell]) -> std::io::Result<()> {
        for cell in cells {
            match cell {
                Cell::Missing => self.into.write_all(&[MISSING])?,
                Cell::Number(value) => {
                    self.into.write_all(&[NUMBER])?;
                    self.into.write_all(&value.to_le_bytes())?;
                }
                Cell::Word(word) => {
                    self.into.write_all(&[WORD])?;
                    self.into.write_all(&(word.len() as u64).to_le_bytes())?;
                    self.into.write_all(word.data())?;
                }
            }
        }
        Ok(())
    }

    /// Ends a column; it is read once all of them are written.
    pub(super) fn end_column(&mut self) -> std::io::Result<Spooled> {
        let end = self.into.stream_position()?;
        let part = Part { file: Rc::clone(&self.file), at: self.begun, end };
        self.begun = end;
        self.into.flush()?;
        Ok(Spooled(BufReader::with_capacity(self.at_once, part)))
    }
}

/// A column that was written.
pub(super) struct Spooled(BufReader<Part>);

impl Spooled {
    /// Its next cell.
    pub(super) fn next(&mut self) -> std::io::Result<Cell> {
        let mut kind = [0];
        self.0.read_exact(&mut kind)?;
        if kind[0] == MISSING {
            return Ok(Cell::Missing);
        }
        let mut bytes = [0; 8];
        self.0.read_exact(&mut bytes)?;
        if kind[0] == NUMBER {
            return Ok(Cell::Number(f64::from_le_bytes(bytes)));
        }
        let mut word = vec![0; u64::from_le_bytes(bytes) as usize];
        self.0.read_exact(&mut word)?;
        Ok(Cell::Word(word.into()))
    }
}

/// Some bytes of a file, of which others are read in between.
struct Part {
    file: Rc<File>,
    at: u64,
    end: u64,
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(into.len());
        (&*self.file).seek(SeekFrom::Start(self.at))?;
        let read = (&*self.file).read(&mut into[..left])?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back_side_by_side() {
        let mut spool = Spool::new(3, 0).unwrap();
        let long = "long ".repeat(1000).into_bytes();
        let columns = [
            (0..3000).map(|i| Cell::Number(f64::from(i) / 7.0)).collect::<Vec<_>>(),
            (0..3000)
                .map(|i| if i % 2 == 0 { Cell::Missing } else { Cell::Number(-1.5) })
                .collect(),
            (0..3000)
                .map(|i| match i % 300 {
                    0 => Cell::Word(long.clone().into()),
                    1 => Cell::Word(Vec::new().into()),
                    _ => Cell::Word(i.to_string().into_bytes().into()),
                })
                .collect(),
        ];
        let written = columns.iter().map(|column| {
            column.chunks(100).for_each(|some| spool.write(some).unwrap());
            spool.end_column().unwrap()
        });
        let mut written: Vec<Spooled> = written.collect();
        for row in 0..3000 {
            for (column, spooled) in columns.iter().zip(&mut written) {
                assert_eq!(spooled.next().unwrap(), column[row]);
            }
        }
        assert!(written.iter_mut().all(|spooled| spooled.next().is_err()), "all of it was read");
    }
}
