//! Looking ahead: a dictionary extrapolated along its last step.

use crate::dictionary::Dictionary;
use serde::{Deserialize, Serialize};

/// How far to look ahead: further while it helps, less after it did not.
#[derive(Clone, Serialize, Deserialize)]
pub struct Momentum {
    reach: f64,
    limit: f64,
    pub looked_ahead: bool,
}

impl Momentum {
    pub fn new() -> Self {
        Self { reach: 0.5, limit: 1.0, looked_ahead: false }
    }

    /// H + reach·(H − H_last), kept non-negative.
    pub fn ahead(&mut self, h: &Dictionary, last: Option<&Dictionary>) -> Dictionary {
        let mut ahead = h.clone();
        let Some(last) = last else { return ahead };
        for (a, l) in ahead.values.iter_mut().zip(&last.values) {
            *a = (*a + self.reach * (*a - l)).max(0.0);
        }
        self.looked_ahead = true;
        self.reach = (self.reach * 1.05).min(self.limit);
        self.limit = (self.limit * 1.01).min(10.0);
        ahead
    }

    pub fn take_back(&mut self) {
        self.limit = self.reach;
        self.reach *= 0.6;
        self.looked_ahead = false;
    }
}
