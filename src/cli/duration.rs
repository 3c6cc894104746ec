//! Times in words.

/// A time in the unit that fits.
pub(super) fn in_words(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{seconds:.0} seconds")
    } else if seconds < 5400.0 {
        format!("{:.0} minutes", seconds / 60.0)
    } else if seconds < 172_800.0 {
        format!("{:.1} hours", seconds / 3600.0)
    } else {
        format!("{:.1} days", seconds / 86_400.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_fits() {
        let found = [4.0, 91.0, 7200.0, 200_000.0].map(in_words);
        assert_eq!(found, ["4 seconds", "2 minutes", "2.0 hours", "2.3 days"]);
    }
}
