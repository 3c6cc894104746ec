//! What Hugging Face calls the tensors of a decoder.

use crate::nn::config::HuggingFaceConfig;

/// What Gemma's files leave out of every norm.
pub(super) const SUPPLEMENT: f32 = 1.0;

/// How the tensors of one folder are named.
#[derive(Debug)]
pub(super) struct Naming {
    /// What stands before the names of the body.
    body: &'static str,
    /// The name of the head.
    head: &'static str,
    is_gemma: bool,
}

/// What stands before the names of body and head: in most folders; in those of
/// models that also see, old and new; and where only the body was stored.
const PREFIXES: [(&str, &str); 4] = [
    ("model.", "lm_head.weight"),
    ("language_model.model.", "language_model.lm_head.weight"),
    ("model.language_model.", "lm_head.weight"),
    ("", "lm_head.weight"),
];

const EMBEDDING: &str = "embed_tokens.weight";

impl Naming {
    pub(super) fn of(config: &HuggingFaceConfig, exists: impl Fn(&str) -> bool) -> Self {
        let fits = |(body, _): &&(&str, &str)| exists(&format!("{body}{EMBEDDING}"));
        let (body, head) = PREFIXES.iter().find(fits).unwrap_or(&PREFIXES[0]);
        Self { body, head, is_gemma: config.is_gemma }
    }

    /// The name of a tensor that a GGUF file calls `name`. One that has none keeps it.
    pub(super) fn own_name(&self, name: &str) -> String {
        match name {
            "token_embd.weight" => format!("{}{EMBEDDING}", self.body),
            "output_norm.weight" => format!("{}norm.weight", self.body),
            "output.weight" => self.head.to_owned(),
            "output.bias" => self.head.replace(".weight", ".bias"),
            _ => self.layer_name(name).unwrap_or_else(|| name.to_owned()),
        }
    }

    fn layer_name(&self, name: &str) -> Option<String> {
        let (layer, part) = name.strip_prefix("blk.")?.split_once('.')?;
        let (part, kind) = part.rsplit_once('.')?;
        let part = match part {
            "attn_norm" => "input_layernorm",
            "attn_q" => "self_attn.q_proj",
            "attn_k" => "self_attn.k_proj",
            "attn_v" => "self_attn.v_proj",
            "attn_output" => "self_attn.o_proj",
            "attn_q_norm" => "self_attn.q_norm",
            "attn_k_norm" => "self_attn.k_norm",
            // What others call so comes before the feed-forward part.
            "post_attention_norm" if self.is_gemma => "post_attention_layernorm",
            "ffn_norm" if self.is_gemma => "pre_feedforward_layernorm",
            "ffn_norm" => "post_attention_layernorm",
            "post_ffw_norm" => "post_feedforward_layernorm",
            "ffn_gate" => "mlp.gate_proj",
            "ffn_up" => "mlp.up_proj",
            "ffn_down" => "mlp.down_proj",
            _ => return None,
        };
        Some(format!("{}layers.{layer}.{part}.{kind}", self.body))
    }
}
