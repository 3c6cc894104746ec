//! Encoders that differ from BERT in little: DistilBERT, RoBERTa, MPNet.

use serde::Deserialize;

use super::config::{BERT, BertFile, EncoderConfig, Names};

const ROBERTA: Names = Names { prefixes: &["", "roberta."], ..BERT };

const MPNET: Names = Names {
    prefixes: &["", "mpnet."],
    types: None,
    relative: Some("encoder.relative_attention_bias"),
    query: "attention.attn.q",
    key: "attention.attn.k",
    value: "attention.attn.v",
    attended: "attention.attn.o",
    attended_norm: "attention.LayerNorm",
    ..BERT
};

const DISTILBERT: Names = Names {
    prefixes: &["", "distilbert."],
    types: None,
    layer: "transformer.layer.{}.",
    query: "attention.q_lin",
    key: "attention.k_lin",
    value: "attention.v_lin",
    attended: "attention.out_lin",
    attended_norm: "sa_layer_norm",
    inner: "ffn.lin1",
    outer: "ffn.lin2",
    outer_norm: "output_layer_norm",
    ..BERT
};

/// The classes of distances of MPNet where its `config.json` gives no number.
const N_RELATIVE_BUCKETS: usize = 32;

/// `config.json` of a DistilBERT model, as transformers writes it.
#[derive(Deserialize)]
pub(super) struct DistilBertFile {
    dim: usize,
    hidden_dim: usize,
    n_layers: usize,
    n_heads: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    activation: String,
}

impl EncoderConfig {
    /// RoBERTa, XLM-RoBERTa and CamemBERT: the positions of tokens begin after that
    /// of the padding, and all tokens are of one type.
    pub(super) fn roberta(file: BertFile) -> Result<Self, String> {
        let offset = file.pad_token_id.unwrap_or(1) + 1;
        Ok(Self { names: ROBERTA, ..Self::bert(file)?.after_padding(offset)? })
    }

    /// MPNet (Song et al. 2020): as RoBERTa, without types, and with a bias of scores
    /// by distance.
    pub(super) fn mpnet(file: BertFile) -> Result<Self, String> {
        // The position of the padding is written into the model, whatever its token.
        let buckets = file.relative_attention_num_buckets.unwrap_or(N_RELATIVE_BUCKETS);
        if buckets < 4 || !buckets.is_multiple_of(4) {
            return Err(format!("{buckets} classes of distances"));
        }
        let config = Self::bert(file)?.after_padding(2)?;
        Ok(Self { n_types: 0, n_relative_buckets: buckets, names: MPNET, ..config })
    }

    /// DistilBERT (Sanh et al. 2019): BERT without types.
    pub(super) fn distilbert(file: DistilBertFile) -> Result<Self, String> {
        let config = Self::bert(BertFile {
            hidden_size: file.dim,
            intermediate_size: file.hidden_dim,
            num_hidden_layers: file.n_layers,
            num_attention_heads: file.n_heads,
            vocab_size: file.vocab_size,
            max_position_embeddings: file.max_position_embeddings,
            type_vocab_size: None,
            hidden_act: file.activation,
            layer_norm_eps: 1e-12,
            position_embedding_type: None,
            pad_token_id: None,
            relative_attention_num_buckets: None,
        })?;
        Ok(Self { n_types: 0, names: DISTILBERT, ..config })
    }

    fn after_padding(self, offset: usize) -> Result<Self, String> {
        match self.n_positions.checked_sub(offset) {
            Some(n_positions) if 0 < n_positions => {
                Ok(Self { n_positions, position_offset: offset, ..self })
            }
            _ => Err(format!("{} positions, {offset} of them for padding", self.n_positions)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(kind: &str, extra: &str) -> Result<EncoderConfig, String> {
        let text = format!(
            r#"{{"model_type": "{kind}", "hidden_size": 64, "intermediate_size": 128,
            "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99,
            "max_position_embeddings": 34, "hidden_act": "gelu", "layer_norm_eps": 1e-5{extra}}}"#
        );
        EncoderConfig::parse(&text).map_err(|problem| problem.to_string())
    }

    #[test]
    fn tokens_have_the_positions_after_that_of_the_padding() {
        let config = parse("roberta", ", \"type_vocab_size\": 1, \"pad_token_id\": 1").unwrap();
        assert_eq!((config.n_positions, config.position_offset, config.n_types), (32, 2, 1));
        let config = parse("mpnet", "").unwrap();
        assert_eq!((config.n_positions, config.n_types, config.n_relative_buckets), (32, 0, 32));
        assert!(parse("roberta", ", \"pad_token_id\": 40").unwrap_err().contains("34 positions"));
        let odd = ", \"relative_attention_num_buckets\": 30";
        assert!(parse("mpnet", odd).unwrap_err().contains("30 classes"));
        assert!(parse("distilbert", "").unwrap_err().contains("dim"));
    }
}
