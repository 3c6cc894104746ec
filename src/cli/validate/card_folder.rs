//! The folder that a card is written to.

use anyhow::{Context, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::bench::markdown;
use crate::{report::Titled, run::write_atomically};

/// Where a card is written.
#[derive(Debug, clap::Args)]
pub(super) struct CardFolder {
    /// Folder for card.json and card.md, and for a scorer confusion.svg and calibration.svg
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,

    /// Write over the card of another instrument
    #[arg(long, requires = "out")]
    force: bool,
}

/// A card as it is written.
pub(super) struct Written<'a> {
    pub(super) title: &'a str,
    pub(super) tables: &'a [Titled],
    pub(super) signature: &'a str,
    pub(super) figures: &'a [(&'a str, String)],
}

impl CardFolder {
    /// Writes a card, if that was asked for. `names` are the keys that say what it is the
    /// card of.
    ///
    /// # Errors
    ///
    /// If the folder has the card of another instrument, and it was not said that it may
    /// go.
    pub(super) fn write(
        &self,
        card: &impl serde::Serialize,
        names: &[&str],
        written: &Written<'_>,
    ) -> anyhow::Result<()> {
        let Some(dir) = &self.out else { return Ok(()) };
        let path = dir.join("card.json");
        if !self.force && path.exists() {
            refuse_other(&path, &serde_json::to_value(card)?, names)?;
        }
        fs_err::create_dir_all(dir)?;
        let mut json = serde_json::to_string_pretty(card)?;
        json.push('\n');
        write_atomically(&path, json.as_bytes())?;
        let Written { title, tables, signature, figures } = written;
        let text = markdown(title, tables, signature);
        write_atomically(&dir.join("card.md"), text.as_bytes())?;
        for (name, svg) in *figures {
            write_atomically(&dir.join(name), svg.as_bytes())?;
        }
        Ok(())
    }
}

fn refuse_other(path: &Utf8Path, card: &Value, names: &[&str]) -> anyhow::Result<()> {
    const WAY_OUT: &str = "give another --out, or --force to write over it";
    let found = fs_err::read(path).map_err(anyhow::Error::from);
    let found: Value = found
        .and_then(|bytes| Ok(serde_json::from_slice(&bytes)?))
        .with_context(|| format!("{path} is there already and is no card: {WAY_OUT}"))?;
    ensure!(
        names.iter().all(|name| found.get(name) == card.get(name)),
        "{path} is the card of another instrument: {WAY_OUT}"
    );
    Ok(())
}
