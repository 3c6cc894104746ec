//! F1 of parts of the corpus.

use std::collections::{BTreeMap, BTreeSet};

use super::{Material, differences::class_of};
use crate::{
    corpus::{Anchor, Corpus, DraftParts, ParagraphId},
    experiment::{
        ParagraphResult,
        comparison::{CountedRun, Figure, Measure, clusters, counted, counts_of, estimate},
    },
    report::page::{Estimate, Slice},
};

/// By what paragraphs are parted, and how the part of one is called; `None` where nothing
/// tells it.
type Parting<'a> = (&'static str, Box<dyn Fn(&ParagraphResult) -> Option<String> + 'a>);

/// Micro soft F1 by class, assignment, stage, colour of the instructors' marks and number of
/// gold units. A parting with a single part says nothing, and is left out.
pub(super) fn slices(material: &Material<'_>) -> Vec<Slice> {
    let colors = material.corpus.map(colors).unwrap_or_default();
    let partings: [Parting<'_>; 5] = [
        ("class", Box::new(|paragraph| Some(class_of(&paragraph.paragraph)))),
        (
            "assignment",
            Box::new(|paragraph| {
                let essay = with_parts(&paragraph.paragraph, |parts| parts.essay)?;
                Some(format!("{}, essay {essay}", class_of(&paragraph.paragraph)))
            }),
        ),
        (
            "stage",
            Box::new(|paragraph| {
                with_parts(&paragraph.paragraph, |parts| parts.stage.replace('_', " "))
            }),
        ),
        ("colour of marks", Box::new(|paragraph| colors.get(&paragraph.paragraph).cloned())),
        (
            "gold units",
            Box::new(|paragraph| {
                Some(match paragraph.gold.len() {
                    n @ 0..=3 => n.to_string(),
                    4..=6 => "4 to 6".to_owned(),
                    _ => "7 or more".to_owned(),
                })
            }),
        ),
    ];
    let mut all = Vec::new();
    for (by, part_of) in &partings {
        let runs: Vec<(&str, CountedRun<'_>)> =
            material.runs.iter().map(|run| (run.name.as_str(), counted(run))).collect();
        let parts: BTreeSet<String> = runs
            .iter()
            .flat_map(|(_, own)| own.paragraphs.iter().filter_map(|paragraph| part_of(paragraph)))
            .collect();
        if parts.len() < 2 {
            continue;
        }
        for part in &parts {
            for (name, own) in &runs {
                let is_in = |paragraph: &ParagraphResult| part_of(paragraph).as_ref() == Some(part);
                all.extend(slice(material, (by, part), name, own, is_in));
            }
        }
    }
    all
}

fn slice(
    material: &Material<'_>,
    (by, part): (&str, &str),
    run: &str,
    own: &CountedRun<'_>,
    is_in: impl Fn(&ParagraphResult) -> bool,
) -> Option<Slice> {
    let settings = material.settings;
    let places: Vec<usize> =
        (0..own.paragraphs.len()).filter(|&place| is_in(own.paragraphs[place])).collect();
    if places.is_empty() {
        return None;
    }
    let scores: Vec<_> = places.iter().map(|&place| own.scores[place].clone()).collect();
    let counts = counts_of(&scores, Measure::Soft, settings.kind);
    let keys = places.iter().map(|&place| own.paragraphs[place].paragraph.as_str());
    let groups = clusters(keys, settings.level);
    let found = estimate(&counts, &groups, Figure::F1, settings.draws.level);
    Some(Slice {
        by: by.to_owned(),
        part: part.to_owned(),
        run: run.to_owned(),
        f1: Estimate {
            value: found.value,
            interval: found.estimate.map(|found| (found.interval.low, found.interval.high)),
        },
        n_paragraphs: places.len(),
    })
}

/// What the name of a paragraph's draft says.
pub(super) fn with_parts<T>(key: &str, of: impl Fn(DraftParts<'_>) -> T) -> Option<T> {
    let id = key.parse::<ParagraphId>().ok()?;
    id.draft.parts().map(of)
}

/// The colour of the marks that usable comments hang on, by paragraph: `several` where they
/// are of more than one.
fn colors(corpus: &Corpus) -> BTreeMap<String, String> {
    let of_target = |target: crate::corpus::Target<'_>| {
        let marks: BTreeSet<&str> = target
            .comments
            .iter()
            .filter_map(|(index, _)| target.paragraph.annotations.get(*index))
            .map(|annotation| match annotation.anchor {
                Anchor::Highlight { color, .. } => color.name(),
                Anchor::Strikeout { .. } => "strikeout",
                Anchor::Note => "note",
            })
            .collect();
        let one = if marks.len() == 1 { marks.first().copied() } else { None };
        (target.id().to_string(), one.unwrap_or("several").to_owned())
    };
    corpus.scorable_targets().map(of_target).collect()
}
