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

/// Counts lines along a text of rows, as of CSV.
///
/// The reader of CSV counts too, but takes a row after a line that ends as in Windows for
/// one line higher up, and one after blank lines for the first of them.
#[derive(Clone, Debug)]
pub struct RowLines<'a> {
    text: &'a str,
    rest: &'a str,
    line: usize,
}

impl<'a> RowLines<'a> {
    /// At the first line.
    pub fn new(text: &'a str) -> Self {
        Self { text, rest: text, line: 1 }
    }

    /// The line, counted from one, of the row that is read from the byte at `start` on:
    /// the first from there that is not empty. Starts must rise.
    pub fn of(&mut self, start: usize) -> usize {
        let is_end = |ch: char| ch == '\n' || ch == '\r';
        let read = self.text.get(start..).map_or(self.rest, |rest| rest.trim_start_matches(is_end));
        let passed = self.rest.len().saturating_sub(read.len());
        let passed = self.rest.get(..passed).unwrap_or_default();
        self.line += passed.replace("\r\n", "\n").chars().filter(|ch| is_end(*ch)).count();
        self.rest = read;
        self.line
    }
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
