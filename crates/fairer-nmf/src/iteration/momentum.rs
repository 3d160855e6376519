//! Looking ahead: a dictionary extrapolated along its last step.

use crate::data::power_of_two;
use crate::dictionary::Dictionary;
use serde::{Deserialize, Serialize};

/// How far from 1 the largest entry of H may go, either way.
const FAR: f64 = (1_u64 << 32) as f64;

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

    /// The power of two that brings H back near 1 where its largest entry has gone far from it.
    ///
    /// W shrinks as H grows and no objective sees it, so that looking further ahead than the last step lets both run away:
    /// after some 130 iterations out of what f32 holds.
    pub fn way_back(h: &Dictionary) -> Option<f64> {
        let largest = h.largest();
        let is_far = largest > FAR || (largest > 0.0 && largest < 1.0 / FAR);
        is_far.then(|| power_of_two(1.0 / largest))
    }

    pub fn take_back(&mut self) {
        self.limit = self.reach;
        self.reach *= 0.6;
        self.looked_ahead = false;
    }
}
