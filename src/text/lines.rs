//! Lines, as people count them.

/// The line, counted from one, that the byte at `offset` stands in; past the end, the
/// last.
pub fn line_at(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|&&byte| byte == b'\n').count()
}

/// The line, counted from one, that holds the first byte that is not UTF-8.
pub fn line_not_utf8(bytes: &[u8]) -> Option<usize> {
    let error = std::str::from_utf8(bytes).err()?;
    Some(line_at(bytes, error.valid_up_to()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_is_of_that_line() {
        let lines: Vec<usize> = (0..5).map(|offset| line_at(b"a\n\nb", offset)).collect();
        assert_eq!(lines, [1, 1, 2, 3, 3]);
    }

    #[test]
    fn the_first_byte_that_is_no_utf8_is_found() {
        assert_eq!(line_not_utf8("Café.\né".as_bytes()), None);
        assert_eq!(line_not_utf8(b"Caf.\r\nCaf\xe9.\nCaf\xe9"), Some(2));
    }
}
