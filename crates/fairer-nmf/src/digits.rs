//! Numbers as tables and sentences show them.

/// Rounded down, so that what is said of a bound stays true.
#[must_use]
pub fn four_digits_below(bound: f64) -> String {
    four_digits((bound * 1e4).floor() / 1e4)
}

/// Numbers with four digits after the point, or with as many as it takes to tell two of them apart; what differs by less than
/// the eighth is rounding.
pub fn told_apart(low: f64, high: f64) -> impl Fn(f64) -> String {
    let with = |digits: usize| move |value: f64| without_sign(format!("{value:.digits$}"));
    let told = |digits: &usize| low == high || with(*digits)(low) != with(*digits)(high);
    with((4..=8).find(told).unwrap_or(4))
}

/// Four digits after the point, as every table has them; never "-0.0000".
#[must_use]
pub fn four_digits(value: f64) -> String {
    without_sign(format!("{value:.4}"))
}

/// Zero has no sign.
fn without_sign(digits: String) -> String {
    let is_zero = !digits.contains(|digit: char| ('1'..='9').contains(&digit));
    match digits.strip_prefix('-') {
        Some(zero) if is_zero => zero.to_owned(),
        _ => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_of_next_to_nothing_is_a_band() {
        let shown = |low: f64, high: f64| [low, high].map(told_apart(low, high));
        assert_eq!(shown(0.000_01, 0.000_03), ["0.00001", "0.00003"]);
        assert_eq!(shown(0.012, 0.03), ["0.0120", "0.0300"]);
        assert_eq!(shown(0.0, 0.0), ["0.0000", "0.0000"]);
        assert_eq!(shown(-1e-12, 1e-12), ["0.0000", "0.0000"]);
        assert_eq!([-0.000_01, f64::NAN].map(four_digits), ["0.0000", "NaN"]);
    }
}
