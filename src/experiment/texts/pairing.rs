//! Which candidate answers which references.

use std::collections::{BTreeMap, btree_map};

use super::{Content, Entry, TextCoverage, Unpaired};

/// A candidate and its references.
pub(super) struct Paired<'a> {
    pub(super) candidate: &'a Content,
    /// In the order of their file.
    pub(super) references: Vec<&'a Content>,
}

/// Brings both sides together by id, and counts what is left out.
///
/// # Errors
///
/// If a candidate's id comes twice, or if an id lacks a side and must not.
pub(super) fn pair<'a>(
    references: &'a [Entry],
    candidates: &'a [Entry],
    unpaired: Unpaired,
    coverage: &mut TextCoverage,
) -> anyhow::Result<BTreeMap<&'a str, Paired<'a>>> {
    let mut by_id: BTreeMap<&str, Vec<&Content>> = BTreeMap::new();
    for entry in references {
        by_id.entry(&entry.id).or_default().push(&entry.content);
    }
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    let mut paired = BTreeMap::new();
    let mut without_reference = Vec::new();
    for Entry { id, content, line } in candidates {
        match lines.entry(id) {
            btree_map::Entry::Occupied(first) => anyhow::bail!(
                "candidate {id} stands on line {} and again on line {line}: keep one",
                first.get()
            ),
            btree_map::Entry::Vacant(place) => place.insert(*line),
        };
        match by_id.remove(id.as_str()) {
            Some(references) => {
                paired.insert(id.as_str(), Paired { candidate: content, references });
            }
            None => without_reference.push(id.as_str()),
        }
    }
    let without_candidate: Vec<&str> = by_id.into_keys().collect();
    if unpaired == Unpaired::Refuse {
        for (ids, lack) in [(&without_candidate, "candidate"), (&without_reference, "reference")] {
            if let Some(first) = ids.first() {
                anyhow::bail!(
                    "{} ids have no {lack}, the first being {first}: add what is missing, or have \
                     such ids left out (--unpaired leave-out)",
                    ids.len()
                );
            }
        }
    }
    anyhow::ensure!(!paired.is_empty(), "no id has both a candidate and a reference");
    coverage.n_ids_without_candidate = without_candidate.len();
    coverage.n_ids_without_reference = without_reference.len();
    Ok(paired)
}
