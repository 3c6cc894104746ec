//! A model file whose decoder goes on from each token with the one that a table says.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::{
    Device, Tensor,
    quantized::{
        GgmlDType, QTensor,
        gguf_file::{self, Value},
    },
};

/// Beginning of a sequence.
pub(crate) const BOS: u32 = 1;
/// End of a sequence.
pub(crate) const EOS: u32 = 2;
/// What stands before a user's message.
pub(crate) const USER: u32 = 259;
/// What stands before a reply.
pub(crate) const ASSISTANT: u32 = 260;
/// What the chat template writes after a message; the metadata does not say so.
pub(crate) const DONE: u32 = 261;
/// The number of tokens.
pub(crate) const N_TOKENS: usize = 262;

const TEMPLATE: &str = "{{ bos_token }}{% for message in messages %}\
    {% if message.role == 'assistant' %}<|assistant|>{% else %}<|user|>{% endif %}\
    {{ message.content | trim }}<|done|>{% endfor %}\
    {% if add_generation_prompt %}<|assistant|>{% endif %}";

/// The token of a byte.
pub(crate) fn byte(byte: u8) -> u32 {
    u32::from(byte) + 3
}

/// The tokens of a text, a token a byte.
pub(crate) fn bytes(text: &str) -> Vec<u32> {
    text.bytes().map(byte).collect()
}

/// What is in a file: change it before it is written.
pub(crate) struct Clockwork {
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) tensors: BTreeMap<String, QTensor>,
}

impl Clockwork {
    /// After the first token of each chain come the others; after every other token
    /// comes the end.
    pub(crate) fn new(chains: &[&[u32]]) -> Self {
        let mut successors = vec![EOS; N_TOKENS];
        for pair in chains.iter().flat_map(|chain| chain.windows(2)) {
            successors[pair[0] as usize] = pair[1];
        }
        let mut head = vec![0.0; N_TOKENS * N_TOKENS];
        let mut embedding = head.clone();
        for (token, &next) in successors.iter().enumerate() {
            embedding[token * N_TOKENS + token] = 1.0;
            head[next as usize * N_TOKENS + token] = 1.0;
        }
        let mut tensors = BTreeMap::new();
        let mut add = |name: &str, shape: &[usize], numbers: Vec<f32>| {
            let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
            let tensor = QTensor::quantize(&tensor, GgmlDType::F32).unwrap();
            tensors.insert(name.to_owned(), tensor);
        };
        let mut matrix = |name: &str, shape: [usize; 2], numbers| add(name, &shape, numbers);
        matrix("token_embd.weight", [N_TOKENS, N_TOKENS], embedding);
        matrix("output.weight", [N_TOKENS, N_TOKENS], head);
        for (part, n_outputs, n_inputs) in [
            ("attn_q", 2, N_TOKENS),
            ("attn_k", 2, N_TOKENS),
            ("attn_v", 2, N_TOKENS),
            ("attn_output", N_TOKENS, 2),
            ("ffn_gate", 4, N_TOKENS),
            ("ffn_up", 4, N_TOKENS),
            ("ffn_down", N_TOKENS, 4),
        ] {
            let name = format!("blk.0.{part}.weight");
            matrix(&name, [n_outputs, n_inputs], vec![0.0; n_outputs * n_inputs]);
        }
        for name in ["output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"] {
            add(name, &[N_TOKENS], vec![1.0; N_TOKENS]);
        }
        Self { metadata: metadata(), tensors }
    }

    /// Writes the file into a folder.
    pub(crate) fn write(&self, folder: &Utf8Path) -> Utf8PathBuf {
        let path = folder.join("clockwork.gguf");
        let metadata: Vec<(&str, &Value)> =
            self.metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
        let tensors: Vec<(&str, &QTensor)> =
            self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        let mut file = fs_err::File::create(&path).unwrap();
        gguf_file::write(&mut file, &metadata, &tensors).unwrap();
        path
    }
}

fn metadata() -> BTreeMap<String, Value> {
    let mut tokens: Vec<String> = ["<unk>", "<s>", "</s>"].map(str::to_owned).to_vec();
    tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
    tokens.extend(["<|user|>", "<|assistant|>", "<|done|>"].map(str::to_owned));
    let kinds = (0..N_TOKENS).map(|id| match id {
        0 => 2,
        3..259 => 6,
        _ => 3,
    });
    let list = |values: Vec<Value>| Value::Array(values);
    let text = |text: &str| Value::String(text.to_owned());
    let pairs = [
        ("general.architecture", text("llama")),
        ("llama.block_count", Value::U32(1)),
        ("llama.embedding_length", Value::U32(262)),
        ("llama.feed_forward_length", Value::U32(4)),
        ("llama.attention.head_count", Value::U32(1)),
        ("llama.attention.key_length", Value::U32(2)),
        ("llama.attention.value_length", Value::U32(2)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("llama.context_length", Value::U32(200)),
        ("tokenizer.ggml.model", text("llama")),
        ("tokenizer.ggml.tokens", list(tokens.into_iter().map(Value::String).collect())),
        ("tokenizer.ggml.scores", list(vec![Value::F32(0.0); N_TOKENS])),
        ("tokenizer.ggml.token_type", list(kinds.map(Value::I32).collect())),
        ("tokenizer.ggml.bos_token_id", Value::U32(BOS)),
        ("tokenizer.ggml.eos_token_id", Value::U32(EOS)),
        ("tokenizer.ggml.add_space_prefix", Value::Bool(false)),
        ("tokenizer.chat_template", text(TEMPLATE)),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
