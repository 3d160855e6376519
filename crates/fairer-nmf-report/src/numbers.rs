//! Numbers as the page shows them: percent with as many decimals as the
//! losses of this report need, one choice for the whole report.

use crate::content::Report;

/// Shown for a number that does not exist.
pub const NONE: &str = "–";

/// Decimals of a percentage, the same all over one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percent {
    /// Digits after the point.
    pub decimals: usize,
}

impl Percent {
    /// One decimal when losses reach 3 %, two from 0.3 %, else three.
    pub fn for_report(report: &Report) -> Self {
        let losses = report.who_pays.groups.iter().flat_map(|g| &g.results);
        let largest = losses.map(|r| r.loss.abs()).filter(|l| l.is_finite()).fold(0.0, f64::max);
        let decimals = match largest {
            l if l >= 0.03 || l == 0.0 => 1,
            l if l >= 0.003 => 2,
            _ => 3,
        };
        Percent { decimals }
    }

    /// `0.106` as `10.6 %`.
    pub fn show(self, fraction: f64) -> String {
        match finite(fraction) {
            Some(f) => format!("{}\u{a0}%", minus(&fixed(100.0 * f, self.decimals))),
            None => NONE.into(),
        }
    }

    /// Rounded down to the digits shown: what is said to hold has to hold at them.
    pub fn below(self, fraction: f64) -> f64 {
        let unit = 10f64.powi(2 + self.decimals as i32);
        // A number that has these digits already is not lowered by its last bit.
        (fraction * unit + 1e-9).floor() / unit
    }

    /// Rounded up to the digits shown, for what is said to be at most so much.
    pub fn above(self, fraction: f64) -> f64 {
        -self.below(-fraction)
    }

    /// With as many decimals as it takes to tell two fractions apart; what differs by less than the last is rounding.
    pub fn telling(self, a: f64, b: f64) -> Self {
        const MOST: usize = 6;
        let told = |percent: &Self| a == b || !percent.same(a, b);
        (self.decimals..=MOST).map(|decimals| Self { decimals }).find(told).unwrap_or(self)
    }

    /// The number alone, for table columns whose heading says percent.
    pub fn bare(self, fraction: f64) -> String {
        match finite(fraction) {
            Some(f) => minus(&fixed(100.0 * f, self.decimals)),
            None => NONE.into(),
        }
    }

    /// A difference with its sign, without a unit: `+1.2`.
    pub fn signed(self, fraction: f64) -> String {
        let text = self.bare(fraction);
        let zero = !text.contains(|c: char| ('1'..='9').contains(&c));
        if fraction > 0.0 && !zero { format!("+{text}") } else { text }
    }

    /// A difference of two percentages: `1.2 points`.
    pub fn points(self, fraction: f64) -> String {
        format!("{}\u{a0}points", self.bare(fraction))
    }

    /// Whether two fractions look the same at this precision.
    pub fn same(self, a: f64, b: f64) -> bool {
        self.bare(a) == self.bare(b)
    }
}

/// A share of things in whole percent: `46 %`; never rounds some to none or to all.
pub fn share(fraction: f64) -> String {
    match finite(fraction) {
        None => NONE.into(),
        Some(f) if f > 0.0 && f < 0.005 => "under 1\u{a0}%".into(),
        Some(f) if f < 1.0 && f > 0.995 => "over 99\u{a0}%".into(),
        Some(f) => format!("{}\u{a0}%", minus(&fixed(100.0 * f, 0))),
    }
}

/// A count with thin spaces: `12 345`.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// A count and its noun: `1 group`, `2 groups`.
pub fn counted(n: usize, noun: &str) -> String {
    format!("{}\u{a0}{noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A p-value: `0.032`, `< 0.001`.
pub fn p_value(p: f64) -> String {
    match finite(p) {
        None => NONE.into(),
        Some(p) if p < 0.0005 => "<\u{a0}0.001".into(),
        Some(p) => fixed(p, 3),
    }
}

/// Seconds in a readable unit.
pub fn seconds(s: f64) -> String {
    match finite(s) {
        None => NONE.into(),
        Some(s) if s < 1.0 => format!("{}\u{a0}ms", fixed(1000.0 * s, 0)),
        Some(s) if s < 120.0 => format!("{}\u{a0}s", fixed(s, 1)),
        Some(s) => format!("{}\u{a0}min", fixed(s / 60.0, 1)),
    }
}

/// A small positive number in powers of ten: `3·10⁻⁸`.
pub fn scientific(x: f64) -> String {
    let Some(x) = finite(x) else {
        return NONE.into();
    };
    if x == 0.0 {
        return "0".into();
    }
    let text = format!("{x:.0e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String = exponent.chars().map(superscript).collect();
    format!("{}·10{raised}", minus(mantissa))
}

/// A plain number with `digits` decimals, or a dash.
pub fn plain(x: f64, digits: usize) -> String {
    finite(x).map_or_else(|| NONE.into(), |x| minus(&fixed(x, digits)))
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
    }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// Fixed decimals, without the sign of a negative zero.
fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if !rest.contains(|c: char| ('1'..='9').contains(&c)) => rest.to_owned(),
        _ => text,
    }
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// Mean and standard deviation (divisor count − 1), where there are enough values.
pub fn mean_and_sd(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let count = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let sd = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
    Some((mean, sd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_keeps_sign_and_precision() {
        let p = Percent { decimals: 1 };
        assert_eq!(p.show(0.106), "10.6\u{a0}%");
        assert_eq!(p.bare(-0.0001), "0.0");
        assert_eq!(p.signed(0.012), "+1.2");
        assert_eq!(p.signed(-0.012), "−1.2");
        assert_eq!(p.signed(0.0001), "0.0");
        assert_eq!(p.show(f64::NAN), "–");
    }

    #[test]
    fn different_numbers_are_told_apart() {
        let p = Percent { decimals: 1 };
        let shown = |low: f64, high: f64| [low, high].map(|end| p.telling(low, high).bare(end));
        assert_eq!(shown(0.000_01, 0.000_03), ["0.001", "0.003"]);
        assert_eq!(shown(0.01, 0.03), ["1.0", "3.0"]);
        assert_eq!(shown(0.0, 0.0), ["0.0", "0.0"]);
        assert_eq!(shown(0.0, 1e-15), ["0.0", "0.0"]);
    }

    #[test]
    fn shares_never_round_some_to_none() {
        assert_eq!(share(0.001), "under 1\u{a0}%");
        assert_eq!(share(0.9999), "over 99\u{a0}%");
        assert_eq!(share(0.0), "0\u{a0}%");
    }

    #[test]
    fn other_numbers_read_well() {
        assert_eq!(count(1234), "1234");
        assert_eq!(count(1234567), "1\u{202f}234\u{202f}567");
        assert_eq!(scientific(3.2e-8), "3·10⁻⁸");
        assert_eq!(p_value(0.00001), "<\u{a0}0.001");
    }

    #[test]
    fn spread_needs_two_values() {
        assert_eq!(mean_and_sd(&[]), None);
        assert_eq!(mean_and_sd(&[2.0]), Some((2.0, None)));
        assert_eq!(mean_and_sd(&[1.0, 3.0]), Some((2.0, Some(2.0_f64.sqrt()))));
    }
}
