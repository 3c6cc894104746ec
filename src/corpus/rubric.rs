//! Which assignment or rubric text holds for a draft.

use std::{collections::BTreeMap, sync::Arc};

use camino::{Utf8Path, Utf8PathBuf};

use super::{DraftId, Level, Rubric, natural_order};

impl Rubric {
    /// The level it was written for: that of its folder, or, outside the tree,
    /// the one that its name tells.
    pub fn level(&self) -> Level {
        let folder = self.path.parent().unwrap_or(Utf8Path::new(""));
        Level::of_folder(folder).unwrap_or_else(|| name_of(self).level())
    }
}

/// The rubrics of a corpus by the folder they lie in, each folder's in natural
/// order.
#[derive(Debug, Default)]
pub(super) struct Rubrics {
    by_folder: BTreeMap<Utf8PathBuf, Vec<Rubric>>,
}

impl Rubrics {
    /// Takes the texts by their place in the corpus. Blank ones are left out.
    pub(super) fn new(texts: impl IntoIterator<Item = (Utf8PathBuf, String)>) -> Self {
        let mut by_folder: BTreeMap<Utf8PathBuf, Vec<Rubric>> = BTreeMap::new();
        for (path, text) in texts {
            if !text.trim().is_empty() {
                let folder = path.parent().map(Utf8Path::to_owned).unwrap_or_default();
                by_folder.entry(folder).or_default().push(Rubric { path, text: Arc::from(text) });
            }
        }
        for rubrics in by_folder.values_mut() {
            rubrics.sort_by(|a, b| natural_order(a.path.as_str(), b.path.as_str()));
        }
        Self { by_folder }
    }

    /// All of them, folder by folder.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Rubric> {
        self.by_folder.values().flatten()
    }

    /// The rubric that holds for a draft at this place in the corpus: that of
    /// the nearest folder, going up from its own, which has one for it.
    pub(super) fn find(&self, place: &Utf8Path, id: &DraftId) -> Option<&Rubric> {
        place.ancestors().skip(1).find_map(|folder| {
            let rubrics = self.by_folder.get(folder)?;
            find_in_folder(folder, rubrics, id)
        })
    }

    /// Whether `rubric` was taken for a draft out of several in its folder, and
    /// its name does not tell why.
    pub(super) fn is_undecided(&self, rubric: &Rubric, id: &DraftId) -> bool {
        let folder = rubric.path.parent().unwrap_or(Utf8Path::new(""));
        let rubrics = self.by_folder.get(folder).map_or(&[][..], Vec::as_slice);
        let draft = tokens(id.as_str());
        let n_shared = name_of(rubric).n_shared(&draft);
        let is_rival = |other: &&Rubric| match n_shared {
            Some(n_shared) => name_of(other).n_shared(&draft) == Some(n_shared),
            None => true,
        };
        1 < rubrics.iter().filter(is_rival).count()
    }
}

/// The rubric of one folder that holds for a draft:
///
/// 1. that whose name is the longest beginning of the draft's name;
/// 2. in a folder of the tree, where a name need not tell anything, the first
///    one in natural order, even if it names another assignment;
/// 3. in any other folder the only one that does not name an assignment of the
///    tree at all, such as `rubric.txt`.
fn find_in_folder<'a>(
    folder: &Utf8Path,
    rubrics: &'a [Rubric],
    id: &DraftId,
) -> Option<&'a Rubric> {
    let draft = tokens(id.as_str());
    let by_name = rubrics
        .iter()
        .rev()
        .filter_map(|rubric| Some((name_of(rubric).n_shared(&draft)?, rubric)))
        .max_by_key(|(n_shared, _)| *n_shared);
    if let Some((_, rubric)) = by_name {
        return Some(rubric);
    }
    if Level::of_folder(folder).is_some() {
        return rubrics.first();
    }
    let mut unnamed = rubrics.iter().filter(|rubric| name_of(rubric).level() == Level::Corpus);
    unnamed.next().filter(|_| unnamed.next().is_none())
}

fn name_of(rubric: &Rubric) -> RubricName {
    RubricName::parse(rubric.path.file_stem().unwrap_or_default())
}

/// The name of a rubric's file in parts: `Batch`, `1`, `Course`, `2`, ..., `Final`.
///
/// Any character but letters and digits parts them, so that a doubled or a
/// trailing `_` changes nothing, and closing words like `rubric` are no parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RubricName(Vec<String>);

impl RubricName {
    pub(super) fn parse(stem: &str) -> Self {
        const CLOSING_WORDS: [&str; 6] =
            ["rubric", "rubrics", "prompt", "assignment", "instructions", "guidelines"];

        let mut parts = tokens(stem);
        while parts.last().is_some_and(|part| CLOSING_WORDS.contains(&part.as_str())) {
            parts.pop();
        }
        Self(parts)
    }

    /// How many parts it shares with a draft's name, if it is the beginning of
    /// that name and has any.
    fn n_shared(&self, draft: &[String]) -> Option<usize> {
        (!self.0.is_empty() && draft.starts_with(&self.0)).then_some(self.0.len())
    }

    /// The level of the tree that the name tells; the whole corpus if it tells
    /// none.
    fn level(&self) -> Level {
        if self.0.first().is_none_or(|part| part != "batch") {
            return Level::Corpus;
        }
        match self.0.len() {
            0..=2 => Level::Batch,
            3..=4 => Level::Course,
            5..=6 => Level::Class,
            7..=8 => Level::Essay,
            _ => Level::Stage,
        }
    }
}

/// The runs of letters and digits of a name, in lower case.
fn tokens(name: &str) -> Vec<String> {
    name.split(|ch: char| !ch.is_alphanumeric())
        .filter(|token| !token.is_empty())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of the rubric that holds for a draft, of rubrics at these
    /// places.
    fn check(rubrics: &[&str], draft: &str, expected: Option<&str>) {
        let texts = rubrics.iter().map(|place| (Utf8PathBuf::from(*place), "Write.".to_owned()));
        let rubrics = Rubrics::new(texts);
        let place = Utf8Path::new(draft);
        let found = rubrics.find(place, &DraftId::new(place.file_stem().unwrap()));
        assert_eq!(found.map(|rubric| rubric.path.as_str()), expected);
    }

    const STAGE: &str = "Batch_1/Course_2/Class_1/Essay_3/Final";
    const DRAFT: &str =
        "Batch_1/Course_2/Class_1/Essay_3/Final/Batch_1_Course_2_Class_1_Essay_3_Final_ID0001.json";

    #[test]
    fn the_nearest_folder_that_has_one_decides() {
        let class = "Batch_1/Course_2/Class_1/any_name.txt";
        let essay = "Batch_1/Course_2/Class_1/Essay_3/Batch_1_Course_2_Class_1_Essay_3_rubric.txt";
        let stage = format!("{STAGE}/Batch_1_Course_2_Class_1_Essay_2_Final_rubric.txt");
        check(&[class, essay, &stage], DRAFT, Some(&stage));
        check(&[class, essay], DRAFT, Some(essay));
        check(&[class], DRAFT, Some(class));
        check(&["Batch_1/Course_2/Class_2/rubric.txt"], DRAFT, None);
        check(&[], DRAFT, None);
    }

    #[test]
    fn of_several_in_a_folder_the_name_decides_then_the_natural_order() {
        let other = format!("{STAGE}/10_notes.txt");
        let first = format!("{STAGE}/9_notes.txt");
        let named = format!("{STAGE}/Batch_1_Course_2_Class_1_Essay_3__Final_.txt");
        check(&[&other, &first, &named], DRAFT, Some(&named));
        check(&[&other, &first], DRAFT, Some(&first));
    }

    #[test]
    fn in_a_flat_folder_the_longest_beginning_of_the_name_holds() {
        let class = "Batch_1_Course_2_Class_1_rubric.txt";
        let essay = "Batch_1_Course_2_Class_1_Essay_3_.txt";
        let stage = "Batch_1_Course_2_Class_1_Essay_3__Final_rubric.txt";
        let draft = |name: &str| format!("Batch_1_Course_2_Class_1_{name}_ID0001.json");
        let rubrics = [class, essay, stage];
        check(&rubrics, &draft("Essay_3_Final"), Some(stage));
        check(&rubrics, &draft("Essay_3_Initial"), Some(essay));
        check(&rubrics, &draft("Essay_30_Final"), Some(class));
        check(&rubrics, "Batch_1_Course_3_Class_1_Essay_3_Final_ID0001.json", None);
        check(&[essay], &draft("Essay_2_Final"), None);
    }

    #[test]
    fn a_rubric_that_names_nothing_holds_for_all_if_it_is_the_only_one() {
        check(&["rubric.txt"], "anna.json", Some("rubric.txt"));
        check(&["anna_prompt.txt", "rubric.txt"], "anna_2.json", Some("anna_prompt.txt"));
        check(&["anna_prompt.txt", "rubric.txt"], "bert.json", None);
        let named = "Batch_1_Course_1_Class_1_Essay_1_rubric.txt";
        check(&["rubric.txt", named], "bert.json", Some("rubric.txt"));
    }

    #[test]
    fn the_level_is_that_of_the_folder_or_of_the_name() {
        let level = |path: &str| Rubric { path: path.into(), text: "Write.".into() }.level();
        assert_eq!(level(&format!("{STAGE}/x.txt")), Level::Stage);
        assert_eq!(level("Batch_1/Course_2/Class_1/Essay_3/Batch_1_rubric.txt"), Level::Essay);
        assert_eq!(level("Batch_1_Course_2_Class_1_rubric.txt"), Level::Class);
        assert_eq!(level("Batch_1_Course_2_Class_1_Essay_1__Final_rubric.txt"), Level::Stage);
        assert_eq!(level("rubric.txt"), Level::Corpus);
    }
}
