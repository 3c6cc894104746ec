//! What can be odd about a corpus.

use std::fmt;

use camino::Utf8PathBuf;

/// One thing that is odd about one file. No finding quotes an essay or a
/// comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub file: Utf8PathBuf,
    /// The field in the file, like `paragraphs[3].annotations[0].comment`; empty
    /// where the whole file is meant.
    pub field: String,
    /// What is odd.
    pub kind: FindingKind,
    /// More on this one; may be empty.
    pub detail: String,
}

macro_rules! finding_kinds {
    ($($kind:ident $name:literal $explanation:literal,)*) => {
        /// What is odd about a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FindingKind {
            $(#[doc = $explanation] $kind,)*
        }

        impl FindingKind {
            /// All of them: of files, of rubrics, of drafts, of annotations, of
            /// assessments, of students.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its name in lists.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// What it means, in a few words.
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(Self::$kind => $explanation,)*
                }
            }
        }
    };
}

finding_kinds! {
    Unloadable "unloadable" "the file cannot be loaded",
    DuplicateName "duplicate-name" "another draft has the same name",
    NameOffPattern "name-off-pattern"
        "the name does not follow the pattern of batch, course, class, essay, stage and student",
    NameDisagrees "name-disagrees" "the name tells another place than the file lies in",
    UnknownField "unknown-field" "a field that nothing reads",
    StrayFile "stray-file" "neither a draft nor a rubric",
    NoRubric "no-rubric" "no rubric holds for the draft",
    RubricName "rubric-name" "the rubric's name is not that of its folder, then _rubric",
    RubricMisplaced "rubric-misplaced" "the rubric's name tells another assignment than its folder",
    RubricShort "rubric-short" "a rubric of under 20 characters",
    RubricUndecided "rubric-undecided" "several rubrics, and no name tells which one holds",
    RubricUnused "rubric-unused" "the rubric holds for no draft",
    NoParagraphs "no-paragraphs" "a draft without paragraphs",
    NoAnnotations "no-annotations" "a draft without annotations",
    DuplicateDraft "duplicate-draft" "another draft has the same text",
    EmptyParagraph "empty-paragraph" "a paragraph without text",
    DuplicateParagraph "duplicate-paragraph" "the same text as an earlier paragraph of the draft",
    ControlCharacter "control-character" "control characters other than tab and line feed",
    InvisibleCharacter "invisible-character" "zero-width spaces, soft hyphens and the like",
    ReplacementCharacter "replacement-character" "characters lost or of private use",
    Mojibake "mojibake" "UTF-8 that was once read in another encoding",
    EmptyComment "empty-comment" "an annotation without comment",
    ShortComment "short-comment" "a comment of under 3 characters, too short to be scored",
    EmptyHighlight "empty-highlight" "a highlight or strikeout of no words",
    NoteWithoutContext "note-without-context" "a note that nothing places in its paragraph",
    WordsNotFound "words-not-found" "the marked words do not occur in the paragraph",
    ContextMismatch "context-mismatch" "the context is not that of the marked place",
    AmbiguousPlace "ambiguous-place" "the marked words occur several times, the context fits them all",
    DuplicateAnnotation "duplicate-annotation" "the same as an earlier annotation of the paragraph",
    NoOverallComment "no-overall-comment" "an assessment without a comment",
    ImplausibleGrade "implausible-grade" "points below 0, above 100 or above the maximum in the name",
    StudentInClasses "student-in-classes" "a student id in several classes",
}

impl FindingKind {
    /// Whether it is only worth knowing, and nothing is wrong.
    pub fn is_note(self) -> bool {
        self == Self::StudentInClasses
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
