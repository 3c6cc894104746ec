//! What is odd about a corpus.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use super::{
    ClassId, CorpusError, DraftParts, Finding, FindingKind, Level, Rubric,
    draft_file::DraftFile,
    draft_inspection::inspect_draft,
    load::{Reading, draft_id, read},
    natural_order,
    rubric::RubricName,
};

/// What the files of a corpus were found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Everything odd, file by file in natural order; notes on the whole corpus
    /// stand with the first file that they concern.
    pub findings: Vec<Finding>,
    /// How many drafts were looked at, those that cannot be loaded included.
    pub n_drafts: usize,
    /// How many rubrics were looked at.
    pub n_rubrics: usize,
}

impl Inspection {
    /// How many findings there are of each kind that occurs.
    pub fn by_kind(&self) -> BTreeMap<FindingKind, usize> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(finding.kind).or_default() += 1;
        }
        counts
    }

    /// Whether there is a finding that is more than a note.
    pub fn has_irregularities(&self) -> bool {
        self.findings.iter().any(|finding| !finding.kind.is_note())
    }
}

/// Looks through all files of the corpus at `path`, which is found as by
/// [`Corpus::load`](super::Corpus::load).
///
/// A file that cannot be loaded is a finding, and the others are looked at all
/// the same.
///
/// # Errors
///
/// If there is no draft at all, or a folder cannot be read.
pub fn inspect(path: &Utf8Path) -> Result<Inspection, CorpusError> {
    let reading = read(path)?;
    let mut findings = Vec::new();
    for (file, error) in &reading.rubric_errors {
        findings.push(unloadable(file, error));
    }
    for file in &reading.layout.others {
        findings.push(finding(file, FindingKind::StrayFile, String::new()));
    }
    for (file, outcome) in &reading.drafts {
        findings.extend(inspect_name(file, reading.layout.place(file)));
        match outcome {
            Ok(draft) => findings.extend(inspect_draft(file, draft)),
            Err(error) => findings.push(unloadable(file, error)),
        }
    }
    findings.extend(duplicates(&reading));
    findings.extend(inspect_rubrics(&reading));
    findings.extend(students_in_classes(&reading));
    findings.sort_by(|a, b| {
        natural_order(a.file.as_str(), b.file.as_str())
            .then_with(|| natural_order(&a.field, &b.field))
            .then_with(|| a.kind.cmp(&b.kind))
    });
    let n_rubrics = reading.layout.texts.len();
    Ok(Inspection { findings, n_drafts: reading.drafts.len(), n_rubrics })
}

fn finding(file: &Utf8Path, kind: FindingKind, detail: String) -> Finding {
    Finding { file: file.to_owned(), field: String::new(), kind, detail }
}

/// A file that cannot be loaded; the field, where there is one, has its own
/// column.
fn unloadable(file: &Utf8Path, error: &CorpusError) -> Finding {
    match error {
        CorpusError::Draft { error, .. } => {
            let (field, detail) = error.field_and_problem();
            Finding { field, ..finding(file, FindingKind::Unloadable, detail) }
        }
        error => {
            let detail = error.to_string();
            let prefix = format!("{file}: ");
            let detail = detail.strip_prefix(&prefix).unwrap_or(&detail).to_owned();
            finding(file, FindingKind::Unloadable, detail)
        }
    }
}

fn inspect_name(file: &Utf8Path, place: &Utf8Path) -> Option<Finding> {
    let id = draft_id(file);
    let Some(parts) = id.parts() else {
        return Some(finding(file, FindingKind::NameOffPattern, String::new()));
    };
    let folder = place.parent()?;
    let depth = Level::of_folder(folder)?.depth();
    let names: Vec<&str> = folder.components().map(|component| component.as_str()).collect();
    let expected = parts.folders();
    if depth == expected.len() && names[names.len() - depth..] == expected {
        return None;
    }
    let detail = format!("it tells {}", expected.join("/"));
    Some(finding(file, FindingKind::NameDisagrees, detail))
}

/// Drafts of one name, and drafts of one text, each but the first.
fn duplicates(reading: &Reading) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first_of_name: BTreeMap<_, &Utf8Path> = BTreeMap::new();
    let mut first_of_text: BTreeMap<Vec<&str>, &Utf8Path> = BTreeMap::new();
    for (file, outcome) in &reading.drafts {
        let first: &Utf8Path = first_of_name.entry(draft_id(file)).or_insert(file);
        if first != file {
            findings.push(finding(file, FindingKind::DuplicateName, format!("as {first}")));
        }
        let Ok(DraftFile { content, .. }) = outcome else { continue };
        let text: Vec<&str> =
            content.paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect();
        if text.iter().all(|paragraph| paragraph.trim().is_empty()) {
            continue;
        }
        let first: &Utf8Path = first_of_text.entry(text).or_insert(file);
        if first != file {
            findings.push(finding(file, FindingKind::DuplicateDraft, format!("as {first}")));
        }
    }
    findings
}

fn inspect_rubrics(reading: &Reading) -> Vec<Finding> {
    const MIN_CHARS: usize = 20;

    let Reading { layout, rubrics, .. } = reading;
    let file_of = |rubric: &Rubric| layout.base.join(&rubric.path);
    let mut findings = Vec::new();
    let mut used: BTreeSet<&Utf8Path> = BTreeSet::new();
    let mut undecided: BTreeSet<&Utf8Path> = BTreeSet::new();
    for (file, _) in &reading.drafts {
        let (place, id) = (layout.place(file), draft_id(file));
        let Some(rubric) = rubrics.find(place, &id) else {
            findings.push(finding(file, FindingKind::NoRubric, String::new()));
            continue;
        };
        used.insert(&rubric.path);
        if rubrics.is_undecided(rubric, &id) {
            undecided.insert(&rubric.path);
        }
    }
    for rubric in rubrics.iter() {
        let file = file_of(rubric);
        findings.extend(inspect_rubric_name(&file, &rubric.path));
        if rubric.text.trim().chars().count() < MIN_CHARS {
            findings.push(finding(&file, FindingKind::RubricShort, String::new()));
        }
        // Of a part of a corpus, the other part may use a rubric above it.
        if !used.contains(rubric.path.as_path()) && file.starts_with(&layout.named) {
            findings.push(finding(&file, FindingKind::RubricUnused, String::new()));
        }
        if undecided.contains(rubric.path.as_path()) {
            let detail = "this one is taken".to_owned();
            findings.push(finding(&file, FindingKind::RubricUndecided, detail));
        }
    }
    let listed: BTreeSet<Utf8PathBuf> = rubrics.iter().map(file_of).collect();
    let failed: BTreeSet<&Utf8PathBuf> =
        reading.rubric_errors.iter().map(|(file, _)| file).collect();
    for file in layout.texts.iter().filter(|file| !listed.contains(*file) && !failed.contains(file))
    {
        findings.push(finding(file, FindingKind::RubricShort, "blank, so not used".to_owned()));
    }
    findings
}

fn inspect_rubric_name(file: &Utf8Path, place: &Utf8Path) -> Option<Finding> {
    let folder = place.parent()?;
    let depth = Level::of_folder(folder)?.depth();
    let names: Vec<&str> = folder.components().map(|component| component.as_str()).collect();
    let told_by_folder = names[names.len() - depth..].join("_");
    let stem = file.file_stem()?;
    let expected = format!("{told_by_folder}_rubric");
    if stem == expected {
        return None;
    }
    let kind = if RubricName::parse(stem) == RubricName::parse(&told_by_folder) {
        FindingKind::RubricName
    } else {
        FindingKind::RubricMisplaced
    };
    Some(finding(file, kind, format!("expected {expected}.txt")))
}

/// One note for each student who stands in several classes.
fn students_in_classes(reading: &Reading) -> Vec<Finding> {
    let mut by_student: BTreeMap<String, (&Utf8Path, BTreeSet<ClassId>)> = BTreeMap::new();
    for (file, _) in &reading.drafts {
        let id = draft_id(file);
        if let Some(DraftParts { student, class, .. }) = id.parts() {
            let (_, classes) =
                by_student.entry(student.to_owned()).or_insert_with(|| (file, BTreeSet::new()));
            classes.insert(class);
        }
    }
    by_student
        .into_iter()
        .filter(|(_, (_, classes))| 1 < classes.len())
        .map(|(student, (file, classes))| {
            let classes: Vec<String> = classes.iter().map(ClassId::to_string).collect();
            let detail = format!("{student} is in {}", classes.join(" and "));
            finding(file, FindingKind::StudentInClasses, detail)
        })
        .collect()
}
