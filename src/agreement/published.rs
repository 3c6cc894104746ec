//! What the paper publishes of its own instruments, to stand beside a card.
//!
//! Table 3 and section 3 of *SEFORA: Student Essays with Feedback Corpus and LLM Feedback
//! Evaluation Framework* (arXiv 2607.00274). The similarity figures are over 120 pairs
//! rated by two people, against their mean, 50 pairs a request.

/// A scorer in the paper's Table 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedScorer {
    /// Its name there.
    pub name: &'static str,
    /// Pearson's correlation.
    pub pearson: f64,
    /// Spearman's.
    pub spearman: f64,
}

/// The scorers of Table 3 with figures, and what two people agree.
pub const PUBLISHED_SCORERS: [PublishedScorer; 7] = [
    PublishedScorer { name: "two people, with each other", pearson: 0.7572, spearman: 0.7558 },
    PublishedScorer { name: "gemini-3.1-flash-lite-preview", pearson: 0.813, spearman: 0.818 },
    PublishedScorer { name: "GPT-5.1, low effort", pearson: 0.805, spearman: 0.794 },
    PublishedScorer { name: "gpt-5-mini, low effort", pearson: 0.723, spearman: 0.730 },
    PublishedScorer { name: "gemini-2.5-flash-lite", pearson: 0.701, spearman: 0.711 },
    PublishedScorer { name: "text-embedding-3-large", pearson: 0.6696, spearman: 0.6343 },
    PublishedScorer { name: "gpt-5-nano", pearson: 0.598, spearman: 0.604 },
];

/// A segmenter, or a pair of annotators, in the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedSegmenter {
    /// Its name there.
    pub name: &'static str,
    /// WindowDiff with k = 10.
    pub window_diff: f64,
    /// Boundary precision.
    pub precision: f64,
    /// Boundary recall.
    pub recall: f64,
    /// Boundary F1.
    pub f1: f64,
}

/// What the paper says of segmentation, on some fifty messages.
pub const PUBLISHED_SEGMENTERS: [PublishedSegmenter; 2] = [
    PublishedSegmenter {
        name: "two people, with each other",
        window_diff: 0.073,
        precision: 0.99,
        recall: 0.94,
        f1: 0.96,
    },
    PublishedSegmenter {
        name: "GPT-5-nano, low effort, with their consensus",
        window_diff: 0.036,
        precision: 1.0,
        recall: 0.95,
        f1: 0.97,
    },
];

/// Pearson's and Spearman's correlation of the paper's own chain with an expert's order of
/// twenty times three texts.
pub const PUBLISHED_RANKING: [f64; 2] = [0.836, 0.837];
