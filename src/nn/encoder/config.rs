//! The shape of an encoder of the BERT type, and what its tensors are called.

use serde::Deserialize;

/// What a kind of encoder is, as far as it changes the forward pass.
#[derive(Clone, Debug)]
pub(super) struct EncoderConfig {
    /// The size of a state.
    pub(super) hidden_size: usize,
    /// The size of a state within the feed-forward part.
    pub(super) intermediate_size: usize,
    /// How many layers there are.
    pub(super) n_layers: usize,
    /// How many heads share a state; each has an equal part of it.
    pub(super) n_heads: usize,
    /// The tokens that there are.
    pub(super) vocabulary_size: usize,
    /// The positions that there are for tokens: the most tokens of a row.
    pub(super) n_positions: usize,
    /// The positions before them in the table, which no token has.
    pub(super) position_offset: usize,
    /// The types of tokens, such as those of the first and of the second text; none
    /// where there is no table of them.
    pub(super) n_types: usize,
    /// The classes of distances between tokens, where distances count.
    pub(super) n_relative_buckets: usize,
    /// What is done within the feed-forward part.
    pub(super) activation: Activation,
    /// Keeps a norm from dividing by nothing.
    pub(super) norm_epsilon: f32,
    /// What the tensors are called.
    pub(super) names: Names,
}

/// What is done to each number within the feed-forward part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    /// With the exact error function.
    Gelu,
    /// With its approximation by a hyperbolic tangent.
    GeluTanh,
    /// Nothing below nothing.
    Relu,
}

/// The names of an encoder's tensors, each without `.weight` and `.bias`. Those of
/// a layer come after `layer`, in which `{}` stands for the layer's number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    /// What may stand before all of them: a model with a head has its encoder
    /// under a name of its own.
    pub(super) prefixes: &'static [&'static str],
    pub(super) words: &'static str,
    pub(super) positions: &'static str,
    pub(super) types: Option<&'static str>,
    pub(super) relative: Option<&'static str>,
    pub(super) norm: &'static str,
    pub(super) layer: &'static str,
    pub(super) query: &'static str,
    pub(super) key: &'static str,
    pub(super) value: &'static str,
    pub(super) attended: &'static str,
    pub(super) attended_norm: &'static str,
    pub(super) inner: &'static str,
    pub(super) outer: &'static str,
    pub(super) outer_norm: &'static str,
}

pub(super) const BERT: Names = Names {
    prefixes: &["", "bert."],
    words: "embeddings.word_embeddings",
    positions: "embeddings.position_embeddings",
    types: Some("embeddings.token_type_embeddings"),
    relative: None,
    norm: "embeddings.LayerNorm",
    layer: "encoder.layer.{}.",
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    attended: "attention.output.dense",
    attended_norm: "attention.output.LayerNorm",
    inner: "intermediate.dense",
    outer: "output.dense",
    outer_norm: "output.LayerNorm",
};

/// `config.json` of a BERT model, as transformers writes it; those of RoBERTa and
/// MPNet have the same settings, some of which may be missing.
#[derive(Deserialize)]
pub(super) struct BertFile {
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) vocab_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: Option<usize>,
    pub(super) hidden_act: String,
    pub(super) layer_norm_eps: f64,
    pub(super) position_embedding_type: Option<String>,
    pub(super) pad_token_id: Option<usize>,
    pub(super) relative_attention_num_buckets: Option<usize>,
}

/// Why a `config.json` makes no encoder.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConfigProblem {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(serde_json::Error),
    /// It describes what does not run here.
    #[error("{0}")]
    Unsupported(String),
}

impl EncoderConfig {
    /// Parses a `config.json`.
    pub(super) fn parse(text: &str) -> Result<Self, ConfigProblem> {
        #[derive(Deserialize)]
        struct Kind {
            model_type: Option<String>,
        }
        let kind: Kind = serde_json::from_str(text).map_err(ConfigProblem::Unreadable)?;
        let name = kind.model_type.unwrap_or_default();
        let read = || serde_json::from_str(text).map_err(ConfigProblem::Unreadable);
        let config = match name.as_str() {
            "bert" => Self::bert(read()?),
            "roberta" | "xlm-roberta" | "camembert" => Self::roberta(read()?),
            "mpnet" => Self::mpnet(read()?),
            "distilbert" => {
                let file = serde_json::from_str(text).map_err(ConfigProblem::Unreadable)?;
                Self::distilbert(file)
            }
            _ => Err(format!("a model ({name:?}) other than BERT and those of its kind")),
        };
        config.map_err(ConfigProblem::Unsupported)
    }

    /// BERT itself, from which the others differ a little.
    #[expect(clippy::cast_possible_truncation, reason = "states are in single precision")]
    pub(super) fn bert(file: BertFile) -> Result<Self, String> {
        let activation = match file.hidden_act.as_str() {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => return Err(format!("the activation {other:?}")),
        };
        if let Some(other) = file.position_embedding_type.filter(|kind| kind != "absolute") {
            return Err(format!("positions of the kind {other:?}"));
        }
        let sizes = [file.hidden_size, file.intermediate_size, file.num_attention_heads];
        if sizes.contains(&0) || !file.hidden_size.is_multiple_of(file.num_attention_heads) {
            return Err(format!(
                "states of {} numbers in {} heads, between them {}",
                file.hidden_size, file.num_attention_heads, file.intermediate_size
            ));
        }
        Ok(Self {
            hidden_size: file.hidden_size,
            intermediate_size: file.intermediate_size,
            n_layers: file.num_hidden_layers,
            n_heads: file.num_attention_heads,
            vocabulary_size: file.vocab_size,
            n_positions: file.max_position_embeddings,
            position_offset: 0,
            n_types: file.type_vocab_size.unwrap_or(2),
            n_relative_buckets: 0,
            activation,
            norm_epsilon: file.layer_norm_eps as f32,
            names: BERT,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"model_type": "bert", "hidden_size": 64, "intermediate_size": 128,
        "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99,
        "max_position_embeddings": 32, "type_vocab_size": 2, "hidden_act": "gelu",
        "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1}"#;

    fn check_unsupported(from: &str, to: &str, expected: &str) {
        assert!(FILE.contains(from), "{from}");
        match EncoderConfig::parse(&FILE.replace(from, to)) {
            Err(ConfigProblem::Unsupported(what)) => assert!(what.contains(expected), "{what}"),
            Err(ConfigProblem::Unreadable(error)) => panic!("{error}"),
            Ok(config) => panic!("{config:?}"),
        }
    }

    #[test]
    fn what_does_not_run_here_is_refused() {
        assert!(EncoderConfig::parse(FILE).is_ok());
        check_unsupported("\"bert\"", "\"t5\"", "other than BERT");
        check_unsupported("\"model_type\": \"bert\",", "", "other than BERT");
        check_unsupported("\"gelu\"", "\"mish\"", "mish");
        check_unsupported("\"num_attention_heads\": 4", "\"num_attention_heads\": 5", "5 heads");
        let relative = "\"position_embedding_type\": \"relative_key\", \"hidden_act\"";
        check_unsupported("\"hidden_act\"", relative, "relative_key");
    }
}
