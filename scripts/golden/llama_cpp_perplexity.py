#!/usr/bin/env python3
"""How likely llama.cpp takes a text to be, for tests/it/perplexity.rs.

    bin=$(scripts/bench/llama_cpp.sh)
    export LLAMA_CPP_LIB_PATH=$bin PYTHONPATH=target/bench/llama.cpp/source
    cargo bench --bench engine -- requantise --model models/cache/SmolLM2-135M-Instruct.Q4_1.gguf \
        --to q4_0 --out target/bench/smollm2-q4_0.gguf      # likewise q8_0, q4_k_m
    target/bench/venv/bin/python scripts/golden/llama_cpp_perplexity.py tests/fixtures/prose.txt \
        tests/fixtures/golden/llama_cpp_perplexity.json models/cache/*.gguf target/bench/smollm2-*

Writes, for each model file: its BLAKE3, the tokens of the whole text with the model's
own beginning-of-sequence token where it asks for one, and the mean negative logarithm,
in nats, of the probability of each token after the first, given all before it: of the
whole text, and of each run of 512 predictions. Everything is in one context, so no token
is left out and none is read without what stands before it. What the output says of other
files stays. Needs the packages
llama-cpp-python (or its library and source, as above), numpy and blake3.
"""

import json
import sys
from pathlib import Path

import blake3
import llama_cpp
import numpy as np

RUN = 512
BATCH = 256


def tokens_of(vocab, text):
    data = text.encode()
    buffer = (llama_cpp.llama_token * (len(data) + 16))()
    n = llama_cpp.llama_tokenize(vocab, data, len(data), buffer, len(buffer), True, False)
    assert n > 0
    return list(buffer[:n])


def surprisals(path, text):
    model = llama_cpp.llama_model_load_from_file(
        str(path).encode(), llama_cpp.llama_model_default_params())
    vocab = llama_cpp.llama_model_get_vocab(model)
    tokens = tokens_of(vocab, text)
    parameters = llama_cpp.llama_context_default_params()
    parameters.n_ctx = len(tokens) + 64
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.n_threads = parameters.n_threads_batch = 2
    context = llama_cpp.llama_init_from_model(model, parameters)
    n_vocab = llama_cpp.llama_vocab_n_tokens(vocab)
    batch = llama_cpp.llama_batch_init(BATCH, 0, 1)
    found = []
    for start in range(0, len(tokens) - 1, BATCH):
        part = tokens[start:min(start + BATCH, len(tokens) - 1)]
        batch.n_tokens = len(part)
        for index, token in enumerate(part):
            batch.token[index] = token
            batch.pos[index] = start + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = 0
            batch.logits[index] = 1
        assert llama_cpp.llama_decode(context, batch) == 0
        for index in range(len(part)):
            pointer = llama_cpp.llama_get_logits_ith(context, index)
            row = np.ctypeslib.as_array(pointer, shape=(n_vocab,))
            greatest = row.max()
            total = np.log(np.exp(row - greatest).sum(dtype=np.float64)) + float(greatest)
            found.append(total - float(row[tokens[start + index + 1]]))
    llama_cpp.llama_batch_free(batch)
    llama_cpp.llama_free(context)
    llama_cpp.llama_model_free(model)
    return tokens, found


def main():
    text_path, output, *models = sys.argv[1:]
    text = Path(text_path).read_text(encoding="utf-8")
    llama_cpp.llama_backend_init()
    output = Path(output)
    cases = {}
    if output.exists():
        cases = {case["file"]: case for case in json.loads(output.read_text())["cases"]}
    for path in map(Path, models):
        tokens, found = surprisals(path, text)
        cases[path.name] = {
            "file": path.name,
            "blake3": blake3.blake3(path.read_bytes()).hexdigest(),
            "mean": round(float(np.mean(found)), 6),
            "runs": [round(float(np.mean(found[at:at + RUN])), 6)
                     for at in range(0, len(found), RUN)],
            "tokens": tokens,
        }
        print(f"{path.name}: {len(tokens)} tokens, perplexity {np.exp(np.mean(found)):.4f}")
        head = {"made_by": f"llama-cpp-python {llama_cpp.__version__}", "run": RUN}
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases.values())
        output.write_text(json.dumps(head)[:-1] + ', "cases": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
