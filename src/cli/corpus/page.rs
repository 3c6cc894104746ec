//! Marked text set in lines for a terminal.

use crate::corpus::Color;

/// How a piece of text is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is.
    #[default]
    Plain,
    /// A heading.
    Bold,
    /// What is not part of the draft.
    Dim,
    /// Under a highlighter.
    Highlight(Color),
    /// Struck out.
    Strikeout,
}

impl Style {
    /// The control sequence that turns it on; plain text needs none.
    fn sequence(self) -> Option<&'static str> {
        Some(match self {
            Self::Plain => return None,
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Highlight(Color::Green) => "\x1b[38;5;16;48;5;157m",
            Self::Highlight(Color::Pink) => "\x1b[38;5;16;48;5;218m",
            Self::Highlight(Color::Yellow) => "\x1b[38;5;16;48;5;229m",
            Self::Highlight(Color::Generic) => "\x1b[38;5;16;48;5;153m",
            Self::Strikeout => "\x1b[9;31m",
        })
    }
}

/// What lines are set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// The columns that a line may fill.
    pub(super) width: usize,
    /// Whether styles are shown.
    pub(super) has_color: bool,
}

/// Text in pieces of one style each.
#[derive(Clone, Debug, Default)]
pub(super) struct Marked(Vec<(String, Style)>);

impl Marked {
    /// Adds a piece at the end.
    pub(super) fn push(&mut self, text: impl Into<String>, style: Style) {
        self.0.push((text.into(), style));
    }
}

/// A run of characters that no line may break, with its pieces.
#[derive(Default)]
struct Word {
    /// The style of the space before it; none where it follows directly.
    space: Option<Style>,
    pieces: Vec<(String, Style)>,
    width: usize,
}

impl Page {
    /// Sets a text in lines: the first begins with `lead`, the others are
    /// indented by as much. White space of any kind and length is a place where
    /// a line may break.
    pub(super) fn set(self, lead: &str, text: &Marked) -> Vec<String> {
        let indent = console::measure_text_width(lead);
        let mut lines = Vec::new();
        let mut line = Line { text: lead.to_owned(), style: Style::Plain, page: self };
        let mut column = indent;
        for (index, word) in words(text).into_iter().enumerate() {
            let space = word.space.filter(|_| index != 0);
            let n_columns = word.width + usize::from(space.is_some());
            if index != 0 && indent < column && self.width < column + n_columns {
                lines.push(line.finish());
                let text = " ".repeat(indent);
                line = Line { text, style: Style::Plain, page: self };
                column = indent + word.width;
            } else {
                if let Some(style) = space {
                    line.push(" ", style);
                }
                column += n_columns;
            }
            for (piece, style) in &word.pieces {
                line.push(piece, *style);
            }
        }
        lines.push(line.finish());
        lines
    }

    /// One line in one style, not broken.
    pub(super) fn line(self, text: &str, style: Style) -> String {
        let mut line = Line { text: String::new(), style: Style::Plain, page: self };
        line.push(&printable(text), style);
        line.finish()
    }
}

/// A line that is being set.
struct Line {
    text: String,
    style: Style,
    page: Page,
}

impl Line {
    fn push(&mut self, text: &str, style: Style) {
        if self.page.has_color && style != self.style {
            if self.style != Style::Plain {
                self.text.push_str(RESET);
            }
            self.text.push_str(style.sequence().unwrap_or_default());
        }
        self.style = style;
        self.text.push_str(text);
    }

    fn finish(mut self) -> String {
        self.push("", Style::Plain);
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

const RESET: &str = "\x1b[0m";

/// Breaks a text at white space, and before wide characters, as between those of
/// Chinese, where none is written.
fn words(text: &Marked) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut space = Some(Style::Plain);
    let mut last = None;
    for (piece, style) in &text.0 {
        for ch in piece.chars() {
            if ch.is_whitespace() {
                space = Some(*style);
                continue;
            }
            let shown = printable(ch.encode_utf8(&mut [0; 4]));
            let width = console::measure_text_width(&shown);
            let is_break = 1 < width && last != Some(JOINER) || words.is_empty();
            if space.is_some() || is_break {
                words.push(Word { space: space.take(), ..Word::default() });
            }
            last = Some(ch);
            if let Some(word) = words.last_mut() {
                word.width += width;
                match word.pieces.last_mut().filter(|(_, of)| of == style) {
                    Some((text, _)) => text.push_str(&shown),
                    None => word.pieces.push((shown, *style)),
                }
            }
        }
    }
    words
}

/// The character that makes one emoji of two.
const JOINER: char = '\u{200d}';

/// The text with every control character replaced: a draft must not be able to
/// steer the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|ch| if ch.is_control() { '\u{fffd}' } else { ch }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(width: usize, lead: &str, pieces: &[(&str, Style)], has_color: bool) -> Vec<String> {
        let mut text = Marked::default();
        for (piece, style) in pieces {
            text.push(*piece, *style);
        }
        Page { width, has_color }.set(lead, &text)
    }

    #[test]
    fn lines_fill_the_width_and_no_more() {
        let lines =
            set(12, "#0  ", &[("One two\tthree\n\nfour fivesixseven 8", Style::Plain)], false);
        assert_eq!(lines, ["#0  One two", "    three", "    four", "    fivesixseven", "    8"]);
    }

    #[test]
    fn wide_characters_count_twice_and_may_be_parted() {
        let lines = set(6, "", &[("林美玲 is", Style::Plain)], false);
        assert_eq!(lines, ["林美玲", "is"]);
        let lines = set(5, "", &[("林美玲", Style::Plain)], false);
        assert_eq!(lines, ["林美", "玲"]);
    }

    #[test]
    fn a_style_ends_with_its_line_and_begins_again_on_the_next() {
        let pink = Style::Highlight(Color::Pink);
        let lines =
            set(6, "", &[("an ", Style::Plain), ("odd one", pink), ("!", Style::Plain)], true);
        let on = "\x1b[38;5;16;48;5;218m";
        assert_eq!(lines, [format!("an {on}odd{RESET}"), format!("{on}one{RESET}!")]);
    }

    #[test]
    fn a_draft_cannot_steer_the_terminal() {
        assert_eq!(set(20, "", &[("a\x1b[2Jb", Style::Plain)], true), ["a\u{fffd}[2Jb"]);
    }
}
