//! Numbers as tables and sentences show them.

/// Rounded down, so that what is said of a bound stays true.
#[must_use]
pub fn four_digits_below(bound: f64) -> String {
    four_digits((bound * 1e4).floor() / 1e4)
}

/// Four digits after the point, as every table has them; never "-0.0000".
#[must_use]
pub fn four_digits(value: f64) -> String {
    let digits = format!("{value:.4}");
    if digits == "-0.0000" { "0.0000".to_owned() } else { digits }
}
