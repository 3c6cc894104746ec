//! Whether a scorer or a segmenter agrees with people: annotations, and cards.
//!
//! A card is plain data: figures of one instrument on one file of annotations, with
//! what they rest on. Nothing is computed on pairs that could not be rated; a card says
//! how many there are.

mod annotation_error;
mod boundaries;
mod boundary_edits;
mod cache;
mod cards;
mod csv_rows;
mod drawing;
mod exported;
mod figures;
mod pairs_file;
mod published;
mod raters;
mod ranking;
mod segmentation_card;
mod segmentation_figures;
mod segmentations_file;
mod similarity_card;
mod span_overlap;

pub use annotation_error::AnnotationError;
pub use boundaries::{Boundaries, WindowDiff, window_diff};
pub use boundary_edits::{BoundaryEdits, boundary_edits};
pub use cache::{CutRecord, CutTexts, Cuts, RatePairs, Rated, cut_texts, rate_pairs};
pub use cards::{Cards, Standing, scorer_key};
pub use drawing::{Candidate, Design, DrawnPair, draw_pairs, pair_id};
pub use exported::{Imported, import_sheets};
pub use figures::{FigureIntervals, SimilarityFigures};
pub use pairs_file::{PairAnnotation, load_pairs, write_pairs};
pub use published::{
    PUBLISHED_RANKING, PUBLISHED_SCORERS, PUBLISHED_SEGMENTERS, PublishedScorer, PublishedSegmenter,
};
pub use ranking::{
    ComposedSet, ComposedText, ImportedRankings, KeyedSet, KeyedText, Material, RankedText,
    RankerFigures, Ranking, RankingCard, RankingFigures, SHEET_COLUMNS, TARGETS, compose, guarded,
    import_rankings, load_key, load_rankings, ranking_card, ranking_sheet_name, write_rankings,
};
pub use raters::RaterFigures;
pub use segmentation_card::{
    SegmentationCard, SegmentationCardOptions, SegmenterEffect, segmentation_card,
};
pub use segmentation_figures::{SegmentationFigures, segmentation_figures};
pub use segmentations_file::{TextAnnotation, load_segmentations};
pub use similarity_card::{
    AnnotationsNote, BootstrapNote, CalibrationBin, CalibrationFigures, LevelFigures, Other,
    RatingBin, ScorerDifference, SimilarityCard, SimilarityCardOptions, SubsetFigures,
    similarity_card,
};
