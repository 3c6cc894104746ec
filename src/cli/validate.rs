//! `unimatch validate`: whether an instrument agrees with people.

mod bench;
mod effect;
mod gate;
mod segmentation;
mod similarity;

use clap::Subcommand;

use super::Ending;

/// Hold a scorer or a segmenter against what people said.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    Similarity(similarity::Args),
    Segmentation(segmentation::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.measure {
        Measure::Similarity(args) => similarity::run(args),
        Measure::Segmentation(args) => segmentation::run(args),
    }
}
