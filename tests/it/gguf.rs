//! Model files that are not as they should be.

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, QTensor, gguf_file::Value},
};
use unimatch::{
    backend::local::{LocalBackend, LocalError, LocalOptions},
    nn::{Cpu, Decoder, GgufFile, ModelError, WeightType},
};

use crate::{clockwork::Clockwork, material};

/// What is said of a file after some change.
fn complaint(change: impl FnOnce(&mut Clockwork)) -> String {
    let mut clockwork = Clockwork::new(&[]);
    change(&mut clockwork);
    with_file(|folder| {
        let path = clockwork.write(folder);
        error_of(&path).unwrap().to_string().replace(path.as_str(), "FILE")
    })
}

fn with_file<T>(work: impl FnOnce(&Utf8Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    work(Utf8Path::from_path(folder.path()).unwrap())
}

fn error_of(path: &Utf8Path) -> Option<ModelError> {
    GgufFile::open(path).and_then(|file| Decoder::from_gguf(&file, Cpu::detect())).err()
}

fn tensor(shape: &[usize], dtype: GgmlDType) -> QTensor {
    let zeros = Tensor::zeros(shape, candle_core::DType::F32, &Device::Cpu).unwrap();
    QTensor::quantize(&zeros, dtype).unwrap()
}

#[test]
fn the_real_model_opens() {
    let file = GgufFile::open(&material::model("SmolLM2-135M-Instruct.Q4_1.gguf")).unwrap();
    let decoder = Decoder::from_gguf(&file, Cpu::detect()).unwrap();
    let config = decoder.config();
    assert_eq!((config.n_layers(), config.n_heads, config.n_kv_heads), (30, 9, 3));
    assert_eq!((config.hidden_size, config.intermediate_size, config.head_size), (576, 1536, 64));
    assert_eq!((config.vocabulary_size, config.context_length), (49_152, 8192));
}

#[test]
fn what_is_missing_or_wrong_is_named_with_the_file() {
    let complaints = [
        complaint(|file| {
            file.metadata.remove("general.architecture");
        }),
        complaint(|file| {
            file.metadata.insert("general.architecture".into(), Value::String("rwkv6".into()));
        }),
        complaint(|file| {
            file.metadata.insert("llama.expert_count".into(), Value::U32(8));
        }),
        complaint(|file| {
            file.metadata.remove("llama.block_count");
        }),
        complaint(|file| {
            file.metadata.insert("llama.attention.head_count".into(), Value::I32(-1));
        }),
        complaint(|file| {
            file.metadata.insert("llama.attention.head_count_kv".into(), Value::U32(3));
        }),
        complaint(|file| {
            file.metadata
                .insert("llama.rope.scaling.type".into(), Value::String("longrope".into()));
        }),
        complaint(|file| {
            file.tensors.remove("blk.0.ffn_up.weight");
        }),
        complaint(|file| {
            file.tensors.insert("blk.0.attn_k.weight".into(), tensor(&[4, 262], GgmlDType::F32));
        }),
    ];
    assert_eq!(
        complaints,
        [
            "FILE has no \"general.architecture\" in its metadata: convert the model again with a current converter",
            "FILE is a model of the kind \"rwkv6\", and those that run here are: llama, qwen2, qwen3, gemma3",
            "FILE is a model of the kind \"llama with 8 experts\", and those that run here are: llama, qwen2, qwen3, gemma3",
            "FILE has no \"llama.block_count\" in its metadata: convert the model again with a current converter",
            "\"llama.attention.head_count\" in FILE is I32(-1), expected a number from 0 on",
            "\"llama.attention.head_count_kv\" in FILE is 3, expected a part of the heads",
            "\"llama.rope.scaling.type\" in FILE is \"longrope\", expected `none`, `linear` or `yarn`",
            "FILE has no tensor \"blk.0.ffn_up.weight\": the file is incomplete, fetch or convert it again",
            "\"blk.0.attn_k.weight\" in FILE has the shape [4, 262], and its metadata asks for [2, 262]",
        ]
    );
}

#[test]
fn a_file_that_was_cut_anywhere_is_refused() {
    with_file(|folder| {
        let path = Clockwork::new(&[]).write(folder);
        let whole = fs_err::read(&path).unwrap();
        assert!(error_of(&path).is_none());
        let steps = (0..whole.len() - 31).step_by(977).chain(0..64);
        for length in steps {
            fs_err::write(&path, &whole[..length]).unwrap();
            match error_of(&path).unwrap() {
                ModelError::NotGguf { .. } => assert!(length < 4),
                ModelError::Header { .. } => assert!((4..20_000).contains(&length)),
                ModelError::Truncated { size_bytes, end, .. } => {
                    assert!(size_bytes == length as u64 && end > size_bytes);
                }
                other => panic!("cut at {length}: {other}"),
            }
        }
    });
}

#[test]
fn a_damaged_header_gives_an_error_and_no_panic() {
    with_file(|folder| {
        let path = Clockwork::new(&[]).write(folder);
        let whole = fs_err::read(&path).unwrap();
        let header = 6000.min(whole.len());
        for at in (4..header).step_by(7) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            fs_err::write(&path, &damaged).unwrap();
            // A byte of a token's text may be any other, so not all are errors.
            let _ = error_of(&path);
        }
    });
}

#[test]
fn an_alignment_that_is_none_is_refused() {
    for alignment in [Value::U32(0), Value::U8(0), Value::I16(0), Value::U32(24)] {
        let complaint = complaint(|file| {
            file.metadata.insert("general.alignment".into(), alignment);
        });
        assert!(complaint.starts_with("\"general.alignment\" in FILE is "), "{complaint}");
        assert!(complaint.contains("expected a power of two"), "{complaint}");
    }
}

#[test]
fn another_kind_of_file_is_not_taken_for_a_model() {
    with_file(|folder| {
        let path = folder.join("essay.txt");
        fs_err::write(&path, "In the first paragraph you tell us what happened.").unwrap();
        let error = error_of(&path).unwrap();
        assert_eq!(
            error.to_string(),
            format!("{path} is not a GGUF file: give a model in the GGUF format")
        );
        fs_err::write(&path, "").unwrap();
        assert!(matches!(error_of(&path), Some(ModelError::NotGguf { .. })));
        let absent: Utf8PathBuf = folder.join("absent.gguf");
        let error = error_of(&absent).unwrap();
        assert!(matches!(error, ModelError::Io(_)) && error.to_string().contains("absent.gguf"));
    });
}

#[test]
fn a_type_of_weights_that_is_not_read_is_named() {
    with_file(|folder| {
        let path = Clockwork::new(&[]).write(folder);
        let mut bytes = fs_err::read(&path).unwrap();
        // The type stands behind the name and two dimensions.
        let name = b"blk.0.attn_output.weight";
        let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
        bytes[at + name.len() + 4 + 16] = 23;
        fs_err::write(&path, &bytes).unwrap();
        let error = error_of(&path).unwrap();
        assert!(matches!(error, ModelError::UnsupportedTensorType { .. }));
        assert!(error.to_string().contains("use a file in F32, F16, BF16, Q4_0"), "{error}");
    });
}

#[test]
fn a_tokenizer_of_another_model_is_noticed() {
    with_file(|folder| {
        let mut clockwork = Clockwork::new(&[]);
        for (name, shape) in [("token_embd.weight", [200, 262]), ("output.weight", [200, 262])] {
            clockwork.tensors.insert(name.into(), tensor(&shape, GgmlDType::F32));
        }
        let path = clockwork.write(folder);
        let error =
            LocalBackend::open(&path, WeightType::Auto, &LocalOptions::default()).err().unwrap();
        assert!(matches!(
            error,
            LocalError::Vocabulary { n_tokens: 262, vocabulary_size: 200, .. }
        ));
    });
}
