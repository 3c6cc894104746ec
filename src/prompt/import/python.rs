//! Enough of Python's grammar to read string constants out of a script.

/// A token of a Python source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a keyword or a number.
    Word(String),
    /// A string literal, its escapes resolved.
    Text {
        /// What it says.
        text: String,
        /// Whether it is an f-string: its braces still stand as written.
        is_format: bool,
    },
    /// Any other character.
    Symbol(char),
    /// The end of a statement: a line break outside brackets.
    End,
}

/// Why a source cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(super) struct PythonError {
    /// The line, counted from one.
    pub(super) line: usize,
    /// What is wrong there.
    pub(super) reason: &'static str,
}

/// Splits a source into tokens. Comments, and line breaks inside brackets, are
/// left out.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, PythonError> {
    let mut reader = Reader { chars: source.chars().collect(), at: 0 };
    let mut tokens = Vec::new();
    let mut depth = 0_usize;
    while let Some(ch) = reader.next() {
        match ch {
            '\n' if depth == 0 => tokens.push(Token::End),
            '#' => reader.skip_line(),
            '\\' if matches!(reader.peek(), Some('\n')) => reader.at += 1,
            '"' | '\'' => tokens.push(reader.literal(ch, "")?),
            ch if ch.is_alphanumeric() || ch == '_' => {
                let word = reader.word(ch);
                match reader.peek() {
                    Some(quote @ ('"' | '\'')) if is_prefix(&word) => {
                        reader.at += 1;
                        tokens.push(reader.literal(quote, &word.to_lowercase())?);
                    }
                    _ => tokens.push(Token::Word(word)),
                }
            }
            ch if ch.is_whitespace() => (),
            ch => {
                match ch {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => (),
                }
                tokens.push(Token::Symbol(ch));
            }
        }
    }
    tokens.push(Token::End);
    Ok(tokens)
}

/// Whether a word before a quotation mark is the prefix of a literal.
fn is_prefix(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "r" | "u" | "b" | "f" | "rb" | "br" | "rf" | "fr")
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Option<char> {
        let ch = self.peek()?;
        self.at += 1;
        Some(ch)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|ch| ch != '\n') {
            self.at += 1;
        }
    }

    fn word(&mut self, first: char) -> String {
        let mut word = String::from(first);
        while let Some(ch) = self.peek().filter(|ch| ch.is_alphanumeric() || *ch == '_') {
            word.push(ch);
            self.at += 1;
        }
        word
    }

    fn error(&self, reason: &'static str) -> PythonError {
        let line = 1 + self.chars[..self.at].iter().filter(|&&ch| ch == '\n').count();
        PythonError { line, reason }
    }

    fn starts_with(&self, quote: char, n_quotes: usize) -> bool {
        let end = self.at + n_quotes;
        self.chars.get(self.at..end).is_some_and(|chars| chars.iter().all(|&ch| ch == quote))
    }

    /// Reads a literal whose first quotation mark has been read.
    fn literal(&mut self, quote: char, prefix: &str) -> Result<Token, PythonError> {
        let n_quotes = if self.starts_with(quote, 2) { 3 } else { 1 };
        self.at += n_quotes - 1;
        let is_raw = prefix.contains('r');
        let mut text = String::new();
        while !self.starts_with(quote, n_quotes) {
            match self.next() {
                None => return Err(self.error("a string is not closed")),
                Some('\n') if n_quotes == 1 => {
                    return Err(self.error("a line break inside a string"));
                }
                Some('\\') if is_raw => {
                    text.push('\\');
                    text.extend(self.next());
                }
                Some('\\') => self.escape(&mut text)?,
                Some(ch) => text.push(ch),
            }
        }
        self.at += n_quotes;
        Ok(Token::Text { text, is_format: prefix.contains('f') })
    }

    /// Reads an escape whose backslash has been read.
    fn escape(&mut self, text: &mut String) -> Result<(), PythonError> {
        let Some(ch) = self.next() else {
            return Err(self.error("a string is not closed"));
        };
        let ch = match ch {
            '\n' => return Ok(()),
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '\'' | '"' => ch,
            'x' => self.code_point(2)?,
            'u' => self.code_point(4)?,
            'U' => self.code_point(8)?,
            'N' => return Err(self.error("a character by name is not supported")),
            '0'..='7' => {
                self.at -= 1;
                self.octal()?
            }
            other => {
                // Python keeps the backslash of an escape it does not know.
                text.push('\\');
                other
            }
        };
        text.push(ch);
        Ok(())
    }

    fn code_point(&mut self, n_digits: usize) -> Result<char, PythonError> {
        let mut code = 0;
        for _ in 0..n_digits {
            let digit = self.next().and_then(|ch| ch.to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.error("a broken escape"))?;
        }
        char::from_u32(code).ok_or_else(|| self.error("an escape that is no character"))
    }

    fn octal(&mut self) -> Result<char, PythonError> {
        let mut code = 0;
        for _ in 0..3 {
            match self.peek().and_then(|ch| ch.to_digit(8)) {
                Some(digit) => code = code * 8 + digit,
                None => break,
            }
            self.at += 1;
        }
        char::from_u32(code).ok_or_else(|| self.error("an escape that is no character"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        tokens(source)
            .unwrap()
            .into_iter()
            .filter_map(|token| match token {
                Token::Text { text, .. } => Some(text),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn literals_of_every_kind_are_read_as_python_reads_them() {
        for (source, expected) in [
            (r#""a\tb\n\x41\u00e9\U0001F600\101\0""#, "a\tb\nA\u{e9}\u{1F600}A\0"),
            ("'it''s'", "it"),
            (r#""""a "quoted" line""""#, "a \"quoted\" line"),
            ("'''a\\\nb\nc'''", "ab\nc"),
            (r#"r"a\n\"b""#, r#"a\n\"b"#),
            (r#""\d \q""#, r"\d \q"),
            (r#"u"ü" # "not this""#, "ü"),
            ("\"\"", ""),
        ] {
            assert_eq!(texts(source)[0], expected, "{source}");
        }
    }

    #[test]
    fn comments_brackets_and_continuations_keep_a_statement_together() {
        let ends = |source: &str| {
            tokens(source).unwrap().iter().filter(|token| **token == Token::End).count()
        };
        assert_eq!(ends("x = (  # first\n 'a'\n 'b'\n)"), 1);
        assert_eq!(ends("x = 'a' \\\n 'b'"), 1);
        assert_eq!(ends("x = 1\ny = 2"), 2);
    }

    #[test]
    fn a_source_that_breaks_off_is_an_error_with_its_line() {
        assert_eq!(tokens("x = 1\ny = \"\"\"abc").unwrap_err().line, 2);
        assert_eq!(tokens("don't").unwrap_err().reason, "a string is not closed");
        assert_eq!(tokens("'a\nb'").unwrap_err().reason, "a line break inside a string");
    }
}
