//! The string constants of a Python source.

use std::collections::BTreeMap;

use super::{
    placeholder::{Piece, pieces},
    python::Token,
};

/// A string that a source gives a name to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Constant {
    /// Its text, a format string if the source fills it in later.
    pub(super) text: String,
    /// What was filled in where it was defined, by name of the placeholder.
    pub(super) filled: BTreeMap<String, String>,
}

/// The constants seen so far, by name: the last assignment counts.
pub(super) type Scope = BTreeMap<String, Constant>;

/// Evaluates every assignment `NAME = <string expression>`, in order. Known are
/// literals and their concatenation, brackets, `+`, names of constants and
/// `.format(name=...)`; any other statement is passed over.
pub(super) fn constants(tokens: &[Token], scope: &mut Scope) -> Vec<(String, Constant)> {
    let mut found = Vec::new();
    for statement in tokens.split(|token| *token == Token::End) {
        let [Token::Word(name), Token::Symbol('='), expression @ ..] = statement else {
            continue;
        };
        let mut parser = Parser { tokens: expression, scope };
        if let Some(constant) = parser.sum().filter(|_| parser.tokens.is_empty()) {
            scope.insert(name.clone(), constant.clone());
            found.push((name.clone(), constant));
        }
    }
    found
}

struct Parser<'a> {
    tokens: &'a [Token],
    scope: &'a Scope,
}

impl Parser<'_> {
    fn take(&mut self, symbol: char) -> bool {
        match self.tokens {
            [Token::Symbol(found), rest @ ..] if *found == symbol => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn sum(&mut self) -> Option<Constant> {
        let mut sum = self.term()?;
        while self.take('+') {
            let next = self.term()?;
            sum.text.push_str(&next.text);
            sum.filled.extend(next.filled);
        }
        Some(sum)
    }

    fn term(&mut self) -> Option<Constant> {
        let mut term = self.atom()?;
        while let [Token::Symbol('.'), Token::Word(method), rest @ ..] = self.tokens {
            self.tokens = rest;
            if method != "format" || !self.take('(') {
                return None;
            }
            term = self.format(term)?;
        }
        Some(term)
    }

    fn atom(&mut self) -> Option<Constant> {
        if self.take('(') {
            let inner = self.sum()?;
            return self.take(')').then_some(inner);
        }
        match self.tokens {
            [Token::Word(name), rest @ ..] => {
                self.tokens = rest;
                self.scope.get(name).cloned()
            }
            _ => self.literals(),
        }
    }

    /// One literal or more in a row, which Python joins.
    fn literals(&mut self) -> Option<Constant> {
        let mut joined: Option<Constant> = None;
        while let [Token::Text { text, .. }, rest @ ..] = self.tokens {
            joined.get_or_insert_default().text.push_str(text);
            self.tokens = rest;
        }
        joined
    }

    /// The arguments of `.format(`, filled in.
    fn format(&mut self, template: Constant) -> Option<Constant> {
        let mut filled = template.filled;
        let mut values = BTreeMap::new();
        while !self.take(')') {
            let [Token::Word(name), Token::Symbol('='), rest @ ..] = self.tokens else {
                return None;
            };
            self.tokens = rest;
            values.insert(name.clone(), self.sum()?.text);
            self.take(',');
        }
        let mut text = String::new();
        for piece in pieces(&template.text).ok()? {
            match piece {
                Piece::Literal(literal) => text.push_str(&literal),
                Piece::Hole(name) => text.push_str(values.get(&name)?),
            }
        }
        filled.extend(values);
        Some(Constant { text, filled })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::python::tokens, *};

    fn last(source: &str) -> Option<(String, Constant)> {
        constants(&tokens(source).unwrap(), &mut Scope::new()).pop()
    }

    #[test]
    fn expressions_of_strings_are_evaluated() {
        for (source, expected) in [
            ("X = 'a' \"b\"", "ab"),
            ("X = (  # why\n 'a'\n '''b'''\n)", "ab"),
            ("A = 'a'\nX = A + ('b' + 'c')", "abc"),
            ("A = 'a'\nX = A", "a"),
            ("A = 'n'\nX = '{{x}} {y}'.format(y=A)", "{x} n"),
        ] {
            assert_eq!(last(source).unwrap().1.text, expected, "{source}");
        }
        let (name, constant) = last("X = ('{s} {{x}}'.format(s='S'))").unwrap();
        assert_eq!(name, "X");
        assert_eq!(constant.filled, BTreeMap::from([("s".to_owned(), "S".to_owned())]));
    }

    #[test]
    fn what_is_no_string_is_passed_over() {
        for source in ["X = 1 + 2", "X = f(1)", "X = 'a'.strip()", "X == 'a'", "X = '{y}'.format()"]
        {
            assert_eq!(last(source), None, "{source}");
        }
    }
}
