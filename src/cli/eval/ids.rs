//! Which ids of `unimatch eval` lose something.

use std::collections::BTreeSet;

use anyhow::bail;

use crate::{
    corpus::MIN_COMMENT_CHARS,
    experiment::texts::{Content, Entry},
    text::trim,
};

/// The ids that only one side has.
pub(super) struct UnpairedIds<'a> {
    without_candidate: Vec<&'a str>,
    without_reference: Vec<&'a str>,
}

pub(super) fn unpaired<'a>(references: &'a [Entry], candidates: &'a [Entry]) -> UnpairedIds<'a> {
    fn ids(entries: &[Entry]) -> BTreeSet<&str> {
        entries.iter().map(|entry| entry.id.as_str()).collect()
    }
    let (references, candidates) = (ids(references), ids(candidates));
    UnpairedIds {
        without_candidate: references.difference(&candidates).copied().collect(),
        without_reference: candidates.difference(&references).copied().collect(),
    }
}

/// An error where there are such ids.
pub(super) fn refuse(unpaired: &UnpairedIds<'_>) -> anyhow::Result<()> {
    let lacks: Vec<String> = in_words(unpaired).collect();
    if !lacks.is_empty() {
        bail!(
            "{}: add what is missing, or have such ids left out (--unpaired leave-out)",
            lacks.join("; ")
        );
    }
    Ok(())
}

/// What is to be said where such ids are left out.
pub(super) fn notes(unpaired: &UnpairedIds<'_>) -> Vec<String> {
    in_words(unpaired).map(|lack| format!("{lack}: left out")).collect()
}

fn in_words(unpaired: &UnpairedIds<'_>) -> impl Iterator<Item = String> {
    let lacks =
        [(&unpaired.without_candidate, "candidate"), (&unpaired.without_reference, "reference")];
    lacks.into_iter().filter(|(ids, _)| !ids.is_empty()).map(|(ids, lack)| {
        let has = if ids.len() == 1 { "has" } else { "have" };
        format!("{} {has} no {lack} ({})", counted(ids.len(), "id"), first(ids))
    })
}

/// Units that were cut already and are dropped for being short: how many, and where.
pub(super) fn short_units(entries: &[Entry]) -> Option<String> {
    let n_short = |entry: &Entry| match &entry.content {
        Content::Text(_) => 0,
        Content::Units(units) => {
            let lengths = units.iter().map(|unit| trim(unit).chars().count());
            lengths.filter(|length| (1..MIN_COMMENT_CHARS).contains(length)).count()
        }
    };
    let losing: Vec<(&str, usize)> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), n_short(entry)))
        .filter(|(_, n_short)| 0 < *n_short)
        .collect();
    let ids: Vec<&str> = losing.iter().map(|(id, _)| *id).collect();
    let n_dropped = losing.iter().map(|(_, n_short)| n_short).sum();
    (!ids.is_empty()).then(|| {
        format!(
            "{} of under {MIN_COMMENT_CHARS} characters dropped, of {} ({})",
            counted(n_dropped, "unit"),
            counted(ids.len(), "id"),
            first(&ids)
        )
    })
}

fn counted(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// The first five, and how many more.
fn first(ids: &[&str]) -> String {
    const N_NAMED: usize = 5;
    let mut names = ids.iter().take(N_NAMED).copied().collect::<Vec<_>>().join(", ");
    if N_NAMED < ids.len() {
        names.extend([format!(", and {} more", ids.len() - N_NAMED)]);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(ids: &[&str], units: &[&str]) -> Vec<Entry> {
        let content = Content::Units(units.iter().map(|&unit| unit.to_owned()).collect());
        ids.iter()
            .map(|&id| Entry { id: id.to_owned(), content: content.clone(), line: 1 })
            .collect()
    }

    #[test]
    fn ids_of_one_side_are_named_up_to_five() {
        let references = entries(&["a", "b", "c", "d", "e", "f", "g", "a"], &[]);
        let candidates = entries(&["g", "x"], &[]);
        let unpaired = unpaired(&references, &candidates);
        let message = refuse(&unpaired).unwrap_err().to_string();
        let expected =
            "6 ids have no candidate (a, b, c, d, e, and 1 more); 1 id has no reference (x): add";
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(notes(&unpaired).len(), 2);
        assert!(refuse(&super::unpaired(&candidates, &candidates)).is_ok());
    }

    #[test]
    fn units_that_are_dropped_are_counted_by_id() {
        assert_eq!(short_units(&entries(&["a"], &["Why?", "é!?", " "])), None);
        assert_eq!(
            short_units(&entries(&["a", "b"], &["ok", "Why?", " ! "])).unwrap(),
            "4 units of under 3 characters dropped, of 2 ids (a, b)"
        );
    }
}
