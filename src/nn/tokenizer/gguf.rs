//! The tokenizer that a GGUF file carries.

use std::collections::HashMap;

use super::{
    Kind, Metadata, TokenizerError,
    byte_level::{ByteLevel, bytes_of},
    pre_tokenizer::PreTokenizer,
    sentencepiece::{Piece, SPACE, SentencePiece},
    special::{SpecialText, SpecialTexts},
    vocabulary::{END_TEXTS, Ends, Token, TokenKind, Vocabulary},
};

/// Tokens that end a reply only where the file says that they are control
/// tokens: elsewhere they are mark-up.
const END_CONTROL_TEXTS: [&str; 4] = ["</s>", "<eos>", "[EOS]", "<EOT>"];

/// Builds the tokenizer of a model file.
pub(super) fn tokenizer(metadata: Metadata<'_>) -> Result<Kind, TokenizerError> {
    let model = required(metadata.text("tokenizer.ggml.model")?, "tokenizer.ggml.model")?;
    let texts = required(metadata.texts("tokenizer.ggml.tokens")?, "tokenizer.ggml.tokens")?;
    let kinds = token_kinds(metadata, &texts)?;
    match model {
        "gpt2" => byte_level(metadata, &texts, &kinds),
        "llama" => sentencepiece(metadata, &texts, &kinds),
        _ => Err(TokenizerError::UnknownModel(model.to_owned())),
    }
}

fn byte_level(
    metadata: Metadata<'_>,
    texts: &[&str],
    kinds: &[TokenKind],
) -> Result<Kind, TokenizerError> {
    let name = required(metadata.text("tokenizer.ggml.pre")?, "tokenizer.ggml.pre")?;
    let merges = required(metadata.texts("tokenizer.ggml.merges")?, "tokenizer.ggml.merges")?;
    let pre_tokenizer = PreTokenizer::by_name(name)?;
    let bos = metadata.id("tokenizer.ggml.bos_token_id")?;
    let eos = metadata.id("tokenizer.ggml.eos_token_id")?;
    let ends =
        ends(metadata, texts, kinds, Usual { bos, eos, adds_bos: pre_tokenizer.adds_bos() })?;
    let tokens = texts.iter().zip(kinds).map(|(text, &kind)| {
        let bytes = (kind == TokenKind::Normal).then(|| bytes_of(text)).flatten();
        Token { bytes: bytes.unwrap_or_else(|| text.as_bytes().into()), kind }
    });
    let vocabulary =
        Vocabulary::new(tokens.collect(), special_texts(metadata, texts, kinds)?, ends);
    Ok(Kind::ByteLevel(vocabulary, ByteLevel::new(pre_tokenizer, texts, &merges)?))
}

fn sentencepiece(
    metadata: Metadata<'_>,
    texts: &[&str],
    kinds: &[TokenKind],
) -> Result<Kind, TokenizerError> {
    let scores = required(metadata.numbers("tokenizer.ggml.scores")?, "tokenizer.ggml.scores")?;
    require_one_each("scores", scores.len(), texts.len())?;
    let bos = metadata.id("tokenizer.ggml.bos_token_id")?.or(Some(1));
    let eos = metadata.id("tokenizer.ggml.eos_token_id")?.or(Some(2));
    let ends = ends(metadata, texts, kinds, Usual { bos, eos, adds_bos: true })?;
    let mut pieces = HashMap::with_capacity(texts.len());
    let mut byte_ids = Box::new([None; 256]);
    let mut tokens = Vec::with_capacity(texts.len());
    for (((text, &kind), score), id) in texts.iter().zip(kinds).zip(scores).zip(0..) {
        let bytes: Box<[u8]> = match kind {
            TokenKind::Byte => {
                let byte = byte_token(text).ok_or_else(|| {
                    TokenizerError::Broken(format!("token {id} should name a byte, as <0x0A>"))
                })?;
                byte_ids[usize::from(byte)] = Some(id);
                Box::new([byte])
            }
            TokenKind::Normal => text.replace(SPACE, " ").into_bytes().into(),
            _ => text.as_bytes().into(),
        };
        tokens.push(Token { bytes, kind });
        if matches!(kind, TokenKind::Normal | TokenKind::UserDefined | TokenKind::Unused) {
            pieces.insert((*text).into(), Piece { id, score });
        }
    }
    let adds_space = metadata.flag("tokenizer.ggml.add_space_prefix")?.unwrap_or(true);
    let vocabulary = Vocabulary::new(tokens, special_texts(metadata, texts, kinds)?, ends);
    Ok(Kind::SentencePiece(vocabulary, SentencePiece::new(pieces, byte_ids, adds_space)))
}

/// The byte of a token like `<0x0A>`.
fn byte_token(text: &str) -> Option<u8> {
    u8::from_str_radix(text.strip_prefix("<0x")?.strip_suffix('>')?, 16).ok()
}

fn token_kinds(metadata: Metadata<'_>, texts: &[&str]) -> Result<Vec<TokenKind>, TokenizerError> {
    let numbers = metadata.integers("tokenizer.ggml.token_type")?;
    let numbers = numbers.unwrap_or_else(|| vec![1; texts.len()]);
    require_one_each("types", numbers.len(), texts.len())?;
    let kinds = numbers.iter().zip(texts).map(|(number, text)| match number {
        _ if END_TEXTS.contains(text) => TokenKind::Control,
        2 => TokenKind::Unknown,
        3 => TokenKind::Control,
        4 => TokenKind::UserDefined,
        5 => TokenKind::Unused,
        6 => TokenKind::Byte,
        _ => TokenKind::Normal,
    });
    Ok(kinds.collect())
}

fn special_texts(
    metadata: Metadata<'_>,
    texts: &[&str],
    kinds: &[TokenKind],
) -> Result<SpecialTexts, TokenizerError> {
    let name = metadata.text("general.name")?.unwrap_or_default().to_lowercase();
    let is_phi3 = name.contains("phi-3") || name.contains("phi3");
    let special = texts.iter().zip(kinds).zip(0..).filter_map(|((text, kind), id)| {
        let in_plain = match kind {
            TokenKind::UserDefined => true,
            TokenKind::Control | TokenKind::Unknown => false,
            TokenKind::Normal | TokenKind::Unused | TokenKind::Byte => return None,
        };
        // No GGUF says so, but Phi-3 was trained on this.
        let strips_right = is_phi3 && !["<unk>", "<s>", "<|endoftext|>"].contains(text);
        Some(SpecialText { text: (*text).to_owned(), id, in_plain, strips_right })
    });
    Ok(SpecialTexts::new(special))
}

/// What holds where the file says nothing else.
#[derive(Clone, Copy)]
struct Usual {
    bos: Option<u32>,
    eos: Option<u32>,
    adds_bos: bool,
}

fn ends(
    metadata: Metadata<'_>,
    texts: &[&str],
    kinds: &[TokenKind],
    usual: Usual,
) -> Result<Ends, TokenizerError> {
    let Usual { bos, eos, adds_bos } = usual;
    let adds_bos = metadata.flag("tokenizer.ggml.add_bos_token")?.unwrap_or(adds_bos);
    if adds_bos && bos.is_none() {
        return Err(TokenizerError::Missing { key: "tokenizer.ggml.bos_token_id" });
    }
    let named = texts.iter().zip(kinds).zip(0..).filter_map(|((text, kind), id)| {
        let ends = *kind == TokenKind::Control
            && (END_TEXTS.contains(text) || END_CONTROL_TEXTS.contains(text));
        ends.then_some(id)
    });
    let mut end_ids: Vec<u32> = named.collect();
    end_ids.extend(eos);
    end_ids.extend(metadata.id("tokenizer.ggml.eot_token_id")?);
    end_ids.extend(metadata.id("tokenizer.ggml.eom_token_id")?);
    end_ids.sort_unstable();
    end_ids.dedup();
    let beyond = end_ids.iter().chain(&bos).find(|&&id| texts.len() <= id as usize);
    if let Some(id) = beyond {
        return Err(TokenizerError::Broken(format!(
            "special token {id} of {} tokens",
            texts.len()
        )));
    }
    Ok(Ends { bos, adds_bos, end_ids })
}

fn required<T>(value: Option<T>, key: &'static str) -> Result<T, TokenizerError> {
    value.ok_or(TokenizerError::Missing { key })
}

fn require_one_each(what: &str, found: usize, n_tokens: usize) -> Result<(), TokenizerError> {
    if found == n_tokens {
        return Ok(());
    }
    Err(TokenizerError::Broken(format!("{found} {what} for {n_tokens} tokens")))
}

#[cfg(test)]
mod tests {
    use candle_core::quantized::gguf_file::{Content, Value, VersionedMagic};

    use super::super::{SpecialTokens, Tokenizer};
    use super::*;

    fn texts(items: &[&str]) -> Value {
        Value::Array(items.iter().map(|&item| Value::String(item.to_owned())).collect())
    }

    fn kinds(items: &[i32]) -> Value {
        Value::Array(items.iter().copied().map(Value::I32).collect())
    }

    fn text(item: &str) -> Value {
        Value::String(item.to_owned())
    }

    fn build(entries: &[(&str, Value)]) -> Result<Tokenizer, TokenizerError> {
        let metadata =
            entries.iter().map(|(key, value)| (format!("tokenizer.ggml.{key}"), value.clone()));
        Tokenizer::from_gguf(&Content {
            magic: VersionedMagic::GgufV3,
            metadata: metadata.collect(),
            tensor_infos: HashMap::new(),
            tensor_data_offset: 0,
        })
    }

    /// A byte-level vocabulary of seven tokens, changed by `change`.
    fn byte_level(
        change: impl FnOnce(&mut Vec<(&'static str, Value)>),
    ) -> Result<Tokenizer, TokenizerError> {
        let mut entries = vec![
            ("model", text("gpt2")),
            ("pre", text("gpt-2")),
            ("tokens", texts(&["<|im_end|>", "a", "b", "ab", "Ġ", "</s>", "<|x|>"])),
            ("token_type", kinds(&[1, 1, 1, 1, 1, 4, 3])),
            ("merges", texts(&["a b"])),
            ("eos_token_id", Value::U32(6)),
        ];
        change(&mut entries);
        build(&entries)
    }

    fn set(entries: &mut Vec<(&'static str, Value)>, key: &'static str, value: Value) {
        entries.retain(|(known, _)| *known != key);
        entries.push((key, value));
    }

    fn check_refused(result: Result<Tokenizer, TokenizerError>, expected: &str) {
        let error = result.err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn ends_of_turns_are_special_under_any_type_and_mark_up_is_not() {
        let tokenizer = byte_level(|_| ()).unwrap();
        assert_eq!(tokenizer.end_ids(), [0, 6]);
        let ids = |special| tokenizer.encode("ab a<|im_end|></s>", special).unwrap();
        assert_eq!(ids(SpecialTokens::Parse), [3, 4, 1, 0, 5]);
        // The vocabulary has no token for the bytes of `<|im_end|>`, but for `</s>`.
        assert_eq!(ids(SpecialTokens::Plain), [3, 4, 1, 5]);
        assert_eq!(tokenizer.decode(&[3, 4, 1, 0, 5, 99]), "ab a</s>");
        assert_eq!((tokenizer.bos(), tokenizer.adds_bos()), (None, false));
    }

    #[test]
    fn a_vocabulary_that_contradicts_itself_is_refused() {
        let with = |key, value| byte_level(|entries| set(entries, key, value));
        check_refused(with("model", text("bert")), "`bert`");
        check_refused(with("pre", text("mine")), "`mine`");
        check_refused(with("merges", texts(&["a c"])), "merge 0");
        check_refused(with("token_type", kinds(&[1])), "1 types for 7 tokens");
        check_refused(with("eos_token_id", Value::U32(7)), "special token 7 of 7");
        check_refused(with("tokens", Value::Bool(true)), "not a list of texts");
        check_refused(with("add_bos_token", Value::Bool(true)), "bos_token_id");
        let without_pre = byte_level(|entries| entries.retain(|(key, _)| *key != "pre"));
        check_refused(without_pre, "no `tokenizer.ggml.pre`");
    }

    #[test]
    fn a_sentencepiece_vocabulary_spells_in_bytes_what_is_no_token() {
        let tokens =
            ["<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "\u{2581}", "a", "b", "ab", "\u{2581}a"];
        let scores = [0.0, 0.0, 0.0, 0.0, 0.0, -1.0, -2.0, -3.0, -4.0, -5.0];
        let entries = [
            ("model", text("llama")),
            ("tokens", texts(&tokens)),
            ("token_type", kinds(&[2, 3, 3, 6, 6, 1, 1, 1, 1, 1])),
            ("scores", Value::Array(scores.map(Value::F32).to_vec())),
        ];
        let tokenizer = build(&entries).unwrap();
        let ids = tokenizer.encode("ab é</s>", SpecialTokens::Parse).unwrap();
        // `ab` has the higher score, so the space before it stays alone.
        assert_eq!(ids, [5, 8, 5, 3, 4, 2]);
        assert_eq!(tokenizer.decode(&ids), "ab é");
        assert_eq!(tokenizer.decode(&ids[..4]), "ab ");
        assert_eq!((tokenizer.bos(), tokenizer.adds_bos()), (Some(1), true));
        let error = tokenizer.encode("ü", SpecialTokens::Plain).unwrap_err().to_string();
        assert!(error.contains("0xbc"), "{error}");
    }
}
