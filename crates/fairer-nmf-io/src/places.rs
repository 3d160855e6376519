//! Where the rows of a matrix stand in their file.

/// Maps rows to records and lines; stored as runs, because most files have one line a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    runs: Vec<Run>,
}

/// Rows from `row` on are the records from `record` on, one a line from `line` on.
#[derive(Debug, Clone, Copy)]
struct Run {
    row: usize,
    record: usize,
    line: u64,
}

impl Run {
    fn at(&self, row: usize) -> (usize, u64) {
        let ahead = row - self.row;
        (self.record + ahead, self.line + ahead as u64)
    }
}

impl Places {
    /// Row `row` (rising) is record `record` of the file, on line `line`.
    pub(crate) fn push(&mut self, row: usize, record: usize, line: u64) {
        let expected = self.runs.last().map(|run| run.at(row));
        if expected != Some((record, line)) {
            self.runs.push(Run { row, record, line });
        }
    }

    /// Appends the places of a later part of the file, `rows`, `records` and `lines` further on.
    pub(crate) fn append(&mut self, later: &Places, rows: usize, records: usize, lines: u64) {
        for run in &later.runs {
            self.push(run.row + rows, run.record + records, run.line + lines);
        }
    }

    /// Record and line of a row.
    pub(crate) fn find(&self, row: usize) -> Option<(usize, u64)> {
        let after = self.runs.partition_point(|run| run.row <= row);
        Some(self.runs.get(after.checked_sub(1)?)?.at(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_find_their_records_and_lines_across_gaps() {
        let mut places = Places::default();
        places.push(0, 0, 2);
        places.push(1, 1, 3);
        places.push(2, 3, 5);
        let mut later = Places::default();
        later.push(0, 0, 0);
        places.append(&later, 3, 4, 9);
        assert_eq!(places.runs.len(), 3);
        let found: Vec<_> = (0..4).filter_map(|row| places.find(row)).collect();
        assert_eq!(found, [(0, 2), (1, 3), (3, 5), (4, 9)]);
    }
}
