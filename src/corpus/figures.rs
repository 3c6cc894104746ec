//! The counts of a corpus as a list of named figures.

use super::{Color, Level, Statistics};

/// One figure of a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Names it in files: `annotations.highlights.green`. Its first part groups
    /// the figures.
    pub key: String,
    /// Names it in tables.
    pub label: String,
    /// The figure.
    pub amount: Amount,
}

impl Figure {
    /// The group it belongs to.
    pub fn group(&self) -> &str {
        self.key.split('.').next().unwrap_or_default()
    }
}

/// A number with how exact it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many.
    Count(usize),
    /// A mean.
    Mean(f64),
}

impl Amount {
    /// The number.
    pub fn value(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Mean(mean) => mean,
        }
    }
}

impl Statistics {
    /// All figures, group by group: drafts, essays, classes, students,
    /// paragraphs, annotations, words, grades, rubrics.
    ///
    /// A mean over no drafts is left out.
    pub fn figures(&self) -> Vec<Figure> {
        let mut list = FigureList(Vec::new());
        self.add_drafts(&mut list);
        self.add_paragraphs(&mut list);
        self.add_annotations(&mut list);
        self.add_words(&mut list);
        self.add_rubrics(&mut list);
        list.0
    }

    fn add_drafts(&self, list: &mut FigureList) {
        let drafts = &self.drafts;
        list.count("drafts.total", "drafts", drafts.total);
        for (stage, n_drafts) in &self.drafts_by_stage {
            list.count(format!("drafts.by_stage.{stage}"), format!("  {stage}"), *n_drafts);
        }
        list.count("drafts.without_annotation", "without annotation", drafts.without_annotation);
        list.count("drafts.with_assessment", "with an assessment", drafts.with_assessment);
        let key = "drafts.with_overall_comment";
        list.count(key, "with an overall comment", drafts.with_overall_comment);
        list.count("drafts.with_peer_comment", "with a peer comment", drafts.with_peer_comment);
        list.count("drafts.off_pattern", "with a name off the pattern", drafts.off_pattern);
        list.count("essays.total", "essays", self.essays.values().sum());
        for (n_drafts, n_essays) in &self.essays {
            let label = match n_drafts {
                1 => "  with 1 draft".to_owned(),
                n => format!("  with {n} drafts"),
            };
            list.count(format!("essays.with_drafts.{n_drafts}"), label, *n_essays);
        }
        list.count("classes.total", "classes", self.drafts_by_class.len());
        for (class, n_drafts) in &self.drafts_by_class {
            let label = format!("  drafts of {class}");
            list.count(format!("classes.drafts.{class}"), label, *n_drafts);
        }
        list.count("students.total", "students", self.students);
        let several = self.students_in_several_classes;
        list.count("students.in_several_classes", "in several classes", several);
    }

    fn add_paragraphs(&self, list: &mut FigureList) {
        let paragraphs = &self.paragraphs;
        list.count("paragraphs.total", "paragraphs", paragraphs.total);
        list.count("paragraphs.annotated", "annotated", paragraphs.annotated);
        let key = "paragraphs.with_usable_comment";
        list.count(key, "with a usable comment", paragraphs.with_usable_comment);
        let key = "paragraphs.with_one_annotation";
        list.count(key, "with exactly one annotation", paragraphs.with_one_annotation);
        let key = "paragraphs.with_one_usable_comment";
        list.count(key, "with exactly one usable comment", paragraphs.with_one_usable_comment);
    }

    fn add_annotations(&self, list: &mut FigureList) {
        let annotations = &self.annotations;
        list.count("annotations.total", "annotations", annotations.total);
        list.count("annotations.highlights.total", "highlights", annotations.highlights());
        for color in Color::ALL {
            let count = annotations.highlights.get(&color).copied().unwrap_or(0);
            list.count(format!("annotations.highlights.{color}"), format!("  {color}"), count);
        }
        list.count("annotations.notes", "notes", annotations.notes);
        list.count("annotations.strikeouts", "strikeouts", annotations.strikeouts);
        let key = "annotations.with_usable_comment";
        list.count(key, "with a usable comment", annotations.with_usable_comment);
        let key = "annotations.with_short_comment";
        list.count(key, "with a comment under 3 characters", annotations.with_short_comment);
        list.count("annotations.without_comment", "without comment", annotations.without_comment);
    }

    fn add_words(&self, list: &mut FigureList) {
        let (words, n_drafts) = (&self.words, self.drafts.total);
        list.count("words.feedback", "words of feedback", words.inline + words.overall);
        list.count("words.inline", "in inline comments", words.inline);
        list.mean("words.inline_per_draft", "  per draft", words.inline, n_drafts);
        list.count("words.overall", "in overall comments", words.overall);
        list.mean("words.overall_per_draft", "  per draft", words.overall, n_drafts);
        list.count("words.peer", "in peer comments", words.peer);
        list.count("words.essays", "in the essays", words.essays);
        list.mean("words.essays_per_draft", "  per draft", words.essays, n_drafts);
        let grades = &self.grades;
        let n_grades = grades.points + grades.marks + grades.not_given;
        list.count("grades.total", "grades", n_grades);
        list.count("grades.points", "in points", grades.points);
        list.count("grades.marks", "in words (A-, ...)", grades.marks);
        list.count("grades.not_given", "not given (N/A)", grades.not_given);
    }

    fn add_rubrics(&self, list: &mut FigureList) {
        list.count("rubrics.total", "rubric files", self.rubrics.values().sum());
        for level in Level::ALL.into_iter().rev() {
            if let Some(n_files) = self.rubrics.get(&level) {
                let (key, label) = (level.name(), format!("  of one {}", level.name()));
                list.count(format!("rubrics.files.{key}"), label, *n_files);
            }
        }
        for level in Level::ALL.into_iter().rev() {
            if let Some(n_drafts) = self.drafts_by_rubric.get(&level) {
                let (key, label) = (level.name(), format!("drafts with that of their {level}"));
                list.count(format!("rubrics.drafts.{key}"), label, *n_drafts);
            }
        }
        let without = self.drafts.without_rubric;
        list.count("rubrics.drafts.none", "drafts without rubric", without);
    }
}

struct FigureList(Vec<Figure>);

impl FigureList {
    fn count(&mut self, key: impl Into<String>, label: impl Into<String>, count: usize) {
        let amount = Amount::Count(count);
        self.0.push(Figure { key: key.into(), label: label.into(), amount });
    }

    fn mean(&mut self, key: &str, label: &str, sum: usize, n: usize) {
        if n != 0 {
            let amount = Amount::Mean(sum as f64 / n as f64);
            self.0.push(Figure { key: key.to_owned(), label: label.to_owned(), amount });
        }
    }
}
