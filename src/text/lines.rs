//! Lines, as people count them.

/// The line, counted from one, that the byte at `offset` stands in; past the end, the
/// last.
pub fn line_at(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_is_of_that_line() {
        let lines: Vec<usize> = (0..5).map(|offset| line_at(b"a\n\nb", offset)).collect();
        assert_eq!(lines, [1, 1, 2, 3, 3]);
    }
}
