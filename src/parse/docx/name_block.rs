//! The block of name, instructor, course and date before the title.

/// As many lines has such a block at most.
const MAX_LINES: usize = 8;
/// As many characters has a line of it at most.
const MAX_CHARS: usize = 60;

/// What a line of the block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Date,
    Instructor,
    Course,
    /// Whatever follows a label such as `Name:`.
    Labelled,
}

/// How many of the first lines are the block with name, instructor, course and date.
///
/// It ends with the last line that is one of these for certain. It needs two kinds of them,
/// or a date below another line; its other lines, names among them, are short and end no
/// sentence.
pub(super) fn name_block<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    let kinds: Vec<Option<Kind>> =
        lines.take(MAX_LINES).take_while(|line| is_short(line)).map(kind).collect();
    let Some(last) = kinds.iter().rposition(Option::is_some) else { return 0 };
    let mut known: Vec<Kind> = kinds.iter().copied().flatten().collect();
    let n_known = known.len();
    known.sort_unstable();
    known.dedup();
    let has_labels = known.contains(&Kind::Labelled) && 2 <= n_known;
    let has_date_below = kinds.iter().skip(1).any(|kind| *kind == Some(Kind::Date));
    if 2 <= known.len() || has_labels || has_date_below { last + 1 } else { 0 }
}

fn is_short(line: &str) -> bool {
    line.chars().count() <= MAX_CHARS && !line.ends_with(['.', '!', '?', ';', ','])
}

fn kind(line: &str) -> Option<Kind> {
    const LABELS: [&str; 14] = [
        "name",
        "student",
        "author",
        "course",
        "class",
        "section",
        "instructor",
        "professor",
        "teacher",
        "date",
        "due",
        "due date",
        "word count",
        "assignment",
    ];
    if let Some((label, _)) = line.split_once(':')
        && LABELS.contains(&label.trim().to_lowercase().as_str())
    {
        return Some(Kind::Labelled);
    }
    if is_date(line) {
        Some(Kind::Date)
    } else if is_instructor(line) {
        Some(Kind::Instructor)
    } else if is_course(line) {
        Some(Kind::Course)
    } else {
        None
    }
}

/// `Professor Rivera`, `Dr. A. Smith`.
fn is_instructor(line: &str) -> bool {
    const TITLES: [&str; 8] = ["professor", "prof", "dr", "instructor", "mr", "mrs", "ms", "mx"];
    let mut words = line.split_whitespace();
    let title = words.next().map(|word| word.trim_end_matches('.').to_lowercase());
    let names: Vec<&str> = words.collect();
    title.is_some_and(|title| TITLES.contains(&title.as_str()))
        && (1..=4).contains(&names.len())
        && names.iter().all(|name| name.starts_with(char::is_uppercase))
}

/// `ENGCMP 0200`, `English 101`, `ENG101-B`: words, then a number of two to five digits.
fn is_course(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let digits = last.trim_start_matches(char::is_alphabetic);
    let number = digits.split(|ch: char| !ch.is_ascii_digit()).next().unwrap_or_default();
    let rest = digits.get(number.len()..).unwrap_or_default();
    let is_number = (2..=5).contains(&number.len())
        && rest.len() <= 4
        && rest.chars().all(|ch| ch.is_ascii_alphanumeric() || ch == '-');
    let is_named = first.starts_with(char::is_uppercase);
    is_named && is_number && words.len() <= 6
}

/// `12 October 2023`, `Oct. 12th, 2023`, `10/12/23`, `2023-10-12`, with a weekday or not.
fn is_date(line: &str) -> bool {
    const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let words: Vec<String> = line
        .split(|ch: char| ch.is_whitespace() || matches!(ch, ',' | '/' | '-' | '–'))
        .map(|word| word.trim_matches('.').to_lowercase())
        .filter(|word| !word.is_empty() && word != "of" && word != "the")
        .collect();
    let is_word_of = |word: &str, names: &[&str], full: &[&str]| {
        full.contains(&word) || names.contains(&word) || word == "sept"
    };
    let is_weekday = |word: &str| {
        const FULL: [&str; 7] =
            ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
        is_word_of(word, &WEEKDAYS, &FULL) && word != "sept"
    };
    let is_month = |word: &str| {
        const FULL: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        is_word_of(word, &MONTHS, &FULL)
    };
    let is_number = |word: &str| {
        let digits = word.trim_end_matches(char::is_alphabetic);
        let ending = word.get(digits.len()..).unwrap_or_default();
        (1..=4).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(ending, "" | "st" | "nd" | "rd" | "th")
    };
    let n_months = words.iter().filter(|word| is_month(word)).count();
    let n_numbers = words.iter().filter(|word| is_number(word)).count();
    let n_weekdays = words.iter().filter(|word| is_weekday(word)).count();
    n_months + n_numbers + n_weekdays == words.len()
        && matches!((n_months, n_numbers), (1, 1 | 2) | (0, 3))
        && n_weekdays <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expected: usize) {
        assert_eq!(name_block(lines.iter().copied()), expected, "{lines:?}");
    }

    #[test]
    fn a_block_ends_with_the_last_line_that_is_certain() {
        check(&["Ana Ruiz", "Professor Lee", "ENG 101", "3 May 2021", "Of Mice", "Once."], 4);
        check(&["Ana Ruiz", "Dr. Lee", "English 101-B", "The Prison"], 3);
        check(&["Ana Ruiz", "Tuesday, Oct. 3rd, 2023", "The Prison Within"], 2);
        check(&["Name: Ana", "Word count: 900", "The Prison"], 2);
        check(&["Ana", "Mr Lee", "Composition", "10/03/23", "A Title"], 4);
    }

    #[test]
    fn titles_and_sentences_are_no_block() {
        check(&[], 0);
        check(&["Fahrenheit 451", "It was a pleasure to burn."], 0);
        check(&["October 1962", "The week the world held its breath."], 0);
        check(&["The Prison Within", "When my family first dropped me off, I felt free."], 0);
        check(&["Dr. Lee", "He was my first teacher."], 0);
        check(&["May I go", "Home"], 0);
        check(&["It began on a day in May.", "Ana Ruiz", "3 May 2021"], 0);
    }
}
