//! A fuzzer's bytes as a row of choices, so that most inputs are valid up to a few slips.

use fairer_nmf_io::{InputLimit, Missing, Precision, ReadOptions};

/// Choices, taken from the front of the fuzzer's bytes; zeros when they are used up.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// True for one byte in `odds`.
    pub fn rarely(&mut self, odds: u8) -> bool {
        self.byte() % odds == odds - 1
    }

    pub fn some(&mut self, most: usize) -> &'a [u8] {
        let count = self.below(most + 1).min(self.0.len());
        let (now, rest) = self.0.split_at(count);
        self.0 = rest;
        now
    }

    pub fn number(&mut self) -> String {
        let digits = self.byte();
        match self.below(12) {
            0 => "0".into(),
            1 => format!("{digits}e{}", self.byte() as i8),
            2 => format!("-{digits}"),
            3 => format!("0.{digits}"),
            4 => self.pick(&["inf", "NaN", "1e999", "5e-324", "0x1", "1,5", "+1", "."]).into(),
            5 => format!(" {digits} "),
            _ => digits.to_string(),
        }
    }

    pub fn word(&mut self) -> String {
        match self.below(8) {
            0 => String::new(),
            1 => String::from_utf8_lossy(self.some(12)).into_owned(),
            2 => self
                .pick(&["?", "NA", "a b", "é", "\"", "x,y", "\n", "-", "|", "=", "\u{feff}"])
                .into(),
            _ => self.pick(&["a", "b", "c", "d", "ab", "sex", "age", "word"]).into(),
        }
    }

    /// Changes a byte here and there, or cuts the end off: one input in eight.
    pub fn slip(&mut self, content: &mut Vec<u8>) {
        if !self.rarely(8) || content.is_empty() {
            return;
        }
        for _ in 0..self.below(4) {
            let at = (usize::from(self.byte()) << 8 | usize::from(self.byte())) % content.len();
            content[at] = self.byte();
        }
        if self.rarely(3) {
            content.truncate(usize::from(self.byte()) % content.len());
        }
    }

    pub fn options(&mut self) -> ReadOptions {
        ReadOptions::default().with(|o| {
            o.missing = if self.rarely(3) { Missing::DropRows } else { Missing::Error };
            o.precision = self.pick(&[Precision::Stored, Precision::F32, Precision::F64]);
            o.limit = InputLimit::bytes(1 << 22);
        })
    }
}
