//! What a corpus holds, counted.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Anchor, ClassId, Color, Corpus, Draft, EssayId, Grade, Level, MIN_COMMENT_CHARS, Paragraph,
};

/// The counts of a corpus. A word is a run of characters without white space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The drafts.
    pub drafts: DraftCounts,
    /// The essays by the number of their drafts. Drafts whose names do not
    /// follow the pattern are not counted here, nor as classes and students.
    pub essays: BTreeMap<usize, usize>,
    /// The drafts of each class.
    pub drafts_by_class: BTreeMap<ClassId, usize>,
    /// The drafts of each stage, by what the instructors called it.
    pub drafts_by_stage: BTreeMap<String, usize>,
    /// The students: distinct ids.
    pub students: usize,
    /// Those among them that stand in more than one class.
    pub students_in_several_classes: usize,
    /// The paragraphs.
    pub paragraphs: ParagraphCounts,
    /// The inline annotations.
    pub annotations: AnnotationCounts,
    /// The words.
    pub words: WordCounts,
    /// The grades.
    pub grades: GradeCounts,
    /// The files with rubrics and assignments by the level they lie at.
    pub rubrics: BTreeMap<Level, usize>,
    /// The drafts by the level at which their rubric was found.
    pub drafts_by_rubric: BTreeMap<Level, usize>,
}

/// Counts of drafts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DraftCounts {
    /// All.
    pub total: usize,
    /// Those whose name does not follow the pattern of the corpus.
    pub off_pattern: usize,
    /// Those without an inline annotation.
    pub without_annotation: usize,
    /// Those with an assessment: grades, an overall comment or both.
    pub with_assessment: usize,
    /// Those with words of the instructor on the whole draft.
    pub with_overall_comment: usize,
    /// Those with words of a fellow student.
    pub with_peer_comment: usize,
    /// Those for which no rubric was found.
    pub without_rubric: usize,
}

/// Counts of paragraphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParagraphCounts {
    /// All.
    pub total: usize,
    /// Those with an annotation: the full corpus of the experiments.
    pub annotated: usize,
    /// Those with a comment that can be scored.
    pub with_usable_comment: usize,
    /// Those with exactly one annotation.
    pub with_one_annotation: usize,
    /// Those with exactly one comment that can be scored.
    pub with_one_usable_comment: usize,
}

/// Counts of inline annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnotationCounts {
    /// All.
    pub total: usize,
    /// The highlights by colour.
    pub highlights: BTreeMap<Color, usize>,
    /// The notes.
    pub notes: usize,
    /// The strikeouts.
    pub strikeouts: usize,
    /// Those with a comment that can be scored.
    pub with_usable_comment: usize,
    /// Those with a comment too short to be scored.
    pub with_short_comment: usize,
    /// Those without a comment.
    pub without_comment: usize,
}

/// Counts of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordCounts {
    /// In the paragraphs.
    pub essays: usize,
    /// In the comments of inline annotations.
    pub inline: usize,
    /// In the instructors' overall comments.
    pub overall: usize,
    /// In fellow students' comments.
    pub peer: usize,
}

/// Counts of grades.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GradeCounts {
    /// In points.
    pub points: usize,
    /// In words, such as `A-`.
    pub marks: usize,
    /// Items without a grade.
    pub not_given: usize,
}

impl Corpus {
    /// Counts what the corpus holds.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        for draft in self.drafts() {
            statistics.add_draft(draft);
        }
        statistics.add_names(self);
        for rubric in self.rubrics() {
            *statistics.rubrics.entry(rubric.level()).or_default() += 1;
        }
        statistics
    }
}

impl AnnotationCounts {
    /// The highlights of all colours.
    pub fn highlights(&self) -> usize {
        self.highlights.values().sum()
    }
}

impl Statistics {
    /// What the names of the drafts tell.
    fn add_names(&mut self, corpus: &Corpus) {
        let mut drafts_by_essay: BTreeMap<EssayId, usize> = BTreeMap::new();
        let mut classes_by_student: BTreeMap<&str, BTreeSet<ClassId>> = BTreeMap::new();
        for draft in corpus.drafts() {
            let Some(parts) = draft.id.parts() else {
                self.drafts.off_pattern += 1;
                continue;
            };
            *drafts_by_essay.entry(parts.essay_id()).or_default() += 1;
            classes_by_student.entry(parts.student).or_default().insert(parts.class);
            *self.drafts_by_class.entry(parts.class).or_default() += 1;
            *self.drafts_by_stage.entry(parts.stage.to_owned()).or_default() += 1;
        }
        for n_drafts in drafts_by_essay.into_values() {
            *self.essays.entry(n_drafts).or_default() += 1;
        }
        self.students = classes_by_student.len();
        self.students_in_several_classes =
            classes_by_student.values().filter(|classes| 1 < classes.len()).count();
    }

    fn add_draft(&mut self, draft: &Draft) {
        let counts = &mut self.drafts;
        counts.total += 1;
        counts.without_annotation +=
            usize::from(!draft.paragraphs.iter().any(Paragraph::is_annotated));
        match &draft.rubric {
            Some(rubric) => *self.drafts_by_rubric.entry(rubric.level()).or_default() += 1,
            None => counts.without_rubric += 1,
        }
        if let Some(assessment) = &draft.assessment {
            let (overall, peer) = (n_words(&assessment.comment), n_words(&assessment.peer_comment));
            counts.with_assessment += 1;
            counts.with_overall_comment += usize::from(0 < overall);
            counts.with_peer_comment += usize::from(0 < peer);
            self.words.overall += overall;
            self.words.peer += peer;
            for (_, grade) in &assessment.grades {
                match grade {
                    Grade::Points(_) => self.grades.points += 1,
                    Grade::Mark(_) => self.grades.marks += 1,
                    Grade::NotGiven => self.grades.not_given += 1,
                }
            }
        }
        for paragraph in &draft.paragraphs {
            self.add_paragraph(paragraph);
        }
    }

    fn add_paragraph(&mut self, paragraph: &Paragraph) {
        let n_usable = paragraph.usable_comments().count();
        let counts = &mut self.paragraphs;
        counts.total += 1;
        counts.annotated += usize::from(paragraph.is_annotated());
        counts.with_usable_comment += usize::from(0 < n_usable);
        counts.with_one_annotation += usize::from(paragraph.annotations.len() == 1);
        counts.with_one_usable_comment += usize::from(n_usable == 1);
        self.words.essays += n_words(&paragraph.text);
        for annotation in &paragraph.annotations {
            let counts = &mut self.annotations;
            counts.total += 1;
            match annotation.anchor {
                Anchor::Highlight { color, .. } => {
                    *counts.highlights.entry(color).or_default() += 1;
                }
                Anchor::Strikeout { .. } => counts.strikeouts += 1,
                Anchor::Note => counts.notes += 1,
            }
            match annotation.comment.trim().chars().count() {
                0 => counts.without_comment += 1,
                1..MIN_COMMENT_CHARS => counts.with_short_comment += 1,
                _ => counts.with_usable_comment += 1,
            }
            self.words.inline += n_words(&annotation.comment);
        }
    }
}

fn n_words(text: &str) -> usize {
    text.split_whitespace().count()
}
