#!/usr/bin/env python3
"""Small random models of every kind that `classifier:` and `embedding:` load, and what
transformers, sentence-transformers and peft make of some texts with them.

    python3 scripts/golden/foreign.py tests/fixtures/golden/foreign models/cache/all-MiniLM-L6-v2

Each model is a folder of its own under the first argument, as `save_pretrained` writes it;
`golden.json` has the outputs. Needs the packages torch 2.15.0, transformers 5.24.0,
sentence-transformers 6.2.0 and peft 0.21.2. The tokenizers are trained anew each time, and
their vocabularies may come out in another order: commit folders and `golden.json` together.
"""

import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (AutoModel, AutoModelForCausalLM, AutoModelForSequenceClassification,
                          AutoModelForTokenClassification, AutoTokenizer, BertConfig, DebertaV2Config,
                          DistilBertConfig, LlamaConfig, ModernBertConfig, MPNetConfig,
                          PreTrainedTokenizerFast, RobertaConfig, XLMRobertaConfig)

TEXTS = [
    "Your thesis is clear, but the second reason has no example.",
    "The second reason lacks an example, though the thesis is clear.",
    "I love the image of the rain on the tin roof!",
    "Fix the comma splice in the first line. Two main clauses are joined by a comma here.",
    "Who is Alex?",
    "Say more about the café, and what your naïve brother said there: 48.7% of it is missing.",
    "Expand on this in the next draft.\nThen cite the source of this number, please.",
    "Great.",
]
PAIRS = [[0, 1], [1, 0], [2, 3], [4, 4], [5, 6], [7, 3]]
VOCABULARY = 220
SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
MAX_POSITIONS = 160


def word_piece(cls, sep, pad, unknown, mask, pair):
    """A tokenizer of the kind that BERT and MPNet use."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=unknown))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = [cls, pad, sep, unknown, mask]
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=specials)
    tokenizer.train_from_iterator(TEXTS[:-2], trainer)
    tokenizer.decoder = decoders.WordPiece()
    return framed(tokenizer, cls, sep, pair), dict(
        cls_token=cls, sep_token=sep, pad_token=pad, unk_token=unknown, mask_token=mask,
        bos_token=cls, eos_token=sep)


def byte_level(cls, sep, pad, unknown, mask, pair):
    """A tokenizer of the kind that RoBERTa and ModernBERT use."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=[cls, pad, sep, unknown, mask],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.decoder = decoders.ByteLevel()
    return framed(tokenizer, cls, sep, pair), dict(
        cls_token=cls, sep_token=sep, pad_token=pad, unk_token=unknown, mask_token=mask,
        bos_token=cls, eos_token=sep)


def unigram(cls, sep, pad, unknown, mask, pair):
    """A tokenizer of the kind that XLM-RoBERTa and DeBERTa v2 use."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=VOCABULARY, special_tokens=[cls, pad, sep, unknown, mask], unk_token=unknown)
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.decoder = decoders.Metaspace()
    return framed(tokenizer, cls, sep, pair), dict(
        cls_token=cls, sep_token=sep, pad_token=pad, unk_token=unknown, mask_token=mask,
        bos_token=cls, eos_token=sep)


def framed(tokenizer, cls, sep, pair):
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}", pair=pair,
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (cls, sep)])
    return tokenizer


BRACKETS = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
ANGLES = ("<s>", "</s>", "<pad>", "<unk>", "<mask>")
BERT_PAIR = "[CLS] $A [SEP] $B:1 [SEP]:1"
ROBERTA_PAIR = "<s> $A </s> </s> $B </s>"
NO_TYPES = ["input_ids", "attention_mask"]

# The kind, its configuration, its tokenizer, the names of its inputs.
KINDS = {
    "bert": (lambda n: BertConfig(vocab_size=n, max_position_embeddings=MAX_POSITIONS, **SIZES),
             lambda: word_piece(*BRACKETS, BERT_PAIR), NO_TYPES + ["token_type_ids"]),
    "distilbert": (lambda n: DistilBertConfig(vocab_size=n, max_position_embeddings=MAX_POSITIONS,
                                              dim=32, n_layers=2, n_heads=4, hidden_dim=64),
                   lambda: word_piece(*BRACKETS, BERT_PAIR), NO_TYPES),
    "roberta": (lambda n: RobertaConfig(vocab_size=n, max_position_embeddings=MAX_POSITIONS + 2,
                                        type_vocab_size=1, pad_token_id=1, **SIZES),
                lambda: byte_level(*ANGLES, ROBERTA_PAIR), NO_TYPES),
    "xlm-roberta": (lambda n: XLMRobertaConfig(vocab_size=n, type_vocab_size=1, pad_token_id=1,
                                               max_position_embeddings=MAX_POSITIONS + 2, **SIZES),
                    lambda: unigram(*ANGLES, ROBERTA_PAIR), NO_TYPES),
    "mpnet": (lambda n: MPNetConfig(vocab_size=n, max_position_embeddings=MAX_POSITIONS + 2,
                                    pad_token_id=1, **SIZES),
              lambda: word_piece(*ANGLES, ROBERTA_PAIR), NO_TYPES),
    "deberta-v2": (lambda n: DebertaV2Config(
        vocab_size=n, max_position_embeddings=MAX_POSITIONS, relative_attention=True,
        position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True,
        pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0, **SIZES),
        lambda: unigram(*BRACKETS, BERT_PAIR), NO_TYPES + ["token_type_ids"]),
    "modernbert": (lambda n: ModernBertConfig(
        vocab_size=n, max_position_embeddings=MAX_POSITIONS, local_attention=8,
        global_attn_every_n_layers=2, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        cls_token_id=0, sep_token_id=2, attn_implementation="eager", **SIZES),
        lambda: byte_level(*BRACKETS, "[CLS] $A [SEP] $B [SEP]"), NO_TYPES),
}


def randomise(model, seed):
    """Weights of the size that trained ones have, from a generator of its own."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            is_norm = "norm" in name.lower() and name.endswith("weight") and parameter.dim() == 1
            parameter.copy_(1.0 + 0.3 * noise if is_norm else 0.2 * noise)
    return model.eval()


def tokenizer_of(kind):
    tokenizer, specials = KINDS[kind][1]()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=KINDS[kind][2],
                                   model_max_length=MAX_POSITIONS, **specials)


def rounded(tensor, digits=6):
    return [round(float(x), digits) for x in tensor.flatten()]


def sequence_outputs(model, tokenizer):
    rows = []
    for a, b in PAIRS:
        encoded = tokenizer(TEXTS[a], TEXTS[b], return_tensors="pt")
        with torch.no_grad():
            logits = model(**encoded).logits[0]
        rows.append({"pair": [a, b], "ids": encoded["input_ids"][0].tolist(),
                     "logits": rounded(logits)})
    return rows


def token_outputs(model, tokenizer):
    rows = []
    for index, text in enumerate(TEXTS):
        encoded = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            logits = model(**encoded).logits[0]
        rows.append({"text": index, "logits": rounded(logits)})
    return rows


def layer_states(model, tokenizer, text):
    """The states after each layer, as they are."""
    encoded = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        states = model(**encoded, output_hidden_states=True).hidden_states
    return [rounded(state) for state in states]


def greedy(hypothesis, reference):
    """BERTScore as bert-score computes it with idf off: the first and the last token, which
    stand around the text, weigh nothing, but other tokens may match them."""
    hypothesis = hypothesis / hypothesis.norm(dim=-1, keepdim=True)
    reference = reference / reference.norm(dim=-1, keepdim=True)
    similar = hypothesis @ reference.T
    precision = similar.max(dim=1).values[1:-1].mean()
    recall = similar.max(dim=0).values[1:-1].mean()
    return [float(precision), float(recall), float(2 * precision * recall / (precision + recall))]


def bert_scores(model, tokenizer, n_layers):
    states = []
    for text in TEXTS:
        encoded = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            states.append(model(**encoded, output_hidden_states=True).hidden_states[n_layers][0])
    return [{"pair": [a, b], "scores": greedy(states[a], states[b])} for a, b in PAIRS]


def sentence_layout(folder, max_tokens, modules):
    """The files that sentence-transformers lays beside a model; `modules` come after it."""
    body = Transformer(str(folder), max_seq_length=max_tokens)
    vectors = SentenceTransformer(modules=[body, *modules(body)], device="cpu")
    scratch = folder.parent / "scratch"
    vectors.save(str(scratch))
    for file in sorted(scratch.rglob("*")):
        inside = file.relative_to(scratch)
        if file.is_file() and (len(inside.parts) > 1 or inside.name in (
                "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json")):
            (folder / inside).parent.mkdir(exist_ok=True)
            shutil.copy(file, folder / inside)
    shutil.rmtree(scratch)
    return vectors


def embeddings(folder):
    model = SentenceTransformer(str(folder), device="cpu")
    return [rounded(vector) for vector in torch.tensor(model.encode(TEXTS))]


def save(model, tokenizer, folder):
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def pooling(mode):
    return lambda body: [Pooling(body.get_word_embedding_dimension(), pooling_mode=mode)]


def main(out, minilm):
    golden = {"made_by": ", ".join(f"{name} {version(name)}" for name in (
        "torch", "transformers", "sentence-transformers", "peft")),
        "texts": TEXTS, "sequence": {}, "tokens": {}, "embeddings": {}, "bert_score": {}}
    for seed, (kind, (config_of, _, _)) in enumerate(KINDS.items()):
        tokenizer = tokenizer_of(kind)
        config = config_of(len(tokenizer))
        config.num_labels = 5
        model = randomise(AutoModelForSequenceClassification.from_config(config), seed)
        save(model, tokenizer, out / kind)
        golden["sequence"][kind] = sequence_outputs(model, tokenizer)
        sentence_layout(out / kind, MAX_POSITIONS, lambda body: [
            *pooling("mean")(body), Normalize()])
        golden["embeddings"][kind] = embeddings(out / kind)
        plain = AutoModel.from_pretrained(out / kind).eval()
        golden["bert_score"][kind] = {
            str(n_layers): bert_scores(plain, tokenizer, n_layers) for n_layers in (1, 2)}
        config = config_of(len(tokenizer))
        config.id2label, config.label2id = {0: "O", 1: "CUT"}, {"O": 0, "CUT": 1}
        model = randomise(AutoModelForTokenClassification.from_config(config), 100 + seed)
        save(model, tokenizer, out / f"{kind}-tokens")
        golden["tokens"][kind] = token_outputs(model, tokenizer)

    tokenizer = tokenizer_of("bert")
    config = KINDS["bert"][0](len(tokenizer))
    config.num_labels, config.problem_type = 1, "regression"
    model = randomise(AutoModelForSequenceClassification.from_config(config), 300)
    save(model, tokenizer, out / "bert-regression")
    golden["sequence"]["bert-regression"] = sequence_outputs(model, tokenizer)

    for name, modules in {
        "cls": pooling("cls"),
        "max": pooling("max"),
        "last": pooling("lasttoken"),
        "weighted": pooling("weightedmean"),
        "sqrt": pooling("mean_sqrt_len_tokens"),
        "several": lambda body: [Pooling(32, pooling_mode=("cls", "mean"))],
        "dense": lambda body: [*pooling("weightedmean")(body), randomise(
            Dense(32, 24, activation_function=torch.nn.Tanh()), 200), randomise(
            Dense(24, 16, bias=False, activation_function=torch.nn.Identity()), 201), Normalize()],
    }.items():
        folder = out / f"bert-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
            shutil.copy(out / "bert" / file, folder / file)
        sentence_layout(folder, MAX_POSITIONS, modules)
        golden["embeddings"][f"bert-{name}"] = embeddings(folder)
        for file in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
            (folder / file).unlink()

    for kind, targets in {"bert": ["query", "value", "dense"], "deberta-v2": ["query_proj"]}.items():
        model = AutoModelForSequenceClassification.from_pretrained(out / kind)
        model = get_peft_model(model, LoraConfig(task_type="SEQ_CLS", r=4, lora_alpha=8,
                                                 target_modules=targets))
        randomise(model, 400)
        model.base_model.model.load_state_dict(base_weights(model, out / kind), strict=False)
        folder = out / f"{kind}-adapter"
        shutil.rmtree(folder, ignore_errors=True)
        model.save_pretrained(folder)
        base = AutoModelForSequenceClassification.from_pretrained(out / kind)
        adapted = PeftModel.from_pretrained(base, folder).eval()
        tokenizer = AutoTokenizer.from_pretrained(out / kind)
        golden["sequence"][f"{kind}+adapter"] = sequence_outputs(adapted, tokenizer)
        (folder / "README.md").unlink(missing_ok=True)

    golden["decoder"] = decoder(out)
    golden["minilm"] = minilm_with_head(minilm)
    (out / "golden.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


def base_weights(model, folder):
    """The weights of the folder, under the names that they have within an adapted model."""
    plain = AutoModelForSequenceClassification.from_pretrained(folder).state_dict()
    own = model.base_model.model.state_dict()
    return {name: plain[name.replace(".base_layer", "")] for name in own
            if name.replace(".base_layer", "") in plain}


def decoder(out):
    """A decoder of the kind of Llama, an adapter, and the logits after some tokens."""
    tokenizer, specials = byte_level(*ANGLES, ROBERTA_PAIR)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **specials)
    config = LlamaConfig(vocab_size=len(tokenizer), num_key_value_heads=2, tie_word_embeddings=False,
                         max_position_embeddings=128, bos_token_id=0, eos_token_id=2, **SIZES)
    save(randomise(AutoModelForCausalLM.from_config(config), 500), tokenizer, out / "llama")
    model = AutoModelForCausalLM.from_pretrained(out / "llama")
    model = get_peft_model(model, LoraConfig(
        task_type="CAUSAL_LM", r=4, lora_alpha=6, use_rslora=True,
        target_modules=["q_proj", "v_proj", "o_proj", "gate_proj", "down_proj"]))
    randomise(model, 501)
    folder = out / "llama-adapter"
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    base = AutoModelForCausalLM.from_pretrained(out / "llama")
    tokens = [0, *tokenizer(TEXTS[0], add_special_tokens=False)["input_ids"]]
    with torch.no_grad():
        plain = base.eval()(torch.tensor([tokens])).logits[0, -1]
        adapted = PeftModel.from_pretrained(base, folder).eval()
        adapted = adapted(torch.tensor([tokens])).logits[0, -1]
    return {"tokens": tokens, "plain": rounded(plain), "adapted": rounded(adapted)}


def minilm_with_head(folder):
    """A real model under a random head of five ratings: the head, and what it says."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=5).eval()
    generator = torch.Generator().manual_seed(600)
    weight = (torch.randn((5, 384), generator=generator) * 0.1).round(decimals=3)
    bias = (torch.randn((5,), generator=generator) * 0.1).round(decimals=3)
    with torch.no_grad():
        model.classifier.weight.copy_(weight)
        model.classifier.bias.copy_(bias)
    scores = bert_scores(AutoModel.from_pretrained(folder).eval(), tokenizer, 5)
    return {"weight": rounded(weight, 3), "bias": rounded(bias, 3),
            "sequence": sequence_outputs(model, tokenizer), "bert_score_5": scores}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
