//! What another segmenter would make of a run.

use camino::Utf8Path;
use serde_json::json;

use crate::{
    agreement::SegmenterEffect,
    cli::{prepare::Prepared, progress::Bars},
    experiment::{Judging, Plan, Results, Run, SegmenterName, Until, specification},
    run::{Manifest, RunStore, write_atomically},
};

/// Cuts what a run wrote, and its instructors' comments, with another segmenter, and rates
/// and matches it as the run does, in a run directory of its own under `cache`.
pub(super) fn of_segmenter(
    run_dir: &Utf8Path,
    segmenter: &SegmenterName,
    judging: Judging,
    cache: &Utf8Path,
) -> anyhow::Result<SegmenterEffect> {
    let store = RunStore::open(run_dir)?;
    let prepared = Prepared::of_run(&store, None)?;
    let before = results(&prepared, &prepared.plan, &store, Until::Match)?;
    let plan = Plan {
        segmenter: segmenter.clone(),
        judging: Judging { segment_mode: judging.segment_mode, ..prepared.plan.judging },
        ..prepared.plan.clone()
    };
    let spec = specification(&plan, &prepared.corpus, &prepared.library)?;
    let manifest = Manifest::new(spec, json!({ "unimatch": env!("CARGO_PKG_VERSION") }));
    let folder = cache.join(format!("effect-{}", manifest.fingerprint.short()));
    let other = RunStore::open_or_create(&folder, manifest)?;
    // What was written and cleaned is the run's; only what follows is done anew.
    for stage in ["generate", "clean"] {
        copy_records(&run_dir.join(stage), &folder.join(stage))?;
    }
    let after = results(&prepared, &plan, &other, Until::Segment)?;
    let figures = |results: &Results| {
        let soft = results.evaluation.full.estimate.soft.micro;
        [soft.precision, soft.recall, soft.f1]
    };
    let units = |results: &Results| {
        let estimate = &results.evaluation.full.estimate;
        [estimate.n_generated, estimate.n_gold]
    };
    Ok(SegmenterEffect {
        run: before.signature.clone(),
        before: figures(&before),
        after: figures(&after),
        n_units_before: units(&before),
        n_units_after: units(&after),
    })
}

fn copy_records(from: &Utf8Path, to: &Utf8Path) -> anyhow::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs_err::create_dir_all(to)?;
    for entry in from.read_dir_utf8()? {
        let path = entry?.into_path();
        if let Some(name) = path.file_name().filter(|_| path.extension() == Some("jsonl")) {
            write_atomically(&to.join(name), &fs_err::read(&path)?)?;
        }
    }
    Ok(())
}

fn results(
    prepared: &Prepared,
    plan: &Plan,
    store: &RunStore,
    from: Until,
) -> anyhow::Result<Results> {
    let progress = Bars::default();
    let run = Run {
        plan,
        corpus: &prepared.corpus,
        library: &prepared.library,
        models: &prepared.models,
        store,
        progress: &progress,
        cards: &prepared.cards,
        donor: None,
    };
    let driven = run.drive(from, Until::Match)?;
    let (results, _) = driven.results.ok_or_else(|| anyhow::anyhow!("the run has no results"))?;
    anyhow::ensure!(
        0 < results.evaluation.full.estimate.n_paragraphs,
        "{} has no paragraph that came to its end: finish it first",
        store.dir()
    );
    Ok(results)
}
