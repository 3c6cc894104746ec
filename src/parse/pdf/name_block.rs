//! The block of name, teacher, course and date before the title.

use super::{columns::Line, paragraphs::Layout};

/// The most lines of such a block.
const MAX_LINES: usize = 8;

/// The lines of the block, as indices into `lines`: short lines at the start of the first
/// page of which one is a date, or two name a teacher, a course or a field such as `Name:`.
/// Empty where there is none.
pub(super) fn find(lines: &[Line], layout: &Layout) -> std::ops::Range<usize> {
    let is_short = |line: &&Line| {
        let width = layout.right(line.frame) - layout.left(line.frame);
        line.page == 0 && line.x1 - line.x0 < 0.6 * width && line.text().chars().count() <= 60
    };
    let head: Vec<(Kind, bool)> = lines
        .iter()
        .take(MAX_LINES)
        .take_while(is_short)
        .map(|line| (kind(&line.text()), layout.is_centered(line)))
        .collect();
    let is_telling = |kind: Kind| !matches!(kind, Kind::Name | Kind::Other);
    // A second date begins the text: a diary, a letter.
    let mut dates = head.iter().enumerate().filter(|(_, (kind, _))| *kind == Kind::Date);
    let second_date = dates.nth(1).map_or(head.len(), |(index, _)| index);
    let head = head.get(..second_date).unwrap_or_default();
    let Some(last) = head.iter().rposition(|(kind, _)| is_telling(*kind)) else { return 0..0 };
    let block = head.get(..=last).unwrap_or_default();
    // A title may stand above the block.
    let start = block
        .iter()
        .position(|(kind, centered)| is_telling(*kind) || *kind == Kind::Name && !centered);
    let start = start.unwrap_or(0);
    let block = block.get(start..).unwrap_or_default();
    let has = |wanted: Kind| block.iter().any(|(kind, _)| *kind == wanted);
    let n_telling = block.iter().filter(|(kind, _)| is_telling(*kind)).count();
    let n_other = block.iter().filter(|(kind, _)| *kind == Kind::Other).count();
    let is_block = (has(Kind::Date) || n_telling >= 2) && n_other <= 1 && block.len() >= 2;
    if is_block { start..last + 1 } else { 0..0 }
}

/// What a line of a block may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Date,
    Teacher,
    Course,
    Field,
    Name,
    Other,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const TEACHERS: [&str; 9] =
    ["professor", "prof", "dr", "instructor", "mr", "ms", "mrs", "mx", "teacher"];

const FIELDS: [&str; 10] = [
    "name",
    "student",
    "class",
    "course",
    "date",
    "section",
    "instructor",
    "professor",
    "teacher",
    "assignment",
];

fn kind(line: &str) -> Kind {
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.first().map(|word| word.trim_end_matches(['.', ':']).to_lowercase());
    let first = first.as_deref().unwrap_or_default();
    if is_date(&words) {
        Kind::Date
    } else if line.contains(':') && FIELDS.contains(&first) {
        Kind::Field
    } else if TEACHERS.contains(&first) && words.len() <= 5 {
        Kind::Teacher
    } else if is_course(&words) {
        Kind::Course
    } else if is_name(&words) {
        Kind::Name
    } else {
        Kind::Other
    }
}

fn is_number(word: &str, n_digits: std::ops::RangeInclusive<usize>) -> bool {
    n_digits.contains(&word.len()) && word.chars().all(|ch| ch.is_ascii_digit())
}

/// A day and a year around a month's name, or numbers with strokes, points or hyphens.
fn is_date(words: &[&str]) -> bool {
    let is_month = |word: &&str| {
        let word = word.to_lowercase();
        word.chars().all(char::is_alphabetic) && MONTHS.iter().any(|month| word.starts_with(month))
    };
    let bare: Vec<&str> = words.iter().map(|word| word.trim_matches([',', '.'])).collect();
    let digits = |word: &&str| is_number(word.trim_end_matches(char::is_alphabetic), 1..=4);
    let is_numeric = |word: &&str| {
        let parts: Vec<&str> = word.split(['/', '.', '-']).collect();
        parts.len() == 3 && parts.iter().all(|part| is_number(part, 1..=4))
    };
    words.len() <= 6
        && (bare.iter().any(is_month) && bare.iter().any(digits) || bare.iter().any(is_numeric))
}

/// Capitals with a number of two to four digits, or a few capitalised words and a number.
fn is_course(words: &[&str]) -> bool {
    let Some((last, rest)) = words.split_last() else { return false };
    let is_joined = words.iter().any(|word| {
        let letters = word.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '-');
        let is_code = letters.len() >= 2 && letters.chars().all(|ch| ch.is_ascii_uppercase());
        is_code && is_number(word.trim_start_matches(letters).trim_matches('-'), 2..=5)
    });
    let is_titled = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    let is_spaced = is_number(last, 2..=5) && (1..=4).contains(&rest.len());
    words.len() <= 6 && (is_joined || is_spaced && rest.iter().all(is_titled))
}

fn is_name(words: &[&str]) -> bool {
    let is_part = |word: &&str| {
        word.chars().next().is_some_and(char::is_uppercase)
            && word.chars().all(|ch| ch.is_alphabetic() || "'’-.\u{fffd}".contains(ch))
    };
    (2..=4).contains(&words.len()) && words.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_by_their_patterns() {
        for (line, expected) in [
            ("12 October 2023", Kind::Date),
            ("March 3rd, 2021", Kind::Date),
            ("9/14/2022", Kind::Date),
            ("Professor O’Brien", Kind::Teacher),
            ("Dr. Ann Lee", Kind::Teacher),
            ("ENGCMP 0200", Kind::Course),
            ("ENG101", Kind::Course),
            ("English Composition 101", Kind::Course),
            ("Name: Ann Lee", Kind::Field),
            ("Wei Nguyen", Kind::Name),
            ("Finding a Voice", Kind::Other),
            ("I may go home.", Kind::Other),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }
}
