//! `unimatch validate`: whether an instrument agrees with people.

pub(super) mod bench;
mod card_folder;
mod effect;
mod end_to_end;
mod gate;
mod segmentation;
mod similarity;

use clap::Subcommand;

use super::Ending;

/// Hold a scorer, a segmenter, or both together against what people said.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    Similarity(similarity::Args),
    Segmentation(segmentation::Args),
    EndToEnd(end_to_end::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.measure {
        Measure::Similarity(args) => similarity::run(args),
        Measure::Segmentation(args) => segmentation::run(args),
        Measure::EndToEnd(args) => end_to_end::run(args),
    }
}
