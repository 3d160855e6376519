//! What a checkpoint belongs to: parameters, groups, a digest of all entries, which other data, or the same rows in another order, do
//! not have, and sums over all rows with random weights, which the same entries with other factors do not have.

use crate::Result;
use crate::dictionary::Dictionary;
use crate::number::Number;
use crate::parameters::Parameters;
use crate::rows::{RowStart, RowStep, Rows};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The seed of the weights: any, but always the same.
const SEED: u64 = 0x636b_7074;
/// How far sums may be apart, in units of the error that statistics are trusted with: another holder
/// of the same rows adds in another order.
const APART: f64 = 1e-2;

/// A fit, recognised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    parameters: Value,
    groups: Vec<(String, usize)>,
    features: usize,
    digest: u64,
    /// Whether the numbers are of single precision.
    single: bool,
    /// Of every group one number a feature.
    sums: Vec<Vec<f64>>,
}

/// By way of text: what turns parameters into text is there already, for the file.
fn as_value(parameters: &Parameters) -> serde_json::Result<Value> {
    serde_json::from_slice(&serde_json::to_vec(parameters)?)
}

impl Fingerprint {
    /// Reads the rows twice.
    pub fn new(rows: &dyn Rows, parameters: &Parameters) -> Result<Self> {
        let mut own = rows.apart();
        own.begin(1, RowStart::Random { seed: SEED, restart: 0 })?;
        let mut h = Dictionary::zero(1, rows.features());
        // Cells that are unobserved are then filled with the weights of their rows, which zeros are not.
        if !rows.is_complete() {
            h.values.fill(1.0);
        }
        let found = own.pass(&h, RowStep::Keep)?;
        let mut parameters = as_value(parameters).unwrap_or(Value::Null);
        // The time that a fit may take says nothing of its model.
        if let Some(limit) = parameters.pointer_mut("/stopping/time_limit") {
            *limit = Value::Null;
        }
        // In the user's units, so that a holder with others is recognised.
        let plain = |cross: Vec<f64>| cross.iter().map(|c| c / rows.unit()).collect();
        Ok(Self {
            parameters,
            groups: rows.groups().iter().map(|g| (g.name.clone(), g.rows)).collect(),
            features: rows.features(),
            digest: rows.digest()?,
            single: rows.trusted_squared_error() > f64::TRUSTED_SQUARED_ERROR,
            sums: found.into_iter().map(|s| plain(s.cross)).collect(),
        })
    }

    /// Why another fit is not this one; none where it is.
    pub fn difference(&self, now: &Self, rows: &dyn Rows) -> Option<String> {
        let advice =
            "go on with what the checkpoint was begun with, or begin anew without resuming";
        if let (Value::Object(then), Value::Object(is)) = (&self.parameters, &now.parameters) {
            for (name, then) in then {
                let is = is.get(name).unwrap_or(&Value::Null);
                if then != is {
                    return Some(format!("{name} was {then} and is {is} now: {advice}"));
                }
            }
        }
        if self.features != now.features || self.groups != now.groups {
            let of = |f: &Self| {
                let rows: usize = f.groups.iter().map(|g| g.1).sum();
                format!("{rows} rows in {} groups of {} features", f.groups.len(), f.features)
            };
            let (then, is) = (of(self), of(now));
            return Some(match then == is {
                true => format!("the rows are in other groups than then: {advice}"),
                false => format!("the data were {then} and are {is} now: {advice}"),
            });
        }
        if self.single != now.single {
            let of = |f: &Self| if f.single { "single" } else { "double" };
            let (then, is) = (of(self), of(now));
            return Some(format!("the data had {then} precision and have {is} now: {advice}"));
        }
        let far = APART * rows.trusted_squared_error();
        let alike = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            let size = a.iter().fold(0.0_f64, |size, v| size.max(v.abs()));
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= far * size)
        };
        let same = self.digest == now.digest && self.sums.iter().zip(&now.sums).all(alike);
        (!same).then(|| format!("the numbers in the data are not those of then: {advice}"))
    }
}
