//! The cards that there are, and what they say of a run's scorer.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SimilarityCard;
use crate::run::write_atomically;

/// The name by which a card and a run find each other: a hash of all that the ratings of
/// a scorer depend on, as `run.json` has it under `scorer`.
pub fn scorer_key(spec: &Value) -> String {
    blake3::hash(spec.to_string().as_bytes()).to_hex()[..16].to_owned()
}

/// Cards by the key of their scorer.
#[derive(Clone, Debug, Default)]
pub struct Cards {
    by_key: BTreeMap<String, (Standing, SimilarityCard)>,
}

/// What is known of a scorer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nothing: no card is there.
    #[default]
    Unvalidated,
    /// What its card says.
    Validated {
        /// Pearson's correlation with gold.
        pearson: Option<f64>,
        /// The pairs.
        n: usize,
        /// What the kinds of pairs that were left out begin with.
        excluded_kinds: Vec<String>,
        /// Who annotated, where it says.
        annotators: Option<String>,
        /// Where the card is.
        card: String,
    },
}

impl Standing {
    /// In a few words, for a signature line.
    pub fn in_words(&self) -> String {
        match self {
            Self::Unvalidated => "unvalidated".to_owned(),
            Self::Validated { pearson, n, annotators, .. } => {
                let pearson = pearson.map_or_else(|| "none".to_owned(), |p| format!("{p:.3}"));
                let by = annotators.as_ref().map(|who| format!(", rated by {who}"));
                format!("validated: Pearson {pearson}, n {n}{}", by.unwrap_or_default())
            }
        }
    }
}

impl Cards {
    /// That of the scorer in the program itself, and those in `folder`, if it is there.
    ///
    /// # Errors
    ///
    /// If a file in the folder that ends in `.json` is no card; the message names it.
    pub fn load(folder: Option<&Utf8Path>) -> anyhow::Result<Self> {
        let mut cards = Self::default();
        #[cfg(feature = "distilled")]
        cards.add(
            include_str!("../../models/distilled/similarity_card.json"),
            "models/distilled/similarity_card.json",
        )?;
        if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
            let mut paths: Vec<Utf8PathBuf> = Vec::new();
            for entry in folder.read_dir_utf8()? {
                let path = entry?.into_path();
                if path.extension() == Some("json") {
                    paths.push(path);
                }
            }
            paths.sort();
            for path in paths {
                cards.add(&fs_err::read_to_string(&path)?, path.as_str())?;
            }
        }
        Ok(cards)
    }

    fn add(&mut self, text: &str, name: &str) -> anyhow::Result<()> {
        let card: SimilarityCard = serde_json::from_str(text).map_err(|error| {
            anyhow::anyhow!(
                "{name} is no card of a scorer ({error}): take it out of the folder of cards, or \
                 make it again with `unimatch validate similarity --card`"
            )
        })?;
        let standing = Standing::Validated {
            pearson: card.pearson,
            n: card.n,
            excluded_kinds: card.annotations.excluded_kinds.clone(),
            annotators: card.annotations.annotators.clone(),
            card: name.to_owned(),
        };
        self.by_key.insert(card.scorer_key.clone(), (standing, card));
        Ok(())
    }

    /// What is known of the scorer with this specification.
    pub fn standing(&self, scorer_spec: &Value) -> Standing {
        let found = self.by_key.get(&scorer_key(scorer_spec));
        found.map(|(standing, _)| standing.clone()).unwrap_or_default()
    }

    /// The card of the scorer with this specification, where there is one.
    pub fn card(&self, scorer_spec: &Value) -> Option<&SimilarityCard> {
        self.by_key.get(&scorer_key(scorer_spec)).map(|(_, card)| card)
    }

    /// Puts a card into a folder, in place of an older one of the same scorer, and says
    /// where it is.
    pub fn store(folder: &Utf8Path, card: &SimilarityCard) -> anyhow::Result<Utf8PathBuf> {
        fs_err::create_dir_all(folder)?;
        let path = folder.join(format!("{}.json", card.scorer_key));
        let mut text = serde_json::to_string_pretty(card)?;
        text.push('\n');
        write_atomically(&path, text.as_bytes())?;
        Ok(path)
    }
}
