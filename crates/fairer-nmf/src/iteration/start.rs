//! Where a run begins.

use super::run::{Begin, First};
use crate::data::power_of_two;
use crate::dictionary::Dictionary;
use crate::init::Init;
use crate::random::{Purpose, Stream};
use crate::rows::{RowStart, RowStep, Rows};
use crate::{Error, Result};
use ndarray::Array2;

/// A start given by the caller.
///
/// With `components` alone, every sample begins with its best coordinates; with
/// `representation` alone, H is random where the method does not compute it first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// H (r×n).
    pub components: Option<Array2<f64>>,
    /// W (m×r), rows in the order of the data.
    pub representation: Option<Array2<f64>>,
}

impl Start {
    /// The same for data times `unit`, and the power of two that W has taken from H: H then has the
    /// size of a random one, as what is constant inside the updates expects.
    pub(crate) fn in_own_units(&self, unit: f64) -> (Self, f64) {
        let split = match &self.components {
            Some(h) if unit != 1.0 => {
                let mean_square =
                    h.iter().map(|v| v * unit * (v * unit)).sum::<f64>() / h.len() as f64;
                // Uniform numbers on [0, 1) have a mean square of 1/3.
                if mean_square > 0.0 { power_of_two((3.0 * mean_square).sqrt()) } else { 1.0 }
            }
            _ => 1.0,
        };
        let components = self.components.as_ref().map(|h| h.mapv(|v| v * unit / split));
        let representation = self.representation.as_ref().map(|w| w * split);
        (Self { components, representation }, split)
    }

    /// Whether it fits data of (m, n).
    pub(crate) fn check(&self, (m, n): (usize, usize), rank: usize) -> Result<()> {
        let expected = [
            ("the start's components", &self.components, (rank, n)),
            ("the start's representation", &self.representation, (m, rank)),
        ];
        for (what, factor, (rows, columns)) in expected {
            let Some(factor) = factor else { continue };
            if factor.dim() != (rows, columns) {
                let (found_rows, found_columns) = factor.dim();
                return Err(Error::Shape { what, found_rows, found_columns, rows, columns });
            }
            if let Some(bad) = factor.iter().find(|v| !(v.is_finite() && **v >= 0.0)) {
                return Err(Error::Parameter {
                    name: what,
                    value: bad.to_string(),
                    expected: "entries must be finite and not negative",
                });
            }
        }
        Ok(())
    }
}

/// Begins a run of `restart`, with its W in the rows.
pub(crate) fn make(
    rows: &mut dyn Rows,
    rank: usize,
    init: &Init,
    restart: usize,
    seed: u64,
) -> Result<Begin> {
    match init {
        // A start from singular vectors is made once, before any run; what else runs begins at random.
        Init::Random | Init::Auto | Init::Nndsvd | Init::Nndsvda => {
            rows.begin(rank, RowStart::Random { seed, restart: restart as u64 })?;
            let dictionary = random_dictionary(rank, rows.features(), restart, seed);
            Ok(Begin { dictionary, first: First::Pass(RowStep::Keep), history: Vec::new() })
        }
    }
}

/// Begins a run from a given start.
pub(crate) fn given(rows: &mut dyn Rows, rank: usize, seed: u64, start: &Start) -> Result<Begin> {
    let dictionary = match &start.components {
        Some(h) => Dictionary::from_components(h.view()),
        None => random_dictionary(rank, rows.features(), 0, seed),
    };
    let (w, step) = match &start.representation {
        Some(w) => (RowStart::Given(w.view()), RowStep::Keep),
        // Every sample takes its best coordinates.
        None => (RowStart::Zero, RowStep::EXACT),
    };
    rows.begin(rank, w)?;
    Ok(Begin { dictionary, first: First::Pass(step), history: Vec::new() })
}

fn random_dictionary(rank: usize, features: usize, restart: usize, seed: u64) -> Dictionary {
    let purpose = Purpose::Components(restart as u64);
    let values = (0..features as u64)
        .flat_map(|j| {
            let mut stream = Stream::new(seed, purpose, j);
            (0..rank).map(move |_| stream.uniform())
        })
        .collect();
    Dictionary { rank, features, values }
}
