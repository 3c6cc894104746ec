//! What a corpus holds, in 32 bytes.

use rayon::prelude::*;

use super::{Annotation, Corpus, Draft, Grade};

/// The digest of the drafts of the public release of SEFORA (commit d7bdcc0).
const SEFORA_DRAFTS_DIGEST: &str =
    "f3bdbb5ab27c4277475581b9761a2713d2685993c85a14793d6c7e4736e82066";

impl Corpus {
    /// The BLAKE3 digest of all that is loaded: the drafts with their names,
    /// annotations and assessments, and the text of each one's rubric.
    ///
    /// Where the files lie, in which order they were read and how their JSON is
    /// laid out does not count.
    pub fn digest(&self) -> blake3::Hash {
        self.digest_of(|digest, draft| {
            digest.draft(draft);
            digest.option(draft.rubric.as_ref(), |digest, rubric| digest.text(&rubric.text));
        })
    }

    /// The digest of the drafts alone, whatever their rubrics.
    pub fn drafts_digest(&self) -> blake3::Hash {
        self.digest_of(Digest::draft)
    }

    /// Whether the drafts are those of the public release of SEFORA, to the
    /// last character of their content.
    pub fn is_sefora(&self) -> bool {
        self.drafts_digest().to_hex().as_str() == SEFORA_DRAFTS_DIGEST
    }

    /// A digest over those of each draft, in the order of the names.
    fn digest_of(&self, add: impl Fn(&mut Digest, &Draft) + Sync) -> blake3::Hash {
        let hashes: Vec<blake3::Hash> = self
            .drafts
            .par_iter()
            .map(|draft| {
                let mut digest = Digest::default();
                add(&mut digest, draft);
                digest.0.finalize()
            })
            .collect();
        let mut all = blake3::Hasher::new();
        for hash in hashes {
            all.update(hash.as_bytes());
        }
        all.finalize()
    }
}

/// A hash over values of which each is written with its length, so that no two
/// sequences of values run together.
#[derive(Default)]
struct Digest(blake3::Hasher);

impl Digest {
    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.0.update(&(number as u64).to_le_bytes());
    }

    fn option<T>(&mut self, value: Option<T>, add: impl FnOnce(&mut Self, T)) {
        self.number(usize::from(value.is_some()));
        if let Some(value) = value {
            add(self, value);
        }
    }

    fn draft(&mut self, draft: &Draft) {
        self.text(draft.id.as_str());
        self.number(draft.paragraphs.len());
        for paragraph in &draft.paragraphs {
            self.text(&paragraph.text);
            self.number(paragraph.annotations.len());
            for annotation in &paragraph.annotations {
                self.annotation(annotation);
            }
        }
        self.option(draft.assessment.as_ref(), |digest, assessment| {
            digest.number(assessment.grades.len());
            for (name, grade) in &assessment.grades {
                digest.text(name);
                digest.grade(grade);
            }
            digest.text(&assessment.comment);
            digest.text(&assessment.peer_comment);
        });
    }

    fn annotation(&mut self, annotation: &Annotation) {
        self.text(annotation.kind());
        if let Some(text) = annotation.text() {
            self.text(text);
        }
        if let Some(color) = annotation.color() {
            self.text(color.name());
        }
        self.text(&annotation.comment);
        self.text(&annotation.context_left);
        self.text(&annotation.context_right);
    }

    fn grade(&mut self, grade: &Grade) {
        match grade {
            Grade::Points(points) => {
                self.text("points");
                self.0.update(&points.to_bits().to_le_bytes());
            }
            Grade::Mark(mark) => {
                self.text("mark");
                self.text(mark);
            }
            Grade::NotGiven => self.text("not given"),
        }
    }
}
