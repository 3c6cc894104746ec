//! What a run says of itself when it is over, on the screen and in files.

use std::io::{self, Write};

use camino::Utf8Path;

use super::Ending;
use crate::{
    experiment::{Driven, ParagraphResult, Results},
    report,
    run::write_atomically,
};

/// Writes `results.json`, `results.csv` and `paragraphs.jsonl`.
pub(super) fn write_files(
    dir: &Utf8Path,
    results: &Results,
    paragraphs: &[ParagraphResult],
) -> anyhow::Result<()> {
    let mut json = serde_json::to_vec_pretty(results)?;
    json.push(b'\n');
    let mut lines = Vec::new();
    for paragraph in paragraphs {
        serde_json::to_writer(&mut lines, paragraph)?;
        lines.push(b'\n');
    }
    let csv = report::render_csv(&report::all_figures(&results.evaluation))?;
    write_atomically(&dir.join("paragraphs.jsonl"), &lines)?;
    write_atomically(&dir.join("results.csv"), csv.as_bytes())?;
    write_atomically(&dir.join("results.json"), &json)?;
    Ok(())
}

/// Prints the tables, what failed, and where the run lies.
pub(super) fn print(out: &mut impl Write, dir: &Utf8Path, driven: &Driven) -> io::Result<()> {
    if let Some((results, _)) = &driven.results {
        writeln!(out, "{}", report::render_text(&report::figures(&results.evaluation)))?;
        writeln!(out, "{}", report::render_text(&report::coverage(&results.evaluation)))?;
        print_notes(out, results)?;
        writeln!(out, "{}\n", results.signature)?;
    }
    for (stage, tally) in &driven.tallies {
        let n_new = tally.n_items - tally.n_done_before - tally.n_adopted;
        write!(out, "{stage}: {} items, {n_new} worked on", tally.n_items)?;
        if 0 < tally.n_adopted {
            write!(out, ", {} taken over from another run", tally.n_adopted)?;
        }
        if 0 < tally.n_failed {
            write!(
                out,
                ", {} FAILED (why: {}; the same command tries them again)",
                tally.n_failed,
                dir.join(stage)
            )?;
        }
        writeln!(out)?;
        if let Some((reason, count)) = tally.chief_reason() {
            writeln!(out, "  {count} of {} failures: {reason}", tally.n_failed)?;
        }
    }
    if 0 < driven.n_unready {
        writeln!(
            out,
            "{} paragraphs are not ready for this: the stages before it are not done with them",
            driven.n_unready
        )?;
    }
    writeln!(out, "run: {dir}")
}

/// What a reader of the figures should know of the replies.
fn print_notes(out: &mut impl Write, results: &Results) -> io::Result<()> {
    let (replies, context) = (&results.replies, &results.context);
    let notes = [
        (replies.n_cut_by_length, "replies were cut off by the limit on new tokens"),
        (replies.n_ending_removed, "replies lost an unfinished last sentence"),
        (replies.n_off_format, "replies do not keep to the format they were asked for"),
        (replies.n_empty, "replies hold no feedback"),
        (replies.n_emptied_by_judge, "replies were left empty by the cleaning judge"),
        (
            replies.n_refused_by_judge,
            "replies were cleaned by rules alone: the judge changed words",
        ),
        (context.n_trimmed, "prompts left out paragraphs of the essay to fit the budget"),
    ];
    let n_failed = results.evaluation.full.coverage.paragraphs.n_failed;
    let mut any = 0 < n_failed;
    if any {
        writeln!(
            out,
            "{n_failed} of {} paragraphs failed in some stage or are not done yet: they are left \
             out of the figures, and the bounds tell what they could change",
            replies.n_asked
        )?;
    }
    for (count, note) in notes.into_iter().filter(|(count, _)| 0 < *count) {
        writeln!(out, "{count} of {} {note}", replies.n_asked)?;
        any = true;
    }
    if any { writeln!(out) } else { Ok(()) }
}

/// How a command ends that drove stages: incomplete where anything failed, is
/// unscored, or was not ready.
pub(super) fn ending(driven: &Driven) -> Ending {
    let failed = driven.tallies.iter().any(|(_, tally)| 0 < tally.n_failed);
    let uncovered = driven.results.as_ref().is_some_and(|(results, _)| {
        let coverage = results.evaluation.full.coverage;
        0 < coverage.paragraphs.n_failed + coverage.pairs.n_unscored
    });
    if failed || uncovered || 0 < driven.n_unready { Ending::Incomplete } else { Ending::Done }
}
