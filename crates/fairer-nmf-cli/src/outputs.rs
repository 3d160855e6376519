//! Results that are written where they were asked for.

use fairer_nmf_io::{Failure, Output};

/// Writes JSON where it was asked for, and tells the name of its file, unless that is standard
/// output.
pub fn write_json(
    output: Option<Output>,
    content: impl FnOnce() -> Vec<u8>,
) -> Result<Option<String>, Failure> {
    let Some(output) = output else { return Ok(None) };
    let name = (!output.is_stdout()).then(|| output.shown().to_owned());
    output.write(&content())?;
    Ok(name)
}
