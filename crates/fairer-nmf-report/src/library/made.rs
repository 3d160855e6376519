//! By what and when a page was made.

/// By what and on which day a page was made.
pub fn made_by(program: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = now.map_or(0, |now| now.as_secs() / 86_400);
    format!("{}, made by {program}", date(days))
}

/// The date so many days after 1 January 1970 (Hinnant's days-to-civil).
fn date(days: u64) -> String {
    const MONTHS: [&str; 12] = [
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
        "January",
        "February",
    ];
    // Counted from 1 March 0000, so that leap days come last.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let year = 400 * era + year + u64::from(month >= 10);
    format!("{} {} {year}", day - (153 * month + 2) / 5 + 1, MONTHS[month as usize])
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_are_dates() {
        // As `date -u -d @$((86400 * N))` has them.
        for (days, expected) in [
            (0, "1 January 1970"),
            (59, "1 March 1970"),
            (11_016, "29 February 2000"),
            (19_782, "29 February 2024"),
            (20_453, "31 December 2025"),
            (20_772, "15 November 2026"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
